//! Judging made-up rounds.

use super::*;
use crate::bench::machine::Machine;
use crate::bench::rounds::{Figure, Round};
use crate::test::process::root;

fn row(peer: &str, workload: &str, variant: &str) -> Row {
    let [workload, peer, variant, unit] = [workload, peer, variant, "us"].map(str::to_owned);
    Row { workload, peer, variant, unit }
}

/// One figure per round for each row; NaN where the row is missing.
fn run(series: &[(Row, &[f64])]) -> Run {
    let count = series.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let figures = |n: usize| {
        let of_round = series.iter().filter_map(|(row, values)| Some((row.clone(), *values.get(n)?)));
        of_round.filter(|(_, value)| !value.is_nan()).map(|(row, value)| Figure { row, value }).collect()
    };
    let rounds = (0..count).map(|n| Round { figures: figures(n), ..Round::default() }).collect();
    let text = String::new;
    let machine = Machine {
        time: 0,
        cores: 2,
        processor: text(),
        kernel: text(),
        libc: text(),
        rustc: text(),
        gxx: text(),
        pocl: text(),
        numpy: text(),
        commit: text(),
    };
    Run { machine, letters: "f".into(), left_out: vec![], rounds }
}

fn target(workload: &str, variant: &str, peer: &str, relation: Relation, bound: &str) -> Target {
    Target {
        letter: 'f',
        what: String::new(),
        against: String::new(),
        workload: workload.into(),
        variant: variant.into(),
        unit: "us".into(),
        peer: peer.into(),
        peer_workload: if peer.is_empty() { "" } else { "=" }.into(),
        peer_variant: if peer.is_empty() { "" } else { "slow" }.into(),
        relation,
        bound: bound.to_owned().try_into().unwrap(),
    }
}

