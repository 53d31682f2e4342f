//! Who of the workers is awake: the counts, and how a worker goes to sleep and is fetched.
//!
//! All counts are in one word, so that whoever fetches a sleeping worker moves it to its new count in the same step:
//! a second kick sees that the worker is on its way and does not call the system again. The woken worker takes a
//! permit. Sleepers of a kind are alike: which one takes a permit does not matter.
//!
//! | count | meaning |
//! |---|---|
//! | active | threads that are awake and not in user code, the spinning and polling ones included |
//! | spinning | watch `urgent`, and look at the lists when they begin and end |
//! | polling | sleep 100 to 250 us at a time and look at the lists in between; at most one |
//! | sleeping | in deep park |
//!
//! Nothing listed is forgotten, because each step down (spinning, polling, sleeping, into user code, gone) changes the
//! count, fences and looks at the lists, and each kick comes after the listing, fences and looks at the counts. A kick
//! that finds `workers` active threads leaves it to them: each of them looks again before it steps down. A worker that is tired of cheap
//! work ([`super::worker`]) does not, but it spins then, and urgent kicks leave their word for it.

use crate::sync::{AtomicBool, AtomicU64, Futex, Ordering, Place, full_fence};
use std::time::Duration;

const ACTIVE: u64 = 1;
const SPINNING: u64 = 1 << 16;
const POLLING: u64 = 1 << 32;
const SLEEPING: u64 = 1 << 48;

fn active(counts: u64) -> u64 {
    counts & 0xffff
}

fn spinning(counts: u64) -> u64 {
    (counts >> 16) & 0xffff
}

fn polling(counts: u64) -> u64 {
    (counts >> 32) & 0xffff
}

fn sleeping(counts: u64) -> u64 {
    counts >> 48
}

/// A counting semaphore over a futex.
#[derive(Default)]
struct Permits(Futex);

impl Permits {
    fn grant(&self) {
        self.0.word.fetch_add(1, Ordering::Release);
        self.0.wake_one();
    }

    /// Takes a permit; false after `limit` without one.
    fn take(&self, limit: Option<Duration>) -> bool {
        let mut slept = false;
        loop {
            let seen = self.0.word.load(Ordering::Relaxed);
            if seen > 0 {
                if self.0.word.compare_exchange(seen, seen - 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
                {
                    return true;
                }
            } else if slept && limit.is_some() {
                return false;
            } else {
                self.0.wait(0, limit);
                slept = true;
            }
        }
    }
}

pub(crate) struct Roster {
    counts: AtomicU64,
    /// A hint to spinning workers to look at the lists now.
    urgent: AtomicBool,
    poll: Permits,
    deep: Permits,
    workers: u64,
}

/// What the caller of [`Roster::kick`] must do.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kick {
    Nothing,
    /// Start a thread; it is counted as active already.
    Spawn,
}

/// What a worker that stepped down does now.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    /// It is counted as active (no longer as spinning, polling or sleeping) and looks at the lists.
    Work,
    /// It goes on stepping down.
    On,
    /// It is one too many and ends; it is no longer counted.
    Exit,
}

impl Roster {
    /// Counts for a pool that may have `workers` threads active at once.
    pub(crate) fn new(workers: usize) -> Roster {
        Roster {
            counts: AtomicU64::new(0),
            urgent: AtomicBool::new(false),
            poll: Permits::default(),
            deep: Permits::default(),
            workers: workers.clamp(1, 0x3fff) as u64,
        }
    }

    /// Changes the counts unless `to` answers None; the counts before.
    fn change(&self, to: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let mut seen = self.counts.load(Ordering::Relaxed);
        loop {
            match self.counts.compare_exchange(seen, to(seen)?, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(before) => return Some(before),
                Err(now) => seen = now,
            }
        }
    }

    /// Gets a worker to look at the lists, at once if `urgent`, else whenever one looks anyway. Called after something
    /// was listed, with no lock held.
    #[inline]
    pub(crate) fn kick(&self, urgent: bool) -> Kick {
        full_fence(Place::Enqueue);
        let counts = self.counts.load(Ordering::Relaxed);
        if self.step(counts, urgent).is_none() {
            // Those who are awake look again before they step down, but for what is urgent one that spins would look at once.
            if urgent && !self.urgent.load(Ordering::Relaxed) {
                self.urgent.store(true, Ordering::Release);
            }
            return Kick::Nothing;
        }
        self.fetch(urgent)
    }

    /// The counts after somebody was fetched; None if nobody need be.
    #[inline]
    fn step(&self, c: u64, urgent: bool) -> Option<u64> {
        if spinning(c) > 0 {
            None
        } else if polling(c) > 0 {
            // Not needed if others are awake: it will look anyway.
            (urgent && active(c) - polling(c) < self.workers).then(|| c - POLLING)
        } else if active(c) >= self.workers {
            None
        } else if sleeping(c) > 0 {
            Some(c - SLEEPING + ACTIVE)
        } else {
            Some(c + ACTIVE)
        }
    }

    #[cold]
    fn fetch(&self, urgent: bool) -> Kick {
        match self.change(|c| self.step(c, urgent)) {
            // Somebody else stepped in between: at worst a spinning worker that must be told.
            None => {
                if urgent {
                    self.urgent.store(true, Ordering::Release);
                }
                Kick::Nothing
            }
            Some(c) if polling(c) > 0 => {
                self.poll.grant();
                Kick::Nothing
            }
            Some(c) if sleeping(c) > 0 => {
                self.deep.grant();
                Kick::Nothing
            }
            Some(_) => Kick::Spawn,
        }
    }

