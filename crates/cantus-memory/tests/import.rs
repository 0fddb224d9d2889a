//! An import loses no line, and the bundle holds what was imported in its order. `PROPTEST_CASES` asks for more cases.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use cantus_manifest::{Outcome, RelPath, Severity};
use cantus_memory::lints::characters;
use cantus_memory::unicode::{is_blank, slug, strip};
use cantus_memory::{
    Corpus, Import, ImportFile, ImportOptions, ImportedNote, Library, MemoryTree, NoteKind, SkipReason,
    SourceFile, Stretch, fences, heading, import, inline, is_fenced, title_of,
};
use cantus_testkit::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn options<'a>(into: &'a RelPath, taken: &'a [String], existing: &'a Corpus) -> ImportOptions<'a> {
    ImportOptions {
        into,
        taken,
        existing,
        package: "cantus",
        kind: None,
        title: None,
        covered: &[],
        note_bytes: 1 << 20,
    }
}

/// Imports files into a folder that holds `existing`.
fn imported(files: &[(&str, &str)], existing: &Corpus) -> Outcome<Import> {
    let into = rel("memory");
    let taken: Vec<_> = existing.notes.iter().map(|note| note.path.file_name().to_owned()).collect();
    let options = options(&into, &taken, existing);
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

/// What has to stand in a bundle for some lines of the input.
#[derive(Clone, Debug)]
struct Wanted {
    /// The first of them, counted from 1, and as it is.
    number: usize,
    line: String,
    /// The words of a heading, or of a line that has the form of one.
    title: Option<String>,
    /// Whether Markdown sees that heading.
    is_heading: bool,
}

/// What has to stand in a bundle for the lines of `text` that aren't blank. A heading that is underlined is one thing.
fn wanted(text: &str) -> Vec<Wanted> {
    let fences = fences(text);
    let mut headings = headings(text).into_iter().peekable();
    let (mut offset, mut hidden) = (0, 0);
    let mut found = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let real = headings.next_if(|(at, ..)| *at == index);
        if let Some((_, count, words)) = real {
            let (line, title) = (line.to_owned(), Some(loose(&words)));
            found.push(Wanted { number: index + 1, line, title, is_heading: true });
            hidden = count;
        }
        if hidden > 0 {
            hidden -= 1;
        } else if !is_blank(line) {
            let title = heading(line).filter(|_| !is_fenced(&fences, offset)).map(|(_, title)| loose(title));
            found.push(Wanted { number: index + 1, line: line.to_owned(), title, is_heading: false });
        }
        offset += line.len() + 1;
    }
    found
}

/// The headings outside lists and quotations, by the parser alone: the first line, the number of lines, and their text.
fn headings(text: &str) -> Vec<(usize, usize, String)> {
    let (mut depth, mut found) = (0, Vec::new());
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth -= 1,
            Event::Start(Tag::Heading { .. }) if depth == 0 => {
                let at = text[..range.start].matches('\n').count();
                let lines: Vec<_> = text[range].trim_end_matches('\n').split('\n').collect();
                let blank = lines.iter().take_while(|line| is_blank(line)).count();
                let last = if lines.len() == 1 { 1 } else { lines.len() - 1 };
                let words = lines.get(blank..last).unwrap_or_default();
                if !words.is_empty() {
                    found.push((at + blank, lines.len() - blank, words.join(" ")));
                }
            }
            _ => {}
        }
    }
    found
}

/// A heading's words without blanks and without what may mark it.
fn loose(title: &str) -> String {
    title.chars().filter(|c| !c.is_whitespace() && !matches!(c, '#' | '\\')).collect()
}

/// Whether `line` is what is wanted. All that may change: a heading is marked otherwise or has another level, one that Markdown shows,
/// and the title of a note has the note's name behind it, or in its place if it is empty.
fn is_same(line: &str, stems: &[String], wanted: &Wanted) -> bool {
    let Some(title) = &wanted.title else { return line == wanted.line };
    let Some((level, found)) = heading(line) else { return false };
    let found = loose(found);
    let is_title = || {
        stems.iter().any(|stem| found == format!("{title}({stem})") || (title.is_empty() && found == *stem))
    };
    (found == *title || is_title()) && (level <= 6 || !wanted.is_heading)
}

