//! `check --format`: what machines read, whole and broken projects alike.

use cantus_testkit::{Output, Repo};
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::program::{CANTUS, NOTES, cantus, projected, replace};

/// A repository with one edit by hand, in a file whose name and text need escapes.
fn edited() -> Repo {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "[projection]\nfiles = [\"AGENTS.md\", \"a, b: 50%.md\"]\n");
    cantus(&repo, &["project"]).exits(0);
    replace(&repo, "a, b: 50%.md", "Be kind.", "Be cruel.");
    repo
}

/// What `check --format sarif` prints, judged by the schema.
#[track_caller]
fn sarif(output: &Output) -> Value {
    let mut schema: Value =
        serde_json::from_str(include_str!("../data/sarif-schema-2.1.0.json")).expect("JSON");
    // Its pattern for languages isn't a regular expression of JSON Schema; we name no language.
    for holder in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{holder}/properties/language"));
        language
            .and_then(Value::as_object_mut)
            .and_then(|language| language.remove("pattern"))
            .expect("a pattern");
    }
    let schema = jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema");
    let log: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let faults: Vec<_> =
        schema.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(faults.is_empty(), "{faults:#?}\n{log:#}");
    assert_eq!(output.stderr, "");
    log
}

/// The results of a log, each as its rule, level, file and line.
fn results(log: &Value) -> Vec<String> {
    let results = log["runs"][0]["results"].as_array().expect("results");
    let shown = |result: &Value| {
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!(
            "{} {} {uri} {}",
            text(&result["ruleId"]),
            text(&result["level"]),
            place["region"]["startLine"]
        )
    };
    results.iter().map(shown).collect()
}

