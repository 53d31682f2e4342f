//! The one runtime of a process: its target, engine, memory and handle tables. Made at the first call and never taken
//! down, so that calls from static destructors and at exit still find it.

use std::sync::OnceLock;

use ascendcl_sys as sys;
use toprope_engine::memory::{AllocError, Layout, Space};
use toprope_engine::queue::{self, ByPriority, Engine, Failure, Mark, Seeded, Stream, Until};

use crate::buffer::DataBuffer;
use crate::context::Context;
use crate::device::visible::Visible;
use crate::device::{Device, limit, notice};
use crate::error::{Error, Result};
use crate::exception::{self, Exceptions};
use crate::handle::{Kind, Table};
use crate::init::Init;
use crate::memory::ledger::Ledger;
use crate::observer;
use crate::profile::{Check, Form, Profile, Request, misspelt};
use crate::system::System;
use crate::{
    allocator, callback, event, host, kernel, label, managed, notify, second, stream, symbol, timeout,
};

/// Everything that a process shares.
pub struct Runtime {
    /// Product, form, generation and limits.
    pub profile: Profile,
    /// Streams and workers.
    pub engine: Engine,
    /// Memory.
    pub space: Space,
    /// How much of each device's memory is in use.
    pub ledger: Ledger,
    /// The devices, by the program's device id.
    pub devices: Box<[Device]>,
    /// Which devices of the machine these are.
    pub visible: Visible,
    /// aclInit and aclFinalize.
    pub init: Init,
    /// Options and core limits.
    pub system: System,
    /// Stack and print buffer sizes.
    pub limits: limit::Limits,
    /// Overflow mode of the process.
    pub sat_mode: limit::SatMode,
    /// Callbacks of aclrtRegDeviceStateCallback.
    pub state_callbacks: notice::Named<notice::StateFn>,
    /// Callbacks of aclrtSetDeviceTaskAbortCallback.
    pub abort_callbacks: notice::Named<notice::AbortFn>,
    /// Exception callbacks.
    pub exceptions: Exceptions,
    /// Live data buffers.
    pub buffers: Table<DataBuffer>,
    /// Live contexts.
    pub contexts: Table<Context>,
    /// Live streams.
    pub streams: Table<stream::Stream>,
    /// Who is told of streams that come and go.
    pub stream_listeners: stream::listener::Listeners,
    /// Stream configurations.
    pub stream_configs: stream::config::Configs,
    /// Live events.
    pub events: event::Events,
    /// Threads subscribed for reports.
    pub reports: callback::Desk,
    /// Threads subscribed for host functions.
    pub host_funcs: callback::Desk,
    /// Time limits.
    pub timeouts: timeout::Timeouts,
    /// Registered host memory.
    pub host: host::Registry,
    /// Managed pages.
    pub managed: managed::Managed,
    /// Device variables.
    pub symbols: symbol::Symbols,
    /// Kernels and their binaries.
    pub kernels: kernel::Kernels,
    /// Memory allocators of the program.
    pub allocators: allocator::Allocators,
    /// Live labels.
    pub labels: label::Labels,
    /// Live notifies.
    pub notifies: notify::Notifies,
}

static RUNTIME: OnceLock<std::result::Result<Runtime, Refused>> = OnceLock::new();

/// Why there is no runtime: the same answer for every call.
struct Refused {
    code: i32,
    text: String,
}

/// The process's runtime.
#[inline]
pub fn runtime() -> Result<&'static Runtime> {
    match RUNTIME.get() {
        Some(Ok(runtime)) => Ok(runtime),
        _ => start(),
    }
}

#[cold]
fn start() -> Result<&'static Runtime> {
    RUNTIME
        .get_or_init(make)
        .as_ref()
        .map_err(|refused| Error::new(refused.code, "ours: start", refused.text.clone()))
}

