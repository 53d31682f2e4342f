//! Copies of host memory that no host is ordered after yet, and the host memory's protection meanwhile.
//!
//! # A copy or fill of pinned or registered memory
//! | it | whole pages of pinned memory | the rest |
//! | --- | --- | --- |
//! | writes (to the host) | no access | not covered |
//! | reads (from the host) | no writes | a checksum when it is added, and another when a host is ordered after it |
//!
//! The second checksum is compared unless something else that the model was told of has written to the block meanwhile, or might
//! have. It is taken when the host is ordered, not when the copy runs: a write that came after the copy had run is found too,
//! whatever the scheduling.
//!
//! All this begins when the model gets to the copy: before that, a function of the program that comes first in the stream, or that its
//! stream waits for, may still use the memory. It is over as soon as any host thread, or a function of the program that a stream calls, is ordered after the copy: what
//! one thread knows it may have told the others.

use std::collections::VecDeque;
use std::ops::Range as Pages;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use toprope_engine::memory::{self, Block, Owner, Shut};
use toprope_engine::queue::Mark;
use toprope_runtime::Api;
use toprope_runtime::observer::Range;

use super::{Call, Model};
use crate::clock::{Clock, Epoch};
use crate::news::FOLLOWED;
use crate::rule;
use crate::site::{self, Site};
use crate::touch;
use crate::traits;

/// Copies that are followed; more go unprotected. (Each may cost the process two mappings, of which the system allows 65530.)
pub const MOST: usize = 8192;
/// Bytes of registered memory that a checksum reads in full; of more, it reads [`SAMPLE`] of each [`STRIDE`], or of more when there
/// would be more than [`SAMPLES`] of these.
const FULL: usize = 16 << 10;
const SAMPLE: usize = 64;
const STRIDE: usize = 4096;
const SAMPLES: usize = 4096;
/// aclrtHostRegister's flags that give the memory to kernels, whose writes nobody tells: MAPPED and IOMEMORY.
const MAPPED: u64 = (toprope_runtime::host::MAPPED | toprope_runtime::host::IO_MEMORY) as u64;

/// A copy, or a fill.
#[derive(Debug)]
pub struct Pending {
    mark: Mark,
    /// The call that added it.
    pub api: Api,
    /// Where.
    pub site: Site,
    /// Its stream.
    pub who: u32,
    /// The host memory.
    pub range: Range,
    /// Whether it writes there.
    pub writes: bool,
    block: Block,
    pages: Pages<usize>,
    sums: SmallVec<[(Range, u64); 2]>,
    /// [`Writes::told`] when it was added.
    told: u64,
}

/// Writes to a block of host memory, by tasks and calls.
#[derive(Debug, Default)]
pub struct Writes {
    /// So many the model was told of.
    told: u64,
    /// Of these no host is ordered after so many.
    open: u32,
    /// There were more than could be followed.
    unsure: bool,
}

/// All of them: for each stream by its index, in its order.
#[derive(Debug, Default)]
pub struct Pendings {
    lines: Vec<VecDeque<Pending>>,
    count: usize,
}

impl Pendings {
    /// Whether there are any.
    #[inline]
    pub fn any(&self) -> bool {
        self.count != 0
    }
}

fn moves_bytes(api: Api) -> bool {
    traits::is(api, traits::COPY | traits::FILL)
}

/// Whether it is memory in which copies are followed.
pub(super) fn is_host(owner: Owner) -> bool {
    matches!(owner, Owner::Pinned | Owner::Registered)
}

fn contains(range: &Range, address: usize) -> bool {
    address.wrapping_sub(range.start) < range.len
}

impl Model {
    /// A call has written.
    pub(super) fn wrote(&mut self, ranges: &[Range]) {
        for range in ranges {
            if let Some(writes) = self.writes_of(range.start) {
                writes.told += 1;
            }
        }
    }

    fn writes_of(&mut self, address: usize) -> Option<&mut Writes> {
        let living = self.blocks.at_mut(self.blocks.find(address)?)?;
        is_host(living.block.owner).then_some(&mut living.writes)
    }

    /// The model got to a task.
    pub(super) fn pend(&mut self, line: usize, mark: Mark, call: &Call, reads: &[Range], writes: &[Range]) {
        for range in writes {
            self.pend_one(line, mark, call, *range, true);
        }
        for range in reads {
            self.pend_one(line, mark, call, *range, false);
        }
    }

