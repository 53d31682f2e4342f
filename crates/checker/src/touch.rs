//! Touches of pages that host code is kept off ([`toprope_engine::memory::Space::shut`]), from the signal handler to the next call.
//!
//! The handler may allocate nothing and take no lock, so it writes into slots that are there from the start. A slot goes FREE →
//! WRITING (the handler that claimed it) → FULL (when it is done) → FREE (whoever has the model's lock, once the slot is read). When
//! all are full, a touch goes unreported.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};

use toprope_engine::memory::Touch;

/// Frames that are kept.
const DEPTH: usize = 40;
/// Frames that are walked, the handler's own included.
const WALK: usize = 80;
const SLOTS: usize = 32;

const FREE: u32 = 0;
const WRITING: u32 = 1;
const FULL: u32 = 2;

struct Slot {
    state: AtomicU32,
    address: AtomicUsize,
    write: AtomicBool,
    thread: AtomicI32,
    count: AtomicUsize,
    frames: [AtomicUsize; DEPTH],
}

static TOUCHES: [Slot; SLOTS] = [const {
    Slot {
        state: AtomicU32::new(FREE),
        address: AtomicUsize::new(0),
        write: AtomicBool::new(false),
        thread: AtomicI32::new(0),
        count: AtomicUsize::new(0),
        frames: [const { AtomicUsize::new(0) }; DEPTH],
    }
}; SLOTS];
/// Full slots.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// A touch that was noted.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The address.
    pub address: usize,
    /// Whether it was a write.
    pub write: bool,
    /// The system's number of the thread.
    pub thread: i32,
    /// The instruction and the calls around it, as return addresses, innermost first.
    pub frames: Vec<usize>,
}

/// Whether there is something to [`take`].
#[inline]
pub fn waiting() -> bool {
    WAITING.load(Ordering::Relaxed) != 0
}

/// Notes a touch. Async-signal-safe: the unwinder reads tables that are mapped and allocates nothing.
pub fn note(touch: &Touch) {
    let claim = |slot: &&Slot| {
        slot.state.compare_exchange(FREE, WRITING, Ordering::Acquire, Ordering::Relaxed).is_ok()
    };
    let Some(slot) = TOUCHES.iter().find(claim) else { return };
    slot.address.store(touch.address, Ordering::Relaxed);
    slot.write.store(touch.write, Ordering::Relaxed);
    // SAFETY: asks for a number.
    slot.thread.store(unsafe { libc::gettid() }, Ordering::Relaxed);
    let mut count = 0;
    let mut walked = 0;
    let mut keep = |address: usize| {
        if let Some(place) = slot.frames.get(count) {
            place.store(address, Ordering::Relaxed);
            count += 1;
        }
    };
    // As if it were a return address: those are looked up one byte before.
    keep(touch.pc + 1);
    let mut inside = false;
    // SAFETY: unwinding alone shares nothing between threads; the lock of `trace` is for looking symbols up.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            walked += 1;
            let address = frame.ip() as usize;
            if inside {
                keep(address);
            }
            inside |= address == touch.pc;
            walked < WALK
        });
    }
    slot.count.store(count, Ordering::Relaxed);
    slot.state.store(FULL, Ordering::Release);
    WAITING.fetch_add(1, Ordering::Release);
}

/// Takes the touches that were noted. Under the model's lock.
pub fn take() -> Vec<Noted> {
    let full = TOUCHES.iter().filter(|slot| slot.state.load(Ordering::Acquire) == FULL);
    full.map(|slot| {
        let count = slot.count.load(Ordering::Relaxed);
        let noted = Noted {
            address: slot.address.load(Ordering::Relaxed),
            write: slot.write.load(Ordering::Relaxed),
            thread: slot.thread.load(Ordering::Relaxed),
            frames: slot.frames.iter().take(count).map(|frame| frame.load(Ordering::Relaxed)).collect(),
        };
        WAITING.fetch_sub(1, Ordering::Relaxed);
        slot.state.store(FREE, Ordering::Release);
        noted
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_taken_once_and_too_much_is_dropped() {
        for address in 0..SLOTS + 3 {
            note(&Touch { address, write: address % 2 == 1, pc: 99 });
        }
        assert!(waiting());
        let taken = take();
        assert_eq!(taken.len(), SLOTS);
        for (address, noted) in taken.iter().enumerate() {
            assert_eq!((noted.address, noted.write), (address, address % 2 == 1));
            // No frame is at 99, so the instruction alone is known.
            assert_eq!(noted.frames, [100]);
        }
        assert!(!waiting() && take().is_empty());
    }
}
