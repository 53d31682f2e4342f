//! Waiting for streams, and what became of their tasks.
//!
//! How a failure comes back (aclrtSynchronizeStream#06 names only where):
//!
//! | mode | later tasks of the stream | other streams of the context | synchronize |
//! |---|---|---|---|
//! | ACL_CONTINUE_ON_FAILURE | run | run | answers the first failure's code once |
//! | ACL_STOP_ON_FAILURE | are dropped, new ones refused | the same, from the next call on | answers the code every time |
//! | after aclrtStreamAbort | are dropped, new ones refused | run | answers ACL_ERROR_RT_STREAM_ABORT every time |

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ascendcl_sys as sys;
use toprope_engine::queue::{self, Failure, Waited};

use super::{ABORTED, BROKEN, Stream, resolve, resolve_in_context};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::Pin;
use crate::process::{self, Runtime};
use crate::{observer, refuse};

/// What a context does after a failure; aclrtSetStreamFailureMode#06: one setting for all of its streams.
#[derive(Default)]
pub struct FailureMode {
    stop: AtomicBool,
    /// Code of the first failure since `stop` was set; 0 if there was none.
    code: AtomicU32,
}

impl FailureMode {
    /// Whether streams stop at a failure.
    pub fn stops(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn code(&self) -> Option<u32> {
        Some(self.code.load(Ordering::Acquire)).filter(|code| *code != 0)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }
}

/// The end of a wait of `timeout` milliseconds; None is never. `below` and `zero` are the rules that a value below -1 and 0
/// breaks.
pub(crate) fn deadline(timeout: i32, below: &'static str, zero: &'static str) -> Result<Option<Instant>> {
    match timeout {
        -1 => Ok(None),
        1.. => Ok(Instant::now().checked_add(Duration::from_millis(timeout.unsigned_abs().into()))),
        _ => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            if timeout == 0 { zero } else { below },
            "timeout: {timeout} is neither -1 (for ever) nor a number of milliseconds above 0"
        ),
    }
}

/// aclrtSynchronizeStreamWithTimeout: milliseconds, -1 for ever.
pub fn synchronize_with_timeout(rt: &Runtime, handle: u64, timeout: i32) -> Result<()> {
    let known = super::known(rt, handle)?;
    let deadline =
        deadline(timeout, "aclrtSynchronizeStreamWithTimeout#02", "aclrtSynchronizeStreamWithTimeout#03")?;
    drop(known);
    synchronize(rt, handle, deadline)
}

/// aclrtSynchronizeStream.
pub fn synchronize(rt: &Runtime, handle: u64, deadline: Option<Instant>) -> Result<()> {
    // aclrtSynchronizeStream#04: also a stream of another context.
    let stream = resolve(rt, handle)?;
    if stream.unwaitable() {
        return Ok(());
    }
    not_own(rt, &stream)?;
    if stream.closed_for(ABORTED) {
        // aclrtSynchronizeStream#07: not even a function of the program that still runs is waited for.
        return aborted(&stream);
    }
    if stream.closed_for(BROKEN) {
        // aclrtSetStreamFailureMode#06: the tasks that were added before the context stopped.
        rt.engine.discard(stream.queue);
    }
    let mark = stream.mark(rt);
    if rt.engine.wait(mark, deadline) == Waited::TimedOut {
        return timed_out(&stream, "aclrtSynchronizeStreamWithTimeout#05");
    }
    observer::tell(|o| o.host_ordered(mark));
    verdict(rt, &stream)
}

/// The code of a stream's first failure, which is forgotten unless its context stops at failures.
#[inline]
pub(crate) fn verdict(rt: &Runtime, stream: &Stream) -> Result<()> {
    if stream.closed.load(Ordering::Acquire) != 0 {
        return closed_verdict(rt, stream);
    }
    match rt.engine.take_failure(stream.queue) {
        None => Ok(()),
        Some(failure) => Err(deferred(stream, failure)),
    }
}

#[cold]
fn closed_verdict(rt: &Runtime, stream: &Stream) -> Result<()> {
    if stream.closed_for(ABORTED) {
        return aborted(stream);
    }
    match rt.engine.failure(stream.queue) {
        Some(failure) => Err(deferred(stream, failure)),
        None => stopped(rt, stream),
    }
}

#[cold]
pub(crate) fn timed_out(stream: &Stream, rule: &'static str) -> Result<()> {
    refuse!(
        sys::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
        rule,
        "stream {}: its tasks were not done in time",
        stream.id
    )
}

#[cold]
pub(crate) fn deferred(stream: &Stream, failure: Failure) -> Error {
    let report = process::runtime().ok().and_then(|rt| rt.kernels.report(stream.queue, failure));
    if let Some(report) = report {
        let text = format!("stream {}, task {}: {}", stream.id, failure.position as u32, report.text);
        return Error::new(failure.code as i32, "aclrtSynchronizeStream#06", text);
    }
    let what = match failure.code as i32 {
        sys::ACL_ERROR_RT_SYS_DMA => "a copy or fill reached memory that is not there (freed meanwhile?)",
        sys::ACL_ERROR_RT_WAIT_TIMEOUT => "the wait for an event took longer than allowed",
        _ => "the task failed",
    };
    Error::new(
        failure.code as i32,
        "aclrtSynchronizeStream#06",
        format!("stream {}, task {}: {what}", stream.id, failure.position as u32),
    )
}

#[cold]
fn aborted<T>(stream: &Stream) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_STREAM_ABORT,
        "aclrtStreamAbort#04",
        "stream: aclrtStreamAbort was called on stream {}",
        stream.id
    )
}

