//! From an [`Op`] to a call: its arguments are chosen from what the model says exists.

mod memory;

use crate::call::{Call, Func, Handle, Out, Step, What};
use crate::model::{DEVICES, Gate, Model};
use crate::op::{Any, Op, Pick, Turn};

/// Most live streams that a sequence makes; likewise below.
const STREAMS: usize = 6;
const EVENTS: usize = 6;
const CONTEXTS: usize = 4;
const BUFFERS: usize = 12;
const GATES: usize = 3;

/// Time limit of a wait that must not run out, in milliseconds.
const LONG_MS: i32 = 60_000;

fn from<T: std::marker::Copy>(list: &[T], any: Any) -> T {
    list[usize::from(any.0) % list.len()]
}

impl Model {
    /// The call that the op stands for now; None if there is none.
    pub fn plan(&self, turn: &Turn) -> Option<Step> {
        let call = match turn.op {
            Op::Init => Call::Init,
            Op::Finalize => Call::Finalize,
            Op::FinalizeReference => Call::FinalizeReference,
            Op::SetDevice(any) => Call::SetDevice(device(any)),
            Op::ResetDevice(any) => Call::ResetDevice(device(any)),
            Op::ResetDeviceForce(any) => Call::ResetDeviceForce(device(any)),
            Op::Ask(any) => match any.0 % 4 {
                0 => Call::GetDevice,
                1 => Call::GetCurrentContext,
                2 => Call::GetDefaultStream,
                _ => Call::GetPrimaryCtxState(device(Any(any.0 / 4))),
            },
            Op::CreateContext(any) => {
                let live = self.contexts.iter().filter(|context| context.alive).count();
                (live < CONTEXTS).then_some(Call::CreateContext(device(any)))?
            }
            Op::DestroyContext(pick) => Call::DestroyContext(self.pick_context(pick)),
            Op::SetCurrentContext(pick) => Call::SetCurrentContext(self.pick_context(pick)),
            Op::CreateStream(priority, flags) => self.plan_stream(priority, flags)?,
            Op::DestroyStream(pick, force) => {
                let stream = self.pick_stream(pick);
                if force { Call::DestroyStreamForce(stream) } else { Call::DestroyStream(stream) }
            }
            Op::Synchronize(pick, any) => match timeout(any) {
                None => Call::SynchronizeStream(self.pick_stream(pick)),
                Some(ms) => Call::SynchronizeStreamWithTimeout(self.pick_stream(pick), ms),
            },
            Op::SynchronizeDevice(any) => match timeout(any) {
                None => Call::SynchronizeDevice,
                Some(ms) => Call::SynchronizeDeviceWithTimeout(ms),
            },
            Op::StreamQuery(pick) => Call::StreamQuery(self.pick_stream(pick)),
            Op::StreamGetPriority(pick) => Call::StreamGetPriority(self.pick_stream(pick)),
            Op::StreamAbort(pick) => Call::StreamAbort(self.pick_stream(pick)),
            Op::CreateEvent(form, flags) => self.plan_event(form, flags)?,
            Op::DestroyEvent(pick) => Call::DestroyEvent(self.pick_event(pick)),
            Op::RecordEvent(event, stream) => {
                Call::RecordEvent { event: self.pick_event(event), stream: self.pick_stream(stream) }
            }
            Op::ResetEvent(event, stream) => {
                Call::ResetEvent { event: self.pick_event(event), stream: self.pick_stream(stream) }
            }
            Op::StreamWaitEvent(stream, event, any) => {
                let (stream, event) = (self.pick_stream(stream), self.pick_event(event));
                match any.0 {
                    0..200 => Call::StreamWaitEvent { stream, event },
                    200..235 => Call::StreamWaitEventWithTimeout { stream, event, timeout: 0 },
                    235..250 => Call::StreamWaitEventWithTimeout { stream, event, timeout: LONG_MS },
                    250.. => {
                        let timeout = if any.0.is_multiple_of(2) { -1 } else { i32::MIN };
                        Call::StreamWaitEventWithTimeout { stream, event, timeout }
                    }
                }
            }
            Op::QueryEvent(pick, old) => {
                let event = self.pick_event(pick);
                if old { Call::QueryEvent(event) } else { Call::QueryEventStatus(event) }
            }
            Op::SynchronizeEvent(pick, any) => match timeout(any) {
                None => Call::SynchronizeEvent(self.pick_event(pick)),
                Some(ms) => Call::SynchronizeEventWithTimeout(self.pick_event(pick), ms),
            },
            Op::EventElapsedTime(start, end) => {
                Call::EventElapsedTime { start: self.pick_event(start), end: self.pick_event(end) }
            }
            Op::Allocate(kind, size) => self.plan_block(kind, size)?,
            Op::Free(pick, any) => self.plan_free(pick, any)?,
            Op::Memcpy(ends) => Call::Memcpy(self.plan_copy(ends)?),
            Op::MemcpyAsync(ends, stream, conditional) => {
                let (copy, stream) = (self.plan_copy(ends)?, self.pick_stream(stream));
                // The older call now and then only.
                if conditional && ends.len.0.is_multiple_of(4) {
                    Call::MemcpyAsyncWithCondition(copy, stream)
                } else {
                    Call::MemcpyAsync(copy, stream)
                }
            }
            Op::Memcpy2d(ends, pitch, rows) => Call::Memcpy2d(self.plan_rect(ends, pitch, rows)?),
            Op::Memcpy2dAsync(ends, pitch, rows, stream) => {
                Call::Memcpy2dAsync(self.plan_rect(ends, pitch, rows)?, self.pick_stream(stream))
            }
            Op::Memset(part, len, value, twist, words) => {
                Call::Memset(self.plan_fill(part, len, value, twist, words)?)
            }
            Op::MemsetAsync(part, len, value, twist, words, stream) => {
                Call::MemsetAsync(self.plan_fill(part, len, value, twist, words)?, self.pick_stream(stream))
            }
            Op::HostWrite(part, len, seed) => {
                let (buffer, offset, len) = self.host_part(part, len)?;
                Call::HostWrite { buffer, offset, len, seed }
            }
            Op::Mark(stream) => Call::LaunchHostFunc(self.pick_stream(stream), Func::Mark),
            Op::Gate(stream) => {
                let held = self.launched.iter().filter(|launched| launched.gate != Gate::Open).count();
                let func = if held < GATES { Func::Gate } else { Func::Mark };
                Call::LaunchHostFunc(self.pick_stream(stream), func)
            }
            Op::Store(stream, part, len, byte) => {
                let (buffer, offset, len) = self.host_part(part, len)?;
                Call::LaunchHostFunc(self.pick_stream(stream), Func::Store { buffer, offset, len, byte })
            }
            Op::Observe(stream, part, len) => {
                let (buffer, offset, len) = self.host_part(part, len)?;
                Call::LaunchHostFunc(self.pick_stream(stream), Func::Observe { buffer, offset, len })
            }
            Op::NoFunction(stream) => Call::LaunchHostFunc(self.pick_stream(stream), Func::Null),
            Op::Release(which) => {
                let held: Vec<_> =
                    (0..self.launched.len()).filter(|at| self.launched[*at].gate != Gate::Open).collect();
                Call::Release(*held.get(usize::from(which) % held.len().max(1))?)
            }
            Op::Register(pick, any) => self.plan_registration(pick, any)?,
            Op::Peer(any, on) => match self.tame(on.0, 248) {
                0..170 => Call::EnablePeerAccess { peer: device(Any(any.0 ^ 0x80)), flags: 0 },
                170..248 => Call::DisablePeerAccess(device(any)),
                248.. => Call::EnablePeerAccess { peer: 1, flags: 1 },
            },
            Op::AskSymbol(any) => {
                let symbol = self.pick_symbol(any)?;
                if any.0.is_multiple_of(2) {
                    Call::GetSymbolSize(symbol)
                } else {
                    Call::GetSymbolAddress(symbol)
                }
            }
            Op::Symbol(which, part, at, len, twist, stream) => {
                Call::SymbolCopy(self.plan_symbol(which, part, at, len, twist, stream)?)
            }
            Op::NullOut(any) => Call::NullOut(from(
                &[
                    Out::GetDevice,
                    Out::GetDeviceCount,
                    Out::CreateContext,
                    Out::GetCurrentContext,
                    Out::GetDefaultStream,
                    Out::CreateStream,
                    Out::CreateStreamWithConfig,
                    Out::CreateEvent,
                    Out::CreateEventWithFlag,
                    Out::CreateEventExWithFlag,
                    Out::Malloc,
                    Out::MallocHost,
                    Out::AllocManaged,
                ],
                any,
            )),
        };
        Some(Step { thread: turn.thread, call })
    }

