//! aclrtMemcpyAsync, aclrtMemcpyAsyncWithCondition.

use super::*;

/// A copy on a stream.
type Enqueue = fn(*mut c_void, usize, *const c_void, usize, u32, aclrtStream) -> i32;

fn plain(
    dst: *mut c_void,
    max: usize,
    src: *const c_void,
    count: usize,
    kind: u32,
    stream: aclrtStream,
) -> i32 {
    acl!(aclrtMemcpyAsync(dst, max, src, count, kind, stream))
}

fn conditional(
    dst: *mut c_void,
    max: usize,
    src: *const c_void,
    count: usize,
    kind: u32,
    stream: aclrtStream,
) -> i32 {
    acl!(aclrtMemcpyAsyncWithCondition(dst, max, src, count, kind, stream))
}

fn overload(
    dst: *mut c_void,
    max: usize,
    src: *const c_void,
    count: usize,
    kind: u32,
    stream: aclrtStream,
) -> i32 {
    unsafe { cpp_memcpy_async(dst, max, src, count, kind, stream) }
}

/// On the default stream.
fn on_default(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: u32) -> i32 {
    plain(dst, max, src, count, kind, null_mut())
}

/// On a stream of its own, where there may be no default stream. What is accepted is done.
fn on_own(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: u32) -> i32 {
    let stream = Stream::new();
    let code = conditional(dst, max, src, count, kind, stream.h());
    if code == 0 {
        stream.wait();
    }
    code
}

/// Host memory from which and to which copies are tasks.
fn asynchronous(enqueue: Enqueue, host: fn(&[u8]) -> Memory) {
    let (stream, up, down) = (Stream::new(), device_with(&[1; 64]), device_with(&pattern(64, 5)));
    let (from, to) = (host(&[2; 64]), host(&[3; 64]));
    at_once(stream.h(), || {
        same("to the device", enqueue(up.p(), 64, from.p(), 64, H2D, stream.h()), 0);
        same("from the device", enqueue(to.p(), 64, down.p(), 64, D2H, stream.h()), 0);
        // The source is read when the task executes.
        from.put(&pattern(64, 6));
        assert_eq!((up.get(), to.get()), (vec![1; 64], vec![3; 64]), "copied before its turn");
    });
    assert_eq!((up.get(), to.get()), (pattern(64, 6), pattern(64, 5)));
}

/// Pageable memory: what the stream holds is done first, and then the copy, before the call returns.
fn synchronous(enqueue: Enqueue, first: Enqueue) {
    let (stream, memory, other) = (Stream::new(), device_with(&[1; 64]), device_with(&pattern(64, 7)));
    let host = pageable_with(&[4; 64]);
    let before = || same("before", first(memory.p(), 64, other.p(), 64, D2D, stream.h()), 0);
    awaits(stream.h(), before, || {
        same("from the device", enqueue(host.p(), 64, memory.p(), 64, D2H, stream.h()), 0);
        assert_eq!(host.get(), pattern(64, 7), "not after what the stream holds");
    });
    host.put(&pattern(64, 8));
    awaits(
        stream.h(),
        || {},
        || {
            same("to the device", enqueue(memory.p(), 64, host.p(), 64, H2D, stream.h()), 0);
            assert_eq!(memory.get(), pattern(64, 8));
        },
    );
}

/// Host to host by kind.
fn host_kind(copy: Copy) -> Vec<i32> {
    let [one, other] = [1, 2].map(|byte| pinned_with(&[byte; 64]));
    let memory = device(64);
    let codes = vec![
        copy(one.p(), 64, other.p(), 64, H2H),
        copy(memory.p(), 64, other.p(), 64, H2H),
        copy(one.p(), 64, one.p(), 64, H2H),
    ];
    assert_eq!(one.get(), [1; 64]);
    codes
}

/// Where host and device are one, every kind is a copy inside it.
fn in_one_memory() {
    for kind in [H2H, H2D, D2H, D2D, DEFAULT] {
        for src in places(&pattern(64, 1)) {
            for dst in places(&[9; 64]) {
                let stream = Stream::new();
                at_once(stream.h(), || {
                    same("a copy", plain(dst.p(), 64, src.p(), 64, kind, stream.h()), 0);
                    assert_eq!(dst.get(), [9; 64]);
                });
                assert_eq!(dst.get(), pattern(64, 1), "kind {kind}");
            }
        }
    }
}

