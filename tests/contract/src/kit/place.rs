//! What is known of memory: its pages, how much of it may be touched, where it is.

use std::ffi::c_void;

use ascendcl_sys as sys;

use super::{has, same};

/// Bytes of a huge page.
pub const HUGE: usize = 2 << 20;

/// (free, total) bytes of the current device, as an attribute asks for them.
#[track_caller]
pub fn info(attr: u32) -> (usize, usize) {
    let (mut free, mut total) = (1, 1);
    ok!(aclrtGetMemInfo(attr, &mut free, &mut total));
    (free, total)
}

/// Free bytes of the current device.
#[track_caller]
pub fn free_bytes() -> usize {
    info(sys::ACL_MEM_NORMAL).0
}

/// What `body` gives, and the bytes of device memory that it takes.
#[track_caller]
pub fn taken<T>(body: impl FnOnce() -> T) -> (T, usize) {
    let before = free_bytes();
    let value = body();
    (value, before - free_bytes())
}

/// Asserts that `bytes` bytes may be touched from an address on, and not one more.
#[track_caller]
pub fn assert_usable(start: *mut c_void, bytes: usize) {
    same("a fill of all", acl!(aclrtMemset(start, bytes, 0x5a, bytes)), 0);
    let beyond = acl!(aclrtMemset(start, bytes + 1, 0x5a, bytes + 1));
    same(&format!("a fill of more than {bytes}"), beyond, sys::ACL_ERROR_RT_PARAM_INVALID);
}

/// What aclrtPointerGetAttributes says: (location type, device, page size in bytes).
#[track_caller]
pub fn attributes(pointer: *const c_void) -> (u32, u32, usize) {
    let mut said = sys::aclrtPtrAttributes {
        location: sys::aclrtMemLocation { id: 77, r#type: 77 },
        pageSize: 77,
        rsv: [0; 4],
    };
    ok!(aclrtPointerGetAttributes(pointer, &mut said));
    (said.location.r#type, said.location.id, said.pageSize as usize)
}

/// Whether a block whose allocation took `taken` bytes is on huge pages; not for sizes just below whole huge pages.
#[track_caller]
pub fn is_huge(pointer: *const c_void, taken: usize) -> bool {
    let huge = taken.is_multiple_of(HUGE);
    if has("aclrtPointerGetAttributes") {
        let page = attributes(pointer).2;
        assert_eq!(page == HUGE, huge, "pages of {page} bytes, {taken} bytes taken");
    }
    huge
}
