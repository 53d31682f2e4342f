//! Chapter 06 through the C interface, on the default product (a2).
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::collections::HashSet;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::Mutex;

use stream_common::*;

/// aclrtCreateStream#01, #08, aclrtCreateStreamWithConfig#01
#[test]
fn creating_needs_a_place_and_a_context() {
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamWithConfig(null_mut(), 0, 0));
    let mut stream = null_mut();
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&mut stream));
    assert!(stream.is_null());
    device(0);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(16 as *mut aclrtStream));
}

/// aclrtCreateStreamWithConfig#03, #04, aclrtStreamGetPriority#01, #03, aclrtCreateStream#02
#[test]
fn priorities_are_clamped() {
    device(0);
    for (given, kept) in [(0, 0), (3, 3), (7, 7), (8, 7), (i32::MAX as u32, 7), (1 << 31, 0), (u32::MAX, 0)] {
        let stream = stream_with(given, 0);
        let mut priority = 99;
        ok!(aclrtStreamGetPriority(stream, &mut priority));
        assert_eq!(priority, kept, "given {given:#x}");
        ok!(aclrtDestroyStream(stream));
    }
    let mut stream = null_mut();
    ok!(aclrtCreateStream(&mut stream));
    let mut priority = 99;
    ok!(aclrtStreamGetPriority(stream, &mut priority));
    assert_eq!(priority, 0);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtStreamGetPriority(stream, null_mut()));
    ok!(aclrtDestroyStream(stream));
    let (mut least, mut greatest) = (99, 99);
    // aclrtDeviceGetStreamPriorityRange#01, #02
    ok!(aclrtDeviceGetStreamPriorityRange(&mut least, &mut greatest));
    assert_eq!((least, greatest), (7, 0));
    ok!(aclrtDeviceGetStreamPriorityRange(null_mut(), null_mut()));
    ok!(aclrtDeviceGetStreamPriorityRange(&mut least, null_mut()));
}

/// aclrtCreateStreamWithConfig#06, #07, #08, #10, aclrtStreamGetFlags#01, #03
#[test]
fn flags_that_count_are_kept() {
    device(0);
    let sync = sys::ACL_STREAM_FAST_SYNC | sys::ACL_STREAM_FAST_LAUNCH;
    for (given, kept) in [
        (0, 0),
        (sync, sync),
        (sync | 0x8000_0040, sync),
        (sys::ACL_STREAM_HUGE, sys::ACL_STREAM_HUGE),
        (sys::ACL_STREAM_DEVICE_USE_ONLY | 0x100, sys::ACL_STREAM_DEVICE_USE_ONLY),
    ] {
        let stream = stream_with(0, given);
        let mut flags = 99;
        ok!(aclrtStreamGetFlags(stream, &mut flags));
        assert_eq!(flags, kept, "given {given:#x}");
        ok!(aclrtDestroyStream(stream));
    }
    let mut stream = null_mut();
    let both = sys::ACL_STREAM_DEVICE_USE_ONLY | sys::ACL_STREAM_FAST_SYNC;
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateStreamWithConfig(&mut stream, 0, both));
    assert!(stream.is_null());
    let mut flags = 99;
    ok!(aclrtStreamGetFlags(null_mut(), &mut flags));
    assert_eq!(flags, 0);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtStreamGetFlags(null_mut(), null_mut()));
}

/// aclrtDestroyStream#01, #02, #04, *#01; ours: default streams stay
#[test]
fn destroying_waits_and_checks() {
    device(0);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtDestroyStreamForce(null_mut()));
    let stream = stream();
    let log = Log::default();
    let hold = Hold::on(stream);
    log.task(stream, 1);
    hold.begun();
    let sent = Sent(stream);
    let destroyer = std::thread::spawn(move || {
        device(0);
        ok!(aclrtDestroyStream(sent.get()));
    });
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(!destroyer.is_finished());
    hold.release();
    destroyer.join().unwrap();
    assert_eq!(log.get(), [1]);
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(stream));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStreamForce(stream));

    let mut default = null_mut();
    ok!(aclrtCtxGetCurrentDefaultStream(&mut default));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyStream(default));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyStreamForce(default));
    ok!(aclrtSynchronizeStream(default));
}

