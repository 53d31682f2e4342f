//! One loaded instance of a device binary.

use super::{Refused, elf, within};
use crate::sync::plain::Mutex;
use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{self, NonNull};

/// Where live instances are loaded: the dynamic linker must never answer one of them for another.
static LIVE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// An instance: lives until it is dropped, and must not be while its code runs.
pub struct Instance {
    handle: NonNull<c_void>,
    /// Open as long as the instance is loaded; None once it was given up.
    file: Option<File>,
    base: usize,
    /// The addresses of its segments.
    range: Range<usize>,
    twin: Option<Twin>,
}

// SAFETY: the handle is a number to the dynamic linker, which has locks of its own; the rest are addresses.
unsafe impl Send for Instance {}
// SAFETY: as above; nothing changes after loading.
unsafe impl Sync for Instance {}

/// The second mapping of the variables' pages.
struct Twin {
    /// The pages in the instance.
    pages: Range<usize>,
    at: usize,
}

impl Instance {
    pub(super) fn load(bytes: &[u8], plan: &elf::Plan) -> Result<Instance, Refused> {
        let mut refused = String::new();
        for source in [memory_file, temporary_file] {
            match source(bytes).map_err(|error| error.to_string()).and_then(|(file, path)| open(file, &path))
            {
                Ok(mut instance) => {
                    if let Some(data) = &plan.data {
                        let pages = instance.base + data.start..instance.base + data.end;
                        // Without one, the runtime copies to the variables themselves, and no key guards them.
                        instance.twin = Twin::new(pages).ok();
                    }
                    return Ok(instance);
                }
                Err(why) if refused.is_empty() => refused = why,
                Err(_) => {}
            }
        }
        Err(Refused::System(refused))
    }

    /// Where it is loaded.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The address of a symbol that it exports.
    pub(super) fn symbol(&self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        // SAFETY: a handle of a loaded object, and a C string.
        let found = unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) };
        (!found.is_null()).then_some(found as usize)
    }

    /// The distance of an address of it from its start.
    pub(super) fn offset(&self, addr: usize, what: &str) -> Result<usize, Refused> {
        if within(&self.range, addr) {
            return Ok(addr - self.base);
        }
        Err(Refused::Damaged(format!("{what} is at {addr:#x}, outside of the binary")))
    }

    /// The distance from an address of a variable to the place of the same byte in the second mapping; 0 if there is none.
    pub fn mirror(&self, addr: usize) -> usize {
        match &self.twin {
            Some(twin) if within(&twin.pages, addr) => twin.at.wrapping_sub(twin.pages.start),
            _ => 0,
        }
    }

    /// The pages that may be guarded: those with a second mapping.
    pub fn guardable(&self) -> Option<Range<usize>> {
        self.twin.as_ref().map(|twin| twin.pages.clone())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        LIVE.lock().retain(|base| *base != self.base);
        // SAFETY: the last user of the instance is gone. What it mapped over its pages goes with them.
        unsafe { libc::dlclose(self.handle.as_ptr()) };
        // A binary that the dynamic linker keeps for good (one with unique symbols) must keep its name, too.
        let kept = self.file.as_ref().is_some_and(|file| loaded(&name_of(file)));
        if kept {
            std::mem::forget(self.file.take());
        }
    }
}

fn name_of(file: &File) -> CString {
    CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default()
}

/// Whether the dynamic linker knows an object of this name.
fn loaded(name: &CStr) -> bool {
    // SAFETY: a C string; nothing is loaded by this.
    unsafe {
        let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        !handle.is_null() && {
            libc::dlclose(handle);
            true
        }
    }
}

fn errno() -> io::Error {
    io::Error::last_os_error()
}

fn memory_file(bytes: &[u8]) -> io::Result<(File, CString)> {
    let file = anonymous(c"toprope-kernels")?;
    (&file).write_all(bytes)?;
    let name = name_of(&file);
    Ok((file, name))
}

fn anonymous(name: &CStr) -> io::Result<File> {
    // SAFETY: a C string; the descriptor that comes back is nobody else's.
    unsafe {
        let fd = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 { Err(errno()) } else { Ok(File::from_raw_fd(fd)) }
    }
}

