//! What threads leave behind for whoever has the model's lock next, so that they need not take it themselves: that a call has
//! returned, and how far the streams are.
//!
//! A worker that begins or ends a task notes the position with its stream ([`began`], [`ended`]); a call that returns raises its thread's
//! [`Flag`]. [`crate::model::Model::collect`] takes all that over, before anything else is told to the model. [`version`] counts what
//! others may be ordered after: a call that begins is behind when it has changed since the thread looked.
//!
//! The model takes over the last position of each stream, not what came when. That is enough while streams are held up by functions of
//! the program alone, which are ordered after whatever returned before they did: a moment later the model takes more for ordered, never
//! less. It is not while a stream waits for another one or a notify, whose order must be followed step by step, and not while pages are to
//! be opened or shut for what the worker does next. Then workers take the lock ([`AT_ONCE`]).

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Tasks that are waited for until the engine says that they are done. Nothing is noted while there are none.
pub static HELD: AtomicUsize = AtomicUsize::new(0);
/// What makes workers tell at once: copies of pinned or registered memory that are followed ([`crate::model::pending`]), kept tasks that will be,
/// and tasks that are kept or hold their stream up and are no functions of the program.
pub static AT_ONCE: AtomicUsize = AtomicUsize::new(0);

/// Streams whose progress can be noted; that of others is told under the lock.
const LINES: usize = 4096;
const BITS: usize = u64::BITS as usize;

struct Progress {
    began: AtomicU64,
    ended: AtomicU64,
}

/// On a line of the cache of its own, next to nothing that is read at every call.
#[repr(align(128))]
struct Apart<T>(T);

static PROGRESS: [Progress; LINES] =
    [const { Progress { began: AtomicU64::new(0), ended: AtomicU64::new(0) } }; LINES];
/// Streams that have noted something since it was taken.
static CHANGED: [AtomicU64; LINES / BITS] = [const { AtomicU64::new(0) }; LINES / BITS];
/// Whether there is one.
static ANY: Apart<AtomicBool> = Apart(AtomicBool::new(false));
static VERSION: Apart<AtomicU64> = Apart(AtomicU64::new(0));

/// A thread's word that calls of it have returned.
#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Flag {
    /// A new one, which lives for ever: the thread's slot in the model does, too.
    pub fn leak() -> &'static Flag {
        Box::leak(Box::default())
    }

    /// A call has returned: the version that is new with that, if it is.
    #[inline]
    pub fn raise(&self) -> Option<u64> {
        // Nobody has looked since it was raised: the version has changed already.
        if self.0.load(Ordering::Acquire) {
            return None;
        }
        self.0.store(true, Ordering::Release);
        Some(VERSION.0.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// Whether it was raised; it is not any more.
    #[inline]
    pub fn take(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::AcqRel)
    }
}

/// Counts what others may be ordered after.
#[inline]
pub fn version() -> u64 {
    VERSION.0.load(Ordering::Acquire)
}

/// There is more that others may be ordered after.
#[inline]
pub fn more() {
    VERSION.0.fetch_add(1, Ordering::AcqRel);
}

/// A stream begins a task. False if that must be told under the lock.
#[inline]
pub fn began(line: usize, position: u64) -> bool {
    let noted = note(line, |progress| &progress.began, position);
    if noted {
        more();
    }
    noted
}

/// A stream has ended a task. False if that must be told under the lock.
#[inline]
pub fn ended(line: usize, position: u64) -> bool {
    note(line, |progress| &progress.ended, position)
}

#[inline]
fn note(line: usize, which: impl FnOnce(&Progress) -> &AtomicU64, position: u64) -> bool {
    let (Some(progress), Some(word)) = (PROGRESS.get(line), CHANGED.get(line / BITS)) else { return false };
    if AT_ONCE.load(Ordering::Acquire) != 0 {
        return false;
    }
    which(progress).store(position, Ordering::Release);
    word.fetch_or(1 << (line % BITS), Ordering::AcqRel);
    ANY.0.store(true, Ordering::Release);
    true
}

/// Whether streams have noted something.
#[inline]
pub fn any() -> bool {
    ANY.0.load(Ordering::Relaxed)
}

/// What streams have noted since the last time: index, last task that began, last task that ended. Under the model's lock; `lines`
/// is how many streams there are.
pub fn take(lines: usize, mut each: impl FnMut(usize, u64, u64)) {
    if !ANY.0.swap(false, Ordering::AcqRel) {
        return;
    }
    for (place, word) in CHANGED.iter().enumerate().take(lines.div_ceil(BITS)) {
        let mut changed = match word.load(Ordering::Relaxed) {
            0 => 0,
            _ => word.swap(0, Ordering::AcqRel),
        };
        while changed != 0 {
            let line = place * BITS + changed.trailing_zeros() as usize;
            changed &= changed - 1;
            if let Some(progress) = PROGRESS.get(line) {
                // The end first: what ended has begun.
                let ended = progress.ended.load(Ordering::Acquire);
                each(line, progress.began.load(Ordering::Acquire), ended);
            }
        }
    }
}
