//! Streams: chapter 06. A stream is a queue of the engine with an owner (a context), a number and a few settings.
//!
//! Which tasks run: those of an ordinary stream, as soon as it is their turn. A PERSISTENT stream keeps its tasks behind a gate (a
//! signal that nobody advances) until it is destroyed or cleaned. A stream that was aborted, or whose context stopped after a
//! failure, takes no more tasks ([`resolve_own`] says so).

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use std::sync::Arc;

use ascendcl_sys as sys;
use toprope_engine::queue::{self, Mark, Signal, Task};

use crate::callback::Seat;
use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::exception::Origin;
use crate::handle::{Kind, Pin, describe};
use crate::observer::Home;
use crate::process::{self, Runtime};
use crate::{observer, refuse, thread};

pub mod attribute;
pub mod config;
pub mod listener;
pub mod sync;

/// A stream.
pub struct Stream {
    /// The engine's stream.
    pub queue: queue::Stream,
    /// Handle of its context.
    pub context: u64,
    /// The program's id of its device.
    pub device: u16,
    /// What aclrtStreamGetId answers: unique per device.
    pub id: i32,
    /// `ACL_STREAM_…` bits as they count.
    pub flags: u32,
    /// The default stream of its context.
    pub default: bool,
    /// For whoever reports a task that failed.
    origin: Arc<Origin>,
    /// 0 (highest) to 7.
    priority: AtomicU32,
    /// Why it takes no more tasks: [`ABORTED`], [`BROKEN`]; 0 if it takes them.
    closed: AtomicU32,
    settings: attribute::Settings,
    /// Of a PERSISTENT stream: what its tasks wait for.
    gate: Option<Signal>,
    /// Who runs the callbacks of aclrtLaunchCallback.
    pub(crate) reports: Seat,
    /// Who runs the host functions of aclrtSubscribeHostFunc.
    pub(crate) host_funcs: Seat,
}

/// aclrtStreamAbort was called.
const ABORTED: u32 = 1;
/// A task of its context failed under ACL_STOP_ON_FAILURE.
const BROKEN: u32 = 2;

impl Stream {
    /// Everything that was added so far.
    #[inline]
    pub fn mark(&self, rt: &Runtime) -> Mark {
        rt.engine.mark(self.queue)
    }

    /// Adds a task.
    #[inline(always)]
    pub fn push(&self, rt: &Runtime, task: Task) -> u64 {
        self.origin.submit();
        let position = rt.engine.push(self.queue, task);
        // aclrtGetThreadLastTaskId#03
        if !self.default {
            thread::set_last_task(position as u32);
        }
        position
    }

    /// 0 (highest) to 7.
    pub fn priority(&self) -> u32 {
        self.priority.load(Ordering::Relaxed)
    }

    /// aclrtSynchronizeStream#03, aclrtStreamQuery#04: streams that the host never waits for.
    #[inline]
    pub fn unwaitable(&self) -> bool {
        const NEVER: u32 =
            sys::ACL_STREAM_PERSISTENT | sys::ACL_STREAM_DEVICE_USE_ONLY | sys::ACL_STREAM_CPU_SCHEDULE;
        self.flags & NEVER != 0
    }

    /// aclrtCreateStreamWithConfig#12: its tasks are kept, not run.
    #[inline]
    pub fn keeps_tasks(&self) -> bool {
        self.gate.is_some()
    }

    fn close_for(&self, reason: u32) {
        self.closed.fetch_or(reason, Ordering::Release);
    }

    fn closed_for(&self, reason: u32) -> bool {
        self.closed.load(Ordering::Acquire) & reason != 0
    }

    /// Puts the wait in front of the tasks of a PERSISTENT stream.
    fn shut_gate(&self, rt: &Runtime) {
        if let Some(gate) = self.gate {
            let mark = rt.engine.signal_mark(gate, 1);
            rt.engine.push(self.queue, Task::Wait { mark, timeout_ms: 0, code: 0 });
        }
    }

    /// Drops the tasks that have not begun. A copy that runs gets some time to end, since the program is about to free its
    /// memory; a kernel that runs on is given up; a function of the program that runs, which may be waiting for this very thread, is not
    /// waited for any longer.
    pub(crate) fn cut_short(&self, rt: &Runtime) {
        const GRACE: Duration = Duration::from_millis(50);
        let running = rt.engine.discard(self.queue);
        if rt.engine.wait(running, Instant::now().checked_add(GRACE)) == queue::Waited::TimedOut {
            rt.engine.abandon(self.queue, sys::ACL_ERROR_RT_STREAM_ABORT as u32);
        } else {
            observer::tell(|o| o.host_ordered(running));
        }
    }

