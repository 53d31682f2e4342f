//! Copies in one piece: aclrtMemcpy, aclrtMemcpyAsync, aclrtMemcpyAsyncWithCondition, on the default target (generation 9, EP).

#[macro_use]
mod copy_support;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ascendcl::context::{aclrtCreateContext, aclrtCtxGetCurrentDefaultStream, aclrtSetCurrentContext};
use ascendcl::copy::*;
use ascendcl::device::aclrtDeviceEnablePeerAccess;
use ascendcl::memory::*;
use ascendcl::stream::{aclrtCreateStreamWithConfig, aclrtStreamAbort};
use copy_support::*;

const H2H: u32 = ACL_MEMCPY_HOST_TO_HOST;
const H2D: u32 = ACL_MEMCPY_HOST_TO_DEVICE;
const D2H: u32 = ACL_MEMCPY_DEVICE_TO_HOST;
const D2D: u32 = ACL_MEMCPY_DEVICE_TO_DEVICE;
const DEFAULT: u32 = ACL_MEMCPY_DEFAULT;
const BUFFERED: u32 = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;

fn memcpy(dst: Ptr, max: usize, src: Ptr, count: usize, kind: u32) -> i32 {
    // SAFETY: the call checks its addresses.
    unsafe { aclrtMemcpy(dst, max, src, count, kind) }
}

fn memcpy_async(dst: Ptr, max: usize, src: Ptr, count: usize, kind: u32, stream: aclrtStream) -> i32 {
    // SAFETY: the call checks its addresses; the memory outlives the task.
    unsafe { aclrtMemcpyAsync(dst, max, src, count, kind, stream) }
}

/// aclrtMemcpy#08, #13, #14: every pair of places, whatever the kind says.
#[test]
fn every_direction_copies_under_every_kind() {
    device(0);
    let places: [fn(usize, u8) -> Ptr; 3] = [device_memory, pinned_memory, |size, byte| {
        Box::leak(vec![byte; size].into_boxed_slice()).as_mut_ptr().cast()
    }];
    for (n, from) in places.iter().enumerate() {
        for (m, to) in places.iter().enumerate() {
            for kind in [H2H, H2D, D2H, D2D, DEFAULT, BUFFERED] {
                let (src, dst) = (from(300, 7), to(300, 1));
                put(at(src, 100), &[9; 50]);
                assert_eq!(memcpy(at(dst, 3), 200, at(src, 90), 100, kind), 0, "{n} to {m}: {}", said());
                let mut want = vec![1; 300];
                want[3..103].fill(7);
                want[13..63].fill(9);
                assert_eq!(get(dst, 300), want, "{n} to {m}, kind {kind}");
            }
        }
    }
}

#[test]
fn arguments_of_the_synchronous_copy_are_checked_in_order() {
    device(0);
    let (dst, src) = (device_memory(64, 1), device_memory(64, 2));
    // aclrtMemcpy#01
    assert_eq!(memcpy(null_mut(), 0, null_mut(), 0, 99), 0);
    refused(memcpy(null_mut(), 0, null_mut(), 1, 99), ACL_ERROR_INVALID_PARAM, "aclrtMemcpy#02");
    refused(memcpy(dst, 0, null_mut(), 1, 99), ACL_ERROR_INVALID_PARAM, "aclrtMemcpy#03");
    for kind in [6, 7, 99, u32::MAX] {
        refused(memcpy(dst, 0, src, 1, kind), ACL_ERROR_INVALID_PARAM, "aclrtMemcpy#04");
    }
    refused(memcpy(dst, 63, src, 64, D2D), ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy#05");
    refused(memcpy(dst, 0, src, 64, D2D), ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy#06");
    assert_eq!(get(dst, 64), [1; 64]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (dst, src) = (0x10_0000 as Ptr, 0x20_0000 as Ptr);
            // aclrtMemcpy#07 comes before aclrtMemcpy#11
            assert_eq!(memcpy(dst, 64, dst, 64, D2D), 0);
            refused(memcpy(dst, 64, src, 64, D2D), ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        });
    });
}

