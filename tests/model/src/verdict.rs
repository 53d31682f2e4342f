//! What a call must answer, and what it does if it succeeds.

use ascendcl_sys as sys;

use crate::clock::Clock;
use crate::memory::Span;

/// A rule that a call breaks: the code, and the row of `spec/constraints*.csv` that demands it, or `ours: why`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The code.
    pub code: i32,
    /// The rule.
    pub rule: &'static str,
}

/// What a result must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// No result, or any.
    #[default]
    Any,
    /// This word.
    Is(u64),
    /// A new handle: not 0, and none that is live.
    NewHandle,
    /// A new block of so many bytes, aligned to 64: not 0, and in no live buffer.
    NewBlock(usize),
    /// The handle of this default stream, which the model may learn here.
    DefaultStream(usize),
    /// The handle of this context, which the model may learn here.
    Context(usize),
    /// Milliseconds that are not below 0.
    Elapsed,
    /// Whether what the clock holds is done: these words, and what can be said beforehand.
    Done {
        /// The word for done.
        yes: u64,
        /// The word for not done.
        no: u64,
        /// Whether it is, if that can be said.
        known: Option<bool>,
        /// What is done then.
        clock: Clock,
    },
}

/// Where the bytes of a move come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// From these bytes.
    Span(Span),
    /// This byte again and again.
    Byte(u8),
    /// These four.
    Word(u32),
    /// [`pattern`] with this seed.
    Pattern(u8),
    /// From somewhere that the model does not know.
    Nowhere,
}

/// Bytes that are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where to.
    pub dst: Span,
    /// Where from.
    pub from: From,
}

/// The byte at `at` of what the host writes with a seed.
pub fn pattern(seed: u8, at: usize) -> u8 {
    (at as u8).wrapping_mul(37).wrapping_add(seed).rotate_left(u32::from(seed) % 8)
}

/// What a call must answer and do.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Rules that it breaks.
    pub wrong: Vec<Wrong>,
    /// It may succeed all the same (without effect).
    pub may_succeed: bool,
    /// Which of its rules comes first is not told.
    pub unordered: bool,
    /// The model cannot say; the call is left out.
    pub unclear: bool,
    /// What it waits for, also when it fails in the end.
    pub waits: Clock,
    /// The tasks of this stream may be dropped.
    pub drops: Option<usize>,
    /// It waits for a short time only.
    pub timed: bool,
    /// The stream that its work is added to; none: it is done by the host.
    pub task: Option<usize>,
    /// The sources are read at once, though the bytes are written by a task.
    pub snapshot: bool,
    /// What it writes.
    pub moves: Vec<Move>,
    /// What it reads beside.
    pub looks: Vec<Span>,
    /// What nobody may be using meanwhile, though its bytes stay.
    pub holds: Vec<Span>,
    /// The copy of this device variable has to exist first, so that the model knows its address.
    pub wants: Option<usize>,
    /// Its result.
    pub value: Value,
}

impl Verdict {
    /// A rule is broken.
    pub fn wrong(&mut self, code: i32, rule: &'static str) {
        self.wrong.push(Wrong { code, rule });
    }

    /// The condition breaks a rule.
    pub fn check(&mut self, broken: bool, code: i32, rule: &'static str) {
        if broken {
            self.wrong(code, rule);
        }
    }

    /// The rules that may be named. *#02: those of the entry layer (100xxx) come first; *#01: then dead handles; after that
    /// the order is not promised.
    pub fn answers(&self) -> Vec<Wrong> {
        let of =
            |chosen: &dyn Fn(&Wrong) -> bool| self.wrong.iter().copied().filter(chosen).collect::<Vec<_>>();
        if self.unordered {
            return self.wrong.clone();
        }
        let entry = of(&|wrong| (100_000..101_000).contains(&wrong.code));
        if !entry.is_empty() {
            return entry;
        }
        let dead = of(&|wrong| wrong.code == sys::ACL_ERROR_RT_INVALID_HANDLE);
        if dead.is_empty() { self.wrong.clone() } else { dead }
    }

    /// Whether it certainly succeeds.
    pub fn succeeds(&self) -> bool {
        self.wrong.is_empty()
    }

    /// Bytes it reads.
    pub fn reads(&self) -> impl Iterator<Item = &Span> {
        let sources = self.moves.iter().filter_map(|one| match &one.from {
            From::Span(span) => Some(span),
            _ => None,
        });
        sources.chain(&self.looks)
    }

    /// Bytes it writes.
    pub fn writes(&self) -> impl Iterator<Item = &Span> {
        self.moves.iter().map(|one| &one.dst)
    }
}
