//! How much of a copy's host memory is watched: its pages shut, its bytes summed up.
//!
//! Shutting and opening pages takes some microseconds whatever the copy is ([`RUN`]), and more for each page ([`PAGE_NS`]): a thorough watch
//! costs more than most copies. So in warn mode only the first [`FIRST`] copies of a place in the program into or out of a block
//! are watched thoroughly. What comes later at that place has proved right so often, and gets what the copies have saved up meanwhile
//! ([`Purse`]): the first and the last pages. Strict mode watches every copy thoroughly.
//!
//! Nothing here depends on time: the same calls in the same order are watched alike in every run.

use std::ops::Range as Pages;

use smallvec::SmallVec;
use toprope_engine::memory::{self, Block, Owner, Shut};
use toprope_runtime::observer::Range;

use crate::site::Site;
use crate::touch;

/// Copies of one place and block that are watched thoroughly.
const FIRST: u32 = 4;
/// Places of a block that are told apart.
const PLACES: usize = 64;
/// Nanoseconds for shutting and opening one run of pages: measured, rounded up. Several times that ([`BUSY_RUN`]) when a worker
/// runs meanwhile, since the system then waits twice until its processor has heard of it: while other copies are followed, and
/// for copies that workers begin at once ([`LONG`]).
const RUN: u64 = 8000;
const BUSY_RUN: u64 = 36_000;
const LONG: usize = 2 << 20;
/// For each of its pages.
const PAGE_NS: u64 = 160;
/// What a copy pays in as a call, and a part of the nanoseconds that its bytes take: a hundredth and a half of a fast copy.
const CALL: u64 = 50;
const BYTES_SHIFT: u32 = 12;
const PAGE: usize = 4096;
/// Pages at either end that are shut when there is enough for them.
const MANY: usize = 16;

/// Bytes that are summed up in full; of more, [`SAMPLE`] of each [`STRIDE`] are, or of more when there would be more than
/// [`SAMPLES`] of these.
const FULL: usize = 16 << 10;
const SAMPLE: usize = 64;
const STRIDE: usize = 4096;
const SAMPLES: usize = 4096;
/// The same for copies that are not watched thoroughly: [`FEW`] samples, and one more for each [`WIDE`].
const FULL_LIGHT: usize = 512;
const FEW: usize = 4;
const WIDE: usize = 512 << 10;

/// How thoroughly a copy is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// All whole pages, and the bytes beside them.
    Thorough,
    /// So many pages at either end; samples of the rest.
    Light(usize),
}

/// What copies have saved up for the watch over later ones, in nanoseconds.
#[derive(Debug, Default)]
pub struct Purse(u64);

impl Purse {
    /// The most that it holds: a burst of copies after a long silence must not be slow.
    const MOST: u64 = 1_000_000;

    /// A copy of so many bytes pays in.
    fn pay(&mut self, bytes: usize) {
        self.0 = (self.0 + CALL + (bytes >> BYTES_SHIFT) as u64).min(Self::MOST);
    }

    /// Pages at either end that it has enough for; takes that out. `busy`: other copies are followed.
    fn ends(&mut self, pages: usize, busy: bool) -> usize {
        let run = if busy { BUSY_RUN } else { RUN };
        let cost = |each: usize| match pages {
            0 => u64::MAX,
            _ if pages <= 2 * each => run + PAGE_NS * pages as u64,
            _ => 2 * (run + PAGE_NS * each as u64),
        };
        let found = [MANY, 1].into_iter().find(|each| cost(*each) <= self.0);
        self.0 -= found.map_or(0, cost);
        found.unwrap_or(0)
    }
}

/// Where copies of a block have come from, and how often.
#[derive(Debug, Default)]
pub struct Places(SmallVec<[(Site, u32); 1]>);

impl Places {
    /// How thoroughly the next copy of a place is watched; `busy` when others are followed already.
    pub fn level(&mut self, site: Site, bytes: &Range, purse: &mut Purse, busy: bool) -> Level {
        let known = self.0.iter().position(|(known, _)| *known == site);
        if known.is_none() && self.0.len() < PLACES {
            self.0.push((site, 0));
        }
        let place = known.unwrap_or(self.0.len().saturating_sub(1));
        if let Some((_, count)) =
            self.0.get_mut(place).filter(|(known, count)| *known == site && *count < FIRST)
        {
            *count += 1;
            return Level::Thorough;
        }
        purse.pay(bytes.len);
        Level::Light(purse.ends(whole(bytes).len() / PAGE, busy || bytes.len >= LONG))
    }
}

