//! Chapter 11-09: words of memory that streams write and wait for.

use super::prelude::*;

const GEQ: u32 = ACL_STREAM_WAIT_VALUE_GEQ;
const EQ: u32 = ACL_STREAM_WAIT_VALUE_EQ;
const AND: u32 = ACL_STREAM_WAIT_VALUE_AND;
const NOR: u32 = ACL_STREAM_WAIT_VALUE_NOR;

/// One of the two calls: address, value, flag, stream.
type Call = fn(*mut c_void, u64, u32, aclrtStream) -> i32;

const WRITE: Call = |at, value, flag, stream| acl!(aclrtValueWrite(at, value, flag, stream));
const WAIT: Call = |at, value, flag, stream| acl!(aclrtValueWait(at, value, flag, stream));

/// A word of device memory.
fn word(value: u64) -> Memory {
    device_with(&value.to_le_bytes())
}

fn value(memory: &Memory) -> u64 {
    u64::from_le_bytes(memory.get()[..8].try_into().unwrap_or_default())
}

/// The stream has not come to its end after a while.
#[track_caller]
fn stays(stream: &Stream) {
    code!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.h(), 15));
}

pub fn rows(r: &mut Rows) {
    both(r);
    writes(r);
    waits(r);
}

fn both(r: &mut Rows) {
    for (call, bad_flags, ids) in [
        (
            WRITE,
            [1, 4, u32::MAX],
            [
                "aclrtValueWrite#01",
                "aclrtValueWrite#03",
                "aclrtValueWrite#04",
                "aclrtValueWrite#05",
                "aclrtValueWrite#09",
                "aclrtValueWrite#10",
            ],
        ),
        (
            WAIT,
            [4, 5, u32::MAX],
            [
                "aclrtValueWait#01",
                "aclrtValueWait#03",
                "aclrtValueWait#04",
                "aclrtValueWait#05",
                "aclrtValueWait#12",
                "aclrtValueWait#13",
            ],
        ),
    ] {
        r.row(ids[0], move |_| call(null_mut(), 0, 0, null_mut()));
        r.row(ids[1], move |_| {
            let word = word(0);
            no_streams().into_iter().map(|stream| call(word.p(), 0, 0, stream)).collect::<Vec<_>>()
        });
        r.row(ids[2], move |_| {
            let (word, stream) = (word(7), Stream::new());
            let codes = bad_flags.map(|flag| call(word.p(), 0, flag, stream.h()));
            stream.wait();
            assert_eq!(value(&word), 7, "nothing was written");
            codes
        });
        r.row(ids[3], move |_| {
            let (one, two) = (pinned(64), pageable(64));
            [call(one.p(), 0, 0, null_mut()), call(two.p(), 0, 0, null_mut())]
        });
        r.row(ids[4], move |_| {
            let word = word(0);
            let other = Context::new(0);
            let stream = other.enter(Stream::new);
            call(word.p(), 0, 0, stream.h())
        });
        r.row(ids[5], move |_| {
            let (word, stream) = (word(0), Stream::new());
            bare(|| [call(word.p(), 0, 0, null_mut()), call(word.p(), 0, 0, stream.h())])
        });
    }
    // The rows' products have the function; what others answer is that of *#06.
    for id in ["aclrtValueWrite#02", "aclrtValueWait#02"] {
        r.hardware(id, "every product that has the function has the tasks; the others are those of *#06");
    }
}

fn writes(r: &mut Rows) {
    r.decided("aclrtValueWrite#06", |_| {
        let memory = device_with(&[5; 64]);
        let codes: Vec<i32> = (1..8).map(|offset| WRITE(memory.after(offset), 0, 0, null_mut())).collect();
        same("an aligned word", WRITE(memory.after(8), 0, 0, null_mut()), 0);
        ok!(aclrtSynchronizeStream(null_mut()));
        assert_eq!(memory.get(), [[5; 8].to_vec(), vec![0; 8], vec![5; 48]].concat());
        codes
    });
    r.row("aclrtValueWrite#07", |_| {
        let (memory, stream) = (device_with(&[0xee; 24]), Stream::new());
        let mut codes = Vec::new();
        for written in [0x0123_4567_89ab_cdef, u64::MAX, 1 << 63, 0] {
            codes.push(WRITE(memory.after(8), written, 0, stream.h()));
            stream.wait();
            let wanted = [[0xee; 8], written.to_le_bytes(), [0xee; 8]].concat();
            assert_eq!(memory.get(), wanted, "{written:#x}");
        }
        codes
    });
    r.row("aclrtValueWrite#08", |_| {
        let word = word(0);
        let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        let gate = held(stream);
        let code = WRITE(word.p(), 3, 0, null_mut());
        assert_eq!(value(&word), 0, "the default stream is held");
        gate.open();
        ok!(aclrtSynchronizeStream(stream));
        assert_eq!(value(&word), 3);
        code
    });
    r.row("aclrtValueWrite#11", |_| {
        // Each call has one thing wrong less than the one before.
        let (host, word) = (pinned(64), word(0));
        same("address", WRITE(null_mut(), 0, 1, stale_stream()), ACL_ERROR_INVALID_PARAM);
        same("stream", WRITE(host.p(), 0, 1, stale_stream()), ACL_ERROR_RT_INVALID_HANDLE);
        let message = |name: &str| assert!(message().contains(name), "{}", message());
        let other = Context::new(0);
        let live = other.enter(Stream::new);
        same("flag", WRITE(host.p(), 0, 1, live.h()), ACL_ERROR_RT_PARAM_INVALID);
        message("flag");
        same("place", WRITE(host.p(), 0, 0, live.h()), ACL_ERROR_RT_PARAM_INVALID);
        message("devAddr");
        same("context", WRITE(word.p(), 0, 0, live.h()), ACL_ERROR_RT_STREAM_CONTEXT);
    });
    r.row("aclrtValueWrite#12", |_| {
        let (word, stream) = (word(1), Stream::new());
        let gate = held(stream.h());
        let code = WRITE(word.p(), 2, 0, stream.h());
        let copied = pinned(8);
        ok!(aclrtMemcpyAsync(copied.p(), 8, word.p(), 8, ACL_MEMCPY_DEVICE_TO_HOST, stream.h()));
        let last = WRITE(word.p(), 3, 0, stream.h());
        assert_eq!(value(&word), 1, "the stream is held");
        gate.open();
        stream.wait();
        assert_eq!((value(&copied), value(&word)), (2, 3));
        [code, last]
    });
}

