//! aclrtMemcpy2d, aclrtMemcpy2dAsync.
#![allow(clippy::too_many_arguments, reason = "those of the C functions")]

use super::*;

const WIDEST: usize = 5_000_000;
const HIGHEST: usize = 5 * 1024 * 1024;

/// dst, dpitch, src, spitch, width, height, kind, stream.
type Call = fn(*mut c_void, usize, *const c_void, usize, usize, usize, u32, aclrtStream) -> i32;

#[rustfmt::skip]
fn now(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: u32, _: aclrtStream) -> i32 {
    acl!(aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, kind))
}

#[rustfmt::skip]
fn queued(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: u32, stream: aclrtStream) -> i32 {
    acl!(aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, kind, stream))
}

#[rustfmt::skip]
fn cpp_now(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: u32, _: aclrtStream) -> i32 {
    unsafe { cpp_memcpy_2d(dst, dpitch, src, spitch, width, height, kind) }
}

#[rustfmt::skip]
fn cpp_queued(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: u32, stream: aclrtStream) -> i32 {
    unsafe { cpp_memcpy_2d_async(dst, dpitch, src, spitch, width, height, kind, stream) }
}

const DPITCH: usize = 16;
const SPITCH: usize = 24;
const WIDTH: usize = 10;
const HEIGHT: usize = 5;
/// From the first byte to the last one.
const TO: usize = DPITCH * (HEIGHT - 1) + WIDTH;
const FROM: usize = SPITCH * (HEIGHT - 1) + WIDTH;

/// What is at the destination after a copy of rows from `pattern`: the bytes between stay.
fn rows_of(seed: u8) -> Vec<u8> {
    let from = pattern(FROM, seed);
    (0..TO)
        .map(|at| {
            let (row, column) = (at / DPITCH, at % DPITCH);
            if column < WIDTH { from[row * SPITCH + column] } else { 0xee }
        })
        .collect()
}

/// A destination and a source of the size that the rows take.
struct Rectangle {
    to: Memory,
    from: Memory,
}

fn rectangle(to: fn(&[u8]) -> Memory, from: fn(&[u8]) -> Memory) -> Rectangle {
    Rectangle { to: to(&[0xee; TO]), from: from(&pattern(FROM, 1)) }
}

impl Rectangle {
    fn call(&self, call: Call, kind: u32, stream: aclrtStream) -> i32 {
        call(self.to.p(), DPITCH, self.from.p(), SPITCH, WIDTH, HEIGHT, kind, stream)
    }

    #[track_caller]
    fn copied(&self) {
        assert_eq!(self.to.get(), rows_of(1));
    }

    #[track_caller]
    fn untouched(&self) {
        assert_eq!(self.to.get(), [0xee; TO]);
    }
}

/// The answer to numbers; nothing is copied.
#[track_caller]
fn shaped(call: Call, dpitch: usize, spitch: usize, width: usize, height: usize) -> i32 {
    let rect = rectangle(device_with, pinned_with);
    let code = call(rect.to.p(), dpitch, rect.from.p(), spitch, width, height, H2D, null_mut());
    rect.untouched();
    code
}

fn nothing(call: Call) -> Vec<i32> {
    vec![
        call(null_mut(), 0, null(), 0, 0, 5, 99, null_mut()),
        call(null_mut(), 0, null(), 0, 5, 0, 99, null_mut()),
        shaped(call, 1, 1, 0, usize::MAX),
        shaped(call, 1, 1, usize::MAX, 0),
    ]
}

#[track_caller]
fn of_kind(call: Call, kind: u32) -> i32 {
    let rect = rectangle(device_with, pinned_with);
    let code = rect.call(call, kind, null_mut());
    rect.untouched();
    code
}

fn too_wide(call: Call) -> Vec<i32> {
    // The widest row is taken, where 2D copies are.
    let (to, from) = (device(WIDEST), pinned_with(&pattern(WIDEST, 1)));
    if run_mode() == ACL_HOST {
        let code = call(to.p(), WIDEST, from.p(), WIDEST, WIDEST, 1, H2D, null_mut());
        same("the widest row", code, 0);
        ok!(aclrtSynchronizeStream(null_mut()));
        assert_eq!(to.get(), pattern(WIDEST, 1));
    }
    [WIDEST + 1, usize::MAX].map(|width| shaped(call, width, width, width, 1)).to_vec()
}

