//! Registration functions: what start-up code of compiled programs calls, before `main` and at exit.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use ascendcl_sys as sys;

use super::binary;
use super::config;
use super::launch::{self, Given, Target};
use super::site::{self, Site};
use crate::error::Result;
use crate::process::Runtime;
use crate::refuse;

/// Host functions that stand for kernels.
#[derive(Default)]
pub(crate) struct Stubs {
    /// By address: the binary's handle and the kernel's place in it.
    by_address: HashMap<usize, (u64, usize)>,
    /// rtFunctionRegister: addresses by stub name.
    by_name: HashMap<String, usize>,
}

/// `rtDevBinary_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DevBinary {
    /// One of the ELF values.
    pub magic: u32,
    /// Not looked at.
    pub version: u32,
    /// The binary's bytes.
    pub data: usize,
    /// How many.
    pub length: u64,
}

fn invalid<T>(rule: &'static str, text: String) -> Result<T> {
    refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "{text}")
}

/// rtDevBinaryRegister and rtRegisterAllKernel. ours: kernels are known by their names in either case, and a program that ignores
/// the code is told on standard error.
pub fn register_binary(rt: &Runtime, bin: DevBinary, rule: &'static str) -> Result<u64> {
    magic(bin, rule)?;
    binary::register(rt, bin.data, bin.length as usize, rule).inspect_err(|error| {
        eprintln!("toprope: {rule}: {}", error.text());
    })
}

fn magic(bin: DevBinary, rule: &'static str) -> Result<()> {
    if config::is_magic(bin.magic) {
        return Ok(());
    }
    invalid(rule, format!("bin: magic {:#x} is none of a device binary", bin.magic))
}

/// rtBinaryLoad.
pub fn load_binary(rt: &Runtime, bin: DevBinary) -> Result<u64> {
    magic(bin, "rtBinaryLoad")?;
    binary::load_bytes(rt, bin.data, bin.length as usize, "rtBinaryLoad")
}

/// rtBinaryLoadWithoutTilingKey.
pub fn load_data(rt: &Runtime, data: usize, length: u64) -> Result<u64> {
    binary::load_bytes(rt, data, length as usize, "rtBinaryLoadWithoutTilingKey")
}

/// rtDevBinaryUnRegister: the kernels, variables and host functions of the binary go with it.
pub fn unregister_binary(rt: &Runtime, handle: u64) -> Result<()> {
    binary::end(rt, handle, "rtDevBinaryUnRegister")?;
    let mut stubs = rt.kernels.stubs.write();
    stubs.by_address.retain(|_, (binary, _)| *binary != handle);
    let Stubs { by_address, by_name } = &mut *stubs;
    by_name.retain(|_, address| by_address.contains_key(address));
    drop(stubs);
    rt.symbols.forget(handle);
    Ok(())
}

/// The place of a kernel in a binary.
fn kernel(rt: &Runtime, handle: u64, name: &[u8], rule: &'static str) -> Result<usize> {
    let binary = binary::resolve(rt, handle, rule)?;
    match std::str::from_utf8(name).ok().and_then(|name| binary.image.kernel(name)) {
        Some(index) => Ok(index),
        None => invalid(rule, format!("{} is no kernel of the binary", String::from_utf8_lossy(name))),
    }
}

/// rtFunctionRegister: `name` is the kernel's.
pub fn register_function(
    rt: &Runtime,
    handle: u64,
    stub: usize,
    stub_name: &[u8],
    name: &[u8],
) -> Result<()> {
    const RULE: &str = "rtFunctionRegister";
    let index = kernel(rt, handle, name, RULE)?;
    let stub_name = String::from_utf8_lossy(stub_name).into_owned();
    let mut stubs = rt.kernels.stubs.write();
    if stubs.by_address.contains_key(&stub) || stubs.by_name.contains_key(&stub_name) {
        return refuse!(
            sys::ACL_ERROR_RT_KERNEL_DUPLICATE,
            RULE,
            "stubFunc: {stub:#x} or stubName: {stub_name} is registered already"
        );
    }
    stubs.by_address.insert(stub, (handle, index));
    stubs.by_name.insert(stub_name, stub);
    Ok(())
}

/// rtRegisterFuncSymbol: a second registration is ignored.
pub fn register_symbol(rt: &Runtime, handle: u64, symbol: usize, name: &[u8]) -> Result<()> {
    let index = kernel(rt, handle, name, "rtRegisterFuncSymbol")?;
    rt.kernels.stubs.write().by_address.entry(symbol).or_insert((handle, index));
    Ok(())
}

