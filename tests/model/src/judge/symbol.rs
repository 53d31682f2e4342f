//! Chapter 11-11, device variables, and the registration part of chapter 11-02.

use ascendcl_sys as sys;

use super::memory::{End, Side};
use crate::call::{Call, Symbol, SymbolCopy};
use crate::driver::SYMBOL_SIZES;
use crate::memory::{Kind, Span};
use crate::model::Model;
use crate::verdict::{Value, Verdict};

impl Model {
    pub(super) fn judge_registration(&self, v: &mut Verdict, t: usize, call: &Call) {
        match *call {
            Call::HostRegisterV2 { addr, size, flags } => {
                v.check(addr.raw == 0, sys::ACL_ERROR_INVALID_PARAM, "aclrtHostRegisterV2#01");
                v.check(size == 0, sys::ACL_ERROR_INVALID_PARAM, "aclrtHostRegisterV2#02");
                if !v.succeeds() {
                    return;
                }
                let unaligned = addr.raw % 4096 != 0;
                v.check(
                    unaligned,
                    sys::ACL_ERROR_RT_ADDR_UNALIGNED,
                    "ours: the code of aclrtHostRegisterV2#03",
                );
                const TAKEN: u32 = 0x1000_000e;
                let unknown = flags == 0 || flags & !TAKEN != 0;
                v.check(unknown, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtHostRegisterV2#07");
                let reserved = flags & 0x8 != 0;
                v.check(reserved, sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtHostRegisterV2#08");
                let found = self.program_buffer(addr.raw);
                // Only whole buffers of the program are registered.
                let Some(found) = found.filter(|found| self.buffers[*found].size() as u64 == size) else {
                    let wraps = (addr.raw as u64).checked_add(size).is_none();
                    v.check(wraps, sys::ACL_ERROR_RT_PARAM_INVALID, "ours: a range that exists");
                    v.unclear = !wraps;
                    return;
                };
                let buffer = &self.buffers[found];
                let again = buffer.registered;
                v.check(again, sys::ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "aclrtHostRegisterV2#10");
                self.need_context(v, t);
                v.holds.push(Span { buffer: found, range: 0..buffer.size() });
            }
            Call::HostUnregister(addr) => {
                if addr.raw == 0 {
                    return v.wrong(sys::ACL_ERROR_INVALID_PARAM, "aclrtHostUnregister#01");
                }
                match self.program_buffer(addr.raw).filter(|found| self.buffers[*found].registered) {
                    Some(buffer) => v.holds.push(Span { buffer, range: 0..self.buffers[buffer].size() }),
                    None => v.wrong(sys::ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "aclrtHostUnregister#02"),
                }
            }
            _ => {}
        }
    }

    /// The program's own buffer that starts there.
    fn program_buffer(&self, addr: usize) -> Option<usize> {
        let starts = |buffer: &crate::memory::Buffer| {
            buffer.alive && buffer.kind == Kind::Pageable && buffer.base == addr
        };
        self.buffers.iter().position(starts)
    }

    pub(super) fn judge_symbol(&self, v: &mut Verdict, t: usize, call: &Call) {
        match *call {
            Call::GetSymbolAddress(symbol) => {
                if let Some((symbol, device)) = self.need_symbol(v, t, symbol) {
                    // aclrtGetSymbolAddress#02: one copy per device.
                    v.value = match self.image(symbol, device) {
                        Some(image) => Value::Is(self.buffers[image].base as u64),
                        None => Value::NewBlock(SYMBOL_SIZES[symbol]),
                    };
                }
            }
            Call::GetSymbolSize(symbol) => {
                if let Some((symbol, _)) = self.need_symbol(v, t, symbol) {
                    v.value = Value::Is(SYMBOL_SIZES[symbol] as u64);
                }
            }
            Call::SymbolCopy(copy) => {
                self.judge_symbol_copy(v, t, &copy);
                if !v.succeeds() {
                    v.moves.clear();
                }
            }
            _ => {}
        }
    }

    /// The variable and the current device. Rows 05 to 08 of the symbol calls.
    fn need_symbol(&self, v: &mut Verdict, t: usize, symbol: Symbol) -> Option<(usize, usize)> {
        v.check(symbol == Symbol::Null, sys::ACL_ERROR_INVALID_PARAM, "aclrtGetSymbolAddress#07");
        v.check(symbol == Symbol::Unknown, sys::ACL_ERROR_RT_INVALID_SYMBOL, "aclrtGetSymbolAddress#05");
        let context = self.need_context(v, t)?;
        match symbol {
            Symbol::Known(symbol) => Some((symbol, self.contexts[context].device)),
            _ => None,
        }
    }

    fn judge_symbol_copy(&self, v: &mut Verdict, t: usize, copy: &SymbolCopy) {
        // aclrtMemcpyFromSymbol#07 and its kin
        if copy.count == 0 {
            return;
        }
        let entry = sys::ACL_ERROR_INVALID_PARAM;
        v.check(copy.symbol == Symbol::Null, entry, "aclrtMemcpyFromSymbol#08");
        v.check(copy.host.raw == 0, entry, "aclrtMemcpyFromSymbol#09");
        v.check(!copy.to && copy.count > copy.max, entry, "aclrtMemcpyFromSymbol#10");
        let right = if copy.to { sys::ACL_MEMCPY_HOST_TO_DEVICE } else { sys::ACL_MEMCPY_DEVICE_TO_HOST };
        let fits = copy.kind == right || copy.kind == sys::ACL_MEMCPY_DEFAULT;
        v.check(!fits, entry, "aclrtMemcpyFromSymbol#12, aclrtMemcpyToSymbol#10");
        if !v.succeeds() {
            return;
        }
        // Where the entry layer looks the variable up, in what order, is not told; only that a dead stream comes first.
        v.unordered = true;
        let queue = copy.stream.map(|stream| self.need_queue(v, t, stream, "aclrtMemcpyAsync#23"));
        let dead = v.wrong.iter().copied().find(|wrong| wrong.code == sys::ACL_ERROR_RT_INVALID_HANDLE);
        if let Some(dead) = dead {
            return v.wrong = vec![dead];
        }
        let found = self.need_symbol(v, t, copy.symbol);
        if let Some((symbol, _)) = found {
            match copy.offset.checked_add(copy.count) {
                None => v.wrong(sys::ACL_ERROR_FAILURE, "aclrtMemcpyFromSymbol#16, aclrtMemcpyToSymbol#14"),
                Some(end) => v.check(
                    end > SYMBOL_SIZES[symbol],
                    entry,
                    "aclrtMemcpyFromSymbol#14, aclrtMemcpyToSymbol#12",
                ),
            }
        }
        let host = self.end(v, copy.host.raw, copy.count);
        let (Some((symbol, device)), Some(host)) = (found, host) else { return };
        let Some(image) = self.image(symbol, device) else {
            v.wants = Some(symbol).filter(|_| v.succeeds());
            return;
        };
        let queue = queue.flatten();
        if let Some(stream) = queue.filter(|_| host.pageable && v.succeeds()) {
            // aclrtMemcpyFromSymbolAsync#17, aclrtMemcpyToSymbolAsync#15
            v.waits = self.streams[stream].clock.clone();
        }
        // The other end is host memory; what device memory there does is nowhere told.
        v.unclear |= host.side != Side::Host;
        self.mapped(v, &[&host]);
        if !v.succeeds() {
            return;
        }
        let range = copy.offset..copy.offset + copy.count;
        let span = Some(Span { buffer: image, range });
        let variable = End { side: Side::Device, device: Some(device), pageable: false, span };
        let (dst, src) = if copy.to { (&variable, &host) } else { (&host, &variable) };
        self.move_bytes(v, dst, src);
        v.task = queue.filter(|_| !host.pageable);
    }
}
