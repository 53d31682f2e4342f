//! `cargo xtask callgrind [--write]`: instructions of the library per call, counted by Callgrind, beside the committed figures.
//!
//! `benches/callgrind.c` makes the calls. Only instructions inside `libascendcl.so` itself count: what the C library does for a
//! call depends on the machine's processor and distribution, what the library does only on the compiler. So the figures of
//! `benches/callgrind.csv` hold for any machine with the compiler, target and flags that they name; there a difference of more than
//! [`TOLERANCE`] fails, up or down (fewer instructions are good news that the file has to tell). Elsewhere the comparison is only shown.
//!
//! The library is the release build that `cargo xtask test` makes, fat LTO included: it is there already when CI comes here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::test::process::{answers, capture, cargo, pass_through, root, target_dir};

/// Above this, a figure differs from the baseline.
const TOLERANCE: f64 = 0.03;

/// Above this, two runs of the same program differ, and the figures mean nothing.
const REPEATABLE: f64 = 0.005;

/// Calls in each `count_…` of `benches/callgrind.c`.
const CALLS: f64 = 1000.0;

const LIBRARY: &str = "libascendcl.so";
const BASELINE: &str = "benches/callgrind.csv";
const HEADER: [&str; 4] = ["function", "instructions", "rustc", "profile"];

/// Instructions per call, by function.
type Counts = BTreeMap<String, f64>;

/// What decides which machine code the library has.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Compiler {
    rustc: String,
    profile: String,
}

/// Runs the task. Exit code 1 when a figure differs from the baseline, 2 when nothing could be counted.
pub fn run(args: &[String]) -> Result<ExitCode, String> {
    let write = match args {
        [] => false,
        [option] if option == "--write" => true,
        _ => return Err("usage: cargo xtask callgrind [--write]".to_owned()),
    };
    if !answers("valgrind", &["--version"]) {
        return Err(
            "nothing counted: valgrind is not installed (Debian and Ubuntu: apt-get install valgrind)"
                .to_owned(),
        );
    }
    let compiler = Compiler::here()?;
    let program = build()?;
    let (counts, again) = (count(&program)?, count(&program)?);
    repeatable(&counts, &again)?;
    let path = root().join(BASELINE);
    if write {
        write_baseline(&path, &counts, &compiler)?;
        println!(
            "{} functions written to {BASELINE} ({}, {})",
            counts.len(),
            compiler.rustc,
            compiler.profile
        );
        return Ok(ExitCode::SUCCESS);
    }
    let (baseline, wanted) = read_baseline(&path)?;
    println!("instructions of {LIBRARY} per call ({}, {})", compiler.rustc, compiler.profile);
    let differences = compare(&baseline, &counts);
    if compiler != wanted {
        println!("only shown: {BASELINE} is of {}, {}", wanted.rustc, wanted.profile);
        return Ok(ExitCode::SUCCESS);
    }
    if differences == 0 {
        println!("all within {} % of {BASELINE}", TOLERANCE * 100.0);
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{differences} differ from {BASELINE} by more than {} %. Meant so: cargo xtask callgrind --write, and commit it",
        TOLERANCE * 100.0
    );
    Ok(ExitCode::FAILURE)
}

impl Compiler {
    fn here() -> Result<Compiler, String> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc).arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .map(str::trim)
                .ok_or_else(|| format!("rustc -vV does not tell its {name}"))
        };
        // More flags make other code, e.g. -C target-cpu=native.
        let flags =
            ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"].map(|name| std::env::var(name).unwrap_or_default());
        let flags = flags.join(" ").replace('\u{1f}', " ");
        let profile = match flags.trim() {
            "" => "release".to_owned(),
            flags => format!("release with {flags}"),
        };
        Ok(Compiler { rustc: format!("{} {}", field("release:")?, field("host:")?), profile })
    }
}

/// Builds the library as `cargo xtask test` does, and the program that calls it.
fn build() -> Result<PathBuf, String> {
    if !pass_through(cargo().current_dir(root()).args(["build", "--locked", "--release"]))? {
        return Err("the library does not build".to_owned());
    }
    let out = target_dir().join("bench");
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let program = out.join("callgrind");
    let mut compiler = Command::new("gcc");
    compiler.args(["-O1", "-std=gnu11", "-Wall", "-Wextra", "-pthread", "-I"]).arg(root().join("include"));
    compiler.arg("-o").arg(&program).arg(root().join("benches/callgrind.c"));
    compiler.arg("-L").arg(target_dir().join("release")).arg("-lascendcl");
    if pass_through(&mut compiler)? {
        Ok(program)
    } else {
        Err("benches/callgrind.c does not compile (is gcc installed?)".to_owned())
    }
}

