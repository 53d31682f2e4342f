//! Rules of no single function, and functions of chapter 22, which no header declares.

use super::prelude::*;

pub fn rows(r: &mut Rows) {
    layers(r);
    defaults(r);
    reports(r);
}

fn layers(r: &mut Rows) {
    r.row("*#02", |t| {
        // Seen by the call itself: null pointers and sizes.
        code!(ACL_ERROR_INVALID_PARAM, aclrtMalloc(null_mut(), 64, ACL_MEM_MALLOC_NORMAL_ONLY));
        code!(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&mut null_mut(), 0, ACL_MEM_MALLOC_NORMAL_ONLY));
        code!(ACL_ERROR_INVALID_PARAM, aclrtFree(null_mut()));
        code!(ACL_ERROR_INVALID_PARAM, aclrtMemset(null_mut(), 8, 0, 8));
        code!(ACL_ERROR_INVALID_PARAM, aclrtCreateContext(null_mut(), 0));
        // Seen when the runtime looks at what it knows.
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(invented()));
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(device(8).p(), 4096, 0, 4096));
        let stream = Stream::new();
        if t.supports("aclrtSynchronizeStreamWithTimeout") {
            code!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream.h(), -2));
        }
    });
    r.row("*#03", |t| {
        let mut codes = vec![
            acl!(aclrtMalloc(&mut null_mut(), 64, ACL_MEM_MALLOC_NORMAL_ONLY)),
            acl!(aclrtMemset(invented(), 8, 0, 8)),
            acl!(aclrtGetCurrentContext(&mut null_mut())),
            acl!(aclrtGetDevice(&mut 0)),
        ];
        if t.supports("aclrtSynchronizeDevice") {
            codes.push(acl!(aclrtSynchronizeDevice()));
        }
        if t.has("default_stream") {
            codes.push(acl!(aclrtCreateStream(&mut null_mut())));
            codes.push(acl!(aclrtSynchronizeStream(null_mut())));
            codes.push(acl!(aclrtCtxGetCurrentDefaultStream(&mut null_mut())));
        } else {
            codes.push(acl!(aclrtCreateStreamV2(&mut null_mut(), null())));
        }
        if t.supports("aclrtCreateEvent") {
            codes.push(acl!(aclrtCreateEvent(&mut null_mut())));
        }
        codes
    })
    .bare();
    r.row("*#07", |_| {
        let total = info(ACL_MEM_NORMAL).1;
        let mut ptr = null_mut();
        let policies = [ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY];
        let codes = policies.map(|policy| acl!(aclrtMalloc(&mut ptr, total + 1, policy)));
        assert!(ptr.is_null());
        // All but a page can be had.
        ok!(aclrtMalloc(&mut ptr, total / 2, ACL_MEM_MALLOC_NORMAL_ONLY));
        let second = acl!(aclrtMalloc(&mut null_mut(), total / 2 + 1, ACL_MEM_MALLOC_NORMAL_ONLY));
        ok!(aclrtFree(ptr));
        [&codes[..], &[second]].concat()
    });
}

/// A fill in the null stream of the current context, which must wait for the default stream, and for no other.
fn null_stream() {
    let stream = get!(null_mut(), aclrtCtxGetCurrentDefaultStream());
    let memory = device_with(&[1; 8]);
    let other = Stream::new();
    let gate = held(other.h());
    ok!(aclrtMemsetAsync(memory.p(), 8, 2, 8, null_mut()));
    ok!(aclrtSynchronizeStream(null_mut()));
    assert_eq!(memory.get(), [2; 8], "another stream is held");
    drop(gate);
    let gate = held(stream);
    ok!(aclrtMemsetAsync(memory.p(), 8, 3, 8, null_mut()));
    assert_eq!(memory.get(), [2; 8], "the default stream is held");
    gate.open();
    ok!(aclrtSynchronizeStream(stream));
    assert_eq!(memory.get(), [3; 8]);
    other.wait();
}

fn defaults(r: &mut Rows) {
    r.row("*#04", |_| {
        null_stream();
        // Each context has its own.
        Context::new(0).enter(null_stream);
        let flag = Flag::new();
        flag.after(null_mut());
        ok!(aclrtSynchronizeStream(null_mut()));
        assert!(flag.is());
    });
    r.decided("*#05", |t| {
        assert!(!t.supports("aclrtCtxGetCurrentDefaultStream"));
        let (one, two) = (device(8), device(8));
        let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
        let copy = acl!(aclrtMemcpyAsyncWithCondition(one.p(), 8, two.p(), 8, kind, null_mut()));
        let (func, arg) = once(|| ());
        let callback = acl!(aclrtLaunchCallback(func, arg, ACL_CALLBACK_NO_BLOCK, null_mut()));
        [acl!(aclrtSynchronizeStream(null_mut())), copy, callback]
    });
}

fn reports(r: &mut Rows) {
    for id in [
        "ReportInnerErrMsg#01",
        "ReportInnerErrMsg#02",
        "ReportInnerErrMsg#03",
        "ReportInnerErrMsg#04",
        "ReportInnerErrMsg#05",
        "ReportPredefinedErrMsg#01",
        "ReportPredefinedErrMsg#02",
        "ReportPredefinedErrMsg#03",
        "ReportPredefinedErrMsg#04",
        "ReportPredefinedErrMsg#05",
        "ReportPredefinedErrMsg#06",
        "ReportUserDefinedErrMsg#01",
        "ReportUserDefinedErrMsg#02",
        "ReportUserDefinedErrMsg#03",
        "ReportUserDefinedErrMsg#04",
        "ReportUserDefinedErrMsg#05",
        "RegisterFormatErrorMessage#01",
        "RegisterFormatErrorMessage#02",
        "RegisterFormatErrorMessage#03",
        "RegisterFormatErrorMessage#04",
        "RegisterFormatErrorMessage#05",
        "RegisterFormatErrorMessage#06",
        "RegisterFormatErrorMessage#07",
        "RegisterFormatErrorMessage#08",
    ] {
        r.hardware(id, "no header of the runtime declares the function: another library's");
    }
}
