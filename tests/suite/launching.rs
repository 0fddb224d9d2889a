//! The launch layer through the program: `render --launch`.

use std::fs;

use cantus_testkit::Repo;
use serde_json::Value;
use snapbox::str;

use crate::program::{NOTES, cantus};

/// Renders with the launch file `json`.
#[track_caller]
fn render(json: &str, args: &[&str]) -> cantus_testkit::Output {
    let repo = Repo::new(NOTES);
    repo.write("launch.json", json);
    cantus(&repo, &[&["render", "-q", "--launch", "launch.json"], args].concat())
}

const TWO: &str = r##"{"version": 1, "sections": [
    {"id": "clock", "text": "It is noon.", "volatile": true},
    {"id": "ticket", "text": "# Ticket\r\n\r\nOne two three four five six.", "budget": 30, "pointer": "See ticket 7."}
]}"##;

#[test]
fn launch_sections_stand_behind_everything_else() {
    let plain = render(r#"{"version": 1, "sections": []}"#, &[]).exits(0).stdout;
    let with = render(TWO, &[]).exits(0).stdout;
    let added = with.strip_prefix(&plain).expect("the rest is the same");
    assert_eq!(added, "# Ticket\n\nSee ticket 7.\n\nIt is noon.\n\n");
}

#[test]
fn the_manifest_has_them() {
    let output = render(TWO, &["-j"]).exits(0);
    let manifest: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let sections = manifest["sections"].as_array().expect("sections").iter();
    let found: Vec<_> = sections
        .filter(|section| section["layer"] == "launch")
        .map(|section| (section["id"].as_str(), section["lifecycle"].as_str(), section["required"].as_bool()))
        .collect();
    assert_eq!(
        found,
        [
            (Some("launch.ticket"), Some("neutral"), Some(false)),
            (Some("launch.clock"), Some("neutral"), Some(false))
        ]
    );
    assert_eq!(manifest["budget"]["by_layer"]["launch"]["bytes"], 25 + 13);
    let repo = Repo::new("");
    repo.write("m.json", &output.stdout);
    cantus(&repo, &["manifest", "m.json"]).exits(0);
}

#[test]
fn a_blank_text_is_listed_as_empty() {
    let output = render(r#"{"version": 1, "sections": [{"id": "x", "text": " \n"}]}"#, &["-s"]).exits(0);
    assert!(output.stdout.contains("excluded: empty"), "{}", output.stdout);
}

#[test]
fn they_count_in_the_common_digest() {
    let digest = |json| {
        let output = render(json, &["-j"]).exits(0);
        let manifest: Value = serde_json::from_str(&output.stdout).expect("JSON");
        manifest["bundle"]["common_digest"].clone()
    };
    assert_ne!(digest(TWO), digest(&TWO.replace("noon", "two")));
}

#[test]
fn what_is_wrong_with_a_launch_file_is_said() {
    for (json, expected) in [
        ("", "`launch.json` is no launch file: EOF while parsing a value at line 1 column 0"),
        ("[]", "is no launch file"),
        (r#"{"version": 2, "sections": []}"#, "has version 2; this program knows version 1"),
        (r#"{"version": 1}"#, "missing field `sections`"),
        (r#"{"version": 1, "sections": [{"id": "a", "text": "b", "titel": "c"}]}"#, "unknown field `titel`"),
        (r#"{"version": 1, "sections": [{"id": "a.b", "text": "b"}]}"#, "`a.b` can't name a launch section"),
        (r#"{"version": 1, "sections": [{"id": "", "text": "b"}]}"#, "`` can't name a launch section"),
        (
            r#"{"version": 1, "sections": [{"id": "a", "text": "b"}, {"id": "a", "text": "c"}]}"#,
            "two launch sections are called `a`",
        ),
        (r#"{"version": 1, "sections": [{"id": "a", "text": "b", "budget": 3}]}"#, "needs a `pointer`"),
        (r#"{"version": 1, "sections": [{"id": "a", "text": "b", "pointer": "c"}]}"#, "without a `budget`"),
        (r#"{"version": 1, "sections": [{"id": "a", "text": "b", "budget": -1, "pointer": "c"}]}"#, "-1"),
    ] {
        let output = render(json, &[]).exits(2);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.contains(expected), "{json}: {}", output.stderr);
    }
    let repo = Repo::new(NOTES);
    let output = cantus(&repo, &["render", "--launch", "none.json"]).exits(2);
    snapbox::assert_data_eq!(
        output.stderr,
        str![[r#"
error: cannot read `none.json`: there is no such file

"#]]
    );
    fs::create_dir(repo.path().join("folder")).expect("a folder");
    cantus(&repo, &["render", "--launch", "folder"]).exits(2);
}
