//! Allocation where product or form differ from the default. Each test is a process of its own.

#[macro_use]
mod copy_support;

use std::ptr::null_mut;

use ascendcl::context::aclrtCreateContext;
use ascendcl::memory::*;
use copy_support::*;
use toprope_engine::memory::{Owner, Page};

const GIB: usize = 1 << 30;

fn malloc(size: usize, policy: u32) -> Result<Ptr, i32> {
    let mut pointer = null_mut();
    match acl! { aclrtMalloc(&mut pointer, size, policy) } {
        0 => Ok(pointer),
        code => Err(code),
    }
}

fn info(attr: u32) -> (usize, usize) {
    let (mut free, mut total) = (1, 1);
    assert_eq!(acl! { aclrtGetMemInfo(attr, &mut free, &mut total) }, 0, "{}", said());
    (free, total)
}

/// aclrtMalloc#10, aclrtMallocAlign32#09, aclrtCheckMemType#09
#[test]
fn on_950_nothing_is_padded() {
    for product in ["950pr", "950dt"] {
        on(&[("TOPROPE_PRODUCT", product)], "on_950_nothing_is_padded", || {
            device(0);
            for size in [1, 32, 33, 100] {
                for policy in [0, 1, 6] {
                    let pointer = malloc(size, policy).unwrap();
                    assert_eq!(block(pointer).usable, size.next_multiple_of(32));
                }
            }
            let (mut one, mut result) = (device_memory(64, 1), 0);
            for types in [ACL_RT_MEM_TYPE_DVPP, ACL_RT_MEM_TYPE_DEV] {
                assert_eq!(acl! { aclrtCheckMemType(&mut one, 1, types, &mut result, 0) }, 0);
                assert_eq!(result, 1);
            }
        });
    }
}

