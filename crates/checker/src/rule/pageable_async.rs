//! An asynchronous copy of pageable memory, which generations 8 and 5 leave undefined.

use toprope_runtime::observer::Range;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::{Call, Model};

/// The rule.
pub static RULE: Rule = Rule {
    id: "pageable-async",
    level: Level::Error,
    title: "An asynchronous copy of pageable memory, which CANN generations 8 and 5 leave undefined",
    mend: "use memory of aclrtMallocHost",
};

/// Its finding.
pub fn finding(model: &Model, call: &Call, range: &Range) -> Finding {
    let text = format!(
        "{} of pageable host memory, {} bytes at {:#x}: undefined in CANN generation {}",
        api(call),
        range.len,
        range.start,
        model.generation
    );
    Finding::new(&RULE, text).side("the copy", call.site)
}
