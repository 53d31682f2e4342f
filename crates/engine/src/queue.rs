//! Streams, signals and the workers that serve them.
//!
//! # States of a stream (one word, [`state`])
//!
//! | from → to | who | how |
//! | --- | --- | --- |
//! | IDLE → QUEUED | whoever adds a task | under the producer lock; then it lists the stream and kicks |
//! | QUEUED → RUNNING | a worker (took it from a list), or a host that waits for it | compare-and-swap; from now on it is the owner |
//! | QUEUED_W → RUNNING | a worker | as above |
//! | RUNNING → IDLE | owner | under the producer lock, only if the queue is empty; a closed stream gives its slot back here |
//! | RUNNING → QUEUED | owner: end of its budget, a higher priority, a helper's target or deadline | position saved and published, store, list, kick |
//! | RUNNING → QUEUED_W | helping host that meets user code | as above, urgent; only workers may claim it |
//! | RUNNING → WAITING | owner that meets an unmet wait | under the waiter lock of the *other* line, after it has registered there |
//! | WAITING → QUEUED | who publishes that position (a ring of a bell counts it up: [`poll`]); the watch, at a deadline or when it sees a condition met; an abort | entry taken out and state changed under that same lock |
//! | RUNNING → QUEUED | the watch, for an owner whose kernel faulted, ran too long or was given up | it finishes the task in the owner's place |
//!
//! A stream that is QUEUED is in a list, or is the private "next" of the worker that unblocked it, which lists it after at
//! most 64 tasks and before anything long. List entries may be stale: a claim that fails drops them.
//!
//! # Orderings
//! Two pairs need a sequentially consistent fence on both sides, since each side writes one place and then reads the
//! other's ([`crate::sync::Place`] names them, `queue/loom.rs` shows that each is needed):
//! - list a stream; **fence**; read the counts of workers — change the counts (spin, poll, park, user code); **fence**;
//!   read the lists' mask ([`park`], [`ready`]);
//! - store `done`; **fence**; read the lowest awaited position — store that; **fence**; read `done` ([`line`]).
//!
//! A third pair, WAITING against the abort flag, is of the same kind. Else: a claim acquires what the last release of the
//! state word or the producer lock published, and that covers everything the owner owns ([`slot::Owner`]). The listed
//! flag is set after the state is QUEUED and cleared before a claim is tried, both by swaps, so that one of the two
//! sees the other. Because IDLE changes only under the producer lock, adding to a busy stream needs no fence.
//! Hints, `Relaxed`: what a WAITING stream waits for, the cost estimates, the spinning workers' `urgent` flag.
//!
//! # Locks, in the order in which they may be taken
//! producer lock of a stream → its failure lock (when a closed stream ends) · waiter lock of a line → policy lock of the
//! lists · watch · parked conditions · seats → a seat's kernels · kernels that have run · members that run on · idle helpers → a helper's job · free seats · free indexes
//! of a table. Those between dots are never held together.
//! No user code runs under a lock, and no system call, except the wake of a sleeping host (its futex word is on its
//! stack, so the waker must be through before it leaves) and the start of the watch.
//!
//! # Failures
//! A stream keeps its first failure until it is taken. Tasks after it run, or are skipped if the stream stops on failure.
//! Skipped and dropped tasks count as done; of those only [`Task::Advance`] and [`Task::Ring`] still take effect.
//!
//! # Shutdown
//! At exit nothing is joined or drained: threads are detached and asleep, or die with the process. [`Engine`]'s drop (for
//! tests) sets a flag, fetches everyone, and threads leave with the last of them freeing the memory; tasks that were never
//! run are dropped. A forked child has none of the threads and must not call in here.
#[cfg(not(loom))]
mod apart;
#[cfg(not(loom))]
mod bulk;
#[cfg(not(loom))]
mod core;
#[cfg(not(loom))]
mod exec;
#[cfg(not(loom))]
mod fifo;
#[cfg(not(loom))]
mod halt;
#[cfg(not(loom))]
mod kernel;
mod line;
#[cfg(all(test, loom))]
mod loom;
mod mark;
#[cfg(not(loom))]
mod op;
mod park;
mod policy;
#[cfg(not(loom))]
mod poll;
mod ready;
#[cfg(not(loom))]
mod signal;
mod sleeper;
#[cfg(not(loom))]
mod slot;
#[cfg(not(loom))]
mod stand;
mod state;
#[cfg(not(loom))]
mod table;
#[cfg(not(loom))]
mod task;
#[cfg(not(loom))]
mod turns;
#[cfg(not(loom))]
mod user;
#[cfg(not(loom))]
mod wait;
#[cfg(not(loom))]
mod watch;
#[cfg(not(loom))]
mod worker;

