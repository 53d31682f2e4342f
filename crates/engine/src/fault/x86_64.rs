//! Everything that knows the processor: the copy trampoline, the words of a thread, the registers of an interrupted
//! context, the protection-key register.
//!
//! The thread words live in a thread-local symbol of the initial-exec model: five words at a fixed distance from the thread
//! pointer, present in every thread from its birth, so that reading them allocates nothing and a signal handler may do it.
//! (A library that is loaded at run time gets them from the loader's reserve for such symbols.)

use crate::fault::Fault;
use std::arch::{asm, global_asm};
use std::ffi::c_void;

// The trampoline. Its frame, from `guard` upwards: the guard before it, padding, dst, src, len, r15 r14 r13 r12 rbx rbp,
// return address. The handler resumes at `toprope_engine_guard_resume` with the stack pointer at `guard`, the signal in
// rax, the address in rdx and, in r8, whether the upper vector halves must be cleared: the interrupted routine was about
// to do so. Callee-saved registers come back from the frame. No shadow-stack fix-up is needed: Rust objects carry no
// shadow-stack mark, so the C library keeps that feature off in a process that holds them.
global_asm!(
    ".pushsection .tbss.toprope_engine_thread,\"awT\",@nobits",
    ".balign 8",
    ".globl toprope_engine_thread",
    ".hidden toprope_engine_thread",
    ".type toprope_engine_thread,@object",
    ".size toprope_engine_thread,40",
    "toprope_engine_thread:",
    ".zero 40",
    ".popsection",
    ".pushsection .text.toprope_engine_guarded,\"ax\",@progbits",
    ".balign 64",
    ".globl toprope_engine_guarded",
    ".hidden toprope_engine_guarded",
    ".type toprope_engine_guarded,@function",
    "toprope_engine_guarded:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbp, 0",
    "push rbx",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbx, 0",
    "push r12",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r12, 0",
    "push r13",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r13, 0",
    "push r14",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r14, 0",
    "push r15",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r15, 0",
    "mov rax, qword ptr [rip + toprope_engine_thread@GOTTPOFF]",
    "mov r9, qword ptr fs:[rax]",
    "sub rsp, 40",
    ".cfi_adjust_cfa_offset 40",
    "mov qword ptr [rsp], r9",
    "mov qword ptr [rsp + 16], rdi",
    "mov qword ptr [rsp + 24], rsi",
    "mov qword ptr [rsp + 32], rdx",
    "mov qword ptr fs:[rax], rsp",
    "call rcx",
    "mov r9, qword ptr [rsp]",
    "mov rcx, qword ptr [rip + toprope_engine_thread@GOTTPOFF]",
    "mov qword ptr fs:[rcx], r9",
    "xor eax, eax",
    // Nothing was clobbered that the frame holds: the routine kept the callee-saved registers.
    "add rsp, 88",
    ".cfi_adjust_cfa_offset -88",
    ".cfi_same_value rbp",
    ".cfi_same_value rbx",
    ".cfi_same_value r12",
    ".cfi_same_value r13",
    ".cfi_same_value r14",
    ".cfi_same_value r15",
    "ret",
    ".globl toprope_engine_guard_resume",
    ".hidden toprope_engine_guard_resume",
    "toprope_engine_guard_resume:",
    ".cfi_adjust_cfa_offset 88",
    ".cfi_rel_offset rbp, 80",
    ".cfi_rel_offset rbx, 72",
    ".cfi_rel_offset r12, 64",
    ".cfi_rel_offset r13, 56",
    ".cfi_rel_offset r14, 48",
    ".cfi_rel_offset r15, 40",
    "test r8d, r8d",
    "jz 2f",
    "vzeroupper",
    "2:",
    "mov r9, qword ptr [rsp]",
    "mov rcx, qword ptr [rip + toprope_engine_thread@GOTTPOFF]",
    "mov qword ptr fs:[rcx], r9",
    "add rsp, 40",
    ".cfi_adjust_cfa_offset -40",
    "pop r15",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_same_value r15",
    "pop r14",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_same_value r14",
    "pop r13",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_same_value r13",
    "pop r12",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_same_value r12",
    "pop rbx",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_same_value rbx",
    "pop rbp",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_same_value rbp",
    "ret",
    ".cfi_endproc",
    ".size toprope_engine_guarded, . - toprope_engine_guarded",
    ".popsection",
);

