//! A block is used in parts that lie closer together than the pages allow, or begin where they must not. Looked at only when asked for: an array
//! that is copied in chunks is right, and looks the same.

use toprope_engine::memory::Block;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::Call;
use crate::model::names::Names;
use crate::model::parts::{Crowded, Part};

/// The rule.
pub static RULE: Rule = Rule {
    id: "sub-division",
    level: Level::Warning,
    title: "A block is cut into parts without the documented room between them",
    mend: "begin parts at multiples of 64 bytes, and leave each its length rounded up to 32, and 32 bytes more where the product wants them \
           (aclrtMalloc#13, #14, aclrtMallocHost#09)",
};

/// Its finding.
pub fn finding(names: &Names, block: &Block, born: &Call, crowded: &Crowded) -> Finding {
    let Crowded { front, back, from } = crowded;
    let text = format!(
        "a part begins at offset {} behind one of {} bytes at offset {}; it may begin at offset {from}, or any multiple of 64 from there",
        back.start, front.len, front.start
    );
    let side = |part: &Part| {
        names.access(&part.access, part.wrote, block.base + part.start, part.len)
    };
    Finding::new(&RULE, text).side(side(back), back.access.site).side(side(front), front.access.site).side(
        format!("the memory: {} bytes at {:#x}, made by {}", block.size, block.base, api(born)),
        born.site,
    )
}
