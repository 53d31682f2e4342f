//! Chapter 02. The state is the process's, so that each test has a process of its own.
#![allow(
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    reason = "tests call the C functions with valid arguments, or null"
)]

mod child;

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use ascendcl::context::*;
use ascendcl::device::*;
use ascendcl::init::*;
use ascendcl_sys::*;
use child::{alone, c, message};

/// A configuration file that goes with the process.
struct File(std::path::PathBuf);

impl File {
    fn new(text: &str) -> File {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("toprope-{}-{}.json", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        File(path)
    }

    fn init(&self) -> i32 {
        init(self.0.to_str().unwrap())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn init(path: &str) -> i32 {
    unsafe { aclInit(c(path).as_ptr()) }
}

fn init_default() -> i32 {
    unsafe { aclInit(null()) }
}

fn finalize() -> i32 {
    unsafe { aclFinalize() }
}

/// Code and count.
fn reference() -> (i32, u64) {
    let mut count = 77;
    (unsafe { aclFinalizeReference(&mut count) }, count)
}

const AGAIN: i32 = ACL_ERROR_REPEAT_INITIALIZE;
const OVER: i32 = ACL_ERROR_REPEAT_FINALIZE;

/// aclInit#02, #04, #09 to #11, #14, aclFinalize#01 to #03
#[test]
fn one_finalize_ends_all_inits() {
    alone("one_finalize_ends_all_inits", &[], || {
        assert_eq!(init_default(), 0);
        assert_eq!(init_default(), AGAIN);
        assert_eq!(init("/no/such/file"), AGAIN, "a repeated call does not read its file");
        assert!(message().contains("now 3"));
        assert_eq!(finalize(), 0);
        assert_eq!(finalize(), OVER);
        assert_eq!(init(""), 0);
        assert_eq!(finalize(), 0);
        assert_eq!(finalize(), OVER);
    });
}

/// aclFinalize#05
#[test]
fn one_early_finalize_is_accepted() {
    alone("one_early_finalize_is_accepted", &[], || {
        assert_eq!((finalize(), finalize()), (0, OVER));
        assert_eq!((init_default(), finalize(), finalize()), (0, 0, OVER));
    });
}

/// aclFinalizeReference#01 to #06, aclFinalize#04
#[test]
fn references_are_counted() {
    alone("references_are_counted", &[], || {
        assert_eq!(reference(), (OVER, 0));
        assert_eq!((init_default(), init_default()), (0, AGAIN));
        assert_eq!(reference(), (0, 1));
        assert_eq!(init_default(), AGAIN, "still initialised");
        assert_eq!(reference(), (0, 1));
        assert_eq!(unsafe { aclFinalizeReference(null_mut()) }, 0);
        assert_eq!(reference(), (OVER, 0));
        assert_eq!(finalize(), OVER);
        assert_eq!(init_default(), 0);
        let wild = 0x10 as *mut u64;
        assert_eq!(unsafe { aclFinalizeReference(wild) }, ACL_ERROR_INVALID_PARAM);
        assert_eq!(reference(), (0, 0), "the bad call took nothing back");
    });
}

/// aclInit#16 to #18, aclFinalize#06, aclFinalizeReference#08, aclInitCallbackRegister#11
#[test]
fn the_ipv350_balances_calls() {
    alone("the_ipv350_balances_calls", &[("TOPROPE_PRODUCT", "ipv350")], || {
        let per_process = File::new(r#"{"err_msg_mode": "1"}"#);
        assert_eq!(finalize(), 0, "surplus");
        assert_eq!((init_default(), init_default(), per_process.init()), (0, 0, 0));
        assert_eq!((finalize(), finalize(), finalize(), finalize()), (0, 0, 0, 0));
        // #17: each pair has its own configuration.
        assert_eq!(per_process.init(), 0);
        assert_eq!(finalize(), 0);
        assert_eq!(reference().0, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        let code = unsafe { aclInitCallbackRegister(0, Some(on_init), null_mut()) };
        assert_eq!(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    });
}

/// aclInit#03, #05 to #08, #19, #24, #26, #27, and the settings that are checked.
#[test]
fn bad_files_leave_the_library_as_it_was() {
    alone("bad_files_leave_the_library_as_it_was", &[], || {
        let deep = format!("{}1{}", "{\"a\":[".repeat(11), "]}".repeat(11));
        let files = [
            ("", ACL_ERROR_PARSE_FILE),
            ("{", ACL_ERROR_PARSE_FILE),
            ("[]", ACL_ERROR_PARSE_FILE),
            ("{} {}", ACL_ERROR_PARSE_FILE),
            ("\0", ACL_ERROR_PARSE_FILE),
            (deep.as_str(), ACL_ERROR_PARSE_FILE),
            (r#"{"err_msg_mode": 1}"#, ACL_ERROR_INVALID_PARAM),
            (r#"{"defaultDevice": {"default_device": "-1"}}"#, ACL_ERROR_FAILURE),
            (r#"{"defaultDevice": {"default_device": "1.5"}}"#, ACL_ERROR_FAILURE),
            (r#"{"defaultDevice": {"default_device": true}}"#, ACL_ERROR_FAILURE),
            (r#"{"defaultDevice": 1}"#, ACL_ERROR_FAILURE),
            (r#"{"defaultDevice": {"default_device": "8"}}"#, ACL_ERROR_RT_INVALID_DEVICEID),
            (
                r#"{"defaultDevice": {"default_device": "99999999999999999999"}}"#,
                ACL_ERROR_RT_INVALID_DEVICEID,
            ),
            (r#"{"StackSize": {"aicore_stack_size": 196609}}"#, ACL_ERROR_INVALID_PARAM),
            (r#"{"dump": {"dump_debug": "on"}}"#, ACL_ERROR_INVALID_DUMP_CONFIG),
            (r#"{"profiler": {"switch": 1}}"#, ACL_ERROR_INVALID_PROFILING_CONFIG),
            (r#"{"max_opqueue_num": "0"}"#, ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG),
        ];
        for (text, code) in files {
            assert_eq!(File::new(text).init(), code, "{text}");
            assert_eq!(reference(), (OVER, 0), "{text}");
        }
        for path in ["/no/such/file", "/", "/dev/zero", "/etc/shadow/x", "relative-and-not-there.json"] {
            assert_eq!(init(path), ACL_ERROR_INVALID_FILE, "{path}");
        }
        assert!(message().contains("configPath: 'relative-and-not-there.json'"));
        assert_eq!(unsafe { aclInit(0x10 as *const c_char) }, ACL_ERROR_INVALID_PARAM);
        assert_eq!(File::new("{}").init(), 0);
    });
}

/// aclInit#05: relative paths count from the working directory.
#[test]
fn a_relative_path_is_found() {
    alone("a_relative_path_is_found", &[], || {
        let file = File::new(r#"{"unknown": [1, 2]}"#);
        std::env::set_current_dir(file.0.parent().unwrap()).unwrap();
        assert_eq!(init(file.0.file_name().unwrap().to_str().unwrap()), 0);
    });
}

/// aclInit#13; #03: `{}` and no file are the same.
#[test]
fn the_first_configuration_binds() {
    alone("the_first_configuration_binds", &[], || {
        assert_eq!((init_default(), finalize()), (0, 0));
        assert_eq!((File::new(" { } ").init(), finalize()), (0, 0));
        assert_eq!(File::new(r#"{"err_msg_mode": "0"}"#).init(), ACL_ERROR_INVALID_PARAM);
        assert_eq!(reference(), (OVER, 0));
        assert_eq!(init_default(), 0);
    });
}

/// aclInit#30, #36, #37, aclrtDeviceSetLimit#14
#[test]
fn sizes_come_from_the_file() {
    alone("sizes_come_from_the_file", &[], || {
        let limit = |limit| {
            let mut value = 0;
            assert_eq!(unsafe { aclrtDeviceGetLimit(limit, &mut value) }, 0);
            value
        };
        assert_eq!(unsafe { aclrtDeviceSetLimit(3, 4096) }, 0);
        let text = r#"{"StackSize": {"aicore_stack_size": 50000, "simt_stack_size": 1}, "simd_printf_fifo_size_per_core": 2049}"#;
        assert_eq!(File::new(text).init(), 0, "a2 has no SIMT: ignored");
        assert_eq!((limit(2), limit(3)), (64 << 10, 2056));
        assert_eq!(unsafe { aclrtDeviceSetLimit(3, 4096) }, 0);
        assert_eq!(limit(3), 4096);
    });
}

/// A file that is refused for one size keeps the others as they were.
#[test]
fn sizes_change_together() {
    alone("sizes_change_together", &[], || {
        let text = r#"{"StackSize": {"aicore_stack_size": 50000}, "simd_printf_fifo_size_per_core": 1}"#;
        assert_eq!(File::new(text).init(), ACL_ERROR_INVALID_PARAM);
        let mut value = 0;
        assert_eq!(unsafe { aclrtDeviceGetLimit(2, &mut value) }, 0);
        assert_eq!(value, 32 << 10);
    });
}

fn device() -> Result<i32, i32> {
    let mut device = -1;
    match unsafe { aclrtGetDevice(&mut device) } {
        0 => Ok(device),
        code => Err(code),
    }
}

fn active(device: i32) -> bool {
    let mut active = -1;
    assert_eq!(unsafe { aclrtGetPrimaryCtxState(device, null_mut(), &mut active) }, 0);
    active == 1
}

fn context() -> Result<u64, i32> {
    let mut context = null_mut();
    match unsafe { aclrtGetCurrentContext(&mut context) } {
        0 => Ok(context as u64),
        code => Err(code),
    }
}

/// aclInit#25, #28, aclrtGetDevice#03, aclrtSetDevice#11
#[test]
fn the_default_device_serves_threads_that_select_none() {
    alone("the_default_device_serves_threads_that_select_none", &[], || {
        assert_eq!(device(), Err(ACL_ERROR_RT_CONTEXT_NULL));
        assert_eq!(File::new(r#"{"defaultDevice": {"default_device": "3"}}"#).init(), 0);
        assert_eq!(device(), Ok(3));
        assert!(!active(3), "not set before somebody needs it");
        let mine = context().unwrap();
        assert!(active(3));
        let theirs = std::thread::spawn(|| (device(), context())).join().unwrap();
        assert_eq!(theirs, (Ok(3), Ok(mine)));
        // aclrtSetDevice#11
        assert_eq!(unsafe { aclrtSetDevice(1) }, 0);
        assert_eq!(device(), Ok(1));
        assert_eq!(unsafe { aclrtResetDevice(1) }, 0);
        assert_eq!(device(), Ok(3), "nothing selected any more");
        // The need counted once: one reset takes the device down, and the next need sets it again.
        assert_eq!(unsafe { aclrtResetDevice(3) }, 0);
        assert!(!active(3));
        let again = context().unwrap();
        assert_ne!(again, mine);
        assert!(active(3));
        // An aclrtSetDevice of the program keeps the device beyond aclFinalize.
        std::thread::spawn(|| assert_eq!(unsafe { aclrtSetDevice(3) }, 0)).join().unwrap();
        assert_eq!(finalize(), 0);
        assert_eq!(device(), Err(ACL_ERROR_RT_CONTEXT_NULL));
        assert!(active(3));
        assert_eq!(unsafe { aclrtResetDevice(3) }, 0);
        assert!(!active(3));
    });
}

/// aclFinalize takes back what the default device was set for, and leaves what the program set.
#[test]
fn finalize_takes_the_default_device_back() {
    alone("finalize_takes_the_default_device_back", &[], || {
        let file = File::new(r#"{"defaultDevice": {"default_device": 2}}"#);
        assert_eq!(file.init(), 0);
        assert!(context().is_ok() && active(2));
        assert_eq!(finalize(), 0);
        assert!(!active(2));
        assert_eq!(file.init(), 0);
        let many: Vec<_> = (0..4).map(|_| std::thread::spawn(|| context().unwrap())).collect();
        let first = context().unwrap();
        assert!(many.into_iter().all(|thread| thread.join().unwrap() == first));
        assert_eq!(unsafe { aclrtResetDevice(2) }, 0);
        assert_eq!(
            unsafe { aclrtResetDevice(2) },
            ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
            "counted once for all threads"
        );
        // Set by the program before anybody needed it: nothing to take back.
        assert_eq!(unsafe { aclrtSetDevice(2) }, 0);
        assert_eq!((finalize(), active(2)), (0, true));
    });
}

/// What callbacks saw: their number, text and length.
static SEEN: Mutex<Vec<(usize, String, usize)>> = Mutex::new(Vec::new());
static ANSWER: AtomicI32 = AtomicI32::new(0);
/// The callback that gives `ANSWER`.
static FAILING: AtomicU64 = AtomicU64::new(0);

fn seen() -> Vec<usize> {
    SEEN.lock().unwrap().drain(..).map(|(number, _, _)| number).collect()
}

fn note(number: usize, text: String, len: usize) -> i32 {
    SEEN.lock().unwrap().push((number, text, len));
    if number as u64 == FAILING.load(Ordering::Relaxed) { ANSWER.load(Ordering::Relaxed) } else { 0 }
}

unsafe extern "C" fn on_init(text: *const c_char, len: usize, data: *mut c_void) -> aclError {
    note(data as usize, unsafe { child::text_at(text) }, len)
}

unsafe extern "C" fn on_finalize(data: *mut c_void) -> aclError {
    note(data as usize, String::new(), 0)
}

fn register_init(kind: u32, number: usize) -> i32 {
    unsafe { aclInitCallbackRegister(kind, Some(on_init), number as *mut c_void) }
}

fn register_finalize(kind: u32, number: usize) -> i32 {
    unsafe { aclFinalizeCallbackRegister(kind, Some(on_finalize), number as *mut c_void) }
}

const OTHER: u32 = ACL_REG_TYPE_OTHER;

/// aclInit#20, aclInitCallbackRegister#01 to #05, #08, #10, aclInitCallbackUnRegister#01 to #04
#[test]
fn init_callbacks_run_in_order() {
    alone("init_callbacks_run_in_order", &[], || {
        for (kind, number) in [(OTHER, 10), (OTHER, 11), (6, 6), (1, 1), (0, 0), (2, 2), (3, 3), (4711, 9)] {
            assert_eq!(register_init(kind, number), 0, "{kind}");
        }
        assert_eq!(register_init(1, 5), ACL_ERROR_INTERNAL_ERROR);
        assert_eq!(register_init(4711, 5), ACL_ERROR_INTERNAL_ERROR);
        assert_eq!(unsafe { aclInitCallbackRegister(0, None, null_mut()) }, ACL_ERROR_INVALID_PARAM);
        assert_eq!(unsafe { aclInitCallbackUnRegister(0, None) }, ACL_ERROR_INVALID_PARAM);
        let unregister = |kind| unsafe { aclInitCallbackUnRegister(kind, Some(on_init)) };
        assert_eq!(unregister(5), ACL_ERROR_INTERNAL_ERROR);
        assert!(seen().is_empty());
        let text = r#"{"a": "ä"}"#;
        let file = File::new(text);
        assert_eq!(file.init(), 0);
        let all = std::mem::take(&mut *SEEN.lock().unwrap());
        assert!(all.iter().all(|(_, seen, len)| seen == text && *len == text.len()), "{all:?}");
        assert_eq!(all.iter().map(|call| call.0).collect::<Vec<_>>(), [0, 1, 6, 10, 11]);
        assert_eq!(finalize(), 0);
        // One registration per call; the earlier one goes first.
        assert_eq!(unregister(OTHER), 0);
        assert_eq!(unregister(0), 0);
        assert_eq!(file.init(), 0);
        assert_eq!(seen(), [1, 6, 11]);
        assert_eq!((unregister(OTHER), unregister(OTHER)), (0, ACL_ERROR_INTERNAL_ERROR));
    });
}

/// aclInit#20, aclInitCallbackRegister#06, #07, #09
#[test]
fn without_a_file_the_text_is_empty() {
    alone("without_a_file_the_text_is_empty", &[], || {
        assert_eq!((register_init(1, 1), register_init(0, 7)), (0, 0));
        assert_eq!(init_default(), 0);
        assert_eq!(*SEEN.lock().unwrap(), [(7, String::new(), 0)], "no file, no operator executor");
        SEEN.lock().unwrap().clear();
        // Registered late: runs at once, and its answer counts nothing.
        FAILING.store(8, Ordering::Relaxed);
        ANSWER.store(5, Ordering::Relaxed);
        assert_eq!(register_init(OTHER, 8), 0);
        assert_eq!(seen(), [8]);
        assert_eq!(init_default(), AGAIN);
        assert!(seen().is_empty(), "a repeated call notifies nobody");
    });
}

/// aclInit#19, #21
#[test]
fn a_failing_init_callback_stops_the_start() {
    alone("a_failing_init_callback_stops_the_start", &[], || {
        assert_eq!((register_init(0, 1), register_init(6, 2), register_init(OTHER, 3)), (0, 0, 0));
        FAILING.store(2, Ordering::Relaxed);
        ANSWER.store(4242, Ordering::Relaxed);
        let file = File::new(r#"{"err_msg_mode": "1", "defaultDevice": {"default_device": "1"}}"#);
        assert_eq!(file.init(), 4242);
        assert_eq!(seen(), [1, 2]);
        assert_eq!(reference(), (OVER, 0));
        assert_eq!(device(), Err(ACL_ERROR_RT_CONTEXT_NULL), "its settings are gone");
        ANSWER.store(0, Ordering::Relaxed);
        assert_eq!(file.init(), 0);
        assert_eq!(seen(), [1, 2, 3]);
    });
}

/// aclFinalize#09, #10, aclFinalizeCallbackRegister#01 to #07, aclFinalizeCallbackUnRegister#01 to #04
#[test]
fn finalize_callbacks_run_in_order_and_may_refuse() {
    alone("finalize_callbacks_run_in_order_and_may_refuse", &[], || {
        for (kind, number) in [(OTHER, 10), (OTHER, 11), (6, 6), (1, 1), (0, 7), (3, 3)] {
            assert_eq!(register_finalize(kind, number), 0, "{kind}");
        }
        assert_eq!(register_finalize(3, 5), ACL_ERROR_INTERNAL_ERROR);
        assert_eq!(unsafe { aclFinalizeCallbackRegister(0, None, null_mut()) }, ACL_ERROR_INVALID_PARAM);
        assert_eq!(unsafe { aclFinalizeCallbackUnRegister(0, None) }, ACL_ERROR_INVALID_PARAM);
        assert_eq!(unsafe { aclFinalizeCallbackUnRegister(2, Some(on_finalize)) }, ACL_ERROR_INTERNAL_ERROR);
        assert_eq!((init_default(), init_default()), (0, AGAIN));
        assert_eq!(reference(), (0, 1));
        assert!(seen().is_empty(), "not the last reference");
        FAILING.store(6, Ordering::Relaxed);
        ANSWER.store(99, Ordering::Relaxed);
        assert_eq!(reference(), (99, 1));
        assert_eq!(seen(), [3, 7, 6]);
        assert_eq!(finalize(), 99);
        assert_eq!(seen(), [3, 7, 6]);
        assert_eq!(init_default(), AGAIN, "the library stays initialised");
        ANSWER.store(0, Ordering::Relaxed);
        assert_eq!(finalize(), 0);
        assert_eq!(seen(), [3, 7, 6, 10, 11]);
        assert_eq!(finalize(), OVER);
        assert!(seen().is_empty());
        assert_eq!(unsafe { aclFinalizeCallbackUnRegister(6, Some(on_finalize)) }, 0);
        assert_eq!((init_default(), finalize()), (0, 0));
        assert_eq!(seen(), [3, 7, 10, 11]);
    });
}

/// What a callback got from calls of the library's own start and end.
static INSIDE: Mutex<Vec<i32>> = Mutex::new(Vec::new());

unsafe extern "C" fn reenter_init(_: *const c_char, _: usize, _: *mut c_void) -> aclError {
    let codes =
        [init_default(), finalize(), reference().0, register_init(OTHER, 5), unsafe { aclrtSetDevice(0) }];
    INSIDE.lock().unwrap().extend(codes);
    0
}

unsafe extern "C" fn reenter_finalize(_: *mut c_void) -> aclError {
    let codes = [init_default(), finalize(), reference().0, unsafe { aclrtResetDevice(0) }];
    INSIDE.lock().unwrap().extend(codes);
    0
}

/// Callbacks may call anything; calls that would start or end the library inside its start or end are told so, and none hangs.
#[test]
fn callbacks_may_call_in() {
    alone("callbacks_may_call_in", &[], || {
        assert_eq!(unsafe { aclInitCallbackRegister(0, Some(reenter_init), null_mut()) }, 0);
        assert_eq!(unsafe { aclFinalizeCallbackRegister(0, Some(reenter_finalize), null_mut()) }, 0);
        assert_eq!(init_default(), 0);
        let failure = ACL_ERROR_FAILURE;
        assert_eq!(std::mem::take(&mut *INSIDE.lock().unwrap()), [AGAIN, failure, failure, 0, 0]);
        assert_eq!(seen(), [5], "registered during the start: runs in its turn");
        assert_eq!(finalize(), 0);
        assert_eq!(*INSIDE.lock().unwrap(), [failure, failure, failure, 0]);
    });
}

/// aclInit#15: any number of threads, each with its own pair.
#[test]
fn pairs_of_many_threads() {
    alone("pairs_of_many_threads", &[], || {
        assert_eq!(register_finalize(OTHER, 1), 0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let code = init_default();
                        assert!(code == 0 || code == AGAIN, "{code}");
                        assert_eq!(unsafe { aclFinalizeReference(null_mut()) }, 0);
                    }
                });
            }
        });
        assert_eq!(reference(), (OVER, 0));
        assert!(!seen().is_empty());
    });
}

/// Dump and profiling settings say that nothing will come of them.
#[test]
fn idle_settings_are_told() {
    let err = alone("idle_settings_are_told", &[], || {
        let text = r#"{"dump": {"dump_path": "/tmp", "dump_debug": "on"}, "profiler": {"switch": "off"}}"#;
        assert_eq!(File::new(text).init(), 0);
    });
    let told = |err: String| {
        let lines: Vec<_> = err.lines().filter(|line| line.starts_with("toprope:")).collect();
        lines.len() == 1 && lines[0].contains("\"dump\"")
    };
    assert!(err.is_none_or(told));
}

/// aclInit#01 (ours): calls without aclInit and after aclFinalize work.
#[test]
fn calls_outside_init_and_finalize_work() {
    alone("calls_outside_init_and_finalize_work", &[], || {
        assert_eq!(unsafe { aclrtSetDevice(0) }, 0);
        assert_eq!((init_default(), finalize()), (0, 0));
        assert_eq!(device(), Ok(0), "devices are not touched");
        assert_eq!(unsafe { aclrtResetDevice(0) }, 0);
    });
}
