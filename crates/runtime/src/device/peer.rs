//! Peer access between the devices of a process: chapter 04.

use std::sync::atomic::Ordering;

use ascendcl_sys as sys;

use super::{Device, resolve, resolve_or, resolve_peer};
use crate::error::Result;
use crate::process::Runtime;
use crate::profile::Form;
use crate::{refuse, thread};

/// Whether `from` may reach the memory of `to`: its own always, another one's after aclrtDeviceEnablePeerAccess.
pub fn peer_enabled(rt: &Runtime, from: u16, to: u16) -> bool {
    from == to || rt.devices.get(usize::from(from)).is_some_and(|device| has(device, to))
}

fn bit(peer: u16) -> u64 {
    // MOST_DEVICES is 64.
    1u64.checked_shl(peer.into()).unwrap_or(0)
}

fn has(device: &Device, peer: u16) -> bool {
    device.peers.load(Ordering::Relaxed) & bit(peer) != 0
}

/// aclrtDeviceCanAccessPeer: always, between two devices of the machine (#05).
pub fn can_access(rt: &Runtime, device: i32, peer: i32) -> Result<bool> {
    if rt.profile.form == Form::RootComplex {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtDeviceCanAccessPeer#06",
            "the program runs on the device itself (form rc); there is no peer access"
        );
    }
    if device == peer {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtDeviceCanAccessPeer#01",
            "peerDeviceId: {peer} equals deviceId"
        );
    }
    resolve(rt, device, "aclrtDeviceCanAccessPeer#04")?;
    resolve_peer(rt, peer, sys::ACL_ERROR_RT_INVALID_DEVICEID, "aclrtDeviceCanAccessPeer#04")?;
    Ok(true)
}

/// The current device and its peer.
fn pair<'a>(
    rt: &'a Runtime,
    peer: i32,
    equal: &'static str,
    range: &'static str,
) -> Result<(&'a Device, u16)> {
    let current = thread::current_device(rt)?;
    if i32::from(current) == peer {
        return refuse!(sys::ACL_ERROR_INVALID_PARAM, equal, "peerDeviceId: {peer} is the current device");
    }
    let peer = resolve_peer(rt, peer, sys::ACL_ERROR_RT_INVALID_DEVICEID, range)?;
    Ok((resolve(rt, current.into(), range)?, peer.id))
}

/// aclrtDeviceEnablePeerAccess: from the current device to the peer, one way (#06). Twice is once (ours).
pub fn enable(rt: &Runtime, peer: i32, flags: u32) -> Result<()> {
    if flags != 0 {
        return refuse!(
            sys::ACL_ERROR_FEATURE_UNSUPPORTED,
            "aclrtDeviceEnablePeerAccess#01",
            "flags: {flags:#x}, must be 0"
        );
    }
    let (device, peer) = pair(rt, peer, "aclrtDeviceEnablePeerAccess#02", "aclrtDeviceEnablePeerAccess#05")?;
    device.peers.fetch_or(bit(peer), Ordering::Relaxed);
    Ok(())
}

/// aclrtDeviceDisablePeerAccess. #05: without an earlier enable there is nothing to end, which is no error (ours).
pub fn disable(rt: &Runtime, peer: i32) -> Result<()> {
    let (device, peer) =
        pair(rt, peer, "aclrtDeviceDisablePeerAccess#02", "aclrtDeviceDisablePeerAccess#03")?;
    device.peers.fetch_and(!bit(peer), Ordering::Relaxed);
    Ok(())
}

/// aclrtDevicePeerAccessStatus (#02).
pub fn status(rt: &Runtime, device: i32, peer: i32) -> Result<bool> {
    let code = sys::ACL_ERROR_RT_PARAM_INVALID;
    let device = resolve_or(rt, device, code, "aclrtDevicePeerAccessStatus#03")?;
    let peer = resolve_peer(rt, peer, code, "aclrtDevicePeerAccessStatus#03")?;
    Ok(has(device, peer.id))
}
