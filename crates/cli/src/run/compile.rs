//! Compiles one source file against the headers that this command carries.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::{Refused, compile};

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `.c`
    C,
    /// `.cc`, `.cpp`, `.cxx`; `.asc` and `.cce`, which always have device code
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
        "cc" | "cpp" | "cxx" | "asc" | "cce" => Some(Language::Cpp),
        _ => None,
    }
}

/// Compiles and links a source, or all those of a folder. Compiler messages go to the terminal.
pub fn build(source: &Path, language: Language) -> Result<Built, Refused> {
    let folder = tempfile::Builder::new()
        .prefix("toprope-")
        .tempdir()
        .map_err(|e| format!("cannot make a temporary folder: {e}"))?;
    let path = folder.path().join(source.file_stem().unwrap_or(OsStr::new("program")));
    let (standard, flags) = match language {
        Language::C => ("-std=gnu11", "CFLAGS"),
        Language::Cpp => ("-std=gnu++17", "CXXFLAGS"),
    };
    let mut words: Vec<OsString> = [standard, "-O1", "-g", "-pthread"].map(OsString::from).into();
    // As make does: the variables may hold several words.
    for variable in [flags, "CPPFLAGS", "LDFLAGS"] {
        words.extend(from_env(variable));
    }
    if source.is_dir() {
        words.extend(sources(source)?.into_iter().map(OsString::from));
    } else {
        words.push(source.into());
    }
    words.extend(["-o".into(), path.clone().into()]);
    words.extend(from_env("LDLIBS"));
    if !compile::carry_out(&words, language == Language::Cpp)? {
        return Err(format!("{} does not compile", source.display()).into());
    }
    Ok(Built { path, _folder: folder })
}

/// The C++ sources of a folder, by name.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Refused> {
    let entries = fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|path| language(path) == Some(Language::Cpp));
    found.sort();
    if found.is_empty() {
        return Err(format!("{} has no .cc, .cpp, .cxx or .asc source", folder.display()).into());
    }
    Ok(found)
}

/// The words of a variable; none if it is unset.
fn from_env(variable: &str) -> Vec<OsString> {
    let text = env::var(variable).unwrap_or_default();
    text.split_ascii_whitespace().map(OsString::from).collect()
}