    /// A task wrote a word. Host code may wait for one that it sees, and then everything before it is done.
    pub(super) fn word_written(&mut self, line: usize, word: usize, clock: &Clock) {
        let device = |block: &Block| matches!(block.owner, Owner::Device(_) | Owner::Image(_));
        let unseen = !self.one_memory && self.around(word).is_some_and(|living| device(&living.block));
        if !unseen {
            self.settle(clock);
            self.settle_line(line);
        }
    }

    fn pend_one(&mut self, line: usize, mark: Mark, call: &Call, range: Range, writes: bool) {
        let Some(api) = call.api else { return };
        let Some(living) = self.around(range.start).filter(|living| is_host(living.block.owner)) else {
            return;
        };
        let block = living.block;
        let full = self.pendings.count >= MOST;
        let one_memory = self.one_memory;
        let kernels_write =
            block.tag & MAPPED != 0 && block.owner == Owner::Registered || self.aliased(&block);
        let Some(seen) = self.writes_of(range.start) else { return };
        if writes {
            seen.told += 1;
            seen.unsure |= full;
            seen.open += u32::from(!full);
        }
        let known = !seen.unsure && seen.open == 0 && !kernels_write && !one_memory;
        let told = seen.told;
        if full || !(writes || moves_bytes(api)) {
            return;
        }
        let pages = if moves_bytes(api) { shut(&range, writes) } else { 0..0 };
        let sums = if known && !writes { sums(&block, &range, &pages) } else { SmallVec::new() };
        if self.pendings.lines.len() <= line {
            self.pendings.lines.resize_with(line + 1, VecDeque::new);
        }
        let Call { site, who, .. } = *call;
        if let Some(queue) = self.pendings.lines.get_mut(line) {
            queue.push_back(Pending { mark, api, site, who, range, writes, block, pages, sums, told });
            self.pendings.count += 1;
            FOLLOWED.fetch_add(1, Ordering::Release);
        }
    }

    /// Whether devices have addresses of their own for some of a block: then kernels may write there.
    fn aliased(&self, block: &Block) -> bool {
        let same = toprope_runtime::memory::tag::SAME_ADDRESS;
        let within = |tag: u64| (tag as usize).wrapping_sub(block.base) < block.usable;
        block.owner == Owner::Pinned
            && (block.tag & same != 0 || self.aliases.values().any(|target| within(*target)))
    }

    /// Host code is ordered after all that lies before a clock.
    pub(super) fn settle(&mut self, clock: &Clock) {
        if self.pendings.count == 0 {
            return;
        }
        for line in 0..self.pendings.lines.len() {
            let until = clock.of_stream(line);
            while let Some(queue) = self.pendings.lines.get_mut(line) {
                let before = |pending: &Pending| Epoch::task(pending.mark).time() <= until;
                if !queue.front().is_some_and(before) {
                    break;
                }
                let Some(pending) = queue.pop_front() else { break };
                self.end(pending, true);
            }
        }
    }

    /// A block is gone.
    pub(super) fn settle_block(&mut self, block: &Block) {
        if self.pendings.count != 0 && is_host(block.owner) {
            self.drop_those(|pending| pending.block.serial == block.serial);
        }
    }

    /// Nothing of a stream is followed any more: its index belongs to a new one, say.
    pub(super) fn settle_line(&mut self, line: usize) {
        while let Some(pending) = self.pendings.lines.get_mut(line).and_then(VecDeque::pop_front) {
            self.end(pending, false);
        }
    }

    /// Lets host code on all pages again.
    pub fn settle_all(&mut self) {
        self.drop_those(|_| true);
    }

    fn drop_those(&mut self, which: impl Fn(&Pending) -> bool) {
        for line in 0..self.pendings.lines.len() {
            let Some(queue) = self.pendings.lines.get_mut(line) else { continue };
            let (gone, kept) = std::mem::take(queue).into_iter().partition(&which);
            *queue = kept;
            let gone: VecDeque<Pending> = gone;
            for pending in gone {
                self.end(pending, false);
            }
        }
    }

    fn end(&mut self, pending: Pending, look: bool) {
        self.pendings.count -= 1;
        FOLLOWED.fetch_sub(1, Ordering::Release);
        if let Ok(runtime) = toprope_runtime::process::runtime() {
            runtime.space.open(pending.pages.clone(), kind(pending.writes));
        }
        let place = self.blocks.find(pending.block.base);
        let Some(living) = place.and_then(|place| self.blocks.at_mut(place)) else { return };
        if living.block.serial != pending.block.serial {
            return;
        }
        if pending.writes {
            living.writes.open = living.writes.open.saturating_sub(1);
        }
        let alone = living.writes.told == pending.told;
        if !look || !alone || self.aliased(&pending.block) {
            return;
        }
        let changed = pending
            .sums
            .iter()
            .find(|(range, sum)| self::sum(&pending.block, range).is_some_and(|now| now != *sum));
        if let Some((range, _)) = changed {
            let finding = rule::host_write_early::changed(&self.names, &pending, range);
            self.out.push(finding);
        }
    }

