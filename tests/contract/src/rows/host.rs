//! Chapter 11-02: host memory and its registration.

use super::prelude::*;
use crate::target::Target;

const PAGE: usize = 4096;
const MAPPED: u32 = ACL_HOST_REG_MAPPED as u32;
const IO_MEMORY: u32 = ACL_HOST_REG_IOMEMORY as u32;
const READ_ONLY: u32 = ACL_HOST_REG_READONLY as u32;
const PINNED: u32 = ACL_HOST_REG_PINNED as u32;

/// An allocation function for host memory.
type Allocate = fn(*mut *mut c_void, usize) -> i32;

fn plain(to: *mut *mut c_void, size: usize) -> i32 {
    acl!(aclrtMallocHost(to, size))
}

fn with_cfg(to: *mut *mut c_void, size: usize) -> i32 {
    acl!(aclrtMallocHostWithCfg(to, size as u64, null_mut()))
}

fn overload(to: *mut *mut c_void, size: usize) -> i32 {
    unsafe { cpp_malloc_host(to, size, null_mut()) }
}

#[track_caller]
fn get(allocate: Allocate, size: usize) -> *mut c_void {
    let mut at = null_mut();
    same(&format!("{size} bytes"), allocate(&mut at, size), 0);
    assert!(!at.is_null());
    at
}

#[track_caller]
fn free(at: *mut c_void) {
    ok!(aclrtFreeHost(at));
}

fn refusal(allocate: Allocate, size: usize) -> i32 {
    let mut at = null_mut();
    let code = allocate(&mut at, size);
    assert!(at.is_null(), "a refused call gives an address");
    code
}

fn rc(target: &Target) -> bool {
    target.rc()
}

/// Page-locked memory of the host: a copy from it is a task.
fn locked(allocate: Allocate) {
    for size in [1usize, 33, 64, 100, 4097] {
        let blocks = [(); 3].map(|()| get(allocate, size));
        for at in blocks {
            assert_eq!(at as usize % 64, 0, "{size} bytes");
            assert_eq!(attributes(at).0, ACL_MEM_LOCATION_TYPE_HOST);
            unsafe { at.cast::<u8>().write_bytes(7, size) };
            free(at);
        }
    }
    let (stream, from, to) = (Stream::new(), get(allocate, 64), device_with(&[1; 64]));
    unsafe { from.cast::<u8>().write_bytes(2, 64) };
    at_once(stream.h(), || {
        ok!(aclrtMemcpyAsync(to.p(), 64, from, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream.h()));
        assert_eq!(to.get(), [1; 64], "copied before its turn");
    });
    assert_eq!(to.get(), [2; 64]);
    free(from);
}

/// The RC form: memory of the device on normal pages, 32-byte aligned only, which the host may touch.
fn on_the_device(allocate: Allocate) {
    for size in [1usize, 64, 5000, HUGE + 1] {
        let (at, taken) = taken(|| get(allocate, size));
        assert_eq!(attributes(at), (ACL_MEM_LOCATION_TYPE_DEVICE, 0, 4096));
        assert_eq!(taken, size.next_multiple_of(4096));
        assert_eq!(at as usize % 64, 32, "a program that relies on 64 bytes must notice");
        unsafe { at.cast::<u8>().write_bytes(7, size) };
        assert_usable(at, size);
        free(at);
    }
}

/// Every byte of a block can be used alone.
fn sub_block() -> i32 {
    let (memory, to) = (pinned_with(&pattern(256, 1)), device(7));
    let code = acl!(aclrtMemcpy(to.p(), 7, memory.after(33), 7, ACL_MEMCPY_HOST_TO_DEVICE));
    assert_eq!(to.get(), pattern(256, 1)[33..40]);
    code
}

pub fn rows(r: &mut Rows) {
    allocation(r);
    configured(r);
    freed(r);
    for rows in [register, register_v2, pointers, overloads, overloads_of_registration] {
        rows(r);
    }
}

