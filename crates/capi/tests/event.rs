//! Chapter 07 through the C interface, on the default product (a2): making events, what they answer, and their times.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::collections::HashSet;
use std::ptr::null_mut;

use stream_common::*;

const SYNC: u32 = sys::ACL_EVENT_SYNC;
const TIME: u32 = sys::ACL_EVENT_TIME_LINE;
const PROGRESS: u32 = sys::ACL_EVENT_CAPTURE_STREAM_PROGRESS;
const DEVICE: u32 = sys::ACL_EVENT_DEVICE_USE_ONLY;
const EXTERNAL: u32 = sys::ACL_EVENT_EXTERNAL;
const IPC: u32 = sys::ACL_EVENT_IPC;

/// aclrtQueryEventStatus.
fn recorded(event: aclrtEvent) -> bool {
    let mut status = 77;
    ok!(aclrtQueryEventStatus(event, &mut status));
    match status {
        // aclrtQueryEventStatus#03: the other way round than aclrtQueryEvent.
        sys::ACL_EVENT_RECORDED_STATUS_COMPLETE => true,
        sys::ACL_EVENT_RECORDED_STATUS_NOT_READY => false,
        other => panic!("status {other}"),
    }
}

/// aclrtQueryEventWaitStatus.
fn awaited(event: aclrtEvent) -> bool {
    let mut status = 77;
    ok!(aclrtQueryEventWaitStatus(event, &mut status));
    status == sys::ACL_EVENT_WAIT_STATUS_COMPLETE
}

/// aclrtCreateEvent#01, #05, aclrtCreateEventWithFlag#01, #05, #06, #07, #09, #10, aclrtCreateEventExWithFlag#01, #05, #07, #08
#[test]
fn creating_checks_its_flags() {
    let mut event = null_mut();
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateEvent(null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(null_mut(), SYNC));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateEventExWithFlag(null_mut(), SYNC));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateEvent(&mut event));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateEventWithFlag(&mut event, SYNC));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateEventExWithFlag(&mut event, SYNC));
    device(0);
    for flags in [SYNC, TIME, PROGRESS, SYNC | TIME | PROGRESS, EXTERNAL, DEVICE] {
        ok!(aclrtDestroyEvent(event_with(flags)));
    }
    for flags in [0, 4, SYNC | 4, IPC, 1 << 31, EXTERNAL | SYNC, DEVICE | TIME, EXTERNAL | DEVICE] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventWithFlag(&mut event, flags));
    }
    for flags in [SYNC, TIME, PROGRESS, 4, SYNC | TIME | PROGRESS | 4] {
        ok!(aclrtDestroyEvent(event_ex(flags)));
    }
    for flags in [0, EXTERNAL, DEVICE, SYNC | DEVICE, 128, IPC | SYNC] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventExWithFlag(&mut event, flags));
    }
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateEventExWithFlag(&mut event, IPC));
    assert!(event.is_null());
}

