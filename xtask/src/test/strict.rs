//! The suite `strict`: the programs of tests/conformance and examples (the tests in Python: [`super::python`]) under `--check strict`. Nothing may be reported, but for those
//! that break rules on purpose: tests/misuse/conformance.txt names them, and the rules.

use super::kernel;
use super::misuse::{FOUND, rules_in, run};
use super::program::{Build, C, CPP, Wanted, compiled, sources};
use super::report::Job;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One job for each program.
pub fn jobs(build: &Arc<Build>) -> Result<Vec<Job>, String> {
    let mut known = known(&build.root)?;
    let mut jobs = Vec::new();
    for folder in ["tests/conformance/c", "tests/conformance/cpp", "tests/conformance/kernel", "examples"] {
        for source in sources(&build.root.join(folder), &["c", "cpp", "py"])? {
            let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let rules = known.remove(&file).unwrap_or_default();
            let build = Arc::clone(build);
            let name = format!("strict/{file}");
            jobs.push(Job { name, work: Box::new(move || one(&build, &source, &file, &rules)) });
        }
    }
    // Those in Python: super::python.
    match known.keys().find(|name| !name.ends_with(".py")) {
        None => Ok(jobs),
        Some(name) => Err(format!("tests/misuse/conformance.txt: there is no program {name}")),
    }
}

/// The list of tests/misuse: the rules that a program breaks on purpose.
pub fn known(build_root: &Path) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let path = build_root.join("tests/misuse/conformance.txt");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(list(&text))
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
    let output = build.out.join("strict").join(file.replace('.', "-"));
    let program = if file.ends_with(".py") {
        source.clone()
    } else if source.parent().is_some_and(|folder| folder.ends_with("kernel")) {
        compiled(&mut kernel::command(build, source, CPP[2], &output)?)?;
        output
    } else {
        build.compile(source, if file.ends_with(".c") { C[0] } else { CPP[3] }, Some(&output))?;
        output
    };
    let mut all = BTreeSet::new();
    for variables in &wanted.runs {
        let captured = run(build, &program, variables, wanted.limit)?;
        let found = serious(&captured.stderr);
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
    all_found(rules, &all)
}

/// Whether everything was found that the list names.
pub fn all_found(rules: &BTreeSet<String>, found: &BTreeSet<String>) -> Result<(), String> {
    match rules.difference(found).next() {
        None => Ok(()),
        Some(rule) => Err(format!("{rule} is not reported, which tests/misuse/conformance.txt expects")),
    }
}

/// The rules of the errors and warnings that a report names.
pub fn serious(stderr: &str) -> BTreeSet<String> {
    let lines = stderr.lines().filter(|line| !line.starts_with("toprope: check: note"));
    let serious: String = lines.flat_map(|line| [line, "\n"]).collect();
    rules_in(&serious).into_iter().map(str::to_owned).collect()
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
