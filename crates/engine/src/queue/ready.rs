//! The streams that can run: a policy under a lock, with its mask beside it for those who only look.

use super::policy::{Candidate, Choice, Policy};
use crate::sync::{AtomicBool, AtomicU32, Ordering, ShortMutex};

pub(crate) struct Ready {
    /// The policy's mask; written under the lock.
    mask: AtomicU32,
    /// The engine is being dropped: workers must look up whatever the lists say.
    stop: AtomicBool,
    policy: ShortMutex<Box<dyn Policy>>,
}

impl Ready {
    pub(crate) fn new(policy: Box<dyn Policy>) -> Ready {
        Ready { mask: AtomicU32::new(0), stop: AtomicBool::new(false), policy: ShortMutex::new(policy) }
    }

    /// Lists a stream. The caller kicks afterwards ([`super::park::Roster::kick`] begins with the fence).
    pub(crate) fn list(&self, candidate: Candidate) {
        let mut policy = self.policy.lock();
        policy.list(candidate);
        self.mask.store(policy.mask(), Ordering::Relaxed);
    }

    /// Takes the stream to run next; it may be a stale entry.
    pub(crate) fn next(&self) -> Option<Choice> {
        if self.mask() == 0 {
            return None;
        }
        let mut policy = self.policy.lock();
        let choice = policy.next();
        self.mask.store(policy.mask(), Ordering::Relaxed);
        choice
    }

    /// Tells the policy how many hosts wait. Whether something may run now that could not before.
    pub(crate) fn hosts(&self, waiting: usize) -> bool {
        let mut policy = self.policy.lock();
        policy.hosts(waiting);
        self.mask.store(policy.mask(), Ordering::Relaxed);
        policy.mask() != 0
    }

    /// A bit for each priority with a listed stream. Ordered only by the fences of kick and park.
    #[inline]
    pub(crate) fn mask(&self) -> u32 {
        self.mask.load(Ordering::Relaxed)
    }

    /// Whether a worker has something to look at.
    #[inline]
    pub(crate) fn pending(&self) -> bool {
        self.mask() != 0 || self.stopped()
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
