//! Chapter 02: start and end of use.

use std::ffi::{c_char, c_void};

use ascendcl_sys::*;
use toprope_runtime::call::call;
use toprope_runtime::{Api, init};

use crate::arg;

/// Starts the use of the library, with the settings of a JSON file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclInit(configPath: *const c_char) -> aclError {
    call(Api::aclInit, |rt| {
        let path = arg::text(configPath, "configPath", "aclInit#05")?;
        init::init(rt, path.as_deref())
    })
}

/// Ends the use of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclFinalize() -> aclError {
    call(Api::aclFinalize, init::finalize)
}

/// Takes back one aclInit; the last one ends the use of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclFinalizeReference(refCount: *mut u64) -> aclError {
    call(Api::aclFinalizeReference, |rt| {
        // #01
        let out = arg::out_opt(refCount, "refCount");
        if let Some(out) = &out {
            out.probe()?;
        }
        let (left, outcome) = init::finalize_reference(rt);
        // #03, #05: also beside an error.
        if let Some(out) = &out {
            out.set(left)?;
        }
        outcome
    })
}

/// Registers a function that runs in aclInit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclInitCallbackRegister(
    r#type: aclRegisterCallbackType,
    cbFunc: aclInitCallbackFunc,
    userData: *mut c_void,
) -> aclError {
    call(Api::aclInitCallbackRegister, |rt| {
        let func = arg::function(cbFunc, "cbFunc", "aclInitCallbackRegister#01")?;
        init::register_init(rt, r#type, func, userData as usize)
    })
}

/// Forgets such a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclInitCallbackUnRegister(
    r#type: aclRegisterCallbackType,
    cbFunc: aclInitCallbackFunc,
) -> aclError {
    call(Api::aclInitCallbackUnRegister, |rt| {
        let func = arg::function(cbFunc, "cbFunc", "aclInitCallbackUnRegister#01")?;
        init::unregister_init(rt, r#type, func)
    })
}

/// Registers a function that runs in aclFinalize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclFinalizeCallbackRegister(
    r#type: aclRegisterCallbackType,
    cbFunc: aclFinalizeCallbackFunc,
    userData: *mut c_void,
) -> aclError {
    call(Api::aclFinalizeCallbackRegister, |rt| {
        let func = arg::function(cbFunc, "cbFunc", "aclFinalizeCallbackRegister#01")?;
        init::register_finalize(rt, r#type, func, userData as usize)
    })
}

/// Forgets such a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclFinalizeCallbackUnRegister(
    r#type: aclRegisterCallbackType,
    cbFunc: aclFinalizeCallbackFunc,
) -> aclError {
    call(Api::aclFinalizeCallbackUnRegister, |rt| {
        let func = arg::function(cbFunc, "cbFunc", "aclFinalizeCallbackUnRegister#01")?;
        init::unregister_finalize(rt, r#type, func)
    })
}
