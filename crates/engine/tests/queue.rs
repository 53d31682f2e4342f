//! What the engine promises, one short program each.
#![cfg(not(loom))]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toprope_engine::queue::{
    Candidate, Choice, Config, Engine, Failure, Mark, Policy, Probe, Seeded, Silent, Stream, Task, Waited,
};

mod common;
use common::{engine, host, long, one_worker, sync, until, work};

#[test]
fn a_program_that_only_polls_memory_sees_its_task() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    for pause in [0, 1, 30, 60] {
        std::thread::sleep(Duration::from_millis(pause));
        let (src, dst) = (AtomicU64::new(pause + 1), AtomicU64::new(0));
        engine.push(stream, Task::Copy { dst: dst.as_ptr() as usize, src: src.as_ptr() as usize, len: 8 });
        until("the task never ran", || dst.load(Ordering::Acquire) == pause + 1);
        sync(&engine, stream);
    }
}

#[test]
fn waits_order_streams_and_events_may_be_recorded_again() {
    let engine = engine();
    let streams: Vec<_> = (0..4).map(|_| engine.open(0, 0).unwrap()).collect();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut event = Mark::NONE;
    for i in 0..400 {
        let stream = streams[i % 4];
        engine.push(stream, Task::Wait { mark: event, timeout_ms: 0, code: 9 });
        let order = Arc::clone(&order);
        engine.push(
            stream,
            work(i % 3 == 0, move || {
                order.lock().unwrap().push(i);
                Ok(())
            }),
        );
        event = engine.mark(stream);
    }
    streams.iter().for_each(|s| sync(&engine, *s));
    assert_eq!(*order.lock().unwrap(), (0..400).collect::<Vec<_>>());
}

#[test]
fn timed_waits_fail_the_stream_and_it_goes_on() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let signal = engine.open_signal().unwrap();
    let never = engine.signal_mark(signal, 1);
    let cell = AtomicU64::new(0);
    let start = Instant::now();
    let position = engine.push(stream, Task::Wait { mark: never, timeout_ms: 30, code: 77 });
    engine.push(stream, Task::Wait { mark: never, timeout_ms: 20, code: 78 });
    engine.push(stream, Task::Stamp { cell: &raw const cell });
    assert_eq!(engine.wait(engine.mark(stream), Some(start + Duration::from_millis(5))), Waited::TimedOut);
    sync(&engine, stream);
    assert!(start.elapsed() >= Duration::from_millis(50));
    assert_eq!(engine.take_failure(stream), Some(Failure { code: 77, position }));
    assert_eq!(engine.failure(stream), None);
    assert_ne!(cell.load(Ordering::Acquire), 0);
    // Met in time: no failure.
    engine.push(stream, Task::Wait { mark: never, timeout_ms: 10_000, code: 79 });
    std::thread::sleep(Duration::from_millis(3));
    engine.advance(signal, 1);
    sync(&engine, stream);
    assert_eq!(engine.failure(stream), None);
}

#[test]
fn signals_count_from_their_opening_and_end_all_their_marks() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let first = engine.open_signal().unwrap();
    let far = engine.signal_mark(first, 1000);
    engine.push(stream, Task::Wait { mark: far, timeout_ms: 0, code: 0 });
    engine.advance(first, 999);
    assert!(engine.query(engine.signal_mark(first, 999)) && !engine.query(far));
    engine.close_signal(first);
    sync(&engine, stream);
    let second = engine.open_signal().unwrap();
    assert_eq!(second, first, "the index is used again");
    engine.reach(far);
    assert!(engine.query(far) && engine.query(engine.signal_mark(second, 0)));
    assert!(!engine.query(engine.signal_mark(second, 1)));
    engine.push(stream, Task::Advance { mark: engine.signal_mark(second, 3) });
    assert_eq!(engine.wait(engine.signal_mark(second, 3), long()), Waited::Done);
}

