//! A text cut at its headings.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::fence::{fences, lines_at, shallow};
use crate::inline::{find_title, heading};
use crate::lints::open_block;
use crate::unicode::{is_blank, strip, strip_end};

/// The deepest heading that a note may have: in a bundle it goes down by two, and Markdown knows six levels.
const DEEPEST: usize = 4;

/// A heading at the top level of a text: in no list, quotation, code or HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// The index of its first line.
    pub(super) at: usize,
    /// How many lines it has: an underlined one has two or more.
    pub(super) count: usize,
    /// From 1 to 6.
    pub(super) level: usize,
    /// Its text, without what marks it as a heading.
    pub(super) text: String,
}

/// Lines of a file, blank ones at both ends gone.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    /// Its place among the pieces of the file, from 0.
    pub(super) number: usize,
    /// The lines, each with its number in the file; none only in a piece that stands for a text without any.
    pub(super) lines: Vec<(usize, &'a str)>,
    /// The headings among them.
    pub(super) headings: Vec<Heading>,
}

/// `text` cut at each heading of level 1 or 2; what stands before the first is a piece too. `first_line` is the number of its
/// first line in the file. A blank text has no piece.
pub(super) fn pieces(text: &str, first_line: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut open = Piece { number: 0, lines: Vec::new(), headings: Vec::new() };
    let mut headings = headings(text).into_iter().peekable();
    for (index, (_, line)) in lines_at(text).enumerate() {
        if let Some(found) = headings.next_if(|found| found.at == index) {
            if found.level <= 2 {
                let next = Piece { number: 0, lines: Vec::new(), headings: Vec::new() };
                pieces.push(std::mem::replace(&mut open, next));
            }
            open.headings.push(Heading { at: open.lines.len(), ..found });
        }
        open.lines.push((first_line + index, line));
    }
    pieces.push(open);
    let pieces = pieces.into_iter().map(Piece::trimmed).filter(|piece| !piece.lines.is_empty());
    pieces.enumerate().map(|(number, piece)| Piece { number, ..piece }).collect()
}

/// The whole of `text` as one piece, whose headings stay as they are.
pub(super) fn whole(text: &str, first_line: usize) -> Piece<'_> {
    let lines = (first_line..).zip(lines_at(text)).map(|(number, (_, line))| (number, line));
    Piece { number: 0, lines: lines.collect(), headings: Vec::new() }.trimmed()
}

/// The headings at the top level of a text, in order. Underlined ones and those behind up to three blanks count too.
pub(super) fn headings(text: &str) -> Vec<Heading> {
    let shallow = shallow(text);
    let mut found = Vec::new();
    let (mut depth, mut line, mut counted) = (0_usize, 0, 0);
    for (event, range) in Parser::new_ext(&shallow, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) => depth -= 1,
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let start = memchr::memrchr(b'\n', &text.as_bytes()[..range.start]).map_or(0, |at| at + 1);
                line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..start]).count();
                counted = start;
                found.extend(heading_at(&text[start..range.end], line, level));
            }
            _ => {}
        }
    }
    found
}

/// The heading that has these lines.
fn heading_at(text: &str, at: usize, level: HeadingLevel) -> Option<Heading> {
    let lines: Vec<_> = text.trim_end_matches('\n').split('\n').collect();
    let first = lines[0].trim_start_matches(' ');
    if let Some((marks @ 1..=6, title)) = heading(first) {
        return Some(Heading { at, count: 1, level: marks, text: without_closing(title).to_owned() });
    }
    // To the parser a line of no-break spaces is a word.
    let blank = lines.iter().take_while(|line| is_blank(line)).count();
    let (_, words) = lines[blank..].split_last().filter(|(_, words)| !words.is_empty())?;
    let words: Vec<_> = words.iter().map(|line| strip(line)).collect();
    let mut text = words.join(" ");
    let open = without_closing(&text).len();
    if open < text.len() {
        // What only looks like closing marks is text where the heading is underlined.
        let marks = text.len() - text.trim_end_matches('#').len();
        text.insert(text.len() - marks, '\\');
    }
    Some(Heading { at: at + blank, count: lines.len() - blank, level: level as usize, text })
}

