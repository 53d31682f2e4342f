//! `toprope c++`: sources with device code become programs, archives, libraries and device binaries.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of this test's own, empty, with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

fn toprope(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toprope"));
    command.current_dir(folder).args(words.split(' '));
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compiles without a word.
fn made(folder: &Path, words: &str) {
    let output = toprope(folder, words);
    assert!(output.status.success() && output.stderr.is_empty(), "{words}: {}", text(&output.stderr));
}

fn prints(program: &Path) -> String {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{:?} {}", output.status, text(&output.stderr));
    text(&output.stdout)
}

/// Fails, and says this.
fn refused(folder: &Path, words: &str, wanted: &[&str]) {
    let output = toprope(folder, words);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in wanted {
        assert!(said.contains(part), "{part}: {said}");
    }
}

const MAIN: &str = r##"#include <acl/acl.h>
#include <cstdio>
#include "kernel_operator.h"
#include "shared.h"
extern __gm__ int far;
static __gm__ int near = 5;
struct Pair { int a; double b; };
const char *raw = R"(k<<<1>>>(x))"; // a <<< b
namespace n { __global__ __aicore__ void pair(Pair by, __gm__ int *out) { out[0] = by.a + int(by.b) + far + near++; } }
__global__ void over(int, __gm__ int *out) { out[1] = 1; }
__global__ void over(float, __gm__ int *out) { out[1] = 2; }
#define LAUNCH(kernel, ...) kernel<<<1, nullptr, stream>>>(__VA_ARGS__)
template <class T> void go(T value, __gm__ int *out, aclrtStream stream) { fill<T, 2><<<1, nullptr, stream>>>(value, out + 2); }
void second(__gm__ int *out, aclrtStream stream);
int main()
{
    aclrtStream stream;
    void *memory;
    int got[8];
    if (aclInit(nullptr) || aclrtSetDevice(0) || aclrtCreateStream(&stream)) return 1;
    if (aclrtMalloc(&memory, sizeof got, ACL_MEM_MALLOC_HUGE_FIRST)) return 2;
    int *out = static_cast<int *>(memory);
    LAUNCH(n::pair, Pair{1, 2.5}, out);
    [&] { over<<<1, nullptr, stream>>>(1.0f, out); }();
    go(7, out, stream);
    second(out + 4, stream);
    if (aclrtSynchronizeStream(stream) || aclrtMemcpy(got, sizeof got, memory, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST)) return 3;
    for (int at = 0; at < 7; ++at) printf("%d ", got[at]);
    puts(raw);
    over<<<0, nullptr, stream>>>(1, out);
    return aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS;
}
"##;
const SECOND: &str = r#"#include <acl/acl.h>
#include "kernel_operator.h"
#include "shared.h"
__gm__ int far = 100;
static __gm__ int near = 50;
static __global__ void hidden(__gm__ int *out) { out[2] = near + far; }
void second(__gm__ int *out, aclrtStream stream)
{
    fill<<<1, nullptr, stream>>>(9, out);
    hidden<<<1, nullptr, stream>>>(out);
}
"#;
const SHARED: &str = "template <class T, int N = 2> __global__ __aicore__ void fill(T value, __gm__ int *out)\n\
                      { for (int at = 0; at < N; ++at) out[at] = value; }\n";
const PRINTS: &str = "108 2 7 7 9 9 150 k<<<1>>>(x)\n";

fn files() -> [(&'static str, &'static str); 3] {
    [("main.cpp", MAIN), ("second.asc", SECOND), ("shared.h", SHARED)]
}

#[test]
fn programs_of_several_sources_run_however_they_are_linked() {
    let folder = folder("linked", &files());
    made(&folder, "c++ -std=c++11 -Wall -Wextra -Werror main.cpp second.asc -o together");
    assert_eq!(prints(&folder.join("together")), PRINTS);
    made(&folder, "c++ -O2 -g -dc main.cpp -MD");
    assert!(std::fs::read_to_string(folder.join("main.d")).unwrap().contains("shared.h"));
    made(&folder, "c++ -O0 -fPIC -c second.asc -o second.o");
    made(&folder, "c++ main.o second.o -o apart");
    assert_eq!(prints(&folder.join("apart")), PRINTS);
    assert!(
        Command::new("ar")
            .current_dir(&folder)
            .args(["rcs", "libsecond.a", "second.o"])
            .status()
            .unwrap()
            .success()
    );
    made(&folder, "c++ main.o -L. -lsecond -o archived");
    assert_eq!(prints(&folder.join("archived")), PRINTS);
    made(&folder, "c++ -shared -fPIC main.cpp second.asc -o libwhole.so");
}

/// Build scripts that are to use the command name it as their compiler, and it must not take itself for the one underneath.
#[test]
fn the_command_is_not_its_own_compiler() {
    let folder = folder("itself", &files());
    let script = folder.join("wrapper");
    let own = env!("CARGO_BIN_EXE_toprope");
    std::fs::write(&script, format!("#!/bin/sh\nexec {own} c++ \"$@\"\n")).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for compiler in [format!("{own} c++"), script.display().to_string()] {
        let mut command = Command::new(own);
        command.current_dir(&folder).args(["c++", "-O1", "main.cpp", "second.asc", "-o", "program"]);
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        let output = command.env("CXX", &compiler).output().unwrap();
        assert!(output.status.success(), "{compiler}: {}", text(&output.stderr));
        assert_eq!(prints(&folder.join("program")), PRINTS);
    }
}

#[test]
fn errors_stand_at_the_line_of_the_program() {
    let wrong = "#include \"kernel_operator.h\"\nclass Type { public: int a; };\n__gm__ Type variable;\n";
    let late = "#include \"kernel_operator.h\"\nint value();\n__gm__ int late = value();\n__global__ void k(float *to) { *to = missing; }\n\
                void go(void *s)\n{\n    k<<<1, nullptr, s>>>(\"text\");\n}\n";
    let host = "#include \"kernel_operator.h\"\n#include <iostream>\n__global__ void k(int x) { std::cout << x; }\nint main() {}\n";
    let folder = folder("wrong", &[("class.cpp", wrong), ("late.cpp", late), ("host.cpp", host)]);
    refused(
        &folder,
        "c++ -c class.cpp",
        &["class.cpp:3: error: device variable 'variable'", "declared with 'class'"],
    );
    refused(&folder, "c++ -c late.cpp", &["late.cpp:3:", "late.cpp:4:38: error", "late.cpp:7:"]);
    refused(&folder, "c++ -g host.cpp -o host", &["host.cpp:3: error: device code uses `std::cout'"]);
}

#[test]
fn device_binaries_export_their_table_alone() {
    let folder = folder("device", &files());
    made(&folder, "c++ --device-only main.cpp second.asc -o kernels.bin");
    let symbols = Command::new("nm")
        .current_dir(&folder)
        .args(["-D", "--defined-only", "kernels.bin"])
        .output()
        .unwrap();
    let symbols = text(&symbols.stdout);
    assert_eq!(symbols.lines().count(), 1, "{symbols}");
    assert!(symbols.contains("toprope_device_image"));
}

#[test]
fn the_example_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = toprope(&root, "run examples/device_variables");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout),
        "device 0: counter 23, scaled weight 4, calls 1\ndevice 1: counter 40, scaled weight 4, calls 1\n"
    );
}
