//! Data buffers: chapter 25-03. A pair of address and size that belongs to the program; the handle is a number, checked at
//! every call.

use ascendcl_sys as sys;
use parking_lot::Mutex;

use crate::error::Result;
use crate::handle::{Kind, Pin, describe};
use crate::process::Runtime;
use crate::{observer, refuse};

/// What a data buffer describes: address and size in bytes, neither of them checked (aclCreateDataBuffer#02).
pub struct DataBuffer(Mutex<(usize, usize)>);

/// aclCreateDataBuffer (#01).
pub fn create(rt: &Runtime, addr: usize, size: usize) -> u64 {
    let handle = rt.buffers.insert(DataBuffer(Mutex::new((addr, size))));
    observer::tell(|o| o.born(Kind::DataBuffer, handle));
    handle
}

fn find<'a>(rt: &'a Runtime, handle: u64, rule: &'static str) -> Result<Pin<'a, DataBuffer>> {
    match rt.buffers.pin(handle) {
        Some(buffer) => Ok(buffer),
        // ours: the rows name the code for a null handle; a stale or invented one gets the same.
        None => {
            let what = describe(handle, Kind::DataBuffer);
            refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "dataBuffer: {what}")
        }
    }
}

/// aclDestroyDataBuffer (#02: the memory stays).
pub fn destroy(rt: &Runtime, handle: u64) -> Result<()> {
    find(rt, handle, "aclDestroyDataBuffer#01")?;
    if rt.buffers.remove(handle).is_some() {
        observer::tell(|o| o.died(Kind::DataBuffer, handle));
    }
    Ok(())
}

/// aclUpdateDataBuffer (#02).
pub fn update(rt: &Runtime, handle: u64, addr: usize, size: usize) -> Result<()> {
    *find(rt, handle, "aclUpdateDataBuffer#01")?.0.lock() = (addr, size);
    Ok(())
}

/// aclGetDataBufferAddr, aclGetDataBufferSize, aclGetDataBufferSizeV2: address and size.
pub fn get(rt: &Runtime, handle: u64, rule: &'static str) -> Result<(usize, usize)> {
    let buffer = find(rt, handle, rule)?;
    let pair = *buffer.0.lock();
    Ok(pair)
}
