//! Chapter 11-09 through the C interface, on the default product (a2): words that streams write and wait for.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use ascendcl::copy::{aclrtMemcpy, aclrtMemcpyAsync, aclrtMemset, aclrtMemsetAsync};
use ascendcl::memory::{aclrtFree, aclrtMalloc, aclrtMallocHost};
use ascendcl::value::*;
use stream_common::*;

const GEQ: u32 = sys::ACL_STREAM_WAIT_VALUE_GEQ;
const EQ: u32 = sys::ACL_STREAM_WAIT_VALUE_EQ;
const AND: u32 = sys::ACL_STREAM_WAIT_VALUE_AND;
const NOR: u32 = sys::ACL_STREAM_WAIT_VALUE_NOR;

/// `count` words of device memory, all 0.
fn words(count: usize) -> *mut c_void {
    let mut memory = null_mut();
    ok!(aclrtMalloc(&mut memory, count * 8, sys::ACL_MEM_MALLOC_HUGE_FIRST));
    ok!(aclrtMemset(memory, count * 8, 0, count * 8));
    memory
}

fn word(memory: *mut c_void, at: usize) -> *mut c_void {
    memory.wrapping_byte_add(at * 8)
}

fn read(memory: *mut c_void) -> u64 {
    let mut value = 0_u64;
    ok!(aclrtMemcpy((&raw mut value).cast(), 8, memory, 8, sys::ACL_MEMCPY_DEVICE_TO_HOST));
    value
}

fn put(memory: *mut c_void, value: u64) {
    ok!(aclrtMemcpy(memory, 8, (&raw const value).cast(), 8, sys::ACL_MEMCPY_HOST_TO_DEVICE));
}

fn done(stream: aclrtStream) -> bool {
    let mut status = 77;
    ok!(aclrtStreamQuery(stream, &mut status));
    status == sys::ACL_STREAM_STATUS_COMPLETE
}

fn sync(stream: aclrtStream) {
    ok!(aclrtSynchronizeStreamWithTimeout(stream, 20_000));
}

/// The stream is still not done after a while.
fn stays(stream: aclrtStream) {
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 15));
    assert!(!done(stream));
}

/// aclrtValueWrite#01, #03, #04, #05, #06, #09, #11, aclrtValueWait#01, #03, #04, #05, #12
#[test]
fn arguments_are_checked_in_order() {
    device(0);
    let other = context(0);
    let foreign = stream();
    ok!(aclrtSetDevice(0));
    let (dead, good) = (stream(), stream());
    ok!(aclrtDestroyStream(dead));
    let memory = words(2);
    let mut pinned = null_mut();
    ok!(aclrtMallocHost(&mut pinned, 64));
    let mut local = 0_u64;
    let host: *mut c_void = (&raw mut local).cast();
    for (call, bad_flag) in
        [(aclrtValueWrite as unsafe extern "C" fn(_, _, _, _) -> _, 1), (aclrtValueWait, 4)]
    {
        // Each call has one thing wrong more than the next.
        refused!(ACL_ERROR_INVALID_PARAM, call(null_mut(), 1, bad_flag, dead));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, call(host, 1, bad_flag, dead));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, call(memory, 1, 0, 8 as aclrtStream));
        refused!(ACL_ERROR_RT_PARAM_INVALID, call(memory, 1, bad_flag, good));
        assert!(why().contains("#04"));
        refused!(ACL_ERROR_RT_PARAM_INVALID, call(memory, 1, u32::MAX, good));
        for not_device in [host, pinned] {
            refused!(ACL_ERROR_RT_PARAM_INVALID, call(not_device, 1, 0, foreign));
            assert!(why().contains("#05"));
        }
        refused!(ACL_ERROR_RT_PARAM_INVALID, call(memory.wrapping_byte_add(4), 1, 0, foreign));
        assert!(why().contains("#06"));
        refused!(ACL_ERROR_RT_PARAM_INVALID, call(word(memory, 1 << 20), 1, 0, good));
        refused!(ACL_ERROR_RT_STREAM_CONTEXT, call(memory, 1, 0, foreign));
    }
    assert!(done(good) && done(foreign));
    assert_eq!((read(memory), local), (0, 0));
    ok!(aclrtDestroyContext(other));
}

/// aclrtValueWrite#10, aclrtValueWait#13
#[test]
fn a_thread_without_a_context() {
    let context = context(0);
    let memory = words(1);
    ok!(aclrtDestroyContext(context));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtValueWrite(memory, 1, 0, null_mut()));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtValueWait(memory, 1, 0, null_mut()));
}

