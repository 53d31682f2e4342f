//! Allocation on the default target: chapters 11-01 and 11-02. Each test that counts bytes has a device of its own.

#[macro_use]
mod copy_support;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use ascendcl::copy::aclrtMemcpyAsync;
use ascendcl::device::{aclrtResetDeviceForce, aclrtSetDevice};
use ascendcl::memory::*;
use copy_support::*;
use toprope_engine::memory::Page;

const KIB4: usize = 4 << 10;
const MIB2: usize = 2 << 20;
const GIB: usize = 1 << 30;

type Malloc = unsafe extern "C" fn(*mut Ptr, usize, u32) -> i32;

fn malloc(with: Malloc, size: usize, policy: u32) -> Result<Ptr, i32> {
    let mut pointer = null_mut();
    // SAFETY: a local.
    match unsafe { with(&mut pointer, size, policy) } {
        0 => Ok(pointer),
        code => Err(code),
    }
}

unsafe extern "C" fn with_cfg(pointer: *mut Ptr, size: usize, policy: u32) -> i32 {
    // SAFETY: as the caller says.
    unsafe { aclrtMallocWithCfg(pointer, size, policy, null_mut()) }
}

unsafe extern "C" fn for_scheduler(pointer: *mut Ptr, size: usize, policy: u32) -> i32 {
    // SAFETY: as the caller says.
    unsafe { aclrtMallocForTaskScheduler(pointer, size, policy, null_mut()) }
}

const ALL: [(&str, Malloc); 5] = [
    ("aclrtMalloc", aclrtMalloc),
    ("aclrtMallocAlign32", aclrtMallocAlign32),
    ("aclrtMallocCached", aclrtMallocCached),
    ("aclrtMallocWithCfg", with_cfg),
    ("aclrtMallocForTaskScheduler", for_scheduler),
];

fn free(pointer: Ptr) -> i32 {
    // SAFETY: the call checks its address.
    unsafe { aclrtFree(pointer) }
}

fn free_host(pointer: Ptr) -> i32 {
    // SAFETY: the call checks its address.
    unsafe { aclrtFreeHost(pointer) }
}

fn malloc_host(size: usize) -> Ptr {
    let mut pointer = null_mut();
    // SAFETY: a local.
    assert_eq!(unsafe { aclrtMallocHost(&mut pointer, size) }, 0, "{}", said());
    pointer
}

fn info(attr: u32) -> (usize, usize) {
    let (mut free, mut total) = (1, 1);
    // SAFETY: locals.
    assert_eq!(unsafe { aclrtGetMemInfo(attr, &mut free, &mut total) }, 0, "{}", said());
    (free, total)
}

