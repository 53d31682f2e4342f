//! Devices: chapter 04. aclrtSetDevice and aclrtResetDevice count; the first set makes the default context, the last reset
//! takes the device down.
//!
//! | state of a device | `sets` | `primary` |
//! |---|---|---|
//! | not set | 0 | 0 |
//! | set, also by need of a thread that selected nothing ([`default_context`]) | > 0 | its default context, 0 where the product has none |
//! | going down | 0 already | 0 already: the old context drains without a lock |
//!
//! Lock order: a device's `sets`, then its `streams`, then a context's state. No lock is held while tasks are waited for or
//! functions of the program run, so that these may call in here.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use ascendcl_sys as sys;
use parking_lot::{Mutex, MutexGuard};
use toprope_engine::memory::Owner;

use crate::error::Result;
use crate::process::Runtime;
use crate::{context, kernel, memory, refuse, stream, thread};

pub mod info;
pub mod limit;
pub mod notice;
pub mod overflow;
pub mod peer;
pub mod visible;

/// A device of the process.
pub struct Device {
    /// The program's id: 0 to count - 1.
    pub id: u16,
    /// Handle of the default context; 0 while the device is not set. Written under `sets`.
    primary: AtomicU64,
    sets: Mutex<Sets>,
    streams: Mutex<Streams>,
    /// Bit n: this device may reach the memory of device n ([`peer`]).
    peers: AtomicU64,
    /// `aclrtFloatOverflowMode` of streams made from now on; [`limit::NOT_SET`]: that of the process.
    sat_mode: AtomicU32,
    /// aclrtSetDeviceResLimit: cube and vector cores ([`crate::system`]).
    pub(crate) cores: Mutex<[Option<u32>; 2]>,
}

#[derive(Default)]
struct Sets {
    /// Calls of aclrtSetDevice less calls of aclrtResetDevice.
    count: u32,
    /// One of them is the runtime's own, for threads that select no device.
    implied: bool,
}

#[derive(Default)]
struct Streams {
    /// Streams in use, the default ones included.
    used: u32,
    /// Stream ids that may be given again, and the first that was never given.
    free_ids: Vec<i32>,
    next_id: i32,
    /// aclrtCreateContext#09: an explicit context made before any aclrtSetDevice took a stream of the device's own.
    bound: bool,
}

/// The device that `defaultDevice` of the aclInit file names, -1 if none.
static DEFAULT_DEVICE: AtomicI32 = AtomicI32::new(-1);

impl Device {
    pub(crate) fn new(id: u16) -> Device {
        Device {
            id,
            primary: AtomicU64::new(0),
            sets: Mutex::default(),
            streams: Mutex::default(),
            peers: AtomicU64::new(0),
            sat_mode: AtomicU32::new(limit::NOT_SET),
            cores: Mutex::default(),
        }
    }

    /// Handle of the default context, 0 while there is none.
    #[inline]
    pub fn primary(&self) -> u64 {
        self.primary.load(Ordering::Acquire)
    }

    /// Whether somebody has set the device.
    pub fn is_set(&self) -> bool {
        self.sets.lock().count != 0
    }

    /// Gives a stream id. None when the product's limit of streams is reached.
    pub(crate) fn take_stream_id(&self, limit: u32) -> Option<i32> {
        let mut streams = self.streams.lock();
        if streams.used >= limit {
            return None;
        }
        streams.used += 1;
        streams.free_ids.pop().or_else(|| {
            streams.next_id += 1;
            Some(streams.next_id - 1)
        })
    }

    pub(crate) fn give_stream_id(&self, id: i32) {
        let mut streams = self.streams.lock();
        streams.used -= 1;
        streams.free_ids.push(id);
    }

    /// Streams in use.
    pub fn streams(&self) -> u32 {
        self.streams.lock().used
    }

    /// aclrtCreateContext#09
    pub(crate) fn activate(&self, rt: &Runtime) -> Result<()> {
        let sets = self.sets.lock();
        let mut streams = self.streams.lock();
        if sets.count == 0 && !streams.bound && rt.profile.product.default_stream {
            if streams.used >= rt.profile.product.max_streams {
                return refuse!(
                    sys::ACL_ERROR_RT_NO_STREAM_RESOURCE,
                    "aclrtCreateContext#10",
                    "device {}: all {} streams are in use",
                    self.id,
                    rt.profile.product.max_streams
                );
            }
            streams.used += 1;
            streams.bound = true;
        }
        Ok(())
    }

    /// The stream that [`Device::activate`] took becomes the default context's.
    fn unbind(&self) {
        let mut streams = self.streams.lock();
        if std::mem::take(&mut streams.bound) {
            streams.used -= 1;
        }
    }
}