/// The whole pages of a range.
fn whole(range: &Range) -> Pages<usize> {
    let (start, end) = (range.start.next_multiple_of(PAGE), (range.start + range.len) / PAGE * PAGE);
    if start < end { start..end } else { 0..0 }
}

/// Runs of pages that are shut.
pub type Runs = SmallVec<[Pages<usize>; 2]>;

/// Keeps host code off pages of pinned memory: which they are.
pub fn shut(range: &Range, what: Shut, level: Level) -> Runs {
    let pages = whole(range);
    let mut runs = Runs::new();
    if pages.is_empty() || level == Level::Light(0) {
        return runs;
    }
    match level {
        Level::Light(each) if pages.len() > 2 * each * PAGE => {
            runs.push(pages.start..pages.start + each * PAGE);
            runs.push(pages.end - each * PAGE..pages.end);
        }
        Level::Thorough | Level::Light(_) => runs.push(pages),
    }
    let Ok(runtime) = toprope_runtime::process::runtime() else { return Runs::new() };
    runs.iter_mut().for_each(|pages| *pages = runtime.space.shut(pages.clone(), what, touch::note));
    runs.retain(|pages| pages.start < pages.end);
    if !runs.is_empty() {
        // A handler that the program has set since would get the faults.
        toprope_engine::fault::reclaim();
    }
    runs
}

/// Lets host code on pages again.
pub fn open(runs: &Runs, what: Shut) {
    if let Ok(runtime) = toprope_runtime::process::runtime() {
        runs.iter().for_each(|pages| runtime.space.open(pages.clone(), what));
    }
}

/// A checksum of a part of a block.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// The part.
    pub part: Range,
    sum: u64,
    light: bool,
}

impl Sum {
    fn new(block: &Block, part: Range, light: bool) -> Option<Sum> {
        Some(Sum { part, sum: sum(block, &part, light)?, light })
    }

    /// Whether the bytes are others now. (Not if they are gone.)
    pub fn differs(&self, block: &Block) -> bool {
        sum(block, &self.part, self.light).is_some_and(|now| now != self.sum)
    }
}

/// Checksums of what page protection does not cover.
pub fn sums(block: &Block, range: &Range, runs: &Runs, level: Level) -> SmallVec<[Sum; 2]> {
    if level != Level::Thorough {
        return Sum::new(block, *range, true).into_iter().collect();
    }
    let end = range.start + range.len;
    let (head, tail) = runs.first().map_or((end, end), |pages| (pages.start, pages.end));
    [(range.start, head), (tail, end)]
        .into_iter()
        .filter(|(start, end)| start < end)
        .filter_map(|(start, end)| Sum::new(block, Range { start, len: end - start }, false))
        .collect()
}

/// None when the memory is not there.
fn sum(block: &Block, range: &Range, light: bool) -> Option<u64> {
    let runtime = toprope_runtime::process::runtime().ok()?;
    // Pages that are shut are read through the mirror; registered memory has none and is never shut.
    let start = if block.owner == Owner::Pinned { runtime.space.inner(range.start) } else { range.start };
    let mut pieces = Pieces { buffer: [0; PIECE], held: 0, hash: range.len as u64 };
    let full = if light { FULL_LIGHT } else { FULL };
    if range.len <= full {
        for at in (0..range.len).step_by(PIECE) {
            pieces.add(start + at, PIECE.min(range.len - at))?;
        }
        return Some(pieces.end());
    }
    let last = range.len - SAMPLE;
    let step = match light {
        true => last / (FEW + range.len / WIDE).min(SAMPLES),
        false => (range.len / SAMPLES).next_multiple_of(SAMPLE).max(STRIDE),
    };
    for at in (0..last).step_by(step) {
        pieces.add(start + at, SAMPLE)?;
    }
    // The last bytes, whatever the step.
    pieces.add(start + last, SAMPLE)?;
    Some(pieces.end())
}

/// Bytes on their way into a checksum: a buffer full of them at a time.
struct Pieces {
    buffer: [u8; PIECE],
    held: usize,
    hash: u64,
}

impl Pieces {
    /// [`PIECE`] bytes at most. None when they are not there.
    fn add(&mut self, start: usize, len: usize) -> Option<()> {
        if self.held + len > PIECE {
            self.flush();
        }
        let room = self.buffer.get_mut(self.held..self.held + len)?;
        // SAFETY: this frame's own bytes; the source may be gone, which `copy` reports.
        unsafe { memory::copy(room.as_mut_ptr() as usize, start, len) }.ok()?;
        self.held += len;
        Some(())
    }

