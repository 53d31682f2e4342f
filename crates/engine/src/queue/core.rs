//! What all parts of the engine share.

use super::bulk::Board;
use super::halt::Halting;
use super::kernel::{Crew, Spent};
use super::line::Line;
use super::mark::{INDEXES, Mark, Signal};
use super::park::{Kick, Roster};
use super::policy::Choice;
use super::poll::{Bells, Parks};
use super::ready::Ready;
use super::signal::Counter;
use super::slot::Slot;
use super::table::Table;
use super::turns::{Turn, Turns};
use super::user::Seats;
use super::watch::Watch;
use super::{Config, Failure, Probe, Stream, worker};
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering, Weak};
use std::time::Instant;

/// Work between two publications and two looks at priorities and deadlines.
pub(crate) const CHECK: u32 = 64;

pub(crate) struct Core {
    pub me: Weak<Core>,
    pub streams: Table<Slot>,
    pub signals: Table<Counter>,
    /// Indexes below this one are streams, the others signals.
    pub max_streams: u32,
    pub ready: Ready,
    pub roster: Roster,
    pub watch: Watch,
    pub bells: Bells,
    pub parks: Parks,
    pub seats: Seats,
    pub crew: Crew,
    pub spent: Spent,
    pub halting: Halting,
    pub board: Board,
    pub probe: Box<dyn Probe>,
    pub watched: AtomicBool,
    pub copy_fault_code: u32,
    pub panic_code: u32,
    pub kernel_fault_code: u32,
    /// Only one processor: nobody spins or polls.
    pub solo: bool,
    /// The policy's answers, asked once.
    pub follows: bool,
    pub helps: bool,
    pub turns: Option<Turns>,
    watches_hosts: bool,
    hosts: AtomicUsize,
    /// Threads ever started; the next one's number.
    pub started: AtomicU32,
    /// A thread could not be started: sleeping hosts look after the streams themselves now and then.
    pub short: AtomicBool,
}

impl Core {
    pub(crate) fn new(config: Config, solo: bool, me: Weak<Core>) -> Core {
        let max_streams = config.max_streams.min(INDEXES / 2);
        let policy = config.policy;
        let signals = Table::new(INDEXES - max_streams);
        let bells = Bells::new(|| signals.take().map(|at| Signal(max_streams + at)));
        Core {
            me,
            streams: Table::new(max_streams),
            signals,
            bells,
            parks: Parks::default(),
            max_streams,
            follows: policy.follows(),
            helps: policy.helps(),
            watches_hosts: policy.watches_hosts(),
            roster: Roster::new(if policy.turns().is_some() { 1 } else { config.workers }),
            turns: policy.turns().map(Turns::new),
            ready: Ready::new(policy),
            watch: Watch::default(),
            seats: Seats::default(),
            crew: Crew::default(),
            spent: Spent::default(),
            halting: Halting::default(),
            board: Board::default(),
            probe: config.probe,
            watched: AtomicBool::new(false),
            copy_fault_code: config.copy_fault_code,
            panic_code: config.panic_code,
            kernel_fault_code: config.kernel_fault_code,
            solo,
            hosts: AtomicUsize::new(0),
            started: AtomicU32::new(0),
            short: AtomicBool::new(false),
        }
    }

    /// The line of a mark; None for an index that was never handed out, which counts as done.
    #[inline]
    pub(crate) fn line(&self, mark: Mark) -> Option<&Line> {
        let index = mark.index();
        if index < self.max_streams {
            self.streams.get(index).map(|slot| &slot.line)
        } else {
            self.signals.get(index - self.max_streams).map(|counter| &counter.line)
        }
    }

    #[inline]
    pub(crate) fn done(&self, mark: Mark) -> bool {
        self.line(mark).is_none_or(|line| line.done() >= mark.position())
    }

    #[inline]
    pub(crate) fn watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed)
    }

    /// Whether a worker has something to look at.
    #[inline]
    pub(crate) fn pending(&self) -> bool {
        self.ready.pending() || self.board.pending()
    }

    /// Takes the stream to run next, and a turn if streams take turns.
    pub(crate) fn choose<'a>(&'a self, turn: &mut Option<Turn<'a>>) -> Option<Choice> {
        if let Some(turns) = &self.turns {
            *turn = Some(turns.take(self)?);
        }
        self.ready.next()
    }

    /// Lists a stream that is QUEUED. The caller kicks.
    pub(crate) fn list(&self, index: u32, slot: &Slot) {
        if slot.state.mark_listed() {
            self.ready.list(slot.candidate(index));
        }
    }

    /// Gets a worker to look at the lists; no lock may be held.
    #[inline]
    pub(crate) fn kick(&self, urgent: bool) {
        if self.roster.kick(urgent) == Kick::Spawn {
            worker::spawn(self);
        }
    }

    /// A parked stream was taken out of its wait under that line's lock by something that runs no streams.
    pub(crate) fn resume(&self, index: u32) -> bool {
        let Some(slot) = self.streams.get(index) else {
            return false;
        };
        slot.state.wake();
        self.list(index, slot);
        slot.wanted()
    }

    /// Notes a task's failure and tells of it.
    pub(crate) fn fail(&self, index: u32, slot: &Slot, position: u64, code: u32) {
        let failure = Failure { code, position };
        slot.fail(failure);
        self.probe.failed(Stream(index), failure);
    }

    /// Counts a host thread in or out that waits, for policies that want to know.
    pub(crate) fn host_waits(&self, mark: Mark, begins: bool) {
        match &self.turns {
            None => {}
            Some(turns) if begins => turns.begin_wait(mark),
            Some(turns) => turns.end_wait(mark),
        }
        if self.watches_hosts {
            let waiting = if begins {
                self.hosts.fetch_add(1, Ordering::AcqRel) + 1
            } else {
                self.hosts.fetch_sub(1, Ordering::AcqRel) - 1
            };
            if self.ready.hosts(waiting) {
                self.kick(true);
            }
        }
    }

    /// Takes a stream out of its wait because the time is over.
    pub(crate) fn time_out(&self, mark: Mark, index: u32, ticket: u64) {
        self.resume_parked(mark, index, ticket, true);
    }

    /// Takes a stream out of that very wait, if it still is in it; whether it was.
    pub(crate) fn resume_parked(&self, mark: Mark, index: u32, ticket: u64, late: bool) -> bool {
        let (Some(line), Some(slot)) = (self.line(mark), self.streams.get(index)) else {
            return false;
        };
        let me = super::line::Who::Stream { index, ticket };
        let mut urgent = false;
        let found = line.cancel(
            |who| who == me,
            || {
                slot.timed_out.store(late, Ordering::Relaxed);
                urgent = self.resume(index);
            },
        );
        if found {
            self.kick(urgent);
        }
        found
    }
}

/// The time of CLOCK_MONOTONIC in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a timespec; the clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// Whether a deadline is over.
pub(crate) fn over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|d| Instant::now() >= d)
}
