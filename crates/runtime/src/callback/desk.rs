//! Mailboxes of subscribed threads.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ascendcl_sys as sys;
use parking_lot::{Condvar, Mutex};
use toprope_engine::queue::{self, Mark, Until};

use super::Callback;
use crate::error::Result;
use crate::observer::{self, Waiting};
use crate::process::Runtime;
use crate::refuse;

/// Most threads that may be subscribed at once. aclrtSubscribeReport#05
const MOST_THREADS: usize = 1024;
/// How long a thread waits before the observer is told.
const LONG: Duration = Duration::from_millis(100);

/// The subscribed threads of a process.
#[derive(Default)]
pub struct Desk {
    mailboxes: Mutex<HashMap<u64, Arc<Mailbox>>>,
}

/// A word of the program, passed on as it is.
pub(super) struct Word(pub *mut c_void);

// SAFETY: it is never dereferenced here; the program gave it to be handed to its callback on another thread.
unsafe impl Send for Word {}

/// A callback that is due.
pub(super) struct Report {
    pub func: Callback,
    pub arg: Word,
    pub queue: queue::Stream,
    /// The callback runs after this.
    pub after: Mark,
    /// What opens when it has returned.
    pub gate: Option<Mark>,
    pub live: Arc<AtomicBool>,
}

/// Callbacks that wait for one thread.
pub(super) struct Mailbox {
    thread: u64,
    device: u16,
    inner: Mutex<Inner>,
    arrived: Condvar,
}

struct Inner {
    due: VecDeque<Report>,
    /// Streams that the thread is subscribed for. At 0 the mailbox is closed; a later subscription makes a new one.
    streams: usize,
}

impl Desk {
    /// Subscribes a thread for one more stream of a device.
    pub(super) fn join(
        &self,
        thread: u64,
        device: u16,
        devices: &'static str,
        threads: &'static str,
    ) -> Result<Arc<Mailbox>> {
        let mut mailboxes = self.mailboxes.lock();
        if let Some(mailbox) = mailboxes.get(&thread) {
            let mut inner = mailbox.inner.lock();
            if inner.streams != 0 {
                if mailbox.device != device {
                    return refuse!(
                        sys::ACL_ERROR_RT_THREAD_SUBSCRIBE,
                        devices,
                        "threadId: thread {thread} serves streams of device {}, the stream is of device {device}",
                        mailbox.device
                    );
                }
                inner.streams += 1;
                drop(inner);
                return Ok(mailbox.clone());
            }
        }
        if mailboxes.len() >= MOST_THREADS {
            mailboxes.retain(|_, mailbox| mailbox.inner.lock().streams != 0);
        }
        if mailboxes.len() >= MOST_THREADS {
            return refuse!(
                sys::ACL_ERROR_RT_OVER_LIMIT,
                threads,
                "threadId: {MOST_THREADS} threads are subscribed already"
            );
        }
        let inner = Mutex::new(Inner { due: VecDeque::new(), streams: 1 });
        let mailbox = Arc::new(Mailbox { thread, device, inner, arrived: Condvar::new() });
        mailboxes.insert(thread, mailbox.clone());
        Ok(mailbox)
    }

    /// Threads for which callbacks are due.
    pub(crate) fn due(&self) -> Vec<u64> {
        let mailboxes = self.mailboxes.lock();
        let due = mailboxes.values().filter(|mailbox| !mailbox.inner.lock().due.is_empty());
        due.map(|mailbox| mailbox.thread).collect()
    }

    /// The mailbox of a subscribed thread.
    pub(super) fn mailbox(&self, thread: u64) -> Option<Arc<Mailbox>> {
        let mailbox = self.mailboxes.lock().get(&thread)?.clone();
        let open = mailbox.inner.lock().streams != 0;
        open.then_some(mailbox)
    }
}

impl Mailbox {
    /// The thread's number.
    pub fn thread(&self) -> u64 {
        self.thread
    }

    /// Ends the subscription for one stream.
    pub fn leave(&self) {
        let mut inner = self.inner.lock();
        inner.streams -= 1;
        if inner.streams == 0 {
            inner.due.clear();
            // ours: a thread that waits is told, instead of being left for ever.
            self.arrived.notify_all();
        }
    }

    /// Puts a callback in.
    pub fn post(&self, report: Report) {
        let mut inner = self.inner.lock();
        if inner.streams != 0 {
            inner.due.push_back(report);
            self.arrived.notify_one();
        }
    }

    /// Takes all that is due; waits up to `limit` for the first.
    pub fn due(
        &self,
        rt: &Runtime,
        limit: Option<Duration>,
        stranger: &'static str,
    ) -> Result<VecDeque<Report>> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        // Short waits are not told.
        let long = observer::watched().then(|| Instant::now() + LONG);
        let mut inner = self.inner.lock();
        loop {
            if inner.streams == 0 {
                return refuse!(
                    sys::ACL_ERROR_RT_THREAD_SUBSCRIBE,
                    stranger,
                    "this thread's last subscription ended during the call"
                );
            }
            if !inner.due.is_empty() {
                return Ok(std::mem::take(&mut inner.due));
            }
            let told = long.is_some_and(|long| Instant::now() >= long);
            let until = match (deadline, long) {
                (Some(deadline), Some(long)) if !told => Some(deadline.min(long)),
                (None, long) if !told => long,
                (deadline, _) => deadline,
            };
            if told {
                tell_waiting(rt, deadline.is_some());
            }
            match until {
                None => self.arrived.wait(&mut inner),
                Some(until) => _ = self.arrived.wait_until(&mut inner, until),
            }
            if told {
                observer::tell(|o| o.waited());
            }
            if inner.due.is_empty() && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return refuse!(
                    sys::ACL_ERROR_RT_REPORT_TIMEOUT,
                    "aclrtProcessReport#04",
                    "no callback was due in time"
                );
            }
        }
    }
}

#[cold]
fn tell_waiting(rt: &Runtime, limited: bool) {
    let until = if limited { Until::Deadline } else { Until::Done };
    let inside = rt.engine.inside();
    observer::tell(|o| o.waiting(&Waiting { mark: None, until, inside: &inside }));
}
