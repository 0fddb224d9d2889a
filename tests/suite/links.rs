//! Links between notes: `read`, what `list` and `check` say of them.

use cantus_testkit::Repo;
use serde_json::Value;
use snapbox::str;

use crate::program::{cantus, replace};

const PROJECT: &str = "
    //- memory/rules.md
    ---
    type: core
    ---
    # Rules

    See [[errors]], [[w]] and `[[not this]]`.
    //- memory/errors.md
    ---
    type: reference
    description: How errors read.
    ---
    # Errors

    They name a line; more in ![[deep]].
    //- memory/deep.md
    ---
    type: reference
    parent: errors.md
    ---
    No title here. Back to ![[errors]] and [[rules]].
    //- memory/w.md
    ---
    web: true
    link_reference: implicit
    strand_noun: term
    ---
    # Words

    Ours.
    //- memory/w/stitch.md
    ---
    aliases: [sew]
    ---
    A loop of thread; no axe.
    //- memory/w/axe.md
    ---
    summary: A tool.
    ---
    # Axe

    For trees, see [[errors]].
    //- memory/w/thread.md
    A line that one sews with.
    ";

#[track_caller]
fn check_read(args: &[&str], expected: impl snapbox::IntoData) {
    let repo = Repo::new(PROJECT);
    let output = cantus(&repo, &[&["read"], args].concat()).exits(0);
    assert_eq!(output.stderr, "");
    snapbox::assert_data_eq!(output.stdout, expected.into_data().raw());
}

