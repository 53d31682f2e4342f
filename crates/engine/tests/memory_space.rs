//! Blocks: against a reference model, at their edges, at the limits, and from many threads.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "memory/pages.rs"]
mod pages;

use pages::{read, write};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use toprope_engine::memory::{AllocError, Block, FreeError, Layout, Owner, Page, Refusal, Space, copy};

const GIB: u64 = 1 << 30;
const MIB: usize = 1 << 20;
const WINDOW: usize = 0x900_0000_0000;

fn layout() -> Layout {
    Layout {
        devices: 3,
        device_bytes: GIB,
        pinned_bytes: GIB,
        mirror_pinned: false,
        guard: false,
        managed_base: WINDOW,
        managed_bytes: 3 << 40,
    }
}

fn space() -> Space {
    Space::new(layout()).unwrap()
}

fn alloc(space: &Space, owner: Owner, size: usize) -> Block {
    space.alloc(owner, size, size, 64, Page::Normal, 0).unwrap()
}

fn refused(errno: i32) -> AllocError {
    AllocError::Refused(Refusal { errno, bytes: 0 })
}

#[derive(Clone, Debug)]
enum Step {
    Alloc { owner: Owner, size: usize, pad: usize, log: u32 },
    Free { pick: usize, offset: usize },
    FreeAll { owner: Owner },
    Find { pick: usize, offset: isize },
}

fn owners() -> impl Strategy<Value = Owner> {
    let all = [Owner::Device(0), Owner::Device(2), Owner::Image(0), Owner::Pinned, Owner::Managed];
    prop::sample::select(all.to_vec())
}

fn steps() -> impl Strategy<Value = Step> {
    let size = prop_oneof![4 => 1usize..5000, 2 => 5000usize..200_000, 1 => 200_000usize..5_000_000];
    prop_oneof![
        6 => (owners(), size, 0usize..64, prop_oneof![4 => 0u32..10, 1 => 10u32..23])
            .prop_map(|(owner, size, pad, log)| Step::Alloc { owner, size, pad, log }),
        4 => (any::<usize>(), prop_oneof![4 => Just(0usize), 1 => 1usize..5000])
            .prop_map(|(pick, offset)| Step::Free { pick, offset }),
        1 => owners().prop_map(|owner| Step::FreeAll { owner }),
        4 => (any::<usize>(), -100isize..6_000_000).prop_map(|(pick, offset)| Step::Find { pick, offset }),
    ]
}

/// What the model says about an address.
fn expected(model: &BTreeMap<usize, Block>, addr: usize) -> Option<Block> {
    let (_, block) = model.range(..=addr).next_back()?;
    (addr - block.base < block.usable).then_some(*block)
}

fn edges(space: &Space, model: &BTreeMap<usize, Block>, block: &Block) {
    let end = block.base + block.usable;
    for addr in [block.base - 1, block.base, block.base + block.usable / 2, end - 1, end] {
        assert_eq!(space.find(addr), expected(model, addr), "{addr:#x} of {block:x?}");
    }
}

/// Writes through one mapping are seen through the other, at both ends.
fn both_mappings(space: &Space, block: &Block) {
    let inner = space.inner(block.base);
    assert_eq!(inner != block.base, matches!(block.owner, Owner::Device(_) | Owner::Image(_)));
    for offset in [0, block.usable - 1] {
        write(block.base + offset, &[block.serial as u8]);
        assert_eq!(read(inner + offset, 1), [block.serial as u8]);
        write(inner + offset, &[!block.serial as u8]);
        assert_eq!(read(block.base + offset, 1), [!block.serial as u8]);
    }
}

