//! Declarations of kernels and device variables: the names in them.

use std::ops::Range;

use super::lex::Kind;
use super::scan::{Source, words};

/// A declaration.
pub struct Unit {
    /// Up to its semicolon or body.
    pub tokens: Range<usize>,
    /// Begins with `template <…>`; an explicit specialization does not count.
    pub template: bool,
    /// The braces of a function's body.
    pub body: Option<(usize, usize)>,
}

/// A kernel's parameter.
#[derive(Debug)]
pub struct Parameter {
    /// The token after its type and name: a default value follows, or nothing.
    pub end: usize,
    /// Its name; None: it has none.
    pub name: Option<usize>,
    /// It stands for any number of them.
    pub pack: bool,
}

/// Whether the parenthesis belongs to an attribute or the like.
pub fn is_attribute(source: &Source<'_>, parenthesis: usize) -> bool {
    parenthesis > 0
        && matches!(
            source.get(parenthesis - 1),
            "__attribute__"
                | "__attribute"
                | "alignas"
                | "_Alignas"
                | "decltype"
                | "__typeof__"
                | "typeof"
                | "__declspec"
                | "noexcept"
                | "explicit"
                | "asm"
                | "__asm__"
                | "requires"
        )
}

/// Whether a mark is part of the name of an operator.
pub fn names_operator(source: &Source<'_>, at: usize) -> bool {
    (1..=3).any(|back| {
        at >= back
            && source.get(at - back) == "operator"
            && (at - back + 1..at).all(|between| source.tokens[between].kind == Kind::Mark)
    })
}

/// The tokens outside of all brackets, and not of template lists, up to the first `=`.
pub fn flat(source: &Source<'_>, range: Range<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        match source.get(at) {
            "(" | "[" | "{" => at = source.partner(at),
            "<" if at > range.start && source.is_word(at - 1) => {
                at = source.after_angle(at, range.end).map_or(at, |after| after - 1);
            }
            "=" if !names_operator(source, at) => break,
            _ => found.push(at),
        }
        at += 1;
    }
    found
}

/// The pieces of a range between commas that stand outside of all brackets; in front of a `=`, `<` opens a template list.
fn split(source: &Source<'_>, range: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut at, mut value) = (range.start, range.start, false);
    while at < range.end {
        match source.get(at) {
            "(" | "[" | "{" => at = source.partner(at),
            "<" if !value && at > start && source.is_word(at - 1) => {
                at = source.after_angle(at, range.end).map_or(at, |after| after - 1);
            }
            "=" => value = true,
            "," => {
                pieces.push(start..at);
                (start, value) = (at + 1, false);
            }
            _ => {}
        }
        at += 1;
    }
    if start < range.end {
        pieces.push(start..range.end);
    }
    pieces
}

/// Words that end a type, or stand in it, and are no name.
const TYPE_WORDS: &[&str] = &[
    "void",
    "bool",
    "char",
    "char8_t",
    "char16_t",
    "char32_t",
    "wchar_t",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "auto",
    "__int128",
    "_Float16",
    "__bf16",
    "__fp16",
    "_Float32",
    "_Float64",
    "__float128",
];
const CV: &[&str] = &[
    "const",
    "volatile",
    "__restrict",
    "__restrict__",
    "__const",
    "__volatile__",
    "restrict",
    "struct",
    "class",
    "union",
    "enum",
    "typename",
    "register",
    "static",
    "extern",
    "inline",
    "__inline",
    "__inline__",
    "constexpr",
    "constinit",
    "__constinit",
    "thread_local",
    "__thread",
    "__extension__",
];

/// What a declarator declares.
struct Declarator {
    /// The token of the name.
    name: Option<usize>,
    /// The parenthesis that follows the name.
    call: Option<usize>,
    /// The name stands in parentheses of its own.
    nested: bool,
    /// The token after type and name.
    end: usize,
}

