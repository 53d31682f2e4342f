//! A synchronous call touches bytes that a stream's unfinished work touches too. It does not wait for streams.

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::{self, Race};
use crate::model::names::Names;

/// The rule.
pub static RULE: Rule = Rule {
    id: "sync-copy-race",
    level: Level::Error,
    title: "A synchronous call touches bytes that unfinished work of a stream touches too",
    mend: "call aclrtSynchronizeStream on that stream first; a synchronous copy or fill waits for no stream",
};

/// Its finding.
pub fn finding(names: &Names, race: &Race) -> Finding {
    let stream = if race.earlier.epoch.is_host() { race.later.who } else { race.earlier.who };
    let text = format!(
        "a synchronous call touches {} bytes at {:#x} while work of {} on them may be unfinished",
        race.len,
        race.start,
        names.of(stream)
    );
    race::sides(Finding::new(&RULE, text), names, race)
}