fn check_usage(space: &Space, model: &BTreeMap<usize, Block>) {
    let sum = |keep: &dyn Fn(Owner) -> bool| -> u64 {
        model.values().filter(|b| keep(b.owner)).map(|b| (b.usable as u64).next_multiple_of(64)).sum()
    };
    for device in [0, 2] {
        let both = sum(&|o| o == Owner::Device(device) || o == Owner::Image(device));
        assert_eq!(space.usage(Owner::Device(device)).used, both);
        assert_eq!(space.usage(Owner::Image(device)).used, sum(&|o| o == Owner::Image(device)));
    }
    for owner in [Owner::Pinned, Owner::Managed, Owner::Device(1)] {
        assert_eq!(space.usage(owner).used, sum(&|o| o == owner));
        assert!(space.usage(owner).peak >= space.usage(owner).used);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn behaves_like_a_map_of_ranges(steps in prop::collection::vec(steps(), 1..200)) {
        let space = space();
        let mut model: BTreeMap<usize, Block> = BTreeMap::new();
        let mut serials = HashSet::new();
        let mut newest: HashMap<Owner, u64> = HashMap::new();
        let nth = |model: &BTreeMap<usize, Block>, pick: usize| model.values().nth(pick % model.len().max(1)).copied();
        for step in steps {
            match step {
                Step::Alloc { owner, size, pad, log } => {
                    let align = 1usize << log;
                    let tag = (size * 31) as u64;
                    match space.alloc(owner, size, size + pad, align, Page::Huge, tag) {
                        Ok(block) => {
                            let wanted = Block { base: block.base, size, usable: size + pad, owner, page: Page::Huge, serial: block.serial, tag };
                            prop_assert_eq!(block, wanted);
                            prop_assert!(block.base.is_multiple_of(align.max(64)));
                            prop_assert!(serials.insert(block.serial), "a serial is never used twice");
                            let next = model.range(block.base..).next();
                            prop_assert!(next.is_none_or(|(&start, _)| block.base + block.usable <= start));
                            prop_assert!(expected(&model, block.base).is_none());
                            let arena = if let Owner::Image(device) = owner { Owner::Device(device) } else { owner };
                            let last = newest.insert(arena, block.serial);
                            prop_assert!(last.is_none_or(|last| last < block.serial), "an arena's serials rise");
                            prop_assert_eq!(space.arena(block.base), Some(arena));
                            prop_assert_eq!(space.arena(block.base + block.usable - 1), Some(arena));
                            model.insert(block.base, block);
                            both_mappings(&space, &block);
                            edges(&space, &model, &block);
                        }
                        Err(AllocError::Exhausted { asked, free }) => prop_assert!(asked > free),
                        Err(refused) => prop_assert!(false, "{:?}", refused),
                    }
                }
                Step::Free { pick, offset } => {
                    let Some(block) = nth(&model, pick) else { continue };
                    let addr = block.base + offset;
                    let result = space.free(addr);
                    match expected(&model, addr) {
                        Some(hit) if hit.base == addr => {
                            prop_assert_eq!(result, Ok(hit));
                            model.remove(&addr);
                            edges(&space, &model, &hit);
                            prop_assert_eq!(space.free(addr), Err(FreeError::Unknown));
                        }
                        Some(hit) => prop_assert_eq!(result, Err(FreeError::Interior(hit))),
                        None => prop_assert_eq!(result, Err(FreeError::Unknown)),
                    }
                }
                Step::FreeAll { owner } => {
                    let before = model.len();
                    model.retain(|_, block| block.owner != owner);
                    prop_assert_eq!(space.free_all(owner), before - model.len());
                    prop_assert_eq!(space.blocks(owner), vec![]);
                }
                Step::Find { pick, offset } => {
                    let Some(block) = nth(&model, pick) else { continue };
                    let addr = block.base.wrapping_add_signed(offset);
                    prop_assert_eq!(space.find(addr), expected(&model, addr));
                }
            }
        }
        check_usage(&space, &model);
        for owner in [Owner::Device(0), Owner::Device(2), Owner::Image(0), Owner::Pinned, Owner::Managed] {
            let mut blocks: Vec<Block> = model.values().filter(|b| b.owner == owner).copied().collect();
            blocks.sort_by_key(|block| block.serial);
            prop_assert_eq!(space.blocks(owner), blocks);
        }
        for block in model.values() {
            edges(&space, &model, block);
        }
    }

    /// Registered ranges, small and dense, so that they touch, overlap and leave gaps.
    #[test]
    fn registered_ranges_behave_like_a_map(steps in prop::collection::vec((0usize..400, 1usize..40, any::<bool>()), 1..300)) {
        const BASE: usize = 0x5555_0000_0001;
        let space = space();
        let mut model: BTreeMap<usize, Block> = BTreeMap::new();
        for (start, size, add) in steps {
            let addr = BASE + start;
            if add {
                let hit = model.values().find(|b| b.base < addr + size && addr < b.base + b.size).copied();
                match space.register(addr, size, start as u64) {
                    Ok(block) => {
                        prop_assert_eq!(hit, None);
                        prop_assert_eq!((block.base, block.size, block.tag), (addr, size, start as u64));
                        prop_assert_eq!(block.owner, Owner::Registered);
                        model.insert(addr, block);
                    }
                    Err(earlier) => {
                        prop_assert!(hit.is_some());
                        prop_assert!(earlier.base < addr + size && addr < earlier.base + earlier.size);
                    }
                }
            } else {
                let expected = match expected(&model, addr) {
                    Some(block) if block.base == addr => { model.remove(&addr); Ok(block) }
                    Some(block) => Err(FreeError::Interior(block)),
                    None => Err(FreeError::Unknown),
                };
                prop_assert_eq!(space.unregister(addr), expected);
            }
            for probe in [addr - 1, addr, addr + size - 1, addr + size] {
                prop_assert_eq!(space.find(probe), expected(&model, probe));
            }
        }
        let used: usize = model.values().map(|b| b.size).sum();
        prop_assert_eq!(space.usage(Owner::Registered).used, used as u64);
        prop_assert_eq!(space.blocks(Owner::Registered).len(), model.len());
        prop_assert_eq!(space.free_all(Owner::Registered), model.len());
        prop_assert_eq!(space.find(BASE + 5), None);
    }
}

#[test]
fn wild_addresses_belong_to_nobody() {
    let space = space();
    let block = alloc(&space, Owner::Device(0), 1000);
    let local = 5u8;
    let here = &raw const local as usize;
    space.register(4096, 10, 0).unwrap();
    for addr in [0, 1, 63, here, WINDOW, 1 << 46, (1 << 47) - 1, 1 << 47, 0xffff_8000_0000_0000, usize::MAX] {
        assert_eq!(space.find(addr), None, "{addr:#x}");
        assert_eq!(space.arena(addr), None, "{addr:#x}");
        assert_eq!(space.inner(addr), addr);
        assert_eq!(space.free(addr), Err(FreeError::Unknown));
        assert_eq!(space.unregister(addr), Err(FreeError::Unknown));
    }
    // The mirror is no address of the program's.
    let mirror = space.inner(block.base);
    assert_eq!((space.find(mirror), space.arena(mirror)), (None, None));
    // At the very end of the address space nothing wraps.
    let top = space.register(usize::MAX - 10, 100, 0).unwrap();
    assert_eq!(space.find(usize::MAX - 1), Some(top));
    assert_eq!(space.find(3), None);
}

#[test]
fn sixteen_large_devices_cost_nothing() {
    let layout = Layout { devices: 16, device_bytes: 64 * GIB, ..layout() };
    let space = Space::new(layout).unwrap();
    let before = resident();
    for device in 0..16 {
        let block = alloc(&space, Owner::Device(device), 64 << 30);
        assert_eq!(space.find(block.base + (64 << 30) - 1), Some(block));
        assert_eq!(space.find(block.base + (64 << 30)), None);
        write(block.base + (63 << 30), b"x");
    }
    assert!(resident() - before < 64 * MIB, "{} bytes", resident() - before);
    for device in 0..16 {
        assert_eq!(space.free_all(Owner::Device(device)), 1);
    }
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Memory can be read and written where blocks lie and a little further, by the program and by the runtime, and nowhere else;
/// what has been opened stays.
#[test]
fn a_space_opens_as_far_as_its_blocks_reach() {
    for owner in [Owner::Device(0), Owner::Pinned, Owner::Managed] {
        let space = space();
        let first = alloc(&space, owner, 100);
        let inner = space.inner(first.base);
        let ends = [first.base, inner].map(|start| (start, start + GIB as usize));
        let open = || ends.map(|(start, end)| accessible(start, end));
        assert_eq!(open(), [2 * MIB; 2], "{owner:?}");
        let reach = |addr: usize| {
            // SAFETY: nobody's memory; a byte of the arena or a fault.
            unsafe { copy(addr, b"x".as_ptr() as usize, 1).is_ok() }
        };
        assert!(reach(inner) && reach(inner + 2 * MIB - 1));
        assert!(!reach(inner + 2 * MIB) && !reach(first.base + 2 * MIB) && !reach(inner + (1 << 29)));
        let second = alloc(&space, owner, 50 * MIB);
        let grown = open();
        assert!(grown[0] == grown[1] && (52 * MIB..120 * MIB).contains(&grown[0]), "{grown:?}");
        write(second.base, b"a");
        write(second.base + 50 * MIB - 1, b"z");
        assert_eq!(read(space.inner(second.base + 50 * MIB - 1), 1), b"z");
        for block in [first, second] {
            space.free(block.base).unwrap();
        }
        assert!(reach(space.inner(second.base)), "a late copy");
        // Many small steps: no more than double, or 64 MiB more, than blocks need.
        let blocks: Vec<Block> = (0..300).map(|_| alloc(&space, owner, MIB)).collect();
        assert!(blocks.iter().all(|block| reach(space.inner(block.base + MIB - 1))));
        assert!((300 * MIB..430 * MIB).contains(&open()[0]), "{:?}", open());
    }
}

/// Bytes between two addresses that may be read and written.
fn accessible(from: usize, to: usize) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let range = |line: &str| {
        let (range, rest) = line.split_once(' ').unwrap();
        let (start, end) = range.split_once('-').unwrap();
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        rest.starts_with("rw").then(|| (number(start).max(from), number(end).min(to)))
    };
    maps.lines().filter_map(range).map(|(start, end)| end.saturating_sub(start)).sum()
}

/// A range is nobody's only if no byte of it is somebody's: its ends say nothing about its middle.
#[test]
fn a_vacant_range_has_no_block_anywhere() {
    for (size, step) in [(2048, 2048), (65 << 10, 2 * 65536), (3 * MIB, 3 * MIB)] {
        let space = space();
        let blocks: Vec<Block> = (0..4).map(|_| alloc(&space, Owner::Pinned, size)).collect();
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| blocks[at].base);
        assert_eq!([b - a, c - b, d - c], [step; 3], "side by side");
        for gone in [a, c] {
            space.free(gone).unwrap();
        }
        // What a block's slot or last chunk holds behind it is nobody's.
        let end = b + size;
        assert!(
            space.vacant(a, b) && space.vacant(a + 5, a + 6) && space.vacant(end, d) && space.vacant(c, d)
        );
        assert!(!space.vacant(a, b + 1), "ends in a block");
        assert!(!space.vacant(a, d), "crosses a block");
        assert!(!space.vacant(a, d + size), "ends behind a block");
        assert!(!space.vacant(end - 1, d) && !space.vacant(c, d + 1) && !space.vacant(b, c));
        space.free(b).unwrap();
        assert!(space.vacant(a, d) && !space.vacant(a, d + 1));
        assert!(!space.vacant(a - 1, d), "before the arena");
        assert!(!space.vacant(4096, 8192), "the program's own");
        assert!(!space.vacant(a, usize::MAX));
    }
}

