//! The vectors of `tests/vectors/compose`, project layer, through the program: `project` writes each expected section.

use std::fs;
use std::path::Path;

use cantus_testkit::Repo;
use serde_json::Value;
use walkdir::WalkDir;

use crate::program::cantus;

/// Projects the case called `name` and looks for its sections in the lock and in `AGENTS.md`.
#[track_caller]
fn check(name: &str) {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/compose").join(name);
    let repo = Repo::new("");
    copy(&case.join("project"), &repo);
    cantus(&repo, &["project"]).exits(0);

    let expected = fs::read(case.join("expected.json")).expect("expected.json");
    let expected: Value = serde_json::from_slice(&expected).expect("JSON");
    let sections = expected["sections"].as_array().expect("sections").iter();
    let sections: Vec<_> = sections
        .filter(|section| section["status"] == "included" && text(section, "id").starts_with("proj."))
        .collect();
    assert!(!sections.is_empty());

    let rows: Vec<_> = sections.iter().map(|section| row(section)).collect();
    let lock = repo.read("projections/lock.toml");
    let lock = lock.split_once("\n[excluded]\n").map_or(lock.as_str(), |(included, _)| included);
    let locked = lock.lines().filter(|line| line.starts_with("\"proj."));
    let locked: Vec<_> = locked.filter_map(|line| Some(line.split_once(", in = ")?.0)).collect();
    assert_eq!(locked, rows);

    let file = format!("{}\n", repo.read("AGENTS.md"));
    let mut rest = file.as_str();
    for section in sections {
        let text = text(section, "text");
        rest = match rest.split_once(text) {
            Some((_, after)) => after,
            None => panic!("`AGENTS.md` lacks, in its place, {}:\n{text}", section["id"]),
        };
    }
}

/// The files below `from`, byte for byte.
#[track_caller]
fn copy(from: &Path, repo: &Repo) {
    for entry in WalkDir::new(from) {
        let entry = entry.expect("an entry");
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(from).expect("a path below");
            let below = below.to_str().expect("UTF-8").replace('\\', "/");
            repo.write_bytes(&below, &fs::read(entry.path()).expect("a file"));
        }
    }
}

/// The start of a section's row in the lock, up to its renders.
#[track_caller]
fn row(section: &Value) -> String {
    format!(
        "\"{}\" = {{ bytes = {}, tokens = {}, sha256 = \"{}\"",
        text(section, "id"),
        section["length"],
        section["tokens_est"],
        text(section, "sha256")
    )
}

#[track_caller]
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().expect("a text")
}

/// One test a case, so that a failure names it; the last one holds that none is forgotten.
macro_rules! cases {
    ($($test:ident $name:literal)*) => {
        $(
            #[test]
            fn $test() {
                check($name);
            }
        )*

        #[test]
        fn every_case_has_a_test() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/compose");
            let entries = fs::read_dir(folder).expect("the vectors");
            let folders = entries.map(|entry| entry.expect("an entry")).filter(|entry| entry.path().is_dir());
            let mut names: Vec<_> = folders.map(|entry| entry.file_name()).collect();
            names.sort();
            assert_eq!(names, [$($name),*]);
        }
    };
}

cases! {
    case_01_is_written_as_expected "01"
    case_02_is_written_as_expected "02"
    case_03_is_written_as_expected "03"
    case_04_is_written_as_expected "04"
    case_05_is_written_as_expected "05"
    case_06_is_written_as_expected "06"
    case_07_is_written_as_expected "07"
    case_08_is_written_as_expected "08"
    case_09_is_written_as_expected "09"
    case_10_is_written_as_expected "10"
    case_11_is_written_as_expected "11"
    case_12_is_written_as_expected "12"
}
