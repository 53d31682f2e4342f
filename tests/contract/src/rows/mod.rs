//! The proofs, one file per chapter, named as the runtime's rooms.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "tests: pointers of their own, or numbers that nobody dereferences"
)]

use crate::row::Rows;

mod all;
mod context;
mod device;
mod device_info;
mod symbol;
mod system;

/// Every chapter's.
pub fn all() -> Rows {
    let mut rows = Rows::default();
    all::rows(&mut rows);
    context::rows(&mut rows);
    device::rows(&mut rows);
    device_info::rows(&mut rows);
    symbol::rows(&mut rows);
    system::rows(&mut rows);
    rows
}

/// What every chapter needs.
mod prelude {
    pub use std::ffi::c_void;
    pub use std::ptr::{null, null_mut};

    pub use ascendcl_sys::*;

    pub use crate::kit::*;
    pub use crate::row::{Rows, Test};
}
