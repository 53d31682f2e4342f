//! Fills: aclrtMemset, aclrtMemsetAsync, aclrtMemsetD32, aclrtMemsetD32Async.

mod copy_support;

use std::ptr::null_mut;

use ascendcl::context::aclrtCreateContext;
use ascendcl::copy::*;
use copy_support::*;

fn memset(to: Ptr, max: usize, value: i32, count: usize) -> i32 {
    // SAFETY: the call checks its addresses.
    unsafe { aclrtMemset(to, max, value, count) }
}

fn memset_async(to: Ptr, max: usize, value: i32, count: usize, stream: aclrtStream) -> i32 {
    // SAFETY: the call checks its addresses; the memory outlives the task.
    unsafe { aclrtMemsetAsync(to, max, value, count, stream) }
}

fn d32(to: Ptr, size: usize, value: u32, count: usize) -> i32 {
    // SAFETY: the call checks its addresses.
    unsafe { aclrtMemsetD32(to, size, value, count) }
}

fn d32_async(to: Ptr, size: usize, value: u32, count: usize, stream: aclrtStream) -> i32 {
    // SAFETY: the call checks its addresses; the memory outlives the task.
    unsafe { aclrtMemsetD32Async(to, size, value, count, stream) }
}

fn page(size: usize) -> Ptr {
    Box::leak(vec![1u64; size / 8].into_boxed_slice()).as_mut_ptr().cast()
}

/// aclrtMemset#04, #05, #06
#[test]
fn bytes_are_set_on_the_host_and_on_a_device() {
    device(0);
    for to in [device_memory(64, 1), pinned_memory(64, 1), page(64)] {
        assert_eq!(memset(to, 64, 1, 64), 0);
        assert_eq!(memset(at(to, 3), 61, 0x1234_56f7, 10), 0, "{}", said());
        let mut want = [1u8; 64];
        want[3..13].fill(0xf7);
        assert_eq!(get(to, 64), want);
    }
}