/// The arenas that a range enters: at its ends, or only in its middle.
#[test]
fn an_arena_in_the_middle_of_a_range_is_seen() {
    let space = space();
    let start = alloc(&space, Owner::Pinned, 64).base;
    assert_eq!((space.arena(start), space.arena(start - 1)), (Some(Owner::Pinned), None));
    assert_eq!(space.entered(start - 100, start - 1), None);
    assert_eq!(space.entered(start - 100, start), Some(Owner::Pinned));
    assert_eq!(space.entered(start - 100, start + (1 << 40)), Some(Owner::Pinned), "in its middle");
    assert_eq!(space.entered(start, start + (1 << 40)), Some(Owner::Pinned));
    assert_eq!(space.entered(0, 4095), None);
    assert_eq!(space.entered(0, usize::MAX), Some(Owner::Pinned));
}

#[test]
fn devices_do_not_share_memory() {
    let space = space();
    let (a, b) = (alloc(&space, Owner::Device(0), 4096), alloc(&space, Owner::Device(1), 4096));
    write(a.base, &[7; 4096]);
    assert_eq!(read(b.base, 4096), [0; 4096]);
    let freed = space.free(a.base).unwrap();
    assert_eq!(freed, a);
    let again = alloc(&space, Owner::Device(1), 4096);
    assert_eq!(read(again.base, 4096), [0; 4096]);
    // Two spaces do not share memory either, and the second one finds other addresses.
    let other = self::space();
    let c = alloc(&other, Owner::Device(0), 4096);
    assert_eq!(other.find(a.base), None);
    assert_eq!(space.find(c.base), None);
}

