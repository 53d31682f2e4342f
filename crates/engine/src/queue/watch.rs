//! The watch: one thread, started with the first timed wait that really parks, the first parked condition or the first
//! kernel. It sleeps until the earliest deadline, the next look at the conditions ([`super::poll`]) or the next fault, takes
//! streams out of waits whose time is over or whose condition is met, and takes over from workers whose kernels have faulted or take too long.

use super::core::{Core, monotonic_ns};
use super::mark::Mark;
use super::worker;
use crate::fault;
use crate::sync::{Arc, AtomicU64, Mutex, Ordering};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::time::{Duration, Instant};

/// Sleep without a deadline.
const LONG: Duration = Duration::from_secs(3600);
/// Alarms up to this number are never looked through for stale ones.
const FEW: usize = 256;

/// A deadline. It may be stale: the ticket tells whether the stream still is in that very wait.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Alarm {
    at: Instant,
    stream: u32,
    ticket: u64,
    mark: u64,
}

#[derive(Default)]
struct Inner {
    alarms: BinaryHeap<Reverse<Alarm>>,
    /// Above this number stale alarms are dropped.
    purge_at: usize,
    running: bool,
    stop: bool,
}

pub(crate) struct Watch {
    inner: Mutex<Inner>,
    /// When the watch looks around by itself, in nanoseconds of the monotonic clock; `u64::MAX` while it looks. Whoever begins
    /// something that ends earlier nudges it: it stores that first and then reads this, the watch does it the other way round.
    until: AtomicU64,
    /// The earliest end of those that nudged it, until that is past; `u64::MAX` for none. What ended sooner may have been over when
    /// the watch came to look, and the next one like it would nudge again: at every launch of an empty kernel.
    announced: AtomicU64,
}

impl Default for Watch {
    fn default() -> Watch {
        let never = || AtomicU64::new(u64::MAX);
        Watch { inner: Mutex::default(), until: never(), announced: never() }
    }
}

impl Watch {
    /// Something has begun that the watch has to end at that time, in nanoseconds of the monotonic clock. It was made known to the
    /// watch before, with a full fence in between.
    #[inline]
    pub(crate) fn begun(&self, at: u64) {
        if at < self.until.load(Ordering::SeqCst) {
            self.announced.fetch_min(at, Ordering::Relaxed);
            fault::nudge();
        }
    }

    /// When to look around at the latest because of what was announced; forgets it when it is past.
    fn expected(&self, now: u64) -> u64 {
        let mut at = self.announced.load(Ordering::Relaxed);
        while at <= now {
            match self.announced.compare_exchange(at, u64::MAX, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return u64::MAX,
                Err(earlier) => at = earlier,
            }
        }
        at
    }

    /// Streams and tickets of all alarms, stale ones among them.
    pub(crate) fn alarmed(&self) -> HashSet<(u32, u64)> {
        let inner = self.inner.lock();
        inner.alarms.iter().map(|Reverse(alarm)| (alarm.stream, alarm.ticket)).collect()
    }
}

impl Core {
    /// Wakes `stream` at `at` if it then still waits for `mark` with that ticket. Called after the stream has parked: an
    /// alarm for a wait that is over already does nothing.
    pub(crate) fn set_alarm(&self, at: Instant, stream: u32, ticket: u64, mark: Mark) {
        let first = {
            let mut watch = self.watch.inner.lock();
            if watch.alarms.len() >= watch.purge_at.max(FEW) {
                watch.alarms.retain(|Reverse(alarm)| !self.stale(alarm));
                watch.purge_at = watch.alarms.len() * 2;
            }
            let first = watch.alarms.peek().is_none_or(|Reverse(earliest)| at < earliest.at);
            watch.alarms.push(Reverse(Alarm { at, stream, ticket, mark: mark.0 }));
            first
        };
        if first {
            fault::nudge();
        }
        self.start_watch();
    }

    /// A hint: the stream is past that wait. One that is found current by mistake is only kept longer.
    fn stale(&self, alarm: &Alarm) -> bool {
        self.streams.get(alarm.stream).is_none_or(|slot| slot.line.done() > alarm.ticket)
    }

    /// Starts the thread if it does not run.
    pub(crate) fn start_watch(&self) {
        let mut watch = self.watch.inner.lock();
        if !watch.running {
            watch.running = worker::spawn_thread(self, "toprope-watch".to_owned(), run);
            if !watch.running {
                self.short.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Does what the watch would do, if the system has refused us its thread.
    pub(crate) fn stand_in(&self) {
        if !self.watch.inner.lock().running {
            while self.look_around() == Some(Duration::ZERO) {}
            // It may have started meanwhile, and not have seen what this thread had in hand.
            fault::nudge();
        }
    }

    /// Ends a wait that is over, if there is one; how long until there is something to do, None when the engine ends.
    fn look_around(&self) -> Option<Duration> {
        let kernels = self.look_at_kernels().unwrap_or(LONG);
        let halting = self.look_at_halting().unwrap_or(LONG);
        let look = self.look_at_parked().unwrap_or(LONG).min(kernels).min(halting);
        let mut watch = self.watch.inner.lock();
        if watch.stop {
            return None;
        }
        let now = Instant::now();
        let nap = watch.alarms.peek().map_or(LONG, |Reverse(alarm)| alarm.at.saturating_duration_since(now));
        let due = if nap.is_zero() { watch.alarms.pop() } else { None };
        drop(watch);
        let Some(Reverse(alarm)) = due else { return Some(nap.min(look)) };
        self.time_out(Mark(alarm.mark), alarm.stream, alarm.ticket);
        Some(Duration::ZERO)
    }

    pub(crate) fn stop_watch(&self) {
        self.watch.inner.lock().stop = true;
        fault::nudge();
    }
}

fn run(core: Arc<Core>) {
    let mut handled = 0;
    loop {
        let seen = fault::fault_count();
        if seen != handled {
            core.take_over_faulted();
            handled = seen;
        }
        core.watch.until.store(u64::MAX, Ordering::SeqCst);
        match core.look_around() {
            Some(Duration::ZERO) => {}
            Some(nap) => {
                let now = monotonic_ns();
                let until = now.saturating_add(nap.as_nanos() as u64).min(core.watch.expected(now));
                core.watch.until.store(until, Ordering::SeqCst);
                fault::wait_any(seen, Duration::from_nanos(until - now));
            }
            None => return,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn announced_ends_are_kept_until_they_are_past() {
        let watch = Watch::default();
        let announced = || watch.announced.load(Ordering::Relaxed);
        watch.until.store(100, Ordering::SeqCst);
        watch.begun(100);
        assert_eq!(announced(), u64::MAX, "it looks then anyway");
        watch.begun(50);
        assert_eq!((announced(), watch.expected(49)), (50, 50));
        watch.begun(60);
        watch.begun(40);
        assert_eq!((announced(), watch.expected(10)), (40, 40), "the earliest counts");
        assert_eq!((watch.expected(40), announced()), (u64::MAX, u64::MAX));
        watch.begun(90);
        assert_eq!(watch.expected(41), 90);
    }
}
