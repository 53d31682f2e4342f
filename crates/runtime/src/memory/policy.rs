//! `aclrtMemMallocPolicy`: which pages an allocation wants. Source: 25-02 Enumerations, 11-01 Constraints.

use ascendcl_sys as sys;
use toprope_engine::memory::Page;

use super::tag;
use crate::error::Result;
use crate::generated::api::Api;
use crate::process::Runtime;
use crate::refuse;

/// The pages that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// These and no others.
    Only(Page),
    /// Huge ones, normal ones when those are used up.
    HugeFirst,
}

/// A policy as understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which pages.
    pub want: Want,
    /// One of the P2P policies.
    pub peer: bool,
    /// ACL_MEM_ACCESS_USER_SPACE_READONLY.
    pub read_only: bool,
}

const BANDWIDTH: u32 = sys::ACL_MEM_TYPE_LOW_BAND_WIDTH | sys::ACL_MEM_TYPE_HIGH_BAND_WIDTH;
/// aclrtMemMallocPolicy#01: the largest size in bytes that ACL_MEM_MALLOC_HUGE_FIRST puts on normal pages.
const HUGE_FIRST_ABOVE: usize = 1 << 20;
/// aclrtMalloc#06: the smallest size in bytes on huge pages when the policy says nothing.
const HUGE_FROM: usize = 2 << 20;

impl Policy {
    /// As aclrtMalloc and aclrtMallocAlign32 take it.
    pub fn of_malloc(rt: &Runtime, policy: u32, size: usize) -> Policy {
        // aclrtMalloc#18, aclrtMallocAlign32#14
        if rt.profile.product.bandwidth_policy && one_bandwidth(policy) {
            return Policy::of_single(policy & !BANDWIDTH, size);
        }
        // aclrtMalloc#17, #20, aclrtMallocAlign32#13, #16
        Policy::of_single(policy, size)
    }

    /// As aclrtMallocCached takes it (#08, #09).
    pub fn of_cached(policy: u32, size: usize) -> Policy {
        match policy {
            sys::ACL_MEM_MALLOC_HUGE_FIRST
            | sys::ACL_MEM_MALLOC_HUGE_ONLY
            | sys::ACL_MEM_MALLOC_NORMAL_ONLY
            | sys::ACL_MEM_MALLOC_HUGE1G_ONLY => Policy::of_single(policy, size),
            _ => Policy::open(size),
        }
    }

    /// As aclrtMallocWithCfg takes it: one item of each group (#13), anything else is outside the enumeration (#06).
    pub fn of_groups(policy: u32, size: usize) -> Policy {
        let base = policy & !(BANDWIDTH | sys::ACL_MEM_ACCESS_USER_SPACE_READONLY);
        if policy & BANDWIDTH == BANDWIDTH {
            return Policy::open(size);
        }
        let read_only = policy & sys::ACL_MEM_ACCESS_USER_SPACE_READONLY != 0;
        // Without a base the base is 0, ACL_MEM_MALLOC_HUGE_FIRST: the two cannot be told apart.
        Policy { read_only, ..Policy::of_single(base, size) }
    }

    /// One enumerator.
    pub fn of_single(policy: u32, size: usize) -> Policy {
        let (want, peer) = match policy {
            sys::ACL_MEM_MALLOC_HUGE_FIRST => (huge_first(size), false),
            sys::ACL_MEM_MALLOC_HUGE_FIRST_P2P => (huge_first(size), true),
            sys::ACL_MEM_MALLOC_HUGE_ONLY => (Want::Only(Page::Huge), false),
            sys::ACL_MEM_MALLOC_HUGE_ONLY_P2P => (Want::Only(Page::Huge), true),
            sys::ACL_MEM_MALLOC_NORMAL_ONLY => (Want::Only(Page::Normal), false),
            sys::ACL_MEM_MALLOC_NORMAL_ONLY_P2P => (Want::Only(Page::Normal), true),
            sys::ACL_MEM_MALLOC_HUGE1G_ONLY => (Want::Only(Page::Giant), false),
            sys::ACL_MEM_MALLOC_HUGE1G_ONLY_P2P => (Want::Only(Page::Giant), true),
            // aclrtMemMallocPolicy#06, #07: enumerators that say nothing of pages.
            other => {
                let read_only = other == sys::ACL_MEM_ACCESS_USER_SPACE_READONLY;
                return Policy { read_only, ..Policy::open(size) };
            }
        };
        Policy { want, peer, read_only: false }
    }

    /// aclrtMalloc#06: no policy that counts.
    fn open(size: usize) -> Policy {
        let page = if size >= HUGE_FROM { Page::Huge } else { Page::Normal };
        Policy { want: Want::Only(page), peer: false, read_only: false }
    }

    /// Its bits of `Block::tag`.
    pub fn tag(&self) -> u64 {
        let peer = if self.peer { tag::PEER } else { 0 };
        let read_only = if self.read_only { tag::READ_ONLY } else { 0 };
        peer | read_only
    }

    /// Whether the product has such pages. The code is ours: the page only says "not supported".
    pub fn supported(&self, rt: &Runtime) -> Result<()> {
        let key = rt.profile.product.key;
        if self.want == Want::Only(Page::Giant) && !rt.profile.product.page_giant {
            return refuse!(
                sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtMemMallocPolicy#04",
                "policy: {key} has no 1 GiB pages"
            );
        }
        // P2P memory exists where devices can reach each other: the products of the row are those without the call.
        if self.peer && !rt.profile.supports(Api::aclrtDeviceEnablePeerAccess) {
            return refuse!(
                sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtMemMallocPolicy#05",
                "policy: {key} has no P2P memory"
            );
        }
        Ok(())
    }
}

fn one_bandwidth(policy: u32) -> bool {
    let bits = policy & BANDWIDTH;
    bits != 0 && bits != BANDWIDTH
}

/// aclrtMemMallocPolicy#01
fn huge_first(size: usize) -> Want {
    if size <= HUGE_FIRST_ABOVE { Want::Only(Page::Normal) } else { Want::HugeFirst }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
