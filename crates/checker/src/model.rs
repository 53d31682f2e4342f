//! What happened before what. The model is told of calls, in their order, and *runs* the streams itself: each task is judged in
//! its stream's order, with the clock of everything that is ordered before it, however fast the real one was.
//!
//! # A stream of the model
//! | state | what ends it |
//! | --- | --- |
//! | free: tasks are judged as they are added | a task that holds it up |
//! | held up until another stream is past a mark (a wait for an event) | the model gets that stream there |
//! | held up until a task is really done (a function of the program, a notify or value that is waited for) | the engine says so; the clocks of those who recorded the notify, wrote the word, or acted before the function returned are joined |
//!
//! Tasks behind it are kept until then. A host that was ordered after a mark forces the model to get there.
//!
//! # Order between host threads
//! A call that has returned is ordered before every call that begins later, on whatever thread ([`Model::shared`]). Every hand-off
//! between threads (thread creation and join, mutex, condition variable, semaphore, and also atomics, which no interposer
//! sees) that a program uses to order two calls implies just that, so no correct program is accused, and nothing need be preloaded.
//!
//! # Memory
//! Bounded: see [`crate::shadow`] for blocks, [`HISTORY`] for clocks, [`DEAD`] for handles that ended.
//!
//! What host code itself does to memory is seen by page protection and checksums: [`pending`].

pub mod gone;
pub mod holds;
pub mod names;
pub mod objects;
pub mod parts;
pub mod pending;
pub mod streams;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use toprope_engine::memory::{Block, Owner};
use toprope_engine::queue::Mark;
use toprope_runtime::Api;
use toprope_runtime::observer::{Enqueued, Range};
use toprope_runtime::profile::{Form, Profile, Request};

use crate::blocks::Blocks;
use crate::clock::{self, Clock, Epoch};
use crate::finding::Finding;
use crate::here::{self, Actor, Here};
use crate::judge;
use crate::rule;
use crate::shadow::{Access, Conflict, Shadow};
use crate::site::Site;
use holds::Holds;
use names::Names;
use objects::Objects;
use parts::{Part, Parts, Rounding};
use pending::{Pendings, Writes};
use streams::{Kind, Op, Stream};

/// Clocks of a stream that are kept; a mark that is older gets the oldest of these, which lies later: nothing is accused for it.
pub const HISTORY: usize = 256;
/// Ended handles and freed blocks that are remembered.
pub const DEAD: usize = 4096;

/// Tasks that are waited for until the engine says that they are done.
pub static HELD: AtomicUsize = AtomicUsize::new(0);
/// Version of [`Model::shared`].
pub static SHARED: AtomicU64 = AtomicU64::new(0);

/// A live block.
#[derive(Debug)]
pub struct Living {
    /// The block.
    pub block: Block,
    /// Its bytes.
    pub shadow: Shadow,
    /// The call that made it.
    pub born: Call,
    /// It lived when the library was finalized.
    pub outlives: bool,
    /// The parts that it is used in, if they are looked at.
    pub parts: Parts,
    /// Writes to it, if it is host memory.
    pub writes: Writes,
}

/// A call, for reports.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The function.
    pub api: Option<Api>,
    /// Where.
    pub site: Site,
    /// Who made it.
    pub who: u32,
}

/// A host thread.
#[derive(Debug)]
pub struct Host {
    clock: Arc<Clock>,
    time: u64,
    /// Something happened at `time`.
    used: bool,
    who: u32,
    /// The thread has not ended.
    live: bool,
}

/// All that is known.
#[derive(Debug)]
pub struct Model {
    /// Live blocks by first address.
    pub blocks: Blocks,
    /// Streams by the engine's index.
    pub streams: Vec<Option<Stream>>,
    /// Index of a stream's handle.
    pub lines: HashMap<u64, usize>,
    hosts: Vec<Host>,
    vacant: Vec<usize>,
    /// What lies before a call that begins now.
    pub shared: Arc<Clock>,
    notifies: HashMap<u64, Arc<Clock>>,
    words: BTreeMap<usize, Arc<Clock>>,
    /// Handles and events.
    pub objects: Objects,
    /// Who is who.
    pub names: Names,
    /// Copies of host memory that no host is ordered after.
    pub pendings: Pendings,
    /// Calls that were held for others to come.
    pub holds: Holds,
    /// The devices' addresses of registered memory, and where they lead.
    aliases: BTreeMap<usize, u64>,
    /// Findings that are not reported yet.
    pub out: Vec<Finding>,
    /// The device is the host: all memory is one.
    pub one_memory: bool,
    /// CANN generation.
    pub generation: u8,
    /// The room that parts of a block need, if the rule `sub-division` was asked for.
    pub rounding: Option<Rounding>,
}

