//! aclrtMemcpyBatch, …V2, …Async and …AsyncV2: many copies in one call, all from the host to a device or all back. Every entry
//! is checked before the first is copied.

use std::fmt;

use ascendcl_sys as sys;
use toprope_engine::memory::Move;
use toprope_engine::queue::{Moves, Task};

use super::{drain, end, enqueue, given, gone, now, own};
use crate::bytes;
use crate::error::Result;
use crate::generated::api::Api;
use crate::handle::Pin;
use crate::memory::place::{Place, Side, Span};
use crate::process::Runtime;
use crate::stream::{self, Stream};
use crate::{observer, refuse, thread};

/// aclrtMemcpyBatch#23
const MOST: usize = 4096;

/// The arrays of a batch, as addresses of the program's memory.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names of the C parameters")]
pub struct Arrays {
    pub dsts: usize,
    pub dest_maxs: usize,
    pub srcs: usize,
    pub sizes: usize,
    pub num_batches: usize,
    pub attrs: usize,
    pub attrs_indexes: usize,
    pub num_attrs: usize,
    /// Where the failing entry's index goes; none for the V2 forms, which have no such parameter.
    pub fail_index: Option<usize>,
}

/// Rows that the four functions have alike, under their own numbers.
struct Rules {
    api: Api,
    sizes: &'static str,
    empty: &'static str,
    dsts: &'static str,
    dest_maxs: &'static str,
    srcs: &'static str,
    attrs: &'static str,
    attrs_indexes: &'static str,
    fits: &'static str,
    reserved: &'static str,
    no_attrs: &'static str,
    many_attrs: &'static str,
    first: &'static str,
    increasing: &'static str,
    past: &'static str,
    mixed: &'static str,
    location: &'static str,
    fail_index: &'static str,
    many: &'static str,
    one_side: &'static str,
}

macro_rules! rules {
    ($api:ident, many: $many:expr, one_side: $one_side:expr) => {
        Rules {
            api: Api::$api,
            sizes: concat!(stringify!($api), "#01"),
            empty: concat!(stringify!($api), "#02"),
            dsts: concat!(stringify!($api), "#04"),
            dest_maxs: concat!(stringify!($api), "#05"),
            srcs: concat!(stringify!($api), "#06"),
            attrs: concat!(stringify!($api), "#07"),
            attrs_indexes: concat!(stringify!($api), "#08"),
            fits: concat!(stringify!($api), "#09"),
            reserved: concat!(stringify!($api), "#10"),
            no_attrs: concat!(stringify!($api), "#11"),
            many_attrs: concat!(stringify!($api), "#12"),
            first: concat!(stringify!($api), "#13"),
            increasing: concat!(stringify!($api), "#14"),
            past: concat!(stringify!($api), "#15"),
            mixed: concat!(stringify!($api), "#17"),
            location: concat!(stringify!($api), "#19"),
            fail_index: concat!(stringify!($api), "#21"),
            many: $many,
            one_side: $one_side,
        }
    };
}

const NOW: Rules = rules!(aclrtMemcpyBatch, many: "aclrtMemcpyBatch#23", one_side: "aclrtMemcpyBatch#24");
const NOW_V2: Rules =
    rules!(aclrtMemcpyBatchV2, many: "aclrtMemcpyBatchV2#21", one_side: "aclrtMemcpyBatchV2#22");
const ASYNC: Rules = rules!(aclrtMemcpyBatchAsync, many: "ours: as aclrtMemcpyBatch#23", one_side: "ours: as aclrtMemcpyBatch#24");
const ASYNC_V2: Rules = rules!(aclrtMemcpyBatchAsyncV2, many: "ours: as aclrtMemcpyBatch#23", one_side: "ours: as aclrtMemcpyBatch#24");

/// One entry that is to be copied.
struct Entry {
    index: usize,
    dst: Span,
    src: Span,
}

impl Entry {
    fn inner(&self) -> Move {
        Move { dst: self.dst.inner(), src: self.src.inner(), len: self.dst.len }
    }
}

