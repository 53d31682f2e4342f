//! The blocks of an arena: small ones in slabs, large ones in chunks of their own.

use super::guard::Key;
use super::record::{Pool, Record};
use super::region::Region;
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

/// Serials that an arena takes at a time: an atomic addition for each block is a twentieth of its cost.
const SERIALS: u64 = 64;

/// An arena's own serials; each is higher than the one before.
#[derive(Default)]
struct Serials {
    last: u64,
    end: u64,
}

impl Serials {
    fn next(&mut self) -> u64 {
        if self.last == self.end {
            self.last = SERIAL.fetch_add(SERIALS, Ordering::Relaxed);
            self.end = self.last + SERIALS;
        }
        self.last += 1;
        self.last
    }
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

/// What the blocks of an arena lie on.
pub(super) struct Ground<'a> {
    pub table: &'a Table,
    pub region: &'a Region,
    pub key: Option<&'a Key>,
}

/// Why a block has no place.
pub(super) enum NoPlace {
    /// No run of free chunks is long enough.
    Full,
    /// The system did not open the place: errno.
    Refused(i32),
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
    serials: Serials,
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
    pub fn place(&mut self, ground: &Ground, want: Want) -> Result<Block, NoPlace> {
        let table = ground.table;
        let serial = self.serials.next();
        let block = |base| Block {
            base,
            size: want.size,
            usable: want.usable,
            owner: want.owner,
            page: want.page,
            serial,
            tag: want.tag,
        };
        if want.usable > slab::LARGEST || want.align > slab::LARGEST {
            let chunks = |bytes: usize| u32::try_from(bytes.div_ceil(CHUNK)).map_err(|_| NoPlace::Full);
            let count = chunks(want.usable)?;
            let start = self.chunks(ground, count, chunks(want.align)?)?;
            let block = block(table.base() + start as usize * CHUNK);
            let record = self.records.take();
            // SAFETY: the pool's records live as long as the arena.
            unsafe { record.as_ref() }.publish(&block);
            table.mark_record(start, count, record.as_ptr() as usize);
            return Ok(block);
        }
        let class = slab::class(want.usable, want.align);
        let index = match self.classes.get(class).map_or(NONE, |class| class.first) {
            NONE => self.new_slab(ground, class)?,
            index => index,
        };
        let slot = self.slabs.get_mut(index as usize).ok_or(NoPlace::Full)?;
        if let Some(class) = self.classes.get_mut(class).filter(|_| slot.live == 0) {
            class.empty -= 1;
        }
        let (base, record) = slot.take().ok_or(NoPlace::Full)?;
        let block = block(base);
        record.publish(&block);
        if slot.full() {
            self.unlink(index);
        }
        Ok(block)
    }

    /// Takes chunks, warm ones if there are such; cold ones may have to be opened.
    fn chunks(&mut self, ground: &Ground, count: u32, align: u32) -> Result<u32, NoPlace> {
        if let Some(start) = self.warm.take(count, align) {
            return Ok(start);
        }
        let start = self.cold.take(count, align).ok_or(NoPlace::Full)?;
        ground.region.open((start as usize + count as usize) * CHUNK, ground.key).map_err(|errno| {
            self.cold.give(start, count);
            NoPlace::Refused(errno)
        })?;
        Ok(start)
    }

    /// Bytes of the longest run of free chunks.
    pub fn longest(&mut self) -> u64 {
        u64::from(self.cold.longest().max(self.warm.longest())) * CHUNK as u64
    }

    /// Gives a class another slab and returns its index.
    fn new_slab(&mut self, ground: &Ground, class: usize) -> Result<u32, NoPlace> {
        let table = ground.table;
        let count = slab::chunks(class);
        let start = self.chunks(ground, count, 1)?;
        let kept = self.classes.get_mut(class).ok_or(NoPlace::Full)?;
        kept.empty += 1;
        let index = match kept.idle.pop() {
            Some(index) => index,
            None => {
                let index = self.slabs.len() as u32;
                self.slabs.push(Slot::new(class, index));
                index
            }
        };
        let slot = self.slabs.get_mut(index as usize).ok_or(NoPlace::Full)?;
        slot.place(start, table.base() + start as usize * CHUNK);
        table.mark_slab(start, count, slot.slab.address());
        self.link(index);
        Ok(index)
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
