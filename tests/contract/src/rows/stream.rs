//! Chapter 06.

use std::sync::Mutex;

use super::prelude::*;
use crate::kit::same as same_code;
use crate::target::Target;

pub fn rows(r: &mut Rows) {
    create(r);
    flags(r);
    destroy(r);
    failure_mode(r);
    query(r);
    synchronize(r);
    timeouts(r);
    abort(r);
    facts(r);
    attributes(r);
    listeners(r);
    persistent(r);
}

fn create_with(priority: u32, flag: u32) -> i32 {
    let mut stream = null_mut();
    acl!(aclrtCreateStreamWithConfig(&mut stream, priority, flag))
}

fn priority(stream: aclrtStream) -> u32 {
    get!(99, aclrtStreamGetPriority(stream))
}

fn flags_of(stream: aclrtStream) -> u32 {
    get!(99, aclrtStreamGetFlags(stream))
}

/// Targets whose product knows a stream flag.
fn knows(flag: &'static str) -> impl Fn(&Target) -> bool {
    move |target| target.product.list("stream_flags").any(|known| known.split('(').next() == Some(flag))
}

/// Creates until it is refused: the code, after as many as the product has (the default stream is one of them).
fn exhausted(t: &Test<'_>) -> i32 {
    let mut streams = Vec::new();
    let code = loop {
        let mut stream = null_mut();
        match acl!(aclrtCreateStream(&mut stream)) {
            0 => streams.push(Stream::own(stream)),
            code => break code,
        }
    };
    assert_eq!(streams.len() as u64, t.number("max_streams") - 1);
    // One that goes makes room for another one.
    streams.pop();
    Stream::new();
    code
}

fn create(r: &mut Rows) {
    r.row("aclrtCreateStream#01", |_| acl!(aclrtCreateStream(null_mut())));
    r.row("aclrtCreateStream#02", |_| assert_eq!(priority(Stream::new().h()), 0));
    for id in ["aclrtCreateStream#03", "aclrtCreateStream#04", "aclrtCreateStream#05", "aclrtCreateStream#06"]
    {
        r.row(id, exhausted);
    }
    r.row("aclrtCreateStream#07", |_| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        assert!(!default.is_null());
        assert_eq!(priority(default), 0);
        Context::new(0).enter(|| {
            let other = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
            assert!(!other.is_null() && other != default);
            assert_eq!(priority(other), 0);
        });
    });
    r.row("aclrtCreateStream#08", |_| acl!(aclrtCreateStream(&mut null_mut()))).bare();
    r.row("aclrtCreateStreamWithConfig#01", |_| acl!(aclrtCreateStreamWithConfig(null_mut(), 0, 0)));
    r.decided("aclrtCreateStreamWithConfig#02", |_| {
        for wanted in 0..8 {
            assert_eq!(priority(Stream::with(wanted, 0).h()), wanted);
        }
    });
    let clamped = |_: &Test<'_>| {
        for (given, wanted) in [(8, 7), (1000, 7), (i32::MAX as u32, 7), (0, 0), (7, 7)] {
            assert_eq!(priority(Stream::with(given, 0).h()), wanted, "{given}");
        }
    };
    r.row("aclrtCreateStreamWithConfig#03", clamped);
    let negative = |_: &Test<'_>| {
        for given in [u32::MAX, 1 << 31] {
            assert_eq!(priority(Stream::with(given, 0).h()), 0, "{given:#x}");
        }
    };
    r.row("aclrtCreateStreamWithConfig#04", negative);
    r.row("aclrtCreateStream<cpp>#03", move |t| {
        clamped(t);
        negative(t);
        let mut stream = null_mut();
        same_code("the overload", unsafe { cpp_create_stream(&mut stream, 99, 0) }, 0);
        assert_eq!(priority(Stream::own(stream).h()), 7);
    });
    r.row("aclrtCreateStream<cpp>#04", |_| {
        let mut stream = null_mut();
        same_code("the overload", unsafe { cpp_create_stream(&mut stream, 5, 0) }, 0);
        assert_eq!(priority(Stream::own(stream).h()), 5);
    });
    r.row("aclrtCreateStream<cpp>#01", |_| {
        same_code("the overload", unsafe { cpp_create_stream(null_mut(), 0, 0) }, ACL_ERROR_INVALID_PARAM);
        calls("aclrtCreateStreamWithConfig");
    });
    r.row("aclrtCreateStream<cpp>#02", |_| header_only("aclrtCreateStream"));
}

