//! Settings of streams: failure mode, overflow switch, the attribute calls, and what can be read.

use std::sync::atomic::{AtomicU32, Ordering};

use ascendcl_sys as sys;

use super::{Stream, clamp, in_context, resolve};
use crate::error::Result;
use crate::process::Runtime;
use crate::{refuse, thread};

/// What can be set besides priority and failure mode; all start at 0.
#[derive(Default)]
pub(super) struct Settings {
    overflow: AtomicU32,
    tag: AtomicU32,
    cache_op_info: AtomicU32,
}

impl Settings {
    /// The cell of an attribute that is just kept.
    fn of(&self, kind: u32, rule: &'static str) -> Result<&AtomicU32> {
        match kind {
            sys::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => Ok(&self.overflow),
            sys::ACL_STREAM_ATTR_USER_CUSTOM_TAG => Ok(&self.tag),
            sys::ACL_STREAM_ATTR_CACHE_OP_INFO => Ok(&self.cache_op_info),
            _ => refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                rule,
                "stmAttrType: {} cannot be used here",
                sys::enums::aclrtStreamAttr.show(kind)
            ),
        }
    }
}

/// aclrtStreamGetId: unique among the streams of a device.
pub fn get_id(rt: &Runtime, handle: u64) -> Result<i32> {
    Ok(resolve(rt, handle)?.id)
}

/// aclrtStreamGetPriority: as clamped at creation (#03) or set since.
pub fn get_priority(rt: &Runtime, handle: u64) -> Result<u32> {
    Ok(resolve(rt, handle)?.priority())
}

/// aclrtStreamGetFlags: the flags it was created with (#03).
pub fn get_flags(rt: &Runtime, handle: u64) -> Result<u32> {
    Ok(resolve(rt, handle)?.flags)
}

/// aclrtGetStreamAvailableNum: how many streams can still be created on the device of the current context.
pub fn available(rt: &Runtime) -> Result<u32> {
    let context = thread::current(rt)?;
    let used = rt.devices.get(usize::from(context.device)).map_or(0, crate::device::Device::streams);
    Ok(rt.profile.product.max_streams.saturating_sub(used))
}

/// aclrtSetStreamFailureMode.
pub fn set_failure_mode(rt: &Runtime, handle: u64, mode: u64) -> Result<()> {
    let stream = resolve(rt, handle)?;
    if stream.default && !rt.profile.product.failure_mode_default_stream {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtSetStreamFailureMode#08",
            "stream: the failure mode of a default stream cannot be set on {}",
            rt.profile.product.key
        );
    }
    in_context(rt, &stream, "aclrtSetStreamFailureMode#10")?;
    set_mode(rt, &stream, mode)
}

fn set_mode(rt: &Runtime, stream: &Stream, mode: u64) -> Result<()> {
    if stream.flags & sys::ACL_STREAM_DEVICE_USE_ONLY != 0 {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtSetStreamFailureMode#11",
            "stream: stream {} is ACL_STREAM_DEVICE_USE_ONLY",
            stream.id
        );
    }
    let Some(context) = rt.contexts.pin(stream.context) else {
        return thread::current(rt).map(drop);
    };
    // aclrtSetStreamFailureMode#01: bit 0 counts. #06: one mode for all streams of the context.
    let stop = mode & 1 == u64::from(sys::ACL_STOP_ON_FAILURE);
    match (context.failure.stops(), stop) {
        // aclrtSetStreamFailureMode#03
        (false, false) | (true, true) => Ok(()),
        (true, false) => refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtSetStreamFailureMode#04",
            "mode: stream {} and its context stop at failures already, which cannot be taken back",
            stream.id
        ),
        (false, true) => {
            context.failure.stop();
            for handle in context.streams() {
                if let Some(stream) = rt.streams.pin(handle) {
                    rt.engine.stop_on_failure(stream.queue, true);
                }
            }
            Ok(())
        }
    }
}

