//! aclrtMemset, aclrtMemsetAsync, aclrtMemsetD32, aclrtMemsetD32Async.

use super::*;

fn now(at: *mut c_void, max: usize, value: i32, count: usize) -> i32 {
    acl!(aclrtMemset(at, max, value, count))
}

/// On the default stream, and done.
fn queued(at: *mut c_void, max: usize, value: i32, count: usize) -> i32 {
    let code = acl!(aclrtMemsetAsync(at, max, value, count, null_mut()));
    if code == 0 {
        ok!(aclrtSynchronizeStream(null_mut()));
    }
    code
}

type Fill = fn(*mut c_void, usize, i32, usize) -> i32;

fn nothing(fill: Fill) -> [i32; 3] {
    [fill(null_mut(), 0, 1, 0), fill(unmapped(), 0, 1, 0), fill(device(64).p(), 64, 1, 0)]
}

fn too_many(fill: Fill) -> [i32; 3] {
    let memory = device_with(&[1; 64]);
    let codes = [(63, 64), (0, 1), (64, usize::MAX)].map(|(max, count)| fill(memory.p(), max, 2, count));
    assert_eq!(memory.get(), [1; 64]);
    codes
}

/// Memory of every place; the bytes behind stay.
fn every_place(fill: Fill) {
    for memory in places(&[1; 64]) {
        same("a fill", fill(memory.p(), 64, 2, 63), 0);
        assert_eq!((&memory.get()[..63], memory.get()[63]), (&[2; 63][..], 1));
    }
}

/// A fill that does not wait for a stream, and is done when it returns.
fn waits_for_nothing() {
    let (stream, memory) = (Stream::new(), device_with(&[1; 64]));
    at_once(stream.h(), || {
        same("a fill", now(memory.p(), 64, 2, 64), 0);
        assert_eq!(memory.get(), [2; 64]);
    });
}

/// A task: nothing happens before its turn.
fn task(memory: &Memory) {
    let stream = Stream::new();
    memory.put(&[1; 64]);
    at_once(stream.h(), || {
        ok!(aclrtMemsetAsync(memory.p(), 64, 0x302, 63, stream.h()));
        assert_eq!(memory.get(), [1; 64]);
    });
    assert_eq!((&memory.get()[..63], memory.get()[63]), (&[2; 63][..], 1));
}

pub fn rows(r: &mut Rows) {
    r.row("aclrtMemset#01", |_| nothing(now));
    r.row("aclrtMemset#02", |_| now(null_mut(), 64, 1, 64));
    r.row("aclrtMemset#03", |_| too_many(now));
    r.row("aclrtMemset#04", |_| {
        let memory = device(64);
        for (value, byte) in [(0x1234, 0x34), (-1, 0xff), (0x100, 0), (i32::MIN + 7, 7)] {
            same("a fill", now(memory.p(), 64, value, 64), 0);
            assert_eq!(memory.get(), [byte; 64]);
        }
    });
    r.row("aclrtMemset#05", |_| every_place(now));
    // ours: filled all the same.
    r.row("aclrtMemset#06", |_| {
        let memory = pageable(64);
        same("memory of the program", now(memory.p(), 64, 3, 64), 0);
        assert_eq!(memory.get(), [3; 64]);
        same("memory that is not there", now(unmapped(), 64, 3, 64), ACL_ERROR_RT_PARAM_INVALID);
    });
    r.row("aclrtMemset#07", |_| waits_for_nothing());
    r.row("aclrtMemset#08", |_| {
        every_place(now);
        waits_for_nothing();
    });
    asynchronous(r);
    words(r);
}

fn asynchronous(r: &mut Rows) {
    r.row("aclrtMemsetAsync#01", |_| nothing(queued));
    r.row("aclrtMemsetAsync#02", |_| queued(null_mut(), 64, 1, 64));
    r.row("aclrtMemsetAsync#03", |_| too_many(queued));
    // ours: filled all the same, when the task executes.
    r.row("aclrtMemsetAsync#04", |_| {
        task(&pageable(64));
        let stream = Stream::new();
        ok!(aclrtMemsetAsync(unmapped(), 64, 3, 64, stream.h()));
        code!(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream.h()));
    });
    r.row("aclrtMemsetAsync#05", |_| [device(64), pinned(64)].iter().for_each(task));
    r.row("aclrtMemsetAsync#06", |_| {
        let memory = device_with(&[1; 64]);
        let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        let code = at_once(stream, || {
            let code = acl!(aclrtMemsetAsync(memory.p(), 64, 2, 64, null_mut()));
            assert_eq!(memory.get(), [1; 64]);
            code
        });
        assert_eq!(memory.get(), [2; 64]);
        code
    });
    r.row("aclrtMemsetAsync#07", |_| {
        let (context, memory) = (Context::new(0), device_with(&[1; 64]));
        let stream = context.enter(Stream::new);
        let code = acl!(aclrtMemsetAsync(memory.p(), 64, 2, 64, stream.h()));
        context.enter(|| stream.wait());
        assert_eq!(memory.get(), [1; 64]);
        code
    });
    r.row("aclrtMemsetAsync#08", |_| [device(64), pinned(64)].iter().for_each(task));
}