/// What the trampoline returns, in rax and rdx.
#[repr(C)]
struct Outcome {
    /// 0, or the signal that stopped the routine.
    signal: usize,
    /// The address that was touched; means nothing when `signal` is 0.
    address: usize,
}

unsafe extern "C" {
    fn toprope_engine_guarded(dst: usize, src: usize, len: usize, routine: *const c_void) -> Outcome;
    fn toprope_engine_guard_resume();
}

/// Where the trampoline keeps the operands, above `guard`.
#[repr(C)]
struct Frame {
    outer: usize,
    padding: usize,
    dst: usize,
    src: usize,
    len: usize,
}

/// The words of a thread; the head of [`crate::fault`] says who writes which.
#[repr(C)]
pub(crate) struct Words {
    pub guard: usize,
    pub scope: usize,
    pub ready: usize,
    pub chained: usize,
    pub chained_at: usize,
}

/// The calling thread's words.
#[inline(always)]
pub(crate) fn words() -> *mut Words {
    let place: *mut Words;
    // SAFETY: reads the thread pointer and a constant; the symbol above has the layout of `Words`.
    unsafe {
        asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + toprope_engine_thread@GOTTPOFF]",
            out(reg) place,
            options(nostack, readonly)
        );
    }
    place
}

/// A routine that the trampoline can run: one of the C library that touches `[dst, dst + len)` and perhaps `[src, src + len)`, or one
/// that tells its [`operands`] as it goes. It holds no lock and needs no clean-up.
pub(crate) type Routine = *const c_void;

/// Runs `routine(dst, src, len)`; an access of it that faults ends it and is returned. `span` is handed over as the third
/// argument.
///
/// # Safety
/// `routine` is a `memmove`, `memset` or `wmemset`, or tells its [`operands`]; what it writes is not memory that Rust code holds
/// references to.
#[inline(always)]
pub(crate) unsafe fn guarded(dst: usize, src: usize, span: usize, routine: Routine) -> Result<(), Fault> {
    // SAFETY: the trampoline follows the C calling convention, and the caller answers for the routine and the ranges.
    let outcome = unsafe { toprope_engine_guarded(dst, src, span, routine) };
    if outcome.signal == 0 {
        return Ok(());
    }
    Err(Fault { signal: outcome.signal as i32, address: outcome.address })
}

/// Inside a routine that makes several accesses: these are the operands now.
#[inline(always)]
pub(crate) fn operands(dst: usize, src: usize, len: usize) {
    // SAFETY: a routine runs under the guard, so `guard` leads to the trampoline's frame, which only this thread uses.
    unsafe {
        let frame = (*words()).guard as *mut Frame;
        (&raw mut (*frame).dst).write_volatile(dst);
        (&raw mut (*frame).src).write_volatile(src);
        (&raw mut (*frame).len).write_volatile(len);
    }
}

/// How far below its frame the routine's stack may reach: less than a signal frame and a handler below it need. (A sanitizer's
/// version of a routine reaches further; then the address must be one of the operands'.)
const ROUTINE_STACK: usize = 1024;

/// Handler only: if the interrupted code is a guarded routine and the fault its own, makes `context` return from the
/// trampoline with the fault.
///
/// # Safety
/// `context` is the one that the kernel gave to the handler of a synchronous fault on this thread.
pub(crate) unsafe fn resume(context: *mut c_void, signal: i32, address: usize) -> bool {
    // SAFETY: the thread's own words; the trampoline set `guard` to its frame, which lives until `guard` is restored.
    let (guard, frame) = unsafe {
        let guard = (*words()).guard;
        if guard == 0 {
            return false;
        }
        (guard, &*(guard as *const Frame))
    };
    // SAFETY: the caller passes the kernel's context.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // A handler of the program may have interrupted the routine and faulted by itself; its stack is elsewhere or far below.
    let sp = registers[libc::REG_RSP as usize] as usize;
    let near = sp <= guard && guard - sp <= ROUTINE_STACK;
    // `len` may count 4-byte words, so the range is taken four times as long.
    let span = frame.len.saturating_mul(4);
    let within = |start: usize| address.wrapping_sub(start) < span;
    // The kernel gives no address if it is none that a process can have.
    const CANONICAL_END: usize = 1 << 47;
    let beyond = |start: usize| address == 0 && start.saturating_add(span) > CANONICAL_END;
    if ![frame.dst, frame.src].iter().any(|&start| near || within(start) || beyond(start)) {
        return false;
    }
    const DIRECTION_FLAG: i64 = 0x400;
    registers[libc::REG_RSP as usize] = guard as i64;
    registers[libc::REG_RIP as usize] = toprope_engine_guard_resume as *const () as i64;
    registers[libc::REG_RAX as usize] = i64::from(signal);
    registers[libc::REG_RDX as usize] = address as i64;
    registers[libc::REG_R8 as usize] = i64::from(std::arch::is_x86_feature_detected!("avx"));
    registers[libc::REG_EFL as usize] &= !DIRECTION_FLAG;
    true
}

