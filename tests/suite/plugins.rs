//! Notes that dependencies ship: real crates in real workspaces, asked of real cargo, without network.

use cantus_testkit::{Output, Repo};
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::program::{CANTUS, CARGO, replace, with_cargo};

/// A workspace whose one member depends on `acme-rules`, which ships notes of every kind, and on `acme-style`.
const WORKSPACE: &str = "
    //- Cargo.toml
    [package]
    name = \"app\"
    version = \"0.1.0\"
    edition = \"2021\"

    [dependencies]
    acme-rules = { path = \"vendor/acme-rules\" }
    acme-style = { path = \"vendor/acme-style\" }
    plain = { path = \"vendor/plain\" }

    [workspace]
    exclude = [\"vendor\"]
    //- src/lib.rs
    //- memory/own.md
    ---
    type: core
    ---
    # Own

    Of the project.
    //- memory/errors.md
    ---
    type: reference
    description: The project's errors.
    ---
    # Errors
    //- vendor/acme-rules/Cargo.toml
    [package]
    name = \"acme-rules\"
    version = \"1.2.0\"
    edition = \"2021\"

    [package.metadata.cantus]
    notes = \"agents\"
    //- vendor/acme-rules/src/lib.rs
    //- vendor/acme-rules/agents/errors.md
    ---
    type: reference
    description: How errors are made.
    ---
    # Errors
    //- vendor/acme-rules/agents/rules.md
    ---
    type: core
    description: What always holds.
    ---
    # Rules

    Never panic.
    Never block.
    //- vendor/acme-rules/agents/terms.md
    ---
    web: true
    ---
    # Terms
    //- vendor/acme-rules/agents/terms/span.md
    ---
    keyword: Span
    ---
    A stretch of text.
    //- vendor/acme-style/Cargo.toml
    [package]
    name = \"acme-style\"
    version = \"0.3.1\"
    edition = \"2021\"

    [package.metadata.cantus]
    notes = \"docs/notes\"
    //- vendor/acme-style/src/lib.rs
    //- vendor/acme-style/docs/notes/style.md
    ---
    type: core
    ---
    # Style

    Short lines.
    //- vendor/plain/Cargo.toml
    [package]
    name = \"plain\"
    version = \"0.1.0\"
    edition = \"2021\"
    //- vendor/plain/src/lib.rs
    ";

/// Runs a program with cargo and the compiler beside it at hand.
#[track_caller]
fn run_with(repo: &Repo, program: &str, args: &[&str], cargo: &str) -> Output {
    with_cargo(repo, "", program, args, cargo)
}

#[track_caller]
fn cantus(repo: &Repo, args: &[&str]) -> Output {
    run_with(repo, CANTUS, args, CARGO)
}

#[track_caller]
fn generate_lockfile(repo: &Repo) {
    run_with(repo, CARGO, &["generate-lockfile", "--offline", "--quiet"], CARGO).exits(0);
}

/// [`WORKSPACE`] with its lock file and this value of `plugins`.
#[track_caller]
pub(crate) fn workspace(plugins: &str) -> Repo {
    let repo = Repo::new(WORKSPACE);
    if !plugins.is_empty() {
        repo.write("cantus.toml", &format!("plugins = {plugins}\n"));
    }
    generate_lockfile(&repo);
    repo
}

/// The committed file, below the texts of the package.
#[track_caller]
fn notes_of(repo: &Repo) -> String {
    let text = repo.read("AGENTS.md");
    let declaration = text.find("#### Final Declaration").expect("the package's last section");
    let rest = &text[declaration..];
    let end = ["\n### ", "\n## "].iter().filter_map(|start| rest.find(start)).min().expect("notes");
    rest[end + 1..].to_owned()
}

/// `project` writes, and `check` and a second run find nothing to do.
#[track_caller]
fn project(repo: &Repo) {
    cantus(repo, &["project"]).exits(0);
    cantus(repo, &["check"]).exits(0);
    cantus(repo, &["project", "--check"]).exits(0);
}

/// What `project` says of a project that it can't compose.
#[track_caller]
fn refused(repo: &Repo) -> String {
    let output = cantus(repo, &["project"]).exits(2);
    assert!(!repo.exists("AGENTS.md") && !repo.exists("projections"));
    assert_eq!(output.stdout, "");
    output.stderr
}

#[test]
fn notes_of_a_plugin_are_listed_and_stand_before_the_project_s() {
    let repo = workspace("[\"acme-rules\"]");
    project(&repo);
    assert_data_eq!(
        notes_of(&repo),
        str![[r#"
### Own (own)

Of the project.

## Reference Memory

These notes are listed, not shown: before you work on a note's topic, open its file.

**`plugin:acme-rules/errors.md`** - How errors are made.

**`plugin:acme-rules/rules.md`** - What always holds.

**`memory/errors.md`** - The project's errors.

## Memory Webs

Each web is a folder of small notes: when a keyword comes up, read that strand's file.

### Terms (terms)

**STRANDS:** Span

"#]]
    );
    let lock = repo.read("projections/lock.toml");
    let rows: Vec<_> = lock.lines().filter(|line| line.starts_with("\"plugin.")).collect();
    assert_data_eq!(
        rows.join("\n"),
        str![[r#"
"plugin.acme-rules.errors" = { bytes = 58, tokens = 15, sha256 = "fb9e2957251f1e7f3cb8230527519f2c6421f982fb08d5366f8564f3037814f9", in = "all", from = ["plugin:acme-rules-1.2.0/agents/errors.md"] }
"plugin.acme-rules.rules" = { bytes = 55, tokens = 14, sha256 = "61be8c87ac2e6f089937beb9a413e65cc3b57557a247968e1e06ad936d50dbf5", in = "all", from = ["plugin:acme-rules-1.2.0/agents/rules.md"] }
"plugin.acme-rules.terms" = { bytes = 38, tokens = 10, sha256 = "1efd6b726f409a2a1cb5355ff12f32cda88d081a3e7482876bf56d36971b954b", in = "all", from = ["plugin:acme-rules-1.2.0/agents/terms.md", "plugin:acme-rules-1.2.0/agents/terms/span.md"] }
"#]]
    );
}

#[test]
fn a_plugin_that_may_put_core_notes_does() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }, \"acme-style\"]");
    project(&repo);
    assert_data_eq!(
        notes_of(&repo),
        str![[r#"
### Rules (rules)

Never panic.
Never block.

### Own (own)

Of the project.

## Reference Memory

These notes are listed, not shown: before you work on a note's topic, open its file.

**`plugin:acme-rules/errors.md`** - How errors are made.

**`plugin:acme-style/style.md`** - Short lines.

**`memory/errors.md`** - The project's errors.

## Memory Webs

Each web is a folder of small notes: when a keyword comes up, read that strand's file.

### Terms (terms)

**STRANDS:** Span

"#]]
    );
}

#[test]
fn without_plugins_nothing_of_a_dependency_is_seen_and_no_cargo_runs() {
    let repo = workspace("");
    let plain = run_with(&repo, CANTUS, &["render"], "/nowhere/cargo").exits(0).stdout;
    assert!(!plain.contains("plugin:") && !plain.contains("How errors are made"), "{plain}");
    repo.write("cantus.toml", "plugins = []\n");
    assert_eq!(run_with(&repo, CANTUS, &["render"], "/nowhere/cargo").exits(0).stdout, plain);
}

#[test]
fn a_plugin_changes_no_byte_of_the_project_s_own_sections() {
    let sections = |repo: &Repo| {
        let table = cantus(repo, &["render", "-s", "--json", "-q"]).exits(0).stdout;
        let table: Value = serde_json::from_str(&table).expect("JSON");
        let rows = table["sections"].as_array().expect("sections").clone();
        // The contract says how to read a plugin's notes, and their webs may need a frame.
        let other = ["frame.webs", "pkg.cantus.memory"];
        let own = rows.into_iter().filter(|row| {
            let id = row["id"].as_str().expect("an id");
            !id.starts_with("plugin.") && !other.contains(&id)
        });
        own.map(|row| (row["id"].clone(), row["sha256"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(sections(&workspace("[\"acme-rules\"]")), sections(&workspace("")));
}

#[test]
fn a_home_note_is_not_shadowed_by_a_plugin_and_stands_after_it() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }]");
    let home = repo.home().join(".config/cantus/memory");
    std::fs::create_dir_all(&home).expect("a folder");
    std::fs::write(home.join("rules.md"), "---\ntype: core\n---\n# Mine\n").expect("a file");
    let text = cantus(&repo, &["render", "-q"]).exits(0).stdout;
    let at = |heading: &str| text.find(heading).unwrap_or_else(|| panic!("no `{heading}` in\n{text}"));
    assert!(at("### Rules (rules)") < at("### Mine (rules)"), "{text}");
    assert!(at("### Mine (rules)") < at("### Own (own)"), "{text}");
    let export = cantus(&repo, &["render", "-q", "-fmode=export"]).exits(0).stdout;
    assert!(export.contains("### Rules (rules)") && !export.contains("### Mine"), "{export}");
}

#[test]
fn the_manifest_of_a_bundle_names_the_crate_and_its_version() {
    let repo = workspace("[\"acme-rules\"]");
    let manifest = cantus(&repo, &["render", "-j", "-q"]).exits(0).stdout;
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let sections = manifest["sections"].as_array().expect("sections").iter();
    let section =
        sections.clone().find(|section| section["id"] == "plugin.acme-rules.terms").expect("the web");
    let sources: Vec<_> = section["sources"]
        .as_array()
        .expect("sources")
        .iter()
        .map(|source| {
            assert_eq!(
                (&source["scope"], source["sha256"].as_str().map(str::len)),
                (&"plugin".into(), Some(64))
            );
            format!(
                "{} {}",
                source["kind"].as_str().expect("a kind"),
                source["path"].as_str().expect("a path")
            )
        })
        .collect();
    assert_eq!(
        sources,
        [
            "memory_web acme-rules-1.2.0/agents/terms.md",
            "memory_strands acme-rules-1.2.0/agents/terms/span.md"
        ]
    );
    assert!(manifest["budget"]["by_layer"]["plugin"]["bytes"].as_u64().expect("bytes") > 0);
}

#[test]
fn a_new_version_with_the_same_notes_changes_no_byte_of_a_bundle() {
    let repo = workspace("[\"acme-rules\"]");
    project(&repo);
    let before = repo.read("AGENTS.md");
    replace(&repo, "vendor/acme-rules/Cargo.toml", "1.2.0", "2.0.0-rc.1");
    generate_lockfile(&repo);
    let report = cantus(&repo, &["project", "--check"]).exits(1).stdout;
    assert!(report.contains("Fresh AGENTS.md") && report.contains("Stale projections/lock.toml"), "{report}");
    project(&repo);
    assert_eq!(repo.read("AGENTS.md"), before);
    // Where a section comes from is the lock's to say.
    assert!(repo.read("projections/lock.toml").contains("plugin:acme-rules-2.0.0-rc.1/agents/errors.md"));
}

#[test]
fn a_changed_note_of_a_plugin_is_drift() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }]");
    project(&repo);
    replace(&repo, "vendor/acme-rules/agents/rules.md", "Never panic.", "Never panic, ever.");
    let output = cantus(&repo, &["check"]).exits(1).stdout;
    assert!(output.contains("AGENTS.md: error: the sources changed after this file was written"), "{output}");
    project(&repo);
    assert!(repo.read("AGENTS.md").contains("Never panic, ever."));
}

#[test]
fn carriage_returns_in_a_plugin_change_nothing() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }]");
    project(&repo);
    for note in ["errors.md", "rules.md", "terms.md", "terms/span.md"] {
        let path = format!("vendor/acme-rules/agents/{note}");
        let text = repo.read(&path).replace('\n', "\r\n");
        repo.write(&path, &text);
    }
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn an_edit_in_a_plugin_s_section_names_the_dependency() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }]");
    project(&repo);
    replace(&repo, "AGENTS.md", "Never block.", "Block.");
    let output = cantus(&repo, &["project"]).exits(1).stdout;
    let said: Vec<_> = output.lines().skip_while(|line| !line.contains("Edited")).take(4).collect();
    assert_data_eq!(
        said.join("\n"),
        str![[r#"
      Edited AGENTS.md
     problem: line 62: this was edited by hand; it comes from a dependency, plugin:acme-rules-1.2.0/agents/rules.md:8 (section plugin.acme-rules.rules)
         fix: to keep it, have it changed in the crate that is named, or write a note of your own
         fix: to drop it, run `cantus project --force`; once git holds the file as it is, `cantus project` is enough
"#]]
    );
    let output = cantus(&repo, &["check"]).exits(1).stdout;
    let said: Vec<_> = output.lines().take(4).collect();
    assert_data_eq!(
        said.join("\n"),
        str![[r#"
AGENTS.md:62: error: this was edited by hand (section `plugin.acme-rules.rules`) [drift.edited]
  62 | Block.
     | ^^^^^^
  help: the text comes from a dependency, plugin:acme-rules-1.2.0/agents/rules.md:8: have it changed there, or write a note of your own; to drop it, run `cantus project --force`
"#]]
    );
    let report: Value =
        serde_json::from_str(&cantus(&repo, &["project", "--check", "--json"]).exits(1).stdout)
            .expect("JSON");
    let edit = &report["files"][0]["edits"][0];
    assert_eq!(edit["source"], "plugin:acme-rules-1.2.0/agents/rules.md");
    assert_eq!(edit["source_line"], 8);
    cantus(&repo, &["project", "--force"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn a_crate_that_is_taken_out_leaves_nothing_behind() {
    let repo = workspace("");
    project(&repo);
    let before = (repo.read("AGENTS.md"), repo.read("projections/lock.toml"));
    repo.write("cantus.toml", "plugins = [\"acme-rules\"]\n");
    project(&repo);
    assert_ne!(repo.read("AGENTS.md"), before.0);
    repo.write("cantus.toml", "");
    project(&repo);
    assert_eq!((repo.read("AGENTS.md"), repo.read("projections/lock.toml")), before);
}

#[test]
fn a_configuration_in_cargo_s_manifest_allows_plugins_too() {
    let repo = workspace("");
    let manifest = repo.read("Cargo.toml");
    repo.write(
        "Cargo.toml",
        &format!("{manifest}[workspace.metadata.cantus]\nplugins = [\"acme-rules\", \"acme\"]\n"),
    );
    let line = repo.read("Cargo.toml").lines().count();
    let said = refused(&repo);
    assert!(said.starts_with(&format!("Cargo.toml:{line}: error: no crate `acme`")), "{said}");
    replace(&repo, "Cargo.toml", ", \"acme\"", "");
    project(&repo);
    assert!(repo.read("AGENTS.md").contains("plugin:acme-rules/errors.md"));
}

#[test]
fn a_member_of_the_workspace_may_ship_notes() {
    let repo = Repo::new(WORKSPACE);
    replace(&repo, "Cargo.toml", "[workspace]\n", "[workspace]\nmembers = [\"tools/house\"]\n");
    repo.add(
        "
        //- tools/house/Cargo.toml
        [package]
        name = \"house\"
        version = \"0.0.1\"
        edition = \"2021\"
        metadata.cantus.notes = \"notes/\"
        //- tools/house/src/lib.rs
        //- tools/house/notes/house.md
        ---
        type: reference
        description: The house.
        ---
        ",
    );
    repo.write("cantus.toml", "plugins = [\"house\"]\n");
    generate_lockfile(&repo);
    project(&repo);
    assert!(repo.read("AGENTS.md").contains("**`plugin:house/house.md`** - The house.\n"));
}

/// What is said of one entry that can't be used.
#[track_caller]
fn check_entry(repo: &Repo, expected: impl snapbox::IntoData) {
    assert_data_eq!(refused(repo), expected.into_data());
}

#[test]
fn a_crate_that_is_not_in_the_graph() {
    check_entry(
        &workspace("[\n  \"acme-rules\",\n  \"acme_rules\",\n  \"serde\",\n]"),
        str![[r#"
cantus.toml:3: error: no crate `acme_rules` is in the dependency graph [plugin]
  3 |   "acme_rules",
    |    ^^^^^^^^^^
  help: did you mean `acme-rules`?
cantus.toml:4: error: no crate `serde` is in the dependency graph [plugin]
  4 |   "serde",
    |    ^^^^^
  help: crates that ship notes: acme-rules, acme-style

"#]],
    );
}

#[test]
fn a_crate_that_ships_no_notes() {
    check_entry(
        &workspace("[\"plain\"]"),
        str![[r#"
cantus.toml:1: error: the crate `plain` 0.1.0 ships no notes [plugin]
  1 | plugins = ["plain"]
    |             ^^^^^
  help: crates that ship notes: acme-rules, acme-style

"#]],
    );
    let repo = workspace("[\"plain\"]");
    let manifest = repo.read("vendor/plain/Cargo.toml");
    repo.write(
        "vendor/plain/Cargo.toml",
        &format!("{manifest}[package.metadata.cantus]\nnote = \"agents\"\n"),
    );
    check_entry(
        &repo,
        str![[r#"
cantus.toml:1: error: the crate `plain` 0.1.0 ships no notes: its `[package.metadata.cantus]` lacks `notes`, the folder [plugin]
  1 | plugins = ["plain"]
    |             ^^^^^
  help: crates that ship notes: acme-rules, acme-style

"#]],
    );
}

/// What is said of `acme-rules` with this note folder.
#[track_caller]
fn check_folder(notes: &str, prepare: impl FnOnce(&Repo), expected: impl snapbox::IntoData) {
    let repo = workspace("[\"acme-rules\"]");
    replace(&repo, "vendor/acme-rules/Cargo.toml", "\"agents\"", notes);
    prepare(&repo);
    check_entry(&repo, expected);
}

#[test]
fn note_folders_that_are_no_folder_of_the_crate() {
    check_folder(
        "\"agent\"",
        |_| {},
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0, `agent`: the folder is not there [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
    check_folder(
        "\"src/lib.rs\"",
        |_| {},
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0, `src/lib.rs`: not a folder [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
}

#[test]
fn note_folders_that_are_no_path_in_the_crate() {
    check_folder(
        "\"../acme-style/docs\"",
        |_| {},
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0: `../acme-style/docs` is not a path inside the root: no part may be empty, `.` or `..` [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
    check_folder(
        "\"/etc\"",
        |_| {},
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0: `/etc` is not a path inside the root: it must be relative [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
    check_folder(
        "\".\"",
        |_| {},
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0: `.` is not a path inside the root: no part may be empty, `.` or `..` [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
    check_folder(
        "\"\"",
        |_| {},
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0: `` is not a path inside the root: it must not be empty [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
    check_folder(
        "[\"agents\"]",
        |_| {},
        str![[r#"
cantus.toml:1: error: the crate `acme-rules` 1.2.0 ships no notes: its `[package.metadata.cantus]` lacks `notes`, the folder [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: crates that ship notes: acme-style

"#]],
    );
}

#[cfg(unix)]
#[test]
fn note_folders_behind_a_symlink_out_of_the_crate() {
    use std::os::unix::fs::symlink;
    let link = |target: &'static str, name: &'static str| {
        move |repo: &Repo| {
            repo.remove("vendor/acme-rules/agents");
            symlink(target, repo.path().join("vendor/acme-rules").join(name)).expect("a link");
        }
    };
    check_folder(
        "\"agents\"",
        link("../acme-style/docs/notes", "agents"),
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0, `agents`: a symlink out of the crate: the folder must lie inside it [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
    check_folder(
        "\"agents/notes\"",
        link("../acme-style/docs", "agents"),
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0, `agents/notes`: a symlink out of the crate: the folder must lie inside it [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
    check_folder(
        "\"agents\"",
        link(".", "agents"),
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0, `agents`: a symlink to the crate itself: the folder must lie inside it [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
}

#[cfg(unix)]
#[test]
fn a_note_that_is_a_symlink_out_of_the_crate() {
    let repo = workspace("[\"acme-rules\"]");
    let note = repo.path().join("vendor/acme-rules/agents/leak.md");
    std::os::unix::fs::symlink("../../acme-style/docs/notes/style.md", note).expect("a link");
    check_entry(
        &repo,
        str![[r#"
plugin:acme-rules-1.2.0/agents/leak.md: error: `agents/leak.md` is a symlink out of the root; expected a file inside `agents` [note.symlink]
  help: copy the file here, or link to one inside the note folder

"#]],
    );
}

#[test]
fn targets_and_the_project_s_own_notes_are_no_plugin() {
    let own = "
        [package.metadata.cantus]
        notes = \"memory\"
        ";
    let repo = workspace("[\"app\"]");
    let manifest = repo.read("Cargo.toml");
    repo.write("Cargo.toml", &format!("{manifest}{}", own.replace("        ", "")));
    check_entry(
        &repo,
        str![[r#"
cantus.toml:1: error: the note folder of `app` 0.1.0, `memory`: the project's own notes lie there [plugin]
  1 | plugins = ["app"]
    |             ^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
    let repo = workspace("[\"acme-rules\"]");
    let config = repo.read("cantus.toml");
    repo.write(
        "cantus.toml",
        &format!("{config}[[output]]\nrender = \"helper\"\nfile = \"vendor/acme-rules/agents/helper.md\"\n"),
    );
    check_entry(
        &repo,
        str![[r#"
cantus.toml:1: error: the note folder of `acme-rules` 1.2.0, `agents`: the target `vendor/acme-rules/agents/helper.md` lies there, and targets aren't sources [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: the crate must be mended, or taken out of `plugins`

"#]],
    );
}

#[test]
fn broken_notes_of_a_plugin_are_told_with_their_place() {
    let repo = workspace("[\"acme-rules\"]");
    repo.write("vendor/acme-rules/agents/bad.md", "---\ntype: croe\n---\n");
    repo.write("vendor/acme-rules/agents/none.md", "No front matter.\n");
    repo.write("vendor/acme-rules/agents/Rules.md", "---\ntype: reference\n---\n");
    check_entry(
        &repo,
        str![[r#"
plugin:acme-rules-1.2.0/agents/bad.md:2: error: `type` must be `core` or `reference`, not `croe` [note.value]
  help: did you mean `core`?
plugin:acme-rules-1.2.0/agents/none.md:1: error: a note must start with front matter [note.front_matter]
  help: put these lines at its top: `---`, `type: core` (whole text in every context) or `type: reference` (named there, read on demand), `---`; a file that is no note belongs elsewhere or in `assets/`
plugin:acme-rules-1.2.0/agents/rules.md: error: `agents/rules.md` and `agents/Rules.md` have one name but for case or Unicode form [name.collision]
  help: rename one: macOS and Windows can't hold both

"#]],
    );
}

#[test]
fn slugs_of_a_plugin_that_are_equal_across_kinds() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }]");
    repo.write("vendor/acme-rules/agents/a b.md", "---\ntype: reference\n---\n");
    repo.write("vendor/acme-rules/agents/a_b.md", "---\ntype: core\n---\n");
    check_entry(
        &repo,
        str![[r#"
plugin:acme-rules-1.2.0/agents/a_b.md: error: `agents/a_b.md` and `agents/a b.md` would both be the section `a_b` [name.collision]
  help: rename one: only ASCII letters, digits, `_` and `-` tell sections apart

"#]],
    );
    // As listed notes they collide as well.
    repo.write("cantus.toml", "plugins = [\"acme-rules\"]\n");
    check_entry(
        &repo,
        str![[r#"
plugin:acme-rules-1.2.0/agents/a_b.md: error: `agents/a_b.md` and `agents/a b.md` would both be the section `a_b` [name.collision]
  help: rename one: only ASCII letters, digits, `_` and `-` tell sections apart

"#]],
    );
}

#[cfg(unix)]
#[test]
fn what_a_crate_that_is_not_allowed_has_in_its_folder_makes_no_difference() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let repo = workspace("[\"acme-rules\"]");
    project(&repo);
    let before = repo.read("AGENTS.md");
    let folder = "vendor/acme-style/docs/notes";
    repo.write(&format!("{folder}/style.md"), "broken\u{202e}");
    repo.write_bytes(&format!("{folder}/bytes.md"), b"\xff\xfe");
    repo.write(&format!("{folder}/x.md/y.md"), "");
    let at = |name: &str| repo.path().join(folder).join(name);
    symlink("/etc/passwd", at("link.md")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(at("pipe.md")).status().expect("mkfifo");
    assert!(made.success());
    repo.write(&format!("{folder}/secret.md"), "");
    std::fs::set_permissions(at("secret.md"), std::fs::Permissions::from_mode(0o000)).expect("a mode");
    assert_eq!(cantus(&repo, &["check"]).exits(0).stderr, "");
    cantus(&repo, &["project"]).exits(0);
    assert_eq!(repo.read("AGENTS.md"), before);
    let listing = cantus(&repo, &["list", "--plugins"]).exits(0).stdout;
    assert!(listing.contains("acme-style"), "{listing}");
    // And once it is allowed, it does.
    repo.write("cantus.toml", "plugins = [\"acme-rules\", \"acme-style\"]\n");
    let said = cantus(&repo, &["project"]).exits(2).stderr;
    assert!(said.contains("plugin:acme-style-0.3.1/docs/notes/style.md:1: error: "), "{said}");
    assert!(said.contains("plugin:acme-style-0.3.1/docs/notes/pipe.md: error: "), "{said}");
    assert!(!said.contains(repo.path().to_str().expect("UTF-8")), "{said}");
}

/// `acme-rules` in two versions: the member needs what `deps` says, and `acme-style` needs version 2.
#[track_caller]
fn two_versions(deps: &str) -> Repo {
    let repo = Repo::new(WORKSPACE);
    repo.add(
        "
        //- vendor/acme-rules-2/Cargo.toml
        [package]
        name = \"acme-rules\"
        version = \"2.0.0\"
        edition = \"2021\"

        [package.metadata.cantus]
        notes = \"agents\"
        //- vendor/acme-rules-2/src/lib.rs
        //- vendor/acme-rules-2/agents/new.md
        ---
        type: reference
        description: New in two.
        ---
        ",
    );
    replace(&repo, "Cargo.toml", "acme-rules = { path = \"vendor/acme-rules\" }\n", deps);
    let style = repo.read("vendor/acme-style/Cargo.toml");
    repo.write(
        "vendor/acme-style/Cargo.toml",
        &format!("{style}[dependencies]\nacme-rules = {{ path = \"../acme-rules-2\" }}\n"),
    );
    repo.write("cantus.toml", "plugins = [\"acme-rules\"]\n");
    generate_lockfile(&repo);
    repo
}

#[test]
fn of_two_versions_the_one_that_a_member_depends_on_is_taken() {
    let repo = two_versions("acme-rules = { path = \"vendor/acme-rules\" }\n");
    project(&repo);
    let text = repo.read("AGENTS.md");
    assert!(text.contains("plugin:acme-rules/errors.md") && !text.contains("New in two."), "{text}");
    assert_data_eq!(
        cantus(&repo, &["list", "--plugins"]).exits(0).stdout,
        str![[r#"
plugins (3 crates)
  acme-rules  1.2.0  agents/      used (reference)
  acme-rules  2.0.0  agents/      available
  acme-style  0.3.1  docs/notes/  available
to use acme-style: add `"acme-style"` to `plugins` in `cantus.toml`

"#]]
    );
}

#[test]
fn two_versions_that_are_both_needed_are_an_error() {
    let both = "one = { path = \"vendor/acme-rules\", package = \"acme-rules\" }\n\
                two = { path = \"vendor/acme-rules-2\", package = \"acme-rules\" }\n";
    check_entry(
        &two_versions(both),
        str![[r#"
cantus.toml:1: error: the dependency graph has several versions of `acme-rules`: 1.2.0, 2.0.0 [plugin]
  1 | plugins = ["acme-rules"]
    |             ^^^^^^^^^^
  help: let the crates of the workspace depend on the one that is meant, and on no other

"#]],
    );
}

#[test]
fn a_lock_file_that_is_missing_or_out_of_date() {
    let repo = workspace("[\n  \"acme-rules\",\n]");
    let lock = repo.read("Cargo.lock");
    repo.remove("Cargo.lock");
    check_entry(
        &repo,
        str![[r#"
cantus.toml:2: error: `cargo metadata --offline --locked --format-version 1` failed:
    | error: cannot create the lock file Cargo.lock because --locked was passed to prevent this
    | help: to generate the lock file without accessing the network, remove the --locked flag and use --offline instead. [plugin.cargo]
  2 |   "acme-rules",
    |   ^^^^^^^^^^^^^
  help: run `cargo generate-lockfile` and commit `Cargo.lock`

"#]],
    );
    assert!(!repo.exists("Cargo.lock"));
    repo.write("Cargo.lock", &lock);
    replace(&repo, "vendor/acme-rules/Cargo.toml", "1.2.0", "1.2.1");
    check_entry(
        &repo,
        str![[r#"
cantus.toml:2: error: `cargo metadata --offline --locked --format-version 1` failed:
    | error: cannot update the lock file Cargo.lock because --locked was passed to prevent this
    | help: to generate the lock file without accessing the network, remove the --locked flag and use --offline instead. [plugin.cargo]
  2 |   "acme-rules",
    |   ^^^^^^^^^^^^^
  help: run `cargo fetch`, which brings `Cargo.lock` up to date, and commit it

"#]],
    );
    assert_eq!(repo.read("Cargo.lock"), lock);
    // What the help names mends it.
    run_with(&repo, CARGO, &["fetch", "--offline", "--quiet"], CARGO).exits(0);
    project(&repo);
}

#[test]
fn a_dependency_that_was_never_downloaded() {
    let repo = workspace("[\"acme-rules\"]");
    replace(&repo, "Cargo.toml", "plain = { path = \"vendor/plain\" }", "plain = \"0.1\"");
    let said = refused(&repo);
    assert!(said.starts_with("cantus.toml:1: error: `cargo metadata --offline"), "{said}");
    assert!(said.contains("help: run `cargo fetch`"), "{said}");
}

#[test]
fn a_manifest_that_cargo_refuses() {
    let repo = workspace("[\"acme-rules\"]");
    replace(&repo, "vendor/plain/Cargo.toml", "edition = \"2021\"", "edition = \"1999\"");
    let said = refused(&repo);
    assert!(said.contains("vendor/plain/Cargo.toml") && said.contains("1999"), "{said}");
    assert!(said.contains("help: mend what cargo names"), "{said}");
    assert!(!said.contains(repo.path().to_str().expect("UTF-8")), "{said}");
}

#[test]
fn cargo_that_is_not_there() {
    let repo = workspace("[\n  \"acme-rules\",\n]");
    let output = run_with(&repo, CANTUS, &["project"], "/nowhere/cargo").exits(2);
    assert_data_eq!(
        output.stderr,
        str![[r#"
cantus.toml:2: error: `plugins` needs cargo: cargo can't be started: [..] [plugin.cargo]
  2 |   "acme-rules",
    |   ^^^^^^^^^^^^^
  help: install cargo, set `CARGO` to its path, or take the crates out of `plugins`

"#]]
    );
    let output = run_with(&repo, CANTUS, &["list", "--plugins"], "/nowhere/cargo").exits(2);
    assert!(output.stderr.starts_with("cantus.toml:2: error: "), "{}", output.stderr);
    repo.write("cantus.toml", "");
    let output = run_with(&repo, CANTUS, &["list", "--plugins"], "/nowhere/cargo").exits(0);
    assert_data_eq!(
        output.stdout,
        str![[r#"
no plugins: cargo can't be started: [..]

"#]]
    );
    assert_eq!(output.stderr, "");
}

#[test]
fn a_project_without_cargo() {
    let repo = Repo::new("//- memory/a.md\n---\ntype: core\n---\n# A\n");
    let output = cantus(&repo, &["list", "--plugins"]).exits(0);
    assert_data_eq!(
        output.stdout,
        str![[r#"
no plugins: there is no `Cargo.toml` at the root

"#]]
    );
    let json: Value =
        serde_json::from_str(&cantus(&repo, &["list", "--plugins", "--json"]).exits(0).stdout).expect("JSON");
    assert_eq!(json["plugins"], Value::Array(Vec::new()));
    assert_eq!(json["no_graph"], "there is no `Cargo.toml` at the root");
    repo.write("cantus.toml", "name = \"a\"\nplugins = [\"acme-rules\"]\n");
    check_entry(
        &repo,
        str![[r#"
cantus.toml:2: error: `plugins` needs cargo: there is no `Cargo.toml` at the root [plugin.cargo]
  2 | plugins = ["acme-rules"]
    | ^^^^^^^
  help: take the crates out of `plugins`, or make this a Cargo workspace

"#]],
    );
}

#[test]
fn plugins_are_listed_with_the_line_that_allows_them() {
    let listing = |plugins: &str| cantus(&workspace(plugins), &["list", "--plugins"]).exits(0).stdout;
    assert_data_eq!(
        listing(""),
        str![[r#"
plugins (2 crates)
  acme-rules  1.2.0  agents/      available
  acme-style  0.3.1  docs/notes/  available
to use acme-rules: write `plugins = ["acme-rules"]` at the top of `cantus.toml`
to use acme-style: write `plugins = ["acme-style"]` at the top of `cantus.toml`

"#]]
    );
    assert_data_eq!(
        listing("[{ crate = \"acme-style\", kind = \"core\" }]"),
        str![[r#"
plugins (2 crates)
  acme-rules  1.2.0  agents/      available
  acme-style  0.3.1  docs/notes/  used (core)
to use acme-rules: add `"acme-rules"` to `plugins` in `cantus.toml`

"#]]
    );
    assert_data_eq!(
        listing("[\"acme-rules\", \"acme-style\"]"),
        str![[r#"
plugins (2 crates)
  acme-rules  1.2.0  agents/      used (reference)
  acme-style  0.3.1  docs/notes/  used (reference)

"#]]
    );
}

#[test]
fn plugins_as_json() {
    let repo = workspace("[\"acme-rules\"]");
    assert_data_eq!(
        cantus(&repo, &["list", "--plugins", "--json"]).exits(0).stdout,
        str![[r#"
{
  "version": 1,
  "no_graph": null,
  "plugins": [
    {
      "crate": "acme-rules",
      "crate_version": "1.2.0",
      "notes": "agents",
      "used": true,
      "kind": "reference",
      "allow": null
    },
    {
      "crate": "acme-style",
      "crate_version": "0.3.1",
      "notes": "docs/notes",
      "used": false,
      "kind": null,
      "allow": "add `/"acme-style/"` to `plugins` in `cantus.toml`"
    }
  ]
}

"#]]
    );
}

#[test]
fn plugins_are_listed_though_the_configuration_names_one_that_is_not_there() {
    let output = cantus(&workspace("[\"acme-rule\"]"), &["list", "--plugins"]).exits(2);
    assert_data_eq!(
        output.stdout,
        str![[r#"
plugins (2 crates)
  acme-rules  1.2.0  agents/      available
  acme-style  0.3.1  docs/notes/  available
to use acme-rules: add `"acme-rules"` to `plugins` in `cantus.toml`
to use acme-style: add `"acme-style"` to `plugins` in `cantus.toml`

"#]]
    );
    assert_data_eq!(
        output.stderr,
        str![[r#"
cantus.toml:1: error: no crate `acme-rule` is in the dependency graph [plugin]
  1 | plugins = ["acme-rule"]
    |             ^^^^^^^^^
  help: did you mean `acme-rules`?

"#]]
    );
}

#[test]
fn a_graph_without_notes() {
    let repo = workspace("");
    for name in ["acme-rules", "acme-style"] {
        replace(&repo, &format!("vendor/{name}/Cargo.toml"), "metadata.cantus", "metadata.other");
    }
    assert_data_eq!(
        cantus(&repo, &["list", "--plugins"]).exits(0).stdout,
        str![[r#"
no plugins: no crate among the dependencies ships notes

"#]]
    );
}

#[test]
fn a_broken_configuration_lists_nothing() {
    let output = cantus(&workspace("[\"a b\"]"), &["list", "--plugins"]).exits(2);
    assert!(output.stderr.starts_with("cantus.toml:1: error: `plugins`: `a b`"), "{}", output.stderr);
    let output = cantus(&workspace("[\"a b\"]"), &["list", "--plugins", "--json"]).exits(2);
    let json: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(json["outcome"], "broken");
}

#[test]
fn notes_of_plugins_are_listed_with_their_crate() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }]");
    assert_data_eq!(
        cantus(&repo, &["list"]).exits(0).stdout,
        str![[r#"
core (2 notes, ~20 tokens)
  plugin:acme-rules-1.2.0/agents/rules.md  12
  memory/own.md                             8
reference (2 notes, ~27 tokens)
  plugin:acme-rules-1.2.0/agents/errors.md  15
  memory/errors.md                          12
web (1 note, ~10 tokens)
  plugin:acme-rules-1.2.0/agents/terms.md  10  1 strand

"#]]
    );
    let json: Value =
        serde_json::from_str(&cantus(&repo, &["list", "--json"]).exits(0).stdout).expect("JSON");
    let notes = json["notes"].as_array().expect("notes").iter();
    let crates: Vec<_> = notes.map(|note| (note["kind"].as_str(), note["crate"].as_str())).collect();
    let (core, reference, web, acme) = (Some("core"), Some("reference"), Some("web"), Some("acme-rules"));
    assert_eq!(crates, [(core, acme), (core, None), (reference, acme), (reference, None), (web, acme)]);
}

#[test]
fn asking_cargo_writes_nothing() {
    let repo = workspace("[\"acme-rules\"]");
    project(&repo);
    std::fs::create_dir(repo.path().join("target")).expect("a folder");
    let files = repo.files();
    cantus(&repo, &["check"]).exits(0);
    cantus(&repo, &["list", "--plugins"]).exits(0);
    assert_eq!(repo.files(), files);
}

#[test]
fn notes_of_a_plugin_are_read_by_the_address_of_their_entry() {
    let repo = workspace("[\"acme-rules\"]");
    let read = |target: &str| cantus(&repo, &["read", target, "--no-home"]);
    let text = read("plugin:acme-rules/errors.md").exits(0).stdout;
    assert!(text.starts_with("# Errors (plugin:acme-rules/errors.md)\n"), "{text}");
    assert!(read("errors").exits(0).stdout.starts_with("# Errors (errors.md)\n"));
    assert!(read("rules").exits(0).stdout.contains("(plugin:acme-rules/rules.md)"));
    let unknown = read("plugin:acme-rules/eror.md").exits(1).stderr;
    assert!(unknown.contains("did you mean `plugin:acme-rules/errors.md`"), "{unknown}");
    read("plugin:acme-style/style.md").exits(1);
}

#[test]
fn the_contract_says_how_to_read_them_only_where_there_are_any() {
    let (with, without) = (workspace("[\"acme-rules\"]"), workspace(""));
    let render = |repo: &Repo| cantus(repo, &["render", "-q", "--no-home"]).exits(0).stdout;
    assert!(render(&with).contains("list the folder.\n- **Notes of dependencies** have"));
    assert!(render(&with).contains("xtask read`.\n- **Superseded"));
    assert!(render(&without).contains("list the folder.\n- **Superseded"));
}

#[test]
fn of_a_crate_in_the_repository_the_staged_notes_count() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }]");
    project(&repo);
    repo.commit_all("base");
    let staged = |status: i32| cantus(&repo, &["check", "--staged"]).exits(status);
    staged(0);
    // What is not staged doesn't count.
    replace(&repo, "vendor/acme-rules/agents/rules.md", "Never block.", "Never wait.");
    staged(0);
    repo.git(&["add", "vendor"]);
    let output = staged(1);
    assert!(output.stdout.contains("[drift.stale]"), "{}", output.stdout);
    cantus(&repo, &["project"]).exits(0);
    repo.git(&["add", "."]);
    // Nor does what is changed back in the working tree alone.
    replace(&repo, "vendor/acme-rules/agents/rules.md", "Never wait.", "Never block.");
    staged(0);
}
