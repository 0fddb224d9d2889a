//! A note's body as a block below the frame's headings (INLINE, §3.2).

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::fence::{fences, is_fenced, lines_at, lines_back};
use crate::note::Body;
use crate::sourced::{Origin, SourcedText};
use crate::unicode::{is_blank, strip, strip_end};

/// Where a line that may be a heading starts; made once, since it is looked for in every text.
static LINE_OF_HASHES: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\n#"));

/// The level and the stripped text of a heading line: `#` at column 0, then a blank, a tab or the end.
#[must_use]
pub fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    (level > 0 && (rest.is_empty() || rest.starts_with([' ', '\t']))).then(|| (level, strip(rest)))
}

/// The body of a note as a block: its first H1 becomes `### Title (stem)`, other headings go down two levels, blank
/// lines at both ends go, and everything else stays as it is. Headings inside fences are text.
#[must_use]
pub fn inline(stem: &str, body: Body<'_>, source: usize) -> SourcedText {
    inline_body(stem, body.text, |line| Origin::new(source, body.first_line + line))
}

/// [`inline`] for a text whose line with index `n` (from 0) came from `origin(n)`.
#[must_use]
pub fn inline_body(stem: &str, text: &str, origin: impl Fn(usize) -> Origin) -> SourcedText {
    let fences = fences(text);
    let headings: Vec<_> = headings(text, &fences).collect();
    let title = headings.iter().find(|heading| heading.level == 1);
    let mut block = SourcedText::with_capacity(text.len() + stem.len() + 16);
    let header_origin = title.map_or(Origin::NONE, |title| origin(line_number(text, title.at)));
    match title.map(|title| title.text).filter(|text| !text.is_empty()) {
        Some(title) => block.push_parts(&["### ", title, " (", stem, ")"], header_origin),
        None => block.push_parts(&["### ", stem], header_origin),
    }
    let Some(kept) = without_blank_ends(text, title.map(|title| title.at)) else { return block };
    block.push("", Origin::NONE);
    let (mut at, mut number) = (kept.start, line_number(text, kept.start));
    // What stands between headings is copied as a whole.
    let mut copy = |block: &mut SourcedText, range: Range<usize>| {
        let lines = block.push_lines(&text[range], |line| origin(number + line));
        number += lines + 1;
        number - 1
    };
    for heading in headings.iter().filter(|heading| kept.contains(&heading.at)) {
        let number = copy(&mut block, at..heading.at);
        if title.is_none_or(|title| title.at != heading.at) {
            let gap = if heading.text.is_empty() { "" } else { " " };
            block.push_parts(
                &["##", &text[heading.at..heading.at + heading.level], gap, heading.text],
                origin(number),
            );
        }
        at = (heading.end + 1).min(kept.end);
    }
    copy(&mut block, at..kept.end);
    block
}

/// From the first line that isn't blank to the end of the last one, the title aside; `None` if there is none.
fn without_blank_ends(text: &str, title: Option<usize>) -> Option<Range<usize>> {
    let counts = |(at, line): &(usize, &str)| Some(*at) != title && !is_blank(line);
    let (start, _) = lines_at(text).find(counts)?;
    let (last, line) = lines_back(text).find(counts)?;
    Some(start..last + line.len())
}

/// The index of the line that starts at `offset`.
fn line_number(text: &str, offset: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..offset]).count()
}

/// The text without the line of its first H1 and without blank lines at its ends.
#[must_use]
pub fn untitled(text: &str) -> String {
    let title = find_title(text, &fences(text)).map(|title| title.line);
    let lines = text.split_inclusive('\n').enumerate().filter(|(number, _)| Some(*number) != title);
    let rest: String = lines.map(|(_, line)| line).collect();
    let first = rest.split_inclusive('\n').take_while(|line| is_blank(line)).map(str::len).sum();
    strip_end(&rest[first..]).to_owned()
}

pub(crate) struct Title<'a> {
    pub(crate) line: usize,
    pub(crate) text: &'a str,
}

/// The first H1 outside fences, wherever it is.
pub(crate) fn find_title<'a>(text: &'a str, fences: &[Range<usize>]) -> Option<Title<'a>> {
    let title = headings(text, fences).find(|heading| heading.level == 1)?;
    Some(Title { line: line_number(text, title.at), text: title.text })
}

/// A heading line outside fences.
struct Heading<'a> {
    level: usize,
    text: &'a str,
    /// Where its line starts, in bytes.
    at: usize,
    /// Where its line ends, the LF aside.
    end: usize,
}

/// The headings of a text in their order; lines that don't start with `#` aren't looked at.
fn headings<'a>(text: &'a str, fences: &[Range<usize>]) -> impl Iterator<Item = Heading<'a>> {
    let first = text.starts_with('#').then_some(0);
    let others = LINE_OF_HASHES.find_iter(text.as_bytes()).map(|at| at + 1);
    first.into_iter().chain(others).filter_map(|at| {
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
        let (level, text) = heading(&text[at..end])?;
        (!is_fenced(fences, at)).then_some(Heading { level, text, at, end })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let block = inline("n", Body { text: body, first_line: 1 }, 0);
        assert_eq!(block.text(), format!("{expected}\n"));
        assert_eq!(block.origins().len(), block.text().lines().count());
        // Every line that names an origin holds that line's text, headings aside.
        let lines: Vec<_> = body.split('\n').collect();
        for (line, origin) in
            block.lines().filter(|(line, origin)| origin.is_some() && !line.starts_with('#'))
        {
            assert_eq!(lines[origin.line as usize - 1], line);
        }
    }

    #[test]
    fn title_and_stem() {
        check("# A Title\n\nbody\n\n## Sub\n\ntext\n", "### A Title (n)\n\nbody\n\n#### Sub\n\ntext");
        check("text\n\n## Sub\n", "### n\n\ntext\n\n#### Sub");
        check("", "### n");
        check("#\n\n# Real\n", "### n\n\n### Real");
        check("# Title #\n\n## Sub ##\n", "### Title # (n)\n\n#### Sub ##");
    }

    #[test]
    fn the_first_h1_moves_up_wherever_it_is() {
        check("## Sub\n\n# Late\n\nx\n", "### Late (n)\n\n#### Sub\n\n\nx");
        check("# One\n\na\n\n# Two\n\nb\n", "### One (n)\n\na\n\n### Two\n\nb");
    }

    #[test]
    fn what_is_no_heading_stays() {
        check("# A\n\n##NotHeading\n\n##\tTab\n", "### A (n)\n\n##NotHeading\n\n#### Tab");
        check(" # x\nSet\n===\n", "### n\n\n # x\nSet\n===");
        check("##### deep\n", "### n\n\n####### deep");
    }

    #[test]
    fn fences_protect_headings() {
        check("# A\n\n~~~\n## in\n~~~\n## out\n", "### A (n)\n\n~~~\n## in\n~~~\n#### out");
        check("```\n# no\n```\n# Yes\n", "### Yes (n)\n\n```\n# no\n```");
    }

    #[test]
    fn trailing_blanks_of_the_last_line_stay() {
        check("# A\n\nx   \n\n   \n\n", "### A (n)\n\nx   ");
    }
}
