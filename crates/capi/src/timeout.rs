//! Chapter 12: time limits of operators.

use ascendcl_sys::aclError;
use toprope_runtime::call::call;
use toprope_runtime::{Api, timeout};

use crate::arg;

/// Sets the limit in seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetOpExecuteTimeOut(timeout: u32) -> aclError {
    call(Api::aclrtSetOpExecuteTimeOut, |rt| timeout::set_op_execute(rt, u64::from(timeout) * 1_000_000))
}

/// Sets the limit in milliseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetOpExecuteTimeOutWithMs(timeout: u32) -> aclError {
    call(Api::aclrtSetOpExecuteTimeOutWithMs, |rt| timeout::set_op_execute(rt, u64::from(timeout) * 1000))
}

/// Sets the limit in microseconds and answers the one that counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetOpExecuteTimeOutV2(timeout: u64, actualTimeout: *mut u64) -> aclError {
    call(Api::aclrtSetOpExecuteTimeOutV2, |rt| {
        let out = arg::out(actualTimeout, "actualTimeout", "aclrtSetOpExecuteTimeOutV2#01")?;
        out.probe()?;
        out.set(timeout::set_op_execute_v2(rt, timeout)?)
    })
}

/// Answers the limit in milliseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetOpExecuteTimeout(timeoutMs: *mut u32) -> aclError {
    call(Api::aclrtGetOpExecuteTimeout, |rt| {
        let out = arg::out(timeoutMs, "timeoutMs", "aclrtGetOpExecuteTimeout#01")?;
        out.set(timeout::get_op_execute(rt))
    })
}

/// Answers the unit of limits in microseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetOpTimeOutInterval(interval: *mut u64) -> aclError {
    call(Api::aclrtGetOpTimeOutInterval, |rt| {
        let out = arg::out(interval, "interval", "aclrtGetOpTimeOutInterval#01")?;
        out.set(timeout::op_interval(rt)?)
    })
}
