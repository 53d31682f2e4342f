//! One test per target, for runners of Rust tests; `cargo run -p toprope-contract` prints the table over all of them.

#![allow(clippy::unwrap_used)]

use std::process::Command;

fn run(target: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_contract")).args(["--target", target]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}

macro_rules! targets {
    ($($name:ident $target:literal;)*) => {
        $(#[test]
        fn $name() {
            run($target);
        })*

        /// The list above is that of spec/products.csv.
        #[test]
        fn no_target_is_left_out() {
            let output = Command::new(env!("CARGO_BIN_EXE_contract")).args(["--target", "none"]).output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            let (_, valid) = text.trim().split_once("valid: ").unwrap();
            assert_eq!(valid.split(", ").collect::<Vec<_>>(), [$($target),*]);
        }
    };
}

targets! {
    p950pr_ep_9 "950pr-ep-9";
    p950dt_ep_9 "950dt-ep-9";
    a3_ep_9 "a3-ep-9";
    a2_ep_9 "a2-ep-9";
    a2_ep_8 "a2-ep-8";
    p200i_500_a2_ep_9 "200i-500-a2-ep-9";
    p200i_500_a2_rc_9 "200i-500-a2-rc-9";
    p200i_500_a2_ep_8 "200i-500-a2-ep-8";
    p200i_500_a2_rc_8 "200i-500-a2-rc-8";
    inference_ep_9 "inference-ep-9";
    inference_ep_8 "inference-ep-8";
    inference_ep_5 "inference-ep-5";
    training_ep_9 "training-ep-9";
    training_ep_8 "training-ep-8";
    training_ep_5 "training-ep-5";
    p200_300_500_ep_8 "200-300-500-ep-8";
    p200_300_500_rc_8 "200-300-500-rc-8";
    p200_300_500_ep_5 "200-300-500-ep-5";
    p200_300_500_rc_5 "200-300-500-rc-5";
    ipv350_ep_9 "ipv350-ep-9";
}
