//! Chapter 03.

use super::prelude::*;

const CUBE: aclrtDevResLimitType = ACL_RT_DEV_RES_CUBE_CORE;
const VECTOR: aclrtDevResLimitType = ACL_RT_DEV_RES_VECTOR_CORE;

pub fn rows(r: &mut Rows) {
    options(r);
    of_device(r);
    of_stream(r);
    of_thread(r);
}

fn options(r: &mut Rows) {
    let all = [
        ACL_OPT_DETERMINISTIC,
        ACL_OPT_ENABLE_DEBUG_KERNEL,
        ACL_OPT_STRONG_CONSISTENCY,
        ACL_OPT_ENABLE_KERNEL_EARLY_START,
    ];
    r.row("aclrtSetSysParamOpt#01", move |_| {
        all.iter().for_each(|option| ok!(aclrtSetSysParamOpt(*option, 1)));
        [4, u32::MAX].map(|option| acl!(aclrtSetSysParamOpt(option, 0)))
    })
    .alone();
    r.row("aclrtSetSysParamOpt#02", |_| {
        (0..4).for_each(|value| ok!(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, value)));
    })
    .alone();
    r.row("aclrtSetSysParamOpt#03", |_| {
        let mut codes: Vec<i32> =
            [4, -1, i64::MAX].map(|value| acl!(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, value))).to_vec();
        for option in
            [ACL_OPT_ENABLE_DEBUG_KERNEL, ACL_OPT_STRONG_CONSISTENCY, ACL_OPT_ENABLE_KERNEL_EARLY_START]
        {
            codes.extend([2, -1].map(|value| acl!(aclrtSetSysParamOpt(option, value))));
        }
        codes
    });
    r.row("aclrtSetSysParamOpt#04", |_| {
        ok!(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3));
        // Seen from everywhere, and not a setting of any context.
        bare(|| assert_eq!(get!(-1, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC)), 3));
        code!(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &mut 0));
    })
    .alone_device();
    r.row("aclrtSetSysParamOpt#05", |_| {
        code!(ACL_ERROR_INVALID_PARAM, aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1));
        ok!(aclrtSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1));
        assert_eq!(get!(-1, aclrtGetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START)), 1);
    })
    .alone_device();
    r.row("aclrtSetSysParamOpt#06", |_| {
        for value in [2, 0, 3] {
            ok!(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, value));
        }
        assert_eq!(get!(-1, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC)), 3);
    })
    .alone();
    r.row("aclrtGetSysParamOpt#01", |_| {
        [4, u32::MAX].map(|option| acl!(aclrtGetSysParamOpt(option, &mut 0)))
    });
    r.row("aclrtGetSysParamOpt#02", |_| acl!(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, null_mut())));
    r.row("aclrtGetSysParamOpt#03", move |_| {
        all.iter().for_each(|option| assert_eq!(get!(-1, aclrtGetSysParamOpt(*option)), 0));
    })
    .alone();
    r.row("aclrtGetSysParamOpt#04", |_| {
        ok!(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2));
        ok!(aclrtSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 1));
        assert_eq!(get!(-1, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC)), 2);
        assert_eq!(get!(-1, aclrtGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY)), 1);
        assert_eq!(get!(-1, aclrtGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL)), 0);
    })
    .alone();
}

/// Cores of the product: cube and vector.
fn cores(t: &Test<'_>) -> [u32; 2] {
    [t.number("ai_core_num") as u32, t.number("vector_core_num") as u32]
}

/// Limits of a device.
fn limits(id: i32) -> [u32; 2] {
    [CUBE, VECTOR].map(|kind| get!(u32::MAX, aclrtGetDeviceResLimit(id, kind)))
}

