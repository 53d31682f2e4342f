//! Chapter 08 through the C interface, on the default product (a2): notifies within one process.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::collections::HashSet;
use std::ptr::null_mut;

use ascendcl::notify::*;
use stream_common::*;
use sys::aclrtNotify;

fn notify() -> aclrtNotify {
    let mut notify = null_mut();
    ok!(aclrtCreateNotify(&mut notify, sys::ACL_NOTIFY_DEFAULT.into()));
    assert!(!notify.is_null());
    notify
}

fn id(notify: aclrtNotify) -> u32 {
    let mut id = u32::MAX;
    ok!(aclrtGetNotifyId(notify, &mut id));
    id
}

fn sync(stream: aclrtStream) {
    ok!(aclrtSynchronizeStreamWithTimeout(stream, 20_000));
}

fn stays(stream: aclrtStream) {
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 10));
}

/// aclrtCreateNotify#01 to #05, and the null and handle checks of every call
#[test]
fn arguments() {
    let mut made = null_mut();
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateNotify(&mut made, 0));
    device(0);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateNotify(null_mut(), 9));
    for flag in [2, 3, 1 << 32, u64::MAX] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateNotify(&mut made, flag));
    }
    assert!(made.is_null());
    ok!(aclrtCreateNotify(&mut made, sys::ACL_NOTIFY_DEVICE_USE_ONLY.into()));
    ok!(aclrtDestroyNotify(made));
    let (dead, good, stream) = (notify(), notify(), stream());
    ok!(aclrtDestroyNotify(dead));
    let mut number = 77;
    for (code, bad) in [
        (sys::ACL_ERROR_INVALID_PARAM, null_mut()),
        (sys::ACL_ERROR_RT_INVALID_HANDLE, dead),
        (sys::ACL_ERROR_RT_INVALID_HANDLE, stream),
        (sys::ACL_ERROR_RT_INVALID_HANDLE, usize::MAX as aclrtNotify),
    ] {
        assert_eq!(acl!(aclrtDestroyNotify(bad)), code);
        assert_eq!(acl!(aclrtRecordNotify(bad, stream)), code);
        assert_eq!(acl!(aclrtWaitAndResetNotify(bad, stream, 0)), code);
        assert_eq!(acl!(aclrtGetNotifyId(bad, &mut number)), code);
    }
    refused!(ACL_ERROR_INVALID_PARAM, aclrtGetNotifyId(good, null_mut()));
    let mut list = [good, dead];
    refused!(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(null_mut(), 1));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyBatchReset(list.as_mut_ptr(), 0));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtNotifyBatchReset(list.as_mut_ptr(), 2));
    assert_eq!(number, 77);
    ok!(aclrtDestroyNotify(good));
}

/// aclrtRecordNotify#03, #05, aclrtWaitAndResetNotify#03, #05
#[test]
fn streams_of_others() {
    context(0);
    let (notify, foreign) = (notify(), stream());
    device(0);
    let dead = stream();
    ok!(aclrtDestroyStream(dead));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(notify, dead));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtWaitAndResetNotify(notify, dead, 0));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordNotify(notify, foreign));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtWaitAndResetNotify(notify, foreign, 0));
}

/// aclrtRecordNotify#06, aclrtWaitAndResetNotify#06, aclrtDestroyNotify#03, aclrtNotifyBatchReset#04
#[test]
fn without_a_context() {
    let context = context(0);
    let notify = notify();
    ok!(aclrtDestroyContext(context));
    let mut list = [notify];
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtRecordNotify(notify, null_mut()));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtWaitAndResetNotify(notify, null_mut(), 0));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtNotifyBatchReset(list.as_mut_ptr(), 1));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyNotify(notify));
}

/// aclrtRecordNotify#07, #08, aclrtWaitAndResetNotify#07
#[test]
fn a_record_lets_one_wait_go_on() {
    device(0);
    let (notify, log) = (notify(), Log::default());
    let (waiter, recorder) = (stream(), stream());
    let hold = Hold::on(recorder);
    ok!(aclrtRecordNotify(notify, recorder));
    ok!(aclrtWaitAndResetNotify(notify, waiter, 0));
    log.task(waiter, 1);
    hold.begun();
    stays(waiter);
    assert!(log.get().is_empty());
    hold.release();
    sync(waiter);
    assert_eq!(log.get(), [1]);
    // It was taken back: the next wait needs a record of its own.
    ok!(aclrtWaitAndResetNotify(notify, waiter, 0));
    stays(waiter);
    ok!(aclrtRecordNotify(notify, recorder));
    sync(waiter);
    // It holds one record, however many there were.
    (0..3).for_each(|_| ok!(aclrtRecordNotify(notify, recorder)));
    sync(recorder);
    ok!(aclrtWaitAndResetNotify(notify, waiter, 0));
    sync(waiter);
    ok!(aclrtWaitAndResetNotify(notify, waiter, 0));
    stays(waiter);
    ok!(aclrtDestroyStreamForce(waiter));
}

