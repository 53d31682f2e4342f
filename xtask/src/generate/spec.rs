//! Reads the tables under spec/ (see spec/README.md), and resolves what they leave open.
use std::collections::HashMap;
use std::path::Path;

use super::Result;

/// Product keys of spec/products.csv with the column of functions.csv that says what the product supports.
///
/// 200-300-500 has no column of its own.
/// ours: it follows the inference series, whose chip family and documents are closest to it.
pub const PRODUCT_COLUMNS: [(&str, &str); 9] = [
    ("950pr", "p950PR"),
    ("950dt", "p950DT"),
    ("a3", "A3"),
    ("a2", "A2"),
    ("200i-500-a2", "A200I_500_A2"),
    ("inference", "INFER"),
    ("training", "TRAIN"),
    ("200-300-500", "INFER"),
    ("ipv350", "IPV350"),
];

/// The product without a column.
const FOLLOWING: &str = "200-300-500";

/// Managed-memory calls that the seed does not list.
///
/// ours: they follow aclrtMemAllocManaged, since on a product without managed memory there is nothing to call them on.
const FOLLOWERS: [(&str, &str); 3] = [
    ("aclrtMemManagedAdvise", "aclrtMemAllocManaged"),
    ("aclrtMemManagedGetAttr", "aclrtMemAllocManaged"),
    ("aclrtMemManagedGetAttrs", "aclrtMemAllocManaged"),
];

/// One CSV file: rows that answer by column name.
pub struct Table {
    file: String,
    columns: HashMap<String, usize>,
    rows: Vec<csv::StringRecord>,
}

/// One row of a [`Table`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    table: &'a Table,
    record: &'a csv::StringRecord,
}

impl Table {
    /// Reads `spec/{file}` of the project.
    pub fn read(root: &Path, file: &str) -> Result<Self> {
        let path = root.join("spec").join(file);
        let mut reader =
            csv::Reader::from_path(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let columns = reader.headers()?.iter().enumerate().map(|(at, name)| (name.to_string(), at)).collect();
        let rows = reader.records().collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(Self { file: file.to_string(), columns, rows })
    }

    /// The rows, in file order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|record| Row { table: self, record })
    }
}

impl<'a> Row<'a> {
    /// The cell under `column`.
    pub fn get(self, column: &str) -> Result<&'a str> {
        let at = self.table.columns.get(column);
        at.and_then(|at| self.record.get(*at))
            .ok_or_else(|| format!("spec/{} has no column {column}", self.table.file).into())
    }

    /// The cell under `column` as a number.
    pub fn number<T: std::str::FromStr>(self, column: &str) -> Result<T> {
        let text = self.get(column)?;
        text.parse()
            .map_err(|_| format!("spec/{}: {column} is not a number: {text:?}", self.table.file).into())
    }
}

/// A parameter of a C function: C type and name; `...` has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub ty: String,
    pub name: String,
}

/// A C function or a C++ wrapper.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// Header below include/acl/; empty for a registration function.
    pub header: String,
    pub returns: String,
    pub params: Vec<Param>,
    pub chapter: String,
    /// `sync`, `async`, `conditional` or empty.
    pub sync: String,
    /// Empty, or what to use instead.
    pub deprecated: String,
    /// Bit i stands for the i-th row of products.csv.
    pub support: u16,
}

/// A case in which the seed overrules the page of a C function.
#[derive(Clone, Debug)]
pub struct Override {
    pub function: String,
    pub product: &'static str,
    pub page: bool,
    pub seed: bool,
    /// Chapter of the overruled page.
    pub chapter: String,
    /// C++ wrapper (or followed function) that decides.
    pub by: String,
    pub follower: bool,
}

/// An enumerator.
#[derive(Clone, Debug)]
pub struct Enumerator {
    pub name: String,
    pub value: i64,
}

/// An enum type with its enumerators.
#[derive(Clone, Debug)]
pub struct Enum {
    pub name: String,
    pub header: String,
    pub values: Vec<Enumerator>,
}

impl Enum {
    /// The Rust type of the same size and signedness that gcc picks.
    pub fn repr(&self) -> &'static str {
        if self.values.iter().any(|v| v.value < 0) { "i32" } else { "u32" }
    }
}

/// A field of a struct or union, with its layout on x86-64.
#[derive(Clone, Debug)]
pub struct Field {
    pub c_type: String,
    pub name: String,
    pub array: Option<usize>,
    pub offset: usize,
    pub size: usize,
    pub depth: usize,
}

/// A struct or union with its layout on x86-64.
#[derive(Clone, Debug)]
pub struct Struct {
    pub name: String,
    pub union: bool,
    pub header: String,
    pub fields: Vec<Field>,
    pub size: usize,
    pub align: usize,
}

