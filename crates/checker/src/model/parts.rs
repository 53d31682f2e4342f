//! The parts in which a block is used, for the rule `sub-division`, which is looked at only if it was asked for.
//!
//! A part is what a call or task touches as one range of a block: it begins where that begins, and is as long as the longest that begins
//! there. What holds other parts (a fill of the whole block) is none, and neither are the rows of a 2D copy. Nothing is said of ranges
//! that overlap in part.

use std::collections::BTreeMap;

use toprope_engine::memory::{Block, Owner};
use toprope_runtime::profile::Profile;

use crate::shadow::Access;

/// Parts of a block; one that gets more is an array in chunks.
const MOST: usize = 4096;
/// Where parts must begin: aclrtMalloc#13, #14, aclrtMallocAlign32#10, aclrtMallocHost#08, #09.
const START: usize = 64;
/// What their lengths are rounded up to; the same rows.
const ROUND: usize = 32;

/// What the product asks of parts.
#[derive(Clone, Copy, Debug)]
pub struct Rounding {
    /// Bytes behind a part of device memory, once its length is rounded up: aclrtMalloc#13, #14, aclrtMallocAlign32#10.
    device: usize,
    /// The same in pinned memory: aclrtMallocHost#09, of all products.
    pinned: usize,
}

impl Rounding {
    /// As the product has it.
    pub fn of(profile: &Profile) -> Rounding {
        Rounding { device: if profile.product.pad32 { 32 } else { 0 }, pinned: 32 }
    }

    /// Bytes behind a part of a block; None for memory that may be cut anywhere, for all that the rows say.
    fn behind(&self, block: &Block) -> Option<usize> {
        match block.owner {
            Owner::Device(_) => Some(self.device),
            Owner::Pinned => Some(self.pinned),
            Owner::Managed | Owner::Registered | Owner::Alias | Owner::Image(_) => None,
        }
    }
}

/// One part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its offset in the block.
    pub start: usize,
    /// Its bytes.
    pub len: usize,
    /// Who used it first.
    pub access: Access,
    /// Whether that wrote.
    pub wrote: bool,
}

impl Part {
    fn end(&self) -> usize {
        self.start + self.len
    }
}

/// Two parts of which the later one begins too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded {
    /// The one that begins first.
    pub front: Part,
    /// The other.
    pub back: Part,
    /// The offset from which on the other may begin.
    pub from: usize,
}

/// The parts of a block, by offset.
#[derive(Debug, Default)]
pub struct Parts {
    parts: BTreeMap<usize, Part>,
    /// There were too many.
    closed: bool,
}

impl Parts {
    /// A part is used: what it is too close to, in front of it or behind.
    pub fn add(&mut self, block: &Block, rounding: &Rounding, part: Part) -> Option<Crowded> {
        let behind = rounding.behind(block)?;
        let whole = part.start == 0 && part.len >= block.size;
        if self.closed || whole || part.len == 0 {
            return None;
        }
        if let Some(known) = self.parts.get_mut(&part.start) {
            known.len = known.len.max(part.len);
            return None;
        }
        let next = self.parts.range(part.start..).next().map(|(_, part)| *part);
        if next.is_some_and(|next| next.start < part.end()) {
            return None;
        }
        let before = self.parts.range(..part.start).next_back().map(|(_, part)| *part);
        let before = match before {
            Some(hull) if part.end() <= hull.end() => {
                // It was no part but several.
                self.parts.remove(&hull.start);
                self.parts.range(..part.start).next_back().map(|(_, part)| *part)
            }
            other => other,
        };
        if before.is_some_and(|before| part.start < before.end()) {
            return None;
        }
        if self.parts.len() >= MOST {
            self.parts = BTreeMap::new();
            self.closed = true;
            return None;
        }
        self.parts.insert(part.start, part);
        let crowded = |front: Part, back: Part| {
            let room = front.start + front.len.next_multiple_of(ROUND) + behind;
            let crooked = !(block.base + back.start).is_multiple_of(START);
            let from = room.next_multiple_of(START);
            (back.start < room || crooked).then_some(Crowded { front, back, from })
        };
        let front = before.and_then(|before| crowded(before, part));
        front.or_else(|| next.and_then(|next| crowded(part, next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Epoch;
    use crate::site::Site;
    use toprope_engine::memory::Page;

    const PAD: Rounding = Rounding { device: 32, pinned: 32 };
    const NO_PAD: Rounding = Rounding { device: 0, pinned: 32 };

    fn block(owner: Owner) -> Block {
        Block { base: 1 << 20, size: 4096, usable: 4128, owner, page: Page::Normal, serial: 1, tag: 0 }
    }

    fn part(start: usize, len: usize) -> Part {
        let access = Access { epoch: Epoch::host(0, 1), api: 0, site: Site::NONE, who: 0 };
        Part { start, len, access, wrote: true }
    }

    /// What each use in turn is too close to: offsets of the two.
    fn found(rounding: &Rounding, owner: Owner, uses: &[(usize, usize)]) -> Vec<Option<(usize, usize)>> {
        let mut parts = Parts::default();
        let add = |(start, len): &(usize, usize)| {
            let crowded = parts.add(&block(owner), rounding, part(*start, *len));
            crowded.map(|crowded| (crowded.front.start, crowded.back.start))
        };
        uses.iter().map(add).collect()
    }

    #[test]
    fn parts_have_the_documented_room() {
        // aclrtMalloc#13: 100 bytes are 128 and 32 more, so that the next may begin at 192.
        let device = Owner::Device(0);
        assert_eq!(found(&PAD, device, &[(0, 100), (192, 100)]), [None, None]);
        assert_eq!(found(&PAD, device, &[(0, 100), (128, 100)]), [None, Some((0, 128))]);
        assert_eq!(found(&PAD, device, &[(128, 100), (0, 100)]), [None, Some((0, 128))]);
        // Far enough, but not at 64.
        assert_eq!(found(&PAD, device, &[(0, 100), (224, 100)]), [None, Some((0, 224))]);
        // aclrtMalloc#14
        assert_eq!(found(&NO_PAD, device, &[(0, 100), (128, 100)]), [None, None]);
        assert_eq!(found(&NO_PAD, device, &[(0, 100), (112, 100)]), [None, Some((0, 112))]);
        // aclrtMallocHost#09
        assert_eq!(found(&NO_PAD, Owner::Pinned, &[(0, 100), (128, 100)]), [None, Some((0, 128))]);
        assert_eq!(found(&PAD, Owner::Managed, &[(0, 100), (101, 100)]), [None, None]);
    }

    #[test]
    fn what_holds_parts_is_none() {
        let device = Owner::Device(0);
        let uses = [(0, 4096), (0, 2048), (0, 64), (512, 64), (1024, 512), (1088, 8), (256, 1024)];
        assert_eq!(found(&PAD, device, &uses), [None; 7]);
        // A longer use of the same part counts the next time.
        assert_eq!(found(&PAD, device, &[(0, 64), (0, 512), (576, 8)]), [None, None, None]);
        assert_eq!(found(&PAD, device, &[(0, 64), (0, 512), (512, 8)]), [None, None, Some((0, 512))]);
    }

    #[test]
    fn an_array_in_very_many_chunks_is_let_alone() {
        let mut parts = Parts::default();
        let large = Block { size: 1 << 24, usable: 1 << 24, ..block(Owner::Device(0)) };
        let crowded = (0..MOST + 10).filter(|i| parts.add(&large, &PAD, part(i * 8, 8)).is_some()).count();
        assert_eq!(crowded, MOST - 1);
    }
}
