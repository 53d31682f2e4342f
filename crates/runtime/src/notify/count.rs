//! Chapter 09: counting notifies.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ascendcl_sys as sys;
use toprope_engine::queue::Condition;

use super::{Cell, change, enqueue_wait, take_number};
use crate::error::Result;
use crate::generated::api::Api;
use crate::handle::{Kind, Pin, describe};
use crate::process::{self, Runtime};
use crate::{copy, observer, refuse, stream, thread};

/// A counting notify.
pub(super) struct Counting {
    device: u16,
    id: u32,
    cell: Arc<Cell>,
}

impl Drop for Counting {
    fn drop(&mut self) {
        if let Ok(rt) = process::runtime()
            && let Some(numbers) = rt.notifies.counting_numbers.get(usize::from(self.device))
        {
            numbers.lock().free.push(self.id);
        }
    }
}

/// aclrtCntNotifyCreate: 0, on the device of the current context.
pub fn create(rt: &Runtime, flag: u64) -> Result<u64> {
    if flag != 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtCntNotifyCreate#03",
            "flag: {flag:#x} is reserved and must be 0"
        );
    }
    let device = thread::current_device(rt)?;
    // ours: as many as notifies, since no page says.
    let limit = rt.profile.product.max_notifies;
    let Some(id) = take_number(&rt.notifies.counting_numbers, device, limit) else {
        return refuse!(
            sys::ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
            "ours: as aclrtCreateNotify#06",
            "all {limit} counting notifies of device {device} are in use"
        );
    };
    let handle =
        rt.notifies.counting.insert(Counting { device, id, cell: Arc::new(Cell(AtomicU32::new(0))) });
    observer::tell(|o| o.born(Kind::CntNotify, handle));
    Ok(handle)
}

fn find(rt: &Runtime, handle: u64) -> Result<Pin<'_, Counting>> {
    match rt.notifies.counting.pin(handle) {
        Some(notify) => Ok(notify),
        None => invalid(handle),
    }
}

#[cold]
fn invalid<T>(handle: u64) -> Result<T> {
    refuse!(sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01", "cntNotify: {}", describe(handle, Kind::CntNotify))
}

/// aclrtCntNotifyDestroy. Tasks that were added keep what they need.
pub fn destroy(rt: &Runtime, handle: u64) -> Result<()> {
    if rt.notifies.counting.remove(handle).is_none() {
        return invalid(handle);
    }
    observer::tell(|o| o.died(Kind::CntNotify, handle));
    Ok(())
}

/// aclrtCntNotifyGetId.
pub fn get_id(rt: &Runtime, handle: u64) -> Result<u32> {
    Ok(find(rt, handle)?.id)
}

/// aclrtCntNotifyRecord: in stream order (#05).
pub fn record(rt: &Runtime, notify: u64, stream: u64, info: sys::aclrtCntNotifyRecordInfo) -> Result<()> {
    let notify = find(rt, notify)?;
    let known = stream::known(rt, stream)?;
    let sys::aclrtCntNotifyRecordInfo { mode, value } = info;
    // aclrtCntNotifyRecord#04. ours: a sum that is too large starts over.
    let how: fn(u32, u32) -> u32 = match mode {
        sys::ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE => |_, value| value,
        sys::ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE => u32::wrapping_add,
        sys::ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE => |now, value| now | value,
        sys::ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE => |now, value| now & value,
        _ => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtCntNotifyRecord#03",
                "info: mode {}; wanted is 0, 1, 2 or 4",
                sys::enums::aclrtCntNotifyRecordMode.show(mode)
            );
        }
    };
    let stream = copy::own(rt, known, "aclrtCntNotifyRecord#09")?;
    observer::tell(|o| o.about(notify.handle()));
    change(rt, Api::aclrtCntNotifyRecord, &stream, &notify.cell, move |cell| {
        cell.update(|now| how(now, value))
    });
    Ok(())
}

/// aclrtCntNotifyReset: 0, in stream order (#02). ours: the stream must be of the current context, as in the other calls.
pub fn reset(rt: &Runtime, notify: u64, stream: u64) -> Result<()> {
    let notify = find(rt, notify)?;
    let known = stream::known(rt, stream)?;
    let stream = copy::own(rt, known, "ours: as aclrtCntNotifyRecord#09")?;
    observer::tell(|o| o.about(notify.handle()));
    change(rt, Api::aclrtCntNotifyReset, &stream, &notify.cell, |cell| cell.update(|_| 0));
    Ok(())
}

impl Cell {
    fn update(&self, how: impl Fn(u32) -> u32) {
        // The update never declines.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| Some(how(now)));
    }
}

/// A wait for a count.
struct Reached {
    cell: Arc<Cell>,
    compare: fn(u32, u32) -> bool,
    value: u32,
    clear: bool,
}

impl Condition for Reached {
    /// aclrtCntNotifyWaitWithTimeout#06: clears the count that it has seen.
    fn meet(&self) -> std::result::Result<bool, u32> {
        let to = |now| (self.compare)(now, self.value).then_some(if self.clear { 0 } else { now });
        Ok(self.cell.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, to).is_ok())
    }
}

/// aclrtCntNotifyWaitWithTimeout: seconds, 0 for ever (#05).
pub fn wait_with_timeout(
    rt: &Runtime,
    notify: u64,
    stream: u64,
    info: sys::aclrtCntNotifyWaitInfo,
) -> Result<()> {
    let notify = find(rt, notify)?;
    let known = stream::known(rt, stream)?;
    // aclrtCntNotifyWaitWithTimeout#04
    let compare: fn(u32, u32) -> bool = match info.mode {
        sys::ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE => |now, value| now < value,
        sys::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE => |now, value| now == value,
        sys::ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE => |now, value| now > value,
        sys::ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE => |now, value| now >= value,
        sys::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE => |now, value| now & value == value,
        mode => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtCntNotifyWaitWithTimeout#03",
                "info: mode {}; wanted is 0 to 4",
                sys::enums::aclrtCntNotifyWaitMode.show(mode)
            );
        }
    };
    let stream = copy::own(rt, known, "aclrtCntNotifyWaitWithTimeout#11")?;
    let cell = Arc::clone(&notify.cell);
    let reached = Reached { cell, compare, value: info.value, clear: info.isClear != 0 };
    let api = Api::aclrtCntNotifyWaitWithTimeout;
    observer::tell(|o| o.about(notify.handle()));
    enqueue_wait(rt, api, &stream, notify.cell.key(), info.timeout, reached);
    Ok(())
}
