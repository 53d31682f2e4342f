//! Asynchronous copies where product, form or generation differ from the default. Each test is a process of its own.

#[macro_use]
mod copy_support;

use std::ptr::null_mut;

use ascendcl::copy::*;
use copy_support::*;

const H2H: u32 = ACL_MEMCPY_HOST_TO_HOST;
const H2D: u32 = ACL_MEMCPY_HOST_TO_DEVICE;
const D2H: u32 = ACL_MEMCPY_DEVICE_TO_HOST;
const D2D: u32 = ACL_MEMCPY_DEVICE_TO_DEVICE;
const DEFAULT: u32 = ACL_MEMCPY_DEFAULT;
const BUFFERED: u32 = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
const UNSUPPORTED: i32 = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

fn memcpy_async(dst: Ptr, src: Ptr, kind: u32, stream: aclrtStream) -> i32 {
    acl! { aclrtMemcpyAsync(dst, 64, src, 64, kind, stream) }
}

/// 64-byte aligned memory that the runtime does not know.
fn pageable(byte: u8) -> Ptr {
    #[repr(align(64))]
    struct Line([u8; 64]);
    let line: &'static mut Line = Box::leak(Box::new(Line([byte; 64])));
    line.0.as_mut_ptr().cast()
}

/// aclrtMemcpyAsync#24, #25: no such rule for the calls that the old pages do not describe.
fn only_aligned_addresses(stream: aclrtStream) {
    let (a, p) = (device_memory(192, 1), pinned_memory(192, 2));
    for offset in [1, 8, 32, 63] {
        for (dst, src) in [(at(a, offset), p), (a, at(p, offset))] {
            refused(
                memcpy_async(dst, src, H2D, stream),
                ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemcpyAsync#24, #25",
            );
        }
    }
    assert_eq!(get(a, 192), [1; 192]);
    assert_eq!(acl! { aclrtMemcpyAsyncWithCondition(at(a, 1), 64, p, 64, H2D, stream) }, 0);
    finish(stream);
    assert_eq!(get(a, 3), [1, 2, 2]);
}

/// aclrtMemcpyAsync#27, #33, #37: pageable memory is accepted, and touched when the task executes.
fn pageable_memory_is_touched_at_execution(stream: aclrtStream) {
    let (a, u, v) = (device_memory(64, 1), pageable(2), pageable(3));
    let gate = Gate::shut(stream);
    assert_eq!(memcpy_async(a, u, H2D, stream), 0, "{}", said());
    assert_eq!(memcpy_async(v, a, D2H, stream), 0, "{}", said());
    put(u, &[4; 64]);
    assert_eq!((get(a, 64), get(v, 64)), (vec![1; 64], vec![3; 64]));
    gate.open();
    finish(stream);
    assert_eq!((get(a, 64), get(v, 64)), (vec![4; 64], vec![4; 64]));
    // aclrtMemcpyAsync#19
    let gate = Gate::shut(stream);
    assert_eq!(memcpy_async(a, u, BUFFERED, stream), 0, "{}", said());
    put(u, &[5; 64]);
    assert_eq!(get(a, 64), [4; 64]);
    gate.open();
    finish(stream);
    assert_eq!(get(a, 64), [4; 64]);
    // aclrtMemcpyAsyncWithCondition#08: asked to look, the runtime copies before it returns.
    let code = acl! { aclrtMemcpyAsyncWithCondition(v, 64, a, 64, D2H, stream) };
    assert_eq!((code, get(v, 64)), (0, vec![4; 64]));
    // Memory that is not there shows at the synchronize.
    assert_eq!(memcpy_async(a, 0x1000 as Ptr, H2D, stream), 0, "{}", said());
    assert_eq!(failure(stream), ACL_ERROR_RT_SYS_DMA);
}

#[test]
fn generation_8() {
    on(&[("TOPROPE_CANN", "8")], "generation_8", || {
        let stream = device(0);
        only_aligned_addresses(stream);
        pageable_memory_is_touched_at_execution(stream);
        let (p, q) = (pinned_memory(64, 1), pinned_memory(64, 2));
        // aclrtMemcpyAsync#29, and by address
        for kind in [H2H, H2D, D2H, D2D, DEFAULT] {
            refused(memcpy_async(p, q, kind, stream), UNSUPPORTED, "aclrtMemcpyAsync#28, #29, #35");
        }
        refused(
            memcpy_async(device_memory(64, 1), q, H2H, stream),
            UNSUPPORTED,
            "aclrtMemcpyAsync#28, #29, #35",
        );
        assert_eq!(failure(stream), 0);
    });
}

