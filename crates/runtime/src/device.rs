//! Devices: chapter 04. aclrtSetDevice and aclrtResetDevice count; the first set makes the default context, the last reset
//! takes the device down.
//!
//! Lock order: a device's `sets`, then its `streams`, then a context's state. No lock is held while tasks are waited for, so that
//! a callback that is waited for may call in here.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use ascendcl_sys as sys;
use parking_lot::{Mutex, MutexGuard};
use toprope_engine::memory::Owner;

use crate::error::Result;
use crate::process::Runtime;
use crate::{context, observer, refuse, thread};

/// A device of the process.
pub struct Device {
    /// The program's id: 0 to count - 1.
    pub id: u16,
    /// Handle of the default context; 0 while the device is not set. Written under `sets`.
    primary: AtomicU64,
    /// Calls of aclrtSetDevice less calls of aclrtResetDevice.
    sets: Mutex<u32>,
    streams: Mutex<Streams>,
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
        Device { id, primary: AtomicU64::new(0), sets: Mutex::default(), streams: Mutex::default() }
    }

    /// Handle of the default context, 0 while there is none.
    #[inline]
    pub fn primary(&self) -> u64 {
        self.primary.load(Ordering::Acquire)
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
        if *sets == 0 && !streams.bound && rt.profile.product.default_stream {
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
}

/// The device of a program's id.
pub fn resolve<'a>(rt: &'a Runtime, id: i32, rule: &'static str) -> Result<&'a Device> {
    match usize::try_from(id).ok().and_then(|id| rt.devices.get(id)) {
        Some(device) => Ok(device),
        None => refuse!(
            sys::ACL_ERROR_RT_INVALID_DEVICEID,
            rule,
            "deviceId: {id} is not in [0, {}]",
            rt.devices.len() as i32 - 1
        ),
    }
}

/// aclrtSetDevice.
pub fn set(rt: &'static Runtime, id: i32) -> Result<()> {
    let device = resolve(rt, id, "aclrtSetDevice#04")?;
    acquire(rt, device)?;
    thread::bind_device(rt, device.id);
    Ok(())
}

/// Counts one more user of the device; the first one makes the default context.
fn acquire(rt: &'static Runtime, device: &Device) -> Result<()> {
    let mut sets = device.sets.lock();
    if *sets == 0 {
        // aclrtSetDevice#01
        let handle = context::open(rt, device.id, true)?;
        device.primary.store(handle, Ordering::Release);
    }
    *sets += 1;
    Ok(())
}

/// aclrtResetDevice.
pub fn reset(rt: &Runtime, id: i32) -> Result<()> {
    let device = resolve(rt, id, "aclrtResetDevice#01")?;
    let mut sets = device.sets.lock();
    match *sets {
        0 => return not_set(id, "aclrtResetDevice#05"),
        // aclrtResetDevice#02
        1 => tear_down(rt, device, sets),
        _ => *sets -= 1,
    }
    Ok(())
}

/// aclrtResetDeviceForce: whatever the count (#02).
pub fn reset_force(rt: &Runtime, id: i32) -> Result<()> {
    let device = resolve(rt, id, "aclrtResetDeviceForce#01")?;
    let sets = device.sets.lock();
    if *sets == 0 {
        return not_set(id, "aclrtResetDeviceForce#06");
    }
    tear_down(rt, device, sets);
    Ok(())
}

fn not_set<T>(id: i32, rule: &'static str) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
        rule,
        "deviceId: device {id} is not set; nothing to reset"
    )
}

/// aclrtResetDevice#03: the default context, its streams and the device's memory go. Threads that still point at the device
/// get 107002 from their next call.
fn tear_down(rt: &Runtime, device: &Device, mut sets: MutexGuard<'_, u32>) {
    *sets = 0;
    let primary = device.primary.swap(0, Ordering::AcqRel);
    let mut doomed = rt.space.blocks(Owner::Device(device.id));
    doomed.extend(rt.space.blocks(Owner::Image(device.id)));
    drop(sets);
    if let Some(context) = rt.contexts.pin(primary) {
        context::close(rt, &context, primary);
    }
    for block in doomed {
        // Freed by the program meanwhile, or there already belongs to somebody who set the device again.
        if rt.space.find(block.base) == Some(block) && rt.space.free(block.base).is_ok() {
            observer::tell(|o| o.freed(&block));
        }
    }
    thread::unbind_device(device.id);
}

/// aclrtGetDevice: the device of the current context.
pub fn get(rt: &Runtime) -> Result<i32> {
    // aclrtGetDevice#02, #03, #04
    Ok(thread::current(rt)?.device.into())
}

/// aclrtGetPrimaryCtxState: whether the default context of a device is active.
pub fn primary_state(rt: &Runtime, id: i32) -> Result<bool> {
    let device = resolve(rt, id, "aclrtGetPrimaryCtxState#04")?;
    Ok(device.primary() != 0)
}

/// Sets the device for threads that select none. aclInit#25
pub(crate) fn set_default(device: Option<u16>) {
    DEFAULT_DEVICE.store(device.map_or(-1, i32::from), Ordering::Relaxed);
}

/// The context for a thread that selected nothing: that of the configured default device, 0 if there is none.
#[cold]
pub(crate) fn default_context(rt: &Runtime) -> u64 {
    let id = DEFAULT_DEVICE.load(Ordering::Relaxed);
    match usize::try_from(id).ok().and_then(|id| rt.devices.get(id)) {
        Some(device) => device.primary(),
        None => 0,
    }
}