/// aclrtDestroyStream#04, aclrtDestroyStreamForce#03, aclrtSetStreamFailureMode#10, aclrtSynchronizeStream#04
#[test]
fn streams_of_other_contexts() {
    device(0);
    let here = stream();
    let other = context(0);
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStream(here));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStreamForce(here));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetStreamFailureMode(here, 1));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtPersistentTaskClean(here));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtLaunchHostFunc(here, closure(|| {}).0, null_mut()));
    ok!(aclrtSynchronizeStream(here));
    assert!(complete(here));
    ok!(aclrtDestroyContext(other));
    ok!(aclrtSetDevice(0));
    ok!(aclrtDestroyStream(here));
}

/// *#01
#[test]
fn handles_that_name_no_stream() {
    device(0);
    let dead = stream();
    ok!(aclrtDestroyStream(dead));
    let event = event();
    let mut number = 0;
    let mut word = 0_u32;
    let mut value = sys::aclrtStreamAttrValue { reserve: [0; 4] };
    for bad in [dead, event, 1 as aclrtStream, usize::MAX as aclrtStream, &raw mut word as aclrtStream] {
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(bad));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStreamWithTimeout(bad, 5));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamQuery(bad, &mut word));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamAbort(bad));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamStop(bad));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtPersistentTaskClean(bad));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamGetId(bad, &mut number));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamGetPriority(bad, &mut word));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamGetFlags(bad, &mut word));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamFailureMode(bad, 0));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamOverflowSwitch(bad, 0));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtGetStreamOverflowSwitch(bad, &mut word));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamAttribute(bad, 99, &mut value));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtGetStreamAttribute(bad, 99, &mut value));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(bad));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStreamForce(bad));
    }
    ok!(aclrtDestroyEvent(event));
}

/// aclrtCreateStream#03, aclrtGetStreamAvailableNum#01
#[test]
fn at_most_1984_streams_of_a_device() {
    refused!(ACL_ERROR_INVALID_PARAM, aclrtGetStreamAvailableNum(null_mut()));
    let mut available = 0;
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetStreamAvailableNum(&mut available));
    device(7);
    ok!(aclrtGetStreamAvailableNum(&mut available));
    // The default stream counts.
    assert_eq!(available, 1983);
    let mut streams: Vec<_> = (0..1983).map(|_| stream()).collect();
    ok!(aclrtGetStreamAvailableNum(&mut available));
    assert_eq!(available, 0);
    let mut none = null_mut();
    refused!(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateStream(&mut none));
    assert!(none.is_null());
    // A context wants a default stream of its own.
    refused!(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateContext(&mut none, 7));

    let mut ids = HashSet::new();
    let log = Log::default();
    for (n, stream) in streams.iter().enumerate() {
        let mut id = -1;
        ok!(aclrtStreamGetId(*stream, &mut id));
        assert!((0..1984).contains(&id) && ids.insert(id), "stream id {id}");
        log.task(*stream, n as u32);
    }
    ok!(aclrtSynchronizeDevice());
    let mut ran = log.get();
    ran.sort();
    assert!(ran.into_iter().eq(0..1983));

    ok!(aclrtDestroyStream(streams.swap_remove(100)));
    streams.push(stream());
    refused!(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateStream(&mut none));
    for stream in streams {
        ok!(aclrtDestroyStream(stream));
    }
    ok!(aclrtGetStreamAvailableNum(&mut available));
    assert_eq!(available, 1983);
}