#[test]
fn a_failure_is_kept_and_stops_the_stream_if_it_shall() {
    struct Seen(Mutex<Vec<Failure>>);
    impl Probe for Seen {
        fn started(&self, _: Stream, _: u64) {}
        fn done(&self, _: Stream, _: u64) {}
        fn failed(&self, _: Stream, failure: Failure) {
            self.0.lock().unwrap().push(failure);
        }
    }
    let seen = Arc::new(Seen(Mutex::default()));
    let engine = Engine::new(Config {
        copy_fault_code: 55,
        panic_code: 66,
        ..Config::new(Box::new(Arc::clone(&seen)))
    });
    let stream = engine.open(0, 0).unwrap();
    let ran = Arc::new(AtomicU32::new(0));
    let count = || {
        let ran = Arc::clone(&ran);
        work(false, move || {
            ran.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
    };
    engine.push(stream, Task::Copy { dst: 0x10, src: 0x20, len: 8 });
    engine.push(stream, Task::Fill { dst: 0x10, len: 5 << 20, byte: 1 });
    engine.push(stream, work(false, || Err(3)));
    engine.push(stream, count());
    engine.push(stream, work(true, || panic!("on purpose")));
    engine.push(stream, work(true, || Err(4)));
    engine.push(stream, Task::Fail { code: 5 });
    sync(&engine, stream);
    let codes = |seen: &Seen| seen.0.lock().unwrap().drain(..).map(|f| f.code).collect::<Vec<_>>();
    assert_eq!(codes(&seen), [55, 55, 3, 66, 4, 5]);
    assert_eq!(engine.failure(stream).map(|f| f.code), Some(55));
    assert_eq!(ran.load(Ordering::Relaxed), 1);

    engine.stop_on_failure(stream, true);
    let signal = engine.open_signal().unwrap();
    engine.push(stream, count());
    engine.push(stream, Task::Wait { mark: engine.signal_mark(signal, 5), timeout_ms: 0, code: 0 });
    engine.push(stream, Task::Advance { mark: engine.signal_mark(signal, 1) });
    sync(&engine, stream);
    assert_eq!(ran.load(Ordering::Relaxed), 1, "skipped");
    assert!(engine.query(engine.signal_mark(signal, 1)), "others are not kept waiting");
    assert!(engine.take_failure(stream).is_some());
    engine.push(stream, count());
    engine.push(stream, Task::Fail { code: 6 });
    engine.push(stream, count());
    sync(&engine, stream);
    assert_eq!(ran.load(Ordering::Relaxed), 2);
    assert_eq!(engine.failure(stream).map(|f| f.code), Some(6));
}

#[test]
fn abort_drops_what_has_not_begun_and_waits_for_what_runs() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let (started, ended, later) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let slow = || {
        started.store(true, Ordering::Release);
        std::thread::sleep(Duration::from_millis(30));
        ended.store(true, Ordering::Release);
    };
    let never = || later.store(true, Ordering::Release);
    engine.push(stream, host(&slow));
    engine.push(stream, host(&never));
    let mark = engine.mark(stream);
    until("the host function did not start", || started.load(Ordering::Acquire));
    engine.abort(stream);
    assert!(ended.load(Ordering::Acquire), "abort did not wait for the running task");
    assert!(engine.query(mark));
    assert!(!later.load(Ordering::Acquire));
    let again = || later.store(true, Ordering::Release);
    engine.push(stream, host(&again));
    sync(&engine, stream);
    assert!(later.load(Ordering::Acquire), "tasks after the abort run");
}

#[test]
fn abort_frees_a_stream_that_waits_for_ever() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let other = engine.open(0, 0).unwrap();
    let signal = engine.open_signal().unwrap();
    for round in 0..300 {
        engine.push(stream, Task::Wait { mark: engine.signal_mark(signal, 1), timeout_ms: 0, code: 0 });
        engine.push(other, Task::Wait { mark: engine.mark(stream), timeout_ms: 0, code: 0 });
        if round % 3 == 0 {
            std::thread::sleep(Duration::from_micros(150));
        } else if round % 3 == 1 {
            engine.query(engine.mark(other));
        }
        engine.abort(stream);
        sync(&engine, other);
    }
    engine.push(stream, Task::Wait { mark: engine.signal_mark(signal, 1), timeout_ms: 0, code: 0 });
    engine.abort(stream);
    engine.close(stream);
    assert_eq!(engine.open(0, 0), Some(stream));
}

