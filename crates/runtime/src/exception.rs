//! Exceptions of tasks and errors of devices: chapter 13. When a task fails, the program's callbacks run on the thread that ran
//! the task, before the failure can be seen at a synchronize, with no lock held. The information they get is a handle like any
//! other: kept beyond the callback, it is recognised as stale.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::queue::{self, Failure};

use crate::error::{self, Result};
use crate::handle::{Kind, Table};
use crate::kernel::binary;
use crate::process::{self, Runtime};
use crate::{device, refuse};

/// `aclrtExceptionInfoCallback`
pub type ExceptionFn = unsafe extern "C" fn(*mut sys::aclrtExceptionInfo);

/// What a callback is told.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The task's position in its stream, cut to 32 bits.
    pub task: u32,
    /// What aclrtStreamGetId answers.
    pub stream: u32,
    /// The system's number of the thread that added to the stream last; [`UNKNOWN`] when none did.
    pub thread: u32,
    /// The program's id.
    pub device: u32,
    /// The task's error code.
    pub code: u32,
    /// Of a kernel.
    pub kernel: Option<Kernel>,
}

/// What a callback is told of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its function's handle.
    pub function: u64,
    /// Its arguments: address and bytes.
    pub arguments: (usize, usize),
}

/// No information. aclrtGetTaskIdFromExceptionInfo#01, #02
pub const UNKNOWN: u32 = u32::MAX;

/// What is to be known of a stream after its handle is gone.
pub struct Origin {
    device: u16,
    stream: i32,
    submitter: AtomicU32,
}

impl Origin {
    /// Notes that the calling thread adds a task.
    #[inline]
    pub fn submit(&self) {
        self.submitter.store(thread_number(), Ordering::Relaxed);
    }
}

thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

/// The system's number of the calling thread, asked once per thread.
#[inline]
fn thread_number() -> u32 {
    NUMBER
        .try_with(|cell| match cell.get() {
            0 => {
                // SAFETY: takes nothing and touches nothing.
                let number = unsafe { libc::gettid() } as u32;
                cell.set(number);
                number
            }
            number => number,
        })
        .unwrap_or(UNKNOWN)
}

/// Callbacks and the information they are given.
pub struct Exceptions {
    /// aclrtSetExceptionInfoCallback. #03: the last one.
    set: Mutex<Option<ExceptionFn>>,
    /// aclrtExceptionInfoCallbackRegister. #04: each once.
    registered: Mutex<Vec<ExceptionFn>>,
    infos: Table<Info>,
    /// By the engine's stream; an entry is replaced when the engine gives the number again.
    origins: Mutex<HashMap<u32, Arc<Origin>>>,
}

impl Exceptions {
    pub(crate) fn new() -> Exceptions {
        Exceptions {
            set: Mutex::new(None),
            registered: Mutex::default(),
            infos: Table::new(Kind::Exception),
            origins: Mutex::default(),
        }
    }

    /// Whether no callback is running.
    pub fn is_idle(&self) -> bool {
        self.infos.is_empty()
    }

    /// Notes a new stream: what its tasks' failures will be reported for.
    pub(crate) fn opened(&self, queue: queue::Stream, device: u16, stream: i32) -> Arc<Origin> {
        let origin = Arc::new(Origin { device, stream, submitter: AtomicU32::new(UNKNOWN) });
        self.origins.lock().insert(queue.0, origin.clone());
        origin
    }
}

/// aclrtSetExceptionInfoCallback (#02: none clears).
pub fn set_callback(rt: &Runtime, func: Option<ExceptionFn>) {
    *rt.exceptions.set.lock() = func;
}

fn given(func: Option<ExceptionFn>, rule: &'static str) -> Result<ExceptionFn> {
    match func {
        Some(func) => Ok(func),
        None => refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "callback: must not be null"),
    }
}

/// aclrtExceptionInfoCallbackRegister (#03, #04).
pub fn register(rt: &Runtime, func: Option<ExceptionFn>) -> Result<()> {
    let func = given(func, "aclrtExceptionInfoCallbackRegister#02")?;
    let mut registered = rt.exceptions.registered.lock();
    if !registered.iter().any(|other| std::ptr::fn_addr_eq(*other, func)) {
        registered.push(func);
    }
    Ok(())
}

/// aclrtExceptionInfoCallbackUnregister (#02, #03, #05).
pub fn unregister(rt: &Runtime, func: Option<ExceptionFn>) -> Result<()> {
    let func = given(func, "aclrtExceptionInfoCallbackUnregister#01")?;
    rt.exceptions.registered.lock().retain(|other| !std::ptr::fn_addr_eq(*other, func));
    Ok(())
}

