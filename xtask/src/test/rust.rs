//! The Rust tests of every crate (but `contract`, a suite of its own): cargo nextest where it is installed, else cargo test; and the examples in doc comments.

use super::Options;
use super::process::{answers, cargo, root};
use super::report::Report;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs the suite. A filter with a `/` names tests of other suites; then nothing runs here.
pub fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    if options.filter.as_ref().is_some_and(|filter| filter.contains('/')) {
        return Ok(());
    }
    let filter = options.filter.as_deref();
    println!("\nrust");
    // The tests of the command run it beside library and module, which cargo puts there only when it is asked for them.
    crate::python::build(false)?;
    if answers("cargo", &["nextest", "--version"]) {
        let mut command = cargo();
        command.args([
            "nextest",
            "run",
            "--workspace",
            "--exclude=toprope-contract",
            "--locked",
            "--no-fail-fast",
            "--no-tests=pass",
        ]);
        command.args(["--status-level=fail", "--final-status-level=none", "--color=never"]).args(filter);
        counted(&mut command, "rust", nextest_counts, report)?;
    } else {
        println!("cargo-nextest is not installed: using cargo test");
        let mut command = cargo();
        command.args(["test", "--workspace", "--exclude=toprope-contract", "--locked"]);
        command.args(["--no-fail-fast", "--quiet"]);
        command.args(["--lib", "--bins", "--tests"]).args(filter);
        counted(&mut command, "rust", libtest_counts, report)?;
    }
    let mut command = cargo();
    command.args(["test", "--workspace", "--locked", "--no-fail-fast", "--quiet", "--doc"]).args(filter);
    counted(&mut command, "rust doc examples", libtest_counts, report)
}

/// Runs `command`, passes its lines on, and adds up the counts that `counts` finds in them. A failure that no count
/// shows (a crate that does not build) is one failed test.
fn counted(
    command: &mut Command,
    suite: &str,
    counts: fn(&str) -> Option<(usize, usize)>,
    report: &mut Report,
) -> Result<(), String> {
    let shown = format!("cannot run {suite}");
    let mut child = command
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{shown}: {error}"))?;
    let (mut passed, mut failed) = (0, 0);
    std::thread::scope(|scope| {
        let stderr = child.stderr.take();
        let errors = scope.spawn(move || stderr.map_or((0, 0), |pipe| pass_on(BufReader::new(pipe), counts)));
        let from_stdout = child.stdout.take().map_or((0, 0), |pipe| pass_on(BufReader::new(pipe), counts));
        let from_stderr = errors.join().unwrap_or((0, 0));
        passed = from_stdout.0 + from_stderr.0;
        failed = from_stdout.1 + from_stderr.1;
    });
    let status = child.wait().map_err(|error| format!("{shown}: {error}"))?;
    if !status.success() {
        report.failure(&format!("{suite} (see above)"));
        failed = failed.max(1);
    }
    report.add(suite, passed, failed);
    Ok(())
}

fn pass_on(lines: impl BufRead, counts: fn(&str) -> Option<(usize, usize)>) -> (usize, usize) {
    let mut sum = (0, 0);
    for line in lines.lines() {
        let Ok(line) = line else { break };
        if let Some((passed, failed)) = counts(&line) {
            sum = (sum.0 + passed, sum.1 + failed);
        }
        let empty_harness = line.starts_with("running 0 tests") || line.contains("ok. 0 passed; 0 failed");
        if !line.trim().is_empty() && !empty_harness {
            println!("  {line}");
        }
    }
    sum
}

/// `Summary [ 0.1s] 12 tests run: 11 passed, 1 failed, 0 skipped`; a time-out or a crash counts as failed.
fn nextest_counts(line: &str) -> Option<(usize, usize)> {
    let (_, rest) = line.trim_start().strip_prefix("Summary")?.split_once("run: ")?;
    let count = |words: &[&str]| -> usize {
        let part = rest.split(", ").find(|part| words.iter().any(|word| part.contains(word)));
        part.and_then(|part| part.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    Some((count(&["passed"]), count(&["failed"]) + count(&["timed out"]) + count(&["exec failed"])))
}

/// `test result: ok. 12 passed; 0 failed; …`, one such line for each crate.
fn libtest_counts(line: &str) -> Option<(usize, usize)> {
    let rest = line.trim_start().strip_prefix("test result: ")?;
    let count = |word: &str| -> Option<usize> {
        rest.split(['.', ';']).find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok())
    };
    Some((count("passed")?, count("failed")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_in_the_runners_lines() {
        let line = "     Summary [   0.105s] 12 tests run: 11 passed (1 slow), 1 failed, 3 skipped";
        assert_eq!(nextest_counts(line), Some((11, 1)));
        let line = "     Summary [   0.1s] 3 tests run: 1 passed, 1 failed, 1 timed out, 0 skipped";
        assert_eq!(nextest_counts(line), Some((1, 2)));
        assert_eq!(nextest_counts("     Summary [ 0.000s] 0 tests run: 0 passed, 0 skipped"), Some((0, 0)));
        assert_eq!(nextest_counts("    Finished `test` profile in 0.31s"), None);
        let line = "test result: FAILED. 7 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(libtest_counts(line), Some((7, 2)));
        assert_eq!(libtest_counts("test memory::copies ... ok"), None);
    }
}
