//! aclrtMemcpy2d and aclrtMemcpy2dAsync.

mod copy_support;

use std::ptr::null_mut;

use ascendcl::copy::*;
use copy_support::*;

const H2D: u32 = ACL_MEMCPY_HOST_TO_DEVICE;
const D2H: u32 = ACL_MEMCPY_DEVICE_TO_HOST;
const D2D: u32 = ACL_MEMCPY_DEVICE_TO_DEVICE;
const DEFAULT: u32 = ACL_MEMCPY_DEFAULT;

/// (address, pitch)
type Side = (Ptr, usize);

fn now(dst: Side, src: Side, width: usize, height: usize, kind: u32) -> i32 {
    // SAFETY: the call checks its addresses.
    unsafe { aclrtMemcpy2d(dst.0, dst.1, src.0, src.1, width, height, kind) }
}

fn later(dst: Side, src: Side, width: usize, height: usize, kind: u32, stream: aclrtStream) -> i32 {
    // SAFETY: the call checks its addresses; the memory outlives the task.
    unsafe { aclrtMemcpy2dAsync(dst.0, dst.1, src.0, src.1, width, height, kind, stream) }
}

fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|n| (n * 7 % 251) as u8).collect()
}

/// What a copy of rows leaves in `dst`.
fn reference(dst: &mut [u8], dpitch: usize, src: &[u8], spitch: usize, width: usize, height: usize) {
    for row in 0..height {
        dst[row * dpitch..row * dpitch + width].copy_from_slice(&src[row * spitch..row * spitch + width]);
    }
}

#[test]
fn rows_are_copied_and_gaps_are_left() {
    let stream = device(0);
    for (width, height, dpitch, spitch) in
        [(5, 4, 9, 7), (1, 30, 1, 3), (8, 8, 8, 8), (7, 1, 100, 7), (64, 3, 64, 65)]
    {
        let size = 400;
        let bytes = pattern(size);
        let mut want = vec![0xee; size];
        reference(&mut want, dpitch, &bytes, spitch, width, height);
        let (block, other, host) =
            (device_memory(size, 0xee), device_memory(size, 0xee), pinned_memory(size, 0));
        put(host, &bytes);
        // Host to device, at once and as a task (aclrtMemcpy2dAsync#16).
        assert_eq!(now((block, dpitch), (host, spitch), width, height, H2D), 0, "{}", said());
        assert_eq!(get(block, size), want);
        put(block, &vec![0xee; size]);
        let gate = Gate::shut(stream);
        assert_eq!(later((block, dpitch), (host, spitch), width, height, DEFAULT, stream), 0, "{}", said());
        // aclrtMemcpy2dAsync#14
        assert_eq!(later((other, dpitch), (block, dpitch), width, height, D2D, stream), 0, "{}", said());
        assert_eq!(get(block, size), vec![0xee; size]);
        gate.open();
        finish(stream);
        assert_eq!(get(block, size), want);
        assert_eq!(get(other, size), want);
        // Device to pageable memory, both ways (aclrtMemcpy2dAsync#16, #17): ordered behind the stream, done at the return.
        put(block, &bytes);
        for asynchronous in [false, true] {
            let mut page = vec![0xee; size];
            let to = (page.as_mut_ptr().cast(), dpitch);
            let code = if asynchronous {
                later(to, (block, spitch), width, height, D2H, stream)
            } else {
                now(to, (block, spitch), width, height, D2H)
            };
            assert_eq!(code, 0, "{}", said());
            assert_eq!(page, want);
        }
    }
    assert_eq!(failure(stream), 0);
}

