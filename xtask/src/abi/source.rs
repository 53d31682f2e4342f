//! C and C++ sources that compile only when the headers agree with the spec.
use std::fmt::Write as _;

use crate::generate::headers::{declared, parameter, public_name};
use crate::generate::spec::Spec;

/// Every header that declares something.
pub const INCLUDES: &str = "#include <acl/acl.h>
#include <acl/acl_dump.h>
#include <acl/acl_op_compiler.h>
#include <acl/acl_platform.h>
#include <acl/acl_prof.h>
#include <acl/acl_rt_allocator.h>
#include <acl/acl_rt_api.h>
#include <acl/acl_rt_memory_soma.h>
#include <acl/acl_tdt.h>
#include <acl/acl_tdt_queue.h>
#include <acl/ops/acl_cblas.h>
#include <acl/ops/acl_dvpp.h>
";

/// A pointer of the spec's type to every function. (C and C++; overloads are told apart by that type.)
pub fn functions(spec: &Spec) -> String {
    let mut out = INCLUDES.to_string();
    for f in &spec.functions {
        let params: Vec<String> = f.params.iter().map(parameter).collect();
        let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
        let pointer = declared(&f.returns, &format!("(*const spec_{})({params})", f.name));
        let _ = writeln!(out, "extern {pointer};\n{pointer} = {};", f.name);
    }
    out
}

/// Size, alignment and every field's offset, size and type of every structure.
pub fn layouts(spec: &Spec, cpp: bool) -> String {
    let (assert, align) = words(cpp);
    let mut out = INCLUDES.to_string();
    for s in &spec.structs {
        let name = public_name(s);
        let _ = writeln!(out, "{assert}(sizeof({name}) == {}, \"size of {name}\");", s.size);
        let _ = writeln!(out, "{assert}({align}({name}) == {}, \"alignment of {name}\");", s.align);
        for f in &s.fields {
            let field = &f.name;
            let _ = writeln!(out, "{assert}(offsetof({name}, {field}) == {}, \"{name}.{field}\");", f.offset);
            // The array whose length the program chooses has no size.
            if f.array != Some(0) {
                let _ = writeln!(
                    out,
                    "{assert}(sizeof((({name} *)0)->{field}) == {}, \"size of {name}.{field}\");",
                    f.size
                );
            }
        }
    }
    out
}

/// Enumerators and macros; in C++ their types and the return codes too, which are no constant expressions in C.
pub fn values(spec: &Spec, cpp: bool) -> String {
    let (assert, _) = words(cpp);
    let mut out = INCLUDES.to_string();
    if cpp {
        out.push_str("#include <type_traits>\n");
    }
    for e in &spec.enums {
        let repr = if e.repr().starts_with('i') { "int" } else { "unsigned int" };
        let same = if cpp {
            format!("std::is_same<std::underlying_type<{}>::type, {repr}>::value", e.name)
        } else {
            format!("_Generic(({})0, {repr}: 1, default: 0)", e.name)
        };
        let _ = writeln!(out, "{assert}({same}, \"type below {}\");", e.name);
        for v in &e.values {
            let _ = writeln!(out, "{assert}({} == {}, \"{}\");", v.name, v.value, v.name);
            if cpp {
                let _ = writeln!(
                    out,
                    "{assert}(std::is_same<decltype({}), {}>::value, \"type of {}\");",
                    v.name, e.name, v.name
                );
            }
        }
    }
    for m in &spec.macros {
        let _ = writeln!(out, "#ifndef {}\n#error \"{} is no macro\"\n#endif", m.name, m.name);
        let _ = writeln!(out, "{assert}({} == {}ULL, \"{}\");", m.name, m.value, m.name);
        if cpp {
            let _ = writeln!(
                out,
                "{assert}(std::is_same<decltype({}), {}>::value, \"type of {}\");",
                m.name, m.c_type, m.name
            );
        }
    }
    for e in &spec.errors {
        let (directive, wrong) = if e.is_macro { ("ifndef", "is no macro") } else { ("ifdef", "is a macro") };
        let _ = writeln!(out, "#{directive} {}\n#error \"{} {wrong}\"\n#endif", e.name, e.name);
        if cpp || e.is_macro {
            let _ = writeln!(out, "{assert}({} == {}, \"{}\");", e.name, e.value, e.name);
        }
    }
    out
}

fn words(cpp: bool) -> (&'static str, &'static str) {
    if cpp { ("static_assert", "alignof") } else { ("_Static_assert", "_Alignof") }
}
