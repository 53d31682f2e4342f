//! Prints a run: tables for the terminal, Markdown for `docs/performance.md`, JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use super::rounds::{BUSY, OURS, Round, Row, rows};
use super::targets::{Outcome, Target, Verdict, median};
use super::{Judged, Result, Run};

/// Medians and ranges, the rounds, the targets. With `all` also each row of a target, and our ratio to each peer's row of the same
/// workload.
pub fn text(run: &Run, judged: &Judged, all: bool) -> String {
    let mut out = String::new();
    let rows = rows(&run.rounds);
    for row in &rows {
        let values: Vec<f64> = run.rounds.iter().filter_map(|round| round.value(row)).collect();
        let _ = writeln!(
            out,
            "{:<24} {:<11} {:<62} {} {}",
            row.workload,
            row.peer,
            row.variant,
            spread(&values),
            row.unit
        );
    }
    if all {
        let _ = writeln!(out, "\nours ÷ the peer's row of the same workload, per round");
        ratios(&mut out, run, &rows);
    }
    let _ = writeln!(out, "\nrounds");
    for (number, round) in (1..).zip(&run.rounds) {
        let _ = writeln!(out, "{number}: {}", kind(round));
    }
    for (peer, why) in &run.left_out {
        let _ = writeln!(out, "without {peer}: {why}");
    }
    let _ = writeln!(out, "\ntargets (ratios within a round; median [range] over the rounds)");
    for (target, verdict) in judged {
        let name = name(target);
        let bound = format!("{} {}", target.relation.sign(), target.bound);
        let (figures, rounds, which) = cells(verdict);
        let _ = writeln!(
            out,
            "{} {name}\n    {bound:<10} {figures:<32} {rounds:<9} {} {which}",
            target.letter,
            verdict.word()
        );
        if let (true, Verdict::Judged(outcomes)) = (all && which_matters(verdict), verdict) {
            for outcome in outcomes {
                let told = format!("{}, {}", outcome.row.workload, outcome.row.variant);
                let _ =
                    writeln!(out, "               {:<32} {:<9} {told}", spread(&outcome.values), of(outcome));
            }
        }
    }
    let _ = writeln!(out, "{}", summary(judged));
    out
}

/// What `docs/performance.md` holds of a run.
pub fn markdown(run: &Run, judged: &Judged) -> String {
    let mut out = String::new();
    let machine = &run.machine;
    let parts = [
        format!("{} cores, {}", machine.cores, machine.processor),
        format!("Linux {}", machine.kernel),
        machine.libc.clone(),
        machine.rustc.clone(),
        machine.gxx.clone(),
        machine.pocl.clone(),
        machine.numpy.clone(),
        format!("commit {}", machine.commit),
    ];
    let known: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let _ = writeln!(out, "{}.\n", known.join("; "));
    let _ = writeln!(out, "| | measured | against | target | median [range] | rounds | |");
    let _ = writeln!(out, "| --- | --- | --- | --- | --- | --- | --- |");
    for (target, verdict) in judged {
        let (figures, rounds, which) = cells(verdict);
        let against = if target.against.is_empty() { "–" } else { &target.against };
        let _ = writeln!(
            out,
            "| {} | {} | {against} | {} {} | {figures} | {rounds} | {} |",
            target.letter,
            target.what,
            target.relation.sign(),
            target.bound,
            format!("{} {which}", verdict.word()).trim(),
        );
    }
    let _ = writeln!(out, "\n{}", summary(judged));
    let _ = writeln!(out, "\n| round | |\n| --- | --- |");
    for (number, round) in (1..).zip(&run.rounds) {
        let _ = writeln!(out, "| {number} | {} |", kind(round));
    }
    let rows = rows(&run.rounds);
    let limits = LIMITS.iter().filter_map(|(workload, variant)| {
        let row = rows
            .iter()
            .find(|row| row.peer == "limit" && row.workload == *workload && row.variant == *variant)?;
        let values: Vec<f64> = run.rounds.iter().filter_map(|round| round.value(row)).collect();
        Some(format!("| {workload} | {variant} | {} {} |\n", spread(&values), row.unit))
    });
    let limits: String = limits.collect();
    if !limits.is_empty() {
        let _ = write!(out, "\n| limit | | median [range] |\n| --- | --- | --- |\n{limits}");
    }
    out
}

/// The rows of the machine's limits that tell what the targets are near to.
const LIMITS: [(&str, &str); 13] = [
    ("a.enqueue+drain", "record,run-at-sync"),
    ("a.enqueue+drain", "spsc-spin-then-futex"),
    ("b.roundtrip.p50", "spin hand-off"),
    ("b.roundtrip.p50", "futex sleep hand-off"),
    ("c.copy.16MiB", "memcpy 1T"),
    ("c.copy.16MiB", "memcpy 2T split"),
    ("c.copy.256MiB", "memcpy 1T"),
    ("c.copy.256MiB", "memcpy 2T split"),
    ("d.copy2d", "memcpy row loop (runtime width)"),
    ("d.copy2d", "row loop 2T"),
    ("h.memset64MiB", "memset 1T"),
    ("h.memset64MiB", "memset 2T split"),
    ("i.launch+sync.p50", "spsc-spin-then-futex"),
];

/// Everything: the machine, every figure of every round, and the targets with their verdicts.
pub fn json(run: &Run, judged: &Judged) -> Result<String> {
    let targets: Vec<_> = judged
        .iter()
        .map(|(target, verdict)| json!({ "target": target, "verdict": verdict.word(), "outcome": verdict }))
        .collect();
    let mut value = serde_json::to_value(run).map_err(|e| e.to_string())?;
    if let Some(object) = value.as_object_mut() {
        object.insert("targets".to_owned(), json!(targets));
    }
    let text = serde_json::to_string_pretty(&value).map_err(|e| e.to_string())?;
    Ok(text + "\n")
}