/// What the ACL layer has read.
struct Batch {
    dsts: Vec<usize>,
    srcs: Vec<usize>,
    sizes: Vec<usize>,
    attrs: Vec<sys::aclrtMemcpyBatchAttr>,
    indexes: Vec<usize>,
}

/// aclrtMemcpyBatch and aclrtMemcpyBatchV2. `fail` becomes the index of the entry that failed (#22).
pub fn memcpy_batch(rt: &Runtime, arrays: &Arrays, fail: &mut usize) -> Result<()> {
    let rules = if arrays.fail_index.is_some() { &NOW } else { &NOW_V2 };
    let Some(batch) = read(rules, arrays)? else { return Ok(()) };
    indexes(rules, &batch, arrays)?;
    // *#03
    thread::current_device(rt)?;
    let entries = entries(rt, rules, &batch, fail)?;
    // A large one by itself: idle cores take pieces of it.
    for group in entries.chunk_by(|a, b| a.dst.len.max(b.dst.len) <= GROUP) {
        match group {
            [entry] => {
                *fail = entry.index;
                now(rt, rules.api, &entry.dst, &entry.src)?;
            }
            _ => together(rt, rules, group, fail)?,
        }
    }
    *fail = usize::MAX;
    Ok(())
}

/// Makes small copies at once (*#16: in no order that anybody could rely on).
fn together(rt: &Runtime, rules: &Rules, entries: &[Entry], fail: &mut usize) -> Result<()> {
    let moves: Vec<Move> = entries.iter().map(Entry::inner).collect();
    // SAFETY: the ranges are blocks of the runtime, which never hands out references into them, or memory of the program.
    let moved = unsafe { rt.engine.copy_each(&moves) };
    let done = moved.map_or_else(|(at, _)| at, |()| moves.len());
    if observer::watched() {
        for entry in entries.iter().take(done) {
            observer::tell(|o| o.accessed(rules.api, &[entry.src.range()], &[entry.dst.range()]));
        }
    }
    let Err((at, fault)) = moved else { return Ok(()) };
    let entry = entries.get(at);
    *fail = entry.map_or(usize::MAX, |entry| entry.index);
    gone(fault, entry.map(|entry| &entry.dst), entry.map(|entry| &entry.src))
}

/// aclrtMemcpyBatchAsync and aclrtMemcpyBatchAsyncV2. Entries with pageable memory are copied before the call returns (#23),
/// the others become tasks.
pub fn memcpy_batch_async(rt: &Runtime, arrays: &Arrays, stream: u64, fail: &mut usize) -> Result<()> {
    let rules = if arrays.fail_index.is_some() { &ASYNC } else { &ASYNC_V2 };
    let Some(batch) = read(rules, arrays)? else { return Ok(()) };
    let stream = stream::known(rt, stream)?;
    indexes(rules, &batch, arrays)?;
    let stream = own(rt, stream, "ours: as aclrtMemcpyAsync#23")?;
    let entries = entries(rt, rules, &batch, fail)?;
    let pages = |entry: &Entry| entry.dst.place() == Place::Pageable || entry.src.place() == Place::Pageable;
    if entries.iter().any(pages) {
        // aclrtMemcpyBatchAsync#24, aclrtMemcpyBatchAsyncV2#22
        drain(rt, &stream, "aclrtMemcpyBatchAsync#24")?;
    }
    let mut group: Vec<&Entry> = Vec::new();
    let mut bytes = 0;
    for entry in &entries {
        if pages(entry) {
            *fail = entry.index;
            now(rt, rules.api, &entry.dst, &entry.src)?;
            continue;
        }
        if bytes + entry.dst.len > GROUP {
            add(rt, rules, &stream, &mut group);
            bytes = 0;
        }
        bytes += entry.dst.len;
        group.push(entry);
    }
    add(rt, rules, &stream, &mut group);
    *fail = usize::MAX;
    Ok(())
}

