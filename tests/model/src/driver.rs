//! Makes the calls.

use std::ffi::c_void;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use ascendcl_sys::Table;

use crate::call::{Call, Copy, Fill, Func, Handle, Out, Rect, Step};
use crate::commit::Outcome;
use crate::host::{self, Board, What};
use crate::memory::Buffer;
use crate::model::{DEVICES, THREADS};
use crate::verdict::pattern;

/// A mistake that is made on purpose, to see that it is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// None.
    #[default]
    None,
    /// aclrtStreamWaitEvent is not called.
    DropWait,
    /// An asynchronous copy or fill is called after the next call of that kind.
    SwapTasks,
    /// aclrtSynchronizeStream is not called.
    DropSync,
}

impl Fault {
    /// By name, as on the command line.
    pub fn named(name: &str) -> Option<Fault> {
        Some(match name {
            "none" => Fault::None,
            "drop-wait" => Fault::DropWait,
            "swap-tasks" => Fault::SwapTasks,
            "drop-sync" => Fault::DropSync,
            _ => return None,
        })
    }
}

/// Bytes around the program's own buffers that nobody may touch, and what they hold.
const FENCE: usize = 64;
const FENCE_BYTE: u8 = 0xfe;

type Job = Box<dyn FnOnce() + Send>;

/// A host thread.
struct Worker {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new() -> Worker {
        let (jobs, queue): (Sender<Job>, Receiver<Job>) = channel();
        let thread = std::thread::spawn(move || queue.iter().for_each(|job| job()));
        Worker { jobs: Some(jobs), thread: Some(thread) }
    }

    fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (answer, result) = channel();
        let job = Box::new(move || drop(answer.send(work())));
        self.jobs.as_ref()?.send(job).ok()?;
        result.recv().ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Makes the calls of one sequence.
pub struct Driver {
    table: &'static Table,
    /// One for each host thread of the sequence, and one that only compares memory.
    workers: [OnceLock<Worker>; THREADS + 1],
    /// What its host functions share.
    pub board: Arc<Board>,
    /// The program's own buffers, with fences: (address that was handed out, memory).
    own: Vec<(usize, Box<[u8]>)>,
    fault: Fault,
    held: Option<Step>,
}

/// The thread that compares memory.
pub const CHECKER: usize = THREADS;

/// What is left of the resources of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Free {
    /// aclrtGetStreamAvailableNum
    pub streams: u32,
    /// aclrtGetEventAvailNum
    pub events: u32,
    /// aclrtGetMemInfo
    pub bytes: usize,
}

impl Driver {
    /// A driver on these functions.
    pub fn new(table: &'static Table, fault: Fault) -> Driver {
        let workers = std::array::from_fn(|_| OnceLock::new());
        Driver { table, workers, board: Arc::default(), own: Vec::new(), fault, held: None }
    }

    /// Makes a call. `buffers` and `launched` are the model's, before the call; `good`: it is to succeed, so that a planted fault
    /// is no matter of codes.
    pub fn make(&mut self, step: &Step, buffers: &[Buffer], launched: usize, good: bool) -> Outcome {
        match step.call {
            Call::Pageable { size } => return Outcome { code: 0, value: self.own_memory(size) },
            Call::Release(gate) => {
                self.flush();
                self.board.release(gate);
                return Outcome::default();
            }
            Call::HostWrite { buffer, offset, len, seed } => {
                self.flush();
                for at in 0..len {
                    // SAFETY: bytes of a live host buffer, which no task touches now.
                    unsafe { ((buffers[buffer].base + offset + at) as *mut u8).write(pattern(seed, at)) };
                }
                return Outcome::default();
            }
            _ => {}
        }
        if let Some(outcome) = self.misbehave(step, good) {
            return outcome;
        }
        let arg = match step.call {
            Call::LaunchHostFunc(_, func) if func != Func::Null => {
                let at = |buffer: usize, offset: usize| buffers[buffer].base + offset;
                let what = match func {
                    Func::Gate => What::Gate,
                    Func::Mark | Func::Null => What::Mark,
                    Func::Store { buffer, offset, len, byte } => {
                        What::Store { addr: at(buffer, offset), len, byte }
                    }
                    Func::Observe { buffer, offset, len } => What::Observe { addr: at(buffer, offset), len },
                };
                self.board.launch(launched, what) as usize
            }
            _ => 0,
        };
        let outcome = self.on(step.thread, step.call, arg);
        if arg != 0 && outcome.code != 0 {
            // SAFETY: the launch was refused, so nobody has it.
            unsafe { Board::withdraw(arg as *mut c_void) };
        }
        outcome
    }

