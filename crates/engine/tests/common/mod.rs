//! What the programs that test the queue share.
// Each of them uses a part.
#![allow(dead_code)]

use std::ffi::c_void;
use std::time::{Duration, Instant};
use toprope_engine::queue::{Config, Engine, Silent, Stream, Task, Waited, Work};

pub fn engine() -> Engine {
    Engine::new(Config::new(Box::new(Silent)))
}

pub fn one_worker() -> Engine {
    Engine::new(Config { workers: 1, ..Config::new(Box::new(Silent)) })
}

pub fn long() -> Option<Instant> {
    Some(Instant::now() + Duration::from_secs(20))
}

/// Waits for everything in the stream; fails instead of hanging.
pub fn sync(engine: &Engine, stream: Stream) {
    assert_eq!(engine.wait(engine.mark(stream), long()), Waited::Done, "the stream hangs");
}

pub fn work(user_code: bool, run: impl FnOnce() -> Result<(), u32> + Send + 'static) -> Task {
    Task::Work(Box::new(Work { run: Box::new(run), cost_ns: 100, user_code }))
}

/// Runs on a worker, with a borrowed environment: the caller synchronizes before it ends.
pub fn host<F: Fn() + Sync>(f: &F) -> Task {
    unsafe extern "C" fn call<F: Fn()>(arg: *mut c_void) {
        // SAFETY: made from a reference to an F that outlives the task.
        unsafe { (*arg.cast::<F>())() }
    }
    Task::Host { func: call::<F>, arg: std::ptr::from_ref(f).cast_mut().cast() }
}

pub fn until(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}
