//! One sequence from beginning to end: call by call against the model, bytes and host functions at every point where the
//! host has waited, and at the end nothing may be left.

use std::time::Duration;

use ascendcl_sys::errors;

use crate::call::{Call, Step};
use crate::clock::Clock;
use crate::commit::Outcome;
use crate::driver::{CHECKER, Driver, Fault, Free};
use crate::memory::Kind;
use crate::model::{Before, DEVICES, Gate, Model};
use crate::op::{self, STEP, Turn};
use crate::table::Functions;
use crate::verdict::{Value, Verdict};

/// What was different from the model.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The calls so far, the last one included.
    pub calls: Vec<String>,
    /// What was wrong.
    pub what: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, call) in self.calls.iter().enumerate() {
            writeln!(f, "{:4}  {call}", number + 1)?;
        }
        write!(f, "      {}", self.what)
    }
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls.
    pub calls: u64,
    /// Of these, calls that were refused.
    pub refused: u64,
    /// Bytes that were compared.
    pub bytes: u64,
    /// Host functions that ran.
    pub functions: u64,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.calls += other.calls;
        self.refused += other.refused;
        self.bytes += other.bytes;
        self.functions += other.functions;
    }
}

/// Prerequisites of one call at most; more would mean that the model goes in circles.
const DEPTH: usize = 64;

/// Runs the sequence that the bytes stand for.
///
/// # Errors
/// The first difference from the model.
pub fn run(functions: &'static Functions, bytes: &[u8], fault: Fault) -> Result<Stats, Failure> {
    let mut run = Run {
        model: Model::default(),
        driver: Driver::new(functions, fault),
        calls: Vec::new(),
        stats: Stats::default(),
        seen: 0,
        trace: std::env::var_os("MODEL_TRACE").is_some(),
    };
    let outcome = run.whole(bytes);
    run.driver.board.release_all();
    if outcome.is_err() {
        run.abandon();
    }
    outcome.map(|()| run.stats).map_err(|what| Failure { calls: run.calls, what })
}

struct Run {
    model: Model,
    driver: Driver,
    calls: Vec<String>,
    stats: Stats,
    /// Host functions that were looked at.
    seen: usize,
    trace: bool,
}

impl Run {
    fn whole(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.model.symbols = self.driver.symbols;
        let before = self.free("before")?;
        // Whatever ran before in this process: from here on the library is initialised once.
        self.step(0, Call::Init, 0)?;
        let choice = bytes.first().copied().unwrap_or(0);
        self.model.calm = (128..224).contains(&choice);
        for turn in prelude(choice) {
            self.step(0, turn, 0)?;
        }
        for turn in op::decode(bytes.get(1..).unwrap_or_default(), self.model.calm) {
            self.turn(&turn)?;
        }
        self.finish()?;
        let after = self.free("after")?;
        if before != after {
            return Err(format!("something is left: before {before:?}, after {after:?}"));
        }
        Ok(())
    }

    fn free(&self, when: &str) -> Result<[Free; DEVICES], String> {
        self.driver.free().map_err(|(device, code)| {
            let words = self.driver.words(CHECKER);
            format!("what device {device} has free {when} the sequence: {}\n{words}", name(code))
        })
    }

    fn turn(&mut self, turn: &Turn) -> Result<(), String> {
        match self.model.plan(turn) {
            Some(step) => self.step(step.thread, step.call, turn.mend),
            None => Ok(()),
        }
    }

    /// Makes a call, and before it what it needs.
    fn step(&mut self, thread: usize, call: Call, mend: u8) -> Result<(), String> {
        let step = Step { thread, call };
        for _ in 0..DEPTH {
            match self.model.prerequisite(&step, mend) {
                Before::Nothing => return self.make(&step),
                Before::First(Call::Release(gate)) => {
                    self.make(&Step { thread, call: Call::Release(gate) })?
                }
                Before::First(first) => {
                    let first = Step { thread, call: first };
                    // What it needs itself are gates only.
                    while let Before::First(needed) = self.model.prerequisite(&first, mend) {
                        self.make(&Step { thread, call: needed })?;
                    }
                    self.make(&first)?;
                }
                Before::Never => return Ok(()),
            }
        }
        Ok(())
    }

