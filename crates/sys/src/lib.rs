//! `ascendcl-sys`: the AscendCL runtime API for Rust, as it is in C.
//!
//! - [`types`]: `repr(C)` structures, handles and callbacks; enums are integers, since C may pass any value;
//! - [`consts`] and [`errors`]: enumerators, macros and return codes;
//! - [`Table`]: every C function of the headers as a pointer, filled from a `libascendcl.so` that is found at run time
//!   ([`Table::load`]), so that one program runs on this project's runtime and on a vendor's.
//!
//! Everything is generated from the tables under `spec/`; only the loader is written by hand. Layouts are those of
//! 64-bit Linux. Nothing here is linked against a library.

/// Function name under which a language module tells, through `aclAppLog`, that nothing keeps host memory alive any more whose
/// address it gave out; the message is `SIZE bytes at ADDRESS`, with ` for the next call` behind it if the thread's next call got its
/// arguments before. A runtime of another maker only logs it.
pub const ABANDONED: &core::ffi::CStr = c"owner gone";

#[allow(non_camel_case_types, non_snake_case, reason = "C names are kept as they are")]
mod generated;
mod load;

pub use generated::consts::*;
pub use generated::errors::*;
pub use generated::functions::{NAMES, Table};
pub use generated::types::*;
pub use generated::{consts, enums, errors, types};
pub use load::{LIBRARY, LoadError};
