//! Chapter 12: callbacks of streams. Timeouts: `timeout.rs`.

use super::prelude::*;
use crate::kit::same as same_code;

pub fn rows(r: &mut Rows) {
    launch_callback(r);
    subscribe(r);
    process(r);
    unsubscribe(r);
    host_func(r);
    last_task(r);
}

fn subscribe_here(stream: aclrtStream) -> i32 {
    acl!(aclrtSubscribeReport(this_thread(), stream))
}

fn unsubscribe_here(stream: aclrtStream) -> i32 {
    acl!(aclrtUnSubscribeReport(this_thread(), stream))
}

/// A stream whose callbacks this thread runs.
#[track_caller]
fn subscribed() -> Stream {
    let stream = Stream::new();
    same_code("aclrtSubscribeReport", subscribe_here(stream.h()), 0);
    stream
}

fn call_back(stream: aclrtStream, block: u32, body: impl FnOnce() + Send + 'static) -> i32 {
    let (func, arg) = once(body);
    acl!(aclrtLaunchCallback(func, arg, block, stream))
}

fn process_now() -> i32 {
    acl!(aclrtProcessReport(20_000))
}

const BLOCK: u32 = ACL_CALLBACK_BLOCK;
const NO_BLOCK: u32 = ACL_CALLBACK_NO_BLOCK;

/// A stream that aclrtLaunchHostFunc has been called on.
#[track_caller]
fn launched() -> Stream {
    let stream = Stream::new();
    launch(stream.h(), || {});
    stream.wait();
    stream
}

