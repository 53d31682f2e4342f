//! Handles, events and freed memory: what lives, and where what is gone went.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::Ordering;

use toprope_engine::memory::Block;
use toprope_engine::queue::Mark;
use toprope_runtime::Api;
use toprope_runtime::handle::Kind;

use super::streams::{Kind as Task, Op, WAITS, Waited};
use super::{Call, DEAD, Model};
use crate::here::Here;
use crate::news::AT_ONCE;
use crate::rule;
use crate::site::Site;

/// A map whose keys are handles: numbers that the runtime gives out, so that nobody chooses them badly.
pub type Numbers<V> = HashMap<u64, V, BuildHasherDefault<Number>>;

/// Spreads a handle's bits: one multiplication.
#[derive(Debug, Default)]
pub struct Number(u64);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let spread = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ spread >> 32;
    }
}

/// A live handle.
#[derive(Clone, Copy, Debug)]
pub struct Alive {
    /// What it names.
    pub kind: Kind,
    /// The call that made it.
    pub born: Call,
    /// It lived when the library was finalized.
    pub outlives: bool,
}

/// What is gone, the oldest first.
#[derive(Debug)]
pub struct Gone<K, V> {
    entries: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K: Hash + Eq + Copy, V> Default for Gone<K, V> {
    fn default() -> Gone<K, V> {
        Gone { entries: HashMap::new(), order: VecDeque::new() }
    }
}

impl<K: Hash + Eq + Copy, V> Gone<K, V> {
    fn add(&mut self, key: K, value: V) {
        if self.entries.insert(key, value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > DEAD
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    /// What became of it.
    pub fn get(&self, key: K) -> Option<&V> {
        self.entries.get(&key)
    }
}

/// An event.
#[derive(Debug, Default)]
pub struct Event {
    /// The last record, and where it was made.
    pub record: Option<(Mark, Site)>,
    /// Waits for it since it was recorded or reset: their places in their streams.
    pub waits: Vec<(Mark, Site)>,
}

/// How often calls succeeded that go in pairs.
#[derive(Debug, Default)]
pub struct Pairs {
    /// aclInit, less aclFinalize; and the last aclInit.
    pub inits: (i64, Site),
    /// aclrtSetDevice, less aclrtResetDevice; and the last aclrtSetDevice.
    pub sets: (i64, Site),
    /// The last call that ended the library's use.
    pub finalized: Option<(Api, Site)>,
}

/// Everything that has a handle.
#[derive(Debug, Default)]
pub struct Objects {
    /// Live handles.
    pub alive: BTreeMap<u64, Alive>,
    /// Ended handles: the calls that made and ended them.
    pub ended: Gone<u64, (Kind, Call, Call)>,
    /// Freed blocks by first address: the calls that made and freed them.
    pub freed: Gone<usize, (usize, Call)>,
    /// Live events.
    pub events: Numbers<Event>,
    /// Calls that go in pairs.
    pub pairs: Pairs,
    /// Threads and what they are bound to: device and context.
    pub bound: BTreeMap<u32, (Option<u16>, u64)>,
}

impl Objects {
    /// A block is gone.
    pub fn freed(&mut self, block: &Block, call: Call) {
        self.freed.add(block.base, (block.size, call));
    }

    /// There is a block again at this address.
    pub fn reborn(&mut self, base: usize) {
        if self.freed.entries.remove(&base).is_some() {
            self.freed.order.retain(|other| *other != base);
        }
    }
}

impl Model {
    /// A handle came to be.
    pub fn born(&mut self, here: &mut Here, kind: Kind, handle: u64) {
        let born = self.call(here);
        self.objects.alive.insert(handle, Alive { kind, born, outlives: false });
        if kind == Kind::Event {
            self.objects.events.insert(handle, Event::default());
        }
    }

    /// A handle ended.
    pub fn died(&mut self, here: &mut Here, kind: Kind, handle: u64) {
        let call = self.call(here);
        if let Some(alive) = self.objects.alive.remove(&handle) {
            self.objects.ended.add(handle, (kind, alive.born, call));
        }
        match kind {
            Kind::Stream => self.stream_died(here, handle),
            Kind::Event => _ = self.objects.events.remove(&handle),
            Kind::Notify | Kind::CntNotify => _ = self.notifies.remove(&handle),
            _ => {}
        }
    }

    /// An event took a snapshot of a stream.
    pub fn recorded(&mut self, here: &mut Here, event: u64, mark: Mark) {
        let call = self.call(here);
        let Some(state) = self.objects.events.get_mut(&event) else { return };
        state.record = Some((mark, call.site));
        state.waits.clear();
    }

    /// A stream will wait for a snapshot.
    pub fn waits(&mut self, here: &mut Here, stream: u64, event: u64, mark: Mark, at: Mark) {
        let call = self.call(here);
        let (Some(api), site) = here.call() else { return };
        if mark == Mark::NONE {
            let finding = rule::event_never_recorded::finding(self, &call, event, stream);
            self.out.extend(finding);
            return;
        }
        let Some(line) = self.lines.get(&stream).copied() else { return };
        let recorded = match self.objects.events.get_mut(&event) {
            Some(state) => {
                state.waits.retain(|(wait, _)| wait.0 != at.0);
                state.waits.push((at, site));
                state.record.map_or(Site::NONE, |(_, site)| site)
            }
            None => Site::NONE,
        };
        let actor = self.actor(here);
        let issue = self.issue(actor, line);
        let Some(stream) = self.stream_mut(line) else { return };
        stream.last = at;
        stream.last_call = (api, site);
        if stream.home.kept {
            return;
        }
        if stream.waits.len() >= WAITS {
            stream.waits.pop_front();
        }
        stream.waits.push_back(Waited { mark, site, recorded });
        let (reads, writes, serials) = (Vec::new(), Vec::new(), Vec::new());
        AT_ONCE.fetch_add(1, Ordering::Release);
        let (kind, counted) = (Task::Wait(mark), true);
        self.add(line, Op { kind, api, site, mark: at, issue, reads, writes, serials, counted });
    }

    /// A stream resets an event.
    pub fn reset(&mut self, here: &mut Here, event: u64, stream: u64) {
        let call = self.call(here);
        let Some(line) = self.lines.get(&stream).copied() else { return };
        let actor = self.actor(here);
        let mut clock = self.release(actor);
        if let Some(stream) = self.stream(line) {
            crate::clock::join(&mut clock, &stream.now());
        }
        let Some(state) = self.objects.events.get_mut(&event) else { return };
        let open = |wait: &(Mark, Site)| {
            let epoch = crate::clock::Epoch::task(wait.0);
            epoch.line() != line && !clock.covers(epoch)
        };
        let early = state.waits.iter().copied().find(open);
        state.waits.clear();
        if let Some((wait, site)) = early {
            let waiter = self.stream(crate::clock::line_of(wait)).map_or(0, |stream| stream.who);
            let finding = rule::event_reset_early::finding(self, &call, event, line, waiter, site);
            self.out.push(finding);
        }
    }

    /// A call that goes in pairs has succeeded.
    pub fn paired(&mut self, api: Api, site: Site) {
        let pairs = &mut self.objects.pairs;
        match api {
            Api::aclInit => pairs.inits = (pairs.inits.0 + 1, site),
            Api::aclFinalize => pairs.inits.0 = 0,
            Api::aclFinalizeReference => pairs.inits.0 -= 1,
            Api::aclrtSetDevice => pairs.sets = (pairs.sets.0 + 1, site),
            Api::aclrtResetDevice => pairs.sets.0 -= 1,
            Api::aclrtResetDeviceForce => pairs.sets.0 = 0,
            _ => {}
        }
        if matches!(api, Api::aclFinalize | Api::aclFinalizeReference) && self.objects.pairs.inits.0 <= 0 {
            self.objects.pairs.finalized = Some((api, site));
            self.objects.alive.values_mut().for_each(|alive| alive.outlives = true);
            self.blocks.iter_mut().for_each(|living| living.outlives = true);
            self.settle_all();
        }
    }

    /// The calling thread works in a context.
    pub fn bound(&mut self, here: &mut Here, context: u64, device: Option<u16>) {
        here.device = device;
        here.context = context;
        let actor = self.actor(here);
        let who = self.who(actor);
        self.objects.bound.insert(who, (device, context));
    }
}
