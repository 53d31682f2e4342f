//! Contexts: chapter 05. A context belongs to a device and owns its streams; the default context of a device belongs to
//! aclrtSetDevice (see [`crate::device`]).

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::memory::{Block, Owner, Page};

use crate::error::{Error, Result};
use crate::handle::{Kind, Pin, describe};
use crate::process::Runtime;
use crate::{device, memory, observer, refuse, stream, system, thread};

/// A context.
pub struct Context {
    /// The program's id of the device it belongs to.
    pub device: u16,
    /// The default context of its device.
    pub primary: bool,
    /// What its streams do after a failure.
    pub failure: stream::sync::FailureMode,
    state: Mutex<State>,
    /// aclrtCtxSetSysParamOpt, by `aclSysParamOpt`; `None`: never set.
    params: Mutex<[Option<i64>; system::CONTEXT_OPTIONS]>,
    /// aclrtCtxGetFloatOverflowAddr: made at the first call.
    overflow: Mutex<Option<Block>>,
}

#[derive(Default)]
struct State {
    /// Handle of the default stream; 0 on products without one.
    default_stream: u64,
    /// All streams, the default one included.
    streams: Vec<u64>,
    /// The context is going away: no stream may be added.
    closed: bool,
}

impl Context {
    /// Handle of the default stream, if the product has one.
    pub fn default_stream(&self) -> Option<u64> {
        Some(self.state.lock().default_stream).filter(|stream| *stream != 0)
    }

    /// Handles of all streams.
    pub fn streams(&self) -> Vec<u64> {
        self.state.lock().streams.clone()
    }

    /// Takes a new stream in; false when the context is going away.
    pub(crate) fn adopt(&self, stream: u64) -> bool {
        let mut state = self.state.lock();
        if !state.closed {
            state.streams.push(stream);
        }
        !state.closed
    }

    /// Forgets a stream that was destroyed.
    pub(crate) fn disown(&self, stream: u64) {
        self.state.lock().streams.retain(|handle| *handle != stream);
    }
}

/// Makes a context with its default stream; nobody's current one yet.
pub(crate) fn open(rt: &'static Runtime, device: u16, primary: bool) -> Result<u64> {
    let handle = rt.contexts.insert(Context {
        device,
        primary,
        failure: Default::default(),
        state: Mutex::default(),
        params: Mutex::default(),
        overflow: Mutex::default(),
    });
    observer::tell(|o| o.born(Kind::Context, handle));
    // aclrtCreateContext#06, #08: one default stream, except where the product has none.
    if rt.profile.product.default_stream
        && let Some(context) = rt.contexts.pin(handle)
    {
        match stream::open_default(rt, &context) {
            Ok(stream) => context.state.lock().default_stream = stream,
            Err(error) => {
                close(rt, &context, handle);
                return Err(error);
            }
        }
    }
    Ok(handle)
}

/// Ends a context and its streams, after their work is done. False when another thread ended it first.
pub(crate) fn close(rt: &Runtime, context: &Context, handle: u64) -> bool {
    if rt.contexts.remove(handle).is_none() {
        return false;
    }
    let streams = {
        let mut state = context.state.lock();
        state.closed = true;
        std::mem::take(&mut state.streams)
    };
    // aclrtResetDevice#04: unfinished tasks are waited for.
    stream::end_all(rt, &streams);
    if let Some(block) = context.overflow.lock().take() {
        memory::discard(rt, &block);
    }
    observer::tell(|o| o.died(Kind::Context, handle));
    true
}

/// aclrtCreateContext: the new context becomes current (#04).
pub fn create(rt: &'static Runtime, device_id: i32) -> Result<u64> {
    let device = device::resolve(rt, device_id, "aclrtCreateContext#02")?;
    device.activate(rt)?;
    let handle = open(rt, device.id, false)?;
    thread::bind_context(handle, device.id);
    stream::listener::tell_default(rt, handle);
    Ok(handle)
}

/// aclrtDestroyContext.
pub fn destroy(rt: &Runtime, handle: u64) -> Result<()> {
    let context = find(rt, handle, sys::ACL_ERROR_RT_CONTEXT_NULL, "aclrtDestroyContext#05")?;
    if context.primary {
        return refuse!(
            sys::ACL_ERROR_RT_CONTEXT_NULL,
            "aclrtDestroyContext#03",
            "context: {handle:#x} is the default context of device {}; aclrtResetDevice releases it",
            context.device
        );
    }
    if !close(rt, &context, handle) {
        return refuse!(
            sys::ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
            "aclrtDestroyContext#06",
            "context: another thread is destroying {handle:#x}"
        );
    }
    thread::unbind_context(handle);
    Ok(())
}

