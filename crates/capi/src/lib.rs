//! `libascendcl.so`: raw arguments in, code out. [`arg`] turns pointers into checked values; one file per chapter of the
//! documentation, named as in `toprope-runtime`, holds the exports; functions that are not built yet stand in
//! [`generated`].
#![allow(non_snake_case, clippy::missing_safety_doc)]

pub mod allocator;
mod arg;
pub mod buffer;
pub mod callback;
pub mod capability;
mod check;
pub mod context;
pub mod copy;
pub mod device;
pub mod event;
pub mod exception;
mod generated;
pub mod host;
pub mod init;
pub mod kernel;
pub mod label;
pub mod log;
pub mod managed;
pub mod memory;
pub mod notify;
pub mod pointer;
pub mod register;
pub mod stream;
pub mod symbol;
pub mod system;
pub mod task;
pub mod timeout;
pub mod value;
pub mod version;
