//! Chapters 08 and 09: notifies and counting notifies.

use super::prelude::*;
use crate::kit::same as same_code;
use crate::target::Target;

pub fn rows(r: &mut Rows) {
    creation(r);
    record(r);
    wait(r);
    other(r);
    counting(r);
    count_record(r);
    count_wait(r);
    count_reset(r);
}

/// A notify or a counting one, destroyed at the end.
struct Owned(*mut c_void, fn(*mut c_void) -> i32);

impl Owned {
    fn h(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        (self.1)(self.0);
    }
}

fn create(flag: u64) -> Result<Owned, i32> {
    let mut notify = null_mut();
    match acl!(aclrtCreateNotify(&mut notify, flag)) {
        0 => Ok(Owned(notify, |notify| acl!(aclrtDestroyNotify(notify)))),
        code => Err(code),
    }
}

#[track_caller]
fn notify() -> Owned {
    match create(0) {
        Ok(notify) => notify,
        Err(code) => panic!("aclrtCreateNotify answers {}", name(code)),
    }
}

#[track_caller]
fn stale() -> *mut c_void {
    let notify = notify();
    ok!(aclrtDestroyNotify(notify.h()));
    notify.h()
}

/// What a call answers for everything that is no notify.
#[track_caller]
fn on_no_notifies(call: impl Fn(*mut c_void) -> i32) -> Vec<i32> {
    [stale(), stale_stream(), current(), invented()].map(call).to_vec()
}

/// The code of a creation; what it made is destroyed.
fn code_of(flag: u64) -> i32 {
    create(flag).err().unwrap_or(0)
}

/// Targets whose product has events, and so notifies, that only a device uses.
fn device_only(target: &Target) -> bool {
    target.product.list("event_flags").any(|flag| flag == "DEVICE_USE_ONLY")
}

fn creation(r: &mut Rows) {
    const ONLY: u64 = ACL_NOTIFY_DEVICE_USE_ONLY as u64;
    r.row("aclrtCreateNotify#01", |_| acl!(aclrtCreateNotify(null_mut(), 0)));
    let unknown = |_: &Test<'_>| [2, ONLY | 2, 1 << 32, u64::MAX].map(code_of);
    r.decided("aclrtCreateNotify#02", move |t| {
        assert_eq!((ACL_NOTIFY_DEFAULT, code_of(0)), (0, 0));
        unknown(t)
    });
    r.row("aclrtCreateNotify#03", unknown);
    r.row("aclrtCreateNotify#04", |_| code_of(ONLY)).only(|target| !device_only(target));
    r.row("aclrtCreateNotify#05", |_| code_of(0)).bare();
    for id in ["aclrtCreateNotify#06", "aclrtCreateNotify#07", "aclrtCreateNotify#08", "aclrtCreateNotify#09"] {
        r.row(id, |t| {
            let mut notifies = Vec::new();
            let code = loop {
                match create(0) {
                    Ok(notify) => notifies.push(notify),
                    Err(code) => break code,
                }
            };
            assert_eq!(notifies.len() as u64, t.number("max_notifies"));
            // One that goes makes room for another one.
            notifies.pop();
            drop(notify());
            code
        });
    }
    r.row("aclrtDestroyNotify#01", |_| acl!(aclrtDestroyNotify(null_mut())));
    r.row("aclrtDestroyNotify#02", |_| on_no_notifies(|notify| acl!(aclrtDestroyNotify(notify))));
    r.row("aclrtDestroyNotify#03", |_| {
        let notify = notify();
        bare(|| acl!(aclrtDestroyNotify(notify.h())))
    });
    r.needs("aclrtDestroyNotify#04", "aclrtNotifyImportByKey");
}

fn recorded(notify: &Owned, stream: &Stream) {
    ok!(aclrtRecordNotify(notify.h(), stream.h()));
}

fn awaited(notify: &Owned, stream: &Stream) {
    ok!(aclrtWaitAndResetNotify(notify.h(), stream.h(), 0));
}

/// Whether a stream has gone on. One that has not is given no time to: others have run meanwhile.
fn done(stream: aclrtStream) -> bool {
    get!(99, aclrtStreamQuery(stream)) == ACL_STREAM_STATUS_COMPLETE
}