/// aclrtMalloc#01 to #05, #07 and the same rows of its kin.
#[test]
fn wrong_sizes_and_pointers_are_refused() {
    device(0);
    for (name, with) in ALL {
        let mut pointer = 1 as Ptr;
        let null_code = acl! { with(null_mut(), 0, 0) };
        refused(null_code, ACL_ERROR_INVALID_PARAM, &format!("{name}#01"));
        refused(acl! { with(0x1000 as *mut Ptr, 8, 0) }, ACL_ERROR_INVALID_PARAM, &format!("{name}#01"));
        refused(acl! { with(&mut pointer, 0, 0) }, ACL_ERROR_INVALID_PARAM, &format!("{name}#02"));
        for size in [usize::MAX, usize::MAX - 30] {
            refused(acl! { with(&mut pointer, size, 0) }, ACL_ERROR_INVALID_PARAM, "aclrtMalloc");
        }
        for size in [65 * GIB, 1 << 63, usize::MAX - 200] {
            for policy in [0, 1, 2] {
                let code = acl! { with(&mut pointer, size, policy) };
                refused(code, ACL_ERROR_RT_MEMORY_ALLOCATION, &format!("{name}#05"));
            }
        }
        assert_eq!(pointer, 1 as Ptr);
        std::thread::spawn(move || {
            let mut pointer = null_mut();
            refused(acl! { with(&mut pointer, 8, 0) }, ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        })
        .join()
        .unwrap();
    }
}

/// aclrtMalloc#08, #09, #11, aclrtMallocAlign32#08, aclrtMallocCached#10, aclrtMallocWithCfg#12, #14
#[test]
fn sizes_are_padded_and_starts_aligned() {
    device(0);
    for (name, with) in ALL {
        let padded = matches!(name, "aclrtMalloc" | "aclrtMallocCached");
        for size in [1, 31, 32, 33, 64, 100, 4096, 100_001] {
            let pointer = malloc(with, size, 0).unwrap();
            assert_eq!(pointer as usize % 64, 0, "{name}");
            let seen = block(pointer);
            let want = size.next_multiple_of(32) + if padded { 32 } else { 0 };
            assert_eq!((seen.size, seen.usable), (size, want), "{name}");
            assert_eq!(free(pointer), 0);
        }
        let giant = malloc(with, 100, ACL_MEM_MALLOC_HUGE1G_ONLY).unwrap();
        assert_eq!(block(giant).usable, 128, "{name}");
        assert_eq!(free(giant), 0);
    }
}

/// aclrtMemMallocPolicy#01 to #03, aclrtMalloc#06, #17, #20, aclrtMallocCached#08, #09, aclrtMallocWithCfg#13
#[test]
fn policies_choose_the_pages() {
    device(1);
    let page = |with: Malloc, size, policy| {
        let before = info(ACL_MEM_NORMAL).0;
        let pointer = malloc(with, size, policy).unwrap_or_else(|code| panic!("{code}: {}", said()));
        let taken = before - info(ACL_MEM_NORMAL).0;
        let page = block(pointer).page;
        let unit = match page {
            Page::Normal => KIB4,
            Page::Huge => MIB2,
            Page::Giant => GIB,
        };
        assert_eq!(taken, block(pointer).usable.next_multiple_of(unit), "whole pages");
        assert_eq!(free(pointer), 0);
        assert_eq!(info(ACL_MEM_NORMAL).0, before);
        page
    };
    use Page::*;
    let (mib, low) = (1 << 20, ACL_MEM_TYPE_LOW_BAND_WIDTH);
    for (with, size, policy, want) in [
        (aclrtMalloc as Malloc, mib, 0, Normal),
        (aclrtMalloc, mib + 1, 0, Huge),
        (aclrtMalloc, mib, 3, Normal),
        (aclrtMalloc, mib + 1, 3, Huge),
        (aclrtMalloc, 1, 1, Huge),
        (aclrtMalloc, 1, 4, Huge),
        (aclrtMalloc, 3 * MIB2, 2, Normal),
        (aclrtMalloc, 3 * MIB2, 5, Normal),
        (aclrtMalloc, 1, 6, Giant),
        (aclrtMalloc, GIB, 7, Giant),
        (aclrtMalloc, MIB2 - 1, 8, Normal),
        (aclrtMalloc, MIB2, 8, Huge),
        (aclrtMalloc, MIB2 - 1, low | 1, Normal),
        (aclrtMalloc, MIB2, low | 2, Huge),
        (aclrtMalloc, MIB2, low, Huge),
        (aclrtMallocAlign32, MIB2 - 1, low | 1, Normal),
        (aclrtMallocCached, 1, 1, Huge),
        (aclrtMallocCached, 1, 4, Normal),
        (aclrtMallocCached, MIB2, 5, Huge),
        (with_cfg, 1, low | 1, Huge),
        (with_cfg, 3 * MIB2, ACL_MEM_ACCESS_USER_SPACE_READONLY | 2, Normal),
        (with_cfg, 1, low | ACL_MEM_TYPE_HIGH_BAND_WIDTH | 1, Normal),
        (for_scheduler, 1, low | 1, Normal),
        (for_scheduler, 1, 1, Huge),
    ] {
        assert_eq!(page(with, size, policy), want, "{size} bytes, policy {policy:#x}");
    }
}

/// aclrtMemMallocPolicy#01, #02: what an exhausted page kind does.
#[test]
fn huge_first_falls_back_to_normal_pages() {
    on(&[("TOPROPE_DEVICE_MEMORY", "7M")], "huge_first_falls_back_to_normal_pages", || {
        device(0);
        let three: Vec<_> = (0..3).map(|_| malloc(aclrtMalloc, 1, 1).unwrap()).collect();
        assert_eq!(info(ACL_MEM_HUGE), (0, 6 << 20));
        assert_eq!(info(ACL_MEM_NORMAL), (1 << 20, 7 << 20));
        assert_eq!(malloc(aclrtMalloc, 1, 1), Err(ACL_ERROR_RT_MEMORY_ALLOCATION));
        // 1 MiB and a byte wants 257 normal pages; a huge page frees more than that.
        assert_eq!(malloc(aclrtMalloc, (1 << 20) + 1, 0), Err(ACL_ERROR_RT_MEMORY_ALLOCATION));
        assert_eq!(free(three[0]), 0);
        let small = malloc(aclrtMalloc, 2 << 20, 2).unwrap();
        let fallen = malloc(aclrtMalloc, (1 << 20) - KIB4, 2);
        assert_eq!(fallen, Err(ACL_ERROR_RT_MEMORY_ALLOCATION));
        assert_eq!(free(small), 0);
        assert_eq!(free(three[1]), 0);
        let taken = malloc(aclrtMalloc, 3 << 20, 2).unwrap();
        // 2 MiB less a page are free: no huge page, normal ones.
        let fallen = malloc(aclrtMalloc, 3 << 19, 0).unwrap();
        assert_eq!(block(fallen).page, Page::Normal);
        for pointer in [taken, fallen, three[2]] {
            assert_eq!(free(pointer), 0);
        }
        assert_eq!(info(ACL_HBM_MEM), (7 << 20, 7 << 20));
    });
}

/// aclrtMallocWithCfg#07 to #11, aclrtMallocForTaskScheduler#07 to #11
#[test]
fn attributes_are_checked() {
    device(2);
    type WithCfg = unsafe extern "C" fn(*mut Ptr, usize, u32, *mut aclrtMallocConfig) -> i32;
    let module = |id| aclrtMallocAttribute {
        attr: ACL_RT_MEM_ATTR_MODULE_ID,
        value: aclrtMallocAttrValue { moduleId: id },
    };
    let on = |id| aclrtMallocAttribute {
        attr: ACL_RT_MEM_ATTR_DEVICE_ID,
        value: aclrtMallocAttrValue { deviceId: id },
    };
    let flag = |flag| aclrtMallocAttribute {
        attr: ACL_RT_MEM_ATTR_VA_FLAG,
        value: aclrtMallocAttrValue { vaFlag: flag },
    };
    let other = |attr| aclrtMallocAttribute { attr, value: aclrtMallocAttrValue { rsv: [0; 8] } };
    for (name, with) in [
        ("aclrtMallocWithCfg", aclrtMallocWithCfg as WithCfg),
        ("aclrtMallocForTaskScheduler", aclrtMallocForTaskScheduler),
    ] {
        let mut pointer = null_mut();
        let mut call = |attrs: &mut [aclrtMallocAttribute]| {
            let mut cfg = aclrtMallocConfig { attrs: attrs.as_mut_ptr(), numAttrs: attrs.len() };
            let code = acl! { with(&mut pointer, 64, 0, &mut cfg) };
            (code, pointer)
        };
        let (code, pointer) = call(&mut [module(7), on(2)]);
        assert_eq!(code, 0, "{}", said());
        assert_eq!(block(pointer).tag & 0xffff, 7);
        assert_eq!(free(pointer), 0);
        assert_eq!(call(&mut []).0, 0);
        let range = ACL_ERROR_RT_PARAM_INVALID;
        refused(call(&mut [module(7), on(1)]).0, range, &format!("{name}#10"));
        for attr in [0, 4, 99] {
            refused(call(&mut [module(7), other(attr)]).0, range, &format!("{name}#09"));
        }
        refused(call(&mut [flag(1)]).0, range, &format!("{name}#09"));
        let mut cfg = aclrtMallocConfig { attrs: null_mut(), numAttrs: 1 };
        let code = acl! { with(&mut pointer.cast(), 64, 0, &mut cfg) };
        refused(code, ACL_ERROR_INVALID_PARAM, &format!("{name}#08"));
        cfg.numAttrs = 0;
        let mut pointer = null_mut();
        assert_eq!(acl! { with(&mut pointer, 64, 0, &mut cfg) }, 0);
    }
    // aclrtMallocHostWithCfg#03, #05, #06
    let mut pointer = null_mut();
    let mut attrs = [flag(1), module(3)];
    let mut cfg = aclrtMallocConfig { attrs: attrs.as_mut_ptr(), numAttrs: 2 };
    assert_eq!(acl! { aclrtMallocHostWithCfg(&mut pointer, 64, &mut cfg) }, 0, "{}", said());
    assert_eq!(block(pointer).tag, toprope_runtime::memory::tag::SAME_ADDRESS | 3);
    assert_eq!(free_host(pointer), 0);
    attrs = [flag(2), module(3)];
    cfg.attrs = attrs.as_mut_ptr();
    let code = acl! { aclrtMallocHostWithCfg(&mut pointer, 64, &mut cfg) };
    refused(code, ACL_ERROR_RT_PARAM_INVALID, "aclrtMallocWithCfg#09");
    assert_eq!(acl! { aclrtMallocHostWithCfg(&mut pointer, 64, null_mut()) }, 0);
    refused(
        acl! { aclrtMallocHostWithCfg(null_mut(), 0, &mut cfg) },
        ACL_ERROR_INVALID_PARAM,
        "aclrtMallocHostWithCfg#01",
    );
    refused(
        acl! { aclrtMallocHostWithCfg(&mut pointer, 0, null_mut()) },
        ACL_ERROR_INVALID_PARAM,
        "aclrtMallocHost#02",
    );
}

/// aclrtMallocHost#01, #02, #04, #06
#[test]
fn pinned_memory_is_host_memory() {
    refused(acl! { aclrtMallocHost(null_mut(), 0) }, ACL_ERROR_INVALID_PARAM, "aclrtMallocHost#01");
    let mut pointer = null_mut();
    refused(acl! { aclrtMallocHost(&mut pointer, 0) }, ACL_ERROR_INVALID_PARAM, "aclrtMallocHost#02");
    for size in [1 << 63, usize::MAX] {
        let code = acl! { aclrtMallocHost(&mut pointer, size) };
        refused(code, ACL_ERROR_RT_MEMORY_ALLOCATION, "*#07");
    }
    // ours: this thread has no context, and needs none.
    for size in [1, 100, 1 << 20] {
        let pointer = malloc_host(size);
        assert_eq!(pointer as usize % 64, 0);
        // SAFETY: a block of this test; the host may touch it.
        unsafe {
            std::ptr::write_bytes(pointer.cast::<u8>(), 0x5a, size);
            assert_eq!(*pointer.cast::<u8>().add(size - 1), 0x5a);
        }
        assert_eq!(block(pointer).usable, size);
        assert_eq!(free_host(pointer), 0);
    }
}

/// aclrtFree#01, #04, aclrtFreeHost#01, #03: what can be freed, and what is said of what cannot.
#[test]
fn only_blocks_are_freed_and_only_once() {
    device(3);
    let free_sync = |pointer| acl! { aclrtFreeWithDevSync(pointer) };
    let free_host_sync = |pointer| acl! { aclrtFreeHostWithDevSync(pointer) };
    refused(free(null_mut()), ACL_ERROR_INVALID_PARAM, "aclrtFree#01");
    refused(free_sync(null_mut()), ACL_ERROR_INVALID_PARAM, "aclrtFreeWithDevSync#01");
    refused(free_host(null_mut()), ACL_ERROR_INVALID_PARAM, "aclrtFreeHost#01");
    refused(free_host_sync(null_mut()), ACL_ERROR_INVALID_PARAM, "aclrtFreeHostWithDevSync#01");
    let range = ACL_ERROR_RT_PARAM_INVALID;
    let (mut local, block, host) = (0u64, device_memory(100, 1), malloc_host(100));
    for free in [&free as &dyn Fn(Ptr) -> i32, &free_sync] {
        for wrong in
            [at(block, 8), at(block, 99), host, (&raw mut local).cast(), 0x1000 as Ptr, usize::MAX as Ptr]
        {
            refused(free(wrong), range, "aclrtFree#04");
        }
    }
    for free in [&free_host as &dyn Fn(Ptr) -> i32, &free_host_sync] {
        for wrong in [at(host, 8), block, (&raw mut local).cast(), 0x1000 as Ptr, usize::MAX as Ptr] {
            refused(free(wrong), range, "aclrtFreeHost#03");
        }
    }
    assert_eq!(get(block, 100), [1; 100]);
    assert_eq!(free(at(block, 8)), range);
    assert!(said().contains("offset 8 in a block of 100 bytes"), "{}", said());
    assert_eq!(free(host), range);
    assert!(said().contains("pinned host memory, a block of 100 bytes"), "{}", said());
    for (one, twice) in [(free(block), free(block)), (free_host(host), free_host(host))] {
        assert_eq!((one, twice), (0, range));
    }
    assert!(said().contains("it was freed already, or never allocated"), "{}", said());
    let (block, host) = (device_memory(100, 1), malloc_host(100));
    assert_eq!((free_sync(block), free_sync(block)), (0, range));
    assert_eq!((free_host_sync(host), free_host_sync(host)), (0, range));
}

/// aclrtFreeWithDevSync#02, aclrtFreeHostWithDevSync#02
#[test]
fn free_with_sync_waits_for_the_tasks() {
    let stream = device(4);
    let (block, host) = (device_memory(64, 1), pinned_memory(64, 2));
    let other = device_memory(64, 3);
    for step in 0..2 {
        let gate = Gate::shut(stream);
        let (from, to) = if step == 0 { (block, other) } else { (host, other) };
        let code = acl! { aclrtMemcpyAsync(to, 64, from, 64, ACL_MEMCPY_DEFAULT, stream) };
        assert_eq!(code, 0, "{}", said());
        let opened = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                opened.store(true, Ordering::SeqCst);
                gate.open();
            });
            let code =
                acl! { if step == 0 { aclrtFreeWithDevSync(block) } else { aclrtFreeHostWithDevSync(host) } };
            assert_eq!(code, 0, "{}", said());
            assert!(opened.load(Ordering::SeqCst));
        });
        // The task was done before the block went.
        assert_eq!(get(other, 64), [1 + step; 64]);
    }
}

