//! Events: chapter 07. An event is a snapshot: the position of a stream when it was recorded last. Whoever waits takes the
//! snapshot as it is at the call, so that a later record, reset or destroy changes nothing for those that wait already.
//!
//! | made by | counted against the product's limit | reset, query, wait status | wait | times |
//! |---|---|---|---|---|
//! | aclrtCreateEvent | yes | yes | yes | yes |
//! | aclrtCreateEventWithFlag | yes | yes; reset with SYNC | with SYNC or EXTERNAL | with TIME_LINE |
//! | aclrtCreateEventExWithFlag | no | none | with SYNC | with TIME_LINE |
//!
//! Lock order: an event's state, then the pool of cells; the engine's locks are leaves.

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::queue::{self, Mark, Task};
use toprope_engine::sync::plain::{ShortGuard, ShortMutex};

use crate::error::{Error, Result};
use crate::handle::{Kind, Pin, Table, describe};
use crate::process::{self, Runtime};
use crate::stream::{self, Stream};
use crate::{observer, refuse, thread};

mod cells;
pub mod query;
pub mod wait;

use cells::{Cell, Cells};

/// Events of the process.
pub struct Events {
    /// Live events.
    pub live: Table<Event>,
    numbers: Box<[Mutex<Numbers>]>,
    cells: Mutex<Cells>,
}

impl Events {
    /// None yet, on so many devices.
    pub fn new(devices: u16) -> Events {
        Events {
            live: Table::new(Kind::Event),
            numbers: (0..devices).map(|_| Mutex::default()).collect(),
            cells: Mutex::default(),
        }
    }

    fn numbers(&self, device: u16) -> Option<&Mutex<Numbers>> {
        self.numbers.get(usize::from(device))
    }
}

/// Event numbers of a device.
#[derive(Default)]
struct Numbers {
    /// Events that count against the limit.
    used: u32,
    free: Vec<u32>,
    next: u32,
}

/// Which call made an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Flagged,
    Extended,
}

/// An event.
pub struct Event {
    form: Form,
    /// `ACL_EVENT_…` bits; those that aclrtCreateEvent stands for, if it made it.
    flags: u32,
    /// The program's id of its device.
    pub device: u16,
    /// What aclrtGetEventId answers: unique per device.
    pub id: u32,
    state: ShortMutex<State>,
}

#[derive(Default)]
struct State {
    last: Option<Record>,
    /// Where the time of the last record goes, on events that keep times.
    cell: Option<Cell>,
    /// Stream position of the last reset, if there was one after the last record.
    reset: Option<Mark>,
    /// aclrtRecordEventWithFlag#13, aclrtStreamWaitEventWithFlag#07: the flag of the first call.
    record_flag: Option<u32>,
    wait_flag: Option<u32>,
    /// The last wait of each stream, for aclrtQueryEventWaitStatus.
    waits: Vec<(queue::Stream, Mark)>,
}

/// What an event holds.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    pub mark: Mark,
    pub queue: queue::Stream,
    /// The stream keeps its tasks (PERSISTENT): the mark is not reached by itself.
    pub kept: bool,
}

impl Event {
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// aclrtStreamWaitEvent#06, aclrtCreateEventWithFlag#12. ours for EXTERNAL: an event that is made for other streams to wait for.
    fn can_be_awaited(&self) -> bool {
        self.has(sys::ACL_EVENT_SYNC | sys::ACL_EVENT_EXTERNAL)
    }

    /// The last record, if any.
    fn last(&self) -> Option<Record> {
        self.state.lock().last
    }
}

impl Drop for Event {
    /// aclrtDestroyEvent#02: its cell lives on until the record is done.
    fn drop(&mut self) {
        let Ok(rt) = process::runtime() else { return };
        let state = self.state.get_mut();
        if let Some(cell) = state.cell.take() {
            rt.events.cells.lock().give(cell, state.last.map_or(Mark::NONE, |last| last.mark));
        }
    }
}

