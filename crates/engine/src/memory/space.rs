//! All memory of the process: the arenas, and the way from any address to its arena.

use super::arena::{Arena, Plan};
use super::guard::{self, Key};
use super::heap::Want;
use super::record::Stable;
use super::region::{GRANULE, thread_sanitizer, valgrind};
use super::registered::Registered;
use super::shield::{Hook, Shield, Shut};
use super::sparse::Sparse;
use super::{AllocError, Block, CHUNK, Extent, FreeError, Layout, Owner, Page, Refusal, SMALLEST, Usage};
use crate::sync::plain::{AtomicU16, OnceLock, Ordering};
use std::ops::Range;

/// Addresses of a process end here: 47 bits.
const ADDRESSES: usize = 1 << 47;

/// Where arenas go if nothing is there: the same places in every run, so that a program's device addresses repeat. All lie
/// in what AddressSanitizer leaves to the program.
const DEVICES_AT: usize = 0x1200_0000_0000;
const PINNED_AT: usize = 0x2000_0000_0000;
const ALIASES_AT: usize = 0x2800_0000_0000;

/// Most addresses of an arena under ThreadSanitizer, which leaves room for sixteen devices then.
const SANITIZED_BYTES: usize = 32 << 30;

/// The same under Valgrind, which pays memory for addresses.
const VALGRIND_BYTES: usize = 64 << 30;

/// Addresses for registered memory as devices see it; no memory is behind them.
const ALIAS_BYTES: usize = 4 << 40;

/// All memory of the process.
pub struct Space {
    /// Before the map, whose pages it is about.
    shield: OnceLock<Option<Box<Shield>>>,
    map: Stable<Map>,
    /// After the map: a key is given back when no page is under it.
    key: Option<Key>,
}

/// What the signal handler may read, too.
pub(super) struct Map {
    /// By GiB of address: 0, or 1 + the arena's place.
    granules: Sparse<AtomicU16>,
    /// The devices', then pinned, managed, aliases.
    arenas: Box<[Arena]>,
    registered: Registered,
    /// Variables inside loaded device binaries.
    images: Registered,
    layout: Layout,
}

impl Map {
    /// The arena around `addr`, and its place.
    #[inline(always)]
    fn arena_at(&self, addr: usize) -> Option<(usize, &Arena)> {
        let place = usize::from(self.granules.get(addr / GRANULE)?.load(Ordering::Acquire)).checked_sub(1)?;
        let arena = self.arenas.get(place)?;
        arena.contains(addr).then_some((place, arena))
    }

    #[inline]
    pub fn find(&self, addr: usize) -> Option<Block> {
        match self.arena_at(addr) {
            Some((_, arena)) => arena.find(addr),
            None => self.registered.find(addr).or_else(|| self.images.find(addr)),
        }
    }

    /// The variable inside a device binary around an address.
    #[inline]
    pub fn variable(&self, addr: usize) -> Option<Block> {
        self.images.find(addr)
    }

    #[inline]
    pub fn arena(&self, addr: usize) -> Option<Owner> {
        self.arena_at(addr).map(|(place, _)| self.owner(place))
    }

    /// An arena that begins in `[start, last]`.
    #[cold]
    fn arena_within(&self, start: usize, last: usize) -> Option<Owner> {
        let begins = |arena: &Arena| arena.range().is_some_and(|(base, _)| (start..=last).contains(&base));
        self.arenas.iter().position(begins).map(|place| self.owner(place))
    }

    fn devices(&self) -> usize {
        usize::from(self.layout.devices)
    }

    /// Whose arena is at a place.
    #[inline]
    fn owner(&self, place: usize) -> Owner {
        match place.checked_sub(self.devices()) {
            None => Owner::Device(place as u16),
            Some(0) => Owner::Pinned,
            Some(1) => Owner::Managed,
            Some(_) => Owner::Alias,
        }
    }

    /// The arena of an owner: its place. Registered memory has none.
    fn place(&self, owner: Owner) -> Option<usize> {
        match owner {
            Owner::Device(device) | Owner::Image(device) => {
                Some(usize::from(device)).filter(|&device| device < self.devices())
            }
            Owner::Pinned => Some(self.devices()),
            Owner::Managed => Some(self.devices() + 1),
            Owner::Alias => Some(self.devices() + 2),
            Owner::Registered => None,
        }
    }
}

/// Address space for `total` bytes of blocks: twice as much, so that holes between blocks do not exhaust it before the bytes
/// do; and the least that will do.
fn room(total: u64) -> (usize, usize) {
    let least = (total.clamp(1, ADDRESSES as u64) as usize).next_multiple_of(GRANULE);
    (least * 2, least)
}