/// *#01, and the null checks of every call
#[test]
fn handles_that_name_no_event() {
    device(0);
    let stream = stream();
    let dead = event();
    ok!(aclrtDestroyEvent(dead));
    let good = event();
    let (mut status, mut ms, mut time) = (0, 0.0, 0);
    for (code, bad) in [
        (sys::ACL_ERROR_INVALID_PARAM, null_mut()),
        (sys::ACL_ERROR_RT_INVALID_HANDLE, dead),
        (sys::ACL_ERROR_RT_INVALID_HANDLE, stream),
        (sys::ACL_ERROR_RT_INVALID_HANDLE, usize::MAX as aclrtEvent),
        (sys::ACL_ERROR_RT_INVALID_HANDLE, 8 as aclrtEvent),
    ] {
        assert_eq!(acl!(aclrtDestroyEvent(bad)), code);
        assert_eq!(acl!(aclrtRecordEvent(bad, stream)), code);
        assert_eq!(acl!(aclrtRecordEventWithFlag(bad, stream, 0)), code);
        assert_eq!(acl!(aclrtResetEvent(bad, stream)), code);
        assert_eq!(acl!(aclrtQueryEvent(bad, &mut status)), code);
        assert_eq!(acl!(aclrtQueryEventStatus(bad, &mut status)), code);
        assert_eq!(acl!(aclrtQueryEventWaitStatus(bad, &mut status)), code);
        assert_eq!(acl!(aclrtSynchronizeEvent(bad)), code);
        assert_eq!(acl!(aclrtSynchronizeEventWithTimeout(bad, 5)), code);
        assert_eq!(acl!(aclrtEventElapsedTime(&mut ms, bad, good)), code);
        assert_eq!(acl!(aclrtEventElapsedTime(&mut ms, good, bad)), code);
        assert_eq!(acl!(aclrtEventGetTimestamp(bad, &mut time)), code);
        assert_eq!(acl!(aclrtGetEventId(bad, &mut status)), code);
        assert_eq!(acl!(aclrtStreamWaitEvent(stream, bad)), code);
        assert_eq!(acl!(aclrtStreamWaitEventWithFlag(stream, bad, 0, 0)), code);
        // aclrtStreamWaitEventWithTimeout#03: the other code for null.
        let code = if bad.is_null() { sys::ACL_ERROR_RT_PARAM_INVALID } else { code };
        assert_eq!(acl!(aclrtStreamWaitEventWithTimeout(stream, bad, 0)), code);
    }
    for bad in [good, 8 as aclrtStream] {
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(good, bad));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamWaitEvent(bad, good));
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtResetEvent(good, bad));
    }
    refused!(ACL_ERROR_INVALID_PARAM, aclrtQueryEvent(good, null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtQueryEventStatus(good, null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtQueryEventWaitStatus(good, null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtEventElapsedTime(null_mut(), good, good));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtEventGetTimestamp(good, null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtGetEventId(good, null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtGetEventAvailNum(null_mut()));
    ok!(aclrtDestroyEvent(good));
    ok!(aclrtDestroyStream(stream));
}

/// aclrtCreateEvent#02, aclrtCreateEventWithFlag#02, aclrtCreateEventExWithFlag#17, aclrtGetEventAvailNum#01
#[test]
fn at_most_65536_events_of_a_device() {
    let mut available = 0;
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetEventAvailNum(&mut available));
    device(7);
    ok!(aclrtGetEventAvailNum(&mut available));
    assert_eq!(available, 65_536);
    let mut events: Vec<_> =
        (0..65_536).map(|n| if n % 2 == 0 { event() } else { event_with(SYNC) }).collect();
    ok!(aclrtGetEventAvailNum(&mut available));
    assert_eq!(available, 0);
    let mut none = null_mut();
    refused!(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEvent(&mut none));
    refused!(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEventWithFlag(&mut none, TIME));
    assert!(none.is_null());
    // The extended form is not bounded.
    events.push(event_ex(SYNC));
    let mut ids = HashSet::new();
    for event in &events {
        let mut id = u32::MAX;
        ok!(aclrtGetEventId(*event, &mut id));
        assert!(ids.insert(id), "event id {id} twice");
    }
    ok!(aclrtDestroyEvent(events.swap_remove(9)));
    events.push(event());
    refused!(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEvent(&mut none));
    for event in events {
        ok!(aclrtDestroyEvent(event));
    }
    ok!(aclrtGetEventAvailNum(&mut available));
    assert_eq!(available, 65_536);
}

/// aclrtRecordEvent#02, #07, #09, aclrtQueryEvent#08, aclrtQueryEventStatus#03, #04
#[test]
fn an_event_is_done_when_what_it_holds_is() {
    device(0);
    let stream = stream();
    let (plain, flagged, extended) = (event(), event_with(SYNC), event_ex(SYNC));
    let mut status = 77;
    for event in [plain, flagged] {
        assert!(!recorded(event));
        ok!(aclrtQueryEvent(event, &mut status));
        assert_eq!(status, sys::ACL_EVENT_STATUS_NOT_READY);
    }
    assert!(recorded(extended));
    let hold = Hold::on(stream);
    for event in [plain, flagged, extended] {
        ok!(aclrtRecordEvent(event, stream));
        assert!(!recorded(event));
    }
    ok!(aclrtQueryEvent(plain, &mut status));
    assert_eq!(status, sys::ACL_EVENT_STATUS_NOT_READY);
    // What comes after the record does not count.
    hold.begun();
    let after = Hold::on(stream);
    hold.release();
    after.begun();
    for event in [plain, flagged, extended] {
        assert!(eventually(|| recorded(event)));
    }
    ok!(aclrtQueryEvent(plain, &mut status));
    assert_eq!(status, sys::ACL_EVENT_STATUS_COMPLETE);
    assert!(!complete(stream));
    after.release();
    ok!(aclrtSynchronizeStream(stream));
    // aclrtRecordEvent#03: NULL is the default stream.
    ok!(aclrtRecordEvent(plain, null_mut()));
    ok!(aclrtSynchronizeEvent(plain));
    for event in [plain, flagged, extended] {
        ok!(aclrtDestroyEvent(event));
    }
    ok!(aclrtDestroyStream(stream));
}

/// Which events each call takes: aclrtCreateEventExWithFlag#13, #15, aclrtResetEvent#03, #04, #08, aclrtQueryEvent#05, #06,
/// aclrtQueryEventStatus#06, aclrtQueryEventWaitStatus#03, aclrtSynchronizeEvent#03, aclrtSynchronizeEventWithTimeout#07,
/// aclrtEventElapsedTime#08, aclrtEventGetTimestamp#04, aclrtStreamWaitEvent#06, #07, aclrtRecordEvent#05,
/// aclrtCreateEventWithFlag#12
#[test]
fn events_that_a_call_does_not_take() {
    device(0);
    let stream = stream();
    let (mut status, mut ms, mut time) = (0, 0.0, 0);
    let extended = event_ex(SYNC | TIME);
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(extended, stream));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEvent(extended, &mut status));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEventWaitStatus(extended, &mut status));
    let plain = event();
    // aclrtResetEvent#02
    ok!(aclrtResetEvent(plain, stream));
    let timed = event_with(TIME);
    let progress = event_ex(PROGRESS);
    ok!(aclrtRecordEvent(timed, stream));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(timed, stream));
    for event in [timed, progress] {
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEvent(stream, event));
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEventWithTimeout(stream, event, 5));
    }
    let external = event_with(EXTERNAL);
    ok!(aclrtRecordEvent(external, stream));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEvent(external, &mut status));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEventStatus(external, &mut status));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeEvent(external));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeEventWithTimeout(external, 5));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtEventElapsedTime(&mut ms, external, external));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtEventGetTimestamp(external, &mut time));
    let of_device = event_with(DEVICE);
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtRecordEvent(of_device, stream));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtRecordEventWithFlag(of_device, stream, 0));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtResetEvent(of_device, stream));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEvent(stream, of_device));
    ok!(aclrtGetEventId(of_device, &mut status));
    for event in [extended, plain, timed, progress, external, of_device] {
        ok!(aclrtDestroyEvent(event));
    }
    ok!(aclrtDestroyStream(stream));
}

