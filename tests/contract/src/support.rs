//! `*#06`: what a product does not have. Each function of the tables is called with zeros on each product without it.

use std::ffi::{CStr, c_void};

use ascendcl_sys as sys;

use crate::kit::{self, api};
use crate::row::Test;
use crate::spec::Spec;
use crate::symbols::SYMBOLS;

/// Enough for every function; those that do not fit into registers are read from zeros on the stack.
type Zeros = unsafe extern "C" fn(
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
    *const c_void,
) -> u64;

/// Calls a function that the product does not have; Some: what is wrong with the answer.
pub fn refused(spec: &Spec, name: &str) -> Option<String> {
    let Some((_, symbol)) = SYMBOLS.iter().find(|(symbol, _)| *symbol == name) else {
        return Some(format!("{name} is not exported"));
    };
    // SAFETY: the calling conventions of 64-bit Linux pass a caller's surplus arguments without harm, and a function that
    // the product does not have reads none: the gate answers.
    let answer = unsafe {
        let call = std::mem::transmute::<unsafe extern "C" fn(), Zeros>(*symbol);
        let null = std::ptr::null();
        call(null, null, null, null, null, null, null, null, null, null, null, null)
    };
    let returns = spec.functions.get(name).map_or("", |function| function.returns.as_str());
    let wanted = sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    if returns == "aclError" && answer as i32 != wanted {
        return Some(format!("{name} answers {} instead of {}", kit::name(answer as i32), kit::name(wanted)));
    }
    if returns.contains('*') && answer != 0 {
        return Some(format!("{name} returns a pointer, {answer:#x}"));
    }
    // The gate notes the code also where the function cannot return it.
    // SAFETY: no pointers.
    let last = unsafe { (api().aclrtGetLastError)(sys::ACL_RT_THREAD_LEVEL) };
    (last != wanted)
        .then(|| format!("{name}: the last error is {} instead of {}", kit::name(last), kit::name(wanted)))
}

/// Every function at once.
pub fn sweep(test: &Test<'_>) {
    let mut wrong = Vec::new();
    let mut refusals = 0;
    for name in test.spec.functions.keys().filter(|name| !test.supports(name)) {
        wrong.extend(refused(test.spec, name));
        refusals += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refusals > 0, "every product lacks some function");
    if !test.supports("aclGetRecentErrMsg") {
        return;
    }
    // SAFETY: no arguments; the text lives until the next call.
    let text = unsafe { (api().aclGetRecentErrMsg)() };
    assert!(!text.is_null(), "no message");
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    let why = format!("is not supported on {}", test.target.product.key);
    assert!(text.contains(&why), "no message says why: {text}");
}
