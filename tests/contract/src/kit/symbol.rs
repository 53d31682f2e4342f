//! Device variables, registered as the start-up code of a compiled program does.

use std::ffi::c_void;
use std::ptr::null_mut;

/// A device variable that starts with these bytes: the address of its shadow, which is never given back.
pub fn variable(bytes: &[u8]) -> *const c_void {
    let shadow: *const c_void = Vec::leak(bytes.to_vec()).as_ptr().cast();
    register(shadow, bytes.len());
    shadow
}

/// Registers what a program's own variable is the shadow of.
pub fn register(shadow: *const c_void, size: usize) {
    let name = c"variable".as_ptr();
    unsafe { ascendcl::symbol::rtRegisterVariable(null_mut(), shadow, name, size, 0, null_mut()) };
}

/// A variable's address on the current device.
#[track_caller]
pub fn symbol_address(symbol: *const c_void) -> *mut c_void {
    get!(null_mut(), aclrtGetSymbolAddress(symbol))
}

/// The first bytes of a variable on the current device.
#[track_caller]
pub fn symbol_bytes(symbol: *const c_void, count: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; count];
    let kind = ascendcl_sys::ACL_MEMCPY_DEVICE_TO_HOST;
    ok!(aclrtMemcpyFromSymbol(bytes.as_mut_ptr().cast(), count, symbol, count, 0, kind));
    bytes
}

/// Sets a variable's first bytes on the current device.
#[track_caller]
pub fn set_symbol(symbol: *const c_void, bytes: &[u8]) {
    let kind = ascendcl_sys::ACL_MEMCPY_HOST_TO_DEVICE;
    ok!(aclrtMemcpyToSymbol(symbol, bytes.as_ptr().cast(), bytes.len(), 0, kind));
}

/// Addresses that are no device variable's: of host and device memory, inside a variable, a handle, an invented one.
pub fn no_symbols() -> Vec<*const c_void> {
    let (host, device) = (super::pageable(64), super::device(64));
    let inside = variable(&[1; 8]).wrapping_byte_add(1);
    let all = [host.p(), device.p(), super::current(), super::invented()];
    all.into_iter().map(<*mut c_void>::cast_const).chain([inside]).collect()
}
