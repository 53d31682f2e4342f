//! Signals: scopes that park and report, and what the rest of the process keeps. Whatever may end a process runs in a child:
//! this program again, with one test and the case's name.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "memory/pages.rs"]
mod pages;

use pages::{PAGE, Pages};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{mem, ptr, thread};
use toprope_engine::fault::{self, Abandoned, Fault, Scope, State};
use toprope_engine::memory::{AllocError, Layout, Owner, Page, Refusal, Space, copy};

const CASE: &str = "TOPROPE_TEST_CASE";

/// Runs a case in a child: its status and what it wrote to standard error.
fn run(case: &str) -> (ExitStatus, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture", "--test-threads=1"]).env(CASE, case);
    let output = command.output().unwrap();
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[track_caller]
fn ends_with(case: &str, status: i32) {
    let (ended, said) = run(case);
    assert_eq!(ended.code(), Some(status), "{case}: {ended:?}\n{said}");
}

#[track_caller]
fn dies_of(case: &str, signal: i32) {
    let (ended, said) = run(case);
    assert_eq!(ended.signal(), Some(signal), "{case}: {ended:?}\n{said}");
}

/// Not a test by itself: the cases of the other tests.
#[test]
fn child() {
    let Ok(case) = std::env::var(CASE) else { return };
    // A core file of a death on purpose is of no use.
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: sets a limit of this child.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
    match case.as_str() {
        "default" => {
            plain(libc::SIGSEGV, libc::SIG_DFL);
            fault::install();
            touch(64);
        }
        "default-fpe" => {
            plain(libc::SIGFPE, libc::SIG_DFL);
            fault::install();
            divide();
        }
        "default-abort" => {
            fault::install();
            std::process::abort();
        }
        "default-sent" => {
            plain(libc::SIGBUS, libc::SIG_DFL);
            fault::install();
            send(libc::SIGBUS);
        }
        "ignored-fault" => {
            plain(libc::SIGSEGV, libc::SIG_IGN);
            fault::install();
            touch(64);
        }
        "ignored-sent" => {
            plain(libc::SIGSEGV, libc::SIG_IGN);
            fault::install();
            send(libc::SIGSEGV);
            exit(11);
        }
        "own-handler" => {
            with_info(libc::SIGSEGV, leave_with_12_at_64, 0);
            fault::install();
            copies_fail();
            touch(64);
        }
        "own-plain-handler" => {
            plain(libc::SIGSEGV, leave_with_13 as extern "C" fn(i32) as *const () as usize);
            fault::install();
            touch(64);
        }
        "own-handler-repairs" => {
            let area = Pages::new(1);
            area.close(0);
            REPAIR.store(area.base, Ordering::Relaxed);
            with_info(libc::SIGSEGV, repair, 0);
            fault::install();
            touch(area.base);
            touch(area.base);
            exit(14 + COUNT.load(Ordering::Relaxed) as i32);
        }
        "one-shot" => {
            with_info(libc::SIGSEGV, count, libc::SA_RESETHAND);
            fault::install();
            // The handler returns, the instruction faults again, and this time the default is in place.
            touch(64);
        }
        "handler-mask" => {
            with_info(libc::SIGSEGV, leave_with_blocked, 0);
            fault::install();
            touch(64);
        }
        "handler-nodefer" => {
            with_info(libc::SIGSEGV, leave_with_blocked, libc::SA_NODEFER);
            fault::install();
            touch(64);
        }
        "installed-later" => {
            fault::install();
            with_info(libc::SIGSEGV, leave_with_12_at_64, 0);
            fault::install();
            copies_fail();
            touch(64);
        }
        "hands-on" => {
            // Two handlers that each call the one that was there before: the later one's is ours.
            with_info(libc::SIGSEGV, leave_with_12_at_64, 0);
            fault::install();
            with_info(libc::SIGSEGV, hand_on, 0);
            fault::install();
            touch(64);
        }
        "restores-and-raises" => {
            // As Python's faulthandler does it.
            plain(libc::SIGSEGV, libc::SIG_DFL);
            fault::install();
            with_info(libc::SIGSEGV, restore_and_raise, libc::SA_NODEFER);
            fault::install();
            touch(64);
        }
        "leaves-twice" => {
            with_info(libc::SIGSEGV, skip, 0);
            fault::install();
            for _ in 0..3 {
                touch(64);
            }
            assert_eq!(COUNT.load(Ordering::Relaxed), 3);
            copies_fail();
            exit(15);
        }
        "interrupted-copy" => {
            // A handler of the program interrupts a copy and faults by itself: that is not the copy's fault.
            with_info(libc::SIGSEGV, leave_with_12_at_64, 0);
            fault::install();
            plain(libc::SIGALRM, touch_64 as extern "C" fn(i32) as *const () as usize);
            let (from, to) = (Pages::new(4096), Pages::new(4096));
            // SAFETY: signals to a thread that lives as long as this child; its own pages.
            unsafe {
                let this = libc::pthread_self();
                thread::spawn(move || {
                    for _ in 0..1000 {
                        thread::sleep(Duration::from_millis(2));
                        libc::pthread_kill(this, libc::SIGALRM);
                    }
                });
                for _ in 0..10_000 {
                    copy(to.base, from.base, to.len).unwrap();
                }
            }
        }
        "overflow-in-scope" => {
            let scope = Scope::leak();
            thread::spawn(move || scope.enter(|| recurse(1)));
            let fault = scope.wait_fault(Duration::from_secs(20)).map(|f| f.fault.signal);
            exit(if fault == Some(libc::SIGSEGV) { 16 } else { 1 });
        }
        "overflow-in-second-hand-scope" => {
            // Threads of C: those of Rust have a signal stack of their own in a Rust program.
            static SCOPE: std::sync::OnceLock<&Scope> = std::sync::OnceLock::new();
            extern "C" fn enter(deep: *mut std::ffi::c_void) -> *mut std::ffi::c_void {
                let _ = SCOPE.get_or_init(Scope::leak).enter(|| if deep.is_null() { 0 } else { recurse(1) });
                std::ptr::null_mut()
            }
            let start = |deep: usize| {
                let mut thread = 0;
                // SAFETY: a plain function, and a number as its argument.
                let code = unsafe {
                    libc::pthread_create(&mut thread, std::ptr::null(), enter, deep as *mut std::ffi::c_void)
                };
                assert_eq!(code, 0);
                thread
            };
            // SAFETY: joined once.
            unsafe { libc::pthread_join(start(0), std::ptr::null_mut()) };
            start(1);
            let fault = SCOPE.get_or_init(Scope::leak).wait_fault(Duration::from_secs(20));
            exit(if fault.map(|f| f.fault.signal) == Some(libc::SIGSEGV) { 16 } else { 1 });
        }
        "host-abort-beside-scope" => {
            let scope = Scope::leak();
            assert_eq!(scope.enter(|| 3), Ok(3));
            std::process::abort();
        }
        "blocked" => {
            // A program that blocks every signal in its threads.
            // SAFETY: a full set is a set.
            unsafe {
                let mut all: libc::sigset_t = mem::zeroed();
                libc::sigfillset(&mut all);
                libc::pthread_sigmask(libc::SIG_BLOCK, &all, ptr::null_mut());
            }
            thread::spawn(copies_fail).join().unwrap();
            exit(17);
        }
        "forked" => {
            fault::install();
            let space = Space::new(LAYOUT).unwrap();
            let block = space.alloc(Owner::Device(0), 100, 100, 64, Page::Normal, 0).unwrap();
            assert!(!fault::forked());
            // SAFETY: the child only stores, copies and ends.
            let status = unsafe {
                let child = libc::fork();
                if child == 0 {
                    let gone = copy(space.inner(block.base), b"x".as_ptr() as usize, 1).is_err()
                        && copy(block.base, b"x".as_ptr() as usize, 1).is_err();
                    libc::_exit(if fault::forked() && gone { 18 } else { 1 });
                }
                let mut status = 0;
                libc::waitpid(child, &mut status, 0);
                libc::WEXITSTATUS(status)
            };
            assert!(!fault::forked());
            exit(status);
        }
        "address-space" => {
            let limit = libc::rlimit { rlim_cur: 4 << 30, rlim_max: 4 << 30 };
            // SAFETY: sets a limit of this child.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
            let space = Space::new(LAYOUT).unwrap();
            let get = |owner| space.alloc(owner, 100, 100, 64, Page::Normal, 0);
            let refused = |bytes| Err(AllocError::Refused(Refusal { errno: libc::ENOMEM, bytes }));
            // What is said is the least that would do; a device needs its addresses twice.
            for (owner, bytes) in [
                (Owner::Device(0), 128 << 30),
                (Owner::Image(1), 128 << 30),
                (Owner::Managed, 3 << 40),
                (Owner::Alias, 16 << 30),
            ] {
                assert_eq!(get(owner), refused(bytes));
                assert_eq!(get(owner), refused(bytes), "again");
            }
            let text = Refusal { errno: libc::ENOMEM, bytes: 5 }.to_string();
            assert_eq!(
                text,
                "the system refused 5 bytes of address space: Cannot allocate memory (os error 12)"
            );
            assert!(get(Owner::Pinned).is_ok(), "1 GiB fits");
            let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
            // SAFETY: as above.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
            let none = Refusal { errno: libc::ENOMEM, bytes: 0 };
            assert_eq!(Space::new(LAYOUT).map(|_| ()), Err(AllocError::Refused(none)));
            exit(19);
        }
        "file-size" => {
            let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
            // SAFETY: sets a limit of this child.
            unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
            let space = Space::new(LAYOUT).unwrap();
            let result = space.alloc(Owner::Device(0), 100, 100, 64, Page::Normal, 0);
            assert_eq!(
                result.map_err(|error| matches!(
                    error,
                    AllocError::Refused(Refusal { errno: libc::EFBIG, .. })
                )),
                Err(true)
            );
            exit(20);
        }
        "descriptors" => {
            // SAFETY: closes descriptors as a program does that becomes a daemon, and opens a file in their place.
            unsafe {
                let space = Space::new(LAYOUT).unwrap();
                let size = 100 << 20;
                let block = space.alloc(Owner::Device(0), size, size, 64, Page::Normal, 0).unwrap();
                for fd in 3..100 {
                    libc::close(fd);
                }
                let files: Vec<i32> = (0..20).map(|_| libc::memfd_create(c"own".as_ptr(), 0)).collect();
                for &file in &files {
                    assert_eq!(libc::write(file, b"mine".as_ptr().cast(), 4), 4);
                }
                space.free(block.base).unwrap();
                drop(space);
                for &file in &files {
                    let mut bytes = [0u8; 4];
                    assert_eq!(libc::pread(file, bytes.as_mut_ptr().cast(), 4, 0), 4, "still open");
                    assert_eq!(&bytes, b"mine", "not punched");
                }
            }
            exit(21);
        }
        "no-room-for-two" => {
            // Address space for the least, not for twice as much.
            let limit = libc::rlimit { rlim_cur: 3 << 30, rlim_max: 3 << 30 };
            // SAFETY: sets a limit of this child.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
            let space = Space::new(Layout { device_bytes: 1 << 30, ..LAYOUT }).unwrap();
            assert!(space.alloc(Owner::Device(0), 1 << 30, 1 << 30, 64, Page::Normal, 0).is_ok());
            exit(22);
        }
        "less-pinned" => {
            let limit = libc::rlimit { rlim_cur: 6 << 30, rlim_max: 6 << 30 };
            // SAFETY: sets a limit of this child.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
            let space = Space::new(Layout { pinned_bytes: 64 << 30, ..LAYOUT }).unwrap();
            let get = |gib: usize| space.alloc(Owner::Pinned, gib << 30, gib << 30, 64, Page::Normal, 0);
            let block = get(3).unwrap();
            // 64 GiB are allowed; 4 GiB of addresses were to be had.
            assert_eq!(get(2), Err(AllocError::Exhausted { asked: 2 << 30, free: 1 << 30 }));
            assert!(get(1).is_ok());
            space.free(block.base).unwrap();
            assert!(get(3).is_ok());
            exit(23);
        }
        other => panic!("no case {other}"),
    }
    panic!("{case} came to its end");
}

const LAYOUT: Layout = Layout {
    devices: 2,
    device_bytes: 64 << 30,
    pinned_bytes: 1 << 30,
    mirror_pinned: false,
    guard: true,
    managed_base: 0x900_0000_0000,
    managed_bytes: 3 << 40,
};

static COUNT: AtomicUsize = AtomicUsize::new(0);
static REPAIR: AtomicUsize = AtomicUsize::new(0);
static PREVIOUS: AtomicUsize = AtomicUsize::new(0);
static PREVIOUS_ACTION: std::sync::Mutex<Option<libc::sigaction>> = std::sync::Mutex::new(None);

type Info = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// Ends the child at once; allowed in handlers.
fn exit(status: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(status) }
}

