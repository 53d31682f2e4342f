//! `functions.rs`: one Rust function for each Python function whose arguments are plain.
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::super::ctype;
use super::super::spec::Spec;
use super::gil::{learns, waits};
use super::shape::{Kind, extracted, is_number, kind, resolve};
use super::stubs::facts;
use super::{Args, PyFunction, Result, Returns, Ty, Value, find};

/// The text of the file.
pub fn text(root: &Path, spec: &Spec, table: &[PyFunction]) -> Result<String> {
    let by_hand = by_hand(root)?;
    let mut out = String::from(HEAD);
    let mut registered: BTreeMap<&str, String> = BTreeMap::new();
    for function in table {
        let name = function.rust();
        let path = match by_hand.get(&name) {
            Some(module) => format!("crate::{module}::{name}"),
            None => {
                let (text, call) = one(spec, function)?;
                out.push_str(&text);
                if let Call::Fast(signature) = call {
                    let lines = registered.entry(function.module).or_default();
                    let doc = format!("{}({signature})\n--\n\n{}", function.name, help(spec, function));
                    let _ = writeln!(lines, "    fast!(module, {:?}, {name}, {doc:?})?;", function.name);
                    continue;
                }
                name
            }
        };
        let lines = registered.entry(function.module).or_default();
        let _ = writeln!(lines, "    module.add_function(wrap_pyfunction!({path}, module)?)?;");
    }
    for (module, lines) in registered {
        let _ = write!(
            out,
            "\n/// Adds the functions of `{module}`.\npub fn add_{}(module: &Bound<'_, PyModule>) -> PyResult<()> {{\n{lines}    Ok(())\n}}\n",
            module.rsplit('.').next().unwrap_or_default()
        );
    }
    Ok(out)
}

const HEAD: &str = "//! The functions of module `acl` whose arguments and results are plain numbers and texts.
//!
//! SAFETY of every call below: the table holds C functions of these types ([`crate::library`]); out-parameters are locals of
//! the C type's size; texts end in NUL; addresses are numbers, which the library checks itself.
#![allow(clippy::too_many_arguments, reason = \"as many as in C\")]
#![allow(clippy::undocumented_unsafe_blocks, reason = \"said once, above\")]
use std::ffi::CString;

