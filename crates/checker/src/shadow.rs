//! What is known about the bytes of a block: who wrote them last, who has read them since, and whether anybody ever wrote them.
//!
//! Kept per range, not per byte: an access replaces what it covers by one range, and neighbours that know the same become one. A
//! block holds at most [`MOST`] ranges and a range at most [`READERS`] readers; beyond that the oldest knowledge is dropped, which
//! can hide a finding but never makes one.

use std::collections::BTreeMap;
use std::ops::Range;

use smallvec::SmallVec;

use crate::clock::{Clock, Epoch};
use crate::site::Site;

/// Ranges of a block.
pub const MOST: usize = 4096;
/// Readers of a range since its last write.
pub const READERS: usize = 16;

/// One access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// When.
    pub epoch: Epoch,
    /// The call that it belongs to.
    pub api: u16,
    /// Where that was made.
    pub site: Site,
    /// Who: an index of [`crate::model::names`].
    pub who: u32,
}

/// What is known about one range.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    end: usize,
    write: Option<Access>,
    reads: SmallVec<[Access; 1]>,
    written: bool,
}

/// The ranges of a block, by offset.
#[derive(Debug)]
pub struct Shadow {
    ranges: BTreeMap<usize, Known>,
}

/// An earlier access that a new one is not ordered after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The earlier one.
    pub earlier: Access,
    /// Whether it wrote.
    pub wrote: bool,
    /// First offset that both touch, and how many bytes from there.
    pub at: usize,
    /// Bytes.
    pub len: usize,
}

impl Shadow {
    /// A block of so many bytes that nobody has touched; `written` when its bytes count as written nevertheless.
    pub fn new(len: usize, written: bool) -> Shadow {
        let whole = Known { end: len, write: None, reads: SmallVec::new(), written };
        Shadow { ranges: BTreeMap::from([(0, whole)]) }
    }

    /// From now on every byte counts as written: by somebody whose writes cannot be seen.
    pub fn assume_written(&mut self) {
        self.ranges.values_mut().for_each(|known| known.written = true);
    }

    /// These bytes were written, in a way that is order itself and conflicts with nothing.
    pub fn mark_written(&mut self, range: Range<usize>) {
        self.cut(range.start);
        self.cut(range.end);
        self.ranges.range_mut(range).for_each(|(_, known)| known.written = true);
    }

    /// Number of ranges.
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// The first never written byte in a range.
    pub fn unwritten(&self, range: &Range<usize>) -> Option<usize> {
        let first = self.first(range.start);
        self.ranges
            .range(first..range.end)
            .find(|(_, known)| !known.written)
            .map(|(start, _)| (*start).max(range.start))
    }

    /// Notes a read. `clock` is what lies before it.
    pub fn read(&mut self, range: Range<usize>, access: Access, clock: &Clock, out: &mut Vec<Conflict>) {
        self.cut(range.start);
        self.cut(range.end);
        let keys: SmallVec<[usize; 4]> = self.ranges.range(range.clone()).map(|(start, _)| *start).collect();
        for start in &keys {
            let Some(known) = self.ranges.get_mut(start) else { continue };
            let hull = *start..known.end;
            clash(known.write.filter(|write| !before(write, &access, clock)), true, hull, out);
            known.reads.retain(|read| !before(read, &access, clock));
            if known.reads.len() >= READERS {
                known.reads.remove(0);
            }
            known.reads.push(access);
        }
        // What this read made alike becomes one again.
        for start in keys.iter().rev().chain([&range.end]) {
            self.unite(*start);
        }
        self.bound();
    }

    /// Notes a write.
    pub fn write(&mut self, range: Range<usize>, access: Access, clock: &Clock, out: &mut Vec<Conflict>) {
        let one = self.ranges.get(&range.start).is_some_and(|known| known.end == range.end);
        if !one {
            self.cut(range.start);
            self.cut(range.end);
        }
        let mut first = true;
        let mut rest: SmallVec<[usize; 4]> = SmallVec::new();
        for (start, known) in self.ranges.range_mut(range.clone()) {
            let hull = *start..known.end;
            clash(known.write.filter(|write| !before(write, &access, clock)), true, hull.clone(), out);
            for read in known.reads.iter().filter(|read| !before(read, &access, clock)) {
                clash(Some(*read), false, hull.clone(), out);
            }
            if first {
                *known = Known { end: range.end, write: Some(access), reads: SmallVec::new(), written: true };
                first = false;
            } else {
                rest.push(*start);
            }
        }
        rest.iter().for_each(|start| _ = self.ranges.remove(start));
        if !one {
            self.bound();
        }
    }