fn plain(signal: i32, handler: usize) {
    // SAFETY: sets a handler of this child.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler;
        assert_eq!(libc::sigaction(signal, &action, ptr::null_mut()), 0);
    }
}

fn with_info(signal: i32, handler: Info, flags: i32) {
    // SAFETY: sets a handler of this child.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | flags;
        libc::sigaddset(&mut action.sa_mask, libc::SIGUSR1);
        let mut old: libc::sigaction = mem::zeroed();
        assert_eq!(libc::sigaction(signal, &action, &mut old), 0);
        PREVIOUS.store(old.sa_sigaction, Ordering::Relaxed);
        *PREVIOUS_ACTION.lock().unwrap() = Some(old);
    }
}

fn send(signal: i32) {
    // SAFETY: sends a signal to this child.
    unsafe { libc::kill(libc::getpid(), signal) };
    thread::sleep(Duration::from_millis(50));
}

/// Reads a byte, mapped or not.
#[inline(never)]
fn touch(address: usize) -> u8 {
    // SAFETY: in children that are to fault.
    unsafe { ptr::with_exposed_provenance::<u8>(std::hint::black_box(address)).read_volatile() }
}

/// Divides by zero as compiled C code does.
#[inline(never)]
fn divide() {
    // SAFETY: raises a fault, in children and scopes that are to.
    unsafe {
        std::arch::asm!("xor ecx, ecx", "mov eax, 1", "cdq", "idiv ecx", out("eax") _, out("ecx") _, out("edx") _);
    }
}

