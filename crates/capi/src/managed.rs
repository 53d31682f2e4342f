//! Chapter 11-05: managed memory.

use std::ffi::c_void;

use ascendcl_sys::{
    aclError, aclrtMemManagedAdviseType, aclrtMemManagedLocation, aclrtMemManagedRangeAttribute, aclrtStream,
};
use toprope_runtime::call::call;
use toprope_runtime::{Api, managed};

use crate::arg;

/// Allocates memory that host and devices share.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemAllocManaged(ptr: *mut *mut c_void, size: u64, flag: u32) -> aclError {
    call(Api::aclrtMemAllocManaged, |rt| {
        let out = arg::out(ptr, "ptr", "aclrtMemAllocManaged#01")?;
        out.probe()?;
        out.set(managed::alloc(rt, size, flag)? as *mut c_void)
    })
}

/// Says how managed pages will be used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemManagedAdvise(
    ptr: *const c_void,
    size: u64,
    advise: aclrtMemManagedAdviseType,
    location: aclrtMemManagedLocation,
) -> aclError {
    call(Api::aclrtMemManagedAdvise, |rt| {
        arg::not_null(ptr, "ptr", "aclrtMemManagedAdvise#01")?;
        managed::advise(rt, ptr as usize, size, advise, location)
    })
}

/// Answers one attribute of managed pages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemManagedGetAttr(
    attribute: aclrtMemManagedRangeAttribute,
    ptr: *const c_void,
    size: usize,
    data: *mut c_void,
    dataSize: usize,
) -> aclError {
    call(Api::aclrtMemManagedGetAttr, |rt| {
        arg::not_null(ptr, "ptr", "aclrtMemManagedGetAttr#01")?;
        arg::not_null(data, "data", "aclrtMemManagedGetAttr#02")?;
        managed::get_attr(rt, (attribute, data as usize, dataSize), ptr as usize, size as u64)
    })
}

/// Answers several attributes of managed pages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemManagedGetAttrs(
    attributes: *mut aclrtMemManagedRangeAttribute,
    numAttributes: usize,
    ptr: *const c_void,
    size: usize,
    data: *mut *mut c_void,
    dataSizes: *mut usize,
) -> aclError {
    call(Api::aclrtMemManagedGetAttrs, |rt| {
        let [no_ptr, no_attributes, no_data, no_sizes] = [
            "aclrtMemManagedGetAttrs#01",
            "aclrtMemManagedGetAttrs#02",
            "aclrtMemManagedGetAttrs#03",
            "aclrtMemManagedGetAttrs#04",
        ];
        arg::not_null(ptr, "ptr", no_ptr)?;
        arg::not_null(attributes, "attributes", no_attributes)?;
        arg::not_null(data, "data", no_data)?;
        arg::not_null(dataSizes, "dataSizes", no_sizes)?;
        let attributes = arg::inputs(attributes, numAttributes, "attributes", no_attributes)?;
        let data = arg::inputs(data.cast::<usize>(), numAttributes, "data", no_data)?;
        let sizes = arg::inputs(dataSizes, numAttributes, "dataSizes", no_sizes)?;
        let questions: Vec<managed::Question> = attributes
            .into_iter()
            .zip(data)
            .zip(sizes)
            .map(|((attribute, data), size)| (attribute, data, size))
            .collect();
        managed::get_attrs(rt, &questions, ptr as usize, size as u64)
    })
}

/// Moves managed pages ahead of their use, in the stream's order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemManagedPrefetchAsync(
    ptr: *const c_void,
    size: usize,
    location: aclrtMemManagedLocation,
    flags: u32,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemManagedPrefetchAsync, |rt| {
        arg::not_null(ptr, "ptr", "aclrtMemManagedPrefetchAsync#01")?;
        managed::prefetch_async(rt, ptr as usize, size as u64, location, flags, arg::handle(stream))
    })
}

/// Moves several ranges of managed pages ahead of their use, in the stream's order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemManagedPrefetchBatchAsync(
    ptrs: *mut *const c_void,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut aclrtMemManagedLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: u64,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemManagedPrefetchBatchAsync, |rt| {
        let [no_ptrs, no_sizes, no_locations, no_indexes] = [
            "aclrtMemManagedPrefetchBatchAsync#01",
            "aclrtMemManagedPrefetchBatchAsync#02",
            "aclrtMemManagedPrefetchBatchAsync#03",
            "aclrtMemManagedPrefetchBatchAsync#04",
        ];
        arg::not_null(ptrs, "ptrs", no_ptrs)?;
        arg::not_null(sizes, "sizes", no_sizes)?;
        arg::not_null(prefetchLocs, "prefetchLocs", no_locations)?;
        arg::not_null(prefetchLocIdxs, "prefetchLocIdxs", no_indexes)?;
        managed::batch_counts(count, numPrefetchLocs, flags)?;
        let ptrs = arg::inputs(ptrs.cast::<usize>(), count, "ptrs", no_ptrs)?;
        let sizes = arg::inputs(sizes, count, "sizes", no_sizes)?;
        let locations = arg::inputs(prefetchLocs, numPrefetchLocs, "prefetchLocs", no_locations)?;
        let indexes = arg::inputs(prefetchLocIdxs, numPrefetchLocs, "prefetchLocIdxs", no_indexes)?;
        let ranges: Vec<_> = ptrs.into_iter().zip(sizes.into_iter().map(|size| size as u64)).collect();
        let locations: Vec<_> = locations.into_iter().zip(indexes).collect();
        managed::prefetch_batch_async(rt, &ranges, &locations, arg::handle(stream))
    })
}
