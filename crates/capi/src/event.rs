//! Chapter 07: events.

use ascendcl_sys::{
    self as sys, aclError, aclrtEvent, aclrtEventRecordedStatus, aclrtEventStatus, aclrtEventWaitStatus,
    aclrtStream,
};
use toprope_runtime::call::call;
use toprope_runtime::event::{self, query, wait};
use toprope_runtime::{Api, timeout};

use crate::arg;

/// Makes an event on the device of the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEvent(event: *mut aclrtEvent) -> aclError {
    call(Api::aclrtCreateEvent, |rt| {
        let out = arg::out(event, "event", "aclrtCreateEvent#01")?;
        out.probe()?;
        out.set(arg::from_handle(event::create(rt)?))
    })
}

/// Makes an event with flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEventWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError {
    call(Api::aclrtCreateEventWithFlag, |rt| {
        let out = arg::out(event, "event", "aclrtCreateEventWithFlag#01")?;
        out.probe()?;
        out.set(arg::from_handle(event::create_with_flag(rt, flag)?))
    })
}

/// Makes an event with flags that is not bounded in number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEventExWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError {
    call(Api::aclrtCreateEventExWithFlag, |rt| {
        let out = arg::out(event, "event", "aclrtCreateEventExWithFlag#01")?;
        out.probe()?;
        out.set(arg::from_handle(event::create_ex_with_flag(rt, flag)?))
    })
}

/// Ends an event at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyEvent(event: aclrtEvent) -> aclError {
    call(Api::aclrtDestroyEvent, |rt| {
        arg::not_null(event, "event", "aclrtDestroyEvent#01")?;
        event::destroy(rt, arg::handle(event))
    })
}

/// Makes the event stand for what the stream holds now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) -> aclError {
    call(Api::aclrtRecordEvent, |rt| {
        arg::not_null(event, "event", "aclrtRecordEvent#01")?;
        event::record(rt, arg::handle(event), arg::handle(stream))
    })
}

/// The same, for streams under capture too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtRecordEventWithFlag(
    event: aclrtEvent,
    stream: aclrtStream,
    flag: u32,
) -> aclError {
    call(Api::aclrtRecordEventWithFlag, |rt| {
        arg::not_null(event, "event", "aclrtRecordEventWithFlag#01")?;
        event::record_with_flag(rt, arg::handle(event), arg::handle(stream), flag)
    })
}

/// Makes the event count as not recorded, once the stream gets there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtResetEvent(event: aclrtEvent, stream: aclrtStream) -> aclError {
    call(Api::aclrtResetEvent, |rt| {
        arg::not_null(event, "event", "aclrtResetEvent#01")?;
        event::reset(rt, arg::handle(event), arg::handle(stream))
    })
}

/// Answers whether the event is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtQueryEvent(event: aclrtEvent, status: *mut aclrtEventStatus) -> aclError {
    call(Api::aclrtQueryEvent, |rt| {
        arg::not_null(event, "event", "aclrtQueryEvent#01")?;
        let out = arg::out(status, "status", "aclrtQueryEvent#02")?;
        // aclrtQueryEvent#08
        out.set(match query::query(rt, arg::handle(event))? {
            true => sys::ACL_EVENT_STATUS_COMPLETE,
            false => sys::ACL_EVENT_STATUS_NOT_READY,
        })
    })
}

/// Answers whether what the event holds is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtQueryEventStatus(
    event: aclrtEvent,
    status: *mut aclrtEventRecordedStatus,
) -> aclError {
    call(Api::aclrtQueryEventStatus, |rt| {
        arg::not_null(event, "event", "aclrtQueryEventStatus#01")?;
        let out = arg::out(status, "status", "aclrtQueryEventStatus#02")?;
        // aclrtQueryEventStatus#03
        out.set(match query::query_status(rt, arg::handle(event))? {
            true => sys::ACL_EVENT_RECORDED_STATUS_COMPLETE,
            false => sys::ACL_EVENT_RECORDED_STATUS_NOT_READY,
        })
    })
}

/// Answers whether the streams that wait for the event have gone on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtQueryEventWaitStatus(
    event: aclrtEvent,
    status: *mut aclrtEventWaitStatus,
) -> aclError {
    call(Api::aclrtQueryEventWaitStatus, |rt| {
        arg::not_null(event, "event", "aclrtQueryEventWaitStatus#01")?;
        let out = arg::out(status, "status", "aclrtQueryEventWaitStatus#02")?;
        // aclrtQueryEventWaitStatus#06
        out.set(match query::query_wait_status(rt, arg::handle(event))? {
            true => sys::ACL_EVENT_WAIT_STATUS_COMPLETE,
            false => sys::ACL_EVENT_WAIT_STATUS_NOT_READY,
        })
    })
}

