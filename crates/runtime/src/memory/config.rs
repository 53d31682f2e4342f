//! `aclrtMallocConfig`: attributes of an allocation. Source: 25-04 Structs, aclrtMallocAttrValue.

use ascendcl_sys as sys;

use crate::error::Result;
use crate::process::Runtime;
use crate::refuse;

/// The attributes that a program gave: type and raw value (the union's first 32 bits).
pub type Config = [(u32, u32)];

/// What they ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Module that the memory is counted for; 0: none named.
    pub module: u16,
    /// VA flag.
    pub same_address: bool,
}

/// Reads the attributes for an allocation on `device` (the current one, if there is one). ours: with two of one type the last
/// counts; the VA flag is for host memory only.
pub fn read(
    rt: &Runtime,
    cfg: &Config,
    device: Option<u16>,
    host: bool,
    unparsable: &'static str,
    wrong_device: &'static str,
) -> Result<Wish> {
    let mut wish = Wish::default();
    for &(kind, value) in cfg {
        match kind {
            sys::ACL_RT_MEM_ATTR_MODULE_ID => wish.module = value as u16,
            sys::ACL_RT_MEM_ATTR_DEVICE_ID if device.map(u32::from) == Some(value) => {}
            sys::ACL_RT_MEM_ATTR_DEVICE_ID => {
                let current = device.map_or("none".to_owned(), |device| device.to_string());
                return refuse!(
                    sys::ACL_ERROR_RT_PARAM_INVALID,
                    wrong_device,
                    "cfg: deviceId is {value}, the current device is {current}"
                );
            }
            sys::ACL_RT_MEM_ATTR_VA_FLAG if host && value <= 1 => wish.same_address = value == 1,
            sys::ACL_RT_MEM_ATTR_VA_FLAG => {
                return refuse!(
                    sys::ACL_ERROR_RT_PARAM_INVALID,
                    unparsable,
                    "cfg: vaFlag is {value}; it is 0 or 1, and for host memory only"
                );
            }
            other => {
                return refuse!(
                    sys::ACL_ERROR_RT_PARAM_INVALID,
                    unparsable,
                    "cfg: attribute {} is none of MODULE_ID (1), DEVICE_ID (2), VA_FLAG (3)",
                    sys::enums::aclrtMallocAttrType.show(other)
                );
            }
        }
    }
    if wish.same_address && !rt.profile.product.va_flag {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtMallocHostWithCfg#05",
            "cfg: vaFlag 1 is not supported on {}",
            rt.profile.product.key
        );
    }
    Ok(wish)
}
