//! What users of other tools ran into, as far as `check` and `list --providers` answer it; each with its row.

use cantus_testkit::Repo;
use serde_json::Value;

use crate::lints::{check_note, findings};
use crate::program::{NOTES, cantus, projected, replace};

/// What `list --providers --json` says of one agent.
#[track_caller]
fn reader(repo: &Repo, name: &str) -> Value {
    let output = cantus(repo, &["list", "--providers", "--json"]).exits(0);
    let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let providers = answer["providers"].as_array().expect("providers");
    providers.iter().find(|provider| provider["name"] == name).expect("a known agent").clone()
}

fn files(reader: &Value) -> Vec<&str> {
    reader["files"].as_array().expect("files").iter().filter_map(|file| file["path"].as_str()).collect()
}

fn only(files: &str) -> Repo {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", &format!("[projection]\nfiles = [{files}]\n"));
    cantus(&repo, &["project"]).exits(0);
    repo
}

#[test]
fn a1_claude_reads_agents_md_where_there_is_no_claude_md_and_the_condition_is_told() {
    let repo = only("\"AGENTS.md\"");
    let claude = reader(&repo, "claude");
    assert_eq!(files(&claude), ["AGENTS.md"]);
    assert!(claude["remark"].as_str().is_some_and(|remark| remark.contains("2.1.277")));
    assert_eq!(findings(&repo, 0), ["reader.condition note AGENTS.md"]);
}

#[test]
fn a2_a_setting_that_reads_both_files_is_told() {
    let repo = projected();
    repo.write(".claude/settings.json", "{ \"memory\": \"claude-md-and-agents-md\" }\n");
    assert_eq!(findings(&repo, 0), ["reader.twice note .claude/settings.json"]);
}

#[test]
fn a4_a_starved_agent_is_named() {
    let repo = only("\"docs/rules.md\"");
    let found = findings(&repo, 0);
    assert_eq!(found, ["reader.none warning -"; 7]);
    assert_eq!(reader(&repo, "claude")["reached"], false);
}

#[test]
fn a5_a_claude_md_above_the_clone_is_told() {
    let repo = only("\"AGENTS.md\"");
    let inner = repo.path().join("inner");
    std::fs::create_dir_all(inner.join("memory")).unwrap();
    std::fs::write(inner.join("memory/a.md"), "---\ntype: core\n---\nText.\n").unwrap();
    repo.write("CLAUDE.md", "Other rules.\n");
    repo.write("inner/cantus.toml", "[projection]\nfiles = [\"AGENTS.md\"]\n");
    cantus(&repo, &["project", "--root", "inner"]).exits(0);
    let output = cantus(&repo, &["check", "--root", "inner"]).exits(0);
    assert!(
        output.stdout.contains("warning: Claude Code reads a `CLAUDE.md` one folder above the root instead"),
        "{}",
        output.stdout
    );
    assert!(!output.stdout.contains(&repo.path().display().to_string()), "{}", output.stdout);
}

#[test]
fn a6_grok_pays_for_both_copies_and_check_knows() {
    let repo = projected();
    let output = cantus(&repo, &["check"]).exits(0);
    assert!(output.stdout.contains("Grok Build reads both `AGENTS.md` and `CLAUDE.md`"), "{}", output.stdout);
    let one = only("\"AGENTS.md\"");
    assert_eq!(files(&reader(&one, "grok")), ["AGENTS.md"]);
}

#[test]
fn a8_an_agent_that_reads_another_name_is_not_reached() {
    let repo = projected();
    assert_eq!(reader(&repo, "gemini")["reached"], false);
    assert_eq!(reader(&only("\"AGENTS.md\", \"GEMINI.md\""), "gemini")["reached"], true);
}

#[test]
fn a11_a_submodule_stands_for_itself_and_says_so() {
    let repo = projected();
    repo.commit_all("notes");
    let outer = Repo::new("");
    let source = repo.path().to_str().expect("UTF-8").to_owned();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &source, "sub"]);
    let output = cantus(&outer, &["check", "--root", "sub"]).exits(0);
    assert!(output.stdout.contains("[reader.submodule]"), "{}", output.stdout);
}

#[test]
fn a16_a_different_claude_md_that_nobody_may_read_is_named() {
    let repo = only("\"AGENTS.md\"");
    repo.write("CLAUDE.md", "Older rules.\n");
    assert_eq!(findings(&repo, 0), ["reader.shadowed warning CLAUDE.md"]);
    assert_eq!(files(&reader(&repo, "opencode")), ["AGENTS.md"]);
}

#[test]
fn a17_copilot_s_own_file_hides_ours() {
    let repo = projected();
    repo.write(".github/copilot-instructions.md", "Rules.\n");
    assert_eq!(findings(&repo, 0), ["reader.shadowed note .github/copilot-instructions.md"]);
    repo.write("cantus.toml", "providers = [\"copilot\"]\n");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), ["reader.shadowed warning .github/copilot-instructions.md"]);
}

#[test]
fn c1_c4_a_file_over_32_kib_fails() {
    let repo = Repo::new(NOTES);
    repo.write(
        "memory/long.md",
        &format!("---\ntype: core\n---\n{}", "A rule that matters.\n".repeat(2_000)),
    );
    cantus(&repo, &["project"]).exits(0);
    assert!(findings(&repo, 1).iter().any(|finding| finding.starts_with("budget.over error AGENTS.md:")));
}