/// aclrtMemMallocPolicy#04, #05, aclrtGetMemInfo#05, #06: pages and memory that the product does not have.
#[test]
fn products_without_giant_or_peer_pages() {
    for (product, peer) in [("200i-500-a2", false), ("inference", true), ("training", true)] {
        on(&[("TOPROPE_PRODUCT", product)], "products_without_giant_or_peer_pages", || {
            device(0);
            for policy in [ACL_MEM_MALLOC_HUGE1G_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P] {
                let mut pointer = null_mut();
                let code = acl! { aclrtMalloc(&mut pointer, 64, policy) };
                refused(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemMallocPolicy#04");
            }
            for policy in [3, 4, 5] {
                let got = malloc(64, policy);
                if peer {
                    assert_ne!(block(got.unwrap()).tag & toprope_runtime::memory::tag::PEER, 0);
                } else {
                    assert_eq!(got, Err(ACL_ERROR_RT_FEATURE_NOT_SUPPORT));
                    assert!(said().contains("aclrtMemMallocPolicy#05"));
                }
            }
            let hbm = product == "training";
            let none = (0, 0);
            let all = info(ACL_HBM_MEM);
            assert_ne!(all, none);
            assert_eq!(info(ACL_DDR_MEM), if hbm { none } else { all });
            assert_eq!(info(ACL_MEM_NORMAL), all);
            for attr in [ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_P2P_HUGE1G, ACL_MEM_HUGE1G, ACL_MEM_P2P_HUGE1G] {
                assert_eq!(info(attr), none);
            }
            assert_eq!(info(ACL_MEM_P2P_NORMAL) != none, peer);
            // aclrtMallocHostWithCfg#05
            let mut attr = aclrtMallocAttribute {
                attr: ACL_RT_MEM_ATTR_VA_FLAG,
                value: aclrtMallocAttrValue { vaFlag: 1 },
            };
            let mut cfg = aclrtMallocConfig { attrs: &mut attr, numAttrs: 1 };
            let mut pointer = null_mut();
            let code = acl! { aclrtMallocHostWithCfg(&mut pointer, 64, &mut cfg) };
            refused(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMallocHostWithCfg#05");
            let mut attr = aclrtMallocAttribute {
                attr: ACL_RT_MEM_ATTR_VA_FLAG,
                value: aclrtMallocAttrValue { vaFlag: 0 },
            };
            cfg.attrs = &mut attr;
            assert_eq!(acl! { aclrtMallocHostWithCfg(&mut pointer, 64, &mut cfg) }, 0, "{}", said());
        });
    }
}

/// aclrtMalloc#18, aclrtMallocAlign32#14: base and bandwidth together.
#[test]
fn ipv350_takes_bandwidth_with_the_base() {
    on(&[("TOPROPE_PRODUCT", "ipv350")], "ipv350_takes_bandwidth_with_the_base", || {
        let mut context = null_mut();
        assert_eq!(acl! { aclrtCreateContext(&mut context, 0) }, 0, "{}", said());
        for (policy, page) in [
            (ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_MALLOC_HUGE_ONLY, Page::Huge),
            (ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_MALLOC_NORMAL_ONLY, Page::Normal),
            (ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | 1, Page::Normal),
        ] {
            assert_eq!(block(malloc(1, policy).unwrap()).page, page, "{policy:#x}");
        }
        let mut pointer = null_mut();
        let code = acl! { aclrtMallocCached(&mut pointer, 64, 0) };
        refused(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "*#06");
    });
}

/// aclrtMallocHost#07, #10, aclrtMallocHostWithCfg#07: in the RC form host memory is device memory on normal pages.
#[test]
fn rc_host_memory_is_device_memory() {
    let target = [("TOPROPE_PRODUCT", "200i-500-a2"), ("TOPROPE_FORM", "rc")];
    on(&target, "rc_host_memory_is_device_memory", || {
        let mut pointer = null_mut();
        refused(acl! { aclrtMallocHost(&mut pointer, 64) }, ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        device(0);
        let before = info(ACL_HBM_MEM).0;
        for with_cfg in [false, true] {
            let code = if with_cfg {
                acl! { aclrtMallocHostWithCfg(&mut pointer, 3 << 20, null_mut()) }
            } else {
                acl! { aclrtMallocHost(&mut pointer, 3 << 20) }
            };
            assert_eq!(code, 0, "{}", said());
            let seen = block(pointer);
            assert_eq!((seen.owner, seen.page), (Owner::Device(0), Page::Normal));
            // Alignment is the caller's job.
            assert_eq!(pointer as usize % 64, 32);
            assert_eq!(info(ACL_HBM_MEM).0, before - (3 << 20));
            // The host may touch it.
            acl! { std::ptr::write_bytes(pointer.cast::<u8>(), 7, 3 << 20) };
            assert_eq!(get(pointer, 64), [7; 64]);
            // aclrtFreeHost#03, aclrtFree#04: each takes back its own.
            refused(acl! { aclrtFree(pointer) }, ACL_ERROR_RT_PARAM_INVALID, "aclrtFree#04");
            assert_eq!(acl! { aclrtFreeHost(pointer) }, 0);
            assert_eq!(info(ACL_HBM_MEM).0, before);
        }
        let code = acl! { aclrtMallocHost(&mut pointer, 64 * GIB) };
        refused(code, ACL_ERROR_RT_MEMORY_ALLOCATION, "*#07");
        let device = device_memory(64, 1);
        refused(acl! { aclrtFreeHost(device) }, ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost#03");
    });
}

/// aclrtMalloc#05, *#07: where the system refuses the addresses, the code and what would have been needed; pinned memory makes
/// do with less.
#[test]
fn refused_addresses_are_a_code() {
    let target = [("TOPROPE_PRODUCT", "a2"), ("TOPROPE_DEVICE_MEMORY", "64G")];
    on(&target, "refused_addresses_are_a_code", || {
        let limit = libc::rlimit { rlim_cur: 16 << 30, rlim_max: 16 << 30 };
        // SAFETY: a limit of this process, which is the test's own.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
        device(0);
        let mut pointer = std::ptr::null_mut();
        for _ in 0..2 {
            let code = acl! { aclrtMalloc(&mut pointer, 4096, ACL_MEM_MALLOC_HUGE_FIRST) };
            assert_eq!(code, ACL_ERROR_RT_MEMORY_ALLOCATION);
            let text = said();
            for part in
                ["aclrtMalloc#05", "4096 bytes asked", "refused 137438953472 bytes", "Cannot allocate memory"]
            {
                assert!(text.contains(part), "{text}");
            }
        }
        assert_eq!(get(pinned_memory(1 << 20, 3), 1 << 20), vec![3; 1 << 20]);
    });
}
