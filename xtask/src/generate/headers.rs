//! `include/acl/`: the C headers whose content the spec gives. Umbrellas and the C++ interface are written by hand.
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::spec::{Enum, Field, Function, Param, Spec, Struct};
use super::{Output, Result, ctype};

/// A generated header.
struct Header {
    /// Below include/acl/, and the name in the tables.
    name: &'static str,
    /// What it is, for the reader.
    about: &'static str,
    includes: &'static [&'static str],
    /// Macros without a value, written by hand.
    prologue: &'static str,
}

/// Attributes of compilers that have them; a compiler that has not still reads the headers.
const BASE_PROLOGUE: &str = "#if defined(__GNUC__) || defined(__clang__)
#define ACL_FUNC_VISIBILITY __attribute__((visibility(\"default\")))
#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#else
#define ACL_FUNC_VISIBILITY
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

/* ACL_APP_LOG(level, fmt, ...): aclAppLog with the place of the call. */
#define ACL_APP_LOG(level, ...) aclAppLog(level, __func__, __FILE__, __LINE__, __VA_ARGS__)
";

const HEADERS: [Header; 11] = [
    Header {
        name: "error_codes/rt_error_codes.h",
        about: "Codes of the runtime layer. ACL codes are in acl/acl_base_rt.h.",
        includes: &[],
        prologue: "",
    },
    Header {
        name: "error_codes/ge_error_codes.h",
        about: "Codes of the graph engine. They are constants, so that #ifdef does not see them.",
        includes: &[],
        prologue: "#if defined(__GNUC__) || defined(__clang__)
#define GE_FUNC_VISIBILITY __attribute__((visibility(\"default\")))
#else
#define GE_FUNC_VISIBILITY
#endif
",
    },
    Header {
        name: "acl_base_rt.h",
        about: "Handles, data types, return codes and data buffers.",
        includes: &[
            "<stddef.h>",
            "<stdint.h>",
            "\"error_codes/rt_error_codes.h\"",
            "\"error_codes/ge_error_codes.h\"",
        ],
        prologue: BASE_PROLOGUE,
    },
    Header {
        name: "acl_rt_allocator.h",
        about: "Memory allocators that a program brings along.",
        includes: &["\"acl_base_rt.h\""],
        prologue: "",
    },
    Header {
        name: "acl_rt.h",
        about: "The runtime: devices, contexts, streams, events, memory, kernels, model capture.",
        includes: &["<stdbool.h>", "\"acl_base_rt.h\"", "\"acl_rt_allocator.h\""],
        prologue: "",
    },
    Header {
        name: "acl_rt_memory_soma.h",
        about: "Stream-ordered memory pools.",
        includes: &["\"acl_rt.h\""],
        prologue: "",
    },
    Header { name: "acl_tdt.h", about: "Tensor channels.", includes: &["\"acl_base_rt.h\""], prologue: "" },
    Header {
        name: "acl_tdt_queue.h",
        about: "Shared queues and buffers.",
        includes: &["\"acl_base_rt.h\""],
        prologue: "",
    },
    Header {
        name: "acl_prof.h",
        about: "Profiling.",
        includes: &["\"acl_base_rt.h\""],
        prologue: "#define MSVP_PROF_API ACL_FUNC_VISIBILITY\n",
    },
    Header {
        name: "acl_dump.h",
        about: "Dumps of operator data.",
        includes: &["\"acl_base_rt.h\""],
        prologue: "#define ACL_DUMP_API ACL_FUNC_VISIBILITY
#if defined(__GNUC__) || defined(__clang__)
#define ACL_DUMP_WEAK __attribute__((weak))
#else
#define ACL_DUMP_WEAK
#endif
",
    },
    Header {
        name: "acl_platform.h",
        about: "Platform description.",
        includes: &["\"acl_base_rt.h\""],
        prologue: "",
    },
];

