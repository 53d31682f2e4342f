//! `acl.util.start_thread` and `stop_thread`: threads that Python code starts for process_report.

use std::collections::HashMap;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Mutex;
use std::thread::JoinHandle;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::callback::{attached, callable};

/// A thread that nobody has waited for yet. The process is noted, since a forked child has no thread but its own.
struct Started {
    process: u32,
    handle: JoinHandle<Option<PyErr>>,
}

static THREADS: Mutex<Option<HashMap<u64, Started>>> = Mutex::new(None);

fn threads<R>(work: impl FnOnce(&mut HashMap<u64, Started>) -> R) -> R {
    let mut slot = THREADS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    work(slot.get_or_insert_with(HashMap::new))
}

#[doc = help!(util_start_thread)]
#[pyfunction]
#[pyo3(name = "start_thread", signature = (func, args, /))]
pub fn util_start_thread(func: &Bound<'_, PyAny>, args: Py<PyAny>) -> PyResult<(u64, i32)> {
    callable(func)?;
    let func = func.clone().unbind();
    let work = move || {
        attached(move |py| {
            let result = if args.is_none(py) { func.call0(py) } else { func.call1(py, (args,)) };
            let error = result.err()?;
            // Said now, as Python's own threads do, since nobody may ever wait for this one.
            error.clone_ref(py).write_unraisable(py, Some(func.bind(py)));
            Some(error)
        })
        .flatten()
    };
    match std::thread::Builder::new().name("acl.util".into()).spawn(work) {
        Ok(handle) => {
            let id: u64 = handle.as_pthread_t();
            threads(|all| all.insert(id, Started { process: std::process::id(), handle }));
            Ok((id, 0))
        }
        Err(error) => Ok((0, error.raw_os_error().unwrap_or(libc::EAGAIN))),
    }
}

#[doc = help!(util_stop_thread)]
#[pyfunction]
#[pyo3(name = "stop_thread", signature = (thread_id, /))]
pub fn util_stop_thread(py: Python<'_>, thread_id: u64) -> PyResult<i32> {
    // SAFETY: takes nothing and touches nothing.
    if thread_id == unsafe { libc::pthread_self() } {
        return Ok(libc::EDEADLK);
    }
    let Some(started) = threads(|all| all.remove(&thread_id)) else { return Ok(libc::ESRCH) };
    if started.process != std::process::id() {
        // Waiting for a thread of the parent would never end.
        std::mem::forget(started);
        return Ok(libc::ESRCH);
    }
    match py.detach(|| started.handle.join()) {
        Ok(None) => Ok(0),
        Ok(Some(error)) => {
            let raised = PyRuntimeError::new_err("the function of the thread raised an exception");
            raised.set_cause(py, Some(error));
            Err(raised)
        }
        Err(_) => Err(PyRuntimeError::new_err("the thread ended in a panic")),
    }
}
