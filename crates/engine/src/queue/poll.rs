//! Waits for a condition: of a word in memory, of a flag of the runtime.
//!
//! The stream parks as in any other wait, on one of a few *bells*: signals that count the rings for all keys that share it. Who
//! changes what a condition is about rings the bell of its key ([`Task::Store`](super::Task::Store) does so by itself), and
//! every stream parked there looks again. A ring that comes between the look and the parking is not lost: the stream waits for
//! the ring after those that it had seen before it looked.
//!
//! Memory also changes without a ring (copies, kernels, the host where it shares the memory). Conditions that say so are
//! looked at by the watch as well, all of them in one go and without touching the streams until an answer changes. The looks
//! are a quarter of the time apart that passed since the newest wait or the last change, at least 20 us and at most 1 ms: that
//! is 1000 short wakes of one thread per second however many streams wait, and no worker is awake for it.

use super::core::Core;
use super::mark::{Mark, Signal};
use crate::fault;
use crate::sync::{Arc, AtomicBool, Mutex, Ordering};
use std::time::{Duration, Instant};

/// What a stream waits for. No method may block.
pub trait Condition: Send + Sync {
    /// Whether the stream goes on; asked by whoever runs it, each time that it gets here. Whatever else shall happen then (a
    /// reset) is done by the call that answers true. An error fails the stream, which goes on.
    ///
    /// # Errors
    /// The code of the failure.
    fn meet(&self) -> Result<bool, u32>;
    /// Whether [`Condition::meet`] is worth another call, asked by the watch. Changes nothing.
    fn look(&self) -> bool {
        false
    }
    /// Whether the answer may change with no ring.
    fn silent(&self) -> bool {
        false
    }
}

/// A wait for a condition.
pub struct Poll {
    condition: Box<dyn Condition>,
    /// What is rung for it: an address, or any number that both sides agree on.
    key: usize,
    /// Milliseconds from the moment the stream gets here, 0 for no limit.
    timeout_ms: u32,
    /// The failure's code when that is over; the stream goes on.
    pub(crate) code: u32,
    /// The watch knows of it.
    listed: AtomicBool,
}

impl Poll {
    /// A wait for `condition`, whose changes ring `key`; after `timeout_ms` (0: for ever) the stream fails with `code`.
    pub fn new(condition: Box<dyn Condition>, key: usize, timeout_ms: u32, code: u32) -> Poll {
        Poll { condition, key, timeout_ms, code, listed: AtomicBool::new(false) }
    }

    pub(crate) fn meet(&self) -> Result<bool, u32> {
        self.condition.meet()
    }

    /// Whether the watch has to know of it.
    fn watched(&self) -> bool {
        self.timeout_ms > 0 || self.condition.silent()
    }
}

/// Bells of an engine: few, since a ring that concerns others costs them a look.
const BELLS: u32 = 64;

/// The bells, opened with the engine.
pub(crate) struct Bells(Vec<Signal>);

impl Bells {
    pub(crate) fn new(open: impl Fn() -> Option<Signal>) -> Bells {
        Bells((0..BELLS).map_while(|_| open()).collect())
    }

    /// Whether it is a ring of one of them.
    pub(crate) fn has(&self, mark: Mark) -> bool {
        self.0.iter().any(|bell| bell.0 == mark.index())
    }

    fn of(&self, key: usize) -> Option<Signal> {
        // Neighbouring words ring different bells.
        let mixed = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.0.get(mixed as usize % self.0.len().max(1)).copied()
    }
}

/// Looks are at least this far apart.
const SOON: Duration = Duration::from_micros(20);
/// And at most.
const LATE: Duration = Duration::from_millis(1);

/// A parked wait. It may be stale, as an alarm may.
struct Parked {
    poll: Arc<Poll>,
    stream: u32,
    /// The position before the wait's: the ticket in the bell's line.
    ticket: u64,
    bell: Mark,
    deadline: Option<Instant>,
}

/// The waits that the watch looks at.
#[derive(Default)]
pub(crate) struct Parks {
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    parked: Vec<Parked>,
    /// When the newest came, or one was met.
    since: Option<Instant>,
    /// They are being looked at, and not in the list meanwhile.
    out: bool,
}

