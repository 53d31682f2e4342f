//! Chapters 05 and 03 on the default product (a2). Each test has a device of its own, since the process is shared.
#![allow(
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    reason = "tests call the C functions with valid arguments, or null"
)]

mod child;

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl::context::*;
use ascendcl::device::*;
use ascendcl::system::*;
use ascendcl_sys::*;
use child::{alone, message};
use toprope_runtime::process::runtime;

fn create(device: i32) -> aclrtContext {
    let mut context = null_mut();
    assert_eq!(unsafe { aclrtCreateContext(&mut context, device) }, 0);
    assert!(!context.is_null());
    context
}

fn current() -> Result<u64, i32> {
    let mut context = null_mut();
    match unsafe { aclrtGetCurrentContext(&mut context) } {
        0 => Ok(context as u64),
        code => Err(code),
    }
}

fn default_stream() -> aclrtStream {
    let mut stream = null_mut();
    assert_eq!(unsafe { aclrtCtxGetCurrentDefaultStream(&mut stream) }, 0);
    stream
}

const NONE: Result<u64, i32> = Err(ACL_ERROR_RT_CONTEXT_NULL);

/// aclrtCreateContext#01, #02, #04 to #06, aclrtSetCurrentContext#01 to #03, #06 to #08, aclrtGetCurrentContext#01 to #03,
/// aclrtDestroyContext#01, #05, #07
#[test]
fn contexts_follow_their_thread() {
    assert_eq!(current(), NONE);
    let first = create(1);
    assert_eq!(current(), Ok(first as u64));
    let second = create(1);
    assert_eq!(current(), Ok(second as u64));
    let one = default_stream();
    assert_eq!(unsafe { aclrtSetCurrentContext(first) }, 0);
    assert_ne!(default_stream(), one, "each context owns a default stream");
    let (a, b) = (first as u64, second as u64);
    std::thread::spawn(move || {
        assert_eq!(current(), NONE);
        assert_eq!(unsafe { aclrtSetCurrentContext(b as aclrtContext) }, 0);
        assert_eq!(current(), Ok(b));
    })
    .join()
    .unwrap();
    assert_eq!(current(), Ok(a), "another thread's choice does not count here");
    // aclrtDestroyContext#07
    assert_eq!(unsafe { aclrtDestroyContext(first) }, 0);
    assert_eq!(current(), NONE);
    assert_eq!(unsafe { aclrtDestroyContext(first) }, ACL_ERROR_RT_CONTEXT_NULL);
    assert_eq!(unsafe { aclrtSetCurrentContext(first) }, ACL_ERROR_RT_PARAM_INVALID);
    assert!(message().contains("destroyed already"));
    assert_eq!(unsafe { aclrtDestroyContext(second) }, 0);
    for bad in [-1, 8, i32::MAX] {
        assert_eq!(unsafe { aclrtCreateContext(&mut null_mut(), bad) }, ACL_ERROR_RT_INVALID_DEVICEID);
    }
    let nulls = unsafe {
        [
            aclrtCreateContext(null_mut(), 0),
            aclrtDestroyContext(null_mut()),
            aclrtSetCurrentContext(null_mut()),
            aclrtGetCurrentContext(null_mut()),
            aclrtCtxGetCurrentDefaultStream(null_mut()),
        ]
    };
    assert_eq!(nulls, [ACL_ERROR_INVALID_PARAM; 5]);
    // The second has the kind of a context and a generation that was never given.
    for wild in [8u64, 1 << 57 | 0xff_ffff << 32, u64::MAX, one as u64] {
        assert_eq!(unsafe { aclrtSetCurrentContext(wild as aclrtContext) }, ACL_ERROR_RT_PARAM_INVALID);
        assert_eq!(unsafe { aclrtDestroyContext(wild as aclrtContext) }, ACL_ERROR_RT_CONTEXT_NULL);
    }
}

/// aclrtDestroyContext#03
#[test]
fn the_default_context_is_not_for_destroying() {
    assert_eq!(unsafe { aclrtSetDevice(2) }, 0);
    let primary = current().unwrap();
    assert_eq!(unsafe { aclrtDestroyContext(primary as aclrtContext) }, ACL_ERROR_RT_CONTEXT_NULL);
    assert!(message().contains("default context of device 2"));
    assert_eq!(current(), Ok(primary));
    assert_eq!(unsafe { aclrtResetDevice(2) }, 0);
}

