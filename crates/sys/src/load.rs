//! Fills a [`Table`] from a shared library.
use std::ffi::{CStr, OsStr, c_void};
use std::fmt;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use crate::{NAMES, Table};

/// SONAME of the library.
pub const LIBRARY: &str = "libascendcl.so";

/// `RTLD_NOLOAD` of Linux: open only what the process has already loaded.
const RTLD_NOLOAD: i32 = 4;

/// Why a table could not be filled.
#[derive(Debug)]
pub enum LoadError {
    /// The library could not be opened: what was asked for, and what the dynamic linker says.
    Open {
        /// Path or name as given.
        library: String,
        /// The dynamic linker's reason.
        reason: String,
    },
    /// The library was opened, but lacks functions of the headers.
    Missing {
        /// Path or name of the library that was used.
        library: String,
        /// The functions that it does not export.
        functions: Vec<&'static str>,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { library, reason } => write!(f, "cannot open {library}: {reason}"),
            Self::Missing { library, functions } => write!(
                f,
                "{library} lacks {} of the {} functions: {}",
                functions.len(),
                NAMES.len(),
                functions.join(", ")
            ),
        }
    }
}

impl std::error::Error for LoadError {}

impl Table {
    /// The functions of the runtime that the process has already loaded, else of the library at `path` (a name without
    /// a slash is searched for as the dynamic linker does). The library stays loaded until the process ends.
    ///
    /// One process has one runtime: a library that is already loaded wins over `path`.
    ///
    /// # Errors
    /// [`LoadError::Open`] when there is no such library, [`LoadError::Missing`] when it is of a release that lacks
    /// some function; see [`Table::load_available`] for those.
    ///
    /// # Safety
    /// Opening a library runs its start-up code; its functions must be those of the AscendCL headers.
    pub unsafe fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        // SAFETY: the caller's promise.
        let (table, missing, library) = unsafe { fill(path.as_ref())? };
        if missing.is_empty() { Ok(table) } else { Err(LoadError::Missing { library, functions: missing }) }
    }

    /// Like [`Table::load`], for a library of another release: a function that it lacks answers
    /// ACL_ERROR_RT_FEATURE_NOT_SUPPORT, or null, 0 or "undefined" where no code is returned. The names of those
    /// functions come with the table.
    ///
    /// # Errors
    /// [`LoadError::Open`] when there is no such library, [`LoadError::Missing`] when none of the functions is there.
    ///
    /// # Safety
    /// As for [`Table::load`].
    pub unsafe fn load_available(path: impl AsRef<Path>) -> Result<(Self, Vec<&'static str>), LoadError> {
        // SAFETY: the caller's promise.
        let (table, missing, library) = unsafe { fill(path.as_ref())? };
        if missing.len() == NAMES.len() {
            return Err(LoadError::Missing { library, functions: missing });
        }
        Ok((table, missing))
    }
}

/// Opens the library and looks every function up; tells what is missing and which library was used.
///
/// # Safety
/// As for [`Table::load`].
unsafe fn fill(path: &Path) -> Result<(Table, Vec<&'static str>, String), LoadError> {
    // SAFETY: the caller's promise.
    let (library, name) = unsafe { open(path)? };
    let mut missing = Vec::new();
    let find = |symbol: &'static CStr| {
        // SAFETY: the symbol is only looked up here; `from_symbols` gives it its type.
        let found = unsafe { library.get::<*mut c_void>(symbol.to_bytes_with_nul()) };
        match found.map(|symbol| symbol.into_raw()) {
            Ok(address) if !address.is_null() => Some(address),
            _ => {
                missing.push(symbol.to_str().unwrap_or_default());
                None
            }
        }
    };
    // SAFETY: the caller promises that the library's functions are those of the headers; it is never closed (below).
    let table = unsafe { Table::from_symbols(find) };
    if missing.len() < NAMES.len() {
        // The table's pointers have no lifetime, so the library has none either.
        std::mem::forget(library);
    }
    Ok((table, missing, name))
}

/// The loaded runtime, else the library at `path`.
///
/// # Safety
/// As for [`Table::load`].
unsafe fn open(path: &Path) -> Result<(Library, String), LoadError> {
    // SAFETY: opens nothing that is not loaded, so no start-up code runs.
    if let Ok(library) = unsafe { Library::open(Some(OsStr::new(LIBRARY)), RTLD_NOW | RTLD_NOLOAD) } {
        return Ok((library, format!("{LIBRARY} (already loaded)")));
    }
    // Global, so that device code which is loaded later finds the registration functions.
    // SAFETY: the caller's promise.
    match unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) } {
        Ok(library) => Ok((library, path.display().to_string())),
        Err(error) => Err(LoadError::Open { library: path.display().to_string(), reason: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        // SAFETY: nothing is opened.
        let error = unsafe { Table::load("/nowhere/libascendcl.so") }.err().expect("an error");
        assert!(matches!(error, LoadError::Open { .. }));
        assert!(error.to_string().starts_with("cannot open /nowhere/libascendcl.so: "), "{error}");
    }

    #[test]
    fn missing_functions_are_named() {
        // SAFETY: the C library is loaded already, and none of its functions is called.
        let error = unsafe { Table::load("libc.so.6") }.err().expect("an error");
        let LoadError::Missing { library, functions } = &error else { panic!("{error}") };
        assert_eq!((library.as_str(), functions.len()), ("libc.so.6", NAMES.len()));
        assert!(error.to_string().contains(" aclrtMemcpyAsync,"), "{error}");
        // SAFETY: as above.
        assert!(unsafe { Table::load_available("libc.so.6") }.is_err(), "no function at all is no runtime");
    }

    #[test]
    fn an_absent_function_says_so() {
        // SAFETY: every function is the table's own.
        let table = unsafe { Table::from_symbols(|_| None) };
        // SAFETY: absent functions read no argument.
        unsafe {
            assert_eq!((table.aclrtSetDevice)(0), crate::ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
            assert!((table.aclGetRecentErrMsg)().is_null());
            assert_eq!((table.aclDataTypeSize)(crate::ACL_FLOAT), 0);
            assert_eq!((table.acltdtGetDataTypeFromItem)(std::ptr::null()), crate::ACL_DT_UNDEFINED);
            (table.aclAppLog)(
                crate::ACL_INFO,
                c"f".as_ptr(),
                c"f".as_ptr(),
                1,
                c"%d %f".as_ptr(),
                1i32,
                2f64,
            );
        }
    }
}
