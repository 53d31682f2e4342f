//! `toprope products`: the targets and their limits side by side, as `spec/products.csv` has them.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use toprope_runtime::generated::products::Product;
use toprope_runtime::profile::{DEFAULT_PRODUCT, can_guard};

use crate::facts::{self, Cells};
use crate::filter::Filter;
use crate::{Refused, show};

/// Options of `toprope products`.
#[derive(clap::Args)]
pub struct Args {
    /// Only this product
    #[arg(value_name = "PRODUCT")]
    only: Option<String>,
    #[command(flatten)]
    filter: Filter,
    /// For programs
    #[arg(long)]
    json: bool,
}

/// How a column is shown.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Text,
    /// A size, with a unit.
    Bytes,
    /// Items, each on its own line.
    List,
    /// Items, each a row of its own.
    Rows,
}

/// Columns of products.csv, and what they are called.
const ROWS: [(&str, &str, Form); 48] = [
    ("generations", "CANN generations", Form::List),
    ("forms", "forms", Form::List),
    ("soc_names", "chip names", Form::List),
    ("npu_arch", "architecture", Form::Text),
    ("device_count", "devices", Form::Text),
    ("device_memory_bytes", "memory of a device", Form::Bytes),
    ("hbm", "memory is HBM", Form::Text),
    ("ai_core_num", "AI cores", Form::Text),
    ("vector_core_num", "vector cores", Form::Text),
    ("ai_cpu_num", "AI CPUs", Form::Text),
    ("l2_bytes", "L2 cache", Form::Bytes),
    ("ub_bytes", "unified buffer", Form::Bytes),
    ("aicore_stack_max", "largest core stack", Form::Bytes),
    ("simt", "SIMT limits", Form::List),
    ("max_streams", "streams of a device", Form::Text),
    ("max_events", "events of a device", Form::Text),
    ("max_notifies", "notifies of a device", Form::Text),
    ("default_stream", "default stream", Form::Text),
    ("priority_greatest", "highest priority", Form::Text),
    ("priority_least", "lowest priority", Form::Text),
    ("stream_flags", "stream flag", Form::Rows),
    ("event_flags", "event flag", Form::Rows),
    ("failure_mode_default_stream", "failure mode of the default stream", Form::Text),
    ("op_timeout_interval_us", "operator timeout unit, us", Form::Text),
    ("op_timeout_default_ms", "default operator timeout, ms", Form::Text),
    ("malloc_padding", "padding of aclrtMalloc", Form::List),
    ("page_normal", "normal page", Form::Bytes),
    ("page_huge", "huge page", Form::Bytes),
    ("page_1g", "1 GiB pages", Form::Text),
    ("bandwidth_policy", "bandwidth policies", Form::Text),
    ("dvpp_memory", "DVPP memory of its own", Form::Text),
    ("uvm", "managed memory", Form::Text),
    ("host_register", "host registration", Form::Text),
    ("va_flag", "VA flag of host memory", Form::Text),
    ("symbol", "device variables", Form::Text),
    ("copy_2d_device", "2D copies in a device", Form::Text),
    ("kernel_ratio", "task ratio of kernels", Form::Text),
    ("pageable_async_gen9", "pageable async copy, CANN 9", Form::List),
    ("pageable_async_gen8", "pageable async copy, CANN 8", Form::List),
    ("pageable_async_gen5", "pageable async copy, CANN 5", Form::List),
    ("reduce_kinds", "reduce kind", Form::Rows),
    ("reduce_types", "reduce type", Form::Rows),
    ("sat_modes", "overflow mode", Form::Rows),
    ("cann_attributes", "CANN attribute", Form::Rows),
    ("hd_connect_type", "connection to the host", Form::Text),
    ("form_factor", "form factor", Form::Text),
    ("topology", "link between devices", Form::Text),
    ("document_name", "name in the documents", Form::Text),
];

/// Most letters of a line in a cell.
const CELL: usize = 17;

