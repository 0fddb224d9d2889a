//! A text cut at its headings.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use crate::fence::{fences, is_fenced, lines_at};
use crate::inline::heading;
use crate::unicode::{is_blank, strip, strip_end};

/// Lines of a file, blank ones at both ends gone.
pub(super) struct Piece<'a> {
    /// The number of the first line in the file.
    pub(super) first_line: usize,
    /// The lines; none only in a piece that stands for a text without any.
    pub(super) lines: Vec<&'a str>,
    /// The level and the text of the heading that opens it.
    pub(super) heading: Option<(usize, &'a str)>,
}

/// `text` cut at each heading of level 1 or 2 that CommonMark sees at column 0; what stands before the first is a piece
/// too. `first_line` is the number of its first line in the file. A blank text has no piece.
pub(super) fn pieces(text: &str, first_line: usize) -> Vec<Piece<'_>> {
    let cuts = cuts(text);
    let mut pieces = Vec::new();
    let mut open = Piece { first_line, lines: Vec::new(), heading: None };
    for (number, (offset, line)) in (first_line..).zip(lines_at(text)) {
        if cuts.binary_search(&offset).is_ok() {
            pieces.push(std::mem::replace(
                &mut open,
                Piece { first_line: number, lines: Vec::new(), heading: heading(line) },
            ));
        }
        open.lines.push(line);
    }
    pieces.push(open);
    pieces.into_iter().map(Piece::trimmed).filter(|piece| !piece.lines.is_empty()).collect()
}

/// The whole of `text` as one piece.
pub(super) fn whole(text: &str, first_line: usize) -> Piece<'_> {
    let lines = lines_at(text).map(|(_, line)| line).collect();
    Piece { first_line, lines, heading: None }.trimmed()
}

/// The offsets of the lines at which a text is cut.
fn cuts(text: &str) -> Vec<usize> {
    let starts = Parser::new_ext(text, Options::empty()).into_offset_iter().filter_map(|(event, range)| {
        let Event::Start(Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. }) = event else {
            return None;
        };
        Some(range.start)
    });
    starts
        .filter(|start| *start == 0 || text.as_bytes()[*start - 1] == b'\n')
        .filter(|start| matches!(heading(line_from(text, *start)), Some((1 | 2, _))))
        .collect()
}

fn line_from(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    &rest[..memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())]
}

/// The line (counted from 1) of the first heading that is underlined rather than marked with `#`.
pub(super) fn underlined(text: &str) -> Option<usize> {
    let mut events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    let start = events.find_map(|(event, range)| match event {
        Event::Start(Tag::Heading { .. }) if !text[range.clone()].trim_start().starts_with('#') => {
            Some(range.start)
        }
        _ => None,
    })?;
    Some(text[..start].matches('\n').count() + 1)
}

impl<'a> Piece<'a> {
    fn trimmed(mut self) -> Self {
        let leading = self.lines.iter().take_while(|line| is_blank(line)).count();
        self.lines.drain(..leading);
        self.first_line += leading;
        while self.lines.last().is_some_and(|line| is_blank(line)) {
            self.lines.pop();
        }
        self
    }

    /// The number of the last line in the file.
    pub(super) fn last_line(&self) -> usize {
        self.first_line + self.lines.len().max(1) - 1
    }

    /// The lines other than the heading that opens the piece.
    pub(super) fn below_heading(&self) -> &[&'a str] {
        &self.lines[usize::from(self.heading.is_some()).min(self.lines.len())..]
    }

    /// The body of a note: a piece below an H2 has its headings a level higher, so that the H2 is the note's title. `title` heads
    /// a piece that has no heading of its own but, in an HTML block, a line that looks like one: it would be taken for the title.
    pub(super) fn body(&self, title: Option<&str>) -> String {
        let text = self.lines.join("\n");
        let fences = fences(&text);
        let mut body = String::with_capacity(text.len() + 64);
        let is_title = |(at, line)| matches!(heading(line), Some((1, _))) && !is_fenced(&fences, at);
        if let Some(title) = title.filter(|_| self.heading.is_none() && lines_at(&text).any(is_title)) {
            body.push_str(&format!("# {title}\n\n"));
        }
        let raises = self.heading.is_some_and(|(level, _)| level == 2);
        for (index, (offset, line)) in lines_at(&text).enumerate() {
            let level = heading(line).filter(|_| !is_fenced(&fences, offset)).map_or(0, |(level, _)| level);
            let raised = raises && (index == 0 || level > 2);
            body.push_str(if raised { &line[1..] } else { line });
            body.push('\n');
        }
        if let Some(fence) = self.unclosed(&text, &fences) {
            body.push_str(&fence);
            body.push('\n');
        }
        body
    }

