//! Chapter 11-09: a stream writes a 64-bit word of device memory, or waits for one.
//!
//! A write is a task of one store, which rings for the streams that wait for that word. A wait parks its stream (no thread, and
//! nothing spins): it is looked at again at every such write, and, since copies, fills, kernels and the other devices change
//! words too, by the engine's watch: 20 us after it parked at first, later a quarter of the time that it has lasted, 1 ms at
//! most. What follows in the stream reads what was written before the word. It ends without its word with aclrtStreamAbort,
//! aclrtDestroyStreamForce and the reset of its device, as every task that has not begun.

use ascendcl_sys as sys;
use toprope_engine::memory;
use toprope_engine::queue::{Condition, Poll, Task};

use crate::copy::{self, FAULT_CODE};
use crate::error::Result;
use crate::generated::api::Api;
use crate::handle::Pin;
use crate::memory::place::{Side, Span};
use crate::observer::Range;
use crate::process::Runtime;
use crate::stream::{self, Stream};
use crate::{device, refuse};

/// Rows of the two calls, which check alike.
struct Rules {
    flag: &'static str,
    place: &'static str,
    aligned: &'static str,
    context: &'static str,
}

const WRITE: Rules = Rules {
    flag: "aclrtValueWrite#04",
    place: "aclrtValueWrite#05",
    aligned: "aclrtValueWrite#06",
    context: "aclrtValueWrite#09",
};

const WAIT: Rules = Rules {
    flag: "aclrtValueWait#04",
    place: "aclrtValueWait#05",
    aligned: "aclrtValueWrite#06",
    context: "aclrtValueWait#12",
};

/// aclrtValueWrite: all 64 bits (#07), in stream order (#12).
pub fn write(rt: &Runtime, addr: usize, value: u64, flag: u32, stream: u64) -> Result<()> {
    let (stream, word) = checked(rt, &WRITE, addr, flag, 0, stream)?;
    let task = Task::Store { dst: word.inner(), value };
    copy::enqueue(rt, Api::aclrtValueWrite, &stream, task, &[], &[word.range()]);
    Ok(())
}

/// aclrtValueWait: later tasks of the stream wait, the caller does not (#14).
pub fn wait(rt: &Runtime, addr: usize, value: u64, flag: u32, stream: u64) -> Result<()> {
    let (stream, word) = checked(rt, &WAIT, addr, flag, sys::ACL_STREAM_WAIT_VALUE_NOR, stream)?;
    let inner = word.inner();
    let until = Word { inner, value, flag };
    let task = Task::Poll(std::sync::Arc::new(Poll::new(Box::new(until), inner, 0, 0)));
    copy::enqueue(rt, Api::aclrtValueWait, &stream, task, &[word.range()], &[] as &[Range]);
    Ok(())
}

/// aclrtValueWrite#11: the order of the checks. The pointer and the product were looked at before.
fn checked<'a>(
    rt: &'a Runtime,
    rules: &Rules,
    addr: usize,
    flag: u32,
    last_flag: u32,
    stream: u64,
) -> Result<(Pin<'a, Stream>, Span)> {
    let known = stream::known(rt, stream)?;
    if flag > last_flag {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.flag,
            "flag: {flag} is above {last_flag}, the last value that the call knows"
        );
    }
    // ours: the page demands it and names no code; a word that is not aligned could be seen half written.
    if !addr.is_multiple_of(size_of::<u64>()) {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.aligned,
            "devAddr: {addr:#x} is not 8-byte aligned"
        );
    }
    let word = copy::end(rt, &"devAddr", addr, size_of::<u64>())?;
    // ours: managed memory counts as device memory, since devices reach it.
    if word.place().side() == Side::Host {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.place,
            "devAddr: {addr:#x} is {}, not device memory",
            word.describe()
        );
    }
    let stream = copy::own(rt, known, rules.context)?;
    match word.place().device() {
        // ours: as for a copy across devices.
        Some(other) if other != stream.device && !device::peer::peer_enabled(rt, stream.device, other) => {
            refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: as aclrtMemcpyAsync#30",
                "devAddr: {addr:#x} is {}; device {}, whose stream it is, has no access to it; call \
                 aclrtDeviceEnablePeerAccess({other}, 0) on it first",
                word.describe(),
                stream.device
            )
        }
        _ => Ok((stream, word)),
    }
}

/// A word that is waited for.
struct Word {
    inner: usize,
    value: u64,
    flag: u32,
}

impl Word {
    /// The word now; None when its memory is gone.
    fn read(&self) -> Option<u64> {
        let mut now = 0_u64;
        // SAFETY: the destination is this thread's own; the source may be gone, which `copy` reports.
        unsafe { memory::copy(&raw mut now as usize, self.inner, size_of::<u64>()) }.ok()?;
        Some(now)
    }

    fn met_by(&self, now: u64) -> bool {
        match self.flag {
            // aclrtValueWait#06
            sys::ACL_STREAM_WAIT_VALUE_GEQ => now.wrapping_sub(self.value) as i64 >= 0,
            // aclrtValueWait#07
            sys::ACL_STREAM_WAIT_VALUE_EQ => now == self.value,
            // aclrtValueWait#08
            sys::ACL_STREAM_WAIT_VALUE_AND => now & self.value != 0,
            // aclrtValueWait#09
            _ => !(now | self.value) != 0,
        }
    }
}

impl Condition for Word {
    fn meet(&self) -> std::result::Result<bool, u32> {
        self.read().map(|now| self.met_by(now)).ok_or(FAULT_CODE)
    }

    fn look(&self) -> bool {
        self.read().is_none_or(|now| self.met_by(now))
    }

    fn silent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(flag: u32, now: u64, value: u64) -> bool {
        Word { inner: 0, value, flag }.met_by(now)
    }

    /// aclrtValueWait#06 to #10
    #[test]
    fn conditions() {
        use sys::{
            ACL_STREAM_WAIT_VALUE_AND as AND, ACL_STREAM_WAIT_VALUE_EQ as EQ,
            ACL_STREAM_WAIT_VALUE_GEQ as GEQ, ACL_STREAM_WAIT_VALUE_NOR as NOR,
        };
        assert!(met(GEQ, 5, 5) && met(GEQ, 6, 5) && !met(GEQ, 4, 5));
        // It wraps: 3 is 8 after u64::MAX - 4, and 2^63 after is before.
        assert!(met(GEQ, 3, u64::MAX - 4) && !met(GEQ, u64::MAX - 4, 3));
        assert!(!met(GEQ, 1 << 63, 0) && met(GEQ, (1 << 63) - 1, 0));
        assert!(met(EQ, 1 << 40, 1 << 40) && !met(EQ, 0, 1 << 40));
        assert!(met(AND, 6, 2) && !met(AND, 6, 9) && !met(AND, u64::MAX, 0) && met(AND, 1 << 63, 1 << 63));
        assert!(met(NOR, 0, 0) && met(NOR, u64::MAX - 1, 6) && !met(NOR, u64::MAX, 0));
        assert!(!met(NOR, u64::MAX << 32, u64::from(u32::MAX)));
    }
}