#[test]
fn ranges_are_checked_at_both_ends() {
    let stream = device(0);
    // 100 bytes: 128 and 32 of padding may be touched (aclrtMalloc#09).
    let (block, host) = (device_memory(100, 5), pinned_memory(1 << 12, 0));
    let rule = "ours: both ends";
    let refuse = |dst, src, count| {
        refused(memcpy(dst, usize::MAX, src, count, DEFAULT), ACL_ERROR_RT_PARAM_INVALID, rule);
        let code = memcpy_async(dst, usize::MAX, src, count, DEFAULT, stream);
        refused(code, ACL_ERROR_RT_PARAM_INVALID, rule);
    };
    assert_eq!(memcpy(host, 4096, block, 160, DEFAULT), 0);
    refuse(host, block, 161);
    refuse(block, host, 161);
    refuse(at(block, 159), host, 2);
    refuse(block, host, 1 << 63);
    refuse(block, host, usize::MAX);
    refuse(block, at(host, 4095), 2);
    assert_eq!(memcpy(host, 4096, at(block, 8), 161, DEFAULT), ACL_ERROR_RT_PARAM_INVALID);
    let text = said();
    assert!(text.contains("9 bytes past the end"), "{text}");
    assert!(
        text.contains("memory of device 0, offset 8 in a block of 100 bytes (160 with padding)"),
        "{text}"
    );
    // Behind the block, before any, and freed.
    refuse(at(block, 160), host, 1);
    // SAFETY: a block of this test.
    unsafe { assert_eq!(aclrtFree(block), 0) };
    refuse(host, block, 1);
    assert_eq!(memcpy(host, 4096, block, 1, DEFAULT), ACL_ERROR_RT_PARAM_INVALID);
    assert!(said().contains("freed already"), "{}", said());
}

/// ours: freed pinned memory is host memory for calls that are done before they return, but no range leads through it into a
/// block: at its end, or in its middle.
#[test]
fn freed_pinned_memory_ends_where_a_block_begins() {
    const SIZE: usize = 1 << 20;
    device(0);
    let mut blocks: Vec<Ptr> = (0..32).map(|n| pinned_memory(SIZE, n)).collect();
    blocks.sort();
    let beside = |w: &&[Ptr]| w[1] == at(w[0], SIZE) && w[2] == at(w[0], 2 * SIZE);
    let [a, b, c] = *blocks.windows(3).find(beside).unwrap() else { unreachable!() };
    let (kept, host) = (get(b, SIZE), pinned_memory(3 * SIZE, 77));
    let free = |block| acl! { assert_eq!(aclrtFreeHost(block), 0) };
    let no = |code| refused(code, ACL_ERROR_RT_PARAM_INVALID, "ours: both ends");
    let refuse = |addr, len| {
        no(memcpy(host, len, addr, len, DEFAULT));
        no(memcpy(addr, len, host, len, DEFAULT));
        no(acl! { aclrtMemset(addr, len, 9, len) });
    };
    let accept = |addr, len| {
        assert_eq!(memcpy(host, len, addr, len, DEFAULT), 0, "{}", said());
        assert_eq!(memcpy(addr, len, host, len, DEFAULT), 0, "{}", said());
    };
    free(a);
    free(c);
    accept(a, SIZE);
    refuse(a, SIZE + 1);
    refuse(at(a, SIZE - 1), 2);
    refuse(a, 3 * SIZE);
    // A live block does not lead into freed memory either.
    refuse(b, SIZE + 1);
    assert_eq!(get(b, SIZE), kept);
    free(b);
    accept(a, 3 * SIZE);
}

#[test]
fn unmapped_host_memory_is_a_code() {
    let stream = device(0);
    let block = device_memory(64, 5);
    for bad in [1usize, 0x1000, 0x7fff_ffff_f000, 1 << 47, 1 << 63, usize::MAX - 70] {
        let bad = bad as Ptr;
        refused(
            memcpy(bad, 64, block, 64, D2H),
            ACL_ERROR_RT_PARAM_INVALID,
            "ours: memory that is not there",
        );
        refused(
            memcpy(block, 64, bad, 64, H2D),
            ACL_ERROR_RT_PARAM_INVALID,
            "ours: memory that is not there",
        );
        // Pageable: the copy is made before the call returns.
        refused(
            memcpy_async(block, 64, bad, 64, H2D, stream),
            ACL_ERROR_RT_PARAM_INVALID,
            "ours: memory that is not there",
        );
    }
    assert_eq!(failure(stream), 0);
    assert_eq!(get(block, 64), [5; 64]);
}

/// aclrtMemcpy#09
#[test]
fn the_synchronous_copy_waits_for_no_stream() {
    let stream = device(1);
    let (a, b) = (device_memory(64, 1), device_memory(64, 2));
    let gate = Gate::shut(stream);
    assert_eq!(memcpy_async(b, 64, a, 64, D2D, stream), 0);
    assert_eq!(get(b, 64), [2; 64]);
    gate.open();
    finish(stream);
    assert_eq!(get(b, 64), [1; 64]);
}