/// Bytes of entries that one task copies: enough that the task itself costs little, and short enough for priorities.
const GROUP: usize = 1 << 20;
/// So few entries are a task each.
const FEW: usize = 4;

/// Adds the entries of a group, and empties it.
fn add(rt: &Runtime, rules: &Rules, stream: &Pin<'_, Stream>, group: &mut Vec<&Entry>) {
    let alone = group.len() <= FEW;
    for entry in group.iter().filter(|_| alone) {
        let Move { dst, src, len } = entry.inner();
        let task = Task::Copy { dst, src, len };
        enqueue(rt, rules.api, stream, task, &[entry.src.range()], &[entry.dst.range()]);
    }
    if !alone {
        let moves = group.iter().map(|entry| entry.inner()).collect();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        if observer::watched() {
            reads.extend(group.iter().map(|entry| entry.src.range()));
            writes.extend(group.iter().map(|entry| entry.dst.range()));
        }
        // Whatever fails, every copy that can be made is made. *#16
        let task = Task::Each(Box::new(Moves::new(moves)));
        enqueue(rt, rules.api, stream, task, &reads, &writes);
    }
    group.clear();
}

/// The checks of the ACL layer. None: every size is 0, and nothing else is looked at (#03).
fn read(rules: &Rules, arrays: &Arrays) -> Result<Option<Batch>> {
    let count = arrays.num_batches;
    given(arrays.sizes, "sizes", rules.sizes)?;
    if count == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, rules.empty, "numBatches: must not be 0");
    }
    // Before the arrays are read, so that no absurd number makes it take long.
    if count > MOST {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.many,
            "numBatches: {count} is more than {MOST}"
        );
    }
    let sizes: Vec<usize> = array(arrays.sizes, count, "sizes", rules.sizes)?;
    if sizes.iter().all(|size| *size == 0) {
        return Ok(None);
    }
    given(arrays.dsts, "dsts", rules.dsts)?;
    given(arrays.dest_maxs, "destMaxs", rules.dest_maxs)?;
    given(arrays.srcs, "srcs", rules.srcs)?;
    given(arrays.attrs, "attrs", rules.attrs)?;
    given(arrays.attrs_indexes, "attrsIndexes", rules.attrs_indexes)?;
    given(arrays.fail_index.unwrap_or(1), "failIndex", rules.fail_index)?;
    let maxs: Vec<usize> = array(arrays.dest_maxs, count, "destMaxs", rules.dest_maxs)?;
    for (index, (size, max)) in sizes.iter().zip(&maxs).enumerate() {
        if size > max {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                rules.fits,
                "sizes[{index}]: {size} is more than destMaxs[{index}], {max}"
            );
        }
    }
    // More attributes than copies are refused by the next layer; the arrays may well be shorter than that.
    let named = if arrays.num_attrs > count { 0 } else { arrays.num_attrs };
    let attrs: Vec<sys::aclrtMemcpyBatchAttr> = array(arrays.attrs, named, "attrs", rules.attrs)?;
    if let Some(index) = attrs.iter().position(|attr| attr.rsv != [0; 16]) {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            rules.reserved,
            "attrs[{index}].rsv: every byte must be 0"
        );
    }
    Ok(Some(Batch {
        dsts: array(arrays.dsts, count, "dsts", rules.dsts)?,
        srcs: array(arrays.srcs, count, "srcs", rules.srcs)?,
        sizes,
        attrs,
        indexes: array(arrays.attrs_indexes, named, "attrsIndexes", rules.attrs_indexes)?,
    }))
}

fn array<T: Copy>(addr: usize, count: usize, name: &str, rule: &'static str) -> Result<Vec<T>> {
    match bytes::read_all(addr, count) {
        Ok(values) => Ok(values),
        Err(_) => {
            refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "{name}: {count} entries at {addr:#x} cannot be read")
        }
    }
}