    fn make(&mut self, step: &Step) -> Result<(), String> {
        let verdict = self.model.judge(step);
        self.calls.push(step.to_string());
        if self.trace {
            eprintln!("{step}");
        }
        let outcome =
            self.driver.make(step, &self.model.buffers, self.model.launched.len(), verdict.succeeds());
        self.stats.calls += 1;
        self.stats.refused += u64::from(outcome.code != 0);
        if let Some(last) = self.calls.last_mut() {
            last.push_str(&match outcome.code {
                0 => born(&step.call, &self.model).map(|born| format!(" -> {born}")).unwrap_or_default(),
                code => format!(" = {}", name(code)),
            });
        }
        self.compare(step, &verdict, outcome)?;
        self.model.commit(step, &verdict, outcome);
        if verdict.waits != Clock::default() || matches!(verdict.value, Value::Done { .. }) {
            self.check()?;
        }
        Ok(())
    }

    fn compare(&self, step: &Step, verdict: &Verdict, outcome: Outcome) -> Result<(), String> {
        let answers = verdict.answers();
        let Outcome { code, value } = outcome;
        let right = match code {
            0 => verdict.succeeds() || verdict.may_succeed,
            code => answers.iter().any(|wrong| wrong.code == code),
        };
        if !right {
            let mut wanted: Vec<_> =
                answers.iter().map(|wrong| format!("{} ({})", name(wrong.code), wrong.rule)).collect();
            if verdict.may_succeed || wanted.is_empty() {
                wanted.push("ACL_SUCCESS".to_owned());
            }
            let words = self.driver.words(step.thread);
            return Err(format!("answered {}, not {}\n{words}", name(code), wanted.join(" or ")));
        }
        let stateful = matches!(step.call, Call::FinalizeReference);
        if !stateful && (code != 0 || !verdict.succeeds()) {
            return Ok(());
        }
        self.compare_value(&verdict.value, value)
    }

    fn compare_value(&self, wanted: &Value, value: u64) -> Result<(), String> {
        let model = &self.model;
        let known = |raw: u64| if raw == 0 { value } else { raw };
        let fits = match wanted {
            Value::Any => true,
            Value::Is(word) => value == *word,
            Value::NewHandle => {
                let live = model.contexts.iter().filter(|one| one.alive).map(|one| one.raw);
                let live = live.chain(model.streams.iter().filter(|one| one.alive).map(|one| one.raw));
                let mut live = live.chain(model.events.iter().filter(|one| one.alive).map(|one| one.raw));
                value != 0 && live.all(|raw| raw != value)
            }
            Value::NewBlock(size) => {
                let (start, end) = (value as usize, (value as usize).wrapping_add(*size));
                let apart = |base: usize, len: usize| end <= base || base + len <= start;
                value != 0
                    && value.is_multiple_of(64)
                    && model.buffers.iter().filter(|one| one.alive).all(|one| apart(one.base, one.size()))
            }
            Value::DefaultStream(stream) => value != 0 && value == known(model.streams[*stream].raw),
            Value::Context(context) => value != 0 && value == known(model.contexts[*context].raw),
            Value::Elapsed => f32::from_bits(value as u32) >= 0.0,
            Value::Done { yes, no, known, .. } => match known {
                Some(known) => value == if *known { *yes } else { *no },
                None => value == *yes || value == *no,
            },
        };
        if fits { Ok(()) } else { Err(format!("its result is {value:#x}, not {wanted:?}")) }
    }

    /// Compares what the host may look at: host functions that ran, and memory that no task writes.
    fn check(&mut self) -> Result<(), String> {
        self.check_functions()?;
        for index in 0..self.model.buffers.len() {
            let buffer = &self.model.buffers[index];
            if !buffer.alive || !buffer.dirty {
                continue;
            }
            let bytes = match buffer.kind {
                Kind::Device(device) | Kind::Image { device, .. } => {
                    let usable =
                        |one: &&crate::model::Context| one.alive && one.device == device && one.raw != 0;
                    let Some(context) = self.model.contexts.iter().find(usable) else { continue };
                    let read = self.driver.device_bytes(buffer, context.raw);
                    read.map_err(|code| {
                        let words = self.driver.words(CHECKER);
                        format!(
                            "reading buffer{index} of {} bytes answered {}\n{words}",
                            buffer.size(),
                            name(code)
                        )
                    })?
                }
                _ => self.driver.host_bytes(buffer),
            };
            self.compare_bytes(index, &bytes)?;
            self.model.buffers[index].dirty = !self.model.buffers[index].accesses.is_empty();
        }
        Ok(())
    }