/// Structures that another header of a toolkit may define too, with the macro by which the two agree.
const SHARED: [(&str, &[&str]); 1] =
    [("ACL_PROF_TENSOR_INFO_DEFINED", &["aclprofTensor", "aclprofTensorInfo"])];

/// What the chapters of the documentation are about.
const CHAPTERS: [(&str, &str); 38] = [
    ("02", "initialization"),
    ("03", "resource limits and system parameters"),
    ("04", "devices"),
    ("05", "contexts"),
    ("06", "streams"),
    ("07", "events"),
    ("08", "notifies"),
    ("09", "counting notifies"),
    ("10", "labels"),
    ("11-01", "device memory"),
    ("11-02", "host memory"),
    ("11-03", "copying and filling memory"),
    ("11-04", "virtual memory"),
    ("11-05", "managed memory and attributes"),
    ("11-06", "cache operations"),
    ("11-07", "memory of other processes"),
    ("11-08", "allocators"),
    ("11-09", "waiting for and writing values"),
    ("11-10", "memory pools"),
    ("11-11", "device variables"),
    ("12", "tasks and callbacks"),
    ("13", "errors and exceptions"),
    ("14", "kernels"),
    ("15", "model capture and execution"),
    ("16", "groups"),
    ("17-01", "tensor channels"),
    ("17-02", "queues"),
    ("17-03", "queue buffers"),
    ("18", "dumps"),
    ("19-01", "profiling to files"),
    ("19-02", "marks"),
    ("19-03", "profiling by subscription"),
    ("19-04", "step times"),
    ("20", "shared buffers"),
    ("21", "snapshots"),
    ("24", "other functions"),
    ("25-03", "data structures"),
    ("", "functions without a page"),
];

/// Every generated header.
pub fn outputs(spec: &Spec) -> Result<Vec<Output>> {
    let known: BTreeSet<&str> = HEADERS.iter().map(|h| h.name).collect();
    if let Some(f) = spec.functions.iter().find(|f| !known.contains(f.header.as_str())) {
        return Err(format!("functions.csv: {} is in {}, which is not generated", f.name, f.header).into());
    }
    HEADERS
        .iter()
        .map(|h| Ok(Output { path: format!("include/acl/{}", h.name), text: text(spec, h)? }))
        .collect()
}

fn text(spec: &Spec, h: &Header) -> Result<String> {
    let guard: String = h
        .name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    let guard = format!("TOPROPE_ACL_{guard}_");
    let mut out = format!(
        "/* Generated by `cargo xtask gen` from spec/. Do not edit. */\n/* {} */\n#ifndef {guard}\n#define {guard}\n\n",
        h.about
    );
    for include in h.includes {
        let _ = writeln!(out, "#include {include}");
    }
    if !h.includes.is_empty() {
        out.push('\n');
    }
    out.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    section(&mut out, h.prologue);
    section(&mut out, &macros(spec, h.name)?);
    section(&mut out, &types(spec, h.name));
    section(&mut out, &errors(spec, h.name));
    section(&mut out, &functions(spec, h.name));
    let _ = write!(out, "#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */\n");
    Ok(out)
}

fn section(out: &mut String, text: &str) {
    if !text.is_empty() {
        out.push_str(text.trim_start());
        out.push('\n');
    }
}

fn macros(spec: &Spec, header: &str) -> Result<String> {
    let mut out = String::new();
    for m in spec.macros.iter().filter(|m| m.header == header) {
        let value = match m.c_type.as_str() {
            "int" => m.value.to_string(),
            "unsigned int" => format!("{:#x}U", m.value),
            "unsigned long" => format!("{:#x}UL", m.value),
            "unsigned long long" => format!("{:#x}ULL", m.value),
            other => return Err(format!("macros.csv: {} has type {other}", m.name).into()),
        };
        let _ = writeln!(out, "#define {} {value}", m.name);
    }
    Ok(out)
}