/// A stream whose context stopped: the code of the failure that did it.
#[cold]
fn stopped(rt: &Runtime, stream: &Stream) -> Result<()> {
    let code = rt.contexts.pin(stream.context).and_then(|context| context.failure.code());
    refuse!(
        code.map_or(sys::ACL_ERROR_RT_INTERNAL_ERROR, |code| code as i32),
        "aclrtSetStreamFailureMode#06",
        "stream {}: its context stopped at the failure of a task (ACL_STOP_ON_FAILURE)",
        stream.id
    )
}

/// Why a stream takes no tasks.
#[cold]
pub(super) fn takes_none(rt: &Runtime, stream: &Stream) -> Result<()> {
    // ours for an aborted stream: a task that would never run is refused rather than accepted without effect.
    if stream.closed_for(ABORTED) { aborted(stream) } else { stopped(rt, stream) }
}

/// Refuses a call that would wait for the callback it is made from.
#[inline]
pub(crate) fn not_own(rt: &Runtime, stream: &Stream) -> Result<()> {
    if rt.engine.runs(stream.queue) { inside_own() } else { Ok(()) }
}

/// The page forbids it and names no code; a hang would help nobody.
#[cold]
pub(crate) fn inside_own<T>() -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        "aclrtLaunchHostFunc#07",
        "called from a callback of the stream that it would wait for, it would wait for itself"
    )
}

/// aclrtStreamQuery: whether every task is done.
pub fn query(rt: &Runtime, handle: u64) -> Result<bool> {
    let stream = resolve(rt, handle)?;
    // aclrtStreamQuery#04
    if stream.unwaitable() {
        return Ok(true);
    }
    let mark = stream.mark(rt);
    let done = rt.engine.query(mark);
    if done {
        observer::tell(|o| o.host_ordered(mark));
    }
    Ok(done)
}

/// aclrtStreamAbort. What runs is let finish: copies end by themselves, and the program's own functions cannot be stopped.
pub fn abort(rt: &Runtime, handle: u64) -> Result<()> {
    let stream = resolve(rt, handle)?;
    if stream.keeps_tasks() {
        // The page excludes them and names no code.
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtStreamAbort#05",
            "stream: stream {} is PERSISTENT; aclrtPersistentTaskClean drops its tasks",
            stream.id
        );
    }
    not_own(rt, &stream)?;
    // First, so that a synchronize that wakes from its wait sees it (aclrtSynchronizeStream#07).
    stream.close_for(ABORTED);
    stream.cut_short(rt);
    Ok(())
}

/// aclrtStreamStop: the task that runs ends, the others stay (#04). Here every task ends by itself (a copy within milliseconds)
/// or is the program's own function, which cannot be stopped: nothing is cut short, nothing is lost.
pub fn stop(rt: &Runtime, handle: u64) -> Result<()> {
    if handle == 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtStreamStop#01",
            "stream: must not be null; the default stream cannot be stopped"
        );
    }
    resolve(rt, handle).map(drop)
}

/// aclrtPersistentTaskClean: drops the tasks that a PERSISTENT stream keeps.
pub fn clean_persistent(rt: &Runtime, handle: u64) -> Result<()> {
    let stream = resolve_in_context(rt, handle, "aclrtPersistentTaskClean#02")?;
    if !stream.keeps_tasks() {
        // The page limits the call to such streams and names no code.
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtPersistentTaskClean#01",
            "stream: stream {} was not created with ACL_STREAM_PERSISTENT",
            stream.id
        );
    }
    rt.engine.abort(stream.queue);
    observer::tell(|o| o.host_ordered(stream.mark(rt)));
    stream.shut_gate(rt);
    Ok(())
}

/// Every task of all streams of a device, in whatever context, until `deadline`; then the first stream's failure.
pub(crate) fn synchronize_device(rt: &Runtime, device: u16, deadline: Option<Instant>) -> Result<()> {
    let mut streams = rt.streams.all();
    streams.retain(|stream| stream.device == device && !stream.unwaitable());
    let mut marks = Vec::with_capacity(streams.len());
    for stream in &streams {
        not_own(rt, stream)?;
        marks.push(stream.mark(rt));
    }
    for (stream, mark) in streams.iter().zip(marks) {
        if rt.engine.wait(mark, deadline) == Waited::TimedOut {
            return timed_out(stream, "aclrtSynchronizeDeviceWithTimeout#04");
        }
        observer::tell(|o| o.host_ordered(mark));
    }
    // ours: an aborted stream answers for itself only.
    streams.iter().filter(|stream| !stream.closed_for(ABORTED)).try_for_each(|stream| verdict(rt, stream))
}

/// Makes a new stream follow the mode of its context.
pub(super) fn inherit_failure_mode(rt: &Runtime, context: &Context, stream: &Stream) {
    if context.failure.stops() {
        rt.engine.stop_on_failure(stream.queue, true);
    }
    if context.failure.code().is_some() {
        stream.close_for(BROKEN);
    }
}

/// A task failed. Called by the thread that ran it, which must not wait here.
#[cold]
pub(crate) fn failed(rt: &Runtime, queue: queue::Stream, failure: Failure) {
    let Some(stream) = by_queue(rt, queue) else { return };
    let Some(context) = rt.contexts.pin(stream.context) else { return };
    if !context.failure.stops() {
        return;
    }
    // The first failure names the cause.
    let _ = context.failure.code.compare_exchange(0, failure.code, Ordering::AcqRel, Ordering::Acquire);
    for handle in context.streams() {
        if let Some(stream) = rt.streams.pin(handle) {
            stream.close_for(BROKEN);
        }
    }
}

/// The live stream of an engine's stream; failures are rare, so it is looked for.
pub(crate) fn by_queue(rt: &Runtime, queue: queue::Stream) -> Option<Pin<'_, Stream>> {
    rt.streams.all().into_iter().find(|stream| stream.queue == queue)
}
