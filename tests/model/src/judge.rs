//! What each call must answer: the rows of `spec/constraints*.csv`, for the default target (A2, EP form, generation 9).

mod event;
mod memory;
mod setup;
mod stream;
mod symbol;

use ascendcl_sys as sys;

use crate::call::{Call, Handle, Step, What};
use crate::model::Model;
use crate::verdict::Verdict;

impl Model {
    /// What the call must answer now. Changes nothing.
    pub fn judge(&self, step: &Step) -> Verdict {
        let mut verdict = Verdict::default();
        let v = &mut verdict;
        let t = step.thread;
        match &step.call {
            Call::Init | Call::Finalize | Call::FinalizeReference => self.judge_init(v, &step.call),
            Call::NullOut(_) => v.wrong(sys::ACL_ERROR_INVALID_PARAM, "aclrtCreateStream#01 and its kin"),
            Call::SetDevice(id)
            | Call::ResetDevice(id)
            | Call::ResetDeviceForce(id)
            | Call::GetPrimaryCtxState(id) => self.judge_device(v, t, &step.call, *id),
            Call::GetDevice | Call::GetCurrentContext | Call::GetDefaultStream => {
                self.judge_current(v, t, &step.call)
            }
            Call::CreateContext(id) => self.judge_create_context(v, *id),
            Call::DestroyContext(context) => self.judge_destroy_context(v, *context),
            Call::SetCurrentContext(context) => self.judge_set_context(v, *context),
            Call::SynchronizeDevice
            | Call::SynchronizeDeviceWithTimeout(_)
            | Call::CreateStream
            | Call::CreateStreamWithConfig { .. }
            | Call::DestroyStream(_)
            | Call::DestroyStreamForce(_)
            | Call::SynchronizeStream(_)
            | Call::SynchronizeStreamWithTimeout(..)
            | Call::StreamQuery(_)
            | Call::StreamGetPriority(_)
            | Call::StreamAbort(_)
            | Call::LaunchHostFunc(..)
            | Call::Release(_) => self.judge_stream(v, t, &step.call),
            Call::CreateEvent
            | Call::CreateEventWithFlag(_)
            | Call::CreateEventExWithFlag(_)
            | Call::DestroyEvent(_)
            | Call::RecordEvent { .. }
            | Call::ResetEvent { .. }
            | Call::StreamWaitEvent { .. }
            | Call::StreamWaitEventWithTimeout { .. }
            | Call::QueryEvent(_)
            | Call::QueryEventStatus(_)
            | Call::SynchronizeEvent(_)
            | Call::SynchronizeEventWithTimeout(..)
            | Call::EventElapsedTime { .. } => self.judge_event(v, t, &step.call),
            Call::Malloc { .. }
            | Call::MallocHost { .. }
            | Call::AllocManaged { .. }
            | Call::Free(_)
            | Call::FreeWithDevSync(_)
            | Call::FreeHost(_)
            | Call::Pageable { .. }
            | Call::HostWrite { .. } => self.judge_block(v, t, &step.call),
            Call::HostRegisterV2 { .. } | Call::HostUnregister(_) => {
                self.judge_registration(v, t, &step.call)
            }
            Call::EnablePeerAccess { peer, flags } => self.judge_peer(v, t, *peer, *flags),
            Call::DisablePeerAccess(peer) => self.judge_peer(v, t, *peer, 0),
            Call::GetSymbolAddress(_) | Call::GetSymbolSize(_) | Call::SymbolCopy(_) => {
                self.judge_symbol(v, t, &step.call);
            }
            Call::Memcpy(_)
            | Call::MemcpyAsync(..)
            | Call::MemcpyAsyncWithCondition(..)
            | Call::Memcpy2d(_)
            | Call::Memcpy2dAsync(..)
            | Call::Memset(_)
            | Call::MemsetAsync(..) => self.judge_copy(v, t, &step.call),
        }
        verdict
    }

    /// The stream that a call is about. *#01, *#03, *#04; `own`: the row that wants it to be of the current context.
    fn need_stream(
        &self,
        v: &mut Verdict,
        t: usize,
        handle: Handle,
        own: Option<&'static str>,
    ) -> Option<usize> {
        let current = self.current(t);
        let Some(stream) = self.stream(t, handle) else {
            match handle.what {
                What::Null => v.wrong(sys::ACL_ERROR_RT_CONTEXT_NULL, "*#03"),
                _ => v.wrong(sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01"),
            }
            return None;
        };
        if let Some(rule) = own
            && current != Some(self.streams[stream].context)
        {
            v.wrong(sys::ACL_ERROR_RT_STREAM_CONTEXT, rule);
            v.check(current.is_none(), sys::ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        }
        Some(stream)
    }

    /// As [`Model::need_stream`], for calls that add a task.
    fn need_queue(&self, v: &mut Verdict, t: usize, handle: Handle, own: &'static str) -> Option<usize> {
        let stream = self.need_stream(v, t, handle, Some(own))?;
        v.check(
            self.streams[stream].aborted,
            sys::ACL_ERROR_RT_STREAM_ABORT,
            "ours: an aborted stream takes no tasks",
        );
        Some(stream)
    }

    /// *#03
    fn need_context(&self, v: &mut Verdict, t: usize) -> Option<usize> {
        let current = self.current(t);
        v.check(current.is_none(), sys::ACL_ERROR_RT_CONTEXT_NULL, "*#03");
        current
    }
}
