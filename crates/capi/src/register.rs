//! Registration functions: what start-up code of compiled programs calls for its kernels (spec/registration.csv). Variables:
//! [`crate::symbol`].

use std::ffi::{c_char, c_void};

use ascendcl_sys::{rtBinHandle, rtDevBinary_t, rtError_t, rtFuncHandle, rtSmDesc_t, rtStream_t};
use toprope_runtime::call::call;
use toprope_runtime::kernel::binary;
use toprope_runtime::kernel::launch::{self, Given, Target};
use toprope_runtime::kernel::register::{self, DevBinary};
use toprope_runtime::{Api, Result, refuse, symbol};

use crate::arg;

/// The description of a binary.
fn description(bin: *const rtDevBinary_t, rule: &'static str) -> Result<DevBinary> {
    arg::not_null_rt(bin, "bin", rule)?;
    arg::input(bin.cast::<DevBinary>(), "bin", rule)
}

/// A text that must be there.
fn text(pointer: *const c_char, name: &'static str, rule: &'static str) -> Result<Vec<u8>> {
    arg::not_null_rt(pointer, name, rule)?;
    Ok(arg::text(pointer, name, rule)?.unwrap_or_default())
}

/// Registers a device binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtDevBinaryRegister(bin: *const rtDevBinary_t, hdl: *mut *mut c_void) -> rtError_t {
    call(Api::rtDevBinaryRegister, |rt| {
        let bin = description(bin, "rtDevBinaryRegister")?;
        let out = arg::out_rt(hdl, "hdl", "rtDevBinaryRegister")?;
        out.probe()?;
        out.set(arg::from_handle(register::register_binary(rt, bin, "rtDevBinaryRegister")?))
    })
}

/// Registers a device binary with all of its kernels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtRegisterAllKernel(bin: *const rtDevBinary_t, hdl: *mut *mut c_void) -> rtError_t {
    call(Api::rtRegisterAllKernel, |rt| {
        let bin = description(bin, "rtRegisterAllKernel")?;
        let out = arg::out_rt(hdl, "hdl", "rtRegisterAllKernel")?;
        out.probe()?;
        out.set(arg::from_handle(register::register_binary(rt, bin, "rtRegisterAllKernel")?))
    })
}

/// Drops a registered binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtDevBinaryUnRegister(hdl: *mut c_void) -> rtError_t {
    call(Api::rtDevBinaryUnRegister, |rt| register::unregister_binary(rt, arg::handle(hdl)))
}

/// Binds a host function to a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtFunctionRegister(
    binHandle: *mut c_void,
    stubFunc: *const c_void,
    stubName: *const c_char,
    kernelInfoExt: *const c_void,
    _funcMode: u32,
) -> rtError_t {
    const RULE: &str = "rtFunctionRegister";
    call(Api::rtFunctionRegister, |rt| {
        arg::not_null_rt(binHandle, "binHandle", RULE)?;
        arg::not_null_rt(stubFunc, "stubFunc", RULE)?;
        let stub_name = text(stubName, "stubName", RULE)?;
        // ours: without a name of its own the kernel has the stub's.
        let name =
            arg::text(kernelInfoExt.cast(), "kernelInfoExt", RULE)?.unwrap_or_else(|| stub_name.clone());
        register::register_function(rt, arg::handle(binHandle), stubFunc as usize, &stub_name, &name)
    })
}

/// Binds the address of a host function to a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtRegisterFuncSymbol(
    binHandle: *mut c_void,
    symbol: *const c_void,
    kernelName: *const c_char,
    _reserve: *mut c_void,
) -> rtError_t {
    const RULE: &str = "rtRegisterFuncSymbol";
    call(Api::rtRegisterFuncSymbol, |rt| {
        arg::not_null_rt(binHandle, "binHandle", RULE)?;
        arg::not_null_rt(symbol, "symbol", RULE)?;
        let name = text(kernelName, "kernelName", RULE)?;
        register::register_symbol(rt, arg::handle(binHandle), symbol as usize, &name)
    })
}