/// A typedef.
#[derive(Clone, Debug)]
pub struct Typedef {
    pub name: String,
    pub category: String,
    pub definition: String,
    pub header: String,
}

/// An object-like macro with a value (error codes excluded).
#[derive(Clone, Debug)]
pub struct Macro {
    pub name: String,
    pub value: u64,
    pub c_type: String,
    pub header: String,
}

/// A return code.
#[derive(Clone, Debug)]
pub struct ErrorCode {
    pub name: String,
    pub value: i64,
    pub meaning: String,
    /// Error class of messages.
    pub report: String,
    pub header: String,
    /// A macro rather than a constant.
    pub is_macro: bool,
}

/// All the tables.
pub struct Spec {
    /// C functions that a header declares, in header order.
    pub functions: Vec<Function>,
    /// Functions that compiled device code calls.
    pub registration: Vec<Function>,
    pub overrides: Vec<Override>,
    pub enums: Vec<Enum>,
    pub structs: Vec<Struct>,
    pub typedefs: Vec<Typedef>,
    pub macros: Vec<Macro>,
    pub errors: Vec<ErrorCode>,
    pub products: Table,
}

impl Spec {
    /// Reads every table of the project at `root`.
    pub fn read(root: &Path) -> Result<Self> {
        let table = Table::read(root, "functions.csv")?;
        let mut functions = Vec::new();
        for row in table.rows() {
            if row.get("kind")? == "c" && !row.get("header")?.is_empty() {
                functions.push(function(row)?);
            }
        }
        let overrides = overrides(&table, &mut functions)?;
        let registration = Table::read(root, "registration.csv")?
            .rows()
            .map(registration_function)
            .collect::<Result<Vec<_>>>()?;
        let products = Table::read(root, "products.csv")?;
        for ((key, _), row) in PRODUCT_COLUMNS.iter().zip(products.rows()) {
            if row.get("key")? != *key {
                return Err(format!("products.csv: expected {key}, found {}", row.get("key")?).into());
            }
        }
        if products.rows().count() != PRODUCT_COLUMNS.len() {
            return Err("products.csv: a product is missing in PRODUCT_COLUMNS".into());
        }
        capabilities(&products, &mut functions)?;
        Ok(Self {
            functions,
            registration,
            overrides,
            enums: enums(root)?,
            structs: structs(root)?,
            typedefs: typedefs(root)?,
            macros: macros(root)?,
            errors: errors(root)?,
            products,
        })
    }

    /// Everything that the library exports: the functions of the headers, then the registration functions.
    pub fn exports(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().chain(&self.registration)
    }

    /// Whether the type of this name is a `void *` in C.
    pub fn is_handle(&self, name: &str) -> bool {
        self.typedefs.iter().any(|t| t.name == name && t.category == "opaque-handle")
    }

    /// The enum of this name.
    pub fn find_enum(&self, name: &str) -> Option<&Enum> {
        self.enums.iter().find(|e| e.name == name)
    }
}

fn function(row: Row<'_>) -> Result<Function> {
    let mut support = 0;
    for (bit, (_, column)) in PRODUCT_COLUMNS.iter().enumerate() {
        support |= u16::from(supported(row, column)?) << bit;
    }
    let deprecated = match row.get("deprecated")? {
        "no" => "",
        // The page and the header name replacements that do not exist (spec/README.md, doubt 10).
        "yes:aclSysGetVersion" => "aclsysGetVersionStr+aclsysGetVersionNum",
        text => text
            .strip_prefix("yes:")
            .ok_or_else(|| format!("functions.csv: deprecated is {text:?}, without what to use instead"))?,
    };
    Ok(Function {
        name: row.get("name")?.to_string(),
        header: row.get("header")?.to_string(),
        returns: row.get("returns")?.to_string(),
        params: params(row.get("params")?)?,
        chapter: row.get("chapter")?.to_string(),
        sync: row.get("sync_or_async")?.to_string(),
        deprecated: deprecated.to_string(),
        support,
    })
}

/// ours: a registration function has no page; start-up code of compiled programs calls it on every product.
fn registration_function(row: Row<'_>) -> Result<Function> {
    Ok(Function {
        name: row.get("name")?.to_string(),
        header: String::new(),
        returns: row.get("returns")?.to_string(),
        params: params(row.get("params")?)?,
        chapter: String::new(),
        sync: String::new(),
        deprecated: String::new(),
        support: (1 << PRODUCT_COLUMNS.len()) - 1,
    })
}

/// ours: `unknown` (no page says) counts as supported.
fn supported(row: Row<'_>, column: &str) -> Result<bool> {
    match row.get(column)? {
        "yes" | "unknown" => Ok(true),
        "no" => Ok(false),
        other => Err(format!("functions.csv: {column} is {other:?}").into()),
    }
}

