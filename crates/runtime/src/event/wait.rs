//! Streams that wait for events, and host threads that do.

use std::time::Instant;

use ascendcl_sys as sys;
use toprope_engine::queue::{Mark, Task, Waited};
use toprope_engine::sync::plain::ShortGuard;

use super::{Event, Form, State, bind, find, not_captured, not_device_only};
use crate::error::Result;
use crate::handle::Pin;
use crate::process::Runtime;
use crate::stream::{self, Stream, sync};
use crate::{observer, refuse};

/// aclrtStreamWaitEvent. #05: bounded by aclrtSetOpWaitTimeout.
pub fn wait(rt: &Runtime, stream: u64, event: u64) -> Result<()> {
    let (stream, event) = both(rt, stream, event)?;
    enqueue_default(rt, &stream, &event, rt.timeouts.op_wait_ms())
}

/// aclrtStreamWaitEventWithTimeout: milliseconds, 0 for ever (aclrtStreamWaitEvent<cpp>#03; the C page's seconds give way).
pub fn wait_with_timeout(rt: &Runtime, stream: u64, event: u64, timeout_ms: i32) -> Result<()> {
    let Ok(timeout_ms) = u32::try_from(timeout_ms) else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtStreamWaitEventWithTimeout#01",
            "timeout: {timeout_ms} is below 0"
        );
    };
    if event == 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtStreamWaitEventWithTimeout#03",
            "event: must not be null"
        );
    }
    let (stream, event) = both(rt, stream, event)?;
    enqueue_default(rt, &stream, &event, timeout_ms)
}

/// aclrtStreamWaitEventWithFlag: milliseconds, 0 for ever, as in all calls with a timeout (the page of this one says seconds).
pub fn wait_with_flag(rt: &Runtime, stream: u64, event: u64, timeout_ms: u32, flag: u32) -> Result<()> {
    if flag != sys::ACL_EVENT_WAIT_DEFAULT && flag != sys::ACL_EVENT_WAIT_EXTERNAL {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtStreamWaitEventWithFlag#02",
            "flag: {flag} is neither ACL_EVENT_WAIT_DEFAULT nor ACL_EVENT_WAIT_EXTERNAL"
        );
    }
    if flag == sys::ACL_EVENT_WAIT_EXTERNAL && timeout_ms != 0 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtStreamWaitEventWithFlag#03",
            "timeout: {timeout_ms}, ACL_EVENT_WAIT_EXTERNAL wants 0"
        );
    }
    let (stream, event) = both(rt, stream, event)?;
    let mut state = event.state.lock();
    let bound = bind(&mut state.wait_flag, flag, "aclrtStreamWaitEventWithFlag#07");
    if flag == sys::ACL_EVENT_WAIT_EXTERNAL {
        // No stream can be under capture yet.
        return not_captured("aclrtStreamWaitEventWithFlag#05");
    }
    bound?;
    enqueue(rt, &stream, &event, state, timeout_ms)
}

/// A wait without a flag: that of the default.
#[inline]
fn enqueue_default(
    rt: &Runtime,
    stream: &Pin<'_, Stream>,
    event: &Pin<'_, Event>,
    timeout_ms: u32,
) -> Result<()> {
    let mut state = event.state.lock();
    bind(&mut state.wait_flag, sys::ACL_EVENT_WAIT_DEFAULT, "aclrtStreamWaitEventWithFlag#07")?;
    enqueue(rt, stream, event, state, timeout_ms)
}

#[inline(always)]
fn both(rt: &Runtime, stream: u64, event: u64) -> Result<(Pin<'_, Stream>, Pin<'_, Event>)> {
    let known = stream::known(rt, stream)?;
    let event = find(rt, event)?;
    Ok((stream::or_default(rt, known)?, event))
}

