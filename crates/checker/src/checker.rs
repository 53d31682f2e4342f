//! The observer: passes what it is told to the model, and what the model finds to the report.
//!
//! Locks, in order: the model, which is held while a task is added (so that the model sees tasks in their order, and no end of a task
//! that it has not seen); the findings, never together with it. What need not be told at once is left for the next one who has the
//! model's lock ([`news`]): a call takes it once or twice, and a worker seldom. Calls are held ([`holds`]) under neither. Findings are put
//! into words after the model's lock is given up.

use std::sync::atomic::Ordering;
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use parking_lot::Mutex;
use toprope_engine::memory::Block;
use toprope_engine::queue::Mark;
use toprope_runtime::handle::Kind;
use toprope_runtime::observer::{self, Enqueued, Home, Observer, Range, Waiting};
use toprope_runtime::{Api, Error};

use crate::finding::{Finding, Findings, print};
use crate::here::{self, Here};
use crate::model::{Model, holds};
use crate::news::{self, HELD};
use crate::settings::{Mode, Settings};
use crate::suppress::Suppressions;
use crate::{judge, output, rule, site, touch, watcher};

/// The status of a process that is ended because it would wait for ever.
const STUCK: i32 = 97;

/// The process's checker.
struct Checker {
    settings: Settings,
    suppressions: Suppressions,
    model: Mutex<Model>,
    findings: Mutex<Findings>,
    process: u32,
}

static CHECKER: OnceLock<Checker> = OnceLock::new();

/// Starts checking, if the environment asks for it. Called when the library is loaded.
pub fn install() {
    let settings = Settings::from_env();
    if settings.mode == Mode::Off {
        return;
    }
    let suppressions = match settings.suppress.as_deref().map(Suppressions::load) {
        None => Suppressions::default(),
        Some(Ok(suppressions)) => suppressions,
        Some(Err(line)) => {
            print(&format!("toprope: TOPROPE_SUPPRESS: {line}; nothing is suppressed\n"));
            Suppressions::default()
        }
    };
    let process = std::process::id();
    let checker =
        Checker { settings, suppressions, model: Mutex::default(), findings: Mutex::default(), process };
    if CHECKER.set(checker).is_ok() {
        observer::observe(Box::new(Ears));
        // SAFETY: registers a plain function; it runs after what the program registers later.
        unsafe { libc::atexit(at_exit) };
    }
}

extern "C" fn at_exit() {
    let Some(checker) = CHECKER.get() else { return };
    // A forked child has the parent's findings, not its own.
    if std::process::id() != checker.process {
        return;
    }
    work(judge::at_exit);
    summarise(checker);
}

fn summarise(checker: &Checker) {
    let findings = checker.findings.lock();
    print(&findings.summary(checker.settings.mode));
    write_report(checker, &findings);
}

/// What the watcher found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The program will never go on.
    Certain,
    /// On a card it would not; here the runtime gives up at last.
    GivenUp,
    /// It may.
    Perhaps,
}

/// How long a wait may last before it is told of.
pub fn patience() -> Duration {
    CHECKER.get().map_or(Duration::MAX, |checker| checker.settings.patience)
}

/// Looks at the model, on a thread that makes no calls. What streams have noted is taken over first: nobody else may ever do so.
pub fn read<R>(look: impl FnOnce(&Model) -> R) -> Option<R> {
    let checker = CHECKER.get()?;
    let (seen, out) = {
        let mut model = checker.model.lock();
        model.collect();
        (look(&model), std::mem::take(&mut model.out))
    };
    if !out.is_empty() {
        report(checker, out);
    }
    Some(seen)
}