impl Default for Model {
    fn default() -> Model {
        let profile = Profile::resolve(&Request::from_env()).ok();
        let divides = |profile: &&Profile| profile.check_rules.contains(&rule::sub_division::RULE.id);
        Model {
            rounding: profile.as_ref().filter(divides).map(Rounding::of),
            blocks: Blocks::default(),
            streams: Vec::new(),
            lines: HashMap::new(),
            hosts: Vec::new(),
            vacant: Vec::new(),
            shared: Arc::default(),
            notifies: HashMap::new(),
            words: BTreeMap::new(),
            objects: Objects::default(),
            names: Names::default(),
            pendings: Pendings::default(),
            holds: Holds::default(),
            aliases: BTreeMap::new(),
            out: Vec::new(),
            one_memory: profile.as_ref().is_some_and(|profile| profile.form == Form::RootComplex),
            generation: profile.map_or(9, |profile| profile.generation),
        }
    }
}

/// What a call met where it touched memory.
#[derive(Default)]
struct Touched {
    /// Some of it is followed.
    known: bool,
    /// A call of another host thread that it would be in conflict with if the two overlapped in time.
    near: Option<Access>,
}

/// Who touches memory, and when.
#[derive(Clone, Copy)]
struct Toucher {
    epoch: Epoch,
    api: Api,
    site: Site,
    who: u32,
    device: Option<u16>,
}

impl Model {
    // Threads.

    /// The thread's slot; a new one at its first call.
    pub fn slot(&mut self, here: &mut Here) -> usize {
        if let Some(slot) = here.slot {
            return slot;
        }
        let who = self.names.thread();
        let slot = match self.vacant.pop() {
            Some(slot) => slot,
            None => {
                self.hosts.push(Host { clock: Arc::default(), time: 1, used: false, who, live: true });
                self.hosts.len() - 1
            }
        };
        if let Some(host) = self.hosts.get_mut(slot) {
            host.who = who;
            host.live = true;
        }
        here.slot = Some(slot);
        here::leave_at_end();
        slot
    }

    /// The thread has ended.
    pub fn leave(&mut self, slot: usize) {
        if let Some(host) = self.hosts.get_mut(slot) {
            host.live = false;
            self.objects.bound.remove(&host.who);
        }
        self.vacant.push(slot);
    }

    /// Who acts on this thread.
    pub fn actor(&mut self, here: &mut Here) -> Actor {
        match here.task {
            Some(line) => Actor::Task(line),
            None => Actor::Host(self.slot(here)),
        }
    }

    /// What lies before the actor's next step.
    pub fn clock(&self, actor: Actor) -> Arc<Clock> {
        match actor {
            Actor::Host(slot) => self.hosts.get(slot).map(|host| host.clock.clone()),
            Actor::Task(line) => self.stream(line).map(|stream| stream.now()),
        }
        .unwrap_or_default()
    }

    /// Puts a clock before the actor's next step.
    fn order(&mut self, here: &mut Here, actor: Actor, clock: &Arc<Clock>) {
        let changed = match actor {
            Actor::Host(slot) => {
                self.hosts.get_mut(slot).is_some_and(|host| clock::merge(&mut host.clock, clock))
            }
            Actor::Task(line) => self.stream_mut(line).is_some_and(|stream| stream.join_now(clock)),
        };
        here.news |= changed;
        self.settle(clock);
    }

    /// When the actor acts.
    fn epoch(&mut self, here: &mut Here, actor: Actor) -> (Epoch, u32) {
        match actor {
            Actor::Host(slot) => {
                here.news = true;
                let Some(host) = self.hosts.get_mut(slot) else { return (Epoch::host(slot, 1), 0) };
                host.used = true;
                (Epoch::host(slot, host.time), host.who)
            }
            Actor::Task(line) => match self.stream(line) {
                Some(stream) => (Epoch::task(stream.held_at()), stream.who),
                None => (Epoch::task(Mark::NONE), 0),
            },
        }
    }