fn enqueue(
    rt: &Runtime,
    stream: &Pin<'_, Stream>,
    event: &Pin<'_, Event>,
    mut state: ShortGuard<'_, State>,
    timeout_ms: u32,
) -> Result<()> {
    not_device_only(event, "aclrtStreamWaitEvent#07")?;
    if !event.can_be_awaited() {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtStreamWaitEvent#06",
            "event: event {} was made without ACL_EVENT_SYNC (flags {:#x})",
            event.id,
            event.flags
        );
    }
    stream::in_context(rt, stream, "aclrtStreamWaitEvent#08")?;
    stream::takes_tasks(rt, stream)?;
    // An event that was never recorded holds no task to wait for (aclrtRecordEvent#09).
    let Some(last) = state.last else {
        observer::tell(|o| o.waits(stream.handle(), event.handle(), Mark::NONE, Mark::NONE));
        return Ok(());
    };
    // No page names the code of a wait that took too long: the one that is called so, which is neither that of a host thread's wait
    // for an event nor that of one for a stream.
    let code = sys::ACL_ERROR_RT_WAIT_TIMEOUT as u32;
    let position = stream.push(rt, Task::Wait { mark: last.mark, timeout_ms, code });
    let mark = rt.engine.mark_at(stream.queue, position);
    if event.form != Form::Extended {
        match state.waits.iter_mut().find(|(queue, _)| *queue == stream.queue) {
            Some(wait) => wait.1 = mark,
            None => state.waits.push((stream.queue, mark)),
        }
    }
    observer::tell(|o| o.waits(stream.handle(), event.handle(), last.mark, mark));
    Ok(())
}

/// The end of a wait of aclrtSynchronizeEventWithTimeout; None is never.
pub fn deadline(timeout: i32) -> Result<Option<Instant>> {
    sync::deadline(timeout, "aclrtSynchronizeEventWithTimeout#02", "aclrtSynchronizeEventWithTimeout#03")
}

/// aclrtSynchronizeEvent, aclrtSynchronizeEventWithTimeout: until what the event holds is done.
pub fn synchronize(rt: &Runtime, handle: u64, deadline: Option<Instant>) -> Result<()> {
    let event = find(rt, handle)?;
    not_external(&event, "aclrtSynchronizeEvent#03")?;
    // ours: an event that was never recorded holds nothing to wait for.
    let Some(last) = event.last() else { return Ok(()) };
    if last.kept && !rt.engine.query(last.mark) {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtSynchronizeEvent#05",
            "event: event {} was recorded on a PERSISTENT stream, whose tasks do not run by themselves",
            event.id
        );
    }
    if rt.engine.runs(last.queue) && !rt.engine.query(last.mark) {
        return sync::inside_own();
    }
    if rt.engine.wait(last.mark, deadline) == Waited::TimedOut {
        return refuse!(
            sys::ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
            "aclrtSynchronizeEventWithTimeout#06",
            "event: what event {} holds was not done in time",
            event.id
        );
    }
    observer::tell(|o| o.host_ordered(last.mark));
    covered_failure(rt, &event, last)
}

/// ours: a failed task among those that the event holds is not passed over in silence; the stream's own synchronize still
/// answers it.
fn covered_failure(rt: &Runtime, event: &Event, last: super::Record) -> Result<()> {
    let Some(failure) = rt.engine.failure(last.queue) else { return Ok(()) };
    // Marks of one stream are ordered as its positions.
    if rt.engine.mark_at(last.queue, failure.position).0 > last.mark.0 {
        return Ok(());
    }
    match sync::by_queue(rt, last.queue) {
        Some(stream) if stream.device == event.device => Err(sync::deferred(&stream, failure)),
        _ => Ok(()),
    }
}

/// EXTERNAL events belong to captured graphs.
pub(super) fn not_external(event: &Event, rule: &'static str) -> Result<()> {
    if !event.has(sys::ACL_EVENT_EXTERNAL) {
        return Ok(());
    }
    refuse!(sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rule, "event: event {} is ACL_EVENT_EXTERNAL", event.id)
}
