//! The only place where pointers of a program become values. Each conversion names the argument and the rule; a null or
//! unmapped pointer gets a code instead of a crash.

use std::ffi::{c_char, c_void};

use ascendcl_sys as sys;
use toprope_runtime::bytes;
use toprope_runtime::{Result, refuse};

/// Where a call writes a result.
pub struct Out<T> {
    addr: usize,
    name: &'static str,
    rule: &'static str,
    kind: std::marker::PhantomData<fn(T)>,
}

/// An out-parameter that must not be null.
#[inline]
pub fn out<T: Copy>(pointer: *mut T, name: &'static str, rule: &'static str) -> Result<Out<T>> {
    not_null(pointer, name, rule)?;
    Ok(Out { addr: pointer as usize, name, rule, kind: std::marker::PhantomData })
}

/// As [`out`], where null is found in the runtime layer only: *#02.
pub fn out_rt<T: Copy>(pointer: *mut T, name: &'static str, rule: &'static str) -> Result<Out<T>> {
    not_null_rt(pointer, name, rule)?;
    out(pointer, name, rule)
}

/// An out-parameter that may be null.
pub fn out_opt<T: Copy>(pointer: *mut T, name: &'static str) -> Option<Out<T>> {
    (!pointer.is_null()).then_some(Out {
        addr: pointer as usize,
        name,
        rule: "ours: argument",
        kind: std::marker::PhantomData,
    })
}

impl<T: Copy> Out<T> {
    /// Writes the result.
    pub fn set(&self, value: T) -> Result<()> {
        bytes::write(self.addr, value).or_else(|_| unmapped(self.addr, self.name, self.rule))
    }

    /// Makes sure that the result can be written, before the call does anything that would be lost otherwise: the bytes
    /// there are read and written back.
    pub fn probe(&self) -> Result<()> {
        let now: T = bytes::read(self.addr).or_else(|_| unmapped(self.addr, self.name, self.rule))?;
        self.set(now)
    }
}

/// A pointer that must not be null. The code of the ACL layer: *#02.
#[inline]
pub fn not_null<T: ?Sized>(pointer: *const T, name: &'static str, rule: &'static str) -> Result<()> {
    if pointer.is_null() { null(name, rule) } else { Ok(()) }
}

/// A pointer that must not be null. The code of the runtime layer: *#02.
pub fn not_null_rt<T: ?Sized>(pointer: *const T, name: &'static str, rule: &'static str) -> Result<()> {
    if pointer.is_null() {
        return refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "{name}: must not be null");
    }
    Ok(())
}

#[cold]
fn null<T>(name: &'static str, rule: &'static str) -> Result<T> {
    refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "{name}: must not be null")
}

#[cold]
fn unmapped<T>(addr: usize, name: &'static str, rule: &'static str) -> Result<T> {
    refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "{name}: no memory at {addr:#x}")
}

/// A plain value that the program passes by address; must not be null.
pub fn input<T: Copy>(pointer: *const T, name: &'static str, rule: &'static str) -> Result<T> {
    not_null(pointer, name, rule)?;
    bytes::read(pointer as usize).or_else(|_| unmapped(pointer as usize, name, rule))
}

/// Refuses a count above [`bytes::MOST_ENTRIES`], with the code of an array that is not there; `name` is the array.
fn counted(count: usize, name: &'static str) -> Result<()> {
    if count <= bytes::MOST_ENTRIES {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_INVALID_PARAM,
        "ours: the most entries of an array",
        "{name}: {count} entries are more than {}",
        bytes::MOST_ENTRIES
    )
}

/// An array of `count` plain values, at most [`bytes::MOST_ENTRIES`]; must not be null when there are any.
pub fn inputs<T: Copy>(
    pointer: *const T,
    count: usize,
    name: &'static str,
    rule: &'static str,
) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    not_null(pointer, name, rule)?;
    counted(count, name)?;
    bytes::read_all(pointer as usize, count).or_else(|_| unmapped(pointer as usize, name, rule))
}

/// A C string; null is none.
pub fn text(pointer: *const c_char, name: &'static str, rule: &'static str) -> Result<Option<Vec<u8>>> {
    if pointer.is_null() {
        return Ok(None);
    }
    match bytes::read_text(pointer as usize, bytes::LONGEST_TEXT) {
        Ok(Some(text)) => Ok(Some(text)),
        Ok(None) => refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            rule,
            "{name}: no end of the text within {} bytes",
            bytes::LONGEST_TEXT
        ),
        Err(_) => unmapped(pointer as usize, name, rule),
    }
}

/// A function of the program; null is refused.
pub fn function<F>(func: Option<F>, name: &'static str, rule: &'static str) -> Result<F> {
    match func {
        Some(func) => Ok(func),
        None => null(name, rule),
    }
}

/// Writes a text and its end mark into a buffer that has room for it, as the caller has made sure.
pub fn write_text(pointer: *mut c_char, text: &str, name: &'static str, rule: &'static str) -> Result<()> {
    write_all(pointer.cast(), &[text.as_bytes(), &[0]].concat(), name, rule)
}

/// Writes values one behind the other.
pub fn write_all<T: Copy>(
    pointer: *mut T,
    values: &[T],
    name: &'static str,
    rule: &'static str,
) -> Result<()> {
    for (at, value) in values.iter().enumerate() {
        let addr = (pointer as usize).wrapping_add(at * size_of::<T>());
        bytes::write(addr, *value).or_else(|_| unmapped(addr, name, rule))?;
    }
    Ok(())
}

/// A handle as a number.
#[inline]
pub fn handle(pointer: *mut c_void) -> u64 {
    pointer as u64
}

/// A handle as the program holds it.
#[inline]
pub fn from_handle(handle: u64) -> *mut c_void {
    handle as *mut c_void
}