/// The watcher's finding. Under `strict` one that is certain ends the process: nothing else ever would, and a test run must not
/// hang.
pub fn stuck(finding: Finding, verdict: Verdict) {
    let Some(checker) = CHECKER.get() else { return };
    let counts = checker.findings.lock().add(finding, &checker.settings, &checker.suppressions);
    if verdict == Verdict::Certain && counts && checker.settings.mode == Mode::Strict {
        summarise(checker);
        // Nothing of the program runs again, but for what it has printed and not yet written out. A thread that waits may hold
        // the lock of a file, so this is not waited for for long.
        let (flushed, wait) = mpsc::channel();
        let flush = move || {
            // SAFETY: null stands for all files.
            unsafe { libc::fflush(std::ptr::null_mut()) };
            let _ = flushed.send(());
        };
        if toprope_engine::thread::detached("toprope-flush".to_owned(), flush) {
            let _ = wait.recv_timeout(Duration::from_millis(500));
        }
        // SAFETY: ends the process; no handler of the program is run, which could wait as well.
        unsafe { libc::_exit(STUCK) };
    }
}

/// A thread has ended.
pub fn leave(slot: usize) {
    if let Some(checker) = CHECKER.get()
        && std::process::id() == checker.process
    {
        checker.model.lock().leave(slot);
    }
}

/// Tells the model something, and reports what it found.
fn work(tell: impl FnOnce(&mut Model, &mut Here)) {
    let Some(checker) = CHECKER.get() else { return };
    let out = here::with(|here| {
        let version = news::version();
        let mut model = checker.model.lock();
        // While the copies that were touched are still followed.
        if touch::waiting() {
            model.touches();
        }
        model.collect();
        if std::mem::take(&mut here.fresh) && (here.slot.is_none() || here.seen != version) {
            model.enter(here, version);
        }
        tell(&mut model, here);
        std::mem::take(&mut model.out)
    });
    if let Some(out) = out.filter(|out| !out.is_empty()) {
        report(checker, out);
    }
}

#[cold]
fn report(checker: &Checker, out: Vec<Finding>) {
    let mut findings = checker.findings.lock();
    let before = findings.all().len();
    for finding in out {
        findings.add(finding, &checker.settings, &checker.suppressions);
    }
    let now = findings.all().len();
    // A process may end by a signal, _exit or exec, and then writes no report at its end. Not each time when there are very many.
    if now != before && (now <= OFTEN || now.ilog2() != before.ilog2()) {
        write_report(checker, &findings);
    }
}

/// Up to so many findings the report is written anew with each.
const OFTEN: usize = 100;

fn write_report(checker: &Checker, findings: &Findings) {
    if let Some(path) = &checker.settings.report
        && let Err(line) = output::write(path, findings, checker.settings.run())
    {
        print(&format!("toprope: TOPROPE_REPORT: {line}\n"));
    }
}

/// Whether this process is a child that was forked off the one that is checked. Nothing is locked there: a thread that is not in
/// the child may have held the lock.
fn child() -> bool {
    toprope_engine::fault::forked()
}

struct Ears;

impl Observer for Ears {
    fn call(&self, api: Api) {
        let site = site::capture(api);
        here::with(|here| {
            here.calls.push((api, site));
            here.fresh = true;
        });
    }

    fn returned(&self, api: Api, error: Option<&Error>) {
        if child() {
            rule::forked_child::say(api, error);
            here::with(|here| here.calls.pop());
            return;
        }
        if let Some(error) = error {
            work(|model, here| judge::refused(model, here, api, error));
        } else if judge::paired(api) {
            work(|model, here| model.paired(api, here.call().1));
        } else if touch::waiting() {
            work(|_, _| {});
        }
        let told = here::with(|here| {
            here.about = 0;
            here.holds_up = false;
            if api != Api::aclAppLog {
                here.gone.clear();
            }
            let new = std::mem::take(&mut here.fresh) && here.slot.is_none() && here.task.is_none();
            (new, std::mem::take(&mut here.hold))
        });
        let (new, hold) = told.unwrap_or_default();
        if new {
            // A thread whose calls have nothing to tell has a name in reports, too.
            work(|model, here| _ = model.actor(here));
        }
        if hold {
            // What it touched is known, and that it has returned is not.
            std::thread::sleep(holds::HOLD);
        }
        let publishes = here::with(|here| {
            if here.news && here.task.is_some() {
                return true;
            }
            if here.news
                && let Some(flag) = here.flag
            {
                here.news = false;
                if let Some(version) = flag.raise()
                    && here.seen + 1 == version
                {
                    here.seen = version;
                }
            }
            here.calls.pop();
            false
        });
        if publishes == Some(true) {
            work(Model::publish);
            here::with(|here| here.calls.pop());
        }
    }

