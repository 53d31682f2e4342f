//! The overflow status: chapter 04. It is copied to device memory and cleared in stream order. No computation of this runtime
//! saturates, so that the status is 0 throughout.

use ascendcl_sys as sys;
use toprope_engine::memory::Owner;
use toprope_engine::queue::Task;

use crate::context::OVERFLOW_BYTES;
use crate::error::Result;
use crate::observer::{self, Enqueued, Range};
use crate::process::Runtime;
use crate::{Api, refuse, stream};

/// aclrtGetOverflowStatus (#05, #09).
pub fn get(rt: &Runtime, addr: usize, size: usize, stream: u64) -> Result<()> {
    let stream = stream::resolve_own(rt, stream, "aclrtGetOverflowStatus#06")?;
    if size != OVERFLOW_BYTES {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtGetOverflowStatus#03",
            "outputSize: {size}, must be {OVERFLOW_BYTES}"
        );
    }
    let inside = rt.space.find(addr).is_some_and(|block| {
        matches!(block.owner, Owner::Device(_) | Owner::Image(_) | Owner::Managed)
            && addr - block.base + size <= block.usable
    });
    if !inside {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtGetOverflowStatus#10",
            "outputAddr: {addr:#x} is not the start of {size} bytes of device memory"
        );
    }
    let position = stream.push(rt, Task::Fill { dst: rt.space.inner(addr), len: size, byte: 0 });
    observer::tell(|o| {
        o.enqueued(&Enqueued {
            api: Api::aclrtGetOverflowStatus,
            stream: stream.handle(),
            mark: rt.engine.mark_at(stream.queue, position),
            reads: &[],
            writes: &[Range { start: addr, len: size }],
        });
    });
    Ok(())
}

/// aclrtResetOverflowStatus (#02, #03, #04): 0 already.
pub fn reset(rt: &Runtime, stream: u64) -> Result<()> {
    stream::resolve(rt, stream).map(|_| ())
}