impl Core {
    /// The next ring of a key's bell, as seen now.
    pub(crate) fn next_ring(&self, poll: &Poll) -> Mark {
        let Some(bell) = self.bells.of(poll.key) else {
            return Mark::NONE;
        };
        let rung = self.line(Mark::new(bell.0, 0)).map_or(0, |line| line.done());
        Mark::new(bell.0, rung + 1)
    }

    /// Rings a key's bell; `wake` as in [`super::line::Line::publish`].
    pub(crate) fn ring_with(&self, key: usize, wake: impl FnMut(u32)) {
        if let Some(line) = self.bells.of(key).and_then(|bell| self.line(Mark::new(bell.0, 0))) {
            line.bump(wake);
        }
    }

    /// Rings a key's bell from outside any stream.
    pub(crate) fn ring(&self, key: usize) {
        let (mut any, mut urgent) = (false, false);
        self.ring_with(key, |index| {
            any = true;
            urgent |= self.resume(index);
        });
        if any {
            self.kick(urgent);
        }
    }

    /// Makes a wait known to the watch, once, after its stream has parked.
    pub(crate) fn watch_poll(&self, poll: Arc<Poll>, stream: u32, ticket: u64, bell: Mark) {
        if !poll.watched() || poll.listed.swap(true, Ordering::Relaxed) {
            return;
        }
        let now = Instant::now();
        let limit = Duration::from_millis(poll.timeout_ms.into());
        let deadline = (!limit.is_zero()).then(|| now + limit);
        {
            let mut list = self.parks.list.lock();
            list.parked.push(Parked { poll, stream, ticket, bell, deadline });
            list.since = Some(now);
        }
        fault::nudge();
        self.start_watch();
    }

    /// The waits that the watch knows: stream, position before the wait, and whether a time limit or its condition ends it. None
    /// while the watch looks at them.
    pub(crate) fn parked_waits(&self) -> Option<Vec<(u32, u64, bool)>> {
        let waits: Vec<_> = {
            let list = self.parks.list.lock();
            if list.out {
                return None;
            }
            let of = |wait: &Parked| (wait.stream, wait.ticket, wait.deadline.is_some(), wait.poll.clone());
            list.parked.iter().map(of).collect()
        };
        let of = |(stream, ticket, timed, poll): (u32, u64, bool, Arc<Poll>)| {
            (stream, ticket, timed || poll.condition.look())
        };
        Some(waits.into_iter().map(of).collect())
    }

    /// Looks at the parked waits; how long until the next look, None when there is nothing to look at.
    pub(crate) fn look_at_parked(&self) -> Option<Duration> {
        // The conditions are asked with no lock held.
        let mut parked = {
            let mut list = self.parks.list.lock();
            list.out = !list.parked.is_empty();
            std::mem::take(&mut list.parked)
        };
        if parked.is_empty() {
            return None;
        }
        let now = Instant::now();
        let (mut silent, mut changed) = (false, false);
        let mut next: Option<Instant> = None;
        parked.retain(|wait| {
            let Some(slot) = self.streams.get(wait.stream) else {
                return false;
            };
            if slot.line.done() > wait.ticket {
                return false;
            }
            let late = wait.deadline.is_some_and(|at| now >= at);
            if late || wait.poll.condition.look() {
                changed |= self.resume_parked(wait.bell, wait.stream, wait.ticket, late);
            }
            silent |= wait.poll.condition.silent();
            if let Some(at) = wait.deadline {
                // One that is late and not parked is being looked at by its owner: again soon.
                let at = if late { now + LATE } else { at };
                next = Some(next.map_or(at, |next| next.min(at)));
            }
            true
        });
        let mut list = self.parks.list.lock();
        list.parked.append(&mut parked);
        list.out = false;
        if changed {
            // The next change may well come soon.
            list.since = Some(now);
        }
        let waited = list.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let nap = silent.then(|| (waited / 4).clamp(SOON, LATE));
        let due = next.map(|at| at.saturating_duration_since(now));
        match (nap, due) {
            (Some(nap), Some(due)) => Some(nap.min(due)),
            (nap, due) => nap.or(due),
        }
    }
}
