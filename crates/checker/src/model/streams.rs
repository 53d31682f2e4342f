//! Streams of the model, and how they get on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use toprope_engine::queue::Mark;
use toprope_runtime::Api;
use toprope_runtime::observer::{Enqueued, Home, Range};

use super::{HISTORY, Model};
use crate::clock::{self, Clock, Epoch};
use crate::here::Here;
use crate::news::{self, AT_ONCE, HELD};
use crate::site::Site;

/// What a task is to the order of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It touches memory.
    Access,
    /// It waits for a mark.
    Wait(Mark),
    /// A function of the program on a thread of the runtime.
    HostFunc,
    /// A callback on a thread of the program that the stream waits for.
    Callback,
    /// It records a notify.
    Record(u64),
    /// It waits for one.
    Await(u64),
    /// It writes a word that streams may wait for.
    WriteWord(usize),
    /// It waits for a word.
    AwaitWord(usize),
}

impl Kind {
    /// What a task of the runtime is.
    pub fn of(task: &Enqueued<'_>, here: &mut Here) -> Kind {
        let word = |ranges: &[Range]| ranges.first().map_or(0, |range| range.start);
        let about = std::mem::take(&mut here.about);
        match task.api {
            Api::aclrtLaunchHostFunc => Kind::HostFunc,
            Api::aclrtLaunchCallback if std::mem::take(&mut here.holds_up) => Kind::Callback,
            Api::aclrtRecordNotify | Api::aclrtCntNotifyRecord | Api::aclrtCntNotifyReset => {
                Kind::Record(about)
            }
            Api::aclrtWaitAndResetNotify | Api::aclrtCntNotifyWaitWithTimeout => Kind::Await(about),
            Api::aclrtValueWrite => Kind::WriteWord(word(task.writes)),
            Api::aclrtValueWait => Kind::AwaitWord(word(task.reads)),
            _ => Kind::Access,
        }
    }

    /// Whether the model waits until it is really done.
    pub fn holds_up(self) -> bool {
        matches!(self, Kind::HostFunc | Kind::Callback | Kind::Await(_) | Kind::AwaitWord(_))
    }
}

/// A task that waits for its turn in the model.
#[derive(Debug)]
pub struct Op {
    /// What it is.
    pub kind: Kind,
    /// The call that added it.
    pub api: Api,
    /// Where that was made.
    pub site: Site,
    /// Its place in the stream.
    pub mark: Mark,
    /// What lay before that call.
    pub issue: Arc<Clock>,
    /// What it reads.
    pub reads: Vec<Range>,
    /// What it writes.
    pub writes: Vec<Range>,
    /// The blocks that its ranges were in when it was added: of what it reads, then of what it writes.
    pub serials: Vec<(usize, Option<u64>)>,
    /// It is counted in [`AT_ONCE`].
    pub counted: bool,
}

impl Op {
    /// It is over.
    fn discount(&self) {
        AT_ONCE.fetch_sub(usize::from(self.counted), Ordering::Release);
    }

    /// The block that a range was in.
    pub fn serial(&self, start: usize) -> Option<u64> {
        self.serials.iter().find(|(at, _)| *at == start).and_then(|(_, serial)| *serial)
    }
}

/// A wait for an event, for reports.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// What it waited for.
    pub mark: Mark,
    /// Where the wait was added.
    pub site: Site,
    /// Where that was recorded.
    pub recorded: Site,
}

/// Waits of a stream that are remembered for reports.
pub(super) const WAITS: usize = 64;

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// Its handle.
    pub handle: u64,
    /// What it is.
    pub home: Home,
    /// Its name.
    pub who: u32,
    /// The last task that was added.
    pub last: Mark,
    /// The call that added it.
    pub last_call: (Api, Site),
    /// The last waits for events.
    pub waits: VecDeque<Waited>,
    /// From which position on which clock holds; the last one holds now.
    history: VecDeque<(u64, Arc<Clock>)>,
    /// The task that holds it up.
    held: Option<Op>,
    queue: VecDeque<Op>,
    /// What a callback did that the stream waits for.
    returned: Arc<Clock>,
    /// What lay before the last task that was kept.
    pub(super) issued: Arc<Clock>,
}

