use super::*;
use proptest::prelude::*;
use toprope_engine::queue::Mark;

fn task(line: u64, position: u64) -> Access {
    Access { epoch: Epoch::task(Mark(line << 46 | position)), api: 0, site: Site::NONE, who: line as u32 }
}

#[test]
fn unordered_writes_clash_and_ordered_ones_do_not() {
    let mut shadow = Shadow::new(256, false);
    let nothing = Clock::default();
    let mut out = Vec::new();
    shadow.write(0..128, task(1, 1), &nothing, &mut out);
    assert!(out.is_empty());
    shadow.write(64..96, task(2, 1), &nothing, &mut out);
    assert_eq!(out, [Conflict { earlier: task(1, 1), wrote: true, at: 64, len: 32 }]);
    out.clear();
    let mut after = Clock::default();
    after.add(task(1, 1).epoch);
    after.add(task(2, 1).epoch);
    shadow.read(0..128, task(3, 1), &after, &mut out);
    assert!(out.is_empty());
    // A later write of the first stream meets the reader only.
    let mut own = Clock::default();
    own.add(task(2, 1).epoch);
    shadow.write(0..128, task(1, 2), &own, &mut out);
    assert_eq!(out, [Conflict { earlier: task(3, 1), wrote: false, at: 0, len: 128 }]);
    assert_eq!(shadow.ranges(), 2);
}

#[test]
fn what_another_thread_did_there_is_near_when_one_of_the_two_writes() {
    let call = |slot, who, time| Access { epoch: Epoch::host(slot, time), api: 0, site: Site::NONE, who };
    let (one, other, successor) = (call(0, 10, 1), call(1, 11, 1), call(0, 12, 2));
    let mut shadow = Shadow::new(64, false);
    let mut all = Clock::default();
    [one, other, successor].iter().for_each(|access| _ = all.add(access.epoch));
    let mut out = Vec::new();
    assert_eq!(shadow.read(0..32, one, &all, &mut out), None);
    assert_eq!(shadow.read(0..32, other, &all, &mut out), None);
    assert_eq!(shadow.write(16..48, one, &all, &mut out), Some(other));
    assert_eq!(shadow.write(48..64, other, &all, &mut out), None);
    assert_eq!(shadow.read(40..64, other, &all, &mut out), Some(one));
    assert_eq!(shadow.read(40..48, one, &all, &mut out), None);
    // A thread that has the slot of one that ended is another one; a task is none.
    assert_eq!(shadow.read(40..48, successor, &all, &mut out), Some(one));
    assert_eq!(shadow.write(0..64, task(1, 1), &all, &mut out), None);
    assert!(out.is_empty());
    // Without an order both are a clash, and near.
    assert_eq!(shadow.write(0..64, one, &Clock::default(), &mut out), None);
    assert_eq!(shadow.write(0..64, other, &Clock::default(), &mut out), Some(one));
    let clash = |earlier, wrote| Conflict { earlier, wrote, at: 0, len: 64 };
    assert_eq!(out, [clash(task(1, 1), true), clash(one, true)]);
}

#[test]
fn never_written_bytes_are_found() {
    let mut shadow = Shadow::new(256, false);
    let mut out = Vec::new();
    shadow.write(0..100, task(1, 1), &Clock::default(), &mut out);
    assert_eq!(shadow.unwritten(&(0..100)), None);
    assert_eq!(shadow.unwritten(&(50..101)), Some(100));
    assert_eq!(shadow.unwritten(&(120..130)), Some(120));
    shadow.assume_written();
    assert_eq!(shadow.unwritten(&(0..256)), None);
}

#[test]
fn a_free_sees_what_is_pending() {
    let mut shadow = Shadow::new(256, false);
    let mut out = Vec::new();
    shadow.read(0..16, task(1, 1), &Clock::default(), &mut out);
    shadow.write(16..32, task(2, 5), &Clock::default(), &mut out);
    let mut clock = Clock::default();
    clock.add(task(1, 1).epoch);
    let open: Vec<Access> = shadow.open(&clock).into_iter().map(|c| c.earlier).collect();
    assert_eq!(open, [task(2, 5)]);
}

#[test]
fn the_number_of_ranges_is_bounded() {
    let mut shadow = Shadow::new(1 << 20, false);
    let mut out = Vec::new();
    for at in 0..20_000 {
        shadow.write(at * 16..at * 16 + 8, task(1, at as u64 + 1), &Clock::default(), &mut out);
        assert!(shadow.ranges() <= MOST + 2);
    }
    assert!(out.is_empty());
}

proptest! {
    /// Against one entry for each byte.
    #[test]
    fn ranges_know_what_bytes_would(ops in prop::collection::vec((0usize..64, 1usize..32, 0u64..3, any::<bool>(), any::<bool>()), 1..40)) {
        let mut shadow = Shadow::new(96, false);
        let mut bytes: Vec<(Option<Access>, Vec<Access>)> = vec![(None, Vec::new()); 96];
        let mut position = [0u64; 3];
        let mut clocks = [Clock::default(), Clock::default(), Clock::default()];
        for (start, len, line, write, sync) in ops {
            let at = line as usize;
            if sync {
                let epoch = task((line + 1) % 3, position[(at + 1) % 3]).epoch;
                clocks[at].add(epoch);
            }
            position[at] += 1;
            let access = task(line, position[at]);
            let clock = &clocks[at];
            let mut want: Vec<(Access, bool)> = Vec::new();
            for (last, reads) in &mut bytes[start..start + len] {
                let bad = |earlier: &Access| earlier.epoch.line() != access.epoch.line() && !clock.covers(earlier.epoch);
                want.extend(last.filter(|l| bad(l)).map(|l| (l, true)));
                if write {
                    want.extend(reads.iter().filter(|r| bad(r)).map(|r| (*r, false)));
                    *last = Some(access);
                    reads.clear();
                } else {
                    reads.retain(|r| bad(r));
                    reads.push(access);
                }
            }
            let mut out = Vec::new();
            if write { shadow.write(start..start + len, access, clock, &mut out) } else { shadow.read(start..start + len, access, clock, &mut out) };
            for (earlier, wrote) in &want {
                prop_assert!(out.iter().any(|c| c.earlier == *earlier && c.wrote == *wrote));
            }
            for conflict in &out {
                prop_assert!(want.contains(&(conflict.earlier, conflict.wrote)));
            }
        }
    }
}