/// aclrtRecordEvent#04, aclrtRecordEventWithFlag#04, aclrtResetEvent#07, aclrtStreamWaitEvent#08; ours: other devices
#[test]
fn streams_of_other_contexts() {
    device(0);
    let here = stream();
    let event = event_with(SYNC);
    let mine = context(0);
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordEvent(event, here));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordEventWithFlag(event, here, 0));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamWaitEvent(here, event));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtResetEvent(event, here));
    // Events of another context of the device can be used.
    let there = stream();
    ok!(aclrtRecordEvent(event, there));
    ok!(aclrtStreamWaitEvent(there, event));
    ok!(aclrtSynchronizeEvent(event));
    ok!(aclrtDestroyContext(mine));
    device(1);
    let far = stream();
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordEvent(event, far));
    let log = Log::default();
    ok!(aclrtStreamWaitEvent(far, event));
    log.task(far, 1);
    ok!(aclrtSynchronizeStream(far));
    assert_eq!(log.get(), [1]);
    ok!(aclrtDestroyStream(far));
    device(0);
    ok!(aclrtDestroyStream(here));
    ok!(aclrtDestroyEvent(event));
}

/// aclrtSynchronizeEvent#02, aclrtSynchronizeEventWithTimeout#01, #02, #03, #05, #06
#[test]
fn waiting_on_the_host() {
    device(0);
    let stream = stream();
    let event = event();
    for bad in [-2, 0, i32::MIN] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEventWithTimeout(null_mut(), bad));
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEventWithTimeout(event, bad));
    }
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeEventWithTimeout(null_mut(), -1));
    ok!(aclrtSynchronizeEvent(event));
    let hold = Hold::on(stream);
    let log = Log::default();
    log.task(stream, 1);
    ok!(aclrtRecordEvent(event, stream));
    refused!(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 5));
    hold.release();
    ok!(aclrtSynchronizeEventWithTimeout(event, 20_000));
    assert_eq!(log.get(), [1]);
    ok!(aclrtSynchronizeEventWithTimeout(event, -1));
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyStream(stream));
}

