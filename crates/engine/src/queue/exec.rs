//! Running a claimed stream.

mod step;

use super::Stream;
use super::core::{CHECK, Core, over};
use super::line::Who;
use super::mark::Mark;
use super::slot::{Owner, Slot};
use super::state::Claimer;
use crate::sync::{Ordering, Place, full_fence, spin_loop};
use std::time::{Duration, Instant};
use step::Step;

/// How long a worker stays on a stream whose host function or kernel has just returned: the next launch then needs no
/// hand-over.
const LINGER: Duration = Duration::from_micros(2);
/// A thread that runs streams.
pub(crate) struct Runner<'a> {
    pub core: &'a Core,
    pub who: Claimer,
    /// A worker's own: the stream that it has unblocked and goes on with; QUEUED but not listed.
    pub next: Option<u32>,
    /// A worker's own: streams that it has left although they have tasks; QUEUED but not listed until it spins or begins something long.
    pub left: Vec<u32>,
    /// Its sweep has lasted long enough, although streams are listed; or they were listed while it ran.
    pub tired: bool,
    /// How often in a row it has left some, or was tired.
    pub behind: u32,
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
            left: Vec::new(),
            tired: false,
            behind: 0,
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
            let mut own = unsafe { slot.own() };
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
                    Step::Listen(ring, poll) => {
                        let ticket = own.head;
                        if self.park(index, slot, ring, 0) {
                            self.core.watch_poll(poll, index, ticket, ring);
                            return;
                        }
                        continue 'again;
                    }
                    Step::GaveWay => return self.give_back(index, slot, false),
                    Step::User if !self.is_worker() => return self.give_back(index, slot, true),
                    Step::User => {
                        if !self.user(index, slot, position) {
                            self.lost = true;
                            return;
                        }
                        // SAFETY: still the owner; the reference from before the call must not be used, since the watch may
                        // take a stream over while user code runs.
                        own = unsafe { slot.own() };
                        CHECK
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
                    if self.core.turns.is_some() && position == tail {
                        // The end of the turn, and of what there is.
                        break;
                    }
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
            if self.leaves(slot) {
                slot.state.requeue(false);
                self.left.push(index);
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
        if self.core.turns.is_some() {
            return self.spent >= self.budget;
        }
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

    /// Lists the streams that the worker has left; whether one of them became urgent or is waited for since.
    pub(crate) fn show_left(&mut self) -> bool {
        if self.left.is_empty() {
            return false;
        }
        let core = self.core;
        let slots = || self.left.iter().filter_map(|index| Some((*index, core.streams.get(*index)?)));
        for (index, slot) in slots() {
            core.list(index, slot);
        }
        // A host that begins to wait looks at the lists after it can be found as a waiter, and this looks for waiters after the listing.
        full_fence(Place::Enqueue);
        let wanted = slots().any(|(_, slot)| slot.wanted());
        self.left.clear();
        wanted
    }

    /// Before something long: what is done is seen, and other workers come for what is listed.
    fn before_long(&mut self, slot: &Slot, own: &mut Owner) {
        self.publish(slot, own);
        self.show_next();
        // A function of the program may wait for one of these, and this worker does not come back to them before it returns.
        let wanted = self.show_left();
        if self.core.ready.mask() != 0 {
            self.core.kick(wanted);
        }
    }

    /// The first task fails. Whoever is told may run code of the program, which may take its time and wait for other streams.
    #[cold]
    fn fail(&mut self, index: u32, slot: &Slot, own: &mut Owner, code: u32) {
        self.before_long(slot, own);
        self.core.fail(index, slot, own.head + 1, code);
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

    /// Whether a worker that has done all that it saw leaves a stream to which tasks were added meanwhile. Running cheap tasks right behind
    /// the thread that adds them makes both slower, by the cache lines that go to and fro: they are left for the next look.
    fn leaves(&self, slot: &Slot) -> bool {
        self.is_worker() && !self.core.solo && self.core.turns.is_none() && !slot.wanted()
    }

    /// After user code: waits a moment for the next task. Whether there is one.
    fn stay(&mut self, slot: &Slot, own: &Owner) -> bool {
        self.linger = false;
        if self.core.solo || self.core.turns.is_some() || self.next.is_some() {
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
}
