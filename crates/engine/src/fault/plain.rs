//! Stands in for the processor file under Miri, which has neither signals nor assembly: routines run unguarded.

use crate::fault::Fault;
use std::cell::UnsafeCell;
use std::ffi::c_void;

/// As in the processor file.
#[repr(C)]
pub(crate) struct Words {
    pub guard: usize,
    pub scope: usize,
    pub ready: usize,
    pub chained: usize,
    pub chained_at: usize,
}

thread_local! {
    static WORDS: UnsafeCell<Words> =
        const { UnsafeCell::new(Words { guard: 0, scope: 0, ready: 2, chained: 0, chained_at: 0 }) };
}

/// As in the processor file.
pub(crate) fn words() -> *mut Words {
    WORDS.with(|words| words.get())
}

/// As in the processor file.
pub(crate) type Routine = fn(usize, usize, usize);

/// As in the processor file, without the guard.
///
/// # Safety
/// As in the processor file, and the ranges are mapped.
pub(crate) unsafe fn guarded(dst: usize, src: usize, span: usize, routine: Routine) -> Result<(), Fault> {
    routine(dst, src, span);
    Ok(())
}

/// As in the processor file.
pub(crate) fn operands(_dst: usize, _src: usize, _len: usize) {}

/// No signal handler runs here.
///
/// # Safety
/// None.
pub(crate) unsafe fn resume(_context: *mut c_void, _signal: i32, _address: usize) -> bool {
    false
}

/// No signal handler runs here.
///
/// # Safety
/// None.
pub(crate) unsafe fn place(_context: *const c_void) -> (usize, usize) {
    (0, 0)
}

/// No signal handler runs here.
///
/// # Safety
/// None.
pub(crate) unsafe fn was_write(_context: *const c_void) -> bool {
    false
}

/// There are no keys here.
///
/// # Safety
/// None.
pub(crate) unsafe fn key_access(_key: u32, _open: bool) {}
