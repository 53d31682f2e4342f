//! Preprocessed C++ as tokens: enough to find launches, kernels and device variables, and no more.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword.
    Word,
    /// A number.
    Number,
    /// A string or character, raw strings among them.
    Text,
    /// One character of punctuation; `::` and `->` are one token.
    Mark,
}

/// A token: its kind, and its bytes in the text.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub at: Range<usize>,
}

/// The tokens of a text. Comments and directive lines are none.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, fresh: true, found: Vec::new() };
    while lexer.at < lexer.bytes.len() {
        lexer.step();
    }
    lexer.found
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Nothing but blanks on this line so far.
    fresh: bool,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn step(&mut self) {
        let byte = self.peek(0);
        match byte {
            b'\n' => {
                self.fresh = true;
                self.at += 1;
            }
            b'\\' if self.peek(1) == b'\n' => self.at += 2,
            _ if byte.is_ascii_whitespace() => self.at += 1,
            b'#' if self.fresh => self.directive(),
            b'/' if self.peek(1) == b'/' => self.line(),
            b'/' if self.peek(1) == b'*' => {
                self.at += 2;
                while self.at < self.bytes.len() && !(self.peek(0) == b'*' && self.peek(1) == b'/') {
                    self.at += 1;
                }
                self.at += 2;
            }
            _ => {
                self.fresh = false;
                self.token(byte);
            }
        }
    }

    fn token(&mut self, byte: u8) {
        let start = self.at;
        let kind = if word_start(byte) {
            while word_part(self.peek(0)) {
                self.at += 1;
            }
            let word = &self.bytes[start..self.at];
            match self.peek(0) {
                b'"' if matches!(word, b"R" | b"u8R" | b"uR" | b"UR" | b"LR") => {
                    self.raw();
                    Kind::Text
                }
                quote @ (b'"' | b'\'') if matches!(word, b"u8" | b"u" | b"U" | b"L") => {
                    self.quoted(quote);
                    Kind::Text
                }
                _ => Kind::Word,
            }
        } else if byte.is_ascii_digit() || (byte == b'.' && self.peek(1).is_ascii_digit()) {
            self.number();
            Kind::Number
        } else if byte == b'"' || byte == b'\'' {
            self.quoted(byte);
            Kind::Text
        } else {
            let two = matches!((byte, self.peek(1)), (b':', b':') | (b'-', b'>'));
            self.at += if two { 2 } else { 1 };
            Kind::Mark
        };
        self.at = self.at.min(self.bytes.len());
        self.found.push(Token { kind, at: start..self.at });
    }

    /// To the end of the line.
    fn line(&mut self) {
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            self.at += 1;
        }
    }

    /// To the end of the line, continued lines included.
    fn directive(&mut self) {
        loop {
            self.line();
            if self.at >= self.bytes.len() || self.bytes[self.at - 1] != b'\\' {
                return;
            }
            self.at += 1;
        }
    }

    /// A number, with its exponents, suffixes and digit separators.
    fn number(&mut self) {
        loop {
            let byte = self.peek(0);
            let exponent = matches!(byte, b'e' | b'E' | b'p' | b'P') && matches!(self.peek(1), b'+' | b'-');
            let separator = byte == b'\'' && self.peek(1).is_ascii_alphanumeric();
            if exponent || separator {
                self.at += 2;
            } else if word_part(byte) || byte == b'.' {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// From the opening quote past the closing one, or to the end of the line.
    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            match self.peek(0) {
                b'\\' => self.at += 1,
                byte if byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// From the quote of `R"mark(…)mark"` past its end.
    fn raw(&mut self) {
        let open = self.at + 1;
        let Some(length) = self.bytes[open..].iter().take(17).position(|byte| *byte == b'(') else {
            return self.quoted(b'"');
        };
        let mut end = vec![b')'];
        end.extend_from_slice(&self.bytes[open..open + length]);
        end.push(b'"');
        let body = open + length + 1;
        let found = self.bytes[body..].windows(end.len()).position(|window| window == end);
        self.at = found.map_or(self.bytes.len(), |at| body + at + end.len());
    }
}

fn word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn word_part(byte: u8) -> bool {
    word_start(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| &text[token.at]).collect()
    }

    #[test]
    fn strings_comments_and_directives_hide_what_they_hold() {
        assert_eq!(all("a /* k<<<1>>>() */ b // <<<\nc"), ["a", "b", "c"]);
        assert_eq!(all("# 1 \"<<<\"\n  #pragma x \\\n <<<\ny # z"), ["y", "#", "z"]);
        assert_eq!(all(r#"f("<<<\"", '"', L'<')"#), ["f", "(", r#""<<<\"""#, ",", "'\"'", ",", "L'<'", ")"]);
        assert_eq!(all("R\"x(<<< )\" )x\" u8R\"(\n)\"a"), ["R\"x(<<< )\" )x\"", "u8R\"(\n)\"", "a"]);
    }

    #[test]
    fn numbers_keep_their_separators_and_exponents() {
        assert_eq!(
            all("1'000'000+1e-5f-0x1p+3 .5 'a'"),
            ["1'000'000", "+", "1e-5f", "-", "0x1p+3", ".5", "'a'"]
        );
        assert_eq!(all("a::b->c<<<d"), ["a", "::", "b", "->", "c", "<", "<", "<", "d"]);
    }

    #[test]
    fn what_has_no_end_ends_with_the_text() {
        for text in ["\"abc", "'", "/* x", "R\"(x", "R\"x", "#", "\\", "\"\\", "u8\"", "é\"\\\n"] {
            let _ = tokens(text);
        }
    }
}
