//! Chapters 2 and 24: start, versions, attributes, the log.

use std::ffi::{CString, c_char};
use std::ptr;

use ascendcl_sys::{aclCANNPackageVersion, aclCannAttr, aclError, aclLogLevel};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::library::table;
use crate::text::{field, text};

#[doc = help!(acl_init)]
#[pyfunction]
#[pyo3(name = "init", signature = (config_path=None, /))]
pub fn acl_init(config_path: Option<CString>) -> aclError {
    let path = config_path.as_ref().map_or(ptr::null(), |path| path.as_ptr());
    // SAFETY: NULL or a text.
    unsafe { (table().aclInit)(path) }
}

#[doc = help!(acl_app_log)]
#[pyfunction]
#[pyo3(name = "app_log", signature = (level, message, /))]
pub fn acl_app_log(py: Python<'_>, level: i32, message: CString) -> PyResult<()> {
    let (function, file, line) = caller(py)?;
    // SAFETY: texts that end in NUL; the format takes one of them.
    unsafe {
        (table().aclAppLog)(
            level as aclLogLevel,
            function.as_ptr(),
            file.as_ptr(),
            line,
            c"%s".as_ptr(),
            message.as_ptr(),
        );
    }
    Ok(())
}

/// Function, file and line of the Python code that calls.
fn caller(py: Python<'_>) -> PyResult<(CString, CString, u32)> {
    let frame = py.import("sys")?.call_method0("_getframe")?;
    let code = frame.getattr("f_code")?;
    let line: Option<u32> = frame.getattr("f_lineno")?.extract()?;
    Ok((
        code.getattr("co_name")?.extract()?,
        code.getattr("co_filename")?.extract()?,
        line.unwrap_or_default(),
    ))
}

#[doc = help!(acl_get_cann_attribute_list)]
#[pyfunction]
#[pyo3(name = "get_cann_attribute_list", signature = ())]
pub fn acl_get_cann_attribute_list() -> (Vec<i64>, usize, aclError) {
    let mut list: *const aclCannAttr = ptr::null();
    let mut count = 0usize;
    // SAFETY: both are locals of their types.
    let ret = unsafe { (table().aclGetCannAttributeList)(&mut list, &mut count) };
    if ret != 0 || list.is_null() {
        return (Vec::new(), 0, ret);
    }
    // SAFETY: the library's list of so many attributes, which lives as long as it.
    let list = unsafe { std::slice::from_raw_parts(list, count) };
    (list.iter().map(|attr| i64::from(*attr)).collect(), count, ret)
}

#[doc = help!(acl_get_cann_version)]
#[pyfunction]
#[pyo3(name = "get_cann_version", signature = (package, /))]
pub fn acl_get_cann_version(py: Python<'_>, package: u32) -> PyResult<(Bound<'_, PyDict>, aclError)> {
    // SAFETY: arrays of characters may be zero.
    let mut version: aclCANNPackageVersion = unsafe { std::mem::zeroed() };
    // SAFETY: a local of its type.
    let ret = unsafe { (table().aclsysGetCANNVersion)(package as _, &mut version) };
    let dict = PyDict::new(py);
    if ret == 0 {
        dict.set_item("version", field(&version.version))?;
        dict.set_item("major_version", field(&version.majorVersion))?;
        dict.set_item("minor_version", field(&version.minorVersion))?;
        dict.set_item("release_version", field(&version.releaseVersion))?;
        dict.set_item("patch_version", field(&version.patchVersion))?;
        dict.set_item("reserved", field(&version.reserved))?;
    }
    Ok((dict, ret))
}

#[doc = help!(acl_get_version_str)]
#[pyfunction]
#[pyo3(name = "get_version_str", signature = (package_name, /))]
pub fn acl_get_version_str(package_name: CString) -> (Option<String>, aclError) {
    // aclsysGetVersionStr#06
    let mut version = [0 as c_char; ascendcl_sys::ACL_PKG_VERSION_MAX_SIZE as usize];
    // SAFETY: a text that the library only reads, and a buffer of the size that it asks for.
    let ret =
        unsafe { (table().aclsysGetVersionStr)(package_name.as_ptr().cast_mut(), version.as_mut_ptr()) };
    // SAFETY: the buffer was zero, and the library ends what it writes with NUL.
    (unsafe { text(version.as_ptr()) }, ret)
}
