//! Which runtime the module uses: the `libascendcl.so` that the process has already loaded, else the one that lies beside
//! the extension, which is then loaded with global visibility. The extension itself links none.

use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ascendcl_sys::{LIBRARY, Table};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

static TABLE: OnceLock<Table> = OnceLock::new();

/// The runtime's functions.
#[inline]
pub fn table() -> &'static Table {
    // Python cannot call a function of a module whose import failed, so that the table is always there.
    // SAFETY: the table's own functions.
    TABLE.get_or_init(|| unsafe { Table::from_symbols(|_| None) })
}

/// Fills the table, when the module is imported for the first time.
pub fn load() -> PyResult<()> {
    if TABLE.get().is_some() {
        return Ok(());
    }
    let path = own_folder()?.join(LIBRARY);
    // A runtime of another release may lack functions; those answer 207000.
    // SAFETY: a library of this name has the functions of the headers.
    let (table, _) = unsafe { Table::load_available(&path) }
        .map_err(|error| PyImportError::new_err(format!("no runtime for module acl: {error}")))?;
    // A second thread that came here has the same functions.
    let _ = TABLE.set(table);
    Ok(())
}

/// The folder that this extension was loaded from.
fn own_folder() -> PyResult<PathBuf> {
    let unknown = || PyImportError::new_err("cannot tell where the extension of module acl was loaded from");
    // SAFETY: all fields may be zero.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address inside this library, and a structure to fill.
    if unsafe { libc::dladdr(own_folder as *const c_void, &mut info) } == 0 || info.dli_fname.is_null() {
        return Err(unknown());
    }
    // SAFETY: the loader keeps the name for as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = std::path::absolute(OsStr::from_bytes(name.to_bytes()))?;
    path.parent().map(Path::to_path_buf).ok_or_else(unknown)
}
