//! aclrtMemcpyBatch, …V2, …Async, …AsyncV2 and their overloads.

use super::*;

/// The arguments of every form.
struct Raw {
    dsts: *mut *mut c_void,
    maxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    attrs: *mut aclrtMemcpyBatchAttr,
    indexes: *mut usize,
    number: usize,
    fail: *mut usize,
    stream: aclrtStream,
}

type Call = fn(&Raw) -> i32;

fn now(a: &Raw) -> i32 {
    acl!(aclrtMemcpyBatch(a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, a.number, a.fail))
}

fn now_v2(a: &Raw) -> i32 {
    acl!(aclrtMemcpyBatchV2(a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, a.number))
}

fn queued(a: &Raw) -> i32 {
    acl!(aclrtMemcpyBatchAsync(
        a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, a.number, a.fail, a.stream
    ))
}

fn queued_v2(a: &Raw) -> i32 {
    acl!(aclrtMemcpyBatchAsyncV2(
        a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, a.number, a.stream
    ))
}

fn cpp_now(a: &Raw) -> i32 {
    unsafe { cpp_batch(a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, a.number, null_mut()) }
}

fn cpp_now_fail(a: &Raw) -> i32 {
    unsafe { cpp_batch(a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, a.number, a.fail) }
}

fn cpp_one(a: &Raw) -> i32 {
    unsafe { cpp_batch_one(a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, null_mut()) }
}

fn cpp_one_fail(a: &Raw) -> i32 {
    unsafe { cpp_batch_one(a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.fail) }
}

fn cpp_queued(a: &Raw) -> i32 {
    let none = null_mut();
    unsafe {
        cpp_batch_async(
            a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, a.number, none, a.stream,
        )
    }
}

fn cpp_queued_fail(a: &Raw) -> i32 {
    unsafe {
        cpp_batch_async(
            a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, a.number, a.fail, a.stream,
        )
    }
}

fn cpp_one_queued(a: &Raw) -> i32 {
    unsafe { cpp_batch_one_async(a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, null_mut(), a.stream) }
}

fn cpp_one_queued_fail(a: &Raw) -> i32 {
    unsafe { cpp_batch_one_async(a.dsts, a.maxs, a.srcs, a.sizes, a.count, a.attrs, a.fail, a.stream) }
}

/// Where memory is, as an attribute says it.
#[derive(Clone, Copy)]
enum At {
    Host,
    Device(u32),
}

