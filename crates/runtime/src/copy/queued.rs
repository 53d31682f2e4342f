//! aclrtMemcpyAsync and aclrtMemcpyAsyncWithCondition. What becomes of a copy ([`Way`]), by form, generation, kind and place:
//!
//! | form | generation | pair | way |
//! |---|---|---|---|
//! | RC | any | any (one memory) | task; kind host-to-host in generation 5: failing task |
//! | EP | 9, 8 | host to host, by kind or by address | refused: 207000 |
//! | EP | 5 | the same | failing task |
//! | EP | 9 | one side pageable | now, after the stream is drained; kinds as #17 and #18 say |
//! | EP | 8, 5 | one side pageable | task: reads and writes whatever is there when it executes |
//! | EP | any | kind HOST_TO_BUF_TO_DEVICE from host memory | task on a copy of the source |
//! | EP | any | else | task; a wrong kind is corrected (#16) |
//!
//! With condition, pageable memory is copied now in every generation, whatever the kind.

use ascendcl_sys as sys;
use toprope_engine::queue::Task;

use super::{
    drain, end, enqueue, fits, given, gone, kind_name, now, own, pageable, reachable, shift, unknown_kind,
    work,
};
use crate::error::Result;
use crate::generated::api::Api;
use crate::generated::products::Pageable;
use crate::memory::place::{Place, Side, Span};
use crate::process::Runtime;
use crate::profile::Form;
use crate::{observer, refuse, stream};

struct Rules {
    api: Api,
    dst: &'static str,
    src: &'static str,
    kind: &'static str,
    fits: &'static str,
    foreign: &'static str,
    /// Asks whether the memory is pageable, instead of what the kind allows.
    conditional: bool,
}

const ASYNC: Rules = Rules {
    api: Api::aclrtMemcpyAsync,
    dst: "aclrtMemcpyAsync#02",
    src: "aclrtMemcpyAsync#03",
    kind: "aclrtMemcpyAsync#04",
    fits: "aclrtMemcpyAsync#05",
    foreign: "aclrtMemcpyAsync#23",
    conditional: false,
};

const CONDITION: Rules = Rules {
    api: Api::aclrtMemcpyAsyncWithCondition,
    dst: "aclrtMemcpyAsyncWithCondition#03",
    src: "aclrtMemcpyAsyncWithCondition#04",
    kind: "aclrtMemcpyAsyncWithCondition#05",
    fits: "ours: as aclrtMemcpyAsync#05",
    foreign: "ours: as aclrtMemcpyAsync#23",
    conditional: true,
};

/// Copies of device variables (chapter 11-11): pageable memory is copied before they return, in every generation.
const fn symbol(api: Api) -> Rules {
    Rules { api, foreign: "aclrtMemcpyAsync#23", ..CONDITION }
}

static FROM_SYMBOL: Rules = symbol(Api::aclrtMemcpyFromSymbolAsync);
static TO_SYMBOL: Rules = symbol(Api::aclrtMemcpyToSymbolAsync);

/// Which way a copy of a device variable goes.
#[derive(Clone, Copy)]
pub(crate) enum SymbolCopy {
    /// Out of the variable.
    From,
    /// Into the variable.
    To,
}

/// An asynchronous copy of a device variable, whose own rules were checked. aclrtMemcpyFromSymbolAsync#19,
/// aclrtMemcpyToSymbolAsync#17: in a fixed direction.
pub(crate) fn memcpy_symbol_async(
    rt: &Runtime,
    way: SymbolCopy,
    dst: usize,
    src: usize,
    count: usize,
    stream: u64,
) -> Result<()> {
    let (rules, kind) = match way {
        SymbolCopy::From => (&FROM_SYMBOL, sys::ACL_MEMCPY_DEVICE_TO_HOST),
        SymbolCopy::To => (&TO_SYMBOL, sys::ACL_MEMCPY_HOST_TO_DEVICE),
    };
    queue(rt, rules, &Ask { dst, dest_max: count, src, count, kind }, stream)
}

struct Ask {
    dst: usize,
    dest_max: usize,
    src: usize,
    count: usize,
    kind: u32,
}

/// What becomes of a copy.
enum Way {
    /// Source and destination are the same.
    Nothing,
    /// A task.
    Task,
    /// A copy on the calling thread.
    Now,
    /// A task that copies from a snapshot of the source.
    Snapshot,
    /// A task that fails.
    Fail,
}

