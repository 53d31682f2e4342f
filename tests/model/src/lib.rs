//! Random call sequences on the C ABI, compared with a small reference model.
//!
//! bytes → [`op`] (what to try) → [`plan`] (a call with its arguments, chosen from what exists) → [`judge`] (what it must
//! answer) → [`driver`] (makes it) → compare → [`commit`] (what is different now).
//!
//! The model applies a task to memory when it is added, not when it runs. That is right because no sequence races: before a
//! call whose task would touch the same bytes as an unordered one, another call is made that orders them (an event, or a
//! wait of the host), [`model::Model::prerequisite`]. Vector clocks say what is ordered.

pub mod call;
pub mod clock;
pub mod commit;
pub mod driver;
pub mod host;
pub mod judge;
pub mod memory;
pub mod model;
pub mod op;
pub mod plan;
pub mod run;
pub mod table;
pub mod verdict;

use std::sync::OnceLock;

pub use driver::Fault;
pub use run::{Failure, Stats, random, run};

pub use table::Functions;

/// The environment that the model knows: two devices of the default product with 256 MiB each.
pub fn set_environment() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        for (name, value) in [("TOPROPE_DEVICES", "2"), ("TOPROPE_DEVICE_MEMORY", "256M")] {
            // SAFETY: before the runtime's first call, which is the only reader; test threads of this process come through here.
            unsafe { std::env::set_var(name, value) };
        }
        for name in ["TOPROPE_PRODUCT", "TOPROPE_FORM", "TOPROPE_CANN", "ASCEND_RT_VISIBLE_DEVICES"] {
            // SAFETY: as above.
            unsafe { std::env::remove_var(name) };
        }
    });
}

/// The functions of the runtime that is linked in, in the right environment.
pub fn linked() -> &'static Functions {
    static TABLE: OnceLock<Functions> = OnceLock::new();
    set_environment();
    TABLE.get_or_init(table::linked)
}
