//! The Python tests: pytest on tests/conformance/python, without and with the checker, and the wheel in a fresh virtual environment. The tools come from an
//! environment of the project's own below target/, made when its requirements change.

use super::Options;
use super::process::{answers, capture, pass_through, root, target_dir};
use super::program::sources;
use super::report::Report;
use super::strict;
use crate::python;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Time for everything; the tests have limits of their own.
const LIMIT: Duration = Duration::from_secs(900);

/// Runs the suite, when the filter lets something of it pass: `python/NAME` runs the tests whose name contains NAME.
pub fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let name = match &options.filter {
        None => "",
        Some(filter) => match filter.strip_prefix("python") {
            Some(rest) => rest.trim_start_matches('/'),
            None => return Ok(()),
        },
    };
    println!("\npython");
    if !answers("python3", &["-c", "import venv, ensurepip"]) {
        return Err("missing: python3 with venv (Debian and Ubuntu: apt-get install python3-venv)".to_owned());
    }
    let tools = environment()?;
    python::build(!options.dev)?;
    let (passed, failed) = pytest(&tools, options, name)?;
    if failed > 0 {
        report.failure("python (see above)");
    }
    report.add("python", passed, failed);
    if name.is_empty() || "strict".contains(name) {
        strict(&tools, options, report)?;
    }
    if name.is_empty() || "wheel".contains(name) {
        match wheel(&tools, options) {
            Ok(()) => report.add("wheel", 1, 0),
            Err(reason) => {
                println!("  {}", reason.trim_end());
                report.failure("wheel");
                report.add("wheel", 0, 1);
            }
        }
    }
    Ok(())
}

/// The environment with pytest and the rest, made anew when the requirements have changed.
pub fn environment() -> Result<PathBuf, String> {
    let folder = target_dir().join("python-tools");
    let requirements = root().join("tests/conformance/python/requirements.txt");
    let wanted = std::fs::read_to_string(&requirements)
        .map_err(|error| format!("{}: {error}", requirements.display()))?;
    let noted = folder.join("requirements.txt");
    if std::fs::read_to_string(&noted).ok().as_deref() != Some(wanted.as_str()) {
        println!("  installing pytest, numpy, mypy and maturin into {}", folder.display());
        must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder), "python3 -m venv")?;
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&requirements);
        must(&mut pip, "pip install")?;
        std::fs::write(&noted, wanted).map_err(|error| format!("{}: {error}", noted.display()))?;
    }
    Ok(folder)
}

fn must(command: &mut Command, what: &str) -> Result<(), String> {
    if pass_through(command)? { Ok(()) } else { Err(format!("{what} failed")) }
}

/// Runs pytest; how many tests passed and failed.
fn pytest(tools: &Path, options: &Options, name: &str) -> Result<(usize, usize), String> {
    let mut command = Command::new(tools.join("bin/python"));
    command.current_dir(root()).args([
        "-m",
        "pytest",
        "-q",
        "--tb=short",
        "--color=no",
        "-p",
        "no:cacheprovider",
    ]);
    command.arg("tests/conformance/python").env("PYTHONPATH", python::layout(!options.dev));
    command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("LD_LIBRARY_PATH");
    if !name.is_empty() {
        command.args(["-k", name]);
    }
    let captured = capture(&mut command, LIMIT)?;
    let last = captured.stdout.lines().rev().find(|line| line.contains(" in ")).unwrap_or_default();
    let (passed, failed) = counts(last);
    // 5: no test has such a name.
    let ended_well =
        captured.status.and_then(|status| status.code()).is_some_and(|code| code == 0 || code == 5);
    if ended_well {
        println!("  {last}");
        return Ok((passed, failed));
    }
    println!("{}\n{}", captured.ending(), captured.output());
    Ok((passed, failed.max(1)))
}

/// The tests under the checker: each file breaks the rules that tests/misuse/conformance.txt names, and no others.
fn strict(tools: &Path, options: &Options, report: &mut Report) -> Result<(), String> {
    let known = strict::known(&root())?;
    let (mut passed, mut failed) = (0, 0);
    for file in sources(&root().join("tests/conformance/python"), &["py"])? {
        let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Types are not run.
        if !file.starts_with("test_") || file == "test_typing.py" {
            continue;
        }
        match under_checker(tools, options, &file, known.get(&file).unwrap_or(&BTreeSet::new())) {
            Ok(()) => passed += 1,
            Err(reason) => {
                println!("  {file}: {}", reason.trim_end());
                report.failure(&format!("python strict {file}"));
                failed += 1;
            }
        }
    }
    report.add("python strict", passed, failed);
    Ok(())
}

fn under_checker(
    tools: &Path,
    options: &Options,
    file: &str,
    rules: &BTreeSet<String>,
) -> Result<(), String> {
    let mut command = Command::new(tools.join("bin/python"));
    // Not captured, or pytest keeps the report.
    command.args(["-m", "pytest", "-q", "-s", "--tb=short", "--color=no", "-p", "no:cacheprovider"]);
    command.current_dir(root()).arg(format!("tests/conformance/python/{file}"));
    command.env("PYTHONPATH", python::layout(!options.dev)).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env_remove("LD_LIBRARY_PATH").env("TOPROPE_CHECK", "warn");
    let captured = capture(&mut command, LIMIT)?;
    if !captured.status.is_some_and(|status| status.success()) {
        return Err(format!("{}\n{}", captured.ending(), captured.output()));
    }
    let found = strict::serious(&captured.stderr);
    match found.difference(rules).next() {
        Some(rule) => Err(format!("{rule} is reported\n{}", captured.output())),
        None => strict::all_found(rules, &found),
    }
}

/// `2 failed, 1190 passed, 1 error in 8.50s`
fn counts(line: &str) -> (usize, usize) {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let count = |what: &[&str]| -> usize {
        words
            .windows(2)
            .filter(|pair| what.contains(&pair[1]))
            .filter_map(|pair| pair[0].parse::<usize>().ok())
            .sum()
    };
    (count(&["passed"]), count(&["failed", "error", "errors"]))
}

/// Makes the wheel, installs it into a fresh environment, and uses it there with no variable set.
fn wheel(tools: &Path, options: &Options) -> Result<(), String> {
    let folder = target_dir().join("wheels");
    let maturin = tools.join("bin/maturin");
    let wheel = python::make_wheel(&maturin.to_string_lossy(), !options.dev, &folder)?;
    let fresh = target_dir().join("python-fresh");
    must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&fresh), "python3 -m venv")?;
    let python = fresh.join("bin/python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]).arg(&wheel);
    must(&mut pip, "pip install of the wheel")?;
    for example in ["copy.py", "segments.py"] {
        let mut command = Command::new(&python);
        command.arg("-I").arg(root().join("examples").join(example)).current_dir(&fresh);
        for name in ["PYTHONPATH", "LD_LIBRARY_PATH", "ASCEND_HOME_PATH"] {
            command.env_remove(name);
        }
        let captured = capture(&mut command, Duration::from_secs(60))?;
        let good = captured.status.is_some_and(|status| status.success());
        if !good || captured.stdout.lines().last() != Some("ok") {
            return Err(format!("{example} with the wheel: {}\n{}", captured.ending(), captured.output()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn counts_are_found_in_the_last_line() {
        assert_eq!(counts("1194 passed in 27.32s"), (1194, 0));
        assert_eq!(counts("2 failed, 1190 passed, 3 warnings, 1 error in 8.50s"), (1190, 3));
        assert_eq!(counts("1194 deselected in 0.3s"), (0, 0));
    }
}
