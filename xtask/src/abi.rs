//! `cargo xtask abi [LIBRARY]`: the library's exports, the headers and the tables under spec/ must say the same.
//!
//! The headers are generated from the same tables, but edited files, a generator's mistake and a compiler's view of a
//! layout are found only by asking a compiler and the library itself.
mod source;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use ascendcl_sys::Table;

use crate::generate::spec::Spec;
use crate::generate::{self, Result};
use crate::test::process::root;

/// Flags of every compilation; inclusion alone must not warn.
const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-deprecated-declarations"];

/// One check: a name, and what it found wrong.
struct Check {
    name: &'static str,
    outcome: Result<Vec<String>>,
}

/// Runs every check and prints one line for each.
pub fn run(args: &[String]) -> std::result::Result<ExitCode, String> {
    let library = match args {
        [] => None,
        [library] if !library.starts_with('-') => Some(PathBuf::from(library)),
        _ => return Err("usage: cargo xtask abi [LIBRARY]".to_string()),
    };
    let checks = checks(library).map_err(|error| error.to_string())?;
    let mut failed = 0;
    for check in &checks {
        let problems = match &check.outcome {
            Ok(problems) => problems.clone(),
            Err(error) => vec![error.to_string()],
        };
        if problems.is_empty() {
            println!("ok     {}", check.name);
            continue;
        }
        failed += 1;
        println!("FAILED {}", check.name);
        for problem in problems {
            println!("       {problem}");
        }
    }
    println!("{} passed, {failed} failed", checks.len() - failed);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn checks(library: Option<PathBuf>) -> Result<Vec<Check>> {
    let root = root();
    let spec = Spec::read(&root)?;
    let out = target(&root).join("abi");
    std::fs::create_dir_all(&out)?;
    let library = match library {
        Some(library) => library,
        None => build(&root)?,
    };
    let bench = Bench { include: root.join("include"), out };
    let check = |name, outcome| Check { name, outcome };
    Ok(vec![
        check("generated files are those of the spec", generate::stale()),
        check(
            "the library exports the headers' functions, the registration functions and nothing else",
            exports(&spec, &library),
        ),
        check("the library's name and flags", dynamic(&library)),
        check("the library's thread-local memory", thread_local(&library)),
        check("ascendcl-sys fills its table from the library, and from one that is loaded", table(&library)),
        check("the headers declare the spec's functions and nothing else", bench.declarations(&spec)),
        check("function types in C", bench.compile("functions.c", "c99", &source::functions(&spec))),
        check("function types in C++", bench.compile("functions.cpp", "c++11", &source::functions(&spec))),
        check("structure layouts in C", bench.compile("layouts.c", "c11", &source::layouts(&spec, false))),
        check(
            "structure layouts in C++",
            bench.compile("layouts.cpp", "c++11", &source::layouts(&spec, true)),
        ),
        check("enumerators and macros in C", bench.compile("values.c", "c11", &source::values(&spec, false))),
        check(
            "enumerators, macros and codes in C++",
            bench.compile("values.cpp", "c++11", &source::values(&spec, true)),
        ),
        check("the C++ overloads reach the right C function", bench.overloads()),
    ])
}

/// Where cargo builds.
fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

fn build(root: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status =
        Command::new(cargo).args(["build", "--quiet", "--package", "ascendcl"]).current_dir(root).status()?;
    if !status.success() {
        return Err("the library does not build".into());
    }
    Ok(target(root).join("debug/libascendcl.so"))
}

/// Runs a tool; that it cannot be started is told by name.
fn tool(name: &str, command: &mut Command) -> Result<Output> {
    command.output().map_err(|error| format!("cannot start {name}: {error}").into())
}

fn exports(spec: &Spec, library: &Path) -> Result<Vec<String>> {
    let nm = tool("nm", Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(library))?;
    if !nm.status.success() {
        return Err(String::from_utf8_lossy(&nm.stderr).trim().to_string().into());
    }
    let expected = spec.exports().map(|f| f.name.as_str()).collect();
    Ok(differences(&expected, &symbols(&String::from_utf8_lossy(&nm.stdout)), "export"))
}

/// The names in the output of `nm --format=posix`, without versions.
fn symbols(text: &str) -> BTreeSet<&str> {
    text.lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(|name| name.split('@').next().unwrap_or(name))
        .collect()
}

/// One line per name that is in one set only.
fn differences(expected: &BTreeSet<&str>, found: &BTreeSet<&str>, what: &str) -> Vec<String> {
    let missing = expected.difference(found).map(|name| format!("missing {what}: {name}"));
    let extra = found.difference(expected).map(|name| format!("{what} that is not in the spec: {name}"));
    missing.chain(extra).collect()
}

/// The SONAME that programs ask for, and the flag that keeps the library mapped while its workers run.
fn dynamic(library: &Path) -> Result<Vec<String>> {
    let readelf = tool("readelf", Command::new("readelf").args(["-d", "-W"]).arg(library))?;
    let text = String::from_utf8_lossy(&readelf.stdout);
    let has = |tag: &str, value: &str| text.lines().any(|line| line.contains(tag) && line.contains(value));
    let mut problems = Vec::new();
    if !has("(SONAME)", "[libascendcl.so]") {
        problems.push("SONAME is not libascendcl.so".to_string());
    }
    if !has("(FLAGS_1)", "NODELETE") {
        problems.push("not linked with -z nodelete".to_string());
    }
    Ok(problems)
}

/// That other libraries of a process find room for theirs.
fn thread_local(library: &Path) -> Result<Vec<String>> {
    let headers = tool("readelf", Command::new("readelf").args(["-l", "-W"]).arg(library))?;
    Ok(match thread_local_bytes(&String::from_utf8_lossy(&headers.stdout)) {
        None => vec!["readelf tells no thread-local segment".to_string()],
        Some(bytes) if bytes > MOST_THREAD_LOCAL => vec![format!(
            "{bytes} bytes of thread-local memory, more than {MOST_THREAD_LOCAL}: move what is large to the heap"
        )],
        Some(_) => Vec::new(),
    })
}

/// Thread-local memory of the library at most. All of it is of the static kind, because the words that a signal handler reads are
/// (`crates/engine/src/fault/x86_64.rs`). Of that the C library keeps 1,664 bytes for what `dlopen` brings, to be shared with all
/// other libraries of a process: Python loads this one so, and it must find room twice.
const MOST_THREAD_LOCAL: u64 = 768;

/// The size of the thread-local segment, as `readelf -lW` prints it: type, offset, two addresses, size in the file, size in memory.
fn thread_local_bytes(headers: &str) -> Option<u64> {
    let line = headers.lines().find_map(|line| line.trim_start().strip_prefix("TLS "))?;
    u64::from_str_radix(line.split_whitespace().nth(4)?.trim_start_matches("0x"), 16).ok()
}

/// Loads the library into this process, as a Rust program does, and then again by a path that is wrong.
fn table(library: &Path) -> Result<Vec<String>> {
    // A name without a slash would be searched for elsewhere.
    let library = library.canonicalize()?;
    // SAFETY: start-up code of the library under test; none of its functions is called.
    let first = unsafe { Table::load(&library) };
    // SAFETY: as above; the path is never opened, since the library is loaded.
    let second = unsafe { Table::load("/nowhere/libascendcl.so") };
    let problems = [first.err(), second.err()];
    Ok(problems.into_iter().flatten().map(|error| error.to_string()).collect())
}

/// Where sources are compiled against the headers.
struct Bench {
    include: PathBuf,
    out: PathBuf,
}

impl Bench {
    /// The compiler with the strict flags; the file name says which language.
    fn compiler(&self, file: &str, standard: &str) -> (&'static str, Command) {
        let name = if file.ends_with(".c") { "gcc" } else { "g++" };
        let mut command = Command::new(name);
        command.arg(format!("-std={standard}")).args(STRICT).arg("-I").arg(&self.include);
        (name, command)
    }

    fn write(&self, file: &str, text: &str) -> Result<PathBuf> {
        let path = self.out.join(file);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// Compiles a source that holds nothing but comparisons; what the compiler says is what is wrong.
    fn compile(&self, file: &str, standard: &str, text: &str) -> Result<Vec<String>> {
        let path = self.write(file, text)?;
        let (name, mut command) = self.compiler(file, standard);
        Ok(complaints(&tool(name, command.arg("-fsyntax-only").arg(path))?))
    }

    /// Asks the compiler which functions our headers declare.
    fn declarations(&self, spec: &Spec) -> Result<Vec<String>> {
        let path = self.write("declarations.c", source::INCLUDES)?;
        let list = self.out.join("declarations.txt");
        let (name, mut command) = self.compiler("declarations.c", "c99");
        let done = tool(name, command.arg("-aux-info").arg(&list).arg("-fsyntax-only").arg(path))?;
        if !done.status.success() {
            return Ok(complaints(&done));
        }
        let text = std::fs::read_to_string(&list)?;
        let expected = spec.functions.iter().map(|f| f.name.as_str()).collect();
        Ok(differences(&expected, &declared(&text, &self.include), "declaration"))
    }

    /// Runs a program that defines the C functions itself and sees which of them each overload calls.
    fn overloads(&self) -> Result<Vec<String>> {
        let path = self.write("overloads.cpp", include_str!("abi/overloads.cpp"))?;
        let mut problems = Vec::new();
        for standard in ["c++11", "c++14", "c++17", "c++20"] {
            let program = self.out.join("overloads");
            let (name, mut command) = self.compiler("overloads.cpp", standard);
            let done = tool(name, command.arg("-o").arg(&program).arg(&path))?;
            problems.append(&mut complaints(&done));
            if done.status.success() {
                let ran = tool("overloads", &mut Command::new(&program))?;
                problems.append(&mut complaints(&ran));
            }
        }
        Ok(problems)
    }
}

/// The functions of `gcc -aux-info` that headers below `include` declare: `/* FILE:LINE:NC */ extern T NAME (…);`
fn declared<'a>(text: &'a str, include: &Path) -> BTreeSet<&'a str> {
    let ours = format!("/* {}", include.display());
    text.lines()
        .filter(|line| line.starts_with(&ours))
        .filter_map(|line| line.split_once("*/").map(|(_, declaration)| declaration))
        // A function that returns a function pointer would have its name elsewhere; there is none.
        .filter_map(|declaration| declaration.split_once(" ("))
        .filter_map(|(before, _)| before.rsplit([' ', '*']).next())
        .collect()
}

