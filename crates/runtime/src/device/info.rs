//! What a device is: chapter 04. Facts come from the product's row; what no page and no row knows is refused, not invented.

use ascendcl_sys as sys;

use super::{resolve, resolve_or};
use crate::error::Result;
use crate::process::Runtime;
use crate::profile::Form;
use crate::refuse;

/// aclrtGetRunMode (#02, #03).
pub fn run_mode(rt: &Runtime) -> sys::aclrtRunMode {
    match rt.profile.form {
        Form::Endpoint => sys::ACL_HOST,
        Form::RootComplex => sys::ACL_DEVICE,
    }
}

/// aclrtGetDeviceInfo.
pub fn get(rt: &Runtime, id: u32, attr: sys::aclrtDevAttr) -> Result<i64> {
    let id = i32::try_from(id).unwrap_or(-1);
    let device = resolve_or(rt, id, sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtGetDeviceInfo#03")?;
    let product = rt.profile.product;
    // #06: without SIMT these read as 0.
    let simt = |at: usize| Some(product.simt.map_or(0, |simt| simt[at].into()));
    let value = match attr {
        sys::ACL_DEV_ATTR_AICPU_CORE_NUM => Some(product.ai_cpu_num.into()),
        // ours: products with separate cube and vector cores count an AI core by its cube.
        sys::ACL_DEV_ATTR_AICORE_CORE_NUM | sys::ACL_DEV_ATTR_CUBE_CORE_NUM => {
            Some(product.ai_core_num.into())
        }
        sys::ACL_DEV_ATTR_VECTOR_CORE_NUM => Some(product.vector_core_num.into()),
        sys::ACL_DEV_ATTR_WARP_SIZE => simt(0),
        sys::ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE => simt(1),
        sys::ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE => Some(product.simt.map_or(0, |_| product.ub_bytes as i64)),
        sys::ACL_DEV_ATTR_MAX_GRID_DIM_X..=sys::ACL_DEV_ATTR_MAX_BLOCK_DIM_Z => {
            simt((attr - sys::ACL_DEV_ATTR_MAX_GRID_DIM_X) as usize + 2)
        }
        // #11
        sys::ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE => Some(rt.profile.device_memory as i64),
        sys::ACL_DEV_ATTR_L2_CACHE_SIZE => Some(product.l2_bytes as i64),
        // ours: all devices of a process are in one system.
        sys::ACL_DEV_ATTR_SMP_ID => Some(0),
        sys::ACL_DEV_ATTR_PHY_CHIP_ID => Some(rt.visible.logic(device.id).into()),
        // ours: a process stands for one machine, which is in no super pod; nor is there a mainboard or a privilege mode.
        sys::ACL_DEV_ATTR_SUPER_POD_DEVICE_ID
        | sys::ACL_DEV_ATTR_SUPER_POD_SERVER_ID
        | sys::ACL_DEV_ATTR_SUPER_POD_ID
        | sys::ACL_DEV_ATTR_CUST_OP_PRIVILEGE
        | sys::ACL_DEV_ATTR_MAINBOARD_ID => None,
        // #07, #08
        sys::ACL_DEV_ATTR_HD_CONNECT_TYPE => product.hd_connect_type.map(i64::from),
        sys::ACL_DEV_ATTR_DEVICE_FORM_FACTOR => product.form_factor.map(i64::from),
        // #10
        sys::ACL_DEV_ATTR_IS_VIRTUAL => Some(0),
        // #12 to #16
        sys::ACL_DEV_ATTR_NPU_ARCH => product.npu_arch.map(i64::from),
        _ => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtGetDeviceInfo#04",
                "attr: {}",
                sys::enums::aclrtDevAttr.show(attr)
            );
        }
    };
    match value {
        Some(value) => Ok(value),
        None => refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtGetDeviceInfo#07",
            "attr: {} has no value for {}",
            product.key,
            sys::enums::aclrtDevAttr.show(attr)
        ),
    }
}

/// aclrtGetDeviceUtilizationRate. ours: a software device has no rate that means anything, so it says 0 (idle).
pub fn utilization(rt: &Runtime, id: i32) -> sys::aclrtUtilizationInfo {
    // #04: a device that is not there is -1, not an error.
    let known = usize::try_from(id).is_ok_and(|id| id < rt.devices.len());
    let rate = |there: bool| if known && there { 0 } else { -1 };
    let product = rt.profile.product;
    sys::aclrtUtilizationInfo {
        cubeUtilization: rate(product.ai_core_num > 0),
        // #05
        vectorUtilization: rate(product.vector_core_num > 0),
        aicpuUtilization: rate(product.ai_cpu_num > 0),
        // #06
        memoryUtilization: -1,
        utilizationExtend: std::ptr::null_mut(),
    }
}

/// aclrtQueryDeviceStatus: a device of this runtime is always well.
pub fn status(rt: &Runtime, id: i32) -> Result<sys::aclrtDeviceStatus> {
    resolve(rt, id, "aclrtQueryDeviceStatus#03")?;
    Ok(sys::ACL_RT_DEVICE_STATUS_NORMAL)
}

/// aclrtGetDeviceCapability: neither feature is there (ours: task update on the scheduler and events across devices' queues).
pub fn capability(rt: &Runtime, id: i32, feature: sys::aclrtDevFeatureType) -> Result<i32> {
    resolve(rt, id, "aclrtGetDeviceCapability#03")?;
    match feature {
        sys::ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV | sys::ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV => {
            Ok(sys::ACL_DEV_FEATURE_NOT_SUPPORT)
        }
        _ => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtGetDeviceCapability#05",
            "devFeatureType: {feature} is neither 1 nor 21"
        ),
    }
}

