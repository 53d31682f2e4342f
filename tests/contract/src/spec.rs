//! The tables under `spec/`, read when the suite starts: rules, functions and their support, products, and what is not built.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use ascendcl_sys as sys;

/// The files with rules.
const RULES: [&str; 3] = ["constraints.csv", "constraints_02_04_08_13.csv", "constraints_11x_14_15_24.csv"];

/// Columns of functions.csv, and as rules name products, with their keys in products.csv.
pub const PRODUCTS: [(&str, &str); 9] = [
    ("p950PR", "950pr"),
    ("p950DT", "950dt"),
    ("A3", "a3"),
    ("A2", "a2"),
    ("A200I_500_A2", "200i-500-a2"),
    ("INFER", "inference"),
    ("TRAIN", "training"),
    ("OLD_200_300_500", "200-300-500"),
    ("IPV350", "ipv350"),
];

/// ours: 200-300-500 has no column in functions.csv and follows the inference series.
const FOLLOWING: (&str, &str) = ("200-300-500", "inference");

/// ours: managed-memory calls that the seed does not list follow the allocation (docs/differences.md).
const MANAGED_FOLLOWERS: [&str; 3] =
    ["aclrtMemManagedAdvise", "aclrtMemManagedGetAttr", "aclrtMemManagedGetAttrs"];

/// What 200-300-500 loses by its own row of products.csv: column, and the words that its functions have in common.
const DENIED: [(&str, &[&str]); 3] = [
    ("uvm", &["Managed"]),
    ("host_register", &["aclrtHostRegister", "aclrtHostGetDevicePointer"]),
    ("symbol", &["GetSymbol", "FromSymbol", "ToSymbol"]),
];

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// `aclrtMemcpy#05`.
    pub id: String,
    /// C function, `name<cpp>` for a wrapper, `*` for all.
    pub function: String,
    /// The rule's text.
    pub text: String,
    /// Result as the table says it.
    pub expected: String,
    /// Products as the table says them.
    pub products: String,
    /// The C function that it is about: itself, or that below a wrapper.
    base: String,
    /// Where it comes from.
    pub source: String,
    /// For what the documents leave open, or where another row wins: the code, then a colon and the reason.
    pub decision: String,
}

impl Rule {
    /// The C function that it is about: itself, or that below a wrapper.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The code that the rule demands: that of the decision if there is one.
    pub fn code(&self) -> Option<i32> {
        let text = if self.decision.is_empty() { &self.expected } else { &self.decision };
        let name = text.split([':', ';', ' ']).next().unwrap_or_default();
        if name == "ACL_SUCCESS" { Some(0) } else { sys::errors::value(name) }
    }

    /// The generation whose page it is, if not the newest's.
    pub fn old_page(&self) -> Option<u8> {
        // Seed 004 is the older page of aclrtMemcpyAsync, 003 the pyACL page.
        match self.source.get(..8) {
            Some("seed:004") => Some(8),
            Some("seed:003") => Some(5),
            _ => None,
        }
    }
}

/// One row of products.csv.
#[derive(Clone, Debug)]
pub struct Product {
    /// `a2`.
    pub key: String,
    cells: BTreeMap<String, String>,
}

impl Product {
    /// A cell; empty when the table says nothing.
    pub fn get(&self, column: &str) -> &str {
        match self.cells.get(column) {
            Some(cell) => cell,
            None => panic!("products.csv has no column {column}"),
        }
    }

    /// A cell as a number.
    pub fn number(&self, column: &str) -> u64 {
        self.get(column)
            .parse()
            .unwrap_or_else(|_| panic!("products.csv: {column} of {} is no number", self.key))
    }

    /// A cell that says yes or no.
    pub fn has(&self, column: &str) -> bool {
        self.get(column) == "yes"
    }

    /// A cell that is a list.
    pub fn list(&self, column: &str) -> impl Iterator<Item = &str> {
        self.get(column).split(';').filter(|item| !item.is_empty())
    }
}

/// A C function of the headers.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// C return type.
    pub returns: String,
    /// Chapter of the documentation.
    pub chapter: String,
    /// Keys of the products that have it.
    support: HashSet<&'static str>,
}

/// All of it.
pub struct Spec {
    /// In file order.
    pub rules: Vec<Rule>,
    /// In the table's order.
    pub products: Vec<Product>,
    /// C functions of the headers by name.
    pub functions: BTreeMap<String, Function>,
    /// Functions that are exported but not built.
    pub unbuilt: HashSet<String>,
}

/// The project's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

type Cells = HashMap<String, String>;

/// Variable with a folder of tables that stands for the project's: for tests of the suite itself.
pub const TABLES: &str = "CONTRACT_SPEC";

fn read(file: &str) -> Result<Vec<Cells>, String> {
    let folder = std::env::var_os(TABLES).map_or_else(|| root().join("spec"), PathBuf::from);
    let path = folder.join(file);
    let failed = |error: csv::Error| format!("{}: {error}", path.display());
    let mut reader = csv::Reader::from_path(&path).map_err(failed)?;
    reader.deserialize().collect::<Result<Vec<Cells>, _>>().map_err(failed)
}

fn cell(row: &Cells, column: &str) -> Result<String, String> {
    row.get(column).cloned().ok_or_else(|| format!("a table under spec/ has no column {column}"))
}

