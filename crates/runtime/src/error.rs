//! What a failed call leaves behind: the code it returns, the message of `aclGetRecentErrMsg`, and the thread's last error.

mod cause;
pub(crate) mod log;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;

use ascendcl_sys as sys;
use parking_lot::Mutex;
use toprope_engine::memory::AllocError;

use crate::generated::api::Api;

/// The result of a rule.
pub type Result<T> = std::result::Result<T, Error>;

/// Messages kept for `aclGetRecentErrMsg`; older ones are dropped.
const KEPT: usize = 32;

/// A refused or failed call: code, cause and the rule it comes from. One pointer, so that `Result` stays small.
#[derive(Debug)]
pub struct Error(Box<Cause>);

#[derive(Debug)]
struct Cause {
    code: i32,
    rule: &'static str,
    text: String,
}

impl Error {
    /// `rule` is the row of `spec/constraints*.csv` that demands the code, or `ours: why`; `text` names argument, value and
    /// resource.
    #[cold]
    pub fn new(code: i32, rule: &'static str, text: impl Into<String>) -> Error {
        Error(Box::new(Cause { code, rule, text: text.into() }))
    }

    /// The code that the call returns.
    pub fn code(&self) -> i32 {
        self.0.code
    }

    /// The rule that was broken.
    pub fn rule(&self) -> &'static str {
        self.0.rule
    }

    /// What was wrong, without code and function.
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = sys::errors::error_name(self.0.code).unwrap_or("unknown code");
        write!(f, "{} ({}, {}) [{}]", self.0.text, self.0.code, name, self.0.rule)
    }
}

impl std::error::Error for Error {}

/// The error of an allocation: *#07 out of memory is 207001. `what` names the memory.
#[cold]
pub fn exhausted(error: AllocError, rule: &'static str, what: &str) -> Error {
    let text = match error {
        AllocError::Exhausted { asked, free } => format!("{what}: {asked} bytes asked, {free} bytes free"),
        AllocError::Refused(refusal) => format!("{what}: {refusal}"),
    };
    Error::new(sys::ACL_ERROR_RT_MEMORY_ALLOCATION, rule, text)
}

/// Shorthand for `Err(Error::new(code, rule, format!(…)))`.
#[macro_export]
macro_rules! refuse {
    ($code:expr, $rule:expr, $($text:tt)+) => {
        Err($crate::error::Error::new($code, $rule, format!($($text)+)))
    };
}

thread_local! {
    static LAST: Cell<i32> = const { Cell::new(0) };
    static RECENT: RefCell<Messages> = const { RefCell::new(Messages::new()) };
}

static SHARED: Mutex<Messages> = Mutex::new(Messages::new());

/// Newest first.
struct Messages {
    kept: VecDeque<String>,
    /// What the last `take` handed out: valid until the next one.
    handed: Option<std::ffi::CString>,
}

impl Messages {
    const fn new() -> Messages {
        Messages { kept: VecDeque::new(), handed: None }
    }

    fn add(&mut self, text: String) {
        self.kept.truncate(KEPT - 1);
        self.kept.push_front(text);
    }

    /// aclGetRecentErrMsg#01, #03, #05: newest first, cleared by the call.
    fn take(&mut self) -> *const std::ffi::c_char {
        if self.kept.is_empty() {
            return std::ptr::null();
        }
        let mut text = String::new();
        for message in self.kept.drain(..) {
            text.push_str(&message);
            text.push('\n');
        }
        // A message may quote the program's bytes.
        text.retain(|c| c != '\0');
        match std::ffi::CString::new(text) {
            Ok(text) => self.handed.insert(text).as_ptr(),
            Err(_) => std::ptr::null(),
        }
    }
}

/// Whether messages are kept per process (`err_msg_mode` "1") instead of per thread.
pub static PER_PROCESS: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// `EE1001: aclrtSetDevice: deviceId: 9 is not in [0, 7] (107001, ACL_ERROR_RT_INVALID_DEVICEID) [aclrtSetDevice#04]`: error
/// class, function, argument, value and what is wanted, code, rule.
fn render(api: Api, error: &Error) -> String {
    let class = sys::errors::code(error.code()).map_or(UNKNOWN_CLASS, |code| code.report);
    format!("{class}: {}: {error}", api.function().name)
}

/// The class of codes that no header has: a callback of the program may answer any.
const UNKNOWN_CLASS: &str = "EH9999";

/// Notes a failed call; the gate does this for every call.
#[cold]
pub(crate) fn record(api: Api, error: &Error) {
    let text = cause::explain(api, error, render(api, error));
    log::failed(api, error, &text);
    // A thread that is going away has no record left to write to.
    // aclrtGetLastError#05: only codes of the runtime layer count, not those of the ACL and GE layers.
    if matches!(error.code() / 1000, 107 | 207 | 507) {
        let _ = LAST.try_with(|last| last.set(error.code()));
    }
    if PER_PROCESS.load(std::sync::atomic::Ordering::Relaxed) {
        SHARED.lock().add(text);
    } else {
        let _ = RECENT.try_with(|recent| recent.borrow_mut().add(text));
    }
}

pub(crate) use cause::{bound, succeeded};

/// The messages since the last call, as a C string that lives until the next one; null when there are none.
pub fn recent() -> *const std::ffi::c_char {
    if PER_PROCESS.load(std::sync::atomic::Ordering::Relaxed) {
        SHARED.lock().take()
    } else {
        RECENT.try_with(|recent| recent.borrow_mut().take()).unwrap_or(std::ptr::null())
    }
}

/// The thread's last error of the runtime layer, 0 if there is none.
pub fn last() -> i32 {
    LAST.try_with(Cell::get).unwrap_or(0)
}

/// The same, and clears it.
pub fn take_last() -> i32 {
    LAST.try_with(|last| last.replace(0)).unwrap_or(0)
}
