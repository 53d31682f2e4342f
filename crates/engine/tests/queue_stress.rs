//! Random programs against a reference: vector clocks kept when tasks are added say what each task must find done.
//! `TOPROPE_STRESS_SECONDS` (default 1 per test) makes the runs longer, `TOPROPE_STRESS_SEED` repeats one.
#![cfg(not(loom))]
// Helpers of tests are not seen as tests by `allow-unwrap-in-tests`.
#![allow(clippy::unwrap_used)]

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toprope_engine::queue::{
    ByPriority, Config, Engine, Failure, Mark, Policy, Probe, Seeded, Stream, Task, Waited, Work,
};

const STREAMS: usize = 12;
const EVENTS: usize = 8;

type Clock = [u64; STREAMS];

fn join(into: &mut Clock, other: &Clock) {
    into.iter_mut().zip(other).for_each(|(a, b)| *a = (*a).max(*b));
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
    fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }
}

fn env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn seconds() -> Duration {
    Duration::from_secs(env("TOPROPE_STRESS_SECONDS", 1))
}

fn seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    env("TOPROPE_STRESS_SEED", now.map_or(1, |d| d.as_nanos() as u64)) | 1
}

/// What goes wrong on any thread.
#[derive(Default)]
struct Faults {
    first: Mutex<Option<String>>,
    any: AtomicBool,
}

impl Faults {
    fn report(&self, what: String) {
        self.first.lock().unwrap().get_or_insert(what);
        self.any.store(true, Ordering::Release);
    }
}

/// A stream of the model: what was added so far, and what the next task may rely on.
struct Lane {
    stream: Stream,
    steps: u64,
    clock: Clock,
}

#[derive(Clone, Copy)]
struct Event {
    mark: Mark,
    clock: Clock,
}

struct World {
    engine: Engine,
    lanes: Vec<Mutex<Lane>>,
    events: Vec<Mutex<Event>>,
    /// How many steps of each stream have run: written by the tasks, by copies too.
    ran: [AtomicU64; STREAMS],
    /// 0, 1, 2, …: what copies copy.
    numbers: Vec<u64>,
    block: Vec<u8>,
    faults: Arc<Faults>,
    checks: AtomicU64,
}

const NUMBERS: usize = 1 << 22;

impl World {
    /// The task's part: everything it relies on has run, and it is the next of its stream.
    fn check(&self, lane: usize, step: u64, clock: &Clock) {
        let ran: Clock = std::array::from_fn(|i| self.ran[i].load(Ordering::Acquire));
        if ran[lane] + 1 != step || ran.iter().zip(clock).any(|(have, need)| have < need) {
            self.faults.report(format!("step {step} of {lane} needs {clock:?}, saw {ran:?}"));
        }
        self.checks.fetch_add(1, Ordering::Relaxed);
        self.ran[lane].store(step, Ordering::Release);
    }

    fn mark_waited(&self, mark: Mark, what: &str) {
        let end = Instant::now() + Duration::from_secs(30);
        if self.engine.wait(mark, Some(end)) == Waited::TimedOut {
            self.faults.report(format!("{what} hangs"));
        }
    }
}

struct Callback {
    world: *const World,
    lane: usize,
    step: u64,
    clock: Clock,
    inner: Option<Event>,
}

unsafe extern "C" fn callback(arg: *mut c_void) {
    // SAFETY: made by `Box::into_raw` for this one call.
    let mut call = unsafe { Box::from_raw(arg.cast::<Callback>()) };
    // SAFETY: the world outlives its engine's tasks: the test waits for them.
    let world = unsafe { &*call.world };
    if let Some(event) = call.inner {
        // A callback that synchronizes: what it waits for was added before it.
        world.mark_waited(event.mark, "a wait within a callback");
        join(&mut call.clock, &event.clock);
    }
    world.check(call.lane, call.step, &call.clock);
}

