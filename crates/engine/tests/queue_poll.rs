//! Waits for conditions.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use toprope_engine::queue::{Condition, Failure, Mark, Poll, Task, Waited};

mod common;
use common::{engine, sync, until, work};

/// A word in memory, as a condition: met when it is `want`.
struct Word {
    word: Arc<AtomicU64>,
    want: u64,
    silent: bool,
    /// How often the stream itself asked.
    asked: Arc<AtomicU32>,
    /// Asked while it is met, it answers with this failure.
    error: Option<u32>,
}

impl Condition for Word {
    fn meet(&self) -> Result<bool, u32> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match (self.look(), self.error) {
            (true, Some(code)) => Err(code),
            (met, _) => Ok(met),
        }
    }
    fn look(&self) -> bool {
        self.word.load(Ordering::Acquire) == self.want
    }
    fn silent(&self) -> bool {
        self.silent
    }
}

/// A word, how often its wait was asked, and the wait: until it is 5.
fn awaited_word(silent: bool, timeout_ms: u32) -> (Arc<AtomicU64>, Arc<AtomicU32>, Task) {
    let (word, asked) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU32::new(0)));
    let condition = Word { word: Arc::clone(&word), want: 5, silent, asked: Arc::clone(&asked), error: None };
    let poll = Poll::new(Box::new(condition), word.as_ptr() as usize, timeout_ms, 77);
    (word, asked, Task::Poll(Arc::new(poll)))
}

#[test]
fn a_store_ends_the_wait_for_its_word() {
    let engine = engine();
    let (waits, writes) = (engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap());
    let (word, asked, task) = awaited_word(false, 0);
    let after = Arc::new(AtomicU64::new(0));
    engine.push(waits, task);
    let seen = Arc::clone(&after);
    let task = work(false, move || {
        seen.store(1, Ordering::Relaxed);
        Ok(())
    });
    engine.push(waits, task);
    let end = Some(Instant::now() + Duration::from_millis(20));
    assert_eq!(engine.wait(engine.mark(waits), end), Waited::TimedOut);
    // Another value: looked at, and waited on.
    engine.push(writes, Task::Store { dst: word.as_ptr() as usize, value: 4 });
    sync(&engine, writes);
    until("the store did not ring", || asked.load(Ordering::Relaxed) >= 2);
    assert!(!engine.query(engine.mark(waits)));
    assert_eq!(after.load(Ordering::Relaxed), 0, "what comes after the wait has run");
    engine.push(writes, Task::Store { dst: word.as_ptr() as usize, value: 5 });
    sync(&engine, waits);
    assert_eq!((after.load(Ordering::Relaxed), word.load(Ordering::Relaxed)), (1, 5));
}

#[test]
fn a_condition_that_is_met_already_does_not_park() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let (word, asked, task) = awaited_word(false, 0);
    word.store(5, Ordering::Relaxed);
    engine.push(stream, task);
    sync(&engine, stream);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_silent_change_is_seen_by_the_watch_alone() {
    let engine = engine();
    let streams: Vec<_> = (0..20).map(|_| engine.open(0, 0).unwrap()).collect();
    let mut words = Vec::new();
    for stream in &streams {
        let (word, asked, task) = awaited_word(true, 0);
        engine.push(*stream, task);
        words.push((word, asked));
    }
    until("they did not park", || words.iter().all(|(_, asked)| asked.load(Ordering::Relaxed) == 1));
    std::thread::sleep(Duration::from_millis(60));
    // The streams themselves were left alone while nothing changed.
    assert!(words.iter().all(|(_, asked)| asked.load(Ordering::Relaxed) == 1));
    words.iter().for_each(|(word, _)| word.store(5, Ordering::Release));
    streams.iter().for_each(|stream| sync(&engine, *stream));
    assert!(words.iter().all(|(_, asked)| asked.load(Ordering::Relaxed) == 2));
}

#[test]
fn a_ring_without_a_stream_and_as_a_task() {
    let engine = engine();
    let (a, b) = (engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap());
    let (word, asked, task) = awaited_word(false, 0);
    let key = word.as_ptr() as usize;
    engine.push(a, task);
    until("it did not park", || asked.load(Ordering::Relaxed) == 1);
    word.store(5, Ordering::Release);
    engine.ring(key);
    sync(&engine, a);
    let (word, asked, task) = awaited_word(false, 0);
    let key = word.as_ptr() as usize;
    engine.push(a, task);
    until("it did not park", || asked.load(Ordering::Relaxed) == 1);
    // Skipped tasks do not store, but they ring.
    engine.stop_on_failure(b, true);
    engine.push(b, Task::Fail { code: 9 });
    engine.push(b, Task::Store { dst: key, value: 5 });
    sync(&engine, b);
    assert_eq!(word.load(Ordering::Relaxed), 0);
    word.store(5, Ordering::Release);
    engine.push(b, Task::Ring { key });
    sync(&engine, a);
}

