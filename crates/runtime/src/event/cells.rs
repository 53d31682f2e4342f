//! Where the engine writes the times of records. A cell is never freed, so that a record that still waits for its turn may
//! write whenever it runs, also after its event was destroyed. Cells are used again; a record allocates nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use toprope_engine::queue::Mark;

use crate::process::Runtime;

/// Cells made at a time.
const BATCH: usize = 64;

/// Room for one time in nanoseconds (CLOCK_MONOTONIC); 0 until it is written.
#[derive(Clone, Copy)]
pub(super) struct Cell(&'static AtomicU64);

impl Cell {
    /// For [`toprope_engine::queue::Task::Stamp`].
    pub fn address(self) -> *const AtomicU64 {
        self.0
    }

    /// The time, once the record ran.
    pub fn time(self) -> Option<u64> {
        Some(self.0.load(Ordering::Acquire)).filter(|time| *time != 0)
    }

    /// Before a new record; the last one's time is written already.
    pub fn clear(self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Cells without an event.
#[derive(Default)]
pub(super) struct Cells {
    free: Vec<Cell>,
    /// Given back while a record might still write them: it is done at the mark.
    pending: Vec<(Cell, Mark)>,
    /// Look through `pending` when it is that long: twice what was left last time, so that the looking stays cheap.
    look: usize,
}

impl Cells {
    /// A cell that nobody writes.
    pub fn take(&mut self, rt: &Runtime) -> Cell {
        if self.free.is_empty() && self.pending.len() >= self.look.max(BATCH) {
            let free = &mut self.free;
            self.pending.retain(|(cell, mark)| {
                // A record that was dropped never writes, but its position counts as done.
                let done = cell.time().is_some() || rt.engine.query(*mark);
                if done {
                    free.push(*cell);
                }
                !done
            });
            self.look = 2 * self.pending.len();
        }
        if self.free.is_empty() {
            let batch: &'static [AtomicU64] = Box::leak((0..BATCH).map(|_| AtomicU64::new(0)).collect());
            self.free.extend(batch.iter().map(Cell));
        }
        // The batch just made is not empty.
        self.free.pop().unwrap_or_else(|| Cell(Box::leak(Box::new(AtomicU64::new(0)))))
    }

    /// Takes a cell back. `mark`: its last record.
    pub fn give(&mut self, cell: Cell, mark: Mark) {
        if mark == Mark::NONE || cell.time().is_some() {
            self.free.push(cell);
        } else {
            self.pending.push((cell, mark));
        }
    }
}
