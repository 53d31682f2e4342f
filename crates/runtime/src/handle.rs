//! Handles are numbers: index, generation and kind in one word, never dereferenced. A destroyed, foreign or invented one is
//! recognised without touching memory that the program names.
//!
//! Layout: bit 63 clear; bits 57–62 the kind (never 0, so that the word is not a canonical address under 4- or 5-level
//! paging and a stray dereference faults); bits 32–56 the generation; bits 0–31 the index.
//!
//! A slot's state word holds generation, a live bit and a count of pins:
//!
//! | from → to | who | how |
//! |---|---|---|
//! | free → live, 1 pin of the table's own | [`Table::insert`] | store, the free list gives the slot to one thread |
//! | live, n pins → live, n+1 | [`Table::pin`] | CAS, only while live and of the right generation |
//! | live → dead | [`Table::remove`] | CAS clears the bit; the first one wins |
//! | dead, last pin → free, next generation | whoever drops the last pin | drops the value first |
//!
//! A slot whose generations are used up is retired. Lock order: the free list's lock is a leaf.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

const KIND_SHIFT: u32 = 57;
const GENERATION_SHIFT: u32 = 32;
const GENERATIONS: u64 = 1 << 25;
const LIVE: u64 = 1 << 38;
const PINS: u64 = LIVE - 1;
const SLOT_GENERATION_SHIFT: u32 = 39;
/// Slots of the first chunk; each later chunk is twice as long.
const FIRST: usize = 64;
const CHUNKS: usize = 25;

/// What a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `aclrtContext`
    Context = 1,
    /// `aclrtStream`
    Stream = 2,
    /// `aclrtEvent`
    Event = 3,
    /// `aclrtNotify`
    Notify = 4,
    /// `aclrtCntNotify`
    CntNotify = 5,
    /// `aclrtLabel`
    Label = 6,
    /// `aclrtLabelList`
    LabelList = 7,
    /// `aclrtBinHandle`
    Binary = 8,
    /// `aclrtFuncHandle`
    Function = 9,
    /// `aclrtArgsHandle`
    Args = 10,
    /// `aclrtParamHandle`
    Param = 11,
    /// `aclrtDrvMemHandle`
    Physical = 12,
    /// `aclrtMemPool`
    Pool = 13,
    /// `aclmdlRI`
    Model = 14,
    /// `aclrtTaskGrp`
    TaskGroup = 15,
    /// `aclrtAllocatorDesc`
    Allocator = 16,
    /// `aclrtExceptionInfo`
    Exception = 17,
    /// `aclDataBuffer`
    DataBuffer = 18,
    /// `aclrtBinary`
    BinaryData = 24,
}

impl Kind {
    /// The kind in a word, for messages; None when it is no handle of ours.
    pub fn of(word: u64) -> Option<Kind> {
        use Kind::*;
        [
            Context, Stream, Event, Notify, CntNotify, Label, LabelList, Binary, Function, Args, Param,
            Physical, Pool, Model, TaskGroup, Allocator, Exception, DataBuffer, BinaryData,
        ]
        .into_iter()
        .find(|kind| word >> KIND_SHIFT == *kind as u64)
    }
}

/// What is wrong with a handle, in words.
pub fn describe(word: u64, wanted: Kind) -> String {
    crate::observer::tell(|o| o.stale(word, wanted));
    match Kind::of(word) {
        Some(kind) if kind == wanted => format!("{word:#x} is a {kind:?} that was destroyed already"),
        Some(kind) => format!("{word:#x} is a handle of kind {kind:?}, not {wanted:?}"),
        None => format!("{word:#x} is not a handle of this runtime"),
    }
}

struct Slot<T> {
    state: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// All live objects of one kind.
pub struct Table<T> {
    kind: Kind,
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    free: Mutex<Free>,
    live: AtomicUsize,
}

struct Free {
    indexes: Vec<u32>,
    /// Slots made so far.
    made: usize,
}

// SAFETY: a value is shared between threads only through pins (`&T`), and dropped by one thread.
unsafe impl<T: Send + Sync> Sync for Table<T> {}
// SAFETY: the chunks belong to the table alone.
unsafe impl<T: Send + Sync> Send for Table<T> {}

/// A borrowed object: stays valid while the pin lives, also when its handle is destroyed meanwhile.
pub struct Pin<'a, T> {
    table: &'a Table<T>,
    slot: &'a Slot<T>,
    handle: u64,
}

impl<T> Pin<'_, T> {
    /// The handle it was found by.
    pub fn handle(&self) -> u64 {
        self.handle
    }
}

impl<T> Deref for Pin<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a pin is taken only on a live slot, whose value is written; it is dropped after the last pin.
        unsafe { (*self.slot.value.get()).assume_init_ref() }
    }
}

impl<T> Clone for Pin<'_, T> {
    fn clone(&self) -> Self {
        // The count cannot reach zero meanwhile, so no check is needed.
        self.slot.state.fetch_add(1, Ordering::Relaxed);
        Pin { table: self.table, slot: self.slot, handle: self.handle }
    }
}

impl<T> Drop for Pin<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let before = self.slot.state.fetch_sub(1, Ordering::Release);
        if before & (LIVE | PINS) == 1 {
            self.table.retire(self.slot, self.handle as u32);
        }
    }
}

impl<T> Table<T> {
    /// An empty table.
    pub const fn new(kind: Kind) -> Table<T> {
        Table {
            kind,
            chunks: [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS],
            free: Mutex::new(Free { indexes: Vec::new(), made: 0 }),
            live: AtomicUsize::new(0),
        }
    }

