//! The command as a user meets it: exit status, one clear line when nothing was run, and programs that run.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn toprope() -> Command {
    let path = Path::new(env!("CARGO_BIN_EXE_toprope"));
    let library = path.with_file_name("libascendcl.so");
    assert!(library.is_file(), "{} is missing: run `cargo build` first", library.display());
    let mut command = Command::new(path);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TOPROPE_") || name == "ASCEND_HOME_PATH" {
            command.env_remove(name);
        }
    }
    command.env("XDG_CACHE_HOME", scratch("cache"));
    command
}

/// A folder of this test's own.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn source(name: &str, text: &str) -> PathBuf {
    let file = scratch("sources").join(name);
    std::fs::write(&file, text).unwrap();
    file
}

fn run(args: &[&str]) -> Output {
    toprope().args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Nothing was run: exit status 2 and one line that contains the text.
fn refused(args: &[&str], text: &str) {
    let output = run(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.contains(text), "{args:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
}

#[test]
fn bad_calls_are_refused_with_one_line() {
    refused(&["run"], "required arguments were not provided: <PROGRAM");
    refused(&["run", "--prodct", "a3", "true"], "unknown option --prodct; valid: --product, ");
    refused(&["frobnicate"], "frobnicate");
    refused(&["run", "--product", "a9", "/bin/true"], "valid: 950pr, 950dt, a3, a2");
    refused(&["run", "--product", "a2", "--form", "rc", "/bin/true"], "valid: ep");
    refused(&["run", "--product", "a3", "--cann", "8", "/bin/true"], "valid: 9");
    refused(&["run", "--devices", "0", "/bin/true"], "valid: 1 to 64");
    refused(&["run", "--device-memory", "lots", "/bin/true"], "valid: 1M to 1T");
    refused(&["run", "--guard", "maybe", "/bin/true"], "valid: on, off");
    refused(&["run", "--seed", "x", "/bin/true"], "no seed");
    let output = toprope().env("TOPROPE_LOG", "loud").args(["run", "/bin/true"]).output().unwrap();
    assert!(stderr(&output).contains("valid: off, error, info"));
    refused(&["run", "/no/such/program"], "no program /no/such/program");
    refused(&["run", "/no/such/source.cpp"], "no program /no/such/source.cpp");
    refused(&["run", "no-such-program-in-path"], "no program no-such-program-in-path");
    refused(&["run", "/etc/passwd"], "neither executable nor");
    refused(&["products", "a9"], "unknown product");
    refused(&["api", "noSuchFunction"], "no function");
}

#[test]
fn a_bad_variable_is_refused_like_a_bad_option() {
    let output = toprope().env("TOPROPE_PRODUCT", "a9").args(["run", "/bin/true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("unknown product 'a9'"));
}

#[test]
fn a_missing_compiler_is_named() {
    let file = source("any.c", "int main(void) { return 0; }\n");
    let output = toprope().env("CC", "no-such-compiler").arg("run").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no compiler no-such-compiler; install one or name it in CC"));
}

#[test]
fn compile_errors_point_at_the_file() {
    let file = source("wrong.cpp", "int main() { return nothing; }\n");
    let output = toprope().arg("run").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("wrong.cpp:1"), "{}", stderr(&output));
    assert!(stderr(&output).contains("does not compile"));
}

#[test]
fn the_program_keeps_its_exit_status_arguments_and_signals() {
    assert_eq!(run(&["run", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(stdout(&run(&["run", "echo", "--product", "-x"])), "--product -x\n");
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(run(&["run", "sh", "-c", "kill -SEGV $$"]).status.signal(), Some(11));
    let file = source("aborts.c", "#include <stdlib.h>\nint main(void) { abort(); }\n");
    assert_eq!(toprope().arg("run").arg(&file).output().unwrap().status.signal(), Some(6));
}

#[test]
fn options_reach_the_library() {
    let file = source(
        "target.cpp",
        r#"#include <acl/acl.h>
#include <cstdio>
int main(int argc, char **argv) {
  uint32_t devices = 0;
  size_t free = 0, total = 0;
  if (aclInit(nullptr) || aclrtSetDevice(0) || aclrtGetDeviceCount(&devices)) return 1;
  if (aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)) return 2;
  printf("%s %u %zu %d %s\n", aclrtGetSocName(), devices, total >> 20, argc, argv[1]);
  return aclFinalize();
}
"#,
    );
    let output = toprope()
        .args(["run", "--product", "a3", "--devices", "3", "--device-memory", "512M"])
        .arg(&file)
        .arg("--devices")
        .output()
        .unwrap();
    assert_eq!(stdout(&output), "Ascend910_9391 3 512 2 --devices\n", "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0));
}

/// aclsysGetVersionStr#03: a program finds package versions although no toolkit is installed.
#[test]
fn programs_get_a_toolkit_tree() {
    let file = source(
        "version.c",
        r#"#include <acl/acl.h>
#include <stdio.h>
int main(void) {
  char text[ACL_PKG_VERSION_MAX_SIZE];
  char name[] = "runtime";
  int32_t number = 0;
  if (aclsysGetVersionStr(name, text) || aclsysGetVersionNum(name, &number)) return 1;
  printf("%s %d\n", text, number);
  return 0;
}
"#,
    );
    let output = toprope().args(["run", "--cann", "8"]).arg(&file).output().unwrap();
    assert_eq!(stdout(&output), "8.0.0 80000000\n", "{}", stderr(&output));
}

#[test]
fn scripts_get_the_module_or_are_told_how_to_build_it() {
    let file = source("script.py", "import acl, sys\nprint(acl.rt.get_device_count(), sys.argv[1])\n");
    let module = Path::new(env!("CARGO_BIN_EXE_toprope")).with_file_name("python").join("acl/_acl.abi3.so");
    let output = toprope().arg("run").arg("--devices").arg("3").arg(&file).arg("--x").output().unwrap();
    if module.is_file() {
        assert_eq!(stdout(&output), "(3, 0) --x\n", "{}", stderr(&output));
    } else {
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("`cargo xtask python"), "{}", stderr(&output));
    }
    refused(&["run", "/no/such/script.py"], "no program /no/such/script.py");
    let output = toprope().env("PYTHON", "no-such-python").arg("run").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn the_sdk_tree_builds_programs_by_the_names_they_use() {
    let folder = scratch("sdk").join("tree");
    let _ = std::fs::remove_dir_all(&folder);
    let output = toprope().arg("sdk").arg(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let file = source(
        "plain.c",
        "#include \"acl/acl.h\"\nint main(void) { uint32_t n = 0; return aclrtGetDeviceCount(&n) || n != 8; }\n",
    );
    let script = format!(
        ". {0}/set_env.sh && cc -I$ASCEND_HOME_PATH/runtime/include {1} -o {0}/plain -L$ASCEND_HOME_PATH/lib64/stub -lacl_rt && {0}/plain",
        folder.display(),
        file.display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // A second time it is not empty.
    refused(&["sdk", &folder.to_string_lossy()], "is not empty");
}

#[test]
fn products_are_side_by_side_and_say_what_is_ours() {
    let all = stdout(&run(&["products"]));
    let row = |title: &str| {
        let line = all.lines().find(|line| line.starts_with(title)).unwrap_or_default();
        line[title.len()..]
            .split("  ")
            .map(str::trim)
            .filter(|c| !c.is_empty())
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(row("streams of a device").len(), 9, "{all}");
    assert_eq!(row("streams of a device")[3], "1984");
    assert_eq!(row("memory of a device")[0], "128 GiB");
    assert_eq!(row("memory of a device")[3], "64 GiB (ours)");
    assert_eq!(row("event flag IPC")[..4], ["yes", "-", "yes", "yes"]);
    assert!(all.contains("the guard needs memory protection keys"), "{all}");
    let old = stdout(&run(&["products", "--cann", "8", "--form", "rc"]));
    assert!(old.lines().any(|l| l.split_whitespace().eq(["200i-500-a2", "200-300-500"])), "{old}");
    assert!(!old.contains("CANN 9") && !old.contains("ipv350"), "{old}");
    let one = stdout(&run(&["products", "a2", "--json"]));
    assert!(one.contains("\"max_streams\": 1984") && one.contains("\"ours\": ["), "{one}");
    assert!(one.contains("\"guard_available\": "), "{one}");
    assert!(!one.contains("\"key\": \"a3\""), "{one}");
    refused(&["products", "a2", "--cann", "5"], "product a2 has no CANN generation '5'; valid: 9, 8");
    refused(&["products", "--form", "pc"], "valid: ep, rc");
}

#[test]
fn api_tells_what_a_function_is() {
    let text = stdout(&run(&["api", "aclrtMemcpyAsync"]));
    for wanted in [
        "aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream)",
        "template <typename T, typename U> aclError aclrtMemcpyAsync(T *dst,",
        "chapter     11-03\n",
        "call        asynchronous; synchronous for pageable host memory (page)\n",
        "status      built\n",
        "a2 (ep; 9 8), 200i-500-a2 (ep rc; 9 8)",
        "aclrtMemcpyAsync#24: source and destination must be 64-byte aligned\n      unspecified, generation 8\n      decided here: ACL_ERROR_RT_PARAM_INVALID: ",
        "source: seed:004_010ffca5b5e896bf.txt > Constraints, all products (seed)",
        "python      acl.rt.memcpy_async",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    // A generation has its own page's rules.
    let new = stdout(&run(&["api", "aclrtMemcpyAsync", "--cann", "9"]));
    assert!(!new.contains("aclrtMemcpyAsync#24") && new.contains("aclrtMemcpyAsync#26"), "{new}");
    assert!(
        stdout(&run(&["api", "aclmdlRIExecute"])).contains("call        synchronous (aclmdlRIExecute#06)\n")
    );
    assert!(stdout(&run(&["api", "aclrtGetDevice"])).contains("call        unknown"));
    assert!(stdout(&run(&["api", "rtLaunch"])).contains("rtError_t rtLaunch(const void *stubFunc)"));
    assert!(stdout(&run(&["api", "AlogRecord"])).contains("status      not exported\n"));
    assert_eq!(stdout(&run(&["api", "acl.rt.memcpy_async"])), text);
    assert!(stdout(&run(&["api", "*"])).contains("*#06: "));
    let json = stdout(&run(&["api", "aclrtMalloc", "--json", "--product", "ipv350"]));
    assert!(json.contains("\"id\": \"aclrtMalloc#01\"") && json.contains("\"kind\": \"c++\""), "{json}");
    assert!(json.contains("\"key\": \"ipv350\"") && !json.contains("\"key\": \"a2\""), "{json}");
}

#[test]
fn api_lists_and_filters() {
    let all = stdout(&run(&["api"]));
    for name in ["aclInit", "rtDevBinaryRegister", "AlogRecord"] {
        assert_eq!(all.lines().filter(|l| l.split_whitespace().next() == Some(name)).count(), 1, "{name}");
    }
    // The C function, and two overloads.
    assert_eq!(all.lines().filter(|l| l.starts_with("aclrtMalloc ")).count(), 3);
    assert!(stdout(&run(&["api", "memcpyasync"])).lines().count() >= 4);
    let few = stdout(&run(&["api", "--product", "ipv350"]));
    assert!(!few.contains("aclrtMemcpyAsync ") && few.contains("aclrtMemcpyAsyncWithCondition "), "{few}");
    assert!(few.lines().last().unwrap().ends_with("functions and overloads are supported on ipv350"));
    let json = stdout(&run(&["api", "--json", "--form", "rc"]));
    assert!(json.starts_with("[\n") && json.contains("\"200-300-500\"") && !json.contains("\"a2\""));
    refused(&["api", "aclrtMemcpyAsnyc"], "nearest: aclrtMemcpyAsync, ");
    refused(&["api", "--product", "a9"], "valid: 950pr, 950dt, a3, a2");
    refused(&["api", "--product", "a3", "--cann", "8"], "valid: 9");
    refused(&["api", "--cann", "7"], "valid: 9, 8, 5");
}

/// The facts are in the command: it needs no source tree.
#[test]
fn lists_work_anywhere() {
    let text = toprope().current_dir("/").args(["api", "aclrtMalloc"]).output().unwrap();
    assert!(stdout(&text).contains("aclrtMalloc#01: "));
    let binary = std::fs::read(env!("CARGO_BIN_EXE_toprope")).unwrap();
    let row = b"aclrtMemcpyAsync,aclrtMemcpyAsync#24,";
    assert!(binary.windows(row.len()).any(|window| window == row));
}

#[test]
fn a_source_is_compiled_with_the_flags_that_make_knows() {
    let text = "#include <acl/acl.h>\n#include <math.h>\n#include <stdio.h>\n\
        int main(int argc, char **argv) { (void)argv; printf(\"%d %d %.1f\\n\", ONE, TWO, fmax(argc, 2.5)); return 0; }\n";
    for (name, flags, compiler) in [("flags.c", "CFLAGS", "CC"), ("flags.cpp", "CXXFLAGS", "CXX")] {
        let file = source(name, text);
        let default = if compiler == "CC" { "cc" } else { "c++" };
        let output = toprope()
            .env(flags, "-Wall -DONE=1")
            .env("CPPFLAGS", " -DTWO=2 ")
            .env("LDLIBS", "-lm")
            .env(compiler, format!("{default} -g"))
            .arg("run")
            .arg(&file)
            .output()
            .unwrap();
        assert_eq!(stdout(&output), "1 2 2.5\n", "{}", stderr(&output));
    }
    let help = stdout(&run(&["run", "--help"]));
    for word in ["CXXFLAGS", "CFLAGS", "LDFLAGS", "XDG_CACHE_HOME", "PATH", "protection keys", "same order"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert!(stdout(&run(&["products"])).contains("Host code that touches device memory"));
}

#[test]
fn a_variable_that_means_nothing_and_a_guard_that_cannot_be_are_told() {
    let file = source("told.c", "#include <acl/acl.h>\nint main(void) { return aclInit(NULL); }\n");
    let output = toprope().env("TOPROPE_PRODUKT", "a3").arg("run").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = stderr(&output);
    assert_eq!(
        said,
        "toprope: the variable TOPROPE_PRODUKT means nothing; the nearest that does is TOPROPE_PRODUCT\n"
    );
    let output = toprope()
        .args(["run", "--product", "200i-500-a2", "--form", "rc", "--guard", "on"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(
        stderr(&output).lines().filter(|line| line.contains("TOPROPE_GUARD=on has no effect")).count(),
        1
    );
    let endpoint = stderr(&toprope().args(["run", "--guard", "on"]).arg(&file).output().unwrap());
    let able = stdout(&run(&["products"])).contains("can be kept out");
    assert_eq!(endpoint.lines().count(), usize::from(!able), "{endpoint}");
}

/// The example that registers a device variable from Rust; each device has its own copy, with the host's bytes first.
#[test]
fn a_variable_is_registered_from_rust() {
    let build = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--quiet", "-p", "ascendcl-sys", "--example", "device_variable"])
        .args(["--target-dir", env!("CARGO_TARGET_TMPDIR")])
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let example = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debug/examples/device_variable");
    let output = run(&["run", "--devices", "2", example.to_str().unwrap()]);
    assert_eq!(
        stdout(&output),
        "device 0: [1.0, 0.5, 4.0, 8.0]\ndevice 1: [1.0, 1.5, 4.0, 8.0]\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
