//! Chapters 11-01 and 11-02: allocation of device and host memory.

use std::ffi::{c_char, c_void};

use ascendcl_sys as sys;
use ascendcl_sys::{aclError, aclrtMallocConfig, aclrtMemAttr, aclrtMemMallocPolicy, aclrtMemUsageInfo};
use toprope_runtime::call::call;
use toprope_runtime::{Api, Result, memory, refuse};

use crate::arg;

/// Runs an allocation and hands its address out.
fn hand_out(
    pointer: *mut *mut c_void,
    name: &'static str,
    rule: &'static str,
    allocate: impl FnOnce() -> Result<usize>,
) -> Result<()> {
    let out = arg::out(pointer, name, rule)?;
    out.probe()?;
    out.set(allocate()? as *mut c_void)
}

/// The attributes of a configuration; a null one has none (aclrtMallocWithCfg#07).
fn config(cfg: *mut aclrtMallocConfig, rule: &'static str) -> Result<Vec<(u32, u32)>> {
    if cfg.is_null() {
        return Ok(Vec::new());
    }
    let cfg = arg::input(cfg, "cfg", rule)?;
    let attrs = arg::inputs(cfg.attrs, cfg.numAttrs, "cfg.attrs", rule)?;
    // SAFETY: every member of the union is plain bytes, all of them copied from the program.
    Ok(attrs.iter().map(|attr| (attr.attr, unsafe { attr.value.deviceId })).collect())
}

/// Allocates device memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMalloc(
    devPtr: *mut *mut c_void,
    size: usize,
    policy: aclrtMemMallocPolicy,
) -> aclError {
    call(Api::aclrtMalloc, |rt| {
        hand_out(devPtr, "devPtr", "aclrtMalloc#01", || memory::malloc(rt, size, policy))
    })
}

/// Allocates device memory without the padding behind it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocAlign32(
    devPtr: *mut *mut c_void,
    size: usize,
    policy: aclrtMemMallocPolicy,
) -> aclError {
    call(Api::aclrtMallocAlign32, |rt| {
        hand_out(devPtr, "devPtr", "aclrtMallocAlign32#01", || memory::malloc_align32(rt, size, policy))
    })
}

/// Allocates cached device memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocCached(
    devPtr: *mut *mut c_void,
    size: usize,
    policy: aclrtMemMallocPolicy,
) -> aclError {
    call(Api::aclrtMallocCached, |rt| {
        hand_out(devPtr, "devPtr", "aclrtMallocCached#01", || memory::malloc_cached(rt, size, policy))
    })
}

/// Allocates device memory with attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocWithCfg(
    devPtr: *mut *mut c_void,
    size: usize,
    policy: aclrtMemMallocPolicy,
    cfg: *mut aclrtMallocConfig,
) -> aclError {
    call(Api::aclrtMallocWithCfg, |rt| {
        hand_out(devPtr, "devPtr", "aclrtMallocWithCfg#01", || {
            memory::malloc_with_cfg(rt, size, policy, &config(cfg, "aclrtMallocWithCfg#08")?)
        })
    })
}

/// Allocates device memory that the task scheduler can reach.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocForTaskScheduler(
    devPtr: *mut *mut c_void,
    size: usize,
    policy: aclrtMemMallocPolicy,
    cfg: *mut aclrtMallocConfig,
) -> aclError {
    call(Api::aclrtMallocForTaskScheduler, |rt| {
        hand_out(devPtr, "devPtr", "aclrtMallocForTaskScheduler#01", || {
            let cfg = config(cfg, "aclrtMallocForTaskScheduler#08")?;
            memory::malloc_for_task_scheduler(rt, size, policy, &cfg)
        })
    })
}

/// Frees device memory, waiting for nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFree(devPtr: *mut c_void) -> aclError {
    call(Api::aclrtFree, |rt| {
        arg::not_null(devPtr, "devPtr", "aclrtFree#01")?;
        memory::free(rt, devPtr as usize)
    })
}

/// Frees device memory after the device's streams are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFreeWithDevSync(devPtr: *mut c_void) -> aclError {
    call(Api::aclrtFreeWithDevSync, |rt| {
        arg::not_null(devPtr, "devPtr", "aclrtFreeWithDevSync#01")?;
        memory::free_with_dev_sync(rt, devPtr as usize)
    })
}

/// Allocates pinned host memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocHost(hostPtr: *mut *mut c_void, size: usize) -> aclError {
    call(Api::aclrtMallocHost, |rt| {
        hand_out(hostPtr, "hostPtr", "aclrtMallocHost#01", || memory::malloc_host(rt, size))
    })
}

