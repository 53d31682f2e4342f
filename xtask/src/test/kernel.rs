//! Programs with kernels, built by `toprope c++`: those that run, and those whose device code is refused at the right line.
//!
//! A refused one says `// expect-error: text` at its top, and `// <- error` at the end of each line that the compiler must name with it.

use super::process::{self, answers};
use super::program::{Build, Standard, WARNINGS, Wanted, compiled, sources};
use super::report::Job;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The oldest and the newest standard, the default one, and the other compiler where there is one.
const BUILDS: [Standard; 4] = [
    Standard { name: "c++11", compiler: "g++", runs: true },
    Standard { name: "c++17", compiler: "g++", runs: true },
    Standard { name: "c++20", compiler: "g++", runs: true },
    Standard { name: "c++17", compiler: "clang++", runs: true },
];

const COMPILE_LIMIT: Duration = Duration::from_secs(120);

/// The jobs of the suite.
pub fn jobs(build: &Arc<Build>) -> Result<Vec<Job>, String> {
    let folder = build.root.join("tests/conformance/kernel");
    let mut jobs = Vec::new();
    for standard in BUILDS.into_iter().filter(|s| s.compiler == "g++" || answers(s.compiler, &["--version"]))
    {
        for source in sources(&folder, &["cpp"])? {
            let work =
                move |build: &Build, source: &Path, output: &Path| run(build, source, standard, output);
            jobs.push(job(build, "kernel", source, standard, work));
        }
        for source in sources(&folder.join("refused"), &["cpp"])? {
            let work =
                move |build: &Build, source: &Path, output: &Path| refused(build, source, standard, output);
            jobs.push(job(build, "kernel/refused", source, standard, work));
        }
    }
    Ok(jobs)
}

fn job(
    build: &Arc<Build>,
    suite: &str,
    source: PathBuf,
    standard: Standard,
    work: impl Fn(&Build, &Path, &Path) -> Result<(), String> + Send + Sync + 'static,
) -> Job {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (compiler, version) = (standard.compiler, standard.name);
    let name = format!("{suite}/{stem} [{compiler} {version}]");
    let output = build.out.join(suite).join(format!("{stem}-{compiler}-{version}"));
    let build = Arc::clone(build);
    Job { name, work: Box::new(move || work(&build, &source, &output)) }
}

fn run(build: &Build, source: &Path, standard: Standard, output: &Path) -> Result<(), String> {
    let wanted = Wanted::parse(&read(source)?)?;
    compiled(&mut command(build, source, standard, output)?)?;
    build.run(output, &wanted, Some("ok"))
}

fn refused(build: &Build, source: &Path, standard: Standard, output: &Path) -> Result<(), String> {
    let text = read(source)?;
    let expected = Expected::parse(&text)?;
    let captured = process::capture(&mut command(build, source, standard, output)?, COMPILE_LIMIT)?;
    if captured.status.is_some_and(|status| status.success()) {
        return Err("it compiles".to_owned());
    }
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    expected.judge(&name, &captured.output())
}

/// `toprope c++` with the compiler and standard underneath, the warnings, and the library that was just built.
pub fn command(build: &Build, source: &Path, standard: Standard, output: &Path) -> Result<Command, String> {
    if let Some(folder) = output.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut command = Command::new(build.library.join("toprope"));
    command.env("CXX", standard.compiler).arg("c++").arg(format!("-std={}", standard.name));
    command.args(WARNINGS).args(["-g", "-O1"]).arg("-I").arg(build.root.join("tests/conformance"));
    command.arg(source).arg("-o").arg(output);
    Ok(command)
}

fn read(source: &Path) -> Result<String, String> {
    std::fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))
}

/// What the compiler must say.
struct Expected<'a> {
    text: &'a str,
    lines: Vec<usize>,
}

impl<'a> Expected<'a> {
    fn parse(source: &'a str) -> Result<Expected<'a>, String> {
        let text = source.lines().find_map(|line| line.strip_prefix("// expect-error: "));
        let text = text.ok_or("no `// expect-error: text` at the top")?.trim();
        let marked = source.lines().enumerate().filter(|(_, line)| line.trim_end().ends_with("// <- error"));
        let lines: Vec<usize> = marked.map(|(index, _)| index + 1).collect();
        if lines.is_empty() {
            return Err("no line is marked `// <- error`".to_owned());
        }
        Ok(Expected { text, lines })
    }

    /// Every marked line is named with the text, and no other line of `file` has an error.
    fn judge(&self, file: &str, output: &str) -> Result<(), String> {
        let at = |line: usize| format!("{file}:{line}:");
        let errors: Vec<&str> = output.lines().filter(|line| line.contains("error: ")).collect();
        for &line in &self.lines {
            if !errors.iter().any(|error| error.contains(&at(line)) && error.contains(self.text)) {
                return Err(format!("no error at line {line} that says `{}`\n{output}", self.text));
            }
        }
        let expected = |error: &str| self.lines.iter().any(|&line| error.contains(&at(line)));
        match errors.iter().find(|error| error.contains(&format!("{file}:")) && !expected(error)) {
            Some(error) => Err(format!("not expected: {error}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_every_marked_line_and_no_other() {
        let source = "// expect-error: not built\nint a; // <- error\nint b;\nint c; // <- error\n";
        let expected = Expected::parse(source).unwrap();
        let two = "x.cpp:2:5: error: not built\nx.cpp:4:1: error: call, not built yet\n";
        assert!(expected.judge("x.cpp", two).is_ok());
        assert!(expected.judge("x.cpp", &two.replace(":4:", ":3:")).is_err());
        assert!(expected.judge("x.cpp", &format!("{two}x.cpp:3:1: error: other\n")).is_err());
        assert!(
            expected.judge("x.cpp", &two.replace("built yet", "known").replace("not known", "odd")).is_err()
        );
        assert!(Expected::parse("int a; // <- error\n").is_err());
        assert!(Expected::parse("// expect-error: x\nint a;\n").is_err());
    }
}
