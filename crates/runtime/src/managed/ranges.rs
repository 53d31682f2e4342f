//! A value per address: stretches of equal value, and the default everywhere else.

use std::collections::BTreeMap;

/// Values of type `T` over addresses. Stretches never overlap, touching ones differ, and none holds the default.
#[derive(Debug)]
pub struct Ranges<T> {
    /// First address → (end, value).
    stretches: BTreeMap<usize, (usize, T)>,
}

impl<T: Clone + Default + PartialEq> Ranges<T> {
    /// The default everywhere.
    pub const fn new() -> Ranges<T> {
        Ranges { stretches: BTreeMap::new() }
    }

    /// Changes the value of every address in `[start, end)`.
    pub fn update(&mut self, start: usize, end: usize, change: impl Fn(&mut T)) {
        if start >= end {
            return;
        }
        self.split(start);
        self.split(end);
        let mut fresh = Vec::new();
        self.visit(start, end, |from, to, value| {
            let mut value = value.clone();
            change(&mut value);
            fresh.push((from, to, value));
        });
        let old: Vec<usize> = self.stretches.range(start..end).map(|(from, _)| *from).collect();
        for from in old {
            self.stretches.remove(&from);
        }
        for (from, to, value) in fresh {
            if value != T::default() {
                self.stretches.insert(from, (to, value));
            }
        }
        self.join(start, end);
    }

    /// Sets `[start, end)` back to the default.
    pub fn clear(&mut self, start: usize, end: usize) {
        self.update(start, end, |value| *value = T::default());
    }

    /// Shows every stretch of `[start, end)` in order, those of the default included: first address, end, value.
    pub fn visit(&self, start: usize, end: usize, mut see: impl FnMut(usize, usize, &T)) {
        let default = T::default();
        let mut at = start;
        // The stretch that contains `start` may begin before it.
        let first = self.stretches.range(..=start).next_back().map_or(start, |(from, _)| *from);
        for (from, (to, value)) in self.stretches.range(first..end) {
            if *to <= at {
                continue;
            }
            let from = (*from).max(at);
            if from > at {
                see(at, from, &default);
            }
            at = (*to).min(end);
            see(from, at, value);
        }
        if at < end {
            see(at, end, &default);
        }
    }

    /// Makes `at` a border.
    fn split(&mut self, at: usize) {
        if let Some((_, (end, value))) = self.stretches.range_mut(..at).next_back()
            && *end > at
        {
            let rest = (*end, value.clone());
            *end = at;
            self.stretches.insert(at, rest);
        }
    }

    /// Joins equal neighbours from just before `start` to just after `end`.
    fn join(&mut self, start: usize, end: usize) {
        let first = self.stretches.range(..start).next_back().map_or(start, |(from, _)| *from);
        let keys: Vec<usize> = self.stretches.range(first..=end).map(|(from, _)| *from).collect();
        let mut before: Option<usize> = None;
        for key in keys {
            let Some((to, value)) = self.stretches.get(&key).cloned() else { continue };
            match before.and_then(|from| self.stretches.get_mut(&from)) {
                Some((end, earlier)) if *end == key && *earlier == value => {
                    *end = to;
                    self.stretches.remove(&key);
                }
                _ => before = Some(key),
            }
        }
    }
}

#[cfg(test)]
#[path = "ranges/tests.rs"]
mod tests;
