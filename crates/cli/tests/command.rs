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
    refused(&["run"], "required arguments");
    refused(&["frobnicate"], "frobnicate");
    refused(&["run", "--product", "a9", "/bin/true"], "valid: 950pr, 950dt, a3, a2");
    refused(&["run", "--product", "a2", "--form", "rc", "/bin/true"], "valid: ep");
    refused(&["run", "--product", "a3", "--cann", "8", "/bin/true"], "valid: 9");
    refused(&["run", "--devices", "0", "/bin/true"], "valid: 1 to 64");
    refused(&["run", "--device-memory", "lots", "/bin/true"], "valid: 1M to 1T");
    refused(&["run", "--guard", "maybe", "/bin/true"], "valid: on, off");
    refused(&["run", "--seed", "x", "/bin/true"], "no seed");
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
fn the_lists_tell_what_is_ours_and_what_is_built() {
    let products = stdout(&run(&["products", "a2"]));
    assert!(products.contains("streams of a device    1984\n"), "{products}");
    assert!(products.contains("memory of a device     65536 MiB (ours)\n"), "{products}");
    let all = stdout(&run(&["products"]));
    assert_eq!(all.lines().filter(|line| line.contains("CANN generations")).count(), 9);
    let api = stdout(&run(&["api", "aclrtMemcpyAsync"]));
    assert!(api.contains("chapter     11-03\n") && api.contains("status      built\n"), "{api}");
    let list = stdout(&run(&["api", "memcpyasync"]));
    assert!(list.lines().count() >= 4, "{list}");
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
    assert!(stdout(&run(&["products"])).contains("This machine: host code"));
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
