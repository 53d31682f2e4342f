//! The device binary of tests/device, its kernels, and registered ones.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use ascendcl::register::{
    rtDevBinaryUnRegister, rtGetFuncBySymbol, rtRegisterAllKernel, rtRegisterFuncSymbol,
};
use ascendcl_sys::{aclrtBinHandle, aclrtFuncHandle};

/// The binary's bytes.
pub const BINARY: &[u8] = include_bytes!(env!("DEVICE_BINARY"));

/// A loaded binary, unloaded at the end.
pub struct Binary(aclrtBinHandle);

impl Binary {
    /// Loads it.
    #[track_caller]
    pub fn new() -> Binary {
        Binary(get!(null_mut(), aclrtBinaryLoadFromData(BINARY.as_ptr().cast(), BINARY.len(), null())))
    }

    /// The handle.
    pub fn h(&self) -> aclrtBinHandle {
        self.0
    }

    /// A kernel of it.
    #[track_caller]
    pub fn function(&self, name: &str) -> aclrtFuncHandle {
        get!(null_mut(), aclrtBinaryGetFunction(self.0, super::c(name).as_ptr()))
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        // Unloaded already by the row, perhaps.
        acl!(aclrtBinaryUnLoad(self.0));
    }
}

/// A registered binary, as start-up code of a program has it; never given back by itself.
#[track_caller]
pub fn registered() -> *mut c_void {
    /// `rtDevBinary_t`
    #[repr(C)]
    struct Description(u32, u32, *const u8, u64);
    let description = Description(0x4355_4245, 0, BINARY.as_ptr(), BINARY.len() as u64);
    let mut handle = null_mut();
    let code = unsafe { rtRegisterAllKernel((&raw const description).cast(), &raw mut handle) };
    super::same("rtRegisterAllKernel", code, 0);
    handle
}

/// Takes it back.
#[track_caller]
pub fn unregister(binary: *mut c_void) {
    super::same("rtDevBinaryUnRegister", unsafe { rtDevBinaryUnRegister(binary) }, 0);
}

/// The address of a host function that stands for a kernel.
#[track_caller]
pub fn stub(binary: *mut c_void, kernel: &str) -> *const c_void {
    let stub: *const c_void = Box::leak(Box::new(0u8)) as *const u8 as *const c_void;
    let name = super::c(kernel);
    let code = unsafe { rtRegisterFuncSymbol(binary, stub, name.as_ptr() as *const c_char, null_mut()) };
    super::same("rtRegisterFuncSymbol", code, 0);
    stub
}

/// A kernel, on any product, also those that load no binaries by themselves.
#[track_caller]
pub fn kernel(name: &str) -> aclrtFuncHandle {
    let (stub, mut handle) = (stub(registered(), name), null_mut());
    super::same("rtGetFuncBySymbol", unsafe { rtGetFuncBySymbol(stub, &raw mut handle) }, 0);
    handle
}

/// A kernel whose binary is gone.
#[track_caller]
pub fn stale_kernel() -> aclrtFuncHandle {
    let (binary, mut handle) = (registered(), null_mut());
    let code = unsafe { rtGetFuncBySymbol(stub(binary, "nothing"), &raw mut handle) };
    super::same("rtGetFuncBySymbol", code, 0);
    unregister(binary);
    handle
}

/// Everything that is no kernel: of a binary that is gone, of another kind, invented, an address with bytes.
#[track_caller]
pub fn no_kernels() -> Vec<aclrtFuncHandle> {
    vec![stale_kernel(), super::current(), super::invented(), BINARY.as_ptr().cast_mut().cast()]
}

/// Everything that is no binary.
#[track_caller]
pub fn no_binaries() -> Vec<aclrtBinHandle> {
    let stale = Binary::new();
    ok!(aclrtBinaryUnLoad(stale.h()));
    vec![stale.h(), stale_kernel(), super::invented(), BINARY.as_ptr().cast_mut().cast()]
}
