//! Ranges of the program's own memory that it has registered, in an order that readers search without a lock.
//!
//! There are two sorted lists. Readers use the one that the version's parity names, and read the version again afterwards; a
//! writer changes the other list and then counts the version up. A reader repeats only if a writer finished meanwhile.

use super::heap::serial;
use super::record::{Pool, Record, Seen, Stable};
use super::{Block, FreeError, Owner, Page, Usage};
use crate::sync::plain::{AtomicPtr, AtomicU64, AtomicUsize, Mutex, Ordering, fence};
use std::ptr::{self, NonNull};

/// First address of a range, and its record.
#[derive(Default)]
struct Entry {
    start: AtomicUsize,
    record: AtomicPtr<Record>,
}

/// One of the two lists.
struct Side {
    len: AtomicUsize,
    entries: Box<[Entry]>,
}

impl Side {
    /// The record of the last range that starts at or before `addr`.
    fn search(&self, addr: usize) -> *const Record {
        let entries = self.entries.get(..self.len.load(Ordering::Relaxed)).unwrap_or_default();
        let after = entries.partition_point(|entry| entry.start.load(Ordering::Relaxed) <= addr);
        let entry = after.checked_sub(1).and_then(|at| entries.get(at));
        entry.map_or(ptr::null(), |entry| entry.record.load(Ordering::Relaxed))
    }
}

/// The registered ranges of a process.
#[derive(Default)]
pub(super) struct Registered {
    version: AtomicUsize,
    sides: [AtomicPtr<Side>; 2],
    used: AtomicU64,
    peak: AtomicU64,
    state: Mutex<State>,
}

/// What writers share.
#[derive(Default)]
struct State {
    /// The ranges in order.
    list: Vec<(usize, NonNull<Record>)>,
    /// The list that readers do not use is right below this place.
    stale: usize,
    records: Pool,
    /// Every side there ever was: readers may still be in an outgrown one. Each is twice as large as the one before.
    sides: Vec<Stable<Side>>,
}

// SAFETY: the pointers lead into `records`, which is Send.
unsafe impl Send for State {}

impl Registered {
    /// The range around `addr`.
    #[inline]
    pub fn find(&self, addr: usize) -> Option<Block> {
        if self.used.load(Ordering::Acquire) == 0 { None } else { self.search(addr) }
    }

    fn search(&self, addr: usize) -> Option<Block> {
        loop {
            let version = self.version.load(Ordering::Acquire);
            // SAFETY: sides live as long as `self`.
            let side = unsafe { self.side(version).load(Ordering::Acquire).as_ref() }?;
            let record = side.search(addr);
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) != version {
                continue;
            }
            // SAFETY: records live as long as `self`.
            match unsafe { record.as_ref() }?.read() {
                Seen::Live(block) => return (addr.wrapping_sub(block.base) < block.usable).then_some(block),
                Seen::Dead => return None,
                Seen::Torn => continue,
            }
        }
    }

    /// The list that readers use at a version.
    fn side(&self, version: usize) -> &AtomicPtr<Side> {
        let [even, odd] = &self.sides;
        if version.is_multiple_of(2) { even } else { odd }
    }

    /// Adds `[addr, addr + size)`, unless it overlaps one that is there: that one is the error.
    pub fn add(&self, owner: Owner, addr: usize, size: usize, tag: u64) -> Result<Block, Block> {
        let usable = size.max(1).min(usize::MAX - addr);
        let mut state = self.state.lock();
        let at = state.list.partition_point(|&(start, _)| start <= addr);
        if let Some(before) = at.checked_sub(1).and_then(|at| state.block(at))
            && addr - before.base < before.usable
        {
            return Err(before);
        }
        if let Some(after) = state.block(at)
            && after.base - addr < usable
        {
            return Err(after);
        }
        let block = Block { base: addr, size, usable, owner, page: Page::Normal, serial: serial(), tag };
        let record = state.records.take();
        // SAFETY: records live as long as `self`.
        unsafe { record.as_ref() }.publish(&block);
        state.list.insert(at, (addr, record));
        self.publish(&mut state, at);
        let used = self.used.load(Ordering::Relaxed).saturating_add(usable as u64);
        self.used.store(used, Ordering::Release);
        self.peak.fetch_max(used, Ordering::Relaxed);
        Ok(block)
    }

    /// Removes the range that starts at `addr`.
    pub fn remove(&self, addr: usize) -> Result<Block, FreeError> {
        let mut state = self.state.lock();
        let at = state.list.partition_point(|&(start, _)| start <= addr).checked_sub(1);
        let at = at.ok_or(FreeError::Unknown)?;
        let block = state.block(at).filter(|b| addr - b.base < b.usable).ok_or(FreeError::Unknown)?;
        if block.base != addr {
            return Err(FreeError::Interior(block));
        }
        let (_, record) = state.list.remove(at);
        self.publish(&mut state, at);
        // SAFETY: records live as long as `self`.
        unsafe { record.as_ref() }.retire();
        state.records.give(record);
        let used = self.used.load(Ordering::Relaxed).saturating_sub(block.usable as u64);
        self.used.store(used, Ordering::Release);
        Ok(block)
    }

    /// All ranges.
    pub fn blocks(&self) -> Vec<Block> {
        let state = self.state.lock();
        (0..state.list.len()).filter_map(|at| state.block(at)).collect()
    }

    /// Registered bytes.
    pub fn usage(&self) -> Usage {
        let used = self.used.load(Ordering::Relaxed);
        Usage { total: used, used, peak: self.peak.load(Ordering::Relaxed) }
    }

    /// Shows readers the list, which has changed from `changed` on.
    fn publish(&self, state: &mut State, changed: usize) {
        let version = self.version.load(Ordering::Relaxed);
        let place = self.side(version.wrapping_add(1));
        let len = state.list.len();
        // SAFETY: sides live as long as `self`.
        let mut side = unsafe { place.load(Ordering::Relaxed).as_ref() };
        let mut from = state.stale.min(changed);
        if side.is_none_or(|side| side.entries.len() < len) {
            let entries = (0..len.next_power_of_two().max(64)).map(|_| Entry::default()).collect();
            let new = Stable::new(Box::new(Side { len: AtomicUsize::new(0), entries }));
            place.store(new.address() as *mut Side, Ordering::Release);
            // SAFETY: it lives in the list below from here on.
            side = unsafe { (new.address() as *const Side).as_ref() };
            state.sides.push(new);
            from = 0;
        }
        let Some(side) = side else { return };
        // Whoever sees a word below sees the present version too, and looks at the other list.
        fence(Ordering::Release);
        for (entry, &(start, record)) in side.entries.iter().zip(&state.list).skip(from) {
            entry.start.store(start, Ordering::Relaxed);
            entry.record.store(record.as_ptr(), Ordering::Relaxed);
        }
        side.len.store(len, Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Release);
        state.stale = changed;
    }
}

impl State {
    fn block(&self, at: usize) -> Option<Block> {
        // SAFETY: records live as long as the state.
        self.list.get(at).and_then(|(_, record)| unsafe { record.as_ref() }.live())
    }
}