fn flags(r: &mut Rows) {
    r.decided("aclrtCreateStreamWithConfig#05", |_| {
        let several = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
        let stream = Stream::with(0, several);
        assert_eq!(flags_of(stream.h()), several);
        create_with(0, ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_FAST_SYNC)
    })
    .only(knows("FAST_LAUNCH"));
    let unknown = |_: &Test<'_>| {
        for flag in [0x40, 0x8000_0000, 0xffff_ffc0] {
            let stream = Stream::with(0, flag);
            assert_eq!(flags_of(stream.h()), 0);
            let done = Flag::new();
            done.after(stream.h());
            stream.wait();
            assert!(done.is());
        }
    };
    r.row("aclrtCreateStreamWithConfig#06", unknown);
    r.row("aclrtCreateStreamWithConfig#07", unknown);
    let huge = |_: &Test<'_>| {
        let stream = Stream::with(0, ACL_STREAM_HUGE);
        let done = Flag::new();
        done.after(stream.h());
        stream.wait();
        assert!(done.is());
    };
    r.row("aclrtCreateStreamWithConfig#08", huge);
    r.decided("aclrtCreateStreamWithConfig#09", huge);
    r.row("aclrtCreateStreamWithConfig#10", |_| {
        [ACL_STREAM_FAST_LAUNCH, ACL_STREAM_PERSISTENT, ACL_STREAM_HUGE]
            .map(|flag| create_with(0, ACL_STREAM_DEVICE_USE_ONLY | flag))
    });
    r.decided("aclrtCreateStreamWithConfig#11", |_| {
        assert_eq!(flags_of(Stream::with(0, ACL_STREAM_DEVICE_USE_ONLY).h()), ACL_STREAM_DEVICE_USE_ONLY);
        create_with(0, ACL_STREAM_DEVICE_USE_ONLY)
    })
    .only(knows("DEVICE_USE_ONLY"));
    r.row("aclrtCreateStreamWithConfig#12", |_| {
        let stream = Stream::with(0, ACL_STREAM_PERSISTENT);
        let ran = Flag::new();
        ran.after(stream.h());
        // What comes later elsewhere is done, this is not.
        let other = Stream::new();
        let later = Flag::new();
        later.after(other.h());
        other.wait();
        assert!(later.is() && !ran.is());
        ok!(aclrtDestroyStream(stream.h()));
        assert!(!ran.is(), "dropped with the stream");
    })
    .only(knows("PERSISTENT"));
    r.decided("aclrtCreateStreamWithConfig#13", |_| create_with(0, ACL_STREAM_CPU_SCHEDULE));
    let works = |flag: u32| {
        move |_: &Test<'_>| {
            let stream = Stream::with(3, flag);
            assert_eq!(flags_of(stream.h()), flag);
            let done = Flag::new();
            done.after(stream.h());
            stream.wait();
            assert!(done.is());
        }
    };
    r.row("aclrtCreateStreamWithConfig#14", works(ACL_STREAM_FAST_LAUNCH)).only(knows("FAST_LAUNCH"));
    r.row("aclrtCreateStreamWithConfig#15", works(ACL_STREAM_FAST_SYNC)).only(knows("FAST_SYNC"));
}

