//! Linking: the device halves of the objects become one device binary, which the program or library carries and registers.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::args::Part;
use super::driver::Driver;
use super::half::{self, Half};
use super::image;
use super::tool::Stopped;

const REGISTER: &str = include_str!("register.c");

/// Links the command's objects; `compiled` are those of its sources, in order.
pub fn link(driver: &Driver, compiled: &[PathBuf]) -> Result<(), Stopped> {
    let relocatable = has(driver, "-r");
    let (mut halves, mut choose) = (Vec::new(), false);
    if !relocatable {
        for file in files(driver, compiled) {
            let (found, archive) = half::of_file(&file)?;
            choose |= archive && !found.is_empty();
            halves.extend(found);
        }
    }
    if halves.is_empty() {
        return driver.compiler.run(command(
            driver,
            compiled,
            None,
            driver.args.output.as_deref(),
            relocatable,
        ));
    }
    if choose {
        // Which members of an archive take part, only the linker knows.
        let first = driver.folder.path().join("first");
        let stub = register(driver, None)?;
        driver.compiler.run(command(driver, compiled, Some(&stub), Some(&first), false))?;
        let parts = half::objects_in(&first)?;
        halves.retain(|half: &Half| parts.contains(&half.object));
        let mut seen = Vec::new();
        halves.retain(|half| {
            let new = !seen.contains(&half.object);
            seen.push(half.object);
            new
        });
    }
    if halves.is_empty() {
        return driver.compiler.run(command(driver, compiled, None, driver.args.output.as_deref(), false));
    }
    let binary = image::place(driver.folder.path());
    image::link(&halves, &binary, driver.folder.path(), &driver.include, &driver.machine())?;
    let object = register(driver, Some(&binary))?;
    driver.compiler.run(command(driver, compiled, Some(&object), driver.args.output.as_deref(), false))
}

fn has(driver: &Driver, option: &str) -> bool {
    driver.args.parts.iter().any(|part| matches!(part, Part::Link(words) if words[0] == option))
}

/// The linker's command line: the parts in their order, then our object and library.
fn command(
    driver: &Driver,
    compiled: &[PathBuf],
    register: Option<&Path>,
    output: Option<&Path>,
    relocatable: bool,
) -> std::process::Command {
    let mut words: Vec<OsString> = Vec::new();
    let mut compiled = compiled.iter();
    for part in &driver.args.parts {
        match part {
            Part::Source(_) | Part::Other(..) => words.extend(compiled.next().map(OsString::from)),
            Part::Object(path) => words.push(path.into()),
            Part::Link(some) | Part::All(some) => words.extend(some.iter().cloned()),
            Part::Preprocess(_) | Part::Compile(_) => {}
        }
    }
    if let Some(output) = output {
        words.extend(["-o".into(), output.into()]);
    }
    words.extend(register.map(OsString::from));
    if !relocatable {
        let folder = driver.libraries.as_os_str();
        for option in ["-L", "-Wl,-rpath,"] {
            let mut word = OsString::from(option);
            word.push(folder);
            words.push(word);
        }
        // A program that uses nothing of it does not need it.
        words.extend(["-Wl,--push-state,--as-needed", "-lascendcl", "-Wl,--pop-state"].map(OsString::from));
    }
    driver.compiler.command(words)
}

/// The object that registers a device binary; without one, the stand-in for the first of two links.
fn register(driver: &Driver, binary: Option<&Path>) -> Result<PathBuf, Stopped> {
    let name = if binary.is_some() { "register" } else { "stand-in" };
    let source = driver.folder.path().join(format!("{name}.c"));
    let object = driver.folder.path().join(format!("{name}.o"));
    fs::write(&source, REGISTER).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
    let mut command = driver.compiler.command(driver.machine());
    if let Some(binary) = binary {
        let mut define = OsString::from("-DTOPROPE_IMAGE=\"");
        define.push(binary);
        define.push("\"");
        command.arg(define);
    }
    command
        .args(["-x", if driver.cxx { "c++" } else { "c" }, "-O1", "-w", "-fPIC", "-c"])
        .arg(&source)
        .arg("-o")
        .arg(&object);
    driver.compiler.run(command)?;
    Ok(object)
}

/// The files that may hold device halves.
fn files(driver: &Driver, compiled: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = compiled.to_vec();
    let folders: Vec<&Path> = driver
        .args
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Link(words) => words[0].to_str()?.strip_prefix("-L").map(Path::new),
            _ => None,
        })
        .collect();
    let fixed = has(driver, "-static");
    for part in &driver.args.parts {
        match part {
            Part::Object(path) => files.push(path.clone()),
            Part::Link(words) => {
                let Some(name) = words[0].to_str().and_then(|word| word.strip_prefix("-l")) else { continue };
                files.extend(folders.iter().find_map(|folder| library(folder, name, fixed)));
            }
            _ => {}
        }
    }
    files
}

/// The archive that `-lname` means in a folder, if it is one; a shared library there ends the search.
fn library(folder: &Path, name: &str, fixed: bool) -> Option<PathBuf> {
    if let Some(file) = name.strip_prefix(':') {
        return Some(folder.join(file)).filter(|path| path.is_file());
    }
    let shared = folder.join(format!("lib{name}.so"));
    if !fixed && shared.is_file() {
        return Some(shared);
    }
    Some(folder.join(format!("lib{name}.a"))).filter(|path| path.is_file())
}
