//! What Cantus refuses: exit code 2, a message that names the place and the way out, and nothing written.

use std::fs::{self, File};

use cantus_testkit::Repo;
use snapbox::data::Inline;
use snapbox::{assert_data_eq, str};

use crate::program::cantus;

/// A core note that is fine.
const GOOD: &str = "---\ntype: core\n---\n# Good\n\nText.\n";

/// A package that is fine.
const PACKAGE: &str = "
    //- cantus.toml
    package = \"house\"
    //- memory/good.md
    ---
    type: core
    ---
    # Good
    //- house/package.toml
    name = \"house\"
    version = \"1\"
    //- house/contract.md
    # House

    ## Rules
    Be brief.
    ";

/// Refuses the project of these files for these reasons.
#[track_caller]
fn check(fixture: &str, expected: Inline) {
    check_repo(&Repo::new(fixture), expected);
}

/// Refuses the project in `repo`, says why on stderr alone, and touches nothing.
#[track_caller]
fn check_repo(repo: &Repo, expected: Inline) {
    let before = state(repo);
    let output = cantus(repo, &["project"]).exits(2);
    assert_eq!(output.stdout, "");
    assert_data_eq!(output.stderr.as_str(), expected);
    assert_eq!(state(repo), before, "a refused run changed files");
}

/// Refuses the one note `memory/a.md`.
#[track_caller]
fn check_note(note: &str, expected: Inline) {
    let repo = Repo::new("");
    repo.write("memory/a.md", note);
    check_repo(&repo, expected);
}

/// Refuses a core note with this one more line of front matter.
#[track_caller]
fn check_key(line: &str, expected: Inline) {
    check_note(&format!("---\ntype: core\n{line}\n---\n# A\n"), expected);
}

/// Refuses the web `memory/w.md` with strands `one.md` and `two.md` that start so and end in text.
#[track_caller]
fn check_web(descriptor: &str, one: &str, two: &str, expected: Inline) {
    let repo = Repo::new("");
    repo.write("memory/w.md", &format!("---\nweb: true\n{descriptor}"));
    repo.write("memory/w/one.md", &format!("{one}Text.\n"));
    repo.write("memory/w/two.md", &format!("{two}Text.\n"));
    check_repo(&repo, expected);
}

/// Refuses this configuration of a project with one good note.
#[track_caller]
fn check_config(config: &str, expected: Inline) {
    let repo = Repo::new("");
    repo.write("memory/good.md", GOOD);
    repo.write("cantus.toml", config);
    check_repo(&repo, expected);
}

/// Refuses [`PACKAGE`] with this in place of one of its files, or beside them.
#[track_caller]
fn check_package(file: &str, text: &str, expected: Inline) {
    let repo = Repo::new(PACKAGE);
    cantus(&repo, &["render"]).exits(0);
    repo.write(file, text);
    check_repo(&repo, expected);
}

/// Refuses a contract with this text below its title.
#[track_caller]
fn check_contract(text: &str, expected: Inline) {
    check_package("house/contract.md", &format!("# House\n\n{text}"), expected);
}

/// Everything in `repo` that a run could change: links by their target, small files by their bytes.
#[track_caller]
fn state(repo: &Repo) -> Vec<(String, Vec<u8>)> {
    let mut state = Vec::new();
    for file in repo.files() {
        let meta = fs::symlink_metadata(repo.path().join(&file));
        let is_small = meta.is_ok_and(|meta| meta.is_file() && meta.len() < 1 << 20);
        let bytes = if is_small { repo.read_bytes(&file) } else { Vec::new() };
        state.push((file, bytes));
    }
    state
}

