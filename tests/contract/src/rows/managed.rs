//! Chapter 11-05: managed memory.

use super::prelude::*;

const GLOBAL: u32 = ACL_RT_MEM_ATTACH_GLOBAL;
const READ_MOSTLY: u32 = ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
const PREFERRED: u32 = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
const PREFERRED_TYPE: u32 = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE;
const PREFERRED_ID: u32 = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID;
const ACCESSED_BY: u32 = ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
const PREFETCHED: u32 = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
const PREFETCHED_TYPE: u32 = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
const PREFETCHED_ID: u32 = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID;
/// What a query answers for no place, and for pages that differ.
const NOWHERE: i32 = -2;
const TYPE_INVALID: i32 = ACL_MEM_LOCATIONTYPE_INVALID as i32;
const TYPE_DEVICE: i32 = ACL_MEM_LOCATIONTYPE_DEVICE as i32;
const TYPE_HOST: i32 = ACL_MEM_LOCATIONTYPE_HOST as i32;

pub fn rows(r: &mut Rows) {
    alloc(r);
    advise(r);
    attribute(r);
    values(r);
    attributes(r);
    prefetch(r);
    batch_arguments(r);
    batch(r);
}

/// Addresses that are not managed memory, though a page could be there: before and behind the window, other memory. The
/// address alone is wrong, or the end.
fn outside() -> Vec<(*mut c_void, usize)> {
    let (device, pinned) = (device(PAGE), pinned(PAGE));
    vec![
        (at(WINDOW.start - PAGE), PAGE),
        (at(WINDOW.end), PAGE),
        (at(WINDOW.end - PAGE), 2 * PAGE),
        (at(usize::MAX - PAGE + 1), PAGE),
        (device.p(), PAGE),
        (pinned.p(), PAGE),
    ]
}

/// Sizes that are no multiple of a page, or more than the window has.
const ODD_SIZES: [usize; 4] = [1, PAGE - 1, PAGE + 1, (3 << 40) + PAGE];

/// Devices that are not there.
const NO_DEVICES: [i32; 4] = [-1, 4, i32::MAX, i32::MIN];

fn alloc(r: &mut Rows) {
    let flags = |size: u64| {
        let mut ptr = null_mut();
        let codes = [0, 2, 3, u32::MAX].map(|flag| acl!(aclrtMemAllocManaged(&mut ptr, size, flag)));
        assert!(ptr.is_null());
        codes
    };
    r.row("aclrtMemAllocManaged#01", |_| acl!(aclrtMemAllocManaged(null_mut(), PAGE as u64, GLOBAL)));
    // Before the size, which is 0.
    r.row("aclrtMemAllocManaged#02", move |_| [flags(PAGE as u64), flags(0)].concat());
    r.decided("aclrtMemAllocManaged#03", move |_| flags(PAGE as u64));
    r.row("aclrtMemAllocManaged#04", |_| acl!(aclrtMemAllocManaged(&mut null_mut(), 0, GLOBAL)));
    r.decided("aclrtMemAllocManaged#05", |_| acl!(aclrtMemAllocManaged(&mut null_mut(), 0, GLOBAL)));
    r.row("aclrtMemAllocManaged#06", |_| {
        let mut blocks = [Managed::new(1), Managed::new(PAGE), Managed::new(PAGE + 1), Managed::new(3)];
        let sizes = [PAGE, PAGE, 2 * PAGE, PAGE];
        let mut spans: Vec<_> =
            blocks.iter().zip(sizes).map(|(block, size)| (block.p() as usize, size)).collect();
        spans.sort_unstable();
        assert!(spans.iter().all(|(base, size)| base % PAGE == 0 && WINDOW.contains(&(base + size - 1))));
        assert!(spans.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{spans:x?}");
        // The whole of the rounded size is there.
        let last = blocks[2].after(2 * PAGE - 1).cast::<u8>();
        unsafe { last.write_volatile(7) };
        assert_eq!(unsafe { last.read_volatile() }, 7);
        assert_eq!(managed_attr(READ_MOSTLY, blocks[2].p(), 2 * PAGE), 0);
        blocks[0].bytes()[0] = 1;
    });
    r.decided("aclrtMemAllocManaged#07", |_| {
        too_much(|ptr, size| acl!(aclrtMemAllocManaged(ptr, size, GLOBAL)))
    });
    r.row("aclrtMemAllocManaged#08", |_| {
        let block = Managed::new(100);
        let code = acl!(aclrtFree(block.p()));
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtMemManagedAdvise(block.p(), PAGE as u64, 0, at_host()));
        code
    });
    r.hardware("aclrtMemAllocManaged#09", "says that the bytes may be anything");
    r.row("aclrtMemAllocManaged#10", |t| {
        let mut block = Managed::new(PAGE);
        block.bytes()[..4].copy_from_slice(&[1, 2, 3, 4]);
        // Each side sees what the one before it wrote.
        for device in [0, 1] {
            on_device(t, device, || {
                ok!(aclrtMemcpy(
                    block.after(4 + device as usize),
                    1,
                    block.after(device as usize),
                    1,
                    ACL_MEMCPY_DEFAULT
                ));
                let stream = Stream::new();
                ok!(aclrtMemsetAsync(block.after(8 + device as usize), 1, 9, 1, stream.h()));
                stream.wait();
            });
        }
        assert_eq!(block.bytes()[..10], [1, 2, 3, 4, 1, 2, 0, 0, 9, 9]);
    });
}

