//! An import loses no line, and the bundle holds what was imported in its order. `PROPTEST_CASES` asks for more cases.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use cantus_manifest::{Outcome, RelPath};
use cantus_memory::unicode::{is_blank, slug, strip};
use cantus_memory::{
    Corpus, Import, ImportFile, ImportOptions, ImportedNote, MemoryTree, NoteKind, SkipReason, SourceFile,
    fences, heading, import, inline, is_fenced,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig {
        cases: if asked.cases == 256 { 600 } else { asked.cases },
        rng_seed: if asked.rng_seed == RngSeed::Random { RngSeed::Fixed(7) } else { asked.rng_seed },
        failure_persistence: None,
        ..asked
    }
}

fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// Imports files into a folder that holds `existing`.
fn imported(files: &[(&str, &str)], existing: &Corpus) -> Outcome<Import> {
    let into = rel("memory");
    let taken: Vec<_> = existing.notes.iter().map(|note| note.path.file_name().to_owned()).collect();
    let options = ImportOptions {
        into: &into,
        taken: &taken,
        existing,
        package: "cantus",
        kind: None,
        title: None,
        covered: &[],
        note_bytes: 1 << 20,
    };
    let file = |(path, text): &(&str, &str)| ImportFile { path: rel(path), bytes: text.as_bytes().to_vec() };
    import(files.iter().map(file).collect(), &options)
}

/// The notes as a memory folder would give them; they must be without a fault.
#[track_caller]
fn corpus(notes: &[ImportedNote]) -> Corpus {
    let files = notes.iter().map(|note| SourceFile {
        path: note.path.clone(),
        bytes: note.text.clone().into_bytes(),
        stamp: None,
    });
    let outcome = Corpus::parse(MemoryTree { notes: files.collect(), folders: Vec::new() });
    assert_eq!(outcome.diagnostics, []);
    outcome.value
}

/// The core notes as they stand in a bundle.
fn bundle(corpus: &Corpus) -> String {
    let blocks = corpus.core().into_iter().map(|note| inline(note.path.stem(), note.body(), 0));
    blocks.map(|block| block.text().to_owned()).collect::<Vec<_>>().join("\n")
}

fn normal(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

/// The lines of `text` that aren't blank, each with its text if it is a heading outside fences.
fn lines(text: &str) -> Vec<(&str, Option<&str>)> {
    let fences = fences(text);
    let mut offset = 0;
    let mut found = Vec::new();
    for line in text.split('\n') {
        if !is_blank(line) {
            let title = heading(line).filter(|_| !is_fenced(&fences, offset)).map(|(_, title)| title);
            found.push((line, title));
        }
        offset += line.len() + 1;
    }
    found
}

/// Whether `line` is that line of the input. All that may change: a heading has another level, and the title of a note has the
/// note's name behind it, or in its place if it is empty.
fn is_same(line: &str, stems: &[&str], (input, title): (&str, Option<&str>)) -> bool {
    let Some(title) = title else { return line == input };
    let Some((_, found)) = heading(line) else { return false };
    found == title
        || stems
            .iter()
            .any(|stem| found == format!("{title} ({stem})") || (title.is_empty() && found == *stem))
}

/// Every line of `text` is in `bundle`, in order.
#[track_caller]
fn check_order(text: &str, bundle: &str, corpus: &Corpus) {
    let stems: Vec<_> = corpus.notes.iter().map(|note| note.path.stem()).collect();
    let mut rest = bundle.split('\n');
    for wanted in lines(text) {
        assert!(
            rest.any(|line| is_same(line, &stems, wanted)),
            "`{}` is lost or out of order\n--- input\n{text}\n--- bundle\n{bundle}",
            wanted.0
        );
    }
}

#[track_caller]
fn check_names(import: &Import) {
    let mut slugs: Vec<_> = import.notes.iter().map(|note| slug(note.path.stem())).collect();
    slugs.sort();
    let count = slugs.len();
    slugs.dedup();
    assert_eq!(slugs.len(), count);
    for note in &import.notes {
        let stem = note.path.stem();
        assert!(
            stem.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{stem}"
        );
        assert!(!["readme", "cantus", "con", "aux", "claude", "agents"].contains(&stem), "{stem}");
    }
}

const LINES: &[&str] = &[
    "",
    "",
    "",
    "   ",
    "\u{a0}",
    "# Title",
    "# Title #",
    "#",
    "##",
    "## Build",
    "## build",
    "## Build",
    "## Con",
    "## Cantus",
    "## README",
    "## Claude",
    "## Überblick",
    "## 日本語",
    "## Sub ##",
    "##\tTab",
    "### Deep",
    "#### Deeper",
    "###### Deepest",
    "####### no heading",
    "#tag",
    " ## indented",
    "    ## code",
    "Setext",
    "=====",
    "-----",
    "---",
    "```",
    "````py",
    "```js x",
    "~~~",
    "  ~~~~",
    "- ```",
    "> ```",
    "  ```",
    "- item",
    "  - nested",
    "1. item",
    "> quote",
    "> ## quoted",
    "| a | b |",
    "|---|---|",
    "<!-- comment",
    "-->",
    "<!-- whole -->",
    "<details>",
    "</details>",
    "<div>",
    "<pre>",
    "</pre>",
    "<![CDATA[",
    "type: core",
    "key: value",
    "[[link]] ![[other]]",
    "<!-- cantus:strands -->",
    "<!-- /cantus:strands -->",
    "hard break  ",
    "@docs/x.md",
    "x\u{2028}# y\u{85}z\u{c}",
    "text",
    "more text",
    "日本語のテキスト",
    "[ref]: https://example.invalid",
];

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => select(LINES).prop_map(str::to_owned),
        2 => "[ -~]{0,30}",
        1 => any::<String>().prop_map(|text| text.replace(['\r', '\n', '\0'], "")),
    ]
}

