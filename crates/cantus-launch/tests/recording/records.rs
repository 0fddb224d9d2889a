//! Runs recorded and read back on the real disk.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use cantus_fs::RealDisk;
use cantus_launch::{Integrity, RecordError, Role, Run, RunFile, RunIndex, RunInfo, Runs, Window, records};
use cantus_manifest::manifest::{DeliveryStatus, FallbackReason, Manifest};
use serde_json::Value;

use crate::fixture::{Scratch, error_record, run_file};

/// The variable that tells a process of the test below where to reserve.
const ARTIFACTS: &str = "CANTUS_TEST_ARTIFACTS";

#[test]
fn an_invocation_is_a_bundle_and_its_manifest() {
    let scratch = Scratch::new();
    let run = scratch.run();
    let reservation = run.reserve("claude").unwrap();
    assert_eq!((reservation.seq(), reservation.attempt()), (0, 1));
    assert_eq!(reservation.bundle_path(), run.artifacts().join("instructions/00-claude.md"));
    let (text, manifest) = scratch.bundle(&reservation);
    let (helper_text, helper) = scratch.helper(&reservation);
    reservation.write(&text, &manifest, Some((&helper_text, &helper))).unwrap();

    let names = ["00-claude.helper.json", "00-claude.helper.md", "00-claude.json", "00-claude.md"];
    assert_eq!(scratch.names("instructions"), names);
    assert_eq!(scratch.read("instructions/00-claude.md"), text);
    let json = scratch.read("instructions/00-claude.json");
    assert!(
        json.starts_with("{\n  \"budget\": {\n    \"by_layer\": {\n") && json.ends_with("\n}\n"),
        "{json}"
    );
    assert!(json.contains("Straße") && !json.contains("\\u"), "not as it is: {json}");
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(Manifest::normalise(&value).unwrap(), manifest);

    let records = records(&RealDisk, run.artifacts(), None).unwrap();
    let found: Vec<_> = records.iter().map(|record| (record.seq, record.role, record.integrity)).collect();
    assert_eq!(found, [(0, Role::Root, Integrity::Match), (0, Role::Helper, Integrity::Match)]);
    assert!(records.iter().all(|record| record.problems.is_empty()), "{records:?}");
    assert_eq!(records[1].said.parent_invocation_id, records[0].said.invocation_id);
}

#[test]
fn what_is_learned_later_is_in_the_manifest() {
    let scratch = Scratch::new();
    let run = scratch.run();
    let reservation = run.reserve("claude").unwrap();
    let (text, mut manifest) = scratch.bundle(&reservation);
    reservation.write(&text, &manifest, None).unwrap();
    manifest.delivery.session_ids = vec!["s1".to_owned(), "s2".to_owned()];
    manifest.delivery.status = DeliveryStatus::InheritsNative;
    reservation.rewrite(&manifest).unwrap();
    let record = &records(&RealDisk, run.artifacts(), None).unwrap()[0];
    assert_eq!(record.said.session_ids, ["s1", "s2"]);
    assert_eq!(record.said.delivery_status.as_deref(), Some("inherits_native"));
    assert_eq!(record.integrity, Integrity::Match);
}

#[test]
fn a_manifest_that_breaks_a_rule_is_not_written() {
    let scratch = Scratch::new();
    let reservation = scratch.run().reserve("claude").unwrap();
    let (text, mut manifest) = scratch.bundle(&reservation);
    manifest.bundle.bytes += 1;
    let error = reservation.write(&text, &manifest, None).unwrap_err();
    assert!(matches!(error, RecordError::Manifest(_)), "{error}");
    assert_eq!(scratch.read("instructions/00-claude.md"), "");
    assert_eq!(scratch.names("instructions"), ["00-claude.md"]);
}

