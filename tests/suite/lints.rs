//! What `check` says of notes, sizes and readers.

use std::fs;

use cantus_testkit::Repo;

use crate::program::{NOTES, cantus, projected, replace};

/// Findings of `check` as `code severity path:line`.
#[track_caller]
pub(crate) fn findings(repo: &Repo, status: i32) -> Vec<String> {
    let output = cantus(repo, &["check", "--json"]).exits(status);
    let answer: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let findings = answer["findings"].as_array().expect("findings").iter();
    let text = |finding: &serde_json::Value| {
        let line = finding["line"].as_u64().map_or_else(String::new, |line| format!(":{line}"));
        let path = finding["path"].as_str().unwrap_or("-");
        let [code, severity] =
            ["code", "severity"].map(|key| finding[key].as_str().expect("a text").to_owned());
        format!("{code} {severity} {path}{line}")
    };
    findings.map(text).collect()
}

/// What `check` finds in a core note with this text, its files projected.
#[track_caller]
pub(crate) fn check_note(note: &[u8], status: i32, expected: &[&str]) {
    let repo = Repo::new("");
    repo.write_bytes("memory/a.md", note);
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, status), expected);
}

#[test]
fn lints_of_every_kind_have_the_note_s_line() {
    let core = |text: &str| format!("---\ntype: core\n---\n# A\n\n{text}\n");
    for (text, status, expected) in [
        ("<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other", 1, "note.conflict error memory/a.md:6"),
        ("x\ny\u{202e}z", 1, "note.hidden error memory/a.md:7"),
        ("x\u{1b}[31m", 1, "note.control error memory/a.md:6"),
        ("x\u{2028}y", 0, "note.line_break warning memory/a.md:6"),
        ("```\nx", 0, "note.unclosed warning memory/a.md:6"),
        ("<!-- x", 0, "note.unclosed warning memory/a.md:6"),
        ("See @docs/x.md.", 0, "note.import warning memory/a.md:6"),
        ("Ask @alice.", 0, "note.import note memory/a.md:6"),
        ("## Core Memory", 0, "note.heading warning memory/a.md:6"),
        ("x\n\n## Final Declaration", 0, "note.heading warning memory/a.md:8"),
        ("See [[nowhere]].", 1, "link.unresolved error memory/a.md:6"),
    ] {
        check_note(core(text).as_bytes(), status, &[expected]);
    }
}

#[test]
fn what_is_no_trouble() {
    let text = "---\r\ntype: core\r\n---\r\n# A\r\n\r\nMail a@b.c, `@x/y`, ❤\u{fe0f}.\r\n\r\n```\r\n@x/y\r\n## Core Memory\r\n```\r\n";
    check_note(text.as_bytes(), 0, &[]);
}

#[test]
fn strict_counts_warnings() {
    let repo = Repo::new("");
    repo.write("memory/a.md", "---\ntype: core\n---\nSee @docs/x.md.\n");
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    cantus(&repo, &["check", "--strict"]).exits(1);
}

#[test]
fn a_hidden_character_in_a_package_or_a_description_is_found() {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "[[repositories]]\nname = \"x\"\ndescription = \"a\u{200b}b\"\n");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 1), ["note.hidden error cantus.toml:3"]);
    repo.add(
        "
        //- house/package.toml
        name = \"house\"
        version = \"1\"
        //- house/contract.md
        # House

        a\u{200c}b
        {{ repository_entries }}
        ",
    );
    let text = repo.read("cantus.toml");
    repo.write("cantus.toml", &format!("package = \"house\"\n{text}"));
    cantus(&repo, &["project"]).exits(0);
    let both = ["note.hidden error cantus.toml:4", "note.hidden error house/contract.md:3"];
    assert_eq!(findings(&repo, 1), both);
    repo.write("cantus.toml", "title = \"a\u{200b}b\"\n");
    cantus(&repo, &["project"]).exits(0);
    // The frame, and the package's heading.
    assert_eq!(findings(&repo, 1), ["note.hidden error cantus.toml"; 2]);
}

#[test]
fn a_character_that_yaml_or_a_file_s_name_brings_in_is_found() {
    for (path, front, expected) in [
        (
            "memory/a.md",
            r#"type: reference
description: "a \u202e b""#,
            "note.hidden error memory/a.md:3",
        ),
        (
            "memory/a.md",
            r#"type: reference
description: "a \e[31m""#,
            "note.control error memory/a.md:3",
        ),
        ("memory/a\u{202e}.md", "type: core", "note.hidden error memory/a\u{202e}.md:4"),
    ] {
        let repo = Repo::new("");
        repo.write(path, &format!("---\n{front}\n---\nText.\n"));
        cantus(&repo, &["project"]).exits(0);
        assert_eq!(findings(&repo, 1), [expected]);
    }
}

