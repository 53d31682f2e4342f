//! Device halves become one device binary (include/toprope/device_image.h).

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol};

use super::asm;
use super::half::Half;
use super::tool::{Compiler, Stopped};

/// A kernel of the table.
#[derive(Debug)]
struct Kernel {
    /// Symbols of the function and of its record.
    function: String,
    record: String,
    /// Bytes of the argument block.
    size: u32,
    core: u32,
    /// Offset and size of each parameter.
    parameters: Vec<(u32, u32)>,
}

/// What the table has.
#[derive(Debug, Default)]
struct Table {
    kernels: Vec<Kernel>,
    /// Symbols and sizes.
    variables: Vec<(String, u64)>,
}

/// Links the halves to a device binary at `output`. `include`: the folder of the headers; `machine`: options that say for which
/// processor.
pub fn link(
    halves: &[Half],
    output: &Path,
    folder: &Path,
    include: &Path,
    machine: &[OsString],
) -> Result<(), Stopped> {
    let compiler = Compiler::cxx();
    let say = |what: &Path, e: &dyn std::fmt::Display| {
        Stopped::Refused(format!("cannot write {}: {e}", what.display()))
    };
    let mut table = Table::default();
    let mut seen = HashSet::new();
    let mut objects = Vec::new();
    for (number, half) in halves.iter().enumerate() {
        read(half, &mut table, &mut seen)
            .map_err(|e| format!("{}: its device half cannot be read: {e}", half.origin.display()))?;
        let stem = half.origin.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let object = folder.join(format!("{stem}.{number}.device.o"));
        fs::write(&object, &half.bytes).map_err(|e| say(&object, &e))?;
        objects.push(object);
    }
    let source = folder.join("table.cpp");
    fs::write(&source, text(&table)).map_err(|e| say(&source, &e))?;
    let script = folder.join("exports");
    fs::write(&script, "{ global: toprope_device_image; local: *; };\n").map_err(|e| say(&script, &e))?;
    let object = folder.join("table.o");
    let mut command = compiler.command(machine);
    command.args(["-std=gnu++17", "-O1", "-w", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-c"]);
    command.arg("-isystem").arg(include).arg(&source).arg("-o").arg(&object);
    compiler.run(command)?;
    let mut command = compiler.command(machine);
    command.args([
        "-shared",
        "-fPIC",
        "-nostartfiles",
        "-nodefaultlibs",
        "-Wl,-Bsymbolic,--gc-sections,-z,defs,-z,noexecstack",
    ]);
    let mut version = OsString::from("-Wl,--version-script=");
    version.push(&script);
    command.arg(version).arg("-o").arg(output).arg(&object).args(&objects).args(["-lm", "-lc", "-lgcc"]);
    command.env("LC_ALL", "C");
    let done = compiler.output(command)?;
    if done.status.success() {
        return Ok(());
    }
    let _ = write!(std::io::stderr(), "{}", explain(&String::from_utf8_lossy(&done.stderr), folder));
    Err(Stopped::Said(1))
}

/// The linker's messages, with a reason for those about missing functions.
fn explain(said: &str, folder: &Path) -> String {
    let mut text = String::new();
    let folder = format!("{}/", folder.display());
    for line in said.lines() {
        if line.ends_with("ld returned 1 exit status") || line.contains("linker command failed") {
            continue;
        }
        let line = line.replace(&folder, "");
        match line.split_once("undefined reference to ") {
            Some((place, name)) => {
                let place = place.trim_end_matches([' ', ':']);
                let place = place.strip_prefix("/usr/bin/ld: ").unwrap_or(place);
                let _ = writeln!(
                    text,
                    "{place}: error: device code uses {name}, which is neither in the program's sources nor in the C library"
                );
            }
            None => {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    text
}

/// Adds what a half has to the table. What several halves have, as instances of templates, is there once.
fn read(half: &Half, table: &mut Table, seen: &mut HashSet<String>) -> Result<(), String> {
    let file = object::File::parse(half.bytes.as_slice()).map_err(|e| e.to_string())?;
    let section = file.section_by_name(asm::LIST).ok_or("it has no list")?;
    let list = section.data().map_err(|e| e.to_string())?;
    for line in String::from_utf8_lossy(list).lines() {
        let mut words = line.split(' ');
        let (Some(kind), Some(name), Some(rest)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("its list has '{line}'"));
        };
        if !seen.insert(name.to_owned()) {
            continue;
        }
        if kind == "kernel" {
            table.kernels.push(kernel(&file, name, rest)?);
        } else {
            table
                .variables
                .push((name.to_owned(), rest.parse().map_err(|_| format!("its list has '{line}'"))?));
        }
    }
    Ok(())
}

/// Reads the record of a kernel: `toprope::launch::Record`.
fn kernel(file: &object::File<'_>, function: &str, record: &str) -> Result<Kernel, String> {
    let missing = || format!("kernel {function} has no record");
    let symbol = file
        .symbols()
        .find(|symbol| symbol.name() == Ok(record) && !symbol.is_undefined())
        .ok_or_else(missing)?;
    let section =
        symbol.section_index().and_then(|index| file.section_by_index(index).ok()).ok_or_else(missing)?;
    let data = section.data().map_err(|e| e.to_string())?;
    let from = usize::try_from(symbol.address()).map_err(|_| missing())?;
    let word = |index: usize| -> Result<u32, String> {
        let at = from + index * 4;
        let bytes = data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).ok_or_else(missing)?;
        Ok(u32::from_le_bytes(bytes))
    };
    let (count, size, core) = (word(0)?, word(1)?, word(2)?);
    // Past the four numbers and an address.
    let parameters = (0..count as usize).map(|at| Ok((word(6 + 2 * at)?, word(7 + 2 * at)?)));
    Ok(Kernel {
        function: function.to_owned(),
        record: record.to_owned(),
        size,
        core,
        parameters: parameters.collect::<Result<_, String>>()?,
    })
}

/// The source of the table.
fn text(table: &Table) -> String {
    let mut text = String::from(PREAMBLE);
    for (number, kernel) in table.kernels.iter().enumerate() {
        let Kernel { function, record, size, core, parameters } = kernel;
        let _ = writeln!(text, "HIDDEN void function_{number}() __asm__(\"{function}\");");
        let _ = writeln!(text, "HIDDEN const Record record_{number} __asm__(\"{record}\");");
        let _ = writeln!(
            text,
            "static void entry_{number}(const void *arguments, const toprope_block *block) {{ toprope::device::Scope scope(block, {core}); \
             record_{number}.call(function_{number}, arguments); }}"
        );
        let _ = write!(text, "static const toprope_param parameters_{number}[] = {{");
        for (offset, size) in parameters {
            let _ = write!(text, "{{{offset}, {size}}}, ");
        }
        let _ = writeln!(text, "{{0, 0}}}};");
        let _ = writeln!(
            text,
            "static const toprope_kernel kernel_{number} = {{\"{function}\", entry_{number}, parameters_{number}, {}, {size}, {core}, 0}};",
            parameters.len()
        );
    }
    for (number, (symbol, _)) in table.variables.iter().enumerate() {
        let _ = writeln!(text, "HIDDEN unsigned char variable_{number}[] __asm__(\"{symbol}\");");
    }
    text.push_str("static const toprope_kernel *const kernels[] = {");
    for number in 0..table.kernels.len() {
        let _ = write!(text, "&kernel_{number}, ");
    }
    text.push_str("nullptr};\nstatic const toprope_variable variables[] = {");
    for (number, (symbol, size)) in table.variables.iter().enumerate() {
        let _ = write!(text, "{{\"{symbol}\", variable_{number}, {size}}}, ");
    }
    let _ = writeln!(
        text,
        "{{nullptr, nullptr, 0}}}};\nextern \"C\" __attribute__((visibility(\"default\"))) const toprope_image toprope_device_image = \
         {{TOPROPE_IMAGE_MAGIC, TOPROPE_IMAGE_VERSION, {}, {}, kernels, variables}};",
        table.kernels.len(),
        table.variables.len()
    );
    text
}

const PREAMBLE: &str = r#"#include "toprope/device/block.h"
#define HIDDEN extern "C" __attribute__((visibility("hidden")))
struct Record { uint32_t numbers[4]; void (*call)(void (*)(), const void *); };
/* Nothing is unwound on a device. */
HIDDEN void __gxx_personality_v0() { toprope::device::fault(); }
HIDDEN void _Unwind_Resume() { toprope::device::fault(); }
/* A block cannot end the process. (Under other names here, since headers declare these.) */
#define ENDS_NOTHING(name) HIDDEN void no_##name(int) __asm__(#name); void no_##name(int) { toprope::device::fault(); }
ENDS_NOTHING(exit)
ENDS_NOTHING(_exit)
ENDS_NOTHING(_Exit)
ENDS_NOTHING(quick_exit)
HIDDEN void *__dso_handle;
void *__dso_handle;
"#;

/// Where the binary of a program is put before it is embedded.
pub fn place(folder: &Path) -> PathBuf {
    folder.join("device.bin")
}
