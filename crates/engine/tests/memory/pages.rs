//! Pages with protected neighbours, for the memory tests.

#![allow(dead_code, reason = "not every test file uses every helper")]

use std::ptr;

pub const PAGE: usize = 4096;

/// A mapping of whole pages, unmapped at the end.
pub struct Pages {
    pub base: usize,
    pub len: usize,
}

impl Pages {
    /// Zeroed private pages.
    pub fn new(count: usize) -> Pages {
        Self::map(count, -1, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)
    }

    /// Pages of a file, shared.
    pub fn of_file(count: usize, file: i32) -> Pages {
        Self::map(count, file, libc::MAP_SHARED)
    }

    fn map(count: usize, file: i32, flags: i32) -> Pages {
        let len = count * PAGE;
        // SAFETY: a new mapping.
        let base =
            unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, file, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        Pages { base: base as usize, len }
    }

    /// Takes all access to one page away.
    pub fn close(&self, page: usize) {
        self.protect(page, libc::PROT_NONE);
    }

    /// Makes one page read-only.
    pub fn freeze(&self, page: usize) {
        self.protect(page, libc::PROT_READ);
    }

    fn protect(&self, page: usize, access: i32) {
        // SAFETY: a page of this mapping.
        let done = unsafe { libc::mprotect((self.base + page * PAGE) as *mut libc::c_void, PAGE, access) };
        assert_eq!(done, 0);
    }

    /// A page's first address.
    pub fn page(&self, page: usize) -> usize {
        self.base + page * PAGE
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this mapping.
        unsafe { libc::munmap(self.base as *mut libc::c_void, self.len) };
    }
}

/// The bytes at an address.
pub fn read(addr: usize, len: usize) -> Vec<u8> {
    // SAFETY: the tests ask for mapped bytes only.
    unsafe { std::slice::from_raw_parts(addr as *const u8, len) }.to_vec()
}

/// Writes bytes at an address.
pub fn write(addr: usize, bytes: &[u8]) {
    // SAFETY: the tests ask for mapped bytes only.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), addr as *mut u8, bytes.len()) };
}