fn errors(spec: &Spec, header: &str) -> String {
    let mut out = String::new();
    for e in spec.errors.iter().filter(|e| e.header == header) {
        let _ = if e.is_macro {
            writeln!(out, "#define {} {} /* {} */", e.name, e.value, e.meaning)
        } else {
            writeln!(out, "static const int {} = {}; /* {} */", e.name, e.value, e.meaning)
        };
    }
    out
}

fn functions(spec: &Spec, header: &str) -> String {
    let mut out = String::new();
    for (chapter, about) in CHAPTERS {
        let here = spec.functions.iter().filter(|f| f.header == header && f.chapter == chapter);
        let lines: String = here.map(declaration).collect();
        if lines.is_empty() {
            continue;
        }
        let number = if chapter.is_empty() { String::new() } else { format!("Chapter {chapter}: ") };
        let separator = if out.is_empty() { "" } else { "\n" };
        let _ = write!(out, "{separator}/* {number}{about} */\n{lines}");
    }
    out
}

/// `TYPE NAME(PARAMS);`, broken into lines where it is long.
fn declaration(f: &Function) -> String {
    let mut line = String::new();
    if !f.deprecated.is_empty() {
        let _ =
            writeln!(line, "ACL_DEPRECATED_MESSAGE(\"use {} instead\")", f.deprecated.replace('+', " and "));
    }
    let start = format!("ACL_FUNC_VISIBILITY {}(", declared(&f.returns, &f.name));
    line.push_str(&start);
    let params: Vec<String> = f.params.iter().map(parameter).collect();
    let list = if params.is_empty() { "void".to_string() } else { params.join(", ") };
    if start.len() + list.len() + 2 <= 120 {
        line.push_str(&list);
    } else {
        let _ = write!(line, "\n    {}", wrapped(&params));
    }
    line + ");\n"
}

/// The parameters with line breaks, indented by four.
fn wrapped(params: &[String]) -> String {
    let (mut text, mut width) = (String::new(), 4);
    for (at, param) in params.iter().enumerate() {
        let comma = if at + 1 == params.len() { "" } else { "," };
        if at > 0 {
            let breaks = width + param.len() + 2 > 118;
            text.push_str(if breaks { "\n    " } else { " " });
            width = if breaks { 4 } else { width + 1 };
        }
        width += param.len() + 1;
        let _ = write!(text, "{param}{comma}");
    }
    text
}

/// A parameter as C writes it.
pub fn parameter(p: &Param) -> String {
    if p.ty == "..." { p.ty.clone() } else { declared(&p.ty, &p.name) }
}

/// Joins a type and a name: `void *` and `p` give `void *p`; a function pointer takes its name inside.
pub fn declared(ty: &str, name: &str) -> String {
    if let Some((before, after)) = ty.split_once(")(").filter(|_| ctype::split_function(ty).is_some()) {
        let space = if before.ends_with('*') { "" } else { " " };
        return format!("{before}{space}{name})({after}");
    }
    let space = if ty.ends_with('*') { "" } else { " " };
    format!("{ty}{space}{name}")
}

/// The types of one header: handles, enums, structs, callbacks; each kind needs only those before it.
fn types(spec: &Spec, header: &str) -> String {
    let mut out = String::new();
    let typedefs = |category: &'static str| {
        spec.typedefs.iter().filter(move |t| t.header == header && t.category == category)
    };
    for t in typedefs("scalar-alias").chain(typedefs("opaque-handle")).chain(typedefs("opaque-struct-alias"))
    {
        let _ = writeln!(out, "typedef {};", declared(&t.definition, &t.name));
    }
    for e in spec.enums.iter().filter(|e| e.header == header) {
        enumeration(&mut out, e);
    }
    let mut done = BTreeSet::new();
    for s in spec.structs.iter().filter(|s| s.header == header) {
        structure(&mut out, spec, s, &mut done);
    }
    for (at, t) in typedefs("callback").enumerate() {
        let definition = t.definition.replace("( ", "(").replace("* ", " *");
        let separator = if at == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{separator}typedef {};", declared(&definition, &t.name));
    }
    out
}

