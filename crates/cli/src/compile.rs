//! `toprope c++` and `toprope cc`: the system's compiler, for sources that mix host and device code.
//!
//! A source with device code is preprocessed and compiled twice. Of the preprocessed text only what the compiler underneath does not know is
//! changed (`rewrite.rs`): launches, the bodies of kernels in the host half, and what makes kernels and device variables findable. The device
//! half is a relocatable object inside the host half's object (`half.rs`), so that archives and further linking need nothing of ours. When
//! a program or library is linked, its device halves become one device binary (`image.rs`), which is embedded together with a constructor
//! that registers it (`register.c`). A source without device code is compiled as it is.

mod args;
mod asm;
mod declare;
mod driver;
mod half;
mod image;
mod launch;
mod lex;
mod link;
mod rewrite;
mod scan;
mod source;
mod tool;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toprope_runtime::profile::{Profile, Request};

use crate::run::library_folder;
use crate::{Refused, sdk};
use driver::Driver;
use tool::Stopped;

/// Compiles as the words after `toprope c++` (`cxx`) or `toprope cc` say. Exit status: the compiler's own, or 2 when there is none.
pub fn command(words: &[OsString], cxx: bool) -> Result<ExitCode, Refused> {
    tool::step_aside(words, cxx)?;
    tool::outlive_interrupts();
    Ok(match steps(words, cxx)? {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => ExitCode::from(code),
    })
}

/// Compiles for `toprope run`: false when a compiler said why it does not.
pub fn carry_out(words: &[OsString], cxx: bool) -> Result<bool, Refused> {
    Ok(steps(words, cxx)?.is_ok())
}

/// All steps; a compiler that failed gives its exit status.
fn steps(words: &[OsString], cxx: bool) -> Result<Result<(), u8>, Refused> {
    let libraries = library_folder()?;
    let done = headers(&libraries)
        .map_err(Stopped::from)
        .and_then(|include| Driver::new(words, cxx, include, libraries)?.run());
    match done {
        Ok(()) => Ok(Ok(())),
        Err(Stopped::Said(code)) => Ok(Err(code)),
        Err(Stopped::Refused(line)) => Err(Refused(line)),
    }
}

/// The folder of the headers, which stays: dependency files and debug information name what is in it.
fn headers(libraries: &Path) -> Result<PathBuf, Refused> {
    let generation = Profile::resolve(&Request::from_env())?.generation;
    Ok(sdk::home(libraries, generation)?.join("include"))
}
