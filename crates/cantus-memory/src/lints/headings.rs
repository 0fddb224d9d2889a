//! Headings of a note that look like those of the frame or the contract.

use std::collections::BTreeSet;

use cantus_manifest::Diagnostic;

use crate::fence::{fences, is_fenced, lines_at};
use crate::inline::heading;
use crate::unicode::norm;

/// The titles that belong to the frame and the package, compared without regard to case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadingTitles(BTreeSet<String>);

impl HeadingTitles {
    /// The titles of texts that start with a heading.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let title = |text: &str| heading(text.lines().next()?).map(|(_, title)| norm(title));
        Self(texts.into_iter().filter_map(title).filter(|title| !title.is_empty()).collect())
    }

    fn holds(&self, title: &str) -> bool {
        self.0.contains(&norm(title))
    }
}

/// The findings on headings below the first line of `section`, a note as a bundle holds it, that are also among `titles`:
/// of column 0, indented, or underlined.
#[must_use]
pub fn headings(section: &str, titles: &HeadingTitles) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut spans = None;
    let mut above = "";
    for (index, (at, line)) in lines_at(section).enumerate() {
        let title = match line.as_bytes().first() {
            _ if index == 0 => None,
            Some(b'#' | b' ') => atx(line),
            Some(b'=' | b'-') if is_underline(line) => Some((above, index)),
            _ => None,
        };
        let title = title.map(|title| if title.1 == 0 { (title.0, index + 1) } else { title });
        above = line;
        let Some((title, number)) = title.filter(|(title, _)| titles.holds(title)) else { continue };
        if is_fenced(spans.get_or_insert_with(|| fences(section)), at) {
            continue;
        }
        let message = format!("the heading `{title}` is also one of the frame or the package");
        let finding =
            Diagnostic::warning("note.heading", message).line(u32::try_from(number).unwrap_or(u32::MAX));
        findings.push(finding.help("give it another title: a reader can't tell the two apart"));
    }
    findings
}

/// The title of a line that is a heading by its `#`, whatever blanks precede it; the number is not known yet.
fn atx(line: &str) -> Option<(&str, usize)> {
    let trimmed = line.trim_start_matches(' ');
    let (_, title) = heading(trimmed).filter(|_| line.len() - trimmed.len() < 4)?;
    Some((title.trim_end_matches('#').trim_end(), 0))
}

/// Whether a line makes the one above it a heading.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(section: &str, expected: &[u32]) {
        let titles =
            HeadingTitles::new(["## Core Memory\n\ntext\n", "#### Final Declaration\n", "no heading\n"]);
        let found: Vec<_> =
            headings(section, &titles).into_iter().map(|finding| finding.line.unwrap()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_form_of_a_heading() {
        check("### n\n\n#### Core Memory\n", &[3]);
        check("### n\n\n#### core  memory ##\n\n   ## Final Declaration\n", &[3, 5]);
        check("### n\n\nCore Memory\n---\n\nfinal declaration\n===\n", &[3, 6]);
    }

    #[test]
    fn what_is_none() {
        check("### Core Memory (core)\n", &[]);
        check("### n\n\nCore Memory\n\n---\n", &[]);
        check("### n\n\n```\n#### Core Memory\n```\n    ## Core Memory\n#### Core\n##Core Memory\n", &[]);
    }
}
