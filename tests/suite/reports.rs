//! What users of other tools ran into, as far as `check` and `list --providers` answer it; each with its row.

use std::path::PathBuf;

use cantus_testkit::Repo;
use serde_json::Value;

use crate::lints::{check_note, findings};
use crate::program::{CANTUS, NOTES, cantus, git_in, projected, replace, run, targets, with_cantus};

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
    assert_eq!(findings(&repo, 0), [] as [&str; 0], "nobody here said that they use Grok");
    let shown = cantus(&repo, &["list", "--providers"]).exits(0).stdout;
    let grok = shown.split("\n  grok").nth(1).expect("Grok").lines().take(3).collect::<String>();
    assert!(grok.contains("the same text twice"), "{shown}");
    repo.write("cantus.toml", "providers = [\"grok\"]\n");
    cantus(&repo, &["project"]).exits(0);
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
        output.stdout.contains("memory/bad.md:4:") && output.stdout.contains("byte 22"),
        "{}",
        output.stdout
    );
    assert_eq!(output.stdout.matches("error:").count(), 1, "{}", output.stdout);
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

#[test]
fn a3_claude_pays_for_one_of_the_two_copies() {
    assert_eq!(files(&reader(&projected(), "claude")), ["CLAUDE.md"]);
}

#[test]
fn a7_i1_i2_i4_i6_no_copy_is_a_stub_that_imports_another_file() {
    let repo = projected();
    assert_eq!(repo.read("CLAUDE.md"), repo.read("AGENTS.md"));
    assert!(!repo.read("CLAUDE.md").contains('@'), "{}", repo.read("CLAUDE.md"));
}

#[test]
fn a18_e4_no_file_at_the_root_is_read_as_a_note() {
    let repo = projected();
    let before = targets(&repo);
    repo.write("GEMINI.md", "---\ntype: core\n---\nBe loud.\n");
    repo.write("docs/AGENTS.md", "---\ntype: core\n---\nBe loud.\n");
    for _ in 0..3 {
        cantus(&repo, &["project", "--force"]).exits(0);
        assert_eq!(targets(&repo), before);
    }
    assert!(!cantus(&repo, &["list"]).exits(0).stdout.contains("GEMINI"));
}

/// A clone whose submodule `sub` is a project, and a work tree of that submodule.
fn work_tree_of_a_submodule() -> (Repo, PathBuf) {
    let repo = projected();
    repo.commit_all("notes");
    let outer = Repo::new("");
    let source = repo.path().to_str().expect("UTF-8");
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "sub"]);
    let tree = outer.home().join("tree");
    outer.git(&["-C", "sub", "worktree", "add", "--quiet", "-b", "side", tree.to_str().expect("UTF-8")]);
    (outer, tree)
}

#[test]
fn b3_b5_b7_a_work_tree_of_a_submodule_is_judged_where_it_lies() {
    let (outer, tree) = work_tree_of_a_submodule();
    let ours = |args: &[&str]| run(&outer, &tree, &with_cantus(), CANTUS, args);
    ours(&["check"]).exits(0);
    ours(&["check", "--staged"]).exits(0);
    ours(&["hook", "install"]).exits(0);
    let note = tree.join("memory/rules.md");
    let text = std::fs::read_to_string(&note).expect("a note");
    std::fs::write(&note, text.replace("Be kind.", "Be nice.")).expect("a note");
    let commit = || {
        git_in(&outer, &tree, &["add", "--all"]).exits(0);
        let name = ["-c", "user.name=A", "-c", "user.email=a@b.c"];
        git_in(&outer, &tree, &[&name[..], &["commit", "--quiet", "-m", "more"]].concat())
    };
    let stopped = commit().exits(1);
    assert!(format!("{}{}", stopped.stdout, stopped.stderr).contains("[drift.stale]"), "{stopped:#?}");
    ours(&["project"]).exits(0);
    commit().exits(0);
    // Nothing is written where git keeps the submodule, and its other tree is as it was.
    assert!(!outer.exists(".git/modules/sub/AGENTS.md") && !outer.exists(".git/modules/sub/memory"));
    assert_eq!(outer.git(&["-C", "sub", "status", "--porcelain"]), "");
}

#[test]
fn b6_a_new_work_tree_holds_the_files() {
    let repo = projected();
    repo.commit_all("notes");
    let tree = repo.home().join("tree");
    repo.git(&["worktree", "add", "--quiet", tree.to_str().expect("UTF-8")]);
    assert_eq!(std::fs::read(tree.join("AGENTS.md")).expect("a file"), repo.read_bytes("AGENTS.md"));
    run(&repo, &tree, &with_cantus(), CANTUS, &["check"]).exits(0);
}

