//! Chapter 07: events.

use ascendcl_sys as sys;

use super::stream::bad_timeout;
use crate::call::{Call, Handle, What};
use crate::model::{Form, Model};
use crate::verdict::{Value, Verdict};

impl Model {
    pub(super) fn judge_event(&self, v: &mut Verdict, t: usize, call: &Call) {
        match *call {
            Call::CreateEvent => {
                self.need_context(v, t);
                v.value = Value::NewHandle;
            }
            Call::CreateEventWithFlag(flags) => {
                const ALONE: u32 = sys::ACL_EVENT_EXTERNAL | sys::ACL_EVENT_DEVICE_USE_ONLY;
                const TAKEN: u32 = ALONE
                    | sys::ACL_EVENT_SYNC
                    | sys::ACL_EVENT_TIME_LINE
                    | sys::ACL_EVENT_CAPTURE_STREAM_PROGRESS;
                let bad = flags == 0 || flags & !TAKEN != 0;
                v.check(bad, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateEventWithFlag#06");
                let joined = flags & ALONE != 0 && !flags.is_power_of_two();
                v.check(joined, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateEventWithFlag#07");
                self.need_context(v, t);
                v.value = Value::NewHandle;
            }
            Call::CreateEventExWithFlag(flags) => {
                const TAKEN: u32 = 0x4
                    | sys::ACL_EVENT_SYNC
                    | sys::ACL_EVENT_TIME_LINE
                    | sys::ACL_EVENT_CAPTURE_STREAM_PROGRESS
                    | sys::ACL_EVENT_IPC;
                let bad = flags == 0 || flags & !TAKEN != 0;
                v.check(bad, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateEventExWithFlag#07");
                let ipc = flags & sys::ACL_EVENT_IPC != 0;
                let joined = ipc && !flags.is_power_of_two();
                v.check(joined, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateEventExWithFlag#08");
                // Events between processes are another test's.
                v.unclear = ipc && !joined;
                self.need_context(v, t);
                v.value = Value::NewHandle;
            }
            Call::DestroyEvent(handle) => drop(self.need_event(v, handle)),
            Call::RecordEvent { event, stream } => {
                let event = self.need_event(v, event);
                v.task = self.need_queue(v, t, stream, "aclrtRecordEvent#04");
                if let Some(event) = event {
                    self.not_device_only(v, event, "aclrtRecordEvent#05");
                    let elsewhere =
                        v.task.is_some_and(|stream| self.streams[stream].device != self.events[event].device);
                    let rule = "ours: an event is recorded on its own device";
                    v.check(elsewhere, sys::ACL_ERROR_RT_STREAM_CONTEXT, rule);
                }
            }
            Call::ResetEvent { event, stream } => {
                let event = self.need_event(v, event);
                v.task = self.need_queue(v, t, stream, "aclrtResetEvent#07");
                if let Some(event) = event {
                    let found = &self.events[event];
                    let unfit = found.form == Form::Extended || found.flags & sys::ACL_EVENT_SYNC == 0;
                    v.check(unfit, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtResetEvent#02 to #04");
                    self.not_device_only(v, event, "aclrtResetEvent#08");
                }
            }
            Call::StreamWaitEvent { stream, event } => self.judge_wait(v, t, stream, event, false),
            Call::StreamWaitEventWithTimeout { stream, event, timeout } => {
                v.check(timeout < 0, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtStreamWaitEventWithTimeout#01");
                // Its own rows against *#01.
                v.unordered = true;
                self.judge_wait(v, t, stream, event, true);
            }
            Call::QueryEvent(handle) => {
                if let Some(event) = self.need_event(v, handle) {
                    self.not_extended(v, event, "aclrtQueryEvent#05");
                    self.not_external(v, event, "aclrtQueryEvent#06");
                    // aclrtQueryEvent#08
                    v.value = self.event_done(event, 0, 1);
                }
            }
            Call::QueryEventStatus(handle) => {
                if let Some(event) = self.need_event(v, handle) {
                    self.not_external(v, event, "aclrtQueryEventStatus#06");
                    // aclrtQueryEventStatus#03
                    v.value = self.event_done(event, 1, 0);
                }
            }
            Call::SynchronizeEvent(handle) => self.judge_synchronize_event(v, handle, -1),
            Call::SynchronizeEventWithTimeout(handle, ms) => {
                bad_timeout(v, ms, "aclrtSynchronizeEventWithTimeout#02, #03");
                // #02: before the event is looked at.
                if v.succeeds() {
                    self.judge_synchronize_event(v, handle, ms);
                }
            }
            Call::EventElapsedTime { start, end } => self.judge_elapsed(v, start, end),
            _ => {}
        }
    }

    /// The event that a call is about: "event must not be NULL" of each call, *#01.
    fn need_event(&self, v: &mut Verdict, handle: Handle) -> Option<usize> {
        let event = self.event(handle);
        if handle.what == What::Null {
            v.wrong(sys::ACL_ERROR_INVALID_PARAM, "aclrtRecordEvent#01 and its kin");
        } else if event.is_none() {
            v.wrong(sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01");
        }
        event
    }

    fn not_device_only(&self, v: &mut Verdict, event: usize, rule: &'static str) {
        let broken = self.events[event].flags & sys::ACL_EVENT_DEVICE_USE_ONLY != 0;
        v.check(broken, sys::ACL_ERROR_RT_PARAM_INVALID, rule);
    }

    fn not_external(&self, v: &mut Verdict, event: usize, rule: &'static str) {
        let broken = self.events[event].flags & sys::ACL_EVENT_EXTERNAL != 0;
        v.check(broken, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rule);
    }

    fn not_extended(&self, v: &mut Verdict, event: usize, rule: &'static str) {
        let broken = self.events[event].form == Form::Extended;
        v.check(broken, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rule);
    }

    fn judge_wait(&self, v: &mut Verdict, t: usize, stream: Handle, event: Handle, timed: bool) {
        // aclrtStreamWaitEventWithTimeout#03, against aclrtStreamWaitEvent#01
        if timed && event.what == What::Null {
            v.wrong(sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtStreamWaitEventWithTimeout#03");
            let _ = self.need_queue(v, t, stream, "aclrtStreamWaitEvent#08");
            return;
        }
        let event = self.need_event(v, event);
        v.task = self.need_queue(v, t, stream, "aclrtStreamWaitEvent#08");
        let Some(event) = event else { return };
        let found = &self.events[event];
        self.not_device_only(v, event, "aclrtStreamWaitEvent#07");
        // EXTERNAL events are for captured graphs; what a wait for one does outside of them is nowhere told.
        v.unclear = found.flags & sys::ACL_EVENT_EXTERNAL != 0;
        let sync = found.flags & (sys::ACL_EVENT_SYNC | sys::ACL_EVENT_EXTERNAL) != 0;
        v.check(!sync, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtStreamWaitEvent#06");
        // aclrtResetEvent#06: what a wait after a reset waits for is nowhere told.
        v.unclear |= found.reset && v.succeeds();
    }

    fn event_done(&self, event: usize, yes: u64, no: u64) -> Value {
        let found = &self.events[event];
        match &found.record {
            Some(clock) if !found.reset => self.done(clock.clone(), yes, no, false),
            // aclrtRecordEvent#09; for other events no page tells.
            None if found.form == Form::Extended => Value::Is(yes),
            _ => Value::Any,
        }
    }

    fn judge_synchronize_event(&self, v: &mut Verdict, handle: Handle, ms: i32) {
        let Some(event) = self.need_event(v, handle) else { return };
        self.not_external(v, event, "aclrtSynchronizeEvent#03, aclrtSynchronizeEventWithTimeout#07");
        if !v.succeeds() {
            return;
        }
        let found = &self.events[event];
        let clock = found.record.clone().unwrap_or_default();
        self.wait_for(v, clock, ms, sys::ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
        // A reset that the stream has reached lets the call return at once.
        v.unclear |= found.reset;
    }

    fn judge_elapsed(&self, v: &mut Verdict, start: Handle, end: Handle) {
        let (Some(start), Some(end)) = (self.need_event(v, start), self.need_event(v, end)) else {
            // A null among them comes before a dead one.
            let _ = self.need_event(v, end);
            return;
        };
        let mut certain = false;
        let mut before: Option<&crate::clock::Clock> = None;
        v.value = Value::Any;
        for event in [start, end] {
            let found = &self.events[event];
            self.not_external(v, event, "aclrtEventElapsedTime#08");
            let Some(clock) = &found.record else {
                v.wrong(sys::ACL_ERROR_RT_INTERNAL_ERROR, "aclrtEventElapsedTime#05");
                continue;
            };
            let no_time = found.flags & sys::ACL_EVENT_TIME_LINE == 0;
            let late = sys::ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID;
            v.check(no_time, late, "ours: times are kept with ACL_EVENT_TIME_LINE only");
            if self.gates(clock, true).next().is_some() {
                certain = true;
                v.wrong(late, "aclrtEventElapsedTime#06");
            } else if !self.host.includes(clock) || found.reset || found.lost {
                v.wrong(late, "aclrtEventElapsedTime#06");
                v.may_succeed = true;
            }
            if before.is_some_and(|before| clock.includes(before)) {
                v.value = Value::Elapsed;
            }
            before = Some(clock);
        }
        // Success is out of the question if another rule is broken for certain.
        v.may_succeed &= !certain && v.wrong.iter().all(|wrong| wrong.rule == "aclrtEventElapsedTime#06");
    }
}