/// aclrtSynchronizeStreamWithTimeout#01, #02, #03, #05, aclrtStreamQuery#01, #02, aclrtSynchronizeStream#01
#[test]
fn waiting_with_a_limit() {
    device(0);
    let stream = stream();
    for bad in [0, -2, i32::MIN] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream, bad));
    }
    refused!(ACL_ERROR_INVALID_PARAM, aclrtStreamQuery(stream, null_mut()));
    assert!(complete(stream));
    let hold = Hold::on(stream);
    let log = Log::default();
    log.task(stream, 1);
    assert!(!complete(stream));
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 5));
    assert!(log.get().is_empty());
    hold.release();
    ok!(aclrtSynchronizeStreamWithTimeout(stream, 20_000));
    assert_eq!(log.get(), [1]);
    assert!(complete(stream));
    ok!(aclrtSynchronizeStreamWithTimeout(stream, -1));
    ok!(aclrtSynchronizeStream(stream));
    ok!(aclrtDestroyStream(stream));
}

/// *#04, aclrtSynchronizeStream#02, aclrtStreamGetId#01, #02
#[test]
fn null_is_the_default_stream() {
    let mut id = -1;
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(null_mut()));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamGetId(null_mut(), &mut id));
    device(0);
    let mine = context(0);
    let mut default = null_mut();
    ok!(aclrtCtxGetCurrentDefaultStream(&mut default));
    let (mut named, mut id) = (-1, -2);
    ok!(aclrtStreamGetId(default, &mut named));
    ok!(aclrtStreamGetId(null_mut(), &mut id));
    assert_eq!(id, named);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtStreamGetId(null_mut(), null_mut()));
    let log = Log::default();
    log.task(null_mut(), 1);
    log.task(default, 2);
    log.task(null_mut(), 3);
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(log.get(), [1, 2, 3]);
    ok!(aclrtDestroyContext(mine));
}

/// aclrtCreateStreamWithConfig#12, aclrtSynchronizeStream#03, aclrtSynchronizeStreamWithTimeout#06, aclrtStreamQuery#04,
/// aclrtPersistentTaskClean#01, aclrtStreamAbort#05
#[test]
fn persistent_streams_keep_their_tasks() {
    device(0);
    let keeper = stream_with(0, sys::ACL_STREAM_PERSISTENT);
    let log = Log::default();
    log.task(keeper, 1);
    ok!(aclrtSynchronizeStream(keeper));
    ok!(aclrtSynchronizeStreamWithTimeout(keeper, 1));
    assert!(complete(keeper));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamAbort(keeper));
    ok!(aclrtPersistentTaskClean(keeper));
    log.task(keeper, 2);
    // Another stream that waits for a kept task goes on when the stream ends.
    let event = event();
    ok!(aclrtRecordEvent(event, keeper));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEvent(event));
    let other = stream();
    ok!(aclrtStreamWaitEvent(other, event));
    log.task(other, 3);
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(other, 20));
    ok!(aclrtDestroyStream(keeper));
    ok!(aclrtSynchronizeStream(other));
    assert_eq!(log.get(), [3]);
    ok!(aclrtSynchronizeEvent(event));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtPersistentTaskClean(other));
    ok!(aclrtDestroyStream(other));
    ok!(aclrtDestroyEvent(event));
    // A context with such a stream can end, also when another stream waits for it.
    let mine = context(0);
    let waiter = self::stream();
    let keeper = stream_with(0, sys::ACL_STREAM_PERSISTENT);
    log.task(keeper, 4);
    let event = self::event();
    ok!(aclrtRecordEvent(event, keeper));
    ok!(aclrtStreamWaitEvent(waiter, event));
    log.task(waiter, 5);
    ok!(aclrtDestroyContext(mine));
    assert_eq!(log.get(), [3, 5]);
    ok!(aclrtDestroyEvent(event));
}

/// aclrtSynchronizeStream#06; the failure is answered once and later tasks run (ACL_CONTINUE_ON_FAILURE).
#[test]
fn a_failure_comes_back_once() {
    device(0);
    let stream = stream();
    let log = Log::default();
    fail(stream);
    log.task(stream, 1);
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream));
    assert!(why().contains("aclrtSynchronizeStream#06"));
    assert_eq!(log.get(), [1]);
    ok!(aclrtSynchronizeStream(stream));
    // The first of two failures is answered.
    fail(stream);
    fail(stream);
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 1000));
    ok!(aclrtSynchronizeStream(stream));
    ok!(aclrtDestroyStream(stream));
}