/// aclrtGetMemInfo#01 to #07
#[test]
fn memory_info_answers_by_attribute() {
    device(5);
    let (mut free, mut total) = (0, 0);
    refused(
        acl! { aclrtGetMemInfo(99, null_mut(), null_mut()) },
        ACL_ERROR_INVALID_PARAM,
        "aclrtGetMemInfo#01",
    );
    refused(
        acl! { aclrtGetMemInfo(99, &mut free, null_mut()) },
        ACL_ERROR_INVALID_PARAM,
        "aclrtGetMemInfo#02",
    );
    for attr in [18, 99, u32::MAX] {
        let code = acl! { aclrtGetMemInfo(attr, &mut free, &mut total) };
        refused(code, ACL_ERROR_RT_INVALID_MEMORY_TYPE, "aclrtGetMemInfo#03");
    }
    std::thread::spawn(|| {
        let (mut free, mut total) = (0, 0);
        let code = acl! { aclrtGetMemInfo(1, &mut free, &mut total) };
        refused(code, ACL_ERROR_RT_CONTEXT_NULL, "*#03");
    })
    .join()
    .unwrap();
    let all = 64 * GIB;
    for attr in 0..18 {
        let ddr = [0, 2, 3, 6, 7].contains(&attr);
        let want = if ddr { (0, 0) } else { (all, all) };
        assert_eq!(info(attr), want, "attribute {attr}");
    }
    let pointer = malloc(aclrtMalloc, 1, ACL_MEM_MALLOC_NORMAL_ONLY).unwrap();
    assert_eq!(info(ACL_HBM_MEM), (all - KIB4, all));
    assert_eq!(info(ACL_HBM_MEM_NORMAL), (all - KIB4, all));
    assert_eq!(info(ACL_HBM_MEM_HUGE), (all - MIB2, all));
    assert_eq!(info(ACL_HBM_MEM_HUGE1G), (all - GIB, all));
    assert_eq!(self::free(pointer), 0);
    assert_eq!(info(ACL_HBM_MEM), (all, all));
}

