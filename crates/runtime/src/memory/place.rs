//! Whose memory a range of addresses is, both ends and all between them checked: the one place where a program's addresses become [`Span`]s.
//! Every copy and fill comes through here, and so do registration, managed memory and pointer attributes.

use std::fmt;

use ascendcl_sys as sys;
use toprope_engine::memory::{Block, Extent, Owner, Whose};

use crate::error::Result;
use crate::observer::Range;
use crate::process::{self, Runtime};
use crate::{memory, refuse};

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory of a device.
    Device(u16),
    /// A device variable.
    Image(u16),
    /// Pinned host memory of the runtime.
    Pinned,
    /// The program's own host memory, all of it registered.
    Registered,
    /// Managed memory.
    Managed,
    /// The device-side address of registered memory.
    Alias,
    /// Any other address: pageable host memory, or nothing at all (that shows when it is touched).
    Pageable,
}

/// Which end of a copy a place can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Host memory.
    Host,
    /// Device memory.
    Device,
    /// Managed memory: both.
    Either,
}

impl Place {
    /// Which end of a copy it can be.
    #[inline]
    pub fn side(self) -> Side {
        match self {
            Place::Device(_) | Place::Image(_) | Place::Alias => Side::Device,
            Place::Pinned | Place::Registered | Place::Pageable => Side::Host,
            Place::Managed => Side::Either,
        }
    }

    /// The device that owns it.
    #[inline]
    pub fn device(self) -> Option<u16> {
        match self {
            Place::Device(device) | Place::Image(device) => Some(device),
            _ => None,
        }
    }
}

impl From<Owner> for Place {
    #[inline]
    fn from(owner: Owner) -> Place {
        match owner {
            Owner::Device(device) => Place::Device(device),
            Owner::Image(device) => Place::Image(device),
            Owner::Pinned => Place::Pinned,
            Owner::Registered => Place::Registered,
            Owner::Managed => Place::Managed,
            Owner::Alias => Place::Alias,
        }
    }
}

/// A range of addresses, all of it in one place. (Small, for the hot path: its block is found again when a message needs it.)
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// First address, as the program has it.
    pub start: usize,
    /// Length in bytes.
    pub len: usize,
    /// Whose it is; nobody's: pageable.
    whose: Whose,
    /// Distance to the same byte where the runtime itself touches it (wrapping).
    shift: usize,
}

impl Span {
    /// Where the runtime itself touches the first byte.
    #[inline]
    pub fn inner(&self) -> usize {
        self.start.wrapping_add(self.shift)
    }

    /// Whose it is.
    #[inline]
    pub fn place(&self) -> Place {
        self.whose.owner().map_or(Place::Pageable, Place::from)
    }

    fn pageable(start: usize, len: usize) -> Span {
        Span { start, len, whose: Whose::NOBODY, shift: 0 }
    }

    /// For the observer.
    #[inline]
    pub fn range(&self) -> Range {
        Range { start: self.start, len: self.len }
    }

    /// In words, for messages.
    #[cold]
    pub fn describe(&self) -> String {
        match process::runtime() {
            Ok(rt) if self.place() != Place::Pageable => at(rt, self.start, rt.space.find(self.start)),
            _ => PAGEABLE.to_owned(),
        }
    }
}

const PAGEABLE: &str = "memory that the runtime does not know (pageable host memory)";

/// Finds the range `[addr, addr + len)`; `name` is the argument. ours: a range that leaves its block, or lies where no block
/// is, is 107000. A range that is registered only in part counts as pageable.
#[inline(always)]
pub fn locate(rt: &Runtime, name: &dyn fmt::Display, addr: usize, len: usize) -> Result<Span> {
    quick(rt, addr, len, |span| elsewhere(rt, name, span))
}

/// The common case in registers; others through `slow`, which gets a pageable span to mend. (A span that comes out of a call lies in
/// memory, and would take the common case there, too.)
#[inline(always)]
fn quick(rt: &Runtime, addr: usize, len: usize, slow: impl FnOnce(&mut Span) -> Result<()>) -> Result<Span> {
    match rt.space.extent(addr) {
        Some(Extent { left, whose, shift }) if len <= left => Ok(Span { start: addr, len, whose, shift }),
        _ => {
            let mut span = Span::pageable(addr, len);
            slow(&mut span)?;
            Ok(Span { start: addr, len, whose: span.whose, shift: span.shift })
        }
    }
}

