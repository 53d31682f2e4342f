//! Chapter 05.

use super::prelude::*;

fn stream_of(context: &Context) -> aclrtStream {
    context.enter(|| get!(null_mut(), aclrtCtxGetCurrentDefaultStream()))
}

/// A context beyond every device, and one before the first.
fn no_devices() -> [i32; 2] {
    let mut context = null_mut();
    [4, -1].map(|id| acl!(aclrtCreateContext(&mut context, id)))
}

pub fn rows(r: &mut Rows) {
    create(r);
    destroy(r);
    current_context(r);
    options(r);
    state(r);
}

fn create(r: &mut Rows) {
    r.row("aclrtCreateContext#01", |_| acl!(aclrtCreateContext(null_mut(), 0)));
    r.row("aclrtCreateContext#02", |_| no_devices());
    r.decided("aclrtCreateContext#03", |_| no_devices());
    r.row("aclrtCreateContext#04", |_| {
        let before = current();
        let context = get!(null_mut(), aclrtGetCurrentContext());
        assert_eq!(context, before);
        let mut made = null_mut();
        ok!(aclrtCreateContext(&mut made, 1));
        assert_eq!(current(), made);
        assert_eq!(get!(-1, aclrtGetDevice()), 1);
        ok!(aclrtDestroyContext(made));
    });
    r.row("aclrtCreateContext#05", |_| {
        let context = Context::new(0);
        let streams = [(); 2].map(|()| {
            bare(|| {
                ok!(aclrtSetCurrentContext(context.h()));
                let stream = Stream::new();
                stream.wait();
                stream.h()
            })
        });
        assert_ne!(streams[0], streams[1]);
    });
    r.row("aclrtCreateContext#06", |_| {
        let (one, two) = (Context::new(0), Context::new(0));
        assert_eq!(stream_of(&one), stream_of(&one));
        assert_ne!(stream_of(&one), stream_of(&two));
        one.enter(|| ok!(aclrtSynchronizeStream(stream_of(&one))));
    });
    r.decided("aclrtCreateContext#07", |_| {
        let before = get!(0, aclrtGetStreamAvailableNum());
        let context = Context::new(0);
        assert_eq!(before - get!(0, aclrtGetStreamAvailableNum()), 1);
        drop(context);
    })
    .ep();
    r.row("aclrtCreateContext#08", |_| {
        let context = Context::new(0);
        // aclrtCtxGetCurrentDefaultStream is not there; nor is what null would stand for.
        context.enter(|| code!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeStream(null_mut())));
    });
    r.row("aclrtCreateContext#09", |t| {
        let mut contexts = [null_mut(); 2];
        ok!(aclrtCreateContext(&mut contexts[0], 3));
        let one = get!(0, aclrtGetStreamAvailableNum());
        assert_eq!(u64::from(one), t.number("max_streams") - 2);
        ok!(aclrtCreateContext(&mut contexts[1], 3));
        assert_eq!(get!(0, aclrtGetStreamAvailableNum()), one - 1);
    })
    .alone();
    r.decided("aclrtCreateContext#10", |t| {
        let mut contexts = Vec::new();
        let code = loop {
            let mut context = null_mut();
            match acl!(aclrtCreateContext(&mut context, 0)) {
                0 => contexts.push(context),
                code => break code,
            }
            assert!((contexts.len() as u64) < t.number("max_streams"), "no limit");
        };
        assert_eq!(
            contexts.len() as u64,
            t.number("max_streams") - 1,
            "all but the default context's stream"
        );
        contexts.into_iter().for_each(|context| ok!(aclrtDestroyContext(context)));
        code
    })
    .only(|target| target.product.has("default_stream"));
    r.row("aclrtCreateContext#11", |_| {
        let (one, two) = (Context::new(0), Context::new(1));
        ok!(aclrtSetCurrentContext(one.h()));
        assert_eq!(current(), one.h());
        ok!(aclrtSetCurrentContext(two.h()));
        assert_eq!((current(), get!(-1, aclrtGetDevice())), (two.h(), 1));
    });
    r.hardware("aclrtCreateContext#12", "no platform information is read here that could fail to refresh");
}

