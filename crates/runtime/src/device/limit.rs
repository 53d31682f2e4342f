//! Stack and print buffer sizes, and the overflow mode: chapter 04. Sizes are kept and answered; kernels of this runtime run
//! on threads of the host, whose stacks are larger than any of these settings.

use std::sync::atomic::{AtomicU32, Ordering};

use ascendcl_sys as sys;
use parking_lot::Mutex;

use crate::error::Result;
use crate::process::Runtime;
use crate::{Api, refuse, thread};

/// How one of the sizes is checked and kept; the order is that of `aclrtDeviceLimit`.
struct Kind {
    name: &'static str,
    /// Range of values that count as they are.
    low: u32,
    high: u32,
    /// Values are rounded up to a multiple.
    step: u32,
    /// Value before anybody sets one.
    default: u32,
    /// Needs SIMT.
    simt: bool,
}

const KINDS: [Kind; 5] = [
    // aclrtDeviceSetLimit#06, aclInit#34. The upper ends of the two SIMT stacks are ours: no page gives one.
    Kind { name: "SIMT_STACK_SIZE", low: 0, high: 1 << 20, step: 128, default: 1152, simt: true },
    // aclrtDeviceSetLimit#07
    Kind { name: "SIMT_DVG_WARP_STACK_SIZE", low: 0, high: 1 << 20, step: 128, default: 1024, simt: true },
    // aclrtDeviceSetLimit#08; the upper end is the product's (#09, #10). aclInit#30
    Kind { name: "SIMD_STACK_SIZE", low: 0, high: u32::MAX, step: 16 << 10, default: 32 << 10, simt: false },
    // aclrtDeviceSetLimit#11, aclInit#36
    Kind {
        name: "SIMD_PRINTF_FIFO_SIZE_PER_CORE",
        low: 1 << 10,
        high: 64 << 20,
        step: 8,
        default: 32 << 10,
        simt: false,
    },
    // aclrtDeviceSetLimit#12, aclInit#35
    Kind {
        name: "SIMT_PRINTF_FIFO_SIZE",
        low: 1 << 20,
        high: 64 << 20,
        step: 8,
        default: 2 << 20,
        simt: true,
    },
];

/// Where the range of each size is written.
const RANGES: [&str; KINDS.len()] = [
    "aclrtDeviceSetLimit#06",
    "aclrtDeviceSetLimit#07",
    "aclrtDeviceSetLimit#09",
    "aclrtDeviceSetLimit#11",
    "aclrtDeviceSetLimit#12",
];

const SIMT_STACK: usize = sys::ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE as usize;
const SIMT_DIVERGENCE_STACK: usize = sys::ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE as usize;
const SIMD_STACK: usize = sys::ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE as usize;
/// Threads of a warp: the SIMT stack is read per warp (aclrtDeviceGetLimit#05).
const WARP: usize = 32;

/// The sizes of the process (aclrtDeviceSetLimit#15), by `aclrtDeviceLimit`.
pub struct Limits(Mutex<[u32; KINDS.len()]>);

impl Limits {
    pub(crate) fn new() -> Limits {
        Limits(Mutex::new(KINDS.map(|kind| kind.default)))
    }
}

/// Whether the product has the setting at all. Stacks: products.csv. Print buffers came with aclrtDeviceSetLimit, which is on
/// exactly the products that have them (aclInit#36).
fn exists(rt: &Runtime, limit: usize) -> bool {
    let product = rt.profile.product;
    match KINDS.get(limit) {
        Some(kind) if kind.simt => product.simt.is_some(),
        Some(_) if limit == SIMD_STACK => product.aicore_stack_max.is_some(),
        Some(_) => rt.profile.supports(Api::aclrtDeviceSetLimit),
        None => false,
    }
}

/// aclrtDeviceSetLimit.
pub fn set(rt: &Runtime, limit: u32, value: usize) -> Result<()> {
    let at = known(limit, "aclrtDeviceSetLimit#01")?;
    let Ok(value) = u32::try_from(value) else {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtDeviceSetLimit#02",
            "value: {value} is above {}",
            u32::MAX
        );
    };
    if !exists(rt, at) {
        return unsupported(rt, at, "aclrtDeviceSetLimit#04");
    }
    let rule = RANGES[at];
    let mut limits = rt.limits.0.lock();
    *limits = checked(rt, *limits, at, value, sys::ACL_ERROR_RT_PARAM_INVALID, rule)?;
    Ok(())
}

