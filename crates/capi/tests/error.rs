//! Chapter 13: messages, last errors, exceptions of tasks, and errors of devices that never break.
#![allow(
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    reason = "tests call the C functions with valid arguments, or null"
)]

mod child;

use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ascendcl::callback::aclrtLaunchHostFunc;
use ascendcl::context::*;
use ascendcl::device::*;
use ascendcl::exception::*;
use ascendcl::init::*;
use ascendcl::stream::*;
use ascendcl_sys::*;
use child::{alone, message};
use toprope_engine::queue::Task;
use toprope_runtime::process::runtime;

fn fail(device: i32) {
    assert_eq!(unsafe { aclrtSetDevice(device) }, ACL_ERROR_RT_INVALID_DEVICEID);
}

/// aclGetRecentErrMsg#01 to #05
#[test]
fn messages_are_the_threads_newest_first_and_taken() {
    assert_eq!(message(), "");
    assert!(unsafe { aclGetRecentErrMsg() }.is_null());
    fail(77);
    fail(88);
    std::thread::spawn(|| assert_eq!(message(), "")).join().unwrap();
    let text = unsafe { aclGetRecentErrMsg() };
    let said = unsafe { child::text_at(text) };
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].contains("88") && lines[1].contains("77"), "{said}");
    assert_eq!(
        lines[1],
        "EE1001: aclrtSetDevice: deviceId: 77 is not in [0, 7] (107001, ACL_ERROR_RT_INVALID_DEVICEID) [aclrtSetDevice#04]"
    );
    fail(99);
    assert_eq!(unsafe { child::text_at(text) }, said, "valid until the next call of the function");
    assert!(message().contains("99"));
    assert!(unsafe { aclGetRecentErrMsg() }.is_null());
    // Calls that succeed say nothing, and the newest are kept.
    for id in 100..200 {
        fail(id);
    }
    assert_eq!(unsafe { aclrtGetDeviceCount(&mut 0) }, 0);
    let said = message();
    assert!(
        said.starts_with("EE1001: aclrtSetDevice: deviceId: 199 ") && said.lines().count() < 100,
        "{said}"
    );
}

/// ours: a process without a runtime hears from the message what was wrong with its target.
#[test]
fn messages_of_a_target_that_does_not_exist() {
    let told = alone("messages_of_a_target_that_does_not_exist", &[("TOPROPE_PRODUCT", "nonsense")], || {
        assert!(unsafe { aclGetRecentErrMsg() }.is_null(), "no call has failed");
        assert_eq!(unsafe { aclInit(null()) }, ACL_ERROR_INVALID_PARAM);
        assert_eq!(unsafe { aclrtSetDevice(0) }, ACL_ERROR_INVALID_PARAM);
        let said = message();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].contains(": aclrtSetDevice: ") && lines[1].contains(": aclInit: "), "{said}");
        assert!(lines.iter().all(|line| line.contains("nonsense") && line.contains("a2")), "{said}");
        assert!(unsafe { aclGetRecentErrMsg() }.is_null(), "taken");
    });
    assert!(told.is_none_or(|told| told.contains("nonsense")));
}

/// ours: so does a forked child; what its parent had not read yet is its own too.
#[test]
fn messages_of_a_forked_child() {
    alone("messages_of_a_forked_child", &[], || {
        fail(77);
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = unsafe { aclrtSetDevice(0) };
            let said = message();
            let good = code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT
                && said.contains(": aclrtSetDevice: this process was forked")
                && said.lines().count() == 2
                && unsafe { aclGetRecentErrMsg() }.is_null();
            unsafe { libc::_exit(if good { 0 } else { 1 }) };
        }
        let mut status = 0;
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        assert!(message().contains("77"));
    });
}