/// aclrtSetStreamFailureMode#01, #03, #04, #05, #06, #07, aclrtSetStreamAttribute#09, #10
#[test]
fn stopping_at_a_failure() {
    device(0);
    let mine = context(0);
    let (first, second, idle) = (stream(), stream(), stream());
    ok!(aclrtSetStreamFailureMode(first, 0));
    ok!(aclrtSetStreamFailureMode(null_mut(), 2));
    ok!(aclrtSetStreamFailureMode(first, 3));
    ok!(aclrtSetStreamFailureMode(first, 1));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetStreamFailureMode(first, 0));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetStreamFailureMode(second, 0));
    let late = stream();
    for stream in [first, second, late, null_mut()] {
        let mut value = sys::aclrtStreamAttrValue { reserve: [9; 4] };
        ok!(aclrtGetStreamAttribute(stream, sys::ACL_STREAM_ATTR_FAILURE_MODE, &mut value));
        // SAFETY: the member that belongs to the attribute.
        assert_eq!(unsafe { value.failureMode }, 1);
    }

    let log = Log::default();
    let gate = Hold::on(idle);
    let event = event();
    ok!(aclrtRecordEvent(event, idle));
    let hold = Hold::on(first);
    ok!(aclrtStreamWaitEventWithTimeout(first, event, 1));
    log.task(first, 1);
    ok!(aclrtStreamWaitEvent(second, event));
    log.task(second, 2);
    hold.release();
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(first));
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(first));
    // The other streams of the context stop too, a new one included; none takes tasks.
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(second));
    let newest = stream();
    for stream in [first, second, late, newest, null_mut()] {
        let (func, arg) = closure(|| {});
        refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtLaunchHostFunc(stream, func, arg));
        refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtRecordEvent(event, stream));
        refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtStreamWaitEvent(stream, event));
    }
    gate.release();
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(idle));
    assert!(log.get().is_empty());
    ok!(aclrtDestroyStream(first));
    ok!(aclrtDestroyContext(mine));

    // Another context of the device is not affected.
    ok!(aclrtSetDevice(0));
    let stream = stream();
    log.task(stream, 3);
    ok!(aclrtSynchronizeStream(stream));
    assert_eq!(log.get(), [3]);
    ok!(aclrtDestroyStream(stream));
    ok!(aclrtDestroyEvent(event));
}

/// aclrtStreamAbort#01, #03, #04, aclrtSynchronizeStream#07
#[test]
fn aborting_drops_what_has_not_begun() {
    device(0);
    let (victim, waiter) = (stream(), stream());
    let log = Log::default();
    let gate = Hold::on(waiter);
    let closed = event();
    ok!(aclrtRecordEvent(closed, waiter));
    log.task(victim, 1);
    ok!(aclrtStreamWaitEvent(victim, closed));
    log.task(victim, 2);
    let event = event();
    ok!(aclrtRecordEvent(event, victim));
    let dependent = stream();
    ok!(aclrtStreamWaitEvent(dependent, event));
    log.task(dependent, 3);
    let sent = Sent(victim);
    let blocked = std::thread::spawn(move || {
        device(0);
        acl!(aclrtSynchronizeStream(sent.get()))
    });
    std::thread::sleep(std::time::Duration::from_millis(10));
    assert!(!blocked.is_finished());
    ok!(aclrtStreamAbort(victim));
    assert_eq!(blocked.join().unwrap(), sys::ACL_ERROR_RT_STREAM_ABORT);
    refused!(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(victim));
    refused!(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStreamWithTimeout(victim, 5));
    let (func, arg) = closure(|| {});
    refused!(ACL_ERROR_RT_STREAM_ABORT, aclrtLaunchHostFunc(victim, func, arg));
    ok!(aclrtSynchronizeStream(dependent));
    gate.release();
    ok!(aclrtSynchronizeStream(waiter));
    assert_eq!(log.get(), [1, 3]);
    for stream in [victim, waiter, dependent] {
        ok!(aclrtDestroyStream(stream));
    }
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyEvent(closed));
}