/// In the folder for temporary files: loaded by its own name, then removed.
fn temporary_file(bytes: &[u8]) -> io::Result<(File, CString)> {
    let pattern = std::env::temp_dir().join("toprope-kernels-XXXXXX");
    let mut name = CString::new(pattern.into_os_string().into_encoded_bytes())?.into_bytes_with_nul();
    // SAFETY: a C string of this frame, which mkostemp writes over in place; the descriptor is nobody else's.
    let file = unsafe {
        let fd = libc::mkostemp(name.as_mut_ptr().cast(), libc::O_CLOEXEC);
        if fd < 0 {
            return Err(errno());
        }
        File::from_raw_fd(fd)
    };
    let name = CString::from_vec_with_nul(name).map_err(io::Error::other)?;
    let written = (&file).write_all(bytes);
    if written.is_err() {
        // SAFETY: a C string.
        unsafe { libc::unlink(name.as_ptr()) };
    }
    written.map(|()| (file, name))
}

/// Loads a file by its name.
fn open(file: File, name: &CStr) -> Result<Instance, String> {
    // SAFETY: a C string. Nothing of the binary runs: it has no constructors any more. With every symbol bound now, device code
    // never enters the dynamic linker.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LOCAL | libc::RTLD_NOW) };
    let why = if handle.is_null() { said() } else { String::new() };
    if !name.to_bytes().starts_with(b"/proc/") {
        // SAFETY: a C string.
        unsafe { libc::unlink(name.as_ptr()) };
    }
    let Some(handle) = NonNull::new(handle) else { return Err(why) };
    let Some((base, range)) = place(handle) else {
        // SAFETY: opened above.
        unsafe { libc::dlclose(handle.as_ptr()) };
        return Err("the dynamic linker does not say where".to_owned());
    };
    let mut live = LIVE.lock();
    if live.contains(&base) {
        drop(live);
        // SAFETY: opened above.
        unsafe { libc::dlclose(handle.as_ptr()) };
        return Err("the dynamic linker took it for one that is loaded already".to_owned());
    }
    live.push(base);
    drop(live);
    Ok(Instance { handle, file: Some(file), base, range, twin: None })
}

/// What the dynamic linker said last.
fn said() -> String {
    // SAFETY: a C string of this thread, or null.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            "no reason given".to_owned()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }
}

/// Where an object is loaded, and the addresses of its segments.
fn place(handle: NonNull<c_void>) -> Option<(usize, Range<usize>)> {
    let table = CString::new(elf::TABLE).ok()?;
    struct Search {
        inside: usize,
        found: Option<(usize, Range<usize>)>,
    }
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> i32 {
        // SAFETY: the dynamic linker passes a valid entry, whose headers stay for the call; the search is the caller's.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
        let base = info.dlpi_addr as usize;
        // SAFETY: as above.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let loads = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let end = loads.map(|header| base + header.p_vaddr as usize + header.p_memsz as usize).max();
        let range = base..end.unwrap_or(base);
        if !within(&range, search.inside) {
            return 0;
        }
        search.found = Some((base, range));
        1
    }
    // SAFETY: a handle of a loaded object; the callback gets this frame's search.
    unsafe {
        let inside = libc::dlsym(handle.as_ptr(), table.as_ptr()) as usize;
        let mut search = Search { inside, found: None };
        libc::dl_iterate_phdr(Some(look), (&raw mut search).cast());
        search.found
    }
}

impl Twin {
    /// Puts a memory file under the pages, with what they hold, and maps it a second time.
    fn new(pages: Range<usize>) -> io::Result<Twin> {
        let bytes = pages.len();
        let file = anonymous(c"toprope-variables")?;
        file.set_len(bytes as u64)?;
        let map = |place: usize, fixed| {
            let flags = libc::MAP_SHARED | fixed;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: without a place a new mapping; with one, pages of the instance, whose bytes are in the file and which nobody
            // uses yet.
            let map = unsafe { libc::mmap(place as *mut c_void, bytes, access, flags, file.as_raw_fd(), 0) };
            if map == libc::MAP_FAILED { Err(errno()) } else { Ok(map as usize) }
        };
        let at = map(0, 0)?;
        let twin = Twin { pages: pages.clone(), at };
        // SAFETY: both are whole pages of `bytes` bytes, readable and writable.
        unsafe { ptr::copy_nonoverlapping(pages.start as *const u8, at as *mut u8, bytes) };
        map(pages.start, libc::MAP_FIXED)?;
        for start in [pages.start, at] {
            // SAFETY: these mappings. A child of a fork shares no variables with its parent; a refusal changes nothing else.
            unsafe { libc::madvise(start as *mut c_void, bytes, libc::MADV_DONTFORK) };
        }
        Ok(twin)
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        // SAFETY: the second mapping, which is this one's own.
        unsafe { libc::munmap(self.at as *mut c_void, self.pages.len()) };
    }
}
