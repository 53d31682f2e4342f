//! A thread has waited for long for something that only another thread of the program can bring about.

use std::time::Duration;

use crate::finding::{Finding, Level, Rule};
use crate::stuck::{Node, Scene};

/// The rule.
pub static RULE: Rule = Rule {
    id: "long-wait",
    level: Level::Note,
    title: "A long wait for something that the runtime knows nothing of",
    mend: "look whether another thread will still record, write or process what is waited for",
};

/// Its finding.
pub fn finding(scene: &Scene<'_>, index: usize, patience: Duration) -> Finding {
    let from = Node::Thread(index);
    let (nodes, end) = scene.chain(from);
    let what = scene.waits.get(index).map(|wait| scene.wait(wait)).unwrap_or_default();
    let why = scene.why(&nodes, end);
    let text = format!("{what}, for {} ms so far: {why}; it may still come", patience.as_millis());
    let finding = nodes.iter().fold(Finding::new(&RULE, text), |finding, node| scene.add(finding, *node));
    scene.add_enders(finding, end)
}
