//! A host thread that sleeps until a line reaches a position.

use super::line::{Line, Who};
use crate::sync::{Alive, Futex, Ordering};
use std::time::Instant;

/// The futex word of one sleeping host thread; lives on its stack.
#[derive(Default)]
pub(crate) struct Sleeper {
    futex: Futex,
    alive: Alive,
}

impl Sleeper {
    /// Wakes it; called under the line's lock.
    pub(crate) fn wake(&self) {
        self.futex.word.store(1, Ordering::Release);
        self.futex.wake_one();
        self.alive.used();
    }

    fn woken(&self) -> bool {
        self.futex.word.load(Ordering::Acquire) != 0
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.alive.end();
    }
}

/// Sleeps until `line` has reached `position` or the deadline has come; whether it has. `registered` runs once
/// the sleeper can be found, before it sleeps.
pub(crate) fn sleep(
    line: &Line,
    position: u64,
    deadline: Option<Instant>,
    registered: impl FnOnce(),
) -> bool {
    let sleeper = Sleeper::default();
    let me = Who::Host(&raw const sleeper);
    if !line.wait(position, me, || true) {
        return true;
    }
    registered();
    while !sleeper.woken() {
        let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            // Not found: the waker was faster, and is through since `cancel` has had the lock.
            return !line.cancel(|who| who == me, || ());
        }
        sleeper.futex.wait(0, left);
    }
    line.leave();
    true
}
