//! Where a call was made: the return addresses of its stack, without the library's own frames, as a number.
//!
//! Unwinding a stack costs microseconds, so each thread keeps the traces that it has seen for each function, with the places on
//! the stack where the return addresses stood. When the same addresses stand in the same places, counted from the stack
//! pointer, the stack is the same: comparing them is a few loads. Only places between the stack pointer and the end of
//! the thread's stack are looked at.
//!
//! A call that Python code makes has the lines of the script in its place ([`crate::python`]); the interpreter's frames are left
//! out there, so that the same lines are the same place.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use parking_lot::Mutex;
use toprope_runtime::Api;

use crate::python::{self, Part};

/// Where a call was made. Copies cost nothing; [`frames`] tells what is behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(u32);

impl Site {
    /// No known place.
    pub const NONE: Site = Site(0);
}

/// Frames of the program that are kept.
pub const DEPTH: usize = 24;
/// Frames that are looked at, the library's own included.
const WALK: usize = 64;
/// Traces of one function that a thread keeps at hand.
const AT_HAND: usize = 16;
/// Traces of a process; calls from places beyond that many are reported without their place.
const MOST: usize = 1 << 20;

/// What is behind a place, innermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trace {
    /// Return addresses.
    Frames(Box<[usize]>),
    /// Numbers of Python lines.
    Lines {
        /// What these called, which made the call: a C++ extension, say.
        before: Site,
        /// The lines.
        lines: Box<[u32]>,
        /// What called these, or lies between them.
        after: Site,
    },
}

/// All traces of the process.
#[derive(Default)]
struct Traces {
    numbers: HashMap<Trace, u32>,
    all: Vec<Trace>,
}

/// A place, and what to make of it if Python code led to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// The place itself.
    pub site: Site,
    /// The frames below the interpreter's.
    pub before: Site,
    /// Other frames that are not the interpreter's.
    pub after: Site,
    /// Nothing but ctypes, cffi or the module `acl` lies between the interpreter and the call.
    pub straight: bool,
}

static TRACES: OnceLock<Mutex<Traces>> = OnceLock::new();

/// A trace as a thread has seen it.
struct Seen {
    /// Offset from the stack pointer, and the return address that stands there.
    slots: Box<[(usize, usize)]>,
    place: Place,
}

#[derive(Default)]
struct Mine {
    /// One past the stack's last byte; 0 before the first call.
    stack_end: usize,
    seen: Vec<Vec<Seen>>,
}

thread_local! {
    static MINE: ManuallyDrop<RefCell<Mine>> = ManuallyDrop::default();
}