    /// The actor's name.
    pub fn who(&self, actor: Actor) -> u32 {
        match actor {
            Actor::Host(slot) => self.hosts.get(slot).map_or(0, |host| host.who),
            Actor::Task(line) => self.stream(line).map_or(0, |stream| stream.who),
        }
    }

    /// Everything that the actor has done so far, as something that others can be ordered after.
    fn release(&mut self, actor: Actor) -> Arc<Clock> {
        match actor {
            Actor::Host(slot) => {
                let Some(host) = self.hosts.get_mut(slot) else { return Arc::default() };
                if host.used {
                    clock::add(&mut host.clock, Epoch::host(slot, host.time));
                    host.time += 1;
                    host.used = false;
                }
                host.clock.clone()
            }
            Actor::Task(line) => {
                let Some(stream) = self.stream(line) else { return Arc::default() };
                let (mut clock, at) = (stream.now(), stream.held_at());
                clock::add(&mut clock, Epoch::task(at));
                clock
            }
        }
    }

    /// A call begins: what has returned lies before it.
    pub fn enter(&mut self, here: &mut Here) {
        let actor = self.actor(here);
        let shared = self.shared.clone();
        self.order(here, actor, &shared);
        here.seen = SHARED.load(Ordering::Relaxed);
    }

    /// A call has returned: it lies before what begins later.
    pub fn publish(&mut self, here: &mut Here) {
        let actor = self.actor(here);
        let clock = self.release(actor);
        here.news = false;
        // What others have shared since this call began is still to be taken over.
        let seen_all = here.seen == SHARED.load(Ordering::Relaxed);
        self.share(&clock);
        if seen_all {
            here.seen = SHARED.load(Ordering::Relaxed);
        }
    }

    fn share(&mut self, clock: &Arc<Clock>) {
        if clock::merge(&mut self.shared, clock) {
            SHARED.fetch_add(1, Ordering::Relaxed);
            self.settle(clock);
        }
    }

    /// What any host thread is ordered after.
    pub fn anybody_knows(&self) -> Arc<Clock> {
        let mut all = self.shared.clone();
        for host in &self.hosts {
            clock::join(&mut all, &host.clock);
        }
        all
    }

    /// The calling thread is ordered after a mark.
    pub fn host_ordered(&mut self, here: &mut Here, mark: Mark) {
        let line = clock::line_of(mark);
        self.force(line, mark.position());
        let mut clock = self.clock_at(mark);
        clock::add(&mut clock, Epoch::task(mark));
        let actor = self.actor(here);
        self.order(here, actor, &clock);
    }

    /// Whether a notify was ever recorded, and lives.
    pub fn was_recorded(&self, notify: u64) -> bool {
        self.notifies.contains_key(&notify)
    }

    // Memory.

    /// The live block around an address.
    pub fn around(&self, addr: usize) -> Option<&Living> {
        self.blocks.at(self.blocks.find(addr)?)
    }

    /// A block came to be.
    pub fn allocated(&mut self, here: &mut Here, block: &Block) {
        let born = self.call(here);
        if block.owner == Owner::Alias {
            self.aliases.insert(block.base, block.tag);
        }
        let never_written = matches!(block.owner, Owner::Device(_)) && !self.one_memory;
        let shadow = Shadow::new(block.usable, !never_written);
        let (parts, writes) = (Parts::default(), Writes::default());
        self.blocks.insert(Living { block: *block, shadow, born, outlives: false, parts, writes });
        self.objects.reborn(block.base);
    }

    /// The call that runs now.
    pub fn call(&mut self, here: &mut Here) -> Call {
        let actor = self.actor(here);
        let (api, site) = here.call();
        Call { api, site, who: self.who(actor) }
    }

