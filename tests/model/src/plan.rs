//! From an [`Op`] to a call: its arguments are chosen from what the model says exists.

use ascendcl_sys as sys;

use crate::call::{Addr, Call, Copy, Fill, Func, Handle, Out, Rect, Step, What};
use crate::memory::{Buffer, Kind, UNMAPPED};
use crate::model::{DEVICES, Gate, Model};
use crate::op::{Any, Ends, Op, Part, Pick, Turn};

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
                        let timeout = if any.0 % 2 == 0 { -1 } else { i32::MIN };
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
                if conditional && ends.len.0 % 4 == 0 {
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
        let invented = [1, 0x7fff_0000_1234, u64::MAX, 1 << 62, 3 << 57 | 77, 2 << 57 | 1 << 32 | 3];
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

    fn plan_block(&self, kind: Any, size: Any) -> Option<Call> {
        if self.buffers.iter().filter(|buffer| buffer.alive).count() >= BUFFERS {
            return None;
        }
        let good = [64, 256, 1, 100, 1000, 4096, 32, 7, 33, 2048, 40_000, 640, 64, 256, 128, 512];
        let bad = [0, usize::MAX, usize::MAX - 31, 1 << 63, (1 << 63) - 1, usize::MAX - 63, 1 << 41];
        // Large enough to be split over several workers.
        let large = if size.0 % 64 == 63 { Some(1_200_000) } else { None };
        let sane = large.unwrap_or(from(&good, size));
        let size = if size.0 > 240 && !self.calm { from(&bad, size) } else { sane };
        Some(match kind.0 {
            0..100 => {
                let policies =
                    [sys::ACL_MEM_MALLOC_HUGE_FIRST, 1, 2, sys::ACL_MEM_MALLOC_HUGE_FIRST, 0x7fff_ffff];
                Call::Malloc { size, policy: from(&policies, kind) }
            }
            100..180 => Call::MallocHost { size },
            180.. => Call::Pageable { size: sane },
        })
    }

    fn plan_free(&self, pick: Pick, any: Any) -> Option<Call> {
        let addr = match any.0 {
            0..236 => {
                let chosen = |buffer: &Buffer| buffer.alive == (any.0 < 215) && buffer.kind != Kind::Pageable;
                self.part(self.pick_buffer(pick, chosen)?, 0)
            }
            236..242 => Addr::NULL,
            242..248 => Addr { raw: from(&UNMAPPED, any), from: None },
            // The middle of a block, or memory of the program.
            248.. => self.part(self.pick_buffer(pick, |buffer| buffer.size() > 1)?, 1),
        };
        let host = addr.from.is_some_and(|(buffer, _)| self.buffers[buffer].kind == Kind::Pinned);
        Some(match (host, any.0 % 16) {
            (false, 15) | (true, 0..15) => Call::FreeHost(addr),
            (false, 12..15) => Call::FreeWithDevSync(addr),
            _ => Call::Free(addr),
        })
    }

    fn pick_buffer(&self, pick: Pick, chosen: impl Fn(&Buffer) -> bool) -> Option<usize> {
        let list: Vec<_> = (0..self.buffers.len()).filter(|index| chosen(&self.buffers[*index])).collect();
        list.get(usize::from(pick.0) % list.len().max(1)).copied()
    }

    fn part(&self, buffer: usize, offset: isize) -> Addr {
        Addr { raw: self.buffers[buffer].base.wrapping_add_signed(offset), from: Some((buffer, offset)) }
    }

    /// Bytes of a host buffer, for the program itself.
    fn host_part(&self, part: Part, len: Any) -> Option<(usize, usize, usize)> {
        let buffer = self.pick_buffer(part.buffer, |buffer| buffer.alive && buffer.kind.is_host())?;
        let offset = self.offset(buffer, part.start);
        let room = self.buffers[buffer].size() - offset;
        Some((buffer, offset, fraction(room, len).max(1)))
    }

    /// Half of all accesses begin at the start.
    fn offset(&self, buffer: usize, start: u8) -> usize {
        if start < 128 { 0 } else { self.buffers[buffer].size() * usize::from(start - 128) / 128 }
    }

    /// Two ends and what fits between them. `twist` spoils one end.
    fn plan_ends(&self, ends: &Ends) -> Option<(Addr, Addr, usize, u32)> {
        let dst = self.pick_buffer(ends.dst.buffer, |buffer| buffer.alive)?;
        let src = self.pick_buffer(ends.src.buffer, |buffer| buffer.alive)?;
        let (to, from) = (self.offset(dst, ends.dst.start), self.offset(src, ends.src.start));
        let room = (self.buffers[dst].size() - to).min(self.buffers[src].size() - from);
        let kind = match (self.buffers[dst].kind.is_host(), self.buffers[src].kind.is_host()) {
            (true, true) => sys::ACL_MEMCPY_HOST_TO_HOST,
            (false, true) => sys::ACL_MEMCPY_HOST_TO_DEVICE,
            (true, false) => sys::ACL_MEMCPY_DEVICE_TO_HOST,
            (false, false) => sys::ACL_MEMCPY_DEVICE_TO_DEVICE,
        };
        let kind = match self.tame(ends.kind.0, 208) {
            0..176 => kind,
            176..208 => sys::ACL_MEMCPY_DEFAULT,
            208.. => u32::from(ends.kind.0) % 7,
        };
        let bad = |which: u8, good: Addr| match which % 4 {
            0 => Addr::NULL,
            1 => Addr { raw: UNMAPPED[usize::from(which / 4) % UNMAPPED.len()], from: None },
            2 => match self.pick_buffer(Pick(which), |buffer| !buffer.alive) {
                Some(dead) => self.part(dead, 0),
                None => Addr::NULL,
            },
            _ => {
                Addr { raw: good.raw.wrapping_sub(64), from: good.from.map(|(buffer, at)| (buffer, at - 64)) }
            }
        };
        let (mut dst, mut src) = (self.part(dst, to as isize), self.part(src, from as isize));
        match self.tame(ends.twist, 200) {
            200..212 => dst = bad(ends.twist, dst),
            212..224 => src = bad(ends.twist, src),
            224..227 => src = dst,
            _ => {}
        }
        Some((dst, src, fraction(room, ends.len).max(1), kind))
    }

    fn plan_copy(&self, ends: Ends) -> Option<Copy> {
        let (dst, src, mut count, mut kind) = self.plan_ends(&ends)?;
        let room = self.room(dst).unwrap_or(count);
        let mut max = if ends.len.0 % 2 == 0 { count } else { room.max(count) };
        match self.tame(ends.twist, 200) {
            227..231 => max = count - 1,
            231 => max = 0,
            232 => count = 0,
            // More than the block has.
            233..240 => (count, max) = (room + 200, room + 200),
            240 => (count, max) = (usize::MAX, usize::MAX),
            241 => (count, max) = (1 << 63, 1 << 63),
            242 => (count, max) = (usize::MAX - dst.raw, usize::MAX),
            243 => count = usize::MAX,
            244 => (kind, max) = (99, 0),
            245 => kind = u32::MAX,
            246..249 => kind = sys::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE,
            _ => {}
        }
        Some(Copy { dst, max, src, count, kind })
    }

    /// Bytes from an address to the end of its buffer.
    fn room(&self, addr: Addr) -> Option<usize> {
        let (buffer, offset) = addr.from?;
        self.buffers[buffer].size().checked_sub(usize::try_from(offset).ok()?)
    }

    fn plan_rect(&self, ends: Ends, pitch: Any, rows: Any) -> Option<Rect> {
        let (dst, src, len, mut kind) = self.plan_ends(&ends)?;
        let mut height = usize::from(rows.0) % 7 + 1;
        let share = (len / height).max(1);
        height = height.min(len / share);
        let mut width = (share * (usize::from(pitch.0 % 4) + 1) / 4).max(1);
        let (mut dpitch, mut spitch) = if pitch.0 < 128 { (share, width) } else { (width, share) };
        match self.tame(ends.twist, 200) {
            227..230 => dpitch = width - 1,
            230..232 => spitch = 0,
            232 => width = 0,
            233 => height = 0,
            234..237 => height = 5_242_881,
            237..240 => (width, dpitch, spitch) = (5_000_001, 5_000_001, 5_000_001),
            240..242 => height += 4096,
            242..244 => dpitch = usize::MAX / 2,
            244 => spitch = usize::MAX,
            245..247 => kind = 99,
            _ => {}
        }
        Some(Rect { dst, dpitch, src, spitch, width, height, kind })
    }

    fn plan_fill(&self, part: Part, len: Any, value: u8, twist: u8, words: bool) -> Option<Fill> {
        let alive =
            |buffer: &Buffer| buffer.alive && (!words || buffer.kind != Kind::Pageable || twist > 250);
        let buffer = self.pick_buffer(part.buffer, alive)?;
        let mut offset = self.offset(buffer, part.start);
        if words && (twist < 240 || self.calm) {
            offset &= !3;
        }
        let mut dst = self.part(buffer, offset as isize);
        let room = self.buffers[buffer].size() - offset;
        let mut count = fraction(if words { room / 4 } else { room }, len);
        let mut max = if words { count * 4 } else { count }.max(room);
        match self.tame(twist, 200) {
            200..204 => dst = Addr::NULL,
            204..208 => dst = Addr { raw: UNMAPPED[usize::from(twist) % UNMAPPED.len()], from: None },
            208..212 => max = count / 2,
            212..216 => count = 0,
            216..222 => (count, max) = (room + 200, (room + 200) * 4),
            222..226 => (count, max) = (usize::MAX, usize::MAX),
            226..230 => (count, max) = (1 << 62, 1 << 63),
            230..234 => {
                let dead = self.pick_buffer(part.buffer, |buffer| !buffer.alive)?;
                dst = self.part(dead, 0);
            }
            234..236 => {
                dst = Addr { raw: dst.raw.wrapping_sub(64), from: Some((buffer, offset as isize - 64)) }
            }
            _ => {}
        }
        let value =
            if words { u32::from(value).wrapping_mul(0x0103_0507) } else { u32::from(value) | 0xabcd_0000 };
        Some(Fill { dst, max, value, count, words })
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

/// Part of a length: all, half of the time.
fn fraction(room: usize, any: Any) -> usize {
    if any.0 < 128 { room } else { room * (usize::from(any.0) - 127) / 129 }
}
