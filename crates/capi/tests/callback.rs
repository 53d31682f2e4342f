//! Callbacks of chapter 12 through the C interface, on the default product (a2).
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use stream_common::*;

unsafe extern "C" {
    fn pthread_self() -> u64;
}

fn me() -> u64 {
    // SAFETY: takes nothing.
    unsafe { pthread_self() }
}

fn callback(stream: aclrtStream, block: u32, body: impl FnOnce() + Send + 'static) {
    let (func, arg) = closure(body);
    ok!(aclrtLaunchCallback(func, arg, block, stream));
}

const BLOCK: u32 = sys::ACL_CALLBACK_BLOCK;
const NO_BLOCK: u32 = sys::ACL_CALLBACK_NO_BLOCK;

/// A thread that does what it is told.
struct Reporter {
    id: u64,
    orders: mpsc::Sender<Box<dyn FnOnce() + Send>>,
    thread: JoinHandle<()>,
}

impl Reporter {
    fn new() -> Reporter {
        let (orders, inbox) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let (say, hear) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            say.send(me()).unwrap();
            for order in inbox {
                order();
            }
        });
        Reporter { id: hear.recv().unwrap(), orders, thread }
    }

    /// Starts aclrtProcessReport there; the code comes later.
    fn process(&self, timeout: i32) -> mpsc::Receiver<i32> {
        let (say, hear) = mpsc::channel();
        self.orders.send(Box::new(move || say.send(acl!(aclrtProcessReport(timeout))).unwrap())).unwrap();
        hear
    }

    fn end(self) {
        drop(self.orders);
        self.thread.join().unwrap();
    }
}

/// aclrtLaunchHostFunc#03, #04, #05, #08
#[test]
fn host_functions_run_in_order_on_another_thread() {
    device(0);
    let mine = context(0);
    let caller = me();
    static WORD: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn note(arg: *mut std::ffi::c_void) {
        WORD.store(arg as usize as u32, Ordering::Release);
    }
    ok!(aclrtLaunchHostFunc(null_mut(), Some(note), 77 as *mut _));
    let threads = Arc::new(Mutex::new(Vec::new()));
    let seen = threads.clone();
    launch(null_mut(), move || seen.lock().unwrap().push((me(), WORD.load(Ordering::Acquire))));
    let log = Log::default();
    let hold = Hold::on(null_mut());
    log.task(null_mut(), 1);
    assert!(!complete(null_mut()));
    assert!(log.get().is_empty());
    hold.release();
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(log.get(), [1]);
    let threads = threads.lock().unwrap();
    assert!(threads.len() == 1 && threads[0].0 != caller && threads[0].1 == 77, "{threads:?}");
    ok!(aclrtDestroyContext(mine));
}

/// aclrtLaunchHostFunc#01, #09, #10, #11, aclrtLaunchCallback#01, #02, #03, #04, #12, #13
#[test]
fn launching_checks_in_order() {
    let (func, _) = closure(|| {});
    let bad = 8 as aclrtStream;
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtLaunchHostFunc(null_mut(), func, null_mut()));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchHostFunc(null_mut(), None, null_mut()));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchHostFunc(bad, None, null_mut()));
    refused!(ACL_ERROR_RT_CONTEXT_NULL, aclrtLaunchCallback(func, null_mut(), BLOCK, null_mut()));
    device(0);
    let here = stream();
    let launched = stream();
    launch(launched, || {});
    refused!(ACL_ERROR_INVALID_PARAM, aclrtLaunchCallback(None, null_mut(), 2, bad));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchCallback(None, null_mut(), BLOCK, bad));
    let mine = context(0);
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchCallback(None, null_mut(), BLOCK, launched));
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtLaunchCallback(func, null_mut(), BLOCK, launched));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtLaunchCallback(func, null_mut(), BLOCK, here));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtLaunchHostFunc(launched, func, null_mut()));
    ok!(aclrtDestroyContext(mine));
    ok!(aclrtSetDevice(0));
    refused!(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(func, null_mut(), BLOCK, here));
    for stream in [here, launched] {
        ok!(aclrtDestroyStream(stream));
    }
}

