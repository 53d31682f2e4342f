//! The checker's options, and how `--check strict` learns what it found.
//!
//! Under strict the command waits for the program and names a file, to which the library writes with every finding that counts, also
//! when the program then ends by `_exit`. A program that is started without this command keeps its own status.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use tempfile::NamedTempFile;
use toprope_runtime::profile::Check as Mode;

use super::finish;
use crate::Refused;

/// The status of `toprope run --check strict` when there was a finding.
const FOUND: u8 = 97;

/// What was asked for.
pub struct Check {
    report: Option<PathBuf>,
    suppress: Option<PathBuf>,
    note: Option<NamedTempFile>,
    on: bool,
}

impl Check {
    /// Checks that the files can be used.
    pub fn new(mode: Mode, report: &Option<PathBuf>, suppress: &Option<PathBuf>) -> Result<Check, Refused> {
        if mode == Mode::Off && (report.is_some() || suppress.is_some()) {
            return Err("--report and --suppress need --check warn or --check strict".into());
        }
        let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if let Some(path) = suppress
            && let Err(error) = std::fs::File::open(path)
        {
            return Err(format!("--suppress: {}: {error}", path.display()).into());
        }
        // A program that never loads the library, or ends at once, has a report too.
        if let Some(path) = report
            && let Err(error) = toprope_checker::output::write_empty(path)
        {
            return Err(format!("--report: {error}").into());
        }
        let note = match mode {
            Mode::Strict => {
                Some(NamedTempFile::new().map_err(|error| format!("cannot make a temporary file: {error}"))?)
            }
            Mode::Off | Mode::Warn => None,
        };
        Ok(Check {
            report: report.as_deref().map(whole),
            suppress: suppress.as_deref().map(whole),
            note,
            on: mode != Mode::Off,
        })
    }

    /// The variables that carry this to the library.
    pub fn settings(&self) -> Vec<(&'static str, OsString)> {
        let of = |name, path: Option<&Path>| path.map(|path| (name, path.as_os_str().to_owned()));
        // Its presence also tells the library that this command began the report.
        let nowhere = self.on.then(|| Path::new("/dev/null"));
        let note = self.note.as_ref().map(NamedTempFile::path).or(nowhere);
        [
            of("TOPROPE_REPORT", self.report.as_deref()),
            of("TOPROPE_SUPPRESS", self.suppress.as_deref()),
            of("TOPROPE_CHECK_NOTE", note),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Whether the status depends on what is found.
    pub fn decides(&self) -> bool {
        self.note.is_some()
    }

    /// The status of this command. A program that a signal ended ends this one in the same way.
    pub fn finish(&self, status: ExitStatus) -> ExitCode {
        let mut found = false;
        if let Some(note) = &self.note {
            found = std::fs::metadata(note.path()).is_ok_and(|meta| meta.len() != 0);
            // A signal may end this command before the file is dropped.
            let _ = std::fs::remove_file(note.path());
        }
        if found && status.code().is_some() { ExitCode::from(FOUND) } else { finish(status) }
    }
}
