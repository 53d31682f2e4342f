//! The engine's surface: what the runtime calls.

use super::bulk;
use super::core::Core;
use super::op::Bulk;
use super::slot::Slot;
use super::state::{IDLE, QUEUED};
use super::worker;
use super::{Config, Failure, Mark, Signal, Standing, Stream, Task, Until, Waited, processors, user};
use crate::fault::Fault;
use crate::memory::{self, Move, Rows};
use crate::sync::{Arc, Ordering};
use std::time::Instant;

/// Estimated work from which on a worker is fetched at once.
const FETCH_NS: u64 = 32_000;

/// The process's streams and workers.
pub struct Engine {
    core: Arc<Core>,
}

impl Engine {
    /// An engine with no thread yet: workers start with the first stream.
    pub fn new(config: Config) -> Engine {
        Engine { core: Arc::new_cyclic(|me| Core::new(config, processors() == 1, me.clone())) }
    }

    #[inline]
    fn slot(&self, stream: Stream) -> Option<&Slot> {
        let slot = self.core.streams.get(stream.0);
        debug_assert!(slot.is_some(), "a stream that was never opened");
        slot
    }

    /// Opens a stream of a device; priority 0 (highest) to 7. None when [`Config::max_streams`] are open.
    pub fn open(&self, device: u16, priority: u8) -> Option<Stream> {
        let index = self.core.streams.take()?;
        self.core.streams.get(index)?.open(device, priority.min(7));
        if self.core.started.load(Ordering::Relaxed) == 0 {
            // The first worker: starts now, so that the first task need not wait for it.
            self.core.kick(false);
        }
        Some(Stream(index))
    }

    /// Changes a stream's priority, 0 (highest) to 7: from the next time that it gets ready.
    pub fn set_priority(&self, stream: Stream, priority: u8) {
        if let Some(slot) = self.slot(stream) {
            slot.priority.store(priority.min(7), Ordering::Relaxed);
        }
    }

    /// Closes a stream once everything in it has run. Does not block: the stream drains by itself. Its marks become done
    /// as it drains; one that waits for ever is first aborted.
    pub fn close(&self, stream: Stream) {
        let Some(slot) = self.slot(stream) else {
            return;
        };
        let mut back = slot.fifo.lock();
        slot.closing.store(true, Ordering::Relaxed);
        if slot.state.get() == IDLE {
            // SAFETY: IDLE under the lock: nobody owns the stream, and its queue is empty.
            unsafe { back.release(&mut slot.own().front) };
            slot.reset();
            drop(back);
            self.core.streams.give(stream.0);
        }
    }

    /// Adds a task; it runs in the stream's order. Returns its position (0 for a stream that was never opened, whose task
    /// is dropped).
    // In one piece with its caller, who knows the kind of task: the record is then written once, in its place, and no kind
    // is looked at.
    #[inline(always)]
    pub fn push(&self, stream: Stream, task: Task) -> u64 {
        let Some(slot) = self.slot(stream) else {
            return 0;
        };
        if let Some(turns) = &self.core.turns {
            turns.called();
        }
        let urgent = task.urgent();
        let cost = task.cost_ns();
        let mut back = slot.fifo.lock();
        let position = back.push(task);
        if urgent {
            slot.urgent_at.store(position, Ordering::Relaxed);
        }
        let entered = slot.state.enter();
        if entered {
            back.fetched();
        }
        let fetch = (urgent || back.unfetched(cost) >= FETCH_NS) && slot.state.get() == QUEUED;
        if fetch {
            back.fetched();
        }
        drop(back);
        if entered || fetch {
            self.go(stream, slot, entered, fetch);
        }
        position
    }

    /// Lists a stream that has just left IDLE, and kicks.
    fn go(&self, stream: Stream, slot: &Slot, entered: bool, fetch: bool) {
        if entered {
            self.core.list(stream.0, slot);
        }
        self.core.kick(fetch);
    }

    /// The position of the last task added so far.
    #[inline]
    pub fn mark(&self, stream: Stream) -> Mark {
        self.slot(stream).map_or(Mark::NONE, |slot| Mark::new(stream.0, slot.fifo.tail()))
    }

    /// The mark of a position that [`Engine::push`] returned.
    pub fn mark_at(&self, stream: Stream, position: u64) -> Mark {
        Mark::new(stream.0, position)
    }

