//! A stream's state word and its listed flag.

use crate::sync::{AtomicBool, AtomicU32, Ordering, Place, full_fence, planted};

/// Nothing to do. Left and entered only under the producer lock.
pub(crate) const IDLE: u32 = 0;
/// Has tasks, nobody's: a worker or a helping host may claim it.
pub(crate) const QUEUED: u32 = 1;
/// Owned: exactly one thread runs its tasks.
pub(crate) const RUNNING: u32 = 2;
/// As QUEUED, but the next task runs user code: only a worker may claim it.
pub(crate) const QUEUED_W: u32 = 3;
/// Registered with the line it waits for. Left only under the waiter lock of that line.
pub(crate) const WAITING: u32 = 4;

/// Bit of a stream's `attention` word: tasks added before the abort are dropped.
pub(crate) const ABORT: u32 = 4;

/// Who claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claimer {
    Worker,
    Host,
}

#[derive(Default)]
pub(crate) struct State {
    word: AtomicU32,
    listed: AtomicBool,
}

impl State {
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.word.load(Ordering::Relaxed)
    }

    /// IDLE to QUEUED, under the producer lock; whether the state was IDLE. The caller lists the stream after it has
    /// let go of the lock.
    #[inline]
    pub(crate) fn enter(&self) -> bool {
        let idle = self.get() == IDLE;
        if idle {
            self.word.store(QUEUED, Ordering::Release);
        }
        idle
    }

    /// RUNNING to IDLE, by the owner under the producer lock.
    #[inline]
    pub(crate) fn rest(&self) {
        self.word.store(IDLE, Ordering::Release);
    }

    /// RUNNING to QUEUED or QUEUED_W, by the owner, whose fields this hands over. The caller lists and kicks.
    pub(crate) fn requeue(&self, needs_worker: bool) {
        self.word.store(if needs_worker { QUEUED_W } else { QUEUED }, Ordering::Release);
    }

    /// RUNNING to WAITING, by the owner under the waiter lock of the line it is registered with; false, and still RUNNING,
    /// if the stream is being aborted. An abort that has not seen WAITING is seen here.
    pub(crate) fn park(&self, attention: &AtomicU32) -> bool {
        self.word.store(WAITING, Ordering::Release);
        full_fence(Place::Abort);
        let stay = attention.load(Ordering::Relaxed) & ABORT == 0;
        if !stay {
            self.word.store(RUNNING, Ordering::Relaxed);
        }
        stay
    }

    /// Sets the abort bit. True: the stream may be WAITING, and must be taken out of its line.
    pub(crate) fn abort(&self, attention: &AtomicU32) -> bool {
        attention.fetch_or(ABORT, Ordering::AcqRel);
        full_fence(Place::Abort);
        self.get() == WAITING
    }

    /// WAITING to QUEUED, under the waiter lock of the line, by whoever took the entry out.
    pub(crate) fn wake(&self) {
        let was = self.word.compare_exchange(WAITING, QUEUED, Ordering::AcqRel, Ordering::Relaxed);
        debug_assert!(was.is_ok(), "an entry in a line belongs to a parked stream");
    }

    /// QUEUED (a worker: or QUEUED_W) to RUNNING. Success brings the owner's fields along.
    #[inline]
    pub(crate) fn claim(&self, who: Claimer) -> bool {
        let seen = self.get();
        if seen != QUEUED && !(seen == QUEUED_W && who == Claimer::Worker) {
            return false;
        }
        self.word.compare_exchange(seen, RUNNING, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Notes that the stream is in a list, after its state was made QUEUED; whether the caller must put it there.
    #[inline]
    pub(crate) fn mark_listed(&self) -> bool {
        // Seen set: the pop that will clear it reads this swap's value or a later one, hence sees QUEUED.
        !self.listed.swap(true, Ordering::AcqRel)
    }

    /// Claims a stream that was taken from a list: the flag goes first, so that whoever makes the stream QUEUED after
    /// this claim failed finds it cleared.
    pub(crate) fn claim_listed(&self, who: Claimer) -> bool {
        if planted(Place::Unlist) {
            let claimed = self.claim(who);
            self.listed.swap(false, Ordering::AcqRel);
            return claimed;
        }
        self.listed.swap(false, Ordering::AcqRel);
        self.claim(who)
    }
}
