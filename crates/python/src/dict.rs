//! Reading dicts whose keys are fields of a C structure.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The value under `key`; KeyError names what is missing.
pub fn get<'py>(dict: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    dict.get_item(key)?.ok_or_else(|| PyKeyError::new_err(key.to_string()))
}

/// The value under `key` as a number, 0 when there is none.
pub fn number<'py, T>(dict: &Bound<'py, PyDict>, key: &str) -> PyResult<T>
where
    T: Default + for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    match dict.get_item(key)? {
        Some(value) => value.extract(),
        None => Ok(T::default()),
    }
}
