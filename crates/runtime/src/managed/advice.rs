//! Advice: how pages will be used.

use ascendcl_sys as sys;

use super::ranges::Ranges;
use super::{Location, Pages, State, location, pages, somewhere};
use crate::error::Result;
use crate::process::Runtime;
use crate::refuse;

/// aclrtMemManagedAdvise.
pub fn advise(
    rt: &Runtime,
    addr: usize,
    size: u64,
    advice: sys::aclrtMemManagedAdviseType,
    given: sys::aclrtMemManagedLocation,
) -> Result<()> {
    if size == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, "aclrtMemManagedAdvise#02", "size: must not be 0");
    }
    let rules = ("aclrtMemManagedAdvise#03", "aclrtMemManagedAdvise#04", "aclrtMemManagedAdvise#07");
    let pages = pages(rt, addr, size, true, "ptr", rules)?;
    let at = || somewhere(rt, given, "location", "aclrtMemManagedAdvise#06");
    let mut ranges = rt.managed.ranges.lock();
    let mut set = |change: &dyn Fn(&mut State)| ranges.update(pages.start, pages.end, change);
    match advice {
        // aclrtMemManagedAdvise#08
        sys::ACL_MEM_ADVISE_SET_READ_MOSTLY => set(&|state| state.read_mostly = true),
        sys::ACL_MEM_ADVISE_UNSET_READ_MOSTLY => {
            // One copy stays: the one at `location`, the host's when that is none (25-02).
            let keep = location(rt, given, "location", "aclrtMemManagedAdvise#06")?.unwrap_or(Location::Host);
            set(&|state| {
                if std::mem::take(&mut state.read_mostly) {
                    state.place = Some(keep);
                }
            });
        }
        sys::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION => {
            let to = at()?;
            may_prefer(&ranges, &pages, to)?;
            ranges.update(pages.start, pages.end, |state| {
                state.preferred = Some(to);
                if !state.read_mostly {
                    state.place = Some(to);
                }
            });
        }
        sys::ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION => {
            location(rt, given, "location", "aclrtMemManagedAdvise#06")?;
            set(&|state| state.preferred = None);
        }
        sys::ACL_MEM_ADVISE_SET_ACCESSED_BY => {
            let by = at()?;
            set(&|state| {
                if let Err(place) = state.accessed_by.binary_search(&by) {
                    state.accessed_by.insert(place, by);
                }
            });
        }
        sys::ACL_MEM_ADVISE_UNSET_ACCESSED_BY => {
            let by = at()?;
            set(&|state| state.accessed_by.retain(|earlier| *earlier != by));
        }
        _ => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemManagedAdvise#05",
                "advise: {}; wanted is 0 to 5",
                sys::enums::aclrtMemManagedAdviseType.show(advice)
            );
        }
    }
    Ok(())
}

/// aclrtMemManagedAdvise#09, #10: pages that were put elsewhere must be moved first. The code is ours.
fn may_prefer(ranges: &Ranges<State>, pages: &Pages, to: Location) -> Result<()> {
    let mut wrong = None;
    ranges.visit(pages.start, pages.end, |from, _, state| {
        let moved = match (to, state.place) {
            (Location::Device(_), Some(place)) => place != to,
            (_, Some(place)) => place.on_device(),
            (_, None) => false,
        };
        if moved && !state.read_mostly && wrong.is_none() {
            wrong = state.place.map(|place| (from, place));
        }
    });
    let Some((from, place)) = wrong else { return Ok(()) };
    let rule = if to.on_device() { "aclrtMemManagedAdvise#10" } else { "aclrtMemManagedAdvise#09" };
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "location: the page at {from:#x} was put on {place:?} and is not read-mostly; prefetch it to {to:?} first"
    )
}
