//! An event is reset by one stream while another may still have to wait for it.

use crate::finding::{Finding, Level, Rule};
use crate::model::{Call, Model};
use crate::site::Site;

/// The rule.
pub static RULE: Rule = Rule {
    id: "event-reset-early",
    level: Level::Error,
    title: "An event is reset while another stream may still wait for it",
    mend: "reset the event on the stream that waits, after its wait, or order the reset after that wait (aclrtResetEvent#05, #06)",
};

/// Its finding.
pub fn finding(model: &Model, call: &Call, event: u64, line: usize, waiter: u32, wait: Site) -> Finding {
    let who = model.stream(line).map_or(0, |stream| stream.who);
    let text = format!(
        "{} resets event {event:#x}, for which {} may still have to wait",
        model.names.of(who),
        model.names.of(waiter)
    );
    Finding::new(&RULE, text).side("the reset", call.site).side("the wait that is not over", wait)
}