fn destroy(r: &mut Rows) {
    r.row("aclrtDestroyContext#01", |_| acl!(aclrtDestroyContext(null_mut())));
    r.decided("aclrtDestroyContext#02", |_| {
        [acl!(aclrtDestroyContext(invented())), acl!(aclrtDestroyContext(Stream::new().h()))]
    });
    r.row("aclrtDestroyContext#03", |_| acl!(aclrtDestroyContext(current()))).only(has_default);
    r.decided("aclrtDestroyContext#04", |_| {
        let code = acl!(aclrtDestroyContext(current()));
        // It lives on.
        assert_eq!(get!(-1, aclrtGetDevice()), 0);
        code
    })
    .only(has_default);
    r.row("aclrtDestroyContext#05", |_| acl!(aclrtDestroyContext(stale_context())));
    r.decided("aclrtDestroyContext#06", |_| {
        // However the two threads meet, one succeeds, and the other one is told that there is nothing to destroy.
        let mut codes = Vec::new();
        for _ in 0..20 {
            let context = Context::new(0).keep() as usize;
            let mut both = together(2, || acl!(aclrtDestroyContext(at(context))));
            both.sort_unstable();
            assert_eq!(both[0], 0);
            codes.push(both[1]);
        }
        let known = [ACL_ERROR_RT_CONTEXT_NULL, ACL_ERROR_RT_CONTEXT_RELEASE_ERROR];
        assert!(codes.iter().all(|code| known.contains(code)), "{codes:?}");
    });
    r.row("aclrtDestroyContext#07", |t| {
        let context = Context::new(0);
        bare(|| {
            ok!(aclrtSetCurrentContext(context.h()));
            ok!(aclrtDestroyContext(context.h()));
            code!(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&mut null_mut()));
        });
        if t.has("default_stream") {
            // What the device gives serves again.
            let before = current();
            let mut made = null_mut();
            ok!(aclrtCreateContext(&mut made, 0));
            ok!(aclrtDestroyContext(made));
            assert_eq!(current(), before);
        }
    });
}

fn has_default(target: &crate::target::Target) -> bool {
    target.product.has("default_stream")
}

fn current_context(r: &mut Rows) {
    r.row("aclrtSetCurrentContext#01", |_| acl!(aclrtSetCurrentContext(null_mut())));
    r.row("aclrtSetCurrentContext#02", |_| {
        let before = current();
        let code = acl!(aclrtSetCurrentContext(stale_context()));
        assert_eq!(current(), before);
        code
    });
    r.row("aclrtSetCurrentContext#03", |_| {
        let (one, two) = (Context::new(0), Context::new(0));
        for context in [&one, &two, &one] {
            ok!(aclrtSetCurrentContext(context.h()));
            assert_eq!(current(), context.h());
        }
    });
    r.decided("aclrtSetCurrentContext#04", |_| {
        let before = current();
        ok!(aclrtResetDevice(0));
        acl!(aclrtSetCurrentContext(before))
    })
    .only(has_default);
    r.row("aclrtSetCurrentContext#05", |_| {
        let other = Context::new(2);
        assert_eq!(get!(-1, aclrtGetDevice()), 0);
        ok!(aclrtSetCurrentContext(other.h()));
        assert_eq!(get!(-1, aclrtGetDevice()), 2);
    });
    r.row("aclrtSetCurrentContext#06", |_| {
        let mut context = null_mut();
        ok!(aclrtCreateContext(&mut context, 0));
        assert_eq!(current(), context);
        ok!(aclrtDestroyContext(context));
    })
    .bare();
    r.row("aclrtSetCurrentContext#07", |_| {
        let context = current();
        // Another thread that selects the device meets the same default context.
        let other = bare(|| {
            ok!(aclrtSetDevice(0));
            current()
        });
        assert_eq!(other, context);
        assert!(!other.is_null());
    });
    r.row("aclrtSetCurrentContext#08", |_| {
        let context = bare(|| {
            let mut context = null_mut();
            ok!(aclrtCreateContext(&mut context, 0));
            context
        });
        bare(|| {
            ok!(aclrtSetCurrentContext(context));
            let memory = device_with(&[1, 2, 3]);
            assert_eq!(memory.get(), [1, 2, 3]);
            Stream::new().wait();
            ok!(aclrtDestroyContext(context));
        });
    });
    r.row("aclrtGetCurrentContext#01", |_| acl!(aclrtGetCurrentContext(null_mut())));
    r.row("aclrtGetCurrentContext#02", |_| {
        let (one, two) = (Context::new(0), Context::new(1));
        ok!(aclrtSetCurrentContext(two.h()));
        ok!(aclrtSetCurrentContext(one.h()));
        assert_eq!(get!(null_mut(), aclrtGetCurrentContext()), one.h());
    });
    r.row("aclrtGetCurrentContext#03", |_| acl!(aclrtGetCurrentContext(&mut null_mut()))).bare();
}

