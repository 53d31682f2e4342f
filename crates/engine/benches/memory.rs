//! From an address to its block, blocks that come and go, copies and fills: `cargo bench -p toprope-engine --bench memory`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use toprope_engine::memory::{self, Layout, Owner, Page, Space};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

fn space() -> Space {
    Space::new(Layout {
        devices: 1,
        device_bytes: 64 << 30,
        pinned_bytes: 1 << 30,
        mirror_pinned: false,
        guard: false,
        managed_base: 0x900_0000_0000,
        managed_bytes: 1 << 30,
    })
    .unwrap()
}

fn alloc(space: &Space, size: usize) -> usize {
    space.alloc(Owner::Device(0), size, size, 64, Page::Normal, 0).unwrap().base
}

/// The numbers below `count` in an order that no prefetcher follows: 7919 is a prime that divides none of the counts used.
fn scattered(count: usize) -> impl Iterator<Item = usize> + Clone {
    (0..count).map(move |i| i * 7919 % count)
}

fn find(c: &mut Criterion) {
    let mut group = c.benchmark_group("Space::find");
    for (name, size) in [("2 KiB blocks", 2 * KIB), ("256 KiB blocks", 256 * KIB)] {
        for count in [10, 1000, 100_000] {
            let space = space();
            let blocks: Vec<usize> = (0..count).map(|_| alloc(&space, size)).collect();
            let mut order = scattered(count).map(|i| blocks[i] + 17).collect::<Vec<_>>().into_iter().cycle();
            group.bench_function(BenchmarkId::new(name, count), |b| {
                b.iter(|| space.find(black_box(order.next().unwrap_or(0))));
            });
        }
    }
    let space = space();
    alloc(&space, KIB);
    let outside = Box::new(0u64);
    let outside = std::ptr::from_ref(&*outside) as usize;
    group.bench_function("no memory of the space", |b| b.iter(|| space.find(black_box(outside))));
    let ranges = vec![0u8; 64 * KIB];
    let registered = |i: usize| ranges.as_ptr() as usize + i * 64;
    for i in 0..1000 {
        space.register(registered(i), 64, 0).unwrap();
    }
    let mut order = scattered(1000).cycle();
    group.bench_function("1000 registered ranges", |b| {
        b.iter(|| space.find(black_box(registered(order.next().unwrap_or(0)))));
    });
    group.finish();
}

fn blocks(c: &mut Criterion) {
    let mut group = c.benchmark_group("alloc+free");
    for (name, size) in [("2 KiB", 2 * KIB), ("1 MiB", MIB)] {
        for live in [0, 10_000] {
            let space = space();
            for _ in 0..live {
                alloc(&space, size);
            }
            group.bench_function(BenchmarkId::new(name, format!("{live} others")), |b| {
                b.iter(|| space.free(alloc(&space, size)).unwrap());
            });
        }
    }
    // A program's start and end: many blocks, then none.
    let space = space();
    group.bench_function("2 KiB, 1000 at a time", |b| {
        b.iter_batched_ref(
            || Vec::with_capacity(1000),
            |blocks| {
                blocks.extend((0..1000).map(|_| alloc(&space, 2 * KIB)));
                for base in blocks.drain(..) {
                    space.free(base).unwrap();
                }
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn bytes(c: &mut Criterion) {
    const SIZES: [usize; 4] = [64, 4 * KIB, 64 * KIB, MIB];
    let (dst, src) = (vec![1u8; MIB], vec![2u8; MIB]);
    let (dst, src) = (dst.as_ptr() as usize, src.as_ptr() as usize);
    let mut group = c.benchmark_group("memory::copy");
    for size in SIZES {
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(BenchmarkId::from_parameter(size), |b| {
            // SAFETY: both vectors live, and nothing holds references into them.
            b.iter(|| unsafe { memory::copy(black_box(dst), src, size) });
        });
    }
    group.finish();
    let mut group = c.benchmark_group("memory::fill");
    for size in SIZES {
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(BenchmarkId::from_parameter(size), |b| {
            // SAFETY: as above.
            b.iter(|| unsafe { memory::fill(black_box(dst), 7, size) });
        });
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
}

criterion_group! { name = benches; config = short(); targets = find, blocks, bytes }
criterion_main!(benches);
