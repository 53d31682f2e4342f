//! Lines of Python code. When a call begins on a thread that runs Python, its Python stack is noted; the frames of the interpreter
//! say nothing to whoever wrote the program.
//!
//! # When the stack can be read
//! | the calling thread | |
//! | --- | --- |
//! | never ran Python, or Python is not there, starts or ends | it has no Python stack |
//! | is attached to the interpreter ("holds the GIL") | it is read |
//! | has let go of the interpreter, and what called the runtime is ctypes, cffi or the module `acl`, called by the interpreter itself ([`Place::straight`]) | the interpreter is taken back for the reading |
//! | has let go of it, and other code called the runtime | it is not read: the frames stay those of the machine |
//!
//! Waiting for the GIL in a call could deadlock a correct program: it may hold a lock of its own that the thread with the GIL waits
//! for. Not so in the third row. Nothing happened between giving the GIL up and the call, so a thread that waits here is
//! where it might as well have been preempted, before the line; and no lock of the runtime or the checker is held when a
//! call begins.
//!
//! No Python code runs meanwhile, and an attached thread stays attached: the functions used run none, and the garbage collector,
//! which the making of a frame object may start before Python 3.12, is off.
//!
//! A thread that Python ends because Python itself ends (before 3.14 it does that by unwinding it, when it asks for the GIL) stays here
//! for ever, as later versions have it.
//!
//! Nothing in a forked child: the thread that had one of the locks may be missing.
//!
//! Locks: that of [`LINES`] and that of the traces are the last that anybody takes, with the GIL or without; the GIL is never waited for
//! with one of them held.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::site::{self, DEPTH, Place, Site};

type Object = *mut c_void;
type Thread = *mut c_void;

/// The interpreter's functions that are needed.
struct Python {
    is_initialized: unsafe extern "C" fn() -> c_int,
    is_finalizing: Option<unsafe extern "C" fn() -> c_int>,
    /// The calling thread's state, attached or not; null if it has none.
    own: unsafe extern "C" fn() -> Thread,
    /// The attached state: before 3.12 of any thread, later of the calling one. Null if there is none.
    attached: unsafe extern "C" fn() -> Thread,
    /// Whether the calling thread is attached; always true once there are subinterpreters.
    check: unsafe extern "C" fn() -> c_int,
    /// May unwind the thread when Python ends.
    restore: unsafe extern "C-unwind" fn(Thread),
    save: unsafe extern "C" fn() -> Thread,
    /// A borrowed reference; the others give new ones.
    frame: unsafe extern "C" fn() -> Object,
    back: unsafe extern "C" fn(Object) -> Object,
    code: unsafe extern "C" fn(Object) -> Object,
    line: unsafe extern "C" fn(Object) -> c_int,
    /// The instruction. From 3.11 on.
    at: Option<unsafe extern "C" fn(Object) -> c_int>,
    attribute: unsafe extern "C" fn(Object, *const c_char) -> Object,
    /// A text that lives as long as the object.
    text: unsafe extern "C" fn(Object, *mut isize) -> *const c_char,
    keep: unsafe extern "C" fn(Object),
    drop: unsafe extern "C" fn(Object),
    fetch: unsafe extern "C" fn(*mut Object, *mut Object, *mut Object),
    rethrow: unsafe extern "C" fn(Object, Object, Object),
    /// The garbage collector, from 3.10 on; answers whether it was on.
    collector_off: Option<unsafe extern "C" fn() -> c_int>,
    collector_on: Option<unsafe extern "C" fn() -> c_int>,
    /// Where the object file begins that has all this.
    base: usize,
}

static PYTHON: OnceLock<Python> = OnceLock::new();

/// Looks whether Python has been loaded. Called when a stack is new: one with Python frames on it is.
pub fn look() {
    if PYTHON.get().is_none()
        && let Some(python) = Python::find()
    {
        let _ = PYTHON.set(python);
    }
}

