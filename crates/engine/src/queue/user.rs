//! Code of the program on the engine's threads: host functions and kernels.
//!
//! A worker that enters user code steps out of the count of active workers, and if something is listed another one is
//! fetched or started (see [`super::park`]): callbacks that wait for each other, for streams or for signals never use up
//! the workers. So does a thread that calls back about a failure ([`super::Engine::callback`]).
//!
//! A kernel runs in its worker's [`Scope`]. If it faults, its thread is parked for good in the signal handler; the
//! watch ([`super::watch`]) finishes the task in its place: nothing that the stream needs is on the dead thread's stack. The thread is
//! not counted as active any more, so the next kick that needs a worker starts one. ([`super::kernel`] has the rest.)

use super::core::Core;
use super::kernel::Held;
use super::mark::Mark;
use crate::fault::{self, Scope, State};
use crate::foreign;
use crate::sync::{AtomicU32, AtomicU64, Mutex, Ordering, ShortMutex};
use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

thread_local! {
    /// The innermost user code that this thread runs; null for none.
    static INSIDE: Cell<*const Inside> = const { Cell::new(ptr::null()) };
    /// Whether this thread counts among the active workers.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
    static SEAT: Cell<Option<&'static Seat>> = const { Cell::new(None) };
}

/// User code that runs on a thread, for which engine and stream, and what runs around it.
struct Inside {
    engine: usize,
    stream: u32,
    outer: *const Inside,
}

/// A worker's or helper's place for kernels.
pub(crate) struct Seat {
    pub scope: &'static Scope,
    /// The task that runs in it: its stream and position; 0 for none.
    pub task: AtomicU64,
    /// Which part of the kernel it is: 0 for the worker whose stream it is, others for helpers.
    pub member: AtomicU32,
    /// When the kernel is late, in nanoseconds of the monotonic clock; `u64::MAX`: never.
    pub deadline: AtomicU64,
    pub held: ShortMutex<Held>,
}

/// The seats of an engine's workers.
#[derive(Default)]
pub(crate) struct Seats(pub Mutex<Vec<&'static Seat>>);

/// Seats of workers that have ended, for the next ones.
static FREE: Mutex<Vec<&'static Seat>> = Mutex::new(Vec::new());

/// Seats whose threads never come back to them. Kept, so that what they hold counts as in use and not as lost.
static LOST: Mutex<Vec<&'static Seat>> = Mutex::new(Vec::new());

/// A seat is lost.
pub(crate) fn lose(seat: &'static Seat) {
    LOST.lock().push(seat);
}

/// How user code ended.
pub(crate) enum Returned {
    /// By itself.
    Result(Result<(), u32>),
    /// It was given up, and its stream with it.
    Lost,
}

/// Whether the calling thread runs user code of this stream.
pub(crate) fn runs(core: &Core, index: u32) -> bool {
    let engine = ptr::from_ref(core) as usize;
    let mut at = INSIDE.get();
    // SAFETY: null, or an entry on this thread's stack, in a frame that takes it out before it returns.
    while let Some(inside) = unsafe { at.as_ref() } {
        if (inside.engine, inside.stream) == (engine, index) {
            return true;
        }
        at = inside.outer;
    }
    false
}

/// A worker has begun: it is counted as active.
pub(crate) fn counted() {
    COUNTED.set(true);
}

/// The streams whose user code the calling thread runs, innermost first.
pub(crate) fn streams(core: &Core) -> Vec<super::Stream> {
    let engine = ptr::from_ref(core) as usize;
    let mut streams = Vec::new();
    let mut at = INSIDE.get();
    // SAFETY: as in `runs`.
    while let Some(inside) = unsafe { at.as_ref() } {
        if inside.engine == engine {
            streams.push(super::Stream(inside.stream));
        }
        at = inside.outer;
    }
    streams
}

/// The thread steps out of the count of active workers, if it is in there; whether it was.
fn step_out(core: &Core) -> bool {
    let counted = COUNTED.replace(false);
    if counted {
        if let Some(turns) = &core.turns {
            turns.enter_user();
        }
        core.roster.enter_user();
        if core.ready.pending() {
            core.kick(true);
        }
    }
    counted
}

/// Takes that back.
fn step_in(core: &Core) {
    if let Some(turns) = &core.turns {
        turns.leave_user();
    }
    core.roster.leave_user();
    COUNTED.set(true);
}

/// Runs user code of a stream.
pub(crate) fn inside<R>(core: &Core, index: u32, code: impl FnOnce() -> R) -> R {
    let this = Inside { engine: ptr::from_ref(core) as usize, stream: index, outer: INSIDE.get() };
    INSIDE.set(&raw const this);
    let _left = Left(this.outer);
    code()
}

/// Takes the innermost entry out, also when its code panics.
struct Left(*const Inside);

impl Drop for Left {
    fn drop(&mut self) {
        INSIDE.set(self.0);
    }
}

/// Runs a callback of the program that a stream's task waits for, on whatever thread.
pub(crate) fn callback<R>(core: &Core, index: u32, code: impl FnOnce() -> R) -> R {
    let counted = step_out(core);
    let result = inside(core, index, code);
    if counted {
        step_in(core);
    }
    result
}

/// Calls a host function. Its faults are the program's own.
pub(crate) fn host_function(
    core: &Core,
    index: u32,
    func: unsafe extern "C" fn(*mut c_void),
    arg: *mut c_void,
) {
    // SAFETY: the same function; it may unwind.
    let func = unsafe {
        std::mem::transmute::<unsafe extern "C" fn(*mut c_void), unsafe extern "C-unwind" fn(*mut c_void)>(
            func,
        )
    };
    let what = || format!("host function on {}", core.probe.name(super::Stream(index)));
    // SAFETY: whoever enqueued the task answers for the function and its argument.
    callback(core, index, || foreign::call(func as usize, what, || unsafe { func(arg) }));
}

/// Runs work that is code of the program, in the worker's scope.
pub(crate) fn run_user(
    core: &Core,
    index: u32,
    position: u64,
    run: Box<dyn FnOnce() -> Result<(), u32> + Send>,
) -> Returned {
    let seat = core.seat();
    seat.task.store(Mark::new(index, position).0, Ordering::Release);
    let panic_code = core.panic_code;
    enter(core, index, seat, || catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(panic_code)))
}

