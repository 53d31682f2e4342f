//! `--check` as a user meets it: what is printed, the exit status, the files.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn toprope() -> Command {
    let path = Path::new(env!("CARGO_BIN_EXE_toprope"));
    let library = path.with_file_name("libascendcl.so");
    assert!(library.is_file(), "{} is missing: run `cargo build` first", library.display());
    let mut command = Command::new(path);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TOPROPE_") {
            command.env_remove(name);
        }
    }
    command.arg("run");
    command
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Destroys an event twice, and ends as `end` says.
fn program(name: &str, end: &str) -> PathBuf {
    let text = format!(
        "#include <unistd.h>\n#include \"acl/acl.h\"\nint main(void) {{\n  aclrtEvent event = 0;\n  aclInit(0);\n  \
         aclrtSetDevice(0);\n  aclrtCreateEvent(&event);\n  aclrtDestroyEvent(event);\n  aclrtDestroyEvent(event);\n  \
         aclrtResetDevice(0);\n  aclFinalize();\n  {end}\n}}\n"
    );
    let file = scratch(name);
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn bad_options_are_refused_with_one_line() {
    for (args, text) in [
        (&["--check", "loud"][..], "valid: off, warn, strict"),
        (&["--report", "/tmp/r.json"][..], "need --check warn"),
        (&["--check-rules", "sub-division"][..], "needs --check warn"),
        (&["--check", "warn", "--check-rules", "leak"][..], "valid: sub-division"),
        (&["--check", "warn", "--suppress", "/no/such/file"][..], "/no/such/file"),
        (&["--check", "warn", "--report", "/no/such/folder/r.json"][..], "/no/such/folder"),
    ] {
        let output = toprope().args(args).arg("/bin/true").output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(text) && said.lines().count() == 1, "{args:?}: {said}");
    }
}

#[test]
fn warn_reports_and_strict_decides_the_status() {
    let file = program("twice.c", "return 3;");
    for (mode, status, reports) in [("off", 3, 0), ("warn", 3, 1), ("strict", 97, 1)] {
        let output = toprope().args(["--check", mode]).arg(&file).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{mode}: {said}");
        assert_eq!(said.matches("[double-destroy]").count(), reports, "{mode}: {said}");
        assert_eq!(said.contains("twice.c:9)"), reports != 0, "{mode}: {said}");
        assert_eq!(said.contains("1 error, 0 warnings"), reports != 0, "{mode}: {said}");
    }
}

#[test]
fn a_program_that_ends_early_is_noticed_and_one_that_crashes_keeps_its_signal() {
    let early = program("early.c", "_exit(0);");
    let output = toprope().args(["--check", "strict"]).arg(&early).output().unwrap();
    assert_eq!(output.status.code(), Some(97), "{}", stderr(&output));
    let crash = program("crash.c", "kill(getpid(), 9);").with_file_name("crash.c");
    let text = std::fs::read_to_string(&crash).unwrap();
    std::fs::write(&crash, format!("#include <signal.h>\n{text}")).unwrap();
    let output = toprope().args(["--check", "strict"]).arg(&crash).output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(9));
}

#[test]
fn known_findings_are_suppressed_and_reports_are_written() {
    let file = program("known.c", "return 0;");
    let list = scratch("known.txt");
    std::fs::write(&list, "# known\ndouble-destroy known.c:9\n").unwrap();
    for name in ["known.json", "known.sarif"] {
        let report = scratch(name);
        let output = toprope()
            .args(["--check", "strict", "--report"])
            .arg(&report)
            .arg("--suppress")
            .arg(&list)
            .arg(&file)
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("0 errors") && said.contains("1 suppressed"), "{said}");
        let text = std::fs::read_to_string(&report).unwrap();
        let (id, mark) = match name {
            "known.json" => ("\"rule\": \"double-destroy\"", "\"suppressed\": true"),
            _ => ("\"ruleId\": \"double-destroy\"", "\"kind\": \"external\""),
        };
        assert!(text.contains(id) && text.contains(mark) && text.contains("known.c"), "{text}");
    }
    std::fs::write(&list, "no-such-rule *\n").unwrap();
    let output = toprope().args(["--check", "warn", "--suppress"]).arg(&list).arg(&file).output().unwrap();
    assert!(stderr(&output).contains("known.txt:1: wanted is `RULE PLACE`"), "{}", stderr(&output));
}
