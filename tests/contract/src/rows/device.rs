//! Chapter 04: devices that are set, reset, waited for and linked. What they are: `device_info.rs`.

use std::sync::Mutex;

use super::prelude::*;
use crate::kit::{current as current_context, same as same_code};
use crate::target::Target;

/// Ids that no device has.
const OUTSIDE: [i32; 2] = [4, -1];

pub fn rows(r: &mut Rows) {
    set(r);
    reset(r);
    force(r);
    current(r);
    synchronize(r);
    peer(r);
    visible(r);
    states(r);
}

fn has_default(target: &Target) -> bool {
    target.product.has("default_stream")
}

/// Whether the default context of a device is there.
fn active(id: i32) -> bool {
    let mut active = -1;
    ok!(aclrtGetPrimaryCtxState(id, null_mut(), &mut active));
    active == 1
}

/// Whether a device is set, also where it brings no context.
fn is_set(t: &Test<'_>, id: i32) -> bool {
    if t.has("default_stream") {
        return active(id);
    }
    // A reset of a device that is not set is refused; one more set puts things right.
    let code = acl!(aclrtResetDevice(id));
    if code == 0 {
        ok!(aclrtSetDevice(id));
    }
    code == 0
}

fn set(r: &mut Rows) {
    r.row("aclrtSetDevice#01", |_| {
        let (context, stream) = (current_context(), get!(null_mut(), aclrtCtxGetCurrentDefaultStream()));
        assert!(!stream.is_null());
        bare(|| {
            ok!(aclrtSetDevice(0));
            assert_eq!(current_context(), context);
            assert_eq!(get!(null_mut(), aclrtCtxGetCurrentDefaultStream()), stream);
        });
    });
    r.row("aclrtSetDevice#02", |t| {
        ok!(aclrtSetDevice(1));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDevice(1));
        assert!(is_set(t, 1));
        ok!(aclrtResetDevice(1));
        code!(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(1));
    });
    let outside = |_: &Test<'_>| {
        let before = get!(-1, aclrtGetDevice());
        let codes = OUTSIDE.map(|id| acl!(aclrtSetDevice(id)));
        assert_eq!(get!(-1, aclrtGetDevice()), before);
        codes
    };
    r.decided("aclrtSetDevice#03", outside);
    r.row("aclrtSetDevice#04", outside);
    r.row("aclrtSetDevice#05", |_| {
        together(3, || {
            ok!(aclrtSetDevice(1));
            assert_eq!(get!(-1, aclrtGetDevice()), 1);
        });
        for id in [1, 2, 1] {
            ok!(aclrtSetDevice(id));
            assert_eq!(get!(-1, aclrtGetDevice()), id);
        }
        assert!(active(2), "switching does not reset");
    });
    let none = |_: &Test<'_>| {
        ok!(aclrtSetDevice(0));
        code!(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&mut null_mut()));
        ok!(aclrtResetDevice(0));
    };
    r.row("aclrtSetDevice#06", none).bare();
    r.row("aclrtResetDevice#08", none).bare();
    r.row("aclrtSetDevice#07", |_| {
        // The process ends with a device that is set and memory, streams and work on it: it must end at all.
        ok!(aclrtSetDevice(0));
        let mut context = null_mut();
        ok!(aclrtCreateContext(&mut context, 0));
        std::mem::forget((device(1 << 20), Stream::new()));
    })
    .alone();
    r.row("aclrtSetDevice#08", |_| {
        let context = Context::new(0);
        ok!(aclrtSetCurrentContext(context.h()));
        ok!(aclrtSetDevice(0));
        let now = current_context();
        assert!(now != context.h() && !now.is_null());
    });
    r.hardware("aclrtSetDevice#09", "no platform information is read here that could fail to refresh");
    r.row("aclrtSetDevice#10", |_| {
        assert_eq!(get!(0, aclrtGetDeviceCount()), 2);
        ok!(aclrtSetDevice(1));
        code!(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(2));
        assert_eq!(get!(-1, aclrtGetLogicDevIdByUserDevId(1)), 3);
        assert_eq!(get!(-1, aclrtGetDevice()), 1);
    })
    .env("ASCEND_RT_VISIBLE_DEVICES", "1,3");
    r.row("aclrtSetDevice#11", |_| {
        let file = File::new(r#"{"defaultDevice": {"default_device": "2"}}"#);
        ok!(aclInit(file.path().as_ptr()));
        assert_eq!(get!(-1, aclrtGetDevice()), 2);
        ok!(aclrtSetDevice(1));
        assert_eq!(get!(-1, aclrtGetDevice()), 1);
        bare(|| assert_eq!(get!(-1, aclrtGetDevice()), 2));
    })
    .alone();
}