fn judged(verdict: Verdict) -> Vec<Outcome> {
    match verdict {
        Verdict::Judged(outcomes) => outcomes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ratios_are_taken_per_round_and_five_of_seven_are_enough() {
    let target = target("f.hop", "copy", "pocl", Relation::AtMost, "0.1");
    let ours = [1.0, 1.0, 1.0, 1.0, 1.0, 9.0, 9.0];
    let slow = [10.0, 10.0, 10.0, 10.0, 20.0, 10.0, 10.0];
    let verdict =
        target.judge(&run(&[(row(OURS, "f.hop", "copy"), &ours), (row("pocl", "f.hop", "slow"), &slow)]));
    assert_eq!((verdict.word(), verdict.missed()), ("met", false));
    let outcome = judged(verdict).remove(0);
    assert_eq!((outcome.rounds_met, outcome.rounds, median(&outcome.values)), (5, 7, 0.1));
    assert_eq!(outcome.values, [0.1, 0.1, 0.1, 0.1, 0.05, 0.9, 0.9]);
    // The same medians, but a round less.
    let ours = [1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0];
    let verdict =
        target.judge(&run(&[(row(OURS, "f.hop", "copy"), &ours), (row("pocl", "f.hop", "slow"), &slow)]));
    assert_eq!((verdict.word(), verdict.missed()), ("MISSED", true));
}

#[test]
fn other_numbers_of_rounds_in_proportion() {
    let needed: Vec<usize> = (1..=14).map(enough).collect();
    assert_eq!(needed, [1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 10]);
}

#[test]
fn without_a_peer_the_figure_counts() {
    let target = |relation, bound| target("j.threads", "*", "", relation, bound);
    let run = run(&[(row(OURS, "j.threads", "any"), &[4.0])]);
    assert!(!target(Relation::AtMost, "cores+2").judge(&run).missed());
    assert!(target(Relation::AtMost, "cores+1").judge(&run).missed());
    assert!(!target(Relation::AtLeast, "4").judge(&run).missed());
    assert!(target(Relation::AtLeast, "4.1").judge(&run).missed());
}

#[test]
fn every_row_of_a_pattern_must_meet_it_and_the_worst_is_told_first() {
    let target = target("c.*.ratio", "d*", "", Relation::AtLeast, "1.5");
    let far: &[f64] = &[1.1, 1.2, 1.2];
    let run = run(&[
        (row(OURS, "c.16MiB.ratio", "d2h"), &[1.6, 1.6, 1.7]),
        (row(OURS, "c.16MiB.ratio", "d2d"), &[1.4, 1.5, 1.4]),
        (row(OURS, "c.256MiB.ratio", "d2d"), far),
        (row(OURS, "c.16MiB.ratio", "h2d"), &[0.1, 0.1, 0.1]),
        (row("pocl", "c.16MiB.ratio", "d2d"), &[0.1, 0.1, 0.1]),
        (row(OURS, "c.16MiB.ratios", "d2d"), &[0.1, 0.1, 0.1]),
    ]);
    let outcomes = judged(target.judge(&run));
    let seen: Vec<_> =
        outcomes.iter().map(|o| (o.row.workload.as_str(), o.row.variant.as_str(), o.met)).collect();
    assert_eq!(
        seen,
        [("c.256MiB.ratio", "d2d", false), ("c.16MiB.ratio", "d2d", false), ("c.16MiB.ratio", "d2h", true)]
    );
    assert_eq!((outcomes[0].values.as_slice(), outcomes[1].rounds_met), (far, 1));
}

#[test]
fn a_peer_that_is_missing_is_told_and_our_own_missing_row_is_a_miss() {
    let target = target("f.hop", "copy", "pocl", Relation::AtMost, "0.1");
    let ours = (row(OURS, "f.hop", "copy"), &[1.0, 1.0][..]);
    let alone = run(std::slice::from_ref(&ours));
    assert_eq!(target.judge(&alone), Verdict::NotMeasured("pocl has no row f.hop, slow, in us".into()));
    let told = Run { left_out: vec![("pocl".into(), "not installed".into())], ..alone };
    assert_eq!(target.judge(&told), Verdict::NotMeasured("without pocl: not installed".into()));
    let theirs = (row("pocl", "f.hop", "slow"), &[100.0, 100.0][..]);
    let verdict = target.judge(&run(std::slice::from_ref(&theirs)));
    assert_eq!(
        (verdict.clone(), verdict.missed()),
        (Verdict::NoRow("no row f.hop, copy, in us".into()), true)
    );
    // Ours missing in one round of two: that round is not met. Theirs missing: it does not count.
    let hung = run(&[(ours.0.clone(), &[1.0, f64::NAN]), theirs.clone()]);
    let outcome = judged(target.judge(&hung)).remove(0);
    assert_eq!((outcome.rounds_met, outcome.rounds, outcome.met), (1, 2, false));
    let failed = run(&[ours, (theirs.0, &[100.0, f64::NAN])]);
    let outcome = judged(target.judge(&failed)).remove(0);
    assert_eq!((outcome.rounds_met, outcome.rounds, outcome.met), (1, 1, true));
}

#[test]
fn other_units_are_other_rows() {
    let target = target("f.hop", "copy", "pocl", Relation::AtMost, "0.1");
    let nanoseconds = Row { unit: "ns".into(), ..row("pocl", "f.hop", "slow") };
    let verdict = target.judge(&run(&[(row(OURS, "f.hop", "copy"), &[1.0]), (nanoseconds, &[1000.0])]));
    assert_eq!(verdict.word(), "not measured");
}

#[test]
fn stars_match_any_text() {
    assert!(matches("*", "") && matches("a*c*", "abcb") && matches("a*bc", "abbc") && matches("ab", "ab"));
    assert!(!matches("a*c", "ab") && !matches("ab", "abc") && !matches("*b", "abc") && !matches("", "a"));
}

#[test]
fn bounds_that_are_none_are_refused() {
    for text in ["", "x", "cores", "cores+", "cores-1", "inf", "nan"] {
        assert!(Bound::try_from(text.to_owned()).is_err(), "{text}");
    }
}

/// The file that is shipped can be read, and has every letter of the issue.
#[test]
fn the_targets_are_read() {
    let targets = read(&root().join("benches/targets.csv")).unwrap();
    let mut letters: Vec<char> = targets.iter().map(|target| target.letter).collect();
    letters.dedup();
    assert_eq!(letters, ('a'..='k').collect::<Vec<_>>());
    for target in targets {
        assert_eq!(target.peer.is_empty(), target.peer_workload.is_empty() && target.peer_variant.is_empty());
        assert!(target.workload.starts_with(target.letter), "{}", target.workload);
        assert!(!target.what.is_empty() && !target.unit.is_empty());
    }
}
