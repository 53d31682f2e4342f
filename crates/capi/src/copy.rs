//! Chapter 11-03: copies and fills. Each call's checks, the null pointers included, stand in their documented order in
//! `toprope_runtime::copy`.

use std::ffi::c_void;

use ascendcl_sys::{aclError, aclrtMemcpyBatchAttr, aclrtMemcpyKind, aclrtStream};
use toprope_runtime::call::call;
use toprope_runtime::copy::batch::Arrays;
use toprope_runtime::copy::descriptor::Offset;
use toprope_runtime::copy::pitched::Rect;
use toprope_runtime::{Api, Result, copy};

use crate::arg;

/// Copies at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpy(
    dst: *mut c_void,
    destMax: usize,
    src: *const c_void,
    count: usize,
    kind: aclrtMemcpyKind,
) -> aclError {
    call(Api::aclrtMemcpy, |rt| copy::memcpy(rt, dst as usize, destMax, src as usize, count, kind))
}

/// Adds a copy to a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyAsync(
    dst: *mut c_void,
    destMax: usize,
    src: *const c_void,
    count: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpyAsync, |rt| {
        copy::memcpy_async(rt, dst as usize, destMax, src as usize, count, kind, arg::handle(stream))
    })
}

/// Adds a copy to a stream, or copies at once when the host memory is pageable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyAsyncWithCondition(
    dst: *mut c_void,
    destMax: usize,
    src: *const c_void,
    count: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpyAsyncWithCondition, |rt| {
        copy::memcpy_async_with_condition(
            rt,
            dst as usize,
            destMax,
            src as usize,
            count,
            kind,
            arg::handle(stream),
        )
    })
}

/// Copies rows at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpy2d(
    dst: *mut c_void,
    dpitch: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: aclrtMemcpyKind,
) -> aclError {
    call(Api::aclrtMemcpy2d, |rt| {
        copy::memcpy_2d(
            rt,
            &Rect { dst: dst as usize, dpitch, src: src as usize, spitch, width, height, kind },
        )
    })
}

/// Adds a copy of rows to a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpy2dAsync(
    dst: *mut c_void,
    dpitch: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpy2dAsync, |rt| {
        let rect = Rect { dst: dst as usize, dpitch, src: src as usize, spitch, width, height, kind };
        copy::memcpy_2d_async(rt, &rect, arg::handle(stream))
    })
}

/// Runs a batch and writes the failing entry's index, SIZE_MAX if there is none.
fn batch(arrays: &Arrays, run: impl FnOnce(&mut usize) -> Result<()>) -> Result<()> {
    let out = arg::out_opt(arrays.fail_index.unwrap_or(0) as *mut usize, "failIndex");
    if let Some(out) = &out {
        out.set(usize::MAX)?;
    }
    let mut fail = usize::MAX;
    let result = run(&mut fail);
    if let (Some(out), Err(_)) = (&out, &result) {
        out.set(fail)?;
    }
    result
}

/// Copies many ranges at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyBatch(
    dsts: *mut *mut c_void,
    destMaxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    numBatches: usize,
    attrs: *mut aclrtMemcpyBatchAttr,
    attrsIndexes: *mut usize,
    numAttrs: usize,
    failIndex: *mut usize,
) -> aclError {
    call(Api::aclrtMemcpyBatch, |rt| {
        let arrays = Arrays {
            dsts: dsts as usize,
            dest_maxs: destMaxs as usize,
            srcs: srcs as usize,
            sizes: sizes as usize,
            num_batches: numBatches,
            attrs: attrs as usize,
            attrs_indexes: attrsIndexes as usize,
            num_attrs: numAttrs,
            fail_index: Some(failIndex as usize),
        };
        batch(&arrays, |fail| copy::memcpy_batch(rt, &arrays, fail))
    })
}

/// As aclrtMemcpyBatch, without the index of the failing entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyBatchV2(
    dsts: *mut *mut c_void,
    destMaxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    numBatches: usize,
    attrs: *mut aclrtMemcpyBatchAttr,
    attrsIndexes: *mut usize,
    numAttrs: usize,
) -> aclError {
    call(Api::aclrtMemcpyBatchV2, |rt| {
        let arrays = Arrays {
            dsts: dsts as usize,
            dest_maxs: destMaxs as usize,
            srcs: srcs as usize,
            sizes: sizes as usize,
            num_batches: numBatches,
            attrs: attrs as usize,
            attrs_indexes: attrsIndexes as usize,
            num_attrs: numAttrs,
            fail_index: None,
        };
        batch(&arrays, |fail| copy::memcpy_batch(rt, &arrays, fail))
    })
}