/// aclrtSetStreamOverflowSwitch.
pub fn set_overflow_switch(rt: &Runtime, handle: u64, flag: u32) -> Result<()> {
    if flag > 1 {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtSetStreamOverflowSwitch#01",
            "flag: {flag} is neither 0 (off) nor 1 (on)"
        );
    }
    resolve(rt, handle)?.settings.overflow.store(flag, Ordering::Relaxed);
    Ok(())
}

/// aclrtGetStreamOverflowSwitch: 0 or 1 (#02).
pub fn get_overflow_switch(rt: &Runtime, handle: u64) -> Result<u32> {
    Ok(resolve(rt, handle)?.settings.overflow.load(Ordering::Relaxed))
}

/// aclrtSetStreamAttribute. `value` is the first word of the union; all members but failureMode are its low half.
pub fn set(rt: &Runtime, handle: u64, kind: u32, value: u64) -> Result<()> {
    let stream = resolve(rt, handle)?;
    let low = value as u32;
    let setting = match kind {
        sys::ACL_STREAM_ATTR_PRIORITY => {
            has_priority(rt, handle, "aclrtSetStreamAttribute#05", "aclrtSetStreamAttribute#07")?;
            // aclrtSetStreamAttribute#13
            let priority = clamp(low);
            stream.priority.store(priority, Ordering::Relaxed);
            rt.engine.set_priority(stream.queue, priority as u8);
            return Ok(());
        }
        sys::ACL_STREAM_ATTR_FAILURE_MODE if stream.default => {
            return refuse!(
                sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtSetStreamAttribute#09",
                "stream: stream {} is the default stream of its context; it has no failure mode of its own",
                stream.id
            );
        }
        sys::ACL_STREAM_ATTR_FAILURE_MODE => return set_mode(rt, &stream, value),
        sys::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK if low > 1 => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtSetStreamAttribute#11",
                "value: overflowSwitch {low} is neither 0 (off) nor 1 (on)"
            );
        }
        _ => stream.settings.of(kind, "aclrtSetStreamAttribute#02")?,
    };
    attributes_of(rt, &stream, "aclrtSetStreamAttribute#04")?;
    setting.store(low, Ordering::Relaxed);
    Ok(())
}

/// aclrtGetStreamAttribute: the first word of the union, as in [`set`].
pub fn get(rt: &Runtime, handle: u64, kind: u32) -> Result<u64> {
    let stream = resolve(rt, handle)?;
    if kind == sys::ACL_STREAM_ATTR_PRIORITY {
        has_priority(rt, handle, "aclrtGetStreamAttribute#05", "aclrtGetStreamAttribute#07")?;
        return Ok(stream.priority().into());
    }
    let value = match kind {
        sys::ACL_STREAM_ATTR_FAILURE_MODE => {
            rt.contexts.pin(stream.context).is_some_and(|context| context.failure.stops()).into()
        }
        _ => stream.settings.of(kind, "aclrtGetStreamAttribute#02")?.load(Ordering::Relaxed).into(),
    };
    attributes_of(rt, &stream, "aclrtGetStreamAttribute#04")?;
    Ok(value)
}

/// Attributes of a default stream: the pages name the products that have a failure mode of the default stream.
fn attributes_of(rt: &Runtime, stream: &Stream, rule: &'static str) -> Result<()> {
    if stream.default && !rt.profile.product.failure_mode_default_stream {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            rule,
            "stream: a default stream has no attributes on {}",
            rt.profile.product.key
        );
    }
    Ok(())
}

fn has_priority(rt: &Runtime, handle: u64, null: &'static str, product: &'static str) -> Result<()> {
    if handle == 0 {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            null,
            "stream: must not be null; the priority of a default stream is fixed"
        );
    }
    // The page of the enumeration names the same products as that of the default stream's failure mode.
    if !rt.profile.product.failure_mode_default_stream {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            product,
            "stmAttrType: ACL_STREAM_ATTR_PRIORITY is not supported on {}",
            rt.profile.product.key
        );
    }
    Ok(())
}