/// aclrtMemcpyAsync.
pub fn memcpy_async(
    rt: &Runtime,
    dst: usize,
    dest_max: usize,
    src: usize,
    count: usize,
    kind: u32,
    stream: u64,
) -> Result<()> {
    queue(rt, &ASYNC, &Ask { dst, dest_max, src, count, kind }, stream)
}

/// aclrtMemcpyAsyncWithCondition.
pub fn memcpy_async_with_condition(
    rt: &Runtime,
    dst: usize,
    dest_max: usize,
    src: usize,
    count: usize,
    kind: u32,
    stream: u64,
) -> Result<()> {
    queue(rt, &CONDITION, &Ask { dst, dest_max, src, count, kind }, stream)
}

#[inline]
fn queue(rt: &Runtime, rules: &'static Rules, ask: &Ask, stream: u64) -> Result<()> {
    // aclrtMemcpyAsync#01, aclrtMemcpyAsyncWithCondition#02
    if ask.count == 0 {
        return Ok(());
    }
    given(ask.dst, "dst", rules.dst)?;
    given(ask.src, "src", rules.src)?;
    if ask.kind > sys::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE {
        return unknown_kind(ask.kind, rules.kind);
    }
    let stream = stream::known(rt, stream)?;
    fits(ask.count, ask.dest_max, rules.fits)?;
    let by_kind = ask.kind == sys::ACL_MEMCPY_HOST_TO_HOST;
    if by_kind && rt.profile.form == Form::Endpoint && rt.profile.generation != 5 {
        return host_to_host(rt, rules, "kind: ACL_MEMCPY_HOST_TO_HOST is not supported here");
    }
    if !rules.conditional && rt.profile.generation != 9 {
        aligned(ask)?;
    }
    let dst = end(rt, &"dst", ask.dst, ask.count)?;
    let src = end(rt, &"src", ask.src, ask.count)?;
    let way = route(rt, rules, ask, &dst, &src)?;
    if matches!(way, Way::Nothing) {
        return Ok(());
    }
    // aclrtMemcpyAsync#21 to #23
    let stream = own(rt, stream, rules.foreign)?;
    reachable(rt, stream.device, &dst, &src, "aclrtMemcpyAsync#30")?;
    match way {
        Way::Nothing => {}
        Way::Task => {
            let task = Task::Copy { dst: dst.inner(), src: src.inner(), len: ask.count };
            enqueue(rt, rules.api, &stream, task, &[src.range()], &[dst.range()]);
        }
        Way::Now => {
            // aclrtMemcpyAsync#12, #13, aclrtMemcpyAsyncWithCondition#08
            drain(rt, &stream, "aclrtMemcpyAsync#13")?;
            now(rt, rules.api, &dst, &src)?;
        }
        Way::Snapshot => {
            let task = snapshot(&dst, &src)?;
            observer::tell(|o| o.accessed(rules.api, &[src.range()], &[]));
            enqueue(rt, rules.api, &stream, task, &[], &[dst.range()]);
        }
        Way::Fail => {
            // aclrtMemcpyAsync#32. The code is ours: what the newer pages return at once.
            let task = Task::Fail { code: sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT as u32 };
            enqueue(rt, rules.api, &stream, task, &[], &[]);
        }
    }
    Ok(())
}

#[inline(always)]
fn route(rt: &Runtime, rules: &Rules, ask: &Ask, dst: &Span, src: &Span) -> Result<Way> {
    if rt.profile.form == Form::RootComplex {
        return Ok(in_one_memory(rt, ask));
    }
    let hosts = dst.place().side() == Side::Host && src.place().side() == Side::Host;
    if hosts || ask.kind == sys::ACL_MEMCPY_HOST_TO_HOST {
        if rt.profile.generation == 5 {
            return Ok(Way::Fail);
        }
        return both_host(rt, rules, ask, dst, src);
    }
    // aclrtMemcpyAsync#06
    if ask.dst == ask.src {
        return Ok(Way::Nothing);
    }
    if dst.place() == Place::Pageable || src.place() == Place::Pageable {
        return unregistered(rt, rules, ask, dst, src);
    }
    // aclrtMemcpyAsync#19; with another source the kind is wrong and is corrected (#16).
    if ask.kind == sys::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE && src.place().side() == Side::Host {
        return Ok(Way::Snapshot);
    }
    Ok(Way::Task)
}