#[test]
fn a_character_that_yaml_brings_into_a_roster_is_found() {
    let web = "//- one/memory/w.md\n---\nweb: true\n---\n# Web\n//- one/memory/w/s.md\n---\nkeyword: \"a \\u202e\"\n---\nText.\n";
    let repo = Repo::new(web);
    repo.write("cantus.toml", "members = [\"one\"]\n");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 1), ["note.hidden error one/memory/w/s.md:2"]);
}

/// A core note of about `bytes` bytes.
fn long_note(repo: &Repo, name: &str, bytes: usize) {
    let line = "Words that fill a line of a note without saying much about it.\n";
    repo.write(
        &format!("memory/{name}.md"),
        &format!("---\ntype: core\n---\n# {name}\n\n{}", line.repeat(bytes / line.len())),
    );
}

#[test]
fn a_file_over_the_limit_is_an_error_that_names_the_cut() {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "providers = [\"codex\"]\n");
    long_note(&repo, "zz", 40_000);
    cantus(&repo, &["project"]).exits(0);
    let output = cantus(&repo, &["check"]).exits(1);
    let committed = repo.read("AGENTS.md");
    let line = committed[..32_768].matches('\n').count() + 1;
    let text = committed.lines().nth(line - 1).expect("a line");
    assert!(text.starts_with("Words that fill"), "{text}");
    assert!(output.stdout.starts_with(&format!("AGENTS.md:{line}: error: ")), "{}", output.stdout);
    for part in ["more than the 32,768", "Codex", "[budget.over]", "`proj.core.zz`, memory/zz.md:", " (~"] {
        assert!(output.stdout.contains(part), "{part} in {}", output.stdout);
    }
    repo.write("cantus.toml", "providers = [\"codex\"]\n[budget]\nwarn_only = true\n");
    assert!(findings(&repo, 0).iter().any(|finding| finding.starts_with("budget.over warning AGENTS.md:")));
    repo.write("cantus.toml", "providers = [\"codex\"]\n[budget]\nfile_bytes = 60000\n");
    assert_eq!(findings(&repo, 0), [""; 0]);
    repo.write("cantus.toml", "providers = [\"codex\"]\n[budget]\nfile_bytes = 45000\n");
    assert_eq!(findings(&repo, 0), ["budget.near warning AGENTS.md"]);
}

#[test]
fn project_writes_over_budget() {
    let repo = Repo::new(NOTES);
    long_note(&repo, "zz", 40_000);
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["project", "--check"]).exits(0);
}

#[test]
fn a_chain_is_added_up_and_cut_at_its_end() {
    let repo = Repo::new(NOTES);
    repo.write(
        "cantus.toml",
        "providers = [\"codex\"]\n[projection]\nfiles = [\"AGENTS.md\", \"a/b/AGENTS.md\"]\n",
    );
    long_note(&repo, "zz", 20_000);
    cantus(&repo, &["project"]).exits(0);
    let found = findings(&repo, 1);
    assert!(
        matches!(found.as_slice(), [one] if one.starts_with("budget.over error a/b/AGENTS.md:")),
        "{found:?}"
    );
}

/// A project with a member `part`, each with a core note of this many bytes.
fn with_member(root: usize, member: usize) -> Repo {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "providers = [\"codex\"]\nmembers = [\"part\"]\n");
    long_note(&repo, "zz", root);
    let note = |text: &str| format!("---\ntype: core\n---\n# Part\n\n{text}");
    repo.write("part/memory/a.md", &note(&"Words of the part.\n".repeat(member / 19)));
    cantus(&repo, &["project"]).exits(0);
    repo
}

#[test]
fn a_member_s_file_is_read_on_top_of_the_root_s() {
    let found = findings(&with_member(20_000, 15_000), 1);
    assert!(
        matches!(found.as_slice(), [one] if one.starts_with("budget.over error part/AGENTS.md:")),
        "{found:?}"
    );
    assert_eq!(findings(&with_member(2_000, 15_000), 0), [""; 0]);
    let found = findings(&with_member(2_000, 40_000), 1);
    assert!(found.iter().all(|one| one.starts_with("budget.over error part/AGENTS.md:")), "{found:?}");
    assert_eq!(found.len(), 2, "by itself, and with the root's");
    // What the root's file alone fills is told of that.
    let found = findings(&with_member(40_000, 2_000), 1);
    assert!(
        matches!(found.as_slice(), [one] if one.starts_with("budget.over error AGENTS.md:")),
        "{found:?}"
    );
}

