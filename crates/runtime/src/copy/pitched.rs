//! aclrtMemcpy2d and aclrtMemcpy2dAsync: rows of `width` bytes, a pitch apart.

use ascendcl_sys as sys;
use toprope_engine::memory::Rows;
use toprope_engine::queue::Task;

use super::{drain, end, enqueue, given, gone, kind_name, own, pageable, reachable};
use crate::error::Result;
use crate::generated::api::Api;
use crate::generated::products::Pageable;
use crate::memory::place::{Place, Side, Span};
use crate::observer::Range;
use crate::process::Runtime;
use crate::profile::Form;
use crate::{observer, refuse, stream, thread};

/// aclrtMemcpy2d#06, aclrtMemcpy2dAsync#06, #10: most bytes of a row.
pub const WIDEST: usize = 5_000_000;
/// aclrtMemcpy2d#07, aclrtMemcpy2dAsync#07, #11: most rows.
pub const HIGHEST: usize = 5 * 1024 * 1024;

/// What is copied, as the program says it; pitches and width in bytes, height in rows.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names of the C parameters")]
pub struct Rect {
    pub dst: usize,
    pub dpitch: usize,
    pub src: usize,
    pub spitch: usize,
    pub width: usize,
    pub height: usize,
    pub kind: u32,
}

struct Rules {
    api: Api,
    dst: &'static str,
    src: &'static str,
    pitch: &'static str,
    kind: &'static str,
    width: &'static str,
    height: &'static str,
    form: &'static str,
    overflow: &'static str,
}

macro_rules! rules {
    ($api:ident) => {
        Rules {
            api: Api::$api,
            dst: concat!(stringify!($api), "#02"),
            src: concat!(stringify!($api), "#03"),
            pitch: concat!(stringify!($api), "#04"),
            kind: concat!(stringify!($api), "#05"),
            width: concat!(stringify!($api), "#06"),
            height: concat!(stringify!($api), "#07"),
            form: concat!(stringify!($api), "#09"),
            overflow: "ours: both ends of a range are checked",
        }
    };
}

const NOW: Rules = rules!(aclrtMemcpy2d);
const ASYNC: Rules = rules!(aclrtMemcpy2dAsync);

/// aclrtMemcpy2d: copies at once.
pub fn memcpy_2d(rt: &Runtime, rect: &Rect) -> Result<()> {
    // aclrtMemcpy2d#01
    if rect.width == 0 || rect.height == 0 {
        return Ok(());
    }
    shape(rt, &NOW, rect)?;
    if rect.kind == sys::ACL_MEMCPY_DEVICE_TO_DEVICE {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "aclrtMemcpy2d#10, #11",
            "kind: ACL_MEMCPY_DEVICE_TO_DEVICE is for aclrtMemcpy2dAsync"
        );
    }
    let (dst, src) = ends(rt, &NOW, rect)?;
    let (to, from) = (dst.place().side(), src.place().side());
    if to == from && to != Side::Either {
        return one_side("aclrtMemcpy2d#12", rect, &dst, &src);
    }
    // *#03
    thread::current_device(rt)?;
    copy_now(rt, &NOW, rect, &dst, &src)
}

/// aclrtMemcpy2dAsync.
pub fn memcpy_2d_async(rt: &Runtime, rect: &Rect, stream: u64) -> Result<()> {
    // aclrtMemcpy2dAsync#01
    if rect.width == 0 || rect.height == 0 {
        return Ok(());
    }
    let inside = rt.profile.product.copy_2d_device;
    limits_of_kind(&ASYNC, rect)?;
    let stream = stream::known(rt, stream)?;
    size(rt, &ASYNC, rect)?;
    if rect.kind == sys::ACL_MEMCPY_DEVICE_TO_DEVICE && !inside {
        // aclrtMemcpy2dAsync#13
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclrtMemcpy2dAsync#13, #15",
            "kind: ACL_MEMCPY_DEVICE_TO_DEVICE is not supported on {}",
            rt.profile.product.key
        );
    }
    let (dst, src) = ends(rt, &ASYNC, rect)?;
    match (dst.place().side(), src.place().side()) {
        (Side::Host, Side::Host) => return one_side("aclrtMemcpy2dAsync#19", rect, &dst, &src),
        // The code is ours.
        (Side::Device, Side::Device) if !inside => {
            return one_side("aclrtMemcpy2dAsync#15", rect, &dst, &src);
        }
        _ => {}
    }
    let stream = own(rt, stream, "ours: as aclrtMemcpyAsync#23")?;
    reachable(rt, stream.device, &dst, &src, "ours: as aclrtMemcpyAsync#30")?;
    let pages = dst.place() == Place::Pageable || src.place() == Place::Pageable;
    if pages && pageable(&rt.profile) == Pageable::Synchronous {
        // aclrtMemcpy2dAsync#16, #17
        drain(rt, &stream, "aclrtMemcpy2dAsync#17")?;
        return copy_now(rt, &ASYNC, rect, &dst, &src);
    }
    let rows = rows(rect, &dst, &src);
    let task = match rows.dense() {
        Some(len) => Task::Copy { dst: rows.dst, src: rows.src, len },
        None => Task::Rows(Box::new(rows)),
    };
    if observer::watched() {
        let (reads, writes) = ranges(rect);
        enqueue(rt, Api::aclrtMemcpy2dAsync, &stream, task, &reads, &writes);
    } else {
        enqueue(rt, Api::aclrtMemcpy2dAsync, &stream, task, &[], &[]);
    }
    Ok(())
}