/// Addresses that are not 64-byte aligned.
fn misaligned() -> Vec<i32> {
    let (memory, host) = (device_with(&[1; 192]), pinned_with(&[2; 192]));
    let mut codes = Vec::new();
    for offset in [1, 8, 32, 63] {
        codes.push(on_default(memory.after(offset), 64, host.p(), 64, H2D));
        codes.push(on_default(memory.p(), 64, host.after(offset), 64, H2D));
    }
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(memory.get(), [1; 192]);
    same("aligned", on_default(memory.after(64), 64, host.after(128), 64, H2D), 0);
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(memory.get()[64..128], [2; 64]);
    codes
}

pub fn rows(r: &mut Rows) {
    checks(r);
    of_hosts(r);
    kinds(r);
    of_streams(r);
    older_pages(r);
    with_condition(r);
    of_cpp(r);
}

fn checks(r: &mut Rows) {
    r.row("aclrtMemcpyAsync#01", |_| nothing(on_default));
    r.row("aclrtMemcpyAsync#02", |_| on_default(null_mut(), 64, device(64).p(), 64, D2D));
    r.row("aclrtMemcpyAsync#03", |_| on_default(device(64).p(), 64, null(), 64, D2D));
    r.row("aclrtMemcpyAsync#04", |_| wrong_kinds(on_default));
    r.row("aclrtMemcpyAsync#05", |_| too_many(on_default, 64));
    r.row("aclrtMemcpyAsync#06", |t| {
        let (memory, host) = (device_with(&pattern(64, 1)), pinned(64));
        let code = on_default(memory.p(), 64, memory.p(), 64, D2D);
        ok!(aclrtSynchronizeStream(null_mut()));
        assert_eq!(memory.get(), pattern(64, 1));
        // Host to host is looked at before.
        let wanted = if t.target.rc() { 0 } else { ACL_ERROR_RT_FEATURE_NOT_SUPPORT };
        same("host to host", on_default(host.p(), 64, host.p(), 64, H2H), wanted);
        code
    });
}

fn of_hosts(r: &mut Rows) {
    r.row("aclrtMemcpyAsync#07", |_| host_kind(on_default)).ep();
    r.row("aclrtMemcpyAsync#08", |_| {
        let mut codes = Vec::new();
        for kind in H2H..=BUFFERED {
            let hosts = [pinned_with(&[1; 64]), pageable_with(&[1; 64])];
            for dst in &hosts {
                for src in [pinned_with(&[2; 64]), pageable_with(&[2; 64])] {
                    codes.push(on_default(dst.p(), 64, src.p(), 64, kind));
                }
                ok!(aclrtSynchronizeStream(null_mut()));
                assert_eq!(dst.get(), [1; 64]);
            }
        }
        codes
    })
    .ep();
    r.row("aclrtMemcpyAsync#09", |_| in_one_memory()).only(rc);
    r.hardware("aclrtMemcpyAsync#10", "no target has the form with an open control CPU");
    r.row("aclrtMemcpyAsync#11", |_| asynchronous(plain, pinned_with));
    r.row("aclrtMemcpyAsync#12", |_| synchronous(plain, plain)).only(newest_ep);
    r.row("aclrtMemcpyAsync#13", |_| synchronous(plain, plain)).only(newest_ep);
    r.hardware(
        "aclrtMemcpyAsync#14",
        "the runtime knows every address; no driver without the query is modelled",
    );
    r.needs("aclrtMemcpyAsync#15", "aclmdlRICaptureBegin");
}

