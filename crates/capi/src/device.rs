//! Chapter 04: devices.

use ascendcl_sys::aclError;
use toprope_runtime::call::call;
use toprope_runtime::{Api, device};

use crate::arg;

/// Selects a device for the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetDevice(deviceId: i32) -> aclError {
    call(Api::aclrtSetDevice, |rt| device::set(rt, deviceId))
}

/// Takes back one aclrtSetDevice; the last one takes the device down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtResetDevice(deviceId: i32) -> aclError {
    call(Api::aclrtResetDevice, |rt| device::reset(rt, deviceId))
}

/// Takes the device down whatever the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtResetDeviceForce(deviceId: i32) -> aclError {
    call(Api::aclrtResetDeviceForce, |rt| device::reset_force(rt, deviceId))
}

/// Answers the device of the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDevice(deviceId: *mut i32) -> aclError {
    call(Api::aclrtGetDevice, |rt| {
        let out = arg::out(deviceId, "deviceId", "aclrtGetDevice#01")?;
        out.set(device::get(rt)?)
    })
}

/// Answers how many devices there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceCount(count: *mut u32) -> aclError {
    call(Api::aclrtGetDeviceCount, |rt| {
        let out = arg::out(count, "count", "aclrtGetDeviceCount#01")?;
        out.set(rt.devices.len() as u32)
    })
}

/// Answers whether a device's default context is active.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetPrimaryCtxState(
    deviceId: i32,
    flags: *mut u32,
    active: *mut i32,
) -> aclError {
    call(Api::aclrtGetPrimaryCtxState, |rt| {
        let out = arg::out(active, "active", "aclrtGetPrimaryCtxState#01")?;
        if !flags.is_null() {
            return toprope_runtime::refuse!(
                ascendcl_sys::ACL_ERROR_INVALID_PARAM,
                "aclrtGetPrimaryCtxState#02",
                "flags: is reserved and must be null"
            );
        }
        out.set(device::primary_state(rt, deviceId)?.into())
    })
}