fn stems(corpus: &Corpus) -> Vec<String> {
    corpus.notes.iter().map(|note| loose(note.path.stem())).collect()
}

/// Every line of `text` is in `bundle`, in order.
#[track_caller]
fn check_order(text: &str, bundle: &str, corpus: &Corpus) {
    let stems = stems(corpus);
    let mut rest = bundle.split('\n');
    for wanted in &wanted(text) {
        assert!(
            rest.any(|line| is_same(line, &stems, wanted)),
            "`{}` is lost or out of order\n--- input\n{text}\n--- bundle\n{bundle}",
            wanted.line
        );
    }
}

/// No finding of `cantus check` on the notes is an error, and none is empty that isn't all there is of a file.
#[track_caller]
fn check_lints(import: &Import, corpus: &Corpus) {
    let library = Library::new(corpus);
    let found: Vec<_> = library.lints().into_iter().chain(library.findings()).collect();
    for finding in &found {
        assert!(finding.severity < Severity::Error, "{finding}");
        assert!(finding.code != "note.unclosed", "{finding}");
        let note = import.notes.iter().find(|note| Some(note.path.as_str()) == finding.path.as_deref());
        let is_only = note.is_some_and(|note| {
            import.notes.iter().filter(|other| other.source.file == note.source.file).count() == 1
        });
        assert!(finding.code != "note.empty" || is_only, "{finding}");
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
    "x\u{2028}# y",
    "  ### indented",
    "## Closed ###",
    "#### C#",
    "@AGENTS.md",
    "<?php",
    "<!DOCTYPE x",
    "text",
    "more text",
    "日本語のテキスト",
    "[ref]: https://example.invalid",
];

/// `text` without what no note may hold.
fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let is_bad = characters(&text).iter().any(|finding| finding.severity == Severity::Error);
    if is_bad { String::new() } else { text }
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => select(LINES).prop_map(str::to_owned),
        2 => "[ -~]{0,30}",
        1 => any::<String>().prop_map(|text| plain(&text)),
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
    #![proptest_config(cases(600))]

    #[test]
    fn nothing_is_lost_and_the_order_stays(text in markdown()) {
        let import = imported(&[("AGENTS.md", &text)], &Corpus::default()).value;
        check_names(&import);
        let corpus = corpus(&import.notes);
        check_lints(&import, &corpus);
        let text = without_imports(&import, "AGENTS.md", &text);
        check_order(&text, &bundle(&corpus), &corpus);
        // Each line is in the one note that says so, or is said to be in none.
        let covers = |number: usize| move |source: &Stretch| (source.first..=source.last).contains(&number);
        for wanted in wanted(&text) {
            let notes = import.notes.iter().filter(|note| covers(wanted.number)(&note.source)).count();
            prop_assert!(notes == 1, "{notes} {wanted:?}\n{text}");
        }
        for skipped in &import.skipped {
            prop_assert!(matches!(skipped.reason, SkipReason::Imports(_) | SkipReason::Empty), "{skipped:?}");
        }
    }

    #[test]
    fn what_two_files_share_is_imported_once(one in markdown(), two in markdown(), shared in markdown()) {
        let agents = format!("{one}\n\n## Shared\n\n{}\n", shared.trim_start_matches('\u{feff}'));
        let claude = format!("{two}\n\n## Shared\n\n{}\n", shared.trim_start_matches('\u{feff}'));
        let files = [("AGENTS.md", agents.as_str()), ("CLAUDE.md", claude.as_str())];
        let import = imported(&files, &Corpus::default()).value;
        check_names(&import);
        let found = corpus(&import.notes);
        check_lints(&import, &found);
        let whole = bundle(&found);
        check_order(&without_imports(&import, "AGENTS.md", &agents), &whole, &found);
        // What was skipped of the second file stands in the first.
        let stems = stems(&found);
        for wanted in wanted(&without_imports(&import, "CLAUDE.md", &claude)).iter().filter(|wanted| !is_gone(&import, "CLAUDE.md", wanted)) {
            let trimmed = Wanted { line: wanted.line.trim_end().to_owned(), ..wanted.clone() };
            let is_there = |line: &str| is_same(line, &stems, wanted) || is_same(line.trim_end(), &stems, &trimmed);
            prop_assert!(whole.split('\n').any(is_there), "{wanted:?}\n{whole}");
        }
        // Once the notes are there, the same files have nothing new.
        let again = imported(&files, &found).value;
        prop_assert!(again.notes.is_empty(), "{:?}", again.notes);
    }
}

