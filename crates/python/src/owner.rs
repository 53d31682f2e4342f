//! Who keeps the memory alive whose address was given out. Nobody does: the program has to. When a checker listens
//! (`TOPROPE_CHECK`), this module holds one reference to each such object, and so sees that no other one is left; it tells the
//! runtime ([`ascendcl_sys::ABANDONED`]) and lets the object go, so that a copy which is still pending, or comes later, can be
//! blamed, and meets what it would have met without the checker.
//!
//! It looks at all objects before each call that copies or waits, and in between whenever so much was given out that this is
//! paid for ([`GivenOut::due`]); at the one given out last, which is gone at once in `bytes_to_ptr(array.tobytes())`, when the
//! next one is given out.
//!
//! Without a checker nothing is held and nothing is looked at.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ascendcl_sys::{ABANDONED, ACL_WARNING};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::library::table;

/// Whether a checker listens.
static ON: AtomicBool = AtomicBool::new(false);

/// Objects, and bytes, that may be given out between two looks however little is held.
const FEW: usize = 16;
const SMALL: usize = 1 << 20;

static GIVEN_OUT: Mutex<GivenOut> = Mutex::new(GivenOut {
    owners: None,
    held: Amount { objects: 0, bytes: 0 },
    since: Amount { objects: 0, bytes: 0 },
    last: 0,
});

struct GivenOut {
    /// By address.
    owners: Option<HashMap<usize, Owner>>,
    /// What the last look left.
    held: Amount,
    /// What was given out since.
    since: Amount,
    /// The address that was given out last.
    last: usize,
}

#[derive(Default)]
struct Amount {
    objects: usize,
    bytes: usize,
}

impl Amount {
    fn add(&mut self, bytes: usize) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl GivenOut {
    /// Whether the next look is due.
    fn due(&self) -> bool {
        self.since.objects >= FEW.max(self.held.objects / 2)
            || self.since.bytes >= SMALL.max(self.held.bytes / 2)
    }
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
    let (gone, old, due) = {
        let mut given = lock();
        given.since.add(len);
        let last = std::mem::replace(&mut given.last, start);
        let owners = given.owners.get_or_insert_with(HashMap::new);
        let lost = owners.get(&last).is_some_and(alone);
        let gone = if lost { owners.remove_entry(&last) } else { None };
        (gone, owners.insert(start, owner), given.due())
    };
    tell(gone.as_slice(), c"%zu bytes at %p");
    // Both go with no lock held, since that may run Python code.
    drop((gone, old));
    if due {
        look_now(c"%zu bytes at %p");
    }
}

/// Tells of objects that nobody else holds any more. Called at the start of a call that has its arguments: an address among them that
/// belongs to such an object cannot be that of another yet, since the object is held here.
#[inline]
pub fn look(_: Python<'_>) {
    if watched() {
        look_now(c"%zu bytes at %p for the next call");
    }
}

/// The caller has the GIL.
#[cold]
fn look_now(message: &CStr) {
    let gone: Vec<(usize, Owner)> = {
        let mut given = lock();
        let owners = given.owners.get_or_insert_with(HashMap::new);
        let starts: Vec<usize> =
            owners.iter().filter(|(_, owner)| alone(owner)).map(|(start, _)| *start).collect();
        let gone = starts.iter().filter_map(|start| owners.remove_entry(start)).collect();
        let mut held = Amount::default();
        owners.values().for_each(|owner| held.add(owner.len));
        (given.held, given.since) = (held, Amount::default());
        gone
    };
    tell(&gone, message);
    // Here the objects go, with no lock held, since that may run Python code.
}

/// Tells the runtime of objects that only this module holds.
fn tell(gone: &[(usize, Owner)], message: &CStr) {
    for (start, owner) in gone {
        // SAFETY: texts that end in NUL; every message takes a size and an address.
        unsafe {
            (table().aclAppLog)(
                ACL_WARNING,
                ABANDONED.as_ptr(),
                c"acl.util".as_ptr(),
                0,
                message.as_ptr(),
                owner.len,
                *start,
            );
        }
    }
}

/// Whether the reference held here is the only one.
fn alone(owner: &Owner) -> bool {
    // SAFETY: a live object, since it is held; the caller has the GIL.
    unsafe { ffi::Py_REFCNT(owner.object.as_ptr()) == 1 }
}

fn lock() -> std::sync::MutexGuard<'static, GivenOut> {
    GIVEN_OUT.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