#[test]
fn a_host_function_may_abort_its_own_stream() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let later = AtomicBool::new(false);
    let mine = || engine.abort(stream);
    let never = || later.store(true, Ordering::Release);
    engine.push(stream, host(&mine));
    engine.push(stream, host(&never));
    sync(&engine, stream);
    // The second may have been added after the abort; it was not if the first had to wait for it.
    let hold = AtomicBool::new(false);
    let mine = || {
        until("never released", || hold.load(Ordering::Acquire));
        engine.abort(stream);
    };
    later.store(false, Ordering::Release);
    engine.push(stream, host(&mine));
    engine.push(stream, host(&never));
    hold.store(true, Ordering::Release);
    sync(&engine, stream);
    assert!(!later.load(Ordering::Acquire));
}

#[test]
fn closing_drains_under_waiters_and_positions_go_on() {
    let engine = Engine::new(Config { max_streams: 2, ..Config::new(Box::new(Silent)) });
    let gate = engine.open_signal().unwrap();
    let keep = engine.open(0, 0).unwrap();
    for round in 1..=50 {
        let stream = engine.open(0, (round % 8) as u8).unwrap();
        assert_eq!(engine.open(0, 0), None);
        let ran = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ran);
        engine.push(stream, Task::Wait { mark: engine.signal_mark(gate, round), timeout_ms: 0, code: 0 });
        engine.push(
            stream,
            work(round % 2 == 0, move || {
                flag.store(true, Ordering::Release);
                Ok(())
            }),
        );
        let mark = engine.mark(stream);
        engine.push(keep, Task::Wait { mark, timeout_ms: 0, code: 0 });
        engine.close(stream);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| engine.wait(mark, long()));
            assert!(!engine.query(mark));
            engine.advance(gate, round);
            assert_eq!(waiter.join().unwrap(), Waited::Done);
        });
        assert!(ran.load(Ordering::Acquire));
        sync(&engine, keep);
        until("the slot does not come back", || match engine.open(0, 0) {
            Some(again) => {
                assert_eq!(engine.failure(again), None);
                assert!(engine.query(mark), "positions restarted");
                engine.close(again);
                true
            }
            None => false,
        });
    }
}

#[test]
fn host_functions_that_wait_for_each_other_get_stand_ins() {
    let engine = one_worker();
    const N: usize = 6;
    let streams: Vec<_> = (0..N).map(|_| engine.open(0, 0).unwrap()).collect();
    let barrier = std::sync::Barrier::new(N);
    let meet = || {
        assert!(engine.on_worker());
        barrier.wait();
    };
    streams.iter().for_each(|s| {
        engine.push(*s, host(&meet));
    });
    streams.iter().for_each(|s| sync(&engine, *s));
    // One that synchronizes a stream whose head is a host function, and waits for a signal that a third advances.
    let signal = engine.open_signal().unwrap();
    let done = AtomicBool::new(false);
    let advance = || engine.advance(signal, 1);
    let inner = || {
        assert_eq!(engine.wait(engine.signal_mark(signal, 1), long()), Waited::Done);
        done.store(true, Ordering::Release);
    };
    let outer = || {
        engine.push(streams[1], host(&inner));
        engine.push(streams[2], host(&advance));
        sync(&engine, streams[1]);
    };
    engine.push(streams[0], host(&outer));
    sync(&engine, streams[0]);
    sync(&engine, streams[2]);
    assert!(done.load(Ordering::Acquire) && !engine.on_worker());
}

