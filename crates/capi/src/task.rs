//! Chapter 12: built-in tasks.

use std::ffi::c_void;

use ascendcl_sys::{
    self as sys, aclDataType, aclError, aclrtRandomNumTaskInfo, aclrtRandomParaInfo, aclrtReduceKind,
    aclrtStream,
};
use toprope_runtime::call::call;
use toprope_runtime::task::random::{Ask, Field};
use toprope_runtime::{Api, refuse, task};

use crate::arg;

/// Combines the elements of two ranges of device memory into the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtReduceAsync(
    dst: *mut c_void,
    src: *const c_void,
    count: u64,
    kind: aclrtReduceKind,
    r#type: aclDataType,
    stream: aclrtStream,
    reserve: *mut c_void,
) -> aclError {
    call(Api::aclrtReduceAsync, |rt| {
        arg::not_null(dst, "dst", "aclrtReduceAsync#01")?;
        arg::not_null(src, "src", "aclrtReduceAsync#02")?;
        if !reserve.is_null() {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                "aclrtReduceAsync#03",
                "reserve: {reserve:p} was given, it must be null"
            );
        }
        task::reduce_async(rt, dst as usize, src as usize, count, kind, r#type, arg::handle(stream))
    })
}

/// Fills device memory with random numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtRandomNumAsync(
    taskInfo: *const aclrtRandomNumTaskInfo,
    stream: aclrtStream,
    reserve: *mut c_void,
) -> aclError {
    call(Api::aclrtRandomNumAsync, |rt| {
        let info = arg::input(taskInfo, "taskInfo", "aclrtRandomNumAsync#01")?;
        let func = info.randomNumFuncParaInfo;
        // SAFETY: all members of the union are one or two plain structs of bytes; this is the larger kind.
        let params = unsafe { func.paramInfo.uniformDisInfo };
        let ask = Ask {
            data_type: info.dataType,
            func_type: func.funcType,
            params: [field(params.min), field(params.max)],
            param_addr: info.randomParaAddr as usize,
            result_addr: info.randomResultAddr as usize,
            counter_addr: info.randomCounterAddr as usize,
            seed: field(info.randomSeed),
            num: field(info.randomNum),
        };
        task::random_num_async(rt, &ask, reserve as usize, arg::handle(stream))
    })
}

fn field(info: aclrtRandomParaInfo) -> Field {
    Field { is_addr: info.isAddr != 0, bytes: info.valueOrAddr, size: info.size }
}
