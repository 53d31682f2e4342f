//! What every call pays before its own work: `cargo bench -p toprope-runtime --bench call`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use toprope_runtime::call::call;
use toprope_runtime::handle::{Kind, Table};
use toprope_runtime::observer::{self, Nobody};
use toprope_runtime::{Api, Error, error, refuse};

/// ACL_ERROR_RT_PARAM_INVALID
const CODE: i32 = 107_000;

fn handles(c: &mut Criterion) {
    let mut group = c.benchmark_group("Table");
    for live in [10, 1000, 100_000] {
        let table = Table::new(Kind::Event);
        let handles: Vec<u64> = (0..live).map(|i| table.insert(i)).collect();
        let order: Vec<u64> = (0..handles.len()).map(|i| handles[i * 7919 % handles.len()]).collect();
        let mut order = order.into_iter().cycle();
        group.bench_function(BenchmarkId::new("pin", live), |b| {
            b.iter(|| table.pin(black_box(order.next().unwrap_or(0))).map(|pin| *pin));
        });
    }
    let table = Table::new(Kind::Event);
    let dead = table.insert(1);
    table.remove(dead);
    group.bench_function("pin of a dead handle", |b| b.iter(|| table.pin(black_box(dead)).is_some()));
    group.bench_function("insert+remove", |b| b.iter(|| drop(table.remove(table.insert(black_box(1))))));
    group.finish();
}

fn gate(c: &mut Criterion) {
    let mut group = c.benchmark_group("call");
    assert!(!observer::watched(), "the first figure is of an unwatched process");
    group.bench_function("succeeds", |b| b.iter(|| call(black_box(Api::aclrtMemcpyAsync), |_| Ok(()))));
    group.bench_function("refuses", |b| b.iter(refused));
    // For good: an observer stays.
    observer::observe(Box::new(Nobody));
    group.bench_function("succeeds, observed", |b| {
        b.iter(|| call(black_box(Api::aclrtMemcpyAsync), |_| Ok(())));
    });
    group.bench_function("refuses, observed", |b| b.iter(refused));
    group.finish();
}

fn refused() -> i32 {
    call(Api::aclrtMemcpyAsync, |_| {
        refuse!(CODE, "aclrtMemcpyAsync#23", "dst: {:#x} is no memory of this process", black_box(0x1234))
    })
}

fn errors(c: &mut Criterion) {
    let mut group = c.benchmark_group("Error");
    group.bench_function("new", |b| {
        b.iter(|| Error::new(CODE, "aclrtMemcpyAsync#23", format!("count: {} is too much", black_box(65))));
    });
    let error = Error::new(CODE, "aclrtMemcpyAsync#23", "count: 65 is too much");
    group.bench_function("to_string", |b| b.iter(|| black_box(&error).to_string()));
    group.bench_function("refused call and aclGetRecentErrMsg", |b| {
        b.iter(|| {
            refused();
            error::recent()
        });
    });
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
}

criterion_group! { name = benches; config = short(); targets = handles, gate, errors }
criterion_main!(benches);
