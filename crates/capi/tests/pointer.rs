//! What an address is, through the C ABI: chapters 11-04 and 11-05.
#![allow(clippy::undocumented_unsafe_blocks, reason = "every call is one of the library under test")]

mod host_help;

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl::device::aclrtDeviceEnablePeerAccess;
use ascendcl::managed::aclrtMemAllocManaged;
use ascendcl::memory::*;
use ascendcl::pointer::*;
use ascendcl_sys as sys;
use host_help::*;

const INVALID: i32 = sys::ACL_ERROR_INVALID_PARAM;

/// (type, id, page size)
fn attributes(ptr: *const c_void) -> (u32, u32, u32) {
    let mut answer: sys::aclrtPtrAttributes = unsafe { std::mem::zeroed() };
    answer.rsv = [9; 4];
    done(unsafe { aclrtPointerGetAttributes(ptr, &raw mut answer) });
    assert_eq!(answer.rsv, [0; 4]);
    (answer.location.r#type, answer.location.id, answer.pageSize)
}

fn malloc(size: usize, policy: u32) -> *mut c_void {
    let mut ptr = null_mut();
    done(unsafe { aclrtMalloc(&raw mut ptr, size, policy) });
    ptr
}

/// aclrtPointerGetAttributes#04 to #07: every kind of memory, at its start, inside and after it was freed.
#[test]
fn tells_every_kind_of_memory() {
    let rt = on(1);
    let unknown = (sys::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
    let normal = malloc(100, sys::ACL_MEM_MALLOC_NORMAL_ONLY);
    assert_eq!(attributes(normal), (sys::ACL_MEM_LOCATION_TYPE_DEVICE, 1, 4096));
    assert_eq!(attributes(normal.wrapping_byte_add(99)), (sys::ACL_MEM_LOCATION_TYPE_DEVICE, 1, 4096));
    let huge = malloc(4 << 20, sys::ACL_MEM_MALLOC_HUGE_ONLY);
    assert_eq!(attributes(huge.wrapping_byte_add(3 << 20)), (sys::ACL_MEM_LOCATION_TYPE_DEVICE, 1, 2 << 20));
    on(2);
    assert_eq!(attributes(normal).1, 1, "the device of the memory, not the thread's");
    let other = malloc(1, 0);
    assert_eq!(attributes(other).1, 2);
    let host = pinned(5000);
    assert_eq!(attributes(host.wrapping_byte_add(4999)), (sys::ACL_MEM_LOCATION_TYPE_HOST, 0, 4096));
    let mut shared = null_mut();
    done(unsafe { aclrtMemAllocManaged(&raw mut shared, 1, sys::ACL_RT_MEM_ATTACH_GLOBAL) });
    assert_eq!(attributes(shared), (sys::ACL_MEM_LOCATION_TYPE_MANAGED, 0, 2 << 20));

    let local = 0u8;
    for address in [&raw const local as usize, 1, 0x1234_5678, usize::MAX, MANAGED_END - 1] {
        assert_eq!(attributes(address as *const c_void), unknown, "{address:#x}");
    }
    let block = rt.space.find(normal as usize);
    done(unsafe { aclrtFree(normal) });
    // Another test may have the place already.
    if rt.space.find(normal as usize).is_none() {
        assert_eq!(attributes(normal), unknown);
    }
    assert_ne!(rt.space.find(normal as usize), block);
    for ptr in [huge, other, shared] {
        done(unsafe { aclrtFree(ptr) });
    }
    done(unsafe { aclrtFreeHost(host) });
}

const MANAGED_END: usize = 0x900_0000_0000 + (3 << 40);

/// aclrtPointerGetAttributes#01, #02; and it needs no device.
#[test]
fn attributes_refuse_null() {
    let answer = std::thread::spawn(|| {
        let mut answer: sys::aclrtPtrAttributes = unsafe { std::mem::zeroed() };
        unsafe { aclrtPointerGetAttributes(8 as *const c_void, &raw mut answer) }
    });
    assert_eq!(answer.join().unwrap(), 0);
    let mut answer: sys::aclrtPtrAttributes = unsafe { std::mem::zeroed() };
    let code = unsafe { aclrtPointerGetAttributes(null_mut(), &raw mut answer) };
    refused(code, INVALID, "aclrtPointerGetAttributes#01");
    let code = unsafe { aclrtPointerGetAttributes(8 as *const c_void, null_mut()) };
    refused(code, INVALID, "aclrtPointerGetAttributes#02");
    let code = unsafe { aclrtPointerGetAttributes(8 as *const c_void, 64 as *mut _) };
    refused(code, INVALID, "aclrtPointerGetAttributes#02");
}

/// aclrtMemGetAddressRange#03, #04, #05, #07
#[test]
fn address_range_finds_the_block() {
    on(0);
    let range = |ptr| {
        let (mut base, mut size) = (null_mut(), 0);
        done(unsafe { aclrtMemGetAddressRange(ptr, &raw mut base, &raw mut size) });
        (base, size)
    };
    let device = malloc(1000, 0);
    let host = pinned(777);
    for (block, size) in [(device, 1000), (host, 777)] {
        for offset in [0, 1, size - 1] {
            assert_eq!(range(block.wrapping_byte_add(offset)), (block, size));
        }
        let (mut base, mut bytes) = (null_mut(), 0);
        done(unsafe { aclrtMemGetAddressRange(block, &raw mut base, null_mut()) });
        done(unsafe { aclrtMemGetAddressRange(block, null_mut(), &raw mut bytes) });
        assert_eq!((base, bytes), (block, size));
    }
    done(unsafe { aclrtFree(device) });
    done(unsafe { aclrtFreeHost(host) });
}

/// aclrtMemGetAddressRange#01, #02, and memory that is nobody's.
#[test]
fn address_range_refuses() {
    on(0);
    let (mut base, mut size) = (null_mut(), 0);
    let answer = unsafe { aclrtMemGetAddressRange(null_mut(), &raw mut base, &raw mut size) };
    refused(answer, INVALID, "aclrtMemGetAddressRange#01");
    let answer = unsafe { aclrtMemGetAddressRange(8 as *mut c_void, null_mut(), null_mut()) };
    refused(answer, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemGetAddressRange#02");
    let answer = unsafe { aclrtMemGetAddressRange(8 as *mut c_void, &raw mut base, &raw mut size) };
    refused(answer, sys::ACL_ERROR_RT_PARAM_INVALID, "ours: memory of the runtime");
    assert_eq!((base, size), (null_mut(), 0));
}

/// aclrtMemP2PMap#01 to #05
#[test]
fn p2p_map_needs_access() {
    let rt = on(3);
    let memory = malloc(4096, 0);
    let host = pinned(64);
    let map = |ptr, size, user, flags| unsafe { aclrtMemP2PMap(ptr, size, user, flags) };
    let wrong = sys::ACL_ERROR_RT_PARAM_INVALID;
    refused(map(null_mut(), 0, 4, 0), INVALID, "aclrtMemP2PMap#01");
    refused(map(memory, 0, 4, 1), INVALID, "aclrtMemP2PMap#02");
    refused(map(memory, 64, 99, 1), INVALID, "aclrtMemP2PMap#03");
    for user in [-1, rt.devices.len() as i32] {
        refused(map(memory, 64, user, 0), sys::ACL_ERROR_RT_INVALID_DEVICEID, "aclrtMemP2PMap#05");
    }
    refused(map(host, 64, 4, 0), wrong, "ours: memory of a device");
    assert_eq!(map(memory, 1 << 40, 4, 0), wrong);
    refused(map(memory, 64, 4, 0), wrong, "aclrtMemP2PMap#04");
    // The device that uses the memory asks for access to the one that has it; the other way round is not enough.
    done(unsafe { aclrtDeviceEnablePeerAccess(4, 0) });
    refused(map(memory, 64, 4, 0), wrong, "aclrtMemP2PMap#04");
    on(4);
    done(unsafe { aclrtDeviceEnablePeerAccess(3, 0) });
    done(map(memory, 4096, 4, 0));
    done(map(memory, 64, 3, 0));
    done(unsafe { aclrtFree(memory) });
    done(unsafe { aclrtFreeHost(host) });
}
