//! Streams: chapter 06.

use std::sync::Arc;

use ascendcl_sys as sys;
use toprope_engine::queue::{self, Mark, Task};

use crate::context::{self, Context};
use crate::error::Result;
use crate::exception::Origin;
use crate::handle::{Kind, Pin, describe};
use crate::process::{self, Runtime};
use crate::{observer, refuse, thread};

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
    /// 0 (highest) to 7.
    pub priority: u32,
    /// `ACL_STREAM_…` bits as they count.
    pub flags: u32,
    /// The default stream of its context.
    pub default: bool,
    /// For whoever reports a task that failed.
    origin: Arc<Origin>,
}

impl Stream {
    /// Everything that was added so far.
    #[inline]
    pub fn mark(&self, rt: &Runtime) -> Mark {
        rt.engine.mark(self.queue)
    }

    /// Adds a task.
    #[inline]
    pub fn push(&self, rt: &Runtime, task: Task) -> u64 {
        self.origin.submit();
        rt.engine.push(self.queue, task)
    }
}

impl Drop for Stream {
    /// The last user of the handle is gone: nobody can add a task any more.
    fn drop(&mut self) {
        if let Ok(rt) = process::runtime() {
            rt.engine.close(self.queue);
            if let Some(device) = rt.devices.get(usize::from(self.device)) {
                device.give_stream_id(self.id);
            }
        }
    }
}

/// Makes the default stream of a context.
pub(crate) fn open_default(rt: &Runtime, context: &Pin<'_, Context>) -> Result<u64> {
    open(rt, context, 0, 0, true)
}

fn open(rt: &Runtime, context: &Pin<'_, Context>, priority: u32, flags: u32, default: bool) -> Result<u64> {
    let limit = rt.profile.product.max_streams;
    let device = &rt.devices[usize::from(context.device)];
    let Some(id) = device.take_stream_id(limit) else { return no_more(limit) };
    let Some(queue) = rt.engine.open(context.device, priority as u8) else {
        device.give_stream_id(id);
        return no_more(limit);
    };
    let origin = rt.exceptions.opened(queue, context.device, id);
    let stream = Stream {
        origin,
        queue,
        context: context.handle(),
        device: context.device,
        id,
        priority,
        flags,
        default,
    };
    let handle = rt.streams.insert(stream);
    observer::tell(|o| o.born(Kind::Stream, handle));
    if !context.adopt(handle) {
        end(rt, handle);
        return refuse!(
            sys::ACL_ERROR_RT_CONTEXT_NULL,
            "*#03",
            "no current context: it was destroyed by another thread during the call"
        );
    }
    Ok(handle)
}

fn no_more<T>(limit: u32) -> Result<T> {
    // ours: no page names the code of exhaustion; this is the one that says it.
    refuse!(
        sys::ACL_ERROR_RT_NO_STREAM_RESOURCE,
        "ours: streams exhausted",
        "all {limit} streams of the device are in use"
    )
}

/// Ends a handle; the engine's stream closes with the last user. False when it was ended before.
pub(crate) fn end(rt: &Runtime, handle: u64) -> bool {
    let ended = rt.streams.remove(handle).is_some();
    if ended {
        observer::tell(|o| o.died(Kind::Stream, handle));
    }
    ended
}

/// The stream of a handle. *#01: no live stream, 107017. *#04: 0 is the default stream of the current context.
#[inline]
pub fn resolve(rt: &Runtime, handle: u64) -> Result<Pin<'_, Stream>> {
    if handle == 0 {
        return default_of_current(rt);
    }
    match rt.streams.pin(handle) {
        Some(stream) => Ok(stream),
        None => invalid(handle),
    }
}

fn default_of_current(rt: &Runtime) -> Result<Pin<'_, Stream>> {
    let context = thread::current(rt)?;
    match context.default_stream().and_then(|stream| rt.streams.pin(stream)) {
        Some(stream) => Ok(stream),
        None => context::no_default_stream(rt),
    }
}

/// As [`resolve`], for calls that need the stream to belong to the current context: 107003 if it does not.
#[inline]
pub fn resolve_own<'a>(rt: &'a Runtime, handle: u64, rule: &'static str) -> Result<Pin<'a, Stream>> {
    let stream = resolve(rt, handle)?;
    let current = thread::current_handle(rt);
    if stream.context == current { Ok(stream) } else { foreign(rt, &stream, rule) }
}

#[cold]
fn invalid<T>(handle: u64) -> Result<T> {
    refuse!(sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01", "stream: {}", describe(handle, Kind::Stream))
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