#[test]
fn a_limit_is_exact() {
    let space = space();
    let all = alloc(&space, Owner::Device(0), GIB as usize - 128);
    let exhausted = |asked, free| Err(AllocError::Exhausted { asked, free });
    let more = |owner, size| space.alloc(owner, size, size, 64, Page::Normal, 0);
    assert_eq!(more(Owner::Device(0), 129), exhausted(192, 128));
    assert_eq!(more(Owner::Image(0), 129), exhausted(192, 128));
    let image = more(Owner::Image(0), 128).unwrap();
    assert_eq!(more(Owner::Device(0), 1), exhausted(64, 0));
    assert_eq!(space.usage(Owner::Device(0)).used, GIB);
    assert_eq!(space.usage(Owner::Image(0)).used, 128);
    space.free(image.base).unwrap();
    space.free(all.base).unwrap();
    let usage = space.usage(Owner::Device(0));
    assert_eq!((usage.total, usage.used, usage.peak), (GIB, 0, GIB));
    assert!(more(Owner::Device(0), GIB as usize).is_ok());
    for size in [usize::MAX, 1 << 63, usize::MAX - 63, 1 << 48, GIB as usize + 1] {
        for owner in [Owner::Device(1), Owner::Pinned] {
            assert!(matches!(more(owner, size), Err(AllocError::Exhausted { .. })), "{size:#x}");
        }
    }
    assert_eq!(more(Owner::Device(3), 64), Err(refused(libc::ENODEV)));
    assert_eq!(more(Owner::Registered, 64), Err(refused(libc::EINVAL)));
    let full = more(Owner::Pinned, GIB as usize).unwrap();
    assert_eq!(more(Owner::Pinned, 1), exhausted(64, 0));
    space.free(full.base).unwrap();
}