/// Applies decision 2 of the design: where the seed's product row of a C++ wrapper and the page of the C function
/// below it disagree, the seed holds for the C function too.
fn overrides(table: &Table, functions: &mut [Function]) -> Result<Vec<Override>> {
    let mut found: Vec<Override> = Vec::new();
    for row in table.rows() {
        if row.get("kind")? != "cpp-template" {
            continue;
        }
        let (wrapper, wraps) = (row.get("name")?, row.get("wraps")?);
        let c = functions
            .iter_mut()
            .find(|f| f.name == wraps)
            .ok_or_else(|| format!("functions.csv: {wrapper} wraps {wraps}, which is not a C function"))?;
        for (bit, (key, column)) in PRODUCT_COLUMNS.iter().enumerate() {
            let (page, seed) = (c.support >> bit & 1 == 1, supported(row, column)?);
            // The row without a column follows another product's, and so does its difference.
            if page != seed {
                c.support ^= 1 << bit;
                found.push(Override {
                    function: c.name.clone(),
                    product: key,
                    page,
                    seed,
                    chapter: c.chapter.clone(),
                    by: format!("{wrapper} (C++)"),
                    follower: false,
                });
            }
        }
    }
    for (name, leader) in FOLLOWERS {
        let lead = functions.iter().find(|f| f.name == leader).map(|f| f.support);
        let (Some(lead), Some(c)) = (lead, functions.iter_mut().find(|f| f.name == name)) else {
            return Err(format!("functions.csv: {name} or {leader} is missing").into());
        };
        for (bit, (key, _)) in PRODUCT_COLUMNS.iter().enumerate() {
            let (page, seed) = (c.support >> bit & 1 == 1, lead >> bit & 1 == 1);
            if page != seed {
                c.support ^= 1 << bit;
                found.push(Override {
                    function: name.to_string(),
                    product: key,
                    page,
                    seed,
                    chapter: c.chapter.clone(),
                    by: leader.to_string(),
                    follower: true,
                });
            }
        }
    }
    Ok(found)
}

/// Columns of products.csv that say whether a product has the thing at all, with the functions that need it.
const CAPABILITIES: [(&str, &[&str]); 3] = [
    (
        "uvm",
        &[
            "aclrtMemAllocManaged",
            "aclrtMemManagedAdvise",
            "aclrtMemManagedGetAttr",
            "aclrtMemManagedGetAttrs",
            "aclrtMemManagedPrefetchAsync",
            "aclrtMemManagedPrefetchBatchAsync",
        ],
    ),
    ("host_register", &["aclrtHostRegister", "aclrtHostRegisterV2", "aclrtHostGetDevicePointer"]),
    (
        "symbol",
        &[
            "aclrtGetSymbolAddress",
            "aclrtGetSymbolSize",
            "aclrtMemcpyFromSymbol",
            "aclrtMemcpyFromSymbolAsync",
            "aclrtMemcpyToSymbol",
            "aclrtMemcpyToSymbolAsync",
        ],
    ),
];

/// Makes functions.csv and products.csv tell the same story: the product that only follows another one loses what
/// products.csv denies it; for every other product a contradiction is an error in the tables.
fn capabilities(products: &Table, functions: &mut [Function]) -> Result<()> {
    for (column, names) in CAPABILITIES {
        for (bit, row) in products.rows().enumerate() {
            let (key, has) = (row.get("key")?, row.get(column)? == "yes");
            for function in functions.iter_mut().filter(|f| names.contains(&f.name.as_str())) {
                if (function.support >> bit & 1 == 1) == has {
                    continue;
                }
                if key != FOLLOWING {
                    let name = &function.name;
                    return Err(format!("{key}: products.csv says {column}={has}, but not so {name}").into());
                }
                function.support ^= 1 << bit;
            }
        }
    }
    Ok(())
}

fn params(text: &str) -> Result<Vec<Param>> {
    text.split(';').map(str::trim).filter(|p| !p.is_empty()).map(param).collect()
}

fn param(text: &str) -> Result<Param> {
    if text == "..." {
        return Ok(Param { ty: text.to_string(), name: String::new() });
    }
    // A function pointer has its name in the middle: `int32_t (*const callback)(int32_t)`.
    let end = match text.find("(*") {
        Some(open) => text[open..].find(')').map(|at| open + at),
        None => Some(text.len()),
    }
    .ok_or_else(|| format!("functions.csv: cannot read parameter {text:?}"))?;
    let start = text[..end].rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    let (name, before, after) = (&text[start..end], &text[..start], &text[end..]);
    if name.is_empty() || before.trim().is_empty() {
        return Err(format!("functions.csv: parameter without a name or type: {text:?}").into());
    }
    Ok(Param { ty: format!("{}{after}", before.trim_end()), name: name.to_string() })
}

