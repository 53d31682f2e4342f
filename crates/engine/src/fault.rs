//! Owns SEGV, BUS, FPE, ILL and ABRT, on an alternate stack, and chains to the program's own handlers.

/// What a guarded access or a kernel ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The signal's number.
    pub signal: i32,
    /// The address that was touched, 0 when the kernel does not say.
    pub address: usize,
}

/// Installs the handlers once per process; later calls do nothing.
pub fn install() {
    todo!()
}

/// Whether this process is a forked child of one that used the engine.
#[inline]
pub fn forked() -> bool {
    todo!()
}
