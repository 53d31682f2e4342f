//! Pinned host memory is freed, or registered memory unregistered, while a task that uses it may be unfinished. Found where
//! [`super::free_in_use`] is.

use crate::finding::{Level, Rule};

/// The rule.
pub static RULE: Rule = Rule {
    id: "host-free-in-use",
    level: Level::Error,
    title: "Pinned or registered host memory ends while a stream's unfinished work uses it",
    mend: "synchronize the stream (or a later event of it) before aclrtFreeHost or aclrtHostUnregister",
};
