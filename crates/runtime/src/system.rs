//! Settings of the process: chapter 03. Options of operators, and how many cores a device, a stream or a thread may use. They
//! are kept and answered; whoever launches kernels asks [`cores_of_thread`].

use std::cell::Cell;
use std::collections::HashMap;

use ascendcl_sys as sys;
use parking_lot::Mutex;

use crate::device::{self, Device};
use crate::error::Result;
use crate::handle::Pin;
use crate::process::Runtime;
use crate::stream::{self, Stream};
use crate::{refuse, thread};

/// Options that exist in a context: all but ACL_OPT_ENABLE_KERNEL_EARLY_START. aclrtCtxSetSysParamOpt#02
pub const CONTEXT_OPTIONS: usize = 3;
/// Options of the process. aclrtSetSysParamOpt#01, #05
const OPTIONS: usize = 4;

/// Options and core limits of the process.
#[derive(Default)]
pub struct System {
    /// aclrtSetSysParamOpt, by `aclSysParamOpt`. aclrtGetSysParamOpt#03: 0 until set.
    options: Mutex<[i64; OPTIONS]>,
    /// aclrtSetStreamResLimit: cube and vector cores by stream handle.
    streams: Mutex<HashMap<u64, [Option<u32>; 2]>>,
}

thread_local! {
    /// The stream whose limits the thread uses, 0 if none. aclrtUseStreamResInCurrentThread#06: other threads are not affected.
    static USED: Cell<u64> = const { Cell::new(0) };
}

/// The place of an option among the first `count`.
pub(crate) fn option(option: u32, count: usize, rule: &'static str) -> Result<usize> {
    match usize::try_from(option).ok().filter(|at| *at < count) {
        Some(at) => Ok(at),
        None => {
            refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                rule,
                "opt: {}; wanted is one of {}",
                sys::enums::aclSysParamOpt.show(option),
                sys::enums::aclSysParamOpt.all()
            )
        }
    }
}

/// Whether an option takes a value: ACL_OPT_DETERMINISTIC 0 to 3 (rule 0), the others 0 and 1 (rule 1).
pub(crate) fn in_range(at: usize, value: i64, rules: [&'static str; 2]) -> Result<()> {
    let deterministic = at == sys::ACL_OPT_DETERMINISTIC as usize;
    let (end, rule) = if deterministic { (4, rules[0]) } else { (2, rules[1]) };
    if (0..end).contains(&value) {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "value: {value} is not in [0, {}] for option {at}",
        end - 1
    )
}

/// aclrtSetSysParamOpt: for the process (#04); the last value counts (#06).
pub fn set_sys_param(rt: &Runtime, opt: u32, value: i64) -> Result<()> {
    let at = option(opt, OPTIONS, "aclrtSetSysParamOpt#01")?;
    in_range(at, value, ["aclrtSetSysParamOpt#02", "aclrtSetSysParamOpt#03"])?;
    rt.system.options.lock()[at] = value;
    Ok(())
}

/// aclrtGetSysParamOpt (#03, #04).
pub fn sys_param(rt: &Runtime, opt: u32) -> Result<i64> {
    let at = option(opt, OPTIONS, "aclrtGetSysParamOpt#01")?;
    Ok(rt.system.options.lock()[at])
}

/// The place of a core type: cube (on some products AI cores, aclrtSetDeviceResLimit#09) and vector.
fn core_type(kind: u32, rule: &'static str) -> Result<usize> {
    match kind {
        sys::ACL_RT_DEV_RES_CUBE_CORE | sys::ACL_RT_DEV_RES_VECTOR_CORE => Ok(kind as usize),
        _ => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rule,
            "type: {} is neither cube nor vector cores",
            sys::enums::aclrtDevResLimitType.show(kind)
        ),
    }
}

/// Cores of the device.
fn hardware(rt: &Runtime) -> [u32; 2] {
    [rt.profile.product.ai_core_num, rt.profile.product.vector_core_num]
}

/// aclrtSetDeviceResLimit#04, aclrtSetStreamResLimit#04
fn enough(rt: &Runtime, at: usize, value: u32, rule: &'static str) -> Result<()> {
    let total = hardware(rt)[at];
    if value <= total {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "value: {value}, the device has {total} cores of type {at}"
    )
}

