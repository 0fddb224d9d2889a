//! Blocks that nothing closes: in a bundle they swallow the notes behind them.

use std::ops::Range;

use cantus_manifest::Diagnostic;
use memchr::memmem::Finder;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use crate::fence::{BACKTICKS, TILDES};

use super::{line_at, line_of, line_start};

/// What every composed text is followed by, as far as blocks are concerned.
const NEXT: &str = "\n\n# x\n";
/// HTML elements whose text runs on over blank lines.
const RAW: [&str; 4] = ["script", "pre", "style", "textarea"];

/// The finding on a code fence, a comment or a raw element that runs on over the end of `text`.
#[must_use]
pub fn unclosed(text: &str) -> Option<Diagnostic> {
    if !may_run_on(text) {
        return None;
    }
    let (kind, range) = running_on(&format!("{text}{NEXT}"), text.len())?;
    let opening = line_at(text, line_start(text, range.start)).trim();
    let opening: String = opening.chars().take(20).collect();
    let (what, help) = match kind {
        Block::Fence => ("code fence", "close it with a line of as many of the same characters"),
        Block::Html => ("HTML block", "close it, or put its first line into backticks"),
    };
    let message = format!(
        "nothing closes the {what} `{}`: what follows this text in a bundle is part of it",
        opening.replace('`', "'")
    );
    Some(Diagnostic::warning("note.unclosed", message).line(line_of(text, range.start)).help(help))
}

/// The first line of the block that [`unclosed`] tells of.
pub(crate) fn open_block(text: &str) -> Option<&str> {
    if !may_run_on(text) {
        return None;
    }
    let (_, range) = running_on(&format!("{text}{NEXT}"), text.len())?;
    Some(line_at(text, line_start(text, range.start)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Fence,
    Html,
}

/// The block of `text` that holds what was put behind its first `length` bytes.
fn running_on(text: &str, length: usize) -> Option<(Block, Range<usize>)> {
    let events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    let mut blocks = events.filter_map(|(event, range)| match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => Some((Block::Fence, range)),
        Event::Start(Tag::HtmlBlock) => Some((Block::Html, range)),
        _ => None,
    });
    blocks.find(|(_, range)| range.start < length && range.end > length + 2)
}

/// Whether it is worth asking the parser: its answer is no wherever this one is.
fn may_run_on(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut html_line = false;
    for at in memchr::memchr_iter(b'<', bytes) {
        let rest = &bytes[at + 1..];
        let raw = |name: &str| {
            rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        };
        if matches!(rest.first(), Some(b'!' | b'?')) || RAW.iter().any(|name| raw(name)) {
            return true;
        }
        html_line |= starts_line(bytes, at);
    }
    let mut fences = fence_lines(text, &BACKTICKS).chain(fence_lines(text, &TILDES)).collect::<Vec<_>>();
    fences.sort_unstable();
    if html_line || fences.iter().any(|(_, plain)| !plain) {
        return !fences.is_empty();
    }
    let mut open: Option<&str> = None;
    for (start, _) in fences {
        let line = line_at(text, start);
        match open {
            None => open = opening(line),
            Some(fence) if closes(line, fence) => open = None,
            Some(_) => {}
        }
    }
    open.is_some()
}

/// Whether nothing but an indent of at most three blanks precedes the byte at `at` in its line.
fn starts_line(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(4)..at];
    let indent = before.iter().rev().take_while(|byte| **byte == b' ').count();
    at == indent || (indent < 4 && before[before.len() - indent - 1] == b'\n')
}

/// The starts of lines that may open or close a fence, and whether the fence stands in their first column.
fn fence_lines<'a>(
    text: &'a str,
    mark: &'static Finder<'_>,
) -> impl Iterator<Item = (usize, bool)> + use<'a> {
    const CONTAINERS: &[u8] = b" \t>-*+.)0123456789";
    let mut from = 0;
    let lines = std::iter::from_fn(move || {
        let at = from + mark.find(&text.as_bytes()[from..])?;
        // One fence a line.
        from = at + line_at(text, at).len();
        Some((line_start(text, at), at))
    });
    lines.filter_map(move |(start, at)| {
        let before = &text.as_bytes()[start..at];
        before.iter().all(|byte| CONTAINERS.contains(byte)).then_some((start, before.is_empty()))
    })
}

/// The fence that a line opens in its first column.
fn opening(line: &str) -> Option<&str> {
    let mark = line.chars().next()?;
    let rest = line.trim_start_matches(mark);
    // Behind backticks another one makes it inline code.
    (mark == '~' || !rest.contains('`')).then_some(&line[..line.len() - rest.len()])
}

fn closes(line: &str, fence: &str) -> bool {
    line.starts_with(fence)
        && line.trim_end_matches([' ', '\t']).bytes().all(|byte| byte == fence.as_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u32>) {
        assert_eq!(unclosed(text).map(|finding| finding.line.unwrap()), expected, "{text}");
        let asked = running_on(&format!("{text}{NEXT}"), text.len()).is_some();
        assert_eq!(asked, expected.is_some(), "the parser on {text}");
    }

    #[test]
    fn closed_texts() {
        for text in [
            "",
            "a\n",
            "```\na\n```\n",
            "~~~ x\n```\n~~~\n",
            "````\n```\n````",
            "```x``` a\n",
            "a <b> c\n",
            "<!-- x -->\n",
            "<!--\nx\n-->",
            "a <!-- b",
            "- ```\n  a\n\nb\n",
            "> ```\n> a\n",
            "<div>\n",
            "```\n<!--\n```\n",
            "<script>\n</script>\n",
            "    ```\n",
            "if a < b\n",
            "Vec<!>\n",
            "```\na\n```  \n",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn open_texts() {
        check("a\n\n```\nb\n", Some(3));
        check("```\na\n```\n\n~~~sh\nb\n```\n", Some(5));
        check("````\n```\n", Some(1));
        check("```\na\n``` x\n", Some(1));
        check("a\n<!-- b\n", Some(2));
        check("  <!--\n", Some(1));
        check("<?php\n", Some(1));
        check("<SCRIPT>\nx\n", Some(1));
        check("<![CDATA[ x\n", Some(1));
        check("<div>\n```\n\n```\na\n", Some(4));
        check("- ```\n  a\n\nb\n\n```\nc\n", Some(6));
        check("  ```\n", Some(1));
    }

    #[test]
    fn what_it_says() {
        let finding = unclosed("x\n\n```sh\n").unwrap();
        assert_eq!(
            finding.message,
            "nothing closes the code fence `'''sh`: what follows this text in a bundle is part of it"
        );
    }
}
