//! Chapter 25-03: data buffers.

use std::ffi::c_void;

use ascendcl_sys::*;
use toprope_runtime::call::{call, value};
use toprope_runtime::{Api, buffer};

use crate::arg;

/// Makes a data buffer: an address and a size of the program's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclCreateDataBuffer(data: *mut c_void, size: usize) -> *mut aclDataBuffer {
    value(Api::aclCreateDataBuffer, std::ptr::null_mut(), |rt| {
        Ok(arg::from_handle(buffer::create(rt, data as usize, size)).cast())
    })
}

/// Answers the address in a data buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetDataBufferAddr(dataBuffer: *const aclDataBuffer) -> *mut c_void {
    value(Api::aclGetDataBufferAddr, std::ptr::null_mut(), |rt| {
        Ok(buffer::get(rt, dataBuffer as u64, "aclGetDataBufferAddr#01")?.0 as *mut c_void)
    })
}

/// Answers the size in a data buffer, cut to 32 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetDataBufferSize(dataBuffer: *const aclDataBuffer) -> u32 {
    value(Api::aclGetDataBufferSize, 0, |rt| {
        // #02
        Ok(buffer::get(rt, dataBuffer as u64, "aclGetDataBufferSize#01")?.1 as u32)
    })
}

/// Answers the size in a data buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetDataBufferSizeV2(dataBuffer: *const aclDataBuffer) -> usize {
    value(Api::aclGetDataBufferSizeV2, 0, |rt| {
        Ok(buffer::get(rt, dataBuffer as u64, "aclGetDataBufferSizeV2#01")?.1)
    })
}

/// Ends a data buffer; the memory stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclDestroyDataBuffer(dataBuffer: *const aclDataBuffer) -> aclError {
    call(Api::aclDestroyDataBuffer, |rt| {
        arg::not_null(dataBuffer, "dataBuffer", "aclDestroyDataBuffer#01")?;
        buffer::destroy(rt, dataBuffer as u64)
    })
}

/// Gives a data buffer another address and size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclUpdateDataBuffer(
    dataBuffer: *mut aclDataBuffer,
    data: *mut c_void,
    size: usize,
) -> aclError {
    call(Api::aclUpdateDataBuffer, |rt| {
        arg::not_null(dataBuffer, "dataBuffer", "aclUpdateDataBuffer#01")?;
        buffer::update(rt, dataBuffer as u64, data as usize, size)
    })
}