#[test]
fn what_stands_before_a_member_s_file_is_named() {
    let repo = with_member(100, 100);
    repo.write("part/AGENTS.override.md", "Mine.\n");
    repo.write("AGENTS.override.md", "Mine.\n");
    let mut found = findings(&repo, 0);
    found.retain(|finding| finding.starts_with("reader.shadowed"));
    assert_eq!(
        found,
        ["reader.shadowed warning AGENTS.override.md", "reader.shadowed warning part/AGENTS.override.md"]
    );
}

#[test]
fn a_limit_that_is_only_reported_warns_in_the_unit_of_its_reader() {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "providers = [\"claude\"]\n[budget]\nfile_bytes = 90000\n");
    repo.write("memory/zz.md", &format!("---\ntype: core\n---\n{}\n", "é ".repeat(18_000)));
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), [""; 0]);
    repo.write("memory/zz.md", &format!("---\ntype: core\n---\n{}\n", "é ".repeat(20_000)));
    cantus(&repo, &["project"]).exits(0);
    let found = findings(&repo, 0);
    assert!(
        matches!(found.as_slice(), [one] if one.starts_with("budget.over warning CLAUDE.md:")),
        "{found:?}"
    );
}

#[test]
fn files_beside_ours_are_named_with_their_readers() {
    for (file, expected) in [
        ("AGENTS.override.md", "reader.shadowed warning AGENTS.override.md"),
        (".cursorrules", "reader.shadowed note .cursorrules"),
        ("GEMINI.md", "reader.beside note GEMINI.md"),
        (".claude/rules/x.md", "reader.beside note .claude/rules/*"),
        ("agents.md", "reader.case warning agents.md"),
        ("Claude.md", "reader.case warning Claude.md"),
    ] {
        let repo = projected();
        // Where case doesn't count the name is that of the file itself.
        if file.to_ascii_uppercase() != file && repo.exists(file) {
            continue;
        }
        repo.write(file, "Something else.\n");
        assert_eq!(findings(&repo, 0), [expected]);
    }
}

#[test]
fn a_provider_that_nothing_reaches_is_named() {
    let repo = projected();
    repo.write("cantus.toml", "providers = [\"gemini\", \"aider\", \"acme\"]\n");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), ["reader.none warning -"]);
    repo.write(
        "cantus.toml",
        "providers = [\"gemini\"]\n[projection]\nfiles = [\"AGENTS.md\", \"GEMINI.md\"]\n",
    );
    cantus(&repo, &["project", "--force"]).exits(0);
    assert_eq!(findings(&repo, 0), [""; 0]);
}

#[test]
fn list_providers_says_who_reads_what() {
    let repo = projected();
    repo.write("cantus.toml", "providers = [\"claude\", \"acme\"]\n");
    repo.write(".cursorrules", "x\n");
    let output = cantus(&repo, &["list", "--providers"]).exits(0);
    for line in [
        "In `providers`, and reached (1)",
        "\n  claude     m  CLAUDE.md                               40,000 chars?\n",
        "\n  codex      s  AGENTS.md                               32,768 bytes in all\n",
        "\n  zed        s  [.cursorrules]\n                not CLAUDE.md: .cursorrules hides it\n",
        "\n  gemini     s  would read GEMINI.md\n",
        "Nothing is known of `acme`",
    ] {
        assert!(output.stdout.contains(line), "{line} in {}", output.stdout);
    }
    assert!(output.stdout.lines().all(|line| line.chars().count() <= 80), "{}", output.stdout);
    let output = cantus(&repo, &["list", "--providers", "--json"]).exits(0);
    let answer: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let of = |name: &str| {
        let providers = answer["providers"].as_array().expect("providers");
        providers.iter().find(|provider| provider["name"] == name).expect("known").clone()
    };
    assert_eq!(answer["version"], 1);
    assert_eq!(answer["unknown"], serde_json::json!(["acme"]));
    assert_eq!(of("grok")["files"].as_array().map(Vec::len), Some(2));
    assert_eq!(of("zed")["shadowed"][0]["by"], ".cursorrules");
    assert_eq!(of("gemini")["reached"], false);
    assert_eq!(of("codex")["limits"][0]["amount"], 32_768);
    let size = repo.read("AGENTS.md").len();
    assert_eq!(
        of("codex")["loads"],
        serde_json::json!([{
            "path": "AGENTS.md", "place": "root", "ours": true, "bytes": size,
            "limit": {
                "amount": 32_768, "used": size, "unit": "bytes", "scope": "chain", "evidence": "source",
            },
        }])
    );
    assert_eq!(
        (&of("codex")["up_to"], &of("amp")["up_to"]),
        (&"repository".into(), &serde_json::Value::Null)
    );
    cantus(&repo, &["list", "--providers", "--plugins"]).exits(2);
}

