//! Finds a second `libascendcl.so` in the process. The dynamic linker takes a library that is there only when it is asked for by name
//! alone; another path is another copy, with contexts, streams and memory of its own, and nothing that fails says so.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What every runtime's library calls itself, this project's and a vendor's.
const SONAME: &CStr = c"libascendcl.so";

/// What is found in the process.
#[derive(Default)]
struct Found {
    /// The file with this code.
    own: PathBuf,
    /// Every other file with the library's name in it.
    others: Vec<PathBuf>,
}

/// A line for the user when the process has another runtime than this one, else none.
pub fn note() -> Option<String> {
    let mut found = Found::default();
    // SAFETY: `look` gets the address of `found`, which lives during the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    if found.others.is_empty() {
        return None;
    }
    let others: Vec<String> = found.others.iter().map(|path| path.display().to_string()).collect();
    Some(format!(
        "two runtimes in one process: {} starts, and {} is loaded too; contexts, streams and memory of one mean nothing to the other. \
         Load the library by its name alone ({}), or always by the same path",
        found.own.display(),
        others.join(", "),
        SONAME.to_string_lossy()
    ))
}

/// Called for every object that the process has loaded.
///
/// # Safety
/// As `dl_iterate_phdr` calls; `found` is the address of a [`Found`].
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
    let base = info.dlpi_addr as usize;
    // SAFETY: the program headers of a loaded object.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let inside = |address: usize| {
        headers.iter().filter(|header| header.p_type == libc::PT_LOAD).any(|header| {
            address.wrapping_sub(base.wrapping_add(header.p_vaddr as usize)) < header.p_memsz as usize
        })
    };
    let own = inside(look as *const () as usize);
    let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC);
    // SAFETY: the dynamic section of that object, whose texts lie in it.
    let named = dynamic.is_some_and(|dynamic| unsafe {
        is_named(base, base.wrapping_add(dynamic.p_vaddr as usize) as *const Entry, inside)
    });
    if own || named {
        // SAFETY: a text of the dynamic linker; empty for the program itself.
        let path = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
        let path = if path.is_empty() { b"/proc/self/exe" } else { path };
        let path = PathBuf::from(OsStr::from_bytes(path));
        match own {
            true => found.own = path,
            false => found.others.push(path),
        }
    }
    0
}

/// An entry of a dynamic section (ELF, `Elf64_Dyn`).
#[repr(C)]
struct Entry {
    tag: i64,
    value: usize,
}

/// The tags that are needed, of the ELF specification.
const DT_NULL: i64 = 0;
const DT_STRTAB: i64 = 5;
const DT_SONAME: i64 = 14;

/// Whether the object's SONAME is [`SONAME`].
///
/// # Safety
/// `entry` is the dynamic section of a loaded object at `base`; `inside` tells its addresses.
unsafe fn is_named(base: usize, mut entry: *const Entry, inside: impl Fn(usize) -> bool) -> bool {
    let (mut texts, mut name) = (None, None);
    // SAFETY: a dynamic section ends with DT_NULL.
    unsafe {
        while (*entry).tag != DT_NULL {
            match (*entry).tag {
                DT_STRTAB => texts = Some((*entry).value),
                DT_SONAME => name = Some((*entry).value),
                _ => {}
            }
            entry = entry.add(1);
        }
    }
    let (Some(texts), Some(name)) = (texts, name) else { return false };
    // The dynamic linker has made the address an absolute one, but not in sections that cannot be written.
    let texts = if inside(texts) { texts } else { base.wrapping_add(texts) };
    let wanted = SONAME.to_bytes_with_nul();
    wanted.iter().enumerate().all(|(at, byte)| {
        let address = texts.wrapping_add(name).wrapping_add(at);
        // SAFETY: inside of the loaded object, and no further than its name goes.
        inside(address) && unsafe { *(address as *const u8) } == *byte
    })
}
