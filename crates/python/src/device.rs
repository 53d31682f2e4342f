//! Chapter 4: devices.

use ascendcl_sys::{aclError, aclrtUtilizationInfo, aclrtUuid};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::library::table;

#[doc = help!(rt_get_device_utilization_rate)]
#[pyfunction]
#[pyo3(name = "get_device_utilization_rate", signature = (device_id, /))]
pub fn rt_get_device_utilization_rate(
    py: Python<'_>,
    device_id: i32,
) -> PyResult<(Bound<'_, PyDict>, aclError)> {
    // SAFETY: numbers and a pointer may be zero.
    let mut info: aclrtUtilizationInfo = unsafe { std::mem::zeroed() };
    // SAFETY: a local of its type.
    let ret = unsafe { (table().aclrtGetDeviceUtilizationRate)(device_id, &mut info) };
    let dict = PyDict::new(py);
    if ret == 0 {
        dict.set_item("cube_utilization", info.cubeUtilization)?;
        dict.set_item("vector_utilization", info.vectorUtilization)?;
        dict.set_item("aicpu_utilization", info.aicpuUtilization)?;
        dict.set_item("memory_utilization", info.memoryUtilization)?;
        dict.set_item("utilization_extend", info.utilizationExtend as usize)?;
    }
    Ok((dict, ret))
}

#[doc = help!(rt_device_get_uuid)]
#[pyfunction]
#[pyo3(name = "device_get_uuid", signature = (device_id, /))]
pub fn rt_device_get_uuid(py: Python<'_>, device_id: i32) -> PyResult<(Bound<'_, PyDict>, aclError)> {
    let mut uuid = aclrtUuid { bytes: [0; 16] };
    // SAFETY: a local of its type.
    let ret = unsafe { (table().aclrtDeviceGetUuid)(device_id, &mut uuid) };
    let dict = PyDict::new(py);
    if ret == 0 {
        let bytes: Vec<u32> = uuid.bytes.iter().map(|byte| u32::from(*byte as u8)).collect();
        dict.set_item("bytes", bytes)?;
    }
    Ok((dict, ret))
}

#[doc = help!(rt_get_primary_ctx_state)]
#[pyfunction]
#[pyo3(name = "get_primary_ctx_state", signature = (device_id, /))]
pub fn rt_get_primary_ctx_state(device_id: i32) -> (i32, usize, aclError) {
    let mut active = 0;
    // SAFETY: a local of its type, and NULL for what is reserved.
    let ret = unsafe { (table().aclrtGetPrimaryCtxState)(device_id, std::ptr::null_mut(), &mut active) };
    (active, 0, ret)
}
