//! The device address of registered host memory is asked for its attributes.

use toprope_runtime::Error;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;

/// The rule.
pub static RULE: Rule = Rule {
    id: "alias-attributes",
    level: Level::Error,
    title: "The device address of registered host memory is asked for its attributes",
    mend: "ask with the host address; the device address is for kernels (aclrtPointerGetAttributes#03)",
};

/// Its finding, if the call was refused for that.
pub fn refused(call: &Call, error: &Error) -> Option<Finding> {
    (error.rule() == "aclrtPointerGetAttributes#03")
        .then(|| Finding::new(&RULE, format!("{}: {}", api(call), error.text())).side("the call", call.site))
}
