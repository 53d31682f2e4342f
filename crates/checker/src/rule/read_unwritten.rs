//! Device bytes that nobody ever wrote are copied to the host.

use toprope_runtime::observer::Range;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::{Call, Model};

/// The rule.
pub static RULE: Rule = Rule {
    id: "read-unwritten",
    level: Level::Error,
    title: "Device bytes that were never written are copied to the host",
    mend: "write or fill the bytes first (aclrtMemset), or copy no more than was written",
};

/// Its finding, if the range has such bytes.
pub fn look(model: &Model, call: &Call, range: &Range) -> Option<Finding> {
    let living = model.around(range.start)?;
    let start = range.start - living.block.base;
    let first = living.shadow.unwritten(&(start..start + range.len))?;
    let text = format!(
        "{} copies {} bytes from {:#x} to the host; offset {} of the block was never written",
        api(call),
        range.len,
        range.start,
        first
    );
    Some(
        Finding::new(&RULE, text)
            .side("the copy", call.site)
            .side(
                format!("the memory: {} bytes, made by {}", living.block.size, api(&living.born)),
                living.born.site,
            ),
    )
}