fn kinds(r: &mut Rows) {
    r.row("aclrtMemcpyAsync#16", |_| {
        let known: [fn(&[u8]) -> Memory; 2] = [device_with, pinned_with];
        for kind in H2D..=BUFFERED {
            for (to, from) in [(0, 0), (0, 1), (1, 0)] {
                let (dst, src) = (known[to](&[9; 64]), known[from](&pattern(64, 1)));
                same(&format!("kind {kind}"), on_default(dst.p(), 64, src.p(), 64, kind), 0);
                ok!(aclrtSynchronizeStream(null_mut()));
                assert_eq!(dst.get(), pattern(64, 1), "kind {kind}");
            }
        }
    });
    r.decided("aclrtMemcpyAsync#17", |_| {
        let (memory, host) = (device(64), pageable_with(&pattern(64, 1)));
        for kind in [H2D, D2D, DEFAULT, BUFFERED] {
            memory.put(&[9; 64]);
            same(&format!("kind {kind}"), on_default(memory.p(), 64, host.p(), 64, kind), 0);
            ok!(aclrtSynchronizeStream(null_mut()));
            assert_eq!(memory.get(), pattern(64, 1));
        }
        on_default(memory.p(), 64, host.p(), 64, D2H)
    })
    .only(newest_ep);
    r.row("aclrtMemcpyAsync#18", |_| {
        let (memory, host) = (device_with(&pattern(64, 1)), pageable(64));
        for kind in [D2H, D2D, DEFAULT] {
            host.put(&[9; 64]);
            same(&format!("kind {kind}"), on_default(host.p(), 64, memory.p(), 64, kind), 0);
            assert_eq!(host.get(), pattern(64, 1));
        }
        [H2D, BUFFERED].map(|kind| on_default(host.p(), 64, memory.p(), 64, kind))
    })
    .only(newest_ep);
    r.row("aclrtMemcpyAsync#19", |_| {
        for host in [pinned_with, pageable_with] {
            let (stream, memory, from) = (Stream::new(), device_with(&[1; 64]), host(&pattern(64, 1)));
            at_once(stream.h(), || {
                same("a copy", plain(memory.p(), 64, from.p(), 64, BUFFERED, stream.h()), 0);
                // Used for something else, and given back.
                from.put(&[2; 64]);
                drop(from);
                assert_eq!(memory.get(), [1; 64]);
            });
            assert_eq!(memory.get(), pattern(64, 1));
        }
    });
    r.needs("aclrtMemcpyAsync#20", "aclmdlRIBindStream");
}

fn of_streams(r: &mut Rows) {
    r.row("aclrtMemcpyAsync#21", |_| {
        let (dst, src) = (device(64), pinned_with(&pattern(64, 1)));
        let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        let code = at_once(stream, || {
            let code = on_default(dst.p(), 64, src.p(), 64, H2D);
            src.put(&pattern(64, 2));
            code
        });
        assert_eq!(dst.get(), pattern(64, 2), "not on the default stream");
        code
    });
    r.row("aclrtMemcpyAsync#22", |t| {
        let [dst, src] = on_device(t, 0, || [1, 2].map(|byte| device_with(&[byte; 64])));
        on_default(dst.p(), 64, src.p(), 64, D2D)
    })
    .bare();
    r.row("aclrtMemcpyAsync#23", |_| {
        let (context, dst, src) = (Context::new(0), device_with(&[1; 64]), pinned_with(&[2; 64]));
        let stream = context.enter(Stream::new);
        let code = plain(dst.p(), 64, src.p(), 64, H2D, stream.h());
        context.enter(|| stream.wait());
        assert_eq!(dst.get(), [1; 64]);
        code
    });
    r.row("aclrtMemcpyAsync#26", |_| {
        let (memory, host) = (device_with(&[1; 192]), pinned_with(&pattern(192, 2)));
        for (to, from) in [(1, 0), (0, 1), (33, 65), (63, 63)] {
            memory.put(&[1; 192]);
            same("a copy", on_default(memory.after(to), 64, host.after(from), 64, H2D), 0);
            ok!(aclrtSynchronizeStream(null_mut()));
            assert_eq!(memory.get()[to..to + 64], pattern(192, 2)[from..from + 64]);
        }
    })
    .only(|target| target.generation == 9);
}

/// Pageable memory is accepted; ours: it is touched when the task executes.
fn pageable_anyway() {
    asynchronous(plain, pageable_with);
}

