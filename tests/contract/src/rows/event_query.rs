//! Chapter 07: what can be asked about events, and host threads that wait for them.

use super::prelude::*;
use crate::kit::same as same_code;
use crate::target::Target;

pub fn rows(r: &mut Rows) {
    query(r);
    synchronize(r);
    timeouts(r);
    elapsed(r);
    timestamp(r);
    numbers(r);
}

/// Targets whose product has EXTERNAL events.
fn external_exists(target: &Target) -> bool {
    target.product.list("event_flags").any(|flag| flag == "EXTERNAL")
}

fn external() -> Event {
    Event::with(ACL_EVENT_EXTERNAL)
}

/// An event recorded behind a gate.
fn pending() -> (Stream, Event, Gate) {
    let (stream, event) = (Stream::new(), Event::new());
    let gate = held(stream.h());
    ok!(aclrtRecordEvent(event.h(), stream.h()));
    (stream, event, gate)
}

/// An event that is done.
fn done() -> Event {
    let (stream, event) = (Stream::new(), Event::new());
    ok!(aclrtRecordEvent(event.h(), stream.h()));
    stream.wait();
    event
}

fn query(r: &mut Rows) {
    r.row("aclrtQueryEvent#01", |_| acl!(aclrtQueryEvent(null_mut(), &mut 0)));
    r.row("aclrtQueryEvent#02", |_| acl!(aclrtQueryEvent(Event::new().h(), null_mut())));
    let statuses = |_: &Test<'_>| {
        let (stream, event, gate) = pending();
        assert_eq!(get!(99, aclrtQueryEvent(event.h())), ACL_EVENT_STATUS_NOT_READY);
        gate.open();
        stream.wait();
        assert_eq!(get!(99, aclrtQueryEvent(event.h())), ACL_EVENT_STATUS_COMPLETE);
        assert_eq!((ACL_EVENT_STATUS_COMPLETE, ACL_EVENT_STATUS_NOT_READY), (0, 1));
    };
    r.row("aclrtQueryEvent#03", statuses);
    r.decided("aclrtQueryEvent#04", |_| {
        let event = done();
        bare(|| acl!(aclrtQueryEvent(event.h(), &mut 0)))
    });
    r.row("aclrtQueryEvent#05", |_| acl!(aclrtQueryEvent(Event::ex(ACL_EVENT_SYNC).h(), &mut 0)));
    r.row("aclrtQueryEvent#06", |_| acl!(aclrtQueryEvent(external().h(), &mut 0))).only(external_exists);
    r.needs("aclrtQueryEvent#07", "aclmdlRICaptureBegin");
    r.row("aclrtQueryEvent#08", statuses);
    r.row("aclrtQueryEventStatus#01", |_| acl!(aclrtQueryEventStatus(null_mut(), &mut 0)));
    r.row("aclrtQueryEventStatus#02", |_| acl!(aclrtQueryEventStatus(Event::new().h(), null_mut())));
    let recorded = |_: &Test<'_>| {
        let (stream, event, gate) = pending();
        assert_eq!(get!(99, aclrtQueryEventStatus(event.h())), ACL_EVENT_RECORDED_STATUS_NOT_READY);
        gate.open();
        stream.wait();
        assert_eq!(get!(99, aclrtQueryEventStatus(event.h())), ACL_EVENT_RECORDED_STATUS_COMPLETE);
        assert_eq!((ACL_EVENT_RECORDED_STATUS_COMPLETE, ACL_EVENT_RECORDED_STATUS_NOT_READY), (1, 0));
    };
    r.row("aclrtQueryEventStatus#03", recorded);
    r.row("aclrtQueryEventStatus#04", recorded);
    r.decided("aclrtQueryEventStatus#05", |_| {
        // The caller's own order holds: recorded by one thread, then asked by another one.
        let (stream, event, gate) = pending();
        let mut status = 99;
        let code = bare(|| acl!(aclrtQueryEventStatus(event.h(), &mut status)));
        assert_eq!(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
        gate.open();
        stream.wait();
        code
    });
    r.row("aclrtQueryEventStatus#06", |_| acl!(aclrtQueryEventStatus(external().h(), &mut 0)))
        .only(external_exists);
    r.needs("aclrtQueryEventStatus#07", "aclmdlRICaptureBegin");
    let extended = |_: &Test<'_>| acl!(aclrtQueryEventWaitStatus(Event::ex(ACL_EVENT_SYNC).h(), &mut 0));
    r.row("aclrtQueryEventWaitStatus#01", |_| acl!(aclrtQueryEventWaitStatus(null_mut(), &mut 0)));
    r.row("aclrtQueryEventWaitStatus#02", |_| acl!(aclrtQueryEventWaitStatus(Event::new().h(), null_mut())));
    r.row("aclrtQueryEventWaitStatus#03", extended);
    r.decided("aclrtQueryEventWaitStatus#04", extended);
    r.decided("aclrtQueryEventWaitStatus#05", |_| {
        let mut status = 99;
        let code = acl!(aclrtQueryEventWaitStatus(Event::new().h(), &mut status));
        assert_eq!(status, ACL_EVENT_WAIT_STATUS_COMPLETE);
        code
    });
    r.row("aclrtQueryEventWaitStatus#06", |_| {
        let (stream, event, gate) = pending();
        let waiting = Stream::new();
        ok!(aclrtStreamWaitEvent(waiting.h(), event.h()));
        assert_eq!(get!(99, aclrtQueryEventWaitStatus(event.h())), ACL_EVENT_WAIT_STATUS_NOT_READY);
        gate.open();
        waiting.wait();
        assert_eq!(get!(99, aclrtQueryEventWaitStatus(event.h())), ACL_EVENT_WAIT_STATUS_COMPLETE);
        assert_eq!((ACL_EVENT_WAIT_STATUS_COMPLETE, ACL_EVENT_WAIT_STATUS_NOT_READY), (0, 1));
        stream.wait();
    });
}

