//! `model --runs N --seed S`: random sequences in a child process, so that one that crashes or hangs is found, too; the failing
//! one is shrunk and printed as calls. Exit status 1 when something was found, 2 for bad options.

mod watch;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use toprope_model::{Fault, Functions, Stats};
use watch::{End, Job};

const USAGE: &str =
    "usage: model [--runs N] [--seed S] [--seconds T] [--turns K] [--fault NAME] [--library PATH]
       model --replay HEX [--fault NAME] [--library PATH]
  --runs N      sequences (default 10000)
  --seed S      of the first one (default 1); the next has S + 1
  --seconds T   ends after so many seconds, whatever is left
  --turns K     ops of a sequence at most (default 60)
  --fault NAME  a mistake on purpose: drop-wait, swap-tasks, drop-sync
  --library P   this libascendcl.so instead of the runtime that is linked in
  --replay HEX  one sequence, by its bytes; with MODEL_TRACE=1 each call is printed before it is made";

/// The command line.
#[derive(Clone, Debug)]
struct Options {
    runs: u64,
    seed: u64,
    seconds: Option<u64>,
    turns: usize,
    fault: String,
    library: Option<String>,
    replay: Option<Vec<u8>>,
    /// This is the child.
    worker: bool,
}

fn parse(args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        runs: 10_000,
        seed: 1,
        seconds: None,
        turns: 60,
        fault: "none".to_owned(),
        library: None,
        replay: None,
        worker: false,
    };
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        if arg == "--worker" {
            options.worker = true;
            continue;
        }
        let value = args.next().ok_or_else(|| format!("{arg} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{arg}: '{value}' is no number"));
        match arg.as_str() {
            "--runs" => options.runs = number()?,
            "--seed" => options.seed = number()?,
            "--seconds" => options.seconds = Some(number()?),
            "--turns" => options.turns = number()? as usize,
            "--fault" if Fault::named(&value).is_none() => return Err(format!("no such fault: {value}")),
            "--fault" => options.fault = value,
            "--library" => options.library = Some(value),
            "--replay" => options.replay = Some(unhex(&value).ok_or("--replay: not hexadecimal")?),
            _ => return Err(format!("unknown option {arg}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("model: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if options.worker {
        return child(&options);
    }
    match supervise(&options) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(report)) => {
            println!("{report}");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("model: {message}");
            ExitCode::from(2)
        }
    }
}

/// The child: runs sequences, says before each which one it is.
fn child(options: &Options) -> ExitCode {
    toprope_model::set_environment();
    let table: &'static Functions = match &options.library {
        None => toprope_model::linked(),
        // SAFETY: the user says that this is a libascendcl.so.
        Some(path) => match unsafe { toprope_model::table::load(path.as_ref()) } {
            Ok(functions) => Box::leak(Box::new(functions)),
            Err(error) => {
                eprintln!("model: {error}");
                return ExitCode::from(2);
            }
        },
    };
    let fault = Fault::named(&options.fault).unwrap_or_default();
    let one = |bytes: &[u8]| toprope_model::run(table, bytes, fault);
    if let Some(bytes) = &options.replay {
        return match one(bytes) {
            Ok(_) => ExitCode::SUCCESS,
            Err(failure) => {
                println!("{failure}");
                ExitCode::FAILURE
            }
        };
    }
    let start = Instant::now();
    let limit = options.seconds.map(Duration::from_secs);
    let mut stats = Stats::default();
    for seed in options.seed..options.seed.saturating_add(options.runs) {
        if limit.is_some_and(|limit| start.elapsed() >= limit) {
            println!("{}", summary(seed - options.seed, &stats, start.elapsed()));
            return ExitCode::SUCCESS;
        }
        println!("{}{seed}", watch::AT);
        match one(&toprope_model::random(seed, options.turns)) {
            Ok(more) => stats += more,
            Err(failure) => {
                println!("{failure}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{}", summary(options.runs, &stats, start.elapsed()));
    ExitCode::SUCCESS
}

fn summary(runs: u64, stats: &Stats, time: Duration) -> String {
    let Stats { calls, refused, bytes, functions } = stats;
    format!(
        "{runs} sequences, {calls} calls ({refused} refused), {functions} host functions, {bytes} bytes compared, {:.1} s",
        time.as_secs_f64()
    )
}

/// Runs the child, and shrinks what it fails at. The report of a failure, if there is one.
fn supervise(options: &Options) -> Result<Option<String>, String> {
    let job = Job {
        fault: options.fault.clone(),
        library: options.library.clone(),
        patience: Duration::from_secs(60),
    };
    let (bytes, found) = match &options.replay {
        Some(bytes) => (bytes.clone(), job.replay(bytes)?),
        None => {
            let mut args = vec![
                format!("--runs={}", options.runs),
                format!("--seed={}", options.seed),
                format!("--turns={}", options.turns),
            ];
            args.extend(options.seconds.map(|seconds| format!("--seconds={seconds}")));
            let outcome = job.run(&args, false)?;
            (toprope_model::random(outcome.at.unwrap_or(options.seed), options.turns), outcome)
        }
    };
    if found.end == End::Fine {
        print!("{}", found.text);
        return Ok(None);
    }
    let at = found.at.map_or(String::new(), |seed| format!(" with seed {seed}"));
    let head = format!("a sequence{at} {}", found.end);
    let quick = Job { patience: Duration::from_secs(10), ..job.clone() };
    match quick.shrink(bytes.clone())? {
        Some((small, end, text)) => {
            Ok(Some(format!("{head}; shrunk, it {end}:\n{text}\nagain: model --replay {}", hex(&small))))
        }
        None => Ok(Some(format!(
            "{head}; run by itself it does not, so it depends on timing or on what ran before:\n{}\nagain: model --replay {}",
            found.text,
            hex(&bytes)
        ))),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.trim().chars().map(|digit| digit.to_digit(16)).collect();
    digits?.chunks(2).map(|pair| pair.get(1).map(|low| (pair[0] * 16 + low) as u8)).collect()
}
