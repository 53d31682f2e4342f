//! What the tests of memory and copies share. They call the C ABI; only waiting for a stream and holding one back go past it.
#![allow(dead_code, unused_macros, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::ffi::c_void;
use std::process::Command;

use ascendcl::context::{aclrtCreateContext, aclrtCtxGetCurrentDefaultStream};
use ascendcl::copy::aclrtMemcpy;
use ascendcl::device::aclrtSetDevice;
use ascendcl::memory::{aclrtMalloc, aclrtMallocHost};
use toprope_engine::memory::Block;
use toprope_engine::queue::{Signal, Task};
use toprope_runtime::{Runtime, error, process};

pub use ascendcl_sys::*;

pub type Ptr = *mut c_void;

/// Calls of the C ABI: they check what they are given, and what they cannot check is memory of the test's own.
macro_rules! acl {
    ($($body:tt)*) => {{
        // SAFETY: see the macro's own words.
        unsafe { $($body)* }
    }};
}

/// The process's runtime.
pub fn rt() -> &'static Runtime {
    process::runtime().unwrap()
}

/// Makes a context of the test's own on a device current and gives its default stream.
pub fn device(id: i32) -> aclrtStream {
    let (mut context, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: plain values and locals.
    unsafe {
        assert_eq!(aclrtSetDevice(id), 0);
        assert_eq!(aclrtCreateContext(&mut context, id), 0);
        assert_eq!(aclrtCtxGetCurrentDefaultStream(&mut stream), 0);
    }
    stream
}

/// Device memory filled with `byte`.
pub fn device_memory(size: usize, byte: u8) -> Ptr {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: a local.
    assert_eq!(unsafe { aclrtMalloc(&mut pointer, size, ACL_MEM_MALLOC_HUGE_FIRST) }, 0);
    put(pointer, &vec![byte; size]);
    pointer
}

/// Pinned memory filled with `byte`.
pub fn pinned_memory(size: usize, byte: u8) -> Ptr {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: a local; then the block just made.
    unsafe {
        assert_eq!(aclrtMallocHost(&mut pointer, size), 0);
        if !(pointer as usize).is_multiple_of(64) {
            // That is the caller's job in the RC form.
            assert_eq!(aclrtMallocHost(&mut pointer, size + 32), 0);
            pointer = pointer.wrapping_byte_add(pointer as usize % 64);
        }
        std::ptr::write_bytes(pointer.cast::<u8>(), byte, size);
    }
    pointer
}

/// Writes bytes to any memory.
pub fn put(at: Ptr, bytes: &[u8]) {
    let (from, len) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the call checks its addresses.
    assert_eq!(unsafe { aclrtMemcpy(at, len, from, len, ACL_MEMCPY_DEFAULT) }, 0, "{}", said());
}

/// Reads bytes of any memory.
pub fn get(at: Ptr, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    // SAFETY: the call checks its addresses.
    let code = unsafe { aclrtMemcpy(bytes.as_mut_ptr().cast(), len, at, len, ACL_MEMCPY_DEFAULT) };
    assert_eq!(code, 0, "{}", said());
    bytes
}

/// The block that holds an address.
pub fn block(pointer: Ptr) -> Block {
    rt().space.find(pointer as usize).unwrap()
}

/// An address `offset` bytes on.
pub fn at(pointer: Ptr, offset: usize) -> Ptr {
    pointer.wrapping_byte_add(offset)
}

/// The newest messages of this thread.
pub fn said() -> String {
    let text = error::recent();
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a C string that lives until the next call on this thread.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The call's code is `code`, and its newest message names `rule`.
#[track_caller]
pub fn refused(got: aclError, code: aclError, rule: &str) {
    let text = said();
    assert_eq!(got, code, "{text}");
    let newest = text.lines().next().unwrap_or_default();
    assert!(newest.contains(rule), "wanted rule {rule} in: {newest}");
}

/// Waits until everything in a stream is done.
pub fn finish(stream: aclrtStream) {
    let pin = toprope_runtime::stream::resolve(rt(), stream as u64).unwrap();
    rt().engine.wait(pin.mark(rt()), None);
}

/// The code a stream failed with, which is taken from it; 0 if it did not.
pub fn failure(stream: aclrtStream) -> aclError {
    let pin = toprope_runtime::stream::resolve(rt(), stream as u64).unwrap();
    rt().engine.wait(pin.mark(rt()), None);
    rt().engine.take_failure(pin.queue).map_or(0, |failure| failure.code as aclError)
}

/// Holds a stream back until it is opened.
pub struct Gate(Signal);

impl Gate {
    /// Tasks that are added from now on wait.
    pub fn shut(stream: aclrtStream) -> Gate {
        let pin = toprope_runtime::stream::resolve(rt(), stream as u64).unwrap();
        let signal = rt().engine.open_signal().unwrap();
        let mark = rt().engine.signal_mark(signal, 1);
        pin.push(rt(), Task::Wait { mark, timeout_ms: 0, code: 0 });
        Gate(signal)
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        rt().engine.advance(self.0, 1);
    }
}

/// Runs a test in a process of its own, on another target than the default. `name` is the test's own. (In that process the
/// other targets of the same test are passed over.)
pub fn on(target: &[(&str, &str)], name: &str, body: impl FnOnce()) {
    const ME: &str = "TOPROPE_TEST_OF_ITS_OWN";
    if std::env::var_os(ME).is_some_and(|me| me == name) {
        if target.iter().all(|(key, value)| std::env::var(key).is_ok_and(|now| now == *value)) {
            body();
        }
        return;
    }
    let program = std::env::current_exe().unwrap();
    let run = Command::new(program)
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(ME, name)
        .envs(target.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success() && text.contains("1 passed"),
        "{name} on {target:?}:\n{text}{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