/// ours: a host function cannot be stopped, and it may be waiting for the thread that aborts; aclrtStreamAbort does not wait
/// for it, and neither does a synchronize (aclrtSynchronizeStream#07). aclrtDestroyStream does.
#[test]
fn aborting_does_not_wait_for_a_host_function() {
    device(0);
    let victim = stream();
    let log = Log::default();
    let (go, begun) = (Latch::new(), Latch::new());
    let (ended, wait, begin) = (log.clone(), go.clone(), begun.clone());
    launch(victim, move || {
        begin.open();
        wait.wait();
        ended.note(1);
    });
    log.task(victim, 2);
    assert!(begun.wait());
    ok!(aclrtStreamAbort(victim));
    assert_eq!(log.get(), [0u32; 0], "the call came back before the function");
    refused!(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(victim));
    assert_eq!(log.get(), [0u32; 0], "nor does a synchronize wait");
    go.open();
    ok!(aclrtDestroyStream(victim));
    assert_eq!(log.get(), [1], "it ran to its end, and nothing after it");
}

/// aclrtStreamAbort#06: NULL is the default stream, whose context can still end.
#[test]
fn aborting_a_default_stream() {
    device(0);
    let mine = context(0);
    ok!(aclrtStreamAbort(null_mut()));
    refused!(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(null_mut()));
    ok!(aclrtDestroyContext(mine));
}

/// aclrtDestroyStreamForce#02
#[test]
fn force_drops_and_does_not_wait() {
    device(0);
    let (stream, other) = (stream(), stream());
    let log = Log::default();
    let hold = Hold::on(stream);
    hold.begun();
    log.task(stream, 1);
    let event = event();
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtStreamWaitEvent(other, event));
    log.task(other, 2);
    // Would hang if it waited: the task that runs is let go afterwards only.
    ok!(aclrtDestroyStreamForce(stream));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
    hold.release();
    ok!(aclrtSynchronizeStream(other));
    assert_eq!(log.get(), [2]);
    ok!(aclrtDestroyStream(other));
    ok!(aclrtDestroyEvent(event));
}

/// aclrtStreamStop#01, #04
#[test]
fn stopping_keeps_what_is_queued() {
    device(0);
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamStop(null_mut()));
    let stream = stream();
    let log = Log::default();
    let hold = Hold::on(stream);
    log.task(stream, 1);
    ok!(aclrtStreamStop(stream));
    hold.release();
    ok!(aclrtSynchronizeStream(stream));
    assert_eq!(log.get(), [1]);
    ok!(aclrtDestroyStream(stream));
}

static SEEN: Mutex<Vec<(usize, u32, i32, usize)>> = Mutex::new(Vec::new());

unsafe extern "C" fn on_state(stream: aclrtStream, state: u32, args: *mut c_void) {
    // Calls back in: the stream lives in both states.
    let mut id = -1;
    ok!(aclrtStreamGetId(stream, &mut id));
    SEEN.lock().unwrap().push((stream as usize, state, id, args as usize));
}