/// aclrtDestroyContext#05, #06: of many threads one destroys, the others are told so.
#[test]
fn one_thread_destroys() {
    for _ in 0..50 {
        let context = create(3) as u64;
        let codes: Vec<i32> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4)
                .map(|_| scope.spawn(move || unsafe { aclrtDestroyContext(context as aclrtContext) }))
                .collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
        let told = [0, ACL_ERROR_RT_CONTEXT_NULL, ACL_ERROR_RT_CONTEXT_RELEASE_ERROR];
        assert!(codes.iter().all(|code| told.contains(code)), "{codes:?}");
    }
}

/// aclrtCreateContext#09: streams in use are one of the device's own and one per context; the default context takes it over.
#[test]
fn an_early_context_takes_a_stream_for_the_device() {
    let rt = runtime().unwrap();
    let used = || rt.devices[4].streams();
    assert_eq!(used(), 0);
    let context = create(4);
    assert_eq!(used(), 2);
    let more = create(4);
    assert_eq!(used(), 3);
    assert_eq!(unsafe { aclrtSetDevice(4) }, 0);
    assert_eq!(used(), 3);
    for context in [context, more] {
        assert_eq!(unsafe { aclrtDestroyContext(context) }, 0);
    }
    assert_eq!(unsafe { aclrtResetDevice(4) }, 0);
    assert_eq!(used(), 0);
}

/// aclrtSetDevice and aclrtResetDevice from many threads at once: counts add up, and nothing is left.
#[test]
fn devices_are_set_and_reset_by_many_threads() {
    let rt = runtime().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert_eq!(unsafe { aclrtSetDevice(5) }, 0);
                    let context = create(5);
                    assert_eq!(unsafe { aclrtDestroyContext(context) }, 0);
                    assert_eq!(unsafe { aclrtResetDevice(5) }, 0);
                }
            });
        }
    });
    assert!(!rt.devices[5].is_set());
    assert_eq!(rt.devices[5].primary(), 0);
    assert_eq!(unsafe { aclrtResetDevice(5) }, ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    assert_eq!(rt.devices[5].streams(), 0);
}

/// aclrtCtxSetSysParamOpt#01 to #06, aclrtCtxGetSysParamOpt#01 to #05
#[test]
fn options_of_a_context() {
    let set = |opt, value| unsafe { aclrtCtxSetSysParamOpt(opt, value) };
    let get = |opt| {
        let mut value = -7;
        (unsafe { aclrtCtxGetSysParamOpt(opt, &mut value) }, value)
    };
    assert_eq!(set(0, 1), ACL_ERROR_RT_CONTEXT_NULL);
    assert_eq!(get(0), (ACL_ERROR_RT_CONTEXT_NULL, -7));
    let first = create(6);
    for opt in [3, 4, u32::MAX] {
        assert_eq!(set(opt, 1), ACL_ERROR_INVALID_PARAM);
        assert_eq!(get(opt), (ACL_ERROR_INVALID_PARAM, -7));
    }
    assert_eq!(unsafe { aclrtCtxGetSysParamOpt(0, null_mut()) }, ACL_ERROR_INVALID_PARAM);
    for opt in 0..3 {
        assert_eq!(get(opt), (ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, -7));
        assert_eq!(set(opt, 1), 0);
        assert_eq!(get(opt), (0, 1));
        assert_eq!(set(opt, 0), 0);
        assert_eq!(get(opt), (0, 0));
    }
    assert_eq!((set(0, 3), get(0)), (0, (0, 3)));
    for (opt, value) in [(0, 4), (0, -1), (1, 2), (2, 2), (1, -1), (1, i64::MAX)] {
        assert_eq!(set(opt, value), ACL_ERROR_RT_PARAM_INVALID, "{opt} {value}");
    }
    assert_eq!(get(0), (0, 3));
    let second = create(6);
    assert_eq!(get(0).0, ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "another context");
    for context in [first, second] {
        assert_eq!(unsafe { aclrtDestroyContext(context) }, 0);
    }
}

