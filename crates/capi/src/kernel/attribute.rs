//! What can be asked of a kernel.

use std::ffi::{c_char, c_void};

use ascendcl_sys::*;
use toprope_runtime::Api;
use toprope_runtime::call::call;
use toprope_runtime::kernel::attribute;
use toprope_runtime::refuse;

use crate::arg;

/// Answers where a kernel's code for cube and for vector cores is on the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetFunctionAddr(
    funcHandle: aclrtFuncHandle,
    aicAddr: *mut *mut c_void,
    aivAddr: *mut *mut c_void,
) -> aclError {
    call(Api::aclrtGetFunctionAddr, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtGetFunctionAddr#01")?;
        let cube = arg::out(aicAddr, "aicAddr", "aclrtGetFunctionAddr#02")?;
        let vector = arg::out(aivAddr, "aivAddr", "aclrtGetFunctionAddr#03")?;
        // aclrtGetFunctionAddr#07
        cube.set(std::ptr::null_mut())?;
        vector.set(std::ptr::null_mut())?;
        let [on_cube, on_vector] = attribute::addresses(rt, arg::handle(funcHandle))?;
        cube.set(on_cube as *mut c_void)?;
        vector.set(on_vector as *mut c_void)
    })
}

/// Answers how many bytes a kernel's code for cube and for vector cores has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetFunctionSize(
    funcHandle: aclrtFuncHandle,
    aicSize: *mut usize,
    aivSize: *mut usize,
) -> aclError {
    call(Api::aclrtGetFunctionSize, |rt| {
        arg::not_null_rt(funcHandle, "funcHandle", "aclrtGetFunctionSize#01")?;
        let cube = arg::out_rt(aicSize, "aicSize", "aclrtGetFunctionSize#02")?;
        let vector = arg::out_rt(aivSize, "aivSize", "aclrtGetFunctionSize#03")?;
        let [on_cube, on_vector] = attribute::sizes(rt, arg::handle(funcHandle))?;
        cube.set(on_cube)?;
        vector.set(on_vector)
    })
}

/// Writes a kernel's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetFunctionName(
    funcHandle: aclrtFuncHandle,
    maxLen: u32,
    name: *mut c_char,
) -> aclError {
    call(Api::aclrtGetFunctionName, |rt| {
        arg::not_null(name, "name", "aclrtGetFunctionName#01")?;
        arg::not_null_rt(funcHandle, "funcHandle", "aclrtGetFunctionName#02")?;
        let text = attribute::name(rt, arg::handle(funcHandle), maxLen as usize)?;
        arg::write_text(name, &text, "name", "aclrtGetFunctionName#05")
    })
}

/// Answers an attribute of a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetFunctionAttribute(
    funcHandle: aclrtFuncHandle,
    attrType: aclrtFuncAttribute,
    attrValue: *mut i64,
) -> aclError {
    call(Api::aclrtGetFunctionAttribute, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtGetFunctionAttribute#01")?;
        let out = arg::out(attrValue, "attrValue", "aclrtGetFunctionAttribute#02")?;
        out.set(attribute::get(rt, arg::handle(funcHandle), attrType)?)
    })
}

/// Answers the binary that a kernel came from.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFunctionGetBinary(
    funcHandle: aclrtFuncHandle,
    binHandle: *mut aclrtBinHandle,
) -> aclError {
    call(Api::aclrtFunctionGetBinary, |rt| {
        arg::not_null_rt(funcHandle, "funcHandle", "aclrtFunctionGetBinary#01")?;
        let out = arg::out_rt(binHandle, "binHandle", "aclrtFunctionGetBinary#02")?;
        out.set(arg::from_handle(attribute::get_binary(rt, arg::handle(funcHandle))?))
    })
}

/// Answers how many parameters a kernel has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFunctionGetParamCount(func: *const c_void, paramCount: *mut usize) -> aclError {
    call(Api::aclrtFunctionGetParamCount, |rt| {
        arg::not_null(func, "func", "aclrtFunctionGetParamCount#01")?;
        let out = arg::out(paramCount, "paramCount", "aclrtFunctionGetParamCount#02")?;
        out.set(attribute::param_count(rt, func as u64)?)
    })
}

/// Answers where a parameter lies in a kernel's arguments, and its size, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFunctionGetParamInfo(
    func: *const c_void,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> aclError {
    call(Api::aclrtFunctionGetParamInfo, |rt| {
        arg::not_null(func, "func", "aclrtFunctionGetParamInfo#01")?;
        if paramOffset.is_null() {
            arg::not_null(paramSize, "paramOffset and paramSize", "aclrtFunctionGetParamInfo#02")?;
        }
        let (offset, size) = attribute::param_info(rt, func as u64, paramIndex)?;
        if let Some(out) = arg::out_opt(paramOffset, "paramOffset") {
            out.set(offset)?;
        }
        match arg::out_opt(paramSize, "paramSize") {
            Some(out) => out.set(size),
            None => Ok(()),
        }
    })
}

/// Answers how many bytes of dynamic buffer a block of a SIMT kernel may have; 0 for other kernels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFunctionGetAvailDynUbufPerBlock(
    func: *mut c_void,
    flags: u32,
    dynamicUbufSize: *mut usize,
) -> aclError {
    call(Api::aclrtFunctionGetAvailDynUbufPerBlock, |rt| {
        arg::not_null(func, "func", "aclrtFunctionGetAvailDynUbufPerBlock#01")?;
        let out = arg::out(dynamicUbufSize, "dynamicUbufSize", "aclrtFunctionGetAvailDynUbufPerBlock#02")?;
        if flags != 0 {
            return refuse!(
                ACL_ERROR_INVALID_PARAM,
                "aclrtFunctionGetAvailDynUbufPerBlock#03",
                "flags: {flags}; must be 0"
            );
        }
        out.set(attribute::dynamic_buffer(rt, func as u64)?)
    })
}
