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
        let pocl = |program| {
            let version = said(Command::new(program).arg("pocl").env("POCL_DEVICES", "pthread"));
            // What it was built with follows after two spaces.
            version.split("  ").next().unwrap_or_default().to_owned()
        };
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

/// A moment, from which to count what others do: processes that are not our children, and other machines of the same host.
pub struct Since {
    all: Ticks,
    ours: u64,
}

impl Since {
    /// Now; none where the system does not tell.
    pub fn now() -> Option<Since> {
        let all = Ticks::parse(&fs::read_to_string("/proc/stat").ok()?)?;
        let ours = own_ticks(&fs::read_to_string("/proc/self/stat").ok()?)?;
        Some(Since { all, ours })
    }

    /// How many cores others have kept busy since.
    pub fn others(&self) -> Option<f64> {
        let now = Since::now()?;
        self.all.others(&now.all, now.ours.saturating_sub(self.ours))
    }
}

/// How many cores others keep busy, watched for `time`.
pub fn busy_cores(time: Duration) -> Option<f64> {
    let before = Since::now()?;
    thread::sleep(time);
    before.others()
}

/// Clock ticks of all cores since the start of the system (proc_stat(5)).
#[derive(Debug, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    total: u64,
    cores: usize,
}

impl Ticks {
    fn parse(text: &str) -> Option<Ticks> {
        // user, nice, system, idle, iowait, irq, softirq, steal; guest times are in user already.
        let first = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> =
            first.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let idle = ticks.get(3)? + ticks.get(4)?;
        let cores = text.lines().skip(1).take_while(|line| line.starts_with("cpu")).count();
        Some(Ticks { idle, total: ticks.iter().sum(), cores })
    }

    /// Cores that were busy until `now`, but for `ours` ticks.
    fn others(&self, now: &Ticks, ours: u64) -> Option<f64> {
        let total = now.total.checked_sub(self.total).filter(|ticks| *ticks > 0)?;
        let idle = now.idle.saturating_sub(self.idle);
        let busy = total.saturating_sub(idle).saturating_sub(ours);
        Some(busy as f64 / total as f64 * now.cores as f64)
    }
}

/// Ticks of this process and of the children that it has waited for, with theirs (proc_pid_stat(5), fields 14 to 17).
fn own_ticks(text: &str) -> Option<u64> {
    // The name, in parentheses, may hold spaces.
    let fields = text.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    let ticks: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
    (ticks.len() == 4).then(|| ticks.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::{Ticks, own_ticks};

    #[test]
    fn the_first_line_sums_up_all_cores() {
        let text = "cpu  10 1 5 100 4 0 2 3 9 9\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 5\n";
        assert_eq!(Ticks::parse(text), Some(Ticks { idle: 104, total: 125, cores: 2 }));
        assert_eq!(Ticks::parse("intr 5"), None);
    }

    #[test]
    fn what_is_ours_is_not_the_others() {
        let before = Ticks { idle: 100, total: 200, cores: 2 };
        // A second: 200 ticks of two cores, half of them busy, 80 by us.
        let after = Ticks { idle: 200, total: 400, cores: 2 };
        assert_eq!(before.others(&after, 80), Some(0.2));
        assert_eq!(before.others(&after, 120), Some(0.0));
        assert_eq!(before.others(&before, 0), None);
    }

    #[test]
    fn our_ticks_are_found_behind_any_name() {
        let text = "7 (a b) c) S 1 7 7 0 -1 4194304 95 0 0 0 1 20 300 4000 20 0 1 0 100";
        assert_eq!(own_ticks(text), Some(4321));
        assert_eq!(own_ticks("7 (x) S 1 2"), None);
    }
}
