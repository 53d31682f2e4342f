//! The tables of `spec/`, packed into the command: what each function looks like and which rules it has. What a product
//! supports is not decided here: that is the gate's table.

use std::collections::HashMap;

use toprope_runtime::generated::api::Api;
use toprope_runtime::generated::products::PRODUCTS;

use crate::Refused;
use crate::unbuilt::UNBUILT;

const FUNCTIONS: &str = include_str!("../../../spec/functions.csv");
const REGISTRATION: &str = include_str!("../../../spec/registration.csv");
const PYTHON: &str = include_str!("../../../spec/pyacl.csv");
const PRODUCT_TABLE: &str = include_str!("../../../spec/products.csv");
const RULES: [&str; 3] = [
    include_str!("../../../spec/constraints.csv"),
    include_str!("../../../spec/constraints_02_04_08_13.csv"),
    include_str!("../../../spec/constraints_11x_14_15_24.csv"),
];

/// One row of a table: cells by column name.
pub type Cells = HashMap<String, String>;

/// What kind of function it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A C function of a public header.
    C,
    /// A C++ overload or template over a C function.
    Cpp,
    /// A function that compiled device code calls.
    Registration,
    /// Documented, but no public header declares it.
    Documented,
}

impl Kind {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::C => "c",
            Kind::Cpp => "c++",
            Kind::Registration => "registration",
            Kind::Documented => "documented only",
        }
    }
}

/// A function, or one overload of it.
pub struct Function {
    pub name: String,
    pub kind: Kind,
    pub header: String,
    pub signature: String,
    pub chapter: String,
    /// `sync`, `async`, `conditional`, or empty: no document says.
    pub sync: String,
    /// Where that stands: `page`, or a rule.
    pub sync_source: String,
    /// What to use instead, or empty.
    pub deprecated: String,
    /// The C function below a C++ overload.
    pub wraps: String,
    pub note: String,
    /// Bit i: supported on the i-th product. None: not exported, so that no gate answers.
    pub support: Option<u16>,
    pub built: bool,
}

impl Function {
    /// `built`, `not built` or `not exported`.
    pub fn status(&self) -> &'static str {
        match (self.support, self.built) {
            (None, _) => "not exported",
            (_, true) => "built",
            (_, false) => "not built",
        }
    }

    /// What is known of when it returns.
    pub fn call(&self) -> &str {
        if self.sync.is_empty() { "unknown" } else { &self.sync }
    }
}

/// One row of `spec/constraints*.csv`.
pub struct Rule {
    /// C function, `name<cpp>` for an overload, `*` for all.
    pub function: String,
    pub id: String,
    pub text: String,
    pub expected: String,
    /// As the table names products.
    pub products: String,
    /// Bit i: about the i-th product. None: about chips that it describes in words.
    pub about: Option<u16>,
    pub source: String,
    pub confidence: String,
    /// Ours, where the documents leave the answer open; or empty.
    pub decision: String,
    /// The generation whose page it is, where it is an older one's.
    pub generation: Option<u8>,
}

/// Everything.
pub struct Facts {
    /// C functions and overloads in header order, registration functions, then what is only documented.
    pub functions: Vec<Function>,
    pub rules: Vec<Rule>,
    /// C name to Python name.
    pub python: Vec<(String, String)>,
}

fn table(text: &str) -> Result<Vec<Cells>, Refused> {
    csv::Reader::from_reader(text.as_bytes())
        .into_deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error| format!("a table of this build is damaged: {error}").into())
}

/// The rows of products.csv, in the order of [`PRODUCTS`].
pub fn products() -> Result<Vec<Cells>, Refused> {
    table(PRODUCT_TABLE)
}

fn cell(row: &Cells, column: &str) -> String {
    row.get(column).cloned().unwrap_or_default()
}

fn signature(row: &Cells) -> String {
    let params = cell(row, "params").replace(';', ",");
    let params = if params.is_empty() { "void" } else { &params };
    let returns = cell(row, "returns");
    let gap = if returns.ends_with('*') { "" } else { " " };
    let types: Vec<_> = cell(row, "template_params")
        .split(',')
        .filter(|name| !name.is_empty())
        .map(|name| format!("typename {}", name.trim()))
        .collect();
    let template = if types.is_empty() { String::new() } else { format!("template <{}> ", types.join(", ")) };
    format!("{template}{returns}{gap}{}({params})", cell(row, "name"))
}

