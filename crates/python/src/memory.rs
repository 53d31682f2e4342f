//! Chapter 11: allocation with configurations and properties, what an address is, sharing between processes.

use std::ffi::{CString, c_char};
use std::ptr;

use ascendcl_sys::{
    aclError, aclrtMallocAttrValue, aclrtMallocAttribute, aclrtMallocConfig, aclrtMemLocation,
    aclrtMemUceInfo, aclrtPhysicalMemProp, aclrtPtrAttributes,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::dict;
use crate::library::table;
use crate::text::field;

/// A configuration that lives during a call.
struct Config(Vec<aclrtMallocAttribute>);

impl Config {
    /// From a dict with `attrs` and `numAttrs`; {} is none.
    fn read(cfg: &Bound<'_, PyDict>) -> PyResult<Option<Self>> {
        if cfg.is_empty() {
            return Ok(None);
        }
        let attrs = dict::get(cfg, "attrs")?.cast_into::<PyList>()?;
        let mut all = Vec::new();
        for item in &attrs {
            let item = item.cast_into::<PyDict>()?;
            let value: u64 = dict::get(&item, "value")?.extract()?;
            all.push(aclrtMallocAttribute {
                attr: dict::get(&item, "attr")?.extract()?,
                // Every member of the union begins with the low bytes.
                value: aclrtMallocAttrValue { rsv: value.to_le_bytes() },
            });
        }
        let count: usize = dict::get(cfg, "numAttrs")?.extract()?;
        if count > all.len() {
            // The library would read behind the list.
            return Err(PyValueError::new_err(format!("numAttrs is {count}, but attrs has {}", all.len())));
        }
        all.truncate(count);
        Ok(Some(Self(all)))
    }
}

/// Makes the C structure of a configuration, and calls with it, or with NULL.
fn with_config<R>(cfg: &Bound<'_, PyDict>, call: impl FnOnce(*mut aclrtMallocConfig) -> R) -> PyResult<R> {
    Ok(match Config::read(cfg)? {
        None => call(ptr::null_mut()),
        Some(mut config) => {
            call(&mut aclrtMallocConfig { attrs: config.0.as_mut_ptr(), numAttrs: config.0.len() })
        }
    })
}

#[doc = help!(rt_malloc_with_cfg)]
#[pyfunction]
#[pyo3(name = "malloc_with_cfg", signature = (size, policy, cfg, /))]
pub fn rt_malloc_with_cfg(size: usize, policy: i32, cfg: &Bound<'_, PyDict>) -> PyResult<(usize, aclError)> {
    let mut address = ptr::null_mut();
    // SAFETY: a local of its type; the configuration lives during the call.
    let ret = with_config(cfg, |cfg| unsafe {
        (table().aclrtMallocWithCfg)(&mut address, size, policy as _, cfg)
    })?;
    Ok((address as usize, ret))
}

#[doc = help!(rt_malloc_for_task_scheduler)]
#[pyfunction]
#[pyo3(name = "malloc_for_task_scheduler", signature = (size, policy, cfg, /))]
pub fn rt_malloc_for_task_scheduler(
    size: usize,
    policy: i32,
    cfg: &Bound<'_, PyDict>,
) -> PyResult<(usize, aclError)> {
    let mut address = ptr::null_mut();
    // SAFETY: a local of its type; the configuration lives during the call.
    let ret = with_config(cfg, |cfg| unsafe {
        (table().aclrtMallocForTaskScheduler)(&mut address, size, policy as _, cfg)
    })?;
    Ok((address as usize, ret))
}

#[doc = help!(rt_malloc_host_with_cfg)]
#[pyfunction]
#[pyo3(name = "malloc_host_with_cfg", signature = (size, cfg, /))]
pub fn rt_malloc_host_with_cfg(size: usize, cfg: &Bound<'_, PyDict>) -> PyResult<(usize, aclError)> {
    let mut address = ptr::null_mut();
    // SAFETY: a local of its type; the configuration lives during the call.
    let ret =
        with_config(cfg, |cfg| unsafe { (table().aclrtMallocHostWithCfg)(&mut address, size as u64, cfg) })?;
    Ok((address as usize, ret))
}

/// `{"id": …, "type": …}`
fn location(dict: &Bound<'_, PyDict>) -> PyResult<aclrtMemLocation> {
    Ok(aclrtMemLocation { id: dict::number(dict, "id")?, r#type: dict::number(dict, "type")? })
}

fn property(prop: &Bound<'_, PyDict>) -> PyResult<aclrtPhysicalMemProp> {
    Ok(aclrtPhysicalMemProp {
        handleType: dict::number(prop, "handleType")?,
        allocationType: dict::number(prop, "allocationType")?,
        memAttr: dict::number(prop, "memAttr")?,
        location: location(dict::get(prop, "location")?.cast::<PyDict>()?)?,
        reserve: dict::number(prop, "reserve")?,
    })
}

#[doc = help!(rt_malloc_physical)]
#[pyfunction]
#[pyo3(name = "malloc_physical", signature = (size, prop, flags, /))]
pub fn rt_malloc_physical(size: usize, prop: &Bound<'_, PyDict>, flags: u64) -> PyResult<(usize, aclError)> {
    let prop = property(prop)?;
    let mut handle = ptr::null_mut();
    // SAFETY: locals of their types.
    let ret = unsafe { (table().aclrtMallocPhysical)(&mut handle, size, &prop, flags) };
    Ok((handle as usize, ret))
}

#[doc = help!(rt_mem_get_allocation_granularity)]
#[pyfunction]
#[pyo3(name = "mem_get_allocation_granularity", signature = (prop, option, /))]
pub fn rt_mem_get_allocation_granularity(
    prop: &Bound<'_, PyDict>,
    option: i32,
) -> PyResult<(usize, aclError)> {
    let mut prop = property(prop)?;
    let mut granularity = 0;
    // SAFETY: locals of their types.
    let ret = unsafe { (table().aclrtMemGetAllocationGranularity)(&mut prop, option as _, &mut granularity) };
    Ok((granularity, ret))
}

#[doc = help!(rt_pointer_get_attributes)]
#[pyfunction]
#[pyo3(name = "pointer_get_attributes", signature = (ptr, /))]
pub fn rt_pointer_get_attributes(py: Python<'_>, ptr: usize) -> PyResult<(Bound<'_, PyDict>, aclError)> {
    // SAFETY: numbers may be zero.
    let mut attributes: aclrtPtrAttributes = unsafe { std::mem::zeroed() };
    // SAFETY: the address is only looked up; a local of its type.
    let ret = unsafe { (table().aclrtPointerGetAttributes)(ptr as _, &mut attributes) };
    let dict = PyDict::new(py);
    if ret == 0 {
        let location = PyDict::new(py);
        location.set_item("id", attributes.location.id)?;
        location.set_item("type", attributes.location.r#type)?;
        dict.set_item("location", location)?;
        dict.set_item("page_size", attributes.pageSize)?;
        dict.set_item("rsv", attributes.rsv.to_vec())?;
    }
    Ok((dict, ret))
}

/// Most memory errors that are asked for at once. ours: a bound on what the list may take.
const MOST_ERRORS: u32 = 1 << 16;

fn no_error() -> aclrtMemUceInfo {
    aclrtMemUceInfo { addr: ptr::null_mut(), len: 0, reserved: [0; 14] }
}

#[doc = help!(rt_get_mem_uce_info)]
#[pyfunction]
#[pyo3(name = "get_mem_uce_info", signature = (device_id, array_size, /))]
pub fn rt_get_mem_uce_info(
    py: Python<'_>,
    device_id: i32,
    array_size: u32,
) -> PyResult<(Bound<'_, PyList>, aclError)> {
    if array_size > MOST_ERRORS {
        return Err(PyValueError::new_err(format!("array_size is {array_size}, at most {MOST_ERRORS}")));
    }
    let mut errors = vec![no_error(); array_size as usize];
    let mut count = 0;
    // SAFETY: an array of the size that is told, and a local of its type.
    let ret =
        unsafe { (table().aclrtGetMemUceInfo)(device_id, errors.as_mut_ptr(), errors.len(), &mut count) };
    let list = PyList::empty(py);
    if ret == 0 {
        for error in errors.iter().take(count) {
            let dict = PyDict::new(py);
            dict.set_item("addr", error.addr as usize)?;
            dict.set_item("len", error.len)?;
            dict.set_item("reserved", error.reserved.to_vec())?;
            list.append(dict)?;
        }
    }
    Ok((list, ret))
}

#[doc = help!(rt_mem_uce_repair)]
#[pyfunction]
#[pyo3(name = "mem_uce_repair", signature = (device_id, infos, /))]
pub fn rt_mem_uce_repair(device_id: i32, infos: &Bound<'_, PyList>) -> PyResult<aclError> {
    let mut errors = Vec::new();
    for info in infos {
        let info = info.cast_into::<PyDict>()?;
        errors.push(aclrtMemUceInfo {
            addr: dict::get(&info, "addr")?.extract::<usize>()? as _,
            len: dict::get(&info, "len")?.extract()?,
            reserved: match info.get_item("reserved")? {
                Some(words) => words.extract()?,
                None => no_error().reserved,
            },
        });
    }
    // SAFETY: an array of the size that is told.
    Ok(unsafe { (table().aclrtMemUceRepair)(device_id, errors.as_mut_ptr(), errors.len()) })
}

/// Room for a key of `len` characters.
pub fn key_buffer(len: usize) -> PyResult<Vec<c_char>> {
    // As the binding that this module replaces (pyacl.csv).
    if len >= 1024 {
        return Err(PyValueError::new_err(format!("len is {len}, but must be below 1024")));
    }
    Ok(vec![0; len])
}

#[doc = help!(rt_ipc_mem_get_export_key)]
#[pyfunction]
#[pyo3(name = "ipc_mem_get_export_key", signature = (ptr, size, len, flag, /))]
pub fn rt_ipc_mem_get_export_key(
    ptr: usize,
    size: usize,
    len: usize,
    flag: u64,
) -> PyResult<(String, aclError)> {
    let mut key = key_buffer(len)?;
    // SAFETY: the address is looked up first; a buffer of the size that is told.
    let ret = unsafe { (table().aclrtIpcMemGetExportKey)(ptr as _, size, key.as_mut_ptr(), key.len(), flag) };
    Ok((field(&key), ret))
}

#[doc = help!(rt_ipc_mem_set_import_pid)]
#[pyfunction]
#[pyo3(name = "ipc_mem_set_import_pid", signature = (key, pids, /))]
pub fn rt_ipc_mem_set_import_pid(key: CString, mut pids: Vec<i32>) -> aclError {
    // SAFETY: a text, and an array of the size that is told.
    unsafe { (table().aclrtIpcMemSetImportPid)(key.as_ptr(), pids.as_mut_ptr(), pids.len()) }
}

#[doc = help!(rt_mem_set_pid_to_shareable_handle)]
#[pyfunction]
#[pyo3(name = "mem_set_pid_to_shareable_handle", signature = (shareable, pids, /))]
pub fn rt_mem_set_pid_to_shareable_handle(shareable: u64, mut pids: Vec<i32>) -> aclError {
    // SAFETY: an array of the size that is told.
    unsafe { (table().aclrtMemSetPidToShareableHandle)(shareable, pids.as_mut_ptr(), pids.len()) }
}

#[doc = help!(rt_set_memcpy_desc)]
#[pyfunction]
#[pyo3(name = "set_memcpy_desc", signature = (desc, kind, src, dst, count, config, /))]
pub fn rt_set_memcpy_desc(
    desc: usize,
    kind: i32,
    src: usize,
    dst: usize,
    count: usize,
    config: usize,
) -> (usize, aclError) {
    // SAFETY: addresses are numbers, which the library checks itself.
    let ret =
        unsafe { (table().aclrtSetMemcpyDesc)(desc as _, kind as _, src as _, dst as _, count, config as _) };
    (desc, ret)
}