/// A device that somebody has set.
fn opened<'a>(rt: &'a Runtime, id: i32, rules: [&'static str; 2]) -> Result<&'a Device> {
    let device = device::resolve(rt, id, rules[0])?;
    if device.is_set() {
        return Ok(device);
    }
    refuse!(
        sys::ACL_ERROR_RT_DEV_SETUP_ERROR,
        rules[1],
        "deviceId: device {id} is not set; call aclrtSetDevice first"
    )
}

/// aclrtSetDeviceResLimit (#06: the last call wins).
pub fn set_device_limit(rt: &Runtime, id: i32, kind: u32, value: u32) -> Result<()> {
    let device = device::resolve(rt, id, "aclrtSetDeviceResLimit#02")?;
    let at = core_type(kind, "aclrtSetDeviceResLimit#03")?;
    enough(rt, at, value, "aclrtSetDeviceResLimit#04")?;
    opened(rt, id, ["aclrtSetDeviceResLimit#02", "aclrtSetDeviceResLimit#11"])?;
    device.cores.lock()[at] = Some(value);
    Ok(())
}

/// aclrtGetDeviceResLimit (#05: without a limit the device's cores).
pub fn device_limit(rt: &Runtime, id: i32, kind: u32) -> Result<u32> {
    device::resolve(rt, id, "aclrtGetDeviceResLimit#02")?;
    let at = core_type(kind, "aclrtGetDeviceResLimit#03")?;
    let device = opened(rt, id, ["aclrtGetDeviceResLimit#02", "aclrtGetDeviceResLimit#06"])?;
    Ok(of_device(rt, device, at))
}

fn of_device(rt: &Runtime, device: &Device, at: usize) -> u32 {
    let limit = device.cores.lock()[at];
    limit.unwrap_or(hardware(rt)[at])
}

/// aclrtResetDeviceResLimit (#03, #04).
pub fn reset_device_limit(rt: &Runtime, id: i32) -> Result<()> {
    let device = opened(rt, id, ["aclrtResetDeviceResLimit#02", "aclrtResetDeviceResLimit#05"])?;
    *device.cores.lock() = [None; 2];
    Ok(())
}

/// aclrtSetStreamResLimit (#05: more than the process may use is allowed; #07: the last call wins).
pub fn set_stream_limit(rt: &Runtime, stream: u64, kind: u32, value: u32) -> Result<()> {
    let stream = stream::resolve(rt, stream)?;
    let at = core_type(kind, "aclrtSetStreamResLimit#03")?;
    enough(rt, at, value, "aclrtSetStreamResLimit#04")?;
    let mut limits = rt.system.streams.lock();
    // Handles are never used twice; those of streams that are gone are swept out when somebody writes.
    limits.retain(|handle, _| rt.streams.pin(*handle).is_some());
    limits.entry(stream.handle()).or_default()[at] = Some(value);
    Ok(())
}

/// aclrtGetStreamResLimit (#05).
pub fn stream_limit(rt: &Runtime, stream: u64, kind: u32) -> Result<u32> {
    let stream = stream::resolve(rt, stream)?;
    let at = core_type(kind, "aclrtGetStreamResLimit#03")?;
    Ok(of_stream(rt, &stream, at))
}

fn of_stream(rt: &Runtime, stream: &Pin<'_, Stream>, at: usize) -> u32 {
    let limit = rt.system.streams.lock().get(&stream.handle()).and_then(|limits| limits[at]);
    let device = rt.devices.get(usize::from(stream.device));
    limit.or_else(|| device.map(|device| of_device(rt, device, at))).unwrap_or(hardware(rt)[at])
}

/// aclrtResetStreamResLimit (#03).
pub fn reset_stream_limit(rt: &Runtime, stream: u64) -> Result<()> {
    let stream = stream::resolve(rt, stream)?;
    rt.system.streams.lock().remove(&stream.handle());
    Ok(())
}

/// aclrtUseStreamResInCurrentThread (#01: the last call wins; #02: without limits of its own those of the process hold).
pub fn use_stream(rt: &Runtime, stream: u64) -> Result<()> {
    let stream = stream::resolve(rt, stream)?;
    let _ = USED.try_with(|used| used.set(stream.handle()));
    Ok(())
}

/// aclrtUnuseStreamResInCurrentThread (#01, #02).
pub fn unuse_stream(rt: &Runtime, stream: u64) -> Result<()> {
    let stream = stream::resolve(rt, stream)?;
    let _ = USED.try_with(|used| {
        if used.get() == stream.handle() {
            used.set(0);
        }
    });
    Ok(())
}

/// aclrtGetResInCurrentThread (#03).
pub fn cores_of_thread(rt: &Runtime, kind: u32) -> Result<u32> {
    let at = core_type(kind, "aclrtGetResInCurrentThread#02")?;
    let context = thread::current(rt)?;
    let used = USED.try_with(Cell::get).unwrap_or(0);
    // A stream that was destroyed meanwhile limits nothing any more.
    if let Some(stream) = rt.streams.pin(used) {
        return Ok(of_stream(rt, &stream, at));
    }
    let device = rt.devices.get(usize::from(context.device));
    Ok(device.map_or(hardware(rt)[at], |device| of_device(rt, device, at)))
}
