//! Start and end of use: chapter 02. The runtime itself lives from the first call to the end of the process; aclInit reads the
//! configuration and notifies, aclFinalize notifies and takes back what aclInit set up. Calls without or after them work as on
//! a card whose runtime lives as long as the process (ours: aclInit#01 leaves it open); devices are not touched.
//!
//! | phase | aclInit | aclFinalize, aclFinalizeReference |
//! |---|---|---|
//! | idle, count 0 | → starting | no effect, see [`finalize`] |
//! | starting (one thread runs init callbacks) | other threads wait; the same thread counts | other threads wait; the same thread is refused |
//! | ready, count ≥ 1 | counts | → ending when the count is to become 0 |
//! | ending (one thread runs finalize callbacks) | other threads wait; the same thread is refused | other threads wait; the same thread is refused |
//!
//! A failed start or end goes back to where it began. No lock is held while callbacks run.

use std::ffi::{CString, c_void};
use std::sync::atomic::Ordering;
use std::thread::ThreadId;

use ascendcl_sys as sys;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::error::{self, Error, Result};
use crate::process::Runtime;
use crate::{Api, device, refuse};

mod callback;
pub mod config;

pub use callback::{FinalizeFn, InitFn};
use config::Config;

/// The chapter's state.
#[derive(Default)]
pub struct Init {
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Default)]
struct State {
    /// aclInit calls not yet taken back.
    count: u64,
    /// The thread that runs callbacks for a start or an end.
    busy: Option<ThreadId>,
    ready: bool,
    /// aclFinalize has had its one success since the last aclInit.
    finalized: bool,
    /// What is in force while ready, and its text as callbacks get it.
    config: Config,
    /// The settings of the first successful aclInit. aclInit#13
    first: Option<Config>,
    inits: callback::Registry<InitFn>,
    finalizers: callback::Registry<FinalizeFn>,
}

/// The one difference between the product families: where aclFinalizeReference exists, a repeated aclInit answers 100002 and
/// one aclFinalize ends all (aclInit#09, aclFinalize#01); elsewhere every aclInit wants its aclFinalize (aclInit#16).
fn balanced(rt: &Runtime) -> bool {
    !rt.profile.supports(Api::aclFinalizeReference)
}

/// The state, when no other thread is starting or ending. The flag tells whether this very thread is, from a callback.
fn settled(init: &Init) -> (MutexGuard<'_, State>, bool) {
    let mut state = init.state.lock();
    let me = std::thread::current().id();
    while state.busy.is_some_and(|thread| thread != me) {
        init.settled.wait(&mut state);
    }
    let inside = state.busy.is_some();
    (state, inside)
}

/// aclInit.
pub fn init(rt: &Runtime, path: Option<&[u8]>) -> Result<()> {
    let init = &rt.init;
    let (mut state, inside) = settled(init);
    if inside && state.ready {
        return refuse!(
            sys::ACL_ERROR_FAILURE,
            "ours: aclInit in a finalize callback",
            "the library is being finalised by this thread"
        );
    }
    if inside || state.ready {
        // aclInit#10, #11
        state.count += 1;
        return if balanced(rt) { Ok(()) } else { repeated(state.count) };
    }
    let config = config::load(rt, path)?;
    // aclInit#13; where every pair has its own configuration (aclInit#17) the first one does not bind.
    if let Some(first) = &state.first
        && !balanced(rt)
        && first.root != config.root
    {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclInit#13",
            "configPath: the content differs from that of the first aclInit of the process"
        );
    }
    device::limit::configure(rt, &config.limits)?;
    for section in &config.idle {
        eprintln!(
            "toprope: aclInit: the settings of \"{section}\" are checked, but this runtime writes no such data"
        );
    }
    error::PER_PROCESS.store(config.per_process, Ordering::Relaxed);
    if let Some(device) = config.default_device {
        device::set_default(device);
    }
    state.count = 1;
    state.busy = Some(std::thread::current().id());
    state.config = config.clone();
    drop(state);

    let outcome = notify_init(init, path.is_some_and(|path| !path.is_empty()), &config);
    if outcome.is_err() {
        take_back(rt);
    }

    let mut state = init.state.lock();
    state.busy = None;
    match outcome {
        Ok(()) => {
            state.ready = true;
            state.finalized = false;
            state.first.get_or_insert(config);
        }
        // aclInit#19
        Err(_) => state.count = 0,
    }
    init.settled.notify_all();
    outcome
}

#[cold]
fn repeated(count: u64) -> Result<()> {
    refuse!(
        sys::ACL_ERROR_REPEAT_INITIALIZE,
        "aclInit#09",
        "the library is initialised already; this call counts (now {count}) and changes nothing else"
    )
}

/// aclInit#20, #21
fn notify_init(init: &Init, with_file: bool, config: &Config) -> Result<()> {
    let text = c_text(config);
    for kind in callback::INIT_ORDER {
        if kind == sys::ACL_REG_TYPE_ACL_OP_EXECUTOR && !with_file {
            continue;
        }
        let functions = init.state.lock().inits.of(kind);
        for (func, data) in functions {
            // SAFETY: the program registered the function for exactly these arguments; the text lives through the call.
            let code = unsafe { func(text.as_ptr(), text.as_bytes().len(), data as *mut c_void) };
            if code != 0 {
                return Err(stopped("aclInit#21", "init", kind, code));
            }
        }
    }
    Ok(())
}