fn function(row: &Cells, kind: Kind) -> Function {
    let (name, wraps) = (cell(row, "name"), cell(row, "wraps"));
    // An overload is a line over its C function: the gate answers for that one.
    let gate = Api::by_name(if kind == Kind::Cpp { &wraps } else { &name });
    let support = gate.filter(|_| kind != Kind::Documented).map(|api| api.function().support);
    let built = gate.is_some_and(|api| UNBUILT.binary_search(&api.name()).is_err());
    let deprecated = cell(row, "deprecated");
    Function {
        signature: signature(row),
        header: cell(row, "header"),
        chapter: cell(row, "chapter"),
        sync: cell(row, "sync_or_async"),
        sync_source: cell(row, "sync_source"),
        deprecated: if deprecated == "no" { String::new() } else { deprecated.replace("yes:", "") },
        note: if kind == Kind::Registration { cell(row, "meaning") } else { cell(row, "note") },
        name,
        kind,
        wraps,
        support,
        built,
    }
}

fn rule(row: &Cells, names: &[String]) -> Rule {
    let (products, source) = (cell(row, "products"), cell(row, "source"));
    // Seed 004 is the older page of aclrtMemcpyAsync, 003 the pyACL page.
    let generation = match source.get(..8) {
        Some("seed:004") => Some(8),
        Some("seed:003") => Some(5),
        _ => None,
    };
    Rule {
        about: about(&products, generation.is_some(), names),
        function: cell(row, "function"),
        id: cell(row, "constraint_id"),
        text: cell(row, "constraint"),
        expected: cell(row, "expected_result"),
        confidence: cell(row, "confidence"),
        decision: cell(row, "decision"),
        products,
        source,
        generation,
    }
}

/// A product has a name of its own, and that of the product that it follows where no older page is meant.
fn about(products: &str, old_page: bool, names: &[String]) -> Option<u16> {
    if products == "all" {
        return Some(u16::MAX);
    }
    let known = |own: &str, name: &str| own.split(';').take(if old_page { 1 } else { 2 }).any(|n| n == name);
    products.split(';').try_fold(0, |bits, name| {
        let found =
            names.iter().enumerate().filter(|(_, own)| known(own, name)).fold(0, |b, (at, _)| b | 1 << at);
        (found != 0).then_some(bits | found)
    })
}

impl Rule {
    /// Keys of the products that it names, None when it names none; or its own words.
    pub fn products(&self) -> Option<Result<Vec<&'static str>, &str>> {
        match self.about {
            Some(u16::MAX) => None,
            Some(bits) => Some(Ok(keys(bits))),
            None => Some(Err(&self.products)),
        }
    }
}

impl Facts {
    /// Unpacks the tables.
    pub fn read() -> Result<Facts, Refused> {
        let mut functions = Vec::new();
        let rows = table(FUNCTIONS)?;
        let kind = |row: &Cells| match (cell(row, "kind").as_str(), cell(row, "header").is_empty()) {
            ("cpp-template", _) => Kind::Cpp,
            (_, true) => Kind::Documented,
            _ => Kind::C,
        };
        functions.extend(rows.iter().filter(|r| kind(r) != Kind::Documented).map(|r| function(r, kind(r))));
        functions.extend(table(REGISTRATION)?.iter().map(|row| function(row, Kind::Registration)));
        functions.extend(rows.iter().filter(|r| kind(r) == Kind::Documented).map(|r| function(r, kind(r))));
        let names: Vec<_> = products()?.iter().map(|row| cell(row, "rules_names")).collect();
        let mut rules = Vec::new();
        for text in RULES {
            rules.extend(table(text)?.iter().map(|row| rule(row, &names)));
        }
        let python = table(PYTHON)?
            .iter()
            .map(|row| (cell(row, "c_function"), cell(row, "python_name")))
            .filter(|(c, _)| !c.is_empty())
            .collect();
        Ok(Facts { functions, rules, python })
    }

