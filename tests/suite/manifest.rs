//! Manifests through the program: made by `render --json`, judged by `manifest`.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use cantus_testkit::{Output, Repo};
use serde_json::Value;

use crate::program::{CANTUS, NOTES, cantus};

/// Runs `manifest -` with `text` on standard input.
#[track_caller]
fn judge(repo: &Repo, text: &str) -> Output {
    let mut command = repo.command(CANTUS);
    command.args(["manifest", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("the program reads");
    let output = child.wait_with_output().expect("the program ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

fn manifest(repo: &Repo, facts: &str) -> (String, Value) {
    let text = cantus(repo, &["render", "-jq", "-f", facts]).exits(0).stdout;
    let value = serde_json::from_str(&text).expect("JSON");
    (text, value)
}

#[test]
fn every_render_has_a_manifest_in_normal_form() {
    let repo = Repo::new(NOTES);
    for facts in
        ["provider=claude", "actor=native_helper", "mode=interactive,provider=opencode", "mode=export"]
    {
        let (text, value) = manifest(&repo, facts);
        assert!(judge(&repo, &text).exits(0).stdout == text, "{facts}");
        assert_eq!(value["schema_version"], 2);
        assert_eq!(value["facts"]["vcs"], "git");
        let bundle = cantus(&repo, &["render", "-q", "-f", facts]).exits(0).stdout;
        assert_eq!(value["bundle"]["bytes"], bundle.len());
        assert_eq!(value["bundle"]["lines"], bundle.matches('\n').count());
    }
}

#[test]
fn offsets_cut_the_bundle_into_its_sections() {
    let repo = Repo::new(NOTES);
    let (_, value) = manifest(&repo, "provider=codex");
    let bundle = cantus(&repo, &["render", "-q", "-f", "provider=codex"]).exits(0).stdout;
    let section = |id: &str| {
        let sections = value["sections"].as_array().expect("sections");
        let row = sections.iter().find(|row| row["id"] == id).expect("the section");
        let number = |key: &str| usize::try_from(row[key].as_u64().expect("a number")).expect("a small one");
        bundle[number("offset")..][..number("length")].to_owned()
    };
    assert_eq!(section("proj.core.rules"), "### Rules (rules)\n\nBe brief.\nBe kind.\n\n");
    assert!(section("pkg.provider.codex").starts_with("#### Codex"), "{}", section("pkg.provider.codex"));
}

#[test]
fn root_renders_share_a_digest_and_helpers_have_another() {
    let repo = Repo::new(NOTES);
    let digest = |facts: &str| manifest(&repo, facts).1["bundle"]["common_digest"].clone();
    let native = digest("provider=native");
    for provider in ["claude", "codex", "grok", "muse", "agy", "qwen", "opencode"] {
        assert_eq!(digest(&format!("provider={provider}")), native, "{provider}");
    }
    assert_ne!(digest("actor=native_helper"), native);
}

#[test]
fn sources_carry_the_digest_of_their_bytes() {
    let repo = Repo::new(NOTES);
    let (_, value) = manifest(&repo, "provider=native");
    let rows = value["sections"].as_array().expect("sections").iter();
    let sources: Vec<_> = rows.flat_map(|row| row["sources"].as_array().expect("sources")).collect();
    assert!(sources.iter().all(|source| source["sha256"].as_str().is_some_and(|digest| digest.len() == 64)));
    assert!(sources.iter().any(|source| source["path"] == "memory/release.md"));
}

#[test]
fn verdicts_have_their_exit_codes() {
    let repo = Repo::new(NOTES);
    let (text, _) = manifest(&repo, "provider=native");
    let refused = judge(&repo, &text.replace("\"schema_version\": 2", "\"schema_version\": 3")).exits(1);
    assert_eq!(refused.stderr, "-: unsupported instruction manifest schema_version 3\n");
    let refused = judge(&repo, &text.replace("\"attempt\": 1", "\"attempt\": -1")).exits(1);
    assert!(refused.stderr.contains("invalid value: integer `-1`, expected u64"), "{}", refused.stderr);
    assert!(judge(&repo, "not JSON").exits(2).stderr.contains("`-` is not JSON"));
    assert!(cantus(&repo, &["manifest", "none.json"]).exits(2).stderr.contains("cannot read `none.json`"));
}

#[test]
fn a_manifest_of_version_1_stays_one() {
    let repo = Repo::new(NOTES);
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/manifest/base.json");
    let text = std::fs::read_to_string(base).expect("the vector");
    let text = text.replace("\"schema_version\": 2", "\"schema_version\": 1");
    let output = judge(&repo, &text).exits(0).stdout;
    assert!(output.contains("\"schema_version\": 1"), "{output}");
}
