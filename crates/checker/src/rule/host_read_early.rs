//! Host code touches the destination of an asynchronous copy to host memory before it is ordered after the copy.

use crate::finding::{Finding, Level, Rule};
use crate::model::names::{Names, api};
use crate::model::pending::Pending;
use crate::site::Site;
use crate::touch::Noted;

/// The rule.
pub static RULE: Rule = Rule {
    id: "host-read-early",
    level: Level::Error,
    title: "The host reads the destination of an asynchronous copy before it is ordered after the copy",
    mend: "call aclrtSynchronizeStream (or wait for an event recorded after the copy, or query it until it is complete) first",
};

/// Its finding.
pub fn finding(names: &Names, pending: &Pending, noted: &Noted, site: Site) -> Finding {
    let text = format!(
        "thread {} {} {:#x} while {} of {} may still write {} bytes at {:#x}",
        noted.thread,
        if noted.write { "writes" } else { "reads" },
        noted.address,
        api(pending.api as u16),
        names.of(pending.who),
        pending.range.len,
        pending.range.start
    );
    touched(Finding::new(&RULE, text), names, pending, noted, site)
}

/// The two sides.
pub fn touched(finding: Finding, names: &Names, pending: &Pending, noted: &Noted, site: Site) -> Finding {
    let verb = if noted.write { "writes to" } else { "reads" };
    let offset = noted.address - pending.range.start;
    let host = format!("thread {} {verb} byte {offset} of the {} bytes", noted.thread, pending.range.len);
    finding.side(host, site).side(copy(names, pending), pending.site)
}

/// The copy's side.
pub fn copy(names: &Names, pending: &Pending) -> String {
    format!(
        "not ordered after: {} on {} {} {} bytes at {:#x}",
        api(pending.api as u16),
        names.of(pending.who),
        if pending.writes { "writes" } else { "reads" },
        pending.range.len,
        pending.range.start
    )
}