#[test]
fn list_providers_says_what_would_be_loaded_on_this_machine() {
    let repo = projected();
    repo.write("cantus.toml", "providers = [\"claude\", \"codex\"]\n");
    let own = repo.home().join(".claude/CLAUDE.md");
    fs::create_dir_all(own.parent().expect("a folder")).expect("a folder");
    fs::write(own, "Mine.\n").expect("a file");
    fs::write(repo.path().join("../CLAUDE.md"), "x".repeat(50_000)).expect("a file");
    let output = cantus(&repo, &["list", "--providers"]).exits(0);
    let lines: Vec<_> = output.stdout.lines().skip_while(|line| !line.starts_with("What those")).collect();
    let size = repo.read("AGENTS.md").len();
    let rows = [
        "What those in `providers` would load here".to_owned(),
        "agent   file                 size".to_owned(),
        "claude  ~/.claude/CLAUDE.md  6 of 40,000 chars?".to_owned(),
        "        ../CLAUDE.md         50,000 of 40,000 chars?".to_owned(),
        format!("        CLAUDE.md            {} of 40,000 chars?", repo.read("CLAUDE.md").chars().count()),
        "  looks in every folder above the root too".to_owned(),
        format!("codex   AGENTS.md            {size} of 32,768 bytes in all"),
        "  looks in the folders above the root too, up to the repository's".to_owned(),
    ];
    let found: Vec<_> = lines.iter().map(|line| line.replace(',', "")).collect();
    assert_eq!(found[..rows.len()], rows.map(|row| row.replace(',', "")), "{}", output.stdout);
}

#[test]
fn what_a_roundabout_path_to_the_root_passes_is_not_above_it() {
    let repo = projected();
    let other = Repo::new(NOTES);
    let root = format!(
        "../../{}",
        other
            .path()
            .strip_prefix(repo.path().ancestors().nth(2).expect("a folder"))
            .expect("beside")
            .display()
    );
    cantus(&repo, &["--root", &root, "project"]).exits(0);
    let output = cantus(&repo, &["--root", &root, "check"]).exits(0);
    assert!(!output.stdout.contains("above the root"), "{}", output.stdout);
}

#[test]
fn b2_what_stands_beside_a_bare_repository_is_loaded_in_its_work_trees() {
    let repo = projected();
    repo.commit_all("all");
    let fleet = repo.path().join("../fleet");
    repo.run("git", &["clone", "-q", "--bare", ".", "../fleet/.git"]).exits(0);
    repo.run("git", &["--git-dir", "../fleet/.git", "worktree", "add", "-q", "../fleet/child", "HEAD"])
        .exits(0);
    fs::write(fleet.join("CLAUDE.md"), "Ours all.\n").expect("a file");
    let output = cantus(&repo, &["--root", "../fleet/child", "list", "--providers", "--json"]).exits(0);
    let answer: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let claude = answer["providers"].as_array().expect("providers").iter();
    let claude = claude.into_iter().find(|provider| provider["name"] == "claude").expect("it is known");
    let paths: Vec<_> = claude["loads"].as_array().expect("loads").iter().map(|load| &load["path"]).collect();
    assert_eq!(paths, ["../CLAUDE.md", "CLAUDE.md"]);
}

#[test]
fn what_replaces_a_strand_must_be_there_and_be_linked() {
    let repo = Repo::new(
        "
        //- memory/w.md
        ---
        web: true
        ---
        # Words
        //- memory/w/a.md
        ---
        metadata: { status: superseded, superseded_by: b }
        ---
        Gone, see [[b]].
        //- memory/w/b.md
        Here.
        ",
    );
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), [""; 0]);
    replace(&repo, "memory/w/a.md", "see [[b]]", "see b");
    assert_eq!(findings(&repo, 0), ["strand.superseded warning memory/w/a.md:2"]);
    replace(&repo, "memory/w/a.md", "superseded_by: b ", "superseded_by: c ");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), ["strand.superseded warning memory/w/a.md:2"]);
}

