//! Device code runs in a scope: when it faults, its thread is parked and others learn why.

use super::{Fault, action, arch, stack};
use crate::sync::plain::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::ptr;
use std::time::{Duration, Instant};

/// The low bits of the word; above them, the number of the entry.
const STATE: u32 = 3;
const IDLE: u32 = 0;
const RUNNING: u32 = 1;
const FAULTED: u32 = 2;
const ABANDONED: u32 = 3;
/// One entry more.
const ENTRY: u32 = STATE + 1;

/// What a scope is doing; the head of [`crate::fault`] has the transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No device code runs in it.
    Idle,
    /// Device code runs in it.
    Running,
    /// Its device code faulted; its thread is parked for good.
    Faulted,
    /// A supervisor gave its device code up; its thread is left behind.
    Abandoned,
}

/// What stopped device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFault {
    /// Signal and address.
    pub fault: Fault,
    /// The kernel's reason (`si_code`).
    pub reason: i32,
    /// Where the code was: its program counter.
    pub pc: usize,
}

/// The scope was abandoned while its code ran: the thread has been replaced and should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned;

/// One run of device code in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u32);

/// The place that device code runs in on one thread, for ever (a parked thread keeps using it); once its thread has ended, another
/// one may take it over.
///
/// Only device code belongs in a scope. A host function that the program enqueued is the program's own code: its faults and
/// its `abort` end the process as they would anywhere else.
#[derive(Debug, Default)]
pub struct Scope {
    state: AtomicU32,
    signal: AtomicU32,
    reason: AtomicU32,
    address: AtomicUsize,
    pc: AtomicUsize,
    /// The thread that it serves.
    thread: AtomicU32,
    /// Where device code is: first address and bytes.
    code: [AtomicUsize; 2],
    /// Abandoned code runs no more: its thread has left it, or is parked.
    over: AtomicBool,
}

/// Faults of all scopes so far; supervisors sleep on it.
static FAULTS: AtomicU32 = AtomicU32::new(0);

