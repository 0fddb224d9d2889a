//! SARIF 2.1.0, which code scanning services read.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>. Paths are relative to the repository (`%SRCROOT%`).
//! Every result has a file, since GitHub refuses a whole report for one that has none.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use cantus_manifest::{Diagnostic, Digest, Severity};
use cantus_workspace::CONFIG;
use serde_json::{Value, json};

use crate::Status;
use crate::format::place::{Place, whole_text};
use crate::rules::rules;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ROOT: &str = "%SRCROOT%";
/// The name of our fingerprint; what goes into it never changes under one name.
const FINGERPRINT: &str = "cantusFinding/v1";

/// Prints the findings of a run that ended so.
pub(crate) fn sarif(
    out: &mut dyn Write,
    findings: &[Diagnostic],
    place: &Place,
    status: Status,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &log(findings, place, status))?;
    writeln!(out)
}

fn log(findings: &[Diagnostic], place: &Place, status: Status) -> Value {
    let rules = descriptors(findings);
    let index: BTreeMap<_, _> =
        rules.iter().enumerate().filter_map(|(index, rule)| Some((rule["id"].as_str()?, index))).collect();
    let mut seen = BTreeMap::new();
    let results = findings.iter().map(|finding| {
        let nth = seen.entry((finding.code, &finding.path, &finding.message)).or_insert(0_u32);
        *nth += 1;
        result(finding, place, index.get(finding.code), *nth)
    });
    let results: Vec<_> = results.collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cantus",
                "version": env!("CANTUS_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": status != Status::CantTell,
                "exitCode": status.code(),
            }],
            "originalUriBaseIds": { ROOT: { "description": { "text": "the root of the repository" } } },
            "results": results,
        }],
    })
}

/// What is known of every code: those of the documentation, then any others among the findings.
fn descriptors(findings: &[Diagnostic]) -> Vec<Value> {
    let rule = |code: &str, severity: &str, means: &str, help: &str| {
        json!({
            "id": code,
            "shortDescription": { "text": means },
            "help": { "text": help },
            "defaultConfiguration": { "level": severity },
        })
    };
    let mut known: Vec<_> = rules().map(|it| rule(it.code, it.severity, it.means, it.help)).collect();
    for finding in findings {
        if !known.iter().any(|rule| rule["id"] == finding.code) {
            known.push(rule(finding.code, level(finding.severity), finding.code, "see the message"));
        }
    }
    known
}

fn result(finding: &Diagnostic, place: &Place, rule: Option<&usize>, nth: u32) -> Value {
    let file = place.file(finding.path.as_deref());
    let mut location = json!({
        "artifactLocation": { "uri": uri(&file.clone().unwrap_or_else(|| place.of_project(CONFIG))), "uriBaseId": ROOT },
    });
    if let (Some(_), Some(line)) = (&file, finding.line) {
        location["region"] = json!({ "startLine": line });
    }
    json!({
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": level(finding.severity),
        "message": { "text": whole_text(finding, place) },
        "locations": [{ "physicalLocation": location }],
        "partialFingerprints": { FINGERPRINT: fingerprint(finding, nth) },
    })
}

/// What stays the same of a finding when lines move: its code, file and message, and which of several such it is.
fn fingerprint(finding: &Diagnostic, nth: u32) -> String {
    let path = finding.path.as_deref().unwrap_or_default();
    Digest::of(format!("{}\0{path}\0{}\0{nth}", finding.code, finding.message).as_bytes()).to_string()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A path as a relative reference: what RFC 3986 reserves, and `:`, which could end a scheme, are escaped.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_uri(path: &str, expected: &str) {
        assert_eq!(uri(path), expected);
    }

    #[test]
    fn paths_become_references() {
        check_uri("memory/a-b_c.md", "memory/a-b_c.md");
        check_uri("a b%#?.md", "a%20b%25%23%3F.md");
        check_uri("c:x/é.md", "c%3Ax/%C3%A9.md");
    }

    #[test]
    fn a_fingerprint_stays_when_lines_move() {
        let finding = |line| Diagnostic::error("a", "b").at("x.md").line(line);
        assert_eq!(fingerprint(&finding(1), 1), fingerprint(&finding(9), 1));
        assert_ne!(fingerprint(&finding(1), 1), fingerprint(&finding(1), 2));
        assert_ne!(fingerprint(&finding(1), 1), fingerprint(&Diagnostic::error("a", "b").at("y.md"), 1));
    }

    #[test]
    fn equal_findings_are_told_apart() {
        let log =
            log(&[Diagnostic::error("a", "b"), Diagnostic::error("a", "b")], &Place::default(), Status::No);
        let print = |index: usize| &log["runs"][0]["results"][index]["partialFingerprints"][FINGERPRINT];
        assert_ne!(print(0), print(1));
    }

    #[test]
    fn a_finding_without_a_file_is_one_of_the_configuration() {
        let log =
            log(&[Diagnostic::error("io", "b").at("home:x.md").line(2)], &Place::default(), Status::CantTell);
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["message"]["text"], "home:x.md:2: b");
        let location = &result["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "cantus.toml");
        assert_eq!(location["region"], Value::Null);
    }

    #[test]
    fn an_unknown_code_has_a_rule_too() {
        let log = log(&[Diagnostic::warning("new.code", "b")], &Place::default(), Status::Yes);
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        let index = log["runs"][0]["results"][0]["ruleIndex"].as_u64().unwrap();
        assert_eq!((index, &rules[rules.len() - 1]["id"]), (rules.len() as u64 - 1, &json!("new.code")));
    }
}
