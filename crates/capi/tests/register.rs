//! Device binaries that are registered as start-up code does: spec/registration.csv, and the symbol calls on their variables.
#![allow(clippy::undocumented_unsafe_blocks, reason = "every call is one of the library under test")]

mod device_help;
mod host_help;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use ascendcl::copy::*;
use ascendcl::device::*;
use ascendcl::memory::*;
use ascendcl::pointer::aclrtPointerGetAttributes;
use ascendcl::register::*;
use ascendcl::stream::*;
use ascendcl::symbol::*;
use ascendcl_sys as sys;
use device_help::*;
use host_help::*;

const PARAM: i32 = sys::ACL_ERROR_RT_PARAM_INVALID;
const STALE: i32 = sys::ACL_ERROR_RT_INVALID_HANDLE;
const UNKNOWN: i32 = sys::ACL_ERROR_RT_INVALID_SYMBOL;
const NO_FUNCTION: i32 = sys::ACL_ERROR_RT_INVALID_DEVICE_FUNCTION;
const NO_CONTEXT: i32 = sys::ACL_ERROR_RT_CONTEXT_NULL;

fn read<T: Copy + Default>(symbol: *const c_void, offset: usize) -> T {
    let mut value = T::default();
    let (to, bytes) = ((&raw mut value).cast(), size_of::<T>());
    done(unsafe { aclrtMemcpyFromSymbol(to, bytes, symbol, bytes, offset, sys::ACL_MEMCPY_DEVICE_TO_HOST) });
    value
}

fn address(symbol: *const c_void) -> (i32, *mut c_void) {
    let mut answer = null_mut();
    (unsafe { aclrtGetSymbolAddress(symbol, &raw mut answer) }, answer)
}

/// Device memory for a number, read after the default stream is through.
struct Number(*mut c_void);

impl Number {
    fn new() -> Number {
        let mut at = null_mut();
        done(unsafe { aclrtMalloc(&raw mut at, 64, 0) });
        Number(at)
    }

    fn get(&self) -> i32 {
        done(unsafe { aclrtSynchronizeStream(null_mut()) });
        let mut value = -1i32;
        let to = (&raw mut value).cast();
        done(unsafe { aclrtMemcpy(to, 4, self.0, 4, sys::ACL_MEMCPY_DEVICE_TO_HOST) });
        value
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        unsafe { aclrtFree(self.0) };
    }
}

#[repr(C)]
struct Add {
    by: i32,
    now: *mut c_void,
}

fn add(stub: *const c_void, by: i32) -> i32 {
    let now = Number::new();
    done(launch(stub, 1, &Add { by, now: now.0 }, null_mut()));
    now.get()
}

/// rtRegisterAllKernel, rtDevBinaryRegister: null arguments and a wrong magic number; bytes that are no device binary.
#[test]
fn a_binary_is_checked() {
    on(0);
    let mut handle = null_mut();
    type Register = unsafe extern "C" fn(*const sys::rtDevBinary_t, *mut *mut c_void) -> i32;
    for call in [rtRegisterAllKernel as Register, rtDevBinaryRegister] {
        let good = describe(bytes());
        let at = (&raw const good).cast();
        assert_eq!(unsafe { call(null(), &raw mut handle) }, PARAM);
        assert_eq!(unsafe { call(at, null_mut()) }, PARAM);
        let wrong = DevBinary { magic: 1, ..describe(bytes()) };
        assert_eq!(unsafe { call((&raw const wrong).cast(), &raw mut handle) }, PARAM);
        let text = describe(b"not a binary at all");
        assert_eq!(unsafe { call((&raw const text).cast(), &raw mut handle) }, PARAM);
        assert!(message().contains("not an ELF file"));
        let library = std::fs::read("/proc/self/exe").unwrap();
        let library = describe(&library);
        assert_eq!(unsafe { call((&raw const library).cast(), &raw mut handle) }, PARAM);
        assert!(message().contains("not a device binary"));
        let beyond = DevBinary { length: 1 << 40, ..describe(bytes()) };
        assert_eq!(unsafe { call((&raw const beyond).cast(), &raw mut handle) }, PARAM);
        assert!(handle.is_null());
        done(unsafe { call(at, &raw mut handle) });
        done(unsafe { rtDevBinaryUnRegister(handle) });
        assert_eq!(unsafe { rtDevBinaryUnRegister(handle) }, STALE);
        handle = null_mut();
    }
}

