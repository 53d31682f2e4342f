//! Device variables: chapter 11-11, and the registration function behind it (`spec/registration.csv`).
//!
//! A variable is known by the address of its shadow on the host. One of a device binary lives in the instance that each device has
//! of the binary ([`binary`]). Without one it lives in the runtime alone: each
//! device has a copy of its own ([`Owner::Image`]), made at the first use there and starting with the bytes that the
//! shadow held when it was registered. A reset of the device frees the copy; the next use makes a fresh one.
//!
//! Lock order: `variables`, then a variable's `images`, then the address table.

use std::collections::HashMap;
use std::sync::Arc;

use ascendcl_sys as sys;
use parking_lot::{Mutex, RwLock};
use toprope_engine::memory::{self, Block, Owner, Page};

use crate::copy::{self, SymbolCopy};
use crate::error::{Result, exhausted};
use crate::generated::api::Api;
use crate::kernel::binary;
use crate::process::Runtime;
use crate::{bytes, observer, refuse, stream, thread};

/// All device variables of the process.
#[derive(Default)]
pub struct Symbols {
    variables: RwLock<HashMap<usize, Arc<Variable>>>,
}

/// A device variable.
struct Variable {
    name: String,
    size: usize,
    home: Home,
}

/// Where a variable lives.
enum Home {
    /// In a device binary: its handle, and the variable's place in it.
    Binary(u64, usize),
    /// In the runtime alone.
    Own(Copies),
}

/// The copies of a variable without a binary.
struct Copies {
    /// The bytes it starts with; zeros follow.
    initial: Vec<u8>,
    /// Its copy on each device that has used it.
    images: Mutex<Vec<(u16, Block)>>,
}

impl Symbols {
    /// Forgets the variables of a binary.
    pub(crate) fn forget(&self, binary: u64) {
        let lives_there =
            |variable: &Variable| matches!(variable.home, Home::Binary(handle, _) if handle == binary);
        self.variables.write().retain(|_, variable| !lives_there(variable));
    }
}

/// Longest name, in characters. rtRegisterVariable
const LONGEST_NAME: usize = 4095;
/// ours: copies start at a multiple of this many bytes, as blocks of aclrtMalloc do.
const ALIGN: usize = 64;
const RULE: &str = "rtRegisterVariable";

/// rtRegisterVariable. Whatever is wrong only leaves the variable unregistered; the error says why.
pub fn register_variable(rt: &Runtime, binary: u64, host: usize, name: &[u8], size: usize) -> Result<()> {
    let invalid = |text: String| refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, RULE, "{text}");
    if host == 0 {
        return invalid("hostVar: must not be null".to_owned());
    }
    if name.is_empty() || name.len() > LONGEST_NAME {
        return invalid(format!("deviceVarName: has {} characters, not 1 to {LONGEST_NAME}", name.len()));
    }
    if size == 0 || size as u64 > rt.profile.device_memory {
        return invalid(format!(
            "size: {size} bytes; a device has {} bytes of memory",
            rt.profile.device_memory
        ));
    }
    // A second registration of an address is ignored; the first one's bytes stay.
    if rt.symbols.variables.read().contains_key(&host) {
        return Ok(());
    }
    let name = String::from_utf8_lossy(name).into_owned();
    let home = if binary == 0 {
        Home::Own(Copies { initial: capture(host, size), images: Mutex::default() })
    } else {
        let owner = binary::resolve(rt, binary, RULE)?;
        let Some(index) = owner.image.variable(&name) else {
            return invalid(format!("deviceVarName: {name} is no variable of the binary"));
        };
        // ours: the device's variable must have the bytes that are said to be there.
        let has = owner.image.variables[index].size;
        if size > has {
            return invalid(format!("size: {size} bytes; variable {name} of the binary has {has}"));
        }
        Home::Binary(binary, index)
    };
    let variable = Variable { name, size, home };
    rt.symbols.variables.write().entry(host).or_insert_with(|| Arc::new(variable));
    Ok(())
}

/// The bytes of a shadow, without the zeros at the end. ours: a shadow may be smaller than its variable, or not be there at
/// all; where it is not mapped, zeros count.
fn capture(host: usize, size: usize) -> Vec<u8> {
    const PIECE: usize = 4096;
    let mut initial = Vec::new();
    let mut done = 0;
    while done < size {
        let Some(at) = host.checked_add(done) else { break };
        // A piece never crosses a page, so that the end of mapped memory is seen exactly.
        let length = (PIECE - at % PIECE).min(size - done);
        let Ok(piece) = bytes::read_all::<u8>(at, length) else { break };
        if let Some(last) = piece.iter().rposition(|byte| *byte != 0) {
            initial.resize(done, 0);
            initial.extend_from_slice(&piece[..=last]);
        }
        done += length;
    }
    initial
}

