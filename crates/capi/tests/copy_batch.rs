//! Batches of copies: all four functions.

mod copy_support;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ascendcl::copy::*;
use copy_support::*;

const HOST: aclrtMemLocation = aclrtMemLocation { id: 0, r#type: ACL_MEM_LOCATION_TYPE_HOST };

fn of_device(id: u32) -> aclrtMemLocation {
    aclrtMemLocation { id, r#type: ACL_MEM_LOCATION_TYPE_DEVICE }
}

fn attr(dst: aclrtMemLocation, src: aclrtMemLocation) -> aclrtMemcpyBatchAttr {
    aclrtMemcpyBatchAttr { dstLoc: dst, srcLoc: src, rsv: [0; 16] }
}

/// A batch of host-to-device copies of 64 bytes that is right; tests spoil it.
#[derive(Clone)]
struct Batch {
    dsts: Vec<Ptr>,
    maxs: Vec<usize>,
    srcs: Vec<Ptr>,
    sizes: Vec<usize>,
    attrs: Vec<aclrtMemcpyBatchAttr>,
    indexes: Vec<usize>,
    num_attrs: usize,
}

impl Batch {
    fn new(id: u32, count: usize, from: fn(usize, u8) -> Ptr) -> Batch {
        Batch {
            dsts: (0..count).map(|_| device_memory(64, 0)).collect(),
            maxs: vec![64; count],
            srcs: (0..count).map(|n| from(64, n as u8 + 1)).collect(),
            sizes: vec![64; count],
            attrs: vec![attr(of_device(id), HOST)],
            indexes: vec![0],
            num_attrs: 1,
        }
    }

    /// Runs all four; the code and rule must be the same, and failIndex where there is one. Streams are finished.
    #[track_caller]
    fn run(&mut self, stream: aclrtStream, code: i32, rule: &str, fail: usize) {
        for form in 0..4 {
            let mut index = 77;
            let got = self.call(form, stream, &mut index);
            if code == 0 {
                assert_eq!(got, 0, "form {form}: {}", said());
            } else {
                refused(got, code, rule);
            }
            // #22: only the forms with a failIndex touch it.
            assert_eq!(index, if form % 2 == 0 { fail } else { 77 }, "form {form}");
            finish(stream);
        }
    }

    fn call(&mut self, form: usize, stream: aclrtStream, fail: *mut usize) -> i32 {
        let (dsts, maxs) = (self.dsts.as_mut_ptr(), self.maxs.as_mut_ptr());
        let (srcs, sizes) = (self.srcs.as_mut_ptr(), self.sizes.as_mut_ptr());
        let (count, num) = (self.sizes.len(), self.num_attrs);
        let (attrs, indexes) = (self.attrs.as_mut_ptr(), self.indexes.as_mut_ptr());
        // SAFETY: the arrays are as long as they are said to be; the call checks the addresses in them.
        unsafe {
            match form {
                0 => aclrtMemcpyBatch(dsts, maxs, srcs, sizes, count, attrs, indexes, num, fail),
                1 => aclrtMemcpyBatchV2(dsts, maxs, srcs, sizes, count, attrs, indexes, num),
                2 => aclrtMemcpyBatchAsync(dsts, maxs, srcs, sizes, count, attrs, indexes, num, fail, stream),
                _ => aclrtMemcpyBatchAsyncV2(dsts, maxs, srcs, sizes, count, attrs, indexes, num, stream),
            }
        }
    }

    fn clear(&self) {
        for dst in &self.dsts {
            put(*dst, &[0; 64]);
        }
    }

    fn check(&self) {
        for (n, dst) in self.dsts.iter().enumerate() {
            assert_eq!(get(*dst, 64), vec![n as u8 + 1; 64], "entry {n}");
        }
    }
}

fn pageable(size: usize, byte: u8) -> Ptr {
    Box::leak(vec![byte; size].into_boxed_slice()).as_mut_ptr().cast()
}

/// #18, #20, #22
#[test]
fn every_entry_is_copied() {
    let stream = device(1);
    for from in [pinned_memory, pageable] {
        let mut batch = Batch::new(1, 5, from);
        batch.run(stream, 0, "", usize::MAX);
        batch.check();
    }
    // #18: attributes by ranges of entries. Back to the host, pinned and pageable memory mixed.
    let mut batch = Batch::new(1, 4, device_memory);
    batch.dsts = vec![pinned_memory(64, 0), pageable(64, 0), pageable(64, 0), pinned_memory(64, 0)];
    batch.attrs = vec![attr(HOST, of_device(1)); 2];
    (batch.indexes, batch.num_attrs) = (vec![0, 3], 2);
    for form in 0..4 {
        batch.clear();
        assert_eq!(batch.call(form, stream, &mut 0), 0, "{}", said());
        finish(stream);
        batch.check();
    }
    assert_eq!(failure(stream), 0);
}

/// aclrtMemcpyBatchAsync#23 to #25
#[test]
fn pinned_entries_wait_for_the_stream_and_pageable_ones_wait_in_the_call() {
    let stream = device(2);
    let mut batch = Batch::new(2, 3, pinned_memory);
    let gate = Gate::shut(stream);
    assert_eq!(batch.call(2, null_mut(), &mut 0), 0, "{}", said());
    assert_eq!(get(batch.dsts[0], 64), [0; 64]);
    // A pageable entry brings the stream to its end, and is done when the call returns.
    batch.srcs[1] = pageable(64, 2);
    let opened = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            opened.store(true, Ordering::SeqCst);
            gate.open();
        });
        assert_eq!(batch.call(3, stream, null_mut()), 0, "{}", said());
        assert!(opened.load(Ordering::SeqCst));
    });
    assert_eq!(get(batch.dsts[1], 64), [2; 64]);
    finish(stream);
    batch.check();
}

