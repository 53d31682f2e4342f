//! Where a preprocessed source has kernels, device variables and launches. Namespaces are followed; bodies of functions and classes are
//! not looked into, except for launches.

use std::collections::HashMap;
use std::ops::Range;

use super::declare::{self, Unit};
use super::launch::{self, Launch};
use super::lex::{self, Kind, Token};

/// The words of device code, as they stand in the preprocessed text.
pub mod words {
    /// `__global__`
    pub const KERNEL: &str = "toprope_word_global";
    /// `__gm__`
    pub const GM: &str = "toprope_word_gm";
    /// `__cube__`
    pub const CUBE: &str = "toprope_word_cube";
    /// `__vector__`
    pub const VECTOR: &str = "toprope_word_vector";
    /// `__aicore__`
    pub const AICORE: &str = "toprope_word_aicore";
    /// The enumerator of KERNEL_TASK_TYPE_DEFAULT.
    pub const TYPE: &str = "toprope_kernel_type";
    /// The common beginning of the others.
    pub const ALL: &str = "toprope_word_";

    /// The options that put them there.
    pub const DEFINES: &[&str] = &[
        "-DTOPROPE_COMPILER=1",
        "-D__global__=toprope_word_global",
        "-D__gm__=toprope_word_gm",
        "-D__cube__=toprope_word_cube",
        "-D__vector__=toprope_word_vector",
        "-D__mix__(cube,vector)=toprope_word_mix",
        "-D__aicore__=toprope_word_aicore",
    ];

    /// How many characters more a word has in the text than in the program: `__gm__` has four beside its name.
    pub fn longer(word: &str) -> usize {
        if word.starts_with(ALL) { ALL.len() - 4 } else { 0 }
    }
}

/// What the macro KERNEL_TASK_TYPE_DEFAULT of a kernel's body says of its cores (`enum toprope_core`); 0 when it says nothing of one kind.
fn typed(source: &Source, (open, close): (usize, usize)) -> u32 {
    let Some(at) = (open..close).find(|at| source.get(*at) == words::TYPE) else { return 0 };
    // `word = (type)`
    match source.get(at + 3) {
        "KERNEL_TYPE_AIC_ONLY" | "KERNEL_TYPE_MIX_AIC_1_0" => 1,
        "KERNEL_TYPE_AIV_ONLY" | "KERNEL_TYPE_MIX_AIV_1_0" | "KERNEL_TYPE_VECTORCORE" => 2,
        _ => 0,
    }
}

/// A text and its tokens.
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// For each opening or closing bracket the token of its partner; for one without, and all others, the token itself.
    partners: Vec<usize>,
}

/// A kernel that has a body.
#[derive(Debug)]
pub struct Kernel {
    /// The tokens of each parameter, and its name if it has one.
    pub parameters: Vec<declare::Parameter>,
    /// The tokens of the opening and the closing brace.
    pub body: (usize, usize),
    /// `enum toprope_core`
    pub core: u32,
}

/// A device variable that is defined here.
#[derive(Debug)]
pub struct Variable {
    /// As a program would name it at the end of the declaration.
    pub name: String,
    /// The token of the word `__gm__`.
    pub word: usize,
    /// The token of the semicolon.
    pub end: usize,
    /// Declared as `(*name)`, and the tokens of its value: GCC does not take `constinit` there.
    pub pointer: Option<Range<usize>>,
}

/// What a source has.
#[derive(Debug, Default)]
pub struct Found {
    /// Kernels that are defined here.
    pub kernels: Vec<Kernel>,
    /// Device variables that are defined here.
    pub variables: Vec<Variable>,
    /// Launches, in order.
    pub launches: Vec<Launch>,
    /// What cannot be: the place in the text, and why.
    pub errors: Vec<(usize, String)>,
    /// Types defined in namespaces: whether with `class`.
    types: HashMap<String, bool>,
}

