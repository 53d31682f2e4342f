//! One C++ source: plain, or two halves.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::Output;

use super::args::{Part, Stop};
use super::asm::{self, Assembly};
use super::driver::Driver;
use super::half::{self, Half};
use super::rewrite::{self, Pass, marks};
use super::scan::{self, Source, words};
use super::tool::Stopped;

/// Compiles a source as far as the command goes.
pub fn compile(driver: &Driver, path: &Path, output: &Path) -> Result<(), Stopped> {
    if driver.args.stop == Stop::Preprocessed {
        return driver.plain(path, Some(OsStr::new("c++")), output);
    }
    let host = preprocess(driver, path, output, Pass::Host)?;
    if !has_device_code(&host.text) {
        return driver.plain(path, Some(OsStr::new("c++")), output);
    }
    let host_text = rewritten(&host.text, Pass::Host)?;
    let Some((half, warned)) = device_half(driver, path, output)? else {
        return driver.plain(path, Some(OsStr::new("c++")), output);
    };
    let (text, said) = assemble(driver, path, &host_text, Pass::Host)?;
    // What was said of both halves is said once.
    let lines: HashSet<&str> = said.lines().collect();
    let only: String =
        warned.lines().filter(|line| !lines.contains(line)).map(|line| format!("{line}\n")).collect();
    tell(&said);
    tell(&only);
    if driver.args.stop == Stop::Checked {
        return Ok(());
    }
    let found = asm::read(&text, marks::KEY);
    let packed = driver.temporary(path, "device");
    write(&packed, &half::pack(half.object, &half.bytes))?;
    let text = text + &asm::host_tail(&found, half.object, &packed);
    if driver.args.stop == Stop::Assembly {
        return write(output, text.as_bytes());
    }
    object(driver, path, text.as_bytes(), output)
}

/// The device half of a source, and what the compiler said about it; None: it has no device code.
pub fn device_half(driver: &Driver, path: &Path, output: &Path) -> Result<Option<(Half, String)>, Stopped> {
    let preprocessed = preprocess(driver, path, output, Pass::Device)?;
    if !has_device_code(&preprocessed.text) {
        return Ok(None);
    }
    let text = rewritten(&preprocessed.text, Pass::Device)?;
    let (text, said) = assemble(driver, path, &text, Pass::Device)?;
    let found: Assembly = asm::read(&text, marks::RECORD);
    let mut hasher = DefaultHasher::new();
    (&text, path, output.file_name()).hash(&mut hasher);
    let number = hasher.finish();
    let compiled = driver.temporary(path, "device.o");
    if driver.args.stop != Stop::Checked {
        object(driver, path, asm::device(&text, &found, number).as_bytes(), &compiled)?;
    } else {
        write(&compiled, b"")?;
    }
    let bytes = fs::read(&compiled).map_err(|e| format!("cannot read {}: {e}", compiled.display()))?;
    Ok(Some((Half { object: number, bytes, origin: path.to_owned() }, said)))
}

struct Preprocessed {
    text: String,
}

/// Preprocesses a source for a pass.
fn preprocess(driver: &Driver, path: &Path, output: &Path, pass: Pass) -> Result<Preprocessed, Stopped> {
    let to = driver.temporary(path, if pass == Pass::Host { "host.i" } else { "device.i" });
    let keeps = |part: &Part| match part {
        Part::Preprocess(words) => {
            let word = words[0].to_string_lossy();
            // Comments and missing line markers would only be in the way; one pass writes the dependencies.
            !matches!(word.as_ref(), "-C" | "-CC" | "-P" | "-H")
                && (pass == Pass::Host || !(word.starts_with("-M") || word.starts_with("-Wp,-M")))
        }
        Part::All(_) => true,
        _ => false,
    };
    let mut command = driver.compiler.command(driver.options(keeps));
    command.arg("-E").args(words::DEFINES);
    if pass == Pass::Device {
        command.arg("-DTOPROPE_DEVICE=1");
        if let Some(number) = &driver.args.architecture {
            let mut define = OsString::from("-D__NPU_ARCH__=");
            define.push(number);
            command.arg(define);
        }
    } else {
        command.args(driver.dependencies(path, output));
    }
    command.arg("-isystem").arg(&driver.include);
    command.arg("-include").arg(driver.include.join("toprope/device/launch.h"));
    command.args(["-x", "c++"]).arg(path).arg("-o").arg(&to);
    let done = driver.compiler.output(coloured(driver, command))?;
    finished(done)?;
    let bytes = fs::read(&to).map_err(|e| format!("cannot read {}: {e}", to.display()))?;
    Ok(Preprocessed { text: String::from_utf8(bytes).unwrap_or_else(|e| latin(e.as_bytes())) })
}

/// A text that is no UTF-8, byte by byte. ours: only comments and strings have such bytes, and they come out as UTF-8.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Whether there is anything that the compiler underneath does not know.
fn has_device_code(text: &str) -> bool {
    let source = Source::new(text);
    (0..source.tokens.len()).any(|at| source.get(at).starts_with(words::ALL))
        || !super::launch::find(&source).is_empty()
}

