//! Running the first task of a claimed stream.

use super::super::Stream;
use super::super::bulk;
use super::super::core::{CHECK, monotonic_ns};
use super::super::kernel;
use super::super::mark::Mark;
use super::super::op::Bulk;
use super::super::poll::Poll;
use super::super::slot::{FAILED, Owner, STOP, Slot};
use super::super::state::ABORT;
use super::super::task::{Task, Work};
use super::super::user::{self, Returned};
use super::Runner;
use crate::fault::Fault;
use crate::memory;
use crate::sync::{Arc, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Copies and fills from this size on are long: what waits behind them is made known first.
const LONG_BYTES: usize = 256 << 10;
/// Work that is not user code is long from this cost on.
const LONG_NS: u64 = 10_000;

/// What became of the first task.
pub(super) enum Step {
    /// It is through; so much work it was (1 per task and per 4 KiB).
    Done(u32),
    /// It is a wait for this mark, which is not done.
    Park(Mark, u32),
    /// It is a wait for a condition, which is not met before this ring at the earliest.
    Listen(Mark, Arc<Poll>),
    /// It runs user code.
    User,
    /// It is a large copy that gave way; its progress is kept.
    GaveWay,
}

impl Runner<'_> {
    /// Runs the first task.
    #[inline]
    pub(super) fn step(&mut self, index: u32, slot: &Slot, own: &mut Owner) -> Step {
        // SAFETY: the owner, and there is a task.
        let task = unsafe { slot.fifo.peek(&mut own.front) };
        let skipped = slot.attention.load(Ordering::Relaxed) != 0 && skips(slot, own);
        // SAFETY: the record stays until the pop; `Work` is taken out once only.
        let record = unsafe { &*task };
        let user_code = !skipped && record.user_code();
        if user_code && !self.is_worker() {
            return Step::User;
        }
        if self.core.watched() && !own.told {
            own.told = true;
            self.core.probe.started(Stream(index), own.head + 1);
        }
        if user_code {
            return Step::User;
        }
        if skipped {
            self.skip(slot, own, task);
            return Step::Done(1);
        }
        match record {
            Task::Copy { dst, src, len } if *len >= LONG_BYTES => {
                self.bulk(index, slot, own, &Bulk::copy(*dst, *src, *len))
            }
            Task::Fill { dst, len, byte } if *len >= LONG_BYTES => {
                self.bulk(index, slot, own, &Bulk::fill(*dst, *byte, *len))
            }
            Task::Fill32 { dst, count, word } if *count >= LONG_BYTES / 4 => {
                self.bulk(index, slot, own, &Bulk::fill32(*dst, *word, *count))
            }
            Task::Rows(rows) => {
                let step = self.pieces(index, slot, own, &Bulk::rows(rows));
                through(step, task)
            }
            Task::Each(moves) => {
                let step = self.pieces(index, slot, own, &Bulk::each(&moves.list, moves.bytes));
                through(step, task)
            }
            Task::Copy { dst, src, len } => {
                // SAFETY: as above.
                let result = unsafe { memory::copy(*dst, *src, *len) };
                self.bytes(index, slot, own, *len, result)
            }
            Task::Fill { dst, len, byte } => {
                // SAFETY: as above.
                let result = unsafe { memory::fill(*dst, *byte, *len) };
                self.bytes(index, slot, own, *len, result)
            }
            Task::Fill32 { dst, count, word } => {
                // SAFETY: as above.
                let result = unsafe { memory::fill32(*dst, *word, *count) };
                self.bytes(index, slot, own, count.saturating_mul(4), result)
            }
            Task::Wait { mark, timeout_ms, code } => {
                let (mark, timeout_ms, code) = (*mark, *timeout_ms, *code);
                if std::mem::take(&mut own.parked) && slot.timed_out.swap(false, Ordering::Relaxed) {
                    self.fail(index, slot, own, code);
                } else if !self.core.done(mark) {
                    return Step::Park(mark, timeout_ms);
                }
                Step::Done(1)
            }
            Task::Store { dst, value } => {
                let result = self.store(slot, own, *dst, *value);
                self.bytes(index, slot, own, 8, result)
            }
            Task::Ring { key } => {
                self.ring(slot, own, *key);
                Step::Done(1)
            }
            Task::Poll(poll) => {
                let parked = std::mem::take(&mut own.parked);
                let late = parked && slot.timed_out.swap(false, Ordering::Relaxed);
                // Before the condition is looked at: a ring after that ends the wait.
                let ring = self.core.next_ring(poll);
                match poll.meet() {
                    Ok(true) => {}
                    Ok(false) if !late => return Step::Listen(ring, Arc::clone(poll)),
                    Ok(false) => self.fail(index, slot, own, poll.code),
                    Err(code) => self.fail(index, slot, own, code),
                }
                // SAFETY: taken out once: the record is left behind after this.
                drop(unsafe { task.read() });
                Step::Done(1)
            }
            Task::Stamp { cell } => {
                // SAFETY: the cell outlives the task.
                unsafe { (**cell).store(monotonic_ns(), Ordering::Release) };
                Step::Done(1)
            }
            Task::Advance { mark } => {
                self.advance(slot, own, *mark);
                Step::Done(1)
            }
            Task::Fail { code } => {
                self.fail(index, slot, own, *code);
                Step::Done(1)
            }
            // Seen to above.
            Task::Host { .. } | Task::Kernel(_) => Step::User,
            Task::Work(_) => {
                // SAFETY: taken out once: the record is left behind after this, whatever happens.
                match unsafe { task.read() } {
                    Task::Work(work) => self.work(index, slot, own, *work),
                    _ => Step::Done(1),
                }
            }
        }
    }

    #[inline]
    fn bytes(
        &mut self,
        index: u32,
        slot: &Slot,
        own: &mut Owner,
        len: usize,
        result: Result<(), Fault>,
    ) -> Step {
        if result.is_err() {
            self.fail(index, slot, own, self.core.copy_fault_code);
        }
        Step::Done(1 + (len >> 12) as u32)
    }

    /// Several pieces of memory, large or not.
    fn pieces(&mut self, index: u32, slot: &Slot, own: &mut Owner, bulk: &Bulk) -> Step {
        let bytes = bulk.bytes(bulk.units);
        if bytes >= LONG_BYTES {
            return self.bulk(index, slot, own, bulk);
        }
        let result = bulk.run(0, bulk.units);
        self.bytes(index, slot, own, bytes, result)
    }

    /// A large copy or fill in pieces, with a look around after each.
    fn bulk(&mut self, index: u32, slot: &Slot, own: &mut Owner, bulk: &Bulk) -> Step {
        self.before_long(slot, own);
        let mut left = own.progress..bulk.units - own.behind;
        let shared = self.core.share(index, bulk, left.clone(), slot.line.low() != u64::MAX);
        let failed = match shared {
            Some(shared) => {
                while let Some(n) = shared.step() {
                    self.since = self.since.saturating_add((n >> 12) as u32);
                    if self.since >= CHECK && self.gives_way() {
                        break;
                    }
                }
                let failed;
                (left, failed) = shared.close();
                failed
            }
            None => loop {
                let n = bulk.units(bulk::ALONE).min(left.len());
                // As memmove would: from the end when the destination begins inside the source.
                let at = if bulk.backwards() { bulk.units - left.start - n } else { left.start };
                let failed = bulk.run(at, n).is_err();
                left.start += n;
                self.since = self.since.saturating_add((bulk.bytes(n) >> 12) as u32);
                if failed || left.is_empty() || self.gives_way() {
                    break failed;
                }
            },
        };
        if failed {
            if bulk.goes_on() {
                // To the end in one go, so that the failure is told once; that there are more makes no difference.
                let _more = bulk.run(left.start, left.len());
            }
            self.fail(index, slot, own, self.core.copy_fault_code);
        } else if !left.is_empty() {
            (own.progress, own.behind) = (left.start, bulk.units - left.end);
            return Step::GaveWay;
        }
        (own.progress, own.behind) = (0, 0);
        Step::Done(1)
    }

    /// Work that is not user code.
    fn work(&mut self, index: u32, slot: &Slot, own: &mut Owner, work: Work) -> Step {
        let Work { run, cost_ns, .. } = work;
        if cost_ns >= LONG_NS {
            self.before_long(slot, own);
        }
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(self.core.panic_code));
        if let Err(code) = result {
            self.fail(index, slot, own, code);
        }
        Step::Done(u32::try_from(1 + (cost_ns >> 5)).unwrap_or(u32::MAX))
    }

    /// Runs the first task, which is user code; no reference to the owner's fields lives meanwhile. False: the stream has
    /// been taken away from this thread.
    pub(super) fn user(&mut self, index: u32, slot: &Slot, position: u64) -> bool {
        let task = {
            // SAFETY: claimed, and the caller holds no other reference until it asks again.
            let own = unsafe { slot.own() };
            self.before_long(slot, own);
            // SAFETY: there is a task.
            unsafe { slot.fifo.peek(&mut own.front) }
        };
        self.linger = true;
        // SAFETY: the record stays until it is read below.
        if !matches!(unsafe { &*task }, Task::Kernel(_)) {
            // It may take its time.
            kernel::hand_on(self.core);
        }
        // SAFETY: taken out once: the record is left behind after this, whatever happens.
        match unsafe { task.read() } {
            Task::Host { func, arg } => user::host_function(self.core, index, func, arg),
            Task::Kernel(kernel) => match kernel::run(self.core, index, position, kernel) {
                Returned::Result(Ok(())) => {}
                Returned::Result(Err(code)) => self.core.fail(index, slot, position, code),
                Returned::Lost => return false,
            },
            Task::Work(work) => match user::run_user(self.core, index, position, work.run) {
                Returned::Result(Ok(())) => {}
                Returned::Result(Err(code)) => self.core.fail(index, slot, position, code),
                Returned::Lost => return false,
            },
            _ => {}
        }
        true
    }

    fn advance(&mut self, slot: &Slot, own: &mut Owner, mark: Mark) {
        // Whoever the signal wakes may look at this stream's marks of earlier tasks.
        self.publish(slot, own);
        let core = self.core;
        core.advance_with(mark, |index| self.unblocked(index));
        self.flush();
    }

    fn ring(&mut self, slot: &Slot, own: &mut Owner, key: usize) {
        // As for a signal.
        self.publish(slot, own);
        let core = self.core;
        core.ring_with(key, |index| self.unblocked(index));
        self.flush();
    }

    fn store(&mut self, slot: &Slot, own: &mut Owner, dst: usize, value: u64) -> Result<(), Fault> {
        let source = std::ptr::from_ref(&value) as usize;
        // SAFETY: inner addresses; whoever enqueued the task answers for them.
        let result = unsafe { memory::copy(dst, source, size_of::<u64>()) };
        self.ring(slot, own, dst);
        result
    }

    /// Leaves a task out; what others wait for still happens.
    #[cold]
    fn skip(&mut self, slot: &Slot, own: &mut Owner, task: *mut Task) {
        own.parked = false;
        slot.timed_out.store(false, Ordering::Relaxed);
        // SAFETY: taken out once, as in `step`.
        match unsafe { task.read() } {
            Task::Advance { mark } => self.advance(slot, own, mark),
            Task::Ring { key } => self.ring(slot, own, key),
            // What the closure holds may have a drop of its own, which must not take the worker along.
            Task::Work(work) => drop(catch_unwind(AssertUnwindSafe(|| drop(work)))),
            _ => (),
        }
    }
}

/// Drops a task that is through; one that gave way stays.
fn through(step: Step, task: *mut Task) -> Step {
    if !matches!(step, Step::GaveWay) {
        // SAFETY: taken out once: the record is left behind after this.
        drop(unsafe { task.read() });
    }
    step
}

/// Whether the first task is to be left out.
#[cold]
fn skips(slot: &Slot, own: &Owner) -> bool {
    let attention = slot.attention.load(Ordering::Relaxed);
    if own.progress > 0 || own.behind > 0 {
        return false;
    }
    if attention & ABORT != 0 {
        if own.head < slot.skip_to.load(Ordering::Acquire) {
            return true;
        }
        slot.attention.fetch_and(!ABORT, Ordering::AcqRel);
        if own.head < slot.skip_to.load(Ordering::Acquire) {
            // Another abort came in between.
            slot.attention.fetch_or(ABORT, Ordering::AcqRel);
            return true;
        }
    }
    attention & (FAILED | STOP) == FAILED | STOP
}
