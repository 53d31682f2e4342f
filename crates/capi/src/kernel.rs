//! Chapter 14: kernels and the binaries they come in. Argument lists: [`args`]; launches: [`launch`]; what can be asked of a kernel:
//! [`attribute`].

use std::ffi::{c_char, c_void};

use ascendcl_sys::*;
use toprope_runtime::call::{call, value};
use toprope_runtime::kernel::binary;
use toprope_runtime::kernel::config::{Loading, Source};
use toprope_runtime::kernel::register;
use toprope_runtime::{Api, Result, exception, refuse};

use crate::arg;

pub mod args;
pub mod attribute;
pub mod launch;

/// The options of loading; null is none.
fn loading(options: *const aclrtBinaryLoadOptions, source: Source, rule: &'static str) -> Result<Loading> {
    let mut loading = Loading::default();
    if options.is_null() {
        return Ok(loading);
    }
    let options = arg::input(options, "options", rule)?;
    arg::not_null_rt(options.options, "options.options", rule)?;
    // Kind, then the words of the value.
    for [kind, word, ..] in arg::inputs(options.options.cast::<[u32; 5]>(), options.numOpt, "options", rule)?
    {
        loading.option(source, kind, word)?;
    }
    Ok(loading)
}

/// Loads a binary from a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinaryLoadFromFile(
    binPath: *const c_char,
    options: *mut aclrtBinaryLoadOptions,
    binHandle: *mut aclrtBinHandle,
) -> aclError {
    call(Api::aclrtBinaryLoadFromFile, |rt| {
        arg::not_null(binPath, "binPath", "aclrtBinaryLoadFromFile#01")?;
        let out = arg::out(binHandle, "binHandle", "aclrtBinaryLoadFromFile#02")?;
        out.probe()?;
        let path = arg::text(binPath, "binPath", "aclrtBinaryLoadFromFile#01")?.unwrap_or_default();
        let loading = loading(options, Source::File, "aclrtBinaryLoadFromFile#04")?;
        out.set(arg::from_handle(binary::load_from_file(rt, &path, loading)?))
    })
}

/// Loads a binary from memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinaryLoadFromData(
    data: *const c_void,
    length: usize,
    options: *const aclrtBinaryLoadOptions,
    binHandle: *mut aclrtBinHandle,
) -> aclError {
    call(Api::aclrtBinaryLoadFromData, |rt| {
        arg::not_null(data, "data", "aclrtBinaryLoadFromData#01")?;
        let out = arg::out(binHandle, "binHandle", "aclrtBinaryLoadFromData#02")?;
        out.probe()?;
        if length == 0 {
            return refuse!(
                ACL_ERROR_RT_PARAM_INVALID,
                "aclrtBinaryLoadFromData#03",
                "length: must be greater than 0"
            );
        }
        let loading = loading(options, Source::Data, "aclrtBinaryLoadFromData#04")?;
        out.set(arg::from_handle(binary::load_from_data(rt, data as usize, length, loading)?))
    })
}

/// Makes a description of a binary in memory; null when it cannot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateBinary(data: *const c_void, dataLen: usize) -> aclrtBinary {
    value(Api::aclrtCreateBinary, std::ptr::null_mut(), |rt| {
        binary::create(rt, data as usize, dataLen).map(arg::from_handle)
    })
}

/// Takes a description back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyBinary(binary: aclrtBinary) -> aclError {
    call(Api::aclrtDestroyBinary, |rt| {
        arg::not_null(binary, "binary", "aclrtDestroyBinary#01")?;
        binary::destroy(rt, arg::handle(binary))
    })
}

/// Loads a described binary to the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinaryLoad(binary: aclrtBinary, binHandle: *mut aclrtBinHandle) -> aclError {
    call(Api::aclrtBinaryLoad, |rt| {
        arg::not_null(binary, "binary", "aclrtBinaryLoad#01")?;
        let out = arg::out(binHandle, "binHandle", "aclrtBinaryLoad#02")?;
        out.probe()?;
        out.set(arg::from_handle(binary::load(rt, arg::handle(binary))?))
    })
}

