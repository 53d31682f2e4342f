//! Children made by fork.

use crate::sync::plain::{AtomicBool, Ordering};

static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process is a child that was forked off a process in which [`super::install`] had run. No memory of a
/// [`crate::memory::Space`] and no thread of the runtime exists in it. A relaxed load. (A child made by a raw `clone`
/// system call is not noticed; there, copies fail with a fault.)
#[inline]
pub fn forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

extern "C" fn child() {
    FORKED.store(true, Ordering::Relaxed);
}

/// Has the C library call [`child`] in forked children. Called once.
pub(super) fn watch() {
    // SAFETY: `child` is a plain function that only stores a flag, allowed between fork and exec.
    unsafe { libc::pthread_atfork(None, None, Some(child)) };
}