/// rtRegisterVariable with a binary: aclrtGetSymbolAddress#02 per device, #05; aclrtGetSymbolSize#09; the image's first value.
#[test]
fn variables_live_on_each_device() {
    on(2);
    let binary = register_binary();
    let counter = register_variable(binary, c"counter", 4);
    let table = register_variable(binary, c"table", 32);
    let kernel = register_kernel(binary, c"add");
    assert_eq!((read::<i32>(counter, 0), read::<i32>(table, 28)), (7, 8));
    let mut size = 0;
    done(unsafe { aclrtGetSymbolSize(table, &raw mut size) });
    assert_eq!(size, 32);
    assert_eq!(add(kernel, 5), 12);
    assert_eq!((read::<i32>(counter, 0), read::<i32>(table, 4)), (12, 7));
    let here = address(counter).1;
    let on_device = |at: *mut c_void| {
        let mut answer = unsafe { std::mem::zeroed::<sys::aclrtPtrAttributes>() };
        done(unsafe { aclrtPointerGetAttributes(at, &raw mut answer) });
        (answer.location.r#type, answer.location.id)
    };
    assert_eq!(on_device(here), (sys::ACL_MEM_LOCATION_TYPE_DEVICE, 2));
    {
        on(3);
        assert_eq!(read::<i32>(counter, 0), 7);
        assert_eq!(add(kernel, 1), 8);
        assert_ne!(address(counter).1, here);
        assert_eq!(on_device(address(counter).1), (sys::ACL_MEM_LOCATION_TYPE_DEVICE, 3));
        done(unsafe { aclrtSetDevice(2) });
    }
    assert_eq!(read::<i32>(counter, 0), 12);
    // Set twice, so the first reset keeps it.
    done(unsafe { aclrtResetDevice(2) });
    done(unsafe { aclrtSetDevice(2) });
    assert_eq!(read::<i32>(counter, 0), 12);
    done(unsafe { aclrtResetDeviceForce(2) });
    // After the last reset the device starts again.
    on(2);
    assert_eq!((read::<i32>(counter, 0), read::<i32>(table, 4)), (7, 2));
    assert_eq!(add(kernel, 1), 8);
    done(unsafe { rtDevBinaryUnRegister(binary) });
    assert_eq!(address(counter).0, UNKNOWN);
    assert_eq!(launch(kernel, 1, &0u8, null_mut()), NO_FUNCTION);
}

/// Copies by address are those of device memory: ranges end with the variable, and a stream's order holds.
#[test]
fn a_variables_address_is_device_memory() {
    on(0);
    let binary = register_binary();
    let zeros = register_variable(binary, c"zeros", 8192);
    let counter = register_variable(binary, c"counter", 4);
    let (code, at) = address(zeros);
    done(code);
    let bytes: Vec<u8> = (0..8192).map(|i| i as u8).collect();
    let (inward, out) = (sys::ACL_MEMCPY_HOST_TO_DEVICE, sys::ACL_MEMCPY_DEVICE_TO_HOST);
    done(unsafe { aclrtMemcpy(at, 8192, bytes.as_ptr().cast(), 8192, inward) });
    let mut back = vec![0u8; 8193];
    done(unsafe { aclrtMemcpy(back.as_mut_ptr().cast(), 8192, at, 8192, out) });
    assert_eq!(back[..8192], bytes);
    assert_eq!(unsafe { aclrtMemcpy(back.as_mut_ptr().cast(), 8193, at, 8193, out) }, PARAM);
    assert_eq!(unsafe { aclrtMemcpy(back.as_mut_ptr().cast(), 8193, at.byte_add(1), 8192, out) }, PARAM);
    // In a stream, between a fill and a kernel.
    let to = Number::new();
    let (_, number) = address(counter);
    done(unsafe { aclrtMemsetAsync(number, 4, 0, 4, null_mut()) });
    let kernel = register_kernel(binary, c"add");
    done(launch(kernel, 1, &Add { by: 3, now: to.0 }, null_mut()));
    done(unsafe { aclrtMemcpyAsync(at, 8192, number, 4, sys::ACL_MEMCPY_DEVICE_TO_DEVICE, null_mut()) });
    assert_eq!(to.get(), 3);
    assert_eq!(read::<i32>(zeros, 0), 3);
    assert_ne!(unsafe { aclrtFree(at) }, 0);
    done(unsafe { rtDevBinaryUnRegister(binary) });
}

/// rtRegisterVariable: what is wrong leaves the variable unregistered; a second registration is ignored.
#[test]
fn wrong_variables_stay_unknown() {
    on(0);
    let binary = register_binary();
    for (name, size) in [(c"none", 4), (c"counter", 5), (c"counter", 0), (c"", 4)] {
        assert_eq!(address(register_variable(binary, name, size)).0, UNKNOWN, "{name:?} {size}");
    }
    let stale = register_binary();
    done(unsafe { rtDevBinaryUnRegister(stale) });
    assert_eq!(address(register_variable(stale, c"counter", 4)).0, UNKNOWN);
    let counter = register_variable(binary, c"counter", 4);
    unsafe { rtRegisterVariable(binary, counter, c"table".as_ptr(), 32, 0, null_mut()) };
    let mut size = 0;
    done(unsafe { aclrtGetSymbolSize(counter, &raw mut size) });
    assert_eq!(size, 4);
    done(unsafe { rtDevBinaryUnRegister(binary) });
}

/// rtSymbolLookup, rtGetFuncBySymbol, rtGetAddrByFun.
#[test]
fn shadows_are_looked_up() {
    let binary = register_binary();
    let counter = register_variable(binary, c"counter", 4);
    let kernel = register_kernel(binary, c"nothing");
    let (mut at, mut size, mut function, mut code) = (null_mut(), 0usize, null_mut(), null_mut());
    // No context yet.
    assert_eq!(unsafe { rtSymbolLookup(counter, &raw mut at, &raw mut size) }, NO_CONTEXT);
    assert_eq!(unsafe { rtGetFuncBySymbol(kernel, &raw mut function) }, NO_CONTEXT);
    assert_eq!(unsafe { rtGetAddrByFun(kernel, &raw mut code) }, NO_CONTEXT);
    on(0);
    assert_eq!(unsafe { rtSymbolLookup(counter, null_mut(), &raw mut size) }, PARAM);
    assert_eq!(unsafe { rtSymbolLookup(counter, &raw mut at, null_mut()) }, PARAM);
    assert_eq!(unsafe { rtSymbolLookup(kernel, &raw mut at, &raw mut size) }, UNKNOWN);
    done(unsafe { rtSymbolLookup(counter, &raw mut at, &raw mut size) });
    assert_eq!((at, size), (address(counter).1, 4));
    assert_eq!(unsafe { rtGetFuncBySymbol(counter, &raw mut function) }, NO_FUNCTION);
    done(unsafe { rtGetFuncBySymbol(kernel, &raw mut function) });
    let mut same = null_mut();
    done(unsafe { rtGetFuncBySymbol(kernel, &raw mut same) });
    assert!(!function.is_null() && function == same);
    done(unsafe { rtGetAddrByFun(kernel, &raw mut code) });
    assert!(!code.is_null());
    done(unsafe { rtDevBinaryUnRegister(binary) });
}

/// rtFunctionRegister, rtQueryFunctionRegistered, rtGetFunctionByName; rtRegisterFuncSymbol.
#[test]
fn host_functions_stand_for_kernels() {
    on(0);
    let binary = register_binary();
    let register = |binary, stub, stub_name: *const CStr, kernel: *const CStr| unsafe {
        rtFunctionRegister(binary, stub, stub_name.cast(), kernel.cast(), 0)
    };
    let (stub, name): (_, *const CStr) = (shadow(1), c"stub of store");
    let none: *const CStr = std::ptr::slice_from_raw_parts(null::<u8>(), 0) as *const CStr;
    assert_eq!(register(null_mut(), stub, name, c"store"), PARAM);
    assert_eq!(register(binary, null(), name, c"store"), PARAM);
    assert_eq!(register(binary, stub, none, c"store"), PARAM);
    assert_eq!(register(binary, stub, name, c"no such kernel"), PARAM);
    assert_eq!(unsafe { rtQueryFunctionRegistered(name.cast()) }, PARAM);
    done(register(binary, stub, name, c"store"));
    assert_eq!(register(binary, stub, c"another name", c"store"), sys::ACL_ERROR_RT_KERNEL_DUPLICATE);
    assert_eq!(register(binary, shadow(1), name, c"store"), sys::ACL_ERROR_RT_KERNEL_DUPLICATE);
    done(unsafe { rtQueryFunctionRegistered(name.cast()) });
    let mut found = null_mut();
    done(unsafe { rtGetFunctionByName(name.cast(), &raw mut found) });
    assert_eq!(found.cast_const(), stub);
    assert_eq!(unsafe { rtGetFunctionByName(null(), &raw mut found) }, PARAM);
    assert_eq!(unsafe { rtGetFunctionByName(name.cast(), null_mut()) }, PARAM);
    let symbol = shadow(1);
    let register = |binary, symbol, kernel: *const CStr| unsafe {
        rtRegisterFuncSymbol(binary, symbol, kernel.cast(), null_mut())
    };
    assert_eq!(register(null_mut(), symbol, c"store"), PARAM);
    assert_eq!(register(binary, null(), c"store"), PARAM);
    assert_eq!(register(binary, symbol, none), PARAM);
    assert_eq!(register(binary, symbol, c"no such kernel"), PARAM);
    done(register(binary, symbol, c"store"));
    done(register(binary, symbol, c"add"));
    done(unsafe { rtDevBinaryUnRegister(binary) });
    assert_eq!(register(binary, symbol, c"store"), STALE);
    assert_eq!(unsafe { rtQueryFunctionRegistered(name.cast()) }, PARAM);
}

/// What a thread remembers of its last launches ends with the binary, and with the device's reset; an address may stand for another
/// kernel then.
#[test]
fn host_functions_end_with_their_binary() {
    on(0);
    let first = register_binary();
    let stub = register_kernel(first, c"add");
    assert_eq!((add(stub, 5), add(stub, 5)), (12, 17));
    // Fresh variables, as after any reset of the device.
    done(unsafe { aclrtResetDeviceForce(0) });
    on(0);
    assert_eq!((add(stub, 1), add(stub, 1)), (8, 9));
    done(unsafe { rtDevBinaryUnRegister(first) });
    let number = Number::new();
    let refused = |code| assert_eq!(launch(stub, 1, &Add { by: 1, now: number.0 }, null_mut()), code);
    refused(NO_FUNCTION);
    let second = register_binary();
    refused(NO_FUNCTION);
    done(unsafe { rtRegisterFuncSymbol(second, stub, c"add".as_ptr(), null_mut()) });
    assert_eq!((add(stub, 2), add(stub, 2)), (9, 11));
    done(unsafe { rtDevBinaryUnRegister(second) });
    let third = register_binary();
    done(unsafe { rtRegisterFuncSymbol(third, stub, c"store".as_ptr(), null_mut()) });
    // The other way around, as `store` takes them.
    #[repr(C)]
    struct Store(*mut c_void, i32);
    for value in [77, 78] {
        done(launch(stub, 1, &Store(number.0, value), null_mut()));
        assert_eq!(number.get(), value);
    }
    // Each thread remembers for itself, and it ends for each.
    let (at, to) = (stub as usize, number.0 as usize);
    let (ask, asked) = std::sync::mpsc::channel();
    let (say, said) = std::sync::mpsc::channel();
    let other = std::thread::spawn(move || {
        on(0);
        while let Ok(value) = asked.recv() {
            say.send(launch(at as *const c_void, 1, &Store(to as *mut c_void, value), null_mut())).unwrap();
        }
    });
    for value in [5, 6] {
        ask.send(value).unwrap();
        assert_eq!((said.recv(), number.get()), (Ok(0), value));
    }
    done(unsafe { rtDevBinaryUnRegister(third) });
    ask.send(0).unwrap();
    assert_eq!(said.recv(), Ok(NO_FUNCTION));
    refused(NO_FUNCTION);
    drop(ask);
    other.join().unwrap();
}

/// rtConfigureCall, rtSetupArgument, rtLaunch: once each, in the thread that calls them.
#[test]
fn the_older_launch_takes_its_arguments_one_by_one() {
    on(0);
    let binary = register_binary();
    let store = register_kernel(binary, c"store");
    let number = Number::new();
    let value = 42i32;
    assert_eq!(unsafe { rtLaunch(store) }, PARAM);
    assert_eq!(unsafe { rtConfigureCall(0, null_mut(), null_mut()) }, PARAM);
    assert_eq!(unsafe { rtSetupArgument((&raw const value).cast(), 4, 8) }, PARAM);
    done(unsafe { rtConfigureCall(1, null_mut(), null_mut()) });
    assert_eq!(unsafe { rtSetupArgument((&raw const value).cast(), 4, u32::MAX) }, PARAM);
    done(unsafe { rtSetupArgument((&raw const value).cast(), 4, 8) });
    done(unsafe { rtSetupArgument((&raw const number.0).cast(), 8, 0) });
    done(unsafe { rtLaunch(store) });
    assert_eq!(number.get(), 42);
    assert_eq!(unsafe { rtLaunch(store) }, PARAM);
    done(unsafe { rtDevBinaryUnRegister(binary) });
}

/// rtBinaryLoad and its kin: the same binaries with handles.
#[test]
fn a_binary_is_loaded_by_its_description() {
    let mut handle = null_mut();
    let description = describe(bytes());
    let at = (&raw const description).cast();
    assert_eq!(unsafe { rtBinaryLoad(at, &raw mut handle) }, NO_CONTEXT);
    on(0);
    let wrong = DevBinary { magic: 1, ..describe(bytes()) };
    assert_eq!(unsafe { rtBinaryLoad((&raw const wrong).cast(), &raw mut handle) }, PARAM);
    for way in 0..2 {
        done(if way == 0 {
            unsafe { rtBinaryLoad(at, &raw mut handle) }
        } else {
            let bytes = bytes();
            unsafe {
                rtBinaryLoadWithoutTilingKey(bytes.as_ptr().cast(), bytes.len() as u64, &raw mut handle)
            }
        });
        let (mut a, mut b, mut c, mut d) = (null_mut(), null_mut(), null_mut(), null_mut());
        done(unsafe { rtBinaryGetFunctionByName(handle, c"tiled_7".as_ptr(), &raw mut a) });
        done(unsafe { rtsFuncGetByName(handle, c"tiled_7".as_ptr(), &raw mut b) });
        done(unsafe { rtBinaryGetFunction(handle, 7, &raw mut c) });
        done(unsafe { rtsFuncGetByEntry(handle, 7, &raw mut d) });
        assert!(!a.is_null() && a == b && b == c && c == d);
        assert_eq!(unsafe { rtsFuncGetByName(handle, c"none".as_ptr(), &raw mut b) }, PARAM);
        assert_eq!(unsafe { rtsFuncGetByEntry(handle, 8, &raw mut d) }, PARAM);
        done(unsafe { rtBinaryUnLoad(handle) });
        assert_eq!(unsafe { rtBinaryUnLoad(handle) }, STALE);
    }
}