impl Stream {
    fn new(handle: u64, home: Home, who: u32) -> Stream {
        Stream {
            handle,
            home,
            who,
            last: Mark::NONE,
            last_call: (Api::aclrtCreateStream, Site::NONE),
            waits: VecDeque::new(),
            history: VecDeque::from([(0, Arc::default())]),
            held: None,
            queue: VecDeque::new(),
            returned: Arc::default(),
            issued: Arc::default(),
        }
    }

    /// Whether nothing holds it up.
    pub fn is_free(&self) -> bool {
        self.held.is_none()
    }

    /// The place of the task that holds it up.
    pub fn held_at(&self) -> Mark {
        self.held.as_ref().map_or(self.last, |op| op.mark)
    }

    /// The task that holds it up.
    pub fn holds(&self) -> Option<&Op> {
        self.held.as_ref()
    }

    /// Tasks that wait for their turn.
    pub fn kept_tasks(&self) -> impl Iterator<Item = &Op> {
        self.queue.iter()
    }

    /// What lies before its next task, but for those of its own.
    pub fn now(&self) -> Arc<Clock> {
        self.history.back().map(|(_, clock)| clock.clone()).unwrap_or_default()
    }

    /// From a position on, more lies before. `line` is its own index; what a clock has of that changes nothing for it.
    #[inline]
    pub fn join_at(&mut self, line: usize, position: u64, other: &Arc<Clock>) -> bool {
        match self.history.back() {
            Some((_, last)) if !other.within_but(last, line) => self.join_new(position, other),
            _ => false,
        }
    }

    fn join_new(&mut self, position: u64, other: &Arc<Clock>) -> bool {
        let Some((_, last)) = self.history.back() else { return false };
        let mut clock = last.clone();
        clock::join(&mut clock, other);
        if self.history.len() >= HISTORY {
            self.history.pop_front();
        }
        self.history.push_back((position, clock));
        true
    }

    /// The same, from the task on that runs now.
    pub fn join_now(&mut self, other: &Arc<Clock>) -> bool {
        let at = self.held_at();
        self.join_at(self.home.queue as usize, at.position(), other)
    }

    /// What lay before a position.
    pub(super) fn at(&self, position: u64) -> Option<&Arc<Clock>> {
        let found = self.history.iter().rev().find(|(from, _)| *from <= position);
        found.or(self.history.front()).map(|(_, clock)| clock)
    }

    /// Whether the model is past a position.
    fn past(&self, position: u64) -> bool {
        self.held.as_ref().is_none_or(|op| op.mark.position() > position)
    }
}

impl Model {
    /// A stream by the engine's index.
    pub fn stream(&self, line: usize) -> Option<&Stream> {
        self.streams.get(line)?.as_ref()
    }

    /// The same, to change.
    pub fn stream_mut(&mut self, line: usize) -> Option<&mut Stream> {
        self.streams.get_mut(line)?.as_mut()
    }

    /// A stream came to be.
    pub fn placed(&mut self, handle: u64, home: &Home) {
        let line = home.queue as usize;
        self.settle_line(line);
        if self.streams.len() <= line {
            self.streams.resize_with(line + 1, || None);
        }
        let who = self.names.stream(handle, *home);
        let place = self.streams.get_mut(line);
        let old = place.and_then(|place| place.replace(Stream::new(handle, *home, who)));
        for op in old.iter().flat_map(|old| old.held.iter().chain(&old.queue)) {
            HELD.fetch_sub(usize::from(op.kind.holds_up()), Ordering::Relaxed);
            op.discount();
        }
        self.lines.insert(handle, line);
    }

    /// A stream ended, after its work.
    pub fn stream_died(&mut self, here: &mut Here, handle: u64) {
        let Some(line) = self.lines.remove(&handle) else { return };
        let Some(stream) = self.stream(line).filter(|stream| stream.handle == handle) else { return };
        let last = stream.last;
        if !stream.home.kept {
            self.host_ordered(here, last);
        }
    }

    /// Whether a handle is that of a context's default stream.
    pub fn is_default(&self, handle: u64) -> bool {
        self.lines.get(&handle).and_then(|line| self.stream(*line)).is_some_and(|stream| stream.home.default)
    }