    /// The planted faults.
    fn misbehave(&mut self, step: &Step, good: bool) -> Option<Outcome> {
        let task = good && matches!(step.call, Call::MemcpyAsync(..) | Call::MemsetAsync(..));
        match (self.fault, step.call) {
            (Fault::DropWait, Call::StreamWaitEvent { .. }) if good => Some(Outcome::default()),
            (Fault::DropSync, Call::SynchronizeStream(_)) if good => Some(Outcome::default()),
            (Fault::SwapTasks, _) if task && self.held.is_none() => {
                self.held = Some(*step);
                Some(Outcome::default())
            }
            (Fault::SwapTasks, _) if task => {
                let outcome = self.on(step.thread, step.call, 0);
                self.flush();
                Some(outcome)
            }
            _ => {
                self.flush();
                None
            }
        }
    }

    fn flush(&mut self) {
        if let Some(step) = self.held.take() {
            self.on(step.thread, step.call, 0);
        }
    }

    /// Runs a call on a host thread.
    fn on(&self, thread: usize, call: Call, arg: usize) -> Outcome {
        let table = self.table;
        let lost = Outcome { code: i32::MIN, value: 0 };
        self.worker(thread).run(move || make(table, &call, arg)).unwrap_or(lost)
    }

    fn worker(&self, thread: usize) -> &Worker {
        self.workers[thread].get_or_init(Worker::new)
    }

    /// Memory of the program: zeros between fences. It stays until the driver goes.
    fn own_memory(&mut self, size: usize) -> u64 {
        let mut memory = vec![FENCE_BYTE; size + 2 * FENCE].into_boxed_slice();
        memory[FENCE..FENCE + size].fill(0);
        let addr = memory.as_mut_ptr() as usize + FENCE;
        self.own.push((addr, memory));
        addr as u64
    }

    /// The program's buffer whose fence was written to, if there is one.
    pub fn broken_fence(&self) -> Option<usize> {
        let whole = |bytes: &[u8]| bytes.iter().all(|byte| *byte == FENCE_BYTE);
        let broken = |memory: &[u8]| !whole(&memory[..FENCE]) || !whole(&memory[memory.len() - FENCE..]);
        self.own.iter().find(|(_, memory)| broken(memory)).map(|(addr, _)| *addr)
    }

    /// What host memory holds.
    pub fn host_bytes(&self, buffer: &Buffer) -> Vec<u8> {
        // SAFETY: a live host buffer; bytes that a task writes at this moment are not looked at.
        (0..buffer.size()).map(|at| unsafe { ((buffer.base + at) as *const u8).read_volatile() }).collect()
    }

    /// What device memory holds, read under a context of its device.
    pub fn device_bytes(&self, buffer: &Buffer, context: u64) -> Result<Vec<u8>, i32> {
        let (table, addr, size) = (self.table, buffer.base, buffer.size());
        let read = self.worker(CHECKER).run(move || {
            let mut bytes = vec![0u8; size];
            // SAFETY: the destination has as many bytes; everything else is checked by the runtime.
            let code = unsafe {
                match (table.aclrtSetCurrentContext)(context as *mut c_void) {
                    0 => (table.aclrtMemcpy)(bytes.as_mut_ptr().cast(), size, addr as *const c_void, size, 2),
                    code => code,
                }
            };
            if code == 0 { Ok(bytes) } else { Err(code) }
        });
        read.unwrap_or(Err(i32::MIN))
    }