fn run_mode() -> u32 {
    get!(77, aclrtGetRunMode())
}

fn too_high(call: Call) -> Vec<i32> {
    if run_mode() == ACL_HOST {
        let (to, from) = (device(HIGHEST), pinned_with(&pattern(HIGHEST, 1)));
        same("the most rows", call(to.p(), 1, from.p(), 1, 1, HIGHEST, H2D, null_mut()), 0);
        ok!(aclrtSynchronizeStream(null_mut()));
        assert_eq!(to.get(), pattern(HIGHEST, 1));
    }
    [HIGHEST + 1, usize::MAX].map(|height| shaped(call, 1, 1, 1, height)).to_vec()
}

/// The rows 01 to 09, which both calls have alike.
macro_rules! common {
    ($r:expr, $name:ident, $call:expr) => {{
        let r: &mut Rows = $r;
        let call: Call = $call;
        r.row(concat!(stringify!($name), "#01"), move |_| nothing(call));
        r.row(concat!(stringify!($name), "#02"), move |_| {
            call(null_mut(), DPITCH, pinned(FROM).p(), SPITCH, WIDTH, HEIGHT, H2D, null_mut())
        });
        r.row(concat!(stringify!($name), "#03"), move |_| {
            call(device(TO).p(), DPITCH, null(), SPITCH, WIDTH, HEIGHT, H2D, null_mut())
        });
        r.row(concat!(stringify!($name), "#04"), move |_| {
            [shaped(call, 9, 24, 10, 2), shaped(call, 16, 9, 10, 2), shaped(call, 0, 0, 1, 1)]
        });
        r.row(concat!(stringify!($name), "#05"), move |_| {
            [H2H, BUFFERED, NO_KINDS[0], NO_KINDS[1], 8, u32::MAX].map(|kind| of_kind(call, kind))
        });
        r.row(concat!(stringify!($name), "#06"), move |_| too_wide(call));
        r.row(concat!(stringify!($name), "#07"), move |_| too_high(call));
        r.hardware(concat!(stringify!($name), "#08"), "no target has the form with an open control CPU");
        r.decided(concat!(stringify!($name), "#09"), move |_| of_kind(call, H2D)).only(rc);
    }};
}

pub fn rows(r: &mut Rows) {
    common!(r, aclrtMemcpy2d, now);
    common!(r, aclrtMemcpy2dAsync, queued);
    r.decided("aclrtMemcpy2d#10", |_| {
        both_ways(now);
        of_kind(now, D2D)
    })
    .ep();
    r.row("aclrtMemcpy2d#11", |_| of_kind(now, D2D));
    r.row("aclrtMemcpy2d#12", |_| {
        let mut codes = Vec::new();
        for kind in [H2D, D2H, DEFAULT] {
            for rect in [rectangle(pinned_with, pageable_with), rectangle(device_with, device_with)] {
                codes.push(rect.call(now, kind, null_mut()));
                rect.untouched();
            }
        }
        codes
    })
    .ep();
    asynchronous(r);
    overloads(r);
}

/// Host to device and back, with every kind that says so.
fn both_ways(call: Call) {
    for host in [pinned_with, pageable_with] {
        for kind in [H2D, DEFAULT] {
            let up = rectangle(device_with, host);
            same("to the device", up.call(call, kind, null_mut()), 0);
            ok!(aclrtSynchronizeStream(null_mut()));
            up.copied();
        }
        for kind in [D2H, DEFAULT] {
            let down = rectangle(host, device_with);
            same("from the device", down.call(call, kind, null_mut()), 0);
            ok!(aclrtSynchronizeStream(null_mut()));
            down.copied();
        }
    }
}

/// Page-locked memory: a task, which reads when it executes.
fn locked(call: Call) {
    let stream = Stream::new();
    let (up, down) = (rectangle(device_with, pinned_with), rectangle(pinned_with, device_with));
    at_once(stream.h(), || {
        up.from.put(&[0; FROM]);
        same("to the device", up.call(call, H2D, stream.h()), 0);
        same("from the device", down.call(call, D2H, stream.h()), 0);
        up.from.put(&pattern(FROM, 1));
        up.untouched();
        down.untouched();
    });
    up.copied();
    down.copied();
}