fn destroy(r: &mut Rows) {
    r.row("aclrtDestroyStream#01", |_| acl!(aclrtDestroyStream(null_mut())));
    let awaited = |_: &Test<'_>| {
        let stream = Stream::new();
        let done = Flag::new();
        awaits(stream.h(), || {}, || ok!(aclrtDestroyStream(stream.h())));
        drop(done);
        0
    };
    r.row("aclrtDestroyStream#02", move |t| {
        if t.supports("aclrtLaunchHostFunc") {
            assert_eq!(awaited(t), 0);
        } else {
            // Callbacks need a subscription, which the end of the stream would end: copies are what is left.
            let stream = Stream::new();
            ok!(aclrtDestroyStream(stream.h()));
        }
    });
    r.decided("aclrtDestroyStream#03", |t| {
        let stream = Stream::new();
        if t.supports("aclrtLaunchHostFunc") {
            Flag::new().after(stream.h());
        }
        acl!(aclrtDestroyStream(stream.h()))
    });
    let foreign = |destroy: fn(aclrtStream) -> i32| {
        move |_: &Test<'_>| {
            let other = Context::new(0);
            let stream = other.enter(Stream::new);
            let code = destroy(stream.h());
            // It lives on.
            other.enter(|| stream.wait());
            code
        }
    };
    let plain: fn(aclrtStream) -> i32 = |stream| acl!(aclrtDestroyStream(stream));
    let force: fn(aclrtStream) -> i32 = |stream| acl!(aclrtDestroyStreamForce(stream));
    r.row("aclrtDestroyStream#04", foreign(plain));
    r.decided("aclrtDestroyStream#05", foreign(plain));
    r.hardware("aclrtDestroyStream#06", "a ban on what other threads do, with no outcome");
    r.needs("aclrtDestroyStream#07", "aclmdlRICaptureBegin");
    r.row("aclrtDestroyStreamForce#01", |_| acl!(aclrtDestroyStreamForce(null_mut())));
    r.row("aclrtDestroyStreamForce#02", |_| {
        let stream = Stream::new();
        let gate = held(stream.h());
        let ran = Flag::new();
        ran.after(stream.h());
        ok!(aclrtDestroyStreamForce(stream.h()));
        // It came back while the stream was held.
        gate.open();
        Stream::new().wait();
        assert!(!ran.is());
    });
    r.row("aclrtDestroyStreamForce#03", foreign(force));
    r.decided("aclrtDestroyStreamForce#04", foreign(force));
    r.needs("aclrtDestroyStreamForce#05", "aclmdlRICaptureBegin");
}

fn mode(stream: aclrtStream, mode: u64) -> i32 {
    acl!(aclrtSetStreamFailureMode(stream, mode))
}

const STOP: u64 = ACL_STOP_ON_FAILURE as u64;
const CONTINUE: u64 = ACL_CONTINUE_ON_FAILURE as u64;