/// ours: a failed task that the event holds is answered; it stays for the stream (aclrtSynchronizeStream#06).
#[test]
fn an_event_answers_failures_that_it_holds() {
    device(0);
    let stream = stream();
    let (before, after) = (event(), event());
    ok!(aclrtRecordEvent(before, stream));
    fail(stream);
    ok!(aclrtRecordEvent(after, stream));
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeEvent(after));
    ok!(aclrtSynchronizeEvent(before));
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream));
    ok!(aclrtSynchronizeEvent(after));
    for event in [before, after] {
        ok!(aclrtDestroyEvent(event));
    }
    ok!(aclrtDestroyStream(stream));
}

/// aclrtEventElapsedTime#04, #05, #06, #10, aclrtEventGetTimestamp#03; ours: times need ACL_EVENT_TIME_LINE
#[test]
fn times_are_those_of_execution() {
    device(0);
    let stream = stream();
    let (start, end) = (event(), event_ex(TIME));
    let mut ms = f32::NAN;
    let mut stamp = 0;
    refused!(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventElapsedTime(&mut ms, start, end));
    refused!(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(start, &mut stamp));
    let now = || {
        let mut time = libc_time::Timespec { seconds: 0, nanoseconds: 0 };
        // SAFETY: writes the struct; clock 1 is CLOCK_MONOTONIC.
        assert_eq!(unsafe { libc_time::clock_gettime(1, &mut time) }, 0);
        time.seconds as u64 * 1_000_000 + time.nanoseconds as u64 / 1000
    };
    let enqueued = now();
    ok!(aclrtRecordEvent(start, stream));
    let hold = Hold::on(stream);
    hold.begun();
    let pause = std::time::Duration::from_millis(20);
    ok!(aclrtRecordEvent(end, stream));
    refused!(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&mut ms, start, end));
    refused!(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(end, &mut stamp));
    std::thread::sleep(pause);
    let released = now();
    hold.release();
    ok!(aclrtSynchronizeStream(stream));
    let done = now();
    ok!(aclrtEventElapsedTime(&mut ms, start, end));
    // The time of the task between them, at least the pause.
    assert!(ms >= 20.0 && f64::from(ms) * 1000.0 <= (done - enqueued) as f64 + 1.0, "{ms} ms");
    let mut back = f32::NAN;
    ok!(aclrtEventElapsedTime(&mut back, end, start));
    assert_eq!(back, -ms);
    ok!(aclrtEventElapsedTime(&mut back, end, end));
    assert_eq!(back, 0.0);
    ok!(aclrtEventGetTimestamp(end, &mut stamp));
    assert!(released <= stamp && stamp <= done, "{released} <= {stamp} <= {done}");

    let timeless = event_with(SYNC);
    ok!(aclrtRecordEvent(timeless, stream));
    ok!(aclrtSynchronizeStream(stream));
    refused!(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&mut ms, start, timeless));
    refused!(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(timeless, &mut stamp));
    for event in [start, end, timeless] {
        ok!(aclrtDestroyEvent(event));
    }
    ok!(aclrtDestroyStream(stream));
}

