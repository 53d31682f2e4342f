//! Owns SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, on an alternate stack, and chains to the program's own handlers.
//!
//! # What a signal meets, in this order
//!
//! | the signal | what happens |
//! | --- | --- |
//! | SEGV of a page that host code is kept off for a while ([`crate::memory::Space::shut`]) | the page is opened, a hook is told, the access is tried again |
//! | SEGV or BUS raised by an access of a guarded copy ([`crate::memory::copy`]) | the copy returns the fault as an error |
//! | raised by the code of a thread inside [`Scope::enter`] | the fault is recorded, supervisors are woken, the thread parks for good |
//! | SEGV of a guarded device page, on a thread without the key | one line on standard error names the buffer; then as below |
//! | anything else | the program's handler runs as the kernel would have run it; none: the default, status and core unchanged |
//!
//! # States of a thread (five words in static thread-local storage, so that a handler reads them without allocating)
//!
//! | word | set by | meaning |
//! | --- | --- | --- |
//! | `guard` | the copy trampoline, restored when it returns | the frame to go back to when the copy faults; 0: no copy runs |
//! | `scope` | [`Scope::enter`], restored when it returns | the scope that the thread's device code runs in; 0: none |
//! | `ready` | [`prepare_thread`], [`Scope::enter`] | the thread has an alternate stack and takes SEGV and BUS (1), and FPE, ILL and ABRT (2) |
//! | `chained`, `chained_at` | the handler, around the program's handler | which earlier handler runs, and from which stack frame |
//!
//! # States of a scope
//!
//! | from → to | who | how |
//! | --- | --- | --- |
//! | IDLE → RUNNING | its thread, entering | compare-and-swap; a new number of entry |
//! | RUNNING → IDLE | its thread, leaving | compare-and-swap |
//! | RUNNING → FAULTED | its thread, in the handler, after it wrote the record | compare-and-swap; then every waiter is woken; never left |
//! | RUNNING → ABANDONED | a supervisor that names the entry | compare-and-swap; the thread leaves by itself or never; never left |
//!
//! # Owning the signals
//! [`install`] takes a signal over and keeps the handler it found. A program that installs its own handler afterwards
//! takes the signal away from us, and faults of copies then reach that handler. So [`install`] may be called again at any
//! time, at the price of five system calls when nothing changed: it takes over again and keeps the newer handler in front
//! of the older one. A handler that hands on to the one before it (which was ours) then gets the next older one, not itself.
//! [`reclaim`] does it for the two signals that copies need, where the runtime has time: when a device is set or a stream made,
//! and before an asynchronous copy of the program's own memory. A synchronous copy is too short for a system call.
//!
//! Locks: `install` has one, taken by nothing else and never in a handler. Fork: [`forked`].

mod action;
#[cfg_attr(miri, path = "fault/plain.rs")]
#[cfg_attr(not(miri), path = "fault/x86_64.rs")]
pub(crate) mod arch;
mod fork;
mod scope;
mod stack;

#[cfg(not(target_arch = "x86_64"))]
compile_error!(
    "toprope-engine: fault/x86_64.rs needs a sibling for this processor: the copy trampoline, the thread words, the \
     registers of a signal context and the protection-key register"
);
#[cfg(not(target_os = "linux"))]
compile_error!("toprope-engine: faults, memory files and protection keys are written for Linux");

pub use action::{install, installed, reclaim};
pub use fork::forked;
pub use scope::{Abandoned, Entry, KernelFault, Scope, State, fault_count, nudge, wait_any};
pub use stack::prepare_thread;

/// What a guarded access or a kernel ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The signal's number.
    pub signal: i32,
    /// The address that was touched, 0 when the kernel does not say.
    pub address: usize,
}
