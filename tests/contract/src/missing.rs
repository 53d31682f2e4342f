//! `missing/CHAPTER.txt`: rows that nobody has proved yet. A row that is missing and not listed fails the suite, and so does one
//! that is listed though it is not missing; the aim is no file at all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::row::{Plan, Standing};
use crate::spec::{Spec, root};
use crate::target::Target;

fn folder() -> PathBuf {
    root().join("tests/contract/missing")
}

/// Missing rows by chapter.
fn missing(plan: &Plan, spec: &Spec, targets: &[Target]) -> BTreeMap<String, Vec<String>> {
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for rule in &spec.rules {
        let here = |target: &Target| matches!(plan.standing(spec, rule, target), Standing::Missing);
        if targets.iter().any(here) {
            missing.entry(spec.chapter(rule).to_owned()).or_default().push(rule.id.clone());
        }
    }
    missing
}

fn listed() -> Result<BTreeSet<String>, String> {
    let mut listed = BTreeSet::new();
    let Ok(files) = std::fs::read_dir(folder()) else { return Ok(listed) };
    for file in files.flatten() {
        let text =
            std::fs::read_to_string(file.path()).map_err(|error| format!("{:?}: {error}", file.path()))?;
        listed.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(listed)
}

/// What is wrong with the lists.
pub fn check(plan: &Plan, spec: &Spec, targets: &[Target]) -> Result<Vec<String>, String> {
    let listed = listed()?;
    let missing: BTreeSet<String> = missing(plan, spec, targets).into_values().flatten().collect();
    if !listed.is_empty() {
        println!("{} rows are still to be written (missing/)", listed.len());
    }
    let unlisted = missing.difference(&listed).map(|id| format!("{id}: missing"));
    let stale =
        listed.difference(&missing).map(|id| format!("{id}: listed in missing/, but it is not missing"));
    Ok(unlisted.chain(stale).collect())
}

/// Writes the lists anew.
pub fn write(plan: &Plan, spec: &Spec, targets: &[Target]) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder().display());
    let missing = missing(plan, spec, targets);
    if let Ok(files) = std::fs::read_dir(folder()) {
        for file in files.flatten() {
            std::fs::remove_file(file.path()).map_err(failed)?;
        }
    }
    if !missing.is_empty() {
        std::fs::create_dir_all(folder()).map_err(failed)?;
    }
    for (chapter, ids) in missing {
        println!("{chapter}: {}", ids.len());
        std::fs::write(folder().join(format!("{chapter}.txt")), ids.join("\n") + "\n").map_err(failed)?;
    }
    Ok(())
}
