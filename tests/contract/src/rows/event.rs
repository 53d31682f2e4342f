//! Chapter 07: creation, records, waits of streams. Queries and times: `event_query.rs`.

use super::prelude::*;
use crate::kit::same as same_code;
use crate::target::Target;

pub fn rows(r: &mut Rows) {
    creation(r);
    flags(r);
    extended(r);
    destroy(r);
    record(r);
    record_with_flag(r);
    reset(r);
    wait(r);
    wait_with_flag(r);
    wait_with_timeout(r);
}

type Create = fn(*mut aclrtEvent) -> i32;

const PLAIN: Create = |event| acl!(aclrtCreateEvent(event));
const FLAGGED: Create = |event| acl!(aclrtCreateEventWithFlag(event, ACL_EVENT_SYNC));
const EXTENDED: Create = |event| acl!(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC));

/// Targets whose product knows an event flag.
fn knows(flag: &'static str) -> impl Fn(&Target) -> bool {
    move |target| target.product.list("event_flags").any(|known| known == flag)
}

/// Creates until it is refused: the code, after as many as the product has.
fn exhausted(t: &Test<'_>, create: Create) -> i32 {
    let available = get!(0, aclrtGetEventAvailNum());
    assert_eq!(u64::from(available), t.number("max_events"));
    let mut events = Vec::new();
    let code = loop {
        let mut event = null_mut();
        match create(&mut event) {
            0 => events.push(Event::own(event)),
            code => break code,
        }
    };
    assert_eq!(events.len() as u64, t.number("max_events"));
    assert_eq!(get!(9, aclrtGetEventAvailNum()), 0);
    // One that goes makes room for another one.
    events.pop();
    let mut event = null_mut();
    same_code("one more", create(&mut event), 0);
    drop(Event::own(event));
    code
}

fn creation(r: &mut Rows) {
    r.row("aclrtCreateEvent#01", |_| PLAIN(null_mut()));
    r.row("aclrtCreateEventWithFlag#01", |_| FLAGGED(null_mut()));
    r.row("aclrtCreateEventExWithFlag#01", |_| EXTENDED(null_mut()));
    for id in ["aclrtCreateEvent#02", "aclrtCreateEvent#03", "aclrtCreateEvent#04"] {
        r.row(id, |t| exhausted(t, PLAIN));
    }
    for id in ["aclrtCreateEventWithFlag#02", "aclrtCreateEventWithFlag#03", "aclrtCreateEventWithFlag#04"] {
        r.row(id, |t| exhausted(t, FLAGGED));
    }
    let unbounded = |t: &Test<'_>| {
        let mut events = Vec::new();
        for _ in 0..t.number("max_events") + 2 {
            events.push(Event::ex(ACL_EVENT_SYNC));
        }
        drop(events);
    };
    for id in
        ["aclrtCreateEventExWithFlag#02", "aclrtCreateEventExWithFlag#03", "aclrtCreateEventExWithFlag#04"]
    {
        r.decided(id, unbounded);
    }
    r.row("aclrtCreateEventExWithFlag#17", unbounded);
    r.row("aclrtCreateEvent#05", |_| PLAIN(&mut null_mut())).bare();
    r.row("aclrtCreateEventWithFlag#05", |_| FLAGGED(&mut null_mut())).bare();
    r.row("aclrtCreateEventExWithFlag#05", |_| EXTENDED(&mut null_mut())).bare();
    r.decided("aclrtCreateEvent#06", |_| plain_reset());
    let records = |event: Event| {
        let stream = Stream::new();
        for _ in 0..1000 {
            ok!(aclrtRecordEvent(event.h(), stream.h()));
        }
        ok!(aclrtSynchronizeEvent(event.h()));
        assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    };
    r.row("aclrtCreateEvent#07", move |_| records(Event::new()));
    r.row("aclrtCreateEventExWithFlag#06", move |_| records(Event::ex(ACL_EVENT_SYNC)));
}

/// The code of a creation; what it made is destroyed.
fn only_code(create: impl FnOnce(*mut aclrtEvent) -> i32) -> i32 {
    let mut event = null_mut();
    let code = create(&mut event);
    if code == 0 {
        drop(Event::own(event));
    }
    code
}

