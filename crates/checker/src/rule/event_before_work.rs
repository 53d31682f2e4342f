//! A stream waited for an event that was recorded before the work that it should cover.

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::{self, Race};
use crate::model::names::Names;
use crate::model::streams::Waited;

/// The rule.
pub static RULE: Rule = Rule {
    id: "event-before-work",
    level: Level::Error,
    title: "An event was recorded before the work that a wait for it should cover",
    mend: "record the event after the task, and wait after the record: a wait covers what the event held when the wait was called",
};

/// Its finding.
pub fn finding(names: &Names, race: &Race, waited: &Waited) -> Finding {
    let text = format!(
        "{} waited for an event of {}, but it was recorded before the task that touches {} bytes at {:#x}",
        names.of(race.later.who),
        names.of(race.earlier.who),
        race.len,
        race.start
    );
    race::sides(Finding::new(&RULE, text), names, race)
        .side("the event was recorded", waited.recorded)
        .side("the wait was added", waited.site)
}
