//! One arena: addresses of one kind, their blocks, their free chunks.
//!
//! An arena has no addresses before its first block. One lock guards everything that changes; readers ([`Arena::find`]) take
//! none. Free chunks are of two sorts: *warm* ones have had blocks and keep their pages; *cold* ones have no pages. Above
//! [`KEEP`] warm bytes, the longest warm runs are punched out of the memory file, outside the lock, but not the one that a
//! block has just come back to: the next block of its size will take it.
//!
//! Lock ranks: `punching` before `state`; `state` is never held over a punch.

use super::guard::Key;
use super::heap::{Ground, Heap, NoPlace, Want};
use super::record::{Look, Record, Seen};
use super::region::{GRANULE, Region, Wish};
use super::table::{Found, Table};
use super::{AllocError, Block, CHUNK, FreeError, Owner, Refusal, SMALLEST, Usage, Whose};
use crate::sync::plain::{AtomicU64, Mutex, OnceLock, Ordering, ShortMutex};

/// Warm bytes that an arena keeps at most. (Touching 64 MiB of punched-out pages again costs about 56 ms.)
pub(super) const KEEP: u64 = 64 << 20;

/// How an arena is made, once it is needed.
pub(super) struct Plan {
    /// Where it should be.
    pub place: usize,
    /// Its bytes of address space, a multiple of [`CHUNK`]; and a smaller number to be content with, when the system refuses as
    /// much. (Halves are tried in between.)
    pub bytes: (usize, usize),
    /// Its memory file's name, if it has memory.
    pub file: Option<String>,
    /// Whether it has an unguarded mirror.
    pub mirror: bool,
    /// Bytes of blocks at most.
    pub total: u64,
}

/// An arena.
pub(super) struct Arena {
    plan: Plan,
    placed: OnceLock<Placed>,
    used: Gauge,
    images: Gauge,
    state: ShortMutex<Heap>,
    punching: Mutex<()>,
}

/// The addresses of an arena.
struct Placed {
    region: Region,
    table: Table,
}

/// Bytes in blocks, now and at most. Written under the lock.
#[derive(Default)]
struct Gauge {
    now: AtomicU64,
    peak: AtomicU64,
}

impl Gauge {
    fn add(&self, bytes: u64) {
        let now = self.now.load(Ordering::Relaxed) + bytes;
        self.now.store(now, Ordering::Relaxed);
        if now > self.peak.load(Ordering::Relaxed) {
            self.peak.store(now, Ordering::Relaxed);
        }
    }
    fn sub(&self, bytes: u64) {
        self.now.store(self.now.load(Ordering::Relaxed) - bytes, Ordering::Relaxed);
    }
    fn usage(&self, total: u64) -> Usage {
        let (used, peak) = (self.now.load(Ordering::Relaxed), self.peak.load(Ordering::Relaxed));
        Usage { total, used, peak }
    }
}

/// What a block counts for: its usable bytes, rounded up to the smallest alignment.
fn weight(usable: usize) -> u64 {
    (usable as u64).next_multiple_of(SMALLEST as u64)
}

impl Arena {
    pub fn new(plan: Plan) -> Arena {
        Arena {
            plan,
            placed: OnceLock::new(),
            used: Gauge::default(),
            images: Gauge::default(),
            state: ShortMutex::default(),
            punching: Mutex::default(),
        }
    }

    /// Its addresses, once it has some.
    #[inline]
    pub fn range(&self) -> Option<(usize, usize)> {
        self.placed.get().map(|placed| (placed.region.base, placed.region.bytes))
    }

    /// Whether `addr` is one of its addresses.
    #[inline]
    pub fn contains(&self, addr: usize) -> bool {
        self.placed.get().is_some_and(|p| addr.wrapping_sub(p.region.base) < p.region.bytes)
    }

    /// Distance to the mapping that the runtime uses.
    #[inline]
    pub fn mirror(&self) -> usize {
        self.placed.get().map_or(0, |placed| placed.region.mirror)
    }

    /// Whether there is memory behind its addresses.
    #[inline]
    pub fn has_memory(&self) -> bool {
        self.plan.file.is_some()
    }

    /// Use by all blocks, or by device variables alone.
    pub fn usage(&self, images: bool) -> Usage {
        if images { &self.images } else { &self.used }.usage(self.plan.total)
    }

    /// The live block around `addr`.
    #[inline]
    pub fn find(&self, addr: usize) -> Option<Block> {
        let table = &self.placed.get()?.table;
        loop {
            match table.record(addr)?.read() {
                Seen::Live(block) => {
                    return (addr.wrapping_sub(block.base) < block.usable).then_some(block);
                }
                Seen::Dead => return None,
                // Another block came or went meanwhile; the table may lead elsewhere now.
                Seen::Torn => std::hint::spin_loop(),
            }
        }
    }

    /// How much of the live block around `addr` lies behind it, and whose it is.
    #[inline(always)]
    pub fn left(&self, addr: usize) -> Option<(usize, Whose)> {
        let table = &self.placed.get()?.table;
        loop {
            match table.record(addr)?.left(addr) {
                Look::Live(left, whose) => return Some((left, whose)),
                Look::Dead => return None,
                Look::Torn => std::hint::spin_loop(),
            }
        }
    }

    /// Whether `[start, end)` is memory that blocks could have been in, and no live block has a byte of it.
    pub fn vacant(&self, start: usize, end: usize) -> bool {
        self.placed.get().is_some_and(|placed| {
            let last = placed.region.base + placed.region.opened();
            placed.region.base <= start && end <= last && placed.table.live_within(start, end).is_none()
        })
    }

