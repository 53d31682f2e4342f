//! A copy or fill leaves its memory, or is longer than the call itself says that there is room.

use toprope_runtime::Error;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;

/// The rule.
pub static RULE: Rule = Rule {
    id: "out-of-range",
    level: Level::Error,
    title: "A copy or fill leaves its memory",
    mend: "give the size that was allocated as destMax or maxCount, and no larger count",
};

/// The rules of the runtime that such a call breaks.
const RULES: [&str; 10] = [
    "ours: both ends of a range are checked",
    "aclrtMemcpy#05",
    "aclrtMemcpy#06",
    "aclrtMemcpyAsync#05",
    "ours: as aclrtMemcpyAsync#05",
    "aclrtMemset#03",
    "aclrtMemsetAsync#03",
    "aclrtMemsetD32#04, #05",
    "aclrtMemcpyToSymbol#09",
    "aclrtMemcpyFromSymbol#09",
];

/// Its finding, if the call was refused for that.
pub fn refused(call: &Call, error: &Error) -> Option<Finding> {
    RULES
        .contains(&error.rule())
        .then(|| Finding::new(&RULE, format!("{}: {}", api(call), error.text())).side("the call", call.site))
}
