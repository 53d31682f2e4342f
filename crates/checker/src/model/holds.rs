//! Synchronous calls that are held for a moment, so that a call of another thread that nothing keeps away comes meanwhile.
//!
//! Two host threads are accused only when their calls really overlap in time ([`crate::rule::host_race`]), and short calls seldom do by
//! themselves. So a call that met, where it touched memory, what another living thread did there before, with a write among the two, is held
//! [`HOLD`] before it returns: whoever comes then clashes with it. A program that keeps the others away with a lock keeps
//! them away for so much longer, and notices nothing but the time.
//!
//! Held are only calls that a thread of the program makes from no callback, when they hold no lock of the runtime or of the checker. How often
//! is bounded for each pair of places and for the process.

use std::collections::HashMap;
use std::time::Duration;

use super::{Model, Touched};
use crate::here::Here;
use crate::site::Site;

/// How long a call is held. Threads that work on the same thing come again in far less, or wait for each other.
pub const HOLD: Duration = Duration::from_millis(2);
/// Holds at one place after what happened at another.
const PAIR: u8 = 8;
/// Holds at a place where no other thread has been yet, while there are others.
const FIRST: u8 = 2;
/// Holds of a process: two seconds in all.
const ALL: u32 = 1000;
/// Pairs that are known; at others no call is held.
const MOST: usize = 4096;

/// How often calls were held.
#[derive(Debug, Default)]
pub struct Holds {
    /// By the earlier call's place and that of the one that was held.
    pairs: HashMap<(Site, Site), u8>,
    all: u32,
}

impl Holds {
    /// The race between two places is found: nobody need be held for it.
    pub fn found(&mut self, one: Site, other: Site) {
        for pair in [(one, other), (other, one)] {
            if self.pairs.len() < MOST || self.pairs.contains_key(&pair) {
                self.pairs.insert(pair, u8::MAX);
            }
        }
    }

    /// Whether to hold a call once more.
    fn again(&mut self, pair: (Site, Site), most: u8) -> bool {
        if self.all >= ALL || (self.pairs.len() >= MOST && !self.pairs.contains_key(&pair)) {
            return false;
        }
        let times = self.pairs.entry(pair).or_default();
        let again = *times < most;
        if again {
            *times += 1;
            self.all += 1;
        }
        again
    }
}

impl Model {
    /// Whether to hold the call that this thread makes.
    pub(super) fn worth_holding(&mut self, here: &Here, site: Site, touched: &Touched) -> bool {
        // A call inside another one is made by a callback.
        if !touched.known || here.calls.len() != 1 {
            return false;
        }
        let pair = match touched.near {
            Some(near) => {
                let host = self.hosts.get(near.epoch.line());
                if !host.is_some_and(|host| host.live && host.who == near.who) {
                    return false;
                }
                ((near.site, site), PAIR)
            }
            None if self.hosts.len() - self.vacant.len() > 1 => ((Site::NONE, site), FIRST),
            None => return false,
        };
        let worker = toprope_runtime::process::runtime().is_ok_and(|runtime| runtime.engine.on_worker());
        !worker && self.holds.again(pair.0, pair.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_are_bounded_and_end_with_a_finding() {
        let mut holds = Holds::default();
        let pair = (Site::NONE, Site::NONE);
        assert_eq!((0..20).filter(|_| holds.again(pair, PAIR)).count(), usize::from(PAIR));
        let mut holds = Holds::default();
        assert!(holds.again(pair, FIRST));
        holds.found(pair.0, pair.1);
        assert!(!holds.again(pair, PAIR));
        holds.all = ALL;
        holds.pairs.clear();
        assert!(!holds.again(pair, PAIR));
    }
}