/// aclrtValueWrite#07, #08, #12, aclrtValueWait#11
#[test]
fn all_64_bits_are_written_in_order() {
    device(0);
    let (memory, stream) = (words(3), stream());
    let hold = Hold::on(stream);
    ok!(aclrtMemsetAsync(memory, 24, 0x11, 24, stream));
    ok!(aclrtValueWrite(word(memory, 1), 0x0123_4567_89ab_cdef, 0, stream));
    ok!(aclrtMemcpyAsync(word(memory, 2), 8, word(memory, 1), 8, sys::ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    ok!(aclrtValueWrite(word(memory, 1), u64::MAX, 0, stream));
    hold.begun();
    // It writes when it runs, not when it is called.
    assert_eq!(read(word(memory, 1)), 0);
    hold.release();
    sync(stream);
    let before = 0x1111_1111_1111_1111;
    assert_eq!([0, 1, 2].map(|at| read(word(memory, at))), [before, u64::MAX, 0x0123_4567_89ab_cdef]);
    ok!(aclrtValueWrite(memory, 5, 0, null_mut()));
    ok!(aclrtValueWait(memory, 5, EQ, null_mut()));
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(read(memory), 5);
}

/// aclrtValueWait#06, #07, #08, #09, #10, #14
#[test]
fn each_condition_holds_the_stream_until_it_is_met() {
    device(0);
    let writer = stream();
    for (flag, value, not, met) in [
        (GEQ, 10, 9, 10),
        (GEQ, u64::MAX, u64::MAX - 1, 3),
        (EQ, 7 << 32, 7, 7 << 32),
        (EQ, 100, 101, 100),
        (AND, 1 << 63, u64::MAX >> 1, 1 << 63),
        (NOR, u64::MAX << 1, 1, 0),
    ] {
        let (memory, waiter) = (words(2), stream());
        put(memory, not);
        ok!(aclrtValueWait(memory, value, flag, waiter));
        ok!(aclrtValueWrite(word(memory, 1), 1, 0, waiter));
        stays(waiter);
        assert_eq!(read(word(memory, 1)), 0, "flag {flag}");
        ok!(aclrtValueWrite(memory, met, 0, writer));
        sync(waiter);
        assert_eq!(read(word(memory, 1)), 1, "flag {flag}");
        ok!(aclrtDestroyStream(waiter));
    }
}

/// aclrtValueWait: whoever writes the word ends the wait.
#[test]
fn every_kind_of_write_ends_a_wait() {
    device(0);
    let writer = stream();
    let five = words(1);
    put(five, 0x0505_0505_0505_0505);
    let cases: [&dyn Fn(*mut c_void); 5] = [
        &|to| put(to, 0x0505_0505_0505_0505),
        &|to| ok!(aclrtMemset(to, 8, 5, 8)),
        &|to| ok!(aclrtMemsetAsync(to, 8, 5, 8, writer)),
        &|to| ok!(aclrtMemcpyAsync(to, 8, five, 8, sys::ACL_MEMCPY_DEVICE_TO_DEVICE, writer)),
        &|to| {
            let to = Sent(to);
            let other = move || {
                device(0);
                put(to.get(), 0x0505_0505_0505_0505);
            };
            std::thread::spawn(other).join().unwrap();
        },
    ];
    for write in cases {
        let (memory, waiter) = (words(1), stream());
        ok!(aclrtValueWait(memory, 0x0505_0505_0505_0505, EQ, waiter));
        stays(waiter);
        write(memory);
        sync(waiter);
        ok!(aclrtDestroyStream(waiter));
    }
}

/// What the writer did before is seen behind the wait, many times over.
#[test]
fn streams_pass_data_on() {
    device(0);
    let (flags, data, ping, pong) = (words(2), words(2), stream(), stream());
    for round in 1..=500_u64 {
        ok!(aclrtMemcpyAsync(word(data, 1), 8, data, 8, sys::ACL_MEMCPY_DEVICE_TO_DEVICE, ping));
        ok!(aclrtValueWrite(flags, round, 0, ping));
        ok!(aclrtValueWait(word(flags, 1), round, GEQ, ping));
        ok!(aclrtValueWait(flags, round, GEQ, pong));
        ok!(aclrtValueWrite(data, round, 0, pong));
        ok!(aclrtValueWrite(word(flags, 1), round, 0, pong));
    }
    sync(ping);
    sync(pong);
    assert_eq!((read(data), read(word(data, 1))), (500, 499));
}

/// A wait that nobody ends: aclrtStreamAbort, aclrtDestroyStreamForce, aclrtResetDeviceForce.
#[test]
fn waits_without_an_end_can_be_ended() {
    device(1);
    let memory = words(1);
    let aborted = stream();
    ok!(aclrtValueWait(memory, 9, EQ, aborted));
    stays(aborted);
    ok!(aclrtStreamAbort(aborted));
    refused!(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(aborted));
    ok!(aclrtDestroyStream(aborted));
    let forced = stream();
    ok!(aclrtValueWait(memory, 9, EQ, forced));
    ok!(aclrtValueWrite(memory, 1, 0, forced));
    let begin = Instant::now();
    ok!(aclrtDestroyStreamForce(forced));
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(read(memory), 0);
    let reset = stream();
    ok!(aclrtValueWait(memory, 9, EQ, reset));
    stays(reset);
    ok!(aclrtResetDeviceForce(1));
}

/// ours: a word whose memory was freed is no longer waited for by chance; freed memory stays mapped, so the wait goes on.
#[test]
fn freed_memory_under_a_wait() {
    device(0);
    let (memory, waiter) = (words(1), stream());
    ok!(aclrtValueWait(memory, u64::MAX, EQ, waiter));
    stays(waiter);
    ok!(aclrtFree(memory));
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiter, 15));
    ok!(aclrtDestroyStreamForce(waiter));
}

/// aclrtValueWait does not hold back a host thread that waits for another stream, nor workers.
#[test]
fn parked_streams_cost_no_thread() {
    device(0);
    let memory = words(64);
    let waiters: Vec<_> = (0..64).map(|_| stream()).collect();
    for (at, waiter) in waiters.iter().enumerate() {
        ok!(aclrtValueWait(word(memory, at), 1, EQ, *waiter));
    }
    let free = stream();
    let log = Log::default();
    (0..100).for_each(|number| log.task(free, number));
    sync(free);
    assert_eq!(log.get(), (0..100).collect::<Vec<_>>());
    for (at, waiter) in waiters.iter().enumerate() {
        assert!(!done(*waiter));
        ok!(aclrtValueWrite(word(memory, at), 1, 0, free));
        sync(*waiter);
    }
}