#[test]
fn arguments_are_checked_in_order() {
    let stream = device(1);
    let (block, host) = (device_memory(1000, 1), pinned_memory(1000, 2));
    let dead = 0x55 as aclrtStream;
    let null = (null_mut(), 0);
    // #01
    for (width, height) in [(0, 5), (5, 0), (0, 0)] {
        assert_eq!(now(null, null, width, height, 99), 0);
        assert_eq!(later(null, null, width, height, 99, dead), 0);
    }
    let both = |dst: Side, src: Side, width, height, kind, code, row: &str| {
        refused(now(dst, src, width, height, kind), code, &format!("aclrtMemcpy2d{row}"));
        let got = later(dst, src, width, height, kind, stream);
        refused(got, code, &format!("aclrtMemcpy2dAsync{row}"));
    };
    let (param, range) = (ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID);
    both(null, null, 5, 5, 99, param, "#02");
    both((block, 4), null, 5, 5, 99, param, "#03");
    both((block, 4), (host, 5), 5, 5, 99, param, "#04");
    both((block, 5), (host, 4), 5, 5, 99, param, "#04");
    for kind in [0, 5, 6, 7, 99] {
        both((block, 5), (host, 5), 5, 5, kind, param, "#05");
    }
    let wide = 5_000_001;
    both((block, wide), (host, wide), wide, usize::MAX, H2D, range, "#06");
    both((block, 5), (host, 5), 5, 5_242_881, H2D, range, "#07");
    refused(later((block, 5), (host, 5), 5, 5_242_881, H2D, dead), ACL_ERROR_RT_INVALID_HANDLE, "*#01");
    // aclrtMemcpy2d#11
    let code = now((block, 5), (block, 5), 5, 5, D2D);
    refused(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpy2d#10, #11");
    let other = device_memory(100, 1);
    refused(now((block, 5), (other, 5), 5, 5, DEFAULT), range, "aclrtMemcpy2d#12");
    refused(now((host, 5), (host, 5), 5, 5, D2H), range, "aclrtMemcpy2d#12");
    refused(later((host, 5), (host, 5), 5, 5, D2D, stream), range, "aclrtMemcpy2dAsync#19");
    // Ends: exactly the block, one byte more, and sums that overflow.
    let most = 1056;
    assert_eq!(now((host, 10), (block, 527), 2, 3, D2H), 0, "{} {most}", said());
    for (dst, src) in [
        ((host, 10), (block, 528)),
        ((host, 500), (block, 10)),
        ((host, 10), (block, usize::MAX / 2 + 1)),
        ((host, usize::MAX), (block, 10)),
    ] {
        refused(now(dst, src, 2, 3, D2H), range, "ours: both ends");
        refused(later(dst, src, 2, 3, D2H, stream), range, "ours: both ends");
    }
}

/// The largest height that is allowed, as one task.
#[test]
fn the_tallest_copy_runs() {
    let stream = device(2);
    let rows = 5_242_880;
    let (block, host) = (device_memory(rows, 0), pinned_memory(2 * rows, 3));
    put(at(host, 2 * (rows - 1)), &[9]);
    assert_eq!(later((block, 1), (host, 2), 1, rows, H2D, stream), 0, "{}", said());
    finish(stream);
    assert_eq!(failure(stream), 0);
    let got = get(block, rows);
    assert!(got[..rows - 1].iter().all(|byte| *byte == 3));
    assert_eq!(got[rows - 1], 9);
}

/// aclrtMemcpy2dAsync#13, #15
#[test]
fn no_copies_inside_the_device_on_inference_products() {
    on(&[("TOPROPE_PRODUCT", "inference")], "no_copies_inside_the_device_on_inference_products", || {
        let stream = device(0);
        let (a, b) = (device_memory(64, 1), device_memory(64, 2));
        let code = later((a, 8), (b, 8), 8, 8, D2D, stream);
        refused(code, ACL_ERROR_INVALID_PARAM, "aclrtMemcpy2dAsync#13, #15");
        let code = later((a, 8), (b, 8), 8, 8, DEFAULT, stream);
        refused(code, ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy2dAsync#15");
    });
}

/// aclrtMemcpy2d#09, aclrtMemcpy2dAsync#09
#[test]
fn no_rows_in_the_rc_form() {
    on(&[("TOPROPE_PRODUCT", "200i-500-a2"), ("TOPROPE_FORM", "rc")], "no_rows_in_the_rc_form", || {
        let stream = device(0);
        let (a, b) = (device_memory(64, 1), pinned_memory(64, 2));
        let code = now((a, 8), (b, 8), 8, 8, H2D);
        refused(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpy2d#09");
        let code = later((a, 8), (b, 8), 8, 8, H2D, stream);
        refused(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpy2dAsync#09");
    });
}
