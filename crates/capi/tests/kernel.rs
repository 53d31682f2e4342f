//! Kernels while they run: chapter 14 through the C ABI, with the device binary of tests/device.
#![allow(clippy::undocumented_unsafe_blocks, reason = "every call is one of the library under test")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod device_help;
mod host_help;

use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ascendcl::copy::*;
use ascendcl::exception::*;
use ascendcl::kernel::args::*;
use ascendcl::kernel::launch::*;
use ascendcl::kernel::*;
use ascendcl::memory::*;
use ascendcl::stream::*;
use ascendcl::timeout::*;
use ascendcl_sys as sys;
use device_help::*;
use host_help::*;

/// The binary, loaded from its bytes.
fn load() -> sys::aclrtBinHandle {
    let mut handle = null_mut();
    let bytes = bytes();
    done(unsafe {
        aclrtBinaryLoadFromData(bytes.as_ptr().cast(), bytes.len(), std::ptr::null(), &raw mut handle)
    });
    handle
}

fn function(binary: sys::aclrtBinHandle, name: &str) -> sys::aclrtFuncHandle {
    let mut handle = null_mut();
    let name = CString::new(name).unwrap();
    done(unsafe { aclrtBinaryGetFunction(binary, name.as_ptr(), &raw mut handle) });
    handle
}

fn start<T>(func: sys::aclrtFuncHandle, blocks: u32, arguments: &T, stream: sys::aclrtStream) -> i32 {
    start_with(func, blocks, arguments, stream, &mut [])
}

fn start_with<T>(
    func: sys::aclrtFuncHandle,
    blocks: u32,
    arguments: &T,
    stream: sys::aclrtStream,
    attributes: &mut [sys::aclrtLaunchKernelAttr],
) -> i32 {
    let at = std::ptr::from_ref(arguments).cast_mut().cast();
    let bytes = size_of::<T>().max(1);
    let mut cfg = sys::aclrtLaunchKernelCfg { attrs: attributes.as_mut_ptr(), numAttrs: attributes.len() };
    let cfg = if attributes.is_empty() { null_mut() } else { &raw mut cfg };
    unsafe { aclrtLaunchKernelWithHostArgs(func, blocks, stream, cfg, at, bytes, null_mut(), 0) }
}

fn stream() -> sys::aclrtStream {
    let mut stream = null_mut();
    done(unsafe { aclrtCreateStream(&raw mut stream) });
    stream
}

fn device_memory(bytes: usize) -> *mut c_void {
    let mut at = null_mut();
    done(unsafe { aclrtMalloc(&raw mut at, bytes, 0) });
    done(unsafe { aclrtMemset(at, bytes, 0, bytes) });
    at
}

fn words(at: *mut c_void, count: usize) -> Vec<u32> {
    let mut words = vec![u32::MAX; count];
    let bytes = count * 4;
    done(unsafe { aclrtMemcpy(words.as_mut_ptr().cast(), bytes, at, bytes, sys::ACL_MEMCPY_DEVICE_TO_HOST) });
    words
}

fn synchronize(stream: sys::aclrtStream) -> i32 {
    unsafe { aclrtSynchronizeStreamWithTimeout(stream, 30_000) }
}

/// A store after a failed kernel still works.
fn works(binary: sys::aclrtBinHandle, stream: sys::aclrtStream) {
    let to = device_memory(64);
    #[repr(C)]
    struct Store(*mut c_void, i32);
    done(start(function(binary, "store"), 1, &Store(to, 5), stream));
    done(synchronize(stream));
    assert_eq!(words(to, 1), [5]);
    done(unsafe { aclrtFree(to) });
}

/// A failing kernel answers this code at the next synchronize, with a message of these parts, and the stream lives on.
#[track_caller]
fn fails<T>(kernel: &str, blocks: u32, arguments: &T, code: i32, parts: &[&str]) {
    let (binary, stream) = (load(), stream());
    recent();
    done(start(function(binary, kernel), blocks, arguments, stream));
    assert_eq!(synchronize(stream), code, "{kernel}");
    let said = recent();
    for part in parts.iter().chain(&[format!("kernel {kernel} ").as_str()]) {
        assert!(said.contains(part), "{part}: {said}");
    }
    done(synchronize(stream));
    works(binary, stream);
    done(unsafe { aclrtDestroyStream(stream) });
    done(unsafe { aclrtBinaryUnLoad(binary) });
}

