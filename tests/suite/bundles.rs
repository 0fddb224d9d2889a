//! `cantus bundle` on the hand-made bundle and copies of it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;

use cantus_testkit::{Output, Repo};
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use walkdir::WalkDir;

use crate::program::{cantus, replace};

const ROLE: &str = "bundle/content/skills/example%3Ahand/role-lamplighter/SKILL.md";

/// A folder with the hand-made bundle in `bundle`, and a second one in `other` whose instructions differ.
fn repo() -> Repo {
    let repo = Repo::without_git("");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/bundle/handmade");
    for entry in WalkDir::new(&from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(&from).unwrap().to_str().unwrap();
            let bytes = fs::read(entry.path()).unwrap();
            repo.write_bytes(&format!("bundle/{below}"), &bytes);
            repo.write_bytes(&format!("other/{below}"), &bytes);
        }
    }
    replace(&repo, "other/content/instructions.md", "never composed", "never ever composed");
    repo
}

#[track_caller]
fn run(repo: &Repo, args: &[&str]) -> Output {
    cantus(repo, &[&["bundle"], args].concat())
}

#[test]
fn a_valid_bundle_is_one_line() {
    let output = run(&repo(), &["verify", "bundle"]).exits(0);
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("bundle verified: 3 skills // 6 files\n", "")
    );
    assert_eq!(run(&repo(), &["verify", "bundle/", "-q"]).exits(0).stdout, "");
}