/// More than 3 TB, at once and together.
fn too_much(call: impl Fn(*mut *mut c_void, u64) -> i32) -> Vec<i32> {
    let mut ptr = null_mut();
    let mut codes: Vec<i32> = [(3 << 40) + 1, 1 << 63, u64::MAX].map(|size| call(&mut ptr, size)).to_vec();
    assert!(ptr.is_null());
    let mut blocks = Vec::new();
    codes.push(loop {
        match call(&mut ptr, 1 << 40) {
            0 => blocks.push(ptr),
            code => break code,
        }
        assert!(blocks.len() <= 3, "more than 3 TB");
    });
    // What was freed can be had again.
    assert!(!blocks.is_empty());
    blocks.into_iter().for_each(|block| ok!(aclrtFree(block)));
    same("after the rest was freed", call(&mut ptr, 1 << 40), 0);
    ok!(aclrtFree(ptr));
    codes
}

fn give(block: &Managed, advice: u32, location: aclrtMemManagedLocation) -> i32 {
    acl!(aclrtMemManagedAdvise(block.p(), PAGE as u64, advice, location))
}

fn advise(r: &mut Rows) {
    let set = ACL_MEM_ADVISE_SET_READ_MOSTLY;
    r.row("aclrtMemManagedAdvise#01", move |_| {
        acl!(aclrtMemManagedAdvise(null(), PAGE as u64, set, at_host()))
    });
    r.row("aclrtMemManagedAdvise#02", move |_| {
        acl!(aclrtMemManagedAdvise(Managed::new(PAGE).p(), 0, set, at_host()))
    });
    r.decided("aclrtMemManagedAdvise#03", move |_| {
        let calls = outside().into_iter();
        calls
            .map(|(ptr, size)| acl!(aclrtMemManagedAdvise(ptr, size as u64, set, at_host())))
            .collect::<Vec<_>>()
    });
    r.decided("aclrtMemManagedAdvise#04", move |_| {
        let block = Managed::new(4 * PAGE);
        ODD_SIZES.map(|size| acl!(aclrtMemManagedAdvise(block.p(), size as u64, set, at_host())))
    });
    r.row("aclrtMemManagedAdvise#05", |_| {
        let block = Managed::new(PAGE);
        [6, 7, u32::MAX].map(|advice| give(&block, advice, at_host()))
    });
    r.row("aclrtMemManagedAdvise#06", |_| {
        let block = Managed::new(PAGE);
        let advice = [
            ACL_MEM_ADVISE_SET_PREFERRED_LOCATION,
            ACL_MEM_ADVISE_SET_ACCESSED_BY,
            ACL_MEM_ADVISE_UNSET_ACCESSED_BY,
        ];
        let both = |id| advice.map(|advice| give(&block, advice, at_device(id)));
        NO_DEVICES.map(both).concat()
    });
    r.decided("aclrtMemManagedAdvise#07", move |_| {
        let block = Managed::new(PAGE);
        [
            acl!(aclrtMemManagedAdvise(stale_managed(), PAGE as u64, set, at_host())),
            // The end of it.
            acl!(aclrtMemManagedAdvise(block.p(), 1 << 40, set, at_host())),
        ]
    });
    r.row("aclrtMemManagedAdvise#08", move |_| {
        let locations =
            [at_host(), at_device(0), at_device(99), place(ACL_MEM_LOCATIONTYPE_INVALID, -1), place(77, 0)];
        locations.map(|location| {
            let block = Managed::new(PAGE);
            let code = give(&block, set, location);
            assert_eq!(managed_attr(READ_MOSTLY, block.p(), PAGE), 1);
            code
        })
    });
    r.decided("aclrtMemManagedAdvise#09", |_| prefer_elsewhere(at_device(1), at_host()));
    r.decided("aclrtMemManagedAdvise#10", |_| prefer_elsewhere(at_device(1), at_device(0)));
    r.row("aclrtMemManagedAdvise#11", |_| {
        let prefer = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION;
        let unset = ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
        let block = Managed::new(PAGE);
        let mut codes = Vec::new();
        for id in [-1, 0, 99, i32::MIN] {
            codes.push(give(&block, prefer, place(ACL_MEM_LOCATIONTYPE_HOST, id)));
            assert_eq!(managed_attr(PREFERRED, block.p(), PAGE), -1);
            codes.push(give(&block, prefer, place(ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT, id)));
            assert_eq!(managed_attr(PREFERRED_TYPE, block.p(), PAGE), ACL_MEM_LOCATIONTYPE_HOST_NUMA as i32);
            codes.push(give(&block, unset, place(ACL_MEM_LOCATIONTYPE_INVALID, id)));
            assert_eq!(managed_attr(PREFERRED, block.p(), PAGE), NOWHERE);
        }
        codes
    });
}