#[test]
fn generation_8_inference() {
    let target = [("TOPROPE_CANN", "8"), ("TOPROPE_PRODUCT", "inference")];
    on(&target, "generation_8_inference", || {
        let stream = device(0);
        only_aligned_addresses(stream);
        pageable_memory_is_touched_at_execution(stream);
        // aclrtMemcpyAsync#28
        let (p, q) = (pinned_memory(64, 1), pinned_memory(64, 2));
        refused(memcpy_async(p, q, H2H, stream), UNSUPPORTED, "aclrtMemcpyAsync#28, #29, #35");
    });
}

/// aclrtMemcpyAsync#32, #34
#[test]
fn generation_5() {
    for (product, name) in [("training", "generation_5"), ("200-300-500", "generation_5")] {
        on(&[("TOPROPE_CANN", "5"), ("TOPROPE_PRODUCT", product)], name, || {
            let stream = device(0);
            only_aligned_addresses(stream);
            pageable_memory_is_touched_at_execution(stream);
            let (a, p, q) = (device_memory(64, 3), pinned_memory(64, 1), pinned_memory(64, 2));
            for (dst, src, kind) in [(p, q, H2H), (a, q, H2H), (p, q, D2D), (p, pageable(4), DEFAULT)] {
                let before = get(dst, 64);
                assert_eq!(memcpy_async(dst, src, kind, stream), 0, "{}", said());
                assert_eq!(failure(stream), UNSUPPORTED);
                assert_eq!(get(dst, 64), before);
            }
        });
    }
}

/// aclrtMemcpyAsync#09, #31, #36: every kind is a copy inside the one memory.
#[test]
fn rc_form() {
    for target in [("200i-500-a2", "9"), ("200i-500-a2", "8"), ("200-300-500", "8")] {
        let target = [("TOPROPE_PRODUCT", target.0), ("TOPROPE_CANN", target.1), ("TOPROPE_FORM", "rc")];
        on(&target, "rc_form", || {
            let stream = device(0);
            let places = [device_memory, pinned_memory, |_, byte| pageable(byte)];
            for (n, from) in places.iter().enumerate() {
                for (m, to) in places.iter().enumerate() {
                    for kind in [H2H, H2D, D2H, D2D, DEFAULT] {
                        let (dst, src) = (to(64, 1), from(64, 2));
                        let gate = Gate::shut(stream);
                        assert_eq!(memcpy_async(dst, src, kind, stream), 0, "{n} to {m}: {}", said());
                        assert_eq!(get(dst, 64), [1; 64]);
                        put(src, &[3; 64]);
                        gate.open();
                        finish(stream);
                        assert_eq!(get(dst, 64), [3; 64], "{n} to {m}, kind {kind}");
                    }
                }
            }
            assert_eq!(failure(stream), 0);
            // aclrtMemcpyAsync#06
            let a = device_memory(64, 1);
            assert_eq!(memcpy_async(a, a, H2H, null_mut()), 0);
        });
    }
}

/// aclrtMemcpyAsync#32 states no form: the kind fails late in the RC form too; the other kinds are as in generation 8.
#[test]
fn rc_form_of_generation_5() {
    let target = [("TOPROPE_PRODUCT", "200-300-500"), ("TOPROPE_CANN", "5"), ("TOPROPE_FORM", "rc")];
    on(&target, "rc_form_of_generation_5", || {
        let stream = device(0);
        let (p, q) = (device_memory(64, 1), device_memory(64, 2));
        assert_eq!(memcpy_async(p, q, H2H, stream), 0, "{}", said());
        assert_eq!((failure(stream), get(p, 64)), (UNSUPPORTED, vec![1; 64]));
        assert_eq!(memcpy_async(p, q, H2D, stream), 0, "{}", said());
        assert_eq!((failure(stream), get(p, 64)), (0, vec![2; 64]));
    });
}

/// aclrtMemcpyAsyncWithCondition#09 and its place among unsupported functions.
#[test]
fn ipv350_has_the_conditional_copy_only() {
    on(&[("TOPROPE_PRODUCT", "ipv350")], "ipv350_has_the_conditional_copy_only", || {
        let (a, b) = (0x10_0000 as Ptr, 0x20_0000 as Ptr);
        refused(memcpy_async(a, b, D2D, null_mut()), UNSUPPORTED, "*#06");
        // *#05: no default stream; the thread has no context at all here.
        let code = acl! { aclrtMemcpyAsyncWithCondition(a, 64, b, 64, D2D, 0x55 as aclrtStream) };
        refused(code, ACL_ERROR_RT_INVALID_HANDLE, "*#01");
    });
}