/// aclrtSetCurrentContext.
pub fn set_current(rt: &Runtime, handle: u64) -> Result<()> {
    let context = find(rt, handle, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtSetCurrentContext#02")?;
    thread::bind_context(handle, context.device);
    Ok(())
}

/// aclrtGetCurrentContext.
pub fn get_current(rt: &Runtime) -> Result<u64> {
    Ok(thread::current(rt)?.handle())
}

/// aclrtCtxGetCurrentDefaultStream.
pub fn current_default_stream(rt: &Runtime) -> Result<u64> {
    let context = thread::current(rt)?;
    match context.default_stream() {
        Some(stream) => Ok(stream),
        None => Err(no_default_stream(rt)),
    }
}

/// aclrtCtxSetSysParamOpt: for the current context (#03); the last value counts (#06).
pub fn set_sys_param(rt: &Runtime, option: u32, value: i64) -> Result<()> {
    let at = system::option(option, system::CONTEXT_OPTIONS, "aclrtCtxSetSysParamOpt#01")?;
    system::in_range(at, value, ["aclrtCtxSetSysParamOpt#04", "aclrtCtxSetSysParamOpt#05"])?;
    thread::current(rt)?.params.lock()[at] = Some(value);
    Ok(())
}

/// aclrtCtxGetSysParamOpt.
pub fn sys_param(rt: &Runtime, option: u32) -> Result<i64> {
    let at = system::option(option, system::CONTEXT_OPTIONS, "aclrtCtxGetSysParamOpt#01")?;
    let context = thread::current(rt)?;
    let value = context.params.lock()[at];
    match value {
        Some(value) => Ok(value),
        None => refuse!(
            sys::ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
            "aclrtCtxGetSysParamOpt#05",
            "opt: option {} was never set in context {:#x}",
            sys::enums::aclSysParamOpt.show(option),
            context.handle()
        ),
    }
}

/// Bytes of an overflow area, as aclrtGetOverflowStatus copies them.
pub(crate) const OVERFLOW_BYTES: usize = 64;

/// aclrtCtxGetFloatOverflowAddr (#02): device memory of the context, zero at first, for kernels that report overflows.
pub fn float_overflow_addr(rt: &Runtime) -> Result<usize> {
    let context = thread::current(rt)?;
    let mut overflow = context.overflow.lock();
    if let Some(block) = overflow.filter(|block| rt.space.find(block.base) == Some(*block)) {
        return Ok(block.base);
    }
    let owner = Owner::Image(context.device);
    match rt.space.alloc(owner, OVERFLOW_BYTES, OVERFLOW_BYTES, OVERFLOW_BYTES, Page::Normal, 0) {
        Ok(block) => {
            observer::tell(|o| o.allocated(&block));
            // SAFETY: the block was made just now and nobody else knows it.
            let cleared =
                unsafe { toprope_engine::memory::fill(rt.space.inner(block.base), 0, OVERFLOW_BYTES) };
            *overflow = Some(block);
            match cleared {
                Ok(()) => Ok(block.base),
                Err(fault) => refuse!(
                    sys::ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "*#07",
                    "device {}: its memory cannot be written: {fault:?}",
                    context.device
                ),
            }
        }
        Err(error) => refuse!(
            sys::ACL_ERROR_RT_MEMORY_ALLOCATION,
            "*#07",
            "device {}: no {OVERFLOW_BYTES} bytes for the overflow area: {error:?}",
            context.device
        ),
    }
}

/// *#05, aclrtCreateContext#08: the product's contexts have no default stream. The code is ours.
#[cold]
pub(crate) fn no_default_stream(rt: &Runtime) -> Error {
    Error::new(
        sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        "*#05",
        format!("stream: {} has no default stream; create one", rt.profile.product.key),
    )
}

fn find<'a>(rt: &'a Runtime, handle: u64, code: i32, rule: &'static str) -> Result<Pin<'a, Context>> {
    match rt.contexts.pin(handle) {
        Some(context) => Ok(context),
        None => refuse!(code, rule, "context: {}", describe(handle, Kind::Context)),
    }
}