/// A heading's text without the marks that may close it, as in `## Title ##`.
fn without_closing(text: &str) -> &str {
    let rest = text.trim_end_matches('#');
    let closes = rest.len() < text.len() && (rest.is_empty() || rest.ends_with([' ', '\t']));
    if closes { strip_end(rest) } else { text }
}

impl<'a> Piece<'a> {
    fn trimmed(mut self) -> Self {
        let leading = self.lines.iter().take_while(|(_, line)| is_blank(line)).count();
        self.lines.drain(..leading);
        for found in &mut self.headings {
            found.at -= leading;
        }
        while self.lines.last().is_some_and(|(_, line)| is_blank(line)) {
            self.lines.pop();
        }
        self
    }

    /// The number of the first line in the file; 1 where there is none.
    pub(super) fn first_line(&self) -> usize {
        self.lines.first().map_or(1, |(number, _)| *number)
    }

    /// The number of the last line in the file.
    pub(super) fn last_line(&self) -> usize {
        self.lines.last().map_or(1, |(number, _)| *number)
    }

    /// The heading of level 1 or 2 that opens the piece.
    pub(super) fn opening(&self) -> Option<&Heading> {
        self.headings.first().filter(|found| found.at == 0 && found.level <= 2)
    }

    /// Its lines as a text.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
    }

    /// Whether it has headings and nothing else.
    pub(super) fn is_bare(&self) -> bool {
        let Some(first) = self.headings.first() else { return false };
        let above = self.lines[..first.at].iter().all(|(_, line)| is_blank(line));
        above && self.with_text().next().is_none()
    }

    /// The headings that have text between them and the next one.
    pub(super) fn with_text(&self) -> impl Iterator<Item = &Heading> {
        let nexts = self.headings.iter().skip(1).map(|next| next.at).chain([self.lines.len()]);
        let has_text = |(heading, next): &(&Heading, usize)| {
            self.lines[heading.at + heading.count..*next].iter().any(|(_, line)| !is_blank(line))
        };
        self.headings.iter().zip(nexts).filter(has_text).map(|(heading, _)| heading)
    }

    /// This piece with a later one of the same file below it.
    pub(super) fn joined(mut self, other: Self) -> Self {
        self.lines.push((self.last_line(), ""));
        let above = self.lines.len();
        self.headings
            .extend(other.headings.into_iter().map(|found| Heading { at: found.at + above, ..found }));
        self.lines.extend(other.lines);
        self
    }

    /// The body of a note. Its heading is the note's title, of level 1; those below keep their distance from it, but none is deeper
    /// than a bundle can show. `title` heads a piece that has no heading of its own but a line that would be taken for the title.
    /// A code fence or an HTML block that runs on over the end is closed.
    pub(super) fn body(&self, title: Option<&str>) -> String {
        // Without a title of its own, a note takes the first heading of level 1 for it.
        let is_headed = self.opening().is_some() || self.headings.iter().all(|found| found.level > 1);
        let (up, down) = (self.opening().map_or(0, |found| found.level - 1), usize::from(!is_headed));
        let mut body = String::with_capacity(self.lines.iter().map(|(_, line)| line.len() + 1).sum());
        let mut headings = self.headings.iter().peekable();
        let mut hidden = 0;
        for (index, (_, line)) in self.lines.iter().enumerate() {
            if let Some(found) = headings.next_if(|found| found.at == index) {
                let level = (found.level + down).saturating_sub(up).clamp(1, DEEPEST);
                body.push_str(&"#".repeat(level));
                body.push_str(if found.text.is_empty() { "" } else { " " });
                body.push_str(&found.text);
                body.push('\n');
                hidden = found.count;
            }
            if hidden > 0 {
                hidden -= 1;
                continue;
            }
            body.push_str(line);
            body.push('\n');
        }
        if let Some(title) = title.filter(|_| self.opening().is_none() && has_title(&body)) {
            body.insert_str(0, &format!("# {title}\n\n"));
        }
        if let Some(end) = closing(&body) {
            body.push_str(&end);
            body.push('\n');
        }
        body
    }

    /// The line that [`body`](Self::body) adds to close what runs on over the end of the piece.
    pub(super) fn closing(&self) -> Option<String> {
        closing(&format!("{}\n", self.text()))
    }
}

