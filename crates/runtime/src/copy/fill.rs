//! aclrtMemset and its kin: bytes or words, on the host or on a device, as the address says.

use ascendcl_sys as sys;
use toprope_engine::queue::Task;

use super::{end, end_now, enqueue, given, gone, own};
use crate::error::{Error, Result};
use crate::generated::api::Api;
use crate::memory::place::{Place, Side, Span};
use crate::process::Runtime;
use crate::{observer, refuse, stream, thread};

/// aclrtMemset: the low 8 bits of `value` count (#04). ours: memory that the runtime does not know is filled too (#06).
pub fn memset(rt: &Runtime, addr: usize, max: usize, value: i32, count: usize) -> Result<()> {
    // aclrtMemset#01
    if count == 0 {
        return Ok(());
    }
    given(addr, "devPtr", "aclrtMemset#02")?;
    within(count, max, "aclrtMemset#03")?;
    thread::current_device(rt)?;
    let span = end_now(rt, &"devPtr", addr, count)?;
    // SAFETY: a block of the runtime, which never hands out references into it, or memory of the program.
    unsafe { rt.engine.fill(span.inner(), value as u8, count) }
        .or_else(|fault| gone(fault, Some(&span), None))?;
    observer::tell(|o| o.accessed(Api::aclrtMemset, &[], &[span.range()]));
    Ok(())
}

/// aclrtMemsetAsync. ours: memory that the runtime does not know is filled when the task executes (#04).
pub fn memset_async(
    rt: &Runtime,
    addr: usize,
    max: usize,
    value: i32,
    count: usize,
    stream: u64,
) -> Result<()> {
    // aclrtMemsetAsync#01
    if count == 0 {
        return Ok(());
    }
    given(addr, "devPtr", "aclrtMemsetAsync#02")?;
    let stream = stream::known(rt, stream)?;
    within(count, max, "aclrtMemsetAsync#03")?;
    // aclrtMemsetAsync#06, #07
    let stream = own(rt, stream, "aclrtMemsetAsync#07")?;
    let span = end(rt, &"devPtr", addr, count)?;
    let task = Task::Fill { dst: span.inner(), len: count, byte: value as u8 };
    enqueue(rt, Api::aclrtMemsetAsync, &stream, task, &[], &[span.range()]);
    Ok(())
}

fn within(count: usize, max: usize, rule: &'static str) -> Result<()> {
    if count <= max {
        return Ok(());
    }
    refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "count: {count} is more than maxCount, {max}")
}

/// aclrtMemsetD32: `count` words.
pub fn memset_d32(rt: &Runtime, addr: usize, size: usize, value: u32, count: usize) -> Result<()> {
    // aclrtMemsetD32#01
    if count == 0 {
        return Ok(());
    }
    let span = words(rt, addr, size, count)?;
    thread::current_device(rt)?;
    fill_now(rt, Api::aclrtMemsetD32, &span, value, count)
}

/// aclrtMemsetD32Async: device memory as a task (#09), host memory at once and past the stream (#10).
pub fn memset_d32_async(
    rt: &Runtime,
    addr: usize,
    size: usize,
    value: u32,
    count: usize,
    stream: u64,
) -> Result<()> {
    // aclrtMemsetD32Async#01
    if count == 0 {
        return Ok(());
    }
    let span = words(rt, addr, size, count);
    // *#01: a dead stream comes before what only the runtime layer refuses.
    let entry = |error: &Error| error.code() == sys::ACL_ERROR_INVALID_PARAM;
    let stream = match &span {
        Err(error) if entry(error) => None,
        _ => stream::known(rt, stream)?,
    };
    let span = span?;
    let stream = own(rt, stream, "ours: as aclrtMemsetAsync#07")?;
    if span.place().side() == Side::Host {
        return fill_now(rt, Api::aclrtMemsetD32Async, &span, value, count);
    }
    let task = Task::Fill32 { dst: span.inner(), count, word: value };
    enqueue(rt, Api::aclrtMemsetD32Async, &stream, task, &[], &[span.range()]);
    Ok(())
}

fn fill_now(rt: &Runtime, api: Api, span: &Span, value: u32, count: usize) -> Result<()> {
    // SAFETY: a block of the runtime, which never hands out references into it, or memory of the program.
    unsafe { rt.engine.fill32(span.inner(), value, count) }.or_else(|fault| gone(fault, Some(span), None))?;
    observer::tell(|o| o.accessed(api, &[], &[span.range()]));
    Ok(())
}

/// What both calls check alike; the rows of aclrtMemsetD32Async have the same numbers.
fn words(rt: &Runtime, addr: usize, size: usize, count: usize) -> Result<Span> {
    given(addr, "ptr", "aclrtMemsetD32#02")?;
    if !addr.is_multiple_of(4) {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemsetD32#03",
            "ptr: {addr:#x} is not 4-byte aligned"
        );
    }
    let bytes = match count.checked_mul(4) {
        Some(bytes) if bytes <= size => bytes,
        // aclrtMemsetD32#05. ours: a product that overflows is more than any size.
        _ => {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                "aclrtMemsetD32#04, #05",
                "N: {count} words are more than memSize, {size} bytes"
            );
        }
    };
    let span = end(rt, &"ptr", addr, bytes)?;
    let rule = match span.place() {
        Place::Pageable => "aclrtMemsetD32#06",
        Place::Managed => "aclrtMemsetD32#08",
        _ => return Ok(span),
    };
    refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "ptr: {addr:#x} is {}", span.describe())
}
