//! An address that generations 8 and 5 want aligned is not.

use toprope_runtime::Error;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;

/// The rule.
pub static RULE: Rule = Rule {
    id: "misaligned",
    level: Level::Error,
    title: "An asynchronous copy of an address that is not 64-byte aligned, in CANN generations 8 and 5",
    mend: "copy from and to multiples of 64 bytes, or use aclrtMemcpy",
};

/// Its finding, if the call was refused for that.
pub fn refused(call: &Call, error: &Error) -> Option<Finding> {
    (error.rule() == "aclrtMemcpyAsync#24, #25")
        .then(|| Finding::new(&RULE, format!("{}: {}", api(call), error.text())).side("the call", call.site))
}