#[test]
fn arguments_of_memset_are_checked_in_order() {
    let stream = device(0);
    let block = device_memory(64, 1);
    let dead = 0x55 as aclrtStream;
    // aclrtMemset#01, aclrtMemsetAsync#01
    assert_eq!(memset(null_mut(), 0, 0, 0), 0);
    assert_eq!(memset_async(null_mut(), 0, 0, 0, dead), 0);
    refused(memset(null_mut(), 0, 0, 1), ACL_ERROR_INVALID_PARAM, "aclrtMemset#02");
    refused(memset_async(null_mut(), 0, 0, 1, dead), ACL_ERROR_INVALID_PARAM, "aclrtMemsetAsync#02");
    refused(memset(block, 63, 0, 64), ACL_ERROR_RT_PARAM_INVALID, "aclrtMemset#03");
    refused(memset_async(block, 63, 0, 64, dead), ACL_ERROR_RT_INVALID_HANDLE, "*#01");
    refused(memset_async(block, 63, 0, 64, stream), ACL_ERROR_RT_PARAM_INVALID, "aclrtMemsetAsync#03");
    for len in [97, 1 << 63, usize::MAX] {
        refused(memset(block, len, 0, len), ACL_ERROR_RT_PARAM_INVALID, "ours: both ends");
        refused(memset_async(block, len, 0, len, stream), ACL_ERROR_RT_PARAM_INVALID, "ours: both ends");
    }
    refused(memset(0x1000 as Ptr, 1, 0, 1), ACL_ERROR_RT_PARAM_INVALID, "ours: memory that is not there");
    assert_eq!(get(block, 64), [1; 64]);
    let (block, stream) = (block as usize, stream as usize);
    std::thread::spawn(move || {
        let (block, stream) = (block as Ptr, stream as aclrtStream);
        refused(memset(block, 64, 0, 64), ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        refused(memset_async(block, 64, 0, 64, stream), ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        refused(d32(block, 64, 0, 16), ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        let mut context = null_mut();
        // SAFETY: a local.
        assert_eq!(unsafe { aclrtCreateContext(&mut context, 0) }, 0);
        refused(memset_async(block, 64, 0, 64, stream), ACL_ERROR_RT_STREAM_CONTEXT, "aclrtMemsetAsync#07");
    })
    .join()
    .unwrap();
}

/// aclrtMemsetAsync#05, #06, aclrtMemsetD32Async#09, #10
#[test]
fn fills_of_device_memory_run_in_stream_order() {
    let stream = device(1);
    let block = device_memory(64, 1);
    let host = pinned_memory(64, 1);
    let gate = Gate::shut(stream);
    assert_eq!(memset_async(block, 64, 2, 64, stream), 0);
    assert_eq!(memset_async(host, 64, 3, 64, null_mut()), 0);
    assert_eq!(d32_async(at(block, 8), 56, 0x0403_0201, 2, null_mut()), 0);
    // Host memory: at once, past the stream.
    assert_eq!(d32_async(at(host, 4), 60, 0x0807_0605, 1, stream), 0);
    assert_eq!(get(block, 64), [1; 64]);
    let mut want = [1; 64];
    want[4..8].copy_from_slice(&[5, 6, 7, 8]);
    assert_eq!(get(host, 64), want);
    gate.open();
    finish(stream);
    let mut want = [2; 64];
    want[8..16].copy_from_slice(&[1, 2, 3, 4, 1, 2, 3, 4]);
    assert_eq!(get(block, 64), want);
    assert_eq!(get(host, 64), [3; 64]);
    assert_eq!(failure(stream), 0);
}

#[test]
fn words_are_checked_and_set() {
    let stream = device(2);
    let (block, host, pageable) = (device_memory(64, 1), pinned_memory(64, 1), page(64));
    let dead = 0x55 as aclrtStream;
    // aclrtMemsetD32#01, aclrtMemsetD32Async#01
    assert_eq!(d32(null_mut(), 0, 0, 0), 0);
    assert_eq!(d32_async(null_mut(), 0, 0, 0, dead), 0);
    let both = |to, size, count, rule| {
        refused(d32(to, size, 7, count), ACL_ERROR_INVALID_PARAM, rule);
        refused(d32_async(to, size, 7, count, stream), ACL_ERROR_INVALID_PARAM, rule);
    };
    both(null_mut(), 64, 1, "aclrtMemsetD32#02");
    for offset in 1..4 {
        both(at(block, offset), 60, 1, "aclrtMemsetD32#03");
    }
    both(block, 63, 16, "aclrtMemsetD32#04");
    // aclrtMemsetD32#05: the product overflows to 0, to 4, and to a small number.
    for count in [1 << 62, (1 << 62) + 1, usize::MAX / 4 + 2, usize::MAX] {
        both(block, usize::MAX, count, "aclrtMemsetD32#04, #05");
    }
    both(pageable, 64, 16, "aclrtMemsetD32#06");
    both(0x1000 as Ptr, 64, 16, "aclrtMemsetD32#06");
    refused(d32(block, 1000, 7, 25), ACL_ERROR_RT_PARAM_INVALID, "ours: both ends");
    refused(d32_async(block, 64, 7, 16, dead), ACL_ERROR_RT_INVALID_HANDLE, "*#01");
    for to in [block, host] {
        assert_eq!(get(to, 64), [1; 64]);
        assert_eq!(d32(at(to, 4), 60, 0xfffe_fdfc, 3), 0);
        let mut want = [1; 64];
        want[4..16].copy_from_slice(&[0xfc, 0xfd, 0xfe, 0xff].repeat(3));
        assert_eq!(get(to, 64), want);
    }
}

/// *#01, *#02
#[test]
fn a_dead_stream_is_told_between_the_layers() {
    let stream = device(0);
    let p = device_memory(64, 1);
    let dead = 16 as aclrtStream;
    // aclrtMemsetD32Async#03: the entry layer first.
    assert_eq!(d32_async(at(p, 1), 64, 0, 1, dead), ACL_ERROR_INVALID_PARAM);
    // *#01: then the stream, and only then a range that leaves its block.
    assert_eq!(d32_async(p, 4096, 0, 1024, dead), ACL_ERROR_RT_INVALID_HANDLE);
    assert_eq!(d32_async(p, 4096, 0, 1024, stream), ACL_ERROR_RT_PARAM_INVALID);
}

/// A fill of memory that is not there fails the stream, not the process.
#[test]
fn an_unmapped_fill_fails_its_stream() {
    let stream = device(3);
    assert_eq!(memset_async(0x1000 as Ptr, 64, 0, 64, stream), 0);
    assert_eq!(failure(stream), ACL_ERROR_RT_SYS_DMA);
}
