//! Copies and fills: the right bytes, and an error for every kind of bad address.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "memory/pages.rs"]
mod pages;

use pages::{PAGE, Pages, read, write};
use proptest::prelude::*;
use std::sync::Barrier;
use toprope_engine::fault::Fault;
use toprope_engine::memory::{Move, Rows, copy, copy_each, copy_rows, copy_streamed, fill, fill32};

fn copied(dst: usize, src: usize, len: usize) -> Result<(), Fault> {
    // SAFETY: the tests' own pages, or nobody's.
    unsafe { copy(dst, src, len) }
}
fn filled(dst: usize, byte: u8, len: usize) -> Result<(), Fault> {
    // SAFETY: as above.
    unsafe { fill(dst, byte, len) }
}
fn filled32(dst: usize, word: u32, count: usize) -> Result<(), Fault> {
    // SAFETY: as above.
    unsafe { fill32(dst, word, count) }
}
fn segv(address: usize) -> Result<(), Fault> {
    Err(Fault { signal: libc::SIGSEGV, address })
}
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
}

#[test]
fn every_small_length_and_offset() {
    let area = Pages::new(2);
    let source = pattern(600);
    for len in 0..=300 {
        for (to, from) in [(0, 0), (1, 3), (15, 8), (64, 1)] {
            write(area.base, &[0xee; 600]);
            assert_eq!(copied(area.base + to, source.as_ptr() as usize + from, len), Ok(()));
            let mut expected = vec![0xee; 600];
            expected[to..to + len].copy_from_slice(&source[from..from + len]);
            assert_eq!(read(area.base, 600), expected, "len {len} to {to} from {from}");
        }
        write(area.base, &[0xee; 400]);
        assert_eq!(filled(area.base + 5, 0x5a, len), Ok(()));
        let mut expected = vec![0xee; 400];
        expected[5..5 + len].fill(0x5a);
        assert_eq!(read(area.base, 400), expected, "fill {len}");
    }
}