/// Blocks that waste the most address space still fill a device to its limit.
#[test]
fn the_limit_comes_before_the_addresses_end() {
    let space = space();
    for size in [65, 33 * 1024, 65 * 1024, 129 * 1024] {
        let size_counted = (size as u64).next_multiple_of(64);
        let mut blocks = Vec::new();
        let most = if size == 65 { 100_000 } else { usize::MAX };
        let end = loop {
            if blocks.len() == most {
                break None;
            }
            match space.alloc(Owner::Device(0), size, size, 64, Page::Normal, 0) {
                Ok(block) => blocks.push(block.base),
                Err(error) => break Some(error),
            }
        };
        if let Some(error) = end {
            let free = GIB - blocks.len() as u64 * size_counted;
            assert_eq!(error, AllocError::Exhausted { asked: size_counted, free }, "size {size}");
            assert!(free < size_counted, "size {size}");
        }
        // Every other one first, so that the rest is scattered.
        for at in (0..blocks.len()).step_by(2).chain((1..blocks.len()).step_by(2)) {
            space.free(blocks[at]).unwrap();
        }
        assert_eq!(space.usage(Owner::Device(0)).used, 0);
    }
    let all = alloc(&space, Owner::Device(0), GIB as usize);
    space.free(all.base).unwrap();
}

