//! Names every C function of the headers once, so that the linked runtime's addresses fill a function table.

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
    Ok(())
}
