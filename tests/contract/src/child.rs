//! A child process: one target, its rows one after the other, a line to the parent before and after each.
//!
//! | line | meaning |
//! |---|---|
//! | `@row ID` | starts |
//! | `@ok ID` | holds |
//! | `@no ID TEXT` | does not hold; line ends in TEXT are `\u{1f}` |

use std::io::Write as _;
use std::sync::Mutex;

use crate::kit;
use crate::row::{Plan, Proof, Row, Standing, Test};
use crate::spec::{Rule, Spec};
use crate::support;
use crate::target::Target;

/// Variable that tells a child its target.
pub const TARGET: &str = "TOPROPE_CONTRACT_TARGET";
/// Stands for a line end within a line.
pub const FOLD: char = '\u{1f}';

/// Variable with the id of a row that is to crash: for tests of the suite itself.
const CRASH: &str = "CONTRACT_CRASH";

/// What the last panic said, and where.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // The parent is gone: nobody to tell.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Runs one row in this process, whatever it starts from.
pub fn one(plan: &Plan, spec: &Spec, target: &Target, id: &str) {
    if let Some(rule) = spec.rules.iter().find(|rule| rule.id == id) {
        prove(plan, spec, target, rule);
    }
}

/// Runs every row that shares a process, from the one after `after` on.
pub fn all(plan: &Plan, spec: &Spec, target: &Target, after: Option<&str>) {
    let mut rules = spec.rules.iter();
    if let Some(after) = after {
        rules.by_ref().find(|rule| rule.id == after);
    }
    for rule in rules {
        match plan.standing(spec, rule, target) {
            Standing::Runs(row) if row.start.alone() => {}
            _ => prove(plan, spec, target, rule),
        }
    }
}

fn prove(plan: &Plan, spec: &Spec, target: &Target, rule: &Rule) {
    let test = Test { target, rule, spec };
    let result = match plan.standing(spec, rule, target) {
        Standing::Runs(row) => {
            say(&format!("@row {}", rule.id));
            if std::env::var(CRASH).is_ok_and(|id| id == rule.id) {
                std::process::abort();
            }
            run(row, &test)
        }
        Standing::Refused => {
            say(&format!("@row {}", rule.id));
            on_thread(|| support::refused(spec, rule.base()).map_or(Ok(()), Err))
        }
        _ => return,
    };
    match result {
        Ok(()) => say(&format!("@ok {}", rule.id)),
        Err(text) => say(&format!("@no {} {}", rule.id, text.replace('\n', &FOLD.to_string()))),
    }
}

fn run(row: &Row, test: &Test<'_>) -> Result<(), String> {
    let Proof::Check(check) = &row.proof else { return Ok(()) };
    let on_device = row.start.device();
    let result = on_thread(|| {
        if on_device {
            kit::enter_device(test);
        }
        let codes = check(test);
        if codes.is_empty() {
            return Ok(());
        }
        let wanted = test.code();
        match codes.iter().find(|code| **code != wanted) {
            None => Ok(()),
            Some(code) => Err(format!("answered {}, the table says {}", kit::name(*code), kit::name(wanted))),
        }
    });
    if !row.start.alone() {
        // Whatever the row left behind must not meet the next one.
        let _ = on_thread(|| {
            kit::leave_devices();
            Ok(())
        });
    }
    result
}

/// Runs `body` on a thread of its own; a panic is its error.
fn on_thread(body: impl FnOnce() -> Result<(), String> + Send) -> Result<(), String> {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut text) = PANIC.lock() {
            let payload = info.payload();
            let formatted = payload.downcast_ref::<String>().map(String::as_str);
            let message = payload.downcast_ref::<&str>().copied().or(formatted).unwrap_or("panic");
            let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
            text.push_str(message);
            text.push_str(&place.unwrap_or_default());
            text.push('\n');
        }
    }));
    if let Ok(mut text) = PANIC.lock() {
        text.clear();
    }
    let ended = std::thread::scope(|scope| scope.spawn(body).join());
    match ended {
        Ok(result) => result,
        Err(_) => Err(PANIC.lock().map(|text| text.trim_end().to_owned()).unwrap_or_default()),
    }
}
