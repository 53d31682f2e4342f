//! Streams and events on the inference product: other limits, and calls that it does not take.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ptr::null_mut;
use std::sync::Once;

use ascendcl::timeout::*;
use stream_common::*;

fn product(id: i32) {
    static SET: Once = Once::new();
    // SAFETY: before the first call of the runtime; nobody else in this process reads the environment at that time.
    SET.call_once(|| unsafe { std::env::set_var("TOPROPE_PRODUCT", "inference") });
    ok!(aclrtSetDevice(id));
}

/// aclrtCreateStream#05, aclrtCreateEvent#03, aclrtCreateEventWithFlag#03
#[test]
fn limits() {
    product(1);
    let mut none = null_mut();
    let streams: Vec<_> = (0..1023).map(|_| stream()).collect();
    refused!(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateStream(&mut none));
    let events: Vec<_> = (0..1023).map(|_| event()).collect();
    refused!(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEvent(&mut none));
    refused!(ACL_ERROR_RT_NO_EVENT_RESOURCE, aclrtCreateEventWithFlag(&mut none, sys::ACL_EVENT_SYNC));
    ok!(aclrtDestroyEvent(event_ex(sys::ACL_EVENT_SYNC)));
    for event in events {
        ok!(aclrtDestroyEvent(event));
    }
    for stream in streams {
        ok!(aclrtDestroyStream(stream));
    }
}

/// aclrtSetStreamFailureMode#08, aclrtSetStreamAttribute#04, #07, aclrtGetStreamAttribute#04, #07, aclrtSetOpWaitTimeout#02, *#06
#[test]
fn what_the_product_lacks() {
    product(0);
    let stream = stream();
    let mut value = sys::aclrtStreamAttrValue { reserve: [1; 4] };
    let tag = sys::ACL_STREAM_ATTR_USER_CUSTOM_TAG;
    let priority = sys::ACL_STREAM_ATTR_PRIORITY;
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetStreamFailureMode(null_mut(), 1));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetStreamAttribute(null_mut(), tag, &mut value));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtGetStreamAttribute(null_mut(), tag, &mut value));
    ok!(aclrtSetStreamAttribute(stream, tag, &mut value));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetStreamAttribute(stream, priority, &mut value));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtGetStreamAttribute(stream, priority, &mut value));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetOpWaitTimeout(1));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamAbort(stream));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamStop(stream));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtPersistentTaskClean(stream));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetStreamOverflowSwitch(stream, 1));
    let event = event();
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtRecordEventWithFlag(event, stream, 0));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEventWithFlag(stream, event, 0, 0));
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyStream(stream));
}

/// aclrtSetOpExecuteTimeOut#06, #10
#[test]
fn operator_timeouts() {
    product(0);
    let (mut ms, mut actual) = (0, 0);
    ok!(aclrtGetOpExecuteTimeout(&mut ms));
    assert_eq!(ms, 547_000);
    ok!(aclrtSetOpExecuteTimeOutV2(0, &mut actual));
    assert_eq!(actual / 1_000_000, 547);
}
