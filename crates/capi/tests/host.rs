//! Registration of host memory through the C ABI: chapter 11-02.
#![allow(clippy::undocumented_unsafe_blocks, reason = "every call is one of the library under test")]

mod host_help;

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl::copy::aclrtMemcpy;
use ascendcl::host::*;
use ascendcl::memory::*;
use ascendcl::pointer::*;
use ascendcl_sys as sys;
use host_help::*;
use toprope_engine::memory::Owner;

const MAPPED: u32 = sys::ACL_HOST_REG_MAPPED as u32;
const IOMEMORY: u32 = sys::ACL_HOST_REG_IOMEMORY as u32;
const READONLY: u32 = sys::ACL_HOST_REG_READONLY as u32;
const PINNED: u32 = sys::ACL_HOST_REG_PINNED as u32;

fn register(ptr: *mut c_void, size: usize) -> (i32, *mut c_void) {
    let mut device = null_mut();
    let code = unsafe { aclrtHostRegister(ptr, size as u64, sys::ACL_HOST_REGISTER_MAPPED, &raw mut device) };
    (code, device)
}

fn register_v2(ptr: *mut c_void, size: usize, flags: u32) -> i32 {
    unsafe { aclrtHostRegisterV2(ptr, size as u64, flags) }
}

fn device_pointer(host: *mut c_void) -> (i32, *mut c_void) {
    let mut device = null_mut();
    let code = unsafe { aclrtHostGetDevicePointer(host, &raw mut device, 0) };
    (code, device)
}

fn unregister(ptr: *mut c_void) -> i32 {
    unsafe { aclrtHostUnregister(ptr) }
}

