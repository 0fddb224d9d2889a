//! Invariants of notes' text over generated input. `PROPTEST_CASES` asks for more of it, `PROPTEST_RNG_SEED` for other.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use std::ops::Range;

use cantus_manifest::RelPath;
use cantus_memory::lints::{characters, unclosed};
use cantus_memory::unicode::{cells, collapse, fold, is_blank, is_space, norm, slug, strip_end};
use cantus_memory::{
    Body, Corpus, Library, MemoryFolder, MemoryTree, Origin, SourceFile, SourcedText, WrappedLine,
    body_with_roster, crlf, fences, heading, inline, is_fenced, links, wrap,
};
use cantus_testkit::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

/// Any text without a line end.
fn free_text() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| text.replace(['\r', '\n'], ""))
}

/// Lines at which some rule looks.
const LINES: &[&str] = &[
    "",
    "",
    "   ",
    "\u{a0}",
    "# Title",
    "# Title #",
    "#",
    "## Sub ##",
    "##\tTab",
    "###### Deep",
    "#tag",
    " # indented",
    "=====",
    "---",
    "```",
    "````py",
    "```js x",
    "~~~",
    "  ~~~~",
    "```x``` text",
    "- ```",
    "> ```",
    "  text",
    "    # code",
    "\ttab",
    "- item",
    "1. item",
    "> quote",
    "| a | b |",
    "日本語のテキスト",
    "e\u{301}\u{200d}",
    "`code` and `",
    "[[link]] ![[other]] [a b](c \"d\")",
    "x\u{2028}# y\u{85}z\u{c}",
    "\u{feff}",
    "<!-- comment",
    "-->",
    "<!-- cantus:strands -->",
    "<!-- /cantus:strands -->",
    "a <!-- sase:strands --> b",
    "<!-- /sase:strands -->",
];

/// Lines among which fences and what may hide one stand.
const BLOCKS: &[&str] = &[
    "```",
    "```",
    "````",
    "``` sh",
    "```  \t",
    "```a`b",
    "``",
    "~~~",
    "~~~~ ~",
    " ```",
    "    ```",
    "\t```",
    "> ```",
    "- ```",
    "  ```",
    "- item",
    "> quote",
    "1) one",
    "",
    "text ```",
    "text",
    "    code",
    "# heading",
    "---",
    "<div>",
    "</div>",
    "<!--",
    "-->",
    "> <pre>",
    "</pre>",
    "- <b>x</b>",
    "text <br>",
    "a `code",
    "[x]: /url",
    "'title",
    "[^1]: note",
    "| a | b |",
    "| - | - |",
    "\\```",
    "&#96;``",
    "a\r```\r",
];

/// Lines of front matter, valid and odd.
const FIELDS: &[&str] = &[
    "type: core",
    "type: core",
    "type: reference",
    "type: short",
    "web: true",
    "web: true",
    "web: maybe",
    "roster: list",
    "roster:",
    "priority: 5",
    "priority: 010",
    "priority: -1",
    "priority: 99999999999999999999999",
    "parent: ./AGENTS.md",
    "parent: [x]",
    "description: |\n  two\n  lines",
    "description: \"a\\u0000\\uD800b\"",
    "keyword: '# Word'",
    "aliases: [a, A, 5, '']",
    "aliases:\n- x\n- y: z",
    "summary: ''",
    "metadata: {status: superseded, superseded_by: [a, b]}",
    "metadata: &a {x: *a}",
    "<<: {type: core}",
    "? [complex, key]\n: v",
    "type: core\ntype: core",
    "- list",
    "\tkey: tab",
    "unknown: !!python/none 1",
    "a: [",
    "'",
    "%YAML 1.1",
    "...",
    "é: ü",
    "x: 2024-13-45",
    "description: >-",
    "# comment",
];

fn line() -> impl Strategy<Value = String> {
    prop_oneof![6 => select(LINES).prop_map(str::to_owned), 2 => "[ -~]{0,40}", 1 => free_text()]
}

fn text() -> impl Strategy<Value = String> {
    (vec(line(), 0..14), any::<bool>())
        .prop_map(|(lines, ended)| lines.join("\n") + if ended { "\n" } else { "" })
}

fn front_matter() -> impl Strategy<Value = String> {
    let field = prop_oneof![9 => select(FIELDS).prop_map(str::to_owned), 1 => free_text()];
    let open = select(vec!["---\n", "---\n", "---\n", "  ---  \n", "\n---\n", ""]);
    let close = select(vec!["---\n", "---\n", "---\n", "---\n\n", "...\n", "---"]);
    (open, vec(field, 0..4), close).prop_map(|(open, fields, close)| {
        let lines: String = fields.into_iter().map(|field| field + "\n").collect();
        format!("{open}{lines}{close}")
    })
}

