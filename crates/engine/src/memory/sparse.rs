//! Large arrays of zeros that cost nothing until they are written.

use crate::sync::plain::{AtomicU16, AtomicU64, AtomicUsize};
use std::ptr::{self, NonNull};

/// A type for which zero bytes are a value.
///
/// # Safety
/// All-zero bytes are a valid value, and it needs no drop.
pub(super) unsafe trait Zero {}
// SAFETY: integers in memory.
unsafe impl Zero for AtomicU16 {}
// SAFETY: integers in memory.
unsafe impl Zero for AtomicUsize {}
// SAFETY: integers in memory.
unsafe impl Zero for AtomicU64 {}

/// An array in a mapping of its own: reserved whole, backed page by page as it is written.
pub(super) struct Sparse<T> {
    base: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements and hands out shared references only.
unsafe impl<T: Send> Send for Sparse<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Sparse<T> {}

impl<T: Zero> Sparse<T> {
    /// `len` zeros. Fails with an errno.
    pub fn new(len: usize) -> Result<Sparse<T>, i32> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(libc::ENOMEM)?.max(1);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, owned by the result.
        let map =
            unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return Err(super::region::errno());
        }
        NonNull::new(map.cast()).map(|base| Sparse { base, len }).ok_or(libc::ENOMEM)
    }

    /// The element at `at`, if there are so many.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        // SAFETY: inside the mapping, which holds valid elements.
        (at < self.len).then(|| unsafe { self.base.add(at).as_ref() })
    }

    /// The elements from `at` to before `end`, those that there are.
    #[inline]
    pub fn part(&self, at: usize, end: usize) -> &[T] {
        let end = end.min(self.len);
        let at = at.min(end);
        // SAFETY: inside the mapping, which holds valid elements.
        unsafe { std::slice::from_raw_parts(self.base.add(at).as_ptr(), end - at) }
    }
}

impl<T> Drop for Sparse<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`.
        unsafe { libc::munmap(self.base.as_ptr().cast(), (self.len * size_of::<T>()).max(1)) };
    }
}
