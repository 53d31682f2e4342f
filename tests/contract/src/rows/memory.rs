//! Chapter 11-01: device memory.

use super::prelude::*;

/// An allocation function, called as if all took the same arguments.
type Allocate = fn(*mut *mut c_void, usize, u32) -> i32;

const NORMAL: u32 = ACL_MEM_MALLOC_NORMAL_ONLY;
const HUGE_ONLY: u32 = ACL_MEM_MALLOC_HUGE_ONLY;
/// No policy.
const OUTSIDE: u32 = 0x0dea_d000;

fn malloc(to: *mut *mut c_void, size: usize, policy: u32) -> i32 {
    acl!(aclrtMalloc(to, size, policy))
}

fn align32(to: *mut *mut c_void, size: usize, policy: u32) -> i32 {
    acl!(aclrtMallocAlign32(to, size, policy))
}

fn cached(to: *mut *mut c_void, size: usize, policy: u32) -> i32 {
    acl!(aclrtMallocCached(to, size, policy))
}

fn with_cfg(to: *mut *mut c_void, size: usize, policy: u32) -> i32 {
    acl!(aclrtMallocWithCfg(to, size, policy, null_mut()))
}

fn scheduler(to: *mut *mut c_void, size: usize, policy: u32) -> i32 {
    acl!(aclrtMallocForTaskScheduler(to, size, policy, null_mut()))
}

fn overload(to: *mut *mut c_void, size: usize, policy: u32) -> i32 {
    unsafe { cpp_malloc_policy(to, size, policy, null_mut()) }
}

/// The overload without a policy.
fn by_size(to: *mut *mut c_void, size: usize, _: u32) -> i32 {
    unsafe { cpp_malloc(to, size) }
}

/// An allocation that must succeed.
#[track_caller]
fn get(allocate: Allocate, size: usize, policy: u32) -> *mut c_void {
    let mut at = null_mut();
    same(&format!("{size} bytes, policy {policy:#x}"), allocate(&mut at, size, policy), 0);
    assert!(!at.is_null());
    at
}

#[track_caller]
fn free(at: *mut c_void) {
    ok!(aclrtFree(at));
}

/// The answer to a size; nothing is given.
fn refusal(allocate: Allocate, size: usize) -> i32 {
    let mut at = null_mut();
    let code = allocate(&mut at, size, NORMAL);
    assert!(at.is_null(), "a refused call gives an address");
    code
}

/// Bytes that aclrtMalloc adds behind a size, as products.csv says.
fn padding(t: &Test<'_>) -> usize {
    if t.target.product.get("malloc_padding").starts_with("align32+32") { 32 } else { 0 }
}

/// Whether a block of this policy and size is on huge pages.
#[track_caller]
fn huge(allocate: Allocate, size: usize, policy: u32) -> bool {
    let (at, taken) = taken(|| get(allocate, size, policy));
    let huge = is_huge(at, taken);
    free(at);
    huge
}

/// Pages by size alone.
#[track_caller]
fn pages_by_size(allocate: Allocate, policy: u32) {
    for (size, wanted) in [(1, false), (HUGE - 8192, false), (HUGE + 1, true), (5 * HUGE + 1, true)] {
        assert_eq!(huge(allocate, size, policy), wanted, "{size} bytes, policy {policy:#x}");
    }
    if has("aclrtPointerGetAttributes") {
        for (size, page) in [(HUGE - 1, 4096), (HUGE, HUGE)] {
            let at = get(allocate, size, policy);
            assert_eq!(attributes(at).2, page, "{size} bytes");
            free(at);
        }
    }
}

/// More than there is, and more than is left.
fn exhaust(allocate: Allocate) -> [i32; 2] {
    let (left, total) = info(ACL_MEM_NORMAL);
    let all = refusal(allocate, total + 1);
    let most = get(allocate, left - (HUGE << 1), NORMAL);
    let rest = refusal(allocate, HUGE << 2);
    free(most);
    free(get(allocate, HUGE << 2, NORMAL));
    [all, rest]
}

fn aligned(allocate: Allocate) {
    for size in [1, 31, 32, 33, 64, 100, 4097, (1 << 20) + 3] {
        for policy in [ACL_MEM_MALLOC_HUGE_FIRST, HUGE_ONLY, NORMAL] {
            let blocks = [(); 3].map(|()| get(allocate, size, policy));
            for at in blocks {
                assert_eq!(at as usize % 64, 0, "{size} bytes");
                free(at);
            }
        }
    }
}