#[test]
fn null_arrays_and_sizes_are_checked_in_order() {
    let stream = device(3);
    let mut good = Batch::new(3, 2, pinned_memory);
    let param = ACL_ERROR_INVALID_PARAM;
    let (dsts, maxs) = (good.dsts.as_mut_ptr(), good.maxs.as_mut_ptr());
    let (srcs, sizes) = (good.srcs.as_mut_ptr(), good.sizes.as_mut_ptr());
    let (attrs, indexes) = (good.attrs.as_mut_ptr(), good.indexes.as_mut_ptr());
    let no: *mut usize = null_mut();
    let mut fail = 0;
    // SAFETY: the arrays are as long as they are said to be, or null.
    unsafe {
        let call = |dsts, maxs, srcs, sizes, count, attrs, indexes, fail| {
            aclrtMemcpyBatch(dsts, maxs, srcs, sizes, count, attrs, indexes, 1, fail)
        };
        let gone = null_mut();
        refused(call(null_mut(), no, null_mut(), no, 0, gone, no, no), param, "aclrtMemcpyBatch#01");
        refused(call(null_mut(), no, null_mut(), sizes, 0, gone, no, no), param, "aclrtMemcpyBatch#02");
        // #03
        let mut zero = [0usize; 2];
        assert_eq!(call(null_mut(), no, null_mut(), zero.as_mut_ptr(), 2, gone, no, &mut fail), 0);
        assert_eq!(fail, usize::MAX);
        refused(call(null_mut(), no, null_mut(), sizes, 2, gone, no, no), param, "aclrtMemcpyBatch#04");
        refused(call(dsts, no, null_mut(), sizes, 2, gone, no, no), param, "aclrtMemcpyBatch#05");
        refused(call(dsts, maxs, null_mut(), sizes, 2, gone, no, no), param, "aclrtMemcpyBatch#06");
        refused(call(dsts, maxs, srcs, sizes, 2, gone, no, no), param, "aclrtMemcpyBatch#07");
        refused(call(dsts, maxs, srcs, sizes, 2, attrs, no, no), param, "aclrtMemcpyBatch#08");
        refused(call(dsts, maxs, srcs, sizes, 2, attrs, indexes, no), param, "aclrtMemcpyBatch#21");
        // No array of the program can be as long as this.
        for count in [4097, 1 << 40, usize::MAX] {
            let code = call(dsts, maxs, srcs, sizes, count, attrs, indexes, &mut fail);
            refused(code, ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpyBatch#23");
        }
        let wild = 0x1000 as *mut usize;
        refused(call(dsts, wild, srcs, sizes, 2, attrs, indexes, &mut fail), param, "aclrtMemcpyBatch#05");
        refused(call(dsts, maxs, srcs, wild, 2, attrs, indexes, &mut fail), param, "aclrtMemcpyBatch#01");
    }
    let range = ACL_ERROR_RT_PARAM_INVALID;
    let spoil = |spoil: fn(&mut Batch), code, rule, fail| {
        let mut batch = good.clone();
        spoil(&mut batch);
        batch.run(stream, code, rule, fail);
    };
    spoil(|b| b.maxs[1] = 63, param, "#09", usize::MAX);
    spoil(|b| b.attrs[0].rsv[15] = 1, param, "#10", usize::MAX);
    spoil(|b| b.num_attrs = 0, range, "#11", usize::MAX);
    spoil(|b| b.num_attrs = 3, range, "#12", usize::MAX);
    spoil(|b| b.num_attrs = usize::MAX, range, "#12", usize::MAX);
    spoil(|b| b.indexes[0] = 1, range, "#13", usize::MAX);
    let two = |indexes: [usize; 2]| {
        let mut batch = good.clone();
        batch.attrs.push(batch.attrs[0]);
        (batch.indexes, batch.num_attrs) = (indexes.to_vec(), 2);
        batch
    };
    two([0, 0]).run(stream, range, "#14", usize::MAX);
    two([0, 2]).run(stream, range, "#15", usize::MAX);
    two([0, 1]).run(stream, 0, "", usize::MAX);
    good.check();
}

/// #17, #19, #22, #24: nothing is copied when one entry is wrong.
#[test]
fn the_failing_entry_is_named_and_nothing_is_copied() {
    let stream = device(4);
    let range = ACL_ERROR_RT_PARAM_INVALID;
    let good = Batch::new(4, 3, pinned_memory);
    let spoil = |spoil: fn(&mut Batch), rule, fail| {
        let mut batch = good.clone();
        spoil(&mut batch);
        batch.run(stream, range, rule, fail);
        for dst in &good.dsts {
            assert_eq!(get(*dst, 64), [0; 64]);
        }
    };
    spoil(|b| b.attrs[0].dstLoc.id = 5, "#19", 0);
    spoil(|b| b.attrs[0].dstLoc = HOST, "#19", 0);
    spoil(|b| b.attrs[0].srcLoc.r#type = ACL_MEM_LOCATION_TYPE_UNREGISTERED, "#19", 0);
    spoil(|b| b.srcs[2] = device_memory(64, 1), "#19", 2);
    spoil(|b| b.dsts[1] = pinned_memory(64, 0), "#19", 1);
    spoil(|b| b.srcs[1] = at(b.srcs[1], 1), "ours: both ends", 1);
    spoil(|b| b.dsts[2] = 0x10 as Ptr, "#19", 2);
    let parts = |b: &mut Batch, last: aclrtMemcpyBatchAttr| {
        b.attrs.push(last);
        (b.indexes, b.num_attrs) = (vec![0, 2], 2);
    };
    let mut same = good.clone();
    parts(&mut same, attr(of_device(4), of_device(4)));
    same.srcs[2] = device_memory(64, 1);
    // aclrtMemcpyBatch#24, aclrtMemcpyBatchV2#22
    same.run(stream, range, "a batch copies between host and device", 2);
    let mut mixed = good.clone();
    parts(&mut mixed, attr(HOST, of_device(4)));
    (mixed.srcs[2], mixed.dsts[2]) = (device_memory(64, 1), pinned_memory(64, 0));
    mixed.run(stream, range, "#17", 2);
    // ours: an entry of size 0 is passed over, whatever it names.
    let mut hole = good.clone();
    (hole.srcs[1], hole.dsts[1], hole.sizes[1]) = (null_mut(), null_mut(), 0);
    hole.run(stream, 0, "", usize::MAX);
    assert_eq!(get(good.dsts[0], 64), [1; 64]);
    assert_eq!(get(good.dsts[1], 64), [0; 64]);
    assert_eq!(get(good.dsts[2], 64), [3; 64]);
}

/// aclrtMemcpyBatch#23
#[test]
fn four_thousand_ninety_six_copies_are_a_batch() {
    let stream = device(5);
    let (block, host) = (device_memory(4096 * 8, 0), pinned_memory(4096 * 8, 0));
    let bytes: Vec<u8> = (0..4096 * 8).map(|n| (n % 249) as u8).collect();
    put(host, &bytes);
    let mut batch = Batch::new(5, 1, pinned_memory);
    batch.dsts = (0..4096).map(|n| at(block, n * 8)).collect();
    batch.srcs = (0..4096).map(|n| at(host, n * 8)).collect();
    (batch.maxs, batch.sizes) = (vec![8; 4096], vec![8; 4096]);
    assert_eq!(batch.call(2, stream, &mut 0), 0, "{}", said());
    finish(stream);
    assert_eq!(get(block, bytes.len()), bytes);
}
