//! `cargo xtask loom` and `cargo xtask miri`: the engine under the two checkers of Rust.

use super::process::{answers, cargo, pass_through, root, target_dir};
use std::process::ExitCode;

/// Runs the models of the engine under loom, in a target folder of their own (the flag changes every crate).
/// Further arguments go to the test program; LOOM_MAX_PREEMPTIONS is 2 unless set.
pub fn loom(args: &[String]) -> Result<ExitCode, String> {
    let mut command = cargo();
    command.current_dir(root()).args([
        "test",
        "--locked",
        "--package",
        "toprope-engine",
        "--release",
        "--lib",
    ]);
    command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target_dir().join("loom"));
    // Fat LTO would cost minutes and find nothing.
    command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    command.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    if std::env::var_os("LOOM_MAX_PREEMPTIONS").is_none() {
        command.env("LOOM_MAX_PREEMPTIONS", "2");
    }
    command.arg("--").args(args);
    Ok(if pass_through(&mut command)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the tests of the engine under Miri. Exit code 2 when Miri is not installed.
pub fn miri(args: &[String]) -> Result<ExitCode, String> {
    if !answers("cargo", &["+nightly", "miri", "--version"]) {
        return Err("not run: Miri is not installed (rustup +nightly component add miri rust-src)".to_owned());
    }
    // Not through $CARGO, which is the fixed cargo of this task: `+nightly` is understood by rustup's proxy only.
    let mut command = std::process::Command::new("cargo");
    command.current_dir(root()).env_remove("RUSTUP_TOOLCHAIN");
    command.args(["+nightly", "miri", "test", "--locked", "--package", "toprope-engine", "--lib"]).args(args);
    command.env("CARGO_TARGET_DIR", target_dir().join("miri"));
    Ok(if pass_through(&mut command)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
