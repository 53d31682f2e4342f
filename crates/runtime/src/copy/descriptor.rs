//! Copies inside a device whose operands stand in device memory: descriptors (aclrtSetMemcpyDesc, aclrtMemcpyAsyncWithDesc)
//! and pointers to pointers (aclrtMemcpyAsyncWithOffset). What stands there is read when the task executes.

use std::fmt;

use ascendcl_sys as sys;
use toprope_engine::queue::Task;

use super::{FAULT_CODE, end, enqueue, given, gone, own, shift, unknown_kind, work};
use crate::bytes;
use crate::error::Result;
use crate::generated::api::Api;
use crate::handle::Pin;
use crate::memory::place::{Place, Span};
use crate::observer::{self, Range};
use crate::process::Runtime;
use crate::refuse;
use crate::stream::{self, Stream};

/// What stands at a descriptor's address. The layout is ours; the program only knows its size.
#[derive(Clone, Copy)]
#[repr(C)]
struct Descriptor {
    mark: u64,
    dst: u64,
    src: u64,
    count: u64,
    /// Zero. aclrtSetMemcpyDesc#08: a descriptor is 64 bytes.
    rest: [u64; 4],
}

/// Tells a descriptor from other bytes.
const MARK: u64 = u64::from_le_bytes(*b"tr-desc1");
/// aclrtSetMemcpyDesc#10
const MOST: usize = 4 << 30;
/// aclrtMemcpyAsyncWithOffset#05
const FARTHEST: usize = 0xFFFF_FFFF_FFFF;

/// aclrtGetMemcpyDescSize.
pub fn get_memcpy_desc_size(_: &Runtime, kind: u32) -> Result<usize> {
    known(kind, "aclrtGetMemcpyDescSize#02")?;
    inside(kind, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtGetMemcpyDescSize#03")?;
    Ok(size_of::<Descriptor>())
}

fn known(kind: u32, rule: &'static str) -> Result<()> {
    if kind <= sys::ACL_MEMCPY_INTER_DEVICE_TO_DEVICE { Ok(()) } else { unknown_kind(kind, rule) }
}

fn inside(kind: u32, code: i32, rule: &'static str) -> Result<()> {
    if kind == sys::ACL_MEMCPY_INNER_DEVICE_TO_DEVICE {
        return Ok(());
    }
    refuse!(code, rule, "kind: {}, only ACL_MEMCPY_INNER_DEVICE_TO_DEVICE is taken", super::kind_name(kind))
}

/// Device memory, and whose.
fn on_device(
    rt: &Runtime,
    name: &dyn fmt::Display,
    addr: usize,
    len: usize,
    rule: &'static str,
) -> Result<(Span, u16)> {
    let span = end(rt, name, addr, len)?;
    match span.place().device() {
        Some(device) => Ok((span, device)),
        None => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rule,
            "{name}: {addr:#x} is {}, not device memory",
            span.describe()
        ),
    }
}

/// aclrtSetMemcpyDesc: writes the descriptor at once.
pub fn set_memcpy_desc(
    rt: &Runtime,
    desc: usize,
    kind: u32,
    src: usize,
    dst: usize,
    count: usize,
    config: usize,
) -> Result<()> {
    given(desc, "desc", "aclrtSetMemcpyDesc#01")?;
    given(src, "srcAddr", "aclrtSetMemcpyDesc#02")?;
    given(dst, "dstAddr", "aclrtSetMemcpyDesc#03")?;
    if count == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, "aclrtSetMemcpyDesc#04", "count: must not be 0");
    }
    if config != 0 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtSetMemcpyDesc#05",
            "config: is reserved and must be null"
        );
    }
    known(kind, "aclrtSetMemcpyDesc#06")?;
    inside(kind, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtSetMemcpyDesc#07")?;
    if !desc.is_multiple_of(size_of::<Descriptor>()) {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtSetMemcpyDesc#08",
            "desc: {desc:#x} is not 64-byte aligned"
        );
    }
    let rule = "aclrtSetMemcpyDesc#09";
    let (home, _) = on_device(rt, &"desc", desc, size_of::<Descriptor>(), rule)?;
    let (_, to) = on_device(rt, &"dstAddr", dst, count, rule)?;
    let (_, from) = on_device(rt, &"srcAddr", src, count, rule)?;
    if to != from {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rule,
            "srcAddr is on device {from}, dstAddr on device {to}; a descriptor copies inside one device"
        );
    }
    if count > MOST {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtSetMemcpyDesc#10",
            "count: {count} is more than {MOST}"
        );
    }
    let text = Descriptor { mark: MARK, dst: dst as u64, src: src as u64, count: count as u64, rest: [0; 4] };
    shift(home.inner(), &raw const text as usize, size_of::<Descriptor>())
        .or_else(|fault| gone(fault, Some(&home), None))?;
    observer::tell(|o| o.accessed(Api::aclrtSetMemcpyDesc, &[], &[home.range()]));
    Ok(())
}

