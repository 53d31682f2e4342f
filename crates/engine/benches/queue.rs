//! Tasks on their way through a stream: `cargo bench -p toprope-engine --bench queue`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::ffi::c_void;
use std::time::Duration;
use toprope_engine::queue::{Config, Engine, Mark, Silent, Stream, Task, Waited};

fn engine() -> Engine {
    Engine::new(Config::new(Box::new(Silent)))
}

/// Bytes that tasks copy.
struct Bytes(Vec<u8>);

impl Bytes {
    fn copy(&self) -> Task {
        let base = self.0.as_ptr() as usize;
        Task::Copy { dst: base, src: base + 64, len: 64 }
    }
}

fn sync(engine: &Engine, mark: Mark) {
    assert_eq!(engine.wait(mark, None), Waited::Done);
}

/// Tasks added to a stream that waits: no worker and no helper is in it.
fn push(c: &mut Criterion) {
    let (engine, bytes) = (engine(), Bytes(vec![0; 128]));
    let stream = engine.open(0, 0).unwrap();
    let mut group = c.benchmark_group("Engine::push");
    group.throughput(Throughput::Elements(1000));
    group.bench_function("1000 copies of 64 B behind a wait", |b| {
        b.iter_batched(
            || {
                sync(&engine, engine.mark(stream));
                let signal = engine.open_signal().unwrap();
                let mark = engine.signal_mark(signal, 1);
                engine.push(stream, Task::Wait { mark, timeout_ms: 0, code: 0 });
                Gate { engine: &engine, signal }
            },
            |gate| {
                for _ in 0..1000 {
                    engine.push(stream, bytes.copy());
                }
                // What it holds back begins when it is dropped, which is not measured.
                gate
            },
            BatchSize::PerIteration,
        );
    });
    sync(&engine, engine.mark(stream));
    group.finish();
}

struct Gate<'a> {
    engine: &'a Engine,
    signal: toprope_engine::queue::Signal,
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.engine.close_signal(self.signal);
    }
}

fn drain(c: &mut Criterion) {
    let (engine, bytes) = (engine(), Bytes(vec![0; 128]));
    let stream = engine.open(0, 0).unwrap();
    let mut group = c.benchmark_group("push+wait");
    for tasks in [1, 1000, 100_000] {
        group.throughput(Throughput::Elements(tasks));
        group.bench_function(BenchmarkId::new("copies of 64 B", tasks), |b| {
            b.iter(|| {
                for _ in 0..tasks {
                    engine.push(stream, bytes.copy());
                }
                sync(&engine, engine.mark(stream));
            });
        });
    }
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    group.throughput(Throughput::Elements(1));
    group.bench_function("a host function", |b| {
        b.iter(|| {
            engine.push(stream, Task::Host { func: nothing, arg: std::ptr::null_mut() });
            sync(&engine, engine.mark(stream));
        });
    });
    group.finish();
}

/// Two streams that wait for each other in turn.
fn hops(c: &mut Criterion) {
    let engine = engine();
    let pair: [Stream; 2] = [engine.open(0, 0).unwrap(), engine.open(0, 0).unwrap()];
    let mut group = c.benchmark_group("hop");
    group.throughput(Throughput::Elements(1000));
    group.bench_function("1000 between two streams", |b| {
        b.iter(|| {
            for i in 0..1000 {
                let mark = engine.mark(pair[i % 2]);
                engine.push(pair[(i + 1) % 2], Task::Wait { mark, timeout_ms: 0, code: 0 });
            }
            pair.iter().for_each(|&stream| sync(&engine, engine.mark(stream)));
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

criterion_group! { name = benches; config = short(); targets = push, drain, hops }
criterion_main!(benches);