fn copies_fail() {
    let byte = 1u8;
    // SAFETY: nobody's memory.
    let result = unsafe { copy(8, &raw const byte as usize, 1) };
    assert_eq!(result, Err(Fault { signal: libc::SIGSEGV, address: 8 }));
}

#[inline(never)]
fn recurse(depth: usize) -> usize {
    let frame = std::hint::black_box([depth; 64]);
    if depth == usize::MAX { 0 } else { recurse(depth + 1) + frame[depth % 64] }
}

fn address(info: *mut libc::siginfo_t) -> usize {
    // SAFETY: the handler's argument.
    unsafe { (*info).si_addr() as usize }
}

extern "C" fn leave_with_12_at_64(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    exit(if signal == libc::SIGSEGV && address(info) == 64 { 12 } else { 1 });
}
extern "C" fn touch_64(_: i32) {
    touch(64);
}
extern "C" fn leave_with_13(signal: i32) {
    exit(if signal == libc::SIGSEGV { 13 } else { 1 });
}
extern "C" fn repair(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let page = REPAIR.load(Ordering::Relaxed);
    if address(info) != page {
        exit(1);
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the case's own page.
    unsafe { libc::mprotect(page as *mut libc::c_void, PAGE, libc::PROT_READ) };
}
extern "C" fn count(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    if COUNT.fetch_add(1, Ordering::Relaxed) > 0 {
        exit(1);
    }
}
extern "C" fn leave_with_blocked(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: reads the mask.
    unsafe {
        let mut now: libc::sigset_t = mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &mut now);
        let (own, usr1) = (libc::sigismember(&now, libc::SIGSEGV), libc::sigismember(&now, libc::SIGUSR1));
        exit(30 + 2 * own + usr1);
    }
}
extern "C" fn hand_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if COUNT.fetch_add(1, Ordering::Relaxed) > 0 {
        exit(1);
    }
    // SAFETY: the handler that was there before: ours, of this kind.
    let before: Info = unsafe { mem::transmute(PREVIOUS.load(Ordering::Relaxed)) };
    before(signal, info, context);
}
extern "C" fn restore_and_raise(signal: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    if COUNT.fetch_add(1, Ordering::Relaxed) > 0 {
        exit(1);
    }
    let before = PREVIOUS_ACTION.lock().unwrap().unwrap();
    // SAFETY: puts an action back that was there.
    unsafe {
        libc::sigaction(signal, &before, ptr::null_mut());
        libc::raise(signal);
    }
}
extern "C" fn skip(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the handler's argument. `touch` is left as by its return instruction.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let sp = registers[libc::REG_RSP as usize];
        registers[libc::REG_RIP as usize] = *(sp as *const i64);
        registers[libc::REG_RSP as usize] = sp + 8;
    }
}

