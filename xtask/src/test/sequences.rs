//! `cargo xtask fuzz`: random call sequences on the C ABI (tests/sequences), and the short run of them that is part of
//! the tests.

use super::process::{root, target_dir};
use super::program::{Build, C, Wanted};
use super::report::Job;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Calls per run within `cargo xtask test`: about a second.
const RUNS_IN_TEST: u64 = 20_000;

/// The short run, with a fixed seed.
pub fn job(build: &Arc<Build>) -> Job {
    let build = Arc::clone(build);
    let work = move || run(&build, RUNS_IN_TEST, 1);
    Job { name: "sequences/random calls".to_owned(), work: Box::new(work) }
}

/// Runs the task: `--runs N` calls (100000 unless given) from `--seed N`, against the release library.
pub fn fuzz(args: &[String]) -> Result<ExitCode, String> {
    let (mut runs, mut seed) = (100_000, 1);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next().and_then(|value| value.parse::<u64>().ok());
        let value = value.ok_or_else(|| format!("{arg} needs a number (--runs N, --seed N)"))?;
        match arg.as_str() {
            "--runs" => runs = value,
            "--seed" => seed = value,
            other => return Err(format!("unknown option {other} (--runs N, --seed N)")),
        }
    }
    let library = target_dir().join("release");
    if !library.join("libascendcl.so").is_file() {
        return Err("the library is not built: cargo build --release".to_owned());
    }
    let out = target_dir().join("conformance");
    let build = Build { root: root(), library, out, flags: Vec::new(), env: Vec::new() };
    match run(&build, runs, seed) {
        Ok(()) => {
            println!("{runs} random calls from seed {seed}: no finding");
            Ok(ExitCode::SUCCESS)
        }
        Err(finding) => {
            println!("{finding}");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// So many calls from a seed; what was found, if anything.
pub fn run(build: &Build, runs: u64, seed: u64) -> Result<(), String> {
    let source: PathBuf = build.root.join("tests/sequences/sequences.c");
    let program = build.out.join("sequences").join(format!("sequences-{runs}-{seed}"));
    build.compile(&source, C[0], Some(&program))?;
    let mut wanted = Wanted::parse("")?;
    wanted.runs = vec![vec![
        ("SEQUENCES_RUNS".to_owned(), runs.to_string()),
        ("SEQUENCES_SEED".to_owned(), seed.to_string()),
    ]];
    // Far more than needed; it only ends a hang.
    wanted.limit = std::time::Duration::from_secs(60 + runs / 1000);
    build.run(&program, &wanted, Some("ok"))
}