impl Space {
    /// Lays the arenas out. Nothing is reserved yet: an arena's addresses are reserved at its first block.
    ///
    /// # Errors
    /// `Refused(EINVAL)` if the managed window does not begin at a multiple of 1 GiB or there are more than 65000 devices,
    /// `Refused` with the system's errno otherwise.
    pub fn new(layout: Layout) -> Result<Space, AllocError> {
        let refused = |errno| AllocError::Refused(Refusal::of(errno));
        if !layout.managed_base.is_multiple_of(GRANULE) || layout.devices > 65_000 {
            return Err(refused(libc::EINVAL));
        }
        let most = if thread_sanitizer() {
            SANITIZED_BYTES
        } else if valgrind() {
            VALGRIND_BYTES
        } else {
            ADDRESSES
        };
        let granules = Sparse::new(ADDRESSES / GRANULE).map_err(refused)?;
        let bytes = room(layout.device_bytes);
        let device = |device: usize| Plan {
            // Saturates to a place that cannot be had; then another is found.
            place: DEVICES_AT.saturating_add(device.saturating_mul(2 * bytes.0)),
            bytes,
            file: Some(format!("toprope-device-{device}")),
            mirror: true,
            total: layout.device_bytes,
        };
        let host = |place, bytes, file: Option<&str>, total| Plan {
            place,
            bytes,
            file: file.map(str::to_owned),
            mirror: layout.mirror_pinned && place == PINNED_AT,
            total,
        };
        let window = (layout.managed_bytes.clamp(1, ADDRESSES as u64) as usize).next_multiple_of(CHUNK);
        let others = [
            host(
                PINNED_AT,
                (room(layout.pinned_bytes).0, GRANULE),
                Some("toprope-pinned"),
                layout.pinned_bytes,
            ),
            host(layout.managed_base, (window, window), Some("toprope-managed"), layout.managed_bytes),
            host(ALIASES_AT, (ALIAS_BYTES, ALIAS_BYTES / 256), None, ALIAS_BYTES as u64),
        ];
        let capped = |plan: Plan| Plan { bytes: (plan.bytes.0.min(most), plan.bytes.1.min(most)), ..plan };
        let plans = (0..usize::from(layout.devices)).map(device).chain(others).map(capped);
        let arenas = plans.map(Arena::new).collect();
        let map = Stable::new(Box::new(Map {
            granules,
            arenas,
            registered: Registered::default(),
            images: Registered::default(),
            layout,
        }));
        let key = if layout.guard { Key::new() } else { None };
        if key.is_some() {
            guard::watch(&map);
        }
        Ok(Space { shield: OnceLock::new(), map, key })
    }

    /// A block of `size` bytes (and `usable - size` bytes of padding), aligned to `align` (a power of two; 64 at least).
    /// Blocks of at most 32 KiB lie in slots of fixed sizes, larger ones in whole 64 KiB chunks. What a new block holds is
    /// unspecified: zeros, or what an earlier block of the same arena held.
    ///
    /// An owner's use counts `usable` bytes, rounded up to 64.
    ///
    /// # Errors
    /// `Exhausted` if the owner's blocks would pass its limit (or, rarely, if no run of free addresses is long enough);
    /// `Refused` with the errno if the arena's addresses or memory file were refused, EINVAL for registered memory (that is
    /// [`Space::register`]) and ENODEV for a device that is not there.
    pub fn alloc(
        &self,
        owner: Owner,
        size: usize,
        usable: usize,
        align: usize,
        page: Page,
        tag: u64,
    ) -> Result<Block, AllocError> {
        debug_assert!(align.is_power_of_two());
        let refused = if owner == Owner::Registered { libc::EINVAL } else { libc::ENODEV };
        let refused = AllocError::Refused(Refusal::of(refused));
        let place = self.map.place(owner).ok_or(refused)?;
        let arena = self.map.arenas.get(place).ok_or(refused)?;
        let usable = usable.max(size).max(1);
        let align = align.checked_next_power_of_two().unwrap_or(GRANULE).clamp(SMALLEST, GRANULE);
        // Beyond this, rounding could wrap.
        if usable > ADDRESSES {
            let usage = arena.usage(false);
            return Err(AllocError::Exhausted { asked: usable as u64, free: usage.total - usage.used });
        }
        let key = self.key.as_ref().filter(|_| matches!(owner, Owner::Device(_) | Owner::Image(_)));
        arena.alloc(Want { owner, size, usable, align, page, tag }, key, |region| {
            let end = region.base + region.bytes;
            for granule in region.base / GRANULE..end.div_ceil(GRANULE) {
                if let Some(entry) = self.map.granules.get(granule) {
                    entry.store(place as u16 + 1, Ordering::Release);
                }
            }
        })
    }