/// Stack pointer and program counter of an interrupted context.
///
/// # Safety
/// `context` is the one that the kernel gave to a signal handler.
pub(crate) unsafe fn place(context: *const c_void) -> (usize, usize) {
    // SAFETY: by the contract above.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    (registers[libc::REG_RSP as usize] as usize, registers[libc::REG_RIP as usize] as usize)
}

/// Whether the access that faulted was a write.
///
/// # Safety
/// `context` is the one that the kernel gave to the handler of a page fault.
pub(crate) unsafe fn was_write(context: *const c_void) -> bool {
    // SAFETY: by the contract above. Bit 1 of the processor's error code.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0 }
}

/// Gives the calling thread access to pages of a protection key, or takes it away.
///
/// # Safety
/// The processor has protection keys and the system uses them (`pkey_alloc` succeeded).
pub(crate) unsafe fn key_access(key: u32, open: bool) {
    // Two bits per key: access disabled, write disabled.
    let mask = 3u32 << (2 * key);
    // SAFETY: with keys in use both instructions are defined; rcx and rdx must be 0. Other keys' bits stay.
    unsafe {
        let rights: u32;
        asm!("rdpkru", in("ecx") 0, out("eax") rights, out("edx") _, options(nomem, nostack, preserves_flags));
        let rights = if open { rights & !mask } else { rights | mask };
        // No `nomem`: accesses must not move over the change.
        asm!("wrpkru", in("eax") rights, in("ecx") 0, in("edx") 0, options(nostack, preserves_flags));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A routine that leaves as much behind as it can before it touches `dst`: the direction flag, wide registers, a moved
    // stack, and every callee-saved register.
    global_asm!(
        ".pushsection .text.toprope_engine_test_rude,\"ax\",@progbits",
        ".hidden toprope_engine_test_rude",
        ".globl toprope_engine_test_rude",
        "toprope_engine_test_rude:",
        "push rbp",
        "push rbx",
        "sub rsp, 256",
        "xor ebp, ebp",
        "xor ebx, ebx",
        "xor r12d, r12d",
        "xor r13d, r13d",
        "xor r14d, r14d",
        "xor r15d, r15d",
        "std",
        "mov byte ptr [rdi], 1",
        "ud2",
        ".popsection",
    );
    unsafe extern "C" {
        fn toprope_engine_test_rude();
    }

    #[test]
    fn a_fault_leaves_nothing_behind() {
        crate::fault::prepare_thread();
        let values: Vec<u64> = (0..8).map(std::hint::black_box).collect();
        let [a, b, c, d, e, f, g, h] = values[..] else { panic!() };
        let outer = 0x1234;
        for round in 0..3 {
            // SAFETY: the routine does nothing but fault; the words are this thread's. A word that is not zero is put in
            // place to see that it comes back; no handler follows it, because the trampoline's own frame is in front.
            let (result, flags, guard) = unsafe {
                (*words()).guard = outer;
                let result = guarded(64 + round, 0, 1, toprope_engine_test_rude as Routine);
                let flags: u64;
                asm!("pushfq", "pop {}", out(reg) flags);
                asm!("cld");
                (result, flags, std::mem::replace(&mut (*words()).guard, 0))
            };
            assert_eq!(result, Err(Fault { signal: libc::SIGSEGV, address: 64 + round }));
            assert_eq!(flags & 0x400, 0, "direction flag");
            assert_eq!(guard, outer);
        }
        assert_eq!([a, b, c, d, e, f, g, h], [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_copy_that_ends_well_leaves_the_guard_as_it_was() {
        let (from, mut to) = (7u8, 0u8);
        // SAFETY: two bytes of this frame; the thread's own words.
        unsafe {
            guarded(&raw mut to as usize, &raw const from as usize, 1, libc::memmove as Routine).unwrap();
            assert_eq!((*words()).guard, 0);
            assert_eq!((&raw const to).read_volatile(), 7);
        }
    }
}