    /// What lies before the end of the task at a mark, but for those of its stream.
    pub fn clock_at(&self, mark: Mark) -> Arc<Clock> {
        let stream = self.stream(clock::line_of(mark));
        stream.and_then(|stream| stream.at(mark.position())).cloned().unwrap_or_default()
    }

    /// Whether a notify was ever recorded, and lives.
    pub fn was_recorded(&self, notify: u64) -> bool {
        self.notifies.contains_key(&notify)
    }

    fn reached(&self, mark: Mark) -> bool {
        self.stream(clock::line_of(mark)).is_none_or(|stream| stream.past(mark.position()))
    }

    /// Adds a task to a stream that is held up, or one that may hold it up.
    pub fn add(&mut self, line: usize, op: Op) {
        if let Some(stream) = self.stream_mut(line) {
            stream.queue.push_back(op);
        }
        self.run(line);
    }

    /// Runs a stream until something holds it up.
    fn run(&mut self, line: usize) {
        let mut moved = false;
        while let Some(stream) = self.stream_mut(line).filter(|stream| stream.is_free()) {
            let Some(op) = stream.queue.pop_front() else { break };
            stream.join_at(line, op.mark.position(), &op.issue);
            moved = true;
            if let Some(done) = self.step(line, op) {
                done.discount();
            }
        }
        if moved {
            self.wake();
        }
    }

    /// Runs a task; it comes back unless it holds the stream up.
    fn step(&mut self, line: usize, op: Op) -> Option<Op> {
        match op.kind {
            Kind::Access => {
                self.kept(line, &op);
            }
            Kind::Wait(mark) if self.reached(mark) => self.pass(line, mark, op.mark),
            Kind::Record(notify) => {
                let clock = self.after(line, op.mark);
                clock::join(self.notifies.entry(notify).or_default(), &clock);
            }
            Kind::WriteWord(addr) => {
                let clock = self.after(line, op.mark);
                clock::join(self.words.entry(addr).or_default(), &clock);
                self.word_written(line, addr, &clock);
                if let Some(living) = self.blocks.find(addr).and_then(|place| self.blocks.at_mut(place)) {
                    let base = living.block.base;
                    living.shadow.mark_written(addr - base..addr - base + size_of::<u64>());
                }
            }
            Kind::Wait(_) | Kind::HostFunc | Kind::Callback | Kind::Await(_) | Kind::AwaitWord(_) => {
                if let Kind::AwaitWord(addr) = op.kind {
                    self.words.entry(addr).or_default();
                }
                self.parked += usize::from(matches!(op.kind, Kind::Wait(_)));
                let stream = self.stream_mut(line)?;
                stream.held = Some(op);
                return None;
            }
        }
        Some(op)
    }

    /// What lies before everything after a task.
    fn after(&self, line: usize, mark: Mark) -> Arc<Clock> {
        let mut clock = self.stream(line).map(Stream::now).unwrap_or_default();
        clock::add(&mut clock, Epoch::task(mark));
        clock
    }

    /// A wait for a mark is over.
    fn pass(&mut self, line: usize, mark: Mark, at: Mark) {
        let mut clock = self.clock_at(mark);
        clock::add(&mut clock, Epoch::task(mark));
        if let Some(stream) = self.stream_mut(line) {
            stream.join_at(line, at.position(), &clock);
        }
    }

    /// What held a stream up is over.
    fn free(&mut self, line: usize) {
        let Some(stream) = self.stream_mut(line) else { return };
        let Some(op) = stream.held.take() else { return };
        if op.kind.holds_up() {
            HELD.fetch_sub(1, Ordering::Relaxed);
        }
        op.discount();
        let joined = match op.kind {
            Kind::Wait(mark) => {
                self.parked = self.parked.saturating_sub(1);
                self.pass(line, mark, op.mark);
                None
            }
            // Whatever returned before it did lies before what follows; no interposer sees what the function waited for.
            Kind::HostFunc => {
                self.gather();
                self.share_before(line, op.mark);
                Some(self.shared.clone())
            }
            Kind::Callback => {
                self.gather();
                let mut clock = self.shared.clone();
                if let Some(stream) = self.stream(line) {
                    clock::join(&mut clock, &stream.returned);
                }
                Some(clock)
            }
            Kind::Await(notify) => self.notifies.get(&notify).cloned(),
            Kind::AwaitWord(addr) => self.words.get(&addr).cloned(),
            Kind::Access | Kind::Record(_) | Kind::WriteWord(_) => None,
        };
        if let (Some(clock), Some(stream)) = (joined, self.stream_mut(line)) {
            stream.join_at(line, op.mark.position(), &clock);
        }
        self.run(line);
        self.wake();
    }

