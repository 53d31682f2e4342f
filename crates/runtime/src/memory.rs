//! Chapters 11-01 and 11-02: memory of devices and pinned host memory; who owns an address ([`place`]) for every copy.
//!
//! A device's memory is one pool from which pages of any kind are cut (ours: no page gives the size of the pools); a block
//! takes whole pages of it ([`ledger`]). Pinned memory is at most what the machine has (ours; `process::layout`).

pub mod config;
pub mod info;
pub mod ledger;
pub mod place;
pub mod policy;

use ascendcl_sys as sys;
use toprope_engine::memory::{AllocError, Block, Owner, Page, Refusal};

use crate::error::Result;
use crate::process::Runtime;
use crate::profile::Form;
use crate::{observer, refuse, stream, thread};
use config::Config;
use policy::{Policy, Want};

pub use info::{check_type, flush, info, invalidate, module_name, usage_info};

/// What the tag of a device or pinned block says (`Block::tag`); the low 16 bits are the module id.
pub mod tag {
    /// The module id's bits.
    pub const MODULE: u64 = 0xffff;
    /// Asked with one of the P2P policies.
    pub const PEER: u64 = 1 << 16;
    /// ACL_MEM_ACCESS_USER_SPACE_READONLY.
    pub const READ_ONLY: u64 = 1 << 17;
    /// From aclrtMallocForTaskScheduler.
    pub const SCHEDULER: u64 = 1 << 18;
    /// The VA flag of aclrtMallocHostWithCfg: registered, the device address equals the host's.
    pub const SAME_ADDRESS: u64 = 1 << 19;
    /// Device memory that aclrtMallocHost gave out (RC form): aclrtFreeHost takes it back.
    pub const HOST: u64 = 1 << 20;
}

/// aclrtMalloc#08, aclrtMallocHost#04.
const ALIGN: usize = 64;

/// Bytes before what aclrtMallocHost gives in the RC form. aclrtMallocHost#07, #10: alignment is the caller's job there, so
/// the address is a multiple of 32 and never of 64; a program that relies on more is found here and not on a card.
const ASKEW: usize = 32;

/// A block as the program holds it: without the bytes that only keep its start from a rounder address.
pub fn held(block: Block) -> Block {
    let host = matches!(block.owner, Owner::Device(_)) && block.tag & tag::HOST != 0;
    let askew = if host { ASKEW } else { 0 };
    Block { base: block.base + askew, usable: block.usable - askew, ..block }
}

/// Rows of one allocation function.
struct Rules {
    zero: &'static str,
    wraps: &'static str,
    exhausted: &'static str,
    unparsable: &'static str,
    device_id: &'static str,
}

macro_rules! rules {
    ($name:literal, wraps: $wraps:expr) => {
        Rules {
            zero: concat!($name, "#02"),
            wraps: $wraps,
            exhausted: concat!($name, "#05"),
            unparsable: concat!($name, "#09"),
            device_id: concat!($name, "#10"),
        }
    };
}

const MALLOC: Rules = rules!("aclrtMalloc", wraps: "aclrtMalloc#07");
const MALLOC_ALIGN32: Rules = rules!("aclrtMallocAlign32", wraps: "aclrtMallocAlign32#07");
const MALLOC_CACHED: Rules = rules!("aclrtMallocCached", wraps: "aclrtMallocCached#07");
const MALLOC_WITH_CFG: Rules = rules!("aclrtMallocWithCfg", wraps: "ours: as aclrtMalloc#07");
const MALLOC_SCHEDULER: Rules = rules!("aclrtMallocForTaskScheduler", wraps: "ours: as aclrtMalloc#07");
const MALLOC_HOST: Rules = Rules {
    zero: "aclrtMallocHost#02",
    wraps: "ours: as aclrtMalloc#07",
    exhausted: "*#07",
    unparsable: "aclrtMallocWithCfg#09",
    device_id: "aclrtMallocWithCfg#11",
};

