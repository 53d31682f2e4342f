//! A counter that streams and hosts wait for: the common part of streams and signals.
//!
//! Two words and a lock. `done` is how far the counter got, `low` the lowest position that anyone waits for. Who
//! publishes stores `done`, fences and loads `low`; who waits stores `low` under the lock, fences and loads `done`:
//! one of the two sees the other.

use super::sleeper::Sleeper;
use crate::sync::{AtomicU64, Ordering, Place, ShortMutex, full_fence, planted};

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// A parked stream; the ticket (the position of its wait task) tells this wait from all other waits of it.
    Stream { index: u32, ticket: u64 },
    /// A host thread that sleeps. The pointee lives on its stack; it takes the lock of the line before it leaves.
    Host(*const Sleeper),
}

struct Waiter {
    position: u64,
    who: Who,
}

// SAFETY: the pointer is followed under the line's lock only, while the sleeper is bound to stay.
unsafe impl Send for Waiter {}

pub(crate) struct Line {
    done: AtomicU64,
    low: AtomicU64,
    waiters: ShortMutex<Vec<Waiter>>,
}

impl Default for Line {
    fn default() -> Self {
        Line { done: AtomicU64::new(0), low: AtomicU64::new(u64::MAX), waiters: ShortMutex::new(Vec::new()) }
    }
}

impl Line {
    #[inline]
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Acquire)
    }

    /// The lowest awaited position, `u64::MAX` when nobody waits; a hint.
    #[inline]
    pub(crate) fn low(&self) -> u64 {
        self.low.load(Ordering::Relaxed)
    }

    /// Publishes a position (single writer). `wake` is called under the lock for each stream whose wait is over and
    /// must take it out of WAITING.
    #[inline]
    pub(crate) fn publish(&self, position: u64, wake: impl FnMut(u32)) {
        self.done.store(position, Ordering::Release);
        full_fence(Place::Publish);
        if self.low() <= position {
            self.wake_all(wake);
        }
    }

    /// As [`Line::publish`] for many writers; never goes back.
    pub(crate) fn advance(&self, position: u64, wake: impl FnMut(u32)) {
        self.done.fetch_max(position, Ordering::AcqRel);
        full_fence(Place::Publish);
        if self.low() <= position {
            self.wake_all(wake);
        }
    }

    /// Counts one up, for many writers.
    pub(crate) fn bump(&self, wake: impl FnMut(u32)) {
        let position = self.done.fetch_add(1, Ordering::AcqRel) + 1;
        full_fence(Place::Publish);
        if self.low() <= position {
            self.wake_all(wake);
        }
    }

    #[cold]
    fn wake_all(&self, mut wake: impl FnMut(u32)) {
        let mut waiters = self.waiters.lock();
        let done = self.done();
        let mut low = u64::MAX;
        waiters.retain(|waiter| {
            if waiter.position > done {
                low = low.min(waiter.position);
                return true;
            }
            match waiter.who {
                Who::Stream { index, .. } => wake(index),
                // SAFETY: an entry is removed under the lock before its sleeper leaves.
                Who::Host(sleeper) => unsafe { (*sleeper).wake() },
            }
            false
        });
        self.low.store(low, Ordering::Relaxed);
    }

    /// Registers a waiter for `position` unless that is done. `commit` runs under the lock once the entry stands
    /// and the position is still not done; when it answers false the entry is taken back. Whether it waits now.
    pub(crate) fn wait(&self, position: u64, who: Who, commit: impl FnOnce() -> bool) -> bool {
        let mut waiters = self.waiters.lock();
        waiters.push(Waiter { position, who });
        if position < self.low() {
            self.low.store(position, Ordering::Relaxed);
        }
        full_fence(Place::Wait);
        if self.done() < position && commit() {
            return true;
        }
        waiters.pop();
        self.low.store(lowest(&waiters), Ordering::Relaxed);
        false
    }

    /// Takes back the entry that `which` recognizes; `found` runs under the lock if it was still there. Whether it was.
    pub(crate) fn cancel(&self, which: impl Fn(Who) -> bool, found: impl FnOnce()) -> bool {
        let mut waiters = self.waiters.lock();
        let Some(at) = waiters.iter().position(|w| which(w.who)) else {
            return false;
        };
        waiters.remove(at);
        self.low.store(lowest(&waiters), Ordering::Relaxed);
        found();
        true
    }

    /// Returns once no waker that took out an entry is still at work.
    pub(crate) fn leave(&self) {
        if !planted(Place::Leave) {
            drop(self.waiters.lock());
        }
    }
}

fn lowest(waiters: &[Waiter]) -> u64 {
    waiters.iter().map(|w| w.position).min().unwrap_or(u64::MAX)
}
