//! Time limits of operators (chapter 12) and of waits for events (chapter 07): one setting each per process.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use ascendcl_sys as sys;

use crate::error::Result;
use crate::process::Runtime;
use crate::{refuse, thread};

/// What was set.
pub struct Timeouts {
    /// Limit of an operator in microseconds as it counts; 0: never set, `u64::MAX`: none.
    op_execute_us: AtomicU64,
    /// Limit of a wait for an event in milliseconds; 0: none.
    op_wait_ms: AtomicU32,
}

impl Default for Timeouts {
    /// aclrtSetOpExecuteTimeOut#04: the product's default. aclrtSetOpWaitTimeout#01: no limit.
    fn default() -> Timeouts {
        Timeouts { op_execute_us: AtomicU64::new(0), op_wait_ms: AtomicU32::new(0) }
    }
}

impl Timeouts {
    /// The longest that an operator may take; None is for ever.
    pub(crate) fn operator(&self, rt: &Runtime) -> Option<Duration> {
        match self.op_execute_us.load(Ordering::Relaxed) {
            0 => Some(Duration::from_millis(rt.profile.product.op_timeout_default_ms.into())),
            u64::MAX => None,
            us => Some(Duration::from_micros(us)),
        }
    }

    /// aclrtStreamWaitEvent#05: the limit of waits that are added now, in milliseconds; 0 is none.
    #[inline]
    pub fn op_wait_ms(&self) -> u32 {
        self.op_wait_ms.load(Ordering::Relaxed)
    }
}

/// Timeouts are this many intervals at most.
const MOST_INTERVALS: u64 = 254;
/// Below this interval, in microseconds, a timeout of 0 means none at all instead of the maximum.
const ENDLESS_BELOW_US: u64 = 100_000;

/// The timeout that counts, in microseconds: whole intervals, rounded up, 254 at most (aclrtGetOpTimeOutInterval#05). 0 asks for the
/// maximum (aclrtSetOpExecuteTimeOutV2#02), or for none on a fine interval (#03).
fn effective(timeout_us: u64, interval_us: u64) -> u64 {
    match timeout_us {
        0 if interval_us < ENDLESS_BELOW_US => u64::MAX,
        0 => interval_us * MOST_INTERVALS,
        _ => timeout_us.div_ceil(interval_us).min(MOST_INTERVALS) * interval_us,
    }
}

fn set(rt: &Runtime, timeout_us: u64) -> u64 {
    let effective = effective(timeout_us, rt.profile.product.op_timeout_interval_us);
    rt.timeouts.op_execute_us.store(effective, Ordering::Relaxed);
    effective
}

/// aclrtSetOpExecuteTimeOut, aclrtSetOpExecuteTimeOutWithMs: 0 for the maximum (#01); the last call of the process counts (#02).
pub fn set_op_execute(rt: &Runtime, microseconds: u64) -> Result<()> {
    set(rt, microseconds);
    Ok(())
}

/// aclrtSetOpExecuteTimeOutV2: microseconds; answers what counts (#10).
pub fn set_op_execute_v2(rt: &Runtime, microseconds: u64) -> Result<u64> {
    device_is_set(rt, "aclrtSetOpExecuteTimeOutV2#07")?;
    Ok(set(rt, microseconds))
}

/// aclrtGetOpExecuteTimeout: milliseconds; those of the product while nothing was set (#02), `u32::MAX` for none (#03).
pub fn get_op_execute(rt: &Runtime) -> u32 {
    match rt.timeouts.op_execute_us.load(Ordering::Relaxed) {
        0 => rt.profile.product.op_timeout_default_ms,
        // Rounded up, so that a limit below a millisecond does not read as 0.
        us => u32::try_from(us.div_ceil(1000)).unwrap_or(u32::MAX),
    }
}

/// aclrtGetOpTimeOutInterval: microseconds (#04).
pub fn op_interval(rt: &Runtime) -> Result<u64> {
    device_is_set(rt, "aclrtGetOpTimeOutInterval#03")?;
    Ok(rt.profile.product.op_timeout_interval_us)
}

/// aclrtSetOpWaitTimeout: seconds, 0 for no limit (#01). Waits that are added later are bounded by it.
pub fn set_op_wait(rt: &Runtime, seconds: u32) -> Result<()> {
    rt.timeouts.op_wait_ms.store(seconds.saturating_mul(1000), Ordering::Relaxed);
    Ok(())
}

/// 107002 without a current context, 507033 when the device of an explicit one was never set.
fn device_is_set(rt: &Runtime, rule: &'static str) -> Result<()> {
    let context = thread::current(rt)?;
    let set = rt.devices.get(usize::from(context.device)).is_some_and(|device| device.primary() != 0);
    if set {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_RT_DEV_SETUP_ERROR,
        rule,
        "device {} of the current context was not set with aclrtSetDevice",
        context.device
    )
}

#[cfg(test)]
mod tests {
    use super::{MOST_INTERVALS, effective};

    /// aclrtGetOpTimeOutInterval#05, aclrtSetOpExecuteTimeOutV2#03
    #[test]
    fn timeouts_are_whole_intervals() {
        assert_eq!(effective(50, 100), 100);
        assert_eq!(effective(101, 100), 200);
        assert_eq!(effective(30_000, 100), 25_400);
        assert_eq!(effective(u64::MAX, 100), 25_400);
        assert_eq!(effective(0, 100), u64::MAX);
        assert_eq!(effective(0, 99_999), u64::MAX);
        assert_eq!(effective(0, 100_000), 100_000 * MOST_INTERVALS);
    }
}
