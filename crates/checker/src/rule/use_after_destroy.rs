//! A call was given a handle that was destroyed.

use toprope_runtime::handle::Kind;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;

/// The rule.
pub static RULE: Rule = Rule {
    id: "use-after-destroy",
    level: Level::Error,
    title: "A call was given a handle that was destroyed before",
    mend: "destroy the object after its last use, and forget its handle then; a device's reset destroys what belongs to the device",
};

/// Its finding.
pub fn finding(call: &Call, handle: u64, kind: Kind, born: &Call, died: &Call) -> Finding {
    let text = format!("{} was given {kind:?} {handle:#x}, which {} ended before", api(call), api(died));
    sides(Finding::new(&RULE, text), "the use", call, born, died)
}

/// The calls of such a finding.
pub fn sides(finding: Finding, what: &str, call: &Call, born: &Call, died: &Call) -> Finding {
    finding
        .side(what, call.site)
        .side(format!("ended by {}", api(died)), died.site)
        .side(format!("made by {}", api(born)), born.site)
}
