//! The suite finds what is wrong: faults planted in the tables and in a row.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with the tables, one file of it changed.
struct Tables(PathBuf);

impl Tables {
    fn with(file: &str, change: impl Fn(&str) -> String) -> Tables {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("contract-tables-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec")).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap();
            let text = if name == file { change(&text) } else { text };
            std::fs::write(folder.join(name), text).unwrap();
        }
        Tables(folder)
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The product with the fewest functions.
const TARGET: &str = "ipv350-ep-9";

/// What the suite prints, and that it fails.
fn fails(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn suite(tables: Option<&Tables>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_contract"));
    command.args(["--target", TARGET]);
    if let Some(tables) = tables {
        command.env("CONTRACT_SPEC", &tables.0);
    }
    command
}

const FILE: &str = "constraints_02_04_08_13.csv";
const LINE: &str = "aclrtGetDevice,aclrtGetDevice#01,deviceId must not be NULL,ACL_ERROR_INVALID_PARAM,";

#[test]
fn a_wrong_code_in_the_table() {
    let tables = Tables::with(FILE, |text| {
        assert!(text.contains(LINE));
        text.replace(LINE, &LINE.replace("ACL_ERROR_INVALID_PARAM", "ACL_ERROR_RT_PARAM_INVALID"))
    });
    let text = fails(suite(Some(&tables)).args(["--only", "aclrtGetDevice#01"]));
    assert!(text.contains("FAILED aclrtGetDevice#01 [ipv350 ep 9]"), "{text}");
    assert!(text.contains("answered 100000 ACL_ERROR_INVALID_PARAM, the table says 107000"), "{text}");
}

#[test]
fn a_wrong_limit_of_a_product() {
    let tables = Tables::with("products.csv", |text| text.replace(",1984,65536,8192,", ",1983,65536,8192,"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_contract"));
    command.args(["--target", "a2-ep-9", "--only", "aclrtCreateStream#03"]).env("CONTRACT_SPEC", &tables.0);
    let text = fails(&mut command);
    assert!(text.contains("FAILED aclrtCreateStream#03 [a2 ep 9]"), "{text}");
}

#[test]
fn a_function_that_is_said_to_be_missing() {
    let tables = Tables::with("functions.csv", |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = lines.iter_mut().find(|line| line.starts_with("aclrtGetRunMode,")).unwrap();
        *line = line.replace(",yes", ",no");
        lines.join("\n") + "\n"
    });
    let text = fails(suite(Some(&tables)).args(["--only", "*"]));
    assert!(text.contains("FAILED *#06 [ipv350 ep 9]"), "{text}");
    assert!(text.contains("aclrtGetRunMode answers 100000"), "{text}");
}

#[test]
fn a_row_without_a_proof_and_a_proof_without_a_row() {
    let new = LINE.replace("#01", "#77") + "all,nowhere,doc,\n";
    let gone = LINE.replace("aclrtGetDevice#01", "aclrtGetDevice#78");
    let tables = Tables::with(FILE, |text| text.replace(LINE, &gone) + &new);
    let text = fails(&mut suite(Some(&tables)));
    assert!(text.contains("FAILED aclrtGetDevice#77: missing"), "{text}");
    assert!(text.contains("FAILED aclrtGetDevice#01: not in the tables"), "{text}");
}

#[test]
fn a_row_that_is_left_open() {
    let open = "aclrtSetDevice#03,\"deviceId lies in [0, device count - 1]\",unspecified,all,";
    let tables = Tables::with(FILE, |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = lines.iter_mut().find(|line| line.contains(open)).unwrap();
        let end = line.find("ACL_ERROR_RT_INVALID_DEVICEID: ").unwrap();
        line.truncate(end);
        lines.join("\n") + "\n"
    });
    let text = fails(suite(Some(&tables)).args(["--only", "aclrtSetDevice#04"]));
    assert!(text.contains("FAILED aclrtSetDevice#03: decided, but the column decision is empty"), "{text}");
}

#[test]
fn a_row_that_crashes_costs_one_row() {
    let whole = suite(None).output().unwrap();
    let text = fails(suite(None).env("CONTRACT_CRASH", "aclrtGetDevice#01"));
    assert!(text.contains("FAILED aclrtGetDevice#01 [ipv350 ep 9]"), "{text}");
    assert!(text.contains("the process ended: signal: 6"), "{text}");
    let passed = |text: &str| -> usize {
        text.trim().lines().last().unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!(passed(&text), passed(&String::from_utf8_lossy(&whole.stdout)) - 1, "{text}");
}
