//! What the tests of chapters 11-02, 11-05 and 11-11 share.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ascendcl::device::aclrtSetDevice;
use ascendcl_sys as sys;
use toprope_engine::queue::Task;
use toprope_runtime::{Runtime, process, stream};

pub const PAGE: usize = 4096;

/// The process's runtime; the calling thread works on `device`.
pub fn on(device: i32) -> &'static Runtime {
    assert_eq!(unsafe { aclrtSetDevice(device) }, 0);
    runtime()
}

pub fn runtime() -> &'static Runtime {
    process::runtime().unwrap()
}

/// The call was refused with this code, by this rule.
#[track_caller]
pub fn refused(answer: i32, code: i32, rule: &str) {
    let message = recent();
    assert_eq!(answer, code, "{message}");
    assert!(message.contains(&format!("[{rule}]")), "by another rule than {rule}: {message}");
}

/// The call was done.
#[track_caller]
pub fn done(answer: i32) {
    assert_eq!(answer, sys::ACL_SUCCESS, "{}", recent());
}

/// What the thread's calls left as messages since the last time.
pub fn recent() -> String {
    let text = toprope_runtime::error::recent();
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a C string that lives until the next call.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Pinned memory.
pub fn pinned(size: usize) -> *mut c_void {
    let mut ptr = std::ptr::null_mut();
    done(unsafe { ascendcl::memory::aclrtMallocHost(&raw mut ptr, size) });
    ptr
}

/// Host memory of its own pages.
pub struct Pages {
    pub base: *mut c_void,
    pub size: usize,
}

impl Pages {
    pub fn new(pages: usize) -> Pages {
        let size = pages * PAGE;
        // SAFETY: new memory at any place.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(base, libc::MAP_FAILED);
        Pages { base, size }
    }

    /// As `new`; nothing is mapped behind them: the system puts no memory of its own accord so low.
    pub fn before_a_hole(pages: usize) -> Pages {
        let size = pages * PAGE;
        // SAFETY: new memory at a free place, or none.
        let base = unsafe {
            libc::mmap(
                0x20_0000 as *mut c_void,
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        assert_eq!(base as usize, 0x20_0000);
        Pages { base, size }
    }

    pub fn at(&self, offset: usize) -> *mut c_void {
        self.base.wrapping_byte_add(offset)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; no reference into it is left.
        unsafe { libc::munmap(self.base, self.size) };
    }
}

/// Keeps a stream busy until it is dropped.
pub struct Hold(Arc<AtomicBool>);

unsafe extern "C" fn until_let_go(arg: *mut c_void) {
    // SAFETY: `Hold::new` gave this count away.
    let go = unsafe { Arc::from_raw(arg.cast::<AtomicBool>()) };
    while !go.load(Ordering::Acquire) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

impl Hold {
    /// 0 is the default stream of the current context.
    pub fn new(rt: &Runtime, stream: u64) -> Hold {
        let go = Arc::new(AtomicBool::new(false));
        let arg = Arc::into_raw(go.clone()).cast_mut().cast();
        stream::resolve(rt, stream).unwrap().push(rt, Task::Host { func: until_let_go, arg });
        Hold(go)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Waits for everything in a stream.
pub fn finish(rt: &Runtime, stream: u64) {
    let mark = stream::resolve(rt, stream).unwrap().mark(rt);
    rt.engine.wait(mark, None);
}
