//! Large copies and fills: in pieces, so that priorities and deadlines are looked at in between, and shared with threads
//! that have nothing better to do.
//!
//! The owner of the stream opens a job on the board and kicks; idle workers and hosts that wait for that stream take
//! pieces of it as the owner does. The job is closed by the owner, which then waits for the pieces still in hand: the task
//! ends (or gives way) with every piece below its progress done and none above it begun.

use super::core::{Core, over};
use crate::fault::Fault;
use crate::memory;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering, spin_loop, yield_now};
use std::cell::UnsafeCell;
use std::time::Instant;

/// A look around after so many bytes, when nobody helps.
pub(crate) const ALONE: usize = 1 << 20;
/// Pieces of a shared job.
const SHARED: usize = 256 << 10;
/// Less than this is not worth the hand-over to another core.
const WORTH: usize = 2 << 20;
/// In place of a stream's index: nobody's task, but a call's own copy ([`Core::at_once`]).
const CALL: u32 = u32::MAX;
/// Jobs that can be shared at once; others are done alone.
const JOBS: usize = 4;
/// Workers that are fetched for one job: memory is the limit soon. Those that are awake anyway may join too.
const HELPERS: u32 = 3;

/// What is done to the bytes.
#[derive(Clone, Copy)]
pub(crate) enum Op {
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
}

impl Op {
    /// A copy of `len` bytes, the way that is fastest for so many.
    #[inline]
    pub(crate) fn copy(dst: usize, src: usize, len: usize) -> Op {
        if len >= memory::STREAMED && dst.abs_diff(src) >= len {
            Op::Stream { dst, src }
        } else {
            Op::Copy { dst, src }
        }
    }

    /// Whether source and destination share bytes: only one thread then keeps the order that memmove promises.
    pub(crate) fn overlaps(self, len: usize) -> bool {
        matches!(self, Op::Copy { dst, src } if dst.abs_diff(src) < len)
    }

    /// Does `n` bytes from offset `at`.
    pub(crate) fn run(self, at: usize, n: usize) -> Result<(), Fault> {
        // SAFETY: inner addresses; whoever enqueued the task answers for them. Pieces of words are whole words.
        unsafe {
            match self {
                Op::Copy { dst, src } => memory::copy(dst.wrapping_add(at), src.wrapping_add(at), n),
                Op::Stream { dst, src } => {
                    memory::copy_streamed(dst.wrapping_add(at), src.wrapping_add(at), n)
                }
                Op::Fill { dst, byte } => memory::fill(dst.wrapping_add(at), byte, n),
                Op::Fill32 { dst, word } => memory::fill32(dst.wrapping_add(at), word, n / 4),
            }
        }
    }
}

/// The job is somebody's.
const TAKEN: u32 = 1 << 31;
/// It can be joined. Below these two bits: how many have joined.
const OPEN: u32 = 1 << 30;

struct Job {
    state: AtomicU32,
    /// Written by the owner before OPEN, read by those who have joined.
    what: UnsafeCell<(Op, u32)>,
    len: AtomicUsize,
    /// Offset of the first piece that nobody took yet.
    next: AtomicUsize,
    failed: AtomicBool,
}

// SAFETY: `what` is written while the job is TAKEN but not OPEN and nobody has joined, and read between joining and leaving.
unsafe impl Sync for Job {}

/// The jobs of an engine.
pub(crate) struct Board {
    jobs: [Job; JOBS],
    /// OPEN jobs with pieces left: what an idle worker looks at.
    open: AtomicU32,
}

impl Default for Board {
    fn default() -> Self {
        let job = |_| Job {
            state: AtomicU32::new(0),
            what: UnsafeCell::new((Op::Fill { dst: 0, byte: 0 }, 0)),
            len: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        };
        Board { jobs: std::array::from_fn(job), open: AtomicU32::new(0) }
    }
}

impl Job {
    /// Takes the next piece: offset and length.
    fn piece(&self) -> Option<(usize, usize)> {
        let len = self.len.load(Ordering::Relaxed);
        let at = self.next.fetch_add(SHARED, Ordering::Relaxed);
        (at < len).then(|| (at, SHARED.min(len - at)))
    }

    /// No one joins any more; whether this call ended it.
    fn shut(&self) -> bool {
        self.state.fetch_and(!OPEN, Ordering::AcqRel) & OPEN != 0
    }
}