/// Of several streams that wait, each record lets one go on.
#[test]
fn one_record_for_each_waiter() {
    device(0);
    let (notify, recorder) = (notify(), stream());
    let waiters: Vec<_> = (0..4).map(|_| stream()).collect();
    for waiter in &waiters {
        ok!(aclrtWaitAndResetNotify(notify, *waiter, 0));
    }
    let done = || {
        let done = |stream: &aclrtStream| {
            let mut status = 77;
            ok!(aclrtStreamQuery(*stream, &mut status));
            status == sys::ACL_STREAM_STATUS_COMPLETE
        };
        waiters.iter().filter(|stream| done(stream)).count()
    };
    for round in 0..4 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert_eq!(done(), round);
        ok!(aclrtRecordNotify(notify, recorder));
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while done() != round + 1 {
            assert!(std::time::Instant::now() < end, "record {round} woke nobody");
            std::thread::yield_now();
        }
    }
}

/// Two streams that take turns a thousand times.
#[test]
fn ping_pong() {
    device(0);
    let (there, back, a, b) = (notify(), notify(), stream(), stream());
    for _ in 0..1000 {
        ok!(aclrtRecordNotify(there, a));
        ok!(aclrtWaitAndResetNotify(back, a, 0));
        ok!(aclrtWaitAndResetNotify(there, b, 0));
        ok!(aclrtRecordNotify(back, b));
    }
    sync(a);
    sync(b);
    // NULL: the default stream (aclrtRecordNotify#04, aclrtWaitAndResetNotify#04).
    ok!(aclrtRecordNotify(there, null_mut()));
    ok!(aclrtWaitAndResetNotify(there, null_mut(), 0));
    ok!(aclrtSynchronizeStream(null_mut()));
}

/// aclrtWaitAndResetNotify#08, #09
#[test]
fn a_wait_that_takes_too_long() {
    device(0);
    let (notify, waiter, log) = (notify(), stream(), Log::default());
    let begin = std::time::Instant::now();
    ok!(aclrtWaitAndResetNotify(notify, waiter, 1));
    log.task(waiter, 1);
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(waiter));
    assert!(begin.elapsed().as_millis() >= 1000);
    assert_eq!(log.get(), [1]);
}

/// aclrtNotifyBatchReset
#[test]
fn resetting_several() {
    device(0);
    let (mut list, stream) = ([notify(), notify(), notify()], stream());
    list.iter().for_each(|notify| ok!(aclrtRecordNotify(*notify, stream)));
    sync(stream);
    ok!(aclrtNotifyBatchReset(list.as_mut_ptr(), 2));
    ok!(aclrtWaitAndResetNotify(list[2], stream, 0));
    sync(stream);
    ok!(aclrtWaitAndResetNotify(list[1], stream, 0));
    stays(stream);
    ok!(aclrtDestroyStreamForce(stream));
}

/// aclrtCreateNotify#07, and numbers that are unique on a device
#[test]
fn there_are_8192_per_device() {
    device(0);
    let all: Vec<_> = (0..8192).map(|_| notify()).collect();
    assert_eq!(all.iter().map(|notify| id(*notify)).collect::<HashSet<_>>().len(), 8192);
    let mut none = null_mut();
    refused!(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, aclrtCreateNotify(&mut none, 0));
    device(1);
    ok!(aclrtDestroyNotify(notify()));
    device(0);
    let freed = id(all[5]);
    ok!(aclrtDestroyNotify(all[5]));
    assert_eq!(id(notify()), freed);
}

/// ours: tasks that were added keep what they need.
#[test]
fn destroyed_before_its_tasks_run() {
    device(0);
    let (notify, stream) = (notify(), stream());
    let hold = Hold::on(stream);
    ok!(aclrtRecordNotify(notify, stream));
    ok!(aclrtWaitAndResetNotify(notify, stream, 0));
    ok!(aclrtDestroyNotify(notify));
    hold.release();
    sync(stream);
}
