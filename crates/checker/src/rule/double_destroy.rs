//! A handle was destroyed twice.

use toprope_runtime::handle::Kind;

use super::use_after_destroy::sides;
use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;

/// The rule.
pub static RULE: Rule = Rule {
    id: "double-destroy",
    level: Level::Error,
    title: "A handle was destroyed twice",
    mend: "destroy it once, where it is owned, and set the variable to nullptr",
};

/// Its finding.
pub fn finding(call: &Call, handle: u64, kind: Kind, born: &Call, died: &Call) -> Finding {
    let text = format!("{} was given {kind:?} {handle:#x}, which {} ended before", api(call), api(died));
    sides(Finding::new(&RULE, text), "destroyed again", call, born, died)
}
