//! What the reading verbs print, the options that every verb knows, and exit codes.

use std::process::Stdio;

use cantus_testkit::Repo;
use serde_json::Value;
use snapbox::data::Inline;
use snapbox::{assert_data_eq, str};

use crate::program::{CANTUS, NOTES, cantus, replace};

/// A package with a section for each overlay, and notes of each kind.
const PROJECT: &str = "
    //- cantus.toml
    name = \"acme\"
    package = \"house\"
    //- house/package.toml
    name = \"house\"
    version = \"1\"
    //- house/contract.md
    # House

    Of {{ project }}.

    ## Rules
    Be brief.

    ## Root only {#only .root}
    For roots.

    ## Declaration {#root.final_declaration .root .required}
    Declare.
    //- house/frame.md
    ## Core {#core}

    All of it.

    ## Reference {#reference}

    On demand.

    ## Webs {#webs}

    By keyword.

    //- house/helper.md
    # Helper

    Help.
    //- house/providers/claude.md
    # Claude

    Turn by turn.
    //- memory/rules.md
    ---
    type: core
    ---
    # Rules

    Be kind.
    //- memory/release.md
    ---
    type: reference
    description: How to release.
    ---
    # Release
    //- memory/terms.md
    ---
    web: true
    ---
    # Terms
    //- memory/terms/note.md
    A file.
    //- memory/terms/section.md
    A part.
    ";

/// What `cantus` with these arguments prints on stdout in [`PROJECT`], and nothing on stderr.
#[track_caller]
fn check(args: &[&str], expected: Inline) {
    let output = cantus(&Repo::new(PROJECT), args).exits(0);
    assert_eq!(output.stderr, "");
    assert_data_eq!(output.stdout, expected);
}

/// What `cantus` with these arguments says on stderr before it ends with 2, with nothing on stdout.
#[track_caller]
fn check_error(args: &[&str], expected: Inline) {
    let output = cantus(&Repo::new(PROJECT), args).exits(2);
    assert_eq!(output.stdout, "");
    assert_data_eq!(output.stderr, expected);
}

/// What a render for these facts leaves out for its reader, and what it holds of the sections that depend on him.
#[track_caller]
fn check_overlay(facts: &str, included: &[&str], excluded: &[(&str, &str)]) {
    let all = sections(&["-f", facts]);
    let of_overlay = |id: &str| {
        ["pkg.house.only", "pkg.root", "pkg.helper", "pkg.provider"].iter().any(|p| id.starts_with(p))
    };
    let found: Vec<_> =
        all.iter().filter(|row| row["status"] == "included").map(|row| text(row, "id")).collect();
    assert_eq!(found.iter().filter(|id| of_overlay(id)).copied().collect::<Vec<_>>(), included);
    let left_out: Vec<_> = all
        .iter()
        .filter(|row| row["status"] == "excluded")
        .map(|row| (text(row, "id"), text(row, "reason")))
        .collect();
    assert_eq!(left_out, excluded);
}

/// The rows of `render --sections --json`.
#[track_caller]
fn sections(args: &[&str]) -> Vec<Value> {
    let output = cantus(&Repo::new(PROJECT), &[&["render", "-q", "-s", "--json"], args].concat()).exits(0);
    let table = json(&output.stdout);
    assert_eq!(table["version"], 1);
    table["sections"].as_array().expect("rows").clone()
}

#[track_caller]
fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[track_caller]
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().expect("a text")
}

/// The digests that the summary line of a render names: its own, and the common one.
#[track_caller]
fn digests(facts: &str) -> (String, String) {
    let output = cantus(&Repo::new(PROJECT), &["render", "-f", facts]).exits(0);
    let mut words = output.stderr.split(' ').skip(1).map(str::to_owned);
    (words.next().expect("a digest"), words.next().expect("a digest"))
}

