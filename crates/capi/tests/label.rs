//! Chapter 10 through the C interface. No stream can be in a model yet, hence none can have a label.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl::label::*;
use ascendcl::memory::aclrtMalloc;
use stream_common::*;
use sys::{aclrtLabel, aclrtLabelList};

fn label() -> aclrtLabel {
    let mut label = null_mut();
    ok!(aclrtCreateLabel(&mut label));
    assert!(!label.is_null());
    label
}

fn list(labels: &mut [aclrtLabel]) -> aclrtLabelList {
    let mut list = null_mut();
    ok!(aclrtCreateLabelList(labels.as_mut_ptr(), labels.len(), &mut list));
    list
}

/// aclrtCreateLabel#01, #02, aclrtCreateLabelList#01 to #05, #07, aclrtDestroyLabel#01, #02, #04, aclrtDestroyLabelList#01, #02
#[test]
fn making_and_ending() {
    let mut made = null_mut();
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateLabel(&mut made));
    let context = context(0);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateLabel(null_mut()));
    let (a, b, dead) = (label(), label(), label());
    ok!(aclrtDestroyLabel(dead));
    let mut labels = [a, b, dead];
    let at = labels.as_mut_ptr();
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateLabelList(null_mut(), 0, null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtCreateLabelList(at, 0, null_mut()));
    for num in [0, 65536, usize::MAX] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateLabelList(at, num, &mut made));
    }
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtCreateLabelList(at, 3, &mut made));
    let list = list(&mut labels[..2]);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtDestroyLabelList(null_mut()));
    ok!(aclrtDestroyLabelList(list));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyLabelList(list));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtDestroyLabel(null_mut()));
    for bad in [dead, list, 8 as aclrtLabel] {
        refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyLabel(bad));
    }
    ok!(aclrtDestroyContext(context));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyLabel(a));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateLabelList(at, 2, &mut made));
}

/// aclrtSetLabel#01 to #09, aclrtDestroyLabel#03
#[test]
fn setting() {
    let first = context(0);
    let (label, own) = (label(), stream());
    let second = context(0);
    let other = stream();
    let dead = stream();
    ok!(aclrtDestroyStream(dead));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetLabel(null_mut(), null_mut()));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSetLabel(label, null_mut()));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetLabel(other, other));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetLabel(label, dead));
    refused!(ACL_ERROR_RT_LABEL_CONTEXT, aclrtSetLabel(label, own));
    refused!(ACL_ERROR_RT_LABEL_CONTEXT, aclrtDestroyLabel(label));
    ok!(aclrtSetCurrentContext(first));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetLabel(label, other));
    refused!(ACL_ERROR_RT_STREAM_MODEL, aclrtSetLabel(label, own));
    ok!(aclrtDestroyLabel(label));
    ok!(aclrtDestroyContext(second));
}

/// aclrtSwitchLabelByIndex#01, #02, #03, #04, #06, #08 to #11
#[test]
fn jumping() {
    let other = context(0);
    let foreign = stream();
    device(0);
    let stream = stream();
    let mut index: *mut c_void = null_mut();
    ok!(aclrtMalloc(&mut index, 64, sys::ACL_MEM_MALLOC_HUGE_FIRST));
    let list = list(&mut [label(), label()]);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSwitchLabelByIndex(null_mut(), 2, list, stream));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSwitchLabelByIndex(index, 2, null_mut(), stream));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtSwitchLabelByIndex(index, 2, list, null_mut()));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSwitchLabelByIndex(index, 2, list, list));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSwitchLabelByIndex(index, 2, stream, stream));
    let mut local = 0_u32;
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSwitchLabelByIndex((&raw mut local).cast(), 2, list, stream));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSwitchLabelByIndex(index, 3, list, stream));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSwitchLabelByIndex(index, 2, list, foreign));
    refused!(ACL_ERROR_RT_STREAM_MODEL, aclrtSwitchLabelByIndex(index, 2, list, stream));
    ok!(aclrtDestroyContext(other));
}

/// aclrtCreateLabel#03
#[test]
fn there_are_65535_per_process() {
    device(0);
    let all: Vec<_> = (0..65535).map(|_| label()).collect();
    let mut none = null_mut();
    refused!(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtCreateLabel(&mut none));
    ok!(aclrtDestroyLabel(all[9]));
    label();
}