/// aclrtDeviceGetUuid. ours: the bytes "toprope", the product's place in the list, and the logic id, in the form of RFC 9562
/// version 8: the same in every process.
pub fn uuid(rt: &Runtime, id: i32) -> Result<[u8; 16]> {
    let device = resolve(rt, id, "aclrtDeviceGetUuid#02")?;
    let logic = rt.visible.logic(device.id).to_be_bytes();
    let mut bytes = *b"toprop\x80e\x80\0\0\0\0\0\0\0";
    bytes[9] = rt.profile.index() as u8;
    bytes[14..].copy_from_slice(&logic);
    Ok(bytes)
}

/// Bytes of a bus id with its end mark.
const BUS_ID_BYTES: i32 = 13;

/// The bus id of a device. ours: bus `logic id + 1` of domain 0.
fn bus_id(rt: &Runtime, user: u16) -> String {
    format!("0000:{:02x}:00.0", rt.visible.logic(user) + 1)
}

/// aclrtDeviceGetPCIBusId, for a buffer of `len` bytes: the text without its end mark.
pub fn pci_bus_id(rt: &Runtime, id: i32, len: i32) -> Result<String> {
    // aclrtDeviceGetPCIBusId#05: a negative id, then the length, then an id that is too large.
    if id < 0 {
        resolve(rt, id, "aclrtDeviceGetPCIBusId#04")?;
    }
    if len < BUS_ID_BYTES {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtDeviceGetPCIBusId#03",
            "len: {len} is less than {BUS_ID_BYTES}"
        );
    }
    let device = resolve(rt, id, "aclrtDeviceGetPCIBusId#04")?;
    Ok(bus_id(rt, device.id))
}

/// aclrtDeviceGetByPCIBusId (#04: case included).
pub fn by_pci_bus_id(rt: &Runtime, text: &[u8]) -> Result<i32> {
    match rt.devices.iter().find(|device| bus_id(rt, device.id).as_bytes() == text) {
        Some(device) => Ok(device.id.into()),
        None => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtDeviceGetByPCIBusId#03",
            "pciBusId: no visible device has '{}'",
            String::from_utf8_lossy(text)
        ),
    }
}

/// aclrtGetDevicesTopo.
pub fn topology(rt: &Runtime, id: u32, other: u32) -> Result<u64> {
    if rt.profile.form == Form::RootComplex {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtGetDevicesTopo#05",
            "the program runs on the device itself (form rc)"
        );
    }
    let one = resolve(rt, i32::try_from(id).unwrap_or(-1), "aclrtGetDevicesTopo#02")?;
    let two = resolve(rt, i32::try_from(other).unwrap_or(-1), "aclrtGetDevicesTopo#02")?;
    // #04
    Ok(if one.id == two.id { sys::ACL_RT_DEVS_TOPOLOGY_HCCS } else { rt.profile.product.topology })
}

/// The largest number of operations that a caller may ask about: more than the enum has, so that a wild count ends here.
const MOST_OPERATIONS: u32 = 4096;

/// aclrtDeviceGetHostAtomicCapabilities, before the arrays are read: `count` of them.
pub fn host_atomics(rt: &Runtime, count: u32, id: i32) -> Result<()> {
    some_operations(count, "aclrtDeviceGetHostAtomicCapabilities#02")?;
    resolve(rt, id, "aclrtDeviceGetHostAtomicCapabilities#04")?;
    Ok(())
}

/// aclrtDeviceGetP2PAtomicCapabilities, likewise (#07: the order).
pub fn p2p_atomics(rt: &Runtime, count: u32, source: i32, target: i32) -> Result<()> {
    some_operations(count, "aclrtDeviceGetP2PAtomicCapabilities#02")?;
    if source == target {
        return refuse!(
            sys::ACL_ERROR_RT_INVALID_DEVICEID,
            "aclrtDeviceGetP2PAtomicCapabilities#03",
            "dstDeviceId: {target} equals srcDeviceId"
        );
    }
    resolve(rt, source, "aclrtDeviceGetP2PAtomicCapabilities#05")?;
    resolve(rt, target, "aclrtDeviceGetP2PAtomicCapabilities#06")?;
    Ok(())
}

fn some_operations(count: u32, rule: &'static str) -> Result<()> {
    if (1..=MOST_OPERATIONS).contains(&count) {
        return Ok(());
    }
    refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "count: {count} is not in [1, {MOST_OPERATIONS}]")
}

/// The capabilities of each operation. ours: none, since no atomic operation of a device reaches the host or another device
/// here (#06: 0 says so).
pub fn atomics(operations: &[sys::aclrtAtomicOperation], rule: &'static str) -> Result<Vec<u32>> {
    let known = |operation: u32| {
        matches!(
            operation,
            sys::ACL_RT_ATOMIC_OPERATION_INTEGER_ADD..=sys::ACL_RT_ATOMIC_OPERATION_FLOAT_MAX
                | sys::ACL_RT_ATOMIC_OPERATION_DMA_ADD..=sys::ACL_RT_ATOMIC_OPERATION_DMA_MAX
                | sys::ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD..=sys::ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH
        )
    };
    match operations.iter().find(|operation| !known(**operation)) {
        Some(bad) => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rule,
            "operations: {}",
            sys::enums::aclrtAtomicOperation.show(*bad)
        ),
        None => Ok(vec![0; operations.len()]),
    }
}

/// aclrtSetTsDevice: there is one scheduler, so that the choice has no effect (#02).
pub fn set_ts(ts: sys::aclrtTsId) -> Result<()> {
    match ts {
        sys::ACL_TS_ID_AICORE | sys::ACL_TS_ID_AIVECTOR => Ok(()),
        _ => refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtSetTsDevice#01",
            "tsId: {ts} is neither 0 (AI Core) nor 1 (vector core)"
        ),
    }
}