/// Asserts that `wait` keeps `waiting` until `release` has been done by `recorder`, both in stream order.
fn keeps(waiting: aclrtStream, wait: impl FnOnce(), recorder: &Stream, release: impl FnOnce()) {
    let gate = held(recorder.h());
    let (before, right) = (Flag::new(), Flag::new());
    before.after(recorder.h());
    release();
    wait();
    let (seen, mark) = (before.clone(), right.clone());
    launch(waiting, move || {
        if seen.is() {
            mark.set();
        }
    });
    // Work elsewhere gets done meanwhile.
    let other = Stream::new();
    Flag::new().after(other.h());
    other.wait();
    assert!(!done(waiting), "it did not wait");
    gate.open();
    ok!(aclrtSynchronizeStream(waiting));
    assert!(right.is(), "went on before what was waited for");
    recorder.wait();
}

fn record(r: &mut Rows) {
    let call = |notify: *mut c_void, stream: aclrtStream| acl!(aclrtRecordNotify(notify, stream));
    r.row("aclrtRecordNotify#01", move |_| call(null_mut(), Stream::new().h()));
    r.row("aclrtRecordNotify#02", move |_| {
        let stream = Stream::new();
        on_no_notifies(|notify| call(notify, stream.h()))
    });
    r.row("aclrtRecordNotify#03", move |_| {
        let notify = notify();
        on_no_streams(|stream| call(notify.h(), stream))
    });
    r.row("aclrtRecordNotify#04", move |_| {
        let (notify, stream) = (notify(), Stream::new());
        assert_eq!(call(notify.h(), null_mut()), 0);
        awaited(&notify, &stream);
        stream.wait();
    });
    r.row("aclrtRecordNotify#05", move |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        call(notify().h(), stream.h())
    });
    r.row("aclrtRecordNotify#06", move |_| {
        let notify = notify();
        bare(|| call(notify.h(), null_mut()))
    });
    r.row("aclrtRecordNotify#07", |_| {
        let (notify, waiting, recorder) = (notify(), Stream::new(), Stream::new());
        keeps(waiting.h(), || awaited(&notify, &waiting), &recorder, || recorded(&notify, &recorder));
    });
    r.row("aclrtRecordNotify#08", |_| {
        let (notify, recorder, waiting) = (notify(), Stream::new(), Stream::new());
        (0..3).for_each(|_| recorded(&notify, &recorder));
        recorder.wait();
        // Three records are one: the first wait goes on, the second one does not.
        awaited(&notify, &waiting);
        waiting.wait();
        keeps(waiting.h(), || awaited(&notify, &waiting), &recorder, || recorded(&notify, &recorder));
    });
}

fn wait(r: &mut Rows) {
    let call = |notify: *mut c_void, stream: aclrtStream| acl!(aclrtWaitAndResetNotify(notify, stream, 0));
    r.row("aclrtWaitAndResetNotify#01", move |_| call(null_mut(), Stream::new().h()));
    r.row("aclrtWaitAndResetNotify#02", move |_| {
        let stream = Stream::new();
        on_no_notifies(|notify| call(notify, stream.h()))
    });
    r.row("aclrtWaitAndResetNotify#03", move |_| {
        let notify = notify();
        on_no_streams(|stream| call(notify.h(), stream))
    });
    r.row("aclrtWaitAndResetNotify#04", move |_| {
        let (notify, recorder) = (notify(), Stream::new());
        let wait = || assert_eq!(call(notify.h(), null_mut()), 0);
        keeps(null_mut(), wait, &recorder, || recorded(&notify, &recorder));
    });
    r.row("aclrtWaitAndResetNotify#05", move |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        call(notify().h(), stream.h())
    });
    r.row("aclrtWaitAndResetNotify#06", move |_| {
        let notify = notify();
        bare(|| call(notify.h(), null_mut()))
    });
    r.row("aclrtWaitAndResetNotify#07", |_| {
        let (notify, waiting, recorder) = (notify(), Stream::new(), Stream::new());
        for _ in 0..2 {
            keeps(waiting.h(), || awaited(&notify, &waiting), &recorder, || recorded(&notify, &recorder));
        }
    });
    r.row("aclrtWaitAndResetNotify#08", |_| {
        let (notify, waiting, recorder) = (notify(), Stream::new(), Stream::new());
        for timeout in [0, 20] {
            let gate = held(recorder.h());
            recorded(&notify, &recorder);
            ok!(aclrtWaitAndResetNotify(notify.h(), waiting.h(), timeout));
            // 20 as milliseconds would be over.
            std::thread::sleep(std::time::Duration::from_millis(60));
            gate.open();
            waiting.wait();
        }
    });
    r.decided("aclrtWaitAndResetNotify#09", |_| {
        let (notify, waiting) = (notify(), Stream::new());
        ok!(aclrtWaitAndResetNotify(notify.h(), waiting.h(), 1));
        let later = Flag::new();
        later.after(waiting.h());
        let code = acl!(aclrtSynchronizeStream(waiting.h()));
        assert!(later.is(), "the stream goes on");
        code
    });
    r.needs("aclrtWaitAndResetNotify#10", "aclrtNotifyImportByKey");
}

