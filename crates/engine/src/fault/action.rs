//! The handler, and whom it hands on to.

use super::scope::{KernelFault, Scope};
use super::{Fault, arch, fork};
use crate::sync::plain::{AtomicBool, AtomicPtr, Mutex, Ordering};
use std::ffi::c_void;
use std::ptr;

const SIGNALS: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// `si_code` of an access that the protection of a mapping forbids.
const SEGV_ACCERR: i32 = 2;
/// `si_code` of an access that a protection key forbids.
const SEGV_PKUERR: i32 = 4;

/// A handler that was in place before ours. Never freed: a handler may be running through it.
struct Earlier {
    action: libc::sigaction,
    /// The one before it, or null.
    older: *const Earlier,
    /// A one-shot handler (SA_RESETHAND) has had its shot.
    spent: AtomicBool,
}

/// Newest earlier handler of each signal.
static EARLIER: [AtomicPtr<Earlier>; 5] = [const { AtomicPtr::new(ptr::null_mut()) }; 5];
static INSTALLING: Mutex<()> = Mutex::new(());
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Takes over the five signals, or takes them back if the program has since installed its own handler in front of ours. Any
/// thread, any time; five system calls when there is nothing to do. The head of [`crate::fault`] says what that means for the
/// program's handlers.
pub fn install() {
    let _one = INSTALLING.lock();
    for (&signal, earlier) in SIGNALS.iter().zip(&EARLIER) {
        own(signal, earlier);
    }
    if !INSTALLED.swap(true, Ordering::AcqRel) {
        fork::watch();
    }
}

/// Takes the signals of bad addresses back, if the program has installed handlers of its own since [`install`]; two system calls
/// when it has not.
pub fn reclaim() {
    let _one = INSTALLING.lock();
    for (&signal, earlier) in SIGNALS.iter().zip(&EARLIER) {
        if matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
            own(signal, earlier);
        }
    }
}

/// Whether [`install`] has run in this process. (The program may have taken a signal back since.)
pub fn installed() -> bool {
    INSTALLED.load(Ordering::Acquire)
}

/// [`install`], if it has not run.
pub(super) fn install_once() {
    if !installed() {
        install();
    }
}

fn ours() -> libc::sighandler_t {
    on_signal as extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) as *const () as libc::sighandler_t
}

fn own(signal: i32, earlier: &AtomicPtr<Earlier>) {
    // SAFETY: sigaction reads and fills structures on this stack; the handler we install is async-signal-safe.
    unsafe {
        let mut found: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, ptr::null(), &mut found) != 0 || found.sa_sigaction == ours() {
            return;
        }
        // A second round only if the program changes its handler at this very moment.
        loop {
            let older = earlier.load(Ordering::Acquire);
            let entry = Earlier { action: found, older, spent: AtomicBool::new(false) };
            earlier.store(Box::into_raw(Box::new(entry)), Ordering::Release);
            // The earlier handler keeps the mask and the restart and nesting behaviour that it asked for.
            let mut action = found;
            action.sa_sigaction = ours();
            action.sa_flags &= !libc::SA_RESETHAND;
            action.sa_flags |= libc::SA_SIGINFO | libc::SA_ONSTACK;
            let mut replaced: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, &action, &mut replaced);
            if replaced.sa_sigaction == found.sa_sigaction || replaced.sa_sigaction == ours() {
                return;
            }
            found = replaced;
        }
    }
}

/// Marks the signals of [`interrupt`]: their value is its address.
static STOP: u8 = 0;

/// Interrupts a thread that runs device code, for [`Scope::stop`]; nothing if the program has put a handler of its own before ours. A thread that
/// runs none, or another one that has its number by now, takes no notice.
pub(super) fn interrupt(thread: i32) {
    /// `siginfo_t` of a queued signal.
    #[repr(C)]
    struct Queued {
        signal: i32,
        errno: i32,
        code: i32,
        pad: i32,
        pid: i32,
        uid: u32,
        value: usize,
        rest: [u64; 12],
    }
    const _: () = assert!(size_of::<Queued>() == size_of::<libc::siginfo_t>());
    // SAFETY: the structures are this frame's own; the handler that is asked for is ours and knows the signal by its value.
    unsafe {
        let mut found: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGSEGV, ptr::null(), &mut found) != 0 || found.sa_sigaction != ours() {
            return;
        }
        let info = Queued {
            signal: libc::SIGSEGV,
            errno: 0,
            code: libc::SI_QUEUE,
            pad: 0,
            pid: libc::getpid(),
            uid: libc::getuid(),
            value: ptr::from_ref(&STOP) as usize,
            rest: [0; 12],
        };
        libc::syscall(libc::SYS_rt_tgsigqueueinfo, info.pid, thread, libc::SIGSEGV, &raw const info);
    }
}

extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid pointers that live until this returns; everything called here is async-signal-safe:
    // it takes no lock, allocates nothing and reads thread words that exist from the thread's birth.
    unsafe {
        let errno = *libc::__errno_location();
        handle(signal, info, context);
        *libc::__errno_location() = errno;
    }
}

/// # Safety
/// Called by the kernel's handler frame, with its arguments.
unsafe fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: as the caller's.
    unsafe {
        let reason = (*info).si_code;
        let queued =
            signal == libc::SIGSEGV && reason == libc::SI_QUEUE && (*info).si_pid() == libc::getpid();
        if queued && ptr::eq((*info).si_value().sival_ptr.cast(), &raw const STOP) {
            let scope = (*arch::words()).scope as *const Scope;
            if !scope.is_null() {
                (*scope).interrupted(arch::place(context).1);
            }
            return;
        }
        // Positive: raised by an instruction of this thread. Else somebody sent it.
        let raised = reason > 0;
        let address = if raised { (*info).si_addr() as usize } else { 0 };
        let access = signal == libc::SIGSEGV || signal == libc::SIGBUS;
        if signal == libc::SIGSEGV
            && reason == SEGV_ACCERR
            && crate::memory::touched(address, context, (*arch::words()).scope == 0)
        {
            return;
        }
        if raised && access && arch::resume(context, signal, address) {
            return;
        }
        let scope = (*arch::words()).scope as *const Scope;
        let aborted =
            signal == libc::SIGABRT && reason == libc::SI_TKILL && (*info).si_pid() == libc::getpid();
        if !scope.is_null() && (raised || aborted) {
            let (_, pc) = arch::place(context);
            (*scope).park(KernelFault { fault: Fault { signal, address }, reason, pc });
        }
        if signal == libc::SIGSEGV && reason == SEGV_PKUERR {
            crate::memory::report_guarded(address);
        }
        chain(signal, info, context);
    }
}

/// How far below [`chain`]'s frame an earlier handler may raise the signal again.
const HANDLER_STACK: usize = 1 << 20;

/// Does what the kernel would have done without us.
///
/// # Safety
/// As [`handle`].
unsafe fn chain(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some((_, earlier)) = SIGNALS.iter().zip(&EARLIER).find(|(owned, _)| **owned == signal) else {
        return;
    };
    // SAFETY: as the caller's; entries are never freed, and a handler value that is neither default nor ignore is a function
    // of the kind that its flags name.
    unsafe {
        let words = arch::words();
        let mut entry: *const Earlier = earlier.load(Ordering::Acquire);
        // An earlier handler that hands on to its predecessor, which was ours when it was installed, or that puts ours back
        // and raises the signal again: go on below it. (A handler that left by longjmp leaves its mark behind; then this
        // frame is not below that one.)
        let here = ptr::from_ref(&entry) as usize;
        let frame = (*words).chained_at;
        if here < frame && frame - here < HANDLER_STACK {
            let mut below = entry;
            while !below.is_null() && below as usize != (*words).chained {
                below = (*below).older;
            }
            if !below.is_null() {
                entry = (*below).older;
            }
        }
        let mut handler = if entry.is_null() { libc::SIG_DFL } else { (*entry).action.sa_sigaction };
        let flags = if entry.is_null() { 0 } else { (*entry).action.sa_flags };
        if flags & libc::SA_RESETHAND != 0 && (*entry).spent.swap(true, Ordering::AcqRel) {
            handler = libc::SIG_DFL;
        }
        let raised = (*info).si_code > 0;
        if handler == libc::SIG_IGN && !raised {
            return;
        }
        // The kernel does not let a thread ignore a fault of its own instruction.
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            return die(signal, info);
        }
        let outer = ((*words).chained, (*words).chained_at);
        ((*words).chained, (*words).chained_at) = (entry as usize, here);
        if flags & libc::SA_SIGINFO != 0 {
            let function: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(handler);
            function(signal, info, context);
        } else {
            let function: extern "C" fn(i32) = std::mem::transmute(handler);
            function(signal);
        }
        ((*words).chained, (*words).chained_at) = outer;
    }
}

/// Puts the default action back and lets the signal happen again: a fault when its instruction runs once more, a sent signal
/// by sending the same one to this thread.
///
/// # Safety
/// As [`handle`].
unsafe fn die(signal: i32, info: *mut libc::siginfo_t) {
    // SAFETY: as the caller's.
    unsafe {
        let mut default: libc::sigaction = std::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, &default, ptr::null_mut());
        if (*info).si_code <= 0 {
            let thread = libc::syscall(libc::SYS_gettid);
            libc::syscall(libc::SYS_rt_tgsigqueueinfo, libc::getpid(), thread, signal, info);
        }
    }
}