/// aclrtSetSysParamOpt#01 to #06, aclrtGetSysParamOpt#01 to #04
#[test]
fn options_of_the_process() {
    alone("options_of_the_process", &[], || {
        let set = |opt, value| unsafe { aclrtSetSysParamOpt(opt, value) };
        let get = |opt| {
            let mut value = -7;
            (unsafe { aclrtGetSysParamOpt(opt, &mut value) }, value)
        };
        for opt in 0..4 {
            assert_eq!(get(opt), (0, 0));
            assert_eq!((set(opt, 1), get(opt)), (0, (0, 1)));
        }
        assert_eq!((set(0, 3), get(0)), (0, (0, 3)));
        for (opt, value) in [(0, 4), (0, -1), (1, 2), (3, 2)] {
            assert_eq!(set(opt, value), ACL_ERROR_RT_PARAM_INVALID, "{opt} {value}");
        }
        assert_eq!((set(4, 0), get(4)), (ACL_ERROR_INVALID_PARAM, (ACL_ERROR_INVALID_PARAM, -7)));
        assert_eq!(unsafe { aclrtGetSysParamOpt(0, null_mut()) }, ACL_ERROR_INVALID_PARAM);
        // Neither scope shows in the other.
        create(0);
        let mut value = -7;
        let code = unsafe { aclrtCtxGetSysParamOpt(0, &mut value) };
        assert_eq!(code, ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    });
}

/// aclrtCtxGetFloatOverflowAddr#01, #02
#[test]
fn the_overflow_area_belongs_to_its_context() {
    let area = || {
        let mut area: *mut c_void = null_mut();
        (unsafe { aclrtCtxGetFloatOverflowAddr(&mut area) }, area as usize)
    };
    assert_eq!(unsafe { aclrtCtxGetFloatOverflowAddr(null_mut()) }, ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(area().0, ACL_ERROR_RT_CONTEXT_NULL);
    let context = create(6);
    let (code, first) = area();
    assert_eq!((code, area().1), (0, first), "the same at every call");
    let rt = runtime().unwrap();
    let block = rt.space.find(first).unwrap();
    assert_eq!(block.owner, toprope_engine::memory::Owner::Image(6));
    assert_eq!(toprope_runtime::bytes::read::<[u8; 64]>(rt.space.inner(first)), Ok([0; 64]));
    assert_eq!(unsafe { aclrtDestroyContext(context) }, 0);
    assert_eq!(rt.space.find(first), None);
}

/// A limit by each of the ways to ask.
fn limits(device: i32, stream: aclrtStream, kind: u32) -> [(i32, u32); 3] {
    let mut values = [77; 3];
    let [a, b, c] = &mut values;
    let codes = unsafe {
        [
            aclrtGetDeviceResLimit(device, kind, a),
            aclrtGetStreamResLimit(stream, kind, b),
            aclrtGetResInCurrentThread(kind, c),
        ]
    };
    [(codes[0], values[0]), (codes[1], values[1]), (codes[2], values[2])]
}

/// aclrtSetDeviceResLimit#02 to #04, #06, #08, #11, aclrtGetDeviceResLimit#02 to #06, aclrtResetDeviceResLimit#02 to #05,
/// aclrtSetStreamResLimit#01 to #05, #07 to #09, aclrtGetStreamResLimit#01 to #06, aclrtResetStreamResLimit#01 to #04,
/// aclrtUseStreamResInCurrentThread#01 to #06, aclrtUnuseStreamResInCurrentThread#01 to #05, aclrtGetResInCurrentThread#01 to #04
#[test]
fn core_limits() {
    let setup = ACL_ERROR_RT_DEV_SETUP_ERROR;
    let set_device = |id, kind, value| unsafe { aclrtSetDeviceResLimit(id, kind, value) };
    let set_stream = |stream, kind, value| unsafe { aclrtSetStreamResLimit(stream, kind, value) };
    let null = null_mut();
    assert_eq!(set_device(8, 0, 1), ACL_ERROR_RT_INVALID_DEVICEID);
    assert_eq!(set_device(7, 2, 1), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(set_device(7, 0, 1), setup);
    assert_eq!(unsafe { aclrtResetDeviceResLimit(7) }, setup);
    assert_eq!(unsafe { aclrtResetDeviceResLimit(-1) }, ACL_ERROR_RT_INVALID_DEVICEID);
    let nothing = ACL_ERROR_RT_CONTEXT_NULL;
    assert_eq!(limits(7, null, 0), [(setup, 77), (nothing, 77), (nothing, 77)]);
    assert_eq!(set_stream(null, 0, 1), nothing);
    let streamless = unsafe {
        [
            aclrtResetStreamResLimit(null),
            aclrtUseStreamResInCurrentThread(null),
            aclrtUnuseStreamResInCurrentThread(null),
        ]
    };
    assert_eq!(streamless, [nothing; 3]);

    assert_eq!(unsafe { aclrtSetDevice(7) }, 0);
    assert_eq!(limits(7, null, 0), [(0, 24); 3], "hardware");
    assert_eq!(limits(7, null, 1), [(0, 48); 3]);
    assert_eq!(limits(7, null, 2), [(ACL_ERROR_RT_PARAM_INVALID, 77); 3]);
    assert_eq!(set_device(7, 0, 25), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(set_device(7, 0, 24), 0);
    assert_eq!(set_device(7, 0, 10), 0, "the last call wins");
    assert_eq!(limits(7, null, 0), [(0, 10); 3]);
    assert_eq!(limits(7, null, 1), [(0, 48); 3], "the other type");
    assert_eq!(set_stream(null, 0, 25), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(set_stream(null, 5, 2), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(set_stream(null, 0, 20), 0, "more than the process may use");
    assert_eq!(limits(7, null, 0), [(0, 10), (0, 20), (0, 10)], "not in force in the thread yet");
    let stream = default_stream();
    assert_eq!(limits(7, stream, 0)[1], (0, 20), "NULL was the default stream");
    assert_eq!(unsafe { aclrtUseStreamResInCurrentThread(stream) }, 0);
    assert_eq!(limits(7, null, 0), [(0, 10), (0, 20), (0, 20)]);
    std::thread::spawn(|| {
        assert_eq!(unsafe { aclrtSetDevice(7) }, 0);
        assert_eq!(limits(7, null_mut(), 0), [(0, 10), (0, 20), (0, 10)]);
        assert_eq!(unsafe { aclrtResetDevice(7) }, 0);
    })
    .join()
    .unwrap();
    let context = create(7);
    assert_eq!(unsafe { aclrtUnuseStreamResInCurrentThread(default_stream()) }, 0, "not the stream in use");
    assert_eq!(limits(7, stream, 0)[2], (0, 20));
    assert_eq!(unsafe { aclrtUnuseStreamResInCurrentThread(stream) }, 0);
    assert_eq!(limits(7, stream, 0)[2], (0, 10));
    assert_eq!(unsafe { aclrtUseStreamResInCurrentThread(stream) }, 0);
    assert_eq!(unsafe { aclrtResetStreamResLimit(stream) }, 0);
    assert_eq!(limits(7, stream, 0), [(0, 10); 3]);
    assert_eq!(unsafe { aclrtResetDeviceResLimit(7) }, 0);
    assert_eq!(unsafe { aclrtResetDeviceResLimit(7) }, 0);
    assert_eq!(limits(7, stream, 0), [(0, 24); 3]);

    let bad = ACL_ERROR_RT_INVALID_HANDLE;
    for wild in [stale_stream(), 0x99] {
        let wild = wild as aclrtStream;
        let codes = unsafe {
            [
                aclrtSetStreamResLimit(wild, 9, 99),
                aclrtGetStreamResLimit(wild, 9, &mut 0),
                aclrtResetStreamResLimit(wild),
                aclrtUseStreamResInCurrentThread(wild),
                aclrtUnuseStreamResInCurrentThread(wild),
            ]
        };
        assert_eq!(codes, [bad; 5]);
    }
    let nulls = unsafe {
        [
            aclrtGetDeviceResLimit(7, 0, null_mut()),
            aclrtGetStreamResLimit(null, 0, null_mut()),
            aclrtGetResInCurrentThread(0, null_mut()),
        ]
    };
    assert_eq!(nulls, [ACL_ERROR_INVALID_PARAM; 3]);
    assert_eq!(unsafe { aclrtDestroyContext(context) }, 0);
    assert_eq!(unsafe { aclrtResetDevice(7) }, 0);
}

/// A stream handle that was good once.
fn stale_stream() -> u64 {
    let before = current().unwrap();
    let context = create(7);
    let stream = default_stream() as u64;
    assert_eq!(unsafe { aclrtDestroyContext(context) }, 0);
    assert_eq!(unsafe { aclrtSetCurrentContext(before as aclrtContext) }, 0);
    stream
}

/// *#06 on the ipv350, and aclrtCreateContext#08.
#[test]
fn the_ipv350_has_no_default_stream() {
    alone("the_ipv350_has_no_default_stream", &[("TOPROPE_PRODUCT", "ipv350")], || {
        create(0);
        let mut stream = null_mut();
        let unsupported = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        assert_eq!(unsafe { aclrtCtxGetCurrentDefaultStream(&mut stream) }, unsupported);
        assert_eq!(unsafe { aclrtSetSysParamOpt(0, 1) }, unsupported);
        assert_eq!(unsafe { aclrtSetDeviceResLimit(0, 0, 1) }, unsupported);
        assert_eq!(runtime().unwrap().devices[0].streams(), 0);
    });
}