/// aclrtCreateEvent.
pub fn create(rt: &Runtime) -> Result<u64> {
    open(rt, Form::Plain, sys::ACL_EVENT_SYNC | sys::ACL_EVENT_TIME_LINE, "aclrtCreateEvent#02")
}

/// aclrtCreateEventWithFlag.
pub fn create_with_flag(rt: &Runtime, flags: u32) -> Result<u64> {
    const ALONE: u32 = sys::ACL_EVENT_EXTERNAL | sys::ACL_EVENT_DEVICE_USE_ONLY;
    const ACCEPTED: u32 =
        sys::ACL_EVENT_TIME_LINE | sys::ACL_EVENT_SYNC | sys::ACL_EVENT_CAPTURE_STREAM_PROGRESS | ALONE;
    if flags == 0 || flags & !ACCEPTED != 0 {
        return bad_flags(flags, "aclrtCreateEventWithFlag#06");
    }
    if flags & ALONE != 0 && !flags.is_power_of_two() {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtCreateEventWithFlag#07",
            "flag: {flags:#x} joins ACL_EVENT_EXTERNAL or ACL_EVENT_DEVICE_USE_ONLY with other flags"
        );
    }
    offered(rt, flags, "aclrtCreateEventWithFlag#11")?;
    open(rt, Form::Flagged, flags, "aclrtCreateEventWithFlag#02")
}

/// aclrtCreateEventExWithFlag.
pub fn create_ex_with_flag(rt: &Runtime, flags: u32) -> Result<u64> {
    /// aclrtCreateEventExWithFlag#07: a bit without a name that the call takes; it has no effect here.
    const UNNAMED: u32 = 0x4;
    const ACCEPTED: u32 = sys::ACL_EVENT_SYNC
        | sys::ACL_EVENT_CAPTURE_STREAM_PROGRESS
        | UNNAMED
        | sys::ACL_EVENT_TIME_LINE
        | sys::ACL_EVENT_IPC;
    if flags == 0 || flags & !ACCEPTED != 0 {
        return bad_flags(flags, "aclrtCreateEventExWithFlag#07");
    }
    if flags & sys::ACL_EVENT_IPC != 0 {
        if flags != sys::ACL_EVENT_IPC {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtCreateEventExWithFlag#08",
                "flag: {flags:#x} joins ACL_EVENT_IPC with other flags"
            );
        }
        offered(rt, flags, "aclrtCreateEventExWithFlag#10")?;
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "ours: not built yet",
            "flag: this version of toprope has no events between processes (ACL_EVENT_IPC) yet"
        );
    }
    offered(rt, flags & !UNNAMED, "ours: event flags of the product")?;
    open(rt, Form::Extended, flags, "aclrtCreateEventExWithFlag#02")
}

fn bad_flags<T>(flags: u32, rule: &'static str) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "flag: {flags:#x} is not a combination of the ACL_EVENT_ flags that the call takes"
    )
}

/// Whether the product has events with these flags.
fn offered(rt: &Runtime, flags: u32, rule: &'static str) -> Result<()> {
    let product = rt.profile.product;
    if flags & !product.event_flags == 0 {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        rule,
        "flag: {flags:#x}: {} has events with the flags {:#x} only",
        product.key,
        product.event_flags
    )
}

fn open(rt: &Runtime, form: Form, flags: u32, limit: &'static str) -> Result<u64> {
    let device = thread::current_device(rt)?;
    let Some(id) = take_number(rt, device, form) else {
        return refuse!(
            sys::ACL_ERROR_RT_NO_EVENT_RESOURCE,
            limit,
            "all {} events of device {device} are in use",
            rt.profile.product.max_events
        );
    };
    let handle = rt.events.live.insert(Event { form, flags, device, id, state: ShortMutex::default() });
    observer::tell(|o| o.born(Kind::Event, handle));
    Ok(handle)
}

