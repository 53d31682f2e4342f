//! Memory of a Python object is used by a copy when nothing refers to the object any more.

use toprope_runtime::Api;
use toprope_runtime::observer::Range;

use crate::finding::{Finding, Level, Rule};
use crate::model::Call;
use crate::model::names::{Names, api};
use crate::site::Site;

/// The rule.
pub static RULE: Rule = Rule {
    id: "buffer-gone",
    level: Level::Error,
    title: "A copy uses the memory of a Python object to which nothing refers any more",
    mend: "keep the object in a variable until the synchronous copy has returned, or the stream was synchronized",
};

/// What uses it.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The call.
    pub api: Api,
    /// Where.
    pub site: Site,
    /// Its stream or thread.
    pub who: u32,
    /// What it touches.
    pub range: Range,
    /// Whether it writes there.
    pub writes: bool,
}

impl Use {
    fn says(&self, names: &Names) -> String {
        let verb = if self.writes { "writes" } else { "reads" };
        let Range { start, len } = self.range;
        format!("{} on {} {verb} {len} bytes at {start:#x}", api(self.api as u16), names.of(self.who))
    }
}

/// Its finding, when the object went while the copy was pending; `seen` is the call at which that was noticed.
pub fn pending(names: &Names, used: &Use, gone: &Range, seen: &Call) -> Finding {
    let text = format!(
        "nothing refers any more to the object that owns {} bytes at {:#x}, while {} of {} may still {} them",
        gone.len,
        gone.start,
        api(used.api as u16),
        names.of(used.who),
        if used.writes { "write" } else { "read" }
    );
    Finding::new(&RULE, text)
        .side(used.says(names), used.site)
        .side(format!("noticed on {}, at the latest", names.of(seen.who)), seen.site)
}

/// Its finding, when the object was gone before the copy began.
pub fn named(names: &Names, used: &Use, gone: &Range) -> Finding {
    let text = format!(
        "{} is given the address of an object to which nothing refers any more: {} bytes at {:#x}",
        api(used.api as u16),
        gone.len,
        gone.start
    );
    Finding::new(&RULE, text).side(used.says(names), used.site)
}
