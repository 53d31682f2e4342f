//! The thread that looks for waits that can never end. It exists from the first long wait on.
//!
//! # States
//! | from → to | who | when |
//! | --- | --- | --- |
//! | NONE → LOOKING | a thread that begins to wait | starts the watcher; NONE stays if the system refuses a thread |
//! | LOOKING → ASLEEP | the watcher | nobody waits |
//! | ASLEEP → LOOKING | a thread that begins to wait | wakes it |
//!
//! While it is LOOKING it looks each [`TICK`], and each [`LAZY`] when nothing has changed for long. Threads tell of a wait when it has
//! lasted 100 ms ([`toprope_runtime::observer::Observer::waiting`]): short waits cost nothing.
//!
//! # What it looks at, in this order
//! The waits; the threads of the process; the engine and the mailboxes; the model. Something is said when [`LOOKS`] looks in a row
//! saw the same. Then no thread that waits has woken in between, so that what the last look saw of the threads was so since the
//! first: nobody who could have changed anything was awake, and what the engine had in hand has been seen to lead nowhere.
//!
//! # Locks
//! Its own list of waits: a leaf, taken by waiting threads (one that waits for callbacks holds its mailbox) and by the watcher, which
//! then lets go of it. The engine's and the mailboxes' locks are taken one by one, with none held. Then the model, in which what streams
//! have noted is taken over and words are made; the findings after that. It calls no function of the program.
//!
//! # Shutdown
//! It is detached and dies with the process. A forked child has no watcher: threads there tell nothing, and take no lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use toprope_engine::queue::{Standing, Until};
use toprope_engine::thread;
use toprope_runtime::observer::Waiting;
use toprope_runtime::stand::{self, Look};

use crate::checker::{self, Verdict};
use crate::finding::Finding;
use crate::here;
use crate::model::Model;
use crate::rule::{endless_wait, long_wait};
use crate::site::Site;
use crate::stuck::{End, Node, Scene, Wait};
use crate::threads::{self, Joins};

/// Between two looks.
const TICK: Duration = Duration::from_millis(100);
/// The same, when nothing has changed for [`LONG`].
const LAZY: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(15);
/// Looks that must see the same.
const LOOKS: u32 = 3;
/// For so long a circle of waits must stand while threads of the program are left: they might still abort the stream, or end the
/// subscription.
const CIRCLE: Duration = Duration::from_millis(800);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    None,
    Asleep,
    Looking,
}

struct List {
    phase: Phase,
    waits: Vec<Wait>,
}

struct Watcher {
    list: Mutex<List>,
    begun: Condvar,
    serials: AtomicU64,
}

static WATCHER: Watcher = Watcher {
    list: Mutex::new(List { phase: Phase::None, waits: Vec::new() }),
    begun: Condvar::new(),
    serials: AtomicU64::new(0),
};

/// The calling thread sleeps.
pub fn waiting(what: &Waiting<'_>) {
    let (api, site) = here::with(|here| here.call()).unwrap_or((None, Site::NONE));
    // SAFETY: ask for numbers.
    let (thread, name) = unsafe { (libc::gettid(), libc::pthread_self() as u64) };
    let wait = Wait {
        serial: WATCHER.serials.fetch_add(1, Ordering::Relaxed),
        thread,
        name,
        mark: what.mark,
        until: what.until,
        inside: what.inside.iter().map(|stream| stream.0 as usize).collect(),
        api,
        site,
    };
    let mut list = WATCHER.list.lock();
    list.waits.push(wait);
    if list.phase == Phase::None && thread::detached("toprope-check".to_owned(), watch) {
        list.phase = Phase::Looking;
    }
    if list.phase == Phase::Asleep {
        list.phase = Phase::Looking;
        WATCHER.begun.notify_one();
    }
}

/// It has woken.
pub fn waited() {
    // SAFETY: asks for a number.
    let me = unsafe { libc::gettid() };
    WATCHER.list.lock().waits.retain(|wait| wait.thread != me);
}

/// What a look saw, to be compared.
#[derive(PartialEq, Eq)]
struct Seen {
    waits: Vec<u64>,
    streams: Vec<Standing>,
    joins: Option<Joins>,
}

/// Something that must stay the same for a while before it is said.
struct Stood<T> {
    seen: T,
    since: Instant,
    looks: u32,
    said: bool,
}

