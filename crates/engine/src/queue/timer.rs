//! Deadlines of parked streams: one thread, started with the first timed wait that really parks, asleep until the
//! earliest deadline. It does nothing but take streams out of their waits.

use super::core::Core;
use super::mark::Mark;
use super::worker;
use crate::sync::{Arc, Condvar, Mutex};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// A deadline. It may be stale: the ticket tells whether the stream still is in that very wait.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Alarm {
    at: Instant,
    stream: u32,
    ticket: u64,
    mark: u64,
}

#[derive(Default)]
struct Alarms {
    heap: BinaryHeap<Reverse<Alarm>>,
    running: bool,
    stop: bool,
    /// Alarms above this number are looked through for stale ones.
    purge_at: usize,
}

#[derive(Default)]
pub(crate) struct Timer {
    alarms: Mutex<Alarms>,
    bell: Condvar,
}

impl Core {
    /// Wakes `stream` at `at` if it then still waits for `mark` with that ticket. Called after the stream has parked: an
    /// alarm for a wait that is over already does nothing.
    pub(crate) fn set_alarm(&self, at: Instant, stream: u32, ticket: u64, mark: Mark) {
        let mut alarms = self.timer.alarms.lock();
        if alarms.heap.len() >= alarms.purge_at.max(256) {
            alarms.heap.retain(|Reverse(alarm)| !self.stale(alarm));
            alarms.purge_at = alarms.heap.len() * 2;
        }
        let first = alarms.heap.peek().is_none_or(|Reverse(earliest)| at < earliest.at);
        alarms.heap.push(Reverse(Alarm { at, stream, ticket, mark: mark.0 }));
        if !alarms.running {
            alarms.running = worker::spawn_thread(self, "toprope-timer".to_owned(), run);
        } else if first {
            self.timer.bell.notify_one();
        }
    }

    /// A hint: the stream is past that wait. One that is found current by mistake is only kept longer.
    fn stale(&self, alarm: &Alarm) -> bool {
        self.streams.get(alarm.stream).is_none_or(|slot| slot.line.done() > alarm.ticket)
    }

    pub(crate) fn stop_timer(&self) {
        self.timer.alarms.lock().stop = true;
        self.timer.bell.notify_one();
    }
}

fn run(core: Arc<Core>) {
    let mut alarms = core.timer.alarms.lock();
    while !alarms.stop {
        let now = Instant::now();
        match alarms.heap.peek() {
            None => core.timer.bell.wait(&mut alarms),
            Some(Reverse(alarm)) if alarm.at > now => {
                let at = alarm.at;
                core.timer.bell.wait_until(&mut alarms, at);
            }
            Some(_) => {
                if let Some(Reverse(due)) = alarms.heap.pop() {
                    drop(alarms);
                    core.time_out(Mark(due.mark), due.stream, due.ticket);
                    alarms = core.timer.alarms.lock();
                }
            }
        }
    }
}
