//! Counts and lines.

use std::collections::BTreeSet;

use crate::row::Standing;
use crate::spec::{Rule, Spec};
use crate::target::Target;

/// What a target came to.
pub struct Results {
    /// The target.
    pub target: Target,
    /// Rows that hold.
    pub passed: Vec<String>,
    /// Rows that do not, with what was wrong.
    pub failed: Vec<(String, String)>,
    /// Rows that cannot be tested here.
    pub hardware: usize,
    /// Rows of functions that are not built.
    pub not_built: usize,
    /// Rows without a proof.
    pub missing: BTreeSet<String>,
    /// Rows that are to run.
    due: BTreeSet<String>,
}

impl Results {
    /// Nothing yet.
    pub fn new(target: Target) -> Results {
        Results {
            target,
            passed: Vec::new(),
            failed: Vec::new(),
            hardware: 0,
            not_built: 0,
            missing: BTreeSet::new(),
            due: BTreeSet::new(),
        }
    }

    /// Counts a rule by its standing.
    pub fn count(&mut self, rule: &Rule, standing: &Standing<'_>) {
        match standing {
            Standing::Elsewhere => {}
            Standing::Runs(_) | Standing::Refused => {
                self.due.insert(rule.id.clone());
            }
            Standing::NotBuilt => self.not_built += 1,
            Standing::Hardware(_) => self.hardware += 1,
            Standing::Missing => {
                self.missing.insert(rule.id.clone());
            }
        }
    }

    /// A row holds.
    pub fn passed(&mut self, id: &str) {
        self.passed.push(id.to_owned());
    }

    /// A row does not hold.
    pub fn failed(&mut self, id: &str, why: &str) {
        self.failed.push((id.to_owned(), why.to_owned()));
    }

    /// Rows that were to run and of which nothing was heard: a fault of this suite.
    pub fn silent(&self) -> Vec<&str> {
        let heard: BTreeSet<&str> =
            self.passed.iter().chain(self.failed.iter().map(|(id, _)| id)).map(String::as_str).collect();
        self.due.iter().map(String::as_str).filter(|id| !heard.contains(id)).collect()
    }

    /// Prints a line for each row that failed; with `verbose` for each that holds, too.
    pub fn lines(&self, spec: &Spec, verbose: bool) {
        if verbose {
            for id in &self.passed {
                println!("ok {id} [{}]", self.target);
            }
        }
        for (id, why) in &self.failed {
            let rule = spec.rules.iter().find(|rule| rule.id == *id).map_or("", |rule| &rule.text);
            println!("FAILED {id} [{}] {rule}\n  {}", self.target, why.replace('\n', "\n  "));
        }
    }
}

/// The table over all targets.
pub fn table(all: &[Results]) {
    println!(
        "\n{:<22} {:>8} {:>8} {:>8} {:>9} {:>8}",
        "target", "executed", "failed", "hardware", "not built", "missing"
    );
    for results in all {
        println!(
            "{:<22} {:>8} {:>8} {:>8} {:>9} {:>8}",
            results.target.to_string(),
            results.passed.len() + results.failed.len(),
            results.failed.len(),
            results.hardware,
            results.not_built,
            results.missing.len()
        );
    }
}