/// Pages that a prefetch put somewhere cannot be preferred elsewhere, unless they are read-mostly.
fn prefer_elsewhere(is: aclrtMemManagedLocation, to: aclrtMemManagedLocation) -> i32 {
    let prefer = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION;
    let block = Managed::new(PAGE);
    ok!(aclrtMemManagedPrefetchAsync(block.p(), PAGE, is, 0, null_mut()));
    ok!(aclrtSynchronizeStream(null_mut()));
    let code = give(&block, prefer, to);
    assert_eq!(managed_attr(PREFERRED, block.p(), PAGE), NOWHERE, "a refused advice holds");
    same("read-mostly", give(&block, ACL_MEM_ADVISE_SET_READ_MOSTLY, to), 0);
    same("of read-mostly pages", give(&block, prefer, to), 0);
    let other = Managed::new(PAGE);
    ok!(aclrtMemManagedPrefetchAsync(other.p(), PAGE, to, 0, null_mut()));
    ok!(aclrtSynchronizeStream(null_mut()));
    same("where the pages are", give(&other, prefer, to), 0);
    code
}

fn ask(attribute: u32, ptr: *const c_void, size: usize, room: usize) -> i32 {
    let mut data = [0_i32; 16];
    acl!(aclrtMemManagedGetAttr(attribute, ptr, size, data.as_mut_ptr().cast(), room))
}

