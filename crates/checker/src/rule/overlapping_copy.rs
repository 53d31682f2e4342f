//! A copy's source and destination share bytes.

use toprope_runtime::observer::Range;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::{Call, Model};

/// The rule.
pub static RULE: Rule = Rule {
    id: "overlapping-copy",
    level: Level::Error,
    title: "Source and destination of a copy overlap",
    mend: "copy by way of other memory; a copy engine moves the bytes in no particular order",
};

/// Its finding.
pub fn finding(model: &Model, call: &Call, read: &Range, write: &Range) -> Finding {
    let text = format!(
        "{} copies {} bytes from {:#x} to {:#x}: the ranges overlap",
        api(call),
        read.len,
        read.start,
        write.start
    );
    let finding = Finding::new(&RULE, text).side("the copy", call.site);
    match model.around(read.start) {
        Some(living) => finding.side(format!("the memory was made by {}", api(&living.born)), living.born.site),
        None => finding,
    }
}
