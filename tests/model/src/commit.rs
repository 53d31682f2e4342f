//! What a call changes once it succeeded.

use ascendcl_sys as sys;

use crate::call::{Call, Func, Step, Symbol};
use crate::clock::{Clock, Epoch};
use crate::driver::symbol_bytes;
use crate::memory::{Access, Buffer, Kind};
use crate::model::{Binding, Context, Event, Form, Gate, Launched, Model, Stream};
use crate::verdict::{From, Value, Verdict, pattern};

/// What a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The code.
    pub code: i32,
    /// Its result: handle, address or number.
    pub value: u64,
}

impl Model {
    /// Takes in what a call did; it was compared with the verdict already.
    pub fn commit(&mut self, step: &Step, verdict: &Verdict, outcome: Outcome) {
        let Outcome { code, value } = outcome;
        // aclInit#10
        if step.call == Call::Init && (code == 0 || code == sys::ACL_ERROR_REPEAT_INITIALIZE) {
            self.inits += 1;
            self.finalized &= code != 0;
        }
        // A stream that was aborted is at rest when its synchronize tells so.
        if code == 0 || code == sys::ACL_ERROR_RT_STREAM_ABORT {
            self.host.join(&verdict.waits);
        }
        if code != 0 {
            return;
        }
        let epoch = verdict.task.filter(|_| verdict.succeeds()).map(|stream| self.advance(stream));
        if verdict.succeeds() {
            self.touch(verdict, epoch);
        }
        self.learn(&verdict.value, value);
        self.change(step, verdict, epoch, value);
        if self.buffers.iter().any(|buffer| !buffer.accesses.is_empty()) {
            let host = &self.host;
            self.buffers.iter_mut().for_each(|buffer| buffer.settle(host));
        }
    }

    /// One more task in a stream.
    fn advance(&mut self, stream: usize) -> Epoch {
        let mut clock = self.before(stream);
        let found = &mut self.streams[stream];
        found.position += 1;
        let epoch = Epoch { stream, position: found.position };
        clock.add(epoch);
        found.clock = clock;
        epoch
    }

    /// Reads and writes memory: since races are avoided, what it will hold is known as soon as the task is added.
    fn touch(&mut self, verdict: &Verdict, epoch: Option<Epoch>) {
        let moved: Vec<Vec<(u8, bool)>> = verdict.moves.iter().map(|one| self.source(one)).collect();
        for (one, bytes) in verdict.moves.iter().zip(moved) {
            let buffer = &mut self.buffers[one.dst.buffer];
            for (at, (byte, known)) in one.dst.range.clone().zip(bytes) {
                (buffer.bytes[at], buffer.known[at]) = (byte, known);
            }
            buffer.dirty = true;
        }
        let Some(epoch) = epoch else { return };
        let clock = self.streams[epoch.stream].clock.clone();
        let accesses = verdict.writes().map(|span| (span, true));
        let reads = verdict.reads().filter(|_| !verdict.snapshot).map(|span| (span, false));
        for (span, write) in accesses.chain(reads) {
            let access = Access { range: span.range.clone(), write, epoch, clock: clock.clone() };
            self.buffers[span.buffer].accesses.push(access);
        }
    }

    fn source(&self, one: &crate::verdict::Move) -> Vec<(u8, bool)> {
        let len = one.dst.range.len();
        match &one.from {
            From::Span(span) => {
                let buffer = &self.buffers[span.buffer];
                span.range.clone().map(|at| (buffer.bytes[at], buffer.known[at])).collect()
            }
            From::Byte(byte) => vec![(*byte, true); len],
            From::Word(word) => (0..len).map(|at| (word.to_le_bytes()[at % 4], true)).collect(),
            From::Pattern(seed) => (0..len).map(|at| (pattern(*seed, at), true)).collect(),
            From::Nowhere => vec![(0, false); len],
        }
    }

    fn learn(&mut self, wanted: &Value, value: u64) {
        match wanted {
            Value::DefaultStream(stream) => self.streams[*stream].raw = value,
            Value::Context(context) => self.contexts[*context].raw = value,
            Value::Done { yes, clock, .. } if value == *yes => self.host.join(clock),
            _ => {}
        }
    }

