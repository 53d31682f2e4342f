//! Launches: `callee<<<blocks, l2ctrl, stream>>>(arguments)`.

use super::lex::Kind;
use super::scan::Source;

/// A launch, by tokens.
#[derive(Debug)]
pub struct Launch {
    /// The first of the callee.
    pub start: usize,
    /// The first `<`.
    pub open: usize,
    /// The first `>` of the closing three.
    pub close: usize,
    /// The parenthesis that closes the arguments.
    pub end: usize,
    /// Why it is none.
    pub error: Option<String>,
}

/// All launches of a source, in the order of their `<<<`.
pub fn find(source: &Source<'_>) -> Vec<Launch> {
    let mut found = Vec::new();
    for at in 0..source.tokens.len() {
        if opens(source, at) {
            found.push(one(source, at).unwrap_or_else(|error| Launch {
                start: at,
                open: at,
                close: at,
                end: at,
                error: Some(error.to_owned()),
            }));
        }
    }
    found
}

/// Exactly three `<`. A preprocessor may have put blanks before the third. `operator<<<T>` is another thing.
fn opens(source: &Source<'_>, at: usize) -> bool {
    let joined = |left: usize| match (source.tokens.get(left), source.tokens.get(left + 1)) {
        (Some(a), Some(b)) => a.at.end == b.at.start,
        _ => false,
    };
    let three = (at..at + 3).all(|at| source.get(at) == "<") && joined(at);
    three && !(at > 0 && matches!(source.get(at - 1), "<" | "operator")) && source.get(at + 3) != "<"
}

fn one(source: &Source<'_>, open: usize) -> Result<Launch, &'static str> {
    let start = callee(source, open).ok_or("nothing to launch stands before '<<<'")?;
    let close = closing(source, open + 3)
        .ok_or("a launch has no closing '>>>(…)' : name<<<blocks, l2ctrl, stream>>>(arguments)")?;
    let end = source.partner(close + 3);
    if end == close + 3 {
        return Err("the arguments of a launch have no end");
    }
    Ok(Launch { start, open, close, end, error: None })
}

/// The first `>>>(` outside of brackets with two commas before it: with fewer, it closes template lists of a setting. Where
/// there is none, the first one, so that the compiler says what is missing.
fn closing(source: &Source<'_>, from: usize) -> Option<usize> {
    let (mut commas, mut first) = (0, None);
    let mut at = from;
    while at < source.tokens.len() {
        match source.get(at) {
            "(" | "[" | "{" => {
                let partner = source.partner(at);
                if partner == at {
                    return first;
                }
                at = partner;
            }
            ")" | "]" | "}" | ";" => return first,
            "," => commas += 1,
            ">" if source.get(at + 1) == ">" && source.get(at + 2) == ">" && source.get(at + 3) == "(" => {
                if commas >= 2 {
                    return Some(at);
                }
                first = first.or(Some(at));
                at += 2;
            }
            _ => {}
        }
        at += 1;
    }
    first
}

/// Words that no callee begins with.
const KEYWORDS: &[&str] = &[
    "return",
    "else",
    "do",
    "if",
    "while",
    "for",
    "switch",
    "case",
    "throw",
    "co_return",
    "co_yield",
    "co_await",
    "and",
    "or",
    "not",
    "new",
    "delete",
    "typename",
];

/// The first token of the expression that ends before `end`: a name with qualifiers and template lists, a member, an element, a
/// call, or something in parentheses.
fn callee(source: &Source<'_>, end: usize) -> Option<usize> {
    let mut at = end;
    loop {
        at = primary(source, at)?;
        while at > 0 && source.get(at - 1) == "template" {
            at -= 1;
        }
        match at.checked_sub(1).map(|before| source.get(before)) {
            Some("::") => {
                at -= 1;
                // The global namespace, or a qualifier.
                let before = at.checked_sub(1)?;
                let named = (source.is_word(before) && !KEYWORDS.contains(&source.get(before)))
                    || source.get(before) == ">";
                if !named {
                    return Some(at);
                }
            }
            Some("." | "->") => at -= 1,
            _ => return Some(at),
        }
    }
}

/// The first token of the part of an expression that ends before `end`.
fn primary(source: &Source<'_>, end: usize) -> Option<usize> {
    let last = end.checked_sub(1)?;
    match source.get(last) {
        ">" => {
            let open = list(source, last)?;
            let name = open.checked_sub(1)?;
            source.is_word(name).then_some(name)
        }
        ")" | "]" => {
            let open = source.partner(last);
            if open == last {
                return None;
            }
            let Some(before) = open.checked_sub(1) else { return Some(open) };
            let called = source.is_word(before) && !KEYWORDS.contains(&source.get(before));
            let follows = called || matches!(source.get(before), "]" | ">");
            if follows || (source.get(last) == "]" && source.get(before) == ")") {
                return primary(source, open);
            }
            (source.get(last) == ")").then_some(open)
        }
        _ if source.is_word(last) && !KEYWORDS.contains(&source.get(last)) => Some(last),
        _ => None,
    }
}

/// The `<` of the template list that ends here.
fn list(source: &Source<'_>, close: usize) -> Option<usize> {
    let mut depth = 0;
    let mut at = close;
    loop {
        match source.get(at) {
            ">" => depth += 1,
            "<" => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            ")" | "]" | "}" => at = source.partner(at),
            ";" | "{" => return None,
            _ if source.tokens[at].kind == Kind::Text => {}
            _ => {}
        }
        at = at.checked_sub(1)?;
    }
}
