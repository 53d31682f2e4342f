//! Options of loading, and the configuration of a launch.

use std::time::Duration;

use ascendcl_sys as sys;

use crate::error::Result;
use crate::refuse;

/// How a binary is loaded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loading {
    /// Not to a device before the first use there.
    pub lazy: bool,
}

/// Where a binary comes from; each takes other options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// aclrtBinaryLoadFromFile
    File,
    /// aclrtBinaryLoadFromData
    Data,
}

/// Magic numbers of binaries: AI Core, cube, vector.
const MAGIC: [u32; 3] = [
    sys::ACL_RT_BINARY_MAGIC_ELF_AICORE,
    sys::ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE,
    sys::ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE,
];

/// Whether a magic number is one of a binary.
pub(crate) fn is_magic(word: u32) -> bool {
    MAGIC.contains(&word)
}

impl Loading {
    /// Takes one option in: its kind and its first word.
    pub fn option(&mut self, source: Source, kind: u32, word: u32) -> Result<()> {
        let rule = |file, data| if source == Source::File { file } else { data };
        let invalid = |rule: &'static str, text: String| {
            refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "options: {text}")
        };
        match kind {
            sys::ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD if word <= 1 => self.lazy = word == 1,
            sys::ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD => {
                let rule = rule("aclrtBinaryLoadFromFile#07", "aclrtBinaryLoadFromData#08");
                return invalid(rule, format!("isLazyLoad is {word}, neither 0 nor 1"));
            }
            sys::ACL_RT_BINARY_LOAD_OPT_MAGIC if source == Source::File => {
                return invalid(
                    "aclrtBinaryLoadFromFile#08",
                    "a magic number is for binaries in memory".into(),
                );
            }
            sys::ACL_RT_BINARY_LOAD_OPT_MAGIC if is_magic(word) => {}
            sys::ACL_RT_BINARY_LOAD_OPT_MAGIC => {
                return invalid(
                    "aclrtBinaryLoadFromData#06",
                    format!("magic is {word:#x}, not one of {MAGIC:x?}"),
                );
            }
            sys::ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE => {
                let modes = if source == Source::File { 0..=1 } else { 2..=2 };
                if !modes.contains(&word) {
                    let rule = rule("aclrtBinaryLoadFromFile#09", "aclrtBinaryLoadFromData#07");
                    return invalid(rule, format!("cpuKernelMode is {word}"));
                }
                return refuse!(
                    sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "ours: AI CPU kernels are not built",
                    "options: this version of toprope does not run AI CPU kernels"
                );
            }
            _ => {
                let rule = rule("aclrtBinaryLoadFromFile#10", "aclrtBinaryLoadFromData#09");
                return invalid(rule, format!("there is no option {kind}"));
            }
        }
        Ok(())
    }
}

/// How long a kernel may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Limit {
    /// What aclrtSetOpExecuteTimeOut and its kin say, or the product.
    #[default]
    Process,
    /// For ever.
    Never,
    /// So long.
    After(Duration),
}

/// The configuration of a launch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    pub(crate) limit: Limit,
    seconds: bool,
    microseconds: bool,
}

impl Config {
    /// Takes one attribute in: its id and its value's words.
    pub fn attribute(&mut self, rules: &'static Rules, id: u32, words: [u32; 4]) -> Result<()> {
        let [word, high, ..] = words;
        let byte = word as u8;
        let flag = |name: &str, rule: &'static str| match byte {
            0 | 1 => Ok(()),
            _ => refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "cfg: {name} is {byte}, neither 0 nor 1"),
        };
        match id {
            sys::ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE => flag("schemMode", rules.mode)?,
            // aclrtLaunchKernelV2#17: of no effect where buffers are the program's own variables.
            sys::ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE
            | sys::ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE
            | sys::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET => {}
            sys::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH => flag("isBlockTaskPrefetch", rules.flag)?,
            sys::ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP => flag("isDataDump", rules.flag)?,
            sys::ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING => flag("enableProfiling", rules.flag)?,
            sys::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT => {
                self.seconds = true;
                self.set_limit(Duration::from_secs((word as u16).into()));
            }
            sys::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US => {
                self.microseconds = true;
                self.set_limit(Duration::from_micros(u64::from(high) << 32 | u64::from(word)));
            }
            _ => {
                return refuse!(
                    sys::ACL_ERROR_RT_PARAM_INVALID,
                    rules.unknown,
                    "cfg: there is no attribute {id}"
                );
            }
        }
        if self.seconds && self.microseconds {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                rules.both,
                "cfg: has ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT and ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US"
            );
        }
        Ok(())
    }

    /// aclrtLaunchKernelV2#16: 0 is for ever.
    fn set_limit(&mut self, limit: Duration) {
        self.limit = if limit.is_zero() { Limit::Never } else { Limit::After(limit) };
    }
}

/// The rules of a configuration.
#[derive(Debug)]
pub struct Rules {
    /// No attributes.
    pub null: &'static str,
    /// An unknown one.
    pub unknown: &'static str,
    /// Two timeouts.
    pub both: &'static str,
    /// Schedule mode.
    pub mode: &'static str,
    /// Switches.
    pub flag: &'static str,
}

macro_rules! rules {
    ($name:ident, $row:literal) => {
        Rules {
            null: concat!(stringify!($name), $row),
            unknown: concat!(stringify!($name), $row),
            both: "aclrtLaunchKernelV2#08",
            mode: "aclrtLaunchKernelV2#09",
            flag: "aclrtLaunchKernelV2#10",
        }
    };
}

/// Of aclrtLaunchKernelV2.
pub static V2: Rules = Rules {
    null: "aclrtLaunchKernelV2#06",
    unknown: "aclrtLaunchKernelV2#07",
    both: "aclrtLaunchKernelV2#08",
    mode: "aclrtLaunchKernelV2#09",
    flag: "aclrtLaunchKernelV2#10",
};
/// Of aclrtLaunchKernelWithConfig.
pub static WITH_CONFIG: Rules = rules!(aclrtLaunchKernelWithConfig, "#10");
/// Of aclrtLaunchKernelWithHostArgs.
pub static WITH_HOST_ARGS: Rules = rules!(aclrtLaunchKernelWithHostArgs, "#08");
/// Of aclrtLaunchKernelWithArgsArray, whose page leaves it to the others.
pub static WITH_ARGS_ARRAY: Rules = V2_AGAIN;
const V2_AGAIN: Rules = Rules {
    null: "ours: as aclrtLaunchKernelV2#06",
    unknown: "ours: as aclrtLaunchKernelV2#07",
    both: "aclrtLaunchKernelV2#08",
    mode: "aclrtLaunchKernelV2#09",
    flag: "aclrtLaunchKernelV2#10",
};
