//! `cargo xtask san`: to come.
use std::process::ExitCode;

/// Not there yet.
pub fn run(_args: &[String]) -> Result<ExitCode, String> {
    Err("not built yet".to_owned())
}
