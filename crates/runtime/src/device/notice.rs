//! Functions of the program that want to know when devices are set, reset or aborted, by name: chapters 04 and 13. They run
//! on the calling thread, outside every lock.

use std::ffi::c_void;

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::foreign;

use crate::error::Result;
use crate::process::Runtime;
use crate::refuse;

/// Registrations of one kind, in their order.
pub struct Named<F>(Mutex<Vec<Entry<F>>>);

struct Entry<F> {
    name: Vec<u8>,
    func: F,
    args: usize,
}

impl<F: Copy> Named<F> {
    pub(crate) const fn new() -> Named<F> {
        Named(Mutex::new(Vec::new()))
    }

    /// Takes a function in under a name, or forgets the name when there is no function; an unknown one is no error (ours).
    fn register(&self, name: Vec<u8>, func: Option<F>, args: usize, rules: [&'static str; 2]) -> Result<()> {
        if name.is_empty() {
            return refuse!(sys::ACL_ERROR_INVALID_PARAM, rules[0], "regName: must not be empty");
        }
        let mut entries = self.0.lock();
        let known = entries.iter().position(|entry| entry.name == name);
        match (func, known) {
            (None, Some(at)) => drop(entries.remove(at)),
            (None, None) => {}
            (Some(func), None) => entries.push(Entry { name, func, args }),
            (Some(_), Some(_)) => {
                return refuse!(
                    sys::ACL_ERROR_INVALID_PARAM,
                    rules[1],
                    "regName: '{}' is registered already; pass a null callback first",
                    String::from_utf8_lossy(&name)
                );
            }
        }
        Ok(())
    }

    /// The functions of now.
    fn snapshot(&self) -> Vec<(F, usize)> {
        self.0.lock().iter().map(|entry| (entry.func, entry.args)).collect()
    }
}

/// `aclrtDeviceStateCallback`
pub type StateFn = unsafe extern "C" fn(i32, sys::aclrtDeviceState, *mut c_void);
/// `aclrtDeviceTaskAbortCallback`
pub type AbortFn = unsafe extern "C" fn(i32, sys::aclrtDeviceTaskAbortStage, u32, *mut c_void) -> i32;

/// aclrtRegDeviceStateCallback.
pub fn register_state(rt: &Runtime, name: Vec<u8>, func: Option<StateFn>, args: usize) -> Result<()> {
    let rules = ["aclrtRegDeviceStateCallback#02", "aclrtRegDeviceStateCallback#03"];
    rt.state_callbacks.register(name, func, args, rules)
}

/// aclrtSetDeviceTaskAbortCallback.
pub fn register_abort(rt: &Runtime, name: Vec<u8>, func: Option<AbortFn>, args: usize) -> Result<()> {
    let rules = ["aclrtSetDeviceTaskAbortCallback#02", "aclrtSetDeviceTaskAbortCallback#03"];
    rt.abort_callbacks.register(name, func, args, rules)
}

/// aclrtRegDeviceStateCallback#05, #06
pub(super) fn tell(rt: &Runtime, device: u16, state: sys::aclrtDeviceState) {
    for (func, args) in rt.state_callbacks.snapshot() {
        type Unwind = unsafe extern "C-unwind" fn(i32, sys::aclrtDeviceState, *mut c_void);
        // SAFETY: the same function; it may unwind.
        let func = unsafe { std::mem::transmute::<StateFn, Unwind>(func) };
        let what = || format!("callback of aclrtRegDeviceStateCallback for device {device}");
        // SAFETY: the program registered the function for exactly these arguments.
        foreign::call(func as usize, what, || unsafe { func(device.into(), state, args as *mut c_void) });
    }
}
