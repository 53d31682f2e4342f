//! The hot path allocates nothing: an asynchronous copy of 64 bytes inside a device.

#[macro_use]
mod copy_support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ascendcl::copy::aclrtMemcpyAsync;
use copy_support::*;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_small_copy_allocates_nothing_of_its_own() {
    let stream = device(0);
    let (a, b) = (device_memory(64, 1), device_memory(64, 2));
    let gate = Gate::shut(stream);
    let copies = 10_000;
    let run = || {
        let before = COUNT.get();
        for _ in 0..copies {
            assert_eq!(acl! { aclrtMemcpyAsync(a, 64, b, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream) }, 0);
        }
        COUNT.get() - before
    };
    // Behind a gate every task is kept: the engine takes a chunk for each 128 of them.
    let kept = run();
    assert!(kept <= copies / 100, "{kept} allocations for {copies} copies");
    gate.open();
    finish(stream);
    assert_eq!(get(a, 64), [2; 64]);
}
