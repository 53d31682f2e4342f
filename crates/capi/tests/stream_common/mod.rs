//! What the tests of streams, events and callbacks share: holding a stream up, and noting the order in which things happen.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

pub use ascendcl::callback::*;
pub use ascendcl::context::*;
pub use ascendcl::device::*;
pub use ascendcl::event::*;
pub use ascendcl::stream::*;
pub use ascendcl_sys as sys;
pub use sys::{aclrtContext, aclrtEvent, aclrtStream};

/// Calls a function of the C interface.
macro_rules! acl {
    ($call:expr) => {{
        // SAFETY: the test passes valid pointers, or exactly the invalid ones that it tests.
        unsafe { $call }
    }};
}

/// Calls a function that must succeed.
macro_rules! ok {
    ($call:expr) => {{
        let code = acl!($call);
        assert_eq!(code, 0, "{}: {}", stringify!($call), $crate::stream_common::why());
    }};
}

/// Calls a function that must answer a code.
macro_rules! refused {
    ($code:ident, $call:expr) => {{
        let code = acl!($call);
        assert_eq!(code, $crate::stream_common::sys::$code, "{}", stringify!($call));
    }};
}

/// The runtime's own explanation of the last failure.
pub fn why() -> String {
    let text = toprope_runtime::error::recent();
    if text.is_null() {
        return "no message".to_owned();
    }
    // SAFETY: a C string that lives until the next call.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Sets the calling thread's device.
pub fn device(id: i32) {
    ok!(aclrtSetDevice(id));
}

pub fn context(id: i32) -> aclrtContext {
    let mut context = null_mut();
    ok!(aclrtCreateContext(&mut context, id));
    context
}

pub fn stream() -> aclrtStream {
    stream_with(0, 0)
}

pub fn stream_with(priority: u32, flags: u32) -> aclrtStream {
    let mut stream = null_mut();
    ok!(aclrtCreateStreamWithConfig(&mut stream, priority, flags));
    assert!(!stream.is_null());
    stream
}

pub fn event() -> aclrtEvent {
    let mut event = null_mut();
    ok!(aclrtCreateEvent(&mut event));
    event
}

pub fn event_with(flags: u32) -> aclrtEvent {
    let mut event = null_mut();
    ok!(aclrtCreateEventWithFlag(&mut event, flags));
    event
}

pub fn event_ex(flags: u32) -> aclrtEvent {
    let mut event = null_mut();
    ok!(aclrtCreateEventExWithFlag(&mut event, flags));
    event
}

/// A handle that can be moved to another thread.
#[derive(Clone, Copy)]
pub struct Sent(pub *mut c_void);

// SAFETY: a handle is a number.
unsafe impl Send for Sent {}

impl Sent {
    pub fn get(self) -> *mut c_void {
        self.0
    }
}

/// Adds a function to a stream.
pub fn launch(stream: aclrtStream, body: impl FnOnce() + Send + 'static) {
    let (func, arg) = closure(body);
    ok!(aclrtLaunchHostFunc(stream, func, arg));
}

/// A closure as function and word of the C interface; it must be called once.
pub fn closure(
    body: impl FnOnce() + Send + 'static,
) -> (Option<unsafe extern "C" fn(*mut c_void)>, *mut c_void) {
    unsafe extern "C" fn run(arg: *mut c_void) {
        // SAFETY: the word made below, called once.
        let body = unsafe { Box::from_raw(arg.cast::<Box<dyn FnOnce() + Send>>()) };
        body();
    }
    let body: Box<dyn FnOnce() + Send> = Box::new(body);
    (Some(run), Box::into_raw(Box::new(body)).cast())
}

/// The order in which things happened.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u32>>>);

impl Log {
    /// Adds a task that notes `number`.
    pub fn task(&self, stream: aclrtStream, number: u32) {
        let log = self.clone();
        launch(stream, move || log.note(number));
    }

    pub fn note(&self, number: u32) {
        self.0.lock().unwrap().push(number);
    }

    pub fn get(&self) -> Vec<u32> {
        self.0.lock().unwrap().clone()
    }

    pub fn position(&self, number: u32) -> usize {
        let log = self.get();
        log.iter().position(|n| *n == number).unwrap_or_else(|| panic!("{number} is not in {log:?}"))
    }
}

/// Something that threads wait for. Gives up after a while, so that a broken runtime fails a test instead of hanging it.
#[derive(Clone, Default)]
pub struct Latch(Arc<(Mutex<bool>, Condvar)>);

impl Latch {
    pub fn new() -> Latch {
        Latch::default()
    }

    pub fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    pub fn is_open(&self) -> bool {
        *self.0.0.lock().unwrap()
    }

    /// Whether it opened.
    pub fn wait(&self) -> bool {
        let open = self.0.0.lock().unwrap();
        let (open, _) = self.0.1.wait_timeout_while(open, Duration::from_secs(20), |open| !*open).unwrap();
        *open
    }
}

/// Keeps a stream busy until it is let go.
pub struct Hold {
    go: Latch,
    begun: Latch,
}

impl Hold {
    pub fn on(stream: aclrtStream) -> Hold {
        let hold = Hold { go: Latch::new(), begun: Latch::new() };
        let (go, begun) = (hold.go.clone(), hold.begun.clone());
        launch(stream, move || {
            begun.open();
            go.wait();
        });
        hold
    }

    /// Returns once the stream is in the task.
    pub fn begun(&self) {
        assert!(self.begun.wait(), "the task did not begin");
    }

    pub fn release(&self) {
        self.go.open();
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.release();
    }
}

/// Adds a wait to `stream` that runs out of time, and returns once it did: with this the stream has failed.
pub fn fail(stream: aclrtStream) {
    let other = self::stream();
    let hold = Hold::on(other);
    let event = self::event();
    ok!(aclrtRecordEvent(event, other));
    ok!(aclrtStreamWaitEventWithTimeout(stream, event, 1));
    assert!(eventually(|| complete(stream)), "the wait did not run out of time");
    hold.release();
    ok!(aclrtDestroyEvent(event));
}

/// aclrtStreamQuery.
pub fn complete(stream: aclrtStream) -> bool {
    let mut status = 77;
    ok!(aclrtStreamQuery(stream, &mut status));
    assert!(status == sys::ACL_STREAM_STATUS_COMPLETE || status == sys::ACL_STREAM_STATUS_NOT_READY);
    status == sys::ACL_STREAM_STATUS_COMPLETE
}

/// Whether a condition comes true within a generous time.
pub fn eventually(condition: impl Fn() -> bool) -> bool {
    for _ in 0..20_000 {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}
