//! The home layer through the program.

use std::fs;
use std::path::{Path, PathBuf};

use cantus_testkit::Repo;
use serde_json::Value;

const CANTUS: &str = env!("CARGO_BIN_EXE_cantus");

const PROJECT: &str = "
    //- memory/rules.md
    ---
    type: core
    ---
    # Rules

    Of the project.
    ";

fn vectors() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/compose");
    let entries = fs::read_dir(folder).expect("the vectors");
    let mut cases: Vec<_> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    cases.sort();
    cases
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

/// The facts of a case as the program takes them.
fn facts(case: &Path) -> String {
    let facts = json(&case.join("facts.json"));
    let given =
        facts.as_object().expect("facts").iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
    given.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}

/// The rows of home and project that the program shows, in the form of the vectors.
#[track_caller]
fn rows(case: &Path) -> Vec<Value> {
    let repo = Repo::without_git("");
    let (root, home) = (case.join("project"), case.join("home"));
    let args = [
        "render",
        "--sections",
        "--json",
        "-q",
        "--root",
        root.to_str().expect("UTF-8"),
        "--home",
        home.to_str().expect("UTF-8"),
    ];
    let facts = facts(case);
    let output = repo.run(CANTUS, &[args.as_slice(), &["-f", &facts]].concat()).exits(0);
    let table: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let rows = table["sections"].as_array().expect("sections").iter();
    rows.filter(|row| {
        ["proj.", "home."].iter().any(|layer| row["id"].as_str().is_some_and(|id| id.starts_with(layer)))
    })
    .cloned()
    .collect()
}

#[test]
fn every_vector_with_its_home_has_the_expected_sections() {
    let cases = vectors();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let expected = json(&case.join("expected.json"));
        let expected = expected["sections"].as_array().expect("sections");
        let found = rows(&case);
        assert_eq!(found.len(), expected.len(), "{}", case.display());
        for (found, expected) in found.iter().zip(expected) {
            for (key, other) in [
                ("id", "id"),
                ("status", "status"),
                ("bytes", "length"),
                ("sha256", "sha256"),
                ("tokens_est", "tokens_est"),
                ("reason", "reason"),
            ] {
                assert_eq!(found[key], expected[other], "{}: {}: {key}", case.display(), expected["id"]);
            }
        }
    }
}

#[test]
fn a_broken_home_is_left_out_with_a_warning() {
    let repo = Repo::new(PROJECT);
    fs::create_dir_all(repo.home().join("sase/memory")).expect("a folder");
    fs::write(repo.home().join("sase/memory/own.md"), "---\ntype: croe\n---\nMine.\n").expect("a file");
    let output = repo.run(CANTUS, &["render"]).exits(0);
    assert!(
        output.stdout.contains("Of the project.") && !output.stdout.contains("Mine."),
        "{}",
        output.stdout
    );
    assert!(
        output.stderr.contains("home:sase/memory/own.md:2: warning: `type` must be"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("the home layer is left out"), "{}", output.stderr);
    let output = repo.run(CANTUS, &["render", "--strict"]).exits(2);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("home:sase/memory/own.md:2: error: `type` must be"), "{}", output.stderr);
}

#[test]
fn a_home_with_notes_and_a_title_stands_before_the_project() {
    let repo = Repo::new(PROJECT);
    let home = repo.home().join(".config/cantus");
    fs::create_dir_all(home.join("memory")).expect("a folder");
    fs::write(home.join("cantus.toml"), "title = \"Ada's own\"\n").expect("a file");
    fs::write(home.join("memory/own.md"), "---\ntype: core\n---\nMine.\n").expect("a file");
    let mine = repo.run(CANTUS, &["render"]).exits(0).stdout;
    assert!(mine.starts_with("# Agent Instructions\nHome: Ada's own\n\n"), "{mine}");
    assert!(mine.find("Mine.").expect("home") < mine.find("Of the project.").expect("project"));
    for args in [["render", "--no-home"], ["render", "-fmode=export"]] {
        let without = repo.run(CANTUS, &args).exits(0).stdout;
        assert!(!without.contains("Mine.") && !without.contains("Home:"), "{without}");
    }
}

#[test]
fn a_stray_memory_folder_in_a_home_is_nobodys_layer() {
    let repo = Repo::new(PROJECT);
    fs::create_dir_all(repo.home().join("memory")).expect("a folder");
    fs::write(repo.home().join("memory/own.md"), "---\ntype: core\n---\nMine.\n").expect("a file");
    assert!(!repo.run(CANTUS, &["render"]).exits(0).stdout.contains("Mine."));
}

#[test]
fn a_home_that_is_named_must_be_a_folder() {
    let repo = Repo::new(PROJECT);
    repo.write("file", "");
    for (home, said) in [
        ("gone", "error: `gone`, given as the home: No such file or directory"),
        ("file", "error: `file`, given as the home, is not a folder"),
        ("file/x", "error: `file/x`, given as the home: "),
    ] {
        let output = repo.run(CANTUS, &["render", "--home", home]).exits(2);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.contains(said), "{}", output.stderr);
        assert!(output.stderr.contains("help: name the folder that holds `memory`"), "{}", output.stderr);
    }
    fs::create_dir_all(repo.path().join("empty")).expect("a folder");
    repo.run(CANTUS, &["render", "--home", "empty"]).exits(0);
}

#[test]
fn committed_files_never_hold_home_notes() {
    let repo = Repo::new(PROJECT);
    fs::create_dir_all(repo.home().join("sase/memory")).expect("a folder");
    fs::write(repo.home().join("sase/memory/own.md"), "---\ntype: core\n---\nMine.\n").expect("a file");
    repo.run(CANTUS, &["project"]).exits(0);
    assert!(!repo.read("AGENTS.md").contains("Mine."));
    assert!(repo.run(CANTUS, &["render"]).exits(0).stdout.contains("Mine."));
}