pub use mark::{Mark, Signal, Stream};
pub use policy::{ByPriority, Candidate, Choice, Policy, Seeded};
#[cfg(not(loom))]
pub use {
    engine::Engine, kernel::Kernel, kernel::Stop, kernel::device_code, kernel::expire, kernel::retire,
    kernel::stand_aside, kernel::widen, poll::Condition, poll::Poll, stand::Stand, stand::Standing,
    task::Moves, task::Task, task::Work,
};

#[cfg(not(loom))]
mod engine;

/// What [`Engine::wait`] saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The mark is done.
    Done,
    /// The deadline came first.
    TimedOut,
}

/// What ends a host thread's wait besides what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Until {
    /// Nothing.
    Done,
    /// A deadline of the program's.
    Deadline,
    /// Its caller's patience with streams that wait for conditions; with others it waits again.
    Patience,
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
    /// A task begins. A task that is skipped or dropped begins and ends as well.
    fn started(&self, stream: Stream, position: u64);
    /// A task ended; called before its position becomes done.
    fn done(&self, stream: Stream, position: u64);
    /// A task failed. Called whether or not the engine is watched, on the thread that ran the task (a kernel that
    /// faulted or was given up: on the thread that took over). Functions of the program are called by [`Engine::callback`].
    fn failed(&self, stream: Stream, failure: Failure);
    /// A host thread has waited for this mark for a while and now sleeps; told while the engine is watched. `inside` are the streams
    /// of whose tasks the program's code on this thread is a part.
    fn sleeps(&self, _mark: Mark, _until: Until, _inside: &[Stream]) {}
    /// It has woken; told by whoever was told of the other.
    fn woke(&self) {}
    /// What messages call a stream.
    fn name(&self, stream: Stream) -> String {
        format!("stream {}", stream.0)
    }
}

/// A probe that listens to nothing.
pub struct Silent;

impl Probe for Silent {
    fn started(&self, _: Stream, _: u64) {}
    fn done(&self, _: Stream, _: u64) {}
    fn failed(&self, _: Stream, _: Failure) {}
}

/// A probe that its maker keeps a hand on.
#[cfg(not(loom))]
impl<P: Probe + ?Sized> Probe for crate::sync::Arc<P> {
    fn started(&self, stream: Stream, position: u64) {
        (**self).started(stream, position);
    }
    fn done(&self, stream: Stream, position: u64) {
        (**self).done(stream, position);
    }
    fn failed(&self, stream: Stream, failure: Failure) {
        (**self).failed(stream, failure);
    }
    fn sleeps(&self, mark: Mark, until: Until, inside: &[Stream]) {
        (**self).sleeps(mark, until, inside);
    }
    fn woke(&self) {
        (**self).woke();
    }
    fn name(&self, stream: Stream) -> String {
        (**self).name(stream)
    }
}

/// How an engine is set up. [`Config::new`] gives the defaults.
pub struct Config {
    /// Threads of the runtime that are free to serve streams: `cores - 1`, at least 1. One more may exist (asleep) and
    /// stands in for a worker that is blocked in user code; others come and go with the callbacks that block.
    pub workers: usize,
    /// Most streams that may exist at once, at most 131072.
    pub max_streams: u32,
    /// The code of copies and fills that fault.
    pub copy_fault_code: u32,
    /// The code of [`Task::Work`] that panics.
    pub panic_code: u32,
    /// The code of user code in [`Task::Work`] that faults.
    pub kernel_fault_code: u32,
    /// Told about tasks.
    pub probe: Box<dyn Probe>,
    /// Decides which ready stream runs next.
    pub policy: Box<dyn Policy>,
}

impl Config {
    /// One worker per processor but one, 2048 streams, first come first served by priority, codes 1, 2 and 3.
    pub fn new(probe: Box<dyn Probe>) -> Config {
        Config {
            workers: processors().saturating_sub(1).max(1),
            max_streams: 2048,
            copy_fault_code: 1,
            panic_code: 2,
            kernel_fault_code: 3,
            probe,
            policy: Box::new(ByPriority::default()),
        }
    }
}

/// Processors that this process may use: the affinity mask's, not the machine's.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