use ascendcl_sys::{ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::absent::{no_such, unknown_arguments};
use crate::fast::fast;
use crate::known;
use crate::library::table;
use crate::owner::look;
use crate::text::text;
";

fn ident(name: &str) -> String {
    if name == "type" { "r#type".to_string() } else { name.to_string() }
}

/// `help.rs`: what `help` says of the functions that are written by hand.
pub fn helps(root: &Path, spec: &Spec, table: &[PyFunction]) -> Result<String> {
    let by_hand = by_hand(root)?;
    let arms: String = table
        .iter()
        .filter(|function| by_hand.contains_key(&function.rust()))
        .map(|function| format!("    ({}) => {{ {:?} }};\n", function.rust(), help(spec, function)))
        .collect();
    Ok(format!(
        "//! What Python's `help` says of the functions that are written by hand: `#[doc = help!(rt_launch_callback)]`.
macro_rules! help {{\n{arms}}}\n"
    ))
}

/// How Python calls a function.
enum Call {
    /// Through `crate::fast`; the signature.
    Fast(String),
    /// Through PyO3.
    Slow,
}

/// What `help` says.
fn help(spec: &Spec, function: &PyFunction) -> String {
    let mut text = function.summary.clone();
    for fact in facts(spec, function) {
        let _ = write!(text, "\n\n{fact}");
    }
    text
}

/// Head of a function that PyO3 makes: help text, signature and name.
fn head(spec: &Spec, function: &PyFunction, args: &str) -> String {
    let mut text = String::from("\n");
    for line in help(spec, function).lines() {
        let _ = writeln!(text, "{}", format!("/// {line}").trim_end());
    }
    let _ = writeln!(text, "#[pyfunction]\n#[pyo3(name = \"{}\", signature = ({args}))]", function.name);
    text
}

fn one(spec: &Spec, function: &PyFunction) -> Result<(String, Call)> {
    let Args::Known(args) = &function.args else { return Ok((unknown(spec, function), Call::Slow)) };
    let Some(c) = find(spec, &function.c) else { return Ok((absent(spec, function, args), Call::Slow)) };
    let by_hand =
        || format!("{} has no plain shape: write {} in crates/python/src", function.full(), function.rust());
    let (values, code) = match &function.returns {
        Returns::Tuple(values) => match values.split_last() {
            Some((ret, values)) if ret.name == "ret" => (values, true),
            _ => return Err(by_hand().into()),
        },
        Returns::One(value) if value.name == "ret" => (&[][..], true),
        Returns::One(_) | Returns::Nothing => (&[][..], false),
    };
    let mut given = args.iter();
    let mut outs = values.iter();
    let (mut names, mut params, mut before, mut passed, mut results) =
        (Vec::new(), Vec::new(), String::new(), Vec::new(), Vec::new());
    for param in &c.params {
        let kind = kind(spec, param)?;
        if let Kind::Out(ty) = kind {
            let out = outs.next().ok_or_else(by_hand)?;
            if !out.ty.is_int() && out.ty != Ty::Float {
                return Err(by_hand().into());
            }
            let name = format!("out_{}", out.name);
            let zero = if ty == "f32" { "0f32".to_string() } else { format!("0{ty}") };
            let _ = writeln!(before, "    let mut {name} = {zero};");
            passed.push(format!("(&raw mut {name}).cast()"));
            results.push(name);
            continue;
        }
        // ours: a C parameter that Python does not have is 0: timeouts that the plain call does not pass on.
        let arg = given.next().ok_or_else(by_hand)?;
        let name = ident(&arg.name);
        names.push(arg.name.clone());
        match kind {
            Kind::Number(ty) if arg.ty.is_int() || arg.ty == Ty::Float => {
                let read = extracted(arg.ty, &ty);
                params.push(format!("{name}: {read}"));
                passed.push(if read == ty { name } else { format!("{name} as {ty}") });
            }
            Kind::Pointer if arg.ty.is_int() => {
                params.push(format!("{name}: usize"));
                passed.push(format!("{name} as _"));
            }
            Kind::Text if arg.ty == Ty::Str => {
                params.push(format!("{name}: CString"));
                passed.push(format!("{name}.as_ptr()"));
            }
            _ => return Err(by_hand().into()),
        }
    }
    if given.next().is_some() || outs.next().is_some() || code != (c.returns == "aclError") {
        return Err(by_hand().into());
    }
    let mut call = format!("unsafe {{ (table().{})({}) }}", c.name, passed.join(", "));
    let texts = args.iter().any(|arg| arg.ty == Ty::Str)
        || matches!(&function.returns, Returns::One(value) if value.ty == Ty::Str);
    if waits(&c.name) {
        params.insert(0, "py: Python<'_>".to_string());
        before.push_str("    look(py);\n");
        call = if c.name == "aclrtMemcpyAsync" {
            format!(
                "let copy = || {call};\n    if known::between(dst, src, count) {{ copy() }} else {{ py.detach(copy) }}"
            )
        } else {
            format!("py.detach(|| {call})")
        };
    } else if !texts {
        params.insert(0, "_: Python<'_>".to_string());
    }
    let (learns_before, learns_after) = learns(&c.name);
    before.push_str(learns_before);
    let (returns, after) = match (&function.returns, code) {
        (Returns::Nothing, _) => (String::new(), ";".to_string()),
        (Returns::One(value), false) if value.ty == Ty::Str => {
            call = format!("unsafe {{ text((table().{})({})) }}", c.name, passed.join(", "));
            (" -> Option<String>".to_string(), String::new())
        }
        (Returns::One(value), false) => {
            let ty = resolve(spec, &ctype::rust(&c.returns)?);
            if is_number(&ty) && (value.ty.is_int() || value.ty == Ty::Float) {
                (format!(" -> {ty}"), String::new())
            } else {
                call = format!("let value = {call};\n    value as usize");
                (" -> usize".to_string(), String::new())
            }
        }
        _ if results.is_empty() => (" -> aclError".to_string(), String::new()),
        _ => {
            let types = results.iter().map(|name| out_type(&before, name)).collect::<Vec<_>>().join(", ");
            call = format!("let ret = {call};\n{learns_after}    ({}, ret)", results.join(", "));
            (format!(" -> ({types}, aclError)"), String::new())
        }
    };
    // PyO3 reads the signature as Rust, Python itself as Python.
    let head = if texts {
        let names: Vec<String> = names.iter().map(|name| ident(name)).collect();
        head(spec, function, &positional(&names))
    } else {
        format!("\n/// {}\n", function.summary)
    };
    let name = function.rust();
    let text = format!("{head}fn {name}({}){returns} {{\n{before}    {call}{after}\n}}\n", params.join(", "));
    Ok((text, if texts { Call::Slow } else { Call::Fast(positional(&names)) }))
}

/// Names as a signature without its parentheses: all of them positional only.
fn positional(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{}, /", names.join(", ")) }
}

/// The type of the local `name` in `    let mut name = 0ty;`.
fn out_type<'a>(before: &'a str, name: &str) -> &'a str {
    let start = format!("let mut {name} = 0");
    let line = before.lines().find_map(|line| line.trim().strip_prefix(start.as_str()));
    line.map_or("usize", |rest| rest.trim_end_matches(';'))
}