/// aclrtMemcpyAsync#09, #31, #36: every kind is a copy inside the device. #32 (seed) states no form: host to host fails late.
fn in_one_memory(rt: &Runtime, ask: &Ask) -> Way {
    match ask.kind {
        sys::ACL_MEMCPY_HOST_TO_HOST if rt.profile.generation == 5 => Way::Fail,
        _ if ask.dst == ask.src => Way::Nothing,
        sys::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE => Way::Snapshot,
        _ => Way::Task,
    }
}

#[cold]
fn both_host<T>(rt: &Runtime, rules: &Rules, ask: &Ask, dst: &Span, src: &Span) -> Result<T> {
    let text = format!(
        "kind: {} with dst {:#x}, {}, and src {:#x}, {}: host to host is not supported here",
        kind_name(ask.kind),
        dst.start,
        dst.describe(),
        src.start,
        src.describe()
    );
    host_to_host(rt, rules, &text)
}

/// Not at once, not by a card.
#[cold]
fn host_to_host<T>(rt: &Runtime, rules: &Rules, text: &str) -> Result<T> {
    let rule = match (rules.conditional, rt.profile.generation) {
        (true, _) => "aclrtMemcpyAsyncWithCondition#06",
        (false, 8) => "aclrtMemcpyAsync#28, #29, #35",
        (false, _) => "aclrtMemcpyAsync#07, #08",
    };
    refuse!(sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rule, "{text}; use aclrtMemcpy")
}

/// One side is memory that the runtime does not know.
fn unregistered(rt: &Runtime, rules: &Rules, ask: &Ask, dst: &Span, src: &Span) -> Result<Way> {
    use sys::{
        ACL_MEMCPY_DEFAULT, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE,
    };
    if rules.conditional {
        return Ok(Way::Now);
    }
    // aclrtMemcpyAsync#19: the page's promise, that the buffer may go at once, comes before #17 (impl), which has no such kind.
    if ask.kind == sys::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE && src.place() == Place::Pageable {
        return Ok(Way::Snapshot);
    }
    if pageable(&rt.profile) != Pageable::Synchronous {
        // aclrtMemcpyAsync#27, #37
        return Ok(Way::Task);
    }
    let (takes, rule) = if src.place() == Place::Pageable {
        (ACL_MEMCPY_HOST_TO_DEVICE, "aclrtMemcpyAsync#17")
    } else {
        (ACL_MEMCPY_DEVICE_TO_HOST, "aclrtMemcpyAsync#18")
    };
    if [takes, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT].contains(&ask.kind) {
        return Ok(Way::Now);
    }
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "kind: {} does not fit dst {:#x}, {}, and src {:#x}, {}",
        kind_name(ask.kind),
        dst.start,
        dst.describe(),
        src.start,
        src.describe()
    )
}

/// The seeds win over the current page, which has no such rule, in the generations they are from. The code is ours.
fn aligned(ask: &Ask) -> Result<()> {
    for (name, addr) in [("dst", ask.dst), ("src", ask.src)] {
        if addr % 64 != 0 {
            return refuse!(
                sys::ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemcpyAsync#24, #25",
                "{name}: {addr:#x} is not 64-byte aligned"
            );
        }
    }
    Ok(())
}

/// aclrtMemcpyAsync#19: the program may use the source again at once.
fn snapshot(dst: &Span, src: &Span) -> Result<Task> {
    let mut bytes = Vec::<u8>::new();
    if bytes.try_reserve_exact(src.len).is_err() {
        return refuse!(
            sys::ACL_ERROR_RT_MEMORY_ALLOCATION,
            "ours: buffer of ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE",
            "count: no memory for a buffer of {} bytes",
            src.len
        );
    }
    shift(bytes.as_mut_ptr() as usize, src.inner(), src.len).or_else(|fault| gone(fault, None, Some(src)))?;
    // SAFETY: `src.len` bytes were reserved and have been written just now.
    unsafe { bytes.set_len(src.len) };
    let dst = dst.inner();
    Ok(work(bytes.len(), 1, move || {
        shift(dst, bytes.as_ptr() as usize, bytes.len()).map_err(|_| super::FAULT_CODE)
    }))
}
