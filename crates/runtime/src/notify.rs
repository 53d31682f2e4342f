//! Chapters 08 and 09: notifies and counting notifies ([`count`]), within one process. A notify is a flag, a counting one a
//! number; tasks set it, and waits are conditions of the engine ([`toprope_engine::queue::Poll`]): whoever changes it rings, and of
//! several streams that wait for one notify a record lets one go on.

pub mod count;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::queue::{Condition, Poll, Task};

use crate::error::Result;
use crate::generated::api::Api;
use crate::handle::{Kind, Pin, Table, describe};
use crate::process::{self, Runtime};
use crate::stream::Stream;
use crate::{copy, observer, refuse, stream, thread};

/// Notifies of the process.
pub struct Notifies {
    live: Table<Notify>,
    counting: Table<count::Counting>,
    numbers: Box<[Mutex<Numbers>]>,
    counting_numbers: Box<[Mutex<Numbers>]>,
}

impl Notifies {
    /// None yet, on so many devices.
    pub(crate) fn new(devices: u16) -> Notifies {
        let numbers = || (0..devices).map(|_| Mutex::default()).collect();
        Notifies {
            live: Table::new(Kind::Notify),
            counting: Table::new(Kind::CntNotify),
            numbers: numbers(),
            counting_numbers: numbers(),
        }
    }
}

/// Numbers of a device, the lowest free one first after those given back.
#[derive(Default)]
struct Numbers {
    free: Vec<u32>,
    next: u32,
}

impl Numbers {
    /// None when `limit` are in use.
    fn take(&mut self, limit: u32) -> Option<u32> {
        self.free.pop().or_else(|| {
            let number = self.next;
            (number < limit).then(|| {
                self.next += 1;
                number
            })
        })
    }
}

/// What tasks and waits share with the notify; lives as long as the last of them.
struct Cell(AtomicU32);

impl Cell {
    fn key(self: &Arc<Cell>) -> usize {
        Arc::as_ptr(self) as usize
    }
}

/// A notify.
struct Notify {
    device: u16,
    id: u32,
    cell: Arc<Cell>,
}

impl Drop for Notify {
    fn drop(&mut self) {
        if let Ok(rt) = process::runtime()
            && let Some(numbers) = rt.notifies.numbers.get(usize::from(self.device))
        {
            numbers.lock().free.push(self.id);
        }
    }
}

/// aclrtCreateNotify: on the device of the current context.
pub fn create(rt: &Runtime, flag: u64) -> Result<u64> {
    const DEVICE_ONLY: u64 = sys::ACL_NOTIFY_DEVICE_USE_ONLY as u64;
    if flag & !DEVICE_ONLY != 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtCreateNotify#03",
            "flag: {flag:#x} is neither ACL_NOTIFY_DEFAULT nor ACL_NOTIFY_DEVICE_USE_ONLY"
        );
    }
    // ours: a device that has such events has such notifies.
    if flag & DEVICE_ONLY != 0 && rt.profile.product.event_flags & sys::ACL_EVENT_DEVICE_USE_ONLY == 0 {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtCreateNotify#04",
            "flag: ACL_NOTIFY_DEVICE_USE_ONLY is not supported on {}",
            rt.profile.product.key
        );
    }
    let device = thread::current_device(rt)?;
    let limit = rt.profile.product.max_notifies;
    let Some(id) = take_number(&rt.notifies.numbers, device, limit) else {
        return refuse!(
            sys::ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
            "aclrtCreateNotify#06, #07, #08, #09",
            "all {limit} notifies of device {device} are in use"
        );
    };
    let handle = rt.notifies.live.insert(Notify { device, id, cell: Arc::new(Cell(AtomicU32::new(0))) });
    observer::tell(|o| o.born(Kind::Notify, handle));
    Ok(handle)
}

fn take_number(numbers: &[Mutex<Numbers>], device: u16, limit: u32) -> Option<u32> {
    numbers.get(usize::from(device))?.lock().take(limit)
}

