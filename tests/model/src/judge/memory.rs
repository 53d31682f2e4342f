//! Chapters 11-01 to 11-03: blocks, copies and fills.

use ascendcl_sys as sys;

use super::setup::whole;
use crate::call::{Addr, Call, Copy, Fill, Handle, Rect};
use crate::memory::{Kind, Place, Span, place};
use crate::model::Model;
use crate::verdict::{From, Move, Value, Verdict};

/// More than any device of the tests has.
const TOO_MUCH: usize = 1 << 40;
const BAD_RANGE: &str = "ours: both ends of a range are checked";

/// Which end of a copy a place can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Host,
    Device,
    Either,
}

/// One end of a copy.
pub(super) struct End {
    pub side: Side,
    /// The device that owns it.
    pub device: Option<usize>,
    /// Memory that the runtime does not know.
    pub pageable: bool,
    /// None where nothing is mapped.
    pub span: Option<Span>,
}

impl Model {
    pub(super) fn judge_block(&self, v: &mut Verdict, t: usize, call: &Call) {
        match *call {
            Call::Malloc { size, .. } => {
                v.check(size == 0, sys::ACL_ERROR_INVALID_PARAM, "aclrtMalloc#02");
                v.check(size > usize::MAX - 63, sys::ACL_ERROR_INVALID_PARAM, "aclrtMalloc#07");
                self.need_context(v, t);
                v.check(size > TOO_MUCH, sys::ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMalloc#05");
                v.value = Value::NewBlock(size);
            }
            Call::MallocHost { size } => {
                v.check(size == 0, sys::ACL_ERROR_INVALID_PARAM, "aclrtMallocHost#02");
                v.check(size > TOO_MUCH, sys::ACL_ERROR_RT_MEMORY_ALLOCATION, "*#07");
                v.value = Value::NewBlock(size);
            }
            Call::AllocManaged { size, flag } => {
                let global = flag == sys::ACL_RT_MEM_ATTACH_GLOBAL;
                v.check(!global, sys::ACL_ERROR_INVALID_PARAM, "aclrtMemAllocManaged#02");
                v.check(size == 0, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemAllocManaged#04");
                self.need_context(v, t);
                v.check(size > 3 << 40, sys::ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMemAllocManaged#07");
                v.value = Value::NewBlock(size as usize);
            }
            Call::Free(addr) => self.judge_free(v, addr, false),
            Call::FreeHost(addr) => self.judge_free(v, addr, true),
            Call::FreeWithDevSync(addr) => {
                self.judge_free(v, addr, false);
                // aclrtFreeWithDevSync#02
                if let Some(one) = v.moves.first() {
                    v.waits = match self.buffers[one.dst.buffer].kind {
                        Kind::Device(device) => self.tails(|stream| stream.device == device),
                        _ => self.tails(|_| true),
                    };
                }
            }
            Call::HostWrite { buffer, offset, len, seed } => v
                .moves
                .push(Move { dst: Span { buffer, range: offset..offset + len }, from: From::Pattern(seed) }),
            _ => {}
        }
    }

    fn judge_free(&self, v: &mut Verdict, addr: Addr, host: bool) {
        if addr.raw == 0 {
            return v.wrong(sys::ACL_ERROR_INVALID_PARAM, "aclrtFree#01, aclrtFreeHost#01");
        }
        let found = self.buffers.iter().position(|buffer| buffer.alive && buffer.base == addr.raw);
        let fits = |index: &usize| match self.buffers[*index].kind {
            Kind::Device(_) | Kind::Managed => !host,
            Kind::Pinned => host,
            Kind::Pageable | Kind::Image { .. } => false,
        };
        match found.filter(fits) {
            // aclrtFree#03 and #05: waits for nobody, so that nobody may be using it.
            Some(buffer) => v.moves.push(whole(buffer, self.buffers[buffer].size())),
            None => v.wrong(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: aclrtFree#04, aclrtFreeHost#03: not a block of that kind",
            ),
        }
    }

    pub(super) fn judge_copy(&self, v: &mut Verdict, t: usize, call: &Call) {
        match call {
            Call::Memcpy(copy) => self.judge_memcpy(v, t, copy),
            Call::MemcpyAsync(copy, stream) => self.judge_memcpy_async(v, t, copy, *stream, false),
            Call::MemcpyAsyncWithCondition(copy, stream) => {
                self.judge_memcpy_async(v, t, copy, *stream, true)
            }
            Call::Memcpy2d(rect) => self.judge_2d(v, t, rect, None),
            Call::Memcpy2dAsync(rect, stream) => self.judge_2d(v, t, rect, Some(*stream)),
            Call::Memset(fill) => self.judge_fill(v, t, fill, None),
            Call::MemsetAsync(fill, stream) => self.judge_fill(v, t, fill, Some(*stream)),
            _ => {}
        }
        if !v.succeeds() {
            v.moves.clear();
            v.looks.clear();
        }
    }

    /// Whose memory a range is.
    pub(super) fn end(&self, v: &mut Verdict, addr: usize, len: usize) -> Option<End> {
        match place(&self.buffers, addr, len) {
            Place::In(span) => {
                let found = &self.buffers[span.buffer];
                let device = found.kind.device();
                let side = match found.kind {
                    Kind::Device(_) | Kind::Image { .. } => Side::Device,
                    Kind::Managed => Side::Either,
                    Kind::Pinned | Kind::Pageable => Side::Host,
                };
                let pageable = found.kind == Kind::Pageable && !found.registered;
                Some(End { side, device, pageable, span: Some(span) })
            }
            Place::Unmapped => Some(End { side: Side::Host, device: None, pageable: true, span: None }),
            Place::Bad | Place::Gone(_) => {
                v.wrong(sys::ACL_ERROR_RT_PARAM_INVALID, BAD_RANGE);
                None
            }
            Place::Unclear => {
                v.unclear = true;
                None
            }
        }
    }

    /// [`Self::end`] of a call that is done when it returns: what was pinned memory is host memory like any other there, unless a
    /// block has come to lie in the range.
    fn end_now(&self, v: &mut Verdict, addr: usize, len: usize) -> Option<End> {
        if matches!(place(&self.buffers, addr, len), Place::Gone(Kind::Pinned)) {
            v.unclear = true;
            return None;
        }
        self.end(v, addr, len)
    }

    /// "dst must not be NULL" and "src must not be NULL" of each copy.
    fn pointers(&self, v: &mut Verdict, dst: Addr, src: Addr) {
        v.check(dst.raw == 0, sys::ACL_ERROR_INVALID_PARAM, "aclrtMemcpy#02 and its kin");
        v.check(src.raw == 0, sys::ACL_ERROR_INVALID_PARAM, "aclrtMemcpy#03 and its kin");
    }

    /// aclrtMemcpy#10, aclrtMemcpyAsync#30: the device that copies needs access to the others.
    pub(super) fn peers(&self, v: &mut Verdict, runs: Option<usize>, dst: &End, src: &End) {
        let (Some(to), Some(from), Some(runs)) = (dst.device, src.device, runs) else { return };
        let reaches = |other: usize| other == runs || self.devices[runs].peers[other];
        let refused = to != from && !(reaches(to) && reaches(from));
        v.check(refused, sys::ACL_ERROR_RT_PARAM_INVALID, "ours: the code of aclrtMemcpy#10");
    }

    /// A span that is not mapped shows when it is touched.
    pub(super) fn mapped(&self, v: &mut Verdict, ends: &[&End]) {
        let missing = ends.iter().any(|end| end.span.is_none());
        v.check(missing, sys::ACL_ERROR_RT_PARAM_INVALID, "ours: memory that is not there");
    }

    pub(super) fn move_bytes(&self, v: &mut Verdict, dst: &End, src: &End) {
        let (Some(dst), Some(src)) = (&dst.span, &src.span) else { return };
        let overlap = dst.buffer == src.buffer
            && dst.range.start < src.range.end
            && src.range.start < dst.range.end
            && dst != src;
        // No page says what a copy onto itself gives.
        v.unclear |= overlap;
        v.moves.push(Move { dst: dst.clone(), from: From::Span(src.clone()) });
    }

    fn judge_memcpy(&self, v: &mut Verdict, t: usize, copy: &Copy) {
        // aclrtMemcpy#01
        if copy.count == 0 {
            return;
        }
        self.pointers(v, copy.dst, copy.src);
        v.check(copy.kind > 5, sys::ACL_ERROR_INVALID_PARAM, "aclrtMemcpy#04");
        if !v.succeeds() {
            return;
        }
        v.check(copy.count > copy.max, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy#05, #06");
        // aclrtMemcpy#07: whether the other rules hold then is not told.
        let same = copy.dst.raw == copy.src.raw;
        let runs = self.need_context(v, t).map(|context| self.contexts[context].device);
        let (dst, src) =
            (self.end_now(v, copy.dst.raw, copy.count), self.end_now(v, copy.src.raw, copy.count));
        if same {
            v.may_succeed = copy.count <= copy.max;
            // Nothing is looked at, so it does not matter what is there.
            v.unclear = false;
            return v.check(
                dst.is_none_or(|end| end.span.is_none()),
                sys::ACL_ERROR_RT_PARAM_INVALID,
                BAD_RANGE,
            );
        }
        if let (Some(dst), Some(src)) = (dst, src) {
            self.peers(v, runs, &dst, &src);
            self.mapped(v, &[&dst, &src]);
            self.move_bytes(v, &dst, &src);
        }
    }

    fn judge_memcpy_async(&self, v: &mut Verdict, t: usize, copy: &Copy, stream: Handle, conditional: bool) {
        // aclrtMemcpyAsync#01, aclrtMemcpyAsyncWithCondition#02
        if copy.count == 0 {
            return;
        }
        self.pointers(v, copy.dst, copy.src);
        v.check(copy.kind > 5, sys::ACL_ERROR_INVALID_PARAM, "aclrtMemcpyAsync#04");
        if !v.succeeds() {
            return;
        }
        let by_kind = copy.kind == sys::ACL_MEMCPY_HOST_TO_HOST;
        v.check(by_kind, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpyAsync#07");
        let stream = self.need_queue(v, t, stream, "aclrtMemcpyAsync#23");
        v.check(copy.count > copy.max, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpyAsync#05");
        let (dst, src) = (self.end(v, copy.dst.raw, copy.count), self.end(v, copy.src.raw, copy.count));
        let (Some(dst), Some(src)) = (dst, src) else { return };
        if dst.side == Side::Host && src.side == Side::Host {
            return v.wrong(sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpyAsync#08");
        }
        // aclrtMemcpyAsync#06: after the host-to-host check, before or after the others.
        if copy.dst.raw == copy.src.raw {
            v.may_succeed = true;
            return;
        }
        self.peers(v, stream.map(|stream| self.streams[stream].device), &dst, &src);
        let buffered = copy.kind == sys::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE && src.side == Side::Host;
        let pageable = dst.pageable || src.pageable;
        if pageable && !conditional && !(buffered && src.pageable) {
            let takes =
                if src.pageable { sys::ACL_MEMCPY_HOST_TO_DEVICE } else { sys::ACL_MEMCPY_DEVICE_TO_HOST };
            let fits =
                [takes, sys::ACL_MEMCPY_DEVICE_TO_DEVICE, sys::ACL_MEMCPY_DEFAULT].contains(&copy.kind);
            v.check(!fits, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpyAsync#17, #18");
        }
        // aclrtMemcpyAsync#19: read at once, written by a task. With condition pageable memory is copied at once, whatever the kind.
        v.snapshot = buffered && !(pageable && conditional);
        if pageable && !v.snapshot {
            // aclrtMemcpyAsync#12, #13, aclrtMemcpyAsyncWithCondition#08
            v.waits = stream
                .filter(|_| v.succeeds())
                .map(|stream| self.streams[stream].clock.clone())
                .unwrap_or_default();
        } else {
            v.task = stream;
        }
        self.mapped(v, &[&dst, &src]);
        self.move_bytes(v, &dst, &src);
    }

    fn judge_2d(&self, v: &mut Verdict, t: usize, rect: &Rect, stream: Option<Handle>) {
        // aclrtMemcpy2d#01, aclrtMemcpy2dAsync#01
        if rect.width == 0 || rect.height == 0 {
            return;
        }
        self.pointers(v, rect.dst, rect.src);
        let narrow = rect.width > rect.dpitch || rect.width > rect.spitch;
        v.check(narrow, sys::ACL_ERROR_INVALID_PARAM, "aclrtMemcpy2d#04, aclrtMemcpy2dAsync#04");
        let kinds = [
            sys::ACL_MEMCPY_HOST_TO_DEVICE,
            sys::ACL_MEMCPY_DEVICE_TO_HOST,
            sys::ACL_MEMCPY_DEVICE_TO_DEVICE,
            sys::ACL_MEMCPY_DEFAULT,
        ];
        let unknown = !kinds.contains(&rect.kind);
        v.check(unknown, sys::ACL_ERROR_INVALID_PARAM, "aclrtMemcpy2d#05, aclrtMemcpy2dAsync#05, #13");
        if !v.succeeds() {
            return;
        }
        v.check(rect.width > 5_000_000, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy2d#06");
        v.check(rect.height > 5_242_880, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy2d#07");
        let inside = rect.kind == sys::ACL_MEMCPY_DEVICE_TO_DEVICE;
        let queue = match stream {
            None => {
                v.check(inside, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpy2d#11");
                self.need_context(v, t);
                None
            }
            Some(stream) => self.need_queue(v, t, stream, "ours: as aclrtMemcpyAsync#23"),
        };
        let hull = |pitch: usize| pitch.checked_mul(rect.height - 1)?.checked_add(rect.width);
        let (Some(to), Some(from)) = (hull(rect.dpitch), hull(rect.spitch)) else {
            return v.wrong(sys::ACL_ERROR_RT_PARAM_INVALID, BAD_RANGE);
        };
        let (dst, src) = (self.end(v, rect.dst.raw, to), self.end(v, rect.src.raw, from));
        let (Some(dst), Some(src)) = (dst, src) else { return };
        let same = dst.side == src.side && dst.side != Side::Either;
        let refused = same && (dst.side == Side::Host || stream.is_none());
        v.check(refused, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy2d#12, aclrtMemcpy2dAsync#19");
        let runs = match queue {
            Some(stream) => Some(self.streams[stream].device),
            None => self.current(t).map(|context| self.contexts[context].device),
        };
        // The row of the synchronous call refuses all copies inside of devices.
        self.peers(v, runs.filter(|_| stream.is_some()), &dst, &src);
        if stream.is_some() && (dst.pageable || src.pageable) {
            // aclrtMemcpy2dAsync#16, #17
            v.waits = queue
                .filter(|_| v.succeeds())
                .map(|stream| self.streams[stream].clock.clone())
                .unwrap_or_default();
        } else {
            v.task = queue;
        }
        self.mapped(v, &[&dst, &src]);
        let (Some(to), Some(from)) = (dst.span, src.span) else { return };
        v.unclear |= to.buffer == from.buffer;
        for row in 0..rect.height {
            let part = |span: &Span, pitch: usize| {
                let start = span.range.start + row * pitch;
                Span { buffer: span.buffer, range: start..start + rect.width }
            };
            v.moves.push(Move { dst: part(&to, rect.dpitch), from: From::Span(part(&from, rect.spitch)) });
        }
    }

    fn judge_fill(&self, v: &mut Verdict, t: usize, fill: &Fill, stream: Option<Handle>) {
        // aclrtMemset#01, aclrtMemsetAsync#01, aclrtMemsetD32#01, aclrtMemsetD32Async#01
        if fill.count == 0 {
            return;
        }
        let entry = sys::ACL_ERROR_INVALID_PARAM;
        v.check(fill.dst.raw == 0, entry, "aclrtMemset#02 and its kin");
        let len = if fill.words { fill.count.checked_mul(4) } else { Some(fill.count) };
        let over = len.is_none_or(|len| len > fill.max);
        if fill.words {
            v.check(!fill.dst.raw.is_multiple_of(4), entry, "aclrtMemsetD32#03");
            v.check(over, entry, "aclrtMemsetD32#04, #05");
        }
        if !v.succeeds() {
            return;
        }
        v.check(over, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtMemset#03, aclrtMemsetAsync#03");
        let queue = match stream {
            None => {
                self.need_context(v, t);
                None
            }
            Some(stream) => self.need_queue(v, t, stream, "aclrtMemsetAsync#07"),
        };
        let end = len.and_then(|len| {
            let now = stream.is_none() && !fill.words;
            if now { self.end_now(v, fill.dst.raw, len) } else { self.end(v, fill.dst.raw, len) }
        });
        let Some(end) = end else { return };
        if fill.words {
            let foreign = end.pageable || end.side == Side::Either;
            // Where among the other checks these stand is not told.
            v.unclear |= foreign && !v.succeeds();
            v.check(foreign, entry, "aclrtMemsetD32#06, #08");
        } else {
            // A task that meets no memory fails late; a call that does, at once.
            v.unclear |= stream.is_some() && end.span.is_none();
            self.mapped(v, &[&end]);
        }
        // aclrtMemsetD32Async#10
        let at_once = fill.words && end.side == Side::Host;
        v.task = queue.filter(|_| !at_once);
        if let Some(dst) = end.span {
            let from = if fill.words { From::Word(fill.value) } else { From::Byte(fill.value as u8) };
            v.moves.push(Move { dst, from });
        }
    }
}
