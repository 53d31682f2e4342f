//! Chapter 04 on the default product (a2, 8 devices). Each test has a device of its own, since the process is shared.
#![allow(
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    reason = "tests call the C functions with valid arguments, or null"
)]

mod child;

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use ascendcl::context::*;
use ascendcl::device::*;
use ascendcl::exception::*;
use ascendcl_sys::*;
use child::{alone, c, message, text_at};

/// Calls a function with an out-parameter at its end.
macro_rules! ask {
    ($start:expr, $func:ident($($arg:expr),*)) => {{
        let mut out = $start;
        let code = unsafe { $func($($arg,)* &mut out) };
        (code, out)
    }};
}

fn active(device: i32) -> i32 {
    let mut active = -1;
    assert_eq!(unsafe { aclrtGetPrimaryCtxState(device, null_mut(), &mut active) }, 0);
    active
}

fn set(device: i32) {
    assert_eq!(unsafe { aclrtSetDevice(device) }, 0);
}

fn reset(device: i32) -> i32 {
    unsafe { aclrtResetDevice(device) }
}

fn force(device: i32) -> i32 {
    unsafe { aclrtResetDeviceForce(device) }
}

const GONE: i32 = ACL_ERROR_RT_CONTEXT_RELEASE_ERROR;

/// aclrtSetDevice#01, #02, aclrtResetDevice#02, #03, #05, #09, aclrtGetPrimaryCtxState#05
#[test]
fn the_last_reset_takes_the_device_down() {
    assert_eq!(active(1), 0);
    set(1);
    set(1);
    assert_eq!(active(1), 1);
    let (code, context) = ask!(null_mut(), aclrtGetCurrentContext());
    assert_eq!(code, 0);
    assert_eq!(reset(1), 0);
    assert_eq!(active(1), 1);
    assert_eq!(ask!(-1, aclrtGetDevice()), (0, 1));
    assert_eq!(reset(1), 0);
    assert_eq!(active(1), 0);
    assert_eq!(ask!(-1, aclrtGetDevice()).0, ACL_ERROR_RT_CONTEXT_NULL);
    assert_eq!(reset(1), GONE);
    // Its default context does not come back with the device.
    set(1);
    assert_eq!(unsafe { aclrtSetCurrentContext(context) }, ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(reset(1), 0);
}

/// aclrtResetDeviceForce#02 to #07, aclrtResetDevice#06
#[test]
fn force_ends_every_use() {
    set(2);
    set(2);
    assert_eq!(force(2), 0);
    assert_eq!(active(2), 0);
    assert_eq!(force(2), GONE);
    assert_eq!(reset(2), GONE);
    for _ in 0..2 {
        set(2);
        assert_eq!(force(2), 0);
    }
    set(2);
    set(2);
    assert_eq!(reset(2), 0);
    assert_eq!(force(2), 0);
    assert_eq!(force(2), GONE);
    set(2);
    set(2);
    assert_eq!((reset(2), reset(2), force(2)), (0, 0, GONE));
}

/// aclrtSetDevice#04, aclrtResetDevice#01, aclrtResetDeviceForce#01, aclrtGetPrimaryCtxState#01, #02, #04
#[test]
fn devices_that_are_not_there() {
    for id in [-1, 8, i32::MIN, i32::MAX] {
        assert_eq!(unsafe { aclrtSetDevice(id) }, ACL_ERROR_RT_INVALID_DEVICEID, "{id}");
        assert_eq!(reset(id), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(force(id), ACL_ERROR_RT_INVALID_DEVICEID);
        let code = unsafe { aclrtGetPrimaryCtxState(id, null_mut(), &mut 0) };
        assert_eq!(code, ACL_ERROR_RT_INVALID_DEVICEID);
    }
    let said = message();
    for word in [
        "aclrtSetDevice",
        "deviceId",
        "8 is not in [0, 7]",
        "107001",
        "ACL_ERROR_RT_INVALID_DEVICEID",
        "aclrtSetDevice#04",
    ] {
        assert!(said.contains(word), "{word} in {said}");
    }
    assert_eq!(unsafe { aclrtGetPrimaryCtxState(0, null_mut(), null_mut()) }, ACL_ERROR_INVALID_PARAM);
    let mut flags = 0;
    assert_eq!(unsafe { aclrtGetPrimaryCtxState(0, &mut flags, &mut 0) }, ACL_ERROR_INVALID_PARAM);
}

/// aclrtSetDevice#05, #08, aclrtGetDevice#02
#[test]
fn a_thread_owns_what_it_selects() {
    assert_eq!(ask!(-1, aclrtGetDevice()).0, ACL_ERROR_RT_CONTEXT_NULL);
    let (code, context) = ask_context(3);
    assert_eq!(code, 0);
    assert_eq!(ask!(-1, aclrtGetDevice()), (0, 3));
    set(4);
    assert_eq!(ask!(-1, aclrtGetDevice()), (0, 4));
    let (_, primary) = ask!(null_mut(), aclrtGetCurrentContext());
    assert_ne!(primary, context);
    let primary = primary as u64;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(ask!(-1, aclrtGetDevice()).0, ACL_ERROR_RT_CONTEXT_NULL);
            set(4);
            let (_, shared) = ask!(null_mut(), aclrtGetCurrentContext());
            // aclrtSetDevice#01: threads that select the same device share its default context.
            assert_eq!(shared as u64, primary);
            assert_eq!(reset(4), 0);
        });
    });
    // aclrtSetCurrentContext#05
    assert_eq!(unsafe { aclrtSetCurrentContext(context) }, 0);
    assert_eq!(ask!(-1, aclrtGetDevice()), (0, 3));
    assert_eq!(unsafe { aclrtDestroyContext(context) }, 0);
    assert_eq!(ask!(-1, aclrtGetDevice()), (0, 4));
    assert_eq!(reset(4), 0);
}

