//! Argument lists: aclrtKernelArgsInit and what follows. A list holds values in the order of its calls, each at a multiple of 8 bytes
//! (aclrtKernelArgsAppend#11), behind them the data of its place holders; a launch packs them to where its kernel wants them.
//!
//! | state | may be appended to | takes place holders' data | may be launched |
//! |---|---|---|---|
//! | new | yes | yes: then no more appending | no |
//! | finalized | no | no | yes, until the next update |

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ascendcl_sys as sys;
use parking_lot::{Mutex, MutexGuard};
use toprope_engine::image::Kernel;
use toprope_engine::memory;

use super::binary;
use super::launch::put;
use super::run::Arguments;
use crate::error::Result;
use crate::handle::{Kind, describe};
use crate::process::{self, Runtime};
use crate::{bytes, refuse, thread};

/// aclrtKernelArgsInit#04: parameters and bytes of a list in the runtime's memory.
const MOST: usize = 128;
const ROOM: usize = 64 << 10;
/// Values begin at multiples of this.
const STEP: usize = 8;
/// Data of place holders begins, for the kernel, at multiples of this (ours: as device memory's blocks do, half as much).
const DATA_STEP: usize = 32;

/// An argument list.
pub(crate) struct List(Mutex<Inner>);

struct Inner {
    /// In its parameters' handles: tells them from those before a reset.
    id: u32,
    /// Where the values are: the runtime's memory, or the program's.
    base: usize,
    room: usize,
    most: usize,
    own: Option<Box<[u64]>>,
    values: Vec<Value>,
    used: usize,
    /// A place holder has its data.
    sealed: bool,
    finalized: bool,
}

/// A parameter in a list.
#[derive(Clone, Copy)]
struct Value {
    offset: usize,
    size: usize,
    /// A place holder's data: offset and bytes; the address of it becomes the value.
    holder: Option<Option<(usize, usize)>>,
}

static IDS: AtomicU32 = AtomicU32::new(1);
/// A handle has room for so much of an id.
const ID_BITS: u32 = 25;
const KIND_SHIFT: u32 = 57;

impl Inner {
    fn new(base: usize, room: usize, most: usize, own: Option<Box<[u64]>>) -> Inner {
        let id = IDS.fetch_add(1, Ordering::Relaxed) & ((1 << ID_BITS) - 1);
        Inner { id, base, room, most, own, values: Vec::new(), used: 0, sealed: false, finalized: false }
    }

    /// A handle of the runtime's kind, with the list's id for the generation and the parameter's place for the index.
    fn param(&self, at: usize) -> u64 {
        (Kind::Param as u64) << KIND_SHIFT | u64::from(self.id) << 32 | at as u64
    }

    /// The place of a parameter's handle.
    fn at(&self, handle: u64, rule: &'static str) -> Result<usize> {
        let at = handle as u32 as usize;
        if at < self.values.len() && self.param(at) == handle {
            return Ok(at);
        }
        refuse!(
            sys::ACL_ERROR_RT_INVALID_HANDLE,
            rule,
            "paramHandle: {handle:#x} is no parameter of this argument list"
        )
    }

    /// Reserves bytes; the rule is for a list without room.
    fn reserve(&mut self, bytes: usize, rule: &'static str) -> Result<usize> {
        let offset = self.used;
        // The room may end in the middle of a step.
        match offset.checked_add(bytes) {
            Some(end) if end <= self.room => {
                self.used = end.next_multiple_of(STEP);
                Ok(offset)
            }
            _ => refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                rule,
                "argsHandle: {bytes} bytes do not fit behind {offset}; the list has room for {}",
                self.room
            ),
        }
    }

    fn appendable(&self, [finalized, sealed, full]: [&'static str; 3]) -> Result<()> {
        let late = |rule, what: &str| {
            refuse!(
                sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                rule,
                "argsHandle: the list takes no more after {what}"
            )
        };
        if self.finalized {
            return late(finalized, "aclrtKernelArgsFinalize");
        }
        if self.sealed {
            return late(sealed, "aclrtKernelArgsGetPlaceHolderBuffer");
        }
        if self.values.len() >= self.most {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                full,
                "argsHandle: the list has all of its {} parameters",
                self.most
            );
        }
        Ok(())
    }

    /// Writes a value where it belongs.
    fn store(&self, offset: usize, from: usize, bytes: usize, rule: &'static str) -> Result<()> {
        // SAFETY: inside the list's memory: the runtime's, to which nobody holds a reference, or the program's. What is not there is
        // reported.
        match unsafe { memory::copy(self.base + offset, from, bytes) } {
            Ok(()) => Ok(()),
            Err(fault) => refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                rule,
                "param: there is no memory at {:#x}",
                fault.address
            ),
        }
    }
}

/// The thread's own list: ends with the thread.
struct Mine(Cell<u64>);