#[test]
fn stand_ins_retire() {
    let threads = || {
        let names = std::fs::read_dir("/proc/self/task")
            .unwrap()
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.starts_with("retire-w")).count()
    };
    assert_eq!(threads(), 0);
    let engine = one_worker();
    let streams: Vec<_> = (0..8).map(|_| engine.open(0, 0).unwrap()).collect();
    let barrier = std::sync::Barrier::new(8);
    // The threads of this test's engine carry their own name, since other tests run beside it.
    let meet = || {
        // SAFETY: names the calling thread.
        unsafe { libc::prctl(libc::PR_SET_NAME, c"retire-w".as_ptr()) };
        barrier.wait();
    };
    streams.iter().for_each(|s| {
        engine.push(*s, host(&meet));
    });
    streams.iter().for_each(|s| sync(&engine, *s));
    assert!(threads() >= 2);
    until("stand-ins stay", || threads() <= 2);
}

#[test]
fn a_higher_priority_does_not_wait_for_the_backlog() {
    let engine = one_worker();
    let (low, high) = (engine.open(0, 7).unwrap(), engine.open(0, 0).unwrap());
    let block = vec![1_u8; 256 << 10];
    let target = vec![0_u8; 256 << 10];
    let hold = AtomicBool::new(false);
    let wait = || until("never released", || hold.load(Ordering::Acquire));
    engine.push(low, host(&wait));
    const N: u64 = 2000;
    for _ in 0..N {
        engine.push(
            low,
            Task::Copy { dst: target.as_ptr() as usize, src: block.as_ptr() as usize, len: block.len() },
        );
    }
    let end = engine.mark(low);
    let after = engine.mark_at(low, end.position() - N / 2);
    let overtook = AtomicBool::new(false);
    let look = || overtook.store(!engine.query(after), Ordering::Release);
    hold.store(true, Ordering::Release);
    engine.push(high, host(&look));
    sync(&engine, high);
    assert!(overtook.load(Ordering::Acquire), "the high priority came last");
    sync(&engine, low);
}

#[test]
fn the_probe_sees_each_task_begin_and_end_before_it_is_done() {
    #[derive(Default)]
    struct Log(Mutex<Vec<(char, u64)>>);
    impl Probe for Log {
        fn started(&self, _: Stream, position: u64) {
            self.0.lock().unwrap().push(('s', position));
        }
        fn done(&self, _: Stream, position: u64) {
            self.0.lock().unwrap().push(('d', position));
        }
        fn failed(&self, _: Stream, failure: Failure) {
            self.0.lock().unwrap().push(('f', failure.position));
        }
    }
    let log = Arc::new(Log::default());
    let engine = Engine::new(Config::new(Box::new(Arc::clone(&log))));
    let stream = engine.open(0, 0).unwrap();
    let signal = engine.open_signal().unwrap();
    engine.push(stream, Task::Fail { code: 1 });
    sync(&engine, stream);
    engine.watch(true);
    engine.push(stream, Task::Wait { mark: engine.signal_mark(signal, 1), timeout_ms: 0, code: 0 });
    engine.push(stream, work(true, || Err(1)));
    std::thread::sleep(Duration::from_millis(2));
    engine.advance(signal, 1);
    sync(&engine, stream);
    assert_eq!(*log.0.lock().unwrap(), [('f', 1), ('s', 2), ('d', 2), ('s', 3), ('f', 3), ('d', 3)]);
}

/// Calls back about each failure, as a program would be.
#[derive(Default)]
struct Asks(std::sync::OnceLock<Box<dyn Fn(Stream) + Send + Sync>>);

impl Probe for Asks {
    fn started(&self, _: Stream, _: u64) {}
    fn done(&self, _: Stream, _: u64) {}
    fn failed(&self, stream: Stream, _: Failure) {
        if let Some(asked) = self.0.get() {
            asked(stream);
        }
    }
}

