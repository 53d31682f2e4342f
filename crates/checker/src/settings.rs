//! What was asked of the checker, by `toprope run` or in the environment.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use toprope_runtime::profile::Check;
pub use toprope_runtime::profile::Check as Mode;

use crate::finding::print;

/// `TOPROPE_CHECK`, `TOPROPE_REPORT`, `TOPROPE_SUPPRESS`, `TOPROPE_CHECK_PATIENCE`.
#[derive(Debug)]
pub struct Settings {
    /// Whether to check at all.
    pub mode: Mode,
    /// Where the report goes at exit: JSON, or SARIF if it ends in `.sarif`.
    pub report: Option<PathBuf>,
    /// The file with suppressions.
    pub suppress: Option<PathBuf>,
    /// How long a wait that another thread of the program may end is not told of.
    pub patience: Duration,
    /// The file that tells `toprope run` under strict that something was found ([`NOTE`]).
    note: Option<PathBuf>,
}

/// The variable that says how long a wait may last, in milliseconds.
const PATIENCE: &str = "TOPROPE_CHECK_PATIENCE";

/// The variable by which `toprope run` names a file; the library writes a byte to it with every finding that counts.
pub const NOTE: &str = "TOPROPE_CHECK_NOTE";

impl Settings {
    /// As the environment says; a value of `TOPROPE_CHECK` that is none is off here, and the runtime refuses every call with it.
    pub fn from_env() -> Settings {
        let get = |name: &str| std::env::var_os(name).filter(|text: &OsString| !text.is_empty());
        let mode = get("TOPROPE_CHECK").and_then(|text| Check::parse(text.to_str()?)).unwrap_or(Check::Off);
        let patience = get(PATIENCE).map(|text| text.to_str().and_then(|text| text.parse().ok()));
        if mode != Mode::Off && patience == Some(None) {
            print(&format!("toprope: {PATIENCE}: wanted is a number of milliseconds; it is 10000\n"));
        }
        Settings {
            mode,
            patience: Duration::from_millis(patience.flatten().unwrap_or(10_000)),
            report: get("TOPROPE_REPORT").map(PathBuf::from),
            suppress: get("TOPROPE_SUPPRESS").map(PathBuf::from),
            note: get(NOTE).map(PathBuf::from),
        }
    }

    /// Whether `toprope run` started this, or what started it.
    pub fn run(&self) -> bool {
        self.note.is_some()
    }

    /// Tells the runner that there is a finding that counts.
    pub fn note(&self) {
        if self.mode == Mode::Strict
            && let Some(path) = &self.note
        {
            let file = std::fs::OpenOptions::new().append(true).open(path);
            let _ = file.and_then(|mut file| file.write_all(b"x"));
        }
    }
}
