//! bytes → calls → comparison with the model. `cargo +nightly fuzz run sequences -- -runs=100000 -max_len=1024`
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use toprope_model::{Fault, linked, run};

/// A fault to plant, to see that it is found: `MODEL_FAULT=drop-wait` and so on.
fn fault() -> Fault {
    static FAULT: OnceLock<Fault> = OnceLock::new();
    *FAULT.get_or_init(|| {
        let name = std::env::var("MODEL_FAULT").unwrap_or_default();
        Fault::named(&name).unwrap_or_default()
    })
}

fuzz_target!(|bytes: &[u8]| {
    if let Err(failure) = run(linked(), bytes, fault()) {
        panic!("\n{failure}");
    }
});
