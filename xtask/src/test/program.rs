//! C and C++ test programs: their header comments, how they are compiled, how they are run and judged.
//!
//! A program passes when it exits with 0 and its last line is `ok`. Comments at its top change that:
//! `// env: NAME=VALUE …` (one run per such line), `// expect-exit: N`, `// expect-stderr: text`, `// timeout: SECONDS`.

use super::process;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A language standard that programs are compiled for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Standard {
    /// As the compiler spells it: `c99`, `c++11`, …
    pub name: &'static str,
    /// `gcc` or `g++`.
    pub compiler: &'static str,
    /// Whether programs are run in this standard, or only compiled.
    pub runs: bool,
}

/// C programs and headers.
pub const C: [Standard; 1] = [Standard { name: "c99", compiler: "gcc", runs: true }];

/// C++ programs and headers. The oldest and the newest are run; what lies between can differ at compile time only.
pub const CPP: [Standard; 4] = [
    Standard { name: "c++11", compiler: "g++", runs: true },
    Standard { name: "c++14", compiler: "g++", runs: false },
    Standard { name: "c++17", compiler: "g++", runs: false },
    Standard { name: "c++20", compiler: "g++", runs: true },
];

/// The warnings that headers and programs must be free of.
pub const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

const COMPILE_LIMIT: Duration = Duration::from_secs(120);

/// What the comments at the top of a program ask for.
#[derive(Debug, PartialEq, Eq)]
pub struct Wanted {
    /// One run for each entry: the variables of that run.
    pub runs: Vec<Vec<(String, String)>>,
    /// The exit status that is right.
    pub exit: i32,
    /// A text that standard error must contain.
    pub stderr: Option<String>,
    /// The time limit of one run.
    pub limit: Duration,
}

impl Wanted {
    /// Reads the comments at the top of `source`; an unknown or malformed one is an error, so that no typing slip
    /// turns a check off.
    pub fn parse(source: &str) -> Result<Wanted, String> {
        let mut wanted = Wanted { runs: Vec::new(), exit: 0, stderr: None, limit: Duration::from_secs(60) };
        for line in source.lines().take_while(|line| line.starts_with("//") || line.trim().is_empty()) {
            let Some((key, value)) = line.trim_start_matches('/').trim().split_once(": ") else { continue };
            let value = value.trim();
            match key {
                "env" => wanted.runs.push(variables(value)?),
                "expect-exit" => wanted.exit = number(key, value)?,
                "expect-stderr" => wanted.stderr = Some(value.to_owned()),
                "timeout" => wanted.limit = Duration::from_secs(number(key, value)?),
                _ if key.starts_with("expect") || key.starts_with("env") => {
                    return Err(format!("unknown comment `{key}:`"));
                }
                _ => {}
            }
        }
        if wanted.runs.is_empty() {
            wanted.runs.push(Vec::new());
        }
        Ok(wanted)
    }
}

fn number<N: std::str::FromStr>(key: &str, value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("`{key}: {value}` is not a number"))
}