/// A job in the hands of its owner.
pub(crate) struct Shared<'a> {
    board: &'a Board,
    job: &'a Job,
    op: Op,
}

impl Shared<'_> {
    /// Does the next piece; its length, or None when all are taken.
    pub(crate) fn step(&self) -> Option<usize> {
        let (at, n) = self.job.piece()?;
        if self.op.run(at, n).is_err() {
            self.job.failed.store(true, Ordering::Relaxed);
        }
        Some(n)
    }

    /// Ends the job: how far it is done, and whether a piece failed.
    pub(crate) fn close(self) -> (usize, bool) {
        if self.job.shut() {
            self.board.open.fetch_sub(1, Ordering::Relaxed);
        }
        let len = self.job.len.load(Ordering::Relaxed);
        // Pieces are taken in order: whatever was taken is done once everyone has left.
        let reached = self.job.next.swap(len, Ordering::Relaxed).min(len);
        let mut spins = 0_u32;
        while self.job.state.load(Ordering::Acquire) != TAKEN {
            spins += 1;
            // A piece takes about 10 us; its thread may be waiting for this processor.
            if spins.is_multiple_of(64) { yield_now() } else { spin_loop() }
        }
        let failed = self.job.failed.load(Ordering::Relaxed);
        self.job.state.store(0, Ordering::Release);
        (reached, failed)
    }
}

impl Board {
    /// Whether there is a piece for somebody.
    #[inline]
    pub(crate) fn pending(&self) -> bool {
        self.open.load(Ordering::Relaxed) != 0
    }

    fn open(&self, stream: u32, op: Op, from: usize, len: usize) -> Option<Shared<'_>> {
        let free =
            |job: &&Job| job.state.compare_exchange(0, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let job = self.jobs.iter().find(free)?;
        // SAFETY: taken and not open: nobody else is here.
        unsafe { *job.what.get() = (op, stream) };
        job.len.store(len, Ordering::Relaxed);
        job.next.store(from, Ordering::Relaxed);
        job.failed.store(false, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
        job.state.store(TAKEN | OPEN, Ordering::Release);
        Some(Shared { board: self, job, op })
    }
}

impl Core {
    /// Makes the rest of a large task known to idle threads, if that is worth it.
    pub(crate) fn share(&self, stream: u32, op: Op, from: usize, len: usize) -> Option<Shared<'_>> {
        if self.solo || self.turns.is_some() || len - from < WORTH {
            return None;
        }
        let shared = self.board.open(stream, op, from, len)?;
        self.kick(true);
        Some(shared)
    }

    /// Does all of it before it returns, on the calling thread, with the help of idle workers if that is worth it.
    pub(crate) fn at_once(&self, op: Op, len: usize) -> Result<(), Fault> {
        if len < WORTH || op.overlaps(len) {
            return op.run(0, len);
        }
        let Some(shared) = self.share(CALL, op, 0, len) else {
            return op.run(0, len);
        };
        while shared.step().is_some() {}
        // A failed piece does not say where: the whole once more, here, does.
        if shared.close().1 { op.run(0, len) } else { Ok(()) }
    }

    /// Takes pieces of jobs (`stream`: of this one's only) until there are none, or the deadline has come; whether there
    /// was one.
    pub(crate) fn join(&self, stream: Option<u32>, deadline: Option<Instant>) -> bool {
        self.board.pending() && self.board.jobs.iter().any(|job| self.join_job(job, stream, deadline))
    }

    fn join_job(&self, job: &Job, stream: Option<u32>, deadline: Option<Instant>) -> bool {
        let joins = |state: u32| (state & OPEN != 0).then(|| state + 1);
        let Ok(before) = job.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, joins) else {
            return false;
        };
        // SAFETY: joined: the owner writes it only after everyone has left.
        let (op, of) = unsafe { *job.what.get() };
        let mut any = false;
        if stream.is_none_or(|stream| stream == of) {
            if (before & !(TAKEN | OPEN)) + 1 < HELPERS {
                self.kick(true);
            }
            while let Some((at, n)) = job.piece() {
                any = true;
                if op.run(at, n).is_err() {
                    job.failed.store(true, Ordering::Relaxed);
                }
                if over(deadline) || (stream.is_none() && self.ready.mask() != 0) {
                    break;
                }
            }
            if job.next.load(Ordering::Relaxed) >= job.len.load(Ordering::Relaxed) && job.shut() {
                self.board.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
        job.state.fetch_sub(1, Ordering::Release);
        any
    }
}
