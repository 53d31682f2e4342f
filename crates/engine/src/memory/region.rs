//! Address space and memory files.
//!
//! A region is reserved whole and without access, and opened from its start on as blocks come to lie in it, in steps of
//! [`OPEN_LEAST`] to [`OPEN_MOST`]: a tool that reads every readable page of a process reads what blocks have been given, and not
//! what could be given. What is open stays open.

use super::guard::Key;
use crate::sync::plain::{AtomicUsize, Ordering};

/// Arenas begin at multiples of this: 1 GiB.
pub(super) const GRANULE: usize = 1 << 30;

/// A region opens by at least this, and by as much as is open already up to [`OPEN_MOST`]: a small program opens little, and a
/// large one makes one or two system calls for each 64 MiB of new blocks.
const OPEN_LEAST: usize = 2 << 20;
const OPEN_MOST: usize = 64 << 20;

/// The calling thread's errno.
pub(super) fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::ENOMEM)
}

/// What a region is to be.
pub(super) struct Wish<'a> {
    /// Where it should begin; elsewhere if that is taken.
    pub place: usize,
    /// Its bytes.
    pub bytes: usize,
    /// Its memory file's name; None: addresses only, no access.
    pub file: Option<String>,
    /// Whether a second mapping follows behind the first.
    pub mirror: bool,
    /// The key that guards the first mapping.
    pub key: Option<&'a Key>,
}

/// Reserved addresses, mostly over a memory file.
pub(super) struct Region {
    /// First address of the program's mapping.
    pub base: usize,
    /// Bytes of the program's mapping.
    pub bytes: usize,
    /// Distance from the program's mapping to the one that the runtime uses: `bytes`, or 0.
    pub mirror: usize,
    file: Option<MemoryFile>,
    /// Bytes from the start on that may be read and written, in both mappings. Written under the arena's lock.
    opened: AtomicUsize,
}

impl Region {
    /// Reserves; fails with an errno.
    pub fn new(wish: &Wish) -> Result<Region, i32> {
        let mirror = if wish.mirror { wish.bytes } else { 0 };
        let all = wish.bytes.checked_add(mirror).ok_or(libc::ENOMEM)?;
        let base = reserve(wish.place, all)?;
        let mut region = Region { base, bytes: wish.bytes, mirror, file: None, opened: AtomicUsize::new(0) };
        // From here on an error unmaps by dropping.
        if let Some(name) = &wish.file {
            region.file = Some(region.back(name, wish.key)?);
        }
        // SAFETY: the region's own addresses. A child gets none of it.
        if unsafe { libc::madvise(base as *mut libc::c_void, all, libc::MADV_DONTFORK) } != 0 {
            return Err(errno());
        }
        // SAFETY: as above. A core file would hold the whole reserved range. A refusal changes nothing else.
        unsafe { libc::madvise(base as *mut libc::c_void, all, libc::MADV_DONTDUMP) };
        Ok(region)
    }

    fn back(&self, name: &str, key: Option<&Key>) -> Result<MemoryFile, i32> {
        let file = MemoryFile::new(name, self.bytes)?;
        map(self.base, self.bytes, file.fd)?;
        if let Some(key) = key {
            key.guard(self.base, self.bytes, libc::PROT_NONE)?;
        }
        if self.mirror != 0 {
            map(self.base + self.mirror, self.bytes, file.fd)?;
        }
        Ok(file)
    }

    /// Bytes from the start on that may be read and written.
    pub fn opened(&self) -> usize {
        self.opened.load(Ordering::Acquire)
    }

    /// Makes the first `end` bytes readable and writable, under the arena's lock. No system call if they are; fails with an errno
    /// (then nothing is lost).
    #[inline]
    pub fn open(&self, end: usize, key: Option<&Key>) -> Result<(), i32> {
        if self.file.is_none() || end <= self.opened.load(Ordering::Relaxed) {
            Ok(())
        } else {
            self.grow(end, key)
        }
    }