fn reset(r: &mut Rows) {
    r.row("aclrtResetDevice#01", |_| OUTSIDE.map(|id| acl!(aclrtResetDevice(id))));
    let counted = |t: &Test<'_>| {
        ok!(aclrtSetDevice(1));
        ok!(aclrtSetDevice(1));
        let memory = if t.has("default_stream") { Some(device_with(&[7])) } else { None };
        ok!(aclrtResetDevice(1));
        assert!(is_set(t, 1));
        // Memory and threads go on.
        assert!(memory.as_ref().is_none_or(|memory| memory.get() == [7]));
        ok!(aclrtResetDevice(1));
        assert!(!is_set(t, 1));
    };
    r.row("aclrtResetDevice#02", counted);
    r.row("aclrtResetDevice#09", counted);
    r.row("aclrtResetDevice#03", |_| {
        let context = current_context();
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        let stream = Stream::new().keep();
        ok!(aclrtResetDevice(0));
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(context));
        ok!(aclrtSetDevice(0));
        for gone in [default, stream] {
            code!(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(gone));
        }
    });
    r.row("aclrtResetDevice#04", |_| ends_after_work(|| ok!(aclrtResetDevice(0))));
    r.row("aclrtResetDevice#05", |_| {
        let never = acl!(aclrtResetDevice(2));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDevice(1));
        [never, acl!(aclrtResetDevice(1))]
    });
    r.row("aclrtResetDevice#06", |_| {
        ok!(aclrtSetDevice(1));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDeviceForce(1));
        acl!(aclrtResetDevice(1))
    });
    r.decided("aclrtResetDevice#07", |_| {
        // What is still there: those of the default context go; an explicit context stays until it is destroyed.
        let (context, event) = (Context::new(0), Event::new());
        let stream = context.enter(Stream::new);
        let code = acl!(aclrtResetDevice(0));
        ok!(aclrtSetCurrentContext(context.h()));
        ok!(aclrtSynchronizeStream(stream.h()));
        drop((stream, event));
        code
    })
    .only(has_default);
}

/// `end` takes device 0 down, which waits for what its default stream has to do.
fn ends_after_work(end: impl FnOnce()) {
    let (done, gate) = (Flag::new(), Gate::new());
    gate.hold(null_mut());
    done.after(null_mut());
    let opened = Flag::new();
    let opener = opened.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        opener.set();
        gate.open();
    });
    end();
    assert!(opened.is() && done.is(), "the device went down before its work was done");
    assert!(thread.join().is_ok());
}

fn force(r: &mut Rows) {
    r.row("aclrtResetDeviceForce#01", |_| OUTSIDE.map(|id| acl!(aclrtResetDeviceForce(id))));
    r.row("aclrtResetDeviceForce#02", |t| {
        (0..5).for_each(|_| ok!(aclrtSetDevice(1)));
        ok!(aclrtResetDeviceForce(1));
        assert!(!is_set(t, 1));
    });
    r.row("aclrtResetDeviceForce#03", |_| {
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDeviceForce(1));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDeviceForce(1));
        ok!(aclrtSetDevice(2));
        ok!(aclrtSetDevice(2));
        ok!(aclrtResetDeviceForce(2));
    });
    r.row("aclrtResetDeviceForce#04", |_| {
        ok!(aclrtSetDevice(1));
        bare(|| ok!(aclrtResetDeviceForce(1)));
        acl!(aclrtResetDeviceForce(1))
    });
    r.row("aclrtResetDeviceForce#05", |t| {
        ok!(aclrtSetDevice(1));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDevice(1));
        ok!(aclrtResetDeviceForce(1));
        assert!(!is_set(t, 1));
    });
    r.row("aclrtResetDeviceForce#06", |_| {
        ok!(aclrtSetDevice(1));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDevice(1));
        ok!(aclrtResetDevice(1));
        acl!(aclrtResetDeviceForce(1))
    });
    r.row("aclrtResetDeviceForce#07", |_| {
        ok!(aclrtSetDevice(1));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDevice(1));
        ok!(aclrtResetDeviceForce(1));
        acl!(aclrtResetDeviceForce(1))
    });
    r.row("aclrtResetDeviceForce#08", |_| ends_after_work(|| ok!(aclrtResetDeviceForce(0))));
}

