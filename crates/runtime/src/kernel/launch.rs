//! Launching a kernel: chapter 14, and the older forms of `spec/registration.csv`.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use ascendcl_sys as sys;
use toprope_engine::image::Kernel;
use toprope_engine::queue::Task;

use super::args::List;
use super::binary::{self, Function};
use super::config::{Config, Limit};
use super::register;
use super::run::{Arguments, Launched};
use super::site::Site;
use crate::error::Result;
use crate::handle::Pin;
use crate::memory::place::{self, Place};
use crate::process::Runtime;
use crate::profile::Form;
use crate::stream::{self, Stream};
use crate::{Api, bytes, copy, refuse};

/// What all launches say of themselves.
struct Rules {
    api: Api,
    /// The function's handle.
    stale: &'static str,
    /// Its binary is not on the device.
    unloaded: &'static str,
    foreign: &'static str,
    blocks: &'static str,
    size: &'static str,
}

static PLAIN: Rules = Rules {
    api: Api::aclrtLaunchKernel,
    stale: "aclrtLaunchKernel#05",
    unloaded: "aclrtLaunchKernel#06",
    foreign: "aclrtLaunchKernel#09",
    blocks: "aclrtLaunchKernel#03",
    size: "aclrtLaunchKernel#04",
};
static V2: Rules = Rules {
    api: Api::aclrtLaunchKernelV2,
    stale: "aclrtLaunchKernelV2#12",
    unloaded: "aclrtLaunchKernelV2#12",
    foreign: "aclrtLaunchKernelV2#14",
    blocks: "aclrtLaunchKernelV2#04",
    size: "aclrtLaunchKernelV2#03",
};
static CONFIG: Rules = Rules {
    api: Api::aclrtLaunchKernelWithConfig,
    stale: "aclrtLaunchKernelWithConfig#06",
    unloaded: "aclrtLaunchKernelWithConfig#11",
    foreign: "aclrtLaunchKernelWithConfig#12",
    blocks: "aclrtLaunchKernelWithConfig#02",
    size: "aclrtLaunchKernelWithConfig#08",
};
static HOST_ARGS: Rules = Rules {
    api: Api::aclrtLaunchKernelWithHostArgs,
    stale: "aclrtLaunchKernelWithHostArgs#09",
    unloaded: "aclrtLaunchKernelWithHostArgs#09",
    foreign: "aclrtLaunchKernelWithHostArgs#10",
    blocks: "aclrtLaunchKernelWithHostArgs#04",
    size: "aclrtLaunchKernelWithHostArgs#03",
};
static ARGS_ARRAY: Rules = Rules {
    api: Api::aclrtLaunchKernelWithArgsArray,
    stale: "aclrtLaunchKernelWithArgsArray#04",
    unloaded: "aclrtLaunchKernelWithArgsArray#11",
    foreign: "aclrtLaunchKernelWithArgsArray#12",
    blocks: "aclrtLaunchKernelWithArgsArray#02",
    size: "aclrtLaunchKernelWithArgsArray#08",
};
static OLD: Rules = Rules {
    api: Api::rtKernelLaunch,
    stale: "rtKernelLaunch",
    unloaded: "rtKernelLaunch",
    foreign: "rtKernelLaunch",
    blocks: "rtKernelLaunch",
    size: "rtKernelLaunch",
};

/// What a launch is about, beside its arguments.
#[derive(Clone, Copy)]
pub struct Target {
    /// Handle of the function; in the forms that take either, perhaps the address of its host function.
    pub func: u64,
    /// Number of blocks.
    pub blocks: u32,
    /// Handle of the stream.
    pub stream: u64,
}

/// A block of arguments in memory.
#[derive(Clone, Copy)]
pub struct Given {
    /// First address.
    pub at: usize,
    /// Bytes.
    pub bytes: usize,
}

fn some_blocks(blocks: u32, rules: &Rules) -> Result<()> {
    match blocks {
        0 => refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rules.blocks, "numBlocks: must be greater than 0"),
        _ => Ok(()),
    }
}

fn some_bytes(bytes: usize, rules: &Rules) -> Result<()> {
    match bytes {
        0 => refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rules.size, "argsSize: must be greater than 0"),
        _ => Ok(()),
    }
}

/// aclrtLaunchKernel (#11: the order of the checks).
pub fn launch_kernel(rt: &Runtime, target: Target, given: Given) -> Result<()> {
    let function = binary::function(rt, target.func, PLAIN.stale)?;
    let known = stream::known(rt, target.stream)?;
    // #13
    let given = Given { bytes: given.bytes as u32 as usize, ..given };
    some_blocks(target.blocks, &PLAIN)?;
    some_bytes(given.bytes, &PLAIN)?;
    let stream = copy::own(rt, known, PLAIN.foreign)?;
    let arguments = in_device_memory(rt, function.kernel(), given)?;
    let site = loaded(rt, &PLAIN, &function, &stream)?;
    start(rt, &PLAIN, site, target.blocks, &stream, Config::default(), arguments);
    Ok(())
}

