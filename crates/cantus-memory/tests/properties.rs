//! Rules that hold for every text.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use cantus_manifest::RelPath;
use cantus_memory::unicode::{cells, collapse, is_space, norm, slug, strip};
use cantus_memory::{Body, Corpus, MemoryFolder, MemoryTree, SourceFile, heading, inline, wrap};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;
use proptest::test_runner::Config;

/// Words that wrapping treats in a way of its own.
const WORDS: &[&str] = &[
    "a",
    "word",
    "`code with blanks`",
    "`",
    "``",
    "[a link](http://x.y \"title\")",
    "![image](x)",
    "<auto>",
    "<not auto>",
    "-",
    "日本語",
    "e\u{301}",
    "\u{200d}",
    "https://example.com/a/long/address",
    "*",
    "1.",
    ">",
    "|",
    "#",
    "\u{a0}",
    "averyverylongwordthatdoesnotfit",
];

fn line() -> impl Strategy<Value = String> {
    let start = select(["", "- ", "1. ", "> ", ">> ", "# ", "   ", "     ", "* - "].as_slice());
    let gap = select([" ", "  ", " \u{3000}"].as_slice());
    (start, vec((select(WORDS), gap), 0..24))
        .prop_map(|(start, words)| words.iter().fold(start.to_owned(), |line, (word, gap)| line + word + gap))
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !is_space(*c)).collect()
}

fn file(path: &str, bytes: Vec<u8>) -> SourceFile {
    SourceFile { path: RelPath::new(path).unwrap(), bytes, sha256: None }
}

/// Bytes that come close to notes, and bytes that don't.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let line = select(
        [
            "---",
            "type: core",
            "type: reference",
            "web: true",
            "roster: list",
            "description: |",
            "  text",
            "aliases: [a, b",
            "key: &a [*a]",
            "priority: 010",
            "# T",
            "```",
            "<!-- sase:strands -->",
            "<!-- /cantus:strands -->",
            "\u{feff}",
            "? x",
            "\ttab",
            "x: {y: }",
            "\"open",
        ]
        .as_slice(),
    );
    let end = select(["\n", "\r\n", "\r", ""].as_slice());
    let lines = vec((line, end), 0..12).prop_map(|lines| {
        lines.iter().flat_map(|(line, end)| [*line, *end]).collect::<String>().into_bytes()
    });
    prop_oneof![lines, vec(any::<u8>(), 0..64), Just(vec![b'-'; 3])]
}

proptest! {
    #![proptest_config(Config { cases: 256, failure_persistence: None, ..Config::default() })]

    #[test]
    fn no_bytes_make_parsing_panic(notes in vec(bytes(), 0..4), strands in vec(bytes(), 0..4)) {
        let notes = notes.into_iter().enumerate().map(|(index, bytes)| file(&format!("memory/n{index}.md"), bytes));
        let strands = strands.into_iter().enumerate().map(|(index, bytes)| file(&format!("memory/n0/s{index}.md"), bytes));
        let folder = MemoryFolder { path: RelPath::new("memory/n0").unwrap(), strands: strands.collect(), folders: Vec::new() };
        let outcome = Corpus::parse(MemoryTree { notes: notes.collect(), folders: vec![folder] });
        for diagnostic in &outcome.diagnostics {
            prop_assert!(diagnostic.path.as_deref().is_some_and(|path| path.starts_with("memory/")), "{diagnostic}");
        }
    }

    #[test]
    fn wrapping_keeps_every_word_in_its_order(line in line(), width in 0usize..60) {
        let pieces = wrap(&line, width);
        let joined: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        let quoted = strip(&line).starts_with('>');
        let words = |text: &str| if quoted { without_space(text).replace('>', "") } else { without_space(text) };
        prop_assert_eq!(words(&joined), words(&line));
        if pieces.len() == 1 {
            prop_assert_eq!(&pieces[0].text, &line);
        }
    }

    #[test]
    fn a_piece_that_is_too_wide_is_a_single_word(line in line(), width in 20usize..60) {
        let pieces = wrap(&line, width);
        if pieces.len() > 1 {
            for piece in &pieces {
                let text = strip(&piece.text).trim_start_matches(['>', ' ']);
                let narrow = cells(piece.text.trim_end_matches(is_space)) <= width;
                prop_assert!(narrow || wrap(text, 20).len() == 1 || !text.contains(' ') || text.contains(['`', '[', '<']), "{piece:?}");
            }
        }
    }

    #[test]
    fn pieces_start_where_they_say(line in line(), width in 20usize..60) {
        let mut last = 0;
        for piece in wrap(&line, width) {
            prop_assert!(piece.start >= last && line.is_char_boundary(piece.start), "{piece:?}");
            last = piece.start;
        }
    }

    #[test]
    fn forms_of_a_text_are_final(text in any::<String>()) {
        prop_assert_eq!(collapse(&collapse(&text)), collapse(&text));
        prop_assert_eq!(norm(&norm(&text)), norm(&text));
        prop_assert_eq!(slug(&slug(&text)), slug(&text));
        prop_assert!(slug(&text).bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte)));
    }

    #[test]
    fn inlining_keeps_every_line_but_the_title(lines in vec(select(["# A", "## B", "text", "", "```", "  x", "#c", "~~~", "> # q"].as_slice()), 0..14)) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let block = inline("stem", Body { text: &text, first_line: 1 }, 0);
        let plain = |lines: &mut dyn Iterator<Item = &str>| {
            lines.filter(|line| !line.is_empty() && heading(line).is_none()).map(str::to_owned).collect::<Vec<_>>()
        };
        prop_assert_eq!(plain(&mut block.text().lines().skip(1)), plain(&mut lines.iter().copied()));
    }
}
