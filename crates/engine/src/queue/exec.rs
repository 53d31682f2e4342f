//! Running a claimed stream.

use super::bulk::{self, Op};
use super::core::{CHECK, Core, monotonic_ns, over};
use super::line::Who;
use super::mark::Mark;
use super::slot::{FAILED, Owner, STOP, Slot};
use super::state::{ABORT, Claimer};
use super::task::{Task, Work};
use super::user::Returned;
use super::{Stream, user};
use crate::fault::Fault;
use crate::memory;
use crate::sync::{Ordering, spin_loop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How long a worker stays on a stream whose host function or kernel has just returned: the next launch then needs no
/// hand-over.
const LINGER: Duration = Duration::from_micros(2);
/// Copies and fills from this size on are long: what waits behind them is made known first.
const LONG_BYTES: usize = 256 << 10;
/// Work that is not user code is long from this cost on.
const LONG_NS: u64 = 10_000;

/// What became of the first task.
enum Step {
    /// It is through; so much work it was (1 per task and per 4 KiB).
    Done(u32),
    /// It is a wait for this mark, which is not done.
    Park(Mark, u32),
    /// It runs user code, and this is a host thread.
    NeedsWorker,
    /// It is a large copy that gave way; its progress is kept.
    GaveWay,
    /// The stream has been taken away from this thread.
    Lost,
}

/// A thread that runs streams.
pub(crate) struct Runner<'a> {
    pub core: &'a Core,
    pub who: Claimer,
    /// A worker's own: the stream that it has unblocked and goes on with; QUEUED but not listed.
    pub next: Option<u32>,
    /// A helper's: no further than this position.
    target: u64,
    /// A helper's: no longer than this.
    deadline: Option<Instant>,
    /// Work after which the stream gives way to its equals.
    budget: u32,
    /// Work since the last look around, and since the claim.
    since: u32,
    spent: u32,
    priority: u32,
    /// Streams were listed: kick when no lock is held, urgently or not.
    listed: bool,
    urgent: bool,
    linger: bool,
    /// The thread's code was given up: it must end.
    pub lost: bool,
}