/// A task failed: tells the callbacks.
pub(crate) fn failed(stream: queue::Stream, failure: Failure) {
    let Ok(rt) = process::runtime() else { return };
    let mut functions: Vec<ExceptionFn> = Vec::new();
    functions.extend(*rt.exceptions.set.lock());
    functions.extend_from_slice(&rt.exceptions.registered.lock());
    let report = rt.kernels.report(stream, failure);
    // aclrtBinarySetExceptionCallback#06
    let of_binary =
        report.as_ref().and_then(|report| *rt.kernels.binaries.pin(report.binary)?.callback.lock());
    if functions.is_empty() && of_binary.is_none() {
        return;
    }
    let origin = rt.exceptions.origins.lock().get(&stream.0).cloned();
    let handle = rt.exceptions.infos.insert(Info {
        task: failure.position as u32,
        stream: origin.as_ref().map_or(UNKNOWN, |origin| origin.stream as u32),
        thread: origin.as_ref().map_or(UNKNOWN, |origin| origin.submitter.load(Ordering::Relaxed)),
        device: origin.as_ref().map_or(UNKNOWN, |origin| origin.device.into()),
        code: failure.code,
        kernel: report
            .as_ref()
            .map(|report| Kernel { function: report.function, arguments: report.arguments }),
    });
    for func in functions {
        // SAFETY: the program registered the function for this argument, an opaque pointer.
        rt.engine.callback(stream, || unsafe { func(handle as *mut sys::aclrtExceptionInfo) });
    }
    if let Some((func, word)) = of_binary {
        let word = word as *mut std::ffi::c_void;
        // SAFETY: as above; the word is the program's own, for this function.
        rt.engine.callback(stream, || unsafe { func(handle as *mut sys::aclrtExceptionInfo, word) });
    }
    rt.exceptions.infos.remove(handle);
}

/// aclrtGetArgsFromExceptionInfo: address and bytes of a kernel's arguments (#05). None for null, one whose callback is over, and a
/// task that is no kernel (#01, #04).
pub fn arguments(rt: &Runtime, handle: u64) -> Option<(usize, usize)> {
    rt.exceptions.infos.pin(handle)?.kernel.map(|kernel| kernel.arguments)
}

/// aclrtGetFuncHandleFromExceptionInfo; None as of no information at all (#01).
pub fn function(rt: &Runtime, handle: u64) -> Option<Result<u64>> {
    let info = rt.exceptions.infos.pin(handle)?;
    let Some(kernel) = info.kernel else {
        return Some(refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtGetFuncHandleFromExceptionInfo#03",
            "info: the task that failed is no kernel"
        ));
    };
    let live = binary::function(rt, kernel.function, "aclrtGetFuncHandleFromExceptionInfo#04");
    Some(live.map(|_| kernel.function))
}

/// aclrtGet…FromExceptionInfo: a field of the information, [`UNKNOWN`] for null and for one whose callback is over.
pub fn info(rt: &Runtime, handle: u64, field: impl Fn(&Info) -> u32) -> u32 {
    rt.exceptions.infos.pin(handle).map_or(UNKNOWN, |info| field(&info))
}

/// aclrtPeekAtLastError and aclrtGetLastError: the level is checked here, the error is [`error::last`].
pub fn last_error_level(level: sys::aclrtLastErrLevel, rule: &'static str) -> Result<()> {
    match level {
        sys::ACL_RT_THREAD_LEVEL => Ok(()),
        _ => refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "level: {level} is not ACL_RT_THREAD_LEVEL (0)"),
    }
}

/// The last error, kept (aclrtPeekAtLastError#03) or taken (aclrtGetLastError#03).
pub fn last_error(take: bool) -> i32 {
    if take { error::take_last() } else { error::last() }
}

/// aclrtGetErrorVerbose (#03): a device of this runtime never breaks, so there is no fault to tell of.
pub fn error_verbose(rt: &Runtime, id: i32) -> Result<()> {
    device::resolve(rt, id, "aclrtGetErrorVerbose#02").map(|_| ())
}

/// aclrtRepairError (#05: the order). Nothing is broken, so nothing is left to do.
pub fn repair_error(rt: &Runtime, id: i32, try_repair: u8, kind: sys::aclrtErrorType) -> Result<()> {
    if try_repair == 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtRepairError#02",
            "errorInfo: tryRepair is 0, there is nothing to repair"
        );
    }
    device::resolve(rt, id, "aclrtRepairError#03")?;
    if !matches!(kind, sys::ACL_RT_NO_ERROR | sys::ACL_RT_ERROR_MEMORY) {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtRepairError#04",
            "errorInfo: errorType {} is neither ACL_RT_NO_ERROR nor ACL_RT_ERROR_MEMORY",
            sys::enums::aclrtErrorType.show(kind)
        );
    }
    Ok(())
}

/// aclrtGetMemUceInfo (#06): the number of memory faults, which is always 0.
pub fn memory_faults(rt: &Runtime, id: i32) -> Result<usize> {
    device::resolve(rt, id, "aclrtGetMemUceInfo#04")?;
    Ok(0)
}

/// aclrtMemUceRepair: the number of entries, before they are read.
pub fn repair_memory_count(count: usize) -> Result<()> {
    if count <= sys::MAX_MEM_UCE_INFO_ARRAY_SIZE as usize {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_INVALID_PARAM,
        "aclrtMemUceRepair#02",
        "arraySize: {count} is above {}",
        sys::MAX_MEM_UCE_INFO_ARRAY_SIZE
    )
}

/// aclrtMemUceRepair. Nothing is broken, so nothing is left to do.
pub fn repair_memory(rt: &Runtime, id: i32, entries: &[sys::aclrtMemUceInfo]) -> Result<()> {
    if let Some(at) = entries.iter().position(|entry| entry.reserved.iter().any(|word| *word != 0)) {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemUceRepair#03",
            "memUceInfoArray: the reserved words of entry {at} are not 0"
        );
    }
    device::resolve(rt, id, "aclrtMemUceRepair#04").map(|_| ())
}
