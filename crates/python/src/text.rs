//! C texts for Python.

use std::ffi::{CStr, c_char};

/// A text of the library; None for NULL. Bytes that are no UTF-8 are replaced.
///
/// # Safety
/// `start` is NULL, or a text that ends in NUL and lives during the call.
pub unsafe fn text(start: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise.
    (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) }.to_string_lossy().into_owned())
}

/// The text in a field of fixed size: up to its NUL, or all of it.
pub fn field(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|c| *c as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
