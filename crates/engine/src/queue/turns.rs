//! Taking turns, for policies that ask for it ([`super::Policy::turns`]): an order of execution that follows from the policy's
//! choices alone, not from when the program enqueued or how fast a worker woke.
//!
//! One stream runs at a time, for one turn (a task, or a slice of a large copy), and a turn begins only while the program stands
//! still:
//! - a thread waits for something that is not done yet. Its wait ends between two turns, so that what it does next meets
//!   the same state each time;
//! - or it asked whether something is done ([`super::Engine::query`]), which is worth one turn;
//! - or it has been quiet for a pause: it computes, sleeps, looks at memory, or waits for something that the engine does not know.
//!   From then on turns follow each other until it calls again. Only here does time decide.
//!
//! Code of the program that a stream runs is part of the program: its turn ends where it begins, nothing else runs until it
//! returns or waits itself, and then it takes a new turn.
//!
//! The lock is a leaf; `done` of a line is read under it, nothing else.

use super::core::Core;
use super::mark::Mark;
use super::worker;
use crate::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

pub(crate) struct Turns {
    pause: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// A turn is being taken.
    running: bool,
    /// Who waits: for what, and whether from code that a stream runs.
    waits: Vec<(Mark, bool)>,
    /// Turns that queries have asked for, and by how many of those in code that a stream runs.
    asked: usize,
    asked_inside: usize,
    /// Code of the program that streams run now.
    inside: usize,
    /// The last call of the program, and whether the pause after it is over.
    last: Instant,
    quiet: bool,
}

impl State {
    /// Whether a turn may begin.
    fn open(&self, core: &Core) -> bool {
        let (mut waits, mut blocked) = (self.asked, self.asked_inside);
        for (mark, from_inside) in &self.waits {
            if !core.done(*mark) {
                waits += 1;
                blocked += usize::from(*from_inside);
            }
        }
        !self.running && (self.quiet || (waits > 0 && self.inside <= blocked))
    }

    fn call(&mut self) {
        self.last = Instant::now();
        self.quiet = false;
    }
}

impl Turns {
    pub(crate) fn new(pause: Duration) -> Turns {
        let state = State {
            running: false,
            waits: Vec::new(),
            asked: 0,
            asked_inside: 0,
            inside: 0,
            last: Instant::now(),
            quiet: false,
        };
        Turns { pause, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A worker waits for its turn; None if nothing is listed.
    pub(crate) fn take(&self, core: &Core) -> Option<Turn<'_>> {
        let mut state = self.state.lock();
        loop {
            if !core.ready.pending() || core.ready.stopped() {
                return None;
            }
            if state.open(core) {
                state.running = true;
                if state.asked > 0 {
                    state.asked -= 1;
                    state.asked_inside = state.asked_inside.min(state.asked);
                }
                return Some(Turn(self));
            }
            let until = state.last + self.pause;
            if state.running {
                self.changed.wait(&mut state);
            } else if Instant::now() >= until {
                state.quiet = true;
            } else {
                self.changed.wait_until(&mut state, until);
            }
        }
    }

    /// The turn goes over into code of the program.
    pub(crate) fn enter_user(&self) {
        let mut state = self.state.lock();
        state.running = false;
        state.inside += 1;
        state.call();
        self.changed.notify_all();
    }

    /// That code is never coming back: its thread has faulted or was given up.
    pub(crate) fn lose_user(&self) {
        self.state.lock().inside -= 1;
        self.changed.notify_all();
    }

    /// That code has returned: takes the next turn.
    pub(crate) fn leave_user(&self) {
        let mut state = self.state.lock();
        state.call();
        while state.running {
            self.changed.wait(&mut state);
        }
        state.inside -= 1;
        state.running = true;
        self.changed.notify_all();
    }

    /// The program has called: its pause starts anew.
    pub(crate) fn called(&self) {
        self.state.lock().call();
    }

    /// The calling thread begins to wait.
    pub(crate) fn begin_wait(&self, mark: Mark) {
        let mut state = self.state.lock();
        state.waits.push((mark, worker::on_worker()));
        state.call();
        self.changed.notify_all();
    }

    /// It has waited: goes on between two turns.
    pub(crate) fn end_wait(&self, mark: Mark) {
        let mut state = self.state.lock();
        let from_inside = worker::on_worker();
        if let Some(at) = state.waits.iter().position(|wait| *wait == (mark, from_inside)) {
            state.waits.swap_remove(at);
        }
        while state.running {
            self.changed.wait(&mut state);
        }
        state.call();
        self.changed.notify_all();
    }

    /// Lets one turn pass, if there is something to run; no longer than the pause.
    pub(crate) fn pass(&self, core: &Core) {
        let from_inside = usize::from(worker::on_worker());
        let until = Instant::now() + self.pause;
        let mut state = self.state.lock();
        state.asked += 1;
        state.asked_inside += from_inside;
        let target = state.asked - 1;
        self.changed.notify_all();
        while state.running || (state.asked > target && core.ready.pending()) {
            if self.changed.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
        state.asked = state.asked.min(target);
        state.asked_inside = state.asked_inside.min(target);
        if !state.quiet {
            state.call();
        }
    }
}

/// A turn that is being taken.
pub(crate) struct Turn<'a>(&'a Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state.lock().running = false;
        self.0.changed.notify_all();
    }
}