#[test]
fn faults_have_the_codes_of_their_kinds() {
    on(0);
    let exception = sys::ACL_ERROR_RT_AICORE_EXCEPTION;
    fails("touch", 3, &0x40usize, exception, &["block 2 of 3", "touched 0x40,"]);
    let vector = sys::ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    fails("touch_vector", 1, &0x44usize, vector, &["block 0 of 1", "0x44"]);
    let to = device_memory(64);
    fails("divide", 1, &(to, 0i32), exception, &["divided by zero"]);
    let trap = sys::ACL_ERROR_RT_AICORE_TRAP_EXCEPTION;
    fails("trap", 1, &0u8, trap, &["trap"]);
    fails("aborts", 1, &0u8, trap, &["abort"]);
}

#[test]
fn a_kernel_that_meets_nobody_fails() {
    on(0);
    let timeout = sys::ACL_ERROR_RT_AICORE_TIMEOUT;
    for away in 0..3i32 {
        fails("meet_not", 3, &away, timeout, &["can never end", "SyncAll"]);
    }
    let to = device_memory(64);
    fails("meet", 25, &to, timeout, &["fewer cores"]);
    for bad in 0..3i32 {
        let exception = sys::ACL_ERROR_RT_AICORE_EXCEPTION;
        fails("meet_fault", 3, &bad, exception, &[&format!("block {bad} of 3"), "0x48"]);
    }
}

/// SyncAll: every block sees what the others wrote before it, as often as they meet.
#[test]
fn all_blocks_meet() {
    on(0);
    let (binary, stream) = (load(), stream());
    let meet = function(binary, "meet");
    for blocks in [1u32, 2, 7, 24] {
        let to = device_memory(256);
        for _ in 0..3 {
            done(start(meet, blocks, &to, stream));
        }
        done(synchronize(stream));
        let total = (2..=blocks + 1).sum::<u32>();
        assert_eq!(words(to, blocks as usize), vec![total; blocks as usize], "{blocks} blocks");
    }
}

#[test]
fn blocks_know_which_they_are() {
    on(0);
    let (binary, stream) = (load(), stream());
    let to = device_memory(4000);
    done(start(function(binary, "blocks"), 1000, &to, stream));
    done(synchronize(stream));
    let expected: Vec<u32> = (0..1000).map(|index| 1_000_000 + index).collect();
    assert_eq!(words(to, 1000), expected);
}

fn attribute(id: u32, words: [u32; 4]) -> sys::aclrtLaunchKernelAttr {
    sys::aclrtLaunchKernelAttr { id, value: sys::aclrtLaunchKernelAttrValue { rsv: words } }
}

/// aclrtLaunchKernelV2#16, aclrtSetOpExecuteTimeOut#01: a kernel that never returns ends at its limit.
#[test]
fn a_kernel_that_never_returns_ends_at_its_limit() {
    on(0);
    let (binary, stream) = (load(), stream());
    let (wait, word) = (function(binary, "wait"), device_memory(64));
    let mut limit = [attribute(sys::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US, [30_000, 0, 0, 0])];
    let begun = Instant::now();
    done(start_with(wait, 1, &word, stream, &mut limit));
    assert_eq!(synchronize(stream), sys::ACL_ERROR_RT_AICORE_TIMEOUT);
    assert!(begun.elapsed() >= Duration::from_millis(30));
    let said = recent();
    assert!(said.contains("kernel wait ") && said.contains("operator timeout of 30ms"), "{said}");
    works(binary, stream);
    // Let the thread that was left behind go.
    done(unsafe { aclrtMemset(word, 4, 1, 4) });
}