fn of_device(r: &mut Rows) {
    let outside = [4, -1];
    let read = move |_: &Test<'_>| outside.map(|id| acl!(aclrtGetDeviceResLimit(id, CUBE, &mut 0)));
    r.decided("aclrtGetDeviceResLimit#01", read);
    r.row("aclrtGetDeviceResLimit#02", read);
    r.row("aclrtGetDeviceResLimit#03", |_| {
        [2, u32::MAX].map(|kind| acl!(aclrtGetDeviceResLimit(0, kind, &mut 0)))
    });
    r.row("aclrtGetDeviceResLimit#04", |_| acl!(aclrtGetDeviceResLimit(0, CUBE, null_mut())));
    r.row("aclrtGetDeviceResLimit#05", |t| assert_eq!(limits(0), cores(t)));
    r.row("aclrtGetDeviceResLimit#06", |_| acl!(aclrtGetDeviceResLimit(1, CUBE, &mut 0)));
    let write = move |_: &Test<'_>| outside.map(|id| acl!(aclrtSetDeviceResLimit(id, CUBE, 1)));
    r.decided("aclrtSetDeviceResLimit#01", write);
    r.row("aclrtSetDeviceResLimit#02", write);
    r.row("aclrtSetDeviceResLimit#03", |_| {
        [2, u32::MAX].map(|kind| acl!(aclrtSetDeviceResLimit(0, kind, 1)))
    });
    r.row("aclrtSetDeviceResLimit#04", |t| {
        let cores = cores(t);
        let codes =
            [CUBE, VECTOR].map(|kind| acl!(aclrtSetDeviceResLimit(0, kind, cores[kind as usize] + 1)));
        assert_eq!(limits(0), cores, "a refused limit changes nothing");
        ok!(aclrtSetDeviceResLimit(0, CUBE, cores[0]));
        codes
    });
    r.decided("aclrtSetDeviceResLimit#05", |_| {
        // After work ran, too.
        let memory = device_with(&[1]);
        assert_eq!(memory.get(), [1]);
        acl!(aclrtSetDeviceResLimit(0, CUBE, 1))
    });
    r.row("aclrtSetDeviceResLimit#06", |t| {
        ok!(aclrtSetDeviceResLimit(0, CUBE, 1));
        let all = cores(t)[0];
        ok!(aclrtSetDeviceResLimit(0, CUBE, all));
        assert_eq!(limits(0)[0], all);
        ok!(aclrtSetDeviceResLimit(0, CUBE, 1));
        assert_eq!(limits(0)[0], 1);
    });
    r.hardware(
        "aclrtSetDeviceResLimit#07",
        "cores are not modelled: no task of this runtime takes fewer of them",
    );
    r.row("aclrtSetDeviceResLimit#08", |t| {
        let stream = Stream::new();
        let on_stream = || get!(0, aclrtGetStreamResLimit(stream.h(), CUBE));
        assert_eq!(on_stream(), cores(t)[0]);
        ok!(aclrtSetDeviceResLimit(0, CUBE, 1));
        assert_eq!(on_stream(), 1);
        ok!(aclrtSetStreamResLimit(stream.h(), CUBE, cores(t)[0]));
        assert_eq!(on_stream(), cores(t)[0]);
    });
    // The number of AI cores of these products, that of cube cores of the others: one column.
    let kind = |t: &Test<'_>| assert_eq!(limits(0)[0], t.number("ai_core_num") as u32);
    r.row("aclrtSetDeviceResLimit#09", kind);
    r.row("aclrtSetDeviceResLimit#10", kind);
    r.row("aclrtSetDeviceResLimit#11", |_| acl!(aclrtSetDeviceResLimit(1, CUBE, 1)));
    let lift = move |_: &Test<'_>| outside.map(|id| acl!(aclrtResetDeviceResLimit(id)));
    r.decided("aclrtResetDeviceResLimit#01", lift);
    r.row("aclrtResetDeviceResLimit#02", lift);
    r.row("aclrtResetDeviceResLimit#03", |t| {
        ok!(aclrtSetDeviceResLimit(0, CUBE, 0));
        ok!(aclrtSetDeviceResLimit(0, VECTOR, 0));
        assert_eq!(limits(0), [0, 0]);
        ok!(aclrtResetDeviceResLimit(0));
        assert_eq!(limits(0), cores(t));
    });
    r.row("aclrtResetDeviceResLimit#04", |_| acl!(aclrtResetDeviceResLimit(0)));
    r.row("aclrtResetDeviceResLimit#05", |_| acl!(aclrtResetDeviceResLimit(1)));
}