fn older_pages(r: &mut Rows) {
    r.decided("aclrtMemcpyAsync#24", |_| misaligned());
    r.decided("aclrtMemcpyAsync#25", |_| misaligned());
    r.row("aclrtMemcpyAsync#27", |_| pageable_anyway());
    r.row("aclrtMemcpyAsync#37", |_| pageable_anyway());
    r.row("aclrtMemcpyAsync#28", |_| host_kind(on_default)).ep();
    r.row("aclrtMemcpyAsync#29", |_| host_kind(on_default));
    r.row("aclrtMemcpyAsync#35", |_| host_kind(on_default)).ep();
    r.decided("aclrtMemcpyAsync#30", |t| between_devices(t, on_default));
    r.row("aclrtMemcpyAsync#31", |_| in_one_memory()).only(rc);
    r.row("aclrtMemcpyAsync#36", |_| in_one_memory()).only(rc);
    r.row("aclrtMemcpyAsync#32", |_| {
        let (stream, dst, src) = (Stream::new(), pinned_with(&[1; 64]), pinned_with(&[2; 64]));
        let later = device_with(&[3; 64]);
        at_once_failing(&stream, || {
            same("the call", plain(dst.p(), 64, src.p(), 64, H2H, stream.h()), 0);
            same("behind it", plain(later.p(), 64, dst.p(), 64, H2D, stream.h()), 0);
        });
        assert_eq!(dst.get(), [1; 64]);
    });
    let always = || {
        asynchronous(plain, pinned_with);
        asynchronous(plain, pageable_with);
    };
    r.row("aclrtMemcpyAsync#33", move |_| always());
    r.row("aclrtMemcpyAsync#34", move |_| always());
}

/// A call that does not wait, and whose task fails when it runs; ours: with the code that the newer pages return at once.
#[track_caller]
fn at_once_failing(stream: &Stream, call: impl FnOnce()) {
    let busy = Busy::new(stream.h());
    call();
    assert!(!busy.passed(), "it waited for the stream");
    busy.open();
    code!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeStream(stream.h()));
}

fn with_condition(r: &mut Rows) {
    r.row("aclrtMemcpyAsyncWithCondition#01", |_| {
        let (memory, host) = (device(64), pageable_with(&pattern(64, 1)));
        let code = on_own(memory.p(), 64, host.p(), 64, H2D);
        assert_eq!(memory.get(), pattern(64, 1));
        if has("aclrtMallocHost") {
            asynchronous(conditional, pinned_with);
        }
        code
    });
    r.row("aclrtMemcpyAsyncWithCondition#02", |_| nothing(on_own));
    r.row("aclrtMemcpyAsyncWithCondition#03", |_| on_own(null_mut(), 64, device(64).p(), 64, D2D));
    r.row("aclrtMemcpyAsyncWithCondition#04", |_| on_own(device(64).p(), 64, null(), 64, D2D));
    r.row("aclrtMemcpyAsyncWithCondition#05", |_| wrong_kinds(on_own));
    r.row("aclrtMemcpyAsyncWithCondition#06", |_| host_kind(on_own)).ep();
    r.hardware(
        "aclrtMemcpyAsyncWithCondition#07",
        "the runtime knows every address; no chip without the query is modelled",
    );
    r.row("aclrtMemcpyAsyncWithCondition#08", |_| synchronous(conditional, conditional)).ep();
    r.row("aclrtMemcpyAsyncWithCondition#09", |_| {
        let [dst, src] = [1, 2].map(|byte| device_with(&[byte; 64]));
        let code = on_own(dst.p(), 64, src.p(), 64, D2D);
        assert_eq!(dst.get(), [2; 64]);
        code
    });
}

fn of_cpp(r: &mut Rows) {
    r.row("aclrtMemcpyAsync<cpp>#01", |_| {
        let code = overload(null_mut(), 64, device(64).p(), 64, D2D, null_mut());
        same("a null pointer", code, ACL_ERROR_INVALID_PARAM);
        calls("aclrtMemcpyAsync");
        asynchronous(overload, pinned_with);
    });
    r.row("aclrtMemcpyAsync<cpp>#02", |_| header_only("aclrtMemcpyAsync"));
    r.row("aclrtMemcpyAsync<cpp>#03", |_| {
        asynchronous(overload, pinned_with);
        synchronous(overload, overload);
    })
    .only(newest_ep);
}