/// The address of a function of Python.
fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a text.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// A function of Python as the type of the field that it is for.
macro_rules! function {
    ($($name:literal)|+) => {
        match None$(.or_else(|| symbol($name)))+ {
            // SAFETY: the name says what type it has, in all versions since 3.9.
            Some(found) => Some(unsafe { std::mem::transmute_copy::<*mut c_void, _>(&found) }),
            None => None,
        }
    };
}

impl Python {
    #[cold]
    fn find() -> Option<Python> {
        let first = symbol(c"Py_IsInitialized")?;
        Some(Python {
            is_initialized: function!(c"Py_IsInitialized")?,
            is_finalizing: function!(c"Py_IsFinalizing" | c"_Py_IsFinalizing"),
            own: function!(c"PyGILState_GetThisThreadState")?,
            attached: function!(c"PyThreadState_GetUnchecked" | c"_PyThreadState_UncheckedGet")?,
            check: function!(c"PyGILState_Check")?,
            restore: function!(c"PyEval_RestoreThread")?,
            save: function!(c"PyEval_SaveThread")?,
            frame: function!(c"PyEval_GetFrame")?,
            back: function!(c"PyFrame_GetBack")?,
            code: function!(c"PyFrame_GetCode")?,
            line: function!(c"PyFrame_GetLineNumber")?,
            at: function!(c"PyFrame_GetLasti"),
            attribute: function!(c"PyObject_GetAttrString")?,
            text: function!(c"PyUnicode_AsUTF8AndSize")?,
            keep: function!(c"Py_IncRef")?,
            drop: function!(c"Py_DecRef")?,
            fetch: function!(c"PyErr_Fetch")?,
            rethrow: function!(c"PyErr_Restore")?,
            collector_off: function!(c"PyGC_Disable"),
            collector_on: function!(c"PyGC_Enable"),
            base: site::object(first as usize).0,
        })
    }
}

/// What lies at an address, for a stack with Python frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The interpreter.
    Interpreter,
    /// What lets Python code call C functions, and holds no locks of the program when it does.
    Door,
    /// The system: what starts threads and programs.
    System,
    /// Anything else.
    Program,
}

/// What an address belongs to; None while Python is not there.
pub fn part(address: usize) -> Option<Part> {
    let python = PYTHON.get()?;
    let (base, path) = site::object(address);
    let name = path.rsplit('/').next().unwrap_or_default();
    let begins = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    Some(if base == python.base {
        Part::Interpreter
    } else if begins(&["_ctypes.", "libffi", "_cffi_backend.", "_acl.abi3."]) {
        Part::Door
    } else if begins(&["libc.so", "libc-2", "libpthread", "ld-linux"]) {
        Part::System
    } else {
        Part::Program
    })
}

/// A frame: its code object, and the instruction (or line) in it.
type At = (usize, c_int);
type Stack = SmallVec<[At; DEPTH]>;

/// A line of Python code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The function with its class and outer functions (before 3.11 its name alone).
    pub function: String,
    /// The file, as Python has it.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

/// Code objects that are kept alive so that their addresses stay theirs; frames of others are left out.
const MOST: usize = 1 << 16;
/// Stacks that a thread keeps at hand.
const AT_HAND: usize = 16;

/// All lines that were seen.
#[derive(Default)]
struct Lines {
    kept: HashSet<usize>,
    /// None: not worth showing.
    at: HashMap<At, Option<u32>>,
    numbers: HashMap<Line, u32>,
    all: Vec<Line>,
}

static LINES: OnceLock<Mutex<Lines>> = OnceLock::new();

/// A stack as a thread has seen it.
struct Recent {
    before: Site,
    after: Site,
    stack: Stack,
    site: Site,
}

thread_local! {
    static RECENT: ManuallyDrop<RefCell<Vec<Recent>>> = ManuallyDrop::default();
}

/// A line by its number.
pub fn line(number: u32) -> Option<Line> {
    LINES.get_or_init(Mutex::default).lock().all.get(number as usize).cloned()
}