/// What a failed tool printed, errors first; nothing when it succeeded.
fn complaints(done: &Output) -> Vec<String> {
    if done.status.success() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&done.stderr);
    let errors: Vec<String> =
        text.lines().filter(|line| line.contains("error")).take(20).map(str::to_string).collect();
    if errors.is_empty() { vec![format!("{}: {}", done.status, text.trim())] } else { errors }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(name: &str) -> Bench {
        let root = root();
        let out = std::env::temp_dir().join(format!("toprope-abi-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&out).unwrap();
        Bench { include: root.join("include"), out }
    }

    fn spec() -> Spec {
        Spec::read(&root()).unwrap()
    }

    #[test]
    fn thread_local_memory_is_read_from_the_headers() {
        let text = "  LOAD           0x2d1b30 0x2d3b30 0x2d3b30 0x000138 0x0003a8 RW  0x1000\n\
                    \x20 TLS            0x2d1b30 0x2d3b30 0x2d3b30 0x000138 0x0003a8 R   0x8\n";
        assert_eq!(thread_local_bytes(text), Some(936));
        assert_eq!(thread_local_bytes("  LOAD 0x0 0x0 0x0 0x0 0x0 R 0x8\n"), None);
    }

    #[test]
    fn a_missing_and_an_extra_export_are_found() {
        let found = symbols("aclInit T 0000 10\naclrtFree@@V1 T 0010 20\nrust_eh T 0030 1\n");
        let expected = BTreeSet::from(["aclInit", "aclFinalize", "aclrtFree"]);
        assert_eq!(
            differences(&expected, &found, "export"),
            ["missing export: aclFinalize", "export that is not in the spec: rust_eh"]
        );
    }

    #[test]
    fn a_wrong_offset_size_or_type_is_found() {
        let bench = bench("layouts");
        let layouts = |spec: &Spec| bench.compile("layouts.c", "c11", &source::layouts(spec, false)).unwrap();
        let mut planted = spec();
        assert!(layouts(&planted).is_empty());
        let s = planted.structs.iter_mut().find(|s| s.name == "aclrtPtrAttributes").unwrap();
        s.fields[1].offset = 12;
        let problems = layouts(&planted);
        assert!(problems.iter().any(|p| p.contains("aclrtPtrAttributes.pageSize")), "{problems:?}");
        let mut planted = spec();
        planted.structs.iter_mut().find(|s| s.name == "dim3").unwrap().size = 16;
        assert!(!layouts(&planted).is_empty());

        let mut planted = spec();
        let f = planted.functions.iter_mut().find(|f| f.name == "aclrtMemset").unwrap();
        f.params[2].ty = "uint32_t".to_string();
        let functions = source::functions(&planted);
        assert!(!bench.compile("functions.c", "c99", &functions).unwrap().is_empty());
        assert!(!bench.compile("functions.cpp", "c++11", &functions).unwrap().is_empty());
        std::fs::remove_dir_all(&bench.out).unwrap();
    }

    #[test]
    fn a_wrong_value_is_found() {
        let bench = bench("values");
        let cpp = |spec: &Spec| bench.compile("values.cpp", "c++11", &source::values(spec, true)).unwrap();
        assert!(cpp(&spec()).is_empty());
        let mut planted = spec();
        planted.enums[0].values[3].value += 1;
        assert!(!cpp(&planted).is_empty());
        let mut planted = spec();
        planted.macros[0].c_type = "unsigned int".to_string();
        assert!(!cpp(&planted).is_empty(), "a macro of another type");
        let mut planted = spec();
        planted.errors[0].is_macro = true;
        assert!(!cpp(&planted).is_empty(), "a code that is a constant, not a macro");
        std::fs::remove_dir_all(&bench.out).unwrap();
    }

    #[test]
    fn a_declaration_too_many_and_one_too_few_are_found() {
        let bench = bench("declarations");
        let mut planted = spec();
        assert!(bench.declarations(&planted).unwrap().is_empty());
        planted.functions.retain(|f| f.name != "aclrtFree");
        planted.functions[0].name = "aclNotThere".to_string();
        assert_eq!(
            bench.declarations(&planted).unwrap(),
            [
                "missing declaration: aclNotThere",
                "declaration that is not in the spec: aclFloat16ToFloat",
                "declaration that is not in the spec: aclrtFree"
            ]
        );
        std::fs::remove_dir_all(&bench.out).unwrap();
    }

    #[test]
    fn a_library_without_our_name_is_found() {
        let problems = dynamic(Path::new("/bin/sh")).unwrap();
        assert_eq!(problems, ["SONAME is not libascendcl.so", "not linked with -z nodelete"]);
        assert!(exports(&spec(), Path::new("/nowhere.so")).is_err());
    }
}
