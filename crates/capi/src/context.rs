//! Chapter 05: contexts.

use std::ffi::c_void;

use ascendcl_sys::{aclError, aclSysParamOpt, aclrtContext, aclrtStream};
use toprope_runtime::call::call;
use toprope_runtime::{Api, context};

use crate::arg;

/// Makes a context on a device; it becomes the thread's current one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateContext(context: *mut aclrtContext, deviceId: i32) -> aclError {
    call(Api::aclrtCreateContext, |rt| {
        let out = arg::out(context, "context", "aclrtCreateContext#01")?;
        out.probe()?;
        out.set(arg::from_handle(context::create(rt, deviceId)?))
    })
}

/// Ends a context that aclrtCreateContext made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyContext(context: aclrtContext) -> aclError {
    call(Api::aclrtDestroyContext, |rt| {
        arg::not_null(context, "context", "aclrtDestroyContext#01")?;
        context::destroy(rt, arg::handle(context))
    })
}

/// Makes a context current for the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetCurrentContext(context: aclrtContext) -> aclError {
    call(Api::aclrtSetCurrentContext, |rt| {
        arg::not_null(context, "context", "aclrtSetCurrentContext#01")?;
        context::set_current(rt, arg::handle(context))
    })
}

/// Answers the thread's current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetCurrentContext(context: *mut aclrtContext) -> aclError {
    call(Api::aclrtGetCurrentContext, |rt| {
        let out = arg::out(context, "context", "aclrtGetCurrentContext#01")?;
        out.set(arg::from_handle(context::get_current(rt)?))
    })
}

/// Answers the default stream of the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCtxGetCurrentDefaultStream(stream: *mut aclrtStream) -> aclError {
    call(Api::aclrtCtxGetCurrentDefaultStream, |rt| {
        let out = arg::out(stream, "stream", "aclrtCtxGetCurrentDefaultStream#01")?;
        out.set(arg::from_handle(context::current_default_stream(rt)?))
    })
}

/// Sets an option of the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCtxSetSysParamOpt(opt: aclSysParamOpt, value: i64) -> aclError {
    call(Api::aclrtCtxSetSysParamOpt, |rt| context::set_sys_param(rt, opt, value))
}

/// Answers an option of the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCtxGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64) -> aclError {
    call(Api::aclrtCtxGetSysParamOpt, |rt| {
        let out = arg::out(value, "value", "aclrtCtxGetSysParamOpt#04")?;
        out.set(context::sys_param(rt, opt)?)
    })
}

/// Answers where kernels of the current context report overflows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCtxGetFloatOverflowAddr(overflowAddr: *mut *mut c_void) -> aclError {
    call(Api::aclrtCtxGetFloatOverflowAddr, |rt| {
        let out = arg::out_rt(overflowAddr, "overflowAddr", "aclrtCtxGetFloatOverflowAddr#01")?;
        out.set(context::float_overflow_addr(rt)? as *mut c_void)
    })
}