#[test]
fn without_a_handler_a_fault_ends_the_process_as_ever() {
    dies_of("default", libc::SIGSEGV);
    dies_of("default-fpe", libc::SIGFPE);
    dies_of("default-abort", libc::SIGABRT);
    dies_of("default-sent", libc::SIGBUS);
}

#[test]
fn ignoring_holds_for_sent_signals_only() {
    dies_of("ignored-fault", libc::SIGSEGV);
    ends_with("ignored-sent", 11);
}

#[test]
fn the_program_s_handler_runs() {
    ends_with("own-handler", 12);
    ends_with("own-plain-handler", 13);
    ends_with("own-handler-repairs", 15);
    ends_with("leaves-twice", 15);
    ends_with("interrupted-copy", 12);
}

#[test]
fn a_handler_keeps_its_flags_and_its_mask() {
    dies_of("one-shot", libc::SIGSEGV);
    ends_with("handler-mask", 33);
    ends_with("handler-nodefer", 31);
}

#[test]
fn a_handler_installed_later_is_kept_and_may_hand_on() {
    ends_with("installed-later", 12);
    ends_with("hands-on", 12);
    dies_of("restores-and-raises", libc::SIGSEGV);
}

#[test]
fn threads_that_block_signals_can_copy() {
    ends_with("blocked", 17);
}

