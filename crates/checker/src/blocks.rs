//! Live blocks by address: a sorted list, since programs look blocks up far more often than they make them, with a hint of
//! where the last ones were found.

use std::cell::Cell;

use toprope_engine::memory::Owner;

use crate::model::Living;

/// Hints that are kept: source and destination of a loop's copies.
const HINTS: usize = 2;

/// The live blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    sorted: Vec<(usize, Box<Living>)>,
    hints: [Cell<usize>; HINTS],
    turn: Cell<usize>,
    /// Device variables among them.
    images: usize,
}

fn is_image(living: &Living) -> usize {
    usize::from(matches!(living.block.owner, Owner::Image(_)))
}

impl Blocks {
    /// The block around an address: its place, good until a block comes or goes.
    #[inline]
    pub fn find(&self, addr: usize) -> Option<usize> {
        for hint in &self.hints {
            if self.holds(hint.get(), addr) {
                return Some(hint.get());
            }
        }
        let place = self.sorted.partition_point(|(base, _)| *base <= addr).checked_sub(1)?;
        if !self.holds(place, addr) {
            return None;
        }
        let turn = self.turn.get();
        self.turn.set((turn + 1) % HINTS);
        if let Some(hint) = self.hints.get(turn) {
            hint.set(place);
        }
        Some(place)
    }

    #[inline]
    fn holds(&self, place: usize, addr: usize) -> bool {
        self.sorted.get(place).is_some_and(|(base, living)| addr.wrapping_sub(*base) < living.block.usable)
    }

    /// A block by its place.
    #[inline]
    pub fn at(&self, place: usize) -> Option<&Living> {
        self.sorted.get(place).map(|(_, living)| &**living)
    }

    /// The same, to change.
    #[inline]
    pub fn at_mut(&mut self, place: usize) -> Option<&mut Living> {
        self.sorted.get_mut(place).map(|(_, living)| &mut **living)
    }

    /// A new block, in the place of one that began at the same address.
    pub fn insert(&mut self, living: Living) {
        let base = living.block.base;
        self.images += is_image(&living);
        match self.sorted.binary_search_by_key(&base, |(base, _)| *base) {
            Ok(place) => {
                if let Some((_, old)) = self.sorted.get_mut(place) {
                    self.images -= is_image(old);
                    **old = living;
                }
            }
            Err(place) => self.sorted.insert(place, (base, Box::new(living))),
        }
    }

    /// The block that begins at an address is gone.
    pub fn remove(&mut self, base: usize) -> Option<Living> {
        let place = self.sorted.binary_search_by_key(&base, |(base, _)| *base).ok()?;
        let gone = *self.sorted.remove(place).1;
        self.images -= is_image(&gone);
        Some(gone)
    }

    /// Whether there is a device variable.
    #[inline]
    pub fn have_images(&self) -> bool {
        self.images != 0
    }

    /// All of them, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Living> {
        self.sorted.iter_mut().map(|(_, living)| &mut **living)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Living> {
        self.sorted.iter().map(|(_, living)| &**living)
    }
}
