//! The device binary of tests/device, compiled once per test program, and the registration that start-up code would do.
#![allow(clippy::unwrap_used, reason = "a test may fail")]
#![allow(dead_code, reason = "each test program uses a part")]

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;
use std::sync::OnceLock;

use ascendcl::register::*;
use ascendcl::symbol::rtRegisterVariable;

/// `rtDevBinary_t`
#[repr(C)]
pub struct DevBinary {
    pub magic: u32,
    pub version: u32,
    pub data: *const c_void,
    pub length: u64,
}

pub const MAGIC: u32 = 0x4355_4245;

/// The binary's file.
pub fn file() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let name = format!("kernels-{}.so", std::process::id());
        let output = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut command = Command::new("cc");
        command.args(["-O1", "-g", "-shared", "-fPIC", "-fno-gnu-unique", "-Wl,-Bsymbolic", "-I"]);
        command.arg(root.join("include")).arg("-o").arg(&output).arg(root.join("tests/device/kernels.c"));
        assert!(command.status().unwrap().success());
        output
    })
}

/// The binary's bytes.
pub fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let bytes = std::fs::read(file()).unwrap();
        std::fs::remove_file(file()).unwrap();
        bytes
    })
}

pub fn describe(bytes: &[u8]) -> DevBinary {
    DevBinary { magic: MAGIC, version: 0, data: bytes.as_ptr().cast(), length: bytes.len() as u64 }
}

/// Registers the binary once more.
pub fn register_binary() -> *mut c_void {
    let mut handle = null_mut();
    let description = describe(bytes());
    assert_eq!(unsafe { rtRegisterAllKernel((&raw const description).cast(), &mut handle) }, 0);
    handle
}

/// An address of the program's own that stands for something.
pub fn shadow(bytes: usize) -> *const c_void {
    Vec::leak(vec![0u8; bytes]).as_ptr().cast()
}

pub fn register_kernel(binary: *mut c_void, name: &CStr) -> *const c_void {
    let stub = shadow(1);
    assert_eq!(unsafe { rtRegisterFuncSymbol(binary, stub, name.as_ptr(), null_mut()) }, 0);
    stub
}

pub fn register_variable(binary: *mut c_void, name: &CStr, size: usize) -> *const c_void {
    let host = shadow(size);
    unsafe { rtRegisterVariable(binary, host, name.as_ptr(), size, 0, null_mut()) };
    host
}

/// Launches a registered kernel with a structure of arguments.
pub fn launch<T>(stub: *const c_void, blocks: u32, arguments: &T, stream: *mut c_void) -> i32 {
    let at = std::ptr::from_ref(arguments).cast_mut().cast();
    unsafe { rtKernelLaunch(stub, blocks, at, size_of::<T>() as u32, null_mut(), stream) }
}

/// What the calls on this thread complained about.
pub fn message() -> String {
    let text: *const c_char = unsafe { ascendcl::exception::aclGetRecentErrMsg() };
    if text.is_null() {
        String::new()
    } else {
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
