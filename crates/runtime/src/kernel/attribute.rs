//! What can be asked of a kernel: name, parameters, code, attributes.

use ascendcl_sys as sys;
use toprope_engine::image::Core;

use super::binary::{self, Function};
use crate::error::Result;
use crate::handle::Pin;
use crate::process::Runtime;
use crate::{refuse, thread};

/// Whether the target has vector cores beside its cube cores.
pub(crate) fn split(rt: &Runtime) -> bool {
    rt.profile.product.vector_core_num > rt.profile.product.ai_core_num
}

/// aclrtGetFunctionAddr: for cube and for vector cores; 0 where the kernel has no code (#06, #08).
pub fn addresses(rt: &Runtime, handle: u64) -> Result<[usize; 2]> {
    let function = binary::function(rt, handle, "aclrtGetFunctionAddr#04")?;
    let device = thread::current(rt)?.device;
    let owner = binary::resolve(rt, function.binary, "aclrtGetFunctionAddr#04")?;
    let at = owner.load(rt, device)?.base() + function.kernel().entry;
    Ok(by_core(function.kernel().core, at))
}

/// aclrtGetFunctionSize (#07): the same of its code's bytes.
pub fn sizes(rt: &Runtime, handle: u64) -> Result<[usize; 2]> {
    let function = binary::function(rt, handle, "aclrtGetFunctionSize#05")?;
    Ok(by_core(function.kernel().core, function.kernel().code))
}

fn by_core(core: Core, value: usize) -> [usize; 2] {
    match core {
        Core::Mix => [value, value],
        Core::Cube => [value, 0],
        Core::Vector => [0, value],
    }
}

/// aclrtGetFunctionName: with room for `room` bytes, the end mark among them.
pub fn name(rt: &Runtime, handle: u64, room: usize) -> Result<String> {
    let function = binary::function(rt, handle, "aclrtGetFunctionName#03")?;
    let name = &function.kernel().name;
    if room <= name.len() {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtGetFunctionName#04",
            "maxLen: {room}; the name has {} bytes and an end mark",
            name.len()
        );
    }
    Ok(name.clone())
}

/// aclrtGetFunctionAttribute.
pub fn get(rt: &Runtime, handle: u64, attribute: sys::aclrtFuncAttribute) -> Result<i64> {
    let function = binary::function(rt, handle, "aclrtGetFunctionAttribute#03")?;
    let core = function.kernel().core;
    match attribute {
        sys::ACL_FUNC_ATTR_KERNEL_TYPE => Ok(i64::from(match core {
            // One kind of core does both.
            Core::Mix if !split(rt) => sys::ACL_KERNEL_TYPE_AICORE,
            Core::Mix => sys::ACL_KERNEL_TYPE_MIX,
            Core::Cube => sys::ACL_KERNEL_TYPE_CUBE,
            Core::Vector => sys::ACL_KERNEL_TYPE_VECTOR,
        })),
        sys::ACL_FUNC_ATTR_KERNEL_RATIO => {
            if !rt.profile.product.kernel_ratio {
                return refuse!(
                    sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "aclrtGetFunctionAttribute#05",
                    "attrType: the ratio of cores is not known on {}",
                    rt.profile.product.key
                );
            }
            let (cubes, vectors) = match core {
                Core::Mix if split(rt) => {
                    (1, rt.profile.product.vector_core_num / rt.profile.product.ai_core_num)
                }
                Core::Mix | Core::Cube => (1, 0),
                Core::Vector => (0, 1),
            };
            // #08
            Ok(i64::from(cubes << 16 | vectors))
        }
        // #10: normal; a kernel is not made for batch mode.
        sys::ACL_FUNC_ATTR_KERNEL_SCHED_MODE => Ok(0),
        _ => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtGetFunctionAttribute#04",
            "attrType: {attribute} is none of 1 to 3"
        ),
    }
}

/// aclrtFunctionGetBinary (#04).
pub fn get_binary(rt: &Runtime, handle: u64) -> Result<u64> {
    Ok(binary::function(rt, handle, "aclrtFunctionGetBinary#03")?.binary)
}

/// A kernel as aclrtLaunchKernelWithArgsArray takes it: the address of its host function, or a handle.
pub(crate) fn either<'a>(rt: &'a Runtime, func: u64, rule: &'static str) -> Result<Pin<'a, Function>> {
    let handle = super::register::handle_of(rt, func as usize).unwrap_or(func);
    binary::function(rt, handle, rule)
}

/// aclrtFunctionGetParamCount.
pub fn param_count(rt: &Runtime, func: u64) -> Result<usize> {
    Ok(either(rt, func, "aclrtFunctionGetParamCount#03")?.kernel().params.len())
}

/// aclrtFunctionGetParamInfo: offset and size in bytes (#08).
pub fn param_info(rt: &Runtime, func: u64, index: usize) -> Result<(usize, usize)> {
    let function = either(rt, func, "aclrtFunctionGetParamInfo#05")?;
    match function.kernel().params.get(index) {
        Some((offset, size)) => Ok((*offset as usize, *size as usize)),
        None => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtFunctionGetParamInfo#04",
            "paramIndex: {index}; kernel {} has {} parameters",
            function.kernel().name,
            function.kernel().params.len()
        ),
    }
}

/// aclrtFunctionGetAvailDynUbufPerBlock (#05): there are no SIMT kernels.
pub fn dynamic_buffer(rt: &Runtime, func: u64) -> Result<usize> {
    either(rt, func, "aclrtFunctionGetAvailDynUbufPerBlock#04").map(|_| 0)
}
