//! `cargo xtask python [--release] [--wheel]`: builds the module `acl`.
//!
//! Without `--wheel` the package is laid out in `target/<profile>/python` (the build script of crates/python does that), to be put
//! on PYTHONPATH. With it, maturin makes `target/wheels/toprope-….whl`, which carries `libascendcl.so` under its true name.

use crate::test::process::{answers, cargo, pass_through, root, target_dir};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Runs the task.
pub fn run(args: &[String]) -> Result<ExitCode, String> {
    let (mut release, mut wheel) = (false, false);
    for arg in args {
        match arg.as_str() {
            "--release" => release = true,
            "--wheel" => wheel = true,
            other => return Err(format!("unknown option {other} (--release, --wheel)")),
        }
    }
    // Told before a build of minutes.
    let maturin = if wheel { maturin()? } else { String::new() };
    build(release)?;
    if wheel {
        println!("{}", make_wheel(&maturin, release, &target_dir().join("wheels"))?.display());
    } else {
        println!("PYTHONPATH={}", layout(release).display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The maturin of the path, else the one that the tests have installed for themselves.
fn maturin() -> Result<String, String> {
    let own = target_dir().join("python-tools/bin/maturin").to_string_lossy().into_owned();
    let found = ["maturin".to_owned(), own].into_iter().find(|maturin| answers(maturin, &["--version"]));
    found.ok_or_else(|| {
        "maturin cannot be run; in a virtual environment: pip install -r tests/conformance/python/requirements.txt"
            .to_owned()
    })
}

fn profile_folder(release: bool) -> PathBuf {
    target_dir().join(if release { "release" } else { "debug" })
}

/// The folder that holds the package `acl` of a profile.
pub fn layout(release: bool) -> PathBuf {
    profile_folder(release).join("python")
}

/// Builds the extension and the library.
pub fn build(release: bool) -> Result<(), String> {
    let mut command = cargo();
    command.current_dir(root()).args([
        "build",
        "--quiet",
        "--locked",
        "-p",
        "toprope-python",
        "-p",
        "ascendcl",
    ]);
    command.args(release.then_some("--release"));
    if pass_through(&mut command)? { Ok(()) } else { Err("the module does not build".to_owned()) }
}

/// Makes the wheel in `folder` with this maturin, and returns its path. The library must be built.
pub fn make_wheel(maturin: &str, release: bool, folder: &Path) -> Result<PathBuf, String> {
    let crate_folder = root().join("crates/python");
    let inside = crate_folder.join("python/acl/libascendcl.so");
    let library = profile_folder(release).join("libascendcl.so");
    std::fs::copy(&library, &inside).map_err(|error| format!("{}: {error}", library.display()))?;
    for old in wheels(folder) {
        let _ = std::fs::remove_file(old);
    }
    let mut command = Command::new(maturin);
    command.current_dir(&crate_folder).args([
        "build",
        "--quiet",
        "--locked",
        "--auditwheel",
        "skip",
        "--compatibility",
        "linux",
    ]);
    command.args(["--profile", if release { "release" } else { "dev" }, "--out"]).arg(folder);
    let made = pass_through(&mut command);
    let _ = std::fs::remove_file(&inside);
    if !made? {
        return Err("maturin made no wheel".to_owned());
    }
    wheels(folder).pop().ok_or_else(|| format!("no wheel in {}", folder.display()))
}

fn wheels(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|ext| ext == "whl")).collect()
}
