//! Chapter 10: labels, the places that a stream of a model jumps to. Streams get into a model by aclmdlRIBindStream, which is not
//! built yet, so that no stream can have a label: setting one and jumping to it end at that rule.

use ascendcl_sys as sys;

use crate::error::Result;
use crate::handle::{Kind, Pin, Table, describe};
use crate::memory::place::Side;
use crate::process::Runtime;
use crate::stream::{self, Stream};
use crate::{copy, observer, refuse, thread};

/// Labels of a process. aclrtCreateLabel#03
const MOST: usize = 65535;

/// Live labels and lists.
pub struct Labels {
    labels: Table<Label>,
    lists: Table<LabelList>,
}

impl Labels {
    pub(crate) fn new() -> Labels {
        Labels { labels: Table::new(Kind::Label), lists: Table::new(Kind::LabelList) }
    }
}

/// A label.
struct Label {
    /// Handle of its context.
    context: u64,
}

/// What a jump chooses from.
struct LabelList {
    labels: Box<[u64]>,
}

/// aclrtCreateLabel: in the current context.
pub fn create(rt: &Runtime) -> Result<u64> {
    let context = thread::current(rt)?.handle();
    if rt.labels.labels.len() >= MOST {
        return refuse!(
            sys::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            "aclrtCreateLabel#03",
            "all {MOST} labels of the process are in use"
        );
    }
    let handle = rt.labels.labels.insert(Label { context });
    observer::tell(|o| o.born(Kind::Label, handle));
    Ok(handle)
}

/// aclrtDestroyLabel.
pub fn destroy(rt: &Runtime, handle: u64) -> Result<()> {
    let label = find(rt, handle)?;
    own(rt, &label, "aclrtDestroyLabel#03")?;
    if rt.labels.labels.remove(handle).is_none() {
        return invalid(handle, "label", Kind::Label);
    }
    observer::tell(|o| o.died(Kind::Label, handle));
    Ok(())
}

/// aclrtCreateLabelList.
pub fn create_list(rt: &Runtime, labels: &[u64]) -> Result<u64> {
    for label in labels {
        find(rt, *label)?;
    }
    thread::current_device(rt)?;
    let handle = rt.labels.lists.insert(LabelList { labels: labels.into() });
    observer::tell(|o| o.born(Kind::LabelList, handle));
    Ok(handle)
}

/// aclrtCreateLabelList#03, #04: how many labels a list may have.
pub fn list_length(num: usize) -> Result<()> {
    if (1..=MOST).contains(&num) {
        return Ok(());
    }
    refuse!(sys::ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateLabelList#04", "num: {num} is not in [1, {MOST}]")
}

/// aclrtDestroyLabelList. ours: a second time is told (#02).
pub fn destroy_list(rt: &Runtime, handle: u64) -> Result<()> {
    if rt.labels.lists.remove(handle).is_none() {
        return invalid(handle, "labelList", Kind::LabelList);
    }
    observer::tell(|o| o.died(Kind::LabelList, handle));
    Ok(())
}

/// aclrtSetLabel. The checks in the order of #07.
pub fn set(rt: &Runtime, label: u64, stream: u64) -> Result<()> {
    let label = find(rt, label)?;
    let stream = stream::resolve(rt, stream)?;
    own(rt, &label, "aclrtSetLabel#05")?;
    stream::in_context(rt, &stream, "aclrtSetLabel#06")?;
    in_no_model(&stream, "aclrtSetLabel#08")
}

/// aclrtSwitchLabelByIndex: `addr` is where the index will be.
pub fn switch_by_index(rt: &Runtime, addr: usize, max: u32, list: u64, stream: u64) -> Result<()> {
    let Some(list) = rt.labels.lists.pin(list) else {
        return invalid(list, "labelList", Kind::LabelList);
    };
    let stream = stream::resolve(rt, stream)?;
    // The page demands this and the next and names no code.
    let index = copy::end(rt, &"ptr", addr, size_of::<u32>())?;
    if index.place().side() == Side::Host {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtSwitchLabelByIndex#04",
            "ptr: {addr:#x} is {}, not device memory",
            index.describe()
        );
    }
    if max as usize != list.labels.len() {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtSwitchLabelByIndex#06",
            "maxValue: {max}, the list has {} labels",
            list.labels.len()
        );
    }
    thread::current_device(rt)?;
    stream::in_context(rt, &stream, "aclrtSwitchLabelByIndex#09")?;
    in_no_model(&stream, "aclrtSwitchLabelByIndex#08")
}

fn in_no_model(stream: &Stream, rule: &'static str) -> Result<()> {
    refuse!(
        sys::ACL_ERROR_RT_STREAM_MODEL,
        rule,
        "stream: stream {} is not bound to a model (aclmdlRIBindStream)",
        stream.id
    )
}

fn find(rt: &Runtime, handle: u64) -> Result<Pin<'_, Label>> {
    match rt.labels.labels.pin(handle) {
        Some(label) => Ok(label),
        None => invalid(handle, "label", Kind::Label),
    }
}

/// *#01. ours for lists, which the row does not name.
#[cold]
fn invalid<T>(handle: u64, name: &str, kind: Kind) -> Result<T> {
    refuse!(sys::ACL_ERROR_RT_INVALID_HANDLE, "*#01", "{name}: {}", describe(handle, kind))
}

/// The label must be of the current context.
fn own(rt: &Runtime, label: &Label, rule: &'static str) -> Result<()> {
    let current = thread::current(rt)?.handle();
    if label.context == current {
        return Ok(());
    }
    refuse!(
        sys::ACL_ERROR_RT_LABEL_CONTEXT,
        rule,
        "label: belongs to context {:#x}, the thread's current context is {current:#x}",
        label.context
    )
}
