//! Chapter 04: devices.

use std::ffi::{CString, c_char, c_void};
use std::sync::OnceLock;

use ascendcl_sys::*;
use toprope_runtime::call::{call, value};
use toprope_runtime::device::{info, limit, notice, overflow, peer, visible};
use toprope_runtime::{Api, device, refuse};

use crate::arg;

/// Selects a device for the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetDevice(deviceId: i32) -> aclError {
    call(Api::aclrtSetDevice, |rt| device::set(rt, deviceId))
}

/// Takes back one aclrtSetDevice; the last one takes the device down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtResetDevice(deviceId: i32) -> aclError {
    call(Api::aclrtResetDevice, |rt| device::reset(rt, deviceId))
}

/// Takes the device down whatever the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtResetDeviceForce(deviceId: i32) -> aclError {
    call(Api::aclrtResetDeviceForce, |rt| device::reset_force(rt, deviceId))
}

/// Answers the device of the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDevice(deviceId: *mut i32) -> aclError {
    call(Api::aclrtGetDevice, |rt| {
        let out = arg::out(deviceId, "deviceId", "aclrtGetDevice#01")?;
        out.set(device::get(rt)?)
    })
}

/// Answers how many devices there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceCount(count: *mut u32) -> aclError {
    call(Api::aclrtGetDeviceCount, |rt| {
        let out = arg::out(count, "count", "aclrtGetDeviceCount#01")?;
        out.set(device::count(rt)?)
    })
}

/// Waits for every stream of the device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSynchronizeDevice() -> aclError {
    call(Api::aclrtSynchronizeDevice, |rt| device::synchronize(rt, None))
}

/// Waits for every stream of the device, for so many milliseconds at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSynchronizeDeviceWithTimeout(timeout: i32) -> aclError {
    call(Api::aclrtSynchronizeDeviceWithTimeout, |rt| device::synchronize_with_timeout(rt, timeout))
}

/// Answers the numbers of the lowest and the highest stream priority.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceGetStreamPriorityRange(
    leastPriority: *mut i32,
    greatestPriority: *mut i32,
) -> aclError {
    call(Api::aclrtDeviceGetStreamPriorityRange, |rt| {
        // aclrtDeviceGetStreamPriorityRange#01: either may be null.
        let (least, greatest) = device::stream_priority_range(rt);
        if let Some(out) = arg::out_opt(leastPriority, "leastPriority") {
            out.set(least)?;
        }
        if let Some(out) = arg::out_opt(greatestPriority, "greatestPriority") {
            out.set(greatest)?;
        }
        Ok(())
    })
}

/// Answers whether a device's default context is active.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetPrimaryCtxState(
    deviceId: i32,
    flags: *mut u32,
    active: *mut i32,
) -> aclError {
    call(Api::aclrtGetPrimaryCtxState, |rt| {
        let out = arg::out(active, "active", "aclrtGetPrimaryCtxState#01")?;
        if !flags.is_null() {
            return refuse!(
                ACL_ERROR_INVALID_PARAM,
                "aclrtGetPrimaryCtxState#02",
                "flags: is reserved and must be null"
            );
        }
        out.set(device::primary_state(rt, deviceId)?.into())
    })
}

/// Answers whether the program runs on the host or on the device itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetRunMode(runMode: *mut aclrtRunMode) -> aclError {
    call(Api::aclrtGetRunMode, |rt| {
        let out = arg::out(runMode, "runMode", "aclrtGetRunMode#01")?;
        out.set(info::run_mode(rt))
    })
}

/// Answers the chip name of the product.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetSocName() -> *const c_char {
    // aclrtGetSocName#03: made once, and there until the process ends.
    static NAME: OnceLock<CString> = OnceLock::new();
    value(Api::aclrtGetSocName, std::ptr::null(), |rt| {
        Ok(NAME.get_or_init(|| CString::new(rt.profile.soc).unwrap_or_default()).as_ptr())
    })
}

/// Answers an attribute of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceInfo(deviceId: u32, attr: aclrtDevAttr, value: *mut i64) -> aclError {
    call(Api::aclrtGetDeviceInfo, |rt| {
        let out = arg::out(value, "value", "aclrtGetDeviceInfo#01")?;
        out.set(info::get(rt, deviceId, attr)?)
    })
}

