//! The proofs, one file per chapter, named as the runtime's rooms.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "tests: pointers of their own, or numbers that nobody dereferences"
)]

use crate::row::Rows;

macro_rules! chapters {
    ($($name:ident;)*) => {
        $(mod $name;)*

        /// Every chapter's.
        pub fn all() -> Rows {
            let mut rows = Rows::default();
            $($name::rows(&mut rows);)*
            rows
        }
    };
}

chapters! {
    all;
    allocator;
    buffer;
    callback;
    capability;
    context;
    copy;
    device;
    device_info;
    event;
    event_query;
    exception;
    general;
    host;
    init;
    kernel;
    label;
    managed;
    memory;
    notify;
    overloads;
    pointer;
    policy;
    stream;
    stream_config;
    symbol;
    system;
    task;
    timeout;
    value;
    version;
}

/// What every chapter needs.
mod prelude {
    pub use std::ffi::c_void;
    pub use std::ptr::{null, null_mut};

    pub use ascendcl_sys::*;

    pub use crate::kit::*;
    pub use crate::row::{Rows, Test};
}
