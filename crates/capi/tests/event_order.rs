//! What events order: waits of streams, through the C interface.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stream_common::*;

const SYNC: u32 = sys::ACL_EVENT_SYNC;

/// aclrtStreamWaitEvent#02: a chain through eight streams, round and round, with every kind of event that can be awaited.
#[test]
fn a_chain_runs_in_order() {
    device(0);
    let streams: Vec<_> = (0..8).map(|n| stream_with(n, 0)).collect();
    let events: Vec<_> =
        [event(), event_with(SYNC), event_ex(SYNC), event_with(sys::ACL_EVENT_EXTERNAL)].to_vec();
    let log = Log::default();
    for step in 0..400_usize {
        let (stream, next) = (streams[step % 8], streams[(step + 1) % 8]);
        let event = events[step % events.len()];
        log.task(stream, step as u32);
        ok!(aclrtRecordEvent(event, stream));
        ok!(aclrtStreamWaitEvent(next, event));
    }
    ok!(aclrtSynchronizeStream(streams[0]));
    assert!(log.get().into_iter().eq(0..400));
    for stream in streams {
        ok!(aclrtDestroyStream(stream));
    }
    for event in events {
        ok!(aclrtDestroyEvent(event));
    }
}

/// aclrtStreamWaitEvent#03: one event, many waiters, joined again; many times over.
#[test]
fn diamonds_keep_their_shape() {
    device(0);
    let (top, bottom) = (stream(), stream());
    let arms: Vec<_> = (0..6).map(|_| stream()).collect();
    let fork = event();
    let joins: Vec<_> = arms.iter().map(|_| event_ex(SYNC)).collect();
    let log = Log::default();
    const ROUNDS: u32 = 100;
    for round in 0..ROUNDS {
        let base = round * 10;
        log.task(top, base);
        ok!(aclrtRecordEvent(fork, top));
        for (n, (arm, join)) in arms.iter().zip(&joins).enumerate() {
            ok!(aclrtStreamWaitEvent(*arm, fork));
            log.task(*arm, base + 1 + n as u32);
            ok!(aclrtRecordEvent(*join, *arm));
            ok!(aclrtStreamWaitEvent(bottom, *join));
        }
        log.task(bottom, base + 9);
    }
    ok!(aclrtSynchronizeStream(bottom));
    for round in 0..ROUNDS {
        let base = round * 10;
        let (first, last) = (log.position(base), log.position(base + 9));
        for arm in 1..=6 {
            let place = log.position(base + arm);
            assert!(first < place && place < last, "round {round}, arm {arm}");
        }
    }
    assert_eq!(log.get().len(), 8 * ROUNDS as usize);
    for stream in arms.into_iter().chain([top, bottom]) {
        ok!(aclrtDestroyStream(stream));
    }
    for event in joins.into_iter().chain([fork]) {
        ok!(aclrtDestroyEvent(event));
    }
}

/// aclrtRecordEvent#08: a wait holds what the event held when it was added; a later record changes nothing for it.
#[test]
fn recording_again_changes_only_later_waits() {
    device(0);
    for event in [event(), event_with(SYNC), event_ex(SYNC)] {
        let (slow, fast, early, late) = (stream(), stream(), stream(), stream());
        let log = Log::default();
        let hold = Hold::on(slow);
        ok!(aclrtRecordEvent(event, slow));
        ok!(aclrtStreamWaitEvent(early, event));
        log.task(early, 1);
        ok!(aclrtRecordEvent(event, fast));
        ok!(aclrtStreamWaitEvent(late, event));
        log.task(late, 2);
        ok!(aclrtSynchronizeStream(late));
        assert_eq!(log.get(), [2]);
        refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(early, 10));
        hold.release();
        ok!(aclrtSynchronizeStream(early));
        assert_eq!(log.get(), [2, 1]);
        for stream in [slow, fast, early, late] {
            ok!(aclrtDestroyStream(stream));
        }
        ok!(aclrtDestroyEvent(event));
    }
}

