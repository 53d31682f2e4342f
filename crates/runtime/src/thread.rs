//! What a host thread is bound to. A thread owns a context only after it set a device or a context itself; a binding ends
//! with its thread.

use std::cell::Cell;

use ascendcl_sys as sys;

use crate::context::Context;
use crate::error::Result;
use crate::handle::Pin;
use crate::observer;
use crate::process::Runtime;
use crate::refuse;

#[derive(Clone, Copy)]
struct Binding {
    /// The context that aclrtSetCurrentContext or aclrtCreateContext made current, 0 if none.
    explicit: u64,
    /// That context's device.
    explicit_device: u16,
    /// The device that aclrtSetDevice selected; its default context serves when there is no explicit one.
    device: Option<u16>,
}

const NOTHING: Binding = Binding { explicit: 0, explicit_device: 0, device: None };

thread_local! {
    static LAST_TASK: Cell<u32> = const { Cell::new(0) };
    static BINDING: Cell<Binding> = const { Cell::new(NOTHING) };
}

fn get() -> Binding {
    // A thread whose locals are gone already is bound to nothing.
    BINDING.try_with(Cell::get).unwrap_or(NOTHING)
}

fn set(binding: Binding) {
    let _ = BINDING.try_with(|cell| cell.set(binding));
}

/// Selects a device: its default context becomes current. aclrtSetDevice#08: an explicit context is dropped.
pub fn bind_device(rt: &Runtime, device: u16) {
    crate::error::bound();
    set(Binding { device: Some(device), ..NOTHING });
    observer::tell(|o| o.bound(current_handle(rt), Some(device)));
}

/// Makes a context current.
pub fn bind_context(context: u64, device: u16) {
    crate::error::bound();
    set(Binding { explicit: context, explicit_device: device, ..get() });
    observer::tell(|o| o.bound(context, Some(device)));
}

/// Forgets an explicit context. aclrtDestroyContext#07
pub fn unbind_context(context: u64) {
    let now = get();
    if now.explicit == context {
        set(Binding { explicit: 0, ..now });
        observer::tell(|o| o.bound(0, now.device));
    }
}

/// Forgets the device that the thread selected, after it was torn down by this thread.
pub fn unbind_device(device: u16) {
    if get().device == Some(device) {
        set(Binding { device: None, ..get() });
        observer::tell(|o| o.bound(get().explicit, None));
    }
}

/// Handle of the current context, live or not; 0 if there is none.
#[inline]
pub fn current_handle(rt: &Runtime) -> u64 {
    let binding = get();
    if binding.explicit != 0 {
        return binding.explicit;
    }
    match binding.device.and_then(|device| rt.devices.get(usize::from(device))) {
        Some(device) => device.primary(),
        None => crate::device::default_context(rt).unwrap_or(0),
    }
}

/// Whether the thread has made a context current or selected a device.
pub(crate) fn selected() -> bool {
    let binding = get();
    binding.explicit != 0 || binding.device.is_some()
}

/// The context that the thread itself made current, 0 if none.
pub(crate) fn explicit() -> u64 {
    get().explicit
}

/// The device that the thread itself selected.
pub(crate) fn selected_device() -> Option<u16> {
    get().device
}

/// The current context of the calling thread. *#03: without one, 107002.
#[inline]
pub fn current(rt: &Runtime) -> Result<Pin<'_, Context>> {
    match rt.contexts.pin(current_handle(rt)) {
        Some(context) => Ok(context),
        None => no_context(rt),
    }
}

/// The device of the calling thread's current context. As [`current`], without holding the context: two loads instead of two
/// atomic updates, which is a third of the cost of a small synchronous copy.
#[inline]
pub fn current_device(rt: &Runtime) -> Result<u16> {
    let binding = get();
    let (context, device) = match binding.device.and_then(|device| rt.devices.get(usize::from(device))) {
        _ if binding.explicit != 0 => (binding.explicit, binding.explicit_device),
        Some(device) => (device.primary(), device.id),
        None => return Ok(current(rt)?.device),
    };
    if rt.contexts.contains(context) { Ok(device) } else { no_context(rt) }
}

#[cold]
fn no_context<T>(rt: &Runtime) -> Result<T> {
    let binding = get();
    if !selected() {
        // Why the configured default device could not be set, if that is the reason.
        crate::device::default_context(rt)?;
    }
    let why = match (binding.explicit, binding.device) {
        (0, None) => "this thread has set neither a device (aclrtSetDevice) nor a context".to_owned(),
        // aclrtSetDevice#06
        (0, Some(_)) if !rt.profile.product.default_stream => {
            format!("{} has no default context; make one with aclrtCreateContext", rt.profile.product.key)
        }
        (0, Some(device)) => format!("device {device}, which this thread selected, was reset meanwhile"),
        (context, _) => {
            format!("context {context:#x}, which this thread made current, was destroyed meanwhile")
        }
    };
    refuse!(sys::ACL_ERROR_RT_CONTEXT_NULL, "*#03", "no current context: {why}")
}

/// Notes the number of a task that this thread added.
#[inline]
pub(crate) fn set_last_task(task: u32) {
    let _ = LAST_TASK.try_with(|last| last.set(task));
}

/// The number of the last task that this thread added; 0 if there is none.
pub(crate) fn last_task() -> u32 {
    LAST_TASK.try_with(Cell::get).unwrap_or(0)
}