/// Gives back what the thread keeps.
pub fn forget() {
    let _ = RECENT.try_with(|recent| recent.try_borrow_mut().map(|mut recent| *recent = Vec::new()));
}

/// The place of a call with the Python lines that led to it; the given one if there are none. No lock may be held.
#[inline]
pub fn refine(place: &Place) -> Site {
    match PYTHON.get() {
        Some(python) => python.refine(place),
        None => place.site,
    }
}

/// The thread is attached; drop lets go of the interpreter if it was taken for this.
struct Attached<'a> {
    python: &'a Python,
    taken: bool,
    collects: bool,
    error: [Object; 3],
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        let [kind, value, trace] = self.error;
        // SAFETY: the thread is attached; what was taken is given back.
        unsafe {
            (self.python.rethrow)(kind, value, trace);
            if let Some(on) = self.python.collector_on.filter(|_| self.collects) {
                on();
            }
            if self.taken {
                (self.python.save)();
            }
        }
    }
}

/// Is dropped only when the thread is being unwound.
struct Stay;

impl Drop for Stay {
    fn drop(&mut self) {
        loop {
            // SAFETY: waits for a signal.
            unsafe { libc::pause() };
        }
    }
}

impl Python {
    fn refine(&self, place: &Place) -> Site {
        let Some(attached) = self.attach(place.straight) else { return place.site };
        let stack = attached.stack();
        if stack.is_empty() {
            return place.site;
        }
        RECENT
            .try_with(|recent| {
                let mut recent = recent.try_borrow_mut().ok()?;
                let known = recent.iter().position(|known| {
                    known.stack == stack && (known.before, known.after) == (place.before, place.after)
                });
                if let Some(known) = known {
                    recent.swap(0, known);
                    return recent.first().map(|known| known.site);
                }
                let (lines, all) = attached.lines();
                let site = if lines.is_empty() {
                    place.site
                } else {
                    site::with_lines(place.before, lines, place.after)
                };
                if all {
                    recent.truncate(AT_HAND - 1);
                    recent.insert(0, Recent { before: place.before, after: place.after, stack, site });
                }
                Some(site)
            })
            .ok()
            .flatten()
            .unwrap_or(place.site)
    }

    /// Makes sure that the calling thread is attached, if that can be done.
    fn attach(&self, straight: bool) -> Option<Attached<'_>> {
        // SAFETY: these may be called by any thread at any time.
        let (initialized, finalizing) =
            unsafe { ((self.is_initialized)() != 0, self.is_finalizing.is_some_and(|ends| ends() != 0)) };
        if !initialized || finalizing || toprope_engine::fault::forked() {
            return None;
        }
        // SAFETY: Python is initialized; these look at pointers.
        let (own, attached) = unsafe { ((self.own)(), (self.attached)()) };
        if own.is_null() {
            return None;
        }
        let taken = own != attached;
        if taken {
            // SAFETY: as above. When it says that the thread is attached, there are subinterpreters, and nobody can tell.
            if !straight || unsafe { (self.check)() } != 0 {
                return None;
            }
            let stay = Stay;
            // SAFETY: the thread's own state, which it has let go of.
            unsafe { (self.restore)(own) };
            std::mem::forget(stay);
        }
        let mut error = [std::ptr::null_mut(); 3];
        let [kind, value, trace] = &mut error;
        // SAFETY: the thread is attached; three locals.
        let collects = unsafe {
            (self.fetch)(kind, value, trace);
            self.collector_off.is_some_and(|off| off() != 0)
        };
        Some(Attached { python: self, taken, collects, error })
    }
}