pub fn print(args: Args) -> Result<ExitCode, Refused> {
    let targets = match &args.only {
        Some(key) => args.filter.of(Some(key))?,
        None => args.filter.targets()?,
    };
    let rows = facts::products()?;
    let chosen: Vec<(&Product, &Cells)> =
        targets.products().filter_map(|(at, product)| Some((product, rows.get(at)?))).collect();
    if args.json {
        let list: Vec<_> = chosen.iter().map(|(product, cells)| as_json(product, cells)).collect();
        let all = json!({"products": list, "guard_available": can_guard()});
        let text = serde_json::to_string_pretty(&all).map_err(|error| Refused(error.to_string()))?;
        return show(&(text + "\n"));
    }
    let shown = |column: &str| match column.strip_prefix("pageable_async_gen") {
        Some(generation) => targets.generation.is_none_or(|own| own.to_string() == generation),
        None => column != "document_name",
    };
    let mut text = String::new();
    for (product, _) in &chosen {
        let default = if product.key == DEFAULT_PRODUCT { " (default)" } else { "" };
        let _ = writeln!(text, "{:<12} {}{default}", product.key, product.document_name);
    }
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for (column, title, form) in ROWS.iter().filter(|row| shown(row.0)) {
        if *form == Form::Rows {
            lines.append(&mut item_rows(column, title, &chosen));
        } else {
            lines
                .push(((*title).to_owned(), chosen.iter().map(|(p, c)| cell(p, c, column, *form)).collect()));
        }
    }
    let heads: Vec<&str> = chosen.iter().map(|(product, _)| product.key).collect();
    table(&mut text, &heads, &lines, width());
    text.push_str("\n-: the product has no such thing. (ours): no document gives the value; it is this project's choice.\n");
    let _ = writeln!(
        text,
        "Host code that touches device memory {} (the guard needs memory protection keys).",
        if can_guard() {
            "faults in the EP form, as the processor can guard it"
        } else {
            "goes unnoticed: this machine cannot guard it"
        }
    );
    show(&text)
}

/// Columns of the terminal; None when the output goes elsewhere.
fn width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    // SAFETY: winsize is plain numbers.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills the struct that it is given.
    let done = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (done == 0 && size.ws_col > 0).then_some(size.ws_col.into())
}

/// As many products beside each other as fit, the rest below.
fn table(text: &mut String, heads: &[&str], lines: &[(String, Vec<String>)], width: Option<usize>) {
    let first = lines.iter().map(|(title, _)| title.len()).max().unwrap_or(0);
    let room = |at: usize| {
        let cells = lines.iter().filter_map(|(_, cells)| cells.get(at)).flat_map(|cell| cell.lines());
        cells.map(str::len).chain([heads[at].len()]).max().unwrap_or(0) + 2
    };
    let mut start = 0;
    while start < heads.len() {
        let mut end = start;
        let mut used = first;
        while end < heads.len() && (end == start || width.is_none_or(|w| used + room(end) <= w)) {
            used += room(end);
            end += 1;
        }
        let mut row = |title: &str, cells: &[&str]| {
            let mut line = format!("{title:<first$}");
            for (at, cell) in cells.iter().enumerate() {
                let _ = write!(line, "  {cell:<wide$}", wide = room(start + at) - 2);
            }
            let _ = writeln!(text, "{}", line.trim_end());
        };
        row("", &[]);
        row("", &heads[start..end]);
        for (title, cells) in lines {
            let cells = &cells[start..end];
            for at in 0..cells.iter().map(|cell| cell.lines().count()).max().unwrap_or(0) {
                let line: Vec<_> = cells.iter().map(|cell| cell.lines().nth(at).unwrap_or("")).collect();
                row(if at == 0 { title } else { "" }, &line);
            }
        }
        start = end;
    }
}

fn raw<'a>(cells: &'a Cells, column: &str) -> &'a str {
    cells.get(column).map_or("", String::as_str)
}

fn items(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(';').map(str::trim).filter(|item| !item.is_empty())
}

/// The table may say what is ours about a column: `generations(5)`.
fn is_ours(product: &Product, column: &str) -> bool {
    product.ours.iter().any(|entry| entry.split('(').next() == Some(column))
}

