//! aclrtRegStreamStateCallback: functions of the program that are told when streams come and go.

use std::ffi::c_void;

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::foreign;

use crate::error::Result;
use crate::process::Runtime;
use crate::refuse;

/// `ACL_RT_STREAM_STATE_CREATE_POST`
pub(crate) const CREATED: u32 = sys::ACL_RT_STREAM_STATE_CREATE_POST;
/// `ACL_RT_STREAM_STATE_DESTROY_PRE`
pub(crate) const DESTROYED: u32 = sys::ACL_RT_STREAM_STATE_DESTROY_PRE;

/// What the program gives.
pub type Callback = unsafe extern "C" fn(sys::aclrtStream, sys::aclrtStreamState, *mut c_void);

#[derive(Clone)]
struct Listener {
    name: Vec<u8>,
    callback: Callback,
    /// The program's word, passed on as it is.
    args: usize,
}

/// Everybody who wants to be told, in the order of registration.
#[derive(Default)]
pub struct Listeners(Mutex<Vec<Listener>>);

/// aclrtRegStreamStateCallback; no callback takes the name out (#03).
pub fn register(rt: &Runtime, name: Vec<u8>, callback: Option<Callback>, args: *mut c_void) -> Result<()> {
    // The page asks for a name that is not empty and names no code; that of a null name is nearest.
    if name.is_empty() {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtRegStreamStateCallback#05",
            "regName: must not be empty"
        );
    }
    let mut listeners = rt.stream_listeners.0.lock();
    let place = listeners.iter().position(|listener| listener.name == name);
    match (place, callback) {
        (None, Some(callback)) => listeners.push(Listener { name, callback, args: args as usize }),
        (Some(place), None) => drop(listeners.remove(place)),
        (Some(_), Some(_)) => {
            // The page says "not supported" and names no code; that of the other registrations by name.
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                "aclrtRegStreamStateCallback#02",
                "regName: '{}' is registered already; pass a null callback first",
                String::from_utf8_lossy(&name)
            );
        }
        // ours: an unknown name is no error, as with devices.
        (None, None) => {}
    }
    Ok(())
}

/// Tells everybody. No lock is held, so that a callback may call in.
#[inline]
pub(crate) fn tell(rt: &Runtime, stream: u64, state: u32) {
    let listeners = {
        let listeners = rt.stream_listeners.0.lock();
        if listeners.is_empty() {
            return;
        }
        listeners.clone()
    };
    tell_all(&listeners, stream, state);
}

#[cold]
fn tell_all(listeners: &[Listener], stream: u64, state: u32) {
    for listener in listeners {
        type Unwind = unsafe extern "C-unwind" fn(sys::aclrtStream, sys::aclrtStreamState, *mut c_void);
        // SAFETY: the same function; it may unwind.
        let func = unsafe { std::mem::transmute::<Callback, Unwind>(listener.callback) };
        let what = || format!("callback of aclrtRegStreamStateCallback for stream {stream:#x}");
        // SAFETY: the program registered the function for exactly this call; stream and args are passed on as numbers.
        foreign::call(func as usize, what, || unsafe {
            func(stream as sys::aclrtStream, state, listener.args as *mut c_void);
        });
    }
}

/// Tells of the default stream of a new context (aclrtRegStreamStateCallback#04); for callers that hold no lock.
pub(crate) fn tell_default(rt: &Runtime, context: u64) {
    if let Some(stream) = rt.contexts.pin(context).and_then(|context| context.default_stream()) {
        tell(rt, stream, CREATED);
    }
}
