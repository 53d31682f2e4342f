//! The program's side of host functions: gates, and a log of what ran and what it saw.

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// What a host function noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Number of the launch in its sequence.
    pub id: usize,
    /// Bytes that an observer saw.
    pub saw: Vec<u8>,
}

/// What all host functions of a sequence share.
#[derive(Default)]
pub struct Board {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    log: Vec<Ran>,
    /// Gates that were released.
    open: Vec<usize>,
    all_open: bool,
    /// Functions that began, less those that ended.
    running: usize,
}

/// What one launch passes as its argument.
struct Launch {
    board: Arc<Board>,
    id: usize,
    what: What,
}

/// What a host function does.
pub enum What {
    /// Waits for its gate.
    Gate,
    /// Nothing.
    Mark,
    /// Fills memory.
    Store {
        /// First byte.
        addr: usize,
        /// Number of bytes.
        len: usize,
        /// Their value.
        byte: u8,
    },
    /// Copies memory into the log.
    Observe {
        /// First byte.
        addr: usize,
        /// Number of bytes.
        len: usize,
    },
}

impl Board {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// An argument for [`run`]; freed by it. What never runs is never freed.
    pub fn launch(self: &Arc<Board>, id: usize, what: What) -> *mut c_void {
        Box::into_raw(Box::new(Launch { board: self.clone(), id, what })).cast()
    }

    /// Takes an argument back whose launch was refused.
    ///
    /// # Safety
    /// It comes from [`Board::launch`] and was not passed on.
    pub unsafe fn withdraw(arg: *mut c_void) {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(arg.cast::<Launch>()) });
    }

    /// Lets a gate go on.
    pub fn release(&self, id: usize) {
        self.state().open.push(id);
        self.changed.notify_all();
    }

    /// Lets all gates go on, those to come, too.
    pub fn release_all(&self) {
        self.state().all_open = true;
        self.changed.notify_all();
    }

    /// Waits until no function is running; false if that takes too long.
    pub fn settle(&self, limit: std::time::Duration) -> bool {
        let busy = |state: &mut State| state.running > 0;
        match self.changed.wait_timeout_while(self.state(), limit, busy) {
            Ok((_, timeout)) => !timeout.timed_out(),
            Err(_) => false,
        }
    }

    /// What was noted from number `first` on.
    pub fn log(&self, first: usize) -> Vec<Ran> {
        self.state().log.get(first..).unwrap_or_default().to_vec()
    }
}

/// The function that is launched.
///
/// # Safety
/// `arg` comes from [`Board::launch`], and is passed once; the memory that it names is there, and nothing else writes it
/// meanwhile.
pub unsafe extern "C" fn run(arg: *mut c_void) {
    // SAFETY: the caller's promise.
    let launch = unsafe { Box::from_raw(arg.cast::<Launch>()) };
    let Launch { board, id, what } = *launch;
    board.state().running += 1;
    let mut saw = Vec::new();
    match what {
        What::Mark => {}
        What::Gate => {
            let shut = |state: &mut State| !state.all_open && !state.open.contains(&id);
            drop(board.changed.wait_while(board.state(), shut));
        }
        // SAFETY: the caller's promise.
        What::Store { addr, len, byte } => unsafe { (addr as *mut u8).write_bytes(byte, len) },
        What::Observe { addr, len } => {
            saw.reserve(len);
            // SAFETY: the caller's promise; the reserved bytes are written before they count.
            unsafe {
                (addr as *const u8).copy_to_nonoverlapping(saw.as_mut_ptr(), len);
                saw.set_len(len);
            }
        }
    }
    let mut state = board.state();
    state.log.push(Ran { id, saw });
    state.running -= 1;
    drop(state);
    board.changed.notify_all();
}
