//! `crates/capi/src/generated/`: an export for every function that no source file of capi defines yet, and a check of
//! the types of those that one does.
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::spec::Spec;
use super::{Result, ctype};

/// The text of the file.
pub fn text(root: &Path, spec: &Spec) -> Result<String> {
    let built = built(root)?;
    let mut lines = String::new();
    for f in spec.exports().filter(|f| !built.contains_key(&f.name)) {
        let params: Vec<String> = ctype::rust_params(&f.params)?
            .into_iter()
            .filter(|(name, _)| !name.is_empty())
            .map(|(name, ty)| format!("{name}: {ty}"))
            .collect();
        let returns = ctype::rust_return(&f.returns)?;
        let value = match f.returns.as_str() {
            "aclError" | "rtError_t" => String::new(),
            "void" => " = ()".to_string(),
            other => format!(" = {}", ctype::empty_value(spec, other)?),
        };
        if f.params.iter().any(|p| p.ty == "...") {
            lines.push_str(VARIADIC);
        }
        let _ = writeln!(lines, "    fn {}({}){returns}{value};", f.name, params.join(", "));
    }
    Ok(format!("{HEAD}\nunbuilt! {{\n{lines}}}\n"))
}

/// The text of `signatures.rs`: the compiler compares every function that capi defines with the type in the spec.
pub fn signatures(root: &Path, spec: &Spec) -> Result<String> {
    let mut lines = String::new();
    for (name, module) in built(root)? {
        let f = spec.exports().find(|f| f.name == name).ok_or_else(|| {
            format!("{module} defines {name}, which is in no header and not in registration.csv")
        })?;
        let params: Vec<String> = ctype::rust_params(&f.params)?
            .into_iter()
            .filter(|(name, _)| !name.is_empty())
            .map(|(_, ty)| ty)
            .collect();
        let returns = ctype::rust_return(&f.returns)?;
        let _ = writeln!(
            lines,
            "const _: unsafe extern \"C\" fn({}){returns} = {module}::{name};",
            params.join(", ")
        );
    }
    Ok(format!(
        "//! Every function that is written by hand has the type that the headers declare, or this does not compile.
#![allow(unused_imports, reason = \"which types are named depends on what is built\")]
use core::ffi::{{c_char, c_void}};

use ascendcl_sys::types::*;

{lines}"
    ))
}

const VARIADIC: &str = "    // C declares dots behind `fmt`, and stable Rust cannot define such a function. On x86-64 and AArch64 Linux the
    // named arguments arrive as in any function, and the caller cleans up the rest, which is not read here.
";

const HEAD: &str = "//! Functions of the headers that are not built yet: exported with their true signature, they answer
//! ACL_ERROR_RT_FEATURE_NOT_SUPPORT through the gate with a message that says so; those that return no code answer
//! null, 0 or \"undefined\".
//!
//! To build one, write it in the file of its chapter and run `cargo xtask gen`: it leaves this list.
use core::ffi::{c_char, c_void};

use ascendcl_sys::types::*;
use toprope_runtime::Api;
use toprope_runtime::call::unbuilt;

/// One export per line: its signature, and what it answers if that is not the gate's code.
macro_rules! unbuilt {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $(= $value:expr)?;)*) => {$(
        #[unsafe(no_mangle)]
        extern \"C\" fn $name($(_: $ty),*) $(-> $ret)? {
            let code = unbuilt(Api::$name);
            unbuilt!(@answer code $(, $value)?)
        }
    )*};
    (@answer $code:ident) => { $code };
    (@answer $code:ident, $value:expr) => {{
        let _ = $code;
        $value
    }};
}
";

/// Finds every function that the Rust files of capi define for C, generated files excepted, with its module path.
pub fn built(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    sources(&root.join("crates/capi/src"), "crate", &mut found)?;
    Ok(found)
}

fn sources(folder: &Path, module: &str, found: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let inner = match name.as_ref() {
            "lib" | "mod" => module.to_string(),
            name => format!("{module}::{name}"),
        };
        if path.is_dir() {
            if name != "generated" {
                sources(&path, &inner, found)?;
            }
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            for name in defined(&std::fs::read_to_string(&path)?) {
                found.insert(name, inner.clone());
            }
        }
    }
    Ok(())
}

/// The functions that Rust text defines for C. A name in a comment does not count, and what is not `pub` is no export.
fn defined(text: &str) -> Vec<String> {
    const MARK: &str = "extern \"C\" fn ";
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.lines()
        .filter(|line| line.trim_start().starts_with("pub "))
        .filter_map(|line| line.split_once(MARK))
        .map(|(_, rest)| rest.split(|c| !is_name(c)).next().unwrap_or_default().to_string())
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definitions_count() {
        let text = r#"
            pub unsafe extern "C" fn aclrtFree(devPtr: *mut c_void) -> aclError {
            // pub unsafe extern "C" fn aclrtMalloc() {}
            type Callback = unsafe extern "C" fn(*mut c_void);
            pub extern "C" fn aclFinalize() -> aclError { 0 }
        "#;
        assert_eq!(defined(text), ["aclrtFree", "aclFinalize"]);
    }
}
