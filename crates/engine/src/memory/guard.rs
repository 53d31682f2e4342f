//! The key that keeps host code out of device pages, and the line that is written when host code tries.

use super::region::errno;
use super::space::Map;
use super::{Block, Owner};
use crate::fault::arch;
use crate::sync::plain::{AtomicPtr, AtomicUsize, Ordering};
use std::fmt::Write;
use std::ptr;

/// A memory protection key of the processor. Threads have no access to its pages until they open it: that is how the kernel
/// starts them, and how the key is allocated. A thread inherits what its creator had open.
pub(super) struct Key(u32);

impl Key {
    /// A key, if processor and system have one left.
    pub fn new() -> Option<Key> {
        const DISABLE_ACCESS: usize = 1;
        // SAFETY: allocates a number; the calling thread's rights to it start closed.
        let key = unsafe { libc::syscall(libc::SYS_pkey_alloc, 0usize, DISABLE_ACCESS) };
        u32::try_from(key).ok().filter(|&key| key < 16).map(Key)
    }

    /// Puts a part of a mapping under the key, with an access (PROT_…) that the key narrows. A page without access is told
    /// apart, too: the kernel asks for the key first. Fails with an errno.
    pub fn guard(&self, base: usize, bytes: usize, access: i32) -> Result<(), i32> {
        // SAFETY: pages of ours that nothing uses yet.
        let done = unsafe { libc::syscall(libc::SYS_pkey_mprotect, base, bytes, access, self.0) };
        if done == 0 { Ok(()) } else { Err(errno()) }
    }

    /// Opens or closes the key for the calling thread.
    pub fn access(&self, open: bool) {
        // SAFETY: the key exists, so the processor has keys.
        unsafe { arch::key_access(self.0, open) };
    }
}

/// Whether there is a key for a [`super::Space`] that asks for its guard.
pub fn can_guard() -> bool {
    Key::new().is_some()
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: no mapping uses the key any more: the space drops its arenas first.
        unsafe { libc::syscall(libc::SYS_pkey_free, self.0) };
    }
}

/// The space whose guarded pages the signal handler can name.
static WATCHED: AtomicPtr<Map> = AtomicPtr::new(ptr::null_mut());
/// Handlers that are reading it.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// Lets the handler name blocks of `map`, unless it already does so for another one.
pub(super) fn watch(map: &Map) {
    let place = ptr::from_ref(map).cast_mut();
    let _ = WATCHED.compare_exchange(ptr::null_mut(), place, Ordering::SeqCst, Ordering::SeqCst);
}

/// Ends that, before `map` ends.
pub(super) fn unwatch(map: &Map) {
    let place = ptr::from_ref(map).cast_mut();
    if WATCHED.compare_exchange(place, ptr::null_mut(), Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        while READERS.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
    }
}

/// Handler only: says which block a forbidden access hit. Allocates nothing, takes no lock.
pub(crate) fn report_guarded(address: usize) {
    READERS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: `unwatch` waits for READERS before the map ends.
    if let Some(map) = unsafe { WATCHED.load(Ordering::SeqCst).as_ref() }
        && let (found, Some(owner @ (Owner::Device(_) | Owner::Image(_)))) = looked_up(map, address)
    {
        let mut line = Line::default();
        describe(&mut line, address, owner, found);
        // SAFETY: writes bytes of this frame. Nobody can be told if it fails.
        unsafe { libc::write(2, line.bytes.as_ptr().cast(), line.len) };
    }
    READERS.fetch_sub(1, Ordering::SeqCst);
}

/// The block around an address, and whose it is. Takes no lock.
fn looked_up(map: &Map, address: usize) -> (Option<Block>, Option<Owner>) {
    let found = map.find(address);
    (found, map.arena(address).or(found.map(|block| block.owner)))
}

fn describe(line: &mut Line, address: usize, owner: Owner, block: Option<Block>) {
    let device = match owner {
        Owner::Device(device) | Owner::Image(device) => device,
        _ => 0,
    };
    let _ = write!(line, "toprope: host code touched memory of device {device} at {address:#x}: ");
    let _ = match block {
        Some(block) => {
            let what = if matches!(block.owner, Owner::Image(_)) { "device variable" } else { "buffer" };
            let (offset, Block { base, size, serial, .. }) = (address - block.base, block);
            write!(line, "byte {offset} of the {what} at {base:#x} ({size} bytes, allocation {serial})")
        }
        None => write!(line, "no buffer is there (freed, or never allocated)"),
    };
    let _ = writeln!(line, "; copy device memory to host memory before reading it");
}

/// One line on the stack; what does not fit is dropped.
struct Line {
    bytes: [u8; 320],
    len: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line { bytes: [0; 320], len: 0 }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for (place, &byte) in self.bytes.iter_mut().skip(self.len).zip(text.as_bytes()) {
            *place = byte;
            self.len += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Page;
    use super::*;

    fn said(block: Option<Block>) -> String {
        let mut line = Line::default();
        describe(&mut line, 0x1200_0000_0040, Owner::Device(3), block);
        String::from_utf8(line.bytes[..line.len].to_vec()).unwrap()
    }

    #[test]
    fn the_line_names_the_block() {
        let block = Block {
            base: 0x1200_0000_0000,
            size: 100,
            usable: 132,
            owner: Owner::Device(3),
            page: Page::Normal,
            serial: 77,
            tag: 0,
        };
        let line = said(Some(block));
        for part in [
            "device 3",
            "0x120000000040",
            "byte 64 of the buffer at 0x120000000000",
            "100 bytes",
            "allocation 77",
        ] {
            assert!(line.contains(part), "{line}");
        }
        assert!(said(Some(Block { owner: Owner::Image(3), ..block })).contains("device variable"));
        assert!(said(None).contains("no buffer is there"));
        assert!(said(None).ends_with('\n'));
    }

    #[test]
    fn a_line_never_overflows() {
        let mut line = Line::default();
        for _ in 0..100 {
            let _ = write!(line, "0123456789");
        }
        assert_eq!(line.len, line.bytes.len());
    }
}