    /// Number of live objects.
    pub fn len(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes an object in and gives its handle.
    pub fn insert(&self, value: T) -> u64 {
        let mut free = self.free.lock();
        let index = match free.indexes.pop() {
            Some(index) => index,
            None => {
                let index = free.made;
                self.grow(index);
                free.made += 1;
                index as u32
            }
        };
        drop(free);
        let Some(slot) = self.slot(index) else { return 0 };
        // SAFETY: the free list gave this slot to this thread alone; it is not live, so nobody reads the value.
        unsafe { (*slot.value.get()).write(value) };
        let generation = slot.state.load(Ordering::Relaxed) >> SLOT_GENERATION_SHIFT;
        slot.state.store(generation << SLOT_GENERATION_SHIFT | LIVE | 1, Ordering::Release);
        self.live.fetch_add(1, Ordering::Relaxed);
        (self.kind as u64) << KIND_SHIFT | generation << GENERATION_SHIFT | u64::from(index)
    }

    /// The live object of a handle.
    #[inline]
    pub fn pin(&self, handle: u64) -> Option<Pin<'_, T>> {
        let (slot, expected) = self.locate(handle)?;
        let mut state = slot.state.load(Ordering::Relaxed);
        loop {
            if state & !PINS != expected {
                return None;
            }
            match slot.state.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Pin { table: self, slot, handle }),
                Err(now) => state = now,
            }
        }
    }

    /// Whether the handle names a live object.
    pub fn contains(&self, handle: u64) -> bool {
        self.locate(handle)
            .is_some_and(|(slot, expected)| slot.state.load(Ordering::Acquire) & !PINS == expected)
    }

    /// Ends a handle: no new pin is given. The object goes with its last pin; the caller that ended it gets one. None when
    /// somebody else was first, or the handle was never good.
    pub fn remove(&self, handle: u64) -> Option<Pin<'_, T>> {
        let (slot, expected) = self.locate(handle)?;
        let mut state = slot.state.load(Ordering::Relaxed);
        loop {
            if state & !PINS != expected {
                return None;
            }
            // The table's own pin becomes the caller's.
            match slot.state.compare_exchange_weak(state, state & !LIVE, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        self.live.fetch_sub(1, Ordering::Relaxed);
        Some(Pin { table: self, slot, handle })
    }

    /// Pins of all live objects, by index.
    pub fn all(&self) -> Vec<Pin<'_, T>> {
        let made = self.free.lock().made;
        (0..made as u32)
            .filter_map(|index| {
                let state = self.slot(index)?.state.load(Ordering::Relaxed);
                let generation = state >> SLOT_GENERATION_SHIFT;
                self.pin((self.kind as u64) << KIND_SHIFT | generation << GENERATION_SHIFT | u64::from(index))
            })
            .collect()
    }

    /// The slot of a handle and the state word (without pins) that a live one has.
    #[inline]
    fn locate(&self, handle: u64) -> Option<(&Slot<T>, u64)> {
        if handle >> KIND_SHIFT != self.kind as u64 {
            return None;
        }
        let generation = handle >> GENERATION_SHIFT & (GENERATIONS - 1);
        Some((self.slot(handle as u32)?, generation << SLOT_GENERATION_SHIFT | LIVE))
    }

    /// Chunk and place of an index: chunk n holds `FIRST << n` slots.
    #[inline]
    fn place(index: usize) -> (usize, usize) {
        let chunk = ((index / FIRST) + 1).ilog2() as usize;
        (chunk, index - FIRST * ((1 << chunk) - 1))
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (chunk, place) = Self::place(index as usize);
        let base = self.chunks.get(chunk)?.load(Ordering::Acquire);
        if base.is_null() {
            return None;
        }
        // SAFETY: a chunk, once published, holds `FIRST << chunk` slots until the table is dropped.
        Some(unsafe { &*base.add(place) })
    }

    /// Makes sure that the chunk of `index` exists. Called under the free list's lock.
    fn grow(&self, index: usize) {
        let (chunk, _) = Self::place(index);
        let Some(home) = self.chunks.get(chunk) else { return };
        if home.load(Ordering::Relaxed).is_null() {
            let slots: Box<[Slot<T>]> = (0..FIRST << chunk)
                .map(|_| Slot { state: AtomicU64::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) })
                .collect();
            home.store(Box::into_raw(slots).cast(), Ordering::Release);
        }
    }

    #[cold]
    fn retire(&self, slot: &Slot<T>, index: u32) {
        std::sync::atomic::fence(Ordering::Acquire);
        // SAFETY: the last pin of a dead slot is gone and pins are given only on live ones: this thread is alone.
        unsafe { (*slot.value.get()).assume_init_drop() };
        let generation = (slot.state.load(Ordering::Relaxed) >> SLOT_GENERATION_SHIFT) + 1;
        if generation < GENERATIONS {
            slot.state.store(generation << SLOT_GENERATION_SHIFT, Ordering::Release);
            self.free.lock().indexes.push(index);
        }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        for pin in self.all() {
            self.remove(pin.handle());
        }
        for (n, chunk) in self.chunks.iter().enumerate() {
            let base = chunk.load(Ordering::Relaxed);
            if !base.is_null() {
                // SAFETY: made by `grow` from a boxed slice of this length; no pin outlives the table.
                drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(base, FIRST << n)) });
            }
        }
    }
}

#[cfg(test)]
#[path = "handle/tests.rs"]
mod tests;
