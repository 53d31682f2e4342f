//! Host memory of the program that devices may use: the registration part of chapter 11-02.
//!
//! A registration is noted twice: here, by its first address, and for memory of the program also in the address table
//! ([`Owner::Registered`], the flags as its tag), so that copies see it: to them it is page-locked, whatever the flags. A
//! mapped one has an address of its own for devices ([`Owner::Alias`], the host address as its tag): kernels use it, host
//! code that touches it faults, and copies refuse it. Registrations belong to the process and survive a reset of the device.
//!
//! Lock order: `registrations`, then the address table.

use std::collections::BTreeMap;

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::memory::{Block, Owner, Page};

use crate::error::{Result, exhausted};
use crate::process::Runtime;
use crate::{device, memory, observer, refuse, thread};

/// Devices may use the memory.
pub const MAPPED: u32 = sys::ACL_HOST_REG_MAPPED as u32;
/// The memory belongs to another device's registers; devices may use it.
pub const IO_MEMORY: u32 = sys::ACL_HOST_REG_IOMEMORY as u32;
/// Devices may only read the memory.
pub const READ_ONLY: u32 = sys::ACL_HOST_REG_READONLY as u32;
/// The memory is page-locked, as if aclrtMallocHost had given it.
pub const PINNED: u32 = sys::ACL_HOST_REG_PINNED as u32;

/// First addresses of registered memory are multiples of this. aclrtHostRegister#03
const ALIGN: usize = 4096;

/// Host memory that the program has registered.
#[derive(Default)]
pub struct Registry {
    registrations: Mutex<BTreeMap<usize, Registration>>,
}

#[derive(Clone, Copy, Debug)]
struct Registration {
    size: usize,
    flags: u32,
    mapping: Mapping,
    /// The block it is noted in: its own one, or the pinned block around it.
    block: Block,
}

/// How devices see registered memory.
#[derive(Clone, Copy, Debug)]
enum Mapping {
    /// Not at all.
    None,
    /// At the host's own address. aclrtMallocHostWithCfg#06
    Same,
    /// At an address of its own.
    Alias(Block),
}

impl Registration {
    /// The device's address of the byte at `addr` of a registration that starts at `base`.
    fn device_address(&self, base: usize, addr: usize) -> Option<usize> {
        match self.mapping {
            Mapping::None => None,
            Mapping::Same => Some(addr),
            Mapping::Alias(alias) => Some(alias.base + (addr - base)),
        }
    }

    fn describe(&self, base: usize) -> String {
        format!("{} bytes at {base:#x}, flags {:#x}", self.size, self.flags)
    }
}

/// aclrtHostRegister: the device's address. Registers for mapping alone.
pub fn register(rt: &Runtime, addr: usize, size: u64, kind: sys::aclrtHostRegisterType) -> Result<usize> {
    let range = Range::check(rt, addr, size, "aclrtHostRegister#02", "aclrtHostRegister#03")?;
    // aclrtHostRegister#08; #09: the other two types are reserved.
    if kind != sys::ACL_HOST_REGISTER_MAPPED {
        let reserved = sys::ACL_HOST_REGISTER_IOMEMORY | sys::ACL_HOST_REGISTER_READONLY;
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            if kind & !reserved == 0 { "aclrtHostRegister#09" } else { "aclrtHostRegister#08" },
            "type: {}; only ACL_HOST_REGISTER_MAPPED (0) is possible",
            sys::enums::aclrtHostRegisterType.show(kind)
        );
    }
    let registration = add(rt, range, MAPPED)?;
    // Always there: it was registered as mapped.
    Ok(registration.device_address(addr, addr).unwrap_or(0))
}

/// aclrtHostRegisterV2.
pub fn register_v2(rt: &Runtime, addr: usize, size: u64, flags: u32) -> Result<()> {
    let range = Range::check(rt, addr, size, "aclrtHostRegisterV2#02", "aclrtHostRegisterV2#03")?;
    if flags == 0 || flags & !(MAPPED | IO_MEMORY | READ_ONLY | PINNED) != 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtHostRegisterV2#07",
            "flag: {flags:#x}; wanted is an OR of MAPPED (0x2), IOMEMORY (0x4) and PINNED (0x10000000)"
        );
    }
    // aclrtHostRegister<cpp>#05: IOMEMORY has no such note in the seed, so it counts.
    if flags & READ_ONLY != 0 {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtHostRegisterV2#08",
            "flag: {flags:#x}; ACL_HOST_REG_READONLY (0x8) is reserved"
        );
    }
    add(rt, range, flags).map(drop)
}

