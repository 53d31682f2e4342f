//! Chapters 06 and 12: streams and host functions.

use ascendcl_sys as sys;

use crate::call::{Call, Func, Handle, What};
use crate::clock::Clock;
use crate::memory::Span;
use crate::model::Model;
use crate::verdict::{From, Move, Value, Verdict};

impl Model {
    pub(super) fn judge_stream(&self, v: &mut Verdict, t: usize, call: &Call) {
        match *call {
            Call::CreateStream => {
                self.need_context(v, t);
                v.value = Value::NewHandle;
            }
            Call::CreateStreamWithConfig { flags, .. } => {
                const ALONE: u32 = sys::ACL_STREAM_DEVICE_USE_ONLY;
                // aclrtCreateStreamWithConfig#06: bits that are no macro's do not count.
                let joined = flags & ALONE != 0 && flags & 0x3f != ALONE;
                v.check(joined, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateStreamWithConfig#10");
                self.need_context(v, t);
                v.value = Value::NewHandle;
            }
            Call::DestroyStream(handle) => {
                let stream = self.judge_destroy(v, t, handle, "aclrtDestroyStream#04");
                // aclrtDestroyStream#02
                v.waits = stream.map(|stream| self.streams[stream].clock.clone()).unwrap_or_default();
            }
            Call::DestroyStreamForce(handle) => {
                v.drops = self.judge_destroy(v, t, handle, "aclrtDestroyStreamForce#03");
            }
            Call::SynchronizeStream(handle) => self.judge_synchronize(v, t, handle, -1),
            Call::SynchronizeStreamWithTimeout(handle, ms) => self.judge_synchronize(v, t, handle, ms),
            Call::SynchronizeDevice => self.judge_synchronize_device(v, t, -1),
            Call::SynchronizeDeviceWithTimeout(ms) => self.judge_synchronize_device(v, t, ms),
            Call::StreamQuery(handle) => {
                if let Some(stream) = self.need_stream(v, t, handle, None) {
                    let clock = self.streams[stream].clock.clone();
                    // aclrtStreamQuery#02
                    v.value = self.done(clock, 0, 1, self.streams[stream].aborted);
                }
            }
            Call::StreamGetPriority(handle) => {
                if let Some(stream) = self.need_stream(v, t, handle, None) {
                    // aclrtStreamGetPriority#03
                    v.value = Value::Is(self.streams[stream].priority.into());
                }
            }
            // aclrtStreamAbort#01, #06
            Call::StreamAbort(handle) => v.drops = self.need_stream(v, t, handle, None),
            Call::LaunchHostFunc(handle, func) => {
                v.check(func == Func::Null, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtLaunchHostFunc#01");
                v.task = self.need_queue(v, t, handle, "aclrtLaunchHostFunc#09");
                match func {
                    Func::Store { buffer, offset, len, byte } => v.moves.push(Move {
                        dst: Span { buffer, range: offset..offset + len },
                        from: From::Byte(byte),
                    }),
                    Func::Observe { buffer, offset, len } => {
                        v.looks.push(Span { buffer, range: offset..offset + len });
                    }
                    Func::Null | Func::Gate | Func::Mark => {}
                }
            }
            _ => {}
        }
        if !v.succeeds() {
            v.moves.clear();
            v.looks.clear();
        }
    }

    fn judge_destroy(&self, v: &mut Verdict, t: usize, handle: Handle, own: &'static str) -> Option<usize> {
        if handle.what == What::Null {
            v.wrong(sys::ACL_ERROR_INVALID_PARAM, "aclrtDestroyStream#01, aclrtDestroyStreamForce#01");
            return None;
        }
        let stream = self.need_stream(v, t, handle, Some(own))?;
        let default = self.streams[stream].default;
        v.check(default, sys::ACL_ERROR_RT_PARAM_INVALID, "ours: a default stream belongs to its context");
        (v.succeeds()).then_some(stream)
    }

    fn judge_synchronize(&self, v: &mut Verdict, t: usize, handle: Handle, ms: i32) {
        bad_timeout(v, ms, "aclrtSynchronizeStreamWithTimeout#02, #03");
        let Some(stream) = self.need_stream(v, t, handle, None) else { return };
        if !v.succeeds() {
            return;
        }
        let found = &self.streams[stream];
        v.check(found.aborted, sys::ACL_ERROR_RT_STREAM_ABORT, "aclrtStreamAbort#04");
        self.wait_for(v, found.clock.clone(), ms, sys::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    }

    fn judge_synchronize_device(&self, v: &mut Verdict, t: usize, ms: i32) {
        bad_timeout(v, ms, "aclrtSynchronizeDeviceWithTimeout#02, #03");
        let Some(context) = self.need_context(v, t) else { return };
        if v.succeeds() {
            let tails = self.device_tails(context);
            self.wait_for(v, tails, ms, sys::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        }
    }

    /// Waits for the clock; a short time limit runs out if, and only if, a gate is in the way.
    pub(super) fn wait_for(&self, v: &mut Verdict, clock: Clock, ms: i32, expired: i32) {
        if (1..=SHORT_MS).contains(&ms) {
            v.timed = true;
            if self.gates(&clock, true).next().is_some() {
                v.wrong.clear();
                return v.wrong(expired, "aclrtSynchronizeStreamWithTimeout#05 and its kin");
            }
            // Without a gate that holds for certain, a short time is a race against the workers.
            v.unclear = !self.host.includes(&clock);
        }
        v.waits = clock;
    }

    /// The answer of a query about what the clock holds.
    pub(super) fn done(&self, clock: Clock, yes: u64, no: u64, uncertain: bool) -> Value {
        let known = if self.gates(&clock, true).next().is_some() && !uncertain {
            Some(false)
        } else if self.host.includes(&clock) && self.gates(&clock, false).next().is_none() {
            Some(true)
        } else {
            None
        };
        Value::Done { yes, no, known, clock }
    }
}

/// Time limits up to this many milliseconds are meant to run out.
pub const SHORT_MS: i32 = 5;

pub(super) fn bad_timeout(v: &mut Verdict, ms: i32, rule: &'static str) {
    v.check(ms < -1 || ms == 0, sys::ACL_ERROR_RT_PARAM_INVALID, rule);
}
