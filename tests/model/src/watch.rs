//! Child processes that run sequences, and the search for the smallest one that still fails.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use toprope_model::op::STEP;

/// What a child prints before each sequence, followed by its seed.
pub const AT: &str = "at ";

/// Longest search for a smaller sequence.
const SEARCH: Duration = Duration::from_secs(90);

/// How sequences are run.
#[derive(Clone, Debug)]
pub struct Job {
    /// Fault to plant.
    pub fault: String,
    /// Library instead of the linked runtime.
    pub library: Option<String>,
    /// A child that prints nothing for so long hangs.
    pub patience: Duration,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing found.
    Fine,
    /// Something was different from the model.
    Differs,
    /// A signal, or an exit status of its own.
    Crashed(i32),
    /// It had to be killed.
    Hung,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Fine => f.write_str("is as the model says"),
            End::Differs => f.write_str("differs from the model"),
            End::Crashed(signal) => write!(f, "crashes (signal or status {signal})"),
            End::Hung => f.write_str("hangs"),
        }
    }
}

/// What a child did.
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// The last seed that it named.
    pub at: Option<u64>,
    /// What else it printed.
    pub text: String,
}

impl Job {
    /// Runs a child with these options (`--name=value`); `trace`: it prints each call first.
    pub fn run(&self, args: &[String], trace: bool) -> Result<Outcome, String> {
        let program =
            std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let mut command = Command::new(program);
        command.arg("--worker").args(["--fault", &self.fault]);
        if let Some(library) = &self.library {
            command.args(["--library", library]);
        }
        for arg in args {
            let (name, value) = arg.split_once('=').unwrap_or((arg, ""));
            command.args([name, value]);
        }
        if trace {
            command.env("MODEL_TRACE", "1");
        }
        command.env("RUST_BACKTRACE", "0");
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("cannot start a child: {error}"))?;
        let (lines, incoming) = channel();
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            let lines = lines.clone();
            readers.push(std::thread::spawn(move || read(stdout, &|line| drop(lines.send(line)))));
        }
        if let Some(stderr) = child.stderr.take() {
            let lines = lines.clone();
            readers.push(std::thread::spawn(move || read(stderr, &|line| drop(lines.send(line)))));
        }
        drop(lines);
        let (mut at, mut text, mut hung) = (None, String::new(), false);
        loop {
            match incoming.recv_timeout(self.patience) {
                Ok(line) => match line.strip_prefix(AT).and_then(|seed| seed.parse().ok()) {
                    Some(seed) => at = Some(seed),
                    None => {
                        text.push_str(&line);
                        text.push('\n');
                    }
                },
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    hung = true;
                    drop(child.kill());
                    break;
                }
            }
        }
        let end = wait(&mut child)?;
        Ok(Outcome { end: if hung { End::Hung } else { end }, at, text })
    }

    /// Runs one sequence.
    pub fn replay(&self, bytes: &[u8]) -> Result<Outcome, String> {
        self.run(&[format!("--replay={}", super::hex(bytes))], false)
    }

    /// Leaves out and lowers what can be, as long as the sequence still fails in some way. None if it does not fail by itself.
    pub fn shrink(&self, mut bytes: Vec<u8>) -> Result<Option<(Vec<u8>, End, String)>, String> {
        let start = Instant::now();
        let fails = |bytes: &[u8]| -> Result<bool, String> { Ok(self.replay(bytes)?.end != End::Fine) };
        let mut repeats = false;
        for _ in 0..5 {
            repeats = repeats || fails(&bytes)?;
        }
        if !repeats {
            return Ok(None);
        }
        // Whole ops, many at once first.
        let mut count = (bytes.len() / STEP).max(1);
        while count > 0 {
            let mut at = 1;
            while at < bytes.len() && start.elapsed() < SEARCH {
                let mut less = bytes.clone();
                less.drain(at..(at + count * STEP).min(bytes.len()));
                if fails(&less)? {
                    bytes = less;
                } else {
                    at += count * STEP;
                }
            }
            count /= 2;
        }
        // Then their arguments.
        for at in 0..bytes.len() {
            if bytes[at] != 0 && start.elapsed() < SEARCH {
                let mut less = bytes.clone();
                less[at] = 0;
                if fails(&less)? {
                    bytes = less;
                }
            }
        }
        let mut last = self.replay(&bytes)?;
        for _ in 0..10 {
            if last.end == End::Fine {
                last = self.replay(&bytes)?;
            }
        }
        if matches!(last.end, End::Crashed(_) | End::Hung) {
            last.text = self.run(&[format!("--replay={}", super::hex(&bytes))], true)?.text;
        }
        Ok(Some((bytes, last.end, last.text)))
    }
}

fn read(from: impl Read, line: &dyn Fn(String)) {
    BufReader::new(from).lines().map_while(Result::ok).for_each(line);
}

fn wait(child: &mut Child) -> Result<End, String> {
    use std::os::unix::process::ExitStatusExt;
    let status = child.wait().map_err(|error| format!("cannot wait for a child: {error}"))?;
    match status.code() {
        Some(0) => Ok(End::Fine),
        Some(1) => Ok(End::Differs),
        Some(2) => Err("a child did not take its options".to_owned()),
        code => Ok(End::Crashed(code.or(status.signal()).unwrap_or(-1))),
    }
}
