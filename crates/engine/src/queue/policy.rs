//! Which ready stream runs next: the one place that decides it.
//!
//! A policy is sequential code under the engine's list lock. Entries may be stale (a host thread that synchronizes
//! takes streams without asking); the engine drops those when it gets them from [`Policy::next`].

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// A stream that can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The stream's index.
    pub stream: u32,
    /// Its device.
    pub device: u16,
    /// 0 (highest) to 7.
    pub priority: u8,
}

/// What to run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The stream's index.
    pub stream: u32,
    /// After how much work (1 per task and per 4 KiB) to ask again when anything else is listed.
    pub budget: u32,
}

/// Decides the order in which ready streams run.
pub trait Policy: Send {
    /// A stream became ready.
    fn list(&mut self, candidate: Candidate);
    /// Takes the stream to run next.
    fn next(&mut self) -> Option<Choice>;
    /// Bit `p` is set while [`Policy::next`] would give a stream that counts as priority `p`. A stream of a lower
    /// priority gives way to it soon, one of the same priority at the end of its budget.
    fn mask(&self) -> u32;
    /// Whether a worker that unblocks a stream may go on with it without asking.
    fn follows(&self) -> bool {
        true
    }
    /// Whether a host thread that synchronizes may run the streams that it waits for without asking.
    fn helps(&self) -> bool {
        true
    }
    /// Some: streams take turns. One runs at a time, each turn is as long as the budget, and turns begin only while the
    /// program waits or asks, or when it has been quiet for this time (`queue/turns.rs`).
    fn turns(&self) -> Option<Duration> {
        None
    }
    /// Whether [`Policy::hosts`] is called.
    fn watches_hosts(&self) -> bool {
        false
    }
    /// So many host threads wait now: a lazy policy shows its streams in [`Policy::mask`] only then.
    fn hosts(&mut self, _waiting: usize) {}
}

/// Priorities.
pub(crate) const LEVELS: usize = 8;

/// Work after which a stream goes behind its equals.
pub(crate) const BATCH: u32 = 1024;

/// The default: one first-come-first-served list per priority.
#[derive(Default)]
pub struct ByPriority {
    lists: [VecDeque<u32>; LEVELS],
    mask: u32,
}

impl Policy for ByPriority {
    fn list(&mut self, candidate: Candidate) {
        let level = usize::from(candidate.priority).min(LEVELS - 1);
        if let Some(list) = self.lists.get_mut(level) {
            list.push_back(candidate.stream);
            self.mask |= 1 << level;
        }
    }

    fn next(&mut self) -> Option<Choice> {
        let level = self.mask.trailing_zeros() as usize;
        let list = self.lists.get_mut(level)?;
        let stream = list.pop_front();
        if list.is_empty() {
            self.mask &= !(1 << level);
        }
        stream.map(|stream| Choice { stream, budget: BATCH })
    }

    fn mask(&self) -> u32 {
        self.mask
    }
}

/// How long a program must be quiet before its streams run although it does not wait: long beside the time for which
/// a busy machine may leave a thread aside, short beside the patience of one who watches.
const QUIET: Duration = Duration::from_millis(200);

/// Picks by a seeded random number before every task, whatever the priority, and lets streams take turns: schedules that
/// a test would otherwise hardly see, and the same ones again for the same seed.
pub struct Seeded {
    /// Ordered, so that a choice does not depend on who was listed first.
    ready: BTreeSet<u32>,
    state: u64,
}

impl Seeded {
    /// The same seed gives the same choices for the same sequence of sets of ready streams.
    pub fn new(seed: u64) -> Seeded {
        Seeded { ready: BTreeSet::new(), state: seed }
    }

    // splitmix64 (Steele, Lea and Flood 2014).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Policy for Seeded {
    fn list(&mut self, candidate: Candidate) {
        self.ready.insert(candidate.stream);
    }

    fn next(&mut self) -> Option<Choice> {
        if self.ready.is_empty() {
            return None;
        }
        let pick = (self.random() % self.ready.len() as u64) as usize;
        let stream = self.ready.iter().nth(pick).copied()?;
        self.ready.remove(&stream);
        Some(Choice { stream, budget: 1 })
    }

    fn mask(&self) -> u32 {
        u32::from(!self.ready.is_empty())
    }

    fn follows(&self) -> bool {
        false
    }

    fn helps(&self) -> bool {
        false
    }

    fn turns(&self) -> Option<Duration> {
        Some(QUIET)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(stream: u32, priority: u8) -> Candidate {
        Candidate { stream, device: 0, priority }
    }

    #[test]
    fn priority_first_then_order_of_arrival() {
        let mut policy = ByPriority::default();
        for (stream, priority) in [(1, 7), (2, 3), (3, 3), (4, 0)] {
            policy.list(candidate(stream, priority));
        }
        assert_eq!(policy.mask(), 0b1000_1001);
        let order: Vec<_> = std::iter::from_fn(|| policy.next()).map(|c| c.stream).collect();
        assert_eq!(order, [4, 2, 3, 1]);
        assert_eq!(policy.mask(), 0);
    }

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let order = |seed| {
            let mut policy = Seeded::new(seed);
            (0..32).for_each(|s| policy.list(candidate(s, 0)));
            std::iter::from_fn(|| policy.next()).map(|c| (c.stream, c.budget)).collect::<Vec<_>>()
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
        let mut all: Vec<_> = order(9).iter().map(|c| c.0).collect();
        all.sort_unstable();
        assert_eq!(all, (0..32).collect::<Vec<_>>());
    }
}
