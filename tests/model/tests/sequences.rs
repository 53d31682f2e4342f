//! A short run of random sequences: always the same ones, and those that failed once (regressions.txt). `model --runs N`
//! runs others, in child processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::mpsc::channel;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};
use toprope_model::op::STEP;
use toprope_model::{Failure, Fault, Stats, linked, run};

/// Runs a sequence on a thread of its own, so that one that hangs fails the test.
fn watched(bytes: Vec<u8>) -> Result<Stats, Failure> {
    let (answer, result) = channel();
    std::thread::spawn(move || answer.send(run(linked(), &bytes, Fault::None)));
    result.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| {
        let what = "the sequence hangs; with MODEL_TRACE=1 each call is printed before it is made".to_owned();
        Err(Failure { calls: Vec::new(), what })
    })
}

proptest! {
    #![proptest_config(Config {
        cases: 1500,
        max_shrink_time: 30_000,
        max_shrink_iters: 4096,
        rng_seed: RngSeed::Fixed(0x0ac1_0001),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("regressions.txt"))),
        ..Config::default()
    })]

    #[test]
    fn every_call_is_as_the_model_says(
        choice: u8,
        steps in prop::collection::vec(any::<[u8; STEP]>(), 1..60),
    ) {
        let mut bytes = vec![choice];
        bytes.extend(steps.into_iter().flatten());
        if let Err(failure) = watched(bytes) {
            prop_assert!(false, "\n{failure}");
        }
    }
}

/// The sequences do what they are there for: most calls succeed, many are refused, host functions run, bytes are compared.
#[test]
fn sequences_are_worth_running() {
    let mut all = Stats::default();
    for seed in 0..100 {
        all += watched(toprope_model::random(seed, 60)).unwrap_or_else(|failure| panic!("{failure}"));
    }
    assert!(all.calls > 3000 && all.refused > 500 && all.refused < all.calls / 2, "{all:?}");
    assert!(all.functions > 50 && all.bytes > 100_000, "{all:?}");
}
