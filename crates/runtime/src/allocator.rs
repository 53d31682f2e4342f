//! Chapters 11-08 and 25-03: allocators of the program, registered for streams. Operators that need memory of their own ask
//! them (aclrtAllocatorRegister#12); this runtime has no such operator and never calls them, but whoever builds operators on
//! top finds them here.

use std::collections::HashMap;

use ascendcl_sys as sys;
use parking_lot::Mutex;

use crate::error::Result;
use crate::handle::{Kind, Pin, Table, describe};
use crate::process::Runtime;
use crate::{observer, refuse};

/// Descriptors and registrations.
pub struct Allocators {
    descriptors: Table<Mutex<Allocator>>,
    /// By the stream's handle, as a mere number (aclrtAllocatorRegister#11).
    registered: Mutex<HashMap<u64, Registered>>,
}

impl Allocators {
    pub(crate) fn new() -> Allocators {
        Allocators { descriptors: Table::new(Kind::Allocator), registered: Mutex::default() }
    }
}

/// An allocator as a descriptor describes it. aclrtAllocatorCreateDesc#02: nothing is set at first.
#[derive(Clone, Copy, Default)]
pub struct Allocator {
    /// The program's object, a pointer that is only handed back; 0 is none.
    pub object: usize,
    /// Allocates.
    pub alloc: sys::aclrtAllocatorAllocFunc,
    /// Frees.
    pub free: sys::aclrtAllocatorFreeFunc,
    /// Allocates at an address if it can. aclrtAllocatorRegister#08: optional.
    pub alloc_advise: sys::aclrtAllocatorAllocAdviseFunc,
    /// Tells the address of a block.
    pub address_of: sys::aclrtAllocatorGetAddrFromBlockFunc,
}

/// What is registered for a stream.
#[derive(Clone, Copy)]
pub struct Registered {
    /// The descriptor's handle, which may have ended (aclrtAllocatorGetByStream#05).
    pub descriptor: u64,
    /// What it said at the registration (aclrtAllocatorRegister#09).
    pub allocator: Allocator,
}

/// aclrtAllocatorCreateDesc.
pub fn create_desc(rt: &Runtime) -> u64 {
    let handle = rt.allocators.descriptors.insert(Mutex::default());
    observer::tell(|o| o.born(Kind::Allocator, handle));
    handle
}

/// aclrtAllocatorDestroyDesc. #02: registrations stay.
pub fn destroy_desc(rt: &Runtime, handle: u64) -> Result<()> {
    if rt.allocators.descriptors.remove(handle).is_none() {
        return invalid(handle);
    }
    observer::tell(|o| o.died(Kind::Allocator, handle));
    Ok(())
}

/// The setters of a descriptor: aclrtAllocatorSetObjToDesc, aclrtAllocatorSet…FuncToDesc.
pub fn set(rt: &Runtime, handle: u64, change: impl FnOnce(&mut Allocator)) -> Result<()> {
    change(&mut find(rt, handle)?.lock());
    Ok(())
}

fn find(rt: &Runtime, handle: u64) -> Result<Pin<'_, Mutex<Allocator>>> {
    match rt.allocators.descriptors.pin(handle) {
        Some(descriptor) => Ok(descriptor),
        None => invalid(handle),
    }
}

/// The code is ours: the one that all these calls answer a bad descriptor with.
#[cold]
fn invalid<T>(handle: u64) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_INVALID_PARAM,
        "ours: as aclrtAllocatorRegister#02",
        "allocatorDesc: {}",
        describe(handle, Kind::Allocator)
    )
}

/// aclrtAllocatorRegister. #10: replaces what was registered before.
pub fn register(rt: &Runtime, stream: u64, handle: u64) -> Result<()> {
    let allocator = *find(rt, handle)?.lock();
    // aclrtAllocatorRegister#07: in this order.
    for (there, what, rule) in [
        (allocator.object != 0, "allocator object", "aclrtAllocatorRegister#03"),
        (allocator.alloc.is_some(), "function that allocates", "aclrtAllocatorRegister#04"),
        (allocator.free.is_some(), "function that frees", "aclrtAllocatorRegister#05"),
        (allocator.address_of.is_some(), "function that tells addresses", "aclrtAllocatorRegister#06"),
    ] {
        if !there {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                rule,
                "allocatorDesc: descriptor {handle:#x} has no {what}"
            );
        }
    }
    rt.allocators.registered.lock().insert(stream, Registered { descriptor: handle, allocator });
    Ok(())
}

/// aclrtAllocatorGetByStream.
pub fn get_by_stream(rt: &Runtime, stream: u64) -> Result<Registered> {
    match rt.allocators.registered.lock().get(&stream) {
        Some(registered) => Ok(*registered),
        None => refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtAllocatorGetByStream#03",
            "stream: no allocator is registered for {stream:#x}"
        ),
    }
}

/// aclrtAllocatorUnregister. #02: nothing to do is no failure.
pub fn unregister(rt: &Runtime, stream: u64) {
    rt.allocators.registered.lock().remove(&stream);
}
