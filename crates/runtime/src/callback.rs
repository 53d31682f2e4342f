//! Callbacks: chapter 12 (and the host functions of chapter 24). Two mechanisms, one per stream:
//!
//! - aclrtLaunchHostFunc: the function runs on a thread of the runtime, as a task of the stream.
//! - aclrtSubscribeReport, aclrtLaunchCallback, aclrtProcessReport: the task only puts a report into the mailbox of the thread
//!   that was subscribed for the stream; that thread runs the function inside aclrtProcessReport. ACL_CALLBACK_BLOCK adds a
//!   wait for a gate (a signal of the subscription) behind it, which opens when the function has returned. No thread of
//!   the runtime waits meanwhile.
//!
//! Lock order: a stream's seat, then the desk, then a mailbox. None is held while a function of the program runs.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::foreign;
use toprope_engine::queue::{Mark, Signal, Task, Work};

use crate::error::Result;
use crate::observer;
use crate::process::Runtime;
use crate::stream::{self, Stream};
use crate::{Api, exception, refuse, thread};

mod desk;

pub use desk::Desk;
use desk::{Mailbox, Report};

/// A callback of the program.
pub type Callback = unsafe extern "C" fn(*mut c_void);

/// Which mechanism a stream uses: settled by the first call.
const OPEN: u8 = 0;
/// aclrtLaunchHostFunc was called.
const LAUNCHED: u8 = 1;
/// A thread is subscribed.
const SUBSCRIBED: u8 = 2;

/// A stream's place in a mechanism.
#[derive(Default)]
pub(crate) struct Seat {
    kind: AtomicU8,
    subscription: Mutex<Option<Subscription>>,
}

struct Subscription {
    mailbox: Arc<Mailbox>,
    /// Cleared when the subscription ends: reports that are still on their way are dropped.
    live: Arc<AtomicBool>,
    /// What blocking callbacks hold the stream with: position n opens when the n-th of them has returned.
    gate: Option<Signal>,
    blocking: u64,
}

impl Seat {
    /// The subscribed thread.
    pub fn thread(&self) -> Option<u64> {
        self.subscription.lock().as_ref().map(|subscription| subscription.mailbox.thread())
    }

    /// Ends a subscription, if there is one, because the stream ends.
    pub fn vacate(&self, rt: &Runtime) {
        let taken = self.subscription.lock().take();
        if let Some(subscription) = taken {
            self.close(rt, subscription);
        }
    }

    fn close(&self, rt: &Runtime, subscription: Subscription) {
        subscription.live.store(false, Ordering::Release);
        subscription.mailbox.leave();
        if let Some(gate) = subscription.gate {
            // ours: callbacks that will not run any more hold nothing.
            rt.engine.close_signal(gate);
        }
        self.kind.store(OPEN, Ordering::Release);
    }
}