/// aclrtStreamAbort, aclrtDestroyStreamForce: a kernel that runs on is given up.
#[test]
fn a_stream_ends_by_force_while_its_kernel_runs() {
    on(0);
    let binary = load();
    let (wait, word) = (function(binary, "wait"), device_memory(64));
    let first = stream();
    done(start(wait, 1, &word, first));
    done(unsafe { aclrtStreamAbort(first) });
    assert_eq!(synchronize(first), sys::ACL_ERROR_RT_STREAM_ABORT);
    done(unsafe { aclrtDestroyStream(first) });
    let second = stream();
    done(start(wait, 1, &word, second));
    done(unsafe { aclrtDestroyStreamForce(second) });
    works(binary, stream());
    done(unsafe { aclrtMemset(word, 4, 1, 4) });
}

/// A kernel runs in its stream's order, and other streams go on meanwhile; its arguments were copied by the call.
#[test]
fn kernels_run_in_the_order_of_their_stream() {
    on(0);
    let binary = load();
    let (one, other, word, to) = (stream(), stream(), device_memory(64), device_memory(64));
    #[repr(C)]
    struct Store(*mut c_void, i32);
    let mut store = Box::new(Store(to, 3));
    done(start(function(binary, "wait"), 1, &word, one));
    done(start(function(binary, "store"), 1, &*store, one));
    *store = Store(null_mut(), 9);
    works(binary, other);
    assert_eq!(words(to, 1), [0]);
    done(unsafe { aclrtMemsetAsync(word, 4, 1, 4, other) });
    done(synchronize(one));
    assert_eq!(words(to, 1), [3]);
}

/// aclrtLaunchKernel#12: arguments in device memory are read when the kernel runs.
#[test]
fn arguments_in_device_memory_are_read_late() {
    on(0);
    let binary = load();
    let (stream, to, place) = (stream(), device_memory(64), device_memory(64));
    let (inward, func) = (sys::ACL_MEMCPY_HOST_TO_DEVICE, function(binary, "store"));
    let write = |value: i32| {
        let bytes = [(to as u64).to_le_bytes(), u64::from(value as u32).to_le_bytes()].concat();
        done(unsafe { aclrtMemcpy(place, 16, bytes.as_ptr().cast(), 16, inward) });
    };
    let word = device_memory(64);
    done(start(function(binary, "wait"), 1, &word, stream));
    write(1);
    done(unsafe { aclrtLaunchKernel(func, 1, place, 16, stream) });
    write(2);
    done(unsafe { aclrtMemset(word, 4, 1, 4) });
    done(synchronize(stream));
    assert_eq!(words(to, 1), [2]);
    let host = [0u64; 2];
    assert_eq!(
        unsafe { aclrtLaunchKernel(func, 1, host.as_ptr().cast(), 16, stream) },
        sys::ACL_ERROR_RT_PARAM_INVALID
    );
    assert!(recent().contains("a kernel cannot read it there"));
}