    /// Waits until every task is done, or drops the tasks of a stream that does not run any.
    pub(crate) fn drain(&self, rt: &Runtime) {
        if rt.engine.runs(self.queue) {
            // The callback that is running is one of the tasks; the engine lets the rest run out by itself.
        } else if self.keeps_tasks() || self.closed_for(BROKEN) {
            rt.engine.abort(self.queue);
        } else {
            let _: queue::Waited = rt.engine.wait(self.mark(rt), None);
        }
    }

    /// As [`Stream::drain`], for a context that ends. ours: a wait for a value that nobody writes is given up after a while,
    /// and said, since the process could never go on.
    pub(crate) fn run_out(&self, rt: &Runtime) {
        const PATIENCE: Duration = Duration::from_secs(1);
        let mark = self.mark(rt);
        while !self.keeps_tasks() && !self.closed_for(BROKEN) && !rt.engine.runs(self.queue) {
            let before = rt.engine.listens(mark);
            if rt.engine.wait_patiently(mark, Instant::now().checked_add(PATIENCE)) == queue::Waited::Done {
                return;
            }
            if before && rt.engine.listens(mark) {
                eprintln!(
                    "toprope: stream {} of device {} waits for a value or notify that never came; its context ends, and \
                     the rest of its tasks is dropped",
                    self.id, self.device
                );
                rt.engine.discard(self.queue);
            }
        }
        self.drain(rt);
    }
}

impl Drop for Stream {
    /// The last user of the handle is gone: nobody can add a task any more.
    fn drop(&mut self) {
        if let Ok(rt) = process::runtime() {
            if let Some(gate) = self.gate {
                // Before the gate opens, so that the kept tasks never run.
                rt.engine.abort(self.queue);
                rt.engine.close_signal(gate);
            }
            self.reports.vacate(rt);
            self.host_funcs.vacate(rt);
            rt.engine.close(self.queue);
        }
    }
}

/// aclrtCreateStream, aclrtCreateStreamWithConfig, aclrtCreateStreamV2: in the current context.
pub fn create(rt: &Runtime, priority: u32, flags: u32) -> Result<u64> {
    toprope_engine::fault::reclaim();
    let flags = check_flags(rt, flags)?;
    let context = thread::current(rt)?;
    let handle = open(rt, &context, clamp(priority), flags, false)?;
    listener::tell(rt, handle, listener::CREATED);
    Ok(handle)
}

/// aclrtCreateStreamWithConfig#03, #04: the word is read as signed, so that bit 31 means "below the highest".
pub(crate) fn clamp(priority: u32) -> u32 {
    const HIGHEST: i32 = 0;
    const LOWEST: i32 = 7;
    (priority as i32).clamp(HIGHEST, LOWEST) as u32
}

const KNOWN_FLAGS: u32 = sys::ACL_STREAM_FAST_LAUNCH
    | sys::ACL_STREAM_FAST_SYNC
    | sys::ACL_STREAM_PERSISTENT
    | sys::ACL_STREAM_HUGE
    | sys::ACL_STREAM_CPU_SCHEDULE
    | sys::ACL_STREAM_DEVICE_USE_ONLY;

/// The flags that count. aclrtCreateStreamWithConfig#06, #07: others are ignored.
fn check_flags(rt: &Runtime, flags: u32) -> Result<u32> {
    let known = flags & KNOWN_FLAGS;
    if known & sys::ACL_STREAM_DEVICE_USE_ONLY != 0 {
        if known != sys::ACL_STREAM_DEVICE_USE_ONLY {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtCreateStreamWithConfig#10",
                "flag: {flags:#x} joins ACL_STREAM_DEVICE_USE_ONLY with other flags"
            );
        }
        if rt.profile.product.stream_flags & sys::ACL_STREAM_DEVICE_USE_ONLY == 0 {
            return refuse!(
                sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtCreateStreamWithConfig#11",
                "flag: ACL_STREAM_DEVICE_USE_ONLY is not supported on {}",
                rt.profile.product.key
            );
        }
    }
    Ok(known & rt.profile.product.stream_flags)
}