/// The sizes of blocks: rounded up to 32, and `more`.
#[track_caller]
fn sized(allocate: Allocate, more: usize) {
    for size in [1usize, 32, 33, 64, 100, 4096, 5000] {
        for policy in [ACL_MEM_MALLOC_HUGE_FIRST, HUGE_ONLY, NORMAL, OUTSIDE] {
            let at = get(allocate, size, policy);
            assert_usable(at, size.next_multiple_of(32) + more);
            free(at);
        }
    }
}

/// A smaller and unaligned part of a block works as well.
fn sub_block(allocate: Allocate) -> i32 {
    let at = get(allocate, 256, NORMAL);
    let code = acl!(aclrtMemset(offset(at, 33), 7, 1, 7));
    let mut seen = [0u8; 8];
    ok!(aclrtMemcpy(seen.as_mut_ptr().cast(), 8, offset(at, 33), 7, ACL_MEMCPY_DEVICE_TO_HOST));
    assert_eq!(seen, [1, 1, 1, 1, 1, 1, 1, 0]);
    free(at);
    code
}

fn offset(start: *mut c_void, bytes: usize) -> *mut c_void {
    at(start as usize + bytes)
}

/// What nobody has written may be read all the same.
fn readable(allocate: Allocate) {
    let at = get(allocate, 4096, NORMAL);
    let mut bytes = vec![0u8; 4096];
    ok!(aclrtMemcpy(bytes.as_mut_ptr().cast(), 4096, at, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    free(at);
}

fn while_busy(allocate: Allocate) {
    let stream = Stream::new();
    free(at_once(stream.h(), || get(allocate, 4096, NORMAL)));
}

/// The rows 01 to 06, which the allocation functions have alike.
macro_rules! common {
    ($r:expr, $name:ident, $call:expr) => {{
        let r: &mut Rows = $r;
        let call: Allocate = $call;
        r.row(concat!(stringify!($name), "#01"), move |_| call(null_mut(), 64, NORMAL));
        r.row(concat!(stringify!($name), "#02"), move |_| refusal(call, 0));
        r.decided(concat!(stringify!($name), "#03"), move |_| refusal(call, 0));
        r.row(concat!(stringify!($name), "#04"), move |_| refusal(call, 64)).bare();
        r.row(concat!(stringify!($name), "#05"), move |_| exhaust(call));
        r.row(concat!(stringify!($name), "#06"), move |_| pages_by_size(call, OUTSIDE));
    }};
}

/// The rows of aclrtMalloc and aclrtMallocAlign32 on policies.
macro_rules! policies {
    ($r:expr, $call:expr, $single:literal, $bandwidth:literal, $peer:literal, $or:literal) => {{
        let r: &mut Rows = $r;
        let call: Allocate = $call;
        r.decided($single, move |_| combined(call));
        r.row($bandwidth, move |_| bandwidth(call));
        r.decided($peer, move |t| peers(t, call));
        r.row($or, move |_| combined(call));
    }};
}

/// A combination counts as no policy at all.
fn combined(allocate: Allocate) {
    for policy in [
        HUGE_ONLY | ACL_MEM_TYPE_LOW_BAND_WIDTH,
        NORMAL | ACL_MEM_TYPE_HIGH_BAND_WIDTH,
        ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH,
    ] {
        pages_by_size(allocate, policy);
    }
}

/// Base and bandwidth together: the base counts.
fn bandwidth(allocate: Allocate) {
    for width in [ACL_MEM_TYPE_LOW_BAND_WIDTH, ACL_MEM_TYPE_HIGH_BAND_WIDTH] {
        assert!(huge(allocate, 1, HUGE_ONLY | width));
        assert!(!huge(allocate, 5 * HUGE + 1, NORMAL | width));
        assert!(!huge(allocate, 1, ACL_MEM_MALLOC_HUGE_FIRST | width));
        assert!(huge(allocate, 5 * HUGE + 1, ACL_MEM_MALLOC_HUGE_FIRST | width));
    }
}

/// P2P policies, where devices reach each other.
fn peers(t: &Test<'_>, allocate: Allocate) {
    for policy in
        [ACL_MEM_MALLOC_HUGE_FIRST_P2P, ACL_MEM_MALLOC_HUGE_ONLY_P2P, ACL_MEM_MALLOC_NORMAL_ONLY_P2P]
    {
        if t.supports("aclrtDeviceEnablePeerAccess") {
            let wanted = policy != ACL_MEM_MALLOC_NORMAL_ONLY_P2P;
            assert_eq!(huge(allocate, HUGE + 1, policy), wanted);
        } else {
            let mut at = null_mut();
            same("a P2P policy", allocate(&mut at, 64, policy), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        }
    }
}

pub fn rows(r: &mut Rows) {
    common!(r, aclrtMalloc, malloc);
    common!(r, aclrtMallocAlign32, align32);
    common!(r, aclrtMallocCached, cached);
    common!(r, aclrtMallocWithCfg, with_cfg);
    common!(r, aclrtMallocForTaskScheduler, scheduler);
    plain(r);
    others(r);
    configured(r);
    caches(r);
    freed(r);
    told(r);
    overloads(r);
}

/// Sizes that wrap when they are rounded.
fn wraps(allocate: Allocate) -> [i32; 2] {
    [usize::MAX, usize::MAX - 5].map(|size| refusal(allocate, size))
}

fn plain(r: &mut Rows) {
    r.row("aclrtMalloc#07", |_| wraps(malloc));
    r.row("aclrtMallocAlign32#07", |_| wraps(align32));
    r.row("aclrtMallocCached#07", |_| wraps(cached));
    r.row("aclrtMalloc#08", |_| aligned(malloc));
    r.row("aclrtMalloc#09", |_| sized(malloc, 32));
    r.row("aclrtMalloc#10", |_| sized(malloc, 0));
    r.row("aclrtMalloc#11", |t| {
        if !t.has("page_1g") {
            let mut at = null_mut();
            let code = malloc(&mut at, 64, ACL_MEM_MALLOC_HUGE1G_ONLY);
            return same("1 GiB pages", code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        }
        for policy in [ACL_MEM_MALLOC_HUGE1G_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P] {
            let (at, taken) = taken(|| get(malloc, 100, policy));
            assert_eq!((attributes(at).2, taken), (1 << 30, 1 << 30));
            assert_usable(at, 128);
            free(at);
        }
    });
    r.row("aclrtMalloc#12", |t| sized(malloc, padding(t)));
    r.decided("aclrtMalloc#13", |_| sub_block(malloc));
    r.decided("aclrtMalloc#14", |_| sub_block(malloc));
    r.row("aclrtMallocAlign32#08", |_| sized(align32, 0));
    r.row("aclrtMallocAlign32#09", |_| {
        for size in [1, 33, HUGE, HUGE + 1] {
            for policy in [ACL_MEM_MALLOC_HUGE_FIRST, HUGE_ONLY, NORMAL, OUTSIDE] {
                let facts = [malloc as Allocate, align32].map(|allocate| {
                    let (at, taken) = taken(|| get(allocate, size, policy));
                    assert_usable(at, size.next_multiple_of(32));
                    let page = attributes(at).2;
                    free(at);
                    (taken, page)
                });
                assert_eq!(facts[0], facts[1]);
            }
        }
    });
    r.decided("aclrtMallocAlign32#10", |_| sub_block(align32));
    r.row("aclrtMalloc#15", |_| readable(malloc));
    r.row("aclrtMallocAlign32#11", |_| readable(align32));
    r.row("aclrtMalloc#16", |_| while_busy(malloc));
    r.row("aclrtMallocAlign32#12", |_| while_busy(align32));
    policies!(r, malloc, "aclrtMalloc#17", "aclrtMalloc#18", "aclrtMalloc#19", "aclrtMalloc#20");
    policies!(
        r,
        align32,
        "aclrtMallocAlign32#13",
        "aclrtMallocAlign32#14",
        "aclrtMallocAlign32#15",
        "aclrtMallocAlign32#16"
    );
}

/// Policies that aclrtMallocCached does not know.
fn uncached() {
    for policy in [
        ACL_MEM_MALLOC_HUGE_FIRST_P2P,
        ACL_MEM_MALLOC_HUGE_ONLY_P2P,
        ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
        ACL_MEM_MALLOC_HUGE1G_ONLY_P2P,
        ACL_MEM_TYPE_LOW_BAND_WIDTH,
        HUGE_ONLY | ACL_MEM_TYPE_LOW_BAND_WIDTH,
    ] {
        pages_by_size(cached, policy);
    }
}

fn others(r: &mut Rows) {
    r.decided("aclrtMallocCached#08", |_| uncached());
    r.row("aclrtMallocCached#09", |_| uncached());
    r.row("aclrtMallocCached#10", |t| {
        sized(cached, padding(t));
        aligned(cached);
        let at = get(cached, 64, NORMAL);
        assert_eq!(attributes(at).0, ACL_MEM_LOCATION_TYPE_DEVICE);
        free(at);
    });
    r.row("aclrtMallocWithCfg#07", |_| no_attributes(call_with_cfg));
    r.row("aclrtMallocForTaskScheduler#07", |_| no_attributes(call_scheduler));
    r.row("aclrtMallocWithCfg#12", |_| aligned(with_cfg));
    r.row("aclrtMallocWithCfg#13", |_| {
        let groups = [0, ACL_MEM_TYPE_LOW_BAND_WIDTH, ACL_MEM_TYPE_HIGH_BAND_WIDTH];
        for policy in groups.map(|width| [width, width | ACL_MEM_ACCESS_USER_SPACE_READONLY]).concat() {
            bandwidth_base(policy);
        }
    });
    r.row("aclrtMallocWithCfg#14", |_| sized(with_cfg, 0));
}

/// The base policy counts, whatever else is asked for.
fn bandwidth_base(more: u32) {
    assert!(huge(with_cfg, 1, HUGE_ONLY | more));
    assert!(!huge(with_cfg, 5 * HUGE + 1, NORMAL | more));
    assert!(!huge(with_cfg, 1, ACL_MEM_MALLOC_HUGE_FIRST | more));
}

/// A function with a configuration.
type Configured = fn(*mut *mut c_void, *mut aclrtMallocConfig) -> i32;

fn call_with_cfg(to: *mut *mut c_void, cfg: *mut aclrtMallocConfig) -> i32 {
    acl!(aclrtMallocWithCfg(to, 64, NORMAL, cfg))
}

fn call_scheduler(to: *mut *mut c_void, cfg: *mut aclrtMallocConfig) -> i32 {
    acl!(aclrtMallocForTaskScheduler(to, 64, NORMAL, cfg))
}

/// The answer to these attributes; what is given is freed.
fn attribute(call: Configured, kind: u32, value: u32) -> i32 {
    let value = aclrtMallocAttrValue { deviceId: value };
    let mut attrs = [aclrtMallocAttribute { attr: kind, value }];
    let mut at = null_mut();
    let code = call(&mut at, &mut aclrtMallocConfig { attrs: attrs.as_mut_ptr(), numAttrs: 1 });
    if code == 0 {
        free(at);
    }
    code
}

fn no_attributes(call: Configured) {
    let mut none = aclrtMallocConfig { attrs: null_mut(), numAttrs: 0 };
    for cfg in [null_mut(), &raw mut none] {
        let mut at = null_mut();
        same("no attributes", call(&mut at, cfg), 0);
        assert_usable(at, 64);
        free(at);
    }
}

fn configured(r: &mut Rows) {
    let missing =
        |call: Configured| call(&mut null_mut(), &mut aclrtMallocConfig { attrs: null_mut(), numAttrs: 1 });
    r.row("aclrtMallocWithCfg#08", move |_| missing(call_with_cfg));
    r.row("aclrtMallocForTaskScheduler#08", move |_| missing(call_scheduler));
    let unknown = |call: Configured| [0, 4, u32::MAX].map(|kind| attribute(call, kind, 0));
    r.row("aclrtMallocWithCfg#09", move |_| unknown(call_with_cfg));
    r.row("aclrtMallocForTaskScheduler#09", move |_| unknown(call_scheduler));
    let elsewhere = |call: Configured| {
        same("its own device", attribute(call, ACL_RT_MEM_ATTR_DEVICE_ID, 0), 0);
        [1, 99].map(|device| attribute(call, ACL_RT_MEM_ATTR_DEVICE_ID, device))
    };
    r.row("aclrtMallocWithCfg#10", move |_| elsewhere(call_with_cfg));
    r.row("aclrtMallocForTaskScheduler#10", move |_| elsewhere(call_scheduler));
    r.decided("aclrtMallocWithCfg#11", move |_| elsewhere(call_with_cfg));
    r.decided("aclrtMallocForTaskScheduler#11", move |_| elsewhere(call_scheduler));
}

fn caches(r: &mut Rows) {
    r.row("aclrtMemFlush#01", |_| acl!(aclrtMemFlush(null_mut(), 64)));
    r.row("aclrtMemFlush#02", |_| acl!(aclrtMemFlush(device(64).p(), 0)));
    r.decided("aclrtMemFlush#03", |_| acl!(aclrtMemFlush(device(64).p(), 0)));
    r.row("aclrtMemFlush#04", |_| {
        let memory = device_with(&pattern(64, 1));
        ok!(aclrtMemFlush(memory.p(), 64));
        assert_eq!(memory.get(), pattern(64, 1));
    });
    r.row("aclrtMemInvalidate#01", |_| acl!(aclrtMemInvalidate(null_mut(), 64)));
    r.row("aclrtMemInvalidate#02", |_| acl!(aclrtMemInvalidate(device(64).p(), 0)));
    r.decided("aclrtMemInvalidate#03", |_| acl!(aclrtMemInvalidate(device(64).p(), 0)));
    r.row("aclrtMemInvalidate#04", |_| {
        let memory = device_with(&pattern(64, 1));
        ok!(aclrtMemInvalidate(memory.p(), 64));
        assert_eq!(memory.get(), pattern(64, 1));
    });
}

fn freed(r: &mut Rows) {
    r.row("aclrtFree#01", |_| acl!(aclrtFree(null_mut())));
    r.decided("aclrtFree#02", |_| acl!(aclrtFree(null_mut())));
    r.row("aclrtFree#03", |_| {
        let stream = Stream::new();
        let memory = device(64);
        at_once(stream.h(), || {
            if has("aclrtMemsetAsync") {
                ok!(aclrtMemsetAsync(memory.p(), 64, 1, 64, stream.h()));
            }
            free(memory.p());
        });
    });
    r.decided("aclrtFree#04", |t| {
        let (memory, gone, host) = (device(4096), device(64), pageable(64));
        free(gone.p());
        let mut codes = vec![
            acl!(aclrtFree(gone.p())),
            acl!(aclrtFree(memory.after(64))),
            acl!(aclrtFree(host.p())),
            acl!(aclrtFree(unmapped())),
            acl!(aclrtFree(current())),
        ];
        if has("aclrtMallocHost") {
            let mut pinned = null_mut();
            ok!(aclrtMallocHost(&mut pinned, 64));
            codes.push(acl!(aclrtFree(pinned)));
            ok!(aclrtFreeHost(pinned));
        }
        // Nothing was lost.
        assert_usable(memory.p(), 4096 + padding(t));
        codes
    });
    r.row("aclrtFree#05", |_| {
        let (memory, mut byte) = (device(64), 0u8);
        free(memory.p());
        let to = (&raw mut byte).cast();
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(to, 1, memory.p(), 1, ACL_MEMCPY_DEVICE_TO_HOST));
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory.p(), 64, 0, 64));
    });
    r.row("aclrtFreeWithDevSync#01", |_| acl!(aclrtFreeWithDevSync(null_mut())));
    r.row("aclrtFreeWithDevSync#02", |_| {
        let (stream, memory, other) = (Stream::new(), device_with(&pattern(64, 1)), pinned(64));
        let copy = || {
            let (to, from) = (other.p(), memory.p());
            ok!(aclrtMemcpyAsync(to, 64, from, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream.h()));
        };
        awaits(stream.h(), copy, || ok!(aclrtFreeWithDevSync(memory.p())));
        assert_eq!(other.get(), pattern(64, 1));
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory.p()));
    });
}

