//! The blocks of an arena: small ones in slabs, large ones in chunks of their own.

use super::record::{Pool, Record};
use super::runs::Runs;
use super::slab::{self, NONE, Slab, Slot};
use super::table::Table;
use super::{Block, CHUNK, Owner, Page};
use crate::sync::plain::{AtomicU64, Ordering};
use std::ptr::NonNull;

/// Serials are the process's, so that none is used twice.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// The next serial.
pub(super) fn serial() -> u64 {
    SERIAL.fetch_add(1, Ordering::Relaxed) + 1
}

/// What a block is to be; checked and rounded by [`super::Space::alloc`].
#[derive(Clone, Copy)]
pub(super) struct Want {
    pub owner: Owner,
    pub size: usize,
    pub usable: usize,
    pub align: usize,
    pub page: Page,
    pub tag: u64,
}

/// Where an arena's blocks are and where there is room. All of it under the arena's lock.
#[derive(Default)]
pub(super) struct Heap {
    /// Free chunks without pages.
    pub cold: Runs,
    /// Free chunks that have had blocks.
    pub warm: Runs,
    slabs: Vec<Slot>,
    classes: [Class; slab::CLASSES],
    records: Pool,
}

/// The slabs of one class.
struct Class {
    /// First and last slab with room.
    first: u32,
    last: u32,
    /// How many slabs hold chunks but no block.
    empty: u32,
    /// Slabs without chunks.
    idle: Vec<u32>,
}

impl Default for Class {
    fn default() -> Self {
        Class { first: NONE, last: NONE, empty: 0, idle: Vec::new() }
    }
}

impl Heap {
    /// Finds a place for a block and makes it known.
    pub fn place(&mut self, table: &Table, want: Want) -> Option<Block> {
        let block = |base| Block {
            base,
            size: want.size,
            usable: want.usable,
            owner: want.owner,
            page: want.page,
            serial: serial(),
            tag: want.tag,
        };
        if want.usable > slab::LARGEST || want.align > slab::LARGEST {
            let count = u32::try_from(want.usable.div_ceil(CHUNK)).ok()?;
            let start = self.chunks(count, u32::try_from(want.align.div_ceil(CHUNK)).ok()?)?;
            let block = block(table.base() + start as usize * CHUNK);
            let record = self.records.take();
            // SAFETY: the pool's records live as long as the arena.
            unsafe { record.as_ref() }.publish(&block);
            table.mark_record(start, count, record.as_ptr() as usize);
            return Some(block);
        }
        let class = slab::class(want.usable, want.align);
        let index = match self.classes.get(class)?.first {
            NONE => self.new_slab(table, class)?,
            index => index,
        };
        let slot = self.slabs.get_mut(index as usize)?;
        if slot.live == 0 {
            self.classes.get_mut(class)?.empty -= 1;
        }
        let (base, record) = slot.take()?;
        let block = block(base);
        record.publish(&block);
        if slot.full() {
            self.unlink(index);
        }
        Some(block)
    }

    /// Takes chunks, warm ones if there are such.
    fn chunks(&mut self, count: u32, align: u32) -> Option<u32> {
        self.warm.take(count, align).or_else(|| self.cold.take(count, align))
    }

    /// Gives a class another slab and returns its index.
    fn new_slab(&mut self, table: &Table, class: usize) -> Option<u32> {
        let count = slab::chunks(class);
        let start = self.chunks(count, 1)?;
        let index = match self.classes.get_mut(class)?.idle.pop() {
            Some(index) => index,
            None => {
                let index = self.slabs.len() as u32;
                self.slabs.push(Slot::new(class, index));
                index
            }
        };
        let slot = self.slabs.get_mut(index as usize)?;
        slot.place(start, table.base() + start as usize * CHUNK);
        table.mark_slab(start, count, slot.slab.address());
        self.classes.get_mut(class)?.empty += 1;
        self.link(index);
        Some(index)
    }

    /// Takes the chunks of a large block back; its record is retired.
    pub fn free_large(&mut self, table: &Table, block: &Block, record: &Record) {
        let start = ((block.base - table.base()) / CHUNK) as u32;
        let count = block.usable.div_ceil(CHUNK) as u32;
        table.clear(start, count);
        self.records.give(NonNull::from(record));
        self.warm.give(start, count);
    }

    /// Takes the slot of a small block back; its record is retired.
    pub fn free_small(&mut self, table: &Table, slab: &Slab, addr: usize) {
        let index = slab.index;
        let Some(slot) = self.slabs.get_mut(index as usize) else { return };
        let class = usize::from(slot.class);
        let was_full = slot.full();
        slot.give(addr);
        let (live, start) = (slot.live, slot.chunk);
        if was_full {
            self.link(index);
        }
        let Some(kept) = self.classes.get_mut(class).filter(|_| live == 0) else { return };
        // One empty slab of each class stays.
        if kept.empty == 0 {
            kept.empty = 1;
            return;
        }
        kept.idle.push(index);
        self.unlink(index);
        table.clear(start, slab::chunks(class));
        self.warm.give(start, slab::chunks(class));
    }

    /// Appends a slab to its class's list of those with room.
    fn link(&mut self, index: u32) {
        let Some(slot) = self.slabs.get_mut(index as usize) else { return };
        let Some(class) = self.classes.get_mut(usize::from(slot.class)) else { return };
        let last = std::mem::replace(&mut class.last, index);
        (slot.before, slot.after) = (last, NONE);
        match self.slabs.get_mut(last as usize) {
            Some(last) => last.after = index,
            None => class.first = index,
        }
    }

    /// Takes a slab out of its class's list.
    fn unlink(&mut self, index: u32) {
        let Some(slot) = self.slabs.get(index as usize) else { return };
        let (before, after) = (slot.before, slot.after);
        let Some(class) = self.classes.get_mut(usize::from(slot.class)) else { return };
        match self.slabs.get_mut(before as usize) {
            Some(slot) => slot.after = after,
            None => class.first = after,
        }
        match self.slabs.get_mut(after as usize) {
            Some(slot) => slot.before = before,
            None => class.last = before,
        }
    }

    /// Every record there is, live or not.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        let small = self.slabs.iter().filter(|slot| slot.live > 0).flat_map(|slot| slot.slab.records());
        small.chain(self.records.iter())
    }
}