#[test]
fn a_forked_child_has_no_memory_and_knows_it() {
    ends_with("forked", 18);
}

#[test]
fn refusals_of_the_system_are_errors() {
    ends_with("address-space", 19);
    ends_with("file-size", 20);
    ends_with("no-room-for-two", 22);
    ends_with("less-pinned", 23);
}

#[test]
fn descriptors_that_the_program_took_stay_its_own() {
    ends_with("descriptors", 21);
}

/// Runs code in a scope on a thread of its own, and waits for its fault.
fn faults(code: impl FnOnce() + Send + 'static) -> fault::KernelFault {
    let scope = Scope::leak();
    let worker = thread::spawn(move || scope.enter(code));
    let fault = scope.wait_fault(Duration::from_secs(20)).unwrap();
    assert_eq!(scope.state(), State::Faulted);
    assert!(!worker.is_finished());
    assert_eq!(scope.entry(), None);
    assert_eq!(scope.enter(|| ()), Err(Abandoned));
    fault
}

#[test]
fn a_scope_parks_and_reports() {
    let fault = faults(|| {
        touch(72);
    });
    assert_eq!(fault.fault, Fault { signal: libc::SIGSEGV, address: 72 });
    let near = touch as fn(usize) -> u8 as usize;
    assert!(fault.pc.wrapping_sub(near) < 200, "{:#x} in {near:#x}", fault.pc);
    assert_eq!(faults(divide).fault.signal, libc::SIGFPE);
    // SAFETY: an instruction that no processor has.
    assert_eq!(faults(|| unsafe { std::arch::asm!("ud2") }).fault.signal, libc::SIGILL);
    // SAFETY: aborts, in a scope.
    assert_eq!(faults(|| unsafe { libc::abort() }).fault.signal, libc::SIGABRT);
    ends_with("overflow-in-scope", 16);
    ends_with("overflow-in-second-hand-scope", 16);
    dies_of("host-abort-beside-scope", libc::SIGABRT);
}

#[test]
fn many_scopes_fault_at_once() {
    let before = fault::fault_count();
    let scopes: Vec<_> = (0..16).map(|_| Scope::leak()).collect();
    for (at, &scope) in scopes.iter().enumerate() {
        thread::spawn(move || scope.enter(|| touch(1000 + at)));
    }
    for (at, scope) in scopes.iter().enumerate() {
        assert_eq!(scope.wait_fault(Duration::from_secs(20)).unwrap().fault.address, 1000 + at);
    }
    assert!(fault::fault_count().wrapping_sub(before) >= 16);
}

