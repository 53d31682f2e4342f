//! Keeps host code off pages of pinned memory while a device may work on them, and lets it on again when it comes all the same.
//!
//! Only pinned memory that has a mirror ([`super::Layout::mirror_pinned`]) can be shut: the runtime works through the mirror. One
//! word for each page says what is kept off it:
//!
//! | bits | |
//! | --- | --- |
//! | 0 to 15 | how many want all accesses kept off |
//! | 16 to 31 | how many want writes kept off |
//! | 32 | [`OPENED`]: a touch has opened it; a new wish shuts it again |
//! | 33 | [`EVER`]: was shut at some time |
//! | 34 to 63 | the last wish's number, so that one touch opens all pages of that wish that lie together |
//!
//! Words change under the lock before the protection does, and in the signal handler, which takes no lock, so a handler may find
//! a page's word behind or ahead of its protection. Then it gives the page what the word says, and the access is tried again:
//! a page can end up open that should be shut (a touch is missed), never the other way round for longer than one fault.

use super::region::{GRANULE, errno};
use super::sparse::Sparse;
use crate::sync::plain::{AtomicPtr, AtomicU64, AtomicUsize, Mutex, Ordering};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

/// The step of protection: the processor's page.
pub(super) const PAGE: usize = 4096;

const ALL_ONE: u64 = 1;
const ALL: u64 = 0xffff;
const WRITES_ONE: u64 = 1 << 16;
const WRITES: u64 = 0xffff << 16;
const OPENED: u64 = 1 << 32;
const EVER: u64 = 1 << 33;
const NUMBER: u32 = 34;

/// What is kept off a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shut {
    /// Every access: a device will write here.
    All,
    /// Writes: a device will read here.
    Writes,
}

/// A host access to a page that was shut. The page is open when the access is tried again.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// The address.
    pub address: usize,
    /// Whether it was a write.
    pub write: bool,
    /// The address of the instruction.
    pub pc: usize,
}

/// Called in the signal handler for every touch: it must be async-signal-safe.
pub type Hook = fn(&Touch);

/// The pages of one arena.
pub(super) struct Shield {
    base: usize,
    bytes: usize,
    words: Sparse<AtomicU64>,
    lock: Mutex<u64>,
    hook: Hook,
}

/// The shield that the signal handler knows.
static WATCHED: AtomicPtr<Shield> = AtomicPtr::new(ptr::null_mut());
/// Handlers that are reading it.
static READERS: AtomicUsize = AtomicUsize::new(0);

impl Shield {
    /// For the pages of `[base, base + bytes)`. None if another space has one, or the words were refused.
    pub fn new(base: usize, bytes: usize, hook: Hook) -> Option<Box<Shield>> {
        debug_assert!(base.is_multiple_of(GRANULE));
        let words = Sparse::new(bytes / PAGE).ok()?;
        let shield = Box::new(Shield { base, bytes, words, lock: Mutex::default(), hook });
        let place = ptr::from_ref(&*shield).cast_mut();
        WATCHED.compare_exchange(ptr::null_mut(), place, Ordering::SeqCst, Ordering::SeqCst).ok()?;
        Some(shield)
    }

    /// The whole pages inside a range of this arena; empty if there are none.
    fn pages(&self, range: &Range<usize>) -> Range<usize> {
        let inside = range.start >= self.base && range.end <= self.base + self.bytes;
        let (first, end) = (range.start.next_multiple_of(PAGE), range.end / PAGE * PAGE);
        if inside && first < end { first..end } else { 0..0 }
    }

    fn word(&self, address: usize) -> Option<&AtomicU64> {
        self.words.get(address.wrapping_sub(self.base) / PAGE)
    }

    /// Keeps host code off the whole pages of a range, and says which these are: none if it was refused.
    pub fn shut(&self, range: Range<usize>, what: Shut) -> Range<usize> {
        let pages = self.pages(&range);
        if pages.is_empty() {
            return pages;
        }
        let mut number = self.lock.lock();
        *number += 1;
        let step = if what == Shut::All { ALL_ONE } else { WRITES_ONE };
        let tag = *number << NUMBER | EVER;
        let done = self.change(&pages, |word| (word + step) & (ALL | WRITES) | tag);
        if done.is_ok() {
            return pages;
        }
        // The system has no room for more mappings, say.
        let _ = self.change(&pages, |word| word - step);
        pages.start..pages.start
    }

