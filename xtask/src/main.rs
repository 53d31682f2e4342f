//! `cargo xtask TASK`: generates code from spec/, checks the ABI and runs every test suite.
//! Each task is one module with `run(&[String]) -> Result<ExitCode, String>`; this file only picks it.

mod abi;
mod bench;
mod callgrind;
mod generate;
mod growth;
mod python;
mod san;
mod soak;
mod test;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask TASK [OPTIONS]
  test   build everything and run every test   (--dev, --filter NAME, --list)
  gen    write the generated files from spec/  (--check: fail when a committed one is stale)
  abi    compare library, headers and spec     (LIBRARY: not the one that cargo builds)
  python build the module acl                   (--release, --wheel: into target/wheels)
  san    the C and C++ tests under sanitizers  (--filter NAME, --only address|thread)
  loom   the engine's models under loom
  miri   the engine's tests under Miri
  fuzz   random call sequences on the C ABI    (--runs N, --seed N)
  soak   the long random runs                  (--seconds N of each, --seed N)
  bench  measure, interleaved with peers       (bench --help)
         what the checker costs: bench check   ([--rounds N])
  growth what calls cost as work grows         ([SECTIONS] [--rounds N])
  callgrind  count instructions per call       (--write: the new baseline)";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let outcome = match task.as_str() {
        "test" => test::run(&rest),
        "gen" => generate::run(&rest),
        "abi" => abi::run(&rest),
        "python" => python::run(&rest),
        "san" => san::run(&rest),
        "loom" => test::engine::loom(&rest),
        "miri" => test::engine::miri(&rest),
        "fuzz" => test::sequences::fuzz(&rest),
        "soak" => soak::run(&rest),
        "bench" => bench::run(&rest),
        "growth" => growth::run(&rest),
        "callgrind" => callgrind::run(&rest),
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
