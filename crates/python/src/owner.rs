//! Who keeps the memory alive whose address was given out. Nobody does: the program has to. When a checker listens
//! (`TOPROPE_CHECK`), this module holds one reference to each such object, and so sees that no other one is left; it tells the
//! runtime ([`ascendcl_sys::ABANDONED`]) at the next call that copies or waits, so that a copy which is still pending, or comes
//! later, can be blamed. The object itself lives until the look after that, so that the blamed copy reads what it would have read.
//!
//! Without a checker nothing is held and nothing is looked at.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ascendcl_sys::{ABANDONED, ACL_WARNING};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::library::table;

/// Whether a checker listens.
static ON: AtomicBool = AtomicBool::new(false);

static GIVEN_OUT: Mutex<GivenOut> = Mutex::new(GivenOut { owners: None, blamed: Vec::new() });

struct GivenOut {
    /// By address.
    owners: Option<HashMap<usize, Owner>>,
    /// Told of at the last look.
    blamed: Vec<Py<PyAny>>,
}

struct Owner {
    len: usize,
    object: Py<PyAny>,
}

/// Reads the environment, at import.
pub fn watch() {
    let asked = std::env::var_os("TOPROPE_CHECK").is_some_and(|check| check == "warn" || check == "strict");
    ON.store(asked, Ordering::Relaxed);
}

/// Whether [`note`] has to be called.
#[inline]
pub fn watched() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Notes that the address of `len` bytes was given out, which `object` keeps alive.
pub fn note(object: &Bound<'_, PyAny>, start: usize, len: usize) {
    let owner = Owner { len, object: object.clone().unbind() };
    // The old one is dropped with no lock held, since that may run Python code.
    let old = lock().owners.get_or_insert_with(HashMap::new).insert(start, owner);
    drop(old);
}

/// Tells of objects that nobody else holds any more.
#[inline]
pub fn look(py: Python<'_>) {
    if watched() {
        look_now(py);
    }
}

#[cold]
fn look_now(_: Python<'_>) {
    let mut found = Vec::new();
    let (told_before, gone) = {
        let mut given = lock();
        let owners = given.owners.get_or_insert_with(HashMap::new);
        let starts: Vec<usize> =
            owners.iter().filter(|(_, owner)| alone(owner)).map(|(start, _)| *start).collect();
        for start in starts {
            if let Some(owner) = owners.remove(&start) {
                found.push((start, owner));
            }
        }
        let gone: Vec<(usize, usize)> = found.iter().map(|(start, owner)| (*start, owner.len)).collect();
        let blamed = found.into_iter().map(|(_, owner)| owner.object).collect();
        (std::mem::replace(&mut given.blamed, blamed), gone)
    };
    for (start, len) in gone {
        // SAFETY: texts that end in NUL; the format takes a size and an address.
        unsafe {
            (table().aclAppLog)(
                ACL_WARNING,
                ABANDONED.as_ptr(),
                c"acl.util".as_ptr(),
                0,
                c"%zu bytes at %p".as_ptr(),
                len,
                start,
            );
        }
    }
    drop(told_before);
}

/// Whether the reference held here is the only one.
fn alone(owner: &Owner) -> bool {
    // SAFETY: a live object, since it is held; the caller has the GIL.
    unsafe { ffi::Py_REFCNT(owner.object.as_ptr()) == 1 }
}

fn lock() -> std::sync::MutexGuard<'static, GivenOut> {
    GIVEN_OUT.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
