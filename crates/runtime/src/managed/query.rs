//! What a program can ask about managed pages.

use ascendcl_sys as sys;

use super::ranges::Ranges;
use super::{Location, NOWHERE, Pages, State, pages};
use crate::error::Result;
use crate::process::Runtime;
use crate::{bytes, refuse};

/// The answer to one question, and where it goes.
struct Answer {
    values: Vec<i32>,
    addr: usize,
    /// Integers that the program has room for.
    room: usize,
}

impl Answer {
    /// Writes the answer; what is left of the room says "none". aclrtMemManagedGetAttr#12
    fn write(&self) -> std::result::Result<(), bytes::Unmapped> {
        const FILL: [i32; 256] = [NOWHERE; 256];
        let mut at = self.addr;
        for value in self.values.iter().take(self.room) {
            bytes::write(at, *value)?;
            at = at.wrapping_add(4);
        }
        let mut left = self.room.saturating_sub(self.values.len());
        while left >= FILL.len() {
            bytes::write(at, FILL)?;
            at = at.wrapping_add(size_of_val(&FILL));
            left -= FILL.len();
        }
        for _ in 0..left {
            bytes::write(at, NOWHERE)?;
            at = at.wrapping_add(4);
        }
        Ok(())
    }
}

/// One question: attribute, where the answer goes, bytes of room there.
pub type Question = (sys::aclrtMemManagedRangeAttribute, usize, usize);

/// aclrtMemManagedGetAttr.
pub fn get_attr(rt: &Runtime, question: Question, addr: usize, size: u64) -> Result<()> {
    if size == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, "aclrtMemManagedGetAttr#03", "size: must not be 0");
    }
    known(question.0, "attribute", "aclrtMemManagedGetAttr#04")?;
    let rules = ("aclrtMemManagedGetAttr#05", "aclrtMemManagedGetAttr#06", "aclrtMemManagedAdvise#07");
    let pages = pages(rt, addr, size, false, "ptr", rules)?;
    write(&answer(rt, question, &pages, "dataSize")?, "data")
}

/// aclrtMemManagedGetAttrs: all questions are checked before the first is answered. No question at all is fine (#08).
pub fn get_attrs(rt: &Runtime, questions: &[Question], addr: usize, size: u64) -> Result<()> {
    if size == 0 {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, "aclrtMemManagedGetAttrs#05", "size: must not be 0");
    }
    for (n, (attribute, ..)) in questions.iter().enumerate() {
        known(*attribute, &format!("attributes[{n}]"), "aclrtMemManagedGetAttrs#06")?;
    }
    let rules = ("aclrtMemManagedGetAttrs#07", "aclrtMemManagedGetAttr#06", "aclrtMemManagedAdvise#07");
    let pages = pages(rt, addr, size, false, "ptr", rules)?;
    let mut answers = Vec::with_capacity(questions.len());
    for (n, question) in questions.iter().enumerate() {
        if question.1 == 0 {
            // ours: as the array itself, #03
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                "aclrtMemManagedGetAttrs#03",
                "data[{n}]: must not be null"
            );
        }
        answers.push(answer(rt, *question, &pages, &format!("dataSizes[{n}]"))?);
    }
    for (n, answer) in answers.iter().enumerate() {
        write(answer, &format!("data[{n}]"))?;
    }
    Ok(())
}

fn write(answer: &Answer, name: &str) -> Result<()> {
    let Err(bytes::Unmapped(at)) = answer.write() else { return Ok(()) };
    refuse!(
        sys::ACL_ERROR_INVALID_PARAM,
        "ours: argument",
        "{name}: no memory at {at:#x} for {} bytes from {:#x}",
        answer.room * 4,
        answer.addr
    )
}

fn answer(rt: &Runtime, (attribute, to, room): Question, pages: &Pages, name: &str) -> Result<Answer> {
    let list = attribute == sys::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    if room == 0 || !room.is_multiple_of(4) || (!list && room != 4) {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            if list { "aclrtMemManagedGetAttr#09" } else { "aclrtMemManagedGetAttr#08" },
            "{name}: {room}; wanted is {}",
            if list { "a multiple of 4, not 0" } else { "4" }
        );
    }
    let ranges = rt.managed.ranges.lock();
    let same = |of: fn(&State) -> Option<Location>| agreed(&ranges, pages, of);
    let preferred = || same(|state| state.preferred);
    let prefetched = || same(|state| state.last_prefetch);
    let number = |location: Option<Location>| location.map_or(NOWHERE, Location::number);
    let id = |location: Option<Location>| location.map_or(NOWHERE, Location::id);
    // aclrtMemManagedGetAttr#13
    let kind = |location: Option<Location>| {
        location.map_or(sys::ACL_MEM_LOCATIONTYPE_INVALID, Location::kind) as i32
    };
    let values = match attribute {
        sys::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
            // aclrtMemManagedGetAttr#10
            let mut all = true;
            ranges.visit(pages.start, pages.end, |_, _, state| all &= state.read_mostly);
            vec![all.into()]
        }
        sys::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => vec![number(preferred())],
        sys::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => vec![kind(preferred())],
        sys::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => vec![id(preferred())],
        sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => vec![number(prefetched())],
        sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => vec![kind(prefetched())],
        sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => vec![id(prefetched())],
        _ => accessed_by(&ranges, pages),
    };
    Ok(Answer { values, addr: to, room: room / 4 })
}

fn known(attribute: sys::aclrtMemManagedRangeAttribute, name: &str, rule: &'static str) -> Result<()> {
    let all =
        sys::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY..=sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID;
    if all.contains(&attribute) {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "{name}: {}; wanted is 1 to 8",
        sys::enums::aclrtMemManagedRangeAttribute.show(attribute)
    )
}

/// What all pages agree on; None when they do not. aclrtMemManagedGetAttr#07
fn agreed(ranges: &Ranges<State>, pages: &Pages, of: fn(&State) -> Option<Location>) -> Option<Location> {
    let mut first = None;
    let mut same = true;
    ranges.visit(pages.start, pages.end, |_, _, state| {
        same &= *first.get_or_insert(of(state)) == of(state);
    });
    first.flatten().filter(|_| same)
}

/// Who is noted for every page.
fn accessed_by(ranges: &Ranges<State>, pages: &Pages) -> Vec<i32> {
    let mut everywhere: Option<Vec<Location>> = None;
    ranges.visit(pages.start, pages.end, |_, _, state| match &mut everywhere {
        None => everywhere = Some(state.accessed_by.clone()),
        Some(list) => list.retain(|location| state.accessed_by.contains(location)),
    });
    everywhere.unwrap_or_default().into_iter().map(Location::number).collect()
}
