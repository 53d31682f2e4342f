//! Models of the small protocols, over the real types. Each model is run as it is and with a fault planted in it, which
//! it must find: a lost wake-up shows as a deadlock.
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

fn check(planted: Option<Place>, model: fn()) {
    plant(planted);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
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
    assert!(here || there, "nobody comes for the stream");
    assert!(!(here && there), "two stand-ins");
}

#[test]
fn loom_enqueue_park() {
    check(None, enqueue_park);
}

#[test]
fn loom_enqueue_poll() {
    check(None, enqueue_poll);
}

#[test]
fn loom_enqueue_user_code() {
    check(None, enqueue_user_code);
}

#[test]
#[should_panic]
fn loom_enqueue_park_without_the_enqueue_fence() {
    check(Some(Place::Enqueue), enqueue_park);
}

#[test]
#[should_panic]
fn loom_enqueue_park_without_the_park_fence() {
    check(Some(Place::Park), enqueue_park);
}

#[test]
#[should_panic]
fn loom_enqueue_user_code_without_the_enqueue_fence() {
    check(Some(Place::Enqueue), enqueue_user_code);
}

#[test]
#[should_panic]
fn loom_enqueue_user_code_without_the_park_fence() {
    check(Some(Place::Park), enqueue_user_code);
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
    let parked = shared.line.wait(2, Who::Stream { index: 7, ticket: 0 }, || {
        shared.state.park();
        true
    });
    publisher.join().unwrap();
    assert_eq!(parked, shared.woken.load(Ordering::Relaxed), "a parked stream was not woken");
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

#[test]
fn loom_publish_wait() {
    check(None, publish_wait);
}

#[test]
fn loom_advance_wait() {
    check(None, advance_wait);
}

#[test]
#[should_panic]
fn loom_publish_wait_without_the_publish_fence() {
    check(Some(Place::Publish), publish_wait);
}

#[test]
#[should_panic]
fn loom_publish_wait_without_the_wait_fence() {
    check(Some(Place::Wait), publish_wait);
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
    assert!(ran || later, "the stream is QUEUED and in no list");
    assert!(!(ran && later && shared.state.get() == QUEUED));
}

#[test]
fn loom_state_list() {
    check(None, state_list);
}

#[test]
#[should_panic]
fn loom_state_list_with_the_flag_cleared_late() {
    check(Some(Place::Unlist), state_list);
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
    check(None, host_sleep);
}

#[test]
fn loom_host_times_out() {
    check(None, host_times_out);
}

#[test]
#[should_panic]
fn loom_host_sleep_without_the_publish_fence() {
    check(Some(Place::Publish), host_sleep);
}

#[test]
#[should_panic]
fn loom_host_sleep_without_the_wait_fence() {
    check(Some(Place::Wait), host_sleep);
}

#[test]
#[should_panic]
fn loom_host_sleep_without_taking_the_lock_to_leave() {
    check(Some(Place::Leave), host_sleep);
}