/// aclrtMalloc.
pub fn malloc(rt: &Runtime, size: usize, policy: u32) -> Result<usize> {
    let policy = Policy::of_malloc(rt, policy, size);
    device(rt, &MALLOC, size, padding(rt, &policy), policy, &[], 0)
}

/// aclrtMallocAlign32: #08 without the 32 bytes behind.
pub fn malloc_align32(rt: &Runtime, size: usize, policy: u32) -> Result<usize> {
    device(rt, &MALLOC_ALIGN32, size, 0, Policy::of_malloc(rt, policy, size), &[], 0)
}

/// aclrtMallocCached: #10 as aclrtMalloc.
pub fn malloc_cached(rt: &Runtime, size: usize, policy: u32) -> Result<usize> {
    let policy = Policy::of_cached(policy, size);
    device(rt, &MALLOC_CACHED, size, padding(rt, &policy), policy, &[], 0)
}

/// aclrtMallocWithCfg: #14 without the 32 bytes behind.
pub fn malloc_with_cfg(rt: &Runtime, size: usize, policy: u32, cfg: &Config) -> Result<usize> {
    device(rt, &MALLOC_WITH_CFG, size, 0, Policy::of_groups(policy, size), cfg, 0)
}

/// aclrtMallocForTaskScheduler. ours: padded as aclrtMallocWithCfg, since no page says more.
pub fn malloc_for_task_scheduler(rt: &Runtime, size: usize, policy: u32, cfg: &Config) -> Result<usize> {
    device(rt, &MALLOC_SCHEDULER, size, 0, Policy::of_single(policy, size), cfg, tag::SCHEDULER)
}

/// aclrtMalloc#09 to #12: bytes behind the rounded size.
fn padding(rt: &Runtime, policy: &Policy) -> usize {
    let product = rt.profile.product;
    let giant = policy.want == Want::Only(Page::Giant);
    if product.pad32 && (product.pad_giant || !giant) { 32 } else { 0 }
}

fn device(
    rt: &Runtime,
    rules: &Rules,
    size: usize,
    padding: usize,
    policy: Policy,
    cfg: &Config,
    flags: u64,
) -> Result<usize> {
    not_zero(size, rules)?;
    let Some(usable) = size.checked_next_multiple_of(32).and_then(|n| n.checked_add(padding)) else {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            rules.wraps,
            "size: {size} and its padding are more than an address can count"
        );
    };
    let device = thread::current_device(rt)?;
    let wish = config::read(rt, cfg, Some(device), false, rules.unparsable, rules.device_id)?;
    policy.supported(rt)?;
    let tag = u64::from(wish.module) | policy.tag() | flags;
    let ask = Ask { device, size, usable, tag };
    match policy.want {
        Want::Only(page) => cut(rt, rules, &ask, page),
        // aclrtMemMallocPolicy#01
        Want::HugeFirst => cut(rt, rules, &ask, Page::Huge).or_else(|_| cut(rt, rules, &ask, Page::Normal)),
    }
}

struct Ask {
    device: u16,
    size: usize,
    usable: usize,
    tag: u64,
}

/// Takes whole pages of the device's memory for a block.
fn cut(rt: &Runtime, rules: &Rules, ask: &Ask, page: Page) -> Result<usize> {
    let pages = ledger::pages(rt, page, ask.usable);
    let askew = if ask.tag & tag::HOST != 0 { ASKEW } else { 0 };
    let usable = ask.usable.saturating_add(askew);
    if let Err(free) = rt.ledger.take(ask.device, pages, ask.tag) {
        return exhausted(rules, ask, page, free);
    }
    match rt.space.alloc(Owner::Device(ask.device), ask.size, usable, ALIGN, page, ask.tag) {
        Ok(block) => {
            let block = held(block);
            observer::tell(|o| o.allocated(&block));
            Ok(block.base)
        }
        Err(error) => {
            rt.ledger.give(ask.device, pages, ask.tag);
            match error {
                AllocError::Exhausted { free, .. } => exhausted(rules, ask, page, free),
                AllocError::Refused(refusal) => refused(rules, ask.size, refusal, DEVICE_HINT),
            }
        }
    }
}

