//! The proofs, one file per chapter, named as the runtime's rooms.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "tests: pointers of their own, or numbers that nobody dereferences"
)]

use crate::row::Rows;

mod all;
mod buffer;
mod capability;
mod context;
mod managed;
mod memory;
mod pointer;
mod stream_config;
mod symbol;
mod system;
mod value;
mod version;

/// Every chapter's.
pub fn all() -> Rows {
    let mut rows = Rows::default();
    for chapter in [
        all::rows,
        buffer::rows,
        capability::rows,
        context::rows,
        managed::rows,
        memory::rows,
        pointer::rows,
        stream_config::rows,
        symbol::rows,
        system::rows,
        value::rows,
        version::rows,
    ] {
        chapter(&mut rows);
    }
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
