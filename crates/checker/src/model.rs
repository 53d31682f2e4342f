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
//! A call that has returned is ordered before every call that begins later, on whatever thread ([`hosts`]). Every hand-off
//! between threads (thread creation and join, mutex, condition variable, semaphore, and also atomics, which no interposer
//! sees) that a program uses to order two calls implies just that, so no correct program is accused, and nothing need be preloaded.
//!
//! # Memory
//! Bounded: see [`crate::shadow`] for blocks, [`HISTORY`] for clocks, [`DEAD`] for handles that ended.
//!
//! What host code itself does to memory is seen by page protection and checksums: [`pending`].

pub mod cover;
pub mod gone;
pub mod holds;
pub mod hosts;
pub mod names;
pub mod objects;
pub mod parts;
pub mod pending;
pub mod streams;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use toprope_engine::memory::{Block, Owner};
use toprope_engine::queue::Mark;
use toprope_runtime::Api;
use toprope_runtime::observer::{Enqueued, Range};
use toprope_runtime::profile::{Check, Form, Profile, Request};

use crate::blocks::Blocks;
use crate::clock::{self, Clock, Epoch};
use crate::finding::Finding;
use crate::here::{Actor, Here};
use crate::judge;
use crate::news::{AT_ONCE, HELD};
use crate::rule;
use crate::shadow::{Access, Conflict, Shadow};
use crate::site::Site;
use crate::traits;
use holds::Holds;
use hosts::Host;
use names::Names;
use objects::{Numbers, Objects};
use parts::{Part, Parts, Rounding};
use pending::{Pendings, Writes};
use streams::{Kind, Op, Stream};

/// Clocks of a stream that are kept; a mark that is older gets the oldest of these, which lies later: nothing is accused for it.
pub const HISTORY: usize = 256;
/// Ended handles and freed blocks that are remembered.
pub const DEAD: usize = 4096;

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

/// All that is known.
#[derive(Debug)]
pub struct Model {
    /// Live blocks by first address.
    pub blocks: Blocks,
    /// Streams by the engine's index.
    pub streams: Vec<Option<Stream>>,
    /// Index of a stream's handle.
    pub lines: Numbers<usize>,
    hosts: Vec<Host>,
    vacant: Vec<usize>,
    /// What lies before a call that begins now, but for what is to be gathered.
    shared: Arc<Clock>,
    /// [`crate::news::version`] when that was done.
    gathered: u64,
    /// At least so many streams wait for another one.
    parked: usize,
    notifies: Numbers<Arc<Clock>>,
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
    /// Every copy is watched thoroughly ([`cover`]).
    strict: bool,
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
            lines: Numbers::default(),
            hosts: Vec::new(),
            vacant: Vec::new(),
            shared: Arc::default(),
            gathered: 0,
            parked: 0,
            notifies: Numbers::default(),
            words: BTreeMap::new(),
            objects: Objects::default(),
            names: Names::default(),
            pendings: Pendings::default(),
            holds: Holds::default(),
            aliases: BTreeMap::new(),
            out: Vec::new(),
            one_memory: profile.as_ref().is_some_and(|profile| profile.form == Form::RootComplex),
            strict: profile.as_ref().is_some_and(|profile| profile.check == Check::Strict),
            generation: profile.map_or(9, |profile| profile.generation),
        }
    }
}