    #[cold]
    fn grow(&self, end: usize, key: Option<&Key>) -> Result<(), i32> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let now = self.opened.load(Ordering::Relaxed);
        let step = now.clamp(OPEN_LEAST, OPEN_MOST);
        let to = end.max(now + step).next_multiple_of(OPEN_LEAST).min(self.bytes);
        let open = |start: usize| {
            // SAFETY: pages of this region's mapping, in which no block lies yet.
            let done = unsafe { libc::mprotect(start as *mut libc::c_void, to - now, access) };
            if done == 0 { Ok(()) } else { Err(errno()) }
        };
        match key {
            Some(key) => key.guard(self.base + now, to - now, access)?,
            None => open(self.base + now)?,
        }
        if self.mirror != 0 {
            open(self.base + self.mirror + now)?;
        }
        self.opened.store(to, Ordering::Release);
        Ok(())
    }

    /// Gives pages back to the system; they read as zeros afterwards. Through the mapping, not the descriptor, which the
    /// program may have closed and used for a file of its own.
    pub fn punch(&self, offset: usize, bytes: usize) {
        if self.file.is_some() {
            let start = (self.base + self.mirror + offset) as *mut libc::c_void;
            // SAFETY: pages of this region that belong to no block. A refusal leaves them as they are.
            unsafe { libc::madvise(start, bytes, libc::MADV_REMOVE) };
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the region's own addresses.
        unsafe { libc::munmap(self.base as *mut libc::c_void, self.bytes + self.mirror) };
    }
}

/// Reserves addresses, at `place` if it is free, else at any multiple of a granule.
fn reserve(place: usize, bytes: usize) -> Result<usize, i32> {
    let reserve_at = |place: usize, bytes| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping; a place is only a hint and replaces nothing.
        let map = unsafe { libc::mmap(place as *mut libc::c_void, bytes, libc::PROT_NONE, flags, -1, 0) };
        if map == libc::MAP_FAILED { Err(errno()) } else { Ok(map as usize) }
    };
    let give_back = |start: usize, end: usize| {
        if end > start {
            // SAFETY: a part of what was reserved here.
            unsafe { libc::munmap(start as *mut libc::c_void, end - start) };
        }
    };
    if !thread_sanitizer() {
        // A hint and not MAP_FIXED_NOREPLACE: the same for us, in every kernel, and sanitizers that move mappings can do so.
        let got = reserve_at(place, bytes)?;
        if got == place {
            return Ok(place);
        }
        give_back(got, got + bytes);
    }
    let more = bytes.checked_add(GRANULE).ok_or(libc::ENOMEM)?;
    let start = reserve_at(0, more)?;
    let base = start.next_multiple_of(GRANULE);
    give_back(start, base);
    give_back(base + bytes, start + more);
    Ok(base)
}

/// Whether the process runs under ThreadSanitizer. It ends a process that maps memory outside a few ranges, of which the one
/// for mappings has 1.5 TiB, at places of the system's choice.
pub(super) fn thread_sanitizer() -> bool {
    loaded(c"__tsan_init")
}

/// Whether the process runs under Valgrind. Its memory checker notes something for every 64 KiB of addresses that are reserved,
/// with access or without: 1.3 MiB for each GiB.
pub(super) fn valgrind() -> bool {
    loaded(c"_vgnU_freeres")
}

fn loaded(name: &std::ffi::CStr) -> bool {
    // SAFETY: looks a name up.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null()
}

/// Maps a file's first bytes over reserved addresses, without access.
fn map(base: usize, bytes: usize, file: i32) -> Result<(), i32> {
    let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: replaces a part of a reservation of ours that nothing uses yet.
    let map = unsafe { libc::mmap(base as *mut libc::c_void, bytes, libc::PROT_NONE, flags, file, 0) };
    if map == libc::MAP_FAILED { Err(errno()) } else { Ok(()) }
}

/// A sparse file in memory. Programs close descriptors that are not theirs (to become a daemon, say), so the descriptor is
/// used again only if it still is this file.
struct MemoryFile {
    fd: i32,
    identity: Option<(u64, u64)>,
}

impl MemoryFile {
    fn new(name: &str, bytes: usize) -> Result<MemoryFile, i32> {
        let name = std::ffi::CString::new(name).map_err(|_| libc::EINVAL)?;
        // SAFETY: asks a limit. A file longer than the limit would raise SIGXFSZ, not only fail.
        unsafe {
            let mut limit: libc::rlimit = std::mem::zeroed();
            if libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) == 0 && limit.rlim_cur < bytes as u64 {
                return Err(libc::EFBIG);
            }
        }
        let length = libc::off_t::try_from(bytes).map_err(|_| libc::EFBIG)?;
        // SAFETY: a new descriptor; the result or the error path closes it.
        unsafe {
            let fd = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(errno());
            }
            let file = MemoryFile { fd, identity: identity(fd) };
            if libc::ftruncate(fd, length) != 0 {
                return Err(errno());
            }
            Ok(file)
        }
    }
}

/// Device and inode of a descriptor's file.
fn identity(fd: i32) -> Option<(u64, u64)> {
    // SAFETY: fills a structure on this stack.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &mut about) == 0).then_some((about.st_dev, about.st_ino))
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(self.fd) == self.identity {
            // SAFETY: closes the descriptor once, and only while it is ours.
            unsafe { libc::close(self.fd) };
        }
    }
}