/// Pageable memory: what the stream holds is done first, then the copy, before the call returns.
fn pageable_first(call: Call) {
    let stream = Stream::new();
    let (up, down) = (rectangle(device_with, pageable_with), rectangle(pageable_with, device_with));
    let late = device_with(&pattern(FROM, 1));
    down.from.put(&[0; FROM]);
    let before = || ok!(aclrtMemcpyAsync(down.from.p(), FROM, late.p(), FROM, D2D, stream.h()));
    awaits(stream.h(), before, || {
        same("from the device", down.call(call, D2H, stream.h()), 0);
        down.copied();
    });
    awaits(
        stream.h(),
        || {},
        || {
            same("to the device", up.call(call, H2D, stream.h()), 0);
            up.copied();
        },
    );
}

fn inside(call: Call) -> i32 {
    let rect = rectangle(device_with, device_with);
    let code = rect.call(call, D2D, null_mut());
    ok!(aclrtSynchronizeStream(null_mut()));
    if code == 0 {
        rect.copied()
    } else {
        rect.untouched()
    }
    code
}

fn limits(call: Call) -> Vec<i32> {
    same("wider than a pitch", shaped(call, 9, 24, 10, 2), ACL_ERROR_INVALID_PARAM);
    too_wide(call)
}

fn asynchronous(r: &mut Rows) {
    r.decided("aclrtMemcpy2dAsync#10", |_| limits(queued));
    r.decided("aclrtMemcpy2dAsync#11", |_| too_high(queued));
    r.decided("aclrtMemcpy2dAsync#12", |_| too_high(queued));
    r.row("aclrtMemcpy2dAsync#13", |t| {
        let mut codes = [H2H, BUFFERED, 8].map(|kind| of_kind(queued, kind)).to_vec();
        if !t.has("copy_2d_device") && !t.target.rc() {
            codes.push(inside(queued));
        }
        codes
    });
    r.row("aclrtMemcpy2dAsync#14", |_| inside(queued));
    r.decided("aclrtMemcpy2dAsync#15", |_| inside(queued)).ep();
    r.row("aclrtMemcpy2dAsync#16", |_| {
        both_ways(queued);
        locked(queued);
        pageable_first(queued);
    })
    .only(newest_ep);
    r.row("aclrtMemcpy2dAsync#17", |_| pageable_first(queued)).only(newest_ep);
    r.needs("aclrtMemcpy2dAsync#18", "aclmdlRICaptureBegin");
    r.row("aclrtMemcpy2dAsync#19", |_| {
        let mut codes = Vec::new();
        for kind in [H2D, D2H, DEFAULT] {
            for rect in [rectangle(pinned_with, pinned_with), rectangle(pinned_with, pageable_with)] {
                codes.push(rect.call(queued, kind, null_mut()));
                rect.untouched();
            }
        }
        codes
    })
    .ep();
}

fn overloads(r: &mut Rows) {
    let null_destination = |call: Call, function: &str| {
        let code = call(null_mut(), DPITCH, pinned(FROM).p(), SPITCH, WIDTH, HEIGHT, H2D, null_mut());
        same("a null pointer", code, ACL_ERROR_INVALID_PARAM);
        calls(function);
    };
    r.row("aclrtMemcpy2d<cpp>#01", move |_| null_destination(cpp_now, "aclrtMemcpy2d"));
    r.row("aclrtMemcpy2d<cpp>#02", |_| header_only("aclrtMemcpy2d"));
    r.row("aclrtMemcpy2d<cpp>#03", |_| {
        let (stream, rect) = (Stream::new(), rectangle(device_with, pinned_with));
        at_once(stream.h(), || {
            same("a copy", rect.call(cpp_now, H2D, null_mut()), 0);
            rect.copied();
        });
    })
    .ep();
    r.row("aclrtMemcpy2dAsync<cpp>#01", move |_| null_destination(cpp_queued, "aclrtMemcpy2dAsync"));
    r.row("aclrtMemcpy2dAsync<cpp>#02", |_| header_only("aclrtMemcpy2dAsync"));
    r.decided("aclrtMemcpy2dAsync<cpp>#03", |_| limits(cpp_queued));
    r.decided("aclrtMemcpy2dAsync<cpp>#04", |_| too_high(cpp_queued));
    r.row("aclrtMemcpy2dAsync<cpp>#05", |_| {
        locked(cpp_queued);
        pageable_first(cpp_queued);
    })
    .only(newest_ep);
}