impl Scope {
    /// A new scope. It lives as long as the process, because its thread may be parked in it.
    pub fn leak() -> &'static Scope {
        Box::leak(Box::default())
    }

    /// Runs device code on the calling thread. If it faults (SEGV, BUS, FPE, ILL, or an `abort` of its own), this never
    /// returns: the thread is parked where it is, holding what it held. A panic passes through.
    ///
    /// A scope serves one thread at a time, and none after a fault or an abandonment: then this answers `Abandoned` at once.
    pub fn enter<R>(&'static self, code: impl FnOnce() -> R) -> Result<R, Abandoned> {
        stack::prepare_for_device_code();
        let idle = self.state.load(Ordering::Relaxed);
        let running = (idle & !STATE).wrapping_add(ENTRY) | RUNNING;
        // Whoever sees the entry sees what its thread did before.
        let entered = idle & STATE == IDLE
            && self.state.compare_exchange(idle, running, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !entered {
            return Err(Abandoned);
        }
        // SAFETY: the thread's own words.
        let outer = unsafe { std::mem::replace(&mut (*arch::words()).scope, ptr::from_ref(self) as usize) };
        let inside = Inside { scope: self, running, outer };
        let result = code();
        if inside.leave() { Ok(result) } else { Err(Abandoned) }
    }

    /// It serves the calling thread from now on.
    pub fn serve(&self) {
        // SAFETY: asks for a number.
        self.thread.store(unsafe { libc::gettid() } as u32, Ordering::Release);
    }

    /// Where the device code is that the calling thread, which it serves, is about to run. [`Scope::stop`] stops it there and nowhere else: a
    /// thread that is in the runtime or in the C library may hold their locks.
    pub fn code(&self, start: usize, bytes: usize) {
        self.code[0].store(start, Ordering::Relaxed);
        self.code[1].store(bytes, Ordering::Relaxed);
    }

    /// Whether [`Scope::code`] was ever told.
    pub fn can_stop(&self) -> bool {
        self.code[1].load(Ordering::Relaxed) > 0
    }

    /// The calling thread parks by itself, for good, soon.
    pub fn gone(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Parks the thread of abandoned code where it is, as after a fault, if it is in that code at this moment. True: it is parked, or has
    /// left the code by itself. Else ask again: it is asked by a signal, which takes a moment.
    pub fn stop(&self) -> bool {
        let over = self.over.load(Ordering::Acquire);
        if !over && self.state() == State::Abandoned {
            action::interrupt(self.thread.load(Ordering::Acquire) as i32);
        }
        over
    }

    /// Handler only: the thread has been interrupted at `pc` by [`Scope::stop`].
    pub(super) fn interrupted(&self, pc: usize) {
        let [start, bytes] = &self.code;
        let inside = pc.wrapping_sub(start.load(Ordering::Relaxed)) < bytes.load(Ordering::Relaxed);
        if inside && self.state() == State::Abandoned {
            self.over.store(true, Ordering::Release);
            rest();
        }
    }

    /// What the scope is doing now.
    pub fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) & STATE {
            IDLE => State::Idle,
            RUNNING => State::Running,
            FAULTED => State::Faulted,
            _ => State::Abandoned,
        }
    }

    /// Why the scope's code stopped, once it has faulted.
    pub fn fault(&self) -> Option<KernelFault> {
        if self.state.load(Ordering::Acquire) & STATE != FAULTED {
            return None;
        }
        let fault = Fault {
            signal: self.signal.load(Ordering::Relaxed) as i32,
            address: self.address.load(Ordering::Relaxed),
        };
        let reason = self.reason.load(Ordering::Relaxed) as i32;
        Some(KernelFault { fault, reason, pc: self.pc.load(Ordering::Relaxed) })
    }

    /// Waits until the scope's code faults, at most `timeout`.
    pub fn wait_fault(&self, timeout: Duration) -> Option<KernelFault> {
        let end = Instant::now() + timeout;
        loop {
            let seen = fault_count();
            if let Some(fault) = self.fault() {
                return Some(fault);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            wait_any(seen, left);
        }
    }

    /// The entry whose code runs now.
    pub fn entry(&self) -> Option<Entry> {
        let word = self.state.load(Ordering::Acquire);
        (word & STATE == RUNNING).then_some(Entry(word))
    }

    /// Gives up code that runs too long. True: the scope is abandoned now; its thread goes on until the code returns, and
    /// [`Scope::enter`] then answers `Abandoned`. False: that entry's code was not running any more, or it had faulted.
    pub fn abandon(&self, entry: Entry) -> bool {
        let abandoned = entry.0 & !STATE | ABANDONED;
        self.state.compare_exchange(entry.0, abandoned, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Handler only: records the fault and parks the thread.
    pub(super) fn park(&self, fault: KernelFault) -> ! {
        self.signal.store(fault.fault.signal as u32, Ordering::Relaxed);
        self.reason.store(fault.reason as u32, Ordering::Relaxed);
        self.address.store(fault.fault.address, Ordering::Relaxed);
        self.pc.store(fault.pc, Ordering::Relaxed);
        // Abandoned code that faults stays abandoned.
        let word = self.state.load(Ordering::Relaxed);
        let faulted = word & !STATE | FAULTED;
        if word & STATE == RUNNING
            && self.state.compare_exchange(word, faulted, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            nudge();
        }
        self.over.store(true, Ordering::Release);
        rest()
    }
}

/// Parks the calling thread for good.
fn rest() -> ! {
    // SAFETY: full sets are valid; with every signal blocked no handler of the program runs on a dead thread, and the
    // word below never changes.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &all, ptr::null_mut());
        static NEVER: AtomicU32 = AtomicU32::new(0);
        loop {
            let flags = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
            libc::syscall(libc::SYS_futex, NEVER.as_ptr(), flags, 0, ptr::null::<libc::timespec>());
        }
    }
}

/// Takes the thread out of the scope, also when the code panics.
struct Inside {
    scope: &'static Scope,
    /// The scope's word while the code runs.
    running: u32,
    outer: usize,
}

impl Inside {
    /// Whether the scope is idle again (else abandoned).
    fn leave(self) -> bool {
        let idle = self.undo();
        std::mem::forget(self);
        idle
    }

    fn undo(&self) -> bool {
        // SAFETY: the thread's own words.
        unsafe { (*arch::words()).scope = self.outer };
        let idle = self.running & !STATE | IDLE;
        let left = self
            .scope
            .state
            .compare_exchange(self.running, idle, Ordering::Release, Ordering::Relaxed)
            .is_ok();
        if !left {
            self.scope.over.store(true, Ordering::Release);
        }
        left
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.undo();
    }
}

/// Wakes everyone who sleeps in [`wait_any`], as a fault does.
pub fn nudge() {
    FAULTS.fetch_add(1, Ordering::AcqRel);
    // SAFETY: wakes sleepers on a static word.
    unsafe {
        let flags = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, FAULTS.as_ptr(), flags, i32::MAX);
    }
}

/// How many scopes have faulted in this process, and nudges. Read it before looking at the scopes, then sleep in [`wait_any`].
pub fn fault_count() -> u32 {
    FAULTS.load(Ordering::Acquire)
}

/// Sleeps until the number of faulted scopes is no longer `seen`, at most `timeout`; returns the number. May return early.
pub fn wait_any(seen: u32, timeout: Duration) -> u32 {
    let time = libc::timespec {
        tv_sec: timeout.as_secs().min(1 << 30) as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    };
    // SAFETY: sleeps on a static word; the time lives over the call.
    unsafe {
        let flags = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, FAULTS.as_ptr(), flags, seen, &time);
    }
    fault_count()
}
