//! A run as the library records it, seen through the program.

use std::sync::Arc;
use std::time::SystemTime;

use cantus_compose::{Launch, LaunchText, Stability, preview};
use cantus_fs::RealDisk;
use cantus_launch::{Composer, Run, RunFile, RunIndex};
use cantus_manifest::manifest::{CacheStatus, DeliveryRecord, DeliveryStatus};
use cantus_manifest::{Facts, Provider};
use cantus_testkit::Repo;
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::program::{NOTES, cantus, replace};

/// Records an invocation of Claude in the run `build-42` of `repo`, in the index where the program looks for it.
#[track_caller]
fn record(repo: &Repo, launch: &str) {
    let folder = repo.home().join("artifacts");
    let run = Run::open(Arc::new(RealDisk), &folder).expect("a run");
    let file = RunFile {
        name: "build-42".to_owned(),
        provider: "claude".to_owned(),
        workspace: "/w".to_owned(),
        host: "tower".to_owned(),
        started_at: SystemTime::now(),
        ended_at: None,
        exit_status: None,
    };
    let file = run.begin(&file).expect("a beginning");
    let store = repo.home().join(".local/share/cantus");
    RunIndex::open(Arc::new(RealDisk), &store).add(run.artifacts(), &file).expect("an entry");
    let reservation = run.reserve("claude").expect("a number");
    let facts = Facts::root(Provider::new("claude").expect("a name")).host(Some("tower"));
    let launch: Launch = match launch {
        "" => Launch::default(),
        text => {
            let (name, text) = ("ticket".to_owned(), text.to_owned());
            let text = LaunchText { name, text, budget: None, stability: Stability::Stable };
            Launch::new(vec![text]).expect("one name")
        }
    };
    let rendered = Composer::discover(repo.path(), None).render(facts, &launch).expect("a bundle");
    let delivery = DeliveryRecord {
        status: DeliveryStatus::Explicit,
        channel: Some("a.b".to_owned()),
        invocation_seq: reservation.seq(),
        ..preview("2026-11-20T10:00:00Z".to_owned(), 1.0, CacheStatus::Miss)
    };
    let manifest = rendered.manifest(delivery, "");
    reservation.write(rendered.text(), &manifest, None).expect("a record");
}

fn recorded() -> Repo {
    let repo = Repo::new(NOTES);
    record(&repo, "");
    repo
}

#[test]
fn a_recorded_run_is_found_by_its_name() {
    let repo = recorded();
    let fresh = cantus(&repo, &["render", "-q", "-f", "provider=claude"]).exits(0).stdout;
    assert_eq!(cantus(&repo, &["show", "build-42"]).exits(0).stdout, fresh);
    let list = cantus(&repo, &["show"]).exits(0).stdout;
    assert!(
        list.starts_with("build-42  claude  20") && list.ends_with("1 invocation  explicit  —\n"),
        "{list}"
    );
    let manifest = cantus(&repo, &["show", "build-42", "-j"]).exits(0).stdout;
    repo.write("m.json", &manifest);
    assert_eq!(cantus(&repo, &["manifest", "m.json"]).exits(0).stdout, manifest);
}

#[test]
fn a_record_has_the_sections_that_a_render_prints() {
    let repo = recorded();
    let fresh = cantus(&repo, &["render", "-q", "-s", "-f", "provider=claude"]).exits(0).stdout;
    assert_eq!(cantus(&repo, &["show", "build-42", "-s"]).exits(0).stdout, fresh);
    let json = cantus(&repo, &["show", "build-42", "-s", "-j"]).exits(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["version"], &json["sections"][0]["id"]), (&1.into(), &"frame.title".into()));
}

