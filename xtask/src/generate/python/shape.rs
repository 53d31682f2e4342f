//! How C parameters look from Python, and the other way round.
use super::super::ctype;
use super::super::spec::{Param, Spec};
use super::{Args, PyFunction, Result, Returns, Ty, Value, find, snake};

/// Gives a function of which only the name is known the arguments and the shape that follow from the C function: its
/// in-parameters in order; its out-parameters and the code.
pub fn derive(spec: &Spec, function: &mut PyFunction) -> Result<()> {
    let Args::Unknown = function.args else { return Ok(()) };
    let code = Value { name: "ret".into(), ty: Ty::I32 };
    let Some(c) = find(spec, &function.c) else {
        function.returns = Returns::One(code);
        return Ok(());
    };
    let (mut args, mut values, mut plain) = (Vec::new(), Vec::new(), true);
    for param in &c.params {
        let name = snake(&param.name);
        match kind(spec, param)? {
            Kind::Out(_) => values.push(Value { name, ty: Ty::Word }),
            Kind::Pointer => args.push(Value { name, ty: Ty::Word }),
            Kind::Text => args.push(Value { name, ty: Ty::Str }),
            Kind::Number(ty) => args.push(Value { name, ty: narrowest(&ty) }),
            Kind::Other => plain = false,
        }
    }
    if plain {
        function.args = Args::Known(args);
    }
    function.returns = match c.returns.as_str() {
        "void" => Returns::Nothing,
        "aclError" if values.is_empty() => Returns::One(code),
        "aclError" => {
            values.push(code);
            Returns::Tuple(values)
        }
        _ => Returns::One(Value { name: "value".into(), ty: Ty::Word }),
    };
    Ok(())
}

fn narrowest(rust: &str) -> Ty {
    match rust {
        "i32" => Ty::I32,
        "u32" => Ty::U32,
        "i64" => Ty::I64,
        "u64" => Ty::U64,
        "f32" => Ty::Float,
        _ => Ty::Word,
    }
}

/// How a C parameter looks from Python.
pub enum Kind {
    /// A number of this Rust type.
    Number(String),
    /// An address or a handle.
    Pointer,
    Text,
    /// Filled by the call; the Rust type of the value.
    Out(String),
    /// Structures, arrays, callbacks.
    Other,
}

pub fn kind(spec: &Spec, param: &Param) -> Result<Kind> {
    if param.ty == "..." {
        return Ok(Kind::Other);
    }
    let ty = resolve(spec, &ctype::rust(&param.ty)?);
    Ok(match ty.as_str() {
        "*const c_char" => Kind::Text,
        "*mut c_char" => Kind::Other,
        "*mut c_void" | "*const c_void" => Kind::Pointer,
        ty if ty.starts_with("Option<") => Kind::Other,
        ty => match ty.strip_prefix("*mut ").or_else(|| ty.strip_prefix("*const ")) {
            None if is_number(ty) => Kind::Number(ty.to_string()),
            None => Kind::Other,
            // A structure that is known by pointer only is a handle.
            Some(inner) if opaque(spec, inner) => Kind::Pointer,
            Some(inner) if ty.starts_with("*mut ") => match resolve(spec, inner).as_str() {
                number if is_number(number) => Kind::Out(number.to_string()),
                "*mut c_void" => Kind::Out("usize".to_string()),
                _ => Kind::Other,
            },
            Some(_) => Kind::Other,
        },
    })
}

pub fn is_number(ty: &str) -> bool {
    matches!(ty, "i32" | "u32" | "i64" | "u64" | "u16" | "usize" | "f32")
}

fn opaque(spec: &Spec, name: &str) -> bool {
    spec.typedefs.iter().any(|t| t.name == name && t.category == "opaque-struct-alias")
}

/// The Rust type below aliases and enums.
pub fn resolve(spec: &Spec, ty: &str) -> String {
    if spec.is_handle(ty) {
        return "*mut c_void".to_string();
    }
    if let Some(e) = spec.find_enum(ty) {
        return e.repr().to_string();
    }
    let alias = spec.typedefs.iter().find(|t| t.name == ty && t.category == "scalar-alias");
    alias.and_then(|t| ctype::rust(&t.definition).ok()).unwrap_or_else(|| ty.to_string())
}

/// The Rust type that Python's number is read as, for a C parameter of type `c`: the table's, unless C has less room.
pub fn extracted(ty: Ty, c: &str) -> &'static str {
    let python = match ty {
        Ty::I32 => "i32",
        Ty::U32 => "u32",
        Ty::I64 => "i64",
        Ty::U64 => "u64",
        Ty::U16 => "u16",
        Ty::Float => "f32",
        _ => "usize",
    };
    let narrow = match c {
        "i32" => "i32",
        "u32" => "u32",
        "u16" => "u16",
        _ => python,
    };
    if width(narrow) < width(python) { narrow } else { python }
}

fn width(ty: &str) -> u8 {
    match ty {
        "u16" => 2,
        "i32" | "u32" | "f32" => 4,
        _ => 8,
    }
}
