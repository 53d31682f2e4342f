//! The process ends, and nothing ever waited for work that a stream was given.

use crate::clock::Epoch;
use crate::finding::{Finding, Level, Rule};
use crate::model::Model;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unsynchronised-exit",
    level: Level::Warning,
    title: "Work was queued and never waited for before the process ended",
    mend: "call aclrtSynchronizeStream, or destroy the stream, before the program ends",
};

/// One finding for each stream.
pub fn at_exit(model: &Model) -> Vec<Finding> {
    let waited = model.anybody_knows();
    let open = model.streams.iter().flatten().filter(|stream| {
        let live = model.lines.contains_key(&stream.handle);
        live && !stream.home.kept && stream.last.position() != 0 && !waited.covers(Epoch::task(stream.last))
    });
    let found = open.map(|stream| {
        let (api, site) = stream.last_call;
        let text = format!("nothing waited for the last work of {}", model.names.of(stream.who));
        Finding::new(&RULE, text).side(format!("its last task: {}", api.name()), site)
    });
    found.collect()
}
