//! The program's own log lines (aclAppLog, chapter 24). On a card they go to files, or to the standard output when
//! `ASCEND_SLOG_PRINT_TO_STDOUT` is 1; here there are no files, so that only the second happens.

use std::io::Write;
use std::sync::OnceLock;

use ascendcl_sys as sys;

use crate::observer::Range;

/// Most bytes of a message. aclAppLog#02; the number is ours.
pub const LONGEST: usize = 1024;

/// The level that counts unless `ASCEND_GLOBAL_LOG_LEVEL` says otherwise (page of the variable).
const DEFAULT_LEVEL: u32 = sys::ACL_ERROR;

/// Whether a line of this level is printed. The variables are read once.
pub fn wanted(level: sys::aclLogLevel) -> bool {
    static LEAST: OnceLock<Option<u32>> = OnceLock::new();
    let least = LEAST.get_or_init(|| {
        let variable = |name| std::env::var(name).ok();
        least(variable("ASCEND_SLOG_PRINT_TO_STDOUT"), variable("ASCEND_GLOBAL_LOG_LEVEL"))
    });
    level <= sys::ACL_ERROR && least.is_some_and(|least| level >= least)
}

/// The least level that is printed; None prints nothing.
fn least(to_stdout: Option<String>, level: Option<String>) -> Option<u32> {
    if to_stdout.as_deref() != Some("1") {
        return None;
    }
    // 0 debug, 1 info, 2 warning, 3 error, 4 nothing.
    level.and_then(|level| level.parse().ok()).filter(|level| *level <= 4).or(Some(DEFAULT_LEVEL))
}

/// The range in a message under the name [`sys::ABANDONED`], and whether the next call may still mean it.
pub fn abandoned(message: &str) -> Option<(Range, bool)> {
    let (range, next) = match message.strip_suffix(" for the next call") {
        Some(range) => (range, true),
        None => (message, false),
    };
    let (len, start) = range.split_once(" bytes at 0x")?;
    Some((Range { start: usize::from_str_radix(start, 16).ok()?, len: len.parse().ok()? }, next))
}

/// Prints one line.
pub fn write(level: sys::aclLogLevel, place: &str, message: &str) {
    let name = match level {
        sys::ACL_DEBUG => "DEBUG",
        sys::ACL_INFO => "INFO",
        sys::ACL_WARNING => "WARNING",
        _ => "ERROR",
    };
    let line = format!("[{name}] APP({}):{place} {message}\n", std::process::id());
    // A closed output is no reason to fail.
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{Range, abandoned, least};

    #[test]
    fn what_a_language_module_tells() {
        let range = Range { start: 0x7f00, len: 64 };
        assert_eq!(abandoned("64 bytes at 0x7f00"), Some((range, false)));
        assert_eq!(abandoned("64 bytes at 0x7f00 for the next call"), Some((range, true)));
        assert_eq!(abandoned("64 bytes"), None);
        assert_eq!(abandoned("all bytes at 0x7f00"), None);
    }

    #[test]
    fn variables() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(least(None, some("0")), None);
        assert_eq!(least(some("0"), some("0")), None);
        assert_eq!(least(some("1"), None), Some(3));
        assert_eq!(least(some("1"), some("1")), Some(1));
        assert_eq!(least(some("1"), some("9")), Some(3));
        assert_eq!(least(some("1"), some("4")), Some(4));
    }
}