/// aclrtMemcpy#10, aclrtMemcpyAsync#30: from the device that copies to the other one.
#[test]
fn copies_between_devices_need_peer_access() {
    on(&[], "copies_between_devices_need_peer_access", || {
        let stream = device(2);
        let here = device_memory(64, 1);
        let there = std::thread::spawn(|| {
            device(3);
            device_memory(64, 2) as usize
        });
        let there = there.join().unwrap() as Ptr;
        refused(memcpy(here, 64, there, 64, D2D), ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy#10");
        refused(memcpy(there, 64, here, 64, D2D), ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy#10");
        let code = memcpy_async(here, 64, there, 64, D2D, stream);
        refused(code, ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpyAsync#30");
        assert_eq!(get(here, 64), [1; 64]);
        // SAFETY: plain values.
        assert_eq!(unsafe { aclrtDeviceEnablePeerAccess(3, 0) }, 0, "{}", said());
        assert_eq!(memcpy(here, 32, there, 32, D2D), 0, "{}", said());
        assert_eq!(memcpy_async(at(there, 32), 32, at(here, 32), 32, D2D, stream), 0, "{}", said());
        finish(stream);
        assert_eq!(
            (get(here, 64), get(there, 64)),
            ([[2; 32], [1; 32]].concat(), [[2; 32], [1; 32]].concat())
        );
        // One way only: device 3 has no access to device 2.
        let (here, there) = (here as usize, there as usize);
        std::thread::spawn(move || {
            device(3);
            let code = memcpy(there as Ptr, 64, here as Ptr, 64, D2D);
            refused(code, ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy#10");
        })
        .join()
        .unwrap();
    });
}

/// ours: pageable memory would wait for tasks that are kept, not run.
#[test]
fn a_persistent_stream_takes_no_pageable_memory() {
    device(6);
    let (a, p) = (device_memory(64, 1), pinned_memory(64, 2));
    let mut stream = null_mut();
    // SAFETY: a local.
    let code = unsafe { aclrtCreateStreamWithConfig(&mut stream, 0, ACL_STREAM_PERSISTENT) };
    assert_eq!(code, 0, "{}", said());
    assert_eq!(memcpy_async(a, 64, p, 64, H2D, stream), 0, "{}", said());
    let mut page = [0u8; 64];
    let code = memcpy_async(page.as_mut_ptr().cast(), 64, a, 64, D2H, stream);
    refused(code, ACL_ERROR_RT_PARAM_INVALID, "ours: as aclrtMemcpyAsync#15");
    // Nor does freeing wait for it.
    // SAFETY: a block of this test.
    assert_eq!(unsafe { aclrtFreeWithDevSync(a) }, 0, "{}", said());
}

/// aclrtStreamAbort#04: an aborted stream takes no tasks.
#[test]
fn an_aborted_stream_takes_no_copies() {
    let stream = device(6);
    let (a, b) = (device_memory(64, 1), device_memory(64, 2));
    // SAFETY: a live stream.
    assert_eq!(unsafe { aclrtStreamAbort(stream) }, 0, "{}", said());
    let code = memcpy_async(a, 64, b, 64, D2D, stream);
    refused(code, ACL_ERROR_RT_STREAM_ABORT, "aclrtStreamAbort");
    assert_eq!(get(a, 64), [1; 64]);
}

/// aclrtMemcpyAsync#11: source and destination are touched when the task executes.
#[test]
fn pinned_memory_is_read_at_execution() {
    let stream = device(1);
    let (block, host) = (device_memory(64, 1), pinned_memory(64, 2));
    let gate = Gate::shut(stream);
    assert_eq!(memcpy_async(block, 64, host, 64, H2D, stream), 0);
    put(host, &[3; 64]);
    assert_eq!(get(block, 64), [1; 64]);
    gate.open();
    finish(stream);
    assert_eq!(get(block, 64), [3; 64]);
    // aclrtMemcpyAsync#19: this one is not.
    let gate = Gate::shut(stream);
    assert_eq!(memcpy_async(block, 64, host, 64, BUFFERED, stream), 0);
    put(host, &[4; 64]);
    assert_eq!(get(block, 64), [3; 64]);
    gate.open();
    finish(stream);
    assert_eq!(get(block, 64), [3; 64]);
    assert_eq!(failure(stream), 0);
}

/// aclrtMemcpyAsync#12, #13, aclrtMemcpyAsyncWithCondition#08: the stream's earlier work first, then the copy, then the return.
#[test]
fn pageable_memory_is_copied_after_the_stream_and_before_the_return() {
    let stream = device(4);
    let block = device_memory(64, 1);
    let pinned = pinned_memory(64, 2);
    for condition in [false, true] {
        let mut page = vec![0u8; 64];
        let gate = Gate::shut(stream);
        assert_eq!(memcpy_async(block, 64, pinned, 64, H2D, stream), 0);
        let opened = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                opened.store(true, Ordering::SeqCst);
                gate.open();
            });
            let (to, kind) = (page.as_mut_ptr().cast(), D2H);
            let code = if condition {
                // SAFETY: `page` is this test's own.
                unsafe { aclrtMemcpyAsyncWithCondition(to, 64, block, 64, kind, stream) }
            } else {
                memcpy_async(to, 64, block, 64, kind, stream)
            };
            assert_eq!(code, 0, "{}", said());
            assert!(opened.load(Ordering::SeqCst));
        });
        assert_eq!(page, [2; 64]);
        put(block, &[1; 64]);
    }
}

