//! Kernels: how they run, end too early, and spread over several threads.
//!
//! A kernel runs on the worker that owns its stream, in the worker's [`Seat`]; that is its member 0. It may ask for more threads
//! ([`widen`]): helpers, which the engine keeps for the next time. Each has a seat of its own, for the same task.
//!
//! | what happens | who sees it | what it does |
//! | --- | --- | --- |
//! | member 0 returns | its worker | the task is done |
//! | any member faults | the watch | gives member 0 up if it still runs, and ends the task in its place |
//! | the kernel is late | the watch | the same |
//! | [`super::Engine::abandon`] | its caller | the same |
//!
//! Member 0 must not return before its helpers have. Whoever ends the task in its place calls [`Kernel::stopped`] first, once; members
//! that run on are stopped before that ([`super::halt`]).

use super::core::{Core, monotonic_ns};
use super::mark::Mark;
use super::user::{self, Returned, Seat};
use super::worker;
use crate::fault::{KernelFault, State, nudge};
use crate::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering, Place, ShortMutex, full_fence};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A kernel of the program: code whose faults end its task and not the process.
pub trait Kernel: Send + Sync {
    /// Runs member 0, on a worker, or another one, on a helper. What it returns is member 0's alone: an error fails the stream with
    /// that code.
    fn run(&self, member: u32) -> Result<(), u32>;
    /// The longest that it may take.
    fn limit(&self) -> Option<Duration>;
    /// It ends before member 0 returns: the code that its stream fails with. Called on the watch, or in [`super::Engine::abandon`],
    /// whose code counts. `position` is the task's.
    fn stopped(self: Arc<Self>, position: u64, why: Stop) -> u32;
}

/// Why a kernel ends before it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A member faulted; its thread is parked for good.
    Fault {
        /// Which one.
        member: u32,
        /// What it ran into.
        fault: KernelFault,
    },
    /// It took longer than its limit.
    Late,
    /// [`super::Engine::abandon`]
    GivenUp,
}

/// Runs a kernel that is a stream's first task.
pub(crate) fn run(core: &Core, index: u32, position: u64, kernel: Arc<dyn Kernel>) -> Returned {
    let seat = core.seat();
    let running = Arc::as_ptr(&kernel);
    seat.held.lock().now = Some(kernel);
    // SAFETY: the seat keeps it until this thread takes it out below, or for ever.
    let kernel = unsafe { &*running };
    seat.task.store(Mark::new(index, position).0, Ordering::Release);
    if let Some(limit) = kernel.limit() {
        let at = monotonic_ns().saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        seat.deadline.store(at, Ordering::SeqCst);
    }
    let panic_code = core.panic_code;
    let returned = user::enter(core, index, seat, || {
        // Inside the scope: a watch that is nudged finds the kernel running.
        full_fence(Place::Enqueue);
        core.watch.begun(seat.deadline.load(Ordering::Relaxed));
        catch_unwind(AssertUnwindSafe(|| kernel.run(0))).unwrap_or(Err(panic_code))
    });
    if matches!(returned, Returned::Result(_)) {
        seat.deadline.store(u64::MAX, Ordering::Relaxed);
        let mut held = seat.held.lock();
        let kernel = held.now.take();
        held.spent.extend(kernel);
        let full = held.spent.len() >= Spent::TOGETHER;
        drop(held);
        if full {
            hand_on(core);
        }
    }
    returned
}

/// The kernels of a seat. Its thread locks this for each kernel; others do when they give one up.
#[derive(Default)]
pub(crate) struct Held {
    /// The one that runs.
    pub now: Option<Arc<dyn Kernel>>,
    /// Some that have run, until they are handed on together ([`Spent`]): the line of memory on which they are handed on is
    /// one that the launching thread looks at.
    pub spent: Vec<Arc<dyn Kernel>>,
}

/// Kernels that have run. They were allocated by the threads that launched them, and a worker that freed them would meet those
/// threads in the allocator, at every launch. So the worker hands them on, some together, and at the latest before it calls a function of
/// the program; a later launch frees them, or whoever has waited for the stream. Those that it still has when it gets idle it frees itself. (A
/// kernel that runs for long keeps a few that ran before it on the same worker.)
#[derive(Default)]
pub(crate) struct Spent {
    some: AtomicBool,
    list: ShortMutex<Vec<Arc<dyn Kernel>>>,
}

impl Spent {
    /// Kept at most, or nearly.
    const MOST: usize = 1024;
    /// Handed on at a time.
    const TOGETHER: usize = 32;

    /// Takes these over.
    pub(crate) fn put(&self, kernels: &mut Vec<Arc<dyn Kernel>>) {
        let mut list = self.list.lock();
        if list.len() < Spent::MOST {
            list.append(kernels);
            self.some.store(true, Ordering::Release);
        } else {
            drop(list);
            kernels.clear();
        }
    }

    /// Frees them. What they hold may have drops of its own, which run here.
    #[inline]
    pub(crate) fn free(&self) {
        if self.some.load(Ordering::Acquire) {
            self.free_all();
        }
    }

