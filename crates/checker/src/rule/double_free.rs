//! Memory was freed twice.

use crate::finding::{Finding, Level, Rule};
use crate::here::Here;
use crate::judge::race::api;
use crate::model::Model;

/// The rule.
pub static RULE: Rule = Rule {
    id: "double-free",
    level: Level::Error,
    title: "Memory was freed twice",
    mend: "free it once, where it is owned, and set the variable to nullptr; a device's reset frees the device's memory",
};

/// A free function was given an address that it cannot free.
pub fn not_freed(model: &mut Model, here: &mut Here, addr: usize) {
    let call = model.call(here);
    let Some((size, freed)) = model.objects.freed.get(addr) else { return };
    let text = format!("{} was given {addr:#x}: {size} bytes there were freed before", api(&call));
    let finding = Finding::new(&RULE, text)
        .side("freed again", call.site)
        .side(format!("freed by {}", api(freed)), freed.site);
    model.out.push(finding);
}
