//! `toprope products`: the targets and their limits, as `spec/products.csv` has them.

use std::process::ExitCode;

use toprope_runtime::generated::products::{PRODUCTS, Product};
use toprope_runtime::profile::{DEFAULT_PRODUCT, can_guard};

use crate::Refused;

/// Options of `toprope products`.
#[derive(clap::Args)]
pub struct Args {
    /// Only this product
    product: Option<String>,
}

pub fn print(args: Args) -> Result<ExitCode, Refused> {
    let chosen: Vec<&Product> = match &args.product {
        None => PRODUCTS.iter().collect(),
        Some(key) => vec![PRODUCTS.iter().find(|p| p.key.eq_ignore_ascii_case(key)).ok_or_else(|| {
            let keys: Vec<_> = PRODUCTS.iter().map(|p| p.key).collect();
            format!("unknown product '{key}'; valid: {}", keys.join(", "))
        })?],
    };
    for product in chosen {
        one(product);
    }
    let guard = match can_guard() {
        true => "can be kept out of device memory (--guard)",
        false => {
            "is not kept out of device memory: the processor or system has no protection keys left, --guard is off"
        }
    };
    println!("This machine: host code {guard}.");
    println!("(ours): no document gives the value; it is this project's choice.");
    Ok(ExitCode::SUCCESS)
}

fn one(product: &Product) {
    let default = if product.key == DEFAULT_PRODUCT { " (default)" } else { "" };
    println!("{}{default}: {}", product.key, product.document_name);
    let row = |column: &str, what: &str, value: String| {
        let ours = if product.ours.contains(&column) { " (ours)" } else { "" };
        println!("  {what:<22} {value}{ours}");
    };
    let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let joined = |items: &[&str]| items.join(", ");
    let generations: Vec<_> = product.generations.iter().map(u8::to_string).collect();
    row("generations", "CANN generations", generations.join(", "));
    let forms: Vec<_> =
        [("ep", product.ep), ("rc", product.rc)].iter().filter(|f| f.1).map(|f| f.0).collect();
    row("forms", "forms", joined(&forms));
    row("soc_names", "SoC names", joined(product.soc_names));
    row("device_count", "devices", product.device_count.to_string());
    row("device_memory_bytes", "memory of a device", format!("{} MiB", product.device_memory_bytes >> 20));
    row("ai_core_num", "AI cores", product.ai_core_num.to_string());
    row("vector_core_num", "vector cores", product.vector_core_num.to_string());
    row("max_streams", "streams of a device", product.max_streams.to_string());
    row("max_events", "events of a device", product.max_events.to_string());
    row("max_notifies", "notifies of a device", product.max_notifies.to_string());
    row("default_stream", "default stream", yes(product.default_stream));
    row(
        "priority_greatest",
        "stream priorities",
        format!("{} (highest) to {}", product.priority_greatest, product.priority_least),
    );
    row("uvm", "managed memory", yes(product.uvm));
    row("host_register", "host registration", yes(product.host_register));
    row("symbol", "device variables", yes(product.symbol));
    println!();
}