fn other(r: &mut Rows) {
    r.row("aclrtGetNotifyId#01", |_| acl!(aclrtGetNotifyId(null_mut(), &mut 0)));
    r.row("aclrtGetNotifyId#02", |_| acl!(aclrtGetNotifyId(notify().h(), null_mut())));
    r.row("aclrtGetNotifyId#03", |_| on_no_notifies(|notify| acl!(aclrtGetNotifyId(notify, &mut 0))));
    let reset = |notifies: &mut [*mut c_void]| acl!(aclrtNotifyBatchReset(notifies.as_mut_ptr(), notifies.len()));
    r.row("aclrtNotifyBatchReset#01", |_| [0, 1].map(|num| acl!(aclrtNotifyBatchReset(null_mut(), num))));
    r.row("aclrtNotifyBatchReset#02", move |_| reset(&mut []));
    r.row("aclrtNotifyBatchReset#03", move |_| {
        let notify = notify();
        on_no_notifies(|wrong| reset(&mut [notify.h(), wrong]))
    });
    r.row("aclrtNotifyBatchReset#04", move |_| {
        let notify = notify();
        bare(|| reset(&mut [notify.h()]))
    });
    r.decided("aclrtNotifyBatchReset#05", |_| {
        let (first, second, recorder) = (notify(), notify(), Stream::new());
        recorded(&first, &recorder);
        recorded(&second, &recorder);
        recorder.wait();
        // Of two, the first: the second one is still 1.
        let mut both = [first.h(), second.h()];
        let code = acl!(aclrtNotifyBatchReset(both.as_mut_ptr(), 1));
        let waiting = Stream::new();
        awaited(&second, &waiting);
        waiting.wait();
        keeps(waiting.h(), || awaited(&first, &waiting), &recorder, || recorded(&first, &recorder));
        code
    });
    r.hardware("aclrtNotifyBatchReset#06", "a process here is on no virtual instance");
}

fn create_count(flag: u64) -> Result<Owned, i32> {
    let mut notify = null_mut();
    match acl!(aclrtCntNotifyCreate(&mut notify, flag)) {
        0 => Ok(Owned(notify, |notify| acl!(aclrtCntNotifyDestroy(notify)))),
        code => Err(code),
    }
}

#[track_caller]
fn count() -> Owned {
    match create_count(0) {
        Ok(notify) => notify,
        Err(code) => panic!("aclrtCntNotifyCreate answers {}", name(code)),
    }
}

/// What a call answers for everything that is no counting notify.
#[track_caller]
fn on_no_counts(call: impl Fn(*mut c_void) -> i32) -> Vec<i32> {
    let stale = count();
    ok!(aclrtCntNotifyDestroy(stale.h()));
    let plain = notify();
    [stale.h(), plain.h(), stale_stream(), invented()].map(call).to_vec()
}

const SET: u32 = ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE;
const EQUAL: u32 = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE;

fn write(notify: *mut c_void, stream: aclrtStream, mode: u32, value: u32) -> i32 {
    acl!(aclrtCntNotifyRecord(notify, stream, &mut aclrtCntNotifyRecordInfo { mode, value }))
}

fn wait_info(mode: u32, value: u32) -> aclrtCntNotifyWaitInfo {
    aclrtCntNotifyWaitInfo { mode, value, timeout: 0, isClear: 0, rsv: [0; 3] }
}

fn wait_count(notify: *mut c_void, stream: aclrtStream, mut info: aclrtCntNotifyWaitInfo) -> i32 {
    acl!(aclrtCntNotifyWaitWithTimeout(notify, stream, &mut info))
}

/// Asserts that a count, in a stream that is done, is `value`: a wait for it goes on.
#[track_caller]
fn is(notify: &Owned, value: u32) {
    let stream = Stream::new();
    let info = aclrtCntNotifyWaitInfo { timeout: 5, ..wait_info(EQUAL, value) };
    same_code("the wait", wait_count(notify.h(), stream.h(), info), 0);
    same_code(&format!("a count of {value}"), acl!(aclrtSynchronizeStream(stream.h())), 0);
}