    /// Lets streams go on whose wait is over.
    fn wake(&mut self) {
        if self.parked == 0 {
            return;
        }
        let waiting = |model: &Model| {
            model.streams.iter().enumerate().find_map(|(line, stream)| {
                match stream.as_ref()?.held.as_ref()?.kind {
                    Kind::Wait(mark) if model.reached(mark) => Some(line),
                    _ => None,
                }
            })
        };
        while let Some(line) = waiting(self) {
            self.free(line);
        }
    }

    /// Gets a stream past a position, since the real one is there.
    pub fn force(&mut self, line: usize, position: u64) {
        while self.stream(line).is_some_and(|stream| !stream.past(position)) {
            self.free(line);
        }
    }

    /// Takes over how far the streams are.
    #[inline]
    pub fn collect(&mut self) {
        if news::any() {
            self.take_noted();
        }
    }

    fn take_noted(&mut self) {
        let mut noted: SmallVec<[(usize, u64, u64); 8]> = SmallVec::new();
        news::take(self.streams.len(), |line, began, ended| noted.push((line, began, ended)));
        // A function may have been told by any other that had begun when it ended: all of them first.
        self.gather();
        for (line, began, ended) in &noted {
            if let Some(mark) = self.last_function(*line, *began.max(ended)) {
                self.share_before(*line, mark);
            }
        }
        for (line, began, ended) in noted {
            self.force(line, began.saturating_sub(1));
            self.force(line, ended);
        }
    }

    /// The last function of the program among the tasks up to a position that the model has not passed.
    fn last_function(&self, line: usize, position: u64) -> Option<Mark> {
        let stream = self.stream(line)?;
        let begun = stream.held.iter().chain(&stream.queue).take_while(|op| op.mark.position() <= position);
        begun.filter(|op| op.kind == Kind::HostFunc).last().map(|op| op.mark)
    }

    /// A task has begun: whether it is a function of the program, and that is news to other threads.
    fn began(&mut self, line: usize, position: u64) -> Option<bool> {
        self.force(line, position.saturating_sub(1));
        let mark = self.function_at(line, position)?;
        Some(self.share_before(line, mark))
    }

    /// The function of the program that holds a stream up at a position.
    fn function_at(&self, line: usize, position: u64) -> Option<Mark> {
        let op = self.stream(line)?.held.as_ref()?;
        (op.kind == Kind::HostFunc && op.mark.position() == position).then_some(op.mark)
    }

    /// A function of the program may tell other threads that its stream got there, in ways that nobody sees.
    fn share_before(&mut self, line: usize, mark: Mark) -> bool {
        let Some(now) = self.stream(line).map(Stream::now) else { return false };
        let mut new = clock::merge(&mut self.shared, &now);
        if mark.position() > 0 {
            new |= clock::add(&mut self.shared, Epoch::task(Mark(mark.0 - 1)));
        }
        if new && self.pendings.any() {
            let shared = self.shared.clone();
            self.settle(&shared);
        }
        new
    }

    /// What the calling thread does is part of a task, if that is a function of the program.
    pub(super) fn begins(&mut self, here: &mut Here, line: usize, position: u64) {
        here.task = self.function_at(line, position).map(|_| line);
    }

    /// A task begins on the calling thread; for a function of the program, what it does belongs to the stream.
    pub fn started(&mut self, here: &mut Here, line: usize, position: u64) {
        if let Some(new) = self.began(line, position) {
            here.task = Some(line);
            if new {
                news::more();
            }
        }
    }

    /// A task is done.
    pub fn done(&mut self, line: usize, position: u64) {
        self.force(line, position);
    }

    /// A callback that held a stream up has returned on the calling thread.
    pub fn called_back(&mut self, here: &mut Here, after: Mark) {
        let actor = self.actor(here);
        let clock = self.release(actor);
        if let Some(stream) = self.stream_mut(clock::line_of(after)) {
            clock::join(&mut stream.returned, &clock);
        }
    }
}