    fn flush(&mut self) {
        self.hash = mix(self.hash, self.buffer.get(..self.held).unwrap_or_default());
        self.held = 0;
    }

    fn end(mut self) -> u64 {
        self.flush();
        self.hash
    }
}

/// Bytes that are looked at together.
const PIECE: usize = 1024;

const ODD: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x27d4_eb2f_1656_67c5];

#[inline(always)]
fn fold(hash: u64, word: [u8; 8], odd: u64) -> u64 {
    (hash ^ u64::from_ne_bytes(word)).wrapping_mul(odd).rotate_left(29)
}

/// Four words, each into its lane. Spelled out: this is most of what a checksum takes.
#[inline(always)]
fn step(lanes: &mut [u64; 4], block: &[u8; 32]) {
    let ([a, b, c, d], &[e, f, g, h]) = (lanes, block.as_chunks::<8>().0) else { return };
    *a = fold(*a, e, ODD[0]);
    *b = fold(*b, f, ODD[1]);
    *c = fold(*c, g, ODD[2]);
    *d = fold(*d, h, ODD[3]);
}

/// Four words at a time, multiplied and folded.
fn mix(seed: u64, bytes: &[u8]) -> u64 {
    let [a, b, c, d] = ODD;
    let mut lanes = [a ^ seed, b ^ seed, c ^ seed, d ^ seed];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        step(&mut lanes, block);
    }
    if !rest.is_empty() {
        let mut last = [0u8; 32];
        if let Some(part) = last.get_mut(..rest.len()) {
            part.copy_from_slice(rest);
        }
        step(&mut lanes, &last);
    }
    lanes.into_iter().fold(seed ^ bytes.len() as u64, |hash, lane| fold(hash, lane.to_ne_bytes(), a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        let bytes: Vec<u8> = (0..200).map(|i| (i * 7) as u8).collect();
        let sum = mix(1, &bytes);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                assert_ne!(mix(1, &other), sum, "byte {at}, bit {bit}");
            }
        }
        assert_ne!(mix(1, &bytes[..199]), sum);
        assert_eq!(mix(1, &bytes.clone()), sum);
    }
    fn place(number: usize) -> Site {
        crate::site::of(&[number + 2, number + 3])
    }

    #[test]
    fn the_first_copies_of_a_place_are_watched_whole_and_later_ones_as_they_pay() {
        let (mut places, mut purse) = (Places::default(), Purse::default());
        let copy = Range { start: PAGE, len: 1 << 20 };
        let levels = |places: &mut Places, purse: &mut Purse, site| -> Vec<Level> {
            (0..400).map(|_| places.level(site, &copy, purse, false)).collect()
        };
        let first = levels(&mut places, &mut purse, place(1));
        let thorough = first.iter().take_while(|level| **level == Level::Thorough).count();
        assert_eq!(thorough, FIRST as usize);
        assert!(!first[thorough..].contains(&Level::Thorough));
        let watched = first.iter().filter(|level| **level == Level::Light(1)).count();
        assert!((5..100).contains(&watched), "{watched}");
        // Another place begins anew, and what a run costs is never more than was paid in.
        let other = levels(&mut places, &mut purse, place(2));
        assert_eq!(other.iter().take_while(|level| **level == Level::Thorough).count(), FIRST as usize);
        let paid = 2 * 396 * (CALL + (copy.len >> BYTES_SHIFT) as u64);
        let spent =
            2 * (RUN + PAGE_NS) * (watched + other.iter().filter(|l| **l == Level::Light(1)).count()) as u64;
        assert!(spent <= paid && paid - spent == purse.0);
    }

    #[test]
    fn a_large_copy_pays_for_its_ends() {
        let (mut places, mut purse) = (Places::default(), Purse::default());
        let copy = Range { start: 0, len: 1 << 30 };
        for number in 0..20 {
            let wanted = if number < FIRST { Level::Thorough } else { Level::Light(MANY) };
            assert_eq!(places.level(place(3), &copy, &mut purse, false), wanted);
        }
        // A copy without a whole page costs nothing.
        let before = purse.0;
        let small = Range { start: 64, len: PAGE };
        for _ in 0..=FIRST {
            places.level(place(4), &small, &mut purse, true);
        }
        assert_eq!(purse.0, before + CALL + 1);
    }
}
