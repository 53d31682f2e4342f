//! The same in words.

use toprope_engine::queue::{Mark, Stand};
use toprope_runtime::Api;

use super::{End, Node, Scene, Wait};
use crate::clock::line_of;
use crate::finding::Finding;
use crate::model::streams::Kind;
use crate::site::Site;

/// Tasks of others that a report shows for one chain.
const ENDERS: usize = 3;

fn call(api: Option<Api>) -> &'static str {
    api.map_or("a call", |api| api.name())
}

impl Scene<'_> {
    fn stream(&self, line: usize) -> String {
        match self.model.stream(line) {
            Some(stream) => self.model.names.of(stream.who),
            None => "a stream".to_owned(),
        }
    }

    fn thread(&self, name: u64) -> String {
        match self.model.names.known(name) {
            Some(id) => format!("thread {id}"),
            None => format!("the thread {name:#x} (pthread_self)"),
        }
    }

    /// What a thread does.
    pub fn wait(&self, wait: &Wait) -> String {
        let (thread, api) = (wait.thread, call(wait.api));
        match wait.mark {
            Some(mark) => {
                format!("thread {thread} waits in {api} for task {}", self.task(mark))
            }
            None => format!("thread {thread} waits in {api} for a callback"),
        }
    }

    fn task(&self, mark: Mark) -> String {
        format!("{} of {}", mark.position(), self.stream(line_of(mark)))
    }

    /// What a stream does, and the call that made it do so.
    pub fn stands(&self, line: usize) -> (String, Site) {
        let name = self.stream(line);
        let Some(standing) = self.standing(line) else { return (name, Site::NONE) };
        if let Stand::Stream(mark) = standing.stand {
            let known = self.model.stream(line).into_iter().flat_map(|stream| stream.waits.iter().rev());
            let site = known.clone().find(|wait| wait.mark == mark).map_or(Site::NONE, |wait| wait.site);
            return (format!("{name} waits for an event that holds task {}", self.task(mark)), site);
        }
        if self.keeps(line) {
            return (format!("{name} keeps its tasks (PERSISTENT)"), Site::NONE);
        }
        let Some(op) = self.head(line) else { return (format!("{name} waits"), Site::NONE) };
        let api = op.api.name();
        let what = match op.kind {
            Kind::Await(notify) => format!("{name} waits for notify {notify:#x} ({api})"),
            Kind::AwaitWord(word) => format!("{name} waits for a value at {word:#x} ({api})"),
            Kind::Callback => format!("{name} waits for its callback to return ({api})"),
            Kind::HostFunc => format!("{name} waits for its function to return ({api})"),
            _ => format!("{name} waits in a task of {api}"),
        };
        (what, op.site)
    }

    /// Why a chain does not go on.
    pub fn why(&self, nodes: &[Node], end: End) -> String {
        let last = nodes.iter().rev().find_map(|node| match node {
            Node::Stream(line) => Some(*line),
            Node::Thread(_) => None,
        });
        let name = last.map_or_else(String::new, |line| self.stream(line));
        let open = self.enders(end);
        let stuck = !open.is_empty();
        match end {
            End::Notify(notify) => {
                let gone = self.model.objects.ended.get(notify).is_some();
                let why = match (stuck, gone) {
                    (true, _) => "whose records stand behind waits themselves",
                    (false, true) => "which was destroyed and not recorded",
                    (false, false) if self.model.was_recorded(notify) => {
                        "which nobody has recorded since it was waited for last"
                    }
                    (false, false) => "which nobody has recorded",
                };
                format!("{name} waits for notify {notify:#x}, {why}")
            }
            End::Word(word) => {
                let why =
                    if stuck { "what writes it stands behind waits itself" } else { "which nothing writes" };
                format!("{name} waits for a value at {word:#x}, {why}")
            }
            End::Callback(thread) => {
                let thread = self.thread(thread);
                format!(
                    "{name} waits for a callback that only {thread} processes, which waits for none: it has ended, is still in another \
                     callback, or does something else"
                )
            }
            End::Kept => format!("{name} keeps its tasks (PERSISTENT), they do not run by themselves"),
            End::Cycle => self.cycle(nodes),
            End::Reports => "no callback is due for it".to_owned(),
            End::Moves | End::Unknown => format!("{name} waits"),
        }
    }

    /// What closes the circle: the last stream waits for a thread, or a thread for a stream, in front of it.
    fn cycle(&self, nodes: &[Node]) -> String {
        let held = nodes.iter().find_map(|node| match node {
            Node::Stream(line) => {
                let kind = self.head(*line)?.kind;
                matches!(kind, Kind::Callback | Kind::HostFunc).then_some((*line, kind))
            }
            Node::Thread(_) => None,
        });
        match held {
            Some((line, Kind::Callback)) => format!(
                "{} waits for a callback that only a thread processes which itself waits for that",
                self.stream(line)
            ),
            Some((line, _)) => {
                format!("{} waits for a function that itself waits for that", self.stream(line))
            }
            None => "it waits for itself".to_owned(),
        }
    }

    /// Adds what a node does to a finding.
    pub fn add(&self, finding: Finding, node: Node) -> Finding {
        match node {
            Node::Thread(index) => match self.waits.get(index) {
                Some(wait) => finding.side(self.wait(wait), wait.site),
                None => finding,
            },
            Node::Stream(line) => {
                let (what, site) = self.stands(line);
                finding.side(what, site)
            }
        }
    }

    /// Adds the tasks that would end a chain.
    pub fn add_enders(&self, mut finding: Finding, end: End) -> Finding {
        for (line, op) in self.enders(end).into_iter().take(ENDERS) {
            let what =
                format!("{} would end that, but stands behind in {}", op.api.name(), self.stream(line));
            finding = finding.side(what, op.site);
        }
        finding
    }
}
