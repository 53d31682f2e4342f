//! Return addresses as functions, files and lines. Done only for what is reported.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use parking_lot::Mutex;

use crate::python;
use crate::site::{self, Site, Trace};

/// One frame of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The function, demangled; empty when unknown.
    pub function: String,
    /// The file, as the debug information has it; empty when unknown.
    pub file: String,
    /// The line; 0 when unknown.
    pub line: u32,
    /// The address, for a frame that nothing is known of.
    pub address: usize,
    /// It lies in a library of the system: the C library, the interpreter.
    pub system: bool,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.function.is_empty(), self.file.is_empty()) {
            (false, false) => write!(f, "{} ({}:{})", self.function, self.file, self.line),
            (false, true) => write!(f, "{}", self.function),
            (true, false) => write!(f, "{}:{}", self.file, self.line),
            (true, true) => write!(f, "{:#x}", self.address),
        }
    }
}

/// The frames of a place, innermost first.
pub fn resolve(site: Site) -> Vec<Frame> {
    static KNOWN: OnceLock<Mutex<HashMap<Site, Vec<Frame>>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    if let Some(frames) = known.lock().get(&site) {
        return frames.clone();
    }
    let frames = match site::trace(site) {
        None => Vec::new(),
        Some(Trace::Frames(addresses)) => machine(&addresses),
        Some(Trace::Lines { before, lines, after }) => {
            let lines = lines.iter().filter_map(|number| python::line(*number));
            let lines = lines.map(|python::Line { function, file, line }| Frame {
                function,
                file,
                line,
                ..Frame::default()
            });
            resolve(before).into_iter().chain(lines).chain(resolve(after)).collect()
        }
    };
    known.lock().insert(site, frames.clone());
    frames
}

/// Return addresses as frames, up to `main`.
fn machine(addresses: &[usize]) -> Vec<Frame> {
    let mut frames = Vec::new();
    for address in addresses {
        one(*address, &mut frames);
    }
    if let Some(main) = frames.iter().position(|frame| frame.function == "main") {
        frames.truncate(main + 1);
    }
    frames
}

/// The function around an address; several, where others were inlined.
fn one(address: usize, frames: &mut Vec<Frame>) {
    let before = frames.len();
    let system = of_the_system(address);
    // The address after the call may belong to the next line.
    backtrace::resolve(address.saturating_sub(1) as *mut std::ffi::c_void, |symbol| {
        frames.push(Frame {
            function: symbol.name().and_then(|name| name.as_str()).map(demangle).unwrap_or_default(),
            file: symbol.filename().map(|file| file.display().to_string()).unwrap_or_default(),
            line: symbol.lineno().unwrap_or(0),
            address,
            system,
        });
    });
    if frames.len() == before {
        frames.push(Frame { address, system, ..Frame::default() });
    }
}

/// Whether an address lies in what the system installs.
fn of_the_system(address: usize) -> bool {
    // SAFETY: all fields may be zero.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is only looked up.
    if unsafe { libc::dladdr(address as *const libc::c_void, &raw mut found) } == 0
        || found.dli_fname.is_null()
    {
        return false;
    }
    // SAFETY: the loader keeps the name for as long as the library is loaded, and a frame of it is on a stack.
    let name = unsafe { std::ffi::CStr::from_ptr(found.dli_fname) }.to_bytes();
    [&b"/lib"[..], b"/usr/lib", b"/usr/bin/python"].iter().any(|folder| name.starts_with(folder))
}

fn demangle(name: &str) -> String {
    cpp_demangle::Symbol::new(name)
        .ok()
        .and_then(|symbol| symbol.demangle(&cpp_demangle::DemangleOptions::default()).ok())
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_are_readable() {
        assert_eq!(demangle("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(demangle("main"), "main");
    }
}
