//! Streams, signals and the workers that serve them.

use std::ffi::c_void;
use std::time::Instant;

/// A stream of the engine. The caller makes sure that it is not used after [`Engine::close`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(pub u32);

/// A signal of the engine that its owner advances: a counter that streams and hosts can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signal(pub u32);

/// A position of a stream or signal: "done" once the counter has reached it. One 64-bit word (index and position);
/// positions never restart when an index is used again, so a mark of a closed stream reads as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mark(pub u64);

impl Mark {
    /// The mark that is always done.
    pub const NONE: Mark = Mark(0);
}

/// One piece of a stream's work: at most 32 bytes, no allocation except [`Task::Work`]. Addresses are inner ones
/// ([`crate::memory::Space::inner`]); they are read and written when the task runs.
pub enum Task {
    /// Copies `len` bytes.
    Copy { dst: usize, src: usize, len: usize },
    /// Sets `len` bytes.
    Fill { dst: usize, len: usize, byte: u8 },
    /// Sets `count` words.
    Fill32 { dst: usize, count: usize, word: u32 },
    /// Calls a function of the program on a worker.
    Host { func: unsafe extern "C" fn(*mut c_void), arg: *mut c_void },
    /// Waits until `mark` is done; after `timeout_ms` (0: for ever) the stream fails with `code`.
    Wait { mark: Mark, timeout_ms: u32, code: u32 },
    /// Writes the time in nanoseconds (CLOCK_MONOTONIC) to a cell that outlives the task.
    Stamp { cell: *const std::sync::atomic::AtomicU64 },
    /// Advances a signal to a position.
    Advance { mark: Mark },
    /// Fails the stream with `code`.
    Fail { code: u32 },
    /// Anything else.
    Work(Box<Work>),
}

// SAFETY: the addresses are data to the engine; whoever enqueues a task answers for them.
unsafe impl Send for Task {}

/// A task too large or too rare for an inline form.
pub struct Work {
    /// Runs on a worker (`urgent`) or also on a host thread that synchronizes (not `urgent`). An error fails the stream.
    pub run: Box<dyn FnOnce() -> Result<(), u32> + Send>,
    /// About how many nanoseconds it takes.
    pub cost_ns: u64,
    /// Runs code of the program: only ever on a thread of the runtime.
    pub user_code: bool,
}

/// What [`Engine::wait`] saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The mark is done.
    Done,
    /// The deadline came first.
    TimedOut,
}

/// A stream's first failure since it was cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code the task failed with ([`Config::copy_fault_code`] for copies and fills that touch unmapped memory).
    pub code: u32,
    /// Position of the task.
    pub position: u64,
}

/// What the engine tells while it is watched.
pub trait Probe: Send + Sync {
    /// A task begins.
    fn started(&self, stream: Stream, position: u64);
    /// A task ended.
    fn done(&self, stream: Stream, position: u64);
    /// A task failed. Called whether or not the engine is watched, on the thread that ran the task.
    fn failed(&self, stream: Stream, failure: Failure);
}

/// How an engine is set up.
pub struct Config {
    /// Threads of the runtime that are free to serve streams: `cores - 1`, at least 1.
    pub workers: usize,
    /// Most streams that may exist at once.
    pub max_streams: u32,
    /// The code of copies and fills that fault.
    pub copy_fault_code: u32,
    /// Told about tasks.
    pub probe: Box<dyn Probe>,
}

/// The process's streams and workers.
pub struct Engine {
    _todo: (),
}

#[allow(unused_variables)]
impl Engine {
    /// An engine with no thread yet: workers start with the first stream.
    pub fn new(config: Config) -> Engine {
        todo!()
    }
    /// Opens a stream of a device. None when `max_streams` are open.
    pub fn open(&self, device: u16, priority: u8) -> Option<Stream> {
        todo!()
    }
    /// Closes a stream once everything in it has run. Does not block: the stream drains by itself.
    pub fn close(&self, stream: Stream) {
        todo!()
    }
    /// Adds a task; it runs in the stream's order. Returns its position.
    #[inline]
    pub fn push(&self, stream: Stream, task: Task) -> u64 {
        todo!()
    }
    /// The position of the last task added so far.
    #[inline]
    pub fn mark(&self, stream: Stream) -> Mark {
        todo!()
    }
    /// The mark of a position that [`Engine::push`] returned.
    pub fn mark_at(&self, stream: Stream, position: u64) -> Mark {
        todo!()
    }
    /// Whether a mark is done; if not, makes sure that a worker is on its way.
    pub fn query(&self, mark: Mark) -> bool {
        todo!()
    }
    /// Waits for a mark, helping with copies, fills and events on the way.
    pub fn wait(&self, mark: Mark, deadline: Option<Instant>) -> Waited {
        todo!()
    }
    /// The stream's first failure.
    pub fn failure(&self, stream: Stream) -> Option<Failure> {
        todo!()
    }
    /// Takes the stream's first failure: later tasks run again.
    pub fn take_failure(&self, stream: Stream) -> Option<Failure> {
        todo!()
    }
    /// Whether tasks after a failure are skipped (true) or run (false, the default).
    pub fn stop_on_failure(&self, stream: Stream, stop: bool) {
        todo!()
    }
    /// Drops every task that has not begun (their positions become done) and waits for the one that runs.
    pub fn abort(&self, stream: Stream) {
        todo!()
    }
    /// Opens a signal.
    pub fn open_signal(&self) -> Option<Signal> {
        todo!()
    }
    /// The mark of a position of a signal.
    pub fn signal_mark(&self, signal: Signal, position: u64) -> Mark {
        todo!()
    }
    /// Advances a signal to `position` (never back): whoever waits for it or less goes on.
    pub fn advance(&self, signal: Signal, position: u64) {
        todo!()
    }
    /// Closes a signal: every mark of it is done from now on.
    pub fn close_signal(&self, signal: Signal) {
        todo!()
    }
    /// Turns [`Probe::started`] and [`Probe::done`] on or off (one relaxed load per task when off).
    pub fn watch(&self, on: bool) {
        todo!()
    }
    /// Changes the priority of a stream, 0 (highest) to 7: from its next turn on.
    pub fn set_priority(&self, stream: Stream, priority: u8) {
        todo!()
    }
    /// The stream whose function of the program the calling thread runs, if it runs one.
    pub fn running(&self) -> Option<Stream> {
        todo!()
    }
    /// Whether the calling thread is one of the engine's, or runs a function of the program for it.
    pub fn on_worker(&self) -> bool {
        todo!()
    }
}
