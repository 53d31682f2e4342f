//! Large copies and fills ([`Bulk`]): in pieces, so that priorities and deadlines are looked at in between, and shared with threads
//! that have nothing better to do.
//!
//! The owner of the stream opens a job on the board and kicks; idle workers and hosts that wait for that stream take
//! pieces of it. The owner takes them from the front, all others from the end, so that who does the same memory again finds his part of it in
//! his own caches: 16 MiB, time and again, are copied at 2.5 times one thread's speed then, and at 1.7 when both take the next piece
//! (measured; a core's share of the last-level cache is private on that machine). The job is closed by the owner, which then waits
//! for the pieces still in hand: the task ends, or gives way with one part in the middle not begun ([`Shared::close`]).

use super::apart::{leave_processor, processor};
use super::core::{Core, monotonic_ns, over};
use super::op::Bulk;
use crate::fault::Fault;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, spin_loop, yield_now};
use std::cell::{Cell, UnsafeCell};
use std::ops::Range;
use std::time::Instant;

/// A look around after so many bytes, when nobody helps.
pub(crate) const ALONE: usize = 1 << 20;
/// Pieces of a shared job are an eighth of it, but at least and at most so many bytes.
const PIECES: usize = 8;
const LEAST: usize = 64 << 10;
const MOST: usize = 256 << 10;
/// From this size on another core is fetched.
const WORTH: usize = 2 << 20;
/// From this size on one is fetched that waits for work, or when the last one of such a size began so short a time ago.
const SOME: usize = 512 << 10;
const OFTEN: u64 = 100_000;
/// A helper that takes longer than this over a piece was kept from it, in nanoseconds; so often that time those below [`WORTH`] are not
/// shared then.
const LATE: u64 = 50_000;
const REST: u64 = 50;
/// In place of a stream's index: nobody's task, but a call's own copy ([`Core::at_once`]).
const CALL: u32 = u32::MAX;
/// Jobs that can be shared at once; others are done alone.
const JOBS: usize = 4;
/// Workers that are fetched for one job: memory is the limit soon. Those that are awake anyway may join too.
const HELPERS: u32 = 3;

/// Whether so many bytes are ever shared.
#[inline]
pub(crate) fn shared(bytes: usize) -> bool {
    bytes >= SOME
}

/// The job is somebody's.
const TAKEN: u32 = 1 << 31;
/// It can be joined. Below these two bits: how many have joined.
const OPEN: u32 = 1 << 30;

struct Job {
    state: AtomicU32,
    /// Written by the owner before OPEN, read by those who have joined.
    what: UnsafeCell<What>,
    /// Pieces that were taken from the front (low half) and from the end; when both are `pieces` or more together, all are.
    taken: AtomicU64,
    failed: AtomicBool,
}

#[derive(Clone, Copy)]
struct What {
    bulk: Bulk,
    stream: u32,
    /// Units: the first, and the one behind the last.
    from: usize,
    to: usize,
    /// Units of a piece.
    step: usize,
    /// Where the owner runs. A worker that was woken for it is put on the same processor as often as not.
    processor: i32,
}

impl What {
    fn pieces(&self) -> u64 {
        (self.to - self.from).div_ceil(self.step) as u64
    }

    /// First unit of a piece; the end, for one more than there are.
    fn at(&self, piece: u64) -> usize {
        self.to.min(self.from + piece as usize * self.step)
    }
}

/// Which end of a job a thread takes pieces from.
#[derive(Clone, Copy)]
enum From {
    Front,
    End,
}

// SAFETY: `what` is written while the job is TAKEN but not OPEN and nobody has joined, and read between joining and leaving.
unsafe impl Sync for Job {}

/// The jobs of an engine.
pub(crate) struct Board {
    jobs: [Job; JOBS],
    /// OPEN jobs with pieces left: what an idle worker looks at.
    open: AtomicU32,
    /// When the last one began of those that are worth it if they come often.
    last: AtomicU64,
    /// Until when those are not shared, because a helper was kept from its processor.
    rest: AtomicU64,
}

impl Default for Board {
    fn default() -> Self {
        let job = |_| Job {
            state: AtomicU32::new(0),
            what: UnsafeCell::new(What {
                bulk: Bulk::fill(0, 0, 0),
                stream: 0,
                from: 0,
                to: 0,
                step: 1,
                processor: -1,
            }),
            taken: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        };
        Board {
            jobs: std::array::from_fn(job),
            open: AtomicU32::new(0),
            last: AtomicU64::new(0),
            rest: AtomicU64::new(0),
        }
    }
}