#[test]
fn a_note_is_read_with_what_it_embeds() {
    check_read(
        &["errors"],
        str![[r#"
# Errors (errors.md)

They name a line; more in ![[deep]].

# Deep (deep.md)

No title here. Back to ![[errors]] and [[rules]].

## Linked References

The text above links to these; ask for one by its address.

### 1. `rules.md`

**Rules** (always loaded) — See [[errors]], [[w]] and `[[not this]]`.

"#]],
    );
}

#[test]
fn a_strand_is_read_with_what_it_mentions() {
    check_read(
        &["w:stitches"],
        str![[r#"
# Stitch (w:stitch)

A loop of thread; no axe.

# Thread (w:thread)

A line that one sews with.

# Axe (w:axe)

For trees, see [[errors]].

## Linked References

The text above links to these; ask for one by its address.

### 1. `errors.md`

**Errors** — How errors read.

"#]],
    );
}

#[test]
fn depth_zero_reads_what_was_asked_for_alone() {
    check_read(
        &["errors", "w:thread", "--depth", "0"],
        str![[r#"
# Errors (errors.md)

They name a line; more in ![[deep]].

# Thread (w:thread)

A line that one sews with.

## Linked References

The text above links to these; ask for one by its address.

### 1. `deep.md`

**Deep** — No title here. Back to ![[errors]] and [[rules]].

"#]],
    );
}

#[test]
fn a_web_is_read_with_its_roster() {
    check_read(
        &["w"],
        str![[r#"
# Words (w)

Ours.

**TERMS:** Axe; Stitch (sew); Thread

"#]],
    );
}

#[test]
fn every_spelling_of_a_note_reads_the_same() {
    let repo = Repo::new(PROJECT);
    let read = |target| cantus(&repo, &["read", target]).exits(0).stdout;
    for spelling in ["errors.md", "memory/errors.md", "./memory/errors.md"] {
        assert_eq!(read(spelling), read("errors"), "{spelling}");
    }
    for spelling in ["w/axe", "w/axe.md", "memory/w/axe.md", "w:AXE", "w:axes", "w:ax"] {
        assert_eq!(read(spelling), read("w:axe"), "{spelling}");
    }
}

#[test]
fn the_json_says_what_led_to_each_text() {
    let repo = Repo::new(PROJECT);
    let output = cantus(&repo, &["read", "--json", "w:stitch"]).exits(0);
    let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let items = answer["items"].as_array().expect("items").iter();
    let items: Vec<_> = items.map(|item| (item["address"].as_str(), item["via"].as_str())).collect();
    assert_eq!(
        items,
        [(Some("w:stitch"), None), (Some("w:thread"), Some("w:stitch")), (Some("w:axe"), Some("w:stitch")),]
    );
    assert_eq!(answer["version"], 1);
    assert_eq!(answer["references"][0]["address"], "errors.md");
    assert_eq!(answer["references"][0]["always_loaded"], false);
    assert_eq!(answer["unresolved"], Value::Array(Vec::new()));
}

#[test]
fn what_is_not_there_is_an_answer_with_suggestions() {
    let repo = Repo::new(PROJECT);
    let output = cantus(&repo, &["read", "errors", "w:hammer", "eror", "thread", "w/Axe"]).exits(1);
    assert_eq!(output.stdout, "");
    snapbox::assert_data_eq!(
        output.stderr,
        str![[r#"
error: no note or strand is called `w:hammer` [read.unknown]
  help: `cantus list` names the notes
error: no note or strand is called `eror` [read.unknown]
  help: did you mean `errors.md`?
error: no note or strand is called `thread` [read.unknown]
  help: did you mean `w:thread`?
error: no note or strand is called `w/Axe` [read.unknown]
  help: did you mean `w:axe`?

"#]]
    );
    cantus(&repo, &["read"]).exits(2);
    cantus(&repo, &["read", "", "/etc/passwd", "../../x", "w:", ":", "[[errors]]", "\u{1b}[31m"]).exits(1);
}

#[test]
fn a_home_note_is_read_where_the_project_has_none() {
    let repo = Repo::new(PROJECT);
    repo.write("home/memory/errors.md", "---\ntype: reference\n---\nMine.\n");
    repo.write("home/memory/own.md", "---\ntype: reference\n---\nMy own, see [[errors]].\n");
    let read = |target| cantus(&repo, &["read", target, "--home", "home"]).exits(0).stdout;
    assert!(read("errors").starts_with("# Errors (errors.md)"));
    assert!(read("own").starts_with("# Own (own.md)\n\nMy own"));
    cantus(&repo, &["read", "own", "--no-home"]).exits(1);
}

#[test]
fn a_cycle_of_a_thousand_strands_ends() {
    let repo = Repo::new(PROJECT);
    repo.write("memory/ring.md", "---\nweb: true\nlink_reference: implicit\n---\n# Ring\n");
    for number in 0..1000 {
        let text = format!("Next comes link {}.\n", (number + 1) % 1000);
        repo.write(&format!("memory/ring/link-{number}.md"), &text);
    }
    let output = cantus(&repo, &["read", "ring:link 7"]).exits(0);
    assert_eq!(output.stdout.matches("\n# Link ").count() + 1, 1000);
    let output = cantus(&repo, &["read", "ring:link 7", "--depth", "3"]).exits(0);
    assert_eq!(output.stdout.matches("\n# Link ").count() + 1, 4);
}

#[test]
fn bundles_hold_links_as_they_are() {
    let repo = Repo::new(PROJECT);
    let output = cantus(&repo, &["render", "-q"]).exits(0);
    assert!(output.stdout.contains("See [[errors]], [[w]] and `[[not this]]`."));
}

#[test]
fn check_names_links_that_lead_nowhere() {
    let repo = Repo::new(PROJECT);
    replace(&repo, "memory/rules.md", "[[w]]", "[[w:hammer]] or ![[thread]]");
    replace(&repo, "memory/errors.md", "![[deep]]", "the file");
    cantus(&repo, &["project"]).exits(0);
    let output = cantus(&repo, &["check"]).exits(1);
    snapbox::assert_data_eq!(
        output.stdout,
        str![[r#"
memory/rules.md:6: error: the link `[[w:hammer]]` leads nowhere [link.unresolved]
  6 | See [[errors]], [[w:hammer]] or ![[thread]] and `[[not this]]`.
    |                 ^^^^^^^^^^^^
  help: mend it, put it into backticks if it is no link, or set `link_reference: none`
memory/rules.md:6: error: the link `[[thread]]` leads nowhere [link.unresolved]
  6 | See [[errors]], [[w:hammer]] or ![[thread]] and `[[not this]]`.
    |                                  ^^^^^^^^^^
  help: did you mean `[[w:thread]]`?
memory/deep.md:3: warning: no bundle lists this note, since its parent is `errors.md`, and no other note leads to it [note.unreachable]
  3 | parent: errors.md
    |         ^^^^^^^^^
  help: link to it with `[[deep]]`, or remove `parent` from it
      Failed 2 errors, 1 warning, 0 notes
             12 sections, 2,691 bytes, ~676 tokens, common digest 919545b37822

"#]]
    );
    cantus(&repo, &["check", "--strict"]).exits(1);
    replace(&repo, "memory/rules.md", "type: core", "type: core\nlink_reference: none");
    replace(&repo, "memory/errors.md", "the file", "memory/deep.md");
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check", "--strict"]).exits(0);
}

#[test]
fn list_says_how_unlisted_notes_are_reached() {
    let repo = Repo::new(PROJECT);
    repo.write("memory/lost.md", "---\ntype: reference\nparent: errors.md\n---\nLost.\n");
    let output = cantus(&repo, &["list"]).exits(0);
    snapbox::assert_data_eq!(
        output.stdout,
        str![[r#"
core (1 note, ~16 tokens)
  memory/rules.md  16
reference (3 notes, ~11 tokens)
  memory/errors.md  11
  memory/deep.md     0    linked from errors.md
  memory/lost.md     0    unreachable
web (1 note, ~15 tokens)
  memory/w.md  15  3 strands

"#]]
    );
    let output = cantus(&repo, &["list", "--json"]).exits(0);
    let list: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let last = list["notes"].as_array().and_then(|notes| notes.last()).expect("a note");
    assert_eq!(
        (&last["status"], &last["through"], &last["section"]),
        (&"unreachable".into(), &Value::Null, &Value::Null)
    );
}

/// The findings on paths in notes with these texts: a core note, a reference note and a strand.
#[track_caller]
fn check_paths(kind: &str, text: &str, expected: &[&str]) {
    let repo = Repo::new(
        "
        //- docs/guide.md
        # Guide
        //- memory/w.md
        ---
        web: true
        ---
        # W
        //- memory/w/s.md
        Text.
        //- memory/core.md
        ---
        type: core
        ---
        # Core

        Text.
        //- memory/ref.md
        ---
        type: reference
        ---
        # Ref

        Text.
        ",
    );
    let file = if kind == "strand" { "memory/w/s.md".to_owned() } else { format!("memory/{kind}.md") };
    replace(&repo, &file, "Text.", text);
    cantus(&repo, &["project"]).exits(0);
    let output = cantus(&repo, &["check", "--json"]).exits(0).stdout;
    let answer: Value = serde_json::from_str(&output).expect("JSON");
    let findings = answer["findings"].as_array().expect("findings").iter();
    let shown = findings.map(|finding| {
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}: {}", text("code"), text("path"), text("message"), text("help"))
    });
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
    for (shown, expected) in shown.iter().zip(expected) {
        assert!(expected.split('|').all(|part| shown.contains(part)), "{shown}");
    }
    cantus(&repo, &["check", "--strict"]).exits(i32::from(!expected.is_empty()));
}

#[test]
fn a_core_note_s_links_start_at_the_committed_file() {
    check_paths("core", "See [a](docs/guide.md), [b](docs), [c](memory/ref.md#ref) and [d](CLAUDE.md).", &[]);
    check_paths(
        "core",
        "[a](../docs/guide.md#guide)",
        &["link.path|memory/core.md|write `docs/guide.md#guide`"],
    );
    check_paths("core", "[a](ref.md)", &["leads nowhere from `AGENTS.md`|write `memory/ref.md`"]);
    check_paths("core", "[a](nosuch.md)", &["link.path|`nosuch.md` leads to no file"]);
    check_paths("core", "`[a](x.md)`, [b](https://a.b/x.md), [c](/x.md)\n\n```\n[d](x.md)\n```", &[]);
}

#[test]
fn what_is_opened_by_itself_may_mean_its_own_folder() {
    for kind in ["ref", "strand"] {
        check_paths(kind, "See [a](docs/guide.md).", &[]);
        check_paths(kind, "See [a](nosuch.md).", &["`nosuch.md` leads to no file"]);
    }
    check_paths("ref", "See [a](../docs/guide.md) and [b](core.md).", &[]);
    check_paths("strand", "See [a](../../docs/guide.md) and [b](../core.md).", &[]);
}

#[test]
fn links_to_headings() {
    check_paths("core", "[a](#core), [b](#core-memory) and [c](#here)\n\n## Here", &[]);
    check_paths("core", "[a](#no-such)", &["link.heading|memory/core.md|`#no-such` leads to no heading"]);
    check_paths("ref", "[a](#ref), [b](#core-memory) <a id=\"x\"></a> [c](#x)", &["`#core-memory`"]);
}