/// aclrtHostRegister#05, aclrtHostUnregister#03: pageable memory can be registered, gets an address of its own for devices
/// that leads to the same bytes, and can be registered again after it was unregistered.
#[test]
fn maps_pageable_memory() {
    let rt = on(0);
    let memory = Pages::new(3);
    let (code, device) = register(memory.base, memory.size);
    done(code);
    assert_ne!(device, memory.base);
    let block = rt.space.find(device as usize).unwrap();
    assert_eq!((block.owner, block.base, block.size), (Owner::Alias, device as usize, memory.size));
    for offset in [0, 1, PAGE, memory.size - 1] {
        assert_eq!(rt.space.inner(device as usize + offset), memory.base as usize + offset);
    }
    assert_eq!(rt.space.find(memory.at(5) as usize).unwrap().owner, Owner::Registered);
    assert_eq!(device_pointer(memory.base), (0, device));

    done(unregister(memory.base));
    assert_ne!(rt.space.find(device as usize), Some(block));
    assert_eq!(rt.space.find(memory.base as usize), None);
    refused(device_pointer(memory.base).0, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostGetDevicePointer#06");
    done(register(memory.base, memory.size).0);
    done(unregister(memory.base));
}

/// The size need not be a multiple of the page size.
#[test]
fn takes_odd_sizes() {
    let rt = on(0);
    let memory = Pages::new(2);
    let (code, device) = register(memory.base, PAGE + 7);
    done(code);
    assert_eq!(rt.space.find(device as usize).unwrap().size, PAGE + 7);
    done(unregister(memory.base));
}

/// aclrtHostRegister#01, #02, #03, #07, #08, #09
#[test]
fn register_refuses_wrong_arguments() {
    on(0);
    let memory = Pages::new(1);
    let mut device = 7 as *mut c_void;
    let try_it =
        |ptr, size, kind, device: *mut *mut c_void| unsafe { aclrtHostRegister(ptr, size, kind, device) };
    let out = &raw mut device;
    refused(try_it(null_mut(), 4096, 0, out), sys::ACL_ERROR_INVALID_PARAM, "aclrtHostRegister#01");
    refused(try_it(memory.base, 0, 0, out), sys::ACL_ERROR_INVALID_PARAM, "aclrtHostRegister#02");
    refused(try_it(memory.base, 4096, 0, null_mut()), sys::ACL_ERROR_INVALID_PARAM, "aclrtHostRegister#07");
    refused(try_it(memory.at(64), 64, 0, out), sys::ACL_ERROR_RT_ADDR_UNALIGNED, "aclrtHostRegister#03");
    for kind in [1, 2, 0x10, u32::MAX] {
        let answer = try_it(memory.base, 4096, kind, out);
        refused(answer, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtHostRegister#08");
    }
    for kind in [4, 8, 12] {
        let answer = try_it(memory.base, 4096, kind, out);
        refused(answer, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtHostRegister#09");
    }
    // An out-parameter that cannot be written must not leave a registration behind.
    let answer = try_it(memory.base, 4096, 0, 64 as *mut *mut c_void);
    refused(answer, sys::ACL_ERROR_INVALID_PARAM, "aclrtHostRegister#07");
    assert_eq!(device, 7 as *mut c_void, "nothing was written");
    refused(unregister(memory.base), sys::ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "aclrtHostUnregister#02");
}

/// aclrtHostRegisterV2#01, #02, #03, #07, #08
#[test]
fn register_v2_refuses_wrong_arguments() {
    on(0);
    let memory = Pages::new(1);
    let invalid = sys::ACL_ERROR_INVALID_PARAM;
    refused(register_v2(null_mut(), 4096, MAPPED), invalid, "aclrtHostRegisterV2#01");
    refused(register_v2(memory.base, 0, MAPPED), invalid, "aclrtHostRegisterV2#02");
    let answer = register_v2(memory.at(1), 4096, MAPPED);
    refused(answer, sys::ACL_ERROR_RT_ADDR_UNALIGNED, "aclrtHostRegisterV2#03");
    for flags in [0, 1, MAPPED | 1, PINNED | 0x2000_0000, u32::MAX] {
        let answer = register_v2(memory.base, 4096, flags);
        refused(answer, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostRegisterV2#07");
    }
    for flags in [READONLY, MAPPED | READONLY, MAPPED | IOMEMORY | READONLY | PINNED] {
        let answer = register_v2(memory.base, 4096, flags);
        refused(answer, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtHostRegisterV2#08");
    }
}

/// Ranges that do not exist, in whole or in part, and memory that is not the host's.
#[test]
fn register_refuses_what_is_not_host_memory() {
    on(0);
    // Nothing else is ever put behind these pages.
    let memory = Pages::before_a_hole(3);
    let wrong = sys::ACL_ERROR_RT_PARAM_INVALID;
    refused(register_v2(memory.base, 4 * PAGE, MAPPED), wrong, "ours: memory that exists");
    refused(register_v2(4096 as *mut c_void, PAGE, MAPPED), wrong, "ours: memory that exists");
    refused(register_v2(memory.base, usize::MAX, MAPPED), wrong, "ours: a range that exists");
    refused(register_v2(memory.base, 1 << 63, MAPPED), wrong, "ours: memory that exists");
    done(register_v2(memory.base, 3 * PAGE, MAPPED));
    let (code, device) = device_pointer(memory.base);
    done(code);
    refused(register_v2(device, PAGE, MAPPED), wrong, "ours: host memory");
    done(unregister(memory.base));
}

/// aclrtHostRegisterV2#10: also at one byte of overlap, and the message names the earlier range.
#[test]
fn register_refuses_overlap() {
    on(0);
    let memory = Pages::new(6);
    done(register_v2(memory.at(2 * PAGE), 2 * PAGE, MAPPED));
    let code = sys::ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    for (offset, size) in [(2, 2), (0, 6), (1, 2), (3, 1), (3, 3), (2, 1)] {
        let answer = register_v2(memory.at(offset * PAGE), size * PAGE, MAPPED);
        refused(answer, code, "aclrtHostRegisterV2#10");
        let answer = register(memory.at(offset * PAGE), size * PAGE).0;
        let message = recent();
        assert_eq!(answer, code);
        assert!(message.contains(&format!("8192 bytes at {:#x}", memory.at(2 * PAGE) as usize)), "{message}");
    }
    done(register_v2(memory.base, 2 * PAGE, MAPPED));
    done(register_v2(memory.at(4 * PAGE), 2 * PAGE, MAPPED));
    for offset in [0, 2, 4] {
        done(unregister(memory.at(offset * PAGE)));
    }
}

/// aclrtHostRegisterV2#12, on a thread that set no device.
#[test]
fn register_needs_a_context() {
    let answers = std::thread::spawn(|| {
        let memory = Pages::new(1);
        [register_v2(memory.base, PAGE, MAPPED), register(memory.base, PAGE).0]
    });
    assert_eq!(answers.join().unwrap(), [sys::ACL_ERROR_RT_CONTEXT_NULL; 2]);
}

/// aclrtHostRegisterV2#11, aclrtHostGetDevicePointer#06, aclrtHostRegister<cpp>#04, #05: which flags map.
#[test]
fn flags_decide_about_mapping() {
    on(0);
    let memory = Pages::new(2);
    for flags in [MAPPED, MAPPED | PINNED, IOMEMORY, IOMEMORY | MAPPED, IOMEMORY | MAPPED | PINNED] {
        done(register_v2(memory.base, memory.size, flags));
        let (code, device) = device_pointer(memory.base);
        done(code);
        assert_eq!(device_pointer(memory.at(PAGE + 3)), (0, device.wrapping_byte_add(PAGE + 3)));
        done(unregister(memory.base));
    }
    done(register_v2(memory.base, memory.size, PINNED));
    let answer = device_pointer(memory.base).0;
    refused(answer, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostGetDevicePointer#06");
    done(unregister(memory.base));
}

/// aclrtHostGetDevicePointer#01, #02, #03
#[test]
fn get_device_pointer_refuses_wrong_arguments() {
    on(0);
    let memory = Pages::new(1);
    done(register_v2(memory.base, PAGE, MAPPED));
    let mut device = null_mut();
    let invalid = sys::ACL_ERROR_INVALID_PARAM;
    let answer = unsafe { aclrtHostGetDevicePointer(null_mut(), &raw mut device, 0) };
    refused(answer, invalid, "aclrtHostGetDevicePointer#01");
    let answer = unsafe { aclrtHostGetDevicePointer(memory.base, null_mut(), 0) };
    refused(answer, invalid, "aclrtHostGetDevicePointer#02");
    let answer = unsafe { aclrtHostGetDevicePointer(memory.base, &raw mut device, 1) };
    refused(answer, invalid, "aclrtHostGetDevicePointer#03");
    assert!(device.is_null());
    done(unregister(memory.base));
}

/// aclrtHostUnregister#01, #02: null, unknown, interior and twice; the message of an interior one names the registration.
#[test]
fn unregister_takes_the_start_once() {
    on(0);
    let memory = Pages::new(2);
    let code = sys::ACL_ERROR_HOST_MEMORY_NOT_REGISTERED;
    refused(unregister(null_mut()), sys::ACL_ERROR_INVALID_PARAM, "aclrtHostUnregister#01");
    refused(unregister(memory.base), code, "aclrtHostUnregister#02");
    done(register_v2(memory.base, memory.size, MAPPED));
    assert_eq!(unregister(memory.at(PAGE)), code);
    let message = recent();
    assert!(message.contains(&format!("8192 bytes at {:#x}", memory.base as usize)), "{message}");
    let (_, device) = device_pointer(memory.base);
    refused(unregister(device), code, "aclrtHostUnregister#02");
    done(unregister(memory.base));
    refused(unregister(memory.base), code, "aclrtHostUnregister#02");
}

/// aclrtHostRegister#05: memory of aclrtMallocHost, also a part of it; aclrtHostRegisterV2#09: but not to pin it again.
#[test]
fn maps_pinned_memory() {
    let rt = on(0);
    // Large enough to begin a page.
    let size = 256 << 10;
    let pinned = pinned(size);
    assert_eq!(pinned as usize % PAGE, 0);
    let (code, device) = register(pinned.wrapping_byte_add(PAGE), 2 * PAGE);
    done(code);
    assert_eq!(rt.space.inner(device as usize + 3), pinned as usize + PAGE + 3);
    assert_eq!(rt.space.find(pinned as usize + PAGE).unwrap().owner, Owner::Pinned);
    refused(device_pointer(pinned).0, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostGetDevicePointer#06");
    let answer = register_v2(pinned, PAGE, PINNED);
    refused(answer, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostRegisterV2#09");
    let answer = register_v2(pinned, 2 * PAGE, MAPPED);
    refused(answer, sys::ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "aclrtHostRegisterV2#10");
    let answer = register_v2(pinned.wrapping_byte_add(size - PAGE), 2 * PAGE, MAPPED);
    refused(answer, sys::ACL_ERROR_RT_PARAM_INVALID, "ours: host memory");

    // Freeing the block ends the registration, and the block at the same address is not registered.
    done(unsafe { aclrtFreeHost(pinned) });
    let answer = device_pointer(pinned.wrapping_byte_add(PAGE)).0;
    refused(answer, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostGetDevicePointer#06");
    assert_ne!(rt.space.find(device as usize).map(|block| block.tag), Some(pinned as u64 + PAGE as u64));
}

/// ours: a small block of aclrtMallocHost need not begin a page.
#[test]
fn maps_small_pinned_blocks() {
    let rt = on(0);
    let blocks: Vec<_> = (0..3).map(|_| pinned(100)).collect();
    assert!(blocks.iter().any(|block| !(*block as usize).is_multiple_of(PAGE)));
    let devices: Vec<_> = blocks.iter().map(|block| register(*block, 100)).collect();
    for (block, (code, device)) in blocks.iter().zip(devices) {
        assert_eq!(code, 0);
        assert_eq!(rt.space.inner(device as usize + 99), *block as usize + 99);
        let answer = register_v2(block.wrapping_byte_add(64), 8, MAPPED);
        refused(answer, sys::ACL_ERROR_RT_ADDR_UNALIGNED, "aclrtHostRegisterV2#03");
        done(unregister(*block));
        done(unsafe { aclrtFreeHost(*block) });
    }
}

/// aclrtHostRegister#06: the device's address is for kernels; copies and fills refuse it and take the host's.
#[test]
fn copies_refuse_the_alias() {
    on(0);
    let memory = Pages::new(1);
    let (code, alias) = register(memory.base, PAGE);
    done(code);
    let mut device = null_mut();
    done(unsafe { aclrtMalloc(&raw mut device, PAGE, 0) });
    for (dst, src) in [(device, alias), (alias, device), (memory.base, alias)] {
        let answer = unsafe { aclrtMemcpy(dst, PAGE, src, PAGE, sys::ACL_MEMCPY_DEFAULT) };
        refused(answer, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostRegister#06");
    }
    unsafe { memory.base.cast::<u8>().write_bytes(0x5a, PAGE) };
    done(unsafe { aclrtMemcpy(device, PAGE, memory.base, PAGE, sys::ACL_MEMCPY_HOST_TO_DEVICE) });
    let mut back = [0u8; PAGE];
    let to = back.as_mut_ptr().cast();
    done(unsafe { aclrtMemcpy(to, PAGE, device, PAGE, sys::ACL_MEMCPY_DEVICE_TO_HOST) });
    assert_eq!(back, [0x5a; PAGE]);
    done(unregister(memory.base));
    done(unsafe { aclrtFree(device) });
}

/// aclrtMallocHostWithCfg#06: the device's address equals the host's.
#[test]
fn the_va_flag_keeps_the_address() {
    on(0);
    let mut attribute: sys::aclrtMallocAttribute = unsafe { std::mem::zeroed() };
    attribute.attr = sys::ACL_RT_MEM_ATTR_VA_FLAG;
    attribute.value.vaFlag = 1;
    let mut config = sys::aclrtMallocConfig { attrs: &raw mut attribute, numAttrs: 1 };
    let mut pinned = null_mut();
    done(unsafe { aclrtMallocHostWithCfg(&raw mut pinned, 2 * PAGE as u64, &raw mut config) });
    assert_eq!(pinned as usize % PAGE, 0);
    assert_eq!(register(pinned, 2 * PAGE), (0, pinned));
    assert_eq!(device_pointer(pinned.wrapping_byte_add(9)), (0, pinned.wrapping_byte_add(9)));
    done(unregister(pinned));
    done(unsafe { aclrtFreeHost(pinned) });
}

/// The alias is for devices: host code that touches it dies of it.
#[test]
fn host_access_to_the_alias_faults() {
    const CHILD: &str = "TOPROPE_TEST_TOUCH_ALIAS";
    if std::env::var_os(CHILD).is_some() {
        on(0);
        let memory = Pages::new(1);
        let (code, device) = register(memory.base, PAGE);
        done(code);
        unsafe { device.cast::<u8>().read_volatile() };
        std::process::exit(0);
    }
    use std::os::unix::process::ExitStatusExt;
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "host_access_to_the_alias_faults", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let signal = child.status.signal();
    assert!(matches!(signal, Some(libc::SIGSEGV | libc::SIGBUS)), "{child:?}");
}

/// aclrtPointerGetAttributes#03: ours, a code instead of undefined behaviour.
#[test]
fn attributes_of_registered_memory() {
    on(0);
    let memory = Pages::new(1);
    let attributes = || {
        let mut answer: sys::aclrtPtrAttributes = unsafe { std::mem::zeroed() };
        let code = unsafe { aclrtPointerGetAttributes(memory.at(100), &raw mut answer) };
        done(code);
        (answer.location.r#type, answer.pageSize)
    };
    assert_eq!(attributes(), (sys::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0));
    let (code, device) = register(memory.base, PAGE);
    done(code);
    assert_eq!(attributes(), (sys::ACL_MEM_LOCATION_TYPE_HOST, 4096));
    let mut answer: sys::aclrtPtrAttributes = unsafe { std::mem::zeroed() };
    let code = unsafe { aclrtPointerGetAttributes(device, &raw mut answer) };
    refused(code, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtPointerGetAttributes#03");
    done(unregister(memory.base));
    assert_eq!(attributes(), (sys::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0));
}

/// aclrtHostMemMapCapabilities#01, #02, #03, and that kernels can use registered memory.
#[test]
fn capabilities() {
    let rt = on(0);
    let ask = |device, part| {
        let mut answer = 77;
        (unsafe { aclrtHostMemMapCapabilities(device, part, &raw mut answer) }, answer)
    };
    let answer = unsafe { aclrtHostMemMapCapabilities(0, sys::ACL_RT_HAC_TYPE_AIC, null_mut()) };
    refused(answer, sys::ACL_ERROR_INVALID_PARAM, "aclrtHostMemMapCapabilities#01");
    refused(ask(0, 10).0, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostMemMapCapabilities#02");
    refused(ask(99, 10).0, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostMemMapCapabilities#02");
    let code = sys::ACL_ERROR_RT_INVALID_DEVICEID;
    refused(ask(rt.devices.len() as u32, 0).0, code, "aclrtHostMemMapCapabilities#03");
    refused(ask(u32::MAX, 0).0, code, "aclrtHostMemMapCapabilities#03");
    for part in [sys::ACL_RT_HAC_TYPE_AIC, sys::ACL_RT_HAC_TYPE_AIV, sys::ACL_RT_HAC_TYPE_AICPU] {
        assert_eq!(ask(1, part), (0, sys::ACL_RT_HOST_MEM_MAP_SUPPORTED));
    }
    for part in [sys::ACL_RT_HAC_TYPE_PCIEDMA, sys::ACL_RT_HAC_TYPE_SDMA, sys::ACL_RT_HAC_TYPE_CCU] {
        assert_eq!(ask(1, part), (0, sys::ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED));
    }
}
