//! `cargo xtask bench`: our rows, the machine's limits and, where they are installed, PoCL and NumPy, interleaved: for each letter
//! every program runs back to back in its own process, so that ratios compare runs that are seconds apart. What the ratios have to
//! be is data, `benches/targets.csv`. How to read the outcome: `docs/performance.md`. `cargo xtask bench check`: [`check`].

mod build;
mod check;
mod machine;
mod report;
mod rounds;
mod targets;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::test::process::root;
use machine::Machine;
use rounds::Round;
use targets::Target;

type Result<T> = std::result::Result<T, String>;

const USAGE: &str = "usage: cargo xtask bench [LETTERS] [OPTIONS]
       cargo xtask bench check [--rounds N]     (what the checker costs: the table of docs/checker.md)
Measures the workloads a to l, all unless LETTERS are given, and judges them by benches/targets.csv.
  --rounds N    interleaved rounds (7)
  --all         every row of a target, and our ratio to each peer's row of the same workload
  --strict      exit 1 when a target is missed
  --markdown    print what docs/performance.md holds of a run, instead of the tables
  --json FILE   write rows, rounds, targets and the machine
  --from FILE   judge and print such a file, and measure nothing";

const LETTERS: &str = "abcdefghijkl";
const ROUNDS: usize = 7;

#[derive(Debug, PartialEq, Eq)]
struct Options {
    letters: String,
    rounds: usize,
    all: bool,
    strict: bool,
    markdown: bool,
    json: Option<PathBuf>,
    from: Option<PathBuf>,
}

impl Options {
    /// None when help was asked for.
    fn parse(args: &[String]) -> Result<Option<Options>> {
        let mut options = Options {
            letters: String::new(),
            rounds: ROUNDS,
            all: false,
            strict: false,
            markdown: false,
            json: None,
            from: None,
        };
        let mut rest = args.iter();
        let value = |option: &str, rest: &mut std::slice::Iter<String>| {
            rest.next().cloned().ok_or_else(|| format!("{option} takes a value\n{USAGE}"))
        };
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                "-h" | "--help" => return Ok(None),
                "--all" => options.all = true,
                "--strict" => options.strict = true,
                "--markdown" => options.markdown = true,
                "--json" => options.json = Some(value(arg, &mut rest)?.into()),
                "--from" => options.from = Some(value(arg, &mut rest)?.into()),
                "--rounds" => {
                    let count = value(arg, &mut rest)?.parse().ok().filter(|count| *count > 0);
                    options.rounds = count.ok_or_else(|| format!("--rounds takes a number\n{USAGE}"))?;
                }
                text if !text.is_empty() && text.chars().all(|c| LETTERS.contains(c)) => {
                    options
                        .letters
                        .extend(text.chars().filter(|c| !options.letters.contains(*c)).collect::<Vec<_>>());
                }
                text => return Err(format!("neither an option nor letters of {LETTERS}: {text}\n{USAGE}")),
            }
        }
        if options.letters.is_empty() {
            options.letters = LETTERS.to_owned();
        }
        Ok(Some(options))
    }
}

/// A run: what `--json` writes (with the verdicts, which follow from it) and `--from` reads.
#[derive(Debug, Serialize, Deserialize)]
struct Run {
    machine: Machine,
    /// The workloads that were asked for.
    letters: String,
    /// What could not take part, and why: a peer's name first.
    left_out: Vec<(String, String)>,
    rounds: Vec<Round>,
}

impl Run {
    /// Drops all but these letters.
    fn keep(&mut self, letters: &str) {
        self.letters.retain(|letter| letters.contains(letter));
        for round in &mut self.rounds {
            round.markers.retain(|marker| letters.contains(marker.letter));
            round.figures.retain(|figure| figure.row.workload.starts_with(|letter| letters.contains(letter)));
        }
    }
}

/// Runs the task. Exit code 1 only with `--strict`.
pub fn run(args: &[String]) -> Result<ExitCode> {
    if let Some((first, rest)) = args.split_first()
        && first == "check"
    {
        return check::run(rest);
    }
    let Some(options) = Options::parse(args)? else {
        println!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    };
    let root = root();
    let targets = targets::read(&root.join("benches/targets.csv"))?;
    let run = match &options.from {
        Some(file) => {
            let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
            let mut run: Run = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
            run.keep(&options.letters);
            run
        }
        None => {
            let built = build::build(&root, &options.letters)?;
            let machine = Machine::here(&root, &built);
            let rounds = rounds::measure(&built.peers, &options.letters, options.rounds)?;
            Run { machine, letters: options.letters.clone(), left_out: built.left_out, rounds }
        }
    };
    let judged = judge(&targets, &run);
    if let Some(file) = &options.json {
        let text = report::json(&run, &judged)?;
        fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    if options.markdown {
        print!("{}", report::markdown(&run, &judged));
    } else {
        print!("{}", report::text(&run, &judged, options.all));
    }
    let missed = judged.iter().any(|(_, verdict)| verdict.missed());
    Ok(if options.strict && missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

type Judged<'a> = Vec<(&'a Target, targets::Verdict)>;

/// The targets of the letters that ran.
fn judge<'a>(targets: &'a [Target], run: &Run) -> Judged<'a> {
    let asked = targets.iter().filter(|target| run.letters.contains(target.letter));
    asked.map(|target| (target, target.judge(run))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse("ab a c --rounds 3 --strict --json x.json").unwrap().unwrap();
        assert_eq!((options.letters.as_str(), options.rounds, options.strict), ("abc", 3, true));
        assert_eq!((options.json, options.all), (Some(PathBuf::from("x.json")), false));
        assert_eq!(parse("").unwrap().unwrap().letters, LETTERS);
        assert_eq!(parse("a --help"), Ok(None));
    }

    #[test]
    fn slips_are_refused_with_the_usage() {
        for slip in ["--fast", "m", "--rounds", "--rounds 0", "--rounds x", "--json"] {
            assert!(parse(slip).unwrap_err().contains("usage: cargo xtask bench"), "{slip}");
        }
    }
}