/// A fill of words: address, bytes there are, word, number of words.
type Words = fn(*mut c_void, usize, u32, usize) -> i32;

fn words_now(at: *mut c_void, size: usize, value: u32, count: usize) -> i32 {
    acl!(aclrtMemsetD32(at, size, value, count))
}

/// On the default stream, and done.
fn words_queued(at: *mut c_void, size: usize, value: u32, count: usize) -> i32 {
    let code = acl!(aclrtMemsetD32Async(at, size, value, count, null_mut()));
    if code == 0 {
        ok!(aclrtSynchronizeStream(null_mut()));
    }
    code
}

const WORD: u32 = 0x0403_0201;

/// `count` words and `0xee` behind.
fn filled(count: usize) -> Vec<u8> {
    let mut bytes = WORD.to_le_bytes().repeat(count);
    bytes.resize(64, 0xee);
    bytes
}

/// The answers to addresses, sizes and numbers; nothing is filled.
fn refused(fill: Words, asked: &[(usize, usize, usize)]) -> Vec<i32> {
    let memory = device_with(&[0xee; 64]);
    let codes = asked.iter().map(|(offset, size, count)| fill(memory.after(*offset), *size, WORD, *count));
    let codes = codes.collect();
    assert_eq!(memory.get(), [0xee; 64]);
    codes
}

fn of_the_program(fill: Words) -> i32 {
    let memory = pageable_with(&[0xee; 64]);
    let code = fill(memory.p(), 64, WORD, 16);
    assert_eq!(memory.get(), [0xee; 64]);
    for memory in [device_with(&[0xee; 64]), pinned_with(&[0xee; 64])] {
        same("its own memory", fill(memory.p(), 64, WORD, 15), 0);
        assert_eq!(memory.get(), filled(15));
    }
    code
}

/// The rows 01 to 08, which both calls have alike.
macro_rules! common {
    ($r:expr, $name:ident, $call:expr) => {{
        let r: &mut Rows = $r;
        let call: Words = $call;
        r.row(concat!(stringify!($name), "#01"), move |_| {
            [call(null_mut(), 0, 1, 0), call(at(1), 0, 1, 0), call(pageable(64).p(), 64, 1, 0)]
        });
        r.row(concat!(stringify!($name), "#02"), move |_| call(null_mut(), 64, 1, 16));
        r.row(concat!(stringify!($name), "#03"), move |_| {
            refused(call, &[(1, 60, 1), (2, 60, 1), (3, 60, 15)])
        });
        r.row(concat!(stringify!($name), "#04"), move |_| {
            refused(call, &[(0, 63, 16), (0, 0, 1), (0, 3, 1), (60, 4, 2)])
        });
        r.decided(concat!(stringify!($name), "#05"), move |_| {
            refused(call, &[(0, 64, usize::MAX / 4 + 2), (0, usize::MAX, 1 << 62), (0, 64, usize::MAX)])
        });
        r.row(concat!(stringify!($name), "#06"), move |_| of_the_program(call));
        r.decided(concat!(stringify!($name), "#07"), move |_| of_the_program(call));
        r.row(concat!(stringify!($name), "#08"), move |_| {
            let mut memory = Managed::new(64);
            memory.bytes().fill(0xee);
            let code = call(memory.p(), 64, WORD, 16);
            assert_eq!(memory.bytes(), [0xee; 64]);
            code
        })
        .having("aclrtMemAllocManaged");
    }};
}

fn words(r: &mut Rows) {
    common!(r, aclrtMemsetD32, words_now);
    common!(r, aclrtMemsetD32Async, words_queued);
    r.row("aclrtMemsetD32#09", |_| {
        let (stream, memory) = (Stream::new(), device_with(&[0xee; 64]));
        at_once(stream.h(), || {
            ok!(aclrtMemsetD32(memory.p(), 64, WORD, 7));
            assert_eq!(memory.get(), filled(7));
        });
    });
    r.row("aclrtMemsetD32Async#09", |_| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        let own = Stream::new();
        for (stream, given) in [(own.h(), own.h()), (default, null_mut())] {
            let memory = device_with(&[0xee; 64]);
            at_once(stream, || {
                ok!(aclrtMemsetD32Async(memory.p(), 64, WORD, 7, given));
                assert_eq!(memory.get(), [0xee; 64]);
            });
            assert_eq!(memory.get(), filled(7));
        }
    });
    r.row("aclrtMemsetD32Async#10", |_| {
        let (stream, memory) = (Stream::new(), pinned_with(&[0xee; 64]));
        at_once(stream.h(), || {
            ok!(aclrtMemsetD32Async(memory.p(), 64, WORD, 7, stream.h()));
            assert_eq!(memory.get(), filled(7));
        });
    });
}
