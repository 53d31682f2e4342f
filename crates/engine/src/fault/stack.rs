//! The signal stack and the signal mask of a thread.

use super::arch;
use std::cell::Cell;
use std::ptr;

/// Room for the largest register state, our handler, and a program's handler that prints a back trace.
const STACK_BYTES: usize = 128 * 1024;

/// A signal stack with a guard page below; taken out of use and unmapped when its thread ends.
struct SignalStack {
    map: usize,
    len: usize,
}

thread_local! {
    static STACK: Cell<Option<SignalStack>> = const { Cell::new(None) };
}

/// Readies the calling thread for faults: installs the handlers ([`super::install`]) if no one has, gives the thread an
/// alternate signal stack if it has none (a stack of the program's stays), and lets SIGSEGV and SIGBUS through, since a
/// blocked one would end the process. Copies do this by themselves on a thread's first copy, and [`super::Scope::enter`] on a
/// thread's first entry, which lets FPE, ILL and ABRT through as well.
pub fn prepare_thread() {
    // SAFETY: the thread's own words.
    if unsafe { (*arch::words()).ready } == 0 {
        prepare();
    }
}

/// [`prepare_thread`], and lets the other signals of device code through.
pub(super) fn prepare_for_device_code() {
    // SAFETY: the thread's own words.
    if unsafe { (*arch::words()).ready } < DEVICE_CODE {
        prepare_more();
    }
}

/// Values of the word `ready`; 0: nothing was done yet.
const COPIES: usize = 1;
const DEVICE_CODE: usize = 2;

#[cold]
#[inline(never)]
fn prepare() {
    super::action::install_once();
    add_stack();
    unblock(&[libc::SIGSEGV, libc::SIGBUS]);
    // SAFETY: the thread's own words.
    unsafe { (*arch::words()).ready = COPIES };
}

#[cold]
#[inline(never)]
fn prepare_more() {
    prepare_thread();
    unblock(&[libc::SIGFPE, libc::SIGILL, libc::SIGABRT]);
    // SAFETY: the thread's own words.
    unsafe { (*arch::words()).ready = DEVICE_CODE };
}

/// Takes signals out of the calling thread's mask.
fn unblock(signals: &[i32]) {
    // SAFETY: the set is initialised by sigemptyset before it is used; the calls touch nothing else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for &signal in signals {
            libc::sigaddset(&mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
    }
}

/// The signal stack the thread has now.
fn current() -> libc::stack_t {
    // SAFETY: sigaltstack only fills in the structure.
    unsafe {
        let mut now: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(ptr::null(), &mut now);
        now
    }
}

fn add_stack() {
    if current().ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    // SAFETY: asks a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(4096) as usize;
    let len = STACK_BYTES + page;
    // SAFETY: a new private mapping, owned by the SignalStack below; its lowest page becomes a guard. A thread that
    // gets none goes without: its handlers then run on its own stack.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        let map = libc::mmap(ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if map == libc::MAP_FAILED {
            return;
        }
        libc::mprotect(map, page, libc::PROT_NONE);
        let stack = libc::stack_t { ss_sp: map.byte_add(page), ss_flags: 0, ss_size: STACK_BYTES };
        let owned = SignalStack { map: map as usize, len };
        if libc::sigaltstack(&stack, ptr::null_mut()) == 0 {
            // During the thread's end the place may be gone; then `owned` takes the stack back at once.
            let _ = STACK.try_with(|place| place.set(Some(owned)));
        }
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        let now = current();
        let ours =
            now.ss_flags & libc::SS_DISABLE == 0 && (now.ss_sp as usize).wrapping_sub(self.map) < self.len;
        // SAFETY: the thread's signal stack is changed only if it is this one, and it is unmapped only when it is not in
        // use as one; a destructor never runs on it.
        unsafe {
            if ours {
                let off = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
                if libc::sigaltstack(&off, ptr::null_mut()) != 0 {
                    return;
                }
            }
            libc::munmap(self.map as *mut libc::c_void, self.len);
        }
    }
}
