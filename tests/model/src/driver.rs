//! Makes the calls.

mod calls;

use std::ffi::c_void;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use crate::call::{Call, Func, Step};
use crate::commit::Outcome;
use crate::host::{Board, What};
use crate::memory::Buffer;
use crate::model::{DEVICES, THREADS};
use crate::table::Functions;
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

/// Sizes of the device variables of the tests.
pub const SYMBOL_SIZES: [usize; 2] = [96, 1000];

/// What device variables start with: the bytes of their shadows.
pub fn symbol_bytes(symbol: usize) -> Vec<u8> {
    (0..SYMBOL_SIZES[symbol]).map(|at| pattern(0x35 + symbol as u8, at)).collect()
}

/// The shadows on the host, and one address that is none; they stay where they are.
fn shadows() -> &'static [Box<[u8]>] {
    static SHADOWS: OnceLock<Vec<Box<[u8]>>> = OnceLock::new();
    SHADOWS.get_or_init(|| {
        let mut all: Vec<_> = (0..SYMBOL_SIZES.len()).map(|symbol| symbol_bytes(symbol).into()).collect();
        all.push(vec![0; 16].into());
        all
    })
}

/// Registers the device variables, once in a process. False if the library has no registration function.
fn register_symbols(functions: &Functions) -> bool {
    static DONE: OnceLock<bool> = OnceLock::new();
    *DONE.get_or_init(|| {
        let Some(register) = functions.register_variable else { return false };
        for (symbol, shadow) in shadows().iter().take(SYMBOL_SIZES.len()).enumerate() {
            let name = if symbol == 0 { c"first" } else { c"second" };
            let (null, at) = (std::ptr::null_mut(), shadow.as_ptr().cast());
            // SAFETY: the shadow has as many bytes and stays; the name ends with a NUL.
            unsafe { register(null, at, name.as_ptr(), shadow.len(), 0, null) };
        }
        true
    })
}

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
    functions: &'static Functions,
    /// There are device variables.
    pub symbols: bool,
    /// One for each host thread of the sequence, and one that only compares memory.
    workers: [OnceLock<Worker>; THREADS + 1],
    /// What its host functions share.
    pub board: Arc<Board>,
    /// The program's own buffers, with fences: (address that was handed out, its size, memory).
    own: Vec<(usize, usize, Box<[u8]>)>,
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
    pub fn new(functions: &'static Functions, fault: Fault) -> Driver {
        let workers = std::array::from_fn(|_| OnceLock::new());
        let symbols = register_symbols(functions);
        Driver { functions, symbols, workers, board: Arc::default(), own: Vec::new(), fault, held: None }
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
        let table = &self.functions.table;
        let lost = Outcome { code: i32::MIN, value: 0 };
        self.worker(thread).run(move || calls::make(table, &call, arg)).unwrap_or(lost)
    }

    fn worker(&self, thread: usize) -> &Worker {
        self.workers[thread].get_or_init(Worker::new)
    }

    /// Memory of the program, at the start of a page: zeros between fences. It stays until the driver goes.
    fn own_memory(&mut self, size: usize) -> u64 {
        const PAGE: usize = 4096;
        let mut memory = vec![FENCE_BYTE; size + PAGE + 2 * FENCE].into_boxed_slice();
        let start = memory.as_mut_ptr() as usize;
        let addr = (start + FENCE).next_multiple_of(PAGE);
        memory[addr - start..][..size].fill(0);
        self.own.push((addr, size, memory));
        addr as u64
    }

    /// The program's buffer whose fence was written to, if there is one.
    pub fn broken_fence(&self) -> Option<usize> {
        let whole = |bytes: &[u8]| bytes.iter().all(|byte| *byte == FENCE_BYTE);
        let broken = |(addr, size, memory): &&(usize, usize, Box<[u8]>)| {
            let first = addr - memory.as_ptr() as usize;
            !whole(&memory[first - FENCE..first]) || !whole(&memory[first + size..])
        };
        self.own.iter().find(broken).map(|(addr, ..)| *addr)
    }

    /// What host memory holds.
    pub fn host_bytes(&self, buffer: &Buffer) -> Vec<u8> {
        // SAFETY: a live host buffer; bytes that a task writes at this moment are not looked at.
        (0..buffer.size()).map(|at| unsafe { ((buffer.base + at) as *const u8).read_volatile() }).collect()
    }

    /// What device memory holds, read under a context of its device.
    pub fn device_bytes(&self, buffer: &Buffer, context: u64) -> Result<Vec<u8>, i32> {
        let (table, addr, size) = (&self.functions.table, buffer.base, buffer.size());
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
        let table = &self.functions.table;
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
        let table = &self.functions.table;
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
