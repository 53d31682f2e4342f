//! Lays the package out beside what cargo builds, so that `import acl` works from there: `target/<profile>/python/acl` has the
//! Python files, and links to the two libraries, which cargo makes after this or has made before.
use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=python/acl");
    let source = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("python/acl");
    // OUT_DIR is <profile>/build/<package>-<hash>/out.
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let Some(profile) = out.ancestors().nth(3) else {
        return Err(io::Error::other(format!(
            "OUT_DIR is {}: no folder of a profile above it",
            out.display()
        )));
    };
    let package = profile.join("python/acl");
    fs::create_dir_all(&package)?;
    for entry in fs::read_dir(&source)? {
        let file = entry?.path();
        let kept = file.extension().is_some_and(|ext| ext == "py" || ext == "pyi" || ext == "typed");
        if let Some(name) = file.file_name().filter(|_| kept) {
            let copy = package.join(name);
            clear(&copy)?;
            fs::copy(&file, copy)?;
        }
    }
    mark(&package.join(MARK))?;
    link(Path::new("../../libtoprope_python.so"), &package.join("_acl.abi3.so"))?;
    link(Path::new("../../libascendcl.so"), &package.join("libascendcl.so"))
}

/// An empty file of the package. Cargo runs this again when it is gone, so that the next build lays out what was taken away.
const MARK: &str = "py.typed";

/// Has cargo look at [`MARK`], which it finds older than this run.
fn mark(file: &Path) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(file)?.set_modified(std::time::SystemTime::UNIX_EPOCH)?;
    println!("cargo:rerun-if-changed={}", file.display());
    Ok(())
}

/// A symbolic link, in the place of whatever was there.
fn link(target: &Path, name: &Path) -> io::Result<()> {
    clear(name)?;
    std::os::unix::fs::symlink(target, name)
}

fn clear(name: &Path) -> io::Result<()> {
    match fs::remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