/// One set of calls that subscribe threads; both work alike.
pub struct Service {
    desk: fn(&Runtime) -> &Desk,
    seat: fn(&Stream) -> &Seat,
    /// Rules: timeout, thread of the caller, taken stream, one thread for two devices, too many threads, no subscription,
    /// other thread.
    rules: [&'static str; 7],
}

/// aclrtSubscribeReport and its kin.
pub static REPORTS: Service = Service {
    desk: |rt| &rt.reports,
    seat: |stream| &stream.reports,
    rules: [
        "aclrtProcessReport#02",
        "aclrtProcessReport#03",
        "aclrtSubscribeReport#01",
        "aclrtSubscribeReport#04",
        "aclrtSubscribeReport#05",
        "aclrtUnSubscribeReport#01",
        "aclrtUnSubscribeReport#02",
    ],
};

/// aclrtSubscribeHostFunc and its kin. Their pages name no codes: those of the report calls hold.
pub static HOST_FUNCS: Service = Service {
    desk: |rt| &rt.host_funcs,
    seat: |stream| &stream.host_funcs,
    rules: [
        "aclrtProcessHostFunc#01",
        "ours: as aclrtProcessReport#03",
        "aclrtSubscribeHostFunc#02",
        "aclrtSubscribeHostFunc#03",
        "ours: as aclrtSubscribeReport#05",
        "ours: as aclrtUnSubscribeReport#01",
        "ours: as aclrtUnSubscribeReport#02",
    ],
};

/// aclrtSubscribeReport, aclrtSubscribeHostFunc: `thread` (what pthread_self answers there) will run the stream's callbacks.
pub fn subscribe(rt: &Runtime, service: &Service, thread: u64, stream: u64) -> Result<()> {
    let [_, _, taken, devices, threads, ..] = service.rules;
    let stream = stream::resolve(rt, stream)?;
    let seat = (service.seat)(&stream);
    let mut subscription = seat.subscription.lock();
    match seat.kind.compare_exchange(OPEN, SUBSCRIBED, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        Err(LAUNCHED) => return mixed(&stream, "aclrtSubscribeReport#06"),
        Err(_) => {
            return refuse!(
                sys::ACL_ERROR_RT_STREAM_SUBSCRIBE,
                taken,
                "stream: stream {} has a subscribed thread already",
                stream.id
            );
        }
    }
    match (service.desk)(rt).join(thread, stream.device, devices, threads) {
        Ok(mailbox) => {
            let live = Arc::new(AtomicBool::new(true));
            *subscription = Some(Subscription { mailbox, live, gate: None, blocking: 0 });
            Ok(())
        }
        Err(error) => {
            seat.kind.store(OPEN, Ordering::Release);
            Err(error)
        }
    }
}

/// aclrtUnSubscribeReport, aclrtUnSubscribeHostFunc. ours: callbacks that did not run yet are dropped and hold nothing up.
pub fn unsubscribe(rt: &Runtime, service: &Service, thread: u64, stream: u64) -> Result<()> {
    let [.., none, other] = service.rules;
    let stream = stream::resolve(rt, stream)?;
    let seat = (service.seat)(&stream);
    if seat.kind.load(Ordering::Acquire) == LAUNCHED {
        return mixed(&stream, "aclrtUnSubscribeReport#05");
    }
    let mut slot = seat.subscription.lock();
    match slot.take() {
        None => refuse!(
            sys::ACL_ERROR_RT_STREAM_SUBSCRIBE,
            none,
            "stream: no thread is subscribed for stream {}",
            stream.id
        ),
        Some(subscription) if subscription.mailbox.thread() != thread => {
            let subscribed = subscription.mailbox.thread();
            *slot = Some(subscription);
            refuse!(
                sys::ACL_ERROR_RT_THREAD_SUBSCRIBE,
                other,
                "threadId: thread {thread} is not the one subscribed for stream {}, {subscribed} is",
                stream.id
            )
        }
        Some(subscription) => {
            seat.close(rt, subscription);
            Ok(())
        }
    }
}

#[cold]
fn mixed<T>(stream: &Stream, rule: &'static str) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_STREAM_SUBSCRIBE,
        rule,
        "stream: stream {} uses the other mechanism (aclrtLaunchHostFunc or aclrtSubscribeReport) already",
        stream.id
    )
}

/// aclrtProcessReport, aclrtProcessHostFunc: runs the callbacks that are due on the calling thread; waits for the first one
/// up to `timeout` milliseconds (-1: for ever).
pub fn process(rt: &Runtime, service: &Service, timeout: i32) -> Result<()> {
    let [bad_timeout, stranger, ..] = service.rules;
    let limit = match timeout {
        -1 => None,
        1.. => Some(std::time::Duration::from_millis(timeout.unsigned_abs().into())),
        _ => {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                bad_timeout,
                "timeout: {timeout} is neither -1 (for ever) nor a number of milliseconds above 0"
            );
        }
    };
    let me = this_thread();
    let Some(mailbox) = (service.desk)(rt).mailbox(me) else {
        return refuse!(
            sys::ACL_ERROR_RT_THREAD_SUBSCRIBE,
            stranger,
            "this thread ({me}) is not subscribed for any stream"
        );
    };
    for report in mailbox.due(rt, limit, stranger)? {
        run(rt, report);
    }
    Ok(())
}

/// The calling thread, as programs name it.
fn this_thread() -> u64 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::pthread_self() as u64 }
}

/// Runs a callback, unless its subscription ended meanwhile.
fn run(rt: &Runtime, report: Report) {
    if !report.live.load(Ordering::Acquire) {
        return;
    }
    observer::tell(|o| o.host_ordered(report.after));
    // SAFETY: the same function; it may unwind.
    let func =
        unsafe { std::mem::transmute::<Callback, unsafe extern "C-unwind" fn(*mut c_void)>(report.func) };
    let what = || format!("callback of aclrtLaunchCallback on {}", exception::name(report.queue));
    // SAFETY: the program gave function and word to aclrtLaunchCallback for this call.
    let function = || foreign::call(func as usize, what, || unsafe { func(report.arg.0) });
    match report.gate {
        None => function(),
        Some(gate) => {
            rt.engine.callback(report.queue, function);
            observer::tell(|o| o.called_back(report.after));
            // By its mark: the subscription may have ended while the function ran, and its signal be another one's by now.
            rt.engine.reach(gate);
        }
    }
}

