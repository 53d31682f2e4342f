//! Built-in tasks, words, notifies and labels on products that lack some of them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;
mod child;

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl::label::*;
use ascendcl::memory::aclrtMalloc;
use ascendcl::notify::*;
use ascendcl::task::*;
use ascendcl::value::*;
use stream_common::*;
use sys::{ACL_BF16, ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT16, ACL_INT32, ACL_UINT32};

fn memory() -> *mut c_void {
    let mut memory = null_mut();
    ok!(aclrtMalloc(&mut memory, 64, sys::ACL_MEM_MALLOC_HUGE_FIRST));
    memory
}

/// The kinds and types of reductions that the product has.
fn reductions() -> (Vec<u32>, Vec<i32>) {
    let (a, b) = (memory(), memory());
    let has = |kind, data_type| {
        let code = acl!(aclrtReduceAsync(a, b, 4, kind, data_type, null_mut(), null_mut()));
        assert!(code == 0 || code == sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "{code}");
        code == 0
    };
    let kinds = (10..14).filter(|kind| has(*kind, ACL_FLOAT)).collect();
    let types = [ACL_INT8, ACL_INT16, ACL_INT32, ACL_UINT32, ACL_FLOAT16, ACL_FLOAT, ACL_BF16];
    let types = types.into_iter().filter(|data_type| has(10, *data_type)).collect();
    ok!(aclrtSynchronizeStream(null_mut()));
    (kinds, types)
}

fn counted() -> i32 {
    let mut counter = null_mut();
    acl!(aclrtCntNotifyCreate(&mut counter, 0))
}

/// aclrtReduceAsync#10, aclrtRandomNumAsync#10
#[test]
fn on_950dt() {
    child::alone("on_950dt", &[("TOPROPE_PRODUCT", "950dt")], || {
        device(0);
        let types = vec![ACL_INT8, ACL_INT16, ACL_INT32, ACL_UINT32, ACL_FLOAT16, ACL_FLOAT, ACL_BF16];
        assert_eq!(reductions(), (vec![10, 11, 12, 13], types));
        // SAFETY: plain data.
        let info = unsafe { std::mem::zeroed() };
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtRandomNumAsync(&info, null_mut(), null_mut()));
        assert_eq!(counted(), 0);
    });
}

/// aclrtReduceAsync#12, aclrtValueWrite#02, aclrtValueWait#02, aclrtCreateNotify#04, #08, aclrtNotifyBatchReset#07,
/// aclrtCntNotifyCreate#06
#[test]
fn on_200i_500_a2() {
    child::alone("on_200i_500_a2", &[("TOPROPE_PRODUCT", "200i-500-a2")], || {
        device(0);
        let types = vec![ACL_INT8, ACL_INT16, ACL_INT32, ACL_FLOAT16, ACL_FLOAT];
        assert_eq!(reductions(), (vec![10, 11, 12, 13], types));
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtValueWrite(memory(), 1, 0, null_mut()));
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtValueWait(memory(), 1, 0, null_mut()));
        assert_eq!(counted(), sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        let mut notify = null_mut();
        let device_only = sys::ACL_NOTIFY_DEVICE_USE_ONLY.into();
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateNotify(&mut notify, device_only));
        (0..2048).for_each(|_| ok!(aclrtCreateNotify(&mut notify, 0)));
        refused!(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, aclrtCreateNotify(&mut notify, 0));
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtNotifyBatchReset(&mut notify, 1));
    });
}

/// aclrtReduceAsync#09, #13, aclrtCreateNotify#09
#[test]
fn on_inference() {
    child::alone("on_inference", &[("TOPROPE_PRODUCT", "inference")], || {
        device(0);
        assert_eq!(reductions(), (vec![10], vec![ACL_INT16, ACL_FLOAT16, ACL_FLOAT]));
        let mut notify = null_mut();
        (0..1024).for_each(|_| ok!(aclrtCreateNotify(&mut notify, 0)));
        refused!(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, aclrtCreateNotify(&mut notify, 0));
    });
}

/// aclrtReduceAsync#09, #14
#[test]
fn on_training() {
    child::alone("on_training", &[("TOPROPE_PRODUCT", "training")], || {
        device(0);
        assert_eq!(reductions(), (vec![10], vec![ACL_FLOAT]));
    });
}

/// aclrtReduceAsync#21, aclrtCreateLabel#05, aclrtCreateNotify#10
#[test]
fn on_ipv350() {
    child::alone("on_ipv350", &[("TOPROPE_PRODUCT", "ipv350")], || {
        context(0);
        let (a, mut none) = (memory(), null_mut());
        let code = acl!(aclrtReduceAsync(a, a, 4, 10, ACL_FLOAT, null_mut(), null_mut()));
        assert_eq!(code, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateLabel(&mut none));
        refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateNotify(&mut none, 0));
    });
}
