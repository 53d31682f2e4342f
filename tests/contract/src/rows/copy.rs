//! Chapter 11-03: copies and fills.

mod batch;
mod descriptor;
mod fill;
mod pitched;
mod queued;

use super::prelude::*;
use crate::target::Target;

const H2H: u32 = ACL_MEMCPY_HOST_TO_HOST;
const H2D: u32 = ACL_MEMCPY_HOST_TO_DEVICE;
const D2H: u32 = ACL_MEMCPY_DEVICE_TO_HOST;
const D2D: u32 = ACL_MEMCPY_DEVICE_TO_DEVICE;
const DEFAULT: u32 = ACL_MEMCPY_DEFAULT;
const BUFFERED: u32 = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;

/// Numbers that are no kind of a plain copy; the first two are kinds of other calls.
const NO_KINDS: [u32; 4] =
    [ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE, 8, u32::MAX];

/// The newest pages' targets where host and device are two.
fn newest_ep(target: &Target) -> bool {
    target.generation == 9 && !target.rc()
}

fn rc(target: &Target) -> bool {
    target.rc()
}

/// A copy function without its stream: destination, destMax, source, count, kind.
type Copy = fn(*mut c_void, usize, *const c_void, usize, u32) -> i32;

fn memcpy(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: u32) -> i32 {
    acl!(aclrtMemcpy(dst, max, src, count, kind))
}

fn overload(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: u32) -> i32 {
    unsafe { cpp_memcpy(dst, max, src, count, kind) }
}

/// Memory of every place, with these bytes.
fn places(bytes: &[u8]) -> Vec<Memory> {
    let mut all = vec![device_with(bytes), pageable_with(bytes)];
    if has("aclrtMallocHost") {
        all.push(pinned_with(bytes));
    }
    all
}

/// Every pair of places, whatever the kind says.
#[track_caller]
fn every_pair(copy: Copy) {
    for kind in H2H..=BUFFERED {
        for src in places(&pattern(100, 3)) {
            for dst in places(&[9; 100]) {
                same(&format!("kind {kind}"), copy(dst.p(), 100, src.p(), 99, kind), 0);
                assert_eq!((&dst.get()[..99], dst.get()[99]), (&pattern(99, 3)[..], 9));
            }
        }
    }
}

/// Any kind between any two places; what a copy can never touch is refused.
fn by_address(copy: Copy) {
    every_pair(copy);
    if !has("aclrtHostRegisterV2") {
        return;
    }
    // The device's address of registered memory. Where a pinned block starts, it can be registered.
    let (host, memory) = (pinned(4096), device(64));
    ok!(aclrtHostRegisterV2(host.p(), 4096, ACL_HOST_REG_MAPPED as u32));
    let mut alias = null_mut();
    ok!(aclrtHostGetDevicePointer(host.p(), &mut alias, 0));
    for code in [copy(alias, 64, memory.p(), 64, DEFAULT), copy(memory.p(), 64, alias, 64, DEFAULT)] {
        same("an address for kernels", code, ACL_ERROR_RT_PARAM_INVALID);
    }
    ok!(aclrtHostUnregister(host.p()));
}

/// Copies from device 0, which runs them, to device 1 and back: the answers without access; with it the bytes are right.
#[track_caller]
fn between_devices(t: &Test<'_>, copy: Copy) -> Vec<i32> {
    let here = device_with(&pattern(64, 1));
    let there = on_device(t, 1, || device_with(&[2; 64]));
    let both = || [copy(there.p(), 64, here.p(), 64, D2D), copy(here.p(), 64, there.p(), 64, D2D)];
    let before = both();
    assert_eq!((here.get(), there.get()), (pattern(64, 1), vec![2; 64]), "a refused copy copies");
    let mut can = 0;
    ok!(aclrtDeviceCanAccessPeer(&mut can, 0, 1));
    assert_eq!(can, 1);
    ok!(aclrtDeviceEnablePeerAccess(1, 0));
    same("to device 1, with access", copy(there.p(), 64, here.p(), 64, D2D), 0);
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(there.get(), pattern(64, 1));
    there.put(&[3; 64]);
    same("to device 0, with access", copy(here.p(), 64, there.p(), 64, D2D), 0);
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(here.get(), [3; 64]);
    ok!(aclrtDeviceDisablePeerAccess(1));
    [before, both()].concat()
}