/// Answers how busy a device is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceUtilizationRate(
    deviceId: i32,
    utilizationInfo: *mut aclrtUtilizationInfo,
) -> aclError {
    call(Api::aclrtGetDeviceUtilizationRate, |rt| {
        let rule = "aclrtGetDeviceUtilizationRate#01";
        let asked = arg::input(utilizationInfo, "utilizationInfo", rule)?;
        if !asked.utilizationExtend.is_null() {
            return refuse!(
                ACL_ERROR_INVALID_PARAM,
                "aclrtGetDeviceUtilizationRate#02",
                "utilizationInfo: utilizationExtend must be null"
            );
        }
        arg::out(utilizationInfo, "utilizationInfo", rule)?.set(info::utilization(rt, deviceId))
    })
}

/// Answers whether a device is well.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtQueryDeviceStatus(
    deviceId: i32,
    deviceStatus: *mut aclrtDeviceStatus,
) -> aclError {
    call(Api::aclrtQueryDeviceStatus, |rt| {
        let out = arg::out(deviceStatus, "deviceStatus", "aclrtQueryDeviceStatus#01")?;
        out.set(info::status(rt, deviceId)?)
    })
}

/// Answers whether a device has a feature.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceCapability(
    deviceId: i32,
    devFeatureType: aclrtDevFeatureType,
    value: *mut i32,
) -> aclError {
    call(Api::aclrtGetDeviceCapability, |rt| {
        let out = arg::out(value, "value", "aclrtGetDeviceCapability#01")?;
        out.set(info::capability(rt, deviceId, devFeatureType)?)
    })
}

/// Answers the universal id of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceGetUuid(deviceId: i32, uuid: *mut aclrtUuid) -> aclError {
    call(Api::aclrtDeviceGetUuid, |rt| {
        let out = arg::out(uuid, "uuid", "aclrtDeviceGetUuid#01")?;
        out.set(aclrtUuid { bytes: info::uuid(rt, deviceId)?.map(|byte| byte as c_char) })
    })
}

/// Writes the bus id of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceGetPCIBusId(deviceId: i32, pciBusId: *mut c_char, len: i32) -> aclError {
    call(Api::aclrtDeviceGetPCIBusId, |rt| {
        let rule = "aclrtDeviceGetPCIBusId#01";
        arg::not_null(pciBusId, "pciBusId", rule)?;
        let text = info::pci_bus_id(rt, deviceId, len)?;
        arg::write_text(pciBusId, &text, "pciBusId", rule)
    })
}

/// Answers the device of a bus id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceGetByPCIBusId(pciBusId: *const c_char, deviceId: *mut i32) -> aclError {
    call(Api::aclrtDeviceGetByPCIBusId, |rt| {
        arg::not_null(pciBusId, "pciBusId", "aclrtDeviceGetByPCIBusId#01")?;
        let out = arg::out(deviceId, "deviceId", "aclrtDeviceGetByPCIBusId#02")?;
        let text = arg::text(pciBusId, "pciBusId", "aclrtDeviceGetByPCIBusId#01")?.unwrap_or_default();
        out.set(info::by_pci_bus_id(rt, &text)?)
    })
}

/// Answers the process id that white lists of devices take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceGetBareTgid(pid: *mut i32) -> aclError {
    call(Api::aclrtDeviceGetBareTgid, |_| {
        let out = arg::out(pid, "pid", "aclrtDeviceGetBareTgid#01")?;
        out.set(std::process::id() as i32)
    })
}

/// Answers how two devices are linked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDevicesTopo(deviceId: u32, otherDeviceId: u32, value: *mut u64) -> aclError {
    call(Api::aclrtGetDevicesTopo, |rt| {
        let out = arg::out(value, "value", "aclrtGetDevicesTopo#01")?;
        out.set(info::topology(rt, deviceId, otherDeviceId)?)
    })
}

/// Answers which atomic operations reach the host from a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceGetHostAtomicCapabilities(
    capabilities: *mut u32,
    operations: *const aclrtAtomicOperation,
    count: u32,
    deviceId: i32,
) -> aclError {
    call(Api::aclrtDeviceGetHostAtomicCapabilities, |rt| {
        let rule = "aclrtDeviceGetHostAtomicCapabilities#01";
        arg::not_null_rt(capabilities, "capabilities", rule)?;
        arg::not_null_rt(operations, "operations", rule)?;
        info::host_atomics(rt, count, deviceId)?;
        let asked = arg::inputs(operations, count as usize, "operations", rule)?;
        let answers = info::atomics(&asked, "aclrtDeviceGetHostAtomicCapabilities#07")?;
        arg::write_all(capabilities, &answers, "capabilities", rule)
    })
}

