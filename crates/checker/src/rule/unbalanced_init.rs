//! aclInit without aclFinalize, aclrtSetDevice without aclrtResetDevice.

use crate::finding::{Finding, Level, Rule};
use crate::model::Model;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unbalanced-init",
    level: Level::Warning,
    title: "aclInit or aclrtSetDevice was never taken back",
    mend: "call aclrtResetDevice once for each aclrtSetDevice, and aclFinalize before the program ends",
};

/// Its findings.
pub fn at_exit(model: &Model) -> Vec<Finding> {
    let pairs = &model.objects.pairs;
    let of = |count: i64, call: &str, back: &str, site| {
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let text = format!("{call} was called {times} more than {back}");
        (count > 0).then(|| Finding::new(&RULE, text).side(format!("the last {call}"), site))
    };
    let init = of(pairs.inits.0, "aclInit", "aclFinalize", pairs.inits.1);
    let set = of(pairs.sets.0, "aclrtSetDevice", "aclrtResetDevice", pairs.sets.1);
    init.into_iter().chain(set).collect()
}
