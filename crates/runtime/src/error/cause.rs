//! First causes: a call that fails only because an earlier one did says so.
//!
//! Kept are failures of calls that provide something, one per kind of thing and thread, with the text of *their* first cause if they
//! have one. They are told with a later failure that follows from them:
//!
//! | earlier failure | later failure |
//! |---|---|
//! | a device or context was to be made current | 107002, no current context; forgotten when the thread gets one |
//! | a stream, event, notify or label was to be created, memory to be allocated | the argument is null or was never a handle; forgotten when the thread gets one |
//!
//! ours: the thread's own failure is told first, else the newest of another thread: handles and the default context are
//! shared between threads.

use std::cell::Cell;
use std::thread::ThreadId;

use ascendcl_sys as sys;
use parking_lot::Mutex;

use super::Error;
use crate::generated::api::Api;

/// What a call provides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thing {
    Context,
    Stream,
    Event,
    Notify,
    Label,
    Memory,
}

struct Cause {
    thing: Thing,
    thread: ThreadId,
    /// The call's message.
    text: String,
}

/// Failures that are kept; older ones are dropped.
const KEPT: usize = 16;

static CAUSES: Mutex<Vec<Cause>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether one may be the calling thread's: only those end with its successes.
    static MINE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread may have a cause to forget. (A thread whose locals are gone has none that anyone will ask for.)
#[inline]
fn mine() -> bool {
    MINE.try_with(Cell::get).unwrap_or(false)
}

/// What the call would have provided. Names, not a table: the page's nouns are the rule.
fn provides(api: Api) -> Option<Thing> {
    const NAMES: [(&str, Thing); 10] = [
        ("aclrtSetDevice", Thing::Context),
        ("aclrtSetCurrentContext", Thing::Context),
        ("aclrtCreateContext", Thing::Context),
        ("aclrtCreateStream", Thing::Stream),
        ("aclrtCreateEvent", Thing::Event),
        ("aclrtCreateNotify", Thing::Notify),
        ("aclrtCntNotifyCreate", Thing::Notify),
        ("aclrtCreateLabel", Thing::Label),
        ("aclrtMalloc", Thing::Memory),
        ("aclrtMemAllocManaged", Thing::Memory),
    ];
    // Settings of a device or a stream, not the thing itself.
    const OTHERS: [&str; 5] = [
        "aclrtSetDeviceSatMode",
        "aclrtSetDeviceTaskAbortCallback",
        "aclrtCreateStreamConfigHandle",
        "aclrtSetDeviceStateCallback",
        "aclrtCreateLabelList",
    ];
    let name = api.name();
    if OTHERS.contains(&name) {
        return None;
    }
    NAMES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, thing)| *thing)
}

/// What the call lacked, if it may have failed for that.
fn lacks(error: &Error) -> Option<Thing> {
    if error.code() == sys::ACL_ERROR_RT_CONTEXT_NULL && error.text().starts_with("no current context") {
        return Some(Thing::Context);
    }
    let (argument, said) = error.text().split_once(": ")?;
    if !(said.contains("null") || said.contains("is not a handle")) {
        return None;
    }
    match argument {
        "stream" => Some(Thing::Stream),
        "event" | "startEvent" | "endEvent" => Some(Thing::Event),
        "notify" | "cntNotify" => Some(Thing::Notify),
        "label" => Some(Thing::Label),
        "dst" | "src" | "devPtr" | "hostPtr" | "ptr" => Some(Thing::Memory),
        _ => None,
    }
}

/// The message of a failed call with its first cause; keeps it if later calls may fail in consequence.
pub(super) fn explain(api: Api, error: &Error, text: String) -> String {
    let thread = std::thread::current().id();
    let mut causes = CAUSES.lock();
    let earlier = lacks(error).and_then(|thing| {
        let of_thing = || causes.iter().rev().filter(|cause| cause.thing == thing);
        of_thing().find(|cause| cause.thread == thread).or_else(|| of_thing().next())
    });
    let text = match earlier {
        Some(cause) => format!("{text}; earlier: {}", cause.text),
        None => text,
    };
    if let Some(thing) = provides(api) {
        // The first cause is what helps, however long the chain is.
        let first = text.split_once("; earlier: ").map_or(text.as_str(), |(_, first)| first).to_owned();
        causes.retain(|cause| cause.thing != thing || cause.thread != thread);
        if causes.len() == KEPT {
            causes.remove(0);
        }
        causes.push(Cause { thing, thread, text: first });
        let _ = MINE.try_with(|mine| mine.set(true));
    }
    text
}

/// A call has succeeded: what it provides is lacking no more.
#[inline]
pub(crate) fn succeeded(api: Api) {
    if mine()
        && let Some(thing) = provides(api)
    {
        forget(thing);
    }
}

/// The calling thread has a current context now.
#[inline]
pub(crate) fn bound() {
    if mine() {
        forget(Thing::Context);
    }
}

#[cold]
fn forget(thing: Thing) {
    let thread = std::thread::current().id();
    let mut causes = CAUSES.lock();
    causes.retain(|cause| cause.thing != thing || cause.thread != thread);
    let _ = MINE.try_with(|mine| mine.set(causes.iter().any(|cause| cause.thread == thread)));
}