#[test]
fn freed_pages_are_kept_up_to_a_limit_and_then_given_back() {
    let space = space();
    let touched = |mib: usize| {
        let block = alloc(&space, Owner::Device(0), mib * MIB);
        for page in (0..mib * MIB).step_by(4096) {
            write(block.base + page, &[1]);
        }
        block
    };
    let small = touched(16);
    space.free(small.base).unwrap();
    let again = alloc(&space, Owner::Device(0), 16 * MIB);
    assert_eq!((again.base, read(again.base, 1)), (small.base, vec![1]), "kept");
    assert_ne!(again.serial, small.serial);
    space.free(again.base).unwrap();
    let large = touched(128);
    let shared = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssShmem")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
    };
    let before = shared();
    space.free(large.base).unwrap();
    // Other tests of this process touch memory meanwhile, but not so much.
    assert!(shared() + 64 < before, "{} MiB before, {} after", before, shared());
    let again = alloc(&space, Owner::Device(0), 128 * MIB);
    assert_eq!(read(again.base + 100 * MIB, 1), [0], "given back");
}

#[test]
fn managed_memory_lies_in_its_window_or_says_that_it_does_not() {
    // A window of this test's own, so that no other test takes it.
    let place = 0x6f0_0000_0000;
    let layout = Layout { managed_base: place, managed_bytes: 1 << 40, ..layout() };
    let (first, second) = (Space::new(layout).unwrap(), Space::new(layout).unwrap());
    assert_eq!(first.managed_window(), None);
    let block = first.alloc(Owner::Managed, 100, 100, 2 * MIB, Page::Huge, 9).unwrap();
    assert_eq!(first.managed_window(), Some((place, 1 << 40, true)));
    assert!(block.base >= place && block.base.is_multiple_of(2 * MIB));
    let elsewhere = second.alloc(Owner::Managed, 100, 100, 2 * MIB, Page::Huge, 9).unwrap();
    let (base, bytes, documented) = second.managed_window().unwrap();
    assert!(!documented && base != place && bytes == 1 << 40);
    assert!((base..base + bytes as usize).contains(&elsewhere.base));
    assert_eq!(second.arena(elsewhere.base), Some(Owner::Managed));
    assert_eq!(second.arena(block.base), None);
    drop(first);
    let third = Space::new(layout).unwrap();
    alloc(&third, Owner::Managed, 100);
    assert_eq!(third.managed_window(), Some((place, 1 << 40, true)), "free again after a space ends");
    let crooked = Layout { managed_base: place + 4096, ..layout };
    assert_eq!(Space::new(crooked).map(|_| ()), Err(refused(libc::EINVAL)));
}

#[test]
fn an_alias_stands_for_registered_memory() {
    let space = space();
    let mut target = vec![1u8; 10_000];
    let addr = target.as_mut_ptr() as usize;
    space.register(addr, target.len(), 0).unwrap();
    let alias = space.alloc(Owner::Alias, 10_000, 10_000, 4096, Page::Normal, addr as u64).unwrap();
    assert_eq!(space.arena(alias.base), Some(Owner::Alias));
    assert_eq!(space.inner(alias.base), addr);
    assert_eq!(space.inner(alias.base + 9_999), addr + 9_999);
    assert_eq!(space.find(alias.base + 9_999), Some(alias));
    // SAFETY: the vector is not borrowed here.
    unsafe { copy(space.inner(alias.base + 5), b"hello".as_ptr() as usize, 5).unwrap() };
    assert_eq!(&target[4..11], b"\x01hello\x01");
    // Nothing is behind the alias's own addresses, live or freed.
    // SAFETY: nobody's memory.
    unsafe {
        assert!(copy(alias.base, addr, 5).is_err());
        assert_eq!(space.free(alias.base), Ok(alias));
        assert!(copy(space.inner(alias.base), addr, 5).is_err());
    }
    assert_eq!(space.unregister(addr).map(|b| b.size), Ok(10_000));
}

