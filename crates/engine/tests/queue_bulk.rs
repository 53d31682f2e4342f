//! Large copies and fills.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use toprope_engine::memory::{Move, Rows};
use toprope_engine::queue::{Config, Engine, Failure, Moves, Probe, Stream, Task, Waited};

mod common;
use common::{engine, host, sync};

#[test]
fn copies_and_fills_run_in_order() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let src: Vec<u32> = (0..1_000_000).collect();
    let dst = vec![0_u32; src.len()];
    let bytes = src.len() * 4;
    for _ in 0..3 {
        engine
            .push(stream, Task::Copy { dst: dst.as_ptr() as usize, src: src.as_ptr() as usize, len: bytes });
        engine.push(stream, Task::Fill { dst: dst.as_ptr() as usize, len: bytes / 2, byte: 0x5a });
        engine.push(stream, Task::Fill32 { dst: dst.as_ptr() as usize, count: 100, word: 7 });
    }
    sync(&engine, stream);
    // SAFETY: the stream is done; the memory was written behind the compiler's back.
    let now = |at: usize| unsafe { dst.as_ptr().add(at).read_volatile() };
    assert_eq!(
        (now(99), now(100), now(499_999), now(500_000), now(999_999)),
        (7, 0x5a5a_5a5a, 0x5a5a_5a5a, 500_000, 999_999)
    );
}

#[test]
fn large_overlapping_copies_behave_like_memmove() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    const N: usize = 5 << 20;
    for shift in [1, 4096, (1 << 20) + 5] {
        for up in [true, false] {
            let mut mem: Vec<u8> = (0..N + shift).map(|i| (i * 7 + (i >> 9)) as u8).collect();
            let mut expected = mem.clone();
            let base = mem.as_mut_ptr() as usize;
            let (dst, src) = if up { (shift, 0) } else { (0, shift) };
            expected.copy_within(src..src + N, dst);
            engine.push(stream, Task::Copy { dst: base + dst, src: base + src, len: N });
            sync(&engine, stream);
            assert!(mem == expected, "shift {shift} up {up}");
        }
    }
}

#[test]
fn copies_and_fills_of_a_call_are_whole_and_name_their_fault() {
    let engine = engine();
    let bytes = 0x3c_0000 + 13;
    for round in 0..20_u8 {
        let src: Vec<u8> = (0..bytes).map(|i| (i as u8).wrapping_mul(31) ^ (i >> 8) as u8 ^ round).collect();
        let mut dst = vec![0_u8; bytes];
        // SAFETY: both are whole and nobody else looks at them.
        unsafe { engine.copy(dst.as_mut_ptr() as usize, src.as_ptr() as usize, bytes) }.unwrap();
        assert!(dst == src, "round {round}");
        // SAFETY: as above.
        unsafe { engine.fill(dst.as_mut_ptr() as usize + 1, round, bytes - 2) }.unwrap();
        assert!(dst[0] == src[0] && dst[bytes - 1] == src[bytes - 1]);
        assert!(dst[1..bytes - 1].iter().all(|byte| *byte == round));
    }
    // Overlapping, as memmove.
    let mut mem: Vec<u8> = (0..bytes + 4096).map(|i| (i * 7 + (i >> 9)) as u8).collect();
    let mut expected = mem.clone();
    expected.copy_within(..bytes, 4096);
    let base = mem.as_mut_ptr() as usize;
    // SAFETY: both ranges lie in `mem`.
    unsafe { engine.copy(base + 4096, base, bytes) }.unwrap();
    assert!(mem == expected);
    // A page in the middle that is not there is named, whoever met it.
    let len = 4 << 20;
    let hole = len / 2;
    // SAFETY: a fresh mapping, and a page of it taken away.
    let base = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let base = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        assert_ne!(base, libc::MAP_FAILED);
        assert_eq!(libc::munmap(base.byte_add(hole), 4096), 0);
        base as usize
    };
    let from = vec![1_u8; len];
    // SAFETY: the hole is reported.
    let fault = unsafe { engine.copy(base, from.as_ptr() as usize, len) }.unwrap_err();
    assert_eq!((fault.signal, fault.address & !4095), (libc::SIGSEGV, base + hole));
    // SAFETY: as above.
    let fault = unsafe { engine.fill32(base, 7, len / 4) }.unwrap_err();
    assert_eq!(fault.address & !4095, base + hole);
}

#[test]
fn deadlines_hold_over_a_large_copy() {
    let engine = engine();
    let stream = engine.open(0, 0).unwrap();
    let (src, dst) = (vec![3_u8; 64 << 20], vec![0_u8; 64 << 20]);
    for _ in 0..4 {
        engine.push(
            stream,
            Task::Copy { dst: dst.as_ptr() as usize, src: src.as_ptr() as usize, len: src.len() },
        );
    }
    let mark = engine.mark(stream);
    assert_eq!(engine.wait(mark, Some(Instant::now() + Duration::from_micros(500))), Waited::TimedOut);
    assert_eq!(engine.wait(mark, Some(Instant::now())), Waited::TimedOut);
    sync(&engine, stream);
    assert!(dst == src);
}

