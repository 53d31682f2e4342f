//! A stream was told to wait for an event that holds nothing.

use crate::finding::{Finding, Level, Rule};
use crate::model::{Call, Model};

/// The rule.
pub static RULE: Rule = Rule {
    id: "event-never-recorded",
    level: Level::Warning,
    title: "A stream was told to wait for an event that was never recorded",
    mend: "call aclrtRecordEvent before aclrtStreamWaitEvent: a wait for an event that holds nothing waits for nothing",
};

/// Its finding.
pub fn finding(model: &Model, call: &Call, event: u64, stream: u64) -> Option<Finding> {
    let who = model.lines.get(&stream).and_then(|line| model.stream(*line)).map_or(0, |stream| stream.who);
    let text = format!("{} does not wait for event {event:#x}, which was never recorded", model.names.of(who));
    let finding = Finding::new(&RULE, text).side("the wait", call.site);
    Some(match model.objects.alive.get(&event) {
        Some(alive) => finding.side("the event was made", alive.born.site),
        None => finding,
    })
}