/// The variable of a shadow's address, and the current device: *#03 a context is looked for first, since without a device
/// there is no copy to look up (as aclrtGetFuncBySymbol#04).
fn find(
    rt: &Runtime,
    symbol: usize,
    context: &'static str,
    unknown: &'static str,
) -> Result<(Arc<Variable>, u16)> {
    let device = match thread::current(rt) {
        Ok(current) => current.device,
        Err(error) => return refuse!(error.code(), context, "{}", error.text()),
    };
    let found = rt.symbols.variables.read().get(&symbol).cloned();
    match found {
        Some(variable) => Ok((variable, device)),
        None => refuse!(
            sys::ACL_ERROR_RT_INVALID_SYMBOL,
            unknown,
            "symbol: {symbol:#x} is not the address of a registered device variable"
        ),
    }
}

impl Variable {
    /// Its address on a device.
    fn address(&self, rt: &Runtime, device: u16) -> Result<usize> {
        match &self.home {
            Home::Own(copies) => Ok(copies.on(rt, device, self)?.base),
            Home::Binary(handle, index) => {
                let binary = binary::resolve(rt, *handle, RULE)?;
                let offset = binary.image.variables[*index].offset;
                Ok(binary.load(rt, device)?.base() + offset)
            }
        }
    }
}

impl Copies {
    /// The copy on a device, made if need be.
    fn on(&self, rt: &Runtime, device: u16, variable: &Variable) -> Result<Block> {
        let mut images = self.images.lock();
        if let Some(at) = images.iter().position(|(owner, _)| *owner == device) {
            let block = images[at].1;
            // The serial tells a block from a later one at its address: a reset of the device freed this one.
            if rt.space.find(block.base) == Some(block) {
                return Ok(block);
            }
            images.swap_remove(at);
        }
        let size = variable.size;
        let block = match rt.space.alloc(Owner::Image(device), size, size, ALIGN, Page::Normal, 0) {
            Ok(block) => block,
            Err(error) => {
                let what = format!("device {device}, variable {}", variable.name);
                return Err(exhausted(error, "*#07", &what));
            }
        };
        observer::tell(|o| o.allocated(&block));
        self.fill(rt, &block, size);
        images.push((device, block));
        Ok(block)
    }

    /// Gives a new copy its first bytes.
    fn fill(&self, rt: &Runtime, block: &Block, size: usize) {
        let to = rt.space.inner(block.base);
        let initial = self.initial.len();
        // SAFETY: the block was made just now and nobody knows it yet; `initial` is at most its size.
        let copied = unsafe { memory::copy(to, self.initial.as_ptr() as usize, initial) };
        // SAFETY: as above.
        let filled = unsafe { memory::fill(to + initial, 0, size - initial) };
        debug_assert!(copied.is_ok() && filled.is_ok(), "a live block is mapped");
    }
}

/// aclrtGetSymbolAddress: on the current device (#02).
pub fn get_address(rt: &Runtime, symbol: usize) -> Result<usize> {
    let (variable, device) = find(rt, symbol, "aclrtGetSymbolAddress#06", "aclrtGetSymbolAddress#05")?;
    variable.address(rt, device)
}

/// rtSymbolLookup: address on the current device and registered size.
pub fn lookup(rt: &Runtime, symbol: usize) -> Result<(usize, usize)> {
    let (variable, device) = find(rt, symbol, "rtSymbolLookup", "rtSymbolLookup")?;
    Ok((variable.address(rt, device)?, variable.size))
}

/// aclrtGetSymbolSize.
pub fn get_size(rt: &Runtime, symbol: usize) -> Result<usize> {
    let (variable, _) = find(rt, symbol, "aclrtGetSymbolSize#06", "aclrtGetSymbolSize#05")?;
    Ok(variable.size)
}

/// The rows of one symbol copy.
struct Rules {
    kind: &'static str,
    context: &'static str,
    unknown: &'static str,
    overflow: &'static str,
    range: &'static str,
}

macro_rules! rules {
    ($name:ident, kind: $kind:literal, overflow: $overflow:literal, range: $range:literal) => {
        Rules {
            kind: concat!(stringify!($name), $kind),
            context: concat!(stringify!($name), "#06"),
            unknown: concat!(stringify!($name), "#05"),
            overflow: concat!(stringify!($name), $overflow),
            range: concat!(stringify!($name), $range),
        }
    };
}

const FROM: Rules = rules!(aclrtMemcpyFromSymbol, kind: "#12", overflow: "#16", range: "#14");
const FROM_ASYNC: Rules = rules!(aclrtMemcpyFromSymbolAsync, kind: "#12", overflow: "#16", range: "#14");
const TO: Rules = rules!(aclrtMemcpyToSymbol, kind: "#10", overflow: "#14", range: "#12");
const TO_ASYNC: Rules = rules!(aclrtMemcpyToSymbolAsync, kind: "#10", overflow: "#14", range: "#12");

