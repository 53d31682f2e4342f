//! Slots found by index without a lock: segments that are allocated when first needed and stay.

use crate::sync::{AtomicPtr, Mutex, Ordering};
use std::ptr;

/// Slots of a segment.
const SEGMENT: usize = 64;

pub(crate) struct Table<T> {
    segments: Box<[AtomicPtr<[T; SEGMENT]>]>,
    free: Mutex<Free>,
    limit: u32,
}

struct Free {
    /// Indexes given back.
    list: Vec<u32>,
    /// Indexes below this one have been handed out before.
    fresh: u32,
}

impl<T: Default> Table<T> {
    /// A table of at most `limit` slots.
    pub(crate) fn new(limit: u32) -> Table<T> {
        let segments = (0..limit.div_ceil(SEGMENT as u32)).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        Table { segments, free: Mutex::new(Free { list: Vec::new(), fresh: 0 }), limit }
    }

    /// The slot of an index that was handed out at some time.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        let segment = self.segments.get(index as usize / SEGMENT)?.load(Ordering::Acquire);
        // SAFETY: null or a segment, which stays as long as the table.
        unsafe { segment.as_ref() }?.get(index as usize % SEGMENT)
    }

    /// All slots that there are, and their indexes; those of indexes that were never handed out are among them.
    #[cfg(not(loom))]
    pub(crate) fn each(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).step_by(SEGMENT).zip(&self.segments).flat_map(|(first, segment)| {
            // SAFETY: as in `get`.
            let segment = unsafe { segment.load(Ordering::Acquire).as_ref() };
            (first..).zip(segment.into_iter().flatten())
        })
    }

    /// Hands out an index. None when all are in use.
    pub(crate) fn take(&self) -> Option<u32> {
        let mut free = self.free.lock();
        if let Some(index) = free.list.pop() {
            return Some(index);
        }
        if free.fresh == self.limit {
            return None;
        }
        let index = free.fresh;
        let segment = self.segments.get(index as usize / SEGMENT)?;
        if segment.load(Ordering::Relaxed).is_null() {
            let slots = Box::new(std::array::from_fn(|_| T::default()));
            segment.store(Box::into_raw(slots), Ordering::Release);
        }
        free.fresh += 1;
        Some(index)
    }

    /// Takes an index back.
    pub(crate) fn give(&self, index: u32) {
        self.free.lock().list.push(index);
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        for segment in &self.segments {
            let segment = segment.load(Ordering::Relaxed);
            if !segment.is_null() {
                // SAFETY: it came from `Box::into_raw`, and nobody holds a slot any more.
                drop(unsafe { Box::from_raw(segment) });
            }
        }
    }
}