fn with_flag(flag: u32) -> i32 {
    only_code(|event| acl!(aclrtCreateEventWithFlag(event, flag)))
}

fn flags(r: &mut Rows) {
    const ALONE: [u32; 2] = [ACL_EVENT_EXTERNAL, ACL_EVENT_DEVICE_USE_ONLY];
    r.row("aclrtCreateEventWithFlag#06", |_| [0, 0x4, ACL_EVENT_IPC, 0x80, u32::MAX].map(with_flag));
    r.row("aclrtCreateEventWithFlag#07", |_| ALONE.map(|flag| with_flag(flag | ACL_EVENT_SYNC)));
    r.decided("aclrtCreateEventWithFlag#08", |_| with_flag(ACL_EVENT_EXTERNAL | ACL_EVENT_TIME_LINE));
    r.row("aclrtCreateEventWithFlag#09", |t| {
        let named = [
            ("TIME_LINE", ACL_EVENT_TIME_LINE),
            ("SYNC", ACL_EVENT_SYNC),
            ("CAPTURE_STREAM_PROGRESS", ACL_EVENT_CAPTURE_STREAM_PROGRESS),
            ("EXTERNAL", ACL_EVENT_EXTERNAL),
            ("DEVICE_USE_ONLY", ACL_EVENT_DEVICE_USE_ONLY),
        ];
        // Those that the product has; each alone, and the first ones together.
        let known: Vec<u32> =
            named.iter().filter(|(name, _)| knows(name)(t.target)).map(|(_, flag)| *flag).collect();
        assert!(known.len() >= 2);
        let mut codes: Vec<i32> = known.iter().map(|flag| with_flag(*flag)).collect();
        codes.push(with_flag(ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
        codes
    });
    r.row("aclrtCreateEventWithFlag#10", |_| with_flag(ACL_EVENT_DEVICE_USE_ONLY))
        .except("200-300-500", "products.csv gives it fewer flags (ours)");
    r.decided("aclrtCreateEventWithFlag#11", |_| with_flag(ACL_EVENT_DEVICE_USE_ONLY));
    r.decided("aclrtCreateEventWithFlag#12", |_| {
        let (event, stream) = (Event::with(ACL_EVENT_TIME_LINE), Stream::new());
        ok!(aclrtRecordEvent(event.h(), stream.h()));
        [acl!(aclrtResetEvent(event.h(), stream.h())), acl!(aclrtStreamWaitEvent(stream.h(), event.h()))]
    });
    r.decided("aclrtCreateEventWithFlag#13", |t| {
        let mut events = Vec::new();
        let code = loop {
            let mut event = null_mut();
            match FLAGGED(&mut event) {
                0 => events.push(Event::own(event)),
                code => break code,
            }
        };
        assert_eq!(events.len() as u64, t.number("max_events"));
        code
    });
}

fn ex(flag: u32) -> i32 {
    only_code(|event| acl!(aclrtCreateEventExWithFlag(event, flag)))
}

fn recorded(event: aclrtEvent) -> aclrtEventRecordedStatus {
    get!(99, aclrtQueryEventStatus(event))
}

fn extended(r: &mut Rows) {
    r.row("aclrtCreateEventExWithFlag#07", |_| {
        assert_eq!([ex(ACL_EVENT_SYNC), ex(ACL_EVENT_SYNC | 0x4), ex(ACL_EVENT_TIME_LINE)], [0; 3]);
        [0, ACL_EVENT_EXTERNAL, ACL_EVENT_DEVICE_USE_ONLY, 0x80, u32::MAX].map(ex)
    });
    let joined = |_: &Test<'_>| [ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE].map(|flag| ex(ACL_EVENT_IPC | flag));
    r.row("aclrtCreateEventExWithFlag#08", joined);
    r.decided("aclrtCreateEventExWithFlag#09", joined);
    r.row("aclrtCreateEventExWithFlag#10", |_| ex(ACL_EVENT_IPC)).only(|target| !knows("IPC")(target));
    r.decided("aclrtCreateEventExWithFlag#11", |_| ex(ACL_EVENT_IPC));
    r.needs("aclrtCreateEventExWithFlag#12", "aclrtIpcGetEventHandle");
    r.needs("aclrtCreateEvent<cpp>#05", "aclrtIpcGetEventHandle");
    let refused = |_: &Test<'_>| {
        let (event, stream) = (Event::ex(ACL_EVENT_SYNC), Stream::new());
        ok!(aclrtRecordEvent(event.h(), stream.h()));
        [
            acl!(aclrtResetEvent(event.h(), stream.h())),
            acl!(aclrtQueryEvent(event.h(), &mut 0)),
            acl!(aclrtQueryEventWaitStatus(event.h(), &mut 0)),
        ]
    };
    r.row("aclrtCreateEventExWithFlag#13", refused);
    r.decided("aclrtCreateEventExWithFlag#14", refused);
    let unawaited = |_: &Test<'_>| {
        let (event, stream) = (Event::ex(ACL_EVENT_TIME_LINE), Stream::new());
        ok!(aclrtRecordEvent(event.h(), stream.h()));
        acl!(aclrtStreamWaitEvent(stream.h(), event.h()))
    };
    r.row("aclrtCreateEventExWithFlag#15", unawaited);
    r.decided("aclrtCreateEventExWithFlag#16", unawaited);
    let overload = |flag| only_code(|event| unsafe { cpp_create_event(event, flag) });
    r.row("aclrtCreateEvent<cpp>#01", move |_| {
        same_code("the overload", overload(0), ACL_ERROR_RT_PARAM_INVALID);
        calls("aclrtCreateEventExWithFlag");
        same_code("the overload", unsafe { cpp_create_event(null_mut(), 1) }, ACL_ERROR_INVALID_PARAM);
    });
    r.row("aclrtCreateEvent<cpp>#02", |_| header_only("aclrtCreateEvent"));
    r.row("aclrtCreateEvent<cpp>#03", move |_| {
        let both = ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC;
        for flag in [ACL_EVENT_TIME_LINE, ACL_EVENT_SYNC, both] {
            same_code("the overload", overload(flag), 0);
        }
        same_code("the overload", overload(ACL_EVENT_IPC | ACL_EVENT_SYNC), ACL_ERROR_RT_PARAM_INVALID);
    });
    r.decided("aclrtCreateEvent<cpp>#04", move |_| overload(ACL_EVENT_IPC));
}