/// Whether a stub name is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtQueryFunctionRegistered(stubName: *const c_char) -> rtError_t {
    const RULE: &str = "rtQueryFunctionRegistered";
    call(Api::rtQueryFunctionRegistered, |rt| {
        register::by_name(rt, &text(stubName, "stubName", RULE)?, RULE).map(drop)
    })
}

/// Answers the host function of a stub name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtGetFunctionByName(
    stubName: *const c_char,
    stubFunc: *mut *mut c_void,
) -> rtError_t {
    const RULE: &str = "rtGetFunctionByName";
    call(Api::rtGetFunctionByName, |rt| {
        let name = text(stubName, "stubName", RULE)?;
        let out = arg::out_rt(stubFunc, "stubFunc", RULE)?;
        out.set(register::by_name(rt, &name, RULE)? as *mut c_void)
    })
}

/// Answers the address of a host function's kernel on the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtGetAddrByFun(stubFunc: *const c_void, addr: *mut *mut c_void) -> rtError_t {
    const RULE: &str = "rtGetAddrByFun";
    call(Api::rtGetAddrByFun, |rt| {
        arg::not_null_rt(stubFunc, "stubFunc", RULE)?;
        let out = arg::out_rt(addr, "addr", RULE)?;
        out.set(register::address_of(rt, stubFunc as usize)? as *mut c_void)
    })
}

/// Answers a device variable's address on the current device, and its size in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtSymbolLookup(
    hostVar: *const c_void,
    devPtr: *mut *mut c_void,
    size: *mut usize,
) -> rtError_t {
    const RULE: &str = "rtSymbolLookup";
    call(Api::rtSymbolLookup, |rt| {
        let (address, bytes) = (arg::out_rt(devPtr, "devPtr", RULE)?, arg::out_rt(size, "size", RULE)?);
        let (at, has) = symbol::lookup(rt, hostVar as usize)?;
        address.set(at as *mut c_void)?;
        bytes.set(has)
    })
}

/// Answers the function handle of a host function, its binary loaded to the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtGetFuncBySymbol(
    symbol: *const c_void,
    funcHandle: *mut rtFuncHandle,
) -> rtError_t {
    const RULE: &str = "rtGetFuncBySymbol";
    call(Api::rtGetFuncBySymbol, |rt| {
        arg::not_null_rt(symbol, "symbol", RULE)?;
        let out = arg::out_rt(funcHandle, "funcHandle", RULE)?;
        out.set(arg::from_handle(register::function_by_symbol(rt, symbol as usize)?))
    })
}

/// Loads a binary to the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtBinaryLoad(bin: *const rtDevBinary_t, binHandle: *mut rtBinHandle) -> rtError_t {
    const RULE: &str = "rtBinaryLoad";
    call(Api::rtBinaryLoad, |rt| {
        let bin = description(bin, RULE)?;
        let out = arg::out_rt(binHandle, "binHandle", RULE)?;
        out.probe()?;
        out.set(arg::from_handle(register::load_binary(rt, bin)?))
    })
}

/// Loads a binary from memory to the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtBinaryLoadWithoutTilingKey(
    data: *const c_void,
    length: u64,
    binHandle: *mut rtBinHandle,
) -> rtError_t {
    const RULE: &str = "rtBinaryLoadWithoutTilingKey";
    call(Api::rtBinaryLoadWithoutTilingKey, |rt| {
        arg::not_null_rt(data, "data", RULE)?;
        let out = arg::out_rt(binHandle, "binHandle", RULE)?;
        out.probe()?;
        out.set(arg::from_handle(register::load_data(rt, data as usize, length)?))
    })
}

/// Unloads a binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtBinaryUnLoad(binHandle: rtBinHandle) -> rtError_t {
    call(Api::rtBinaryUnLoad, |rt| binary::unload(rt, arg::handle(binHandle)))
}

