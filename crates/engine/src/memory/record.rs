//! What is known about one block, readable without a lock.
//!
//! A record is a lock of the sequence kind whose sequence is the block's serial: 0 while there is no block, and no serial is
//! used twice, so a reader that sees the same serial before and after has read one block's words. Records are never given
//! back before their space ends, so a stale pointer to one reads some other block's words at worst, and those say by
//! themselves which addresses they are about.

use super::{Block, Owner, Page, Whose};
use crate::sync::plain::{AtomicU64, AtomicUsize, Ordering, fence};
use std::ptr::NonNull;

/// One block's words: 48 bytes.
#[derive(Default)]
pub(super) struct Record {
    serial: AtomicU64,
    base: AtomicUsize,
    size: AtomicUsize,
    usable: AtomicUsize,
    tag: AtomicU64,
    meta: AtomicU64,
}

/// What a reader saw.
pub(super) enum Seen {
    /// A block.
    Live(Block),
    /// No block.
    Dead,
    /// Two blocks, or a block and none: look again.
    Torn,
}

/// What [`Record::left`] saw, as [`Seen`].
pub(super) enum Look {
    Live(usize, Whose),
    Dead,
    Torn,
}

impl Record {
    /// Makes a block known. Writers are serialised by their arena's lock; the record is dead.
    pub fn publish(&self, block: &Block) {
        self.base.store(block.base, Ordering::Relaxed);
        self.size.store(block.size, Ordering::Relaxed);
        self.usable.store(block.usable, Ordering::Relaxed);
        self.tag.store(block.tag, Ordering::Relaxed);
        self.meta.store(pack(block.owner, block.page), Ordering::Relaxed);
        self.serial.store(block.serial, Ordering::Release);
    }

    /// Ends the block. Under the arena's lock.
    pub fn retire(&self) {
        self.serial.store(0, Ordering::Relaxed);
        // Words that `publish` writes later are seen only together with this 0 or a later serial.
        fence(Ordering::Release);
    }

    /// Reads the block.
    #[inline]
    pub fn read(&self) -> Seen {
        let serial = self.serial.load(Ordering::Acquire);
        if serial == 0 {
            return Seen::Dead;
        }
        let (owner, page) = unpack(self.meta.load(Ordering::Relaxed));
        let block = Block {
            base: self.base.load(Ordering::Relaxed),
            size: self.size.load(Ordering::Relaxed),
            usable: self.usable.load(Ordering::Relaxed),
            owner,
            page,
            serial,
            tag: self.tag.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        if self.serial.load(Ordering::Relaxed) == serial { Seen::Live(block) } else { Seen::Torn }
    }

    /// Whose the block is, and how many of its bytes lie from `addr` on: None if `addr` is none of them. What a copy must know,
    /// without the rest.
    #[inline(always)]
    pub fn left(&self, addr: usize) -> Look {
        let serial = self.serial.load(Ordering::Acquire);
        if serial == 0 {
            return Look::Dead;
        }
        let base = self.base.load(Ordering::Relaxed);
        let usable = self.usable.load(Ordering::Relaxed);
        let whose = Whose::of_meta(self.meta.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        if self.serial.load(Ordering::Relaxed) != serial {
            return Look::Torn;
        }
        let offset = addr.wrapping_sub(base);
        if offset < usable { Look::Live(usable - offset, whose) } else { Look::Dead }
    }

    /// The block, for a caller that keeps writers out.
    pub fn live(&self) -> Option<Block> {
        match self.read() {
            Seen::Live(block) => Some(block),
            Seen::Dead | Seen::Torn => None,
        }
    }
}

fn pack(owner: Owner, page: Page) -> u64 {
    let page = match page {
        Page::Normal => 0,
        Page::Huge => 1,
        Page::Giant => 2,
    };
    Whose::from(owner).0 | page << 8
}

#[inline]
fn unpack(meta: u64) -> (Owner, Page) {
    let page = match meta >> 8 & 0xff {
        0 => Page::Normal,
        1 => Page::Huge,
        _ => Page::Giant,
    };
    (Whose::of_meta(meta).known(), page)
}

/// Records that come one at a time and are used again.
#[derive(Default)]
pub(super) struct Pool {
    all: Vec<Stable<[Record]>>,
    free: Vec<NonNull<Record>>,
}

// SAFETY: the pointers lead into `all`, which the pool owns; records are shared between threads by design.
unsafe impl Send for Pool {}

const POOL_STEP: usize = 256;

impl Pool {
    /// A dead record, valid until the pool ends.
    pub fn take(&mut self) -> NonNull<Record> {
        if let Some(record) = self.free.pop() {
            return record;
        }
        let step: Box<[Record]> = (0..POOL_STEP).map(|_| Record::default()).collect();
        let step = Stable::new(step);
        self.free.extend(step.iter().rev().map(NonNull::from));
        self.all.push(step);
        // The step holds at least one.
        self.free.pop().unwrap_or(NonNull::dangling())
    }

    /// Takes a retired record back.
    pub fn give(&mut self, record: NonNull<Record>) {
        self.free.push(record);
    }

    /// Every record, live or not.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.all.iter().flat_map(|step| step.iter())
    }
}

/// A heap object that raw pointers lead to while its owner moves.
pub(super) struct Stable<T: ?Sized>(NonNull<T>);

// SAFETY: as a box.
unsafe impl<T: ?Sized + Send + Sync> Send for Stable<T> {}
// SAFETY: as a box.
unsafe impl<T: ?Sized + Send + Sync> Sync for Stable<T> {}

impl<T: ?Sized> Stable<T> {
    pub fn new(object: Box<T>) -> Stable<T> {
        Stable(NonNull::from(Box::leak(object)))
    }

    /// The object's address.
    pub fn address(&self) -> usize {
        self.0.as_ptr().cast::<u8>() as usize
    }
}

impl<T: ?Sized> std::ops::Deref for Stable<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: made from a box, dropped with it.
        unsafe { self.0.as_ref() }
    }
}

impl<T: ?Sized> Drop for Stable<T> {
    fn drop(&mut self) {
        // SAFETY: the box it was made from.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::plain::AtomicBool;
    use std::time::{Duration, Instant};

    /// One record under a writer that never rests: whatever a reader takes for a block is one.
    #[test]
    fn readers_see_whole_blocks() {
        let record = Record::default();
        let done = AtomicBool::new(false);
        let block = |serial: u64| Block {
            base: serial as usize,
            size: serial as usize + 1,
            usable: serial as usize + 2,
            owner: Owner::Device(serial as u16),
            page: Page::Giant,
            serial,
            tag: serial + 3,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for serial in 1.. {
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                    record.publish(&block(serial));
                    record.retire();
                }
            });
            let (mut live, mut wrong, start) = (0, None, Instant::now());
            while live < 20_000 && wrong.is_none() && start.elapsed() < Duration::from_secs(20) {
                if let Seen::Live(seen) = record.read() {
                    live += 1;
                    wrong = Some(seen).filter(|seen| *seen != block(seen.serial));
                }
            }
            done.store(true, Ordering::Relaxed);
            assert_eq!(wrong, None);
            assert!(live > 0);
        });
    }
}
