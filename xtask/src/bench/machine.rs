//! What was measured on and with.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::build::Built;

/// The machine, the tools and the source of a run. A text that could not be had is empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Seconds since 1970, UTC, at the start.
    pub time: u64,
    /// Cores that this process may use.
    pub cores: usize,
    pub processor: String,
    pub kernel: String,
    pub libc: String,
    pub rustc: String,
    pub gxx: String,
    pub pocl: String,
    pub numpy: String,
    /// The commit that was built, with `-dirty` for changes on top.
    pub commit: String,
}

impl Machine {
    /// This machine.
    pub fn here(root: &Path, built: &Built) -> Machine {
        let python =
            |code: &str| built.python.as_ref().map(|program| said(Command::new(program).args(["-c", code])));
        let pocl = |program| said(Command::new(program).arg("pocl").env("POCL_DEVICES", "pthread"));
        Machine {
            time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            processor: processor(),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            libc: said(Command::new("getconf").arg("GNU_LIBC_VERSION")),
            rustc: said(Command::new("rustc").arg("--version").current_dir(root)),
            gxx: said(Command::new("g++").arg("--version")),
            pocl: built.pocl.as_ref().map(pocl).unwrap_or_default(),
            numpy: python("import numpy; print('NumPy', numpy.__version__)").unwrap_or_default(),
            commit: said(
                Command::new("git")
                    .args(["describe", "--always", "--dirty", "--abbrev=12"])
                    .current_dir(root),
            ),
        }
    }
}

/// The first line that a command prints.
fn said(command: &mut Command) -> String {
    let output = command.output().ok().filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
    };
    match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        (Some(name), ..) => name,
        _ => std::env::consts::ARCH.to_owned(),
    }
}

/// How many cores worked, for any process or for another machine of the same host, during `time`.
pub fn busy_cores(time: Duration) -> Option<f64> {
    let before = Times::now()?;
    thread::sleep(time);
    let after = Times::now()?;
    let total = after.total.checked_sub(before.total).filter(|ticks| *ticks > 0)?;
    let idle = after.idle.saturating_sub(before.idle).min(total);
    Some((1.0 - idle as f64 / total as f64) * after.cores as f64)
}

/// Clock ticks of all cores since the start of the system (proc_stat(5)).
#[derive(Debug, PartialEq, Eq)]
struct Times {
    idle: u64,
    total: u64,
    cores: usize,
}

impl Times {
    fn now() -> Option<Times> {
        Times::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(text: &str) -> Option<Times> {
        // user, nice, system, idle, iowait, irq, softirq, steal; guest times are in user already.
        let first = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> =
            first.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let idle = ticks.get(3)? + ticks.get(4)?;
        let cores = text.lines().skip(1).take_while(|line| line.starts_with("cpu")).count();
        Some(Times { idle, total: ticks.iter().sum(), cores })
    }
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn the_first_line_sums_up_all_cores() {
        let text = "cpu  10 1 5 100 4 0 2 3 9 9\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 5\n";
        assert_eq!(Times::parse(text), Some(Times { idle: 104, total: 125, cores: 2 }));
        assert_eq!(Times::parse("intr 5"), None);
    }
}