#[test]
fn a_failure_leaves_its_reason_in_the_place_of_a_bundle() {
    let scratch = Scratch::new();
    let run = scratch.run();
    run.reserve("claude").unwrap().fail(&error_record(&"é".repeat(3000))).unwrap();
    assert_eq!(scratch.names("instructions"), ["00-claude.error.json"]);
    let value: Value = serde_json::from_str(&scratch.read("instructions/00-claude.error.json")).unwrap();
    assert_eq!(value["error"]["message"], "é".repeat(2000));
    assert_eq!(value["error"]["type"], "RenderError");
    assert_eq!(value["delivery_fallback"], "render_failed");
    assert_eq!(value["rendered_at"], "2026-11-20T10:00:00.250Z");
    assert_eq!((&value["invocation_seq"], &value["schema_version"]), (&0.into(), &1.into()));
    assert_eq!(run.reserve("claude").unwrap().seq(), 1, "the number stays taken");
    let record = &records(&RealDisk, run.artifacts(), None).unwrap()[0];
    assert!(record.error && record.problems.is_empty(), "{record:?}");
}

#[test]
fn a_failure_after_the_bundle_keeps_the_bundle() {
    let scratch = Scratch::new();
    let reservation = scratch.run().reserve("claude").unwrap();
    let (text, manifest) = scratch.bundle(&reservation);
    reservation.write(&text, &manifest, None).unwrap();
    let error = cantus_launch::ErrorRecord { fallback: FallbackReason::DeliveryFailed, ..error_record("x") };
    reservation.fail(&error).unwrap();
    assert_eq!(scratch.names("instructions"), ["00-claude.error.json", "00-claude.json", "00-claude.md"]);
}

#[track_caller]
fn check_next(present: &[&str], provider: &str, expected: &str) {
    let scratch = Scratch::new();
    present.iter().for_each(|name| scratch.write(&format!("instructions/{name}"), "x"));
    let reservation = scratch.run().reserve(provider).unwrap();
    assert_eq!(reservation.bundle_path().file_name().unwrap(), expected);
}

#[test]
fn numbers_go_on_behind_the_highest() {
    check_next(&[], "claude", "00-claude.md");
    check_next(&["00-codex.md"], "claude", "01-claude.md");
    check_next(&["00-a.md", "07-b.error.json", "notes.md", "8-c.md"], "a", "08-a.md");
    check_next(&["99-a.md"], "a", "100-a.md");
    check_next(&["100-a.json", "99-a.md"], "a", "101-a.md");
    check_next(&["041-a.md"], "a", "00-a.md");
    check_next(&[], "../../etc/passwd", "00-etc-passwd.md");
    check_next(&[], "", "00-unknown.md");
}

#[test]
fn a_number_that_leaves_no_room_is_an_error() {
    let scratch = Scratch::new();
    scratch.write("instructions/999999999-a.md", "x");
    let error = scratch.run().reserve("a").unwrap_err();
    assert!(matches!(error, RecordError::Taken), "{error}");
}

#[test]
fn earlier_attempts_are_folders() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run().attempt(), 1);
    scratch.write("attempts/1/x", "");
    scratch.write("attempts/2/x", "");
    scratch.write("attempts/notes.md", "");
    assert_eq!(scratch.run().attempt(), 3);
}

#[test]
fn the_launchers_file_gains_one_key() {
    let scratch = Scratch::new();
    scratch.write("agent_meta.json", "{\"z\": 1.50, \"a\":  [1,2],\n \"name\": \"build\"}\n");
    let run = scratch.run();
    for expected in [0, 1] {
        let reservation = run.reserve("claude").unwrap();
        let (text, manifest) = scratch.bundle(&reservation);
        let helper = scratch.helper(&reservation);
        let helper = (expected == 1).then_some((helper.0.as_str(), &helper.1));
        reservation.write(&text, &manifest, helper).unwrap();
        reservation.summarise(&manifest).unwrap();
        let json = scratch.read("agent_meta.json");
        assert!(
            json.starts_with("{\"z\": 1.50, \"a\":  [1,2],\n \"name\": \"build\",\"instructions\": {"),
            "{json}"
        );
        let summary = &serde_json::from_str::<Value>(&json).unwrap()["instructions"];
        assert_eq!((&summary["count"], &summary["schema_version"]), (&(expected + 1).into(), &1.into()));
        let latest = &summary["latest"];
        assert_eq!(latest["seq"], expected);
        assert_eq!(latest["manifest"], format!("instructions/0{expected}-claude.json"));
        assert_eq!((&latest["provider"], &latest["purpose"]), (&"claude".into(), &"ordinary".into()));
        assert_eq!(latest["sha256"], manifest.bundle.sha256);
        assert_eq!(latest["common_digest"].as_str(), manifest.bundle.common_digest.as_deref());
        assert_eq!(latest.get("helper_manifest").is_some(), expected == 1);
    }
}

