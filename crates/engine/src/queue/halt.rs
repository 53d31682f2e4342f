//! Stopping what still runs of a kernel that has ended too early: its members are abandoned, and their threads parked wherever they are in
//! device code ([`crate::fault::Scope::stop`]), before the stream goes on. So nothing of it touches memory that others use from then
//! on, and none of it keeps a processor busy.
//!
//! A member that is in the runtime or in the C library at that moment is asked again, by the watch, less and less often; until then it runs on.

use super::core::Core;
use super::mark::Mark;
use super::user::{self, Seat};
use crate::fault::nudge;
use crate::sync::{Mutex, Ordering};
use std::ptr;
use std::time::{Duration, Instant};

/// How long whoever ends a kernel waits for its members: most are parked within microseconds, but each of many threads on few
/// processors gets a turn only now and then, and may be in the C library at its first.
const PATIENCE: Duration = Duration::from_millis(100);
/// Between two looks meanwhile.
const LOOK: Duration = Duration::from_micros(50);
/// Until the watch asks, and at most.
const SOON: Duration = Duration::from_millis(1);
const LATE: Duration = Duration::from_secs(10);

struct Member {
    seat: &'static Seat,
    at: Instant,
    delay: Duration,
}

/// Members that run on.
#[derive(Default)]
pub(crate) struct Halting(Mutex<Vec<Member>>);

impl Core {
    /// Stops the members of a task; `first` is member 0's seat, which is abandoned or has faulted.
    pub(super) fn halt(&self, first: &'static Seat, task: Mark) {
        let mut running = vec![first];
        self.seats.0.lock().retain(|seat| {
            // The task is looked at after the entry, as in `give_up`.
            let entry = if ptr::eq(*seat, first) { None } else { seat.scope.entry() };
            let of_it = entry.filter(|_| Mark(seat.task.load(Ordering::Acquire)) == task);
            let abandoned = of_it.is_some_and(|entry| seat.scope.abandon(entry));
            if abandoned {
                running.push(*seat);
            }
            !abandoned
        });
        running.iter().skip(1).for_each(|seat| user::lose(seat));
        let end = Instant::now() + PATIENCE;
        loop {
            running.retain(|seat| seat.scope.can_stop() && !seat.scope.stop());
            if running.is_empty() {
                return;
            }
            if Instant::now() >= end {
                break;
            }
            std::thread::sleep(LOOK);
        }
        let at = Instant::now() + SOON;
        self.halting.0.lock().extend(running.into_iter().map(|seat| Member { seat, at, delay: SOON }));
        nudge();
        self.start_watch();
    }

    /// Asks those that run on; how long until the next one is to be asked.
    pub(crate) fn look_at_halting(&self) -> Option<Duration> {
        let mut members = self.halting.0.lock();
        let now = Instant::now();
        members.retain_mut(|member| {
            if now < member.at {
                return true;
            }
            member.delay = (member.delay * 2).min(LATE);
            member.at = now + member.delay;
            !member.seat.scope.stop()
        });
        members.iter().map(|member| member.at.saturating_duration_since(now)).min()
    }
}
