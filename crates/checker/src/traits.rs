//! What the checker wants to know of a function by its name, looked up once and not at each call.

use std::sync::LazyLock;

use toprope_runtime::Api;
use toprope_runtime::generated::api::{COUNT, FUNCTIONS};

/// Copies bytes.
pub const COPY: u8 = 1;
/// Fills bytes.
pub const FILL: u8 = 2;
/// Is asynchronous by its name.
pub const ASYNC: u8 = 4;
/// Adds tasks that may write memory which its caller does not name.
pub const UNSEEN: u8 = 8;

static TRAITS: LazyLock<[u8; COUNT]> = LazyLock::new(|| {
    let mut all = [0; COUNT];
    for (traits, function) in all.iter_mut().zip(FUNCTIONS) {
        let name = function.name;
        let unseen = ["LaunchKernel", "KernelLaunch", "mdlRIExecute"].iter().any(|part| name.contains(part));
        for (holds, one) in [
            (name.contains("Memcpy"), COPY),
            (name.contains("Memset"), FILL),
            (name.contains("Async"), ASYNC),
            (unseen, UNSEEN),
        ] {
            *traits |= if holds { one } else { 0 };
        }
    }
    all
});

/// What the function is: [`COPY`], [`FILL`], [`ASYNC`], [`UNSEEN`].
#[inline]
pub fn of(api: Api) -> u8 {
    TRAITS.get(api as usize).copied().unwrap_or(0)
}

/// Whether the function is one of these.
#[inline]
pub fn is(api: Api, any: u8) -> bool {
    of(api) & any != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_functions_do() {
        assert_eq!(of(Api::aclrtMemcpy), COPY);
        assert_eq!(of(Api::aclrtMemcpyAsync), COPY | ASYNC);
        assert_eq!(of(Api::aclrtMemsetAsync), FILL | ASYNC);
        assert!(is(Api::aclrtLaunchKernel, UNSEEN) && !is(Api::aclrtLaunchHostFunc, UNSEEN));
        assert_eq!(of(Api::aclrtMalloc), 0);
    }
}