impl<T: PartialEq> Stood<T> {
    fn new(seen: T) -> Stood<T> {
        Stood { seen, since: Instant::now(), looks: 1, said: false }
    }

    /// Another look.
    fn see(&mut self, seen: T) {
        if self.seen == seen {
            self.looks = self.looks.saturating_add(1);
        } else {
            *self = Stood { said: self.said, ..Stood::new(seen) };
        }
    }

    /// Whether it has stood for so long; true once.
    fn due(&mut self, time: Duration) -> bool {
        let due = !self.said && self.looks >= LOOKS && self.since.elapsed() >= time;
        self.said |= due;
        due
    }
}

/// What is followed from look to look.
#[derive(Default)]
struct Followed {
    all: Option<Stood<Seen>>,
    /// The chain of each wait.
    chains: Vec<(u64, Stood<Vec<Option<Standing>>>)>,
}

fn watch() {
    let mut followed = Followed::default();
    let mut tick = TICK;
    loop {
        {
            let mut list = WATCHER.list.lock();
            if list.waits.is_empty() {
                followed = Followed::default();
                list.phase = Phase::Asleep;
                while list.phase == Phase::Asleep {
                    WATCHER.begun.wait(&mut list);
                }
            }
        }
        std::thread::sleep(tick);
        let found = followed.look();
        tick = if followed.stands_for(LONG) { LAZY } else { TICK };
        if let Some((finding, verdict)) = found {
            checker::stuck(finding, verdict);
        }
    }
}

impl Followed {
    fn stands_for(&self, time: Duration) -> bool {
        self.all.as_ref().is_some_and(|all| all.since.elapsed() >= time)
    }

    fn look(&mut self) -> Option<(Finding, Verdict)> {
        let waits = WATCHER.list.lock().waits.clone();
        let sleepers: Vec<i32> = waits.iter().map(|wait| wait.thread).collect();
        let joins = threads::accounted(&sleepers);
        let look = stand::look()?;
        let seen = Seen {
            waits: waits.iter().map(|wait| wait.serial).collect(),
            streams: look.streams.clone(),
            joins: joins.clone(),
        };
        match &mut self.all {
            Some(all) => all.see(seen),
            None => self.all = Some(Stood::new(seen)),
        }
        checker::read(|model| self.judge(model, &waits, &look, joins.as_ref()))?
    }

    fn judge(
        &mut self,
        model: &Model,
        waits: &[Wait],
        look: &Look,
        joins: Option<&Joins>,
    ) -> Option<(Finding, Verdict)> {
        let scene = Scene { model, waits, look, gives_up: false };
        if let (Some(joins), Some(all)) = (joins, &mut self.all)
            && !waits.is_empty()
            && scene.quiet()
            && all.due(Duration::ZERO)
        {
            let ends = waits.iter().any(|wait| wait.until == Until::Patience);
            let verdict = if ends { Verdict::GivenUp } else { Verdict::Certain };
            return Some((endless_wait::still(&scene, joins), verdict));
        }
        let scene = Scene { gives_up: true, ..scene };
        self.chains.retain(|(serial, _)| waits.iter().any(|wait| wait.serial == *serial));
        let mut found = None;
        for (index, wait) in waits.iter().enumerate() {
            let from = Node::Thread(index);
            let (nodes, end) = scene.chain(from);
            let stands = nodes.iter().map(|node| match node {
                Node::Stream(line) => scene.standing(*line).copied(),
                Node::Thread(_) => None,
            });
            let stands: Vec<_> = stands.collect();
            let place = self.chains.iter().position(|(serial, _)| *serial == wait.serial);
            let stood = match place.and_then(|place| self.chains.get_mut(place)) {
                Some((_, stood)) => {
                    stood.see(stands);
                    stood
                }
                None => {
                    self.chains.push((wait.serial, Stood::new(stands)));
                    continue;
                }
            };
            if found.is_some() || wait.mark.is_none() || scene.alive(from) {
                continue;
            }
            let patience = checker::patience();
            if end == End::Cycle && stood.due(CIRCLE) {
                found = Some((endless_wait::circle(&scene, from), Verdict::Certain));
            } else if end != End::Cycle && stood.due(patience) {
                found = Some((long_wait::finding(&scene, index, patience), Verdict::Perhaps));
            }
        }
        found
    }
}