fn find(rt: &Runtime, handle: u64) -> Result<Pin<'_, Notify>> {
    match rt.notifies.live.pin(handle) {
        Some(notify) => Ok(notify),
        None => invalid(handle),
    }
}

#[cold]
fn invalid<T>(handle: u64) -> Result<T> {
    refuse!(sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01", "notify: {}", describe(handle, Kind::Notify))
}

/// aclrtDestroyNotify. Tasks that were added keep what they need.
pub fn destroy(rt: &Runtime, handle: u64) -> Result<()> {
    find(rt, handle)?;
    // aclrtDestroyNotify#03
    thread::current_device(rt)?;
    if rt.notifies.live.remove(handle).is_none() {
        return invalid(handle);
    }
    observer::tell(|o| o.died(Kind::Notify, handle));
    Ok(())
}

/// aclrtGetNotifyId.
pub fn get_id(rt: &Runtime, handle: u64) -> Result<u32> {
    Ok(find(rt, handle)?.id)
}

/// aclrtRecordNotify: once the stream gets there (#07) the notify is 1, whatever it was (#08).
pub fn record(rt: &Runtime, notify: u64, stream: u64) -> Result<()> {
    let notify = find(rt, notify)?;
    let known = stream::known(rt, stream)?;
    let stream = copy::own(rt, known, "aclrtRecordNotify#05")?;
    observer::tell(|o| o.about(notify.handle()));
    change(rt, Api::aclrtRecordNotify, &stream, &notify.cell, |cell| cell.0.store(1, Ordering::Release));
    Ok(())
}

/// A task that changes a cell and rings for those who wait for it.
fn change(
    rt: &Runtime,
    api: Api,
    stream: &Pin<'_, Stream>,
    cell: &Arc<Cell>,
    how: impl FnOnce(&Cell) + Send + 'static,
) {
    let key = cell.key();
    let cell = Arc::clone(cell);
    let task = copy::work(8, 1, move || {
        how(&cell);
        Ok(())
    });
    copy::enqueue(rt, api, stream, task, &[], &[]);
    stream.push(rt, Task::Ring { key });
}

/// A task that waits for a cell. No page names the code of a wait that took too long: as for events.
fn enqueue_wait(
    rt: &Runtime,
    api: Api,
    stream: &Pin<'_, Stream>,
    key: usize,
    seconds: u32,
    condition: impl Condition + 'static,
) {
    let code = sys::ACL_ERROR_RT_WAIT_TIMEOUT as u32;
    let poll = Poll::new(Box::new(condition), key, seconds.saturating_mul(1000), code);
    copy::enqueue(rt, api, stream, Task::Poll(Arc::new(poll)), &[], &[]);
}

/// A wait for a notify.
struct Recorded(Arc<Cell>);

impl Condition for Recorded {
    /// Takes the record: it is 0 again (aclrtWaitAndResetNotify#07).
    fn meet(&self) -> std::result::Result<bool, u32> {
        Ok(self.0.0.compare_exchange(1, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok())
    }
}

/// aclrtWaitAndResetNotify: seconds, 0 for ever (#08).
pub fn wait_and_reset(rt: &Runtime, notify: u64, stream: u64, seconds: u32) -> Result<()> {
    let notify = find(rt, notify)?;
    let known = stream::known(rt, stream)?;
    let stream = copy::own(rt, known, "aclrtWaitAndResetNotify#05")?;
    observer::tell(|o| o.about(notify.handle()));
    let recorded = Recorded(Arc::clone(&notify.cell));
    enqueue_wait(rt, Api::aclrtWaitAndResetNotify, &stream, notify.cell.key(), seconds, recorded);
    Ok(())
}

/// aclrtNotifyBatchReset: at once.
pub fn batch_reset(rt: &Runtime, handles: &[u64]) -> Result<()> {
    if handles.is_empty() {
        return refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtNotifyBatchReset#02", "num: must not be 0");
    }
    let notifies = handles.iter().map(|handle| find(rt, *handle)).collect::<Result<Vec<_>>>()?;
    thread::current_device(rt)?;
    notifies.iter().for_each(|notify| notify.cell.0.store(0, Ordering::Release));
    Ok(())
}