/// Unloads a binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinaryUnLoad(binHandle: aclrtBinHandle) -> aclError {
    call(Api::aclrtBinaryUnLoad, |rt| {
        arg::not_null(binHandle, "binHandle", "aclrtBinaryUnLoad#01")?;
        binary::unload(rt, arg::handle(binHandle))
    })
}

/// Finds a kernel of a binary by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinaryGetFunction(
    binHandle: aclrtBinHandle,
    kernelName: *const c_char,
    funcHandle: *mut aclrtFuncHandle,
) -> aclError {
    call(Api::aclrtBinaryGetFunction, |rt| {
        arg::not_null(binHandle, "binHandle", "aclrtBinaryGetFunction#01")?;
        arg::not_null(kernelName, "kernelName", "aclrtBinaryGetFunction#02")?;
        let out = arg::out(funcHandle, "funcHandle", "aclrtBinaryGetFunction#03")?;
        // aclrtBinaryGetFunction#07
        out.set(std::ptr::null_mut())?;
        let name = arg::text(kernelName, "kernelName", "aclrtBinaryGetFunction#02")?.unwrap_or_default();
        out.set(arg::from_handle(binary::get_function(rt, arg::handle(binHandle), &name)?))
    })
}

/// Finds a kernel of a binary by its entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinaryGetFunctionByEntry(
    binHandle: aclrtBinHandle,
    funcEntry: u64,
    funcHandle: *mut aclrtFuncHandle,
) -> aclError {
    call(Api::aclrtBinaryGetFunctionByEntry, |rt| {
        arg::not_null(binHandle, "binHandle", "aclrtBinaryGetFunctionByEntry#01")?;
        let out = arg::out(funcHandle, "funcHandle", "aclrtBinaryGetFunctionByEntry#02")?;
        out.set(arg::from_handle(binary::get_function_by_entry(rt, arg::handle(binHandle), funcEntry)?))
    })
}

/// Answers where a binary lies on the current device, and its bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinaryGetDevAddress(
    binHandle: aclrtBinHandle,
    binAddr: *mut *mut c_void,
    binSize: *mut usize,
) -> aclError {
    call(Api::aclrtBinaryGetDevAddress, |rt| {
        arg::not_null(binHandle, "binHandle", "aclrtBinaryGetDevAddress#01")?;
        let address = arg::out_rt(binAddr, "binAddr", "aclrtBinaryGetDevAddress#02")?;
        // ours: null is undefined there (aclrtBinaryGetDevAddress#03); it is refused like any other.
        let size = arg::out(binSize, "binSize", "aclrtBinaryGetDevAddress#03")?;
        let (at, bytes) = binary::get_dev_address(rt, arg::handle(binHandle))?;
        address.set(at as *mut c_void)?;
        size.set(bytes)
    })
}

/// Answers a variable's address on the current device, and its bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinaryGetGlobal(
    binHandle: aclrtBinHandle,
    name: *const c_char,
    dptr: *mut *mut c_void,
    size: *mut usize,
) -> aclError {
    call(Api::aclrtBinaryGetGlobal, |rt| {
        arg::not_null(binHandle, "binHandle", "aclrtBinaryGetGlobal#01")?;
        arg::not_null(name, "name", "aclrtBinaryGetGlobal#02")?;
        if dptr.is_null() {
            arg::not_null(size, "dptr and size", "aclrtBinaryGetGlobal#03")?;
        }
        let name = arg::text(name, "name", "aclrtBinaryGetGlobal#02")?.unwrap_or_default();
        let (at, bytes) = binary::get_global(rt, arg::handle(binHandle), &name)?;
        if let Some(out) = arg::out_opt(dptr, "dptr") {
            out.set(at as *mut c_void)?;
        }
        match arg::out_opt(size, "size") {
            Some(out) => out.set(bytes),
            None => Ok(()),
        }
    })
}

