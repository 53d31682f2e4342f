//! Arrays that are counted: a wrong count is a code before anything is read, with the documented bound or our own.

#[macro_use]
mod copy_support;

use std::ptr::null_mut;

use ascendcl::copy::aclrtMemcpyBatch;
use ascendcl::device::aclrtDeviceGetHostAtomicCapabilities;
use ascendcl::exception::aclrtMemUceRepair;
use ascendcl::host::{aclrtHostRegisterV2, aclrtHostUnregister};
use ascendcl::label::aclrtCreateLabelList;
use ascendcl::managed::{aclrtMemManagedGetAttrs, aclrtMemManagedPrefetchBatchAsync};
use ascendcl::memory::*;
use ascendcl::notify::aclrtNotifyBatchReset;
use copy_support::*;
use toprope_runtime::bytes::MOST_ENTRIES;

const OURS: &str = "ours: the most entries of an array";

/// Zeros that a wrong count could walk through: a mapping that holds [`MOST_ENTRIES`] entries of any kind, and more.
fn array() -> Ptr {
    Box::leak(vec![0u64; 8 * (MOST_ENTRIES + 1)].into_boxed_slice()).as_mut_ptr().cast()
}

/// Where no page names a bound, ours holds, whatever lies behind the array.
#[test]
fn a_count_without_a_documented_bound_has_one_of_ours() {
    let stream = device(0);
    let list = array();
    let over = ACL_ERROR_INVALID_PARAM;
    for count in [MOST_ENTRIES + 1, 1 << 40, 1 << 61, usize::MAX] {
        refused(acl! { aclrtNotifyBatchReset(list.cast(), count) }, over, OURS);
        let code =
            acl! { aclrtMemManagedGetAttrs(list.cast(), count, list, 1 << 21, list.cast(), list.cast()) };
        refused(code, over, OURS);
        let code = acl! {
            aclrtMemManagedPrefetchBatchAsync(list.cast(), list.cast(), count, list.cast(), list.cast(), 1, 0, stream)
        };
        refused(code, over, OURS);
        let mut config = aclrtMallocConfig { attrs: list.cast(), numAttrs: count };
        let mut block = null_mut();
        refused(acl! { aclrtMallocWithCfg(&mut block, 64, 0, &mut config) }, over, OURS);
        refused(acl! { aclrtMallocHostWithCfg(&mut block, 64, &mut config) }, over, OURS);
        assert_eq!(block, null_mut());
    }
    let mut result = 1;
    for count in [MOST_ENTRIES as u32 + 1, u32::MAX] {
        let code = acl! { aclrtCheckMemType(list.cast(), count, ACL_RT_MEM_TYPE_DEV, &mut result, 0) };
        refused(code, ACL_ERROR_RT_PARAM_INVALID, "ours: memory that is not there");
    }
    // The bound itself is no error.
    let code =
        acl! { aclrtCheckMemType(list.cast(), MOST_ENTRIES as u32, ACL_RT_MEM_TYPE_DEV, &mut result, 0) };
    assert_eq!((code, result), (0, 0), "{}", said());
}

/// aclrtMemcpyBatch#23, aclrtCreateLabelList#04, aclrtMemUceRepair#02, aclrtDeviceGetHostAtomicCapabilities#02: documented bounds.
#[test]
fn documented_bounds_come_before_the_array() {
    device(0);
    let (list, mut out, mut fail) = (array(), null_mut(), 0);
    let count = 1usize << 40;
    let code = acl! {
        aclrtMemcpyBatch(list.cast(), list.cast(), list.cast(), list.cast(), count, list.cast(), list.cast(), 1, &mut fail)
    };
    refused(code, ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpyBatch#23");
    refused(
        acl! { aclrtCreateLabelList(list.cast(), count, &mut out) },
        ACL_ERROR_RT_PARAM_INVALID,
        "aclrtCreateLabelList#04",
    );
    refused(
        acl! { aclrtMemUceRepair(0, list.cast(), count) },
        ACL_ERROR_INVALID_PARAM,
        "aclrtMemUceRepair#02",
    );
    refused(
        acl! { aclrtDeviceGetHostAtomicCapabilities(list.cast(), list.cast(), u32::MAX, 0) },
        ACL_ERROR_RT_PARAM_INVALID,
        "aclrtDeviceGetHostAtomicCapabilities#02",
    );
}

/// ours: an array may begin in registered memory and end behind it: both are the program's. One in pinned memory may not leave
/// its block, and one in freed pinned memory may not lead into a block.
#[test]
fn arrays_end_with_the_memory_they_lie_in() {
    device(0);
    let check = |list: Ptr, count: usize| {
        let mut result = 7;
        let code = acl! { aclrtCheckMemType(list.cast(), count as u32, ACL_RT_MEM_TYPE_DEV, &mut result, 0) };
        (code, result)
    };
    let (bad, page) = (ACL_ERROR_RT_PARAM_INVALID, array());
    let page = at(page, (page as usize).wrapping_neg() % 4096);
    assert_eq!(acl! { aclrtHostRegisterV2(page, 4096, ACL_HOST_REG_PINNED as u32) }, 0, "{}", said());
    assert_eq!(check(page, 1024), (0, 0), "{}", said());
    assert_eq!(acl! { aclrtHostUnregister(page) }, 0);
    const SIZE: usize = 1 << 20;
    let mut blocks: Vec<Ptr> = (0..32).map(|_| pinned_memory(SIZE, 0)).collect();
    blocks.sort();
    let [a, b] = *blocks.windows(2).find(|w| w[1] == at(w[0], SIZE)).unwrap() else { unreachable!() };
    assert_eq!(check(a, SIZE / 8), (0, 0));
    assert_eq!(check(a, SIZE / 8 + 1), (bad, 0), "behind its block");
    assert_eq!(acl! { aclrtFreeHost(a) }, 0);
    assert_eq!(check(a, SIZE / 8), (0, 0), "freed: host memory");
    assert_eq!(check(a, SIZE / 8 + 1), (bad, 0), "from freed memory into a block");
    assert_eq!(check(b, SIZE / 8), (0, 0));
}