    /// The line that would close the fence that runs to the end of the piece, if one does.
    pub(super) fn closing_fence(&self) -> Option<String> {
        let text = self.lines.join("\n");
        self.unclosed(&text, &fences(&text))
    }

    fn unclosed(&self, text: &str, fences: &[Range<usize>]) -> Option<String> {
        let last = fences.last().filter(|range| range.end >= text.len())?;
        let start = text[..last.start].rfind('\n').map_or(0, |at| at + 1);
        let lines: Vec<_> = text[start..].split('\n').collect();
        let opening = lines[0].trim_start_matches(' ');
        // A fence in a list or a quotation ends with that.
        let mark = opening.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        if lines[0].len() - opening.len() > 3 {
            return None;
        }
        let length = opening.chars().take_while(|c| *c == mark).count();
        let closes = |line: &str| {
            let text = strip_end(line).trim_start_matches(' ');
            line.len() - line.trim_start_matches(' ').len() <= 3
                && text.len() >= length
                && text.chars().all(|c| c == mark)
        };
        let closed = lines.len() > 1 && lines.last().is_some_and(|line| closes(line));
        (!closed).then(|| mark.to_string().repeat(length))
    }
}

/// A text as it is compared with others: white space at the ends of lines, blank lines at both ends, and comments in which a
/// generator names its source don't count.
pub(super) fn key(body: &str) -> String {
    let lines = body.lines().filter(|line| !strip(line).starts_with("<!-- Source: "));
    let lines: Vec<_> = lines.map(strip_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str)]) {
        let found: Vec<_> =
            pieces(text, 1).iter().map(|piece| (piece.first_line, piece.body(Some("Title")))).collect();
        let found: Vec<_> = found.iter().map(|(line, body)| (*line, body.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_title_an_introduction_and_sections() {
        check(
            "# T\n\nintro\n\n## A\n\na\n### B\n#### C\n\n## D\n",
            &[(1, "# T\n\nintro\n"), (5, "# A\n\na\n## B\n### C\n"), (11, "# D\n")],
        );
        check("intro\n\n## A\n", &[(1, "intro\n"), (3, "# A\n")]);
        check("\n\n", &[]);
    }

    #[test]
    fn each_h1_starts_a_piece() {
        check("# T\na\n# U\nb\n## V\n", &[(1, "# T\na\n"), (3, "# U\nb\n"), (5, "# V\n")]);
    }

    #[test]
    fn fences_and_comments_are_not_cut() {
        check("## A\n```\n## in\n### in\n```\n### B\n", &[(1, "# A\n```\n## in\n### in\n```\n## B\n")]);
        check("## A\n<!--\n## in\n-->\n## B\n", &[(1, "# A\n<!--\n## in\n-->\n"), (5, "# B\n")]);
        check("- ```\n  x\n## B\n", &[(1, "- ```\n  x\n"), (3, "# B\n")]);
    }

    #[test]
    fn a_fence_that_the_end_closed_is_closed() {
        check("## A\n````sh\n## in\n```\n", &[(1, "# A\n````sh\n## in\n```\n````\n")]);
        check("~~~\n", &[(1, "~~~\n~~~\n")]);
        check("```\nx\n```\n", &[(1, "```\nx\n```\n")]);
        check("- ```\n  x\n", &[(1, "- ```\n  x\n")]);
    }

    #[test]
    fn a_comment_gives_no_title() {
        check("<!--\n# in\n-->\n", &[(1, "# Title\n\n<!--\n# in\n-->\n")]);
    }

    #[test]
    fn underlined_headings_are_text() {
        check("T\n===\n\nA\n---\nx\n", &[(1, "T\n===\n\nA\n---\nx\n")]);
        assert_eq!(underlined("# x\n\nA\n---\nT\n===\n"), Some(3));
        assert_eq!(underlined("# x\n```\nB\n---\n```\n"), None);
    }
}
