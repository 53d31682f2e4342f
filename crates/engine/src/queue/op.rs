//! What is done to much memory, in units of its own: bytes, words, rows, or the copies of a list. It can be cut between any two.

use crate::fault::Fault;
use crate::memory::{self, Move, Rows};

/// What is done, by inner addresses.
#[derive(Clone, Copy)]
enum Op {
    Copy {
        dst: usize,
        src: usize,
    },
    /// A copy past the caches, of ranges without a common byte.
    Stream {
        dst: usize,
        src: usize,
    },
    Fill {
        dst: usize,
        byte: u8,
    },
    Fill32 {
        dst: usize,
        word: u32,
    },
    Rows(Rows),
    /// The copies of a list at this address, which stays there until they are made.
    Each {
        list: usize,
    },
}

/// Much memory to copy or fill.
#[derive(Clone, Copy)]
pub(crate) struct Bulk {
    op: Op,
    /// How many units it has.
    pub units: usize,
    /// Bytes of a unit; of a list's copies, on the average.
    unit: usize,
}

impl Bulk {
    /// A copy as by memmove, the way that is fastest for so many bytes.
    #[inline]
    pub(crate) fn copy(dst: usize, src: usize, len: usize) -> Bulk {
        let op = if len >= memory::STREAMED && dst.abs_diff(src) >= len {
            Op::Stream { dst, src }
        } else {
            Op::Copy { dst, src }
        };
        Bulk { op, units: len, unit: 1 }
    }

    /// A fill with a byte.
    #[inline]
    pub(crate) fn fill(dst: usize, byte: u8, len: usize) -> Bulk {
        Bulk { op: Op::Fill { dst, byte }, units: len, unit: 1 }
    }

    /// A fill with 32-bit words.
    #[inline]
    pub(crate) fn fill32(dst: usize, word: u32, count: usize) -> Bulk {
        Bulk { op: Op::Fill32 { dst, word }, units: count, unit: 4 }
    }

    /// Rows, one after the other as by memmove.
    #[inline]
    pub(crate) fn rows(rows: &Rows) -> Bulk {
        match rows.dense() {
            Some(len) => Bulk::copy(rows.dst, rows.src, len),
            None => Bulk { op: Op::Rows(*rows), units: rows.height, unit: rows.width.max(1) },
        }
    }

    /// The copies of a list, `bytes` in all, in any order.
    #[inline]
    pub(crate) fn each(moves: &[Move], bytes: usize) -> Bulk {
        let unit = (bytes / moves.len().max(1)).max(1);
        Bulk { op: Op::Each { list: moves.as_ptr().expose_provenance() }, units: moves.len(), unit }
    }

    /// Bytes of so many units.
    #[inline]
    pub(crate) fn bytes(&self, units: usize) -> usize {
        units.saturating_mul(self.unit)
    }

    /// Units of about so many bytes, at least one.
    #[inline]
    pub(crate) fn units(&self, bytes: usize) -> usize {
        (bytes / self.unit).max(1)
    }

    /// Whether source and destination share bytes, or rows of the destination do, so that only one thread, from one end to the other, keeps
    /// the order that is promised.
    pub(crate) fn overlaps(&self) -> bool {
        match &self.op {
            Op::Copy { dst, src } => dst.abs_diff(*src) < self.units,
            Op::Rows(rows) => rows.mixed() || rows.dpitch < rows.width,
            _ => false,
        }
    }

    /// Whether that end is the last unit.
    pub(crate) fn backwards(&self) -> bool {
        matches!(self.op, Op::Copy { dst, src } if dst > src && dst - src < self.units)
    }

    /// Whether units go on after one that failed.
    pub(crate) fn goes_on(&self) -> bool {
        matches!(self.op, Op::Each { .. })
    }

    /// Does `n` units from `at` on. Of a list, each copy that can be made.
    pub(crate) fn run(&self, at: usize, n: usize) -> Result<(), Fault> {
        let plus = |start: usize, pitch: usize| start.wrapping_add(at.wrapping_mul(pitch));
        // SAFETY: inner addresses; whoever enqueued the task or makes the call answers for them, and keeps the list.
        unsafe {
            match &self.op {
                Op::Copy { dst, src } => memory::copy(plus(*dst, 1), plus(*src, 1), n),
                Op::Stream { dst, src } => memory::copy_streamed(plus(*dst, 1), plus(*src, 1), n),
                Op::Fill { dst, byte } => memory::fill(plus(*dst, 1), *byte, n),
                Op::Fill32 { dst, word } => memory::fill32(plus(*dst, 4), *word, n),
                Op::Rows(rows) => {
                    let (dst, src) = (plus(rows.dst, rows.dpitch), plus(rows.src, rows.spitch));
                    memory::copy_rows(&Rows { dst, src, height: n, ..*rows })
                }
                Op::Each { list } => {
                    let list = std::ptr::with_exposed_provenance::<Move>(*list);
                    each(std::slice::from_raw_parts(list.add(at), n))
                }
            }
        }
    }
}

/// Makes every copy that can be made; the first fault.
///
/// # Safety
/// As [`memory::copy_each`].
unsafe fn each(mut moves: &[Move]) -> Result<(), Fault> {
    let mut result = Ok(());
    // SAFETY: the caller's promise.
    while let Err((at, fault)) = unsafe { memory::copy_each(moves) } {
        result = result.and(Err(fault));
        moves = moves.get(at + 1..).unwrap_or_default();
    }
    result
}
