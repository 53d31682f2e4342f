//! More overloads of acl/acl_rt_api.h (`src/overloads/`): managed memory and device variables.

use std::ffi::c_void;

use ascendcl_sys as sys;

type Ptr = *mut c_void;

unsafe extern "C" {
    /// `aclrtMemAllocManaged(T **, size)`.
    pub fn cpp_alloc_managed(pointer: *mut Ptr, size: usize) -> sys::aclError;
    /// `aclrtMemAllocManaged(T **, size, flags)`.
    pub fn cpp_alloc_managed_flags(pointer: *mut Ptr, size: usize, flags: u32) -> sys::aclError;
    /// `aclrtPointerGetAttributes(const T *, attributes)`.
    pub fn cpp_pointer_attributes(
        pointer: *const c_void,
        attributes: *mut sys::aclrtPtrAttributes,
    ) -> sys::aclError;
    /// `aclrtMemManagedPrefetchAsync(const T *, ...)`.
    pub fn cpp_prefetch(
        pointer: *const c_void,
        size: usize,
        location: sys::aclrtMemManagedLocation,
        flags: u32,
        stream: Ptr,
    ) -> sys::aclError;
    /// `aclrtMemManagedPrefetchBatchAsync` with several locations.
    pub fn cpp_prefetch_batch(
        pointers: *mut *const c_void,
        sizes: *mut usize,
        count: usize,
        locations: *mut sys::aclrtMemManagedLocation,
        indexes: *mut usize,
        number: usize,
        flags: u64,
        stream: Ptr,
    ) -> sys::aclError;
    /// `aclrtMemManagedPrefetchBatchAsync` with one location.
    pub fn cpp_prefetch_batch_one(
        pointers: *mut *const c_void,
        sizes: *mut usize,
        count: usize,
        location: sys::aclrtMemManagedLocation,
        flags: u64,
        stream: Ptr,
    ) -> sys::aclError;
    /// `aclrtGetSymbolAddress(symbol, address)`.
    pub fn cpp_symbol_address(form: i32, address: *mut Ptr) -> sys::aclError;
    /// `aclrtGetSymbolSize(symbol, size)`.
    pub fn cpp_symbol_size(form: i32, size: *mut usize) -> sys::aclError;
    /// `aclrtMemcpyFromSymbol(dst, max, symbol, ...)`.
    pub fn cpp_from_symbol(
        form: i32,
        dst: Ptr,
        max: usize,
        count: usize,
        offset: usize,
        kind: u32,
    ) -> sys::aclError;
    /// `aclrtMemcpyFromSymbolAsync(dst, max, symbol, ...)`.
    pub fn cpp_from_symbol_async(
        form: i32,
        dst: Ptr,
        max: usize,
        count: usize,
        offset: usize,
        kind: u32,
        stream: Ptr,
    ) -> sys::aclError;
    /// `aclrtMemcpyToSymbol(symbol, src, ...)`.
    pub fn cpp_to_symbol(
        form: i32,
        src: *const c_void,
        count: usize,
        offset: usize,
        kind: u32,
    ) -> sys::aclError;
    /// `aclrtMemcpyToSymbolAsync(symbol, src, ...)`.
    pub fn cpp_to_symbol_async(
        form: i32,
        src: *const c_void,
        count: usize,
        offset: usize,
        kind: u32,
        stream: Ptr,
    ) -> sys::aclError;
    fn cpp_variable(size: *mut usize) -> *const c_void;
}

/// The C++ program writes the variable's name.
pub const BY_NAME: i32 = 0;
/// It writes the variable's address.
pub const BY_ADDRESS: i32 = 1;
/// It writes the name of a variable that is not registered.
pub const STRANGER: i32 = 2;
/// It writes nullptr.
pub const NULLPTR: i32 = 3;

/// Registers the variable of the C++ calls; its address and its size, 16 bytes.
pub fn program_variable() -> (*const c_void, usize) {
    let mut size = 0;
    let variable = unsafe { cpp_variable(&mut size) };
    super::register(variable, size);
    (variable, size)
}