    fn enqueue(&self, task: &Enqueued<'_>, push: &mut dyn FnMut() -> Mark) {
        let mut told = false;
        work(|model, here| {
            told = true;
            model.enqueue(here, task, push);
        });
        if !told {
            push();
        }
    }

    fn enqueued(&self, task: &Enqueued<'_>) {
        work(|model, here| model.enqueue(here, task, &mut || task.mark));
    }

    fn abandoned(&self, range: Range, next: bool) {
        work(|model, here| model.abandoned(here, range, next));
    }

    fn about(&self, notify: u64) {
        here::with(|here| here.about = notify);
    }

    fn accessed(&self, api: Api, reads: &[Range], writes: &[Range]) {
        work(|model, here| model.accessed(here, api, reads, writes));
    }

    fn started(&self, stream: u32, position: u64) {
        if HELD.load(Ordering::Relaxed) == 0 {
            return;
        }
        let line = stream as usize;
        if !news::began(line, position) {
            work(|model, here| model.started(here, line, position));
            return;
        }
        // Inside a call the thread helps a stream that it waits for, and runs no function of the program.
        here::with(|here| {
            if here.calls.is_empty() {
                (here.running, here.task) = (Some((line, position)), None);
            }
        });
    }

    fn done(&self, stream: u32, position: u64) {
        if HELD.load(Ordering::Relaxed) == 0 {
            return;
        }
        here::with(|here| {
            if here.calls.is_empty() {
                (here.running, here.task) = (None, None);
            }
        });
        let line = stream as usize;
        if !news::ended(line, position) {
            work(|model, _| model.done(line, position));
        }
    }

    fn recorded(&self, event: u64, _stream: u64, mark: Mark) {
        work(|model, here| model.recorded(here, event, mark));
    }

    fn waits(&self, stream: u64, event: u64, mark: Mark, at: Mark) {
        work(|model, here| model.waits(here, stream, event, mark, at));
    }

    fn reset(&self, event: u64, stream: u64, _at: Mark) {
        work(|model, here| model.reset(here, event, stream));
    }

    fn holds_up(&self) {
        here::with(|here| here.holds_up = true);
    }

    fn called_back(&self, after: Mark) {
        work(|model, here| model.called_back(here, after));
    }

    fn host_ordered(&self, mark: Mark) {
        work(|model, here| model.host_ordered(here, mark));
    }

    fn waiting(&self, what: &Waiting<'_>) {
        if !child() {
            watcher::waiting(what);
        }
    }

    fn waited(&self) {
        if !child() {
            watcher::waited();
        }
    }

    fn allocated(&self, block: &Block) {
        work(|model, here| model.allocated(here, block));
    }

    fn freed(&self, block: &Block) {
        work(|model, here| model.freed(here, block));
    }

    fn born(&self, kind: Kind, handle: u64) {
        work(|model, here| model.born(here, kind, handle));
    }

    fn placed(&self, stream: u64, home: &Home) {
        work(|model, _| model.placed(stream, home));
    }

    fn stale(&self, handle: u64, wanted: Kind) {
        work(|model, here| judge::stale(model, here, handle, wanted));
    }

    fn not_freed(&self, addr: usize) {
        work(|model, here| rule::double_free::not_freed(model, here, addr));
    }

    fn died(&self, kind: Kind, handle: u64) {
        work(|model, here| model.died(here, kind, handle));
    }

    fn bound(&self, context: u64, device: Option<u16>) {
        work(|model, here| model.bound(here, context, device));
    }
}

/// Reports a finding of a forked child, whose checker may be locked for ever by a thread that it does not have: nothing is kept.
pub fn alone(finding: Finding) {
    if let Some(checker) = CHECKER.get() {
        Findings::default().add(finding, &checker.settings, &checker.suppressions);
    }
}
