//! Chapter 12: callbacks; chapter 24: host functions with a thread of the program's own.

use std::ffi::c_void;

use ascendcl_sys::{aclError, aclrtCallback, aclrtCallbackBlockType, aclrtHostFunc, aclrtStream};
use toprope_runtime::call::call;
use toprope_runtime::{Api, callback};

use crate::arg;

/// Lets a thread of the runtime call a function in the order of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchHostFunc(
    stream: aclrtStream,
    r#fn: aclrtHostFunc,
    args: *mut c_void,
) -> aclError {
    call(Api::aclrtLaunchHostFunc, |rt| callback::launch_host_func(rt, arg::handle(stream), r#fn, args))
}

/// Makes a thread the one that runs a stream's callbacks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSubscribeReport(threadId: u64, stream: aclrtStream) -> aclError {
    call(Api::aclrtSubscribeReport, |rt| {
        callback::subscribe(rt, &callback::REPORTS, threadId, arg::handle(stream))
    })
}

/// Ends that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtUnSubscribeReport(threadId: u64, stream: aclrtStream) -> aclError {
    call(Api::aclrtUnSubscribeReport, |rt| {
        callback::unsubscribe(rt, &callback::REPORTS, threadId, arg::handle(stream))
    })
}

/// Lets the subscribed thread call a function in the order of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchCallback(
    r#fn: aclrtCallback,
    userData: *mut c_void,
    blockType: aclrtCallbackBlockType,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtLaunchCallback, |rt| callback::launch(rt, r#fn, userData, blockType, arg::handle(stream)))
}

/// Runs the callbacks that are due for the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtProcessReport(timeout: i32) -> aclError {
    call(Api::aclrtProcessReport, |rt| callback::process(rt, &callback::REPORTS, timeout))
}

/// Makes a thread the one that runs a stream's host functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSubscribeHostFunc(hostFuncThreadId: u64, exeStream: aclrtStream) -> aclError {
    call(Api::aclrtSubscribeHostFunc, |rt| {
        arg::not_null(exeStream, "exeStream", "aclrtSubscribeHostFunc#01")?;
        callback::subscribe(rt, &callback::HOST_FUNCS, hostFuncThreadId, arg::handle(exeStream))
    })
}

/// Ends that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtUnSubscribeHostFunc(hostFuncThreadId: u64, exeStream: aclrtStream) -> aclError {
    call(Api::aclrtUnSubscribeHostFunc, |rt| {
        arg::not_null(exeStream, "exeStream", "aclrtUnSubscribeHostFunc#01")?;
        callback::unsubscribe(rt, &callback::HOST_FUNCS, hostFuncThreadId, arg::handle(exeStream))
    })
}

/// Runs the host functions that are due for the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtProcessHostFunc(timeout: i32) -> aclError {
    call(Api::aclrtProcessHostFunc, |rt| callback::process(rt, &callback::HOST_FUNCS, timeout))
}

/// Answers the number of the last task that the calling thread added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetThreadLastTaskId(taskId: *mut u32) -> aclError {
    call(Api::aclrtGetThreadLastTaskId, |_| {
        let out = arg::out(taskId, "taskId", "aclrtGetThreadLastTaskId#01")?;
        out.set(callback::thread_last_task())
    })
}