fn has_title(body: &str) -> bool {
    find_title(body, &fences(body)).is_some()
}

/// The line that closes the fence or the HTML block that runs on over the end of a text.
fn closing(text: &str) -> Option<String> {
    let opening = open_block(text)?.trim_start();
    let length = |mark| opening.chars().take_while(|c| *c == mark).count();
    match opening.chars().next()? {
        mark @ ('`' | '~') => Some(mark.to_string().repeat(length(mark))),
        _ => html_end(opening),
    }
}

/// What ends an HTML block that starts with this line and doesn't end at a blank one.
fn html_end(opening: &str) -> Option<String> {
    let opening = opening.to_ascii_lowercase();
    let fixed = [("<!--", "-->"), ("<?", "?>"), ("<![cdata[", "]]>"), ("<!", ">")];
    if let Some((_, end)) = fixed.iter().find(|(start, _)| opening.starts_with(start)) {
        return Some((*end).to_owned());
    }
    let names = ["script", "pre", "style", "textarea"];
    let name =
        names.iter().find(|name| opening.strip_prefix('<').is_some_and(|rest| rest.starts_with(**name)))?;
    Some(format!("</{name}>"))
}

/// A text as it is compared with others: levels of headings, white space at the ends of lines, blank lines at both ends, and
/// comments in which a generator names its source don't count.
pub(super) fn key(body: &str) -> String {
    canonical(body).0
}

/// The keys of everything that a note may have been made of: it may start and end with headings that had no text of their own.
pub(super) fn keys(body: &str) -> Vec<String> {
    /// How many such headings are looked at together.
    const MOST: usize = 8;
    let (whole, starts) = canonical(body);
    let mut sections: Vec<&str> = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        sections
            .push(whole[*start..starts.get(index + 1).copied().unwrap_or(whole.len())].trim_matches('\n'));
    }
    let is_bare = |section: &&&str| !section.contains('\n');
    // Text above the first heading belongs to all of it.
    let leading = if starts.first() == Some(&0) { sections.iter().take_while(is_bare).count() } else { 0 };
    let trailing = sections[leading..].iter().rev().take_while(is_bare).count();
    let mut keys: Vec<_> = sections[..leading].iter().map(|section| (*section).to_owned()).collect();
    keys.extend(sections[sections.len() - trailing..].iter().map(|section| (*section).to_owned()));
    if leading < sections.len() {
        for first in leading.saturating_sub(MOST)..=leading {
            let start = if first == 0 { 0 } else { starts[first] };
            for fewer in 0..=trailing.min(MOST) {
                let end = starts.get(sections.len() - fewer).copied().unwrap_or(whole.len());
                keys.push(whole[start..end].trim_matches('\n').to_owned());
            }
        }
    }
    keys.push(whole);
    keys
}

