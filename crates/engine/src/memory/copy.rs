//! Copies and fills that answer a bad address with an error.
//!
//! They run the C library's routines under the trampoline of `fault/`, which costs a few nanoseconds and no system call. After
//! a fault any part of the destination may have been written.

use crate::fault::{Fault, arch, prepare_thread};

#[cfg(not(miri))]
mod routine {
    use super::arch::Routine;
    use std::ffi::c_int;

    unsafe extern "C" {
        fn wmemset(dst: *mut c_int, word: c_int, count: usize) -> *mut c_int;
    }

    pub(super) const MOVE: Routine = libc::memmove as *const _;
    pub(super) const SET: Routine = libc::memset as *const _;
    pub(super) const SET_WORDS: Routine = wmemset as *const _;
}

/// Miri's stand-ins for the C library's routines.
#[cfg(miri)]
mod routine {
    use super::arch::Routine;
    use std::ptr::with_exposed_provenance as at;
    use std::ptr::with_exposed_provenance_mut as at_mut;

    // SAFETY of all three: as the functions below.
    pub(super) const MOVE: Routine =
        |dst, src, len| unsafe { std::ptr::copy(at::<u8>(src), at_mut(dst), len) };
    pub(super) const SET: Routine =
        |dst, byte, len| unsafe { at_mut::<u8>(dst).write_bytes(byte as u8, len) };
    pub(super) const SET_WORDS: Routine = |dst, word, count| {
        (0..count).for_each(|i| unsafe { at_mut::<u32>(dst + 4 * i).write(word as u32) });
    };
}

/// Copies `len` bytes between inner addresses; overlapping ranges behave like memmove. No system call, no allocation (except
/// on a thread's first copy, which readies the thread: [`prepare_thread`]).
///
/// # Errors
/// The fault, if a byte of either range is not mapped, is protected, or lies behind its file's end.
///
/// # Safety
/// The ranges may be unmapped or protected (that is reported), but must not be memory that Rust code holds references to.
#[inline]
pub unsafe fn copy(dst: usize, src: usize, len: usize) -> Result<(), Fault> {
    prepare_thread();
    // SAFETY: memmove; the caller answers for the ranges.
    unsafe { arch::guarded(dst, src, len, routine::MOVE) }
}

/// Sets `len` bytes at an inner address.
///
/// # Errors
/// As [`copy`].
///
/// # Safety
/// As [`copy`].
#[inline]
pub unsafe fn fill(dst: usize, byte: u8, len: usize) -> Result<(), Fault> {
    prepare_thread();
    // SAFETY: memset; the caller answers for the range.
    unsafe { arch::guarded(dst, byte.into(), len, routine::SET) }
}

/// Sets `count` 32-bit words at an inner address of any alignment.
///
/// # Errors
/// As [`copy`].
///
/// # Safety
/// As [`copy`].
pub unsafe fn fill32(dst: usize, word: u32, count: usize) -> Result<(), Fault> {
    prepare_thread();
    let head = dst.wrapping_neg() % 4;
    // SAFETY: wmemset and memmove; the caller answers for the range, and the bytes of `word` are on this stack.
    unsafe {
        if head == 0 || count == 0 {
            return arch::guarded(dst, word as usize, count, routine::SET_WORDS);
        }
        // The C library's routine wants whole aligned words: the pattern, turned, from the first aligned address on, and
        // the word's bytes that stick out on both sides.
        let bytes = word.to_ne_bytes();
        let source = bytes.as_ptr() as usize;
        arch::guarded(dst, source, head, routine::MOVE)?;
        let turned = word.rotate_right(8 * head as u32);
        arch::guarded(dst.wrapping_add(head), turned as usize, count - 1, routine::SET_WORDS)?;
        let tail = dst.wrapping_add(head).wrapping_add((count - 1).wrapping_mul(4));
        arch::guarded(tail, source + head, 4 - head, routine::MOVE)
    }
}
