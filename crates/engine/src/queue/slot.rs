//! One stream: its queue, its state, and who may touch what.

use super::fifo::{End, Fifo};
use super::line::Line;
use super::policy::Candidate;
use super::state::State;
use super::{Failure, Mark};
use crate::sync::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Mutex, Ordering};
use std::cell::UnsafeCell;

/// The stream has a failure.
pub(crate) const FAILED: u32 = 1;
/// Tasks after a failure are skipped.
pub(crate) const STOP: u32 = 2;

/// What only the stream's owner touches; claim and release of the state word hand it over.
#[derive(Default)]
pub(crate) struct Owner {
    /// Where the next task is.
    pub front: End,
    /// Tasks that are through.
    pub head: u64,
    /// How much of that has been published.
    pub published: u64,
    /// Units of the first task that are done already, when it is a large copy or fill that gave way.
    pub progress: usize,
    /// The same, from its end.
    pub behind: usize,
    /// The first task is a wait that the stream was parked on.
    pub parked: bool,
    /// The probe was told that the first task begins.
    pub told: bool,
}

/// A stream. The first cache line is the producers', the second everyone's, the last the owner's.
#[repr(C, align(64))]
#[derive(Default)]
pub(crate) struct Slot {
    pub fifo: Fifo,
    pub state: State,
    pub line: Line,
    /// FAILED, STOP and [`super::state::ABORT`]. Written under the `failure` lock (ABORT: anywhere), read before each task.
    pub attention: AtomicU32,
    pub priority: AtomicU8,
    /// Set under the producer lock: the slot is given back at the next IDLE.
    pub closing: AtomicBool,
    /// Set under the waiter lock by the watch that took the stream out of its wait; taken by the owner.
    pub timed_out: AtomicBool,
    device: AtomicU32,
    /// Position of the last urgent task.
    pub urgent_at: AtomicU64,
    /// Tasks up to here are dropped if they have not begun.
    pub skip_to: AtomicU64,
    /// What a WAITING stream waits for; a hint, and exact for the parked stream itself.
    waiting_on: AtomicU64,
    failure: Mutex<Option<Failure>>,
    owner: Apart,
}

// 32768 streams that were never used take 12 MiB at most.
const _: () = assert!(size_of::<Slot>() <= 384);

#[repr(align(64))]
#[derive(Default)]
struct Apart(UnsafeCell<Owner>);

// SAFETY: the cell is touched by the owner alone (see `own`).
unsafe impl Sync for Apart {}

impl Slot {
    /// The owner's fields.
    ///
    /// # Safety
    /// The caller has claimed the stream (or holds the producer lock in state IDLE), has not given it back, and holds no
    /// other reference from here.
    #[allow(clippy::mut_from_ref)]
    #[inline]
    pub(crate) unsafe fn own(&self) -> &mut Owner {
        // SAFETY: as promised.
        unsafe { &mut *self.owner.0.get() }
    }

    /// Makes the slot a new stream's.
    pub(crate) fn open(&self, device: u16, priority: u8) {
        self.priority.store(priority, Ordering::Relaxed);
        self.device.store(u32::from(device), Ordering::Relaxed);
    }

    /// Forgets the stream that ended; positions go on.
    pub(crate) fn reset(&self) {
        *self.failure.lock() = None;
        self.attention.store(0, Ordering::Relaxed);
        self.closing.store(false, Ordering::Relaxed);
    }

    pub(crate) fn candidate(&self, stream: u32) -> Candidate {
        Candidate {
            stream,
            device: self.device.load(Ordering::Relaxed) as u16,
            priority: self.priority.load(Ordering::Relaxed),
        }
    }

    /// Whether somebody is waiting for it, or it has an urgent task ahead.
    pub(crate) fn wanted(&self) -> bool {
        self.line.low() != u64::MAX || self.urgent_at.load(Ordering::Relaxed) > self.line.done()
    }

    pub(crate) fn waits_for(&self, mark: Mark) {
        self.waiting_on.store(mark.0, Ordering::Relaxed);
    }

    pub(crate) fn awaited(&self) -> Mark {
        Mark(self.waiting_on.load(Ordering::Relaxed))
    }

    /// Notes a failure; the first one is kept.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock();
        first.get_or_insert(failure);
        self.attention.fetch_or(FAILED, Ordering::Relaxed);
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        *self.failure.lock()
    }

    pub(crate) fn take_failure(&self) -> Option<Failure> {
        // Whoever waited for the task sees its flag: it is set before the position becomes done.
        if self.attention.load(Ordering::Relaxed) & FAILED == 0 {
            return None;
        }
        let mut first = self.failure.lock();
        self.attention.fetch_and(!FAILED, Ordering::Relaxed);
        first.take()
    }

    pub(crate) fn stop_on_failure(&self, stop: bool) {
        if stop {
            self.attention.fetch_or(STOP, Ordering::Relaxed);
        } else {
            self.attention.fetch_and(!STOP, Ordering::Relaxed);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.fifo.clear(&mut self.owner.0.get_mut().front);
    }
}
