//! Launches.

use std::ffi::c_void;

use ascendcl_sys::*;
use toprope_runtime::call::call;
use toprope_runtime::kernel::config::{self, Config, Rules};
use toprope_runtime::kernel::launch::{self, Given, PlaceHolder, Target};
use toprope_runtime::{Api, Result, refuse};

use crate::arg;

/// A configuration; null is the default one.
fn config(cfg: *const aclrtLaunchKernelCfg, rules: &'static Rules) -> Result<Config> {
    let mut config = Config::default();
    if cfg.is_null() {
        return Ok(config);
    }
    let cfg = arg::input(cfg, "cfg", rules.null)?;
    arg::not_null_rt(cfg.attrs, "cfg.attrs", rules.null)?;
    for [id, words @ ..] in arg::inputs(cfg.attrs.cast::<[u32; 5]>(), cfg.numAttrs, "cfg.attrs", rules.null)?
    {
        config.attribute(rules, id, words)?;
    }
    Ok(config)
}

fn target(func: *mut c_void, blocks: u32, stream: aclrtStream) -> Target {
    Target { func: arg::handle(func), blocks, stream: arg::handle(stream) }
}

/// numBlocks, where the ACL layer looks at it.
fn some_blocks(blocks: u32, rule: &'static str) -> Result<()> {
    if blocks > 0 {
        return Ok(());
    }
    refuse!(ACL_ERROR_INVALID_PARAM, rule, "numBlocks: must be greater than 0")
}

/// Launches a kernel with arguments in device memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchKernel(
    funcHandle: aclrtFuncHandle,
    numBlocks: u32,
    argsData: *const c_void,
    argsSize: usize,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtLaunchKernel, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtLaunchKernel#01")?;
        arg::not_null(argsData, "argsData", "aclrtLaunchKernel#02")?;
        let given = Given { at: argsData as usize, bytes: argsSize };
        launch::launch_kernel(rt, target(funcHandle, numBlocks, stream), given)
    })
}

/// Launches a kernel with arguments in device memory and a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchKernelV2(
    funcHandle: aclrtFuncHandle,
    numBlocks: u32,
    argsData: *const c_void,
    argsSize: usize,
    cfg: *mut aclrtLaunchKernelCfg,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtLaunchKernelV2, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtLaunchKernelV2#01")?;
        arg::not_null(argsData, "argsData", "aclrtLaunchKernelV2#02")?;
        let given = Given { at: argsData as usize, bytes: argsSize };
        let target = target(funcHandle, numBlocks, stream);
        launch::launch_kernel_v2(rt, target, given, &|| config(cfg, &config::V2))
    })
}

/// Launches a kernel with an argument list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchKernelWithConfig(
    funcHandle: aclrtFuncHandle,
    numBlocks: u32,
    stream: aclrtStream,
    cfg: *mut aclrtLaunchKernelCfg,
    argsHandle: aclrtArgsHandle,
    reserve: *mut c_void,
) -> aclError {
    call(Api::aclrtLaunchKernelWithConfig, |rt| {
        // aclrtLaunchKernelWithConfig#05 gives the order.
        arg::not_null(funcHandle, "funcHandle", "aclrtLaunchKernelWithConfig#01")?;
        some_blocks(numBlocks, "aclrtLaunchKernelWithConfig#02")?;
        arg::not_null(argsHandle, "argsHandle", "aclrtLaunchKernelWithConfig#03")?;
        if !reserve.is_null() {
            return refuse!(
                ACL_ERROR_INVALID_PARAM,
                "aclrtLaunchKernelWithConfig#04",
                "reserve: {reserve:p}; must be null"
            );
        }
        let target = target(funcHandle, numBlocks, stream);
        let config = || config(cfg, &config::WITH_CONFIG);
        launch::launch_kernel_with_config(rt, target, &config, arg::handle(argsHandle))
    })
}

/// Launches a kernel with arguments in host memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchKernelWithHostArgs(
    funcHandle: aclrtFuncHandle,
    numBlocks: u32,
    stream: aclrtStream,
    cfg: *mut aclrtLaunchKernelCfg,
    hostArgs: *mut c_void,
    argsSize: usize,
    placeHolderArray: *mut aclrtPlaceHolderInfo,
    placeHolderNum: usize,
) -> aclError {
    call(Api::aclrtLaunchKernelWithHostArgs, |rt| {
        arg::not_null(funcHandle, "funcHandle", "aclrtLaunchKernelWithHostArgs#01")?;
        arg::not_null(hostArgs, "hostArgs", "aclrtLaunchKernelWithHostArgs#02")?;
        const RULE: &str = "aclrtLaunchKernelWithHostArgs#05";
        let holders = || {
            if placeHolderNum > 0 {
                arg::not_null_rt(placeHolderArray, "placeHolderArray", RULE)?;
            }
            let given = arg::inputs(placeHolderArray, placeHolderNum, "placeHolderArray", RULE)?;
            let holder =
                |info: aclrtPlaceHolderInfo| PlaceHolder { address: info.addrOffset, data: info.dataOffset };
            Ok(given.into_iter().map(holder).collect())
        };
        let given = Given { at: hostArgs as usize, bytes: argsSize };
        let target = target(funcHandle, numBlocks, stream);
        let config = || config(cfg, &config::WITH_HOST_ARGS);
        launch::launch_kernel_with_host_args(rt, target, &config, given, &holders)
    })
}

/// Launches a kernel with an array of its arguments' addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchKernelWithArgsArray(
    func: *mut c_void,
    numBlocks: u32,
    stream: aclrtStream,
    cfg: *mut aclrtLaunchKernelCfg,
    args: *mut *mut c_void,
) -> aclError {
    call(Api::aclrtLaunchKernelWithArgsArray, |rt| {
        arg::not_null(func, "func", "aclrtLaunchKernelWithArgsArray#01")?;
        some_blocks(numBlocks, "aclrtLaunchKernelWithArgsArray#02")?;
        let target = target(func, numBlocks, stream);
        let config = || config(cfg, &config::WITH_ARGS_ARRAY);
        launch::launch_kernel_with_args_array(rt, target, &config, args as usize)
    })
}
