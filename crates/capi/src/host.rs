//! Chapter 11-02, the registration of host memory.

use std::ffi::c_void;

use ascendcl_sys::{aclError, aclrtHacType, aclrtHostMemMapCapability, aclrtHostRegisterType};
use toprope_runtime::call::call;
use toprope_runtime::{Api, host};

use crate::arg;

/// Gives host memory an address for devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtHostRegister(
    ptr: *mut c_void,
    size: u64,
    r#type: aclrtHostRegisterType,
    devPtr: *mut *mut c_void,
) -> aclError {
    call(Api::aclrtHostRegister, |rt| {
        arg::not_null(ptr, "ptr", "aclrtHostRegister#01")?;
        let out = arg::out(devPtr, "devPtr", "aclrtHostRegister#07")?;
        out.probe()?;
        out.set(host::register(rt, ptr as usize, size, r#type)? as *mut c_void)
    })
}

/// Registers host memory as the flags say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtHostRegisterV2(ptr: *mut c_void, size: u64, flag: u32) -> aclError {
    call(Api::aclrtHostRegisterV2, |rt| {
        arg::not_null(ptr, "ptr", "aclrtHostRegisterV2#01")?;
        host::register_v2(rt, ptr as usize, size, flag)
    })
}

/// Ends a registration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtHostUnregister(ptr: *mut c_void) -> aclError {
    call(Api::aclrtHostUnregister, |rt| {
        arg::not_null(ptr, "ptr", "aclrtHostUnregister#01")?;
        host::unregister(rt, ptr as usize)
    })
}

/// Answers the device's address of registered host memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtHostGetDevicePointer(
    pHost: *mut c_void,
    pDevice: *mut *mut c_void,
    flag: u32,
) -> aclError {
    call(Api::aclrtHostGetDevicePointer, |rt| {
        arg::not_null(pHost, "pHost", "aclrtHostGetDevicePointer#01")?;
        let out = arg::out(pDevice, "pDevice", "aclrtHostGetDevicePointer#02")?;
        out.set(host::get_device_pointer(rt, pHost as usize, flag)? as *mut c_void)
    })
}

/// Answers whether a part of the device can use registered host memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtHostMemMapCapabilities(
    deviceId: u32,
    hacType: aclrtHacType,
    capabilities: *mut aclrtHostMemMapCapability,
) -> aclError {
    call(Api::aclrtHostMemMapCapabilities, |rt| {
        let out = arg::out(capabilities, "capabilities", "aclrtHostMemMapCapabilities#01")?;
        out.set(host::mem_map_capabilities(rt, deviceId, hacType)?)
    })
}