/// rtQueryFunctionRegistered, rtGetFunctionByName: the address of a stub name.
pub fn by_name(rt: &Runtime, name: &[u8], rule: &'static str) -> Result<usize> {
    let name = String::from_utf8_lossy(name);
    match rt.kernels.stubs.read().by_name.get(&*name) {
        Some(stub) => Ok(*stub),
        None => invalid(rule, format!("stubName: {name} is not registered")),
    }
}

/// Whether an address is that of a registered host function.
pub(crate) fn is_stub(rt: &Runtime, address: usize) -> bool {
    rt.kernels.stubs.read().by_address.contains_key(&address)
}

/// The handle of the kernel behind a host function; None if the address is none of one.
pub(crate) fn handle_of(rt: &Runtime, address: usize) -> Option<u64> {
    let (handle, index) = *rt.kernels.stubs.read().by_address.get(&address)?;
    rt.kernels.binaries.pin(handle)?.handle_of(rt, handle, index)
}

/// The same on a device, where its binary is loaded.
pub(crate) fn site_on(rt: &Runtime, address: usize, device: u16) -> Result<Arc<Site>> {
    if let Some(site) = site::recent(address, device) {
        return Ok(site);
    }
    let found = rt.kernels.stubs.read().by_address.get(&address).copied();
    let binary = found.and_then(|(handle, index)| Some((rt.kernels.binaries.pin(handle)?, index)));
    let Some((binary, index)) = binary else {
        return refuse!(
            sys::ACL_ERROR_RT_INVALID_DEVICE_FUNCTION,
            "aclrtGetFuncBySymbol#03",
            "symbol: {address:#x} is not the address of a registered kernel's host function"
        );
    };
    binary.load(rt, device)?;
    match binary.site(rt, binary.handle(), device, index) {
        Some(site) => {
            site::remember(address, &site);
            Ok(site)
        }
        None => refuse!(
            sys::ACL_ERROR_RT_INVALID_HANDLE,
            "aclrtGetFuncBySymbol#03",
            "symbol: the binary of {address:#x} is being unloaded"
        ),
    }
}

/// Its handle.
pub(crate) fn function_on(rt: &Runtime, address: usize, device: u16) -> Result<u64> {
    site_on(rt, address, device).map(|site| site.function)
}

/// aclrtGetFuncBySymbol, rtGetFuncBySymbol (#04: the context is looked for first; #05).
pub fn function_by_symbol(rt: &Runtime, symbol: usize) -> Result<u64> {
    let device = binary::current(rt, "aclrtGetFuncBySymbol#04")?;
    function_on(rt, symbol, device)
}

/// rtGetAddrByFun: on the current device.
pub fn address_of(rt: &Runtime, stub: usize) -> Result<usize> {
    let device = binary::current(rt, "rtGetAddrByFun")?;
    site_on(rt, stub, device).map(|site| site.entry)
}

/// What rtConfigureCall and rtSetupArgument have stored for rtLaunch.
#[derive(Default)]
struct Call {
    blocks: u32,
    stream: u64,
    arguments: Vec<u8>,
}

thread_local! {
    static CALL: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// Most bytes of arguments that rtSetupArgument takes (ours, as aclrtKernelArgsInit#04).
const MOST_BYTES: usize = 64 << 10;

/// rtConfigureCall.
pub fn configure(blocks: u32, stream: u64) -> Result<()> {
    if blocks == 0 {
        return invalid("rtConfigureCall", "numBlocks: must be greater than 0".to_owned());
    }
    CALL.with(|call| *call.borrow_mut() = Some(Call { blocks, stream, arguments: Vec::new() }));
    Ok(())
}

/// rtSetupArgument.
pub fn set_up_argument(from: usize, size: u32, offset: u32) -> Result<()> {
    const RULE: &str = "rtSetupArgument";
    let (size, offset) = (size as usize, offset as usize);
    let end = offset + size;
    if end > MOST_BYTES {
        return invalid(RULE, format!("offset: {offset} + size {size} is beyond {MOST_BYTES} bytes"));
    }
    CALL.with(|call| {
        let mut call = call.borrow_mut();
        let Some(call) = call.as_mut() else {
            return invalid(RULE, "rtConfigureCall was not called before".to_owned());
        };
        if call.arguments.len() < end {
            call.arguments.resize(end, 0);
        }
        launch::put(call.arguments.as_mut_ptr() as usize + offset, from, size, "args")
    })
}

/// rtLaunch.
pub fn launch(rt: &Runtime, stub: usize) -> Result<()> {
    let Some(call) = CALL.with(|call| call.borrow_mut().take()) else {
        return invalid("rtLaunch", "rtConfigureCall was not called before".to_owned());
    };
    let target = Target { func: stub as u64, blocks: call.blocks, stream: call.stream };
    launch::launch_stub(
        rt,
        target,
        Given { at: call.arguments.as_ptr() as usize, bytes: call.arguments.len() },
    )
}
