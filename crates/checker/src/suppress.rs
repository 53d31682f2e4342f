//! Findings that are known and not to be reported: a file with a rule and a place in each line.
//!
//! ```text
//! # comment
//! stream-race   pool.cpp:120
//! leak          *            # everywhere
//! *             third_party/
//! ```
//! A place is part of `file:line` or of a function's name; it counts when any frame of any of the finding's calls has it.

use std::path::Path;

use crate::symbol::Frame;

/// The lines of a file.
#[derive(Debug, Default)]
pub struct Suppressions(Vec<(String, String)>);

impl Suppressions {
    /// Reads a file; the error is one line that says what is wrong.
    pub fn load(path: &Path) -> Result<Suppressions, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Suppressions::parse(&text).map_err(|line| {
            format!("{}:{line}: wanted is `RULE PLACE`, with a rule of docs/rules or *", path.display())
        })
    }

    /// The error is the number of the bad line.
    pub fn parse(text: &str) -> Result<Suppressions, usize> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (rule, place) = line.split_once(char::is_whitespace).ok_or(index + 1)?;
            if rule != "*" && !crate::rule::ALL.iter().any(|known| known.id == rule) {
                return Err(index + 1);
            }
            lines.push((rule.to_owned(), place.trim().to_owned()));
        }
        Ok(Suppressions(lines))
    }

    /// Whether a finding of a rule at these places is not to be reported.
    pub fn cover(&self, rule: &str, sides: &[Vec<Frame>]) -> bool {
        self.0.iter().any(|(id, place)| {
            (id == "*" || id == rule)
                && (place == "*" || sides.iter().flatten().any(|frame| matches(frame, place)))
        })
    }
}

fn matches(frame: &Frame, place: &str) -> bool {
    let at = format!("{}:{}", frame.file, frame.line);
    // A line number is whole: `a.cpp:1` is not `a.cpp:12`.
    let whole = place.ends_with(|c: char| c.is_ascii_digit()) && place.contains(':');
    (if whole { at.ends_with(place) } else { at.contains(place) }) || frame.function.contains(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Vec<Frame>> {
        let file = "src/pool.cpp".to_owned();
        vec![vec![Frame { function: "take(int)".to_owned(), file, line: 12, ..Frame::default() }]]
    }

    #[test]
    fn lines_name_rule_and_place() {
        let list = Suppressions::parse("# known\nstream-race pool.cpp:12 # why\nleak *\n").unwrap();
        assert!(list.cover("stream-race", &frames()) && list.cover("leak", &[]));
        assert!(!list.cover("free-in-use", &frames()));
        assert!(!Suppressions::parse("stream-race pool.cpp:1").unwrap().cover("stream-race", &frames()));
        assert!(Suppressions::parse("* take(").unwrap().cover("leak", &frames()));
        assert_eq!(Suppressions::parse("\nno-such-rule *").unwrap_err(), 2);
        assert_eq!(Suppressions::parse("leak").unwrap_err(), 1);
    }
}