/// aclGetRecentErrMsg#01, aclInit#23
#[test]
fn messages_of_the_process() {
    alone("messages_of_the_process", &[], || {
        let path = std::env::temp_dir().join(format!("toprope-messages-{}.json", std::process::id()));
        std::fs::write(&path, r#"{"err_msg_mode": "1"}"#).unwrap();
        assert_eq!(unsafe { aclInit(child::c(path.to_str().unwrap()).as_ptr()) }, 0);
        std::fs::remove_file(&path).unwrap();
        std::thread::spawn(|| fail(77)).join().unwrap();
        assert!(message().contains("77"));
        assert_eq!(unsafe { aclFinalize() }, 0);
        std::thread::spawn(|| fail(78)).join().unwrap();
        assert_eq!(message(), "", "per thread again");
    });
}

/// ours: a failure that follows from an earlier one names the first cause.
#[test]
fn consequences_name_their_cause() {
    alone("consequences_name_their_cause", &[], || {
        let null_context = ACL_ERROR_RT_CONTEXT_NULL;
        let mut stream = null_mut();
        // Nothing failed before: nothing to add.
        assert_eq!(unsafe { aclrtCreateStream(&mut stream) }, null_context);
        assert!(!message().contains("earlier"));
        fail(77);
        message();
        assert_eq!(unsafe { aclrtCreateStream(&mut stream) }, null_context);
        let cause = "; earlier: EE1001: aclrtSetDevice: deviceId: 77 is not in [0, 7]";
        let said = message();
        assert!(said.starts_with("EE1001: aclrtCreateStream: ") && said.contains(cause), "{said}");
        // Of a chain the first: the stream was not made because the device was not set.
        let never = 8 as aclrtStream;
        assert_eq!(unsafe { aclrtSynchronizeStream(never) }, ACL_ERROR_RT_INVALID_HANDLE);
        let said = message();
        assert!(said.contains(cause) && said.matches("earlier").count() == 1, "{said}");
        // Another thread that lives on the default context is told, too.
        std::thread::spawn(move || {
            assert_eq!(unsafe { aclrtGetDevice(&mut 0) }, null_context);
            assert!(message().contains(cause));
        })
        .join()
        .unwrap();
        // Whoever has got a context does not hear of it any more.
        assert_eq!(unsafe { aclrtSetDevice(0) }, 0);
        assert_eq!(unsafe { aclrtResetDevice(0) }, 0);
        message();
        assert_eq!(unsafe { aclrtGetDevice(&mut 0) }, null_context);
        let said = message();
        assert!(said.contains("aclrtGetDevice") && !said.contains("earlier"), "{said}");
        // A handle that was destroyed is a mistake of its own.
        assert_eq!(unsafe { aclrtSetDevice(0) }, 0);
        assert_eq!(unsafe { aclrtCreateStream(&mut stream) }, 0);
        assert_eq!(unsafe { aclrtDestroyStream(stream) }, 0);
        assert_eq!(unsafe { aclrtSynchronizeStream(stream) }, ACL_ERROR_RT_INVALID_HANDLE);
        let said = message();
        assert!(said.contains("destroyed already") && !said.contains("earlier"), "{said}");
    });
}

/// ours: what is printed without being asked for, and with `TOPROPE_LOG`.
#[test]
fn only_what_is_missing_is_printed() {
    let body = || {
        assert_eq!(unsafe { aclrtSetDevice(77) }, ACL_ERROR_RT_INVALID_DEVICEID);
        // Not on this product: a call, twice, and a question.
        for _ in 0..2 {
            let code = unsafe { ascendcl::managed::aclrtMemAllocManaged(&mut null_mut(), 4096, 1) };
            assert_eq!(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        }
        assert_eq!(unsafe { aclrtDeviceCanAccessPeer(null_mut(), 0, 1) }, ACL_ERROR_RT_PARAM_INVALID);
    };
    let lines = |level: &[(&str, &str)]| {
        let env = [&[("TOPROPE_PRODUCT", "a3")], level].concat();
        alone("only_what_is_missing_is_printed", &env, body).map(|said| {
            said.lines().filter(|line| line.starts_with("toprope: E")).map(str::to_owned).collect::<Vec<_>>()
        })
    };
    let Some(quiet) = lines(&[]) else { return };
    assert_eq!(quiet.len(), 1, "{quiet:?}");
    assert!(quiet[0].contains("aclrtMemAllocManaged is not supported on a3"), "{quiet:?}");
    assert_eq!(lines(&[("TOPROPE_LOG", "off")]), Some(vec![]));
    let errors = lines(&[("TOPROPE_LOG", "error")]).unwrap_or_default();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors[0].starts_with("toprope: EE1001: aclrtSetDevice: deviceId: 77 "), "{errors:?}");
    let all = lines(&[("TOPROPE_LOG", "info")]).unwrap_or_default();
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(all[3].starts_with("toprope: EE1001: aclrtDeviceCanAccessPeer: "), "{all:?}");
}

/// ours: enumerators by name, what is given and what is wanted.
#[test]
fn enumerators_have_names() {
    assert_eq!(unsafe { aclrtSetDevice(0) }, 0);
    let mut value = 0;
    let said = |code: i32, wanted: i32| {
        assert_eq!(code, wanted);
        message()
    };
    let text = said(unsafe { aclrtDeviceGetLimit(99, &mut value) }, ACL_ERROR_INVALID_PARAM);
    assert!(text.contains("limit: 99 (no aclrtDeviceLimit); wanted is one of ACL_"), "{text}");
    let mut number = 0;
    let text = said(unsafe { aclrtGetDeviceInfo(0, 9999, &mut number) }, ACL_ERROR_RT_PARAM_INVALID);
    assert!(text.contains("attr: 9999 (no aclrtDevAttr)"), "{text}");
}

fn peek() -> i32 {
    unsafe { aclrtPeekAtLastError(0) }
}

fn take() -> i32 {
    unsafe { aclrtGetLastError(0) }
}

/// aclrtGetLastError#01 to #05, aclrtPeekAtLastError#01 to #05
#[test]
fn last_errors_are_the_threads_and_of_the_runtime_layer() {
    assert_eq!((peek(), take()), (0, 0));
    assert_eq!(unsafe { aclrtGetDevice(null_mut()) }, ACL_ERROR_INVALID_PARAM);
    assert_eq!(peek(), 0, "100000 is of the ACL layer");
    fail(77);
    let bad = ACL_ERROR_RT_INVALID_DEVICEID;
    assert_eq!(unsafe { aclrtGetDeviceCount(&mut 0) }, 0);
    assert_eq!((peek(), peek()), (bad, bad), "success and looking do not clear");
    std::thread::spawn(|| assert_eq!(peek(), 0)).join().unwrap();
    for level in [1, u32::MAX] {
        assert_eq!(unsafe { aclrtPeekAtLastError(level) }, ACL_ERROR_INVALID_PARAM);
        assert_eq!(unsafe { aclrtGetLastError(level) }, ACL_ERROR_INVALID_PARAM);
    }
    assert_eq!((take(), take(), peek()), (bad, 0, 0));
    fail(77);
    assert_eq!(unsafe { aclrtGetDevice(&mut 0) }, ACL_ERROR_RT_CONTEXT_NULL);
    assert_eq!(take(), ACL_ERROR_RT_CONTEXT_NULL, "the last one");
    // 200006 belongs to the ACL layer too.
    assert_eq!(unsafe { aclrtDeviceEnablePeerAccess(1, 1) }, ACL_ERROR_FEATURE_UNSUPPORTED);
    assert_eq!(peek(), 0);
}

/// What callbacks were told: who, task, stream, thread, device, code; and the handle.
type Told = (u32, [u32; 5]);
static TOLD: Mutex<Vec<Told>> = Mutex::new(Vec::new());
static KEPT: AtomicU64 = AtomicU64::new(0);

fn fields(info: *const aclrtExceptionInfo) -> [u32; 5] {
    unsafe {
        [
            aclrtGetTaskIdFromExceptionInfo(info),
            aclrtGetStreamIdFromExceptionInfo(info),
            aclrtGetThreadIdFromExceptionInfo(info),
            aclrtGetDeviceIdFromExceptionInfo(info),
            aclrtGetErrorCodeFromExceptionInfo(info),
        ]
    }
}

unsafe extern "C" fn first(info: *mut aclrtExceptionInfo) {
    TOLD.lock().unwrap().push((1, fields(info)));
    KEPT.store(info as u64, Ordering::Relaxed);
}

unsafe extern "C" fn second(info: *mut aclrtExceptionInfo) {
    // No lock is held: callbacks may be registered and taken back from a callback.
    assert_eq!(unsafe { aclrtExceptionInfoCallbackUnregister(Some(third)) }, 0);
    TOLD.lock().unwrap().push((2, fields(info)));
}

unsafe extern "C" fn third(info: *mut aclrtExceptionInfo) {
    TOLD.lock().unwrap().push((3, fields(info)));
}

const NOTHING: [u32; 5] = [u32::MAX; 5];

/// Fails a task of the default stream of the current context and returns what was told by then.
fn fail_task(code: i32) -> Vec<Told> {
    let mut stream = null_mut();
    assert_eq!(unsafe { aclrtCtxGetCurrentDefaultStream(&mut stream) }, 0);
    let rt = runtime().unwrap();
    let pin = rt.streams.pin(stream as u64).unwrap();
    pin.push(rt, Task::Fail { code: code as u32 });
    rt.engine.wait(pin.mark(rt), None);
    rt.engine.take_failure(pin.queue);
    std::mem::take(&mut *TOLD.lock().unwrap())
}

/// aclrtSetExceptionInfoCallback#02, #03, aclrtExceptionInfoCallbackRegister#01 to #05,
/// aclrtExceptionInfoCallbackUnregister#01 to #03, aclrtGet…FromExceptionInfo#01, #03
#[test]
fn callbacks_are_told_of_failed_tasks() {
    alone("callbacks_are_told_of_failed_tasks", &[], || {
        assert_eq!(unsafe { aclrtSetDevice(6) }, 0);
        let code = ACL_ERROR_RT_AICORE_EXCEPTION;
        assert_eq!(fail_task(code), [], "nobody listens");
        let bad = ACL_ERROR_RT_PARAM_INVALID;
        unsafe {
            assert_eq!(aclrtExceptionInfoCallbackRegister(None), bad);
            assert_eq!(aclrtExceptionInfoCallbackUnregister(None), bad);
            assert_eq!(aclrtExceptionInfoCallbackUnregister(Some(first)), 0, "not registered");
            assert_eq!(aclrtSetExceptionInfoCallback(Some(third)), 0);
            assert_eq!(aclrtSetExceptionInfoCallback(Some(first)), 0, "the last one counts");
            assert_eq!(aclrtExceptionInfoCallbackRegister(Some(first)), 0);
            assert_eq!(aclrtExceptionInfoCallbackRegister(Some(first)), 0, "once");
            assert_eq!(aclrtExceptionInfoCallbackRegister(Some(second)), 0);
            assert_eq!(aclrtExceptionInfoCallbackRegister(Some(first)), 0, "still once");
        }
        let mut told = fail_task(code);
        let me = unsafe { libc_gettid() };
        told.sort();
        assert_eq!(told.iter().map(|(who, _)| *who).collect::<Vec<_>>(), [1, 1, 2]);
        for (_, [task, stream, thread, device, error]) in told {
            assert_ne!(task, u32::MAX);
            assert_eq!((stream, thread, device, error), (0, me, 6, code as u32));
        }
        let kept = KEPT.load(Ordering::Relaxed) as *const aclrtExceptionInfo;
        assert_eq!(fields(kept), NOTHING, "the information ends with the callback");
        assert_eq!(fields(null()), NOTHING);
        assert_eq!(fields(0x1234 as *const _), NOTHING);
        unsafe {
            assert_eq!(aclrtExceptionInfoCallbackUnregister(Some(first)), 0);
            assert_eq!(aclrtExceptionInfoCallbackUnregister(Some(second)), 0);
        }
        assert_eq!(fail_task(code).len(), 1, "the one that was set is left");
        assert_eq!(unsafe { aclrtSetExceptionInfoCallback(None) }, 0);
        assert_eq!(fail_task(code), []);
        assert!(runtime().unwrap().exceptions.is_idle());
    });
}

/// What calls answered from within a callback.
static ANSWERS: Mutex<Vec<i32>> = Mutex::new(Vec::new());
static RAN: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn count(_: *mut std::ffi::c_void) {
    RAN.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn calls_in(_: *mut aclrtExceptionInfo) {
    let mut answers = ANSWERS.lock().unwrap();
    let (mut own, mut other) = (null_mut(), null_mut());
    unsafe {
        answers.push(aclrtSetDevice(6));
        answers.push(aclrtCtxGetCurrentDefaultStream(&mut own));
        // Its own stream waits for this very callback; so does its device. Other streams do not.
        answers.push(aclrtSynchronizeStream(own));
        answers.push(aclrtSynchronizeDevice());
        answers.push(aclrtCreateStream(&mut other));
        answers.push(aclrtLaunchHostFunc(other, Some(count), null_mut()));
        answers.push(aclrtSynchronizeStream(other));
        answers.push(aclrtDestroyStream(other));
        answers.push(aclrtResetDeviceForce(6));
    }
}

/// ours: as aclrtLaunchHostFunc#07: what would wait for itself is refused, all else works. On one processor there is one
/// worker, which the callback blocks.
#[test]
fn callbacks_of_exceptions_may_call_in() {
    alone("callbacks_of_exceptions_may_call_in", &[], || unsafe {
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&one), &mut one);
        let first = (0..libc::CPU_SETSIZE as usize).find(|cpu| libc::CPU_ISSET(*cpu, &one)).unwrap();
        libc::CPU_ZERO(&mut one);
        libc::CPU_SET(first, &mut one);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&one), &one), 0);
        assert_eq!(aclrtSetDevice(6), 0);
        assert_eq!(aclrtExceptionInfoCallbackRegister(Some(calls_in)), 0);
        let mut stream = null_mut();
        assert_eq!(aclrtCtxGetCurrentDefaultStream(&mut stream), 0);
        let rt = runtime().unwrap();
        let pin = rt.streams.pin(stream as u64).unwrap();
        pin.push(rt, Task::Fail { code: 9 });
        let mark = pin.mark(rt);
        drop(pin);
        // Not helped by this thread: the worker runs it.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !rt.engine.query(mark) {
            assert!(std::time::Instant::now() < end, "the callback hangs");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let own = ACL_ERROR_RT_PARAM_INVALID;
        assert_eq!(*ANSWERS.lock().unwrap(), [0, 0, own, own, 0, 0, 0, 0, 0]);
        assert_eq!(RAN.load(Ordering::Relaxed), 1);
        assert_eq!(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "the device was reset");
    });
}