/// A number for a new event; None when there may be no more. aclrtCreateEventExWithFlag#17: the extended form is not bounded.
fn take_number(rt: &Runtime, device: u16, form: Form) -> Option<u32> {
    let mut numbers = rt.events.numbers(device)?.lock();
    if form != Form::Extended {
        if numbers.used >= rt.profile.product.max_events {
            return None;
        }
        numbers.used += 1;
    }
    numbers.free.pop().or_else(|| {
        numbers.next += 1;
        Some(numbers.next - 1)
    })
}

/// aclrtGetEventAvailNum: how many more the device of the current context has.
pub fn available(rt: &Runtime) -> Result<u32> {
    let device = thread::current_device(rt)?;
    let used = rt.events.numbers(device).map_or(0, |numbers| numbers.lock().used);
    Ok(rt.profile.product.max_events.saturating_sub(used))
}

/// The event of a handle. *#01: no live event, 107017.
#[inline(always)]
pub(crate) fn find(rt: &Runtime, handle: u64) -> Result<Pin<'_, Event>> {
    match rt.events.live.pin(handle) {
        Some(event) => Ok(event),
        None => Err(invalid(handle)),
    }
}

#[cold]
fn invalid(handle: u64) -> Error {
    Error::new(sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01", format!("event: {}", describe(handle, Kind::Event)))
}

/// aclrtDestroyEvent: at once, also while streams wait for it (#02).
pub fn destroy(rt: &Runtime, handle: u64) -> Result<()> {
    let Some(event) = rt.events.live.remove(handle) else { return Err(invalid(handle)) };
    // At once, not with the last user: the program may create another now.
    if let Some(numbers) = rt.events.numbers(event.device) {
        let mut numbers = numbers.lock();
        numbers.free.push(event.id);
        if event.form != Form::Extended {
            numbers.used -= 1;
        }
    }
    observer::tell(|o| o.died(Kind::Event, handle));
    Ok(())
}

/// aclrtGetEventId.
pub fn get_id(rt: &Runtime, handle: u64) -> Result<u32> {
    Ok(find(rt, handle)?.id)
}

/// aclrtRecordEvent: the event now stands for everything that was added to the stream so far (#07, #08).
pub fn record(rt: &Runtime, event: u64, stream: u64) -> Result<()> {
    let event = find(rt, event)?;
    let stream = stream::resolve(rt, stream)?;
    let mut state = event.state.lock();
    bind(&mut state.record_flag, sys::ACL_EVENT_RECORD_DEFAULT, "aclrtRecordEventWithFlag#13")?;
    take_snapshot(rt, &event, state, &stream, "aclrtRecordEvent#04", "aclrtRecordEvent#05")
}

/// aclrtRecordEventWithFlag.
pub fn record_with_flag(rt: &Runtime, event: u64, stream: u64, flag: u32) -> Result<()> {
    if flag != sys::ACL_EVENT_RECORD_DEFAULT && flag != sys::ACL_EVENT_RECORD_EXTERNAL {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtRecordEventWithFlag#07",
            "flag: {flag} is neither ACL_EVENT_RECORD_DEFAULT nor ACL_EVENT_RECORD_EXTERNAL"
        );
    }
    let event = find(rt, event)?;
    let stream = stream::resolve(rt, stream)?;
    let mut state = event.state.lock();
    let bound = bind(&mut state.record_flag, flag, "aclrtRecordEventWithFlag#13");
    if flag == sys::ACL_EVENT_RECORD_EXTERNAL {
        // No stream can be under capture yet.
        return not_captured("aclrtRecordEventWithFlag#09");
    }
    bound?;
    take_snapshot(rt, &event, state, &stream, "aclrtRecordEventWithFlag#04", "aclrtRecordEventWithFlag#05")
}

#[cold]
fn not_captured(rule: &'static str) -> Result<()> {
    refuse!(
        sys::ACL_ERROR_RT_STREAM_NOT_CAPTURED,
        rule,
        "flag: EXTERNAL is for streams under capture, which the stream is not"
    )
}

/// aclrtRecordEventWithFlag#14: the first call binds, whatever becomes of it.
#[inline]
fn bind(place: &mut Option<u32>, flag: u32, rule: &'static str) -> Result<()> {
    let bound = *place.get_or_insert(flag);
    if bound == flag { Ok(()) } else { bound_else(bound, flag, rule) }
}