/// aclrtRegStreamStateCallback#01, #02, #03, #04, #05
#[test]
fn state_callbacks() {
    let name: &CStr = c"states";
    refused!(ACL_ERROR_INVALID_PARAM, aclrtRegStreamStateCallback(null_mut(), Some(on_state), null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtRegStreamStateCallback(c"".as_ptr(), Some(on_state), null_mut()));
    ok!(aclrtRegStreamStateCallback(name.as_ptr(), None, null_mut()));
    ok!(aclrtRegStreamStateCallback(name.as_ptr(), Some(on_state), 7 as *mut c_void));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtRegStreamStateCallback(name.as_ptr(), Some(on_state), null_mut()));
    device(0);
    let mine = context(0);
    let mut default = null_mut();
    ok!(aclrtCtxGetCurrentDefaultStream(&mut default));
    let plain = stream();
    let mut ids = [-1, -1];
    ok!(aclrtStreamGetId(default, &mut ids[0]));
    ok!(aclrtStreamGetId(plain, &mut ids[1]));
    ok!(aclrtDestroyStream(plain));
    ok!(aclrtDestroyContext(mine));
    let seen: Vec<_> = SEEN.lock().unwrap().clone();
    for (stream, id) in [(default as usize, ids[0]), (plain as usize, ids[1])] {
        let of_stream: Vec<_> = seen.iter().copied().filter(|seen| seen.0 == stream).collect();
        let created = (stream, sys::ACL_RT_STREAM_STATE_CREATE_POST, id, 7);
        let destroyed = (stream, sys::ACL_RT_STREAM_STATE_DESTROY_PRE, id, 7);
        assert_eq!(of_stream, [created, destroyed]);
    }
    ok!(aclrtRegStreamStateCallback(name.as_ptr(), None, null_mut()));
    ok!(aclrtSetDevice(0));
    let unseen = stream();
    assert!(SEEN.lock().unwrap().iter().all(|seen| seen.0 != unseen as usize));
    ok!(aclrtDestroyStream(unseen));
}

/// aclrtSetStreamAttribute#01, #02, #05, #06, #09, #11, #13, aclrtGetStreamAttribute#01, #02, #05
#[test]
fn attributes() {
    device(0);
    let stream = stream();
    let value = |word: u32| sys::aclrtStreamAttrValue { reserve: [word, 0, 0, 0] };
    let set = |stream, kind, word| acl!(aclrtSetStreamAttribute(stream, kind, &mut value(word)));
    let get = |stream, kind| {
        let mut out = value(99);
        ok!(aclrtGetStreamAttribute(stream, kind, &mut out));
        // SAFETY: all members start here.
        unsafe { out.overflowSwitch }
    };
    refused!(
        ACL_ERROR_INVALID_PARAM,
        aclrtSetStreamAttribute(stream, sys::ACL_STREAM_ATTR_USER_CUSTOM_TAG, null_mut())
    );
    refused!(
        ACL_ERROR_INVALID_PARAM,
        aclrtGetStreamAttribute(stream, sys::ACL_STREAM_ATTR_USER_CUSTOM_TAG, null_mut())
    );
    for unknown in [0, 6, u32::MAX] {
        assert_eq!(set(stream, unknown, 0), sys::ACL_ERROR_RT_PARAM_INVALID);
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtGetStreamAttribute(stream, unknown, &mut value(0)));
    }
    for kind in [
        sys::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK,
        sys::ACL_STREAM_ATTR_USER_CUSTOM_TAG,
        sys::ACL_STREAM_ATTR_CACHE_OP_INFO,
    ] {
        assert_eq!(get(stream, kind), 0);
        assert_eq!(set(stream, kind, 1), 0);
        assert_eq!(get(stream, kind), 1);
        // aclrtSetStreamAttribute#03: also on the default stream.
        assert_eq!(set(null_mut(), kind, 0), 0);
    }
    assert_eq!(set(stream, sys::ACL_STREAM_ATTR_USER_CUSTOM_TAG, 0xdead_beef), 0);
    assert_eq!(get(stream, sys::ACL_STREAM_ATTR_USER_CUSTOM_TAG), 0xdead_beef);
    let overflow = sys::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK;
    assert_eq!(set(stream, overflow, 2), sys::ACL_ERROR_RT_PARAM_INVALID);
    let mode = sys::ACL_STREAM_ATTR_FAILURE_MODE;
    assert_eq!(set(null_mut(), mode, 0), sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT);

    let priority = sys::ACL_STREAM_ATTR_PRIORITY;
    assert_eq!(set(null_mut(), priority, 1), sys::ACL_ERROR_RT_PARAM_INVALID);
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtGetStreamAttribute(null_mut(), priority, &mut value(0)));
    assert_eq!(get(stream, priority), 0);
    for (given, kept) in [(5, 5), (12, 7), (1 << 31, 0)] {
        assert_eq!(set(stream, priority, given), 0);
        assert_eq!(get(stream, priority), kept);
    }
    // aclrtSetStreamOverflowSwitch#01, aclrtGetStreamOverflowSwitch#01, #02: the same switch.
    let mut flag = 9;
    ok!(aclrtGetStreamOverflowSwitch(stream, &mut flag));
    assert_eq!(flag, 1);
    ok!(aclrtSetStreamOverflowSwitch(stream, 0));
    assert_eq!(get(stream, overflow), 0);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetStreamOverflowSwitch(stream, 2));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtGetStreamOverflowSwitch(stream, null_mut()));
    ok!(aclrtDestroyStream(stream));
}