#[test]
fn large_copies_that_give_way_again_and_again_are_whole() {
    let engine = engine();
    let (low, high) = (engine.open(0, 7).unwrap(), engine.open(0, 0).unwrap());
    const N: usize = (24 << 20) + 4321;
    let src: Vec<u8> =
        (0..N).map(|i| (i as u8).wrapping_mul(37) ^ (i >> 8) as u8 ^ (i >> 17) as u8).collect();
    for round in 0..8 {
        let mut dst = vec![0_u8; N];
        let (to, from) = (dst.as_mut_ptr() as usize, src.as_ptr() as usize);
        engine.push(low, Task::Copy { dst: to, src: from, len: N });
        // Waiting for it, with less and less patience, lets a host help and leave; the other stream lets the owner leave.
        for step in 0..40_u64 {
            engine.push(high, host(&|| ()));
            let end = Instant::now() + Duration::from_micros(300 / (1 + step));
            if engine.wait(engine.mark(low), Some(end)) == Waited::Done {
                break;
            }
            sync(&engine, high);
        }
        sync(&engine, low);
        assert!(dst == src, "round {round}");
    }
}

fn noise(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(seed | 1) >> 3) as u8 ^ (i >> 11) as u8).collect()
}

/// Runs a task of which several are alike, so that some are shared and others are not.
fn as_task(engine: &Engine, task: impl Fn() -> Task) {
    let stream = engine.open(0, 0).unwrap();
    for _ in 0..4 {
        engine.push(stream, task());
        sync(engine, stream);
    }
    assert_eq!(engine.take_failure(stream), None);
}

#[test]
fn rows_and_lists_are_whole_as_tasks_and_as_calls() {
    let engine = engine();
    const ROWS: usize = 3001;
    for (width, dpitch, spitch) in [(256, 512, 512), (700, 701, 1000), (1024, 1024, 2048)] {
        let src = noise(ROWS * spitch, width);
        let empty = vec![0_u8; ROWS * dpitch];
        let mut wanted = empty.clone();
        for row in 0..ROWS {
            let from = row * spitch;
            wanted[row * dpitch..][..width].copy_from_slice(&src[from..from + width]);
        }
        for round in 0..24 {
            let mut dst = empty.clone();
            let rows = Rows {
                dst: dst.as_mut_ptr() as usize,
                dpitch,
                src: src.as_ptr() as usize,
                spitch,
                width,
                height: ROWS,
            };
            if round < 4 {
                as_task(&engine, || Task::Rows(Box::new(rows)));
            } else {
                // SAFETY: both are whole and nobody else looks at them.
                unsafe { engine.copy_rows(&rows) }.unwrap();
            }
            assert!(dst == wanted, "width {width} round {round}");
        }
    }
    // Copies of all sizes, the other way around.
    let lens: Vec<usize> = (0..1500).map(|i| i * 7919 % 2000).collect();
    let total: usize = lens.iter().sum();
    let src = noise(total, 99);
    let starts = lens.iter().scan(0, |at, len| Some(std::mem::replace(at, *at + len)));
    let starts: Vec<usize> = starts.collect();
    for round in 0..24 {
        let mut dst = vec![0_u8; total];
        let (to, from) = (dst.as_mut_ptr() as usize, src.as_ptr() as usize);
        let all = starts.iter().zip(&lens);
        let list: Vec<Move> =
            all.map(|(at, len)| Move { dst: to + total - at - len, src: from + at, len: *len }).collect();
        if round < 4 {
            as_task(&engine, || Task::Each(Box::new(Moves::new(list.clone()))));
        } else {
            // SAFETY: as above.
            unsafe { engine.copy_each(&list) }.unwrap();
        }
        for (at, len) in starts.iter().zip(&lens) {
            assert!(dst[total - at - len..total - at] == src[*at..at + len], "{at} of round {round}");
        }
    }
}

#[test]
fn rows_that_overlap_are_copied_in_their_order() {
    let engine = engine();
    const ROWS: usize = 4000;
    let array = noise(1 << 20, 5);
    for (dst, src) in [(0, 300), (300, 0), (512, 0)] {
        let mut wanted = array.clone();
        for row in 0..ROWS {
            wanted.copy_within(row * 256 + src..row * 256 + src + 200, row * 256 + dst);
        }
        for task in [false, true, false, true] {
            let mut now = array.clone();
            let base = now.as_mut_ptr() as usize;
            let rows =
                Rows { dst: base + dst, dpitch: 256, src: base + src, spitch: 256, width: 200, height: ROWS };
            if task {
                let stream = engine.open(0, 0).unwrap();
                engine.push(stream, Task::Rows(Box::new(rows)));
                sync(&engine, stream);
            } else {
                // SAFETY: both lie in the array.
                unsafe { engine.copy_rows(&rows) }.unwrap();
            }
            assert!(now == wanted, "{src} to {dst}");
        }
    }
}

