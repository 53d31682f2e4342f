//! Who waits for what: from the threads that wait in calls of the runtime, over the streams that they wait for, to what would end it.

pub mod words;

use toprope_engine::memory::Owner;
use toprope_engine::queue::{Mark, Stand, Standing, Until};
use toprope_runtime::Api;
use toprope_runtime::stand::Look;

use crate::clock::line_of;
use crate::model::Model;
use crate::model::streams::{Kind, Op};
use crate::site::Site;
use crate::traits;

/// A thread that sleeps in a call.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Tells it from all other waits.
    pub serial: u64,
    /// The system's number of the thread.
    pub thread: i32,
    /// What pthread_self answers there.
    pub name: u64,
    /// What it waits for; None: a callback.
    pub mark: Option<Mark>,
    /// What else ends it.
    pub until: Until,
    /// The engine's indexes of the streams whose functions of the program run on it.
    pub inside: Vec<usize>,
    /// The call.
    pub api: Option<Api>,
    /// Where.
    pub site: Site,
}

/// One of those that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A thread: its place among the waits.
    Thread(usize),
    /// A stream: the engine's index.
    Stream(usize),
}

/// Where a chain of waits ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At something that goes on by itself.
    Moves,
    /// At one that is in the chain already.
    Cycle,
    /// At a thread that waits for callbacks.
    Reports,
    /// At a callback that this thread would process, which does something else.
    Callback(u64),
    /// At a stream that keeps its tasks.
    Kept,
    /// At a notify.
    Notify(u64),
    /// At a word in memory.
    Word(usize),
    /// At something that is not known.
    Unknown,
}

/// What a node waits for.
enum Next {
    To(Node),
    End(End),
}

/// Whether a task would end a chain.
fn ends(end: End, op: &Op) -> bool {
    match end {
        End::Notify(notify) => op.kind == Kind::Record(notify),
        End::Word(word) => {
            op.kind == Kind::WriteWord(word)
                || op.writes.iter().any(|range| word.wrapping_sub(range.start) < range.len)
        }
        _ => false,
    }
}

/// Everything that waits, at one moment.
pub struct Scene<'a> {
    /// What was told.
    pub model: &'a Model,
    /// The threads.
    pub waits: &'a [Wait],
    /// The streams.
    pub look: &'a Look,
    /// Whether it counts that the runtime itself gives up some waits at last ([`Until::Patience`]).
    pub gives_up: bool,
}

