//! A call needs another context than the thread has.

use ascendcl_sys as sys;
use toprope_runtime::Error;

use crate::finding::{Finding, Level, Rule};
use crate::judge::race::api;
use crate::model::{Call, Model};

/// The rule.
pub static RULE: Rule = Rule {
    id: "wrong-context",
    level: Level::Error,
    title: "A call was made on a thread that has no context, or that of something else",
    mend: "call aclrtSetDevice or aclrtSetCurrentContext on the thread first; a stream is used in the context that it was made in",
};

/// Threads that are listed.
const LISTED: usize = 8;

/// Its finding, if the call was refused for that.
pub fn refused(model: &Model, call: &Call, error: &Error) -> Option<Finding> {
    let none = error.rule() == "*#03" && error.code() == sys::ACL_ERROR_RT_CONTEXT_NULL;
    if !none && error.code() != sys::ACL_ERROR_RT_STREAM_CONTEXT {
        return None;
    }
    let mut text = format!("{} on {}: {}", api(call), model.names.of(call.who), error.text());
    let bound = model.objects.bound.iter().filter(|(_, (device, context))| device.is_some() || *context != 0);
    for (number, (who, (device, context))) in bound.take(LISTED).enumerate() {
        let lead = if number == 0 { "; bound: " } else { ", " };
        let device = device.map_or("no device".to_owned(), |device| format!("device {device}"));
        text.push_str(&format!("{lead}{} to context {context:#x} of {device}", model.names.of(*who)));
    }
    Some(Finding::new(&RULE, text).side("the call", call.site))
}
