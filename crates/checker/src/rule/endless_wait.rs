//! Threads wait, and nothing can end it any more.

use crate::finding::{Finding, Level, Rule};
use crate::site::Site;
use crate::stuck::{Node, Scene};

/// The rule.
pub static RULE: Rule = Rule {
    id: "endless-wait",
    level: Level::Error,
    title: "A wait that can never end",
    mend: "before the wait, or on a thread that does not wait, do what it needs: record the notify, write the value, call \
           aclrtProcessReport",
};

/// Streams that are shown besides those of the first chain.
const STREAMS: usize = 16;

/// Of a thread that waits for something that waits for it.
pub fn circle(scene: &Scene<'_>, from: Node) -> Finding {
    let (nodes, end) = scene.chain(from);
    let text = format!("{} for ever: {}", first(scene, from), scene.why(&nodes, end));
    nodes.iter().fold(Finding::new(&RULE, text), |finding, node| scene.add(finding, *node))
}

/// Of a process that stands still; `joins` are its threads that wait for the end of others.
pub fn still(scene: &Scene<'_>, joins: &[(i32, i32)]) -> Finding {
    let main = std::process::id() as i32;
    let mut threads: Vec<usize> = (0..scene.waits.len()).collect();
    // The main thread first, those that only serve others last.
    threads.sort_by_key(|index| {
        scene.waits.get(*index).map(|wait| (wait.mark.is_none(), wait.thread != main, wait.serial))
    });
    let from = Node::Thread(threads.first().copied().unwrap_or_default());
    let (nodes, end) = scene.chain(from);
    let why = scene.why(&nodes, end);
    let text = format!("{} for ever: {why}, and every thread of the program waits", first(scene, from));
    let mut finding = Finding::new(&RULE, text);
    let mut shown = Vec::new();
    let streams = scene.look.streams.iter().map(|standing| standing.stream.0 as usize);
    let streams = streams.filter(|line| !scene.keeps(*line)).map(Node::Stream);
    let threads = threads.into_iter().map(Node::Thread);
    for node in nodes.iter().copied().chain(threads).chain(streams.take(STREAMS)) {
        if !shown.contains(&node) {
            shown.push(node);
            finding = scene.add(finding, node);
            if Some(&node) == nodes.last() {
                finding = scene.add_enders(finding, end);
            }
        }
    }
    for (thread, other) in joins {
        finding = finding.side(format!("thread {thread} waits for the end of thread {other}"), Site::NONE);
    }
    finding
}

fn first(scene: &Scene<'_>, node: Node) -> String {
    match node {
        Node::Thread(index) => scene.waits.get(index).map(|wait| scene.wait(wait)),
        Node::Stream(line) => Some(scene.stands(line).0),
    }
    .unwrap_or_default()
}
