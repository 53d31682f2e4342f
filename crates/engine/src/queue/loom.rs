//! Models of the small protocols, over the real types. Each model is run as it is and with faults planted in it, which
//! it must find: a lost wake-up shows as a deadlock. A found fault often ends loom's process, hence the planted ones run
//! in a process of their own.
//!
//! Run: `RUSTFLAGS="--cfg loom" cargo test -p toprope-engine --release --lib loom`.

use super::line::{Line, Who};
use super::park::{Down, Kick, Roster};
use super::policy::{ByPriority, Candidate};
use super::ready::Ready;
use super::sleeper::sleep;
use super::state::{Claimer, QUEUED, State, WAITING};
use crate::sync::{Arc, AtomicBool, AtomicU32, Ordering, Place, plant};
use loom::cell::UnsafeCell;
use loom::thread;

fn check(model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Models and faults by name, for the child process.
const PLANTED: [(&str, fn(), Place); 14] = [
    ("enqueue_park-enqueue", enqueue_park, Place::Enqueue),
    ("enqueue_park-park", enqueue_park, Place::Park),
    ("enqueue_poll-park", enqueue_poll, Place::Park),
    ("enqueue_user_code-enqueue", enqueue_user_code, Place::Enqueue),
    ("enqueue_user_code-park", enqueue_user_code, Place::Park),
    ("publish_wait-publish", publish_wait, Place::Publish),
    ("publish_wait-wait", publish_wait, Place::Wait),
    ("ring_wait-publish", ring_wait, Place::Publish),
    ("ring_wait-wait", ring_wait, Place::Wait),
    ("state_list-unlist", state_list, Place::Unlist),
    ("host_sleep-publish", host_sleep, Place::Publish),
    ("host_sleep-wait", host_sleep, Place::Wait),
    ("host_sleep-leave", host_sleep, Place::Leave),
    ("park_abort-abort", park_abort, Place::Abort),
];

const CHILD: &str = "TOPROPE_LOOM_PLANTED";

#[test]
fn loom_finds_each_planted_fault() {
    let me = std::env::current_exe().unwrap();
    for (name, ..) in PLANTED {
        let child = std::process::Command::new(&me)
            .args(["--exact", "queue::loom::loom_child", "--include-ignored", "--nocapture"])
            .env(CHILD, name)
            .env_remove("RUST_BACKTRACE")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stderr);
        assert!(said.contains("model begins"), "{name}: {said}");
        assert!(!child.status.success(), "{name} was not found");
        let found =
            ["deadlock", "FOUND", "Causality violation", "object has been"].iter().any(|m| said.contains(m));
        assert!(found, "{name} failed for another reason: {said}");
    }
}

#[test]
#[ignore = "run by loom_finds_each_planted_fault"]
fn loom_child() {
    let name = std::env::var(CHILD).unwrap();
    let (_, model, place) = PLANTED.iter().find(|(n, ..)| *n == name).unwrap();
    plant(Some(*place));
    eprintln!("model begins");
    check(*model);
}

fn candidate(stream: u32) -> Candidate {
    Candidate { stream, device: 0, priority: 0 }
}

struct Pool {
    ready: Ready,
    roster: Roster,
}

impl Pool {
    fn new() -> Pool {
        let pool = Pool { ready: Ready::new(Box::new(ByPriority::default())), roster: Roster::new(1) };
        // The worker of the model is there from the start.
        assert_eq!(pool.roster.kick(false), Kick::Spawn);
        pool
    }

    fn add(&self, stream: u32, urgent: bool) {
        self.ready.list(candidate(stream));
        assert_eq!(self.roster.kick(urgent), Kick::Nothing);
    }

    /// Sweeps and steps down until `count` streams have come.
    fn take(&self, count: usize, polls: bool) {
        let mut got = 0;
        loop {
            while self.ready.next().is_some() {
                got += 1;
            }
            if got == count {
                return;
            }
            let pending = || self.ready.pending();
            if self.roster.begin_spin(pending) == Down::Work {
                continue;
            }
            let poll = polls && self.roster.begin_poll() == Down::On;
            if poll && self.roster.poll(std::time::Duration::from_micros(1), pending) == Down::Work {
                continue;
            }
            assert_eq!(self.roster.sleep(poll, pending), Down::Work);
        }
    }
}