fn attribute(r: &mut Rows) {
    r.row("aclrtMemManagedGetAttr#01", |_| ask(READ_MOSTLY, null(), PAGE, 4));
    r.row("aclrtMemManagedGetAttr#02", |_| {
        acl!(aclrtMemManagedGetAttr(READ_MOSTLY, Managed::new(PAGE).p(), PAGE, null_mut(), 4))
    });
    r.row("aclrtMemManagedGetAttr#03", |_| ask(READ_MOSTLY, Managed::new(PAGE).p(), 0, 4));
    r.row("aclrtMemManagedGetAttr#04", |_| {
        let block = Managed::new(PAGE);
        [0, 9, u32::MAX].map(|attribute| ask(attribute, block.p(), PAGE, 4))
    });
    r.decided("aclrtMemManagedGetAttr#05", |_| {
        outside().into_iter().map(|(ptr, size)| ask(READ_MOSTLY, ptr, size, 4)).collect::<Vec<_>>()
    });
    r.decided("aclrtMemManagedGetAttr#06", |_| {
        let block = Managed::new(PAGE);
        // Any size from 1 byte on will do.
        for size in [1, 3, PAGE - 1, PAGE] {
            same("a size", ask(READ_MOSTLY, block.p(), size, 4), 0);
        }
        [(3 << 40) + 1, 1 << 63].map(|size| ask(READ_MOSTLY, block.p(), size, 4))
    });
    let four =
        [READ_MOSTLY, PREFERRED, PREFERRED_ID, PREFETCHED_ID, PREFERRED_TYPE, PREFETCHED, PREFETCHED_TYPE];
    r.decided("aclrtMemManagedGetAttr#08", move |_| {
        let block = Managed::new(PAGE);
        let sizes = |attribute| {
            same("4 bytes", ask(attribute, block.p(), PAGE, 4), 0);
            [0, 1, 3, 5, 8].map(|room| ask(attribute, block.p(), PAGE, room))
        };
        four.map(sizes).concat()
    });
    r.decided("aclrtMemManagedGetAttr#09", |_| {
        let block = Managed::new(PAGE);
        for room in [4, 8, 64] {
            same("a multiple of 4", ask(ACCESSED_BY, block.p(), PAGE, room), 0);
        }
        [0, 1, 3, 5, 10].map(|room| ask(ACCESSED_BY, block.p(), PAGE, room))
    });
}

/// Two pages of which the first one has this advice, and what is said of the first, the second and both.
fn halves(attribute: u32, advice: u32, location: aclrtMemManagedLocation) -> [i32; 3] {
    let block = Managed::new(2 * PAGE);
    same("the advice", give(&block, advice, location), 0);
    [(0, PAGE), (PAGE, PAGE), (0, 2 * PAGE)]
        .map(|(from, size)| managed_attr(attribute, block.after(from), size))
}