/// aclrtGetMemUsageInfo#01 to #05
#[test]
fn usage_is_told_by_module() {
    device(6);
    let empty = aclrtMemUsageInfo { name: [1; 32], curMemSize: 9, memPeakSize: 9, reserved: [9; 8] };
    let (mut list, mut number) = ([empty; 4], 9);
    let mut ask = |device, list: *mut aclrtMemUsageInfo, room| {
        acl! {
            aclrtGetMemUsageInfo(device, list, room, &mut number)
        }
    };
    refused(ask(99, null_mut(), 0), ACL_ERROR_INVALID_PARAM, "aclrtGetMemUsageInfo#01");
    refused(
        acl! { aclrtGetMemUsageInfo(99, &mut list[0], 0, null_mut()) },
        ACL_ERROR_INVALID_PARAM,
        "aclrtGetMemUsageInfo#02",
    );
    refused(ask(99, &mut list[0], 0), ACL_ERROR_RT_PARAM_INVALID, "aclrtGetMemUsageInfo#03");
    refused(ask(8, &mut list[0], 4), ACL_ERROR_RT_INVALID_DEVICEID, "aclrtGetMemUsageInfo#04");
    refused(ask(-1, &mut list[0], 4), ACL_ERROR_RT_INVALID_DEVICEID, "aclrtGetMemUsageInfo#04");
    assert_eq!(number, 9);
    let with_module = |id, size| {
        let mut attr = aclrtMallocAttribute {
            attr: ACL_RT_MEM_ATTR_MODULE_ID,
            value: aclrtMallocAttrValue { moduleId: id },
        };
        let mut cfg = aclrtMallocConfig { attrs: &mut attr, numAttrs: 1 };
        let mut pointer = null_mut();
        assert_eq!(acl! { aclrtMallocWithCfg(&mut pointer, size, ACL_MEM_MALLOC_NORMAL_ONLY, &mut cfg) }, 0);
        pointer
    };
    let plain = malloc(aclrtMalloc, 1, 0).unwrap();
    let (first, second) = (with_module(33, 3 * KIB4), with_module(33, KIB4));
    let third = with_module(60000, 2 * KIB4);
    assert_eq!(free(second), 0);
    let code = acl! { aclrtGetMemUsageInfo(6, list.as_mut_ptr(), 4, &mut number) };
    assert_eq!((code, number), (0, 3));
    let seen: Vec<_> = list[..3]
        .iter()
        .map(|entry| {
            assert_eq!(entry.reserved, [0; 8]);
            let name: Vec<u8> = entry.name.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
            (
                String::from_utf8(name).unwrap(),
                entry.curMemSize as usize / KIB4,
                entry.memPeakSize as usize / KIB4,
            )
        })
        .collect();
    let want = [("MODULE_33", 3, 4), ("MODULE_60000", 2, 2), ("APP", 1, 1)];
    assert_eq!(seen, want.map(|(name, now, peak)| (name.to_owned(), now, peak)));
    assert_eq!(list[3].curMemSize, 9);
    // Less room than modules: the largest.
    let mut one = empty;
    assert_eq!(acl! { aclrtGetMemUsageInfo(6, &mut one, 1, &mut number) }, 0);
    assert_eq!((number, one.curMemSize as usize), (1, 3 * KIB4));
    for pointer in [plain, first, third] {
        assert_eq!(free(pointer), 0);
    }
}