impl Spec {
    /// Reads every table that the suite needs.
    pub fn read() -> Result<Spec, String> {
        let products = products()?;
        let functions = functions(&products)?;
        let wraps = wrappers()?;
        let mut rules = Vec::new();
        for file in RULES {
            for row in read(file)? {
                let function = cell(&row, "function")?;
                let below = function.strip_suffix("<cpp>").and_then(|name| wraps.get(name));
                rules.push(Rule {
                    id: cell(&row, "constraint_id")?,
                    base: below.unwrap_or(&function).clone(),
                    function,
                    text: cell(&row, "constraint")?,
                    expected: cell(&row, "expected_result")?,
                    products: cell(&row, "products")?,
                    source: cell(&row, "source")?,
                    decision: cell(&row, "decision")?,
                });
            }
        }
        Ok(Spec { rules, products, functions, unbuilt: unbuilt()? })
    }

    /// Whether a product has a C function. False for names that no header declares.
    pub fn supports(&self, function: &str, product: &str) -> bool {
        self.functions.get(function).is_some_and(|function| function.support.contains(product))
    }

    /// Chapter of a rule, as file names have it; rules of no single function are `all`.
    pub fn chapter(&self, rule: &Rule) -> &str {
        let name = rule.function.strip_suffix("<cpp>").unwrap_or(&rule.function);
        match self.functions.get(name) {
            Some(function) if !function.chapter.is_empty() => &function.chapter,
            _ => "all",
        }
    }

    /// Keys of the products that a rule is about; None when it describes chips in words.
    pub fn products_of(&self, rule: &Rule) -> Option<Vec<&'static str>> {
        let keys = || PRODUCTS.iter().map(|(_, key)| *key);
        if rule.products == "all" {
            let have: Vec<_> = keys().filter(|key| self.supports(rule.base(), key)).collect();
            // A rule of no single function, or of one that no product has: refused everywhere.
            return Some(if have.is_empty() { keys().collect() } else { have });
        }
        let mut named = Vec::new();
        for name in rule.products.split(';') {
            let (_, key) = PRODUCTS.iter().find(|(column, _)| *column == name)?;
            named.push(*key);
            // The follower behaves as the product that it follows, where no rule is about the old page itself.
            if *key == FOLLOWING.1 && rule.old_page().is_none() {
                named.push(FOLLOWING.0);
            }
        }
        Some(named)
    }
}

fn products() -> Result<Vec<Product>, String> {
    let mut products = Vec::new();
    for row in read("products.csv")? {
        products.push(Product { key: cell(&row, "key")?, cells: row.into_iter().collect() });
    }
    Ok(products)
}

fn functions(products: &[Product]) -> Result<BTreeMap<String, Function>, String> {
    let rows = read("functions.csv")?;
    let mut functions = BTreeMap::new();
    let support = |row: &Cells| -> Result<HashSet<&'static str>, String> {
        let mut support = HashSet::new();
        for (column, key) in PRODUCTS {
            let column = if key == FOLLOWING.0 { "INFER" } else { column };
            // ours: `unknown` counts as supported.
            if cell(row, column)? != "no" {
                support.insert(key);
            }
        }
        Ok(support)
    };
    for row in rows.iter().filter(|row| row.get("kind").is_some_and(|kind| kind == "c")) {
        if cell(row, "header")?.is_empty() {
            continue;
        }
        let function = Function {
            returns: cell(row, "returns")?,
            chapter: cell(row, "chapter")?,
            support: support(row)?,
        };
        functions.insert(cell(row, "name")?, function);
    }
    // The seed's product row of a C++ wrapper governs the C function below it.
    for row in rows.iter().filter(|row| row.get("kind").is_some_and(|kind| kind == "cpp-template")) {
        if let Some(function) = functions.get_mut(&cell(row, "wraps")?) {
            function.support = support(row)?;
        }
    }
    let managed = functions.get("aclrtMemAllocManaged").map(|function: &Function| function.support.clone());
    for name in MANAGED_FOLLOWERS {
        if let (Some(function), Some(managed)) = (functions.get_mut(name), &managed) {
            function.support.clone_from(managed);
        }
    }
    let follower = products.iter().find(|product| product.key == FOLLOWING.0);
    for (column, words) in DENIED {
        if follower.is_some_and(|product| !product.has(column)) {
            for (name, function) in &mut functions {
                if words.iter().any(|word| name.contains(word)) {
                    function.support.remove(FOLLOWING.0);
                }
            }
        }
    }
    Ok(functions)
}

/// The C function below each C++ wrapper; that of the first form where there are several.
fn wrappers() -> Result<HashMap<String, String>, String> {
    let mut wraps = HashMap::new();
    for row in read("functions.csv")? {
        if row.get("kind").is_some_and(|kind| kind == "cpp-template") {
            wraps.entry(cell(&row, "name")?).or_insert(cell(&row, "wraps")?);
        }
    }
    Ok(wraps)
}

/// The names in the generated list of the command.
fn unbuilt() -> Result<HashSet<String>, String> {
    let path = root().join("crates/cli/src/unbuilt.rs");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text
        .lines()
        .filter_map(|line| Some(line.trim().strip_prefix('"')?.split('"').next()?.to_owned()))
        .collect())
}
