//! `crates/sys/src/generated/`: the C types, constants, codes and functions for Rust.
use std::fmt::Write as _;

use super::spec::{Field, Spec, Struct};
use super::{Result, ctype};

/// Types that only the registration functions name; their layouts are not in the spec, so they stay opaque.
const REGISTRATION_STRUCTS: [(&str, &str); 4] = [
    ("rtDevBinary_t", "Description of a device binary."),
    ("rtSmDesc_t", "Shared-memory description of a launch."),
    ("rtArgsEx_t", "Extended argument description of a launch."),
    ("rtTaskCfgInfo_t", "Task configuration of a launch."),
];

/// Scalars and handles of the registration functions.
const REGISTRATION_ALIASES: [(&str, &str, &str); 4] = [
    ("rtError_t", "i32", "Result of a registration function; the same codes as `aclError`."),
    ("rtStream_t", "*mut c_void", "Stream handle of a registration function."),
    ("rtBinHandle", "*mut c_void", "Handle of a loaded binary."),
    ("rtFuncHandle", "*mut c_void", "Handle of a kernel."),
];

/// `types.rs`.
pub fn types(spec: &Spec) -> Result<String> {
    let mut out = String::from(
        "//! Types of the C headers. Enums are integers, since C may pass any value; their constants are in
//! [`consts`](super::consts). Layouts are those of x86-64 Linux, asserted below each type.
use core::ffi::{c_char, c_void};
use core::marker::{PhantomData, PhantomPinned};

",
    );
    for t in &spec.typedefs {
        match t.category.as_str() {
            "opaque-handle" => {
                let _ = writeln!(out, "/// Opaque handle, {}.\npub type {} = *mut c_void;", t.header, t.name);
            }
            "scalar-alias" | "callback" => {
                let what = if t.category == "callback" { "Callback; `None` is NULL" } else { "Scalar" };
                let ty = ctype::rust(&t.definition)?;
                let _ = writeln!(out, "/// {what}, {}.\npub type {} = {ty};", t.header, t.name);
            }
            "opaque-struct-alias" => {
                opaque(&mut out, &t.name, &format!("Known by pointer only, {}.", t.header))
            }
            "struct-alias" => {
                let target = t.definition.trim_start_matches("struct ");
                let _ = writeln!(out, "/// Alias, {}.\npub type {} = {target};", t.header, t.name);
            }
            "enum" | "struct" | "union" | "incomplete-struct" => {}
            other => return Err(format!("typedefs.csv: unknown category {other}").into()),
        }
    }
    for e in &spec.enums {
        let _ = writeln!(out, "/// Enum of {}.\npub type {} = {};", e.header, e.name, e.repr());
    }
    for (name, doc) in REGISTRATION_STRUCTS {
        opaque(&mut out, name, doc);
    }
    for (name, ty, doc) in REGISTRATION_ALIASES {
        let _ = writeln!(out, "/// {doc}\npub type {name} = {ty};");
    }
    for s in &spec.structs {
        structure(&mut out, spec, s)?;
    }
    Ok(out)
}

fn opaque(out: &mut String, name: &str, doc: &str) {
    let _ = writeln!(
        out,
        "/// {doc}\n#[repr(C)]\npub struct {name} {{
    _opaque: [u8; 0],
    _not_send_nor_moved: PhantomData<(*mut u8, PhantomPinned)>,
}}\n"
    );
}

/// The typedef name of a struct whose tag differs from it.
fn public_name(name: &str) -> &str {
    if name == "tagAclmdlRICondTaskParams" { "aclmdlRICondTaskParams" } else { name }
}

