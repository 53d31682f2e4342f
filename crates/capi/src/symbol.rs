//! Chapter 11-11: device variables, and the function by which compiled programs register them.

use std::ffi::{c_char, c_void};

use ascendcl_sys::{aclError, aclrtMemcpyKind, aclrtStream};
use toprope_runtime::call::{call, value};
use toprope_runtime::symbol::{self, Part};
use toprope_runtime::{Api, Result};

use crate::arg;

/// Makes a device variable known by its shadow on the host; called from start-up code of compiled programs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtRegisterVariable(
    binHandle: *mut c_void,
    hostVar: *const c_void,
    deviceVarName: *const c_char,
    size: usize,
    _flags: u32,
    _reserve: *mut c_void,
) {
    value(Api::rtRegisterVariable, (), |rt| {
        let name = arg::text(deviceVarName, "deviceVarName", "rtRegisterVariable")?.unwrap_or_default();
        symbol::register_variable(rt, arg::handle(binHandle), hostVar as usize, &name, size)
    });
}

/// Answers a device variable's address on the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetSymbolAddress(symbol: *const c_void, devPtr: *mut *mut c_void) -> aclError {
    call(Api::aclrtGetSymbolAddress, |rt| {
        arg::not_null(symbol, "symbol", "aclrtGetSymbolAddress#07")?;
        let out = arg::out(devPtr, "devPtr", "aclrtGetSymbolAddress#08")?;
        out.set(symbol::get_address(rt, symbol as usize)? as *mut c_void)
    })
}

/// Answers a device variable's size in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetSymbolSize(symbol: *const c_void, size: *mut usize) -> aclError {
    call(Api::aclrtGetSymbolSize, |rt| {
        arg::not_null(symbol, "symbol", "aclrtGetSymbolSize#07")?;
        let out = arg::out(size, "size", "aclrtGetSymbolSize#08")?;
        out.set(symbol::get_size(rt, symbol as usize)?)
    })
}

/// What the four copies check first: `rules` are the rows for the symbol and the host pointer.
fn part(
    symbol: *const c_void,
    host: *const c_void,
    name: &'static str,
    (count, offset): (usize, usize),
    rules: [&'static str; 2],
) -> Result<Part> {
    arg::not_null(symbol, "symbol", rules[0])?;
    arg::not_null(host, name, rules[1])?;
    Ok(Part { symbol: symbol as usize, count, offset })
}

/// Copies from a device variable to the host; done on return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyFromSymbol(
    dst: *mut c_void,
    dstMax: usize,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: aclrtMemcpyKind,
) -> aclError {
    call(Api::aclrtMemcpyFromSymbol, |rt| {
        // aclrtMemcpyFromSymbol#07
        if count == 0 {
            return Ok(());
        }
        let rules = ["aclrtMemcpyFromSymbol#08", "aclrtMemcpyFromSymbol#09"];
        let part = part(symbol, dst, "dst", (count, offset), rules)?;
        symbol::memcpy_from(rt, dst as usize, dstMax, part, kind)
    })
}

/// Copies from a device variable to the host, in the stream's order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyFromSymbolAsync(
    dst: *mut c_void,
    dstMax: usize,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpyFromSymbolAsync, |rt| {
        // aclrtMemcpyFromSymbolAsync#07
        if count == 0 {
            return Ok(());
        }
        let rules = ["aclrtMemcpyFromSymbolAsync#08", "aclrtMemcpyFromSymbolAsync#09"];
        let part = part(symbol, dst, "dst", (count, offset), rules)?;
        symbol::memcpy_from_async(rt, dst as usize, dstMax, part, kind, arg::handle(stream))
    })
}

/// Copies from the host to a device variable; done on return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyToSymbol(
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: aclrtMemcpyKind,
) -> aclError {
    call(Api::aclrtMemcpyToSymbol, |rt| {
        // aclrtMemcpyToSymbol#07
        if count == 0 {
            return Ok(());
        }
        let rules = ["aclrtMemcpyToSymbol#08", "aclrtMemcpyToSymbol#09"];
        let part = part(symbol, src, "src", (count, offset), rules)?;
        symbol::memcpy_to(rt, part, src as usize, kind)
    })
}

/// Copies from the host to a device variable, in the stream's order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyToSymbolAsync(
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpyToSymbolAsync, |rt| {
        // aclrtMemcpyToSymbolAsync#07
        if count == 0 {
            return Ok(());
        }
        let rules = ["aclrtMemcpyToSymbolAsync#08", "aclrtMemcpyToSymbolAsync#09"];
        let part = part(symbol, src, "src", (count, offset), rules)?;
        symbol::memcpy_to_async(rt, part, src as usize, kind, arg::handle(stream))
    })
}
