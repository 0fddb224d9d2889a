//! `cantus import` and `cantus init`: from files that people wrote to a project that is fresh, and nothing is lost.

use std::fs;

use cantus_testkit::{Output, Repo};
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::program::{CANTUS, cantus, targets};

/// A hand-written file of 300 lines.
const AGENTS: &str = include_str!("adopting/agents.txt");
/// Another, which shares one section with it.
const CLAUDE: &str = include_str!("adopting/claude.txt");

/// A repository whose two instruction files are committed.
fn written_by_hand() -> Repo {
    let repo = Repo::new("");
    repo.write("AGENTS.md", AGENTS);
    repo.write("CLAUDE.md", CLAUDE);
    repo.commit_all("by hand");
    repo
}

/// Everything but what `git status` calls unchanged.
fn changes(repo: &Repo) -> String {
    repo.git(&["status", "--porcelain"])
}

/// Asserts that each line of `old` that isn't blank stands in `new`, in order; of headings, their text.
#[track_caller]
fn check_kept(old: &str, new: &str) {
    let mut rest = new.lines();
    for line in old.lines().filter(|line| !line.trim().is_empty()) {
        let title = line.trim_start_matches('#');
        let is_heading = title != line && title.starts_with(' ');
        let found = rest.any(|other| match is_heading {
            true => {
                other.starts_with('#')
                    && !other.starts_with("#######")
                    && other.trim_start_matches('#').starts_with(title)
            }
            false => other == line,
        });
        assert!(found, "`{line}` is lost or out of order in\n{new}");
    }
}

/// Runs `init --yes`, `check`, and `init` again, which must change nothing.
#[track_caller]
fn check_adopted(repo: &Repo) -> Output {
    let output = cantus(repo, &["init", "--yes"]).exits(0);
    cantus(repo, &["check"]).exits(0);
    let before = (changes(repo), targets(repo));
    let again = cantus(repo, &["init"]).exits(0);
    assert_eq!(again.stdout, "  Everything is set up; nothing was changed\n");
    assert_eq!((changes(repo), targets(repo)), before);
    output
}