fn attr(dst: At, src: At) -> aclrtMemcpyBatchAttr {
    let location = |at| match at {
        At::Host => aclrtMemLocation { id: 0, r#type: ACL_MEM_LOCATION_TYPE_HOST },
        At::Device(id) => aclrtMemLocation { id, r#type: ACL_MEM_LOCATION_TYPE_DEVICE },
    };
    aclrtMemcpyBatchAttr { dstLoc: location(dst), srcLoc: location(src), rsv: [0; 16] }
}

/// A batch and its memory.
struct Batch {
    /// Destinations; they start as `0xee`.
    to: Vec<Memory>,
    from: Vec<Memory>,
    dsts: Vec<*mut c_void>,
    maxs: Vec<usize>,
    srcs: Vec<*mut c_void>,
    sizes: Vec<usize>,
    attrs: Vec<aclrtMemcpyBatchAttr>,
    indexes: Vec<usize>,
    fail: usize,
    stream: aclrtStream,
}

/// Bytes of each copy.
const SIZE: usize = 64;

impl Batch {
    fn new(
        count: usize,
        to: fn(&[u8]) -> Memory,
        from: fn(&[u8]) -> Memory,
        attr: aclrtMemcpyBatchAttr,
    ) -> Batch {
        let to: Vec<Memory> = (0..count).map(|_| to(&[0xee; SIZE])).collect();
        let from: Vec<Memory> = (0..count).map(|at| from(&pattern(SIZE, at as u8))).collect();
        Batch {
            dsts: to.iter().map(Memory::p).collect(),
            maxs: vec![SIZE; count],
            srcs: from.iter().map(Memory::p).collect(),
            sizes: vec![SIZE; count],
            attrs: vec![attr],
            indexes: vec![0],
            fail: 77,
            stream: null_mut(),
            to,
            from,
        }
    }

    /// Three copies from pinned memory to device 0.
    fn up() -> Batch {
        Batch::new(3, device_with, pinned_with, attr(At::Device(0), At::Host))
    }

    /// And back.
    fn down(host: fn(&[u8]) -> Memory) -> Batch {
        Batch::new(3, host, device_with, attr(At::Host, At::Device(0)))
    }

    fn raw(&mut self) -> Raw {
        Raw {
            dsts: self.dsts.as_mut_ptr(),
            maxs: self.maxs.as_mut_ptr(),
            srcs: self.srcs.as_mut_ptr(),
            sizes: self.sizes.as_mut_ptr(),
            count: self.sizes.len(),
            attrs: self.attrs.as_mut_ptr(),
            indexes: self.indexes.as_mut_ptr(),
            number: self.attrs.len(),
            fail: &raw mut self.fail,
            stream: self.stream,
        }
    }

    /// Calls; what is queued on the default stream is done afterwards.
    fn call(&mut self, call: Call) -> i32 {
        self.with(call, |_| {})
    }

    /// Calls with changed arguments.
    fn with(&mut self, call: Call, change: impl FnOnce(&mut Raw)) -> i32 {
        let mut raw = self.raw();
        change(&mut raw);
        let code = call(&raw);
        if self.stream.is_null() {
            ok!(aclrtSynchronizeStream(null_mut()));
        }
        code
    }

    #[track_caller]
    fn copied(&self) {
        for (at, to) in self.to.iter().enumerate() {
            assert_eq!(to.get(), pattern(SIZE, at as u8), "copy {at}");
        }
    }

    #[track_caller]
    fn untouched(&self) {
        for (at, to) in self.to.iter().enumerate() {
            assert_eq!(to.get(), [0xee; SIZE], "copy {at}");
        }
    }
}

/// The answer to a change of a good batch, which then copies nothing.
#[track_caller]
fn spoiled(call: Call, change: impl FnOnce(&mut Batch)) -> i32 {
    let mut batch = Batch::up();
    change(&mut batch);
    let code = batch.call(call);
    batch.untouched();
    code
}

/// The same with changed arguments.
#[track_caller]
fn misused(call: Call, change: impl FnOnce(&mut Raw)) -> i32 {
    let mut batch = Batch::up();
    let code = batch.with(call, change);
    batch.untouched();
    code
}

/// No bytes at all: nothing else is looked at.
fn nothing(call: Call, fills: bool) -> i32 {
    let mut batch = Batch::up();
    batch.sizes = vec![0; 3];
    let code = batch.with(call, |raw| {
        (raw.dsts, raw.srcs, raw.attrs) = (null_mut(), null_mut(), null_mut());
        (raw.maxs, raw.indexes, raw.number) = (null_mut(), null_mut(), 0);
    });
    assert_eq!(batch.fail, if fills { usize::MAX } else { 77 });
    code
}

/// Many copies that do not touch each other.
fn many(call: Call) {
    let mut batch = Batch::new(100, device_with, pinned_with, attr(At::Device(0), At::Host));
    same("a batch", batch.call(call), 0);
    batch.copied();
}

fn mixed(call: Call) -> i32 {
    let mut batch = Batch::up();
    let (to, from) = (pageable_with(&[0xee; SIZE]), device(SIZE));
    (batch.dsts[2], batch.srcs[2]) = (to.p(), from.p());
    batch.attrs.push(attr(At::Host, At::Device(0)));
    batch.indexes.push(2);
    let code = batch.call(call);
    batch.untouched();
    assert_eq!(to.get(), [0xee; SIZE]);
    code
}

/// An attribute holds up to the next one's index, the last one to the end: copies 0 and 1 go to device 0, 2 to 4 to device 1.
fn by_index(t: &Test<'_>, call: Call) {
    let batch = || {
        let mut batch = Batch::new(5, device_with, pinned_with, attr(At::Device(0), At::Host));
        for at in 2..5 {
            batch.to[at] = on_device(t, 1, || device_with(&[0xee; SIZE]));
            batch.dsts[at] = batch.to[at].p();
        }
        batch.attrs.push(attr(At::Device(1), At::Host));
        batch
    };
    let mut good = batch();
    good.indexes = vec![0, 2];
    same("index 2", good.call(call), 0);
    good.copied();
    for index in [1, 3, 4] {
        let mut bad = batch();
        bad.indexes = vec![0, index];
        same(&format!("index {index}"), bad.call(call), ACL_ERROR_RT_PARAM_INVALID);
        bad.untouched();
    }
}

/// Locations that are not where the memory is.
fn elsewhere(call: Call) -> Vec<i32> {
    let mut unregistered = attr(At::Device(0), At::Host);
    unregistered.srcLoc.r#type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    let wrong = [
        attr(At::Host, At::Host),
        attr(At::Device(1), At::Host),
        attr(At::Device(0), At::Device(0)),
        attr(At::Host, At::Device(0)),
        unregistered,
    ];
    let mut good = Batch::new(3, device_with, pageable_with, attr(At::Device(0), At::Host));
    same("memory that nobody registered", good.call(call), 0);
    good.copied();
    wrong.into_iter().map(|attr| spoiled(call, |batch| batch.attrs = vec![attr])).collect()
}

/// Both directions and both kinds of host memory, also in one batch.
fn both_hosts(call: Call) {
    for host in [pinned_with, pageable_with] {
        let mut up = Batch::new(3, device_with, host, attr(At::Device(0), At::Host));
        same("to the device", up.call(call), 0);
        up.copied();
        let mut down = Batch::down(host);
        same("from the device", down.call(call), 0);
        down.copied();
    }
    let mut batch = Batch::up();
    batch.from[1] = pageable_with(&pattern(SIZE, 1));
    batch.srcs[1] = batch.from[1].p();
    same("of both", batch.call(call), 0);
    batch.copied();
}

/// The rows 01 to 20, which the four functions have alike.
macro_rules! common {
    ($r:expr, $name:ident, $call:expr, fills: $fills:expr) => {{
        let r: &mut Rows = $r;
        let call: Call = $call;
        r.row(concat!(stringify!($name), "#01"), move |_| misused(call, |raw| raw.sizes = null_mut()));
        r.row(concat!(stringify!($name), "#02"), move |_| misused(call, |raw| raw.count = 0));
        r.row(concat!(stringify!($name), "#03"), move |_| nothing(call, $fills));
        r.row(concat!(stringify!($name), "#04"), move |_| misused(call, |raw| raw.dsts = null_mut()));
        r.row(concat!(stringify!($name), "#05"), move |_| misused(call, |raw| raw.maxs = null_mut()));
        r.row(concat!(stringify!($name), "#06"), move |_| misused(call, |raw| raw.srcs = null_mut()));
        r.row(concat!(stringify!($name), "#07"), move |_| misused(call, |raw| raw.attrs = null_mut()));
        r.row(concat!(stringify!($name), "#08"), move |_| misused(call, |raw| raw.indexes = null_mut()));
        r.row(concat!(stringify!($name), "#09"), move |_| {
            [1, 2].map(|at| spoiled(call, |batch| batch.maxs[at] = SIZE - 1))
        });
        r.row(concat!(stringify!($name), "#10"), move |_| {
            [0, 15].map(|at| spoiled(call, |batch| batch.attrs[0].rsv[at] = 1))
        });
        r.row(concat!(stringify!($name), "#11"), move |_| misused(call, |raw| raw.number = 0));
        r.row(concat!(stringify!($name), "#12"), move |_| {
            [4, usize::MAX].map(|number| misused(call, |raw| raw.number = number))
        });
        r.row(concat!(stringify!($name), "#13"), move |_| spoiled(call, |batch| batch.indexes[0] = 1));
        let second = move |indexes: &[usize]| {
            spoiled(call, |batch| {
                batch.attrs = vec![batch.attrs[0]; indexes.len()];
                batch.indexes = indexes.to_vec();
            })
        };
        r.row(concat!(stringify!($name), "#14"), move |_| {
            [second(&[0, 0]), second(&[0, 2, 1]), second(&[0, 2, 2])]
        });
        r.row(concat!(stringify!($name), "#15"), move |_| [second(&[0, 3]), second(&[0, 1, usize::MAX])]);
        r.row(concat!(stringify!($name), "#16"), move |_| many(call));
        r.decided(concat!(stringify!($name), "#17"), move |_| mixed(call));
        r.row(concat!(stringify!($name), "#18"), move |t| by_index(t, call));
        r.row(concat!(stringify!($name), "#19"), move |_| elsewhere(call));
        r.row(concat!(stringify!($name), "#20"), move |_| both_hosts(call));
    }};
}

/// The rows 21 and 22 of the functions that say which copy failed.
macro_rules! index {
    ($r:expr, $name:ident, $call:expr) => {{
        let r: &mut Rows = $r;
        let call: Call = $call;
        r.row(concat!(stringify!($name), "#21"), move |_| misused(call, |raw| raw.fail = null_mut()));
        r.row(concat!(stringify!($name), "#22"), move |_| fail_index(call));
    }};
}

fn fail_index(call: Call) {
    let said = |wanted: i32, change: &dyn Fn(&mut Batch)| {
        let mut batch = Batch::up();
        change(&mut batch);
        same("a batch", batch.call(call), wanted);
        batch.fail
    };
    assert_eq!(said(0, &|_| {}), usize::MAX);
    // Not of one copy.
    assert_eq!(said(ACL_ERROR_INVALID_PARAM, &|batch| batch.maxs[1] = 1), usize::MAX);
    assert_eq!(said(ACL_ERROR_RT_PARAM_INVALID, &|batch| batch.indexes[0] = 1), usize::MAX);
    // The location, and the direction.
    let host = pageable(SIZE);
    for at in 0..3 {
        let fail = said(ACL_ERROR_RT_PARAM_INVALID, &|batch| batch.dsts[at] = host.p());
        assert_eq!(fail, at);
    }
    let (to, from) = (pageable(SIZE), device(SIZE));
    let fail = said(ACL_ERROR_RT_PARAM_INVALID, &|batch| {
        (batch.dsts[1], batch.srcs[1]) = (to.p(), from.p());
        batch.attrs = vec![attr(At::Device(0), At::Host), attr(At::Host, At::Device(0))];
        batch.indexes = vec![0, 1];
    });
    assert_eq!(fail, 1);
}

fn too_many(call: Call) -> i32 {
    let memory = Batch::up();
    let (dst, src) = (memory.dsts[0], memory.srcs[0]);
    let answer = |count: usize| {
        let mut batch = Batch::up();
        batch.dsts = vec![dst; count];
        batch.srcs = vec![src; count];
        (batch.maxs, batch.sizes) = (vec![1; count], vec![1; count]);
        batch.call(call)
    };
    same("4096 copies", answer(4096), 0);
    answer(4097)
}

fn one_side(call: Call) -> [i32; 2] {
    let hosts = spoiled_places(call, pageable_with, pinned_with, attr(At::Host, At::Host));
    let devices = spoiled_places(call, device_with, device_with, attr(At::Device(0), At::Device(0)));
    [hosts, devices]
}

#[track_caller]
fn spoiled_places(
    call: Call,
    to: fn(&[u8]) -> Memory,
    from: fn(&[u8]) -> Memory,
    attr: aclrtMemcpyBatchAttr,
) -> i32 {
    let mut batch = Batch::new(2, to, from, attr);
    let code = batch.call(call);
    batch.untouched();
    code
}

/// Page-locked memory: tasks; pageable memory: done when the call returns.
fn as_the_host_is(call: Call) {
    let stream = Stream::new();
    for mut batch in [Batch::up(), Batch::down(pinned_with)] {
        batch.stream = stream.h();
        at_once(stream.h(), || {
            same("page-locked", batch.call(call), 0);
            batch.untouched();
        });
        batch.copied();
    }
    pageable_first(call);
}

/// One copy with pageable memory: what the stream holds is done first.
fn pageable_first(call: Call) {
    let stream = Stream::new();
    let mut batch = Batch::down(pageable_with);
    let late = device_with(&pattern(SIZE, 1));
    batch.stream = stream.h();
    batch.from[1].put(&[0; SIZE]);
    let source = batch.srcs[1];
    let before =
        || ok!(aclrtMemcpyAsync(source, SIZE, late.p(), SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.h()));
    awaits(stream.h(), before, || {
        same("pageable", batch.call(call), 0);
        batch.copied();
    });
    let mut mixed = Batch::down(pinned_with);
    mixed.stream = stream.h();
    let host = pageable(SIZE);
    mixed.dsts[2] = host.p();
    awaits(
        stream.h(),
        || {},
        || {
            same("one of three", mixed.call(call), 0);
            assert_eq!(host.get(), pattern(SIZE, 2));
        },
    );
    stream.wait();
    assert_eq!(mixed.to[0].get(), pattern(SIZE, 0));
}

fn on_default(call: Call) {
    let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
    let mut batch = Batch::up();
    at_once(stream, || {
        same("the default stream", call(&batch.raw()), 0);
        batch.untouched();
    });
    batch.copied();
}

pub fn rows(r: &mut Rows) {
    common!(r, aclrtMemcpyBatch, now, fills: true);
    common!(r, aclrtMemcpyBatchV2, now_v2, fills: false);
    common!(r, aclrtMemcpyBatchAsync, queued, fills: true);
    common!(r, aclrtMemcpyBatchAsyncV2, queued_v2, fills: false);
    index!(r, aclrtMemcpyBatch, now);
    index!(r, aclrtMemcpyBatchAsync, queued);
    r.row("aclrtMemcpyBatch#23", |_| too_many(now));
    r.row("aclrtMemcpyBatch#24", |_| one_side(now));
    r.row("aclrtMemcpyBatchV2#21", |_| too_many(now_v2));
    r.row("aclrtMemcpyBatchV2#22", |_| one_side(now_v2));
    r.row("aclrtMemcpyBatchAsync#23", |_| as_the_host_is(queued));
    r.row("aclrtMemcpyBatchAsync#24", |_| pageable_first(queued));
    r.row("aclrtMemcpyBatchAsync#25", |_| on_default(queued));
    r.row("aclrtMemcpyBatchAsyncV2#21", |_| as_the_host_is(queued_v2));
    r.row("aclrtMemcpyBatchAsyncV2#22", |_| pageable_first(queued_v2));
    r.row("aclrtMemcpyBatchAsyncV2#23", |_| on_default(queued_v2));
    overloads(r);
}

/// Asserts which C function each overload calls.
fn overloads_call(overloads: [(Call, &str); 4]) {
    for (call, function) in overloads {
        same("no copies", misused(call, |raw| raw.count = 0), ACL_ERROR_INVALID_PARAM);
        calls(function);
    }
}

/// One attribute for all copies.
fn one_attribute(call: Call) {
    let mut batch = Batch::up();
    same("one attribute", batch.call(call), 0);
    batch.copied();
    let wrong = spoiled(call, |batch| batch.attrs[0] = attr(At::Host, At::Device(0)));
    same("a wrong attribute", wrong, ACL_ERROR_RT_PARAM_INVALID);
}

fn overloads(r: &mut Rows) {
    r.row("aclrtMemcpyBatch<cpp>#01", |_| {
        let (plain, v2) = ("aclrtMemcpyBatch", "aclrtMemcpyBatchV2");
        overloads_call([(cpp_now, v2), (cpp_one, v2), (cpp_now_fail, plain), (cpp_one_fail, plain)]);
    });
    r.row("aclrtMemcpyBatch<cpp>#02", |_| header_only("aclrtMemcpyBatch"));
    r.row("aclrtMemcpyBatchAsync<cpp>#01", |_| {
        let (plain, v2) = ("aclrtMemcpyBatchAsync", "aclrtMemcpyBatchAsyncV2");
        overloads_call([
            (cpp_queued, v2),
            (cpp_one_queued, v2),
            (cpp_queued_fail, plain),
            (cpp_one_queued_fail, plain),
        ]);
    });
    r.row("aclrtMemcpyBatchAsync<cpp>#02", |_| header_only("aclrtMemcpyBatchAsync"));
    r.row("aclrtMemcpyBatch<cpp>#03", |_| {
        [cpp_one as Call, cpp_one_fail].iter().for_each(|call| one_attribute(*call))
    });
    r.row("aclrtMemcpyBatchAsync<cpp>#03", |_| {
        [cpp_one_queued as Call, cpp_one_queued_fail].iter().for_each(|call| one_attribute(*call));
    });
    r.row("aclrtMemcpyBatch<cpp>#04", |t| by_index(t, cpp_now));
    r.row("aclrtMemcpyBatchAsync<cpp>#04", |t| by_index(t, cpp_queued));
    r.decided("aclrtMemcpyBatch<cpp>#05", |_| {
        [cpp_now_fail as Call, cpp_one_fail].iter().for_each(|call| fails(*call))
    });
    r.row("aclrtMemcpyBatchAsync<cpp>#05", |_| {
        [cpp_queued_fail as Call, cpp_one_queued_fail].iter().for_each(|call| fails(*call));
    });
    r.row("aclrtMemcpyBatch<cpp>#06", |_| both_hosts(cpp_now));
    r.row("aclrtMemcpyBatchAsync<cpp>#06", |_| as_the_host_is(cpp_queued));
}

/// An overload with a failIndex says which copy it refused.
fn fails(call: Call) {
    let host = pageable(SIZE);
    let mut batch = Batch::up();
    same("a good batch", batch.call(call), 0);
    assert_eq!(batch.fail, usize::MAX);
    batch.dsts[1] = host.p();
    same("a bad one", batch.call(call), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(batch.fail, 1);
}
