//! `render --parity`: what committed files hold and a bundle lacks.

use cantus_testkit::Repo;
use snapbox::str;

use crate::program::{cantus, projected, replace};

#[track_caller]
fn check(repo: &Repo, args: &[&str], code: i32, expected: impl snapbox::IntoData) {
    let output = cantus(repo, &[&["render", "-q", "-p"], args].concat()).exits(code);
    snapbox::assert_data_eq!(output.stderr, expected.into_data());
    assert!(args.contains(&"-j") || output.stdout.starts_with('#'), "the bundle is still printed");
}

#[test]
fn a_fresh_file_has_no_gap_and_additions_are_none() {
    let repo = projected();
    check(
        &repo,
        &["--no-home"],
        0,
        str![[r#"
parity AGENTS.md: no gap in 8 items

"#]],
    );
    repo.write("memory/more.md", "---\ntype: core\n---\n# More\n\nText.\n");
    check(
        &repo,
        &["--no-home", "-j"],
        0,
        str![[r#"
parity AGENTS.md: no gap in 8 items

"#]],
    );
}

#[test]
fn what_notes_no_longer_give_is_a_gap() {
    let repo = projected();
    repo.remove("memory/tests.md");
    repo.remove("memory/release.md");
    check(
        &repo,
        &["--no-home"],
        1,
        str![[r#"
parity AGENTS.md: 2 gaps in 8 items
  line 61: the bundle lacks the note `tests`
  line 69: the bundle lacks the entry of `memory/release.md`

"#]],
    );
}

#[test]
fn a_reference_that_became_core_is_no_gap() {
    let repo = projected();
    replace(&repo, "memory/release.md", "type: reference", "type: core");
    check(
        &repo,
        &["--no-home"],
        0,
        str![[r#"
parity AGENTS.md: no gap in 8 items

"#]],
    );
}

#[test]
fn a_helper_lacks_the_sections_of_roots() {
    let repo = projected();
    check(
        &repo,
        &["--no-home", "-f", "actor=native_helper"],
        1,
        str![[r#"
parity AGENTS.md: 1 gap in 8 items
  line 43: the bundle lacks the section `pkg.root.final_declaration` (overlay)

"#]],
    );
}

#[test]
fn the_home_file_is_compared_as_well() {
    let repo = projected();
    repo.write("home/memory/mine.md", "---\ntype: core\n---\n# Mine\n\nText.\n");
    repo.write("home/memory/rules.md", "---\ntype: core\n---\n# My rules\n\nText.\n");
    repo.write(
        "home/AGENTS.md",
        "# Me\n\n### Mine (mine)\n\n### My rules (rules)\n\n**`memory/gone.md`** - x\n",
    );
    check(
        &repo,
        &["--home", "home"],
        1,
        str![[r#"
parity AGENTS.md: no gap in 8 items
parity home:AGENTS.md: 1 gap in 3 items
  line 7: the bundle lacks the entry of `memory/gone.md`

"#]],
    );
    check(
        &repo,
        &["--home", "home", "-f", "mode=export"],
        1,
        str![[r#"
parity AGENTS.md: 1 gap in 8 items
  line 43: the bundle lacks the section `pkg.root.final_declaration` (mode)
parity home:AGENTS.md: 2 gaps in 3 items
  line 3: the bundle lacks the note `mine` (mode)
  line 7: the bundle lacks the entry of `memory/gone.md`

"#]],
    );
    check(
        &repo,
        &["--no-home"],
        0,
        str![[r#"
parity AGENTS.md: no gap in 8 items

"#]],
    );
}

#[test]
fn a_repository_that_is_no_longer_configured_is_a_gap() {
    let repo = projected();
    let config = |names: &[&str]| {
        let tables =
            names.iter().map(|name| format!("[[repositories]]\nname = \"{name}\"\ndescription = \"d\"\n"));
        tables.collect::<String>()
    };
    repo.write("cantus.toml", &config(&["one", "two"]));
    cantus(&repo, &["project"]).exits(0);
    repo.write("cantus.toml", &config(&["one"]));
    check(
        &repo,
        &["--no-home"],
        1,
        str![[r#"
parity AGENTS.md: 1 gap in 10 items
  line 43: the bundle lacks the repository `two`

"#]],
    );
}

#[test]
fn without_a_committed_file_there_is_nothing_to_compare() {
    let repo = Repo::new(crate::program::NOTES);
    check(
        &repo,
        &["--no-home"],
        0,
        str![[r#"
parity AGENTS.md: no such file, nothing to compare with

"#]],
    );
    repo.write("AGENTS.md", "\u{0}");
    cantus(&repo, &["render", "-q", "-p", "--no-home"]).exits(0);
    repo.write_bytes("AGENTS.md", b"\xff");
    let output = cantus(&repo, &["render", "-q", "-p", "--no-home"]).exits(2);
    assert!(output.stderr.contains("AGENTS.md:1: error: not UTF-8"), "{}", output.stderr);
}
