//! Managed memory through the C ABI: chapter 11-05.
#![allow(clippy::undocumented_unsafe_blocks, reason = "every call is one of the library under test")]

mod host_help;

use std::ffi::c_void;
use std::ptr::null_mut;

use ascendcl::managed::*;
use ascendcl::memory::{aclrtFree, aclrtMalloc};
use ascendcl::pointer::*;
use ascendcl_sys as sys;
use host_help::*;

const MIB2: usize = 2 << 20;
const WINDOW: usize = 0x900_0000_0000;
const WINDOW_SIZE: usize = 3 << 40;
const GLOBAL: u32 = sys::ACL_RT_MEM_ATTACH_GLOBAL;
const INVALID: i32 = sys::ACL_ERROR_INVALID_PARAM;
const WRONG: i32 = sys::ACL_ERROR_RT_PARAM_INVALID;

fn try_alloc(size: usize, flag: u32) -> (i32, *mut c_void) {
    let mut ptr = null_mut();
    (unsafe { aclrtMemAllocManaged(&raw mut ptr, size as u64, flag) }, ptr)
}

/// A block that is freed at the end.
struct Block(*mut c_void, usize);

impl Block {
    fn new(size: usize) -> Block {
        let (code, ptr) = try_alloc(size, GLOBAL);
        done(code);
        Block(ptr, size)
    }
    fn at(&self, offset: usize) -> *const c_void {
        self.0.wrapping_byte_add(offset)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        done(unsafe { aclrtFree(self.0) });
    }
}