/// Looks at one declarator; `typed`: a type stands in front of its name.
fn declarator(source: &Source<'_>, range: Range<usize>, typed: bool) -> Declarator {
    let mut last: Option<usize> = None;
    let mut types = usize::from(!typed);
    let mut at = range.start;
    let mut body_ended = false;
    let is_ours = |at: usize| source.get(at).starts_with(words::ALL);
    while at < range.end {
        match source.get(at) {
            "__attribute__" | "__attribute" | "alignas" | "_Alignas" | "asm" | "__asm__" => {
                at = source.partner(at + 1).max(at);
            }
            "[" if source.get(at + 1) == "[" => at = source.partner(at),
            "[" | "=" => break,
            "{" => {
                let named = (range.start..at)
                    .any(|at| matches!(source.get(at), "class" | "struct" | "union" | "enum"));
                if body_ended || !named {
                    break;
                }
                (body_ended, last, types) = (true, None, 1);
                at = source.partner(at);
            }
            "(" if is_attribute(source, at) => {
                types += 1;
                last = None;
                at = source.partner(at);
            }
            "(" => {
                if last.is_none()
                    || matches!(source.get(at + 1), "*" | "&")
                    || source.get(at + 2) == "::" && source.get(at + 3) == "*"
                {
                    let name = inner(source, at + 1, source.partner(at));
                    return Declarator { name, call: None, nested: true, end: until(source, at, range.end) };
                }
                let name = last.filter(|_| types > 1);
                return Declarator { name, call: Some(at), nested: false, end: until(source, at, range.end) };
            }
            "<" if last.is_some() => {
                at = source.after_angle(at, range.end).map_or(at, |after| after - 1);
                last = None;
            }
            "*" | "&" | "." => last = None,
            "::" => {
                types = types.saturating_sub(1);
            }
            word if source.is_word(at) && !is_ours(at) && !CV.contains(&word) => {
                types += 1;
                last =
                    (!TYPE_WORDS.contains(&word) && word != "decltype" && word != "__typeof__").then_some(at);
            }
            word if CV.contains(&word) && !matches!(word, "const" | "volatile") => last = None,
            _ => {}
        }
        at += 1;
    }
    let end = at;
    // One word that is not a basic type is the type.
    let name = last.filter(|name| types > 1 && follows_only_attributes(source, *name + 1, end));
    Declarator { name, call: None, nested: false, end }
}

fn follows_only_attributes(source: &Source<'_>, mut at: usize, end: usize) -> bool {
    while at < end {
        match source.get(at) {
            "__attribute__" | "__attribute" | "asm" | "__asm__" => at = source.partner(at + 1) + 1,
            "[" => at = source.partner(at) + 1,
            word if word.starts_with(words::ALL) => at += 1,
            _ => return false,
        }
    }
    true
}

/// The `=` or the end.
fn until(source: &Source<'_>, mut at: usize, end: usize) -> usize {
    while at < end {
        match source.get(at) {
            "(" | "[" | "{" => at = source.partner(at),
            "=" => return at,
            _ => {}
        }
        at += 1;
    }
    end
}

/// Whether a value follows: `= …` or `{…}`.
fn has_value(source: &Source<'_>, mut at: usize, end: usize) -> bool {
    while at < end {
        match source.get(at) {
            "=" | "{" => return true,
            "(" | "[" => at = source.partner(at),
            _ => {}
        }
        at += 1;
    }
    false
}

/// The name in `(*name)`, `(&name)[3]`, `(*(*name)(int))`, `(S::*name)`.
fn inner(source: &Source<'_>, start: usize, end: usize) -> Option<usize> {
    let mut name = None;
    for at in start..end {
        match source.get(at) {
            "(" if name.is_none() => return inner(source, at + 1, source.partner(at)),
            "(" | "[" => break,
            "*" | "&" | "::" => name = None,
            word if source.is_word(at) && !CV.contains(&word) && !word.starts_with(words::ALL) => {
                name = Some(at)
            }
            _ => {}
        }
    }
    name
}