impl Drop for Mine {
    fn drop(&mut self) {
        if let Ok(rt) = process::runtime() {
            rt.kernels.lists.remove(self.0.get());
        }
    }
}

thread_local! {
    static MINE: Mine = const { Mine(Cell::new(0)) };
}

/// aclrtKernelArgsInit (#05: one list per thread, emptied by each call).
pub fn init(rt: &Runtime, func: u64) -> Result<u64> {
    binary::function(rt, func, "aclrtKernelArgsInit#03")?;
    let mine = MINE.try_with(|mine| mine.0.get()).unwrap_or(0);
    if let Some(list) = rt.kernels.lists.pin(mine) {
        let mut inner = list.0.lock();
        let own = inner.own.take();
        *inner = Inner::new(inner.base, ROOM, MOST, own);
        return Ok(mine);
    }
    let own = vec![0u64; ROOM / 8].into_boxed_slice();
    let base = own.as_ptr() as usize;
    let handle = rt.kernels.lists.insert(Arc::new(List(Mutex::new(Inner::new(base, ROOM, MOST, Some(own))))));
    let _ = MINE.try_with(|mine| mine.0.set(handle));
    Ok(handle)
}

/// aclrtKernelArgsInitByUserMem (#06): `handle` is memory of the program, and so are the `bytes` at `values`. #07: as many parameters
/// as the kernel has.
pub fn init_by_user_mem(rt: &Runtime, func: u64, handle: u64, values: usize, bytes: usize) -> Result<()> {
    let function = binary::function(rt, func, "aclrtKernelArgsInitByUserMem#05")?;
    let inner = Inner::new(values, bytes, function.kernel().params.len(), None);
    if bytes::write(handle as usize, inner.id).is_err() {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtKernelArgsInitByUserMem#06",
            "argsHandle: there is no memory at {handle:#x}"
        );
    }
    rt.kernels.user_lists.lock().insert(handle, Arc::new(List(Mutex::new(inner))));
    Ok(())
}

/// aclrtKernelArgsGetMemSize (#04 to #06).
pub fn mem_size(rt: &Runtime, func: u64, user: usize) -> Result<usize> {
    let function = binary::function(rt, func, "aclrtKernelArgsGetMemSize#03")?;
    Ok(user.saturating_add(64).saturating_add(8 * function.kernel().params.len()))
}

/// aclrtKernelArgsGetHandleMemSize (#04): ours: a word and, as the page says, more with each parameter.
pub fn handle_mem_size(rt: &Runtime, func: u64) -> Result<usize> {
    let function = binary::function(rt, func, "aclrtKernelArgsGetHandleMemSize#03")?;
    Ok(64 + 16 * function.kernel().params.len())
}

/// aclrtKernelArgsAppend: the value's `size` bytes are copied (#11).
pub fn append(rt: &Runtime, list: u64, value: usize, size: usize) -> Result<u64> {
    let list = List::resolve(rt, list, "aclrtKernelArgsAppend#06")?;
    let mut inner = list.0.lock();
    inner.appendable(["aclrtKernelArgsAppend#07", "aclrtKernelArgsAppend#08", "aclrtKernelArgsAppend#09"])?;
    let before = inner.used;
    let offset = inner.reserve(size, "aclrtKernelArgsAppend#10")?;
    if let Err(error) = inner.store(offset, value, size, "aclrtKernelArgsAppend#11") {
        inner.used = before;
        return Err(error);
    }
    inner.values.push(Value { offset, size, holder: None });
    Ok(inner.param(inner.values.len() - 1))
}

/// aclrtKernelArgsAppendPlaceHolder (#07).
pub fn append_place_holder(rt: &Runtime, list: u64) -> Result<u64> {
    let list = List::resolve(rt, list, "aclrtKernelArgsAppendPlaceHolder#03")?;
    let mut inner = list.0.lock();
    inner.appendable([
        "aclrtKernelArgsAppendPlaceHolder#04",
        "aclrtKernelArgsAppendPlaceHolder#05",
        "aclrtKernelArgsAppendPlaceHolder#06",
    ])?;
    let offset = inner.reserve(8, "aclrtKernelArgsAppendPlaceHolder#06")?;
    inner.values.push(Value { offset, size: 8, holder: Some(None) });
    Ok(inner.param(inner.values.len() - 1))
}

/// aclrtKernelArgsGetPlaceHolderBuffer (#09): host memory inside the list.
pub fn place_holder_buffer(rt: &Runtime, list: u64, param: u64, bytes: usize) -> Result<usize> {
    let list = List::resolve(rt, list, "aclrtKernelArgsGetPlaceHolderBuffer#05")?;
    let mut inner = list.0.lock();
    let at = inner.at(param, "aclrtKernelArgsGetPlaceHolderBuffer#05")?;
    let value = inner.values[at];
    let Some(given) = value.holder else {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtKernelArgsGetPlaceHolderBuffer#06",
            "paramHandle: parameter {at} is no place holder"
        );
    };
    if inner.finalized {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtKernelArgsGetPlaceHolderBuffer#07",
            "argsHandle: the list is finalized"
        );
    }
    let offset = match given {
        // ours: asked for again, it is the same memory, if that is large enough.
        Some((offset, has)) if bytes <= has => offset,
        _ => inner.reserve(bytes, "aclrtKernelArgsGetPlaceHolderBuffer#08")?,
    };
    inner.values[at].holder = Some(Some((offset, bytes)));
    inner.sealed = true;
    Ok(inner.base + offset)
}