/// Sets the function that is told when a kernel of a binary fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtBinarySetExceptionCallback(
    binHandle: aclrtBinHandle,
    callback: aclrtOpExceptionCallback,
    userData: *mut c_void,
) -> aclError {
    call(Api::aclrtBinarySetExceptionCallback, |rt| {
        arg::not_null(binHandle, "binHandle", "aclrtBinarySetExceptionCallback#01")?;
        let func = arg::function(callback, "callback", "aclrtBinarySetExceptionCallback#02")?;
        binary::set_exception_callback(rt, arg::handle(binHandle), func, userData as usize)
    })
}

/// What a query about an exception answers when there is none: -1.
const NONE: aclError = -1;

/// Answers the arguments of the kernel that failed, and their bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetArgsFromExceptionInfo(
    info: *const aclrtExceptionInfo,
    devArgsPtr: *mut *mut c_void,
    devArgsLen: *mut u32,
) -> aclError {
    let mut none = false;
    let code = call(Api::aclrtGetArgsFromExceptionInfo, |rt| {
        if info.is_null() {
            none = true;
            return Ok(());
        }
        let address = arg::out(devArgsPtr, "devArgsPtr", "aclrtGetArgsFromExceptionInfo#02")?;
        let length = arg::out(devArgsLen, "devArgsLen", "aclrtGetArgsFromExceptionInfo#03")?;
        let Some((at, bytes)) = exception::arguments(rt, info as u64) else {
            none = true;
            return Ok(());
        };
        address.set(at as *mut c_void)?;
        length.set(bytes as u32)
    });
    if none { NONE } else { code }
}

/// Answers the handle of the kernel that failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetFuncHandleFromExceptionInfo(
    info: *const aclrtExceptionInfo,
    func: *mut aclrtFuncHandle,
) -> aclError {
    let mut none = false;
    let code = call(Api::aclrtGetFuncHandleFromExceptionInfo, |rt| {
        if info.is_null() {
            none = true;
            return Ok(());
        }
        let out = arg::out(func, "func", "aclrtGetFuncHandleFromExceptionInfo#02")?;
        match exception::function(rt, info as u64) {
            Some(handle) => out.set(arg::from_handle(handle?)),
            None => {
                none = true;
                Ok(())
            }
        }
    });
    if none { NONE } else { code }
}

/// Registers a kernel of an AI CPU binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtRegisterCpuFunc(
    handle: aclrtBinHandle,
    funcName: *const c_char,
    kernelName: *const c_char,
    funcHandle: *mut aclrtFuncHandle,
) -> aclError {
    call(Api::aclrtRegisterCpuFunc, |rt| {
        arg::not_null(handle, "handle", "aclrtRegisterCpuFunc#01")?;
        arg::not_null(funcName, "funcName", "aclrtRegisterCpuFunc#02")?;
        arg::not_null(kernelName, "kernelName", "aclrtRegisterCpuFunc#03")?;
        let out = arg::out(funcHandle, "funcHandle", "aclrtRegisterCpuFunc#04")?;
        // aclrtRegisterCpuFunc#07
        out.set(std::ptr::null_mut())?;
        out.set(arg::from_handle(binary::register_cpu_func(rt, arg::handle(handle))?))
    })
}

/// Answers the function handle of a kernel's host function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetFuncBySymbol(
    symbol: *const c_void,
    funcHandle: *mut aclrtFuncHandle,
) -> aclError {
    call(Api::aclrtGetFuncBySymbol, |rt| {
        arg::not_null(symbol, "symbol", "aclrtGetFuncBySymbol#01")?;
        let out = arg::out(funcHandle, "funcHandle", "aclrtGetFuncBySymbol#02")?;
        out.set(arg::from_handle(register::function_by_symbol(rt, symbol as usize)?))
    })
}