mod libc_time {
    #[repr(C)]
    pub struct Timespec {
        pub seconds: i64,
        pub nanoseconds: i64,
    }
    unsafe extern "C" {
        pub fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
}

/// aclrtRecordEvent#08: the last record's time counts, also when an earlier one runs later; records that are still to run
/// write nowhere else once their event is gone (aclrtDestroyEvent#02).
#[test]
fn the_last_record_gives_the_time() {
    device(0);
    let (slow, fast) = (stream(), stream());
    let event = event();
    let hold = Hold::on(slow);
    ok!(aclrtRecordEvent(event, slow));
    ok!(aclrtRecordEvent(event, fast));
    ok!(aclrtSynchronizeStream(fast));
    let mut first = 0;
    ok!(aclrtEventGetTimestamp(event, &mut first));
    assert!(recorded(event));
    hold.release();
    ok!(aclrtSynchronizeStream(slow));
    let mut again = 0;
    ok!(aclrtEventGetTimestamp(event, &mut again));
    assert_eq!(again, first);

    let hold = Hold::on(slow);
    for _ in 0..1000 {
        let short = self::event();
        ok!(aclrtRecordEvent(short, slow));
        ok!(aclrtRecordEvent(event, slow));
        ok!(aclrtDestroyEvent(short));
    }
    let others: Vec<_> = (0..200).map(|_| self::event()).collect();
    for other in &others {
        ok!(aclrtRecordEvent(*other, fast));
    }
    ok!(aclrtSynchronizeStream(fast));
    let stamps = |events: &[aclrtEvent]| -> Vec<u64> {
        let stamp = |event: &aclrtEvent| {
            let mut stamp = 0;
            ok!(aclrtEventGetTimestamp(*event, &mut stamp));
            stamp
        };
        events.iter().map(stamp).collect()
    };
    let before = stamps(&others);
    hold.release();
    ok!(aclrtSynchronizeStream(slow));
    assert_eq!(stamps(&others), before);
    ok!(aclrtEventGetTimestamp(event, &mut again));
    assert!(again >= *before.last().unwrap());
    for event in others.into_iter().chain([event]) {
        ok!(aclrtDestroyEvent(event));
    }
    for stream in [slow, fast] {
        ok!(aclrtDestroyStream(stream));
    }
}

/// A record that is dropped never runs: no time, but the event is done.
#[test]
fn a_dropped_record_has_no_time() {
    device(0);
    let stream = stream();
    let event = event();
    let hold = Hold::on(stream);
    hold.begun();
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtDestroyStreamForce(stream));
    hold.release();
    ok!(aclrtSynchronizeEvent(event));
    let mut stamp = 0;
    refused!(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(event, &mut stamp));
    let other = self::stream();
    ok!(aclrtRecordEvent(event, other));
    ok!(aclrtSynchronizeEvent(event));
    ok!(aclrtEventGetTimestamp(event, &mut stamp));
    assert_ne!(stamp, 0);
    ok!(aclrtDestroyStream(other));
    ok!(aclrtDestroyEvent(event));
}

