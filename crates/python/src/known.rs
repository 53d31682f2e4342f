//! Blocks that Python allocated. A copy between two of them is only put into its stream, so that the call cannot wait and keeps
//! the GIL; any other address may be pageable memory, for which the call drains the stream first. An address that is not found
//! here costs a release of the GIL, nothing else.
//!
//! Everything here is used with the GIL held.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Length by address.
static BLOCKS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// The block that was found last for one end of a copy.
struct Last {
    start: AtomicUsize,
    len: AtomicUsize,
}

static TARGET: Last = Last::none();
static SOURCE: Last = Last::none();

impl Last {
    const fn none() -> Self {
        Self { start: AtomicUsize::new(0), len: AtomicUsize::new(0) }
    }

    #[inline]
    fn has(&self, addr: usize, len: usize) -> bool {
        // The GIL orders these; they are atomic only to be static.
        let offset = addr.wrapping_sub(self.start.load(Ordering::Relaxed));
        let all = self.len.load(Ordering::Relaxed);
        (offset < all && len <= all - offset) || self.find(addr, len)
    }

    #[inline(never)]
    fn find(&self, addr: usize, len: usize) -> bool {
        let blocks = blocks();
        let Some((&start, &all)) = blocks.range(..=addr).next_back() else { return false };
        let offset = addr - start;
        if offset >= all || len > all - offset {
            return false;
        }
        self.start.store(start, Ordering::Relaxed);
        self.len.store(all, Ordering::Relaxed);
        true
    }

    fn forget(&self) {
        self.len.store(0, Ordering::Relaxed);
    }
}

fn blocks() -> std::sync::MutexGuard<'static, BTreeMap<usize, usize>> {
    BLOCKS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Whether a copy of `len` bytes stays between blocks that Python allocated.
#[inline]
pub fn between(target: usize, source: usize, len: usize) -> bool {
    TARGET.has(target, len) && SOURCE.has(source, len)
}

/// A block was allocated.
pub fn allocated(start: usize, len: usize) {
    blocks().insert(start, len);
}

/// A block will be freed.
pub fn freed(start: usize) {
    blocks().remove(&start);
    TARGET.forget();
    SOURCE.forget();
}

/// Whole devices go, with whatever was on them.
pub fn forget_all() {
    blocks().clear();
    TARGET.forget();
    SOURCE.forget();
}
