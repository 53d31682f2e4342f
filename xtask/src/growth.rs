//! `cargo xtask growth [SECTIONS] [--rounds N]`: what a call costs as work grows (`benches/growth.cpp`). Prints one line for each figure, with
//! a column for each number of blocks, streams, tasks or threads: the median of the rounds. `docs/scaling.md` has a run and what it means.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::test::process::{capture, cargo, pass_through, root, target_dir};

const SECTIONS: [&str; 8] = ["blocks", "chunks", "holes", "streams", "fan", "stairs", "queue", "threads"];
const ROUNDS: usize = 3;

/// A figure and its unit: values by the number that grew.
type Figures = BTreeMap<(String, String), BTreeMap<u64, Vec<f64>>>;

/// Runs the sections that `args` name, all by default; each in a process of its own, so that memory is counted from nothing.
pub fn run(args: &[String]) -> Result<ExitCode, String> {
    let (sections, rounds) = parse(args)?;
    let program = build(&root())?;
    for section in sections {
        let mut figures = Figures::new();
        for _ in 0..rounds {
            read(&measure(&program, section)?, &mut figures);
        }
        print!("{}", table(section, &figures));
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(args: &[String]) -> Result<(Vec<&'static str>, usize), String> {
    let (mut sections, mut rounds) = (Vec::new(), ROUNDS);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--rounds" {
            let number = rest.next().and_then(|n| n.parse().ok()).filter(|&n| n > 0);
            rounds = number.ok_or("--rounds takes a number")?;
        } else {
            let known = SECTIONS.iter().find(|section| *section == arg);
            sections.push(
                *known.ok_or_else(|| format!("no section '{arg}'; there are: {}", SECTIONS.join(" ")))?,
            );
        }
    }
    Ok((if sections.is_empty() { SECTIONS.to_vec() } else { sections }, rounds))
}

fn build(root: &Path) -> Result<PathBuf, String> {
    if !pass_through(cargo().current_dir(root).args(["build", "--release", "--locked"]))? {
        return Err("the library does not build".to_owned());
    }
    let out = target_dir().join("bench");
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let program = out.join("growth");
    let mut compiler = Command::new("g++");
    compiler.args(["-O2", "-std=c++17", "-pthread", "-I"]).arg(root.join("include")).arg("-o").arg(&program);
    compiler
        .arg(root.join("benches/growth.cpp"))
        .arg("-L")
        .arg(target_dir().join("release"))
        .arg("-lascendcl");
    if pass_through(&mut compiler)? {
        Ok(program)
    } else {
        Err("benches/growth.cpp does not compile (is g++ installed?)".to_owned())
    }
}

fn measure(program: &Path, section: &str) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg(section).env("LD_LIBRARY_PATH", target_dir().join("release"));
    let ran = capture(&mut command, Duration::from_secs(120))?;
    if ran.status.is_some_and(|status| status.success()) {
        Ok(ran.stdout)
    } else {
        Err(format!("growth {section}: {}\n{}", ran.ending(), ran.output()))
    }
}

/// Takes in lines of `peer, figure, number, value, unit`.
fn read(lines: &str, figures: &mut Figures) {
    for line in lines.lines() {
        if let [_, figure, number, value, unit] = line.split('\t').collect::<Vec<_>>()[..]
            && let (Ok(number), Ok(value)) = (number.parse(), value.parse())
        {
            let row = figures.entry((figure.to_owned(), unit.to_owned())).or_default();
            row.entry(number).or_default().push(value);
        }
    }
}

/// A table in Markdown.
fn table(section: &str, figures: &Figures) -> String {
    let numbers: BTreeSet<u64> = figures.values().flat_map(BTreeMap::keys).copied().collect();
    let mut text = format!("\n| {section} |");
    numbers.iter().for_each(|number| text.push_str(&format!(" {number} |")));
    text.push_str(&format!("\n| --- |{}\n", " ---: |".repeat(numbers.len())));
    for ((figure, unit), row) in figures {
        text.push_str(&format!("| {figure}, {unit} |"));
        for number in &numbers {
            match row.get(number).map(|values| median(values)) {
                Some(value) if value < 10.0 => text.push_str(&format!(" {value:.1} |")),
                Some(value) => text.push_str(&format!(" {value:.0} |")),
                None => text.push_str(" |"),
            }
        }
        text.push('\n');
    }
    text
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_a_table_of_medians() {
        let mut figures = Figures::new();
        for round in ["3", "90", "4.04"] {
            read(
                &format!("toprope\tmalloc\t10\t{round}\tns\nnoise\ntoprope\tmalloc\t100\t20\tns\n"),
                &mut figures,
            );
        }
        read("toprope\tfree\t100\t7\tns\n", &mut figures);
        let wanted = "\n| blocks | 10 | 100 |\n| --- | ---: | ---: |\n| free, ns | | 7.0 |\n| malloc, ns | 4.0 | 20 |\n";
        assert_eq!(table("blocks", &figures), wanted);
    }

    #[test]
    fn options_are_read_and_slips_refused() {
        let parse = |line: &str| parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parse("queue fan --rounds 5"), Ok((vec!["queue", "fan"], 5)));
        assert_eq!(parse(""), Ok((SECTIONS.to_vec(), ROUNDS)));
        for slip in ["kernel", "--rounds", "--rounds 0", "--rounds x"] {
            assert!(parse(slip).is_err(), "{slip}");
        }
    }
}
