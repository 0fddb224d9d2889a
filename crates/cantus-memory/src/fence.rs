//! Where a Markdown text has fenced code, as CommonMark sees it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The byte ranges of the fenced code blocks of `text`, fence lines included, in order.
///
/// A text with neither three backticks nor three tildes isn't parsed.
#[must_use]
pub fn fences(text: &str) -> Vec<Range<usize>> {
    if !text.contains("```") && !text.contains("~~~") {
        return Vec::new();
    }
    Parser::new_ext(text, Options::empty())
        .into_offset_iter()
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => Some(range),
            _ => None,
        })
        .collect()
}

/// Answers whether a byte lies in a fence, for offsets that only grow.
pub(crate) struct Fenced {
    ranges: std::vec::IntoIter<Range<usize>>,
    current: Range<usize>,
}

impl Fenced {
    pub(crate) fn of(text: &str) -> Self {
        let mut ranges = fences(text).into_iter();
        let current = ranges.next().unwrap_or(usize::MAX..usize::MAX);
        Self { ranges, current }
    }

    /// Whether the byte at `offset` lies in a fenced block; `offset` must not shrink from call to call.
    pub(crate) fn holds(&mut self, offset: usize) -> bool {
        while offset >= self.current.end && self.current.end != usize::MAX {
            self.current = self.ranges.next().unwrap_or(usize::MAX..usize::MAX);
        }
        self.current.contains(&offset)
    }
}

/// The lines of `text` (a final LF adds none) with the offset of each.
pub(crate) fn lines_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut offset = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = offset;
        offset += line.len();
        (start, line.strip_suffix('\n').unwrap_or(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, fenced: &[&str]) {
        let mut fences = Fenced::of(text);
        let found: Vec<_> =
            lines_at(text).filter(|(at, _)| fences.holds(*at)).map(|(_, line)| line).collect();
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
    fn a_fence_in_a_list_ends_with_its_item() {
        check("- ```\n  # a\n\n# b\n", &["  # a", ""]);
    }
}