/// (1) A stream is listed while the worker goes into deep park.
fn enqueue_park() {
    let pool = Arc::new(Pool::new());
    let worker = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || pool.take(2, false))
    };
    pool.add(1, false);
    pool.add(2, true);
    worker.join().unwrap();
}

/// (1b) Urgent work comes while the worker is between polling and deep park. Time stands still, so that every nap lasts
/// until a permit comes.
fn enqueue_poll() {
    let pool = Arc::new(Pool::new());
    let worker = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || pool.take(1, true))
    };
    pool.add(1, true);
    worker.join().unwrap();
}

/// (1c) A stream is listed while the only worker enters user code: one of the two fetches a stand-in.
fn enqueue_user_code() {
    let pool = Arc::new(Pool::new());
    let worker = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || {
            pool.roster.enter_user();
            pool.ready.pending() && pool.roster.kick(true) == Kick::Spawn
        })
    };
    pool.ready.list(candidate(1));
    let here = pool.roster.kick(true) == Kick::Spawn;
    let there = worker.join().unwrap();
    assert!(here || there, "FOUND: nobody comes for the stream");
    assert!(!(here && there), "two stand-ins");
}

#[test]
fn loom_enqueue_park() {
    check(enqueue_park);
}

#[test]
fn loom_enqueue_poll() {
    check(enqueue_poll);
}

#[test]
fn loom_enqueue_user_code() {
    check(enqueue_user_code);
}

/// (2) A stream waits for a position that is just being published; its owner's cell is handed over.
fn publish_wait() {
    struct Shared {
        line: Line,
        state: State,
        woken: AtomicBool,
        owner: UnsafeCell<u32>,
    }
    // SAFETY (of the test): the cell is touched by the state's owner only, which is what the model checks.
    unsafe impl Sync for Shared {}
    unsafe impl Send for Shared {}
    let shared = Arc::new(Shared {
        line: Line::default(),
        state: State::default(),
        woken: AtomicBool::new(false),
        owner: UnsafeCell::new(0),
    });
    shared.state.enter();
    assert!(shared.state.claim(Claimer::Worker));
    let publisher = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            for position in 1..=2 {
                shared.line.publish(position, |index| {
                    assert_eq!(index, 7);
                    shared.state.wake();
                    shared.woken.store(true, Ordering::Relaxed);
                });
            }
            if shared.state.claim(Claimer::Host) {
                shared.owner.with_mut(|p| unsafe { *p += 1 });
                assert!(shared.woken.load(Ordering::Relaxed));
            }
        })
    };
    shared.owner.with_mut(|p| unsafe { *p += 1 });
    let me = Who::Stream { index: 7, ticket: 0 };
    let parked = shared.line.wait(2, me, || shared.state.park(&AtomicU32::new(0)));
    publisher.join().unwrap();
    assert_eq!(parked, shared.woken.load(Ordering::Relaxed), "FOUND: a parked stream was not woken");
    assert_ne!(shared.state.get(), WAITING);
    assert_eq!(shared.line.low(), u64::MAX);
}

/// (2b) Two threads advance a signal that a stream waits for.
fn advance_wait() {
    let line = Arc::new(Line::default());
    let woken = Arc::new(AtomicU32::new(0));
    let threads = [1, 2].map(|position| {
        let (line, woken) = (Arc::clone(&line), Arc::clone(&woken));
        thread::spawn(move || {
            line.advance(position, |_| {
                woken.fetch_add(1, Ordering::Relaxed);
            });
        })
    });
    let parked = line.wait(2, Who::Stream { index: 0, ticket: 0 }, || true);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(woken.load(Ordering::Relaxed), u32::from(parked));
    assert_eq!(line.done(), 2);
}

