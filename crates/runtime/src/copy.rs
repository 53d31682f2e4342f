//! Chapter 11-03: copies and fills. Where the bytes live is decided by address ([`place::locate`]), for every one of them.
//!
//! A synchronous call moves its bytes on the calling thread ([`now`]) and waits for no stream. An asynchronous one becomes a
//! task, which reads and writes when it executes; [`queued`] says when it does not. A task carries inner addresses only:
//! memory that is freed under it stays mapped, so a late copy touches reused memory at worst, as on a card.

pub mod batch;
pub mod descriptor;
pub mod fill;
pub mod pitched;
pub mod queued;

use std::fmt;

use ascendcl_sys as sys;
use toprope_engine::fault::Fault;
use toprope_engine::memory;
use toprope_engine::queue::{Task, Work};

use crate::error::{Error, Result};
use crate::generated::api::Api;
use crate::generated::products::Pageable;
use crate::handle::Pin;
use crate::memory::place::{self, Place, Span};
use crate::observer::{self, Range};
use crate::process::Runtime;
use crate::profile::Profile;
use crate::stream::{self, Stream};
use crate::{device, refuse, thread};

pub use batch::{memcpy_batch, memcpy_batch_async};
pub use descriptor::{
    get_memcpy_desc_size, memcpy_async_with_desc, memcpy_async_with_offset, set_memcpy_desc,
};
pub use fill::{memset, memset_async, memset_d32, memset_d32_async};
pub use pitched::{memcpy_2d, memcpy_2d_async};
pub(crate) use queued::{SymbolCopy, memcpy_symbol_async};
pub use queued::{memcpy_async, memcpy_async_with_condition};

/// What a stream fails with when a task meets memory that is not there. ours: no page names it; the copy engine's own code.
pub const FAULT_CODE: u32 = sys::ACL_ERROR_RT_SYS_DMA as u32;

/// aclrtMemcpy.
pub fn memcpy(rt: &Runtime, dst: usize, dest_max: usize, src: usize, count: usize, kind: u32) -> Result<()> {
    // aclrtMemcpy#01
    if count == 0 {
        return Ok(());
    }
    given(dst, "dst", "aclrtMemcpy#02")?;
    given(src, "src", "aclrtMemcpy#03")?;
    if kind > sys::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE {
        return unknown_kind(kind, "aclrtMemcpy#04");
    }
    fits(count, dest_max, if dest_max == 0 { "aclrtMemcpy#06" } else { "aclrtMemcpy#05" })?;
    // aclrtMemcpy#07
    if dst == src {
        return Ok(());
    }
    // aclrtMemcpy#11
    let device = thread::current_device(rt)?;
    // aclrtMemcpy#08, #13, #14: addresses decide, and every pair of places can be copied but the aliases.
    let dst = end_now(rt, &"dst", dst, count)?;
    let src = end_now(rt, &"src", src, count)?;
    reachable(rt, device, &dst, &src, "aclrtMemcpy#10")?;
    now(rt, Api::aclrtMemcpy, &dst, &src)
}

/// A synchronous copy of a device variable (chapter 11-11), whose own rules were checked; `api` is the call.
pub(crate) fn memcpy_symbol(rt: &Runtime, api: Api, dst: usize, src: usize, count: usize) -> Result<()> {
    let device = thread::current_device(rt)?;
    let dst = end(rt, &"dst", dst, count)?;
    let src = end(rt, &"src", src, count)?;
    reachable(rt, device, &dst, &src, "aclrtMemcpy#10")?;
    now(rt, api, &dst, &src)
}

/// A pointer that must not be null.
#[inline]
fn given(addr: usize, name: &str, rule: &'static str) -> Result<()> {
    if addr == 0 { null(name, rule) } else { Ok(()) }
}

#[cold]
fn null<T>(name: &str, rule: &'static str) -> Result<T> {
    refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "{name}: must not be null")
}

#[cold]
fn unknown_kind<T>(kind: u32, rule: &'static str) -> Result<T> {
    refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "kind: {} cannot be used here", kind_name(kind))
}

/// A kind as the header writes it.
fn kind_name(kind: u32) -> sys::enums::Shown {
    sys::enums::aclrtMemcpyKind.show(kind)
}

#[inline]
fn fits(count: usize, dest_max: usize, rule: &'static str) -> Result<()> {
    if count <= dest_max {
        return Ok(());
    }
    refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "count: {count} is more than destMax, {dest_max}")
}

/// One end of a copy, checked.
#[inline(always)]
pub(crate) fn end(rt: &Runtime, name: &dyn fmt::Display, addr: usize, len: usize) -> Result<Span> {
    let span = place::locate(rt, name, addr, len)?;
    if span.place() == Place::Alias { Err(alias(name, &span)) } else { Ok(span) }
}

/// [`end`] of a copy or fill that is done before the call returns.
#[inline(always)]
pub(crate) fn end_now(rt: &Runtime, name: &dyn fmt::Display, addr: usize, len: usize) -> Result<Span> {
    let span = place::locate_now(rt, name, addr, len)?;
    if span.place() == Place::Alias { Err(alias(name, &span)) } else { Ok(span) }
}

#[cold]
fn alias(name: &dyn fmt::Display, span: &Span) -> Error {
    Error::new(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        "aclrtHostRegister#06",
        format!(
            "{name}: {:#x} is {}; it is for kernels only, copies take the host address",
            span.start,
            span.describe()
        ),
    )
}

