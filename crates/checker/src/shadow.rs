//! What is known about the bytes of a block: who wrote them last, who has read them since, and whether anybody ever wrote them.
//!
//! Kept per range, not per byte: an access replaces what it covers by one range, and neighbours that know the same become one. A
//! block holds at most [`MOST`] ranges and a range at most [`READERS`] readers; beyond that the oldest knowledge is dropped, which
//! can hide a finding but never makes one.

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
    start: usize,
    end: usize,
    write: Option<Access>,
    reads: SmallVec<[Access; 1]>,
    written: bool,
}

impl Known {
    fn new(start: usize, end: usize, written: bool) -> Known {
        Known { start, end, write: None, reads: SmallVec::new(), written }
    }

    fn alike(&self, other: &Known) -> bool {
        self.write == other.write && self.reads == other.reads && self.written == other.written
    }
}

/// The ranges of a block, by offset, without gaps.
#[derive(Debug)]
pub struct Shadow {
    ranges: Vec<Known>,
    /// Where the last access began.
    hint: usize,
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
        Shadow { ranges: vec![Known::new(0, len, written)], hint: 0 }
    }

    /// From now on every byte counts as written: by somebody whose writes cannot be seen.
    pub fn assume_written(&mut self) {
        self.ranges.iter_mut().for_each(|known| known.written = true);
    }

    /// These bytes were written, in a way that is order itself and conflicts with nothing.
    pub fn mark_written(&mut self, range: Range<usize>) {
        let places = self.places(&range);
        self.ranges.get_mut(places).into_iter().flatten().for_each(|known| known.written = true);
    }

    /// Number of ranges.
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// The first never written byte in a range.
    pub fn unwritten(&self, range: &Range<usize>) -> Option<usize> {
        let first = self.ranges.partition_point(|known| known.end <= range.start);
        let inside = self.ranges.iter().skip(first).take_while(|known| known.start < range.end);
        inside.filter(|known| !known.written).map(|known| known.start.max(range.start)).next()
    }

    /// Notes a read. `clock` is what lies before it. Tells of an access that it would clash with if it came a little earlier: see
    /// [`near`].
    pub fn read(
        &mut self,
        range: Range<usize>,
        access: Access,
        clock: &Clock,
        out: &mut Vec<Conflict>,
    ) -> Option<Access> {
        let places = self.places(&range);
        let mut missed = None;
        for known in self.ranges.get_mut(places.clone()).into_iter().flatten() {
            let hull = known.start..known.end;
            missed = missed.or(known.write.filter(|write| near(write, &access)));
            clash(known.write.filter(|write| !before(write, &access, clock)), true, hull, out);
            known.reads.retain(|read| !before(read, &access, clock));
            if known.reads.len() >= READERS {
                known.reads.remove(0);
            }
            known.reads.push(access);
        }
        if places.len() > 1 {
            // What this read made alike becomes one again.
            self.unite(places);
        }
        self.bound();
        missed
    }

    /// Notes a write; the rest is as with [`Shadow::read`].
    pub fn write(
        &mut self,
        range: Range<usize>,
        access: Access,
        clock: &Clock,
        out: &mut Vec<Conflict>,
    ) -> Option<Access> {
        let places = self.places(&range);
        let mut missed = None;
        for known in self.ranges.get(places.clone()).into_iter().flatten() {
            let hull = known.start..known.end;
            missed =
                missed.or(known.write.iter().chain(&known.reads).copied().find(|old| near(old, &access)));
            clash(known.write.filter(|write| !before(write, &access, clock)), true, hull.clone(), out);
            for read in known.reads.iter().filter(|read| !before(read, &access, clock)) {
                clash(Some(*read), false, hull.clone(), out);
            }
        }
        if let Some(known) = self.ranges.get_mut(places.start) {
            known.end = range.end;
            known.write = Some(access);
            known.reads.clear();
            known.written = true;
        }
        if places.len() > 1 {
            self.ranges.drain(places.start + 1..places.end);
        }
        self.bound();
        missed
    }

    /// Everything that touched the block and is not ordered before `clock`.
    pub fn open(&self, clock: &Clock) -> Vec<Conflict> {
        let mut out = Vec::new();
        for known in &self.ranges {
            let hull = known.start..known.end;
            clash(known.write.filter(|write| !clock.covers(write.epoch)), true, hull.clone(), &mut out);
            for read in known.reads.iter().filter(|read| !clock.covers(read.epoch)) {
                clash(Some(*read), false, hull.clone(), &mut out);
            }
        }
        out
    }

    /// Makes ranges begin and end where an access does: their places.
    #[inline]
    fn places(&mut self, range: &Range<usize>) -> Range<usize> {
        let exact = |known: &Known| known.start == range.start && known.end == range.end;
        if self.ranges.get(self.hint).is_some_and(exact) {
            return self.hint..self.hint + 1;
        }
        // A loop goes on behind its last access.
        let next = self.hint + 1;
        if self.ranges.get(next).is_some_and(exact) {
            self.hint = next;
            return next..next + 1;
        }
        let start = self.cut(range.start);
        let end = self.cut(range.end);
        self.hint = start;
        start..end
    }

    /// Makes a range begin at an offset: its place.
    fn cut(&mut self, offset: usize) -> usize {
        let place = self.ranges.partition_point(|known| known.end <= offset);
        let Some(known) = self.ranges.get_mut(place).filter(|known| known.start < offset) else {
            return place;
        };
        let tail = Known { start: offset, ..known.clone() };
        known.end = offset;
        self.ranges.insert(place + 1, tail);
        place + 1
    }

    /// Joins neighbours that know the same, from the range before to the one behind these places.
    fn unite(&mut self, places: Range<usize>) {
        let first = places.start.saturating_sub(1);
        let last = places.end.min(self.ranges.len().saturating_sub(1));
        let mut kept = first;
        for at in first + 1..=last {
            let alike = match (self.ranges.get(kept), self.ranges.get(at)) {
                (Some(one), Some(other)) => one.alike(other),
                _ => false,
            };
            if alike {
                let end = self.ranges.get(at).map_or(0, |known| known.end);
                if let Some(known) = self.ranges.get_mut(kept) {
                    known.end = end;
                }
            } else {
                kept += 1;
                if kept != at {
                    self.ranges.swap(kept, at);
                }
            }
        }
        if kept < last {
            self.ranges.drain(kept + 1..=last);
        }
    }

    /// Too many ranges: forgets who touched them, and keeps what was never written.
    #[inline]
    fn bound(&mut self) {
        if self.ranges.len() > MOST {
            self.forget();
        }
    }

    #[cold]
    fn forget(&mut self) {
        let mut merged: Vec<Known> = Vec::new();
        for known in &self.ranges {
            match merged.last_mut() {
                Some(last) if last.written == known.written => last.end = known.end,
                _ => merged.push(Known::new(known.start, known.end, known.written)),
            }
        }
        if merged.len() > MOST / 2 {
            let end = merged.last().map_or(0, |known| known.end);
            merged = vec![Known::new(0, end, true)];
        }
        self.ranges = merged;
        self.hint = 0;
    }
}

/// Whether an earlier access is ordered before a new one: by the clock, or as part of the same stream or task.
fn before(earlier: &Access, new: &Access, clock: &Clock) -> bool {
    let own = earlier.epoch.is_host() == new.epoch.is_host() && earlier.epoch.line() == new.epoch.line();
    (own && earlier.epoch.time() <= new.epoch.time()) || clock.covers(earlier.epoch)
}

/// Whether both are calls of host threads, and not of one: had they overlapped in time, they would clash.
fn near(earlier: &Access, new: &Access) -> bool {
    earlier.epoch.is_host() && new.epoch.is_host() && earlier.who != new.who
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
