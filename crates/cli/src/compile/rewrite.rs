//! The text that the compiler underneath gets. Lines stay where they are: what is added stands on a line of the program, and what is
//! taken out leaves its line ends and line markers.

use std::fmt::Write as _;
use std::ops::Range;

use super::launch::Launch;
use super::scan::{Found, Kernel, Source, Variable, words};

/// Which half of a source is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The program.
    Host,
    /// The device binary.
    Device,
}

/// Names in the objects by which the driver finds things again. A static of a kernel carries the kernel's name in its own.
pub mod marks {
    /// The static by which the host half names a kernel to the runtime.
    pub const KEY: &str = "toprope_key";
    /// The static that describes a kernel's parameters in the device half.
    pub const RECORD: &str = "toprope_record";
    /// The section with the addresses and sizes of device variables.
    pub const VARIABLES: &str = ".toprope.variables";
}

/// The text for one half.
pub fn rewrite(source: &Source<'_>, found: &Found, pass: Pass) -> String {
    let mut edits = Edits { source, simple: Vec::new(), launches: &found.launches };
    let clang = source.text.contains("toprope_made_by_clang");
    // Only the compiler underneath knows whether a value is constant. Nothing else would be there when a device reads it.
    let constant = if clang { "__attribute__((require_constant_initialization))" } else { "__constinit" };
    for (at, token) in source.tokens.iter().enumerate() {
        let word = source.get(at);
        if word.starts_with(words::ALL) {
            let here = |variable: &&Variable| variable.word == at;
            let text = match (word, pass) {
                (words::KERNEL, Pass::Host) => "__attribute__((used))",
                (words::KERNEL, Pass::Device) => "__attribute__((used, noinline))",
                // What only kernels call is unused in the host half.
                (words::AICORE, _) => "__attribute__((unused))",
                (words::GM, Pass::Device) => {
                    match found.variables.iter().filter(here).any(|v| clang || v.pointer.is_none()) {
                        true => constant,
                        false => "",
                    }
                }
                _ => "",
            };
            edits.simple.push((token.at.clone(), edits.apart(&token.at, text)));
        }
    }
    for kernel in &found.kernels {
        edits.kernel(kernel, pass);
    }
    for (number, variable) in found.variables.iter().enumerate() {
        edits.variable(number, variable, !clang && pass == Pass::Device);
    }
    edits.simple.sort_by_key(|(at, _)| (at.start, at.end));
    // What lies in a body that was taken out goes with it.
    let mut end = 0;
    edits.simple.retain(|(at, _)| {
        let inside = at.start < end;
        end = end.max(at.end);
        !inside
    });
    let mut text = String::with_capacity(source.text.len() + 4096);
    edits.render(0..source.text.len(), &mut text);
    text
}

struct Edits<'a> {
    source: &'a Source<'a>,
    /// Replacements of bytes, sorted, apart.
    simple: Vec<(Range<usize>, String)>,
    launches: &'a [Launch],
}