/// aclrtSubscribeReport#01, #02, #04, #06, #08, aclrtUnSubscribeReport#01, #02, #05, #07, aclrtLaunchHostFunc#02
#[test]
fn subscribing() {
    device(2);
    let (first, second, launched) = (stream(), stream(), stream());
    let reporter = Reporter::new();
    let other = Reporter::new();
    ok!(aclrtSubscribeReport(reporter.id, first));
    ok!(aclrtSubscribeReport(reporter.id, second));
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(reporter.id, first));
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(other.id, first));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSubscribeReport(other.id, 8 as aclrtStream));
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtUnSubscribeReport(other.id, 8 as aclrtStream));
    let (func, _) = closure(|| {});
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtLaunchHostFunc(first, func, null_mut()));
    launch(launched, || {});
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(reporter.id, launched));
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtUnSubscribeReport(reporter.id, launched));
    device(3);
    let far = stream();
    refused!(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtSubscribeReport(reporter.id, far));
    // The refused call left the stream free.
    ok!(aclrtSubscribeReport(other.id, far));
    refused!(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtUnSubscribeReport(other.id, first));
    ok!(aclrtUnSubscribeReport(reporter.id, first));
    refused!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtUnSubscribeReport(reporter.id, first));
    device(2);
    // Free for the other mechanism again.
    launch(first, || {});
    ok!(aclrtDestroyStream(first));
    ok!(aclrtUnSubscribeReport(reporter.id, second));
    device(3);
    // No stream of the other device is left.
    ok!(aclrtUnSubscribeReport(other.id, far));
    ok!(aclrtSubscribeReport(reporter.id, far));
    ok!(aclrtDestroyStream(far));
    // A destroyed stream takes its subscription along.
    assert_eq!(reporter.process(5).recv().unwrap(), sys::ACL_ERROR_RT_THREAD_SUBSCRIBE);
    reporter.end();
    other.end();
}

/// aclrtProcessReport#02, #03, #04
#[test]
fn processing_checks() {
    for bad in [0, -2, i32::MIN] {
        refused!(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(bad));
    }
    refused!(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(5));
    refused!(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(-1));
    device(0);
    let stream = stream();
    ok!(aclrtSubscribeReport(me(), stream));
    refused!(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(5));
    ok!(aclrtUnSubscribeReport(me(), stream));
    ok!(aclrtDestroyStream(stream));
}

/// aclrtLaunchCallback#07, #08, #09, aclrtProcessReport#05
#[test]
fn callbacks_run_in_the_subscribed_thread() {
    device(0);
    let stream = stream();
    let reporter = Reporter::new();
    ok!(aclrtSubscribeReport(reporter.id, stream));
    let log = Log::default();
    let event = event();
    let threads = Arc::new(Mutex::new(Vec::new()));
    let note = |number: u32| {
        let (log, threads) = (log.clone(), threads.clone());
        move || {
            threads.lock().unwrap().push(me());
            log.note(number);
        }
    };
    // Not blocking: the stream goes on at once.
    callback(stream, NO_BLOCK, note(1));
    callback(stream, NO_BLOCK, note(2));
    ok!(aclrtRecordEvent(event, stream));
    ok!(aclrtSynchronizeEventWithTimeout(event, 20_000));
    assert!(log.get().is_empty());
    // Blocking: what follows waits until the function has returned.
    callback(stream, BLOCK, note(3));
    callback(stream, BLOCK, note(4));
    ok!(aclrtRecordEvent(event, stream));
    refused!(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 20));
    assert!(log.get().is_empty());
    while log.get().len() < 4 {
        assert_eq!(reporter.process(20_000).recv().unwrap(), 0);
    }
    ok!(aclrtSynchronizeEvent(event));
    assert_eq!(log.get(), [1, 2, 3, 4]);
    assert_eq!(*threads.lock().unwrap(), [reporter.id; 4]);
    // A thread that waits is woken.
    let waiting = reporter.process(-1);
    callback(stream, BLOCK, note(5));
    assert_eq!(waiting.recv().unwrap(), 0);
    ok!(aclrtSynchronizeStream(stream));
    assert_eq!(log.get().last(), Some(&5));
    ok!(aclrtUnSubscribeReport(reporter.id, stream));
    reporter.end();
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyStream(stream));
}