/// The device of a program's id.
pub fn resolve<'a>(rt: &'a Runtime, id: i32, rule: &'static str) -> Result<&'a Device> {
    resolve_or(rt, id, sys::ACL_ERROR_RT_INVALID_DEVICEID, rule)
}

/// The same for the other device of a pair.
pub(crate) fn resolve_peer<'a>(
    rt: &'a Runtime,
    id: i32,
    code: i32,
    rule: &'static str,
) -> Result<&'a Device> {
    at(rt, id).map_or_else(|| outside(rt, "peerDeviceId", id, code, rule), Ok)
}

/// The same, for calls that answer another code.
pub(crate) fn resolve_or<'a>(rt: &'a Runtime, id: i32, code: i32, rule: &'static str) -> Result<&'a Device> {
    at(rt, id).map_or_else(|| outside(rt, "deviceId", id, code, rule), Ok)
}

fn at(rt: &Runtime, id: i32) -> Option<&Device> {
    rt.devices.get(usize::try_from(id).ok()?)
}

#[cold]
fn outside<T>(rt: &Runtime, name: &str, id: i32, code: i32, rule: &'static str) -> Result<T> {
    if rt.devices.is_empty() {
        return refuse!(code, rule, "{name}: {id}, but no device is visible ({})", rt.visible.note());
    }
    refuse!(code, rule, "{name}: {id} is not in [0, {}]", rt.devices.len() - 1)
}

/// aclrtGetDeviceCount.
pub fn count(rt: &Runtime) -> Result<u32> {
    // aclrtGetDeviceCount#02
    match rt.devices.len() {
        0 => refuse!(
            sys::ACL_ERROR_RT_NO_DEVICE,
            "aclrtGetDeviceCount#03",
            "no device is visible: {}",
            rt.visible.note()
        ),
        count => Ok(count as u32),
    }
}

/// aclrtSetDevice.
pub fn set(rt: &'static Runtime, id: i32) -> Result<()> {
    let device = resolve(rt, id, "aclrtSetDevice#04")?;
    notice::tell(rt, device.id, sys::ACL_RT_DEVICE_STATE_SET_PRE);
    let opened = acquire(rt, device)?;
    toprope_engine::fault::reclaim();
    thread::bind_device(rt, device.id);
    if let Some(context) = opened {
        stream::listener::tell_default(rt, context);
    }
    notice::tell(rt, device.id, sys::ACL_RT_DEVICE_STATE_SET_POST);
    Ok(())
}

/// Counts one more user of the device; the first one makes the default context, which is answered.
fn acquire(rt: &'static Runtime, device: &Device) -> Result<Option<u64>> {
    let mut sets = device.sets.lock();
    acquire_locked(rt, device, &mut sets)
}

fn acquire_locked(rt: &'static Runtime, device: &Device, sets: &mut Sets) -> Result<Option<u64>> {
    let mut opened = None;
    // aclrtSetDevice#01, #06: a product without default stream has no default context either.
    if sets.count == 0 && rt.profile.product.default_stream {
        device.unbind();
        let handle = context::open(rt, device.id, true)?;
        device.primary.store(handle, Ordering::Release);
        opened = Some(handle);
    }
    sets.count += 1;
    Ok(opened)
}

/// aclrtResetDevice.
pub fn reset(rt: &Runtime, id: i32) -> Result<()> {
    let device = resolve(rt, id, "aclrtResetDevice#01")?;
    end_use(rt, device, "aclrtResetDevice#05", false)
}

/// aclrtResetDeviceForce: whatever the count (#02).
pub fn reset_force(rt: &Runtime, id: i32) -> Result<()> {
    let device = resolve(rt, id, "aclrtResetDeviceForce#01")?;
    end_use(rt, device, "aclrtResetDeviceForce#06", true)
}

fn end_use(rt: &Runtime, device: &Device, rule: &'static str, force: bool) -> Result<()> {
    if !device.is_set() {
        return not_set(device.id, rule);
    }
    notice::tell(rt, device.id, sys::ACL_RT_DEVICE_STATE_RESET_PRE);
    let mut sets = device.sets.lock();
    match sets.count {
        // Another thread was faster.
        0 => return not_set(device.id, rule),
        // aclrtResetDevice#02
        1 => tear_down(rt, device, sets),
        _ if force => tear_down(rt, device, sets),
        _ => sets.count -= 1,
    }
    notice::tell(rt, device.id, sys::ACL_RT_DEVICE_STATE_RESET_POST);
    Ok(())
}

fn not_set<T>(id: u16, rule: &'static str) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
        rule,
        "deviceId: device {id} is not set; nothing to reset"
    )
}

