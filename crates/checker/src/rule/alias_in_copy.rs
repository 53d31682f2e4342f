//! The device address of registered host memory is given to a copy.

use toprope_runtime::Error;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;

/// The rule.
pub static RULE: Rule = Rule {
    id: "alias-in-copy",
    level: Level::Error,
    title: "The device address of registered host memory is used in a copy",
    mend: "give copies the host address; the device address is for kernels (aclrtHostRegister#06)",
};

/// Its finding, if the call was refused for that.
pub fn refused(call: &Call, error: &Error) -> Option<Finding> {
    (error.rule() == "aclrtHostRegister#06")
        .then(|| Finding::new(&RULE, format!("{}: {}", api(call), error.text())).side("the call", call.site))
}