#[test]
fn c11_globs_in_front_matter_are_never_unfolded() {
    let repo = projected();
    let globs = "{a,b}".repeat(200);
    for file in [".cursor/rules/r.mdc", ".claude/rules/r.md"] {
        let rule = format!("---\npaths: \"{globs}/*\"\nglobs: \"{globs}/*\"\n---\nNever guess.\n");
        repo.write(file, &rule);
        cantus(&repo, &["import", file]).exits(0);
        cantus(&repo, &["list", "--providers"]).exits(0);
    }
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
}

/// Sources of every kind that a project can have.
const EVERY_SOURCE: &str = "
    //- cantus.toml
    name = \"acme\"
    package = \"house\"
    //- house/package.toml
    name = \"house\"
    version = \"1\"
    //- house/contract.md
    # House

    Keep it tidy.
    //- memory/a.md
    ---
    type: core
    ---
    # A

    Text.
    //- memory/b.md
    ---
    type: reference
    description: How.
    ---
    # B
    //- memory/w.md
    ---
    web: true
    description: Words.
    ---
    # Words

    <!-- cantus:strands -->
    <!-- /cantus:strands -->
    //- memory/w/term.md
    ---
    keyword: Term
    ---
    A term.
    ";

/// Asserts that a project whose sources were all changed alike gives the files of the unchanged one.
#[track_caller]
fn check_alike(change: impl Fn(&[u8]) -> Vec<u8>) {
    let plain = Repo::new(EVERY_SOURCE);
    let other = Repo::new(EVERY_SOURCE);
    for file in other.files() {
        other.write_bytes(&file, &change(&other.read_bytes(&file)));
    }
    for repo in [&plain, &other] {
        cantus(repo, &["project"]).exits(0);
        cantus(repo, &["check"]).exits(0);
    }
    assert_eq!(targets(&other), targets(&plain));
    let [listed, expected] = [&other, &plain].map(|repo| cantus(repo, &["list"]).exits(0).stdout);
    assert_eq!(listed, expected);
    let [read, expected] =
        [&other, &plain].map(|repo| cantus(repo, &["read", "a", "b", "w"]).exits(0).stdout);
    assert_eq!(read, expected);
}

#[test]
fn d2_d3_a_byte_order_mark_in_any_source_is_dropped_and_none_is_written() {
    check_alike(|bytes| [b"\xef\xbb\xbf", bytes].concat());
    let repo = Repo::new(EVERY_SOURCE);
    cantus(&repo, &["project"]).exits(0);
    assert!(!targets(&repo).concat().windows(3).any(|bytes| bytes == b"\xef\xbb\xbf"));
}

#[test]
fn d11_every_source_may_have_crlf() {
    check_alike(|bytes| String::from_utf8_lossy(bytes).replace('\n', "\r\n").into_bytes());
}

#[test]
fn d12_what_editing_tools_do_to_line_ends_is_borne() {
    // Line ends written twice, and mixed ones.
    let twice = b"---\r\r\ntype: core\r\r\n---\r\r\n# A\r\r\n\r\r\nOne.\r\r\n".as_slice();
    let mixed = b"---\r\ntype: core\n---\r\n# A\n\r\nOne.\r\n".as_slice();
    let plain = b"---\ntype: core\n---\n# A\n\nOne.\n".as_slice();
    let given = [twice, mixed, plain].map(|note| {
        let repo = Repo::new("");
        repo.write_bytes("memory/a.md", note);
        cantus(&repo, &["project"]).exits(0);
        cantus(&repo, &["check"]).exits(0);
        repo.read("AGENTS.md")
    });
    assert!(given[2].ends_with("\n### A (a)\n\nOne.\n"), "{}", given[2]);
    assert_eq!(given[0], given[2]);
    assert_eq!(given[1], given[2]);
    // A hard break that lost its blanks is drift of the note, and told with the line.
    let repo = Repo::new("");
    repo.write("memory/a.md", "---\ntype: core\n---\n# A\n\nOne  \ntwo.\n");
    cantus(&repo, &["project"]).exits(0);
    repo.write("memory/a.md", "---\ntype: core\n---\n# A\n\nOne\ntwo.\n");
    cantus(&repo, &["project", "--check"]).exits(1);
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn f5_a_note_that_was_never_projected_is_drift() {
    let repo = projected();
    repo.commit_all("all");
    repo.write("memory/new.md", "---\ntype: core\n---\n# New\n\nMore.\n");
    assert_eq!(
        findings(&repo, 1),
        [
            "drift.stale error AGENTS.md",
            "drift.stale error CLAUDE.md",
            "drift.stale error projections/lock.toml"
        ]
    );
}

#[test]
fn f9_nothing_is_wrong_with_a_folder_of_no_notes() {
    let repo = Repo::new("");
    std::fs::create_dir_all(repo.path().join("memory")).expect("a folder");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), [""; 0]);
    cantus(&repo, &["stats"]).exits(0);
}