#[test]
fn render_prints_the_bundle_alone_on_stdout() {
    check(
        &["render", "-q"],
        str![[r#"
# acme - Agent Instructions

## Core

All of it.

### House (house)

Of acme.

#### Rules
Be brief.

#### Root only
For roots.

#### Declaration
Declare.

### Rules (rules)

Be kind.

## Reference

On demand.

**`memory/release.md`** - How to release.

## Webs

By keyword.

### Terms (terms)

**STRANDS:** Note; Section


"#]],
    );
}

#[test]
fn render_prints_one_summary_line_on_stderr() {
    let output = cantus(&Repo::new(PROJECT), &["render"]).exits(0);
    assert_data_eq!(
        output.stderr.as_str(),
        str![[r#"
render [..] common=[..] sections=[..] bytes=[..] tokens_est=[..] cache=miss [..]ms

"#]]
    );
    assert!(output.stderr.contains(&format!(" bytes={} ", output.stdout.len())), "{}", output.stderr);
}

#[test]
fn render_writes_nothing() {
    let repo = Repo::new(PROJECT);
    let before = repo.files();
    for args in [&["render"][..], &["render", "-s"], &["list"], &["completions", "bash"]] {
        cantus(&repo, args).exits(0);
    }
    assert_eq!(repo.files(), before);
}

#[test]
fn sections_are_a_table() {
    check(
        &["render", "-q", "-s"],
        str![[r#"
frame.title                 29   8  ff3dc903cfd0
frame.core                  21   6  bb9eda5dc73c  package:frame.md
pkg.house.heading           29   8  a5d421e2b887  package:contract.md
pkg.house.rules             22   6  3159ff68e9fc  package:contract.md
pkg.house.only              27   7  67c3432818b6  package:contract.md
pkg.root.final_declaration  27   7  042607861610  package:contract.md
proj.core.rules             29   8  70b2841c5d2f  memory/rules.md
frame.reference             26   7  29d159c72b5a  package:frame.md
proj.ref.release            43  11  17f10bab4452  memory/release.md
frame.webs                  22   6  d4977553e638  package:frame.md
proj.web.terms              47  12  2d13a25922f0  memory/terms.md
pkg.helper.contract              0                excluded: overlay
pkg.provider.native              0                excluded: no_directive

"#]],
    );
}

#[test]
fn sections_are_the_bundle_cut_up() {
    let bundle = cantus(&Repo::new(PROJECT), &["render", "-q"]).exits(0).stdout;
    let rows = sections(&[]);
    let mut end = 0;
    for row in rows.iter().filter(|row| row["status"] == "included") {
        assert_eq!(row["offset"], end, "{row}");
        end += row["bytes"].as_u64().expect("a number");
    }
    assert_eq!(usize::try_from(end), Ok(bundle.len()));
}

#[test]
fn a_root_of_no_provider_gets_the_root_s_sections() {
    let excluded = [("pkg.helper.contract", "overlay"), ("pkg.provider.native", "no_directive")];
    check_overlay("actor=sase_root", &["pkg.house.only", "pkg.root.final_declaration"], &excluded);
    check_overlay("mode=runtime", &["pkg.house.only", "pkg.root.final_declaration"], &excluded);
}

#[test]
fn a_provider_s_root_gets_its_directive_too() {
    let included = ["pkg.house.only", "pkg.root.final_declaration", "pkg.provider.claude"];
    check_overlay("provider=claude", &included, &[("pkg.helper.contract", "overlay")]);
}

#[test]
fn a_provider_that_the_package_does_not_know_has_no_directive() {
    let excluded = [("pkg.helper.contract", "overlay"), ("pkg.provider.other", "no_directive")];
    check_overlay("provider=other", &["pkg.house.only", "pkg.root.final_declaration"], &excluded);
}

#[test]
fn a_helper_gets_the_helper_s_contract_alone() {
    let excluded = [
        ("pkg.house.only", "overlay"),
        ("pkg.provider.claude", "overlay"),
        ("pkg.root.final_declaration", "overlay"),
    ];
    check_overlay("actor=native_helper,provider=claude", &["pkg.helper.contract"], &excluded);
}

#[test]
fn interactive_and_export_get_no_overlay() {
    let excluded = |reason| {
        [
            ("pkg.helper.contract", reason),
            ("pkg.house.only", reason),
            ("pkg.provider.claude", reason),
            ("pkg.root.final_declaration", reason),
        ]
    };
    for facts in ["mode=interactive", "actor=interactive", "mode=export", "actor=interactive,mode=export"] {
        check_overlay(&format!("provider=claude,{facts}"), &[], &excluded("mode"));
    }
}

#[test]
fn root_renders_share_the_common_digest() {
    let (native, common) = digests("provider=native");
    for facts in ["provider=claude", "provider=other"] {
        assert_eq!(digests(facts).1, common, "{facts}");
    }
    assert_ne!(digests("provider=claude").0, native);
    assert_eq!(digests("provider=other").0, native);
}

#[test]
fn other_readers_have_another_common_digest() {
    let common = digests("provider=claude").1;
    for facts in ["actor=native_helper", "mode=interactive", "mode=export"] {
        assert_ne!(digests(facts).1, common, "{facts}");
    }
}

#[test]
fn purpose_host_and_vcs_never_change_bytes() {
    let before = digests("provider=claude");
    for facts in ["purpose=conflict_repair", "purpose=declaration_recovery", "host=h", "vcs=jj"] {
        assert_eq!(digests(&format!("provider=claude,{facts}")), before, "{facts}");
    }
}

#[test]
fn the_project_s_name_can_be_given() {
    let render = |facts| cantus(&Repo::new(PROJECT), &["render", "-q", "-f", facts]).exits(0).stdout;
    assert!(render("purpose=ordinary").contains("\nOf acme.\n"));
    assert!(render("project=other").contains("\nOf other.\n"));
    assert!(render("project=").contains("\nOf .\n"));
}

#[test]
fn facts_add_up() {
    let repo = Repo::new(PROJECT);
    let one = cantus(&repo, &["render", "-q", "-f", "actor=native_helper,provider=claude"]).exits(0);
    let two = cantus(&repo, &["render", "-q", "-f", "actor=native_helper", "--fact", " provider = claude "]);
    assert_eq!(one, two);
}

#[test]
fn wrong_facts_name_the_valid_ones() {
    check_error(
        &["render", "-f", "actor=root"],
        str![[r#"
error: invalid fact actor=`root`
  help: valid values: sase_root, native_helper, interactive

"#]],
    );
    check_error(
        &["render", "-f", "mode=batch"],
        str![[r#"
error: invalid fact mode=`batch`
  help: valid values: runtime, interactive, export

"#]],
    );
    check_error(
        &["render", "-f", "purpose=fun"],
        str![[r#"
error: invalid fact purpose=`fun`
  help: valid values: ordinary, declaration_recovery, conflict_repair

"#]],
    );
    check_error(
        &["render", "-f", "provider=9"],
        str![[r#"
error: invalid fact provider: `9` is not a provider: expected a letter, then letters, digits, `_` and `-`

"#]],
    );
    check_error(
        &["render", "-f", "model=x"],
        str![[r#"
error: unknown fact `model`
  help: keys: actor, mode, purpose, provider, project, host, vcs

"#]],
    );
    check_error(
        &["render", "-f", "claude"],
        str![[r#"
error: `claude` is not a fact: expected KEY=VALUE
  help: keys: actor, mode, purpose, provider, project, host, vcs

"#]],
    );
}

#[test]
fn facts_that_conflict_are_refused() {
    check_error(
        &["render", "-f", "mode=export,actor=sase_root"],
        str![[r#"
error: conflicting facts: no actor `sase_root` in mode `export`
  help: mode runtime goes with actor sase_root or native_helper; the other modes with actor interactive

"#]],
    );
    check_error(
        &["render", "-f", "mode=runtime,actor=interactive"],
        str![[r#"
error: conflicting facts: no actor `interactive` in mode `runtime`
  help: mode runtime goes with actor sase_root or native_helper; the other modes with actor interactive

"#]],
    );
    check_error(
        &["render", "-f", "provider=a", "-f", "provider=b"],
        str![[r#"
error: conflicting facts: `provider` is given twice

"#]],
    );
}

#[test]
fn list_names_notes_by_kind() {
    check(
        &["list"],
        str![[r#"
core (1 note, ~8 tokens)
  memory/rules.md  8
reference (1 note, ~11 tokens)
  memory/release.md  11
web (1 note, ~12 tokens)
  memory/terms.md  12  2 strands

"#]],
    );
}

#[test]
fn list_as_json_has_a_version_and_every_note() {
    check(
        &["list", "--json"],
        str![[r#"
{
  "version": 1,
  "notes": [
    {
      "kind": "core",
      "path": "memory/rules.md",
      "section": "proj.core.rules",
      "status": "included",
      "through": null,
      "bytes": 29,
      "tokens_est": 8,
      "strands": 0
    },
    {
      "kind": "reference",
      "path": "memory/release.md",
      "section": "proj.ref.release",
      "status": "included",
      "through": null,
      "bytes": 43,
      "tokens_est": 11,
      "strands": 0
    },
    {
      "kind": "web",
      "path": "memory/terms.md",
      "section": "proj.web.terms",
      "status": "included",
      "through": null,
      "bytes": 47,
      "tokens_est": 12,
      "strands": 2
    }
  ]
}

"#]],
    );
}

#[test]
fn list_of_nothing() {
    let output = cantus(&Repo::new("//- cantus.toml\n"), &["list"]).exits(0);
    assert_data_eq!(
        output.stdout,
        str![[r#"
no notes

"#]]
    );
}

/// Sources that can't be composed.
const BROKEN: &str = "//- memory/a.md\n---\ntype: core\nprioriti: 1\n---\nText.\n";

/// What a verb with `--json` prints of [`BROKEN`].
#[track_caller]
fn check_broken(args: &[&str]) {
    let output = cantus(&Repo::new(BROKEN), args).exits(2);
    assert_eq!(output.stderr, "");
    assert_data_eq!(
        output.stdout,
        str![[r#"
{
  "version": 1,
  "outcome": "broken",
  "ok": false,
  "findings": [
    {
      "code": "note.key",
      "severity": "error",
      "path": "memory/a.md",
      "line": 3,
      "message": "unknown key `prioriti`",
      "help": "did you mean `priority`?"
    }
  ]
}

"#]]
    );
}

#[test]
fn findings_of_broken_sources_are_json_too() {
    check_broken(&["check", "--json"]);
    check_broken(&["project", "--json"]);
    check_broken(&["project", "--check", "--json"]);
}

#[test]
fn check_as_json_tells_drift_and_then_none() {
    let repo = Repo::new(NOTES);
    let answer = json(&cantus(&repo, &["check", "--json"]).exits(1).stdout);
    assert_eq!((&answer["version"], &answer["ok"]), (&1.into(), &false.into()));
    assert!(!answer["findings"].as_array().expect("findings").is_empty());
    cantus(&repo, &["project"]).exits(0);
    let answer = json(&cantus(&repo, &["check", "--json"]).exits(0).stdout);
    assert_eq!(answer["ok"], true);
    let severities =
        answer["findings"].as_array().expect("findings").iter().map(|finding| &finding["severity"]);
    assert!(severities.into_iter().all(|severity| severity == "note"), "{answer}");
}

#[test]
fn check_is_for_people_and_quiet_when_asked() {
    let repo = Repo::new(NOTES);
    cantus(&repo, &["project", "-q"]).exits(0);
    let output = cantus(&repo, &["check"]).exits(0);
    assert_data_eq!(
        output.stdout,
        str![[r#"
      Passed 0 errors, 0 warnings, 0 notes
             11 sections, 2,512 bytes, ~632 tokens, common digest c3bc4bb821f6

"#]]
    );
    let output = cantus(&repo, &["check", "-q"]).exits(0);
    assert_eq!((output.stdout, output.stderr), (String::new(), String::new()));
}

#[test]
fn a_quiet_check_tells_warnings_only_if_it_fails() {
    let repo = Repo::new(NOTES);
    replace(&repo, "memory/rules.md", "Be kind.", "See @docs/x.md.");
    cantus(&repo, &["project", "-q"]).exits(0);
    let said = |args: &[&str], status| {
        let output = cantus(&repo, &[&["check"], args].concat()).exits(status);
        assert_eq!(output.stderr, "");
        output.stdout
    };
    assert!(said(&[], 0).contains(": warning: "));
    for format in ["human", "github"] {
        assert_eq!(said(&["-q", "--format", format], 0), "", "{format}");
    }
    assert!(said(&["-q", "--json"], 0).contains("note.import"));
    let strict = said(&["-q", "--strict"], 1);
    assert!(strict.contains(": error: ") && strict.contains("[note.import]"), "{strict}");
    replace(&repo, "AGENTS.md", "Be brief.", "Be long.");
    let failed = said(&["-q"], 1);
    assert!(failed.contains("[drift.edited]") && failed.contains(": warning: "), "{failed}");
}

#[test]
fn version_is_the_program_s_own() {
    let output = cantus(&Repo::without_git(""), &["--version"]).exits(0);
    let own = format!("cantus {}", env!("CARGO_PKG_VERSION"));
    assert!(output.stdout.strip_prefix(&own).is_some_and(|rest| rest == "\n" || rest.starts_with(" (")));
    assert_eq!(output.stderr, "");
}

#[test]
fn help_is_for_every_verb_and_on_stdout() {
    let repo = Repo::without_git("");
    let help = cantus(&repo, &["--help"]).exits(0);
    for verb in ["project", "check", "render", "list", "completions"] {
        assert!(help.stdout.contains(&format!("\n  {verb} ")), "{}", help.stdout);
        let own = cantus(&repo, &[verb, "--help"]).exits(0);
        assert!(own.stdout.contains(&format!("Usage: cantus {verb}")), "{}", own.stdout);
        assert_eq!(own.stderr, "");
    }
}

#[test]
fn completions_for_every_shell_name_the_verbs() {
    let repo = Repo::without_git("");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = cantus(&repo, &["completions", shell]).exits(0).stdout;
        assert!(script.contains("project") && script.contains("completions"), "{shell}");
    }
    let output = cantus(&repo, &["completions", "cmd"]).exits(2);
    assert!(output.stderr.contains("bash, elvish, fish, powershell, zsh"), "{}", output.stderr);
}

#[cfg(unix)]
#[test]
fn completions_for_bash_are_bash() {
    let repo = Repo::without_git("");
    repo.write("cantus.bash", &cantus(&repo, &["completions", "bash"]).exits(0).stdout);
    repo.run("bash", &["-n", "cantus.bash"]).exits(0);
}

/// Whether stdout of `list` is coloured with these arguments and this environment.
#[track_caller]
fn is_coloured(args: &[&str], environment: &[(&str, &str)]) -> bool {
    let repo = Repo::new(NOTES);
    let mut command = repo.command(CANTUS);
    let output = command.arg("list").args(args).envs(environment.iter().copied()).output();
    let output = output.expect("the program");
    assert!(output.status.success());
    output.stdout.contains(&b'\x1b')
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    assert!(!is_coloured(&[], &[]));
    assert!(!is_coloured(&["--color", "auto"], &[("TERM", "xterm-256color")]));
    assert!(!is_coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(is_coloured(&["--color", "always"], &[]));
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn no_color_is_heeded_unless_colour_is_asked_for() {
    assert!(!is_coloured(&[], &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
    assert!(is_coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
}

#[test]
fn errors_are_coloured_when_asked_for() {
    let output = cantus(&Repo::new(BROKEN), &["list", "--color", "always"]).exits(2);
    assert!(output.stderr.contains("\x1b["), "{}", output.stderr);
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let repo = Repo::new(PROJECT);
    // Far more than a pipe holds, so that writing must fail.
    repo.write("memory/long.md", &format!("---\ntype: core\n---\n{}", "A line of text.\n".repeat(60_000)));
    for args in [&["render"][..], &["completions", "bash"], &["project"], &["list", "--json"], &["--help"]] {
        check_unread(&repo, args, 0);
    }
}

/// Runs the program with nobody at the other end of its standard output: the exit code, and nothing else, tells.
#[track_caller]
fn check_unread(repo: &Repo, args: &[&str], status: i32) {
    let mut child = repo.command(CANTUS);
    let child = child.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("the program");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(status), ""));
}

#[test]
fn a_reader_that_goes_away_does_not_make_drift_green() {
    let repo = Repo::new(PROJECT);
    repo.run(CANTUS, &["project"]).exits(0);
    // One report that fits into a buffer, and one that doesn't.
    for text in ["short\n".to_owned(), "A line of text.\n".repeat(2_000)] {
        repo.write("memory/more.md", &format!("---\ntype: core\n---\n{text}"));
        for args in
            [&["check"][..], &["check", "--json"], &["project", "--check"], &["project", "--check", "--json"]]
        {
            check_unread(&repo, args, 1);
        }
    }
}

#[test]
fn wrong_usage_ends_with_2() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["project", "--nonsense"],
        &["project", "--only"],
        &["list", "x"],
        &["list", "--color", "sometimes"],
        &["completions"],
    ] {
        let output = cantus(&Repo::new(PROJECT), args).exits(2);
        assert_eq!(output.stdout, "", "{args:?}");
        assert!(output.stderr.contains("Usage: ") || output.stderr.contains("--help"), "{}", output.stderr);
    }
}

#[test]
fn a_package_can_be_given_from_anywhere() {
    let repo = Repo::new(NOTES);
    let package = repo.home().join("house");
    std::fs::create_dir(&package).expect("a folder");
    std::fs::write(package.join("package.toml"), "name = \"away\"\nversion = \"1\"\n").expect("a file");
    std::fs::write(package.join("contract.md"), "# Away\n\nFrom afar.\n").expect("a file");
    for package in ["../home/house", package.to_str().expect("UTF-8")] {
        let text = cantus(&repo, &["render", "-q", "--package", package]).exits(0).stdout;
        assert!(text.contains("\n### Away (away)\n\nFrom afar.\n"), "{text}");
    }
}

#[test]
fn a_package_that_is_given_replaces_the_configured_one() {
    let repo = Repo::new(PROJECT);
    repo.write("other/package.toml", "name = \"other\"\nversion = \"1\"\n");
    repo.write("other/contract.md", "# Other\n");
    let text = cantus(&repo, &["render", "-q", "--package", "other"]).exits(0).stdout;
    assert!(text.contains("\n### Other (other)\n") && !text.contains("House"), "{text}");
}

#[test]
fn a_package_that_is_given_and_faulty_is_refused() {
    check_error(
        &["render", "--package", "nowhere"],
        str![[r#"
nowhere: error: not a folder [package]

"#]],
    );
    check_error(
        &["render", "--package", "memory"],
        str![[r#"
memory/contract.md: error: a package needs this file [package]
memory/package.toml: error: a package needs this file, with `name` and `version` [package]

"#]],
    );
}

#[test]
fn strict_makes_warnings_errors() {
    let repo = Repo::new(NOTES);
    repo.write("memory/X.MD", "not read\n");
    cantus(&repo, &["render"]).exits(0);
    for args in [&["render"][..], &["list"], &["project"], &["project", "--check"]] {
        let output = cantus(&repo, &[args, &["--strict"]].concat()).exits(2);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.starts_with("memory/X.MD: error: not read: "), "{}", output.stderr);
    }
    assert!(!repo.exists("AGENTS.md"));
    for args in [&["list", "--json"][..], &["project", "--json"]] {
        let output = cantus(&repo, &[args, &["--strict"]].concat()).exits(2);
        assert!(output.stdout.contains("\"outcome\": \"broken\""), "{}", output.stdout);
    }
    cantus(&repo, &["project"]).exits(0);
    let output = cantus(&repo, &["check", "--strict"]).exits(1);
    assert!(output.stdout.starts_with("memory/X.MD: error: not read: "), "{}", output.stdout);
    assert!(output.stdout.contains("Failed 1 error, 0 warnings"), "{}", output.stdout);
}

/// A note whose text would colour, ring, retitle and overwrite.
const HOSTILE: &str = "R \u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}31m \u{8} \u{202e}";

#[test]
fn a_bundle_is_printed_byte_for_byte() {
    let repo = Repo::new(PROJECT);
    repo.write("memory/hostile.md", &format!("---\ntype: core\n---\n{HOSTILE}\n"));
    repo.run(CANTUS, &["project"]).exits(0);
    let bundle = repo.run(CANTUS, &["render"]).exits(0).stdout;
    assert!(bundle.contains(HOSTILE), "{bundle:?}");
    assert!(repo.read("AGENTS.md").contains(bundle.trim_end()), "{bundle:?}");
}

#[test]
fn no_control_character_reaches_a_report() {
    let repo = Repo::new(PROJECT);
    repo.run(CANTUS, &["project"]).exits(0);
    repo.write("memory/hostile.md", &format!("---\ntype: core\n---\n{HOSTILE}\n"));
    repo.write("AGENTS.md", &repo.read("AGENTS.md").replace("# ", &format!("{HOSTILE} ")));
    repo.write("memory/bad\u{1b}[31m.md", "no front matter\n");
    let reports = || {
        for args in [&["check"][..], &["project", "--check"], &["list"], &["render", "--sections"]] {
            let output = repo.run(CANTUS, &[args, &["--color", "always"]].concat());
            for text in [output.stdout, output.stderr] {
                // Our own colours aside.
                let plain =
                    text.split("\u{1b}[").map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
                let plain: String = plain.collect();
                let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
                assert!(!plain.contains(bad), "{args:?}: {plain:?}");
                assert!(!text.contains("\u{1b}[31mred"), "{args:?}: {text:?}");
            }
        }
    };
    reports();
    repo.remove("memory/bad\u{1b}[31m.md");
    reports();
    let output = repo.run(CANTUS, &["project", "--check"]).exits(1);
    assert!(output.stdout.contains("R \\u{1b}[31mred"), "{}", output.stdout);
}
