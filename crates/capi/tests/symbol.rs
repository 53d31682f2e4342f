//! Device variables through the C ABI: chapter 11-11 and rtRegisterVariable of `spec/registration.csv`.
#![allow(clippy::undocumented_unsafe_blocks, reason = "every call is one of the library under test")]

mod host_help;

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use ascendcl::device::*;
use ascendcl::memory::*;
use ascendcl::pointer::aclrtPointerGetAttributes;
use ascendcl::symbol::*;
use ascendcl_sys as sys;
use host_help::*;

const INVALID: i32 = sys::ACL_ERROR_INVALID_PARAM;
const UNKNOWN: i32 = sys::ACL_ERROR_RT_INVALID_SYMBOL;
const OUT: u32 = sys::ACL_MEMCPY_DEVICE_TO_HOST;
const IN: u32 = sys::ACL_MEMCPY_HOST_TO_DEVICE;

fn register(shadow: *const c_void, name: &CStr, size: usize) {
    unsafe { rtRegisterVariable(null_mut(), shadow, name.as_ptr(), size, 0, null_mut()) }
}

/// A registered variable whose shadow holds `bytes`. Shadows are never given back, as those of a program are not.
fn variable(bytes: &[u8]) -> *const c_void {
    let shadow = Vec::leak(bytes.to_vec()).as_ptr().cast();
    register(shadow, c"variable", bytes.len());
    shadow
}

fn address(symbol: *const c_void) -> (i32, *mut c_void) {
    let mut answer = null_mut();
    (unsafe { aclrtGetSymbolAddress(symbol, &raw mut answer) }, answer)
}

fn size_of(symbol: *const c_void) -> (i32, usize) {
    let mut answer = 0;
    (unsafe { aclrtGetSymbolSize(symbol, &raw mut answer) }, answer)
}

fn read(symbol: *const c_void, offset: usize, count: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; count];
    done(unsafe { aclrtMemcpyFromSymbol(bytes.as_mut_ptr().cast(), count, symbol, count, offset, OUT) });
    bytes
}

fn write(symbol: *const c_void, offset: usize, bytes: &[u8]) {
    done(unsafe { aclrtMemcpyToSymbol(symbol, bytes.as_ptr().cast(), bytes.len(), offset, IN) });
}

/// Starts with the shadow's bytes at registration; aclrtMemcpyFromSymbol#17, aclrtMemcpyToSymbol#15: done on return.
#[test]
fn starts_with_the_bytes_of_the_shadow() {
    let rt = on(0);
    let shadow: &'static mut [u8] = Vec::leak((1..=100).collect());
    register(shadow.as_ptr().cast(), c"counter", 100);
    shadow.fill(0xff);
    let symbol = shadow.as_ptr().cast();
    assert_eq!(size_of(symbol), (0, 100));
    assert_eq!(read(symbol, 0, 100), (1..=100).collect::<Vec<u8>>());
    write(symbol, 98, &[7, 8]);
    write(symbol, 0, &[9]);
    assert_eq!(read(symbol, 97, 3), [98, 7, 8]);
    assert_eq!(read(symbol, 0, 2), [9, 2]);
    let (code, device) = address(symbol);
    done(code);
    let block = rt.space.find(device as usize).unwrap();
    assert_eq!((block.base, block.size), (device as usize, 100));
    assert_ne!(device.cast_const(), symbol);
    assert_eq!(device as usize % 64, 0);
    assert_eq!(address(symbol), (0, device), "it stays where it is");
}

