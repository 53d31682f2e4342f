//! What a stream is made of.

use super::kernel::Kernel;
use super::mark::Mark;
use super::poll::Poll;
use crate::memory::{Move, Rows};
use crate::sync::{Arc, AtomicU64};
use std::ffi::c_void;

/// One piece of a stream's work: at most 32 bytes, no allocation except for kernels, rows, lists and [`Task::Work`]. Addresses are inner ones
/// ([`crate::memory::Space::inner`]); they are read and written when the task runs.
pub enum Task {
    /// Copies `len` bytes; overlapping ranges behave like memmove.
    Copy {
        /// Inner address of the first byte written.
        dst: usize,
        /// Inner address of the first byte read.
        src: usize,
        /// Bytes.
        len: usize,
    },
    /// Sets `len` bytes.
    Fill {
        /// Inner address of the first byte.
        dst: usize,
        /// Bytes.
        len: usize,
        /// The value.
        byte: u8,
    },
    /// Sets `count` words.
    Fill32 {
        /// Inner address of the first word.
        dst: usize,
        /// 32-bit words.
        count: usize,
        /// The value.
        word: u32,
    },
    /// Copies rows, one after the other.
    Rows(Box<Rows>),
    /// Makes the copies of a list, in any order, and each that can be made although others fail.
    Each(Box<Moves>),
    /// Calls a function of the program on a worker.
    Host {
        /// The function. An exception or a panic that leaves it ends the process.
        func: unsafe extern "C" fn(*mut c_void),
        /// Its argument.
        arg: *mut c_void,
    },
    /// Waits until `mark` is done; after `timeout_ms` (0: for ever; counted from the moment the stream gets here)
    /// the stream fails with `code` and goes on.
    Wait {
        /// What to wait for.
        mark: Mark,
        /// Milliseconds, 0 for no limit.
        timeout_ms: u32,
        /// The failure's code.
        code: u32,
    },
    /// Writes a 64-bit word in one piece (at an aligned address) and rings for those who wait for it.
    Store {
        /// Inner address of the word: also the key that is rung.
        dst: usize,
        /// The value.
        value: u64,
    },
    /// Rings for those who wait for a condition of this key ([`Poll`]). It takes effect even when the task is skipped or
    /// dropped: what it announces has happened already.
    Ring {
        /// What the waits were made with.
        key: usize,
    },
    /// Waits for a condition.
    Poll(Arc<Poll>),
    /// Writes the time in nanoseconds (CLOCK_MONOTONIC) to a cell that outlives the task.
    Stamp {
        /// The cell.
        cell: *const AtomicU64,
    },
    /// Advances a signal to a position. It takes effect even when the task is skipped or dropped, so that nobody
    /// waits for ever because of a failure or an abort elsewhere.
    Advance {
        /// The signal and its new position.
        mark: Mark,
    },
    /// Fails the stream with `code`.
    Fail {
        /// The failure's code.
        code: u32,
    },
    /// Runs a kernel of the program on a worker.
    Kernel(Arc<dyn Kernel>),
    /// Anything else.
    Work(Box<Work>),
}

const _: () = assert!(size_of::<Task>() <= 32);

// SAFETY: the addresses are data to the engine; whoever enqueues a task answers for them.
unsafe impl Send for Task {}

/// A list of copies.
pub struct Moves {
    pub(crate) list: Vec<Move>,
    /// Of all of them together.
    pub(crate) bytes: usize,
}

impl Moves {
    /// A list.
    pub fn new(list: Vec<Move>) -> Moves {
        let bytes = list.iter().map(|one| one.len).fold(0, usize::saturating_add);
        Moves { list, bytes }
    }
}

/// A task too large or too rare for an inline form.
pub struct Work {
    /// Runs on a worker (`user_code`) or also on a host thread that synchronizes (not `user_code`). An error fails
    /// the stream with that code, a panic with [`super::Config::panic_code`].
    pub run: Box<dyn FnOnce() -> Result<(), u32> + Send>,
    /// About how many nanoseconds it takes.
    pub cost_ns: u64,
    /// Runs code of the program: only ever on a thread of the runtime.
    pub user_code: bool,
}

/// Copies and fills from this size on fetch a worker at once.
const URGENT_BYTES: usize = 32 << 10;

impl Task {
    /// About how many nanoseconds the task takes (a guess that steers when a worker is fetched).
    #[inline(always)]
    pub(crate) fn cost_ns(&self) -> u64 {
        match self {
            Task::Copy { len, .. } | Task::Fill { len, .. } => 4 + (*len as u64 >> 4),
            Task::Fill32 { count, .. } => 8 + (*count as u64 >> 1),
            Task::Work(work) => work.cost_ns,
            Task::Rows(rows) => (rows.bytes() as u64 >> 3) + 10 * rows.height as u64,
            Task::Each(moves) => (moves.bytes as u64 >> 3) + 10 * moves.list.len() as u64,
            _ => 16,
        }
    }

    /// Whether it runs code of the program.
    #[inline(always)]
    pub(crate) fn user_code(&self) -> bool {
        match self {
            Task::Host { .. } | Task::Kernel(_) => true,
            Task::Work(work) => work.user_code,
            _ => false,
        }
    }

    /// Whether a worker is fetched for it at once.
    #[inline(always)]
    pub(crate) fn urgent(&self) -> bool {
        match self {
            Task::Copy { len, .. } | Task::Fill { len, .. } => *len >= URGENT_BYTES,
            Task::Fill32 { count, .. } => *count >= URGENT_BYTES / 4,
            Task::Rows(rows) => rows.bytes() >= URGENT_BYTES,
            Task::Each(moves) => moves.bytes >= URGENT_BYTES,
            _ => self.user_code(),
        }
    }
}