#[test]
fn without_keys_the_fallback_is_said() {
    let space = Space::new(Layout { guard: true, ..layout() }).unwrap();
    let block = alloc(&space, Owner::Device(0), 100);
    // SAFETY: asks for a key and gives it back.
    let has_keys = unsafe {
        let key = libc::syscall(libc::SYS_pkey_alloc, 0usize, 0usize);
        key >= 0 && libc::syscall(libc::SYS_pkey_free, key) == 0
    };
    assert_eq!(space.guarded(), has_keys);
    space.open_guard(true);
    write(block.base, b"abc");
    assert_eq!(read(space.inner(block.base), 3), b"abc");
    space.open_guard(false);
    // SAFETY: the runtime's own way in, whether guarded or not.
    unsafe { copy(space.inner(block.base), b"xyz".as_ptr() as usize, 3).unwrap() };
    // SAFETY: a copy through the program's address: refused with a guard, done without.
    let through = unsafe { copy(block.base, b"uvw".as_ptr() as usize, 3) };
    assert_eq!(through.is_err(), has_keys);
}

#[test]
fn a_million_blocks() {
    let space = space();
    let blocks: Vec<Block> = (0..1_000_000).map(|_| alloc(&space, Owner::Device(0), 100)).collect();
    assert_eq!(space.usage(Owner::Device(0)).used, 128_000_000);
    for block in &blocks {
        assert_eq!(space.find(block.base + 99), Some(*block));
        assert_eq!(space.find(block.base + 100), None);
    }
    assert_eq!(space.blocks(Owner::Device(0)), blocks);
    assert_eq!(space.free_all(Owner::Device(0)), blocks.len());
    assert_eq!(space.usage(Owner::Device(0)).used, 0);
    assert!(blocks.iter().all(|block| space.find(block.base).is_none()));
}

/// Readers race with allocation and release of the same few addresses: what they see is always one whole block.
#[test]
fn readers_never_see_a_torn_block() {
    let space = space();
    let fixed: Vec<Block> = (0..100).map(|i| alloc(&space, Owner::Device(0), 500 + 7000 * i)).collect();
    let done = AtomicBool::new(false);
    let hits = AtomicUsize::new(0);
    let places: Vec<AtomicUsize> = (0..64).map(|_| AtomicUsize::new(0)).collect();
    std::thread::scope(|scope| {
        for thread in 0..3usize {
            let (space, done, places) = (&space, &done, &places);
            scope.spawn(move || {
                let mut mine: Vec<Block> = Vec::new();
                let mut random = 12345 + thread as u64;
                while !done.load(Ordering::Relaxed) {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let pick = (random >> 33) as usize;
                    if mine.len() < 40 && !pick.is_multiple_of(3) {
                        let size = [100, 2000, 70_000, 3 * MIB][pick % 4] + pick % 50;
                        let device = Owner::Device((pick % 2) as u16);
                        let block = space.alloc(device, size, size + 9, 64, Page::Huge, size as u64).unwrap();
                        places[pick % 64].store(block.base + pick % size, Ordering::Relaxed);
                        mine.push(block);
                    } else if !mine.is_empty() {
                        let block = mine.swap_remove(pick % mine.len());
                        assert_eq!(space.find(block.base + block.usable - 1), Some(block));
                        assert_eq!(space.free(block.base), Ok(block));
                    }
                }
                for block in mine {
                    space.free(block.base).unwrap();
                }
            });
        }
        for _ in 0..2 {
            let (space, done, places, fixed, hits) = (&space, &done, &places, &fixed, &hits);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    for place in places {
                        let addr = place.load(Ordering::Relaxed);
                        if let Some(block) = space.find(addr) {
                            assert!(addr - block.base < block.usable);
                            if block.page == Page::Huge {
                                assert_eq!((block.tag, block.usable), (block.size as u64, block.size + 9));
                                hits.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                    for block in fixed {
                        assert_eq!(space.find(block.base + block.usable / 2), Some(*block));
                    }
                }
            });
        }
        std::thread::sleep(std::time::Duration::from_millis(400));
        done.store(true, Ordering::Relaxed);
    });
    assert!(hits.load(Ordering::Relaxed) > 1000);
    assert_eq!(space.blocks(Owner::Device(0)), fixed);
    assert_eq!(space.usage(Owner::Device(1)).used, 0);
}