    /// What is left of each device, asked on a thread that sets it and takes that back.
    pub fn free(&self) -> Result<[Free; DEVICES], (usize, i32)> {
        let table = self.table;
        let mut all = [Free::default(); DEVICES];
        for (device, free) in all.iter_mut().enumerate() {
            let asked = self.worker(CHECKER).run(move || {
                let mut free = Free::default();
                let mut total = 0;
                let id = device as i32;
                // SAFETY: the results have their types.
                let codes = unsafe {
                    [
                        (table.aclrtSetDevice)(id),
                        (table.aclrtGetStreamAvailableNum)(&mut free.streams),
                        (table.aclrtGetEventAvailNum)(&mut free.events),
                        (table.aclrtGetMemInfo)(ascendcl_sys::ACL_HBM_MEM, &mut free.bytes, &mut total),
                        (table.aclrtResetDevice)(id),
                    ]
                };
                codes.into_iter().find(|code| *code != 0).map_or(Ok(free), Err)
            });
            *free = asked.unwrap_or(Err(i32::MIN)).map_err(|code| (device, code))?;
        }
        Ok(all)
    }

    /// The runtime's own words about the last refusal on a thread.
    pub fn words(&self, thread: usize) -> String {
        let table = self.table;
        let text = self.worker(thread).run(move || {
            // SAFETY: takes nothing.
            let text = unsafe { (table.aclGetRecentErrMsg)() };
            if text.is_null() {
                return String::new();
            }
            // SAFETY: a C string that lives until the next call on this thread.
            unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
        });
        text.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
    }
}

fn word(handle: Handle) -> *mut c_void {
    handle.raw as *mut c_void
}

fn out(code: i32, value: u64) -> Outcome {
    Outcome { code, value }
}

