//! Chapter 11-09: streams write words of memory and wait for them.

use std::ffi::c_void;

use ascendcl_sys::{aclError, aclrtStream};
use toprope_runtime::call::call;
use toprope_runtime::{Api, value};

use crate::arg;

/// Lets the stream write a 64-bit word.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtValueWrite(
    devAddr: *mut c_void,
    value: u64,
    flag: u32,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtValueWrite, |rt| {
        arg::not_null(devAddr, "devAddr", "aclrtValueWrite#01")?;
        value::write(rt, devAddr as usize, value, flag, arg::handle(stream))
    })
}

/// Lets later tasks of the stream wait until a 64-bit word compares as wanted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtValueWait(
    devAddr: *mut c_void,
    value: u64,
    flag: u32,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtValueWait, |rt| {
        arg::not_null(devAddr, "devAddr", "aclrtValueWait#01")?;
        value::wait(rt, devAddr as usize, value, flag, arg::handle(stream))
    })
}