#[test]
fn a_scope_serves_again_and_again() {
    let scope = Scope::leak();
    assert_eq!((scope.state(), scope.fault(), scope.entry()), (State::Idle, None, None));
    for round in 0..1000 {
        assert_eq!(scope.enter(|| (scope.state(), round)), Ok((State::Running, round)));
    }
    // A copy's fault inside is the copy's, not the scope's.
    assert_eq!(scope.enter(copies_fail), Ok(()));
    let panicked = std::panic::catch_unwind(|| scope.enter(|| panic!("on purpose")));
    assert!(panicked.is_err());
    assert_eq!((scope.state(), scope.fault()), (State::Idle, None));
    let start = Instant::now();
    assert_eq!(scope.wait_fault(Duration::from_millis(20)), None);
    assert!(start.elapsed() >= Duration::from_millis(20));
}

#[test]
fn code_that_runs_too_long_is_left_behind() {
    let scope = Scope::leak();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let worker = thread::spawn(move || scope.enter(move || wait.recv().is_ok()));
    while scope.state() != State::Running {
        thread::yield_now();
    }
    let entry = scope.entry().unwrap();
    assert!(scope.abandon(entry));
    assert!(!scope.abandon(entry) && scope.entry().is_none());
    assert_eq!(scope.state(), State::Abandoned);
    go.send(()).unwrap();
    assert_eq!(worker.join().unwrap(), Err(Abandoned));
    assert_eq!((scope.state(), scope.fault()), (State::Abandoned, None));

    // Abandoned code that then faults is parked, and stays abandoned.
    let scope = Scope::leak();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let worker = thread::spawn(move || scope.enter(move || wait.recv().map(|()| touch(80))).is_ok());
    while scope.state() != State::Running {
        thread::yield_now();
    }
    assert!(scope.abandon(scope.entry().unwrap()));
    go.send(()).unwrap();
    thread::sleep(Duration::from_millis(50));
    assert!(!worker.is_finished());
    assert_eq!((scope.state(), scope.fault()), (State::Abandoned, None));
}

/// What was found to run too long is given up, not what runs there by then.
#[test]
fn an_entry_that_is_over_cannot_be_given_up() {
    let scope = Scope::leak();
    let first = scope.enter(|| scope.entry().unwrap()).unwrap();
    assert!(!scope.abandon(first));
    let second = scope.enter(|| {
        assert!(!scope.abandon(first));
        scope.entry().unwrap()
    });
    assert!(second.is_ok_and(|second| second != first));
    assert_eq!(scope.state(), State::Idle);
}

/// A thread gets a signal stack with its first copy, unless it has one, and leaves none behind.
#[test]
fn signal_stacks_come_and_go() {
    let stack = || {
        // SAFETY: asks.
        unsafe {
            let mut now: libc::stack_t = mem::zeroed();
            libc::sigaltstack(ptr::null(), &mut now);
            (now.ss_sp as usize, now.ss_flags)
        }
    };
    let maps = || std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = move |at: usize| {
        maps().lines().any(|line| {
            let (range, _) = line.split_once(' ').unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let number = |text| usize::from_str_radix(text, 16).unwrap();
            (number(start)..number(end)).contains(&at) && line.contains(" rw-p ")
        })
    };
    let (own, theirs) = thread::spawn(move || {
        // Rust's own threads come with a signal stack; take it away to be like a thread of C.
        let theirs = stack();
        let off = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: this thread's stack, not in use.
        unsafe { libc::sigaltstack(&off, ptr::null_mut()) };
        copies_fail();
        let own = stack();
        assert_eq!(own.1 & libc::SS_DISABLE, 0);
        assert!(mapped(own.0));
        (own, theirs)
    })
    .join()
    .unwrap();
    assert_ne!(own.0, theirs.0);
    let kept = thread::spawn(move || {
        let theirs = stack();
        copies_fail();
        (theirs, stack())
    })
    .join()
    .unwrap();
    if kept.0.1 & libc::SS_DISABLE == 0 {
        assert_eq!(kept.0, kept.1);
    }
}
