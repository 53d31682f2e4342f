//! Names every C function of the headers once, so that the linked runtime's addresses fill a function table, and compiles
//! the calls of C++ overloads (`src/overloads/*.cpp`) and the device binary that kernels are launched from.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let spec = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../spec/functions.csv");
    println!("cargo::rerun-if-changed={}", spec.display());
    let mut reader = csv::Reader::from_path(&spec)?;
    let columns = reader.headers()?.clone();
    let column = |name: &str| columns.iter().position(|column| column == name).ok_or("functions.csv");
    let (name, header, kind) = (column("name")?, column("header")?, column("kind")?);
    let (mut externs, mut entries) = (String::new(), String::new());
    for row in reader.records() {
        let row = row?;
        if &row[kind] == "c" && !row[header].is_empty() {
            writeln!(externs, "    fn {}();", &row[name])?;
            writeln!(entries, "    (\"{0}\", {0}),", &row[name])?;
        }
    }
    let text = format!(
        "unsafe extern \"C\" {{\n{externs}}}\n\npub(crate) static SYMBOLS: &[(&str, unsafe extern \"C\" fn())] = &[\n{entries}];\n"
    );
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("symbols.rs"), text)?;
    overloads()?;
    device_binary()
}

fn overloads() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let (folder, headers) = (here.join("src/overloads"), here.join("../../include"));
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed={}", headers.display());
    let mut build = cc::Build::new();
    // Only templates: nothing of the C++ library is needed.
    build.cpp(true).std("c++11").cpp_link_stdlib(None).include(headers);
    for file in std::fs::read_dir(folder)? {
        build.file(file?.path());
    }
    build.try_compile("overloads")?;
    Ok(())
}

/// The device binary of tests/device, for the rows of chapter 14.
fn device_binary() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let (source, output) =
        (root.join("tests/device/kernels.c"), PathBuf::from(std::env::var("OUT_DIR")?).join("kernels.so"));
    println!("cargo::rerun-if-changed={}", source.display());
    let mut command =
        cc::Build::new().pic(true).include(root.join("include")).try_get_compiler()?.to_command();
    command.args(["-shared", "-fno-gnu-unique", "-Wl,-Bsymbolic", "-o"]).arg(&output).arg(&source);
    if !command.status()?.success() {
        return Err(format!("{} does not compile", source.display()).into());
    }
    println!("cargo::rustc-env=DEVICE_BINARY={}", output.display());
    Ok(())
}