/// aclrtLaunchKernelV2.
pub fn launch_kernel_v2(
    rt: &Runtime,
    target: Target,
    given: Given,
    config: &dyn Fn() -> Result<Config>,
) -> Result<()> {
    let function = binary::function(rt, target.func, V2.stale)?;
    let known = stream::known(rt, target.stream)?;
    some_bytes(given.bytes, &V2)?;
    some_blocks(target.blocks, &V2)?;
    let config = config()?;
    let stream = copy::own(rt, known, V2.foreign)?;
    let arguments = in_device_memory(rt, function.kernel(), given)?;
    let site = loaded(rt, &V2, &function, &stream)?;
    start(rt, &V2, site, target.blocks, &stream, config, arguments);
    Ok(())
}

/// aclrtLaunchKernelWithConfig.
pub fn launch_kernel_with_config(
    rt: &Runtime,
    target: Target,
    config: &dyn Fn() -> Result<Config>,
    list: u64,
) -> Result<()> {
    let function = binary::function(rt, target.func, CONFIG.stale)?;
    let list = List::resolve(rt, list, CONFIG.stale)?;
    let known = stream::known(rt, target.stream)?;
    let config = config()?;
    let arguments = list.pack(function.kernel())?;
    let stream = copy::own(rt, known, CONFIG.foreign)?;
    let site = loaded(rt, &CONFIG, &function, &stream)?;
    start(rt, &CONFIG, site, target.blocks, &stream, config, arguments);
    Ok(())
}

/// A place in host arguments that takes the address of another one.
#[derive(Clone, Copy)]
pub struct PlaceHolder {
    /// Where the address is written.
    pub address: u32,
    /// Where its data begins.
    pub data: u32,
}

/// aclrtLaunchKernelWithHostArgs (#12: the arguments are copied by the call).
pub fn launch_kernel_with_host_args(
    rt: &Runtime,
    target: Target,
    config: &dyn Fn() -> Result<Config>,
    given: Given,
    holders: &dyn Fn() -> Result<Vec<PlaceHolder>>,
) -> Result<()> {
    let function = binary::function(rt, target.func, HOST_ARGS.stale)?;
    let known = stream::known(rt, target.stream)?;
    some_bytes(given.bytes, &HOST_ARGS)?;
    some_blocks(target.blocks, &HOST_ARGS)?;
    let config = config()?;
    let arguments = copied(function.kernel(), given, &holders()?)?;
    let stream = copy::own(rt, known, HOST_ARGS.foreign)?;
    let site = loaded(rt, &HOST_ARGS, &function, &stream)?;
    start(rt, &HOST_ARGS, site, target.blocks, &stream, config, arguments);
    Ok(())
}

/// aclrtLaunchKernelWithArgsArray: `args` is an array of the parameters' addresses.
pub fn launch_kernel_with_args_array(
    rt: &Runtime,
    target: Target,
    config: &dyn Fn() -> Result<Config>,
    args: usize,
) -> Result<()> {
    let function = if register::is_stub(rt, target.func as usize) {
        let device = binary::current(rt, "aclrtLaunchKernelWithArgsArray#05")?;
        register::function_on(rt, target.func as usize, device)?
    } else {
        target.func
    };
    let function = binary::function(rt, function, ARGS_ARRAY.stale)?;
    let known = stream::known(rt, target.stream)?;
    let config = config()?;
    let arguments = gathered(function.kernel(), args)?;
    let stream = copy::own(rt, known, ARGS_ARRAY.foreign)?;
    let site = loaded(rt, &ARGS_ARRAY, &function, &stream)?;
    start(rt, &ARGS_ARRAY, site, target.blocks, &stream, config, arguments);
    Ok(())
}

/// rtKernelLaunch: as aclrtLaunchKernelWithHostArgs, for the address of a host function.
pub fn launch_stub(rt: &Runtime, target: Target, given: Given) -> Result<()> {
    some_blocks(target.blocks, &OLD)?;
    let known = stream::known(rt, target.stream)?;
    let device = binary::current(rt, OLD.stale)?;
    let site = register::site_on(rt, target.func as usize, device)?;
    // So that it is of the same device.
    let stream = copy::own(rt, known, OLD.foreign)?;
    let arguments = copied(site.kernel(), given, &[])?;
    start(rt, &OLD, site, target.blocks, &stream, Config::default(), arguments);
    Ok(())
}

/// Whether a block of arguments has all that the kernel reads. ours: a kernel would read what is not there.
fn enough(kernel: &Kernel, bytes: usize) -> Result<()> {
    let end = kernel.params.iter().map(|(offset, size)| *offset as usize + *size as usize).max().unwrap_or(0);
    if bytes >= end {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        "ours: arguments are complete",
        "argsSize: {bytes} bytes; the arguments of kernel {} take {end}",
        kernel.name
    )
}

