//! How streams stand, for whoever looks for waits that never end ([`super::Engine::standing`]). Read from the side, with
//! no stream stopped: what is said of a stream that moves may be wrong, what is said of one that stands is right.

use super::core::Core;
use super::mark::{Mark, Stream};
use super::slot::Slot;
use super::state::{IDLE, RUNNING, WAITING};

/// What keeps a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stand {
    /// Nothing for long: it is about to run, its wait is over, or a time limit will end it.
    Moves,
    /// A thread runs its next task.
    Runs,
    /// It waits for a position of another stream.
    Stream(Mark),
    /// It waits for a position of a signal.
    Signal(Mark),
    /// It waits for a condition ([`super::Poll`]) that is not met.
    Condition,
}

/// A stream that has tasks left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The stream.
    pub stream: Stream,
    /// The position of its last task that is done; the next one is what [`Standing::stand`] is about.
    pub done: u64,
    /// What keeps it.
    pub stand: Stand,
}

impl Core {
    /// As [`super::Engine::standing`].
    pub(crate) fn standing(&self) -> Option<Vec<Standing>> {
        let parked = self.parked_waits()?;
        let timed = self.watch.alarmed();
        let of = |(index, slot): (u32, &Slot)| {
            let state = slot.state.get();
            if state == IDLE {
                return None;
            }
            let done = slot.line.done();
            let stand = match state {
                RUNNING => Stand::Runs,
                WAITING if !timed.contains(&(index, done)) => self.waiting(slot, done),
                _ => Stand::Moves,
            };
            let moves = parked.contains(&(index, done, true));
            let stand = if moves { Stand::Moves } else { stand };
            Some(Standing { stream: Stream(index), done, stand })
        };
        Some(self.streams.each().filter_map(of).collect())
    }

    /// What a stream waits for that was seen WAITING after that position.
    fn waiting(&self, slot: &Slot, done: u64) -> Stand {
        let mark = slot.awaited();
        if slot.state.get() != WAITING || slot.line.done() != done || self.done(mark) {
            Stand::Moves
        } else if self.bells.has(mark) {
            Stand::Condition
        } else if mark.index() < self.max_streams {
            Stand::Stream(mark)
        } else {
            Stand::Signal(mark)
        }
    }
}
