//! The reference: what exists, who is bound to what, what comes before what. Plain data; [`crate::judge`] says what a call
//! must answer, [`crate::commit`] what it changes.

use crate::call::{Call, Handle, Step, Symbol, What};
use crate::clock::{Clock, Epoch};
use crate::memory::{Buffer, Kind};

/// Host threads of a sequence.
pub const THREADS: usize = 3;
/// Devices of the process.
pub const DEVICES: usize = 2;

/// What a host thread is bound to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Binding {
    /// Context that was made current, live or not.
    pub explicit: Option<usize>,
    /// Device that was set.
    pub device: Option<usize>,
}

/// A device.
#[derive(Debug, Default)]
pub struct Device {
    /// aclrtSetDevice less aclrtResetDevice.
    pub sets: u32,
    /// Its default context, while it is set.
    pub primary: Option<usize>,
    /// Devices whose memory it may reach.
    pub peers: [bool; DEVICES],
}

/// A context.
#[derive(Debug)]
pub struct Context {
    /// Its handle, if the sequence has seen it.
    pub raw: u64,
    /// Its device.
    pub device: usize,
    /// Made by aclrtSetDevice.
    pub primary: bool,
    /// Not destroyed.
    pub alive: bool,
    /// Index of its default stream.
    pub default_stream: usize,
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// Its handle; 0 until the sequence has seen that of a default stream.
    pub raw: u64,
    /// Its context.
    pub context: usize,
    /// Its device.
    pub device: usize,
    /// 0 to 7.
    pub priority: u32,
    /// The default one of its context.
    pub default: bool,
    /// Not destroyed.
    pub alive: bool,
    /// aclrtStreamAbort was called.
    pub aborted: bool,
    /// Number of its tasks.
    pub position: u32,
    /// What comes before its next task.
    pub clock: Clock,
}

/// Which call made an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// aclrtCreateEvent
    Plain,
    /// aclrtCreateEventWithFlag
    Flagged,
    /// aclrtCreateEventExWithFlag
    Extended,
}

/// An event.
#[derive(Debug)]
pub struct Event {
    /// Its handle.
    pub raw: u64,
    /// Which call made it.
    pub form: Form,
    /// `ACL_EVENT_…`
    pub flags: u32,
    /// Its device.
    pub device: usize,
    /// Not destroyed.
    pub alive: bool,
    /// What its last record holds.
    pub record: Option<Clock>,
    /// aclrtResetEvent was called since.
    pub reset: bool,
    /// Its record may have been dropped with its stream.
    pub lost: bool,
}

/// A host function that was launched.
#[derive(Debug)]
pub struct Launched {
    /// Its task.
    pub epoch: Epoch,
    /// What comes before it.
    pub clock: Clock,
    /// What an observer must see; None where nobody can say.
    pub expect: Option<Vec<Option<u8>>>,
    /// It may have been dropped with its stream.
    pub maybe: bool,
    /// Which of all host functions it was to run, from 1; 0 before.
    pub ran: usize,
    /// For a gate, what holds it.
    pub gate: Gate,
}

/// State of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The function is no gate, or it was released.
    Open,
    /// Its stream stands still at it.
    Held,
    /// Its stream was aborted: nobody knows whether the function runs.
    Uncertain,
}

/// What comes before a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Before {
    /// It may be made now.
    Nothing,
    /// This call.
    First(Call),
    /// It is left out: the model cannot say what it does, or nothing can order it.
    Never,
}

/// Everything.
#[derive(Debug, Default)]
pub struct Model {
    /// There are device variables.
    pub symbols: bool,
    /// Few bad arguments are chosen, so that long chains of good calls come about.
    pub calm: bool,
    /// aclInit calls that count.
    pub inits: u64,
    /// aclFinalize had its success since the last aclInit.
    pub finalized: bool,
    /// By thread.
    pub bindings: [Binding; THREADS],
    /// By id.
    pub devices: [Device; DEVICES],
    /// All contexts there ever were; likewise below.
    pub contexts: Vec<Context>,
    /// Streams.
    pub streams: Vec<Stream>,
    /// Events.
    pub events: Vec<Event>,
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// Host functions.
    pub launched: Vec<Launched>,
    /// What the host has seen the end of.
    pub host: Clock,
}

impl Model {
    /// The current context of a thread: *#03, aclrtSetDevice#08, aclrtDestroyContext#07.
    pub fn current(&self, thread: usize) -> Option<usize> {
        let binding = self.bindings[thread];
        let context = match binding.explicit {
            Some(context) => Some(context),
            None => binding.device.and_then(|device| self.devices[device].primary),
        };
        context.filter(|context| self.contexts[*context].alive)
    }

    /// The stream of a handle, or the default stream of the current context.
    pub fn stream(&self, thread: usize, handle: Handle) -> Option<usize> {
        match handle.what {
            What::Null => self.current(thread).map(|context| self.contexts[context].default_stream),
            What::Stream(stream) if self.streams[stream].alive => Some(stream),
            _ => None,
        }
    }

    /// The live event of a handle.
    pub fn event(&self, handle: Handle) -> Option<usize> {
        match handle.what {
            What::Event(event) if self.events[event].alive => Some(event),
            _ => None,
        }
    }

    /// The live context of a handle.
    pub fn context(&self, handle: Handle) -> Option<usize> {
        match handle.what {
            What::Context(context) if self.contexts[context].alive => Some(context),
            _ => None,
        }
    }

    /// The copy of a device variable on a device.
    pub fn image(&self, symbol: usize, device: usize) -> Option<usize> {
        let wanted = Kind::Image { symbol, device };
        self.buffers.iter().position(|buffer| buffer.alive && buffer.kind == wanted)
    }