    #[cold]
    fn free_all(&self) {
        // Room for the next ones, or the worker would ask the allocator for it.
        let room = Vec::with_capacity(2 * Spent::TOGETHER);
        let mut list = self.list.lock();
        let spent = std::mem::replace(&mut *list, room);
        self.some.store(false, Ordering::Relaxed);
        drop(list);
        drop(spent);
    }
}

/// Hands on what the calling thread's seat keeps of kernels that have run.
pub(crate) fn hand_on(core: &Core) {
    if let Some(seat) = user::my_seat() {
        let mut spent = std::mem::take(&mut seat.held.lock().spent);
        if !spent.is_empty() {
            core.spent.put(&mut spent);
            // Its room stays.
            seat.held.lock().spent = spent;
        }
    }
}

/// Frees what the calling thread's seat keeps of kernels that have run.
pub(crate) fn free_own() {
    if let Some(seat) = user::my_seat() {
        let mut spent = std::mem::take(&mut seat.held.lock().spent);
        if !spent.is_empty() {
            spent.clear();
            // Its room stays.
            seat.held.lock().spent = spent;
        }
    }
}

/// Called by a kernel's member: runs these members on threads of their own, all at once. False: not on a kernel's thread, or the
/// system refuses a thread; members that were started run nevertheless.
pub fn widen(members: std::ops::Range<u32>) -> bool {
    let (Some(seat), Some(core)) = (user::my_seat(), user::my_core()) else { return false };
    // SAFETY: this thread runs code of that engine, which it keeps alive.
    let core = unsafe { &*core };
    let task = Mark(seat.task.load(Ordering::Relaxed));
    let Some(kernel) = seat.held.lock().now.clone() else { return false };
    members.into_iter().all(|member| core.crew.start(core, Job { kernel: Arc::clone(&kernel), member, task }))
}

/// Called by a kernel's member that can never go on: the kernel ends as if it were late, and this never returns.
pub fn stand_aside() -> ! {
    expire();
    retire()
}

/// Called by a kernel's member that will never go on, because the kernel has ended.
pub fn retire() -> ! {
    if let Some(seat) = user::my_seat() {
        seat.scope.gone();
    }
    loop {
        std::thread::park();
    }
}

/// Called by a kernel's member before it runs device code: where that is. If the kernel ends too early, the member is stopped there.
pub fn device_code(start: usize, bytes: usize) {
    if let Some(seat) = user::my_seat() {
        seat.scope.code(start, bytes);
    }
}

/// Called by a kernel's member: the kernel ends as if it were late, soon. The watch does it, because whoever is told may run code of
/// the program, which has no business in a kernel's scope.
pub fn expire() {
    if let (Some(mine), Some(core)) = (user::my_seat(), user::my_core()) {
        // SAFETY: as in `widen`.
        let seats = unsafe { &*core }.seats.0.lock();
        let task = mine.task.load(Ordering::Relaxed);
        let owner = |seat: &&&'static Seat| {
            seat.member.load(Ordering::Relaxed) == 0 && seat.task.load(Ordering::Acquire) == task
        };
        if let Some(seat) = seats.iter().find(owner) {
            seat.deadline.store(0, Ordering::SeqCst);
        }
        drop(seats);
        nudge();
    }
}

/// A part of a kernel for a helper.
struct Job {
    kernel: Arc<dyn Kernel>,
    member: u32,
    task: Mark,
}

/// Helpers that have nothing to do, the last one to come first.
#[derive(Default)]
pub(crate) struct Crew(Mutex<Vec<Arc<Helper>>>);

#[derive(Default)]
struct Helper {
    job: Mutex<Option<Job>>,
    came: Condvar,
}

impl Crew {
    fn start(&self, core: &Core, job: Job) -> bool {
        let idle = self.0.lock().pop();
        if let Some(helper) = idle {
            *helper.job.lock() = Some(job);
            helper.came.notify_one();
            return true;
        }
        let helper = Arc::new(Helper { job: Mutex::new(Some(job)), came: Condvar::new() });
        let number = core.started.fetch_add(1, Ordering::Relaxed);
        worker::spawn_thread(core, format!("toprope-k{number}"), move |core| help(&core, &helper))
    }

    /// The engine ends, as [`super::ready::Ready::stopped`] says by now: idle helpers are told. One that is not idle yet
    /// gets here through this list's lock, and then sees it.
    pub(crate) fn dismiss(&self) {
        for helper in self.0.lock().drain(..) {
            // Not between its look and its sleep.
            drop(helper.job.lock());
            helper.came.notify_one();
        }
    }
}

