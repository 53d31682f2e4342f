//! Chapter 24: log lines of the program. `aclAppLog` takes its arguments like printf, and stable Rust cannot define such a
//! function: on x86-64 a few instructions build the `va_list` that C would, and hand it to [`write`].

use std::ffi::{CStr, c_char, c_void};

use ascendcl_sys::*;
use toprope_runtime::call::value;
use toprope_runtime::{Api, log, observer, refuse};

use crate::arg;

/// Prints a log line when the environment asks for it.
///
/// # Safety
/// As printf: `fmt` and the arguments behind it belong together.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclAppLog(
    logLevel: aclLogLevel,
    func: *const c_char,
    file: *const c_char,
    line: u32,
    fmt: *const c_char,
) {
    // System V ABI, "variable argument lists". rsp+0: the va_list; rsp+32: the register save area; the caller's stack
    // arguments begin behind our frame (216) and the return address (8). Five registers are taken by named arguments; al tells
    // whether vector registers hold any.
    core::arch::naked_asm!(
        "sub rsp, 216",
        "mov [rsp + 32], rdi",
        "mov [rsp + 40], rsi",
        "mov [rsp + 48], rdx",
        "mov [rsp + 56], rcx",
        "mov [rsp + 64], r8",
        "mov [rsp + 72], r9",
        "test al, al",
        "je 2f",
        "movaps [rsp + 80], xmm0",
        "movaps [rsp + 96], xmm1",
        "movaps [rsp + 112], xmm2",
        "movaps [rsp + 128], xmm3",
        "movaps [rsp + 144], xmm4",
        "movaps [rsp + 160], xmm5",
        "movaps [rsp + 176], xmm6",
        "movaps [rsp + 192], xmm7",
        "2:",
        "mov dword ptr [rsp], 40",
        "mov dword ptr [rsp + 4], 48",
        "lea rax, [rsp + 224]",
        "mov [rsp + 8], rax",
        "lea rax, [rsp + 32]",
        "mov [rsp + 16], rax",
        "mov r9, rsp",
        "call {enter}",
        "add rsp, 216",
        "ret",
        enter = sym enter,
    )
}

/// Prints a log line when the environment asks for it; without its arguments, which only x86-64 code reads.
///
/// # Safety
/// As printf: `fmt` and the arguments behind it belong together.
#[cfg(not(target_arch = "x86_64"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclAppLog(
    logLevel: aclLogLevel,
    func: *const c_char,
    file: *const c_char,
    line: u32,
    fmt: *const c_char,
) {
    // SAFETY: as the caller promises; a null list is not read.
    unsafe { write(logLevel, func, file, line, fmt, std::ptr::null_mut()) };
}

unsafe extern "C" {
    fn vsnprintf(buffer: *mut c_char, size: usize, fmt: *const c_char, arguments: *mut c_void) -> i32;
}

/// [`write`], as the instructions above call it.
///
/// # Safety
/// As [`write`].
#[cfg(target_arch = "x86_64")]
unsafe extern "sysv64" fn enter(
    level: aclLogLevel,
    func: *const c_char,
    file: *const c_char,
    line: u32,
    fmt: *const c_char,
    arguments: *mut c_void,
) {
    // SAFETY: as the caller promises.
    unsafe { write(level, func, file, line, fmt, arguments) };
}

/// # Safety
/// `arguments` is null or a `va_list` that belongs to `fmt`.
unsafe fn write(
    level: aclLogLevel,
    func: *const c_char,
    file: *const c_char,
    line: u32,
    fmt: *const c_char,
    arguments: *mut c_void,
) {
    value(Api::aclAppLog, (), |_| {
        let wanted = log::wanted(level);
        // SAFETY: the caller's promise: null, or a text.
        let gone = observer::watched() && !func.is_null() && unsafe { CStr::from_ptr(func) } == ABANDONED;
        if !wanted && !gone {
            return Ok(());
        }
        // aclAppLog#01: nothing is logged, and there is nobody to tell.
        let rule = "aclAppLog#01";
        let (Some(func), Some(file), Some(text)) =
            (arg::text(func, "func", rule)?, arg::text(file, "file", rule)?, arg::text(fmt, "fmt", rule)?)
        else {
            return Ok(());
        };
        let message = if arguments.is_null() {
            String::from_utf8_lossy(&text).into_owned()
        } else {
            let mut buffer = [0u8; log::LONGEST];
            // SAFETY: the format is a text that was just read, and the caller answers for its arguments; aclAppLog#02: what does
            // not fit is cut.
            let length = unsafe { vsnprintf(buffer.as_mut_ptr().cast(), buffer.len(), fmt, arguments) };
            if length < 0 {
                return refuse!(ACL_ERROR_INVALID_PARAM, rule, "fmt: not a format that can be printed");
            }
            String::from_utf8_lossy(buffer.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
        };
        if let Some((range, next)) = gone.then(|| log::abandoned(&message)).flatten() {
            observer::tell(|o| o.abandoned(range, next));
        }
        if !wanted {
            return Ok(());
        }
        let (func, file) = (String::from_utf8_lossy(&func), String::from_utf8_lossy(&file));
        log::write(level, &format!("[{file}:{line}]{func}"), &message);
        Ok(())
    });
}