#[test]
fn f12_copies_must_be_equal_and_files_of_their_own() {
    let repo = projected();
    replace(&repo, "CLAUDE.md", "Be kind.", "Be cruel.");
    assert!(findings(&repo, 1).contains(&"parity.copy error CLAUDE.md".to_owned()));
    // One file with two names is equal, and what is written later is two files.
    let repo = projected();
    repo.remove("CLAUDE.md");
    std::fs::hard_link(repo.path().join("AGENTS.md"), repo.path().join("CLAUDE.md")).expect("a link");
    assert_eq!(findings(&repo, 0), [""; 0]);
    replace(&repo, "memory/rules.md", "Be kind.", "Be nice.");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), [""; 0]);
    let copy = repo.read("CLAUDE.md");
    repo.write("AGENTS.md", "x\n");
    assert_eq!(repo.read("CLAUDE.md"), copy);
}

#[test]
fn g2_g4_each_file_says_where_it_comes_from_in_the_same_words() {
    let repo = projected();
    for file in ["AGENTS.md", "CLAUDE.md"] {
        let text = repo.read(file);
        let first = text.lines().next().unwrap_or_default();
        for part in ["cantus project", "memory/", "AGENTS.md"] {
            assert!(first.contains(part), "{first}");
        }
        assert_eq!(text.matches("Generated by").count(), 1);
    }
}

#[test]
fn g7_g8_g9_what_git_ignores_is_never_changed() {
    let repo = Repo::new(NOTES);
    repo.write(".gitignore", "/target\n");
    repo.write(".git/info/exclude", "# mine\n");
    for args in [
        &["init", "--yes"][..],
        &["project"],
        &["hook", "install"],
        &["merge-driver", "install"],
        &["check"],
        &["hook", "uninstall"],
        &["merge-driver", "uninstall"],
    ] {
        cantus(&repo, args).exits(0);
        assert_eq!(repo.read(".gitignore"), "/target\n", "{args:?}");
        assert_eq!(repo.read(".git/info/exclude"), "# mine\n", "{args:?}");
    }
}

#[test]
fn g11_nothing_is_made_for_an_agent_that_nobody_named() {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "providers = [\"codex\"]\n[projection]\nfiles = [\"AGENTS.md\"]\n");
    let before = repo.files();
    cantus(&repo, &["project"]).exits(0);
    let made: Vec<_> = repo.files().into_iter().filter(|file| !before.contains(file)).collect();
    assert_eq!(made, ["AGENTS.md", "projections/lock.toml"]);
}

#[test]
fn g12_one_block_of_front_matter_is_taken_off_and_no_second() {
    let block = "---\nalwaysApply: true\n---\n";
    let repo = Repo::new("");
    repo.write("memory/a.md", &format!("---\ntype: core\n---\n{block}# A\n"));
    cantus(&repo, &["project"]).exits(0);
    let text = repo.read("AGENTS.md");
    assert!(text.contains("alwaysApply: true") && !text.contains("type: core"), "{text}");
    let repo = Repo::new("");
    repo.write(".cursor/rules/a.mdc", &format!("{block}Be brief.\n"));
    cantus(&repo, &["init", "--yes"]).exits(0);
    let text = repo.read("AGENTS.md");
    assert!(text.contains("Be brief.") && !text.contains("alwaysApply"), "{text}");
}

