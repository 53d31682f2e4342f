//! Chapters 11-08 and 25-03: allocators of the program.

use ascendcl_sys::{
    aclError, aclrtAllocator, aclrtAllocatorAllocAdviseFunc, aclrtAllocatorAllocFunc, aclrtAllocatorDesc,
    aclrtAllocatorFreeFunc, aclrtAllocatorGetAddrFromBlockFunc, aclrtStream,
};
use toprope_runtime::call::{call, value};
use toprope_runtime::{Api, allocator};

use crate::arg;

/// Makes a descriptor of an allocator; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorCreateDesc() -> aclrtAllocatorDesc {
    value(Api::aclrtAllocatorCreateDesc, std::ptr::null_mut(), |rt| {
        Ok(arg::from_handle(allocator::create_desc(rt)))
    })
}

/// Ends a descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorDestroyDesc(allocatorDesc: aclrtAllocatorDesc) -> aclError {
    call(Api::aclrtAllocatorDestroyDesc, |rt| {
        arg::not_null(allocatorDesc, "allocatorDesc", "aclrtAllocatorDestroyDesc#01")?;
        allocator::destroy_desc(rt, arg::handle(allocatorDesc))
    })
}

/// Sets the program's object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorSetObjToDesc(
    allocatorDesc: aclrtAllocatorDesc,
    allocator: aclrtAllocator,
) -> aclError {
    call(Api::aclrtAllocatorSetObjToDesc, |rt| {
        arg::not_null(allocatorDesc, "allocatorDesc", "aclrtAllocatorSetObjToDesc#01")?;
        arg::not_null(allocator, "allocator", "aclrtAllocatorSetObjToDesc#02")?;
        allocator::set(rt, arg::handle(allocatorDesc), |to| to.object = allocator as usize)
    })
}

/// Sets the function that allocates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorSetAllocFuncToDesc(
    allocatorDesc: aclrtAllocatorDesc,
    func: aclrtAllocatorAllocFunc,
) -> aclError {
    call(Api::aclrtAllocatorSetAllocFuncToDesc, |rt| {
        arg::not_null(allocatorDesc, "allocatorDesc", "aclrtAllocatorSetAllocFuncToDesc#01")?;
        let func = arg::function(func, "func", "aclrtAllocatorSetAllocFuncToDesc#02")?;
        allocator::set(rt, arg::handle(allocatorDesc), |to| to.alloc = Some(func))
    })
}

/// Sets the function that frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorSetFreeFuncToDesc(
    allocatorDesc: aclrtAllocatorDesc,
    func: aclrtAllocatorFreeFunc,
) -> aclError {
    call(Api::aclrtAllocatorSetFreeFuncToDesc, |rt| {
        arg::not_null(allocatorDesc, "allocatorDesc", "aclrtAllocatorSetFreeFuncToDesc#01")?;
        let func = arg::function(func, "func", "aclrtAllocatorSetFreeFuncToDesc#02")?;
        allocator::set(rt, arg::handle(allocatorDesc), |to| to.free = Some(func))
    })
}

/// Sets the function that allocates at an address if it can.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorSetAllocAdviseFuncToDesc(
    allocatorDesc: aclrtAllocatorDesc,
    func: aclrtAllocatorAllocAdviseFunc,
) -> aclError {
    call(Api::aclrtAllocatorSetAllocAdviseFuncToDesc, |rt| {
        arg::not_null(allocatorDesc, "allocatorDesc", "aclrtAllocatorSetAllocAdviseFuncToDesc#01")?;
        let func = arg::function(func, "func", "aclrtAllocatorSetAllocAdviseFuncToDesc#02")?;
        allocator::set(rt, arg::handle(allocatorDesc), |to| to.alloc_advise = Some(func))
    })
}

/// Sets the function that tells the address of a block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
    allocatorDesc: aclrtAllocatorDesc,
    func: aclrtAllocatorGetAddrFromBlockFunc,
) -> aclError {
    call(Api::aclrtAllocatorSetGetAddrFromBlockFuncToDesc, |rt| {
        arg::not_null(allocatorDesc, "allocatorDesc", "aclrtAllocatorSetGetAddrFromBlockFuncToDesc#01")?;
        let func = arg::function(func, "func", "aclrtAllocatorSetGetAddrFromBlockFuncToDesc#02")?;
        allocator::set(rt, arg::handle(allocatorDesc), |to| to.address_of = Some(func))
    })
}

/// Registers what a descriptor describes for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorRegister(
    stream: aclrtStream,
    allocatorDesc: aclrtAllocatorDesc,
) -> aclError {
    call(Api::aclrtAllocatorRegister, |rt| {
        arg::not_null(stream, "stream", "aclrtAllocatorRegister#01")?;
        arg::not_null(allocatorDesc, "allocatorDesc", "aclrtAllocatorRegister#02")?;
        allocator::register(rt, arg::handle(stream), arg::handle(allocatorDesc))
    })
}

/// Answers what is registered for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorGetByStream(
    stream: aclrtStream,
    allocatorDesc: *mut aclrtAllocatorDesc,
    allocator: *mut aclrtAllocator,
    allocFunc: *mut aclrtAllocatorAllocFunc,
    freeFunc: *mut aclrtAllocatorFreeFunc,
    allocAdviseFunc: *mut aclrtAllocatorAllocAdviseFunc,
    getAddrFromBlockFunc: *mut aclrtAllocatorGetAddrFromBlockFunc,
) -> aclError {
    call(Api::aclrtAllocatorGetByStream, |rt| {
        let out = arg::out(allocatorDesc, "allocatorDesc", "aclrtAllocatorGetByStream#01")?;
        arg::not_null(stream, "stream", "aclrtAllocatorGetByStream#02")?;
        let found = allocator::get_by_stream(rt, arg::handle(stream))?;
        let registered = found.allocator;
        out.set(arg::from_handle(found.descriptor))?;
        // aclrtAllocatorGetByStream#04
        set(allocator, "allocator", registered.object as aclrtAllocator)?;
        set(allocFunc, "allocFunc", registered.alloc)?;
        set(freeFunc, "freeFunc", registered.free)?;
        set(allocAdviseFunc, "allocAdviseFunc", registered.alloc_advise)?;
        set(getAddrFromBlockFunc, "getAddrFromBlockFunc", registered.address_of)
    })
}

/// Writes an output that the program may leave out.
fn set<T: Copy>(pointer: *mut T, name: &'static str, value: T) -> toprope_runtime::Result<()> {
    arg::out_opt(pointer, name).map_or(Ok(()), |out| out.set(value))
}

/// Forgets what is registered for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtAllocatorUnregister(stream: aclrtStream) -> aclError {
    call(Api::aclrtAllocatorUnregister, |rt| {
        arg::not_null(stream, "stream", "aclrtAllocatorUnregister#01")?;
        allocator::unregister(rt, arg::handle(stream));
        Ok(())
    })
}
