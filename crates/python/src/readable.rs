//! Whether memory can be read, without a crash when it cannot: the system reads it for a call that does nothing else, and with
//! the rights of the calling thread, so that device memory that is kept from host code counts as unreadable.
//!
//! This costs one system call for each page. It says what holds now: memory that another thread unmaps meanwhile is lost all the
//! same.

use std::ops::Range;
use std::sync::OnceLock;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::library::table;

/// Pages that are read one by one where they need not be there yet; of more, both ends are, and the list of mappings tells the rest.
const FEW_PAGES: usize = 256;

fn page() -> usize {
    static PAGE: OnceLock<usize> = OnceLock::new();
    // SAFETY: asks for a number.
    *PAGE.get_or_init(|| usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096))
}

/// ValueError for the first address of `size` bytes at `ptr` that cannot be read. The range does not wrap.
pub fn all(ptr: usize, size: usize) -> PyResult<()> {
    let mut pinned = Pinned::default();
    match pages(ptr..ptr + size).find(|address| !pinned.or_read(*address)) {
        Some(address) => Err(refused(ptr, size, address)),
        None => Ok(()),
    }
}

/// As [`all`], for memory that is not read now: a large range is not filled with pages for the question.
pub fn mapped(ptr: usize, size: usize) -> PyResult<()> {
    if size / page() < FEW_PAGES {
        return all(ptr, size);
    }
    let mut pinned = Pinned::default();
    let ends = [ptr, ptr + (size - 1)];
    if let Some(address) = ends.into_iter().find(|address| !pinned.or_read(*address)) {
        return Err(refused(ptr, size, address));
    }
    match std::fs::read_to_string("/proc/self/maps").map(|maps| hole(&maps, ptr..ptr + size)) {
        Ok(None) => Ok(()),
        Ok(Some(address)) if !pinned.or_read(address) => Err(refused(ptr, size, address)),
        // No list, or one that changed while it was read.
        _ => all(ptr, size),
    }
}

/// An address in each page of a range.
fn pages(range: Range<usize>) -> impl Iterator<Item = usize> {
    let first = range.start & !(page() - 1);
    (first..range.end).step_by(page()).map(move |start| start.max(range.start))
}

/// Pinned memory of live blocks. That is always there, but while a copy of it is pending the checker keeps host code off it: it sees
/// the access, reports it, and lets it through. The system's own reads are refused meanwhile.
#[derive(Default)]
struct Pinned {
    /// The mapping that was looked up last: neighbouring pages lie in the same one.
    mapping: Range<usize>,
}

impl Pinned {
    /// Whether the byte at `address` can be read.
    fn or_read(&mut self, address: usize) -> bool {
        system_reads(address) || self.has(address)
    }

    #[cold]
    fn has(&mut self, address: usize) -> bool {
        // SAFETY: numbers may be zero.
        let mut attributes: ascendcl_sys::aclrtPtrAttributes = unsafe { std::mem::zeroed() };
        // SAFETY: the address is only looked up; a local of its type.
        let code = unsafe { (table().aclrtPointerGetAttributes)(address as *const _, &mut attributes) };
        // Registered memory is at the host, too, but the program may have given it back to the system.
        code == 0
            && attributes.location.r#type == ascendcl_sys::ACL_MEM_LOCATION_TYPE_HOST
            && self.in_file(address)
    }

    fn in_file(&mut self, address: usize) -> bool {
        if !self.mapping.contains(&address) {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
            self.mapping = mappings(&maps)
                .find(|(range, rest)| range.contains(&address) && rest.contains(PINNED))
                .map_or(0..0, |(range, _)| range);
        }
        self.mapping.contains(&address)
    }
}

/// The name of the runtime's memory file for pinned memory.
const PINNED: &str = "toprope-pinned";

/// The lines of /proc/self/maps, in order: `7f00-7f10 r--p …`, as a range and what stands behind it.
fn mappings(maps: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    maps.lines().filter_map(|line| {
        let (ends, rest) = line.split_once(' ')?;
        let (from, to) = ends.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some((number(from)?..number(to)?, rest))
    })
}

/// Whether the system can read the byte at `address` for this thread.
fn system_reads(address: usize) -> bool {
    // The system reads the eight bytes of a signal set before it looks at what to do with them, which is nothing: no such
    // action exists. They lie in one page when they are aligned; at 0 there is no set, so that the next one is read.
    const NO_ACTION: libc::c_long = !0;
    let set = (address & !7).max(8);
    // SAFETY: the address goes to the system only, which checks it; nothing is changed.
    let done = unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, NO_ACTION, set, std::ptr::null_mut::<u8>(), 8usize)
    };
    done == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

/// The first address of a range that no readable mapping has.
fn hole(maps: &str, range: Range<usize>) -> Option<usize> {
    let mut next = range.start;
    for (mapping, rest) in mappings(maps) {
        if mapping.contains(&next) && rest.starts_with('r') {
            next = mapping.end;
        }
    }
    (next < range.end).then_some(next)
}

#[cold]
fn refused(ptr: usize, size: usize, address: usize) -> PyErr {
    PyValueError::new_err(format!(
        "{size} bytes from {ptr:#x}: {address:#x} cannot be read: no memory is there, or memory of a device, which host code cannot reach"
    ))
}