/// aclrtKernelArgsAppend#11 against the kernel's own layout; aclrtKernelArgsGetPlaceHolderBuffer#09.
#[test]
fn lists_are_packed_as_the_kernel_wants_them() {
    on(0);
    let binary = load();
    let (stream, to) = (stream(), device_memory(64));
    let sum = function(binary, "sum");
    let mut list = null_mut();
    done(unsafe { aclrtKernelArgsInit(sum, &raw mut list) });
    let append = |list, bytes: &[u8]| {
        let mut param = null_mut();
        let at = bytes.as_ptr().cast_mut().cast();
        done(unsafe { aclrtKernelArgsAppend(list, at, bytes.len(), &raw mut param) });
        param
    };
    append(list, &(to as u64).to_le_bytes());
    append(list, &(-1i8).to_le_bytes());
    let two = append(list, &(-300i16).to_le_bytes());
    append(list, &70_000i32.to_le_bytes());
    append(list, &(1i64 << 40).to_le_bytes());
    done(unsafe { aclrtKernelArgsFinalize(list) });
    let launch =
        |func, list| unsafe { aclrtLaunchKernelWithConfig(func, 1, stream, null_mut(), list, null_mut()) };
    let result = || {
        done(synchronize(stream));
        let words = words(to, 2);
        i64::from(words[1]) << 32 | i64::from(words[0])
    };
    done(launch(sum, list));
    assert_eq!(result(), (1 << 40) + 70_000 - 300 - 1);
    let mut value = 5i16;
    done(unsafe { aclrtKernelArgsParaUpdate(list, two, (&raw mut value).cast(), 2) });
    assert_eq!(launch(sum, list), sys::ACL_ERROR_RT_PARAM_INVALID);
    done(unsafe { aclrtKernelArgsFinalize(list) });
    done(launch(sum, list));
    assert_eq!(result(), (1 << 40) + 70_000 + 5 - 1);
    // A place holder, in memory of the program; reused at once.
    let copy = function(binary, "copy");
    let (mut bytes, mut handle_bytes) = (0, 0);
    done(unsafe { aclrtKernelArgsGetMemSize(copy, 24 + 16, &raw mut bytes) });
    done(unsafe { aclrtKernelArgsGetHandleMemSize(copy, &raw mut handle_bytes) });
    let (mut memory, mut handle) = (vec![0u64; bytes.div_ceil(8)], vec![0u64; handle_bytes.div_ceil(8)]);
    let list = handle.as_mut_ptr().cast();
    done(unsafe { aclrtKernelArgsInitByUserMem(copy, list, memory.as_mut_ptr().cast(), bytes) });
    append(list, &(to as u64).to_le_bytes());
    let mut holder = null_mut();
    done(unsafe { aclrtKernelArgsAppendPlaceHolder(list, &raw mut holder) });
    append(list, &16u32.to_le_bytes());
    let mut buffer = null_mut();
    done(unsafe { aclrtKernelArgsGetPlaceHolderBuffer(list, holder, 16, &raw mut buffer) });
    let data = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u32>(), 4) };
    data.copy_from_slice(&[1, 2, 3, 4]);
    done(unsafe { aclrtKernelArgsFinalize(list) });
    done(launch(copy, list));
    data.fill(0);
    done(synchronize(stream));
    assert_eq!(words(to, 4), [1, 2, 3, 4]);
}

/// aclrtBinarySetExceptionCallback#06, aclrtGetArgsFromExceptionInfo#05, aclrtGetFuncHandleFromExceptionInfo.
#[test]
fn callbacks_are_told_of_the_kernel() {
    static TOLD: AtomicU32 = AtomicU32::new(0);
    static CODE: AtomicI32 = AtomicI32::new(0);
    static LENGTH: AtomicU32 = AtomicU32::new(0);
    static FUNCTION: AtomicUsize = AtomicUsize::new(0);
    static ARGUMENT: AtomicUsize = AtomicUsize::new(0);
    static INFO: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn told(info: *mut sys::aclrtExceptionInfo, word: *mut c_void) {
        let (mut at, mut length, mut func) = (null_mut(), 0, null_mut());
        unsafe {
            assert_eq!(aclrtGetArgsFromExceptionInfo(info, &raw mut at, &raw mut length), 0);
            assert_eq!(aclrtGetFuncHandleFromExceptionInfo(info, &raw mut func), 0);
            CODE.store(aclrtGetErrorCodeFromExceptionInfo(info) as i32, Ordering::Relaxed);
            ARGUMENT.store(at.cast::<usize>().read(), Ordering::Relaxed);
        }
        FUNCTION.store(func as usize, Ordering::Relaxed);
        LENGTH.store(length, Ordering::Relaxed);
        INFO.store(info as usize, Ordering::Relaxed);
        TOLD.fetch_add(word as u32, Ordering::AcqRel);
    }
    on(0);
    let (binary, stream) = (load(), stream());
    let touch = function(binary, "touch");
    done(unsafe { aclrtBinarySetExceptionCallback(binary, Some(told), 7 as *mut c_void) });
    done(start(touch, 1, &0x88usize, stream));
    assert_eq!(synchronize(stream), sys::ACL_ERROR_RT_AICORE_EXCEPTION);
    assert_eq!(TOLD.load(Ordering::Acquire), 7);
    assert_eq!(CODE.load(Ordering::Relaxed), sys::ACL_ERROR_RT_AICORE_EXCEPTION);
    assert_eq!((LENGTH.load(Ordering::Relaxed), ARGUMENT.load(Ordering::Relaxed)), (8, 0x88));
    assert_eq!(FUNCTION.load(Ordering::Relaxed), touch as usize);
    let (info, mut at, mut length) = (INFO.load(Ordering::Relaxed), null_mut(), 0);
    let late = unsafe { aclrtGetArgsFromExceptionInfo(info as *const _, &raw mut at, &raw mut length) };
    assert_eq!(late, -1);
    // Kernels of other binaries do not reach it.
    let other = load();
    done(start(function(other, "touch"), 1, &0x88usize, stream));
    assert_eq!(synchronize(stream), sys::ACL_ERROR_RT_AICORE_EXCEPTION);
    assert_eq!(TOLD.load(Ordering::Acquire), 7);
}

