//! Copies of host memory that no host is ordered after yet, and the host memory's protection meanwhile.
//!
//! # A copy or fill of pinned or registered memory
//! | it | whole pages of pinned memory | the rest |
//! | --- | --- | --- |
//! | writes (to the host) | no access | not covered |
//! | reads (from the host) | no writes | a checksum when it is added, and another when a host is ordered after it |
//!
//! In warn mode this is so for some copies only: [`super::cover`].
//!
//! The second checksum is compared unless something else that the model was told of has written to the block meanwhile, or might
//! have. It is taken when the host is ordered, not when the copy runs: a write that came after the copy had run is found too,
//! whatever the scheduling.
//!
//! All this begins when the model gets to the copy: before that, a function of the program that comes first in the stream, or that its
//! stream waits for, may still use the memory. It is over as soon as any host thread, or a function of the program that a stream calls, is ordered after the copy: what
//! one thread knows it may have told the others.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use toprope_engine::memory::{Block, Owner, Shut};
use toprope_engine::queue::Mark;
use toprope_runtime::Api;
use toprope_runtime::observer::Range;

use super::cover::{self, Level, Places, Purse, Runs, Sum};
use super::{Call, Model};
use crate::clock::{Clock, Epoch};
use crate::news::AT_ONCE;
use crate::rule;
use crate::site::{self, Site};
use crate::touch;
use crate::traits;

/// Copies that are followed; more go unprotected. (Each may cost the process two mappings, of which the system allows 65530.)
pub const MOST: usize = 8192;
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
    /// None for pageable memory, of which only the end is seen, if a language module tells it.
    block: Option<Block>,
    /// What is shut.
    pages: Runs,
    sums: SmallVec<[Sum; 2]>,
    /// An access was reported.
    met: bool,
    /// [`Writes::told`] when it was added.
    told: u64,
}

impl Pending {
    fn new(mark: Mark, api: Api, call: &Call, range: Range, writes: bool) -> Pending {
        let Call { site, who, .. } = *call;
        let (block, pages, sums) = (None, Runs::new(), SmallVec::new());
        Pending { mark, api, site, who, range, writes, block, pages, sums, met: false, told: 0 }
    }

    /// What it counts in [`AT_ONCE`]: pageable memory has no pages that a worker's next step may need opened.
    fn at_once(&self) -> usize {
        usize::from(self.block.is_some())
    }
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
    /// The places of its copies.
    places: Places,
}

/// All of them: for each stream by its index, in its order.
#[derive(Debug, Default)]
pub struct Pendings {
    lines: Vec<VecDeque<Pending>>,
    count: usize,
    purse: Purse,
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
        let block = match self.around(range.start) {
            Some(living) if is_host(living.block.owner) => living.block,
            None if moves_bytes(api) && !self.one_memory => {
                return self.push(line, Pending::new(mark, api, call, range, writes));
            }
            _ => return,
        };
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
        let mut pages = Runs::new();
        let mut sums = SmallVec::new();
        if moves_bytes(api) {
            let level = self.level(call.site, &range);
            if block.owner == Owner::Pinned {
                pages = cover::shut(&range, kind(writes), level);
            }
            if known && !writes {
                sums = cover::sums(&block, &range, &pages, level);
            }
        }
        let pending = Pending::new(mark, api, call, range, writes);
        self.push(line, Pending { block: Some(block), pages, sums, told, ..pending });
    }

    fn push(&mut self, line: usize, pending: Pending) {
        if self.pendings.count >= MOST {
            return;
        }
        if self.pendings.lines.len() <= line {
            self.pendings.lines.resize_with(line + 1, VecDeque::new);
        }
        if let Some(queue) = self.pendings.lines.get_mut(line) {
            AT_ONCE.fetch_add(pending.at_once(), Ordering::Release);
            queue.push_back(pending);
            self.pendings.count += 1;
        }
    }

    /// How thoroughly a copy is watched.
    fn level(&mut self, site: Site, range: &Range) -> Level {
        let place = self.blocks.find(range.start);
        let busy = self.pendings.any();
        match place.and_then(|place| self.blocks.at_mut(place)) {
            Some(living) if !self.strict => {
                living.writes.places.level(site, range, &mut self.pendings.purse, busy)
            }
            _ => Level::Thorough,
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
            self.drop_those(|pending| pending.block.is_some_and(|own| own.serial == block.serial));
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

    /// All of them.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.pendings.lines.iter().flatten()
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
        AT_ONCE.fetch_sub(pending.at_once(), Ordering::Release);
        cover::open(&pending.pages, kind(pending.writes));
        let Some(block) = pending.block else { return };
        let place = self.blocks.find(block.base);
        let Some(living) = place.and_then(|place| self.blocks.at_mut(place)) else { return };
        if living.block.serial != block.serial {
            return;
        }
        if pending.writes {
            living.writes.open = living.writes.open.saturating_sub(1);
        }
        let alone = living.writes.told == pending.told;
        if !look || !alone || pending.met || pending.sums.is_empty() || self.aliased(&block) {
            return;
        }
        if let Some(sum) = pending.sums.iter().find(|sum| sum.differs(&block)) {
            let finding = rule::host_write_early::changed(&self.names, &pending, &sum.part);
            self.out.push(finding);
        }
    }

    /// Turns what the signal handler noted into findings.
    pub fn touches(&mut self) {
        for noted in touch::take() {
            let met = |pending: &&mut Pending| {
                pending.pages.iter().any(|pages| pages.contains(&noted.address))
                    && contains(&pending.range, noted.address)
                    && (noted.write || pending.writes)
            };
            // A copy that writes there matters more than one that reads.
            let all = self.pendings.lines.iter_mut().flatten().filter(met);
            let Some(pending) = all.min_by_key(|pending| !pending.writes) else { continue };
            // Of a copy whose pages are shut in two runs the second touch is known already.
            if std::mem::replace(&mut pending.met, true) {
                continue;
            }
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