/// aclrtKernelArgsParaUpdate (#08: the list must be finalized again).
pub fn update(rt: &Runtime, list: u64, param: u64, value: usize, size: usize) -> Result<()> {
    let list = List::resolve(rt, list, "aclrtKernelArgsParaUpdate#05")?;
    let mut inner = list.0.lock();
    let at = inner.at(param, "aclrtKernelArgsParaUpdate#05")?;
    let Value { offset, size: has, holder } = inner.values[at];
    let invalid = |rule, text: String| refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "{text}");
    if holder.is_some() {
        return invalid(
            "aclrtKernelArgsParaUpdate#06",
            format!("paramHandle: parameter {at} is a place holder"),
        );
    }
    if size != has {
        let text = format!("paramSize: {size}; parameter {at} was appended with {has} bytes");
        return invalid("aclrtKernelArgsParaUpdate#07", text);
    }
    inner.store(offset, value, size, "aclrtKernelArgsParaUpdate#08")?;
    inner.finalized = false;
    Ok(())
}

/// aclrtKernelArgsFinalize (#04: twice is fine; #05: no kernel of ours needs such an address).
pub fn finalize(rt: &Runtime, list: u64) -> Result<()> {
    let list = List::resolve(rt, list, "aclrtKernelArgsFinalize#02")?;
    if let Err(error) = thread::current(rt) {
        return refuse!(error.code(), "aclrtKernelArgsFinalize#03", "{}", error.text());
    }
    list.0.lock().finalized = true;
    Ok(())
}

impl List {
    /// The list of a handle: one of the runtime's, or memory of the program.
    pub(super) fn resolve(rt: &Runtime, handle: u64, rule: &'static str) -> Result<Arc<List>> {
        if let Some(list) = rt.kernels.lists.pin(handle) {
            return Ok((*list).clone());
        }
        match rt.kernels.user_lists.lock().get(&handle) {
            Some(list) => Ok(list.clone()),
            None => refuse!(
                sys::ACL_ERROR_RT_INVALID_HANDLE,
                rule,
                "argsHandle: {}",
                describe(handle, Kind::Args)
            ),
        }
    }

    /// The arguments for a kernel: each parameter where its own table wants it, and the place holders' data behind them.
    pub(super) fn pack(&self, kernel: &Kernel) -> Result<Arguments> {
        let inner = self.0.lock();
        ready(&inner)?;
        // ours: more or fewer than the kernel has would leave it reading what nobody wrote.
        if inner.values.len() != kernel.params.len() {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "ours: arguments are complete",
                "argsHandle: the list has {} parameters, kernel {} has {}",
                inner.values.len(),
                kernel.name,
                kernel.params.len()
            );
        }
        let data = inner.values.iter().filter_map(|value| value.holder.flatten());
        let data: usize = data.map(|(_, bytes)| bytes.next_multiple_of(DATA_STEP)).sum();
        let start = (kernel.arguments as usize).next_multiple_of(DATA_STEP);
        // One step more, to begin at a multiple of it.
        let arguments = Arguments::apart(start + data + DATA_STEP, kernel.arguments as usize);
        let to = arguments.place().0;
        let mut next = (to + start).next_multiple_of(DATA_STEP);
        for (value, (offset, size)) in inner.values.iter().zip(&kernel.params) {
            let place = to + *offset as usize;
            match value.holder.flatten() {
                None => put(place, inner.base + value.offset, value.size.min(*size as usize), "argsHandle")?,
                Some((from, bytes)) => {
                    put(next, inner.base + from, bytes, "argsHandle")?;
                    put(place, &raw const next as usize, (*size as usize).min(8), "argsHandle")?;
                    next += bytes.next_multiple_of(DATA_STEP);
                }
            }
        }
        Ok(arguments)
    }
}

/// Whether a list can be launched with.
fn ready(inner: &MutexGuard<'_, Inner>) -> Result<()> {
    let invalid = |rule, text: &str| refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, rule, "argsHandle: {text}");
    if !inner.finalized {
        return invalid("aclrtLaunchKernelWithConfig#07", "the list is not finalized, or was updated since");
    }
    if inner.values.is_empty() {
        return invalid("aclrtLaunchKernelWithConfig#08", "the list has no data");
    }
    if inner.values.iter().any(|value| value.holder == Some(None)) {
        return invalid("aclrtLaunchKernelWithConfig#09", "a place holder has no buffer");
    }
    Ok(())
}