#[test]
fn a_repository_with_two_long_files_is_green_after_two_commands() {
    assert_eq!(AGENTS.lines().count(), 300);
    let repo = written_by_hand();
    let output = cantus(&repo, &["init", "--yes"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    let bundle = repo.read("AGENTS.md");
    check_kept(AGENTS, &bundle);
    // The one section that both files have stands there once.
    assert_eq!(bundle.matches("Never log a name").count(), 1);
    let (before, after) = CLAUDE.split_once("## Security").unwrap();
    check_kept(before, &bundle);
    check_kept(&after[after.find("## Sub-agents").unwrap()..], &bundle);
    assert_eq!(repo.read("CLAUDE.md"), bundle);
    assert!(
        output.stdout.contains("lines 18-25              the same as AGENTS.md:213"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("memory/commands-claude.md"), "{}", output.stdout);
    assert!(
        output.stderr.contains("CLAUDE.md:29: note: `@docs/layers.md` stays as text"),
        "{}",
        output.stderr
    );
    assert_eq!(repo.read("cantus.toml"), "title = \"Tidewater\"\n");
    // Git has the old text, so no copy is made.
    assert!(!repo.exists("AGENTS.md.before-cantus"));
    let add = output.stdout.lines().find_map(|line| line.split_once("next: git ")).unwrap().1;
    repo.git(&add.split(' ').collect::<Vec<_>>());
    assert!(!changes(&repo).contains("??"), "{}", changes(&repo));
    assert_eq!(
        cantus(&repo, &["init", "--yes"]).exits(0).stdout,
        "  Everything is set up; nothing was changed\n"
    );
}

#[test]
fn import_alone_takes_two_commands_more() {
    let repo = written_by_hand();
    let planned = cantus(&repo, &["import", "--dry-run"]).exits(0);
    assert_eq!(changes(&repo), "");
    let written = cantus(&repo, &["import"]).exits(0);
    assert_eq!(
        written.stdout.replace("Wrote", "Planned"),
        planned.stdout.replace("; nothing was written", "").replace("     Planned", "       Planned")
    );
    assert!(written.stdout.contains("next: `cantus project --force`"), "{}", written.stdout);
    cantus(&repo, &["project", "--force"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    check_kept(AGENTS, &repo.read("AGENTS.md"));
}

#[test]
fn what_the_plan_says() {
    let repo = Repo::new("");
    repo.write("AGENTS.md", "# Acme\n\n## Build\n\nRun make.\n");
    repo.write("CLAUDE.md", "# CLAUDE.md\n\n@AGENTS.md\n");
    let output = cantus(&repo, &["init"]).exits(2);
    assert_data_eq!(
        output.stdout,
        str![[r#"
AGENTS.md
  -                      line 1                the title of the committed files
  memory/build.md  core  lines 3-5  ~5 tokens
CLAUDE.md
  -    lines 1-3    it only imports AGENTS.md
     -------
       Found git
        Plan write 1 note from 2 files, ~5 tokens
        Plan put the standing texts of the built-in package above the notes, ~554 tokens; `package = "DIR"` in cantus.toml puts your own texts in their place
        Plan write cantus.toml: title = "Acme"
        Plan add to .gitattributes: /AGENTS.md text eol=lf linguist-generated; /CLAUDE.md text eol=lf linguist-generated; /projections/** text eol=lf linguist-generated
        Plan overwrite AGENTS.md with what the notes say; its text is kept in them, and in git or a copy
        Plan overwrite CLAUDE.md with what the notes say; its text is kept in them, and in git or a copy
        Plan `cantus project`

"#]]
    );
    assert_data_eq!(
        output.stderr,
        str![[r#"
error: nothing was done: this is no terminal, and nobody said yes
  help: run `cantus init --yes` to do all of it, or `cantus import` for the notes alone

"#]]
    );
    assert_eq!(repo.files(), ["AGENTS.md", "CLAUDE.md"]);
    check_adopted(&repo);
    // Nothing of it was in git.
    assert_eq!(repo.read("AGENTS.md.before-cantus"), "# Acme\n\n## Build\n\nRun make.\n");
    assert_eq!(repo.read("CLAUDE.md.before-cantus"), "# CLAUDE.md\n\n@AGENTS.md\n");
    assert!(repo.read("AGENTS.md").contains("# Acme\n\n## Core Memory\n"));
}

#[test]
fn an_empty_folder_gets_a_first_note() {
    for repo in [Repo::new(""), Repo::without_git("")] {
        cantus(&repo, &["init", "--yes"]).exits(0);
        cantus(&repo, &["check"]).exits(0);
        assert!(repo.read("AGENTS.md").contains("### Working Here (working-here)"));
        let again = cantus(&repo, &["init"]).exits(0);
        assert!(again.stdout.contains("nothing was changed"));
    }
}

#[test]
fn without_git_copies_are_kept_and_never_overwritten() {
    let repo = Repo::without_git("//- AGENTS.md\n## A\n\nx\n//- AGENTS.md.before-cantus\nolder\n");
    let output = cantus(&repo, &["init", "--yes"]).exits(0);
    assert_eq!(repo.read("AGENTS.md.before-cantus"), "older\n");
    assert_eq!(repo.read("AGENTS.md.before-cantus-2"), "## A\n\nx\n");
    assert!(output.stdout.contains("its old text is in AGENTS.md.before-cantus-2"), "{}", output.stdout);
    assert!(!repo.exists(".gitattributes"));
    assert!(!output.stdout.contains("git add"), "{}", output.stdout);
}

#[test]
fn gitattributes_name_every_generated_file() {
    let repo = Repo::new(
        "
        //- cantus.toml
        members = [\"crates/*\"]
        [[page]]
        web = \"w\"
        file = \"docs/w x.md\"
        //- memory/w.md
        ---
        web: true
        ---
        # W
        //- memory/w/a.md
        ---
        keyword: A
        ---
        Text.
        //- crates/api/memory/errors.md
        ---
        type: core
        ---
        # Errors

        Every error has a number.
        ",
    );
    cantus(&repo, &["init", "--yes"]).exits(0);
    let end = " text eol=lf linguist-generated\n";
    let names = ["/AGENTS.md", "/CLAUDE.md", "\"/docs/w x.md\"", "/projections/**"];
    let members = ["/crates/api/AGENTS.md", "/crates/api/CLAUDE.md", "/crates/api/projections/**"];
    let lines: Vec<_> = names.into_iter().chain(members).map(|name| format!("{name}{end}")).collect();
    assert_eq!(repo.read(".gitattributes"), lines.concat());
    assert!(!cantus(&repo, &["init", "--yes"]).exits(0).stdout.contains(".gitattributes"));
    assert_eq!(repo.read(".gitattributes"), lines.concat());
}

#[test]
fn gitattributes_only_grow() {
    let repo = Repo::new("//- .gitattributes crlf no-final-newline\n*.png binary\nAGENTS.md text\n");
    check_adopted(&repo);
    let expected = "*.png binary\r\nAGENTS.md text\r\n/CLAUDE.md text eol=lf linguist-generated\r\n/projections/** text eol=lf linguist-generated\r\n";
    assert_eq!(repo.read(".gitattributes"), expected);
}

#[test]
fn the_configuration_says_what_defaults_would_get_wrong() {
    let repo = Repo::new(
        "//- xtask/Cargo.toml\n[package]\nname = \"xtask\"\n//- GEMINI.md\n# \"Quoted\" \\ title\n\ntext\n",
    );
    check_adopted(&repo);
    assert_eq!(
        repo.read("cantus.toml"),
        "title = \"\\\"Quoted\\\" \\\\ title\"\ncommand = \"cantus project\"\n\n[projection]\nfiles = [\"AGENTS.md\", \"CLAUDE.md\", \"GEMINI.md\"]\n"
    );
    assert_eq!(repo.read("GEMINI.md"), repo.read("AGENTS.md"));
    // An xtask that knows Cantus is named by default.
    let repo = Repo::new("//- xtask/Cargo.toml\n[dependencies]\ncantus-cli = \"0\"\n//- AGENTS.md\ntext\n");
    let output = cantus(&repo, &["init", "--yes"]).exits(0);
    assert!(!repo.exists("cantus.toml"));
    assert!(output.stdout.contains("in CI, run `cargo xtask check`"), "{}", output.stdout);
}

#[test]
fn hooks_and_formatters_are_told_as_text() {
    let repo = Repo::new(
        "//- .pre-commit-config.yaml\nrepos: []\n//- .prettierrc\n{}\n//- AGENTS.md\ntext\n//- .gitignore\nCLAUDE.md\n",
    );
    let output = cantus(&repo, &["init", "--yes"]).exits(0);
    assert_eq!(repo.read(".pre-commit-config.yaml"), "repos: []\n");
    for text in [
        "        entry: cantus check\n",
        "formatter to ignore /AGENTS.md, /CLAUDE.md",
        "git ignores CLAUDE.md",
    ] {
        assert!(output.stdout.contains(text), "{text} in {}", output.stdout);
    }
    assert!(!output.stdout.contains("hook install"), "{}", output.stdout);
}

#[test]
fn the_hook_is_proposed_where_git_is_and_nothing_else_runs_hooks() {
    let init = |repo: Repo| cantus(&repo, &["init", "--yes"]).exits(0).stdout;
    let text = "        next: to have git judge each commit, run `cantus hook install`\n";
    assert!(init(Repo::new("//- AGENTS.md\ntext\n")).contains(text));
    assert!(!init(Repo::without_git("//- AGENTS.md\ntext\n")).contains("hook"));
    let xtask = "//- cantus.toml\ncommand = \"cargo xtask project\"\n//- AGENTS.md\ntext\n";
    assert!(init(Repo::new(xtask)).contains("run `cargo xtask hook install`"));
}

#[test]
fn init_goes_on_where_a_killed_one_stopped() {
    let repo = written_by_hand();
    // The notes were written, the rest wasn't.
    cantus(&repo, &["import"]).exits(0);
    let notes = repo.files();
    check_adopted(&repo);
    let kept: Vec<_> = repo.files().into_iter().filter(|file| notes.contains(file)).collect();
    assert_eq!(kept, notes);
    assert_eq!(repo.files().len(), notes.len() + 2, "{:?}", repo.files());
    check_kept(&AGENTS[AGENTS.find("Tidewater sells").unwrap()..], &repo.read("AGENTS.md"));
}

#[test]
fn a_file_that_changed_meanwhile_is_not_taken_over() {
    let repo = written_by_hand();
    cantus(&repo, &["import"]).exits(0);
    repo.write("CLAUDE.md", &format!("{CLAUDE}\n## New\n\nLast word.\n"));
    check_adopted(&repo);
    assert!(repo.read("CLAUDE.md").contains("### New (new)\n\nLast word.\n"));
    assert!(repo.read("CLAUDE.md.before-cantus").ends_with("Last word.\n"));
}

#[test]
fn json_has_the_plan() {
    let repo = Repo::new("//- AGENTS.md\n## A\n\nx\n//- CLAUDE.md\n## A\n\nx\n\n## A\n\ny\n");
    let output = cantus(&repo, &["import", "--json", "--dry-run"]).exits(0);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&report["version"], &report["outcome"]), (&1.into(), &"planned".into()));
    assert_eq!(report["files"][0]["notes"][0]["path"], "memory/a.md");
    let claude = &report["files"][1];
    assert_eq!(
        (&claude["skipped"][0]["reason"], &claude["skipped"][0]["of"]),
        (&"same".into(), &"AGENTS.md".into())
    );
    assert_eq!(claude["notes"][0]["path"], "memory/a-claude.md");
    assert_eq!(claude["notes"][0]["differs_from"], "memory/a.md");
    repo.write("cantus.toml", "nam = 1\n");
    let output = cantus(&repo, &["import", "--json"]).exits(2);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&report["outcome"], &report["findings"][0]["code"]), (&"broken".into(), &"config".into()));
    repo.remove("cantus.toml");
    repo.write_bytes("AGENTS.md", b"caf\xe9");
    let output = cantus(&repo, &["import", "--json"]).exits(2);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&report["outcome"], &report["findings"][0]["code"]), (&"broken".into(), &"note.utf8".into()));
}

/// Imports `files` by name, which must fail, write nothing, and say `message`.
#[track_caller]
fn check_refused(repo: &Repo, files: &[&str], message: &str) {
    let before = repo.files();
    let output = cantus(repo, &[&["import"], files].concat()).exits(2);
    assert!(output.stderr.contains(message), "{}", output.stderr);
    assert_eq!(repo.files(), before);
}

#[test]
fn what_cantus_wrote_is_no_source() {
    let repo = crate::program::projected();
    check_refused(
        &repo,
        &["AGENTS.md"],
        "AGENTS.md: error: written by Cantus: its text is in notes [import.ours]",
    );
    check_refused(&repo, &["memory/rules.md"], "a note already");
    let output = cantus(&repo, &["import"]).exits(0);
    assert!(output.stdout.contains("AGENTS.md: written by Cantus"), "{}", output.stdout);
}

#[test]
fn what_cantus_wrote_without_a_notice_is_no_source_either() {
    let repo = Repo::new(crate::program::NOTES);
    repo.write("cantus.toml", "[projection]\nnotice = false\n");
    cantus(&repo, &["project"]).exits(0);
    check_refused(&repo, &["CLAUDE.md"], "written by Cantus");
    assert!(cantus(&repo, &["import"]).exits(0).stdout.contains("AGENTS.md: written by Cantus"));
    assert!(cantus(&repo, &["init", "--yes"]).exits(0).stdout.contains("Plan add to .gitattributes"));
    assert_eq!(cantus(&repo, &["init"]).exits(0).stdout, "  Everything is set up; nothing was changed\n");
}

#[test]
fn files_that_are_no_text_are_refused_and_nothing_is_written() {
    let repo = Repo::new("//- good.md\n## A\n");
    repo.write_bytes("bad.md", b"## A\ncaf\xe9\n");
    repo.write_bytes("zero.md", b"a\0b");
    check_refused(&repo, &["good.md", "bad.md"], "bad.md:2: error: not UTF-8: byte 8 starts no character");
    let wide: Vec<u8> = "\u{feff}# Wide\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(repo.path().join("wide.md"), wide).unwrap();
    check_refused(
        &repo,
        &["wide.md"],
        "not a text in UTF-8: it is UTF-16 [import.text]\n  help: save the file as UTF-8",
    );
    check_refused(&repo, &["zero.md"], "not a text: byte 1 is zero");
    check_refused(&repo, &["gone.md"], "there is no such file");
    check_refused(&repo, &["../gone.md"], "is not in the project");
    check_refused(&repo, &["."], "`.` is the whole project");
    // Found rather than named, it stops `init` just the same.
    repo.write_bytes("CLAUDE.md", b"caf\xe9");
    cantus(&repo, &["init", "--yes"]).exits(2);
    assert!(!repo.exists("memory"));
}

#[test]
fn huge_files_are_cut_or_refused() {
    let repo = Repo::new("");
    let section = "Some words that go on and on.\n".repeat(20_000);
    repo.write("AGENTS.md", &format!("## One\n\n{section}\n## Two\n\n{section}more\n"));
    // Everything is done, but a check that has to fail is no yes.
    let output = cantus(&repo, &["init", "--yes"]).exits(1);
    let told = "warning: `check` will fail: 1,202,443 bytes are 1,169,675 more than the 32,768";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    assert_eq!(output.stderr.matches("[budget.over]").count(), 1, "{}", output.stderr);
    assert!(output.stderr.contains("but `cantus check` fails until"), "{}", output.stderr);
    cantus(&repo, &["project", "--check"]).exits(0);
    cantus(&repo, &["check"]).exits(1);
    repo.write("big.md", &"x\n".repeat(700_000));
    check_refused(&repo, &["big.md"], "more than the 1048576 that one may have [import.size]");
    repo.write("bigger.md", &"x\n".repeat(9 << 20));
    check_refused(&repo, &["bigger.md"], "[import.size]");
}

#[test]
fn odd_markdown_comes_through() {
    for text in [
        "## A\n\n```sh\n## not a heading\n```\n\n## B\n",
        "## A\n\n```sh\n## never closed\n",
        "# One\n\na\n\n# Two\n\nb\n\n## Three\n",
        "No heading at all.\n\nNot one.\n",
        "---\ntitle: only front matter\n---\n",
        "---\n\nA rule first.\n\n---\n\nAnd last.\n",
        "## Claude\n\n## README\n\n## Con\n\n## Cantus\n\n## 日本語\n\n## Ελληνικά\n",
        "<!--\n# hidden\n-->\n\ntext\n",
        "## A\n\n[[wiki]] and ![[more|x]] and `[[code]]`\n",
        "intro\n\n<!-- only a comment -->\n",
        "## A ##\n\n### B ###\n\n###### C\n\nx\n",
        "## A\n\n<!-- never closed\n\n## in\n",
        "# AGENTS.md\n",
        "# A\n\n## B\n\n### C\n",
        "one line, no end",
        "a\rb\r## C\rd\r",
    ] {
        let repo = Repo::new("");
        repo.write("AGENTS.md", text);
        check_adopted(&repo);
        if !text.contains("front matter") && !text.contains("# AGENTS.md") {
            let marked = text.replace('\r', "\n").replace(" ##\n", "\n").replace(" ###\n", "\n");
            check_kept(&marked.replace("## in", "#### in"), &repo.read("AGENTS.md"));
        }
    }
}

#[test]
fn underlined_headings_are_cut_at() {
    let repo = Repo::new("//- AGENTS.md\nTitle\n=====\n\nPart\n----\n\ntext\n\nMore\n----\n\nx\n");
    check_adopted(&repo);
    assert_eq!(repo.read("cantus.toml"), "title = \"Title\"\n");
    let text = repo.read("AGENTS.md");
    assert!(text.contains("### Part (part)\n\ntext\n\n### More (more)\n\nx\n"), "{text}");
}

#[test]
fn what_no_note_may_hold_is_refused_with_its_place() {
    for (text, message) in [
        ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n", "AGENTS.md:2: error: a conflict marker, `<<<<<<<`"),
        ("a\n\nb\u{202e}c\n", "AGENTS.md:3: error: U+202E,"),
        ("\u{1b}[31m\n", "AGENTS.md:1: error: U+001B, a control character"),
    ] {
        let repo = Repo::new("");
        repo.write("AGENTS.md", text);
        for args in [&["import"][..], &["init", "--yes"]] {
            let output = cantus(&repo, args).exits(2);
            assert!(output.stderr.contains(message) && output.stderr.contains("help: "), "{}", output.stderr);
        }
        assert_eq!(repo.files(), ["AGENTS.md"]);
    }
}

#[test]
fn the_plan_says_what_two_files_have_in_common_and_not() {
    let repo = Repo::new(
        "//- AGENTS.md\n# Acme\n\n## Testing\n\nrun a\n//- CLAUDE.md\n# CLAUDE.md\n\n## Testing\n\nrun b\n\n@AGENTS.md\n",
    );
    let output = check_adopted(&repo);
    let told = "CLAUDE.md:3: note: `Testing` stands in AGENTS.md:3 too, with another text: both are kept, in \
                `memory/testing.md` and `memory/testing-claude.md` [import.differs]";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    assert!(output.stdout.contains("it only names the file"), "{}", output.stdout);
    assert!(output.stdout.contains("it only imports AGENTS.md"), "{}", output.stdout);
    // The plan is printed once, and no line is said to be lost of which there is a copy.
    assert_eq!(output.stdout.matches("memory/testing-claude.md").count(), 1, "{}", output.stdout);
    assert!(!output.stdout.contains("lost:"), "{}", output.stdout);
    let text = repo.read("AGENTS.md");
    assert!(!text.contains("@AGENTS.md") && !text.contains("(claude-md)"), "{text}");
}

#[test]
fn the_title_is_that_of_the_first_file() {
    let repo = Repo::new(
        "//- GEMINI.md\n# Gemini\n\ng\n//- CLAUDE.md\n# Claude's\n\nc\n//- AGENTS.md\n---\nowner: me\n---\nintro\n\n# Acme\n\n## A\n\nx\n",
    );
    check_adopted(&repo);
    assert!(repo.read("cantus.toml").starts_with("title = \"Acme\"\n"), "{}", repo.read("cantus.toml"));
    let text = repo.read("AGENTS.md");
    assert_eq!(text.matches("Acme").count(), 1, "{text}");
    assert!(text.contains("intro\n\n### A (a)\n"), "{text}");
}

#[test]
fn what_git_ignores_is_not_to_be_added() {
    let repo = Repo::new("//- AGENTS.md\n## A\n\nx\n//- .gitignore\n/AGENTS.md\n/projections/\n");
    let output = cantus(&repo, &["init", "--yes"]).exits(0);
    for name in ["AGENTS.md", "projections"] {
        assert!(output.stdout.contains(&format!("note: git ignores {name}: ")), "{}", output.stdout);
    }
    let add = output.stdout.lines().find_map(|line| line.split_once("next: git ")).unwrap().1;
    assert_eq!(add, "add memory CLAUDE.md .gitattributes");
    repo.git(&add.split(' ').collect::<Vec<_>>());
}

#[test]
fn init_json_has_the_plan_and_what_came_of_it() {
    let repo = Repo::new("//- AGENTS.md\n# Acme\n\n## A\n\nx\n");
    assert!(cantus(&repo, &["init", "--json"]).exits(2).stderr.contains("add `--yes` or `--dry-run`"));
    let report = |args: &[&str], code| -> Value {
        let output = cantus(&repo, &[&["init", "--json"], args].concat()).exits(code);
        assert_eq!(output.stderr, "");
        serde_json::from_str(&output.stdout).unwrap()
    };
    let planned = report(&["--dry-run"], 0);
    assert_eq!(
        (&planned["version"], &planned["outcome"], &planned["ok"]),
        (&1.into(), &"planned".into(), &true.into())
    );
    assert_eq!(repo.files(), ["AGENTS.md"]);
    let written = report(&["--yes"], 0);
    assert_eq!((&written["outcome"], &written["files"]), (&"written".into(), &planned["files"]));
    assert_eq!(written["files"][0]["notes"][0]["path"], "memory/a.md");
    assert_eq!(written["files"][0]["skipped"][0]["reason"], "title");
    assert_eq!(written["config"], "title = \"Acme\"\n");
    assert_eq!(written["standing_tokens_est"], 554);
    assert_eq!(written["overwritten"][0], "AGENTS.md");
    assert_eq!(written["backups"][0]["at"], "AGENTS.md.before-cantus");
    assert!(written["next"][1].as_str().unwrap().starts_with("git add memory "), "{written}");
    assert_eq!(report(&["--yes"], 0)["outcome"], "nothing");
    repo.write("cantus.toml", "nam = 1\n");
    assert_eq!(report(&["--yes"], 2)["outcome"], "broken");
}

#[test]
fn init_dry_run_is_the_plan_alone() {
    let repo = Repo::new("//- AGENTS.md\n## A\n\nx\n");
    let planned = cantus(&repo, &["init", "--dry-run"]).exits(0);
    assert_eq!((repo.files(), planned.stderr.as_str()), (vec!["AGENTS.md".to_owned()], ""));
    let written = cantus(&repo, &["init", "--yes"]).exits(0);
    assert!(written.stdout.starts_with(&planned.stdout), "{}", written.stdout);
}

#[test]
fn crlf_and_a_mark_come_through() {
    let repo =
        Repo::new("//- AGENTS.md crlf bom\n## A\n\nx\n\n## B\n\ny\n//- CLAUDE.md\n## A\n\nx\n\n## B\n\ny\n");
    repo.commit_all("by hand");
    let output = check_adopted(&repo);
    assert!(output.stdout.contains("the same as AGENTS.md:1"), "{}", output.stdout);
    let text = repo.read("AGENTS.md");
    assert!(text.contains("### A (a)\n\nx\n") && !text.contains(['\r', '\u{feff}']), "{text}");
    assert!(!repo.exists("AGENTS.md.before-cantus"));
}

#[test]
fn names_never_collide_with_notes_that_are_there() {
    let repo = Repo::new(
        "
        //- memory/Build.md
        ---
        type: core
        ---
        # Build

        Ours.
        //- memory/test/x.txt
        not a note
        //- AGENTS.md
        ## Build

        Theirs.

        ## Test

        x
        ",
    );
    let note = repo.read("memory/Build.md");
    check_adopted(&repo);
    assert_eq!(repo.read("memory/Build.md"), note);
    assert!(repo.read("memory/build-agents.md").ends_with("# Build\n\nTheirs.\n"));
    assert!(repo.exists("memory/test-agents.md"));
}

#[test]
fn files_with_blanks_and_accents_in_their_names() {
    let repo = Repo::new("");
    repo.write(
        ".cursor/rules/Näher dran.mdc",
        "---\ndescription: \"Près\"\nglobs: *.ts\nalwaysApply: false\n---\nx\n",
    );
    repo.write("notes of mine.md", "## A\n\ny\n");
    cantus(&repo, &["import", ".cursor/rules", "notes of mine.md"]).exits(0);
    let notes: Vec<_> = repo.files().into_iter().filter(|file| file.starts_with("memory/")).collect();
    assert_eq!(notes, ["memory/a.md", "memory/naher-dran.md"]);
    assert!(cantus(&repo, &["list"]).exits(0).stdout.contains("memory/naher-dran.md"));
}

#[test]
fn every_tool_s_files_are_found() {
    let repo = Repo::new(
        "
        //- .cursor/rules/always.mdc
        ---
        alwaysApply: true
        ---
        Cursor always.
        //- .github/copilot-instructions.md
        Copilot.
        //- .github/instructions/py.instructions.md
        ---
        applyTo: \"**/*.py\"
        ---
        Python.
        //- .windsurfrules
        Windsurf.
        //- .clinerules
        Cline.
        //- .ruler/AGENTS.md
        Ruler.
        //- .ruler/ruler.toml
        x = 1
        //- .rulesync/rules/root.md
        ---
        root: true
        targets: [\"*\"]
        ---
        Rulesync.
        //- packages/api/AGENTS.md
        Nested.
        //- node_modules/x/AGENTS.md
        Someone else's.
        ",
    );
    let output = check_adopted(&repo);
    let text = repo.read("AGENTS.md");
    for words in
        ["Cursor always.", "Copilot.", "Windsurf.", "Cline.", "Ruler.", "Rulesync.", "**`memory/py.md`**"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(!text.contains("Nested.") && !text.contains("Someone"), "{text}");
    for words in [
        ".ruler/ruler.toml: not Markdown",
        "packages/api/AGENTS.md: for its own folder",
        "next: delete .ruler/AGENTS.md, .rulesync/rules/root.md, and run that generator no more",
    ] {
        assert!(output.stdout.contains(words), "{words} in {}", output.stdout);
    }
}

#[test]
fn what_a_generator_made_of_its_rules_is_imported_once() {
    let repo = Repo::new(
        "
        //- .ruler/a.md
        ## A

        x
        //- AGENTS.md
        <!-- Source: .ruler/a.md -->

        ## A

        x
        ",
    );
    check_adopted(&repo);
    assert_eq!(repo.read("AGENTS.md").matches("### A (a").count(), 1);
}

#[test]
fn into_and_kind_and_a_folder_that_is_configured_but_not_there() {
    let repo = Repo::new("//- AGENTS.md\n## A\n\nAbout a.\n//- cantus.toml\nmemory = \"notes\"\n");
    cantus(&repo, &["import", "--kind", "reference"]).exits(0);
    assert_eq!(repo.read("notes/a.md"), "---\ntype: reference\n---\n\n# A\n\nAbout a.\n");
    let output = cantus(&repo, &["import", "--into", "docs/other", "AGENTS.md"]).exits(0);
    assert!(output.stdout.contains("set `memory = \"docs/other\"` in cantus.toml"), "{}", output.stdout);
    assert!(repo.exists("docs/other/a.md"));
    cantus(&repo, &["import", "--into", "../out"]).exits(2);
}

#[test]
fn a_folder_that_is_only_called_like_the_note_folder() {
    let repo = Repo::new("//- AGENTS.md\n## A\n\nx\n//- memory/design.md\nHow our allocator works.\n");
    let output = cantus(&repo, &["init", "--yes"]).exits(2);
    assert!(output.stderr.contains("name another: `memory = \"notes\"` in cantus.toml"), "{}", output.stderr);
    repo.write("cantus.toml", "memory = \"notes\"\n");
    check_adopted(&repo);
    assert!(repo.exists("notes/a.md") && !repo.exists("memory/a.md"));
}

#[test]
fn nothing_to_import_is_a_no() {
    let repo = Repo::new("//- README.md\nx\n");
    let output = cantus(&repo, &["import"]).exits(1);
    assert!(output.stdout.contains("Nothing to import; looked for AGENTS.md"), "{}", output.stdout);
}

#[test]
fn names_are_meant_from_the_working_folder() {
    let repo = Repo::new("//- packages/api/AGENTS.md\n## A\n\nx\n");
    let mut command = repo.command(CANTUS);
    let output =
        command.args(["import", "AGENTS.md"]).current_dir(repo.path().join("packages/api")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let note = repo.read("memory/api-agents.md");
    assert!(note.contains("description: \"A. Read it before you work in `packages/api/`.\"\n"), "{note}");
}

#[test]
fn one_text_for_two_folders_is_a_note_for_each() {
    let repo = Repo::new(
        "//- memory/z.md\n---\ntype: core\n---\n# Z\n\nz\n//- AGENTS.md\n# Style\n\nUse tabs.\n//- a/AGENTS.md\n# Style\n\nUse tabs.\n//- b/AGENTS.md\n# Style\n\nUse tabs.\n//- a/CLAUDE.md\n# Style\n\nUse tabs.\n",
    );
    let files = ["a/AGENTS.md", "a/CLAUDE.md", "b/AGENTS.md"];
    let said = cantus(&repo, &[&["import"], &files[..]].concat()).exits(0).stdout;
    assert_data_eq!(
        said,
        str![[r#"
a/AGENTS.md
  memory/a-agents.md  reference  lines 1-3  ~5 tokens
a/CLAUDE.md
  -    lines 1-3    the same as a/AGENTS.md:1
b/AGENTS.md
  memory/b-agents.md  reference  lines 1-3  ~5 tokens
     -------
       Wrote 2 notes from 3 files, ~10 tokens
        next: `cantus import AGENTS.md`: Cantus didn't write that either
        next: delete a/AGENTS.md, a/CLAUDE.md, b/AGENTS.md: agents would read that text twice

"#]]
    );
    let notes = ["memory/a-agents.md", "memory/b-agents.md"].map(|note| repo.read(note));
    assert!(notes[0].contains("in `a/`") && notes[1].contains("in `b/`"), "{notes:?}");
    let again =
        cantus(&repo, &["import", "a/AGENTS.md", "b/AGENTS.md", "AGENTS.md", "--dry-run"]).exits(0).stdout;
    assert_data_eq!(
        again,
        str![[r#"
a/AGENTS.md
  -    lines 1-3    memory/a-agents.md has this text already
b/AGENTS.md
  -    lines 1-3    memory/b-agents.md has this text already
AGENTS.md
  memory/style.md  core  lines 1-3  ~5 tokens  not the text of memory/b-agents.md
     -------
     Planned 1 note from 3 files, ~5 tokens; nothing was written
        next: read the notes, and commit AGENTS.md as they are, so that git keeps the old text
        next: `cantus project --force`, which overwrites AGENTS.md with the text of the notes
        next: delete a/AGENTS.md, b/AGENTS.md: agents would read that text twice

"#]]
    );
}

#[test]
fn what_no_agent_reads_is_no_source() {
    let repo = Repo::new("//- AGENTS.md\n## A\n\nx\n");
    check_adopted(&repo);
    check_refused(&repo, &["projections/lock.toml"], "written by Cantus");
    repo.write("cantus.toml", "title = \"x\"\n");
    check_refused(&repo, &["cantus.toml"], "a configuration, which has no text for agents");
}

#[test]
fn front_matter_of_a_rule_that_says_nothing_is_no_text() {
    for block in ["", "\n", "# globs: none\n"] {
        let repo = Repo::new(&format!("//- .cursor/rules/a.mdc\n---\n{block}---\n## A\n\nx\n"));
        cantus(&repo, &["import"]).exits(0);
        let notes: Vec<_> = repo.files().into_iter().filter(|path| path.starts_with("memory/")).collect();
        assert_eq!(notes, ["memory/a.md"], "{block:?}");
        assert!(repo.read("memory/a.md").ends_with("---\n\n## A\n\nx\n"), "{}", repo.read("memory/a.md"));
    }
}

#[test]
fn what_is_to_be_added_is_named_from_the_working_folder() {
    let repo = Repo::new("//- AGENTS.md\n## A\n\nx\n//- sub/deep/x\n");
    let output = repo
        .command(CANTUS)
        .args(["init", "--yes", "--no-home"])
        .current_dir(repo.path().join("sub/deep"))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("next: git add ../../memory ../../AGENTS.md "), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_in_small_letters_is_imported_too() {
    let repo = Repo::new("//- agents.md\n## A\n\nx\n//- Claude.md\n## B\n\ny\n");
    let said = cantus(&repo, &["init", "--yes"]).exits(0).stdout;
    check_kept("## A\n\nx\n", &repo.read("AGENTS.md"));
    check_kept("## B\n\ny\n", &repo.read("AGENTS.md"));
    assert!(said.contains("next: delete Claude.md, agents.md: agents would read that text twice"), "{said}");
}

/// The title that `init` is about to configure counts in what it foretells, to the byte.
#[test]
fn what_init_foretells_of_sizes_is_what_check_finds() {
    for title in ["P", "A much longer title than the usual one"] {
        let text = format!("# {title}\n\n## A\n\n{}", "All of it must be read.\n".repeat(1_500));
        let repo = Repo::new(&format!("//- AGENTS.md\n{text}"));
        let output = cantus(&repo, &["init", "--yes"]).exits(1);
        let told = output.stderr.matches("[budget.over]").count();
        assert_eq!(told, 1, "{}", output.stderr);
    }
}

#[test]
fn a_place_that_no_file_can_have_is_told_before_anything_is_done() {
    for (there, place) in [("AGENTS.md/x.md", "AGENTS.md"), ("projections", "projections/lock.toml")] {
        let repo = Repo::new(&format!("//- {there}\nx\n//- CLAUDE.md\n## A\n\nx\n"));
        let said = cantus(&repo, &["init", "--yes"]).exits(2).stderr;
        assert!(said.contains(place) && said.ends_with("help: nothing was done\n"), "{said}");
        assert!(!repo.exists("memory") && !repo.exists("cantus.toml"), "{:?}", repo.files());
    }
}

/// A project with two members: one has notes and a file that Cantus didn't write, the other such a file alone.
fn with_members() -> Repo {
    let repo = Repo::new(
        "//- cantus.toml\nmembers = [\"crates/*\"]\n//- memory/z.md\n---\ntype: core\n---\n# Z\n\nz\n//- crates/b/memory/b.md\n---\ntype: core\n---\n# B\n\nb\n//- crates/b/AGENTS.md\nhand b\n//- crates/a/AGENTS.md\n# A\n\nhand a\n\n## Sub\n\nx\n",
    );
    repo.commit_all("by hand");
    repo
}

#[test]
fn a_member_s_file_is_imported_into_its_own_notes() {
    let repo = with_members();
    let refused = cantus(&repo, &["project"]).exits(1).stdout;
    assert!(
        refused.contains("run `cantus import crates/b/AGENTS.md --into crates/b/memory`, and go on"),
        "{refused}"
    );
    let said = cantus(&repo, &["import", "crates/a/AGENTS.md", "--into", "crates/a/memory"]).exits(0).stdout;
    assert_data_eq!(
        said,
        str![[r#"
crates/a/AGENTS.md
  crates/a/memory/a.md    core  lines 1-3  ~3 tokens
  crates/a/memory/sub.md  core  lines 5-7  ~3 tokens
     -------
       Wrote 2 notes from 1 file, ~6 tokens
        next: `cantus import crates/b/AGENTS.md --into crates/b/memory`: Cantus didn't write that either

"#]]
    );
    let said = cantus(&repo, &["import", "crates/b/AGENTS.md", "--into", "crates/b/memory"]).exits(0).stdout;
    assert_data_eq!(
        said,
        str![[r#"
crates/b/AGENTS.md
  crates/b/memory/b-agents.md  core  line 1  ~2 tokens
     -------
       Wrote 1 note from 1 file, ~2 tokens
        next: `cantus import crates/a/AGENTS.md --into crates/a/memory`: Cantus didn't write that either

"#]]
    );
    assert!(
        !repo.read("crates/a/memory/a.md").contains("For work in"),
        "{}",
        repo.read("crates/a/memory/a.md")
    );
    cantus(&repo, &["project", "--force"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    check_kept("# A\n\nhand a\n\n## Sub\n\nx\n", &repo.read("crates/a/AGENTS.md"));
    assert!(repo.read("crates/b/AGENTS.md").contains("hand b"));
}

#[test]
fn init_leaves_a_member_s_file_to_its_member() {
    let repo = with_members();
    let said = cantus(&repo, &["init", "--yes"]).exits(1).stdout;
    assert!(said.contains("cantus import crates/b/AGENTS.md --into crates/b/memory"), "{said}");
    assert_eq!(repo.read("crates/b/AGENTS.md"), "hand b\n");
    assert!(!repo.exists("memory/b-agents.md"));
}

#[test]
fn a_folder_of_notes_below_another_folder_could_be_a_member_s() {
    let repo = Repo::new("//- memory/z.md\n---\ntype: core\n---\n# Z\n\nz\n//- api/AGENTS.md\n# A\n\nx\n");
    let said = cantus(&repo, &["import", "api/AGENTS.md", "--into", "api/memory"]).exits(0).stdout;
    assert!(said.contains("next: add \"api\" to `members` in cantus.toml"), "{said}");
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    #[track_caller]
    fn link(repo: &Repo, target: &str, name: &str) {
        if let Err(error) = symlink(target, repo.path().join(name)) {
            panic!("`{name}`: {error}");
        }
    }

    #[test]
    fn a_link_to_the_other_file_is_one_file_and_becomes_a_copy() {
        let repo = Repo::new("//- AGENTS.md\n## A\n\nx\n");
        link(&repo, "AGENTS.md", "CLAUDE.md");
        repo.commit_all("by hand");
        let output = check_adopted(&repo);
        assert!(output.stdout.contains("CLAUDE.md: the same file as AGENTS.md"), "{}", output.stdout);
        assert!(output.stdout.contains("in the place of the symlink CLAUDE.md"), "{}", output.stdout);
        assert!(fs::symlink_metadata(repo.path().join("CLAUDE.md")).unwrap().is_file());
    }

    #[test]
    fn a_link_into_the_project_is_read_and_replaced() {
        let repo = Repo::new("//- docs/agents.md\n## A\n\nx\n");
        link(&repo, "docs/agents.md", "AGENTS.md");
        check_adopted(&repo);
        assert_eq!(repo.read("docs/agents.md"), "## A\n\nx\n");
        assert!(repo.read("AGENTS.md").contains("### A (a)"));
    }

    /// Adopts a repository whose one text lies in `real` and which has these links; each target is a file of its own then.
    #[track_caller]
    fn check_linked(real: &str, links: &[(&str, &str)]) {
        for in_git in [true, false] {
            let repo = Repo::new(&format!("//- {real}\n## A\n\nx\n"));
            for (target, name) in links {
                link(&repo, target, name);
            }
            if in_git {
                repo.commit_all("by hand");
            }
            check_adopted(&repo);
            for name in ["AGENTS.md", "CLAUDE.md"] {
                let metadata = fs::symlink_metadata(repo.path().join(name));
                assert!(metadata.is_ok_and(|metadata| metadata.is_file()), "{name}");
                check_kept("## A\n\nx\n", &repo.read(name));
            }
            let copies = repo.files().into_iter().filter(|path| path.contains(".before-cantus")).count();
            // Only a target is overwritten.
            assert_eq!(copies, usize::from(!in_git && real == "CLAUDE.md"));
        }
    }

    #[test]
    fn whichever_name_the_real_file_has_all_of_them_become_files() {
        check_linked("CLAUDE.md", &[("CLAUDE.md", "AGENTS.md")]);
        check_linked("CLAUDE.md", &[("CLAUDE.md", "AGENTS.md"), ("CLAUDE.md", "GEMINI.md")]);
        check_linked("docs/agents.md", &[("docs/agents.md", "AGENTS.md"), ("docs/agents.md", "CLAUDE.md")]);
        check_linked(
            ".github/copilot-instructions.md",
            &[(".github/copilot-instructions.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")],
        );
        check_linked("docs/agents.md", &[("docs/agents.md", "CLAUDE.md"), ("CLAUDE.md", "AGENTS.md")]);
    }

    #[test]
    fn a_link_to_a_folder_of_rules_is_that_folder() {
        let repo = Repo::new("//- rules/c.mdc\n---\nalwaysApply: true\n---\n## A\n\nx\n//- .cursor/keep\n");
        link(&repo, "../rules", ".cursor/rules");
        let said = cantus(&repo, &["init", "--yes"]).exits(0).stdout;
        assert!(said.contains(".cursor/rules/c.mdc"), "{said}");
        check_kept("## A\n\nx\n", &repo.read("AGENTS.md"));
    }

    #[test]
    fn links_that_lead_nowhere_round_or_out_are_refused() {
        let repo = Repo::new("//- x.md\nx\n");
        link(&repo, "AGENTS.md", "CLAUDE.md");
        link(&repo, "CLAUDE.md", "AGENTS.md");
        link(&repo, "gone.md", "dangling.md");
        link(&repo, "/etc/hostname", "out.md");
        check_refused(&repo, &["AGENTS.md"], "a symlink that cannot be followed");
        check_refused(&repo, &["dangling.md"], "a symlink that cannot be followed");
        check_refused(&repo, &["out.md"], "a symlink out of the project");
        cantus(&repo, &["init", "--yes"]).exits(2);
        assert!(!repo.exists("memory"));
    }

    #[test]
    fn a_linked_note_folder_is_written_where_it_lies() {
        let repo = Repo::new("//- docs/notes/keep.txt\nx\n//- AGENTS.md\n## A\n\nx\n");
        link(&repo, "docs/notes", "memory");
        check_adopted(&repo);
        assert!(repo.exists("docs/notes/a.md"));
    }
}