/// The place of the call that is being made. Must be called from one place in the code for each function.
#[inline(never)]
pub fn capture(api: Api) -> Site {
    let sp = stack_pointer();
    let place = MINE
        .try_with(|mine| mine.try_borrow_mut().ok().map(|mut mine| mine.find(api, sp)))
        .ok()
        .flatten()
        .unwrap_or_default();
    python::refine(&place)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn stack_pointer() -> usize {
    let sp;
    // SAFETY: only copies a register.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// Elsewhere return addresses have no known place, and every stack is unwound.
#[cfg(not(target_arch = "x86_64"))]
fn stack_pointer() -> usize {
    0
}

/// Gives back what the thread keeps.
pub fn forget() {
    let _ = MINE.try_with(|mine| mine.try_borrow_mut().map(|mut mine| mine.seen = Vec::new()));
    python::forget();
}

impl Mine {
    #[inline]
    fn find(&mut self, api: Api, sp: usize) -> Place {
        let index = api as usize;
        if let Some(seen) = self.seen.get(index)
            && let Some(place) = seen.iter().position(|seen| self.same(seen, sp))
        {
            let found = seen.get(place).map_or(Place::default(), |seen| seen.place);
            if place != 0
                && let Some(seen) = self.seen.get_mut(index)
            {
                seen.swap(0, place);
            }
            return found;
        }
        self.walk(index, sp)
    }

    #[inline]
    fn same(&self, seen: &Seen, sp: usize) -> bool {
        seen.slots.iter().all(|(offset, address)| {
            let at = sp + offset;
            // SAFETY: between this thread's stack pointer and the end of its stack, hence mapped; any bits are a number.
            at + size_of::<usize>() <= self.stack_end
                && unsafe { (at as *const usize).read_volatile() } == *address
        })
    }

    #[cold]
    fn walk(&mut self, index: usize, sp: usize) -> Place {
        if self.stack_end == 0 {
            self.stack_end = stack_end().unwrap_or(1);
        }
        let mut slots: Vec<(usize, usize)> = Vec::new();
        let mut frames: Vec<usize> = Vec::new();
        let mut certain = sp != 0;
        let mut walked = 0;
        backtrace::trace(|frame| {
            walked += 1;
            let address = frame.ip() as usize;
            let after = frame.sp() as usize;
            // Frames of the unwinder lie below the stack pointer; what called the thread's first function has no address.
            if after > sp && address > 1 {
                let at = after.wrapping_sub(size_of::<usize>());
                // SAFETY: as in `same`.
                let stands = at >= sp
                    && after <= self.stack_end
                    && unsafe { (at as *const usize).read_volatile() } == address;
                certain &= stands;
                slots.push((at.wrapping_sub(sp), address));
                if !own(address) {
                    frames.push(address);
                }
            }
            frames.len() < DEPTH && walked < WALK
        });
        python::look();
        let place = sort(frames);
        if certain && !slots.is_empty() {
            if self.seen.len() <= index {
                self.seen.resize_with(index + 1, Vec::new);
            }
            if let Some(seen) = self.seen.get_mut(index) {
                seen.truncate(AT_HAND - 1);
                seen.insert(0, Seen { slots: slots.into_boxed_slice(), place });
            }
        }
        place
    }
}

/// A place by its frames, with those of the interpreter taken out if Python is there.
fn sort(frames: Vec<usize>) -> Place {
    let parts: Vec<Part> = frames.iter().map_while(|address| python::part(*address)).collect();
    let with = |wanted: &mut dyn FnMut(usize, Part) -> bool| -> Site {
        let kept = frames.iter().zip(&parts).enumerate().filter(|(index, (_, part))| wanted(*index, **part));
        number(Trace::Frames(kept.map(|(_, (address, _))| *address).collect()))
    };
    let doors = parts.iter().take_while(|part| **part == Part::Door).count();
    let straight = doors != 0 && parts.get(doors) == Some(&Part::Interpreter);
    let first = parts.iter().position(|part| matches!(part, Part::Door | Part::Interpreter));
    let first = first.unwrap_or(parts.len());
    // What starts programs and threads, and what called that, nobody wrote.
    let last = parts.iter().rposition(|part| *part == Part::Interpreter).unwrap_or(0);
    let started = parts.iter().skip(last).position(|part| *part == Part::System);
    let end = started.map_or(parts.len(), |place| last + place);
    let before = with(&mut |index, part| part == Part::Program && index < first);
    let after = with(&mut |index, part| part == Part::Program && (first..end).contains(&index));
    Place { site: number(Trace::Frames(frames.into_boxed_slice())), before, after, straight }
}

/// The place with these return addresses, innermost first.
pub fn of(frames: &[usize]) -> Site {
    let kept = frames.iter().copied().filter(|address| *address > 1 && !own(*address)).take(DEPTH);
    number(Trace::Frames(kept.collect()))
}

/// The place of a call that Python lines lead to.
pub fn with_lines(before: Site, lines: Box<[u32]>, after: Site) -> Site {
    number(Trace::Lines { before, lines, after })
}

fn number(trace: Trace) -> Site {
    if matches!(&trace, Trace::Frames(frames) if frames.is_empty()) {
        return Site::NONE;
    }
    let mut traces = TRACES.get_or_init(Mutex::default).lock();
    if let Some(number) = traces.numbers.get(&trace) {
        return Site(*number);
    }
    if traces.all.len() >= MOST {
        return Site::NONE;
    }
    traces.all.push(trace.clone());
    let number = traces.all.len() as u32;
    traces.numbers.insert(trace, number);
    Site(number)
}

/// What is behind a place; None for [`Site::NONE`].
pub fn trace(site: Site) -> Option<Trace> {
    let index = (site.0 as usize).checked_sub(1)?;
    TRACES.get_or_init(Mutex::default).lock().all.get(index).cloned()
}

/// Where the object file around an address begins, and its path; 0 and empty if there is none.
pub fn object(address: usize) -> (usize, String) {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for; the structure is of plain pointers, and the loader's path a text.
    unsafe {
        if libc::dladdr(address as *const libc::c_void, info.as_mut_ptr()) == 0 {
            return (0, String::new());
        }
        let info = info.assume_init();
        let path = if info.dli_fname.is_null() {
            String::new()
        } else {
            std::ffi::CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()
        };
        (info.dli_fbase as usize, path)
    }
}

/// One past the last byte of this thread's stack.
fn stack_end() -> Option<usize> {
    // SAFETY: the attributes are written by the call before they are read, and destroyed once.
    unsafe {
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let (mut base, mut size) = (std::ptr::null_mut(), 0);
        let known = libc::pthread_attr_getstack(attributes.as_ptr(), &mut base, &mut size) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        known.then_some(base as usize + size)
    }
}

/// Whether an address lies in the library itself. In a program that has the library linked in nothing does.
fn own(address: usize) -> bool {
    static OWN: OnceLock<(usize, usize)> = OnceLock::new();
    let (start, end) = *OWN.get_or_init(|| {
        let mut search = Search { address: number as *const () as usize, first: true, found: (0, 0) };
        // SAFETY: `visit` gets the pointer given here, which lives through the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
        search.found
    });
    (start..end).contains(&address)
}

struct Search {
    address: usize,
    /// The first object is the program.
    first: bool,
    found: (usize, usize),
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader gives a valid object, and `own` its search.
    let (info, search) = unsafe { (&*info, &mut *data.cast::<Search>()) };
    let program = std::mem::replace(&mut search.first, false);
    let headers = match info.dlpi_phnum {
        0 => &[][..],
        // SAFETY: the loader's table of that length.
        count => unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(count)) },
    };
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let ends = loaded.map(|header| {
        let start = info.dlpi_addr as usize + header.p_vaddr as usize;
        (start, start + header.p_memsz as usize)
    });
    let (start, end) = ends.fold((usize::MAX, 0), |hull, part| (hull.0.min(part.0), hull.1.max(part.1)));
    if !(start..end).contains(&search.address) {
        return 0;
    }
    if !program {
        search.found = (start, end);
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn here(api: Api) -> Site {
        std::hint::black_box(capture(api))
    }

    #[inline(never)]
    fn deeper(api: Api) -> Site {
        std::hint::black_box(here(api))
    }

    #[test]
    fn the_same_call_has_one_place_and_others_have_others() {
        let all: Vec<Site> = (0..3).map(|_| here(Api::aclrtMalloc)).collect();
        assert!(all[0] != Site::NONE && all.iter().all(|site| *site == all[0]));
        let other = here(Api::aclrtMalloc);
        let deep: Vec<Site> = (0..3).map(|_| deeper(Api::aclrtMalloc)).collect();
        assert!(other != all[0] && deep[0] != all[0] && deep[0] != other && deep[1] == deep[2]);
        assert!(matches!(trace(deep[0]), Some(Trace::Frames(frames)) if frames.len() > 1));
        let elsewhere = std::thread::spawn(|| here(Api::aclrtMalloc)).join().unwrap();
        assert!(elsewhere != all[0]);
    }

    #[test]
    fn a_remembered_trace_is_found_without_unwinding() {
        for _ in 0..100 {
            std::hint::black_box(here(Api::aclrtFree));
        }
        // However the loop was unrolled, its calls are far fewer places than rounds.
        MINE.with(|mine| assert!((1..10).contains(&mine.borrow().seen[Api::aclrtFree as usize].len())));
    }
}