#[test]
fn a_callback_about_a_failure_may_wait_for_other_streams() {
    let asks = Arc::new(Asks::default());
    let config = Config { workers: 1, ..Config::new(Box::new(Arc::clone(&asks))) };
    let engine = Arc::new(Engine::new(config));
    let (failing, other) = (engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap());
    let (ran, waited) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (inner, flags) = (Arc::downgrade(&engine), (ran.clone(), waited.clone()));
    let asked = move |stream| {
        let engine = inner.upgrade().unwrap();
        assert!(!engine.runs(stream));
        engine.callback(stream, || {
            assert!(engine.runs(stream) && !engine.runs(other));
            // The only worker is here.
            let run = flags.0.clone();
            let task = move || {
                run.store(true, Ordering::Release);
                Ok(())
            };
            engine.push(other, work(true, task));
            let done = engine.wait(engine.mark(other), long()) == Waited::Done;
            flags.1.store(done, Ordering::Release);
        });
        assert!(!engine.runs(stream));
    };
    assert!(asks.0.set(Box::new(asked)).is_ok());
    for _ in 0..50 {
        ran.store(false, Ordering::Release);
        engine.push(failing, Task::Fail { code: 9 });
        until("the failure is not told", || engine.query(engine.mark(failing)));
        assert!(ran.load(Ordering::Acquire) && waited.load(Ordering::Acquire));
        assert_eq!(engine.take_failure(failing).map(|f| f.code), Some(9));
    }
}

#[test]
fn a_kernel_that_faults_fails_its_stream_and_the_worker_is_replaced() {
    let engine = Engine::new(Config { workers: 1, kernel_fault_code: 88, ..Config::new(Box::new(Silent)) });
    let stream = engine.open(0, 0).unwrap();
    let after = Arc::new(AtomicBool::new(false));
    for round in 0..3 {
        let position = engine.push(
            stream,
            work(true, || {
                // SAFETY: none; that is the point.
                unsafe { std::ptr::without_provenance_mut::<u8>(16).write_volatile(1) };
                Ok(())
            }),
        );
        let flag = Arc::clone(&after);
        engine.push(
            stream,
            work(true, move || {
                flag.store(true, Ordering::Release);
                Ok(())
            }),
        );
        sync(&engine, stream);
        assert_eq!(engine.take_failure(stream), Some(Failure { code: 88, position }), "round {round}");
        assert!(after.swap(false, Ordering::AcqRel));
    }
}

#[test]
fn a_kernel_that_runs_too_long_can_be_given_up() {
    let engine = one_worker();
    let stream = engine.open(0, 0).unwrap();
    assert!(!engine.abandon(stream, 1));
    let (begun, release) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (b, r) = (Arc::clone(&begun), Arc::clone(&release));
    let position = engine.push(
        stream,
        work(true, move || {
            b.store(true, Ordering::Release);
            until("never released", || r.load(Ordering::Acquire));
            Ok(())
        }),
    );
    let ran = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ran);
    engine.push(
        stream,
        work(true, move || {
            flag.store(true, Ordering::Release);
            Ok(())
        }),
    );
    until("the kernel does not begin", || begun.load(Ordering::Acquire));
    assert!(engine.abandon(stream, 99));
    sync(&engine, stream);
    assert!(ran.load(Ordering::Acquire));
    assert_eq!(engine.failure(stream), Some(Failure { code: 99, position }));
    release.store(true, Ordering::Release);
}

#[test]
fn giving_up_hits_no_other_kernel() {
    let engine = one_worker();
    let (hunted, other) = (engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap());
    let stop = AtomicBool::new(false);
    let mut hits = 0;
    std::thread::scope(|scope| {
        let hunter = scope.spawn(|| {
            let mut hits = 0;
            while !stop.load(Ordering::Acquire) {
                hits += u32::from(engine.abandon(hunted, 8));
            }
            hits
        });
        let end = Instant::now() + Duration::from_millis(500);
        while Instant::now() < end {
            // In turn: each kernel waits for the one of the other stream.
            for _ in 0..64 {
                for (stream, before) in [(hunted, other), (other, hunted)] {
                    let mark = engine.mark(before);
                    engine.push(stream, Task::Wait { mark, timeout_ms: 0, code: 0 });
                    engine.push(stream, work(true, || Ok(())));
                }
            }
            sync(&engine, hunted);
            sync(&engine, other);
        }
        stop.store(true, Ordering::Release);
        hits = hunter.join().unwrap();
    });
    assert_eq!(engine.failure(other), None, "after {hits} hits");
    assert_eq!(engine.failure(hunted).is_some(), hits > 0);
}