fn name(target: &Target) -> String {
    if target.against.is_empty() {
        target.what.clone()
    } else {
        format!("{} ÷ {}", target.what, target.against)
    }
}

/// Figures, rounds, and what there is to say.
fn cells(verdict: &Verdict) -> (String, String, String) {
    match verdict {
        Verdict::Judged(outcomes) => match outcomes.first() {
            Some(worst) => {
                let which = if which_matters(verdict) {
                    let missed = outcomes.iter().filter(|outcome| !outcome.met).count();
                    let row = distinct(outcomes, worst);
                    match missed {
                        0 => format!("(worst of {}: {row})", outcomes.len()),
                        missed => format!("({missed} of {} rows; worst: {row})", outcomes.len()),
                    }
                } else {
                    String::new()
                };
                (spread(&worst.values), of(worst), which)
            }
            None => ("–".to_owned(), "–".to_owned(), String::new()),
        },
        Verdict::NoRow(why) | Verdict::NotMeasured(why) => {
            ("–".to_owned(), "–".to_owned(), format!("({why})"))
        }
    }
}

fn which_matters(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Judged(outcomes) if outcomes.len() > 1)
}

/// What sets a row off from the others of its target.
fn distinct(outcomes: &[Outcome], one: &Outcome) -> String {
    let same = |key: fn(&Row) -> &String| outcomes.iter().all(|other| key(&other.row) == key(&one.row));
    match (same(|row| &row.workload), same(|row| &row.variant)) {
        (true, _) => one.row.variant.clone(),
        (false, true) => one.row.workload.clone(),
        (false, false) => format!("{}, {}", one.row.workload, one.row.variant),
    }
}

fn of(outcome: &Outcome) -> String {
    format!("{} of {}", outcome.rounds_met, outcome.rounds)
}

fn summary(judged: &Judged) -> String {
    let count = |word: &str| judged.iter().filter(|(_, verdict)| verdict.word() == word).count();
    format!(
        "{} of {} targets met, {} missed, {} not measured",
        count("met"),
        judged.len(),
        count("MISSED"),
        count("not measured")
    )
}

/// What kind of round it was: who else worked, how threads met, what failed.
fn kind(round: &Round) -> String {
    let mut parts = Vec::new();
    for (busy, when) in [(round.busy_before, "at its start"), (round.busy_meanwhile, "during it")] {
        if let Some(busy) = busy.filter(|busy| *busy > BUSY) {
            parts.push(format!("others kept {busy:.1} cores busy {when}"));
        }
    }
    let ordinary = round.markers.iter().filter(|marker| marker.remark().is_none());
    let hand_offs: Vec<f64> = ordinary.map(|marker| marker.hand_off_ns).collect();
    if !hand_offs.is_empty() {
        parts.push(format!("spin hand-off {} ns", spread(&hand_offs)));
    }
    let mut remarks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for marker in &round.markers {
        if let Some(remark) = marker.remark() {
            remarks.entry(remark).or_default().push(marker.letter.to_string());
        }
    }
    parts.extend(remarks.iter().map(|(remark, letters)| format!("{remark} before {}", letters.join(" "))));
    let shared =
        round.figures.iter().find(|figure| figure.row.peer == OURS && figure.row.workload == "i.one-core");
    if let Some(shared) = shared.filter(|figure| figure.value > 0.1) {
        parts
            .push(format!("i: {:.0} % of our host functions ran on the caller's core", shared.value * 100.0));
    }
    parts.extend(round.failures.iter().cloned());
    if parts.is_empty() { "–".to_owned() } else { parts.join("; ") }
}

fn ratios(out: &mut String, run: &Run, rows: &[&Row]) {
    for ours in rows.iter().filter(|row| row.peer == OURS) {
        let others = rows
            .iter()
            .filter(|row| row.peer != OURS && row.workload == ours.workload && row.unit == ours.unit);
        for peer in others {
            let each = run.rounds.iter().filter_map(|round| Some(round.value(ours)? / round.value(peer)?));
            let _ = writeln!(
                out,
                "{:<24} {} ÷ {} {}: {}",
                ours.workload,
                ours.variant,
                peer.peer,
                peer.variant,
                spread(&each.collect::<Vec<_>>())
            );
        }
    }
}

/// Median and range.
fn spread(values: &[f64]) -> String {
    let low = values.iter().copied().min_by(f64::total_cmp);
    let high = values.iter().copied().max_by(f64::total_cmp);
    match (low, high) {
        (Some(low), Some(high)) if values.len() > 1 => {
            format!("{} [{} – {}]", short(median(values)), short(low), short(high))
        }
        (Some(one), _) => short(one),
        _ => "–".to_owned(),
    }
}

/// Three digits that count; whole numbers as they are.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size.fract() == 0.0 || size >= 100.0 => 0,
        size => (2 - size.log10().floor() as i32).clamp(0, 6) as usize,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        let told = [0.0, 48.0, 0.01234, 0.5, 1.7051, 12.345, 99.94, 1234.5, 3.9e6].map(short);
        assert_eq!(told, ["0", "48", "0.0123", "0.500", "1.71", "12.3", "99.9", "1234", "3900000"]);
        assert_eq!(spread(&[3.0, 1.0, 2.0]), "2 [1 – 3]");
        assert_eq!((spread(&[2.0]), spread(&[])), ("2".to_owned(), "–".to_owned()));
    }
}
