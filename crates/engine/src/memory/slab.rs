//! Small blocks: runs of chunks cut into equal slots.

use super::CHUNK;
use super::record::{Record, Stable};
use crate::sync::plain::{AtomicUsize, Ordering};

/// Sizes of slots: four steps for each doubling from 64 bytes to [`LARGEST`], so that at most a fifth of a slot is waste.
pub(super) const CLASSES: usize = 32;

/// Blocks above this get chunks of their own.
pub(super) const LARGEST: usize = 32 * 1024;

/// The slot size of a class.
pub(super) fn stride(class: usize) -> usize {
    match class {
        0..4 => 64 * (class + 1),
        _ => {
            let (double, step) = ((class - 4) / 4, (class - 4) % 4);
            (64 << double) * (5 + step)
        }
    }
}

/// The smallest class whose slots hold `size` bytes (at most [`LARGEST`]) at multiples of `align` (a power of two, at most
/// [`LARGEST`]).
pub(super) fn class(size: usize, align: usize) -> usize {
    let size = size.max(align).max(1) - 1;
    let mut class = match size {
        0..256 => size / 64,
        _ => {
            let log = size.ilog2() as usize;
            4 + (log - 8) * 4 + (size >> (log - 2) & 3)
        }
    };
    // Ends at the next power of two at the latest.
    while class + 1 < CLASSES && !stride(class).is_multiple_of(align) {
        class += 1;
    }
    class
}

/// Chunks of a class's slab: at least 16 slots.
pub(super) fn chunks(class: usize) -> u32 {
    (stride(class) * 16).div_ceil(CHUNK) as u32
}

/// What readers need of a slab. It keeps its class for ever and may move to other chunks while it holds no block.
pub(super) struct Slab {
    /// First address of its first slot.
    base: AtomicUsize,
    /// 2^40 / stride, rounded up: `offset * magic >> 40` is `offset / stride` for every offset below 2^20, as strides are
    /// below 2^16.
    magic: u64,
    stride: usize,
    records: Box<[Record]>,
    /// Its place in the arena's list.
    pub index: u32,
}

impl Slab {
    /// The record of the slot that `addr` lies in.
    #[inline]
    pub fn record(&self, addr: usize) -> Option<&Record> {
        let offset = addr.wrapping_sub(self.base.load(Ordering::Relaxed));
        if offset >> 20 != 0 {
            return None;
        }
        self.records.get(((offset as u64 * self.magic) >> 40) as usize)
    }

    /// The end of the slot that `addr` lies in.
    pub fn after(&self, addr: usize) -> Option<usize> {
        let base = self.base.load(Ordering::Relaxed);
        let slot = addr.checked_sub(base)? / self.stride;
        (slot < self.records.len()).then(|| base + (slot + 1) * self.stride)
    }

    /// Every slot's record.
    pub fn records(&self) -> &[Record] {
        &self.records
    }
}

/// A slab and what only the arena's lock holder sees.
pub(super) struct Slot {
    pub slab: Stable<Slab>,
    pub class: u8,
    /// First chunk, while the slab has chunks.
    pub chunk: u32,
    /// Blocks in it.
    pub live: u32,
    /// One bit for each slot that is taken, and for the missing ones of the last word.
    taken: Box<[u64]>,
    /// The word to look at next: slots are used in turn, so that an address rests before it is used again.
    cursor: usize,
    /// Neighbours in the list of slabs with room; [`NONE`] at the ends.
    pub before: u32,
    pub after: u32,
}

/// No slab.
pub(super) const NONE: u32 = u32::MAX;

impl Slot {
    /// A slab without chunks.
    pub fn new(class: usize, index: u32) -> Slot {
        let stride = stride(class);
        let count = chunks(class) as usize * CHUNK / stride;
        let mut taken = vec![0u64; count.div_ceil(64)].into_boxed_slice();
        if let (Some(last), rest @ 1..) = (taken.last_mut(), count % 64) {
            *last = u64::MAX << rest;
        }
        let slab = Slab {
            base: AtomicUsize::new(usize::MAX),
            magic: (1u64 << 40).div_ceil(stride as u64),
            stride,
            records: (0..count).map(|_| Record::default()).collect(),
            index,
        };
        let slab = Stable::new(Box::new(slab));
        Slot { slab, class: class as u8, chunk: 0, live: 0, taken, cursor: 0, before: NONE, after: NONE }
    }

    /// Puts the slab at the address of its first chunk.
    pub fn place(&mut self, chunk: u32, base: usize) {
        self.chunk = chunk;
        self.cursor = 0;
        self.slab.base.store(base, Ordering::Relaxed);
    }

    /// Whether every slot is taken.
    pub fn full(&self) -> bool {
        self.live as usize == self.slab.records.len()
    }

    /// Takes a slot: its address and its record.
    pub fn take(&mut self) -> Option<(usize, &Record)> {
        let words = self.taken.len();
        let room = |&at: &usize| self.taken.get(at).is_some_and(|&word| word != u64::MAX);
        let at = (self.cursor..words).chain(0..self.cursor).find(room)?;
        let word = self.taken.get_mut(at)?;
        let bit = word.trailing_ones() as usize;
        *word |= 1 << bit;
        self.cursor = if *word == u64::MAX { at + 1 } else { at };
        self.live += 1;
        let slot = at * 64 + bit;
        let base = self.slab.base.load(Ordering::Relaxed);
        Some((base + slot * self.slab.stride, self.slab.records.get(slot)?))
    }

    /// Gives the slot at `addr` back.
    pub fn give(&mut self, addr: usize) {
        let slot = (addr - self.slab.base.load(Ordering::Relaxed)) / self.slab.stride;
        if let Some(word) = self.taken.get_mut(slot / 64) {
            *word &= !(1 << (slot % 64));
            self.live -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_grow_by_at_most_a_fourth() {
        assert_eq!(stride(0), 64);
        assert_eq!(stride(CLASSES - 1), LARGEST);
        for class in 4..CLASSES {
            assert!(stride(class) * 4 <= stride(class - 1) * 5, "{class}");
        }
    }

    #[test]
    fn a_class_is_the_smallest_that_holds_the_size() {
        for size in 1..=LARGEST {
            let class = class(size, 64);
            assert!(stride(class) >= size, "{size}");
            assert!(class == 0 || stride(class - 1) < size, "{size}");
        }
        for align in (6..=15).map(|log| 1 << log) {
            for size in [1, 64, 65, 100, 321, 5000, LARGEST] {
                let stride = stride(class(size, align));
                assert!(stride >= size && stride.is_multiple_of(align), "{size} {align}");
            }
        }
    }

    #[test]
    fn offsets_lead_to_their_slots() {
        for class in 0..CLASSES {
            let mut slot = Slot::new(class, 0);
            slot.place(0, 1 << 30);
            let (bytes, stride) = (chunks(class) as usize * CHUNK, stride(class));
            for offset in 0..bytes {
                let expected = slot.slab.records().get(offset / stride).map(std::ptr::from_ref);
                let found = slot.slab.record((1 << 30) + offset).map(std::ptr::from_ref);
                assert_eq!(found, expected, "class {class} offset {offset}");
            }
            assert!(slot.slab.record((1 << 30) - 1).is_none());
        }
    }
}
