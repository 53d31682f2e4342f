//! Managed memory: chapter 11-05. One address for host and devices, in a window of its own; the program may say where its
//! pages should live (advice) and when they should move there (prefetch).
//!
//! Here all sides share one memory, so nothing moves. What the documents let a program see is kept per page of 2 MiB: the
//! advice, the last prefetch that was asked for, and the place that prefetches and advice gave the page. An access by host
//! code or a kernel also moves a page on a card; nobody tells us about those, so a page's place is where it was last put.
//!
//! Lock order: `ranges` is a leaf.

mod advice;
mod prefetch;
mod query;
mod ranges;

use std::sync::Once;

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::memory::{Block, Owner, Page};

pub use self::advice::advise;
pub use self::prefetch::{batch_counts, prefetch_async, prefetch_batch_async};
pub use self::query::{Question, get_attr, get_attrs};
use self::ranges::Ranges;
use crate::error::{Result, exhausted};
use crate::process::{MANAGED_BASE, MANAGED_BYTES, Runtime};
use crate::{observer, refuse, thread};

/// Managed memory comes in pages of this many bytes. aclrtMemAllocManaged#06
pub const PAGE: usize = 2 << 20;

/// What a program was told or can ask about managed pages.
pub struct Managed {
    ranges: Mutex<Ranges<State>>,
}

impl Managed {
    pub(crate) const fn new() -> Managed {
        Managed { ranges: Mutex::new(Ranges::new()) }
    }
}

/// What holds for a page.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    read_mostly: bool,
    preferred: Option<Location>,
    /// Ascending.
    accessed_by: Vec<Location>,
    /// As the program asked, done or not (25-02, aclrtMemManagedRangeAttribute).
    last_prefetch: Option<Location>,
    /// Where a prefetch or an advice has put the page; None: wherever it is used first.
    place: Option<Location>,
}

/// Where pages can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Location {
    Host,
    Numa(i32),
    Device(u16),
}

/// No location: what a query answers for "none" and "not everywhere the same". aclrtMemManagedGetAttr#11, #12
const NOWHERE: i32 = -2;

impl Location {
    /// aclrtMemManagedGetAttr#11
    fn number(self) -> i32 {
        match self {
            Location::Host => -1,
            Location::Numa(node) => node,
            Location::Device(device) => device.into(),
        }
    }

    /// The id for the queries that ask for an id alone: the host has none.
    fn id(self) -> i32 {
        if self == Location::Host { NOWHERE } else { self.number() }
    }

    fn kind(self) -> sys::aclrtMemManagedLocationType {
        match self {
            Location::Host => sys::ACL_MEM_LOCATIONTYPE_HOST,
            Location::Numa(_) => sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA,
            Location::Device(_) => sys::ACL_MEM_LOCATIONTYPE_DEVICE,
        }
    }

    fn on_device(self) -> bool {
        matches!(self, Location::Device(_))
    }
}

/// aclrtMemAllocManaged: the address.
pub fn alloc(rt: &Runtime, size: u64, flag: u32) -> Result<usize> {
    if flag != sys::ACL_RT_MEM_ATTACH_GLOBAL {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemAllocManaged#02",
            "flag: {flag:#x}; only ACL_RT_MEM_ATTACH_GLOBAL (1) is possible"
        );
    }
    if size == 0 {
        return refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemAllocManaged#04", "size: must not be 0");
    }
    // *#03
    thread::current_device(rt)?;
    let used = rt.space.usage(Owner::Managed).used;
    let rounded = size.checked_next_multiple_of(PAGE as u64).filter(|size| *size <= MANAGED_BYTES);
    let block = rounded
        .map(|rounded| rt.space.alloc(Owner::Managed, size as usize, rounded as usize, PAGE, Page::Huge, 0));
    let block = match block {
        Some(Ok(block)) => block,
        Some(Err(error)) => return Err(exhausted(error, "aclrtMemAllocManaged#07", "managed memory")),
        None => {
            return refuse!(
                sys::ACL_ERROR_RT_MEMORY_ALLOCATION,
                "aclrtMemAllocManaged#07",
                "size: {size} bytes; a process has at most {MANAGED_BYTES} bytes of managed memory, {used} are in use"
            );
        }
    };
    static MOVED: Once = Once::new();
    if let Some((window, bytes, false)) = rt.space.managed_window() {
        MOVED.call_once(|| {
            eprintln!(
                "toprope: the managed window at {MANAGED_BASE:#x} is taken in this process (sanitizers do that); \
                 managed memory is at {window:#x} to {:#x}",
                window as u64 + bytes
            );
        });
    }
    // An earlier block may have left its pages' state at these addresses.
    rt.managed.ranges.lock().clear(block.base, block.base + block.usable);
    observer::tell(|o| o.allocated(&block));
    Ok(block.base)
}