#[track_caller]
fn check_left_alone(meta: &[u8]) {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("agent_meta.json"), meta).unwrap();
    let reservation = scratch.run().reserve("claude").unwrap();
    let (text, manifest) = scratch.bundle(&reservation);
    reservation.write(&text, &manifest, None).unwrap();
    let error = reservation.summarise(&manifest).unwrap_err();
    assert!(error.to_string().starts_with("`agent_meta.json` is left as it is: "), "{error}");
    assert_eq!(fs::read(scratch.path().join("agent_meta.json")).unwrap(), meta);
}

#[test]
fn a_broken_file_of_the_launcher_is_left_alone() {
    for meta in [&b"{"[..], b"", b"[1]", b"{\"a\": \"\xff\"}", b"\xef\xbb\xbf{}", b"{\"a\": 1,}"] {
        check_left_alone(meta);
    }
}

#[test]
fn no_file_of_the_launcher_is_made() {
    let scratch = Scratch::new();
    let reservation = scratch.run().reserve("claude").unwrap();
    let (_, manifest) = scratch.bundle(&reservation);
    reservation.summarise(&manifest).unwrap();
    assert!(!scratch.path().join("agent_meta.json").exists());
}

#[cfg(unix)]
#[test]
fn nothing_is_written_behind_a_symlink() {
    use std::os::unix::fs::symlink;

    let (scratch, outside) = (Scratch::new(), Scratch::new());
    symlink(outside.path(), scratch.path().join("instructions")).unwrap();
    let error = Run::open(Arc::new(RealDisk), scratch.path()).unwrap_err();
    assert!(error.to_string().contains("lies behind the symlink `instructions`"), "{error}");

    let scratch = Scratch::new();
    outside.write("meta.json", "{}");
    symlink(outside.path().join("meta.json"), scratch.path().join("agent_meta.json")).unwrap();
    symlink(outside.path().join("meta.json"), scratch.path().join("run.json")).unwrap();
    let run = scratch.run();
    let reservation = run.reserve("claude").unwrap();
    let (text, manifest) = scratch.bundle(&reservation);
    fs::remove_file(reservation.bundle_path()).unwrap();
    symlink(outside.path().join("meta.json"), reservation.bundle_path()).unwrap();
    reservation.write(&text, &manifest, None).unwrap_err();
    reservation.summarise(&manifest).unwrap_err();
    run.begin(&run_file("x")).unwrap_err();
    assert_eq!(outside.read("meta.json"), "{}");
    assert_eq!(outside.names("."), ["meta.json"]);
}

#[cfg(unix)]
#[test]
fn an_artifacts_folder_may_be_a_symlink() {
    let (scratch, other) = (Scratch::new(), Scratch::new());
    std::os::unix::fs::symlink(other.path(), scratch.path().join("link")).unwrap();
    Run::open(Arc::new(RealDisk), &scratch.path().join("link")).unwrap().reserve("claude").unwrap();
    assert_eq!(other.names("instructions"), ["00-claude.md"]);
}

#[test]
fn an_artifacts_path_that_is_a_file_is_an_error() {
    let scratch = Scratch::new();
    scratch.write("file", "x");
    let error = Run::open(Arc::new(RealDisk), &scratch.path().join("file")).unwrap_err();
    assert!(error.to_string().starts_with("cannot make the folder `instructions` of the run"), "{error}");
    assert_eq!(scratch.read("file"), "x");
    scratch.write("run/instructions", "x");
    let error = Run::open(Arc::new(RealDisk), &scratch.path().join("run")).unwrap_err();
    assert!(error.to_string().contains("`instructions`, which is a regular file"), "{error}");
}

