//! A launch while it runs: its blocks, how they meet, what they print, and what is said of one that ends too early.
//!
//! Blocks run in the order of their index on one worker. At the first SyncAll the blocks that have not begun get threads of their
//! own (members of the kernel, [`toprope_engine::queue::Kernel`]); from then on all that still run meet at a barrier.
//!
//! A thread that faults never comes back, and what it held stays held: device code runs while this module holds no lock, and text is
//! copied before anything that locks sees it.
//!
//! Lock order: `meeting` alone.

use std::cell::{RefCell, UnsafeCell};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ascendcl_sys as sys;
use parking_lot::{Condvar, Mutex};
use toprope_engine::fault::KernelFault;
use toprope_engine::image::Core;
use toprope_engine::queue::{self, Stop};

use super::attribute;
use super::site::Site;
use crate::memory::place;
use crate::process::{self, Runtime};

/// Where a launch's arguments are.
pub(crate) enum Arguments {
    /// In device memory: read when a block runs.
    Device(usize, usize),
    /// The launch's own copy, as aligned as any argument can ask; so many bytes of it are arguments.
    Apart(Box<[Line]>, usize),
    /// The same for few of them, in the launch itself.
    Here([Line; HERE], usize),
}

/// Lines that [`Arguments::Here`] has.
const HERE: usize = 4;

/// 16 bytes of arguments. Its own interior, because a kernel may write to its parameters.
#[repr(C, align(16))]
#[derive(Default)]
pub(crate) struct Line(UnsafeCell<[u8; 16]>);

// SAFETY: only device code and the launching thread, before the launch, touch the bytes.
unsafe impl Sync for Line {}

impl Arguments {
    /// Room for a copy, all zeros, `bytes` of which are arguments. It moves with the launch: its place says nothing yet.
    pub fn own(room: usize, bytes: usize) -> Arguments {
        if room <= HERE * size_of::<Line>() {
            Arguments::Here(Default::default(), bytes)
        } else {
            Arguments::apart(room, bytes)
        }
    }

    /// The same, where it stays: for arguments that have the addresses of others.
    pub fn apart(room: usize, bytes: usize) -> Arguments {
        Arguments::Apart((0..room.div_ceil(size_of::<Line>())).map(|_| Line::default()).collect(), bytes)
    }

    /// Where they are, and how many bytes.
    pub fn place(&self) -> (usize, usize) {
        match self {
            Arguments::Device(at, bytes) => (*at, *bytes),
            Arguments::Apart(lines, bytes) => (lines.as_ptr() as usize, *bytes),
            Arguments::Here(lines, bytes) => (lines.as_ptr() as usize, *bytes),
        }
    }
}

/// What is said of a kernel that ended too early.
pub struct Report {
    /// Kernel, block, place and cause, in words.
    pub text: String,
    /// Its function's handle.
    pub function: u64,
    /// Its binary's handle.
    pub binary: u64,
    /// Its arguments: address and bytes.
    pub arguments: (usize, usize),
    /// Keeps the arguments.
    _launch: Arc<Launched>,
}

/// A launch.
pub(crate) struct Launched {
    pub site: Arc<Site>,
    /// The site's: whoever launches counts there, and a worker that looked would take that line from it each time.
    pub entry: usize,
    /// Where the binary is, and its bytes.
    pub code: (usize, usize),
    pub arguments: Arguments,
    pub blocks: u32,
    pub limit: Option<Duration>,
    pub queue: queue::Stream,
    pub stream: i32,
    /// The block that member 0 runs.
    pub first: AtomicU32,
    pub meeting: Mutex<Meeting>,
    pub changed: Condvar,
}

/// How far the blocks are.
#[derive(Default)]
pub(crate) struct Meeting {
    /// The remaining blocks have threads of their own.
    spread: bool,
    /// Blocks that wait, and how often all have met.
    waiting: u32,
    round: u64,
    /// Blocks that are through.
    ended: u32,
    /// The launch ended too early: nobody meets any more.
    over: bool,
    /// Why it can never end.
    stuck: Option<&'static str>,
}

/// `struct toprope_block`, and what its services need.
#[repr(C)]
struct Block {
    index: u32,
    count: u32,
    sub_index: u32,
    sub_count: u32,
    services: *const Services,
    launch: *const Launched,
    /// Text without an end of line yet.
    line: RefCell<Vec<u8>>,
}

/// `struct toprope_services`
#[repr(C)]
struct Services {
    size: u32,
    reserved: u32,
    sync_all: unsafe extern "C" fn(*const Block),
    print: unsafe extern "C" fn(*const Block, *const u8, usize),
}

static SERVICES: Services = Services { size: size_of::<Services>() as u32, reserved: 0, sync_all, print };