unsafe fn libc_gettid() -> u32 {
    unsafe extern "C" {
        fn gettid() -> i32;
    }
    (unsafe { gettid() }) as u32
}

/// aclrtGetErrorVerbose#01 to #03, aclrtRepairError#01 to #05
#[test]
fn devices_have_no_faults() {
    let mut info: aclrtErrorInfo = unsafe { std::mem::zeroed() };
    info.tryRepair = 9;
    info.errorType = ACL_RT_ERROR_OTHERS;
    unsafe {
        assert_eq!(aclrtGetErrorVerbose(0, null_mut()), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtGetErrorVerbose(8, &mut info), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(info.tryRepair, 9);
        assert_eq!(aclrtGetErrorVerbose(0, &mut info), 0);
        assert_eq!((info.tryRepair, info.hasDetail, info.errorType), (0, 0, ACL_RT_NO_ERROR));
        assert_eq!(aclrtRepairError(0, null()), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtRepairError(8, &info), ACL_ERROR_RT_PARAM_INVALID, "tryRepair comes before the id");
        info.tryRepair = 1;
        info.errorType = ACL_RT_ERROR_L2;
        assert_eq!(aclrtRepairError(8, &info), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(aclrtRepairError(0, &info), ACL_ERROR_RT_PARAM_INVALID);
        info.errorType = ACL_RT_ERROR_MEMORY;
        assert_eq!(aclrtRepairError(0, &info), 0);
    }
}

/// aclrtGetMemUceInfo#01 to #06, aclrtMemUceRepair#01 to #04
#[test]
fn devices_have_no_memory_faults() {
    let mut entries = [aclrtMemUceInfo { addr: null_mut(), len: 0, reserved: [0; 14] }; 2];
    let mut count = 9;
    unsafe {
        assert_eq!(aclrtGetMemUceInfo(0, null_mut(), 2, &mut count), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtGetMemUceInfo(0, entries.as_mut_ptr(), 2, null_mut()), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtGetMemUceInfo(8, entries.as_mut_ptr(), 2, &mut count), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!((aclrtGetMemUceInfo(0, entries.as_mut_ptr(), 2, &mut count), count), (0, 0));
        assert_eq!(aclrtMemUceRepair(0, null_mut(), 2), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtMemUceRepair(0, entries.as_mut_ptr(), 129), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtMemUceRepair(8, entries.as_mut_ptr(), 2), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(aclrtMemUceRepair(0, entries.as_mut_ptr(), 2), 0);
        entries[1].reserved[13] = 1;
        assert_eq!(aclrtMemUceRepair(8, entries.as_mut_ptr(), 2), ACL_ERROR_INVALID_PARAM);
    }
}
