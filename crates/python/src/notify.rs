//! Chapter 8: notifies, where lists and keys are involved.

use ascendcl_sys::{aclError, aclrtNotify};
use pyo3::prelude::*;

use crate::library::table;
use crate::memory::key_buffer;
use crate::text::field;

#[doc = help!(rt_notify_batch_reset)]
#[pyfunction]
#[pyo3(name = "notify_batch_reset", signature = (notifies, /))]
pub fn rt_notify_batch_reset(py: Python<'_>, notifies: Vec<usize>) -> aclError {
    py.detach(|| {
        let mut notifies: Vec<aclrtNotify> = notifies.iter().map(|notify| *notify as aclrtNotify).collect();
        // SAFETY: an array of the size that is told; handles are only numbers to the library.
        unsafe { (table().aclrtNotifyBatchReset)(notifies.as_mut_ptr(), notifies.len()) }
    })
}

#[doc = help!(rt_notify_get_export_key)]
#[pyfunction]
#[pyo3(name = "notify_get_export_key", signature = (notify, len, flag, /))]
pub fn rt_notify_get_export_key(notify: usize, len: usize, flag: u64) -> PyResult<(String, aclError)> {
    let mut key = key_buffer(len)?;
    // SAFETY: a buffer of the size that is told.
    let ret = unsafe { (table().aclrtNotifyGetExportKey)(notify as _, key.as_mut_ptr(), key.len(), flag) };
    Ok((field(&key), ret))
}

#[doc = help!(rt_notify_set_import_pid)]
#[pyfunction]
#[pyo3(name = "notify_set_import_pid", signature = (notify, pids, /))]
pub fn rt_notify_set_import_pid(notify: usize, mut pids: Vec<i32>) -> aclError {
    // SAFETY: an array of the size that is told.
    unsafe { (table().aclrtNotifySetImportPid)(notify as _, pids.as_mut_ptr(), pids.len()) }
}