/// What was launched runs, whatever becomes of its binary meanwhile.
#[test]
fn a_binary_may_be_unloaded_behind_a_launch() {
    on(0);
    let (binary, stream) = (load(), stream());
    let (word, to) = (device_memory(64), device_memory(64));
    done(start(function(binary, "wait"), 1, &word, stream));
    let blocks = function(binary, "blocks");
    done(start(blocks, 2, &to, stream));
    done(unsafe { aclrtBinaryUnLoad(binary) });
    assert_eq!(start(blocks, 1, &to, stream), sys::ACL_ERROR_RT_INVALID_HANDLE);
    done(unsafe { aclrtMemset(word, 4, 1, 4) });
    done(synchronize(stream));
    assert_eq!(words(to, 2), [2000, 2001]);
}

/// aclrtLaunchKernelWithArgsArray#03: a handle, or the address of a host function.
#[test]
fn an_array_of_arguments() {
    on(0);
    let (binary, stream) = (load(), stream());
    let registered = register_binary();
    let stub = register_kernel(registered, c"sum");
    let mut to = device_memory(64);
    let (mut one, mut two, mut three, mut four) = (1i8, 2i16, 3i32, 4i64);
    let mut array: [*mut c_void; 5] = [
        (&raw mut to).cast(),
        (&raw mut one).cast(),
        (&raw mut two).cast(),
        (&raw mut three).cast(),
        (&raw mut four).cast(),
    ];
    for func in [stub.cast_mut(), function(binary, "sum")] {
        done(unsafe { aclrtLaunchKernelWithArgsArray(func, 1, stream, null_mut(), array.as_mut_ptr()) });
        done(synchronize(stream));
        assert_eq!(words(to, 2), [10, 0]);
        done(unsafe { aclrtMemset(to, 64, 0, 64) });
    }
}

/// aclrtSetOpExecuteTimeOutV2: in a unit of the product, which is seconds here.
#[test]
fn the_operator_timeout_of_the_process_ends_a_kernel() {
    on(0);
    let (binary, stream) = (load(), stream());
    let word = device_memory(64);
    let mut actual = 0;
    done(unsafe { aclrtSetOpExecuteTimeOutV2(1, &raw mut actual) });
    done(start(function(binary, "wait"), 1, &word, stream));
    let code = unsafe { aclrtSynchronizeStreamWithTimeout(stream, 60_000) };
    assert_eq!(code, sys::ACL_ERROR_RT_AICORE_TIMEOUT);
    assert!(actual > 0);
    done(unsafe { aclrtMemset(word, 4, 1, 4) });
}

/// A name as C has it.
#[test]
fn names() {
    on(0);
    let binary = load();
    let mut name = [1i8; 8];
    let touch = function(binary, "touch");
    done(unsafe { attribute::aclrtGetFunctionName(touch, 6, name.as_mut_ptr()) });
    assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }, c"touch");
}