fn allocation(r: &mut Rows) {
    r.row("aclrtMallocHost#01", |_| acl!(aclrtMallocHost(null_mut(), 64)));
    r.row("aclrtMallocHost#02", |_| refusal(plain, 0));
    r.decided("aclrtMallocHost#03", |_| refusal(plain, 0));
    r.row("aclrtMallocHost#04", |_| locked(plain)).ep();
    r.row("aclrtMallocHost#05", |_| {
        let (memory, to) = (pinned(4096), device(4096));
        // Any bytes are right; reading them is.
        ok!(aclrtMemcpy(to.p(), 4096, memory.p(), 4096, ACL_MEMCPY_HOST_TO_DEVICE));
        assert_eq!(to.get(), memory.get());
    });
    r.row("aclrtMallocHost#06", |_| {
        let stream = Stream::new();
        free(at_once(stream.h(), || get(plain, 4096)));
    });
    r.row("aclrtMallocHost#07", |_| on_the_device(plain)).only(rc);
    r.decided("aclrtMallocHost#08", |_| sub_block()).only(rc);
    r.decided("aclrtMallocHost#09", |_| sub_block());
    r.row("aclrtMallocHost#10", |_| on_the_device(plain)).only(rc);
    r.decided("aclrtMallocHost#11", |_| refusal(plain, 0));
    r.decided("aclrtMallocHost#12", |_| {
        let at = get(plain, 64);
        let code = acl!(aclrtFree(at));
        free(at);
        code
    });
}

/// The answer of aclrtMallocHostWithCfg to one attribute, and the address.
fn attribute(kind: u32, value: u32) -> (i32, *mut c_void) {
    let value = aclrtMallocAttrValue { vaFlag: value };
    let mut attrs = [aclrtMallocAttribute { attr: kind, value }];
    let mut cfg = aclrtMallocConfig { attrs: attrs.as_mut_ptr(), numAttrs: 1 };
    let mut at = null_mut();
    let code = acl!(aclrtMallocHostWithCfg(&mut at, 2 * PAGE as u64, &mut cfg));
    (code, at)
}

fn configured(r: &mut Rows) {
    r.row("aclrtMallocHostWithCfg#01", |_| acl!(aclrtMallocHostWithCfg(null_mut(), 64, null_mut())));
    r.row("aclrtMallocHostWithCfg#02", |_| refusal(with_cfg, 0));
    r.row("aclrtMallocHostWithCfg#03", |_| {
        free(get(with_cfg, 64));
        let mut cfg = aclrtMallocConfig { attrs: null_mut(), numAttrs: 0 };
        let mut at = null_mut();
        ok!(aclrtMallocHostWithCfg(&mut at, 64, &mut cfg));
        free(at);
    });
    r.row("aclrtMallocHostWithCfg#04", |_| locked(with_cfg)).ep();
    r.row("aclrtMallocHostWithCfg#05", |_| {
        let (code, at) = attribute(ACL_RT_MEM_ATTR_VA_FLAG, 0);
        same("VA flag 0", code, 0);
        free(at);
        let (code, at) = attribute(ACL_RT_MEM_ATTR_VA_FLAG, 1);
        assert!(at.is_null());
        code
    });
    r.row("aclrtMallocHostWithCfg#06", |_| {
        let (code, host) = attribute(ACL_RT_MEM_ATTR_VA_FLAG, 1);
        same("VA flag 1", code, 0);
        let mut device = null_mut();
        ok!(aclrtHostRegister(host, 2 * PAGE as u64, ACL_HOST_REGISTER_MAPPED, &mut device));
        assert_eq!(device, host);
        ok!(aclrtHostUnregister(host));
        free(host);
        // Without the flag the two differ.
        let (memory, mut device) = (pages(1), null_mut());
        ok!(aclrtHostRegister(memory.p(), PAGE as u64, ACL_HOST_REGISTER_MAPPED, &mut device));
        assert_ne!(device, memory.p());
        ok!(aclrtHostUnregister(memory.p()));
    });
    r.row("aclrtMallocHostWithCfg#07", |_| on_the_device(with_cfg)).only(rc);
}

/// Everything that the functions for host memory may not free.
fn not_freed() -> Vec<i32> {
    let (memory, gone, device, own) = (get(plain, 4096), get(plain, 64), device(64), pageable(64));
    free(gone);
    let codes =
        [gone, at(memory as usize + 64), device.p(), own.p(), unmapped()].map(|at| acl!(aclrtFreeHost(at)));
    // Nothing was lost.
    ok!(aclrtMemset(memory, 4096, 1, 4096));
    free(memory);
    codes.to_vec()
}

