//! What the checker says: a rule, the calls that break it together, and how to mend it. The same finding at the same places is
//! counted, not repeated.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;

use crate::settings::{Mode, Settings};
use crate::site::Site;
use crate::suppress::Suppressions;
use crate::symbol::{self, Frame};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing; does not count under `strict`.
    Note,
    /// Goes wrong on some cards, or some day.
    Warning,
    /// Goes wrong.
    Error,
}

impl Level {
    /// As it is written in reports, and in SARIF.
    pub fn word(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A rule. Its page is `docs/rules/<id>.md`.
#[derive(Debug)]
pub struct Rule {
    /// Never changes.
    pub id: &'static str,
    /// How bad breaking it is.
    pub level: Level,
    /// What it finds, in one line.
    pub title: &'static str,
    /// How a program is mended.
    pub mend: &'static str,
}

/// One of the calls that a finding is about.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it did.
    pub what: String,
    /// Where it was made.
    pub site: Site,
}

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that it breaks.
    pub rule: &'static Rule,
    /// What is wrong, with names, addresses and numbers.
    pub text: String,
    /// The call that showed it first, then the others.
    pub sides: Vec<Side>,
}

impl Finding {
    /// A finding without its calls yet.
    pub fn new(rule: &'static Rule, text: impl Into<String>) -> Finding {
        Finding { rule, text: text.into(), sides: Vec::new() }
    }

    /// Adds a call.
    pub fn side(mut self, what: impl Into<String>, site: Site) -> Finding {
        self.sides.push(Side { what: what.into(), site });
        self
    }
}

/// A finding as it is kept, with its places in words.
#[derive(Debug)]
pub struct Kept {
    /// The finding.
    pub finding: Finding,
    /// The frames of each side.
    pub frames: Vec<Vec<Frame>>,
    /// How often it was found.
    pub times: u64,
    /// Whether a file says not to report it.
    pub suppressed: bool,
}

type Key = (&'static str, Vec<Site>, Option<String>);

/// Different findings that are kept; more are counted only.
const MOST: usize = 10_000;

/// All findings of the process.
#[derive(Debug, Default)]
pub struct Findings {
    seen: HashMap<Key, usize>,
    all: Vec<Kept>,
    /// Findings beyond [`MOST`].
    dropped: u64,
}

impl Findings {
    /// Takes a finding in, and prints it if it is new. Whether it is to be reported.
    pub fn add(&mut self, finding: Finding, settings: &Settings, suppressions: &Suppressions) -> bool {
        let sites: Vec<Site> = finding.sides.iter().map(|side| side.site).collect();
        // Without a place the words must tell findings apart.
        let nowhere = sites.iter().all(|site| *site == Site::NONE);
        let key = (finding.rule.id, sites, nowhere.then(|| finding.text.clone()));
        if let Some(kept) = self.seen.get(&key).and_then(|index| self.all.get_mut(*index)) {
            kept.times += 1;
            return !kept.suppressed;
        }
        if self.all.len() >= MOST {
            self.dropped += 1;
            return true;
        }
        let frames: Vec<Vec<Frame>> = finding.sides.iter().map(|side| symbol::resolve(side.site)).collect();
        let suppressed = suppressions.cover(finding.rule.id, &frames);
        let kept = Kept { finding, frames, times: 1, suppressed };
        if !suppressed {
            print(&kept.to_string());
            if kept.finding.rule.level != Level::Note {
                settings.note();
            }
        }
        self.seen.insert(key, self.all.len());
        self.all.push(kept);
        !suppressed
    }

    /// All of them, in the order in which they were found.
    pub fn all(&self) -> &[Kept] {
        &self.all
    }

    /// How many are errors or warnings that no file suppresses.
    pub fn serious(&self) -> usize {
        let serious = |kept: &&Kept| !kept.suppressed && kept.finding.rule.level != Level::Note;
        self.all.iter().filter(serious).count()
    }

    /// The last line; empty when there was nothing.
    pub fn summary(&self, mode: Mode) -> String {
        if self.all.is_empty() {
            return String::new();
        }
        let count = |level| {
            self.all.iter().filter(|kept| !kept.suppressed && kept.finding.rule.level == level).count()
        };
        let mut text = format!(
            "toprope: check: {}, {}, {}",
            plural(count(Level::Error), "error"),
            plural(count(Level::Warning), "warning"),
            plural(count(Level::Note), "note"),
        );
        let repeats: u64 = self.all.iter().map(|kept| kept.times - 1).sum();
        let suppressed = self.all.iter().filter(|kept| kept.suppressed).count();
        for (number, what) in
            [(repeats, "found again"), (suppressed as u64, "suppressed"), (self.dropped, "not kept")]
        {
            if number != 0 {
                let _ = write!(text, ", {number} {what}");
            }
        }
        if mode == Mode::Strict && self.serious() != 0 {
            text.push_str("; strict: not passed");
        }
        text.push('\n');
        text
    }
}

fn plural(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

/// Frames of a side that are shown.
const SHOWN: usize = 8;

impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rule = self.finding.rule;
        writeln!(f, "toprope: check: {}: {} [{}]", rule.level.word(), self.finding.text, rule.id)?;
        for (side, frames) in self.finding.sides.iter().zip(&self.frames) {
            writeln!(f, "  {}", side.what)?;
            for frame in frames.iter().take(SHOWN) {
                writeln!(f, "    at {frame}")?;
            }
            if let Some(more) = frames.len().checked_sub(SHOWN + 1) {
                writeln!(f, "    and {} more", more + 1)?;
            }
        }
        writeln!(f, "  mend: {} (docs/rules/{}.md)", rule.mend, rule.id)
    }
}

/// Writes to standard error in one piece, so that lines of other threads do not come between.
pub fn print(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
