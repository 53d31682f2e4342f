//! Streams and callbacks on ipv350, which has no default stream, no events, and a way of its own to configure streams.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ptr::{null, null_mut};
use std::sync::Once;

use stream_common::*;

unsafe extern "C" {
    fn pthread_self() -> u64;
}

/// The process runs on ipv350, the thread in a context of its own.
fn product() {
    static SET: Once = Once::new();
    // SAFETY: before the first call of the runtime; nobody else in this process reads the environment at that time.
    SET.call_once(|| unsafe { std::env::set_var("TOPROPE_PRODUCT", "ipv350") });
    // There is no default context either.
    context(0);
}

fn stream_v2() -> aclrtStream {
    let mut stream = null_mut();
    ok!(aclrtCreateStreamV2(&mut stream, null()));
    stream
}

/// *#05, *#06
#[test]
fn what_the_product_lacks() {
    product();
    let mut out = null_mut();
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateStream(&mut out));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateEvent(&mut out));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeDevice());
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeStream(null_mut()));
    let (func, arg) = closure(|| {});
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtLaunchHostFunc(null_mut(), func, arg));
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtLaunchCallback(func, arg, 0, null_mut()));
}

/// aclrtCreateStreamV2#01, #02, #03, aclrtSetStreamConfigOpt#01 to #06, aclrtCreateStreamConfigHandle#02,
/// aclrtDestroyStreamConfigHandle#01
#[test]
fn configurations() {
    product();
    let mut stream = null_mut();
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamV2(null_mut(), null()));
    let config = acl!(aclrtCreateStreamConfigHandle());
    assert!(!config.is_null());
    // SAFETY: the structure is public.
    let read = || unsafe { config.read() };
    assert!(read().workptr.is_null());
    assert_eq!((read().workSize, read().flag, read().priority), (0, 0, 0));
    let (priority, flag, size) = (5_u32, 1_u64, 4096_usize);
    let work: *mut std::ffi::c_void = 0x1000 as *mut _;
    use sys::{
        ACL_RT_STREAM_FLAG as FLAG, ACL_RT_STREAM_PRIORITY as PRIORITY, ACL_RT_STREAM_WORK_ADDR_PTR as WORK,
        ACL_RT_STREAM_WORK_SIZE as SIZE,
    };
    let p = (&raw const priority).cast();
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetStreamConfigOpt(null_mut(), PRIORITY, p, 4));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetStreamConfigOpt(config, PRIORITY, null(), 4));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetStreamConfigOpt(config, 4, p, 4));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetStreamConfigOpt(config, PRIORITY, p, 8));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetStreamConfigOpt(config, FLAG, p, 4));
    let high = 8_u32;
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetStreamConfigOpt(config, PRIORITY, (&raw const high).cast(), 4));
    ok!(aclrtSetStreamConfigOpt(config, PRIORITY, p, 4));
    ok!(aclrtSetStreamConfigOpt(config, FLAG, (&raw const flag).cast(), 8));
    ok!(aclrtSetStreamConfigOpt(config, SIZE, (&raw const size).cast(), 8));
    ok!(aclrtSetStreamConfigOpt(config, WORK, (&raw const work).cast(), 8));
    assert_eq!((read().workptr, read().workSize, read().flag, read().priority), (work, 4096, 1, 5));
    ok!(aclrtCreateStreamV2(&mut stream, config));
    ok!(aclrtDestroyStreamConfigHandle(config));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtDestroyStreamConfigHandle(config));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetStreamConfigOpt(config, PRIORITY, p, 4));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtDestroyStreamConfigHandle(null_mut()));
    let mut none = null_mut();
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamV2(&mut none, config));
    assert!(none.is_null());
    ok!(aclrtDestroyStream(stream));
}

/// aclrtLaunchCallback#07, #08, on a stream of aclrtCreateStreamV2
#[test]
fn callbacks() {
    product();
    let stream = stream_v2();
    // SAFETY: takes nothing.
    let me = unsafe { pthread_self() };
    ok!(aclrtSubscribeReport(me, stream));
    let log = Log::default();
    for n in 0..3 {
        let log = log.clone();
        let (func, arg) = closure(move || log.note(n));
        ok!(aclrtLaunchCallback(func, arg, sys::ACL_CALLBACK_BLOCK, stream));
    }
    while log.get().len() < 3 {
        ok!(aclrtProcessReport(20_000));
    }
    ok!(aclrtSynchronizeStream(stream));
    assert_eq!(log.get(), [0, 1, 2]);
    ok!(aclrtUnSubscribeReport(me, stream));
    ok!(aclrtDestroyStream(stream));
}

/// aclrtSubscribeHostFunc#01, #02, #03, aclrtProcessHostFunc#01, #02, aclrtUnSubscribeHostFunc#01
#[test]
fn host_function_threads() {
    product();
    let (first, second) = (stream_v2(), stream_v2());
    // SAFETY: takes nothing.
    let me = unsafe { pthread_self() };
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSubscribeHostFunc(me, null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtUnSubscribeHostFunc(me, null_mut()));
    refused!(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessHostFunc(5));
    for bad in [0, -2] {
        refused!(ACL_ERROR_INVALID_PARAM, aclrtProcessHostFunc(bad));
    }
    ok!(aclrtSubscribeHostFunc(me, first));
    ok!(aclrtSubscribeHostFunc(me, second));
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeHostFunc(me + 8, first));
    refused!(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessHostFunc(5));
    refused!(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtUnSubscribeHostFunc(me + 8, first));
    ok!(aclrtUnSubscribeHostFunc(me, first));
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtUnSubscribeHostFunc(me, first));
    refused!(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessHostFunc(5));
    ok!(aclrtDestroyStream(second));
    refused!(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessHostFunc(5));
    ok!(aclrtDestroyStream(first));
}
