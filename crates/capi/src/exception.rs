//! Chapter 13: errors of calls, tasks and devices.

use std::ffi::c_char;

use ascendcl_sys::*;
use toprope_runtime::call::{call, left_behind, value};
use toprope_runtime::{Api, error, exception};

use crate::arg;

/// Answers what the last failed calls said, newest first, and forgets it; null when there is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetRecentErrMsg() -> *const c_char {
    left_behind(Api::aclGetRecentErrMsg, std::ptr::null(), error::recent)
}

/// Answers the thread's last error of the runtime layer and forgets it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetLastError(level: aclrtLastErrLevel) -> aclError {
    last_error(Api::aclrtGetLastError, level, "aclrtGetLastError#01", true)
}

/// Answers the thread's last error of the runtime layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtPeekAtLastError(level: aclrtLastErrLevel) -> aclError {
    last_error(Api::aclrtPeekAtLastError, level, "aclrtPeekAtLastError#01", false)
}

/// The answer is an error of an earlier call, not of this one.
fn last_error(api: Api, level: aclrtLastErrLevel, rule: &'static str, take: bool) -> aclError {
    let mut last = 0;
    let code = call(api, |_| {
        exception::last_error_level(level, rule)?;
        last = exception::last_error(take);
        Ok(())
    });
    if code == 0 { last } else { code }
}

/// Sets the function that is told of failed tasks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetExceptionInfoCallback(callback: aclrtExceptionInfoCallback) -> aclError {
    call(Api::aclrtSetExceptionInfoCallback, |rt| {
        exception::set_callback(rt, callback);
        Ok(())
    })
}

/// Adds a function that is told of failed tasks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtExceptionInfoCallbackRegister(
    callback: aclrtExceptionInfoCallback,
) -> aclError {
    call(Api::aclrtExceptionInfoCallbackRegister, |rt| exception::register(rt, callback))
}

/// Takes it back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtExceptionInfoCallbackUnregister(
    callback: aclrtExceptionInfoCallback,
) -> aclError {
    call(Api::aclrtExceptionInfoCallbackUnregister, |rt| exception::unregister(rt, callback))
}

/// Answers the failed task's number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetTaskIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32 {
    field(Api::aclrtGetTaskIdFromExceptionInfo, info, |info| info.task)
}

/// Answers the id of the failed task's stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetStreamIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32 {
    field(Api::aclrtGetStreamIdFromExceptionInfo, info, |info| info.stream)
}

/// Answers the thread that added to that stream last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetThreadIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32 {
    field(Api::aclrtGetThreadIdFromExceptionInfo, info, |info| info.thread)
}

/// Answers the device of the failed task.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32 {
    field(Api::aclrtGetDeviceIdFromExceptionInfo, info, |info| info.device)
}

/// Answers the failed task's code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetErrorCodeFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32 {
    field(Api::aclrtGetErrorCodeFromExceptionInfo, info, |info| info.code)
}

fn field(api: Api, info: *const aclrtExceptionInfo, field: impl Fn(&exception::Info) -> u32) -> u32 {
    value(api, exception::UNKNOWN, |rt| Ok(exception::info(rt, info as u64, field)))
}

/// Answers what is broken in a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetErrorVerbose(deviceId: i32, errorInfo: *mut aclrtErrorInfo) -> aclError {
    call(Api::aclrtGetErrorVerbose, |rt| {
        let out = arg::out(errorInfo, "errorInfo", "aclrtGetErrorVerbose#01")?;
        exception::error_verbose(rt, deviceId)?;
        // #03
        // SAFETY: plain integers and a union of them; all zero says "no error".
        out.set(unsafe { std::mem::zeroed() })
    })
}

/// Repairs what aclrtGetErrorVerbose reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtRepairError(deviceId: i32, errorInfo: *const aclrtErrorInfo) -> aclError {
    call(Api::aclrtRepairError, |rt| {
        let info = arg::input(errorInfo, "errorInfo", "aclrtRepairError#01")?;
        exception::repair_error(rt, deviceId, info.tryRepair, info.errorType)
    })
}

/// Answers the memory faults of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetMemUceInfo(
    deviceId: i32,
    memUceInfoArray: *mut aclrtMemUceInfo,
    arraySize: usize,
    retSize: *mut usize,
) -> aclError {
    call(Api::aclrtGetMemUceInfo, |rt| {
        arg::not_null(memUceInfoArray, "memUceInfoArray", "aclrtGetMemUceInfo#01")?;
        let out = arg::out(retSize, "retSize", "aclrtGetMemUceInfo#02")?;
        // #03: any array is large enough for no entry.
        let _ = arraySize;
        out.set(exception::memory_faults(rt, deviceId)?)
    })
}

/// Repairs memory faults of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemUceRepair(
    deviceId: i32,
    memUceInfoArray: *mut aclrtMemUceInfo,
    arraySize: usize,
) -> aclError {
    call(Api::aclrtMemUceRepair, |rt| {
        let rule = "aclrtMemUceRepair#01";
        arg::not_null(memUceInfoArray, "memUceInfoArray", rule)?;
        exception::repair_memory_count(arraySize)?;
        let entries = arg::inputs(memUceInfoArray, arraySize, "memUceInfoArray", rule)?;
        exception::repair_memory(rt, deviceId, &entries)
    })
}
