//! The gate: every call of every front end passes here, and only here are support, forks, panics, tracing and error
//! records dealt with.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ascendcl_sys as sys;

use crate::error::{self, Error, Result};
use crate::generated::api::Api;
use crate::observer;
use crate::process::{self, Runtime};

/// Runs one call and turns its result into the code for the program.
#[inline]
pub fn call(api: Api, body: impl FnOnce(&'static Runtime) -> Result<()>) -> i32 {
    match enter(api, body) {
        Ok(()) => 0,
        Err(error) => error.code(),
    }
}

/// As [`call`], for functions that return something else than a code: `otherwise` on failure.
pub fn value<T>(api: Api, otherwise: T, body: impl FnOnce(&'static Runtime) -> Result<T>) -> T {
    enter(api, body).unwrap_or(otherwise)
}

/// As [`value`], for what failed calls left behind: a process that has no runtime (a target that does not exist, a forked child)
/// hears why.
pub fn left_behind<T>(api: Api, otherwise: T, body: impl FnOnce() -> T) -> T {
    guarded(api, || match toprope_engine::fault::forked() {
        true => Ok(body()),
        false => match process::runtime() {
            Ok(runtime) if !runtime.profile.supports(api) => unsupported(api, runtime),
            _ => Ok(body()),
        },
    })
    .unwrap_or(otherwise)
}

/// Answers for a function that is exported but not built.
#[cold]
pub fn unbuilt(api: Api) -> i32 {
    call(api, |_| {
        crate::refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            error::log::UNBUILT,
            "this version of toprope does not have the function yet"
        )
    })
}

#[inline]
fn enter<T>(api: Api, body: impl FnOnce(&'static Runtime) -> Result<T>) -> Result<T> {
    guarded(api, || admit(api).and_then(body))
}

/// Does `work` with what belongs to every call: the observer, panics and the error record.
#[inline]
fn guarded<T>(api: Api, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let watched = observer::watched();
    if watched {
        observer::get().call(api);
    }
    // A panic is a fault of ours; it must not unwind into the program.
    let result = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(panic) => Err(internal(&*panic)),
    };
    match &result {
        Ok(_) => error::succeeded(api),
        Err(error) => error::record(api, error),
    }
    if watched {
        observer::get().returned(api, result.as_ref().err());
    }
    result
}

/// Whether the call may go on at all: the process is not a forked child, the target is valid and has the function.
#[inline]
fn admit(api: Api) -> Result<&'static Runtime> {
    // ours: a forked child shares neither workers nor device memory with its parent.
    if toprope_engine::fault::forked() {
        return crate::refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "ours: forked child",
            "this process was forked from one that used the runtime; a child must start its own with exec"
        );
    }
    let runtime = process::runtime()?;
    // *#06
    if !runtime.profile.supports(api) {
        return unsupported(api, runtime);
    }
    Ok(runtime)
}

#[cold]
fn unsupported<T>(api: Api, runtime: &Runtime) -> Result<T> {
    crate::refuse!(
        sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        error::log::UNSUPPORTED,
        "{} is not supported on {}",
        api.function().name,
        runtime.profile.product.key
    )
}

#[cold]
fn internal(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    Error::new(sys::ACL_ERROR_INTERNAL_ERROR, "ours: fault in toprope", format!("internal error: {text}"))
}
