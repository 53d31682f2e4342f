//! The door for functions whose arguments are plain numbers: Python's array calling convention, with no tuple made and no name
//! looked at. A copy of 64 bytes spends most of its time in the call from Python, so that this is worth its unsafe lines.
//!
//! Python calls a C function made by [`fast`]; it reads the arguments by their Rust types ([`Take`]), calls the Rust function,
//! and turns the result into an object ([`Give`]). Wrong types raise TypeError, numbers that do not fit OverflowError.

use std::ffi::{CStr, c_int};

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyModule;

/// An exception is set.
pub struct Raised;

/// An argument.
pub trait Take: Sized {
    /// Reads it.
    ///
    /// # Safety
    /// A borrowed object, with the GIL held.
    unsafe fn take(py: Python<'_>, object: *mut ffi::PyObject) -> Result<Self, Raised>;
}

/// A result.
pub trait Give {
    /// A new reference, or null with an exception set.
    ///
    /// # Safety
    /// The GIL is held.
    unsafe fn give(self) -> *mut ffi::PyObject;
}

macro_rules! take_wide {
    ($($ty:ty = $read:ident),*) => {$(
        impl Take for $ty {
            #[inline]
            unsafe fn take(py: Python<'_>, object: *mut ffi::PyObject) -> Result<Self, Raised> {
                // SAFETY: the caller's promise. What is no int becomes one first, as C parsing has it: by `__index__`, or not
                // at all.
                let value = unsafe {
                    if ffi::PyLong_CheckExact(object) != 0 {
                        ffi::$read(object)
                    } else {
                        let int = ffi::PyNumber_Index(object);
                        if int.is_null() {
                            return Err(Raised);
                        }
                        let value = ffi::$read(int);
                        ffi::Py_DecRef(int);
                        value
                    }
                };
                // All bits set may be the number itself.
                if value as i64 == -1 && PyErr::occurred(py) { Err(Raised) } else { Ok(value as $ty) }
            }
        }
    )*};
}

take_wide!(i64 = PyLong_AsLongLong, u64 = PyLong_AsUnsignedLongLong, usize = PyLong_AsSize_t);

macro_rules! take_narrow {
    ($($ty:ty),*) => {$(
        impl Take for $ty {
            #[inline]
            unsafe fn take(py: Python<'_>, object: *mut ffi::PyObject) -> Result<Self, Raised> {
                // SAFETY: the caller's promise.
                let wide = unsafe { i64::take(py, object)? };
                <$ty>::try_from(wide).map_err(|_| too_big(py, wide, stringify!($ty)))
            }
        }
    )*};
}

take_narrow!(i32, u32, u16);

#[cold]
fn too_big(py: Python<'_>, value: i64, ty: &str) -> Raised {
    PyOverflowError::new_err(format!("{value} does not fit into {ty}")).restore(py);
    Raised
}

impl Take for f32 {
    unsafe fn take(py: Python<'_>, object: *mut ffi::PyObject) -> Result<Self, Raised> {
        // SAFETY: the caller's promise.
        let value = unsafe { ffi::PyFloat_AsDouble(object) };
        if value == -1.0 && PyErr::occurred(py) { Err(Raised) } else { Ok(value as f32) }
    }
}

macro_rules! give {
    ($($ty:ty as $wide:ty = $make:ident),*) => {$(
        impl Give for $ty {
            #[inline]
            unsafe fn give(self) -> *mut ffi::PyObject {
                // SAFETY: the caller's promise.
                unsafe { ffi::$make(self as $wide) }
            }
        }
    )*};
}

give!(
    i32 as std::ffi::c_long = PyLong_FromLong,
    u32 as std::ffi::c_long = PyLong_FromLong,
    u16 as std::ffi::c_long = PyLong_FromLong,
    i64 as i64 = PyLong_FromLongLong,
    u64 as u64 = PyLong_FromUnsignedLongLong,
    usize as usize = PyLong_FromSize_t,
    f32 as f64 = PyFloat_FromDouble
);

impl Give for () {
    unsafe fn give(self) -> *mut ffi::PyObject {
        // SAFETY: None always is; the caller holds the GIL.
        unsafe {
            let none = ffi::Py_None();
            ffi::Py_IncRef(none);
            none
        }
    }
}

macro_rules! give_tuple {
    ($count:literal: $($name:ident $at:tt),*) => {
        impl<$($name: Give),*> Give for ($($name,)*) {
            #[inline]
            unsafe fn give(self) -> *mut ffi::PyObject {
                // SAFETY: the caller's promise; the tuple takes each new reference, and is dropped when one is missing.
                unsafe {
                    let tuple = ffi::PyTuple_New($count);
                    if tuple.is_null() {
                        return tuple;
                    }
                    $(
                        let item = self.$at.give();
                        if item.is_null() || ffi::PyTuple_SetItem(tuple, $at, item) != 0 {
                            ffi::Py_DecRef(tuple);
                            return std::ptr::null_mut();
                        }
                    )*
                    tuple
                }
            }
        }
    };
}

give_tuple!(2: A 0, B 1);
give_tuple!(3: A 0, B 1, C 2);
give_tuple!(4: A 0, B 1, C 2, D 3);

/// A Rust function that Python can call.
pub trait Fast<Args> {
    /// How many arguments Python gives.
    const COUNT: isize;
    /// Reads the arguments and calls.
    ///
    /// # Safety
    /// `args` are [`Fast::COUNT`] borrowed objects, with the GIL held.
    unsafe fn call(
        self,
        py: Python<'_>,
        args: *const *mut ffi::PyObject,
    ) -> Result<*mut ffi::PyObject, Raised>;
}

macro_rules! fast_arity {
    ($count:literal: $($name:ident $at:tt),*) => {
        impl<Function, Returned, $($name),*> Fast<($($name,)*)> for Function
        where
            Function: Fn(Python<'_>, $($name),*) -> Returned,
            Returned: Give,
            $($name: Take,)*
        {
            const COUNT: isize = $count;
            #[inline]
            #[allow(unused_variables, reason = "no argument is read where there is none")]
            unsafe fn call(self, py: Python<'_>, args: *const *mut ffi::PyObject) -> Result<*mut ffi::PyObject, Raised> {
                // SAFETY: the caller's promise.
                unsafe { Ok(self(py, $($name::take(py, *args.add($at))?),*).give()) }
            }
        }
    };
}

fast_arity!(0:);
fast_arity!(1: A 0);
fast_arity!(2: A 0, B 1);
fast_arity!(3: A 0, B 1, C 2);
fast_arity!(4: A 0, B 1, C 2, D 3);
fast_arity!(5: A 0, B 1, C 2, D 3, E 4);
fast_arity!(6: A 0, B 1, C 2, D 3, E 4, F 5);
fast_arity!(7: A 0, B 1, C 2, D 3, E 4, F 5, G 6);
fast_arity!(8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// What the C functions made by [`fast`] do.
///
/// # Safety
/// As Python calls: the GIL is held, `args` are `count` borrowed objects.
#[inline]
pub unsafe fn enter<Args, F: Fast<Args>>(
    function: F,
    name: &str,
    args: *const *mut ffi::PyObject,
    count: isize,
) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise.
    let py = unsafe { Python::assume_attached() };
    if count != F::COUNT {
        return wrong_count(py, name, F::COUNT, count);
    }
    // SAFETY: so many arguments there are.
    unsafe { function.call(py, args) }.unwrap_or(std::ptr::null_mut())
}

#[cold]
fn wrong_count(py: Python<'_>, name: &str, wanted: isize, given: isize) -> *mut ffi::PyObject {
    let text = format!("{name}() takes exactly {wanted} positional arguments ({given} given)");
    PyTypeError::new_err(text).restore(py);
    std::ptr::null_mut()
}

/// METH_FASTCALL, which CPython calls like this since 3.7, and promises to since 3.10.
const METH_FASTCALL: c_int = 0x80;

/// The calling convention of METH_FASTCALL.
pub type Entry =
    unsafe extern "C" fn(*mut ffi::PyObject, *const *mut ffi::PyObject, isize) -> *mut ffi::PyObject;

/// Adds a C function to a module. `doc` begins with the signature.
pub fn add(
    module: &Bound<'_, PyModule>,
    name: &'static CStr,
    entry: Entry,
    doc: &'static CStr,
) -> PyResult<()> {
    // SAFETY: the flag tells Python that the function is of this other type.
    let entry = unsafe { std::mem::transmute::<Entry, ffi::PyCFunction>(entry) };
    // Python keeps the address for as long as the function, which is as long as the process.
    let method = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: entry },
        ml_flags: METH_FASTCALL,
        ml_doc: doc.as_ptr(),
    }));
    let py = module.py();
    let own = module.name()?;
    // SAFETY: the definition lives; a new reference, or null with an exception.
    let function = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyCFunction_NewEx(method, module.as_ptr(), own.as_ptr()))?
    };
    module.add(name.to_str().unwrap_or_default(), function)
}

/// Adds a Rust function to a module as `name`; `signature` and `doc` are its help.
macro_rules! fast {
    ($module:expr, $name:literal, $function:path, $doc:literal) => {{
        unsafe extern "C" fn entry(
            _: *mut pyo3::ffi::PyObject,
            args: *const *mut pyo3::ffi::PyObject,
            count: isize,
        ) -> *mut pyo3::ffi::PyObject {
            // SAFETY: Python keeps to the calling convention of METH_FASTCALL.
            unsafe { $crate::fast::enter($function, $name, args, count) }
        }
        const NAME: &std::ffi::CStr = $crate::fast::c_text(concat!($name, "\0"));
        const DOC: &std::ffi::CStr = $crate::fast::c_text(concat!($doc, "\0"));
        $crate::fast::add($module, NAME, entry, DOC)
    }};
}
pub(crate) use fast;

/// A literal with its NUL.
pub const fn c_text(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a text with one NUL, at its end"),
    }
}
