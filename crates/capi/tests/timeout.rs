//! Time limits of operators (chapter 12), on the default product (a2). They are settings of the process: one test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ptr::null_mut;

use ascendcl::timeout::*;
use stream_common::*;

/// aclrtSetOpExecuteTimeOut#01, #02, #04, #08, aclrtSetOpExecuteTimeOutV2#01, #02, #06, #07, #10, aclrtGetOpExecuteTimeout#01,
/// #02, aclrtGetOpTimeOutInterval#01, #02, #03, #05, aclrtSetOpExecuteTimeOutWithMs#02
#[test]
fn operator_timeouts() {
    let (mut ms, mut interval, mut actual) = (0, 0, 0);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtGetOpExecuteTimeout(null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtGetOpTimeOutInterval(null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetOpExecuteTimeOutV2(1, null_mut()));
    ok!(aclrtGetOpExecuteTimeout(&mut ms));
    assert_eq!(ms, 1_091_000);
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetOpTimeOutInterval(&mut interval));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetOpExecuteTimeOutV2(1, &mut actual));
    let mine = context(4);
    refused!(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtGetOpTimeOutInterval(&mut interval));
    refused!(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetOpExecuteTimeOutV2(1, &mut actual));
    ok!(aclrtDestroyContext(mine));
    device(4);
    ok!(aclrtGetOpTimeOutInterval(&mut interval));
    assert_ne!(interval, 0);
    for (asked, wanted) in [
        (1, interval),
        (interval, interval),
        (interval + 1, 2 * interval),
        (300 * interval, 254 * interval),
        (u64::MAX, 254 * interval),
        (0, 254 * interval),
    ] {
        ok!(aclrtSetOpExecuteTimeOutV2(asked, &mut actual));
        assert_eq!(actual, wanted, "asked {asked}");
        ok!(aclrtGetOpExecuteTimeout(&mut ms));
        assert_eq!(u64::from(ms), wanted.div_ceil(1000));
    }
    // The documented maximum.
    assert_eq!(actual / 1_000_000, 1091);
    ok!(aclrtSetOpExecuteTimeOut(10));
    ok!(aclrtGetOpExecuteTimeout(&mut ms));
    assert!(ms >= 10_000 && u64::from(ms) < 10_000 + interval / 1000 + 1, "{ms}");
    ok!(aclrtSetOpExecuteTimeOut(u32::MAX));
    ok!(aclrtGetOpExecuteTimeout(&mut ms));
    assert_eq!(ms / 1000, 1091);
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetOpExecuteTimeOutWithMs(10));
}