/// The sizes of an aclInit file (`aclrtDeviceLimit`, value, rule), all or none; those that the product does not have are
/// ignored (aclInit#37). aclrtDeviceSetLimit#14: the later of file and call wins.
pub(crate) fn configure(rt: &Runtime, sizes: &[(u32, u32, &'static str)]) -> Result<()> {
    let mut limits = rt.limits.0.lock();
    let mut new = *limits;
    for (limit, value, rule) in sizes {
        let at = known(*limit, rule)?;
        if exists(rt, at) {
            new = checked(rt, new, at, *value, sys::ACL_ERROR_INVALID_PARAM, rule)?;
        }
    }
    *limits = new;
    Ok(())
}

/// The sizes with one of them changed. aclrtDeviceSetLimit#09 to #12, aclInit#31 to #36: the pages give ranges and no code.
fn checked(
    rt: &Runtime,
    mut sizes: [u32; KINDS.len()],
    at: usize,
    value: u32,
    code: i32,
    rule: &'static str,
) -> Result<[u32; KINDS.len()]> {
    let kind = &KINDS[at];
    let high = if at == SIMD_STACK { rt.profile.product.aicore_stack_max.unwrap_or(0) } else { kind.high };
    if !(kind.low..=high).contains(&value) {
        return refuse!(code, rule, "{}: {value} is not in [{}, {high}] bytes", kind.name, kind.low);
    }
    // `high` leaves room for the rounding.
    let rounded = value.next_multiple_of(kind.step);
    sizes[at] = if at == SIMD_STACK { rounded.max(kind.default) } else { rounded };
    if sizes[SIMT_STACK] == 0 && sizes[SIMT_DIVERGENCE_STACK] == 0 {
        return refuse!(
            code,
            "aclrtDeviceSetLimit#05",
            "{}: the two SIMT stacks must not both be 0",
            kind.name
        );
    }
    Ok(sizes)
}

/// aclrtDeviceGetLimit: what was set last, in force or not (#07).
pub fn get(rt: &Runtime, limit: u32) -> Result<usize> {
    let at = known(limit, "aclrtDeviceGetLimit#02")?;
    if !exists(rt, at) {
        return unsupported(rt, at, "aclrtDeviceGetLimit#04");
    }
    let value = rt.limits.0.lock()[at] as usize;
    // #05, #06
    Ok(if at == SIMT_STACK { value * WARP } else { value })
}

fn known(limit: u32, rule: &'static str) -> Result<usize> {
    match KINDS.get(limit as usize) {
        Some(_) => Ok(limit as usize),
        None => {
            refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                rule,
                "limit: {}; wanted is one of {}",
                sys::enums::aclrtDeviceLimit.show(limit),
                sys::enums::aclrtDeviceLimit.all()
            )
        }
    }
}

fn unsupported<T>(rt: &Runtime, at: usize, rule: &'static str) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        rule,
        "limit: {} has no {}",
        rt.profile.product.key,
        KINDS[at].name
    )
}

/// No overflow mode was set here.
pub(super) const NOT_SET: u32 = u32::MAX;

/// The overflow mode of the process.
pub struct SatMode(AtomicU32);

impl SatMode {
    pub(crate) const fn new() -> SatMode {
        SatMode(AtomicU32::new(NOT_SET))
    }
}

/// aclrtSetDeviceSatMode: of the current device, or without a current context of the process (#05).
pub fn set_sat_mode(rt: &Runtime, mode: u32) -> Result<()> {
    if mode > sys::ACL_RT_OVERFLOW_MODE_INFNAN {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtSetDeviceSatMode#01",
            "mode: {}; wanted is saturation or Inf/NaN",
            sys::enums::aclrtFloatOverflowMode.show(mode)
        );
    }
    // #03, #04: the page gives no code for the mode that a product lacks.
    if !rt.profile.product.sat_modes.contains(&mode) {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtSetDeviceSatMode#03",
            "mode: {} has {} only, not {}",
            rt.profile.product.key,
            sys::enums::aclrtFloatOverflowMode.list(rt.profile.product.sat_modes),
            sys::enums::aclrtFloatOverflowMode.show(mode)
        );
    }
    let cell = match thread::current(rt).ok().and_then(|context| rt.devices.get(usize::from(context.device)))
    {
        Some(device) => &device.sat_mode,
        None => &rt.sat_mode.0,
    };
    cell.store(mode, Ordering::Relaxed);
    Ok(())
}

/// aclrtGetDeviceSatMode: of the current device, else of the process, else the product's default (#02).
pub fn sat_mode(rt: &Runtime) -> u32 {
    let device = thread::current(rt).ok().and_then(|context| rt.devices.get(usize::from(context.device)));
    let set = |cell: &AtomicU32| Some(cell.load(Ordering::Relaxed)).filter(|mode| *mode != NOT_SET);
    let default =
        rt.profile.product.sat_modes.first().copied().unwrap_or(sys::ACL_RT_OVERFLOW_MODE_SATURATION);
    device.and_then(|device| set(&device.sat_mode)).or_else(|| set(&rt.sat_mode.0)).unwrap_or(default)
}