/// The checks of the runtime layer on the attributes' indexes.
fn indexes(rules: &Rules, batch: &Batch, arrays: &Arrays) -> Result<()> {
    let (count, num_attrs) = (arrays.num_batches, arrays.num_attrs);
    let code = sys::ACL_ERROR_RT_PARAM_INVALID;
    if num_attrs == 0 {
        return refuse!(code, rules.no_attrs, "numAttrs: must not be 0");
    }
    if num_attrs > count {
        return refuse!(code, rules.many_attrs, "numAttrs: {num_attrs} is more than numBatches, {count}");
    }
    let mut before = None;
    for (place, index) in batch.indexes.iter().enumerate() {
        match before {
            None if *index != 0 => {
                return refuse!(code, rules.first, "attrsIndexes[0]: {index} must be 0");
            }
            Some(before) if *index <= before => {
                return refuse!(
                    code,
                    rules.increasing,
                    "attrsIndexes[{place}]: {index} must be more than the {before} before it"
                );
            }
            _ => {}
        }
        if *index >= count {
            return refuse!(
                code,
                rules.past,
                "attrsIndexes[{place}]: {index} must be less than numBatches, {count}"
            );
        }
        before = Some(*index);
    }
    Ok(())
}

/// The name of an entry of an array, for messages.
struct Nth(&'static str, usize);

impl fmt::Display for Nth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.0, self.1)
    }
}

/// Checks every entry against its attribute (#18) and the direction of the batch. ours: entries of size 0 are passed over.
fn entries(rt: &Runtime, rules: &Rules, batch: &Batch, fail: &mut usize) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::with_capacity(batch.sizes.len());
    let mut attrs = batch.attrs.iter().zip(&batch.indexes).peekable();
    let mut attr = None;
    let operands = batch.dsts.iter().zip(&batch.srcs).zip(&batch.sizes).enumerate();
    for (index, ((&dst, &src), &size)) in operands {
        if let Some((next, _)) = attrs.next_if(|(_, start)| **start == index) {
            attr = Some(next);
        }
        let Some(attr) = attr.filter(|_| size != 0) else { continue };
        *fail = index;
        let dst = end(rt, &Nth("dsts", index), dst, size)?;
        let src = end(rt, &Nth("srcs", index), src, size)?;
        located(rules, &Nth("dsts", index), &dst, attr.dstLoc)?;
        located(rules, &Nth("srcs", index), &src, attr.srcLoc)?;
        if dst.place().side() == src.place().side() {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                rules.one_side,
                "entry {index}: dst {:#x} is {}, src {:#x} is {}; a batch copies between host and device",
                dst.start,
                dst.describe(),
                src.start,
                src.describe()
            );
        }
        if let Some(first) = entries.first() {
            let (this, that) = (dst.place().side(), first.dst.place().side());
            if this != that {
                // The code is ours.
                return refuse!(
                    sys::ACL_ERROR_RT_PARAM_INVALID,
                    rules.mixed,
                    "entry {index} copies to the {this:?}, entry {} to the {that:?}; a batch has one direction",
                    first.index
                );
            }
        }
        entries.push(Entry { index, dst, src });
    }
    *fail = usize::MAX;
    Ok(entries)
}

/// Whether a location of an attribute is where the memory really is. ours: the id counts for devices only.
fn located(rules: &Rules, name: &Nth, span: &Span, location: sys::aclrtMemLocation) -> Result<()> {
    let fits = match (location.r#type, span.place().side()) {
        (sys::ACL_MEM_LOCATION_TYPE_HOST, Side::Host) => true,
        (sys::ACL_MEM_LOCATION_TYPE_DEVICE, Side::Device) => {
            span.place().device().map(u32::from) == Some(location.id)
        }
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let said = match location.r#type {
        sys::ACL_MEM_LOCATION_TYPE_HOST => "the host".to_owned(),
        sys::ACL_MEM_LOCATION_TYPE_DEVICE => format!("device {}", location.id),
        other => format!("location type {other}, which a batch does not take"),
    };
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rules.location,
        "{name}: the attribute says {said}, but {:#x} is {}",
        span.start,
        span.describe()
    )
}