/// Allocates pinned host memory with attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocHostWithCfg(
    ptr: *mut *mut c_void,
    size: u64,
    cfg: *mut aclrtMallocConfig,
) -> aclError {
    call(Api::aclrtMallocHostWithCfg, |rt| {
        hand_out(ptr, "ptr", "aclrtMallocHostWithCfg#01", || {
            memory::malloc_host_with_cfg(rt, size as usize, &config(cfg, "ours: as aclrtMallocWithCfg#08")?)
        })
    })
}

/// Frees pinned host memory, waiting for nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFreeHost(hostPtr: *mut c_void) -> aclError {
    call(Api::aclrtFreeHost, |rt| {
        arg::not_null(hostPtr, "hostPtr", "aclrtFreeHost#01")?;
        memory::free_host(rt, hostPtr as usize)
    })
}

/// Frees pinned host memory after all streams are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFreeHostWithDevSync(hostPtr: *mut c_void) -> aclError {
    call(Api::aclrtFreeHostWithDevSync, |rt| {
        arg::not_null(hostPtr, "hostPtr", "aclrtFreeHostWithDevSync#01")?;
        memory::free_host_with_dev_sync(rt, hostPtr as usize)
    })
}

/// Writes caches back: nothing to do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemFlush(devPtr: *mut c_void, size: usize) -> aclError {
    call(Api::aclrtMemFlush, |rt| {
        arg::not_null(devPtr, "devPtr", "aclrtMemFlush#01")?;
        memory::flush(rt, devPtr as usize, size)
    })
}

/// Drops caches: nothing to do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemInvalidate(devPtr: *mut c_void, size: usize) -> aclError {
    call(Api::aclrtMemInvalidate, |rt| {
        arg::not_null(devPtr, "devPtr", "aclrtMemInvalidate#01")?;
        memory::invalidate(rt, devPtr as usize, size)
    })
}

/// Answers free and total memory of the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetMemInfo(
    attr: aclrtMemAttr,
    free: *mut usize,
    total: *mut usize,
) -> aclError {
    call(Api::aclrtGetMemInfo, |rt| {
        let free_out = arg::out(free, "free", "aclrtGetMemInfo#01")?;
        let total_out = arg::out(total, "total", "aclrtGetMemInfo#02")?;
        let (free, total) = memory::info(rt, attr)?;
        free_out.set(free)?;
        total_out.set(total)
    })
}

/// Answers a device's memory use by module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetMemUsageInfo(
    deviceId: i32,
    memUsageInfo: *mut aclrtMemUsageInfo,
    inputNum: usize,
    outputNum: *mut usize,
) -> aclError {
    call(Api::aclrtGetMemUsageInfo, |rt| {
        arg::not_null(memUsageInfo, "memUsageInfo", "aclrtGetMemUsageInfo#01")?;
        let number = arg::out(outputNum, "outputNum", "aclrtGetMemUsageInfo#02")?;
        let modules = memory::usage_info(rt, deviceId, inputNum)?;
        for (at, module) in modules.iter().enumerate() {
            let mut name = [0 as c_char; 32];
            for (to, from) in name.iter_mut().zip(memory::module_name(module.id).bytes().take(31)) {
                *to = from as c_char;
            }
            let entry = aclrtMemUsageInfo {
                name,
                curMemSize: module.now,
                memPeakSize: module.peak,
                reserved: [0; 8],
            };
            arg::out(memUsageInfo.wrapping_add(at), "memUsageInfo", "aclrtGetMemUsageInfo#01")?.set(entry)?;
        }
        number.set(modules.len())
    })
}

/// Answers whether all addresses are memory of the given types.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCheckMemType(
    addrList: *mut *mut c_void,
    size: u32,
    memType: u32,
    checkResult: *mut u32,
    reserve: u32,
) -> aclError {
    call(Api::aclrtCheckMemType, |rt| {
        arg::not_null(addrList, "addrList", "aclrtCheckMemType#01")?;
        let out = arg::out(checkResult, "checkResult", "aclrtCheckMemType#02")?;
        // aclrtCheckMemType#08
        out.set(0)?;
        let addrs =
            match arg::inputs(addrList.cast::<usize>(), size as usize, "addrList", "aclrtCheckMemType#01") {
                Ok(addrs) => addrs,
                Err(_) => {
                    return refuse!(
                        sys::ACL_ERROR_RT_PARAM_INVALID,
                        "ours: memory that is not there",
                        "addrList: {size} entries at {addrList:p} cannot be read, or are too many"
                    );
                }
            };
        out.set(memory::check_type(rt, &addrs, memType, reserve)?.into())
    })
}