/// aclrtResetDevice#03: the default context, its streams and the device's memory go. Threads that still point at the device
/// get 107002 from their next call.
fn tear_down(rt: &Runtime, device: &Device, mut sets: MutexGuard<'_, Sets>) {
    *sets = Sets::default();
    let primary = device.primary.swap(0, Ordering::AcqRel);
    // ours: what was set on the device goes with it, as its memory does.
    device.peers.store(0, Ordering::Relaxed);
    device.sat_mode.store(limit::NOT_SET, Ordering::Relaxed);
    *device.cores.lock() = [None; 2];
    let mut doomed = rt.space.blocks(Owner::Device(device.id));
    doomed.extend(rt.space.blocks(Owner::Image(device.id)));
    drop(sets);
    if let Some(context) = rt.contexts.pin(primary) {
        context::close(rt, &context, primary);
    }
    for block in doomed {
        // Freed by the program meanwhile, or there already belongs to somebody who set the device again.
        memory::discard(rt, &block);
    }
    kernel::binary::forget_device(rt, device.id);
    thread::unbind_device(device.id);
}

/// aclrtGetDevice: the device of the current context.
pub fn get(rt: &Runtime) -> Result<i32> {
    // aclrtGetDevice#03: a thread that selected nothing is told the configured default device, which need not be set yet.
    if let (false, Some(device)) = (thread::selected(), configured(rt)) {
        return Ok(device.id.into());
    }
    // ours: without default contexts (aclrtSetDevice#06) the device that the thread selected answers.
    if let (0, Some(device)) = (thread::explicit(), thread::selected_device())
        && rt.devices.get(usize::from(device)).is_some_and(Device::is_set)
    {
        return Ok(device.into());
    }
    // aclrtGetDevice#02, #04
    Ok(thread::current_device(rt)?.into())
}

/// aclrtSynchronizeDevice, aclrtSynchronizeDeviceWithTimeout: waits for every stream of the device of the current context.
pub fn synchronize(rt: &Runtime, deadline: Option<Instant>) -> Result<()> {
    // aclrtSynchronizeDevice#01, #02
    let device = thread::current_device(rt)?;
    stream::sync::synchronize_device(rt, device, deadline)
}

/// aclrtSynchronizeDeviceWithTimeout: milliseconds, -1 for ever.
pub fn synchronize_with_timeout(rt: &Runtime, timeout: i32) -> Result<()> {
    let deadline = stream::sync::deadline(
        timeout,
        "aclrtSynchronizeDeviceWithTimeout#02",
        "aclrtSynchronizeDeviceWithTimeout#03",
    )?;
    synchronize(rt, deadline)
}

/// aclrtDeviceGetStreamPriorityRange: (lowest, highest).
pub fn stream_priority_range(rt: &Runtime) -> (i32, i32) {
    // aclrtDeviceGetStreamPriorityRange#02
    (rt.profile.product.priority_least as i32, rt.profile.product.priority_greatest as i32)
}

/// aclrtGetPrimaryCtxState: whether the default context of a device is active.
pub fn primary_state(rt: &Runtime, id: i32) -> Result<bool> {
    let device = resolve(rt, id, "aclrtGetPrimaryCtxState#04")?;
    Ok(device.primary() != 0)
}

/// Names the device for threads that select none. aclInit#25
pub(crate) fn set_default(device: u16) {
    DEFAULT_DEVICE.store(device.into(), Ordering::Release);
}

/// There is no such device any more; what it was set for by need is taken back.
pub(crate) fn clear_default(rt: &Runtime) {
    let id = DEFAULT_DEVICE.swap(-1, Ordering::AcqRel);
    let Some(device) = usize::try_from(id).ok().and_then(|id| rt.devices.get(id)) else { return };
    let mut sets = device.sets.lock();
    if !std::mem::take(&mut sets.implied) {
        return;
    }
    match sets.count {
        0 => {}
        1 => tear_down(rt, device, sets),
        _ => sets.count -= 1,
    }
}

/// The device that the configuration names.
fn configured(rt: &Runtime) -> Option<&Device> {
    usize::try_from(DEFAULT_DEVICE.load(Ordering::Acquire)).ok().and_then(|id| rt.devices.get(id))
}

/// The context for a thread that selected nothing: that of the configured default device, 0 if none is configured. The device
/// is set at the first need and counts that once, whatever the number of threads (ours: the page is silent on the count).
#[cold]
pub(crate) fn default_context(rt: &Runtime) -> Result<u64> {
    let Some(device) = configured(rt) else { return Ok(0) };
    match device.primary() {
        0 => {}
        primary => return Ok(primary),
    }
    let rt = crate::process::runtime()?;
    let mut sets = device.sets.lock();
    // Meanwhile aclFinalize may have ended the setting.
    if sets.count == 0 && configured(rt).is_some_and(|now| now.id == device.id) {
        let opened = acquire_locked(rt, device, &mut sets)?;
        sets.implied = true;
        drop(sets);
        if let Some(context) = opened {
            stream::listener::tell_default(rt, context);
        }
    }
    Ok(device.primary())
}
