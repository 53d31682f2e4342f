//! One call as it is made: every argument resolved. What a failing sequence is printed as.

use std::fmt;

/// A handle argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// The word that is passed.
    pub raw: u64,
    /// What it is, live or not.
    pub what: What,
}

/// What a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Nothing.
    Null,
    /// A context of the model.
    Context(usize),
    /// A stream of the model.
    Stream(usize),
    /// An event of the model.
    Event(usize),
    /// No handle that was ever given out.
    Invented,
}

impl Handle {
    /// Nothing.
    pub const NULL: Handle = Handle { raw: 0, what: What::Null };
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            What::Null => f.write_str("NULL"),
            What::Context(index) => write!(f, "context{index}"),
            What::Stream(index) => write!(f, "stream{index}"),
            What::Event(index) => write!(f, "event{index}"),
            What::Invented => write!(f, "(void *){:#x}", self.raw),
        }
    }
}

/// An address argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addr {
    /// The address that is passed.
    pub raw: usize,
    /// Where it was taken from, for readers.
    pub from: Option<(usize, isize)>,
}

impl Addr {
    /// Nothing.
    pub const NULL: Addr = Addr { raw: 0, from: None };
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from {
            Some((buffer, 0)) => write!(f, "buffer{buffer}"),
            Some((buffer, offset)) => write!(f, "buffer{buffer} {offset:+}"),
            None if self.raw == 0 => f.write_str("NULL"),
            None => write!(f, "(void *){:#x}", self.raw),
        }
    }
}

/// Arguments of a plain copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the C parameters")]
pub struct Copy {
    pub dst: Addr,
    pub max: usize,
    pub src: Addr,
    pub count: usize,
    pub kind: u32,
}

/// Arguments of a 2D copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the C parameters")]
pub struct Rect {
    pub dst: Addr,
    pub dpitch: usize,
    pub src: Addr,
    pub spitch: usize,
    pub width: usize,
    pub height: usize,
    pub kind: u32,
}

/// Arguments of a fill: bytes of `value`, or words if `words`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the C parameters")]
pub struct Fill {
    pub dst: Addr,
    pub max: usize,
    pub value: u32,
    pub count: usize,
    pub words: bool,
}

/// A function for aclrtLaunchHostFunc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Func {
    /// No function.
    Null,
    /// Waits until it is released.
    Gate,
    /// Only notes that it ran.
    Mark,
    /// Writes bytes to a host buffer.
    Store {
        /// Index of the buffer.
        buffer: usize,
        /// First byte.
        offset: usize,
        /// Number of bytes.
        len: usize,
        /// What is written.
        byte: u8,
    },
    /// Notes what a host buffer holds.
    Observe {
        /// Index of the buffer.
        buffer: usize,
        /// First byte.
        offset: usize,
        /// Number of bytes.
        len: usize,
    },
}

/// A symbol argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// Nothing.
    Null,
    /// A device variable of the tests.
    Known(usize),
    /// An address that is no device variable's.
    Unknown,
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Null => f.write_str("NULL"),
            Symbol::Known(index) => write!(f, "&variable{index}"),
            Symbol::Unknown => f.write_str("&no_variable"),
        }
    }
}

/// Arguments of a copy to or from a device variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the C parameters")]
pub struct SymbolCopy {
    /// To the variable.
    pub to: bool,
    pub symbol: Symbol,
    pub host: Addr,
    pub max: usize,
    pub count: usize,
    pub offset: usize,
    pub kind: u32,
    /// None: the synchronous call.
    pub stream: Option<Handle>,
}

impl fmt::Display for SymbolCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SymbolCopy { to, symbol, host, max, count, offset, kind, stream } = self;
        let (kind, asynchronous) = (kind_name(*kind), if stream.is_some() { "Async" } else { "" });
        let (max, count, offset) = (Size(*max), Size(*count), Size(*offset));
        match to {
            true => {
                write!(f, "aclrtMemcpyToSymbol{asynchronous}({symbol}, {host}, {count}, {offset}, {kind}")?
            }
            false => write!(
                f,
                "aclrtMemcpyFromSymbol{asynchronous}({host}, {max}, {symbol}, {count}, {offset}, {kind}"
            )?,
        }
        match stream {
            Some(stream) => write!(f, ", {stream})"),
            None => f.write_str(")"),
        }
    }
}

