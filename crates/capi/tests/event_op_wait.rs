//! aclrtSetOpWaitTimeout, which is a setting of the whole process: alone in its own.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use stream_common::*;

/// aclrtSetOpWaitTimeout#01, aclrtStreamWaitEvent#05: seconds, for waits that are added later and name no timeout of their own.
#[test]
fn waits_are_bounded() {
    device(0);
    let (stream, waiter, patient, before) = (stream(), stream(), stream(), stream());
    let event = event();
    let hold = Hold::on(stream);
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtStreamWaitEvent(before, event));
    ok!(aclrtSetOpWaitTimeout(7));
    ok!(aclrtSetOpWaitTimeout(1));
    ok!(aclrtStreamWaitEvent(waiter, event));
    ok!(aclrtStreamWaitEventWithTimeout(patient, event, 0));
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiter, 50));
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(waiter));
    assert!(!complete(patient));
    assert!(!complete(before));
    ok!(aclrtSetOpWaitTimeout(0));
    ok!(aclrtStreamWaitEvent(waiter, event));
    hold.release();
    for stream in [waiter, patient, before, stream] {
        ok!(aclrtSynchronizeStream(stream));
        ok!(aclrtDestroyStream(stream));
    }
    ok!(aclrtDestroyEvent(event));
}
