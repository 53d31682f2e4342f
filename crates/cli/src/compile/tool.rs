//! The compilers underneath, and the folder for what they pass on.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Refused;

/// Why nothing was made.
pub enum Stopped {
    /// A compiler said why already; its exit status.
    Said(u8),
    /// One line of ours.
    Refused(String),
}

impl From<Refused> for Stopped {
    fn from(Refused(line): Refused) -> Stopped {
        Stopped::Refused(line)
    }
}

impl From<String> for Stopped {
    fn from(line: String) -> Stopped {
        Stopped::Refused(line)
    }
}

/// A compiler.
#[derive(Clone)]
pub struct Compiler {
    program: OsString,
    variable: &'static str,
}

impl Compiler {
    /// The C++ compiler: `CXX`, or `c++`.
    pub fn cxx() -> Compiler {
        Compiler::from_env("CXX", "c++")
    }

    /// The C compiler: `CC`, or `cc`.
    pub fn cc() -> Compiler {
        Compiler::from_env("CC", "cc")
    }

    fn from_env(variable: &'static str, default: &str) -> Compiler {
        let program = env::var_os(variable).filter(|name| !name.is_empty()).unwrap_or_else(|| default.into());
        Compiler { program, variable }
    }

    /// A command with arguments. What it starts knows that it is the compiler underneath.
    pub fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, arguments: I) -> Command {
        // `CXX="ccache g++"` is usual.
        let whole = self.program.to_string_lossy().into_owned();
        let mut command = match whole.split_once(' ') {
            Some(_) if !Path::new(&self.program).exists() => {
                let mut words = whole.split_whitespace();
                let mut command = Command::new(words.next().unwrap_or_default());
                command.args(words);
                command
            }
            _ => Command::new(&self.program),
        };
        command.args(arguments).env(UNDERNEATH, "1");
        command
    }

    /// Runs a command to its end; its messages go to the terminal.
    pub fn run(&self, mut command: Command) -> Result<(), Stopped> {
        let status = command.status().map_err(|error| self.missing(&error))?;
        ended(status)
    }

    /// Runs a command to its end and keeps its messages.
    pub fn output(&self, mut command: Command) -> Result<Output, Stopped> {
        command.stdin(Stdio::null()).output().map_err(|error| self.missing(&error))
    }

    fn missing(&self, error: &io::Error) -> Stopped {
        let program = self.program.display();
        Stopped::Refused(match error.kind() {
            io::ErrorKind::NotFound => {
                format!("no compiler {program}; install one or name it in {}", self.variable)
            }
            _ => format!("cannot start {program}: {error}"),
        })
    }
}

/// Set for the compilers that this command starts.
const UNDERNEATH: &str = "TOPROPE_UNDERNEATH";

/// When `CXX` or `CC` names this command itself, as build scripts do that are to use it, it is started as its own compiler
/// underneath: then the system's compiler takes its place. Does not return in that case, unless there is none.
pub fn step_aside(words: &[OsString], cxx: bool) -> Result<(), Refused> {
    if env::var_os(UNDERNEATH).is_none() {
        return Ok(());
    }
    let program = if cxx { "c++" } else { "cc" };
    let error = Command::new(program).args(words).exec();
    Err(Refused(format!("cannot start {program}: {error}")))
}

/// Whether a command did its work.
pub fn ended(status: std::process::ExitStatus) -> Result<(), Stopped> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Err(Stopped::Said(130));
    }
    if status.success() {
        return Ok(());
    }
    Err(Stopped::Said(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// An interrupt ends the compiler that runs, and this command after it has taken its temporary files away.
pub fn outlive_interrupts() {
    extern "C" fn note(_: i32) {
        INTERRUPTED.store(true, Ordering::Relaxed);
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let handler: extern "C" fn(i32) = note;
        // SAFETY: the handler only stores to an atomic; a program that is started gets the default action back.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}
