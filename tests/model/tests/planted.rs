//! Mistakes that are made on purpose are found, and soon: the proof that the comparison can fail.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use toprope_model::{Fault, linked, random, run};

/// Sequences that may pass before the fault shows; each takes about a millisecond.
const SOON: u64 = 2000;

fn found(fault: Fault) -> String {
    for seed in 1..=SOON {
        // The same sequence without the fault is fine.
        run(linked(), &random(seed, 60), Fault::None).unwrap_or_else(|failure| panic!("{failure}"));
        if let Err(failure) = run(linked(), &random(seed, 60), fault) {
            return failure.to_string();
        }
    }
    panic!("{fault:?} was not found in {SOON} sequences");
}

#[test]
fn a_wait_that_is_left_out() {
    let report = found(Fault::DropWait);
    // In the order of functions, or in what memory holds.
    assert!(report.contains("aclrtStreamWaitEvent("), "{report}");
}

#[test]
fn tasks_in_the_wrong_order() {
    let report = found(Fault::SwapTasks);
    assert!(report.contains("Async("), "{report}");
}

#[test]
fn a_synchronize_that_does_not_wait() {
    let report = found(Fault::DropSync);
    assert!(report.contains("aclrtSynchronizeStream("), "{report}");
}

#[test]
fn names_of_faults() {
    for (name, fault) in
        [("drop-wait", Fault::DropWait), ("swap-tasks", Fault::SwapTasks), ("none", Fault::None)]
    {
        assert_eq!(Fault::named(name), Some(fault));
    }
    assert_eq!(Fault::named("other"), None);
}
