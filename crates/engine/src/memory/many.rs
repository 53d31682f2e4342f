//! Many copies under one guard: entering the trampoline of `fault/` for each costs as much as moving some hundred bytes, and
//! keeps the processor from beginning the next copy while the last one waits for memory.

use crate::fault::{Fault, arch, prepare_thread};

/// One copy of many, by inner addresses; overlapping ranges behave like memmove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// First byte written.
    pub dst: usize,
    /// First byte read.
    pub src: usize,
    /// Bytes.
    pub len: usize,
}

/// Rows of equal length at equal distances, by inner addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// First byte written.
    pub dst: usize,
    /// From row to row of the destination, in bytes.
    pub dpitch: usize,
    /// First byte read.
    pub src: usize,
    /// From row to row of the source, in bytes.
    pub spitch: usize,
    /// Bytes of a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

impl Rows {
    /// The length, if it is one piece of memory on both sides.
    pub fn dense(&self) -> Option<usize> {
        let dense = self.height == 1 || (self.width == self.dpitch && self.width == self.spitch);
        dense.then_some(self.bytes())
    }

    /// Bytes of all rows.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.width.saturating_mul(self.height)
    }

    /// Where a row begins on both sides.
    #[inline(always)]
    fn row(&self, row: usize) -> (usize, usize) {
        let at = |start: usize, pitch: usize| start.wrapping_add(row.wrapping_mul(pitch));
        (at(self.dst, self.dpitch), at(self.src, self.spitch))
    }

    /// From the first row's first byte to the last one's last.
    fn hull(&self, pitch: usize) -> usize {
        pitch.saturating_mul(self.height.saturating_sub(1)).saturating_add(self.width)
    }

    /// Whether a byte of a source row may lie in a destination row.
    pub(crate) fn mixed(&self) -> bool {
        let (before, len) = if self.dst < self.src {
            (self.src - self.dst, self.hull(self.dpitch))
        } else {
            (self.dst - self.src, self.hull(self.spitch))
        };
        before < len
    }
}

/// Makes the copies one after the other.
///
/// # Errors
/// Which of them met a fault, and the fault: the ones before it are done, those behind it are not begun.
///
/// # Safety
/// As [`super::copy`], for each.
pub unsafe fn copy_each(moves: &[Move]) -> Result<(), (usize, Fault)> {
    prepare_thread();
    let mut at = 0_usize;
    // SAFETY: the list and the count outlive the call; the caller answers for the ranges.
    let done = unsafe {
        arch::guarded(
            moves.as_ptr().expose_provenance(),
            moves.len(),
            (&raw mut at).expose_provenance(),
            EACH,
        )
    };
    // SAFETY: this frame's own; the routine wrote it.
    done.map_err(|fault| (unsafe { (&raw const at).read_volatile() }, fault))
}

/// Copies the rows one after the other, each as by memmove.
///
/// # Errors
/// The fault, if a byte of any row is not mapped, is protected, or lies behind its file's end.
///
/// # Safety
/// As [`super::copy`], for each row.
pub unsafe fn copy_rows(rows: &Rows) -> Result<(), Fault> {
    if let Some(len) = rows.dense() {
        // SAFETY: the caller's promise.
        return unsafe { super::copy(rows.dst, rows.src, len) };
    }
    prepare_thread();
    // SAFETY: the rows' description outlives the call; the caller answers for the ranges.
    unsafe { arch::guarded(std::ptr::from_ref(rows).expose_provenance(), 0, 0, ROWS) }
}

#[cfg(not(miri))]
const EACH: arch::Routine = each as *const _;
#[cfg(not(miri))]
const ROWS: arch::Routine = rows as *const _;
// SAFETY of both: as the functions above.
#[cfg(miri)]
const EACH: arch::Routine = |list, count, at| unsafe { each(list, count, at) };
#[cfg(miri)]
const ROWS: arch::Routine = |rect, _, _| unsafe { rows(rect, 0, 0) };

/// Copies ahead of the one being made whose memory is asked for. (A processor looks some hundred instructions ahead by itself, which is
/// less than a copy of 1 KiB.)
const AHEAD: usize = 3;
/// Bytes of one copy that are asked for; the processor sees to the rest when the copy runs.
const ASKED: usize = 1024;
/// A cache line.
const LINE: usize = 64;

// Both routines run under the guard, which a fault leaves from wherever it is: they hold nothing that wants to be dropped, and
// need little stack.

/// # Safety
/// `list` leads to `count` moves, `at` to a word; the ranges as in [`super::copy`].
unsafe extern "C" fn each(list: usize, count: usize, at: usize) {
    let list = std::ptr::with_exposed_provenance::<Move>(list);
    let at = std::ptr::with_exposed_provenance_mut::<usize>(at);
    for index in 0..count {
        // SAFETY: below `count`; the word is the caller's.
        let now = unsafe {
            at.write_volatile(index);
            *list.add(index)
        };
        if index + AHEAD < count {
            // SAFETY: below `count`.
            let next = unsafe { *list.add(index + AHEAD) };
            for offset in (0..next.len.min(ASKED)).step_by(LINE) {
                ask(next.src.wrapping_add(offset), false);
                ask(next.dst.wrapping_add(offset), true);
            }
        }
        // SAFETY: the caller's promise.
        unsafe { one(now.dst, now.src, now.len) };
    }
}

