//! What the checker knows about the calling thread.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use toprope_runtime::Api;
use toprope_runtime::observer::Range;

use crate::news::Flag;
use crate::site::Site;

/// Who acts on this thread now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The thread itself: its slot.
    Host(usize),
    /// A function of the program that a task calls: the engine's index of its stream. It acts as a part of that task.
    Task(usize),
}

/// A thread's state.
#[derive(Debug)]
pub struct Here {
    /// Its slot, from its first call on.
    pub slot: Option<usize>,
    /// The calls that it is in, outermost first.
    pub calls: Vec<(Api, Site)>,
    /// The stream whose function runs here.
    pub task: Option<usize>,
    /// The task that runs here, with its position, when it is not known yet whether that is a function of the program.
    pub running: Option<(usize, u64)>,
    /// A call has begun, and the model has not been told yet.
    pub fresh: bool,
    /// How much of what other threads have done was taken over ([`crate::news::version`]).
    pub seen: u64,
    /// Something happened that others may be ordered after, once this call has returned.
    pub news: bool,
    /// Where that is said.
    pub flag: Option<&'static Flag>,
    /// The call is to be held before it returns ([`crate::model::holds`]).
    pub hold: bool,
    /// The notify that the next task is about.
    pub about: u64,
    /// The next callback holds its stream up.
    pub holds_up: bool,
    /// The current device and context.
    pub device: Option<u16>,
    /// The current context, 0 if there is none.
    pub context: u64,
    /// Memory of objects that are gone, which this thread's next call may name.
    pub gone: Vec<Range>,
}

impl Here {
    /// The call that runs now, and its place.
    pub fn call(&self) -> (Option<Api>, Site) {
        match self.calls.last() {
            Some((api, site)) => (Some(*api), *site),
            None => (None, Site::NONE),
        }
    }
}

/// Gives the slot back when the thread ends. The state itself stays: the main thread still makes calls, from static destructors
/// and exit handlers, when its locals are gone already.
struct Leaver;

impl Drop for Leaver {
    fn drop(&mut self) {
        let slot = with(|here| {
            here.calls = Vec::new();
            here.gone = Vec::new();
            here.slot.take()
        });
        crate::site::forget();
        if let Some(slot) = slot.flatten() {
            crate::checker::leave(slot);
        }
    }
}

thread_local! {
    static LEAVER: Leaver = const { Leaver };
    static HERE: ManuallyDrop<RefCell<Here>> = const {
        ManuallyDrop::new(RefCell::new(Here {
            slot: None,
            calls: Vec::new(),
            task: None,
            running: None,
            fresh: false,
            seen: 0,
            news: false,
            flag: None,
            hold: false,
            about: 0,
            holds_up: false,
            device: None,
            context: 0,
            gone: Vec::new(),
        }))
    };
}

/// Has the slot given back when this thread ends. Called when it gets one.
pub fn leave_at_end() {
    let _ = LEAVER.try_with(|_| ());
}

/// Works on the thread's state; nothing when that is being worked on already.
pub fn with<R>(work: impl FnOnce(&mut Here) -> R) -> Option<R> {
    HERE.try_with(|here| here.try_borrow_mut().ok().map(|mut here| work(&mut here))).ok().flatten()
}