#[test]
fn a_run_tells_when_it_began_and_ended() {
    let scratch = Scratch::new();
    let run = scratch.run();
    let file = run_file("build-42");
    assert_eq!(run.begin(&file).unwrap(), file);
    let text = scratch.read("run.json");
    let expected = r#"{
  "ended_at": null,
  "exit_status": null,
  "host": "tower",
  "name": "build-42",
  "provider": "claude",
  "started_at": "2026-11-20T10:00:00.250Z",
  "version": 1,
  "workspace": "/w/lamp"
}
"#;
    assert_eq!(text, expected);
    run.end(file.started_at + Duration::from_secs(60), Some(3)).unwrap();
    let info = RunInfo::read(&RealDisk, scratch.path());
    assert_eq!(info.exit_status, Some(3));
    assert_eq!(info.ended_at, Some(file.started_at + Duration::from_secs(60)));

    let later = RunFile {
        name: "other".to_owned(),
        started_at: UNIX_EPOCH + Duration::from_secs(1 << 31),
        ..file.clone()
    };
    let begun = run.begin(&later).unwrap();
    assert_eq!((begun.name.as_str(), begun.started_at), ("build-42", file.started_at));
    assert_eq!((begun.ended_at, begun.exit_status), (None, None), "it runs again");
}

#[cfg(unix)]
#[test]
fn what_a_run_tells_is_its_owners() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    let run = scratch.run();
    let file = run.begin(&run_file("x")).unwrap();
    run.end(file.started_at, None).unwrap();
    RunIndex::open(Arc::new(RealDisk), &scratch.path().join("store")).add(run.artifacts(), &file).unwrap();
    let entry = scratch.names("store/runs/202611");
    for path in ["run.json".to_owned(), format!("store/runs/202611/{}", entry[0])] {
        let mode = fs::metadata(scratch.path().join(&path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path}");
    }
}

#[test]
fn a_foreign_run_json_is_left_alone() {
    for text in ["{}", "[]", "{", "{\"version\": 2, \"name\": \"x\"}", " "] {
        let scratch = Scratch::new();
        scratch.write("run.json", text);
        let run = scratch.run();
        let error = run.begin(&run_file("x")).unwrap_err();
        assert!(error.to_string().starts_with("`run.json` is left as it is: "), "{error}");
        run.end(UNIX_EPOCH, None).unwrap_err();
        assert_eq!(scratch.read("run.json"), text);
    }
}

#[test]
fn an_empty_run_json_is_begun_anew() {
    let scratch = Scratch::new();
    scratch.write("run.json", "");
    assert_eq!(scratch.run().begin(&run_file("x")).unwrap(), run_file("x"));
}

#[test]
fn an_end_without_a_beginning_writes_nothing() {
    let scratch = Scratch::new();
    scratch.run().end(UNIX_EPOCH, Some(0)).unwrap();
    assert!(!scratch.path().join("run.json").exists());
}

#[test]
fn the_index_has_an_entry_a_run() {
    let scratch = Scratch::new();
    let index = RunIndex::open(Arc::new(RealDisk), &scratch.path().join("store"));
    let file = run_file("build\n../42");
    index.add(&scratch.path().join("a"), &file).unwrap();
    index.add(&scratch.path().join("a"), &RunFile { name: "other".to_owned(), ..file.clone() }).unwrap();
    let names = scratch.names("store/runs/202611");
    assert_eq!(names.len(), 1, "it is written once: {names:?}");
    assert!(names[0].starts_with("20261120T100000250-") && names[0].len() == 18 + 1 + 8 + 5, "{names:?}");
    let value: Value =
        serde_json::from_str(&scratch.read(&format!("store/runs/202611/{}", names[0]))).unwrap();
    assert_eq!(value["name"], "build\n../42");
    assert_eq!(value["started_at"], "2026-11-20T10:00:00.250Z");
    assert_eq!(value["artifacts"].as_str(), scratch.path().join("a").to_str());
    let fields: Vec<_> = value.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["artifacts", "name", "provider", "started_at", "version"]);
}

/// Runs called `names`, one a day from 20 Nov 2026, in the index of `scratch`.
fn indexed(scratch: &Scratch, names: &[&str]) -> RunIndex {
    let index = RunIndex::open(Arc::new(RealDisk), &scratch.path().join("store"));
    for (day, name) in (0..).zip(names) {
        let run = Run::open(Arc::new(RealDisk), &scratch.path().join(format!("run-{day}"))).unwrap();
        let mut file = run_file(name);
        file.started_at += Duration::from_secs(day * 86_400);
        let file = run.begin(&file).unwrap();
        index.add(run.artifacts(), &file).unwrap();
    }
    index
}

fn names(runs: &[RunInfo]) -> Vec<&str> {
    runs.iter().map(|run| run.name.as_str()).collect()
}

