//! The vectors of observed loads: session files of each provider with what a report must say of them.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use cantus_fs::{Fault, FaultDisk, FaultKind, On};
use cantus_launch::RunInfo;
use cantus_launch::observe::{Known, Observation};
use serde_json::{Value, json};

use crate::fixture::{Case, vectors};

impl Case {
    /// What the vectors say, as far as reports tell it.
    fn found(&self) -> Value {
        let whole = self.report(self.runs(), None);
        assert_eq!(whole.schema_version, 1);
        let single = |run: RunInfo| {
            let name = run.name.clone();
            self.report(vec![run], Some(name)).observations.unwrap()
        };
        let sections: Vec<_> = self.runs().into_iter().flat_map(single).collect();
        let observations = whole.observations.as_ref().unwrap().iter().map(|observation| {
            let is_it = |it: &&_| same(it, observation);
            let diff = sections.iter().find(is_it).unwrap().section_diff.clone();
            let mut value = json!(observation);
            if let Some(diff) = diff.map(|diff| json!(diff)) {
                if observation.provider == Known::Agy {
                    let nothing = json!({"manifest": null, "purpose": null, "rows": [], "unavailable": true});
                    assert_eq!(diff, nothing);
                } else {
                    value["section_diff"] = diff;
                }
            }
            value
        });
        let mut sessions: Vec<_> = whole.sessions.iter().map(|session| json!(session)).collect();
        for session in &mut sessions {
            session["start"] = python(session["start"].as_str().unwrap()).into();
        }
        let mut found = json!({
            "root_sessions": sorted(sessions),
            "verdicts": sorted(whole.verdicts.iter().flatten().map(|verdict| json!(verdict)).collect()),
            "observations": sorted(observations.collect()),
            "providers": whole.providers,
            "coverage": whole.coverage,
        });
        self.relative(&mut found);
        found
    }

    /// Makes paths of the case relative to it.
    fn relative(&self, value: &mut Value) {
        let folder = format!("{}{}", self.folder.path().display(), std::path::MAIN_SEPARATOR);
        match value {
            Value::String(text) => {
                if let Some(below) = text.strip_prefix(&folder) {
                    *text = below.replace('\\', "/");
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.relative(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.relative(field)),
            _ => {}
        }
    }
}

/// Whether two observations are of the same conversation.
fn same(a: &Observation, b: &Observation) -> bool {
    (a.provider, &a.run, &a.session) == (b.provider, &b.run, &b.session)
}

/// The vectors have them by run and session.
fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_key(|value| (value["run"].to_string(), value["session"].to_string()));
    values
}

/// A time as the vectors spell it.
fn python(time: &str) -> String {
    let (seconds, millis) = (&time[..19], &time[20..23]);
    if millis == "000" { format!("{seconds}+00:00") } else { format!("{seconds}.{millis}000+00:00") }
}

#[track_caller]
fn check(name: &str) {
    let case = Case::new(name);
    let found = case.found();
    let mut wrong = Vec::new();
    compare(name, &found, &case.expected, &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tells each place where two values differ.
fn compare(at: &str, found: &Value, expected: &Value, wrong: &mut Vec<String>) {
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().for_each(|(key, value)| compare(&format!("{at}/{key}"), value, &b[key], wrong));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter()
                .zip(b)
                .enumerate()
                .for_each(|(index, (a, b))| compare(&format!("{at}/{index}"), a, b, wrong));
        }
        _ if found == expected => {}
        _ => wrong.push(format!("{at}: found {found}, expected {expected}")),
    }
}

/// Every case of a provider's folder: a test a provider, so that none is forgotten.
#[track_caller]
fn check_all(provider: &str, count: usize) {
    let folders = fs::read_dir(vectors().join(provider)).unwrap();
    let mut names: Vec<_> = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), count);
    let mut failed = Vec::new();
    for name in names {
        let case = format!("{provider}/{name}");
        if std::panic::catch_unwind(|| check(&case)).is_err() {
            failed.push(case);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn claude() {
    check_all("claude", 17);
}

#[test]
fn codex() {
    check_all("codex", 8);
}

#[test]
fn grok() {
    check_all("grok", 3);
}

#[test]
fn muse() {
    check_all("muse", 4);
}

#[test]
fn agy() {
    check_all("agy", 1);
}

#[test]
fn mixed() {
    check_all("mixed", 1);
}

#[test]
fn lines_that_are_no_records_are_counted() {
    let odd = Case::new("claude/13-odd-bytes");
    let report = odd.report(odd.runs(), None);
    assert_eq!(report.unread.iter().map(|it| it.lines).collect::<Vec<_>>(), [3]);
    let sound = Case::new("claude/01-explicit");
    assert!(json!(sound.report(sound.runs(), None)).get("unread").is_none());
}

#[test]
fn a_file_from_before_the_runs_is_not_opened() {
    let case = Case::new("claude/01-explicit");
    let folder = case.folder.path().join("home/.claude/projects/-w-lamp");
    let session = folder.join("aaaaaaaa-0000-4000-8000-000000000001.jsonl");
    let early = UNIX_EPOCH + Duration::from_secs(1);
    fs::File::options().append(true).open(session).unwrap().set_modified(early).unwrap();
    assert_eq!(case.report(case.runs(), None).providers[0].sessions, 0);
}

#[test]
fn what_the_disk_refuses_is_not_there() {
    let case = Case::new("claude/01-explicit");
    for at in 1.. {
        let kind = FaultKind::Io(std::io::ErrorKind::PermissionDenied);
        let disk = FaultDisk::new().fault(Fault { at, on: On::Any, kind });
        let report = case.report_on(&disk, case.runs(), None);
        assert_eq!(report.runs.len(), 1);
        if disk.count(On::Any) < at {
            assert_eq!(report.providers[0].sessions, 3);
            break;
        }
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_is_followed_to_a_file_and_to_nothing_else() {
    let case = Case::new("claude/01-explicit");
    let folder = case.folder.path().join("home/.claude/projects/-w-lamp");
    let session = folder.join("aaaaaaaa-0000-4000-8000-000000000001.jsonl");
    let elsewhere = case.folder.path().join("elsewhere.jsonl");
    fs::rename(&session, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &session).unwrap();
    assert_eq!(case.report(case.runs(), None).providers[0].sessions, 3);
    fs::remove_file(&session).unwrap();
    for target in [case.folder.path().to_path_buf(), session.clone(), "/dev/zero".into()] {
        std::os::unix::fs::symlink(target, &session).unwrap();
        assert_eq!(case.report(case.runs(), None).providers[0].sessions, 0);
        fs::remove_file(&session).unwrap();
    }
}
