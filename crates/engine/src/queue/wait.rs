//! A host thread that waits: it helps, then spins a little, then sleeps.

use super::core::{Core, over};
use super::exec::Runner;
use super::line::Line;
use super::mark::Mark;
use super::sleeper;
use super::state::{Claimer, QUEUED, RUNNING, WAITING};
use super::worker::YIELD;
use super::{Until, Waited, user};
use crate::sync::{Ordering, spin_loop, yield_now};
use std::time::{Duration, Instant};

/// How long a host that cannot help spins before it sleeps.
const SPIN: Duration = Duration::from_micros(50);
/// Longest chain of waits that a helper follows.
const CHAIN: usize = 4096;
/// How often a sleeping host looks after the streams itself when the system has refused us a thread.
const SHORT: Duration = Duration::from_millis(2);
/// How long a host sleeps before the probe is told.
const LONG: Duration = Duration::from_millis(100);

impl Core {
    /// Waits for a mark. `until` says what the deadline is.
    pub(crate) fn wait(&self, mark: Mark, deadline: Option<Instant>, until: Until) -> Waited {
        let Some(line) = self.line(mark) else {
            return Waited::Done;
        };
        if line.done() >= mark.position() {
            self.spent.free();
            return Waited::Done;
        }
        self.host_waits(mark, true);
        let waited = self.wait_slow(line, mark, deadline, until);
        self.host_waits(mark, false);
        self.spent.free();
        waited
    }

    fn wait_slow(&self, line: &Line, mark: Mark, deadline: Option<Instant>, why: Until) -> Waited {
        let position = mark.position();
        loop {
            while self.help(mark, deadline) {
                if line.done() >= position {
                    return Waited::Done;
                }
                if over(deadline) {
                    return Waited::TimedOut;
                }
            }
            if self.ready.pending() {
                self.kick(true);
            }
            match self.spin(line, mark, deadline) {
                Spun::Done => return Waited::Done,
                Spun::Helpable => continue,
                Spun::Over => {}
            }
            let short = self.short.load(Ordering::Relaxed).then(|| Instant::now() + SHORT);
            if short.is_some() {
                self.stand_in();
            }
            let until = match (deadline, short) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            // From now on a stream that this thread waits for counts as wanted. What was listed before that may have been
            // left to the next lazy look.
            let registered = || {
                if self.ready.pending() {
                    self.kick(true);
                }
            };
            let done = match self.watched() {
                false => sleeper::sleep(line, position, until, registered),
                true => self.sleep_watched(line, mark, until, why, registered),
            };
            if done {
                return Waited::Done;
            }
            if over(deadline) {
                return if line.done() >= position { Waited::Done } else { Waited::TimedOut };
            }
        }
    }

    /// As [`sleeper::sleep`], and tells when it takes long.
    fn sleep_watched(
        &self,
        line: &Line,
        mark: Mark,
        until: Option<Instant>,
        why: Until,
        registered: impl Fn(),
    ) -> bool {
        let long = Instant::now() + LONG;
        if until.is_some_and(|until| until <= long) {
            return sleeper::sleep(line, mark.position(), until, registered);
        }
        if sleeper::sleep(line, mark.position(), Some(long), &registered) {
            return true;
        }
        self.probe.sleeps(mark, why, &user::streams(self));
        let done = sleeper::sleep(line, mark.position(), until, registered);
        self.probe.woke();
        done
    }

    /// Follows the waits from `mark` to a stream that can run, and runs that up to the position needed. False: there is
    /// nothing to help with now.
    fn help(&self, mark: Mark, deadline: Option<Instant>) -> bool {
        if !self.helps {
            return false;
        }
        let mut mark = mark;
        for _ in 0..CHAIN {
            let index = mark.index();
            // A signal: whoever advances it cannot be told from here.
            let Some(slot) = (if index < self.max_streams { self.streams.get(index) } else { None }) else {
                return false;
            };
            if slot.line.done() >= mark.position() {
                // The stream that waited for it is being woken this moment.
                yield_now();
                return true;
            }
            match slot.state.get() {
                QUEUED => {
                    if slot.state.claim(Claimer::Host) {
                        let mut helper = Runner::helper(self, mark.position(), deadline);
                        helper.run(index, slot, u32::MAX);
                        return true;
                    }
                }
                WAITING => mark = slot.awaited(),
                RUNNING => return self.join(Some(index), deadline),
                _ => return false,
            }
        }
        false
    }

    /// As [`super::Engine::listens`].
    pub(crate) fn listens(&self, mark: Mark) -> bool {
        let mut mark = mark;
        for _ in 0..CHAIN {
            if self.bells.has(mark) {
                return true;
            }
            let slot = if mark.index() < self.max_streams { self.streams.get(mark.index()) } else { None };
            let Some(slot) =
                slot.filter(|slot| slot.state.get() == WAITING && slot.line.done() < mark.position())
            else {
                return false;
            };
            mark = slot.awaited();
        }
        false
    }

    /// Spins until the mark is done, there is something to help with, or the time for spinning is over.
    fn spin(&self, line: &Line, mark: Mark, deadline: Option<Instant>) -> Spun {
        if self.solo {
            return Spun::Over;
        }
        let start = Instant::now();
        let until = deadline.map_or(start + SPIN, |d| d.min(start + SPIN));
        let mut yielded = start;
        loop {
            for _ in 0..16 {
                if line.done() >= mark.position() {
                    return Spun::Done;
                }
                spin_loop();
            }
            let now = Instant::now();
            if now >= until {
                return Spun::Over;
            }
            if now - yielded >= YIELD {
                yield_now();
                yielded = Instant::now();
                if self.help(mark, deadline) {
                    return Spun::Helpable;
                }
            }
        }
    }
}

/// How a spin ended.
enum Spun {
    Done,
    Helpable,
    Over,
}