fn make() -> std::result::Result<Runtime, Refused> {
    for (name, _) in std::env::vars_os() {
        if let Some(text) = name.to_str().and_then(misspelt) {
            eprintln!("toprope: {text}");
        }
    }
    if let Some(text) = second::note() {
        eprintln!("toprope: {text}");
    }
    let request = Request::from_env();
    let mut profile = Profile::resolve(&request).map_err(|text| {
        // Nothing else tells a program's user why every call fails.
        eprintln!("toprope: {text}");
        Refused { code: sys::ACL_ERROR_INVALID_PARAM, text }
    })?;
    let visible = Visible::from_env(profile.devices);
    if !visible.note().is_empty() {
        eprintln!("toprope: {}", visible.note());
    }
    profile.devices = visible.len();
    toprope_engine::fault::install();
    let space = Space::new(layout(&profile)).map_err(|error| {
        let text = match error {
            AllocError::Refused(refusal) => format!("memory: {refusal}"),
            AllocError::Exhausted { asked, free } => {
                format!("{asked} bytes of address space asked, {free} free")
            }
        };
        Refused { code: sys::ACL_ERROR_RT_MEMORY_ALLOCATION, text }
    })?;
    if request.guard.as_deref() == Some("on") && !space.guarded() {
        // It was asked for, so its absence is told; by default it is a help that not every machine gives.
        let why = match profile.form {
            Form::RootComplex => "the device is the host, so there is nothing to keep apart",
            Form::Endpoint => "the processor or system has no memory protection key for it",
        };
        eprintln!("toprope: TOPROPE_GUARD=on has no effect: {why}");
    }
    let engine = Engine::new(queue::Config {
        max_streams: profile
            .product
            .max_streams
            .saturating_mul(profile.devices.max(1).into())
            .saturating_add(DRAINING),
        // ours: no page names the code of a copy whose memory is gone when it executes; the copy engine's own says it.
        copy_fault_code: sys::ACL_ERROR_RT_SYS_DMA as u32,
        panic_code: sys::ACL_ERROR_RT_INTERNAL_ERROR as u32,
        kernel_fault_code: sys::ACL_ERROR_RT_AICORE_EXCEPTION as u32,
        policy: match profile.seed {
            None => Box::new(ByPriority::default()),
            Some(seed) => Box::new(Seeded::new(seed)),
        },
        ..queue::Config::new(Box::new(Relay))
    });
    engine.watch(observer::watched());
    let devices = (0..profile.devices).map(Device::new).collect();
    Ok(Runtime {
        engine,
        space,
        ledger: Ledger::new(profile.devices, profile.device_memory),
        devices,
        visible,
        init: Init::default(),
        system: System::default(),
        limits: limit::Limits::new(),
        sat_mode: limit::SatMode::new(),
        state_callbacks: notice::Named::new(),
        abort_callbacks: notice::Named::new(),
        exceptions: Exceptions::new(),
        buffers: Table::new(Kind::DataBuffer),
        contexts: Table::new(Kind::Context),
        streams: Table::new(Kind::Stream),
        stream_listeners: Default::default(),
        stream_configs: Default::default(),
        events: event::Events::new(profile.devices),
        reports: Default::default(),
        host_funcs: Default::default(),
        timeouts: Default::default(),
        host: host::Registry::default(),
        managed: managed::Managed::new(),
        symbols: symbol::Symbols::default(),
        kernels: kernel::Kernels::new(),
        allocators: allocator::Allocators::new(),
        labels: label::Labels::new(),
        notifies: notify::Notifies::new(profile.devices),
        profile,
    })
}

/// Room for streams that were destroyed and do not count any more, while a task of theirs still runs.
const DRAINING: u32 = 4096;
/// Most pinned host memory of a process, in bytes. ours: it is page-locked on a real system, so that there is no more of it than
/// the machine has memory; a setting of its own would say no more.
fn pinned_bytes() -> u64 {
    // SAFETY: asks for two numbers.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let bytes = u64::try_from(pages).unwrap_or(0).saturating_mul(u64::try_from(page).unwrap_or(0));
    bytes.clamp(1 << 30, 1 << 40)
}

/// The managed window. Source: aclrtMemManagedPrefetchAsync, chapter 26.
pub const MANAGED_BASE: usize = 0x900_0000_0000;
/// Its size, 3 TB as the page writes it, taken as 3 TiB.
pub const MANAGED_BYTES: u64 = 3 << 40;

fn layout(profile: &Profile) -> Layout {
    Layout {
        // A list of visible devices may leave none; the arena of one is reserved all the same.
        devices: profile.devices.max(1),
        device_bytes: profile.device_memory,
        pinned_bytes: pinned_bytes(),
        // The checker keeps host code off pinned pages for a while.
        mirror_pinned: profile.check != Check::Off,
        guard: profile.guard,
        managed_base: MANAGED_BASE,
        managed_bytes: MANAGED_BYTES,
    }
}

/// Passes on what the engine tells.
struct Relay;

impl queue::Probe for Relay {
    fn started(&self, stream: Stream, position: u64) {
        observer::tell(|o| o.started(stream.0, position));
    }
    fn done(&self, stream: Stream, position: u64) {
        observer::tell(|o| o.done(stream.0, position));
    }
    fn sleeps(&self, mark: Mark, until: Until, inside: &[Stream]) {
        observer::tell(|o| o.waiting(&observer::Waiting { mark: Some(mark), until, inside }));
    }
    fn woke(&self) {
        observer::tell(|o| o.waited());
    }
    fn name(&self, stream: Stream) -> String {
        exception::name(stream)
    }
    fn failed(&self, stream: Stream, failure: Failure) {
        if let Some(Ok(rt)) = RUNTIME.get() {
            stream::sync::failed(rt, stream, failure);
        }
        observer::tell(|o| o.failed(stream.0, failure));
        exception::failed(stream, failure);
    }
}
