//! Chapter 06: streams; their configurations from chapters 24 and 25-03.

use std::ffi::{c_char, c_void};

use ascendcl_sys::{
    self as sys, aclError, aclrtStream, aclrtStreamAttr, aclrtStreamAttrValue, aclrtStreamConfigAttr,
    aclrtStreamConfigHandle, aclrtStreamStateCallback, aclrtStreamStatus,
};
use toprope_runtime::call::{call, value};
use toprope_runtime::stream::{self, attribute, config, listener, sync};
use toprope_runtime::{Api, refuse};

use crate::arg;

/// Makes a stream in the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateStream(stream: *mut aclrtStream) -> aclError {
    call(Api::aclrtCreateStream, |rt| {
        let out = arg::out(stream, "stream", "aclrtCreateStream#01")?;
        out.probe()?;
        out.set(arg::from_handle(stream::create(rt, 0, 0)?))
    })
}

/// Makes a stream with a priority and flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateStreamWithConfig(
    stream: *mut aclrtStream,
    priority: u32,
    flag: u32,
) -> aclError {
    call(Api::aclrtCreateStreamWithConfig, |rt| {
        let out = arg::out(stream, "stream", "aclrtCreateStreamWithConfig#01")?;
        out.probe()?;
        out.set(arg::from_handle(stream::create(rt, priority, flag)?))
    })
}

/// Makes a stream from a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateStreamV2(
    stream: *mut aclrtStream,
    handle: *const aclrtStreamConfigHandle,
) -> aclError {
    call(Api::aclrtCreateStreamV2, |rt| {
        let out = arg::out(stream, "stream", "aclrtCreateStreamV2#01")?;
        out.probe()?;
        let config = (!handle.is_null()).then_some(handle as usize);
        out.set(arg::from_handle(config::create_stream(rt, config)?))
    })
}

/// Makes a stream configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateStreamConfigHandle() -> *mut aclrtStreamConfigHandle {
    value(Api::aclrtCreateStreamConfigHandle, std::ptr::null_mut(), |rt| Ok(config::create(rt)))
}

/// Ends a stream configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyStreamConfigHandle(handle: *mut aclrtStreamConfigHandle) -> aclError {
    call(Api::aclrtDestroyStreamConfigHandle, |rt| {
        arg::not_null(handle, "handle", "aclrtDestroyStreamConfigHandle#01")?;
        config::destroy(rt, handle as usize)
    })
}

/// Sets one attribute of a stream configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetStreamConfigOpt(
    handle: *mut aclrtStreamConfigHandle,
    attr: aclrtStreamConfigAttr,
    attrValue: *const c_void,
    valueSize: usize,
) -> aclError {
    call(Api::aclrtSetStreamConfigOpt, |rt| {
        arg::not_null(handle, "handle", "aclrtSetStreamConfigOpt#01")?;
        arg::not_null(attrValue, "attrValue", "aclrtSetStreamConfigOpt#02")?;
        config::set(rt, handle as usize, attr, attrValue, valueSize)
    })
}

/// Ends a stream after its tasks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyStream(stream: aclrtStream) -> aclError {
    call(Api::aclrtDestroyStream, |rt| {
        arg::not_null(stream, "stream", "aclrtDestroyStream#01")?;
        stream::destroy(rt, arg::handle(stream))
    })
}

/// Ends a stream and drops its tasks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyStreamForce(stream: aclrtStream) -> aclError {
    call(Api::aclrtDestroyStreamForce, |rt| {
        arg::not_null(stream, "stream", "aclrtDestroyStreamForce#01")?;
        stream::destroy_force(rt, arg::handle(stream))
    })
}

/// Waits for the stream's tasks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSynchronizeStream(stream: aclrtStream) -> aclError {
    call(Api::aclrtSynchronizeStream, |rt| sync::synchronize(rt, arg::handle(stream), None))
}

/// Waits for the stream's tasks, for so many milliseconds at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSynchronizeStreamWithTimeout(stream: aclrtStream, timeout: i32) -> aclError {
    call(Api::aclrtSynchronizeStreamWithTimeout, |rt| {
        sync::synchronize_with_timeout(rt, arg::handle(stream), timeout)
    })
}

/// Answers whether the stream's tasks are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamQuery(stream: aclrtStream, status: *mut aclrtStreamStatus) -> aclError {
    call(Api::aclrtStreamQuery, |rt| {
        let out = arg::out(status, "status", "aclrtStreamQuery#01")?;
        out.set(match sync::query(rt, arg::handle(stream))? {
            true => sys::ACL_STREAM_STATUS_COMPLETE,
            false => sys::ACL_STREAM_STATUS_NOT_READY,
        })
    })
}