/// Waits with a word that must not release, then writes one that must. Numbers: the flag, the value that is waited for.
fn released(flag: u32, wanted: u64, before: &[u64], then: &[u64]) {
    for (shut, open) in before.iter().flat_map(|shut| then.iter().map(move |open| (*shut, *open))) {
        let (word, stream, flagged) = (word(shut), Stream::new(), Flag::new());
        same("aclrtValueWait", WAIT(word.p(), wanted, flag, stream.h()), 0);
        flagged.after(stream.h());
        stays(&stream);
        assert!(!flagged.is(), "{shut:#x} releases a wait for {wanted:#x} (flag {flag})");
        let writer = Stream::new();
        same("aclrtValueWrite", WRITE(word.p(), open, 0, writer.h()), 0);
        ok!(aclrtSynchronizeStreamWithTimeout(stream.h(), 20_000));
        assert!(flagged.is());
    }
    // What holds already does not stop the stream.
    for open in then {
        let (word, stream) = (word(*open), Stream::new());
        same("aclrtValueWait", WAIT(word.p(), wanted, flag, stream.h()), 0);
        ok!(aclrtSynchronizeStreamWithTimeout(stream.h(), 20_000));
    }
}

fn waits(r: &mut Rows) {
    r.row("aclrtValueWait#06", |_| {
        released(GEQ, 5, &[4, 0, u64::MAX], &[5, 6]);
        // It wraps: what is less than half the numbers ahead is later.
        released(GEQ, u64::MAX - 4, &[u64::MAX - 5], &[3]);
        released(GEQ, 0, &[1 << 63], &[(1 << 63) - 1]);
    });
    r.row("aclrtValueWait#07", |_| released(EQ, 1 << 40, &[0, 1, (1 << 40) + 1], &[1 << 40]));
    r.row("aclrtValueWait#08", |_| released(AND, 0b110, &[0, 0b1001], &[0b10, u64::MAX]));
    r.row("aclrtValueWait#09", |_| {
        released(NOR, 0, &[u64::MAX], &[0, u64::MAX - 1]);
        released(NOR, u64::from(u32::MAX), &[u64::MAX << 32, u64::MAX], &[0, 1 << 32]);
    });
    r.row("aclrtValueWait#10", |_| {
        // The upper half decides.
        released(EQ, 1 << 32, &[0, 1 << 33], &[1 << 32]);
        released(AND, 1 << 63, &[u64::MAX >> 1], &[1 << 63]);
    });
    r.row("aclrtValueWait#11", |_| {
        let word = word(0);
        let code = WAIT(word.p(), 1, EQ, null_mut());
        let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        code!(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 15));
        let writer = Stream::new();
        same("aclrtValueWrite", WRITE(word.p(), 1, 0, writer.h()), 0);
        ok!(aclrtSynchronizeStream(stream));
        code
    });
    r.row("aclrtValueWait#14", |_| {
        let (word, stream) = (word(0), Stream::new());
        let flag = Flag::new();
        let code = WAIT(word.p(), 1, EQ, stream.h());
        flag.after(stream.h());
        // The caller is here; what follows in the stream is not.
        stays(&stream);
        assert!(!flag.is());
        // Other streams go on.
        let other = Stream::new();
        same("aclrtValueWrite", WRITE(word.p(), 1, 0, other.h()), 0);
        other.wait();
        stream.wait();
        assert!(flag.is());
        code
    });
}
