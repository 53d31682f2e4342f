//! The parent's side: starts a child per target, and one per row that wants a process of its own; a child that crashes or
//! hangs costs one row.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::child::{FOLD, TARGET};
use crate::report::Results;
use crate::row::{Plan, Standing};
use crate::spec::Spec;
use crate::target::Target;

/// Ends a row that hangs; far more than any row needs.
const LIMIT: Duration = Duration::from_secs(60);
/// Devices of every target, so that rules about two of them can be tested on products whose default is one.
const DEVICES: &str = "4";

/// Runs every wanted row of a target.
pub fn target(plan: &Plan, spec: &Spec, target: &Target, only: Option<&str>) -> Results {
    let mut results = Results::new(target.clone());
    for rule in &spec.rules {
        let standing = plan.standing(spec, rule, target);
        results.count(rule, &standing);
    }
    match only {
        Some(word) => {
            for rule in spec.rules.iter().filter(|rule| chosen(&rule.id, word)) {
                if matches!(plan.standing(spec, rule, target), Standing::Runs(_) | Standing::Refused) {
                    alone(plan, target, &rule.id, &mut results);
                }
            }
        }
        None => {
            shared(target, &mut results);
            for rule in &spec.rules {
                if let Standing::Runs(row) = plan.standing(spec, rule, target)
                    && row.start.alone()
                {
                    alone(plan, target, &rule.id, &mut results);
                }
            }
        }
    }
    results
}

/// A whole id, or the beginning of some.
fn chosen(id: &str, word: &str) -> bool {
    if word.contains('#') { id == word } else { id.starts_with(word) }
}

fn alone(plan: &Plan, target: &Target, id: &str, results: &mut Results) {
    let mut command = command(target, &["--child-row", id]);
    if let Some(row) = plan.row(id) {
        command.envs(row.env.iter().copied());
    }
    if let Some(stuck) = follow(command, results) {
        results.failed(&stuck.row.unwrap_or_else(|| id.to_owned()), &stuck.why);
    }
}

fn shared(target: &Target, results: &mut Results) {
    let mut after: Option<String> = None;
    loop {
        let mut args = vec!["--child"];
        if let Some(after) = &after {
            args.extend(["--after", after]);
        }
        match follow(command(target, &args), results) {
            None => return,
            Some(Stuck { row: Some(row), why }) => {
                results.failed(&row, &why);
                after = Some(row);
            }
            Some(Stuck { row: None, why }) => {
                results.failed("process", &why);
                return;
            }
        }
    }
}

fn command(target: &Target, args: &[&str]) -> Command {
    let this = std::env::current_exe().unwrap_or_else(|_| "contract".into());
    let mut command = Command::new(this);
    command.args(args);
    for (name, _) in std::env::vars_os() {
        if let Some(name) = name.to_str()
            && (name.starts_with("TOPROPE_") || name.starts_with("ASCEND_"))
        {
            command.env_remove(name);
        }
    }
    command
        .env("TOPROPE_PRODUCT", &target.product.key)
        .env("TOPROPE_FORM", &target.form)
        .env("TOPROPE_CANN", target.generation.to_string())
        .env("TOPROPE_DEVICES", DEVICES)
        .env(TARGET, target.key());
    command
}

/// A child that did not come to its end.
struct Stuck {
    /// The row that it was at.
    row: Option<String>,
    why: String,
}

/// Reads a child's lines to their end.
fn follow(mut command: Command, results: &mut Results) -> Option<Stuck> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Some(Stuck { row: None, why: format!("cannot start: {error}") }),
    };
    let (lines, errors) = readers(&mut child);
    let mut row = None;
    let stuck = loop {
        match lines.recv_timeout(LIMIT) {
            Ok(line) => {
                let mut words = line.splitn(3, ' ');
                let (mark, id, text) = (words.next(), words.next().unwrap_or_default(), words.next());
                match mark {
                    Some("@row") => row = Some(id.to_owned()),
                    Some("@ok") => {
                        results.passed(id);
                        row = None;
                    }
                    Some("@no") => {
                        results.failed(id, &text.unwrap_or_default().replace(FOLD, "\n"));
                        row = None;
                    }
                    // What the runtime or a row prints.
                    _ => {}
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                break Some(format!("no end within {} s", LIMIT.as_secs()));
            }
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    let status = child.wait().map_err(|error| error.to_string());
    let errors = errors.join().unwrap_or_default();
    match (stuck, status) {
        (None, Ok(status)) if status.success() => None,
        (Some(why), _) => Some(Stuck { row, why: format!("{why}\n{errors}") }),
        (None, Ok(status)) => Some(Stuck { row, why: format!("the process ended: {status}\n{errors}") }),
        (None, Err(error)) => Some(Stuck { row, why: error }),
    }
}

fn readers(child: &mut Child) -> (mpsc::Receiver<String>, std::thread::JoinHandle<String>) {
    let (send, lines) = mpsc::channel();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || {
        let Some(stdout) = stdout else { return };
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { return };
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut stderr) = stderr {
            // What was read up to an error is still worth showing.
            let _ = stderr.read_to_end(&mut text);
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        // The end tells most.
        let from = text.char_indices().rev().nth(2000).map_or(0, |(at, _)| at);
        text[from..].trim_end().to_owned()
    });
    (lines, errors)
}