#[test]
fn github_gets_workflow_commands_and_the_summary() {
    let repo = edited();
    let output = cantus(&repo, &["check", "--format", "github"]).exits(1);
    assert_eq!(output.stderr, "");
    assert_data_eq!(
        output.stdout,
        str![[r#"
::error file=a%2C b%3A 50%25.md,line=59,title=drift.edited::this was edited by hand (section `proj.core.rules`)%0Ahelp: to keep it, make the change in memory/rules.md:7, then run `cantus project`; to drop it, run `cantus project --force`
::error file=a%2C b%3A 50%25.md,title=parity.copy::not byte for byte the same as `AGENTS.md`%0Ahelp: mend what is said of the files first, then run `cantus project`
::notice file=AGENTS.md,title=reader.condition::Claude Code reads `AGENTS.md` only since version 2.1.277, without a CLAUDE.md there or above, and not on Bedrock, Vertex or Foundry%0Ahelp: add `CLAUDE.md` to `projection.files`
      Failed 2 errors, 0 warnings, 1 note
             11 sections, 2,512 bytes, ~632 tokens, common digest c3bc4bb821f6

"#]]
    );
}

#[test]
fn github_is_told_of_passing_in_the_summary_alone() {
    let repo = projected();
    repo.write("cantus.toml", "providers = [\"codex\"]\n");
    cantus(&repo, &["project"]).exits(0);
    let output = cantus(&repo, &["check", "--format", "github"]).exits(0);
    assert!(output.stdout.starts_with("      Passed 0 errors"), "{}", output.stdout);
    assert_eq!(cantus(&repo, &["check", "--format", "github", "-q"]).exits(0).stdout, "");
}

#[test]
fn github_gets_paths_from_the_root_of_the_repository() {
    let repo = Repo::new("//- src/lib.rs\n");
    repo.write("tools/bot/memory/a.md", "---\ntype: core\n---\n# A\n");
    let check = ["check", "--root", "tools/bot", "--format"];
    let output = cantus(&repo, &[&check[..], &["github"]].concat()).exits(1);
    assert!(
        output.stdout.starts_with("::error file=tools/bot/AGENTS.md,title=drift.missing::"),
        "{}",
        output.stdout
    );
    let log = sarif(&cantus(&repo, &[&check[..], &["sarif"]].concat()).exits(1));
    assert_eq!(results(&log)[0], "drift.missing error tools/bot/AGENTS.md null");
}

#[test]
fn sarif_keeps_to_its_schema() {
    let log = sarif(&cantus(&edited(), &["check", "--format", "sarif"]).exits(1));
    assert_eq!(
        results(&log),
        [
            "drift.edited error a%2C%20b%3A%2050%25.md 59",
            "parity.copy error a%2C%20b%3A%2050%25.md null",
            "reader.condition note AGENTS.md null",
        ]
    );
    let run = &log["runs"][0];
    assert_eq!(run["invocations"][0]["exitCode"], 1);
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let log = sarif(&cantus(&projected(), &["check", "--format", "sarif"]).exits(0));
    assert_eq!(results(&log), [] as [&str; 0]);
}

#[test]
fn fingerprints_outlive_a_move() {
    let repo = edited();
    let prints = |repo: &Repo| {
        let log = sarif(&cantus(repo, &["check", "--format", "sarif"]).exits(1));
        let results = log["runs"][0]["results"].as_array().unwrap();
        (
            results.iter().map(|result| result["partialFingerprints"].to_string()).collect::<Vec<_>>(),
            results[0].clone(),
        )
    };
    let before = prints(&repo);
    // A note in front moves the edit down.
    repo.write("memory/aaa.md", "---\ntype: core\n---\n# Aaa\n\nText.\n");
    let edit = repo.read("a, b: 50%.md");
    repo.remove("a, b: 50%.md");
    cantus(&repo, &["project"]).exits(0);
    assert_ne!(repo.read("a, b: 50%.md"), edit);
    replace(&repo, "a, b: 50%.md", "Be kind.", "Be cruel.");
    let after = prints(&repo);
    assert_eq!(before.0, after.0);
    assert_ne!(before.1["locations"], after.1["locations"], "the line moved");
}

#[test]
fn json_has_two_names() {
    let repo = edited();
    let long = cantus(&repo, &["check", "--format", "json"]).exits(1);
    assert_eq!(long, cantus(&repo, &["check", "--json"]).exits(1));
    let answer: Value = serde_json::from_str(&long.stdout).unwrap();
    let keys: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["bytes", "common_digest", "findings", "ok", "sections", "tokens_est", "version"]);
    assert_eq!(cantus(&repo, &["check", "--json", "--format", "sarif"]).status, 2);
}

#[test]
fn broken_sources_are_told_in_the_same_format() {
    let repo = projected();
    repo.write("memory/rules.md", "---\ntype: cores\n---\n# Rules\n");
    let output = cantus(&repo, &["check", "--format", "github"]).exits(2);
    assert_eq!(output.stderr, "");
    assert_data_eq!(
        output.stdout,
        str![[r#"
::error file=memory/rules.md,line=2,title=note.value::`type` must be `core` or `reference`, not `cores`%0Ahelp: did you mean `core`?

"#]]
    );
    let log = sarif(&cantus(&repo, &["check", "--format", "sarif"]).exits(2));
    assert_eq!(results(&log), ["note.value error memory/rules.md 2"]);
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
    assert_eq!(log["runs"][0]["invocations"][0]["exitCode"], 2);
}

#[test]
fn no_project_at_all_is_told_in_the_same_format() {
    let repo = Repo::new("//- src/lib.rs\n");
    let output = cantus(&repo, &["check", "--format", "github"]).exits(2);
    assert!(output.stdout.starts_with("::error title=project.none::no project found"), "{}", output.stdout);
    assert_eq!(output.stderr, "");
    let log = sarif(&cantus(&repo, &["check", "--format", "sarif"]).exits(2));
    assert_eq!(results(&log), ["project.none error cantus.toml null"]);
    let answer: Value = serde_json::from_str(&cantus(&repo, &["check", "--json"]).exits(2).stdout).unwrap();
    assert_eq!(
        (&answer["outcome"], &answer["findings"][0]["code"]),
        (&"broken".into(), &"project.none".into())
    );
}

#[test]
fn a_target_that_cannot_be_used_is_told_in_the_same_format() {
    let repo = projected();
    repo.remove("CLAUDE.md");
    repo.write("CLAUDE.md/x", "");
    let log = sarif(&cantus(&repo, &["check", "--format", "sarif"]).exits(2));
    assert_eq!(results(&log), ["target error CLAUDE.md null"]);
}

#[test]
fn a_reader_that_leaves_changes_no_exit_code() {
    let repo = edited();
    let mut command = repo.command(CANTUS);
    let command = command.args(["check", "--format", "sarif"]).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("a child");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("its end").code(), Some(1));
}
