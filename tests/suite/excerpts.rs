//! The lines that reports show of what they speak of.

use cantus_testkit::Repo;
use snapbox::{assert_data_eq, str};

use crate::program::{cantus, projected, replace};

#[test]
fn a_failure_shows_the_line_and_marks_the_word() {
    let repo = projected();
    replace(&repo, "memory/release.md", "type: reference", "type: referenc  # 漢字");
    let output = cantus(&repo, &["check"]).exits(2);
    assert_data_eq!(
        output.stdout,
        str![[r#"
memory/release.md:2: error: `type` must be `core` or `reference`, not `referenc` [note.value]
  2 | type: referenc  # 漢字
    |       ^^^^^^^^
  help: did you mean `reference`?
      Failed 1 error, 0 warnings, 0 notes
             the files can't be judged before the notes and the configuration are mended

"#]]
    );
}

#[test]
fn a_finding_shows_the_line_of_the_committed_file() {
    let repo = projected();
    replace(&repo, "CLAUDE.md", "Be kind.", "Be cruel.");
    let output = cantus(&repo, &["check"]).exits(1);
    assert_data_eq!(
        output.stdout,
        str![[r#"
CLAUDE.md:59: error: this was edited by hand (section `proj.core.rules`) [drift.edited]
  59 | Be cruel.
     | ^^^^^^^^^
  help: to keep it, make the change in memory/rules.md:7, then run `cantus project`; to drop it, run `cantus project --force`
CLAUDE.md: error: not byte for byte the same as `AGENTS.md` [parity.copy]
  help: mend what is said of the files first, then run `cantus project`
      Failed 2 errors, 0 warnings, 0 notes
             11 sections, 2,512 bytes, ~632 tokens, common digest c3bc4bb821f6

"#]]
    );
}

#[test]
fn a_quiet_run_shows_no_lines() {
    let repo = projected();
    replace(&repo, "CLAUDE.md", "Be kind.", "Be cruel.");
    let output = cantus(&repo, &["check", "-q"]).exits(1).stdout;
    assert!(output.contains("CLAUDE.md:59: error") && !output.contains("Be cruel"), "{output}");
    replace(&repo, "memory/release.md", "type: reference", "type: referenc");
    let output = cantus(&repo, &["check", "-q"]).exits(2).stdout;
    assert!(output.contains("not `referenc`") && !output.contains(" | "), "{output}");
}

#[test]
fn many_findings_show_no_lines() {
    let many = |count: usize| {
        let repo = Repo::new("");
        for number in 0..count {
            repo.write(&format!("memory/n{number}.md"), "---\ntype: cor\n---\n# N\n");
        }
        cantus(&repo, &["check"]).exits(2).stdout.matches("2 | type: cor").count()
    };
    assert_eq!((many(20), many(21)), (20, 0));
}

#[test]
fn the_line_is_that_of_the_index() {
    let repo = projected();
    replace(&repo, "memory/rules.md", "type: core", "type: staged");
    repo.git(&["add", "--all"]);
    replace(&repo, "memory/rules.md", "type: staged", "type: unstaged");
    let output = cantus(&repo, &["check", "--staged"]).exits(2).stdout;
    assert!(output.contains("  2 | type: staged\n"), "{output}");
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed_raw() {
    let repo = Repo::new("");
    repo.write("memory/a.md", "---\ntype: core\n\"k\\e[2J\": \"\u{202e}x\u{9b}31m\"\n---\n# A\n");
    let output = cantus(&repo, &["check", "--color", "never"]).exits(2).stdout;
    let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(output.contains("  3 | ") && !output.contains(obeyed), "{output:?}");
}

#[test]
fn lines_of_any_ends_and_marks() {
    let repo = Repo::new("");
    repo.write_bytes("cantus.toml", b"\xef\xbb\xbfwidht = 80\r\n");
    repo.write("memory/a.md", "---\r\ntype: cor\r\n---\r\n");
    let output = cantus(&repo, &["check"]).exits(2).stdout;
    assert!(!output.contains('\r') && !output.contains('\u{feff}'), "{output:?}");
    assert!(output.contains("  2 | type: cor\n    |       ^^^\n"), "{output}");
}

#[test]
fn colours_are_for_those_who_ask() {
    let repo = projected();
    replace(&repo, "CLAUDE.md", "Be kind.", "Be cruel.");
    let plain = cantus(&repo, &["check"]).exits(1).stdout;
    let coloured = cantus(&repo, &["check", "--color", "always"]).exits(1).stdout;
    assert!(!plain.contains('\u{1b}') && coloured.contains("\u{1b}[1m\u{1b}[91m^"), "{coloured:?}");
    assert_eq!(
        cantus(&repo, &["check", "--format", "github", "--color", "always"]).stdout.matches('^').count(),
        0
    );
}
