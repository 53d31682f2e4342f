//! A worker and the thread that feeds it on one processor: the system puts them there by itself, when it wakes the worker, and
//! leaves them there for whole runs, since each of them yields to the other. A launch then costs a time slice of yields (18 us instead of
//! 0.2 us, measured).
//!
//! The worker notices: it yielded, another thread ran meanwhile, and that one announced urgent work. It then moves itself to another processor
//! that it may use, by leaving this one out of its affinity mask for a moment. Threads of the program are never moved.

use std::time::{Duration, Instant};

/// Such yields in a row until the worker moves.
const TIMES: u32 = 4;
/// A yield that took longer has let another thread run: the call alone takes half a microsecond at most.
const RAN: Duration = Duration::from_micros(1);
/// At most one move in this time: the other processors may have their own work.
const AGAIN: Duration = Duration::from_millis(2);

/// What a worker remembers about it.
#[derive(Default)]
pub(crate) struct Apart {
    times: u32,
    moved: Option<Instant>,
}

impl Apart {
    /// The worker has yielded from `left` to `back`; `urgent`: work was announced meanwhile.
    pub(crate) fn yielded(&mut self, left: Instant, back: Instant, urgent: bool) {
        if !urgent {
            return;
        }
        if back - left <= RAN {
            self.times = 0;
            return;
        }
        self.times += 1;
        if self.times >= TIMES && self.moved.is_none_or(|moved| back - moved >= AGAIN) {
            self.times = 0;
            self.moved = Some(back);
            leave_processor();
        }
    }
}

/// The processor that the calling thread runs on, for now; less than 0: not told.
#[inline]
pub(crate) fn processor() -> i32 {
    // SAFETY: asks for a number.
    unsafe { libc::sched_getcpu() }
}

/// Moves the calling thread to another processor of its affinity mask, if there is one, and leaves the mask as it was.
#[cold]
pub(crate) fn leave_processor() {
    // SAFETY: the sets are this frame's own and as long as the system is told; only this thread is concerned.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        let here = processor();
        // Refused on a machine with more processors than the set has bits: then nobody moves.
        if here < 0 || libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return;
        }
        let mut others = allowed;
        libc::CPU_CLR(here as usize, &mut others);
        if libc::CPU_COUNT(&others) > 0 && libc::sched_setaffinity(0, size, &raw const others) == 0 {
            libc::sched_setaffinity(0, size, &raw const allowed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask() -> Vec<usize> {
        // SAFETY: the set is this frame's own.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
            (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect()
        }
    }

    #[test]
    fn a_move_leaves_the_mask_and_goes_elsewhere() {
        let before = mask();
        for _ in 0..10 {
            let here = processor();
            leave_processor();
            assert_eq!(mask(), before);
            if before.len() == 1 {
                assert_eq!(processor(), here);
            }
        }
    }

    #[test]
    fn moves_after_some_yields_in_a_row_and_not_at_once_again() {
        let mut apart = Apart::default();
        let start = Instant::now();
        let long = Duration::from_micros(5);
        let mut yields = |from: Instant, times: u32, urgent: bool, took: Duration| {
            for _ in 0..times {
                apart.yielded(from, from + took, urgent);
            }
            (apart.times, apart.moved.is_some())
        };
        assert_eq!(yields(start, 3, true, long), (3, false));
        assert_eq!(yields(start, 1, true, Duration::ZERO), (0, false), "a short one starts over");
        assert_eq!(yields(start, 3, true, long), (3, false));
        assert_eq!(yields(start, 9, false, long), (3, false), "without news it says nothing");
        assert_eq!(yields(start, 1, true, long), (0, true));
        assert_eq!(yields(start, 5, true, long), (5, true), "no second move so soon");
        assert_eq!(yields(start + AGAIN, 1, true, long), (0, true));
    }
}
