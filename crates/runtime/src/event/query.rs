//! What can be asked about events: whether they are done, and when they were.

use ascendcl_sys as sys;

use super::wait::not_external;
use super::{Event, Form, find};
use crate::error::Result;
use crate::process::Runtime;
use crate::{observer, refuse};

/// aclrtQueryEvent: whether the event is done.
pub fn query(rt: &Runtime, handle: u64) -> Result<bool> {
    let event = find(rt, handle)?;
    not_extended(&event, "aclrtQueryEvent#05")?;
    not_external(&event, "aclrtQueryEvent#06")?;
    Ok(complete(rt, &event))
}

/// aclrtQueryEventStatus: whether everything that the event holds is done (#04).
pub fn query_status(rt: &Runtime, handle: u64) -> Result<bool> {
    let event = find(rt, handle)?;
    not_external(&event, "aclrtQueryEventStatus#06")?;
    Ok(complete(rt, &event))
}

fn complete(rt: &Runtime, event: &Event) -> bool {
    let (last, reset) = {
        let state = event.state.lock();
        (state.last, state.reset)
    };
    match last {
        // aclrtResetEvent#05: once the stream got to the reset, the event is as if it was never recorded.
        Some(last) if !reset.is_some_and(|reset| rt.engine.query(reset)) => {
            let done = rt.engine.query(last.mark);
            if done {
                observer::tell(|o| o.host_ordered(last.mark));
            }
            done
        }
        // aclrtRecordEvent#09: an extended event that was never recorded is complete. ours: another one is not.
        _ => event.form == Form::Extended,
    }
}

/// aclrtQueryEventWaitStatus: whether all streams that were told to wait for the event have gone on; true if there are none
/// (ours: the page gives the answer a meaning only after a wait).
pub fn query_wait_status(rt: &Runtime, handle: u64) -> Result<bool> {
    let event = find(rt, handle)?;
    not_extended(&event, "aclrtQueryEventWaitStatus#03")?;
    let mut state = event.state.lock();
    state.waits.retain(|(_, mark)| !rt.engine.query(*mark));
    Ok(state.waits.is_empty())
}

fn not_extended(event: &Event, rule: &'static str) -> Result<()> {
    if event.form != Form::Extended {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        rule,
        "event: event {} was made by aclrtCreateEventExWithFlag",
        event.id
    )
}

/// aclrtEventElapsedTime: milliseconds from one record to the other, below 0 if the end came first (#10).
pub fn elapsed_time(rt: &Runtime, start: u64, end: u64) -> Result<f32> {
    let start = find(rt, start)?;
    let end = find(rt, end)?;
    for event in [&start, &end] {
        not_external(event, "aclrtEventElapsedTime#08")?;
        if event.last().is_none() {
            return refuse!(
                sys::ACL_ERROR_RT_INTERNAL_ERROR,
                "aclrtEventElapsedTime#05",
                "event: event {} was never recorded",
                event.id
            );
        }
    }
    let start = time(&start, "aclrtEventElapsedTime#06")?;
    let end = time(&end, "aclrtEventElapsedTime#06")?;
    let nanoseconds = end as i64 - start as i64;
    Ok((nanoseconds as f64 / 1e6) as f32)
}

/// aclrtEventGetTimestamp: microseconds since the machine was started (#03).
pub fn get_timestamp(rt: &Runtime, handle: u64) -> Result<u64> {
    let event = find(rt, handle)?;
    not_external(&event, "aclrtEventGetTimestamp#04")?;
    Ok(time(&event, "aclrtEventGetTimestamp#06")? / 1000)
}

/// When the last record ran, in nanoseconds.
fn time(event: &Event, rule: &'static str) -> Result<u64> {
    if !event.has(sys::ACL_EVENT_TIME_LINE) {
        return refuse!(
            sys::ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
            "ours: times are kept with ACL_EVENT_TIME_LINE only",
            "event: event {} was made without ACL_EVENT_TIME_LINE (flags {:#x}) and keeps no time",
            event.id,
            event.flags
        );
    }
    let state = event.state.lock();
    match state.cell.filter(|_| state.last.is_some()).and_then(|cell| cell.time()) {
        Some(time) => Ok(time),
        None => refuse!(
            sys::ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
            rule,
            "event: event {} has no time yet; synchronize its stream after the record",
            event.id
        ),
    }
}
