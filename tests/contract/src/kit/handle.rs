//! Streams, events and contexts; and handles that are none.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ascendcl_sys::{aclrtContext, aclrtEvent, aclrtStream};

use super::has;

/// A stream of the current context, destroyed at the end.
pub struct Stream(aclrtStream);

impl Stream {
    /// A plain one.
    #[track_caller]
    pub fn new() -> Stream {
        let mut stream = null_mut();
        if has("aclrtCreateStream") {
            ok!(aclrtCreateStream(&mut stream));
        } else {
            ok!(aclrtCreateStreamV2(&mut stream, null()));
        }
        assert!(!stream.is_null());
        Stream(stream)
    }

    /// With priority and flags.
    #[track_caller]
    pub fn with(priority: u32, flag: u32) -> Stream {
        Stream(get_first(|stream| acl!(aclrtCreateStreamWithConfig(stream, priority, flag))))
    }

    /// Takes one over.
    pub fn own(stream: aclrtStream) -> Stream {
        Stream(stream)
    }

    /// The handle.
    pub fn h(&self) -> aclrtStream {
        self.0
    }

    /// The handle, for somebody else to destroy.
    pub fn keep(self) -> aclrtStream {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Waits for its work.
    #[track_caller]
    pub fn wait(&self) {
        ok!(aclrtSynchronizeStream(self.0));
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Destroyed already by the row, perhaps.
        acl!(aclrtDestroyStream(self.0));
    }
}

/// An event, destroyed at the end.
pub struct Event(aclrtEvent);

impl Event {
    /// A plain one.
    #[track_caller]
    pub fn new() -> Event {
        Event(get_first(|event| acl!(aclrtCreateEvent(event))))
    }

    /// aclrtCreateEventWithFlag.
    #[track_caller]
    pub fn with(flag: u32) -> Event {
        Event(get_first(|event| acl!(aclrtCreateEventWithFlag(event, flag))))
    }

    /// aclrtCreateEventExWithFlag.
    #[track_caller]
    pub fn ex(flag: u32) -> Event {
        Event(get_first(|event| acl!(aclrtCreateEventExWithFlag(event, flag))))
    }

    /// Takes one over.
    pub fn own(event: aclrtEvent) -> Event {
        Event(event)
    }

    /// The handle.
    pub fn h(&self) -> aclrtEvent {
        self.0
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        acl!(aclrtDestroyEvent(self.0));
    }
}

/// A context of its own, destroyed at the end; the thread's current context stays.
pub struct Context(aclrtContext);

impl Context {
    /// On a device.
    #[track_caller]
    pub fn new(device: i32) -> Context {
        let before = current();
        let context = Context(get_first(|context| acl!(aclrtCreateContext(context, device))));
        if !before.is_null() {
            ok!(aclrtSetCurrentContext(before));
        }
        context
    }

    /// The handle.
    pub fn h(&self) -> aclrtContext {
        self.0
    }

    /// The handle, for somebody else to destroy.
    pub fn keep(self) -> aclrtContext {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Runs `body` with this context current.
    #[track_caller]
    pub fn enter<T>(&self, body: impl FnOnce() -> T) -> T {
        let before = current();
        ok!(aclrtSetCurrentContext(self.0));
        let value = body();
        if !before.is_null() {
            ok!(aclrtSetCurrentContext(before));
        }
        value
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        acl!(aclrtDestroyContext(self.0));
    }
}

/// The current context; null if there is none.
pub fn current() -> aclrtContext {
    let mut context = null_mut();
    acl!(aclrtGetCurrentContext(&mut context));
    context
}

#[track_caller]
fn get_first(call: impl FnOnce(*mut *mut c_void) -> i32) -> *mut c_void {
    let mut value = null_mut();
    super::same("creation", call(&mut value), 0);
    assert!(!value.is_null(), "a null handle");
    value
}

/// A stream that was destroyed.
#[track_caller]
pub fn stale_stream() -> aclrtStream {
    let stream = Stream::new();
    ok!(aclrtDestroyStream(stream.h()));
    stream.h()
}

/// An event that was destroyed.
#[track_caller]
pub fn stale_event() -> aclrtEvent {
    let event = Event::new();
    ok!(aclrtDestroyEvent(event.h()));
    event.h()
}

/// A context that was destroyed.
#[track_caller]
pub fn stale_context() -> aclrtContext {
    let context = Context::new(0);
    ok!(aclrtDestroyContext(context.h()));
    context.h()
}

/// A number that was never a handle.
pub fn invented() -> *mut c_void {
    super::at(0x5_1234_5678)
}

/// Everything that is no stream: destroyed, of another kind, invented, and an address with bytes.
#[track_caller]
pub fn no_streams() -> Vec<aclrtStream> {
    let mut all = vec![stale_stream(), current(), invented(), (&raw const STATIC).cast_mut().cast()];
    if has("aclrtCreateEvent") {
        all.push(stale_event());
    }
    all
}

/// What a call answers for everything that is no stream.
#[track_caller]
pub fn on_no_streams(call: impl Fn(aclrtStream) -> i32) -> Vec<i32> {
    no_streams().into_iter().map(call).collect()
}

/// What a call answers for everything that is no event.
#[track_caller]
pub fn on_no_events(call: impl Fn(aclrtEvent) -> i32) -> Vec<i32> {
    no_events().into_iter().map(call).collect()
}

/// Everything that is no event.
#[track_caller]
pub fn no_events() -> Vec<aclrtEvent> {
    vec![stale_event(), stale_stream(), current(), invented(), (&raw const STATIC).cast_mut().cast()]
}

static STATIC: [u64; 64] = [0; 64];