/// Makes the default stream of a context: highest priority (aclrtCreateStream#07), no flags. Its listeners are told by
/// [`listener::tell_default`], once no lock is held.
pub(crate) fn open_default(rt: &Runtime, context: &Pin<'_, Context>) -> Result<u64> {
    open(rt, context, 0, 0, true)
}

fn open(rt: &Runtime, context: &Pin<'_, Context>, priority: u32, flags: u32, default: bool) -> Result<u64> {
    let limit = rt.profile.product.max_streams;
    let device = &rt.devices[usize::from(context.device)];
    let Some(id) = device.take_stream_id(limit) else { return no_more(rt) };
    let gate =
        if flags & sys::ACL_STREAM_PERSISTENT == 0 { Some(None) } else { rt.engine.open_signal().map(Some) };
    let Some((gate, queue)) =
        gate.and_then(|gate| Some((gate, rt.engine.open(context.device, priority as u8)?)))
    else {
        device.give_stream_id(id);
        return no_more(rt);
    };
    let origin = rt.exceptions.opened(queue, context.device, id);
    let stream = Stream {
        origin,
        queue,
        context: context.handle(),
        device: context.device,
        id,
        flags,
        default,
        priority: AtomicU32::new(priority),
        closed: AtomicU32::new(0),
        settings: attribute::Settings::default(),
        gate,
        reports: Seat::default(),
        host_funcs: Seat::default(),
    };
    stream.shut_gate(rt);
    let handle = rt.streams.insert(stream);
    observer::tell(|o| {
        o.born(Kind::Stream, handle);
        let (context, device) = (context.handle(), context.device);
        o.placed(handle, &Home { queue: queue.0, id, context, device, default, kept: gate.is_some() });
    });
    if !context.adopt(handle) {
        end(rt, handle);
        return refuse!(
            sys::ACL_ERROR_RT_CONTEXT_NULL,
            "*#03",
            "no current context: it was destroyed by another thread during the call"
        );
    }
    // After it is listed in the context: a failure that happens now finds it there, or is seen here.
    if let Some(stream) = rt.streams.pin(handle) {
        sync::inherit_failure_mode(rt, context, &stream);
    }
    Ok(handle)
}

#[cold]
fn no_more<T>(rt: &Runtime) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_NO_STREAM_RESOURCE,
        "aclrtCreateStream#03",
        "all {} streams of the device are in use, default streams included",
        rt.profile.product.max_streams
    )
}

/// aclrtDestroyStream: after its tasks are done.
pub fn destroy(rt: &Runtime, handle: u64) -> Result<()> {
    let stream = doomed(rt, handle, "aclrtDestroyStream#04")?;
    // aclrtDestroyStream#02. Before the handle ends, so that a callback that is waited for can still name the stream.
    stream.drain(rt);
    take_down(rt, &stream)
}

/// aclrtDestroyStreamForce: tasks that have not begun are dropped (#02). ours: a card begins a task when it is enqueued, a worker comes
/// a little later; so what nothing holds back gets a moment first, or programs that launch, destroy and end lose their last kernel.
pub fn destroy_force(rt: &Runtime, handle: u64) -> Result<()> {
    const MOMENT: Duration = Duration::from_millis(20);
    let stream = doomed(rt, handle, "aclrtDestroyStreamForce#03")?;
    if !stream.keeps_tasks() && !stream.closed_for(BROKEN) {
        let _: queue::Waited = rt.engine.wait(stream.mark(rt), Instant::now().checked_add(MOMENT));
    }
    stream.cut_short(rt);
    take_down(rt, &stream)
}

/// The stream of a destroying call.
fn doomed<'a>(rt: &'a Runtime, handle: u64, foreign: &'static str) -> Result<Pin<'a, Stream>> {
    let stream = resolve_in_context(rt, handle, foreign)?;
    if stream.default {
        // ours: no page says what destroying a default stream does; it lives as long as its context.
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "ours: a default stream belongs to its context",
            "stream: stream {} is the default stream of its context and cannot be destroyed",
            stream.id
        );
    }
    sync::not_own(rt, &stream)?;
    Ok(stream)
}

fn take_down(rt: &Runtime, stream: &Pin<'_, Stream>) -> Result<()> {
    if !end(rt, stream.handle()) {
        return Err(invalid(stream.handle()));
    }
    if let Some(context) = rt.contexts.pin(stream.context) {
        context.disown(stream.handle());
    }
    Ok(())
}