fn freed(r: &mut Rows) {
    r.row("aclrtFreeHost#01", |_| acl!(aclrtFreeHost(null_mut())));
    r.row("aclrtFreeHost#02", |_| {
        let (stream, memory, to) = (Stream::new(), pinned(64), device(64));
        at_once(stream.h(), || {
            ok!(aclrtMemcpyAsync(to.p(), 64, memory.p(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream.h()));
            drop(memory);
        });
    });
    r.decided("aclrtFreeHost#03", |_| not_freed());
    r.decided("aclrtFreeHost#04", |_| not_freed());
    r.row("aclrtFreeHostWithDevSync#01", |_| acl!(aclrtFreeHostWithDevSync(null_mut())));
    r.row("aclrtFreeHostWithDevSync#02", |_| {
        let (stream, to) = (Stream::new(), device_with(&[1; 64]));
        let start = get(plain, 128);
        let from = at((start as usize).next_multiple_of(64));
        unsafe { start.cast::<u8>().write_bytes(2, 128) };
        let copy = || ok!(aclrtMemcpyAsync(to.p(), 64, from, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream.h()));
        awaits(stream.h(), copy, || ok!(aclrtFreeHostWithDevSync(start)));
        assert_eq!(to.get(), [2; 64]);
        code!(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(start));
    });
}

/// Whole pages of the program.
struct Pages(*mut c_void, usize);

fn pages(count: usize) -> Pages {
    let (size, access) = (count * PAGE, libc::PROT_READ | libc::PROT_WRITE);
    let at = unsafe { libc::mmap(null_mut(), size, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    assert!(at != libc::MAP_FAILED);
    Pages(at, size)
}

impl Pages {
    fn p(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // Unregistered already, as a rule.
        acl!(aclrtHostUnregister(self.0));
        unsafe { libc::munmap(self.0, self.1) };
    }
}

/// Registers pages for mapping with the older call.
fn mapped(memory: &Pages) -> *mut c_void {
    let mut device = null_mut();
    ok!(aclrtHostRegister(memory.p(), memory.1 as u64, ACL_HOST_REGISTER_MAPPED, &mut device));
    assert!(!device.is_null() && device != memory.p());
    device
}

/// The answers of both calls to an address and a size.
fn older(ptr: *mut c_void, size: usize) -> i32 {
    acl!(aclrtHostRegister(ptr, size as u64, ACL_HOST_REGISTER_MAPPED, &mut null_mut()))
}

fn newer(ptr: *mut c_void, size: usize) -> i32 {
    acl!(aclrtHostRegisterV2(ptr, size as u64, MAPPED))
}

type Register = fn(*mut c_void, usize) -> i32;

/// Addresses that are not page aligned.
fn unaligned(register: Register) -> Vec<i32> {
    let memory = pages(2);
    [1, 64, 2048, PAGE - 1].map(|offset| register(at(memory.p() as usize + offset), PAGE)).to_vec()
}

/// Memory of aclrtMallocHost can always be registered.
fn of_malloc_host(register: Register) -> i32 {
    let memory = pinned(2 * PAGE);
    let code = register(memory.p(), 2 * PAGE);
    ok!(aclrtHostUnregister(memory.p()));
    code
}

fn of_the_program(register: Register) -> i32 {
    let memory = pages(3);
    let code = register(memory.p(), 3 * PAGE);
    ok!(aclrtHostUnregister(memory.p()));
    code
}

/// What copies say to the device's address of registered memory.
fn for_kernels_only(register: Register) -> Vec<i32> {
    let (memory, on_device) = (pages(1), device(64));
    same("registration", register(memory.p(), PAGE), 0);
    let mapped = device_pointer(memory.p());
    let stream = Stream::new();
    let kind = ACL_MEMCPY_DEFAULT;
    let codes = vec![
        acl!(aclrtMemcpy(mapped, 64, on_device.p(), 64, kind)),
        acl!(aclrtMemcpy(on_device.p(), 64, mapped, 64, kind)),
        acl!(aclrtMemcpyAsync(on_device.p(), 64, mapped, 64, kind, stream.h())),
        acl!(aclrtMemset(mapped, 64, 0, 64)),
    ];
    ok!(aclrtHostUnregister(memory.p()));
    codes
}

/// The device's address of registered memory.
#[track_caller]
fn device_pointer(host: *mut c_void) -> *mut c_void {
    let mut device = null_mut();
    ok!(aclrtHostGetDevicePointer(host, &mut device, 0));
    device
}

/// The first six rows, which both calls have alike.
macro_rules! both {
    ($r:expr, $name:ident, $call:expr) => {{
        let r: &mut Rows = $r;
        let call: Register = $call;
        r.row(concat!(stringify!($name), "#01"), move |_| call(null_mut(), PAGE));
        r.row(concat!(stringify!($name), "#02"), move |_| call(pages(1).p(), 0));
        r.decided(concat!(stringify!($name), "#03"), move |_| unaligned(call));
        r.decided(concat!(stringify!($name), "#04"), move |_| [of_malloc_host(call), of_the_program(call)]);
        r.row(concat!(stringify!($name), "#05"), move |_| of_the_program(call));
        r.decided(concat!(stringify!($name), "#06"), move |_| for_kernels_only(call));
    }};
}

fn register(r: &mut Rows) {
    both!(r, aclrtHostRegister, older);
    let of_type = |kind: u32| {
        let (memory, mut device) = (pages(1), null_mut());
        let code = acl!(aclrtHostRegister(memory.p(), PAGE as u64, kind, &mut device));
        assert!(device.is_null());
        code
    };
    r.row("aclrtHostRegister#07", |_| {
        let memory = pages(1);
        acl!(aclrtHostRegister(memory.p(), PAGE as u64, ACL_HOST_REGISTER_MAPPED, null_mut()))
    });
    r.row("aclrtHostRegister#08", move |_| [1, 2, 0x10, 0x14, u32::MAX].map(of_type));
    r.decided("aclrtHostRegister#09", move |_| {
        [ACL_HOST_REGISTER_IOMEMORY, ACL_HOST_REGISTER_READONLY, 0xc].map(of_type)
    });
    r.decided("aclrtHostRegister#10", move |_| of_type(ACL_HOST_REGISTER_IOMEMORY));
}

/// The answer of the newer call to flags, for a page of the program.
fn flags(flag: u32) -> i32 {
    acl!(aclrtHostRegisterV2(pages(1).p(), PAGE as u64, flag))
}

/// Page-locked memory and ACL_HOST_REG_PINNED.
fn locked_twice(register: fn(*mut c_void, u32) -> i32) -> [i32; 2] {
    let memory = pinned(PAGE);
    let codes = [PINNED, PINNED | MAPPED].map(|flag| register(memory.p(), flag));
    // Nothing was registered.
    code!(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(memory.p()));
    codes
}

fn newer_flag(ptr: *mut c_void, flag: u32) -> i32 {
    acl!(aclrtHostRegisterV2(ptr, PAGE as u64, flag))
}

fn overload_flag(ptr: *mut c_void, flag: u32) -> i32 {
    unsafe { cpp_host_register_flag(ptr, PAGE as u64, flag) }
}

fn register_v2(r: &mut Rows) {
    both!(r, aclrtHostRegisterV2, newer);
    r.row("aclrtHostRegisterV2#07", |_| [0, 1, 0x10, MAPPED | 0x2000_0000, u32::MAX].map(flags));
    r.decided("aclrtHostRegisterV2#08", |_| {
        same("IOMEMORY", flags(IO_MEMORY), 0);
        [READ_ONLY, READ_ONLY | MAPPED].map(flags)
    });
    r.decided("aclrtHostRegisterV2#09", |_| locked_twice(newer_flag));
    r.row("aclrtHostRegisterV2#10", |_| {
        let memory = pages(4);
        let part = |page: usize, count: usize| newer(at(memory.p() as usize + page * PAGE), count * PAGE);
        same("the middle", part(1, 2), 0);
        let codes = [part(1, 2), part(0, 2), part(2, 2), part(0, 4), part(1, 1)];
        same("before", part(0, 1), 0);
        same("behind", part(3, 1), 0);
        for page in [1, 3] {
            ok!(aclrtHostUnregister(at(memory.p() as usize + page * PAGE)));
        }
        codes
    });
    r.row("aclrtHostRegisterV2#11", |_| {
        for flag in [MAPPED, MAPPED | PINNED] {
            let memory = pages(2);
            same("registration", acl!(aclrtHostRegisterV2(memory.p(), 2 * PAGE as u64, flag)), 0);
            let device = device_pointer(memory.p());
            assert!(!device.is_null() && device != memory.p());
            let inside = device_pointer(at(memory.p() as usize + 100));
            assert_eq!(inside as usize, device as usize + 100);
        }
    });
    r.row("aclrtHostRegisterV2#12", |_| flags(MAPPED)).bare();
}

fn pointers(r: &mut Rows) {
    let pointer = |memory: &Pages, flag| acl!(aclrtHostGetDevicePointer(memory.p(), &mut null_mut(), flag));
    r.row("aclrtHostGetDevicePointer#01", |_| {
        acl!(aclrtHostGetDevicePointer(null_mut(), &mut null_mut(), 0))
    });
    r.row("aclrtHostGetDevicePointer#02", |_| acl!(aclrtHostGetDevicePointer(pages(1).p(), null_mut(), 0)));
    let with_flag = move || {
        let memory = pages(1);
        let device = mapped(&memory);
        assert_eq!(device_pointer(memory.p()), device);
        [1, u32::MAX].map(|flag| pointer(&memory, flag))
    };
    r.row("aclrtHostGetDevicePointer#03", move |_| with_flag());
    r.decided("aclrtHostGetDevicePointer#04", move |_| with_flag());
    let unmapped = move || {
        let (memory, locked, gone) = (pages(1), pages(1), pages(1));
        ok!(aclrtHostRegisterV2(locked.p(), PAGE as u64, PINNED));
        mapped(&gone);
        ok!(aclrtHostUnregister(gone.p()));
        let of_runtime = pinned(64);
        let of_runtime = acl!(aclrtHostGetDevicePointer(of_runtime.p(), &mut null_mut(), 0));
        [pointer(&memory, 0), pointer(&locked, 0), pointer(&gone, 0), of_runtime]
    };
    r.decided("aclrtHostGetDevicePointer#05", move |_| unmapped());
    r.row("aclrtHostGetDevicePointer#06", move |_| unmapped());
    let capability = |device: u32, part: u32| acl!(aclrtHostMemMapCapabilities(device, part, &mut 0));
    r.row("aclrtHostMemMapCapabilities#01", |_| {
        acl!(aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_AIC, null_mut()))
    });
    r.row("aclrtHostMemMapCapabilities#02", move |t| {
        for part in ACL_RT_HAC_TYPE_STARS..=ACL_RT_HAC_TYPE_CCU {
            let can = get!(77, aclrtHostMemMapCapabilities(0, part));
            let kernels = [ACL_RT_HAC_TYPE_AICPU, ACL_RT_HAC_TYPE_AIC, ACL_RT_HAC_TYPE_AIV];
            assert_eq!(can, u32::from(t.supports("aclrtHostRegister") && kernels.contains(&part)));
        }
        [ACL_RT_HAC_TYPE_CCU + 1, u32::MAX].map(|part| capability(0, part))
    });
    r.row("aclrtHostMemMapCapabilities#03", move |_| {
        [4, u32::MAX].map(|id| capability(id, ACL_RT_HAC_TYPE_AIC))
    });
    r.row("aclrtHostUnregister#01", |_| acl!(aclrtHostUnregister(null_mut())));
    r.row("aclrtHostUnregister#02", |_| unregistered(|ptr| acl!(aclrtHostUnregister(ptr))));
    r.decided("aclrtHostUnregister#03", |_| unregistered(|ptr| acl!(aclrtHostUnregister(ptr))));
}

/// What cannot be unregistered; what is registered can, once.
fn unregistered(unregister: fn(*mut c_void) -> i32) -> Vec<i32> {
    let (one, other, never) = (pages(2), pages(1), pages(1));
    mapped(&one);
    ok!(aclrtHostRegisterV2(other.p(), PAGE as u64, PINNED));
    let inside = unregister(at(one.p() as usize + PAGE));
    same("of the older call", unregister(one.p()), 0);
    same("of the newer call", unregister(other.p()), 0);
    let pinned = pinned(64);
    vec![inside, unregister(one.p()), unregister(other.p()), unregister(never.p()), unregister(pinned.p())]
}

fn overloads(r: &mut Rows) {
    r.row("aclrtMallocHost<cpp>#01", |_| {
        same("no bytes", refusal(overload, 0), ACL_ERROR_INVALID_PARAM);
        calls("aclrtMallocHostWithCfg");
    });
    r.row("aclrtMallocHost<cpp>#02", |_| header_only("aclrtMallocHost"));
    r.row("aclrtMallocHost<cpp>#03", |t| {
        if t.target.rc() {
            on_the_device(overload)
        } else {
            locked(overload)
        }
        refusal(overload, 0)
    });
    r.row("aclrtMallocHost<cpp>#04", |_| {
        free(get(overload, 64));
        ok!(aclrtFreeHostWithDevSync(get(overload, 64)));
    });
}

fn overload_unregister(ptr: *mut c_void) -> i32 {
    unsafe { cpp_host_unregister(ptr) }
}

fn overloads_of_registration(r: &mut Rows) {
    const TYPE: u32 = ACL_HOST_REGISTER_MAPPED;
    r.row("aclrtHostRegister<cpp>#01", |_| {
        let (memory, mut device) = (pages(1), null_mut());
        let register =
            |size: u64, to: *mut *mut c_void| unsafe { cpp_host_register(memory.p(), size, TYPE, to) };
        same("no bytes", register(0, &mut device), ACL_ERROR_INVALID_PARAM);
        calls("aclrtHostRegister");
        same("no flag", overload_flag(memory.p(), 0), ACL_ERROR_RT_PARAM_INVALID);
        calls("aclrtHostRegisterV2");
        same("a page", register(PAGE as u64, &mut device), 0);
        assert_eq!(device_pointer(memory.p()), device);
    });
    r.row("aclrtHostRegister<cpp>#02", |_| header_only("aclrtHostRegister"));
    r.decided("aclrtHostRegister<cpp>#03", |_| unaligned(|ptr, _| overload_flag(ptr, MAPPED)));
    r.row("aclrtHostRegister<cpp>#04", |_| {
        [MAPPED | IO_MEMORY, MAPPED | PINNED, IO_MEMORY | PINNED, MAPPED | IO_MEMORY | PINNED]
            .map(|flag| overload_flag(pages(1).p(), flag))
    });
    r.decided("aclrtHostRegister<cpp>#05", |_| {
        same("IOMEMORY", overload_flag(pages(1).p(), IO_MEMORY), 0);
        [READ_ONLY, READ_ONLY | MAPPED].map(|flag| overload_flag(pages(1).p(), flag))
    });
    r.decided("aclrtHostRegister<cpp>#08", |_| locked_twice(overload_flag));
    r.decided("aclrtHostRegister<cpp>#09", |_| for_kernels_only(|ptr, _| overload_flag(ptr, MAPPED)));
    let pointer = |memory: &Pages, to: *mut *mut c_void, flag| unsafe {
        cpp_host_get_device_pointer(memory.p(), to, flag)
    };
    r.row("aclrtHostGetDevicePointer<cpp>#01", move |_| {
        let (memory, mut device) = (pages(1), null_mut());
        same("not registered", pointer(&memory, &mut device, 0), ACL_ERROR_RT_PARAM_INVALID);
        calls("aclrtHostGetDevicePointer");
        let given = mapped(&memory);
        same("registered", pointer(&memory, &mut device, 0), 0);
        assert_eq!(device, given);
    });
    r.row("aclrtHostGetDevicePointer<cpp>#02", |_| header_only("aclrtHostGetDevicePointer"));
    r.row("aclrtHostGetDevicePointer<cpp>#03", move |_| {
        let memory = pages(1);
        mapped(&memory);
        pointer(&memory, &mut null_mut(), 1)
    });
    r.row("aclrtHostUnregister<cpp>#01", |_| {
        same("not registered", overload_unregister(pages(1).p()), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
        calls("aclrtHostUnregister");
    });
    r.row("aclrtHostUnregister<cpp>#02", |_| header_only("aclrtHostUnregister"));
    r.decided("aclrtHostUnregister<cpp>#03", |_| unregistered(overload_unregister));
    // Nothing can be registered there: the call exists, and says so.
    let alone = || overload_unregister(pinned(PAGE).p());
    r.row("aclrtHostUnregister<cpp>#06", move |_| {
        same("the call", alone(), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    });
    r.decided("aclrtHostUnregister<cpp>#07", move |_| alone());
}