    /// Whether a mark is done; if not, makes sure that a worker is on its way.
    pub fn query(&self, mark: Mark) -> bool {
        let done = self.core.done(mark);
        if !done && self.core.ready.pending() {
            self.core.kick(true);
            if let Some(turns) = &self.core.turns {
                turns.pass(&self.core);
                return self.core.done(mark);
            }
        }
        done
    }

    /// Whether a mark is held up by a wait for a condition ([`super::Poll`]), directly or through streams that wait for each
    /// other. A snapshot: the next moment may end it.
    pub fn listens(&self, mark: Mark) -> bool {
        self.core.listens(mark)
    }

    /// Waits for a mark, helping with copies, fills and events on the way. On a worker (in user code) it blocks that
    /// thread only.
    pub fn wait(&self, mark: Mark, deadline: Option<Instant>) -> Waited {
        let until = if deadline.is_some() { Until::Deadline } else { Until::Done };
        self.core.wait(mark, deadline, until)
    }

    /// As [`Engine::wait`], for a caller that waits again and again until its patience with conditions is over.
    pub fn wait_patiently(&self, mark: Mark, deadline: Option<Instant>) -> Waited {
        self.core.wait(mark, deadline, Until::Patience)
    }

    /// The streams that have tasks left, and what keeps them. None if that cannot be told just now.
    pub fn standing(&self) -> Option<Vec<Standing>> {
        self.core.standing()
    }

    /// The streams of whose tasks the program's code on the calling thread is a part, innermost first.
    pub fn inside(&self) -> Vec<Stream> {
        user::streams(&self.core)
    }

    /// The stream's first failure.
    pub fn failure(&self, stream: Stream) -> Option<Failure> {
        self.slot(stream)?.failure()
    }

    /// Takes the stream's first failure: later tasks run again.
    pub fn take_failure(&self, stream: Stream) -> Option<Failure> {
        self.slot(stream)?.take_failure()
    }

    /// Whether tasks after a failure are skipped (true) or run (false, the default).
    pub fn stop_on_failure(&self, stream: Stream, stop: bool) {
        if let Some(slot) = self.slot(stream) {
            slot.stop_on_failure(stop);
        }
    }

    /// Drops every task that has not begun (their positions become done) and waits for the one that runs. Called by a
    /// host function or kernel of the stream itself it does not wait: everything behind that is dropped.
    pub fn abort(&self, stream: Stream) {
        let upto = self.discard(stream);
        if !user::runs(&self.core, stream.0) {
            self.wait(upto, None);
        }
    }

    /// As [`Engine::abort`], without the wait: the mark that it would wait for.
    pub fn discard(&self, stream: Stream) -> Mark {
        let Some(slot) = self.slot(stream) else {
            return Mark::NONE;
        };
        let upto = slot.fifo.tail();
        slot.skip_to.fetch_max(upto, Ordering::AcqRel);
        if slot.state.abort(&slot.attention)
            && let Some(line) = self.core.line(slot.awaited())
        {
            // Its wait was registered before the flag was seen, so the hint is right; not found: woken meanwhile.
            let ours = |who| matches!(who, super::line::Who::Stream { index, .. } if index == stream.0);
            let found = line.cancel(ours, || {
                self.core.resume(stream.0);
            });
            if found {
                self.core.kick(true);
            }
        }
        self.mark_at(stream, upto)
    }

    /// Gives up the [`Task::Work`] with user code that runs in the stream now (a kernel beyond its time): the stream fails
    /// with `code` and goes on at once; the thread is left to itself and replaced. False if none runs.
    pub fn abandon(&self, stream: Stream, code: u32) -> bool {
        self.core.abandon(stream.0, code)
    }

    /// Opens a signal at position 0.
    pub fn open_signal(&self) -> Option<Signal> {
        self.core.open_signal()
    }

    /// The mark of a position of a signal.
    pub fn signal_mark(&self, signal: Signal, position: u64) -> Mark {
        self.core.signal_mark(signal, position)
    }

    /// Advances a signal to `position` (never back): whoever waits for it or less goes on.
    pub fn advance(&self, signal: Signal, position: u64) {
        self.core.advance(self.core.signal_mark(signal, position));
    }

    /// Advances the signal of a mark to it. A mark keeps its meaning: made before the signal was closed, it moves nobody
    /// who has opened the signal since.
    pub fn reach(&self, mark: Mark) {
        self.core.advance(mark);
    }

