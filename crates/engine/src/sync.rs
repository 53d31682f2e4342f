//! The only file that names `std::sync`, `parking_lot` or `loom`: everything else imports from here.

/// The real primitives under every configuration, loom's too: for signal handlers, statics and tables that no loom
/// model steps through.
pub mod plain {
    pub use parking_lot::Mutex;
    pub use std::sync::OnceLock;
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}