    /// Reserves the addresses, at the first block. `placed` is told where they are, before a block can be.
    fn placed(
        &self,
        state: &mut Heap,
        key: Option<&Key>,
        placed: impl FnOnce(&Region),
    ) -> Result<&Placed, Refusal> {
        if let Some(placed) = self.placed.get() {
            return Ok(placed);
        }
        let wish = |bytes| Wish {
            place: self.plan.place,
            bytes,
            file: self.plan.file.clone(),
            mirror: self.plan.mirror,
            key,
        };
        let (mut bytes, enough) = self.plan.bytes;
        let reserve = |bytes| {
            let region = Region::new(&wish(bytes))?;
            let chunks = u32::try_from(bytes / CHUNK).map_err(|_| libc::ENOMEM)?;
            let table = Table::new(region.base, region.bytes)?;
            Ok((region, table, chunks))
        };
        let (region, table, chunks) = loop {
            match reserve(bytes) {
                Ok(reserved) => break reserved,
                Err(errno) if bytes <= enough => {
                    let all = bytes as u64 * if self.plan.mirror { 2 } else { 1 };
                    return Err(Refusal { errno, bytes: all });
                }
                Err(_) => bytes = (bytes / 2).next_multiple_of(GRANULE).clamp(enough, bytes - CHUNK),
            }
        };
        placed(&region);
        state.cold.give(0, chunks);
        Ok(self.placed.get_or_init(|| Placed { region, table }))
    }

    /// A new block.
    pub fn alloc(
        &self,
        want: Want,
        key: Option<&Key>,
        told: impl FnOnce(&Region),
    ) -> Result<Block, AllocError> {
        let asked = weight(want.usable);
        let mut state = self.state.lock();
        let free = self.plan.total.saturating_sub(self.used.now.load(Ordering::Relaxed));
        let exhausted = AllocError::Exhausted { asked, free };
        if asked > free {
            return Err(exhausted);
        }
        let placed = self.placed(&mut state, key, told).map_err(AllocError::Refused)?;
        let ground = Ground { table: &placed.table, region: &placed.region, key };
        let not_opened = |errno| {
            AllocError::Refused(Refusal { errno, bytes: (want.usable as u64).next_multiple_of(CHUNK as u64) })
        };
        let block = match state.place(&ground, want) {
            Ok(block) => block,
            Err(NoPlace::Refused(errno)) => return Err(not_opened(errno)),
            Err(NoPlace::Full) => {
                // No run is long enough: join all that can be joined, and wait for punches under way.
                drop(state);
                self.punch(0, None);
                state = self.state.lock();
                let free = self.plan.total.saturating_sub(self.used.now.load(Ordering::Relaxed));
                if asked > free {
                    return Err(exhausted);
                }
                // What is free may lie in pieces, or beyond the addresses that the system gave.
                let free = free.min(state.longest());
                state.place(&ground, want).map_err(|none| match none {
                    NoPlace::Full => AllocError::Exhausted { asked, free },
                    NoPlace::Refused(errno) => not_opened(errno),
                })?
            }
        };
        self.used.add(asked);
        if matches!(want.owner, Owner::Image(_)) {
            self.images.add(asked);
        }
        Ok(block)
    }

    /// Ends the block that starts at `addr`.
    pub fn free(&self, addr: usize) -> Result<Block, FreeError> {
        self.free_if(addr, |_| true)
    }

    /// As [`Arena::free`], but a block that `wanted` refuses is left alone and counts as unknown.
    pub fn free_if(&self, addr: usize, wanted: impl Fn(&Block) -> bool) -> Result<Block, FreeError> {
        let placed = self.placed.get().ok_or(FreeError::Unknown)?;
        let mut state = self.state.lock();
        let found = placed.table.find(addr).ok_or(FreeError::Unknown)?;
        let record = match &found {
            Found::Record(record) => Some(*record),
            Found::Slab(slab) => slab.record(addr),
        };
        let record = record.ok_or(FreeError::Unknown)?;
        let block = record.live().filter(|b| addr - b.base < b.usable).ok_or(FreeError::Unknown)?;
        if block.base != addr {
            return Err(FreeError::Interior(block));
        }
        if !wanted(&block) {
            return Err(FreeError::Unknown);
        }
        record.retire();
        match found {
            Found::Record(record) => state.free_large(&placed.table, &block, record),
            Found::Slab(slab) => state.free_small(&placed.table, slab, addr),
        }
        let weight = weight(block.usable);
        self.used.sub(weight);
        if matches!(block.owner, Owner::Image(_)) {
            self.images.sub(weight);
        }
        let warm = state.warm.total() * CHUNK as u64;
        drop(state);
        if warm > KEEP && self.plan.file.is_some() {
            self.punch(KEEP, Some(((addr - placed.table.base()) / CHUNK) as u32));
        }
        Ok(block)
    }

    /// Punches out warm runs, the longest first, until at most `keep` bytes are warm. The run of the chunk `last` stays, unless it
    /// alone is more than that.
    #[cold]
    fn punch(&self, keep: u64, last: Option<u32>) {
        let Some(placed) = self.placed.get() else { return };
        let _one = self.punching.lock();
        let spared = |start: u32, len: u32| {
            u64::from(len) * CHUNK as u64 <= keep && last.is_some_and(|at| (start..start + len).contains(&at))
        };
        loop {
            let mut state = self.state.lock();
            if state.warm.total() * CHUNK as u64 <= keep {
                return;
            }
            let Some((start, len)) = state.warm.take_longest(spared) else { return };
            drop(state);
            placed.region.punch(start as usize * CHUNK, len as usize * CHUNK);
            self.state.lock().cold.give(start, len);
        }
    }

    /// Live blocks, in no order.
    pub fn blocks(&self, keep: impl Fn(&Block) -> bool) -> Vec<Block> {
        self.state.lock().records().filter_map(Record::live).filter(keep).collect()
    }
}
