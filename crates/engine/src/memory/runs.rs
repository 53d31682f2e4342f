//! Free chunks of an arena, as runs: best fit, lowest address first, neighbours joined. The run that came last stands beside the others
//! until something else is asked for than a run of its length: programs free and allocate the same size in turns.

use std::collections::{BTreeMap, BTreeSet};

/// A set of free runs, in chunks.
#[derive(Default)]
pub(super) struct Runs {
    /// Start to length.
    by_start: BTreeMap<u32, u32>,
    /// (length, start).
    by_len: BTreeSet<(u32, u32)>,
    /// The run that came last: start and length, which is 0 when there is none. It is in neither of the two.
    last: (u32, u32),
    /// Sum of the lengths.
    total: u64,
}

/// How many runs that are long enough, but perhaps not at an aligned place, are tried before one is taken that is long
/// enough at any place.
const TRIES: usize = 32;

impl Runs {
    /// Chunks in the set.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Takes `len` chunks that start at a multiple of `align` (a power of two).
    pub fn take(&mut self, len: u32, align: u32) -> Option<u32> {
        if self.last.1 == len && len > 0 && self.last.0.is_multiple_of(align) {
            self.total -= u64::from(len);
            return Some(std::mem::take(&mut self.last).0);
        }
        self.settle();
        let first = self.fit(len, align)?;
        self.total -= u64::from(len);
        Some(first)
    }

    fn fit(&mut self, len: u32, align: u32) -> Option<u32> {
        let fits = |&(have, start): &(u32, u32)| {
            let first = start.checked_next_multiple_of(align)?;
            let end = first.checked_add(len)?;
            (end <= start + have).then_some((have, start, first))
        };
        let surely = len.saturating_add(align - 1);
        let near = self.by_len.range((len, 0)..).take(TRIES).find_map(fits);
        let (have, start, first) = near.or_else(|| self.by_len.range((surely, 0)..).find_map(fits))?;
        self.remove(start, have);
        if first > start {
            self.insert(start, first - start);
        }
        if first + len < start + have {
            self.insert(first + len, start + have - first - len);
        }
        Some(first)
    }

    /// Adds a run.
    #[inline]
    pub fn give(&mut self, start: u32, len: u32) {
        self.settle();
        self.total += u64::from(len);
        self.last = (start, len);
    }

    /// Puts the last run to the others.
    fn settle(&mut self) {
        if self.last.1 > 0 {
            let (start, len) = std::mem::take(&mut self.last);
            self.join(start, len);
        }
    }

    /// Joins a run with its neighbours.
    fn join(&mut self, start: u32, len: u32) {
        let (mut start, mut len) = (start, len);
        if let Some((&before, &have)) = self.by_start.range(..start).next_back()
            && before + have == start
        {
            self.remove(before, have);
            (start, len) = (before, len + have);
        }
        if let Some(&have) = self.by_start.get(&(start + len)) {
            self.remove(start + len, have);
            len += have;
        }
        self.insert(start, len);
    }

    /// Chunks of the longest run.
    pub fn longest(&mut self) -> u32 {
        self.settle();
        self.by_len.last().map_or(0, |&(len, _)| len)
    }

    /// Takes the longest run that is not `spared`.
    pub fn take_longest(&mut self, spared: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
        self.settle();
        let &(len, start) = self.by_len.iter().rev().find(|&&(len, start)| !spared(start, len))?;
        self.remove(start, len);
        self.total -= u64::from(len);
        Some((start, len))
    }

    fn insert(&mut self, start: u32, len: u32) {
        self.by_start.insert(start, len);
        self.by_len.insert((len, start));
    }

    fn remove(&mut self, start: u32, len: u32) {
        self.by_start.remove(&start);
        self.by_len.remove(&(len, start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_run_is_there_for_whatever_is_asked() {
        let mut runs = Runs::default();
        runs.give(0, 100);
        assert_eq!((runs.take(10, 1), runs.take(10, 1), runs.take(10, 1)), (Some(0), Some(10), Some(20)));
        runs.give(10, 10);
        assert_eq!((runs.total(), runs.take(10, 1)), (80, Some(10)));
        // Of another length, or askew: as one of all.
        runs.give(0, 10);
        runs.give(10, 10);
        assert_eq!((runs.take(15, 1), runs.total()), (Some(0), 75));
        runs.give(0, 15);
        assert_eq!(runs.take(15, 8), Some(0));
        runs.give(0, 15);
        runs.give(20, 10);
        assert_eq!((runs.longest(), runs.total()), (100, 100));
        runs.give(200, 3);
        assert_eq!(runs.take(3, 16), Some(0));
        assert_eq!((runs.take_longest(|_, _| false), runs.total()), (Some((3, 97)), 3));
        assert_eq!((runs.take_longest(|start, _| start == 200), runs.take(4, 1)), (None, None));
        assert_eq!((runs.take(3, 1), runs.total(), runs.take(1, 1)), (Some(200), 0, None));
    }

    #[test]
    fn nothing_is_found_in_an_empty_one() {
        let mut runs = Runs::default();
        assert_eq!((runs.take(0, 1), runs.take(1, 1), runs.longest()), (None, None, 0));
    }
}