fn counting(r: &mut Rows) {
    r.row("aclrtCntNotifyCreate#01", |_| acl!(aclrtCntNotifyCreate(null_mut(), 0)));
    let flags = |_: &Test<'_>| [1, 2, u64::MAX].map(|flag| create_count(flag).err().unwrap_or(0));
    r.decided("aclrtCntNotifyCreate#02", flags);
    r.row("aclrtCntNotifyCreate#03", flags);
    r.row("aclrtCntNotifyCreate#04", |_| {
        let (notify, stream) = (count(), Stream::new());
        is(&notify, 0);
        for value in [1, 2, u32::MAX] {
            assert_eq!(write(notify.h(), stream.h(), SET, value), 0);
            stream.wait();
            is(&notify, value);
        }
    });
    r.row("aclrtCntNotifyCreate#05", |_| create_count(0).err().unwrap_or(0)).bare();
    r.row("aclrtCntNotifyGetId#01", |_| {
        [acl!(aclrtCntNotifyGetId(null_mut(), &mut 0)), acl!(aclrtCntNotifyGetId(count().h(), null_mut()))]
    });
    r.row("aclrtCntNotifyGetId#02", |_| on_no_counts(|notify| acl!(aclrtCntNotifyGetId(notify, &mut 0))));
    r.row("aclrtCntNotifyDestroy#01", |_| acl!(aclrtCntNotifyDestroy(null_mut())));
    r.row("aclrtCntNotifyDestroy#02", |_| {
        let stale = count();
        ok!(aclrtCntNotifyDestroy(stale.h()));
        [stale.h(), stale_stream(), invented()].map(|notify| acl!(aclrtCntNotifyDestroy(notify)))
    });
}

fn count_record(r: &mut Rows) {
    r.row("aclrtCntNotifyRecord#01", |_| acl!(aclrtCntNotifyRecord(count().h(), Stream::new().h(), null_mut())));
    r.row("aclrtCntNotifyRecord#02", |_| write(null_mut(), Stream::new().h(), SET, 1));
    r.row("aclrtCntNotifyRecord#03", |_| {
        let (notify, stream) = (count(), Stream::new());
        [3, 5, u32::MAX].map(|mode| write(notify.h(), stream.h(), mode, 1))
    });
    r.row("aclrtCntNotifyRecord#04", |_| {
        let (notify, stream) = (count(), Stream::new());
        let steps = [(0, 0b1100, 0b1100), (1, 0b0011, 0b1111), (4, 0b0110, 0b0110), (2, 0b1001, 0b1111), (0, 5, 5)];
        for (mode, value, wanted) in steps {
            same_code("the record", write(notify.h(), stream.h(), mode, value), 0);
            stream.wait();
            is(&notify, wanted);
        }
    });
    r.row("aclrtCntNotifyRecord#05", |_| {
        let (notify, waiting, recorder) = (count(), Stream::new(), Stream::new());
        let wait = || assert_eq!(wait_count(notify.h(), waiting.h(), wait_info(EQUAL, 7)), 0);
        keeps(waiting.h(), wait, &recorder, || assert_eq!(write(notify.h(), recorder.h(), SET, 7), 0));
    });
    r.row("aclrtCntNotifyRecord#06", |_| {
        let notify = count();
        assert_eq!(write(notify.h(), null_mut(), SET, 3), 0);
        ok!(aclrtSynchronizeStream(null_mut()));
        is(&notify, 3);
    });
    r.row("aclrtCntNotifyRecord#07", |_| {
        let stream = Stream::new();
        on_no_counts(|notify| write(notify, stream.h(), SET, 1))
    });
    r.row("aclrtCntNotifyRecord#08", |_| {
        let notify = count();
        on_no_streams(|stream| write(notify.h(), stream, SET, 1))
    });
    r.row("aclrtCntNotifyRecord#09", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        write(count().h(), stream.h(), SET, 1)
    });
}

