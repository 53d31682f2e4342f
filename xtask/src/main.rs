//! `cargo xtask …`: generates code from spec/, checks the ABI and runs every test suite.
mod generate;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND
  gen [--check]   write the generated files from spec/ (--check: fail when a committed one is stale)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["gen"] => generate::write(),
        ["gen", "--check"] => generate::check(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