impl Edits<'_> {
    /// Text in the place of a word of ours, as many columns wide as the word is in the program.
    fn apart(&self, at: &Range<usize>, text: &str) -> String {
        let length = at.len().saturating_sub(words::longer(&self.source.text[at.clone()]));
        let blanks = format!("{:length$}", "");
        if text.is_empty() { blanks } else { self.source.apart(at.start, text) + &blanks }
    }

    fn kernel(&mut self, kernel: &Kernel, pass: Pass) {
        let tokens = &self.source.tokens;
        let (mut types, mut values) = (String::new(), String::new());
        for (number, parameter) in kernel.parameters.iter().enumerate() {
            let name = match parameter.name {
                Some(token) => self.source.get(token).to_owned(),
                None => {
                    let name = format!("toprope_parameter_{number}");
                    let end = parameter.end.checked_sub(1).map_or(0, |last| tokens[last].at.end);
                    self.simple.push((end..end, self.source.apart(end, &name)));
                    name
                }
            };
            let dots = if parameter.pack { "..." } else { "" };
            let comma = if number == 0 { "" } else { ", " };
            let _ = write!(types, "{comma}decltype({name}){dots}");
            let _ = write!(values, ", {name}{dots}");
        }
        let (open, close) = (&tokens[kernel.body.0].at, &tokens[kernel.body.1].at);
        match pass {
            Pass::Host => {
                let body = format!(
                    "{{ static unsigned char {} = 1; ::toprope::launch::enqueue<{types}>(&{}{values});",
                    marks::KEY,
                    marks::KEY
                );
                let mut text = self.source.apart(open.start, &body);
                lines_of(&self.source.text[open.end..close.start], &mut text);
                text.push('}');
                self.simple.push((open.start..close.end, text));
            }
            Pass::Device => {
                let text = format!(
                    "static constexpr auto {} __attribute__((used)) = ::toprope::launch::record<{types}>({});",
                    marks::RECORD,
                    kernel.core
                );
                self.simple.push((open.end..open.end, self.source.apart(open.end, &text)));
            }
        }
    }

    fn variable(&mut self, number: usize, variable: &Variable, check_pointer: bool) {
        let name = &variable.name;
        let end = self.source.tokens[variable.end].at.end;
        let mut text = format!(
            "static_assert(::toprope::launch::bytes<decltype({name})>(), \"device variable '{name}' is of a type that cannot be copied \
             to a device as bytes: it is a reference or not trivially copyable\"); static constexpr ::toprope::launch::Variable \
             toprope_variable_{number} __attribute__((used, section(\"{}\"))) = {{__builtin_addressof({name}), sizeof({name})}};",
            marks::VARIABLES
        );
        if let Some(value) = variable.pointer.as_ref().filter(|value| check_pointer && !value.is_empty()) {
            let value = &self.source.text
                [self.source.tokens[value.start].at.start..self.source.tokens[value.end - 1].at.end];
            let _ = write!(
                text,
                " static constexpr decltype({name}) toprope_value_{number} __attribute__((unused)) {value};"
            );
        }
        self.simple.push((end..end, self.source.apart(end, &text)));
    }

    /// Writes a part of the text, rewritten.
    fn render(&self, range: Range<usize>, to: &mut String) {
        let at = |token: usize| &self.source.tokens[token].at;
        let mut from = range.start;
        while from < range.end {
            let launch = self.launches.iter().find(|launch| {
                at(launch.start).start >= from
                    && at(launch.end).end <= range.end
                    && !self.taken_out(at(launch.open).start)
            });
            // The callee of a launch may itself contain one that stands later in the order of `<<<`.
            let Some(launch) = launch else { break };
            self.plain(from..at(launch.start).start, to);
            let (start, open, close) =
                (at(launch.start).start, at(launch.open).start, at(launch.close + 2).end);
            let settings = at(launch.open + 2).end..at(launch.close).start;
            // The settings are read before the callee; everything keeps its line and column.
            to.push_str(&self.source.apart(settings.start, "(::toprope::launch::Config("));
            self.render(settings.clone(), to);
            to.push_str(&self.source.apart(start, "),"));
            self.render(start..open, to);
            to.push_str(&self.source.apart(close, ""));
            self.render(close..at(launch.end).end, to);
            // A launch is worth its code: programs look at it.
            to.push_str(&self.source.apart(at(launch.end).end, ",::toprope::launch::Config::code())"));
            from = at(launch.end).end;
        }
        self.plain(from..range.end, to);
    }

    fn taken_out(&self, offset: usize) -> bool {
        let before = self.simple.partition_point(|(at, _)| at.start <= offset);
        before > 0 && self.simple[before - 1].0.end > offset
    }

    /// Writes a part of the text that holds no launch.
    fn plain(&self, range: Range<usize>, to: &mut String) {
        let mut from = range.start;
        let first = self.simple.partition_point(|(at, _)| at.start < range.start);
        for (at, text) in &self.simple[first..] {
            if at.end > range.end
                || (at.start >= range.end
                    && !(at.is_empty() && at.start == range.end && range.end == self.source.text.len()))
            {
                break;
            }
            to.push_str(&self.source.text[from..at.start]);
            to.push_str(text);
            from = at.end;
        }
        to.push_str(&self.source.text[from..range.end]);
    }
}

/// The line ends and line markers of a text.
fn lines_of(text: &str, to: &mut String) {
    for line in text.split_inclusive('\n') {
        if line.starts_with('#') {
            to.push_str(line);
        } else if line.ends_with('\n') {
            to.push('\n');
        }
    }
}
