//! `cargo xtask soak`: the long random runs, on the dev build, whose arithmetic and assertions are checked. In turn, each for
//! `--seconds N` (60 unless given): the engine's stress tests, call sequences beside the model (`tests/model`), and wild
//! calls on the C ABI (`tests/sequences`). A part that fails does not stop the others.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::test::process::{cargo, pass_through, root, target_dir};
use crate::test::program::Build;
use crate::test::sequences;

/// How long each part runs, and from which seed.
struct Options {
    seconds: u64,
    seed: u64,
}

impl Options {
    fn parse(args: &[String], now: u64) -> Result<Options, String> {
        let mut options = Options { seconds: 60, seed: now };
        for pair in args.chunks(2) {
            let value = pair.get(1).and_then(|value| value.parse().ok());
            match (pair.first().map(String::as_str), value) {
                (Some("--seconds"), Some(value)) => options.seconds = value,
                (Some("--seed"), Some(value)) => options.seed = value,
                _ => return Err(format!("{}: --seconds N, --seed N", pair.join(" "))),
            }
        }
        Ok(options)
    }
}

/// Runs the task. Exit code 1 when a part found something.
pub fn run(args: &[String]) -> Result<ExitCode, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_secs());
    let options = Options::parse(args, now)?;
    let (seconds, seed) = (options.seconds.to_string(), options.seed.to_string());
    println!("three parts of {seconds} s, seed {seed}");
    // Four tests, one after the other.
    let each = (options.seconds / 4).max(1).to_string();
    let engine = part("engine", |command| {
        command.args([
            "test",
            "--locked",
            "--package",
            "toprope-engine",
            "--test",
            "queue_stress",
            "--",
            "--test-threads=1",
        ]);
        command.env("TOPROPE_STRESS_SECONDS", &each).env("TOPROPE_STRESS_SEED", &seed);
    })?;
    let model = part("model", |command| {
        command.args(["run", "--locked", "--package", "toprope-model", "--bin", "model", "--"]);
        command.args(["--runs", &u64::MAX.to_string(), "--seconds", &seconds, "--seed", &seed]);
    })?;
    let wild = wild(&options)?;
    Ok(if engine && model && wild { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a part that cargo builds and starts; whether it found nothing.
fn part(name: &str, arguments: impl FnOnce(&mut Command)) -> Result<bool, String> {
    println!("\n{name}");
    let mut command = cargo();
    arguments(command.current_dir(root()));
    pass_through(&mut command)
}

/// Wild calls, so many at a time, each time from the next seed.
fn wild(options: &Options) -> Result<bool, String> {
    const CALLS: u64 = 200_000;
    println!("\nsequences");
    let mut command = cargo();
    command.current_dir(root()).args(["build", "--locked", "--package", "ascendcl"]);
    if !pass_through(&mut command)? {
        return Err("the library does not build".to_owned());
    }
    let (library, out) = (target_dir().join("debug"), target_dir().join("conformance"));
    let build = Build { root: root(), library, out, flags: Vec::new(), env: Vec::new() };
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut seed = options.seed;
    while Instant::now() < end {
        if let Err(finding) = sequences::run(&build, CALLS, seed) {
            println!("seed {seed}, {CALLS} calls: {finding}");
            return Ok(false);
        }
        seed = seed.wrapping_add(1);
    }
    println!("{} calls: no finding", CALLS * seed.wrapping_sub(options.seed));
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_are_read_and_slips_refused() {
        let parse = |line: &str| {
            let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            Options::parse(&words, 7).map(|options| (options.seconds, options.seed))
        };
        assert_eq!(parse(""), Ok((60, 7)));
        assert_eq!(parse("--seed 3 --seconds 5"), Ok((5, 3)));
        for slip in ["--seconds", "--seconds x", "5", "--minutes 5"] {
            assert!(parse(slip).is_err(), "{slip}");
        }
    }
}
