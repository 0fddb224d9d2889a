//! Where a line comes from, and where it goes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cantus_testkit::Repo;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use crate::program::{cantus, projected, replace};

/// The answer for a place.
#[track_caller]
fn why(repo: &Repo, place: &str) -> Value {
    let output = cantus(repo, &["why", place, "--json"]).exits(0);
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// The line (from 1) of `AGENTS.md` that is `text`.
#[track_caller]
fn line_of(repo: &Repo, text: &str) -> usize {
    repo.read("AGENTS.md").lines().position(|line| line == text).expect("the line") + 1
}

/// The kind, section, first source with its line, state and exactness for the line of `AGENTS.md` that is `text`.
#[track_caller]
fn check(repo: &Repo, text: &str, expected: &Value) {
    let answer = why(repo, &format!("AGENTS.md:{}", line_of(repo, text)));
    let source = answer["sources"].get(0);
    let place = source.map(|source| json!([source["source"], source["line"]]));
    let found = json!([answer["kind"], answer["section"]["id"], place, answer["state"], answer["exact"]]);
    assert_eq!(found, *expected, "{text}");
}

fn words(text: &str) -> BTreeSet<String> {
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    runs.map(str::to_lowercase).collect()
}

#[test]
fn every_line_of_our_own_file_has_a_source_with_its_words() {
    let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace");
    let root = ours.to_str().expect("UTF-8");
    let elsewhere = Repo::new("");
    let text = std::fs::read_to_string(ours.join("AGENTS.md")).expect("our own file");
    let mut kinds = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("AGENTS.md:{}", index + 1);
        let output = cantus(&elsewhere, &["why", "--root", root, &place, "--json"]).exits(0);
        let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!((&answer["text"], &answer["exact"]), (&json!(line), &json!(true)), "{place}");
        check_words(&ours, &place, line, &answer);
        kinds.insert(answer["kind"].as_str().expect("a kind").to_owned());
    }
    assert_eq!(kinds, ["frame", "notice", "separator", "source"].map(str::to_owned).into());
    let last = format!("AGENTS.md:{}", text.lines().count() + 1);
    cantus(&elsewhere, &["why", "--root", root, &last]).exits(1);
}

/// Each stretch of a line stands on the source line that is named, but for what the composer adds.
#[track_caller]
fn check_words(root: &Path, place: &str, line: &str, answer: &Value) {
    if answer["kind"] != "source" {
        assert!(line.is_empty() || answer["says"].is_string(), "{place}: {line}");
        return;
    }
    assert_ne!(answer["sources"], json!([]), "{place}: {line}");
    for source in answer["sources"].as_array().expect("sources") {
        let name = source["source"].as_str().expect("a name");
        let file = match name.strip_prefix("package:") {
            Some(file) => format!("crates/cantus-compose/package/{file}"),
            None => name.to_owned(),
        };
        let text = std::fs::read_to_string(root.join(&file)).expect("the source");
        let Some(number) = source["line"].as_u64() else { continue };
        let there = text.lines().nth(number as usize - 1).expect("its line");
        let stretch: String = match source["columns"].as_array() {
            None => line.to_owned(),
            Some(columns) => {
                let [first, last] =
                    [&columns[0], &columns[1]].map(|column| column.as_u64().expect("a column"));
                line.chars().take(last as usize).skip(first as usize - 1).collect()
            }
        };
        let added = words(&format!("{name} terms cantus"));
        let missing: Vec<_> = words(&stretch)
            .into_iter()
            .filter(|word| {
                !words(there).contains(word) && !added.contains(word) && word.parse::<u32>().is_err()
            })
            .collect();
        assert!(
            missing.is_empty() || there.contains("{{"),
            "{place}: {missing:?} not on {name}:{number}: {there}"
        );
    }
}

#[test]
fn a_fresh_file() {
    let repo = projected();
    check(&repo, "Be kind.", &json!(["source", "proj.core.rules", ["memory/rules.md", 7], "fresh", true]));
    check(
        &repo,
        "### Tests (tests)",
        &json!(["source", "proj.core.tests", ["memory/tests.md", 4], "fresh", true]),
    );
    check(&repo, "# Agent Instructions", &json!(["frame", "frame.title", null, "fresh", true]));
    assert_eq!(why(&repo, "AGENTS.md:1")["kind"], "notice");
    assert_eq!(why(&repo, "AGENTS.md:2")["says"], "the blank line below the notice");
    let above = line_of(&repo, "### Tests (tests)") - 1;
    let answer = why(&repo, &format!("CLAUDE.md:{above}"));
    assert_eq!((&answer["kind"], &answer["section"]["id"]), (&json!("separator"), &json!("proj.core.rules")));
}

