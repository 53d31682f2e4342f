//! Reads and writes of the program's own memory that end in an error instead of a crash when the address is bad.

use std::mem::MaybeUninit;

use toprope_engine::memory::{self, Owner};

use crate::process::{self, Runtime};

/// Address of memory that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmapped(pub usize);

/// A plain value at `addr`, aligned or not.
pub fn read<T: Copy>(addr: usize) -> Result<T, Unmapped> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: the destination is this thread's own value; the source may be anything, which `copy` reports.
    unsafe { memory::copy(value.as_mut_ptr() as usize, addr, size_of::<T>()) }.map_err(|_| Unmapped(addr))?;
    // SAFETY: written just now. Callers ask for plain data (integers, pointers, structs of them) only.
    Ok(unsafe { value.assume_init() })
}

/// Writes a plain value at `addr`, aligned or not.
pub fn write<T: Copy>(addr: usize, value: T) -> Result<(), Unmapped> {
    // SAFETY: the source is this thread's own value; the destination is the program's, as the call's page says.
    unsafe { memory::copy(addr, &raw const value as usize, size_of::<T>()) }.map_err(|_| Unmapped(addr))
}

/// `count` values at `addr`.
pub fn read_all<T: Copy>(addr: usize, count: usize) -> Result<Vec<T>, Unmapped> {
    let bytes =
        count.checked_mul(size_of::<T>()).filter(|n| *n <= isize::MAX as usize).ok_or(Unmapped(addr))?;
    if let Ok(rt) = process::runtime() {
        reachable(rt, addr, bytes)?;
    }
    let mut values = Vec::<T>::new();
    values.try_reserve_exact(count).map_err(|_| Unmapped(addr))?;
    // SAFETY: the destination was just reserved; the source may be anything, which `copy` reports.
    unsafe { memory::copy(values.as_mut_ptr() as usize, addr, bytes) }.map_err(|_| Unmapped(addr))?;
    // SAFETY: `count` values of plain data were written.
    unsafe { values.set_len(count) };
    Ok(values)
}

/// Behind a block of the runtime's lies memory that is there and belongs to nobody, or to another block: a wrong count must not
/// walk into it, wherever it begins.
fn reachable(rt: &Runtime, addr: usize, bytes: usize) -> Result<(), Unmapped> {
    if let Some(block) = rt.space.find(addr).filter(|block| block.owner != Owner::Registered) {
        let end = block.base + block.usable;
        return if bytes <= end - addr { Ok(()) } else { Err(Unmapped(end)) };
    }
    let end = addr.checked_add(bytes).ok_or(Unmapped(addr))?;
    let foreign = bytes > 0 && rt.space.entered(addr, end - 1).is_some() && !rt.space.vacant(addr, end);
    if foreign { Err(Unmapped(addr)) } else { Ok(()) }
}

/// Most entries of an array that a call takes, where no page names a bound (calls with one check it first). ours: a wrong count
/// must not read on to the end of a mapping, and no list of handles, addresses or ranges comes near.
pub const MOST_ENTRIES: usize = 1 << 20;

/// Most bytes of a C string that are looked at.
pub const LONGEST_TEXT: usize = 1 << 20;

/// The bytes of a C string without its end mark; `limit` bytes at most are looked at. None when no end mark comes first.
pub fn read_text(addr: usize, limit: usize) -> Result<Option<Vec<u8>>, Unmapped> {
    let mut text = Vec::new();
    // Byte by byte: what lies behind the end mark is not the string's, and a program under AddressSanitizer is stopped
    // for reading it.
    for at in 0..limit {
        let at = addr.checked_add(at).ok_or(Unmapped(addr))?;
        match read::<u8>(at)? {
            0 => return Ok(Some(text)),
            byte => text.push(byte),
        }
    }
    Ok(None)
}