/// Answers which atomic operations reach another device from a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceGetP2PAtomicCapabilities(
    capabilities: *mut u32,
    operations: *const aclrtAtomicOperation,
    count: u32,
    srcDeviceId: i32,
    dstDeviceId: i32,
) -> aclError {
    call(Api::aclrtDeviceGetP2PAtomicCapabilities, |rt| {
        let rule = "aclrtDeviceGetP2PAtomicCapabilities#01";
        arg::not_null_rt(capabilities, "capabilities", rule)?;
        arg::not_null_rt(operations, "operations", rule)?;
        info::p2p_atomics(rt, count, srcDeviceId, dstDeviceId)?;
        let asked = arg::inputs(operations, count as usize, "operations", rule)?;
        let answers = info::atomics(&asked, "aclrtDeviceGetP2PAtomicCapabilities#07")?;
        arg::write_all(capabilities, &answers, "capabilities", rule)
    })
}

/// Selects the scheduler of the calling thread's tasks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetTsDevice(tsId: aclrtTsId) -> aclError {
    call(Api::aclrtSetTsDevice, |_| info::set_ts(tsId))
}

/// Answers whether two devices can reach each other's memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceCanAccessPeer(
    canAccessPeer: *mut i32,
    deviceId: i32,
    peerDeviceId: i32,
) -> aclError {
    call(Api::aclrtDeviceCanAccessPeer, |rt| {
        // #03: the pointer comes last.
        let answer = peer::can_access(rt, deviceId, peerDeviceId)?;
        let out = arg::out_rt(canAccessPeer, "canAccessPeer", "aclrtDeviceCanAccessPeer#02")?;
        out.set(answer.into())
    })
}

/// Lets the current device reach the memory of another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceEnablePeerAccess(peerDeviceId: i32, flags: u32) -> aclError {
    call(Api::aclrtDeviceEnablePeerAccess, |rt| peer::enable(rt, peerDeviceId, flags))
}

/// Takes that back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceDisablePeerAccess(peerDeviceId: i32) -> aclError {
    call(Api::aclrtDeviceDisablePeerAccess, |rt| peer::disable(rt, peerDeviceId))
}

/// Answers whether a device may reach the memory of another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDevicePeerAccessStatus(
    deviceId: i32,
    peerDeviceId: i32,
    status: *mut i32,
) -> aclError {
    call(Api::aclrtDevicePeerAccessStatus, |rt| {
        let out = arg::out(status, "status", "aclrtDevicePeerAccessStatus#01")?;
        out.set(peer::status(rt, deviceId, peerDeviceId)?.into())
    })
}

/// Answers the logic id of a user id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetLogicDevIdByUserDevId(userDevid: i32, logicDevId: *mut i32) -> aclError {
    call(Api::aclrtGetLogicDevIdByUserDevId, |rt| {
        let out = arg::out(logicDevId, "logicDevId", "aclrtGetLogicDevIdByUserDevId#01")?;
        out.set(visible::logic_by_user(rt, userDevid, "aclrtGetLogicDevIdByUserDevId#03")?)
    })
}

/// Answers the physical id of a user id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetPhyDevIdByUserDevId(userDevId: i32, phyDevId: *mut i32) -> aclError {
    call(Api::aclrtGetPhyDevIdByUserDevId, |rt| {
        let out = arg::out(phyDevId, "phyDevId", "aclrtGetPhyDevIdByUserDevId#01")?;
        out.set(visible::logic_by_user(rt, userDevId, "aclrtGetPhyDevIdByUserDevId#03")?)
    })
}

/// Answers the physical id of a logic id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetPhyDevIdByLogicDevId(logicDevId: i32, phyDevId: *mut i32) -> aclError {
    call(Api::aclrtGetPhyDevIdByLogicDevId, |rt| {
        let out = arg::out(phyDevId, "phyDevId", "aclrtGetPhyDevIdByLogicDevId#01")?;
        out.set(visible::logic_by_user(rt, logicDevId, "aclrtGetPhyDevIdByLogicDevId#03")?)
    })
}