    /// What comes before everything that is added now to any of the streams.
    pub fn tails(&self, which: impl Fn(&Stream) -> bool) -> Clock {
        let mut clock = Clock::default();
        self.streams
            .iter()
            .filter(|stream| stream.alive && which(stream))
            .for_each(|stream| clock.join(&stream.clock));
        clock
    }

    /// What comes before a task that is added to the stream now.
    pub fn before(&self, stream: usize) -> Clock {
        let mut clock = self.streams[stream].clock.clone();
        clock.join(&self.host);
        clock
    }

    /// Gates that keep whoever waits for the clock; `certainly`: of those, the ones that do so beyond doubt.
    pub fn gates<'a>(&'a self, clock: &'a Clock, certainly: bool) -> impl Iterator<Item = usize> + 'a {
        let holds = move |launched: &Launched| match launched.gate {
            Gate::Open => false,
            Gate::Held => clock.covers(launched.epoch),
            Gate::Uncertain => !certainly && clock.covers(launched.epoch),
        };
        (0..self.launched.len()).filter(move |index| holds(&self.launched[*index]))
    }

    /// A handle to pass for a stream.
    pub fn stream_handle(&self, stream: usize) -> Handle {
        Handle { raw: self.streams[stream].raw, what: What::Stream(stream) }
    }

    /// A handle to pass for an event.
    pub fn event_handle(&self, event: usize) -> Handle {
        Handle { raw: self.events[event].raw, what: What::Event(event) }
    }

    /// A handle to pass for a context.
    pub fn context_handle(&self, context: usize) -> Handle {
        Handle { raw: self.contexts[context].raw, what: What::Context(context) }
    }

    /// What has to be done first, so that the call neither hangs nor races with a task.
    ///
    /// `mend` decides between the ways to order two streams.
    pub fn prerequisite(&self, step: &Step, mend: u8) -> Before {
        let verdict = self.judge(step);
        if verdict.unclear {
            return Before::Never;
        }
        if let Some(symbol) = verdict.wants {
            return Before::First(Call::GetSymbolAddress(Symbol::Known(symbol)));
        }
        if let Some(gate) = self.gates(&verdict.waits, false).next()
            && !verdict.timed
        {
            return Before::First(Call::Release(gate));
        }
        // A stream whose waits are dropped no longer orders what comes after it; so it may not have any.
        if let Some(doomed) = verdict.drops {
            let waits = |first: &usize| {
                *first != doomed && self.streams[doomed].clock.get(*first) > self.host.get(*first)
            };
            if let Some(first) = (0..self.streams.len()).find(waits) {
                return self.order(step.thread, first, None, mend);
            }
        }
        let clock = match verdict.task {
            Some(stream) => self.before(stream),
            None => {
                let mut clock = verdict.waits.clone();
                clock.join(&self.host);
                clock
            }
        };
        let (read_by, before_read) =
            if verdict.snapshot { (None, &self.host) } else { (verdict.task, &clock) };
        let reads = verdict.reads().map(|span| (span, false, read_by, before_read));
        let writes = verdict.writes().chain(&verdict.holds).map(|span| (span, true, verdict.task, &clock));
        for (span, write, task, before) in reads.chain(writes) {
            let Some(access) = self.buffers[span.buffer].races(&span.range, write, before).next() else {
                continue;
            };
            return self.order(step.thread, access.epoch.stream, task, mend);
        }
        Before::Nothing
    }

    /// A call after which the tasks of stream `first` come before what is next: on stream `then`, or on the host.
    fn order(&self, thread: usize, first: usize, then: Option<usize>, mend: u8) -> Before {
        let stream = &self.streams[first];
        // What an aborted or destroyed stream still does, nobody can wait for.
        if !stream.alive || stream.aborted {
            return Before::Never;
        }
        let (first_handle, current) = (self.stream_handle(first), self.current(thread));
        let named = |handle: Handle| if handle.raw == 0 { Handle::NULL } else { handle };
        if let Some(then) = then
            && !mend.is_multiple_of(4)
            && current == Some(stream.context)
            && current == Some(self.streams[then].context)
        {
            let usable = |event: &Event| event.alive && event.device == stream.device && event.flags & 1 != 0;
            let covers =
                |event: &Event| event.record.as_ref().is_some_and(|clock| clock.includes(&stream.clock));
            let mut events = (0..self.events.len()).filter(|event| usable(&self.events[*event]));
            let recorded =
                events.clone().find(|event| covers(&self.events[*event]) && !self.events[*event].reset);
            if let Some(event) = recorded {
                let (stream, event) = (named(self.stream_handle(then)), self.event_handle(event));
                return Before::First(Call::StreamWaitEvent { stream, event });
            }
            let count = events.clone().count();
            return Before::First(match events.nth(usize::from(mend / 4) % (count + 1)) {
                Some(event) => {
                    Call::RecordEvent { event: self.event_handle(event), stream: named(first_handle) }
                }
                None => Call::CreateEventExWithFlag(1 + u32::from(mend & 4) * 2),
            });
        }
        // The handle of a default stream may not be known yet.
        if first_handle.raw == 0 {
            return match current {
                Some(current) if current == stream.context => {
                    Before::First(Call::SynchronizeStream(Handle::NULL))
                }
                Some(current) if self.contexts[current].device == stream.device => {
                    Before::First(Call::SynchronizeDevice)
                }
                _ => Before::Never,
            };
        }
        // *#03: needs no context of its own, but some context.
        if current.is_none() { Before::Never } else { Before::First(Call::SynchronizeStream(first_handle)) }
    }
}
