//! An asynchronous copy of pageable memory is done before the call returns (generation 9).

use toprope_runtime::observer::Range;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;

/// The rule.
pub static RULE: Rule = Rule {
    id: "pageable-sync",
    level: Level::Note,
    title: "An asynchronous copy of pageable memory ran synchronously",
    mend: "use memory of aclrtMallocHost, or register it, so that the copy runs beside the host",
};

/// Its finding.
pub fn finding(call: &Call, range: &Range) -> Finding {
    let text = format!(
        "{} of pageable host memory, {} bytes at {:#x}, waited for its stream and copied before it returned",
        api(call),
        range.len,
        range.start
    );
    Finding::new(&RULE, text).side("the copy", call.site)
}