impl Attached<'_> {
    /// Shows the frames, innermost first, until `each` says that it is enough.
    fn walk(&self, mut each: impl FnMut(Object, Object, c_int) -> bool) {
        let python = self.python;
        // SAFETY: the thread is attached. Each reference is given back once; the frame holds its code.
        unsafe {
            let mut frame = (python.frame)();
            if !frame.is_null() {
                (python.keep)(frame);
            }
            while !frame.is_null() {
                let code = (python.code)(frame);
                (python.drop)(code);
                let at = python.at.unwrap_or(python.line)(frame);
                let next = if each(frame, code, at) { (python.back)(frame) } else { std::ptr::null_mut() };
                (python.drop)(frame);
                frame = next;
            }
        }
    }

    fn stack(&self) -> Stack {
        let mut stack = Stack::new();
        self.walk(|_, code, at| {
            stack.push((code as usize, at));
            stack.len() < DEPTH
        });
        stack
    }

    /// The same frames as numbers of lines, and whether none had to be left out.
    #[cold]
    fn lines(&self) -> (Box<[u32]>, bool) {
        let mut lines = Vec::new();
        let mut all = true;
        let mut count = 0;
        self.walk(|frame, code, at| {
            count += 1;
            match self.number(frame, code, at) {
                Some(number) => lines.extend(number),
                None => all = false,
            }
            count < DEPTH
        });
        (lines.into_boxed_slice(), all)
    }

    /// The number of a frame's line; None when its code cannot be kept.
    fn number(&self, frame: Object, code: Object, at: c_int) -> Option<Option<u32>> {
        let key = (code as usize, at);
        let table = LINES.get_or_init(Mutex::default);
        if let Some(number) = table.lock().at.get(&key) {
            return Some(*number);
        }
        let file = self.text(code, c"co_filename").unwrap_or_default();
        let function = self.text(code, c"co_qualname").or_else(|| self.text(code, c"co_name"));
        // SAFETY: the thread is attached, the frame alive.
        let line = unsafe { (self.python.line)(frame) };
        let line = Line { function: function.unwrap_or_default(), file, line: line.try_into().unwrap_or(0) };
        let mut table = table.lock();
        if !table.kept.contains(&key.0) {
            if table.kept.len() >= MOST {
                return None;
            }
            table.kept.insert(key.0);
            // SAFETY: the thread is attached, and the frame holds the code.
            unsafe { (self.python.keep)(code) };
        }
        let number = table.intern(line);
        table.at.insert(key, number);
        Some(number)
    }

    /// An attribute that is a text.
    fn text(&self, object: Object, name: &CStr) -> Option<String> {
        let python = self.python;
        // SAFETY: the thread is attached, the object alive; the text lives until the last line of this, and an error that comes of it
        // is dropped.
        unsafe {
            let value = (python.attribute)(object, name.as_ptr());
            let mut length = 0;
            let start =
                if value.is_null() { std::ptr::null() } else { (python.text)(value, &raw mut length) };
            let text = (!start.is_null()).then(|| {
                let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length.try_into().unwrap_or(0));
                String::from_utf8_lossy(bytes).into_owned()
            });
            if text.is_none() {
                let mut error = [std::ptr::null_mut(); 3];
                let [kind, value, trace] = &mut error;
                (python.fetch)(kind, value, trace);
                error.into_iter().filter(|part| !part.is_null()).for_each(|part| (python.drop)(part));
            }
            if !value.is_null() {
                (python.drop)(value);
            }
            text
        }
    }
}

impl Lines {
    fn intern(&mut self, line: Line) -> Option<u32> {
        // Modules that are a part of the interpreter: those that import and start others.
        if line.file.starts_with("<frozen ") {
            return None;
        }
        if let Some(number) = self.numbers.get(&line) {
            return Some(*number);
        }
        let number = u32::try_from(self.all.len()).ok()?;
        self.all.push(line.clone());
        self.numbers.insert(line, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_line_has_one_number_and_frozen_ones_have_none() {
        let mut lines = Lines::default();
        let line = |file: &str, line| Line { function: "f".to_owned(), file: file.to_owned(), line };
        let first = lines.intern(line("a.py", 1));
        assert_eq!(lines.intern(line("a.py", 2)), Some(1));
        assert_eq!(lines.intern(line("a.py", 1)), first);
        assert_eq!(lines.intern(line("<frozen runpy>", 1)), None);
    }
}