const CONTEXT_OPTIONS: [aclSysParamOpt; 3] =
    [ACL_OPT_DETERMINISTIC, ACL_OPT_ENABLE_DEBUG_KERNEL, ACL_OPT_STRONG_CONSISTENCY];

fn set_all() {
    for (option, value) in CONTEXT_OPTIONS.iter().zip(1..) {
        ok!(aclrtCtxSetSysParamOpt(*option, i64::from(value == 1)));
    }
}

fn options(r: &mut Rows) {
    r.row("aclrtCtxSetSysParamOpt#01", |_| {
        set_all();
        [acl!(aclrtCtxSetSysParamOpt(4, 0)), acl!(aclrtCtxSetSysParamOpt(u32::MAX, 0))]
    });
    r.row("aclrtCtxSetSysParamOpt#02", |_| {
        acl!(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 0))
    });
    r.row("aclrtCtxSetSysParamOpt#03", |_| {
        let (one, two) = (Context::new(0), Context::new(0));
        one.enter(|| ok!(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1)));
        two.enter(|| ok!(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2)));
        one.enter(|| assert_eq!(get!(-1, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC)), 1));
        two.enter(|| assert_eq!(get!(-1, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC)), 2));
        assert_eq!(get!(-1, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC)), 0);
    });
    r.row("aclrtCtxSetSysParamOpt#04", |_| {
        (0..4).for_each(|value| ok!(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, value)));
        [4, -1, i64::MAX].map(|value| acl!(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, value)))
    });
    r.row("aclrtCtxSetSysParamOpt#05", |_| {
        let mut codes = Vec::new();
        for option in [ACL_OPT_ENABLE_DEBUG_KERNEL, ACL_OPT_STRONG_CONSISTENCY] {
            (0..2).for_each(|value| ok!(aclrtCtxSetSysParamOpt(option, value)));
            codes.extend([2, -1].map(|value| acl!(aclrtCtxSetSysParamOpt(option, value))));
        }
        codes
    });
    r.row("aclrtCtxSetSysParamOpt#06", |_| {
        for value in [1, 3, 0, 2] {
            ok!(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, value));
            assert_eq!(get!(-1, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC)), value);
        }
    });
    r.row("aclrtCtxGetSysParamOpt#01", |_| {
        set_all();
        for (option, value) in CONTEXT_OPTIONS.iter().zip([1, 0, 0]) {
            assert_eq!(get!(-1, aclrtCtxGetSysParamOpt(*option)), value);
        }
        [4, u32::MAX].map(|option| acl!(aclrtCtxGetSysParamOpt(option, &mut 0)))
    });
    r.row("aclrtCtxGetSysParamOpt#02", |_| {
        acl!(aclrtCtxGetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, &mut 0))
    });
    r.row("aclrtCtxGetSysParamOpt#03", |_| {
        let (one, two) = (Context::new(0), Context::new(0));
        one.enter(|| ok!(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, 1)));
        one.enter(|| assert_eq!(get!(-1, aclrtCtxGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL)), 1));
        two.enter(|| {
            let mut value = 7;
            code!(
                ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                aclrtCtxGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, &mut value)
            );
        });
    });
    r.row("aclrtCtxGetSysParamOpt#04", |_| acl!(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, null_mut())));
    r.row("aclrtCtxGetSysParamOpt#05", |_| {
        CONTEXT_OPTIONS.map(|option| acl!(aclrtCtxGetSysParamOpt(option, &mut 0)))
    });
    r.decided("aclrtCtxGetSysParamOpt#06", |_| {
        // Also where the process has a value.
        ok!(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
        acl!(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &mut 0))
    })
    .alone_device();
}