/// A text's key, and where in it headings start.
fn canonical(body: &str) -> (String, Vec<usize>) {
    let mut headings = headings(body).into_iter().peekable();
    let (mut key, mut starts) = (String::with_capacity(body.len()), Vec::new());
    let mut hidden = 0;
    for (index, (_, line)) in lines_at(body).enumerate() {
        if let Some(found) = headings.next_if(|found| found.at == index) {
            starts.push(key.len());
            key.push_str(strip_end(&format!("# {}", found.text)));
            key.push('\n');
            hidden = found.count;
        }
        if hidden > 0 {
            hidden -= 1;
            continue;
        }
        if strip(line).starts_with("<!-- Source: ") || (key.is_empty() && is_blank(line)) {
            continue;
        }
        key.push_str(strip_end(line));
        key.push('\n');
    }
    key.truncate(key.trim_end_matches('\n').len());
    (key, starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str)]) {
        let found: Vec<_> =
            pieces(text, 1).iter().map(|piece| (piece.first_line(), piece.body(Some("Title")))).collect();
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
        check(
            "## A\n<!--\n## in\n### in\n-->\n## B\n",
            &[(1, "# A\n<!--\n## in\n### in\n-->\n"), (6, "# B\n")],
        );
        check("- ```\n  x\n## B\n", &[(1, "- ```\n  x\n"), (3, "# B\n")]);
    }

    #[test]
    fn a_block_that_the_end_closed_is_closed() {
        check("## A\n````sh\n## in\n```\n", &[(1, "# A\n````sh\n## in\n```\n````\n")]);
        check("~~~\n", &[(1, "~~~\n~~~\n")]);
        check("```\nx\n```\n", &[(1, "```\nx\n```\n")]);
        check("- ```\n  x\n", &[(1, "- ```\n  x\n")]);
        check("- x\n  ```\n", &[(1, "- x\n  ```\n")]);
        check("## A\n<!-- x\n\n## in\n", &[(1, "# A\n<!-- x\n\n## in\n-->\n")]);
        check("<pre>\n\n## in\n", &[(1, "<pre>\n\n## in\n</pre>\n")]);
        check("- <!-- x\n", &[(1, "- <!-- x\n")]);
    }

    #[test]
    fn a_comment_gives_no_title() {
        check("<!--\n# in\n-->\n", &[(1, "# Title\n\n<!--\n# in\n-->\n")]);
    }

    #[test]
    fn underlined_and_indented_headings_become_marked_ones() {
        check("T\n===\n\nA\n---\nx\n", &[(1, "# T\n"), (4, "# A\nx\n")]);
        check("A\nb \n---\nx\n  ### C\n", &[(1, "# A b\nx\n## C\n")]);
        check(" ## A\nx\n", &[(1, "# A\nx\n")]);
        check("x ##\n---\n\n#tag\n===\n", &[(1, "# x \\##\n"), (4, "# #tag\n")]);
        // In a list or a quotation they stay.
        check("- a\n\n  B\n  ---\n> C\n> ---\n", &[(1, "- a\n\n  B\n  ---\n> C\n> ---\n")]);
    }

    #[test]
    fn closing_marks_go() {
        check(
            "## A ##\n### B #\t\n### C#\n### \\#\n## ##\n",
            &[(1, "# A\n## B\n## C#\n## \\#\n"), (5, "#\n")],
        );
    }

    #[test]
    fn no_heading_is_deeper_than_a_bundle_shows() {
        check("## A\n##### B\n###### C\n####### D\n", &[(1, "# A\n#### B\n#### C\n####### D\n")]);
        check("# A\n### B\n###### C\n", &[(1, "# A\n### B\n#### C\n")]);
    }

    #[test]
    fn bare_pieces_and_what_they_are_joined_with() {
        let found = pieces("# A\n\n## B\n### C\n\n## D\nx\n", 1);
        let bare: Vec<_> = found.iter().map(Piece::is_bare).collect();
        assert_eq!(bare, [true, true, false]);
        let joined = found.into_iter().reduce(Piece::joined).unwrap();
        assert_eq!(joined.body(None), "# A\n\n## B\n### C\n\n## D\nx\n");
        assert_eq!((joined.first_line(), joined.last_line(), joined.is_bare()), (1, 7, false));
    }

    #[test]
    fn every_part_of_a_joined_note_is_known() {
        let keys = keys("# A\n\n## B\n\nx\n\n## C\n\n# D\n");
        for known in ["# A", "# B\n\nx", "# B\n\nx\n\n# C", "# C", "# D", "# A\n\n# B\n\nx\n\n# C\n\n# D"] {
            assert!(keys.iter().any(|key| key == known), "{known:?} in {keys:?}");
        }
    }
}