/// A range whose numbers are good.
#[derive(Clone, Copy)]
struct Range {
    base: usize,
    size: usize,
}

impl Range {
    fn check(
        rt: &Runtime,
        addr: usize,
        size: u64,
        empty: &'static str,
        unaligned: &'static str,
    ) -> Result<Range> {
        if size == 0 {
            return refuse!(sys::ACL_ERROR_INVALID_PARAM, empty, "size: must not be 0");
        }
        // ours: what aclrtMallocHost gives can be registered as it is, though its page promises 64 bytes only.
        let whole = || rt.space.find(addr).is_some_and(|b| b.owner == Owner::Pinned && b.base == addr);
        if !addr.is_multiple_of(ALIGN) && !whole() {
            return refuse!(
                sys::ACL_ERROR_RT_ADDR_UNALIGNED,
                unaligned,
                "ptr: {addr:#x} is not a multiple of {ALIGN}"
            );
        }
        match usize::try_from(size).ok().filter(|size| addr.checked_add(*size).is_some()) {
            Some(size) => Ok(Range { base: addr, size }),
            None => refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: a range that exists",
                "size: {addr:#x} + {size:#x} is beyond the last address"
            ),
        }
    }

    fn last(self) -> usize {
        self.base + (self.size - 1)
    }
}

fn add(rt: &Runtime, range: Range, flags: u32) -> Result<Registration> {
    // aclrtHostRegisterV2#12; the older call needs a device just as well.
    thread::current_device(rt)?;
    let mut registrations = rt.host.registrations.lock();
    if let Some((base, earlier)) = overlapping(rt, &mut registrations, range) {
        return refuse!(
            sys::ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
            "aclrtHostRegisterV2#10",
            "ptr: {:#x} + {:#x} overlaps memory that is registered already: {}",
            range.base,
            range.size,
            earlier.describe(base)
        );
    }
    let pinned = pinned_around(rt, range)?;
    if pinned.is_some() && flags & PINNED != 0 {
        // The code is ours.
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtHostRegisterV2#09",
            "flag: {:#x} comes from aclrtMallocHost and is page-locked already; leave ACL_HOST_REG_PINNED out",
            range.base
        );
    }
    let mapping = match pinned {
        _ if flags & (MAPPED | IO_MEMORY) == 0 => Mapping::None,
        Some(block) if block.tag & memory::tag::SAME_ADDRESS != 0 => Mapping::Same,
        _ => Mapping::Alias(map(rt, range)?),
    };
    let noted = match pinned {
        Some(block) => Ok(block),
        None => rt.space.register(range.base, range.size, flags.into()),
    };
    let block = match noted {
        Ok(block) => block,
        Err(earlier) => {
            unmap(rt, mapping);
            return refuse!(
                sys::ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                "aclrtHostRegisterV2#10",
                "ptr: {:#x} + {:#x} overlaps memory of the runtime: {} bytes at {:#x}",
                range.base,
                range.size,
                earlier.size,
                earlier.base
            );
        }
    };
    let registration = Registration { size: range.size, flags, mapping, block };
    registrations.insert(range.base, registration);
    if pinned.is_none() {
        observer::tell(|o| o.allocated(&block));
    }
    Ok(registration)
}

/// The registration that shares an address with `range`. One whose pinned block the program has freed is dropped.
fn overlapping(
    rt: &Runtime,
    registrations: &mut BTreeMap<usize, Registration>,
    range: Range,
) -> Option<(usize, Registration)> {
    loop {
        let (base, found) =
            registrations.range(..=range.last()).next_back().map(|(base, found)| (*base, *found))?;
        if base + (found.size - 1) < range.base {
            return None;
        }
        if rt.space.find(found.block.base) == Some(found.block) {
            return Some((base, found));
        }
        unmap(rt, found.mapping);
        registrations.remove(&base);
    }
}

/// The block of aclrtMallocHost around a range; None for memory of the program. All else cannot be registered (ours).
fn pinned_around(rt: &Runtime, range: Range) -> Result<Option<Block>> {
    match rt.space.entered(range.base, range.last()) {
        None => {
            if mapped(range) {
                return Ok(None);
            }
            refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: memory that exists",
                "ptr: not all of {:#x} + {:#x} is mapped memory",
                range.base,
                range.size
            )
        }
        Some(owner) => match rt.space.find(range.base) {
            Some(block) if block.owner == Owner::Pinned && range.last() - block.base < block.usable => {
                Ok(Some(block))
            }
            _ => refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: host memory",
                "ptr: {:#x} + {:#x} is not host memory ({}); wanted is memory of the program or one block of aclrtMallocHost",
                range.base,
                range.size,
                memory::place::words(owner)
            ),
        },
    }
}