fn launch_callback(r: &mut Rows) {
    let some = || once(|| {});
    r.row("aclrtLaunchCallback#01", move |_| {
        let stream = subscribed();
        [2, u32::MAX].map(|block| acl!(aclrtLaunchCallback(some().0, null_mut(), block, stream.h())))
    });
    r.row("aclrtLaunchCallback#02", |_| acl!(aclrtLaunchCallback(None, null_mut(), BLOCK, subscribed().h())));
    r.row("aclrtLaunchCallback#03", move |t| {
        let other = Context::new(0);
        let foreign = other.enter(Stream::new);
        code!(ACL_ERROR_INVALID_PARAM, aclrtLaunchCallback(None, null_mut(), 9, foreign.h()));
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchCallback(None, null_mut(), BLOCK, foreign.h()));
        let func = some().0;
        code!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtLaunchCallback(func, null_mut(), BLOCK, foreign.h()));
        code!(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(func, null_mut(), BLOCK, Stream::new().h()));
        if t.supports("aclrtLaunchHostFunc") {
            let launched = other.enter(launched);
            code!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtLaunchCallback(func, null_mut(), BLOCK, launched.h()));
        }
    });
    r.row("aclrtLaunchCallback#04", |_| call_back(Stream::new().h(), BLOCK, || {}));
    let mixed = |_: &Test<'_>| call_back(launched().h(), BLOCK, || {});
    r.row("aclrtLaunchCallback#05", mixed).having("aclrtLaunchHostFunc");
    r.decided("aclrtLaunchCallback#06", mixed).having("aclrtLaunchHostFunc");
    r.row("aclrtLaunchCallback#07", |_| {
        static THERE: std::sync::Mutex<Vec<(usize, u64)>> = std::sync::Mutex::new(Vec::new());
        unsafe extern "C" fn there(arg: *mut c_void) {
            if let Ok(mut list) = THERE.lock() {
                list.push((arg as usize, this_thread()));
            }
        }
        let stream = subscribed();
        for arg in [0x11, 0x22] {
            ok!(aclrtLaunchCallback(Some(there), at(arg), BLOCK, stream.h()));
        }
        let count = || THERE.lock().map_or(0, |list| list.len());
        assert_eq!(count(), 0, "only from within aclrtProcessReport");
        while count() < 2 {
            same_code("aclrtProcessReport", process_now(), 0);
        }
        stream.wait();
        let list = THERE.lock().map(|list| list.clone()).unwrap_or_default();
        assert_eq!(list, [(0x11, this_thread()), (0x22, this_thread())]);
    })
    .alone_device();
    r.row("aclrtLaunchCallback#08", |_| {
        // A later callback of the stream shows whether the earlier one held it.
        for (block, both_due) in [(NO_BLOCK, true), (BLOCK, false)] {
            let stream = subscribed();
            let (first, second) = (Flag::new(), Flag::new());
            let (one, two) = (first.clone(), second.clone());
            assert_eq!(call_back(stream.h(), block, move || one.set()), 0);
            assert_eq!(call_back(stream.h(), NO_BLOCK, move || two.set()), 0);
            if both_due {
                stream.wait();
            } else {
                assert!(!first.is());
            }
            same_code("aclrtProcessReport", process_now(), 0);
            assert!(first.is());
            if both_due {
                assert!(second.is(), "both were due");
            } else {
                assert!(!second.is(), "held until the first returned");
                same_code("aclrtProcessReport", process_now(), 0);
            }
            stream.wait();
            assert!(second.is());
            assert_eq!(unsubscribe_here(stream.h()), 0);
        }
    });
    r.row("aclrtLaunchCallback#09", |_| {
        let stream = subscribed();
        let ran = Flag::new();
        let mark = ran.clone();
        assert_eq!(call_back(stream.h(), BLOCK, move || mark.set()), 0);
        assert!(!ran.is());
        same_code("aclrtProcessReport", process_now(), 0);
        stream.wait();
        assert!(ran.is());
    });
    r.decided("aclrtLaunchCallback#10", |_| {
        static CODE: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(-1);
        let stream = subscribed();
        let handle = stream.h() as usize;
        let body = move || {
            let code = acl!(aclrtSynchronizeStream(at(handle)));
            CODE.store(code, std::sync::atomic::Ordering::SeqCst);
        };
        assert_eq!(call_back(stream.h(), BLOCK, body), 0);
        same_code("aclrtProcessReport", process_now(), 0);
        stream.wait();
        CODE.load(std::sync::atomic::Ordering::SeqCst)
    });
    r.row("aclrtLaunchCallback#11", |_| {
        assert_eq!(subscribe_here(null_mut()), 0);
        let ran = Flag::new();
        let mark = ran.clone();
        assert_eq!(call_back(null_mut(), BLOCK, move || mark.set()), 0);
        same_code("aclrtProcessReport", process_now(), 0);
        ok!(aclrtSynchronizeStream(null_mut()));
        assert!(ran.is());
        assert_eq!(unsubscribe_here(null_mut()), 0);
    })
    .only(|target| target.product.has("default_stream"));
    r.row("aclrtLaunchCallback#12", |_| {
        let other = Context::new(0);
        let stream = other.enter(subscribed);
        call_back(stream.h(), BLOCK, || {})
    });
    r.row("aclrtLaunchCallback#13", |_| on_no_streams(|stream| call_back(stream, BLOCK, || {})));
}