/// [`locate`] for a call that moves bytes itself, before it returns: there, freed pinned memory is host memory like any other.
///
/// ours: a document calls host memory that is not ACL's undefined (aclrtMemset#06), and a process still has those pages. Programs
/// depend on it without knowing: Ascend/samples memcpy_host_device_python, with the arguments of its README, fills and copies a
/// block that it freed one round before. The engine keeps the pages mapped; that the block is gone is for a checker to say.
#[inline(always)]
pub fn locate_now(rt: &Runtime, name: &dyn fmt::Display, addr: usize, len: usize) -> Result<Span> {
    quick(rt, addr, len, |span| {
        elsewhere(rt, name, span).or_else(|error| if freed(rt, addr, len) { Ok(()) } else { Err(error) })
    })
}

/// Whether it is a range of pinned memory no byte of which lies in a block.
#[cold]
fn freed(rt: &Runtime, addr: usize, len: usize) -> bool {
    let end = addr.checked_add(len).filter(|end| *end > addr);
    end.is_some_and(|end| rt.space.arena(addr) == Some(Owner::Pinned) && rt.space.vacant(addr, end))
}

/// The rule of a range that is nobody's.
const RANGE: &str = "ours: both ends of a range are checked";

/// A range that the quick look did not find: of registered memory, of a device variable, pageable, or nobody's.
#[inline(never)]
fn elsewhere(rt: &Runtime, name: &dyn fmt::Display, span: &mut Span) -> Result<()> {
    let (addr, len) = (span.start, span.len);
    let found = rt.space.find(addr);
    if let Some(block) = found.filter(|block| len <= block.usable - (addr - block.base)) {
        (span.whose, span.shift) = (block.owner.into(), rt.space.inner(addr).wrapping_sub(addr));
        return Ok(());
    }
    let Some(end) = addr.checked_add(len) else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            RANGE,
            "{name}: {len} bytes from {addr:#x} run past the end of the address space"
        );
    };
    match found {
        Some(block) if block.owner != Owner::Registered => {
            let over = end - (block.base + block.usable);
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                RANGE,
                "{name}: {len} bytes from {addr:#x} run {over} bytes past the end of {}",
                describe(&block, addr)
            );
        }
        Some(_) => {}
        None if rt.space.arena(addr).is_some() => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                RANGE,
                "{name}: {addr:#x} is {}; it was freed already, or never allocated",
                at(rt, addr, None)
            );
        }
        None => {}
    }
    // The range may run into memory of the runtime that lies behind the program's own, and out of it again.
    let last = end.saturating_sub(1).max(addr);
    if let Some(owner) = rt.space.entered(addr, last) {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            RANGE,
            "{name}: {len} bytes from {addr:#x} run into {}",
            words(owner)
        );
    }
    Ok(())
}

/// What lies at an address, in words.
#[cold]
pub fn at(rt: &Runtime, addr: usize, found: Option<Block>) -> String {
    match (found, rt.space.arena(addr)) {
        (Some(block), _) => describe(&block, addr),
        (None, Some(owner)) => format!("in {}, where no block is", words(owner)),
        (None, None) => PAGEABLE.to_owned(),
    }
}

#[cold]
fn describe(block: &Block, addr: usize) -> String {
    let what = words(block.owner);
    let Block { base, size, usable, .. } = memory::held(*block);
    match addr.checked_sub(base) {
        Some(0) if usable == size => format!("{what}, a block of {size} bytes at {base:#x}"),
        Some(0) => format!("{what}, a block of {size} bytes ({usable} with padding) at {base:#x}"),
        Some(offset) => {
            format!("{what}, offset {offset} in a block of {size} bytes ({usable} with padding) at {base:#x}")
        }
        None => format!("{what}, just before a block of {size} bytes at {base:#x}"),
    }
}

/// An owner in words.
pub(crate) fn words(owner: Owner) -> String {
    match owner {
        Owner::Device(device) => format!("memory of device {device}"),
        Owner::Image(device) => format!("a device variable of device {device}"),
        Owner::Pinned => "pinned host memory".to_owned(),
        Owner::Registered => "registered host memory".to_owned(),
        Owner::Managed => "managed memory".to_owned(),
        Owner::Alias => "the device address of registered host memory".to_owned(),
    }
}
