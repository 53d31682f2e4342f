//! What the ratios have to be: reads `benches/targets.csv` and judges a run by it.
//!
//! A line names rows of ours (`workload` and `variant` may hold `*`), the peer's row to divide by (workload `=`: the same as ours; no
//! peer: the figure itself counts), `<=` or `>=`, and the bound (a number, or `cores+N`). Each round is judged for itself; a target is
//! met when at least five of seven rounds meet it, for every row that it names.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::rounds::{OURS, Row, rows};
use super::{Result, Run};

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    pub letter: char,
    /// What is measured, for readers.
    pub what: String,
    /// What it is compared with, for readers; empty when the figure itself counts.
    pub against: String,
    workload: String,
    variant: String,
    unit: String,
    peer: String,
    peer_workload: String,
    peer_variant: String,
    pub relation: Relation,
    pub bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = ">=")]
    AtLeast,
}

impl Relation {
    pub fn sign(self) -> &'static str {
        match self {
            Relation::AtMost => "≤",
            Relation::AtLeast => "≥",
        }
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Relation::AtMost => value <= bound,
            Relation::AtLeast => value >= bound,
        }
    }

    /// More than one when the bound is met with room to spare, less when it is missed.
    fn room(self, value: f64, bound: f64) -> f64 {
        match self {
            Relation::AtLeast => value / bound,
            Relation::AtMost if value == 0.0 => f64::INFINITY,
            Relation::AtMost => bound / value,
        }
    }
}

/// A number, or one that goes with the machine: as many as it has cores, and so many more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Bound {
    Number(f64),
    CoresPlus(u16),
}

impl TryFrom<String> for Bound {
    type Error = String;

    fn try_from(text: String) -> Result<Bound> {
        let bound = match text.strip_prefix("cores+") {
            Some(more) => more.parse().ok().map(Bound::CoresPlus),
            None => text.parse().ok().filter(|number: &f64| number.is_finite()).map(Bound::Number),
        };
        bound.ok_or_else(|| format!("bound '{text}': a number or cores+N"))
    }
}

impl From<Bound> for String {
    fn from(bound: Bound) -> String {
        bound.to_string()
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bound::Number(number) => write!(f, "{number}"),
            Bound::CoresPlus(more) => write!(f, "cores+{more}"),
        }
    }
}

impl Bound {
    fn on(self, cores: usize) -> f64 {
        match self {
            Bound::Number(number) => number,
            Bound::CoresPlus(more) => cores as f64 + f64::from(more),
        }
    }
}

/// How one row of ours fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub row: Row,
    /// Per round: the ratio, or the figure itself. Rounds in which one of the two is missing have none.
    pub values: Vec<f64>,
    pub rounds_met: usize,
    /// Rounds that count: all in which the peer has its row, or all when there is no peer.
    pub rounds: usize,
    pub met: bool,
}

/// What became of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every row that it names, the worst first; never empty.
    Judged(Vec<Outcome>),
    /// Our own row did not come: missed.
    NoRow(String),
    /// There is nothing to compare with.
    NotMeasured(String),
}

impl Verdict {
    pub fn missed(&self) -> bool {
        match self {
            Verdict::Judged(outcomes) => outcomes.iter().any(|outcome| !outcome.met),
            Verdict::NoRow(_) => true,
            Verdict::NotMeasured(_) => false,
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Verdict::NotMeasured(_) => "not measured",
            verdict if verdict.missed() => "MISSED",
            _ => "met",
        }
    }
}

/// Of so many rounds, how many must meet a target: five of seven, and in proportion.
fn enough(rounds: usize) -> usize {
    (rounds * 5).div_ceil(7).max(1)
}

/// Reads the targets.
pub fn read(file: &Path) -> Result<Vec<Target>> {
    let mut reader = csv::Reader::from_path(file).map_err(|e| format!("{}: {e}", file.display()))?;
    reader.deserialize().map(|line| line.map_err(|e| format!("{}: {e}", file.display()))).collect()
}

impl Target {
    /// Judges the rounds of `run`, whose letters include this one's.
    pub fn judge(&self, run: &Run) -> Verdict {
        let all = rows(&run.rounds);
        let left_out = run.left_out.iter().find(|(peer, _)| *peer == self.peer);
        if let Some((peer, why)) = left_out {
            return Verdict::NotMeasured(format!("without {peer}: {why}"));
        }
        let ours = all.iter().filter(|row| {
            row.peer == OURS
                && row.unit == self.unit
                && matches(&self.workload, &row.workload)
                && matches(&self.variant, &row.variant)
        });
        let mut outcomes = Vec::new();
        for row in ours {
            let peer = self.peer_of(row);
            if let Some(peer) = peer.as_ref().filter(|peer| !all.contains(peer)) {
                let Row { workload, peer, variant, unit } = peer;
                return Verdict::NotMeasured(format!("{peer} has no row {workload}, {variant}, in {unit}"));
            }
            outcomes.push(self.outcome(run, row, peer.as_ref()));
        }
        let bound = self.bound.on(run.machine.cores);
        let room = |outcome: &Outcome| self.relation.room(median(&outcome.values), bound);
        outcomes.sort_by(|a, b| a.met.cmp(&b.met).then(room(a).total_cmp(&room(b))));
        if outcomes.is_empty() {
            return Verdict::NoRow(format!("no row {}, {}, in {}", self.workload, self.variant, self.unit));
        }
        Verdict::Judged(outcomes)
    }

    fn peer_of(&self, ours: &Row) -> Option<Row> {
        let workload = if self.peer_workload == "=" { &ours.workload } else { &self.peer_workload };
        (!self.peer.is_empty()).then(|| Row {
            workload: workload.clone(),
            peer: self.peer.clone(),
            variant: self.peer_variant.clone(),
            unit: self.unit.clone(),
        })
    }

    fn outcome(&self, run: &Run, ours: &Row, peer: Option<&Row>) -> Outcome {
        let bound = self.bound.on(run.machine.cores);
        let (mut values, mut rounds) = (Vec::new(), 0);
        for round in &run.rounds {
            let Some(theirs) = peer.map_or(Some(1.0), |peer| round.value(peer)) else { continue };
            rounds += 1;
            values.extend(round.value(ours).map(|value| value / theirs));
        }
        let rounds_met = values.iter().filter(|value| self.relation.holds(**value, bound)).count();
        Outcome { row: ours.clone(), values, rounds_met, rounds, met: rounds_met >= enough(rounds) }
    }
}

/// The upper one of the middle two when their number is even; NaN of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Whether `text` is `pattern`, in which each `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|tail| {
            tail.char_indices().map(|(at, _)| at).chain([tail.len()]).any(|at| matches(rest, &tail[at..]))
        }),
    }
}

#[cfg(test)]
#[path = "targets_tests.rs"]
mod tests;
