//! The overloads of acl/acl_rt_api.h, compiled by the build script from `src/overloads/`: each calls what a C++ program writes.

use std::ffi::c_void;
use std::path::PathBuf;

use ascendcl_sys as sys;

type Ptr = *mut c_void;

macro_rules! overloads {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $kind:ty),* $(,)?);)*) => {
        unsafe extern "C" {
            $($(#[$doc])* pub fn $name($($arg: $kind),*) -> sys::aclError;)*
        }
    };
}

overloads! {
    /// `aclrtSynchronizeDevice(timeout)`.
    cpp_synchronize_device(timeout: i32);
    /// `aclrtSynchronizeStream(stream, timeout)`.
    cpp_synchronize_stream(stream: Ptr, timeout: i32);
    /// `aclrtSynchronizeEvent(event, timeout)`.
    cpp_synchronize_event(event: Ptr, timeout: i32);
    /// `aclrtStreamWaitEvent(stream, event, timeout)`.
    cpp_stream_wait_event(stream: Ptr, event: Ptr, timeout: i32);
    /// `aclrtCreateStream(stream, priority, flag)`.
    cpp_create_stream(stream: *mut Ptr, priority: u32, flag: u32);
    /// `aclrtCreateEvent(event, flag)`.
    cpp_create_event(event: *mut Ptr, flag: u32);
    /// `aclrtSetOpExecuteTimeOut(timeout, actualTimeout)`.
    cpp_set_op_execute_timeout(timeout: u64, actual: *mut u64);
    /// `aclrtMalloc(T **, size)`.
    cpp_malloc(pointer: *mut Ptr, size: usize);
    /// `aclrtMalloc(T **, size, policy, cfg)`.
    cpp_malloc_policy(pointer: *mut Ptr, size: usize, policy: u32, cfg: *mut sys::aclrtMallocConfig);
    /// `aclrtMallocHost(T **, size, cfg)`.
    cpp_malloc_host(pointer: *mut Ptr, size: usize, cfg: *mut sys::aclrtMallocConfig);
    /// `aclrtHostRegister(T *, size, type, T **)`.
    cpp_host_register(pointer: Ptr, size: u64, kind: u32, device: *mut Ptr);
    /// `aclrtHostRegister(T *, size, flag)`.
    cpp_host_register_flag(pointer: Ptr, size: u64, flag: u32);
    /// `aclrtHostGetDevicePointer(T *, T **, flag)`.
    cpp_host_get_device_pointer(pointer: Ptr, device: *mut Ptr, flag: u32);
    /// `aclrtHostUnregister(T *)`.
    cpp_host_unregister(pointer: Ptr);
    /// `aclrtMemcpy(T *, ..., const U *, ...)`.
    cpp_memcpy(dst: Ptr, max: usize, src: *const c_void, count: usize, kind: u32);
    /// `aclrtMemcpyAsync(T *, ..., const U *, ...)`.
    cpp_memcpy_async(dst: Ptr, max: usize, src: *const c_void, count: usize, kind: u32, stream: Ptr);
    /// `aclrtMemcpy2d(T *, ..., const U *, ...)`.
    cpp_memcpy_2d(dst: Ptr, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: u32);
    /// `aclrtMemcpy2dAsync(T *, ..., const U *, ...)`.
    cpp_memcpy_2d_async(
        dst: Ptr, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: u32, stream: Ptr,
    );
    /// `aclrtMemcpyBatch` with attributes and indexes; `fail` null: the form without.
    cpp_batch(
        dsts: *mut Ptr, maxs: *mut usize, srcs: *mut Ptr, sizes: *mut usize, count: usize,
        attrs: *mut sys::aclrtMemcpyBatchAttr, indexes: *mut usize, number: usize, fail: *mut usize,
    );
    /// `aclrtMemcpyBatch` with one attribute; `fail` null: the form without.
    cpp_batch_one(
        dsts: *mut Ptr, maxs: *mut usize, srcs: *mut Ptr, sizes: *mut usize, count: usize,
        attr: *const sys::aclrtMemcpyBatchAttr, fail: *mut usize,
    );
    /// `aclrtMemcpyBatchAsync` with attributes and indexes; `fail` null: the form without.
    cpp_batch_async(
        dsts: *mut Ptr, maxs: *mut usize, srcs: *mut Ptr, sizes: *mut usize, count: usize,
        attrs: *mut sys::aclrtMemcpyBatchAttr, indexes: *mut usize, number: usize, fail: *mut usize, stream: Ptr,
    );
    /// `aclrtMemcpyBatchAsync` with one attribute; `fail` null: the form without.
    cpp_batch_one_async(
        dsts: *mut Ptr, maxs: *mut usize, srcs: *mut Ptr, sizes: *mut usize, count: usize,
        attr: *const sys::aclrtMemcpyBatchAttr, fail: *mut usize, stream: Ptr,
    );
}

/// Asserts that the library exports the C function and no overload of that name.
#[track_caller]
pub fn header_only(name: &str) {
    let library = std::env::current_exe().ok().and_then(|program| beside(program.parent()?.to_owned()));
    let Some(bytes) = library.and_then(|path| std::fs::read(path).ok()) else {
        panic!("libascendcl.so is not beside the program");
    };
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds(&format!("\0{name}\0")), "the library does not name {name}");
    assert!(!holds(&format!("_Z{}{name}", name.len())), "the library names a C++ {name}");
}

/// The library as cargo puts it: beside the program or in its folder of dependencies.
fn beside(folder: PathBuf) -> Option<PathBuf> {
    let places = [folder.join("deps/libascendcl.so"), folder.join("libascendcl.so")];
    places.into_iter().find(|path| path.is_file())
}

/// Asserts that the last refused call, which an overload made, was one of this C function.
#[track_caller]
pub fn calls(function: &str) {
    if !super::has("aclGetRecentErrMsg") {
        return;
    }
    let said = super::message();
    // `EE1001: aclrtMemcpy: …`: the error class comes first.
    let (_, newest) = said.split_once(": ").unwrap_or_default();
    assert!(newest.starts_with(&format!("{function}: ")), "the overload does not call {function}: {said}");
}
