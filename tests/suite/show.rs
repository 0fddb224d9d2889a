//! The verb `show`, on the shared vector and on folders that nobody made well.

use std::fs;
use std::path::{Path, PathBuf};

use cantus_testkit::{Output, Repo};
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use walkdir::WalkDir;

use crate::program::{CANTUS, cantus};

/// The vector `show/01-integrity`, its home where the program looks for it.
fn integrity() -> (Repo, Value) {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/observed/show/01-integrity");
    let repo = Repo::without_git("");
    copy(&case.join("runs"), &repo.path().join("runs"));
    copy(&case.join("home"), repo.home());
    let expected = fs::read(case.join("expected.json")).expect("expected.json");
    (repo, serde_json::from_slice(&expected).expect("JSON"))
}

fn copy(from: &Path, to: &Path) {
    for entry in WalkDir::new(from) {
        let entry = entry.expect("an entry");
        let target = to.join(entry.path().strip_prefix(from).expect("a path below"));
        if entry.file_type().is_dir() {
            fs::create_dir_all(&target).expect("a folder");
        } else {
            fs::copy(entry.path(), &target).expect("a file");
        }
    }
}

#[track_caller]
fn show(repo: &Repo, args: &[&str]) -> Output {
    cantus(repo, &[&["show", "--runs", "runs"], args].concat())
}

#[test]
fn every_call_of_the_vector_gives_what_it_says() {
    let (repo, expected) = integrity();
    for call in expected["calls"].as_array().expect("calls") {
        let command = call["command"].as_str().expect("a command");
        let args: Vec<_> = command.split(' ').skip(1).collect();
        let output = show(&repo, &args);
        let told = call["stderr"].as_str().expect("stderr");
        // What isn't found is a no here; the peer can't tell then. A list is whole here, with numbers from 100 on.
        let is_found = !told.contains("has no");
        let exit = if is_found { call["exit"].as_i64() } else { Some(1) };
        assert_eq!(Some(i64::from(output.status)), exit, "{command}: {output:?}");
        if is_found && !args.contains(&"-l") {
            assert_eq!(
                output.stdout.len() as u64,
                call["stdout_bytes"].as_u64().expect("a number"),
                "{command}"
            );
            assert_eq!(output.stderr.lines().next(), told.lines().next(), "{command}");
        }
    }
}