/// Makes a call on this thread.
fn make(f: &Table, call: &Call, arg: usize) -> Outcome {
    let mut handle: *mut c_void = std::ptr::null_mut();
    let (mut number, mut small, mut count, mut milliseconds) = (-1i32, u32::MAX, u64::MAX, f32::NAN);
    let null = std::ptr::null_mut::<c_void>();
    // SAFETY: results have their types and live through the call. Ranges that the sequence passes are in live buffers, or are such
    // that the runtime has to refuse them before it touches a byte.
    unsafe {
        match *call {
            Call::Init => out((f.aclInit)(std::ptr::null()), 0),
            Call::Finalize => out((f.aclFinalize)(), 0),
            Call::FinalizeReference => {
                let code = (f.aclFinalizeReference)(&mut count);
                out(code, count)
            }
            Call::SetDevice(id) => out((f.aclrtSetDevice)(id), 0),
            Call::ResetDevice(id) => out((f.aclrtResetDevice)(id), 0),
            Call::ResetDeviceForce(id) => out((f.aclrtResetDeviceForce)(id), 0),
            Call::GetDevice => {
                let code = (f.aclrtGetDevice)(&mut number);
                out(code, number as u64)
            }
            Call::GetPrimaryCtxState(id) => {
                let code = (f.aclrtGetPrimaryCtxState)(id, std::ptr::null_mut(), &mut number);
                out(code, number as u64)
            }
            Call::SynchronizeDevice => out((f.aclrtSynchronizeDevice)(), 0),
            Call::SynchronizeDeviceWithTimeout(ms) => out((f.aclrtSynchronizeDeviceWithTimeout)(ms), 0),
            Call::CreateContext(id) => {
                let code = (f.aclrtCreateContext)(&mut handle, id);
                out(code, handle as u64)
            }
            Call::DestroyContext(context) => out((f.aclrtDestroyContext)(word(context)), 0),
            Call::SetCurrentContext(context) => out((f.aclrtSetCurrentContext)(word(context)), 0),
            Call::GetCurrentContext => {
                let code = (f.aclrtGetCurrentContext)(&mut handle);
                out(code, handle as u64)
            }
            Call::GetDefaultStream => {
                let code = (f.aclrtCtxGetCurrentDefaultStream)(&mut handle);
                out(code, handle as u64)
            }
            Call::CreateStream => {
                let code = (f.aclrtCreateStream)(&mut handle);
                out(code, handle as u64)
            }
            Call::CreateStreamWithConfig { priority, flags } => {
                let code = (f.aclrtCreateStreamWithConfig)(&mut handle, priority, flags);
                out(code, handle as u64)
            }
            Call::DestroyStream(stream) => out((f.aclrtDestroyStream)(word(stream)), 0),
            Call::DestroyStreamForce(stream) => out((f.aclrtDestroyStreamForce)(word(stream)), 0),
            Call::SynchronizeStream(stream) => out((f.aclrtSynchronizeStream)(word(stream)), 0),
            Call::SynchronizeStreamWithTimeout(stream, ms) => {
                out((f.aclrtSynchronizeStreamWithTimeout)(word(stream), ms), 0)
            }
            Call::StreamQuery(stream) => {
                let code = (f.aclrtStreamQuery)(word(stream), &mut small);
                out(code, small.into())
            }
            Call::StreamGetPriority(stream) => {
                let code = (f.aclrtStreamGetPriority)(word(stream), &mut small);
                out(code, small.into())
            }
            Call::StreamAbort(stream) => out((f.aclrtStreamAbort)(word(stream)), 0),
            Call::CreateEvent => {
                let code = (f.aclrtCreateEvent)(&mut handle);
                out(code, handle as u64)
            }
            Call::CreateEventWithFlag(flags) => {
                let code = (f.aclrtCreateEventWithFlag)(&mut handle, flags);
                out(code, handle as u64)
            }
            Call::CreateEventExWithFlag(flags) => {
                let code = (f.aclrtCreateEventExWithFlag)(&mut handle, flags);
                out(code, handle as u64)
            }
            Call::DestroyEvent(event) => out((f.aclrtDestroyEvent)(word(event)), 0),
            Call::RecordEvent { event, stream } => out((f.aclrtRecordEvent)(word(event), word(stream)), 0),
            Call::ResetEvent { event, stream } => out((f.aclrtResetEvent)(word(event), word(stream)), 0),
            Call::StreamWaitEvent { stream, event } => {
                out((f.aclrtStreamWaitEvent)(word(stream), word(event)), 0)
            }
            Call::StreamWaitEventWithTimeout { stream, event, timeout } => {
                out((f.aclrtStreamWaitEventWithTimeout)(word(stream), word(event), timeout), 0)
            }
            Call::QueryEvent(event) => {
                let code = (f.aclrtQueryEvent)(word(event), &mut small);
                out(code, small.into())
            }
            Call::QueryEventStatus(event) => {
                let code = (f.aclrtQueryEventStatus)(word(event), &mut small);
                out(code, small.into())
            }
            Call::SynchronizeEvent(event) => out((f.aclrtSynchronizeEvent)(word(event)), 0),
            Call::SynchronizeEventWithTimeout(event, ms) => {
                out((f.aclrtSynchronizeEventWithTimeout)(word(event), ms), 0)
            }
            Call::EventElapsedTime { start, end } => {
                let code = (f.aclrtEventElapsedTime)(&mut milliseconds, word(start), word(end));
                out(code, milliseconds.to_bits().into())
            }
            Call::Malloc { size, policy } => {
                let code = (f.aclrtMalloc)(&mut handle, size, policy);
                out(code, handle as u64)
            }
            Call::MallocHost { size } => {
                let code = (f.aclrtMallocHost)(&mut handle, size);
                out(code, handle as u64)
            }
            Call::AllocManaged { size, flag } => {
                let code = (f.aclrtMemAllocManaged)(&mut handle, size, flag);
                out(code, handle as u64)
            }
            Call::Free(addr) => out((f.aclrtFree)(addr.raw as *mut c_void), 0),
            Call::FreeWithDevSync(addr) => out((f.aclrtFreeWithDevSync)(addr.raw as *mut c_void), 0),
            Call::FreeHost(addr) => out((f.aclrtFreeHost)(addr.raw as *mut c_void), 0),
            Call::Memcpy(Copy { dst, max, src, count, kind }) => {
                out((f.aclrtMemcpy)(dst.raw as *mut c_void, max, src.raw as *const c_void, count, kind), 0)
            }
            Call::MemcpyAsync(Copy { dst, max, src, count, kind }, stream) => {
                let (dst, src) = (dst.raw as *mut c_void, src.raw as *const c_void);
                out((f.aclrtMemcpyAsync)(dst, max, src, count, kind, word(stream)), 0)
            }
            Call::MemcpyAsyncWithCondition(Copy { dst, max, src, count, kind }, stream) => {
                let (dst, src) = (dst.raw as *mut c_void, src.raw as *const c_void);
                out((f.aclrtMemcpyAsyncWithCondition)(dst, max, src, count, kind, word(stream)), 0)
            }
            Call::Memcpy2d(Rect { dst, dpitch, src, spitch, width, height, kind }) => {
                let (dst, src) = (dst.raw as *mut c_void, src.raw as *const c_void);
                out((f.aclrtMemcpy2d)(dst, dpitch, src, spitch, width, height, kind), 0)
            }
            Call::Memcpy2dAsync(Rect { dst, dpitch, src, spitch, width, height, kind }, stream) => {
                let (dst, src) = (dst.raw as *mut c_void, src.raw as *const c_void);
                out((f.aclrtMemcpy2dAsync)(dst, dpitch, src, spitch, width, height, kind, word(stream)), 0)
            }
            Call::Memset(Fill { dst, max, value, count, words }) => {
                let dst = dst.raw as *mut c_void;
                out(
                    if words {
                        (f.aclrtMemsetD32)(dst, max, value, count)
                    } else {
                        (f.aclrtMemset)(dst, max, value as i32, count)
                    },
                    0,
                )
            }
            Call::MemsetAsync(Fill { dst, max, value, count, words }, stream) => {
                let dst = dst.raw as *mut c_void;
                out(
                    if words {
                        (f.aclrtMemsetD32Async)(dst, max, value, count, word(stream))
                    } else {
                        (f.aclrtMemsetAsync)(dst, max, value as i32, count, word(stream))
                    },
                    0,
                )
            }
            Call::LaunchHostFunc(stream, func) => {
                let function = (func != Func::Null).then_some(host::run as unsafe extern "C" fn(*mut c_void));
                out((f.aclrtLaunchHostFunc)(word(stream), function, arg as *mut c_void), 0)
            }
            Call::NullOut(which) => out(
                match which {
                    Out::GetDevice => (f.aclrtGetDevice)(null.cast()),
                    Out::GetDeviceCount => (f.aclrtGetDeviceCount)(null.cast()),
                    Out::CreateContext => (f.aclrtCreateContext)(null.cast(), 0),
                    Out::GetCurrentContext => (f.aclrtGetCurrentContext)(null.cast()),
                    Out::GetDefaultStream => (f.aclrtCtxGetCurrentDefaultStream)(null.cast()),
                    Out::CreateStream => (f.aclrtCreateStream)(null.cast()),
                    Out::CreateStreamWithConfig => (f.aclrtCreateStreamWithConfig)(null.cast(), 0, 0),
                    Out::CreateEvent => (f.aclrtCreateEvent)(null.cast()),
                    Out::CreateEventWithFlag => (f.aclrtCreateEventWithFlag)(null.cast(), 1),
                    Out::CreateEventExWithFlag => (f.aclrtCreateEventExWithFlag)(null.cast(), 1),
                    Out::Malloc => (f.aclrtMalloc)(null.cast(), 64, 0),
                    Out::MallocHost => (f.aclrtMallocHost)(null.cast(), 64),
                    Out::AllocManaged => (f.aclrtMemAllocManaged)(null.cast(), 1 << 21, 1),
                },
                0,
            ),
            Call::Pageable { .. } | Call::HostWrite { .. } | Call::Release(_) => Outcome::default(),
        }
    }
}