fn failure_mode(r: &mut Rows) {
    r.row("aclrtSetStreamFailureMode#01", |_| {
        let stream = Stream::new();
        // The default goes on.
        let code = fail(stream.h());
        let later = Flag::new();
        later.after(stream.h());
        code!(code, aclrtSynchronizeStream(stream.h()));
        assert!(later.is());
        // Bit 0 counts.
        [mode(stream.h(), 0xfffe), mode(stream.h(), 3), mode(stream.h(), STOP)]
    });
    r.decided("aclrtSetStreamFailureMode#02", |_| {
        let stream = Stream::new();
        [mode(stream.h(), STOP), mode(stream.h(), STOP)]
    });
    r.row("aclrtSetStreamFailureMode#03", |_| {
        let stream = Stream::new();
        let first = [mode(stream.h(), CONTINUE), mode(stream.h(), CONTINUE)];
        [first[0], first[1], mode(stream.h(), STOP), mode(stream.h(), STOP)]
    });
    r.row("aclrtSetStreamFailureMode#04", |_| {
        let stream = Stream::new();
        assert_eq!(mode(stream.h(), STOP), 0);
        mode(stream.h(), CONTINUE)
    });
    r.decided("aclrtSetStreamFailureMode#05", |_| {
        let stream = Stream::new();
        assert_eq!(mode(stream.h(), STOP), 0);
        let code = fail(stream.h());
        code!(code, aclrtSynchronizeStream(stream.h()));
        let (func, arg) = once(|| {});
        acl!(aclrtLaunchHostFunc(stream.h(), func, arg))
    });
    let spreads = |set: fn(aclrtStream) -> i32| {
        move |_: &Test<'_>| {
            let context = Context::new(0);
            let outside = Stream::new();
            context.enter(|| {
                let (first, second) = (Stream::new(), Stream::new());
                same_code("stop on failure", set(first.h()), 0);
                // Nothing can be added once the failure is there.
                let gate = held(first.h());
                let code = fail(first.h());
                let later = Flag::new();
                later.after(first.h());
                gate.open();
                code!(code, aclrtSynchronizeStream(first.h()));
                assert!(!later.is(), "dropped");
                let (func, arg) = once(|| {});
                code!(code, aclrtLaunchHostFunc(second.h(), func, arg));
            });
            // Not of another context.
            let done = Flag::new();
            done.after(outside.h());
            outside.wait();
            assert!(done.is());
        }
    };
    r.row("aclrtSetStreamFailureMode#06", spreads(|stream| mode(stream, STOP)));
    r.row(
        "aclrtSetStreamAttribute#10",
        spreads(|stream| {
            set(stream, ACL_STREAM_ATTR_FAILURE_MODE, aclrtStreamAttrValue { failureMode: STOP })
        }),
    );
    r.row("aclrtSetStreamFailureMode#07", |_| mode(null_mut(), STOP));
    r.decided("aclrtSetStreamFailureMode#08", |_| [mode(null_mut(), STOP), mode(null_mut(), CONTINUE)]);
    r.needs("aclrtSetStreamFailureMode#09", "aclmdlRIBindStream");
    r.row("aclrtSetStreamFailureMode#10", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        mode(stream.h(), STOP)
    });
    r.row("aclrtSetStreamFailureMode#11", |_| mode(Stream::with(0, ACL_STREAM_DEVICE_USE_ONLY).h(), STOP))
        .only(knows("DEVICE_USE_ONLY"));
    r.row("aclrtSetStreamOverflowSwitch#01", |_| {
        let stream = Stream::new();
        [2, u32::MAX].map(|flag| acl!(aclrtSetStreamOverflowSwitch(stream.h(), flag)))
    });
    r.hardware(
        "aclrtSetStreamOverflowSwitch#02",
        "no computation of this runtime overflows, so no task can show it",
    );
    r.needs("aclrtSetStreamOverflowSwitch#03", "aclmdlRICaptureBegin");
    r.row("aclrtGetStreamOverflowSwitch#01", |_| {
        acl!(aclrtGetStreamOverflowSwitch(Stream::new().h(), null_mut()))
    });
    r.row("aclrtGetStreamOverflowSwitch#02", |_| {
        let stream = Stream::new();
        assert_eq!(get!(9, aclrtGetStreamOverflowSwitch(stream.h())), 0);
        for flag in [1, 0] {
            ok!(aclrtSetStreamOverflowSwitch(stream.h(), flag));
            assert_eq!(get!(9, aclrtGetStreamOverflowSwitch(stream.h())), flag);
        }
    });
}

fn status(stream: aclrtStream) -> aclrtStreamStatus {
    get!(99, aclrtStreamQuery(stream))
}

/// A stream of each kind that the host never waits for, with work that does not end.
fn unwaitable(check: impl Fn(aclrtStream)) {
    for flag in [ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY] {
        let mut stream = null_mut();
        // Not every product has every kind.
        if acl!(aclrtCreateStreamWithConfig(&mut stream, 0, flag)) == 0 {
            let stream = Stream::own(stream);
            if flags_of(stream.h()) == flag {
                let gate = held(stream.h());
                check(stream.h());
                gate.open();
            }
        }
    }
}

fn query(r: &mut Rows) {
    r.row("aclrtStreamQuery#01", |_| acl!(aclrtStreamQuery(Stream::new().h(), null_mut())));
    r.row("aclrtStreamQuery#02", |_| {
        let stream = Stream::new();
        assert_eq!(status(stream.h()), ACL_STREAM_STATUS_COMPLETE);
        let gate = held(stream.h());
        assert_eq!(status(stream.h()), ACL_STREAM_STATUS_NOT_READY);
        gate.open();
        stream.wait();
        assert_eq!(status(stream.h()), ACL_STREAM_STATUS_COMPLETE);
        assert_eq!((ACL_STREAM_STATUS_COMPLETE, ACL_STREAM_STATUS_NOT_READY), (0, 1));
    });
    let complete = |_: &Test<'_>| unwaitable(|stream| assert_eq!(status(stream), ACL_STREAM_STATUS_COMPLETE));
    r.row("aclrtStreamQuery#03", complete);
    r.row("aclrtStreamQuery#04", complete);
    r.needs("aclrtStreamQuery#05", "aclmdlRICaptureBegin");
}