fn current(r: &mut Rows) {
    r.row("aclrtGetDevice#01", |_| acl!(aclrtGetDevice(null_mut())));
    r.row("aclrtGetDevice#02", |_| acl!(aclrtGetDevice(&mut 0))).bare();
    r.row("aclrtGetDevice#03", |t| {
        let code = acl!(aclrtGetDevice(&mut 0));
        // IPV350 has no default device (aclInit#25).
        if t.has("default_stream") {
            let file = File::new(r#"{"defaultDevice": {"default_device": "3"}}"#);
            ok!(aclInit(file.path().as_ptr()));
            assert_eq!(get!(-1, aclrtGetDevice()), 3);
        }
        code
    })
    .alone();
    r.row("aclrtGetDevice#04", |_| {
        let context = Context::new(2);
        assert_eq!(get!(-1, aclrtGetDevice()), 0);
        context.enter(|| assert_eq!(get!(-1, aclrtGetDevice()), 2));
    });
    r.row("aclrtGetDeviceCount#01", |_| acl!(aclrtGetDeviceCount(null_mut())));
    r.row("aclrtGetDeviceCount#02", |_| assert_eq!(get!(0, aclrtGetDeviceCount()), 3))
        .env("ASCEND_RT_VISIBLE_DEVICES", "0,2,3");
    r.row("aclrtGetDeviceCount#03", |_| acl!(aclrtGetDeviceCount(&mut 0)))
        .env("ASCEND_RT_VISIBLE_DEVICES", "2,1");
    r.row("aclrtGetRunMode#01", |_| acl!(aclrtGetRunMode(null_mut())));
    r.row("aclrtGetRunMode#02", |_| assert_eq!(get!(9, aclrtGetRunMode()), ACL_HOST));
    r.row("aclrtGetRunMode#03", |t| {
        let wanted = if t.target.rc() { ACL_DEVICE } else { ACL_HOST };
        assert_eq!(get!(9, aclrtGetRunMode()), wanted);
        assert_eq!((ACL_DEVICE, ACL_HOST), (0, 1));
    });
    r.row("aclrtSetTsDevice#01", |_| [ACL_TS_ID_RESERVED, 9].map(|id| acl!(aclrtSetTsDevice(id))));
    r.row("aclrtSetTsDevice#02", |_| {
        for id in [ACL_TS_ID_AIVECTOR, ACL_TS_ID_AICORE] {
            ok!(aclrtSetTsDevice(id));
            let stream = Stream::new();
            let done = Flag::new();
            done.after(stream.h());
            stream.wait();
            assert!(done.is());
        }
    });
}

fn synchronize(r: &mut Rows) {
    let waits = |synchronize: fn()| {
        let (one, two) = (Stream::new(), Stream::new());
        let (done_one, done_two) = (Flag::new(), Flag::new());
        done_one.after(one.h());
        done_two.after(two.h());
        synchronize();
        assert!(done_one.is() && done_two.is());
        // Of this device, not of others.
        let (gate, other) = (Gate::new(), Context::new(1));
        let stream = other.enter(|| {
            let stream = Stream::new();
            gate.hold(stream.h());
            stream
        });
        synchronize();
        gate.open();
        other.enter(|| stream.wait());
    };
    let plain: fn() = || ok!(aclrtSynchronizeDevice());
    let timed: fn() = || ok!(aclrtSynchronizeDeviceWithTimeout(20_000));
    let endless: fn() = || ok!(aclrtSynchronizeDeviceWithTimeout(-1));
    r.row("aclrtSynchronizeDevice#01", move |_| waits(plain));
    r.row("aclrtSynchronizeDevice#03", move |_| waits(plain));
    r.row("aclrtSynchronizeDevice#02", |_| acl!(aclrtSynchronizeDevice())).bare();
    r.row("aclrtSynchronizeDeviceWithTimeout#01", move |_| {
        waits(timed);
        waits(endless);
    });
    r.row("aclrtSynchronizeDeviceWithTimeout#05", move |_| waits(timed));
    r.row("aclrtSynchronizeDeviceWithTimeout#07", move |_| waits(endless));
    let overload: fn(i32) -> i32 = |timeout| unsafe { cpp_synchronize_device(timeout) };
    r.row("aclrtSynchronizeDevice<cpp>#01", move |_| {
        for timeout in [0, -2] {
            same_code("the overload", overload(timeout), ACL_ERROR_RT_PARAM_INVALID);
            calls("aclrtSynchronizeDeviceWithTimeout");
        }
    });
    r.row("aclrtSynchronizeDevice<cpp>#02", |_| header_only("aclrtSynchronizeDevice"));
    for id in ["aclrtSynchronizeDevice<cpp>#03", "aclrtSynchronizeDevice<cpp>#04"] {
        r.row(id, move |_| {
            waits(|| same_code("the overload", unsafe { cpp_synchronize_device(-1) }, 0));
            waits(|| same_code("the overload", unsafe { cpp_synchronize_device(20_000) }, 0));
            let stream = Stream::new();
            let gate = held(stream.h());
            same_code("the overload", overload(5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
            gate.open();
            stream.wait();
        });
    }
    r.row("aclrtSynchronizeDeviceWithTimeout#02", |_| {
        [-2, i32::MIN].map(|timeout| acl!(aclrtSynchronizeDeviceWithTimeout(timeout)))
    });
    r.row("aclrtSynchronizeDeviceWithTimeout#03", |_| acl!(aclrtSynchronizeDeviceWithTimeout(0)));
    r.row("aclrtSynchronizeDeviceWithTimeout#04", |_| {
        let stream = Stream::new();
        let gate = held(stream.h());
        let code = acl!(aclrtSynchronizeDeviceWithTimeout(5));
        gate.open();
        stream.wait();
        code
    });
    r.row("aclrtSynchronizeDeviceWithTimeout#06", |_| acl!(aclrtSynchronizeDeviceWithTimeout(5))).bare();
}

fn status(from: i32, to: i32) -> i32 {
    get!(-1, aclrtDevicePeerAccessStatus(from, to))
}

fn peer(r: &mut Rows) {
    r.row("aclrtDeviceCanAccessPeer#01", |_| acl!(aclrtDeviceCanAccessPeer(&mut 0, 1, 1))).ep();
    r.row("aclrtDeviceCanAccessPeer#02", |_| acl!(aclrtDeviceCanAccessPeer(null_mut(), 0, 1))).ep();
    r.row("aclrtDeviceCanAccessPeer#03", |_| {
        code!(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(null_mut(), 9, 9));
        code!(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(null_mut(), 0, 9));
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceCanAccessPeer(null_mut(), 0, 1));
    })
    .ep();
    r.decided("aclrtDeviceCanAccessPeer#04", |_| {
        [(0, 4), (4, 0), (-1, 0)].map(|(one, two)| acl!(aclrtDeviceCanAccessPeer(&mut 0, one, two)))
    })
    .ep();
    r.row("aclrtDeviceCanAccessPeer#05", |_| {
        let mut can = -1;
        ok!(aclrtDeviceCanAccessPeer(&mut can, 0, 1));
        assert_eq!(can, 1);
    })
    .ep();
    r.row("aclrtDeviceCanAccessPeer#06", |_| acl!(aclrtDeviceCanAccessPeer(&mut 0, 0, 1))).only(Target::rc);
    r.hardware(
        "aclrtDeviceCanAccessPeer#07",
        "the open control CPU is a form of its own that spec/products.csv does not have",
    );
    r.hardware("aclrtDeviceCanAccessPeer#08", "about devices of other machines: a process sees its own only");
    r.row("aclrtDeviceEnablePeerAccess#01", |_| {
        [1, u32::MAX].map(|flags| acl!(aclrtDeviceEnablePeerAccess(1, flags)))
    });
    r.row("aclrtDeviceEnablePeerAccess#02", |_| acl!(aclrtDeviceEnablePeerAccess(0, 0)));
    r.row("aclrtDeviceEnablePeerAccess#03", |_| {
        bare(|| {
            code!(ACL_ERROR_FEATURE_UNSUPPORTED, aclrtDeviceEnablePeerAccess(9, 1));
            code!(ACL_ERROR_RT_CONTEXT_NULL, aclrtDeviceEnablePeerAccess(9, 0));
        });
        code!(ACL_ERROR_INVALID_PARAM, aclrtDeviceEnablePeerAccess(0, 0));
        code!(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceEnablePeerAccess(9, 0));
    });
    r.row("aclrtDeviceEnablePeerAccess#04", |_| acl!(aclrtDeviceEnablePeerAccess(1, 0))).bare();
    r.decided("aclrtDeviceEnablePeerAccess#05", |_| {
        OUTSIDE.map(|id| acl!(aclrtDeviceEnablePeerAccess(id, 0)))
    });
    r.row("aclrtDeviceEnablePeerAccess#06", |_| {
        assert_eq!((status(0, 1), status(1, 0)), (0, 0));
        ok!(aclrtDeviceEnablePeerAccess(1, 0));
        assert_eq!((status(0, 1), status(1, 0)), (1, 0));
    });
    r.row("aclrtDeviceEnablePeerAccess#07", |_| {
        ok!(aclrtDeviceEnablePeerAccess(1, 0));
        Context::new(0).enter(|| assert_eq!(status(0, 1), 1));
        bare(|| assert_eq!(status(0, 1), 1));
    });
    r.hardware(
        "aclrtDeviceEnablePeerAccess#08",
        "the open control CPU is a form of its own that spec/products.csv does not have",
    );
    r.row("aclrtDeviceDisablePeerAccess#01", |_| acl!(aclrtDeviceDisablePeerAccess(1))).bare();
    r.row("aclrtDeviceDisablePeerAccess#02", |_| acl!(aclrtDeviceDisablePeerAccess(0)));
    r.decided("aclrtDeviceDisablePeerAccess#03", |_| {
        OUTSIDE.map(|id| acl!(aclrtDeviceDisablePeerAccess(id)))
    });
    r.row("aclrtDeviceDisablePeerAccess#04", |_| {
        ok!(aclrtDeviceEnablePeerAccess(1, 0));
        bare(|| {
            ok!(aclrtSetDevice(0));
            ok!(aclrtDeviceDisablePeerAccess(1));
        });
        assert_eq!(status(0, 1), 0);
    });
    r.decided("aclrtDeviceDisablePeerAccess#05", |_| acl!(aclrtDeviceDisablePeerAccess(1)));
    r.row("aclrtDevicePeerAccessStatus#01", |_| acl!(aclrtDevicePeerAccessStatus(0, 1, null_mut())));
    r.row("aclrtDevicePeerAccessStatus#02", |t| {
        assert_eq!(status(0, 1), 0);
        if t.supports("aclrtDeviceEnablePeerAccess") {
            ok!(aclrtDeviceEnablePeerAccess(1, 0));
            assert_eq!(status(0, 1), 1);
        }
    });
    r.row("aclrtDevicePeerAccessStatus#03", |_| {
        [(0, 4), (4, 0), (-1, 0)].map(|(one, two)| acl!(aclrtDevicePeerAccessStatus(one, two, &mut 0)))
    });
    r.row("aclrtDevicePeerAccessStatus#04", |_| assert_eq!(status(0, 1), 0));
}

type Map = fn(i32, *mut i32) -> i32;

/// A function from one number space of devices to another one.
macro_rules! map {
    ($name:ident) => {
        (|id, out| acl!($name(id, out))) as Map
    };
}

fn visible(r: &mut Rows) {
    const LIST: (&str, &str) = ("ASCEND_RT_VISIBLE_DEVICES", "1,2");
    // With user ids 0 and 1 for the logic ids 1 and 2.
    let maps = |map: Map, forward: bool| {
        let mut out = -1;
        for user in 0..2 {
            let (from, to) = if forward { (user, user + 1) } else { (user + 1, user) };
            same_code("map", map(from, &mut out), 0);
            assert_eq!(out, to);
        }
    };
    let same = |map: Map| {
        move |_: &Test<'_>| {
            for id in 0..4 {
                let mut out = -1;
                same_code("map", map(id, &mut out), 0);
                assert_eq!(out, id);
            }
        }
    };
    let null = |map: Map| move |_: &Test<'_>| map(0, null_mut());
    let outside = |map: Map| move |_: &Test<'_>| [4, 99].map(|id| map(id, &mut 0));
    let unknown = |map: Map| move |_: &Test<'_>| [-1, 4, i32::MIN].map(|id| map(id, &mut 0));

    let logic_by_user = map!(aclrtGetLogicDevIdByUserDevId);
    r.row("aclrtGetLogicDevIdByUserDevId#01", null(logic_by_user));
    r.row("aclrtGetLogicDevIdByUserDevId#02", move |_| maps(logic_by_user, true)).env(LIST.0, LIST.1);
    r.row("aclrtGetLogicDevIdByUserDevId#03", outside(logic_by_user));
    r.row("aclrtGetLogicDevIdByUserDevId#04", same(logic_by_user));
    r.decided("aclrtGetLogicDevIdByUserDevId#05", unknown(logic_by_user));

    let user_by_logic = map!(aclrtGetUserDevIdByLogicDevId);
    r.row("aclrtGetUserDevIdByLogicDevId#01", null(user_by_logic));
    r.row("aclrtGetUserDevIdByLogicDevId#02", move |_| maps(user_by_logic, false)).env(LIST.0, LIST.1);
    r.row("aclrtGetUserDevIdByLogicDevId#03", outside(user_by_logic));
    r.row("aclrtGetUserDevIdByLogicDevId#04", same(user_by_logic));
    r.decided("aclrtGetUserDevIdByLogicDevId#05", unknown(user_by_logic));

    let logic_by_phy = map!(aclrtGetLogicDevIdByPhyDevId);
    r.row("aclrtGetLogicDevIdByPhyDevId#01", null(logic_by_phy));
    r.row("aclrtGetLogicDevIdByPhyDevId#02", move |_| maps(logic_by_phy, false)).env(LIST.0, LIST.1);
    r.row("aclrtGetLogicDevIdByPhyDevId#03", same(logic_by_phy));
    r.decided("aclrtGetLogicDevIdByPhyDevId#04", unknown(logic_by_phy));

    let phy_by_logic = map!(aclrtGetPhyDevIdByLogicDevId);
    r.row("aclrtGetPhyDevIdByLogicDevId#01", null(phy_by_logic));
    r.row("aclrtGetPhyDevIdByLogicDevId#02", move |_| maps(phy_by_logic, true)).env(LIST.0, LIST.1);
    r.row("aclrtGetPhyDevIdByLogicDevId#03", move |_| [2, 3].map(|id| phy_by_logic(id, &mut 0)))
        .env(LIST.0, LIST.1);
    r.row("aclrtGetPhyDevIdByLogicDevId#04", same(phy_by_logic));
    r.decided("aclrtGetPhyDevIdByLogicDevId#05", unknown(phy_by_logic));

    let user_by_phy = map!(aclrtGetUserDevIdByPhyDevId);
    r.row("aclrtGetUserDevIdByPhyDevId#01", null(user_by_phy));
    r.row("aclrtGetUserDevIdByPhyDevId#02", move |_| {
        for id in 0..4 {
            let (mut one, mut two) = (-1, -1);
            assert_eq!(user_by_phy(id, &mut one), logic_by_phy(id, &mut two));
            assert_eq!(one, two);
        }
    })
    .env(LIST.0, LIST.1);
    r.row("aclrtGetUserDevIdByPhyDevId#03", same(user_by_phy));
    r.decided("aclrtGetUserDevIdByPhyDevId#04", unknown(user_by_phy));

    let phy_by_user = map!(aclrtGetPhyDevIdByUserDevId);
    r.row("aclrtGetPhyDevIdByUserDevId#01", null(phy_by_user));
    r.row("aclrtGetPhyDevIdByUserDevId#02", move |_| {
        for id in 0..4 {
            let (mut one, mut two) = (-1, -1);
            assert_eq!(phy_by_user(id, &mut one), phy_by_logic(id, &mut two));
            assert_eq!(one, two);
        }
    })
    .env(LIST.0, LIST.1);
    r.row("aclrtGetPhyDevIdByUserDevId#03", move |_| [2, 3].map(|id| phy_by_user(id, &mut 0)))
        .env(LIST.0, LIST.1);
    r.row("aclrtGetPhyDevIdByUserDevId#04", same(phy_by_user));
    r.decided("aclrtGetPhyDevIdByUserDevId#05", unknown(phy_by_user));
}

/// What a state callback was told: device, state, argument.
static TOLD: Mutex<Vec<(i32, aclrtDeviceState, usize)>> = Mutex::new(Vec::new());

unsafe extern "C" fn told(device: i32, state: aclrtDeviceState, args: *mut c_void) {
    if let Ok(mut list) = TOLD.lock() {
        list.push((device, state, args as usize));
    }
}

fn all_told() -> Vec<(i32, aclrtDeviceState, usize)> {
    TOLD.lock().map(|mut list| std::mem::take(&mut *list)).unwrap_or_default()
}

fn states(r: &mut Rows) {
    r.row("aclrtRegDeviceStateCallback#01", |_| {
        acl!(aclrtRegDeviceStateCallback(null(), Some(told), null_mut()))
    });
    r.decided("aclrtRegDeviceStateCallback#02", |_| {
        acl!(aclrtRegDeviceStateCallback(c"".as_ptr(), Some(told), null_mut()))
    });
    r.decided("aclrtRegDeviceStateCallback#03", |_| {
        ok!(aclrtRegDeviceStateCallback(c"one".as_ptr(), Some(told), null_mut()));
        acl!(aclrtRegDeviceStateCallback(c"one".as_ptr(), Some(told), null_mut()))
    })
    .alone();
    r.row("aclrtRegDeviceStateCallback#04", |_| {
        ok!(aclrtRegDeviceStateCallback(c"one".as_ptr(), Some(told), null_mut()));
        ok!(aclrtSetDevice(1));
        assert_eq!(all_told().len(), 2);
        ok!(aclrtRegDeviceStateCallback(c"one".as_ptr(), None, null_mut()));
        ok!(aclrtResetDevice(1));
        assert_eq!(all_told().len(), 0);
        ok!(aclrtRegDeviceStateCallback(c"one".as_ptr(), Some(told), null_mut()));
    })
    .alone();
    r.row("aclrtRegDeviceStateCallback#05", |_| {
        ok!(aclrtRegDeviceStateCallback(c"one".as_ptr(), Some(told), null_mut()));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDevice(1));
        ok!(aclrtSetDevice(1));
        ok!(aclrtResetDeviceForce(1));
        let states: Vec<u32> = all_told().iter().map(|(_, state, _)| *state).collect();
        assert_eq!(states, [0, 1, 2, 3, 0, 1, 2, 3]);
    })
    .alone();
    r.row("aclrtRegDeviceStateCallback#06", |_| {
        ok!(aclrtRegDeviceStateCallback(c"one".as_ptr(), Some(told), at(0x77)));
        ok!(aclrtSetDevice(3));
        assert_eq!(all_told(), [(3, 0, 0x77), (3, 1, 0x77)]);
    })
    .alone();
}