#[test]
fn no_project_in_a_git_repository() {
    check(
        "//- src/lib.rs\n",
        str![[r#"
error: no project found from the working folder upward: neither a configuration nor a note folder
  help: `cantus init` sets one up here; or write a first note, `memory/<name>.md`, that starts with the lines `---`, `type: core`, `---`
  help: or name the project's folder with `--root DIR`

"#]],
    );
}

#[test]
fn a_root_that_is_named_and_is_no_project() {
    let repo = Repo::new("//- memory/a.md\n---\ntype: core\n---\n//- sub/x.txt\n");
    let output = cantus(&repo, &["project", "--root", "sub"]).exits(2);
    assert_data_eq!(
        output.stderr,
        str![[r#"
error: no project here: neither a configuration nor a note folder [project.none]
  help: `cantus init` sets one up there; or write a first note, `memory/<name>.md`, that starts with the lines `---`, `type: core`, `---`

"#]]
    );
    let output = cantus(&repo, &["project", "--root", "nowhere"]).exits(2);
    assert_data_eq!(
        output.stderr,
        str![[r#"
error: `nowhere`, given as the root: No such file or directory (os error 2)

"#]]
    );
}

#[test]
fn notes_in_two_places() {
    let repo = Repo::new("");
    repo.write("memory/a.md", GOOD);
    repo.write("sase/memory/b.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
error: notes lie in two places, `sase/memory` and `memory` [project.memory]
  help: move them into one folder, or set `memory` in the configuration

"#]],
    );
}

#[test]
fn a_note_that_is_not_utf8() {
    let repo = Repo::new("");
    repo.write_bytes("memory/a.md", b"---\ntype: core\n---\n# Caf\xe9\n");
    check_repo(
        &repo,
        str![[r#"
memory/a.md:4: error: not UTF-8: byte 24 starts no character [note.utf8]
  4 | # Caf�
    | ^^^^^^
  help: save the file as UTF-8

"#]],
    );
}

#[test]
fn a_strand_that_is_not_utf8() {
    let repo = Repo::new("//- memory/w.md\n---\nweb: true\n---\n");
    repo.write_bytes("memory/w/a.md", b"ab\xff");
    check_repo(
        &repo,
        str![[r#"
memory/w/a.md:1: error: not UTF-8: byte 2 starts no character [note.utf8]
  1 | ab�
    | ^^^
  help: save the file as UTF-8

"#]],
    );
}

#[test]
fn a_configuration_that_is_not_utf8() {
    let repo = Repo::new("//- memory/a.md\n---\ntype: core\n---\n");
    repo.write_bytes("cantus.toml", b"name = \"\xe9\"\n");
    check_repo(
        &repo,
        str![[r#"
cantus.toml:1: error: not UTF-8: byte 8 starts no character [note.utf8]
  1 | name = "�"
    | ^^^^^^^^^^
  help: save the file as UTF-8

"#]],
    );
}

#[test]
fn front_matter_that_is_unclosed() {
    check_note(
        "---\ntype: core\n# A\n",
        str![[r#"
memory/a.md:3: error: the front matter has no closing `---` line [note.front_matter]
  3 | # A
    | ^^^
  help: put a line `---` above this one, where the text starts

"#]],
    );
}

#[test]
fn front_matter_that_is_not_yaml() {
    check_note(
        "---\ntype: core\ndescription: \"open\nx\n---\n",
        str![[r#"
memory/a.md:3: error: front matter is broken: the quote " behind `description:` isn't closed on its line [note.front_matter]
  3 | description: "open
    | ^^^^^^^^^^^^
  help: put " at the end of the value, or take the first one away

"#]],
    );
    check_note(
        "---\ntype: core\n\tpriority: 1\n---\n",
        str![[r#"
memory/a.md:3: error: front matter is broken: a tab indents this line; YAML expects blanks [note.front_matter]
  3 |     priority: 1
    |     ^^^^^^^^^^^
  help: put blanks in its place, two for each level

"#]],
    );
    check_note(
        "---\ntype: a: b\n---\n",
        str![[r#"
memory/a.md:2: error: front matter is broken: a colon in the value makes it a second key unless it is quoted [note.front_matter]
  2 | type: a: b
    | ^^^^^^^^^^
  help: quote the value: `type: "a: b"`

"#]],
    );
}

#[test]
fn front_matter_that_is_not_a_mapping() {
    check_note(
        "---\n- core\n---\n",
        str![[r#"
memory/a.md:2: error: front matter must be a mapping of keys to values, not a list [note.front_matter]
  2 | - core
    | ^^^^^^
  help: expected lines of `key: value`; put a value with other signs than words into double quotes

"#]],
    );
    check_note(
        "---\ncore\n---\n",
        str![[r#"
memory/a.md:2: error: front matter is broken: this line is no `key: value` [note.front_matter]
  2 | core
    | ^^^^
  help: if the note's text starts here, put the closing line `---` above it; else write `key: value`

"#]],
    );
}

#[test]
fn front_matter_that_is_missing() {
    check_note(
        "# A\n",
        str![[r#"
memory/a.md:1: error: a note must start with front matter [note.front_matter]
  1 | # A
    | ^^^
  help: put these lines at its top: `---`, `type: core` (whole text in every context) or `type: reference` (named there, read on demand), `---`; a file that is no note belongs elsewhere or in `assets/`

"#]],
    );
    check_note(
        "",
        str![[r#"
memory/a.md:1: error: a note must start with front matter [note.front_matter]
  help: put these lines at its top: `---`, `type: core` (whole text in every context) or `type: reference` (named there, read on demand), `---`; a file that is no note belongs elsewhere or in `assets/`

"#]],
    );
    check_note(
        "\n---\ntype: core\n---\n",
        str![[r#"
memory/a.md:1: error: a blank line stands above the front matter [note.front_matter]
  help: remove it: `---` must be the first line of the file

"#]],
    );
}

#[test]
fn front_matter_without_a_type() {
    check_note(
        "---\npriority: 1\n---\n",
        str![[r#"
memory/a.md:1: error: the front matter says neither `type: core`, `type: reference` nor `web: true` [note.value]

"#]],
    );
    check_note(
        "---\n---\n",
        str![[r#"
memory/a.md:1: error: the front matter says neither `type: core`, `type: reference` nor `web: true` [note.value]

"#]],
    );
    check_note(
        "---\ntype:\n---\n",
        str![[r#"
memory/a.md:2: error: the front matter says neither `type: core`, `type: reference` nor `web: true` [note.value]
  2 | type:
    | ^^^^^

"#]],
    );
    check_note(
        "---\nweb: false\n---\n",
        str![[r#"
memory/a.md:1: error: the front matter says neither `type: core`, `type: reference` nor `web: true` [note.value]

"#]],
    );
}

#[test]
fn a_key_that_stands_twice() {
    check_note(
        "---\ntype: core\npriority: 1\npriority: 2\n---\n",
        str![[r#"
memory/a.md:4: error: front matter is broken: the key `priority` stands on line 3 already [note.front_matter]
  4 | priority: 2
    | ^^^^^^^^

"#]],
    );
}

#[test]
fn a_key_that_is_no_text() {
    check_key(
        "5: x",
        str![[r#"
memory/a.md:3: error: front matter is broken: a key must be text, not the number `5` [note.front_matter]
  3 | 5: x
    | ^

"#]],
    );
}

#[test]
fn a_second_document_in_front_matter() {
    check_key(
        "... \n%YAML 1.2",
        str![[r#"
memory/a.md:3: error: front matter is broken: this line is no `key: value` [note.front_matter]
  help: if the note's text starts here, put the closing line `---` above it; else write `key: value`

"#]],
    );
}

#[test]
fn a_tag_that_nobody_knows() {
    check_key(
        "description: !secret x",
        str![[r#"
memory/a.md:3: error: front matter is broken: the tag `!secret` is not known here [note.front_matter]
  3 | description: !secret x
    |              ^^^^^^^

"#]],
    );
}

#[test]
fn unknown_keys_name_the_nearest() {
    check_key(
        "prioriti: 1",
        str![[r#"
memory/a.md:3: error: unknown key `prioriti` [note.key]
  3 | prioriti: 1
    | ^^^^^^^^
  help: did you mean `priority`?

"#]],
    );
    check_key(
        "Description: x",
        str![[r#"
memory/a.md:3: error: unknown key `Description` [note.key]
  3 | Description: x
    | ^^^^^^^^^^^
  help: did you mean `description`?

"#]],
    );
    check_key(
        "colour: red",
        str![[r#"
memory/a.md:3: error: unknown key `colour` [note.key]
  3 | colour: red
    | ^^^^^^
  help: known keys here: type, web, parent, description, priority, link_reference, link_rendering, metadata, closure, keywords

"#]],
    );
    check_web(
        "rooster: list\n---\n",
        "",
        "",
        str![[r#"
memory/w.md:3: error: unknown key `rooster` [note.key]
  3 | rooster: list
    | ^^^^^^^
  help: did you mean `roster`?

"#]],
    );
    check_web(
        "---\n",
        "---\nsumary: x\n---\n",
        "",
        str![[r#"
memory/w/one.md:2: error: unknown key `sumary` [note.key]
  2 | sumary: x
    | ^^^^^^
  help: did you mean `summary`?

"#]],
    );
}

#[test]
fn types_and_priorities_of_the_wrong_kind() {
    check_note(
        "---\ntype: cor\n---\n",
        str![[r#"
memory/a.md:2: error: `type` must be `core` or `reference`, not `cor` [note.value]
  2 | type: cor
    |       ^^^
  help: did you mean `core`?

"#]],
    );
    check_note(
        "---\ntype: [core]\n---\n",
        str![[r#"
memory/a.md:2: error: `type` must be `core` or `reference`, not a list [note.value]
  2 | type: [core]
    |        ^^^^

"#]],
    );
    check_key(
        "priority: high",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not `high` [note.value]
  3 | priority: high
    |           ^^^^
  help: write digits alone, such as `priority: 10`; small numbers stand first

"#]],
    );
    check_key(
        "priority: -1",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not the number `-1` [note.value]
  3 | priority: -1
    |           ^^
  help: write digits alone, such as `priority: 10`; small numbers stand first

"#]],
    );
    check_key(
        "priority: 1.5",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not the number `1.5` [note.value]
  3 | priority: 1.5
    |           ^^^
  help: write digits alone, such as `priority: 10`; small numbers stand first

"#]],
    );
    check_key(
        "priority: 4294967296",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not the number `4294967296` [note.value]
  3 | priority: 4294967296
    |           ^^^^^^^^^^
  help: write digits alone, such as `priority: 10`; small numbers stand first

"#]],
    );
}

#[test]
fn texts_and_choices_of_the_wrong_kind() {
    check_key(
        "description: [a]",
        str![[r#"
memory/a.md:3: error: `description` must be text (quote it), not a list [note.value]
  3 | description: [a]
    | ^^^^^^^^^^^

"#]],
    );
    check_key(
        "description: 5",
        str![[r#"
memory/a.md:3: error: `description` must be text (quote it), not the number `5` [note.value]
  3 | description: 5
    |              ^

"#]],
    );
    check_key(
        "link_reference: always",
        str![[r#"
memory/a.md:3: error: `link_reference` must be `explicit` or `implicit` or `none`, not `always` [note.value]
  3 | link_reference: always
    |                 ^^^^^^

"#]],
    );
    check_web(
        "roster: table\n---\n",
        "",
        "",
        str![[r#"
memory/w.md:3: error: `roster` must be `inline` or `list`, not `table` [note.value]
  3 | roster: table
    |         ^^^^^

"#]],
    );
    check_web(
        "---\n",
        "---\naliases: x\n---\n",
        "---\nkeyword: [x]\n---\n",
        str![[r#"
memory/w/one.md:2: error: `aliases` must be a list of texts, not `x` [note.value]
  2 | aliases: x
    |          ^
memory/w/two.md:2: error: `keyword` must be text (quote it), not a list [note.value]
  2 | keyword: [x]
    | ^^^^^^^

"#]],
    );
}

#[test]
fn spellings_that_yaml_1_1_reads_otherwise() {
    check_note(
        "---\nweb: yes\n---\n",
        str![[r#"
memory/a.md:2: error: `web` must be `true` or `false`, not `yes` [note.value]
  2 | web: yes
    |      ^^^
  help: `yes` is text in YAML 1.2; write `true`

"#]],
    );
    check_note(
        "---\nweb: off\n---\n",
        str![[r#"
memory/a.md:2: error: `web` must be `true` or `false`, not `off` [note.value]
  2 | web: off
    |      ^^^
  help: `off` is text in YAML 1.2; write `false`

"#]],
    );
    check_key(
        "priority: 010",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not the number `010` [note.value]
  3 | priority: 010
    |           ^^^
  help: `010` is read as 10 here and otherwise by YAML 1.1; write `10` if that is meant

"#]],
    );
    check_key(
        "priority: 0o10",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not the number `0o10` [note.value]
  3 | priority: 0o10
    |           ^^^^
  help: `0o10` is read as 8 here and otherwise by YAML 1.1; write `8` if that is meant

"#]],
    );
    check_key(
        "priority: 1_000",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not `1_000` [note.value]
  3 | priority: 1_000
    |           ^^^^^
  help: `1_000` is text in YAML 1.2; write the number in decimal digits alone

"#]],
    );
    check_key(
        "priority: 1:30",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not `1:30` [note.value]
  3 | priority: 1:30
    |           ^^^^
  help: `1:30` is text in YAML 1.2; write the number in decimal digits alone

"#]],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_equal_but_for_case() {
    let repo = Repo::new("");
    repo.write("memory/Rules.md", GOOD);
    repo.write("memory/rules.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
memory/rules.md: error: `memory/rules.md` and `memory/Rules.md` have one name but for case or Unicode form [name.collision]
  help: rename one: macOS and Windows can't hold both

"#]],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_equal_but_for_unicode_form() {
    let repo = Repo::new("");
    repo.write("memory/caf\u{e9}.md", GOOD);
    repo.write("memory/cafe\u{301}.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
memory/café.md: error: `memory/caf/u{e9}.md` and `memory/cafe/u{301}.md` have one name but for case or Unicode form [name.collision]
  help: rename one: macOS and Windows can't hold both

"#]],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn strands_whose_names_are_equal_but_for_case() {
    check(
        "
        //- memory/w.md
        ---
        web: true
        ---
        //- memory/w/One.md
        one
        //- memory/w/one.md
        two
        ",
        str![[r#"
memory/w/one.md: error: `memory/w/one.md` and `memory/w/One.md` have one name but for case or Unicode form [name.collision]
  help: rename one: macOS and Windows can't hold both
memory/w/one.md:1: error: the label `one` means more than one strand: `memory/w/One.md` (file name), `memory/w/one.md` (file name) [web.label]
  1 | two
    | ^^^
  help: rename a keyword or an alias so that each label means one strand

"#]],
    );
}

#[test]
fn names_that_give_one_section() {
    let repo = Repo::new("");
    repo.write("memory/my note.md", GOOD);
    repo.write("memory/my_note.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
memory/my_note.md: error: `memory/my_note.md` and `memory/my note.md` would both be the section `my_note` [name.collision]
  help: rename one: only ASCII letters, digits, `_` and `-` tell sections apart

"#]],
    );
}

#[test]
fn a_folder_of_notes_without_a_descriptor() {
    let repo = Repo::new("");
    repo.write("memory/a.md", GOOD);
    repo.write("memory/w/one.md", "# One\n");
    check_repo(
        &repo,
        str![[r#"
memory/w: error: the folder holds notes, but there is no descriptor `memory/w.md` [web.stray]
  help: write `memory/w.md` with `web: true` in its front matter, or move the notes up or into `assets/`

"#]],
    );
}

#[test]
fn a_folder_of_notes_whose_descriptor_is_no_web() {
    let repo = Repo::new("");
    repo.write("memory/w.md", GOOD);
    repo.write("memory/w/one.md", "# One\n");
    check_repo(
        &repo,
        str![[r#"
memory/w: error: the folder holds notes, but `memory/w.md` does not say `web: true` [web.stray]
  help: put `web: true` into the front matter of `memory/w.md`, or move the folder away

"#]],
    );
}

#[test]
fn a_web_without_a_folder() {
    check_note(
        "---\nweb: true\n---\n# W\n",
        str![[r#"
memory/a.md: error: the web has no strand folder `memory/a` [web.folder]
  help: create `memory/a/` and its first strand, or make the note `type: core`

"#]],
    );
}

#[test]
fn a_folder_inside_a_web() {
    check(
        "
        //- memory/w.md
        ---
        web: true
        ---
        //- memory/w/one.md
        one
        //- memory/w/deep/two.md
        two
        ",
        str![[r#"
memory/w/deep: error: a web's folder can't hold folders [web.nested]
  help: move its notes up into `memory/w/`

"#]],
    );
}

#[test]
fn a_web_with_a_reserved_name() {
    check(
        "
        //- memory/Assets.md
        ---
        web: true
        ---
        //- memory/Assets/one.md
        one
        ",
        str![[r#"
memory/Assets.md: error: `Assets` can't be a web's name: it is reserved [web.reserved]
  help: rename the note and its folder

"#]],
    );
}

#[test]
fn roster_markers_that_are_unbalanced() {
    check_web(
        "---\n# W\n\n<!-- cantus:strands -->\n",
        "",
        "",
        str![[r#"
memory/w.md:6: error: the roster markers are unbalanced [web.markers]
  6 | <!-- cantus:strands -->
    | ^^^^^^^^^^^^^^^^^^^^^^^
  help: write `<!-- cantus:strands -->` once and `<!-- /cantus:strands -->` once after it, each alone on its line

"#]],
    );
    check_web(
        "---\n# W\n\n<!-- /sase:strands -->\n",
        "",
        "",
        str![[r#"
memory/w.md:6: error: the roster markers are unbalanced [web.markers]
  6 | <!-- /sase:strands -->
    | ^^^^^^^^^^^^^^^^^^^^^^
  help: write `<!-- cantus:strands -->` once and `<!-- /cantus:strands -->` once after it, each alone on its line

"#]],
    );
    check_web(
        "---\n<!-- sase:strands -->\n<!-- /cantus:strands -->\n",
        "",
        "",
        str![[r#"
memory/w.md:5: error: the roster markers are unbalanced [web.markers]
  5 | <!-- /cantus:strands -->
    | ^^^^^^^^^^^^^^^^^^^^^^^^
  help: write `<!-- cantus:strands -->` once and `<!-- /cantus:strands -->` once after it, each alone on its line

"#]],
    );
    check_web(
        "---\n<!-- /cantus:strands -->\n<!-- cantus:strands -->\n",
        "",
        "",
        str![[r#"
memory/w.md:4: error: the roster markers are unbalanced: the closing one comes first [web.markers]
  4 | <!-- /cantus:strands -->
    | ^^^^^^^^^^^^^^^^^^^^^^^^
  help: write `<!-- cantus:strands -->` once and `<!-- /cantus:strands -->` once after it, each alone on its line

"#]],
    );
}

#[test]
fn roster_markers_that_are_duplicated() {
    for (first, second) in [("cantus", "cantus"), ("sase", "sase")] {
        let region = |name: &str| format!("<!-- {name}:strands -->\n<!-- /{name}:strands -->\n\n");
        let descriptor = format!("---\n{}{}", region(first), region(second));
        check_web(
            &descriptor,
            "",
            "",
            str![[r#"
memory/w.md:7: error: the roster markers are duplicated [web.markers]
  7 | <!-- [..]:strands -->
    | ^[..]
  help: write `<!-- cantus:strands -->` once and `<!-- /cantus:strands -->` once after it, each alone on its line

"#]],
        );
    }
}

#[test]
fn roster_markers_in_both_spellings() {
    check_web(
        "---\n<!-- cantus:strands -->\n<!-- /cantus:strands -->\n<!-- sase:strands -->\n<!-- /sase:strands -->\n",
        "",
        "",
        str![[r#"
memory/w.md:6: error: the roster markers are duplicated [web.markers]
  6 | <!-- sase:strands -->
    | ^^^^^^^^^^^^^^^^^^^^^
  help: write `<!-- cantus:strands -->` once and `<!-- /cantus:strands -->` once after it, each alone on its line

"#]],
    );
}

#[test]
fn labels_that_mean_two_strands() {
    check_web(
        "---\n",
        "---\nkeyword: Run loop\n---\n",
        "---\naliases: [RUN-LOOP]\n---\n",
        str![[r#"
memory/w/two.md:1: error: the label `run loop` means more than one strand: `memory/w/one.md` (keyword), `memory/w/two.md` (alias) [web.label]
  help: rename a keyword or an alias so that each label means one strand

"#]],
    );
    check_web(
        "---\n",
        "---\nkeyword: two\n---\n",
        "",
        str![[r#"
memory/w/two.md:1: error: the label `two` means more than one strand: `memory/w/one.md` (keyword), `memory/w/two.md` (file name) [web.label]
  1 | Text.
    | ^^^^^
  help: rename a keyword or an alias so that each label means one strand

"#]],
    );
}

#[test]
fn a_list_roster_whose_strand_has_no_summary() {
    check_web(
        "roster: list\n---\n",
        "---\nsummary: One.\n---\n",
        "---\nkeyword: two\n---\n",
        str![[r#"
memory/w/two.md:1: error: a strand of a web with `roster: list` needs a `summary` [web.summary]
  help: add `summary:` and one sentence to its front matter

"#]],
    );
}

#[test]
fn a_strand_with_a_type_or_a_parent() {
    check_web(
        "---\n",
        "---\ntype: core\n---\n",
        "---\nparent: w.md\n---\n",
        str![[r#"
memory/w/one.md:2: error: a strand must not declare `type`: it belongs to its web [note.value]
  2 | type: core
    | ^^^^
memory/w/two.md:2: error: a strand must not declare `parent`: it belongs to its web [note.value]
  2 | parent: w.md
    | ^^^^^^

"#]],
    );
}

#[test]
fn a_strand_whose_front_matter_is_unclosed() {
    check_web(
        "---\n",
        "---\nkeyword: one\n",
        "",
        str![[r#"
memory/w/one.md:3: error: the front matter has no closing `---` line [note.front_matter]
  3 | Text.
    | ^^^^^
  help: put a line `---` above this one, where the text starts

"#]],
    );
}

#[test]
fn a_strand_without_text() {
    check(
        "
        //- memory/w.md
        ---
        web: true
        ---
        //- memory/w/empty.md
        //- memory/w/one.md
        ---
        keyword: first
        ---
        //- memory/w/two.md


        ",
        str![[r#"
memory/w/empty.md:1: error: a strand needs a text below its front matter [note.value]
  help: write what its keyword stands for, or remove the file
memory/w/one.md:1: error: a strand needs a text below its front matter [note.value]
  help: write what its keyword stands for, or remove the file
memory/w/two.md:1: error: a strand needs a text below its front matter [note.value]
  help: write what its keyword stands for, or remove the file

"#]],
    );
}

#[test]
fn aliases_that_unfold_to_millions_are_cut_short() {
    let mut yaml = String::from("---\ntype: core\nmetadata:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let alias = vec![format!("*a{}", level - 1); 10].join(", ");
        yaml.push_str(&format!("  a{level}: &a{level} [{alias}]\n"));
    }
    yaml.push_str("---\n");
    check_note(
        &yaml,
        str![[r#"
memory/a.md:7: error: front matter is broken: more than 10000 values, aliases written out [note.front_matter]
  7 |   a3: &a3 [*a2, *a2, *a2, *a2, *a2, *a2, *a2, *a2, *a2, *a2]
    |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
}

/// Counting values alone is not enough: such a note took half a minute and 9 GB.
#[test]
fn aliases_of_a_long_text_are_cut_short() {
    let yaml = format!("a: &x {}\n  b: [{}]", "x".repeat(900_000), "*x, ".repeat(9_900));
    check_key(
        &format!("metadata:\n  {yaml}"),
        str![[r#"
memory/a.md:5: error: front matter is broken: more than 1048576 bytes of text written out by aliases [note.front_matter]
  5 |   b: [*x, *x, *x, *x, *x, *x, *x, ...x, *x, *x, *x, *x, *x, *x, *x, ]
    |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^...^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_hundred_thousand_keys_are_cut_short() {
    let letters = |n: u32| n.to_string().bytes().map(|digit| char::from(digit + 49)).collect::<String>();
    let keys: Vec<_> = (0..100_000).map(|n| format!("{}: b", letters(n))).collect();
    check_key(
        &keys.join("\n"),
        str![[r#"
memory/a.md:5001: error: front matter is broken: more than 10000 values, aliases written out [note.front_matter]
  5001 | ejji: b
       | ^^^^^^^

"#]],
    );
}

#[test]
fn nesting_of_a_hundred_thousand_levels_ends() {
    check_key(
        &format!("metadata: {}", "[".repeat(100_000)),
        str![[r#"
memory/a.md:3: error: front matter is broken: not valid YAML: recursion limit exceeded [note.front_matter]
  3 | metadata: [[[[[[[[[[[[[[[[[[[[[[...[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^...^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
    check_key(
        &format!("metadata: {}{}", "{a: ".repeat(100_000), "}".repeat(100_000)),
        str![[r#"
memory/a.md:3: error: front matter is broken: more than 32 levels of lists and mappings [note.front_matter]
  3 | metadata: {a: {a: {a: {a: {a: {a...}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^...^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
    check_key(
        &format!("? {}", "? ".repeat(100_000)),
        str![[r#"
memory/a.md:3: error: front matter is broken: more than 32 levels of lists and mappings [note.front_matter]

"#]],
    );
}

#[test]
fn a_note_of_200_megabytes_is_not_read() {
    let repo = Repo::new("");
    repo.write("memory/a.md", GOOD);
    sparse(&repo, "memory/large.md", 200 << 20);
    check_repo(
        &repo,
        str![[r#"
memory/large.md: error: 209715200 bytes are more than the 1048576 that a note may have [note.size]
  help: split the note, or set `note_bytes` under `[limits]` in the configuration

"#]],
    );
}

#[test]
fn the_limit_of_a_note_is_the_configuration_s() {
    let repo = Repo::new("//- cantus.toml\n[limits]\nnote_bytes = 40\n");
    let fits = format!("{GOOD}{}", "x".repeat(40 - GOOD.len()));
    repo.write("memory/a.md", &fits);
    cantus(&repo, &["render"]).exits(0);
    repo.write("memory/a.md", &format!("{fits}x"));
    check_repo(
        &repo,
        str![[r#"
memory/a.md: error: 41 bytes are more than the 40 that a note may have [note.size]
  help: split the note, or set `note_bytes` under `[limits]` in the configuration

"#]],
    );
}

/// A file of that many bytes that takes no room on disk.
#[track_caller]
fn sparse(repo: &Repo, file: &str, bytes: u64) {
    let file = File::create(repo.path().join(file)).expect("a file");
    file.set_len(bytes).expect("a sparse file");
}

#[test]
fn a_folder_that_is_named_like_a_note() {
    let repo = Repo::new("");
    repo.write("memory/a.md", GOOD);
    repo.write("memory/x.md/one.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
memory/x.md: error: a folder is named like a note [note.folder]
  help: rename the folder: a note is a file

"#]],
    );
}

#[test]
fn a_folder_where_a_committed_file_belongs() {
    let repo = Repo::new("//- AGENTS.md/x.txt\nx\n");
    repo.write("memory/a.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
AGENTS.md: error: `AGENTS.md` is a folder; expected a regular file or nothing [target]
  help: a committed file is a regular file inside the project: move this away

"#]],
    );
}

#[test]
fn a_file_where_the_folder_of_the_lock_belongs() {
    let repo = Repo::new("//- projections\nx\n");
    repo.write("memory/a.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
projections/lock.toml: error: `projections/lock.toml` lies behind `projections`, which is a regular file; expected a folder [target]
  help: a committed file is a regular file inside the project: move this away

"#]],
    );
}

#[test]
fn a_configuration_with_unknown_keys() {
    check_config(
        "name = \"a\"\nwidht = 80\n",
        str![[r#"
cantus.toml:2: error: unknown key `widht` [config]
  2 | widht = 80
    | ^^^^^
  help: did you mean `width`?

"#]],
    );
    check_config(
        "\n[projection]\nfile = []\n",
        str![[r#"
cantus.toml:3: error: unknown key `projection.file` [config]
  3 | file = []
    | ^^^^^^^^^
  help: did you mean `files`?

"#]],
    );
    check_config(
        "[[output]]\nrender = \"helper\"\nfile = \"h.md\"\nmode = 1\n",
        str![[r#"
cantus.toml:4: error: unknown key `output.mode` [config]
  4 | mode = 1
    | ^^^^^^^^
  help: known keys here: render, file

"#]],
    );
    check_config(
        "[colours]\n",
        str![[r#"
cantus.toml:1: error: unknown key `colours` [config]
  1 | [colours]
    |  ^^^^^^^
  help: known keys here: name, title, command, memory, package, width, providers, members, plugins, repositories, projection, output, page, budget, limits, record

"#]],
    );
}

#[test]
fn a_configuration_with_wrong_values() {
    check_config(
        "name = 5\ntitle = []\ncommand = true\n",
        str![[r#"
cantus.toml:1: error: `name` must be a text, not `5` [config]
  1 | name = 5
    |        ^
cantus.toml:2: error: `title` must be a text, not an array [config]
  2 | title = []
    | ^^^^^
cantus.toml:3: error: `command` must be a text, not a boolean [config]
  3 | command = true
    | ^^^^^^^

"#]],
    );
    check_config(
        "width = 19\n",
        str![[r#"
cantus.toml:1: error: `width` must be 0 (no wrapping) or from 20 to 10000 cells, not 19 [config]
  1 | width = 19
    | ^^^^^

"#]],
    );
    check_config(
        "width = -1\n",
        str![[r#"
cantus.toml:1: error: `width` must be a whole number, 0 or more, not `-1` [config]
  1 | width = -1
    |         ^^

"#]],
    );
    check_config(
        "width = \"80\"\n",
        str![[r#"
cantus.toml:1: error: `width` must be a whole number, 0 or more, not a string [config]
  1 | width = "80"
    | ^^^^^

"#]],
    );
}

#[test]
fn a_configuration_with_wrong_providers_or_paths() {
    check_config(
        "\nproviders = [\n  \"claude\",\n  \"9\",\n  \"claude\",\n  \"root\",\n]\n",
        str![[r#"
cantus.toml:4: error: `providers`: `9` is not a provider: expected a letter, then letters, digits, `_` and `-` [config]
  4 |   "9",
    |    ^
cantus.toml:5: error: `providers`: `claude` stands here twice [config]
  5 |   "claude",
    |    ^^^^^^
cantus.toml:6: error: `providers`: `root` is the name of a render, not of a provider [config]
  6 |   "root",
    |    ^^^^

"#]],
    );
    check_config(
        "memory = \"/etc\"\npackage = \"../x\"\n",
        str![[r#"
cantus.toml:1: error: `memory`: `/etc` is not a path inside the root: it must be relative [config]
  1 | memory = "/etc"
    |           ^^^^
cantus.toml:2: error: `package`: `../x` is not a path inside the root: no part may be empty, `.` or `..` [config]
  2 | package = "../x"
    |            ^^^^

"#]],
    );
}

#[test]
fn a_configuration_with_wrong_limits_outputs_or_texts() {
    check_config(
        "[limits]\nnote_bytes = 100000000\n",
        str![[r#"
cantus.toml:2: error: `limits.note_bytes` must be from 1 to 67108864, not 100000000 [config]
  2 | note_bytes = 100000000
    | ^^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
    check_config(
        "[[output]]\nrender = \"hepler\"\nfile = \"h.md\"\n",
        str![[r#"
cantus.toml:2: error: no render is called `hepler`: expected one of native, helper, interactive, export, agy, claude, codex, grok, muse, opencode, qwen [config]
  2 | render = "hepler"
    |           ^^^^^^

"#]],
    );
    check_config(
        "[[output]]\nrender = \"helper\"\n",
        str![[r#"
cantus.toml:1: error: an output needs a `render` and a `file` [config]
  1 | [[output]]
    | ^^^^^^^^^^

"#]],
    );
    check_config(
        "[projection]\nnotice = \"yes\"\n",
        str![[r#"
cantus.toml:2: error: `projection.notice` must be `true` or `false`, not a string [config]
  2 | notice = "yes"
    | ^^^^^^^^^^^^^^

"#]],
    );
    check_config(
        "command = \"run `this`\"\n",
        str![[r#"
cantus.toml:1: error: `command` must not hold a backtick or `-->`: it stands in code, in a comment [config]
  1 | command = "run `this`"
    | ^^^^^^^

"#]],
    );
    check_config(
        "repositories = [{ name = \"x\" }]\n",
        str![[r#"
cantus.toml:1: error: a repository needs a `name` and a `description` [config]
  1 | repositories = [{ name = "x" }]
    |                   ^^^^

"#]],
    );
}

#[test]
fn a_configuration_whose_targets_meet() {
    check_config(
        "[projection]\nfiles = [\"AGENTS.md\", \"agents.md\"]\n",
        str![[r#"
cantus.toml:2: error: `agents.md` is a target already [config]
  2 | files = ["AGENTS.md", "agents.md"]
    |                        ^^^^^^^^^

"#]],
    );
    check_config(
        "[projection]\nfiles = [\"memory/AGENTS.md\"]\n",
        str![[r#"
cantus.toml:2: error: `memory/AGENTS.md` meets `memory/`, whose files are sources [config]
  2 | files = ["memory/AGENTS.md"]
    |           ^^^^^^^^^^^^^^^^

"#]],
    );
    check_config(
        "memory = \"memory\"\n[projection]\nfiles = [\"memory/AGENTS.md\"]\n",
        str![[r#"
cantus.toml:3: error: `memory/AGENTS.md` meets `memory/`, whose files are sources [config]
  3 | files = ["memory/AGENTS.md"]
    |           ^^^^^^^^^^^^^^^^

"#]],
    );
    check_config(
        "[projection]\nfiles = [\"README.md\", \"../x.md\", \"projections/lock.toml\"]\n",
        str![[r#"
cantus.toml:2: error: `projection.files`: `../x.md` is not a path inside the root: no part may be empty, `.` or `..` [config]
  2 | files = ["README.md", "../x.md", "projections/lock.toml"]
    |                        ^^
cantus.toml:2: error: `README.md` can't be a target: the name is taken [config]
  2 | files = ["README.md", "../x.md", "projections/lock.toml"]
    |           ^^^^^^^^^
cantus.toml:2: error: `projections/lock.toml` can't be a target: the name is taken [config]
  2 | files = ["README.md", "../x.md", "projections/lock.toml"]
    |                                   ^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_configuration_that_is_not_toml() {
    check_config(
        "name = \"a\"\nwidth = = 3\n",
        str![[r#"
cantus.toml:2: error: not valid TOML: extra `=`, expected nothing [config]
  2 | width = = 3
    |       ^

"#]],
    );
    check_config(
        "name = \"a\"\nname = \"b\"\n",
        str![[r#"
cantus.toml:2: error: not valid TOML: duplicate key [config]
  2 | name = "b"
    | ^^^^^^^^^^

"#]],
    );
    check_config(
        "[projection\n",
        str![[r#"
cantus.toml:1: error: not valid TOML: unclosed table, expected `]` [config]
  1 | [projection
    | ^^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_cargo_manifest_that_is_not_toml() {
    let repo = Repo::new("//- Cargo.toml\n[workspace.metadata.cantus]\nname = a\n");
    repo.write("memory/a.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
Cargo.toml:2: error: not valid TOML: string values must be quoted, expected literal string [config]
  2 | name = a
    | ^^^^^^^^

"#]],
    );
}

#[test]
fn a_cargo_manifest_with_a_wrong_key() {
    let repo = Repo::new(
        "
        //- Cargo.toml
        [workspace]
        members = []

        [workspace.metadata.cantus]
        nmae = \"a\"
        ",
    );
    repo.write("memory/a.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
Cargo.toml:5: error: unknown key `nmae` [config]
  5 | nmae = "a"
    | ^^^^
  help: did you mean `name`?

"#]],
    );
}

#[test]
fn configurations_in_both_places() {
    let repo = Repo::new(
        "
        //- cantus.toml
        name = \"a\"
        //- Cargo.toml
        [workspace.metadata.cantus]
        name = \"a\"
        ",
    );
    repo.write("memory/a.md", GOOD);
    check_repo(
        &repo,
        str![[r#"
cantus.toml: error: the configuration stands here and in `[workspace.metadata.cantus]` of `Cargo.toml` [config]
  help: keep one of the two

"#]],
    );
}

#[test]
fn a_note_folder_that_is_configured_and_absent() {
    check_config(
        "memory = \"notes\"\n",
        str![[r#"
notes: error: the folder is not there [project.memory]

"#]],
    );
    check_config(
        "memory = \"cantus.toml\"\n",
        str![[r#"
cantus.toml: error: not a folder [project.memory]
  help: `memory` in the configuration must name the folder with the notes

"#]],
    );
}

#[test]
fn a_package_folder_that_is_absent_or_empty() {
    check_config(
        "package = \"house\"\n",
        str![[r#"
house: error: the folder is not there [package]

"#]],
    );
    check(
        "//- cantus.toml\npackage = \"house\"\n//- house/x.txt\n",
        str![[r#"
house/contract.md: error: a package needs this file [package]
house/package.toml: error: a package needs this file, with `name` and `version` [package]

"#]],
    );
    let repo = Repo::new(PACKAGE);
    repo.remove("house/contract.md");
    check_repo(
        &repo,
        str![[r#"
house/contract.md: error: a package needs this file [package]

"#]],
    );
}

#[test]
fn a_package_that_is_named_wrong() {
    check_package(
        "house/package.toml",
        "name = \"house\"\n",
        str![[r#"
house/package.toml: error: the key `version` is missing [package]

"#]],
    );
    check_package(
        "house/package.toml",
        "name = \"My House\"\nversion = \"1\"\n",
        str![[r#"
house/package.toml: error: `My House` can't be a package's name: expected `[a-z0-9_-]+`, and neither `root`, `helper` nor `provider` [package]

"#]],
    );
    check_package(
        "house/package.toml",
        "name = \"root\"\nversion = \"1\"\n",
        str![[r#"
house/package.toml: error: `root` can't be a package's name: expected `[a-z0-9_-]+`, and neither `root`, `helper` nor `provider` [package]

"#]],
    );
    check_package(
        "house/package.toml",
        "name = \"house\"\nversion = 1\n",
        str![[r#"
house/package.toml:2: error: `version` must be a non-empty text [package]
  2 | version = 1
    | ^^^^^^^

"#]],
    );
    check_package(
        "house/package.toml",
        "nam = \"house\"\nversion = \"1\"\n",
        str![[r#"
house/package.toml: error: the key `name` is missing [package]
house/package.toml:1: error: unknown key `nam`: did you mean `name`? [package]
  1 | nam = "house"
    | ^^^

"#]],
    );
    check_package(
        "house/package.toml",
        "name = house\n",
        str![[r#"
house/package.toml:1: error: not valid TOML: string values must be quoted, expected literal string [package]
  1 | name = house
    | ^^^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_package_with_a_faulty_frame_or_provider() {
    check_package(
        "house/frame.md",
        "intro\n\n## Core Memory {#core}\n",
        str![[r#"
house/frame.md:1: error: this text stands before the first `## ` heading and would be lost [package]
  1 | intro
    | ^^^^^

"#]],
    );
    check_package(
        "house/frame.md",
        "## Core Memory {#cor}\n",
        str![[r#"
house/frame.md:1: error: a heading here needs one of `{#core}`, `{#reference}`, `{#webs}` [package]
  1 | ## Core Memory {#cor}
    | ^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
    check_package(
        "house/frame.md",
        "## Core {#core}\n\n## Again {#core}\n",
        str![[r#"
house/frame.md:3: error: `{#core}` stands on line 1 already [package]
  3 | ## Again {#core}
    |          ^^^^^^^

"#]],
    );
    check_package(
        "house/providers/9.md",
        "x\n",
        str![[r#"
house/providers/9.md: error: `9` is not a provider: expected a letter, then letters, digits, `_` and `-` [package]

"#]],
    );
}

#[test]
fn a_contract_with_two_sections_of_one_id() {
    check_contract(
        "## Rules\n\n## rules\n",
        str![[r#"
house/contract.md:5: error: the section `pkg.house.rules` stands on line 3 already [package.contract]
  5 | ## rules
    | ^^^^^^^^

"#]],
    );
    check_contract(
        "## One {#x}\n\n## Two {#x}\n",
        str![[r#"
house/contract.md:5: error: the section `pkg.house.x` stands on line 3 already [package.contract]
  5 | ## Two {#x}
    | ^^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_contract_with_faulty_headings() {
    check_contract(
        "#### Deep\n",
        str![[r#"
house/contract.md:3: error: headings go no deeper than H3 here: `#### Deep` [package.contract]
  3 | #### Deep
    | ^^^^^^^^^

"#]],
    );
    check_contract(
        "# Second\n",
        str![[r#"
house/contract.md:3: error: expected one H1, found 2; the first is on line 1 [package.contract]
  3 | # Second
    | ^^^^^^^^

"#]],
    );
    check_contract(
        "## A {#a .rot}\n",
        str![[r#"
house/contract.md:3: error: unknown heading attribute `.rot`: expected `#id`, `.root`, `.helper` or `.required` [package.contract]
  3 | ## A {#a .rot}
    |          ^^^^

"#]],
    );
    check_contract(
        "## A {#a .root .helper}\n",
        str![[r#"
house/contract.md:3: error: a section is for root agents or for helpers, not for both: drop `.root` or `.helper` [package.contract]
  3 | ## A {#a .root .helper}
    |                ^^^^^^^

"#]],
    );
    check_contract(
        "## A {{ project }}\n",
        str![[r#"
house/contract.md:3: error: a heading that holds a template variable needs an id of its own [package.contract]
  3 | ## A {{ project }}
    | ^^^^^^^^^^^^^^^^^^
  help: end the line with an attribute such as `{#topic}`

"#]],
    );
    check_package(
        "house/contract.md",
        "no heading\n",
        str![[r#"
house/contract.md:1: error: the first heading must be the contract's one H1 (`# Title`) [package.contract]
  1 | no heading
    | ^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_contract_that_is_no_template() {
    check_contract(
        "## A\n{% if project %}\n",
        str![[r#"
house/contract.md:4: error: the template fails: syntax error: unexpected end of input, expected end of block [package.contract]
  4 | {% if project %}
    | ^^^^^^^^^^^^^^^^

"#]],
    );
    check_contract(
        "## A\n\n{{ project | shuot }}\n",
        str![[r#"
house/contract.md:5: error: a contract has no filter `shuot` [package.contract]
  5 | {{ project | shuot }}
    |              ^^^^^
  help: a contract knows `if`, `for` and `set`, comparisons, `~`, `range` and the filters capitalize, count, d, default, first, indent, int, join, last, length, lower, rejectattr, replace, reverse, selectattr, sort, string, title, trim, upper

"#]],
    );
    check_contract(
        "## A\n\n{{ 1 / 0 }}\n",
        str![[r#"
house/contract.md:5: error: the template fails: invalid operation: unable to calculate 1 / 0 [package.contract]
  5 | {{ 1 / 0 }}
    | ^^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_contract_with_an_unknown_variable() {
    check_contract(
        "## A\n\n{{ projcet }}\n",
        str![[r#"
house/contract.md:5: error: the template fails: undefined value: `projcet` is undefined [package.contract]
  5 | {{ projcet }}
    |    ^^^^^^^

"#]],
    );
    check_contract(
        "## A\n\n{{ repositories[0].nmae }}\n",
        str![[r#"
house/contract.md:5: error: the template fails: undefined value: `repositories[0]` is undefined [package.contract]
  5 | {{ repositories[0].nmae }}
    |    ^^^^^^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_contract_without_end() {
    check_contract(
        "## A\n\n{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}\n",
        str![[r#"
house/contract.md:5: error: the template fails: more than 1000000 steps: does it loop? [package.contract]
  5 | {% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

"#]],
    );
}

#[test]
fn a_contract_cannot_read_other_files() {
    check_contract(
        "## A\n\n{% include \"../cantus.toml\" %}\n",
        str![[r#"
house/contract.md:5: error: a contract has no `include` [package.contract]
  5 | {% include "../cantus.toml" %}
    |    ^^^^^^^
  help: a contract knows `if`, `for` and `set`, comparisons, `~`, `range` and the filters capitalize, count, d, default, first, indent, int, join, last, length, lower, rejectattr, replace, reverse, selectattr, sort, string, title, trim, upper

"#]],
    );
}

/// Files with faults of every kind.
const FAULTY: &str = "
    //- cantus.toml
    widht = 80
    package = \"house\"
    //- house/package.toml
    name = \"house\"
    //- memory/a.md
    # A
    //- memory/b.md
    ---
    type: core
    prioriti: 1
    priority: yes
    ---
    //- memory/c.md
    ---
    web: true
    ---
    <!-- cantus:strands -->
    //- memory/c/one.md
    ---
    keyword: two
    type: core
    ---
    Text.
    //- memory/c/two.md
    ---
    summary: []
    ---
    Text.
    //- memory/d/x.md
    x
    ";

#[test]
fn every_problem_is_told_in_one_run() {
    check(
        FAULTY,
        str![[r#"
cantus.toml:1: error: unknown key `widht` [config]
  1 | widht = 80
    | ^^^^^
  help: did you mean `width`?
house/contract.md: error: a package needs this file [package]
house/package.toml: error: the key `version` is missing [package]
memory/a.md:1: error: a note must start with front matter [note.front_matter]
  1 | # A
    | ^^^
  help: put these lines at its top: `---`, `type: core` (whole text in every context) or `type: reference` (named there, read on demand), `---`; a file that is no note belongs elsewhere or in `assets/`
memory/b.md:3: error: unknown key `prioriti` [note.key]
  3 | prioriti: 1
    | ^^^^^^^^
  help: did you mean `priority`?
memory/b.md:4: error: `priority` must be a whole number, 0 or more, not `yes` [note.value]
  4 | priority: yes
    |           ^^^
  help: `yes` is text in YAML 1.2, and never a number
memory/c.md:4: error: the roster markers are unbalanced [web.markers]
  4 | <!-- cantus:strands -->
    | ^^^^^^^^^^^^^^^^^^^^^^^
  help: write `<!-- cantus:strands -->` once and `<!-- /cantus:strands -->` once after it, each alone on its line
memory/c/one.md:3: error: a strand must not declare `type`: it belongs to its web [note.value]
  3 | type: core
    | ^^^^
memory/c/two.md:1: error: the label `two` means more than one strand: `memory/c/one.md` (keyword), `memory/c/two.md` (file name) [web.label]
  help: rename a keyword or an alias so that each label means one strand
memory/c/two.md:2: error: `summary` must be text (quote it), not a list [note.value]
  2 | summary: []
    | ^^^^^^^
memory/d: error: the folder holds notes, but there is no descriptor `memory/d.md` [web.stray]
  help: write `memory/d.md` with `web: true` in its front matter, or move the notes up or into `assets/`

"#]],
    );
}

#[cfg(unix)]
mod unix {
    //! What only these file systems can hold.

    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use cantus_testkit::Repo;
    use snapbox::{IntoData, assert_data_eq, str};

    use super::{GOOD, check_repo};
    use crate::program::cantus;

    /// A project with one good note and this link.
    #[track_caller]
    fn linked(target: &str, link: &str) -> Repo {
        let repo = Repo::new("");
        repo.write("memory/good.md", GOOD);
        self::link(&repo, target, link);
        repo
    }

    #[track_caller]
    fn link(repo: &Repo, target: &str, link: &str) {
        symlink(target, repo.path().join(link)).expect("a symlink");
    }

    #[test]
    fn a_fifo_that_is_named_like_a_note() {
        let repo = Repo::new("");
        repo.write("memory/good.md", GOOD);
        repo.run("mkfifo", &["memory/x.md"]).exits(0);
        check_repo(
            &repo,
            str![[r#"
memory/x.md: error: cannot read `memory/x.md`: a special file is not a regular file [io]

"#]],
        );
    }

    #[test]
    fn a_fifo_that_is_named_like_a_strand() {
        let repo = Repo::new("//- memory/w.md\n---\nweb: true\n---\n//- memory/w/one.md\none\n");
        repo.run("mkfifo", &["memory/w/x.md"]).exits(0);
        check_repo(
            &repo,
            str![[r#"
memory/w/x.md: error: cannot read `memory/w/x.md`: a special file is not a regular file [io]

"#]],
        );
    }

    #[test]
    fn a_fifo_in_place_of_the_configuration() {
        let repo = Repo::new("");
        repo.write("memory/good.md", GOOD);
        repo.run("mkfifo", &["cantus.toml"]).exits(0);
        check_repo(
            &repo,
            str![[r#"
cantus.toml: error: cannot read `cantus.toml`: a special file is not a regular file [io]

"#]],
        );
    }

    #[test]
    fn a_symlink_to_nothing() {
        check_repo(
            &linked("nowhere.md", "memory/x.md"),
            str![[r#"
memory/x.md: error: `memory/x.md` is a symlink that cannot be followed: No such file or directory (os error 2) [note.symlink]
  help: copy the file here, or link to one inside the note folder

"#]],
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_symlink_to_itself() {
        check_repo(
            &linked("x.md", "memory/x.md"),
            str![[r#"
memory/x.md: error: `memory/x.md` is a symlink that cannot be followed: Too many levels of symbolic links (os error 40) [note.symlink]
  help: copy the file here, or link to one inside the note folder

"#]],
        );
    }

    #[test]
    fn a_symlink_out_of_the_note_folder() {
        let repo = linked("../other.md", "memory/x.md");
        repo.write("other.md", GOOD);
        check_repo(
            &repo,
            str![[r#"
memory/x.md: error: `memory/x.md` is a symlink to `other.md`; expected a file inside `memory` [note.symlink]
  help: copy the file here, or link to one inside the note folder

"#]],
        );
    }

    #[test]
    fn a_symlink_out_of_the_project() {
        check_repo(
            &linked("/etc/hostname", "memory/x.md"),
            str![[r#"
memory/x.md: error: `memory/x.md` is a symlink out of the root; expected a file inside `memory` [note.symlink]
  help: copy the file here, or link to one inside the note folder

"#]],
        );
    }

    #[test]
    fn a_symlink_to_a_device() {
        check_repo(
            &linked("/dev/zero", "memory/x.md"),
            str![[r#"
memory/x.md: error: `memory/x.md` is a symlink out of the root; expected a file inside `memory` [note.symlink]
  help: copy the file here, or link to one inside the note folder

"#]],
        );
    }

    #[test]
    fn a_symlink_to_a_folder_that_is_named_like_a_note() {
        let repo = linked("assets", "memory/x.md");
        repo.write("memory/assets/a.txt", "a");
        check_repo(
            &repo,
            str![[r#"
memory/x.md: error: cannot read `memory/assets`, to which the symlink `memory/x.md` points: a folder is not a regular file [note.symlink]
  help: copy the file here, or link to one inside the note folder

"#]],
        );
    }

    #[test]
    fn a_symlink_to_a_folder_outside() {
        let repo = linked("../strands", "memory/w");
        repo.write("strands/one.md", "One.\n");
        repo.write("memory/w.md", "---\nweb: true\n---\n");
        check_repo(
            &repo,
            str![[r#"
memory/w: error: a symlink to a folder outside `memory/` [note.symlink]
  help: copy the folder here, or link to one inside the note folder
memory/w.md: error: the web has no strand folder `memory/w` [web.folder]
  help: create `memory/w/` and its first strand, or make the note `type: core`

"#]],
        );
    }

    #[test]
    fn a_symlink_to_the_note_folder_itself() {
        let repo = linked(".", "memory/again");
        repo.write("memory/good.md", GOOD);
        check_repo(
            &repo,
            str![[r#"
memory/again: error: a symlink to `memory/` itself [note.symlink]
  help: remove it

"#]],
        );
    }

    #[test]
    fn a_symlink_inside_the_note_folder_is_followed() {
        let repo = linked("assets/real.md", "memory/x.md");
        repo.write("memory/assets/real.md", "---\ntype: core\n---\n# Linked\n");
        let text = cantus(&repo, &["render"]).exits(0).stdout;
        assert!(text.contains("\n### Linked (x)\n"), "{text}");
    }

    #[test]
    fn a_note_folder_that_is_a_symlink_inside_the_project_is_followed() {
        let repo = Repo::new("");
        repo.write("docs/notes/good.md", GOOD);
        link(&repo, "docs/notes", "memory");
        let text = cantus(&repo, &["render"]).exits(0).stdout;
        assert!(text.contains("\n### Good (good)\n"), "{text}");
    }

    #[test]
    fn a_note_folder_that_is_a_symlink_out_of_the_project() {
        let repo = Repo::new("//- cantus.toml\n");
        std::fs::create_dir(repo.home().join("notes")).expect("a folder");
        link(&repo, "../home/notes", "memory");
        check_repo(
            &repo,
            str![[r#"
memory: error: a symlink out of the project: the folder must lie inside it [project.memory]

"#]],
        );
    }

    #[test]
    fn a_committed_file_that_is_a_symlink() {
        let repo = linked("CLAUDE.md", "AGENTS.md");
        check_repo(
            &repo,
            str![[r#"
AGENTS.md: error: `AGENTS.md` is a symlink; expected a regular file or nothing [target]
  help: a committed file is a regular file inside the project: move this away

"#]],
        );
        repo.write("CLAUDE.md", "mine\n");
        check_repo(
            &repo,
            str![[r#"
AGENTS.md: error: `AGENTS.md` is a symlink; expected a regular file or nothing [target]
  help: a committed file is a regular file inside the project: move this away

"#]],
        );
    }

    #[test]
    fn a_committed_file_behind_a_symlink() {
        let repo = linked("../home", "projections");
        check_repo(
            &repo,
            str![[r#"
projections/lock.toml: error: `projections/lock.toml` lies behind the symlink `projections`; expected a folder [target]
  help: a committed file is a regular file inside the project: move this away

"#]],
        );
        assert!(repo.home().read_dir().expect("a folder").next().is_none());
    }

    #[test]
    fn a_package_folder_that_is_a_symlink_out_of_the_project() {
        let repo = linked("../home", "house");
        repo.write("cantus.toml", "package = \"house\"\n");
        check_repo(
            &repo,
            str![[r#"
house: error: a symlink out of the project: the folder must lie inside it [package]

"#]],
        );
    }

    #[test]
    fn a_file_name_with_a_backslash() {
        let repo = Repo::new("");
        repo.write("memory/good.md", GOOD);
        std::fs::write(repo.path().join("memory/a\\b.md"), GOOD).expect("a file");
        let output = cantus(&repo, &["project"]).exits(2);
        assert_data_eq!(output.stderr, str![[r#"
memory: error: `memory/a\b.md` is not a path inside the root: write `/` between its parts, not a backslash [name.path]
  help: rename the file

"#]].raw());
        assert!(!repo.exists("AGENTS.md"));
    }

    #[test]
    fn file_names_with_line_breaks_and_other_control_characters() {
        for (name, shown) in [("a\nb", "a\\nb"), ("a\rb", "a\\rb"), ("a\u{1b}[1mb", "a\\u{1b}[1mb")] {
            for folder in ["memory", "memory/w"] {
                let repo = Repo::new("");
                repo.write("memory/w.md", "---\nweb: true\n---\n");
                repo.write("memory/w/good.md", "Text.\n");
                std::fs::write(repo.path().join(format!("{folder}/{name}.md")), GOOD).expect("a file");
                let stderr = cantus(&repo, &["project"]).exits(2).stderr;
                let path = format!("{folder}: error: `{folder}/{shown}.md` is not a path inside the root:");
                assert_eq!(
                    stderr,
                    format!(
                        "{path} it must not hold control characters [name.path]\n  help: rename the file\n"
                    )
                );
                assert!(!repo.exists("AGENTS.md"));
            }
        }
    }

    #[test]
    fn a_file_name_as_long_as_the_disk_allows_is_none() {
        let repo = Repo::new("");
        let name = format!("memory/{}.md", "n".repeat(252));
        repo.write(&name, GOOD);
        cantus(&repo, &["project"]).exits(0);
        cantus(&repo, &["project", "--check"]).exits(0);
        assert!(repo.read("projections/lock.toml").contains(&name));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_name_that_is_not_utf8() {
        let repo = Repo::new("");
        repo.write("memory/good.md", GOOD);
        let name = OsStr::from_bytes(b"memory/caf\xe9.md");
        std::fs::write(repo.path().join(name), GOOD).expect("a file");
        check_repo(
            &repo,
            str![[r#"
memory: error: the name of `caf�.md` is not UTF-8 [name.utf8]
  help: rename the file

"#]],
        );
    }
}

#[test]
fn a_misspelt_type_is_one_finding() {
    let repo = Repo::new("//- memory/a.md\n---\ntpye: core\n---\n# A\n");
    let output = cantus(&repo, &["project"]).exits(2);
    assert_data_eq!(
        output.stderr,
        str![[r#"
memory/a.md:2: error: unknown key `tpye` [note.key]
  2 | tpye: core
    | ^^^^
  help: did you mean `type`?

"#]]
    );
}

#[test]
fn a_long_unknown_key_is_not_repeated_in_full() {
    let long = "k".repeat(900);
    let repo = Repo::new("//- memory/a.md\n---\ntype: core\n---\n# A\n");
    repo.write("memory/b.md", &format!("---\ntype: core\n{long}: 1\n---\n"));
    repo.write("cantus.toml", &format!("{long} = 1\n"));
    let output = cantus(&repo, &["project"]).exits(2);
    let key = format!("error: unknown key `{}…` ", "k".repeat(60));
    assert_eq!(output.stderr.matches(&key).count(), 2, "{}", output.stderr);
    assert!(output.stderr.len() < 900, "{}", output.stderr);
}

#[test]
fn no_message_repeats_a_long_value() {
    let long = "9".repeat(100_000);
    for (file, text) in [
        ("memory/a.md", format!("---\ntype: core\npriority: {long}\n---\n")),
        ("memory/a.md", format!("---\ntype: core\npriority: 0{long}\n---\n")),
        ("memory/a.md", format!("---\ntype: {long}\n---\n")),
        ("cantus.toml", format!("title = {long}\n")),
        ("cantus.toml", format!("memory = \"../{long}\"\n")),
        ("cantus.toml", format!("members = [\"{long}\"]\n")),
        ("cantus.toml", format!("a{long} = 1\n")),
    ] {
        let repo = Repo::new("");
        repo.write("memory/good.md", GOOD);
        repo.write(file, &text);
        let error = cantus(&repo, &["project"]).exits(2).stderr;
        assert!(error.len() < 2000, "{} bytes: {}", error.len(), &error[..500]);
        assert!(error.starts_with(file), "{error}");
    }
}

#[test]
fn a_web_by_its_type() {
    check_note(
        "---\ntype: web\n---\n# A\n",
        str![[r#"
memory/a.md:2: error: `type` must be `core` or `reference`, not `web` [note.value]
  2 | type: web
    |       ^^^
  help: a web says `web: true` instead of a type, and has its strands in the folder `a/` beside it

"#]],
    );
}

#[test]
fn front_matter_below_the_top() {
    check_note(
        "\n---\ntype: core\n---\n",
        str![[r#"
memory/a.md:1: error: a blank line stands above the front matter [note.front_matter]
  help: remove it: `---` must be the first line of the file

"#]],
    );
    check_note(
        "\n  \n---\ntype: core\n---\n",
        str![[r#"
memory/a.md:1: error: 2 blank lines stand above the front matter [note.front_matter]
  help: remove them: `---` must be the first line of the file

"#]],
    );
    check_note(
        "# A\n---\ntype: core\n---\n",
        str![[r#"
memory/a.md:2: error: text stands above the front matter [note.front_matter]
  help: move the front matter to the top: its line `---` must be the first of the file

"#]],
    );
}

#[test]
fn front_matter_between_other_lines_than_three_dashes() {
    check_note(
        "----\ntype: core\n----\n# A\n",
        str![[r#"
memory/a.md:1: error: the first line of the front matter has 4 dashes, not three [note.front_matter]
  help: write `---`, three plain dashes, above and below the front matter

"#]],
    );
    check_note(
        "\u{2014}\ntype: core\n---\n# A\n",
        str![[r#"
memory/a.md:1: error: the first line of the front matter is `—`, not `---` [note.front_matter]
  1 | —
    | ^
  help: write `---`, three plain dashes, above and below the front matter

"#]],
    );
    check_note(
        "---\ntype: core\n----\n# A\n",
        str![[r#"
memory/a.md:3: error: the closing line of the front matter has 4 dashes, not three [note.front_matter]
  help: write `---`, three plain dashes, above and below the front matter

"#]],
    );
}

#[test]
fn a_rule_of_dashes_above_text_is_no_front_matter() {
    check_note(
        "-----\n\ntype: this.\n",
        str![[r#"
memory/a.md:1: error: a note must start with front matter [note.front_matter]
  help: put these lines at its top: `---`, `type: core` (whole text in every context) or `type: reference` (named there, read on demand), `---`; a file that is no note belongs elsewhere or in `assets/`

"#]],
    );
}

#[test]
fn curly_quotes() {
    check_note(
        "---\ntype: \u{201c}core\u{201d}\n---\n# A\n",
        str![[r#"
memory/a.md:2: error: `type` must be `core` or `reference`, not `“core”` [note.value]
  2 | type: “core”
    |       ^^^^^^
  help: in YAML quotes are straight: write `"core"`, or `core` without quotes

"#]],
    );
    check_key(
        "priority: \u{201e}7\u{201d}",
        str![[r#"
memory/a.md:3: error: `priority` must be a whole number, 0 or more, not `„7”` [note.value]
  3 | priority: „7”
    |           ^^^
  help: in YAML quotes are straight: write `"7"`, or `7` without quotes

"#]],
    );
}

#[test]
fn a_note_folder_that_is_a_file() {
    let repo = Repo::new("//- memory\nText.\n//- cantus.toml\nname = \"a\"\n");
    check_repo(
        &repo,
        str![[r#"
memory: error: not a folder [project.memory]
  help: `memory/` is where notes are looked for: move this file away, or name another folder with `memory` in the configuration

"#]],
    );
}
