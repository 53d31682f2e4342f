//! The rules of the documents as tests. See README.md.

#[macro_use]
mod call;
mod child;
mod kit;
mod missing;
mod report;
mod row;
mod rows;
mod run;
mod spec;
mod support;
mod symbols;
mod target;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use report::Results;
use row::{Plan, Standing};
use spec::Spec;
use target::Target;

// The functions of the rlib are called by name.
use ascendcl as _;

const USAGE: &str =
    "contract [--target a2-ep-9]… [--only ROW|FUNCTION] [--verbose] [--list] [--write-missing]";

#[derive(Default)]
struct Options {
    targets: Vec<String>,
    only: Option<String>,
    verbose: bool,
    list: bool,
    write_missing: bool,
    child: bool,
    after: Option<String>,
    child_row: Option<String>,
}

impl Options {
    fn parse() -> Result<Options, String> {
        let mut options = Options::default();
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value\n{USAGE}"));
            match arg.as_str() {
                "--target" => options.targets.push(value()?),
                "--only" => options.only = Some(value()?),
                "--verbose" => options.verbose = true,
                "--list" => options.list = true,
                "--write-missing" => options.write_missing = true,
                "--child" => options.child = true,
                "--after" => options.after = Some(value()?),
                "--child-row" => options.child_row = Some(value()?),
                _ => return Err(format!("unknown option {arg}\n{USAGE}")),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    match Options::parse().and_then(|options| work(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::from(2)
        }
    }
}

fn work(options: &Options) -> Result<bool, String> {
    let spec = Spec::read()?;
    let (plan, mut slips) = Plan::new(rows::all(), &spec);
    let targets = Target::all(&spec);
    if options.child || options.child_row.is_some() {
        let key = std::env::var(child::TARGET).map_err(|_| format!("a child needs {}", child::TARGET))?;
        let target = targets.iter().find(|target| target.key() == key).ok_or("no such target")?;
        // One target per process, so the tables may live as long as it.
        let spec: &'static Spec = Box::leak(Box::new(spec));
        kit::know(spec, &target.product.key);
        match &options.child_row {
            Some(id) => child::one(&plan, spec, target, id),
            None => child::all(&plan, spec, target, options.after.as_deref()),
        }
        return Ok(true);
    }
    slips.extend(nowhere(&plan, &spec, &targets));
    if options.write_missing {
        missing::write(&plan, &spec, &targets)?;
        return Ok(true);
    }
    if options.list {
        list(&plan, &spec, &targets);
        return Ok(true);
    }
    let wanted = chosen(&targets, &options.targets)?;
    let whole = options.only.is_none();
    if whole {
        slips.extend(missing::check(&plan, &spec, &targets)?);
    }
    let all = run_all(&plan, &spec, &wanted, options.only.as_deref());
    for results in &all {
        results.lines(&spec, options.verbose);
        if whole {
            slips.extend(results.silent().iter().map(|id| format!("{id} [{}]: no result", results.target)));
        }
    }
    for slip in &slips {
        println!("FAILED {slip}");
    }
    report::table(&all);
    let passed: usize = all.iter().map(|results| results.passed.len()).sum();
    let failed = all.iter().map(|results| results.failed.len()).sum::<usize>() + slips.len();
    println!("{passed} passed, {failed} failed");
    // What was due and not heard of has failed above; a word that no row begins with is a slip of the caller.
    Ok(failed == 0 && (whole || passed > 0))
}

fn chosen(targets: &[Target], keys: &[String]) -> Result<Vec<Target>, String> {
    if keys.is_empty() {
        return Ok(targets.to_vec());
    }
    let mut wanted = Vec::new();
    for key in keys {
        let before = wanted.len();
        wanted.extend(targets.iter().filter(|t| t.key() == *key || t.product.key == *key).cloned());
        if wanted.len() == before {
            let valid: Vec<String> = targets.iter().map(Target::key).collect();
            return Err(format!("no target {key}; valid: {}", valid.join(", ")));
        }
    }
    Ok(wanted)
}

/// Proofs that run on no target at all.
fn nowhere(plan: &Plan, spec: &Spec, targets: &[Target]) -> Vec<String> {
    let elsewhere = |rule, target| matches!(plan.standing(spec, rule, target), Standing::Elsewhere);
    let rules = spec.rules.iter().filter(|rule| targets.iter().all(|target| elsewhere(rule, target)));
    rules.map(|rule| format!("{}: is about no target", rule.id)).collect()
}

/// Runs the targets over all cores, in the table's order as far as they come.
fn run_all(plan: &Plan, spec: &Spec, targets: &[Target], only: Option<&str>) -> Vec<Results> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(target) = targets.get(at) else { return };
                    let results = run::target(plan, spec, target, only);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, results));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, results)| results).collect()
}

/// One line per rule: its standing, best first.
fn list(plan: &Plan, spec: &Spec, targets: &[Target]) {
    for rule in &spec.rules {
        let (mut runs, mut refused) = (0, 0);
        let (mut reason, mut not_built, mut missing) = (None, false, false);
        for target in targets {
            match plan.standing(spec, rule, target) {
                Standing::Elsewhere => {}
                Standing::Runs(_) => runs += 1,
                Standing::Refused => refused += 1,
                Standing::Hardware(text) => reason = Some(text),
                Standing::NotBuilt => not_built = true,
                Standing::Missing => missing = true,
            }
        }
        let standing = match reason {
            _ if missing => "missing".to_owned(),
            _ if not_built => "not built".to_owned(),
            Some(reason) => format!("hardware: {reason}"),
            None => format!("on {} targets", runs + refused),
        };
        println!("{} {standing}", rule.id);
    }
}
