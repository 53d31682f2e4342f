//! Two streams touch the same bytes, at least one writes, and nothing orders them.

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::{self, Race};
use crate::model::names::Names;

/// The rule.
pub static RULE: Rule = Rule {
    id: "stream-race",
    level: Level::Error,
    title: "Two streams touch the same bytes and nothing orders them",
    mend: "record an event in the first stream after its task, and let the second wait for it with aclrtStreamWaitEvent before its own",
};

/// Its finding.
pub fn finding(names: &Names, race: &Race) -> Finding {
    let text = format!(
        "{} and {} touch {} bytes at {:#x} in no order",
        names.of(race.later.who),
        names.of(race.earlier.who),
        race.len,
        race.start
    );
    race::sides(Finding::new(&RULE, text), names, race)
}