/// The text of a file, in which the lines that only import another are blank, as the import says.
fn without_imports(import: &Import, file: &str, text: &str) -> String {
    let skipped = import.skipped.iter().filter(|skipped| skipped.source.file.as_str() == file);
    let imports: Vec<_> =
        skipped.filter(|skipped| matches!(skipped.reason, SkipReason::Imports(_))).collect();
    let is_import = |number: usize| {
        imports.iter().any(|skipped| (skipped.source.first..=skipped.source.last).contains(&number))
    };
    let text = normal(text);
    let lines = (1..).zip(text.split('\n')).map(|(number, line)| if is_import(number) { "" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the import says of a line that no note has it, since it is a heading of nothing.
fn is_gone(import: &Import, file: &str, wanted: &Wanted) -> bool {
    let gone = import.skipped.iter().filter(|skipped| matches!(skipped.reason, SkipReason::Heading));
    gone.into_iter().any(|skipped| {
        let source = &skipped.source;
        source.file.as_str() == file && (source.first..=source.last).contains(&wanted.number)
    })
}

#[track_caller]
fn names(files: &[(&str, &str)]) -> Vec<String> {
    let import = imported(files, &Corpus::default()).value;
    corpus(&import.notes);
    import.notes.iter().map(|note| note.path.file_name().to_owned()).collect()
}

#[test]
fn a_file_becomes_a_note_a_topic() {
    let text = "# Acme\n\nIntro.\n\n## Build & Test\n\nRun it.\n\n### Fast\n\nx\n\n## Style\n\ny\n";
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
            ("memory/style.md", "---\ntype: core\npriority: 50\n---\n\n# Style\n\ny\n"),
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
    let files =
        [("AGENTS.md", "# T\nt\n## A\nx\n"), ("CLAUDE.md", "\u{feff}# T  \r\nt\r\n## A\r\nx\r\n\r\n")];
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
        "---\ntype: reference\ndescription: \"React. Read it before you work on files like `*.tsx`.\"\nmetadata:\n  \
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
        ["description: x\n", "a: \u{2028}\"\\\nb: 'x\n", "  deep: 1\n".trim_start(), "k:\n\t- tab\n \n"]
    {
        let text = format!("---\n{block}---\n");
        let import = imported(&[("rules/a.mdc", &text)], &Corpus::default()).value;
        corpus(&import.notes);
        assert_eq!(import.notes.len(), 1, "{block}");
        for line in block.lines().map(str::trim).filter(|line| !line.contains('\u{2028}')) {
            assert!(import.notes[0].text.contains(line), "{line} in {}", import.notes[0].text);
        }
    }
}

#[test]
fn what_can_mean_something_in_a_note_stays_text() {
    let text = "---\n\nA sentence.\n\n---\n<!-- cantus:strands -->\n[[x]]\n";
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

#[track_caller]
fn check_remarks(files: &[(&str, &str)], expected: &[(&str, u32)]) {
    let outcome = imported(files, &Corpus::default());
    check_lints(&outcome.value, &corpus(&outcome.value.notes));
    let found: Vec<_> =
        outcome.diagnostics.iter().map(|remark| (remark.code, remark.line.unwrap())).collect();
    assert_eq!(found, expected);
}

#[test]
fn remarks_name_the_line() {
    let text = "Title\n=====\n\nSee @docs/x.md.\n\n~~~\ncode\n";
    check_remarks(&[("AGENTS.md", text)], &[("import.at", 4), ("import.fence", 7)]);
    check_remarks(&[("AGENTS.md", "## A\n<!-- x\n")], &[("import.fence", 2)]);
    check_remarks(
        &[("AGENTS.md", "## A\n\n[[a]]\n\n## B\n`[[c]]` [[d]] ![[e]]\n")],
        &[("import.link", 3), ("import.link", 6)],
    );
    check_remarks(&[("AGENTS.md", "## A\nx\n"), ("CLAUDE.md", "\n## a ##\ny\n")], &[("import.differs", 2)]);
    // A file that is in notes is no remark.
    check_remarks(&[("AGENTS.md", "## A\nx\n"), ("CLAUDE.md", "# C\n\n@AGENTS.md\n")], &[]);
}

#[test]
fn what_looks_like_a_link_stays_text() {
    let first = imported(&[("AGENTS.md", "## A\n\nSee [[wiki]].\n")], &Corpus::default()).value;
    assert_eq!(
        first.notes[0].text,
        "---\ntype: core\npriority: 30\nlink_reference: none\n---\n\n# A\n\nSee [[wiki]].\n"
    );
    let there = corpus(&first.notes);
    let second = imported(&[("CLAUDE.md", "## B\n\nSee [[a]].\n")], &there).value;
    assert!(!second.notes[0].text.contains("link_reference"), "{}", second.notes[0].text);
}

#[test]
fn what_no_note_may_hold_is_refused() {
    let faults = |text: &str| {
        let found = imported(&[("a.md", text)], &Corpus::default()).diagnostics;
        found
            .iter()
            .map(|fault| (fault.code, fault.path.clone().unwrap(), fault.line.unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(faults("x\n<<<<<<< a\n=======\n>>>>>>> b\n"), [("note.conflict", "a.md".into(), 2)]);
    assert_eq!(faults("x\n\ny\u{202e}\n"), [("note.hidden", "a.md".into(), 3)]);
    assert_eq!(faults("\u{1b}[0m\n"), [("note.control", "a.md".into(), 1)]);
}

#[track_caller]
fn check_texts(files: &[(&str, &str)], expected: &[(&str, &str)]) {
    let import = imported(files, &Corpus::default()).value;
    let found = corpus(&import.notes);
    let body = |text: &str| text.split_once("\n---\n\n").unwrap().1.to_owned();
    let texts: Vec<_> = import.notes.iter().map(|note| (note.path.file_name(), body(&note.text))).collect();
    let texts: Vec<_> = texts.iter().map(|(name, body)| (*name, body.as_str())).collect();
    assert_eq!(texts, expected);
    assert!(imported(files, &found).value.notes.is_empty());
}

#[test]
fn a_heading_without_text_is_no_note_of_its_own() {
    check_texts(
        &[("AGENTS.md", "# T\n\n## A\n\nx\n\n## B\ny\n")],
        &[("t.md", "# T\n\n## A\n\nx\n"), ("b.md", "# B\ny\n")],
    );
    check_texts(&[("AGENTS.md", "## A\nx\n\n## B\n")], &[("a.md", "# A\nx\n\n# B\n")]);
    check_texts(&[("AGENTS.md", "intro\n\n# B\n")], &[("agents-intro.md", "intro\n\n## B\n")]);
    check_texts(&[("AGENTS.md", "# A\n## B\n")], &[("a.md", "# A\n\n## B\n")]);
    // What only names the file, or stands above texts that are elsewhere, needs none.
    let files = [
        ("AGENTS.md", "## A\nx\n"),
        ("CLAUDE.md", "# claude.md\n## A\nx\n"),
        ("GEMINI.md", "# G\n## A\nx\n"),
    ];
    check_texts(&files, &[("a.md", "# A\nx\n")]);
    let skipped = imported(&files, &Corpus::default()).value.skipped;
    let headings: Vec<_> =
        skipped.iter().filter(|skipped| skipped.source.first == 1).map(|skipped| &skipped.reason).collect();
    assert_eq!(headings, [&SkipReason::FileName, &SkipReason::Heading]);
}

#[test]
fn many_headings_cost_no_more_than_their_text() {
    // Looking for the next heading from the start took hours.
    let text: String = (0..20_000).map(|number| format!("## H{number}\n")).collect();
    let import = imported(&[("AGENTS.md", &text)], &Corpus::default()).value;
    assert_eq!((import.notes.len(), import.notes[0].source.last), (1, 20_000));
}

#[test]
fn imports_of_imported_files_go_wherever_they_stand() {
    let files = [
        ("AGENTS.md", "## A\nx\n"),
        ("CLAUDE.md", "## B\n@AGENTS.md\ny\n@./AGENTS.md\n\n## C\n```\n@AGENTS.md\n```\n@docs/x.md\n"),
    ];
    check_texts(
        &files,
        &[("a.md", "# A\nx\n"), ("b.md", "# B\n\ny\n"), ("c.md", "# C\n```\n@AGENTS.md\n```\n@docs/x.md\n")],
    );
    let skipped = imported(&files, &Corpus::default()).value.skipped;
    let lines: Vec<_> = skipped.iter().map(|skipped| skipped.source.first).collect();
    assert_eq!(lines, [2, 4]);
}

#[test]
fn a_file_for_one_folder_says_so() {
    let files = [("packages/api/AGENTS.md", "# API\n\n## Test\n\nx\n")];
    let import = imported(&files, &Corpus::default()).value;
    assert_eq!(
        import.notes[0].text,
        "---\ntype: reference\ndescription: \"API. Read it before you work in `packages/api/`.\"\n---\n\n# API\n\n## Test\n\nx\n"
    );
    let into = rel("memory");
    let core = |existing: &Corpus| {
        let options = ImportOptions { kind: Some(NoteKind::Core), ..options(&into, &[], existing) };
        let file = ImportFile { path: rel(files[0].0), bytes: b"## Test\nx\n".to_vec() };
        cantus_memory::import(vec![file], &options).value
    };
    let first = core(&Corpus::default());
    assert!(
        first.notes[0].text.ends_with("\n# Test\n\nFor work in `packages/api/` alone.\n\nx\n"),
        "{}",
        first.notes[0].text
    );
    assert!(core(&corpus(&first.notes)).notes.is_empty());
}

#[test]
fn the_title_may_stand_below_other_text() {
    let title = |text| title_of(&rel("AGENTS.md"), text);
    for text in ["# T #\n", "intro\n\n# T\n", "---\na: b\n---\n<!-- x -->\n# T\n", "T\n=\n"] {
        assert_eq!(title(text).as_deref(), Some("T"), "{text}");
    }
    for text in ["## S\n\n# T\n", "# AGENTS.md\n", "```\n# T\n```\n", "#\n", ""] {
        assert_eq!(title(text), None, "{text}");
    }
}

#[test]
fn notes_that_are_there_come_first_and_keep_their_names() {
    let first = imported(&[("AGENTS.md", "## A\nx\n## B\ny\n")], &Corpus::default()).value;
    let there = corpus(&first.notes);
    let second = imported(&[("CLAUDE.md", "## A\nx\n## B\nother\n## C\nz\n")], &there).value;
    let found: Vec<_> = second.notes.iter().map(|note| note.path.file_name()).collect();
    assert_eq!(found, ["b-claude.md", "c.md"]);
    assert!(second.notes[0].text.contains("priority: 50\n"), "{}", second.notes[0].text);
    assert_eq!(second.skipped[0].reason, SkipReason::Exists(rel("memory/a.md")));
}
