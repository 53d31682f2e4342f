//! Chapter 09 through the C interface, on 950pr, which has counting notifies.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;
mod child;

use std::ptr::null_mut;

use ascendcl::notify::*;
use stream_common::*;
use sys::{aclrtCntNotify, aclrtCntNotifyRecordInfo, aclrtCntNotifyWaitInfo};

const ENV: &[(&str, &str)] = &[("TOPROPE_PRODUCT", "950pr")];

fn counter() -> aclrtCntNotify {
    let mut counter = null_mut();
    ok!(aclrtCntNotifyCreate(&mut counter, 0));
    counter
}

fn record(counter: aclrtCntNotify, stream: aclrtStream, mode: u32, value: u32) {
    let mut info = aclrtCntNotifyRecordInfo { mode, value };
    ok!(aclrtCntNotifyRecord(counter, stream, &mut info));
}

fn wait_info(mode: u32, value: u32, clear: bool) -> aclrtCntNotifyWaitInfo {
    aclrtCntNotifyWaitInfo { mode, value, timeout: 0, isClear: clear.into(), rsv: [0; 3] }
}

fn wait(counter: aclrtCntNotify, stream: aclrtStream, mode: u32, value: u32, clear: bool) {
    ok!(aclrtCntNotifyWaitWithTimeout(counter, stream, &mut wait_info(mode, value, clear)));
}

/// Whether the count is `value` when the stream gets there: a wait that is met does not park.
fn holds(counter: aclrtCntNotify, value: u32) {
    let probe = stream();
    wait(counter, probe, sys::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, value, false);
    ok!(aclrtSynchronizeStreamWithTimeout(probe, 20_000));
    ok!(aclrtDestroyStream(probe));
}

/// aclrtCntNotifyRecord#04, #05, #06, aclrtCntNotifyReset#02, #03
#[test]
fn record_modes() {
    child::alone("record_modes", ENV, || {
        device(0);
        let (counter, stream) = (counter(), stream());
        for (mode, value, then) in
            [(0, 12, 12), (1, 30, 42), (2, 5, 47), (4, 0x2c, 0x2c), (1, u32::MAX, 0x2b)]
        {
            record(counter, stream, mode, value);
            ok!(aclrtSynchronizeStream(stream));
            holds(counter, then);
        }
        ok!(aclrtCntNotifyReset(counter, null_mut()));
        ok!(aclrtSynchronizeStream(null_mut()));
        holds(counter, 0);
        record(counter, null_mut(), 0, 3);
        holds(counter, 3);
    });
}

/// aclrtCntNotifyWaitWithTimeout#04, #06, #07, #08
#[test]
fn wait_modes() {
    child::alone("wait_modes", ENV, || {
        device(0);
        let (counter, writer) = (counter(), stream());
        for (mode, not, met) in [(0, 10, 9), (1, 9, 10), (2, 10, 11), (3, 9, 10), (4, 8, 10 + 16)] {
            for clear in [false, true] {
                let waiter = stream();
                record(counter, writer, 0, not);
                ok!(aclrtSynchronizeStream(writer));
                wait(counter, waiter, mode, 10, clear);
                refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiter, 10));
                record(counter, writer, 0, met);
                ok!(aclrtSynchronizeStreamWithTimeout(waiter, 20_000));
                holds(counter, if clear { 0 } else { met });
                ok!(aclrtDestroyStream(waiter));
            }
        }
    });
}

/// Many streams count up, one waits for all of them.
#[test]
fn counts_are_not_lost() {
    child::alone("counts_are_not_lost", ENV, || {
        device(0);
        let (counter, waiter) = (counter(), stream());
        let writers: Vec<_> = (0..8).map(|_| stream()).collect();
        wait(counter, waiter, sys::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 800, true);
        for _ in 0..100 {
            writers.iter().for_each(|writer| record(counter, *writer, 1, 1));
        }
        ok!(aclrtSynchronizeStreamWithTimeout(waiter, 20_000));
        holds(counter, 0);
    });
}

/// aclrtCntNotifyCreate#01, #02, #03, #05, aclrtCntNotifyRecord#01, #02, #03, #07, #08, #09, aclrtCntNotifyWaitWithTimeout#01, #02,
/// #03, #09, #10, #11, aclrtCntNotifyReset#01, #04, #05, aclrtCntNotifyGetId#01, #02, aclrtCntNotifyDestroy#01, #02
#[test]
fn arguments() {
    child::alone("arguments", ENV, || {
        let mut made = null_mut();
        refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtCntNotifyCreate(&mut made, 0));
        let other = context(0);
        let foreign = stream();
        device(0);
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCntNotifyCreate(null_mut(), 0));
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCntNotifyCreate(&mut made, 1));
        let (dead, good, stream, dead_stream) = (counter(), counter(), stream(), stream());
        ok!(aclrtCntNotifyDestroy(dead));
        ok!(aclrtDestroyStream(dead_stream));
        let mut up = aclrtCntNotifyRecordInfo { mode: 1, value: 1 };
        let mut until = wait_info(1, 1, false);
        let mut number = 0;
        for (code, bad) in [
            (sys::ACL_ERROR_RT_PARAM_INVALID, null_mut()),
            (sys::ACL_ERROR_RT_INVALID_HANDLE, dead),
            (sys::ACL_ERROR_RT_INVALID_HANDLE, stream),
        ] {
            assert_eq!(acl!(aclrtCntNotifyRecord(bad, stream, &mut up)), code);
            assert_eq!(acl!(aclrtCntNotifyWaitWithTimeout(bad, stream, &mut until)), code);
            assert_eq!(acl!(aclrtCntNotifyReset(bad, stream)), code);
            assert_eq!(acl!(aclrtCntNotifyGetId(bad, &mut number)), code);
            assert_eq!(acl!(aclrtCntNotifyDestroy(bad)), code);
        }
        for (code, bad) in
            [(sys::ACL_ERROR_RT_INVALID_HANDLE, dead_stream), (sys::ACL_ERROR_RT_STREAM_CONTEXT, foreign)]
        {
            assert_eq!(acl!(aclrtCntNotifyRecord(good, bad, &mut up)), code);
            assert_eq!(acl!(aclrtCntNotifyWaitWithTimeout(good, bad, &mut until)), code);
            assert_eq!(acl!(aclrtCntNotifyReset(good, bad)), code);
        }
        refused!(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyRecord(null_mut(), stream, null_mut()));
        refused!(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyWaitWithTimeout(null_mut(), stream, null_mut()));
        for mode in [3, 5, u32::MAX] {
            let mut strange = aclrtCntNotifyRecordInfo { mode, value: 1 };
            refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCntNotifyRecord(good, stream, &mut strange));
        }
        let mut strange = wait_info(5, 1, false);
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCntNotifyWaitWithTimeout(good, stream, &mut strange));
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCntNotifyGetId(good, null_mut()));
        ok!(aclrtCntNotifyGetId(good, &mut number));
        let mut second = 0;
        ok!(aclrtCntNotifyGetId(counter(), &mut second));
        assert_ne!(number, second);
        ok!(aclrtSynchronizeStream(stream));
        ok!(aclrtDestroyContext(other));
    });
}

/// aclrtCntNotifyWaitWithTimeout#05
#[test]
fn a_wait_that_takes_too_long() {
    child::alone("a_wait_that_takes_too_long", ENV, || {
        device(0);
        let (counter, stream) = (counter(), stream());
        let mut info = wait_info(1, 5, false);
        info.timeout = 1;
        ok!(aclrtCntNotifyWaitWithTimeout(counter, stream, &mut info));
        refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream));
    });
}
