//! aclrtMemset of host memory that the runtime did not make.

use toprope_runtime::observer::Range;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unknown-host-memset",
    level: Level::Error,
    title: "A fill of host memory that the runtime does not know is undefined",
    mend: "use memset, or memory of aclrtMallocHost (aclrtMemset#06)",
};

/// Its finding.
pub fn finding(call: &Call, range: &Range) -> Finding {
    let text = format!(
        "{} of {} bytes at {:#x}, host memory that the runtime does not know: undefined",
        api(call),
        range.len,
        range.start
    );
    Finding::new(&RULE, text).side("the call", call.site)
}