#[test]
fn an_invalid_bundle_is_told_with_its_fault() {
    let repo = repo();
    replace(&repo, "bundle/trace.json", "\"context_bytes\": 454", "\"context_bytes\": 455");
    let output = run(&repo, &["verify", "bundle"]).exits(1);
    assert_eq!(output.stdout, "");
    assert_data_eq!(
        output.stderr,
        str![[r#"
bundle/trace.json: error: the budget of "example:hand" says 3 skills and 455 bytes; the bundle has 3 and 454 [provider.budget]
  help: a bundle is never mended in place: compose or unpack it again, or mend the tool that wrote it

"#]]
    );
    let output = run(&repo, &["verify", "--json", "bundle"]).exits(1);
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(answer["valid"], false);
    assert_eq!(answer["findings"][0]["code"], "provider.budget");
}

#[test]
fn what_is_no_folder_has_no_verdict() {
    let repo = repo();
    repo.write("file", "x");
    for (name, said) in [
        ("none", "error: cannot read the bundle `none`: there is no such folder\n"),
        ("file", "error: cannot read the bundle `file`: a regular file is no bundle; expected a folder\n"),
    ] {
        assert_eq!(run(&repo, &["verify", name]).exits(2).stderr, said);
        assert_eq!(run(&repo, &["export", name, "--out", "x.tar.gz"]).exits(2).stderr, said);
        assert_eq!(run(&repo, &["project", name, "--layout", "codex"]).exits(2).stderr, said);
        run(&repo, &["describe", name]).exits(2);
        run(&repo, &["diff", "bundle", name]).exits(2);
    }
    run(&repo, &["verify"]).exits(2);
    run(&repo, &["verify", "bundle", "other"]).exits(2);
    run(&repo, &["project", "bundle", "--layout", "emacs"]).exits(2);
    run(&repo, &["project", "bundle", "--layout", "codex", "--scope", "world"]).exits(2);
}

#[test]
fn strictness_is_asked_for() {
    let repo = repo();
    run(&repo, &["verify", "--strict", "bundle"]).exits(0);
    for (change, code) in [
        ((|repo: &Repo| repo.write("bundle/note.txt", "x")) as fn(&Repo), "strict.stray"),
        (|repo| fs::create_dir(repo.path().join("bundle/empty")).unwrap(), "strict.stray"),
        (
            |repo| {
                replace(
                    repo,
                    "bundle/manifest.json",
                    "\"skills_root\": \"content/skills\"",
                    "\"skills_root\": \"content\"",
                )
            },
            "strict.entry",
        ),
        (|repo| replace(repo, "bundle/manifest.json", "sha256:f66d", "sha256:f66e"), "strict.digest"),
        (
            |repo| {
                replace(
                    repo,
                    "bundle/manifest.json",
                    "\"role_skill_digest\": \"sha256:0181",
                    "\"role_skill_digest\": \"sha256:0182",
                )
            },
            "strict.digest",
        ),
        (
            // As long as before, so that the budget still fits.
            |repo| replace(repo, ROLE, "Light the lamp", "Douse the lamp"),
            "strict.digest",
        ),
    ] {
        let repo = self::repo();
        change(&repo);
        run(&repo, &["verify", "bundle"]).exits(0);
        let said = run(&repo, &["verify", "--strict", "bundle"]).exits(1).stderr;
        assert!(said.contains(&format!("[{code}]")), "{said}");
    }
}

#[test]
fn a_bundle_is_described() {
    let repo = repo();
    let output = run(&repo, &["describe", "bundle"]).exits(0);
    assert_data_eq!(
        output.stdout,
        str![[r#"
bundle bundle // lamplighter/patient // native-skills // melded #5fa87a

profile
  ✓ role lamplighter                     (example:hand) hand-written
  ✓ personality patient                  (example:hand) hand-written
  ✓ boundary no-fire                     (example:hand) hand-written

providers
  ✓ person-package person                (example:hand) hand-written

context budget
    example:hand                                        3 skills // 454 bytes // ~114 tokens

selection
  ✓ source example:hand                  (example:hand) hand-written
  ✓ skill role-lamplighter               (example:hand) hand-written
  ✓ skill personality-patient            (example:hand) hand-written
  ✓ skill boundary-no-fire               (example:hand) hand-written

delivery
  → content/instructions.md                             hand-written
  → content/skills                                      hand-written

reasons in full: trace.json

"#]]
    );
    let why = run(&repo, &["describe", "bundle", "--why", "no-fire"]).exits(0).stdout;
    assert!(why.starts_with("boundary:no-fire\n  considered: as profile, from example:hand\n"), "{why}");
    assert!(
        run(&repo, &["describe", "bundle", "--why", "rain"]).exits(1).stderr.contains("[bundle.subject]")
    );
    let json: Value =
        serde_json::from_str(&run(&repo, &["describe", "bundle", "--json"]).exits(0).stdout).unwrap();
    assert_eq!((&json["version"], &json["manifest"]["role"]), (&1.into(), &"lamplighter".into()));
}

#[test]
fn what_a_bundle_says_cannot_move_the_cursor() {
    let repo = repo();
    let text = repo.read("bundle/trace.json").replacen("hand-written", "\\u001b[2Jgone", 1);
    repo.write("bundle/trace.json", &text);
    let output = run(&repo, &["describe", "bundle", "--color", "always"]).exits(0);
    assert!(output.stdout.contains("\\u{1b}[2Jgone") && !output.stdout.contains('\u{1b}'));
}

#[test]
fn bundles_are_compared() {
    let repo = repo();
    let same = "lamplighter/patient (native-skills) → lamplighter/patient (native-skills)\nno semantic differences\n9 decisions unchanged\n";
    assert_eq!(run(&repo, &["diff", "bundle", "bundle"]).exits(0).stdout, same);
    let other = run(&repo, &["diff", "bundle", "other"]).exits(0).stdout;
    assert!(
        other.starts_with(same)
            && other.contains("\n~ content/instructions.md  sha256:993352fd7171 → sha256:"),
        "{other}"
    );
    let json: Value =
        serde_json::from_str(&run(&repo, &["diff", "--json", "bundle", "other"]).exits(0).stdout).unwrap();
    assert_eq!(json["content"][0]["name"], "content/instructions.md");
}

#[test]
fn an_export_is_silent_and_leaves_nothing_of_an_invalid_bundle() {
    let repo = repo();
    for name in ["one.tar.gz", "two.tar.gz"] {
        let output = run(&repo, &["export", "bundle", "--out", name]).exits(0);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    }
    assert_eq!(repo.read_bytes("one.tar.gz"), repo.read_bytes("two.tar.gz"));
    assert_eq!(repo.read_bytes("one.tar.gz")[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
    repo.remove("bundle/trace.json");
    let said = run(&repo, &["export", "bundle", "--out", "three.tar.gz"]).exits(1).stderr;
    assert!(
        said.starts_with("bundle/trace.json: error: there is no such file in the bundle [trace.read]"),
        "{said}"
    );
    assert!(!repo.exists("three.tar.gz"));
    run(&repo, &["export", "other", "--out", "other/x.tar.gz"]).exits(2);
    run(&repo, &["export", "other", "--out", "no/such/folder.tar.gz"]).exits(2);
    repo.write("other/é.md", "x");
    let said = run(&repo, &["export", "other", "--out", "three.tar.gz"]).exits(1).stderr;
    assert!(said.contains("not ASCII") && !repo.exists("three.tar.gz"), "{said}");
}

#[test]
fn a_bundle_is_laid_out_checked_and_taken_away() {
    let repo = repo();
    let args = ["project", "bundle", "--layout", "codex", "--target", "home", "--scope", "home"];
    let check = [&args[..], &["--check"]].concat();
    let output = run(&repo, &check).exits(1);
    assert!(
        output.stdout.contains(".codex/AGENTS.md") && output.stderr.contains("[bundle.drift]"),
        "{output:?}"
    );
    assert!(!repo.exists("home"));
    let output = run(&repo, &args).exits(0);
    assert_eq!(output.stdout, "projected: 4 files // layout codex // scope home // target home\n");
    assert_eq!(output.stderr, "");
    assert_eq!(repo.read_bytes("home/.agents/skills/role-lamplighter/SKILL.md"), repo.read_bytes(ROLE));
    let output = run(&repo, &check).exits(0);
    assert_eq!(output.stdout, "fresh: 4 files // layout codex // scope home // target home\n");

    repo.write("home/.codex/AGENTS.md", "edited\n");
    assert_eq!(run(&repo, &check).exits(1).stdout, "  .codex/AGENTS.md  edited\n");
    let output = run(&repo, &args).exits(0);
    assert!(output.stderr.contains("[bundle.edited]"), "{}", output.stderr);
    let kept = repo.files().into_iter().find(|path| path.starts_with("home/.agent-compose/kept/")).unwrap();
    assert_eq!(repo.read(&kept), "edited\n");
    repo.remove(&kept);

    let output = run(&repo, &["unproject", "--target", "home"]).exits(0);
    assert_eq!(output.stdout, "removed: 4 files // target home\n");
    let left: Vec<_> = repo.files().into_iter().filter(|path| path.starts_with("home/")).collect();
    assert_eq!(left, [] as [&str; 0]);
}

#[test]
fn foreign_files_are_refused_before_anything_is_made() {
    let repo = repo();
    repo.write("CLAUDE.md", "mine\n");
    let before = repo.files();
    let output = run(&repo, &["project", "bundle", "--layout", "claude"]).exits(1);
    assert_data_eq!(
        output.stderr,
        str![[r#"
error: not written by an earlier projection, and other than the bundle has it: `CLAUDE.md`
  help: move these files away, or merge what they say into the sources of the bundle

"#]]
    );
    assert_eq!((repo.files(), repo.read("CLAUDE.md").as_str()), (before, "mine\n"));
    let output = run(&repo, &["project", "bundle", "--layout", "claude", "--json"]).exits(1);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&report["outcome"], &report["fresh"]), (&"refused".into(), &false.into()));
}

#[test]
fn reports_of_projections_as_json() {
    let repo = repo();
    let args = ["project", "bundle", "--layout", "goose", "--json"];
    let json = |args: &[&str]| serde_json::from_str::<Value>(&run(&repo, args).exits(0).stdout).unwrap();
    let report = json(&args);
    assert_eq!(
        (&report["outcome"], &report["layout"], &report["scope"]),
        (&"written".into(), &"goose".into(), &"repo".into())
    );
    assert_eq!(report["files"][3]["path"], ".goosehints");
    assert_eq!(report["files"][3]["status"], "missing");
    assert_eq!(json(&[&args[..], &["--check"]].concat())["fresh"], true);
    assert_eq!(json(&["unproject", "--json"])["removed"].as_array().unwrap().len(), 4);
    assert_eq!(json(&["unproject", "--json"])["removed"].as_array().unwrap().len(), 0);
}

#[test]
fn a_bundle_is_no_target() {
    let repo = repo();
    let said =
        run(&repo, &["project", "bundle", "--layout", "codex", "--target", "bundle/new"]).exits(2).stderr;
    assert_eq!(said, "error: the target is the bundle itself or lies inside it; name another folder\n");
    run(&repo, &["verify", "--strict", "bundle"]).exits(0);
}

#[test]
fn the_record_names_the_bundle_from_wherever_it_is_read() {
    let repo = repo();
    run(&repo, &["project", "bundle", "--layout", "opencode"]).exits(0);
    let record: Value = serde_json::from_str(&repo.read(".agent-compose/projection.json")).unwrap();
    assert_eq!(Path::new(record["bundle"].as_str().unwrap()), repo.path().join("bundle"));
}

#[test]
fn a_failure_says_what_to_do() {
    let repo = repo();
    repo.write(".agent-compose/projection.json", "{\"files\": [\"../outside\"]}");
    for args in [&["project", "bundle", "--layout", "codex"][..], &["unproject"]] {
        let said = run(&repo, args).exits(2).stderr;
        let expected = "error: the record of the previous projection names `../outside`, where nothing may be projected\n  help: remove `.agent-compose/` at the target, and by hand what was laid out there\n";
        assert_eq!(said, expected);
    }
}

/// The record of another tool doesn't say what it wrote.
#[test]
fn texts_that_may_have_been_edited_are_kept_and_told() {
    let repo = repo();
    let record = ".agent-compose/projection.json";
    let kept = |repo: &Repo| -> Vec<String> {
        let kept = repo.files().into_iter().filter(|path| path.starts_with(".agent-compose/kept/"));
        kept.map(|path| repo.read(&path)).collect()
    };
    repo.write(record, "{\"files\": [\"AGENTS.md\", \"old.md\"]}");
    repo.write("AGENTS.md", "mine\n");
    repo.write("old.md", "old\n");
    let output = run(&repo, &["project", "bundle", "--layout", "codex"]).exits(0);
    assert!(output.stderr.contains("AGENTS.md: warning: the record doesn't say what"), "{}", output.stderr);
    assert!(output.stderr.contains("old.md: warning: the record doesn't say what"), "{}", output.stderr);
    assert!(!repo.exists("old.md"));
    assert_eq!(kept(&repo).len(), 2);

    repo.write(record, "{\"files\": [\"notes.md\"]}");
    repo.write("notes.md", "notes\n");
    let output = run(&repo, &["unproject", "--json"]).exits(0);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["removed"][0], "notes.md");
    assert_eq!(repo.read(report["kept"][0].as_str().unwrap()), "notes\n");
    assert!(output.stderr.contains("notes.md: warning: the record doesn't say what"), "{}", output.stderr);
}

#[test]
fn a_target_is_a_folder_or_nothing_yet() {
    let repo = repo();
    repo.write("file", "mine");
    for args in [
        &["project", "bundle", "--layout", "codex", "--target", "file"][..],
        &["unproject", "--target", "file"],
    ] {
        let said = run(&repo, args).exits(2).stderr;
        assert_data_eq!(
            said,
            str![[r#"
error: the target is a regular file; expected a folder, or nothing yet
  help: put an ordinary file or folder there, or name another target

"#]]
        );
    }
}

#[test]
fn a_file_in_the_way_that_is_too_large_is_to_be_moved_away() {
    let repo = repo();
    let size = 257 << 20;
    fs::File::create(repo.path().join("AGENTS.md")).unwrap().set_len(size).unwrap();
    let said = run(&repo, &["project", "bundle", "--layout", "codex"]).exits(2).stderr;
    assert_data_eq!(
        said,
        str![[r#"
error: cannot read `AGENTS.md`: 269484032 bytes are more than the 268435456 allowed
  help: move that file away, or name another target

"#]]
    );
    assert_eq!(fs::metadata(repo.path().join("AGENTS.md")).unwrap().len(), size);
}

#[test]
fn a_base_without_its_project_is_told_where_the_request_names_it() {
    let repo = repo();
    let request = |base: &str| {
        repo.write(
            "r.kdl",
            &format!("compose {{\n  role \"maker\"\n  delivery \"compiled\"\n  base \"{base}\"\n}}\n"),
        );
        run(&repo, &["compose", "r.kdl", "--out", "out"]).exits(2).stderr
    };
    assert_data_eq!(
        request("native"),
        str![[r#"
r.kdl:4: error: the render `native` needs a project, and none is found from the request's folder upward [bundle.request]
  help: put the request into the project whose instructions should lead, name that with `--root DIR`, or leave `base` out

"#]]
    );
    repo.write("memory/rules.md", "---\ntype: core\n---\nBe kind.\n");
    let said = request("nothing");
    assert!(
        said.starts_with("r.kdl:4: error: no render is called `nothing`; expected one of `native`"),
        "{said}"
    );
}

#[test]
fn a_folder_of_bundles_that_can_not_be_says_what_to_do() {
    let repo = repo();
    repo.write("file", "mine");
    let said = run(&repo, &["compose", "maker", "--out", "file"]).exits(2).stderr;
    let expected = "  help: name a folder where there is room and you may write with `--out DIR`\n";
    assert!(
        said.starts_with("error: cannot use the folder of bundles: ") && said.ends_with(expected),
        "{said}"
    );
}
