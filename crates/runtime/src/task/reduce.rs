//! aclrtReduceAsync: combines each element of `dst` with that of `src`, into `dst`.

use ascendcl_sys as sys;
use toprope_engine::memory;

use super::number::{Brain, Half, Number, Overflow};
use super::on_device;
use crate::copy::{self, FAULT_CODE};
use crate::device::limit;
use crate::error::Result;
use crate::generated::api::Api;
use crate::process::Runtime;
use crate::{refuse, stream};

/// Bytes at a time.
const PIECE: usize = 4096;

/// aclrtReduceAsync: `count` bytes (#07). Both ranges are read and written when the task runs (#16).
pub fn reduce_async(
    rt: &Runtime,
    dst: usize,
    src: usize,
    count: u64,
    kind: sys::aclrtReduceKind,
    data_type: sys::aclDataType,
    stream: u64,
) -> Result<()> {
    let Some((combine, size)) = element(data_type, kind) else {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtReduceAsync#04",
            "type: {} is none of int8, int16, int32, uint32, float16, float and bfloat16",
            sys::enums::aclDataType.show(data_type)
        );
    };
    let known = stream::known(rt, stream)?;
    if count == 0 {
        return refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtReduceAsync#05", "count: must not be 0");
    }
    let Some(combine) = combine else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtReduceAsync#06",
            "kind: {}; wanted is 10 to 13",
            sys::enums::aclrtReduceKind.show(kind)
        );
    };
    let product = rt.profile.product;
    if !product.reduce_kinds.contains(&kind) {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtReduceAsync#09",
            "kind: {} has {} only, not {}",
            product.key,
            sys::enums::aclrtReduceKind.list(product.reduce_kinds),
            sys::enums::aclrtReduceKind.show(kind)
        );
    }
    if !product.reduce_types.contains(&data_type) {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtReduceAsync#10, #11, #12, #13, #14",
            "type: {} has {} only, not {}",
            product.key,
            sys::enums::aclDataType.list(product.reduce_types),
            sys::enums::aclDataType.show(data_type)
        );
    }
    let len = match usize::try_from(count) {
        Ok(len) if len % size == 0 => len,
        _ => {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: whole elements",
                "count: {count} bytes are no whole number of elements of {size} bytes"
            );
        }
    };
    let stream = copy::own(rt, known, "aclrtReduceAsync#18")?;
    let dst = on_device(rt, &stream, &"dst", dst, len, "aclrtReduceAsync#15")?;
    let src = on_device(rt, &stream, &"src", src, len, "aclrtReduceAsync#15")?;
    // ours: the mode is the device's at the call.
    let overflow = match limit::sat_mode(rt) {
        sys::ACL_RT_OVERFLOW_MODE_SATURATION => Overflow::Saturate,
        _ => Overflow::InfNan,
    };
    let (to, from) = (dst.inner(), src.inner());
    let task = copy::work(4 * len, 1, move || run(to, from, len, combine, overflow));
    copy::enqueue(rt, Api::aclrtReduceAsync, &stream, task, &[dst.range(), src.range()], &[dst.range()]);
    Ok(())
}

/// Combines whole elements of two pieces, into the first.
type Combine = fn(&mut [u8], &[u8], Overflow);

/// How elements of a type are combined (None: no such kind), and their size. None: no such type.
fn element(data_type: sys::aclDataType, kind: sys::aclrtReduceKind) -> Option<(Option<Combine>, usize)> {
    Some(match data_type {
        sys::ACL_INT8 => (kind_of::<i8>(kind), 1),
        sys::ACL_INT16 => (kind_of::<i16>(kind), 2),
        sys::ACL_INT32 => (kind_of::<i32>(kind), 4),
        sys::ACL_UINT32 => (kind_of::<u32>(kind), 4),
        sys::ACL_FLOAT16 => (kind_of::<Half>(kind), 2),
        sys::ACL_BF16 => (kind_of::<Brain>(kind), 2),
        sys::ACL_FLOAT => (kind_of::<f32>(kind), 4),
        _ => return None,
    })
}

/// aclrtReduceAsync#08
fn kind_of<N: Number>(kind: sys::aclrtReduceKind) -> Option<Combine> {
    Some(match kind {
        sys::ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM => |dst, src, mode| each(dst, src, |a: N, b| a.sum(b, mode)),
        sys::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX => |dst, src, _| each(dst, src, N::greater),
        sys::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN => |dst, src, _| each(dst, src, N::smaller),
        // ours: the page names the kind only; 1 where the elements are equal, 0 where they are not.
        sys::ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL => |dst, src, _| each(dst, src, N::equal),
        _ => return None,
    })
}

fn each<N: Number>(dst: &mut [u8], src: &[u8], combine: impl Fn(N, N) -> N) {
    for (dst, src) in dst.chunks_exact_mut(N::BYTES).zip(src.chunks_exact(N::BYTES)) {
        combine(N::load(dst), N::load(src)).store(dst);
    }
}

fn run(
    dst: usize,
    src: usize,
    len: usize,
    combine: Combine,
    overflow: Overflow,
) -> std::result::Result<(), u32> {
    let (mut left, mut right) = ([0_u8; PIECE], [0_u8; PIECE]);
    for at in (0..len).step_by(PIECE) {
        let n = PIECE.min(len - at);
        let (here, there) = (left.as_mut_ptr() as usize, right.as_mut_ptr() as usize);
        // SAFETY: `n` bytes of this thread's buffers, and inner addresses of blocks that the call checked; one that is gone
        // meanwhile is reported.
        unsafe { memory::copy(here, dst + at, n).and_then(|()| memory::copy(there, src + at, n)) }
            .map_err(|_| FAULT_CODE)?;
        if let (Some(left), Some(right)) = (left.get_mut(..n), right.get(..n)) {
            combine(left, right, overflow);
        }
        // SAFETY: as above.
        unsafe { memory::copy(dst + at, here, n) }.map_err(|_| FAULT_CODE)?;
    }
    Ok(())
}
