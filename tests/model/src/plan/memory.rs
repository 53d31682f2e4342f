//! Blocks, and what copies and fills are about.

use ascendcl_sys as sys;

use super::{BUFFERS, from};
use crate::call::{Addr, Call, Copy, Fill, Rect, Symbol, SymbolCopy};
use crate::driver::SYMBOL_SIZES;
use crate::memory::{Buffer, Kind, UNMAPPED};
use crate::model::Model;
use crate::op::{Any, Ends, Part, Pick};

impl Model {
    pub(super) fn plan_block(&self, kind: Any, wish: Any) -> Option<Call> {
        if self.buffers.iter().filter(|buffer| buffer.alive).count() >= BUFFERS {
            return None;
        }
        let good = [64, 256, 1, 100, 1000, 4096, 32, 7, 33, 2048, 40_000, 640, 64, 256, 128, 512];
        let bad = [0, usize::MAX, usize::MAX - 31, 1 << 63, (1 << 63) - 1, usize::MAX - 63, 1 << 41];
        // Large enough to be split over several workers.
        let large = if wish.0 % 64 == 63 { Some(1_200_000) } else { None };
        let sane = large.unwrap_or(from(&good, wish));
        let size = if wish.0 > 240 && !self.calm { from(&bad, wish) } else { sane };
        Some(match kind.0 {
            0..100 => {
                let policies =
                    [sys::ACL_MEM_MALLOC_HUGE_FIRST, 1, 2, sys::ACL_MEM_MALLOC_HUGE_FIRST, 0x7fff_ffff];
                Call::Malloc { size, policy: from(&policies, kind) }
            }
            100..180 => Call::MallocHost { size },
            180..225 => Call::Pageable { size: sane },
            225.. => Call::AllocManaged {
                size: if wish.0 > 250 && !self.calm {
                    from(&[0, 1 << 63, u64::MAX], wish)
                } else {
                    sane as u64
                },
                flag: if kind.0 > 250 && !self.calm { 2 } else { sys::ACL_RT_MEM_ATTACH_GLOBAL },
            },
        })
    }

    pub(super) fn plan_registration(&self, pick: Pick, any: Any) -> Option<Call> {
        let buffer = self.pick_buffer(pick, |buffer| buffer.alive && buffer.kind == Kind::Pageable)?;
        let (addr, size) = (self.part(buffer, 0), self.buffers[buffer].size() as u64);
        let registered = self.buffers[buffer].registered;
        Some(match self.tame(any.0, 200) {
            0..190 if registered => Call::HostUnregister(addr),
            0..200 => Call::HostRegisterV2 { addr, size, flags: from(&[0x1000_0000, 2, 0x1000_0002], any) },
            200..215 => Call::HostRegisterV2 { addr, size, flags: from(&[0, 1, 8, 0x20, u32::MAX], any) },
            215..222 => Call::HostRegisterV2 { addr: Addr::NULL, size, flags: 2 },
            222..229 => Call::HostRegisterV2 { addr, size: 0, flags: 2 },
            229..236 => Call::HostRegisterV2 { addr, size: u64::MAX, flags: 2 },
            236..242 => Call::HostUnregister(Addr::NULL),
            242.. => Call::HostUnregister(self.part(buffer, 1)),
        })
    }

    pub(super) fn pick_symbol(&self, any: Any) -> Option<Symbol> {
        self.symbols.then(|| match self.tame(any.0, 240) {
            240..248 => Symbol::Null,
            248.. => Symbol::Unknown,
            known => Symbol::Known(usize::from(known) / 2 % SYMBOL_SIZES.len()),
        })
    }