#[cold]
fn exhausted<T>(rules: &Rules, ask: &Ask, page: Page, free: u64) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_MEMORY_ALLOCATION,
        rules.exhausted,
        "device {}: {} bytes asked ({} with padding, in {page:?} pages), {free} bytes free",
        ask.device,
        ask.size,
        ask.usable
    )
}

#[cold]
fn refused<T>(rules: &Rules, size: usize, refusal: Refusal, hint: &str) -> Result<T> {
    refuse!(sys::ACL_ERROR_RT_MEMORY_ALLOCATION, rules.exhausted, "size: {size} bytes asked; {refusal}{hint}")
}

/// What a user can do about it.
const DEVICE_HINT: &str =
    "; a device needs twice its memory in addresses, less with a smaller TOPROPE_DEVICE_MEMORY";

fn not_zero(size: usize, rules: &Rules) -> Result<()> {
    if size == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, rules.zero, "size: must not be 0");
    }
    Ok(())
}

/// aclrtMallocHost. ours: in the EP form it needs no context, since no row asks for one.
pub fn malloc_host(rt: &Runtime, size: usize) -> Result<usize> {
    host(rt, size, &[])
}

/// aclrtMallocHostWithCfg.
pub fn malloc_host_with_cfg(rt: &Runtime, size: usize, cfg: &Config) -> Result<usize> {
    host(rt, size, cfg)
}

fn host(rt: &Runtime, size: usize, cfg: &Config) -> Result<usize> {
    let rules = &MALLOC_HOST;
    not_zero(size, rules)?;
    if rt.profile.form == Form::RootComplex {
        // aclrtMallocHost#07, #10, aclrtMallocHostWithCfg#07: device memory, normal pages, no padding.
        let device = thread::current_device(rt)?;
        let wish = config::read(rt, cfg, Some(device), true, rules.unparsable, rules.device_id)?;
        let tag = u64::from(wish.module) | tag::HOST;
        let ask = Ask { device, size, usable: size, tag };
        return cut(rt, rules, &ask, Page::Normal);
    }
    let device = thread::current(rt).ok().map(|context| context.device);
    let wish = config::read(rt, cfg, device, true, rules.unparsable, rules.device_id)?;
    let same = if wish.same_address { tag::SAME_ADDRESS } else { 0 };
    let tag = u64::from(wish.module) | same;
    match rt.space.alloc(Owner::Pinned, size, size, ALIGN, Page::Normal, tag) {
        Ok(block) => {
            observer::tell(|o| o.allocated(&block));
            Ok(block.base)
        }
        Err(AllocError::Exhausted { free, .. }) => refuse!(
            sys::ACL_ERROR_RT_MEMORY_ALLOCATION,
            rules.exhausted,
            "size: {size} bytes of pinned host memory asked, {free} bytes free"
        ),
        Err(AllocError::Refused(refusal)) => refused(rules, size, refusal, ""),
    }
}

/// aclrtFree: waits for nothing (#03). ours: what it may not free is 107000, no page gives the code.
pub fn free(rt: &Runtime, addr: usize) -> Result<()> {
    release(rt, addr, "devPtr", Kind::Device, "aclrtFree#04")
}

/// aclrtFreeWithDevSync: what the device's streams hold is done first (#02). Failures of tasks stay with their streams.
pub fn free_with_dev_sync(rt: &Runtime, addr: usize) -> Result<()> {
    let block = owned(rt, addr, "devPtr", Kind::Device, "aclrtFree#04")?;
    drain(rt, &block)?;
    release(rt, addr, "devPtr", Kind::Device, "aclrtFree#04")
}

/// aclrtFreeHost: waits for nothing (#02).
pub fn free_host(rt: &Runtime, addr: usize) -> Result<()> {
    release(rt, addr, "hostPtr", Kind::Host, "aclrtFreeHost#03")
}