#[test]
fn a_seeded_policy_runs_everything() {
    for seed in 0..8 {
        let policy = Box::new(Seeded::new(seed));
        let engine = Engine::new(Config { policy, ..Config::new(Box::new(Silent)) });
        let streams: Vec<_> = (0..8).map(|p| engine.open(0, p).unwrap()).collect();
        let ran = Arc::new(AtomicU32::new(0));
        for i in 0..800 {
            let ran = Arc::clone(&ran);
            engine.push(
                streams[i % 8],
                work(i % 10 == 0, move || {
                    ran.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                }),
            );
        }
        streams.iter().for_each(|s| sync(&engine, *s));
        assert_eq!(ran.load(Ordering::Relaxed), 800);
    }
}

#[test]
fn a_policy_may_hold_streams_back_until_a_host_waits() {
    /// Shows its streams only while a host waits.
    #[derive(Default)]
    struct Lazy {
        ready: VecDeque<u32>,
        hosts: usize,
    }
    impl Policy for Lazy {
        fn list(&mut self, candidate: Candidate) {
            self.ready.push_back(candidate.stream);
        }
        fn next(&mut self) -> Option<Choice> {
            let stream = if self.hosts > 0 { self.ready.pop_front() } else { None };
            stream.map(|stream| Choice { stream, budget: 8 })
        }
        fn mask(&self) -> u32 {
            u32::from(self.hosts > 0 && !self.ready.is_empty())
        }
        fn follows(&self) -> bool {
            false
        }
        fn watches_hosts(&self) -> bool {
            true
        }
        fn hosts(&mut self, waiting: usize) {
            self.hosts = waiting;
        }
    }
    let engine = Engine::new(Config { policy: Box::new(Lazy::default()), ..Config::new(Box::new(Silent)) });
    let streams = [engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap()];
    for user_code in [true, false] {
        let ran = Arc::new(AtomicU32::new(0));
        for stream in streams {
            for _ in 0..20 {
                let ran = Arc::clone(&ran);
                engine.push(
                    stream,
                    work(user_code, move || {
                        ran.fetch_add(1, Ordering::Relaxed);
                        Ok(())
                    }),
                );
            }
        }
        std::thread::sleep(Duration::from_millis(3));
        assert_eq!(ran.load(Ordering::Relaxed), 0);
        streams.iter().for_each(|s| sync(&engine, *s));
        assert_eq!(ran.load(Ordering::Relaxed), 40);
    }
}

#[test]
fn callbacks_run_with_signals_blocked_but_for_faults() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let blocked = Mutex::new(Vec::new());
    let look = || {
        // SAFETY: the set is filled in by the call.
        let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: only asks.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask) };
        let signals =
            [libc::SIGUSR1, libc::SIGTERM, libc::SIGPROF, libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE];
        // SAFETY: as above.
        let is_in = |s: &i32| unsafe { libc::sigismember(&raw const mask, *s) } == 1;
        *blocked.lock().unwrap() = signals.iter().map(is_in).collect();
    };
    engine.push(stream, host(&look));
    sync(&engine, stream);
    assert_eq!(*blocked.lock().unwrap(), [true, true, true, false, false, false]);
}

/// Tasks of several streams that depend on each other, host code among them, and a host that waits, asks and goes on:
/// the order in which they ran.
#[allow(clippy::unwrap_used)]
fn seeded_order(seed: u64) -> Vec<u32> {
    let engine = Engine::new(Config { policy: Box::new(Seeded::new(seed)), ..Config::new(Box::new(Silent)) });
    let streams: Vec<_> = (0..4).map(|p| engine.open(0, p).unwrap()).collect();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut number = 0;
    let mut add = |stream: Stream, user_code: bool| {
        let order = Arc::clone(&order);
        let this = number;
        number += 1;
        engine.push(
            stream,
            work(user_code, move || {
                order.lock().unwrap().push(this);
                Ok(())
            }),
        );
    };
    for round in 0..3 {
        for i in 0..24 {
            add(streams[i % 4], i % 5 == 0);
        }
        let mark = engine.mark(streams[round]);
        engine.push(streams[3], Task::Wait { mark, timeout_ms: 0, code: 0 });
        add(streams[3], false);
        sync(&engine, streams[round]);
        add(streams[2], true);
        let mark = engine.mark(streams[2]);
        while !engine.query(mark) {}
    }
    streams.iter().for_each(|s| sync(&engine, *s));
    let order = order.lock().unwrap().clone();
    assert_eq!(order.len(), 3 * 26);
    order
}