    fn compare_bytes(&mut self, index: usize, bytes: &[u8]) -> Result<(), String> {
        let buffer = &self.model.buffers[index];
        let busy = buffer.accesses.iter().any(|access| access.write);
        for (at, byte) in bytes.iter().enumerate() {
            if !buffer.known[at] || busy && buffer.in_flight(at) {
                continue;
            }
            self.stats.bytes += 1;
            let wanted = buffer.bytes[at];
            if *byte != wanted {
                let (kind, size) = (buffer.kind, buffer.size());
                return Err(format!(
                    "buffer{index} ({kind:?}, {size} bytes) holds {byte:#04x} at {at}, not {wanted:#04x}"
                ));
            }
        }
        Ok(())
    }

    fn check_functions(&mut self) -> Result<(), String> {
        let news = self.driver.board.log(self.seen);
        for ran in news {
            self.seen += 1;
            self.stats.functions += 1;
            let launched = &self.model.launched[ran.id];
            if launched.ran != 0 {
                return Err(format!("host function {} ran twice", ran.id));
            }
            if launched.gate == Gate::Held {
                return Err(format!("gate{} is held, but its function returned", ran.id));
            }
            for (earlier, other) in self.model.launched.iter().enumerate() {
                if earlier != ran.id && launched.clock.covers(other.epoch) && other.ran == 0 && !other.maybe {
                    return Err(format!("host function {} ran before host function {earlier}", ran.id));
                }
            }
            if let Some(expect) = &launched.expect {
                let differs = |(saw, wanted): (&u8, &Option<u8>)| wanted.is_some_and(|wanted| wanted != *saw);
                if let Some(at) = ran.saw.iter().zip(expect).position(differs) {
                    let (saw, wanted) = (ran.saw[at], expect[at]);
                    let id = ran.id;
                    return Err(format!(
                        "host function {id} saw {saw:#04x} at {at} of what it looked at, not {wanted:?}"
                    ));
                }
            }
            self.model.launched[ran.id].ran = self.seen;
        }
        let host = &self.model.host;
        let missing = |(_, one): &(usize, &crate::model::Launched)| {
            one.ran == 0 && !one.maybe && host.covers(one.epoch)
        };
        match self.model.launched.iter().enumerate().find(missing) {
            Some((id, _)) => Err(format!("host function {id} has not run, though its stream was waited for")),
            None => Ok(()),
        }
    }

    /// Ends everything through the same calls, compares all memory once more.
    fn finish(&mut self) -> Result<(), String> {
        let held: Vec<_> =
            (0..self.model.launched.len()).filter(|at| self.model.launched[*at].gate != Gate::Open).collect();
        for gate in held {
            self.step(0, Call::Release(gate), 0)?;
        }
        // Default contexts are known by name once somebody asked.
        for device in 0..DEVICES {
            if self.model.devices[device].sets > 0 {
                self.step(0, Call::SetDevice(device as i32), 0)?;
                self.step(0, Call::GetCurrentContext, 0)?;
                self.step(0, Call::ResetDevice(device as i32), 0)?;
            }
        }
        for context in 0..self.model.contexts.len() {
            if !self.model.contexts[context].alive {
                continue;
            }
            let handle = self.model.context_handle(context);
            self.step(0, Call::SetCurrentContext(handle), 0)?;
            self.step(0, Call::SynchronizeDevice, 0)?;
            for stream in 0..self.model.streams.len() {
                let one = &self.model.streams[stream];
                if one.alive && one.context == context && !one.default {
                    self.step(0, Call::DestroyStream(self.model.stream_handle(stream)), 0)?;
                }
            }
        }
        if !self.driver.board.settle(Duration::from_secs(20)) {
            return Err("a host function is still running".to_owned());
        }
        // Streams that were destroyed by force have let go of their memory.
        self.model.buffers.iter_mut().for_each(|buffer| buffer.accesses.clear());
        self.check()?;
        for event in 0..self.model.events.len() {
            if self.model.events[event].alive {
                self.step(0, Call::DestroyEvent(self.model.event_handle(event)), 0)?;
            }
        }
        for buffer in 0..self.model.buffers.len() {
            let one = &self.model.buffers[buffer];
            let addr = crate::call::Addr { raw: one.base, from: Some((buffer, 0)) };
            match one.kind {
                _ if !one.alive => {}
                Kind::Pageable if one.registered => self.step(0, Call::HostUnregister(addr), 0)?,
                // The copies of device variables go with their device.
                Kind::Pageable | Kind::Image { .. } => {}
                Kind::Pinned => self.step(0, Call::FreeHost(addr), 0)?,
                Kind::Device(_) | Kind::Managed => self.step(0, Call::Free(addr), 0)?,
            }
        }
        for context in 0..self.model.contexts.len() {
            if self.model.contexts[context].alive && !self.model.contexts[context].primary {
                self.step(0, Call::DestroyContext(self.model.context_handle(context)), 0)?;
            }
        }
        for device in 0..DEVICES {
            while self.model.devices[device].sets > 0 {
                self.step(0, Call::ResetDevice(device as i32), 0)?;
            }
            self.step(0, Call::GetPrimaryCtxState(device as i32), 0)?;
        }
        while self.model.inits > 0 {
            self.step(0, Call::FinalizeReference, 0)?;
        }
        match self.driver.broken_fence() {
            Some(addr) => Err(format!("bytes around the program's buffer at {addr:#x} were written")),
            None => Ok(()),
        }
    }