/// A part of a variable, as a program names it.
#[derive(Clone, Copy)]
pub struct Part {
    /// Address of the shadow.
    pub symbol: usize,
    /// Bytes to copy; not 0.
    pub count: usize,
    /// Bytes of the variable before them.
    pub offset: usize,
}

impl Part {
    /// Where it is on the current device.
    fn resolve(self, rt: &Runtime, rules: &Rules) -> Result<usize> {
        let (variable, device) = find(rt, self.symbol, rules.context, rules.unknown)?;
        let Some(end) = self.offset.checked_add(self.count) else {
            return refuse!(
                sys::ACL_ERROR_FAILURE,
                rules.overflow,
                "offset: {} + count {} is more than a size can count",
                self.offset,
                self.count
            );
        };
        if end > variable.size {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                rules.range,
                "offset: {} + count {} is beyond the {} bytes of variable {}",
                self.offset,
                self.count,
                variable.size,
                variable.name
            );
        }
        Ok(variable.address(rt, device)? + self.offset)
    }
}

/// `way` or the kind that lets the addresses decide.
fn direction(
    kind: sys::aclrtMemcpyKind,
    way: sys::aclrtMemcpyKind,
    name: &str,
    rule: &'static str,
) -> Result<()> {
    if kind == way || kind == sys::ACL_MEMCPY_DEFAULT {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_INVALID_PARAM,
        rule,
        "kind: {}; only {name} ({way}) and ACL_MEMCPY_DEFAULT (4) are possible",
        sys::enums::aclrtMemcpyKind.show(kind)
    )
}

fn outward(rules: &Rules, kind: sys::aclrtMemcpyKind) -> Result<()> {
    direction(kind, sys::ACL_MEMCPY_DEVICE_TO_HOST, "ACL_MEMCPY_DEVICE_TO_HOST", rules.kind)
}

fn inward(rules: &Rules, kind: sys::aclrtMemcpyKind) -> Result<()> {
    direction(kind, sys::ACL_MEMCPY_HOST_TO_DEVICE, "ACL_MEMCPY_HOST_TO_DEVICE", rules.kind)
}

/// `count` fits into `dstMax`.
fn fits(count: usize, room: usize, rule: &'static str) -> Result<()> {
    if count <= room {
        return Ok(());
    }
    refuse!(sys::ACL_ERROR_INVALID_PARAM, rule, "count: {count} is more than dstMax, {room}")
}

/// aclrtMemcpyFromSymbol: done on return (#17).
pub fn memcpy_from(
    rt: &Runtime,
    dst: usize,
    room: usize,
    part: Part,
    kind: sys::aclrtMemcpyKind,
) -> Result<()> {
    fits(part.count, room, "aclrtMemcpyFromSymbol#10")?;
    outward(&FROM, kind)?;
    let src = part.resolve(rt, &FROM)?;
    copy::memcpy_symbol(rt, Api::aclrtMemcpyFromSymbol, dst, src, part.count)
}

/// aclrtMemcpyFromSymbolAsync: pageable memory is copied before the call returns (#17).
pub fn memcpy_from_async(
    rt: &Runtime,
    dst: usize,
    room: usize,
    part: Part,
    kind: sys::aclrtMemcpyKind,
    stream: u64,
) -> Result<()> {
    fits(part.count, room, "aclrtMemcpyFromSymbolAsync#10")?;
    outward(&FROM_ASYNC, kind)?;
    live(rt, stream)?;
    let src = part.resolve(rt, &FROM_ASYNC)?;
    copy::memcpy_symbol_async(rt, SymbolCopy::From, dst, src, part.count, stream)
}

/// aclrtMemcpyToSymbol: done on return (#15).
pub fn memcpy_to(rt: &Runtime, part: Part, src: usize, kind: sys::aclrtMemcpyKind) -> Result<()> {
    inward(&TO, kind)?;
    let dst = part.resolve(rt, &TO)?;
    copy::memcpy_symbol(rt, Api::aclrtMemcpyToSymbol, dst, src, part.count)
}

/// aclrtMemcpyToSymbolAsync: pageable memory is copied before the call returns (#15).
pub fn memcpy_to_async(
    rt: &Runtime,
    part: Part,
    src: usize,
    kind: sys::aclrtMemcpyKind,
    stream: u64,
) -> Result<()> {
    inward(&TO_ASYNC, kind)?;
    live(rt, stream)?;
    let dst = part.resolve(rt, &TO_ASYNC)?;
    copy::memcpy_symbol_async(rt, SymbolCopy::To, dst, src, part.count, stream)
}

/// *#01: a bad handle is found before any other check of the runtime.
fn live(rt: &Runtime, stream: u64) -> Result<()> {
    if stream != 0 {
        stream::resolve(rt, stream)?;
    }
    Ok(())
}
