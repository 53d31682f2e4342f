//! Streams and events on 200i-500-a2: no DEVICE_USE_ONLY, no IPC events.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ptr::null_mut;

use stream_common::*;

/// aclrtCreateStream#04, aclrtCreateStreamWithConfig#11, aclrtCreateEventWithFlag#11, aclrtCreateEventExWithFlag#10
#[test]
fn what_the_product_lacks() {
    // SAFETY: before the first call of the runtime; nobody else in this process reads the environment.
    unsafe { std::env::set_var("TOPROPE_PRODUCT", "200i-500-a2") };
    ok!(aclrtSetDevice(0));
    let mut none = null_mut();
    let only = sys::ACL_STREAM_DEVICE_USE_ONLY;
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateStreamWithConfig(&mut none, 0, only));
    let only = sys::ACL_EVENT_DEVICE_USE_ONLY;
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateEventWithFlag(&mut none, only));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateEventExWithFlag(&mut none, sys::ACL_EVENT_IPC));
    let mut available = 0;
    ok!(aclrtGetStreamAvailableNum(&mut available));
    assert_eq!(available, 511);
}