unsafe extern "C" fn sync_all(block: *const Block) {
    // SAFETY: device code hands back the block that it was given, which lives while it runs.
    let block = unsafe { &*block };
    // SAFETY: the launch outlives its blocks.
    unsafe { &*block.launch }.meet(block.index);
}

unsafe extern "C" fn print(block: *const Block, text: *const u8, length: usize) {
    // SAFETY: as above.
    let line = unsafe { &(*block).line };
    // A block is one thread, and calls this again only after it returned.
    let Ok(mut line) = line.try_borrow_mut() else { return };
    line.reserve(length);
    // SAFETY: device code says that the text is there. If not, the fault is the kernel's: nothing is locked here.
    line.extend_from_slice(unsafe { std::slice::from_raw_parts(text, length) });
    if let Some(end) = line.iter().rposition(|byte| *byte == b'\n') {
        out(&line[..=end]);
        line.drain(..=end);
    }
}

/// Writes to the program's standard output, in order with what the program itself prints there.
fn out(text: &[u8]) {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    // SAFETY: the C library's stream; one call writes the text in one piece.
    unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
}

impl queue::Kernel for Launched {
    fn run(&self, member: u32) -> Result<(), u32> {
        let space = process::runtime().map(|rt| &rt.space).ok();
        if let Some(space) = space {
            space.open_guard(true);
        }
        match member {
            0 => self.run_first(),
            block => self.run_block(block),
        }
        if let Some(space) = space {
            space.open_guard(false);
        }
        Ok(())
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn stopped(self: Arc<Self>, position: u64, why: Stop) -> u32 {
        let stuck = {
            let mut meeting = self.meeting.lock();
            meeting.over = true;
            meeting.stuck
        };
        self.changed.notify_all();
        let Ok(rt) = process::runtime() else { return sys::ACL_ERROR_RT_INTERNAL_ERROR as u32 };
        report(rt, &self, position, why, stuck)
    }
}

impl Launched {
    /// Blocks in order, until they spread; then this thread's last one. Returns when all have.
    fn run_first(&self) {
        // Nobody to meet. Common, and the launch is in the launching thread's cache: it is only read.
        if self.blocks == 1 {
            return self.run_block(0);
        }
        for index in 0..self.blocks {
            self.first.store(index, Ordering::Relaxed);
            self.run_block(index);
            if self.meeting.lock().spread {
                break;
            }
        }
        let mut meeting = self.meeting.lock();
        while meeting.ended < self.blocks && !meeting.over {
            self.changed.wait(&mut meeting);
        }
    }

    fn run_block(&self, index: u32) {
        let block = Block {
            index,
            count: self.blocks,
            sub_index: 0,
            sub_count: 1,
            services: &raw const SERVICES,
            launch: self,
            line: RefCell::default(),
        };
        queue::device_code(self.code.0, self.code.1);
        // SAFETY: the image's table says that this is the kernel's entry; the instance stays loaded.
        let entry: unsafe extern "C" fn(*const c_void, *const Block) =
            unsafe { std::mem::transmute(self.entry) };
        // SAFETY: both outlive the call. What the kernel does is the program's: this thread is in a scope.
        unsafe { entry(self.arguments.place().0 as *const c_void, &raw const block) };
        let rest = block.line.into_inner();
        if !rest.is_empty() {
            out(&rest);
        }
        if self.blocks == 1 {
            return;
        }
        let mut meeting = self.meeting.lock();
        meeting.ended += 1;
        let stuck = meeting.waiting > 0 && meeting.waiting + meeting.ended >= self.blocks;
        if stuck {
            meeting.stuck = Some("some blocks wait in SyncAll for others that have ended");
        }
        drop(meeting);
        if stuck {
            queue::expire();
        }
        self.changed.notify_all();
    }