/// Ends a handle; the engine's stream closes with the last user. False when it was ended before.
pub(crate) fn end(rt: &Runtime, handle: u64) -> bool {
    // aclrtRegStreamStateCallback#04: before it is destroyed.
    listener::tell(rt, handle, listener::DESTROYED);
    let Some(stream) = rt.streams.remove(handle) else { return false };
    // At once, not with the last user, who may be another thread's look at all streams: the program may create another now.
    if let Some(device) = rt.devices.get(usize::from(stream.device)) {
        device.give_stream_id(stream.id);
    }
    observer::tell(|o| o.died(Kind::Stream, handle));
    true
}

/// Ends all streams of a context, after their tasks are done.
pub(crate) fn end_all(rt: &Runtime, handles: &[u64]) {
    // Streams that keep their tasks first: others may wait for those.
    for keeper in [true, false] {
        for stream in handles.iter().filter_map(|handle| rt.streams.pin(*handle)) {
            if stream.keeps_tasks() == keeper {
                stream.run_out(rt);
            }
        }
    }
    for handle in handles {
        end(rt, *handle);
    }
}

/// The stream that a non-zero handle names; None for 0. *#01: comes before any other check.
#[inline(always)]
pub(crate) fn known(rt: &Runtime, handle: u64) -> Result<Option<Pin<'_, Stream>>> {
    match handle {
        0 => Ok(None),
        _ => match rt.streams.pin(handle) {
            Some(stream) => Ok(Some(stream)),
            None => Err(invalid(handle)),
        },
    }
}

/// What [`known`] found, or else the default stream of the current context (*#04).
#[inline(always)]
pub(crate) fn or_default<'a>(rt: &'a Runtime, known: Option<Pin<'a, Stream>>) -> Result<Pin<'a, Stream>> {
    match known {
        Some(stream) => Ok(stream),
        None => match rt.streams.pin(default_of_current(rt)?) {
            Some(stream) => Ok(stream),
            None => Err(context::no_default_stream(rt)),
        },
    }
}

/// The stream of a handle. *#01: no live stream, 107017. *#04: 0 is the default stream of the current context.
#[inline(always)]
pub fn resolve(rt: &Runtime, handle: u64) -> Result<Pin<'_, Stream>> {
    or_default(rt, known(rt, handle)?)
}

fn default_of_current(rt: &Runtime) -> Result<u64> {
    thread::current(rt)?.default_stream().ok_or_else(|| context::no_default_stream(rt))
}

/// As [`resolve`], for calls that need the stream to belong to the current context: 107003 if it does not.
#[inline]
pub fn resolve_in_context<'a>(rt: &'a Runtime, handle: u64, rule: &'static str) -> Result<Pin<'a, Stream>> {
    let stream = resolve(rt, handle)?;
    in_context(rt, &stream, rule)?;
    Ok(stream)
}

/// As [`resolve_in_context`], for calls that add a task: the stream must still take tasks.
#[inline]
pub fn resolve_own<'a>(rt: &'a Runtime, handle: u64, rule: &'static str) -> Result<Pin<'a, Stream>> {
    let stream = resolve_in_context(rt, handle, rule)?;
    takes_tasks(rt, &stream)?;
    Ok(stream)
}

/// 107003 unless the stream belongs to the current context.
#[inline]
pub(crate) fn in_context(rt: &Runtime, stream: &Stream, rule: &'static str) -> Result<()> {
    if stream.context == thread::current_handle(rt) { Ok(()) } else { foreign(rt, stream, rule) }
}

/// Whether tasks can be added.
#[inline]
pub(crate) fn takes_tasks(rt: &Runtime, stream: &Stream) -> Result<()> {
    if stream.closed.load(Ordering::Relaxed) == 0 { Ok(()) } else { sync::takes_none(rt, stream) }
}

#[cold]
fn invalid(handle: u64) -> Error {
    Error::new(
        sys::ACL_ERROR_RT_INVALID_HANDLE,
        "*#01",
        format!("stream: {}", describe(handle, Kind::Stream)),
    )
}

#[cold]
fn foreign<T>(rt: &Runtime, stream: &Stream, rule: &'static str) -> Result<T> {
    let current = thread::current(rt)?;
    refuse!(
        sys::ACL_ERROR_RT_STREAM_CONTEXT,
        rule,
        "stream: stream {} belongs to context {:#x} of device {}, the thread's current context is {:#x} of device {}",
        stream.id,
        stream.context,
        stream.device,
        current.handle(),
        current.device
    )
}