/// ours: the call returns the failure of the stream it waited for, copies nothing, and leaves the failure to the stream.
#[test]
fn a_failed_stream_is_told_by_the_pageable_copy() {
    let stream = device(5);
    let block = device_memory(64, 1);
    // SAFETY: nothing is at the address; the task fails.
    let code = unsafe { aclrtMemsetAsync(0x1000 as Ptr, 64, 0, 64, stream) };
    assert_eq!(code, 0, "{}", said());
    let mut page = vec![9u8; 64];
    let code = memcpy_async(page.as_mut_ptr().cast(), 64, block, 64, D2H, stream);
    refused(code, ACL_ERROR_RT_SYS_DMA, "aclrtMemcpyAsync#13");
    assert_eq!(page, [9; 64]);
    assert_eq!(failure(stream), ACL_ERROR_RT_SYS_DMA);
}

/// aclrtMemcpyAsync#07, #08, #16 to #18: what each kind does with each pair of places.
#[test]
fn kinds_and_places_of_the_asynchronous_copy() {
    let stream = device(6);
    let (a, b) = (device_memory(64, 0), device_memory(64, 0));
    let (p, q) = (pinned_memory(64, 0), pinned_memory(64, 0));
    let (mut u, mut v) = (vec![0u8; 64], vec![0u8; 64]);
    let (u, v) = (u.as_mut_ptr().cast(), v.as_mut_ptr().cast());
    const OK: i32 = 0;
    const HH: i32 = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    const NO: i32 = ACL_ERROR_RT_PARAM_INVALID;
    //                          H2H H2D D2H D2D DEF BUF
    let table: [(&str, Ptr, Ptr, [i32; 6], &str); 9] = [
        ("device device", a, b, [HH, OK, OK, OK, OK, OK], ""),
        ("pinned device", a, p, [HH, OK, OK, OK, OK, OK], ""),
        ("device pinned", p, a, [HH, OK, OK, OK, OK, OK], ""),
        ("pageable device", a, u, [HH, OK, NO, OK, OK, OK], "aclrtMemcpyAsync#17"),
        ("device pageable", u, a, [HH, NO, OK, OK, OK, NO], "aclrtMemcpyAsync#18"),
        ("pinned pinned", q, p, [HH; 6], "#08"),
        ("pinned pageable", u, p, [HH; 6], "#08"),
        ("pageable pinned", p, u, [HH; 6], "#08"),
        ("pageable pageable", v, u, [HH; 6], "#08"),
    ];
    for (pair, dst, src, codes, rule) in table {
        for (kind, want) in (0..).zip(codes) {
            let value = 10 + kind as u8;
            put(src, &[value; 64]);
            put(dst, &[1; 64]);
            let code = memcpy_async(dst, 64, src, 64, kind, stream);
            let text = said();
            assert_eq!(code, want, "{pair}, kind {kind}: {text}");
            if code == NO || (code == HH && kind != H2H) {
                assert!(text.contains(rule), "{pair}, kind {kind}: {text}");
            }
            if code == HH && kind == H2H {
                assert!(text.contains("aclrtMemcpyAsync#07"), "{pair}: {text}");
            }
            finish(stream);
            let byte = if code == OK { value } else { 1 };
            assert_eq!(get(dst, 64), [byte; 64], "{pair}, kind {kind}");
        }
    }
    // aclrtMemcpyAsync#06: after the host-to-host check
    assert_eq!(memcpy_async(a, 64, a, 64, D2H, stream), 0);
    assert_eq!(memcpy_async(p, 64, p, 64, D2H, stream), HH);
    // aclrtMemcpyAsyncWithCondition#06
    // SAFETY: blocks of this test.
    let code = unsafe { aclrtMemcpyAsyncWithCondition(a, 64, p, 64, H2H, stream) };
    refused(code, HH, "aclrtMemcpyAsyncWithCondition#06");
}