/// aclrtMemcpyAsyncWithDesc.
pub fn memcpy_async_with_desc(rt: &'static Runtime, desc: usize, kind: u32, stream: u64) -> Result<()> {
    given(desc, "desc", "aclrtMemcpyAsyncWithDesc#01")?;
    if stream == 0 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemcpyAsyncWithDesc#02, #03",
            "stream: must not be null; the default stream is not taken here"
        );
    }
    let stream = stream::resolve(rt, stream)?;
    inside(kind, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpyAsyncWithDesc#04")?;
    let (home, _) = on_device(rt, &"desc", desc, size_of::<Descriptor>(), "aclrtMemcpyAsyncWithDesc#05")?;
    let stream = own(rt, Some(stream), "ours: as aclrtMemcpyAsync#23")?;
    let place = home.inner();
    let task = work(MOST.min(1 << 20), 1, move || {
        let now = read(place)?;
        run(rt, now.dst as usize, now.src as usize, now.count as usize)
    });
    // What will be copied is known when it executes; who listens is told what stands there now.
    let now = if observer::watched() { read(place).ok() } else { None };
    let range = |start: u64, len: u64| Range { start: start as usize, len: len as usize };
    let (src, dst) =
        now.map_or((range(0, 0), range(0, 0)), |now| (range(now.src, now.count), range(now.dst, now.count)));
    enqueue(rt, Api::aclrtMemcpyAsyncWithDesc, &stream, task, &[home.range(), src], &[dst]);
    Ok(())
}

/// The descriptor at an inner address.
fn read(place: usize) -> std::result::Result<Descriptor, u32> {
    match bytes::read::<Descriptor>(place) {
        Ok(now) if now.mark == MARK && now.rest == [0; 4] => Ok(now),
        _ => Err(FAULT_CODE),
    }
}

/// Copies inside a device, with the addresses as they are when the task executes.
fn run(rt: &Runtime, dst: usize, src: usize, count: usize) -> std::result::Result<(), u32> {
    let find = |addr| end(rt, &"address", addr, count).ok().filter(|span| span.place().device().is_some());
    let (Some(dst), Some(src)) = (find(dst), find(src)) else { return Err(FAULT_CODE) };
    if dst.place().device() != src.place().device() {
        return Err(FAULT_CODE);
    }
    shift(dst.inner(), src.inner(), count).map_err(|_| FAULT_CODE)
}

/// The operands of aclrtMemcpyAsyncWithOffset, as the program gives them.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names of the C parameters")]
pub struct Offset {
    pub dst: usize,
    pub dest_max: usize,
    pub dst_data_offset: usize,
    pub src: usize,
    pub count: usize,
    pub src_data_offset: usize,
    pub kind: u32,
}

/// aclrtMemcpyAsyncWithOffset: `dst` and `src` are where the pointers stand (#06). ours: in device, pinned or registered memory
/// they are read when the task executes, in other memory at the call.
pub fn memcpy_async_with_offset(rt: &'static Runtime, ask: &Offset, stream: u64) -> Result<()> {
    // aclrtMemcpyAsyncWithOffset#01
    if ask.count == 0 {
        return Ok(());
    }
    given(ask.dst, "dst", "ours: a null pointer")?;
    given(ask.src, "src", "ours: a null pointer")?;
    let stream = stream::known(rt, stream)?;
    // aclrtMemcpyAsyncWithOffset#03
    inside(ask.kind, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpyAsyncWithOffset#02")?;
    if ask.dst_data_offset >= ask.dest_max || ask.count > ask.dest_max - ask.dst_data_offset {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtMemcpyAsyncWithOffset#04",
            "count: {} bytes from dstDataOffset {} are more than destMax, {}",
            ask.count,
            ask.dst_data_offset,
            ask.dest_max
        );
    }
    for (name, offset) in [("dstDataOffset", ask.dst_data_offset), ("srcDataOffset", ask.src_data_offset)] {
        if offset > FARTHEST {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemcpyAsyncWithOffset#05",
                "{name}: {offset} is more than {FARTHEST}"
            );
        }
    }
    let dst = Cell::find(rt, "dst", ask.dst)?;
    let src = Cell::find(rt, "src", ask.src)?;
    let stream: Pin<'_, Stream> = own(rt, stream, "ours: as aclrtMemcpyAsync#23")?;
    let Offset { count, dst_data_offset, src_data_offset, .. } = *ask;
    let task: Task = work(count, 1, move || {
        let at = |cell: &Cell, offset: usize| cell.get().ok()?.checked_add(offset);
        let (Some(dst), Some(src)) = (at(&dst, dst_data_offset), at(&src, src_data_offset)) else {
            return Err(FAULT_CODE);
        };
        run(rt, dst, src, count)
    });
    let now = |cell: &Cell, offset: usize| {
        let start = if observer::watched() { cell.get().unwrap_or(0).wrapping_add(offset) } else { 0 };
        Range { start, len: count }
    };
    let reads = [dst.range(), src.range(), now(&src, src_data_offset)];
    enqueue(rt, Api::aclrtMemcpyAsyncWithOffset, &stream, task, &reads, &[now(&dst, dst_data_offset)]);
    Ok(())
}

/// Where a pointer stands, or what stood there at the call.
#[derive(Clone, Copy)]
enum Cell {
    Later { inner: usize, start: usize },
    Taken(usize),
}

impl Cell {
    fn find(rt: &Runtime, name: &'static str, addr: usize) -> Result<Cell> {
        let span = end(rt, &name, addr, size_of::<usize>())?;
        if span.place() != Place::Pageable {
            return Ok(Cell::Later { inner: span.inner(), start: addr });
        }
        match bytes::read(addr) {
            Ok(pointer) => Ok(Cell::Taken(pointer)),
            Err(_) => refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: memory that is not there",
                "{name}: no memory at {addr:#x}"
            ),
        }
    }

    fn get(&self) -> std::result::Result<usize, bytes::Unmapped> {
        match self {
            Cell::Later { inner, .. } => bytes::read(*inner),
            Cell::Taken(pointer) => Ok(*pointer),
        }
    }

    fn range(&self) -> Range {
        match self {
            Cell::Later { start, .. } => Range { start: *start, len: size_of::<usize>() },
            Cell::Taken(_) => Range { start: 0, len: 0 },
        }
    }
}
