//! How rows call C functions.

/// Calls a C function: `acl!(aclrtMalloc(&mut pointer, 64, 0))`.
macro_rules! acl {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        #[allow(unused_unsafe, reason = "arguments may hold unsafe code of their own")]
        #[allow(clippy::undocumented_unsafe_blocks, reason = "calls of a test")]
        unsafe { ($crate::kit::api().$name)($($arg),*) }
    }};
}

/// Calls a C function that must succeed.
macro_rules! ok {
    ($name:ident($($arg:expr),* $(,)?)) => {
        $crate::kit::same(stringify!($name), acl!($name($($arg),*)), 0)
    };
}

/// Calls a C function that must answer a code: `code!(ACL_ERROR_INVALID_PARAM, aclrtFree(null_mut()))`.
macro_rules! code {
    ($code:expr, $name:ident($($arg:expr),* $(,)?)) => {
        $crate::kit::same(stringify!($name), acl!($name($($arg),*)), $code)
    };
}

/// Calls a C function whose last parameter is an out-parameter, which must succeed; the value.
macro_rules! get {
    ($start:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        let mut value = $start;
        ok!($name($($arg,)* &mut value));
        value
    }};
}