#[test]
fn arguments_of_the_asynchronous_copy_are_checked_in_order() {
    let stream = device(7);
    let (a, b) = (device_memory(128, 1), device_memory(128, 2));
    let dead = 0x1234 as aclrtStream;
    // aclrtMemcpyAsync#01
    assert_eq!(memcpy_async(null_mut(), 0, null_mut(), 0, 99, dead), 0);
    refused(
        memcpy_async(null_mut(), 0, null_mut(), 1, 99, dead),
        ACL_ERROR_INVALID_PARAM,
        "aclrtMemcpyAsync#02",
    );
    refused(memcpy_async(a, 0, null_mut(), 1, 99, dead), ACL_ERROR_INVALID_PARAM, "aclrtMemcpyAsync#03");
    for kind in [6, 7, 99, u32::MAX] {
        refused(memcpy_async(a, 0, b, 1, kind, dead), ACL_ERROR_INVALID_PARAM, "aclrtMemcpyAsync#04");
    }
    refused(memcpy_async(a, 0, b, 1, H2H, dead), ACL_ERROR_RT_INVALID_HANDLE, "*#01");
    refused(memcpy_async(a, 63, b, 64, H2H, stream), ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpyAsync#05");
    // aclrtMemcpyAsync#26: no alignment in this generation.
    assert_eq!(memcpy_async(at(a, 1), 127, at(b, 3), 5, D2D, stream), 0);
    // aclrtMemcpyAsync#21
    assert_eq!(memcpy_async(at(a, 10), 118, b, 5, D2D, null_mut()), 0);
    finish(stream);
    let mut want = [1u8; 128];
    want[1..6].fill(2);
    want[10..15].fill(2);
    assert_eq!(get(a, 128), want);
    let (a, b, stream) = (a as usize, b as usize, stream as usize);
    std::thread::spawn(move || {
        let (a, b, stream) = (a as Ptr, b as Ptr, stream as aclrtStream);
        // aclrtMemcpyAsync#22
        for stream in [stream, null_mut()] {
            refused(memcpy_async(a, 64, b, 64, D2D, stream), ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        }
        let mut context = null_mut();
        // SAFETY: a local.
        assert_eq!(unsafe { aclrtCreateContext(&mut context, 7) }, 0);
        refused(memcpy_async(a, 64, b, 64, D2D, stream), ACL_ERROR_RT_STREAM_CONTEXT, "aclrtMemcpyAsync#23");
    })
    .join()
    .unwrap();
}

/// A task whose memory was freed meanwhile touches what is there now, and nothing else happens.
#[test]
fn memory_may_be_freed_under_a_task() {
    let stream = device(5);
    let (a, b) = (device_memory(1 << 20, 1), device_memory(1 << 20, 2));
    let p = pinned_memory(1 << 16, 3);
    let gate = Gate::shut(stream);
    assert_eq!(memcpy_async(a, 1 << 20, b, 1 << 20, D2D, stream), 0);
    assert_eq!(memcpy_async(a, 1 << 16, p, 1 << 16, H2D, stream), 0);
    // SAFETY: blocks of this test. aclrtFree#03, aclrtFreeHost#02: nothing is waited for.
    unsafe {
        assert_eq!(aclrtFree(a), 0);
        assert_eq!(aclrtFree(b), 0);
        assert_eq!(aclrtFreeHost(p), 0);
    }
    gate.open();
    finish(stream);
    assert_eq!(failure(stream), 0);
}

/// Every stream keeps its own order; contexts of one device share its memory.
#[test]
fn contexts_of_a_device_share_its_memory() {
    device(1);
    let a = device_memory(64, 1);
    let (mut context, mut stream) = (null_mut(), null_mut());
    let p = pinned_memory(64, 4);
    // SAFETY: locals.
    unsafe {
        assert_eq!(aclrtCreateContext(&mut context, 1), 0);
        assert_eq!(aclrtSetCurrentContext(context), 0);
        assert_eq!(aclrtCtxGetCurrentDefaultStream(&mut stream), 0);
    }
    assert_eq!(memcpy_async(a, 64, p, 64, H2D, stream), 0);
    finish(stream);
    assert_eq!(get(a, 64), [4; 64]);
}
