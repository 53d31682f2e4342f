//! Host threads: what lies before their next step, and what others are ordered after.
//!
//! A call that returns takes no lock for it: it raises its thread's flag ([`crate::news`]), and who wants to know ([`Model::gather`])
//! takes over what it has done in calls that have returned. A call that has begun may take over what returned a moment later.

use std::sync::Arc;

use toprope_engine::queue::Mark;

use super::Model;
use crate::clock::{self, Clock, Epoch};
use crate::here::{self, Actor, Here};
use crate::news::{self, Flag};

/// A host thread.
#[derive(Debug)]
pub struct Host {
    pub(super) clock: Arc<Clock>,
    time: u64,
    /// Something happened at `time`.
    used: bool,
    pub(super) who: u32,
    /// The thread has not ended.
    pub(super) live: bool,
    /// What has returned is in `clock`, and nobody has taken it over.
    due: bool,
    flag: &'static Flag,
}

impl Host {
    /// The thread acts in a call. What it did in calls that have returned stays apart from that.
    #[inline]
    fn act(&mut self, slot: usize) -> Epoch {
        if self.flag.take() {
            self.release(slot);
            self.due = true;
        }
        self.used = true;
        Epoch::host(slot, self.time)
    }

    /// Puts what the thread did into its clock.
    #[inline]
    fn release(&mut self, slot: usize) {
        if self.used {
            clock::add(&mut self.clock, Epoch::host(slot, self.time));
            self.time += 1;
            self.used = false;
        }
    }
}

impl Model {
    /// The thread's slot; a new one at its first call.
    pub fn slot(&mut self, here: &mut Here) -> usize {
        if let Some(slot) = here.slot {
            return slot;
        }
        let who = self.names.thread();
        let slot = match self.vacant.pop() {
            Some(slot) => slot,
            None => {
                let (clock, flag) = (Arc::default(), Flag::leak());
                let host = Host { clock, time: 1, used: false, who, live: true, due: false, flag };
                self.hosts.push(host);
                self.hosts.len() - 1
            }
        };
        if let Some(host) = self.hosts.get_mut(slot) {
            host.who = who;
            host.live = true;
            here.flag = Some(host.flag);
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
        if let Some((line, position)) = here.running.take() {
            self.begins(here, line, position);
        }
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

    /// Puts a clock before the actor's next step. Whether that is new.
    fn order(&mut self, actor: Actor, clock: &Arc<Clock>) -> bool {
        let changed = match actor {
            Actor::Host(slot) => {
                self.hosts.get_mut(slot).is_some_and(|host| clock::merge(&mut host.clock, clock))
            }
            Actor::Task(line) => self.stream_mut(line).is_some_and(|stream| stream.join_now(clock)),
        };
        self.settle(clock);
        changed
    }

    /// When the actor acts.
    pub(super) fn epoch(&mut self, here: &mut Here, actor: Actor) -> (Epoch, u32) {
        match actor {
            Actor::Host(slot) => {
                here.news = true;
                let Some(host) = self.hosts.get_mut(slot) else { return (Epoch::host(slot, 1), 0) };
                (host.act(slot), host.who)
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
    pub(super) fn release(&mut self, actor: Actor) -> Arc<Clock> {
        match actor {
            Actor::Host(slot) => {
                let Some(host) = self.hosts.get_mut(slot) else { return Arc::default() };
                host.release(slot);
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

    /// What lies before a task that the actor adds to a stream. The same as for the one before it when nothing new does.
    pub(super) fn issue(&mut self, actor: Actor, line: usize) -> Arc<Clock> {
        if let Actor::Host(slot) = actor
            && let Some(host) = self.hosts.get_mut(slot)
            && let Some(Some(stream)) = self.streams.get_mut(line)
        {
            host.release(slot);
            if !host.clock.within_but(&stream.issued, line) {
                stream.issued = host.clock.clone();
            }
            return stream.issued.clone();
        }
        self.release(actor)
    }

    /// Puts what the actor has done before the task of a free stream at a position.
    #[inline]
    pub(super) fn issue_now(&mut self, actor: Actor, line: usize, position: u64) {
        if let Actor::Host(slot) = actor
            && let Some(host) = self.hosts.get_mut(slot)
            && let Some(Some(stream)) = self.streams.get_mut(line)
        {
            host.release(slot);
            stream.join_at(line, position, &host.clock);
            return;
        }
        let clock = self.release(actor);
        if let Some(stream) = self.stream_mut(line) {
            stream.join_at(line, position, &clock);
        }
    }

    /// A call has begun: what has returned lies before it. `version` is of a moment before this model was locked.
    pub fn enter(&mut self, here: &mut Here, version: u64) {
        self.gather();
        let actor = self.actor(here);
        let shared = self.shared.clone();
        // No news: whoever comes later takes it from where it came from.
        self.order(actor, &shared);
        here.seen = version;
    }

    /// A call of a function of the program that a stream calls has returned: it lies before what begins later.
    pub fn publish(&mut self, here: &mut Here) {
        let actor = self.actor(here);
        let clock = self.release(actor);
        here.news = false;
        if self.share(&clock) {
            news::more();
        }
    }

    /// Takes over what has returned.
    pub(super) fn gather(&mut self) {
        let version = news::version();
        if self.gathered == version {
            return;
        }
        self.gathered = version;
        for slot in 0..self.hosts.len() {
            let Some(host) = self.hosts.get_mut(slot) else { continue };
            let returned = host.flag.take();
            if returned {
                host.release(slot);
            } else if !host.due {
                continue;
            }
            host.due = false;
            if clock::merge(&mut self.shared, &host.clock) && self.pendings.any() {
                let clock = host.clock.clone();
                self.settle(&clock);
            }
        }
    }

    /// Puts a clock before every call that begins from now on. Whether that is new.
    pub(super) fn share(&mut self, clock: &Arc<Clock>) -> bool {
        let new = clock::merge(&mut self.shared, clock);
        if new {
            self.settle(clock);
        }
        new
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
        let actor = self.actor(here);
        if let Actor::Host(slot) = actor
            && let Some(host) = self.hosts.get_mut(slot)
        {
            let before = self.streams.get(line).and_then(Option::as_ref);
            let before = before.and_then(|stream| stream.at(mark.position()));
            here.news |= before.is_some_and(|before| clock::merge(&mut host.clock, before));
            here.news |= clock::add(&mut host.clock, Epoch::task(mark));
            if self.pendings.any() {
                let clock = host.clock.clone();
                self.settle(&clock);
            }
            return;
        }
        let mut clock = self.clock_at(mark);
        clock::add(&mut clock, Epoch::task(mark));
        here.news |= self.order(actor, &clock);
    }
}