#[test]
fn nothing_differs_while_the_notes_stay() {
    let repo = recorded();
    let output = cantus(&repo, &["show", "build-42", "--diff"]).exits(0);
    assert_eq!(output.stdout, "");
    assert_data_eq!(
        output.stderr,
        str![[r#"
show build-42 00 root against a fresh render: the same, [..] sections

"#]]
    );
}

#[test]
fn what_differs_is_shown_section_by_section() {
    let repo = recorded();
    replace(&repo, "memory/rules.md", "Be kind.\n", "Be clear.\nBe quick.\n");
    repo.remove("memory/tests.md");
    repo.write("memory/new.md", "---\ntype: core\n---\n# New\n\nRead it.\n");
    let output = cantus(&repo, &["show", "build-42", "--diff"]).exits(1);
    assert_data_eq!(
        output.stdout,
        str![[r#"
     Changed proj.core.rules ([..] bytes, now [..])
     @@ -1,5 +1,6 @@
      ### Rules (rules)

      Be brief.
     -Be kind.
     +Be clear.
     +Be quick.

        Gone proj.core.tests ([..] bytes)
         New proj.core.new ([..] bytes)

"#]]
    );
    assert_data_eq!(
        output.stderr,
        str![[r#"
show build-42 00 root against a fresh render: 1 changed (proj.core.rules), 1 gone (proj.core.tests), 1 new (proj.core.new); [..] sections equal

"#]]
    );
    let json = cantus(&repo, &["show", "build-42", "--diff", "-j", "-q"]).exits(1).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["version"], &json["same"], &json["seq"]), (&1.into(), &false.into(), &0.into()));
    let changes: Vec<_> =
        json["sections"].as_array().expect("rows").iter().map(|row| &row["change"]).collect();
    assert_eq!(changes, ["changed", "gone", "new"]);
}

#[test]
fn the_hosts_own_sections_are_not_compared() {
    let repo = Repo::new(NOTES);
    record(&repo, "Fix the lamp.");
    let output = cantus(&repo, &["show", "build-42", "--diff"]).exits(0);
    assert!(output.stderr.ends_with("; 1 section of the host not compared\n"), "{output:?}");
    assert!(cantus(&repo, &["show", "build-42"]).exits(0).stdout.contains("Fix the lamp."));
}

#[test]
fn a_render_takes_its_facts_from_a_run() {
    let repo = recorded();
    let output = cantus(&repo, &["render", "-a", "build-42"]).exits(0);
    assert_eq!(output.stdout, cantus(&repo, &["show", "build-42"]).exits(0).stdout);
    assert_data_eq!(
        output.stderr,
        str![[r#"
render [..]
render against build-42 00 [..]: the same, [..] sections

"#]]
    );
    let output = cantus(&repo, &["render", "-a", "build-42", "-f", "provider=codex"]).exits(0);
    assert!(output.stderr.contains("1 gone (pkg.provider.claude), 1 new (pkg.provider.codex)"), "{output:?}");
    let manifest = cantus(&repo, &["render", "-a", "build-42", "-j"]).exits(0).stdout;
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(
        (&manifest["facts"]["provider"], &manifest["facts"]["host"]),
        (&"claude".into(), &"tower".into())
    );
    assert_eq!(manifest["delivery"]["status"], "preview");
}

#[test]
fn a_render_from_an_unknown_or_broken_run_says_so() {
    let repo = recorded();
    let output = cantus(&repo, &["render", "-a", "nobody"]).exits(1);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("render: no run is called `nobody`\n"), "{output:?}");
    let manifest = repo.home().join("artifacts/instructions/00-claude.json");
    std::fs::write(manifest, "{").expect("a file");
    let output = cantus(&repo, &["render", "-a", "build-42"]).exits(2);
    assert!(output.stderr.contains("invocation 00 of run build-42 has no good manifest"), "{output:?}");
}

#[test]
fn a_run_that_is_gone_is_counted() {
    let repo = recorded();
    std::fs::remove_dir_all(repo.home().join("artifacts")).expect("it was there");
    let output = cantus(&repo, &["show"]).exits(0);
    assert_data_eq!(
        output.stderr,
        str![[r#"
show: the folders of 1 run in the index are gone
show: no run is known; `cantus exec --artifacts DIR` records one

"#]]
    );
    cantus(&repo, &["show", "build-42"]).exits(1);
}