/// A file's bytes: mostly a note, sometimes none.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let end = select(vec!["\n", "\n", "\r\n", "\r"]);
    let note = (any::<bool>(), front_matter(), text(), end).prop_map(|(mark, front, text, end)| {
        let mark = if mark { "\u{feff}" } else { "" };
        format!("{mark}{front}{text}").replace('\n', end).into_bytes()
    });
    let spoiled = (front_matter(), vec(any::<u8>(), 0..20)).prop_map(|(front, tail)| {
        let mut bytes = front.into_bytes();
        bytes.extend(tail);
        bytes
    });
    prop_oneof![8 => note, 1 => spoiled, 1 => vec(any::<u8>(), 0..60)]
}

/// A path below `folder`; the same ones come often.
fn path(folder: &'static str) -> impl Strategy<Value = RelPath> {
    let known =
        select(vec!["a", "A", "b", "a-b", "a b", "web", "README", "é", "e\u{301}", "日", ".x", "--", "x.y"]);
    let name = prop_oneof![4 => known.prop_map(str::to_owned), 1 => "[^/\\\\\\p{Cc}]{1,8}"];
    name.prop_map(move |name| RelPath::new(format!("{folder}/{name}.md")).unwrap())
}

/// A memory folder as hardly a disk would give it: names twice, anything in every file.
fn tree() -> impl Strategy<Value = MemoryTree> {
    let file =
        |folder| (path(folder), bytes()).prop_map(|(path, bytes)| SourceFile { path, bytes, stamp: None });
    let nested = vec(path("memory/web"), 0..2);
    let folder =
        (path("memory"), vec(file("memory/web"), 0..4), nested).prop_map(|(descriptor, strands, folders)| {
            let path = descriptor.as_str().strip_suffix(".md").map(RelPath::new);
            let path = path.and_then(Result::ok).unwrap_or(descriptor);
            MemoryFolder { path, strands, folders }
        });
    (vec(file("memory"), 0..6), vec(folder, 0..3)).prop_map(|(notes, folders)| MemoryTree { notes, folders })
}

/// What a wide line starts with, and its words, each of them whole to [`wrap`], with what follows each.
fn words() -> impl Strategy<Value = (&'static str, Vec<(String, &'static str)>)> {
    let start = select(vec!["", "", "  ", "   ", "- ", "* ", "12. ", "  - ", "## ", "> ", "> > ", "> - "]);
    let word = prop_oneof![
        4 => "[a-z,.:;()*_]{1,12}",
        1 => "[a-z]{20,50}",
        1 => select(vec!["-", "日本語", "日本語の長いテキスト", "e\u{301}e\u{301}", "—"]).prop_map(str::to_owned),
        1 => "`[a-z ]{1,16}[a-z]`",
        1 => "!?\\[[a-z ]{0,12}\\]\\([a-z/]{0,12}\\)",
        1 => "<[a-z:/]{1,20}>",
        1 => "https://[a-z/]{1,30}",
    ];
    let gap = select(vec![" ", " ", " ", "  ", "\u{a0}", "\u{3000}"]);
    (start, vec((word, gap), 1..20))
}

fn joined(start: &str, words: &[(String, &str)]) -> String {
    words.iter().fold(start.to_owned(), |line, (word, gap)| line + word + gap)
}

/// A piece as the prefix that wrapping gave it and what stands in the input from its start to `end`, where the next
/// one starts; `None` if it holds anything else.
fn split_piece<'a>(piece: &'a WrappedLine, line: &str, end: usize) -> Option<(&'a str, &'a str)> {
    let content = line.get(piece.start..end)?;
    let at = if end == line.len() {
        piece.text.len().checked_sub(content.len())?
    } else {
        piece.text.len().checked_sub(strip_end(content).len())?
    };
    let (prefix, rest) = piece.text.split_at_checked(at)?;
    content.starts_with(rest).then_some((prefix, rest))
}

/// The lines of a text, each with its offset; a final LF adds none.
fn lines_of(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line.strip_suffix('\n').unwrap_or(line))
    });
    lines.collect()
}

