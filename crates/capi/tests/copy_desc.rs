//! Copies whose operands stand in device memory: descriptors and offsets.

mod copy_support;

use std::ptr::null_mut;

use ascendcl::copy::*;
use copy_support::*;

const INNER: u32 = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

fn set(desc: Ptr, kind: u32, src: Ptr, dst: Ptr, count: usize, config: Ptr) -> i32 {
    // SAFETY: the call checks its addresses.
    unsafe { aclrtSetMemcpyDesc(desc, kind, src, dst, count, config) }
}

fn run(desc: Ptr, kind: u32, stream: aclrtStream) -> i32 {
    // SAFETY: the call checks its addresses; the memory outlives the task.
    unsafe { aclrtMemcpyAsyncWithDesc(desc, kind, stream) }
}

/// aclrtMemcpyAsyncWithDesc#06: the descriptor is read when the task executes.
#[test]
fn a_descriptor_describes_a_copy() {
    let stream = device(0);
    let mut size = 0;
    // SAFETY: a local.
    assert_eq!(unsafe { aclrtGetMemcpyDescSize(INNER, &mut size) }, 0);
    assert_eq!(size, 64);
    let desc = device_memory(size, 0);
    let (a, b, c) = (device_memory(64, 1), device_memory(64, 2), device_memory(64, 3));
    assert_eq!(set(desc, INNER, b, a, 10, null_mut()), 0, "{}", said());
    let gate = Gate::shut(stream);
    assert_eq!(run(desc, INNER, stream), 0, "{}", said());
    assert_eq!(get(a, 64), [1; 64]);
    assert_eq!(set(desc, INNER, c, a, 20, null_mut()), 0);
    gate.open();
    finish(stream);
    let mut want = [1; 64];
    want[..20].fill(3);
    assert_eq!(get(a, 64), want);
    assert_eq!(failure(stream), 0);
    // Anything else than a descriptor fails the stream.
    put(desc, &[7; 64]);
    assert_eq!(run(desc, INNER, stream), 0);
    assert_eq!(failure(stream), ACL_ERROR_RT_SYS_DMA);
    // So does one whose memory is gone when it executes.
    assert_eq!(set(desc, INNER, b, a, 10, null_mut()), 0);
    // SAFETY: a block of this test.
    assert_eq!(unsafe { ascendcl::memory::aclrtFree(b) }, 0);
    assert_eq!(run(desc, INNER, stream), 0);
    assert_eq!(failure(stream), ACL_ERROR_RT_SYS_DMA);
}

