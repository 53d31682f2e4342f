//! How streams stand, and what the probe is told of threads that wait for long.
#![cfg(not(loom))]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use toprope_engine::queue::{
    Condition, Config, Engine, Failure, Mark, Poll, Probe, Silent, Stand, Stream, Task, Until, Waited,
};

mod common;
use common::until;

fn stand(engine: &Engine, stream: Stream) -> Option<(u64, Stand)> {
    let all = loop {
        if let Some(all) = engine.standing() {
            break all;
        }
    };
    all.into_iter().find(|standing| standing.stream == stream).map(|standing| (standing.done, standing.stand))
}

struct Flag(AtomicBool);

struct IsSet(Arc<Flag>);

impl Condition for IsSet {
    fn meet(&self) -> Result<bool, u32> {
        Ok(self.0.0.load(Ordering::Acquire))
    }
}

fn poll(flag: &Arc<Flag>, timeout_ms: u32) -> Task {
    let key = Arc::as_ptr(flag) as usize;
    Task::Poll(Arc::new(Poll::new(Box::new(IsSet(Arc::clone(flag))), key, timeout_ms, 9)))
}

unsafe extern "C" fn spin_until_set(flag: *mut c_void) {
    // SAFETY: a Flag that outlives the task.
    let flag = unsafe { &*flag.cast::<Flag>() };
    while !flag.0.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn each_stream_says_what_keeps_it() {
    let engine = Engine::new(Config::new(Box::new(Silent)));
    let open = || engine.open(0, 0).unwrap();
    let (idle, listens, follows, held, limited, runs) = (open(), open(), open(), open(), open(), open());
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    let signal = engine.open_signal().unwrap();
    let gate = engine.signal_mark(signal, 1);

    engine.push(listens, Task::Ring { key: 1 });
    let position = engine.push(listens, poll(&flag, 0));
    let awaited = engine.mark_at(listens, position);
    engine.push(follows, Task::Wait { mark: awaited, timeout_ms: 0, code: 0 });
    engine.push(held, Task::Wait { mark: gate, timeout_ms: 0, code: 0 });
    engine.push(limited, Task::Wait { mark: gate, timeout_ms: 60_000, code: 5 });
    engine.push(runs, Task::Host { func: spin_until_set, arg: Arc::as_ptr(&flag).cast_mut().cast() });

    until("the streams get there", || {
        stand(&engine, listens) == Some((1, Stand::Condition))
            && stand(&engine, follows) == Some((0, Stand::Stream(awaited)))
            && stand(&engine, held) == Some((0, Stand::Signal(gate)))
            && stand(&engine, runs) == Some((0, Stand::Runs))
            && stand(&engine, limited) == Some((0, Stand::Moves))
    });
    assert_eq!(stand(&engine, idle), None);

    flag.0.store(true, Ordering::Release);
    engine.ring(Arc::as_ptr(&flag) as usize);
    engine.reach(gate);
    until("they go on", || {
        [listens, follows, held, limited, runs].iter().all(|s| stand(&engine, *s).is_none())
    });
}

#[test]
fn a_limited_condition_counts_as_moving() {
    let engine = Engine::new(Config::new(Box::new(Silent)));
    let (limited, not) = (engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap());
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    engine.push(limited, poll(&flag, 60_000));
    engine.push(not, poll(&flag, 0));
    until("they park", || {
        stand(&engine, not) == Some((0, Stand::Condition))
            && stand(&engine, limited) == Some((0, Stand::Moves))
    });
    engine.discard(limited);
    engine.discard(not);
    until("they are dropped", || stand(&engine, limited).is_none() && stand(&engine, not).is_none());
}

type Told = Arc<Mutex<Vec<Option<(Mark, Until, Vec<Stream>)>>>>;

struct Notes(Told);

impl Probe for Notes {
    fn started(&self, _: Stream, _: u64) {}
    fn done(&self, _: Stream, _: u64) {}
    fn failed(&self, _: Stream, _: Failure) {}
    fn sleeps(&self, mark: Mark, until: Until, inside: &[Stream]) {
        self.0.lock().push(Some((mark, until, inside.to_vec())));
    }
    fn woke(&self) {
        self.0.lock().push(None);
    }
}

struct There {
    engine: *const Engine,
    mark: Mark,
}

unsafe extern "C" fn wait_there(there: *mut c_void) {
    // SAFETY: a There that outlives the task, as its engine does.
    let (engine, mark) = unsafe { (&*(*there.cast::<There>()).engine, (*there.cast::<There>()).mark) };
    engine.wait_patiently(mark, None);
}

#[test]
fn long_waits_are_told_and_short_ones_are_not() {
    let told = Told::default();
    let engine = Engine::new(Config::new(Box::new(Notes(Arc::clone(&told)))));
    engine.watch(true);
    let (one, two) = (engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap());
    let signal = engine.open_signal().unwrap();
    let gate = engine.signal_mark(signal, 1);
    let position = engine.push(one, Task::Wait { mark: gate, timeout_ms: 0, code: 0 });
    let mark = engine.mark_at(one, position);
    // Shorter than what is long: never told.
    let soon = Some(Instant::now() + Duration::from_millis(20));
    assert_eq!(engine.wait(mark, soon), Waited::TimedOut);
    assert!(told.lock().is_empty());

    // A function that waits is a part of its stream.
    let there = There { engine: &raw const engine, mark };
    engine.push(two, Task::Host { func: wait_there, arg: (&raw const there).cast_mut().cast() });
    until("the wait is told", || told.lock().len() == 1);
    assert_eq!(told.lock()[0], Some((mark, Until::Patience, vec![two])));
    engine.reach(gate);
    assert_eq!(engine.wait(engine.mark(two), None), Waited::Done);
    assert!(told.lock().contains(&None));
}