/// What the four ways to a kernel of a binary share.
fn kernel_of(
    api: Api,
    funcHandle: *mut rtFuncHandle,
    rule: &'static str,
    find: impl FnOnce(&'static toprope_runtime::Runtime) -> Result<u64>,
) -> rtError_t {
    call(api, |rt| {
        let out = arg::out_rt(funcHandle, "funcHandle", rule)?;
        out.set(arg::from_handle(find(rt)?))
    })
}

/// Finds a kernel of a binary by its tiling key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtBinaryGetFunction(
    binHandle: rtBinHandle,
    tilingKey: u64,
    funcHandle: *mut rtFuncHandle,
) -> rtError_t {
    kernel_of(Api::rtBinaryGetFunction, funcHandle, "rtBinaryGetFunction", |rt| {
        binary::get_function_by_entry(rt, arg::handle(binHandle), tilingKey)
    })
}

/// Finds a kernel of a binary by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtBinaryGetFunctionByName(
    binHandle: rtBinHandle,
    kernelName: *const c_char,
    funcHandle: *mut rtFuncHandle,
) -> rtError_t {
    const RULE: &str = "rtBinaryGetFunctionByName";
    kernel_of(Api::rtBinaryGetFunctionByName, funcHandle, RULE, |rt| {
        binary::get_function(rt, arg::handle(binHandle), &text(kernelName, "kernelName", RULE)?)
    })
}

/// Finds a kernel of a binary by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtsFuncGetByName(
    binHandle: rtBinHandle,
    kernelName: *const c_char,
    funcHandle: *mut rtFuncHandle,
) -> rtError_t {
    const RULE: &str = "rtsFuncGetByName";
    kernel_of(Api::rtsFuncGetByName, funcHandle, RULE, |rt| {
        binary::get_function(rt, arg::handle(binHandle), &text(kernelName, "kernelName", RULE)?)
    })
}

/// Finds a kernel of a binary by its entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtsFuncGetByEntry(
    binHandle: rtBinHandle,
    funcEntry: u64,
    funcHandle: *mut rtFuncHandle,
) -> rtError_t {
    kernel_of(Api::rtsFuncGetByEntry, funcHandle, "rtsFuncGetByEntry", |rt| {
        binary::get_function_by_entry(rt, arg::handle(binHandle), funcEntry)
    })
}

/// Stores block count and stream for the thread's next rtLaunch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtConfigureCall(
    numBlocks: u32,
    _smDesc: *mut rtSmDesc_t,
    stm: rtStream_t,
) -> rtError_t {
    call(Api::rtConfigureCall, |_| register::configure(numBlocks, arg::handle(stm)))
}

/// Stores an argument for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtSetupArgument(args: *const c_void, size: u32, offset: u32) -> rtError_t {
    call(Api::rtSetupArgument, |_| {
        arg::not_null_rt(args, "args", "rtSetupArgument")?;
        register::set_up_argument(args as usize, size, offset)
    })
}

/// Launches the kernel of a host function with them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtLaunch(stubFunc: *const c_void) -> rtError_t {
    call(Api::rtLaunch, |rt| {
        arg::not_null_rt(stubFunc, "stubFunc", "rtLaunch")?;
        register::launch(rt, stubFunc as usize)
    })
}

/// Launches the kernel of a host function with a block of arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtKernelLaunch(
    stubFunc: *const c_void,
    numBlocks: u32,
    args: *mut c_void,
    argsSize: u32,
    _smDesc: *mut rtSmDesc_t,
    stm: rtStream_t,
) -> rtError_t {
    const RULE: &str = "rtKernelLaunch";
    call(Api::rtKernelLaunch, |rt| {
        arg::not_null_rt(stubFunc, "stubFunc", RULE)?;
        if args.is_null() && argsSize != 0 {
            return refuse!(
                ascendcl_sys::ACL_ERROR_RT_PARAM_INVALID,
                RULE,
                "args: null, with {argsSize} bytes"
            );
        }
        let target = Target { func: stubFunc as u64, blocks: numBlocks, stream: arg::handle(stm) };
        launch::launch_stub(rt, target, Given { at: args as usize, bytes: argsSize as usize })
    })
}