impl<'a> Runner<'a> {
    pub(crate) fn worker(core: &'a Core) -> Runner<'a> {
        Runner::new(core, Claimer::Worker, u64::MAX, None)
    }

    /// A host thread that runs one stream up to a position.
    pub(crate) fn helper(core: &'a Core, target: u64, deadline: Option<Instant>) -> Runner<'a> {
        Runner::new(core, Claimer::Host, target, deadline)
    }

    fn new(core: &'a Core, who: Claimer, target: u64, deadline: Option<Instant>) -> Runner<'a> {
        Runner {
            core,
            who,
            next: None,
            target,
            deadline,
            budget: u32::MAX,
            since: 0,
            spent: 0,
            priority: 0,
            listed: false,
            urgent: false,
            linger: false,
            lost: false,
        }
    }

    fn is_worker(&self) -> bool {
        self.who == Claimer::Worker
    }

    /// Runs a stream that this thread has just claimed, until it has no task, waits, must give way or is handed back.
    pub(crate) fn run(&mut self, index: u32, slot: &Slot, budget: u32) {
        self.budget = budget;
        (self.since, self.spent, self.linger) = (0, 0, false);
        self.priority = u32::from(slot.priority.load(Ordering::Relaxed)).min(31);
        let every = CHECK.min(budget);
        'again: loop {
            // SAFETY: claimed, and given back nowhere before a return.
            let own = unsafe { slot.own() };
            let tail = slot.fifo.tail();
            while own.head < tail {
                if own.head >= self.target {
                    return self.give_back(index, slot, false);
                }
                let position = own.head + 1;
                let work = match self.step(index, slot, own) {
                    Step::Done(work) => work,
                    Step::Park(mark, timeout_ms) => {
                        if self.park(index, slot, mark, timeout_ms) {
                            return;
                        }
                        continue 'again;
                    }
                    Step::NeedsWorker => return self.give_back(index, slot, true),
                    Step::GaveWay => return self.give_back(index, slot, false),
                    Step::Lost => {
                        self.lost = true;
                        return;
                    }
                };
                own.front.pop();
                own.head = position;
                own.told = false;
                if self.core.watched() {
                    self.core.probe.done(Stream(index), position);
                }
                self.since = self.since.saturating_add(work);
                if self.since >= every || slot.line.low() <= position {
                    self.publish(slot, own);
                    if self.since >= every && self.gives_way() {
                        return self.give_back(index, slot, false);
                    }
                }
            }
            self.publish(slot, own);
            if self.linger && self.stay(slot, own) {
                continue;
            }
            if self.rest(index, slot, own) {
                return;
            }
        }
    }

    /// Looks around after some work; whether the stream must be given back.
    fn gives_way(&mut self) -> bool {
        self.spent = self.spent.saturating_add(self.since);
        self.since = 0;
        if !self.is_worker() {
            return over(self.deadline);
        }
        self.show_next();
        let mask = self.core.ready.mask();
        let higher = (1_u64 << self.priority) - 1;
        let equal = (2_u64 << self.priority) - 1;
        u64::from(mask) & higher != 0 || (self.spent >= self.budget && u64::from(mask) & equal != 0)
    }

    /// Publishes how far the stream is, and wakes who waits for it.
    fn publish(&mut self, slot: &Slot, own: &mut Owner) {
        if own.published != own.head {
            own.published = own.head;
            slot.line.publish(own.head, |index| self.unblocked(index));
            self.flush();
        }
    }

    /// A stream's wait is over; called under the lock of the line it waited for.
    fn unblocked(&mut self, index: u32) {
        let Some(slot) = self.core.streams.get(index) else {
            return;
        };
        slot.state.wake();
        if self.is_worker() && self.next.is_none() && self.core.follows {
            self.next = Some(index);
        } else {
            self.core.list(index, slot);
            self.listed = true;
            self.urgent |= slot.wanted();
        }
    }

    /// Kicks for what was listed.
    fn flush(&mut self) {
        if self.listed {
            self.core.kick(self.urgent);
            (self.listed, self.urgent) = (false, false);
        }
    }

    /// Lists the stream that this worker kept for itself, before something long.
    pub(crate) fn show_next(&mut self) {
        if let Some(index) = self.next.take()
            && let Some(slot) = self.core.streams.get(index)
        {
            self.core.list(index, slot);
            self.core.kick(slot.wanted());
        }
    }

    /// Before something long: what is done is seen, and other workers come for what is listed.
    fn before_long(&mut self, slot: &Slot, own: &mut Owner) {
        self.publish(slot, own);
        self.show_next();
        if self.core.ready.mask() != 0 {
            self.core.kick(false);
        }
    }

    /// RUNNING to QUEUED or QUEUED_W.
    fn give_back(&mut self, index: u32, slot: &Slot, needs_worker: bool) {
        // SAFETY: still claimed.
        self.publish(slot, unsafe { slot.own() });
        slot.state.requeue(needs_worker);
        self.core.list(index, slot);
        self.core.kick(needs_worker || slot.wanted());
    }

    /// RUNNING to IDLE if the queue is empty; a closed stream ends here.
    fn rest(&mut self, index: u32, slot: &Slot, own: &mut Owner) -> bool {
        let mut back = slot.fifo.lock();
        if slot.fifo.tail() != own.head {
            return false;
        }
        if slot.closing.load(Ordering::Relaxed) {
            // SAFETY: the owner, and the queue is empty.
            unsafe { back.release(&mut own.front) };
            slot.reset();
            slot.state.rest();
            drop(back);
            self.core.streams.give(index);
            return true;
        }
        // SAFETY: the owner, and the queue is empty.
        unsafe { back.rewind(&mut own.front) };
        slot.state.rest();
        true
    }

    /// After user code: waits a moment for the next task. Whether there is one.
    fn stay(&mut self, slot: &Slot, own: &Owner) -> bool {
        self.linger = false;
        if self.core.solo || self.next.is_some() {
            return false;
        }
        let end = Instant::now() + LINGER;
        loop {
            for _ in 0..8 {
                if slot.fifo.tail() != own.head {
                    return true;
                }
                if self.core.ready.pending() {
                    return false;
                }
                spin_loop();
            }
            if Instant::now() >= end {
                return false;
            }
        }
    }

    /// RUNNING to WAITING. False: the mark is done by now, or the wait is to be dropped.
    fn park(&mut self, index: u32, slot: &Slot, mark: Mark, timeout_ms: u32) -> bool {
        let Some(line) = self.core.line(mark) else {
            return false;
        };
        // SAFETY: claimed.
        let own = unsafe { slot.own() };
        self.publish(slot, own);
        let until = (timeout_ms > 0).then(|| Instant::now() + Duration::from_millis(timeout_ms.into()));
        let ticket = own.head;
        own.parked = true;
        slot.waits_for(mark);
        let me = Who::Stream { index, ticket };
        let parked = line.wait(mark.position(), me, || slot.state.park(&slot.attention));
        if parked {
            if let Some(at) = until {
                self.core.set_alarm(at, index, ticket, mark);
            }
        } else {
            // SAFETY: still claimed; the reference above is used no more.
            unsafe { slot.own() }.parked = false;
        }
        parked
    }

    /// Runs the first task.
    #[inline]
    fn step(&mut self, index: u32, slot: &Slot, own: &mut Owner) -> Step {
        // SAFETY: the owner, and there is a task.
        let task = unsafe { slot.fifo.peek(&mut own.front) };
        let skipped = slot.attention.load(Ordering::Relaxed) != 0 && skips(slot, own);
        // SAFETY: the record stays until the pop; `Work` is taken out once only.
        let record = unsafe { &*task };
        if !skipped && !self.is_worker() && record.user_code() {
            return Step::NeedsWorker;
        }
        if self.core.watched() && !own.told {
            own.told = true;
            self.core.probe.started(Stream(index), own.head + 1);
        }
        if skipped {
            self.skip(slot, own, task);
            return Step::Done(1);
        }
        match record {
            Task::Copy { dst, src, len } if *len >= LONG_BYTES => {
                self.bulk(index, slot, own, *len, Op::Copy { dst: *dst, src: *src })
            }
            Task::Fill { dst, len, byte } if *len >= LONG_BYTES => {
                self.bulk(index, slot, own, *len, Op::Fill { dst: *dst, byte: *byte })
            }
            Task::Fill32 { dst, count, word } if *count >= LONG_BYTES / 4 => {
                let op = Op::Fill32 { dst: *dst, word: *word };
                self.bulk(index, slot, own, count.saturating_mul(4), op)
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
                    self.core.fail(index, slot, own.head + 1, code);
                } else if !self.core.done(mark) {
                    return Step::Park(mark, timeout_ms);
                }
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
                self.core.fail(index, slot, own.head + 1, *code);
                Step::Done(1)
            }
            Task::Host { func, arg } => {
                let (func, arg) = (*func, *arg);
                self.before_long(slot, own);
                user::host_function(self.core, index, func, arg);
                self.linger = true;
                // A worker that was away may have missed its turn to look around.
                Step::Done(CHECK)
            }
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
    fn bytes(&self, index: u32, slot: &Slot, own: &Owner, len: usize, result: Result<(), Fault>) -> Step {
        if result.is_err() {
            self.core.fail(index, slot, own.head + 1, self.core.copy_fault_code);
        }
        Step::Done(1 + (len >> 12) as u32)
    }

    /// A large copy or fill in pieces, with a look around after each.
    fn bulk(&mut self, index: u32, slot: &Slot, own: &mut Owner, len: usize, op: Op) -> Step {
        self.before_long(slot, own);
        // Overlapping copies are not shared, and go from the end when the destination begins inside the source, as memmove
        // would.
        let (overlaps, backwards) = match op {
            Op::Copy { dst, src } => (dst.abs_diff(src) < len, dst > src && dst - src < len),
            _ => (false, false),
        };
        let shared = if overlaps { None } else { self.core.share(index, op, own.progress, len) };
        let failed = match shared {
            Some(shared) => {
                while let Some(n) = shared.step() {
                    self.since = self.since.saturating_add((n >> 12) as u32);
                    if self.since >= CHECK && self.gives_way() {
                        break;
                    }
                }
                let (reached, failed) = shared.close();
                own.progress = reached;
                failed
            }
            None => loop {
                let n = bulk::ALONE.min(len - own.progress);
                let at = if backwards { len - own.progress - n } else { own.progress };
                let failed = op.run(at, n).is_err();
                own.progress += n;
                self.since = self.since.saturating_add((n >> 12) as u32);
                if failed || own.progress >= len || self.gives_way() {
                    break failed;
                }
            },
        };
        if failed {
            self.core.fail(index, slot, own.head + 1, self.core.copy_fault_code);
        } else if own.progress < len {
            return Step::GaveWay;
        }
        own.progress = 0;
        Step::Done(1)
    }

    fn work(&mut self, index: u32, slot: &Slot, own: &mut Owner, work: Work) -> Step {
        let Work { run, cost_ns, user_code } = work;
        if user_code || cost_ns >= LONG_NS {
            self.before_long(slot, own);
        }
        let position = own.head + 1;
        let result = if user_code {
            self.linger = true;
            match user::run_user(self.core, index, position, run) {
                Returned::Result(result) => result,
                Returned::Lost => return Step::Lost,
            }
        } else {
            catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(self.core.panic_code))
        };
        if let Err(code) = result {
            self.core.fail(index, slot, position, code);
        }
        let units = if user_code { u64::from(CHECK) } else { 1 + (cost_ns >> 5) };
        Step::Done(u32::try_from(units).unwrap_or(u32::MAX))
    }

    fn advance(&mut self, slot: &Slot, own: &mut Owner, mark: Mark) {
        // Whoever the signal wakes may look at this stream's marks of earlier tasks.
        self.publish(slot, own);
        let core = self.core;
        core.advance_with(mark, |index| self.unblocked(index));
        self.flush();
    }

    /// Leaves a task out; what others wait for still happens.
    #[cold]
    fn skip(&mut self, slot: &Slot, own: &mut Owner, task: *mut Task) {
        own.parked = false;
        slot.timed_out.store(false, Ordering::Relaxed);
        // SAFETY: taken out once, as in `step`.
        match unsafe { task.read() } {
            Task::Advance { mark } => self.advance(slot, own, mark),
            // What the closure holds may have a drop of its own, which must not take the worker along.
            Task::Work(work) => drop(catch_unwind(AssertUnwindSafe(|| drop(work)))),
            _ => (),
        }
    }
}

/// Whether the first task is to be left out.
#[cold]
fn skips(slot: &Slot, own: &Owner) -> bool {
    let attention = slot.attention.load(Ordering::Relaxed);
    if own.progress > 0 {
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