/// A helper's life: it ends with the engine, or when its seat is lost.
fn help(core: &Core, me: &Arc<Helper>) {
    loop {
        let next = me.job.lock().take();
        let Some(job) = next else {
            let mut waiting = me.job.lock();
            while waiting.is_none() {
                if core.ready.stopped() {
                    return;
                }
                me.came.wait(&mut waiting);
            }
            continue;
        };
        let seat = core.seat();
        seat.member.store(job.member, Ordering::Relaxed);
        seat.held.lock().now = Some(Arc::clone(&job.kernel));
        seat.task.store(job.task.0, Ordering::Release);
        let member = job.member;
        let ended = user::inside(core, job.task.index(), || {
            seat.scope.enter(|| catch_unwind(AssertUnwindSafe(|| job.kernel.run(member))).is_ok())
        });
        match ended {
            Ok(true) => {}
            // A panic is a fault of ours; the kernel cannot be finished.
            Ok(false) => {
                core.abandon_task(core.panic_code, |other| other == job.task);
            }
            Err(crate::fault::Abandoned) => return,
        }
        seat.task.store(0, Ordering::Relaxed);
        seat.held.lock().now.take();
        drop(job);
        core.crew.0.lock().push(Arc::clone(me));
    }
}

impl Core {
    /// Gives up the kernel that runs in a stream now: the stream fails with `code` and goes on.
    pub(crate) fn abandon(&self, index: u32, code: u32) -> bool {
        self.abandon_task(code, |task| task.index() == index)
    }

    /// Gives up a kernel: the stream of its task fails with `code` and goes on. Whether it still ran.
    fn abandon_task(&self, code: u32, which: impl Fn(Mark) -> bool) -> bool {
        self.give_up(which, |_, kernel, position| {
            if let Some(kernel) = kernel {
                Arc::clone(kernel).stopped(position, Stop::GivenUp);
            }
            code
        })
    }

    /// Gives up a kernel, if it runs; `told` is asked for the code when it is certain that it will not return.
    fn give_up(
        &self,
        which: impl Fn(Mark) -> bool,
        told: impl FnOnce(&Core, Option<&Arc<dyn Kernel>>, u64) -> u32,
    ) -> bool {
        let found = {
            let seats = self.seats.0.lock();
            // The task is looked at after the entry: if that still runs when it is given up, this was its task.
            let busy = |seat: &&'static Seat| {
                let entry = seat.scope.entry()?;
                let task = Mark(seat.task.load(Ordering::Acquire));
                let owner = seat.member.load(Ordering::Relaxed) == 0;
                (owner && task != Mark::NONE && which(task)).then_some((*seat, entry))
            };
            seats.iter().find_map(busy)
        };
        let Some((seat, entry)) = found else {
            return false;
        };
        seat.scope.abandon(entry) && {
            self.end(seat, told);
            true
        }
    }

    /// Ends the task of member 0's seat, whose thread will not.
    fn end(&self, seat: &'static Seat, told: impl FnOnce(&Core, Option<&Arc<dyn Kernel>>, u64) -> u32) {
        let kernel = seat.held.lock().now.clone();
        let task = Mark(seat.task.load(Ordering::Acquire));
        let code = told(self, kernel.as_ref(), task.position());
        self.halt(seat, task);
        self.take_over(seat, code);
    }

    /// Looks for members that have faulted.
    pub(crate) fn take_over_faulted(&self) {
        let faulted: Vec<_> = {
            let mut seats = self.seats.0.lock();
            let faulted = |seat: &&'static Seat| seat.scope.state() == State::Faulted;
            let found = seats.iter().copied().filter(faulted).collect();
            seats.retain(|seat| !faulted(seat));
            found
        };
        for seat in faulted {
            let Some(fault) = seat.scope.fault() else { continue };
            let member = seat.member.load(Ordering::Relaxed);
            let told = |core: &Core, kernel: Option<&Arc<dyn Kernel>>, position| match kernel {
                Some(kernel) => Arc::clone(kernel).stopped(position, Stop::Fault { member, fault }),
                None => core.kernel_fault_code,
            };
            if member == 0 {
                self.end(seat, told);
            } else {
                user::lose(seat);
                let task = Mark(seat.task.load(Ordering::Acquire));
                self.give_up(|other| other == task, told);
            }
        }
    }

    /// Ends kernels that are late; how long until the next one will be.
    pub(crate) fn look_at_kernels(&self) -> Option<Duration> {
        let mut next = u64::MAX;
        let mut late = Vec::new();
        {
            let seats = self.seats.0.lock();
            let now = monotonic_ns();
            for seat in seats.iter() {
                // Before the deadline: one that is read for this entry is its own, or an earlier one's that has not expired.
                let entry = seat.scope.entry();
                let at = seat.deadline.load(Ordering::SeqCst);
                match entry {
                    Some(entry) if at <= now => late.push((*seat, entry)),
                    _ => next = next.min(at.max(now)),
                }
            }
            next = if next == u64::MAX { next } else { next - now };
        }
        for (seat, entry) in late {
            if seat.scope.abandon(entry) {
                self.end(seat, |core, kernel, position| match kernel {
                    Some(kernel) => Arc::clone(kernel).stopped(position, Stop::Late),
                    None => core.kernel_fault_code,
                });
            }
        }
        (next != u64::MAX).then(|| Duration::from_nanos(next.max(1)))
    }
}