/// aclrtLaunchCallback.
pub fn launch(
    rt: &Runtime,
    func: Option<Callback>,
    arg: *mut c_void,
    block_type: u32,
    handle: u64,
) -> Result<()> {
    // aclrtLaunchCallback#03 gives the order of the checks.
    if block_type != sys::ACL_CALLBACK_NO_BLOCK && block_type != sys::ACL_CALLBACK_BLOCK {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtLaunchCallback#01",
            "blockType: {block_type} is neither ACL_CALLBACK_NO_BLOCK (0) nor ACL_CALLBACK_BLOCK (1)"
        );
    }
    let known = stream::known(rt, handle)?;
    let Some(func) = func else { return no_function("aclrtLaunchCallback#02") };
    let stream = stream::or_default(rt, known)?;
    let mut slot = stream.reports.subscription.lock();
    if stream.reports.kind.load(Ordering::Acquire) == LAUNCHED {
        return mixed(&stream, "aclrtLaunchCallback#05");
    }
    stream::in_context(rt, &stream, "aclrtLaunchCallback#12")?;
    let Some(subscription) = slot.as_mut() else {
        return refuse!(
            sys::ACL_ERROR_RT_STREAM_NO_CB_REG,
            "aclrtLaunchCallback#04",
            "stream: no thread is subscribed for stream {}; call aclrtSubscribeReport first",
            stream.id
        );
    };
    stream::takes_tasks(rt, &stream)?;
    let gate = match block_type {
        sys::ACL_CALLBACK_BLOCK => Some(subscription.next_gate(rt)?),
        _ => None,
    };
    let report = Report {
        func,
        arg: desk::Word(arg),
        queue: stream.queue,
        after: stream.mark(rt),
        gate,
        live: subscription.live.clone(),
    };
    let mailbox = subscription.mailbox.clone();
    let work = Work {
        run: Box::new(move || {
            mailbox.post(report);
            Ok(())
        }),
        // What it costs to wake the thread; also brings a worker at once.
        cost_ns: 50_000,
        user_code: false,
    };
    if gate.is_some() {
        observer::tell(|o| o.holds_up());
    }
    observer::enqueue(Api::aclrtLaunchCallback, stream.handle(), &[], &[], || {
        let mut position = stream.push(rt, Task::Work(Box::new(work)));
        if let Some(mark) = gate {
            position = stream.push(rt, Task::Wait { mark, timeout_ms: 0, code: 0 });
        }
        rt.engine.mark_at(stream.queue, position)
    });
    Ok(())
}

impl Subscription {
    /// What opens when the next blocking callback has returned.
    fn next_gate(&mut self, rt: &Runtime) -> Result<Mark> {
        let gate = match self.gate.or_else(|| rt.engine.open_signal()) {
            Some(gate) => *self.gate.insert(gate),
            None => {
                return refuse!(
                    sys::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                    "*#07",
                    "no signal is left for a blocking callback"
                );
            }
        };
        self.blocking += 1;
        Ok(rt.engine.signal_mark(gate, self.blocking))
    }
}

/// aclrtLaunchHostFunc.
pub fn launch_host_func(rt: &Runtime, handle: u64, func: Option<Callback>, arg: *mut c_void) -> Result<()> {
    let known = stream::known(rt, handle)?;
    let Some(func) = func else { return no_function("aclrtLaunchHostFunc#01") };
    let stream = stream::or_default(rt, known)?;
    let kind = &stream.reports.kind;
    // The first launch settles the stream's mechanism.
    let settled = kind.load(Ordering::Acquire) == LAUNCHED
        || kind.compare_exchange(OPEN, LAUNCHED, Ordering::AcqRel, Ordering::Acquire) != Err(SUBSCRIBED);
    if !settled {
        return mixed(&stream, "aclrtLaunchHostFunc#02");
    }
    stream::in_context(rt, &stream, "aclrtLaunchHostFunc#09")?;
    stream::takes_tasks(rt, &stream)?;
    observer::enqueue(Api::aclrtLaunchHostFunc, stream.handle(), &[], &[], || {
        let position = stream.push(rt, Task::Host { func, arg });
        rt.engine.mark_at(stream.queue, position)
    });
    Ok(())
}

#[cold]
fn no_function<T>(rule: &'static str) -> Result<T> {
    refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "fn: must not be null")
}

/// aclrtGetThreadLastTaskId: number of the last task that the calling thread added to a stream of the program's own, 0 before
/// the first (ours). The same number stands in messages about a task.
pub fn thread_last_task() -> u32 {
    thread::last_task()
}
