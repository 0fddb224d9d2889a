//! A note's body as a block below the frame's headings (INLINE, §3.2).

use std::ops::Range;

use crate::fence::{fences, is_fenced, lines_at};
use crate::note::Body;
use crate::sourced::{Origin, SourcedText};
use crate::unicode::{is_blank, strip, strip_end};

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
    let title = find_title(text, &fences);
    let mut block = SourcedText::with_capacity(text.len() + stem.len() + 16);
    let header_origin = title.as_ref().map_or(Origin::NONE, |title| origin(title.line));
    match title.as_ref().map(|title| title.text).filter(|text| !text.is_empty()) {
        Some(title) => block.push(&format!("### {title} ({stem})"), header_origin),
        None => block.push(&format!("### {stem}"), header_origin),
    }
    let header = (1, block.text().len());
    let mut end = header;
    for (number, (offset, line)) in lines_at(text).enumerate() {
        if title.as_ref().is_some_and(|title| title.line == number) {
            continue;
        }
        let blank = is_blank(line);
        if end == header {
            if blank {
                continue;
            }
            block.push("", Origin::NONE);
        }
        match heading(line).filter(|_| !is_fenced(&fences, offset)) {
            Some((level, text)) => block.push(&lowered(level, text), origin(number)),
            None => block.push(line, origin(number)),
        }
        if !blank {
            end = (block.origins().len(), block.text().len());
        }
    }
    block.truncate(end.0, end.1);
    block
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
    lines_at(text).enumerate().find_map(|(line, (offset, content))| match heading(content) {
        Some((1, text)) if !is_fenced(fences, offset) => Some(Title { line, text }),
        _ => None,
    })
}

fn lowered(level: usize, text: &str) -> String {
    let mut line = "#".repeat(level + 2);
    if !text.is_empty() {
        line.push(' ');
        line.push_str(text);
    }
    line
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
