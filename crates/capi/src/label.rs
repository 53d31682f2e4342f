//! Chapter 10: labels.

use std::ffi::c_void;

use ascendcl_sys::{aclError, aclrtLabel, aclrtLabelList, aclrtStream};
use toprope_runtime::call::call;
use toprope_runtime::{Api, label};

use crate::arg;

/// Makes a label.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateLabel(label: *mut aclrtLabel) -> aclError {
    call(Api::aclrtCreateLabel, |rt| {
        let out = arg::out(label, "label", "aclrtCreateLabel#01")?;
        out.probe()?;
        out.set(arg::from_handle(label::create(rt)?))
    })
}

/// Puts a label at the end of a stream of a model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetLabel(label: aclrtLabel, stream: aclrtStream) -> aclError {
    call(Api::aclrtSetLabel, |rt| {
        arg::not_null(label, "label", "aclrtSetLabel#01")?;
        // aclrtSetLabel#09
        arg::not_null(stream, "stream", "aclrtSetLabel#02")?;
        label::set(rt, arg::handle(label), arg::handle(stream))
    })
}

/// Ends a label.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyLabel(label: aclrtLabel) -> aclError {
    call(Api::aclrtDestroyLabel, |rt| {
        arg::not_null(label, "label", "aclrtDestroyLabel#01")?;
        label::destroy(rt, arg::handle(label))
    })
}

/// Makes a list of labels to choose from.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateLabelList(
    labels: *mut aclrtLabel,
    num: usize,
    labelList: *mut aclrtLabelList,
) -> aclError {
    call(Api::aclrtCreateLabelList, |rt| {
        arg::not_null(labels, "labels", "aclrtCreateLabelList#01")?;
        let out = arg::out(labelList, "labelList", "aclrtCreateLabelList#02")?;
        label::list_length(num)?;
        let labels = arg::inputs(labels.cast::<u64>(), num, "labels", "aclrtCreateLabelList#01")?;
        out.probe()?;
        out.set(arg::from_handle(label::create_list(rt, &labels)?))
    })
}

/// Ends a list of labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDestroyLabelList(labelList: aclrtLabelList) -> aclError {
    call(Api::aclrtDestroyLabelList, |rt| {
        arg::not_null(labelList, "labelList", "aclrtDestroyLabelList#01")?;
        label::destroy_list(rt, arg::handle(labelList))
    })
}

/// Lets a stream of a model go on at the label that a number in device memory chooses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSwitchLabelByIndex(
    ptr: *mut c_void,
    maxValue: u32,
    labelList: aclrtLabelList,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtSwitchLabelByIndex, |rt| {
        arg::not_null(ptr, "ptr", "aclrtSwitchLabelByIndex#01")?;
        arg::not_null(labelList, "labelList", "aclrtSwitchLabelByIndex#02")?;
        // aclrtSwitchLabelByIndex#11
        arg::not_null(stream, "stream", "aclrtSwitchLabelByIndex#03")?;
        label::switch_by_index(rt, ptr as usize, maxValue, arg::handle(labelList), arg::handle(stream))
    })
}