impl Job {
    /// Takes a piece and does it; its bytes, or None when all are taken.
    fn step(&self, what: &What, from: From) -> Option<usize> {
        let one = match from {
            From::Front => 1,
            From::End => 1 << 32,
        };
        // Who finds none left adds a last one, which changes nothing.
        let (front, end) = halves(self.taken.fetch_add(one, Ordering::Relaxed));
        let pieces = what.pieces();
        if front + end >= pieces {
            return None;
        }
        let piece = match from {
            From::Front => front,
            From::End => pieces - 1 - end,
        };
        let (at, to) = (what.at(piece), what.at(piece + 1));
        if what.bulk.run(at, to - at).is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        Some(what.bulk.bytes(to - at))
    }

    /// No one joins any more; whether this call ended it.
    fn shut(&self) -> bool {
        self.state.fetch_and(!OPEN, Ordering::AcqRel) & OPEN != 0
    }
}

fn halves(taken: u64) -> (u64, u64) {
    (taken & u64::from(u32::MAX), taken >> 32)
}

/// A job in the hands of its owner.
pub(crate) struct Shared<'a> {
    board: &'a Board,
    job: &'a Job,
    what: What,
    /// The first piece is done.
    yielded: Cell<bool>,
}

impl Shared<'_> {
    /// Does the next piece; its bytes, or None when all are taken.
    pub(crate) fn step(&self) -> Option<usize> {
        let done = self.job.step(&self.what, From::Front);
        // Who has been fetched may be waiting for this processor. Once: others may as well, and for a long time.
        if done.is_some()
            && !self.yielded.replace(true)
            && self.job.state.load(Ordering::Relaxed) == TAKEN | OPEN
        {
            yield_now();
        }
        done
    }

    /// Ends the job: the part that nobody has begun, empty when all is done, and whether a piece failed.
    pub(crate) fn close(self) -> (Range<usize>, bool) {
        if self.job.shut() {
            self.board.open.fetch_sub(1, Ordering::Relaxed);
        }
        let pieces = self.what.pieces();
        let (front, end) = halves(self.job.taken.swap(pieces, Ordering::Relaxed));
        let mut spins = 0_u32;
        let mut since = None;
        while self.job.state.load(Ordering::Acquire) != TAKEN {
            spins += 1;
            // A piece takes about 10 us; its thread may be waiting for this processor.
            if spins.is_multiple_of(64) {
                since.get_or_insert_with(monotonic_ns);
                yield_now();
            } else {
                spin_loop();
            }
        }
        if let Some(since) = since {
            self.board.waited(since);
        }
        let failed = self.job.failed.load(Ordering::Relaxed);
        self.job.state.store(0, Ordering::Release);
        let left = if front + end >= pieces {
            self.what.to..self.what.to
        } else {
            self.what.at(front)..self.what.at(pieces - end)
        };
        (left, failed)
    }
}

impl Board {
    /// Whether there is a piece for somebody.
    #[inline]
    pub(crate) fn pending(&self) -> bool {
        self.open.load(Ordering::Relaxed) != 0
    }

    /// Whether the last one began a short while ago.
    fn often(&self) -> bool {
        let now = monotonic_ns();
        now - self.last.swap(now, Ordering::Relaxed).min(now) < OFTEN
    }

    /// Whether those of that size are not shared now.
    fn rests(&self, bytes: usize) -> bool {
        let rest = self.rest.load(Ordering::Relaxed);
        bytes < WORTH && rest != 0 && monotonic_ns() < rest
    }

    /// An owner has waited for a piece in the hands of a helper. A time slice of somebody else's is a hundred times such a piece: then so much
    /// is done alone that such waits are a small part of the time.
    fn waited(&self, since: u64) {
        let now = monotonic_ns();
        let waited = now.saturating_sub(since);
        if waited > LATE {
            self.rest.store(now + REST * waited, Ordering::Relaxed);
        }
    }

