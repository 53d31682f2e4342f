//! Managed memory.

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl_sys as sys;

use super::at;

/// Bytes of a managed page.
pub const PAGE: usize = 2 << 20;
/// Where the documents say that managed memory is.
pub const WINDOW: std::ops::Range<usize> = 0x900_0000_0000..0x900_0000_0000 + (3 << 40);

/// Managed memory, freed at the end.
pub struct Managed {
    at: *mut c_void,
    bytes: usize,
}

impl Managed {
    /// A new block.
    #[track_caller]
    pub fn new(bytes: usize) -> Managed {
        let mut at = null_mut();
        ok!(aclrtMemAllocManaged(&mut at, bytes as u64, sys::ACL_RT_MEM_ATTACH_GLOBAL));
        Managed { at, bytes }
    }

    /// The address.
    pub fn p(&self) -> *mut c_void {
        self.at
    }

    /// The address `offset` bytes on.
    pub fn after(&self, offset: usize) -> *mut c_void {
        at(self.at as usize + offset)
    }

    /// The bytes, as the host sees them.
    pub fn bytes(&mut self) -> &mut [u8] {
        unsafe { std::slice::from_raw_parts_mut(self.at.cast(), self.bytes) }
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        // Freed already by the row, perhaps.
        acl!(aclrtFree(self.at));
    }
}

/// An address of managed memory that was freed.
#[track_caller]
pub fn stale_managed() -> *mut c_void {
    let block = Managed::new(PAGE);
    ok!(aclrtFree(block.at));
    block.at
}

/// A place by its type; the id says nothing for the types without one.
pub fn place(kind: sys::aclrtMemManagedLocationType, id: i32) -> sys::aclrtMemManagedLocation {
    sys::aclrtMemManagedLocation { r#type: kind, id }
}

/// A device as a place.
pub fn at_device(id: i32) -> sys::aclrtMemManagedLocation {
    place(sys::ACL_MEM_LOCATIONTYPE_DEVICE, id)
}

/// The host as a place.
pub fn at_host() -> sys::aclrtMemManagedLocation {
    place(sys::ACL_MEM_LOCATIONTYPE_HOST, -99)
}

/// What aclrtMemManagedGetAttr says of a range.
#[track_caller]
pub fn managed_attr(attribute: sys::aclrtMemManagedRangeAttribute, at: *const c_void, bytes: usize) -> i32 {
    let mut value = -77_i32;
    ok!(aclrtMemManagedGetAttr(attribute, at, bytes, (&raw mut value).cast(), 4));
    value
}