/// Live managed pages that a call names.
#[derive(Clone)]
struct Pages {
    start: usize,
    end: usize,
    /// The blocks they belong to.
    blocks: Vec<Block>,
}

/// Rules of a range: (outside the window, bad size, not allocated).
type RangeRules = (&'static str, &'static str, &'static str);

/// The pages of `[addr, addr + size)`. `whole`: the size must be a multiple of the page size.
fn pages(rt: &Runtime, addr: usize, size: u64, whole: bool, name: &str, rules: RangeRules) -> Result<Pages> {
    let end = usize::try_from(size).ok().and_then(|size| addr.checked_add(size));
    let last = end.map_or(usize::MAX, |end| end.saturating_sub(1).max(addr));
    // The window is where it really is: it stands elsewhere when the documented place was taken.
    let inside = |addr| rt.space.arena(addr) == Some(Owner::Managed);
    let (Some(end), true, true) = (end, inside(addr), inside(last)) else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.0,
            "{name}: {addr:#x} + {size:#x} is not inside the managed window (documented at {MANAGED_BASE:#x}, {MANAGED_BYTES} bytes)"
        );
    };
    if size == 0 || size > MANAGED_BYTES || (whole && !size.is_multiple_of(PAGE as u64)) {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.1,
            "{name}: {size} bytes from {addr:#x}; wanted is {} up to {MANAGED_BYTES}",
            if whole { "a multiple of 2 MiB (2097152)" } else { "1" }
        );
    }
    let (start, end) = (addr / PAGE * PAGE, end.next_multiple_of(PAGE));
    let mut blocks = Vec::new();
    let mut at = addr;
    while at < end {
        let block = rt.space.find(at).filter(|block| block.owner == Owner::Managed);
        let Some(block) = block.filter(|block| at < block.base + block.usable) else {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                rules.2,
                "{name}: {addr:#x} + {size:#x} is not all memory from aclrtMemAllocManaged; {at:#x} is not"
            );
        };
        at = block.base + block.usable;
        blocks.push(block);
    }
    Ok(Pages { start, end, blocks })
}

/// The location that a program names; None is ACL_MEM_LOCATIONTYPE_INVALID or a type that does not exist.
fn location(
    rt: &Runtime,
    given: sys::aclrtMemManagedLocation,
    name: &str,
    rule: &'static str,
) -> Result<Option<Location>> {
    // aclrtMemManagedAdvise#11: the other types have no id.
    Ok(match given.r#type {
        sys::ACL_MEM_LOCATIONTYPE_DEVICE => {
            match u16::try_from(given.id).ok().filter(|id| usize::from(*id) < rt.devices.len()) {
                Some(device) => Some(Location::Device(device)),
                None => {
                    return refuse!(
                        sys::ACL_ERROR_RT_PARAM_INVALID,
                        rule,
                        "{name}: device {} is not in [0, {}]",
                        given.id,
                        rt.devices.len() as i32 - 1
                    );
                }
            }
        }
        sys::ACL_MEM_LOCATIONTYPE_HOST => Some(Location::Host),
        sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA if node_exists(given.id) => Some(Location::Numa(given.id)),
        sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: a node that the machine has",
                "{name}: this machine has no NUMA node {}",
                given.id
            );
        }
        sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT => Some(Location::Numa(current_node())),
        // aclrtMemManagedPrefetchAsync#10
        _ => None,
    })
}

/// A location that must be one.
fn somewhere(
    rt: &Runtime,
    given: sys::aclrtMemManagedLocation,
    name: &str,
    rule: &'static str,
) -> Result<Location> {
    match location(rt, given, name, rule)? {
        Some(location) => Ok(location),
        None => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "ours: a place is needed",
            "{name}: type {} is no place; wanted is ACL_MEM_LOCATIONTYPE_DEVICE, _HOST, _HOST_NUMA or _HOST_NUMA_CURRENT",
            given.r#type
        ),
    }
}

fn node_exists(node: i32) -> bool {
    node == 0
        || (node > 0 && std::fs::exists(format!("/sys/devices/system/node/node{node}")).unwrap_or(false))
}

/// The NUMA node that the calling thread runs on.
fn current_node() -> i32 {
    let mut node = 0u32;
    // SAFETY: the kernel writes one integer to each address that is not null.
    let done = unsafe {
        libc::syscall(
            libc::SYS_getcpu,
            std::ptr::null_mut::<u32>(),
            &raw mut node,
            std::ptr::null_mut::<u8>(),
        )
    };
    if done == 0 { node as i32 } else { 0 }
}