#[test]
fn runs_are_found_newest_first() {
    let scratch = Scratch::new();
    let index = indexed(&scratch, &["a", "b", "a", "c", "d", "e", "f", "g", "h", "i", "j", "a", "k"]);
    assert_eq!(scratch.names("store/runs"), ["202611", "202612"]);
    let runs = Runs::of_index(Arc::new(RealDisk), index);
    assert_eq!(names(&runs.newest(4).runs), ["k", "a", "j", "i"]);
    assert_eq!(runs.newest(100).runs.len(), 13);
    let named = runs.named("a").unwrap();
    assert_eq!((named.run.artifacts, named.others), (scratch.path().join("run-11"), 2));
    assert!(runs.named("nobody").is_none());

    fs::remove_dir_all(scratch.path().join("run-12")).unwrap();
    let found = runs.newest(2);
    assert_eq!((names(&found.runs), found.gone), (vec!["a", "j"], 1));
}

/// The names of the runs that began from `since` to `until`, in days from 20 Nov 2026, and how many folders were gone.
fn within(runs: &Runs, since: Option<u64>, until: Option<u64>) -> (Vec<String>, usize) {
    let day = |day: u64| run_file("x").started_at + Duration::from_secs(day * 86_400);
    let mut within = runs.within(Window { since: since.map(day), until: until.map(day) });
    let names = within.by_ref().map(|run| run.name).collect();
    (names, within.gone)
}

#[test]
fn a_window_holds_the_runs_that_began_in_it() {
    let scratch = Scratch::new();
    let index = indexed(&scratch, &["a", "b", "c", "d", "e"]);
    let runs = Runs::of_index(Arc::new(RealDisk), index.clone());
    assert_eq!(within(&runs, None, None).0, ["e", "d", "c", "b", "a"]);
    assert_eq!(within(&runs, Some(1), Some(3)).0, ["d", "c", "b"]);
    assert_eq!(within(&runs, Some(4), None).0, ["e"]);
    assert_eq!(within(&runs, Some(3), Some(1)).0, [""; 0]);
    let current = Some(scratch.path().join("run-1"));
    let both = runs.and(current.clone());
    assert_eq!(within(&both, None, None).0, ["e", "d", "c", "b", "a"], "the current run counts once");
    let trees = Runs::in_trees(Arc::new(RealDisk), vec![scratch.path().to_path_buf()]).and(current);
    assert_eq!(within(&trees, Some(1), None).0, ["e", "d", "c", "b"]);

    fs::remove_dir_all(scratch.path().join("run-2")).unwrap();
    let runs = Runs::of_index(Arc::new(RealDisk), index);
    assert_eq!(within(&runs, Some(3), None), (vec!["e".to_owned(), "d".to_owned()], 0));
    assert_eq!(within(&runs, Some(1), None).1, 1);
}

#[test]
fn of_an_index_nothing_is_read_that_nobody_asks_for() {
    let scratch = Scratch::new();
    let index = indexed(&scratch, &["a", "b", "c"]);
    let runs = Runs::of_index(Arc::new(RealDisk), index);
    fs::remove_dir_all(scratch.path().join("run-0")).unwrap();
    let mut within = runs.within(Window::default());
    assert_eq!(within.next().map(|run| run.name).as_deref(), Some("c"));
    assert_eq!(within.next().map(|run| run.name).as_deref(), Some("b"));
    assert_eq!((within.gone, within.next(), within.gone), (0, None, 1));
}

