//! `toprope api`: what the library exports, and where each function is supported.

use std::io::Write;
use std::process::ExitCode;

use toprope_runtime::generated::api::{Api, FUNCTIONS, Function};
use toprope_runtime::generated::products::PRODUCTS;

use crate::Refused;
use crate::unbuilt::UNBUILT;

/// Options of `toprope api`.
#[derive(clap::Args)]
pub struct Args {
    /// Only this function, or all whose name contains the text
    function: Option<String>,
}

pub fn print(args: Args) -> Result<ExitCode, Refused> {
    let wanted = args.function.as_deref().unwrap_or("");
    if let Some(api) = Api::by_name(wanted) {
        detail(api.function());
        return Ok(ExitCode::SUCCESS);
    }
    let lower = wanted.to_ascii_lowercase();
    let found: Vec<&Function> =
        FUNCTIONS.iter().filter(|f| f.name.to_ascii_lowercase().contains(&lower)).collect();
    if found.is_empty() {
        return Err(format!("no function has '{wanted}' in its name").into());
    }
    let mut out = std::io::stdout().lock();
    for function in &found {
        // A reader that closed the pipe has seen enough.
        if writeln!(
            out,
            "{:<44} {:<6} {:<10} {}",
            function.name,
            function.chapter,
            built(function),
            support(function)
        )
        .is_err()
        {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn built(function: &Function) -> &'static str {
    if UNBUILT.binary_search(&function.name).is_ok() { "not built" } else { "built" }
}

fn support(function: &Function) -> String {
    let keys: Vec<_> = PRODUCTS
        .iter()
        .enumerate()
        .filter(|(i, _)| function.support >> i & 1 == 1)
        .map(|(_, p)| p.key)
        .collect();
    match keys.len() {
        0 => "no product".to_owned(),
        n if n == PRODUCTS.len() => "all products".to_owned(),
        _ => keys.join(" "),
    }
}

fn detail(function: &Function) {
    println!("{}", function.name);
    println!("  header      {}", function.header);
    println!("  chapter     {}", function.chapter);
    if !function.sync.is_empty() {
        println!("  call        {}", function.sync);
    }
    if !matches!(function.deprecated, "" | "no") {
        println!("  deprecated  {}", function.deprecated);
    }
    println!("  status      {}", built(function));
    println!("  supported   {}", support(function));
}