fn state(r: &mut Rows) {
    r.row("aclrtCtxGetCurrentDefaultStream#01", |_| acl!(aclrtCtxGetCurrentDefaultStream(null_mut())));
    r.row("aclrtCtxGetCurrentDefaultStream#02", |_| {
        let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
        assert!(!stream.is_null());
        // It is what null stands for.
        let gate = Gate::new();
        gate.hold(null_mut());
        let mut status = 0;
        ok!(aclrtStreamQuery(stream, &mut status));
        assert_eq!(status, ACL_STREAM_STATUS_NOT_READY);
        gate.open();
        ok!(aclrtSynchronizeStream(stream));
    });
    r.row("aclrtCtxGetCurrentDefaultStream#03", |_| acl!(aclrtCtxGetCurrentDefaultStream(&mut null_mut())))
        .bare();
    r.row("aclrtGetPrimaryCtxState#01", |_| acl!(aclrtGetPrimaryCtxState(0, null_mut(), null_mut())));
    r.row("aclrtGetPrimaryCtxState#02", |_| {
        let (mut flags, mut active) = (0, 0);
        acl!(aclrtGetPrimaryCtxState(0, &mut flags, &mut active))
    });
    r.decided("aclrtGetPrimaryCtxState#03", |_| {
        let (mut flags, mut active) = (1, -1);
        let code = acl!(aclrtGetPrimaryCtxState(0, &mut flags, &mut active));
        assert_eq!((flags, active), (1, -1));
        code
    });
    r.row("aclrtGetPrimaryCtxState#04", |_| {
        [4, -1].map(|id| acl!(aclrtGetPrimaryCtxState(id, null_mut(), &mut 0)))
    });
    r.row("aclrtGetPrimaryCtxState#05", |_| {
        let state = |id| {
            let mut active = -1;
            ok!(aclrtGetPrimaryCtxState(id, null_mut(), &mut active));
            active
        };
        assert_eq!((state(0), state(1)), (1, 0));
        // A context of one's own is not the default one.
        let context = Context::new(1);
        assert_eq!(state(1), 0);
        drop(context);
        ok!(aclrtResetDevice(0));
        assert_eq!(state(0), 0);
    });
    r.row("aclrtCtxGetFloatOverflowAddr#01", |_| acl!(aclrtCtxGetFloatOverflowAddr(null_mut())));
    r.row("aclrtCtxGetFloatOverflowAddr#02", |_| {
        let address = get!(null_mut(), aclrtCtxGetFloatOverflowAddr());
        assert!(!address.is_null());
        let mut bytes = [1_u8; 64];
        ok!(aclrtMemcpy(bytes.as_mut_ptr().cast(), 64, address, 64, ACL_MEMCPY_DEVICE_TO_HOST));
        assert_eq!(bytes, [0; 64]);
        assert_eq!(get!(null_mut(), aclrtCtxGetFloatOverflowAddr()), address);
    });
}