    /// Rings for those who wait for a condition of this key ([`super::Poll`]), from outside any stream.
    pub fn ring(&self, key: usize) {
        self.core.ring(key);
    }

    /// Closes a signal: every mark of it is done from now on.
    pub fn close_signal(&self, signal: Signal) {
        self.core.close_signal(signal);
    }

    /// Turns [`super::Probe::started`] and [`super::Probe::done`] on or off (one relaxed load per task when off).
    pub fn watch(&self, on: bool) {
        self.core.watched.store(on, Ordering::Relaxed);
    }

    /// Whether the calling thread runs code of the program that a task of the stream waits for: a host function, a kernel,
    /// or what [`Engine::callback`] was given. To wait for the stream there would be to wait for oneself.
    #[inline]
    pub fn runs(&self, stream: Stream) -> bool {
        user::runs(&self.core, stream.0)
    }

    /// Runs code of the program that a task of the stream waits for, on the calling thread. It may block and call in here:
    /// a worker that runs it does not count as active meanwhile. [`super::Probe::failed`] calls the program's functions
    /// through this.
    pub fn callback<R>(&self, stream: Stream, code: impl FnOnce() -> R) -> R {
        user::callback(&self.core, stream.0, code)
    }

    /// [`crate::memory::copy`] for a call that is done when it returns: idle workers take pieces of a large one.
    ///
    /// # Errors
    /// The fault, if a byte of either range is not mapped, is protected, or lies behind its file's end.
    ///
    /// # Safety
    /// As [`crate::memory::copy`].
    #[inline]
    pub unsafe fn copy(&self, dst: usize, src: usize, len: usize) -> Result<(), Fault> {
        self.core.at_once(Bulk::copy(dst, src, len))
    }

    /// [`crate::memory::fill`], as [`Engine::copy`].
    ///
    /// # Errors
    /// As [`Engine::copy`].
    ///
    /// # Safety
    /// As [`crate::memory::copy`].
    #[inline]
    pub unsafe fn fill(&self, dst: usize, byte: u8, len: usize) -> Result<(), Fault> {
        self.core.at_once(Bulk::fill(dst, byte, len))
    }

    /// [`crate::memory::fill32`], as [`Engine::copy`]; more words than an address space has bytes are refused by the fault they meet.
    ///
    /// # Errors
    /// As [`Engine::copy`].
    ///
    /// # Safety
    /// As [`crate::memory::copy`].
    #[inline]
    pub unsafe fn fill32(&self, dst: usize, word: u32, count: usize) -> Result<(), Fault> {
        self.core.at_once(Bulk::fill32(dst, word, count))
    }

    /// [`memory::copy_rows`], as [`Engine::copy`].
    ///
    /// # Errors
    /// As [`Engine::copy`].
    ///
    /// # Safety
    /// As [`memory::copy_rows`].
    #[inline]
    pub unsafe fn copy_rows(&self, rows: &Rows) -> Result<(), Fault> {
        self.core.at_once(Bulk::rows(rows))
    }

    /// The copies of a list, in any order, as [`Engine::copy`].
    ///
    /// # Errors
    /// As [`memory::copy_each`], but copies behind the one that met a fault may have been made.
    ///
    /// # Safety
    /// As [`memory::copy_each`].
    pub unsafe fn copy_each(&self, moves: &[Move]) -> Result<(), (usize, Fault)> {
        let bytes = moves.iter().map(|one| one.len).fold(0, usize::saturating_add);
        // One that overlaps itself must not be made again when another one fails.
        if bulk::shared(bytes)
            && !moves.iter().any(|one| one.dst.abs_diff(one.src) < one.len)
            && self.core.together(&Bulk::each(moves, bytes))
        {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { memory::copy_each(moves) }
    }

    /// Frees kernels that have run: for the thread that is about to launch another one, out of the same memory.
    #[inline]
    pub fn free_spent(&self) {
        self.core.spent.free();
    }

    /// Whether the calling thread is one of the engine's, hence possibly runs a function of the program for it.
    pub fn on_worker(&self) -> bool {
        worker::on_worker()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.core.ready.stop();
        self.core.roster.fetch_all();
        self.core.crew.dismiss();
        self.core.stop_watch();
    }
}