#[test]
fn words_at_every_alignment() {
    let area = Pages::new(2);
    for offset in 0..70 {
        for count in [0, 1, 2, 3, 7, 8, 9, 31, 64, 100, 700] {
            write(area.base, &[0xee; 3000]);
            assert_eq!(filled32(area.base + offset, 0x0403_0201, count), Ok(()));
            let mut expected = vec![0xee; 3000];
            for at in 0..4 * count {
                expected[offset + at] = (at % 4) as u8 + 1;
            }
            assert_eq!(read(area.base, 3000), expected, "offset {offset} count {count}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn overlap_behaves_like_memmove(to in 0usize..5000, from in 0usize..5000, len in 0usize..60_000) {
        let area = Pages::new(16);
        let bytes = pattern(area.len);
        write(area.base, &bytes);
        let mut expected = bytes;
        expected.copy_within(from..from + len, to);
        prop_assert_eq!(copied(area.base + to, area.base + from, len), Ok(()));
        prop_assert_eq!(read(area.base, area.len), expected);
    }

    /// A closed page anywhere in the source or the destination is reported, with an address inside that page and range.
    #[test]
    fn a_closed_page_is_reported(offset in 0usize..PAGE, len in 1usize..6 * PAGE, closed in 0usize..8, write_side: bool) {
        let (bad, good) = (Pages::new(8), Pages::new(8));
        bad.close(closed);
        let start = bad.base + offset;
        let touched = start < bad.page(closed) + PAGE && bad.page(closed) < start + len;
        let result = if write_side { copied(start, good.base, len) } else { copied(good.base, start, len) };
        match result {
            Ok(()) => prop_assert!(!touched),
            Err(fault) => {
                prop_assert!(touched);
                prop_assert_eq!(fault.signal, libc::SIGSEGV);
                prop_assert!((bad.page(closed)..bad.page(closed) + PAGE).contains(&fault.address));
                prop_assert!((start..start + len).contains(&fault.address));
            }
        }
    }
}

#[test]
fn faults_at_the_start_in_the_middle_and_at_the_end() {
    let bad = Pages::new(5);
    bad.close(2);
    let good = Pages::new(5);
    write(good.base, &pattern(good.len));
    assert_eq!(copied(bad.page(2), good.base, 1), segv(bad.page(2)));
    assert_eq!(copied(good.base, bad.page(3) - 1, 1), segv(bad.page(3) - 1));
    assert!(copied(bad.page(1), good.base, 3 * PAGE).is_err());
    assert_eq!(copied(bad.page(2) - 1, good.base, 1), Ok(()));
    assert_eq!(copied(bad.page(3), good.base, 2 * PAGE), Ok(()));
    assert_eq!(read(bad.page(3), 2 * PAGE), pattern(2 * PAGE));
    assert!(filled(bad.page(1), 1, 3 * PAGE).is_err());
    assert_eq!(filled(bad.page(2), 1, 1), segv(bad.page(2)));
    assert!(filled32(bad.page(2) - 2, 1, 1).is_err());
    assert!(filled32(bad.page(1) + 1, 1, PAGE).is_err());
    assert_eq!(filled32(bad.page(2) - 8, 1, 2), Ok(()));
    bad.freeze(0);
    assert_eq!(copied(good.base, bad.page(0), PAGE), Ok(()));
    assert_eq!(copied(bad.page(0), good.base, PAGE).map_err(|f| f.signal), Err(libc::SIGSEGV));
}

#[test]
fn routines_of_many_copies_report_the_page_that_is_closed() {
    let (from, to) = (Pages::new(4), Pages::new(4));
    write(from.base, &pattern(from.len));
    to.close(2);
    let closed = to.base + 2 * PAGE;
    let moves: Vec<Move> =
        (0..16).map(|i| Move { dst: to.base + i * 1024, src: from.base + i * 1024, len: 1024 }).collect();
    // SAFETY: the test's own pages.
    let (at, fault) = unsafe { copy_each(&moves) }.unwrap_err();
    // The C library's routine may begin at the end.
    assert_eq!((at, fault.signal, fault.address / PAGE), (8, libc::SIGSEGV, closed / PAGE));
    assert_eq!(read(to.base, 8192), read(from.base, 8192), "what comes before it is done");
    for (width, mixed) in [(256, false), (255, false), (256, true)] {
        let (dpitch, spitch) = (512, if mixed { 0 } else { 512 });
        let rows = Rows { dst: to.base + 64, dpitch, src: from.base, spitch, width, height: 20 };
        // SAFETY: the test's own pages.
        let fault = unsafe { copy_rows(&rows) }.unwrap_err();
        assert_eq!((fault.signal, fault.address / PAGE), (libc::SIGSEGV, closed / PAGE), "{rows:?}");
    }
    // SAFETY: the test's own pages.
    let fault = unsafe { copy_streamed(to.base + 3, from.base, 3 * PAGE) }.unwrap_err();
    assert_eq!((fault.signal, fault.address / PAGE), (libc::SIGSEGV, closed / PAGE));
    // The thread goes on as before.
    assert_eq!(copied(to.base, from.base, PAGE), Ok(()));
}

#[test]
fn addresses_that_no_program_has() {
    let good = Pages::new(1);
    for wild in [0, 1, 4095, 0x1234_5678, 1 << 46, 1 << 47, 0x8000_0000_0000_0000, usize::MAX - 100] {
        for len in [1, 8, 64, 100] {
            let (a, b) = (copied(wild, good.base, len), copied(good.base, wild, len));
            for result in [a, b, filled(wild, 0, len), filled32(wild, 0, len)] {
                assert_eq!(result.map_err(|fault| fault.signal), Err(libc::SIGSEGV), "{wild:#x} {len}");
            }
        }
        assert_eq!(copied(wild, wild, 0), Ok(()));
        assert_eq!(filled(wild, 1, 0), Ok(()));
        assert_eq!(filled32(wild, 1, 0), Ok(()));
    }
}

#[test]
fn behind_the_end_of_a_file() {
    // SAFETY: a new memory file, closed below.
    unsafe {
        let file = libc::memfd_create(c"short".as_ptr(), libc::MFD_CLOEXEC);
        assert!(file >= 0 && libc::ftruncate(file, 2 * PAGE as i64) == 0);
        let map = Pages::of_file(4, file);
        let good = Pages::new(4);
        assert_eq!(copied(map.base, good.base, 2 * PAGE), Ok(()));
        let bus = |address| Err(Fault { signal: libc::SIGBUS, address });
        assert_eq!(copied(map.page(2), good.base, 8), bus(map.page(2)));
        assert!(copied(good.base, map.base, 3 * PAGE).is_err());
        assert_eq!(filled(map.page(3), 0, 8), bus(map.page(3)));
        assert_eq!(libc::ftruncate(file, 0), 0);
        assert_eq!(copied(good.base, map.base, 8), bus(map.base));
        libc::close(file);
    }
}

#[test]
fn faults_on_many_threads_at_once() {
    const THREADS: usize = 8;
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let start = &start;
            scope.spawn(move || {
                let area = Pages::new(3);
                area.close(1);
                start.wait();
                for round in 0..2000 {
                    let bytes = [thread as u8 + 1; 64];
                    assert_eq!(copied(area.page(1), bytes.as_ptr() as usize, 64), segv(area.page(1)));
                    let ok = area.page(2) + 64 * (round % 60);
                    assert_eq!(copied(ok, bytes.as_ptr() as usize, 64), Ok(()));
                    assert_eq!(read(ok, 64), bytes);
                }
            });
        }
    });
}

/// Callee-saved registers, the stack and the direction flag are as before: locals survive, and later string operations run upwards.
#[test]
fn the_caller_keeps_its_state() {
    let area = Pages::new(3);
    area.close(0);
    let values: Vec<u64> = (0..64).map(|i| std::hint::black_box(i * i)).collect();
    let (mut a, mut b, mut c) = (1u64, 2u64, 3u64);
    for round in 0..100u64 {
        // Overlapping with the source below: the routine copies downwards and meets the closed page last.
        let result = copied(area.base + 100 + PAGE, area.base + PAGE - 8, PAGE);
        assert_eq!(result.map_err(|f| f.signal), Err(libc::SIGSEGV));
        (a, b, c) = (a.wrapping_add(values[(round % 64) as usize]), b ^ a, c.wrapping_add(b));
        assert_eq!(filled(area.page(1), round as u8, 2 * PAGE), Ok(()));
        assert_eq!(read(area.page(1), 2 * PAGE), vec![round as u8; 2 * PAGE]);
    }
    let (mut x, mut y, mut z) = (1u64, 2u64, 3u64);
    for round in 0..100 {
        (x, y, z) = (x.wrapping_add(values[round % 64]), y ^ x, z.wrapping_add(y));
    }
    assert_eq!((a, b, c), (x, y, z));
}