/// One entry of aclrtGetMemUsageInfo.
fn no_usage() -> aclrtMemUsageInfo {
    aclrtMemUsageInfo { name: [0; 32], curMemSize: 0, memPeakSize: 0, reserved: [0; 8] }
}

/// Use by module, at most `most` entries.
fn usage(most: usize) -> Vec<aclrtMemUsageInfo> {
    let mut entries = vec![no_usage(); most];
    let mut number = usize::MAX;
    ok!(aclrtGetMemUsageInfo(0, entries.as_mut_ptr(), most, &mut number));
    assert!(number <= most);
    entries.truncate(number);
    entries
}

fn told(r: &mut Rows) {
    r.row("aclrtGetMemInfo#01", |_| acl!(aclrtGetMemInfo(ACL_DDR_MEM, null_mut(), &mut 0)));
    r.row("aclrtGetMemInfo#02", |_| acl!(aclrtGetMemInfo(ACL_DDR_MEM, &mut 0, null_mut())));
    r.row("aclrtGetMemInfo#03", |_| {
        info(ACL_MEM_P2P_HUGE1G);
        [ACL_MEM_P2P_HUGE1G + 1, u32::MAX].map(|attr| acl!(aclrtGetMemInfo(attr, &mut 0, &mut 0)))
    });
    r.row("aclrtGetMemInfo#04", |_| acl!(aclrtGetMemInfo(ACL_HBM_MEM, &mut 0, &mut 0))).bare();
    r.row("aclrtGetMemInfo#05", |t| {
        let ddr = [ACL_DDR_MEM, ACL_DDR_MEM_HUGE, ACL_DDR_MEM_NORMAL];
        for attr in ddr {
            assert_eq!(info(attr) == (0, 0), t.has("hbm"), "attribute {attr}");
        }
        for attr in [ACL_HBM_MEM_HUGE1G, ACL_MEM_HUGE1G] {
            assert_eq!(info(attr) != (0, 0), t.has("page_1g"), "attribute {attr}");
        }
        for attr in [ACL_HBM_MEM_P2P_HUGE, ACL_HBM_MEM_P2P_NORMAL, ACL_MEM_P2P_HUGE, ACL_MEM_P2P_NORMAL] {
            let peers = t.supports("aclrtDeviceEnablePeerAccess");
            assert_eq!(info(attr) != (0, 0), peers, "attribute {attr}");
        }
    });
    r.row("aclrtGetMemInfo#06", |_| {
        for (hbm, ddr) in [
            (ACL_HBM_MEM, ACL_DDR_MEM),
            (ACL_HBM_MEM_HUGE, ACL_DDR_MEM_HUGE),
            (ACL_HBM_MEM_NORMAL, ACL_DDR_MEM_NORMAL),
        ] {
            assert_ne!(info(ddr), (0, 0));
            assert_eq!(info(hbm), info(ddr));
        }
    })
    .only(|target| !target.product.has("hbm"));
    r.row("aclrtGetMemInfo#07", |t| {
        let (left, total) = info(ACL_HBM_MEM);
        assert!(left <= total && total as u64 <= t.number("device_memory_bytes"), "{left} of {total}");
        // What is said to be free can be had.
        free(get(align32, left - HUGE, NORMAL));
        let (memory, bytes) = taken(|| device(3 * 4096 - 100));
        assert_eq!(bytes, 3 * 4096);
        drop(memory);
        assert_eq!(info(ACL_HBM_MEM), (left, total));
    });
    r.row("aclrtGetMemUsageInfo#01", |_| acl!(aclrtGetMemUsageInfo(0, null_mut(), 1, &mut 0)));
    r.row("aclrtGetMemUsageInfo#02", |_| acl!(aclrtGetMemUsageInfo(0, &mut no_usage(), 1, null_mut())));
    r.row("aclrtGetMemUsageInfo#03", |_| acl!(aclrtGetMemUsageInfo(0, &mut no_usage(), 0, &mut 0)));
    r.row("aclrtGetMemUsageInfo#04", |_| {
        [4, -1].map(|device| acl!(aclrtGetMemUsageInfo(device, &mut no_usage(), 1, &mut 0)))
    });
    r.row("aclrtGetMemUsageInfo#05", |_| {
        let module = |id: u16, size: usize| {
            let value = aclrtMallocAttrValue { deviceId: id.into() };
            let mut attrs = [aclrtMallocAttribute { attr: ACL_RT_MEM_ATTR_MODULE_ID, value }];
            let mut cfg = aclrtMallocConfig { attrs: attrs.as_mut_ptr(), numAttrs: 1 };
            let mut at = null_mut();
            ok!(aclrtMallocWithCfg(&mut at, size, HUGE_ONLY, &mut cfg));
            at
        };
        let blocks = [(7, 2), (9, 8), (8, 4)].map(|(id, pages)| module(id, pages * HUGE));
        let entries = usage(16);
        let sizes: Vec<u64> = entries.iter().map(|entry| entry.curMemSize).collect();
        assert!(sizes.is_sorted_by(|one, other| one >= other), "{sizes:?}");
        assert_eq!(sizes[..3], [8, 4, 2].map(|pages| pages * HUGE as u64));
        assert!(sizes.len() < 16, "fewer than asked for");
        assert!(entries.iter().all(|entry| entry.memPeakSize >= entry.curMemSize && entry.name[0] != 0));
        assert_eq!(usage(1)[0].curMemSize, 8 * HUGE as u64);
        blocks.into_iter().for_each(free);
    });
    check_type(r);
}

