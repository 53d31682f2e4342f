//! Chapters 02, 04 and 05: use of the library, devices, contexts.

use ascendcl_sys as sys;

use crate::call::{Call, Handle, What};
use crate::clock::Clock;
use crate::model::{DEVICES, Model};
use crate::verdict::{Value, Verdict};

impl Model {
    pub(super) fn judge_init(&self, v: &mut Verdict, call: &Call) {
        match call {
            // aclInit#10: it counts all the same.
            Call::Init => v.check(self.inits > 0, sys::ACL_ERROR_REPEAT_INITIALIZE, "aclInit#09"),
            // aclFinalize#05: before the first aclInit, too, but once.
            Call::Finalize => {
                let repeated = self.inits == 0 && self.finalized;
                v.check(repeated, sys::ACL_ERROR_REPEAT_FINALIZE, "aclFinalize#03, #04");
            }
            _ => {
                v.check(self.inits == 0, sys::ACL_ERROR_REPEAT_FINALIZE, "aclFinalizeReference#05");
                v.value = Value::Is(self.inits.saturating_sub(1));
            }
        }
    }

    pub(super) fn judge_device(&self, v: &mut Verdict, thread: usize, call: &Call, id: i32) {
        let Some(device) = usize::try_from(id).ok().filter(|id| *id < DEVICES) else {
            return v.wrong(sys::ACL_ERROR_RT_INVALID_DEVICEID, "aclrtSetDevice#04, aclrtResetDevice#01");
        };
        let state = &self.devices[device];
        let (again, force) = match call {
            Call::SetDevice(_) => return,
            Call::GetPrimaryCtxState(_) => {
                // aclrtGetPrimaryCtxState#05
                return v.value = Value::Is(u64::from(state.primary.is_some()));
            }
            Call::ResetDeviceForce(_) => ("aclrtResetDeviceForce#04, #06, #07", true),
            _ => ("aclrtResetDevice#05, #06", false),
        };
        if state.sets == 0 {
            return v.wrong(sys::ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, again);
        }
        // aclrtResetDevice#02 to #04
        if state.sets == 1 || force {
            let doomed = state.primary;
            v.waits = self.tails(|stream| Some(stream.context) == doomed);
            // The memory goes, so nobody may be using it.
            for (index, buffer) in self.buffers.iter().enumerate() {
                if buffer.alive && buffer.kind.device() == Some(device) {
                    v.moves.push(whole(index, buffer.size()));
                }
            }
            let _ = thread;
        }
    }

    pub(super) fn judge_current(&self, v: &mut Verdict, t: usize, call: &Call) {
        let Some(context) = self.need_context(v, t) else { return };
        let found = &self.contexts[context];
        v.value = match call {
            // aclrtGetDevice#04
            Call::GetDevice => Value::Is(found.device as u64),
            // aclrtGetCurrentContext#02
            Call::GetCurrentContext => Value::Context(context),
            // aclrtCtxGetCurrentDefaultStream#02
            _ => Value::DefaultStream(found.default_stream),
        };
    }

    pub(super) fn judge_create_context(&self, v: &mut Verdict, id: i32) {
        let known = usize::try_from(id).is_ok_and(|id| id < DEVICES);
        v.check(!known, sys::ACL_ERROR_RT_INVALID_DEVICEID, "aclrtCreateContext#02");
        v.value = Value::NewHandle;
    }

    pub(super) fn judge_destroy_context(&self, v: &mut Verdict, handle: Handle) {
        if handle.what == What::Null {
            return v.wrong(sys::ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext#01");
        }
        let Some(context) = self.context(handle) else {
            return v.wrong(sys::ACL_ERROR_RT_CONTEXT_NULL, "aclrtDestroyContext#05");
        };
        if self.contexts[context].primary {
            return v.wrong(sys::ACL_ERROR_RT_CONTEXT_NULL, "aclrtDestroyContext#03");
        }
        v.waits = self.tails(|stream| stream.context == context);
    }

    pub(super) fn judge_set_context(&self, v: &mut Verdict, handle: Handle) {
        v.check(handle.what == What::Null, sys::ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext#01");
        v.check(self.context(handle).is_none(), sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtSetCurrentContext#02");
    }

    /// aclrtDeviceEnablePeerAccess#03 tells the order.
    pub(super) fn judge_peer(&self, v: &mut Verdict, t: usize, peer: i32, flags: u32) {
        if flags != 0 {
            return v.wrong(sys::ACL_ERROR_FEATURE_UNSUPPORTED, "aclrtDeviceEnablePeerAccess#01");
        }
        let Some(context) = self.need_context(v, t) else { return };
        if peer == self.contexts[context].device as i32 {
            return v.wrong(sys::ACL_ERROR_INVALID_PARAM, "aclrtDeviceEnablePeerAccess#02");
        }
        let known = usize::try_from(peer).is_ok_and(|peer| peer < DEVICES);
        v.check(!known, sys::ACL_ERROR_RT_INVALID_DEVICEID, "aclrtDeviceEnablePeerAccess#05");
    }

    /// What aclrtSynchronizeDevice waits for: the device of the current context.
    pub(super) fn device_tails(&self, context: usize) -> Clock {
        let device = self.contexts[context].device;
        self.tails(|stream| stream.device == device)
    }
}

/// The end of a buffer counts as a write to all of it.
pub(super) fn whole(buffer: usize, size: usize) -> crate::verdict::Move {
    let dst = crate::memory::Span { buffer, range: 0..size };
    crate::verdict::Move { dst, from: crate::verdict::From::Nowhere }
}