#[test]
fn a_folder_without_records_is_a_run_if_a_file_tells_of_one() {
    let scratch = Scratch::new();
    scratch.write("t/theirs/agent_meta.json", r#"{"name": "theirs", "run_started_at": 1795000000}"#);
    scratch.write("t/ours/agent_meta.json", "{}");
    scratch.run_in("t/ours").begin(&run_file("ours")).unwrap();
    fs::remove_dir_all(scratch.path().join("t/ours/instructions")).unwrap();
    scratch.write("t/other/done.json", "{}");
    scratch.write("t/folder/run.json/x", "{}");
    let runs = Runs::in_trees(Arc::new(RealDisk), vec![scratch.path().join("t")]);
    assert_eq!(names(&runs.newest(10).runs), ["ours", "theirs"]);
    let find = |name: &str| RunInfo::find(&RealDisk, &scratch.path().join("t").join(name));
    assert_eq!(find("theirs").map(|run| run.name).as_deref(), Some("theirs"));
    assert!(find("other").is_none() && find("folder").is_none() && find("nothing").is_none());
}

#[test]
fn an_index_with_rubbish_in_it_gives_what_is_good() {
    let scratch = Scratch::new();
    let index = indexed(&scratch, &["a"]);
    for (path, text) in [
        ("202611/99999999T999999999-x.json", "{"),
        (
            "202611/99999999T999999999-y.json",
            "{\"version\": 1, \"artifacts\": \"relative\", \"name\": \"x\", \"provider\": \"x\", \"started_at\": 1}",
        ),
        ("202611/notes.md", "x"),
        ("299911", "a file"),
        ("x/20261120T100000250-00000000.json", "{}"),
    ] {
        scratch.write(&format!("store/runs/{path}"), text);
    }
    fs::create_dir(scratch.path().join("store/runs/202611/9.json")).unwrap();
    let runs = Runs::of_index(Arc::new(RealDisk), index);
    assert_eq!(names(&runs.newest(10).runs), ["a"]);
}

#[test]
fn trees_are_looked_through_four_levels_deep() {
    let scratch = Scratch::new();
    for path in ["t/x", "t/a/b/c/four", "t/a/b/c/d/five", "t/.hidden/y", "t/x/instructions/z", "t/q/nothing"]
    {
        let is_run = !path.contains("nothing");
        scratch.write(&format!("{path}/{}", if is_run { "instructions/00-a.md" } else { "other" }), "");
    }
    let other = indexed(&scratch, &["elsewhere"]);
    let runs = Runs::in_trees(Arc::new(RealDisk), vec![scratch.path().join("t")]);
    let found = runs.newest(10);
    assert_eq!(names(&found.runs).into_iter().collect::<BTreeSet<_>>(), ["four", "x"].into());
    assert!(found.cut.is_empty());

    let current = scratch.path().join("run-0");
    let runs = runs.and(Some(current.clone()));
    assert_eq!(names(&runs.newest(1).runs), ["elsewhere"], "a run with a start is newer than one without");
    let both = Runs::of_index(Arc::new(RealDisk), other).and(Some(current));
    assert_eq!(both.newest(10).runs.len(), 1, "it is one run");
}

#[cfg(unix)]
#[test]
fn a_tree_of_symlinks_ends() {
    let scratch = Scratch::new();
    scratch.write("t/run/instructions/00-a.md", "");
    std::os::unix::fs::symlink(scratch.path().join("t"), scratch.path().join("t/loop")).unwrap();
    let runs = Runs::in_trees(Arc::new(RealDisk), vec![scratch.path().join("t")]);
    assert_eq!(names(&runs.newest(10).runs), ["run"]);
}

#[test]
fn runs_of_other_launchers_are_known_by_their_own_files() {
    let scratch = Scratch::new();
    scratch.write(
        "agent_meta.json",
        r#"{"name": "keeper", "llm_provider": "Codex", "exec_llm_provider": "Claude", "workspace_dir": "/w",
            "run_started_at": "2026-11-20T12:00:00+02:00"}"#,
    );
    scratch.write("done.json", r#"{"finished_at": 1795000000}"#);
    let info = RunInfo::read(&RealDisk, scratch.path());
    assert_eq!((info.name.as_str(), info.provider.as_deref()), ("keeper", Some("claude")));
    assert_eq!(info.started_at, Some(run_file("x").started_at - Duration::from_millis(250)));
    assert_eq!(info.ended_at, Some(UNIX_EPOCH + Duration::from_secs(1_795_000_000)));
    assert_eq!(info.workspace.as_deref(), Some("/w"));
}

#[test]
fn two_providers_at_one_number_are_two_records() {
    let scratch = Scratch::new();
    for name in ["00-a.md", "00-b.md", "01-a.md"] {
        scratch.write(&format!("instructions/{name}"), "x");
    }
    let records = records(&RealDisk, scratch.path(), None).unwrap();
    let shared = "sequence 00 is taken more than once";
    let told: Vec<_> = records
        .iter()
        .map(|record| (record.seq, record.problems.iter().any(|told| told == shared)))
        .collect();
    assert_eq!(told, [(0, true), (0, true), (1, false)]);
}

#[test]
fn ten_thousand_records_are_listed_in_order() {
    let scratch = Scratch::new();
    for seq in 0..10_000 {
        scratch.write(&format!("instructions/{seq:02}-a.error.json"), "{}");
    }
    let records = records(&RealDisk, scratch.path(), None).unwrap();
    assert!(records.iter().map(|record| record.seq).eq(0..10_000));
    assert_eq!(scratch.run().reserve("a").unwrap().seq(), 10_000);
}

#[test]
fn a_huge_manifest_is_a_problem_and_no_more() {
    let scratch = Scratch::new();
    scratch.write("instructions/00-a.json", "");
    let file =
        fs::OpenOptions::new().write(true).open(scratch.path().join("instructions/00-a.json")).unwrap();
    file.set_len(1 << 40).unwrap();
    scratch.write("instructions/00-a.md", "x");
    let record = &records(&RealDisk, scratch.path(), None).unwrap()[0];
    assert_eq!(
        record.problems,
        ["unreadable 00-a.json: 1099511627776 bytes are more than the 67108864 allowed"]
    );
    assert_eq!(record.integrity, Integrity::Mismatch);
}

#[test]
fn a_store_path_leads_to_the_bundle_alone() {
    let scratch = Scratch::new();
    let run = scratch.run();
    scratch.write("secret", "a secret");
    let reservation = run.reserve("claude").unwrap();
    let (text, mut manifest) = scratch.bundle(&reservation);
    manifest.bundle.store_path = scratch.path().join("secret").to_str().unwrap().to_owned();
    reservation.write(&text, &manifest, None).unwrap();
    fs::remove_file(reservation.bundle_path()).unwrap();
    let files = &cantus_launch::record_files(&RealDisk, run.artifacts()).unwrap()[0];
    assert_eq!(files.read(&RealDisk, None).integrity, Integrity::Mismatch);
    assert_eq!(files.bundle(&RealDisk, None), None, "other bytes are not shown");
    scratch.write("secret", &text);
    assert_eq!(files.bundle(&RealDisk, None).unwrap(), text.as_bytes());
    manifest.bundle.store_path = "~/secret".to_owned();
    reservation.rewrite(&manifest).unwrap();
    assert_eq!(files.read(&RealDisk, None).integrity, Integrity::Missing);
    assert_eq!(files.read(&RealDisk, Some(scratch.path())).integrity, Integrity::Match);
}

#[test]
fn thirty_two_processes_get_their_own_numbers() {
    let scratch = Scratch::new();
    scratch.write("agent_meta.json", "{\"name\": \"x\"}");
    let program = std::env::current_exe().unwrap();
    let spawn = |_| {
        Command::new(&program)
            .args(["--exact", "records::a_process_records", "--ignored"])
            .env(ARTIFACTS, scratch.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..32).map(spawn).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let records = records(&RealDisk, scratch.path(), None).unwrap();
    assert!(records.iter().map(|record| record.seq).eq(0..64), "{records:#?}");
    assert!(records.iter().all(|record| record.integrity == Integrity::Match && record.problems.is_empty()));
    let meta: Value = serde_json::from_str(&scratch.read("agent_meta.json")).unwrap();
    assert_eq!((&meta["name"], &meta["instructions"]["count"]), (&"x".into(), &64.into()));
    let left: Vec<_> =
        scratch.names("instructions").into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(left.iter().all(|name| !name.contains("cantus-tmp")), "{left:?}");
}

#[test]
#[ignore = "a process of the test above"]
fn a_process_records() {
    let artifacts = std::env::var_os(ARTIFACTS).unwrap();
    let scratch = Scratch::new();
    let run = Run::open(Arc::new(RealDisk), Path::new(&artifacts)).unwrap();
    run.begin(&run_file("x")).unwrap();
    // Half of the processes are of another provider: numbers are the run's.
    let provider = if std::process::id().is_multiple_of(2) { "claude" } else { "codex" };
    for _ in 0..2 {
        let reservation = run.reserve(provider).unwrap();
        let (text, manifest) = scratch.bundle(&reservation);
        reservation.write(&text, &manifest, None).unwrap();
        reservation.summarise(&manifest).unwrap();
    }
    run.end(UNIX_EPOCH, None).unwrap();
}
