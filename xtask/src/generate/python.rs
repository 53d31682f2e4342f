//! `crates/python/`: the functions of module `acl` whose shape follows from the tables, constants and type stubs.
//!
//! `spec/pyacl.csv` gives names, arguments and shapes, `functions.csv` what is called, `pyacl_docs.csv` what the help says.
//! A function whose arguments are no plain numbers and texts is written by hand in `crates/python/src/`, under the
//! name that it would have here (`rt_malloc_with_cfg`); one that is neither is an error.
mod functions;
mod gil;
mod names;
mod shape;
mod stubs;

use std::collections::BTreeMap;
use std::path::Path;

use super::spec::{Function, Spec, Table};
use super::{Output, Result};

pub use functions::{helps, text as functions};
pub use names::constants;
pub use stubs::outputs as stubs;

/// Type of an argument or result, as the table writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    I32,
    U32,
    I64,
    U64,
    U16,
    /// An address, handle or size.
    Word,
    Float,
    Str,
    /// A text that may be left out.
    OptionalStr,
    Bytes,
    Dict,
    Ints,
    Pairs,
    Dicts,
    Callable,
    OptionalCallable,
    Object,
    Array,
    Shape,
}

impl Ty {
    fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "int(i32)" => Self::I32,
            "int(u32)" => Self::U32,
            "int(i64)" => Self::I64,
            "int(u64)" => Self::U64,
            "int(u16)" => Self::U16,
            "int(ptr/ulong)" => Self::Word,
            "float" => Self::Float,
            "str" => Self::Str,
            "s?" => Self::OptionalStr,
            "bytes" => Self::Bytes,
            "dict" => Self::Dict,
            "list[int]" => Self::Ints,
            "list[list2]" => Self::Pairs,
            "list[dict]" => Self::Dicts,
            "callable" => Self::Callable,
            "callable?" => Self::OptionalCallable,
            "object" => Self::Object,
            "ndarray" => Self::Array,
            "tuple[int]" => Self::Shape,
            other => return Err(format!("pyacl.csv: unknown type {other:?}").into()),
        })
    }

    fn is_int(self) -> bool {
        matches!(self, Self::I32 | Self::U32 | Self::I64 | Self::U64 | Self::U16 | Self::Word)
    }
}

/// An argument or result.
#[derive(Clone, Debug)]
pub struct Value {
    pub name: String,
    pub ty: Ty,
}

/// What a function gives back.
#[derive(Clone, Debug)]
pub enum Returns {
    Nothing,
    /// One value, or the code alone.
    One(Value),
    /// Values and, last, the code.
    Tuple(Vec<Value>),
}

/// Where the arguments come from.
#[derive(Clone, Debug)]
pub enum Args {
    /// The table knows them.
    Known(Vec<Value>),
    /// Only the name is known.
    Unknown,
}

/// One function of the module.
#[derive(Clone, Debug)]
pub struct PyFunction {
    /// `acl`, `acl.rt`, `acl.util`, `acl.mdl`.
    pub module: &'static str,
    pub name: String,
    /// The C function, if there is one.
    pub c: String,
    pub args: Args,
    pub returns: Returns,
    /// One sentence.
    pub summary: String,
    /// `size: bytes; timeout: ms`
    pub units: String,
    pub seed: bool,
}

impl PyFunction {
    /// Name of the Rust function: `rt_malloc`.
    pub fn rust(&self) -> String {
        format!("{}_{}", self.module.rsplit('.').next().unwrap_or_default(), self.name)
    }

    /// `acl.rt.malloc`
    pub fn full(&self) -> String {
        format!("{}.{}", self.module, self.name)
    }
}

/// The functions of the table, in its order.
pub fn table(root: &Path) -> Result<Vec<PyFunction>> {
    let mut docs = BTreeMap::new();
    for row in Table::read(root, "pyacl_docs.csv")?.rows() {
        docs.insert(
            row.get("python_name")?.to_string(),
            (row.get("summary")?.to_string(), row.get("units")?.to_string()),
        );
    }
    let mut all = Vec::new();
    for row in Table::read(root, "pyacl.csv")?.rows() {
        let name = row.get("python_name")?;
        // ours: the seven names whose module the table does not know stand in `acl.mdl`, where the model calls of dumps are.
        let (module, name) = match name.rsplit_once('.') {
            Some(("acl", name)) => ("acl", name),
            Some(("acl.rt", name)) => ("acl.rt", name),
            Some(("acl.util", name)) => ("acl.util", name),
            None => ("acl.mdl", name),
            Some((other, _)) => return Err(format!("pyacl.csv: unknown module {other:?}").into()),
        };
        let unknown = row.get("args")? == "unknown";
        let full = format!("{module}.{name}");
        let (summary, units) =
            docs.remove(&full).ok_or_else(|| format!("pyacl_docs.csv: no row for {full}"))?;
        all.push(PyFunction {
            module,
            name: name.to_string(),
            c: row.get("c_function")?.to_string(),
            args: if unknown { Args::Unknown } else { Args::Known(values(row.get("args")?, ';')?) },
            returns: if unknown { Returns::Nothing } else { returns(row.get("returns")?)? },
            summary,
            units,
            seed: row.get("in_seed")? == "yes",
        });
    }
    match docs.keys().next() {
        Some(name) => Err(format!("pyacl_docs.csv: {name} is not in pyacl.csv").into()),
        None => Ok(all),
    }
}

fn values(text: &str, between: char) -> Result<Vec<Value>> {
    text.split(between)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, ty) = part.split_once(':').ok_or_else(|| format!("pyacl.csv: no type in {part:?}"))?;
            Ok(Value { name: name.trim().to_string(), ty: Ty::parse(ty.trim())? })
        })
        .collect()
}

fn returns(text: &str) -> Result<Returns> {
    if text == "None" {
        return Ok(Returns::Nothing);
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        return Ok(Returns::Tuple(values(inner, ',')?));
    }
    let mut one = values(text, ',')?;
    match (one.pop(), one.is_empty()) {
        (Some(value), true) => Ok(Returns::One(value)),
        _ => Err(format!("pyacl.csv: cannot read {text:?}").into()),
    }
}

/// The C function of that name.
fn find<'a>(spec: &'a Spec, name: &str) -> Option<&'a Function> {
    spec.functions.iter().find(|f| f.name == name)
}

/// `devPtr` as `dev_ptr`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Everything below crates/python that is generated.
pub fn outputs(root: &Path, spec: &Spec) -> Result<Vec<Output>> {
    let mut table = table(root)?;
    for function in &mut table {
        shape::derive(spec, function)?;
    }
    let mut all = vec![
        super::rust("crates/python/src/generated/functions.rs", &functions(root, spec, &table)?)?,
        super::rust("crates/python/src/generated/help.rs", &helps(root, spec, &table)?)?,
        super::rust("crates/python/src/generated/mod.rs", MOD)?,
        constants(spec)?,
    ];
    all.append(&mut stubs(spec, &table)?);
    Ok(all)
}

const MOD: &str = "//! Functions generated from spec/pyacl.csv, and what `help` says of the others.
#[macro_use]
mod help;
pub mod functions;
";