fn count_wait(r: &mut Rows) {
    r.row("aclrtCntNotifyWaitWithTimeout#01", |_| {
        acl!(aclrtCntNotifyWaitWithTimeout(count().h(), Stream::new().h(), null_mut()))
    });
    r.row("aclrtCntNotifyWaitWithTimeout#02", |_| wait_count(null_mut(), Stream::new().h(), wait_info(EQUAL, 1)));
    r.row("aclrtCntNotifyWaitWithTimeout#03", |_| {
        let (notify, stream) = (count(), Stream::new());
        [5, u32::MAX].map(|mode| wait_count(notify.h(), stream.h(), wait_info(mode, 1)))
    });
    r.row("aclrtCntNotifyWaitWithTimeout#04", |_| {
        // Mode, value, a count that keeps the stream, one that lets it go on.
        for (mode, value, keep, go) in
            [(0, 5, 5, 4), (1, 5, 4, 5), (2, 5, 5, 6), (3, 5, 4, 5), (4, 0b101, 0b110, 0b1101)]
        {
            let (notify, waiting, recorder) = (count(), Stream::new(), Stream::new());
            assert_eq!(write(notify.h(), recorder.h(), SET, keep), 0);
            recorder.wait();
            let wait = || assert_eq!(wait_count(notify.h(), waiting.h(), wait_info(mode, value)), 0);
            keeps(waiting.h(), wait, &recorder, || assert_eq!(write(notify.h(), recorder.h(), SET, go), 0));
        }
    });
    r.row("aclrtCntNotifyWaitWithTimeout#05", |_| {
        let (notify, waiting, recorder) = (count(), Stream::new(), Stream::new());
        for timeout in [0, 20] {
            let gate = held(recorder.h());
            assert_eq!(write(notify.h(), recorder.h(), SET, timeout + 1), 0);
            let info = aclrtCntNotifyWaitInfo { timeout, ..wait_info(EQUAL, timeout + 1) };
            assert_eq!(wait_count(notify.h(), waiting.h(), info), 0);
            // 20 as milliseconds would be over.
            std::thread::sleep(std::time::Duration::from_millis(60));
            gate.open();
            waiting.wait();
        }
    });
    r.row("aclrtCntNotifyWaitWithTimeout#06", |_| {
        for (clear, left) in [(0, 9), (1, 0)] {
            let (notify, stream) = (count(), Stream::new());
            assert_eq!(write(notify.h(), stream.h(), SET, 9), 0);
            let info = aclrtCntNotifyWaitInfo { isClear: clear, ..wait_info(EQUAL, 9) };
            assert_eq!(wait_count(notify.h(), stream.h(), info), 0);
            stream.wait();
            is(&notify, left);
        }
    });
    r.row("aclrtCntNotifyWaitWithTimeout#07", |_| {
        let (notify, waiting, recorder) = (count(), Stream::new(), Stream::new());
        let wait = || assert_eq!(wait_count(notify.h(), waiting.h(), wait_info(EQUAL, 1)), 0);
        keeps(waiting.h(), wait, &recorder, || assert_eq!(write(notify.h(), recorder.h(), SET, 1), 0));
    });
    r.row("aclrtCntNotifyWaitWithTimeout#08", |_| {
        let (notify, recorder) = (count(), Stream::new());
        let wait = || assert_eq!(wait_count(notify.h(), null_mut(), wait_info(EQUAL, 1)), 0);
        keeps(null_mut(), wait, &recorder, || assert_eq!(write(notify.h(), recorder.h(), SET, 1), 0));
    });
    r.row("aclrtCntNotifyWaitWithTimeout#09", |_| {
        let stream = Stream::new();
        on_no_counts(|notify| wait_count(notify, stream.h(), wait_info(EQUAL, 1)))
    });
    r.row("aclrtCntNotifyWaitWithTimeout#10", |_| {
        let notify = count();
        on_no_streams(|stream| wait_count(notify.h(), stream, wait_info(EQUAL, 1)))
    });
    r.row("aclrtCntNotifyWaitWithTimeout#11", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        wait_count(count().h(), stream.h(), wait_info(EQUAL, 1))
    });
}

fn count_reset(r: &mut Rows) {
    let reset = |notify: *mut c_void, stream: aclrtStream| acl!(aclrtCntNotifyReset(notify, stream));
    r.row("aclrtCntNotifyReset#01", move |_| reset(null_mut(), Stream::new().h()));
    r.row("aclrtCntNotifyReset#02", move |_| {
        let (notify, stream) = (count(), Stream::new());
        assert_eq!(write(notify.h(), stream.h(), SET, 9), 0);
        stream.wait();
        let gate = held(stream.h());
        assert_eq!(reset(notify.h(), stream.h()), 0);
        is(&notify, 9);
        gate.open();
        stream.wait();
        is(&notify, 0);
    });
    r.row("aclrtCntNotifyReset#03", move |_| {
        let notify = count();
        assert_eq!(write(notify.h(), null_mut(), SET, 9), 0);
        assert_eq!(reset(notify.h(), null_mut()), 0);
        ok!(aclrtSynchronizeStream(null_mut()));
        is(&notify, 0);
    });
    r.row("aclrtCntNotifyReset#04", move |_| {
        let stream = Stream::new();
        on_no_counts(|notify| reset(notify, stream.h()))
    });
    r.row("aclrtCntNotifyReset#05", move |_| {
        let notify = count();
        on_no_streams(|stream| reset(notify.h(), stream))
    });
}
