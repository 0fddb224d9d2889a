//! How runs ended: the shared vector, and outcomes that launchers tell of.

#![cfg(feature = "observe")]
#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cantus_fs::RealDisk;
use cantus_launch::observe::{Layout, Readout, ReadoutRequest, readout, when};
use cantus_launch::{Runs, Window};
use serde_json::{Value, json};
use tempfile::TempDir;

fn case() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/observed/readout/01-classes")
}

fn expected() -> Value {
    serde_json::from_slice(&fs::read(case().join("expected.json")).expect("a value")).expect("a value")
}

fn time(value: &Value) -> Option<SystemTime> {
    value.as_str().map(|text| when(text, SystemTime::now()).expect("a value"))
}

/// How the runs in `trees` ended by the files of SASE, as the vector asks.
fn by_sase(trees: Vec<PathBuf>, log: &Path) -> Readout {
    let inputs = &expected()["inputs"];
    readout(
        &RealDisk,
        &ReadoutRequest {
            runs: &Runs::in_trees(Arc::new(RealDisk), trees),
            window: Window { since: time(&inputs["since"]), until: time(&inputs["until"]) },
            providers: BTreeSet::new(),
            layout: Layout::Sase(vec![log.to_path_buf()]),
            now: time(&inputs["now"]).expect("a value"),
        },
    )
}

#[test]
fn every_row_of_the_vector() {
    let scratch = tempfile::tempdir().expect("a value");
    let log = fs::read_to_string(case().join("memory_reads.jsonl")).expect("a value");
    // The log names folders; the vector, which lies anywhere, those below its own.
    let folder = serde_json::to_string(&case().join("runs/")).expect("a value");
    let log = log.replace("\"runs/", &folder[..folder.len() - 1]);
    fs::write(scratch.path().join("log"), log).expect("a value");
    let found = by_sase(vec![case().join("runs")], &scratch.path().join("log"));
    let mut found = serde_json::to_value(found).expect("a value");
    assert_eq!(found.as_object_mut().expect("a value").remove("version"), Some(1.into()));
    assert_eq!(found, expected()["payload"]);
}

#[test]
fn every_run_of_the_vector() {
    for (name, class) in expected()["runs"].as_object().expect("a value") {
        let found = by_sase(vec![case().join("runs").join(name)], Path::new("/none"));
        let words: Vec<&str> = class.as_str().unwrap_or_default().split_whitespace().collect();
        let Some(row) = found.rows.first() else {
            assert!(words.is_empty(), "{name}");
            continue;
        };
        assert_eq!((found.rows.len(), row.total, row.classes[words[0]]), (1, 1, 1), "{name}: {row:?}");
        assert_eq!((row.delivery_mode, row.is_research), (words[1], Some(words.len() > 2)), "{name}");
    }
}

#[test]
fn only_the_end_of_a_log_of_calls_tells() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("keeper");
    fs::create_dir(&folder).expect("a folder");
    let meta = r#"{"llm_provider": "claude", "run_started_at": "2026-11-20T10:00:00Z"}"#;
    fs::write(folder.join("agent_meta.json"), meta).expect("a file");
    fs::write(folder.join("done.json"), "{}").expect("a file");
    let class = |log: &[u8]| {
        fs::write(folder.join("tool_calls.jsonl"), log).expect("a file");
        let row = by_sase(vec![scratch.path().to_path_buf()], Path::new("/none")).rows.remove(0);
        row.classes.into_iter().find(|(_, runs)| *runs > 0).expect("a class").0
    };
    let call = b"sase pipe\n";
    let gap = |length: usize| vec![0xff; length];
    assert_eq!(class(&[&call[..], &gap(262_144 - call.len())].concat()), "other_handoff");
    assert_eq!(class(&[&call[..], &gap(262_144)].concat()), "miss");
    assert_eq!(class(&[&gap(3 << 20), &call[..]].concat()), "other_handoff");
    assert_eq!(class(b""), "miss");
}

/// A run called `name` that began at the time `start` and has these further files.
fn run(scratch: &TempDir, name: &str, start: &str, ended: Option<&str>, outcome: Option<&str>) {
    let folder = scratch.path().join(name);
    fs::create_dir_all(&folder).expect("a value");
    let run = json!({
        "version": 1, "name": name, "provider": "claude", "workspace": "/w", "host": "", "started_at": start,
        "ended_at": ended, "exit_status": ended.map(|_| 0),
    });
    fs::write(folder.join("run.json"), run.to_string()).expect("a value");
    if let Some(outcome) = outcome {
        fs::write(folder.join("outcome.json"), outcome).expect("a value");
    }
}

/// How the runs in `scratch` ended by what their launcher told.
fn told(scratch: &TempDir, providers: &[&str]) -> Readout {
    let now = when("2026-11-30", SystemTime::now()).expect("a value");
    readout(
        &RealDisk,
        &ReadoutRequest {
            runs: &Runs::in_trees(Arc::new(RealDisk), vec![scratch.path().to_path_buf()]),
            window: Window { since: Some(now - Duration::from_secs(30 * 86_400)), until: None },
            providers: providers.iter().map(|name| (*name).to_owned()).collect(),
            layout: Layout::Cantus,
            now,
        },
    )
}

#[test]
fn a_launcher_tells_the_outcome() {
    let scratch = tempfile::tempdir().expect("a value");
    let (day, end) = ("2026-11-20T10:00:00Z", Some("2026-11-20T10:30:00Z"));
    run(&scratch, "a", day, end, Some(r#"{"version": 1, "class": "accepted"}"#));
    run(&scratch, "b", day, None, Some(r#"{"version": 1, "class": "handoff", "kind": "review"}"#));
    run(&scratch, "c", day, end, Some(r#"{"version": 1, "class": "not_required", "kind": 5}"#));
    run(&scratch, "d", day, end, None);
    run(&scratch, "e", day, None, None);
    run(&scratch, "old", "2026-10-20T10:00:00Z", end, None);
    let found = told(&scratch, &[]);
    let value = serde_json::to_value(&found).expect("a value");
    assert_eq!(
        value["rows"],
        json!([{
            "provider": "claude", "delivery_mode": "none", "total": 5, "accepted": 1, "handoff": 1,
            "not_required": 1, "miss": 1, "unknown": 1, "misses": "≤1/5 (20%)", "miss_rate": 0.2,
            "kinds": [{ "class": "handoff", "kind": "review", "runs": 1 }],
        }])
    );
    assert_eq!(value["filters"]["since"], "2026-10-31T00:00:00.000Z");
    assert!(found.broken.is_empty() && told(&scratch, &["codex"]).rows.is_empty());
}

#[test]
fn an_outcome_that_nobody_understands_is_unknown_and_told() {
    let texts = [
        "{",
        "[]",
        "",
        r#"{"version": 2, "class": "accepted"}"#,
        r#"{"version": 1, "class": "miss"}"#,
        r#"{"version": 1}"#,
        "\u{fffd}",
    ];
    for text in texts {
        let scratch = tempfile::tempdir().expect("a value");
        run(&scratch, "a", "2026-11-20T10:00:00Z", Some("2026-11-20T10:30:00Z"), Some(text));
        let found = told(&scratch, &[]);
        assert_eq!(
            (found.rows[0].classes["unknown"], found.broken.as_slice()),
            (1, &["a".to_owned()][..]),
            "{text}"
        );
    }
}
