//! Compiles one source file against the headers that this command carries.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

use crate::{Refused, sdk};

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `.c`
    C,
    /// `.cc`, `.cpp`, `.cxx`
    Cpp,
}

/// A compiled program; its folder goes with it.
pub struct Built {
    /// The executable.
    pub path: PathBuf,
    _folder: tempfile::TempDir,
}

/// Language by the file's ending; None when it is no source.
pub fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" => Some(Language::C),
        "cc" | "cpp" | "cxx" => Some(Language::Cpp),
        _ => None,
    }
}

/// Compiles and links a source. Compiler messages go to the terminal.
pub fn build(source: &Path, language: Language, libraries: &Path) -> Result<Built, Refused> {
    let folder = tempfile::Builder::new()
        .prefix("toprope-")
        .tempdir()
        .map_err(|e| format!("cannot make a temporary folder: {e}"))?;
    let include = folder.path().join("include");
    sdk::headers(&include).map_err(|e| format!("cannot write the headers to {}: {e}", include.display()))?;
    let path = folder.path().join(source.file_stem().unwrap_or(source.as_os_str()));
    let (variable, default, standard) = match language {
        Language::C => ("CC", "cc", "-std=gnu11"),
        Language::Cpp => ("CXX", "c++", "-std=gnu++17"),
    };
    // As make does: the variables may hold several words.
    let named = words(variable);
    let whole = env::var_os(variable).filter(|name| Path::new(name).is_file());
    let (compiler, before) = match (whole, named.split_first()) {
        (Some(path), _) => (path, &[][..]),
        (None, Some((first, rest))) => (first.into(), rest),
        (None, None) => (default.into(), &[][..]),
    };
    let flags = match language {
        Language::C => "CFLAGS",
        Language::Cpp => "CXXFLAGS",
    };
    let mut rpath = OsString::from("-Wl,-rpath,");
    rpath.push(libraries);
    let status = Command::new(&compiler)
        .args(before)
        .args([standard, "-O1", "-g", "-pthread"])
        .args(words(flags))
        .arg("-I")
        .arg(&include)
        .args(words("CPPFLAGS"))
        .args(words("LDFLAGS"))
        .arg(source)
        .arg("-o")
        .arg(&path)
        .arg("-L")
        .arg(libraries)
        .arg("-lascendcl")
        .args(words("LDLIBS"))
        .arg(rpath)
        .status()
        .map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => {
                format!("no compiler {}; install one or name it in {variable}", compiler.display())
            }
            _ => format!("cannot start {}: {e}", compiler.display()),
        })?;
    if !status.success() {
        return Err(format!("{} does not compile", source.display()).into());
    }
    Ok(Built { path, _folder: folder })
}

/// The words of a variable; none if it is unset.
fn words(variable: &str) -> Vec<String> {
    let text = env::var(variable).unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}