/// aclrtResetEvent#02, #05
#[test]
fn resetting() {
    device(0);
    for event in [event_with(SYNC), event()] {
        reset_after_wait(event);
    }
}

fn reset_after_wait(event: aclrtEvent) {
    let (stream, waiter) = (stream(), stream());
    let hold = Hold::on(stream);
    let log = Log::default();
    log.task(stream, 1);
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtStreamWaitEvent(waiter, event));
    ok!(aclrtResetEvent(event, waiter));
    log.task(waiter, 2);
    assert!(!recorded(event));
    hold.release();
    ok!(aclrtSynchronizeStream(waiter));
    // The wait that came before the reset was not affected.
    assert_eq!(log.get(), [1, 2]);
    assert!(!recorded(event));
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtSynchronizeEvent(event));
    assert!(recorded(event));
    ok!(aclrtDestroyEvent(event));
    for stream in [stream, waiter] {
        ok!(aclrtDestroyStream(stream));
    }
}

/// aclrtQueryEventWaitStatus#06
#[test]
fn wait_status() {
    device(0);
    let (stream, first, second) = (stream(), stream(), stream());
    let event = event_with(SYNC);
    assert!(awaited(event));
    let hold = Hold::on(stream);
    let busy = Hold::on(second);
    ok!(aclrtRecordEvent(event, stream));
    assert!(awaited(event));
    ok!(aclrtStreamWaitEvent(first, event));
    ok!(aclrtStreamWaitEvent(second, event));
    ok!(aclrtStreamWaitEvent(first, event));
    assert!(!awaited(event));
    hold.release();
    ok!(aclrtSynchronizeStream(first));
    assert!(!awaited(event));
    busy.release();
    ok!(aclrtSynchronizeStream(second));
    assert!(awaited(event));
    ok!(aclrtDestroyEvent(event));
    for stream in [stream, first, second] {
        ok!(aclrtDestroyStream(stream));
    }
}

/// aclrtRecordEventWithFlag#07, #08, #09, #13, #14, aclrtStreamWaitEventWithFlag#02, #03, #05, #07
#[test]
fn external_records_and_waits() {
    device(0);
    let stream = stream();
    let (default, external) = (sys::ACL_EVENT_RECORD_DEFAULT, sys::ACL_EVENT_RECORD_EXTERNAL);
    let event = event_ex(SYNC);
    for bad in [2, u32::MAX] {
        refused!(ACL_ERROR_INVALID_PARAM, aclrtRecordEventWithFlag(event, stream, bad));
        refused!(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEventWithFlag(stream, event, 0, bad));
    }
    refused!(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclrtRecordEventWithFlag(event, stream, external));
    // The failed call has bound the event.
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtRecordEventWithFlag(event, stream, default));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtRecordEvent(event, stream));
    let other = event_ex(SYNC);
    ok!(aclrtRecordEventWithFlag(other, stream, default));
    ok!(aclrtRecordEvent(other, stream));
    refused!(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclrtRecordEventWithFlag(other, stream, external));

    refused!(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEventWithFlag(stream, other, 1, external));
    ok!(aclrtStreamWaitEventWithFlag(stream, other, 0, sys::ACL_EVENT_WAIT_DEFAULT));
    refused!(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclrtStreamWaitEventWithFlag(stream, other, 0, external));
    ok!(aclrtStreamWaitEventWithFlag(stream, other, 5, sys::ACL_EVENT_WAIT_DEFAULT));
    refused!(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclrtStreamWaitEventWithFlag(stream, event, 0, external));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEventWithFlag(stream, event, 0, default));
    ok!(aclrtSynchronizeStream(stream));
    for event in [event, other] {
        ok!(aclrtDestroyEvent(event));
    }
    ok!(aclrtDestroyStream(stream));
}
