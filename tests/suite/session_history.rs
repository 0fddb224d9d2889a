//! `cantus session snapshot` on the histories of conversations.

use std::fs;
use std::time::{Duration, SystemTime};

use cantus_testkit::{Output, Repo};
use serde_json::{Value, json};

use crate::program::cantus;

const SNAPSHOT: &str = r#"[{"id":"wiki","title":"Wiki","body":"Two notes: é.","sources":[{"id":"a.md","kind":"note","revision":"r1"}],"budget":2500,"size":13,"cut":false,"order":80}]"#;

fn update(id: &str, parent: &str, snapshot: &str) -> String {
    format!(
        r#"{{"type":"custom_message","id":"{id}","parentId":{parent},"customType":"cantus-context","details":{{"cantusContext":{snapshot}}}}}"#
    )
}

fn message(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user","content":"go on"}}}}"#
    )
}

/// A conversation that was given a snapshot and went on.
fn history() -> String {
    let header = r#"{"type":"session","id":"s","version":3}"#;
    let lines = [header, &message("a", "null"), &update("b", "\"a\"", SNAPSHOT), &message("c", "\"b\"")];
    lines.map(|line| format!("{line}\n")).concat()
}

#[track_caller]
fn snapshot(repo: &Repo, args: &[&str]) -> Output {
    cantus(repo, &[&["session", "snapshot"], args].concat())
}

#[track_caller]
fn check(repo: &Repo, args: &[&str], expected: &str) {
    let output = snapshot(repo, args).exits(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (format!("{expected}\n").as_str(), ""));
}

#[test]
fn the_snapshot_is_printed_as_the_history_has_it() {
    let repo = Repo::without_git("");
    repo.write("h.jsonl", &history());
    check(&repo, &["h.jsonl"], SNAPSHOT);
    check(&repo, &["h.jsonl", "-q"], SNAPSHOT);
    check(&repo, &[repo.path().join("h.jsonl").to_str().unwrap_or_default()], SNAPSHOT);
    repo.write("h.jsonl", &history().replace('\n', "\r\n"));
    check(&repo, &["h.jsonl"], SNAPSHOT);
    repo.write("h.jsonl", &history().replace('é', r"\ud83d"));
    check(&repo, &["h.jsonl"], &SNAPSHOT.replace('é', r"\uFFFD"));
}

#[test]
fn without_a_snapshot_it_is_null() {
    let repo = Repo::without_git("");
    repo.write("empty.jsonl", "");
    repo.write("plain.jsonl", "Just a note.\n\n\u{0}");
    repo.write(
        "compacted.jsonl",
        &format!("{}{}\n", history(), r#"{"type":"compaction","id":"k","parentId":"c"}"#),
    );
    repo.write("forked.jsonl", &format!("{}{}\n", history(), message("d", "\"a\"")));
    repo.write("wrong.jsonl", &history().replace("\"cut\":false", "\"cut\":0"));
    for name in ["empty", "plain", "compacted", "forked", "wrong", "none", "none/none", "empty.jsonl/none"] {
        check(&repo, &[&format!("{name}.jsonl")], "null");
    }
}

#[test]
fn type_and_key_are_the_hosts() {
    let repo = Repo::without_git("");
    repo.write("h.jsonl", &history().replace("cantus-context", "lamp").replace("cantusContext", "shade"));
    check(&repo, &["h.jsonl", "--type", "lamp", "--key", "shade"], SNAPSHOT);
    check(&repo, &["h.jsonl", "--type", "lamp"], "null");
    check(&repo, &["h.jsonl", "--key", "shade"], "null");
    check(&repo, &["h.jsonl"], "null");
    snapshot(&repo, &["h.jsonl", "--type", ""]).exits(2);
    snapshot(&repo, &["h.jsonl", "--key="]).exits(2);
}

#[test]
fn of_a_folder_the_newest_history_is_read() {
    let repo = Repo::without_git("");
    let day = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let write = |name: &str, text: &str, age: u64| {
        repo.write(name, text);
        let file = fs::OpenOptions::new().write(true).open(repo.path().join(name)).expect("the file");
        file.set_modified(day - Duration::from_secs(age)).expect("its time");
    };
    write("s/old.jsonl", &history().replace("r1", "r0"), 60);
    write("s/new.jsonl", &history(), 30);
    write("s/newer.json", "", 0);
    check(&repo, &["s"], SNAPSHOT);
    check(&repo, &["s/"], SNAPSHOT);
    check(&repo, &["s/old.jsonl"], &SNAPSHOT.replace("r1", "r0"));
    fs::create_dir(repo.path().join("empty")).expect("a folder");
    check(&repo, &["empty"], "null");
}

#[cfg(unix)]
#[test]
fn what_can_not_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt;

    let repo = Repo::without_git("");
    repo.write("h.jsonl", &history());
    std::os::unix::fs::symlink("h.jsonl", repo.path().join("link.jsonl")).expect("a symlink");
    std::os::unix::fs::symlink("loop.jsonl", repo.path().join("loop.jsonl")).expect("a symlink");
    check(&repo, &["link.jsonl"], SNAPSHOT);
    let mode = |mode| {
        let path = repo.path().join("h.jsonl");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
    };
    mode(0o000);
    let is_readable = fs::read(repo.path().join("h.jsonl")).is_ok();
    let mut unreadable = vec!["loop.jsonl", "/dev/null"];
    unreadable.extend((!is_readable).then_some("h.jsonl"));
    for name in unreadable {
        let output = snapshot(&repo, &[name]).exits(2);
        let said = format!("error: cannot read the history `{name}`: ");
        assert!(output.stderr.starts_with(&said) && output.stdout.is_empty(), "{}", output.stderr);
    }
    mode(0o644);
}

#[test]
fn wrong_usage_is_refused() {
    let repo = Repo::without_git("");
    snapshot(&repo, &[]).exits(2);
    snapshot(&repo, &["a", "b"]).exits(2);
    let output = snapshot(&repo, &["-"]).exits(2);
    let said = "error: a history is read from its end, which standard input can't be\n  help: name the file; `./-` if that is its name\n";
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", said));
}

#[test]
fn what_was_appended_comes_back() {
    let repo = Repo::without_git("");
    let text = "One “note”, é 漢 😀:\n\n```\nx\n```\n\u{2028}\u{7f}";
    let launch = json!({
        "version": 1,
        "product": "Acme",
        "sections": [{"id": "work", "title": "Work", "text": text, "dynamic": true, "sources": [
            {"id": "7", "kind": "ticket", "revision": "3"},
        ]}],
    });
    repo.write("launch.json", &launch.to_string());
    let output = cantus(&repo, &["session", "compile", "launch.json", "--no-home"]).exits(0);
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let given = report["update"]["snapshot"].to_string();
    repo.write("h.jsonl", &format!("{}\n{}\n", update("a", "null", &given), message("b", "\"a\"")));
    check(&repo, &["h.jsonl"], &given);
    assert!(given.contains('漢'), "{given}");
}
