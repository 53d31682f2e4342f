//! Chapters 08 and 09: notifies and counting notifies within a process.

use ascendcl_sys::{
    aclError, aclrtCntNotify, aclrtCntNotifyRecordInfo, aclrtCntNotifyWaitInfo, aclrtNotify, aclrtStream,
};
use toprope_runtime::Api;
use toprope_runtime::call::call;
use toprope_runtime::notify::{self, count};

use crate::arg;

/// Makes a notify on the device of the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateNotify(notify: *mut aclrtNotify, flag: u64) -> aclError {
    call(Api::aclrtCreateNotify, |rt| {
        let out = arg::out(notify, "notify", "aclrtCreateNotify#01")?;
        out.probe()?;
        out.set(arg::from_handle(notify::create(rt, flag)?))
    })
}

/// Ends a notify.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyNotify(notify: aclrtNotify) -> aclError {
    call(Api::aclrtDestroyNotify, |rt| {
        arg::not_null(notify, "notify", "aclrtDestroyNotify#01")?;
        notify::destroy(rt, arg::handle(notify))
    })
}

/// Sets a notify once the stream gets there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtRecordNotify(notify: aclrtNotify, stream: aclrtStream) -> aclError {
    call(Api::aclrtRecordNotify, |rt| {
        arg::not_null(notify, "notify", "aclrtRecordNotify#01")?;
        notify::record(rt, arg::handle(notify), arg::handle(stream))
    })
}

/// Lets later tasks of the stream wait until a notify is set, and takes it back then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtWaitAndResetNotify(
    notify: aclrtNotify,
    stream: aclrtStream,
    timeout: u32,
) -> aclError {
    call(Api::aclrtWaitAndResetNotify, |rt| {
        arg::not_null(notify, "notify", "aclrtWaitAndResetNotify#01")?;
        notify::wait_and_reset(rt, arg::handle(notify), arg::handle(stream), timeout)
    })
}

/// Answers the notify's number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetNotifyId(notify: aclrtNotify, notifyId: *mut u32) -> aclError {
    call(Api::aclrtGetNotifyId, |rt| {
        arg::not_null(notify, "notify", "aclrtGetNotifyId#01")?;
        let out = arg::out(notifyId, "notifyId", "aclrtGetNotifyId#02")?;
        out.set(notify::get_id(rt, arg::handle(notify))?)
    })
}

/// Takes several notifies back at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtNotifyBatchReset(notifies: *mut aclrtNotify, num: usize) -> aclError {
    call(Api::aclrtNotifyBatchReset, |rt| {
        arg::not_null(notifies, "notifies", "aclrtNotifyBatchReset#01")?;
        let notifies = arg::inputs(notifies.cast::<u64>(), num, "notifies", "aclrtNotifyBatchReset#01")?;
        notify::batch_reset(rt, &notifies)
    })
}

/// Makes a counting notify.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCntNotifyCreate(cntNotify: *mut aclrtCntNotify, flag: u64) -> aclError {
    call(Api::aclrtCntNotifyCreate, |rt| {
        let out = arg::out_rt(cntNotify, "cntNotify", "aclrtCntNotifyCreate#01")?;
        out.probe()?;
        out.set(arg::from_handle(count::create(rt, flag)?))
    })
}

/// Ends a counting notify.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCntNotifyDestroy(cntNotify: aclrtCntNotify) -> aclError {
    call(Api::aclrtCntNotifyDestroy, |rt| {
        arg::not_null_rt(cntNotify, "cntNotify", "aclrtCntNotifyDestroy#01")?;
        count::destroy(rt, arg::handle(cntNotify))
    })
}

/// Changes a count once the stream gets there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCntNotifyRecord(
    cntNotify: aclrtCntNotify,
    stream: aclrtStream,
    info: *mut aclrtCntNotifyRecordInfo,
) -> aclError {
    call(Api::aclrtCntNotifyRecord, |rt| {
        let info = arg::input(info, "info", "aclrtCntNotifyRecord#01")?;
        arg::not_null_rt(cntNotify, "cntNotify", "aclrtCntNotifyRecord#02")?;
        count::record(rt, arg::handle(cntNotify), arg::handle(stream), info)
    })
}

/// Lets later tasks of the stream wait for a count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCntNotifyWaitWithTimeout(
    cntNotify: aclrtCntNotify,
    stream: aclrtStream,
    info: *mut aclrtCntNotifyWaitInfo,
) -> aclError {
    call(Api::aclrtCntNotifyWaitWithTimeout, |rt| {
        let info = arg::input(info, "info", "aclrtCntNotifyWaitWithTimeout#01")?;
        arg::not_null_rt(cntNotify, "cntNotify", "aclrtCntNotifyWaitWithTimeout#02")?;
        count::wait_with_timeout(rt, arg::handle(cntNotify), arg::handle(stream), info)
    })
}

/// Sets a count to 0 once the stream gets there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCntNotifyReset(cntNotify: aclrtCntNotify, stream: aclrtStream) -> aclError {
    call(Api::aclrtCntNotifyReset, |rt| {
        arg::not_null_rt(cntNotify, "cntNotify", "aclrtCntNotifyReset#01")?;
        count::reset(rt, arg::handle(cntNotify), arg::handle(stream))
    })
}

/// Answers the counting notify's number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCntNotifyGetId(cntNotify: aclrtCntNotify, notifyId: *mut u32) -> aclError {
    call(Api::aclrtCntNotifyGetId, |rt| {
        arg::not_null_rt(cntNotify, "cntNotify", "aclrtCntNotifyGetId#01")?;
        let out = arg::out_rt(notifyId, "notifyId", "aclrtCntNotifyGetId#01")?;
        out.set(count::get_id(rt, arg::handle(cntNotify))?)
    })
}
