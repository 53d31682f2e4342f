//! The report as a file: JSON of our own (version 1, documented in docs/checker.md), or SARIF 2.1.0.

use std::path::Path;

use serde_json::{Value, json};

use crate::finding::{Findings, Kept};
use crate::rule::ALL;
use crate::symbol::Frame;

/// Writes it; the error is one line. `shared`: other processes of the same run write there too, and one that found nothing leaves
/// what they have found.
pub fn write(path: &Path, findings: &Findings, shared: bool) -> Result<(), String> {
    let nothing = shared && findings.all().is_empty();
    let told = nothing && std::fs::read(path).is_ok_and(|bytes| holds_findings(&bytes));
    if told { Ok(()) } else { put(path, findings) }
}

/// Writes the report of a process that has found nothing yet.
pub fn write_empty(path: &Path) -> Result<(), String> {
    put(path, &Findings::default())
}

fn put(path: &Path, findings: &Findings) -> Result<(), String> {
    let sarif = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sarif"));
    let value = if sarif { sarif_of(findings) } else { json_of(findings) };
    std::fs::write(path, format!("{value:#}\n"))
        .map_err(|error| format!("cannot write the report to {}: {error}", path.display()))
}

/// Whether these are a report, of either kind, with a finding.
fn holds_findings(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|value| {
        let lists = [&value["findings"], &value["runs"][0]["results"]];
        lists.iter().any(|list| list.as_array().is_some_and(|list| !list.is_empty()))
    })
}

/// The report as JSON.
pub fn json_of(findings: &Findings) -> Value {
    let all: Vec<Value> = findings
        .all()
        .iter()
        .map(|kept| {
            let sides: Vec<Value> = kept
                .finding
                .sides
                .iter()
                .zip(&kept.frames)
                .map(|(side, frames)| json!({ "what": side.what, "frames": frames.iter().map(frame).collect::<Vec<_>>() }))
                .collect();
            json!({
                "rule": kept.finding.rule.id,
                "level": kept.finding.rule.level.word(),
                "text": kept.finding.text,
                "mend": kept.finding.rule.mend,
                "times": kept.times,
                "suppressed": kept.suppressed,
                "calls": sides,
            })
        })
        .collect();
    json!({ "version": 1, "findings": all })
}

fn frame(frame: &Frame) -> Value {
    json!({ "function": frame.function, "file": frame.file, "line": frame.line })
}

/// The report as SARIF.
pub fn sarif_of(findings: &Findings) -> Value {
    let rules: Vec<Value> = ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.title },
                "help": { "text": rule.mend },
                "defaultConfiguration": { "level": rule.level.word() },
            })
        })
        .collect();
    let results: Vec<Value> = findings.all().iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": { "name": "toprope", "version": env!("CARGO_PKG_VERSION"), "rules": rules } }, "results": results }],
    })
}

fn result(kept: &Kept) -> Value {
    let places: Vec<Option<Value>> = kept.frames.iter().map(|frames| place(frames)).collect();
    let main: Vec<&Value> = places.iter().take(1).flatten().collect();
    let related: Vec<Value> = kept
        .finding
        .sides
        .iter()
        .zip(&places)
        .skip(1)
        .filter_map(|(side, place)| {
            let mut place = place.clone()?;
            place["message"] = json!({ "text": side.what });
            Some(place)
        })
        .collect();
    let suppressions = if kept.suppressed { json!([{ "kind": "external" }]) } else { json!([]) };
    json!({
        "ruleId": kept.finding.rule.id,
        "level": kept.finding.rule.level.word(),
        "message": { "text": kept.finding.text },
        "locations": main,
        "relatedLocations": related,
        "occurrenceCount": kept.times,
        "suppressions": suppressions,
    })
}

/// The innermost frame that has a line, of the program's own if there is one.
fn place(frames: &[Frame]) -> Option<Value> {
    let placed = || frames.iter().filter(|frame| frame.line != 0);
    let frame = placed().find(|frame| !frame.system).or_else(|| placed().next())?;
    Some(json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&frame.file) },
        "region": { "startLine": frame.line },
    } }))
}

/// A file's name as a URI reference: absolute ones with their scheme.
fn uri(file: &str) -> String {
    let mut uri = if file.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b'+' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::settings::Settings;
    use crate::site::Site;
    use crate::suppress::Suppressions;

    #[test]
    fn both_forms_hold_the_finding() {
        let mut findings = Findings::default();
        let settings = Settings::from_env();
        for _ in 0..2 {
            let finding =
                Finding::new(&crate::rule::stream_race::RULE, "two writes").side("a write", Site::NONE);
            findings.add(finding, &settings, &Suppressions::default());
        }
        let json = json_of(&findings);
        assert_eq!(
            (json["findings"][0]["rule"].as_str(), json["findings"][0]["times"].as_u64()),
            (Some("stream-race"), Some(2))
        );
        let sarif = sarif_of(&findings);
        assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "stream-race");
        assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(1));
        assert!(
            findings
                .summary(Mode::Warn)
                .starts_with("toprope: check: 1 error, 0 warnings, 0 notes, 1 found again")
        );
    }

    #[test]
    fn files_are_uris_and_the_programs_own_come_first() {
        assert_eq!(uri("/a b/ä.cpp"), "file:///a%20b/%C3%A4.cpp");
        assert_eq!(uri("src/a+b.cpp"), "src/a+b.cpp");
        let frame = |file: &str, line, system| Frame { file: file.into(), line, system, ..Frame::default() };
        let of = |frames: &[Frame]| {
            place(frames).map(|place| place["physicalLocation"]["artifactLocation"]["uri"].clone())
        };
        let libc = frame("memset.S", 2, true);
        assert_eq!(of(&[libc.clone(), frame("", 0, false), frame("a.cpp", 7, false)]), Some(json!("a.cpp")));
        assert_eq!(of(&[libc]), Some(json!("memset.S")));
        assert_eq!(of(&[frame("", 0, false)]), None);
    }

    #[test]
    fn a_report_with_findings_is_told_from_one_without() {
        let mut findings = Findings::default();
        assert!(!holds_findings(json_of(&findings).to_string().as_bytes()));
        assert!(!holds_findings(sarif_of(&findings).to_string().as_bytes()) && !holds_findings(b""));
        let finding = Finding::new(&crate::rule::stream_race::RULE, "x").side("y", Site::NONE);
        findings.add(finding, &Settings::from_env(), &Suppressions::default());
        assert!(holds_findings(json_of(&findings).to_string().as_bytes()));
        assert!(holds_findings(sarif_of(&findings).to_string().as_bytes()));
    }

    use crate::settings::Mode;
}
