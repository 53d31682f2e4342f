//! How often kernels wake the watch. The only test of its process: nudges are counted for all of it.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;
use toprope_engine::fault::fault_count;
use toprope_engine::queue::{Config, Engine, Kernel, Silent, Stop, Task, Waited};

struct Limited(Duration);

impl Kernel for Limited {
    fn run(&self, _: u32) -> Result<(), u32> {
        Ok(())
    }
    fn limit(&self) -> Option<Duration> {
        Some(self.0)
    }
    fn stopped(self: Arc<Self>, _: u64, _: Stop) -> u32 {
        77
    }
}

#[test]
fn kernels_that_end_in_time_wake_the_watch_once_per_limit() {
    let engine = Engine::new(Config::new(Box::new(Silent)));
    let stream = engine.open(0, 0).unwrap();
    let nudges = |limit: Duration, kernels: u32| {
        let before = fault_count();
        for _ in 0..kernels {
            engine.push(stream, Task::Kernel(Arc::new(Limited(limit))));
            assert_eq!(engine.wait(engine.mark(stream), None), Waited::Done);
            // The watch has looked, found nothing and sleeps again.
            sleep(Duration::from_millis(2));
        }
        fault_count() - before
    };
    // The first ones may come while the watch starts or looks; without what it remembers, it is each of them.
    let far = nudges(Duration::from_secs(1000), 40);
    assert!((1..=8).contains(&far), "{far} nudges");
    // A shorter one is told at once, and then anew whenever that time is over.
    let near = nudges(Duration::from_secs(100), 40);
    assert!((1..=8).contains(&near), "{near} nudges");
    assert_eq!(engine.take_failure(stream), None);
}