/// # Safety
/// `rect` leads to [`Rows`]; the rows as in [`super::copy`].
unsafe extern "C" fn rows(rect: usize, _: usize, _: usize) {
    // SAFETY: the caller's promise.
    let rows = unsafe { *std::ptr::with_exposed_provenance::<Rows>(rect) };
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if rows.width.is_multiple_of(LINE)
        && rows.width <= SHORT
        && !rows.mixed()
        && std::arch::is_x86_feature_detected!("avx512f")
    {
        // SAFETY: the processor has them; the caller's promise.
        unsafe { whole_lines(&rows) };
        return;
    }
    for row in 0..rows.height {
        let (dst, src) = rows.row(row);
        // SAFETY: the caller's promise.
        unsafe { one(dst, src, rows.width) };
    }
}

/// Rows up to so many bytes are copied here: a call of the C library's routine for each costs as much as moving 256 bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const SHORT: usize = 1024;

/// Rows ahead of the one being copied whose memory is asked for: the processor guesses lines that follow each other, not rows.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const ROWS_AHEAD: usize = 8;

/// # Safety
/// As [`rows`]; source and destination have no byte in common, and rows are whole cache lines long.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f")]
unsafe fn whole_lines(rows: &Rows) {
    use std::arch::x86_64::{__m512i, _mm512_loadu_si512, _mm512_storeu_si512};
    for row in 0..rows.height {
        // No operands are told: nothing is called here, so the stack pointer tells the guard's own faults.
        let (dst, src) = rows.row(row);
        let ahead = rows.row(row + ROWS_AHEAD);
        for at in (0..rows.width).step_by(LINE) {
            ask(ahead.1.wrapping_add(at), false);
            ask(ahead.0.wrapping_add(at), true);
        }
        let from = std::ptr::with_exposed_provenance::<__m512i>(src);
        let to = std::ptr::with_exposed_provenance_mut::<__m512i>(dst);
        for line in 0..rows.width / LINE {
            // SAFETY: the caller's promise.
            unsafe { _mm512_storeu_si512(to.add(line), _mm512_loadu_si512(from.add(line))) };
        }
    }
}

/// # Safety
/// As [`super::copy`].
#[inline(always)]
unsafe fn one(dst: usize, src: usize, len: usize) {
    arch::operands(dst, src, len);
    let from = std::ptr::with_exposed_provenance::<u8>(src);
    let to = std::ptr::with_exposed_provenance_mut::<u8>(dst);
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy(from, to, len) };
}

/// Asks for a cache line; harmless at any address.
#[inline(always)]
fn ask(address: usize, to_write: bool) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        let line = std::ptr::with_exposed_provenance::<i8>(address);
        if to_write { _mm_prefetch::<_MM_HINT_ET0>(line) } else { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (address, to_write);
}

#[cfg(test)]
mod tests {
    use super::{Move, Rows, copy_each, copy_rows};

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 31 % 251) as u8).collect()
    }

    /// What the rows make of one array, row by row.
    fn wanted(array: &[u8], rows: &Rows) -> Vec<u8> {
        let mut array = array.to_vec();
        for row in 0..rows.height {
            let (dst, src) = (rows.dst + row * rows.dpitch, rows.src + row * rows.spitch);
            array.copy_within(src..src + rows.width, dst);
        }
        array
    }

    #[test]
    fn rows_are_copied_as_by_memmove_row_by_row() {
        for width in [1, 63, 64, 65, 128, 256, 1024, 1088] {
            for (dst, src) in
                [(0, 8192), (8192, 0), (3, 8192 + 5), (0, 64), (64, 0), (32, 0), (0, 32), (1, 0)]
            {
                for (dpitch, spitch) in
                    [(width, width), (width + 64, width), (width, width + 7), (0, width), (width + 1, 0)]
                {
                    let rows = Rows { dst, dpitch, src, spitch, width, height: 5 };
                    let mut array = bytes(16384);
                    let right = wanted(&array, &rows);
                    let base = array.as_mut_ptr().expose_provenance();
                    // SAFETY: all rows lie in the array.
                    unsafe { copy_rows(&Rows { dst: base + dst, src: base + src, ..rows }) }.unwrap();
                    // A dense rectangle is one move.
                    if rows.dense().is_none() {
                        assert!(array == right, "{rows:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn moves_are_made_in_order() {
        let mut array = bytes(8192);
        let base = array.as_mut_ptr().expose_provenance();
        let list: Vec<(usize, usize, usize)> =
            (0..50).map(|i| (i * 37 % 4000, (i * 101 + 13) % 4000, i * 29 % 1500)).collect();
        let mut right = array.clone();
        list.iter().for_each(|(dst, src, len)| right.copy_within(*src..*src + *len, *dst));
        let moves: Vec<Move> =
            list.iter().map(|(dst, src, len)| Move { dst: base + dst, src: base + src, len: *len }).collect();
        // SAFETY: all ranges lie in the array.
        unsafe { copy_each(&moves) }.unwrap();
        assert!(array == right);
    }
}