/// aclrtLaunchKernel#12, aclrtLaunchKernelV2#18: read when the kernel runs.
fn in_device_memory(rt: &Runtime, kernel: &Kernel, given: Given) -> Result<Arguments> {
    enough(kernel, given.bytes)?;
    let span = place::locate(rt, &"argsData", given.at, given.bytes)?;
    if span.place() == Place::Pageable && rt.profile.form == Form::Endpoint {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "ours: argsData is device memory",
            "argsData: {:#x} is {}; a kernel cannot read it there (aclrtLaunchKernelWithHostArgs takes host memory)",
            given.at,
            span.describe()
        );
    }
    Ok(Arguments::Device(given.at, given.bytes))
}

/// A copy of arguments in host memory. The addresses that place holders ask for are those of the copy.
fn copied(kernel: &Kernel, given: Given, holders: &[PlaceHolder]) -> Result<Arguments> {
    enough(kernel, given.bytes)?;
    let room = given.bytes.max(kernel.arguments as usize);
    let own = if holders.is_empty() { Arguments::own } else { Arguments::apart };
    let arguments = own(room, given.bytes);
    let to = arguments.place().0;
    put(to, given.at, given.bytes, "hostArgs")?;
    for holder in holders {
        for (name, offset) in [("addrOffset", holder.address), ("dataOffset", holder.data)] {
            if offset as usize >= given.bytes {
                return refuse!(
                    sys::ACL_ERROR_RT_PARAM_INVALID,
                    "aclrtLaunchKernelWithHostArgs#06",
                    "placeHolderArray: {name} {offset} is not below argsSize, {}",
                    given.bytes
                );
            }
        }
        if holder.address as usize + 8 > given.bytes {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtLaunchKernelWithHostArgs#06",
                "placeHolderArray: an address at addrOffset {} does not fit into argsSize, {}",
                holder.address,
                given.bytes
            );
        }
        let data = to + holder.data as usize;
        put(to + holder.address as usize, &raw const data as usize, 8, "hostArgs")?;
    }
    Ok(arguments)
}

/// The parameters, each from an address of its own.
fn gathered(kernel: &Kernel, args: usize) -> Result<Arguments> {
    if args == 0 && !kernel.params.is_empty() {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtLaunchKernelWithArgsArray#08",
            "args: null, but kernel {} has {} parameters",
            kernel.name,
            kernel.params.len()
        );
    }
    let arguments = Arguments::own(kernel.arguments as usize, kernel.arguments as usize);
    let to = arguments.place().0;
    for (at, (offset, size)) in kernel.params.iter().enumerate() {
        let from = bytes::read::<usize>(args + at * 8).or_else(|bytes::Unmapped(at)| missing("args", at))?;
        put(to + *offset as usize, from, *size as usize, "args")?;
    }
    Ok(arguments)
}

/// Copies the program's bytes into arguments.
pub(super) fn put(to: usize, from: usize, bytes: usize, name: &str) -> Result<()> {
    // SAFETY: the destination is inside a block of arguments that nobody else knows yet, as the callers have checked; a source that
    // is not there is reported.
    match unsafe { toprope_engine::memory::copy(to, from, bytes) } {
        Ok(()) => Ok(()),
        Err(fault) => missing(name, fault.address),
    }
}

fn missing<T>(name: &str, at: usize) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        "ours: memory that is not there",
        "{name}: there is no memory at {at:#x}"
    )
}

/// The kernel on the stream's device.
fn loaded(
    rt: &Runtime,
    rules: &Rules,
    function: &Pin<'_, Function>,
    stream: &Pin<'_, Stream>,
) -> Result<Arc<Site>> {
    let owner = binary::resolve(rt, function.binary, rules.stale)?;
    match owner.site(rt, function.binary, stream.device, function.index) {
        Some(site) => Ok(site),
        None => refuse!(
            sys::ACL_ERROR_RT_INVALID_HANDLE,
            rules.unloaded,
            "func: the binary of kernel {} is not loaded on device {}; look the kernel up again there",
            function.kernel().name,
            stream.device
        ),
    }
}

/// The task.
fn start(
    rt: &Runtime,
    rules: &Rules,
    site: Arc<Site>,
    blocks: u32,
    stream: &Pin<'_, Stream>,
    config: Config,
    arguments: Arguments,
) {
    rt.engine.free_spent();
    let launched = Launched {
        entry: site.entry,
        code: site.code,
        site,
        arguments,
        blocks,
        limit: match config.limit {
            Limit::Process => rt.timeouts.operator(rt),
            Limit::Never => None,
            Limit::After(limit) => Some(limit),
        },
        queue: stream.queue,
        stream: stream.id,
        first: AtomicU32::new(0),
        meeting: Default::default(),
        changed: Default::default(),
    };
    // What a kernel reads and writes is not known.
    copy::enqueue(rt, rules.api, stream, Task::Kernel(Arc::new(launched)), &[], &[]);
}
