//! Chapter 13.

use std::sync::Mutex;

use super::prelude::*;
use crate::kit::text as c_text;

/// Ids that no device has.
const OUTSIDE: [i32; 2] = [4, -1];

pub fn rows(r: &mut Rows) {
    messages(r);
    last(r);
    callbacks(r);
    information(r);
    faults(r);
    aborts(r);
}

/// A failed call; the id appears in its message.
fn wrong(id: i32) {
    code!(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(id));
}

fn messages(r: &mut Rows) {
    let once = |_: &Test<'_>| {
        wrong(7777);
        bare(|| assert_eq!(message(), "", "another thread's"));
        assert!(message().contains("7777"));
        assert!(acl!(aclGetRecentErrMsg()).is_null());
    };
    r.row("aclGetRecentErrMsg#01", move |t| {
        once(t);
        let file = File::new(r#"{"err_msg_mode": "1"}"#);
        ok!(aclInit(file.path().as_ptr()));
        wrong(8888);
        bare(|| assert!(message().contains("8888")));
        assert!(acl!(aclGetRecentErrMsg()).is_null());
    })
    .alone();
    r.row("aclGetRecentErrMsg#02", |_| assert!(acl!(aclGetRecentErrMsg()).is_null())).bare();
    r.row("aclGetRecentErrMsg#03", |_| {
        wrong(7777);
        wrong(8888);
        let text = message();
        let (first, second) = (text.find("8888"), text.find("7777"));
        assert!(first.is_some() && first < second, "{text}");
    });
    r.row("aclGetRecentErrMsg#04", |_| {
        wrong(7777);
        let pointer = acl!(aclGetRecentErrMsg());
        let said = c_text(pointer);
        wrong(8888);
        bare(|| {
            wrong(9999);
            message();
        });
        assert_eq!(c_text(pointer), said);
    });
    r.row("aclGetRecentErrMsg#05", once).bare();
}

/// A failed call of the runtime layer: its code is what the two calls tell.
fn runtime_error() -> i32 {
    wrong(4);
    ACL_ERROR_RT_INVALID_DEVICEID
}

