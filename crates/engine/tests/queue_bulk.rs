//! Large copies and fills.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};
use toprope_engine::queue::{Task, Waited};

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