impl Scene<'_> {
    /// How a stream stands.
    pub fn standing(&self, line: usize) -> Option<&Standing> {
        self.look.streams.iter().find(|standing| standing.stream.0 as usize == line)
    }

    /// Whether a stream's position is done.
    fn done(&self, mark: Mark) -> bool {
        self.standing(line_of(mark)).is_none_or(|standing| standing.done >= mark.position())
    }

    /// The task that a stream stands at, if the model was told of it.
    pub fn head(&self, line: usize) -> Option<&Op> {
        let next = self.standing(line)?.done + 1;
        self.model.stream(line)?.holds().filter(|op| op.mark.position() == next)
    }

    /// Whether a stream keeps its tasks.
    pub fn keeps(&self, line: usize) -> bool {
        self.model.stream(line).is_some_and(|stream| stream.home.kept)
    }

    /// Whether a mark is held up by a condition, directly or through streams that wait for each other.
    fn listens(&self, mark: Mark) -> bool {
        let mut line = line_of(mark);
        for _ in 0..self.look.streams.len() {
            match self.standing(line).map(|standing| standing.stand) {
                Some(Stand::Stream(mark)) => line = line_of(mark),
                other => return other == Some(Stand::Condition),
            }
        }
        false
    }

    fn next(&self, node: Node) -> Next {
        match node {
            Node::Thread(index) => match self.waits.get(index) {
                Some(wait) => self.after_thread(wait),
                None => Next::End(End::Moves),
            },
            Node::Stream(line) => self.after_stream(line),
        }
    }

    fn after_thread(&self, wait: &Wait) -> Next {
        let Some(mark) = wait.mark else {
            let over = wait.until == Until::Deadline || self.look.due.contains(&wait.name);
            return Next::End(if over { End::Moves } else { End::Reports });
        };
        let over = match wait.until {
            Until::Done => false,
            Until::Deadline => true,
            Until::Patience => self.gives_up && self.listens(mark),
        };
        if over || self.done(mark) { Next::End(End::Moves) } else { Next::To(Node::Stream(line_of(mark))) }
    }

    fn after_stream(&self, line: usize) -> Next {
        let Some(standing) = self.standing(line) else { return Next::End(End::Moves) };
        match standing.stand {
            Stand::Moves => Next::End(End::Moves),
            Stand::Stream(mark) => Next::To(Node::Stream(line_of(mark))),
            Stand::Runs => match self.waits.iter().position(|wait| wait.inside.contains(&line)) {
                Some(thread) => Next::To(Node::Thread(thread)),
                None => Next::End(End::Moves),
            },
            Stand::Signal(_) if self.keeps(line) => Next::End(End::Kept),
            Stand::Signal(_) => {
                let found = self.look.subscribed.iter().find(|(stream, _)| stream.0 as usize == line);
                let callback = self.head(line).is_some_and(|op| op.kind == Kind::Callback);
                let Some((_, name)) = found.filter(|_| callback) else { return Next::End(End::Unknown) };
                match self.waits.iter().position(|wait| wait.name == *name && wait.mark.is_some()) {
                    Some(thread) => Next::To(Node::Thread(thread)),
                    // One that waits for callbacks has just taken it, or just been given it.
                    None if self.waits.iter().any(|wait| wait.name == *name) => Next::End(End::Moves),
                    None => Next::End(End::Callback(*name)),
                }
            }
            Stand::Condition => Next::End(match self.head(line).map(|op| op.kind) {
                Some(Kind::Await(notify)) => End::Notify(notify),
                Some(Kind::AwaitWord(word)) => End::Word(word),
                _ => End::Unknown,
            }),
        }
    }

    /// The chain that begins at a node, and its end.
    pub fn chain(&self, from: Node) -> (Vec<Node>, End) {
        let mut nodes = vec![from];
        let mut last = from;
        loop {
            match self.next(last) {
                Next::End(end) => return (nodes, end),
                Next::To(node) if nodes.contains(&node) => return (nodes, End::Cycle),
                Next::To(node) => {
                    nodes.push(node);
                    last = node;
                }
            }
        }
    }

    /// Tasks that would end a chain, but are not done: the engine's indexes of their streams.
    pub fn enders(&self, end: End) -> Vec<(usize, &Op)> {
        self.kept().filter(|(_, op)| ends(end, op)).collect()
    }

    /// Tasks behind one that holds its stream up.
    fn kept(&self) -> impl Iterator<Item = (usize, &Op)> {
        let streams = self.model.streams.iter().enumerate();
        streams.flat_map(|(line, stream)| {
            stream.iter().flat_map(|stream| stream.kept_tasks()).map(move |op| (line, op))
        })
    }

    /// Whether a node may still go on, as far as the runtime knows.
    pub fn alive(&self, from: Node) -> bool {
        self.alive_but(from, &mut Vec::new())
    }

    fn alive_but(&self, from: Node, seen: &mut Vec<Node>) -> bool {
        let (nodes, end) = self.chain(from);
        if nodes.iter().any(|node| seen.contains(node)) {
            return false;
        }
        seen.extend(&nodes);
        match end {
            End::Moves | End::Unknown => true,
            End::Notify(_) | End::Word(_) => {
                let kernels = matches!(end, End::Word(_));
                let unseen = |op: &Op| kernels && traits::is(op.api, traits::UNSEEN);
                let mut kept = self.kept().filter(|(_, op)| ends(end, op) || unseen(op));
                self.something_moves() || kept.any(|(line, _)| self.alive_but(Node::Stream(line), seen))
            }
            End::Cycle | End::Reports | End::Callback(_) | End::Kept => false,
        }
    }

    /// Whether a stream goes on whose later tasks are not known; those behind a function of the program are.
    fn something_moves(&self) -> bool {
        self.look.streams.iter().any(|standing| {
            let line = standing.stream.0 as usize;
            let function = self.head(line).is_some_and(|op| op.kind == Kind::HostFunc);
            !function && matches!(self.after_stream(line), Next::End(End::Moves | End::Unknown))
        })
    }

    /// Whether no thread that waits and no stream can go on by itself.
    pub fn quiet(&self) -> bool {
        let moves = |next| matches!(next, Next::End(End::Moves | End::Unknown));
        let shared = |standing: &Standing| {
            let Some(Kind::AwaitWord(word)) = self.head(standing.stream.0 as usize).map(|op| op.kind) else {
                return false;
            };
            // Another process may write it.
            let own = |owner| matches!(owner, Owner::Device(_) | Owner::Image(_) | Owner::Managed);
            !self.model.around(word).is_some_and(|living| own(living.block.owner))
        };
        !self.waits.iter().any(|wait| moves(self.after_thread(wait)))
            && !self
                .look
                .streams
                .iter()
                .any(|standing| moves(self.after_stream(standing.stream.0 as usize)) || shared(standing))
    }
}