/// What [`inline`] should give for a body whose first line is the seventh, of source 3.
fn inline_by_lines(stem: &str, text: &str) -> SourcedText {
    let fences = fences(text);
    let lines = lines_of(text);
    let heading_at = |(at, line): (usize, &str)| {
        heading(line).filter(|_| !is_fenced(&fences, at)).map(|(level, text)| (level, text.to_owned()))
    };
    let title = lines.iter().position(|line| matches!(heading_at(*line), Some((1, _))));
    let (header, origin) = match title.map(|index| (index, heading_at(lines[index]))) {
        Some((index, Some((_, text)))) if text.is_empty() => {
            (format!("### {stem}"), Origin::new(3, 7 + index))
        }
        Some((index, Some((_, text)))) => (format!("### {text} ({stem})"), Origin::new(3, 7 + index)),
        _ => (format!("### {stem}"), Origin::NONE),
    };
    let others = (0..lines.len()).filter(|index| Some(*index) != title);
    let filled: Vec<_> = others.clone().filter(|index| !is_blank(lines[*index].1)).collect();
    let mut block = SourcedText::default();
    block.push(&header, origin);
    let (Some(first), Some(last)) = (filled.first(), filled.last()) else { return block };
    block.push("", Origin::NONE);
    for index in others.filter(|index| (first..=last).contains(&index)) {
        let line = match heading_at(lines[index]) {
            Some((level, text)) if text.is_empty() => "#".repeat(level + 2),
            Some((level, text)) => format!("{} {text}", "#".repeat(level + 2)),
            None => lines[index].1.to_owned(),
        };
        block.push(&line, Origin::new(3, 7 + index));
    }
    block
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn no_bytes_make_parsing_panic(tree in tree()) {
        let outcome = Corpus::parse(tree);
        for web in &outcome.value.webs {
            let body = body_with_roster(web, &SourcedText::default());
            prop_assert_eq!(body.origins().len(), body.text().matches('\n').count());
        }
        for note in &outcome.value.notes {
            let last = note.body().first_line + note.body().text.matches('\n').count();
            prop_assert!(note.summary().line as usize <= last);
        }
    }

    #[test]
    fn a_corpus_is_what_its_own_files_give(tree in tree()) {
        let corpus = Corpus::parse(tree).value;
        let again = Corpus::parse(corpus.tree()).value;
        let paths = |corpus: &Corpus| Library::new(corpus).targets().map(|target| target.path().clone()).collect::<Vec<_>>();
        prop_assert_eq!(paths(&corpus), paths(&again));
        prop_assert_eq!(corpus.tree().notes.len(), again.tree().notes.len());
        for (file, other) in corpus.tree().notes.iter().zip(&again.tree().notes) {
            prop_assert_eq!(&file.bytes, &other.bytes);
        }
    }

    #[test]
    fn what_survives_a_checkout_is_parsed_alike(tree in tree()) {
        let corpus = Corpus::parse(tree).value;
        prop_assume!(corpus.survives_checkout());
        let turn = |files: &mut Vec<SourceFile>| {
            files.reverse();
            files.iter_mut().for_each(|file| file.bytes = crlf(&file.bytes));
        };
        let mut tree = corpus.tree();
        turn(&mut tree.notes);
        tree.folders.reverse();
        tree.folders.iter_mut().for_each(|folder| turn(&mut folder.strands));
        prop_assert_eq!(Corpus::parse(tree).value, corpus);
    }

    #[test]
    fn lints_name_lines_of_their_file(tree in tree()) {
        let corpus = Corpus::parse(tree).value;
        let tree = corpus.tree();
        let files: Vec<_> =
            tree.notes.iter().chain(tree.folders.iter().flat_map(|folder| &folder.strands)).collect();
        for finding in Library::new(&corpus).lints() {
            let path = finding.path.clone().unwrap_or_default();
            let file = files.iter().find(|file| file.path.as_str() == path);
            let lines = file.map(|file| file.bytes.split(|byte| *byte == b'\n').count());
            prop_assert!(finding.line.is_some_and(|line| line > 0 && Some(line as usize) <= lines), "{}", finding);
        }
    }

    #[test]
    fn a_text_runs_on_where_the_parser_says_so(text in text()) {
        let next = format!("{text}\n\n# next\n");
        let parsed = Parser::new(&next).into_offset_iter();
        let swallowed = !parsed.into_iter().any(|(event, range)| {
            matches!(event, Event::Start(Tag::Heading { .. })) && range.start == text.len() + 2
        });
        prop_assert_eq!(unclosed(&text).is_some(), swallowed);
    }

    #[test]
    fn characters_are_those_that_a_slow_search_finds(text in any::<String>(), at in 0usize..200) {
        let plain: String = text.chars().filter(|c| characters(&c.to_string()).is_empty()).collect();
        prop_assert!(characters(&plain).is_empty());
        let at = plain.floor_char_boundary(at);
        let marked = format!("{}\u{202e}{}", &plain[..at.min(plain.len())], &plain[at.min(plain.len())..]);
        prop_assert_eq!(characters(&marked).len(), 1);
    }

    #[test]
    fn no_note_is_left_out_silently(path in path("memory"), bytes in bytes()) {
        let file = SourceFile { path, bytes, stamp: None };
        let outcome = Corpus::parse(MemoryTree { notes: vec![file], folders: Vec::new() });
        let read = outcome.value.notes.len() + outcome.value.webs.len();
        prop_assert!(read == 1 || outcome.has_errors());
    }

    #[test]
    fn fences_are_where_the_parser_finds_them(
        lines in vec(select(BLOCKS), 0..12),
        few in vec(select(&["```", "text", "", "# h", "``` sh", "- a", "````"][..]), 0..12),
        ended in any::<bool>(),
    ) {
        for lines in [lines, few] {
            let text = lines.join("\n") + if ended { "\n" } else { "" };
            let parsed: Vec<_> = Parser::new(&text).into_offset_iter().filter_map(|(event, range)| {
                matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))).then_some(range)
            }).collect();
            let starts = |text: &str| lines_of(text).into_iter().map(|(at, _)| at).collect::<Vec<_>>();
            for at in starts(&text) {
                prop_assert_eq!(is_fenced(&fences(&text), at), is_fenced(&parsed, at), "{:?} at {}", text, at);
            }
            let ranges = |ranges: Vec<Range<usize>>| -> Vec<_> { ranges.into_iter().map(|range| range.start).collect() };
            prop_assert_eq!(ranges(fences(&text)), ranges(parsed));
        }
    }

    #[test]
    fn inlining_gives_what_a_walk_by_lines_gives(text in text()) {
        let block = inline("stem", Body { text: &text, first_line: 7 }, 3);
        prop_assert_eq!(block, inline_by_lines("stem", &text));
    }

    #[test]
    fn inlining_keeps_every_line_but_headings(text in text()) {
        let block = inline("stem", Body { text: &text, first_line: 1 }, 0);
        let lines: Vec<_> = text.split('\n').collect();
        let mut kept = vec![false; lines.len()];
        let header = block.origins()[0];
        if header.is_some() {
            kept[header.line as usize - 1] = true;
        }
        let mut last = 0;
        for (line, origin) in block.lines().skip(2) {
            prop_assert!(origin.line > last, "out of order: {:?}", block);
            last = origin.line;
            kept[last as usize - 1] = true;
            let source = lines[last as usize - 1];
            match heading(source).filter(|_| line != source) {
                Some((level, title)) => {
                    let lowered = format!("{} {title}", "#".repeat(level + 2));
                    prop_assert_eq!(line, strip_end(&lowered));
                }
                None => prop_assert_eq!(line, source),
            }
        }
        let first = block.origins().get(2).map_or(0, |origin| origin.line as usize);
        for (number, line) in (1..).zip(&lines).filter(|(number, _)| !kept[number - 1]) {
            prop_assert!(is_blank(line), "lost: {:?}", line);
            prop_assert!(number < first || number > last as usize, "line {} is lost: {:?}", number, block);
        }
    }

    #[test]
    fn headings_go_down_outside_fences_and_nowhere_else(text in text()) {
        let block = inline("stem", Body { text: &text, first_line: 1 }, 0);
        let fences = fences(&text);
        let starts: Vec<_> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        for (line, origin) in block.lines().skip(2) {
            let at = starts[origin.line as usize - 1];
            let source = text[at..].split('\n').next().unwrap();
            let fenced = fences.iter().any(|range| range.contains(&at));
            prop_assert_eq!(line == source, fenced || heading(source).is_none(), "{:?}", source);
        }
    }

    #[test]
    fn fences_are_in_order_and_within_the_text(text in text()) {
        let mut end = 0;
        for range in fences(&text) {
            prop_assert!(range.start >= end && range.start < range.end && text.get(range.clone()).is_some());
            end = range.end;
        }
    }
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn pieces_of_a_line_hold_all_of_it_but_blanks_at_breaks(
        line in prop_oneof![
            2 => words().prop_map(|(start, words)| joined(start, &words)),
            2 => vec("[-a-z `>\\[\\]()!<#1.*|]{0,12}", 1..8).prop_map(|words| words.join(" ")),
            1 => free_text(),
        ],
        width in 15usize..60,
    ) {
        // In a quote a dash takes the mark along if no blank follows that; the peer does so too.
        prop_assume!(!line.trim_start_matches(is_space).starts_with('>') || !line.contains('-'));
        let pieces = wrap(&line, width);
        let mut prefixes = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            let end = pieces.get(index + 1).map_or(line.len(), |next| next.start);
            let found = split_piece(piece, &line, end);
            prop_assert!(found.is_some(), "{:?} is not {:?}", piece, line.get(piece.start..end));
            let (prefix, _) = found.unwrap();
            if index == 0 {
                prop_assert_eq!(prefix, &line[..piece.start]);
            } else {
                prop_assert!(prefix.chars().all(|c| is_space(c) || c == '>'), "{:?}", prefix);
                prefixes.push(prefix);
            }
        }
        prefixes.dedup();
        prop_assert!(prefixes.len() <= 1, "{:?}", prefixes);
    }

    #[test]
    fn pieces_are_no_wider_than_asked_unless_they_are_one_word((start, words) in words(), width in 20usize..60) {
        let line = joined(start, &words);
        let pieces = wrap(&line, width);
        prop_assume!(pieces.len() > 1);
        for piece in &pieces {
            let text = strip_end(&piece.text);
            let content = text.trim_start_matches(|c| is_space(c) || c == '>');
            let is_word = |content: &str| words.iter().any(|(word, _)| word == content);
            // A dash takes the word before it to the next line, where both may have too little room.
            let has_dash = content.strip_suffix('-').is_some_and(|before| !strip_end(before).contains(' '));
            prop_assert!(cells(text) <= width || is_word(content) || has_dash, "{:?} of {:?}", piece, pieces);
            // A mark of a quote is a word of its own when it comes first.
            if !has_dash && !start.contains('>') {
                let again = wrap(text, width);
                prop_assert!(again.len() == 1 && again[0].text == text, "{:?} breaks again", piece);
            }
        }
    }

    #[test]
    fn lines_that_fit_and_narrow_widths_change_nothing(line in free_text(), width in 0usize..200) {
        if width < 20 || cells(&line) <= width {
            prop_assert_eq!(wrap(&line, width), [WrappedLine { text: line, start: 0 }]);
        }
    }

    #[test]
    fn what_is_evened_out_stays_even(text in any::<String>()) {
        for even in [norm, slug, collapse, fold] {
            let once = even(&text);
            prop_assert_eq!(even(&once), once);
        }
        let is_part = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        prop_assert!(!slug(&text).is_empty() && slug(&text).bytes().all(is_part));
        prop_assert_eq!(norm(&text), norm(&collapse(&text)));
    }
}

