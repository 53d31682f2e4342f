//! `toprope api`: what the library exports, where each function is supported, and by which rules it answers.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use toprope_runtime::generated::products::PRODUCTS;

use crate::facts::{Facts, Function, Kind, Rule, keys};
use crate::filter::{Filter, Targets};
use crate::{Refused, show};

/// Options of `toprope api`.
#[derive(clap::Args)]
pub struct Args {
    /// A function (C or Python name): all that is known of it. Or a text: all whose name contains it. '*': the rules of every
    /// function
    function: Option<String>,
    #[command(flatten)]
    filter: Filter,
    /// For programs
    #[arg(long)]
    json: bool,
}

pub fn print(args: Args) -> Result<ExitCode, Refused> {
    let targets = args.filter.targets()?;
    let facts = Facts::read()?;
    let wanted = args.function.as_deref().unwrap_or("");
    if let Some(name) = facts.resolve(wanted) {
        let detail = Detail::new(&facts, &targets, name);
        return show(&if args.json { pretty(&detail.json())? } else { detail.text() });
    }
    let lower = wanted.to_ascii_lowercase();
    let named: Vec<&Function> =
        facts.functions.iter().filter(|f| f.name.to_ascii_lowercase().contains(&lower)).collect();
    if named.is_empty() {
        let nearest = facts.nearest(wanted).join(", ");
        return Err(format!("no function has '{wanted}' in its name; nearest: {nearest}").into());
    }
    let here: Vec<&Function> = named
        .iter()
        .filter(|f| !targets.filtered || f.support.is_some_and(|bits| bits & targets.bits != 0))
        .copied()
        .collect();
    if args.json {
        let list: Vec<_> = here.iter().map(|f| line_json(f, &targets)).collect();
        return show(&pretty(&Value::Array(list))?);
    }
    let mut text = String::new();
    for f in &here {
        let _ = writeln!(
            text,
            "{:<44} {:<12} {:<6} {:<11} {:<12} {}",
            f.name,
            f.kind.name().replace("documented only", "documented"),
            if f.chapter.is_empty() { "-" } else { &f.chapter },
            f.call(),
            f.status(),
            support(f.support, &targets)
        );
    }
    if targets.filtered {
        let names = keys(targets.bits).join(", ");
        let _ = writeln!(
            text,
            "{} of {} functions and overloads are supported on {names}",
            here.len(),
            named.len()
        );
    }
    show(&text)
}

fn pretty(value: &Value) -> Result<String, Refused> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| Refused(error.to_string()))
}

fn support(bits: Option<u16>, targets: &Targets) -> String {
    let Some(bits) = bits else { return "no header declares it".to_owned() };
    let keys = keys(bits & targets.bits);
    match keys.len() {
        0 => "no product".to_owned(),
        n if n == PRODUCTS.len() => "all products".to_owned(),
        _ => keys.join(" "),
    }
}

/// Products with their generations and forms: what `--product`, `--cann` and `--form` may say for the function.
fn places(bits: u16, targets: &Targets) -> impl Iterator<Item = (&'static str, Vec<u8>, Vec<&'static str>)> {
    targets.products().filter(move |(at, _)| bits >> at & 1 == 1).map(|(_, p)| {
        let forms = [("ep", p.ep), ("rc", p.rc)];
        let generations =
            p.generations.iter().copied().filter(|g| targets.generation.is_none_or(|own| own == *g));
        (p.key, generations.collect(), forms.iter().filter(|f| f.1).map(|f| f.0).collect())
    })
}

fn line_json(f: &Function, targets: &Targets) -> Value {
    json!({
        "name": f.name,
        "kind": f.kind.name(),
        "signature": f.signature,
        "header": f.header,
        "chapter": f.chapter,
        "call": f.call(),
        "call_source": f.sync_source,
        "deprecated": f.deprecated,
        "wraps": f.wraps,
        "note": f.note,
        "status": f.status(),
        "products": f.support.map(|bits| {
            places(bits, targets)
                .map(|(key, generations, forms)| json!({"key": key, "generations": generations, "forms": forms}))
                .collect::<Vec<_>>()
        }),
    })
}

/// One name: the function, its overloads, its rules.
struct Detail<'a> {
    name: &'a str,
    forms: Vec<&'a Function>,
    rules: Vec<&'a Rule>,
    python: Vec<&'a str>,
    targets: &'a Targets,
}

