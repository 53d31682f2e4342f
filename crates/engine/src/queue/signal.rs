//! Signals: counters that their owner advances.

use super::core::Core;
use super::line::Line;
use super::mark::{Mark, Signal};
use crate::sync::{AtomicU64, Ordering};

/// A signal. Positions the caller names count from the opening of the signal; those of the line never restart.
#[derive(Default)]
pub(crate) struct Counter {
    pub line: Line,
    /// The line's position at which this signal began.
    base: AtomicU64,
    /// The highest position that a mark was made of: the signal's end closes them all.
    top: AtomicU64,
}

impl Core {
    pub(crate) fn open_signal(&self) -> Option<Signal> {
        self.signals.take().map(|at| Signal(self.max_streams + at))
    }

    fn counter(&self, signal: Signal) -> Option<&Counter> {
        self.signals.get(signal.0.checked_sub(self.max_streams)?)
    }

    pub(crate) fn signal_mark(&self, signal: Signal, position: u64) -> Mark {
        let Some(counter) = self.counter(signal) else {
            return Mark::NONE;
        };
        let position = counter.base.load(Ordering::Relaxed) + position;
        if counter.top.load(Ordering::Relaxed) < position {
            counter.top.fetch_max(position, Ordering::Relaxed);
        }
        Mark::new(signal.0, position)
    }

    /// Advances the line of a signal's mark, from outside any stream.
    pub(crate) fn advance(&self, mark: Mark) {
        let (mut any, mut urgent) = (false, false);
        self.advance_with(mark, |index| {
            any = true;
            urgent |= self.resume(index);
        });
        if any {
            self.kick(urgent);
        }
    }

    /// Advances the line of a signal's mark; `wake` as in [`Line::publish`]. Marks of streams advance by themselves only.
    pub(crate) fn advance_with(&self, mark: Mark, wake: impl FnMut(u32)) {
        if let Some(counter) = self.counter(Signal(mark.index())) {
            counter.line.advance(mark.position(), wake);
        }
    }

    pub(crate) fn close_signal(&self, signal: Signal) {
        let Some(counter) = self.counter(signal) else {
            return;
        };
        let end = counter.top.load(Ordering::Relaxed).max(counter.line.done());
        self.advance(Mark::new(signal.0, end));
        counter.base.store(end, Ordering::Relaxed);
        self.signals.give(signal.0 - self.max_streams);
    }
}