fn subscribe(r: &mut Rows) {
    let twice = |_: &Test<'_>| {
        let stream = subscribed();
        [subscribe_here(stream.h()), bare(|| subscribe_here(stream.h()))]
    };
    r.row("aclrtSubscribeReport#01", twice);
    r.row("aclrtSubscribeReport#02", |_| {
        let streams = [subscribed(), subscribed(), subscribed()];
        let ran = streams.each_ref().map(|stream| {
            let flag = Flag::new();
            let mark = flag.clone();
            assert_eq!(call_back(stream.h(), BLOCK, move || mark.set()), 0);
            flag
        });
        while !ran.iter().all(Flag::is) {
            same_code("aclrtProcessReport", process_now(), 0);
        }
    });
    r.decided("aclrtSubscribeReport#03", twice);
    r.decided("aclrtSubscribeReport#04", |_| {
        let _here = subscribed();
        let there = Context::new(1);
        let stream = there.enter(Stream::new);
        subscribe_here(stream.h())
    });
    r.decided("aclrtSubscribeReport#05", |t| {
        let many = t.number("max_streams").min(500);
        let mut streams = Vec::new();
        let mut codes = Vec::new();
        // Any number is the id of a thread; streams of several devices, since one has too few.
        let contexts = [0, 1, 2, 3].map(Context::new);
        for (context, thread) in (0..1025_usize).map(|n| (&contexts[n / many as usize], n as u64 + 1)) {
            let stream = context.enter(Stream::new);
            codes.push(acl!(aclrtSubscribeReport(thread, stream.h())));
            streams.push((context, stream));
        }
        let last = codes.pop();
        assert!(codes.iter().all(|code| *code == 0), "1024 threads are subscribed");
        for (context, stream) in streams {
            context.enter(|| drop(stream));
        }
        last.unwrap_or_default()
    })
    .alone_device();
    r.row("aclrtSubscribeReport#06", |_| subscribe_here(launched().h())).having("aclrtLaunchHostFunc");
    r.row("aclrtSubscribeReport#07", |_| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        assert_eq!(subscribe_here(null_mut()), 0);
        code!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(this_thread(), default));
        assert_eq!(unsubscribe_here(default), 0);
    })
    .only(|target| target.product.has("default_stream"));
    r.row("aclrtSubscribeReport#08", |_| on_no_streams(subscribe_here));
}

fn process(r: &mut Rows) {
    let wrong = |_: &Test<'_>| {
        let _stream = subscribed();
        [0, -2, i32::MIN].map(|timeout| acl!(aclrtProcessReport(timeout)))
    };
    r.decided("aclrtProcessReport#01", wrong);
    r.row("aclrtProcessReport#02", wrong);
    r.row("aclrtProcessReport#03", |_| bare(|| acl!(aclrtProcessReport(5))));
    r.row("aclrtProcessReport#04", |_| {
        let _stream = subscribed();
        acl!(aclrtProcessReport(5))
    });
    r.row("aclrtProcessReport#05", |_| {
        let stream = subscribed();
        for timeout in [-1, 20_000] {
            let ran = Flag::new();
            let mark = ran.clone();
            assert_eq!(call_back(stream.h(), BLOCK, move || mark.set()), 0);
            ok!(aclrtProcessReport(timeout));
            assert!(ran.is());
        }
        stream.wait();
    });
}

fn unsubscribe(r: &mut Rows) {
    r.row("aclrtUnSubscribeReport#01", |_| {
        let stream = subscribed();
        assert_eq!(unsubscribe_here(stream.h()), 0);
        [unsubscribe_here(stream.h()), unsubscribe_here(Stream::new().h())]
    });
    r.row("aclrtUnSubscribeReport#02", |_| {
        let stream = subscribed();
        bare(|| unsubscribe_here(stream.h()))
    });
    r.row("aclrtUnSubscribeReport#03", |_| {
        let stream = subscribed();
        assert_eq!(unsubscribe_here(stream.h()), 0);
        assert_eq!(call_back(stream.h(), BLOCK, || {}), ACL_ERROR_RT_STREAM_NO_CB_REG);
        code!(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(5));
    });
    r.decided("aclrtUnSubscribeReport#04", |_| {
        let stream = subscribed();
        let ran = Flag::new();
        let mark = ran.clone();
        assert_eq!(call_back(stream.h(), BLOCK, move || mark.set()), 0);
        let code = unsubscribe_here(stream.h());
        // The callback that has not run holds nothing up, and does not run.
        stream.wait();
        assert!(!ran.is());
        code
    });
    r.row("aclrtUnSubscribeReport#05", |_| unsubscribe_here(launched().h())).having("aclrtLaunchHostFunc");
    r.row("aclrtUnSubscribeReport#06", |_| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        assert_eq!(subscribe_here(default), 0);
        assert_eq!(unsubscribe_here(null_mut()), 0);
        code!(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtUnSubscribeReport(this_thread(), default));
    })
    .only(|target| target.product.has("default_stream"));
    r.row("aclrtUnSubscribeReport#07", |_| on_no_streams(unsubscribe_here));
}