fn values(r: &mut Rows) {
    let prefer = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION;
    r.row("aclrtMemManagedGetAttr#07", move |_| {
        assert_eq!(halves(PREFERRED, prefer, at_device(1)), [1, NOWHERE, NOWHERE]);
        assert_eq!(halves(PREFERRED, prefer, at_host()), [-1, NOWHERE, NOWHERE]);
        assert_eq!(halves(PREFERRED_ID, prefer, at_device(1)), [1, NOWHERE, NOWHERE]);
        assert_eq!(halves(ACCESSED_BY, ACL_MEM_ADVISE_SET_ACCESSED_BY, at_device(1)), [1, NOWHERE, NOWHERE]);
    });
    r.row("aclrtMemManagedGetAttr#10", |_| {
        assert_eq!(halves(READ_MOSTLY, ACL_MEM_ADVISE_SET_READ_MOSTLY, at_host()), [1, 0, 0]);
        let block = Managed::new(PAGE);
        same("set", give(&block, ACL_MEM_ADVISE_SET_READ_MOSTLY, at_host()), 0);
        same("unset", give(&block, ACL_MEM_ADVISE_UNSET_READ_MOSTLY, at_host()), 0);
        assert_eq!(managed_attr(READ_MOSTLY, block.p(), PAGE), 0);
    });
    r.row("aclrtMemManagedGetAttr#11", move |_| {
        let preferred = |location| halves(PREFERRED, prefer, location)[0];
        assert_eq!(preferred(at_device(0)), 0);
        assert_eq!(preferred(at_device(3)), 3);
        assert_eq!(preferred(at_host()), -1);
        assert_eq!(preferred(place(ACL_MEM_LOCATIONTYPE_HOST_NUMA, 0)), 0);
        assert_eq!(managed_attr(PREFERRED, Managed::new(PAGE).p(), PAGE), NOWHERE);
    });
    r.row("aclrtMemManagedGetAttr#12", |_| {
        let block = Managed::new(PAGE);
        let all = || {
            let mut data = [77_i32; 6];
            ok!(aclrtMemManagedGetAttr(ACCESSED_BY, block.p(), PAGE, data.as_mut_ptr().cast(), 20));
            data
        };
        assert_eq!(all(), [NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, 77]);
        for id in [3, 1, 1] {
            same("advice", give(&block, ACL_MEM_ADVISE_SET_ACCESSED_BY, at_device(id)), 0);
        }
        let mut found = all();
        found.sort_unstable();
        assert_eq!(found, [NOWHERE, NOWHERE, NOWHERE, 1, 3, 77]);
        same("advice", give(&block, ACL_MEM_ADVISE_UNSET_ACCESSED_BY, at_device(3)), 0);
        assert_eq!(all(), [1, NOWHERE, NOWHERE, NOWHERE, NOWHERE, 77]);
    });
    r.row("aclrtMemManagedGetAttr#13", move |_| {
        let kinds = |location| halves(PREFERRED_TYPE, prefer, location);
        assert_eq!(kinds(at_device(2)), [TYPE_DEVICE, TYPE_INVALID, TYPE_INVALID]);
        assert_eq!(kinds(at_host()), [TYPE_HOST, TYPE_INVALID, TYPE_INVALID]);
        let block = Managed::new(2 * PAGE);
        ok!(aclrtMemManagedPrefetchAsync(block.p(), PAGE, at_device(1), 0, null_mut()));
        assert_eq!(managed_attr(PREFETCHED_TYPE, block.p(), PAGE), TYPE_DEVICE);
        assert_eq!(managed_attr(PREFETCHED_TYPE, block.p(), 2 * PAGE), TYPE_INVALID);
        ok!(aclrtSynchronizeStream(null_mut()));
    });
    r.decided("aclrtMemManagedGetAttr#14", |_| {
        let block = Managed::new(PAGE);
        let last =
            || [PREFETCHED, PREFETCHED_TYPE, PREFETCHED_ID].map(|of| managed_attr(of, block.p(), PAGE));
        assert_eq!(last(), [NOWHERE, TYPE_INVALID, NOWHERE]);
        ok!(aclrtMemManagedPrefetchAsync(block.p(), PAGE, at_device(1), 0, null_mut()));
        assert_eq!(last(), [1, TYPE_DEVICE, 1]);
        ok!(aclrtMemManagedPrefetchAsync(block.p(), PAGE, at_host(), 0, null_mut()));
        assert_eq!(last(), [-1, TYPE_HOST, NOWHERE]);
        ok!(aclrtSynchronizeStream(null_mut()));
    });
}

/// A call of aclrtMemManagedGetAttrs with two questions.
struct Questions {
    block: Managed,
    attributes: [u32; 2],
    answers: [i32; 2],
    sizes: [usize; 2],
}

impl Questions {
    fn new() -> Questions {
        let block = Managed::new(2 * PAGE);
        Questions { block, attributes: [READ_MOSTLY, PREFERRED], answers: [77; 2], sizes: [4; 2] }
    }

    /// Asks about a range.
    fn ask(&mut self, count: usize, ptr: *const c_void, size: usize) -> i32 {
        let [one, two] = &mut self.answers;
        let mut data: [*mut c_void; 2] = [(&raw mut *one).cast(), (&raw mut *two).cast()];
        let (attributes, sizes) = (self.attributes.as_mut_ptr(), self.sizes.as_mut_ptr());
        acl!(aclrtMemManagedGetAttrs(attributes, count, ptr, size, data.as_mut_ptr(), sizes))
    }