    /// A choice of 256, of which those from `bad` on are not made in calm sequences.
    fn tame(&self, choice: u8, bad: u8) -> u8 {
        if self.calm { choice % bad } else { choice }
    }

    /// A handle: one of `live`, or something bad.
    fn pick(&self, pick: Pick, live: Vec<Handle>, dead: Vec<Handle>, foreign: Vec<Handle>) -> Handle {
        let of = |list: &[Handle], at: u8| list.get(usize::from(at) % list.len().max(1)).copied();
        // The last is a stream's handle in a place that no sequence gets to: a nearer one may be that of a default stream, which the
        // model learns only when the sequence asks for it.
        let invented = [1, 0x7fff_0000_1234, u64::MAX, 1 << 62, 3 << 57 | 77, 2 << 57 | 1 << 32 | 0x7003];
        let word = Handle { raw: invented[usize::from(pick.0) % invented.len()], what: What::Invented };
        match self.tame(pick.0, 228) {
            0..228 => of(&live, pick.0).or_else(|| of(&dead, pick.0)).unwrap_or(Handle::NULL),
            228..234 => Handle::NULL,
            234..244 => of(&dead, pick.0).unwrap_or(word),
            244..250 => of(&foreign, pick.0).unwrap_or(word),
            250.. => word,
        }
    }

