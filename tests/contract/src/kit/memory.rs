//! Memory of every kind, released at the end.

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl_sys as sys;

use super::at;

/// What a piece of memory is, and so how it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Device,
    Pinned,
    Pageable,
}

/// A piece of memory.
pub struct Memory {
    at: *mut c_void,
    /// What the allocation gave.
    start: *mut c_void,
    bytes: usize,
    kind: Kind,
}

/// Device memory of the current device.
#[track_caller]
pub fn device(bytes: usize) -> Memory {
    let mut at = null_mut();
    ok!(aclrtMalloc(&mut at, bytes, sys::ACL_MEM_MALLOC_NORMAL_ONLY));
    Memory { at, start: at, bytes, kind: Kind::Device }
}

/// Device memory with these bytes.
#[track_caller]
pub fn device_with(bytes: &[u8]) -> Memory {
    let memory = device(bytes.len());
    memory.put(bytes);
    memory
}

/// Pinned host memory, 64-byte aligned, which is the caller's job in the RC form (aclrtMallocHost#07).
#[track_caller]
pub fn pinned(bytes: usize) -> Memory {
    let mut start = null_mut();
    ok!(aclrtMallocHost(&mut start, bytes));
    if (start as usize).is_multiple_of(64) {
        return Memory { at: start, start, bytes, kind: Kind::Pinned };
    }
    ok!(aclrtFreeHost(start));
    ok!(aclrtMallocHost(&mut start, bytes + 63));
    Memory { at: at((start as usize).next_multiple_of(64)), start, bytes, kind: Kind::Pinned }
}

/// Pinned host memory with these bytes.
#[track_caller]
pub fn pinned_with(bytes: &[u8]) -> Memory {
    let memory = pinned(bytes.len());
    memory.put(bytes);
    memory
}

/// Memory of the program, 64-byte aligned.
pub fn pageable(bytes: usize) -> Memory {
    let at = unsafe { libc::aligned_alloc(64, bytes.next_multiple_of(64)) };
    unsafe { at.cast::<u8>().write_bytes(0, bytes) };
    Memory { at, start: at, bytes, kind: Kind::Pageable }
}

/// Memory of the program with these bytes.
pub fn pageable_with(bytes: &[u8]) -> Memory {
    let memory = pageable(bytes.len());
    memory.put(bytes);
    memory
}

impl Memory {
    /// The address.
    pub fn p(&self) -> *mut c_void {
        self.at
    }

    /// The address `offset` bytes on.
    pub fn after(&self, offset: usize) -> *mut c_void {
        at(self.at as usize + offset)
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Writes bytes from the start on.
    #[track_caller]
    pub fn put(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.bytes);
        match self.kind {
            Kind::Device => {
                let (from, count) = (bytes.as_ptr().cast(), bytes.len());
                ok!(aclrtMemcpy(self.at, self.bytes, from, count, sys::ACL_MEMCPY_HOST_TO_DEVICE));
            }
            _ => unsafe { self.at.cast::<u8>().copy_from(bytes.as_ptr(), bytes.len()) },
        }
    }

    /// All bytes.
    #[track_caller]
    pub fn get(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes];
        match self.kind {
            Kind::Device => {
                let to = bytes.as_mut_ptr().cast();
                ok!(aclrtMemcpy(to, self.bytes, self.at, self.bytes, sys::ACL_MEMCPY_DEVICE_TO_HOST));
            }
            _ => unsafe { self.at.cast::<u8>().copy_to(bytes.as_mut_ptr(), self.bytes) },
        }
        bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        match self.kind {
            // Freed already by the row, perhaps.
            Kind::Device => {
                acl!(aclrtFree(self.start));
            }
            Kind::Pinned => {
                acl!(aclrtFreeHost(self.start));
            }
            Kind::Pageable => unsafe { libc::free(self.start) },
        }
    }
}

/// Bytes that differ from place to place and from seed to seed.
pub fn pattern(count: usize, seed: u8) -> Vec<u8> {
    (0..count).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

/// An address at which nothing can be read or written, a page with nothing behind it either.
pub fn unmapped() -> *mut c_void {
    let size = 1 << 16;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // Never given back, so that nobody else gets it.
    let page = unsafe { libc::mmap(null_mut(), size, libc::PROT_NONE, flags, -1, 0) };
    assert!(page != libc::MAP_FAILED);
    page
}
