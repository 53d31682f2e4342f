//! The words in which the runtime tells what happens. The checker and the timeline are built on them; with nobody
//! listening they cost one relaxed load per call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use toprope_engine::memory::Block;
use toprope_engine::queue::{Failure, Mark};

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
    /// A stream will wait for a snapshot.
    fn waits(&self, stream: u64, event: u64, mark: Mark) {}
    /// The calling thread is ordered after a mark: a synchronize returned, or a query said "complete".
    fn host_ordered(&self, mark: Mark) {}
    /// A block came to be.
    fn allocated(&self, block: &Block) {}
    /// A block is gone.
    fn freed(&self, block: &Block) {}
    /// Nothing keeps this host memory of the program alive any more, says the language module that gave its address out
    /// ([`sys::ABANDONED`](ascendcl_sys::ABANDONED)). It may be reused at any time.
    fn abandoned(&self, range: Range) {}
    /// A handle came to be.
    fn born(&self, kind: Kind, handle: u64) {}
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

/// Sets the process's observer; the first one stays.
pub fn observe(observer: Box<dyn Observer>) {
    if OBSERVER.set(observer).is_ok() {
        WATCHED.store(true, Ordering::Release);
    }
}