    fn run(&mut self) -> i32 {
        self.ask(2, self.block.p(), 2 * PAGE)
    }
}

fn attributes(r: &mut Rows) {
    r.row("aclrtMemManagedGetAttrs#01", |_| Questions::new().ask(2, null(), PAGE));
    // One of the three arrays is null.
    for (missing, id) in
        ["aclrtMemManagedGetAttrs#02", "aclrtMemManagedGetAttrs#03", "aclrtMemManagedGetAttrs#04"]
            .into_iter()
            .enumerate()
    {
        r.row(id, move |_| {
            let (block, mut attribute, mut size, mut answer) = (Managed::new(PAGE), READ_MOSTLY, 4, 0_i32);
            let mut data: *mut c_void = (&raw mut answer).cast();
            let attributes = if missing == 0 { null_mut() } else { &raw mut attribute };
            let data = if missing == 1 { null_mut() } else { &raw mut data };
            let sizes = if missing == 2 { null_mut() } else { &raw mut size };
            acl!(aclrtMemManagedGetAttrs(attributes, 1, block.p(), PAGE, data, sizes))
        });
    }
    r.row("aclrtMemManagedGetAttrs#05", |_| {
        let mut questions = Questions::new();
        questions.ask(2, questions.block.p(), 0)
    });
    r.row("aclrtMemManagedGetAttrs#06", |_| {
        [[0, PREFERRED], [READ_MOSTLY, 9], [READ_MOSTLY, u32::MAX]].map(|attributes| {
            let mut questions = Questions { attributes, ..Questions::new() };
            let code = questions.run();
            assert_eq!(questions.answers, [77; 2], "nothing is answered");
            code
        })
    });
    r.decided("aclrtMemManagedGetAttrs#07", |_| {
        outside().into_iter().map(|(ptr, size)| Questions::new().ask(2, ptr, size)).collect::<Vec<_>>()
    });
    r.decided("aclrtMemManagedGetAttrs#08", |_| {
        let mut questions = Questions::new();
        let code = questions.ask(0, questions.block.p(), PAGE);
        assert_eq!(questions.answers, [77; 2]);
        code
    });
    r.row("aclrtMemManagedGetAttrs#09", |_| {
        let mut questions = Questions::new();
        same("advice", give(&questions.block, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, at_device(1)), 0);
        same("advice", give(&questions.block, ACL_MEM_ADVISE_SET_READ_MOSTLY, at_device(1)), 0);
        let half = questions.ask(2, questions.block.p(), PAGE);
        assert_eq!(questions.answers, [1, 1]);
        let whole = questions.run();
        assert_eq!(questions.answers, [0, NOWHERE]);
        [half, whole]
    });
}

fn move_to(
    block: &Managed,
    size: usize,
    to: aclrtMemManagedLocation,
    flags: u32,
    stream: aclrtStream,
) -> i32 {
    acl!(aclrtMemManagedPrefetchAsync(block.p(), size, to, flags, stream))
}

/// Whether pages were put on device 1: then they cannot be preferred by the host.
fn moved(ptr: *const c_void) -> bool {
    let code =
        acl!(aclrtMemManagedAdvise(ptr, PAGE as u64, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, at_host()));
    let unset = ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    ok!(aclrtMemManagedAdvise(ptr, PAGE as u64, unset, at_host()));
    code != 0
}