fn structure(out: &mut String, spec: &Spec, s: &Struct) -> Result<()> {
    let name = public_name(&s.name);
    let mut body = String::new();
    let mut inner = String::new();
    let mut asserts = String::new();
    let mut fields = s.fields.iter().peekable();
    let mut open_union: Option<(String, String)> = None;
    while let Some(f) = fields.next() {
        let nested = fields.peek().is_some_and(|next| next.name.starts_with(&format!("{}.", f.name)));
        if f.depth == 0 {
            if nested {
                // A union with a name: its members follow.
                let ty = format!("{name}_{}", f.name);
                open_union = Some((f.name.clone(), ty.clone()));
                member(&mut body, f, &ty);
            } else {
                member(&mut body, f, &ctype::rust(&f.c_type)?);
            }
            assert_offset(&mut asserts, name, &f.name, f.offset);
            continue;
        }
        // Members of a union without a name come without a row of its own; Rust needs one.
        let (field, ty) = match &open_union {
            Some(open) => open.clone(),
            None => {
                let ty = format!("{name}_u");
                let _ = writeln!(
                    body,
                    "    /// The union without a name, offset {}.\n    pub u: {ty},",
                    f.offset
                );
                open_union = Some(("u".into(), ty.clone()));
                ("u".to_string(), ty)
            }
        };
        let short = f.name.rsplit('.').next().unwrap_or(&f.name);
        if inner.is_empty() {
            let _ = writeln!(
                inner,
                "/// Union inside [`{name}`].\n#[repr(C)]\n#[derive(Clone, Copy)]\npub union {ty} {{"
            );
        }
        member(&mut inner, &Field { name: short.to_string(), ..f.clone() }, &ctype::rust(&f.c_type)?);
        assert_offset(&mut asserts, name, &format!("{field}.{short}"), f.offset);
    }
    if !inner.is_empty() {
        let _ = writeln!(out, "{inner}}}\n");
    }
    let (keyword, debug) = match (s.union, has_union(spec, s)) {
        (true, _) => ("union", ""),
        (false, true) => ("struct", ""),
        (false, false) => ("struct", ", Debug"),
    };
    let _ = writeln!(
        out,
        "/// {} of {}, {} bytes.\n#[repr(C)]\n#[derive(Clone, Copy{debug})]\npub {keyword} {name} {{\n{body}}}\n",
        if s.union { "Union" } else { "Structure" },
        s.header,
        s.size
    );
    let _ = writeln!(
        out,
        "const _: () = {{\n    assert!(size_of::<{name}>() == {});\n    assert!(align_of::<{name}>() == {});\n{asserts}}};\n",
        s.size, s.align
    );
    Ok(())
}

fn member(out: &mut String, f: &Field, ty: &str) {
    let ty = match f.array {
        Some(length) => format!("[{ty}; {length}]"),
        None => ty.to_string(),
    };
    let name = if f.name == "type" { "r#type" } else { f.name.as_str() };
    let _ = writeln!(out, "    /// `{}`, offset {}.\n    pub {name}: {ty},", f.c_type, f.offset);
}

fn assert_offset(out: &mut String, name: &str, field: &str, offset: usize) {
    let field = if field == "type" { "r#type" } else { field };
    let _ = writeln!(out, "    assert!(core::mem::offset_of!({name}, {field}) == {offset});");
}

/// Whether a union sits anywhere inside, so that Debug cannot be derived.
fn has_union(spec: &Spec, s: &Struct) -> bool {
    s.union
        || s.fields.iter().any(|f| {
            f.depth > 0
                || f.c_type.contains("union")
                || spec.structs.iter().any(|inner| inner.name == f.c_type && has_union(spec, inner))
        })
}

/// `consts.rs`.
pub fn consts(spec: &Spec) -> Result<String> {
    let mut out = String::from("//! Enumerators and macros of the C headers.\nuse super::types::*;\n\n");
    for e in &spec.enums {
        for v in &e.values {
            let _ =
                writeln!(out, "/// Of enum [`{}`].\npub const {}: {} = {};", e.name, v.name, e.name, v.value);
        }
    }
    for m in &spec.macros {
        let ty = ctype::rust(&m.c_type)?;
        let _ = writeln!(out, "/// Macro of {}.\npub const {}: {ty} = {:#x};", m.header, m.name, m.value);
    }
    Ok(out)
}