    /// Frees the block that starts at `addr`. (Registered memory is not allocated here: [`Space::unregister`].) The pages stay
    /// with the arena; above 64 MiB of them, the longest of the other free runs go back to the system.
    pub fn free(&self, addr: usize) -> Result<Block, FreeError> {
        let (_, arena) = self.map.arena_at(addr).ok_or(FreeError::Unknown)?;
        arena.free(addr)
    }

    /// Frees the block that starts at `addr` if it is one that `wanted` takes; others count as unknown. `wanted` is asked under the
    /// arena's lock.
    #[inline]
    pub fn free_if(&self, addr: usize, wanted: impl Fn(&Block) -> bool) -> Result<Block, FreeError> {
        let (_, arena) = self.map.arena_at(addr).ok_or(FreeError::Unknown)?;
        arena.free_if(addr, wanted)
    }

    /// Frees this very block; false when it is gone already, also when another one lives at its address by now.
    pub fn free_exact(&self, block: &Block) -> bool {
        self.free_if(block.base, |found| found.serial == block.serial).is_ok()
    }

    /// Frees every block of `owner`; returns how many there were. Registered memory is forgotten.
    pub fn free_all(&self, owner: Owner) -> usize {
        let blocks = self.blocks(owner);
        let ended = |block: &&Block| match owner {
            Owner::Registered => self.unregister(block.base).is_ok(),
            _ => self.free_exact(block),
        };
        blocks.iter().filter(ended).count()
    }

    /// The live block that contains `addr`: one of its `usable` bytes. Takes no lock; any address may be asked.
    #[inline]
    pub fn find(&self, addr: usize) -> Option<Block> {
        self.map.find(addr)
    }

    /// What a copy must know of the live block around an address, if that lies in an arena with memory: [`Space::find`] and
    /// [`Space::inner`] in one step, for most addresses.
    #[inline(always)]
    pub fn extent(&self, addr: usize) -> Option<Extent> {
        let (_, arena) = self.map.arena_at(addr).filter(|(_, arena)| arena.has_memory())?;
        let (left, whose) = arena.left(addr)?;
        Some(Extent { left, whose, shift: arena.mirror() })
    }

    /// Whose arena `addr` lies in (live block or not): a compare. None outside all arenas. Device variables lie in their
    /// device's arena, and registered memory in none.
    #[inline]
    pub fn arena(&self, addr: usize) -> Option<Owner> {
        self.map.arena(addr)
    }

    /// Whose arena the range `[start, last]` has an address of, if any.
    #[inline]
    pub fn entered(&self, start: usize, last: usize) -> Option<Owner> {
        let end = self.arena(start).or_else(|| self.arena(last));
        // An arena that lies inside the range has one chunk at least.
        if end.is_some() || last.saturating_sub(start) < CHUNK {
            end
        } else {
            self.map.arena_within(start, last)
        }
    }

    /// Whether all of `[start, end)` is memory of one arena that blocks have been in (or, within the step in which an arena grows,
    /// could have been), and no byte of it belongs to a live block. Slow: looks at every chunk.
    pub fn vacant(&self, start: usize, end: usize) -> bool {
        self.map.arena_at(start).is_some_and(|(_, arena)| arena.vacant(start, end))
    }

    /// Use of an owner's memory. A device's counts its device variables, too; `Image` counts those alone. Of registered memory
    /// there exists what is registered.
    pub fn usage(&self, owner: Owner) -> Usage {
        let arena = self.map.place(owner).and_then(|place| self.map.arenas.get(place));
        match arena {
            Some(arena) => arena.usage(matches!(owner, Owner::Image(_))),
            None if owner == Owner::Registered => self.map.registered.usage(),
            None => Usage::default(),
        }
    }

    /// Live blocks of an owner, oldest first. (Variables inside device binaries are not among them: they go with their instance.)
    pub fn blocks(&self, owner: Owner) -> Vec<Block> {
        let arena = self.map.place(owner).and_then(|place| self.map.arenas.get(place));
        let mut blocks = match arena {
            Some(arena) => arena.blocks(|block| block.owner == owner),
            None if owner == Owner::Registered => self.map.registered.blocks(),
            None => Vec::new(),
        };
        blocks.sort_unstable_by_key(|block| block.serial);
        blocks
    }