#[test]
fn waits_for_a_condition_end_with_their_time() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    for silent in [false, true] {
        let (word, _, task) = awaited_word(silent, 30);
        let begin = Instant::now();
        let position = engine.push(stream, task);
        // Rings do not put it off.
        let key = word.as_ptr() as usize;
        until("the wait has no end", || {
            engine.ring(key);
            engine.query(engine.mark(stream))
        });
        assert!(begin.elapsed() >= Duration::from_millis(30));
        assert_eq!(engine.take_failure(stream), Some(Failure { code: 77, position }));
    }
}

#[test]
fn a_condition_can_fail_its_stream() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let word = Arc::new(AtomicU64::new(1));
    let condition = Word { word, want: 1, silent: true, asked: Arc::default(), error: Some(12) };
    let position = engine.push(stream, Task::Poll(Arc::new(Poll::new(Box::new(condition), 0, 0, 77))));
    sync(&engine, stream);
    assert_eq!(engine.take_failure(stream), Some(Failure { code: 12, position }));
}

#[test]
fn an_abort_ends_the_wait_for_a_condition() {
    let engine = engine();
    for silent in [false, true] {
        let stream = engine.open(0, 0).unwrap();
        let (word, asked, task) = awaited_word(silent, 0);
        engine.push(stream, task);
        until("it did not park", || asked.load(Ordering::Relaxed) == 1);
        engine.abort(stream);
        assert_eq!(engine.take_failure(stream), None);
        engine.close(stream);
        word.store(5, Ordering::Relaxed);
        // The watch forgets it; nobody holds the condition any more.
        until("the wait is still held", || Arc::strong_count(&word) == 1);
    }
}

#[test]
fn waits_that_were_never_met_are_dropped_with_the_engine() {
    let (word, asked, task) = awaited_word(true, 0);
    {
        let engine = engine();
        let stream = engine.open(0, 0).unwrap();
        engine.push(stream, task);
        until("it did not park", || asked.load(Ordering::Relaxed) == 1);
    }
    until("the wait is still held", || Arc::strong_count(&word) == 1);
}

#[test]
fn many_streams_pass_a_word_around() {
    const STREAMS: u64 = 8;
    const ROUNDS: u64 = 300;
    let engine = engine();
    let word = Arc::new(AtomicU64::new(0));
    let streams: Vec<_> = (0..STREAMS).map(|_| engine.open(0, 0).unwrap()).collect();
    for round in 0..ROUNDS {
        for (at, stream) in (0..STREAMS).zip(&streams) {
            let want = round * STREAMS + at;
            let condition = Word {
                word: Arc::clone(&word),
                want,
                silent: round % 2 == 0,
                asked: Arc::default(),
                error: None,
            };
            let poll = Poll::new(Box::new(condition), word.as_ptr() as usize, 0, 77);
            engine.push(*stream, Task::Poll(Arc::new(poll)));
            engine.push(*stream, Task::Store { dst: word.as_ptr() as usize, value: want + 1 });
        }
    }
    streams.iter().for_each(|stream| sync(&engine, *stream));
    assert_eq!(word.load(Ordering::Relaxed), STREAMS * ROUNDS);
}

#[test]
fn a_chain_of_waits_tells_that_it_ends_at_a_condition() {
    let engine = engine();
    let (a, b) = (engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap());
    let (word, asked, task) = awaited_word(false, 0);
    engine.push(a, task);
    engine.push(b, Task::Wait { mark: engine.mark(a), timeout_ms: 0, code: 1 });
    until("they did not park", || engine.listens(engine.mark(a)) && engine.listens(engine.mark(b)));
    let signal = engine.open_signal().unwrap();
    let c = engine.open(0, 0).unwrap();
    engine.push(c, Task::Wait { mark: engine.signal_mark(signal, 1), timeout_ms: 0, code: 1 });
    std::thread::sleep(Duration::from_millis(5));
    assert!(!engine.listens(engine.mark(c)) && !engine.listens(Mark::NONE));
    word.store(5, Ordering::Release);
    engine.ring(word.as_ptr() as usize);
    sync(&engine, b);
    assert!(!engine.listens(engine.mark(a)) && !engine.listens(engine.mark(b)));
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    engine.close_signal(signal);
}
