//! Chapter 6: attributes of streams, which are a union in C.

use ascendcl_sys::{
    ACL_STREAM_ATTR_CACHE_OP_INFO, ACL_STREAM_ATTR_FAILURE_MODE, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK,
    ACL_STREAM_ATTR_PRIORITY, ACL_STREAM_ATTR_USER_CUSTOM_TAG, aclError, aclrtStreamAttr,
    aclrtStreamAttrValue,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dict;
use crate::library::table;

/// The key of an attribute's value, which is the name of its member of the union, and whether it has 64 bits.
fn member(attr: aclrtStreamAttr) -> Option<(&'static str, bool)> {
    Some(match attr {
        ACL_STREAM_ATTR_FAILURE_MODE => ("failureMode", true),
        ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => ("overflowSwitch", false),
        ACL_STREAM_ATTR_USER_CUSTOM_TAG => ("userCustomTag", false),
        ACL_STREAM_ATTR_CACHE_OP_INFO => ("cacheOpInfoSwitch", false),
        ACL_STREAM_ATTR_PRIORITY => ("streamPriority", false),
        _ => return None,
    })
}

#[doc = help!(rt_set_stream_attribute)]
#[pyfunction]
#[pyo3(name = "set_stream_attribute", signature = (stream, attr, value, /))]
pub fn rt_set_stream_attribute(stream: usize, attr: i32, value: &Bound<'_, PyDict>) -> PyResult<aclError> {
    let attr = attr as aclrtStreamAttr;
    let mut given = aclrtStreamAttrValue { reserve: [0; 4] };
    match member(attr) {
        Some((key, true)) => given.failureMode = dict::get(value, key)?.extract()?,
        Some((key, false)) => given.overflowSwitch = dict::get(value, key)?.extract()?,
        // Attributes without a member of their own: four numbers, or nothing.
        None => {
            if let Some(words) = value.get_item("reserve")? {
                given.reserve = words.extract()?;
            }
        }
    }
    // SAFETY: a handle is only a number to the library; a local of its type.
    Ok(unsafe { (table().aclrtSetStreamAttribute)(stream as _, attr, &mut given) })
}

#[doc = help!(rt_get_stream_attribute)]
#[pyfunction]
#[pyo3(name = "get_stream_attribute", signature = (stream, attr, /))]
pub fn rt_get_stream_attribute(
    py: Python<'_>,
    stream: usize,
    attr: i32,
) -> PyResult<(Bound<'_, PyDict>, aclError)> {
    let attr = attr as aclrtStreamAttr;
    let mut value = aclrtStreamAttrValue { reserve: [0; 4] };
    // SAFETY: a handle is only a number to the library; a local of its type.
    let ret = unsafe { (table().aclrtGetStreamAttribute)(stream as _, attr, &mut value) };
    let dict = PyDict::new(py);
    if ret == 0 {
        // SAFETY: every member is a number, and all bytes are set.
        unsafe {
            match member(attr) {
                Some((key, true)) => dict.set_item(key, value.failureMode)?,
                Some((key, false)) => dict.set_item(key, value.overflowSwitch)?,
                None => dict.set_item("reserve", value.reserve.to_vec())?,
            }
        }
    }
    Ok((dict, ret))
}