/// aclrtSubscribeReport#02: one thread for several streams; blocking callbacks keep the order of their streams.
#[test]
fn one_thread_for_many_streams() {
    device(0);
    let streams: Vec<_> = (0..4).map(|_| stream()).collect();
    let reporter = Reporter::new();
    let log = Log::default();
    for stream in &streams {
        ok!(aclrtSubscribeReport(reporter.id, *stream));
    }
    for step in 0..50_u32 {
        for (n, stream) in streams.iter().enumerate() {
            let log = log.clone();
            let block = if step % 3 == 0 { NO_BLOCK } else { BLOCK };
            callback(*stream, block, move || log.note(n as u32 * 1000 + step));
        }
    }
    while log.get().len() < 200 {
        assert_eq!(reporter.process(20_000).recv().unwrap(), 0);
    }
    for (n, stream) in streams.into_iter().enumerate() {
        ok!(aclrtSynchronizeStream(stream));
        let mine: Vec<_> = log.get().into_iter().filter(|number| number / 1000 == n as u32).collect();
        assert!(mine.into_iter().eq((0..50).map(|step| n as u32 * 1000 + step)));
        ok!(aclrtDestroyStream(stream));
    }
    reporter.end();
}

/// ours: ending a subscription wakes its thread, drops its callbacks and lets its streams go on.
#[test]
fn ending_a_subscription_leaves_nobody_waiting() {
    device(0);
    let stream = stream();
    let reporter = Reporter::new();
    ok!(aclrtSubscribeReport(reporter.id, stream));
    let log = Log::default();
    let (one, two) = (log.clone(), log.clone());
    callback(stream, BLOCK, move || one.note(1));
    callback(stream, BLOCK, move || two.note(2));
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    ok!(aclrtUnSubscribeReport(reporter.id, stream));
    ok!(aclrtSynchronizeStream(stream));
    assert!(log.get().is_empty());
    ok!(aclrtSubscribeReport(reporter.id, stream));
    let waiting = reporter.process(-1);
    std::thread::sleep(std::time::Duration::from_millis(10));
    ok!(aclrtUnSubscribeReport(reporter.id, stream));
    assert_eq!(waiting.recv().unwrap(), sys::ACL_ERROR_RT_THREAD_SUBSCRIBE);
    reporter.end();
    ok!(aclrtDestroyStream(stream));
}

/// A blocking callback that returns after its subscription has ended lets go of nobody else's stream.
#[test]
fn a_late_callback_opens_no_later_subscription() {
    device(0);
    let (one, other) = (stream(), stream());
    let (slow, idle) = (Reporter::new(), Reporter::new());
    ok!(aclrtSubscribeReport(slow.id, one));
    let (begun, go) = (Latch::new(), Latch::new());
    let (say, wait) = (begun.clone(), go.clone());
    callback(one, BLOCK, move || {
        say.open();
        wait.wait();
    });
    let processed = slow.process(20_000);
    assert!(begun.wait());
    ok!(aclrtUnSubscribeReport(slow.id, one));
    ok!(aclrtSubscribeReport(idle.id, other));
    let log = Log::default();
    let ran = log.clone();
    callback(other, BLOCK, move || ran.note(1));
    go.open();
    assert_eq!(processed.recv().unwrap(), 0);
    refused!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(other, 50));
    assert_eq!(idle.process(20_000).recv().unwrap(), 0);
    ok!(aclrtSynchronizeStream(other));
    assert_eq!(log.get(), [1]);
    slow.end();
    idle.end();
    ok!(aclrtDestroyStream(one));
    ok!(aclrtDestroyStream(other));
}

