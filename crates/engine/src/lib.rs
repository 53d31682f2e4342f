//! Mechanism of a software Ascend runtime: streams and their workers ([`queue`]), memory ([`memory`]), device
//! binaries ([`image`]), faults ([`fault`]) and calls into the program ([`foreign`]). This crate knows no ACL code and no
//! product; `toprope-runtime` holds the rules and checks every argument before it calls in here.

#[cfg(not(loom))]
pub mod fault;
#[cfg(not(loom))]
pub mod foreign;
#[cfg(not(loom))]
pub mod image;
#[cfg(not(loom))]
pub mod memory;
// Under loom only the models use it.
#[cfg_attr(loom, allow(dead_code))]
pub mod queue;
pub mod sync;
#[cfg(not(loom))]
pub mod thread;