fn ask_context(device: i32) -> (i32, aclrtContext) {
    let mut context = null_mut();
    (unsafe { aclrtCreateContext(&mut context, device) }, context)
}

/// *#02: null out-parameters.
#[test]
fn null_results() {
    let codes = unsafe {
        [
            aclrtGetDevice(null_mut()),
            aclrtGetDeviceCount(null_mut()),
            aclrtGetRunMode(null_mut()),
            aclrtGetDeviceInfo(0, ACL_DEV_ATTR_L2_CACHE_SIZE, null_mut()),
            aclrtGetDeviceUtilizationRate(0, null_mut()),
            aclrtQueryDeviceStatus(0, null_mut()),
            aclrtGetDeviceCapability(0, 1, null_mut()),
            aclrtDeviceGetUuid(0, null_mut()),
            aclrtDeviceGetPCIBusId(0, null_mut(), 13),
            aclrtDeviceGetByPCIBusId(null(), &mut 0),
            aclrtDeviceGetByPCIBusId(c("x").as_ptr(), null_mut()),
            aclrtDeviceGetBareTgid(null_mut()),
            aclrtGetDevicesTopo(0, 1, null_mut()),
            aclrtDevicePeerAccessStatus(0, 1, null_mut()),
            aclrtGetLogicDevIdByUserDevId(0, null_mut()),
            aclrtGetUserDevIdByLogicDevId(0, null_mut()),
            aclrtGetLogicDevIdByPhyDevId(0, null_mut()),
            aclrtGetPhyDevIdByLogicDevId(0, null_mut()),
            aclrtGetUserDevIdByPhyDevId(0, null_mut()),
            aclrtGetPhyDevIdByUserDevId(0, null_mut()),
            aclrtDeviceGetLimit(2, null_mut()),
            aclrtGetDeviceSatMode(null_mut()),
            aclrtGetOverflowStatus(null_mut(), 64, null_mut()),
            aclrtRegDeviceStateCallback(null(), None, null_mut()),
            aclrtSetDeviceTaskAbortCallback(null(), None, null_mut()),
        ]
    };
    assert_eq!(codes, [ACL_ERROR_INVALID_PARAM; 25]);
    // aclrtDeviceCanAccessPeer#02, #03, aclrtDeviceGetHostAtomicCapabilities#01: the runtime layer finds these.
    let operation = [0u32];
    let codes = unsafe {
        [
            aclrtDeviceCanAccessPeer(null_mut(), 0, 1),
            aclrtDeviceGetHostAtomicCapabilities(null_mut(), operation.as_ptr(), 1, 0),
            aclrtDeviceGetP2PAtomicCapabilities(&mut 0, null(), 1, 0, 1),
        ]
    };
    assert_eq!(codes, [ACL_ERROR_RT_PARAM_INVALID; 3]);
    // An out-parameter that is not null but not there either.
    let wild = 0x10 as *mut i32;
    assert_eq!(unsafe { aclrtGetDevice(wild) }, ACL_ERROR_RT_CONTEXT_NULL);
    assert_eq!(unsafe { aclrtGetDeviceCount(wild.cast()) }, ACL_ERROR_INVALID_PARAM);
}