fn variables(value: &str) -> Result<Vec<(String, String)>, String> {
    let pair = |word: &str| {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("`env: {word}` has no `=`"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    value.split_whitespace().map(pair).collect()
}

/// Where a build finds headers and library, and puts what it makes.
pub struct Build {
    /// The root of the workspace.
    pub root: PathBuf,
    /// The folder of libascendcl.so.
    pub library: PathBuf,
    /// The folder for compiled programs.
    pub out: PathBuf,
    /// Further compiler flags (sanitizers).
    pub flags: Vec<String>,
    /// Further variables of every run.
    pub env: Vec<(String, String)>,
}

impl Build {
    /// A compiler command with the include paths, the warnings and the standard.
    pub fn compiler(&self, standard: Standard) -> Command {
        let mut command = Command::new(standard.compiler);
        command.arg(format!("-std={}", standard.name)).args(WARNINGS).args(&self.flags);
        command.arg("-I").arg(self.root.join("include"));
        command
    }

    /// Compiles `source`; `None` checks the syntax only.
    pub fn compile(&self, source: &Path, standard: Standard, output: Option<&Path>) -> Result<(), String> {
        let mut command = self.compiler(standard);
        command.arg("-g").arg("-I").arg(self.root.join("tests/conformance")).arg(source);
        match output {
            None => {
                command.arg("-fsyntax-only");
            }
            Some(output) => return self.link(&mut command, output),
        }
        compiled(&mut command)
    }

    /// Runs a compiler command that links a program against the library.
    pub fn link(&self, command: &mut Command, output: &Path) -> Result<(), String> {
        if let Some(folder) = output.parent() {
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        command.arg("-o").arg(output).arg("-L").arg(&self.library);
        command.arg(format!("-Wl,-rpath,{}", self.library.display())).args(["-lascendcl", "-pthread"]);
        compiled(command)
    }

    /// Takes the caller's own settings away, which must not change what is tested.
    pub fn clean(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            let known = name.to_string_lossy();
            if known.starts_with("TOPROPE_") || known.starts_with("ASCEND") || known == "LD_LIBRARY_PATH" {
                command.env_remove(name);
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
    }

    /// Runs `program` as `wanted` says, once for each set of variables.
    pub fn run(&self, program: &Path, wanted: &Wanted, last_line: Option<&str>) -> Result<(), String> {
        for variables in &wanted.runs {
            let mut command = Command::new(program);
            self.clean(&mut command);
            command.envs(variables.iter().map(|(name, value)| (name, value)));
            let captured = process::capture(&mut command, wanted.limit)?;
            judge(&captured, wanted, last_line).map_err(|reason| {
                let set: Vec<String> =
                    variables.iter().map(|(name, value)| format!(" {name}={value}")).collect();
                format!("{reason}{}\n{}", set.concat(), captured.output())
            })?;
        }
        Ok(())
    }
}

/// Runs a compiler; its messages are the error.
pub fn compiled(command: &mut Command) -> Result<(), String> {
    let captured = process::capture(command, COMPILE_LIMIT)?;
    match captured.status {
        Some(status) if status.success() => Ok(()),
        _ => Err(format!("does not compile ({})\n{}", captured.ending(), captured.output())),
    }
}

fn judge(captured: &process::Captured, wanted: &Wanted, last_line: Option<&str>) -> Result<(), String> {
    if captured.status.and_then(|status| status.code()) != Some(wanted.exit) {
        return Err(format!("{}, expected exit status {}", captured.ending(), wanted.exit));
    }
    let last = captured.stdout.lines().last().unwrap_or_default();
    if let Some(expected) = last_line.filter(|_| wanted.exit == 0)
        && last != expected
    {
        return Err(format!("the last line is `{last}`, expected `{expected}`"));
    }
    match &wanted.stderr {
        Some(text) if !captured.stderr.contains(text.as_str()) => {
            Err(format!("standard error does not contain `{text}`"))
        }
        _ => Ok(()),
    }
}

/// The sources with one of `extensions` directly in `folder`, in the order of their names.
pub fn sources(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().and_then(|extension| extension.to_str()).is_some_and(|e| extensions.contains(&e))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_at_the_top_are_read() {
        let source = "// What it does: something.\n// env: A=1 B=two\n// env: A=3\n// expect-exit: 97\n\
                      // expect-stderr: no end\n// timeout: 5\n#include <acl/acl.h>\n// expect-exit: 3\n";
        let wanted = Wanted::parse(source).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(wanted.runs, [vec![pair("A", "1"), pair("B", "two")], vec![pair("A", "3")]]);
        assert_eq!((wanted.exit, wanted.stderr.as_deref(), wanted.limit.as_secs()), (97, Some("no end"), 5));
    }

    #[test]
    fn no_comment_means_one_plain_run() {
        let wanted = Wanted::parse("#include <acl/acl.h>\n").unwrap();
        assert_eq!((wanted.runs.len(), wanted.exit, wanted.stderr), (1, 0, None));
    }

    #[test]
    fn slips_are_errors() {
        assert!(Wanted::parse("// expect-exit: one\n").is_err());
        assert!(Wanted::parse("// expect-output: x\n").is_err());
        assert!(Wanted::parse("// env: TOPROPE_PRODUCT\n").is_err());
    }

    #[test]
    fn endings_are_judged() {
        let shell = |script: &str, wanted: &str, last: Option<&str>| {
            let captured =
                process::capture(Command::new("sh").args(["-c", script]), Duration::from_secs(5)).unwrap();
            judge(&captured, &Wanted::parse(wanted).unwrap(), last)
        };
        assert!(shell("echo ok", "", Some("ok")).is_ok());
        assert!(shell("echo ok; echo more", "", Some("ok")).is_err());
        assert!(shell("echo ok; exit 1", "", Some("ok")).is_err());
        assert!(shell("kill -SEGV $$", "", None).is_err());
        assert!(
            shell("echo lost >&2; exit 97", "// expect-exit: 97\n// expect-stderr: lost\n", Some("ok"))
                .is_ok()
        );
        assert!(shell("exit 97", "// expect-exit: 97\n// expect-stderr: lost\n", Some("ok")).is_err());
    }

    #[test]
    fn a_program_without_end_is_stopped_with_its_children() {
        let start = std::time::Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]);
        let captured = process::capture(&mut command, Duration::from_millis(100)).unwrap();
        assert!(captured.status.is_none());
        assert!(start.elapsed() < Duration::from_secs(60), "children kept the pipe open");
    }
}
