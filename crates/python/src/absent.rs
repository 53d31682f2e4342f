//! Functions of pyACL that this runtime does not have: they take their arguments, warn, and answer 207000.

use std::ffi::CString;

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Says that a function calls nothing.
pub fn no_such(py: Python<'_>, name: &str) -> PyResult<()> {
    warn(
        py,
        &format!("{name}: not part of this runtime; it answers 207000 (ACL_ERROR_RT_FEATURE_NOT_SUPPORT)"),
    )
}

/// Says that nothing is known of a function but its name.
pub fn unknown_arguments(py: Python<'_>, name: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
    let given = arguments.len();
    warn(
        py,
        &format!(
            "{name}: its arguments are not known here ({given} given); it answers 207000 (ACL_ERROR_RT_FEATURE_NOT_SUPPORT)"
        ),
    )
}

fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    // A return code alone would not say why; functions without one would say nothing at all.
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(message)?, 1)
}