/// Adds copies of many ranges to a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyBatchAsync(
    dsts: *mut *mut c_void,
    destMaxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    numBatches: usize,
    attrs: *mut aclrtMemcpyBatchAttr,
    attrsIndexes: *mut usize,
    numAttrs: usize,
    failIndex: *mut usize,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpyBatchAsync, |rt| {
        let arrays = Arrays {
            dsts: dsts as usize,
            dest_maxs: destMaxs as usize,
            srcs: srcs as usize,
            sizes: sizes as usize,
            num_batches: numBatches,
            attrs: attrs as usize,
            attrs_indexes: attrsIndexes as usize,
            num_attrs: numAttrs,
            fail_index: Some(failIndex as usize),
        };
        batch(&arrays, |fail| copy::memcpy_batch_async(rt, &arrays, arg::handle(stream), fail))
    })
}

/// As aclrtMemcpyBatchAsync, without the index of the failing entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyBatchAsyncV2(
    dsts: *mut *mut c_void,
    destMaxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    numBatches: usize,
    attrs: *mut aclrtMemcpyBatchAttr,
    attrsIndexes: *mut usize,
    numAttrs: usize,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpyBatchAsyncV2, |rt| {
        let arrays = Arrays {
            dsts: dsts as usize,
            dest_maxs: destMaxs as usize,
            srcs: srcs as usize,
            sizes: sizes as usize,
            num_batches: numBatches,
            attrs: attrs as usize,
            attrs_indexes: attrsIndexes as usize,
            num_attrs: numAttrs,
            fail_index: None,
        };
        batch(&arrays, |fail| copy::memcpy_batch_async(rt, &arrays, arg::handle(stream), fail))
    })
}

/// Answers how large a copy descriptor is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetMemcpyDescSize(kind: aclrtMemcpyKind, descSize: *mut usize) -> aclError {
    call(Api::aclrtGetMemcpyDescSize, |rt| {
        let out = arg::out(descSize, "descSize", "aclrtGetMemcpyDescSize#01")?;
        out.set(copy::get_memcpy_desc_size(rt, kind)?)
    })
}

/// Fills in a copy descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetMemcpyDesc(
    desc: *mut c_void,
    kind: aclrtMemcpyKind,
    srcAddr: *mut c_void,
    dstAddr: *mut c_void,
    count: usize,
    config: *mut c_void,
) -> aclError {
    call(Api::aclrtSetMemcpyDesc, |rt| {
        copy::set_memcpy_desc(
            rt,
            desc as usize,
            kind,
            srcAddr as usize,
            dstAddr as usize,
            count,
            config as usize,
        )
    })
}

/// Adds the copy that a descriptor describes to a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyAsyncWithDesc(
    desc: *mut c_void,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpyAsyncWithDesc, |rt| {
        copy::memcpy_async_with_desc(rt, desc as usize, kind, arg::handle(stream))
    })
}

/// Adds a copy between addresses that stand in memory to a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyAsyncWithOffset(
    dst: *mut *mut c_void,
    destMax: usize,
    dstDataOffset: usize,
    src: *mut *const c_void,
    count: usize,
    srcDataOffset: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemcpyAsyncWithOffset, |rt| {
        let ask = Offset {
            dst: dst as usize,
            dest_max: destMax,
            dst_data_offset: dstDataOffset,
            src: src as usize,
            count,
            src_data_offset: srcDataOffset,
            kind,
        };
        copy::memcpy_async_with_offset(rt, &ask, arg::handle(stream))
    })
}

/// Sets bytes at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemset(
    devPtr: *mut c_void,
    maxCount: usize,
    value: i32,
    count: usize,
) -> aclError {
    call(Api::aclrtMemset, |rt| copy::memset(rt, devPtr as usize, maxCount, value, count))
}

/// Adds a fill to a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemsetAsync(
    devPtr: *mut c_void,
    maxCount: usize,
    value: i32,
    count: usize,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemsetAsync, |rt| {
        copy::memset_async(rt, devPtr as usize, maxCount, value, count, arg::handle(stream))
    })
}

/// Sets 32-bit words at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemsetD32(ptr: *mut c_void, memSize: usize, value: u32, N: usize) -> aclError {
    call(Api::aclrtMemsetD32, |rt| copy::memset_d32(rt, ptr as usize, memSize, value, N))
}

/// Adds a fill of 32-bit words to a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemsetD32Async(
    ptr: *mut c_void,
    memSize: usize,
    value: u32,
    N: usize,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtMemsetD32Async, |rt| {
        copy::memset_d32_async(rt, ptr as usize, memSize, value, N, arg::handle(stream))
    })
}