/// The parameters of the kernel whose word `__global__` is given.
pub fn parameters(source: &Source<'_>, word: usize, unit: &Unit) -> Result<Vec<Parameter>, (usize, String)> {
    let end = unit.tokens.end;
    let mut at = word + 1;
    let open = loop {
        if at >= end {
            return Err((word, "a kernel is a function: __global__ void name(parameters)".to_owned()));
        }
        match source.get(at) {
            "(" if !is_attribute(source, at) => break at,
            "(" | "[" => at = source.partner(at),
            _ => {}
        }
        at += 1;
    };
    let close = source.partner(open);
    if (close == open + 2 && source.get(open + 1) == "void") || close == open + 1 {
        return Ok(Vec::new());
    }
    let mut parameters = Vec::new();
    for piece in split(source, open + 1..close) {
        let dots = |at: usize| (0..3).all(|n| source.get(at + n) == ".");
        if piece.len() == 3 && dots(piece.start) {
            return Err((piece.start, "a kernel cannot take any number of arguments ('...')".to_owned()));
        }
        let found = declarator(source, piece.clone(), true);
        let pack = (piece.start..found.end).any(dots);
        parameters.push(Parameter { end: found.end, name: found.name, pack });
    }
    Ok(parameters)
}

/// A variable's name.
pub struct Name {
    /// As it is written.
    pub name: String,
    /// Declared as `(*name)`: the tokens of its value, which may be none.
    pub pointer: Option<Range<usize>>,
}

/// What a declaration with `__gm__` declares.
pub struct Declared {
    /// The names.
    pub names: Vec<Name>,
    /// The name of the type in front of them, without template arguments; empty for basic types.
    pub type_name: String,
    /// Defined elsewhere.
    pub external: bool,
}

/// The variables of a declaration; None: it declares functions or types.
pub fn variables(source: &Source<'_>, unit: &Unit, head: usize) -> Option<Declared> {
    let range = head..unit.tokens.end;
    let leading = flat(source, range.clone());
    let has = |word: &str| leading.iter().any(|at| source.get(*at) == word);
    if unit.body.is_some()
        || ["typedef", "using", "friend", "static_assert", "operator", "concept", "namespace"]
            .iter()
            .any(|word| has(word))
    {
        return None;
    }
    let mut names = Vec::new();
    let mut type_name = String::new();
    let mut initialized = false;
    for (number, piece) in split(source, range).into_iter().enumerate() {
        let found = declarator(source, piece.clone(), number == 0);
        let Some(name) = found.name else { continue };
        if let Some(call) = found.call {
            // `name(3)` is a variable, `name(int)` a function; a value that is a name is taken for a type.
            let value = source
                .tokens
                .get(call + 1)
                .is_some_and(|token| matches!(token.kind, Kind::Number | Kind::Text));
            if !value {
                return None;
            }
            initialized = true;
        }
        initialized |= has_value(source, found.end, piece.end);
        let start = qualified_start(source, name, piece.start);
        if number == 0 {
            type_name = named_type(source, piece.start, start);
        }
        let pointer = found.nested.then_some(found.end..piece.end);
        names.push(Name { name: source_text(source, start, name), pointer });
    }
    if names.is_empty() {
        return None;
    }
    Some(Declared { names, type_name, external: has("extern") && !initialized })
}

/// The first token of `A::B::name`.
fn qualified_start(source: &Source<'_>, name: usize, from: usize) -> usize {
    let mut at = name;
    while at >= from + 2 && source.get(at - 1) == "::" && source.is_word(at - 2) {
        at -= 2;
    }
    at
}

/// The type's own name, when the tokens in front of a name end in one.
fn named_type(source: &Source<'_>, from: usize, to: usize) -> String {
    let mut name = String::new();
    let mut at = from;
    while at < to {
        match source.get(at) {
            "(" | "[" | "{" => at = source.partner(at),
            "<" => at = source.after_angle(at, to).map_or(at, |after| after - 1),
            "*" | "&" => return String::new(),
            "::" => name.push_str("::"),
            word if source.is_word(at) && !CV.contains(&word) && !word.starts_with(words::ALL) => {
                if !name.ends_with("::") {
                    name.clear();
                }
                name.push_str(word);
            }
            _ => {}
        }
        at += 1;
    }
    name
}

fn source_text(source: &Source<'_>, first: usize, last: usize) -> String {
    (first..=last).map(|at| source.get(at)).collect()
}