/// Waits for what the event holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSynchronizeEvent(event: aclrtEvent) -> aclError {
    call(Api::aclrtSynchronizeEvent, |rt| {
        arg::not_null(event, "event", "aclrtSynchronizeEvent#01")?;
        wait::synchronize(rt, arg::handle(event), None)
    })
}

/// Waits for what the event holds, for so many milliseconds at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSynchronizeEventWithTimeout(event: aclrtEvent, timeout: i32) -> aclError {
    call(Api::aclrtSynchronizeEventWithTimeout, |rt| {
        // aclrtSynchronizeEventWithTimeout#02: the timeout comes first.
        let deadline = wait::deadline(timeout)?;
        arg::not_null(event, "event", "aclrtSynchronizeEventWithTimeout#05")?;
        wait::synchronize(rt, arg::handle(event), deadline)
    })
}

/// Answers the milliseconds between two records.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtEventElapsedTime(
    ms: *mut f32,
    startEvent: aclrtEvent,
    endEvent: aclrtEvent,
) -> aclError {
    call(Api::aclrtEventElapsedTime, |rt| {
        let out = arg::out(ms, "ms", "aclrtEventElapsedTime#01")?;
        arg::not_null(startEvent, "startEvent", "aclrtEventElapsedTime#02")?;
        arg::not_null(endEvent, "endEvent", "aclrtEventElapsedTime#03")?;
        out.set(query::elapsed_time(rt, arg::handle(startEvent), arg::handle(endEvent))?)
    })
}

/// Answers when the record ran.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtEventGetTimestamp(event: aclrtEvent, timestamp: *mut u64) -> aclError {
    call(Api::aclrtEventGetTimestamp, |rt| {
        let out = arg::out(timestamp, "timestamp", "aclrtEventGetTimestamp#01")?;
        arg::not_null(event, "event", "aclrtEventGetTimestamp#02")?;
        out.set(query::get_timestamp(rt, arg::handle(event))?)
    })
}

/// Answers the event's number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetEventId(event: aclrtEvent, eventId: *mut u32) -> aclError {
    call(Api::aclrtGetEventId, |rt| {
        arg::not_null(event, "event", "aclrtGetEventId#01")?;
        let out = arg::out(eventId, "eventId", "aclrtGetEventId#02")?;
        out.set(event::get_id(rt, arg::handle(event))?)
    })
}

/// Answers how many more events the device can have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetEventAvailNum(eventCount: *mut u32) -> aclError {
    call(Api::aclrtGetEventAvailNum, |rt| {
        let out = arg::out(eventCount, "eventCount", "aclrtGetEventAvailNum#01")?;
        out.set(event::available(rt)?)
    })
}

/// Lets later tasks of the stream wait for what the event holds now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) -> aclError {
    call(Api::aclrtStreamWaitEvent, |rt| {
        arg::not_null(event, "event", "aclrtStreamWaitEvent#01")?;
        wait::wait(rt, arg::handle(stream), arg::handle(event))
    })
}

/// The same, for so many milliseconds at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamWaitEventWithTimeout(
    stream: aclrtStream,
    event: aclrtEvent,
    timeout: i32,
) -> aclError {
    call(Api::aclrtStreamWaitEventWithTimeout, |rt| {
        wait::wait_with_timeout(rt, arg::handle(stream), arg::handle(event), timeout)
    })
}

/// The same, for streams under capture too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamWaitEventWithFlag(
    stream: aclrtStream,
    event: aclrtEvent,
    timeout: u32,
    flag: u32,
) -> aclError {
    call(Api::aclrtStreamWaitEventWithFlag, |rt| {
        arg::not_null(event, "event", "aclrtStreamWaitEventWithFlag#01")?;
        wait::wait_with_flag(rt, arg::handle(stream), arg::handle(event), timeout, flag)
    })
}

/// Bounds the waits that are added from now on, in seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetOpWaitTimeout(timeout: u32) -> aclError {
    call(Api::aclrtSetOpWaitTimeout, |rt| timeout::set_op_wait(rt, timeout))
}