/// aclrtGetRunMode#02, aclrtGetSocName#01, #03, aclrtGetDeviceCount
#[test]
fn what_the_platform_is() {
    assert_eq!(ask!(9, aclrtGetRunMode()), (0, ACL_HOST));
    assert_eq!(ask!(0, aclrtGetDeviceCount()), (0, 8));
    let name = unsafe { aclrtGetSocName() };
    assert_eq!(unsafe { text_at(name) }, "Ascend910B1");
    assert_eq!(unsafe { aclrtGetSocName() }, name);
    assert_eq!(ask!(0, aclrtDeviceGetBareTgid()), (0, std::process::id() as i32));
    let mut range = [9, 9];
    let [least, greatest] = &mut range;
    // aclrtDeviceGetStreamPriorityRange#01, #02
    assert_eq!(unsafe { aclrtDeviceGetStreamPriorityRange(least, greatest) }, 0);
    assert_eq!(range, [7, 0]);
    assert_eq!(unsafe { aclrtDeviceGetStreamPriorityRange(null_mut(), null_mut()) }, 0);
}

/// aclrtGetDeviceInfo#03, #04, #06, #07, #10, #11, #13
#[test]
fn device_attributes() {
    let get = |attr| ask!(-9, aclrtGetDeviceInfo(0, attr));
    assert_eq!(get(ACL_DEV_ATTR_AICORE_CORE_NUM), (0, 24));
    assert_eq!(get(ACL_DEV_ATTR_CUBE_CORE_NUM), (0, 24));
    assert_eq!(get(ACL_DEV_ATTR_VECTOR_CORE_NUM), (0, 48));
    assert_eq!(get(ACL_DEV_ATTR_AICPU_CORE_NUM), (0, 6));
    assert_eq!(get(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE), (0, 64 << 30));
    assert_eq!(get(ACL_DEV_ATTR_L2_CACHE_SIZE), (0, 192 << 20));
    assert_eq!(get(ACL_DEV_ATTR_NPU_ARCH), (0, 2201));
    assert_eq!(get(ACL_DEV_ATTR_IS_VIRTUAL), (0, 0));
    for attr in 202..=212 {
        assert_eq!(get(attr), (0, 0), "{attr}");
    }
    assert_eq!(get(ACL_DEV_ATTR_HD_CONNECT_TYPE), (ACL_ERROR_RT_FEATURE_NOT_SUPPORT, -9));
    assert_eq!(get(ACL_DEV_ATTR_DEVICE_FORM_FACTOR), (ACL_ERROR_RT_FEATURE_NOT_SUPPORT, -9));
    for attr in [0, 2, 213, 300, 602, u32::MAX] {
        assert_eq!(get(attr).0, ACL_ERROR_RT_PARAM_INVALID, "{attr}");
    }
    for id in [8, u32::MAX] {
        let code = ask!(0, aclrtGetDeviceInfo(id, ACL_DEV_ATTR_NPU_ARCH)).0;
        assert_eq!(code, ACL_ERROR_RT_PARAM_INVALID);
    }
}

/// aclrtGetDeviceUtilizationRate#02, #04, #05, #06, aclrtQueryDeviceStatus#03, #04, aclrtGetDeviceCapability#03, #05, #06
#[test]
fn how_a_device_is() {
    let empty = aclrtUtilizationInfo {
        cubeUtilization: 9,
        vectorUtilization: 9,
        aicpuUtilization: 9,
        memoryUtilization: 9,
        utilizationExtend: null_mut(),
    };
    let rates = |id| {
        let (code, info) = ask!(empty, aclrtGetDeviceUtilizationRate(id));
        (code, info.cubeUtilization, info.vectorUtilization, info.aicpuUtilization, info.memoryUtilization)
    };
    assert_eq!(rates(0), (0, 0, 0, 0, -1));
    assert_eq!(rates(8), (0, -1, -1, -1, -1));
    let mut extended = aclrtUtilizationInfo { utilizationExtend: 8 as *mut _, ..empty };
    assert_eq!(unsafe { aclrtGetDeviceUtilizationRate(0, &mut extended) }, ACL_ERROR_INVALID_PARAM);
    assert_eq!(extended.cubeUtilization, 9);
    assert_eq!(ask!(7, aclrtQueryDeviceStatus(0)), (0, ACL_RT_DEVICE_STATUS_NORMAL));
    assert_eq!(ask!(7, aclrtQueryDeviceStatus(8)), (ACL_ERROR_RT_INVALID_DEVICEID, 7));
    assert_eq!(ask!(7, aclrtGetDeviceCapability(0, 21)), (0, 0));
    assert_eq!(ask!(7, aclrtGetDeviceCapability(0, 2)), (ACL_ERROR_RT_PARAM_INVALID, 7));
    assert_eq!(ask!(7, aclrtGetDeviceCapability(-1, 1)), (ACL_ERROR_RT_INVALID_DEVICEID, 7));
}

