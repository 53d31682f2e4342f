//! The JSON file of aclInit: read, checked, and turned into settings. Nothing takes effect here.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ascendcl_sys as sys;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::process::Runtime;
use crate::refuse;

/// Deepest nesting of `{` and of `[`, each. aclInit#08
const DEEPEST: u32 = 10;
/// ours: a longer file is no configuration.
const LONGEST: u64 = 16 << 20;

/// What a file asks for.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file's bytes; empty without a file.
    pub text: Vec<u8>,
    /// The same, for comparison. aclInit#03: no file is `{}`.
    pub root: Map<String, Value>,
    /// Messages are kept per process.
    pub per_process: bool,
    /// User id for threads that select no device.
    pub default_device: Option<u16>,
    /// `aclrtDeviceLimit`, value in bytes, rule.
    pub limits: Vec<(u32, u32, &'static str)>,
    /// Settings that are accepted and do nothing here, for a warning.
    pub idle: Vec<&'static str>,
}

/// The settings of a file. aclInit#02, #04: no path or an empty one is the default.
pub fn load(rt: &Runtime, path: Option<&[u8]>) -> Result<Config> {
    match path.filter(|path| !path.is_empty()) {
        Some(path) => parse(rt, read(Path::new(std::ffi::OsStr::from_bytes(path)))?),
        None => Ok(Config::default()),
    }
}

/// aclInit#05, #06
fn read(path: &Path) -> Result<Vec<u8>> {
    let failed = |why: &dyn std::fmt::Display| {
        refuse!(sys::ACL_ERROR_INVALID_FILE, "aclInit#05", "configPath: '{}': {why}", path.display())
    };
    match std::fs::metadata(path) {
        // A pipe or a device could block or never end.
        Ok(meta) if !meta.is_file() => return failed(&"not a regular file"),
        Ok(_) => {}
        Err(error) => return failed(&error),
    }
    let mut bytes = Vec::new();
    match std::fs::File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)) {
        Err(error) => failed(&error),
        Ok(_) if bytes.len() as u64 > LONGEST => refuse!(
            sys::ACL_ERROR_INVALID_FILE_SIZE,
            "ours: configuration size",
            "configPath: '{}' is longer than {LONGEST} bytes",
            path.display()
        ),
        Ok(_) => Ok(bytes),
    }
}

/// The settings in a file's bytes.
pub fn parse(rt: &Runtime, text: Vec<u8>) -> Result<Config> {
    nesting(&text)?;
    let root: Map<String, Value> = match serde_json::from_slice(&text) {
        Ok(root) => root,
        Err(error) => {
            return refuse!(
                sys::ACL_ERROR_PARSE_FILE,
                "aclInit#07",
                "configPath: not a JSON object: {error}"
            );
        }
    };
    let mut config = Config { per_process: message_mode(&root)?, ..Config::default() };
    config.default_device = default_device(rt, &root)?;
    config.limits = limits(&root)?;
    queue_length(&root)?;
    if dump(&root)? {
        config.idle.push("dump");
    }
    if profiler(&root)? {
        config.idle.push("profiler");
    }
    Ok(Config { text, root, ..config })
}

/// aclInit#08: counted over the text, as the parser would nest, brackets in strings excepted.
fn nesting(text: &[u8]) -> Result<()> {
    let (mut braces, mut brackets) = (0u32, 0u32);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' => braces += 1,
            b'[' => brackets += 1,
            b'}' => braces = braces.saturating_sub(1),
            b']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        if braces > DEEPEST || brackets > DEEPEST {
            let which = if braces > DEEPEST { '{' } else { '[' };
            return refuse!(
                sys::ACL_ERROR_PARSE_FILE,
                "aclInit#08",
                "configPath: '{which}' is nested more than {DEEPEST} levels deep"
            );
        }
    }
    Ok(())
}

/// aclInit#22, #23, #24
fn message_mode(root: &Map<String, Value>) -> Result<bool> {
    match root.get("err_msg_mode") {
        None => Ok(false),
        Some(Value::String(mode)) if mode == "0" => Ok(false),
        Some(Value::String(mode)) if mode == "1" => Ok(true),
        Some(other) => refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclInit#24",
            "err_msg_mode: {other}, must be the string \"0\" (per thread) or \"1\" (per process)"
        ),
    }
}

/// A decimal number without sign, written as a string (as the page does) or as a number (ours).
fn decimal(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
            // Digits that do not fit are a number all the same, and outside every range.
            Some(text.parse().unwrap_or(u64::MAX))
        }
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

/// aclInit#25
fn default_device(rt: &Runtime, root: &Map<String, Value>) -> Result<Option<u16>> {
    let Some(section) = root.get("defaultDevice") else { return Ok(None) };
    // aclrtSetDevice#06: where there is no default context, the setting does not exist (aclInit#37: ignored).
    if !rt.profile.product.default_stream {
        return Ok(None);
    }
    let value = match section {
        Value::Object(section) => section.get("default_device"),
        other => Some(other),
    };
    let Some(value) = value else { return Ok(None) };
    let number = match (section, decimal(value)) {
        (Value::Object(_), Some(number)) => number,
        _ => {
            return refuse!(
                sys::ACL_ERROR_FAILURE,
                "aclInit#26",
                "defaultDevice: default_device is {value}, must be 0 or a positive decimal number"
            );
        }
    };
    match u16::try_from(number).ok().filter(|id| usize::from(*id) < rt.devices.len()) {
        Some(id) => Ok(Some(id)),
        None => refuse!(
            sys::ACL_ERROR_RT_INVALID_DEVICEID,
            "aclInit#27",
            "defaultDevice: default_device is {number}, the process has {} devices",
            rt.devices.len()
        ),
    }
}