/// One random action of a host thread.
fn act(world: &'static World, random: &mut Random, host: &mut Clock) {
    let engine = &world.engine;
    let at = random.index(STREAMS);
    let kind = random.below(100);
    if kind < 70 {
        let mut lane = world.lanes[at].lock().unwrap();
        let stream = lane.stream;
        let known = *host;
        join(&mut lane.clock, &known);
        if kind < 45 {
            let step = lane.steps + 1;
            if step as usize >= NUMBERS {
                return;
            }
            let clock = lane.clock;
            let task = match random.below(20) {
                0..10 => Task::Copy {
                    dst: world.ran[at].as_ptr() as usize,
                    src: &raw const world.numbers[step as usize] as usize,
                    len: 8,
                },
                10..16 => Task::Work(Box::new(Work {
                    run: Box::new(move || {
                        world.check(at, step, &clock);
                        Ok(())
                    }),
                    cost_ns: 50,
                    user_code: random.below(4) == 0,
                })),
                n => {
                    let inner = (n == 19).then(|| *world.events[random.index(EVENTS)].lock().unwrap());
                    let call = Box::new(Callback { world, lane: at, step, clock, inner });
                    Task::Host { func: callback, arg: Box::into_raw(call).cast() }
                }
            };
            engine.push(stream, task);
            lane.steps = step;
            lane.clock[at] = step;
        } else if kind < 55 {
            let event = Event { mark: engine.mark(stream), clock: lane.clock };
            *world.events[random.index(EVENTS)].lock().unwrap() = event;
        } else if kind < 66 {
            let event = *world.events[random.index(EVENTS)].lock().unwrap();
            engine.push(stream, Task::Wait { mark: event.mark, timeout_ms: 0, code: 0 });
            join(&mut lane.clock, &event.clock);
        } else if kind < 68 {
            let event = *world.events[random.index(EVENTS)].lock().unwrap();
            // It may run out, so nothing can be relied on afterwards.
            engine
                .push(stream, Task::Wait { mark: event.mark, timeout_ms: 1 + kind as u32 % 3, code: TIMED });
        } else {
            let len = 16 << (10 + random.below(3));
            let base = world.block.as_ptr() as usize + at * (1 << 20);
            engine.push(stream, Task::Copy { dst: base, src: base + (1 << 19), len });
        }
        return;
    }
    let event = if random.below(2) == 0 {
        *world.events[random.index(EVENTS)].lock().unwrap()
    } else {
        let lane = world.lanes[at].lock().unwrap();
        Event { mark: engine.mark(lane.stream), clock: lane.clock }
    };
    let done = match kind {
        70..88 => engine.query(event.mark),
        88..94 => {
            let limit = Instant::now() + Duration::from_micros(random.below(80));
            engine.wait(event.mark, Some(limit)) == Waited::Done
        }
        94..98 => {
            world.mark_waited(event.mark, "a wait");
            true
        }
        _ => {
            std::thread::sleep(Duration::from_micros(random.below(40)));
            false
        }
    };
    if done {
        join(host, &event.clock);
        let ran: Clock = std::array::from_fn(|i| world.ran[i].load(Ordering::Acquire));
        if ran.iter().zip(&event.clock).any(|(have, need)| have < need) {
            world.faults.report(format!("a host was told {:?}, saw {ran:?}", event.clock));
        }
    }
}

const TIMED: u32 = 77;

impl Probe for Faults {
    fn started(&self, _: Stream, _: u64) {}
    fn done(&self, _: Stream, _: u64) {}
    fn failed(&self, stream: Stream, failure: Failure) {
        if failure.code != TIMED {
            self.report(format!("{stream:?} failed: {failure:?}"));
        }
    }
}

