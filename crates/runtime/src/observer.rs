//! The words in which the runtime tells what happens. The checker and the timeline are built on them; with nobody
//! listening they cost one relaxed load per call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use toprope_engine::memory::Block;
use toprope_engine::queue::{Failure, Mark, Stream, Until};

use crate::error::Error;
use crate::generated::api::Api;
use crate::handle::Kind;

/// Bytes `[start, start + len)`, as the program addresses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: usize,
    /// Length in bytes.
    pub len: usize,
}

/// A task that was added to a stream.
#[derive(Clone, Copy, Debug)]
pub struct Enqueued<'a> {
    /// The call that added it.
    pub api: Api,
    /// The stream's handle.
    pub stream: u64,
    /// Where it stands in the stream.
    pub mark: Mark,
    /// What it will read.
    pub reads: &'a [Range],
    /// What it will write.
    pub writes: &'a [Range],
}

/// What a stream is, for an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The engine's index.
    pub queue: u32,
    /// What aclrtStreamGetId answers.
    pub id: i32,
    /// Handle of its context.
    pub context: u64,
    /// The program's id of its device.
    pub device: u16,
    /// The default stream of its context.
    pub default: bool,
    /// It keeps its tasks (PERSISTENT): none of them runs by itself.
    pub kept: bool,
}

/// What a thread sleeps for.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    /// What ends it; None: a callback that is due for the thread.
    pub mark: Option<Mark>,
    /// What else does.
    pub until: Until,
    /// The streams of whose tasks the program's code on this thread is a part.
    pub inside: &'a [Stream],
}

/// Everything that can be told. Calls come on the thread where the thing happens; an observer may be called by many
/// threads at once, must not call back into the runtime, and must not block for long.
#[allow(unused_variables)]
pub trait Observer: Send + Sync {
    /// A call begins on this thread.
    fn call(&self, api: Api) {}
    /// It ends.
    fn returned(&self, api: Api, error: Option<&Error>) {}
    /// A task was added to a stream.
    fn enqueued(&self, task: &Enqueued<'_>) {}
    /// A task is about to be added by `push`, which gives its place; `task` has none yet. An observer that must see the tasks of a
    /// stream in their order, and before they begin, calls `push` under a lock of its own, which [`Observer::started`] and
    /// [`Observer::done`] take too.
    fn enqueue(&self, task: &Enqueued<'_>, push: &mut dyn FnMut() -> Mark) {
        let mark = push();
        self.enqueued(&Enqueued { mark, ..*task });
    }
    /// The task that this thread adds next records this notify, or waits for it.
    fn about(&self, notify: u64) {}
    /// Memory was read and written by the call itself, before it returns.
    fn accessed(&self, api: Api, reads: &[Range], writes: &[Range]) {}
    /// A task begins. `stream` is the engine's index.
    fn started(&self, stream: u32, position: u64) {}
    /// A task is done.
    fn done(&self, stream: u32, position: u64) {}
    /// A task failed.
    fn failed(&self, stream: u32, failure: Failure) {}
    /// An event took a snapshot of a stream.
    fn recorded(&self, event: u64, stream: u64, mark: Mark) {}
    /// A stream will wait for a snapshot, in its task `at`. An event that was never recorded has none ([`Mark::NONE`], twice):
    /// the stream will not wait.
    fn waits(&self, stream: u64, event: u64, mark: Mark, at: Mark) {}
    /// Once the stream is past `at`, the event counts as not recorded.
    fn reset(&self, event: u64, stream: u64, at: Mark) {}
    /// The callback that this thread adds next holds its stream up until it has returned: the place of the wait is told.
    fn holds_up(&self) {}
    /// A callback that held up the stream of this mark has returned, on the calling thread.
    fn called_back(&self, after: Mark) {}
    /// The calling thread is ordered after a mark: a synchronize returned, or a query said "complete".
    fn host_ordered(&self, mark: Mark) {}
    /// The calling thread has waited for a while and now sleeps. Short waits are not told.
    fn waiting(&self, what: &Waiting<'_>) {}
    /// It has woken.
    fn waited(&self) {}
    /// A block came to be.
    fn allocated(&self, block: &Block) {}
    /// A block is gone.
    fn freed(&self, block: &Block) {}
    /// Nothing keeps this host memory of the program alive any more, says the language module that gave its address out
    /// ([`sys::ABANDONED`](ascendcl_sys::ABANDONED)). From now on it may be reused at any time; where this thread's next call has an
    /// address in it, and `next` is true, that is still the memory meant here.
    fn abandoned(&self, range: Range, next: bool) {}
    /// A handle came to be.
    fn born(&self, kind: Kind, handle: u64) {}
    /// Where a new stream belongs.
    fn placed(&self, stream: u64, home: &Home) {}
    /// A call was given a handle that is none, or none any more; it answers an error.
    fn stale(&self, handle: u64, wanted: Kind) {}
    /// A free function was given an address where nothing lies that it can free; it answers an error.
    fn not_freed(&self, addr: usize) {}
    /// A handle ended.
    fn died(&self, kind: Kind, handle: u64) {}
    /// The calling thread now works in this context (0: none) of this device.
    fn bound(&self, context: u64, device: Option<u16>) {}
}

/// Listens to nothing.
pub struct Nobody;

impl Observer for Nobody {}

static WATCHED: AtomicBool = AtomicBool::new(false);
static OBSERVER: OnceLock<Box<dyn Observer>> = OnceLock::new();

/// Whether somebody listens.
#[inline(always)]
pub fn watched() -> bool {
    WATCHED.load(Ordering::Relaxed)
}

/// Who listens.
#[cold]
pub fn get() -> &'static dyn Observer {
    match OBSERVER.get() {
        Some(observer) => &**observer,
        None => &Nobody,
    }
}

/// Tells the observer, if there is one.
#[inline(always)]
pub fn tell(what: impl FnOnce(&dyn Observer)) {
    if watched() {
        what(get());
    }
}

/// Adds a task with `push` and tells of it.
#[inline(always)]
pub fn enqueue(
    api: Api,
    stream: u64,
    reads: &[Range],
    writes: &[Range],
    push: impl FnOnce() -> Mark,
) -> Mark {
    if watched() { enqueue_watched(api, stream, reads, writes, push) } else { push() }
}

#[cold]
fn enqueue_watched(
    api: Api,
    stream: u64,
    reads: &[Range],
    writes: &[Range],
    push: impl FnOnce() -> Mark,
) -> Mark {
    let mut push = Some(push);
    let mut mark = Mark::NONE;
    get().enqueue(&Enqueued { api, stream, mark, reads, writes }, &mut || {
        if let Some(push) = push.take() {
            mark = push();
        }
        mark
    });
    // An observer that never called it must not lose the task.
    push.map_or(mark, |push| push())
}

/// Sets the process's observer; the first one stays.
pub fn observe(observer: Box<dyn Observer>) {
    if OBSERVER.set(observer).is_ok() {
        WATCHED.store(true, Ordering::Release);
    }
}