/// A Markdown file with any line ends. Its first line opens no front matter: that goes elsewhere.
fn markdown() -> impl Strategy<Value = String> {
    let ends = select(vec!["\n", "\n", "\r\n", "\r"]);
    (any::<bool>(), vec((line(), ends), 0..40)).prop_map(|(mark, lines)| {
        let mut text: String = lines.into_iter().flat_map(|(line, end)| [line, end.to_owned()]).collect();
        if strip(normal(&text).split('\n').next().unwrap_or_default()) == "---" {
            text.insert_str(0, "x\n");
        }
        if mark {
            text.insert(0, '\u{feff}');
        }
        text
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nothing_is_lost_and_the_order_stays(text in markdown()) {
        let import = imported(&[("AGENTS.md", &text)], &Corpus::default()).value;
        check_names(&import);
        let corpus = corpus(&import.notes);
        check_order(&normal(&text), &bundle(&corpus), &corpus);
        // Each line is in the one note that says so.
        let covered: usize = import.notes.iter().map(|note| note.source.last - note.source.first + 1).sum();
        prop_assert!(covered >= lines(&normal(&text)).len());
    }

    #[test]
    fn what_two_files_share_is_imported_once(one in markdown(), two in markdown(), shared in markdown()) {
        let agents = format!("{one}\n\n## Shared\n\n{}\n", shared.trim_start_matches('\u{feff}'));
        let claude = format!("{two}\n\n## Shared\n\n{}\n", shared.trim_start_matches('\u{feff}'));
        let files = [("AGENTS.md", agents.as_str()), ("CLAUDE.md", claude.as_str())];
        let import = imported(&files, &Corpus::default()).value;
        check_names(&import);
        let found = corpus(&import.notes);
        let whole = bundle(&found);
        check_order(&normal(&agents), &whole, &found);
        // What was skipped of the second file stands in the first.
        let stems: Vec<_> = found.notes.iter().map(|note| note.path.stem()).collect();
        for wanted in lines(&normal(&claude)) {
            let trimmed = |line: &str| is_same(line.trim_end(), &stems, (wanted.0.trim_end(), wanted.1));
            prop_assert!(whole.split('\n').any(|line| is_same(line, &stems, wanted) || trimmed(line)), "{wanted:?}\n{whole}");
        }
        // Once the notes are there, the same files have nothing new.
        let again = imported(&files, &found).value;
        prop_assert!(again.notes.is_empty(), "{:?}", again.notes);
    }
}

#[track_caller]
fn names(files: &[(&str, &str)]) -> Vec<String> {
    let import = imported(files, &Corpus::default()).value;
    corpus(&import.notes);
    import.notes.iter().map(|note| note.path.file_name().to_owned()).collect()
}

#[test]
fn a_file_becomes_a_note_a_topic() {
    let text = "# Acme\n\nIntro.\n\n## Build & Test\n\nRun it.\n\n### Fast\n\nx\n\n## Style\n";
    let import = imported(&[("AGENTS.md", text)], &Corpus::default()).value;
    let texts: Vec<_> = import.notes.iter().map(|note| (note.path.as_str(), note.text.as_str())).collect();
    assert_eq!(
        texts,
        [
            ("memory/acme.md", "---\ntype: core\npriority: 30\n---\n\n# Acme\n\nIntro.\n"),
            (
                "memory/build-test.md",
                "---\ntype: core\npriority: 40\n---\n\n# Build & Test\n\nRun it.\n\n## Fast\n\nx\n"
            ),
            ("memory/style.md", "---\ntype: core\npriority: 50\n---\n\n# Style\n"),
        ]
    );
    assert_eq!((import.notes[1].source.first, import.notes[1].source.last), (5, 11));
}

#[test]
fn the_same_heading_with_another_text_keeps_both() {
    let files = [("AGENTS.md", "## Test\n\na\n"), ("CLAUDE.md", "## Test\n\nb\n")];
    let import = imported(&files, &Corpus::default()).value;
    assert_eq!(import.notes[1].path, rel("memory/test-claude.md"));
    assert_eq!(import.notes[1].differs_from, Some(rel("memory/test.md")));
}

#[test]
fn equal_files_and_sections_are_imported_once() {
    let files = [("AGENTS.md", "# T\n\n## A\nx\n"), ("CLAUDE.md", "\u{feff}# T  \r\n\r\n## A\r\nx\r\n\r\n")];
    let import = imported(&files, &Corpus::default()).value;
    assert_eq!(import.notes.len(), 2);
    let reasons: Vec<_> = import.skipped.iter().map(|skipped| &skipped.reason).collect();
    let same = |line| SkipReason::SameAs(rel("AGENTS.md"), line);
    assert_eq!(reasons, [&same(1), &same(3)]);
    // In one file they stay: someone wrote both.
    assert_eq!(names(&[("AGENTS.md", "## A\nx\n## A\nx\n")]), ["a.md", "a-2.md"]);
}

#[test]
fn rules_of_other_tools_keep_their_front_matter() {
    let rule = "---\ndescription: React\nglobs: *.tsx\nalwaysApply: false\n---\n# React\n\n## Hooks\nx\n";
    let import = imported(&[(".cursor/rules/react.mdc", rule)], &Corpus::default()).value;
    assert_eq!(
        import.notes[0].text,
        "---\ntype: reference\ndescription: \"React. Read it before you work on files like *.tsx.\"\nmetadata:\n  \
         front_matter: |2\n    description: React\n    globs: *.tsx\n    alwaysApply: false\n---\n\n# React\n\n## Hooks\nx\n"
    );
    let notes = corpus(&import.notes);
    assert_eq!((notes.notes[0].kind, import.notes.len()), (NoteKind::Reference, 1));
    assert!(imported(&[(".cursor/rules/react.mdc", rule)], &notes).value.notes.is_empty());
    let changed = rule.replace("*.tsx", "*.ts");
    assert_eq!(imported(&[(".cursor/rules/react.mdc", &changed)], &notes).value.notes.len(), 1);
}

#[test]
fn front_matter_alone_and_odd_front_matter_are_kept() {
    for block in
        ["description: x\n", "a: \u{1}\u{7f}\"\\\nb: 'x\n", "  deep: 1\n".trim_start(), "k:\n\t- tab\n \n"]
    {
        let text = format!("---\n{block}---\n");
        let import = imported(&[("rules/a.mdc", &text)], &Corpus::default()).value;
        corpus(&import.notes);
        assert_eq!(import.notes.len(), 1, "{block}");
        for line in block.lines().map(str::trim).filter(|line| !line.contains('\u{1}')) {
            assert!(import.notes[0].text.contains(line), "{line} in {}", import.notes[0].text);
        }
    }
}

#[test]
fn what_can_mean_something_in_a_note_stays_text() {
    let text = "---\nA sentence.\n---\n<!-- cantus:strands -->\n[[x]]\n";
    let import = imported(&[("AGENTS.md", text)], &Corpus::default()).value;
    assert!(import.notes[0].text.ends_with(&format!("---\n\n{text}")), "{}", import.notes[0].text);
}

#[test]
fn files_without_text_and_files_that_are_none() {
    let import = imported(&[("AGENTS.md", "\n \n")], &Corpus::default());
    assert_eq!((import.value.notes.len(), &import.value.skipped[0].reason), (0, &SkipReason::Empty));
    let faults = imported(&[("a.md", "x\0y"), ("b.md", "")], &Corpus::default()).diagnostics;
    assert_eq!(
        faults[0].to_string(),
        "a.md: error: not a text: byte 1 is zero\n  help: name Markdown files alone"
    );
}

#[test]
fn remarks_name_the_line() {
    let text = "Title\n=====\n\nSee @docs/x.md.\n\n~~~\ncode\n";
    let found = imported(&[("AGENTS.md", text)], &Corpus::default()).diagnostics;
    let found: Vec<_> = found.iter().map(|remark| (remark.code, remark.line)).collect();
    assert_eq!(found, [("import.underlined", Some(1)), ("import.at", Some(4)), ("import.fence", Some(7))]);
    let found = imported(&[("AGENTS.md", "## A\n<!-- x\n")], &Corpus::default()).diagnostics;
    assert_eq!(found[0].code, "import.comment");
}

#[test]
fn notes_that_are_there_come_first_and_keep_their_names() {
    let first = imported(&[("AGENTS.md", "## A\nx\n## B\ny\n")], &Corpus::default()).value;
    let there = corpus(&first.notes);
    let second = imported(&[("CLAUDE.md", "## A\nx\n## B\nother\n## C\n")], &there).value;
    let found: Vec<_> = second.notes.iter().map(|note| note.path.file_name()).collect();
    assert_eq!(found, ["b-claude.md", "c.md"]);
    assert!(second.notes[0].text.contains("priority: 50\n"), "{}", second.notes[0].text);
    assert_eq!(second.skipped[0].reason, SkipReason::Exists(rel("memory/a.md")));
}
