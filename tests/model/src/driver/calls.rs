//! Each call, as a C program would make it.

use std::ffi::c_void;

use super::{SYMBOL_SIZES, shadows};
use crate::call::{Call, Copy, Fill, Func, Handle, Out, Rect, Symbol, SymbolCopy};
use crate::commit::Outcome;
use crate::host;

fn word(handle: Handle) -> *mut c_void {
    handle.raw as *mut c_void
}

fn shadow(symbol: Symbol) -> *const c_void {
    match symbol {
        Symbol::Null => std::ptr::null(),
        Symbol::Known(index) => shadows()[index].as_ptr().cast(),
        Symbol::Unknown => shadows()[SYMBOL_SIZES.len()].as_ptr().cast(),
    }
}

fn out(code: i32, value: u64) -> Outcome {
    Outcome { code, value }
}

/// Makes a call on this thread.
pub(super) fn make(f: &ascendcl_sys::Table, call: &Call, arg: usize) -> Outcome {
    let mut handle: *mut c_void = std::ptr::null_mut();
    let (mut number, mut small, mut count, mut milliseconds) = (-1i32, u32::MAX, u64::MAX, f32::NAN);
    let null = std::ptr::null_mut::<c_void>();
    // SAFETY: results have their types and live through the call. Ranges that the sequence passes are in live buffers, or are such
    // that the runtime has to refuse them before it touches a byte.
    unsafe {
        match *call {
            Call::Init => out((f.aclInit)(std::ptr::null()), 0),
            Call::Finalize => out((f.aclFinalize)(), 0),
            Call::FinalizeReference => {
                let code = (f.aclFinalizeReference)(&mut count);
                out(code, count)
            }
            Call::SetDevice(id) => out((f.aclrtSetDevice)(id), 0),
            Call::ResetDevice(id) => out((f.aclrtResetDevice)(id), 0),
            Call::ResetDeviceForce(id) => out((f.aclrtResetDeviceForce)(id), 0),
            Call::GetDevice => {
                let code = (f.aclrtGetDevice)(&mut number);
                out(code, number as u64)
            }
            Call::GetPrimaryCtxState(id) => {
                let code = (f.aclrtGetPrimaryCtxState)(id, std::ptr::null_mut(), &mut number);
                out(code, number as u64)
            }
            Call::SynchronizeDevice => out((f.aclrtSynchronizeDevice)(), 0),
            Call::SynchronizeDeviceWithTimeout(ms) => out((f.aclrtSynchronizeDeviceWithTimeout)(ms), 0),
            Call::CreateContext(id) => {
                let code = (f.aclrtCreateContext)(&mut handle, id);
                out(code, handle as u64)
            }
            Call::DestroyContext(context) => out((f.aclrtDestroyContext)(word(context)), 0),
            Call::SetCurrentContext(context) => out((f.aclrtSetCurrentContext)(word(context)), 0),
            Call::GetCurrentContext => {
                let code = (f.aclrtGetCurrentContext)(&mut handle);
                out(code, handle as u64)
            }
            Call::GetDefaultStream => {
                let code = (f.aclrtCtxGetCurrentDefaultStream)(&mut handle);
                out(code, handle as u64)
            }
            Call::CreateStream => {
                let code = (f.aclrtCreateStream)(&mut handle);
                out(code, handle as u64)
            }
            Call::CreateStreamWithConfig { priority, flags } => {
                let code = (f.aclrtCreateStreamWithConfig)(&mut handle, priority, flags);
                out(code, handle as u64)
            }
            Call::DestroyStream(stream) => out((f.aclrtDestroyStream)(word(stream)), 0),
            Call::DestroyStreamForce(stream) => out((f.aclrtDestroyStreamForce)(word(stream)), 0),
            Call::SynchronizeStream(stream) => out((f.aclrtSynchronizeStream)(word(stream)), 0),
            Call::SynchronizeStreamWithTimeout(stream, ms) => {
                out((f.aclrtSynchronizeStreamWithTimeout)(word(stream), ms), 0)
            }
            Call::StreamQuery(stream) => {
                let code = (f.aclrtStreamQuery)(word(stream), &mut small);
                out(code, small.into())
            }
            Call::StreamGetPriority(stream) => {
                let code = (f.aclrtStreamGetPriority)(word(stream), &mut small);
                out(code, small.into())
            }
            Call::StreamAbort(stream) => out((f.aclrtStreamAbort)(word(stream)), 0),
            Call::CreateEvent => {
                let code = (f.aclrtCreateEvent)(&mut handle);
                out(code, handle as u64)
            }
            Call::CreateEventWithFlag(flags) => {
                let code = (f.aclrtCreateEventWithFlag)(&mut handle, flags);
                out(code, handle as u64)
            }
            Call::CreateEventExWithFlag(flags) => {
                let code = (f.aclrtCreateEventExWithFlag)(&mut handle, flags);
                out(code, handle as u64)
            }
            Call::DestroyEvent(event) => out((f.aclrtDestroyEvent)(word(event)), 0),
            Call::RecordEvent { event, stream } => out((f.aclrtRecordEvent)(word(event), word(stream)), 0),
            Call::ResetEvent { event, stream } => out((f.aclrtResetEvent)(word(event), word(stream)), 0),
            Call::StreamWaitEvent { stream, event } => {
                out((f.aclrtStreamWaitEvent)(word(stream), word(event)), 0)
            }
            Call::StreamWaitEventWithTimeout { stream, event, timeout } => {
                out((f.aclrtStreamWaitEventWithTimeout)(word(stream), word(event), timeout), 0)
            }
            Call::QueryEvent(event) => {
                let code = (f.aclrtQueryEvent)(word(event), &mut small);
                out(code, small.into())
            }
            Call::QueryEventStatus(event) => {
                let code = (f.aclrtQueryEventStatus)(word(event), &mut small);
                out(code, small.into())
            }
            Call::SynchronizeEvent(event) => out((f.aclrtSynchronizeEvent)(word(event)), 0),
            Call::SynchronizeEventWithTimeout(event, ms) => {
                out((f.aclrtSynchronizeEventWithTimeout)(word(event), ms), 0)
            }
            Call::EventElapsedTime { start, end } => {
                let code = (f.aclrtEventElapsedTime)(&mut milliseconds, word(start), word(end));
                out(code, milliseconds.to_bits().into())
            }
            Call::Malloc { size, policy } => {
                let code = (f.aclrtMalloc)(&mut handle, size, policy);
                out(code, handle as u64)
            }
            Call::MallocHost { size } => {
                let code = (f.aclrtMallocHost)(&mut handle, size);
                out(code, handle as u64)
            }
            Call::AllocManaged { size, flag } => {
                let code = (f.aclrtMemAllocManaged)(&mut handle, size, flag);
                out(code, handle as u64)
            }
            Call::Free(addr) => out((f.aclrtFree)(addr.raw as *mut c_void), 0),
            Call::FreeWithDevSync(addr) => out((f.aclrtFreeWithDevSync)(addr.raw as *mut c_void), 0),
            Call::FreeHost(addr) => out((f.aclrtFreeHost)(addr.raw as *mut c_void), 0),
            Call::Memcpy(Copy { dst, max, src, count, kind }) => {
                out((f.aclrtMemcpy)(dst.raw as *mut c_void, max, src.raw as *const c_void, count, kind), 0)
            }
            Call::MemcpyAsync(Copy { dst, max, src, count, kind }, stream) => {
                let (dst, src) = (dst.raw as *mut c_void, src.raw as *const c_void);
                out((f.aclrtMemcpyAsync)(dst, max, src, count, kind, word(stream)), 0)
            }
            Call::MemcpyAsyncWithCondition(Copy { dst, max, src, count, kind }, stream) => {
                let (dst, src) = (dst.raw as *mut c_void, src.raw as *const c_void);
                out((f.aclrtMemcpyAsyncWithCondition)(dst, max, src, count, kind, word(stream)), 0)
            }
            Call::Memcpy2d(Rect { dst, dpitch, src, spitch, width, height, kind }) => {
                let (dst, src) = (dst.raw as *mut c_void, src.raw as *const c_void);
                out((f.aclrtMemcpy2d)(dst, dpitch, src, spitch, width, height, kind), 0)
            }
            Call::Memcpy2dAsync(Rect { dst, dpitch, src, spitch, width, height, kind }, stream) => {
                let (dst, src) = (dst.raw as *mut c_void, src.raw as *const c_void);
                out((f.aclrtMemcpy2dAsync)(dst, dpitch, src, spitch, width, height, kind, word(stream)), 0)
            }
            Call::Memset(Fill { dst, max, value, count, words }) => {
                let dst = dst.raw as *mut c_void;
                out(
                    if words {
                        (f.aclrtMemsetD32)(dst, max, value, count)
                    } else {
                        (f.aclrtMemset)(dst, max, value as i32, count)
                    },
                    0,
                )
            }
            Call::MemsetAsync(Fill { dst, max, value, count, words }, stream) => {
                let dst = dst.raw as *mut c_void;
                out(
                    if words {
                        (f.aclrtMemsetD32Async)(dst, max, value, count, word(stream))
                    } else {
                        (f.aclrtMemsetAsync)(dst, max, value as i32, count, word(stream))
                    },
                    0,
                )
            }
            Call::HostRegisterV2 { addr, size, flags } => {
                out((f.aclrtHostRegisterV2)(addr.raw as *mut c_void, size, flags), 0)
            }
            Call::HostUnregister(addr) => out((f.aclrtHostUnregister)(addr.raw as *mut c_void), 0),
            Call::EnablePeerAccess { peer, flags } => out((f.aclrtDeviceEnablePeerAccess)(peer, flags), 0),
            Call::DisablePeerAccess(peer) => out((f.aclrtDeviceDisablePeerAccess)(peer), 0),
            Call::GetSymbolAddress(symbol) => {
                let code = (f.aclrtGetSymbolAddress)(shadow(symbol), &mut handle);
                out(code, handle as u64)
            }
            Call::GetSymbolSize(symbol) => {
                let mut size = usize::MAX;
                let code = (f.aclrtGetSymbolSize)(shadow(symbol), &mut size);
                out(code, size as u64)
            }
            Call::SymbolCopy(SymbolCopy { to, symbol, host, max, count, offset, kind, stream }) => {
                let (variable, host) = (shadow(symbol), host.raw as *mut c_void);
                let code = match (to, stream) {
                    (true, None) => (f.aclrtMemcpyToSymbol)(variable, host, count, offset, kind),
                    (false, None) => (f.aclrtMemcpyFromSymbol)(host, max, variable, count, offset, kind),
                    (true, Some(stream)) => {
                        (f.aclrtMemcpyToSymbolAsync)(variable, host, count, offset, kind, word(stream))
                    }
                    (false, Some(stream)) => {
                        (f.aclrtMemcpyFromSymbolAsync)(host, max, variable, count, offset, kind, word(stream))
                    }
                };
                out(code, 0)
            }
            Call::LaunchHostFunc(stream, func) => {
                let function = (func != Func::Null).then_some(host::run as unsafe extern "C" fn(*mut c_void));
                out((f.aclrtLaunchHostFunc)(word(stream), function, arg as *mut c_void), 0)
            }
            Call::NullOut(which) => out(
                match which {
                    Out::GetDevice => (f.aclrtGetDevice)(null.cast()),
                    Out::GetDeviceCount => (f.aclrtGetDeviceCount)(null.cast()),
                    Out::CreateContext => (f.aclrtCreateContext)(null.cast(), 0),
                    Out::GetCurrentContext => (f.aclrtGetCurrentContext)(null.cast()),
                    Out::GetDefaultStream => (f.aclrtCtxGetCurrentDefaultStream)(null.cast()),
                    Out::CreateStream => (f.aclrtCreateStream)(null.cast()),
                    Out::CreateStreamWithConfig => (f.aclrtCreateStreamWithConfig)(null.cast(), 0, 0),
                    Out::CreateEvent => (f.aclrtCreateEvent)(null.cast()),
                    Out::CreateEventWithFlag => (f.aclrtCreateEventWithFlag)(null.cast(), 1),
                    Out::CreateEventExWithFlag => (f.aclrtCreateEventExWithFlag)(null.cast(), 1),
                    Out::Malloc => (f.aclrtMalloc)(null.cast(), 64, 0),
                    Out::MallocHost => (f.aclrtMallocHost)(null.cast(), 64),
                    Out::AllocManaged => (f.aclrtMemAllocManaged)(null.cast(), 1 << 21, 1),
                },
                0,
            ),
            Call::Pageable { .. } | Call::HostWrite { .. } | Call::Release(_) => Outcome::default(),
        }
    }
}
