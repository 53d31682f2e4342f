//! A child that was forked off a process with a runtime uses it.

use std::sync::atomic::{AtomicBool, Ordering};

use toprope_runtime::{Api, Error};

use crate::finding::{Finding, Level, Rule};
use crate::here;
use crate::site::Site;

/// The rule.
pub static RULE: Rule = Rule {
    id: "forked-child",
    level: Level::Error,
    title: "A forked child uses the runtime of its parent",
    mend: "fork before the first call of the runtime, or start the child with exec (Python: the start method spawn)",
};

/// Says it, once. The child has no checker: its locks may be held by threads that it does not have.
pub fn say(api: Api, error: Option<&Error>) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if error.is_none_or(|error| error.rule() != "ours: forked child") || SAID.swap(true, Ordering::Relaxed) {
        return;
    }
    let text =
        format!("process {} was forked from one that used the runtime, and calls {}", std::process::id(), api.name());
    let site = here::with(|here| here.call().1).unwrap_or(Site::NONE);
    crate::checker::alone(Finding::new(&RULE, text).side("the call", site));
}
