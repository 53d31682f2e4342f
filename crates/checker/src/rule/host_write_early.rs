//! Host code writes to the source of an asynchronous copy from host memory before it is ordered after the copy.

use toprope_runtime::observer::Range;

use super::host_read_early::{copy, touched};
use crate::finding::{Finding, Level, Rule};
use crate::model::names::{Names, api};
use crate::model::pending::Pending;
use crate::site::Site;
use crate::touch::Noted;

/// The rule.
pub static RULE: Rule = Rule {
    id: "host-write-early",
    level: Level::Error,
    title: "The host writes the source of an asynchronous copy before it is ordered after the copy",
    mend: "call aclrtSynchronizeStream (or wait for an event recorded after the copy, or query it until it is complete) first, or write to another buffer",
};

/// Its finding, when the write was caught.
pub fn finding(names: &Names, pending: &Pending, noted: &Noted, site: Site) -> Finding {
    let text = format!(
        "thread {} writes {:#x} while {} of {} may still read {} bytes at {:#x}",
        noted.thread,
        noted.address,
        api(pending.api as u16),
        names.of(pending.who),
        pending.range.len,
        pending.range.start
    );
    touched(Finding::new(&RULE, text), names, pending, noted, site)
}

/// Its finding, when only the bytes show it.
pub fn changed(names: &Names, pending: &Pending, part: &Range) -> Finding {
    let text = format!(
        "host code changed some of {} bytes at {:#x} after {} of {} was called and before any thread was ordered after it",
        part.len,
        part.start,
        api(pending.api as u16),
        names.of(pending.who)
    );
    Finding::new(&RULE, text).side(
        format!("{} (no page protection covers these bytes: who wrote is not known)", copy(names, pending)),
        pending.site,
    )
}