    pub(super) fn plan_symbol(
        &self,
        which: Any,
        part: Part,
        at: Any,
        len: Any,
        twist: Any,
        stream: Pick,
    ) -> Option<SymbolCopy> {
        let symbol = self.pick_symbol(which)?;
        let chosen = |buffer: &Buffer| buffer.alive && matches!(buffer.kind, Kind::Pinned | Kind::Pageable);
        let buffer = self.pick_buffer(part.buffer, chosen)?;
        let start = self.offset(buffer, part.start);
        let size = match symbol {
            Symbol::Known(symbol) => SYMBOL_SIZES[symbol],
            _ => SYMBOL_SIZES[0],
        };
        let mut offset = if at.0 < 128 { 0 } else { size * usize::from(at.0 - 128) / 128 };
        let mut count = fraction((size - offset).min(self.buffers[buffer].size() - start), len).max(1);
        let mut host = self.part(buffer, start as isize);
        let (mut max, to) = (count, twist.0.is_multiple_of(2));
        let mut kind = if to { sys::ACL_MEMCPY_HOST_TO_DEVICE } else { sys::ACL_MEMCPY_DEVICE_TO_HOST };
        match self.tame(twist.0, 206) {
            0..180 => {}
            180..206 => kind = sys::ACL_MEMCPY_DEFAULT,
            206..214 => kind = u32::from(twist.0) % 7,
            214..220 => host = Addr::NULL,
            220..226 => count = 0,
            226..232 => max = count - 1,
            232..238 => offset = size,
            238..244 => offset = usize::MAX - count / 2,
            244..250 => offset = 1 << 63,
            250.. => host = Addr { raw: from(&UNMAPPED, twist), from: None },
        }
        let stream = (twist.0 % 4 < 2).then(|| self.pick_stream(stream));
        Some(SymbolCopy { to, symbol, host, max, count, offset, kind, stream })
    }

    pub(super) fn plan_free(&self, pick: Pick, any: Any) -> Option<Call> {
        let addr = match any.0 {
            0..236 => {
                let owned = |buffer: &Buffer| !matches!(buffer.kind, Kind::Pageable | Kind::Image { .. });
                let chosen = |buffer: &Buffer| buffer.alive == (any.0 < 215) && owned(buffer);
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

    pub(super) fn pick_buffer(&self, pick: Pick, chosen: impl Fn(&Buffer) -> bool) -> Option<usize> {
        let list: Vec<_> = (0..self.buffers.len()).filter(|index| chosen(&self.buffers[*index])).collect();
        list.get(usize::from(pick.0) % list.len().max(1)).copied()
    }

    pub(super) fn part(&self, buffer: usize, offset: isize) -> Addr {
        Addr { raw: self.buffers[buffer].base.wrapping_add_signed(offset), from: Some((buffer, offset)) }
    }

    /// Bytes of a host buffer, for the program itself.
    pub(super) fn host_part(&self, part: Part, len: Any) -> Option<(usize, usize, usize)> {
        let buffer = self.pick_buffer(part.buffer, |buffer| buffer.alive && buffer.kind.is_host())?;
        let offset = self.offset(buffer, part.start);
        let room = self.buffers[buffer].size() - offset;
        Some((buffer, offset, fraction(room, len).max(1)))
    }

    /// Half of all accesses begin at the start.
    pub(super) fn offset(&self, buffer: usize, start: u8) -> usize {
        if start < 128 { 0 } else { self.buffers[buffer].size() * usize::from(start - 128) / 128 }
    }

    /// Two ends and what fits between them. `twist` spoils one end.
    pub(super) fn plan_ends(&self, ends: &Ends) -> Option<(Addr, Addr, usize, u32)> {
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
            176..196 => sys::ACL_MEMCPY_DEFAULT,
            196..208 if kind == sys::ACL_MEMCPY_HOST_TO_DEVICE => sys::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE,
            196..208 => kind,
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

    pub(super) fn plan_copy(&self, ends: Ends) -> Option<Copy> {
        let (dst, src, mut count, mut kind) = self.plan_ends(&ends)?;
        let room = self.room(dst).unwrap_or(count);
        let mut max = if ends.len.0.is_multiple_of(2) { count } else { room.max(count) };
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
    pub(super) fn room(&self, addr: Addr) -> Option<usize> {
        let (buffer, offset) = addr.from?;
        self.buffers[buffer].size().checked_sub(usize::try_from(offset).ok()?)
    }

    pub(super) fn plan_rect(&self, ends: Ends, pitch: Any, rows: Any) -> Option<Rect> {
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

    pub(super) fn plan_fill(&self, part: Part, len: Any, value: u8, twist: u8, words: bool) -> Option<Fill> {
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

/// Part of a length: all, half of the time.
fn fraction(room: usize, any: Any) -> usize {
    if any.0 < 128 { room } else { room * (usize::from(any.0) - 127) / 129 }
}