/// A result that says nothing, in the function's shape; the code is 207000.
fn nothing(returns: &Returns) -> (String, String) {
    let one = |value: &Value| match value.ty {
        _ if value.name == "ret" => ("aclError".to_string(), "ACL_ERROR_RT_FEATURE_NOT_SUPPORT".to_string()),
        Ty::Float => ("f64".to_string(), "0.0".to_string()),
        ty if ty.is_int() => ("usize".to_string(), "0".to_string()),
        _ => ("Option<Py<PyAny>>".to_string(), "None".to_string()),
    };
    match returns {
        Returns::Nothing => ("()".to_string(), "()".to_string()),
        Returns::One(value) => one(value),
        Returns::Tuple(values) => {
            let (types, values): (Vec<_>, Vec<_>) = values.iter().map(one).unzip();
            (format!("({})", types.join(", ")), format!("({})", values.join(", ")))
        }
    }
}

/// A function of which neither the table nor C tells the arguments.
fn unknown(spec: &Spec, function: &PyFunction) -> String {
    let (types, values) = nothing(&function.returns);
    format!(
        "{}fn {}(py: Python<'_>, arguments: &Bound<'_, PyTuple>) -> PyResult<{types}> {{
    unknown_arguments(py, \"{}\", arguments)?;
    Ok({values})
}}\n",
        head(spec, function, "*arguments"),
        function.rust(),
        function.full()
    )
}

/// A function that calls no function of the headers.
fn absent(spec: &Spec, function: &PyFunction, args: &[Value]) -> String {
    let (types, values) = nothing(&function.returns);
    let names: Vec<String> = args.iter().map(|arg| ident(&arg.name)).collect();
    let unused = match names.as_slice() {
        [] => String::new(),
        [one] => format!("    let _ = {one};\n"),
        _ => format!("    let _ = ({});\n", names.join(", ")),
    };
    let params: Vec<String> = args
        .iter()
        .zip(&names)
        .map(|(arg, name)| {
            let ty = match arg.ty {
                Ty::Str => "CString",
                Ty::Ints => "Vec<i64>",
                Ty::Pairs => "Vec<(i64, i64)>",
                Ty::Float => "f64",
                ty if ty.is_int() => extracted(ty, ""),
                _ => "&Bound<'_, PyAny>",
            };
            format!("{name}: {ty}")
        })
        .collect();
    format!(
        "{}fn {}(py: Python<'_>, {}) -> PyResult<{types}> {{
{unused}    no_such(py, \"{}\")?;
    Ok({values})
}}\n",
        head(spec, function, &positional(&names)),
        function.rust(),
        params.join(", "),
        function.full()
    )
}

/// The functions that the Rust files define by hand, with the module that holds them.
fn by_hand(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let folder = root.join("crates/python/src");
    for entry in std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_none_or(|ext| ext != "rs") {
            continue;
        }
        let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(&path)?.lines() {
            let name = line.strip_prefix("pub fn ").and_then(|rest| rest.split(['(', '<']).next());
            if let Some(name) = name.filter(|n| ["acl_", "rt_", "util_"].iter().any(|m| n.starts_with(m))) {
                found.insert(name.to_string(), module.clone());
            }
        }
    }
    Ok(found)
}