fn enumeration(out: &mut String, e: &Enum) {
    let _ = writeln!(out, "\ntypedef enum {} {{", e.name);
    for v in &e.values {
        let _ = writeln!(out, "    {} = {},", v.name, v.value);
    }
    // C99 and C++11 allow the last comma.
    let _ = writeln!(out, "}} {};", e.name);
}

/// Writes a struct after the structs of the same header that it holds.
fn structure<'a>(out: &mut String, spec: &'a Spec, s: &'a Struct, done: &mut BTreeSet<&'a str>) {
    let name = public_name(s);
    if !done.insert(name) {
        return;
    }
    for f in &s.fields {
        let held = f.c_type.trim_start_matches("struct ").trim_end_matches(['*', ' ']);
        let held = spec.structs.iter().find(|other| public_name(other) == held && other.header == s.header);
        if let Some(held) = held {
            structure(out, spec, held, done);
        }
    }
    let shared = SHARED.iter().find(|(_, names)| names.contains(&name));
    if let Some((guard, _)) = shared.filter(|(_, names)| names.first() == Some(&name)) {
        let _ = writeln!(out, "\n#ifndef {guard}\n#define {guard}");
    }
    let keyword = if s.union { "union" } else { "struct" };
    let _ = writeln!(out, "\ntypedef {keyword} {} {{\n{}}} {name};", s.name, fields(&s.fields));
    if let Some((guard, _)) = shared.filter(|(_, names)| names.last() == Some(&name)) {
        let _ = writeln!(out, "#endif /* {guard} */");
    }
}

/// The typedef name of a struct whose tag differs from it.
pub fn public_name(s: &Struct) -> &str {
    if s.name == "tagAclmdlRICondTaskParams" { "aclmdlRICondTaskParams" } else { &s.name }
}

fn fields(all: &[Field]) -> String {
    let mut out = String::new();
    let mut fields = all.iter().peekable();
    while let Some(f) = fields.next() {
        let prefix = format!("{}.", f.name);
        if fields.peek().is_some_and(|next| next.name.starts_with(&prefix)) {
            // A union with a name, with or without a tag: `union {...}` or `union Message`.
            let _ = writeln!(out, "    {} {{", f.c_type.trim_end_matches("{...}").trim());
            while let Some(inner) = fields.next_if(|next| next.name.starts_with(&prefix)) {
                let _ = writeln!(out, "        {};", member(inner, &inner.name[prefix.len()..]));
            }
            let _ = writeln!(out, "    }} {};", f.name);
        } else if f.depth > 0 {
            // C99 has no unions without a name, but every compiler has.
            let _ = writeln!(out, "    __extension__ union {{\n        {};", member(f, &f.name));
            while let Some(inner) = fields.next_if(|next| next.depth > 0) {
                let _ = writeln!(out, "        {};", member(inner, &inner.name));
            }
            out.push_str("    };\n");
        } else if f.array == Some(0) {
            // C++ has it as an extension only, of which clang warns nevertheless.
            let _ = write!(
                out,
                "#ifdef __clang__\n#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Wc99-extensions\"\n#endif\n    \
                 {};\n#ifdef __clang__\n#pragma clang diagnostic pop\n#endif\n",
                member(f, &f.name)
            );
        } else {
            let _ = writeln!(out, "    {};", member(f, &f.name));
        }
    }
    out
}

fn member(f: &Field, name: &str) -> String {
    match f.array {
        None => declared(&f.c_type, name),
        // As long as the program makes it.
        Some(0) => format!("__extension__ {}[]", declared(&f.c_type, name)),
        Some(length) => format!("{}[{length}]", declared(&f.c_type, name)),
    }
}