fn synchronize(r: &mut Rows) {
    r.row("aclrtSynchronizeStream#01", |_| {
        let stream = Stream::new();
        awaits(stream.h(), || {}, || stream.wait());
    });
    r.row("aclrtSynchronizeStream#02", |_| {
        awaits(null_mut(), || {}, || ok!(aclrtSynchronizeStream(null_mut())))
    });
    r.row("aclrtSynchronizeStream#03", |t| {
        if t.supports("aclrtCreateStreamWithConfig") {
            unwaitable(|stream| ok!(aclrtSynchronizeStream(stream)));
        } else {
            // No such streams; ordinary ones only.
            Stream::new().wait();
        }
    });
    r.row("aclrtSynchronizeStream#04", |t| {
        let (other, here) = (Context::new(1), current());
        let stream = other.enter(Stream::new);
        if t.supports("aclrtLaunchHostFunc") {
            let done = Flag::new();
            other.enter(|| done.after(stream.h()));
            stream.wait();
            assert!(done.is());
        }
        stream.wait();
        assert_eq!(current(), here);
        other.enter(|| drop(stream));
    });
    r.needs("aclrtSynchronizeStream#05", "aclmdlRICaptureBegin");
    r.row("aclrtSynchronizeStream#06", |_| {
        let stream = Stream::new();
        let code = fail(stream.h());
        code!(code, aclrtSynchronizeStream(stream.h()));
        ok!(aclrtSynchronizeStream(stream.h()));
    })
    .having("aclrtMemsetAsync");
    r.row("aclrtSynchronizeStream#07", |_| {
        let stream = Stream::new();
        let gate = held(stream.h());
        let code = std::thread::scope(|scope| {
            let handle = stream.h() as usize;
            let waiting = scope.spawn(move || acl!(aclrtSynchronizeStream(at(handle))));
            ok!(aclrtStreamAbort(stream.h()));
            gate.open();
            waiting.join()
        });
        code.unwrap_or(-1)
    });
    r.hardware(
        "aclrtSynchronizeStream#08",
        "these ends of tasks come from models, sockets and overflows, which nothing here brings about",
    );
}

fn wait_for(stream: aclrtStream, timeout: i32) -> i32 {
    acl!(aclrtSynchronizeStreamWithTimeout(stream, timeout))
}

