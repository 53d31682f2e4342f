//! A device variable is used by its address on a device that it does not belong to.

use toprope_engine::memory::Owner;
use toprope_runtime::observer::Range;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::{Call, Model};

/// The rule.
pub static RULE: Rule = Rule {
    id: "symbol-device",
    level: Level::Error,
    title: "The address of a device variable is used on another device",
    mend: "ask for the address again (aclrtGetSymbolAddress) after aclrtSetDevice: each device has its own copy of the variable",
};

/// Its finding, if the range is in a variable of another device than `device`.
pub fn look(model: &Model, call: &Call, device: u16, range: &Range) -> Option<Finding> {
    let living = model.around(range.start)?;
    let Owner::Image(home) = living.block.owner else { return None };
    if home == device {
        return None;
    }
    let text = format!(
        "{} on device {device} was given {:#x}, a variable of device {home}",
        api(call),
        range.start
    );
    Some(Finding::new(&RULE, text).side("the call", call.site))
}
