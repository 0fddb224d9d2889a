//! `cantus bundle compose`, from the built-in roster and from the requests in `examples/`.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;
use std::process::Stdio;

use cantus_testkit::{Output, Repo};
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use walkdir::WalkDir;

use crate::program::{CANTUS, NOTES, cantus};

#[track_caller]
fn run(repo: &Repo, args: &[&str]) -> Output {
    cantus(repo, &[&["bundle"], args].concat())
}

/// A project with notes, and the examples in `examples/bundles`.
fn examples() -> Repo {
    let repo = Repo::new(NOTES);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bundles");
    for entry in WalkDir::new(&from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(&from).unwrap().to_str().unwrap().replace('\\', "/");
            repo.write_bytes(&format!("examples/bundles/{below}"), &fs::read(entry.path()).unwrap());
        }
    }
    repo
}

/// The report of a run, its bundle verified strictly.
#[track_caller]
fn composed(repo: &Repo, args: &[&str]) -> Value {
    let output = run(repo, &[&["compose"], args, &["--json"]].concat()).exits(0);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    run(repo, &["verify", "--strict", report["path"].as_str().unwrap()]).exits(0);
    report
}

#[test]
fn without_configuration_a_bundle_is_there() {
    let repo = Repo::without_git("");
    let first = composed(&repo, &[]);
    assert_eq!((first["role"].as_str(), first["reused"].as_bool()), (Some("maker"), Some(false)));
    assert_eq!(composed(&repo, &["maker"])["reused"], true);
    assert_ne!(composed(&repo, &["reviewer"])["key"], first["key"]);
    assert_eq!(repo.files(), [] as [&str; 0]);
    let path = Path::new(first["path"].as_str().unwrap());
    assert!(path.starts_with(repo.home()) && path.parent().unwrap().ends_with("cantus/trees"), "{path:?}");
}

#[test]
fn the_store_may_be_elsewhere() {
    let repo = Repo::without_git("");
    let store = repo.path().join("store");
    let output = repo.command(CANTUS).args(["bundle", "compose", "-q"]).env("CANTUS_STORE", store).output();
    assert!(output.unwrap().status.success());
    assert!(repo.files().iter().all(|file| file.starts_with("store/trees/")) && repo.files().len() > 5);
}

