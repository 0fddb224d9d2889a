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
/// A text with neither three backticks nor three tildes isn't parsed, nor is one whose every fence stands by itself at the
/// start of a line.
#[must_use]
pub fn fences(text: &str) -> Vec<Range<usize>> {
    let has = |mark: &Finder<'_>| mark.find(text.as_bytes()).is_some();
    let plain = match (has(&BACKTICKS), has(&TILDES)) {
        (false, false) => return Vec::new(),
        (true, false) => plain_fences(text, &BACKTICKS, b'`'),
        (false, true) => plain_fences(text, &TILDES, b'~'),
        (true, true) => None,
    };
    plain.unwrap_or_else(|| parsed_fences(text))
}

/// The fences of a text where no block can hide one: each stands at the start of its line, all are of one kind, and no line
/// may start HTML. `None` if that can't be said; then the parser decides.
fn plain_fences(text: &str, mark: &Finder<'_>, sign: u8) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    if memchr::memchr(b'\r', bytes).is_some() || may_hold_html(text) {
        return None;
    }
    let (mut fences, mut open, mut at) = (Vec::new(), None, 0);
    while let Some(found) = mark.find(&bytes[at..]).map(|found| at + found) {
        if found > 0 && bytes[found - 1] != b'\n' {
            return None;
        }
        let end = memchr::memchr(b'\n', &bytes[found..]).map_or(text.len(), |length| found + length);
        let line = &bytes[found..end];
        let length = line.iter().take_while(|byte| **byte == sign).count();
        let info = &line[length..];
        // A sign in what follows may make the line inline code; on a tab behind a fence parsers differ.
        if info.contains(&sign) || info.contains(&b'\t') {
            return None;
        }
        match open {
            Some((start, least)) if length >= least && info.iter().all(|byte| *byte == b' ') => {
                fences.push(start..end);
                open = None;
            }
            Some(_) => {}
            None => open = Some((found, length)),
        }
        at = end;
    }
    fences.extend(open.map(|(start, _)| start..text.len()));
    Some(fences)
}

/// Whether a line's first character, marks of quotes and lists aside, is `<`.
fn may_hold_html(text: &str) -> bool {
    memchr::memchr_iter(b'<', text.as_bytes()).any(|at| {
        let line = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |lf| lf + 1);
        text.as_bytes()[line..at].iter().all(is_mark)
    })
}

/// Whether a byte may stand before a block's own text.
fn is_mark(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'0'..=b'9')
}

/// The fences of any text.
fn parsed_fences(text: &str) -> Vec<Range<usize>> {
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

/// The same lines as [`lines_at`] gives, from the last.
pub(crate) fn lines_back(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = (!text.is_empty()).then(|| text.strip_suffix('\n').unwrap_or(text).len());
    std::iter::from_fn(move || {
        let line_end = end?;
        let before = memchr::memrchr(b'\n', &text.as_bytes()[..line_end]);
        end = before;
        let start = before.map_or(0, |lf| lf + 1);
        Some((start, &text[start..line_end]))
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
