//! Chapter 03: settings of the process.

use ascendcl_sys::*;
use toprope_runtime::call::call;
use toprope_runtime::{Api, system};

use crate::arg;

/// Sets an option of the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetSysParamOpt(opt: aclSysParamOpt, value: i64) -> aclError {
    call(Api::aclrtSetSysParamOpt, |rt| system::set_sys_param(rt, opt, value))
}

/// Answers an option of the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64) -> aclError {
    call(Api::aclrtGetSysParamOpt, |rt| {
        let out = arg::out(value, "value", "aclrtGetSysParamOpt#02")?;
        out.set(system::sys_param(rt, opt)?)
    })
}

/// Limits the cores that the process uses on a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetDeviceResLimit(
    deviceId: i32,
    r#type: aclrtDevResLimitType,
    value: u32,
) -> aclError {
    call(Api::aclrtSetDeviceResLimit, |rt| system::set_device_limit(rt, deviceId, r#type, value))
}

/// Answers the cores that the process uses on a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceResLimit(
    deviceId: i32,
    r#type: aclrtDevResLimitType,
    value: *mut u32,
) -> aclError {
    call(Api::aclrtGetDeviceResLimit, |rt| {
        let out = arg::out(value, "value", "aclrtGetDeviceResLimit#04")?;
        out.set(system::device_limit(rt, deviceId, r#type)?)
    })
}

/// Lifts the limits of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtResetDeviceResLimit(deviceId: i32) -> aclError {
    call(Api::aclrtResetDeviceResLimit, |rt| system::reset_device_limit(rt, deviceId))
}

/// Limits the cores that a stream uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetStreamResLimit(
    stream: aclrtStream,
    r#type: aclrtDevResLimitType,
    value: u32,
) -> aclError {
    call(Api::aclrtSetStreamResLimit, |rt| system::set_stream_limit(rt, arg::handle(stream), r#type, value))
}

/// Answers the cores that a stream uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetStreamResLimit(
    stream: aclrtStream,
    r#type: aclrtDevResLimitType,
    value: *mut u32,
) -> aclError {
    call(Api::aclrtGetStreamResLimit, |rt| {
        let out = arg::out(value, "value", "aclrtGetStreamResLimit#04")?;
        out.set(system::stream_limit(rt, arg::handle(stream), r#type)?)
    })
}

/// Lifts the limits of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtResetStreamResLimit(stream: aclrtStream) -> aclError {
    call(Api::aclrtResetStreamResLimit, |rt| system::reset_stream_limit(rt, arg::handle(stream)))
}

/// Makes the limits of a stream those of the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtUseStreamResInCurrentThread(stream: aclrtStream) -> aclError {
    call(Api::aclrtUseStreamResInCurrentThread, |rt| system::use_stream(rt, arg::handle(stream)))
}

/// Takes that back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtUnuseStreamResInCurrentThread(stream: aclrtStream) -> aclError {
    call(Api::aclrtUnuseStreamResInCurrentThread, |rt| system::unuse_stream(rt, arg::handle(stream)))
}

/// Answers the cores that the calling thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetResInCurrentThread(
    r#type: aclrtDevResLimitType,
    value: *mut u32,
) -> aclError {
    call(Api::aclrtGetResInCurrentThread, |rt| {
        let out = arg::out(value, "value", "aclrtGetResInCurrentThread#01")?;
        out.set(system::cores_of_thread(rt, r#type)?)
    })
}