#[test]
fn c5_a_file_at_97_hundredths_warns_and_one_byte_too_many_fails() {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "providers = []\n");
    cantus(&repo, &["project"]).exits(0);
    let bytes = repo.read_bytes("AGENTS.md").len();
    let limited = |limit: usize| {
        repo.write("cantus.toml", &format!("providers = []\n[budget]\nfile_bytes = {limit}\n"));
    };
    limited(bytes * 100 / 97);
    assert_eq!(findings(&repo, 0), ["budget.near warning AGENTS.md"]);
    limited(bytes);
    assert_eq!(findings(&repo, 0), ["budget.near warning AGENTS.md"]);
    limited(bytes - 1);
    let found = findings(&repo, 1);
    assert!(found[0].starts_with("budget.over error AGENTS.md:"), "{found:?}");
    limited(bytes * 2);
    assert_eq!(findings(&repo, 0), [""; 0]);
}

#[test]
fn c7_c8_c9_a_rule_file_over_the_characters_that_its_agent_reads_is_found() {
    for (provider, file, status, expected) in [
        ("windsurf", ".windsurf/rules/all.md", 0, "budget.over warning .windsurf/rules/all.md:"),
        ("agy", ".agents/rules/all.md", 1, "budget.over error .agents/rules/all.md:"),
    ] {
        let repo = Repo::new(NOTES);
        repo.write(
            "cantus.toml",
            &format!("providers = [\"{provider}\"]\n[projection]\nfiles = [\"{file}\"]\n"),
        );
        repo.write(
            "memory/long.md",
            &format!("---\ntype: core\n---\n{}", "A rule that matters.\n".repeat(580)),
        );
        cantus(&repo, &["project"]).exits(0);
        let found = findings(&repo, status);
        assert!(matches!(found.as_slice(), [one] if one.starts_with(expected)), "{found:?}");
    }
}

#[test]
fn c10_an_undocumented_limit_is_marked_as_reported() {
    let repo = Repo::new(NOTES);
    repo.write("memory/long.md", &format!("---\ntype: core\n---\n{}", "A rule that matters.\n".repeat(500)));
    cantus(&repo, &["project"]).exits(0);
    let output = cantus(&repo, &["check"]).exits(0);
    assert!(output.stdout.contains("that Grok Build reads (reported: "), "{}", output.stdout);
}

#[test]
fn d1_p5_a_byte_order_mark_hides_no_front_matter() {
    check_note(b"\xef\xbb\xbf---\ntype: core\n---\nText.\n", 0, &["note.mark warning memory/a.md:1"]);
}

#[test]
fn d4_p6_bytes_that_are_no_text_are_never_in_sync() {
    let repo = projected();
    repo.write_bytes("memory/bad.md", b"---\ntype: core\n---\ncaf\xe9\n");
    let output = cantus(&repo, &["check"]).exits(2);
    assert!(
        output.stderr.contains("memory/bad.md:4:") && output.stderr.contains("byte 22"),
        "{}",
        output.stderr
    );
    assert_eq!(output.stderr.matches("error").count(), 1, "{}", output.stderr);
}

#[test]
fn d6_d8_p4_a_crlf_note_is_no_finding_and_mixed_ends_are() {
    check_note(b"---\r\ntype: core\r\n---\r\nText.\r\n", 0, &[]);
    check_note(b"---\ntype: core\n---\nText.\r\nMore.\n", 0, &["note.line_ends warning memory/a.md:4"]);
}

#[test]
fn e9_rules_beside_the_file_are_told() {
    let repo = projected();
    repo.write(".claude/rules/old.md", "Be brief.\n");
    assert_eq!(findings(&repo, 0), ["reader.beside note .claude/rules/*"]);
}

#[test]
fn f11_an_import_in_code_is_none() {
    check_note(b"---\ntype: core\n---\nText.\n\n```\n@AGENTS.md\n```\n\nAnd `@AGENTS.md`.\n", 0, &[]);
}

#[test]
fn h10_hidden_unicode_is_an_error_with_its_code_point() {
    for c in ['\u{202e}', '\u{200b}', '\u{e0041}', '\u{2066}', '\u{feff}', '\u{e000}'] {
        let repo = Repo::new("");
        repo.write("memory/a.md", &format!("---\ntype: core\ndescription: x\n---\nText {c}here.\n"));
        cantus(&repo, &["project"]).exits(0);
        let output = cantus(&repo, &["check"]).exits(1);
        let expected = format!("memory/a.md:5: error: U+{:04X}, ", u32::from(c));
        assert!(
            output.stdout.contains(&expected) && output.stdout.contains("in column 6"),
            "{}",
            output.stdout
        );
    }
}

#[test]
fn h10_a_strand_and_a_front_matter_hide_nothing_either() {
    let repo = Repo::new(
        "
        //- memory/w.md
        ---
        web: true
        ---
        # Words
        //- memory/w/a.md
        ---
        keyword: Term
        ---
        Text.
        ",
    );
    replace(&repo, "memory/w/a.md", "Term", "Te\u{200b}rm");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 1), ["note.hidden error memory/w/a.md:2"]);
}

#[test]
fn h8_i4_i5_imports_in_a_note_are_told() {
    for text in ["@~/a @~/b", "@./x.md", "@../x", "see @AGENTS.md"] {
        let note = format!("---\ntype: core\n---\n{text}\n");
        let times = text.matches('@').count();
        check_note(note.as_bytes(), 0, &vec!["note.import warning memory/a.md:4"; times]);
    }
}
