//! The engine's threads.
//!
//! A worker sweeps the lists until they are empty, but for streams to which cheap tasks are being added; then it spins (50 us, watching for urgent work), then one of them
//! polls (asleep 100 us at a time, later 250, for 20 ms after the last work), then it parks until it is fetched. With one processor
//! it parks at once. Threads are detached and joined by nobody; they end when the engine is dropped.

use super::apart::Apart;
use super::core::Core;
use super::exec::Runner;
use super::kernel;
use super::park::Down;
use super::policy::Choice;
use super::state::Claimer;
use super::user;
use crate::sync::{Arc, AtomicBool, Ordering, spin_loop, yield_now};
use crate::thread;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long an idle worker spins before it looks at the lists and goes further down.
const SPIN: Duration = Duration::from_micros(50);
/// A worker that finds tasks being added right in front of it, look after look, looks that much less often: 2^4 times at most.
const BEHIND: u32 = 4;
/// Every spin yields the processor this often: the thread that it waits for may be on the same one.
pub(crate) const YIELD: Duration = Duration::from_micros(2);
/// How long the polling worker sleeps at a time: a processor that slept for longer takes longer to wake, and each nap costs some
/// microseconds of its time.
const NAP: Duration = Duration::from_micros(100);
/// The same once [`SOON`] is over.
const LATER_NAP: Duration = Duration::from_micros(250);
/// How long after the last work the next one is expected soon.
const SOON: Duration = Duration::from_millis(5);
/// How long after the last work it polls.
const POLL: Duration = Duration::from_millis(20);

thread_local! {
    static ON_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is one of the engine's.
pub(crate) fn on_worker() -> bool {
    ON_WORKER.get()
}

/// Starts a worker that has been counted as active already.
#[cold]
pub(crate) fn spawn(core: &Core) {
    let number = core.started.fetch_add(1, Ordering::Relaxed);
    if !spawn_thread(core, format!("toprope-w{number}"), work) {
        core.roster.spawn_failed();
        core.short.store(true, Ordering::Relaxed);
    }
}

/// Starts a thread of the engine; false if the system refuses.
pub(crate) fn spawn_thread(core: &Core, name: String, main: impl FnOnce(Arc<Core>) + Send + 'static) -> bool {
    let Some(core) = core.me.upgrade() else {
        return false;
    };
    let started = thread::detached(name, move || {
        ON_WORKER.set(true);
        main(core);
    });
    if !started {
        refused();
    }
    started
}

/// Tells, once, that the system starts no threads: what needs one waits for it, and would seem to hang.
#[cold]
fn refused() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::Relaxed) {
        eprintln!(
            "toprope: the system refuses to start a thread; host functions, kernels and timed waits wait until it does \
             (limits on processes: ulimit -u, the pids limit of a container; on mappings: vm.max_map_count)"
        );
    }
}

fn work(core: Arc<Core>) {
    user::counted();
    let mut runner = Runner::worker(&core);
    let mut last_work = Instant::now();
    let mut apart = Apart::default();
    loop {
        let worked = sweep(&core, &mut runner);
        if runner.lost {
            // Given up while it ran a kernel: it is not counted any more.
            runner.show_left();
            core.kick(true);
            return;
        }
        if core.ready.stopped() {
            core.roster.gone();
            break;
        }
        if worked {
            last_work = Instant::now();
        }
        if step_down(&core, &mut runner, last_work, &mut apart) == Down::Exit {
            break;
        }
    }
    kernel::free_own();
    user::stand_up(&core);
}

/// Runs what is listed until nothing is; whether there was anything.
fn sweep(core: &Core, runner: &mut Runner) -> bool {
    let mut worked = false;
    let mut started = None;
    runner.tired = false;
    // What keeps coming is cheap, or it would be announced as urgent.
    let lazy = !core.solo && core.turns.is_none();
    while !core.ready.stopped() {
        let mut turn = None;
        let (index, budget, claimed) = match runner.next.take() {
            Some(index) => {
                let Some(slot) = core.streams.get(index) else {
                    continue;
                };
                let higher = (1_u32 << slot.priority.load(Ordering::Relaxed).min(31)) - 1;
                if core.ready.mask() & higher != 0 {
                    core.list(index, slot);
                    continue;
                }
                (index, u32::MAX, slot.state.claim(Claimer::Worker))
            }
            None => {
                let Some(Choice { stream, budget }) = core.choose(&mut turn) else {
                    if core.join(None, None) {
                        worked = true;
                        continue;
                    }
                    break;
                };
                let Some(slot) = core.streams.get(stream) else {
                    continue;
                };
                (stream, budget, slot.state.claim_listed(Claimer::Worker))
            }
        };
        if claimed && let Some(slot) = core.streams.get(index) {
            worked = true;
            runner.run(index, slot, budget.min(super::policy::BATCH));
            if runner.lost {
                // So is the turn, with the code that took it.
                std::mem::forget(turn);
                break;
            }
            // Not between streams that wake each other by bells or signals: nobody else would be told that they are wanted.
            if lazy && runner.next.is_none() && started.get_or_insert_with(Instant::now).elapsed() >= SPIN {
                runner.tired = true;
                break;
            }
        }
    }
    // Listed while this ran what was listed before: somebody adds about as fast.
    runner.tired |= lazy && worked && core.ready.mask() != 0;
    worked
}

/// From active down to deep park; Work when there may be something again.
fn step_down(core: &Core, runner: &mut Runner, last_work: Instant, apart: &mut Apart) -> Down {
    core.spent.free();
    kernel::free_own();
    let pending = || core.pending();
    let tired = std::mem::take(&mut runner.tired);
    // A tired one looks at nothing but what is urgent: that is told, whether it spins or not. For others it is old news: what was told
    // before this was listed before, and they look at the lists now.
    if !tired {
        core.roster.take_urgent();
    }
    let begun = core.roster.begin_spin(|| !tired && pending());
    // Not before: what else was listed meanwhile had to be seen apart from these.
    runner.behind = if runner.left.is_empty() && !tired { 0 } else { (runner.behind + 1).min(BEHIND) };
    let wanted = runner.show_left();
    if begun == Down::Work {
        return Down::Work;
    }
    if wanted {
        return core.roster.end_spin();
    }
    if !core.solo && spin(core, SPIN * (1 << runner.behind), apart) {
        return Down::Work;
    }
    let until = last_work + POLL;
    let mut polling = false;
    if !core.solo && Instant::now() < until {
        if pending() {
            return core.roster.end_spin();
        }
        polling = core.roster.begin_poll() == Down::On;
        let mut now = Instant::now();
        while polling && now < until {
            let nap = if now - last_work < SOON { NAP } else { LATER_NAP };
            if core.roster.poll(nap, pending) == Down::Work {
                return Down::Work;
            }
            now = Instant::now();
        }
    }
    core.roster.sleep(polling, pending)
}

/// Spins until urgent work is announced; whether it was (and the worker counts as working again).
fn spin(core: &Core, span: Duration, apart: &mut Apart) -> bool {
    let start = Instant::now();
    let mut yielded = start;
    loop {
        for _ in 0..16 {
            if core.roster.take_urgent() {
                return core.roster.end_spin() == Down::Work;
            }
            spin_loop();
        }
        let now = Instant::now();
        if now - start >= span {
            return false;
        }
        if now - yielded >= YIELD {
            yield_now();
            yielded = Instant::now();
            apart.yielded(now, yielded, core.roster.urgent());
        }
    }
}