    fn change(&mut self, step: &Step, verdict: &Verdict, epoch: Option<Epoch>, value: u64) {
        let t = step.thread;
        match step.call {
            Call::Finalize => (self.inits, self.finalized) = (0, true),
            Call::FinalizeReference => {
                self.inits -= 1;
                self.finalized = self.inits == 0;
            }
            Call::SetDevice(id) => {
                let device = id as usize;
                if self.devices[device].sets == 0 {
                    // aclrtSetDevice#01
                    self.devices[device].primary = Some(self.new_context(device, true, 0));
                }
                self.devices[device].sets += 1;
                // aclrtSetDevice#08
                self.bindings[t] = Binding { explicit: None, device: Some(device) };
            }
            Call::ResetDevice(id) if self.devices[id as usize].sets > 1 => {
                self.devices[id as usize].sets -= 1
            }
            Call::ResetDevice(id) | Call::ResetDeviceForce(id) => self.take_down(t, id as usize),
            Call::CreateContext(id) => {
                // aclrtCreateContext#04
                self.bindings[t].explicit = Some(self.new_context(id as usize, false, value));
            }
            Call::DestroyContext(handle) => {
                if let Some(context) = self.context(handle) {
                    self.end_context(context);
                    // aclrtDestroyContext#07
                    if self.bindings[t].explicit == Some(context) {
                        self.bindings[t].explicit = None;
                    }
                }
            }
            Call::SetCurrentContext(handle) => self.bindings[t].explicit = self.context(handle),
            Call::CreateStream => self.new_stream(t, 0, value),
            // aclrtCreateStreamWithConfig#03, #04
            Call::CreateStreamWithConfig { priority, .. } => {
                self.new_stream(t, (priority as i32).clamp(0, 7) as u32, value);
            }
            Call::DestroyStream(handle) => {
                if let Some(stream) = self.stream(t, handle) {
                    self.streams[stream].alive = false;
                }
            }
            Call::DestroyStreamForce(handle) => {
                if let Some(stream) = self.stream(t, handle) {
                    self.drop_tasks(stream);
                    self.streams[stream].alive = false;
                }
            }
            Call::StreamAbort(handle) => {
                if let Some(stream) = self.stream(t, handle) {
                    self.drop_tasks(stream);
                    self.streams[stream].aborted = true;
                }
            }
            Call::CreateEvent => {
                self.new_event(t, Form::Plain, sys::ACL_EVENT_SYNC | sys::ACL_EVENT_TIME_LINE, value);
            }
            Call::CreateEventWithFlag(flags) => self.new_event(t, Form::Flagged, flags, value),
            Call::CreateEventExWithFlag(flags) => self.new_event(t, Form::Extended, flags, value),
            Call::DestroyEvent(handle) => {
                if let Some(event) = self.event(handle) {
                    self.events[event].alive = false;
                }
            }
            Call::RecordEvent { event, .. } => {
                // aclrtRecordEvent#07, #08
                if let (Some(event), Some(epoch)) = (self.event(event), epoch) {
                    self.events[event].record = Some(self.streams[epoch.stream].clock.clone());
                    (self.events[event].reset, self.events[event].lost) = (false, false);
                }
            }
            Call::ResetEvent { event, .. } => {
                if let Some(event) = self.event(event) {
                    self.events[event].reset = true;
                }
            }
            Call::StreamWaitEvent { event, .. } | Call::StreamWaitEventWithTimeout { event, .. } => {
                // aclrtStreamWaitEvent#02: what the event holds now.
                if let (Some(event), Some(epoch)) = (self.event(event), epoch)
                    && let Some(clock) = &self.events[event].record
                {
                    self.streams[epoch.stream].clock.join(clock);
                }
            }
            Call::Malloc { size, .. } => {
                let device = self.current(t).map_or(0, |context| self.contexts[context].device);
                self.buffers.push(Buffer::new(Kind::Device(device), value as usize, size));
            }
            Call::MallocHost { size } => self.buffers.push(Buffer::new(Kind::Pinned, value as usize, size)),
            Call::AllocManaged { size, .. } => {
                self.buffers.push(Buffer::new(Kind::Managed, value as usize, size as usize));
            }
            Call::Pageable { size } => self.buffers.push(Buffer::new(Kind::Pageable, value as usize, size)),
            Call::Free(_) | Call::FreeWithDevSync(_) | Call::FreeHost(_) => {
                if let Some(one) = verdict.moves.first() {
                    self.buffers[one.dst.buffer].alive = false;
                }
            }
            Call::HostRegisterV2 { .. } | Call::HostUnregister(_) => {
                if let Some(span) = verdict.holds.first() {
                    self.buffers[span.buffer].registered = matches!(step.call, Call::HostRegisterV2 { .. });
                }
            }
            Call::EnablePeerAccess { peer, .. } => self.set_peer(t, peer, true),
            Call::DisablePeerAccess(peer) => self.set_peer(t, peer, false),
            Call::GetSymbolAddress(Symbol::Known(symbol)) => {
                if let (Value::NewBlock(size), Some(context)) = (&verdict.value, self.current(t)) {
                    let device = self.contexts[context].device;
                    let mut image = Buffer::new(Kind::Image { symbol, device }, value as usize, *size);
                    // It starts with the bytes of the host variable.
                    image.bytes.copy_from_slice(&symbol_bytes(symbol));
                    (image.known, image.dirty) = (vec![true; *size], true);
                    self.buffers.push(image);
                }
            }
            Call::LaunchHostFunc(_, func) => self.launch(verdict, func, epoch),
            Call::Release(gate) => self.launched[gate].gate = Gate::Open,
            _ => {}
        }
    }

