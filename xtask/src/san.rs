//! `cargo xtask san`: the C and C++ tests under sanitizers.
//!
//! `address`: the programs with AddressSanitizer (leaks too) and UndefinedBehaviorSanitizer, against the library that
//! users get: what the runtime hands to a program, and does to its memory, is checked at the C boundary.
//! `thread`: the programs and the library, its standard library included, with ThreadSanitizer; needs a nightly
//! toolchain with its sources. Each part first proves that the sanitizer is in what it runs.
//!
//! Then some programs of tests/misuse are built with each sanitizer and run under the checker, against the library that users get: what
//! it reports, and its signal handler beside that of the sanitizer.

use crate::test::process::{self, answers, cargo, pass_through, root, target_dir};
use crate::test::program::{Build, C, CPP, Standard};
use crate::test::report::{Report, run_all};
use crate::test::{misuse, programs, sequences};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// One sanitizer: how programs are built and run with it.
struct Sanitizer {
    name: &'static str,
    flags: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// The symbol that is in a program only when the sanitizer is.
    symbol: &'static str,
}

const ADDRESS: Sanitizer = Sanitizer {
    name: "address",
    flags: &[
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=undefined",
        "-fno-omit-frame-pointer",
        "-O1",
    ],
    env: &[
        ("ASAN_OPTIONS", "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1"),
        ("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1"),
    ],
    symbol: "__asan_init",
};

const THREAD: Sanitizer = Sanitizer {
    name: "thread",
    flags: &["-fsanitize=thread", "-fno-omit-frame-pointer", "-O1"],
    env: &[("TSAN_OPTIONS", "halt_on_error=1:second_deadlock_stack=1:report_signal_unsafe=0")],
    symbol: "__tsan_init",
};

/// Runs the task. Exit code 1 when something was found, 2 when a sanitizer that was asked for is not there.
pub fn run(args: &[String]) -> Result<ExitCode, String> {
    let (mut filter, mut only) = (None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next().ok_or_else(|| format!("{arg} needs a value"))?;
        match arg.as_str() {
            "--filter" => filter = Some(value.as_str()),
            "--only" if value == "address" || value == "thread" => only = Some(value.as_str()),
            _ => return Err(format!("unknown option {arg} {value} (--filter NAME, --only address|thread)")),
        }
    }
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let mut report = Report::default();
    let mut absent = Vec::new();
    if wanted("address") {
        part(&ADDRESS, release_library, filter, &mut report, &mut absent)?;
    }
    if wanted("thread") {
        part(&THREAD, instrumented_library, filter, &mut report, &mut absent)?;
    }
    for sanitizer in [&ADDRESS, &THREAD] {
        if wanted(sanitizer.name) {
            checked(sanitizer, filter, &mut report, &mut absent)?;
        }
    }
    for reason in &absent {
        println!("not run: {reason}");
    }
    let clean = report.finish();
    Ok(match (clean, absent.is_empty()) {
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(2),
        (false, _) => ExitCode::FAILURE,
    })
}

/// Builds and runs the programs with one sanitizer. What is missing for it goes to `absent`.
fn part(
    sanitizer: &Sanitizer,
    library: fn(&Path) -> Result<Found, String>,
    filter: Option<&str>,
    report: &mut Report,
    absent: &mut Vec<String>,
) -> Result<(), String> {
    println!("\n{}", sanitizer.name);
    let out = target_dir().join("san").join(sanitizer.name);
    if let Err(reason) = compiles_with(sanitizer, &out)? {
        absent.push(reason);
        return Ok(());
    }
    let (library, more_flags) = match library(&out)? {
        Found::Library { folder, flags } => (folder, flags),
        Found::Absent(reason) => {
            absent.push(reason);
            return Ok(());
        }
    };
    let build = Arc::new(Build {
        root: root(),
        library,
        out,
        flags: sanitizer.flags.iter().map(|flag| (*flag).to_owned()).chain(more_flags).collect(),
        env: sanitizer.env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    });
    let conformance = build.root.join("tests/conformance");
    // One standard for each language: the generated code does not differ enough for more.
    let newest: Vec<Standard> = CPP.into_iter().filter(|standard| standard.name == "c++20").collect();
    let mut jobs = programs(&build, "c", &conformance.join("c"), &C, &["c"], Some("ok"))?;
    jobs.extend(programs(&build, "cpp", &conformance.join("cpp"), &newest, &["cpp"], Some("ok"))?);
    jobs.push(sequences::job(&build));
    jobs.retain(|job| filter.is_none_or(|filter| job.name.contains(filter)));
    for job in &mut jobs {
        job.name = format!("{} {}", sanitizer.name, job.name);
    }
    report.suite(sanitizer.name, &run_all(jobs));
    Ok(())
}

