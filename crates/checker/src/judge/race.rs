//! Two accesses to the same bytes that nothing orders.

use toprope_engine::memory::Block;

use crate::finding::Finding;
use crate::model::Call;
use crate::model::names::Names;
use crate::model::streams::{Stream, Waited};
use crate::rule;
use crate::shadow::Access;

/// The two of them.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// The one that was told first.
    pub earlier: Access,
    /// Whether it wrote.
    pub earlier_wrote: bool,
    /// The other.
    pub later: Access,
    /// Whether it wrote.
    pub later_wrote: bool,
    /// First address that both touch.
    pub start: usize,
    /// Bytes that both touch.
    pub len: usize,
    /// Where the block begins.
    pub base: usize,
}

/// What it breaks. Two calls of host threads that nothing orders overlapped in time: what has returned is before what begins later.
pub fn finding(
    streams: &[Option<Stream>],
    names: &Names,
    block: &Block,
    born: &Call,
    race: &Race,
) -> Finding {
    let (earlier, later) = (race.earlier.epoch, race.later.epoch);
    let finding = match (earlier.is_host(), later.is_host()) {
        (true, true) => rule::host_race::finding(names, race),
        (false, false) => match too_early(streams, race) {
            Some(waited) => rule::event_before_work::finding(names, race, &waited),
            None => rule::stream_race::finding(names, race),
        },
        _ => rule::sync_copy_race::finding(names, race),
    };
    let what = format!("the memory: {} bytes at {:#x}, made by {}", block.size, block.base, api(born));
    finding.side(what, born.site)
}

/// The later stream did wait for the earlier one, but for what was there before the access.
fn too_early(streams: &[Option<Stream>], race: &Race) -> Option<Waited> {
    let stream = streams.get(race.later.epoch.line())?.as_ref()?;
    let earlier = race.earlier.epoch;
    let waited = |waited: &&Waited| {
        let mark = crate::clock::Epoch::task(waited.mark);
        mark.line() == earlier.line() && mark.time() < earlier.time()
    };
    stream.waits.iter().rev().find(waited).copied()
}

/// A call's function.
pub fn api(call: &Call) -> &'static str {
    call.api.map_or("a call", |api| api.name())
}

/// The two sides of a race.
pub fn sides(finding: Finding, names: &Names, race: &Race) -> Finding {
    finding.side(names.access(&race.later, race.later_wrote, race.start, race.len), race.later.site).side(
        format!(
            "not ordered after: {}",
            names.access(&race.earlier, race.earlier_wrote, race.start, race.len)
        ),
        race.earlier.site,
    )
}
