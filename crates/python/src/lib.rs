//! `acl._acl`: the functions of the Python module `acl`, on the runtime that the process has, or the one in the package.
//!
//! - [`generated`]: functions whose arguments are plain, from spec/pyacl.csv;
//! - [`fast`]: how Python calls those that take numbers only;
//! - one file per chapter: those with dicts, lists, arrays or callables;
//! - [`library`]: which runtime is used; [`owner`]: who keeps memory alive.
//!
//! Wrong argument types raise TypeError, numbers that do not fit OverflowError; what the runtime answers is returned. A call
//! that can wait for a stream or for another thread releases the GIL; every other one keeps it.

#[macro_use]
mod generated;

mod absent;
mod callback;
mod device;
mod dict;
mod fast;
mod init;
mod known;
mod library;
mod memory;
mod notify;
mod owner;
mod readable;
mod stream;
mod text;
mod thread;
mod util;

use pyo3::prelude::*;
use pyo3::types::PyModule;

/// The extension module.
#[pymodule]
#[pyo3(name = "_acl")]
fn extension(module: &Bound<'_, PyModule>) -> PyResult<()> {
    use generated::functions;

    let py = module.py();
    library::load()?;
    owner::watch();
    callback::watch_exit(py)?;
    functions::add_acl(module)?;
    let rt = PyModule::new(py, "acl.rt")?;
    functions::add_rt(&rt)?;
    let util = PyModule::new(py, "acl.util")?;
    functions::add_util(&util)?;
    let mdl = PyModule::new(py, "acl.mdl")?;
    functions::add_mdl(&mdl)?;
    module.add("rt", rt)?;
    module.add("util", util)?;
    module.add("mdl", mdl)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
