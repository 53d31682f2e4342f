//! Synchronous calls of two host threads touch the same bytes at the same time, and at least one writes. Calls that do not overlap in
//! time are not accused: whatever kept them apart may be out of sight. See [`crate::model::holds`].

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::Race;
use crate::model::names::Names;

/// The rule.
pub static RULE: Rule = Rule {
    id: "host-race",
    level: Level::Error,
    title: "Two threads' synchronous calls touch the same bytes at the same time",
    mend: "let one thread's call return before the other begins: join it, or guard the memory with a mutex",
};

/// Its finding: a writer first, and of two the place that was known first, so that it is the same whoever came first.
pub fn finding(names: &Names, race: &Race) -> Finding {
    let mut sides = [(race.later, race.later_wrote), (race.earlier, race.earlier_wrote)];
    sides.sort_by_key(|(access, wrote)| (!wrote, access.site));
    let [(one, one_wrote), (other, other_wrote)] = sides;
    let text = format!(
        "calls of {} and {} touch {} bytes at {:#x} at the same time",
        names.of(one.who),
        names.of(other.who),
        race.len,
        race.start
    );
    let what = |access, wrote| names.access(access, wrote, race.start, race.len);
    Finding::new(&RULE, text)
        .side(what(&one, one_wrote), one.site)
        .side(format!("not returned before: {}", what(&other, other_wrote)), other.site)
}