    /// Notes that the program registered `[addr, addr + size)` of its own memory; refuses an overlap, naming the earlier one.
    pub fn register(&self, addr: usize, size: usize, tag: u64) -> Result<Block, Block> {
        self.map.registered.add(Owner::Registered, addr, size, tag)
    }

    /// Forgets a registration that starts at `addr`.
    pub fn unregister(&self, addr: usize) -> Result<Block, FreeError> {
        self.map.registered.remove(addr)
    }

    /// Notes a variable of a device inside a loaded device binary ([`crate::image::Instance`]): `[addr, addr + size)`, of which the
    /// runtime's own mapping is `mirror` bytes further (wrapping; 0: there is none). Refuses an overlap, naming the earlier one.
    pub fn add_variable(&self, device: u16, addr: usize, size: usize, mirror: usize) -> Result<Block, Block> {
        self.map.images.add(Owner::Image(device), addr, size, mirror as u64)
    }

    /// Forgets a variable that starts at `addr`.
    pub fn remove_variable(&self, addr: usize) -> Result<Block, FreeError> {
        self.map.images.remove(addr)
    }

    /// Puts pages of a loaded device binary under the guard, if there is one; whether they are.
    pub fn guard_pages(&self, base: usize, bytes: usize) -> bool {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        self.key.as_ref().is_some_and(|key| key.guard(base, bytes, access).is_ok())
    }

    /// Where the runtime itself reads and writes the bytes at `addr`: the mirror where there is one (device memory, perhaps
    /// pinned memory), the target for an alias, `addr` itself for all else.
    #[inline]
    pub fn inner(&self, addr: usize) -> usize {
        let Some((_, arena)) = self.map.arena_at(addr) else {
            return self.map.variable(addr).map_or(addr, |block| addr.wrapping_add(block.tag as usize));
        };
        if arena.has_memory() {
            // 0 without a mirror.
            return addr + arena.mirror();
        }
        // An alias: its tag is the target. (A freed one has no target and no memory: a copy there reports a fault.)
        let target = |block: Block| (block.tag as usize).wrapping_add(addr - block.base);
        let target = arena.find(addr).map_or(addr, target);
        // Pinned memory may have been registered.
        match self.map.arena_at(target) {
            Some((_, arena)) if arena.has_memory() => target + arena.mirror(),
            _ => target,
        }
    }

    /// Keeps host code off the whole pages of a range of pinned memory, and says which pages these are: none when the range holds
    /// no whole page, is not pinned memory with a mirror, or the system refuses. Every call is taken back by one
    /// [`Space::open`]. `hook` (the first one counts) is told of each access that comes all the same, in the signal handler; the
    /// pages are open then, and the access is tried again. System calls on such pages answer EFAULT.
    ///
    /// A program that keeps its own SIGSEGV handler in front of ours sees these faults: [`crate::fault::install`].
    pub fn shut(&self, range: Range<usize>, what: Shut, hook: Hook) -> Range<usize> {
        let Some((place, arena)) = self.map.arena_at(range.start) else { return 0..0 };
        if self.map.owner(place) != Owner::Pinned || arena.mirror() == 0 {
            return 0..0;
        }
        let made = self.shield.get_or_init(|| {
            let (base, bytes) = arena.range()?;
            Shield::new(base, bytes, hook)
        });
        made.as_ref().map_or(0..0, |shield| shield.shut(range, what))
    }

    /// Takes one [`Space::shut`] back: with the pages that it answered.
    pub fn open(&self, pages: Range<usize>, what: Shut) {
        if let Some(Some(shield)) = self.shield.get()
            && !pages.is_empty()
        {
            shield.open(pages, what);
        }
    }

    /// Whether host code really is kept out of device pages.
    pub fn guarded(&self) -> bool {
        self.key.is_some()
    }

    /// Lets the calling thread read and write guarded device pages, or shuts it out again: threads that run device code open
    /// them. Threads start with what their creator had. No system call; nothing to do without a guard. (A signal handler runs
    /// shut out, whatever it interrupted.)
    pub fn open_guard(&self, open: bool) {
        if let Some(key) = &self.key {
            key.access(open);
        }
    }

    /// Where managed memory is: (first address, bytes, whether that is the window of the layout). None before the first
    /// managed block.
    pub fn managed_window(&self) -> Option<(usize, u64, bool)> {
        let arena = self.map.place(Owner::Managed).and_then(|place| self.map.arenas.get(place))?;
        let (base, bytes) = arena.range()?;
        Some((base, bytes as u64, base == self.map.layout.managed_base))
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        guard::unwatch(&self.map);
    }
}
