//! Threads of the runtime, as against those of the program.

use crate::sync::plain::Mutex;

/// Callbacks of C programs expect the stack of an ordinary thread; only touched pages count.
const STACK: usize = 8 << 20;

/// The system's numbers of those that live.
static OWN: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// The system's numbers of the runtime's own threads. One that was just started, or is about to end, may be missing.
pub fn own() -> Vec<i32> {
    OWN.lock().clone()
}

struct Listed(i32);

impl Listed {
    fn new() -> Listed {
        // SAFETY: asks for a number.
        let id = unsafe { libc::gettid() };
        OWN.lock().push(id);
        Listed(id)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        OWN.lock().retain(|id| *id != self.0);
    }
}

/// Starts a detached thread with all signals blocked but those that its own code may raise; false if the system
/// refuses.
pub fn detached(name: String, main: impl FnOnce() + Send + 'static) -> bool {
    let body = move || {
        let _listed = Listed::new();
        // SAFETY: sets this thread's timer slack, so that short sleeps are short.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        main();
    };
    // The new thread inherits the mask of this one.
    // SAFETY: the sets are filled in before they are used, and the old mask is put back.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut mask);
        for signal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
            libc::SIGSYS,
            libc::SIGABRT,
        ] {
            libc::sigdelset(&raw mut mask, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, &raw mut old);
        let started = std::thread::Builder::new().name(name).stack_size(STACK).spawn(body).is_ok();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut());
        started
    }
}