/// Runs the program under Callgrind.
fn count(program: &Path) -> Result<Counts, String> {
    let out = target_dir().join("bench/callgrind-out");
    // Dumps of an earlier run have other numbers.
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind", "--separate-threads=yes", "--compress-strings=no"]);
    command.args(["--compress-pos=no", "--zero-before=zero", "--dump-after=count_*"]);
    command.arg(format!("--callgrind-out-file={}", out.join("out").display())).arg(program);
    // Settings of the caller's own must not count.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TOPROPE_")) {
        command.env_remove(name);
    }
    command.env("LD_LIBRARY_PATH", target_dir().join("release"));
    let ran = capture(&mut command, Duration::from_secs(120))?;
    if !ran.status.is_some_and(|status| status.success()) {
        return Err(format!("{}: {}\n{}", program.display(), ran.ending(), ran.output()));
    }
    let mut counts = Counts::new();
    for entry in fs::read_dir(&out).map_err(|error| format!("{}: {error}", out.display()))? {
        let path = entry.map_err(|error| format!("{}: {error}", out.display()))?.path();
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if let Some((function, instructions)) =
            dump(&text).map_err(|error| format!("{}: {error}", path.display()))?
        {
            *counts.entry(function).or_insert(0.0) += instructions as f64 / CALLS;
        }
    }
    if counts.is_empty() {
        return Err(format!("Callgrind wrote no dump of a function count_… to {}", out.display()));
    }
    Ok(counts)
}

/// The function that a dump is about, and the library's own instructions in it; None for a dump of something else, or of another
/// thread than the first, which makes the calls.
fn dump(text: &str) -> Result<Option<(String, u64)>, String> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let trigger = field("desc: Trigger:").and_then(|what| what.strip_prefix("--dump-after=count_"));
    let Some(function) = trigger else { return Ok(None) };
    if field("thread:") != Some("1") {
        return Ok(None);
    }
    if field("events:") != Some("Ir") {
        return Err("the only event should be Ir".to_owned());
    }
    let (mut ours, mut callee, mut sum) = (false, false, 0);
    for line in text.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            ours = object.ends_with(LIBRARY);
        } else if line.starts_with("calls=") {
            // The next line is the cost of the callee, which has lines of its own.
            callee = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            if ours && !callee {
                let cost = line.split_whitespace().nth(1).and_then(|cost| cost.parse::<u64>().ok());
                sum += cost.ok_or_else(|| format!("not a cost line: {line}"))?;
            }
            callee = false;
        }
    }
    Ok(Some((function.to_owned(), sum)))
}

/// Fails when two runs do not agree.
fn repeatable(first: &Counts, second: &Counts) -> Result<(), String> {
    for (function, &count) in first {
        let again = second.get(function).copied().unwrap_or(0.0);
        if (again / count - 1.0).abs() > REPEATABLE {
            return Err(format!(
                "{function}: {count:.1} instructions in one run, {again:.1} in the next; nothing can be compared"
            ));
        }
    }
    Ok(())
}

/// Prints every function of either side; how many differ.
fn compare(baseline: &Counts, counts: &Counts) -> usize {
    let names: std::collections::BTreeSet<&String> = baseline.keys().chain(counts.keys()).collect();
    let mut differences = 0;
    for name in names {
        let (text, differs) = match (baseline.get(name), counts.get(name)) {
            (Some(before), Some(now)) => {
                let change = now / before - 1.0;
                let differs = change.abs() > TOLERANCE;
                // Rounded, and never -0.0.
                let shown = (change * 1000.0).round() / 10.0 + 0.0;
                let what = match () {
                    () if !differs => "",
                    () if change > 0.0 => "  MORE",
                    () => "  FEWER",
                };
                (format!("{now:>8.1}  baseline {before:>8.1}  {shown:>+6.1} %{what}"), differs)
            }
            (None, Some(now)) => (format!("{now:>8.1}  NOT IN THE BASELINE"), true),
            (_, None) => ("NOT COUNTED ANY MORE".to_owned(), true),
        };
        println!("  {name:<24}{text}");
        differences += usize::from(differs);
    }
    differences
}