/// Drops the stream's tasks; it takes no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamAbort(stream: aclrtStream) -> aclError {
    call(Api::aclrtStreamAbort, |rt| sync::abort(rt, arg::handle(stream)))
}

/// Ends the task that runs and keeps the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamStop(stream: aclrtStream) -> aclError {
    call(Api::aclrtStreamStop, |rt| sync::stop(rt, arg::handle(stream)))
}

/// Drops the tasks that a PERSISTENT stream keeps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtPersistentTaskClean(stream: aclrtStream) -> aclError {
    call(Api::aclrtPersistentTaskClean, |rt| sync::clean_persistent(rt, arg::handle(stream)))
}

/// Answers the stream's number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamGetId(stream: aclrtStream, streamId: *mut i32) -> aclError {
    call(Api::aclrtStreamGetId, |rt| {
        let out = arg::out(streamId, "streamId", "aclrtStreamGetId#01")?;
        out.set(attribute::get_id(rt, arg::handle(stream))?)
    })
}

/// Answers the stream's priority.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamGetPriority(stream: aclrtStream, priority: *mut u32) -> aclError {
    call(Api::aclrtStreamGetPriority, |rt| {
        let out = arg::out(priority, "priority", "aclrtStreamGetPriority#01")?;
        out.set(attribute::get_priority(rt, arg::handle(stream))?)
    })
}

/// Answers the flags that the stream was made with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamGetFlags(stream: aclrtStream, flags: *mut u32) -> aclError {
    call(Api::aclrtStreamGetFlags, |rt| {
        let out = arg::out(flags, "flags", "aclrtStreamGetFlags#01")?;
        out.set(attribute::get_flags(rt, arg::handle(stream))?)
    })
}

/// Answers how many more streams the device can have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetStreamAvailableNum(streamCount: *mut u32) -> aclError {
    call(Api::aclrtGetStreamAvailableNum, |rt| {
        let out = arg::out(streamCount, "streamCount", "aclrtGetStreamAvailableNum#01")?;
        out.set(attribute::available(rt)?)
    })
}

/// Sets whether streams go on after a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetStreamFailureMode(stream: aclrtStream, mode: u64) -> aclError {
    call(Api::aclrtSetStreamFailureMode, |rt| attribute::set_failure_mode(rt, arg::handle(stream), mode))
}

/// Turns overflow detection on or off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetStreamOverflowSwitch(stream: aclrtStream, flag: u32) -> aclError {
    call(Api::aclrtSetStreamOverflowSwitch, |rt| {
        attribute::set_overflow_switch(rt, arg::handle(stream), flag)
    })
}

/// Answers whether overflow detection is on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetStreamOverflowSwitch(stream: aclrtStream, flag: *mut u32) -> aclError {
    call(Api::aclrtGetStreamOverflowSwitch, |rt| {
        let out = arg::out(flag, "flag", "aclrtGetStreamOverflowSwitch#01")?;
        out.set(attribute::get_overflow_switch(rt, arg::handle(stream))?)
    })
}

/// Sets an attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetStreamAttribute(
    stream: aclrtStream,
    stmAttrType: aclrtStreamAttr,
    value: *mut aclrtStreamAttrValue,
) -> aclError {
    call(Api::aclrtSetStreamAttribute, |rt| {
        // All members of the union start in its first word.
        let word: u64 = arg::input(value.cast(), "value", "aclrtSetStreamAttribute#01")?;
        attribute::set(rt, arg::handle(stream), stmAttrType, word)
    })
}

/// Answers an attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetStreamAttribute(
    stream: aclrtStream,
    stmAttrType: aclrtStreamAttr,
    value: *mut aclrtStreamAttrValue,
) -> aclError {
    call(Api::aclrtGetStreamAttribute, |rt| {
        let out = arg::out(value.cast::<u64>(), "value", "aclrtGetStreamAttribute#01")?;
        out.set(attribute::get(rt, arg::handle(stream), stmAttrType)?)
    })
}

/// Registers a function that is told when streams come and go.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtRegStreamStateCallback(
    regName: *const c_char,
    callback: aclrtStreamStateCallback,
    args: *mut c_void,
) -> aclError {
    call(Api::aclrtRegStreamStateCallback, |rt| {
        let rule = "aclrtRegStreamStateCallback#01";
        match arg::text(regName, "regName", rule)? {
            Some(name) => listener::register(rt, name, callback, args),
            None => refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "regName: must not be null"),
        }
    })
}
