//! Manifests through the program: made by `render --json`, judged by `manifest`.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use cantus_testkit::{Output, Repo};
use serde_json::Value;

use crate::program::{CANTUS, NOTES, cantus};

/// Runs `manifest -` with `text` on standard input.
#[track_caller]
fn judge(repo: &Repo, text: impl AsRef<[u8]>) -> Output {
    let mut command = repo.command(CANTUS);
    command.args(["manifest", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(text.as_ref()).expect("the program reads");
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
fn every_render_fits_the_committed_schema() {
    let schema = serde_json::from_str(include_str!("../../projections/manifest.schema.json")).expect("JSON");
    let schema = jsonschema::draft202012::new(&schema).expect("a schema");
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "[[repositories]]\nname = \"one\"\ndescription = \"D.\"\n");
    repo.add("//- user/memory/rules.md\n---\ntype: core\n---\n# Mine\n\nShadowed.\n");
    let providers = ["native", "claude", "codex", "grok", "muse", "agy", "qwen", "opencode", "other"];
    for facts in ["actor=sase_root", "actor=native_helper", "mode=interactive", "mode=export"] {
        for provider in providers {
            let facts = format!("{facts},provider={provider},purpose=conflict_repair");
            for home in [&["--no-home"][..], &["--home", "user"]] {
                let args = [&["render", "-jq", "-f", &facts], home].concat();
                let value = serde_json::from_str(&cantus(&repo, &args).exits(0).stdout).expect("JSON");
                let faults: Vec<_> = schema.iter_errors(&value).map(|fault| fault.to_string()).collect();
                assert_eq!(faults, [] as [&str; 0], "{facts} {home:?}");
            }
        }
    }
    let value: Value = serde_json::from_str(BASE).expect("JSON");
    assert!(schema.is_valid(&value) && !schema.is_valid(&value["delivery"]));
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
    let refused = judge(&repo, text.replace("\"schema_version\": 2", "\"schema_version\": 3")).exits(1);
    assert_eq!(refused.stderr, "-: unsupported instruction manifest schema_version 3\n");
    let refused = judge(&repo, text.replace("\"attempt\": 1", "\"attempt\": -1")).exits(1);
    assert!(refused.stderr.contains("invalid value: integer `-1`, expected u64"), "{}", refused.stderr);
}

/// A manifest that is written with `old` replaced is no answer but a failure that says so.
#[track_caller]
fn check_unreadable(text: impl AsRef<[u8]>, said: &str) {
    let repo = Repo::without_git("");
    let output = judge(&repo, text).exits(2);
    assert_eq!(output.stdout, "");
    assert_eq!(output.stderr.lines().next(), Some(format!("error: {said}").as_str()));
}

const BASE: &str = include_str!("../vectors/manifest/base.json");

/// The base with one value in another's place.
#[track_caller]
fn base_with(old: &str, new: &str) -> String {
    assert_eq!(BASE.matches(old).count(), 1, "{old}");
    BASE.replace(old, new)
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let repo = Repo::without_git("//- folder/a.json\n{}\n");
    let said = |file: &str| cantus(&repo, &["manifest", file]).exits(2).stderr;
    assert_eq!(said("none.json"), "error: cannot read `none.json`: there is no such file\n");
    assert_eq!(said("folder"), "error: cannot read `folder`: a folder is not a regular file\n");
    repo.write("empty.json", "");
    let expected = "error: cannot read `empty.json` as JSON: EOF while parsing a value at line 1 column 0\n";
    assert_eq!(said("empty.json"), expected);
}

#[test]
fn texts_that_are_no_json_are_refused() {
    check_unreadable("", "cannot read `-` as JSON: EOF while parsing a value at line 1 column 0");
    check_unreadable("not JSON", "cannot read `-` as JSON: expected ident at line 1 column 2");
    check_unreadable("{} {}", "cannot read `-` as JSON: trailing characters at line 1 column 4");
    for literal in ["NaN", "Infinity", "-Infinity"] {
        let text = base_with("\"render_ms\": 1.5", &format!("\"render_ms\": {literal}"));
        let output = judge(&Repo::without_git(""), text).exits(2);
        assert!(output.stderr.starts_with("error: cannot read `-` as JSON: "), "{}", output.stderr);
    }
}

#[test]
fn a_byte_order_mark_is_named() {
    check_unreadable(format!("\u{feff}{BASE}"), "`-` starts with a byte order mark, which JSON has not");
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let bytes = [&b"{\n \"caf\xe9\": 1}"[..], BASE.as_bytes()].concat();
    check_unreadable(bytes, "`-` is not UTF-8: byte 7 starts no character");
    let utf_16: Vec<u8> = BASE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    check_unreadable([&b"\xff\xfe"[..], &utf_16].concat(), "`-` is not UTF-8: byte 0 starts no character");
}

#[test]
fn what_no_manifest_needs_is_refused_without_a_crash() {
    for depth in [200, 100_000] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        check_unreadable(nested, "cannot read `-` as JSON: recursion limit exceeded at line 1 column 128");
    }
    let text = base_with("\"render_ms\": 1.5", "\"render_ms\": 1e400");
    check_unreadable(text, "cannot read `-` as JSON: number out of range at line 136 column 20");
}

#[test]
fn more_than_64_mebibytes_are_refused() {
    let repo = Repo::without_git("");
    let said = "error: cannot read `-`: more than 67108864 bytes, which no manifest has\n";
    assert_eq!(judge(&repo, vec![b' '; (64 << 20) + 1]).exits(2).stderr, said);
    let file = std::fs::File::create(repo.path().join("large.json")).expect("a file");
    file.set_len((64 << 20) + 1).expect("a sparse file");
    let said = cantus(&repo, &["manifest", "large.json"]).exits(2).stderr;
    assert_eq!(said, "error: cannot read `large.json`: 67108865 bytes are more than the 67108864 allowed\n");
}

#[test]
fn numbers_beyond_their_type_are_refused() {
    let repo = Repo::without_git("");
    let said = |number: &str| judge(&repo, base_with("\"lines\": 14", &format!("\"lines\": {number}")));
    said("18446744073709551615").exits(0);
    for number in ["18446744073709551616", "1e3", "-1", "1.0"] {
        let stderr = said(number).exits(1).stderr;
        let shape =
            "-: invalid instruction manifest: manifest is not a valid InstructionManifestWire: invalid ";
        assert!(stderr.starts_with(shape) && stderr.contains("expected u64"), "{number}: {stderr}");
    }
    let version = base_with("\"version\": 1,", "\"version\": 4294967296,");
    assert!(judge(&repo, version).exits(1).stderr.contains("integer `4294967296`, expected u32"));
}

#[test]
fn whole_milliseconds_of_any_size_become_floats_and_stay_as_they_are() {
    let repo = Repo::without_git("");
    let long = format!("1{}", "0".repeat(30));
    for (given, expected) in
        [("7", "7.0"), ("18446744073709551615", "1.8446744073709552e+19"), (&long, "1e+30")]
    {
        let text = base_with("\"render_ms\": 1.5", &format!("\"render_ms\": {given}"));
        let output = judge(&repo, text).exits(0).stdout;
        assert!(output.contains(&format!("\"render_ms\": {expected},\n")), "{given}: {output}");
        assert_eq!(judge(&repo, &output).exits(0).stdout, output);
    }
}

#[test]
fn of_equal_keys_the_last_one_counts() {
    let repo = Repo::without_git("");
    let text = base_with("\"lines\": 14", "\"lines\": \"none\", \"lines\": 15");
    assert!(judge(&repo, text).exits(0).stdout.contains("\"lines\": 15,\n"));
}

#[test]
fn a_render_says_when_it_was_made_in_utc() {
    let repo = Repo::new(NOTES);
    let (_, value) = manifest(&repo, "provider=native");
    let at = value["delivery"]["rendered_at"].as_str().expect("a time");
    let shape: String = at.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00Z");
    assert_ne!(at, "1970-01-01T00:00:00Z");
}

#[test]
fn two_renders_differ_in_nothing_but_time_and_cache() {
    let repo = Repo::new(NOTES);
    let masked = || {
        let mut value = manifest(&repo, "provider=claude").1;
        value["delivery"]["rendered_at"] = "T".into();
        value["delivery"]["render_ms"] = 0.into();
        value["delivery"]["cache"] = "C".into();
        value
    };
    assert_eq!(masked(), masked());
}

/// A render as a manifest, with this time in the environment.
#[track_caller]
fn dated(repo: &Repo, epoch: &str) -> Output {
    let mut command = repo.command(CANTUS);
    command.args(["render", "-jq"]).env("SOURCE_DATE_EPOCH", epoch).env("TZ", "Asia/Kolkata");
    let output = command.output().expect("the program runs");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[test]
fn a_time_that_is_given_makes_a_manifest_reproducible() {
    let repo = Repo::new(NOTES);
    let first = dated(&repo, "1796025600").exits(0).stdout;
    assert!(first.contains("\"rendered_at\": \"2026-11-30T08:00:00Z\""), "{first}");
    assert!(first.contains("\"render_ms\": 0.0,"), "{first}");
    assert_eq!(dated(&repo, "1796025600").exits(0).stdout, first);
    dated(&repo, "").exits(0);
    let refused = dated(&repo, "yesterday").exits(2);
    assert_eq!(refused.stdout, "");
    let said = "error: `SOURCE_DATE_EPOCH` is `yesterday`: expected seconds since 1970";
    assert!(refused.stderr.starts_with(said), "{}", refused.stderr);
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
