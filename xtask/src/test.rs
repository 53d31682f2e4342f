//! `cargo xtask test`: builds the library and the command, then runs every suite.
//!
//! Suites, in this order: `rust` (all crates), `contract` (every rule on every product), `abi`, `headers` (each alone, twice,
//! in every standard), `c`, `cpp`, `kernel` (tests/conformance), `examples`, `misuse` (the checker's rules), `strict` (all these
//! programs under the checker), `sequences`, `python` (with the wheel). The last line is `N passed, N failed` over all.

mod contract;
pub mod engine;
mod headers;
mod kernel;
pub mod misuse;
pub mod process;
pub mod program;
pub mod python;
pub mod report;
mod rust;
pub mod sequences;
mod strict;

use process::{answers, cargo, pass_through, root, target_dir};
use program::{Build, C, CPP, Standard, Wanted, sources};
use report::{Job, Report, run_all};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

/// The options of `cargo xtask test`.
pub struct Options {
    /// Build and test the dev profile instead of the release one that users get.
    pub dev: bool,
    /// Run only tests whose name contains this.
    pub filter: Option<String>,
    /// Print the names of the C and C++ tests and stop.
    pub list: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, String> {
        let mut options = Options { dev: false, filter: None, list: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--dev" => options.dev = true,
                "--list" => options.list = true,
                "--filter" => options.filter = Some(args.next().ok_or("--filter needs a name")?.clone()),
                other => return Err(format!("unknown option {other} (--dev, --filter NAME, --list)")),
            }
        }
        Ok(options)
    }

    /// True when the filter lets `name` pass.
    pub fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()))
    }
}

/// Runs the task. Exit code 1 when a test failed, 2 when the tests could not be run.
pub fn run(args: &[String]) -> Result<ExitCode, String> {
    let options = Options::parse(args)?;
    let build = Arc::new(plain_build(options.dev));
    let suites = program_suites(&build)?;
    if options.list {
        suites.iter().flat_map(|(_, jobs)| jobs).for_each(|job| println!("{}", job.name));
        return Ok(ExitCode::SUCCESS);
    }
    require_tools()?;
    println!("building libascendcl.so and toprope ({})", if options.dev { "dev" } else { "release" });
    let mut command = cargo();
    command.current_dir(root()).args(["build", "--locked"]).args((!options.dev).then_some("--release"));
    if !pass_through(&mut command)? {
        return Err("the library and the command do not build".to_owned());
    }
    if !build.library.join("libascendcl.so").is_file() {
        return Err(format!("the build left no {}/libascendcl.so", build.library.display()));
    }

    let mut report = Report::default();
    rust::run(&options, &mut report)?;
    contract::run(&options, &mut report)?;
    for (suite, mut jobs) in suites {
        jobs.retain(|job| options.wants(&job.name));
        if !jobs.is_empty() {
            println!("\n{suite}");
            let outcomes = run_all(jobs);
            report.suite(suite, &outcomes);
        }
    }
    python::run(&options, &mut report)?;
    Ok(if report.finish() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The build that users get, or the quick one.
fn plain_build(dev: bool) -> Build {
    let library = target_dir().join(if dev { "debug" } else { "release" });
    Build { root: root(), library, out: target_dir().join("conformance"), flags: Vec::new(), env: Vec::new() }
}

fn require_tools() -> Result<(), String> {
    let missing: Vec<&str> =
        ["gcc", "g++"].into_iter().filter(|tool| !answers(tool, &["--version"])).collect();
    match missing.as_slice() {
        [] => Ok(()),
        tools => Err(format!("missing: {} (Debian and Ubuntu: apt-get install gcc g++)", tools.join(", "))),
    }
}

type Suite = (&'static str, Vec<Job>);

/// Every suite but the Rust one.
fn program_suites(build: &Arc<Build>) -> Result<Vec<Suite>, String> {
    let conformance = build.root.join("tests/conformance");
    Ok(vec![
        ("abi", vec![abi_job(build)]),
        ("headers", headers::jobs(build)?),
        ("c", programs(build, "c", &conformance.join("c"), &C, &["c"], Some("ok"))?),
        ("cpp", programs(build, "cpp", &conformance.join("cpp"), &CPP, &["cpp"], Some("ok"))?),
        ("kernel", kernel::jobs(build)?),
        ("examples", examples(build)?),
        ("misuse", misuse::jobs(build)?),
        ("strict", strict::jobs(build)?),
        ("sequences", vec![sequences::job(build)]),
    ])
}

fn examples(build: &Arc<Build>) -> Result<Vec<Job>, String> {
    let folder = build.root.join("examples");
    let mut jobs = programs(build, "examples", &folder, &C, &["c"], None)?;
    jobs.extend(programs(build, "examples", &folder, &CPP, &["cc", "cpp"], None)?);
    Ok(jobs)
}

/// One job for each program and standard: compile, and where the standard asks for it, run.
pub fn programs(
    build: &Arc<Build>,
    suite: &str,
    folder: &Path,
    standards: &[Standard],
    extensions: &[&str],
    last_line: Option<&'static str>,
) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for source in sources(folder, extensions)? {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for &standard in standards {
            let name = format!("{suite}/{stem} [{}]", standard.name);
            let output = build.out.join(suite).join(format!("{stem}-{}", standard.name));
            let (build, source) = (Arc::clone(build), source.clone());
            let work = move || compile_and_run(&build, &source, standard, &output, last_line);
            jobs.push(Job { name, work: Box::new(work) });
        }
    }
    Ok(jobs)
}

fn compile_and_run(
    build: &Build,
    source: &PathBuf,
    standard: Standard,
    output: &Path,
    last_line: Option<&str>,
) -> Result<(), String> {
    let text = std::fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))?;
    let wanted = Wanted::parse(&text)?;
    if !standard.runs {
        return build.compile(source, standard, None);
    }
    build.compile(source, standard, Some(output))?;
    build.run(output, &wanted, last_line)
}

/// The exports, signatures and layouts: the task `abi` of this same program, against the library just built.
fn abi_job(build: &Arc<Build>) -> Job {
    let library = build.library.join("libascendcl.so");
    let work = move || {
        let this = std::env::current_exe().map_err(|error| format!("own path: {error}"))?;
        let mut command = Command::new(this);
        command.arg("abi").arg(&library).current_dir(root());
        let captured = process::capture(&mut command, std::time::Duration::from_secs(120))?;
        match captured.status {
            Some(status) if status.success() => Ok(()),
            _ => Err(format!("{}\n{}", captured.ending(), captured.output())),
        }
    };
    Job { name: "abi/exports and layouts".to_owned(), work: Box::new(work) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_slips_refused() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let options = Options::parse(&words("--dev --filter stream")).unwrap();
        assert!(options.dev && options.wants("c/streams [c99]") && !options.wants("c/basics [c99]"));
        assert!(Options::parse(&words("--filter")).is_err());
        assert!(Options::parse(&words("--fast")).is_err());
    }
}