#[test]
fn what_is_told() {
    let repo = Repo::without_git("");
    let output = run(&repo, &["compose", "reviewer", "--out", "trees"]).exits(0);
    assert_eq!(output.stderr, "");
    assert_data_eq!(
        output.stdout,
        str![[r#"
bundle [..] (new)
request: model tier frontier // delivery native-skills
role: reviewer // careful+plain // melded #[..]
sources: roster:cantus
decisions: 12 selected // 2 excluded // 0 shadowed // 2 delivered
path: trees/[..]
trace: trees/[..]/trace.json

"#]]
    );
    let explained = run(&repo, &["compose", "reviewer", "--out", "trees", "--explain"]).exits(0).stdout;
    assert!(
        explained.contains("(reused)") && explained.contains("✗ skill personality-thrifty"),
        "{explained}"
    );
    assert_eq!(run(&repo, &["compose", "-q", "--out", "trees"]).exits(0).stdout, "");
}

#[test]
fn the_native_example_starts_from_the_project() {
    let repo = examples();
    let report = composed(&repo, &["examples/bundles/native.kdl", "--out", "trees"]);
    let instructions = repo.read(&format!("{}/content/instructions.md", report["path"].as_str().unwrap()));
    let native = cantus(&repo, &["render", "--no-home", "-q"]).exits(0).stdout;
    assert!(instructions.starts_with(native.trim()), "the render leads");
    assert!(
        instructions.contains("\n# Maker\n") && instructions.ends_with("Ask before you add a dependency.\n")
    );
    assert_eq!(report["boundaries"].as_array().unwrap().len(), 1);
    let path = report["path"].as_str().unwrap();
    let why = run(&repo, &["describe", path, "--why", "instruction:operating-base"]).exits(0).stdout;
    assert!(why.contains("the render `native` lead") && why.contains("sha256 "), "{why}");
    repo.write("memory/more.md", "---\ntype: core\n---\n# More\n\nMore.\n");
    assert_ne!(composed(&repo, &["examples/bundles/native.kdl", "--out", "trees"])["key"], report["key"]);
}

#[test]
fn the_compiled_example_is_one_document() {
    let repo = examples();
    let report = composed(&repo, &["examples/bundles/compiled.kdl", "--out", "trees"]);
    let compiled = repo.read(&format!("{}/delivery/compiled.md", report["path"].as_str().unwrap()));
    for part in
        ["# Gardener", "**Agent // Flora (she/her)**", "name: personality-thrifty", "name: role-gardener"]
    {
        assert!(compiled.contains(part), "{part}");
    }
    assert_eq!(report["sources"], serde_json::json!(["person:example"]));
}

#[test]
fn another_render_may_lead() {
    let repo = examples();
    repo.write("r.kdl", "compose { role maker; delivery compiled; base helper }");
    let helper = composed(&repo, &["r.kdl", "--out", "trees"]);
    repo.write("r.kdl", "compose { role maker; delivery compiled; base native }");
    assert_ne!(composed(&repo, &["r.kdl", "--out", "trees"])["key"], helper["key"]);
    repo.write("r.kdl", "compose { role maker; delivery compiled; base helpr }");
    let output = run(&repo, &["compose", "r.kdl"]).exits(2);
    assert!(
        output.stderr.contains("no render is called `helpr`; expected one of `native`"),
        "{}",
        output.stderr
    );
}

#[test]
fn broken_requests_are_told_with_their_lines() {
    let repo = Repo::without_git("");
    repo.write("r.kdl", "compose {\n  role maker\n  delivery paper\n  model x\n}\n");
    let output = run(&repo, &["compose", "r.kdl", "--out", "trees"]).exits(2);
    assert_eq!(output.stdout, "");
    assert_data_eq!(
        output.stderr,
        str![[r#"
r.kdl:4: error: `compose` knows no `model`; expected one of `role`, `delivery`, `model-tier`, `person-source`, `person-policy`, `personality-library`, `identity`, `boundary-omit`, `source`, `density`, `base` [bundle.request]
r.kdl:3: error: no `delivery` is `paper`; expected `native-skills` or `compiled` [bundle.request]

"#]]
    );
    let output = run(&repo, &["compose", "nobody"]).exits(2);
    assert_data_eq!(
        output.stderr,
        str![[r#"
error: cannot read the request `nobody`: [..]
  help: name a KDL file, or a role of the built-in roster: `maker`, `reviewer`, `investigator`

"#]]
    );
    assert!(!repo.exists("trees"));
}

#[test]
fn warnings_count_if_they_are_to() {
    let repo = Repo::without_git("");
    repo.write("r.kdl", "compose { role maker; delivery compiled; source gone root=gone }");
    let output = run(&repo, &["compose", "r.kdl", "--out", "trees"]).exits(0);
    assert!(output.stderr.starts_with("r.kdl:1: warning: the source `gone` is missing"), "{}", output.stderr);
    run(&repo, &["compose", "r.kdl", "--out", "trees", "--strict"]).exits(2);
}

#[test]
fn a_blocked_name_and_a_changed_bundle_are_refused() {
    let repo = Repo::without_git("");
    let report = composed(&repo, &["--out", "trees"]);
    let file = format!("{}/content/instructions.md", report["path"].as_str().unwrap());
    repo.write(&file, "changed\n");
    let output = run(&repo, &["compose", "--out", "trees"]).exits(1);
    assert!(output.stderr.contains("was changed after it was made"), "{}", output.stderr);
    assert_eq!(repo.read(&file), "changed\n");
    repo.write(&format!("other/{}", report["key"].as_str().unwrap()), "in the way");
    let output = run(&repo, &["compose", "--out", "other"]).exits(1);
    assert!(output.stderr.contains("name another folder with `--out`"), "{}", output.stderr);
    assert!(repo.files().iter().all(|file| !file.contains(".stage-")));
}

#[test]
fn runs_at_the_same_time_end_with_one_bundle() {
    let repo = examples();
    let run = || {
        let mut command = repo.command(CANTUS);
        command.args(["bundle", "compose", "examples/bundles/compiled.kdl", "--out", "trees", "--json"]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..6).map(|_| run()).collect();
    let reports = running.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    });
    let reports: Vec<_> = reports.collect();
    assert_eq!(reports.iter().filter(|report| report["reused"] == false).count(), 1);
    assert!(reports.iter().all(|report| report["key"] == reports[0]["key"]));
    assert_eq!(fs::read_dir(repo.path().join("trees")).unwrap().count(), 1);
}