/// What the rows of both calls check in the same order.
fn shape(rt: &Runtime, rules: &Rules, rect: &Rect) -> Result<()> {
    limits_of_kind(rules, rect)?;
    size(rt, rules, rect)
}

/// Checks of the ACL layer.
fn limits_of_kind(rules: &Rules, rect: &Rect) -> Result<()> {
    given(rect.dst, "dst", rules.dst)?;
    given(rect.src, "src", rules.src)?;
    for (name, pitch) in [("dpitch", rect.dpitch), ("spitch", rect.spitch)] {
        if rect.width > pitch {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                rules.pitch,
                "width: {} is more than {name}, {pitch}",
                rect.width
            );
        }
    }
    match rect.kind {
        sys::ACL_MEMCPY_HOST_TO_DEVICE
        | sys::ACL_MEMCPY_DEVICE_TO_HOST
        | sys::ACL_MEMCPY_DEVICE_TO_DEVICE
        | sys::ACL_MEMCPY_DEFAULT => Ok(()),
        kind => super::unknown_kind(kind, rules.kind),
    }
}

/// Checks of the runtime layer.
fn size(rt: &Runtime, rules: &Rules, rect: &Rect) -> Result<()> {
    if rect.width > WIDEST {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.width,
            "width: {} is more than {WIDEST}",
            rect.width
        );
    }
    if rect.height > HIGHEST {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.height,
            "height: {} is more than {HIGHEST}",
            rect.height
        );
    }
    // The code is ours.
    if rt.profile.form == Form::RootComplex {
        return refuse!(
            sys::ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            rules.form,
            "2D copies are not supported in the RC form"
        );
    }
    Ok(())
}

/// The ranges from the first row's first byte to the last row's last.
fn ends(rt: &Runtime, rules: &Rules, rect: &Rect) -> Result<(Span, Span)> {
    let hull = |name: &str, pitch: usize| match pitch
        .checked_mul(rect.height - 1)
        .and_then(|bytes| bytes.checked_add(rect.width))
    {
        Some(len) => Ok(len),
        None => refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            rules.overflow,
            "{name}: {} rows of {pitch} bytes are more than an address can count",
            rect.height
        ),
    };
    let dst = end(rt, &"dst", rect.dst, hull("dpitch", rect.dpitch)?)?;
    let src = end(rt, &"src", rect.src, hull("spitch", rect.spitch)?)?;
    Ok((dst, src))
}

#[cold]
fn one_side<T>(rule: &'static str, rect: &Rect, dst: &Span, src: &Span) -> Result<T> {
    refuse!(
        sys::ACL_ERROR_RT_PARAM_INVALID,
        rule,
        "kind: {} with dst {:#x}, {}, and src {:#x}, {}: a 2D copy does not go there",
        kind_name(rect.kind),
        dst.start,
        dst.describe(),
        src.start,
        src.describe()
    )
}

fn rows(rect: &Rect, dst: &Span, src: &Span) -> Rows {
    Rows {
        dst: dst.inner(),
        dpitch: rect.dpitch,
        src: src.inner(),
        spitch: rect.spitch,
        width: rect.width,
        height: rect.height,
    }
}

fn copy_now(rt: &Runtime, rules: &Rules, rect: &Rect, dst: &Span, src: &Span) -> Result<()> {
    // SAFETY: the rows lie in blocks of the runtime, which never hands out references into them, or in memory of the program.
    unsafe { rt.engine.copy_rows(&rows(rect, dst, src)) }
        .or_else(|fault| gone(fault, Some(dst), Some(src)))?;
    observer::tell(|o| {
        let (reads, writes) = ranges(rect);
        o.accessed(rules.api, &reads, &writes);
    });
    Ok(())
}

/// What is read and written, for the observer: each row, since what lies between them may be somebody else's.
#[cold]
fn ranges(rect: &Rect) -> (Vec<Range>, Vec<Range>) {
    let of = |start: usize, pitch: usize| {
        if pitch == rect.width {
            return vec![Range { start, len: pitch * rect.height }];
        }
        (0..rect.height).map(|row| Range { start: start + row * pitch, len: rect.width }).collect()
    };
    (of(rect.src, rect.spitch), of(rect.dst, rect.dpitch))
}