/// Programs whose mistakes page protection catches.
const CHECKED: [&str; 2] = ["host_read_early_download", "host_write_early_refill"];

/// Programs with a sanitizer under the checker.
fn checked(
    sanitizer: &Sanitizer,
    filter: Option<&str>,
    report: &mut Report,
    absent: &mut Vec<String>,
) -> Result<(), String> {
    let suite = format!("{} checked", sanitizer.name);
    println!("\n{suite}");
    let out = target_dir().join("san").join(&suite);
    if let Err(reason) = compiles_with(sanitizer, &out)? {
        absent.push(reason);
        return Ok(());
    }
    let mut command = cargo();
    command.current_dir(root()).args(["build", "--locked", "--release"]);
    if !pass_through(&mut command)? {
        return Err("the library and the command do not build".to_owned());
    }
    // Unoptimised: the lines are compared.
    let flags = sanitizer.flags.iter().chain(&["-O0"]).map(|flag| (*flag).to_owned()).collect();
    let mut env: Vec<(String, String)> =
        sanitizer.env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    // ThreadSanitizer does not see the order that an uninstrumented library makes.
    env.iter_mut().filter(|(name, _)| name == "TSAN_OPTIONS").for_each(|(_, value)| {
        value.push_str(":ignore_noninstrumented_modules=1");
    });
    let library = target_dir().join("release");
    let build = Arc::new(Build { root: root(), library, out, flags, env });
    let mut jobs = misuse::some(&build, &CHECKED)?;
    jobs.retain(|job| filter.is_none_or(|filter| job.name.contains(filter)));
    for job in &mut jobs {
        job.name = format!("{suite} {}", job.name);
    }
    report.suite(&suite, &run_all(jobs));
    Ok(())
}

/// Compiles a program that does nothing, and looks for the sanitizer in it: a flag that a compiler ignores must not
/// pass for a check.
fn compiles_with(sanitizer: &Sanitizer, out: &Path) -> Result<Result<(), String>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", out.display());
    std::fs::create_dir_all(out).map_err(failed)?;
    let (source, program) = (out.join("empty.c"), out.join("empty"));
    std::fs::write(&source, "int main(void) { return 0; }\n").map_err(failed)?;
    let mut compiler = Command::new("gcc");
    compiler.args(sanitizer.flags).arg(&source).arg("-o").arg(&program);
    let compiled = process::capture(&mut compiler, Duration::from_secs(60))?;
    if !compiled.status.is_some_and(|status| status.success()) {
        return Ok(Err(format!(
            "gcc cannot build with {}:\n{}",
            sanitizer.flags.join(" "),
            compiled.output()
        )));
    }
    has_symbol(&program, sanitizer.symbol)?;
    Ok(Ok(()))
}

/// An error unless `nm` lists `symbol` in `file`.
fn has_symbol(file: &Path, symbol: &str) -> Result<(), String> {
    let mut command = Command::new("nm");
    command.arg(file);
    let listed = process::capture(&mut command, Duration::from_secs(60))?;
    if listed.stdout.split_whitespace().any(|word| word == symbol) {
        println!("  {} has {symbol}", file.display());
        return Ok(());
    }
    Err(format!("{} has no {symbol}: the sanitizer is not in it", file.display()))
}