/// The answer to a type, for a list of addresses.
fn is_type(addresses: &[*mut c_void], types: u32) -> u32 {
    let mut list = addresses.to_vec();
    let mut result = 77;
    ok!(aclrtCheckMemType(list.as_mut_ptr(), list.len() as u32, types, &mut result, 0));
    result
}

fn check_type(r: &mut Rows) {
    const DEV: u32 = ACL_RT_MEM_TYPE_DEV;
    let ask = |types: u32, size: u32, reserve: u32| {
        let memory = device(64);
        let mut result = 77;
        let code = acl!(aclrtCheckMemType(&mut memory.p(), size, types, &mut result, reserve));
        assert_eq!(result, u32::from(code == 0), "cleared before anything else is looked at");
        code
    };
    r.row("aclrtCheckMemType#01", |_| acl!(aclrtCheckMemType(null_mut(), 1, DEV, &mut 0, 0)));
    r.row("aclrtCheckMemType#02", |_| acl!(aclrtCheckMemType(&mut null_mut(), 1, DEV, null_mut(), 0)));
    r.row("aclrtCheckMemType#03", move |_| ask(DEV, 0, 0));
    r.row("aclrtCheckMemType#04", move |_| [1, u32::MAX].map(|reserve| ask(DEV, 1, reserve)));
    r.decided("aclrtCheckMemType#05", move |_| {
        [DEV, DEV | ACL_RT_MEM_TYPE_DVPP, DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD]
            .map(|types| ask(types, 1, 0))
    });
    r.decided("aclrtCheckMemType#06", move |_| {
        [0, 1, 4, 0x20, 0x40, DEV | 0x100].map(|types| ask(types, 1, 0))
    });
    r.decided("aclrtCheckMemType#07", |_| {
        assert_eq!(is_type(&[device(64).p()], ACL_RT_MEM_TYPE_RSVD), 0);
    });
    r.row("aclrtCheckMemType#08", |_| {
        let (one, other, host) = (device(64), device(64), pageable(64));
        assert_eq!(is_type(&[one.p()], DEV), 1);
        assert_eq!(is_type(&[one.p(), other.after(63)], DEV), 1);
        assert_eq!(is_type(&[one.p(), host.p()], DEV), 0);
        assert_eq!(is_type(&[null_mut()], DEV), 0);
        let mut result = 77;
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtCheckMemType(&mut one.p(), 1, 0, &mut result, 0));
        assert_eq!(result, 0);
    });
    r.row("aclrtCheckMemType#09", |_| {
        assert_eq!(is_type(&[device(64).p()], ACL_RT_MEM_TYPE_DVPP), 1);
    });
}

