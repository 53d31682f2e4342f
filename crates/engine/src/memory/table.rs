//! From an address in an arena to its block's record: two loads, without a lock.

use super::record::{Record, Seen};
use super::slab::Slab;
use super::sparse::Sparse;
use super::{Block, CHUNK};
use crate::sync::plain::{AtomicUsize, Ordering};

/// Chunks under one entry of the upper level: 2 MiB.
const SPAN: usize = 32;

/// The lowest bit of an entry says that it leads to a slab.
const SLAB: usize = 1;

/// Entries by chunk (64 KiB), and by 2 MiB for what a large block covers whole, so that marking a block of 64 GiB writes
/// 32768 words and not a million.
pub(super) struct Table {
    base: usize,
    large: Sparse<AtomicUsize>,
    small: Sparse<AtomicUsize>,
}

/// Where an entry leads.
pub(super) enum Found<'a> {
    /// A large block's record.
    Record(&'a Record),
    /// A slab.
    Slab(&'a Slab),
}

impl Table {
    /// A table for `bytes` from `base` on. Fails with an errno.
    pub fn new(base: usize, bytes: usize) -> Result<Table, i32> {
        let chunks = bytes.div_ceil(CHUNK);
        Ok(Table { base, large: Sparse::new(chunks.div_ceil(SPAN))?, small: Sparse::new(chunks)? })
    }

    /// The arena's first address.
    pub fn base(&self) -> usize {
        self.base
    }

    /// What is marked at `addr`.
    #[inline]
    pub fn find(&self, addr: usize) -> Option<Found<'_>> {
        let chunk = addr.wrapping_sub(self.base) / CHUNK;
        let mut entry = self.large.get(chunk / SPAN)?.load(Ordering::Acquire);
        if entry == 0 {
            entry = self.small.get(chunk)?.load(Ordering::Acquire);
            if entry == 0 {
                return None;
            }
        }
        // SAFETY: entries are made by `mark_*` from objects that outlive the table (they are given back only when the arena
        // ends), and both kinds are read through shared references only.
        unsafe {
            Some(if entry & SLAB == 0 {
                Found::Record(&*(entry as *const Record))
            } else {
                Found::Slab(&*((entry - SLAB) as *const Slab))
            })
        }
    }

    /// The record for `addr`, live or not.
    #[inline]
    pub fn record(&self, addr: usize) -> Option<&Record> {
        match self.find(addr)? {
            Found::Record(record) => Some(record),
            Found::Slab(slab) => slab.record(addr),
        }
    }

    /// A live block that has a byte in `[start, end)`. Looks at every chunk of the range, and in a slab at every slot.
    pub fn live_within(&self, start: usize, end: usize) -> Option<Block> {
        let mut at = start;
        while at < end {
            let next = self.base + ((at - self.base) / CHUNK + 1) * CHUNK;
            let (record, next) = match self.find(at) {
                None => (None, next),
                Some(Found::Record(record)) => (Some(record), next),
                Some(Found::Slab(slab)) => (slab.record(at), slab.after(at).unwrap_or(next)),
            };
            match record.map(Record::read) {
                Some(Seen::Live(block)) if block.base < end && start < block.base + block.usable => {
                    return Some(block);
                }
                // Another block came or went meanwhile; the table may lead elsewhere now.
                Some(Seen::Torn) => std::hint::spin_loop(),
                _ => at = next,
            }
        }
        None
    }

    /// Leads `count` chunks to a record, which lives at `record` until the arena ends.
    pub fn mark_record(&self, chunk: u32, count: u32, record: usize) {
        self.mark(chunk, count, record);
    }

    /// Leads `count` chunks to a slab, which lives at `slab` until the arena ends.
    pub fn mark_slab(&self, chunk: u32, count: u32, slab: usize) {
        self.mark(chunk, count, slab + SLAB);
    }

    /// Leads `count` chunks nowhere.
    pub fn clear(&self, chunk: u32, count: u32) {
        self.mark(chunk, count, 0);
    }

    fn mark(&self, chunk: u32, count: u32, entry: usize) {
        let (mut at, end) = (chunk as usize, chunk as usize + count as usize);
        while at < end {
            let next = (at / SPAN + 1) * SPAN;
            let (places, next) = if at.is_multiple_of(SPAN) && next <= end {
                (self.large.part(at / SPAN, at / SPAN + 1), next)
            } else {
                (self.small.part(at, next.min(end)), next.min(end))
            };
            places.iter().for_each(|place| place.store(entry, Ordering::Release));
            at = next;
        }
    }
}