    /// Turns what the signal handler noted into findings.
    pub fn touches(&mut self) {
        for noted in touch::take() {
            let met = |pending: &&Pending| {
                pending.pages.contains(&noted.address)
                    && contains(&pending.range, noted.address)
                    && (noted.write || pending.writes)
            };
            let all = || self.pendings.lines.iter().flatten().filter(met);
            // A copy that writes there matters more than one that reads.
            let Some(pending) = all().find(|pending| pending.writes).or_else(|| all().next()) else {
                continue;
            };
            let site = site::of(&noted.frames);
            let finding = if pending.writes {
                rule::host_read_early::finding(&self.names, pending, &noted, site)
            } else {
                rule::host_write_early::finding(&self.names, pending, &noted, site)
            };
            self.out.push(finding);
        }
    }
}

fn kind(writes: bool) -> Shut {
    if writes { Shut::All } else { Shut::Writes }
}

/// Keeps host code off the whole pages of pinned memory.
fn shut(range: &Range, writes: bool) -> Pages<usize> {
    let Ok(runtime) = toprope_runtime::process::runtime() else { return 0..0 };
    let pages =
        runtime.space.shut(range.start..range.start.saturating_add(range.len), kind(writes), touch::note);
    if !pages.is_empty() {
        // A handler that the program has set since would get the faults.
        toprope_engine::fault::install();
    }
    pages
}

/// Checksums of what page protection does not cover.
fn sums(block: &Block, range: &Range, pages: &Pages<usize>) -> SmallVec<[(Range, u64); 2]> {
    let end = range.start + range.len;
    let (head, tail) = if pages.is_empty() { (end, end) } else { (pages.start, pages.end) };
    [(range.start, head), (tail, end)]
        .into_iter()
        .filter(|(start, end)| start < end)
        .filter_map(|(start, end)| {
            let part = Range { start, len: end - start };
            Some((part, sum(block, &part)?))
        })
        .collect()
}

/// A checksum of a part of a block; None when the memory is not there.
fn sum(block: &Block, range: &Range) -> Option<u64> {
    let runtime = toprope_runtime::process::runtime().ok()?;
    // Pages that are shut are read through the mirror; registered memory has none and is never shut.
    let start = if block.owner == Owner::Pinned { runtime.space.inner(range.start) } else { range.start };
    let (step, width) = if range.len <= FULL {
        (PIECE, PIECE)
    } else {
        ((range.len / SAMPLES).next_multiple_of(SAMPLE).max(STRIDE), SAMPLE)
    };
    let mut buffer = [0u8; PIECE];
    let mut hash = range.len as u64;
    for at in (0..range.len).step_by(step) {
        let len = width.min(range.len - at);
        // SAFETY: this frame's own bytes; the source may be gone, which `copy` reports.
        unsafe { memory::copy(buffer.as_mut_ptr() as usize, start + at, len) }.ok()?;
        hash = mix(hash, buffer.get(..len)?);
    }
    Some(hash)
}

/// Bytes that are looked at together.
const PIECE: usize = 1024;

/// Four words at a time, multiplied and folded.
fn mix(seed: u64, bytes: &[u8]) -> u64 {
    const ODD: [u64; 4] =
        [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x27d4_eb2f_1656_67c5];
    let fold = |hash: u64, word: u64, odd: u64| (hash ^ word).wrapping_mul(odd).rotate_left(29);
    let mut lanes = ODD.map(|odd| odd ^ seed);
    let mut step = |block: &[u8; 32]| {
        for ((lane, part), odd) in lanes.iter_mut().zip(block.as_chunks::<8>().0).zip(ODD) {
            *lane = fold(*lane, u64::from_ne_bytes(*part), odd);
        }
    };
    let (blocks, rest) = bytes.as_chunks::<32>();
    blocks.iter().for_each(&mut step);
    let mut last = [0u8; 32];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    step(&last);
    lanes.into_iter().fold(seed ^ bytes.len() as u64, |hash, lane| fold(hash, lane, ODD[0]))
}

#[cfg(test)]
mod tests {
    use super::mix;

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
}
