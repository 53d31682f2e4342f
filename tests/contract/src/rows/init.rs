//! Chapter 02. Every row has a process of its own.

use std::ffi::{CStr, c_char};
use std::sync::Mutex;

use super::prelude::*;

/// aclInit with a file of this text.
fn init_with(text: &str) -> i32 {
    let file = File::new(text);
    acl!(aclInit(file.path().as_ptr()))
}

/// The count, by taking one back and adding it again.
fn count() -> u64 {
    let mut left = 99;
    ok!(aclFinalizeReference(&mut left));
    acl!(aclInit(null()));
    left + 1
}

fn default_device(value: &str) -> String {
    format!(r#"{{"defaultDevice": {{"default_device": {value}}}}}"#)
}

pub fn rows(r: &mut Rows) {
    files(r);
    repeated(r);
    settings(r);
    stacks(r);
    dumps(r);
    finalize(r);
    callbacks(r);
}

fn files(r: &mut Rows) {
    r.decided("aclInit#01", |t| {
        // Without it everything works as after it.
        enter(t, 0);
        let memory = device_with(&[1, 2]);
        assert_eq!(memory.get(), [1, 2]);
        acl!(aclrtSetDevice(1))
    })
    .alone();
    r.row("aclInit#02", |_| acl!(aclInit(null()))).alone();
    r.row("aclInit#03", |t| {
        ok!(aclInit(null()));
        ok!(aclFinalize());
        // As good as the same file, so that a second start may say it so.
        let code = init_with("{}");
        enter(t, 0);
        code
    })
    .alone();
    r.row("aclInit#04", |_| acl!(aclInit(c"".as_ptr()))).alone();
    let missing =
        |_: &Test<'_>| [c"/nowhere/at/all.json", c"/", c"/dev/null"].map(|path| acl!(aclInit(path.as_ptr())));
    r.row("aclInit#05", missing).alone();
    r.row("aclInit#06", missing).alone();
    r.row("aclInit#07", |_| ["", "{", "[]", "{} {}", "{\"a\": }", "\u{0}"].map(init_with)).alone();
    r.decided("aclInit#08", |_| {
        let nested = |open: &str, close: &str, levels: usize| {
            format!(r#"{{"a": {}1{}}}"#, open.repeat(levels), close.repeat(levels))
        };
        let braces = |levels| nested(r#"{"b": "#, "}", levels);
        let codes = [init_with(&nested("[", "]", 11)), init_with(&braces(10))];
        // The outermost brace is the first of ten.
        assert_eq!(init_with(&nested("[", "]", 10)), 0);
        ok!(aclFinalize());
        codes
    })
    .alone();
}

fn repeated(r: &mut Rows) {
    r.row("aclInit#09", |t| {
        ok!(aclInit(null()));
        let code = acl!(aclInit(null()));
        enter(t, 0);
        code
    })
    .alone();
    r.row("aclInit#10", |_| {
        ok!(aclInit(null()));
        let codes = [acl!(aclInit(null())), acl!(aclInit(null()))];
        let mut left = 99;
        ok!(aclFinalizeReference(&mut left));
        assert_eq!(left, 2);
        codes
    })
    .alone()
    .having(COUNTS);
    r.row("aclInit#11", |_| {
        ok!(aclInit(null()));
        [acl!(aclInit(c"/nowhere.json".as_ptr())), init_with("{")]
    })
    .alone()
    .except("ipv350", "aclInit#17, a document's, says success");
    r.decided("aclInit#12", |_| {
        ok!(aclInit(null()));
        // Messages stay per thread.
        let code = init_with(r#"{"err_msg_mode": "1"}"#);
        code!(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(null_mut()));
        bare(|| assert_eq!(message(), ""));
        code
    })
    .alone();
    r.row("aclInit#13", |_| {
        assert_eq!(init_with(r#"{"err_msg_mode": "0"}"#), 0);
        ok!(aclFinalize());
        if !has(COUNTS) {
            // #17: there every pair has its own configuration.
            return vec![];
        }
        let code = init_with(r#"{"err_msg_mode": "1"}"#);
        assert_eq!(init_with(r#"{ "err_msg_mode" : "0" }"#), 0);
        vec![code]
    })
    .alone();
    r.row("aclInit#14", |t| {
        for _ in 0..3 {
            ok!(aclInit(null()));
            enter(t, 0);
            ok!(aclrtResetDevice(0));
            ok!(aclFinalize());
        }
    })
    .alone();
    r.row("aclInit#15", |_| {
        let codes = together(4, || {
            let code = acl!(aclInit(null()));
            assert!(code == 0 || code == ACL_ERROR_REPEAT_INITIALIZE);
            ok!(aclFinalizeReference(null_mut()));
            code
        });
        assert!(codes.contains(&0));
        ok!(aclInit(null()));
        ok!(aclFinalizeReference(null_mut()));
    })
    .alone()
    .having(COUNTS);
    r.row("aclInit#16", |_| {
        // The setting of the file is in force as long as it is not ended.
        let per_process = || {
            let _ = message();
            code!(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(null_mut()));
            bare(|| !message().is_empty())
        };
        if !has("aclGetRecentErrMsg") {
            // Nothing of the configuration can be seen here but that calls go on.
            (0..3).for_each(|_| ok!(aclInit(null())));
            (0..3).for_each(|_| ok!(aclFinalize()));
            return;
        }
        assert_eq!(init_with(r#"{"err_msg_mode": "1"}"#), 0);
        ok!(aclInit(null()));
        ok!(aclFinalize());
        assert!(per_process());
        ok!(aclFinalize());
        assert!(!per_process());
    })
    .alone();
    r.row("aclInit#17", |_| {
        ok!(aclInit(null()));
        assert_eq!(init_with("{"), 0, "not read");
        ok!(aclFinalize());
        ok!(aclFinalize());
        for text in [r#"{"err_msg_mode": "1"}"#, r#"{"err_msg_mode": "0"}"#] {
            assert_eq!(init_with(text), 0);
            ok!(aclFinalize());
        }
        assert_eq!(init_with(r#"{"err_msg_mode": 1}"#), ACL_ERROR_INVALID_PARAM, "read again");
    })
    .alone();
    r.row("aclInit#18", |t| {
        ok!(aclInit(null()));
        together(2, || enter(t, 0));
        ok!(aclFinalize());
        together(3, || {
            ok!(aclInit(null()));
            enter(t, 0);
            ok!(aclFinalize());
        });
    })
    .alone();
    r.row("aclInit#19", |_| {
        assert_eq!(init_with("{"), ACL_ERROR_PARSE_FILE);
        let mut left = 99;
        if has(COUNTS) {
            code!(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&mut left));
            assert_eq!(left, 0);
        }
        // Not a repeated one.
        ok!(aclInit(null()));
    })
    .alone();
}

/// Where this function exists, calls are counted and a repeated aclInit says so; elsewhere each aclInit wants its aclFinalize
/// (aclInit#09 and #16).
const COUNTS: &str = "aclFinalizeReference";

fn settings(r: &mut Rows) {
    let wrong = || {
        let _ = message();
        code!(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(null_mut()));
    };
    r.row("aclInit#22", move |t| {
        ok!(aclInit(null()));
        wrong_if(t, wrong, false);
    })
    .alone();
    r.row("aclInit#23", move |t| {
        // Two processes' worth: the mode of a process cannot change.
        let mode = if std::process::id().is_multiple_of(2) { "0" } else { "1" };
        assert_eq!(init_with(&format!(r#"{{"err_msg_mode": "{mode}"}}"#)), 0);
        wrong_if(t, wrong, mode == "1");
    })
    .alone();
    r.row("aclInit#24", |_| {
        [r#"1"#, r#""2""#, r#"0"#, r#"true"#, r#""""#, r#"null"#]
            .map(|mode| init_with(&format!(r#"{{"err_msg_mode": {mode}}}"#)))
    })
    .alone();
    r.row("aclInit#25", |_| {
        assert_eq!(init_with(&default_device(r#""3""#)), 0);
        bare(|| {
            assert_eq!(get!(-1, aclrtGetDevice()), 3);
            // It works without more.
            assert_eq!(device_with(&[5; 4]).get(), [5; 4]);
            Stream::new().wait();
        });
        ok!(aclFinalize());
        bare(|| code!(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&mut 0)));
    })
    .alone();
    r.row("aclInit#26", |_| {
        [r#""-1""#, r#""1.5""#, r#""x""#, r#""""#, "-1", "1.5", "[]"]
            .map(|value| init_with(&default_device(value)))
    })
    .alone();
    r.row("aclInit#27", |_| {
        [r#""4""#, r#""99999999999999999999""#].map(|value| init_with(&default_device(value)))
    })
    .alone();
    r.row("aclInit#28", |_| {
        assert_eq!(init_with(&default_device(r#""1""#)), 0);
        ok!(aclrtSetDevice(2));
        assert_eq!(get!(-1, aclrtGetDevice()), 2);
    })
    .alone();
    r.decided("aclInit#29", |_| {
        assert_eq!(init_with(&default_device(r#""1""#)), 0);
        let mut context = null_mut();
        let code = acl!(aclrtCreateContext(&mut context, 2));
        assert_eq!(get!(-1, aclrtGetDevice()), 2);
        code
    })
    .alone();
    r.decided("aclInit#38", |_| {
        let codes =
            [r#""0""#, r#""-1""#, r#""x""#].map(|n| init_with(&format!(r#"{{"max_opqueue_num": {n}}}"#)));
        assert_eq!(init_with(r#"{"max_opqueue_num": "20000"}"#), 0);
        codes
    })
    .alone();
    r.hardware("aclInit#39", "there is no operator cache in this library that could age");
}

/// A failed call of this thread is seen by another one, or is not.
fn wrong_if(t: &Test<'_>, wrong: impl Fn(), per_process: bool) {
    wrong();
    if t.supports("aclGetRecentErrMsg") {
        bare(|| assert_eq!(!message().is_empty(), per_process));
        assert_eq!(message().is_empty(), per_process);
    }
}

fn size(kind: aclrtDeviceLimit) -> usize {
    get!(0, aclrtDeviceGetLimit(kind))
}

fn stack_size(key: &str, value: u64) -> i32 {
    init_with(&format!(r#"{{"StackSize": {{"{key}": {value}}}}}"#))
}

/// A size by file, read back, each in a start of its own; a product without aclrtDeviceGetLimit only takes it.
fn sized(key: &str, kind: aclrtDeviceLimit, value: u64, wanted: usize) {
    assert_eq!(stack_size(key, value), 0);
    if has("aclrtDeviceGetLimit") {
        assert_eq!(size(kind), wanted, "{key} {value}");
    }
}

fn stacks(r: &mut Rows) {
    const K: u64 = 1 << 10;
    r.row("aclInit#30", |_| {
        if has("aclrtDeviceGetLimit") {
            assert_eq!(size(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 32 << 10);
        }
        sized("aicore_stack_size", ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 33 * K, 48 << 10);
    })
    .alone();
    let most = |most: u64| {
        move |_: &Test<'_>| {
            let code = stack_size("aicore_stack_size", most + 1);
            sized("aicore_stack_size", ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, most, most as usize);
            code
        }
    };
    r.decided("aclInit#31", most(128 * K)).alone();
    r.decided("aclInit#32", most(192 * K)).alone();
    r.decided("aclInit#33", most(7680 * K)).alone();
    r.row("aclInit#34", |_| {
        assert_eq!(size(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE), 1152 * 32);
        assert_eq!(size(ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE), 1024);
        let text = r#"{"StackSize": {"simt_stack_size": 200, "simt_divergence_stack_size": 500}}"#;
        assert_eq!(init_with(text), 0);
        assert_eq!(size(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE), 256 * 32);
        assert_eq!(size(ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE), 512);
    })
    .alone();
    let fifo = |key: &'static str, kind, default: usize, low: u64| {
        move |_: &Test<'_>| {
            assert_eq!(size(kind), default);
            for outside in [low - 1, (64 << 20) + 1] {
                assert_ne!(stack_size(key, outside), 0, "{outside}");
                assert_eq!(size(kind), default);
            }
            sized(key, kind, low + 1, low as usize + 8);
        }
    };
    r.row(
        "aclInit#35",
        fifo("simt_printf_fifo_size", ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE, 2 << 20, 1 << 20),
    )
    .alone();
    let kind = ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE;
    r.row("aclInit#36", fifo("simd_printf_fifo_size_per_core", kind, 32 << 10, 1 << 10)).alone();
    r.row("aclInit#37", |t| {
        // Values that no product with the setting would take.
        if t.target.product.get("aicore_stack_max").is_empty() {
            assert_eq!(stack_size("aicore_stack_size", 0xffff_ffff), 0);
            ok!(aclFinalize());
            return 0;
        }
        let simt =
            |key, value| if t.target.product.get("simt").is_empty() { stack_size(key, value) } else { 0 };
        simt("simt_stack_size", 0xffff_ffff)
    })
    .alone();
}

fn dumps(r: &mut Rows) {
    fn dump(text: &str) -> i32 {
        init_with(&format!(r#"{{"dump": {{{text}}}}}"#))
    }
    r.decided("aclInit#40", |_| {
        let scene = r#""dump_scene": "lite_exception", "dump_path": "/tmp""#;
        [
            dump(&format!(r#"{scene}, "dump_op_switch": "on""#)),
            dump(&format!(r#"{scene}, "dump_list": [{{"model_name": "m"}}]"#)),
        ]
    })
    .alone();
    r.row("aclInit#41", |_| {
        let debug = r#""dump_debug": "on", "dump_path": "/tmp""#;
        [
            dump(&format!(r#"{debug}, "dump_op_switch": "on""#)),
            dump(&format!(r#"{debug}, "dump_list": [{{"model_name": "m"}}]"#)),
        ]
    })
    .alone();
    r.row("aclInit#42", |_| [dump(r#""dump_debug": "on""#), dump(r#""dump_debug": "on", "dump_path": """#)])
        .alone();
    r.row("aclInit#43", |_| {
        let watcher = r#""dump_scene": "watcher""#;
        let codes = [
            dump(watcher),
            dump(&format!(r#"{watcher}, "dump_path": "/tmp", "dump_debug": "on""#)),
            dump(&format!(r#"{watcher}, "dump_path": "/tmp", "dump_op_switch": "on""#)),
        ];
        assert_eq!(dump(&format!(r#"{watcher}, "dump_path": "/tmp""#)), 0);
        codes
    })
    .alone();
}

fn finalize(r: &mut Rows) {
    r.row("aclFinalize#01", |t| {
        ok!(aclInit(null()));
        code!(ACL_ERROR_REPEAT_INITIALIZE, aclInit(null()));
        enter(t, 0);
        ok!(aclFinalize());
        let mut left = 99;
        code!(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&mut left));
        assert_eq!(left, 0);
    })
    .alone();
    let twice = |_: &Test<'_>| {
        ok!(aclInit(null()));
        ok!(aclFinalize());
        if has(COUNTS) {
            vec![acl!(aclFinalize()), acl!(aclFinalize())]
        } else {
            // #06 holds instead.
            ok!(aclFinalize());
            vec![]
        }
    };
    r.row("aclFinalize#02", twice).alone();
    r.row("aclFinalize#03", twice).alone();
    r.row("aclFinalize#04", |_| {
        ok!(aclInit(null()));
        ok!(aclFinalizeReference(null_mut()));
        acl!(aclFinalize())
    })
    .alone()
    .having(COUNTS);
    r.row("aclFinalize#05", |_| {
        let code = acl!(aclFinalize());
        code!(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
        ok!(aclInit(null()));
        ok!(aclFinalize());
        code
    })
    .alone();
    r.row("aclFinalize#06", |t| {
        ok!(aclFinalize());
        ok!(aclFinalize());
        ok!(aclInit(null()));
        enter(t, 0);
        ok!(aclFinalize());
        ok!(aclFinalize());
        ok!(aclrtSetDevice(0));
    })
    .alone();
    r.hardware("aclFinalize#07", "there are no logs of a device to wait for: the call does not wait");
    r.decided("aclFinalize#08", |t| {
        // The process ends without it, with a device set.
        let code = acl!(aclInit(null()));
        enter(t, 0);
        code
    })
    .alone();
    r.row("aclFinalizeReference#01", |_| {
        ok!(aclInit(null()));
        ok!(aclFinalizeReference(null_mut()));
    })
    .alone();
    r.row("aclFinalizeReference#02", |_| {
        ok!(aclInit(null()));
        acl!(aclInit(null()));
        ok!(aclFinalizeReference(null_mut()));
        code!(ACL_ERROR_REPEAT_INITIALIZE, aclInit(null()));
        ok!(aclFinalizeReference(null_mut()));
        ok!(aclFinalizeReference(null_mut()));
        ok!(aclInit(null()));
    })
    .alone();
    r.row("aclFinalizeReference#03", |_| {
        (0..3).for_each(|_| _ = acl!(aclInit(null())));
        for wanted in [2, 1, 0] {
            let mut left = 99;
            ok!(aclFinalizeReference(&mut left));
            assert_eq!(left, wanted);
        }
    })
    .alone();
    r.row("aclFinalizeReference#04", |_| {
        ok!(aclInit(null()));
        ok!(aclFinalizeReference(null_mut()));
        acl!(aclFinalizeReference(null_mut()))
    })
    .alone();
    r.row("aclFinalizeReference#05", |_| {
        let (mut before, mut after) = (99, 99);
        let first = acl!(aclFinalizeReference(&mut before));
        ok!(aclInit(null()));
        ok!(aclFinalize());
        let second = acl!(aclFinalizeReference(&mut after));
        assert_eq!((before, after), (0, 0));
        [first, second]
    })
    .alone();
    r.row("aclFinalizeReference#06", |t| {
        ok!(aclInit(null()));
        acl!(aclInit(null()));
        ok!(aclFinalizeReference(null_mut()));
        enter(t, 0);
        assert_eq!(device_with(&[4]).get(), [4]);
        assert_eq!(count(), 1);
    })
    .alone();
    r.decided("aclFinalizeReference#07", |t| {
        let code = acl!(aclInit(null()));
        enter(t, 0);
        code
    })
    .alone();
}

/// Which callbacks ran: their argument, and what an init callback was given.
static RAN: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());

fn ran() -> Vec<usize> {
    RAN.lock()
        .map(|mut list| std::mem::take(&mut *list))
        .unwrap_or_default()
        .into_iter()
        .map(|(id, _)| id)
        .collect()
}

fn note(id: *mut c_void, text: String) -> i32 {
    if let Ok(mut list) = RAN.lock() {
        list.push((id as usize, text));
    }
    // Numbers from 1000 on are codes.
    if id as usize >= 1000 { id as i32 } else { 0 }
}

unsafe extern "C" fn on_init(text: *const c_char, len: usize, data: *mut c_void) -> i32 {
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    assert_eq!(text.len(), len);
    note(data, text)
}

unsafe extern "C" fn on_init_too(_: *const c_char, _: usize, data: *mut c_void) -> i32 {
    note(data, String::new())
}

unsafe extern "C" fn on_end(data: *mut c_void) -> i32 {
    note(data, String::new())
}

unsafe extern "C" fn on_end_too(data: *mut c_void) -> i32 {
    note(data, String::from("too"))
}

/// Every type, in an order that is not that of the calls.
const TYPES: [(aclRegisterCallbackType, usize); 9] = [
    (ACL_REG_TYPE_OTHER, 1),
    (ACL_REG_TYPE_ACL_DVPP, 2),
    (ACL_REG_TYPE_ACL_OP_EXECUTOR, 3),
    (ACL_REG_TYPE_ACL_MODEL, 4),
    (ACL_REG_TYPE_ACL_OP_CBLAS, 5),
    (ACL_REG_TYPE_ACL_OP_COMPILER, 6),
    (ACL_REG_TYPE_ACL_TDT_CHANNEL, 7),
    (ACL_REG_TYPE_ACL_TDT_QUEUE, 8),
    (ACL_REG_TYPE_ACL_RETR, 9),
];

fn register(kind: aclRegisterCallbackType, id: usize) -> i32 {
    acl!(aclInitCallbackRegister(kind, Some(on_init), at(id)))
}

fn register_end(kind: aclRegisterCallbackType, id: usize) -> i32 {
    acl!(aclFinalizeCallbackRegister(kind, Some(on_end), at(id)))
}

fn callbacks(r: &mut Rows) {
    init_callbacks(r);
    end_callbacks(r);
}

fn init_callbacks(r: &mut Rows) {
    let order = |_: &Test<'_>| {
        TYPES.iter().for_each(|(kind, id)| assert_eq!(register(*kind, *id), 0));
        assert_eq!(ran(), [0; 0]);
        assert_eq!(init_with("{}"), 0);
        assert_eq!(ran(), [4, 3, 2, 1]);
        ok!(aclFinalize());
        ok!(aclInit(null()));
        assert_eq!(ran(), [4, 2, 1], "no file, no operator executor");
    };
    r.row("aclInit#20", order).alone().having(COUNTS);
    r.row("aclInitCallbackRegister#10", order).alone();
    r.row("aclInit#21", |_| {
        assert_eq!(register(ACL_REG_TYPE_ACL_DVPP, 1234), 0);
        assert_eq!(register(ACL_REG_TYPE_OTHER, 1), 0);
        code!(1234, aclInit(null()));
        assert_eq!(ran(), [1234], "the later ones do not run");
        ok!(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, Some(on_init)));
        ok!(aclInit(null()));
    })
    .alone()
    .having(COUNTS);
    r.row("aclInitCallbackRegister#01", |_| {
        acl!(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, None, null_mut()))
    });
    r.row("aclInitCallbackRegister#02", |_| {
        assert_eq!(register(ACL_REG_TYPE_OTHER, 0x77), 0);
        assert_eq!(register(ACL_REG_TYPE_OTHER, 0), 0);
        ok!(aclInit(null()));
        assert_eq!(ran(), [0x77, 0]);
    })
    .alone();
    r.row("aclInitCallbackRegister#03", |_| {
        assert_eq!(register(ACL_REG_TYPE_ACL_MODEL, 1), 0);
        let code = acl!(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, Some(on_init_too), null_mut()));
        (2..5).for_each(|id| assert_eq!(register(ACL_REG_TYPE_OTHER, id), 0));
        ok!(aclInit(null()));
        assert_eq!(ran(), [1, 2, 3, 4]);
        code
    })
    .alone();
    r.row("aclInitCallbackRegister#04", |_| [99, 12345, u32::MAX].map(|kind| register(kind, 1))).alone();
    r.row("aclInitCallbackRegister#05", |_| {
        assert_eq!(register(ACL_REG_TYPE_OTHER, 1), 0);
        assert_eq!(ran(), [0; 0]);
        ok!(aclInit(null()));
        assert_eq!(ran(), [1]);
    })
    .alone();
    r.row("aclInitCallbackRegister#06", |_| {
        ok!(aclInit(null()));
        assert_eq!(register(ACL_REG_TYPE_OTHER, 1), 0);
        assert_eq!(ran(), [1]);
    })
    .alone();
    r.row("aclInitCallbackRegister#07", |_| {
        ok!(aclInit(null()));
        let code = register(ACL_REG_TYPE_OTHER, 1234);
        assert_eq!(ran(), [1234]);
        code
    })
    .alone();
    r.row("aclInitCallbackRegister#08", |_| {
        let text = "{ \"err_msg_mode\": \"0\",\n \"x\": \"\u{e9}\" }";
        assert_eq!(register(ACL_REG_TYPE_OTHER, 1), 0);
        assert_eq!(init_with(text), 0);
        let list = RAN.lock().map(|list| list.clone()).unwrap_or_default();
        assert_eq!(list, [(1, text.to_owned())]);
    })
    .alone();
    r.row("aclInitCallbackRegister#09", |_| {
        assert_eq!(register(ACL_REG_TYPE_OTHER, 1), 0);
        ok!(aclInit(null()));
        let list = RAN.lock().map(|list| list.clone()).unwrap_or_default();
        assert_eq!(list, [(1, String::new())]);
    })
    .alone();
    r.row("aclInitCallbackUnRegister#01", |_| acl!(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, None)));
    r.row("aclInitCallbackUnRegister#02", |_| {
        let none = acl!(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, Some(on_init)));
        assert_eq!(register(ACL_REG_TYPE_ACL_MODEL, 1), 0);
        let other = acl!(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, Some(on_init_too)));
        [none, other, acl!(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, Some(on_init)))]
    })
    .alone();
    r.row("aclInitCallbackUnRegister#03", |_| {
        assert_eq!(register(ACL_REG_TYPE_ACL_MODEL, 1), 0);
        assert_eq!(register(ACL_REG_TYPE_OTHER, 2), 0);
        ok!(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, Some(on_init)));
        ok!(aclInit(null()));
        assert_eq!(ran(), [2]);
    })
    .alone();
    r.row("aclInitCallbackUnRegister#04", |_| {
        (0..2).for_each(|id| assert_eq!(register(ACL_REG_TYPE_OTHER, id), 0));
        ok!(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, Some(on_init)));
        ok!(aclInit(null()));
        assert_eq!(ran().len(), 1);
        ok!(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, Some(on_init)));
        code!(ACL_ERROR_INTERNAL_ERROR, aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, Some(on_init)));
    })
    .alone();
}

fn end_callbacks(r: &mut Rows) {
    let order = |_: &Test<'_>| {
        TYPES.iter().for_each(|(kind, id)| assert_eq!(register_end(*kind, *id), 0));
        ok!(aclInit(null()));
        assert_eq!(ran(), [0; 0]);
        ok!(aclFinalize());
        assert_eq!(ran(), [6, 4, 2, 1]);
    };
    r.row("aclFinalize#09", order).alone().having(COUNTS);
    r.row("aclFinalizeCallbackRegister#07", order).alone();
    r.row("aclFinalize#10", |_| {
        assert_eq!(register_end(ACL_REG_TYPE_ACL_DVPP, 1234), 0);
        assert_eq!(register_end(ACL_REG_TYPE_OTHER, 1), 0);
        ok!(aclInit(null()));
        code!(1234, aclFinalize());
        assert_eq!(ran(), [1234]);
        code!(ACL_ERROR_REPEAT_INITIALIZE, aclInit(null()));
        ok!(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, Some(on_end)));
        ok!(aclFinalize());
        assert_eq!(ran(), [1]);
    })
    .alone()
    .having(COUNTS);
    r.row("aclFinalizeCallbackRegister#01", |_| {
        acl!(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, None, null_mut()))
    });
    r.row("aclFinalizeCallbackRegister#02", |_| {
        assert_eq!(register_end(ACL_REG_TYPE_OTHER, 0x77), 0);
        assert_eq!(register_end(ACL_REG_TYPE_OTHER, 0), 0);
        ok!(aclInit(null()));
        ok!(aclFinalize());
        assert_eq!(ran(), [0x77, 0]);
    })
    .alone();
    r.row("aclFinalizeCallbackRegister#03", |_| {
        assert_eq!(register_end(ACL_REG_TYPE_ACL_MODEL, 1), 0);
        let code = acl!(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, Some(on_end_too), null_mut()));
        (2..5).for_each(|id| assert_eq!(register_end(ACL_REG_TYPE_OTHER, id), 0));
        ok!(aclInit(null()));
        ok!(aclFinalize());
        assert_eq!(ran(), [1, 2, 3, 4]);
        code
    })
    .alone();
    r.row("aclFinalizeCallbackRegister#04", |_| [99, 12345, u32::MAX].map(|kind| register_end(kind, 1)))
        .alone();
    r.row("aclFinalizeCallbackRegister#05", |_| {
        ok!(aclInit(null()));
        assert_eq!(register_end(ACL_REG_TYPE_OTHER, 1), 0);
        ok!(aclFinalizeReference(null_mut()));
        assert_eq!(ran(), [1]);
    })
    .alone();
    r.row("aclFinalizeCallbackRegister#06", |_| {
        assert_eq!(register_end(ACL_REG_TYPE_OTHER, 1), 0);
        ok!(aclInit(null()));
        ok!(aclFinalize());
        assert_eq!(ran(), [1]);
        assert_eq!(register_end(ACL_REG_TYPE_OTHER, 2), 0);
        assert_eq!(ran(), [0; 0]);
    })
    .alone();
    r.row("aclFinalizeCallbackUnRegister#01", |_| {
        acl!(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, None))
    });
    r.row("aclFinalizeCallbackUnRegister#02", |_| {
        let none = acl!(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, Some(on_end)));
        assert_eq!(register_end(ACL_REG_TYPE_ACL_MODEL, 1), 0);
        let other = acl!(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, Some(on_end_too)));
        [none, other, acl!(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, Some(on_end)))]
    })
    .alone();
    r.row("aclFinalizeCallbackUnRegister#03", |_| {
        assert_eq!(register_end(ACL_REG_TYPE_ACL_MODEL, 1), 0);
        assert_eq!(register_end(ACL_REG_TYPE_OTHER, 2), 0);
        ok!(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, Some(on_end)));
        ok!(aclInit(null()));
        ok!(aclFinalize());
        assert_eq!(ran(), [2]);
    })
    .alone();
    r.row("aclFinalizeCallbackUnRegister#04", |_| {
        (0..2).for_each(|id| assert_eq!(register_end(ACL_REG_TYPE_OTHER, id), 0));
        ok!(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, Some(on_end)));
        ok!(aclInit(null()));
        ok!(aclFinalize());
        assert_eq!(ran().len(), 1);
        ok!(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, Some(on_end)));
        code!(ACL_ERROR_INTERNAL_ERROR, aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, Some(on_end)));
    })
    .alone();
}