fn enums(root: &Path) -> Result<Vec<Enum>> {
    let table = Table::read(root, "enums.csv")?;
    let mut all: Vec<Enum> = Vec::new();
    for row in table.rows() {
        let name = row.get("enum_type")?;
        let value = Enumerator { name: row.get("constant")?.to_string(), value: row.number("value")? };
        match all.iter_mut().find(|e| e.name == name) {
            Some(known) => known.values.push(value),
            None => all.push(Enum {
                name: name.to_string(),
                header: row.get("header")?.to_string(),
                values: vec![value],
            }),
        }
    }
    Ok(all)
}

fn structs(root: &Path) -> Result<Vec<Struct>> {
    let table = Table::read(root, "structs.csv")?;
    let mut all: Vec<Struct> = Vec::new();
    for row in table.rows() {
        let array = row.get("array_length")?;
        let field = Field {
            c_type: row.get("c_type")?.to_string(),
            name: row.get("field_name")?.to_string(),
            array: if array.is_empty() { None } else { Some(row.number("array_length")?) },
            offset: row.number("offset")?,
            size: row.number("field_size")?,
            depth: row.number("nesting_depth")?,
        };
        let name = row.get("struct")?;
        match all.iter_mut().find(|s| s.name == name) {
            Some(known) => known.fields.push(field),
            None => all.push(Struct {
                name: name.to_string(),
                union: row.get("kind")? == "union",
                header: row.get("header")?.to_string(),
                fields: vec![field],
                size: row.number("sizeof")?,
                align: row.number("alignof")?,
            }),
        }
    }
    Ok(all)
}

fn typedefs(root: &Path) -> Result<Vec<Typedef>> {
    Table::read(root, "typedefs.csv")?
        .rows()
        .map(|row| {
            Ok(Typedef {
                name: row.get("name")?.to_string(),
                category: row.get("category")?.to_string(),
                definition: row.get("definition")?.to_string(),
                header: row.get("header")?.to_string(),
            })
        })
        .collect()
}

fn macros(root: &Path) -> Result<Vec<Macro>> {
    let table = Table::read(root, "macros.csv")?;
    let mut all = Vec::new();
    for row in table.rows() {
        if row.get("kind")? == "value" {
            all.push(Macro {
                name: row.get("name")?.to_string(),
                value: row.number("value")?,
                c_type: row.get("c_type")?.to_string(),
                header: row.get("header")?.to_string(),
            });
        }
    }
    Ok(all)
}

fn errors(root: &Path) -> Result<Vec<ErrorCode>> {
    Table::read(root, "error_codes.csv")?
        .rows()
        .map(|row| {
            Ok(ErrorCode {
                name: row.get("macro")?.to_string(),
                value: row.number("value")?,
                meaning: row.get("meaning")?.to_string(),
                report: row.get("report")?.to_string(),
                header: row.get("header")?.to_string(),
                is_macro: row.get("c_form")? == "macro",
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> (String, String) {
        let param = param(text).unwrap();
        (param.ty, param.name)
    }

    #[test]
    fn a_parameter_splits_into_type_and_name() {
        assert_eq!(one("void *data"), ("void *".into(), "data".into()));
        assert_eq!(one("const void *const ptr"), ("const void *const".into(), "ptr".into()));
        assert_eq!(one("uint64_t **ptr"), ("uint64_t **".into(), "ptr".into()));
        assert_eq!(one("..."), ("...".into(), String::new()));
        assert_eq!(
            one("int32_t (*const cb)(const acldumpChunk *, int32_t)"),
            ("int32_t (*const)(const acldumpChunk *, int32_t)".into(), "cb".into())
        );
        assert!(param("size_t").is_err());
    }

    #[test]
    fn the_seed_overrules_the_page() {
        let spec = Spec::read(&crate::test::process::root()).unwrap();
        let support = |name: &str, product: usize| {
            spec.functions.iter().find(|f| f.name == name).unwrap().support >> product & 1 == 1
        };
        let bit = |key: &str| PRODUCT_COLUMNS.iter().position(|(k, _)| *k == key).unwrap();
        assert!(!support("aclrtHostRegister", bit("950dt")), "seed says no, page says yes");
        assert!(support("aclrtHostUnregister", bit("training")), "seed says yes, page says no");
        assert!(support("aclrtMallocWithCfg", bit("ipv350")), "seed says yes, page says no");
        assert!(!support("aclrtMemManagedAdvise", bit("a3")), "follows the allocation");
        assert!(!support("aclrtMemcpyAsync", bit("ipv350")), "both say no");
        assert!(support("aclrtMemcpyToSymbol", bit("inference")));
        assert!(!support("aclrtMemcpyToSymbol", bit("200-300-500")), "products.csv: no device variables");
        assert!(support("aclrtDeviceL2CacheFlush", bit("ipv350")), "no page: supported");
        assert_eq!(spec.overrides.iter().filter(|o| !o.follower).count(), 9);
    }
}
