//! What the proofs are made of: calls, resources that end with their scope, wrong handles and addresses, held streams.
#![allow(
    dead_code,
    clippy::undocumented_unsafe_blocks,
    reason = "a kit for tests: calls of the C ABI with valid arguments or with numbers that are never dereferenced"
)]

mod busy;
mod cpp;
mod handle;
mod host;
mod kernel;
mod managed;
mod memory;
mod package;
mod place;
mod symbol;
mod work;
mod wrapped;

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use ascendcl_sys as sys;
use ascendcl_sys::Table;

pub use busy::*;
pub use cpp::*;
pub use handle::*;
pub use host::*;
pub use kernel::*;
pub use managed::*;
pub use memory::*;
pub use package::*;
pub use place::*;
pub use symbol::*;
pub use work::*;
pub use wrapped::*;

use crate::row::Test;
use crate::symbols::SYMBOLS;

/// The linked runtime as a table of functions.
pub fn api() -> &'static Table {
    static API: OnceLock<Table> = OnceLock::new();
    API.get_or_init(|| {
        let find = |name: &CStr| {
            let found = SYMBOLS.iter().find(|(symbol, _)| symbol.as_bytes() == name.to_bytes());
            found.map(|(_, symbol)| *symbol as *mut c_void)
        };
        unsafe { Table::from_symbols(find) }
    })
}

/// A code as readers know it.
pub fn name(code: i32) -> String {
    match sys::errors::error_name(code) {
        Some(name) => format!("{code} {name}"),
        None => format!("{code}"),
    }
}

/// Asserts a code.
#[track_caller]
pub fn same(what: &str, code: i32, wanted: i32) {
    assert!(code == wanted, "{what} answers {}, not {}", name(code), name(wanted));
}

/// Whether the product of this process has a C function. Set by the first row; the tables do not change in a process.
pub fn has(function: &str) -> bool {
    TABLES.get().is_none_or(|(spec, key)| spec.supports(function, key))
}

static TABLES: OnceLock<(&'static crate::spec::Spec, String)> = OnceLock::new();

/// Tells the kit which product this process runs on.
pub fn know(spec: &'static crate::spec::Spec, key: &str) {
    // The first one holds; a process has one target.
    let _ = TABLES.set((spec, key.to_owned()));
}

/// Sets device 0, and a context where the device brings none.
pub fn enter_device(test: &Test<'_>) {
    enter(test, 0);
}

/// Sets a device, and a context where the device brings none.
pub fn enter(test: &Test<'_>, device: i32) {
    ok!(aclrtSetDevice(device));
    if !test.has("default_stream") {
        let mut context = null_mut();
        ok!(aclrtCreateContext(&mut context, device));
    }
}

/// Takes every device down, so that a row leaves nothing behind.
pub fn leave_devices() {
    let mut count = 0;
    acl!(aclrtGetDeviceCount(&mut count));
    for device in 0..count as i32 {
        acl!(aclrtResetDeviceForce(device));
    }
}

/// Brings handles and addresses to another thread.
struct Carry<T>(T);

// SAFETY: used while the thread that owns the value waits for the other one (`bare`), or for handles and addresses, which
// any thread may use.
unsafe impl<T> Send for Carry<T> {}

impl<T> Carry<T> {
    fn take(self) -> T {
        self.0
    }
}

/// Runs `body` on a thread that has set nothing, and waits for it.
pub fn bare<T>(body: impl FnOnce() -> T) -> T {
    let body = Carry(body);
    match std::thread::scope(|scope| scope.spawn(move || Carry(body.take()())).join()) {
        Ok(value) => value.take(),
        // What it said is noted already.
        Err(_) => panic!("on another thread"),
    }
}

/// Runs `body` on a thread of its own that has set a device, and waits for it.
pub fn on_device<T>(test: &Test<'_>, device: i32, body: impl FnOnce() -> T) -> T {
    bare(|| {
        enter(test, device);
        body()
    })
}

/// Runs `body` on several threads at once, which have set nothing.
pub fn together<T>(threads: usize, body: impl Fn() -> T + Sync) -> Vec<T> {
    let start = std::sync::Barrier::new(threads);
    let one = || {
        start.wait();
        Carry(body())
    };
    let ended = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Result<Vec<_>, _>>()
    });
    match ended {
        Ok(values) => values.into_iter().map(Carry::take).collect(),
        Err(_) => panic!("on another thread"),
    }
}

/// A text for C.
#[track_caller]
pub fn c(text: &str) -> CString {
    match CString::new(text) {
        Ok(text) => text,
        Err(_) => panic!("a text with NUL"),
    }
}

/// A text of C; None for null.
pub fn text(pointer: *const c_char) -> Option<String> {
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// What aclGetRecentErrMsg says; empty when it says nothing.
pub fn message() -> String {
    text(acl!(aclGetRecentErrMsg())).unwrap_or_default()
}

/// Any number as a pointer.
pub fn at(address: usize) -> *mut c_void {
    address as *mut c_void
}