const fn place(kind: u32, id: i32) -> sys::aclrtMemManagedLocation {
    sys::aclrtMemManagedLocation { r#type: kind, id }
}
const fn device(id: i32) -> sys::aclrtMemManagedLocation {
    place(sys::ACL_MEM_LOCATIONTYPE_DEVICE, id)
}
/// The id says nothing.
const HOST: sys::aclrtMemManagedLocation = place(sys::ACL_MEM_LOCATIONTYPE_HOST, -99);
const NOWHERE: sys::aclrtMemManagedLocation = place(sys::ACL_MEM_LOCATIONTYPE_INVALID, 12345);

fn advise(ptr: *const c_void, size: usize, advice: u32, at: sys::aclrtMemManagedLocation) -> i32 {
    unsafe { aclrtMemManagedAdvise(ptr, size as u64, advice, at) }
}

fn prefetch(ptr: *const c_void, size: usize, to: sys::aclrtMemManagedLocation) -> i32 {
    unsafe { aclrtMemManagedPrefetchAsync(ptr, size, to, 0, null_mut()) }
}

fn ask<const N: usize>(attribute: u32, ptr: *const c_void, size: usize) -> [i32; N] {
    let mut answer = [-77; N];
    let code = unsafe {
        aclrtMemManagedGetAttr(attribute, ptr, size, answer.as_mut_ptr().cast(), size_of_val(&answer))
    };
    done(code);
    answer
}

fn one(attribute: u32, ptr: *const c_void, size: usize) -> i32 {
    ask::<1>(attribute, ptr, size)[0]
}

/// aclrtMemAllocManaged#06, #08, #10, aclrtPointerGetAttributes#06: in the documented window, in pages of 2 MiB, for the host too.
#[test]
fn allocates_in_the_window() {
    on(0);
    let block = Block::new(MIB2 + 1);
    let base = block.0 as usize;
    assert!((WINDOW..WINDOW + WINDOW_SIZE).contains(&base), "{base:#x}");
    assert_eq!(base % MIB2, 0);
    let other = Block::new(1);
    assert!((other.0 as usize).abs_diff(base) >= MIB2);
    // The whole of both pages is there.
    for offset in [0, MIB2, 2 * MIB2 - 1] {
        let byte = block.0.wrapping_byte_add(offset).cast::<u8>();
        unsafe { byte.write_volatile(7) };
        assert_eq!(unsafe { byte.read_volatile() }, 7);
    }
    let mut attributes: sys::aclrtPtrAttributes = unsafe { std::mem::zeroed() };
    done(unsafe { aclrtPointerGetAttributes(block.at(5), &raw mut attributes) });
    assert_eq!(attributes.location.r#type, sys::ACL_MEM_LOCATION_TYPE_MANAGED);
    assert_eq!(attributes.pageSize as usize, MIB2);
}

/// aclrtMemAllocManaged#01, #02, #04, #07, *#03
#[test]
fn alloc_refuses_wrong_arguments() {
    let answer = std::thread::spawn(|| try_alloc(1, GLOBAL).0).join().unwrap();
    assert_eq!(answer, sys::ACL_ERROR_RT_CONTEXT_NULL);
    on(0);
    let answer = unsafe { aclrtMemAllocManaged(null_mut(), 1, GLOBAL) };
    refused(answer, INVALID, "aclrtMemAllocManaged#01");
    for flag in [0, 2, 3, u32::MAX] {
        refused(try_alloc(MIB2, flag).0, INVALID, "aclrtMemAllocManaged#02");
    }
    refused(try_alloc(0, 0).0, INVALID, "aclrtMemAllocManaged#02");
    refused(try_alloc(0, GLOBAL).0, WRONG, "aclrtMemAllocManaged#04");
    for size in [WINDOW_SIZE + 1, 1 << 63, usize::MAX] {
        let (code, ptr) = try_alloc(size, GLOBAL);
        refused(code, sys::ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMemAllocManaged#07");
        assert!(ptr.is_null());
    }
}

/// aclrtMemManagedPrefetchAsync#07, aclrtMemManagedGetAttr#14, 25-02: what was asked for last, done or not.
#[test]
fn prefetch_is_noted_at_once() {
    let rt = on(1);
    let block = Block::new(4 * MIB2);
    let last = |offset, size| {
        [
            sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
            sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
            sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
        ]
        .map(|attribute| one(attribute, block.at(offset), size))
    };
    let [nowhere, kind_device, kind_host] =
        [sys::ACL_MEM_LOCATIONTYPE_INVALID, sys::ACL_MEM_LOCATIONTYPE_DEVICE, sys::ACL_MEM_LOCATIONTYPE_HOST]
            .map(|kind| kind as i32);
    assert_eq!(last(0, 4 * MIB2), [-2, nowhere, -2]);
    done(prefetch(block.at(0), 4 * MIB2, device(1)));
    assert_eq!(last(0, 4 * MIB2), [1, kind_device, 1]);
    done(prefetch(block.at(MIB2), MIB2, HOST));
    assert_eq!(last(MIB2, MIB2), [-1, kind_host, -2]);
    // aclrtMemManagedGetAttr#07, #13: not everywhere the same.
    assert_eq!(last(0, 2 * MIB2), [-2, nowhere, -2]);
    assert_eq!(last(2 * MIB2, 2 * MIB2), [1, kind_device, 1]);
    let node = place(sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA, 0);
    done(prefetch(block.at(0), MIB2, node));
    assert_eq!(last(0, 1), [0, sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA as i32, 0]);
    done(prefetch(block.at(0), MIB2, place(sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT, -5)));
    assert_eq!(last(0, 1)[1], sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA as i32);
    finish(rt, 0);
    // A range that begins in the middle of a page stands for the whole page.
    done(prefetch(block.at(MIB2 / 2), MIB2, device(0)));
    assert_eq!(last(0, 2 * MIB2), [0, kind_device, 0]);
    finish(rt, 0);
}

/// aclrtMemManagedPrefetchAsync#07, aclrtMemManagedAdvise#09, #10: pages move when the prefetch executes, in stream order.
#[test]
fn prefetch_runs_in_stream_order() {
    let rt = on(2);
    let block = Block::new(2 * MIB2);
    let prefer = |at| advise(block.at(0), 2 * MIB2, sys::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, at);
    let hold = Hold::new(rt, 0);
    done(prefetch(block.at(0), MIB2, device(0)));
    done(prefer(HOST));
    drop(hold);
    finish(rt, 0);
    refused(prefer(HOST), WRONG, "aclrtMemManagedAdvise#09");
    // One page is on device 0, the other on the host.
    refused(prefer(device(0)), WRONG, "aclrtMemManagedAdvise#10");
    refused(prefer(device(1)), WRONG, "aclrtMemManagedAdvise#10");
    assert_eq!(one(sys::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, block.at(0), 2 * MIB2), -1);
    done(prefetch(block.at(0), 2 * MIB2, device(1)));
    finish(rt, 0);
    done(prefer(device(1)));
    done(advise(block.at(0), 2 * MIB2, sys::ACL_MEM_ADVISE_SET_READ_MOSTLY, NOWHERE));
    // Read-mostly memory may be preferred anywhere.
    done(prefer(HOST));
    done(prefer(device(0)));
}

/// ours: a prefetch of memory that was freed before it ran fails its stream.
#[test]
fn prefetch_of_freed_memory_fails_the_stream() {
    let rt = on(3);
    let block = Block::new(MIB2);
    let hold = Hold::new(rt, 0);
    done(prefetch(block.at(0), MIB2, device(0)));
    drop(block);
    drop(hold);
    finish(rt, 0);
    let queue = toprope_runtime::stream::resolve(rt, 0).unwrap().queue;
    let failure = rt.engine.take_failure(queue).unwrap();
    assert_eq!(failure.code as i32, sys::ACL_ERROR_RT_SYS_DMA);
}

/// aclrtMemManagedPrefetchAsync#01 to #06, #09, #10
#[test]
fn prefetch_refuses_wrong_arguments() {
    let rt = on(0);
    let block = Block::new(2 * MIB2);
    let on_device = unsafe {
        let mut ptr = null_mut();
        done(aclrtMalloc(&raw mut ptr, 4 * MIB2, 0));
        ptr
    };
    let code = |flags, stream: u64| unsafe {
        aclrtMemManagedPrefetchAsync(block.at(0), MIB2, HOST, flags, stream as *mut c_void)
    };
    refused(prefetch(null_mut(), MIB2, HOST), INVALID, "aclrtMemManagedPrefetchAsync#01");
    refused(prefetch(block.at(0), 0, HOST), INVALID, "aclrtMemManagedPrefetchAsync#02");
    refused(code(1, 0), INVALID, "aclrtMemManagedPrefetchAsync#03");
    refused(code(1, 77), INVALID, "aclrtMemManagedPrefetchAsync#03");
    refused(code(0, 77), sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01");
    let window = "aclrtMemManagedPrefetchAsync#04";
    let local = [0u8; 8];
    refused(prefetch(local.as_ptr().cast(), MIB2, HOST), WRONG, window);
    refused(prefetch(on_device, MIB2, HOST), WRONG, window);
    refused(prefetch(block.at(0), WINDOW_SIZE + MIB2, HOST), WRONG, window);
    refused(prefetch(block.at(0), usize::MAX, HOST), WRONG, window);
    refused(prefetch((WINDOW - MIB2) as *const c_void, 2 * MIB2, HOST), WRONG, window);
    for size in [1, MIB2 - 1, MIB2 + 4096] {
        refused(prefetch(block.at(0), size, HOST), WRONG, "aclrtMemManagedPrefetchAsync#05");
    }
    let far = (WINDOW + WINDOW_SIZE - MIB2) as *const c_void;
    refused(prefetch(far, MIB2, HOST), WRONG, "aclrtMemManagedPrefetchAsync#09");
    // So long that it cannot fit, whoever lives behind the block.
    refused(prefetch(block.at(4096), 1 << 40, HOST), WRONG, "aclrtMemManagedPrefetchAsync#09");
    for id in [-1, rt.devices.len() as i32, i32::MAX, i32::MIN] {
        refused(prefetch(block.at(0), MIB2, device(id)), WRONG, "aclrtMemManagedPrefetchAsync#06");
    }
    for kind in [0, 5, u32::MAX] {
        refused(prefetch(block.at(0), MIB2, place(kind, 0)), WRONG, "ours: a place is needed");
    }
    for id in [-1, 1 << 20] {
        let to = place(sys::ACL_MEM_LOCATIONTYPE_HOST_NUMA, id);
        refused(prefetch(block.at(0), MIB2, to), WRONG, "ours: a node that the machine has");
    }
    done(unsafe { aclrtFree(on_device) });
}

/// No context; and a stream of another one.
#[test]
fn prefetch_needs_its_context() {
    let rt = on(4);
    let block = Block::new(MIB2);
    let own = toprope_runtime::stream::resolve(rt, 0).unwrap().handle();
    on(5);
    let answer = unsafe { aclrtMemManagedPrefetchAsync(block.at(0), MIB2, HOST, 0, own as *mut c_void) };
    assert_eq!(answer, sys::ACL_ERROR_RT_STREAM_CONTEXT);
    let address = block.0 as usize;
    let answer = std::thread::spawn(move || prefetch(address as *const c_void, MIB2, HOST)).join().unwrap();
    assert_eq!(answer, sys::ACL_ERROR_RT_CONTEXT_NULL);
}

struct Batch {
    ptrs: Vec<*const c_void>,
    sizes: Vec<usize>,
    locations: Vec<sys::aclrtMemManagedLocation>,
    indexes: Vec<usize>,
    flags: u64,
}

impl Batch {
    fn run(&mut self) -> i32 {
        self.run_with(self.ptrs.len(), self.indexes.len())
    }
    fn run_with(&mut self, count: usize, locations: usize) -> i32 {
        unsafe {
            aclrtMemManagedPrefetchBatchAsync(
                self.ptrs.as_mut_ptr(),
                self.sizes.as_mut_ptr(),
                count,
                self.locations.as_mut_ptr(),
                self.indexes.as_mut_ptr(),
                locations,
                self.flags,
                null_mut(),
            )
        }
    }
}

fn batch(block: &Block, indexes: &[usize]) -> Batch {
    let count = block.1 / MIB2;
    let places = [device(0), HOST, device(3)];
    Batch {
        ptrs: (0..count).map(|n| block.at(n * MIB2)).collect(),
        sizes: vec![MIB2; count],
        locations: indexes.iter().enumerate().map(|(n, _)| places[n % 3]).collect(),
        indexes: indexes.to_vec(),
        flags: 0,
    }
}

/// aclrtMemManagedPrefetchBatchAsync#16, <cpp>#06, #07: a location serves from its index to the next one's.
#[test]
fn batch_spreads_the_locations() {
    let rt = on(0);
    let block = Block::new(6 * MIB2);
    let last = || {
        (0..6)
            .map(|n| one(sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, block.at(n * MIB2), MIB2))
            .collect::<Vec<_>>()
    };
    for (indexes, expected) in [
        (&[0][..], [0, 0, 0, 0, 0, 0]),
        (&[0, 4], [0, 0, 0, 0, -1, -1]),
        (&[0, 1, 5], [0, -1, -1, -1, -1, 3]),
        (&[0, 1, 2, 3, 4, 5], [0, -1, 3, 0, -1, 3]),
    ] {
        done(batch(&block, indexes).run());
        assert_eq!(last(), expected, "{indexes:?}");
    }
    finish(rt, 0);
}

/// aclrtMemManagedPrefetchBatchAsync#01 to #15; a refused batch does nothing.
#[test]
fn batch_refuses_wrong_arguments() {
    let rt = on(0);
    let block = Block::new(4 * MIB2);
    let good = || batch(&block, &[0, 2]);
    let rule = |n: u32| format!("aclrtMemManagedPrefetchBatchAsync#{n:02}");
    for null in 1..=4 {
        let mut b = good();
        let pick = |n, pointer: *mut c_void| if null == n { null_mut() } else { pointer };
        let answer = unsafe {
            aclrtMemManagedPrefetchBatchAsync(
                pick(1, b.ptrs.as_mut_ptr().cast()).cast(),
                pick(2, b.sizes.as_mut_ptr().cast()).cast(),
                4,
                pick(3, b.locations.as_mut_ptr().cast()).cast(),
                pick(4, b.indexes.as_mut_ptr().cast()).cast(),
                2,
                0,
                null_mut(),
            )
        };
        refused(answer, INVALID, &rule(null));
    }
    refused(good().run_with(0, 2), INVALID, &rule(5));
    refused(good().run_with(4, 0), INVALID, &rule(6));
    refused(Batch { flags: 1 << 40, ..good() }.run(), INVALID, &rule(7));
    refused(good().run_with(1, 2), INVALID, &rule(8));
    // Longer than the memory behind it.
    assert_eq!(good().run_with(usize::MAX, 2), INVALID);
    for (indexes, number) in
        [(vec![1, 2], 9), (vec![0, 0], 10), (vec![0, 3, 2], 10), (vec![0, 4], 11), (vec![0, usize::MAX], 11)]
    {
        refused(batch(&block, &indexes).run(), WRONG, &rule(number));
    }
    let mut b = good();
    b.ptrs[3] = null_mut();
    refused(b.run(), WRONG, &rule(12));
    let mut b = good();
    b.locations[1] = device(rt.devices.len() as i32);
    refused(b.run(), WRONG, &rule(13));
    let mut b = good();
    b.ptrs[2] = (&raw const b).cast();
    refused(b.run(), WRONG, &rule(14));
    for size in [0, 1, MIB2 + 1] {
        let mut b = good();
        b.sizes[3] = size;
        refused(b.run(), WRONG, &rule(15));
    }
    let last = one(sys::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, block.at(0), MIB2);
    assert_eq!(last, -2, "no refused batch left a trace");
}

/// aclrtMemManagedAdvise#08, #11, aclrtMemManagedGetAttr#10, #11, #12, #13
#[test]
fn advice_can_be_asked() {
    on(0);
    let block = Block::new(3 * MIB2);
    let whole = 3 * MIB2;
    let set = |offset, size, advice, at| done(advise(block.at(offset), size, advice, at));

    let read_mostly = |offset, size| one(sys::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, block.at(offset), size);
    assert_eq!(read_mostly(0, whole), 0);
    set(0, whole, sys::ACL_MEM_ADVISE_SET_READ_MOSTLY, device(4000));
    assert_eq!(read_mostly(0, whole), 1);
    set(MIB2, MIB2, sys::ACL_MEM_ADVISE_UNSET_READ_MOSTLY, NOWHERE);
    assert_eq!([read_mostly(0, MIB2), read_mostly(MIB2, 1), read_mostly(0, whole)], [1, 0, 0]);
    set(0, whole, sys::ACL_MEM_ADVISE_UNSET_READ_MOSTLY, HOST);
    assert_eq!(read_mostly(0, MIB2), 0);

    let preferred = |offset, size| {
        [
            sys::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
            sys::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
            sys::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
        ]
        .map(|attribute| one(attribute, block.at(offset), size))
    };
    assert_eq!(preferred(0, whole), [-2, 0, -2]);
    set(0, whole, sys::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, HOST);
    assert_eq!(preferred(0, whole), [-1, sys::ACL_MEM_LOCATIONTYPE_HOST as i32, -2]);
    set(0, whole, sys::ACL_MEM_ADVISE_SET_READ_MOSTLY, NOWHERE);
    set(2 * MIB2, MIB2, sys::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, device(5));
    assert_eq!(preferred(2 * MIB2, MIB2), [5, sys::ACL_MEM_LOCATIONTYPE_DEVICE as i32, 5]);
    assert_eq!(preferred(0, whole), [-2, 0, -2]);
    set(0, whole, sys::ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, NOWHERE);
    assert_eq!(preferred(2 * MIB2, MIB2), [-2, 0, -2]);

    let by = |offset, size| ask::<4>(sys::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, block.at(offset), size);
    assert_eq!(by(0, whole), [-2; 4]);
    for at in [device(3), HOST, device(1), device(3)] {
        set(0, whole, sys::ACL_MEM_ADVISE_SET_ACCESSED_BY, at);
    }
    assert_eq!(by(0, whole), [-1, 1, 3, -2]);
    assert_eq!(ask::<2>(sys::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, block.at(0), whole).len(), 2);
    set(MIB2, MIB2, sys::ACL_MEM_ADVISE_UNSET_ACCESSED_BY, device(1));
    assert_eq!([by(0, whole), by(0, MIB2)], [[-1, 3, -2, -2], [-1, 1, 3, -2]]);
    set(0, whole, sys::ACL_MEM_ADVISE_UNSET_ACCESSED_BY, HOST);
    assert_eq!(by(0, whole), [3, -2, -2, -2]);
    let many = ask::<600>(sys::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, block.at(0), whole);
    assert_eq!((many[0], &many[1..]), (3, &[-2; 599][..]));
}

/// Memory that was freed leaves nothing to the next block at its address.
#[test]
fn advice_ends_with_the_block() {
    on(0);
    let first = Block::new(16 * MIB2);
    let base = first.0;
    done(advise(first.at(0), 16 * MIB2, sys::ACL_MEM_ADVISE_SET_READ_MOSTLY, NOWHERE));
    assert_eq!(one(sys::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, base, 16 * MIB2), 1);
    drop(first);
    let mut kept = Vec::new();
    for _ in 0..64 {
        let block = Block::new(MIB2);
        assert_eq!(one(sys::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, block.0, MIB2), 0);
        kept.push(block);
    }
}

/// aclrtMemManagedAdvise#01 to #07
#[test]
fn advise_refuses_wrong_arguments() {
    let rt = on(0);
    let block = Block::new(2 * MIB2);
    let mostly = sys::ACL_MEM_ADVISE_SET_READ_MOSTLY;
    refused(advise(null_mut(), MIB2, mostly, HOST), INVALID, "aclrtMemManagedAdvise#01");
    refused(advise(block.at(0), 0, mostly, HOST), INVALID, "aclrtMemManagedAdvise#02");
    let local = 0u8;
    refused(advise((&raw const local).cast(), MIB2, mostly, HOST), WRONG, "aclrtMemManagedAdvise#03");
    refused(advise(block.at(0), usize::MAX, mostly, HOST), WRONG, "aclrtMemManagedAdvise#03");
    refused(advise(block.at(0), MIB2 + 1, mostly, HOST), WRONG, "aclrtMemManagedAdvise#04");
    let far = (WINDOW + WINDOW_SIZE - MIB2) as *const c_void;
    refused(advise(far, MIB2, mostly, HOST), WRONG, "aclrtMemManagedAdvise#07");
    for advice in [6, u32::MAX] {
        refused(advise(block.at(0), MIB2, advice, HOST), WRONG, "aclrtMemManagedAdvise#05");
    }
    for advice in 1..=5 {
        let wrong = device(rt.devices.len() as i32);
        refused(advise(block.at(0), MIB2, advice, wrong), WRONG, "aclrtMemManagedAdvise#06");
    }
}

/// aclrtMemManagedGetAttr#01 to #09
#[test]
fn get_attr_refuses_wrong_arguments() {
    on(0);
    let block = Block::new(2 * MIB2);
    let mut room = [0i32; 4];
    let data = room.as_mut_ptr().cast::<c_void>();
    let get = |attribute, ptr, size, data, bytes| unsafe {
        aclrtMemManagedGetAttr(attribute, ptr, size, data, bytes)
    };
    refused(get(1, null_mut(), MIB2, data, 4), INVALID, "aclrtMemManagedGetAttr#01");
    refused(get(1, block.at(0), MIB2, null_mut(), 4), INVALID, "aclrtMemManagedGetAttr#02");
    refused(get(1, block.at(0), 0, data, 4), INVALID, "aclrtMemManagedGetAttr#03");
    for attribute in [0, 9, u32::MAX] {
        refused(get(attribute, block.at(0), MIB2, data, 4), WRONG, "aclrtMemManagedGetAttr#04");
    }
    refused(get(1, data, MIB2, data, 4), WRONG, "aclrtMemManagedGetAttr#05");
    refused(get(1, block.at(0), usize::MAX, data, 4), WRONG, "aclrtMemManagedGetAttr#05");
    for attribute in [1, 2, 4, 5, 6, 7, 8] {
        for bytes in [0, 1, 8] {
            refused(get(attribute, block.at(0), MIB2, data, bytes), WRONG, "aclrtMemManagedGetAttr#08");
        }
        done(get(attribute, block.at(0), 3, data, 4));
    }
    for bytes in [0, 3, 6] {
        refused(get(3, block.at(0), MIB2, data, bytes), WRONG, "aclrtMemManagedGetAttr#09");
    }
    // Room that is not there.
    refused(get(1, block.at(0), MIB2, 64 as *mut c_void, 4), INVALID, "ours: argument");
}

/// aclrtMemManagedGetAttrs#01 to #09
#[test]
fn get_attrs_answers_all_or_nothing() {
    on(0);
    let block = Block::new(2 * MIB2);
    done(advise(block.at(0), MIB2, sys::ACL_MEM_ADVISE_SET_ACCESSED_BY, device(2)));
    done(advise(block.at(0), MIB2, sys::ACL_MEM_ADVISE_SET_READ_MOSTLY, NOWHERE));
    let (mut mostly, mut by) = ([-7i32; 1], [-7i32; 3]);
    let mut attributes = [sys::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, sys::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY];
    let mut data = [mostly.as_mut_ptr().cast::<c_void>(), by.as_mut_ptr().cast()];
    let mut sizes = [4usize, 12];
    let (a, d, s) = (attributes.as_mut_ptr(), data.as_mut_ptr(), sizes.as_mut_ptr());
    let get = |a, n, ptr, size, d, s| unsafe { aclrtMemManagedGetAttrs(a, n, ptr, size, d, s) };
    refused(get(a, 2, null_mut(), MIB2, d, s), INVALID, "aclrtMemManagedGetAttrs#01");
    refused(get(null_mut(), 2, block.at(0), MIB2, d, s), INVALID, "aclrtMemManagedGetAttrs#02");
    refused(get(a, 2, block.at(0), MIB2, null_mut(), s), INVALID, "aclrtMemManagedGetAttrs#03");
    refused(get(a, 2, block.at(0), MIB2, d, null_mut()), INVALID, "aclrtMemManagedGetAttrs#04");
    refused(get(a, 2, block.at(0), 0, d, s), INVALID, "aclrtMemManagedGetAttrs#05");
    let mut wrong = [1u32, 9];
    let w = wrong.as_mut_ptr();
    refused(get(w, 2, block.at(0), MIB2, d, s), WRONG, "aclrtMemManagedGetAttrs#06");
    refused(get(a, 2, d.cast(), MIB2, d, s), WRONG, "aclrtMemManagedGetAttrs#07");
    let mut short = [4usize, 6];
    refused(get(a, 2, block.at(0), MIB2, d, short.as_mut_ptr()), WRONG, "aclrtMemManagedGetAttr#09");
    let mut hole = [data[0], null_mut()];
    refused(get(a, 2, block.at(0), MIB2, hole.as_mut_ptr(), s), INVALID, "aclrtMemManagedGetAttrs#03");
    assert_eq!(unsafe { data[0].cast::<i32>().read_volatile() }, -7, "nothing was written");
    done(get(a, 0, block.at(0), MIB2, d, s));
    done(get(a, 2, block.at(0), MIB2, d, s));
    assert_eq!((mostly, by), ([1], [2, -2, -2]));
    done(get(a, 2, block.at(0), 2 * MIB2, d, s));
    assert_eq!((mostly, by), ([0], [-2, -2, -2]));
}
