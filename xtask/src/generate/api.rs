//! `crates/runtime/src/generated/api.rs`: every exported function, and where it is supported.
use std::fmt::Write as _;

use super::spec::{Function, Spec};

/// The text of the file.
pub fn text(spec: &Spec) -> String {
    let all: Vec<&Function> = spec.exports().collect();
    let mut variants = String::new();
    let mut table = String::new();
    for (number, function) in all.iter().enumerate() {
        let place = match function.header.as_str() {
            "" => "registration, spec/registration.csv".to_string(),
            header if function.chapter.is_empty() => format!("{header}, no page"),
            header => format!("{header}, chapter {}", function.chapter),
        };
        let _ = writeln!(variants, "    /// {place}.\n    {} = {number},", function.name);
        let _ = writeln!(
            table,
            "    row({:?}, {:?}, {:?}, {:?}, {:#05x}, {:?}),",
            function.name,
            function.header,
            function.chapter,
            function.deprecated,
            function.support,
            function.sync
        );
    }
    let mut names: Vec<&str> = all.iter().map(|f| f.name.as_str()).collect();
    names.sort_unstable();
    let by_name: String = names.iter().map(|name| format!("Api::{name},\n")).collect();
    let count = all.len();
    format!(
        "//! Every function that the library exports: the C functions of the headers, then the registration functions.

/// How many functions there are.
pub const COUNT: usize = {count};

/// An exported function.
#[allow(non_camel_case_types, reason = \"the C name is the map\")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum Api {{
{variants}}}

/// What is known of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {{
    /// C name.
    pub name: &'static str,
    /// Header below `acl/`; empty for a registration function.
    pub header: &'static str,
    /// Chapter of the documentation, such as `11-03`; empty when there is no page.
    pub chapter: &'static str,
    /// Empty, or what to use instead (several names joined by `+`).
    pub deprecated: &'static str,
    /// Bit i: supported on the i-th entry of [`PRODUCTS`](super::products::PRODUCTS). ours: no page counts as supported.
    pub support: u16,
    /// `sync`, `async`, `conditional` (synchronous for pageable host memory), or empty when no page says.
    pub sync: &'static str,
}}

impl Api {{
    /// What is known of this function.
    pub fn function(self) -> &'static Function {{
        // The discriminants are the indices of the table, 0 to COUNT - 1: written by the same loop.
        &FUNCTIONS[self as usize]
    }}

    /// The C name.
    pub fn name(self) -> &'static str {{
        self.function().name
    }}

    /// The function with this C name.
    pub fn by_name(name: &str) -> Option<Self> {{
        let at = BY_NAME.binary_search_by(|api| api.name().cmp(name)).ok()?;
        BY_NAME.get(at).copied()
    }}

    /// Every function, sorted by name.
    pub fn all() -> impl Iterator<Item = Self> {{
        BY_NAME.iter().copied()
    }}
}}

/// What is known of each function, by discriminant of [`Api`].
pub static FUNCTIONS: [Function; COUNT] = [
{table}];

/// One line of the table.
const fn row(
    name: &'static str,
    header: &'static str,
    chapter: &'static str,
    deprecated: &'static str,
    support: u16,
    sync: &'static str,
) -> Function {{
    Function {{ name, header, chapter, deprecated, support, sync }}
}}

/// Every function, sorted by name.
static BY_NAME: [Api; COUNT] = [
{by_name}];

#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn names_and_discriminants_agree() {{
        for (number, function) in FUNCTIONS.iter().enumerate() {{
            let api = Api::by_name(function.name).expect(function.name);
            assert_eq!(api as usize, number);
            assert_eq!(api.function().name, function.name);
        }}
        assert_eq!(Api::by_name(\"aclrtNoSuchFunction\"), None);
    }}
}}
"
    )
}