fn of_stream(r: &mut Rows) {
    let null_stream = |t: &Test<'_>| {
        let default = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        ok!(aclrtSetStreamResLimit(null_mut(), CUBE, 1));
        assert_eq!(get!(0, aclrtGetStreamResLimit(default, CUBE)), 1);
        ok!(aclrtSetStreamResLimit(default, CUBE, 0));
        assert_eq!(get!(9, aclrtGetStreamResLimit(null_mut(), CUBE)), 0);
        ok!(aclrtResetStreamResLimit(null_mut()));
        assert_eq!(get!(9, aclrtGetStreamResLimit(default, CUBE)), cores(t)[0]);
    };
    r.row("aclrtGetStreamResLimit#01", null_stream);
    r.row("aclrtSetStreamResLimit#01", null_stream);
    r.row("aclrtResetStreamResLimit#01", null_stream);
    r.row("aclrtGetStreamResLimit#02", |_| on_no_streams(|s| acl!(aclrtGetStreamResLimit(s, CUBE, &mut 0))));
    r.row("aclrtSetStreamResLimit#02", |_| on_no_streams(|s| acl!(aclrtSetStreamResLimit(s, CUBE, 1))));
    r.row("aclrtResetStreamResLimit#02", |_| on_no_streams(|s| acl!(aclrtResetStreamResLimit(s))));
    r.row("aclrtGetStreamResLimit#03", |_| {
        let stream = Stream::new();
        [2, u32::MAX].map(|kind| acl!(aclrtGetStreamResLimit(stream.h(), kind, &mut 0)))
    });
    r.row("aclrtSetStreamResLimit#03", |_| {
        let stream = Stream::new();
        [2, u32::MAX].map(|kind| acl!(aclrtSetStreamResLimit(stream.h(), kind, 1)))
    });
    r.row("aclrtGetStreamResLimit#04", |_| acl!(aclrtGetStreamResLimit(null_mut(), CUBE, null_mut())));
    r.row("aclrtGetStreamResLimit#05", |t| {
        let stream = Stream::new();
        let limit = || get!(9, aclrtGetStreamResLimit(stream.h(), CUBE));
        assert_eq!(limit(), cores(t)[0]);
        ok!(aclrtSetDeviceResLimit(0, CUBE, 0));
        assert_eq!(limit(), 0);
        ok!(aclrtResetDeviceResLimit(0));
        assert_eq!(limit(), cores(t)[0]);
    });
    r.row("aclrtGetStreamResLimit#06", |_| acl!(aclrtGetStreamResLimit(null_mut(), CUBE, &mut 0))).bare();
    r.row("aclrtSetStreamResLimit#04", |t| {
        let stream = Stream::new();
        [CUBE, VECTOR].map(|kind| acl!(aclrtSetStreamResLimit(stream.h(), kind, cores(t)[kind as usize] + 1)))
    });
    r.row("aclrtSetStreamResLimit#05", |t| {
        let stream = Stream::new();
        ok!(aclrtSetDeviceResLimit(0, CUBE, 0));
        ok!(aclrtSetStreamResLimit(stream.h(), CUBE, cores(t)[0]));
        assert_eq!(get!(9, aclrtGetStreamResLimit(stream.h(), CUBE)), cores(t)[0]);
    });
    r.decided("aclrtSetStreamResLimit#06", |_| {
        let stream = Stream::new();
        Flag::new().after(stream.h());
        stream.wait();
        acl!(aclrtSetStreamResLimit(stream.h(), CUBE, 1))
    });
    r.row("aclrtSetStreamResLimit#07", |_| {
        let stream = Stream::new();
        for value in [1, 0, 1] {
            ok!(aclrtSetStreamResLimit(stream.h(), CUBE, value));
            assert_eq!(get!(9, aclrtGetStreamResLimit(stream.h(), CUBE)), value);
        }
    });
    r.row("aclrtSetStreamResLimit#08", |t| {
        let stream = Stream::new();
        ok!(aclrtSetStreamResLimit(stream.h(), CUBE, 0));
        assert_eq!(in_thread(CUBE), cores(t)[0]);
        ok!(aclrtUseStreamResInCurrentThread(stream.h()));
        assert_eq!(in_thread(CUBE), 0);
    });
    r.row("aclrtSetStreamResLimit#09", |_| acl!(aclrtSetStreamResLimit(null_mut(), CUBE, 1))).bare();
    r.row("aclrtResetStreamResLimit#03", |t| {
        let stream = Stream::new();
        ok!(aclrtSetStreamResLimit(stream.h(), CUBE, 0));
        ok!(aclrtSetStreamResLimit(stream.h(), VECTOR, 0));
        ok!(aclrtResetStreamResLimit(stream.h()));
        let now = [CUBE, VECTOR].map(|kind| get!(9, aclrtGetStreamResLimit(stream.h(), kind)));
        assert_eq!(now, cores(t));
    });
    r.row("aclrtResetStreamResLimit#04", |_| acl!(aclrtResetStreamResLimit(null_mut()))).bare();
}

fn in_thread(kind: aclrtDevResLimitType) -> u32 {
    get!(u32::MAX, aclrtGetResInCurrentThread(kind))
}

