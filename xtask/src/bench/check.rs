//! `cargo xtask bench check [--rounds N]`: what the checker costs. Runs benches/check_cost.cpp with the checker off and in warn mode
//! in turn, so that a ratio compares runs that are seconds apart, and prints the medians as the table of docs/checker.md.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::Result;
use crate::test::process::{cargo, pass_through, root, target_dir};

const ROUNDS: usize = 7;
const MODES: [&str; 2] = ["off", "warn"];

/// Figures of one run in their order: name, nanoseconds.
type Run = Vec<(String, f64)>;

pub fn run(args: &[String]) -> Result<ExitCode> {
    let rounds = match args {
        [] => ROUNDS,
        [flag, count] if flag == "--rounds" => {
            count.parse().ok().filter(|rounds| *rounds > 0).ok_or("--rounds takes a number")?
        }
        _ => return Err("check takes --rounds N alone".into()),
    };
    let program = build(&root())?;
    let mut all: Vec<[Run; 2]> = Vec::new();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        let [off, warn] = MODES.map(|mode| one(&program, mode));
        all.push([off?, warn?]);
    }
    println!("| | off | warn | ratio |\n| --- | --- | --- | --- |");
    for (row, (name, _)) in all.first().map(|[off, _]| off.as_slice()).unwrap_or_default().iter().enumerate()
    {
        let figure = |runs: &[Run; 2], mode: usize| runs.get(mode)?.get(row).map(|(_, ns)| *ns);
        let of = |mode: usize| median(all.iter().filter_map(|runs| figure(runs, mode)).collect());
        let ratios = all.iter().filter_map(|runs| Some(figure(runs, 1)? / figure(runs, 0)?)).collect();
        println!("| {name} | {} | {} | {:.2} |", time(of(0)), time(of(1)), median(ratios));
    }
    Ok(ExitCode::SUCCESS)
}

fn build(root: &Path) -> Result<std::path::PathBuf> {
    let build = ["build", "--release", "--locked", "-p", "ascendcl"];
    if !pass_through(cargo().current_dir(root).args(build))? {
        return Err("the library does not build".into());
    }
    let out = target_dir().join("bench");
    fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let program = out.join("check_cost");
    let mut compiler = Command::new("g++");
    compiler.args(["-O2", "-g", "-std=c++17", "-pthread", "-o"]).arg(&program);
    compiler.arg(root.join("benches/check_cost.cpp")).arg("-I").arg(root.join("include"));
    compiler.arg("-L").arg(target_dir().join("release")).arg("-lascendcl");
    match compiler.status() {
        Ok(status) if status.success() => Ok(program),
        _ => Err("benches/check_cost.cpp does not compile (is g++ installed?)".into()),
    }
}

fn one(program: &Path, mode: &str) -> Result<Run> {
    let output = Command::new("timeout")
        .args(["-k", "2", "60"])
        .arg(program)
        .env("TOPROPE_CHECK", mode)
        .env("LD_LIBRARY_PATH", target_dir().join("release"))
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !errors.is_empty() {
        return Err(format!("{} ({mode}): {}\n{errors}", program.display(), output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let row =
        |line: &str| line.split_once('\t').and_then(|(name, ns)| Some((name.to_owned(), ns.parse().ok()?)));
    Ok(text.lines().filter_map(row).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn time(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e4 => format!("{:.1} us", ns / 1e3),
        ..1e6 => format!("{:.0} us", ns / 1e3),
        _ => format!("{:.1} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_or_three_digits() {
        assert_eq!(time(66.4), "66 ns");
        assert_eq!(time(1234.0), "1.2 us");
        assert_eq!(time(17_400.0), "17 us");
        assert_eq!(time(2_960_000.0), "3.0 ms");
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