/// aclrtCheckMemType#01 to #08
#[test]
fn memory_types_are_checked() {
    device(0);
    let (block, host) = (device_memory(64, 1), malloc_host(64));
    let mut result = 9;
    let mut ask = |addrs: &mut [Ptr], types, reserve| {
        result = 9;
        let code =
            acl! { aclrtCheckMemType(addrs.as_mut_ptr(), addrs.len() as u32, types, &mut result, reserve) };
        (code, result)
    };
    assert_eq!(ask(&mut [block, at(block, 63)], ACL_RT_MEM_TYPE_DEV, 0), (0, 1));
    assert_eq!(ask(&mut [block], ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_RSVD, 0), (0, 1));
    assert_eq!(ask(&mut [block], ACL_RT_MEM_TYPE_DVPP, 0), (0, 0));
    assert_eq!(ask(&mut [block], ACL_RT_MEM_TYPE_RSVD, 0), (0, 0));
    for wrong in [host, null_mut(), 0x1000 as Ptr, at(block, 96)] {
        assert_eq!(ask(&mut [block, wrong], ACL_RT_MEM_TYPE_DEV, 0), (0, 0));
    }
    let range = ACL_ERROR_RT_PARAM_INVALID;
    // #08: cleared before the checks.
    assert_eq!(ask(&mut [], 2, 0), (range, 0));
    refused(range, range, "aclrtCheckMemType#03");
    assert_eq!(ask(&mut [block], 2, 1), (range, 0));
    refused(range, range, "aclrtCheckMemType#04");
    for types in [0, 1, 4, 0x20, 0x22, u32::MAX] {
        assert_eq!(ask(&mut [block], types, 0), (range, 0));
        refused(range, range, "aclrtCheckMemType#06");
    }
    let mut one = block;
    refused(
        acl! { aclrtCheckMemType(null_mut(), 1, 2, &mut 0, 0) },
        ACL_ERROR_INVALID_PARAM,
        "aclrtCheckMemType#01",
    );
    refused(
        acl! { aclrtCheckMemType(&mut one, 1, 2, null_mut(), 0) },
        ACL_ERROR_INVALID_PARAM,
        "aclrtCheckMemType#02",
    );
}

