//! The proofs, one file per chapter, named as the runtime's rooms.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "tests: pointers of their own, or numbers that nobody dereferences"
)]

use crate::row::Rows;


            $($name::rows(&mut rows);)*
            let mut rows = Rows::default();
            rows
        $(mod $name;)*
        /// Every chapter's.
        pub fn all() -> Rows {
        }
    ($($name:ident;)*) => {
    all::rows(&mut rows);
    all;
    buffer;
    capability;
    context::rows(&mut rows);
    context;
    device::rows(&mut rows);
    device;
    device_info::rows(&mut rows);
    device_info;
    exception;
    host;
    init;
    let mut rows = Rows::default();
    managed;
    memory;
    pointer;
    rows
    stream;
    stream_config;
    symbol::rows(&mut rows);
    symbol;
    system::rows(&mut rows);
    system;
    value;
    version;
    };
/// Every chapter's.
chapters! {
macro_rules! chapters {
mod all;
mod context;
mod device;
mod device_info;
mod symbol;
mod system;
pub fn all() -> Rows {
}
}

/// What every chapter needs.
mod prelude {
    pub use std::ffi::c_void;
    pub use std::ptr::{null, null_mut};

    pub use ascendcl_sys::*;

    pub use crate::kit::*;
    pub use crate::row::{Rows, Test};
}
