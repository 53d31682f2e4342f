//! Kernels on the engine's threads: faults, limits and members.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::undocumented_unsafe_blocks)]

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};
use toprope_engine::queue::{Config, Engine, Failure, Kernel, Silent, Stop, Stream, Task, Waited};
use toprope_engine::queue::{stand_aside, widen};

type Body = Box<dyn Fn(u32) -> Result<(), u32> + Send + Sync>;

struct Test {
    body: Body,
    limit: Option<Duration>,
    stops: Mutex<Vec<(u64, Stop)>>,
}

impl Kernel for Test {
    fn run(&self, member: u32) -> Result<(), u32> {
        (self.body)(member)
    }
    fn limit(&self) -> Option<Duration> {
        self.limit
    }
    fn stopped(self: Arc<Self>, position: u64, why: Stop) -> u32 {
        self.stops.lock().unwrap().push((position, why));
        77
    }
}

fn kernel(body: impl Fn(u32) -> Result<(), u32> + Send + Sync + 'static) -> Test {
    Test { body: Box::new(body), limit: None, stops: Mutex::default() }
}

fn engine() -> (Engine, Stream) {
    let engine = Engine::new(Config::new(Box::new(Silent)));
    let stream = engine.open(0, 0).unwrap();
    (engine, stream)
}

fn run(engine: &Engine, stream: Stream, kernel: Test) -> (Arc<Test>, u64) {
    let kernel = Arc::new(kernel);
    let position = engine.push(stream, Task::Kernel(kernel.clone()));
    sync(engine, stream);
    (kernel, position)
}

fn sync(engine: &Engine, stream: Stream) {
    let deadline = Instant::now() + Duration::from_secs(30);
    assert_eq!(engine.wait(engine.mark(stream), Some(deadline)), Waited::Done, "it hangs");
}

fn fault() {
    unsafe { std::ptr::with_exposed_provenance_mut::<u32>(0x40).write_volatile(1) };
}

#[test]
fn a_kernel_answers_for_its_stream() {
    let (engine, stream) = engine();
    run(&engine, stream, kernel(|_| Ok(())));
    assert_eq!(engine.take_failure(stream), None);
    let (_, position) = run(&engine, stream, kernel(|_| Err(5)));
    assert_eq!(engine.take_failure(stream), Some(Failure { code: 5, position }));
}

#[test]
fn a_fault_is_told_with_its_address() {
    let (engine, stream) = engine();
    for _ in 0..3 {
        let bad = kernel(|_| {
            fault();
            Ok(())
        });
        let (kernel, position) = run(&engine, stream, bad);
        assert_eq!(engine.take_failure(stream), Some(Failure { code: 77, position }));
        let stops = kernel.stops.lock().unwrap();
        let [(at, Stop::Fault { member: 0, fault })] = stops[..] else { panic!("{stops:?}") };
        assert_eq!((at, fault.fault.address, fault.fault.signal), (position, 0x40, libc::SIGSEGV));
    }
    run(&engine, stream, kernel(|_| Ok(())));
    assert_eq!(engine.take_failure(stream), None);
}

#[test]
fn a_late_kernel_is_given_up() {
    let (engine, stream) = engine();
    let release = Arc::new(AtomicBool::new(false));
    let seen = release.clone();
    let endless = kernel(move |_| {
        while !seen.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        Ok(())
    });
    // One with a far limit first: the watch must not sleep through the near one.
    run(&engine, stream, Test { limit: Some(Duration::from_secs(1000)), ..kernel(|_| Ok(())) });
    let (kernel, position) = run(&engine, stream, Test { limit: Some(Duration::from_millis(20)), ..endless });
    assert_eq!(engine.take_failure(stream), Some(Failure { code: 77, position }));
    assert_eq!(*kernel.stops.lock().unwrap(), [(position, Stop::Late)]);
    release.store(true, Ordering::Release);
}

#[test]
fn a_kernel_in_time_is_let_be() {
    let (engine, stream) = engine();
    for _ in 0..200 {
        let quick = Test { limit: Some(Duration::from_secs(5)), ..kernel(|_| Ok(())) };
        let (kernel, _) = run(&engine, stream, quick);
        assert!(kernel.stops.lock().unwrap().is_empty());
    }
    assert_eq!(engine.take_failure(stream), None);
}

/// A kernel whose members all meet once.
fn meeting(members: u32, then: impl Fn(u32) + Send + Sync + 'static) -> (Test, Arc<AtomicU32>) {
    let (barrier, left) = (Barrier::new(members as usize), Barrier::new(members as usize));
    let count = Arc::new(AtomicU32::new(0));
    let counted = count.clone();
    let kernel = kernel(move |member| {
        if member == 0 {
            assert!(widen(1..members));
        }
        barrier.wait();
        then(member);
        counted.fetch_add(1, Ordering::AcqRel);
        left.wait();
        Ok(())
    });
    (kernel, count)
}