fn synchronize(r: &mut Rows) {
    r.row("aclrtSynchronizeEvent#01", |_| acl!(aclrtSynchronizeEvent(null_mut())));
    r.row("aclrtSynchronizeEvent#02", |_| {
        let (stream, event) = (Stream::new(), Event::new());
        let recorded = || ok!(aclrtRecordEvent(event.h(), stream.h()));
        awaits(stream.h(), recorded, || ok!(aclrtSynchronizeEvent(event.h())));
    });
    r.row("aclrtSynchronizeEvent#03", |_| acl!(aclrtSynchronizeEvent(external().h()))).only(external_exists);
    r.needs("aclrtSynchronizeEvent#04", "aclmdlRICaptureBegin");
    r.needs("aclrtSynchronizeEvent#05", "aclmdlRIBindStream");
}

type Wait = fn(aclrtEvent, i32) -> i32;

fn timeouts(r: &mut Rows) {
    let plain: Wait = |event, timeout| acl!(aclrtSynchronizeEventWithTimeout(event, timeout));
    let overload: Wait = |event, timeout| unsafe { cpp_synchronize_event(event, timeout) };
    let both = |wait: Wait| {
        let (stream, event) = (Stream::new(), Event::new());
        for timeout in [-1, 20_000] {
            let recorded = || ok!(aclrtRecordEvent(event.h(), stream.h()));
            awaits(stream.h(), recorded, || same_code("the wait", wait(event.h(), timeout), 0));
        }
    };
    let expired = |wait: Wait| {
        let (stream, event, gate) = pending();
        let code = wait(event.h(), 5);
        gate.open();
        stream.wait();
        code
    };
    r.row("aclrtSynchronizeEventWithTimeout#01", move |_| both(plain));
    r.row("aclrtSynchronizeEventWithTimeout#02", move |_| {
        [plain(null_mut(), -2), plain(done().h(), i32::MIN)]
    });
    r.row("aclrtSynchronizeEventWithTimeout#03", move |_| plain(done().h(), 0));
    r.decided("aclrtSynchronizeEventWithTimeout#04", move |_| plain(done().h(), 0));
    r.row("aclrtSynchronizeEventWithTimeout#05", move |_| plain(null_mut(), 5));
    r.row("aclrtSynchronizeEventWithTimeout#06", move |_| expired(plain));
    r.row("aclrtSynchronizeEventWithTimeout#07", move |_| plain(external().h(), 5)).only(external_exists);
    r.needs("aclrtSynchronizeEventWithTimeout#08", "aclmdlRICaptureBegin");
    r.row("aclrtSynchronizeEvent<cpp>#01", move |_| {
        same_code("the overload", overload(null_mut(), -2), ACL_ERROR_RT_PARAM_INVALID);
        calls("aclrtSynchronizeEventWithTimeout");
    });
    r.row("aclrtSynchronizeEvent<cpp>#02", |_| header_only("aclrtSynchronizeEvent"));
    for id in ["aclrtSynchronizeEvent<cpp>#03", "aclrtSynchronizeEvent<cpp>#04"] {
        r.row(id, move |_| {
            both(overload);
            assert_eq!(expired(overload), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
        });
    }
}

fn elapsed_between(start: &Event, end: &Event) -> f32 {
    let mut ms = f32::NAN;
    ok!(aclrtEventElapsedTime(&mut ms, start.h(), end.h()));
    ms
}

fn elapsed(r: &mut Rows) {
    /// Two events of one stream with some time between them.
    fn apart() -> (Event, Event) {
        let (stream, start, end) = (Stream::new(), Event::new(), Event::new());
        ok!(aclrtRecordEvent(start.h(), stream.h()));
        launch(stream.h(), || std::thread::sleep(std::time::Duration::from_millis(3)));
        ok!(aclrtRecordEvent(end.h(), stream.h()));
        stream.wait();
        (start, end)
    }
    let call = |start: aclrtEvent, end: aclrtEvent| acl!(aclrtEventElapsedTime(&mut 0.0, start, end));
    r.row("aclrtEventElapsedTime#01", |_| {
        let event = done();
        acl!(aclrtEventElapsedTime(null_mut(), event.h(), event.h()))
    });
    r.row("aclrtEventElapsedTime#02", move |_| call(null_mut(), done().h()));
    r.row("aclrtEventElapsedTime#03", move |_| call(done().h(), null_mut()));
    r.row("aclrtEventElapsedTime#04", |_| {
        let (start, end) = apart();
        let ms = elapsed_between(&start, &end);
        // The sleep is a lower bound; as seconds or microseconds the number would be far off.
        assert!((3.0..20_000.0).contains(&ms), "{ms}");
    });
    r.row("aclrtEventElapsedTime#05", move |_| {
        let (never, event) = (Event::new(), done());
        [call(never.h(), event.h()), call(event.h(), never.h())]
    });
    r.row("aclrtEventElapsedTime#06", move |_| {
        let (stream, event, gate) = pending();
        let codes = [call(done().h(), event.h()), call(event.h(), done().h())];
        gate.open();
        stream.wait();
        codes
    });
    r.decided("aclrtEventElapsedTime#07", |_| {
        // Of different streams too: both are times of one clock.
        let (start, end) = (done(), done());
        acl!(aclrtEventElapsedTime(&mut 0.0, start.h(), end.h()))
    });
    r.row("aclrtEventElapsedTime#08", move |_| {
        [call(external().h(), done().h()), call(done().h(), external().h())]
    })
    .only(external_exists);
    r.needs("aclrtEventElapsedTime#09", "aclmdlRICaptureBegin");
    r.row("aclrtEventElapsedTime#10", |_| {
        let (start, end) = apart();
        assert!(elapsed_between(&end, &start) < 0.0);
        assert!((elapsed_between(&end, &start) + elapsed_between(&start, &end)).abs() < 0.001);
    });
}

fn timestamp(r: &mut Rows) {
    r.row("aclrtEventGetTimestamp#01", |_| acl!(aclrtEventGetTimestamp(done().h(), null_mut())));
    r.row("aclrtEventGetTimestamp#02", |_| acl!(aclrtEventGetTimestamp(null_mut(), &mut 0)));
    r.row("aclrtEventGetTimestamp#03", |_| {
        let clock = || {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
            time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000
        };
        let before = clock();
        let event = done();
        let stamp = get!(0, aclrtEventGetTimestamp(event.h()));
        assert!((before..=clock()).contains(&stamp), "{stamp} is not between {before} and {}", clock());
    });
    r.row("aclrtEventGetTimestamp#04", |_| acl!(aclrtEventGetTimestamp(external().h(), &mut 0)))
        .only(external_exists);
    r.needs("aclrtEventGetTimestamp#05", "aclmdlRICaptureBegin");
    r.decided("aclrtEventGetTimestamp#06", |_| {
        let (stream, event, gate) = pending();
        let codes = [
            acl!(aclrtEventGetTimestamp(event.h(), &mut 0)),
            acl!(aclrtEventGetTimestamp(Event::new().h(), &mut 0)),
        ];
        gate.open();
        stream.wait();
        codes
    });
}

fn numbers(r: &mut Rows) {
    r.row("aclrtGetEventId#01", |_| acl!(aclrtGetEventId(null_mut(), &mut 0)));
    r.row("aclrtGetEventId#02", |_| acl!(aclrtGetEventId(Event::new().h(), null_mut())));
    r.needs("aclrtGetEventId#03", "aclrtIpcGetEventHandle");
    r.row("aclrtGetEventAvailNum#01", |_| acl!(aclrtGetEventAvailNum(null_mut())));
}