/// Two kinds of block take turns at one address, as fast as they can, in one record: no reader sees a mixture.
#[test]
fn one_address_under_two_blocks() {
    let space = space();
    let done = AtomicBool::new(false);
    let first = alloc(&space, Owner::Device(0), 70_000);
    space.free(first.base).unwrap();
    std::thread::scope(|scope| {
        let (space, done) = (&space, &done);
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                for (size, owner) in [(70_000, Owner::Device(0)), (90_000, Owner::Image(0))] {
                    let block = space.alloc(owner, size, size + 1, 64, Page::Huge, size as u64).unwrap();
                    assert_eq!(block.base, first.base);
                    space.free(block.base).unwrap();
                }
            }
        });
        let (mut seen, mut wrong, start) = ([0u64; 2], None, std::time::Instant::now());
        // At least so long; longer where the other thread gets little time.
        while wrong.is_none()
            && (start.elapsed().as_millis() < 300 || (seen.contains(&0) && start.elapsed().as_secs() < 30))
        {
            for _ in 0..1000 {
                let Some(block) = space.find(first.base + 100) else { continue };
                let kind = usize::from(block.owner == Owner::Image(0));
                let size = [70_000, 90_000][kind];
                if (block.size, block.usable, block.tag) != (size, size + 1, size as u64) {
                    wrong = Some(block);
                }
                seen[kind] += 1;
            }
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None);
        assert!(seen[0] > 0 && seen[1] > 0);
    });
}

/// The same for registered ranges, whose list readers search while it changes.
#[test]
fn readers_find_registered_ranges_while_others_come_and_go() {
    let space = space();
    let kept: Vec<Block> = (1..200).map(|i| space.register(i << 20, 4096, i as u64).unwrap()).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (space, done, kept) = (&space, &done, &kept);
        for thread in 0..2usize {
            scope.spawn(move || {
                let mut round = 0usize;
                while !done.load(Ordering::Relaxed) {
                    round += 1;
                    let addr = ((1 + round % 199) << 20) + 8192 * (1 + thread);
                    let block = space.register(addr, 100, 0).unwrap();
                    assert_eq!(space.find(addr + 99), Some(block));
                    assert_eq!(space.unregister(addr), Ok(block));
                }
            });
        }
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                for block in kept {
                    assert_eq!(space.find(block.base + 4095), Some(*block));
                }
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(200));
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(space.blocks(Owner::Registered), kept);
}

/// A block that was freed is not freed again, whoever lives at its address by then.
#[test]
fn an_exact_free_spares_the_next_block() {
    let space = space();
    let first = alloc(&space, Owner::Device(0), 70_000);
    assert!(space.free_exact(&first));
    assert!(!space.free_exact(&first));
    let second = alloc(&space, Owner::Device(0), 70_000);
    assert_eq!(second.base, first.base);
    assert!(!space.free_exact(&first));
    assert_eq!(space.find(second.base), Some(second));
    assert!(space.free_exact(&second));
    assert_eq!(space.usage(Owner::Device(0)).used, 0);
}

#[test]
fn what_was_just_freed_keeps_its_pages() {
    let space = space();
    let device = Owner::Device(0);
    let byte = |addr: usize| read(space.inner(addr), 1)[0];
    // 64 MiB of free chunks that no larger block fits into: all that an arena keeps.
    let chunks: Vec<Block> = (0..2 * 1024).map(|_| alloc(&space, device, 60_000)).collect();
    for pair in chunks.chunks(2) {
        space.free(pair[0].base).unwrap();
    }
    let first = alloc(&space, device, MIB);
    let last = first.base + MIB - 1;
    write(space.inner(first.base), &[7]);
    write(space.inner(last), &[8]);
    space.free(first.base).unwrap();
    let second = alloc(&space, device, MIB);
    assert_eq!(second.base, first.base);
    assert_eq!((byte(first.base), byte(last)), (7, 8), "its pages went to the system");
    // A block of more than the limit by itself goes.
    space.free(second.base).unwrap();
    let large = alloc(&space, device, 80 * MIB);
    write(space.inner(large.base + MIB), &[9]);
    space.free(large.base).unwrap();
    assert_eq!(byte(large.base + MIB), 0);
}