/// Runs code in a worker's seat that is made ready for it.
pub(crate) fn enter(
    core: &Core,
    index: u32,
    seat: &'static Seat,
    code: impl FnOnce() -> Result<(), u32>,
) -> Returned {
    step_out(core);
    match inside(core, index, || seat.scope.enter(code)) {
        Ok(result) => {
            seat.task.store(0, Ordering::Relaxed);
            step_in(core);
            Returned::Result(result)
        }
        Err(fault::Abandoned) => Returned::Lost,
    }
}

/// The seat of the calling thread.
pub(crate) fn my_seat() -> Option<&'static Seat> {
    SEAT.get()
}

/// The engine whose code runs on the calling thread.
pub(crate) fn my_core() -> Option<*const Core> {
    // SAFETY: as in `runs`.
    unsafe { INSIDE.get().as_ref() }.map(|inside| inside.engine as *const Core)
}

/// A worker ends: its seat is free, unless it was lost.
pub(crate) fn stand_up(core: &Core) {
    if let Some(seat) = SEAT.take()
        && seat.scope.state() == State::Idle
    {
        seat.member.store(0, Ordering::Relaxed);
        core.seats.0.lock().retain(|s| !ptr::eq(*s, seat));
        FREE.lock().push(seat);
    }
}

impl Core {
    /// The calling thread's seat.
    pub(crate) fn seat(&self) -> &'static Seat {
        SEAT.get().unwrap_or_else(|| self.sit_down())
    }

    /// A new one for the calling thread; starts the watch with the first one.
    #[cold]
    fn sit_down(&self) -> &'static Seat {
        self.start_watch();
        let free = FREE.lock().pop();
        let seat: &'static Seat = match free {
            Some(seat) => seat,
            None => Box::leak(Box::new(Seat {
                scope: Scope::leak(),
                task: AtomicU64::new(0),
                member: AtomicU32::new(0),
                deadline: AtomicU64::new(u64::MAX),
                held: ShortMutex::default(),
            })),
        };
        seat.scope.serve();
        self.seats.0.lock().push(seat);
        SEAT.set(Some(seat));
        seat
    }

    /// Ends the task of a seat whose thread will never do so.
    pub(crate) fn take_over(&self, seat: &'static Seat, code: u32) {
        self.seats.0.lock().retain(|s| !ptr::eq(*s, seat));
        lose(seat);
        let mut spent = std::mem::take(&mut seat.held.lock().spent);
        self.spent.put(&mut spent);
        let task = Mark(seat.task.load(Ordering::Acquire));
        let (index, position) = (task.index(), task.position());
        if let Some(turns) = &self.turns {
            turns.lose_user();
        }
        let Some(slot) = self.streams.get(index) else {
            return;
        };
        self.fail(index, slot, position, code);
        // SAFETY: the stream is RUNNING, and its owner has stopped for good or will not touch it any more.
        let own = unsafe { slot.own() };
        own.front.pop();
        own.head = position;
        own.told = false;
        if self.watched() {
            self.probe.done(super::Stream(index), position);
        }
        own.published = position;
        let mut urgent = false;
        slot.line.publish(position, |other| urgent |= self.resume(other));
        slot.state.requeue(false);
        self.list(index, slot);
        self.kick(true);
    }
}