impl Source<'_> {
    /// The tokens of a text.
    pub fn new(text: &str) -> Source<'_> {
        let tokens = lex::tokens(text);
        let mut partners: Vec<usize> = (0..tokens.len()).collect();
        let mut open: Vec<usize> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match &text[token.at.clone()] {
                "(" | "[" | "{" => open.push(at),
                mark @ (")" | "]" | "}") => {
                    let wanted = match mark {
                        ")" => "(",
                        "]" => "[",
                        _ => "{",
                    };
                    // An unmatched bracket is for the compiler to report; a brace ends whatever is open within it.
                    while let Some(begin) = open.pop() {
                        if &text[tokens[begin].at.clone()] == wanted {
                            partners[begin] = at;
                            partners[at] = begin;
                            break;
                        }
                        if mark != "}" {
                            open.push(begin);
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
        Source { text, tokens, partners }
    }

    /// A token's text; nothing beyond the end.
    pub fn get(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.at.clone()])
    }

    /// Whether a token is a name or keyword.
    pub fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    /// The other end of a bracket, or the token itself.
    pub fn partner(&self, at: usize) -> usize {
        self.partners.get(at).copied().unwrap_or(at)
    }

    /// The token after the template list that opens at a `<`; None when it is not one.
    pub fn after_angle(&self, open: usize, end: usize) -> Option<usize> {
        let mut depth = 0;
        let mut at = open;
        while at < end {
            match self.get(at) {
                "<" => depth += 1,
                ">" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                "(" | "[" | "{" => at = self.partner(at),
                ";" => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Where a byte stands in the program's own file, from the line markers of the preprocessor.
    pub fn place(&self, offset: usize) -> (String, usize) {
        let (marker, line) = self.marker(offset);
        (marker.split('"').nth(1).unwrap_or_default().to_owned(), line)
    }

    /// The file, as the last line marker has it, and the line of a byte.
    fn marker(&self, offset: usize) -> (&str, usize) {
        let before = &self.text[..offset.min(self.text.len())];
        let (mut found, mut from) = ("\"\"", 0);
        let mut number = 1;
        let mut end = before.len();
        while let Some(start) =
            before[..end].rfind("\n# ").map(|at| at + 1).or_else(|| before.starts_with("# ").then_some(0))
        {
            let line = before[start..].split('\n').next().unwrap_or_default();
            let marker = line.strip_prefix("# ").and_then(|rest| rest.split_once(' '));
            if let Some((first, rest)) = marker
                && let Ok(first) = first.parse()
                && rest.starts_with('"')
            {
                (found, number, from) = (rest, first, start + line.len() + 1);
                break;
            }
            if start == 0 {
                break;
            }
            end = start - 1;
        }
        let lines = before.get(from..).map_or(0, |rest| rest.matches('\n').count());
        (found, number + lines)
    }

    /// Text that stands in front of a byte without moving what follows: on a line of its own that counts as the same line.
    pub fn apart(&self, offset: usize, text: &str) -> String {
        let (file, line) = self.marker(offset);
        // Of the flags only "system header" stays: nothing is entered or left here.
        let name_end = file.rfind('"').map_or(file.len(), |at| at + 1);
        let flag = if file[name_end..].split(' ').any(|flag| flag == "3") { " 3" } else { "" };
        let marker = format!("# {line} {}{flag}", &file[..name_end]);
        let column = self.column(offset);
        format!("\n{marker}\n{text}\n{marker}\n{:column$}", "")
    }

    /// Characters before a byte on its line, as the program has it.
    fn column(&self, offset: usize) -> usize {
        let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let first = self.tokens.partition_point(|token| token.at.start < start);
        let words = self.tokens[first..].iter().take_while(|token| token.at.end <= offset);
        let longer: usize = words.map(|token| words::longer(&self.text[token.at.clone()])).sum();
        self.text[start..offset].chars().count().saturating_sub(longer)
    }
}

/// Finds everything.
pub fn scan(source: &Source<'_>) -> Found {
    let mut found = Found { launches: launch::find(source), ..Found::default() };
    for launch in &found.launches {
        if let Some(error) = &launch.error {
            found.errors.push((source.tokens[launch.open].at.start, error.clone()));
        }
    }
    found.launches.retain(|launch| launch.error.is_none());
    let mut walk = Walk { source, found: &mut found, kernels: Vec::new() };
    walk.namespace(0..source.tokens.len(), "");
    let kernels = walk.kernels;
    // What was not part of a declaration in a namespace.
    for (at, token) in source.tokens.iter().enumerate() {
        if &source.text[token.at.clone()] == words::KERNEL && !kernels.contains(&at) {
            let text = "a kernel must be declared in a namespace, not in a class or function";
            found.errors.push((token.at.start, text.to_owned()));
        }
    }
    found.errors.sort();
    found
}

struct Walk<'a, 'b> {
    source: &'a Source<'a>,
    found: &'b mut Found,
    /// Tokens `__global__` that belong to a declaration.
    kernels: Vec<usize>,
}

impl Walk<'_, '_> {
    /// Looks at the declarations between two tokens of a namespace.
    fn namespace(&mut self, range: Range<usize>, path: &str) {
        let mut start = range.start;
        while start < range.end {
            start = self.declaration(start, range.end, path).max(start + 1);
        }
    }

    /// Looks at one declaration; the answer is the token after it.
    fn declaration(&mut self, start: usize, end: usize, path: &str) -> usize {
        let source = self.source;
        let mut unit = Unit { tokens: start..end, template: false, body: None };
        let mut at = start;
        while source.get(at) == "template" && source.get(at + 1) == "<" {
            let Some(after) = source.after_angle(at + 1, end) else { break };
            unit.template |= after > at + 3;
            at = after;
        }
        let head = at;
        let (mut assigned, mut called) = (false, false);
        while at < end {
            match source.get(at) {
                ";" => {
                    unit.tokens = start..at;
                    self.unit(&unit, head, path);
                    return at + 1;
                }
                "=" => assigned |= !declare::names_operator(source, at),
                "(" => {
                    called |= !declare::is_attribute(source, at);
                    at = source.partner(at);
                }
                "[" => at = source.partner(at),
                "{" => {
                    let close = source.partner(at);
                    if close == at {
                        return end;
                    }
                    if !assigned && let Some(name) = namespace_name(source, head, at) {
                        let inner = if name.is_empty() || path.is_empty() {
                            format!("{path}{name}")
                        } else {
                            format!("{path}::{name}")
                        };
                        self.namespace(at + 1..close, &inner);
                        return close + 1;
                    }
                    if let Some((name, with_class)) = class_name(source, head, at)
                        && !assigned
                        && !called
                    {
                        self.found.types.insert(qualified(path, &name), with_class);
                    } else if !assigned && called {
                        unit.tokens = start..at;
                        unit.body = Some((at, close));
                        self.unit(&unit, head, path);
                        return close + 1;
                    }
                    at = close;
                }
                "}" => return at + 1,
                _ => {}
            }
            at += 1;
        }
        end
    }

    fn unit(&mut self, unit: &Unit, head: usize, path: &str) {
        let source = self.source;
        let flat = declare::flat(source, head..unit.tokens.end);
        if let Some(word) = flat.iter().copied().find(|at| source.get(*at) == words::KERNEL) {
            self.kernels.push(word);
            let core = |name: &str| flat.iter().any(|at| source.get(*at) == name);
            let core = if core(words::CUBE) {
                1
            } else if core(words::VECTOR) {
                2
            } else {
                unit.body.map_or(0, |body| typed(source, body))
            };
            match declare::parameters(source, word, unit) {
                Ok(parameters) => {
                    if let Some(body) = unit.body {
                        self.found.kernels.push(Kernel { parameters, body, core });
                    }
                }
                Err((at, text)) => self.found.errors.push((source.tokens[at].at.start, text)),
            }
            return;
        }
        let Some(word) = flat.iter().copied().find(|at| source.get(*at) == words::GM) else { return };
        let Some(declared) = declare::variables(source, unit, head) else { return };
        if declared.external {
            return;
        }
        let error = |found: &mut Found, text: String| found.errors.push((source.tokens[word].at.start, text));
        for declare::Name { name, pointer } in declared.names {
            if unit.template {
                error(
                    self.found,
                    format!("device variable '{name}' is a template, which the runtime cannot find"),
                );
            } else if self.is_class(&declared.type_name, path) {
                error(
                    self.found,
                    format!(
                        "device variable '{name}' is of type '{}', which is declared with 'class'; basic types, structures, \
                         arrays and function pointers are possible",
                        declared.type_name
                    ),
                );
            } else {
                self.found.variables.push(Variable { name, word, end: unit.tokens.end, pointer });
            }
        }
    }

    /// Whether the type that a name means in a namespace is declared with `class`. Names are looked up outwards, without regard to `using`.
    fn is_class(&self, name: &str, path: &str) -> bool {
        let name = name.strip_prefix("::").unwrap_or(name);
        let mut scope = path;
        loop {
            if let Some(with_class) = self.found.types.get(&qualified(scope, name)) {
                return *with_class;
            }
            if scope.is_empty() {
                return false;
            }
            scope = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
        }
    }
}

fn qualified(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// The name of the namespace, or nothing for a block of a language, whose brace this is.
fn namespace_name(source: &Source<'_>, head: usize, brace: usize) -> Option<String> {
    let is_text = |at: usize| source.tokens[at].kind == Kind::Text;
    if brace == head + 2 && source.get(head) == "extern" && is_text(head + 1) {
        return Some(String::new());
    }
    let first = head + usize::from(source.get(head) == "inline");
    if source.get(first) != "namespace" {
        return None;
    }
    let mut name = String::new();
    let mut at = first + 1;
    while at < brace {
        match source.get(at) {
            "[" | "(" => at = source.partner(at),
            "__attribute__" | "inline" => {}
            part => name.push_str(part),
        }
        at += 1;
    }
    Some(name)
}

/// The name of the type whose body opens at this brace, and whether it is declared with `class`.
fn class_name(source: &Source<'_>, head: usize, brace: usize) -> Option<(String, bool)> {
    let key = (head..brace).find(|at| matches!(source.get(*at), "class" | "struct" | "union" | "enum"))?;
    let mut name = String::new();
    let mut at = key + 1;
    while at < brace {
        match source.get(at) {
            "[" | "(" => at = source.partner(at),
            "__attribute__" | "alignas" | "class" | "struct" => {}
            ":" | "final" | "<" => break,
            part => name.push_str(part),
        }
        at += 1;
    }
    Some((name, source.get(key) == "class"))
}