    /// A block is gone.
    pub fn freed(&mut self, here: &mut Here, block: &Block) {
        self.settle_block(block);
        // The address may have been handed out again before this was told: then that block is the one that is known.
        let same = self.blocks.find(block.base).and_then(|place| self.blocks.at(place));
        if same.is_none_or(|living| living.block.serial != block.serial) {
            return;
        }
        self.aliases.remove(&block.base);
        let Some(living) = self.blocks.remove(block.base) else { return };
        let call = self.call(here);
        self.objects.freed(&living.block, call);
        let actor = self.actor(here);
        let mut clock = self.clock(actor);
        if let Actor::Task(line) = actor
            && let Some(stream) = self.stream(line)
        {
            let at = stream.held_at();
            clock::add(&mut clock, Epoch::task(at));
        }
        let open = living.shadow.open(&clock).into_iter().find(|conflict| !conflict.earlier.epoch.is_host());
        let found = open.or_else(|| self.kept_use(&living.block));
        if let Some(conflict) = found {
            let finding = rule::free_in_use::finding(self, &living, &call, &conflict);
            self.out.push(finding);
        }
    }

    /// A task that is kept behind one that holds its stream up, and touches a block.
    fn kept_use(&self, block: &Block) -> Option<Conflict> {
        self.streams.iter().flatten().find_map(|stream| {
            stream.kept_tasks().find_map(|op| {
                let piece = |ranges: &[Range]| {
                    ranges
                        .iter()
                        .find(|range| range.start >= block.base && range.start < block.base + block.usable)
                        .copied()
                };
                let (range, wrote) =
                    piece(&op.writes).map(|r| (r, true)).or_else(|| piece(&op.reads).map(|r| (r, false)))?;
                (block.serial == op.serial(range.start)?).then(|| Conflict {
                    earlier: Access {
                        epoch: Epoch::task(op.mark),
                        api: op.api as u16,
                        site: op.site,
                        who: stream.who,
                    },
                    wrote,
                    at: range.start - block.base,
                    len: range.len,
                })
            })
        })
    }

    /// Memory was read and written by the call itself.
    pub fn accessed(&mut self, here: &mut Here, api: Api, reads: &[Range], writes: &[Range]) {
        let actor = self.actor(here);
        let clock = self.clock(actor);
        let (epoch, who) = self.epoch(here, actor);
        let (_, site) = here.call();
        let toucher = Toucher { epoch, api, site, who, device: here.device };
        judge::copies::done_now(self, &toucher.call(), reads, writes);
        self.uses_gone(here, &toucher.call(), reads, writes);
        self.wrote(writes);
        let touched = self.touch(&toucher, &clock, reads, writes);
        if let Actor::Host(_) = actor {
            here.hold |= self.worth_holding(here, site, &touched);
        }
        if !self.words.is_empty() {
            let clock = self.release(actor);
            self.ring(&clock, writes);
        }
    }

    /// Writes to words that streams wait for.
    fn ring(&mut self, clock: &Arc<Clock>, writes: &[Range]) {
        for range in writes {
            for (_, word) in self.words.range_mut(range.start..range.start.saturating_add(range.len)) {
                clock::join(word, clock);
            }
        }
    }

    /// Looks at what is read and written, and notes it.
    fn touch(&mut self, toucher: &Toucher, clock: &Clock, reads: &[Range], writes: &[Range]) -> Touched {
        let mut touched = Touched::default();
        judge::copies::both(self, &toucher.call(), toucher.device, reads, writes);
        let mut conflicts = Vec::new();
        for (ranges, writing) in [(reads, false), (writes, true)] {
            for range in ranges {
                let access = Access {
                    epoch: toucher.epoch,
                    api: toucher.api as u16,
                    site: toucher.site,
                    who: toucher.who,
                };
                let place = self.blocks.find(range.start);
                let Some(living) = place.and_then(|place| self.blocks.at_mut(place)) else { continue };
                let base = living.block.base;
                let start = range.start - base;
                let end = start.saturating_add(range.len).min(living.block.usable);
                if start >= end {
                    continue;
                }
                let near = if writing {
                    living.shadow.write(start..end, access, clock, &mut conflicts)
                } else {
                    living.shadow.read(start..end, access, clock, &mut conflicts)
                };
                if let Some(rounding) = &self.rounding
                    && ranges.len() == 1
                {
                    let part = Part { start, len: end - start, access, wrote: writing };
                    let crowded = living.parts.add(&living.block, rounding, part);
                    let found = crowded.map(|crowded| {
                        rule::sub_division::finding(&self.names, &living.block, &living.born, &crowded)
                    });
                    self.out.extend(found);
                }
                touched.known = true;
                touched.near = touched.near.or(near);
                for conflict in conflicts.drain(..) {
                    if conflict.earlier.epoch.is_host() && access.epoch.is_host() {
                        self.holds.found(conflict.earlier.site, access.site);
                    }
                    let both = (conflict.at.max(start), (conflict.at + conflict.len).min(end));
                    let found = judge::race::Race {
                        earlier: conflict.earlier,
                        earlier_wrote: conflict.wrote,
                        later: access,
                        later_wrote: writing,
                        start: base + both.0,
                        len: both.1.saturating_sub(both.0),
                        base,
                    };
                    self.out.push(judge::race::finding(
                        &self.streams,
                        &self.names,
                        &living.block,
                        &living.born,
                        &found,
                    ));
                }
            }
        }
        touched
    }

