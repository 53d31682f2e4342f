//! The suite `misuse`: tests/misuse has two programs for each rule of the checker. As it is, a program must be reported at the line
//! that says `REPORT`, in each of [`TIMES`] runs; with `-DFIXED` nothing may be reported, in as many.
//!
//! Programs whose names begin with `silent_` are right in ways that are hard to see: nothing may be reported.
//!
//! Comments at the top: `// env: NAME=VALUE …`, `// also: RULE …` for rules that such a program cannot help breaking too, and
//! `// says: TEXT` for words that the report must have.
//!
//! Programs in Python are the same with `#` for `//`, and are mended by `FIXED=1` in the environment.

use super::process::{self, Captured};
use super::program::{Build, CPP, Wanted, sources};
use super::report::Job;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Runs of each program.
const TIMES: usize = 20;
/// What `toprope run --check strict` answers when there was a finding.
pub const FOUND: i32 = 97;

/// One job for each program.
pub fn jobs(build: &Arc<Build>) -> Result<Vec<Job>, String> {
    let folder = build.root.join("tests/misuse");
    let job = |source: PathBuf| {
        let build = Arc::clone(build);
        let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("misuse/{}", if file.ends_with(".py") { &file } else { &stem });
        Job { name, work: Box::new(move || pair(&build, &source, &stem)) }
    };
    // misuse.py is what the others share.
    let sources =
        sources(&folder, &["cpp", "py"])?.into_iter().filter(|source| !source.ends_with("misuse.py"));
    Ok(sources.map(job).collect())
}

/// A program's rule: the longest one whose id its name begins with.
fn rule_of(build: &Build, stem: &str) -> Result<String, String> {
    let folder = build.root.join("docs/rules");
    let pages = sources(&folder, &["md"])?;
    let ids = pages.iter().filter_map(|page| page.file_stem()?.to_str());
    let own = ids.filter(|id| stem.starts_with(&format!("{}_", id.replace('-', "_"))));
    own.max_by_key(|id| id.len())
        .map(str::to_owned)
        .ok_or(format!("{stem} begins with no rule of docs/rules"))
}

/// The jobs of these programs, in a build of the caller's: with a sanitizer, say.
pub fn some(build: &Arc<Build>, stems: &[&str]) -> Result<Vec<Job>, String> {
    let mut jobs = jobs(build)?;
    jobs.retain(|job| stems.iter().any(|stem| job.name == format!("misuse/{stem}")));
    if jobs.len() == stems.len() { Ok(jobs) } else { Err(format!("tests/misuse lacks one of {stems:?}")) }
}

fn pair(build: &Build, source: &Path, stem: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))?;
    let python = source.extension().is_some_and(|extension| extension == "py");
    // The comments are the same in both languages.
    let text = if python { text.replace("# ", "// ") } else { text };
    let wanted = Wanted::parse(&text)?;
    if stem.starts_with("silent_") {
        return times(build, source, stem, &wanted, false, &silent);
    }
    let rule = rule_of(build, stem)?;
    let says = text.lines().find_map(|line| line.strip_prefix("// says: ")).unwrap_or_default();
    let line = text.lines().position(|line| line.ends_with("// REPORT")).ok_or("no line says REPORT")? + 1;
    let also = text.lines().find_map(|line| line.strip_prefix("// also: ")).unwrap_or_default();
    let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let place = format!("{file}:{line})");
    times(build, source, stem, &wanted, false, &|captured| {
        reported(captured, &rule, also, &place)?;
        if captured.stderr.contains(says) { Ok(()) } else { Err(format!("no report says: {says}")) }
    })?;
    times(build, source, stem, &wanted, true, &silent)
}

/// Compiles a program, as it is or mended, and runs it [`TIMES`] times.
fn times(
    build: &Build,
    source: &Path,
    stem: &str,
    wanted: &Wanted,
    mended: bool,
    judge: &dyn Fn(&Captured) -> Result<(), String>,
) -> Result<(), String> {
    let mut variables = wanted.runs.first().cloned().unwrap_or_default();
    let program = if source.extension().is_some_and(|extension| extension == "py") {
        variables.extend(mended.then(|| ("FIXED".to_owned(), "1".to_owned())));
        source.to_owned()
    } else {
        let output = build.out.join("misuse").join(format!("{stem}{}", if mended { "-fixed" } else { "" }));
        let mut command = build.compiler(CPP[2]);
        command.args(mended.then_some("-DFIXED")).arg("-g").arg(source);
        build.link(&mut command, &output)?;
        output
    };
    let which = if mended { "mended" } else { "as it is" };
    for time in 1..=TIMES {
        let captured = run(build, &program, &variables, wanted.limit)?;
        judge(&captured).map_err(|reason| format!("{which}, run {time}: {reason}\n{}", captured.output()))?;
    }
    Ok(())
}

/// Runs a program under the checker.
pub fn run(
    build: &Build,
    program: &Path,
    variables: &[(String, String)],
    limit: Duration,
) -> Result<Captured, String> {
    let mut command = Command::new(build.library.join("toprope"));
    build.clean(&mut command);
    command.args(["run", "--check", "strict"]).arg(program).env("PYTHONDONTWRITEBYTECODE", "1");
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    process::capture(&mut command, limit)
}

/// The rules that a report names in its headers: `… [rule]`.
pub fn rules_in(stderr: &str) -> Vec<&str> {
    let headers = stderr.lines().filter(|line| line.starts_with("toprope: check: "));
    headers.filter_map(|line| line.strip_suffix(']')?.rsplit_once('[').map(|(_, rule)| rule)).collect()
}

fn silent(captured: &Captured) -> Result<(), String> {
    if captured.stderr.contains("toprope: check: ") {
        return Err("something is reported".to_owned());
    }
    match captured.status.and_then(|status| status.code()) {
        Some(0) => Ok(()),
        _ => Err(format!("{}, expected exit status 0", captured.ending())),
    }
}

fn reported(captured: &Captured, rule: &str, also: &str, place: &str) -> Result<(), String> {
    let found = rules_in(&captured.stderr);
    if let Some(other) =
        found.iter().find(|found| **found != rule && !also.split_whitespace().any(|id| id == **found))
    {
        return Err(format!("{other} is reported, which the program does not break"));
    }
    let mut lines = captured.stderr.lines();
    let mut placed = false;
    let mut note = false;
    while let Some(line) = lines.next() {
        if line.starts_with("toprope: check: ") && line.ends_with(&format!("[{rule}]")) {
            note = line.starts_with("toprope: check: note");
            // The first call's frames.
            placed |= lines
                .by_ref()
                .skip(1)
                .take_while(|line| line.starts_with("    "))
                .any(|line| line.ends_with(place));
        }
    }
    if !placed {
        return Err(format!("no report of {rule} at ({place}"));
    }
    let exit = if note { 0 } else { FOUND };
    match captured.status.and_then(|status| status.code()) {
        Some(code) if code == exit => Ok(()),
        _ => Err(format!("{}, expected exit status {exit}", captured.ending())),
    }
}

#[cfg(test)]
mod tests {
    use super::rules_in;

    #[test]
    fn headers_name_rules() {
        let text = "toprope: check: error: a [1] b [stream-race]\n  x [leak]\ntoprope: check: 1 error\n";
        assert_eq!(rules_in(text), ["stream-race"]);
    }
}