/// A copy between two devices needs an enabled access from the device that runs it to each other device.
#[inline(always)]
fn reachable(rt: &Runtime, runs: u16, dst: &Span, src: &Span, rule: &'static str) -> Result<()> {
    match (dst.place().device(), src.place().device()) {
        (Some(to), Some(from)) if to != from => across(rt, runs, [from, to], rule),
        _ => Ok(()),
    }
}

/// The code is ours.
#[cold]
fn across(rt: &Runtime, runs: u16, [from, to]: [u16; 2], rule: &'static str) -> Result<()> {
    for other in [from, to] {
        if other != runs && !device::peer::peer_enabled(rt, runs, other) {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                rule,
                "src is on device {from}, dst on device {to}: device {runs}, which copies, has no access to device {other}; \
                 call aclrtDeviceEnablePeerAccess({other}, 0) on it first"
            );
        }
    }
    Ok(())
}

/// Moves bytes before the call returns: on the calling thread, and on idle cores too if it is large. Every synchronous copy ends here.
fn now(rt: &Runtime, api: Api, dst: &Span, src: &Span) -> Result<()> {
    // SAFETY: as in `shift`.
    unsafe { rt.engine.copy(dst.inner(), src.inner(), dst.len) }
        .or_else(|fault| gone(fault, Some(dst), Some(src)))?;
    observer::tell(|o| o.accessed(api, &[src.range()], &[dst.range()]));
    Ok(())
}

fn shift(dst: usize, src: usize, len: usize) -> std::result::Result<(), Fault> {
    // SAFETY: the ranges are blocks of the runtime, which never hands out references into them, or memory of the program.
    unsafe { memory::copy(dst, src, len) }
}

/// A span turned out not to be mapped.
#[cold]
fn gone<T>(fault: Fault, dst: Option<&Span>, src: Option<&Span>) -> Result<T> {
    let hit = |span: &Span| {
        let start = span.inner();
        (start..start + span.len).contains(&fault.address)
    };
    let (name, span) = match (dst, src) {
        (Some(dst), Some(src)) if !hit(dst) && hit(src) => ("src", Some(src)),
        (None, Some(src)) => ("src", Some(src)),
        (dst, _) => ("dst", dst),
    };
    let (what, start) = span.map_or((String::new(), 0), |span| (span.describe(), span.start));
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        "ours: memory that is not there",
        "{name}: {start:#x} is {what}; no access to {:#x} (signal {})",
        fault.address,
        fault.signal
    )
}

/// What an asynchronous copy of the target's generation does with pageable memory.
#[inline]
fn pageable(profile: &Profile) -> Pageable {
    match profile.generation {
        9 => profile.product.pageable_gen9,
        8 => profile.product.pageable_gen8,
        _ => profile.product.pageable_gen5,
    }
}

/// The stream that a task is added to: of the current context. [`stream::known`] has told of a dead handle before any other
/// check of the runtime layer (*#01); what needs a context, and so the default stream, is looked at last.
#[inline(always)]
pub(crate) fn own<'a>(
    rt: &'a Runtime,
    known: Option<Pin<'a, Stream>>,
    rule: &'static str,
) -> Result<Pin<'a, Stream>> {
    let stream = stream::or_default(rt, known)?;
    stream::in_context(rt, &stream, rule)?;
    stream::takes_tasks(rt, &stream)?;
    Ok(stream)
}

/// Adds a task and tells about it.
#[inline(always)]
pub(crate) fn enqueue(
    rt: &Runtime,
    api: Api,
    stream: &Pin<'_, Stream>,
    task: Task,
    reads: &[Range],
    writes: &[Range],
) {
    if observer::watched() {
        told(rt, api, stream, task, reads, writes);
    } else {
        stream.push(rt, task);
    }
}

/// [`enqueue`] with an observer. Apart, so that the other way is one piece of code with its caller.
#[cold]
fn told(rt: &Runtime, api: Api, stream: &Pin<'_, Stream>, task: Task, reads: &[Range], writes: &[Range]) {
    observer::enqueue(api, stream.handle(), reads, writes, || {
        let position = stream.push(rt, task);
        rt.engine.mark_at(stream.queue, position)
    });
}

/// A task of several moves, about as long as `bytes` and `pieces` take.
pub(crate) fn work(
    bytes: usize,
    pieces: usize,
    run: impl FnOnce() -> std::result::Result<(), u32> + Send + 'static,
) -> Task {
    let cost_ns = (bytes as u64 / 8).saturating_add((pieces as u64).saturating_mul(10)).max(50);
    Task::Work(Box::new(Work { run: Box::new(run), cost_ns, user_code: false }))
}

/// Waits for everything in a stream before a copy of pageable memory. ours: when an earlier task of the stream has failed, the
/// call returns its code and copies nothing; the failure stays with the stream, for its synchronize.
fn drain(rt: &Runtime, stream: &Pin<'_, Stream>, rule: &'static str) -> Result<()> {
    if stream.keeps_tasks() {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "ours: as aclrtMemcpyAsync#15",
            "stream: stream {} keeps its tasks (ACL_STREAM_PERSISTENT), and pageable memory would wait for them for ever",
            stream.id
        );
    }
    stream::sync::not_own(rt, stream)?;
    // The program's own addresses follow, and they may be wrong.
    toprope_engine::fault::reclaim();
    let mark = stream.mark(rt);
    stream.drain(rt);
    observer::tell(|o| o.host_ordered(mark));
    match rt.engine.failure(stream.queue) {
        None => Ok(()),
        Some(failure) => refuse!(
            failure.code as i32,
            rule,
            "stream: stream {}, which is waited for because of pageable memory, failed at task {}",
            stream.id,
            failure.position
        ),
    }
}