/// aclrtMemFlush#01 to #04, aclrtMemInvalidate#01 to #04
#[test]
fn caches_need_no_help() {
    device(0);
    let (block, host) = (device_memory(64, 1), malloc_host(64));
    type Cache = unsafe extern "C" fn(Ptr, usize) -> i32;
    for (name, cache) in
        [("aclrtMemFlush", aclrtMemFlush as Cache), ("aclrtMemInvalidate", aclrtMemInvalidate)]
    {
        let cache = |pointer, size| acl! { cache(pointer, size) };
        refused(cache(null_mut(), 0), ACL_ERROR_INVALID_PARAM, &format!("{name}#01"));
        refused(cache(block, 0), ACL_ERROR_INVALID_PARAM, &format!("{name}#02"));
        assert_eq!(cache(at(block, 32), 64), 0);
        refused(cache(block, 97), ACL_ERROR_RT_PARAM_INVALID, "ours: both ends");
        refused(cache(host, 64), ACL_ERROR_RT_PARAM_INVALID, "ours: caches are a device's");
    }
    assert_eq!(get(block, 64), [1; 64]);
}

/// A reset device gives its memory back, and the books agree.
#[test]
fn reset_gives_the_memory_back() {
    on(&[], "reset_gives_the_memory_back", || {
        device(0);
        let block = malloc(aclrtMalloc, GIB, 0).unwrap();
        // With its 32 bytes of padding.
        assert_eq!(info(ACL_HBM_MEM).0, 64 * GIB - GIB - MIB2);
        // SAFETY: plain values.
        unsafe {
            assert_eq!(aclrtResetDeviceForce(0), 0);
            assert_eq!(aclrtSetDevice(0), 0);
        }
        assert_eq!(info(ACL_HBM_MEM).0, 64 * GIB);
        refused(free(block), ACL_ERROR_RT_PARAM_INVALID, "aclrtFree#04");
    });
}