fn timeouts(r: &mut Rows) {
    type Wait = fn(aclrtStream, i32) -> i32;
    let overload: Wait = |stream, timeout| unsafe { cpp_synchronize_stream(stream, timeout) };
    let waits = |wait: Wait| {
        let stream = Stream::new();
        for timeout in [-1, 20_000] {
            awaits(stream.h(), || {}, || same_code("the wait", wait(stream.h(), timeout), 0));
        }
        let gate = held(stream.h());
        same_code("the wait", wait(stream.h(), 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        gate.open();
        stream.wait();
    };
    r.row("aclrtSynchronizeStreamWithTimeout#01", move |_| waits(wait_for));
    r.row("aclrtSynchronizeStream<cpp>#03", move |_| waits(overload));
    r.row("aclrtSynchronizeStream<cpp>#04", move |_| waits(overload));
    r.row("aclrtSynchronizeStream<cpp>#01", move |_| {
        for timeout in [0, -2] {
            same_code("the overload", overload(null_mut(), timeout), ACL_ERROR_RT_PARAM_INVALID);
            calls("aclrtSynchronizeStreamWithTimeout");
        }
    });
    r.row("aclrtSynchronizeStream<cpp>#02", |_| header_only("aclrtSynchronizeStream"));
    r.row("aclrtSynchronizeStreamWithTimeout#02", |_| [-2, i32::MIN].map(|t| wait_for(Stream::new().h(), t)));
    r.row("aclrtSynchronizeStreamWithTimeout#03", |_| wait_for(Stream::new().h(), 0));
    r.decided("aclrtSynchronizeStreamWithTimeout#04", |_| wait_for(Stream::new().h(), 0));
    r.row("aclrtSynchronizeStreamWithTimeout#05", |_| {
        let stream = Stream::new();
        let gate = held(stream.h());
        let code = wait_for(stream.h(), 5);
        gate.open();
        stream.wait();
        code
    });
    r.row("aclrtSynchronizeStreamWithTimeout#06", |_| {
        unwaitable(|stream| assert_eq!([wait_for(stream, 5), wait_for(stream, -1)], [0, 0]));
    });
    r.needs("aclrtSynchronizeStreamWithTimeout#07", "aclmdlRICaptureBegin");
}

fn abort(r: &mut Rows) {
    r.row("aclrtStreamAbort#01", |_| {
        let stream = Stream::new();
        let gate = held(stream.h());
        let (queued, later) = (Flag::new(), Flag::new());
        queued.after(stream.h());
        ok!(aclrtStreamAbort(stream.h()));
        let mark = later.clone();
        let (func, arg) = once(move || mark.set());
        acl!(aclrtLaunchHostFunc(stream.h(), func, arg));
        gate.open();
        acl!(aclrtSynchronizeStream(stream.h()));
        Stream::new().wait();
        assert!(!queued.is() && !later.is());
    });
    r.needs("aclrtStreamAbort#02", "aclmdlRIBindStream");
    r.decided("aclrtStreamAbort#03", |_| {
        // A wait for what will not come any more is over.
        let (aborted, waiting, event) = (Stream::new(), Stream::new(), Event::new());
        let gate = held(aborted.h());
        ok!(aclrtRecordEvent(event.h(), aborted.h()));
        ok!(aclrtStreamWaitEvent(waiting.h(), event.h()));
        ok!(aclrtStreamAbort(aborted.h()));
        gate.open();
        acl!(aclrtSynchronizeStreamWithTimeout(waiting.h(), 20_000))
    });
    r.row("aclrtStreamAbort#04", |_| {
        let stream = Stream::new();
        ok!(aclrtStreamAbort(stream.h()));
        [
            acl!(aclrtSynchronizeStream(stream.h())),
            wait_for(stream.h(), 5),
            acl!(aclrtSynchronizeStream(stream.h())),
        ]
    });
    r.decided("aclrtStreamAbort#05", |_| acl!(aclrtStreamAbort(Stream::with(0, ACL_STREAM_PERSISTENT).h())));
    r.row("aclrtStreamAbort#06", |_| {
        ok!(aclrtStreamAbort(null_mut()));
        code!(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(null_mut()));
    });
    r.row("aclrtStreamStop#01", |_| acl!(aclrtStreamStop(null_mut())));
    r.decided("aclrtStreamStop#02", |_| acl!(aclrtStreamStop(null_mut())));
    r.needs("aclrtStreamStop#03", "aclmdlRIBindStream");
    r.row("aclrtStreamStop#04", |_| {
        let stream = Stream::new();
        let gate = held(stream.h());
        let queued = Flag::new();
        queued.after(stream.h());
        ok!(aclrtStreamStop(stream.h()));
        gate.open();
        stream.wait();
        assert!(queued.is(), "kept");
    });
}

fn facts(r: &mut Rows) {
    r.row("aclrtStreamGetId#01", |_| acl!(aclrtStreamGetId(Stream::new().h(), null_mut())));
    r.row("aclrtStreamGetId#02", |_| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        let id = |stream| get!(-1, aclrtStreamGetId(stream));
        assert_eq!(id(null_mut()), id(default));
        assert_ne!(id(null_mut()), id(Stream::new().h()));
    });
    r.row("aclrtGetStreamAvailableNum#01", |_| acl!(aclrtGetStreamAvailableNum(null_mut())));
    r.row("aclrtStreamGetPriority#01", |_| acl!(aclrtStreamGetPriority(Stream::new().h(), null_mut())));
    r.row("aclrtStreamGetPriority#02", |_| assert_eq!(priority(null_mut()), 0));
    r.row("aclrtStreamGetPriority#03", |_| {
        assert_eq!([2, 99, u32::MAX].map(|given| priority(Stream::with(given, 0).h())), [2, 7, 0]);
    });
    r.row("aclrtStreamGetFlags#01", |_| acl!(aclrtStreamGetFlags(Stream::new().h(), null_mut())));
    r.row("aclrtStreamGetFlags#02", |_| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        assert_eq!(flags_of(null_mut()), flags_of(default));
    });
    r.row("aclrtStreamGetFlags#03", |_| {
        let both = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
        assert_eq!(flags_of(Stream::with(0, both).h()), both);
        assert_eq!((flags_of(Stream::with(0, 0).h()), flags_of(Stream::new().h())), (0, 0));
    })
    .only(knows("FAST_LAUNCH"));
    r.decided("aclrtStreamGetFlags#04", |_| {
        let mut flags = 99;
        let code = acl!(aclrtStreamGetFlags(null_mut(), &mut flags));
        assert_eq!(flags, 0);
        code
    });
}