    /// Takes one [`Shield::shut`] back: with the pages that it answered.
    pub fn open(&self, pages: Range<usize>, what: Shut) {
        let _one = self.lock.lock();
        let step = if what == Shut::All { ALL_ONE } else { WRITES_ONE };
        let lowered = self.change(&pages, |word| {
            let word = word.saturating_sub(step);
            if word & (ALL | WRITES) == 0 { word & !OPENED } else { word }
        });
        if lowered.is_err() {
            // A part of a long run could not be split off; the whole arena can always be opened.
            protect(self.base..self.base + self.bytes, libc::PROT_READ | libc::PROT_WRITE);
        }
    }

    /// Changes the words of pages, then the protection of those that need another one. Fails with an errno.
    fn change(&self, pages: &Range<usize>, to: impl Fn(u64) -> u64) -> Result<(), i32> {
        let mut result = Ok(());
        let mut run = pages.start..pages.start;
        let mut wanted = None;
        let mut flush = |run: &Range<usize>, wanted: Option<i32>| {
            if let Some(access) = wanted
                && !run.is_empty()
                && !protect(run.clone(), access)
            {
                result = Err(errno());
            }
        };
        for page in pages.clone().step_by(PAGE) {
            let Some(word) = self.word(page) else { continue };
            let change = |old| Some(to(old));
            let (Ok(old) | Err(old)) = word.fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
            let (before, now) = (access_of(old), access_of(to(old)));
            let next = (before != now).then_some(now);
            if next != wanted {
                flush(&run, wanted);
                (run, wanted) = (page..page, next);
            }
            run.end = page + PAGE;
        }
        flush(&run, wanted);
        result
    }

    /// Handler only. Whether the access may be tried again.
    fn touched(&self, touch: &Touch, tell: bool) -> bool {
        if touch.address.wrapping_sub(self.base) >= self.bytes {
            return false;
        }
        let page = touch.address / PAGE * PAGE;
        let Some(word) = self.word(page) else { return false };
        let now = word.load(Ordering::Acquire);
        if now & EVER == 0 {
            return false;
        }
        let kept_off = now & ALL != 0 || touch.write && now & WRITES != 0;
        if !kept_off || now & OPENED != 0 {
            // Opened a moment ago, or about to be.
            return protect(page..page + PAGE, access_of(now));
        }
        if tell {
            (self.hook)(touch);
        }
        let together = |page: usize| {
            self.word(page).is_some_and(|word| word.load(Ordering::Relaxed) >> NUMBER == now >> NUMBER)
        };
        let (mut start, mut end) = (page, page + PAGE);
        while start > self.base && together(start - PAGE) {
            start -= PAGE;
        }
        while end < self.base + self.bytes && together(end) {
            end += PAGE;
        }
        for page in (start..end).step_by(PAGE) {
            if let Some(word) = self.word(page) {
                word.fetch_or(OPENED, Ordering::AcqRel);
            }
        }
        let open = libc::PROT_READ | libc::PROT_WRITE;
        protect(start..end, open) || protect(self.base..self.base + self.bytes, open)
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        let place = ptr::from_ref(self).cast_mut();
        if WATCHED.compare_exchange(place, ptr::null_mut(), Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            while READERS.load(Ordering::SeqCst) != 0 {
                std::thread::yield_now();
            }
        }
    }
}

/// The protection that a word asks for.
fn access_of(word: u64) -> i32 {
    if word & OPENED != 0 {
        libc::PROT_READ | libc::PROT_WRITE
    } else if word & ALL != 0 {
        libc::PROT_NONE
    } else if word & WRITES != 0 {
        libc::PROT_READ
    } else {
        libc::PROT_READ | libc::PROT_WRITE
    }
}

/// A plain system call, which no sanitizer steps into: handlers call it, too.
fn protect(pages: Range<usize>, access: i32) -> bool {
    // SAFETY: pages of the program's mapping of an arena. Host code that touches them meets the handler.
    unsafe { libc::syscall(libc::SYS_mprotect, pages.start, pages.len(), access) == 0 }
}

/// Handler only: whether the fault is that of a page that was shut, and the access may be tried again. `tell` is false for
/// device code, which may touch these pages.
pub(crate) fn touched(address: usize, context: *const c_void, tell: bool) -> bool {
    READERS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: `drop` waits for READERS before the shield ends; the context is the handler's.
    let again = unsafe { WATCHED.load(Ordering::SeqCst).as_ref() }.is_some_and(|shield| {
        // SAFETY: as above.
        let (pc, write) =
            unsafe { (crate::fault::arch::place(context).1, crate::fault::arch::was_write(context)) };
        shield.touched(&Touch { address, write, pc }, tell)
    });
    READERS.fetch_sub(1, Ordering::SeqCst);
    again
}