    fn set_peer(&mut self, thread: usize, peer: i32, on: bool) {
        if let (Some(context), Ok(peer)) = (self.current(thread), usize::try_from(peer)) {
            let device = self.contexts[context].device;
            self.devices[device].peers[peer] = on;
        }
    }

    fn launch(&mut self, verdict: &Verdict, func: Func, epoch: Option<Epoch>) {
        let Some(epoch) = epoch else { return };
        let expect = verdict.looks.first().filter(|_| matches!(func, Func::Observe { .. })).map(|span| {
            let buffer = &self.buffers[span.buffer];
            span.range.clone().map(|at| buffer.known[at].then_some(buffer.bytes[at])).collect()
        });
        let gate = if func == Func::Gate { Gate::Held } else { Gate::Open };
        let clock = self.streams[epoch.stream].clock.clone();
        self.launched.push(Launched { epoch, clock, expect, maybe: false, ran: 0, gate });
    }

    fn new_context(&mut self, device: usize, primary: bool, raw: u64) -> usize {
        let context = self.contexts.len();
        // aclrtCreateContext#06, aclrtSetDevice#01; aclrtCreateStream#07
        let default_stream = self.streams.len();
        self.streams.push(Stream {
            raw: 0,
            context,
            device,
            priority: 0,
            default: true,
            alive: true,
            aborted: false,
            position: 0,
            clock: Clock::default(),
        });
        self.contexts.push(Context { raw, device, primary, alive: true, default_stream });
        context
    }

    fn end_context(&mut self, context: usize) {
        self.contexts[context].alive = false;
        self.streams
            .iter_mut()
            .filter(|stream| stream.context == context)
            .for_each(|stream| stream.alive = false);
    }

    fn new_stream(&mut self, thread: usize, priority: u32, raw: u64) {
        let Some(context) = self.current(thread) else { return };
        let device = self.contexts[context].device;
        self.streams.push(Stream {
            raw,
            context,
            device,
            priority,
            default: false,
            alive: true,
            aborted: false,
            position: 0,
            clock: Clock::default(),
        });
    }

    fn new_event(&mut self, thread: usize, form: Form, flags: u32, raw: u64) {
        let device = self.current(thread).map_or(0, |context| self.contexts[context].device);
        self.events.push(Event {
            raw,
            form,
            flags,
            device,
            alive: true,
            record: None,
            reset: false,
            lost: false,
        });
    }

    /// aclrtResetDevice#03, aclrtResetDeviceForce#02
    fn take_down(&mut self, thread: usize, device: usize) {
        self.devices[device].sets = 0;
        // ours: what was set on the device goes with it.
        self.devices[device].peers = Default::default();
        if let Some(primary) = self.devices[device].primary.take() {
            self.end_context(primary);
        }
        let here = |buffer: &&mut Buffer| buffer.kind.device() == Some(device);
        self.buffers.iter_mut().filter(here).for_each(|buffer| buffer.alive = false);
        if self.bindings[thread].device == Some(device) {
            self.bindings[thread].device = None;
        }
    }

    /// The tasks of a stream that are not done may or may not have run: nobody knows what they, or whoever waited for them,
    /// wrote.
    fn drop_tasks(&mut self, stream: usize) {
        let seen = self.host.get(stream);
        let depends = |clock: &Clock| clock.get(stream) > seen;
        for buffer in &mut self.buffers {
            let lost: Vec<_> = buffer
                .accesses
                .iter()
                .filter(|access| access.write && depends(&access.clock))
                .map(|access| access.range.clone())
                .collect();
            lost.into_iter().for_each(|range| buffer.forget(range));
        }
        for event in &mut self.events {
            event.lost |= event.record.as_ref().is_some_and(depends);
        }
        for launched in self.launched.iter_mut().filter(|launched| depends(&launched.clock)) {
            launched.expect = None;
            if launched.epoch.stream == stream {
                launched.maybe = true;
                if launched.gate == Gate::Held {
                    launched.gate = Gate::Uncertain;
                }
            }
        }
    }
}