#[test]
fn h4_h5_a_link_that_became_a_text_is_no_note_and_gives_way_to_a_copy() {
    let repo = Repo::new("");
    repo.write("AGENTS.md", "# Acme\n\n## Build\n\nRun make.\n");
    repo.write("CLAUDE.md", "AGENTS.md");
    cantus(&repo, &["init", "--yes"]).exits(0);
    let notes: Vec<_> = repo.files().into_iter().filter(|file| file.starts_with("memory/")).collect();
    assert_eq!(notes, ["memory/build.md"]);
    assert_eq!(repo.read("CLAUDE.md"), repo.read("AGENTS.md"));
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn j4_j5_j6_the_hooks_for_pre_commit_run_always_and_compile_nothing() {
    let hooks = include_str!("../../.pre-commit-hooks.yaml");
    let all: Vec<&str> = hooks.split("- id: ").skip(1).collect();
    assert!(!all.is_empty());
    for hook in all {
        for line in ["language: system", "always_run: true", "pass_filenames: false"] {
            assert!(hook.contains(line), "{line} in {hook}");
        }
        assert!(!hook.contains(" files:") && !hook.contains(" types:"), "{hook}");
    }
    // With nothing staged the commit that is there is judged.
    let repo = Repo::new(NOTES);
    repo.commit_all("notes alone");
    cantus(&repo, &["check", "--staged"]).exits(1);
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("all");
    cantus(&repo, &["check", "--staged"]).exits(0);
}

#[test]
fn j7_the_usual_fixers_leave_the_files_alone() {
    let repo = Repo::new(EVERY_SOURCE);
    repo.write("memory/c.md", "---\ntype: core\n---\n\n\n# C\n\nNo line end");
    repo.write("memory/d.md", "---\ntype: core\n---\n# D\n\nMany line ends\n\n\n\n");
    for config in ["name = \"acme\"\n", "name = \"acme\"\n[projection]\nnotice = false\n"] {
        repo.write("cantus.toml", config);
        cantus(&repo, &["project", "--force"]).exits(0);
        for bytes in targets(&repo) {
            let text = String::from_utf8(bytes).expect("UTF-8");
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{text:?}");
            assert!(!text.starts_with('\n') && !text.contains('\t'), "{text:?}");
            assert!(text.lines().all(|line| line == line.trim_end()), "{text:?}");
        }
    }
}

#[test]
fn p14_a_version_is_the_program_s_own_in_any_project() {
    let repo = Repo::new(
        "//- package.json\n{ \"version\": \"9.9.9\" }\n//- Cargo.toml\n[package]\nname = \"x\"\nversion = \"8.8.8\"\n",
    );
    let output = cantus(&repo, &["--version"]).exits(0);
    assert!(output.stdout.contains(env!("CARGO_PKG_VERSION")), "{}", output.stdout);
    assert!(!output.stdout.contains("9.9.9") && !output.stdout.contains("8.8.8"), "{}", output.stdout);
}

#[test]
fn p17_files_that_git_does_not_know_yet_are_no_finding() {
    let repo = projected();
    for file in 0..50 {
        repo.write(&format!("src/{file}.txt"), "x\n");
    }
    let untracked = cantus(&repo, &["check"]).exits(0);
    repo.commit_all("all");
    assert_eq!(cantus(&repo, &["check"]).exits(0).stdout, untracked.stdout);
}

#[test]
fn d3_a_byte_order_mark_before_what_is_no_note_is_dropped() {
    let repo = Repo::new(NOTES);
    let launch = r#"{"version": 1, "sections": [{"id": "clock", "text": "It is noon."}]}"#;
    repo.write("launch.json", &format!("\u{feff}{launch}"));
    repo.write("home/memory/mine.md", "\u{feff}---\ntype: core\n---\n# Mine\n\nMy own rule.\n");
    repo.write(
        "Cargo.toml",
        "\u{feff}[package]\nname = \"acme\"\n[workspace.metadata.cantus]\ntitle = \"Acme\"\n",
    );
    let bundle = cantus(&repo, &["render", "--home", "home", "--launch", "launch.json"]).exits(0).stdout;
    for part in ["It is noon.", "My own rule.", "# Acme"] {
        assert!(bundle.contains(part), "{part} in {bundle}");
    }
    assert!(!bundle.contains('\u{feff}'));
}

#[cfg(unix)]
#[test]
fn h1_a_link_at_the_name_of_a_copy_is_left_alone() {
    for there in [true, false] {
        let repo = Repo::new("//- AGENTS.md\n## A\n\nx\n");
        let outside = repo.home().join("outside");
        if there {
            std::fs::write(&outside, "mine\n").expect("a file");
        }
        std::os::unix::fs::symlink(&outside, repo.path().join("AGENTS.md.before-cantus")).expect("a link");
        cantus(&repo, &["init", "--yes"]).exits(0);
        assert_eq!(repo.read("AGENTS.md.before-cantus-2"), "## A\n\nx\n");
        assert_eq!(std::fs::read(&outside).ok(), there.then(|| b"mine\n".to_vec()));
        cantus(&repo, &["check"]).exits(0);
    }
}

#[cfg(unix)]
#[test]
fn h1_no_file_is_changed_through_a_link() {
    for link in
        ["AGENTS.md", "CLAUDE.md", "projections", "projections/lock.toml", ".gitattributes", "page.html"]
    {
        let repo = projected();
        let outside = repo.home().join("outside");
        std::fs::create_dir_all(&outside).expect("a folder");
        let target = if link == "projections" { outside.clone() } else { outside.join("x") };
        if repo.exists(link) {
            repo.remove(link);
        }
        std::os::unix::fs::symlink(target, repo.path().join(link)).expect("a link");
        for args in [
            &["project", "--force"][..],
            &["init", "--yes"],
            &["merge-driver", "install"],
            &["stats", "--html", "page.html", "--force"],
        ] {
            cantus(&repo, args);
            assert_eq!(std::fs::read_dir(&outside).expect("a folder").count(), 0, "{link}: {args:?}");
        }
    }
}

#[test]
fn a14_what_holds_for_all_stands_at_the_root() {
    let repo = Repo::new(NOTES);
    repo.write("part/memory/a.md", "---\ntype: core\n---\n# Part\n\nOf the part.\n");
    cantus(&repo, &["project"]).exits(0);
    let alone = repo.read("AGENTS.md");
    assert!(!repo.exists("part/AGENTS.md"), "nobody asked for a nested file");
    repo.write("cantus.toml", "members = [\"part\"]\n");
    cantus(&repo, &["project"]).exits(0);
    // An agent that skips the nested file lacks nothing of what the root's notes say.
    assert_eq!(repo.read("AGENTS.md"), alone);
    let nested = repo.read("part/AGENTS.md");
    assert!(nested.contains("Of the part.") && !nested.contains("Be kind."), "{nested}");
}

#[test]
fn f6_the_check_mends_nothing_and_no_generator_runs_before_it() {
    let repo = projected();
    replace(&repo, "CLAUDE.md", "Be kind.", "Be cruel.");
    let edited = repo.read("CLAUDE.md");
    cantus(&repo, &["check"]).exits(1);
    assert_eq!(repo.read("CLAUDE.md"), edited);
    let action = include_str!("../../action.yml");
    assert!(action.contains("cantus\" check --format github") && !action.contains("cantus\" project"));
    let hooks = include_str!("../../.pre-commit-hooks.yaml");
    assert!(hooks.contains("entry: cantus check --staged\n"));
}

#[test]
fn g3_visible_words_say_what_a_hidden_notice_says() {
    let repo = projected();
    for file in ["AGENTS.md", "CLAUDE.md"] {
        let text = repo.read(file);
        let (notice, visible) = text.split_once('\n').expect("a notice");
        assert!(notice.starts_with("<!-- Generated by ") && notice.ends_with(" -->"), "{notice}");
        assert!(!visible.contains("<!--"), "one comment alone");
        let words = visible.split_once("#### Generated Files\n").expect("a section").1;
        assert!(words.split("####").next().is_some_and(|words| words.contains("are generated")), "{words}");
    }
}

#[test]
fn g5_no_output_has_front_matter() {
    let repo = Repo::new(NOTES);
    repo.add("//- memory/w.md\n---\nweb: true\n---\n# W\n//- memory/w/s.md\n---\naliases: [x]\n---\nText.\n");
    let config = "[[output]]\nrender = \"helper\"\nfile = \"helper.md\"\n[[page]]\nweb = \"w\"\nfile = \"w-page.md\"\n";
    for notice in ["", "[projection]\nnotice = false\n"] {
        repo.write("cantus.toml", &format!("{config}{notice}"));
        cantus(&repo, &["project", "--force"]).exits(0);
        for file in ["AGENTS.md", "CLAUDE.md", "helper.md", "w-page.md"] {
            let text = repo.read(file);
            assert!(text.lines().all(|line| line != "---"), "{file}: {text}");
        }
    }
}

/// A file of this repository.
fn of_ours(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn j14_p1_what_is_released_for_linux_needs_no_library_of_the_system() {
    let workflow = std::fs::read_to_string(of_ours(".github/workflows/release.yml")).expect("a workflow");
    let targets: Vec<_> =
        workflow.lines().filter_map(|line| line.trim().strip_suffix(" }")?.split_once(" target: ")).collect();
    let linux: Vec<_> = targets.iter().filter(|(_, target)| target.contains("-linux-")).collect();
    assert_eq!((targets.len(), linux.len()), (5, 2), "{workflow}");
    assert!(linux.iter().all(|(_, target)| target.ends_with("-musl")), "{linux:?}");
    assert!(workflow.contains("run: .github/release.sh \"$TARGET\" dist\n"), "{workflow}");
}

/// Packs `program` for `target` in the folder of `repo`.
#[cfg(target_os = "linux")]
fn pack(repo: &Repo, target: &str, program: &str) -> cantus_testkit::Output {
    let script = of_ours(".github/release.sh");
    repo.run("sh", &[script.to_str().expect("UTF-8"), target, "dist", program])
}

#[cfg(target_os = "linux")]
#[test]
fn j14_p1_a_program_that_needs_one_is_not_packed() {
    let repo = Repo::without_git("");
    let refused = pack(&repo, "x86_64-unknown-linux-musl", "/bin/sh").exits(1);
    assert!(refused.stderr.contains("of the system; build for a target that ends in -musl"), "{refused:?}");
    pack(&repo, "x86_64-unknown-linux-musl", "./none").exits(1);
    repo.write("program", "#!/bin/sh\n");
    pack(&repo, "x86_64-unknown-linux-musl", "program").exits(1);
    assert_eq!(std::fs::read_dir(repo.path().join("dist")).expect("a folder").count(), 0);
    let packed = pack(&repo, "aarch64-apple-darwin", "program").exits(0);
    let name = format!("cantus-{}-aarch64-apple-darwin", env!("CARGO_PKG_VERSION"));
    assert!(packed.stdout.ends_with(&format!("  {name}.tar.gz\n")), "{packed:?}");
    repo.run("sh", &["-c", "cd dist && sha256sum --check *.sha256"]).exits(0);
    let files = repo.run("tar", &["-tzf", &format!("dist/{name}.tar.gz")]).exits(0).stdout;
    let mut files: Vec<_> = files.lines().filter_map(|file| file.strip_prefix(&format!("{name}/"))).collect();
    files.sort_unstable();
    assert_eq!(files, ["", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "cantus"]);
}

#[test]
fn every_test_that_the_cases_name_is_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = std::fs::read_to_string(root.join("tests/cases.md")).expect("the table");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| row ") && !line.starts_with("| --- "))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let mut ids: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rows.len(), "a row stands twice");
    for row in rows {
        let [id, kind, shown] = row.as_slice() else { panic!("{row:?}") };
        assert!(!kind.is_empty(), "{id}");
        if let Some(page) = shown.strip_prefix("docs/") {
            assert!(root.join("docs").join(page).is_file(), "{id}: {shown}");
            continue;
        }
        let is_open = ["later: ", "none: "].iter().any(|start| shown.starts_with(start));
        assert!(is_open || shown.starts_with('`'), "{id}: {shown}");
        for test in shown.split(", ").filter(|_| !is_open) {
            let name = test.trim_matches('`').split_once("::");
            let (module, name) = name.unwrap_or_else(|| panic!("{id}: {test}"));
            let text = std::fs::read_to_string(root.join(format!("tests/suite/{module}.rs")));
            let text = text.unwrap_or_else(|error| panic!("{id}: {test}: {error}"));
            let start = format!("fn {name}() {{");
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let at = lines.iter().position(|line| *line == start);
            let at = at.unwrap_or_else(|| panic!("{id}: there is no test `{test}`"));
            assert_eq!(lines[at - 1], "#[test]", "{id}: {test}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_to_a_generated_file_is_read_as_that_file() {
    use std::os::unix::fs::symlink;
    let repo = projected();
    std::fs::create_dir_all(repo.path().join(".github")).expect("a folder");
    symlink("AGENTS.md", repo.path().join(".cursorrules")).expect("a symlink");
    symlink("../AGENTS.md", repo.path().join(".github/copilot-instructions.md")).expect("a symlink");
    assert_eq!(findings(&repo, 0), [""; 0]);
    let copilot = reader(&repo, "copilot");
    assert_eq!(copilot["files"][0]["path"], ".github/copilot-instructions.md");
    assert_eq!(copilot["files"][0]["ours"], true);
    // One that leads elsewhere is what it was.
    repo.write("OTHER.md", "Rules.\n");
    repo.remove(".github/copilot-instructions.md");
    symlink("../OTHER.md", repo.path().join(".github/copilot-instructions.md")).expect("a symlink");
    assert_eq!(findings(&repo, 0), ["reader.shadowed note .github/copilot-instructions.md"]);
}