fn set(stream: aclrtStream, kind: aclrtStreamAttr, mut value: aclrtStreamAttrValue) -> i32 {
    acl!(aclrtSetStreamAttribute(stream, kind, &mut value))
}

fn read(stream: aclrtStream, kind: aclrtStreamAttr) -> aclrtStreamAttrValue {
    let mut value = aclrtStreamAttrValue { reserve: [99, 0, 0, 0] };
    ok!(aclrtGetStreamAttribute(stream, kind, &mut value));
    value
}

fn ask(stream: aclrtStream, kind: aclrtStreamAttr) -> i32 {
    acl!(aclrtGetStreamAttribute(stream, kind, &mut aclrtStreamAttrValue { reserve: [0; 4] }))
}

fn number(value: u32) -> aclrtStreamAttrValue {
    aclrtStreamAttrValue { reserve: [value, 0, 0, 0] }
}

/// Attributes that are kept and read back.
const KEPT: [aclrtStreamAttr; 3] =
    [ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, ACL_STREAM_ATTR_USER_CUSTOM_TAG, ACL_STREAM_ATTR_CACHE_OP_INFO];

fn attributes(r: &mut Rows) {
    r.row("aclrtSetStreamAttribute#01", |_| {
        acl!(aclrtSetStreamAttribute(Stream::new().h(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, null_mut()))
    });
    r.row("aclrtGetStreamAttribute#01", |_| {
        acl!(aclrtGetStreamAttribute(Stream::new().h(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, null_mut()))
    });
    r.row("aclrtSetStreamAttribute#02", |_| {
        [0, 6, u32::MAX].map(|kind| set(Stream::new().h(), kind, number(0)))
    });
    r.row("aclrtGetStreamAttribute#02", |_| [0, 6, u32::MAX].map(|kind| ask(Stream::new().h(), kind)));
    r.row("aclrtSetStreamAttribute#03", |_| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        for kind in KEPT {
            same_code("the attribute", set(null_mut(), kind, number(1)), 0);
            assert_eq!(unsafe { read(default, kind).reserve[0] }, 1);
        }
    });
    r.row("aclrtGetStreamAttribute#03", |_| {
        for kind in [KEPT[0], KEPT[1], KEPT[2], ACL_STREAM_ATTR_FAILURE_MODE] {
            assert_eq!(unsafe { read(null_mut(), kind).reserve[0] }, 0);
        }
    });
    r.decided("aclrtSetStreamAttribute#04", |_| KEPT.map(|kind| set(null_mut(), kind, number(1))));
    r.decided("aclrtGetStreamAttribute#04", |_| KEPT.map(|kind| ask(null_mut(), kind)));
    r.row("aclrtSetStreamAttribute#05", |_| set(null_mut(), ACL_STREAM_ATTR_PRIORITY, number(1)));
    r.row("aclrtGetStreamAttribute#05", |_| ask(null_mut(), ACL_STREAM_ATTR_PRIORITY));
    let priorities = |_: &Test<'_>| {
        let stream = Stream::with(3, 0);
        assert_eq!(unsafe { read(stream.h(), ACL_STREAM_ATTR_PRIORITY).streamPriority }, 3);
        for wanted in [0, 7, 4] {
            same_code("the priority", set(stream.h(), ACL_STREAM_ATTR_PRIORITY, number(wanted)), 0);
            assert_eq!(unsafe { read(stream.h(), ACL_STREAM_ATTR_PRIORITY).streamPriority }, wanted);
            assert_eq!(priority(stream.h()), wanted);
        }
    };
    r.row("aclrtSetStreamAttribute#06", priorities);
    r.row("aclrtGetStreamAttribute#06", priorities);
    r.decided("aclrtSetStreamAttribute#07", |_| set(Stream::new().h(), ACL_STREAM_ATTR_PRIORITY, number(1)));
    r.decided("aclrtGetStreamAttribute#07", |_| ask(Stream::new().h(), ACL_STREAM_ATTR_PRIORITY));
    r.hardware(
        "aclrtSetStreamAttribute#08",
        "no computation of this runtime overflows, so no task can show it",
    );
    r.decided("aclrtSetStreamAttribute#09", |_| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        let stop = aclrtStreamAttrValue { failureMode: STOP };
        [null_mut(), default].map(|stream| set(stream, ACL_STREAM_ATTR_FAILURE_MODE, stop))
    });
    r.row("aclrtSetStreamAttribute#11", |_| {
        let stream = Stream::new();
        [2, u32::MAX].map(|flag| set(stream.h(), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, number(flag)))
    });
    r.row("aclrtSetStreamAttribute#12", move |t| {
        assert_eq!(unsafe { read(Stream::new().h(), ACL_STREAM_ATTR_PRIORITY).streamPriority }, 0);
        priorities(t);
    });
    r.row("aclrtSetStreamAttribute#13", |_| {
        let stream = Stream::new();
        for (given, wanted) in [(8, 7), (1 << 30, 7), (u32::MAX, 0)] {
            same_code("the priority", set(stream.h(), ACL_STREAM_ATTR_PRIORITY, number(given)), 0);
            assert_eq!(priority(stream.h()), wanted);
        }
    });
    r.row("aclrtSetStreamAttribute#14", |t| {
        assert!(!t.supports("aclrtSetStreamOverflowSwitch"));
        let stream = Stream::new();
        [ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, ACL_STREAM_ATTR_USER_CUSTOM_TAG]
            .map(|kind| set(stream.h(), kind, number(1)))
    })
    .only(|target| !target.product.has("failure_mode_default_stream"));
}