/// What a call met where it touched memory.
#[derive(Default)]
struct Touched {
    /// Some of it is followed.
    known: bool,
    /// Some of it is host memory in which copies may be followed.
    host: bool,
    /// Some of it is in no block: pageable memory.
    strange: bool,
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
        // In this order: the thread's clock gets what it did before, and is copied if anybody else holds it then.
        let (epoch, who) = self.epoch(here, actor);
        let clock = self.clock(actor);
        let (_, site) = here.call();
        let toucher = Toucher { epoch, api, site, who, device: here.device };
        judge::copies::done_now(self, &toucher.call(), reads, writes);
        self.uses_gone(here, &toucher.call(), reads, writes);
        let touched = self.touch(&toucher, &clock, reads, writes);
        if touched.host {
            self.wrote(writes);
        }
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
                let Some(living) = place.and_then(|place| self.blocks.at_mut(place)) else {
                    touched.strange = true;
                    continue;
                };
                touched.host |= pending::is_host(living.block.owner);
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
        let runs = known.and_then(|line| self.stream(line)).is_some_and(|stream| !stream.home.kept);
        // Before the task can be done.
        HELD.fetch_add(usize::from(runs && kind.holds_up()), Ordering::Relaxed);
        let mut counted = runs && !matches!(kind, Kind::Access | Kind::HostFunc);
        AT_ONCE.fetch_add(usize::from(counted), Ordering::Release);
        let mark = push();
        let Some(line) = known else { return };
        if traits::is(task.api, traits::UNSEEN) {
            self.blocks.iter_mut().for_each(|living| living.shadow.assume_written());
        }
        let actor = self.actor(here);
        let (_, site) = here.call();
        if !here.gone.is_empty()
            && let Some(who) = self.stream(line).map(|stream| stream.who)
        {
            let call = Call { api: Some(task.api), site, who };
            self.uses_gone(here, &call, task.reads, task.writes);
        }
        let Some(stream) = self.stream_mut(line) else { return };
        stream.last = mark;
        stream.last_call = (task.api, site);
        if stream.home.kept {
            return;
        }
        if stream.is_free() && kind == Kind::Access {
            // What most tasks are.
            self.issue_now(actor, line, mark.position());
            self.access(line, mark, task.api, site, task.reads, task.writes);
            return;
        }
        let issue = self.issue(actor, line);
        self.wrote(task.writes);
        let mut serials = Vec::new();
        for range in task.reads.iter().chain(task.writes) {
            let living = self.around(range.start);
            if !counted && living.is_some_and(|l| pending::is_host(l.block.owner)) {
                counted = true;
                AT_ONCE.fetch_add(1, Ordering::Release);
            }
            serials.push((range.start, living.map(|l| l.block.serial)));
        }
        let (reads, writes) = (task.reads.to_vec(), task.writes.to_vec());
        let op = Op { kind, api: task.api, site, mark, issue, reads, writes, serials, counted };
        self.add(line, op);
    }

    /// Runs a task that was kept.
    fn kept(&mut self, line: usize, op: &Op) {
        // A block that was freed meanwhile was reported then; who lives there now is not touched.
        let mut serials = op.serials.iter().map(|(_, serial)| *serial);
        let mut alive = |range: &&Range| {
            serials.next().flatten() == self.around(range.start).map(|living| living.block.serial)
        };
        let reads: Vec<Range> = op.reads.iter().filter(&mut alive).copied().collect();
        let writes: Vec<Range> = op.writes.iter().filter(&mut alive).copied().collect();
        self.access(line, op.mark, op.api, op.site, &reads, &writes);
    }

    /// Runs a task that memory is touched by.
    fn access(&mut self, line: usize, mark: Mark, api: Api, site: Site, reads: &[Range], writes: &[Range]) {
        let Some(stream) = self.stream(line) else { return };
        let clock = stream.now();
        let (who, device) = (stream.who, Some(stream.home.device));
        let toucher = Toucher { epoch: Epoch::task(mark), api, site, who, device };
        judge::copies::queued(self, &toucher.call(), reads, writes);
        let touched = self.touch(&toucher, &clock, reads, writes);
        if touched.host || touched.strange {
            self.pend(line, mark, &toucher.call(), reads, writes);
        }
        if !self.words.is_empty() {
            self.ring(&clock, writes);
        }
    }
}

impl Toucher {
    fn call(&self) -> Call {
        Call { api: Some(self.api), site: self.site, who: self.who }
    }
}
