//! Where a Markdown text has fenced code, as CommonMark sees it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// What a fence starts with; made once, since it is looked for in every text.
pub(crate) static BACKTICKS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("```"));
/// The other thing that a fence starts with.
pub(crate) static TILDES: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("~~~"));

/// The byte ranges of the fenced code blocks of `text`, fence lines included, in order.
///
/// A text with neither three backticks nor three tildes isn't parsed.
#[must_use]
pub fn fences(text: &str) -> Vec<Range<usize>> {
    let has = |mark: &Finder<'_>| mark.find(text.as_bytes()).is_some();
    if !has(&BACKTICKS) && !has(&TILDES) {
        return Vec::new();
    }
    Parser::new_ext(&shallow(text), Options::empty())
        .into_offset_iter()
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => Some(range),
            _ => None,
        })
        .collect()
}

/// How many bytes of quote marks, list marks and blanks a line may begin with: far more than anyone nests.
const MOST_MARKS: usize = 200;

/// `text` with no line nested deeper than that: further marks are letters. A line without marks can continue every block that
/// is open, so that the parser's time is lines times depth; half a megabyte of `>` and as much of short lines took a minute.
pub(crate) fn shallow(text: &str) -> Cow<'_, str> {
    let is_mark =
        |byte: &u8| matches!(byte, b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'0'..=b'9');
    let marks = |line: &str| line.bytes().take_while(is_mark).count();
    if lines_at(text).all(|(_, line)| marks(line) <= MOST_MARKS) {
        return Cow::Borrowed(text);
    }
    let mut shallow = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (kept, marks) = (marks(line).min(MOST_MARKS), marks(line));
        shallow.push_str(&line[..kept]);
        shallow.extend(std::iter::repeat_n('x', marks - kept));
        shallow.push_str(&line[marks..]);
    }
    Cow::Owned(shallow)
}

/// Whether the byte at `offset` lies in one of the ranges that [`fences`] gave.
#[must_use]
pub fn is_fenced(fences: &[Range<usize>], offset: usize) -> bool {
    let after = fences.partition_point(|range| range.start <= offset);
    after > 0 && fences[after - 1].contains(&offset)
}

/// The lines of `text` (a final LF adds none) with the offset of each.
pub(crate) fn lines_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes())
        .chain((!text.is_empty() && !text.ends_with('\n')).then_some(text.len()));
    let mut start = 0;
    ends.map(move |end| {
        let line = (start, &text[start..end]);
        start = end + 1;
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, fenced: &[&str]) {
        let fences = fences(text);
        let found: Vec<_> =
            lines_at(text).filter(|(at, _)| is_fenced(&fences, *at)).map(|(_, line)| line).collect();
        assert_eq!(found, fenced);
    }

    #[test]
    fn text_without_fences() {
        check("# a\n\nb\n", &[]);
    }

    #[test]
    fn longer_fences_hold_shorter_ones() {
        check("````\n```\n# a\n````\n# b\n", &["````", "```", "# a", "````"]);
    }

    #[test]
    fn an_info_string_does_not_close() {
        check("```py\n# a\n```js\n# b\n```\n# c\n", &["```py", "# a", "```js", "# b", "```"]);
    }

    #[test]
    fn an_unclosed_fence_runs_to_the_end() {
        check("a\n~~~\n# b\n", &["~~~", "# b"]);
    }

    #[test]
    fn inline_code_of_three_backticks_is_no_fence() {
        check("```x``` text\n# a\n", &[]);
    }

    #[test]
    fn deep_nesting_costs_no_more_than_its_text() {
        // Without a bound these take minutes.
        for deep in ["> ".repeat(100_000), ">".repeat(200_000), format!("{}a", "- ".repeat(100_000))] {
            let text = format!("~~~\nx\n~~~\n{deep}a\n{}~~~\n# b\n", "a\n".repeat(200_000));
            let found = fences(&text);
            assert_eq!(found.len(), 2);
            assert_eq!(&text[found[1].clone()], "~~~\n# b\n");
        }
    }

    #[test]
    fn deep_lines_keep_their_place_and_what_follows() {
        let quotes = "> ".repeat(MOST_MARKS);
        check(&format!("{quotes}a\n\n```\n# a\n```\n# b\n"), &["```", "# a", "```"]);
        // The range of a fence in a quote starts behind its mark.
        let blank = format!("> {}", " ".repeat(3 * MOST_MARKS));
        check(&format!("> ```\n{blank}\n# b\n"), &[&blank]);
    }

    #[test]
    fn a_fence_in_a_list_ends_with_its_item() {
        check("- ```\n  # a\n\n# b\n", &["  # a", ""]);
    }
}