/// The links of one line without code, looked for at each byte.
fn slow_links(line: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut from = 0;
    while from < line.len() {
        let rest = &line[from..];
        let target = rest.strip_prefix("[[").and_then(|rest| rest.split_once(']'));
        match target.filter(|(target, after)| !target.is_empty() && after.starts_with(']')) {
            Some((target, _)) => {
                let link = (strip_end(target.trim_start()).to_owned(), line[..from].ends_with('!'));
                if !link.0.is_empty() && !found.contains(&link) {
                    found.push(link);
                }
                from += target.len() + 4;
            }
            None => from += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn links_are_those_that_a_slow_search_finds(line in "[\\[\\]! aé]{0,24}") {
        let found = links(Body { text: &line, first_line: 1 });
        let found: Vec<_> = found.into_iter().map(|link| (link.target, link.inline)).collect();
        prop_assert_eq!(found, slow_links(&line));
    }

    #[test]
    fn code_hides_links_and_makes_none(line in "[\\[\\]! a`]{0,24}") {
        let all = slow_links(&line);
        for link in links(Body { text: &line, first_line: 1 }) {
            let beside = line.contains(&format!("[[{}", link.target)) || link.target.trim() != link.target;
            prop_assert!(all.iter().any(|(target, _)| *target == link.target) || beside);
            prop_assert!(!link.target.contains(']'));
        }
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_label_of_ascii_is_normal_as_any_other(text in "[ -~\\t\\n\\x1c-\\x1f]{0,24}") {
        // A character of another script keeps the text off the way of ASCII.
        let other = norm(&format!("{text} é"));
        let normal = format!("{} é", norm(&text));
        prop_assert_eq!(normal.trim_start(), other);
    }
}
