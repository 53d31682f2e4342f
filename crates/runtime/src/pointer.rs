//! What an address is: aclrtPointerGetAttributes and aclrtMemP2PMap (chapter 11-05), aclrtMemGetAddressRange (chapter 11-04).

use ascendcl_sys as sys;
use toprope_engine::memory::Owner;

use crate::error::Result;
use crate::memory::{self, ledger, place};
use crate::process::Runtime;
use crate::{device, refuse};

/// aclrtPointerGetAttributes. An address that the runtime does not know is no error (#05).
pub fn get_attributes(rt: &Runtime, addr: usize) -> Result<sys::aclrtPtrAttributes> {
    let block = rt.space.find(addr);
    let (kind, id) = match block.map(|block| block.owner) {
        None => (sys::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0),
        Some(Owner::Device(device) | Owner::Image(device)) => {
            (sys::ACL_MEM_LOCATION_TYPE_DEVICE, device.into())
        }
        // aclrtPointerGetAttributes#04: the id says nothing. ours: registered memory is known, so it is not "unregistered".
        Some(Owner::Pinned | Owner::Registered) => (sys::ACL_MEM_LOCATION_TYPE_HOST, 0),
        // aclrtPointerGetAttributes#06: only products with managed memory ever have such a block.
        Some(Owner::Managed) => (sys::ACL_MEM_LOCATION_TYPE_MANAGED, 0),
        Some(Owner::Alias) => return alias(addr, block.map(|block| block.tag)),
    };
    Ok(sys::aclrtPtrAttributes {
        location: sys::aclrtMemLocation { id, r#type: kind },
        // aclrtPointerGetAttributes#07: in bytes. ours: 0 for memory that the runtime does not know.
        pageSize: block.map_or(0, |block| ledger::page_size(rt, block.page) as u32),
        rsv: [0; 4],
    })
}

#[cold]
fn alias<T>(addr: usize, target: Option<u64>) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        "aclrtPointerGetAttributes#03",
        "ptr: {addr:#x} is the device's address of host memory registered at {:#x}; it is for kernels only",
        target.unwrap_or_default()
    )
}

/// aclrtMemGetAddressRange: start and size of the block that contains an address (#07).
pub fn address_range(rt: &Runtime, addr: usize) -> Result<(usize, usize)> {
    // aclrtMemGetAddressRange#04, #05
    let block = rt.space.find(addr).filter(|block| {
        matches!(block.owner, Owner::Device(_) | Owner::Image(_) | Owner::Pinned | Owner::Managed)
    });
    match block.map(memory::held).filter(|block| addr >= block.base) {
        Some(block) => Ok((block.base, block.size)),
        None => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "ours: memory of the runtime",
            "ptr: {addr:#x} is in no live block of aclrtMalloc, aclrtMallocHost or aclrtMemAllocManaged"
        ),
    }
}

/// aclrtMemP2PMap: checks that a device may use another one's memory. Nothing else is left to do: here every device reaches
/// the memory that it has access to without a page table of its own.
pub fn p2p_map(rt: &Runtime, addr: usize, size: usize, user: i32, flags: u64) -> Result<()> {
    if size == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, "aclrtMemP2PMap#02", "size: must not be 0");
    }
    if flags != 0 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemP2PMap#03",
            "flags: {flags:#x}; is reserved and must be 0"
        );
    }
    let user = device::resolve(rt, user, "aclrtMemP2PMap#05")?.id;
    let span = place::locate(rt, &"devPtr", addr, size)?;
    let Some(owner) = span.place().device() else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "ours: memory of a device",
            "devPtr: {addr:#x} is {}",
            span.describe()
        );
    };
    // The code is ours.
    if owner != user && !device::peer::peer_enabled(rt, user, owner) {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtMemP2PMap#04",
            "dstDevId: device {user} has no access to device {owner}, where devPtr is; \
             call aclrtDeviceEnablePeerAccess({owner}, 0) on it first"
        );
    }
    Ok(())
}