fn last(r: &mut Rows) {
    let peek = || acl!(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    let take = || acl!(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    r.row("aclrtPeekAtLastError#01", |_| [1, u32::MAX].map(|level| acl!(aclrtPeekAtLastError(level))));
    r.row("aclrtGetLastError#01", |_| [1, u32::MAX].map(|level| acl!(aclrtGetLastError(level))));
    let told = move |ask: fn() -> i32| {
        let code = runtime_error();
        bare(|| assert_eq!(ask(), 0, "another thread's"));
        // Calls that succeed leave it.
        get!(0, aclrtGetDeviceCount());
        assert_eq!(ask(), code);
    };
    r.row("aclrtPeekAtLastError#02", move |_| told(peek));
    r.row("aclrtGetLastError#02", move |_| told(take));
    r.row("aclrtPeekAtLastError#03", move |_| {
        let code = runtime_error();
        assert_eq!([peek(), peek(), take()], [code; 3]);
    });
    r.row("aclrtGetLastError#03", move |_| {
        let code = runtime_error();
        assert_eq!([take(), take(), peek()], [code, 0, 0]);
        let again = runtime_error();
        assert_eq!(take(), again);
    });
    r.row("aclrtPeekAtLastError#04", move |_| peek()).bare();
    r.row("aclrtGetLastError#04", move |_| take()).bare();
    let acl_layer = |ask: fn() -> i32| {
        code!(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(null_mut()));
        ask()
    };
    r.decided("aclrtPeekAtLastError#05", move |_| acl_layer(peek));
    r.decided("aclrtGetLastError#05", move |_| acl_layer(take));
}

/// What callbacks were told: which one, and task, stream, thread, device, code.
static TOLD: Mutex<Vec<(char, [u32; 5])>> = Mutex::new(Vec::new());
/// What the first callback was given last.
static KEPT: Mutex<usize> = Mutex::new(0);

fn tell(which: char, info: *mut aclrtExceptionInfo) {
    let fields = fields(info);
    if let (Ok(mut list), Ok(mut kept)) = (TOLD.lock(), KEPT.lock()) {
        list.push((which, fields));
        *kept = info as usize;
    }
}

fn fields(info: *const aclrtExceptionInfo) -> [u32; 5] {
    [
        acl!(aclrtGetTaskIdFromExceptionInfo(info)),
        acl!(aclrtGetStreamIdFromExceptionInfo(info)),
        acl!(aclrtGetThreadIdFromExceptionInfo(info)),
        acl!(aclrtGetDeviceIdFromExceptionInfo(info)),
        acl!(aclrtGetErrorCodeFromExceptionInfo(info)),
    ]
}

unsafe extern "C" fn on_a(info: *mut aclrtExceptionInfo) {
    tell('a', info);
}

unsafe extern "C" fn on_b(info: *mut aclrtExceptionInfo) {
    tell('b', info);
}

/// A task fails on a stream of the current device; what was told meanwhile.
fn failure() -> Vec<(char, [u32; 5])> {
    let stream = Stream::new();
    let code = fail(stream.h());
    code!(code, aclrtSynchronizeStream(stream.h()));
    TOLD.lock().map(|mut list| std::mem::take(&mut *list)).unwrap_or_default()
}

/// Who was told, in some order.
fn who() -> String {
    let mut who: Vec<char> = failure().into_iter().map(|(who, _)| who).collect();
    who.sort_unstable();
    who.into_iter().collect()
}

fn set(callback: aclrtExceptionInfoCallback) {
    ok!(aclrtSetExceptionInfoCallback(callback));
}

fn add(callback: aclrtExceptionInfoCallback) {
    ok!(aclrtExceptionInfoCallbackRegister(callback));
}

fn remove(callback: aclrtExceptionInfoCallback) -> i32 {
    acl!(aclrtExceptionInfoCallbackUnregister(callback))
}

fn callbacks(r: &mut Rows) {
    r.row("aclrtSetExceptionInfoCallback#01", |_| {
        set(Some(on_a));
        assert_eq!(who(), "a");
    })
    .alone_device();
    r.row("aclrtSetExceptionInfoCallback#02", |_| {
        set(Some(on_a));
        set(None);
        assert_eq!(who(), "");
    })
    .alone_device();
    r.row("aclrtSetExceptionInfoCallback#03", |_| {
        add(Some(on_a));
        set(Some(on_a));
        set(Some(on_b));
        assert_eq!(who(), "ab");
    })
    .alone_device();
    r.decided("aclrtSetExceptionInfoCallback#04", |_| {
        let stream = Stream::new();
        let gate = held(stream.h());
        fail(stream.h());
        let code = acl!(aclrtSetExceptionInfoCallback(Some(on_a)));
        gate.open();
        acl!(aclrtSynchronizeStream(stream.h()));
        assert_eq!(TOLD.lock().map(|list| list.len()).unwrap_or_default(), 1);
        code
    })
    .alone_device();
    let kept = |_: &Test<'_>| {
        set(Some(on_a));
        assert_eq!(failure().len(), 1);
        let kept = KEPT.lock().map(|kept| *kept).unwrap_or_default();
        assert_ne!(kept, 0);
        assert_eq!(fields(at(kept).cast()), [u32::MAX; 5], "recognised as over");
        0
    };
    r.decided("aclrtSetExceptionInfoCallback#05", kept).alone_device();
    r.decided("aclrtExceptionInfoCallbackRegister#08", kept).alone_device();
    r.hardware("aclrtSetExceptionInfoCallback#06", "a ban on what callbacks do, with no outcome");
    let null = |_: &Test<'_>| acl!(aclrtExceptionInfoCallbackRegister(None));
    r.row("aclrtExceptionInfoCallbackRegister#01", null);
    r.row("aclrtExceptionInfoCallbackRegister#02", null);
    r.row("aclrtExceptionInfoCallbackRegister#03", |_| {
        add(Some(on_a));
        add(Some(on_b));
        assert_eq!(who(), "ab");
    })
    .alone_device();
    r.row("aclrtExceptionInfoCallbackRegister#04", |_| {
        add(Some(on_a));
        add(Some(on_a));
        assert_eq!(who(), "a");
        assert_eq!(remove(Some(on_a)), 0);
        assert_eq!(who(), "");
    })
    .alone_device();
    r.row("aclrtExceptionInfoCallbackRegister#05", |_| {
        set(Some(on_a));
        add(Some(on_a));
        assert_eq!(who(), "aa");
    })
    .alone_device();
    r.row("aclrtExceptionInfoCallbackRegister#06", |_| {
        // Two streams fail at once: each is told of, whichever threads do it.
        add(Some(on_a));
        let streams = [Stream::new(), Stream::new()];
        let gates = streams.each_ref().map(|stream| held(stream.h()));
        streams.iter().for_each(|stream| _ = fail(stream.h()));
        gates.iter().for_each(Gate::open);
        for stream in &streams {
            assert_ne!(acl!(aclrtSynchronizeStream(stream.h())), 0);
        }
        let told = TOLD.lock().map(|list| list.clone()).unwrap_or_default();
        let ids: std::collections::BTreeSet<u32> = told.iter().map(|(_, fields)| fields[1]).collect();
        assert_eq!((told.len(), ids.len()), (2, 2));
    })
    .alone_device();
    r.hardware(
        "aclrtExceptionInfoCallbackRegister#07",
        "what an exception thrown by a callback does is left open by the page: it may end handling",
    );
    r.row("aclrtExceptionInfoCallbackUnregister#01", |_| remove(None));
    r.row("aclrtExceptionInfoCallbackUnregister#02", |_| {
        add(Some(on_b));
        let code = remove(Some(on_a));
        assert_eq!(who(), "b");
        code
    })
    .alone_device();
    r.row("aclrtExceptionInfoCallbackUnregister#03", |_| {
        set(Some(on_a));
        let code = remove(Some(on_a));
        assert_eq!(who(), "a");
        code
    })
    .alone_device();
    r.row("aclrtExceptionInfoCallbackUnregister#04", |_| {
        add(Some(on_a));
        let code = bare(|| remove(Some(on_a)));
        assert_eq!(who(), "");
        code
    })
    .alone_device();
    r.row("aclrtExceptionInfoCallbackUnregister#05", |_| {
        static RUNNING: (Mutex<u8>, std::sync::Condvar) = (Mutex::new(0), std::sync::Condvar::new());
        unsafe extern "C" fn slow(_: *mut aclrtExceptionInfo) {
            let Ok(mut state) = RUNNING.0.lock() else { return };
            *state = 1;
            RUNNING.1.notify_all();
            let _ =
                RUNNING.1.wait_timeout_while(state, std::time::Duration::from_secs(20), |state| *state < 2);
        }
        add(Some(slow));
        let stream = Stream::new();
        fail(stream.h());
        Flag::new().after(stream.h());
        assert!(eventually(|| RUNNING.0.lock().is_ok_and(|state| *state == 1)), "told");
        // It comes back while the callback runs.
        assert_eq!(remove(Some(slow)), 0);
        if let Ok(mut state) = RUNNING.0.lock() {
            *state = 2;
        }
        RUNNING.1.notify_all();
        assert_ne!(acl!(aclrtSynchronizeStream(stream.h())), 0);
        assert_eq!(who(), "");
        assert!(RUNNING.0.lock().is_ok_and(|state| *state == 2), "not told again");
    })
    .alone_device();
}

type Field = fn(*const aclrtExceptionInfo) -> u32;

fn information(r: &mut Rows) {
    const NAMES: [[&str; 3]; 5] = [
        [
            "aclrtGetTaskIdFromExceptionInfo#01",
            "aclrtGetTaskIdFromExceptionInfo#02",
            "aclrtGetTaskIdFromExceptionInfo#03",
        ],
        [
            "aclrtGetStreamIdFromExceptionInfo#01",
            "aclrtGetStreamIdFromExceptionInfo#02",
            "aclrtGetStreamIdFromExceptionInfo#03",
        ],
        [
            "aclrtGetThreadIdFromExceptionInfo#01",
            "aclrtGetThreadIdFromExceptionInfo#02",
            "aclrtGetThreadIdFromExceptionInfo#03",
        ],
        [
            "aclrtGetDeviceIdFromExceptionInfo#01",
            "aclrtGetDeviceIdFromExceptionInfo#02",
            "aclrtGetDeviceIdFromExceptionInfo#03",
        ],
        [
            "aclrtGetErrorCodeFromExceptionInfo#01",
            "aclrtGetErrorCodeFromExceptionInfo#02",
            "aclrtGetErrorCodeFromExceptionInfo#03",
        ],
    ];
    let ask: [Field; 5] = [
        |info| acl!(aclrtGetTaskIdFromExceptionInfo(info)),
        |info| acl!(aclrtGetStreamIdFromExceptionInfo(info)),
        |info| acl!(aclrtGetThreadIdFromExceptionInfo(info)),
        |info| acl!(aclrtGetDeviceIdFromExceptionInfo(info)),
        |info| acl!(aclrtGetErrorCodeFromExceptionInfo(info)),
    ];
    for (field, [null_info, no_task, both]) in NAMES.into_iter().enumerate() {
        r.row(null_info, move |_| assert_eq!(ask[field](null()), u32::MAX));
        r.hardware(no_task, "exceptions of a device, not of a task, do not happen here");
        r.row(both, move |_| {
            ok!(aclrtSetDevice(2));
            set(Some(on_a));
            add(Some(on_b));
            let stream = Stream::new();
            let id = get!(-1, aclrtStreamGetId(stream.h()));
            let code = fail(stream.h());
            code!(code, aclrtSynchronizeStream(stream.h()));
            let told = TOLD.lock().map(|list| list.clone()).unwrap_or_default();
            assert_eq!(told.len(), 2);
            for (_, fields) in told {
                let thread = unsafe { libc::gettid() } as u32;
                match field {
                    0 => assert_ne!(fields[0], u32::MAX),
                    1 => assert_eq!(fields[1], id as u32),
                    2 => assert_eq!(fields[2], thread),
                    3 => assert_eq!(fields[3], 2),
                    _ => assert_eq!(fields[4], code as u32),
                }
            }
        })
        .alone();
    }
}

fn faults(r: &mut Rows) {
    let uce = || unsafe { std::mem::zeroed::<aclrtMemUceInfo>() };
    let error = || unsafe { std::mem::zeroed::<aclrtErrorInfo>() };
    r.row("aclrtGetMemUceInfo#01", |_| acl!(aclrtGetMemUceInfo(0, null_mut(), 1, &mut 0)));
    r.row("aclrtGetMemUceInfo#02", move |_| acl!(aclrtGetMemUceInfo(0, &mut uce(), 1, null_mut())));
    r.hardware(
        "aclrtGetMemUceInfo#03",
        "device memory has no faults here, and no array is too short for none",
    );
    r.row("aclrtGetMemUceInfo#04", move |_| {
        OUTSIDE.map(|id| acl!(aclrtGetMemUceInfo(id, &mut uce(), 1, &mut 0)))
    });
    let none = move |_: &Test<'_>| {
        let mut count = 99;
        let code = acl!(aclrtGetMemUceInfo(0, &mut uce(), 1, &mut count));
        assert_eq!(count, 0);
        code
    };
    r.row("aclrtGetMemUceInfo#05", none);
    r.row("aclrtGetMemUceInfo#06", none);
    r.row("aclrtMemUceRepair#01", |_| acl!(aclrtMemUceRepair(0, null_mut(), 1)));
    r.row("aclrtMemUceRepair#02", move |_| {
        let mut all = vec![uce(); 129];
        ok!(aclrtMemUceRepair(0, all.as_mut_ptr(), 128));
        acl!(aclrtMemUceRepair(0, all.as_mut_ptr(), 129))
    });
    r.row("aclrtMemUceRepair#03", move |_| {
        let mut info = uce();
        info.reserved[13] = 1;
        acl!(aclrtMemUceRepair(0, &mut info, 1))
    });
    r.row("aclrtMemUceRepair#04", move |_| OUTSIDE.map(|id| acl!(aclrtMemUceRepair(id, &mut uce(), 1))));
    r.row("aclrtGetErrorVerbose#01", |_| acl!(aclrtGetErrorVerbose(0, null_mut())));
    r.row("aclrtGetErrorVerbose#02", move |_| OUTSIDE.map(|id| acl!(aclrtGetErrorVerbose(id, &mut error()))));
    r.row("aclrtGetErrorVerbose#03", move |_| {
        let mut info = error();
        (info.tryRepair, info.hasDetail, info.errorType) = (9, 9, 9);
        let code = acl!(aclrtGetErrorVerbose(0, &mut info));
        assert_eq!((info.tryRepair, info.hasDetail, info.errorType), (0, 0, ACL_RT_NO_ERROR));
        code
    });
    r.decided("aclrtGetErrorVerbose#04", move |_| acl!(aclrtGetErrorVerbose(0, &mut error())));
    r.hardware(
        "aclrtGetErrorVerbose#05",
        "a device of this runtime does not break, so no error type is reported",
    );
    r.hardware("aclrtGetErrorVerbose#06", "promises nothing: details may be inaccurate");
    let repair = move |id, try_repair, kind| {
        let mut info = error();
        (info.tryRepair, info.errorType) = (try_repair, kind);
        acl!(aclrtRepairError(id, &info))
    };
    r.row("aclrtRepairError#01", |_| acl!(aclrtRepairError(0, null())));
    r.row("aclrtRepairError#02", move |_| repair(0, 0, ACL_RT_ERROR_MEMORY));
    r.row("aclrtRepairError#03", move |_| OUTSIDE.map(|id| repair(id, 1, ACL_RT_ERROR_MEMORY)));
    r.row("aclrtRepairError#04", move |_| {
        assert_eq!([ACL_RT_NO_ERROR, ACL_RT_ERROR_MEMORY].map(|kind| repair(0, 1, kind)), [0, 0]);
        [ACL_RT_ERROR_L2, ACL_RT_ERROR_OTHERS, 77].map(|kind| repair(0, 1, kind))
    });
    r.row("aclrtRepairError#05", move |_| {
        code!(ACL_ERROR_INVALID_PARAM, aclrtRepairError(9, null()));
        assert_eq!(repair(9, 0, 77), ACL_ERROR_RT_PARAM_INVALID);
        assert_eq!(repair(9, 1, 77), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(repair(0, 1, 77), ACL_ERROR_RT_PARAM_INVALID);
    })
    .only(|target| target.product.get("npu_arch") == "2201");
    r.decided("aclrtRepairError#06", move |_| repair(0, 1, ACL_RT_NO_ERROR));
}

unsafe extern "C" fn on_abort(_: i32, _: aclrtDeviceTaskAbortStage, _: u32, _: *mut c_void) -> i32 {
    0
}

fn aborts(r: &mut Rows) {
    let register = |name: *const std::ffi::c_char, callback| {
        acl!(aclrtSetDeviceTaskAbortCallback(name, callback, null_mut()))
    };
    r.row("aclrtSetDeviceTaskAbortCallback#01", move |_| register(null(), Some(on_abort)));
    r.decided("aclrtSetDeviceTaskAbortCallback#02", move |_| register(c"".as_ptr(), Some(on_abort)));
    r.decided("aclrtSetDeviceTaskAbortCallback#03", move |_| {
        assert_eq!(register(c"one".as_ptr(), Some(on_abort)), 0);
        register(c"one".as_ptr(), Some(on_abort))
    })
    .alone();
    r.row("aclrtSetDeviceTaskAbortCallback#04", move |_| {
        for _ in 0..2 {
            assert_eq!(register(c"one".as_ptr(), Some(on_abort)), 0);
            assert_eq!(register(c"one".as_ptr(), None), 0);
        }
        register(c"never".as_ptr(), None)
    })
    .alone();
    r.needs("aclrtSetDeviceTaskAbortCallback#05", "aclrtDeviceTaskAbort");
}