/// The text for a pass, or what is wrong with the program.
fn rewritten(text: &str, pass: Pass) -> Result<String, Stopped> {
    let source = Source::new(text);
    let found = scan::scan(&source);
    if found.errors.is_empty() {
        return Ok(rewrite::rewrite(&source, &found, pass));
    }
    for (offset, error) in &found.errors {
        let (file, line) = source.place(*offset);
        let _ = writeln!(std::io::stderr(), "{file}:{line}: error: {error}");
    }
    Err(Stopped::Said(1))
}

/// Options that would change what an object is, or what it needs beside it.
const HOST_WITHOUT: &[&str] = &["-flto", "-fwhole-program", "-save-temps", "--save-temps", "-fsyntax-only"];
/// Those that mean the program, not the device binary.
const DEVICE_WITHOUT: &[&str] = &[
    "-fpie",
    "-fPIE",
    "-fno-pie",
    "-fno-PIE",
    "-fpic",
    "-fno-pic",
    "-fno-PIC",
    "-fvisibility",
    "-fsanitize",
    "-fprofile",
    "--coverage",
    "-ftest-coverage",
    "-pg",
    "-fgnu-unique",
    "-finstrument-functions",
    "-fpatchable-function-entry",
    "-gsplit-dwarf",
    "-fopenmp",
    "-mcmodel",
];

/// Compiles a text to assembly; the answer has what the compiler said.
fn assemble(driver: &Driver, path: &Path, text: &str, pass: Pass) -> Result<(String, String), Stopped> {
    let from = driver.temporary(path, if pass == Pass::Host { "host.ii" } else { "device.ii" });
    let to = driver.temporary(path, if pass == Pass::Host { "host.s" } else { "device.s" });
    write(&from, text.as_bytes())?;
    let without = |word: &str, list: &[&str]| list.iter().any(|option| word.starts_with(option));
    let keeps = |part: &Part| match part {
        Part::All(words) => {
            let word = words[0].to_string_lossy();
            !(without(&word, HOST_WITHOUT) || pass == Pass::Device && without(&word, DEVICE_WITHOUT))
        }
        _ => false,
    };
    let mut command = driver.compiler.command(driver.options(keeps));
    if pass == Pass::Device {
        command.args(["-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"]);
        if !text.contains("toprope_made_by_clang") {
            command.arg("-fno-gnu-unique");
        }
    }
    command.args(["-x", "c++-cpp-output"]);
    command.arg(if driver.args.stop == Stop::Checked { "-fsyntax-only" } else { "-S" }).arg(&from);
    if driver.args.stop != Stop::Checked {
        command.arg("-o").arg(&to);
    }
    let done = driver.compiler.output(coloured(driver, command))?;
    let said = finished_saying(done)?;
    if driver.args.stop == Stop::Checked {
        return Ok((String::new(), said));
    }
    let text = fs::read_to_string(&to).map_err(|e| format!("cannot read {}: {e}", to.display()))?;
    Ok((text, said))
}

/// Makes an object of assembly.
fn object(driver: &Driver, path: &Path, text: &[u8], output: &Path) -> Result<(), Stopped> {
    let from = driver.temporary(path, "s");
    write(&from, text)?;
    let keeps = |part: &Part| {
        matches!(part, Part::Compile(_))
            || matches!(part, Part::All(words) if words[0].to_string_lossy().starts_with("-Wa,"))
    };
    let mut command = driver.compiler.command(driver.machine());
    command
        .args(driver.options(keeps))
        .args(["-Wa,-W", "-x", "assembler", "-c"])
        .arg(&from)
        .arg("-o")
        .arg(output);
    driver.compiler.run(command)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Stopped> {
    if path == Path::new("-") {
        return std::io::stdout()
            .write_all(bytes)
            .map_err(|e| Stopped::Refused(format!("cannot write: {e}")));
    }
    fs::write(path, bytes).map_err(|e| Stopped::Refused(format!("cannot write {}: {e}", path.display())))
}

/// Messages are kept and told later, which must not take their colours away.
fn coloured(driver: &Driver, mut command: std::process::Command) -> std::process::Command {
    let chosen = driver.options(|part| matches!(part, Part::All(_)));
    let chosen = chosen.iter().any(|word| word.to_string_lossy().contains("diagnostics-color"));
    if !chosen && std::io::stderr().is_terminal() {
        command.arg("-fdiagnostics-color=always");
    }
    command
}

/// What a compiler said when it did its work; else it is told at once.
fn finished_saying(done: Output) -> Result<String, Stopped> {
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if let Err(stopped) = super::tool::ended(done.status) {
        tell(&said);
        return Err(stopped);
    }
    Ok(said)
}

fn finished(done: Output) -> Result<(), Stopped> {
    tell(&finished_saying(done)?);
    Ok(())
}

fn tell(said: &str) {
    // A terminal that is gone needs no messages.
    let _ = std::io::stderr().lock().write_all(said.as_bytes());
}