#[test]
fn members_run_at_the_same_time_and_their_threads_are_kept() {
    let (engine, stream) = engine();
    for _ in 0..20 {
        let (kernel, count) = meeting(8, |_| {});
        run(&engine, stream, kernel);
        assert_eq!(count.load(Ordering::Acquire), 8);
    }
    assert_eq!(engine.take_failure(stream), None);
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let helpers = threads
        .filter(|t| {
            let comm = t.as_ref().unwrap().path().join("comm");
            std::fs::read_to_string(comm).is_ok_and(|name| name.starts_with("toprope-k"))
        })
        .count();
    assert!(helpers < 30, "{helpers} threads for 7 at a time");
}

#[test]
fn idle_helpers_sleep_until_the_engine_ends() {
    let (engine, stream) = engine();
    let ids = Arc::new(Mutex::new(Vec::new()));
    let here = ids.clone();
    let (kernel, _) = meeting(4, move |member| {
        if member > 0 {
            here.lock().unwrap().push(unsafe { libc::gettid() });
        }
    });
    run(&engine, stream, kernel);
    let ids = ids.lock().unwrap().clone();
    assert_eq!(ids.len(), 3);
    let status = |id: i32| std::fs::read_to_string(format!("/proc/self/task/{id}/status"));
    let sleeps = |id: &i32| {
        let status = status(*id).unwrap();
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
        line.to_owned()
    };
    let look = || ids.iter().map(sleeps).collect::<Vec<_>>();
    std::thread::sleep(Duration::from_millis(50));
    let before = look();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(look(), before, "nobody wakes them");
    drop(engine);
    let start = Instant::now();
    while ids.iter().any(|id| status(*id).is_ok()) {
        assert!(start.elapsed() < Duration::from_secs(30), "they outlive their engine");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_fault_of_any_member_ends_the_task() {
    let (engine, stream) = engine();
    for bad in [0, 1, 3] {
        let (kernel, _) = meeting(4, move |member| {
            if member == bad {
                fault();
            }
        });
        let (kernel, position) = run(&engine, stream, kernel);
        assert_eq!(engine.take_failure(stream), Some(Failure { code: 77, position }), "member {bad}");
        let stops = kernel.stops.lock().unwrap();
        assert!(matches!(stops[..], [(_, Stop::Fault { member, .. })] if member == bad), "{stops:?}");
    }
    run(&engine, stream, kernel(|_| Ok(())));
    assert_eq!(engine.take_failure(stream), None);
}

#[test]
fn a_member_that_cannot_go_on_ends_the_task() {
    let (engine, stream) = engine();
    for bad in [0, 2] {
        let (kernel, _) = meeting(3, move |member| {
            if member == bad {
                stand_aside();
            }
        });
        let (kernel, position) = run(&engine, stream, kernel);
        assert_eq!(engine.take_failure(stream), Some(Failure { code: 77, position }), "member {bad}");
        assert_eq!(*kernel.stops.lock().unwrap(), [(position, Stop::Late)]);
    }
}

#[test]
fn nobody_is_widened_outside_of_a_kernel() {
    assert!(!widen(1..2));
}

/// Kernels that are counted while they are anywhere.
fn counted(engine: &Engine, stream: Stream, alive: &Arc<()>) {
    for _ in 0..5 {
        let alive = alive.clone();
        let one = kernel(move |_| {
            let _counts = &alive;
            Ok(())
        });
        engine.push(stream, Task::Kernel(Arc::new(one)));
    }
}

fn gone(alive: &Arc<()>, what: &str) {
    let start = Instant::now();
    while Arc::strong_count(alive) > 1 {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

unsafe extern "C" fn blocks(gate: *mut std::ffi::c_void) {
    let gate = unsafe { &*gate.cast::<AtomicBool>() };
    while !gate.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn kernels_that_have_run_do_not_wait_for_what_comes_behind_them() {
    let (engine, stream) = engine();
    let (alive, gate) = (Arc::new(()), AtomicBool::new(false));
    counted(&engine, stream, &alive);
    let ran = engine.mark(stream);
    engine.push(stream, Task::Host { func: blocks, arg: std::ptr::from_ref(&gate).cast_mut().cast() });
    assert_eq!(engine.wait(ran, None), Waited::Done);
    let start = Instant::now();
    while Arc::strong_count(&alive) > 1 {
        assert!(start.elapsed() < Duration::from_secs(30), "they wait for the host function");
        engine.free_spent();
        std::thread::sleep(Duration::from_millis(1));
    }
    gate.store(true, Ordering::Release);
    sync(&engine, stream);
}

#[test]
fn kernels_do_not_outlive_their_engine() {
    for _ in 0..50 {
        let (engine, stream) = engine();
        let (alive, gate) = (Arc::new(()), Box::leak(Box::new(AtomicBool::new(false))));
        counted(&engine, stream, &alive);
        let arg = std::ptr::from_ref(gate).cast_mut().cast();
        engine.push(stream, Task::Host { func: blocks, arg });
        counted(&engine, stream, &alive);
        std::thread::sleep(Duration::from_micros(300));
        drop(engine);
        gate.store(true, Ordering::Release);
        gone(&alive, "a worker has kept them");
    }
}
