//! Results: one line per test as it ends, the text of each failure, one line per suite, one line in all.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What one test came to.
pub struct Outcome {
    /// Suite and name, such as `c/basics [c99]`.
    pub name: String,
    /// `Err` holds the reason and the captured output.
    pub result: Result<(), String>,
    /// Wall-clock time.
    pub took: Duration,
}

/// Counts over all suites.
#[derive(Default)]
pub struct Report {
    passed: usize,
    failed: usize,
    failures: Vec<String>,
}

impl Report {
    /// Adds the outcomes of one suite and prints the suite's line.
    pub fn suite(&mut self, suite: &str, outcomes: &[Outcome]) {
        let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.result.is_err()).collect();
        self.add(suite, outcomes.len() - failed.len(), failed.len());
        self.failures.extend(failed.iter().map(|outcome| outcome.name.clone()));
    }

    /// Adds counts that another runner made (cargo's own tests).
    pub fn add(&mut self, suite: &str, passed: usize, failed: usize) {
        self.passed += passed;
        self.failed += failed;
        println!("{suite}: {passed} passed, {failed} failed");
    }

    /// Adds a failure that is not a single test: a build that broke, a tool that is missing.
    pub fn failure(&mut self, name: &str) {
        self.failures.push(name.to_owned());
    }

    /// Prints what failed and the final line, alone: `N passed, N failed`. True when nothing failed.
    pub fn finish(&self) -> bool {
        println!();
        for name in &self.failures {
            println!("FAILED {name}");
        }
        if self.passed + self.failed == 0 {
            println!("no test has such a name");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0 && self.passed > 0
    }
}

/// One test that has yet to run.
pub struct Job {
    /// Suite and name.
    pub name: String,
    /// Returns the reason and output of a failure.
    pub work: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

/// Runs `jobs` over as many threads as there are cores, prints a line for each as it ends, and returns the outcomes in
/// the order of the jobs.
pub fn run_all(jobs: Vec<Job>) -> Vec<Outcome> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(jobs.len().max(1));
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(jobs.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, job)) = Some(next.fetch_add(1, Ordering::Relaxed))
                    .and_then(|index| Some((index, jobs.get(index)?)))
                {
                    let start = std::time::Instant::now();
                    let result = (job.work)();
                    let outcome = Outcome { name: job.name.clone(), result, took: start.elapsed() };
                    // One print call per outcome, so that two threads do not mix their lines.
                    print!("{}", line(&outcome));
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

fn line(outcome: &Outcome) -> String {
    let took = outcome.took.as_secs_f64();
    match &outcome.result {
        Ok(()) => format!("  ok   {} ({took:.2} s)\n", outcome.name),
        Err(reason) => format!("  FAIL {} ({took:.2} s)\n    {}\n", outcome.name, reason.trim_end()),
    }
}
