//! Chapters 12 and 13: Python functions that the runtime calls. They run with the GIL, on whatever thread the runtime calls
//! from; none of our locks is held meanwhile.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ascendcl_sys::{aclError, aclrtExceptionInfo};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::library::table;

/// Set when Python ends: from then on no thread of the runtime may wait for the GIL, which it would never get.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Has [`ENDING`] set at exit.
pub fn watch_exit(py: Python<'_>) -> PyResult<()> {
    let hook = wrap_pyfunction!(python_ends, py)?;
    py.import("atexit")?.call_method1("register", (hook,))?;
    Ok(())
}

/// Runs at exit.
#[pyfunction]
fn python_ends() {
    ENDING.store(true, Ordering::Release);
}

/// Runs `work` with the GIL, if Python still runs.
pub fn attached<R>(work: impl for<'py> FnOnce(Python<'py>) -> R) -> Option<R> {
    if ENDING.load(Ordering::Acquire) { None } else { Python::try_attach(work) }
}

/// TypeError for what cannot be called.
pub fn callable(func: &Bound<'_, PyAny>) -> PyResult<()> {
    if func.is_callable() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!("a callable is needed, not {}", func.get_type().name()?)))
}

/// One call that a stream will make.
struct Call {
    func: Py<PyAny>,
    data: Py<PyAny>,
}

/// What the runtime calls for a [`Call`].
///
/// # Safety
/// `call` comes from `Box::into_raw`, and this is its only use.
unsafe extern "C" fn run(call: *mut c_void) {
    // SAFETY: the caller's promise.
    let call = unsafe { Box::from_raw(call.cast::<Call>()) };
    attached(move |py| {
        let Call { func, data } = *call;
        if let Err(error) = func.call1(py, (data,)) {
            error.write_unraisable(py, Some(func.bind(py)));
        }
    });
}

#[doc = help!(rt_launch_callback)]
#[pyfunction]
#[pyo3(name = "launch_callback", signature = (func, user_data, block_type, stream, /))]
pub fn rt_launch_callback(
    func: &Bound<'_, PyAny>,
    user_data: Py<PyAny>,
    block_type: i32,
    stream: usize,
) -> PyResult<aclError> {
    callable(func)?;
    let call = Box::into_raw(Box::new(Call { func: func.clone().unbind(), data: user_data }));
    // SAFETY: `run` takes the box; a handle is only a number to the library.
    let ret = unsafe { (table().aclrtLaunchCallback)(Some(run), call.cast(), block_type as _, stream as _) };
    if ret != 0 {
        // SAFETY: a call that failed added nothing, so that the box is still ours.
        drop(unsafe { Box::from_raw(call) });
    }
    Ok(ret)
}

/// What is called when a task fails.
static ON_EXCEPTION: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

/// Exchanges [`ON_EXCEPTION`]; the old one is given back, to be dropped with no lock held.
fn exchange(new: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
    let mut slot = ON_EXCEPTION.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    std::mem::replace(&mut *slot, new)
}

/// What the runtime calls when a task fails.
///
/// # Safety
/// Any address may be given; it is passed on as a number.
unsafe extern "C" fn on_exception(info: *mut aclrtExceptionInfo) {
    let info = info as usize;
    attached(|py| {
        let slot = ON_EXCEPTION.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let func = slot.as_ref().map(|func| func.clone_ref(py));
        drop(slot);
        let Some(func) = func else { return };
        if let Err(error) = func.call1(py, (info,)) {
            error.write_unraisable(py, Some(func.bind(py)));
        }
    });
}

#[doc = help!(rt_set_exception_info_callback)]
#[pyfunction]
#[pyo3(name = "set_exception_info_callback", signature = (func=None, /))]
pub fn rt_set_exception_info_callback(py: Python<'_>, func: Option<&Bound<'_, PyAny>>) -> PyResult<aclError> {
    let Some(func) = func else {
        // SAFETY: NULL ends it.
        let ret = py.detach(|| unsafe { (table().aclrtSetExceptionInfoCallback)(None) });
        drop(if ret == 0 { exchange(None) } else { None });
        return Ok(ret);
    };
    callable(func)?;
    let before = exchange(Some(func.clone().unbind()));
    // SAFETY: a function of that type which lives as long as the process.
    let ret = py.detach(|| unsafe { (table().aclrtSetExceptionInfoCallback)(Some(on_exception)) });
    drop(if ret == 0 { before } else { exchange(before) });
    Ok(ret)
}