    /// After a failure: takes back what can be taken back, so that the next sequence finds a clean process.
    fn abandon(&mut self) {
        self.driver.board.settle(Duration::from_secs(2));
        let mut last = Vec::new();
        for context in (0..self.model.contexts.len()).filter(|at| self.model.contexts[*at].alive) {
            let handle = self.model.context_handle(context);
            last.extend([Call::SetCurrentContext(handle), Call::SynchronizeDevice]);
        }
        for event in (0..self.model.events.len()).filter(|at| self.model.events[*at].alive) {
            last.push(Call::DestroyEvent(self.model.event_handle(event)));
        }
        for buffer in self.model.buffers.iter().filter(|buffer| buffer.alive) {
            let addr = crate::call::Addr { raw: buffer.base, from: None };
            last.push(match buffer.kind {
                Kind::Pinned => Call::FreeHost(addr),
                Kind::Pageable if buffer.registered => Call::HostUnregister(addr),
                Kind::Pageable | Kind::Image { .. } => continue,
                Kind::Device(_) | Kind::Managed => Call::Free(addr),
            });
        }
        for context in (0..self.model.contexts.len()).filter(|at| self.model.contexts[*at].alive) {
            last.push(Call::DestroyContext(self.model.context_handle(context)));
        }
        last.extend((0..DEVICES).map(|device| Call::ResetDeviceForce(device as i32)));
        last.push(Call::Finalize);
        for call in last {
            self.driver.make(
                &Step { thread: 0, call },
                &self.model.buffers,
                self.model.launched.len(),
                false,
            );
        }
    }
}

/// What most programs begin with, so that not every sequence has to find it.
fn prelude(choice: u8) -> Vec<Call> {
    if choice >= 224 {
        return Vec::new();
    }
    let mut calls = vec![Call::SetDevice(0), Call::GetCurrentContext, Call::GetDefaultStream];
    calls.extend(std::iter::repeat_n(Call::CreateStream, usize::from(choice % 4)));
    calls.extend(std::iter::repeat_n(Call::Malloc { size: 256, policy: 0 }, usize::from(choice / 4 % 4)));
    calls.extend(std::iter::repeat_n(Call::MallocHost { size: 256 }, usize::from(choice / 16 % 4)));
    calls
}

/// What a call makes, as later calls name it.
fn born(call: &Call, model: &Model) -> Option<String> {
    Some(match call {
        Call::CreateContext(_) => format!("context{}, stream{}", model.contexts.len(), model.streams.len()),
        Call::SetDevice(id) if model.devices[*id as usize].sets == 0 => {
            format!("context{}, stream{}", model.contexts.len(), model.streams.len())
        }
        Call::CreateStream | Call::CreateStreamWithConfig { .. } => format!("stream{}", model.streams.len()),
        Call::CreateEvent | Call::CreateEventWithFlag(_) | Call::CreateEventExWithFlag(_) => {
            format!("event{}", model.events.len())
        }
        Call::Malloc { .. } | Call::MallocHost { .. } | Call::AllocManaged { .. } | Call::Pageable { .. } => {
            format!("buffer{}", model.buffers.len())
        }
        Call::GetSymbolAddress(_) => format!("buffer{} or one there was", model.buffers.len()),
        Call::LaunchHostFunc(..) => format!("host function {}", model.launched.len()),
        _ => return None,
    })
}

/// A code with its name.
fn name(code: i32) -> String {
    match errors::code(code) {
        Some(found) => format!("{} ({code})", found.name),
        None => format!("{code}"),
    }
}

/// Random bytes for a sequence of at most `turns` ops.
pub fn random(seed: u64, turns: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut next = move || {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    let length = 1 + STEP * (1 + (next() >> 32) as usize % turns.max(1));
    (0..length).map(|_| (next() >> 56) as u8).collect()
}