#[test]
fn a_list_with_faults_is_made_as_far_as_can_be_and_says_so_once() {
    struct Count(Arc<AtomicU32>);
    impl Probe for Count {
        fn started(&self, _: Stream, _: u64) {}
        fn done(&self, _: Stream, _: u64) {}
        fn failed(&self, _: Stream, _: Failure) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let told = Arc::new(AtomicU32::new(0));
    let engine = Engine::new(Config::new(Box::new(Count(told.clone()))));
    let stream = engine.open(0, 0).unwrap();
    const LEN: usize = 1024;
    for (round, count) in [8, 300, 2500, 2500, 2500].into_iter().enumerate() {
        let src = noise(LEN * count, 17);
        let mut dst = vec![0_u8; LEN * count];
        let (to, from) = (dst.as_mut_ptr() as usize, src.as_ptr() as usize);
        let bad = [count / 3, count / 2, count - 1];
        let place = |i: usize, start: usize| if bad.contains(&i) { 64 } else { start + LEN * i };
        let list: Vec<Move> =
            (0..count).map(|i| Move { dst: to + LEN * i, src: place(i, from), len: LEN }).collect();
        let right = |dst: &[u8]| {
            (0..count).all(|i| {
                let wanted = if bad.contains(&i) { &[0; LEN][..] } else { &src[LEN * i..][..LEN] };
                dst[LEN * i..][..LEN] == *wanted
            })
        };
        engine.push(stream, Task::Each(Box::new(Moves::new(list.clone()))));
        sync(&engine, stream);
        assert!(right(&dst), "round {round}");
        assert_eq!(engine.take_failure(stream).map(|failure| failure.code), Some(1));
        assert_eq!(told.load(Ordering::Relaxed), round as u32 + 1);
        // SAFETY: the bad places are reported.
        let (at, fault) = unsafe { engine.copy_each(&list) }.unwrap_err();
        assert_eq!((at, fault.address), (bad[0], 64));
    }
}

#[test]
fn a_list_whose_owner_gives_way_is_made_as_far_as_can_be() {
    let engine = engine();
    let (low, high) = (engine.open(0, 7).unwrap(), engine.open(0, 0).unwrap());
    const COUNT: usize = 128;
    const LEN: usize = 256 << 10;
    let src = noise(COUNT * LEN, 3);
    for round in 0..6 {
        let mut dst = vec![0_u8; COUNT * LEN];
        let (to, from) = (dst.as_mut_ptr() as usize, src.as_ptr() as usize);
        let place = |i: usize| if i == round { 64 } else { from + LEN * i };
        let list = (0..COUNT).map(|i| Move { dst: to + LEN * i, src: place(i), len: LEN }).collect();
        engine.push(low, Task::Each(Box::new(Moves::new(list))));
        for step in 1..20 {
            let end = Instant::now() + Duration::from_micros(500 / step);
            engine.push(high, host(&|| ()));
            if engine.wait(engine.mark(low), Some(end)) == Waited::Done {
                break;
            }
            sync(&engine, high);
        }
        sync(&engine, low);
        assert_eq!(engine.take_failure(low).map(|failure| failure.code), Some(1));
        for i in (0..COUNT).filter(|i| *i != round) {
            assert!(dst[LEN * i..][..LEN] == src[LEN * i..][..LEN], "{i} of round {round}");
        }
    }
}

#[test]
fn what_overlaps_itself_is_made_once() {
    let engine = engine();
    const LEN: usize = 1 << 20;
    for _ in 0..8 {
        let mut mem = noise(LEN + 1, 7);
        let mut wanted = mem.clone();
        wanted.copy_within(..LEN, 1);
        let base = mem.as_mut_ptr() as usize;
        let list = [Move { dst: base + 1, src: base, len: LEN }, Move { dst: base, src: 64, len: LEN }];
        // SAFETY: the first lies in the array; the other one is reported.
        assert_eq!(unsafe { engine.copy_each(&list) }.unwrap_err().0, 1);
        assert!(mem == wanted);
    }
}

#[test]
fn rows_of_which_each_covers_half_of_the_last_keep_their_order() {
    let engine = engine();
    const WIDTH: usize = 4096;
    const ROWS: usize = 1024;
    let src = noise(WIDTH * ROWS, 11);
    let mut wanted = vec![0_u8; WIDTH / 2 * (ROWS + 1)];
    for row in 0..ROWS {
        wanted[row * WIDTH / 2..][..WIDTH].copy_from_slice(&src[row * WIDTH..][..WIDTH]);
    }
    for _ in 0..30 {
        let mut dst = vec![0_u8; wanted.len()];
        let rows = Rows {
            dst: dst.as_mut_ptr() as usize,
            dpitch: WIDTH / 2,
            src: src.as_ptr() as usize,
            spitch: WIDTH,
            width: WIDTH,
            height: ROWS,
        };
        // SAFETY: both are whole and nobody else looks at them.
        unsafe { engine.copy_rows(&rows) }.unwrap();
        assert!(dst == wanted);
    }
}