fn prefetch(r: &mut Rows) {
    let to = |ptr, size| acl!(aclrtMemManagedPrefetchAsync(ptr, size, at_host(), 0, null_mut()));
    r.row("aclrtMemManagedPrefetchAsync#01", move |_| to(null(), PAGE));
    r.row("aclrtMemManagedPrefetchAsync#02", |_| move_to(&Managed::new(PAGE), 0, at_host(), 0, null_mut()));
    r.row("aclrtMemManagedPrefetchAsync#03", |_| {
        let block = Managed::new(PAGE);
        let codes = [1, 2, u32::MAX].map(|flags| move_to(&block, PAGE, at_host(), flags, null_mut()));
        assert_eq!(managed_attr(PREFETCHED, block.p(), PAGE), NOWHERE);
        codes
    });
    r.decided("aclrtMemManagedPrefetchAsync#04", move |_| {
        outside().into_iter().map(|(ptr, size)| to(ptr, size)).collect::<Vec<_>>()
    });
    r.decided("aclrtMemManagedPrefetchAsync#05", |_| {
        let block = Managed::new(4 * PAGE);
        ODD_SIZES.map(|size| move_to(&block, size, at_host(), 0, null_mut()))
    });
    r.row("aclrtMemManagedPrefetchAsync#06", |_| {
        let block = Managed::new(PAGE);
        NO_DEVICES.map(|id| move_to(&block, PAGE, at_device(id), 0, null_mut()))
    });
    r.row("aclrtMemManagedPrefetchAsync#07", |_| {
        let (mut block, stream) = (Managed::new(PAGE), Stream::new());
        block.bytes().fill(5);
        let gate = held(stream.h());
        let code = move_to(&block, PAGE, at_device(1), 0, stream.h());
        assert!(!moved(block.p()), "the stream is held");
        gate.open();
        stream.wait();
        assert!(moved(block.p()));
        assert!(block.bytes().iter().all(|byte| *byte == 5), "the bytes stay");
        code
    });
    r.hardware("aclrtMemManagedPrefetchAsync#08", "every context of the product has a default stream");
    r.decided("aclrtMemManagedPrefetchAsync#09", move |_| {
        let block = Managed::new(PAGE);
        [to(stale_managed(), PAGE), to(block.p(), 1 << 40)]
    });
    r.decided("aclrtMemManagedPrefetchAsync#10", |_| {
        let block = Managed::new(PAGE);
        let codes = [ACL_MEM_LOCATIONTYPE_INVALID, 5, 77, u32::MAX]
            .map(|kind| move_to(&block, PAGE, place(kind, 0), 0, null_mut()));
        assert_eq!(managed_attr(PREFETCHED, block.p(), PAGE), NOWHERE);
        codes
    });
}

/// A call of aclrtMemManagedPrefetchBatchAsync for three blocks: the first goes to the host, the others to device 1.
struct Batch {
    blocks: [Managed; 3],
    ptrs: Vec<*const c_void>,
    sizes: Vec<usize>,
    count: usize,
    places: Vec<aclrtMemManagedLocation>,
    indexes: Vec<usize>,
    number: usize,
    flags: u64,
    stream: aclrtStream,
}

impl Batch {
    fn new() -> Batch {
        let blocks = [(); 3].map(|()| Managed::new(PAGE));
        let ptrs = blocks.iter().map(|block| block.p().cast_const()).collect();
        let places = vec![at_host(), at_device(1)];
        Batch {
            blocks,
            ptrs,
            sizes: vec![PAGE; 3],
            count: 3,
            places,
            indexes: vec![0, 1],
            number: 2,
            flags: 0,
            stream: null_mut(),
        }
    }

    fn run(&mut self) -> i32 {
        acl!(aclrtMemManagedPrefetchBatchAsync(
            self.ptrs.as_mut_ptr(),
            self.sizes.as_mut_ptr(),
            self.count,
            self.places.as_mut_ptr(),
            self.indexes.as_mut_ptr(),
            self.number,
            self.flags,
            self.stream,
        ))
    }

    /// A changed call that is refused; nothing is noted then.
    fn but(change: impl FnOnce(&mut Batch)) -> i32 {
        let mut batch = Batch::new();
        change(&mut batch);
        let code = batch.run();
        assert_eq!(batch.last(), [NOWHERE; 3], "a refused call moves nothing");
        code
    }

    /// The last prefetches of the blocks.
    fn last(&self) -> [i32; 3] {
        [0, 1, 2].map(|n| managed_attr(PREFETCHED, self.blocks[n].p(), PAGE))
    }
}