/// aclrtRecordEvent#07: tasks after the record are not waited for. *#04: NULL streams.
#[test]
fn a_wait_covers_no_more_than_the_record() {
    device(0);
    let mine = context(0);
    let stream = stream();
    let event = event();
    let log = Log::default();
    log.task(stream, 1);
    ok!(aclrtRecordEvent(event, stream));
    let hold = Hold::on(stream);
    ok!(aclrtStreamWaitEvent(null_mut(), event));
    log.task(null_mut(), 2);
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(log.get(), [1, 2]);
    hold.release();
    ok!(aclrtSynchronizeStream(stream));
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyContext(mine));
}

/// ours: an event that was never recorded holds nothing, whoever made it.
#[test]
fn waiting_for_what_was_never_recorded() {
    device(0);
    let stream = stream();
    let log = Log::default();
    for (n, event) in [event(), event_with(SYNC), event_ex(SYNC)].into_iter().enumerate() {
        ok!(aclrtStreamWaitEvent(stream, event));
        log.task(stream, n as u32);
        ok!(aclrtSynchronizeStream(stream));
        ok!(aclrtDestroyEvent(event));
    }
    assert_eq!(log.get(), [0, 1, 2]);
    ok!(aclrtDestroyStream(stream));
}

/// A stream that waits for itself is not held up.
#[test]
fn waiting_for_ones_own_record() {
    device(0);
    let stream = stream();
    let event = event();
    let log = Log::default();
    log.task(stream, 1);
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtStreamWaitEvent(stream, event));
    log.task(stream, 2);
    ok!(aclrtSynchronizeStream(stream));
    assert_eq!(log.get(), [1, 2]);
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyStream(stream));
}

/// aclrtDestroyEvent#02: the wait outlives the event.
#[test]
fn an_event_destroyed_while_it_is_waited_for() {
    device(0);
    let (stream, waiter) = (stream(), stream());
    let log = Log::default();
    let hold = Hold::on(stream);
    log.task(stream, 1);
    let event = event();
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtStreamWaitEvent(waiter, event));
    log.task(waiter, 2);
    ok!(aclrtDestroyEvent(event));
    // The place is used again, for a record that is done at once.
    let other = self::event();
    let free = self::stream();
    ok!(aclrtRecordEvent(other, free));
    ok!(aclrtSynchronizeStream(free));
    assert!(!complete(waiter));
    hold.release();
    ok!(aclrtSynchronizeStream(waiter));
    assert_eq!(log.get(), [1, 2]);
    ok!(aclrtDestroyEvent(other));
    for stream in [stream, waiter, free] {
        ok!(aclrtDestroyStream(stream));
    }
}

/// aclrtDestroyStream#02: whoever waits for a stream that is destroyed goes on when its tasks are done, not before.
#[test]
fn a_stream_destroyed_while_it_is_waited_for() {
    device(0);
    let (stream, waiter) = (stream(), stream());
    let log = Log::default();
    let hold = Hold::on(stream);
    log.task(stream, 1);
    let event = event();
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtStreamWaitEvent(waiter, event));
    log.task(waiter, 2);
    let sent = Sent(stream);
    let destroyer = std::thread::spawn(move || {
        device(0);
        ok!(aclrtDestroyStream(sent.get()));
    });
    assert!(!complete(waiter));
    hold.release();
    destroyer.join().unwrap();
    ok!(aclrtSynchronizeStream(waiter));
    assert_eq!(log.get(), [1, 2]);
    // The event still names the stream that is gone: done.
    ok!(aclrtSynchronizeEvent(event));
    ok!(aclrtStreamWaitEvent(waiter, event));
    ok!(aclrtSynchronizeStream(waiter));
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyStream(waiter));
}

/// The context of a waited-for stream goes: its tasks are done first.
#[test]
fn a_context_destroyed_while_it_is_waited_for() {
    device(0);
    let waiter = stream();
    let log = Log::default();
    let mine = context(0);
    let stream = stream();
    let event = event();
    for step in 0..50 {
        log.task(stream, step);
    }
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtSetDevice(0));
    ok!(aclrtStreamWaitEvent(waiter, event));
    log.task(waiter, 50);
    ok!(aclrtDestroyContext(mine));
    ok!(aclrtSynchronizeStream(waiter));
    assert!(log.get().into_iter().eq(0..=50));
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyStream(waiter));
}

