//! Pages that host code is kept off for a while: [`Space::shut`]. One test, since the signal handler knows one space at a time.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(not(miri))]

use std::sync::Mutex;
use std::thread;

use toprope_engine::fault;
use toprope_engine::memory::{Layout, Owner, Page, Shut, Space, Touch, copy};

const PAGE: usize = 4096;

/// Touches so far. The handler runs on the thread that asks, which does not hold the lock when it touches.
static TOUCHES: Mutex<Vec<Touch>> = Mutex::new(Vec::new());

fn hook(touch: &Touch) {
    TOUCHES.lock().unwrap().push(*touch);
}

/// What a step told: addresses, and whether they were written.
fn told(step: impl FnOnce()) -> Vec<(usize, bool)> {
    step();
    std::mem::take(&mut *TOUCHES.lock().unwrap()).iter().map(|touch| (touch.address, touch.write)).collect()
}

fn get(address: usize) -> u8 {
    // SAFETY: a block of pinned memory, which no reference leads to.
    unsafe { (address as *const u8).read_volatile() }
}

fn set(address: usize, byte: u8) {
    // SAFETY: as above.
    unsafe { (address as *mut u8).write_volatile(byte) }
}

#[test]
fn host_code_is_kept_off_and_let_on_again() {
    fault::install();
    let layout = Layout {
        devices: 1,
        device_bytes: 1 << 30,
        pinned_bytes: 1 << 30,
        mirror_pinned: true,
        guard: false,
        managed_base: 0x900_0000_0000,
        managed_bytes: 1 << 40,
    };
    let space = Space::new(layout).unwrap();
    let size = 16 * PAGE;
    let block = space.alloc(Owner::Pinned, size, size, PAGE, Page::Normal, 0).unwrap();
    let base = block.base;
    let page = |n: usize| base + n * PAGE;
    let inner = space.inner(base);
    assert_ne!(inner, base);
    // The first byte after the first page, to the last one before the last: fourteen whole pages and two parts.
    let shut = |range, what| space.shut(range, what, hook);

    // No whole page, or not pinned memory.
    assert!(shut(base + 1..base + 2 * PAGE - 1, Shut::All).is_empty());
    let device = space.alloc(Owner::Device(0), size, size, PAGE, Page::Normal, 0).unwrap();
    assert!(shut(device.base..device.base + size, Shut::All).is_empty());

    // Everything is kept off whole pages; the runtime gets through, the parts stay open, one touch opens all.
    let pages = shut(base + 1..base + size - 1, Shut::All);
    assert_eq!(pages, page(1)..page(15));
    assert_eq!(
        told(|| {
            get(base + 1);
            set(page(15), 1);
        }),
        []
    );
    // SAFETY: memory of the space.
    unsafe { copy(inner + 3 * PAGE, b"x".as_ptr() as usize, 1).unwrap() };
    assert_eq!(told(|| assert_eq!(get(page(3)), b'x')), [(page(3), false)]);
    assert_eq!(
        told(|| {
            set(page(1), 1);
            get(page(14));
        }),
        []
    );
    space.open(pages, Shut::All);
    assert_eq!(told(|| set(page(2), 2)), []);

    // A source may be read. A guarded copy of the runtime through the program's address counts as the program's.
    let pages = shut(page(0)..page(4), Shut::Writes);
    assert_eq!(
        told(|| {
            get(page(1));
        }),
        []
    );
    // SAFETY: as above.
    let write = || unsafe { copy(page(1) + 7, b"y".as_ptr() as usize, 1).unwrap() };
    assert_eq!(told(write), [(page(1) + 7, true)]);
    assert_eq!(get(page(1) + 7), b'y');
    space.open(pages, Shut::Writes);

    // Wishes are counted. Two meet on page 4; each opens what it alone kept off.
    let (one, two) = (shut(page(2)..page(5), Shut::Writes), shut(page(4)..page(8), Shut::All));
    space.open(one.clone(), Shut::Writes);
    assert_eq!(
        told(|| {
            set(page(2), 1);
            set(page(3), 1);
        }),
        []
    );
    assert_eq!(
        told(|| {
            get(page(4));
        }),
        [(page(4), false)]
    );
    // A touch opened the second one's pages; a third wish shuts page 6 again.
    let three = shut(page(6)..page(7), Shut::Writes);
    assert_eq!(
        told(|| {
            get(page(5));
        }),
        []
    );
    assert_eq!(told(|| set(page(6), 1)), [(page(6), true)]);
    space.open(two, Shut::All);
    space.open(three, Shut::Writes);
    assert_eq!(told(|| (0..16).for_each(|n| set(page(n), 1))), []);
    let all = shut(page(0)..page(16), Shut::All);
    space.open(all, Shut::All);

    // One thread shuts and opens, another one touches all the time: no access is lost and none hangs.
    thread::scope(|scope| {
        let shutting = scope.spawn(|| {
            for round in 0..2000 {
                let what = if round % 3 == 0 { Shut::All } else { Shut::Writes };
                let (a, b) = (shut(page(0)..page(9), what), shut(page(5)..page(16), Shut::Writes));
                space.open(a, what);
                space.open(b, Shut::Writes);
            }
        });
        let mut turn = 0usize;
        while !shutting.is_finished() {
            let at = page(turn % 16);
            set(at, turn as u8);
            assert_eq!(get(at), turn as u8);
            turn += 1;
        }
    });
    TOUCHES.lock().unwrap().clear();
    assert_eq!(told(|| (0..16).for_each(|n| set(page(n), 1))), []);
    space.free(base).unwrap();
}