/// A library to test with, and what programs need to be linked with it; or what is missing on this machine.
enum Found {
    Library { folder: PathBuf, flags: Vec<String> },
    Absent(String),
}

/// The library that users get: AddressSanitizer sees it from outside.
fn release_library(_out: &Path) -> Result<Found, String> {
    let mut command = cargo();
    command.current_dir(root()).args(["build", "--locked", "--release", "--package", "ascendcl"]);
    if !pass_through(&mut command)? {
        return Err("the library does not build".to_owned());
    }
    Ok(Found::Library { folder: target_dir().join("release"), flags: Vec::new() })
}

/// The library with ThreadSanitizer, and with a standard library built the same way: otherwise every lock of the
/// standard library looks like a race. Programs are linked with the sanitizer's runtime that belongs to this compiler,
/// since that of gcc is older and lacks functions.
fn instrumented_library(out: &Path) -> Result<Found, String> {
    let Some(libraries) = nightly_prints("target-libdir")? else {
        return Ok(Found::Absent(
            "thread: no nightly toolchain (rustup toolchain install nightly)".to_owned(),
        ));
    };
    let sources = nightly_prints("sysroot")?.unwrap_or_default().join("lib/rustlib/src/rust/library/std");
    if !sources.is_dir() {
        let reason =
            "thread: no sources of the standard library (rustup component add rust-src --toolchain nightly)";
        return Ok(Found::Absent(reason.to_owned()));
    }
    let archives = runtimes(&libraries)?;
    let Some(runtime) = archives.first() else {
        let reason = format!("thread: no ThreadSanitizer runtime in {}", libraries.display());
        return Ok(Found::Absent(reason));
    };
    // gcc looks for its own name of that archive, first in the folders it is given.
    let named_as_gcc_asks = out.join("libtsan.a");
    let failed = |error: std::io::Error| format!("{}: {error}", named_as_gcc_asks.display());
    std::fs::copy(runtime, &named_as_gcc_asks).map_err(failed)?;

    let folder = target_dir().join("san/thread-library");
    let mut command = nightly("cargo");
    command.current_dir(root()).args(["build", "--locked", "--release", "--package", "ascendcl"]);
    command.args(["-Zbuild-std=std,panic_unwind", "--target", TARGET]);
    command.env("RUSTFLAGS", "-Zsanitizer=thread").env("CARGO_TARGET_DIR", &folder);
    // Fat LTO would cost minutes and find nothing.
    command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    if !pass_through(&mut command)? {
        return Err("the library does not build with ThreadSanitizer".to_owned());
    }
    let library = folder.join(TARGET).join("release");
    has_symbol(&library.join("libascendcl.so"), THREAD.symbol)?;
    let flags = vec!["-static-libtsan".to_owned(), format!("-L{}", out.display())];
    Ok(Found::Library { folder: library, flags })
}

/// A program of the nightly toolchain. Not through $CARGO, which is the fixed cargo of this task: only rustup's proxy
/// understands `+nightly`.
fn nightly(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_remove("RUSTUP_TOOLCHAIN").arg("+nightly");
    command
}

/// The path that the nightly compiler prints for `what`; `None` when there is no such compiler.
fn nightly_prints(what: &str) -> Result<Option<PathBuf>, String> {
    if !answers("rustc", &["+nightly", "--version"]) {
        return Ok(None);
    }
    let printed = process::capture(nightly("rustc").args(["--print", what]), Duration::from_secs(60))?;
    Ok(Some(PathBuf::from(printed.stdout.trim())))
}

/// The archives of the ThreadSanitizer runtime in a folder of the compiler's libraries.
fn runtimes(libraries: &Path) -> Result<Vec<PathBuf>, String> {
    let mut archives = crate::test::program::sources(libraries, &["a"])?;
    archives.retain(|path| path.to_string_lossy().ends_with("_rt.tsan.a"));
    Ok(archives)
}