#[cold]
fn bound_else(bound: u32, flag: u32, rule: &'static str) -> Result<()> {
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "flag: {flag} was given, the event was used with {bound} before (0: DEFAULT, 1: EXTERNAL)"
    )
}

#[inline]
fn take_snapshot(
    rt: &Runtime,
    event: &Pin<'_, Event>,
    mut state: ShortGuard<'_, State>,
    stream: &Pin<'_, Stream>,
    foreign: &'static str,
    device_only: &'static str,
) -> Result<()> {
    stream::in_context(rt, stream, foreign)?;
    not_device_only(event, device_only)?;
    if event.device != stream.device {
        return refuse!(
            sys::ACL_ERROR_RT_STREAM_CONTEXT,
            "ours: an event is recorded on its own device",
            "event: event {} belongs to device {}, stream {} to device {}",
            event.id,
            event.device,
            stream.id,
            stream.device
        );
    }
    stream::takes_tasks(rt, stream)?;
    let mark = if event.has(sys::ACL_EVENT_TIME_LINE) {
        let cell = fresh_cell(rt, &mut state);
        let position = stream.push(rt, Task::Stamp { cell: cell.address() });
        rt.engine.mark_at(stream.queue, position)
    } else {
        stream.mark(rt)
    };
    state.last = Some(Record { mark, queue: stream.queue, kept: stream.keeps_tasks() });
    state.reset = None;
    // Under the lock, so that observers see records of one event in their order.
    observer::tell(|o| o.recorded(event.handle(), stream.handle(), mark));
    Ok(())
}

/// A cell for the next record's time. The one of the record before is used again once its time is written; until then the
/// engine may still write it.
fn fresh_cell(rt: &Runtime, state: &mut State) -> Cell {
    let cell = match (state.cell.take(), state.last) {
        (Some(cell), Some(last)) if cell.time().is_none() => {
            let mut cells = rt.events.cells.lock();
            cells.give(cell, last.mark);
            cells.take(rt)
        }
        (Some(cell), _) => cell,
        (None, _) => rt.events.cells.lock().take(rt),
    };
    cell.clear();
    state.cell = Some(cell);
    cell
}

/// aclrtRecordEvent#05, aclrtStreamWaitEvent#07, aclrtResetEvent#08.
#[inline]
fn not_device_only(event: &Event, rule: &'static str) -> Result<()> {
    if event.has(sys::ACL_EVENT_DEVICE_USE_ONLY) { device_only(event, rule) } else { Ok(()) }
}

#[cold]
fn device_only(event: &Event, rule: &'static str) -> Result<()> {
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "event: event {} is ACL_EVENT_DEVICE_USE_ONLY; the host cannot use it",
        event.id
    )
}

/// aclrtResetEvent: once the stream gets there (#05), the event counts as not recorded. Whoever waits already is not affected.
pub fn reset(rt: &Runtime, event: u64, stream: u64) -> Result<()> {
    let event = find(rt, event)?;
    let stream = stream::resolve(rt, stream)?;
    // aclrtResetEvent#02, aclrtCreateEvent#06: those of aclrtCreateEvent are taken.
    if event.form == Form::Extended {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtResetEvent#03",
            "event: event {} was made by aclrtCreateEventExWithFlag",
            event.id
        );
    }
    not_device_only(&event, "aclrtResetEvent#08")?;
    if !event.has(sys::ACL_EVENT_SYNC) {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtResetEvent#04",
            "event: event {} was made without ACL_EVENT_SYNC (flags {:#x})",
            event.id,
            event.flags
        );
    }
    stream::in_context(rt, &stream, "aclrtResetEvent#07")?;
    stream::takes_tasks(rt, &stream)?;
    let at = stream.mark(rt);
    event.state.lock().reset = Some(at);
    observer::tell(|o| o.reset(event.handle(), stream.handle(), at));
    Ok(())
}