    fn contexts_where(&self, alive: bool) -> Vec<Handle> {
        let chosen = |index: &usize| self.contexts[*index].alive == alive && self.contexts[*index].raw != 0;
        (0..self.contexts.len()).filter(chosen).map(|index| self.context_handle(index)).collect()
    }

    fn streams_where(&self, alive: bool) -> Vec<Handle> {
        let chosen = |index: &usize| self.streams[*index].alive == alive && self.streams[*index].raw != 0;
        (0..self.streams.len()).filter(chosen).map(|index| self.stream_handle(index)).collect()
    }

    fn events_where(&self, alive: bool) -> Vec<Handle> {
        let chosen = |index: &usize| self.events[*index].alive == alive;
        (0..self.events.len()).filter(chosen).map(|index| self.event_handle(index)).collect()
    }

    fn pick_context(&self, pick: Pick) -> Handle {
        self.pick(pick, self.contexts_where(true), self.contexts_where(false), self.streams_where(true))
    }

    fn pick_stream(&self, pick: Pick) -> Handle {
        let mut live = self.streams_where(true);
        // The default stream, as most programs name it.
        live.push(Handle::NULL);
        self.pick(pick, live, self.streams_where(false), self.events_where(true))
    }

    fn pick_event(&self, pick: Pick) -> Handle {
        self.pick(pick, self.events_where(true), self.events_where(false), self.streams_where(true))
    }

    fn plan_stream(&self, priority: Any, flags: Any) -> Option<Call> {
        if self.streams.iter().filter(|stream| stream.alive && !stream.default).count() >= STREAMS {
            return None;
        }
        if flags.0 < 128 {
            return Some(Call::CreateStream);
        }
        let priority = from(&[0, 1, 3, 6, 7, 8, 1000, 0x7fff_ffff, 0x8000_0000, u32::MAX], priority);
        let flags = from(&[0, 1, 2, 3, 0x40, 0x8000_0000, 0x21, 0x22], flags);
        Some(Call::CreateStreamWithConfig { priority, flags })
    }

    fn plan_event(&self, form: Any, flags: Any) -> Option<Call> {
        if self.events.iter().filter(|event| event.alive).count() >= EVENTS {
            return None;
        }
        Some(match form.0 {
            0..96 => Call::CreateEvent,
            96..160 => Call::CreateEventWithFlag(from(
                &[1, 9, 8, 2, 11, 0x10, 0x20, 0, 0x80, 0x21, 0x11, u32::MAX],
                flags,
            )),
            160.. => Call::CreateEventExWithFlag(from(
                &[1, 9, 8, 2, 11, 1, 9, 0x20, 0, 0x80, 0x10, 0x41, u32::MAX],
                flags,
            )),
        })
    }
}

fn device(any: Any) -> i32 {
    match any.0 {
        0..150 => 0,
        150..240 => (DEVICES - 1) as i32,
        240.. => from(&[-1, DEVICES as i32, i32::MAX, i32::MIN, 1000], any),
    }
}

/// A time limit: none, long, short or bad.
fn timeout(any: Any) -> Option<i32> {
    match any.0 {
        0..150 => None,
        150..190 => Some(LONG_MS),
        190..200 => Some(-1),
        200..240 => Some(2),
        240.. => Some(from(&[0, -2, i32::MIN], any)),
    }
}