/// aclrtSynchronizeDevice#01, #02, aclrtSynchronizeDeviceWithTimeout#02, #03, #04, #06
#[test]
fn a_device_waits_for_all_its_streams() {
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDeviceWithTimeout(-1));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(0));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(-2));
    device(6);
    let here = stream();
    let mine = context(6);
    let there = stream();
    let log = Log::default();
    let hold = Hold::on(there);
    log.task(there, 1);
    ok!(aclrtSetDevice(6));
    log.task(here, 2);
    log.task(null_mut(), 3);
    let keeper = stream_with(0, sys::ACL_STREAM_PERSISTENT);
    log.task(keeper, 4);
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(20));
    hold.release();
    ok!(aclrtSynchronizeDeviceWithTimeout(20_000));
    let mut seen = log.get();
    seen.sort();
    assert_eq!(seen, [1, 2, 3]);
    // A failure of any stream comes back, once.
    fail(here);
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeDevice());
    ok!(aclrtSynchronizeDevice());
    ok!(aclrtDestroyStream(here));
    ok!(aclrtDestroyStream(keeper));
    ok!(aclrtDestroyContext(mine));
}

/// aclrtLaunchHostFunc#07: what would wait for itself is refused.
#[test]
fn waiting_for_oneself_is_refused() {
    device(5);
    let stream = stream();
    let event = event();
    let sent = [Sent(stream), Sent(event)];
    let codes = std::sync::Arc::new(Mutex::new(Vec::new()));
    let seen = codes.clone();
    let hold = Hold::on(stream);
    launch(stream, move || {
        let [stream, event] = [sent[0].get(), sent[1].get()];
        let mut codes = seen.lock().unwrap();
        codes.push(acl!(aclrtSynchronizeStream(stream)));
        codes.push(acl!(aclrtSynchronizeStreamWithTimeout(stream, 5)));
        codes.push(acl!(aclrtSynchronizeEvent(event)));
        codes.push(acl!(aclrtStreamAbort(stream)));
        device(5);
        codes.push(acl!(aclrtSynchronizeDevice()));
        codes.push(acl!(aclrtDestroyStream(stream)));
        codes.push(acl!(aclrtDestroyStreamForce(stream)));
    });
    ok!(aclrtRecordEvent(event, stream));
    hold.release();
    ok!(aclrtSynchronizeStream(stream));
    assert_eq!(*codes.lock().unwrap(), [sys::ACL_ERROR_RT_PARAM_INVALID; 7]);
    // Another stream may be waited for.
    let other = self::stream();
    let sent = Sent(other);
    let waited = Latch::new();
    let opened = waited.clone();
    launch(stream, move || {
        if acl!(aclrtSynchronizeStream(sent.get())) == 0 {
            opened.open();
        }
    });
    ok!(aclrtSynchronizeStream(stream));
    assert!(waited.is_open());
    ok!(aclrtDestroyStream(stream));
    ok!(aclrtDestroyStream(other));
    ok!(aclrtDestroyEvent(event));
}
