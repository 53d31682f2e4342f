//! Streams that are kept busy, on every product.

use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use ascendcl_sys::{ACL_CALLBACK_BLOCK, aclrtStream};

use super::{Flag, has, once, this_thread};

/// The longest that a busy stream waits for its release: the row failed.
const LONGEST: Duration = Duration::from_secs(20);

/// How long others have time to go wrong before a stream goes on.
const GRACE: Duration = Duration::from_millis(20);

type Shared = Arc<(Mutex<bool>, Condvar)>;

/// A stream in which everything that comes later waits.
pub struct Busy {
    open: Shared,
    passed: Flag,
    /// Serves the stream where there are no host functions.
    server: Option<Server>,
}

struct Server {
    thread: u64,
    /// The stream, as a number.
    stream: usize,
    joins: JoinHandle<()>,
}

fn locked(mutex: &Mutex<bool>) -> MutexGuard<'_, bool> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Busy {
    /// Keeps a stream.
    #[track_caller]
    pub fn new(stream: aclrtStream) -> Busy {
        let (open, passed) = (Shared::default(), Flag::new());
        let (gate, mark) = (Arc::clone(&open), passed.clone());
        let (func, arg) = once(move || {
            let (open, changed) = &*gate;
            let waited = changed.wait_timeout_while(locked(open), LONGEST, |open| !*open);
            drop(waited);
            mark.set();
        });
        if has("aclrtLaunchHostFunc") {
            ok!(aclrtLaunchHostFunc(stream, func, arg));
            return Busy { open, passed, server: None };
        }
        let (tell, told) = channel();
        let done = passed.clone();
        let joins = std::thread::spawn(move || {
            // Nobody hears of it when the row is over.
            let _ = tell.send(this_thread());
            while !done.is() {
                acl!(aclrtProcessReport(100));
            }
        });
        let thread = match told.recv() {
            Ok(thread) => thread,
            Err(_) => panic!("no thread for reports"),
        };
        let server = Some(Server { thread, stream: stream as usize, joins });
        ok!(aclrtSubscribeReport(thread, stream));
        ok!(aclrtLaunchCallback(func, arg, ACL_CALLBACK_BLOCK, stream));
        Busy { open, passed, server }
    }

    /// Whether the stream has gone on.
    pub fn passed(&self) -> bool {
        self.passed.is()
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        let (open, changed) = &*self.open;
        *locked(open) = true;
        changed.notify_all();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.open();
        if let Some(server) = self.server.take() {
            // A panic of its own has been noted.
            let _ = server.joins.join();
            acl!(aclrtUnSubscribeReport(server.thread, super::at(server.stream)));
        }
    }
}

/// Asserts that a call does not wait for a stream, whose earlier tasks are done when this returns.
#[track_caller]
pub fn at_once<T>(stream: aclrtStream, call: impl FnOnce() -> T) -> T {
    let busy = Busy::new(stream);
    let value = call();
    assert!(!busy.passed(), "it waited for the stream");
    drop(busy);
    ok!(aclrtSynchronizeStream(stream));
    value
}

/// Asserts that a call returns after everything that a stream holds. `before` adds to it what `call` must see done.
#[track_caller]
pub fn awaits<T>(stream: aclrtStream, before: impl FnOnce(), call: impl FnOnce() -> T) -> T {
    let busy = Busy::new(stream);
    before();
    let value = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(GRACE);
            busy.open();
        });
        call()
    });
    assert!(busy.passed(), "it did not wait for the stream");
    value
}