    /// SyncAll.
    fn meet(&self, index: u32) {
        let mut meeting = self.meeting.lock();
        if !meeting.spread {
            meeting.spread = true;
            let why = if self.blocks > self.site.cores {
                Some("SyncAll needs all blocks at the same time, and the device has fewer cores")
            } else if meeting.ended > 0 {
                Some("a block called SyncAll after another one had ended")
            } else {
                drop(meeting);
                let started = queue::widen(index + 1..self.blocks);
                meeting = self.meeting.lock();
                (!started).then_some("the system refuses threads for the blocks of SyncAll")
            };
            if let Some(why) = why {
                meeting.stuck = Some(why);
                drop(meeting);
                queue::stand_aside();
            }
        }
        meeting.waiting += 1;
        if meeting.waiting + meeting.ended < self.blocks {
            let round = meeting.round;
            // Over: the code behind this must not go on, and cannot be unwound.
            while meeting.round == round || meeting.over {
                if meeting.over {
                    drop(meeting);
                    queue::retire();
                }
                self.changed.wait(&mut meeting);
            }
        } else if meeting.ended > 0 {
            meeting.stuck = Some("some blocks wait in SyncAll for others that have ended");
            drop(meeting);
            queue::stand_aside();
        } else {
            meeting.waiting = 0;
            meeting.round += 1;
            self.changed.notify_all();
        }
    }
}

/// Codes of cube and mixed kernels, and of vector kernels where those are told apart. ours, by what the codes' own pages say: a trap
/// is an instruction that ends the kernel on purpose.
fn code(rt: &Runtime, launched: &Launched, why: Stop) -> i32 {
    let vector = attribute::split(rt) && launched.site.kernel().core == Core::Vector;
    let [timeout, exception, trap] = if vector {
        [
            sys::ACL_ERROR_RT_VECTOR_CORE_TIMEOUT,
            sys::ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            sys::ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION,
        ]
    } else {
        [
            sys::ACL_ERROR_RT_AICORE_TIMEOUT,
            sys::ACL_ERROR_RT_AICORE_EXCEPTION,
            sys::ACL_ERROR_RT_AICORE_TRAP_EXCEPTION,
        ]
    };
    match why {
        Stop::Late => timeout,
        Stop::GivenUp => sys::ACL_ERROR_RT_STREAM_ABORT,
        Stop::Fault { fault, .. } => match fault.fault.signal {
            libc::SIGILL | libc::SIGABRT => trap,
            _ => exception,
        },
    }
}

fn report(
    rt: &Runtime,
    launched: &Arc<Launched>,
    position: u64,
    why: Stop,
    stuck: Option<&'static str>,
) -> u32 {
    let block = match why {
        Stop::Fault { member: 0, .. } => Some(launched.first.load(Ordering::Relaxed)),
        Stop::Fault { member, .. } => Some(member),
        _ => None,
    };
    let which = match block {
        Some(block) => format!("block {block} of {}", launched.blocks),
        None if launched.blocks == 1 => "1 block".to_owned(),
        None => format!("{} blocks", launched.blocks),
    };
    let cause = match (why, stuck) {
        (Stop::Fault { fault, .. }, _) => faulted(rt, launched, &fault),
        (Stop::Late, Some(stuck)) => format!("can never end: {stuck}{}", room(rt, launched)),
        (Stop::Late, None) => match launched.limit {
            Some(limit) => format!("took longer than the operator timeout of {limit:?}"),
            None => "took too long".to_owned(),
        },
        (Stop::GivenUp, _) => "was given up: its stream was aborted or destroyed by force".to_owned(),
    };
    let site = &launched.site;
    let text = format!("kernel {} ({which}) {cause}", site.kernel().name);
    eprintln!(
        "toprope: device {}, stream {}, task {}: {text}",
        site.device, launched.stream, position as u32
    );
    let report = Report {
        text,
        function: site.function,
        binary: site.binary,
        arguments: launched.arguments.place(),
        _launch: launched.clone(),
    };
    rt.kernels.note(launched.queue, position, Arc::new(report));
    code(rt, launched, why) as u32
}

/// For a launch with more blocks than can run at the same time: how many can.
fn room(rt: &Runtime, launched: &Launched) -> String {
    let (site, product) = (&launched.site, rt.profile.product);
    if launched.blocks <= site.cores {
        return String::new();
    }
    let vector = attribute::split(rt) && site.kernel().core != Core::Vector;
    let hint = if vector && launched.blocks <= product.vector_core_num {
        format!(
            "; declared __vector__, or of type KERNEL_TYPE_AIV_ONLY, it could use {} vector cores",
            product.vector_core_num
        )
    } else {
        String::new()
    };
    format!(" ({} for {} blocks{hint})", site.cores, launched.blocks)
}

fn faulted(rt: &Runtime, launched: &Launched, fault: &KernelFault) -> String {
    let address = fault.fault.address;
    let what = match fault.fault.signal {
        libc::SIGSEGV | libc::SIGBUS => {
            let found = rt.space.find(address);
            let place = match (found, rt.space.arena(address)) {
                (None, None) => "not an address of device memory".to_owned(),
                _ => place::at(rt, address, found),
            };
            format!("touched {address:#x}, where it has no access: {place}")
        }
        libc::SIGFPE => "divided by zero (or a quotient overflowed)".to_owned(),
        libc::SIGILL => "ran into a trap".to_owned(),
        libc::SIGABRT => "called abort".to_owned(),
        signal => format!("was stopped by signal {signal}"),
    };
    // Where, for a debugger's or addr2line's sake: relative to the binary, if it is in there.
    let at = fault.pc.wrapping_sub(launched.site.instance.base());
    let file = launched.site.image.size();
    if at < file { format!("{what} (at {at:#x} of the device binary)") } else { what }
}