#[test]
fn the_list_of_the_vector_and_its_sequence_100() {
    let (repo, expected) = integrity();
    let output = show(&repo, &["keeper", "-l"]).exits(1);
    let lines: Vec<_> =
        expected["list_text"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    let found: Vec<_> = output.stdout.lines().collect();
    assert_eq!(found[..lines.len()], lines);
    assert_eq!(found[lines.len()..], ["100  unknown  —  —  sase_root  —  —  —  —  0  0  MISMATCH"]);
}

#[test]
fn the_list_as_json_has_the_records_of_the_vector() {
    let (repo, expected) = integrity();
    let output = show(&repo, &["keeper", "-l", "-j"]).exits(1);
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!((&report["version"], &report["run"]["name"]), (&1.into(), &"keeper".into()));
    let records = report["records"].as_array().expect("records");
    for (record, expected) in records.iter().zip(expected["records"].as_array().expect("records")) {
        for key in [
            "seq",
            "is_helper",
            "attempt",
            "channel",
            "bytes",
            "tokens_est",
            "integrity",
            "source",
            "error",
            "parent_invocation_id",
        ] {
            assert_eq!(record[key], expected[key], "{key} of {expected}");
        }
        for (key, none) in [("provider", "unknown"), ("purpose", "—"), ("delivery_status", "—")] {
            assert_eq!(record[key].as_str().unwrap_or(none), expected[key], "{key} of {expected}");
        }
        for (key, whole) in [("sha256_prefix", "sha256"), ("common_digest_prefix", "common_digest")] {
            let prefix = record[whole].as_str().map(|digest| &digest[..12]);
            assert_eq!(prefix, expected[key].as_str(), "{key} of {expected}");
            assert_eq!(record[key], expected[key], "{key} of {expected}");
        }
        // The words of the JSON reader differ.
        let start = |problem: &Value| problem.as_str().expect("a text")[..24].to_owned();
        let problems = |record: &Value| {
            record["problems"].as_array().expect("problems").iter().map(start).collect::<Vec<_>>()
        };
        assert_eq!(problems(record), problems(expected));
    }
}

#[test]
fn runs_are_listed_for_people_and_programs() {
    let (repo, _) = integrity();
    assert_data_eq!(
        show(&repo, &[]).exits(0).stdout,
        str![[r#"
keeper  claude  2026-11-20T10:00:00Z  10 invocations  —  exit 0

"#]]
    );
    let report: Value = serde_json::from_str(&show(&repo, &["-j"]).exits(0).stdout).expect("JSON");
    assert_eq!(report["version"], 1);
    let run = &report["runs"][0];
    assert_eq!(
        (&run["name"], &run["invocations"], &run["exit_status"]),
        (&"keeper".into(), &10.into(), &0.into())
    );
    assert_eq!(run["artifacts"].as_str().map(PathBuf::from), Some(repo.path().join("runs/keeper")));
}

#[test]
fn runs_with_long_names_fit_a_page() {
    let (repo, _) = integrity();
    let name = "a-name-that-leaves-little-space-for-what-else-there-is-to-say-of-the-run";
    fs::create_dir_all(repo.path().join("runs").join(name).join("instructions")).expect("a folder");
    let output = show(&repo, &[]).exits(0).stdout;
    assert!(output.lines().all(|line| line.chars().count() <= 80), "{output}");
    assert!(output.contains(name), "{output}");
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let (repo, _) = integrity();
    assert_data_eq!(
        show(&repo, &["keeper", "-n", "4"]).exits(2).stderr,
        str![[r#"
show keeper 04 unknown root  bytes=0 source=missing missing
show: the bytes of bundle 04 are missing
  help: `cantus show keeper -n 4 --json` says what went wrong

"#]]
    );
    assert_data_eq!(
        show(&repo, &["keeper", "-n", "6"]).exits(0).stderr,
        str![[r#"
show keeper 06 claude root 85f2de1056c7 bytes=355 source=run bytes match
  note: invalid 06-claude.json: invalid instruction manifest: included section lengths sum to 354 but bundle.bytes is 355

"#]]
    );
    assert_data_eq!(
        show(&repo, &["keeper", "-n", "9"]).exits(1).stderr,
        str![[r#"
show: run keeper has no invocation with the number 09
  help: `cantus show keeper --list` lists its records

"#]]
    );
    assert_data_eq!(
        show(&repo, &["nobody"]).exits(1).stderr,
        str![[r#"
show: no run is called `nobody`
  help: `cantus show` lists runs; a path with `/`, such as `./artifacts`, names an artifacts folder

"#]]
    );
    assert_data_eq!(
        show(&repo, &["./runs"]).exits(1).stderr,
        str![[r#"
show: no run was recorded in `./runs`
  help: name the folder that holds `instructions`

"#]]
    );
    assert_eq!(show(&repo, &["-q", "keeper"]).exits(0).stderr, "");
    assert_ne!(show(&repo, &["-q", "keeper", "-n", "1"]).exits(1).stderr, "");
}

#[test]
fn a_broken_manifest_is_no_json() {
    let (repo, _) = integrity();
    let output = show(&repo, &["keeper", "-n", "5", "-j"]).exits(1);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("show: no manifest of 05 can be read"), "{}", output.stderr);
    let error = show(&repo, &["keeper", "-n", "4", "-j"]).exits(2).stdout;
    let error: Value = serde_json::from_str(&error).expect("the error that was recorded");
    assert_eq!(error["error"]["message"], "broken note");
    show(&repo, &["keeper", "-n", "5", "-s"]).exits(1);
    show(&repo, &["keeper", "-n", "4", "--diff"]).exits(2);
}

#[test]
fn a_path_and_the_current_run_need_no_index() {
    let (repo, _) = integrity();
    for name in ["runs/keeper", "./runs/keeper/", "runs/../runs/keeper"] {
        assert_eq!(cantus(&repo, &["show", name]).exits(0).stdout.len(), 354, "{name}");
    }
    cantus(&repo, &["show", "keeper"]).exits(1);
    let mut command = repo.command(CANTUS);
    let output = command.args(["show", "keeper", "-q"]).env("CANTUS_ARTIFACTS", "runs/keeper").output();
    assert_eq!(output.expect("it runs").stdout.len(), 354);
}

#[test]
fn names_are_only_names() {
    let (repo, _) = integrity();
    for name in ["..", ".", "", "keeper\n", "\u{1b}[31m", "-", "*"] {
        let output = cantus(&repo, &["show", "--runs", "runs", "--", name]).exits(1);
        assert!(!output.stderr.contains('\u{1b}') && output.stderr.lines().count() == 2, "{output:?}");
    }
    repo.write("runs/x/run.json", "{\"version\": 1, \"name\": \"a\\nb\\u001b[31m\", \"provider\": \"x\\n\", \"workspace\": \"\", \"host\": \"\", \"started_at\": 0}");
    repo.write("runs/x/instructions/00-x.md", "x");
    let output = show(&repo, &[]).exits(0);
    assert_eq!(output.stdout.lines().count(), 2, "{output:?}");
    assert!(!output.stdout.contains('\u{1b}'));
    let output = show(&repo, &["a\nb\u{1b}[31m"]).exits(1);
    assert_eq!(output.stdout, "x\n");
    assert!(output.stderr.starts_with("show a\\u{a}b\\u{1b}[31m 00 unknown root "), "{output:?}");
}

#[test]
fn the_newest_of_one_name_counts() {
    let (repo, _) = integrity();
    copy(&repo.path().join("runs/keeper"), &repo.path().join("runs/again"));
    let text = repo.read("runs/keeper/run.json").replace("2026-11-20T10:00", "2026-11-20T09:00");
    repo.write("runs/keeper/run.json", &text);
    repo.remove("runs/keeper/instructions/01-claude.md");
    let output = show(&repo, &["keeper", "-n", "1"]).exits(1);
    assert!(
        output.stderr.starts_with("show: `keeper` is also the name of 1 older run; this is the newest\n"),
        "{output:?}"
    );
    let output = show(&repo, &["-n", "1"]).exits(0);
    assert_eq!(output.stdout.lines().count(), 1);
    show(&repo, &["-n", "0"]).exits(2);
    cantus(&repo, &["show", "--runs", "nowhere"]).exits(2);
}

#[test]
fn options_that_mean_nothing_together_are_refused() {
    let (repo, _) = integrity();
    for args in
        [&["keeper", "-l", "-s"][..], &["keeper", "--diff", "-l"], &["-l"], &["-H"], &["-s"], &["--diff"]]
    {
        show(&repo, args).exits(2);
    }
}
