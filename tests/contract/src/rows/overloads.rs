//! Chapter 26: the C++ forms of the functions for managed memory, pointer attributes and device variables.

use super::prelude::*;
use std::time::Duration;

pub fn rows(r: &mut Rows) {
    pointer(r);
    alloc(r);
    prefetch(r);
    batch(r);
    queries(r);
    copies(r);
    ranges(r);
    asynchronous(r);
}

fn zeroed<T>() -> T {
    unsafe { std::mem::zeroed() }
}

fn pointer(r: &mut Rows) {
    r.row("aclrtPointerGetAttributes<cpp>#01", |_| {
        let memory = device(64);
        let mut said: aclrtPtrAttributes = zeroed();
        same("null", unsafe { cpp_pointer_attributes(null(), &mut said) }, ACL_ERROR_INVALID_PARAM);
        calls("aclrtPointerGetAttributes");
        same("null", unsafe { cpp_pointer_attributes(memory.p(), null_mut()) }, ACL_ERROR_INVALID_PARAM);
        same("a good call", unsafe { cpp_pointer_attributes(memory.after(8), &mut said) }, 0);
        assert_eq!((said.location.r#type, said.location.id), (ACL_MEM_LOCATION_TYPE_DEVICE, 0));
        assert_eq!(said.pageSize as usize, attributes(memory.p()).2);
    });
    r.row("aclrtPointerGetAttributes<cpp>#02", |_| header_only("aclrtPointerGetAttributes"));
    r.decided("aclrtPointerGetAttributes<cpp>#03", |_| {
        let host = pinned(4096);
        let mapped = get!(null_mut(), aclrtHostRegister(host.p(), 4096, ACL_HOST_REGISTER_MAPPED));
        let code = unsafe { cpp_pointer_attributes(mapped, &mut zeroed()) };
        ok!(aclrtHostUnregister(host.p()));
        code
    })
    .only(|target| target.product.has("host_register"));
}

fn alloc(r: &mut Rows) {
    let refused = |size, flags| {
        let mut ptr = null_mut();
        let code = unsafe { cpp_alloc_managed_flags(&mut ptr, size, flags) };
        assert!(ptr.is_null());
        code
    };
    r.row("aclrtMemAllocManaged<cpp>#01", |_| {
        same("null", unsafe { cpp_alloc_managed(null_mut(), PAGE) }, ACL_ERROR_INVALID_PARAM);
        calls("aclrtMemAllocManaged");
        let mut ptr = null_mut();
        same("a good call", unsafe { cpp_alloc_managed(&mut ptr, PAGE) }, 0);
        assert!(WINDOW.contains(&(ptr as usize)));
        ok!(aclrtFree(ptr));
    });
    r.row("aclrtMemAllocManaged<cpp>#02", |_| header_only("aclrtMemAllocManaged"));
    r.decided("aclrtMemAllocManaged<cpp>#03", move |_| {
        let mut ptr = null_mut();
        same("a byte", unsafe { cpp_alloc_managed(&mut ptr, 1) }, 0);
        // The whole page is there.
        unsafe { at(ptr as usize + PAGE - 1).cast::<u8>().write_volatile(1) };
        assert_eq!(managed_attr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, ptr, PAGE), 0);
        ok!(aclrtFree(ptr));
        let much = refused((3 << 40) + 1, ACL_RT_MEM_ATTACH_GLOBAL);
        same("more than 3 TB", much, ACL_ERROR_RT_MEMORY_ALLOCATION);
        [unsafe { cpp_alloc_managed(&mut ptr, 0) }, refused(0, ACL_RT_MEM_ATTACH_GLOBAL)]
    });
    r.row("aclrtMemAllocManaged<cpp>#04", move |_| {
        let mut ptr = null_mut();
        same("the default", unsafe { cpp_alloc_managed(&mut ptr, PAGE) }, 0);
        ok!(aclrtFree(ptr));
        same("the value", unsafe { cpp_alloc_managed_flags(&mut ptr, PAGE, ACL_RT_MEM_ATTACH_GLOBAL) }, 0);
        ok!(aclrtFree(ptr));
        [0, 2, 3, u32::MAX].map(|flags| refused(PAGE, flags))
    });
    r.row("aclrtMemAllocManaged<cpp>#05", |_| {
        let mut ptr = null_mut();
        same("a good call", unsafe { cpp_alloc_managed(&mut ptr, PAGE) }, 0);
        let code = acl!(aclrtFree(ptr));
        assert_eq!(attributes(ptr).0, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
        code
    });
}

fn last(ptr: *const c_void) -> i32 {
    managed_attr(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, ptr, PAGE)
}

/// Ranges that are not inside the window.
fn outside() -> Vec<(*const c_void, usize)> {
    let memory = device(PAGE);
    let places = [at(WINDOW.start - PAGE), at(WINDOW.end), at(WINDOW.end - PAGE), memory.p()];
    places.into_iter().map(|ptr| (ptr.cast_const(), 2 * PAGE)).collect()
}

const ODD_SIZES: [usize; 3] = [1, PAGE + 1, (3 << 40) + PAGE];

fn prefetch(r: &mut Rows) {
    let to =
        |ptr: *const c_void, size, flags| unsafe { cpp_prefetch(ptr, size, at_device(1), flags, null_mut()) };
    r.row("aclrtMemManagedPrefetchAsync<cpp>#01", move |_| {
        let block = Managed::new(PAGE);
        same("null", to(null(), PAGE, 0), ACL_ERROR_INVALID_PARAM);
        calls("aclrtMemManagedPrefetchAsync");
        same("no bytes", to(block.p(), 0, 0), ACL_ERROR_INVALID_PARAM);
        let nowhere = unsafe { cpp_prefetch(block.p(), PAGE, at_device(4), 0, null_mut()) };
        same("no device", nowhere, ACL_ERROR_RT_PARAM_INVALID);
        same("a good call", to(block.p(), PAGE, 0), 0);
        assert_eq!(last(block.p()), 1);
        ok!(aclrtSynchronizeStream(null_mut()));
    });
    r.row("aclrtMemManagedPrefetchAsync<cpp>#02", |_| header_only("aclrtMemManagedPrefetchAsync"));
    r.decided("aclrtMemManagedPrefetchAsync<cpp>#03", move |_| {
        outside().into_iter().map(|(ptr, size)| to(ptr, size, 0)).collect::<Vec<_>>()
    });
    r.decided("aclrtMemManagedPrefetchAsync<cpp>#04", move |_| {
        let block = Managed::new(2 * PAGE);
        ODD_SIZES.map(|size| to(block.p(), size, 0))
    });
    r.row("aclrtMemManagedPrefetchAsync<cpp>#05", move |_| {
        let block = Managed::new(PAGE);
        [1, 2, u32::MAX].map(|flags| to(block.p(), PAGE, flags))
    });
    r.row("aclrtMemManagedPrefetchAsync<cpp>#06", move |_| {
        let (block, stream) = (Managed::new(PAGE), Stream::new());
        let gate = held(stream.h());
        let code = unsafe { cpp_prefetch(block.p(), PAGE, at_device(1), 0, stream.h()) };
        // It came back though the stream is held.
        let mut status = 0;
        ok!(aclrtStreamQuery(stream.h(), &mut status));
        assert_eq!(status, ACL_STREAM_STATUS_NOT_READY);
        gate.open();
        stream.wait();
        same("memory that was freed", to(stale_managed(), PAGE, 0), ACL_ERROR_RT_PARAM_INVALID);
        same("device memory", to(device(PAGE).p(), PAGE, 0), ACL_ERROR_RT_PARAM_INVALID);
        code
    });
}

/// Three managed pages, and a call for them in each form.
struct Three {
    blocks: [Managed; 3],
    ptrs: [*const c_void; 3],
    sizes: [usize; 3],
}

impl Three {
    fn new() -> Three {
        let blocks = [(); 3].map(|()| Managed::new(PAGE));
        let ptrs = [0, 1, 2].map(|n: usize| blocks[n].p().cast_const());
        Three { blocks, ptrs, sizes: [PAGE; 3] }
    }

    fn several(&mut self, places: &mut [aclrtMemManagedLocation], indexes: &mut [usize], flags: u64) -> i32 {
        let (ptrs, sizes) = (self.ptrs.as_mut_ptr(), self.sizes.as_mut_ptr());
        let (places, indexes, number) = (places.as_mut_ptr(), indexes.as_mut_ptr(), places.len());
        let code = unsafe { cpp_prefetch_batch(ptrs, sizes, 3, places, indexes, number, flags, null_mut()) };
        ok!(aclrtSynchronizeStream(null_mut()));
        code
    }

    fn one(&mut self, place: aclrtMemManagedLocation, flags: u64) -> i32 {
        let (ptrs, sizes) = (self.ptrs.as_mut_ptr(), self.sizes.as_mut_ptr());
        let code = unsafe { cpp_prefetch_batch_one(ptrs, sizes, 3, place, flags, null_mut()) };
        ok!(aclrtSynchronizeStream(null_mut()));
        code
    }

    /// A changed call in both forms, refused.
    fn both(change: impl Fn(&mut Three)) -> [i32; 2] {
        let mut three = Three::new();
        change(&mut three);
        let codes = [three.one(at_device(1), 0), three.several(&mut [at_device(1)], &mut [0], 0)];
        assert_eq!(three.last(), [-2; 3], "a refused call moves nothing");
        codes
    }

    fn last(&self) -> [i32; 3] {
        [0, 1, 2].map(|n: usize| last(self.blocks[n].p()))
    }
}

fn batch(r: &mut Rows) {
    r.row("aclrtMemManagedPrefetchBatchAsync<cpp>#01", |_| {
        let (ptrs, sizes) = (null_mut(), null_mut());
        let code = unsafe { cpp_prefetch_batch_one(ptrs, sizes, 3, at_host(), 0, null_mut()) };
        same("null", code, ACL_ERROR_INVALID_PARAM);
        calls("aclrtMemManagedPrefetchBatchAsync");
        let mut three = Three::new();
        same("not from 0 on", three.several(&mut [at_host()], &mut [1], 0), ACL_ERROR_RT_PARAM_INVALID);
        calls("aclrtMemManagedPrefetchBatchAsync");
        same("no device", three.one(at_device(4), 0), ACL_ERROR_RT_PARAM_INVALID);
        same("a good call", three.several(&mut [at_host()], &mut [0], 0), 0);
        assert_eq!(three.last(), [-1; 3]);
    });
    r.row("aclrtMemManagedPrefetchBatchAsync<cpp>#02", |_| header_only("aclrtMemManagedPrefetchBatchAsync"));
    r.decided("aclrtMemManagedPrefetchBatchAsync<cpp>#03", |_| {
        let wrong = outside().into_iter();
        wrong
            .flat_map(|(ptr, size)| Three::both(|three| (three.ptrs[1], three.sizes[1]) = (ptr, size)))
            .collect::<Vec<_>>()
    });
    r.decided("aclrtMemManagedPrefetchBatchAsync<cpp>#04", |_| {
        ODD_SIZES.map(|size| Three::both(|three| three.sizes[2] = size)).concat()
    });
    r.row("aclrtMemManagedPrefetchBatchAsync<cpp>#05", |_| {
        let mut three = Three::new();
        let codes = [1, 2, u64::MAX]
            .map(|flags| [three.one(at_host(), flags), three.several(&mut [at_host()], &mut [0], flags)]);
        assert_eq!(three.last(), [-2; 3]);
        codes.concat()
    });
    r.row("aclrtMemManagedPrefetchBatchAsync<cpp>#06", |_| {
        let mut three = Three::new();
        let code = three.one(at_device(2), 0);
        assert_eq!(three.last(), [2; 3]);
        code
    });
    r.row("aclrtMemManagedPrefetchBatchAsync<cpp>#07", |_| {
        let mut three = Three::new();
        let mut codes = Vec::new();
        for (places, indexes, wanted) in [
            (vec![at_device(1), at_device(2)], vec![0, 1], [1, 2, 2]),
            (vec![at_device(1), at_device(2)], vec![0, 2], [1, 1, 2]),
            (vec![at_device(3), at_host(), at_device(0)], vec![0, 1, 2], [3, -1, 0]),
        ] {
            codes.push(three.several(&mut places.clone(), &mut indexes.clone(), 0));
            assert_eq!(three.last(), wanted);
        }
        codes
    });
}

fn address(form: i32) -> (i32, *mut c_void) {
    let mut out = null_mut();
    (unsafe { cpp_symbol_address(form, &mut out) }, out)
}

fn size(form: i32) -> (i32, usize) {
    let mut out = 0;
    (unsafe { cpp_symbol_size(form, &mut out) }, out)
}

fn queries(r: &mut Rows) {
    r.row("aclrtGetSymbolAddress<cpp>#01", |_| {
        program_variable();
        same("nullptr", address(NULLPTR).0, ACL_ERROR_INVALID_PARAM);
        calls("aclrtGetSymbolAddress");
        same("null", unsafe { cpp_symbol_address(BY_NAME, null_mut()) }, ACL_ERROR_INVALID_PARAM);
        bare(|| same("no context", address(BY_NAME).0, ACL_ERROR_RT_CONTEXT_NULL));
    });
    r.row("aclrtGetSymbolAddress<cpp>#02", |_| header_only("aclrtGetSymbolAddress"));
    r.row("aclrtGetSymbolAddress<cpp>#03", |_| {
        let (variable, _) = program_variable();
        let wanted = symbol_address(variable);
        let (named, addressed) = (address(BY_NAME), address(BY_ADDRESS));
        assert_eq!((named.1, addressed.1), (wanted, wanted));
        [named.0, addressed.0]
    });
    r.decided("aclrtGetSymbolAddress<cpp>#04", |t| {
        program_variable();
        let (here, there) = (address(BY_NAME).1, on_device(t, 1, || address(BY_NAME).1));
        assert!(!here.is_null() && !there.is_null() && here != there);
        address(STRANGER).0
    });
    r.row("aclrtGetSymbolSize<cpp>#01", |_| {
        program_variable();
        same("nullptr", size(NULLPTR).0, ACL_ERROR_INVALID_PARAM);
        calls("aclrtGetSymbolSize");
        same("null", unsafe { cpp_symbol_size(BY_NAME, null_mut()) }, ACL_ERROR_INVALID_PARAM);
        bare(|| same("no context", size(BY_NAME).0, ACL_ERROR_RT_CONTEXT_NULL));
    });
    r.row("aclrtGetSymbolSize<cpp>#02", |_| header_only("aclrtGetSymbolSize"));
    r.row("aclrtGetSymbolSize<cpp>#03", |_| {
        let (_, bytes) = program_variable();
        assert_eq!([size(BY_NAME), size(BY_ADDRESS)], [(0, bytes); 2]);
    });
    r.decided("aclrtGetSymbolSize<cpp>#04", |t| {
        let (_, bytes) = program_variable();
        on_device(t, 1, || assert_eq!(size(BY_NAME), (0, bytes)));
        size(STRANGER).0
    });
}

const OUT: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_HOST;
const IN: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_DEVICE;
/// Bytes of the variable.
const ALL: usize = 16;

/// One of the four copies with all its arguments; 0xaa in the variable, 0xbb in host memory.
struct Call {
    out: bool,
    waits: bool,
    form: i32,
    host: Memory,
    room: usize,
    count: usize,
    offset: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
}

#[derive(Clone, Copy)]
struct Way {
    out: bool,
    waits: bool,
}

const FROM: Way = Way { out: true, waits: false };
const FROM_ASYNC: Way = Way { out: true, waits: true };
const TO: Way = Way { out: false, waits: false };
const TO_ASYNC: Way = Way { out: false, waits: true };

impl Call {
    fn new(way: Way, host: Memory) -> Call {
        let (variable, bytes) = program_variable();
        assert_eq!(bytes, ALL);
        set_symbol(variable, &[0xaa; ALL]);
        host.put(&[0xbb; ALL]);
        let (kind, stream) = (if way.out { OUT } else { IN }, null_mut());
        Call {
            out: way.out,
            waits: way.waits,
            form: BY_NAME,
            host,
            room: ALL,
            count: ALL,
            offset: 0,
            kind,
            stream,
        }
    }

    fn run(&self) -> i32 {
        let Call { form, room, count, offset, kind, stream, .. } = *self;
        let host = self.host.p();
        unsafe {
            match (self.out, self.waits) {
                (true, false) => cpp_from_symbol(form, host, room, count, offset, kind),
                (true, true) => cpp_from_symbol_async(form, host, room, count, offset, kind, stream),
                (false, false) => cpp_to_symbol(form, host, count, offset, kind),
                (false, true) => cpp_to_symbol_async(form, host, count, offset, kind, stream),
            }
        }
    }

    /// A changed call, which moves nothing.
    fn refused(way: Way, change: impl FnOnce(&mut Call)) -> i32 {
        let mut call = Call::new(way, pageable(2 * ALL));
        change(&mut call);
        let code = call.run();
        assert!(call.moved(0, 0), "something was copied");
        code
    }

    /// Whether exactly these bytes of the variable were copied.
    fn moved(&self, offset: usize, count: usize) -> bool {
        if self.out {
            self.host.get()[..ALL] == [vec![0xaa; count], vec![0xbb; ALL - count]].concat()
        } else {
            let rest = ALL - offset - count;
            symbol_bytes(program_variable().0, ALL)
                == [vec![0xaa; offset], vec![0xbb; count], vec![0xaa; rest]].concat()
        }
    }
}

fn copies(r: &mut Rows) {
    for (way, function, ids) in [
        (
            FROM,
            "aclrtMemcpyFromSymbol",
            [
                "aclrtMemcpyFromSymbol<cpp>#01",
                "aclrtMemcpyFromSymbol<cpp>#02",
                "aclrtMemcpyFromSymbol<cpp>#03",
                "aclrtMemcpyFromSymbol<cpp>#04",
            ],
        ),
        (
            FROM_ASYNC,
            "aclrtMemcpyFromSymbolAsync",
            [
                "aclrtMemcpyFromSymbolAsync<cpp>#01",
                "aclrtMemcpyFromSymbolAsync<cpp>#02",
                "aclrtMemcpyFromSymbolAsync<cpp>#03",
                "aclrtMemcpyFromSymbolAsync<cpp>#04",
            ],
        ),
        (
            TO,
            "aclrtMemcpyToSymbol",
            [
                "aclrtMemcpyToSymbol<cpp>#01",
                "aclrtMemcpyToSymbol<cpp>#02",
                "aclrtMemcpyToSymbol<cpp>#03",
                "aclrtMemcpyToSymbol<cpp>#04",
            ],
        ),
        (
            TO_ASYNC,
            "aclrtMemcpyToSymbolAsync",
            [
                "aclrtMemcpyToSymbolAsync<cpp>#01",
                "aclrtMemcpyToSymbolAsync<cpp>#02",
                "aclrtMemcpyToSymbolAsync<cpp>#03",
                "aclrtMemcpyToSymbolAsync<cpp>#04",
            ],
        ),
    ] {
        r.row(ids[0], move |_| {
            same("nullptr", Call::refused(way, |call| call.form = NULLPTR), ACL_ERROR_INVALID_PARAM);
            same("no bytes", Call::refused(way, |call| (call.count, call.form) = (0, NULLPTR)), 0);
            same("too far", Call::refused(way, |call| call.offset = usize::MAX), ACL_ERROR_FAILURE);
            calls(function);
            let call = Call::new(way, pageable(ALL));
            bare(|| same("no context", call.run(), ACL_ERROR_RT_CONTEXT_NULL));
        });
        r.row(ids[1], move |_| header_only(function));
        r.row(ids[2], move |_| {
            [BY_NAME, BY_ADDRESS].map(|form| {
                let mut call = Call::new(way, pageable(ALL));
                (call.form, call.offset, call.count) = (form, 5, 6);
                let code = call.run();
                assert!(call.moved(5, 6));
                code
            })
        });
        r.decided(ids[3], move |t| {
            let (variable, _) = program_variable();
            let here = Call::new(way, pageable(ALL));
            // Another device has a copy of its own.
            on_device(t, 1, || set_symbol(variable, &[1; ALL]));
            same("a good call", here.run(), 0);
            assert!(here.moved(0, ALL));
            on_device(t, 1, || assert_eq!(symbol_bytes(variable, ALL), [1; ALL]));
            Call::refused(way, |call| call.form = STRANGER)
        });
    }
}

fn ranges(r: &mut Rows) {
    for (way, id) in [
        (FROM, "aclrtMemcpyFromSymbol<cpp>#05"),
        (FROM_ASYNC, "aclrtMemcpyFromSymbolAsync<cpp>#05"),
        (TO, "aclrtMemcpyToSymbol<cpp>#05"),
        (TO_ASYNC, "aclrtMemcpyToSymbolAsync<cpp>#05"),
    ] {
        r.row(id, move |_| {
            let mut end = Call::new(way, pageable(ALL));
            (end.offset, end.count) = (ALL - 4, 4);
            same("up to the end", end.run(), 0);
            assert!(end.moved(ALL - 4, 4));
            [(0, ALL + 1), (1, ALL), (ALL, 1)].map(|(offset, count)| {
                Call::refused(way, |call| (call.offset, call.count, call.room) = (offset, count, 2 * ALL))
            })
        });
    }
    for (way, id) in
        [(FROM, "aclrtMemcpyFromSymbol<cpp>#06"), (FROM_ASYNC, "aclrtMemcpyFromSymbolAsync<cpp>#06")]
    {
        r.row(id, move |_| [0, 1, ALL - 1].map(|room| Call::refused(way, |call| call.room = room)));
    }
    for (way, id) in [
        (FROM, "aclrtMemcpyFromSymbol<cpp>#07"),
        (FROM_ASYNC, "aclrtMemcpyFromSymbolAsync<cpp>#07"),
        (TO, "aclrtMemcpyToSymbol<cpp>#06"),
        (TO_ASYNC, "aclrtMemcpyToSymbolAsync<cpp>#06"),
    ] {
        r.row(id, move |_| {
            let mut open = Call::new(way, pageable(ALL));
            open.kind = ACL_MEMCPY_DEFAULT;
            same("ACL_MEMCPY_DEFAULT", open.run(), 0);
            assert!(open.moved(0, ALL));
            let other = if way.out { IN } else { OUT };
            [ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE, other, 99]
                .map(|kind| Call::refused(way, |call| call.kind = kind))
        });
    }
}

fn asynchronous(r: &mut Rows) {
    for (way, id) in
        [(FROM_ASYNC, "aclrtMemcpyFromSymbolAsync<cpp>#08"), (TO_ASYNC, "aclrtMemcpyToSymbolAsync<cpp>#07")]
    {
        r.row(id, move |_| {
            let stream = Stream::new();
            let mut locked = Call::new(way, pinned(ALL));
            locked.stream = stream.h();
            let gate = held(stream.h());
            let later = locked.run();
            assert!(locked.moved(0, 0), "the stream is held");
            gate.open();
            stream.wait();
            assert!(locked.moved(0, ALL));
            let mut free = Call::new(way, pageable(ALL));
            free.stream = stream.h();
            let before = Flag::new();
            let flag = before.clone();
            launch(stream.h(), move || {
                std::thread::sleep(Duration::from_millis(30));
                flag.set();
            });
            let now = free.run();
            assert!(before.is(), "it comes after what the stream held");
            assert!(free.moved(0, ALL), "done on return");
            [later, now]
        });
    }
}
