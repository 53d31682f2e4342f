//! Free chunks of an arena, as runs: best fit, lowest address first, neighbours joined.

use std::collections::{BTreeMap, BTreeSet};

/// A set of free runs, in chunks.
#[derive(Default)]
pub(super) struct Runs {
    /// Start to length.
    by_start: BTreeMap<u32, u32>,
    /// (length, start).
    by_len: BTreeSet<(u32, u32)>,
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

    /// Adds a run and joins it with its neighbours.
    pub fn give(&mut self, start: u32, len: u32) {
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
    pub fn longest(&self) -> u32 {
        self.by_len.last().map_or(0, |&(len, _)| len)
    }

    /// Takes the longest run that is not `spared`.
    pub fn take_longest(&mut self, spared: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
        let &(len, start) = self.by_len.iter().rev().find(|&&(len, start)| !spared(start, len))?;
        self.remove(start, len);
        Some((start, len))
    }

    fn insert(&mut self, start: u32, len: u32) {
        self.by_start.insert(start, len);
        self.by_len.insert((len, start));
        self.total += u64::from(len);
    }

    fn remove(&mut self, start: u32, len: u32) {
        self.by_start.remove(&start);
        self.by_len.remove(&(len, start));
        self.total -= u64::from(len);
    }
}