    /// Takes back the count of a thread that could not be started.
    pub(crate) fn spawn_failed(&self) {
        self.counts.fetch_sub(ACTIVE, Ordering::Relaxed);
    }

    /// A worker enters user code. The caller looks at the lists then and kicks if there is something.
    #[inline]
    pub(crate) fn enter_user(&self) {
        self.counts.fetch_sub(ACTIVE, Ordering::Relaxed);
        full_fence(Place::Park);
    }

    /// A worker is back from user code. There may be more active threads than `workers` for a while.
    #[inline]
    pub(crate) fn leave_user(&self) {
        self.counts.fetch_add(ACTIVE, Ordering::Relaxed);
    }

    /// A worker that found nothing begins to spin. Work: `pending` saw something.
    pub(crate) fn begin_spin(&self, pending: impl FnOnce() -> bool) -> Down {
        self.counts.fetch_add(SPINNING, Ordering::Relaxed);
        full_fence(Place::Park);
        if pending() { self.end_spin() } else { Down::On }
    }

    /// Whether a worker spins: an urgent kick costs next to nothing then.
    #[inline]
    pub(crate) fn spins(&self) -> bool {
        spinning(self.counts.load(Ordering::Relaxed)) > 0
    }

    /// Whether an urgent kick came that nobody has taken.
    #[inline]
    pub(crate) fn urgent(&self) -> bool {
        self.urgent.load(Ordering::Relaxed)
    }

    /// Whether an urgent kick came; takes it.
    #[inline]
    pub(crate) fn take_urgent(&self) -> bool {
        if !self.urgent() {
            return false;
        }
        self.urgent.store(false, Ordering::Relaxed);
        true
    }

    /// A spinning worker goes to work.
    pub(crate) fn end_spin(&self) -> Down {
        self.counts.fetch_sub(SPINNING, Ordering::Relaxed);
        full_fence(Place::Park);
        Down::Work
    }

    /// A spinning worker becomes the polling one. On: it is now, and calls [`Roster::poll`]. Exit: there is one already,
    /// and nothing changed.
    pub(crate) fn begin_poll(&self) -> Down {
        match self.change(|c| (polling(c) == 0).then(|| c - SPINNING + POLLING)) {
            Some(_) => Down::On,
            None => Down::Exit,
        }
    }

    /// The polling worker looks at the lists and sleeps once, for at most `nap`.
    pub(crate) fn poll(&self, nap: Duration, pending: impl FnOnce() -> bool) -> Down {
        full_fence(Place::Park);
        if pending() {
            return self.end_poll();
        }
        if self.poll.take(Some(nap)) { Down::Work } else { Down::On }
    }

    fn end_poll(&self) -> Down {
        if self.change(|c| (polling(c) > 0).then(|| c - POLLING)).is_none() {
            // A kick has moved this worker already; its permit is here or about to be.
            self.poll.take(None);
        }
        Down::Work
    }

    /// A worker goes into deep park; returns when it was fetched, or must end. `from_poll`: it is the polling one,
    /// else it is spinning.
    pub(crate) fn sleep(&self, from_poll: bool, pending: impl FnOnce() -> bool) -> Down {
        let from = if from_poll { POLLING } else { SPINNING };
        // One thread more than `workers` is kept for the next blocked callback, others go.
        let one_too_many = |c: u64| active(c) + sleeping(c) > self.workers + 1;
        let step = |c: u64| {
            if from_poll && polling(c) == 0 {
                return None;
            }
            let gone = c - from - ACTIVE;
            Some(if one_too_many(c) { gone } else { gone + SLEEPING })
        };
        let Some(before) = self.change(step) else {
            self.poll.take(None);
            return Down::Work;
        };
        full_fence(Place::Park);
        let listed = pending();
        if one_too_many(before) {
            if listed && self.change(|c| (active(c) < self.workers).then(|| c + ACTIVE)).is_some() {
                return Down::Work;
            }
            return Down::Exit;
        }
        // Back at once if something was listed meanwhile, unless enough others are awake, who will look before they
        // sleep. No sleeper left to count down: this one has been fetched.
        let back = |c: u64| (sleeping(c) > 0 && active(c) < self.workers).then(|| c - SLEEPING + ACTIVE);
        if listed && self.change(back).is_some() {
            return Down::Work;
        }
        self.deep.take(None);
        Down::Work
    }

    /// Fetches every worker that sleeps, for the end of the engine.
    pub(crate) fn fetch_all(&self) {
        full_fence(Place::Enqueue);
        while self.change(|c| (polling(c) > 0).then(|| c - POLLING)).is_some() {
            self.poll.grant();
        }
        while self.change(|c| (sleeping(c) > 0).then(|| c - SLEEPING + ACTIVE)).is_some() {
            self.deep.grant();
        }
        self.urgent.store(true, Ordering::Release);
    }

    /// A thread ends although it is awake.
    pub(crate) fn gone(&self) {
        self.counts.fetch_sub(ACTIVE, Ordering::Relaxed);
    }
}