/// Threads that allocate and free at once leave nothing booked.
#[test]
fn many_threads_allocate() {
    device(7);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                device(7);
                let mut kept = Vec::new();
                for n in 0..500usize {
                    kept.push(malloc(ALL[n % 5].1, 1 + n * 37 % 5000, (n % 3) as u32).unwrap());
                    if n % 3 == thread % 3 {
                        assert_eq!(free(kept.swap_remove(n % kept.len())), 0);
                    }
                }
                for pointer in kept {
                    assert_eq!(free(pointer), 0);
                }
            });
        }
    });
    assert_eq!(info(ACL_HBM_MEM), (64 * GIB, 64 * GIB));
}

/// A count that leads out of a block is refused before anything behind the block is read.
#[test]
fn arrays_end_with_their_block() {
    device(0);
    let block = malloc_host(4096);
    let mut result = 9;
    for count in [513, 100_000_000, u32::MAX] {
        // SAFETY: the list begins in a block of this test; that it does not end there is what is tested.
        let code = unsafe {
            aclrtCheckMemType(block.cast(), count, ascendcl_sys::ACL_RT_MEM_TYPE_DEV, &mut result, 0)
        };
        refused(code, ascendcl_sys::ACL_ERROR_RT_PARAM_INVALID, "ours: memory that is not there");
        assert_eq!(result, 0);
    }
    assert_eq!(free_host(block), 0);
}