/// A function whose result is not to be written anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the C functions")]
pub enum Out {
    GetDevice,
    GetDeviceCount,
    CreateContext,
    GetCurrentContext,
    GetDefaultStream,
    CreateStream,
    CreateStreamWithConfig,
    CreateEvent,
    CreateEventWithFlag,
    CreateEventExWithFlag,
    Malloc,
    MallocHost,
    AllocManaged,
}

/// A call of the C ABI, or one of the few things that a program does beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names of the C functions and their parameters, in their order")]
pub enum Call {
    Init,
    Finalize,
    FinalizeReference,
    SetDevice(i32),
    ResetDevice(i32),
    ResetDeviceForce(i32),
    GetDevice,
    GetPrimaryCtxState(i32),
    SynchronizeDevice,
    SynchronizeDeviceWithTimeout(i32),
    CreateContext(i32),
    DestroyContext(Handle),
    SetCurrentContext(Handle),
    GetCurrentContext,
    GetDefaultStream,
    CreateStream,
    CreateStreamWithConfig {
        priority: u32,
        flags: u32,
    },
    DestroyStream(Handle),
    DestroyStreamForce(Handle),
    SynchronizeStream(Handle),
    SynchronizeStreamWithTimeout(Handle, i32),
    StreamQuery(Handle),
    StreamGetPriority(Handle),
    StreamAbort(Handle),
    CreateEvent,
    CreateEventWithFlag(u32),
    CreateEventExWithFlag(u32),
    DestroyEvent(Handle),
    RecordEvent {
        event: Handle,
        stream: Handle,
    },
    ResetEvent {
        event: Handle,
        stream: Handle,
    },
    StreamWaitEvent {
        stream: Handle,
        event: Handle,
    },
    StreamWaitEventWithTimeout {
        stream: Handle,
        event: Handle,
        timeout: i32,
    },
    QueryEvent(Handle),
    QueryEventStatus(Handle),
    SynchronizeEvent(Handle),
    SynchronizeEventWithTimeout(Handle, i32),
    EventElapsedTime {
        start: Handle,
        end: Handle,
    },
    Malloc {
        size: usize,
        policy: u32,
    },
    MallocHost {
        size: usize,
    },
    AllocManaged {
        size: u64,
        flag: u32,
    },
    Free(Addr),
    FreeWithDevSync(Addr),
    FreeHost(Addr),
    Memcpy(Copy),
    MemcpyAsync(Copy, Handle),
    MemcpyAsyncWithCondition(Copy, Handle),
    Memcpy2d(Rect),
    Memcpy2dAsync(Rect, Handle),
    Memset(Fill),
    MemsetAsync(Fill, Handle),
    LaunchHostFunc(Handle, Func),
    NullOut(Out),
    HostRegisterV2 {
        addr: Addr,
        size: u64,
        flags: u32,
    },
    HostUnregister(Addr),
    EnablePeerAccess {
        peer: i32,
        flags: u32,
    },
    DisablePeerAccess(i32),
    GetSymbolAddress(Symbol),
    GetSymbolSize(Symbol),
    SymbolCopy(SymbolCopy),
    /// The program takes memory of its own.
    Pageable {
        size: usize,
    },
    /// The program writes to host memory itself.
    HostWrite {
        buffer: usize,
        offset: usize,
        len: usize,
        seed: u8,
    },
    /// The program lets a [`Func::Gate`] go on: that of this number.
    Release(usize),
}

/// A call and the host thread that makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// 0 is the thread that begins the sequence.
    pub thread: usize,
    /// What it calls.
    pub call: Call,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{} {}", self.thread, self.call)
    }
}