fn launch_func(stream: aclrtStream) -> i32 {
    let (func, arg) = once(|| {});
    acl!(aclrtLaunchHostFunc(stream, func, arg))
}

fn host_func(r: &mut Rows) {
    r.row("aclrtLaunchHostFunc#01", |_| acl!(aclrtLaunchHostFunc(Stream::new().h(), None, null_mut())));
    let mixed = |_: &Test<'_>| launch_func(subscribed().h());
    r.row("aclrtLaunchHostFunc#02", mixed);
    r.row("aclrtLaunchHostFunc#03", |_| {
        let (stream, me) = (Stream::new(), this_thread());
        let elsewhere = Flag::new();
        let mark = elsewhere.clone();
        launch(stream.h(), move || {
            if this_thread() != me {
                mark.set();
            }
        });
        stream.wait();
        assert!(elsewhere.is());
    });
    r.row("aclrtLaunchHostFunc#04", |_| {
        let stream = Stream::new();
        let (gate, later) = (held(stream.h()), Flag::new());
        later.after(stream.h());
        let mut status = 99;
        ok!(aclrtStreamQuery(stream.h(), &mut status));
        assert!(status == ACL_STREAM_STATUS_NOT_READY && !later.is());
        gate.open();
        stream.wait();
        assert!(later.is());
    });
    r.row("aclrtLaunchHostFunc#05", |_| {
        static GIVEN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        unsafe extern "C" fn note(arg: *mut c_void) {
            GIVEN.store(arg as usize, std::sync::atomic::Ordering::SeqCst);
        }
        let stream = Stream::new();
        let gate = held(stream.h());
        ok!(aclrtLaunchHostFunc(stream.h(), Some(note), at(0x1234)));
        assert_eq!(GIVEN.load(std::sync::atomic::Ordering::SeqCst), 0);
        gate.open();
        stream.wait();
        assert_eq!(GIVEN.load(std::sync::atomic::Ordering::SeqCst), 0x1234);
    })
    .alone_device();
    r.decided("aclrtLaunchHostFunc#06", mixed);
    r.decided("aclrtLaunchHostFunc#07", |_| {
        static CODE: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(-1);
        let stream = Stream::new();
        let handle = stream.h() as usize;
        launch(stream.h(), move || {
            let code = acl!(aclrtSynchronizeStream(at(handle)));
            CODE.store(code, std::sync::atomic::Ordering::SeqCst);
        });
        stream.wait();
        CODE.load(std::sync::atomic::Ordering::SeqCst)
    });
    r.row("aclrtLaunchHostFunc#08", |_| {
        let done = Flag::new();
        done.after(null_mut());
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        ok!(aclrtSynchronizeStream(default));
        assert!(done.is());
    });
    r.row("aclrtLaunchHostFunc#09", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        launch_func(stream.h())
    });
    r.row("aclrtLaunchHostFunc#10", |_| launch_func(null_mut())).bare();
    r.row("aclrtLaunchHostFunc#11", |_| on_no_streams(launch_func));
}

fn last_task(r: &mut Rows) {
    let last = || get!(u32::MAX, aclrtGetThreadLastTaskId());
    r.row("aclrtGetThreadLastTaskId#01", |_| acl!(aclrtGetThreadLastTaskId(null_mut())));
    r.row("aclrtGetThreadLastTaskId#02", move |t| {
        let stream = Stream::new();
        Flag::new().after(stream.h());
        let first = last();
        on_device(t, 0, || {
            let stream = Stream::new();
            (0..10).for_each(|_| Flag::new().after(stream.h()));
        });
        assert_eq!(last(), first, "other threads do not change it");
        Flag::new().after(stream.h());
        assert_ne!(last(), first);
        stream.wait();
    });
    r.row("aclrtGetThreadLastTaskId#03", move |_| {
        let stream = Stream::new();
        Flag::new().after(stream.h());
        let mine = last();
        (0..3).for_each(|_| Flag::new().after(null_mut()));
        assert_eq!(last(), mine);
        ok!(aclrtSynchronizeStream(null_mut()));
    });
}