fn cell(product: &Product, cells: &Cells, column: &str, form: Form) -> String {
    let raw = raw(cells, column);
    let mut lines: Vec<String> = match form {
        Form::Bytes => raw.parse().map_or_else(|_| vec![], |bytes| vec![size(bytes)]),
        Form::List => items(raw).flat_map(wrapped).collect(),
        _ => wrapped(raw),
    };
    if lines.is_empty() {
        lines.push("-".to_owned());
    }
    if is_ours(product, column)
        && let Some(last) = lines.last_mut()
    {
        last.push_str(" (ours)");
    }
    lines.join("\n")
}

/// A row for each item that any product has.
fn item_rows(column: &str, title: &str, chosen: &[(&Product, &Cells)]) -> Vec<(String, Vec<String>)> {
    // `HUGE(no effect)`: the item, and what is to be said of it.
    let mut names: Vec<&str> = Vec::new();
    for (_, cells) in chosen {
        for item in items(raw(cells, column)) {
            let name = item.split('(').next().unwrap_or(item);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let say = |product: &Product, cells: &Cells, name: &str| {
        let found = items(raw(cells, column)).find(|item| item.split('(').next() == Some(name));
        let word = match found.map(|item| item.split_once('(')) {
            None => "-",
            Some(None) => "yes",
            Some(Some((_, remark))) => remark.trim_end_matches(')'),
        };
        if is_ours(product, column) { format!("{word} (ours)") } else { word.to_owned() }
    };
    names
        .iter()
        .map(|name| (format!("{title} {name}"), chosen.iter().map(|(p, c)| say(p, c, name)).collect()))
        .collect()
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= CELL => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| bytes != 0 && bytes.is_multiple_of(1 << shift)) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} B"),
    }
}

fn as_json(product: &Product, cells: &Cells) -> Value {
    let value = |text: &str| match text {
        "" => Value::Null,
        "yes" => json!(true),
        "no" => json!(false),
        text => text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number)),
    };
    let mut all = Map::new();
    all.insert("key".to_owned(), json!(product.key));
    for (column, _, form) in ROWS {
        let raw = raw(cells, column);
        let list =
            matches!(form, Form::Rows) || matches!(column, "generations" | "forms" | "soc_names" | "simt");
        let cell = if list { Value::Array(items(raw).map(value).collect()) } else { value(raw) };
        all.insert(column.to_owned(), cell);
    }
    all.insert("ours".to_owned(), json!(product.ours));
    Value::Object(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use toprope_runtime::generated::products::PRODUCTS;

    use super::*;

    /// No column of the table is left out, and none is made up.
    #[test]
    fn every_column_is_shown() {
        let rows = facts::products().ok().unwrap();
        assert_eq!(rows.len(), PRODUCTS.len());
        let mut columns: Vec<&str> = rows[0].keys().map(String::as_str).collect();
        columns.retain(|column| !["key", "rules_names", "ours"].contains(column));
        columns.sort_unstable();
        let mut shown: Vec<&str> = ROWS.iter().map(|row| row.0).collect();
        shown.sort_unstable();
        assert_eq!(columns, shown);
    }

    /// What is marked as ours is a column.
    #[test]
    fn ours_are_columns() {
        for product in &PRODUCTS {
            for entry in product.ours {
                let column = entry.split('(').next().unwrap();
                assert!(ROWS.iter().any(|row| row.0 == column), "{}: {entry}", product.key);
            }
        }
    }

    #[test]
    fn narrow_terminals_get_blocks() {
        let lines = vec![("limit".to_owned(), vec!["1".to_owned(), "22\n(ours)".to_owned()])];
        let mut text = String::new();
        table(&mut text, &["a", "b"], &lines, Some(12));
        assert_eq!(text, "\n       a\nlimit  1\n\n       b\nlimit  22\n       (ours)\n");
        text.clear();
        table(&mut text, &["a", "b"], &lines, None);
        assert_eq!(text, "\n       a  b\nlimit  1  22\n          (ours)\n");
    }
}