/// aclInitCallbackRegister#08, #09. JSON text holds no NUL, so nothing is lost.
fn c_text(config: &Config) -> CString {
    CString::new(config.text.clone()).unwrap_or_default()
}

fn stopped(rule: &'static str, what: &str, kind: u32, code: i32) -> Error {
    Error::new(
        code,
        rule,
        format!(
            "the {what} callback of type {} answered {code}",
            sys::enums::aclRegisterCallbackType.show(kind)
        ),
    )
}

/// Ends what aclInit set up. Called while this thread is starting or ending, so that no other aclInit comes between.
fn take_back(rt: &Runtime) {
    error::PER_PROCESS.store(false, Ordering::Relaxed);
    device::clear_default(rt);
}

/// aclFinalize.
pub fn finalize(rt: &Runtime) -> Result<()> {
    let (mut state, inside) = settled(&rt.init);
    if inside {
        return inside_callback("aclFinalize");
    }
    if state.count == 0 {
        // aclFinalize#06: surplus calls do nothing. #02 to #05: elsewhere one is accepted before the first aclInit.
        if balanced(rt) || !std::mem::replace(&mut state.finalized, true) {
            return Ok(());
        }
        return refuse!(
            sys::ACL_ERROR_REPEAT_FINALIZE,
            "aclFinalize#03",
            "the library was finalised already, with no aclInit since"
        );
    }
    if balanced(rt) && state.count > 1 {
        state.count -= 1;
        return Ok(());
    }
    // aclFinalize#01
    end(rt, state)
}

/// aclFinalizeReference: the count after the call, also beside an error (#03, #05).
pub fn finalize_reference(rt: &Runtime) -> (u64, Result<()>) {
    let (mut state, inside) = settled(&rt.init);
    if inside {
        return (state.count, inside_callback("aclFinalizeReference"));
    }
    match state.count {
        0 => {
            let refused = refuse!(
                sys::ACL_ERROR_REPEAT_FINALIZE,
                "aclFinalizeReference#05",
                "the library is not initialised: there is no aclInit to take back"
            );
            (0, refused)
        }
        1 => {
            let outcome = end(rt, state);
            let left = u64::from(outcome.is_err());
            (left, outcome)
        }
        // aclFinalizeReference#02, #06
        _ => {
            state.count -= 1;
            (state.count, Ok(()))
        }
    }
}

fn inside_callback<T>(name: &str) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_FAILURE,
        "ours: finalize in a callback",
        "{name} from an init or finalize callback: this thread is not done with the call that runs it"
    )
}

/// De-initialises. aclFinalize#09, #10: a callback that fails stops it, and the library stays as it was.
fn end(rt: &Runtime, mut state: MutexGuard<'_, State>) -> Result<()> {
    let init = &rt.init;
    state.busy = Some(std::thread::current().id());
    drop(state);
    let outcome = notify_finalize(init);
    if outcome.is_ok() {
        take_back(rt);
    }
    let mut state = init.state.lock();
    state.busy = None;
    if outcome.is_ok() {
        state.count = 0;
        state.ready = false;
        state.finalized = true;
        state.config = Config::default();
    }
    init.settled.notify_all();
    outcome
}

fn notify_finalize(init: &Init) -> Result<()> {
    for kind in callback::FINALIZE_ORDER {
        let functions = init.state.lock().finalizers.of(kind);
        for (func, data) in functions {
            // SAFETY: the program registered the function for exactly this argument.
            let code = unsafe { func(data as *mut c_void) };
            if code != 0 {
                return Err(stopped("aclFinalize#10", "finalize", kind, code));
            }
        }
    }
    Ok(())
}

/// aclInitCallbackRegister. #06, #07: after aclInit the function runs here, and what it answers is ignored.
pub fn register_init(rt: &Runtime, kind: u32, func: InitFn, data: usize) -> Result<()> {
    let mut state = rt.init.state.lock();
    state.inits.add(kind, func, data, "aclInitCallbackRegister#03")?;
    // #05: while the library starts, its turn comes with its type.
    if !state.ready {
        return Ok(());
    }
    let text = c_text(&state.config);
    drop(state);
    // SAFETY: as in `notify_init`.
    unsafe { func(text.as_ptr(), text.as_bytes().len(), data as *mut c_void) };
    Ok(())
}

/// aclInitCallbackUnRegister (#03).
pub fn unregister_init(rt: &Runtime, kind: u32, func: InitFn) -> Result<()> {
    let same = |other: InitFn| std::ptr::fn_addr_eq(other, func);
    rt.init.state.lock().inits.remove(kind, same, "aclInitCallbackUnRegister#02")
}

/// aclFinalizeCallbackRegister (#05, #06).
pub fn register_finalize(rt: &Runtime, kind: u32, func: FinalizeFn, data: usize) -> Result<()> {
    rt.init.state.lock().finalizers.add(kind, func, data, "aclFinalizeCallbackRegister#03")
}

/// aclFinalizeCallbackUnRegister (#03).
pub fn unregister_finalize(rt: &Runtime, kind: u32, func: FinalizeFn) -> Result<()> {
    let same = |other: FinalizeFn| std::ptr::fn_addr_eq(other, func);
    rt.init.state.lock().finalizers.remove(kind, same, "aclFinalizeCallbackUnRegister#02")
}
