//! Functions of the program that run when the library is initialised or finalised: chapter 02. They run on the calling thread
//! with no lock held, and may call anything.

use std::ffi::{c_char, c_void};

use ascendcl_sys as sys;

use crate::error::Result;
use crate::refuse;

/// `aclInitCallbackFunc`
pub type InitFn = unsafe extern "C" fn(*const c_char, usize, *mut c_void) -> i32;
/// `aclFinalizeCallbackFunc`
pub type FinalizeFn = unsafe extern "C" fn(*mut c_void) -> i32;

/// Order in which aclInit notifies. aclInit#20, aclInitCallbackRegister#10
pub(super) const INIT_ORDER: [u32; 4] = [
    sys::ACL_REG_TYPE_ACL_MODEL,
    sys::ACL_REG_TYPE_ACL_OP_EXECUTOR,
    sys::ACL_REG_TYPE_ACL_DVPP,
    sys::ACL_REG_TYPE_OTHER,
];

/// Order in which de-initialisation notifies. aclFinalize#09, aclFinalizeCallbackRegister#07
pub(super) const FINALIZE_ORDER: [u32; 4] = [
    sys::ACL_REG_TYPE_ACL_OP_COMPILER,
    sys::ACL_REG_TYPE_ACL_MODEL,
    sys::ACL_REG_TYPE_ACL_DVPP,
    sys::ACL_REG_TYPE_OTHER,
];

/// Registrations of one kind, in their order.
pub(super) struct Registry<F>(Vec<Entry<F>>);

impl<F> Default for Registry<F> {
    fn default() -> Self {
        Registry(Vec::new())
    }
}

struct Entry<F> {
    /// `aclRegisterCallbackType`, not range checked (aclInitCallbackRegister#04).
    kind: u32,
    func: F,
    /// Passed through (aclInitCallbackRegister#02).
    data: usize,
}

impl<F: Copy> Registry<F> {
    /// aclInitCallbackRegister#03, aclFinalizeCallbackRegister#03
    pub(super) fn add(&mut self, kind: u32, func: F, data: usize, rule: &'static str) -> Result<()> {
        if kind != sys::ACL_REG_TYPE_OTHER && self.0.iter().any(|entry| entry.kind == kind) {
            return refuse!(
                sys::ACL_ERROR_INTERNAL_ERROR,
                rule,
                "type: {} has a callback already; only {} takes several",
                sys::enums::aclRegisterCallbackType.show(kind),
                sys::enums::aclRegisterCallbackType.show(sys::ACL_REG_TYPE_OTHER)
            );
        }
        self.0.push(Entry { kind, func, data });
        Ok(())
    }

    /// aclInitCallbackUnRegister#02, #04, aclFinalizeCallbackUnRegister#02, #04
    pub(super) fn remove(&mut self, kind: u32, same: impl Fn(F) -> bool, rule: &'static str) -> Result<()> {
        match self.0.iter().position(|entry| entry.kind == kind && same(entry.func)) {
            Some(at) => {
                self.0.remove(at);
                Ok(())
            }
            None => refuse!(
                sys::ACL_ERROR_INTERNAL_ERROR,
                rule,
                "cbFunc: not registered for type {}",
                sys::enums::aclRegisterCallbackType.show(kind)
            ),
        }
    }

    /// The functions of a type, as of now.
    pub(super) fn of(&self, kind: u32) -> Vec<(F, usize)> {
        self.0.iter().filter(|entry| entry.kind == kind).map(|entry| (entry.func, entry.data)).collect()
    }
}
