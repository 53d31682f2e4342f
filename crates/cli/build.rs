//! Packs the public headers into the command, so that it compiles programs wherever it is installed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let include = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../include");
    println!("cargo:rerun-if-changed={}", include.display());
    let mut files = Vec::new();
    collect(&include, &mut files)?;
    files.sort();
    let mut code = String::from(
        "/// Path below the include folder, and text.\npub static HEADERS: &[(&str, &str)] = &[\n",
    );
    for file in &files {
        let name = file.strip_prefix(&include).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", file.canonicalize()?);
    }
    code.push_str("];\n");
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("headers.rs"), code)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ext| ext == "h") {
            files.push(path);
        }
    }
    Ok(())
}
