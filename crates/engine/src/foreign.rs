//! Calls into the program: the one way out, for every kind of callback.
//!
//! A callback must return. A C++ exception that leaves it (or `pthread_exit`) would unwind through the runtime's own frames, on
//! to a thread that has no handler of the program's; that ends the process, as an exception does that leaves a thread's first
//! function: a line on standard error names the callback, then `std::terminate` calls the program's terminate handler. In
//! a process without the C++ library it is `abort`.

use std::ffi::{CStr, c_void};
use std::io::Write;

/// Runs `code`, which does nothing but call the function at address `function` with the "C-unwind" convention. `what` tells the
/// callback's kind and where it runs, as in "host function on stream 3".
#[inline]
pub fn call<R>(function: usize, what: impl Fn() -> String, code: impl FnOnce() -> R) -> R {
    let unwinding = Unwinding { function, what };
    let result = code();
    std::mem::forget(unwinding);
    result
}

/// Dropped only by an unwinding that did not begin in Rust.
struct Unwinding<F: Fn() -> String> {
    function: usize,
    what: F,
}

impl<F: Fn() -> String> Drop for Unwinding<F> {
    fn drop(&mut self) {
        terminate(self.function, &(self.what)());
    }
}

#[cold]
fn terminate(function: usize, what: &str) -> ! {
    // Nobody is left to tell of a write that fails.
    let _ = writeln!(
        std::io::stderr(),
        "toprope: an exception or pthread_exit left the {what} ({}); a callback must return, so the process ends",
        name(function)
    );
    // SAFETY: looks a name up; what it finds is `void std::terminate()`, which does not return.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"_ZSt9terminatev".as_ptr());
        if !found.is_null() {
            let end: extern "C" fn() = std::mem::transmute::<*mut c_void, extern "C" fn()>(found);
            end();
        }
    }
    std::process::abort()
}

/// A function's address, its symbol if it has one, and the file that holds it.
fn name(function: usize) -> String {
    // SAFETY: dladdr fills the structure in, with texts of the loader that live as long as the file is loaded.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(function as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return format!("{function:#x}");
        }
        let file = CStr::from_ptr(info.dli_fname).to_string_lossy();
        if info.dli_sname.is_null() {
            return format!("{function:#x}, at {:#x} of {file}", function - info.dli_fbase as usize);
        }
        format!("{function:#x}, {} of {file}", CStr::from_ptr(info.dli_sname).to_string_lossy())
    }
}