fn destroy(r: &mut Rows) {
    r.row("aclrtDestroyEvent#01", |_| acl!(aclrtDestroyEvent(null_mut())));
    r.row("aclrtDestroyEvent#02", |_| {
        let (stream, waiting, event) = (Stream::new(), Stream::new(), Event::new());
        let gate = held(stream.h());
        let (first, second) = (Flag::new(), Flag::new());
        first.after(stream.h());
        ok!(aclrtRecordEvent(event.h(), stream.h()));
        ok!(aclrtStreamWaitEvent(waiting.h(), event.h()));
        let both = (first.clone(), second.clone());
        launch(waiting.h(), move || {
            if both.0.is() {
                both.1.set();
            }
        });
        ok!(aclrtDestroyEvent(event.h()));
        assert!(!first.is(), "it came back at once");
        gate.open();
        waiting.wait();
        assert!(second.is(), "the wait holds all the same");
    });
    r.hardware("aclrtDestroyEvent#03", "a ban on what other threads do, with no outcome");
}

/// Records on a held stream: the status before and after it goes on.
fn record_in_order(event: aclrtEvent, record: impl Fn(aclrtStream) -> i32) {
    let stream = Stream::new();
    let gate = held(stream.h());
    same_code("the record", record(stream.h()), 0);
    assert_eq!(recorded(event), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    gate.open();
    stream.wait();
    assert_eq!(recorded(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

type Record = fn(aclrtEvent, aclrtStream) -> i32;

fn record(r: &mut Rows) {
    let plain: Record = |event, stream| acl!(aclrtRecordEvent(event, stream));
    let flagged: Record =
        |event, stream| acl!(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_DEFAULT));
    let null_stream = |record: Record| {
        let event = Event::new();
        let gate = Gate::new();
        gate.hold(null_mut());
        same_code("the record", record(event.h(), null_mut()), 0);
        assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
        gate.open();
        ok!(aclrtSynchronizeEvent(event.h()));
    };
    let foreign = |record: Record| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        record(Event::new().h(), stream.h())
    };
    let device_only = |record: Record| record(Event::with(ACL_EVENT_DEVICE_USE_ONLY).h(), Stream::new().h());
    let null_event = |record: Record| record(null_mut(), Stream::new().h());
    let in_order = |record: Record| {
        let event = Event::new();
        record_in_order(event.h(), |stream| record(event.h(), stream));
    };
    r.row("aclrtRecordEvent#01", move |_| null_event(plain));
    r.row("aclrtRecordEventWithFlag#01", move |_| null_event(flagged));
    r.row("aclrtRecordEvent#02", move |_| in_order(plain));
    r.row("aclrtRecordEventWithFlag#02", move |_| in_order(flagged));
    r.row("aclrtRecordEvent#03", move |_| null_stream(plain));
    r.row("aclrtRecordEventWithFlag#03", move |_| null_stream(flagged));
    r.row("aclrtRecordEvent#04", move |_| foreign(plain));
    r.row("aclrtRecordEventWithFlag#04", move |_| foreign(flagged));
    r.row("aclrtRecordEvent#05", move |_| device_only(plain)).only(knows("DEVICE_USE_ONLY"));
    r.row("aclrtRecordEventWithFlag#05", move |_| device_only(flagged)).only(knows("DEVICE_USE_ONLY"));
    r.needs("aclrtRecordEvent#06", "aclmdlRIBindStream");
    r.needs("aclrtRecordEventWithFlag#06", "aclmdlRIBindStream");
    r.row("aclrtRecordEvent#07", |_| {
        let (event, stream) = (Event::new(), Stream::new());
        ok!(aclrtRecordEvent(event.h(), stream.h()));
        // What comes later does not count.
        let gate = held(stream.h());
        ok!(aclrtSynchronizeEvent(event.h()));
        assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
        gate.open();
        stream.wait();
    });
    r.row("aclrtRecordEvent#08", |_| {
        let (event, first, second) = (Event::ex(ACL_EVENT_SYNC), Stream::new(), Stream::new());
        let waiting = Stream::new();
        ok!(aclrtRecordEvent(event.h(), first.h()));
        ok!(aclrtStreamWaitEvent(waiting.h(), event.h()));
        let gate = held(second.h());
        ok!(aclrtRecordEvent(event.h(), second.h()));
        // The wait is for the first set, the query for the second one.
        waiting.wait();
        assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
        gate.open();
        ok!(aclrtSynchronizeEvent(event.h()));
        assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    });
    r.row("aclrtRecordEvent#09", |_| {
        assert_eq!(recorded(Event::ex(ACL_EVENT_SYNC).h()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    });
    r.row("aclrtRecordEventWithFlag#08", move |_| in_order(flagged));
}

fn with_record(event: &Event, flag: u32) -> i32 {
    acl!(aclrtRecordEventWithFlag(event.h(), Stream::new().h(), flag))
}

fn record_with_flag(r: &mut Rows) {
    let external = |_: &Test<'_>| with_record(&Event::ex(ACL_EVENT_SYNC), ACL_EVENT_RECORD_EXTERNAL);
    r.row("aclrtRecordEventWithFlag#07", |_| {
        [2, u32::MAX].map(|flag| with_record(&Event::ex(ACL_EVENT_SYNC), flag))
    });
    r.row("aclrtRecordEventWithFlag#09", external);
    r.decided("aclrtRecordEventWithFlag#10", external);
    r.needs("aclrtRecordEventWithFlag#11", "aclmdlRICaptureBegin");
    r.needs("aclrtRecordEventWithFlag#12", "aclmdlRICaptureBegin");
    r.row("aclrtRecordEventWithFlag#13", |_| {
        let event = Event::ex(ACL_EVENT_SYNC);
        assert_eq!(with_record(&event, ACL_EVENT_RECORD_DEFAULT), 0);
        assert_eq!(with_record(&event, ACL_EVENT_RECORD_DEFAULT), 0);
        // Outside a capture, so that one code or the other is right for EXTERNAL; DEFAULT after it is the plain case.
        let other = Event::ex(ACL_EVENT_SYNC);
        with_record(&other, ACL_EVENT_RECORD_EXTERNAL);
        [with_record(&other, ACL_EVENT_RECORD_DEFAULT), acl!(aclrtRecordEvent(other.h(), Stream::new().h()))]
    });
    r.row("aclrtRecordEventWithFlag#14", |_| {
        let event = Event::ex(ACL_EVENT_SYNC);
        assert_eq!(with_record(&event, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
        assert_eq!(with_record(&event, ACL_EVENT_RECORD_DEFAULT), ACL_ERROR_RT_PARAM_INVALID);
    });
    r.needs("aclrtRecordEventWithFlag#15", "aclmdlRICaptureBegin");
}

/// Resets an event of aclrtCreateEvent after a record and a wait; it takes effect, and the event can be used again.
fn plain_reset() -> i32 {
    let (event, stream) = (Event::new(), Stream::new());
    ok!(aclrtRecordEvent(event.h(), stream.h()));
    ok!(aclrtStreamWaitEvent(stream.h(), event.h()));
    let code = acl!(aclrtResetEvent(event.h(), stream.h()));
    stream.wait();
    assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    ok!(aclrtRecordEvent(event.h(), stream.h()));
    stream.wait();
    assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    code
}

fn reset(r: &mut Rows) {
    let reset = |event: &Event| acl!(aclrtResetEvent(event.h(), Stream::new().h()));
    r.row("aclrtResetEvent#01", |_| acl!(aclrtResetEvent(null_mut(), Stream::new().h())));
    r.decided("aclrtResetEvent#02", move |_| {
        assert_eq!(reset(&Event::with(ACL_EVENT_TIME_LINE)), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        assert_eq!(reset(&Event::ex(ACL_EVENT_SYNC)), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        [reset(&Event::with(ACL_EVENT_SYNC)), plain_reset()]
    });
    r.row("aclrtResetEvent#03", move |_| reset(&Event::ex(ACL_EVENT_SYNC)));
    r.row("aclrtResetEvent#04", move |_| reset(&Event::with(ACL_EVENT_TIME_LINE)));
    r.row("aclrtResetEvent#05", |_| {
        let (event, recorder, waiter) = (Event::with(ACL_EVENT_SYNC), Stream::new(), Stream::new());
        ok!(aclrtRecordEvent(event.h(), recorder.h()));
        recorder.wait();
        ok!(aclrtStreamWaitEvent(waiter.h(), event.h()));
        let gate = held(waiter.h());
        ok!(aclrtResetEvent(event.h(), waiter.h()));
        assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_COMPLETE, "not its turn yet");
        gate.open();
        waiter.wait();
        assert_eq!(recorded(event.h()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    });
    r.decided("aclrtResetEvent#06", |_| {
        // The other streams that wait go on.
        let (event, recorder) = (Event::with(ACL_EVENT_SYNC), Stream::new());
        let (one, two) = (Stream::new(), Stream::new());
        let gate = held(recorder.h());
        ok!(aclrtRecordEvent(event.h(), recorder.h()));
        ok!(aclrtStreamWaitEvent(one.h(), event.h()));
        ok!(aclrtStreamWaitEvent(two.h(), event.h()));
        let code = acl!(aclrtResetEvent(event.h(), one.h()));
        gate.open();
        one.wait();
        two.wait();
        code
    });
    r.row("aclrtResetEvent#07", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        acl!(aclrtResetEvent(Event::with(ACL_EVENT_SYNC).h(), stream.h()))
    });
    r.row("aclrtResetEvent#08", move |_| reset(&Event::with(ACL_EVENT_DEVICE_USE_ONLY)))
        .only(knows("DEVICE_USE_ONLY"));
}

/// A stream waits for an event of another one, which is held: what comes later waits, too.
fn waits(wait: impl Fn(aclrtStream, aclrtEvent) -> i32, streams: &[aclrtStream]) {
    let (recorder, event) = (Stream::new(), Event::new());
    let gate = held(recorder.h());
    let first = Flag::new();
    first.after(recorder.h());
    ok!(aclrtRecordEvent(event.h(), recorder.h()));
    let right = Flag::new();
    for stream in streams {
        same_code("the wait", wait(*stream, event.h()), 0);
        let (first, right) = (first.clone(), right.clone());
        launch(*stream, move || {
            if first.is() {
                right.set();
            }
        });
        let mut status = 99;
        ok!(aclrtStreamQuery(*stream, &mut status));
        assert_eq!(status, ACL_STREAM_STATUS_NOT_READY);
    }
    gate.open();
    streams.iter().for_each(|stream| ok!(aclrtSynchronizeStream(*stream)));
    assert!(right.is(), "went on before what the event holds was done");
}

fn wait(r: &mut Rows) {
    let plain = |stream, event| acl!(aclrtStreamWaitEvent(stream, event));
    r.row("aclrtStreamWaitEvent#01", move |_| plain(Stream::new().h(), null_mut()));
    r.row("aclrtStreamWaitEvent#02", move |_| waits(plain, &[Stream::new().h()]));
    r.row("aclrtStreamWaitEvent#03", move |_| {
        let streams = [Stream::new(), Stream::new(), Stream::new()];
        waits(plain, &streams.each_ref().map(Stream::h));
    });
    r.row("aclrtStreamWaitEvent#04", move |_| waits(plain, &[null_mut()]));
    r.decided("aclrtStreamWaitEvent#05", move |_| {
        ok!(aclrtSetOpWaitTimeout(1));
        let (recorder, event, stream) = (Stream::new(), Event::new(), Stream::new());
        let gate = held(recorder.h());
        ok!(aclrtRecordEvent(event.h(), recorder.h()));
        ok!(aclrtStreamWaitEvent(stream.h(), event.h()));
        // Set back: this wait keeps its bound.
        ok!(aclrtSetOpWaitTimeout(0));
        let code = acl!(aclrtSynchronizeStreamWithTimeout(stream.h(), 15_000));
        gate.open();
        recorder.wait();
        code
    })
    .alone_device()
    .having("aclrtSetOpWaitTimeout");
    r.row("aclrtStreamWaitEvent#06", move |_| plain(Stream::new().h(), Event::with(ACL_EVENT_TIME_LINE).h()));
    r.row("aclrtStreamWaitEvent#07", move |_| {
        plain(Stream::new().h(), Event::with(ACL_EVENT_DEVICE_USE_ONLY).h())
    })
    .only(knows("DEVICE_USE_ONLY"));
    r.row("aclrtStreamWaitEvent#08", move |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        plain(stream.h(), Event::new().h())
    });
    r.row("aclrtSetOpWaitTimeout#01", |_| {
        // Never by default, and again after 0.
        for timeout in [None, Some(5), Some(0)] {
            if let Some(seconds) = timeout {
                ok!(aclrtSetOpWaitTimeout(seconds));
            }
            waits(|stream, event| acl!(aclrtStreamWaitEvent(stream, event)), &[Stream::new().h()]);
        }
    })
    .alone_device();
    r.decided("aclrtSetOpWaitTimeout#02", |_| acl!(aclrtSetOpWaitTimeout(1)));
}

fn with_wait(event: &Event, timeout: u32, flag: u32) -> i32 {
    acl!(aclrtStreamWaitEventWithFlag(Stream::new().h(), event.h(), timeout, flag))
}

fn wait_with_flag(r: &mut Rows) {
    const EXTERNAL: u32 = ACL_EVENT_WAIT_EXTERNAL;
    r.row("aclrtStreamWaitEventWithFlag#01", |_| {
        acl!(aclrtStreamWaitEventWithFlag(Stream::new().h(), null_mut(), 0, ACL_EVENT_WAIT_DEFAULT))
    });
    r.row("aclrtStreamWaitEventWithFlag#02", |_| {
        [2, u32::MAX].map(|flag| with_wait(&Event::ex(ACL_EVENT_SYNC), 0, flag))
    });
    r.row("aclrtStreamWaitEventWithFlag#03", |_| with_wait(&Event::ex(ACL_EVENT_SYNC), 5, EXTERNAL));
    r.decided("aclrtStreamWaitEventWithFlag#04", |_| {
        expires(|stream, event| {
            acl!(aclrtStreamWaitEventWithFlag(stream, event, 200, ACL_EVENT_WAIT_DEFAULT))
        });
    });
    r.row("aclrtStreamWaitEventWithFlag#05", |_| with_wait(&Event::ex(ACL_EVENT_SYNC), 0, EXTERNAL));
    r.needs("aclrtStreamWaitEventWithFlag#06", "aclmdlRICaptureBegin");
    r.row("aclrtStreamWaitEventWithFlag#07", |_| {
        let event = Event::ex(ACL_EVENT_SYNC);
        with_wait(&event, 0, EXTERNAL);
        [
            with_wait(&event, 0, ACL_EVENT_WAIT_DEFAULT),
            acl!(aclrtStreamWaitEvent(Stream::new().h(), event.h())),
        ]
    });
    r.needs("aclrtStreamWaitEventWithFlag#08", "aclmdlRICaptureBegin");
    r.needs("aclrtStreamWaitEventWithFlag#09", "aclmdlRICaptureBegin");
}

/// A wait of 200 milliseconds ends while what it is for is held; in seconds it would outlast the row.
fn expires(wait: impl Fn(aclrtStream, aclrtEvent) -> i32) -> i32 {
    let (recorder, event, stream) = (Stream::new(), Event::new(), Stream::new());
    let gate = held(recorder.h());
    ok!(aclrtRecordEvent(event.h(), recorder.h()));
    same_code("the wait", wait(stream.h(), event.h()), 0);
    let code = acl!(aclrtSynchronizeStreamWithTimeout(stream.h(), 15_000));
    gate.open();
    recorder.wait();
    same_code("the stream", code, ACL_ERROR_RT_WAIT_TIMEOUT);
    code
}

fn wait_with_timeout(r: &mut Rows) {
    let plain = |stream, event, timeout| acl!(aclrtStreamWaitEventWithTimeout(stream, event, timeout));
    let overload = |stream, event, timeout| unsafe { cpp_stream_wait_event(stream, event, timeout) };
    r.row("aclrtStreamWaitEventWithTimeout#01", move |_| {
        [-1, i32::MIN].map(|timeout| plain(Stream::new().h(), null_mut(), timeout))
    });
    r.decided("aclrtStreamWaitEventWithTimeout#02", move |_| {
        waits(|stream, event| plain(stream, event, 0), &[Stream::new().h()]);
        expires(|stream, event| plain(stream, event, 200));
    });
    r.row("aclrtStreamWaitEventWithTimeout#03", move |_| plain(Stream::new().h(), null_mut(), 0));
    r.decided("aclrtStreamWaitEventWithTimeout#04", move |_| {
        expires(|stream, event| plain(stream, event, 200))
    });
    r.decided("aclrtStreamWaitEventWithTimeout#05", move |_| {
        expires(|stream, event| plain(stream, event, 200));
    });
    r.row("aclrtStreamWaitEvent<cpp>#01", move |_| {
        same_code("the overload", overload(Stream::new().h(), null_mut(), -1), ACL_ERROR_RT_PARAM_INVALID);
        calls("aclrtStreamWaitEventWithTimeout");
    });
    r.row("aclrtStreamWaitEvent<cpp>#02", |_| header_only("aclrtStreamWaitEvent"));
    for id in ["aclrtStreamWaitEvent<cpp>#03", "aclrtStreamWaitEvent<cpp>#04"] {
        r.decided(id, move |_| {
            waits(|stream, event| overload(stream, event, 0), &[Stream::new().h()]);
            expires(|stream, event| overload(stream, event, 200));
        });
    }
}
