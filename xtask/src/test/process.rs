//! Running other programs: a captured run with a time limit, and a run whose output is passed through.

use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a captured program left behind.
pub struct Captured {
    /// Everything written to standard output.
    pub stdout: String,
    /// Everything written to standard error.
    pub stderr: String,
    /// How it ended; `None` when it was stopped at its time limit.
    pub status: Option<ExitStatus>,
    /// Wall-clock time.
    pub took: Duration,
}

impl Captured {
    /// `exit status 1`, `signal 11`, or that the time limit was reached.
    pub fn ending(&self) -> String {
        match self.status {
            None => format!("no end after {} s (stopped)", self.took.as_secs()),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit status {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "unknown end".to_owned(),
            },
        }
    }

    /// Both outputs, for the report of a failure; each cut to its last lines.
    pub fn output(&self) -> String {
        let mut text = String::new();
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let lines: Vec<&str> = stream.lines().collect();
            let from = lines.len().saturating_sub(40);
            if from > 0 {
                let _ = writeln!(text, "    {name}| ({from} earlier lines left out)");
            }
            for line in lines.get(from..).unwrap_or_default() {
                let _ = writeln!(text, "    {name}| {line}");
            }
        }
        text
    }
}

/// Runs `command` with captured output. At `limit` it and all processes it started are killed.
pub fn capture(command: &mut Command, limit: Duration) -> Result<Captured, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
    let group = i32::try_from(child.id()).map_err(|_| format!("{name}: process id out of range"))?;
    let readers = (child.stdout.take().map(read_in_background), child.stderr.take().map(read_in_background));
    let mut pause = Duration::from_millis(1);
    let status = loop {
        match child.try_wait().map_err(|error| format!("waiting for {name}: {error}"))? {
            Some(status) => break Some(status),
            None if start.elapsed() >= limit => break None,
            None => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    // Children that outlive the program would hold its pipes open for ever: its whole group goes with it.
    // SAFETY: kill takes no pointers; the group was made for this child above, and is addressed before or right
    // after the child is reaped.
    unsafe { libc::kill(-group, libc::SIGKILL) };
    if status.is_none() {
        child.wait().map_err(|error| format!("waiting for {name}: {error}"))?;
    }
    let text = |reader: Option<std::thread::JoinHandle<String>>| {
        reader.map_or_else(String::new, |handle| handle.join().unwrap_or_default())
    };
    Ok(Captured { stdout: text(readers.0), stderr: text(readers.1), status, took: start.elapsed() })
}

fn read_in_background(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A read error ends the text; what came before is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Runs `command` with its output passed through; `Ok(true)` when it succeeded.
pub fn pass_through(command: &mut Command) -> Result<bool, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("cannot start {name}: {error}"))?;
    Ok(status.success())
}

/// The cargo that started this task.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// True when `program --version` (or another harmless argument) can be run and succeeds.
pub fn answers(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where cargo puts what it builds.
pub fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => std::path::absolute(&dir).unwrap_or_else(|_| dir.into()),
        None => root().join("target"),
    }
}
