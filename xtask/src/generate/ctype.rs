//! C types of the spec as Rust types.
use super::Result;
use super::spec::{Param, Spec};

/// A C type without functions: `const T *const *` is base `T`, const, then `*const`, then `*`.
struct CType<'a> {
    base: String,
    base_const: bool,
    /// One entry per `*`: whether the pointer itself is const.
    pointers: Vec<bool>,
    text: &'a str,
}

fn parse(text: &str) -> Result<CType<'_>> {
    let spaced = text.replace('*', " * ");
    let mut ty = CType { base: String::new(), base_const: false, pointers: Vec::new(), text };
    for word in spaced.split_whitespace() {
        match word {
            "*" => ty.pointers.push(false),
            "const" => match ty.pointers.last_mut() {
                Some(last) => *last = true,
                None => ty.base_const = true,
            },
            "struct" | "enum" | "union" => {}
            word if ty.pointers.is_empty() => {
                if !ty.base.is_empty() {
                    ty.base.push(' ');
                }
                ty.base.push_str(word);
            }
            _ => return Err(format!("cannot read C type {text:?}").into()),
        }
    }
    if ty.base.is_empty() || ty.base.contains(['(', ')', '[', '{', ',']) {
        return Err(format!("cannot read C type {text:?}").into());
    }
    Ok(ty)
}

/// The Rust type of a parameter, field or result.
pub fn rust(text: &str) -> Result<String> {
    if let Some((returns, params)) = split_function(text) {
        return rust_function(returns, params);
    }
    let ty = parse(text)?;
    let base = match ty.base.as_str() {
        "void" if ty.pointers.is_empty() => return Err(format!("void is no value: {:?}", ty.text).into()),
        "void" => "c_void",
        "char" | "char_t" => "c_char",
        "unsigned char" | "uint8_t" | "bool" => "u8",
        "int8_t" => "i8",
        "int16_t" => "i16",
        "uint16_t" => "u16",
        "int" | "int32_t" => "i32",
        "unsigned int" | "uint32_t" => "u32",
        "int64_t" => "i64",
        "uint64_t" | "unsigned long" | "unsigned long long" => "u64",
        "size_t" => "usize",
        "float" => "f32",
        "double" => "f64",
        other if other.contains(' ') => return Err(format!("cannot read C type {text:?}").into()),
        other => other,
    };
    let mut out = base.to_string();
    let mut pointee_const = ty.base_const;
    for is_const in ty.pointers {
        out = format!("{} {out}", if pointee_const { "*const" } else { "*mut" });
        pointee_const = is_const;
    }
    Ok(out)
}

/// `-> T`, or nothing for void.
pub fn rust_return(text: &str) -> Result<String> {
    Ok(if text == "void" { String::new() } else { format!(" -> {}", rust(text)?) })
}

/// Splits `R (*)(A, B)` (or `R (*const)(A, B)`) into `R` and `A, B`.
pub fn split_function(text: &str) -> Option<(&str, &str)> {
    let (returns, rest) = text.split_once("(*")?;
    let (_, params) = rest.split_once(")(")?;
    Some((returns.trim(), params.strip_suffix(')')?.trim()))
}

fn rust_function(returns: &str, params: &str) -> Result<String> {
    let mut types = Vec::new();
    for param in params.split(',').map(str::trim).filter(|p| !p.is_empty() && *p != "void") {
        types.push(rust(without_name(param))?);
    }
    Ok(format!("Option<unsafe extern \"C\" fn({}){}>", types.join(", "), rust_return(returns)?))
}

/// Drops the name from a parameter that may have one: `void* args`, `const char *`, `int32_t`.
fn without_name(param: &str) -> &str {
    let end = param.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    match end {
        // `const T *` and `T *`: nothing follows the star.
        Some(at) if at + 1 == param.len() => param,
        // `const T`: the only word beside the qualifier is the type.
        Some(at) if param[..at].trim() == "const" => param,
        Some(at) => param[..=at].trim_end(),
        None => param,
    }
}

/// The parameters as `name: T, …`; a variadic list ends in `...`.
pub fn rust_params(params: &[Param]) -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for param in params {
        let name = match param.name.as_str() {
            "type" | "fn" | "ref" | "move" | "match" | "in" => format!("r#{}", param.name),
            name => name.to_string(),
        };
        all.push(match param.ty.as_str() {
            "..." => (String::new(), "...".to_string()),
            ty => (name, rust(ty)?),
        });
    }
    Ok(all)
}

/// What a function answers that cannot do its work and does not return an error code: null, 0, or the enum's own
/// "undefined".
pub fn empty_value(spec: &Spec, returns: &str) -> Result<String> {
    let ty = rust(returns)?;
    Ok(if ty.starts_with("*const") {
        "core::ptr::null()".into()
    } else if ty.starts_with("*mut") || spec.is_handle(&ty) {
        "core::ptr::null_mut()".into()
    } else if ty == "f32" {
        "0.0".into()
    } else if let Some(e) = spec.find_enum(&ty) {
        e.values.iter().find(|v| v.name.ends_with("UNDEFINED")).map_or(0, |v| v.value).to_string()
    } else {
        "0".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_keep_their_consts() {
        assert_eq!(rust("const void *const").unwrap(), "*const c_void");
        assert_eq!(rust("const aclCannAttr **").unwrap(), "*mut *const aclCannAttr");
        assert_eq!(rust("int32_t *const").unwrap(), "*mut i32");
        assert_eq!(rust("const rtArgsEx_t *const").unwrap(), "*const rtArgsEx_t");
        assert_eq!(rust("void **").unwrap(), "*mut *mut c_void");
        assert_eq!(rust("const aclrtBinary").unwrap(), "aclrtBinary");
        assert_eq!(rust("struct aclmdlRIKernelTaskParams").unwrap(), "aclmdlRIKernelTaskParams");
        assert!(rust("void").is_err());
        assert!(rust("union {...}").is_err());
    }

    #[test]
    fn callbacks_are_optional_functions() {
        assert_eq!(
            rust("void* (*)(aclrtAllocator allocator, size_t size)").unwrap(),
            "Option<unsafe extern \"C\" fn(aclrtAllocator, usize) -> *mut c_void>"
        );
        assert_eq!(
            rust("int32_t (*const)(const acldumpChunk *, int32_t)").unwrap(),
            "Option<unsafe extern \"C\" fn(*const acldumpChunk, i32) -> i32>"
        );
        assert_eq!(
            rust("void (*)(const char* text)").unwrap(),
            "Option<unsafe extern \"C\" fn(*const c_char)>"
        );
    }
}