/// aclrtFreeHostWithDevSync: #02. Any device may use pinned memory, so every stream is waited for.
pub fn free_host_with_dev_sync(rt: &Runtime, addr: usize) -> Result<()> {
    let block = owned(rt, addr, "hostPtr", Kind::Host, "aclrtFreeHost#03")?;
    drain(rt, &block)?;
    release(rt, addr, "hostPtr", Kind::Host, "aclrtFreeHost#03")
}

/// What a free function may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Device,
    Host,
}

impl Kind {
    fn takes(self, block: &Block) -> bool {
        match block.owner {
            Owner::Device(_) => (block.tag & tag::HOST != 0) == (self == Kind::Host),
            // aclrtMemAllocManaged#08
            Owner::Managed => self == Kind::Device,
            Owner::Pinned => self == Kind::Host,
            Owner::Registered | Owner::Alias | Owner::Image(_) => false,
        }
    }
}

/// The block that a free function may free at `addr`.
fn owned(rt: &Runtime, addr: usize, name: &str, kind: Kind, rule: &'static str) -> Result<Block> {
    match rt.space.find(addr) {
        Some(block) if held(block).base == addr && kind.takes(&block) => Ok(block),
        found => not_freed(rt, addr, name, kind, rule, found),
    }
}

fn release(rt: &Runtime, addr: usize, name: &str, kind: Kind, rule: &'static str) -> Result<()> {
    // Most blocks begin where the program has them: found and freed in one step.
    if let Ok(block) = rt.space.free_if(addr, |block| held(*block).base == addr && kind.takes(block)) {
        settle(rt, &block);
        return Ok(());
    }
    let block = owned(rt, addr, name, kind, rule)?;
    if discard(rt, &block) {
        return Ok(());
    }
    // Another thread freed it meanwhile.
    not_freed(rt, addr, name, kind, rule, rt.space.find(addr))
}

#[cold]
fn not_freed<T>(
    rt: &Runtime,
    addr: usize,
    name: &str,
    kind: Kind,
    rule: &'static str,
    found: Option<Block>,
) -> Result<T> {
    observer::tell(|o| o.not_freed(addr));
    let what = place::at(rt, addr, found);
    let why = match found {
        Some(block) if kind.takes(&block) => "only the start of a block can be freed",
        Some(block) if Kind::Device.takes(&block) => "aclrtFree frees it",
        Some(block) if Kind::Host.takes(&block) => "aclrtFreeHost frees it",
        Some(_) => "it was not allocated by a malloc function",
        None => "it was freed already, or never allocated",
    };
    refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "{name}: {addr:#x} is {what}; {why}")
}

/// Frees a block that goes with its device. False when the program freed it meanwhile.
pub(crate) fn discard(rt: &Runtime, block: &Block) -> bool {
    let freed = rt.space.free_exact(block);
    if freed {
        settle(rt, block);
    }
    freed
}

/// Books a block that is gone.
fn settle(rt: &Runtime, block: &Block) {
    let block = &held(*block);
    if let Owner::Device(device) = block.owner {
        rt.ledger.give(device, ledger::pages(rt, block.page, block.usable), block.tag);
    }
    observer::tell(|o| o.freed(block));
}

/// Waits for everything on the block's device, or on all devices for a block of none; not for streams that no host waits for.
fn drain(rt: &Runtime, block: &Block) -> Result<()> {
    let mut streams = rt.streams.all();
    let elsewhere = |device: u16| matches!(block.owner, Owner::Device(own) if own != device);
    streams.retain(|stream| !stream.unwaitable() && !elsewhere(stream.device));
    for stream in &streams {
        stream::sync::not_own(rt, stream)?;
    }
    for stream in &streams {
        let mark = stream.mark(rt);
        stream.drain(rt);
        observer::tell(|o| o.host_ordered(mark));
    }
    Ok(())
}
