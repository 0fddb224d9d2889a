//! What a report tells someone to do, and that it helps.

use std::path::PathBuf;
use std::{env, fs};

use cantus_testkit::{Output, Repo};

use crate::program::{CANTUS, NOTES, cantus, projected, replace};

/// Everything that a run printed.
fn said(output: &Output) -> String {
    format!("{}{}", output.stdout, output.stderr)
}

/// A repository without git, projected.
fn without_git() -> Repo {
    let repo = Repo::without_git(NOTES);
    cantus(&repo, &["project"]).exits(0);
    repo
}

/// The program under the name that cargo gives to an adopter's task runner, whose whole `main` is the same call.
fn xtask(repo: &Repo) -> PathBuf {
    let path = repo.home().join(format!("xtask{}", env::consts::EXE_SUFFIX));
    fs::copy(CANTUS, &path).expect("a copy");
    path
}

#[test]
fn messages_name_the_program_as_it_was_called() {
    let repo = Repo::without_git("//- README.md\nx\n");
    let xtask = xtask(&repo);
    let here: Output = repo.run(&xtask, &["check"]).exits(2);
    assert!(here.stderr.contains("help: `cargo xtask init` sets one up here"), "{}", here.stderr);
    let named = repo.run(&xtask, &["check", "--root", "."]).exits(2);
    assert!(named.stdout.contains("help: `cargo xtask init` sets one up there"), "{}", named.stdout);
    assert!(
        repo.run(&xtask, &["init", "--help"]).exits(0).stdout.contains("Usage: cargo xtask init [OPTIONS]")
    );
    let wrong = repo.run(&xtask, &["chekc"]).exits(2);
    assert!(wrong.stderr.contains("Usage: cargo xtask [OPTIONS] <COMMAND>"), "{}", wrong.stderr);
    let none = repo.run(&xtask, &["show", "build-42"]).exits(1);
    assert!(none.stderr.contains("`cargo xtask show` lists runs"), "{}", none.stderr);
    let notes = Repo::new(NOTES);
    let none = notes.run(&xtask, &["read", "zzzzzz"]).exits(1);
    assert!(none.stderr.contains("`cargo xtask list` names the notes"), "{}", none.stderr);
    let none = cantus(&notes, &["read", "zzzzzz"]).exits(1);
    assert!(none.stderr.contains("`cantus list` names the notes"), "{}", none.stderr);
}

#[test]
fn a_foreign_file_that_is_asked_about_is_adopted_by_the_project_s_command() {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "command = \"cargo xtask project\"\n");
    repo.write("CLAUDE.md", "Mine.\n");
    let output = cantus(&repo, &["why", "CLAUDE.md:1"]).exits(1);
    assert!(said(&output).contains("`cargo xtask project` says how to adopt it"), "{output:?}");
}

#[test]
fn check_names_the_verb_that_adopts_a_foreign_file() {
    let repo = Repo::new(NOTES);
    repo.write("CLAUDE.md", "Mine.\n");
    let output = cantus(&repo, &["check"]).exits(1).stdout;
    assert!(output.contains("to adopt it, run `cantus init`, which makes notes of its text"), "{output}");
    repo.write("cantus.toml", "command = \"cargo xtask project\"\n");
    let output = cantus(&repo, &["check"]).exits(1).stdout;
    assert!(output.contains("run `cargo xtask init`"), "{output}");
}

#[test]
fn a_foreign_lock_is_nothing_to_adopt() {
    let repo = projected();
    repo.write("projections/lock.toml", "mine = true\n");
    for verb in ["check", "project"] {
        let output = cantus(&repo, &[verb]).exits(1).stdout;
        assert!(output.contains("move it away, then run `cantus project`"), "{output}");
        assert!(!output.contains("init"), "{output}");
    }
}