/// aclrtGetSymbolAddress#02: each device has a copy of its own.
#[test]
fn devices_have_their_own_copies() {
    let symbol = variable(&[1, 2, 3, 4]);
    let mut addresses = Vec::new();
    for device in [1, 2] {
        on(device);
        write(symbol, 0, &[device as u8 * 10]);
        let (code, ptr) = address(symbol);
        done(code);
        let mut attributes: sys::aclrtPtrAttributes = unsafe { std::mem::zeroed() };
        done(unsafe { aclrtPointerGetAttributes(ptr, &raw mut attributes) });
        let location = attributes.location;
        assert_eq!((location.r#type, location.id), (sys::ACL_MEM_LOCATION_TYPE_DEVICE, device as u32));
        addresses.push(ptr);
    }
    assert_ne!(addresses[0], addresses[1]);
    for device in [1, 2] {
        on(device);
        assert_eq!(address(symbol).1, addresses[device as usize - 1]);
        assert_eq!(read(symbol, 0, 4), [device as u8 * 10, 2, 3, 4]);
    }
}

/// A reset of the device frees its copy; the next use starts anew. Other devices keep theirs.
#[test]
fn a_reset_starts_it_anew() {
    let symbol = variable(&[5, 6, 7]);
    on(6);
    write(symbol, 0, &[1, 1, 1]);
    let rt = on(7);
    write(symbol, 0, &[2, 2, 2]);
    let (_, first) = address(symbol);
    let block = rt.space.find(first as usize);
    done(unsafe { aclrtResetDevice(7) });
    assert_ne!(rt.space.find(first as usize), block);
    on(7);
    assert_eq!(read(symbol, 0, 3), [5, 6, 7]);
    on(6);
    assert_eq!(read(symbol, 0, 3), [1, 1, 1]);
    on(7);
    done(unsafe { aclrtResetDeviceForce(7) });
    let message = address(symbol);
    refused(message.0, sys::ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetSymbolAddress#06");
}

/// A variable of its device's memory: not the program's to free.
#[test]
fn free_does_not_take_it() {
    on(0);
    let symbol = variable(&[1]);
    let (_, ptr) = address(symbol);
    assert_eq!(unsafe { aclrtFree(ptr) }, sys::ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(address(symbol), (0, ptr));
}

/// A second registration of an address is ignored, whatever it says.
#[test]
fn the_first_registration_counts() {
    on(0);
    let shadow: &'static mut [u8] = Vec::leak(vec![1, 2, 3, 4]);
    let symbol = shadow.as_ptr().cast();
    register(symbol, c"one", 2);
    shadow.fill(9);
    register(symbol, c"two", 4);
    assert_eq!(size_of(symbol), (0, 2));
    assert_eq!(read(symbol, 0, 2), [1, 2]);
}

/// Bad arguments only leave the variable unregistered; names up to 4095 characters are good.
#[test]
fn bad_registrations_leave_it_unknown() {
    on(0);
    let shadow = || Vec::leak(vec![1u8; 8]).as_ptr().cast::<c_void>();
    let try_it = |binary: usize, symbol: *const c_void, name: *const i8, size| {
        unsafe { rtRegisterVariable(binary as *mut c_void, symbol, name.cast(), size, 3, 8 as *mut c_void) };
        recent();
        refused(size_of(symbol).0, UNKNOWN, "aclrtGetSymbolSize#05");
    };
    let name = c"name".as_ptr().cast();
    try_it(0, shadow(), std::ptr::null(), 8);
    try_it(0, shadow(), c"".as_ptr().cast(), 8);
    try_it(0, shadow(), 64 as *const i8, 8);
    try_it(77, shadow(), name, 8);
    try_it(0, shadow(), name, 0);
    try_it(0, shadow(), name, 1 << 63);
    try_it(0, shadow(), name, usize::MAX);
    unsafe { rtRegisterVariable(null_mut(), null_mut(), name.cast(), 8, 0, null_mut()) };
    assert!(recent().contains("hostVar"));
    let long = |length| std::ffi::CString::new(vec![b'x'; length]).unwrap();
    try_it(0, shadow(), long(4096).as_ptr().cast(), 8);
    let symbol = shadow();
    register(symbol, &long(4095), 8);
    assert_eq!(size_of(symbol), (0, 8));
    // Nothing is wrong with a program that does all this and never asks.
    let symbol = shadow();
    unsafe { rtRegisterVariable(null_mut(), symbol, name.cast(), 8, 3, 8 as *mut c_void) };
    assert_eq!(size_of(symbol), (0, 8));
}

/// A shadow that is not there, in whole or in part, counts as zeros.
#[test]
fn shadows_need_not_be_mapped() {
    on(0);
    let shadow = 0x33_0000_0000 as *const c_void;
    register(shadow, c"nowhere", 5000);
    assert_eq!(read(shadow, 0, 5000), [0; 5000]);
    let pages = Pages::before_a_hole(1);
    unsafe { pages.base.cast::<u8>().write_bytes(3, PAGE) };
    let part = pages.at(PAGE - 10);
    register(part, c"part", 100);
    let mut expected = [0; 100];
    expected[..10].fill(3);
    assert_eq!(read(part, 0, 100), expected);
    // A use before the registration of another variable's memory must not show through.
    let big = variable(&[&[1u8; 70_000][..], &[0; 70_000]].concat());
    assert_eq!(read(big, 69_999, 3), [1, 0, 0]);
    assert_eq!(read(big, 139_999, 1), [0]);
}

/// Old bytes of the device do not show through in a variable that starts with zeros.
#[test]
fn zeros_are_zeros() {
    on(5);
    let symbols: Vec<_> = (0..8).map(|_| variable(&[0; 4096])).collect();
    symbols.iter().for_each(|symbol| write(*symbol, 0, &[0xff; 4096]));
    let before: Vec<_> = symbols.iter().map(|symbol| address(*symbol).1).collect();
    done(unsafe { aclrtResetDeviceForce(5) });
    on(5);
    let after: Vec<_> = symbols.iter().map(|symbol| address(*symbol).1).collect();
    assert!(after.iter().any(|place| before.contains(place)), "some place is used again");
    symbols.iter().for_each(|symbol| assert_eq!(read(*symbol, 0, 4096), [0; 4096]));
}

/// aclrtGetSymbolAddress#05 to #08, aclrtGetSymbolSize#05 to #08
#[test]
fn lookups_refuse() {
    on(0);
    let symbol = variable(&[1, 2]);
    let local = 0u8;
    let mut size = 0;
    refused(address(null_mut()).0, INVALID, "aclrtGetSymbolAddress#07");
    let answer = unsafe { aclrtGetSymbolAddress(symbol, null_mut()) };
    refused(answer, INVALID, "aclrtGetSymbolAddress#08");
    refused(address((&raw const local).cast()).0, UNKNOWN, "aclrtGetSymbolAddress#05");
    refused(address(symbol.wrapping_byte_add(1)).0, UNKNOWN, "aclrtGetSymbolAddress#05");
    let answer = unsafe { aclrtGetSymbolSize(null_mut(), &raw mut size) };
    refused(answer, INVALID, "aclrtGetSymbolSize#07");
    refused(unsafe { aclrtGetSymbolSize(symbol, null_mut()) }, INVALID, "aclrtGetSymbolSize#08");
    let at = symbol as usize;
    let thread = std::thread::spawn(move || {
        let unknown = 8 as *const c_void;
        let symbol = at as *const c_void;
        refused(address(symbol).0, sys::ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetSymbolAddress#06");
        refused(size_of(unknown).0, sys::ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetSymbolSize#06");
    });
    thread.join().unwrap();
}

/// One call of the four copies, with everything that can be wrong.
#[derive(Clone, Copy)]
struct Call {
    way: Way,
    symbol: *const c_void,
    host: *mut c_void,
    room: usize,
    count: usize,
    offset: usize,
    kind: u32,
    stream: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    From,
    FromAsync,
    To,
    ToAsync,
}

impl Call {
    fn run(self) -> i32 {
        let Call { way, symbol, host, room, count, offset, kind, stream } = self;
        let stream = stream as *mut c_void;
        unsafe {
            match way {
                Way::From => aclrtMemcpyFromSymbol(host, room, symbol, count, offset, kind),
                Way::FromAsync => aclrtMemcpyFromSymbolAsync(host, room, symbol, count, offset, kind, stream),
                Way::To => aclrtMemcpyToSymbol(symbol, host, count, offset, kind),
                Way::ToAsync => aclrtMemcpyToSymbolAsync(symbol, host, count, offset, kind, stream),
            }
        }
    }
}

/// aclrtMemcpyFromSymbol#05 to #16 and the same rows of the other three.
#[test]
fn copies_refuse_wrong_arguments() {
    let rt = on(0);
    let symbol = variable(&[0x11; 64]);
    let mut buffer = [0u8; 128];
    let host = buffer.as_mut_ptr().cast::<c_void>();
    for way in [Way::From, Way::FromAsync, Way::To, Way::ToAsync] {
        let from = matches!(way, Way::From | Way::FromAsync);
        let waits = matches!(way, Way::FromAsync | Way::ToAsync);
        let right = if from { OUT } else { IN };
        let good = Call { way, symbol, host, room: 64, count: 64, offset: 0, kind: right, stream: 0 };
        let name = format!("aclrtMemcpy{way:?}").replace("From", "FromSymbol").replace("To", "ToSymbol");
        let rule = |from_row: u32, to_row: u32| format!("{name}#{:02}", if from { from_row } else { to_row });
        let wrong = |call: Call, code, rule: String| refused(call.run(), code, &rule);
        done(good.run());
        done(Call { kind: sys::ACL_MEMCPY_DEFAULT, ..good }.run());
        // Nothing to copy: whatever else is wrong.
        let nothing =
            Call { count: 0, symbol: null_mut(), host: null_mut(), room: 0, kind: 99, stream: 7, ..good };
        done(nothing.run());
        wrong(Call { symbol: null_mut(), host: null_mut(), ..good }, INVALID, rule(8, 8));
        wrong(Call { host: null_mut(), room: 0, ..good }, INVALID, rule(9, 9));
        if from {
            wrong(Call { room: 63, kind: 99, ..good }, INVALID, rule(10, 10));
        }
        for kind in [0, 3, 5, 6, 99, if from { IN } else { OUT }] {
            let unknown = 8 as *const c_void;
            wrong(Call { kind, symbol: unknown, ..good }, INVALID, rule(12, 10));
        }
        if waits {
            let unknown = 8 as *const c_void;
            let call = Call { stream: 7, symbol: unknown, ..good };
            wrong(call, sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01".to_owned());
        }
        wrong(Call { symbol: 8 as *const c_void, offset: usize::MAX, ..good }, UNKNOWN, rule(5, 5));
        let count = usize::MAX;
        let call = Call { count, room: count, offset: 1, ..good };
        wrong(call, sys::ACL_ERROR_FAILURE, rule(16, 14));
        wrong(Call { count: 1, offset: count, ..good }, sys::ACL_ERROR_FAILURE, rule(16, 14));
        for (count, offset) in [(65, 0), (64, 1), (1, 64), (1, 1 << 40), (usize::MAX, 0)] {
            wrong(Call { count, room: count, offset, ..good }, INVALID, rule(14, 12));
        }
        let hole = Call { host: 64 as *mut c_void, ..good };
        assert_eq!(hole.run(), sys::ACL_ERROR_RT_PARAM_INVALID);
        if waits {
            let own = toprope_runtime::stream::resolve(rt, 0).unwrap().handle() as usize;
            on(1);
            let foreign = Call { stream: own, ..good }.run();
            refused(foreign, sys::ACL_ERROR_RT_STREAM_CONTEXT, "aclrtMemcpyAsync#23");
            on(0);
        }
        let (symbol, host, no_context) = (symbol as usize, host as usize, rule(6, 6));
        let elsewhere = std::thread::spawn(move || {
            let (symbol, host) = (symbol as *const c_void, host as *mut c_void);
            let call = Call { way, symbol, host, room: 64, count: 64, offset: 0, kind: right, stream: 0 };
            let code = call.run();
            refused(code, sys::ACL_ERROR_RT_CONTEXT_NULL, &no_context);
        });
        elsewhere.join().unwrap();
    }
    finish(rt, 0);
}

/// aclrtMemcpyToSymbolAsync#15, #18, aclrtMemcpyFromSymbolAsync#17, #20: pinned memory is read and written when the copy executes, in the
/// stream's order.
#[test]
fn pinned_copies_run_in_stream_order() {
    let rt = on(3);
    let symbol = variable(&[1; 16]);
    let source = pinned(16).cast::<u8>();
    let target = pinned(16).cast::<u8>();
    unsafe {
        source.write_bytes(5, 16);
        target.write_bytes(6, 16);
        let hold = Hold::new(rt, 0);
        done(aclrtMemcpyToSymbolAsync(symbol, source.cast(), 8, 8, IN, null_mut()));
        done(aclrtMemcpyFromSymbolAsync(target.cast(), 16, symbol, 16, 0, OUT, null_mut()));
        // Not yet: the source's bytes of later are those that count.
        source.write_bytes(9, 16);
        assert_eq!(read(symbol, 0, 16), [1; 16]);
        assert_eq!(target.add(15).read_volatile(), 6);
        drop(hold);
        finish(rt, 0);
        let expected = [[1; 8], [9; 8]].concat();
        assert_eq!(read(symbol, 0, 16), expected);
        assert_eq!(std::slice::from_raw_parts(target, 16), expected);
        done(aclrtFreeHost(source.cast()));
        done(aclrtFreeHost(target.cast()));
    }
}

/// aclrtMemcpyToSymbolAsync#15, aclrtMemcpyFromSymbolAsync#17: pageable memory is done with when the call returns, and what
/// the stream held before has run by then.
#[test]
fn pageable_copies_are_done_on_return() {
    let rt = on(4);
    let symbol = variable(&[1; 16]);
    let source = pinned(16).cast::<u8>();
    unsafe { source.write_bytes(3, 16) };
    let mut hold = Some(Hold::new(rt, 0));
    unsafe { done(aclrtMemcpyToSymbolAsync(symbol, source.cast(), 16, 0, IN, null_mut())) };
    let late = std::thread::spawn({
        let hold = hold.take();
        move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            drop(hold);
        }
    });
    let mut bytes = [0u8; 16];
    let to = bytes.as_mut_ptr().cast();
    done(unsafe { aclrtMemcpyFromSymbolAsync(to, 16, symbol, 16, 0, sys::ACL_MEMCPY_DEFAULT, null_mut()) });
    assert_eq!(bytes, [3; 16]);
    late.join().unwrap();
    let from = [8u8; 4];
    done(unsafe { aclrtMemcpyToSymbolAsync(symbol, from.as_ptr().cast(), 4, 2, IN, null_mut()) });
    assert_eq!(read(symbol, 0, 7), [3, 3, 8, 8, 8, 8, 3]);
    done(unsafe { aclrtFreeHost(source.cast()) });
}

/// Many threads at the first use of one variable get one copy.
#[test]
fn first_use_by_many_threads() {
    let symbol = variable(&[4; 1000]) as usize;
    let threads: Vec<_> = (0..8)
        .map(|_| {
            std::thread::spawn(move || {
                on(0);
                let (code, ptr) = address(symbol as *const c_void);
                done(code);
                ptr as usize
            })
        })
        .collect();
    let addresses: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(addresses.windows(2).all(|pair| pair[0] == pair[1]), "{addresses:x?}");
}