/// aclrtDeviceGetUuid#02, #03, aclrtDeviceGetPCIBusId#03 to #06, aclrtDeviceGetByPCIBusId#03 to #05
#[test]
fn names_of_a_device() {
    let uuid = |id| ask!(aclrtUuid { bytes: [0; 16] }, aclrtDeviceGetUuid(id));
    assert_eq!(uuid(8).0, ACL_ERROR_RT_INVALID_DEVICEID);
    let (first, second) = (uuid(0).1.bytes, uuid(1).1.bytes);
    assert_eq!(uuid(0).1.bytes, first);
    assert_ne!(first, second);
    assert_eq!((first[6] as u8 >> 4, first[8] as u8 >> 6), (8, 2), "version and variant of RFC 9562");
    let bus = |id, len| {
        let mut text = [9 as c_char; 16];
        (unsafe { aclrtDeviceGetPCIBusId(id, text.as_mut_ptr(), len) }, text)
    };
    assert_eq!(bus(-1, 1).0, ACL_ERROR_RT_INVALID_DEVICEID);
    assert_eq!(bus(8, 12).0, ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(bus(8, 13).0, ACL_ERROR_RT_INVALID_DEVICEID);
    for id in 0..8 {
        let (code, text) = bus(id, 13);
        let text = unsafe { text_at(text.as_ptr()) };
        assert_eq!(code, 0);
        assert!(text.len() == 12 && text.as_bytes()[4] == b':' && text.ends_with(".0"), "{text}");
        assert_eq!(ask!(-1, aclrtDeviceGetByPCIBusId(c(&text).as_ptr())), (0, id));
    }
    assert_eq!(bus(0, 13).1[13], 9, "no byte behind the end mark");
    for bad in ["", "0000:01:00", "0000:FF:00.0", "0000:01:00.0 "] {
        assert_eq!(
            ask!(-1, aclrtDeviceGetByPCIBusId(c(bad).as_ptr())).0,
            ACL_ERROR_RT_PARAM_INVALID,
            "{bad}"
        );
    }
}

/// aclrtGetDevicesTopo#02 to #04
#[test]
fn links_between_devices() {
    assert_eq!(ask!(0, aclrtGetDevicesTopo(0, 0)), (0, ACL_RT_DEVS_TOPOLOGY_HCCS));
    assert_eq!(ask!(0, aclrtGetDevicesTopo(0, 1)), (0, ACL_RT_DEVS_TOPOLOGY_HCCS));
    assert_eq!(ask!(0, aclrtGetDevicesTopo(0, 8)).0, ACL_ERROR_RT_INVALID_DEVICEID);
    assert_eq!(ask!(0, aclrtGetDevicesTopo(u32::MAX, 0)).0, ACL_ERROR_RT_INVALID_DEVICEID);
}

/// aclrtDeviceGetHostAtomicCapabilities#02, #04, #06, #07, aclrtDeviceGetP2PAtomicCapabilities#02, #03, #05 to #07
#[test]
fn atomic_capabilities() {
    let operations = [ACL_RT_ATOMIC_OPERATION_INTEGER_ADD, ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH];
    let mut answers = [9u32; 2];
    let host = |answers: &mut [u32; 2], operations: &[u32; 2], count, id| unsafe {
        aclrtDeviceGetHostAtomicCapabilities(answers.as_mut_ptr(), operations.as_ptr(), count, id)
    };
    assert_eq!(host(&mut answers, &operations, 0, 0), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(host(&mut answers, &operations, 2, 8), ACL_ERROR_RT_INVALID_DEVICEID);
    assert_eq!(host(&mut answers, &[0, 13], 2, 0), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(answers, [9, 9]);
    assert_eq!((host(&mut answers, &operations, 2, 0), answers), (0, [0, 0]));
    let mut peer = |count, one, two| unsafe {
        aclrtDeviceGetP2PAtomicCapabilities(answers.as_mut_ptr(), operations.as_ptr(), count, one, two)
    };
    assert_eq!(peer(0, 1, 1), ACL_ERROR_RT_PARAM_INVALID);
    for (one, two) in [(1, 1), (8, 0), (0, 8)] {
        assert_eq!(peer(2, one, two), ACL_ERROR_RT_INVALID_DEVICEID);
    }
    assert_eq!(peer(2, 0, 1), 0);
}

/// aclrtDeviceCanAccessPeer#01, #03 to #05, aclrtDeviceEnablePeerAccess#01 to #07, aclrtDeviceDisablePeerAccess#01 to #05,
/// aclrtDevicePeerAccessStatus#02, #03
#[test]
fn peer_access_is_one_way_and_the_devices() {
    assert_eq!(ask_peer(0, 0), (ACL_ERROR_INVALID_PARAM, 9));
    assert_eq!(ask_peer(99, 99), (ACL_ERROR_INVALID_PARAM, 9));
    assert_eq!(ask_peer(0, 8), (ACL_ERROR_RT_INVALID_DEVICEID, 9));
    assert_eq!(ask_peer(5, 6), (0, 1));
    let status = |from, to| ask!(9, aclrtDevicePeerAccessStatus(from, to));
    unsafe {
        assert_eq!(aclrtDeviceEnablePeerAccess(6, 1), ACL_ERROR_FEATURE_UNSUPPORTED, "flags come first");
        assert_eq!(aclrtDeviceEnablePeerAccess(6, 0), ACL_ERROR_RT_CONTEXT_NULL);
        assert_eq!(aclrtDeviceDisablePeerAccess(6), ACL_ERROR_RT_CONTEXT_NULL);
        set(5);
        assert_eq!(aclrtDeviceEnablePeerAccess(5, 0), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtDeviceEnablePeerAccess(8, 0), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(aclrtDeviceDisablePeerAccess(5), ACL_ERROR_INVALID_PARAM);
        assert_eq!(aclrtDeviceDisablePeerAccess(8), ACL_ERROR_RT_INVALID_DEVICEID);
        assert_eq!(aclrtDeviceDisablePeerAccess(6), 0, "nothing to end");
        assert_eq!(status(5, 6), (0, 0));
        assert_eq!(aclrtDeviceEnablePeerAccess(6, 0), 0);
        assert_eq!((status(5, 6), status(6, 5), status(5, 7)), ((0, 1), (0, 0), (0, 0)));
        std::thread::spawn(move || assert_eq!(status(5, 6), (0, 1))).join().unwrap();
        assert_eq!(status(5, 8), (ACL_ERROR_RT_PARAM_INVALID, 9));
        assert_eq!(status(-1, 0), (ACL_ERROR_RT_PARAM_INVALID, 9));
        assert_eq!(aclrtDeviceDisablePeerAccess(6), 0);
        assert_eq!(status(5, 6), (0, 0));
    }
    let rt = toprope_runtime::process::runtime().unwrap();
    assert!(device_peer(rt, 5, 5), "a device reaches its own memory");
    assert!(!device_peer(rt, 5, 6));
    assert_eq!(unsafe { aclrtDeviceEnablePeerAccess(6, 0) }, 0);
    assert!(device_peer(rt, 5, 6));
    assert_eq!(reset(5), 0);
    assert!(!device_peer(rt, 5, 6), "the reset of a device ends what it was given");
}

fn device_peer(rt: &toprope_runtime::Runtime, from: u16, to: u16) -> bool {
    toprope_runtime::device::peer::peer_enabled(rt, from, to)
}

fn ask_peer(from: i32, to: i32) -> (i32, i32) {
    let mut answer = 9;
    (unsafe { aclrtDeviceCanAccessPeer(&mut answer, from, to) }, answer)
}

/// aclrtSetTsDevice#01, #02
#[test]
fn schedulers() {
    assert_eq!(unsafe { [aclrtSetTsDevice(0), aclrtSetTsDevice(1)] }, [0, 0]);
    assert_eq!(unsafe { aclrtSetTsDevice(2) }, ACL_ERROR_INVALID_PARAM);
    assert_eq!(unsafe { aclrtSetTsDevice(u32::MAX) }, ACL_ERROR_INVALID_PARAM);
}

/// aclrtDeviceSetLimit#01, #02, #04, #08, #09, #11, aclrtDeviceGetLimit#02, #04, #07
#[test]
fn sizes_of_stacks_and_print_buffers() {
    alone("sizes_of_stacks_and_print_buffers", &[], || {
        let set = |limit, value| unsafe { aclrtDeviceSetLimit(limit, value) };
        let get = |limit| ask!(7, aclrtDeviceGetLimit(limit));
        assert_eq!((get(2), get(3)), ((0, 32 << 10), (0, 32 << 10)), "defaults");
        assert_eq!(set(5, 1), ACL_ERROR_INVALID_PARAM);
        assert_eq!(get(5), (ACL_ERROR_INVALID_PARAM, 7));
        assert_eq!(set(2, 1 << 32), ACL_ERROR_INVALID_PARAM);
        for simt in [0, 1, 4] {
            assert_eq!(set(simt, 2 << 20), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
            assert_eq!(get(simt), (ACL_ERROR_RT_FEATURE_NOT_SUPPORT, 7));
        }
        assert_eq!((set(2, 40_000), get(2)), (0, (0, 48 << 10)));
        assert_eq!((set(2, 100), get(2)), (0, (0, 32 << 10)));
        assert_eq!((set(2, 192 << 10), get(2)), (0, (0, 192 << 10)));
        assert_eq!(set(2, (192 << 10) + 1), ACL_ERROR_RT_PARAM_INVALID);
        assert_eq!((set(3, 1025), get(3)), (0, (0, 1032)));
        assert_eq!(set(3, 1023), ACL_ERROR_RT_PARAM_INVALID);
        assert_eq!(set(3, (64 << 20) + 1), ACL_ERROR_RT_PARAM_INVALID);
        assert_eq!((get(2), get(3)), ((0, 192 << 10), (0, 1032)), "a refused value changes nothing");
    });
}

/// aclrtDeviceSetLimit#05 to #07, #10, #12, aclrtDeviceGetLimit#05, #06, aclrtGetDeviceInfo#05, #08, #12, aclrtSetDeviceSatMode#03
#[test]
fn the_950_has_simt() {
    alone("the_950_has_simt", &[("TOPROPE_PRODUCT", "950pr")], || {
        let set = |limit, value| unsafe { aclrtDeviceSetLimit(limit, value) };
        let get = |limit| ask!(7, aclrtDeviceGetLimit(limit));
        assert_eq!((get(0), get(1), get(4)), ((0, 1152 * 32), (0, 1024), (0, 2 << 20)));
        assert_eq!((set(0, 256), get(0)), (0, (0, 8192)));
        assert_eq!((set(1, 500), get(1)), (0, (0, 512)));
        assert_eq!((set(4, (1 << 20) + 1), get(4)), (0, (0, (1 << 20) + 8)));
        assert_eq!(set(4, (1 << 20) - 1), ACL_ERROR_RT_PARAM_INVALID);
        assert_eq!(set(2, (128 << 10) + 1), ACL_ERROR_RT_PARAM_INVALID);
        assert_eq!(set(0, 0), 0);
        assert_eq!(set(1, 0), ACL_ERROR_RT_PARAM_INVALID, "both SIMT stacks 0");
        assert_eq!((get(0), get(1)), ((0, 0), (0, 512)));
        assert_eq!(ask!(0, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE)), (0, 32));
        assert_eq!(ask!(9, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_HD_CONNECT_TYPE)), (0, 0));
        assert_eq!(ask!(9, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_DEVICE_FORM_FACTOR)), (0, 3));
        assert_eq!(ask!(9, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH)), (0, 3510));
        assert_eq!(unsafe { aclrtSetDeviceSatMode(0) }, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        assert_eq!(ask!(9, aclrtGetDeviceSatMode()), (0, 1));
    });
}

/// aclrtSetDeviceSatMode#01, #04, #05, aclrtGetDeviceSatMode#02
#[test]
fn overflow_modes() {
    alone("overflow_modes", &[], || {
        let set_mode = |mode| unsafe { aclrtSetDeviceSatMode(mode) };
        let mode = || ask!(9, aclrtGetDeviceSatMode());
        assert_eq!(mode(), (0, ACL_RT_OVERFLOW_MODE_INFNAN));
        for bad in [2, 3, u32::MAX] {
            assert_eq!(set_mode(bad), ACL_ERROR_RT_PARAM_INVALID);
        }
        assert_eq!((set_mode(0), mode()), (0, (0, 0)), "of the process");
        set(0);
        assert_eq!((mode(), set_mode(1), mode()), ((0, 0), 0, (0, 1)), "of the device");
        set(1);
        assert_eq!(mode(), (0, 0));
    });
}

/// aclrtSetDeviceSatMode#04, aclrtDeviceCanAccessPeer#09, aclrtDevicePeerAccessStatus#04, *#06, aclrtGetRunMode#03,
/// aclrtGetDevicesTopo#05
#[test]
fn the_200i_in_root_complex_form() {
    let env = [("TOPROPE_PRODUCT", "200i-500-a2"), ("TOPROPE_FORM", "rc")];
    alone("the_200i_in_root_complex_form", &env, || {
        assert_eq!(ask!(9, aclrtGetRunMode()), (0, ACL_DEVICE));
        assert_eq!(unsafe { aclrtSetDeviceSatMode(1) }, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        assert_eq!(ask!(9, aclrtGetDeviceSatMode()), (0, 0));
        assert_eq!(ask_peer(0, 1), (ACL_ERROR_RT_FEATURE_NOT_SUPPORT, 9));
        assert_eq!(ask!(9, aclrtDevicePeerAccessStatus(0, 0)), (0, 0));
        assert_eq!(ask!(9, aclrtGetDevicesTopo(0, 0)).0, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        message();
        assert_eq!(unsafe { aclrtDeviceGetUuid(0, null_mut()) }, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        assert!(message().contains("aclrtDeviceGetUuid is not supported on 200i-500-a2"));
    });
}

/// aclrtSetDevice#06, *#05
#[test]
fn the_ipv350_has_no_default_context() {
    alone("the_ipv350_has_no_default_context", &[("TOPROPE_PRODUCT", "ipv350")], || {
        set(0);
        assert_eq!(ask!(-1, aclrtGetDevice()), (0, 0));
        assert_eq!(ask!(null_mut(), aclrtGetCurrentContext()).0, ACL_ERROR_RT_CONTEXT_NULL);
        assert_eq!(ask_context(0).0, 0);
        assert_eq!(ask!(-1, aclrtGetDevice()), (0, 0));
        assert_eq!(reset(0), 0);
        assert_eq!(reset(0), GONE);
        assert!(unsafe { aclrtGetSocName() }.is_null());
    });
}

/// aclrtGetDeviceCount#02, aclrtSetDevice#10, aclrtGetLogicDevIdByUserDevId#02, #03, #05, aclrtGetUserDevIdByLogicDevId#02, #03,
/// aclrtGetLogicDevIdByPhyDevId#02, aclrtGetPhyDevIdByLogicDevId#02, #03, and the page of the variable
#[test]
fn visible_devices_are_renumbered() {
    let err = alone("visible_devices_are_renumbered", &[("ASCEND_RT_VISIBLE_DEVICES", "1,4,9,5")], || {
        assert_eq!(ask!(0, aclrtGetDeviceCount()), (0, 2));
        set(1);
        assert_eq!(unsafe { aclrtSetDevice(2) }, ACL_ERROR_RT_INVALID_DEVICEID);
        let bad = ACL_ERROR_RT_INVALID_DEVICEID;
        for (user, logic) in [(0, 1), (1, 4)] {
            assert_eq!(ask!(-1, aclrtGetLogicDevIdByUserDevId(user)), (0, logic));
            assert_eq!(ask!(-1, aclrtGetPhyDevIdByUserDevId(user)), (0, logic));
            assert_eq!(ask!(-1, aclrtGetPhyDevIdByLogicDevId(user)), (0, logic));
            assert_eq!(ask!(-1, aclrtGetUserDevIdByLogicDevId(logic)), (0, user));
            assert_eq!(ask!(-1, aclrtGetUserDevIdByPhyDevId(logic)), (0, user));
            assert_eq!(ask!(-1, aclrtGetLogicDevIdByPhyDevId(logic)), (0, user));
        }
        for id in [-1, 2, 8] {
            assert_eq!(ask!(-1, aclrtGetLogicDevIdByUserDevId(id)), (bad, -1));
            assert_eq!(ask!(-1, aclrtGetUserDevIdByLogicDevId(id)), (bad, -1));
        }
        assert_eq!(ask!(0, aclrtGetDeviceInfo(1, ACL_DEV_ATTR_PHY_CHIP_ID)), (0, 4));
    });
    if let Some(err) = err {
        let warnings: Vec<_> = err.lines().filter(|line| line.starts_with("toprope:")).collect();
        assert!(warnings.len() == 1 && warnings[0].contains("'9'"), "{err}");
    }
}

/// aclrtGetDeviceCount#03
#[test]
fn a_bad_list_of_devices_shows_none() {
    alone("a_bad_list_of_devices_shows_none", &[("ASCEND_RT_VISIBLE_DEVICES", "2,1")], || {
        assert_eq!(ask!(9, aclrtGetDeviceCount()), (ACL_ERROR_RT_NO_DEVICE, 9));
        assert!(message().contains("ids must ascend"));
        assert_eq!(unsafe { aclrtSetDevice(0) }, ACL_ERROR_RT_INVALID_DEVICEID);
    });
}

#[test]
fn the_chip_can_be_chosen() {
    alone("the_chip_can_be_chosen", &[("TOPROPE_SOC", "Ascend910B3")], || {
        assert_eq!(unsafe { text_at(aclrtGetSocName()) }, "Ascend910B3");
    });
}

#[test]
fn a_chip_of_another_product_is_refused() {
    let err = alone("a_chip_of_another_product_is_refused", &[("TOPROPE_SOC", "Ascend310P3")], || {
        assert!(unsafe { aclrtGetSocName() }.is_null());
    });
    assert!(err.is_none_or(|err| err.contains("Ascend310P3") && err.contains("valid: Ascend910B1, ")));
}

/// What the state callback saw: device, state and argument.
static SEEN: std::sync::Mutex<Vec<(i32, u32, usize)>> = std::sync::Mutex::new(Vec::new());

unsafe extern "C" fn note(device: i32, state: aclrtDeviceState, args: *mut c_void) {
    // Outside every lock: a callback may call in.
    assert_eq!(ask!(0, aclrtGetDeviceCount()).0, 0);
    SEEN.lock().unwrap().push((device, state, args as usize));
}

/// aclrtRegDeviceStateCallback#02 to #06
#[test]
fn state_callbacks() {
    alone("state_callbacks", &[], || {
        let register = |name: &str, func| unsafe {
            aclrtRegDeviceStateCallback(c(name).as_ptr(), func, 77 as *mut c_void)
        };
        assert_eq!(register("", Some(note as _)), ACL_ERROR_INVALID_PARAM);
        assert_eq!(register("a", Some(note as _)), 0);
        assert_eq!(register("a", Some(note as _)), ACL_ERROR_INVALID_PARAM);
        set(3);
        assert_eq!(reset(3), 0);
        assert_eq!(reset(3), GONE);
        assert_eq!(unsafe { aclrtSetDevice(99) }, ACL_ERROR_RT_INVALID_DEVICEID);
        let seen = std::mem::take(&mut *SEEN.lock().unwrap());
        assert_eq!(seen, [(3, 0, 77), (3, 1, 77), (3, 2, 77), (3, 3, 77)], "failed calls tell nothing");
        assert_eq!(register("a", None), 0);
        set(3);
        assert_eq!(reset(3), 0);
        assert!(SEEN.lock().unwrap().is_empty());
    });
}

/// aclrtGetOverflowStatus#03, #06, #07, #09, aclrtResetOverflowStatus#02
#[test]
fn overflow_status_arrives_in_stream_order() {
    let get =
        |addr: usize, size, stream| unsafe { aclrtGetOverflowStatus(addr as *mut c_void, size, stream) };
    assert_eq!(get(8, 64, null_mut()), ACL_ERROR_RT_CONTEXT_NULL);
    set(7);
    let rt = toprope_runtime::process::runtime().unwrap();
    // Device memory of the runtime itself: filled here, and where the status must arrive.
    let mut area = null_mut();
    assert_eq!(unsafe { aclrtCtxGetFloatOverflowAddr(&mut area) }, 0);
    let area = area as usize;
    let inner = rt.space.inner(area);
    unsafe { toprope_engine::memory::fill(inner, 0xff, 64) }.unwrap();
    assert_eq!(get(area, 63, null_mut()), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(get(area + 1, 64, null_mut()), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(get(&raw const inner as usize, 64, null_mut()), ACL_ERROR_RT_PARAM_INVALID);
    assert_eq!(get(area, 64, 0x1234 as aclrtStream), ACL_ERROR_RT_INVALID_HANDLE);
    assert_eq!(unsafe { aclrtResetOverflowStatus(0x1234 as aclrtStream) }, ACL_ERROR_RT_INVALID_HANDLE);
    assert_eq!(get(area, 64, null_mut()), 0);
    let mut stream = null_mut();
    assert_eq!(unsafe { aclrtCtxGetCurrentDefaultStream(&mut stream) }, 0);
    let pin = rt.streams.pin(stream as u64).unwrap();
    rt.engine.wait(pin.mark(rt), None);
    assert_eq!(toprope_runtime::bytes::read::<[u8; 64]>(inner), Ok([0; 64]));
    // aclrtGetOverflowStatus#06
    let (_, other) = ask_context(7);
    assert_eq!(get(area, 64, stream), ACL_ERROR_RT_STREAM_CONTEXT);
    assert_eq!(unsafe { aclrtDestroyContext(other) }, 0);
    drop(pin);
    assert_eq!(reset(7), 0);
    assert_eq!(rt.space.find(area), None, "the area went with its context");
    let _ = unsafe { aclGetRecentErrMsg() };
}