#[test]
fn for_people() {
    let repo = projected();
    let place = format!("AGENTS.md:{}:4", line_of(&repo, "Be kind."));
    let output = cantus(&repo, &["why", &place]).exits(0);
    assert_data_eq!(
        output.stdout,
        str![[r#"
        Line AGENTS.md:[..] Be kind.
     Section proj.core.rules (project layer)
      Source memory/rules.md:7

"#]]
    );
}

#[test]
fn a_note_s_characters_do_nothing_to_the_terminal() {
    let note = "//- memory/a\u{202e}.md\n---\ntype: core\n---\n# A\n\nred\u{1b}[31m \u{9b}1m \u{202e}dark\n";
    let repo = Repo::new(note);
    cantus(&repo, &["project"]).exits(0);
    for place in
        ["memory/a\u{202e}.md:6".to_owned(), format!("AGENTS.md:{}", repo.read("AGENTS.md").lines().count())]
    {
        let shown = cantus(&repo, &["why", "--color", "always", &place]).exits(0).stdout;
        assert!(shown.contains("red\\u{1b}[31m \\u{9b}1m \\u{202e}dark"), "{shown:?}");
        assert!(shown.contains("memory/a\\u{202e}.md:6"), "{shown:?}");
        assert!(!shown.contains(['\u{9b}', '\u{202e}']), "{shown:?}");
    }
}

#[test]
fn a_column_picks_a_strand() {
    let repo = projected();
    repo.add(
        "
        //- memory/terms.md
        ---
        web: true
        strand_noun: term
        ---
        # Terms
        //- memory/terms/bundle.md
        ---
        keyword: Bundle
        ---
        A document.
        //- memory/terms/note.md
        ---
        keyword: Note
        ---
        A file.
        ",
    );
    cantus(&repo, &["project"]).exits(0);
    let line = line_of(&repo, "**TERMS:** Bundle; Note");
    let at = |column: usize| {
        let answer = why(&repo, &format!("AGENTS.md:{line}:{column}"));
        let names =
            answer["sources"].as_array().expect("sources").iter().map(|source| source["source"].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(at(3), ["memory/terms/bundle.md"]);
    assert_eq!(at(20), ["memory/terms/note.md"]);
    assert_eq!(at(99), ["memory/terms/note.md"]);
    let all = why(&repo, &format!("AGENTS.md:{line}"));
    assert_eq!(all["sources"].as_array().map(Vec::len), Some(2));
}

#[test]
fn files_are_named_from_anywhere() {
    let repo = projected();
    let line = line_of(&repo, "Be kind.");
    let absolute = repo.path().join("AGENTS.md");
    let places = [
        format!("AGENTS.md:{line}"),
        format!("./memory/../AGENTS.md:{line}"),
        format!("{}:{line}", absolute.display()),
    ];
    for place in places {
        assert_eq!(why(&repo, &place)["file"], "AGENTS.md", "{place}");
    }
    let mut command = repo.command(crate::program::CANTUS);
    command.args(["why", &format!("../CLAUDE.md:{line}"), "--json"]).current_dir(repo.path().join("memory"));
    let output = command.output().expect("it runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["file"], "CLAUDE.md");
}

#[test]
fn a_stale_file_is_answered_by_its_own_text() {
    let repo = projected();
    let (kind, brief) = (line_of(&repo, "Be kind."), line_of(&repo, "Be brief."));
    replace(&repo, "memory/rules.md", "Be brief.", "New.\n\nBe terse.");
    replace(&repo, "memory/tests.md", "type: core", "type: core\npriority: 1");
    check(&repo, "Be kind.", &json!(["source", "proj.core.rules", ["memory/rules.md", 9], "stale", true]));
    // It moved, but stands as it was written.
    check(&repo, "Run them.", &json!(["source", "proj.core.tests", ["memory/tests.md", 7], "stale", true]));
    let gone = why(&repo, &format!("AGENTS.md:{brief}"));
    assert_eq!((&gone["exact"], &gone["section"]["id"]), (&json!(false), &json!("proj.core.rules")));
    repo.remove("memory/rules.md");
    let gone = why(&repo, &format!("AGENTS.md:{kind}"));
    assert_eq!(
        (&gone["kind"], &gone["section"]["id"], &gone["sources"][0]["source"]),
        (&json!("gone"), &json!("proj.core.rules"), &json!("memory/rules.md"))
    );
}

#[test]
fn an_edited_file_says_so() {
    let repo = projected();
    replace(&repo, "AGENTS.md", "Be brief.\n", "Be very brief.\n\nAnd more.\n");
    check(&repo, "Be kind.", &json!(["source", "proj.core.rules", ["memory/rules.md", 7], "edited", true]));
    check(
        &repo,
        "Be very brief.",
        &json!(["source", "proj.core.rules", ["memory/rules.md", 6], "edited", false]),
    );
    let output = cantus(&repo, &["why", &format!("AGENTS.md:{}", line_of(&repo, "And more."))]).exits(0);
    assert!(output.stdout.contains("Edited the file was edited by hand"), "{}", output.stdout);
    assert!(output.stdout.contains("Nearest memory/rules.md:6"), "{}", output.stdout);
}

#[test]
fn a_note_says_where_its_lines_stand() {
    let repo = projected();
    let answer = why(&repo, "memory/rules.md:7");
    let line = line_of(&repo, "Be kind.");
    assert_eq!(answer["section"]["id"], "proj.core.rules");
    assert_eq!(
        answer["appears"],
        json!([{"file": "AGENTS.md", "line": line}, {"file": "CLAUDE.md", "line": line}])
    );
    let unseen = why(&repo, "memory/release.md:7");
    assert_eq!((&unseen["appears"], &unseen["section"]["id"]), (&json!([]), &json!("proj.ref.release")));
}

#[test]
fn what_cant_be_answered() {
    let repo = projected();
    let check = |place: &str, status: i32, expected: &str| {
        let output = cantus(&repo, &["why", place]).exits(status);
        assert!(output.stderr.contains(expected), "{place}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{place}");
    };
    check("AGENTS.md:9999", 1, "there is no line 9999");
    check("memory/rules.md:8", 1, "the file has 7 lines");
    check("AGENTS.md", 2, "expected FILE:LINE");
    check("AGENTS.md:0", 2, "expected FILE:LINE");
    check("README.md:1", 1, "neither a committed file of this project nor a note of it");
    check("projections/lock.toml:3", 1, "committed, from the project's root: AGENTS.md, CLAUDE.md");
    repo.remove("AGENTS.md");
    check("AGENTS.md:3", 1, "run `cantus project`");
    repo.write("AGENTS.md", "Mine.\n");
    repo.remove("projections/lock.toml");
    check("AGENTS.md:1", 1, "Cantus did not write this file");
}

#[test]
fn other_outputs_and_a_package_of_ones_own() {
    let repo = Repo::new(crate::program::NOTES);
    repo.add(
        "
        //- cantus.toml
        package = \"house\"
        [[output]]
        render = \"helper\"
        file = \"docs/helper.md\"
        //- house/package.toml
        name = \"house\"
        version = \"1\"
        //- house/contract.md
        # House

        Be here.
        //- house/helper.md
        # Helper

        Ask the one who started you.
        ",
    );
    cantus(&repo, &["project"]).exits(0);
    let text = repo.read("docs/helper.md");
    let line = text.lines().position(|line| line.starts_with("Ask the")).expect("the line") + 1;
    let answer = why(&repo, &format!("docs/helper.md:{line}"));
    assert_eq!(answer["section"]["id"], "pkg.helper.contract");
    let source =
        json!({"source": "package:helper.md", "file": "house/helper.md", "line": 3, "columns": null});
    assert_eq!(answer["sources"], json!([source]));
    let back = why(&repo, "house/helper.md:3");
    assert_eq!(back["appears"], json!([{"file": "docs/helper.md", "line": line}]));
}

#[test]
fn line_ends_of_a_checkout_change_no_answer() {
    let repo = projected();
    let line = line_of(&repo, "Be kind.");
    let crlf = repo.read("AGENTS.md").replace('\n', "\r\n");
    repo.write("AGENTS.md", &crlf);
    let answer = why(&repo, &format!("AGENTS.md:{line}"));
    assert_eq!((&answer["text"], &answer["state"]), (&json!("Be kind."), &json!("fresh")));
    replace(&repo, "memory/rules.md", "Be brief.", "Be terse.");
    let answer = why(&repo, &format!("AGENTS.md:{line}"));
    assert_eq!(
        (&answer["text"], &answer["state"], &answer["exact"]),
        (&json!("Be kind."), &json!("stale"), &json!(true))
    );
}

#[test]
fn a_text_of_the_built_in_package_is_no_file_to_ask_for() {
    let error = cantus(&projected(), &["why", "package:contract.md:1"]).exits(1).stderr;
    assert!(error.contains("neither a committed file of this project nor a note of it"), "{error}");
}

#[test]
fn a_note_that_no_file_is_made_of() {
    let repo = projected();
    repo.write("memory/deep.md", "---\ntype: reference\nparent: release.md\n---\n# Deep\n");
    let output = cantus(&repo, &["why", "memory/deep.md:5", "--json"]).exits(1);
    let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!((&answer["section"], &answer["appears"]), (&Value::Null, &json!([])));
}

#[test]
fn a_note_without_a_title_is_named_by_its_file() {
    let repo = projected();
    repo.write("memory/plain.md", "---\ntype: core\n---\nText.\n");
    cantus(&repo, &["project"]).exits(0);
    check(
        &repo,
        "### plain",
        &json!(["source", "proj.core.plain", ["memory/plain.md", null], "fresh", true]),
    );
    let place = format!("AGENTS.md:{}", line_of(&repo, "### plain"));
    let output = cantus(&repo, &["why", &place]).exits(0);
    assert!(output.stdout.contains("memory/plain.md (its name)"), "{}", output.stdout);
}

#[test]
fn broken_sources_are_told_in_json() {
    let repo = projected();
    repo.write("memory/rules.md", "no front matter\n");
    for verb in [["why", "AGENTS.md:3"].as_slice(), &["stats"]] {
        let output = cantus(&repo, &[verb, &["--json"]].concat()).exits(2);
        let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!(answer["outcome"], "broken");
    }
}