/// aclrtLaunchCallback#10: synchronizing the stream that waits for the callback is refused; other calls work inside.
#[test]
fn calling_in_from_a_callback() {
    device(0);
    let stream = stream();
    let event = event();
    let reporter = Reporter::new();
    ok!(aclrtSubscribeReport(reporter.id, stream));
    let codes = Arc::new(Mutex::new(Vec::new()));
    let seen = codes.clone();
    let sent = [Sent(stream), Sent(event)];
    callback(stream, BLOCK, move || {
        let [stream, event] = [sent[0].get(), sent[1].get()];
        let mut id = -1;
        let mut codes = seen.lock().unwrap();
        codes.push(acl!(aclrtStreamGetId(stream, &mut id)));
        codes.push(acl!(aclrtSynchronizeStream(stream)));
        codes.push(acl!(aclrtSynchronizeEvent(event)));
    });
    ok!(aclrtRecordEvent(event, stream));
    assert_eq!(reporter.process(20_000).recv().unwrap(), 0);
    ok!(aclrtSynchronizeStream(stream));
    let own = sys::ACL_ERROR_RT_PARAM_INVALID;
    assert_eq!(*codes.lock().unwrap(), [0, own, own]);
    // A callback that does not block may wait for its stream, and end its own subscription.
    let id = reporter.id;
    let seen = codes.clone();
    callback(stream, NO_BLOCK, move || {
        let stream = sent[0].get();
        let mut codes = seen.lock().unwrap();
        codes.push(acl!(aclrtSynchronizeStream(stream)));
        codes.push(acl!(aclrtUnSubscribeReport(id, stream)));
    });
    assert_eq!(reporter.process(20_000).recv().unwrap(), 0);
    assert_eq!(codes.lock().unwrap()[3..], [0, 0]);
    reporter.end();
    ok!(aclrtDestroyEvent(event));
    ok!(aclrtDestroyStream(stream));
}

/// Host functions that wait for each other do not use up the threads of the runtime.
#[test]
fn callbacks_that_wait_for_each_other() {
    device(4);
    let streams: Vec<_> = (0..12).map(|_| stream()).collect();
    let latches: Vec<_> = (0..13).map(|_| Latch::new()).collect();
    for (n, stream) in streams.iter().enumerate() {
        let (mine, next) = (latches[n].clone(), latches[n + 1].clone());
        // Each waits for the one that is launched after it.
        launch(*stream, move || {
            if next.wait() {
                mine.open();
            }
        });
    }
    latches[12].open();
    ok!(aclrtSynchronizeDevice());
    assert!(latches[0].is_open());
    for stream in streams {
        ok!(aclrtDestroyStream(stream));
    }
}

/// aclrtGetThreadLastTaskId#01, #02, #03
#[test]
fn the_last_task_of_a_thread() {
    let last = || {
        let mut id = 99;
        ok!(aclrtGetThreadLastTaskId(&mut id));
        id
    };
    refused!(ACL_ERROR_INVALID_PARAM, aclrtGetThreadLastTaskId(null_mut()));
    assert_eq!(last(), 0);
    device(0);
    let stream = stream();
    launch(stream, || {});
    let first = last();
    launch(stream, || {});
    assert_eq!(last(), first + 1);
    launch(null_mut(), || {});
    assert_eq!(last(), first + 1);
    let sent = Sent(stream);
    std::thread::spawn(move || {
        device(0);
        launch(sent.get(), || {});
    })
    .join()
    .unwrap();
    assert_eq!(last(), first + 1);
    launch(stream, || {});
    assert_eq!(last(), first + 3);
    ok!(aclrtSynchronizeStream(null_mut()));
    ok!(aclrtDestroyStream(stream));
}