impl<'a> Detail<'a> {
    fn new(facts: &'a Facts, targets: &'a Targets, name: &'a str) -> Detail<'a> {
        let overload = format!("{name}<cpp>");
        let applies = |rule: &&Rule| {
            (rule.function == name || rule.function == overload)
                && rule.about.is_none_or(|bits| bits & targets.bits != 0)
                && targets.generation.is_none_or(|g| match rule.generation {
                    Some(own) => own == g,
                    None => true,
                })
        };
        Detail {
            name,
            forms: facts.functions.iter().filter(|f| f.name == name).collect(),
            rules: facts.rules.iter().filter(applies).collect(),
            python: facts.python.iter().filter(|(c, _)| c == name).map(|(_, p)| p.as_str()).collect(),
            targets,
        }
    }

    fn json(&self) -> Value {
        let forms: Vec<_> = self.forms.iter().map(|f| line_json(f, self.targets)).collect();
        let rules: Vec<_> = self
            .rules
            .iter()
            .map(|rule| {
                json!({
                    "id": rule.id,
                    "rule": rule.text,
                    "expected": rule.expected,
                    "decision": rule.decision,
                    "products": match rule.products() {
                        None => json!("all"),
                        Some(Ok(keys)) => json!(keys),
                        Some(Err(words)) => json!(words),
                    },
                    "generation": rule.generation,
                    "source": rule.source,
                    "confidence": rule.confidence,
                })
            })
            .collect();
        json!({"name": self.name, "forms": forms, "python": self.python, "rules": rules})
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.name);
        for f in &self.forms {
            form(&mut text, f, self.targets);
        }
        for name in &self.python {
            let _ = writeln!(text, "\n  python      {name}");
        }
        let _ = match self.rules.len() {
            0 => writeln!(text, "\nno rules of its own (those of every function: toprope api '*')"),
            n => writeln!(text, "\nrules ({n}; those of every function: toprope api '*')"),
        };
        for rule in &self.rules {
            let page = rule.generation.map_or(String::new(), |g| format!(", generation {g}"));
            let about = match rule.products() {
                None => String::new(),
                Some(Ok(keys)) => format!(" on {}", keys.join(", ")),
                Some(Err(words)) => format!(" on {words}"),
            };
            let _ = writeln!(text, "  {}: {}", rule.id, rule.text);
            let _ = writeln!(text, "      {}{about}{page}", rule.expected);
            if !rule.decision.is_empty() {
                let _ = writeln!(text, "      decided here: {}", rule.decision);
            }
            let _ = writeln!(text, "      source: {} ({})", rule.source, rule.confidence);
        }
        text
    }
}

fn form(text: &mut String, f: &Function, targets: &Targets) {
    let or_none = |cell: &str, none: &str| if cell.is_empty() { none.to_owned() } else { cell.to_owned() };
    let _ = writeln!(text, "\n  {}", f.signature);
    let mut row = |what: &str, value: &str| {
        let _ = writeln!(text, "  {what:<11} {value}");
    };
    match f.kind {
        Kind::Cpp => row("C++ over", &f.wraps),
        Kind::Registration => row("kind", "registration: called by compiled device code, no public header"),
        Kind::Documented => row("kind", "documented, but no public header declares it"),
        Kind::C => {}
    }
    if !f.header.is_empty() {
        row("header", &f.header);
    }
    row("chapter", &or_none(&f.chapter, "none: no page"));
    let source = if f.sync_source.is_empty() { String::new() } else { format!(" ({})", f.sync_source) };
    let call = match f.sync.as_str() {
        "sync" => "synchronous",
        "async" => "asynchronous",
        "conditional" => "asynchronous; synchronous for pageable host memory",
        _ => "unknown: no document says whether it is synchronous",
    };
    row("call", &format!("{call}{source}"));
    if !f.deprecated.is_empty() {
        row("deprecated", &format!("use {}", f.deprecated.replace('+', ", ")));
    }
    if !f.note.is_empty() {
        row("note", &f.note);
    }
    row("status", f.status());
    let places: Vec<_> = places(f.support.unwrap_or(0), targets)
        .map(|(key, generations, forms)| {
            let generations: Vec<_> = generations.iter().map(u8::to_string).collect();
            format!("{key} ({}; {})", forms.join(" "), generations.join(" "))
        })
        .collect();
    row("supported", &or_none(&places.join(", "), &support(f.support, targets)));
}
