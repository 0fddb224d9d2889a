//! What a context costs, in numbers and as a page.

use cantus_testkit::{Output, Repo};
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use crate::program::{NOTES, cantus, projected, replace};

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// A repository whose package is small, so that the numbers are those of its notes.
fn small() -> Repo {
    let repo = Repo::new(NOTES);
    repo.add(
        "
        //- cantus.toml
        package = \"house\"
        //- house/package.toml
        name = \"house\"
        version = \"1\"
        //- house/contract.md
        # House

        Be.
        ",
    );
    cantus(&repo, &["project"]).exits(0);
    repo
}

#[test]
fn for_people() {
    let output = cantus(&small(), &["stats"]).exits(0);
    assert_eq!(output.stderr, "");
    assert_data_eq!(
        output.stdout.clone(),
        str![[r#"
AGENTS.md: ~90 tokens, 464 bytes, 1.4% of 32,768 bytes

layers
  frame    55   61.1%  3 sections
  project  29   32.2%  3 sections
  package   6    6.7%  1 section

sections
  frame.reference    27   30.0%
  frame.core         22   24.4%
  proj.ref.release   11   12.2%
  proj.core.rules    10   11.1%
  proj.core.tests     8    8.9%
  pkg.house.heading   6    6.7%
  frame.title         6    6.7%

notes
  (frame)              55   61.1%  3 sections
  memory/release.md    11   12.2%  1 section
  memory/rules.md      10   11.1%  1 section
  memory/tests.md       8    8.9%  1 section
  package:contract.md   6    6.7%  1 section

"#]]
    );
    assert!(!output.stdout.contains(['█', '▏', '\u{1b}']), "bars and colours are for terminals");
}

#[test]
fn names_of_notes_turn_no_line_of_the_report() {
    let repo = Repo::new("//- memory/a\u{202e}b.md\n---\ntype: core\n---\n# A\n\nx\n");
    let shown = cantus(&repo, &["stats"]).exits(0).stdout;
    assert!(shown.contains("  memory/a\\u{202e}b.md  "), "{shown}");
    assert!(!shown.contains('\u{202e}'), "{shown}");
}

#[test]
fn the_sums_agree() {
    let repo = small();
    let stats = json_of(&cantus(&repo, &["stats", "--json"]).exits(0));
    assert_eq!(stats["bytes"], json!(repo.read("AGENTS.md").len()));
    assert_eq!(
        (&stats["version"], &stats["file"], &stats["history"]),
        (&json!(1), &json!("AGENTS.md"), &Value::Null)
    );
    for list in ["layers", "sections", "notes"] {
        let tokens: Vec<u64> = stats[list]
            .as_array()
            .expect(list)
            .iter()
            .map(|row| row["tokens_est"].as_u64().expect("a number"))
            .collect();
        assert_eq!(tokens.iter().sum::<u64>(), stats["tokens_est"], "{list}");
        assert!(tokens.is_sorted_by(|one, other| one >= other), "{list}: {tokens:?}");
    }
    let rendered = json_of(&cantus(&repo, &["render", "-q", "-s", "--json", "--no-home"]).exits(0));
    let included = rendered["sections"].as_array().expect("sections");
    let included = included.iter().filter(|section| section["status"] == "included").count();
    assert_eq!(stats["sections"].as_array().map(Vec::len), Some(included));
}

#[test]
fn the_last_commits() {
    let repo = projected();
    let none = json_of(&cantus(&repo, &["stats", "--json", "--history", "5"]).exits(0));
    assert_eq!(none["history"], json!([]), "nothing is committed yet");
    repo.commit_all("one");
    let first = repo.read("AGENTS.md").len();
    replace(&repo, "memory/rules.md", "Be kind.", "Be kind to all.");
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("two");
    repo.write("other.md", "not the file\n");
    repo.commit_all("three");
    let sizes = |most: &str| {
        let stats = json_of(&cantus(&repo, &["stats", "--json", "--history", most]).exits(0));
        let versions =
            stats["history"].as_array().expect("a history").iter().map(|size| size["bytes"].clone());
        versions.collect::<Vec<_>>()
    };
    assert_eq!(sizes("9"), [json!(first), json!(first + 7)]);
    assert_eq!(sizes("1"), [json!(first + 7)]);
    // More than git counts.
    assert_eq!(sizes(&usize::MAX.to_string()), sizes("9"));
    repo.remove("AGENTS.md");
    repo.commit_all("gone");
    assert_eq!(sizes("2"), [json!(first + 7), json!(0)]);
    let shown = cantus(&repo, &["stats", "--history", "9"]).exits(0).stdout;
    assert!(shown.contains("\nhistory, in bytes"), "{shown}");
}

#[test]
fn a_shallow_clone_has_the_history_that_it_has() {
    let repo = projected();
    repo.commit_all("one");
    replace(&repo, "memory/rules.md", "Be kind.", "Be nice.");
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("two");
    let url = format!("file://{}", repo.path().display());
    repo.git(&["clone", "--quiet", "--depth", "1", &url, "shallow"]);
    let stats = json_of(&cantus(&repo, &["stats", "--root", "shallow", "--json", "--history", "9"]).exits(0));
    assert_eq!(stats["history"].as_array().map(Vec::len), Some(1));
}

#[test]
fn outside_git_there_is_no_history() {
    let repo = Repo::without_git(NOTES);
    let output = cantus(&repo, &["stats", "--json", "--history", "5"]).exits(0);
    assert_eq!(json_of(&output)["history"], Value::Null);
    assert!(output.stderr.contains("this is no git repository"), "{}", output.stderr);
}

#[test]
fn a_page_is_the_same_every_time_and_names_no_machine() {
    let repo = projected();
    repo.write("memory/<script>alert(1)<!-- \"'&.md", "---\ntype: core\n---\n# Evil\n\nText.\n");
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("one");
    let write = |name: &str| {
        cantus(&repo, &["stats", "--html", name, "--history", "3"]).exits(0);
        repo.read(name)
    };
    let page = write("one.html");
    assert_eq!(write("two.HTML"), page);
    assert_eq!(write("two.HTML"), page, "our own page is written over");
    for secret in [repo.path(), repo.home()] {
        assert!(!page.contains(secret.to_str().expect("UTF-8")), "{secret:?}");
    }
    assert!(page.contains("memory/&lt;script&gt;alert(1)&lt;!-- &quot;&#39;&amp;.md"), "{page}");
    assert_eq!(page.matches("<script>").count(), 1);
    let stats = json_of(&cantus(&repo, &["stats", "--json"]).exits(0));
    let sections = stats["sections"].as_array().map(Vec::len).expect("sections");
    assert_eq!(page.matches("<rect ").count(), sections);
    assert_eq!(page.matches("<tr><th scope=\"row\">").count(), sections);
}

#[test]
fn no_folder_is_made_for_a_page() {
    let repo = projected();
    let error = cantus(&repo, &["stats", "--html", "out/x.html"]).exits(2).stderr;
    assert!(error.contains("`out/x.html`: there is no folder `out`"), "{error}");
    assert!(!repo.exists("out"));
}

#[test]
fn limits_have_an_owner() {
    let repo = projected();
    let stats = json_of(&cantus(&repo, &["stats", "--json"]).exits(0));
    let limits = stats["limits"].as_array().expect("limits");
    assert_eq!((&limits[0]["owner"], &limits[0]["amount"]), (&json!("budget.file_bytes"), &json!(32_768)));
    let codex = limits.iter().find(|limit| limit["owner"] == "Codex").expect("Codex");
    assert_eq!((&codex["evidence"], &codex["scope"]), (&json!("source"), &json!("chain")));
    assert_eq!(codex["used"], json!(repo.read("AGENTS.md").len()));
    cantus(&repo, &["stats", "--html", "x.html"]).exits(0);
    let page = repo.read("x.html");
    for limit in limits {
        let owner = limit["owner"].as_str().expect("an owner");
        assert!(page.contains(&format!("<tr><td>{owner}</td>")), "{owner}");
    }
}

#[test]
fn no_page_takes_the_place_of_what_is_committed_or_read() {
    let repo = Repo::new(NOTES);
    repo.add(
        "
        //- cantus.toml
        package = \"house\"
        members = [\"web\"]
        [projection]
        files = [\"AGENTS.md\", \"docs/rules.html\"]
        [[output]]
        render = \"helper\"
        file = \"Helper.HTM\"
        //- house/package.toml
        name = \"house\"
        version = \"1\"
        //- house/contract.md
        # House
        //- web/memory/a.md
        ---
        type: core
        ---
        # A
        ",
    );
    cantus(&repo, &["project"]).exits(0);
    let (before, rules) = (repo.files(), repo.read("docs/rules.html"));
    for (page, said) in [
        ("docs/rules.html", "`docs/rules.html` is a committed file of this project"),
        // On some file systems it would be the same file.
        ("helper.htm", "`Helper.HTM` is a committed file"),
        ("web/docs/rules.html", "`web/docs/rules.html` is a committed file"),
        ("memory/x.html", "`memory` holds notes or texts that Cantus reads"),
        ("web/memory/x.html", "`web/memory` holds"),
        ("house/x.html", "`house` holds"),
    ] {
        let error = cantus(&repo, &["stats", "--html", page, "--force"]).exits(2).stderr;
        assert!(error.contains(said), "{page}: {error}");
        assert_eq!(repo.files(), before, "{page}");
    }
    assert_eq!(repo.read("docs/rules.html"), rules);
    cantus(&repo, &["stats", "--html", "docs/cost.html"]).exits(0);
}

#[test]
fn what_is_no_page_of_ours_stays() {
    let repo = projected();
    repo.write("mine.html", "<p>Mine.</p>\n");
    let check = |args: &[&str], expected: &str| {
        let output = cantus(&repo, &[&["stats"], args].concat()).exits(2);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    };
    check(&["--html", "mine.html"], "`mine.html` is not a page that `stats` wrote");
    assert_eq!(repo.read("mine.html"), "<p>Mine.</p>\n");
    check(&["--html", "AGENTS.md", "--force"], "give it a name that ends in `.html`");
    cantus(&repo, &["stats", "--html", "mine.html", "--force"]).exits(0);
    assert!(repo.read("mine.html").starts_with("<!DOCTYPE html>"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("mine.html", repo.path().join("link.html")).expect("a link");
        check(&["--html", "link.html", "--force"], "link.html");
    }
}