fn overloads(r: &mut Rows) {
    r.row("aclrtMalloc<cpp>#01", |_| {
        for allocate in [overload as Allocate, by_size] {
            same("no bytes", refusal(allocate, 0), ACL_ERROR_INVALID_PARAM);
            calls("aclrtMallocWithCfg");
        }
        sized(overload, 0);
    });
    r.row("aclrtMalloc<cpp>#02", |_| header_only("aclrtMalloc"));
    r.row("aclrtMalloc<cpp>#03", |_| [refusal(by_size, 0), refusal(overload, 0)]);
    r.row("aclrtMalloc<cpp>#04", |_| {
        aligned(overload);
        aligned(by_size);
    });
    r.row("aclrtMalloc<cpp>#05", |_| {
        // HUGE_FIRST: normal pages up to 1 MiB, huge ones above.
        assert!(!huge(by_size, 1 << 20, 0));
        assert!(huge(by_size, (1 << 20) + 1, 0));
    });
    r.row("aclrtMalloc<cpp>#06", |_| pages_by_size(overload, OUTSIDE));
    r.decided("aclrtMalloc<cpp>#07", |_| {
        let at = get(overload, 64, NORMAL);
        assert_usable(at, 64);
        free(at);
    });
    r.row("aclrtMalloc<cpp>#08", |_| {
        free(get(overload, 64, NORMAL));
        if has("aclrtFreeWithDevSync") {
            ok!(aclrtFreeWithDevSync(get(overload, 64, NORMAL)));
        }
    });
}