fn of_thread(r: &mut Rows) {
    r.row("aclrtUseStreamResInCurrentThread#01", |_| {
        let (none, one) = (Stream::new(), Stream::new());
        ok!(aclrtSetStreamResLimit(none.h(), CUBE, 0));
        ok!(aclrtSetStreamResLimit(one.h(), CUBE, 1));
        for (stream, limit) in [(&none, 0), (&one, 1), (&none, 0)] {
            ok!(aclrtUseStreamResInCurrentThread(stream.h()));
            assert_eq!(in_thread(CUBE), limit);
        }
    });
    r.decided("aclrtUseStreamResInCurrentThread#02", |_| {
        // Without limits of the stream those of the device hold.
        let stream = Stream::new();
        ok!(aclrtSetDeviceResLimit(0, CUBE, 0));
        let code = acl!(aclrtUseStreamResInCurrentThread(stream.h()));
        assert_eq!(in_thread(CUBE), 0);
        code
    });
    let null_stream = |t: &Test<'_>| {
        ok!(aclrtSetStreamResLimit(null_mut(), CUBE, 0));
        ok!(aclrtUseStreamResInCurrentThread(null_mut()));
        assert_eq!(in_thread(CUBE), 0);
        ok!(aclrtUnuseStreamResInCurrentThread(null_mut()));
        assert_eq!(in_thread(CUBE), cores(t)[0]);
    };
    r.row("aclrtUseStreamResInCurrentThread#03", null_stream);
    r.row("aclrtUnuseStreamResInCurrentThread#03", null_stream);
    r.row("aclrtUseStreamResInCurrentThread#04", |_| acl!(aclrtUseStreamResInCurrentThread(null_mut())))
        .bare();
    r.row("aclrtUnuseStreamResInCurrentThread#04", |_| acl!(aclrtUnuseStreamResInCurrentThread(null_mut())))
        .bare();
    r.row("aclrtUseStreamResInCurrentThread#05", |_| {
        on_no_streams(|s| acl!(aclrtUseStreamResInCurrentThread(s)))
    });
    r.row("aclrtUnuseStreamResInCurrentThread#05", |_| {
        on_no_streams(|s| acl!(aclrtUnuseStreamResInCurrentThread(s)))
    });
    r.row("aclrtUseStreamResInCurrentThread#06", |t| {
        let stream = Stream::new();
        ok!(aclrtSetStreamResLimit(stream.h(), CUBE, 0));
        ok!(aclrtUseStreamResInCurrentThread(stream.h()));
        on_device(t, 0, || assert_eq!(in_thread(CUBE), cores(t)[0]));
        assert_eq!(in_thread(CUBE), 0);
    });
    r.row("aclrtUnuseStreamResInCurrentThread#01", |t| {
        let stream = Stream::new();
        ok!(aclrtSetStreamResLimit(stream.h(), CUBE, 0));
        ok!(aclrtUseStreamResInCurrentThread(stream.h()));
        ok!(aclrtUnuseStreamResInCurrentThread(stream.h()));
        assert_eq!(in_thread(CUBE), cores(t)[0]);
    });
    r.row("aclrtUnuseStreamResInCurrentThread#02", |_| {
        let (used, other) = (Stream::new(), Stream::new());
        ok!(aclrtSetStreamResLimit(used.h(), CUBE, 0));
        ok!(aclrtUseStreamResInCurrentThread(used.h()));
        ok!(aclrtUnuseStreamResInCurrentThread(other.h()));
        assert_eq!(in_thread(CUBE), 0);
    });
    r.row("aclrtGetResInCurrentThread#01", |_| acl!(aclrtGetResInCurrentThread(CUBE, null_mut())));
    r.row("aclrtGetResInCurrentThread#02", |_| {
        [2, u32::MAX].map(|kind| acl!(aclrtGetResInCurrentThread(kind, &mut 0)))
    });
    r.row("aclrtGetResInCurrentThread#03", |t| {
        assert_eq!([in_thread(CUBE), in_thread(VECTOR)], cores(t));
        ok!(aclrtSetDeviceResLimit(0, CUBE, 1));
        assert_eq!([in_thread(CUBE), in_thread(VECTOR)], [1, cores(t)[1]]);
        let stream = Stream::new();
        ok!(aclrtSetStreamResLimit(stream.h(), CUBE, 0));
        ok!(aclrtUseStreamResInCurrentThread(stream.h()));
        assert_eq!(in_thread(CUBE), 0);
    });
    r.row("aclrtGetResInCurrentThread#04", |_| acl!(aclrtGetResInCurrentThread(CUBE, &mut 0))).bare();
}
