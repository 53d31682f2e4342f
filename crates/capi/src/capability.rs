//! Chapter 24: what the platform can do, data types and half precision.

use std::ffi::c_char;

use ascendcl_sys::*;
use toprope_runtime::call::{call, value};
use toprope_runtime::{Api, capability, refuse};

use crate::arg;

/// Answers which attributes the platform has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetCannAttributeList(
    cannAttrList: *mut *const aclCannAttr,
    num: *mut usize,
) -> aclError {
    call(Api::aclGetCannAttributeList, |rt| {
        let list = arg::out(cannAttrList, "cannAttrList", "aclGetCannAttributeList#01")?;
        let count = arg::out(num, "num", "aclGetCannAttributeList#02")?;
        // #03: the array is a constant of the library.
        let attributes = capability::attributes(rt);
        list.set(attributes.as_ptr())?;
        count.set(attributes.len())
    })
}

/// Answers whether the platform has an attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetCannAttribute(cannAttr: aclCannAttr, value: *mut i32) -> aclError {
    call(Api::aclGetCannAttribute, |rt| {
        let out = arg::out(value, "value", "aclGetCannAttribute#01")?;
        out.set(capability::attribute(rt, cannAttr)?)
    })
}

/// Answers a size of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetDeviceCapability(
    deviceId: u32,
    deviceInfo: aclDeviceInfo,
    value: *mut i64,
) -> aclError {
    call(Api::aclGetDeviceCapability, |rt| {
        let out = arg::out(value, "value", "aclGetDeviceCapability#01")?;
        out.set(capability::device_capability(rt, deviceId, deviceInfo)?)
    })
}

/// Writes a fact about the chip as text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclplatformGetDeviceInfo(
    infoType: aclplatformDevInfo,
    value: *mut c_char,
    maxLen: u32,
) -> aclError {
    call(Api::aclplatformGetDeviceInfo, |rt| {
        let rule = "aclplatformGetDeviceInfo#02";
        arg::not_null(value, "value", rule)?;
        if maxLen == 0 {
            return refuse!(
                ACL_ERROR_INVALID_PARAM,
                "aclplatformGetDeviceInfo#03",
                "maxLen: must be greater than 0"
            );
        }
        arg::write_text(value, &capability::platform_info(rt, infoType, maxLen)?, "value", rule)
    })
}

/// Answers the bytes of one element of a data type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclDataTypeSize(dataType: aclDataType) -> usize {
    value(Api::aclDataTypeSize, 0, |_| Ok(capability::data_type_size(dataType)))
}

/// Turns a half into a float.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclFloat16ToFloat(half: aclFloat16) -> f32 {
    value(Api::aclFloat16ToFloat, 0.0, |_| Ok(capability::half_to_float(half)))
}

/// Turns a float into a half.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclFloatToFloat16(float: f32) -> aclFloat16 {
    value(Api::aclFloatToFloat16, 0, |_| Ok(capability::float_to_half(float)))
}

/// Answers whether code for a chip runs on this one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCheckArchCompatibility(
    socVersion: *const c_char,
    canCompatible: *mut i32,
) -> aclError {
    call(Api::aclrtCheckArchCompatibility, |rt| {
        const RULE: &str = "aclrtCheckArchCompatibility#01";
        arg::not_null_rt(socVersion, "socVersion", RULE)?;
        let soc = arg::text(socVersion, "socVersion", RULE)?.unwrap_or_default();
        let out = arg::out_rt(canCompatible, "canCompatible", "aclrtCheckArchCompatibility#02")?;
        out.set(capability::arch_compatible(rt, &soc)?.into())
    })
}
