//! Prefetches: where pages should be before they are used next.

use ascendcl_sys as sys;
use toprope_engine::queue::{Task, Work};

use super::{Location, Pages, pages, somewhere};
use crate::error::Result;
use crate::generated::api::Api;
use crate::observer::{self, Enqueued};
use crate::process::Runtime;
use crate::{refuse, stream, thread};

/// aclrtMemManagedPrefetchAsync.
pub fn prefetch_async(
    rt: &'static Runtime,
    addr: usize,
    size: u64,
    to: sys::aclrtMemManagedLocation,
    flags: u32,
    stream: u64,
) -> Result<()> {
    if size == 0 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemManagedPrefetchAsync#02",
            "size: must not be 0"
        );
    }
    no_flags(flags.into(), "aclrtMemManagedPrefetchAsync#03")?;
    live(rt, stream)?;
    let rules = (
        "aclrtMemManagedPrefetchAsync#04",
        "aclrtMemManagedPrefetchAsync#05",
        "aclrtMemManagedPrefetchAsync#09",
    );
    let pages = pages(rt, addr, size, true, "ptr", rules)?;
    let to = somewhere(rt, to, "location", "aclrtMemManagedPrefetchAsync#06")?;
    enqueue(rt, Api::aclrtMemManagedPrefetchAsync, stream, vec![(pages, to)])
}

/// The plain numbers of aclrtMemManagedPrefetchBatchAsync; checked before its arrays are read.
pub fn batch_counts(count: usize, locations: usize, flags: u64) -> Result<()> {
    if count == 0 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemManagedPrefetchBatchAsync#05",
            "count: must not be 0"
        );
    }
    if locations == 0 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemManagedPrefetchBatchAsync#06",
            "numPrefetchLocs: must not be 0"
        );
    }
    no_flags(flags, "aclrtMemManagedPrefetchBatchAsync#07")?;
    if locations > count {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemManagedPrefetchBatchAsync#08",
            "numPrefetchLocs: {locations} is more than count, {count}"
        );
    }
    Ok(())
}

/// aclrtMemManagedPrefetchBatchAsync, after [`batch_counts`]: ranges (address, size), locations (place, index of the
/// first range that it serves).
pub fn prefetch_batch_async(
    rt: &'static Runtime,
    ranges: &[(usize, u64)],
    locations: &[(sys::aclrtMemManagedLocation, usize)],
    stream: u64,
) -> Result<()> {
    live(rt, stream)?;
    let count = ranges.len();
    let mut wanted = 0;
    for (n, (_, first)) in locations.iter().enumerate() {
        let rule = match n {
            0 if *first != 0 => "aclrtMemManagedPrefetchBatchAsync#09",
            1.. if *first < wanted => "aclrtMemManagedPrefetchBatchAsync#10",
            _ if *first >= count => "aclrtMemManagedPrefetchBatchAsync#11",
            _ => {
                wanted = first + 1;
                continue;
            }
        };
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rule,
            "prefetchLocIdxs[{n}]: {first}; the first is 0, each is greater than the one before and less than count ({count})"
        );
    }
    let rules = (
        "aclrtMemManagedPrefetchBatchAsync#14",
        "aclrtMemManagedPrefetchBatchAsync#15",
        "aclrtMemManagedPrefetchAsync#09",
    );
    let mut moves = Vec::new();
    let mut upcoming = locations.iter().enumerate().peekable();
    let mut place = Location::Host;
    for (n, (addr, size)) in ranges.iter().enumerate() {
        // aclrtMemManagedPrefetchBatchAsync<cpp>#07: a location serves from its index to the next one's.
        if let Some((k, (given, _))) = upcoming.next_if(|(_, (_, first))| *first == n) {
            place =
                somewhere(rt, *given, &format!("prefetchLocs[{k}]"), "aclrtMemManagedPrefetchBatchAsync#13")?;
        }
        if *addr == 0 {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemManagedPrefetchBatchAsync#12",
                "ptrs[{n}]: must not be null"
            );
        }
        moves.push((pages(rt, *addr, *size, true, &format!("ptrs[{n}]"), rules)?, place));
    }
    enqueue(rt, Api::aclrtMemManagedPrefetchBatchAsync, stream, moves)
}

/// Prefetches have no flags yet.
fn no_flags(flags: u64, rule: &'static str) -> Result<()> {
    if flags == 0 {
        return Ok(());
    }
    refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "flags: {flags:#x}; is reserved and must be 0")
}

/// *#01: a bad handle is found before any other check of the runtime.
fn live(rt: &Runtime, stream: u64) -> Result<()> {
    if stream != 0 {
        stream::resolve(rt, stream)?;
    }
    Ok(())
}

fn enqueue(rt: &'static Runtime, api: Api, handle: u64, moves: Vec<(Pages, Location)>) -> Result<()> {
    // aclrtMemManagedPrefetchAsync#08
    if handle == 0 && thread::current(rt)?.default_stream().is_none() {
        return refuse!(
            sys::ACL_ERROR_RT_INTERNAL_ERROR,
            "aclrtMemManagedPrefetchAsync#08",
            "stream: the current context has no default stream"
        );
    }
    // No row of this function speaks of a foreign stream; it is as with every other task.
    let stream = stream::resolve_own(rt, handle, "aclrtMemcpyAsync#23")?;
    {
        let mut ranges = rt.managed.ranges.lock();
        for (pages, to) in &moves {
            ranges.update(pages.start, pages.end, |state| state.last_prefetch = Some(*to));
        }
    }
    let work = Work { run: Box::new(move || settle(rt, &moves)), cost_ns: 1_000, user_code: false };
    let position = stream.push(rt, Task::Work(Box::new(work)));
    observer::tell(|o| {
        // A prefetch neither reads nor writes what the pages hold.
        let mark = rt.engine.mark_at(stream.queue, position);
        o.enqueued(&Enqueued { api, stream: stream.handle(), mark, reads: &[], writes: &[] });
    });
    Ok(())
}

/// A prefetch executes: the pages are where it put them.
fn settle(rt: &Runtime, moves: &[(Pages, Location)]) -> std::result::Result<(), u32> {
    let mut ranges = rt.managed.ranges.lock();
    for (pages, to) in moves {
        // ours: memory that was freed before its prefetch ran fails the stream, as a copy to it does.
        if pages.blocks.iter().any(|block| rt.space.find(block.base) != Some(*block)) {
            return Err(sys::ACL_ERROR_RT_SYS_DMA as u32);
        }
        ranges.update(pages.start, pages.end, |state| state.place = Some(*to));
    }
    Ok(())
}