    /// Everything that touched the block and is not ordered before `clock`.
    pub fn open(&self, clock: &Clock) -> Vec<Conflict> {
        let mut out = Vec::new();
        for (start, known) in &self.ranges {
            let hull = *start..known.end;
            clash(known.write.filter(|write| !clock.covers(write.epoch)), true, hull.clone(), &mut out);
            for read in known.reads.iter().filter(|read| !clock.covers(read.epoch)) {
                clash(Some(*read), false, hull.clone(), &mut out);
            }
        }
        out
    }

    /// The key of the range around an offset.
    fn first(&self, offset: usize) -> usize {
        self.ranges.range(..=offset).next_back().map_or(offset, |(start, _)| *start)
    }

    /// Makes a range begin at an offset.
    fn cut(&mut self, offset: usize) {
        let Some((start, known)) = self.ranges.range_mut(..=offset).next_back() else { return };
        if *start == offset || known.end <= offset {
            return;
        }
        let tail = known.clone();
        known.end = offset;
        self.ranges.insert(offset, tail);
    }

    /// Joins the range that begins at an offset to the one before, if they know the same.
    fn unite(&mut self, offset: usize) {
        let Some(known) = self.ranges.get(&offset) else { return };
        let Some((_, before)) = self.ranges.range(..offset).next_back() else { return };
        if before.end != offset
            || before.write != known.write
            || before.reads != known.reads
            || before.written != known.written
        {
            return;
        }
        let end = known.end;
        self.ranges.remove(&offset);
        if let Some((_, before)) = self.ranges.range_mut(..offset).next_back() {
            before.end = end;
        }
    }

    /// Too many ranges: forgets who touched them, and keeps what was never written.
    fn bound(&mut self) {
        if self.ranges.len() <= MOST {
            return;
        }
        let mut merged: BTreeMap<usize, Known> = BTreeMap::new();
        let mut last: Option<(usize, usize, bool)> = None;
        let mut put = |(start, end, written): (usize, usize, bool)| {
            merged.insert(start, Known { end, write: None, reads: SmallVec::new(), written });
        };
        for (start, known) in &self.ranges {
            last = match last {
                Some((from, _, written)) if written == known.written => Some((from, known.end, written)),
                earlier => {
                    earlier.into_iter().for_each(&mut put);
                    Some((*start, known.end, known.written))
                }
            };
        }
        last.into_iter().for_each(&mut put);
        if merged.len() > MOST / 2 {
            let end = merged.values().map(|known| known.end).max().unwrap_or(0);
            merged = BTreeMap::from([(0, Known { end, write: None, reads: SmallVec::new(), written: true })]);
        }
        self.ranges = merged;
    }
}

/// Whether an earlier access is ordered before a new one: by the clock, or as part of the same stream or task.
fn before(earlier: &Access, new: &Access, clock: &Clock) -> bool {
    let own = earlier.epoch.is_host() == new.epoch.is_host() && earlier.epoch.line() == new.epoch.line();
    (own && earlier.epoch.time() <= new.epoch.time()) || clock.covers(earlier.epoch)
}

/// Lists a conflict, once for each earlier access.
fn clash(earlier: Option<Access>, wrote: bool, hull: Range<usize>, out: &mut Vec<Conflict>) {
    let Some(earlier) = earlier else { return };
    if let Some(same) = out.iter_mut().find(|c| c.earlier == earlier && c.wrote == wrote) {
        if same.at + same.len == hull.start {
            same.len += hull.len();
        }
        return;
    }
    out.push(Conflict { earlier, wrote, at: hull.start, len: hull.len() });
}

#[cfg(test)]
#[path = "shadow/tests.rs"]
mod tests;
