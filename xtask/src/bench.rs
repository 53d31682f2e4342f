//! `cargo xtask bench [LETTERS] [--rounds N]`: our rows, the machine's limits and, where it is installed, PoCL, interleaved: for each
//! letter every peer runs back to back in its own process, so that ratios compare runs that are seconds apart. Prints medians
//! with ranges, and our ratio to each peer's row of the same name, taken per round. `cargo xtask bench check`: [`check`].

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::test::process::{cargo, pass_through, root, target_dir};

mod check;

type Result<T> = std::result::Result<T, String>;

const LETTERS: &str = "abcdefghijk";
const ROUNDS: usize = 7;

/// Workload and variant of a figure, and who made it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    workload: String,
    peer: String,
    variant: String,
    unit: String,
}

type Figures = BTreeMap<Row, f64>;

/// Runs the workloads that `args` name, all by default.
pub fn run(args: &[String]) -> Result<ExitCode> {
    if let Some((first, rest)) = args.split_first()
        && first == "check"
    {
        return check::run(rest);
    }
    let mut letters = LETTERS.to_owned();
    let mut rounds = ROUNDS;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--rounds" => {
                rounds = rest.next().and_then(|n| n.parse().ok()).ok_or("--rounds takes a number")?
            }
            text if text.chars().all(|c| LETTERS.contains(c)) => letters = text.to_owned(),
            text => return Err(format!("no workload '{text}'; valid: letters of {LETTERS}")),
        }
    }
    let peers = build(&root())?;
    let mut all: Vec<Figures> = Vec::new();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        let mut figures = Figures::new();
        for letter in letters.chars() {
            for peer in &peers {
                peer.run(letter, &mut figures)?;
            }
        }
        all.push(figures);
    }
    print(&all);
    Ok(ExitCode::SUCCESS)
}

struct Peer {
    program: PathBuf,
    before: Vec<&'static str>,
    env: Vec<(&'static str, PathBuf)>,
}

/// Builds the library and the peers; one that cannot be built here is named and left out.
fn build(root: &Path) -> Result<Vec<Peer>> {
    let packages = ["-p", "ascendcl", "-p", "toprope-cli"];
    if !pass_through(cargo().current_dir(root).args(["build", "--release", "--locked"]).args(packages))? {
        return Err("the library and the command do not build".into());
    }
    let out = target_dir().join("bench");
    fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let library = target_dir().join("release");
    let benches = root.join("benches");
    let compile = |mut compiler: Command, source: &str, name: &str, more: &[&str]| -> bool {
        compiler.args(["-O2", "-std=c++17", "-march=native", "-pthread", "-o"]).arg(out.join(name));
        compiler.arg(benches.join(source)).args(more).status().is_ok_and(|status| status.success())
    };
    let plain = || Command::new("g++");
    let mut mixed = Command::new(library.join("toprope"));
    mixed.env("CXX", "g++").arg("c++");
    if !compile(mixed, "acl_bench.cpp", "acl_bench", &[]) {
        return Err("benches/acl_bench.cpp does not compile (is g++ installed?)".into());
    }
    let mut peers = vec![Peer {
        program: out.join("acl_bench"),
        before: vec![],
        env: vec![("LD_LIBRARY_PATH", library)],
    }];
    if compile(plain(), "peers/limits_bench.cpp", "limits_bench", &[]) {
        peers.push(Peer { program: out.join("limits_bench"), before: vec![], env: vec![] });
    } else {
        eprintln!("left out: limits (benches/peers/limits_bench.cpp does not compile here)");
    }
    if Path::new("/etc/OpenCL/vendors/pocl.icd").exists()
        && compile(plain(), "peers/pocl_bench.cpp", "pocl_bench", &["-lOpenCL"])
    {
        for (label, driver) in [("pocl", "pthread"), ("pocl-basic", "basic")] {
            peers.push(Peer {
                program: out.join("pocl_bench"),
                before: vec![label],
                env: vec![("POCL_DEVICES", driver.into())],
            });
        }
    } else {
        eprintln!("left out: PoCL (packages pocl-opencl-icd and ocl-icd-opencl-dev)");
    }
    Ok(peers)
}

impl Peer {
    fn run(&self, letter: char, figures: &mut Figures) -> Result<()> {
        let output = Command::new("timeout")
            .args(["-k", "2", "60"])
            .arg(&self.program)
            .args(&self.before)
            .arg(letter.to_string())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .output()
            .map_err(|e| format!("{}: {e}", self.program.display()))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            eprintln!("{} {letter}: {} {}", self.program.display(), output.status, text.trim());
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let [peer, workload, variant, value, unit] = line.split('\t').collect::<Vec<_>>()[..]
                && let Ok(value) = value.parse()
            {
                let [workload, peer, variant, unit] = [workload, peer, variant, unit].map(str::to_owned);
                figures.insert(Row { workload, peer, variant, unit }, value);
            }
        }
        Ok(())
    }
}

fn print(rounds: &[Figures]) {
    let mut rows: Vec<&Row> = rounds.iter().flat_map(Figures::keys).collect();
    rows.sort();
    rows.dedup();
    for row in &rows {
        let values = rounds.iter().filter_map(|figures| figures.get(*row).copied()).collect();
        println!("{:<26} {:<11} {:<46} {} {}", row.workload, row.peer, row.variant, spread(values), row.unit);
    }
    println!("\nours to the peer's row of the same workload, per round:");
    for ours in rows.iter().filter(|row| row.peer == "toprope") {
        for peer in rows
            .iter()
            .filter(|row| row.peer != "toprope" && row.workload == ours.workload && row.unit == ours.unit)
        {
            let ratios: Vec<f64> =
                rounds.iter().filter_map(|figures| Some(figures.get(*ours)? / figures.get(*peer)?)).collect();
            println!(
                "{:<26} {} ÷ {} {}: {}",
                ours.workload,
                ours.variant,
                peer.peer,
                peer.variant,
                spread(ratios)
            );
        }
    }
}

/// Median and range.
fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    match values.as_slice() {
        [] => "-".to_owned(),
        [first, .., last] => format!("{:.4} [{first:.4} – {last:.4}]", values[values.len() / 2]),
        [one] => format!("{one:.4}"),
    }
}
