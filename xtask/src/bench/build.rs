//! Builds the library and the programs that measure. What cannot be built or had here is named and left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Result;
use crate::python;
use crate::test::process::{cargo, pass_through, target_dir};
use crate::test::python::environment;

/// A program that prints rows (`benches/peers/bench_common.h` has their form).
pub struct Peer {
    pub program: PathBuf,
    pub before: Vec<String>,
    pub env: Vec<(&'static str, PathBuf)>,
    /// The letters it has; it gets one as its last argument.
    pub letters: &'static str,
}

/// What [`build`] made.
pub struct Built {
    /// In the order in which they run.
    pub peers: Vec<Peer>,
    /// The names of peers that are missing, and why.
    pub left_out: Vec<(String, String)>,
    /// A PoCL program to ask for its version.
    pub pocl: Option<PathBuf>,
    /// A Python interpreter with NumPy.
    pub python: Option<PathBuf>,
}

impl Built {
    fn without(&mut self, peers: &[&str], why: &str) {
        eprintln!("left out: {} ({why})", peers.join(", "));
        self.left_out.extend(peers.iter().map(|peer| ((*peer).to_owned(), why.to_owned())));
    }
}

/// Builds what the workloads in `letters` need.
pub fn build(root: &Path, letters: &str) -> Result<Built> {
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
    let peer = |name: &str, letters| Peer { program: out.join(name), before: vec![], env: vec![], letters };
    let mut built = Built { peers: Vec::new(), left_out: Vec::new(), pocl: None, python: None };
    built.peers.push(Peer { env: vec![("LD_LIBRARY_PATH", library)], ..peer("acl_bench", "abcdefghijl") });
    if compile(plain(), "peers/limits_bench.cpp", "limits_bench", &[]) {
        built.peers.push(peer("limits_bench", "abcdefghijm"));
    } else {
        built.without(&["limit"], "benches/peers/limits_bench.cpp does not compile here");
    }
    if !Path::new("/etc/OpenCL/vendors/pocl.icd").exists() {
        built.without(&["pocl", "pocl-basic"], "not installed: package pocl-opencl-icd");
    } else if !compile(plain(), "peers/pocl_bench.cpp", "pocl_bench", &["-lOpenCL"]) {
        built.without(&["pocl", "pocl-basic"], "does not compile: package ocl-icd-opencl-dev");
    } else {
        for (label, driver) in [("pocl", "pthread"), ("pocl-basic", "basic")] {
            built.peers.push(Peer {
                before: vec![label.to_owned()],
                env: vec![("POCL_DEVICES", driver.into())],
                ..peer("pocl_bench", "abcdefghij")
            });
        }
        built.pocl = Some(out.join("pocl_bench"));
    }
    if letters.contains('k') {
        match python_with_numpy() {
            Ok(program) => {
                built.peers.push(Peer {
                    program: program.clone(),
                    before: vec![benches.join("python_copy.py").to_string_lossy().into_owned()],
                    env: vec![("PYTHONPATH", python::layout(true))],
                    letters: "k",
                });
                built.python = Some(program);
            }
            Err(why) => built.without(&["numpy"], &why),
        }
    }
    Ok(built)
}

/// Builds the module `acl`; an interpreter with NumPy, from the environment that the Python tests make for themselves.
fn python_with_numpy() -> Result<PathBuf> {
    let tools = environment()?;
    python::build(true)?;
    Ok(tools.join("bin/python"))
}