#[test]
fn a_seed_repeats_its_order() {
    let first = seeded_order(1);
    for _ in 0..20 {
        assert_eq!(seeded_order(1), first);
    }
    let others: std::collections::HashSet<_> = (2..8).map(seeded_order).collect();
    assert!(others.len() > 1);
}

#[test]
fn a_seeded_engine_goes_on_by_itself_for_a_host_that_looks_at_memory() {
    let engine = Engine::new(Config { policy: Box::new(Seeded::new(3)), ..Config::new(Box::new(Silent)) });
    let streams = [engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap()];
    let ran = Arc::new(AtomicU32::new(0));
    let gate = Arc::new(AtomicBool::new(false));
    // User code that waits for the host, and for another stream's user code: nothing that the engine knows of.
    for (stream, opens) in streams.into_iter().zip([false, true]) {
        let (ran, gate) = (Arc::clone(&ran), Arc::clone(&gate));
        engine.push(
            stream,
            work(true, move || {
                gate.fetch_or(opens, Ordering::AcqRel);
                while !gate.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                ran.fetch_add(1, Ordering::AcqRel);
                Ok(())
            }),
        );
    }
    let end = Instant::now() + Duration::from_secs(20);
    while ran.load(Ordering::Acquire) < 2 {
        assert!(Instant::now() < end, "nothing moves");
        std::thread::sleep(Duration::from_millis(1));
    }
    // A callback that waits for another stream.
    let engine = Arc::new(engine);
    let inner = Arc::clone(&engine);
    let (first, second) = (streams[0], streams[1]);
    engine.push(
        first,
        work(true, move || {
            let ran = Arc::clone(&ran);
            let add = move || {
                ran.fetch_add(1, Ordering::AcqRel);
                Ok(())
            };
            inner.push(second, work(true, add));
            (inner.wait(inner.mark(second), long()) == Waited::Done).then_some(()).ok_or(7)
        }),
    );
    sync(&engine, first);
    assert_eq!(engine.failure(first), None);
}

#[test]
fn a_stream_that_a_worker_has_left_runs_while_that_is_in_a_host_function() {
    let engine = engine();
    let (one, two) = (engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap());
    let memory = vec![0_u8; 4096];
    let (made, used) = (AtomicU32::new(0), AtomicU32::new(0));
    let make = || {
        made.fetch_add(1, Ordering::AcqRel);
    };
    let end = Instant::now() + Duration::from_secs(20);
    let awaits = || {
        let round = used.load(Ordering::Acquire) + 1;
        while made.load(Ordering::Acquire) < round {
            assert!(Instant::now() < end, "the other stream does not run");
            std::thread::yield_now();
        }
        used.fetch_add(1, Ordering::AcqRel);
    };
    let nothing = || ();
    let mut rounds = 0;
    for _ in 0..10_000 {
        for _ in 0..7 {
            rounds += 1;
            engine.push(one, Task::Fill { dst: memory.as_ptr() as usize, len: 4096, byte: 1 });
            engine.push(one, host(&make));
            engine.push(one, host(&nothing));
            engine.push(two, host(&nothing));
            engine.push(two, host(&awaits));
            engine.push(two, Task::Fill { dst: memory.as_ptr() as usize, len: 2048, byte: 2 });
        }
        // No call meanwhile that would help.
        while used.load(Ordering::Acquire) < rounds {
            assert!(Instant::now() < end, "the other stream does not run");
            std::thread::yield_now();
        }
    }
    sync(&engine, one);
    sync(&engine, two);
}
