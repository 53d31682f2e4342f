//! Policies by themselves; what they do to a device's memory is tested through the C ABI.

use super::*;

#[test]
fn out_of_range_policies_take_huge_pages_from_two_mib() {
    // aclrtMalloc#06, #20, aclrtMallocCached#09
    for policy in [8, 99, u32::MAX, sys::ACL_MEM_TYPE_LOW_BAND_WIDTH | sys::ACL_MEM_MALLOC_HUGE_ONLY] {
        assert_eq!(Policy::of_single(policy, (2 << 20) - 1).want, Want::Only(Page::Normal), "{policy}");
        assert_eq!(Policy::of_single(policy, 2 << 20).want, Want::Only(Page::Huge), "{policy}");
    }
    for policy in [3, 4, 5, 7, 8] {
        assert_eq!(Policy::of_cached(policy, 2 << 20).want, Want::Only(Page::Huge), "{policy}");
        assert_eq!(Policy::of_cached(policy, 1).want, Want::Only(Page::Normal), "{policy}");
    }
}

#[test]
fn huge_first_turns_at_one_mib() {
    // aclrtMemMallocPolicy#01
    assert_eq!(Policy::of_single(0, 1 << 20).want, Want::Only(Page::Normal));
    assert_eq!(Policy::of_single(0, (1 << 20) + 1).want, Want::HugeFirst);
    assert_eq!(
        Policy::of_single(3, (1 << 20) + 1),
        Policy { want: Want::HugeFirst, peer: true, read_only: false }
    );
}

#[test]
fn groups_combine_one_item_each() {
    // aclrtMallocWithCfg#13
    let all = sys::ACL_MEM_TYPE_HIGH_BAND_WIDTH
        | sys::ACL_MEM_ACCESS_USER_SPACE_READONLY
        | sys::ACL_MEM_MALLOC_HUGE_ONLY;
    assert_eq!(
        Policy::of_groups(all, 1),
        Policy { want: Want::Only(Page::Huge), peer: false, read_only: true }
    );
    assert_eq!(Policy::of_groups(all, 1).tag(), tag::READ_ONLY);
    // aclrtMallocWithCfg#06: two of one group, or a base that does not exist.
    assert_eq!(Policy::of_groups(0x1100 | 1, 1).want, Want::Only(Page::Normal));
    assert_eq!(Policy::of_groups(0x100 | 8, 4 << 20).want, Want::Only(Page::Huge));
    assert_eq!(
        Policy::of_groups(7, 1),
        Policy { want: Want::Only(Page::Giant), peer: true, read_only: false }
    );
}