/// (2c) A stream looks at a condition that somebody changes and rings for, and parks until the next ring.
fn ring_wait() {
    let line = Arc::new(Line::default());
    let (met, woken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let ringer = {
        let (line, met, woken) = (Arc::clone(&line), Arc::clone(&met), Arc::clone(&woken));
        thread::spawn(move || {
            met.store(true, Ordering::Relaxed);
            line.bump(|_| {
                woken.fetch_add(1, Ordering::Relaxed);
            });
        })
    };
    let rung = line.done();
    let seen = met.load(Ordering::Relaxed);
    let parked = !seen && line.wait(rung + 1, Who::Stream { index: 0, ticket: 0 }, || true);
    assert!(parked || met.load(Ordering::Relaxed), "FOUND: neither parked nor met");
    ringer.join().unwrap();
    assert_eq!(woken.load(Ordering::Relaxed), u32::from(parked), "FOUND: a parked stream was not woken");
}

#[test]
fn loom_ring_wait() {
    check(ring_wait);
}

#[test]
fn loom_publish_wait() {
    check(publish_wait);
}

#[test]
fn loom_advance_wait() {
    check(advance_wait);
}

/// (3) A stream is given back by a helper while a worker takes its stale entry from the list: in the end it runs.
fn state_list() {
    struct Shared {
        state: State,
        ready: Ready,
    }
    impl Shared {
        fn give_back(&self) {
            self.state.requeue(false);
            if self.state.mark_listed() {
                self.ready.list(candidate(0));
            }
        }
        fn sweep(&self) -> bool {
            self.ready.next().is_some() && self.state.claim_listed(Claimer::Worker)
        }
    }
    let shared =
        Arc::new(Shared { state: State::default(), ready: Ready::new(Box::new(ByPriority::default())) });
    shared.state.enter();
    assert!(shared.state.mark_listed());
    shared.ready.list(candidate(0));
    let helper = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let helped = shared.state.claim(Claimer::Host);
            if helped {
                shared.give_back();
            }
            helped
        })
    };
    let ran = shared.sweep();
    helper.join().unwrap();
    // What was listed last is found by a later sweep.
    let later = shared.sweep();
    assert!(ran || later, "FOUND: the stream is QUEUED and in no list");
    assert!(!(ran && later && shared.state.get() == QUEUED));
}

#[test]
fn loom_state_list() {
    check(state_list);
}

/// (4) A host thread sleeps for a position; its futex word dies when it leaves.
fn host_sleep() {
    let line = Arc::new(Line::default());
    let publisher = {
        let line = Arc::clone(&line);
        thread::spawn(move || line.publish(1, |_| ()))
    };
    assert!(sleep(&line, 1, None, || ()));
    assert_eq!(line.done(), 1);
    publisher.join().unwrap();
}

/// (4b) The same with a deadline that is over: either it was woken, or its entry is gone.
fn host_times_out() {
    let line = Arc::new(Line::default());
    let publisher = {
        let line = Arc::clone(&line);
        thread::spawn(move || line.publish(1, |_| ()))
    };
    if sleep(&line, 1, Some(std::time::Instant::now()), || ()) {
        assert_eq!(line.done(), 1);
    }
    publisher.join().unwrap();
    assert_eq!(line.low(), u64::MAX);
}

#[test]
fn loom_host_sleep() {
    check(host_sleep);
}

#[test]
fn loom_host_times_out() {
    check(host_times_out);
}

/// (5) A stream parks while it is aborted: it is woken, or it does not park.
fn park_abort() {
    struct Shared {
        line: Line,
        state: State,
        attention: AtomicU32,
        woken: AtomicBool,
    }
    let shared = Arc::new(Shared {
        line: Line::default(),
        state: State::default(),
        attention: AtomicU32::new(0),
        woken: AtomicBool::new(false),
    });
    shared.state.enter();
    assert!(shared.state.claim(Claimer::Worker));
    let aborter = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            if shared.state.abort(&shared.attention) {
                shared.line.cancel(
                    |_| true,
                    || {
                        shared.state.wake();
                        shared.woken.store(true, Ordering::Relaxed);
                    },
                );
            }
        })
    };
    let me = Who::Stream { index: 0, ticket: 0 };
    let parked = shared.line.wait(1, me, || shared.state.park(&shared.attention));
    aborter.join().unwrap();
    assert_eq!(parked, shared.woken.load(Ordering::Relaxed), "FOUND: the aborted stream still waits");
}

#[test]
fn loom_park_abort() {
    check(park_abort);
}