/// Answers the user id of a logic id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetUserDevIdByLogicDevId(logicDevId: i32, userDevid: *mut i32) -> aclError {
    call(Api::aclrtGetUserDevIdByLogicDevId, |rt| {
        let out = arg::out(userDevid, "userDevid", "aclrtGetUserDevIdByLogicDevId#01")?;
        out.set(visible::user_by_logic(rt, logicDevId, "logicDevId", "aclrtGetUserDevIdByLogicDevId#03")?)
    })
}

/// Answers the user id of a physical id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetUserDevIdByPhyDevId(phyDevId: i32, userDevId: *mut i32) -> aclError {
    call(Api::aclrtGetUserDevIdByPhyDevId, |rt| {
        let out = arg::out(userDevId, "userDevId", "aclrtGetUserDevIdByPhyDevId#01")?;
        out.set(visible::user_by_logic(rt, phyDevId, "phyDevId", "aclrtGetUserDevIdByPhyDevId#04")?)
    })
}

/// Answers the logic id of a physical id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetLogicDevIdByPhyDevId(phyDevId: i32, logicDevId: *mut i32) -> aclError {
    call(Api::aclrtGetLogicDevIdByPhyDevId, |rt| {
        let out = arg::out(logicDevId, "logicDevId", "aclrtGetLogicDevIdByPhyDevId#01")?;
        out.set(visible::user_by_logic(rt, phyDevId, "phyDevId", "aclrtGetLogicDevIdByPhyDevId#04")?)
    })
}

/// Sets a stack or print buffer size of the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceSetLimit(limit: aclrtDeviceLimit, value: usize) -> aclError {
    call(Api::aclrtDeviceSetLimit, |rt| limit::set(rt, limit, value))
}

/// Answers a stack or print buffer size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceGetLimit(limit: aclrtDeviceLimit, value: *mut usize) -> aclError {
    call(Api::aclrtDeviceGetLimit, |rt| {
        let out = arg::out(value, "value", "aclrtDeviceGetLimit#01")?;
        out.set(limit::get(rt, limit)?)
    })
}

/// Sets what floating point overflows become.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetDeviceSatMode(mode: aclrtFloatOverflowMode) -> aclError {
    call(Api::aclrtSetDeviceSatMode, |rt| limit::set_sat_mode(rt, mode))
}

/// Answers what floating point overflows become.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceSatMode(mode: *mut aclrtFloatOverflowMode) -> aclError {
    call(Api::aclrtGetDeviceSatMode, |rt| {
        let out = arg::out(mode, "mode", "aclrtGetDeviceSatMode#01")?;
        out.set(limit::sat_mode(rt))
    })
}

/// Copies the overflow status to device memory, in stream order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetOverflowStatus(
    outputAddr: *mut c_void,
    outputSize: usize,
    stream: aclrtStream,
) -> aclError {
    call(Api::aclrtGetOverflowStatus, |rt| {
        arg::not_null(outputAddr, "outputAddr", "aclrtGetOverflowStatus#01")?;
        overflow::get(rt, outputAddr as usize, outputSize, arg::handle(stream))
    })
}

/// Clears the overflow status, in stream order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtResetOverflowStatus(stream: aclrtStream) -> aclError {
    call(Api::aclrtResetOverflowStatus, |rt| overflow::reset(rt, arg::handle(stream)))
}

/// Registers a function that is told when devices are set and reset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtRegDeviceStateCallback(
    regName: *const c_char,
    callback: aclrtDeviceStateCallback,
    args: *mut c_void,
) -> aclError {
    call(Api::aclrtRegDeviceStateCallback, |rt| {
        arg::not_null(regName, "regName", "aclrtRegDeviceStateCallback#01")?;
        let name = arg::text(regName, "regName", "aclrtRegDeviceStateCallback#02")?.unwrap_or_default();
        notice::register_state(rt, name, callback, args as usize)
    })
}

/// Registers a function that is told when the tasks of a device are aborted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetDeviceTaskAbortCallback(
    regName: *const c_char,
    callback: aclrtDeviceTaskAbortCallback,
    args: *mut c_void,
) -> aclError {
    call(Api::aclrtSetDeviceTaskAbortCallback, |rt| {
        arg::not_null(regName, "regName", "aclrtSetDeviceTaskAbortCallback#01")?;
        let name = arg::text(regName, "regName", "aclrtSetDeviceTaskAbortCallback#02")?.unwrap_or_default();
        notice::register_abort(rt, name, callback, args as usize)
    })
}
