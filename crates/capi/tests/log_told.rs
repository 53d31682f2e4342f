//! What an observer is told of memory whose owner in a language module is gone. A file of its own, since a process has one
//! observer.

use std::ffi::c_char;
use std::sync::Mutex;

use ascendcl::log::aclAppLog;
use ascendcl_sys::{ABANDONED, ACL_WARNING};
use toprope_runtime::observer::{self, Observer, Range};

static TOLD: Mutex<Vec<Range>> = Mutex::new(Vec::new());

struct Notes;

impl Observer for Notes {
    fn abandoned(&self, range: Range, _next: bool) {
        TOLD.lock().unwrap_or_else(|bad| bad.into_inner()).push(range);
    }
}

/// ours: aclAppLog carries it, since the library exports nothing but the functions of the headers.
#[test]
fn a_language_module_tells_through_the_log() {
    observer::observe(Box::new(Notes));
    // SAFETY: the headers' type of a function that takes dots, which stable Rust cannot name on the defining side.
    let log: unsafe extern "C" fn(u32, *const c_char, *const c_char, u32, *const c_char, ...) =
        unsafe { std::mem::transmute(aclAppLog as *const ()) };
    for (name, expected) in [(ABANDONED, 1), (c"other", 1), (ABANDONED, 2)] {
        // SAFETY: texts; the format takes a size and an address.
        unsafe {
            log(
                ACL_WARNING,
                name.as_ptr(),
                c"acl.util".as_ptr(),
                0,
                c"%zu bytes at %p".as_ptr(),
                64usize,
                0x7f00usize,
            )
        };
        let told = TOLD.lock().unwrap_or_else(|bad| bad.into_inner());
        assert_eq!(*told, vec![Range { start: 0x7f00, len: 64 }; expected]);
    }
}
