//! Copies past the caches, for ranges that no cache holds: a store that goes to memory by itself need not read the line first, which is a third of
//! a copy's traffic. (The C library's routine does so only when it is asked for the whole, and large copies are made in pieces.)

use crate::fault::{Fault, arch, prepare_thread};

/// From this size on a copy is made past the caches: several times what a last-level cache holds.
pub const STREAMED: usize = 96 << 20;

/// As [`super::copy`], past the caches; the ranges have no byte in common.
///
/// # Errors
/// As [`super::copy`].
///
/// # Safety
/// As [`super::copy`].
pub unsafe fn copy_streamed(dst: usize, src: usize, len: usize) -> Result<(), Fault> {
    prepare_thread();
    // SAFETY: the caller answers for the ranges.
    unsafe { arch::guarded(dst, src, len, STREAM) }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
const STREAM: arch::Routine = routine as *const _;
#[cfg(all(not(target_arch = "x86_64"), not(miri)))]
const STREAM: arch::Routine = libc::memmove as *const _;
// SAFETY: as the function above.
#[cfg(miri)]
const STREAM: arch::Routine = |dst, src, len| unsafe {
    let from = std::ptr::with_exposed_provenance::<u8>(src);
    std::ptr::copy(from, std::ptr::with_exposed_provenance_mut(dst), len);
};

/// Runs under the guard, which a fault leaves from wherever it is: holds nothing that wants to be dropped.
///
/// # Safety
/// As [`copy_streamed`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe extern "C" fn routine(dst: usize, src: usize, len: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    /// What is written at once: a cache line.
    const LINE: usize = 64;
    let from = std::ptr::with_exposed_provenance::<u8>(src);
    let to = std::ptr::with_exposed_provenance_mut::<u8>(dst);
    let head = dst.wrapping_neg() % LINE;
    let lines = len.saturating_sub(head) / LINE;
    let (head, tail) = if lines == 0 { (len, 0) } else { (head, len - head - lines * LINE) };
    // SAFETY: the caller's promise; `to + head` is a line's start. The fence puts these stores before what the thread publishes.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        let mut at = head;
        for _ in 0..lines {
            let words = from.add(at).cast::<__m128i>();
            let line = [0, 1, 2, 3].map(|i| _mm_loadu_si128(words.add(i)));
            let place = to.add(at).cast::<__m128i>();
            _mm_stream_si128(place, line[0]);
            _mm_stream_si128(place.add(1), line[1]);
            _mm_stream_si128(place.add(2), line[2]);
            _mm_stream_si128(place.add(3), line[3]);
            at += LINE;
        }
        std::ptr::copy_nonoverlapping(from.add(at), to.add(at), tail);
        _mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::copy_streamed;

    #[test]
    fn every_byte_arrives_and_no_other_changes() {
        let source: Vec<u8> = (0..3000).map(|i| (i * 7 % 253) as u8).collect();
        for (to, from, len) in
            [(0, 0, 3000), (1, 5, 63), (63, 0, 1), (64, 3, 64), (7, 0, 2048), (65, 1, 2900), (3, 3, 0)]
        {
            let mut target = vec![0xa5u8; 3000];
            let mut wanted = target.clone();
            wanted[to..to + len].copy_from_slice(&source[from..from + len]);
            let (dst, src) =
                (target.as_mut_ptr().expose_provenance() + to, source.as_ptr().expose_provenance() + from);
            // SAFETY: inside the two arrays.
            unsafe { copy_streamed(dst, src, len) }.unwrap();
            assert!(target == wanted, "{to} {from} {len}");
        }
    }
}
