//! The suite `contract`: every row of spec/constraints*.csv on every product (tests/contract).

use super::Options;
use super::process::{cargo, root};
use super::report::Report;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Builds and runs it; its table is passed on.
pub fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut command = cargo();
    command.current_dir(root()).args(["run", "--locked", "--quiet", "-p", "toprope-contract", "--"]);
    match options.filter.as_deref() {
        None | Some("contract") => {}
        Some(filter) => match filter.strip_prefix("contract/") {
            Some(row) => _ = command.args(["--only", row]),
            None => return Ok(()),
        },
    }
    println!("\ncontract");
    let failed = |error: std::io::Error| format!("cannot run the contract suite: {error}");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut counts = (0, 0);
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { break };
            counts = parse(&line).unwrap_or(counts);
            println!("  {line}");
        }
    }
    if !child.wait().map_err(failed)?.success() {
        report.failure("contract (see above)");
        counts.1 = counts.1.max(1);
    }
    report.add("contract", counts.0, counts.1);
    Ok(())
}

/// `N passed, N failed`.
fn parse(line: &str) -> Option<(usize, usize)> {
    let (passed, failed) = line.strip_suffix(" failed")?.split_once(" passed, ")?;
    Some((passed.parse().ok()?, failed.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_last_line_is_read() {
        assert_eq!(parse("437 passed, 11 failed"), Some((437, 11)));
        assert_eq!(parse("a2 ep 9    4    1    0   1138     1585"), None);
    }
}
