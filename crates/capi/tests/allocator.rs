//! Chapters 11-08 and 25-03 through the C interface: descriptors of allocators and their registration.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl::allocator::*;
use stream_common::*;
use sys::{
    aclrtAllocatorAllocAdviseFunc as AdviseFunc, aclrtAllocatorAllocFunc as AllocFunc,
    aclrtAllocatorFreeFunc as FreeFunc, aclrtAllocatorGetAddrFromBlockFunc as AddressFunc,
};

unsafe extern "C" fn alloc(allocator: *mut c_void, size: usize) -> *mut c_void {
    allocator.wrapping_byte_add(size)
}

unsafe extern "C" fn free(_: *mut c_void, _: *mut c_void) {}

unsafe extern "C" fn advise(_: *mut c_void, _: usize, addr: *mut c_void) -> *mut c_void {
    addr
}

unsafe extern "C" fn address_of(block: *mut c_void) -> *mut c_void {
    block.wrapping_byte_add(1)
}

/// A descriptor with `parts` of object, alloc, free, address and advise set.
fn descriptor(object: usize, parts: usize) -> *mut c_void {
    let desc = acl!(aclrtAllocatorCreateDesc());
    assert!(!desc.is_null());
    if parts > 0 {
        ok!(aclrtAllocatorSetObjToDesc(desc, object as *mut c_void));
    }
    if parts > 1 {
        ok!(aclrtAllocatorSetAllocFuncToDesc(desc, Some(alloc)));
    }
    if parts > 2 {
        ok!(aclrtAllocatorSetFreeFuncToDesc(desc, Some(free)));
    }
    if parts > 3 {
        ok!(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, Some(address_of)));
    }
    if parts > 4 {
        ok!(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, Some(advise)));
    }
    desc
}

/// The descriptor and the object that are registered for a stream, and whether it has the optional function.
fn registered(stream: *mut c_void) -> (*mut c_void, usize, bool) {
    let (mut desc, mut object) = (null_mut(), null_mut());
    let (mut alloc, mut free): (AllocFunc, FreeFunc) = (None, None);
    let (mut advise, mut address): (AdviseFunc, AddressFunc) = (None, None);
    ok!(aclrtAllocatorGetByStream(
        stream,
        &mut desc,
        &mut object,
        &mut alloc,
        &mut free,
        &mut advise,
        &mut address
    ));
    let block = acl!(alloc.unwrap()(object, 64));
    assert_eq!(block as usize, object as usize + 64);
    assert_eq!(acl!(address.unwrap()(block)) as usize, block as usize + 1);
    acl!(free.unwrap()(object, block));
    (desc, object as usize, advise.is_some_and(|advise| acl!(advise(object, 8, block)) == block))
}

const NONE: *mut c_void = null_mut();

/// aclrtAllocatorDestroyDesc#01, aclrtAllocatorSetObjToDesc#01, #02 and the same of the four others, aclrtAllocatorRegister#01,
/// #02, aclrtAllocatorGetByStream#01, #02, aclrtAllocatorUnregister#01
#[test]
fn null_arguments() {
    let desc = descriptor(1, 0);
    let key = 8 as *mut c_void;
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorDestroyDesc(NONE));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetObjToDesc(NONE, key));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetObjToDesc(desc, NONE));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetAllocFuncToDesc(NONE, Some(alloc)));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetAllocFuncToDesc(desc, None));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetFreeFuncToDesc(NONE, Some(free)));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetFreeFuncToDesc(desc, None));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetAllocAdviseFuncToDesc(NONE, Some(advise)));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetAllocAdviseFuncToDesc(desc, None));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetGetAddrFromBlockFuncToDesc(NONE, Some(address_of)));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, None));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(NONE, desc));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(key, NONE));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorUnregister(NONE));
    let mut out = NONE;
    let skip = (null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
    let got = acl!(aclrtAllocatorGetByStream(NONE, null_mut(), skip.0, skip.1, skip.2, skip.3, skip.4));
    assert_eq!(got, sys::ACL_ERROR_INVALID_PARAM);
    assert!(why().contains("aclrtAllocatorGetByStream#01"));
    let got = acl!(aclrtAllocatorGetByStream(NONE, &mut out, skip.0, skip.1, skip.2, skip.3, skip.4));
    assert_eq!(got, sys::ACL_ERROR_INVALID_PARAM);
    assert!(why().contains("aclrtAllocatorGetByStream#02"));
    ok!(aclrtAllocatorDestroyDesc(desc));
    // ours: a descriptor that is none any more, or never was.
    for bad in [desc, key, usize::MAX as *mut c_void] {
        refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorDestroyDesc(bad));
        refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorSetObjToDesc(bad, key));
        refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(key, bad));
    }
}

/// aclrtAllocatorCreateDesc#02, aclrtAllocatorRegister#03 to #08
#[test]
fn a_descriptor_must_be_complete() {
    let key = 16 as *mut c_void;
    for (parts, rule) in [(0, "#03"), (1, "#04"), (2, "#05"), (3, "#06")] {
        refused!(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(key, descriptor(1, parts)));
        assert!(why().contains(&format!("aclrtAllocatorRegister{rule}")));
    }
    let desc = descriptor(0x1000, 4);
    ok!(aclrtAllocatorRegister(key, desc));
    assert_eq!(registered(key), (desc, 0x1000, false));
}

/// aclrtAllocatorRegister#09, #10, #11, aclrtAllocatorGetByStream#03, #04, #05, aclrtAllocatorUnregister#02,
/// aclrtAllocatorDestroyDesc#02, aclrtAllocatorSetAllocAdviseFuncToDesc#03
#[test]
fn registrations_are_copies() {
    device(0);
    let stream = stream();
    let (a, b) = (descriptor(0x1000, 5), descriptor(0x2000, 4));
    ok!(aclrtAllocatorRegister(stream, a));
    ok!(aclrtAllocatorSetObjToDesc(a, 0x3000 as *mut c_void));
    assert_eq!(registered(stream), (a, 0x1000, true));
    ok!(aclrtAllocatorDestroyDesc(a));
    assert_eq!(registered(stream), (a, 0x1000, true));
    ok!(aclrtAllocatorRegister(stream, b));
    assert_eq!(registered(stream), (b, 0x2000, false));
    let mut only = NONE;
    let none = (null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
    ok!(aclrtAllocatorGetByStream(stream, &mut only, none.0, none.1, none.2, none.3, none.4));
    assert_eq!(only, b);
    ok!(aclrtAllocatorUnregister(stream));
    ok!(aclrtAllocatorUnregister(stream));
    let got = acl!(aclrtAllocatorGetByStream(stream, &mut only, none.0, none.1, none.2, none.3, none.4));
    assert_eq!(got, sys::ACL_ERROR_INVALID_PARAM);
    assert!(why().contains("aclrtAllocatorGetByStream#03"));
    ok!(aclrtAllocatorDestroyDesc(b));
    ok!(aclrtDestroyStream(stream));
}
