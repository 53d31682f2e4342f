//! Runs the programs, letter by letter, and notes what kind of moment each was.

use std::process::Command;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Result;
use super::build::Peer;
use super::machine::{Since, busy_cores};

/// The letter of the marker, which stands before every other.
const MARKER: char = 'm';

/// From so many cores on, what others do is worth telling.
pub const BUSY: f64 = 0.1;

/// Whose rows are ours.
pub const OURS: &str = "toprope";

/// Workload, variant and unit of a figure, and who made it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Row {
    pub workload: String,
    pub peer: String,
    pub variant: String,
    pub unit: String,
}

/// A row with its value in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    #[serde(flatten)]
    pub row: Row,
    pub value: f64,
}

/// How two threads met right before a letter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    pub letter: char,
    /// One-way hand-off between two spinning threads.
    pub hand_off_ns: f64,
    /// How often the system had put both on one core, 0 to 1.
    pub one_core: f64,
}

impl Marker {
    /// Why figures of this moment differ from those of others; none when it is an ordinary one. A hand-off between two cores takes
    /// about 20 to 40 ns or, on the same machine at other times, about 90.
    pub fn remark(&self) -> Option<&'static str> {
        if self.one_core > 0.5 {
            Some("two threads ran on one core")
        } else if self.hand_off_ns > 2000.0 {
            Some("threads waited for a core")
        } else if self.hand_off_ns > 60.0 {
            Some("slow spin hand-off")
        } else {
            None
        }
    }
}

/// One pass over all letters and programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Cores that others kept busy right before.
    pub busy_before: Option<f64>,
    /// The same, over the whole round.
    pub busy_meanwhile: Option<f64>,
    pub markers: Vec<Marker>,
    /// Programs that failed, were stopped at their time limit, or wrote what is no row.
    pub failures: Vec<String>,
    pub figures: Vec<Figure>,
}

impl Round {
    /// The value of `row` in this round.
    pub fn value(&self, row: &Row) -> Option<f64> {
        self.figures.iter().find(|figure| figure.row == *row).map(|figure| figure.value)
    }
}

/// Runs so many rounds of all `letters`.
pub fn measure(peers: &[Peer], letters: &str, rounds: usize) -> Result<Vec<Round>> {
    let mut all = Vec::new();
    for number in 1..=rounds {
        eprintln!("round {number} of {rounds}");
        let mut round = Round { busy_before: busy_cores(Duration::from_millis(500)), ..Round::default() };
        if let Some(busy) = round.busy_before.filter(|busy| *busy > BUSY) {
            eprintln!("warning: others keep {busy:.1} cores busy; the ratios will be off");
        }
        let start = Since::now();
        for letter in letters.chars() {
            round.mark(peers, letter)?;
            for peer in peers.iter().filter(|peer| peer.letters.contains(letter)) {
                round.run(peer, letter)?;
            }
        }
        round.busy_meanwhile = start.as_ref().and_then(Since::others);
        all.push(round);
    }
    Ok(all)
}

impl Round {
    fn run(&mut self, peer: &Peer, letter: char) -> Result<()> {
        let output = start(peer, letter)?;
        let name = peer.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let last = text.trim().lines().last().unwrap_or_default();
            // timeout(1) answers 124, or 137 when it had to kill.
            let how = match output.status.code() {
                Some(124 | 137) | None => "stopped at its time limit".to_owned(),
                _ => output.status.to_string(),
            };
            self.failures.push(format!("{letter}: {name} {}: {how} {last}", peer.before.join(" ")));
            eprintln!("{}", self.failures.last().map_or("", String::as_str));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match figure(line) {
                Some(figure) => self.figures.push(figure),
                None => self.failures.push(format!("{letter}: {name} wrote no row: {line}")),
            }
        }
        Ok(())
    }

    /// Runs the marker, where there is a program for it.
    fn mark(&mut self, peers: &[Peer], letter: char) -> Result<()> {
        let Some(peer) = peers.iter().find(|peer| peer.letters.contains(MARKER)) else { return Ok(()) };
        // The spinning worker of the program before may be on its way out.
        thread::sleep(Duration::from_millis(5));
        let output = start(peer, MARKER)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let value = |workload: &str| {
            text.lines()
                .filter_map(figure)
                .find(|figure| figure.row.workload == workload)
                .map(|figure| figure.value)
        };
        if let (Some(hand_off_ns), Some(one_core)) = (value("m.hand-off"), value("m.one-core")) {
            self.markers.push(Marker { letter, hand_off_ns, one_core });
        }
        Ok(())
    }
}

/// Runs one letter of a program, a minute at most. `timeout` sleeps meanwhile, so nothing of ours competes with it.
fn start(peer: &Peer, letter: char) -> Result<std::process::Output> {
    let mut command = Command::new("timeout");
    command.args(["-k", "2", "60"]).arg(&peer.program).args(&peer.before);
    // The Python program has one letter only.
    if peer.letters.len() > 1 {
        command.arg(letter.to_string());
    }
    command.envs(peer.env.iter().map(|(name, value)| (name, value)));
    command.output().map_err(|e| format!("{}: {e}", peer.program.display()))
}

/// Peer, workload, variant, value and unit, with tabs between them.
fn figure(line: &str) -> Option<Figure> {
    let [peer, workload, variant, value, unit] = line.split('\t').collect::<Vec<_>>()[..] else {
        return None;
    };
    let value = value.parse().ok().filter(|value: &f64| value.is_finite())?;
    let [workload, peer, variant, unit] = [workload, peer, variant, unit].map(str::to_owned);
    Some(Figure { row: Row { workload, peer, variant, unit }, value })
}

/// Every row of the rounds once, sorted.
pub fn rows(rounds: &[Round]) -> Vec<&Row> {
    let mut rows: Vec<&Row> =
        rounds.iter().flat_map(|round| &round.figures).map(|figure| &figure.row).collect();
    rows.sort();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_figure_or_it_is_not() {
        let found = figure("pocl\ta.enqueue\tcopyBuffer 64B\t1.5e3\tns/op").unwrap();
        assert_eq!(
            (found.row.peer.as_str(), found.row.workload.as_str(), found.value),
            ("pocl", "a.enqueue", 1500.0)
        );
        for slip in
            ["", "pocl\ta\tb\t1", "pocl\ta\tb\tfast\tns", "pocl\ta\tb\tnan\tns", "pocl\ta\tb\t1\tns\tx"]
        {
            assert_eq!(figure(slip), None, "{slip}");
        }
    }

    #[test]
    fn markers_tell_unusual_moments_only() {
        let remark = |hand_off_ns, one_core| Marker { letter: 'f', hand_off_ns, one_core }.remark();
        assert_eq!(remark(33.0, 0.1), None);
        assert_eq!(remark(92.0, 0.0), Some("slow spin hand-off"));
        assert_eq!(remark(4e6, 0.4), Some("threads waited for a core"));
        assert_eq!(remark(4e6, 1.0), Some("two threads ran on one core"));
    }
}