    /// The function, enum or `*` that the name means: a C name, whatever its case, or a Python name.
    pub fn resolve(&self, name: &str) -> Option<&str> {
        let python = self.python.iter().find(|(_, python)| python == name).map(|(c, _)| c.as_str());
        let wanted = python.unwrap_or(name);
        let all = self.functions.iter().map(|f| &f.name).chain(self.rules.iter().map(|r| &r.function));
        all.map(String::as_str).find(|known| known.eq_ignore_ascii_case(wanted))
    }

    /// The names most like a misspelt one, best first.
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        let lower = name.to_ascii_lowercase();
        let mut ranked: Vec<_> = self
            .functions
            .iter()
            .map(|f| (distance(&lower, &f.name.to_ascii_lowercase()), f.name.as_str()))
            .collect();
        ranked.sort_unstable();
        ranked.dedup();
        let best = ranked.first().map_or(0, |(distance, _)| *distance);
        ranked.iter().take_while(|(distance, _)| *distance <= best + 2).take(5).map(|(_, n)| *n).collect()
    }
}

/// How many letters must be put in, taken out, replaced or swapped with the next one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let width = b.len() + 1;
    let mut cells: Vec<usize> = vec![0; (a.len() + 1) * width];
    for row in 0..=a.len() {
        for column in 0..width {
            let here = row * width + column;
            cells[here] = if row == 0 || column == 0 {
                row + column
            } else {
                let same = a[row - 1] == b[column - 1];
                let replaced = cells[here - width - 1] + usize::from(!same);
                let mut least = replaced.min(cells[here - width] + 1).min(cells[here - 1] + 1);
                if row > 1 && column > 1 && a[row - 1] == b[column - 2] && a[row - 2] == b[column - 1] {
                    least = least.min(cells[here - 2 * width - 2] + 1);
                }
                least
            };
        }
    }
    cells.last().copied().unwrap_or(0)
}

/// Keys of the products whose bits are set.
pub fn keys(bits: u16) -> Vec<&'static str> {
    PRODUCTS
        .iter()
        .enumerate()
        .filter(|(at, _)| bits >> at & 1 == 1)
        .map(|(_, product)| product.key)
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts::read().ok().unwrap()
    }

    /// Every function that the library exports is told about, and nothing that it does not export.
    #[test]
    fn all_exports_are_there() {
        let facts = facts();
        for api in Api::all() {
            let found = facts.functions.iter().filter(|f| f.name == api.name() && f.kind != Kind::Cpp);
            assert_eq!(found.count(), 1, "{}", api.name());
        }
        for f in &facts.functions {
            assert_eq!(f.support.is_none(), f.kind == Kind::Documented, "{}", f.name);
        }
    }

    /// The tables and the gate list the products in one order.
    #[test]
    fn products_agree() {
        let keys: Vec<_> = products().ok().unwrap().iter().map(|row| cell(row, "key")).collect();
        assert_eq!(keys, PRODUCTS.iter().map(|p| p.key).collect::<Vec<_>>());
    }

    /// A call's nature has a source, and a source that is a rule exists.
    #[test]
    fn natures_have_sources() {
        let facts = facts();
        for f in &facts.functions {
            assert_eq!(f.sync.is_empty(), f.sync_source.is_empty(), "{}", f.name);
            let is_rule = facts.rules.iter().any(|rule| rule.id == f.sync_source);
            assert!(is_rule || matches!(f.sync_source.as_str(), "" | "page"), "{}", f.sync_source);
        }
    }

    #[test]
    fn slips_are_few_letters_away() {
        assert_eq!(distance("malloc", "malloc"), 0);
        assert_eq!(distance("mallco", "malloc"), 1);
        assert_eq!(distance("mlloc", "malloc"), 1);
        assert_eq!(distance("", "malloc"), 6);
        assert_eq!(facts().nearest("aclrtMemcpyAsnyc").first(), Some(&"aclrtMemcpyAsync"));
        assert_eq!(facts().resolve("aclrtmemcpy"), Some("aclrtMemcpy"));
        assert_eq!(facts().resolve("acl.rt.malloc_host"), Some("aclrtMallocHost"));
    }
}
