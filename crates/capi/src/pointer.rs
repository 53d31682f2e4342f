//! What an address is: chapters 11-04 and 11-05.

use std::ffi::c_void;

use ascendcl_sys::{ACL_ERROR_RT_PARAM_INVALID, aclError, aclrtPtrAttributes};
use toprope_runtime::call::call;
use toprope_runtime::{Api, pointer, refuse};

use crate::arg;

/// Answers where an address is and how large its pages are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtPointerGetAttributes(
    ptr: *const c_void,
    attributes: *mut aclrtPtrAttributes,
) -> aclError {
    call(Api::aclrtPointerGetAttributes, |rt| {
        arg::not_null(ptr, "ptr", "aclrtPointerGetAttributes#01")?;
        let out = arg::out(attributes, "attributes", "aclrtPointerGetAttributes#02")?;
        out.set(pointer::get_attributes(rt, ptr as usize)?)
    })
}

/// Answers start and size of the block that an address lies in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemGetAddressRange(
    ptr: *mut c_void,
    pbase: *mut *mut c_void,
    psize: *mut usize,
) -> aclError {
    call(Api::aclrtMemGetAddressRange, |rt| {
        arg::not_null(ptr, "ptr", "aclrtMemGetAddressRange#01")?;
        let (base_out, size_out) = (arg::out_opt(pbase, "pbase"), arg::out_opt(psize, "psize"));
        if base_out.is_none() && size_out.is_none() {
            return refuse!(
                ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemGetAddressRange#02",
                "pbase, psize: one of them must not be null"
            );
        }
        let (base, size) = pointer::address_range(rt, ptr as usize)?;
        // aclrtMemGetAddressRange#03
        base_out.map_or(Ok(()), |out| out.set(base as *mut c_void))?;
        size_out.map_or(Ok(()), |out| out.set(size))
    })
}

/// Lets a device use another one's memory without a fault at the first access.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemP2PMap(
    devPtr: *mut c_void,
    size: usize,
    dstDevId: i32,
    flags: u64,
) -> aclError {
    call(Api::aclrtMemP2PMap, |rt| {
        arg::not_null(devPtr, "devPtr", "aclrtMemP2PMap#01")?;
        pointer::p2p_map(rt, devPtr as usize, size, dstDevId, flags)
    })
}