/// `errors.rs`.
pub fn errors(spec: &Spec) -> String {
    let mut consts = String::new();
    let mut codes = Vec::new();
    for e in &spec.errors {
        let _ =
            writeln!(consts, "/// {}.\npub const {}: aclError = {};", sentence(&e.meaning), e.name, e.value);
        codes.push(e);
    }
    // Several names may stand for one number: the one that users know first comes first.
    codes.sort_by_key(|e| (e.value, e.name != "ACL_SUCCESS"));
    let table: String = codes
        .iter()
        .map(|e| {
            format!(
                "    Code {{ value: {}, name: {:?}, meaning: {:?}, report: {:?} }},\n",
                e.value, e.name, e.meaning, e.report
            )
        })
        .collect();
    format!(
        "//! Return codes.
use super::types::aclError;

{consts}
/// A return code with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {{
    /// The number.
    pub value: aclError,
    /// The C name.
    pub name: &'static str,
    /// A few words.
    pub meaning: &'static str,
    /// Error class that stands in front of a message, such as `EE1001`.
    pub report: &'static str,
}}

/// Every return code, sorted by number; of several names for one number the usual one comes first.
pub static CODES: [Code; {}] = [
{table}];

/// The code with this number.
pub fn code(value: aclError) -> Option<&'static Code> {{
    CODES.get(CODES.partition_point(|code| code.value < value)).filter(|code| code.value == value)
}}

/// The C name of a code.
pub fn error_name(value: aclError) -> Option<&'static str> {{
    code(value).map(|code| code.name)
}}

/// The number of the code with this C name.
pub fn value(name: &str) -> Option<aclError> {{
    CODES.iter().find(|code| code.name == name).map(|code| code.value)
}}

#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn codes_are_found_by_number_and_name() {{
        assert_eq!(error_name(0), Some(\"ACL_SUCCESS\"));
        assert_eq!(error_name(ACL_ERROR_RT_PARAM_INVALID), Some(\"ACL_ERROR_RT_PARAM_INVALID\"));
        assert_eq!(code(-1), None);
        assert_eq!(value(\"ACL_ERROR_INVALID_PARAM\"), Some(100000));
        assert!(CODES.is_sorted_by_key(|c| c.value));
    }}
}}
",
        codes.len()
    )
}

/// `enums.rs`.
pub fn enums(spec: &Spec) -> String {
    let mut all = String::new();
    for e in &spec.enums {
        let values: String = e.values.iter().map(|v| format!("({}, {:?}),", v.value, v.name)).collect();
        let _ = writeln!(
            all,
            "/// Enum of {}.\npub const {}: Enum = Enum {{ name: {:?}, values: &[{values}] }};",
            e.header, e.name, e.name
        );
    }
    format!(
        "//! Enumerators by value, for messages.
use core::fmt;

/// An enum type with its enumerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enum {{
    /// The C name.
    pub name: &'static str,
    /// Value and C name, in the header's order.
    pub values: &'static [(i64, &'static str)],
}}

/// A value, shown as `ACL_MEMCPY_DEFAULT (4)`, or as `99 (no aclrtMemcpyKind)`.
#[derive(Clone, Copy, Debug)]
pub struct Shown {{
    of: Enum,
    value: i64,
}}

impl Enum {{
    /// The value for a message.
    pub fn show(self, value: impl Into<i64>) -> Shown {{
        Shown {{ of: self, value: value.into() }}
    }}