    /// A task is added.
    pub fn enqueue(&mut self, here: &mut Here, task: &Enqueued<'_>, push: &mut dyn FnMut() -> Mark) {
        let kind = Kind::of(task, here);
        let known = self.lines.get(&task.stream).copied();
        // Before the task can be done.
        let holds = kind.holds_up() && known.and_then(|line| self.stream(line)).is_some_and(|s| !s.home.kept);
        if holds {
            HELD.fetch_add(1, Ordering::Relaxed);
        }
        let mark = push();
        let Some(line) = known else { return };
        if writes_unseen(task.api) {
            self.blocks.iter_mut().for_each(|living| living.shadow.assume_written());
        }
        let actor = self.actor(here);
        let (_, site) = here.call();
        if let Some(who) = self.stream(line).map(|stream| stream.who) {
            let call = Call { api: Some(task.api), site, who };
            self.uses_gone(here, &call, task.reads, task.writes);
        }
        let issue = self.release(actor);
        let Some(stream) = self.stream_mut(line) else { return };
        stream.last = mark;
        stream.last_call = (task.api, site);
        if stream.home.kept {
            return;
        }
        if stream.is_free() && kind == Kind::Access {
            // What most tasks are.
            stream.join_at(mark.position(), &issue);
            let clock = stream.now();
            let (who, device) = (stream.who, Some(stream.home.device));
            let toucher = Toucher { epoch: Epoch::task(mark), api: task.api, site, who, device };
            judge::copies::queued(self, &toucher.call(), task.reads, task.writes);
            self.touch(&toucher, &clock, task.reads, task.writes);
            self.pend(line, mark, &toucher.call(), task.reads, task.writes);
            if !self.words.is_empty() {
                self.ring(&clock, task.writes);
            }
            return;
        }
        self.wrote(task.writes);
        let serials = task.reads.iter().chain(task.writes);
        let serials = serials.map(|range| (range.start, self.around(range.start).map(|l| l.block.serial)));
        let serials = serials.collect();
        let (reads, writes) = (task.reads.to_vec(), task.writes.to_vec());
        let op = Op { kind, api: task.api, site, mark, issue, reads, writes, serials };
        self.add(line, op);
    }

    /// Runs a task that memory is touched by.
    fn access(&mut self, line: usize, op: &Op) {
        let Some(stream) = self.stream(line) else { return };
        let clock = stream.now();
        let (who, device) = (stream.who, Some(stream.home.device));
        let toucher = Toucher { epoch: Epoch::task(op.mark), api: op.api, site: op.site, who, device };
        // A block that was freed meanwhile was reported then; who lives there now is not touched.
        let alive =
            |range: &&Range| op.serial(range.start) == self.around(range.start).map(|l| l.block.serial);
        let reads: Vec<Range> = op.reads.iter().filter(alive).copied().collect();
        let writes: Vec<Range> = op.writes.iter().filter(alive).copied().collect();
        judge::copies::queued(self, &toucher.call(), &reads, &writes);
        self.touch(&toucher, &clock, &reads, &writes);
        self.pend(line, op.mark, &toucher.call(), &reads, &writes);
        self.ring(&clock, &writes);
    }
}

/// Whether a task of this function may write memory that its caller does not name.
pub fn writes_unseen(api: Api) -> bool {
    let name = api.name();
    name.contains("LaunchKernel") || name.contains("KernelLaunch") || name.contains("mdlRIExecute")
}

impl Toucher {
    fn call(&self) -> Call {
        Call { api: Some(self.api), site: self.site, who: self.who }
    }
}
