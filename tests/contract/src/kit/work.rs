//! Work on streams: host functions from closures, and streams that are held until a row lets them go.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use ascendcl_sys::{aclrtHostFunc, aclrtStream};

/// The longest that a held stream waits for its release: the row failed.
const LONGEST: Duration = Duration::from_secs(20);

unsafe extern "C" fn trampoline(arg: *mut c_void) {
    let body = unsafe { Box::from_raw(arg.cast::<Box<dyn FnOnce() + Send>>()) };
    body();
}

/// A closure as function and argument for C; to be called once. One that is never called leaks, which a test may.
pub fn once(body: impl FnOnce() + Send + 'static) -> (aclrtHostFunc, *mut c_void) {
    let boxed: Box<dyn FnOnce() + Send> = Box::new(body);
    (Some(trampoline), Box::into_raw(Box::new(boxed)).cast())
}

/// Enqueues a closure.
#[track_caller]
pub fn launch(stream: aclrtStream, body: impl FnOnce() + Send + 'static) {
    let (func, arg) = once(body);
    ok!(aclrtLaunchHostFunc(stream, func, arg));
}

/// Keeps streams from going on.
#[derive(Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A shut one.
    pub fn new() -> Gate {
        Gate::default()
    }

    /// Holds a stream: what is enqueued behind waits until [`Gate::open`].
    #[track_caller]
    pub fn hold(&self, stream: aclrtStream) {
        let shared = Arc::clone(&self.0);
        launch(stream, move || {
            let (open, changed) = &*shared;
            if let Ok(open) = open.lock() {
                let _ = changed.wait_timeout_while(open, LONGEST, |open| !*open);
            }
        });
    }

    /// Lets the streams go on.
    pub fn open(&self) {
        if let Ok(mut open) = self.0.0.lock() {
            *open = true;
        }
        self.0.1.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

/// A stream that is held by a new gate.
#[track_caller]
pub fn held(stream: aclrtStream) -> Gate {
    let gate = Gate::new();
    gate.hold(stream);
    gate
}

/// A mark that a task sets.
#[derive(Clone, Default)]
pub struct Flag(Arc<AtomicBool>);

impl Flag {
    /// Not set.
    pub fn new() -> Flag {
        Flag::default()
    }

    /// Sets it.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it is set.
    pub fn is(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Enqueues the setting.
    #[track_caller]
    pub fn after(&self, stream: aclrtStream) {
        let flag = self.clone();
        launch(stream, move || flag.set());
    }
}

/// Waits until `done` holds; false when it does not within the longest time.
pub fn eventually(done: impl Fn() -> bool) -> bool {
    let start = std::time::Instant::now();
    while !done() {
        if start.elapsed() > LONGEST {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Enqueues a task that fails when it runs, with the code that comes back: nothing is where it writes.
#[track_caller]
pub fn fail(stream: aclrtStream) -> i32 {
    ok!(aclrtMemsetAsync(super::unmapped(), 64, 0, 64, stream));
    ascendcl_sys::ACL_ERROR_RT_SYS_DMA
}
