//! Chapter 12: tasks that the device has built in, with no kernel: reductions and random numbers.

pub mod random;
pub mod reduce;

pub(crate) mod number;

pub use random::random_num_async;
pub use reduce::reduce_async;

use std::fmt;

use ascendcl_sys as sys;

use crate::copy;
use crate::error::Result;
use crate::memory::place::{Side, Span};
use crate::process::Runtime;
use crate::refuse;
use crate::stream::Stream;

/// Memory that a task of `stream` works on: of its own device, or managed. The pages demand it and name no code.
fn on_device(
    rt: &Runtime,
    stream: &Stream,
    name: &dyn fmt::Display,
    addr: usize,
    len: usize,
    rule: &'static str,
) -> Result<Span> {
    let span = copy::end(rt, name, addr, len)?;
    let elsewhere = span.place().device().is_some_and(|device| device != stream.device);
    if elsewhere || span.place().side() == Side::Host {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rule,
            "{name}: {addr:#x} is {}, not memory of device {}, whose stream it is",
            span.describe(),
            stream.device
        );
    }
    Ok(span)
}
