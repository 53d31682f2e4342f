//! `acl.util`: addresses of Python objects, and Python objects over addresses. NumPy is used when it is there; nothing here
//! needs it until an array is asked for.

use std::ffi::CString;

use pyo3::exceptions::{PyDeprecationWarning, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::{owner, readable};

/// The error for what is not bytes.
///
/// The binding that this module replaces raises ValueError (pyacl.csv), every other wrong type is a TypeError: this is both.
fn not_bytes(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let bases = (py.get_type::<PyTypeError>(), py.get_type::<PyValueError>());
        let members = PyDict::new(py);
        members.set_item("__module__", "acl.util")?;
        members.set_item("__doc__", "Something else than bytes was given.")?;
        let class = py.get_type::<PyType>().call1(("NotBytesError", bases, members))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    });
    let name = given.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string());
    match class {
        Ok(class) => PyErr::from_type(class.bind(py).clone(), format!("bytes are needed, not {name}")),
        Err(error) => error,
    }
}

#[doc = help!(util_bytes_to_ptr)]
#[pyfunction]
#[pyo3(name = "bytes_to_ptr", signature = (data, /))]
pub fn util_bytes_to_ptr(data: &Bound<'_, PyAny>) -> PyResult<usize> {
    match data.cast::<PyBytes>() {
        Ok(bytes) => {
            let bytes = bytes.as_bytes();
            let start = bytes.as_ptr() as usize;
            if owner::watched() {
                owner::note(data, start, bytes.len());
            }
            Ok(start)
        }
        Err(_) => Err(not_bytes(data.py(), data)),
    }
}

#[doc = help!(util_ptr_to_bytes)]
#[pyfunction]
#[pyo3(name = "ptr_to_bytes", signature = (ptr, size, /))]
pub fn util_ptr_to_bytes(py: Python<'_>, ptr: usize, size: usize) -> PyResult<Bound<'_, PyBytes>> {
    if size == 0 {
        return Ok(PyBytes::new(py, &[]));
    }
    range(ptr, size)?;
    readable::all(ptr, size)?;
    PyBytes::new_with(py, size, |bytes| {
        // SAFETY: this memory was there a moment ago, and the program says that it stays; the new object is somewhere else.
        unsafe { std::ptr::copy_nonoverlapping(ptr as *const u8, bytes.as_mut_ptr(), size) };
        Ok(())
    })
}

/// Refuses what cannot be memory at all.
fn range(ptr: usize, size: usize) -> PyResult<()> {
    if ptr == 0 {
        return Err(PyValueError::new_err("ptr is 0: there is no memory"));
    }
    if isize::try_from(size).is_err() || ptr.checked_add(size).is_none() {
        return Err(PyOverflowError::new_err(format!("no memory has {size} bytes from {ptr:#x}")));
    }
    Ok(())
}

/// Tells, once for each place, that a function goes back to older releases.
fn deprecated(py: Python<'_>, name: &str, instead: &str) -> PyResult<()> {
    let text = CString::new(format!("acl.util.{name} is deprecated, use acl.util.{instead}"))?;
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), &text, 1)
}

/// The array, if it is one.
fn array<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    // An array comes from a NumPy that has been imported.
    let loaded = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.get_item("numpy")?;
    // A module that may not be imported is None there.
    if let Some(numpy) = loaded.filter(|numpy| !numpy.is_none())
        && given.is_instance(&numpy.getattr("ndarray")?)?
    {
        return Ok(given.clone());
    }
    Err(PyTypeError::new_err(format!("numpy.ndarray is needed, not {}", given.get_type().name()?)))
}

/// Where the first element of an array is.
fn first(array: &Bound<'_, PyAny>) -> PyResult<usize> {
    let start = array.getattr("__array_interface__")?.get_item("data")?.get_item(0)?.extract()?;
    if owner::watched() {
        // The memory is that of the object at the end of the chain of views.
        let mut holder = array.clone();
        while let Some(base) = holder.getattr_opt("base")?.filter(|base| !base.is_none()) {
            holder = base;
        }
        owner::note(&holder, start, array.getattr("nbytes")?.extract()?);
    }
    Ok(start)
}

#[doc = help!(util_numpy_to_ptr)]
#[pyfunction]
#[pyo3(name = "numpy_to_ptr", signature = (array, /))]
pub fn util_numpy_to_ptr(array: &Bound<'_, PyAny>) -> PyResult<usize> {
    let array = self::array(array)?;
    deprecated(array.py(), "numpy_to_ptr", "bytes_to_ptr")?;
    first(&array)
}

#[doc = help!(util_numpy_contiguous_to_ptr)]
#[pyfunction]
#[pyo3(name = "numpy_contiguous_to_ptr", signature = (array, /))]
pub fn util_numpy_contiguous_to_ptr<'py>(array: &Bound<'py, PyAny>) -> PyResult<(usize, Bound<'py, PyAny>)> {
    let array = self::array(array)?;
    let py = array.py();
    deprecated(py, "numpy_contiguous_to_ptr", "bytes_to_ptr")?;
    let options = PyDict::new(py);
    options.set_item("order", "C")?;
    let contiguous = py.import("numpy")?.call_method("asarray", (array,), Some(&options))?;
    Ok((first(&contiguous)?, contiguous))
}

/// NumPy's one-letter name of a type number. Objects, texts, records and times are not memory of a device.
fn letter(number: i32) -> Option<&'static str> {
    const LETTERS: [&str; 17] =
        ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d", "g", "F", "D", "G"];
    match number {
        23 => Some("e"),
        number => LETTERS.get(usize::try_from(number).ok()?).copied(),
    }
}

#[doc = help!(util_ptr_to_numpy)]
#[pyfunction]
#[pyo3(name = "ptr_to_numpy", signature = (ptr, shape, npy_type, /))]
pub fn util_ptr_to_numpy<'py>(
    py: Python<'py>,
    ptr: usize,
    shape: &Bound<'py, PyTuple>,
    npy_type: i32,
) -> PyResult<Bound<'py, PyAny>> {
    deprecated(py, "ptr_to_numpy", "ptr_to_bytes")?;
    let lengths: Vec<usize> = shape.extract::<Vec<usize>>()?;
    let letter = letter(npy_type)
        .ok_or_else(|| PyValueError::new_err(format!("npy_type {npy_type} is no number type of NumPy")))?;
    let numpy = py.import("numpy")?;
    let dtype = numpy.call_method1("dtype", (letter,))?;
    let item: usize = dtype.getattr("itemsize")?.extract()?;
    let size = lengths.iter().try_fold(item, |size, length| size.checked_mul(*length));
    match size {
        Some(0) => return numpy.call_method1("empty", (shape, dtype)),
        Some(size) => {
            range(ptr, size)?;
            readable::mapped(ptr, size)?;
        }
        None => return Err(PyOverflowError::new_err("no memory has so many elements")),
    }
    let interface = PyDict::new(py);
    interface.set_item("shape", shape)?;
    interface.set_item("typestr", dtype.getattr("str")?)?;
    interface.set_item("data", (ptr, false))?;
    interface.set_item("version", 3)?;
    let attributes = PyDict::new(py);
    attributes.set_item("__array_interface__", interface)?;
    let memory = py.import("types")?.getattr("SimpleNamespace")?.call((), Some(&attributes))?;
    numpy.call_method1("asarray", (memory,))
}
