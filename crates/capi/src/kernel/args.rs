//! Argument lists.

use std::ffi::c_void;

use ascendcl_sys::*;
use toprope_runtime::call::call;
use toprope_runtime::kernel::args;
use toprope_runtime::{Api, Result, refuse};

use crate::arg;

/// A size that must be greater than 0.
fn some(size: usize, name: &str, rule: &'static str) -> Result<()> {
    if size > 0 {
        return Ok(());
    }
    refuse!(ACL_ERROR_INVALID_PARAM, rule, "{name}: must be greater than 0")
}

/// Answers the thread's argument list, empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsInit(
    funcHandle: aclrtFuncHandle,
    argsHandle: *mut aclrtArgsHandle,
) -> aclError {
    call(Api::aclrtKernelArgsInit, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtKernelArgsInit#01")?;
        let out = arg::out(argsHandle, "argsHandle", "aclrtKernelArgsInit#02")?;
        out.set(arg::from_handle(args::init(rt, arg::handle(funcHandle))?))
    })
}

/// Makes an argument list in memory of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsInitByUserMem(
    funcHandle: aclrtFuncHandle,
    argsHandle: aclrtArgsHandle,
    userHostMem: *mut c_void,
    actualArgsSize: usize,
) -> aclError {
    call(Api::aclrtKernelArgsInitByUserMem, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtKernelArgsInitByUserMem#01")?;
        arg::not_null(argsHandle, "argsHandle", "aclrtKernelArgsInitByUserMem#02")?;
        arg::not_null(userHostMem, "userHostMem", "aclrtKernelArgsInitByUserMem#03")?;
        some(actualArgsSize, "actualArgsSize", "aclrtKernelArgsInitByUserMem#04")?;
        let (func, list) = (arg::handle(funcHandle), arg::handle(argsHandle));
        args::init_by_user_mem(rt, func, list, userHostMem as usize, actualArgsSize)
    })
}

/// Answers how many bytes a list's arguments take in memory of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsGetMemSize(
    funcHandle: aclrtFuncHandle,
    userArgsSize: usize,
    actualArgsSize: *mut usize,
) -> aclError {
    call(Api::aclrtKernelArgsGetMemSize, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtKernelArgsGetMemSize#01")?;
        let out = arg::out(actualArgsSize, "actualArgsSize", "aclrtKernelArgsGetMemSize#02")?;
        out.set(args::mem_size(rt, arg::handle(funcHandle), userArgsSize)?)
    })
}

/// Answers how many bytes a list's handle takes in memory of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsGetHandleMemSize(
    funcHandle: aclrtFuncHandle,
    memSize: *mut usize,
) -> aclError {
    call(Api::aclrtKernelArgsGetHandleMemSize, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtKernelArgsGetHandleMemSize#01")?;
        let out = arg::out(memSize, "memSize", "aclrtKernelArgsGetHandleMemSize#02")?;
        out.set(args::handle_mem_size(rt, arg::handle(funcHandle))?)
    })
}

/// Appends a value to a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsAppend(
    argsHandle: aclrtArgsHandle,
    param: *mut c_void,
    paramSize: usize,
    paramHandle: *mut aclrtParamHandle,
) -> aclError {
    call(Api::aclrtKernelArgsAppend, |rt| {
        // aclrtKernelArgsAppend#05 gives the order.
        arg::not_null(argsHandle, "argsHandle", "aclrtKernelArgsAppend#01")?;
        arg::not_null(param, "param", "aclrtKernelArgsAppend#02")?;
        some(paramSize, "paramSize", "aclrtKernelArgsAppend#03")?;
        let out = arg::out(paramHandle, "paramHandle", "aclrtKernelArgsAppend#04")?;
        out.probe()?;
        out.set(arg::from_handle(args::append(rt, arg::handle(argsHandle), param as usize, paramSize)?))
    })
}

/// Appends the address of data that the list itself will hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsAppendPlaceHolder(
    argsHandle: aclrtArgsHandle,
    paramHandle: *mut aclrtParamHandle,
) -> aclError {
    call(Api::aclrtKernelArgsAppendPlaceHolder, |rt| {
        arg::not_null(argsHandle, "argsHandle", "aclrtKernelArgsAppendPlaceHolder#01")?;
        let out = arg::out(paramHandle, "paramHandle", "aclrtKernelArgsAppendPlaceHolder#02")?;
        out.probe()?;
        out.set(arg::from_handle(args::append_place_holder(rt, arg::handle(argsHandle))?))
    })
}

/// Answers the host memory for that data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsGetPlaceHolderBuffer(
    argsHandle: aclrtArgsHandle,
    paramHandle: aclrtParamHandle,
    dataSize: usize,
    bufferAddr: *mut *mut c_void,
) -> aclError {
    call(Api::aclrtKernelArgsGetPlaceHolderBuffer, |rt| {
        arg::not_null(argsHandle, "argsHandle", "aclrtKernelArgsGetPlaceHolderBuffer#01")?;
        arg::not_null(paramHandle, "paramHandle", "aclrtKernelArgsGetPlaceHolderBuffer#02")?;
        some(dataSize, "dataSize", "aclrtKernelArgsGetPlaceHolderBuffer#03")?;
        let out = arg::out(bufferAddr, "bufferAddr", "aclrtKernelArgsGetPlaceHolderBuffer#04")?;
        out.probe()?;
        let (list, param) = (arg::handle(argsHandle), arg::handle(paramHandle));
        out.set(args::place_holder_buffer(rt, list, param, dataSize)? as *mut c_void)
    })
}

/// Gives a parameter another value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsParaUpdate(
    argsHandle: aclrtArgsHandle,
    paramHandle: aclrtParamHandle,
    param: *mut c_void,
    paramSize: usize,
) -> aclError {
    call(Api::aclrtKernelArgsParaUpdate, |rt| {
        arg::not_null(argsHandle, "argsHandle", "aclrtKernelArgsParaUpdate#01")?;
        arg::not_null(paramHandle, "paramHandle", "aclrtKernelArgsParaUpdate#02")?;
        arg::not_null(param, "param", "aclrtKernelArgsParaUpdate#03")?;
        some(paramSize, "paramSize", "aclrtKernelArgsParaUpdate#04")?;
        let (list, handle) = (arg::handle(argsHandle), arg::handle(paramHandle));
        args::update(rt, list, handle, param as usize, paramSize)
    })
}

/// Makes a list ready to be launched with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtKernelArgsFinalize(argsHandle: aclrtArgsHandle) -> aclError {
    call(Api::aclrtKernelArgsFinalize, |rt| {
        arg::not_null(argsHandle, "argsHandle", "aclrtKernelArgsFinalize#01")?;
        args::finalize(rt, arg::handle(argsHandle))
    })
}