/// aclrtStreamWaitEventWithTimeout#01, #02, #04: milliseconds; the code comes with the synchronize; later tasks run.
#[test]
fn waits_that_run_out_of_time() {
    device(0);
    let (stream, waiter) = (stream(), stream());
    let event = event();
    for bad in [-1, i32::MIN] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEventWithTimeout(waiter, event, bad));
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEventWithTimeout(waiter, null_mut(), bad));
    }
    let hold = Hold::on(stream);
    let log = Log::default();
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtStreamWaitEventWithTimeout(waiter, event, 20));
    log.task(waiter, 1);
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(waiter));
    assert_eq!(log.get(), [1]);
    ok!(aclrtStreamWaitEventWithFlag(waiter, event, 20, sys::ACL_EVENT_WAIT_DEFAULT));
    refused!(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(waiter));
    // 0 is for ever: only the host gives up.
    ok!(aclrtStreamWaitEventWithTimeout(waiter, event, 0));
    log.task(waiter, 2);
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiter, 30));
    // Long enough: no failure.
    ok!(aclrtStreamWaitEventWithTimeout(waiter, event, i32::MAX));
    hold.release();
    ok!(aclrtSynchronizeStream(waiter));
    assert_eq!(log.get(), [1, 2]);
    ok!(aclrtDestroyEvent(event));
    for stream in [stream, waiter] {
        ok!(aclrtDestroyStream(stream));
    }
}

/// Host threads that record, wait and record again at random: every task sees what it was ordered after.
#[test]
fn random_orders_hold() {
    const STREAMS: usize = 6;
    const EVENTS: usize = 4;
    device(0);
    let threads: Vec<_> = (0..2_u64)
        .map(|seed| {
            std::thread::spawn(move || {
                device(0);
                let streams: Vec<_> = (0..STREAMS).map(|n| stream_with(n as u32, 0)).collect();
                let events: Vec<_> =
                    (0..EVENTS).map(|n| if n % 2 == 0 { event() } else { event_ex(SYNC) }).collect();
                // What has run of each stream, and what each stream and event is ordered after.
                let ran: Arc<Vec<AtomicU64>> = Arc::new((0..STREAMS).map(|_| AtomicU64::new(0)).collect());
                let faults = Arc::new(AtomicU64::new(0));
                let mut clocks = vec![[0_u64; STREAMS]; STREAMS];
                let mut held = [[0_u64; STREAMS]; EVENTS];
                let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
                let mut pick = |n: usize| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    (random >> 33) as usize % n
                };
                for _ in 0..3000 {
                    let (s, e) = (pick(STREAMS), pick(EVENTS));
                    match pick(3) {
                        0 => {
                            ok!(aclrtRecordEvent(events[e], streams[s]));
                            held[e] = clocks[s];
                        }
                        1 => {
                            ok!(aclrtStreamWaitEvent(streams[s], events[e]));
                            for n in 0..STREAMS {
                                clocks[s][n] = clocks[s][n].max(held[e][n]);
                            }
                        }
                        _ => {
                            let wanted = clocks[s];
                            clocks[s][s] += 1;
                            let (ran, faults) = (ran.clone(), faults.clone());
                            launch(streams[s], move || {
                                for n in 0..STREAMS {
                                    if ran[n].load(Ordering::Acquire) < wanted[n] {
                                        faults.fetch_add(1, Ordering::Relaxed);
                                    }
                                }
                                ran[s].fetch_add(1, Ordering::Release);
                            });
                        }
                    }
                }
                for (n, stream) in streams.into_iter().enumerate() {
                    ok!(aclrtSynchronizeStream(stream));
                    assert_eq!(ran[n].load(Ordering::Acquire), clocks[n][n]);
                    ok!(aclrtDestroyStream(stream));
                }
                assert_eq!(faults.load(Ordering::Relaxed), 0);
                for event in events {
                    ok!(aclrtDestroyEvent(event));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