fn batch_arguments(r: &mut Rows) {
    for (missing, id) in [
        "aclrtMemManagedPrefetchBatchAsync#01",
        "aclrtMemManagedPrefetchBatchAsync#02",
        "aclrtMemManagedPrefetchBatchAsync#03",
        "aclrtMemManagedPrefetchBatchAsync#04",
    ]
    .into_iter()
    .enumerate()
    {
        r.row(id, move |_| {
            let mut batch = Batch::new();
            let ptrs = if missing == 0 { null_mut() } else { batch.ptrs.as_mut_ptr() };
            let sizes = if missing == 1 { null_mut() } else { batch.sizes.as_mut_ptr() };
            let places = if missing == 2 { null_mut() } else { batch.places.as_mut_ptr() };
            let indexes = if missing == 3 { null_mut() } else { batch.indexes.as_mut_ptr() };
            acl!(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 3, places, indexes, 2, 0, null_mut()))
        });
    }
    r.row("aclrtMemManagedPrefetchBatchAsync#05", |_| Batch::but(|batch| batch.count = 0));
    r.row("aclrtMemManagedPrefetchBatchAsync#06", |_| Batch::but(|batch| batch.number = 0));
    r.row("aclrtMemManagedPrefetchBatchAsync#07", |_| {
        [1, 2, u64::MAX].map(|flags| Batch::but(|batch| batch.flags = flags))
    });
    r.row("aclrtMemManagedPrefetchBatchAsync#08", |_| {
        Batch::but(|batch| {
            batch.places = vec![at_host(); 4];
            (batch.indexes, batch.number) = (vec![0, 1, 2, 3], 4);
        })
    });
    r.row("aclrtMemManagedPrefetchBatchAsync#09", |_| {
        [[1, 2], [2, 0]].map(|indexes| Batch::but(|batch| batch.indexes = indexes.to_vec()))
    });
    r.row("aclrtMemManagedPrefetchBatchAsync#10", |_| {
        let wrong = |indexes: [usize; 3]| {
            Batch::but(|batch| {
                batch.places = vec![at_host(); 3];
                (batch.indexes, batch.number) = (indexes.to_vec(), 3);
            })
        };
        [wrong([0, 0, 1]), wrong([0, 1, 1]), wrong([0, 2, 1])]
    });
    r.row("aclrtMemManagedPrefetchBatchAsync#11", |_| {
        [3, 4, usize::MAX].map(|index| Batch::but(|batch| batch.indexes[1] = index))
    });
    r.row("aclrtMemManagedPrefetchBatchAsync#12", |_| {
        [0, 1, 2].map(|n| Batch::but(|batch| batch.ptrs[n] = null()))
    });
    r.row("aclrtMemManagedPrefetchBatchAsync#13", |_| {
        NO_DEVICES.map(|id| Batch::but(|batch| batch.places[1] = at_device(id)))
    });
    r.decided("aclrtMemManagedPrefetchBatchAsync#14", |_| {
        let wrong = outside().into_iter();
        wrong
            .map(|(ptr, size)| Batch::but(|batch| (batch.ptrs[2], batch.sizes[2]) = (ptr.cast_const(), size)))
            .collect::<Vec<_>>()
    });
    r.decided("aclrtMemManagedPrefetchBatchAsync#15", |_| {
        ODD_SIZES.map(|size| Batch::but(|batch| batch.sizes[1] = size))
    });
}

fn batch(r: &mut Rows) {
    r.row("aclrtMemManagedPrefetchBatchAsync#16", |_| {
        let (mut batch, stream) = (Batch::new(), Stream::new());
        let gate = held(stream.h());
        batch.stream = stream.h();
        let code = batch.run();
        assert_eq!(batch.last(), [-1, 1, 1]);
        assert!(batch.blocks.iter().all(|block| !moved(block.p())), "the stream is held");
        gate.open();
        stream.wait();
        assert_eq!([0, 1, 2].map(|n| moved(batch.blocks[n].p())), [false, true, true]);
        code
    });
    r.hardware("aclrtMemManagedPrefetchBatchAsync#17", "the host's memory would have to be used up");
}
