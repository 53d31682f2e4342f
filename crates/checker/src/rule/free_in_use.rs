//! Device memory is freed while a task that uses it may be unfinished.

use toprope_engine::memory::Owner;

use super::host_free_in_use;
use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::{Call, Living, Model};
use crate::shadow::Conflict;

/// The rule.
pub static RULE: Rule = Rule {
    id: "free-in-use",
    level: Level::Error,
    title: "Device memory is freed while a stream's unfinished work uses it",
    mend: "synchronize the stream (or a later event of it) before the free; whoever gets the memory next meets the late task",
};

/// Its finding, or that of the rule for host memory.
pub fn finding(model: &Model, living: &Living, call: &Call, use_: &Conflict) -> Finding {
    let block = &living.block;
    let (rule, kind) = match block.owner {
        Owner::Pinned => (&host_free_in_use::RULE, "pinned host memory"),
        Owner::Registered => (&host_free_in_use::RULE, "the registration of host memory"),
        Owner::Managed => (&RULE, "managed memory"),
        Owner::Device(_) if model.one_memory => (&RULE, "memory"),
        _ => (&RULE, "device memory"),
    };
    let text = format!(
        "{} ends {kind}, {} bytes at {:#x}, while work of {} on it may be unfinished",
        api(call),
        block.size,
        block.base,
        model.names.of(use_.earlier.who)
    );
    Finding::new(rule, text)
        .side(format!("{} on {}", api(call), model.names.of(call.who)), call.site)
        .side(
            model.names.access(&use_.earlier, use_.wrote, block.base + use_.at, use_.len),
            use_.earlier.site,
        )
        .side(format!("the memory was made by {}", api(&living.born)), living.born.site)
}
