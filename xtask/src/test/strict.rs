//! The suite `strict`: the programs of tests/conformance and examples under `--check strict`. Nothing may be reported, but for those
//! that break rules on purpose: tests/misuse/conformance.txt names them, and the rules.

use super::misuse::{FOUND, rules_in, run};
use super::program::{Build, C, CPP, Wanted, sources};
use super::report::Job;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One job for each program.
pub fn jobs(build: &Arc<Build>) -> Result<Vec<Job>, String> {
    let path = build.root.join("tests/misuse/conformance.txt");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut known = list(&text);
    let mut jobs = Vec::new();
    for folder in ["tests/conformance/c", "tests/conformance/cpp", "examples"] {
        for source in sources(&build.root.join(folder), &["c", "cpp"])? {
            let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let rules = known.remove(&file).unwrap_or_default();
            let build = Arc::clone(build);
            let name = format!("strict/{file}");
            jobs.push(Job { name, work: Box::new(move || one(&build, &source, &file, &rules)) });
        }
    }
    match known.keys().next() {
        None => Ok(jobs),
        Some(name) => Err(format!("{}: there is no program {name}", path.display())),
    }
}

/// `file: rule rule …`; `#` begins a comment.
fn list(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let line = |line: &str| {
        let (file, rules) = line.split('#').next()?.split_once(':')?;
        Some((file.trim().to_owned(), rules.split_whitespace().map(str::to_owned).collect()))
    };
    text.lines().filter_map(line).collect()
}

fn one(build: &Build, source: &PathBuf, file: &str, rules: &BTreeSet<String>) -> Result<(), String> {
    let text = std::fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))?;
    let wanted = Wanted::parse(&text)?;
    let standard = if file.ends_with(".c") { C[0] } else { CPP[3] };
    let output: &Path = &build.out.join("strict").join(file.replace('.', "-"));
    build.compile(source, standard, Some(output))?;
    let mut all = BTreeSet::new();
    for variables in &wanted.runs {
        let captured = run(build, output, variables, wanted.limit)?;
        let serious = captured.stderr.lines().filter(|line| !line.starts_with("toprope: check: note"));
        let serious: String = serious.flat_map(|line| [line, "\n"]).collect();
        let found: BTreeSet<String> = rules_in(&serious).into_iter().map(str::to_owned).collect();
        if let Some(rule) = found.difference(rules).next() {
            return Err(format!("{rule} is reported {variables:?}\n{}", captured.output()));
        }
        let exit = if found.is_empty() { wanted.exit } else { FOUND };
        if captured.status.and_then(|status| status.code()) != Some(exit) {
            return Err(format!(
                "{}, expected exit status {exit} {variables:?}\n{}",
                captured.ending(),
                captured.output()
            ));
        }
        all.extend(found);
    }
    match rules.difference(&all).next() {
        None => Ok(()),
        Some(rule) => Err(format!("{rule} is not reported, which tests/misuse/conformance.txt expects")),
    }
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn the_list_is_read() {
        let list = list("# comment\na.c: leak free-in-use # why\n\nb.cpp: leak\n");
        assert_eq!(list.len(), 2);
        assert!(list["a.c"].contains("free-in-use") && list["b.cpp"].len() == 1);
    }
}