    fn open(&self, what: What) -> Option<Shared<'_>> {
        let free =
            |job: &&Job| job.state.compare_exchange(0, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let job = self.jobs.iter().find(free)?;
        // SAFETY: taken and not open: nobody else is here.
        unsafe { *job.what.get() = what };
        job.taken.store(0, Ordering::Relaxed);
        job.failed.store(false, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
        job.state.store(TAKEN | OPEN, Ordering::Release);
        Some(Shared { board: self, job, what, yielded: Cell::new(false) })
    }
}

impl Core {
    /// Makes these units of a large task known to idle threads, if that is worth it. `waited`: a host waits, and may help.
    pub(crate) fn share(
        &self,
        stream: u32,
        bulk: &Bulk,
        part: Range<usize>,
        waited: bool,
    ) -> Option<Shared<'_>> {
        let bytes = bulk.bytes(part.len());
        if self.solo || self.turns.is_some() || bytes < SOME || bulk.overlaps() {
            return None;
        }
        if bytes < WORTH && !(waited || self.roster.spins() || self.board.often()) || self.board.rests(bytes)
        {
            return None;
        }
        let step = bulk.units((bytes / PIECES).clamp(LEAST, MOST));
        let shared = self.board.open(What {
            bulk: *bulk,
            stream,
            from: part.start,
            to: part.end,
            step,
            processor: processor(),
        })?;
        self.kick(true);
        Some(shared)
    }

    /// Does all of it before it returns, on the calling thread, with the help of idle workers if that is worth it.
    #[inline]
    pub(crate) fn at_once(&self, bulk: Bulk) -> Result<(), Fault> {
        // A failed piece does not say where: the whole once more, here, does.
        if shared(bulk.bytes(bulk.units)) && self.together(&bulk) { Ok(()) } else { bulk.run(0, bulk.units) }
    }

    /// Does all of it with the help of others, if that is worth it; whether that was so, and nothing failed.
    pub(crate) fn together(&self, bulk: &Bulk) -> bool {
        let shared = self.share(CALL, bulk, 0..bulk.units, false);
        shared.is_some_and(|shared| {
            while shared.step().is_some() {}
            !shared.close().1
        })
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
        let what = unsafe { *job.what.get() };
        let mut any = false;
        if stream.is_none_or(|stream| stream == what.stream) {
            // A thread of the program stays where it is.
            if stream.is_none() && what.processor == processor() {
                leave_processor();
            }
            if (before & !(TAKEN | OPEN)) + 1 < HELPERS {
                self.kick(true);
            }
            while job.step(&what, From::End).is_some() {
                any = true;
                if over(deadline) || (stream.is_none() && self.ready.mask() != 0) {
                    break;
                }
            }
            let (front, end) = halves(job.taken.load(Ordering::Relaxed));
            if front + end >= what.pieces() && job.shut() {
                self.board.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
        job.state.fetch_sub(1, Ordering::Release);
        any
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const STEP: usize = 1000;

    fn ones(memory: &mut [u8], from: usize) -> What {
        let bulk = Bulk::fill(memory.as_mut_ptr().expose_provenance(), 1, memory.len());
        What { bulk, stream: 3, from, to: memory.len(), step: STEP, processor: -1 }
    }

    #[test]
    fn the_owner_works_from_the_front_and_others_from_the_end() {
        let board = Board::default();
        let from = 1000;
        let mut memory = vec![0_u8; from + (PIECES - 1) * STEP + 77];
        let what = ones(&mut memory, from);
        let shared = board.open(what).unwrap();
        assert_eq!((shared.step(), shared.step()), (Some(STEP), Some(STEP)));
        assert_eq!(shared.job.step(&what, From::End), Some(77));
        assert_eq!(shared.job.step(&what, From::End), Some(STEP));
        let (left, failed) = shared.close();
        assert_eq!((left.clone(), failed), (from + 2 * STEP..from + 6 * STEP, false));
        let done = |at: &usize| *at >= from && !left.contains(at);
        assert!(memory.iter().enumerate().all(|(at, byte)| *byte == u8::from(done(&at))));
        assert!(!board.pending());
    }

    #[test]
    fn nothing_is_left_when_all_is_taken_however_often_more_is_asked_for() {
        let board = Board::default();
        let mut memory = vec![0_u8; PIECES * STEP];
        let what = ones(&mut memory, 0);
        let shared = board.open(what).unwrap();
        let takers = [From::End, From::Front, From::End];
        let pieces = takers.iter().cycle().take(40).filter(|from| shared.job.step(&what, **from).is_some());
        assert_eq!(pieces.count(), PIECES);
        assert_eq!(shared.step(), None);
        let (left, failed) = shared.close();
        assert!(left.is_empty() && !failed);
        assert!(memory.iter().all(|byte| *byte == 1));
    }

    #[test]
    fn a_piece_that_faults_is_told() {
        let board = Board::default();
        let bulk = Bulk::copy(64, 1 << 30, STEP + 1);
        let what = What { bulk, stream: 0, from: 0, to: STEP + 1, step: STEP, processor: -1 };
        let shared = board.open(what).unwrap();
        assert_eq!((shared.step(), shared.step(), shared.step()), (Some(STEP), Some(1), None));
        assert!(shared.close().1);
    }
}