/// Whether every page of a range is mapped.
fn mapped(range: Range) -> bool {
    // SAFETY: asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(ALIGN);
    let mut state = [0u8; 4096];
    let mut at = range.base / page * page;
    loop {
        let pages = (range.last() - at) / page + 1;
        let length = pages.min(state.len()) * page;
        // SAFETY: only looks at the page table; `state` has a byte for every page asked for.
        let answer = unsafe { libc::mincore(at as *mut libc::c_void, length, state.as_mut_ptr()) };
        // Any other errno says nothing about the pages.
        if answer != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOMEM) {
            return false;
        }
        if pages <= state.len() {
            return true;
        }
        at += length;
    }
}

/// Gives host memory an address for devices.
fn map(rt: &Runtime, range: Range) -> Result<Block> {
    let usable = range.size.next_multiple_of(ALIGN);
    match rt.space.alloc(Owner::Alias, range.size, usable, ALIGN, Page::Normal, range.base as u64) {
        Ok(alias) => {
            observer::tell(|o| o.allocated(&alias));
            Ok(alias)
        }
        Err(error) => Err(exhausted(error, "*#07", "device addresses of host memory")),
    }
}

fn unmap(rt: &Runtime, mapping: Mapping) {
    if let Mapping::Alias(alias) = mapping
        && rt.space.free_exact(&alias)
    {
        observer::tell(|o| o.freed(&alias));
    }
}

/// aclrtHostUnregister.
pub fn unregister(rt: &Runtime, addr: usize) -> Result<()> {
    let mut registrations = rt.host.registrations.lock();
    let Some(registration) = registrations.remove(&addr) else {
        let around = overlapping(rt, &mut registrations, Range { base: addr, size: 1 });
        return refuse!(
            sys::ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
            "aclrtHostUnregister#02",
            "ptr: {addr:#x} {}",
            match around {
                Some((base, around)) =>
                    format!("is inside a registration, not its start: {}", around.describe(base)),
                None => "is not registered".to_owned(),
            }
        );
    };
    unmap(rt, registration.mapping);
    let block = registration.block;
    if block.owner == Owner::Registered && rt.space.unregister(addr).is_ok() {
        observer::tell(|o| o.freed(&block));
    }
    Ok(())
}

/// aclrtHostGetDevicePointer: the device's address of registered memory. ours: also from inside a registration.
pub fn get_device_pointer(rt: &Runtime, addr: usize, flag: u32) -> Result<usize> {
    if flag != 0 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtHostGetDevicePointer#03",
            "flag: {flag:#x}; is reserved and must be 0"
        );
    }
    let found = overlapping(rt, &mut rt.host.registrations.lock(), Range { base: addr, size: 1 });
    let Some((base, found)) = found else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtHostGetDevicePointer#06",
            "pHost: {addr:#x} is not registered"
        );
    };
    match found.device_address(base, addr) {
        Some(address) => Ok(address),
        None => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtHostGetDevicePointer#06",
            "pHost: {addr:#x} is registered without ACL_HOST_REG_MAPPED: {}",
            found.describe(base)
        ),
    }
}

/// aclrtHostMemMapCapabilities: whether a part of the device can use registered memory.
pub fn mem_map_capabilities(
    rt: &Runtime,
    device_id: u32,
    part: sys::aclrtHacType,
) -> Result<sys::aclrtHostMemMapCapability> {
    if part > sys::ACL_RT_HAC_TYPE_CCU {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtHostMemMapCapabilities#02",
            "hacType: {}; wanted is 0 to {}",
            sys::enums::aclrtHacType.show(part),
            sys::ACL_RT_HAC_TYPE_CCU
        );
    }
    device::resolve(rt, i32::try_from(device_id).unwrap_or(-1), "aclrtHostMemMapCapabilities#03")?;
    // ours: no page has the table. The page of aclrtHostRegister gives the memory to kernels and keeps it from copies.
    let kernels = [sys::ACL_RT_HAC_TYPE_AICPU, sys::ACL_RT_HAC_TYPE_AIC, sys::ACL_RT_HAC_TYPE_AIV];
    Ok(if rt.profile.product.host_register && kernels.contains(&part) {
        sys::ACL_RT_HOST_MEM_MAP_SUPPORTED
    } else {
        sys::ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED
    })
}