/// aclInit#30 to #36. The print buffers are looked for beside `StackSize` and in it (ours: accepted in both places).
fn limits(root: &Map<String, Value>) -> Result<Vec<(u32, u32, &'static str)>> {
    let none = Map::new();
    let section = match root.get("StackSize") {
        None => &none,
        Some(Value::Object(section)) => section,
        Some(other) => {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                "aclInit#30",
                "StackSize: {other}, must be an object"
            );
        }
    };
    let known = [
        ("aicore_stack_size", sys::ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, "aclInit#30"),
        ("simt_stack_size", sys::ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, "aclInit#34"),
        ("simt_divergence_stack_size", sys::ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE, "aclInit#34"),
        ("simt_printf_fifo_size", sys::ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE, "aclInit#35"),
        (
            "simd_printf_fifo_size_per_core",
            sys::ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE,
            "aclInit#36",
        ),
    ];
    let mut found = Vec::new();
    for (key, limit, rule) in known {
        let Some(value) = section.get(key).or_else(|| root.get(key)) else { continue };
        match decimal(value).and_then(|bytes| u32::try_from(bytes).ok()) {
            Some(bytes) => found.push((limit, bytes, rule)),
            None => {
                return refuse!(
                    sys::ACL_ERROR_INVALID_PARAM,
                    rule,
                    "{key}: {value}, must be a number of bytes that fits 32 bits"
                );
            }
        }
    }
    Ok(found)
}

/// aclInit#38. There is no operator cache here; the number is checked only.
fn queue_length(root: &Map<String, Value>) -> Result<()> {
    match root.get("max_opqueue_num") {
        Some(value) if decimal(value).is_none_or(|number| number == 0) => refuse!(
            sys::ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG,
            "aclInit#38",
            "max_opqueue_num: {value}, must be a positive decimal number"
        ),
        _ => Ok(()),
    }
}

/// Scenes of the exception dump, as the page names them.
const EXCEPTION_SCENES: [&str; 4] =
    ["lite_exception", "aic_err_brief_dump", "aic_err_norm_dump", "aic_err_detail_dump"];

/// Checks the dump settings; whether a dump is asked for.
fn dump(root: &Map<String, Value>) -> Result<bool> {
    let bad =
        |rule: &'static str, text: String| refuse!(sys::ACL_ERROR_INVALID_DUMP_CONFIG, rule, "dump: {text}");
    let section = match root.get("dump") {
        None => return Ok(false),
        Some(Value::Object(section)) => section,
        Some(other) => return bad("aclInit#41", format!("{other}, must be an object")),
    };
    let switch = |key: &str| match section.get(key) {
        None => Ok(false),
        Some(Value::String(text)) if text == "on" => Ok(true),
        Some(Value::String(text)) if text == "off" => Ok(false),
        Some(other) => Err(format!("{key} is {other}, must be \"on\" or \"off\"")),
    };
    let (debug, operators) = match (switch("dump_debug"), switch("dump_op_switch")) {
        (Ok(debug), Ok(operators)) => (debug, operators),
        (Err(text), _) | (_, Err(text)) => return bad("ours: dump switches", text),
    };
    let path = match section.get("dump_path") {
        None => false,
        Some(Value::String(path)) => !path.is_empty(),
        Some(other) => return bad("ours: dump path", format!("dump_path is {other}, must be a string")),
    };
    let models = match section.get("dump_list") {
        None => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(other) => return bad("ours: dump list", format!("dump_list is {other}, must be an array")),
    };
    let scene = match section.get("dump_scene") {
        None => "",
        Some(Value::String(scene)) => scene.as_str(),
        Some(other) => return bad("ours: dump scene", format!("dump_scene is {other}, must be a string")),
    };
    if scene == "watcher" {
        if debug || operators {
            return bad("aclInit#43", "scene watcher cannot go with dump_debug or dump_op_switch".to_owned());
        }
        if !path {
            return bad("aclInit#43", "scene watcher needs dump_path".to_owned());
        }
    } else if EXCEPTION_SCENES.contains(&scene) {
        // #40 names no code; that of the other combinations is used.
        if models || operators {
            return bad("aclInit#40", format!("scene {scene} cannot go with dump_list or dump_op_switch"));
        }
    } else if !scene.is_empty() {
        return bad("ours: dump scene", format!("dump_scene is '{scene}', which is no scene"));
    }
    if debug && (models || operators) {
        return bad("aclInit#41", "dump_debug cannot go with dump_list or dump_op_switch".to_owned());
    }
    if debug && !path {
        return bad("aclInit#42", "dump_debug needs dump_path".to_owned());
    }
    Ok(debug || operators || models || !scene.is_empty())
}

/// Checks the profiling settings; whether profiling is asked for.
fn profiler(root: &Map<String, Value>) -> Result<bool> {
    let switch = match root.get("profiler") {
        None => return Ok(false),
        Some(Value::Object(section)) => section.get("switch"),
        Some(other) => Some(other),
    };
    match switch {
        None => Ok(false),
        Some(Value::String(text)) if text == "on" => Ok(true),
        Some(Value::String(text)) if text == "off" => Ok(false),
        Some(other) => refuse!(
            sys::ACL_ERROR_INVALID_PROFILING_CONFIG,
            "ours: profiler switch",
            "profiler: switch is {other}, must be \"on\" or \"off\""
        ),
    }
}

#[cfg(test)]
mod tests;