    /// Several values for a message, joined by commas.
    pub fn list<T: Copy + Into<i64>>(self, values: &[T]) -> String {{
        let shown: Vec<_> = values.iter().map(|value| self.show(*value).to_string()).collect();
        if shown.is_empty() {{ \"none\".to_owned() }} else {{ shown.join(\", \") }}
    }}

    /// Every value for a message, joined by commas.
    pub fn all(self) -> String {{
        let values: Vec<_> = self.values.iter().map(|(value, _)| *value).collect();
        self.list(&values)
    }}
}}

impl fmt::Display for Shown {{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {{
        match self.of.values.iter().find(|(value, _)| *value == self.value) {{
            Some((value, name)) => write!(f, \"{{name}} ({{value}})\"),
            None => write!(f, \"{{}} (no {{}})\", self.value, self.of.name),
        }}
    }}
}}

{all}
#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn values_have_names() {{
        assert_eq!(aclrtMemcpyKind.show(3u32).to_string(), \"ACL_MEMCPY_DEVICE_TO_DEVICE (3)\");
        assert_eq!(aclrtMemcpyKind.show(99u32).to_string(), \"99 (no aclrtMemcpyKind)\");
        assert_eq!(aclDataType.show(-1i32).to_string(), \"ACL_DT_UNDEFINED (-1)\");
        assert_eq!(aclrtRunMode.all(), \"ACL_DEVICE (0), ACL_HOST (1)\");
    }}
}}
"
    )
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// `functions.rs`.
pub fn functions(spec: &Spec) -> Result<String> {
    let mut lines = String::new();
    for f in &spec.functions {
        let mut list = Vec::new();
        let mut dots = "";
        for (name, ty) in ctype::rust_params(&f.params)? {
            match name.as_str() {
                "" => dots = "; ...",
                name => list.push(format!("{name}: {ty}")),
            }
        }
        let returns = ctype::rust_return(&f.returns)?;
        let value = match f.returns.as_str() {
            "aclError" => "ACL_ERROR_RT_FEATURE_NOT_SUPPORT".to_string(),
            "void" => "()".to_string(),
            other => ctype::empty_value(spec, other)?,
        };
        let _ = writeln!(
            lines,
            "    /// {}.\n    fn {}({}{dots}){returns} = {value};",
            f.header,
            f.name,
            list.join(", ")
        );
    }
    Ok(format!("{FUNCTIONS}\ntable! {{ {};\n{lines}}}\n", spec.functions.len()))
}

const FUNCTIONS: &str = r#"//! The C functions of the headers as a table of pointers.
use core::ffi::{CStr, c_char, c_void};

use super::errors::ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
use super::types::*;

/// Makes the table from one line per function: its C type, and what it answers when a library lacks it.
macro_rules! table {
    ($count:literal; $(
        $(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(; $dots:tt)?) $(-> $ret:ty)? = $value:expr;
    )*) => {
        /// Every C function of the headers. [`Table::load`] fills it from a library.
        #[derive(Clone, Copy)]
        pub struct Table {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($arg: $ty),* $(, $dots)?) $(-> $ret)?,)*
        }

        /// The names in a [`Table`], in its order.
        pub static NAMES: [&str; $count] = [$(stringify!($name)),*];

        impl Table {
            /// A table of what `find` gives; where it gives nothing, a function that answers
            /// ACL_ERROR_RT_FEATURE_NOT_SUPPORT, or null, 0 or "undefined" where no code is returned.
            ///
            /// # Safety
            /// `find` must give the address of the C function of that name, as the headers declare it, for as long as
            /// the table is used.
            pub unsafe fn from_symbols(mut find: impl FnMut(&'static CStr) -> Option<*mut c_void>) -> Self {
                $(let $name = {
                    unsafe extern "C" fn absent($(_: $ty),*) $(-> $ret)? {
                        $value
                    }
                    const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a C name has no NUL"),
                    };
                    let address = find(NAME).unwrap_or(absent as *mut c_void);
                    // SAFETY: the caller promises that `find` gives a function of this type. `absent` has it too, but
                    // for the dots of a variadic function: the calling conventions of x86-64 and AArch64 Linux pass
                    // the named arguments alike in both cases, and the caller cleans up those that are not read.
                    unsafe {
                        core::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($arg: $ty),* $(, $dots)?) $(-> $ret)?,
                        >(address)
                    }
                };)*
                Self { $($name),* }
            }
        }
    };
}
"#;