#[test]
fn a_file_that_nobody_reads_since_ours_came_is_told() {
    let told = |repo: &Repo| {
        let mut found = findings(repo, 0);
        found.retain(|finding| finding.starts_with("reader.hidden"));
        found
    };
    let repo = Repo::new("//- memory/a.md\n---\ntype: core\n---\n# A\n\nx\n");
    for (providers, severity) in [("", "warning"), ("providers = [\"codex\"]\n", "note")] {
        repo.write("cantus.toml", providers);
        repo.write("CONTEXT.md", "rule\n");
        cantus(&repo, &["project"]).exits(0);
        assert_eq!(told(&repo), [format!("reader.hidden {severity} CONTEXT.md")]);
        repo.remove("CONTEXT.md");
        assert_eq!(told(&repo), Vec::<String>::new());
    }
    // Another agent reads this one.
    repo.write("cantus.toml", "[projection]\nfiles = [\"AGENTS.md\"]\n");
    cantus(&repo, &["project", "--force"]).exits(0);
    repo.write("CLAUDE.md", "rule\n");
    assert_eq!(told(&repo), Vec::<String>::new());
}

#[test]
fn a_folder_of_rules_that_git_only_keeps_holds_none() {
    let repo = Repo::new("//- memory/a.md\n---\ntype: core\n---\n# A\n\nx\n//- .claude/rules/.gitkeep\n");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), [""; 0]);
    repo.write(".claude/rules/a.md", "rule\n");
    assert_eq!(findings(&repo, 0), ["reader.beside note .claude/rules/*"]);
}

#[test]
fn project_warns_of_what_a_merge_left_in_a_note() {
    let repo = projected();
    replace(
        &repo,
        "memory/rules.md",
        "Be kind.",
        "<<<<<<< ours\nBe kind.\n=======\nBe just.\n>>>>>>> theirs",
    );
    let output = cantus(&repo, &["project"]).exits(0);
    assert!(output.stderr.contains("memory/rules.md:7: warning: a conflict marker"), "{}", output.stderr);
    assert!(repo.read("AGENTS.md").contains("<<<<<<< ours"));
    cantus(&repo, &["check"]).exits(1);
    replace(&repo, "memory/rules.md", "Be just.", "Be fair.");
    let before = repo.read("AGENTS.md");
    cantus(&repo, &["project", "--strict"]).exits(2);
    assert_eq!(repo.read("AGENTS.md"), before);
}

#[test]
fn a_parent_that_is_nowhere_is_named_at_its_line() {
    let repo = projected();
    repo.write("memory/deep.md", "---\ntype: reference\nparent: releas\n---\n# Deep\n\nDown here.\n");
    let output = cantus(&repo, &["project"]).exits(0);
    snapbox::assert_data_eq!(
        output.stderr,
        snapbox::str![[r#"
memory/deep.md:3: warning: no bundle lists this note: its parent `releas` is neither a note nor a web, and no other note leads to it [note.unreachable]
  3 | parent: releas
    |         ^^^^^^
  help: did you mean `release.md`? Otherwise link to it with `[[deep]]`, or remove `parent` from it

"#]]
    );
    assert_eq!(findings(&repo, 0), ["note.unreachable warning memory/deep.md:3"]);
    replace(&repo, "memory/deep.md", "releas", "agents.md");
    let output = cantus(&repo, &["project"]).exits(0);
    snapbox::assert_data_eq!(
        output.stderr,
        snapbox::str![[r#"
memory/deep.md:3: warning: no bundle lists this note: its parent `agents.md` is neither a note nor a web, and no other note leads to it [note.unreachable]
  3 | parent: agents.md
    |         ^^^^^^^^^
  help: did you mean `AGENTS.md`? Otherwise link to it with `[[deep]]`, or remove `parent` from it

"#]]
    );
    replace(&repo, "memory/deep.md", "agents.md", "release.md");
    let output = cantus(&repo, &["project"]).exits(0);
    snapbox::assert_data_eq!(
        output.stderr,
        snapbox::str![[r#"
memory/deep.md:3: warning: no bundle lists this note, since its parent is `release.md`, and no other note leads to it [note.unreachable]
  3 | parent: release.md
    |         ^^^^^^^^^^
  help: link to it with `[[deep]]`, or remove `parent` from it

"#]]
    );
    // What another note leads to is in no need of a parent.
    replace(&repo, "memory/release.md", "Tag it.", "Tag it, see [[deep]].");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(findings(&repo, 0), [""; 0]);
}
