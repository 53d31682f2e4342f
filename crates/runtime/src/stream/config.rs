//! Chapters 24 and 25-03: creating a stream from a configuration. The structure is public, so it is real memory that the
//! program may read; ours to free, and known by its address.

use std::collections::HashMap;
use std::ffi::c_void;

use ascendcl_sys as sys;
use parking_lot::Mutex;
use sys::aclrtStreamConfigHandle as Config;

use crate::error::Result;
use crate::process::Runtime;
use crate::{bytes, refuse};

/// Live configurations by address.
#[derive(Default)]
pub struct Configs(Mutex<HashMap<usize, Box<Place>>>);

/// Memory that both sides write: never borrowed, only copied from and to.
struct Place(std::cell::UnsafeCell<Config>);

// SAFETY: the cell is reached only by address, through `bytes`, under the table's lock.
unsafe impl Send for Place {}

/// aclrtCreateStreamConfigHandle: all attributes 0 (#02).
pub fn create(rt: &Runtime) -> *mut Config {
    let empty = Config { workptr: std::ptr::null_mut(), workSize: 0, flag: 0, priority: 0 };
    let place = Box::new(Place(std::cell::UnsafeCell::new(empty)));
    let address = place.0.get();
    rt.stream_configs.0.lock().insert(address as usize, place);
    address
}

/// aclrtDestroyStreamConfigHandle.
pub fn destroy(rt: &Runtime, address: usize) -> Result<()> {
    match rt.stream_configs.0.lock().remove(&address) {
        Some(_) => Ok(()),
        None => no_config(address),
    }
}

/// aclrtSetStreamConfigOpt: the checked number of bytes of `value` become the attribute.
pub fn set(rt: &Runtime, address: usize, attribute: u32, value: *const c_void, size: usize) -> Result<()> {
    let configs = rt.stream_configs.0.lock();
    let mut config = read(&configs, address)?;
    let wanted = match attribute {
        sys::ACL_RT_STREAM_PRIORITY => 4,
        sys::ACL_RT_STREAM_FLAG | sys::ACL_RT_STREAM_WORK_SIZE | sys::ACL_RT_STREAM_WORK_ADDR_PTR => 8,
        _ => {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                "aclrtSetStreamConfigOpt#03",
                "attr: {}",
                sys::enums::aclrtStreamConfigAttr.show(attribute)
            );
        }
    };
    if size != wanted {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtSetStreamConfigOpt#04",
            "valueSize: {size} bytes, {} has {wanted}",
            sys::enums::aclrtStreamConfigAttr.show(attribute)
        );
    }
    let unmapped = |_| {
        crate::Error::new(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtSetStreamConfigOpt#02",
            format!("attrValue: no memory at {value:p}"),
        )
    };
    if attribute == sys::ACL_RT_STREAM_PRIORITY {
        let priority: u32 = bytes::read(value as usize).map_err(unmapped)?;
        if priority > 7 {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                "aclrtSetStreamConfigOpt#05",
                "attrValue: priority {priority} is not in [0, 7]"
            );
        }
        config.priority = priority;
    } else {
        let word: usize = bytes::read(value as usize).map_err(unmapped)?;
        match attribute {
            sys::ACL_RT_STREAM_FLAG => config.flag = word,
            sys::ACL_RT_STREAM_WORK_SIZE => config.workSize = word,
            _ => config.workptr = word as *mut c_void,
        }
    }
    bytes::write(address, config).or_else(|_| no_config(address))
}

/// aclrtCreateStreamV2: without a configuration, the default one (#02).
pub fn create_stream(rt: &Runtime, address: Option<usize>) -> Result<u64> {
    let (priority, flags) = match address {
        None => (0, 0),
        Some(address) => {
            let config = read(&rt.stream_configs.0.lock(), address)?;
            (config.priority, config.flag as u32)
        }
    };
    super::create(rt, priority, flags)
}

fn read(configs: &HashMap<usize, Box<Place>>, address: usize) -> Result<Config> {
    if !configs.contains_key(&address) {
        return no_config(address);
    }
    bytes::read(address).or_else(|_| no_config(address))
}

#[cold]
fn no_config<T>(address: usize) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_INVALID_PARAM,
        "ours: not a configuration",
        "handle: {address:#x} was not made by aclrtCreateStreamConfigHandle, or was destroyed"
    )
}
