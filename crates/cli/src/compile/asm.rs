//! What the compiler made, read from its assembly: there every symbol still has its name, also those that no other object can see.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use super::rewrite::marks;

/// Symbols of one half.
#[derive(Debug, Default)]
pub struct Assembly {
    /// Defined.
    defined: HashSet<String>,
    /// Seen by other objects.
    global: HashSet<String>,
    /// Device variables, with their sizes in bytes.
    pub variables: Vec<(String, u64)>,
    /// Kernels: the symbol of the function, and that of its key or record.
    pub kernels: Vec<(String, String)>,
}

/// The section that the host half's rows are in; the linker makes names for its ends.
pub const ROWS: &str = "toprope_rows";
/// The section with the numbers of the objects that are in a program.
pub const OBJECTS: &str = "toprope_objects";
/// The section with the device halves of an object. It is left out of whatever is linked.
pub const DEVICE: &str = ".toprope.device";
/// The section of a device half that lists its kernels and variables.
pub const LIST: &str = ".toprope.list";

/// Reads one half; `mark` is the name of the statics in its kernels.
pub fn read(text: &str, mark: &str) -> Assembly {
    let mut found = Assembly::default();
    let (mut statics, mut words, mut in_variables) = (Vec::new(), Vec::new(), false);
    let suffix = format!("E{}{mark}", mark.len());
    for line in text.lines() {
        if let Some(label) = label(line) {
            found.defined.insert(label.to_owned());
            if label.starts_with("_ZZ") && label.ends_with(&suffix) {
                statics.push(label.to_owned());
            }
            continue;
        }
        let line = line.trim_start();
        let (directive, rest) = line.split_once(['\t', ' ']).unwrap_or((line, ""));
        match directive {
            ".section" | ".pushsection" => in_variables = rest.trim_start().starts_with(marks::VARIABLES),
            ".text" | ".data" | ".bss" | ".previous" | ".popsection" => in_variables = false,
            ".globl" | ".global" | ".weak" => {
                let name = rest.split_whitespace().next().unwrap_or_default();
                found.global.insert(name.trim_matches('"').to_owned());
            }
            ".quad" | ".xword" | ".8byte" | ".dword" if in_variables => {
                let value = rest.split(['#', '/']).next().unwrap_or_default().trim().trim_matches('"');
                words.push(value.to_owned());
            }
            _ => {}
        }
    }
    for pair in words.chunks_exact(2) {
        if let Ok(size) = pair[1].parse() {
            found.variables.push((pair[0].clone(), size));
        }
    }
    for name in statics {
        let encoding = &name[3..name.len() - suffix.len()];
        if let Some(function) = found.function(encoding) {
            found.kernels.push((function, name));
        }
    }
    found
}

/// The symbol that a line defines; a comment may follow.
fn label(line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t', '.', '#']) {
        return None;
    }
    let (label, rest) =
        line.rsplit_once(':').filter(|(_, rest)| rest.trim().is_empty()).or_else(|| line.split_once(':'))?;
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with(['#', '/', '@'])).then(|| label.trim_matches('"'))
}

impl Assembly {
    /// The symbol of the function that a static is named after: mangled, or, for extern "C", only its length and name.
    fn function(&self, encoding: &str) -> Option<String> {
        let mangled = format!("_Z{encoding}");
        if self.defined.contains(&mangled) {
            return Some(mangled);
        }
        let plain = encoding.trim_start_matches('L');
        let name = plain.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let length: usize = plain[..plain.len() - name.len()].parse().ok()?;
        (name.len() == length && self.defined.contains(name)).then(|| name.to_owned())
    }

    /// The name by which both halves know something: symbols that only one object sees get the object's number.
    fn name(&self, symbol: &str, object: u64) -> String {
        if self.global.contains(symbol) { symbol.to_owned() } else { format!("{symbol}.{object:016x}") }
    }
}

/// What is added to the assembly of a host half: its rows, its number, and the device half.
pub fn host_tail(assembly: &Assembly, object: u64, half: &Path) -> String {
    let mut rows = String::new();
    let mut names = String::new();
    let mut row = |symbol: &str, name: &str, size: u64, kind: u32| {
        let label = format!(".Ltoprope_name_{}", names.len());
        let _ = writeln!(names, "{label}:\n\t.asciz \"{name}\"");
        let _ = writeln!(rows, "\t.quad \"{symbol}\", {label}, {size}, {kind}");
    };
    for (function, key) in &assembly.kernels {
        let name = assembly.name(function, object);
        row(key, &name, 0, 0);
        row(function, &name, 0, 0);
    }
    for (symbol, size) in &assembly.variables {
        row(symbol, &assembly.name(symbol, object), *size, 1);
    }
    format!(
        "\n\t.section {OBJECTS},\"aw\",@progbits\n\t.balign 8\n\t.quad {object:#x}\n\t.section {ROWS},\"aw\",@progbits\n\t.balign 8\n\
         {rows}\t.section .rodata.toprope_names,\"a\",@progbits\n{names}\t.section {DEVICE},\"e\",@progbits\n\t.balign 8\n\
         \t.incbin \"{}\"\n",
        half.display()
    )
}

/// The assembly of a device half, with names for what only it sees and the list of what it has.
pub fn device(text: &str, assembly: &Assembly, object: u64) -> String {
    let mut out = String::with_capacity(text.len() + 1024);
    for line in text.lines() {
        // What constructs statics of the program, or destroys them, is no root of the device half.
        let section = line.trim_start().strip_prefix(".section").map(str::trim_start).filter(|rest| {
            [".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors"]
                .iter()
                .any(|name| rest.starts_with(name))
        });
        match section.and_then(|rest| rest.split_once(',')) {
            Some((_, flags)) => {
                let flags = flags.replace("@init_array", "@progbits").replace("@fini_array", "@progbits");
                let _ = writeln!(out, "\t.section .toprope.dropped,{flags}");
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    let mut list = String::new();
    let seen = |symbol: &str, out: &mut String| -> String {
        let name = assembly.name(symbol, object);
        if name != symbol {
            let _ =
                writeln!(out, "\t.globl \"{name}\"\n\t.hidden \"{name}\"\n\t.set \"{name}\", \"{symbol}\"");
        }
        name
    };
    for (function, record) in &assembly.kernels {
        let (record, function) = (seen(record, &mut out), seen(function, &mut out));
        let _ = writeln!(list, "kernel {function} {record}");
    }
    for (symbol, size) in &assembly.variables {
        let _ = writeln!(list, "variable {} {size}", seen(symbol, &mut out));
    }
    let _ = writeln!(out, "\t.section {LIST},\"e\",@progbits");
    for line in list.lines() {
        let _ = writeln!(out, "\t.ascii \"{line}\\n\"");
    }
    out
}
