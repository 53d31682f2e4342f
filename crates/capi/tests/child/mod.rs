//! Tests whose state is the process's: each runs in a process of its own.
#![allow(dead_code, reason = "each test file uses its part")]

use std::ffi::{CStr, CString, c_char};
use std::process::Command;

const MARK: &str = "TOPROPE_TEST_CHILD";

/// Runs `body` in a child that starts this very test again with the variables `env`. Returns the child's standard error, and
/// None in the child.
pub fn alone(test: &str, env: &[(&str, &str)], body: impl FnOnce()) -> Option<String> {
    if std::env::var(MARK).is_ok_and(|name| name == test) {
        body();
        return None;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, test)
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success() && out.contains("1 passed"),
        "child of {test}: {}\n{out}\n{err}",
        output.status
    );
    Some(err)
}

/// A text as C wants it.
pub fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// What aclGetRecentErrMsg says; empty for null.
pub fn message() -> String {
    // SAFETY: null or a text that lives until the next call.
    unsafe { text_at(ascendcl::exception::aclGetRecentErrMsg()) }
}

/// A C text; empty for null.
///
/// # Safety
/// Null or the address of a C text.
pub unsafe fn text_at(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
