//! `cargo xtask TASK`: generates code from spec/, checks the ABI and runs every test suite.
//! Each task is one module with `run(&[String]) -> Result<ExitCode, String>`; this file only picks it.

mod abi;
mod generate;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask TASK [OPTIONS]
  gen    write the generated files from spec/    (--check: fail when one is stale)
  abi    compare library, headers and spec       (LIBRARY: not the one that cargo builds)";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let outcome = match task.as_str() {
        "gen" => generate::run(&rest),
        "abi" => abi::run(&rest),
        "" | "help" | "--help" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        other => Err(format!("no such task: {other}\n{USAGE}")),
    };
    match outcome {
        Ok(code) => code,
        Err(message) => {
            eprintln!("xtask {task}: {message}");
            ExitCode::from(2)
        }
    }
}