#[test]
fn arguments_of_descriptors_are_checked_in_order() {
    let stream = device(1);
    let (param, range, no) =
        (ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    let mut size = 0;
    // SAFETY: a local, or null.
    unsafe {
        refused(aclrtGetMemcpyDescSize(99, null_mut()), param, "aclrtGetMemcpyDescSize#01");
        refused(aclrtGetMemcpyDescSize(99, &mut size), param, "aclrtGetMemcpyDescSize#02");
        refused(aclrtGetMemcpyDescSize(3, &mut size), no, "aclrtGetMemcpyDescSize#03");
    }
    let (desc, a, b, host) =
        (device_memory(128, 0), device_memory(64, 1), device_memory(64, 2), pinned_memory(64, 3));
    let gone = null_mut();
    refused(set(gone, 99, gone, gone, 0, host), param, "aclrtSetMemcpyDesc#01");
    refused(set(desc, 99, gone, gone, 0, host), param, "aclrtSetMemcpyDesc#02");
    refused(set(desc, 99, a, gone, 0, host), param, "aclrtSetMemcpyDesc#03");
    refused(set(desc, 99, a, b, 0, host), param, "aclrtSetMemcpyDesc#04");
    refused(set(desc, 99, a, b, 8, host), param, "aclrtSetMemcpyDesc#05");
    refused(set(desc, 99, a, b, 8, gone), param, "aclrtSetMemcpyDesc#06");
    for kind in [0, 1, 2, 3, 4, 5, 7] {
        refused(set(desc, kind, a, b, 8, gone), no, "aclrtSetMemcpyDesc#07");
        refused(run(desc, kind, stream), no, "aclrtMemcpyAsyncWithDesc#04");
    }
    refused(set(at(desc, 32), INNER, a, b, 8, gone), range, "aclrtSetMemcpyDesc#08");
    refused(set(host, INNER, a, b, 8, gone), range, "aclrtSetMemcpyDesc#09");
    refused(set(desc, INNER, host, b, 8, gone), range, "aclrtSetMemcpyDesc#09");
    refused(set(desc, INNER, a, host, 8, gone), range, "aclrtSetMemcpyDesc#09");
    refused(set(desc, INNER, a, b, 97, gone), range, "ours: both ends");
    let far = std::thread::spawn(|| {
        device(2);
        device_memory(64, 1) as usize
    });
    refused(set(desc, INNER, a, far.join().unwrap() as Ptr, 8, gone), range, "aclrtSetMemcpyDesc#09");
    let (big, other) = (device_memory_untouched((4 << 30) + 64), device_memory_untouched((4 << 30) + 64));
    assert_eq!(set(desc, INNER, big, other, 4 << 30, gone), 0, "{}", said());
    refused(set(desc, INNER, big, other, (4 << 30) + 1, gone), range, "aclrtSetMemcpyDesc#10");
    refused(run(gone, 99, gone), param, "aclrtMemcpyAsyncWithDesc#01");
    refused(run(desc, 99, gone), param, "aclrtMemcpyAsyncWithDesc#02, #03");
    refused(run(desc, 99, 0x55 as aclrtStream), ACL_ERROR_RT_INVALID_HANDLE, "*#01");
    refused(run(host, INNER, stream), range, "aclrtMemcpyAsyncWithDesc#05");
}

fn device_memory_untouched(size: usize) -> Ptr {
    let mut pointer = null_mut();
    // SAFETY: a local.
    assert_eq!(unsafe { ascendcl::memory::aclrtMalloc(&mut pointer, size, ACL_MEM_MALLOC_HUGE_FIRST) }, 0);
    pointer
}

struct Offset {
    dst: *mut Ptr,
    max: usize,
    dst_offset: usize,
    src: *mut *const std::ffi::c_void,
    count: usize,
    src_offset: usize,
    kind: u32,
}

impl Offset {
    fn run(&self, stream: aclrtStream) -> i32 {
        // SAFETY: the call checks its addresses; the memory outlives the task.
        unsafe {
            aclrtMemcpyAsyncWithOffset(
                self.dst,
                self.max,
                self.dst_offset,
                self.src,
                self.count,
                self.src_offset,
                self.kind,
                stream,
            )
        }
    }
}

/// aclrtMemcpyAsyncWithOffset#06. In device memory the pointers are read when the task executes, on the stack at the call.
#[test]
fn pointers_to_pointers_are_followed() {
    let stream = device(2);
    let (a, b, c) = (device_memory(64, 1), device_memory(64, 2), device_memory(64, 3));
    let cells = device_memory(16, 0);
    put(cells, &[(a as usize).to_le_bytes(), (b as usize).to_le_bytes()].concat());
    let mut ask = Offset {
        dst: cells.cast(),
        max: 64,
        dst_offset: 10,
        src: at(cells, 8).cast(),
        count: 20,
        src_offset: 40,
        kind: INNER,
    };
    put(b, &(0..64).collect::<Vec<u8>>());
    assert_eq!(ask.run(stream), 0, "{}", said());
    finish(stream);
    let mut want = [1u8; 64];
    want[10..30].copy_from_slice(&(40..60).collect::<Vec<u8>>());
    assert_eq!(get(a, 64), want);
    let gate = Gate::shut(stream);
    assert_eq!(ask.run(stream), 0, "{}", said());
    put(at(cells, 8), &(c as usize).to_le_bytes());
    let (mut to, mut from) = (at(a, 32), b.cast_const());
    (ask.dst, ask.src, ask.dst_offset, ask.src_offset) = (&mut to, &mut from, 0, 1);
    assert_eq!(ask.run(stream), 0, "{}", said());
    (to, from) = (null_mut(), std::ptr::null());
    assert_eq!(get(a, 64), want);
    gate.open();
    finish(stream);
    want[10..30].fill(3);
    want[32..52].copy_from_slice(&(1..21).collect::<Vec<u8>>());
    assert_eq!(get(a, 64), want);
    assert!(to.is_null() && from.is_null());
    assert_eq!(failure(stream), 0);
    // A pointer to host memory fails the stream.
    put(cells, &(pinned_memory(64, 0) as usize).to_le_bytes());
    (ask.dst, ask.src) = (cells.cast(), at(cells, 8).cast());
    assert_eq!(ask.run(stream), 0, "{}", said());
    assert_eq!(failure(stream), ACL_ERROR_RT_SYS_DMA);
}

#[test]
fn arguments_of_offsets_are_checked_in_order() {
    let stream = device(3);
    let cells = device_memory(16, 0);
    let base = || Offset {
        dst: cells.cast(),
        max: 64,
        dst_offset: 0,
        src: at(cells, 8).cast(),
        count: 8,
        src_offset: 0,
        kind: INNER,
    };
    let range = ACL_ERROR_RT_PARAM_INVALID;
    let dead = 0x55 as aclrtStream;
    // #01
    assert_eq!(Offset { count: 0, dst: null_mut(), kind: 99, ..base() }.run(dead), 0);
    let refuse = |ask: Offset, rule| refused(ask.run(stream), range, rule);
    for kind in [0, 1, 2, 3, 4, 5, 7, 99] {
        refuse(Offset { kind, ..base() }, "aclrtMemcpyAsyncWithOffset#02");
    }
    refused(base().run(dead), ACL_ERROR_RT_INVALID_HANDLE, "*#01");
    refuse(Offset { dst_offset: 64, ..base() }, "aclrtMemcpyAsyncWithOffset#04");
    refuse(Offset { dst_offset: 57, ..base() }, "aclrtMemcpyAsyncWithOffset#04");
    refuse(Offset { count: usize::MAX, dst_offset: 1, ..base() }, "aclrtMemcpyAsyncWithOffset#04");
    let far = 0x1_0000_0000_0000;
    refuse(Offset { max: usize::MAX, dst_offset: far, ..base() }, "aclrtMemcpyAsyncWithOffset#05");
    refuse(Offset { src_offset: far, ..base() }, "aclrtMemcpyAsyncWithOffset#05");
    refuse(Offset { dst: 0x1000 as *mut Ptr, ..base() }, "ours: memory that is not there");
}