/// No bytes: nothing else is looked at.
fn nothing(copy: Copy) -> Vec<i32> {
    let memory = device(64);
    vec![
        copy(null_mut(), 0, null(), 0, 99),
        copy(memory.p(), 64, memory.p(), 0, D2D),
        copy(unmapped(), 0, unmapped(), 0, u32::MAX),
    ]
}

fn wrong_kinds(copy: Copy) -> [i32; 4] {
    let (dst, src) = (device_with(&[1; 64]), device_with(&[2; 64]));
    let codes = NO_KINDS.map(|kind| copy(dst.p(), 64, src.p(), 64, kind));
    assert_eq!(dst.get(), [1; 64]);
    codes
}

/// More bytes than `max`.
fn too_many(copy: Copy, max: usize) -> [i32; 2] {
    let (dst, src) = (device_with(&[1; 128]), device_with(&[2; 128]));
    let codes = [max + 1, usize::MAX].map(|count| copy(dst.p(), max, src.p(), count, D2D));
    assert_eq!(dst.get(), [1; 128]);
    codes
}

pub fn rows(r: &mut Rows) {
    plain(r);
    of_cpp(r);
    queued::rows(r);
    pitched::rows(r);
    batch::rows(r);
    descriptor::rows(r);
    fill::rows(r);
}

fn plain(r: &mut Rows) {
    r.row("aclrtMemcpy#01", |_| nothing(memcpy));
    r.row("aclrtMemcpy#02", |_| memcpy(null_mut(), 64, device(64).p(), 64, D2D));
    r.row("aclrtMemcpy#03", |_| memcpy(device(64).p(), 64, null(), 64, D2D));
    r.row("aclrtMemcpy#04", |_| wrong_kinds(memcpy));
    r.row("aclrtMemcpy#05", |_| too_many(memcpy, 64));
    r.row("aclrtMemcpy#06", |_| too_many(memcpy, 0));
    r.row("aclrtMemcpy#07", |_| {
        let codes: Vec<i32> = places(&pattern(64, 1))
            .iter()
            .map(|memory| {
                let code = memcpy(memory.p(), 64, memory.p(), 64, DEFAULT);
                assert_eq!(memory.get(), pattern(64, 1));
                code
            })
            .collect();
        codes
    });
    r.decided("aclrtMemcpy#08", |_| by_address(memcpy));
    r.row("aclrtMemcpy#09", |_| {
        let (stream, dst, src) = (Stream::new(), device(64), pageable_with(&pattern(64, 1)));
        at_once(stream.h(), || {
            same("a copy", memcpy(dst.p(), 64, src.p(), 64, H2D), 0);
            assert_eq!(dst.get(), pattern(64, 1));
        });
    });
    r.decided("aclrtMemcpy#10", |t| between_devices(t, memcpy)).ep();
    r.row("aclrtMemcpy#11", |_| {
        let (dst, src) = (pageable(64), pageable_with(&[1; 64]));
        let code = memcpy(dst.p(), 64, src.p(), 64, H2H);
        assert_eq!(dst.get(), [0; 64]);
        code
    })
    .bare();
    r.needs("aclrtMemcpy#12", "aclmdlRICaptureBegin");
    r.decided("aclrtMemcpy#13", |_| by_address(memcpy));
    r.row("aclrtMemcpy#14", |_| {
        let bytes = [1, 2].map(|seed| pattern(64, seed));
        let (host, other_host) = (pinned_with(&bytes[0]), pinned(64));
        let [device, other_device] = [(); 2].map(|()| device(64));
        let steps = [
            (&other_host, &host, H2H),
            (&device, &other_host, H2D),
            (&other_device, &device, D2D),
            (&host, &other_device, D2H),
        ];
        for (dst, src, kind) in steps {
            dst.put(&bytes[1]);
            same("a copy", memcpy(dst.p(), 64, src.p(), 64, kind), 0);
            assert_eq!(dst.get(), bytes[0]);
        }
    });
}

fn of_cpp(r: &mut Rows) {
    r.row("aclrtMemcpy<cpp>#01", |_| {
        same("a null pointer", overload(null_mut(), 64, device(64).p(), 64, D2D), ACL_ERROR_INVALID_PARAM);
        calls("aclrtMemcpy");
        every_pair(overload);
    });
    r.row("aclrtMemcpy<cpp>#02", |_| header_only("aclrtMemcpy"));
    r.decided("aclrtMemcpy<cpp>#03", |_| by_address(overload));
}