fn storm(seed: u64, workers: usize, hosts: usize, policy: Box<dyn Policy>, time: Duration) {
    let faults = Arc::new(Faults::default());
    let engine = Engine::new(Config { workers, policy, ..Config::new(Box::new(Arc::clone(&faults))) });
    let lane = |i: usize| {
        let stream = engine.open(0, (i % 8) as u8).unwrap();
        Mutex::new(Lane { stream, steps: 0, clock: [0; STREAMS] })
    };
    let world: &'static World = Box::leak(Box::new(World {
        lanes: (0..STREAMS).map(lane).collect(),
        events: (0..EVENTS).map(|_| Mutex::new(Event { mark: Mark::NONE, clock: [0; STREAMS] })).collect(),
        engine,
        ran: std::array::from_fn(|_| AtomicU64::new(0)),
        numbers: (0..NUMBERS as u64).collect(),
        block: vec![0; STREAMS << 20],
        faults,
        checks: AtomicU64::new(0),
    }));
    let end = Instant::now() + time;
    std::thread::scope(|scope| {
        for thread in 0..hosts {
            scope.spawn(move || {
                let mut random = Random(seed ^ (thread as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let mut host = [0; STREAMS];
                while Instant::now() < end && !world.faults.any.load(Ordering::Acquire) {
                    // No backlog without end.
                    let at = random.index(STREAMS);
                    let far = {
                        let lane = world.lanes[at].lock().unwrap();
                        (lane.steps > world.ran[at].load(Ordering::Relaxed) + 5000)
                            .then(|| world.engine.mark(lane.stream))
                    };
                    if let Some(mark) = far {
                        world.mark_waited(mark, "a backlog");
                    }
                    (0..32).for_each(|_| act(world, &mut random, &mut host));
                }
            });
        }
    });
    for (i, lane) in world.lanes.iter().enumerate() {
        let lane = lane.lock().unwrap();
        world.mark_waited(world.engine.mark(lane.stream), "the end");
        if world.ran[i].load(Ordering::Acquire) != lane.steps {
            world.faults.report(format!("stream {i} is done, but not all of it ran"));
        }
        world.engine.close(lane.stream);
    }
    let fault = world.faults.first.lock().unwrap().take();
    assert_eq!(fault, None, "seed {seed}, {workers} workers, {hosts} hosts");
    let checks = world.checks.load(Ordering::Relaxed);
    assert!(checks > 0);
    eprintln!("{checks} checks, {} steps", world.lanes.iter().map(|l| l.lock().unwrap().steps).sum::<u64>());
    // SAFETY: everything that was ever added has run; nobody uses it any more.
    drop(unsafe { Box::from_raw(std::ptr::from_ref(world).cast_mut()) });
}

#[test]
fn every_task_finds_done_what_it_relies_on() {
    for (workers, hosts) in [(1, 1), (1, 2), (2, 3)] {
        storm(seed(), workers, hosts, Box::new(ByPriority::default()), seconds());
    }
}

#[test]
fn so_it_does_under_random_schedules() {
    let seed = seed();
    for workers in [1, 3] {
        storm(seed, workers, 2, Box::new(Seeded::new(seed)), seconds());
    }
}

/// Streams that are aborted and closed at any moment, under waiters of both kinds.
#[test]
fn aborts_and_closes_under_waiters() {
    const SLOTS: usize = 6;
    struct Shared {
        engine: Engine,
        faults: Arc<Faults>,
        marks: [Mutex<Mark>; SLOTS],
        ran: AtomicU32,
    }
    let seed = seed();
    let faults = Arc::new(Faults::default());
    let engine = Engine::new(Config { workers: 1, ..Config::new(Box::new(Arc::clone(&faults))) });
    let shared: &'static Shared = Box::leak(Box::new(Shared {
        engine,
        faults,
        marks: std::array::from_fn(|_| Mutex::new(Mark::NONE)),
        ran: AtomicU32::new(0),
    }));
    let end = Instant::now() + seconds();
    let check_wait = move |mark, what: &str| {
        if shared.engine.wait(mark, Some(Instant::now() + Duration::from_secs(30))) == Waited::TimedOut {
            shared.faults.report(format!("{what} hangs (seed {seed})"));
        }
    };
    std::thread::scope(|scope| {
        // Owners: each has two of the slots to itself.
        for owner in 0..SLOTS / 2 {
            scope.spawn(move || {
                let engine = &shared.engine;
                let mut random = Random(seed ^ (owner as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let never = engine.open_signal().unwrap();
                let mut streams = [(); 2].map(|()| engine.open(0, random.below(8) as u8).unwrap());
                let mut closed = Vec::new();
                // Tasks up to this position were dropped, or were done, when an abort returned.
                let mut aborted = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
                while Instant::now() < end && !shared.faults.any.load(Ordering::Acquire) {
                    let which = random.index(2);
                    let slot = owner * 2 + which;
                    let stream = streams[which];
                    match random.below(100) {
                        0..60 => {
                            let position = engine.mark(stream).position() + 1;
                            let aborted = Arc::clone(&aborted[which]);
                            let run = move || {
                                if aborted.load(Ordering::SeqCst) >= position {
                                    shared
                                        .faults
                                        .report(format!("task {position} of {slot} ran after its abort"));
                                }
                                shared.ran.fetch_add(1, Ordering::Relaxed);
                                Ok(())
                            };
                            let user_code = random.below(3) == 0;
                            engine.push(
                                stream,
                                Task::Work(Box::new(Work { run: Box::new(run), cost_ns: 50, user_code })),
                            );
                        }
                        60..75 => {
                            // Streams wait for each other crosswise, by older marks: no cycles.
                            let mark = *shared.marks[random.index(SLOTS)].lock().unwrap();
                            engine.push(stream, Task::Wait { mark, timeout_ms: 0, code: 0 });
                        }
                        75..80 => {
                            let mark = engine.signal_mark(never, 1);
                            engine.push(stream, Task::Wait { mark, timeout_ms: 0, code: 0 });
                            *shared.marks[slot].lock().unwrap() = engine.mark(stream);
                            (0..random.below(3000)).for_each(|_| std::hint::spin_loop());
                            let upto = engine.mark(stream);
                            engine.abort(stream);
                            aborted[which].store(upto.position(), Ordering::SeqCst);
                            if !engine.query(upto) {
                                shared.faults.report("an abort came back too early".to_owned());
                            }
                        }
                        80..85 => {
                            let mark = engine.mark(stream);
                            let stuck = random.below(2) == 0;
                            if stuck {
                                engine.push(
                                    stream,
                                    Task::Wait { mark: engine.signal_mark(never, 1), timeout_ms: 0, code: 0 },
                                );
                                engine.abort(stream);
                            }
                            closed.push(engine.mark(stream));
                            engine.close(stream);
                            *shared.marks[slot].lock().unwrap() = mark;
                            aborted[which] = Arc::default();
                            streams[which] = engine.open(0, random.below(8) as u8).unwrap();
                        }
                        85..95 => *shared.marks[slot].lock().unwrap() = engine.mark(stream),
                        _ => check_wait(engine.mark(stream), "an owner"),
                    }
                }
                streams.iter().for_each(|s| check_wait(engine.mark(*s), "the end"));
                closed.iter().for_each(|mark| check_wait(*mark, "a closed stream"));
            });
        }
        scope.spawn(move || {
            let mut random = Random(seed);
            while Instant::now() < end {
                let mark = *shared.marks[random.index(SLOTS)].lock().unwrap();
                check_wait(mark, "a foreign waiter");
            }
        });
    });
    let fault = shared.faults.first.lock().unwrap().take();
    assert_eq!(fault, None, "seed {seed}");
    assert!(shared.ran.load(Ordering::Relaxed) > 0);
    // SAFETY: all streams have drained; nobody uses it any more.
    drop(unsafe { Box::from_raw(std::ptr::from_ref(shared).cast_mut()) });
}

/// One task at a time, added while the worker is on its way from spinning over polling to deep park, and no call after
/// it: it runs all the same.
#[test]
fn single_tasks_reach_a_worker_in_any_state() {
    let seed = seed();
    let faults = Arc::new(Faults::default());
    let engine = Engine::new(Config { workers: 1, ..Config::new(Box::new(Arc::clone(&faults))) });
    let streams: Vec<_> = (0..3).map(|p| engine.open(0, p).unwrap()).collect();
    let mut random = Random(seed);
    let seen = AtomicU64::new(0);
    let end = Instant::now() + seconds();
    let mut round = 0_u64;
    while Instant::now() < end {
        round += 1;
        let pause = match random.below(100) {
            0..50 => random.below(60_000),
            50..75 => 45_000 + random.below(15_000),
            75..97 => 50_000 + random.below(300_000),
            _ => 19_900_000 + random.below(400_000),
        };
        let until = Instant::now() + Duration::from_nanos(pause);
        if pause > 1_000_000 {
            std::thread::sleep(Duration::from_nanos(pause - 100_000));
        }
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let stream = streams[random.index(3)];
        let (dst, src) = (seen.as_ptr() as usize, &raw const round as usize);
        if random.below(2) == 0 {
            engine.push(stream, Task::Copy { dst, src, len: 8 });
        } else {
            let run = Box::new(move || {
                // SAFETY: both live until the loop below has seen the value.
                unsafe { AtomicU64::from_ptr(dst as *mut u64) }.store(round, Ordering::Release);
                Ok(())
            });
            let user_code = random.below(2) == 0;
            engine.push(stream, Task::Work(Box::new(Work { run, cost_ns: 10, user_code })));
        }
        let limit = Instant::now() + Duration::from_secs(10);
        while seen.load(Ordering::Acquire) != round {
            assert!(Instant::now() < limit, "round {round} after {pause} ns: lost (seed {seed})");
            // The worker may be on this very processor.
            std::thread::yield_now();
        }
    }
    assert_eq!(*faults.first.lock().unwrap(), None);
    eprintln!("{round} single tasks");
}