#[test]
fn an_edit_whose_text_is_kept_needs_no_force() {
    let repo = projected();
    replace(&repo, "AGENTS.md", "Be kind.", "Be cruel.");
    repo.commit_all("edited");
    for verb in [&["check"][..], &["project", "--check"]] {
        let output = cantus(&repo, verb).exits(1).stdout;
        assert!(output.contains("`cantus project`"), "{output}");
        assert!(!output.contains("--force"), "{output}");
    }
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn making_the_change_in_the_note_needs_no_force_either() {
    let repo = projected();
    for file in ["AGENTS.md", "CLAUDE.md"] {
        replace(&repo, file, "Be kind.", "Be cruel.");
    }
    for verb in ["check", "project"] {
        let output = cantus(&repo, &[verb]).exits(1).stdout;
        let help = "to keep it, make the change in memory/rules.md:7, then run `cantus project`";
        assert!(output.contains(help), "{output}");
        assert!(output.contains("to drop it, run `cantus project --force`"), "{output}");
    }
    replace(&repo, "memory/rules.md", "Be kind.", "Be cruel.");
    cantus(&repo, &["project"]).exits(0);
    assert!(repo.read("AGENTS.md").contains("Be cruel."));
}

#[test]
fn no_note_is_spoken_of_where_none_is_named() {
    let repo = projected();
    for file in ["AGENTS.md", "CLAUDE.md"] {
        let text = repo.read(file);
        let (_, rest) = text.split_once('\n').expect("a notice");
        repo.write(file, &format!("<!-- mine -->\n{rest}"));
    }
    for verb in ["check", "project"] {
        let output = cantus(&repo, &[verb]).exits(1).stdout;
        assert!(output.contains("keep what you need of it, then run `cantus project --force`"), "{output}");
        assert!(!output.contains("make the change"), "{output}");
    }
}

#[test]
fn of_two_copies_the_changed_one_is_named() {
    let parity = |repo: &Repo| {
        let output = cantus(repo, &["check"]).exits(1).stdout;
        let lines = output.lines().filter(|line| line.ends_with("[parity.copy]"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let repo = projected();
    replace(&repo, "AGENTS.md", "Be kind.", "Be cruel.");
    assert_eq!(
        parity(&repo),
        ["AGENTS.md: error: not byte for byte the same as its copy `CLAUDE.md` [parity.copy]"]
    );
    let repo = projected();
    replace(&repo, "CLAUDE.md", "Be kind.", "Be cruel.");
    assert_eq!(parity(&repo), ["CLAUDE.md: error: not byte for byte the same as `AGENTS.md` [parity.copy]"]);
}

#[test]
fn outside_git_nothing_is_said_of_git() {
    let repo = without_git();
    replace(&repo, "AGENTS.md", "Be kind.", "Be cruel.");
    repo.write("CLAUDE.md", "Mine.\n");
    for args in [&["check"][..], &["project"], &["project", "--check", "--force"]] {
        let output = said(&cantus(&repo, args).exits(1));
        assert!(!output.contains("git"), "{output}");
    }
    let output = said(&cantus(&repo, &["project", "--force"]).exits(0));
    assert!(output.contains("lost: 1 line that the new text does not hold"), "{output}");
    assert!(!output.contains("git"), "{output}");
}

#[test]
fn what_init_keeps_in_a_copy_is_not_lost() {
    for repo in [Repo::without_git(""), Repo::new("")] {
        repo.write("AGENTS.md", "# Acme\n\nBe kind.\n\n# Tests\n\n### Deep\n\nRun them.\n");
        let output = said(&cantus(&repo, &["init", "--yes"]).exits(0));
        assert!(repo.exists("AGENTS.md.before-cantus"), "{output}");
        assert!(output.contains("its old text is in AGENTS.md.before-cantus"), "{output}");
        assert!(!output.contains("lost"), "{output}");
        assert_eq!(output.contains("in git or a copy"), repo.exists(".git"), "{output}");
    }
}

#[test]
fn every_finding_of_check_is_on_one_stream() {
    let repo = projected();
    repo.write("memory/rules.md", "---\ntype: cor\n---\n");
    let output = cantus(&repo, &["check"]).exits(2);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.contains("memory/rules.md:2: error: "), "{}", output.stdout);
    assert!(output.stdout.contains("      Failed 1 error, 0 warnings, 0 notes\n"), "{}", output.stdout);
    for format in ["json", "sarif", "github"] {
        let output = cantus(&repo, &["check", "--format", format]).exits(2);
        assert_eq!(output.stderr, "");
        assert!(output.stdout.contains("memory/rules.md"), "{}", output.stdout);
    }
}

#[test]
fn one_run_tells_all_that_can_be_judged() {
    let repo = Repo::new(NOTES);
    repo.write("memory/rules.md", "---\ntype: cor\n---\n# Rules\n");
    repo.write("memory/tests.md", "---\ntype: core\n---\nSee [[rules]], [[rulez]] and\u{202e} [[w:x]].\n");
    repo.write("memory/w.md", "---\nweb: yes\n---\n");
    repo.write("memory/w/x.md", "Text.\n");
    let output = cantus(&repo, &["check", "--json"]).exits(2).stdout;
    let answer: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    let findings = answer["findings"].as_array().expect("findings").iter();
    let shown = findings.map(|finding| {
        format!("{} {}", finding["code"].as_str().expect("a code"), finding["path"].as_str().expect("a path"))
    });
    // What leads to a note that couldn't be read is no finding.
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "note.value memory/rules.md",
            "link.unresolved memory/tests.md",
            "note.hidden memory/tests.md",
            "note.value memory/w.md"
        ]
    );
}

#[test]
fn a_target_that_is_no_file_hides_no_finding_on_notes() {
    let repo = Repo::new(NOTES);
    repo.write("AGENTS.md/x", "");
    replace(&repo, "memory/rules.md", "Be kind.", "See [[nowhere]].");
    let output = cantus(&repo, &["check"]).exits(2).stdout;
    for code in ["[target]", "[link.unresolved]"] {
        assert!(output.contains(code), "{output}");
    }
}

#[test]
fn a_broken_front_matter_says_where_and_what_to_do() {
    for (block, place, help) in [
        ("type: core\n\tdescription: x", "a.md:3", "put blanks in its place"),
        ("type: core\ndescription: Use: it", "a.md:3", "`description: \"Use: it\"`"),
        ("type: core\ndescription: \"Use it", "a.md:3", "at the end of the value"),
        ("type: core\ndescription: `x` is it", "a.md:3", "`description: \"`x` is it\"`"),
        ("type:core", "a.md:2", "write `type: core`"),
        ("type: core\n\nText.", "a.md:4", "put the closing line `---` above it"),
    ] {
        let repo = Repo::new("");
        repo.write("memory/a.md", &format!("---\n{block}\n---\n# A\n"));
        let output = cantus(&repo, &["check"]).exits(2).stdout;
        assert!(output.starts_with(&format!("memory/{place}: error: front matter is broken")), "{output}");
        assert!(output.contains(help), "{output}");
    }
    let repo = Repo::new("");
    repo.write("memory/a.md", "---\ntype: core\n# A\n\nText.\n");
    let output = cantus(&repo, &["check"]).exits(2).stdout;
    assert!(
        output.starts_with("memory/a.md:3: error: the front matter has no closing `---` line"),
        "{output}"
    );
    assert!(output.contains("put a line `---` above this one"), "{output}");
}

#[test]
fn a_slip_of_the_hand_is_recognised() {
    let repo = projected();
    for (slip, meant) in [("relese", "release.md"), ("Ruls", "rules.md"), ("memory/test.md", "tests.md")] {
        let output = cantus(&repo, &["read", slip]).exits(1).stderr;
        assert!(output.contains(&format!("did you mean `{meant}`?")), "{output}");
    }
}

#[test]
fn what_the_project_lacks_is_a_no_and_wrong_usage_cannot_tell() {
    let repo = projected();
    for (args, status) in [
        (&["read", "nosuch"][..], 1),
        (&["read", "nosuch:x"], 1),
        (&["why", "nosuch.md:1"], 1),
        (&["why", "memory/nosuch.md:1"], 1),
        (&["why", "AGENTS.md:99999"], 1),
        (&["why", "memory/rules.md:99999"], 1),
        (&["project", "--only", "nosuch.md"], 1),
        (&["project", "--only", "../x"], 1),
        (&["read"], 2),
        (&["why", "AGENTS.md"], 2),
        (&["why", "AGENTS.md:x"], 2),
        (&["list", "nosuch"], 2),
        (&["render", "-f", "nosuch=x"], 2),
        (&["render", "-f", "actor=nosuch"], 2),
        (&["render", "-f", "provider=9x"], 2),
        (&["render", "--launch", "nosuch.json"], 2),
        (&["manifest", "nosuch.json"], 2),
        (&["import", "nosuch.md"], 2),
        (&["check", "--root", "nosuch"], 2),
        (&["check", "--format", "nosuch"], 2),
        (&["stats", "--history", "nosuch"], 2),
        // Nothing is asked for by name.
        (&["hook", "uninstall"], 0),
        (&["list", "--plugins"], 0),
    ] {
        let output = cantus(&repo, args).exits(status);
        assert_eq!(output.stderr.is_empty(), status == 0, "{args:?}: {}", output.stderr);
    }
}
