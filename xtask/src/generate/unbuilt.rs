//! `crates/capi/src/generated/unbuilt.rs`: an export for every function that no source file of capi defines yet.
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::spec::Spec;
use super::{Result, ctype};

/// The text of the file.
pub fn text(root: &Path, spec: &Spec) -> Result<String> {
    let mut built = BTreeSet::new();
    sources(&root.join("crates/capi/src"), &mut built)?;
    let mut lines = String::new();
    for f in spec.exports().filter(|f| !built.contains(&f.name)) {
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

/// Collects the names that `extern \"C\" fn NAME` defines in the Rust files below `folder`, generated ones excepted.
fn sources(folder: &Path, built: &mut BTreeSet<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "generated") {
                sources(&path, built)?;
            }
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            built.extend(defined(&std::fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The functions that Rust text defines for C. A name in a comment does not count.
fn defined(text: &str) -> Vec<String> {
    const MARK: &str = "extern \"C\" fn ";
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
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