fn read_baseline(path: &Path) -> Result<(Counts, Compiler), String> {
    let told = |error: String| format!("{}: {error}; cargo xtask callgrind --write makes it", path.display());
    let mut reader = csv::Reader::from_path(path).map_err(|error| told(error.to_string()))?;
    let mut counts = Counts::new();
    let mut compiler = None;
    for row in reader.records() {
        let row = row.map_err(|error| told(error.to_string()))?;
        let [function, instructions, rustc, profile] = row.iter().collect::<Vec<_>>()[..] else {
            return Err(told("a row has not four fields".to_owned()));
        };
        let instructions = instructions.parse().map_err(|_| told(format!("{function}: not a number")))?;
        counts.insert(function.to_owned(), instructions);
        let this = Compiler { rustc: rustc.to_owned(), profile: profile.to_owned() };
        if compiler.get_or_insert_with(|| this.clone()) != &this {
            return Err(told("rows of several compilers".to_owned()));
        }
    }
    Ok((counts, compiler.ok_or_else(|| told("no rows".to_owned()))?))
}

fn write_baseline(path: &Path, counts: &Counts, compiler: &Compiler) -> Result<(), String> {
    let failed = |error: csv::Error| format!("{}: {error}", path.display());
    let mut writer = csv::Writer::from_path(path).map_err(failed)?;
    writer.write_record(HEADER).map_err(failed)?;
    for (function, count) in counts {
        let count = format!("{count:.1}");
        writer.write_record([function, &count, &compiler.rustc, &compiler.profile]).map_err(failed)?;
    }
    writer.flush().map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "# callgrind format
version: 1
creator: callgrind-3.19.0
part: 5
thread: 1

desc: Trigger: --dump-after=count_free_1m

positions: line
events: Ir
summary: 1111

ob=/tmp/program
fn=count_free_1m
0 4
cob=/target/release/libascendcl.so
cfi=/crates/capi/src/memory.rs
cfn=aclrtFree
calls=1000 37
0 1100

ob=/target/release/libascendcl.so
fl=/crates/capi/src/memory.rs
fn=aclrtFree
37 30
38 20
cob=/lib/libc.so.6
cfn=free
calls=1 0
38 700
fe=/rustc/library/core/src/ptr.rs
900 7

ob=/lib/libc.so.6
fn=free
0 700
";

    #[test]
    fn only_the_librarys_own_instructions_count() {
        assert_eq!(dump(DUMP), Ok(Some(("free_1m".to_owned(), 57))));
    }

    #[test]
    fn other_dumps_are_left_out() {
        assert_eq!(dump(&DUMP.replace("--dump-after=count_free_1m", "Program termination")), Ok(None));
        assert_eq!(dump(&DUMP.replace("thread: 1", "thread: 2")), Ok(None));
        assert!(dump(&DUMP.replace("events: Ir", "events: Ir Dr")).is_err());
        assert!(dump(&DUMP.replace("37 30", "37 x")).is_err());
    }

    fn counts(of: &[(&str, f64)]) -> Counts {
        of.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    #[test]
    fn more_fewer_new_and_lost_functions_differ() {
        let baseline = counts(&[("a", 100.0), ("b", 100.0), ("c", 100.0), ("d", 100.0)]);
        assert_eq!(compare(&baseline, &baseline), 0);
        assert_eq!(compare(&baseline, &counts(&[("a", 102.9), ("b", 97.1), ("c", 100.0), ("d", 100.0)])), 0);
        assert_eq!(compare(&baseline, &counts(&[("a", 103.1), ("b", 96.9), ("c", 100.0), ("e", 1.0)])), 4);
    }

    #[test]
    fn runs_must_agree() {
        let first = counts(&[("a", 1000.0)]);
        assert!(repeatable(&first, &counts(&[("a", 1004.0)])).is_ok());
        assert!(repeatable(&first, &counts(&[("a", 1006.0)])).is_err());
        assert!(repeatable(&first, &counts(&[])).is_err());
    }

    #[test]
    fn the_committed_baseline_can_be_read() {
        let (counts, compiler) = read_baseline(&root().join(BASELINE)).unwrap();
        assert!(counts.values().all(|&count| count > 0.0), "{counts:?}");
        assert!(compiler.rustc.contains('-'), "{compiler:?}");
    }
}