/// What a listener was told: stream, state, argument.
static TOLD: Mutex<Vec<(usize, aclrtStreamState, usize)>> = Mutex::new(Vec::new());

unsafe extern "C" fn told(stream: aclrtStream, state: aclrtStreamState, args: *mut c_void) {
    if let Ok(mut list) = TOLD.lock() {
        list.push((stream as usize, state, args as usize));
    }
}

fn all_told() -> Vec<(usize, aclrtStreamState, usize)> {
    TOLD.lock().map(|mut list| std::mem::take(&mut *list)).unwrap_or_default()
}

fn listeners(r: &mut Rows) {
    let register =
        |name: *const std::ffi::c_char, callback| acl!(aclrtRegStreamStateCallback(name, callback, at(0x77)));
    r.row("aclrtRegStreamStateCallback#01", move |_| register(null(), Some(told)));
    r.decided("aclrtRegStreamStateCallback#02", move |_| {
        assert_eq!(register(c"one".as_ptr(), Some(told)), 0);
        register(c"one".as_ptr(), Some(told))
    })
    .alone();
    r.row("aclrtRegStreamStateCallback#03", move |_| {
        assert_eq!(register(c"one".as_ptr(), Some(told)), 0);
        assert_eq!(register(c"one".as_ptr(), None), 0);
        Stream::new();
        assert_eq!(all_told(), []);
        assert_eq!(register(c"one".as_ptr(), Some(told)), 0);
        register(c"never".as_ptr(), None)
    })
    .alone_device();
    r.row("aclrtRegStreamStateCallback#04", move |_| {
        assert_eq!(register(c"one".as_ptr(), Some(told)), 0);
        let stream = Stream::new();
        let made = stream.h() as usize;
        assert_eq!(all_told(), [(made, 1, 0x77)]);
        drop(stream);
        assert_eq!(all_told(), [(made, 2, 0x77)]);
        ok!(aclrtSetDevice(1));
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream()) as usize;
        assert_eq!(all_told(), [(default, 1, 0x77)]);
        ok!(aclrtResetDevice(1));
        assert_eq!(all_told(), [(default, 2, 0x77)]);
    })
    .alone_device();
    r.decided("aclrtRegStreamStateCallback#05", move |_| register(c"".as_ptr(), Some(told)));
}

fn persistent(r: &mut Rows) {
    let clean = |stream| acl!(aclrtPersistentTaskClean(stream));
    r.decided("aclrtPersistentTaskClean#01", move |_| clean(Stream::new().h()));
    r.row("aclrtPersistentTaskClean#02", move |_| {
        let other = Context::new(0);
        let stream = other.enter(|| Stream::with(0, ACL_STREAM_PERSISTENT));
        clean(stream.h())
    });
}