impl fmt::Display for Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Copy { dst, max, src, count, kind } = self;
        write!(f, "{dst}, {}, {src}, {}, {}", Size(*max), Size(*count), kind_name(*kind))
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rect { dst, dpitch, src, spitch, width, height, kind } = self;
        let kind = kind_name(*kind);
        write!(f, "{dst}, {dpitch}, {src}, {spitch}, {width}, {height}, {kind}")
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {:#x}, {}", self.dst, Size(self.max), self.value, Size(self.count))
    }
}

/// A size as a C program would write it.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            usize::MAX => f.write_str("SIZE_MAX"),
            size if size > usize::MAX / 2 => write!(f, "{size:#x}"),
            size => write!(f, "{size}"),
        }
    }
}

fn kind_name(kind: u32) -> String {
    let names = ["HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE", "DEFAULT"];
    match names.get(kind as usize) {
        Some(name) => format!("ACL_MEMCPY_{name}"),
        None => format!("(aclrtMemcpyKind){kind}"),
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call::Init => f.write_str("aclInit(NULL)"),
            Call::Finalize => f.write_str("aclFinalize()"),
            Call::FinalizeReference => f.write_str("aclFinalizeReference(&count)"),
            Call::SetDevice(id) => write!(f, "aclrtSetDevice({id})"),
            Call::ResetDevice(id) => write!(f, "aclrtResetDevice({id})"),
            Call::ResetDeviceForce(id) => write!(f, "aclrtResetDeviceForce({id})"),
            Call::GetDevice => f.write_str("aclrtGetDevice(&device)"),
            Call::GetPrimaryCtxState(id) => write!(f, "aclrtGetPrimaryCtxState({id}, NULL, &active)"),
            Call::SynchronizeDevice => f.write_str("aclrtSynchronizeDevice()"),
            Call::SynchronizeDeviceWithTimeout(ms) => write!(f, "aclrtSynchronizeDeviceWithTimeout({ms})"),
            Call::CreateContext(id) => write!(f, "aclrtCreateContext(&new, {id})"),
            Call::DestroyContext(context) => write!(f, "aclrtDestroyContext({context})"),
            Call::SetCurrentContext(context) => write!(f, "aclrtSetCurrentContext({context})"),
            Call::GetCurrentContext => f.write_str("aclrtGetCurrentContext(&context)"),
            Call::GetDefaultStream => f.write_str("aclrtCtxGetCurrentDefaultStream(&stream)"),
            Call::CreateStream => f.write_str("aclrtCreateStream(&new)"),
            Call::CreateStreamWithConfig { priority, flags } => {
                write!(f, "aclrtCreateStreamWithConfig(&new, {priority:#x}, {flags:#x})")
            }
            Call::DestroyStream(stream) => write!(f, "aclrtDestroyStream({stream})"),
            Call::DestroyStreamForce(stream) => write!(f, "aclrtDestroyStreamForce({stream})"),
            Call::SynchronizeStream(stream) => write!(f, "aclrtSynchronizeStream({stream})"),
            Call::SynchronizeStreamWithTimeout(stream, ms) => {
                write!(f, "aclrtSynchronizeStreamWithTimeout({stream}, {ms})")
            }
            Call::StreamQuery(stream) => write!(f, "aclrtStreamQuery({stream}, &status)"),
            Call::StreamGetPriority(stream) => write!(f, "aclrtStreamGetPriority({stream}, &priority)"),
            Call::StreamAbort(stream) => write!(f, "aclrtStreamAbort({stream})"),
            Call::CreateEvent => f.write_str("aclrtCreateEvent(&new)"),
            Call::CreateEventWithFlag(flags) => write!(f, "aclrtCreateEventWithFlag(&new, {flags:#x})"),
            Call::CreateEventExWithFlag(flags) => write!(f, "aclrtCreateEventExWithFlag(&new, {flags:#x})"),
            Call::DestroyEvent(event) => write!(f, "aclrtDestroyEvent({event})"),
            Call::RecordEvent { event, stream } => write!(f, "aclrtRecordEvent({event}, {stream})"),
            Call::ResetEvent { event, stream } => write!(f, "aclrtResetEvent({event}, {stream})"),
            Call::StreamWaitEvent { stream, event } => write!(f, "aclrtStreamWaitEvent({stream}, {event})"),
            Call::StreamWaitEventWithTimeout { stream, event, timeout } => {
                write!(f, "aclrtStreamWaitEventWithTimeout({stream}, {event}, {timeout})")
            }
            Call::QueryEvent(event) => write!(f, "aclrtQueryEvent({event}, &status)"),
            Call::QueryEventStatus(event) => write!(f, "aclrtQueryEventStatus({event}, &status)"),
            Call::SynchronizeEvent(event) => write!(f, "aclrtSynchronizeEvent({event})"),
            Call::SynchronizeEventWithTimeout(event, ms) => {
                write!(f, "aclrtSynchronizeEventWithTimeout({event}, {ms})")
            }
            Call::EventElapsedTime { start, end } => write!(f, "aclrtEventElapsedTime(&ms, {start}, {end})"),
            Call::Malloc { size, policy } => write!(f, "aclrtMalloc(&new, {}, {policy})", Size(*size)),
            Call::MallocHost { size } => write!(f, "aclrtMallocHost(&new, {})", Size(*size)),
            Call::AllocManaged { size, flag } => write!(f, "aclrtMemAllocManaged(&new, {size}, {flag})"),
            Call::Free(addr) => write!(f, "aclrtFree({addr})"),
            Call::FreeWithDevSync(addr) => write!(f, "aclrtFreeWithDevSync({addr})"),
            Call::FreeHost(addr) => write!(f, "aclrtFreeHost({addr})"),
            Call::Memcpy(copy) => write!(f, "aclrtMemcpy({copy})"),
            Call::MemcpyAsync(copy, stream) => write!(f, "aclrtMemcpyAsync({copy}, {stream})"),
            Call::MemcpyAsyncWithCondition(copy, stream) => {
                write!(f, "aclrtMemcpyAsyncWithCondition({copy}, {stream})")
            }
            Call::Memcpy2d(rect) => write!(f, "aclrtMemcpy2d({rect})"),
            Call::Memcpy2dAsync(rect, stream) => write!(f, "aclrtMemcpy2dAsync({rect}, {stream})"),
            Call::Memset(fill) => write!(f, "aclrtMemset{}({fill})", if fill.words { "D32" } else { "" }),
            Call::MemsetAsync(fill, stream) => {
                write!(f, "aclrtMemset{}Async({fill}, {stream})", if fill.words { "D32" } else { "" })
            }
            Call::LaunchHostFunc(stream, func) => write!(f, "aclrtLaunchHostFunc({stream}, {func:?})"),
            Call::NullOut(out) => write!(f, "{out:?} with NULL for its result"),
            Call::HostRegisterV2 { addr, size, flags } => {
                write!(f, "aclrtHostRegisterV2({addr}, {}, {flags:#x})", Size(*size as usize))
            }
            Call::HostUnregister(addr) => write!(f, "aclrtHostUnregister({addr})"),
            Call::EnablePeerAccess { peer, flags } => {
                write!(f, "aclrtDeviceEnablePeerAccess({peer}, {flags})")
            }
            Call::DisablePeerAccess(peer) => write!(f, "aclrtDeviceDisablePeerAccess({peer})"),
            Call::GetSymbolAddress(symbol) => write!(f, "aclrtGetSymbolAddress({symbol}, &new)"),
            Call::GetSymbolSize(symbol) => write!(f, "aclrtGetSymbolSize({symbol}, &size)"),
            Call::SymbolCopy(copy) => copy.fmt(f),
            Call::Pageable { size } => write!(f, "new = malloc({size})"),
            Call::HostWrite { buffer, offset, len, seed } => {
                write!(f, "write {len} bytes to buffer{buffer} +{offset}, pattern {seed}")
            }
            Call::Release(gate) => write!(f, "release gate{gate}"),
        }
    }
}
