//! Links between notes: `[[target]]` and `![[target]]`, and what front matter says of them (§6.1).

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use crate::fence::{fences, is_fenced, lines_at};
use crate::front_matter::Fields;
use crate::note::Body;
use crate::unicode::strip;

/// Which notes are read along with one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Following {
    /// Those that a link embeds.
    #[default]
    Explicit,
    /// Those, and every strand of the web whose keyword or alias is mentioned.
    Implicit,
    /// None: links are plain text.
    None,
}

/// What an ordinary link does where a note is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rendering {
    /// Its target is named at the end.
    #[default]
    Reference,
    /// Its target is read along, as with `![[target]]`.
    Inline,
}

/// What a note's front matter says of its links; nothing of this reaches a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linking {
    /// `link_reference`.
    pub following: Option<Following>,
    /// `link_rendering`.
    pub rendering: Option<Rendering>,
}

impl Linking {
    pub(crate) fn take(fields: &mut Fields<'_>) -> Self {
        let following = match fields.choice("link_reference", &["explicit", "implicit", "none"]) {
            Some("implicit") => Some(Following::Implicit),
            Some("none") => Some(Following::None),
            Some(_) => Some(Following::Explicit),
            None => None,
        };
        let rendering = match fields.choice("link_rendering", &["reference", "inline"]) {
            Some("inline") => Some(Rendering::Inline),
            Some(_) => Some(Rendering::Reference),
            None => None,
        };
        Self { following, rendering }
    }

    /// These settings, and those of `other` where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { following: self.following.or(other.following), rendering: self.rendering.or(other.rendering) }
    }
}

/// One link of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What stands between the brackets, without white space at its ends; never empty.
    pub target: String,
    /// Whether it embeds its target: `![[target]]`.
    pub inline: bool,
    /// The line in the file, counted from 1.
    pub line: u32,
}

/// The links of a body outside code, in order; of equal ones the first.
#[must_use]
pub fn links(body: Body<'_>) -> Vec<Link> {
    let text = body.text;
    if memmem::find(text.as_bytes(), b"[[").is_none() {
        return Vec::new();
    }
    let fences = fences(text);
    let mut links = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, (_, line)) in lines_at(text).enumerate().filter(|(_, (at, _))| !is_fenced(&fences, *at)) {
        for (target, inline) in links_of_line(line) {
            if seen.insert((target, inline)) {
                let line = u32::try_from(body.first_line + index).unwrap_or(u32::MAX);
                links.push(Link { target: target.to_owned(), inline, line });
            }
        }
    }
    links
}

fn links_of_line(line: &str) -> Vec<(&str, bool)> {
    let mut links = Vec::new();
    let code = code_spans(line);
    let mut from = 0;
    while let Some(found) = memmem::find(&line.as_bytes()[from..], b"[[") {
        let start = from + found;
        let Some(length) = memchr::memchr(b']', &line.as_bytes()[start + 2..]) else { break };
        let end = start + 2 + length;
        if !line[end..].starts_with("]]") || length == 0 {
            // No link starts before this bracket; between two pairs of opening ones another may.
            from = if length == 0 { start + 1 } else { end };
            continue;
        }
        let span = code.get(code.partition_point(|span| span.end <= start));
        if let Some(span) = span.filter(|span| span.start < end + 2) {
            from = (start + 1).max(span.end.min(end));
            continue;
        }
        from = end + 2;
        let target = strip(&line[start + 2..end]);
        if !target.is_empty() {
            links.push((target, line[..start].ends_with('!')));
        }
    }
    links
}

/// The code of one line: from a run of backticks to the next run of the same length.
pub(crate) fn code_spans(line: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'`', &line.as_bytes()[at..]) {
        let start = at + found;
        let length = line.as_bytes()[start..].iter().take_while(|byte| **byte == b'`').count();
        at = start + length;
        runs.push(start..at);
    }
    let mut spans = Vec::new();
    let mut runs = runs.as_slice();
    while let [open, rest @ ..] = runs {
        runs = rest;
        if let Some(close) = rest.iter().position(|run| run.len() == open.len()) {
            spans.push(open.start..rest[close].end);
            runs = &rest[close + 1..];
        }
    }
    spans
}

/// The text with a NUL for each stretch of code: what is left is prose.
pub(crate) fn prose(text: &str) -> String {
    let fences = fences(text);
    let mut prose = String::with_capacity(text.len());
    for (at, line) in lines_at(text) {
        if is_fenced(&fences, at) {
            prose.push_str("\0\n");
            continue;
        }
        let mut from = 0;
        for span in code_spans(line) {
            prose.push_str(&line[from..span.start]);
            prose.push('\0');
            from = span.end;
        }
        prose.push_str(&line[from..]);
        prose.push('\n');
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = links(Body { text, first_line: 5 })
            .into_iter()
            .map(|link| format!("{}{}@{}", if link.inline { "!" } else { "" }, link.target, link.line))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn brackets() {
        check("a [[b]] c ![[ d ]]\n[[b]] ![[b]]", &["b@5", "!d@5", "!b@6"]);
        check("[[[a]]]", &["[a@5"]);
        check("[[a|b]]", &["a|b@5"]);
        check("!![[a]]", &["!a@5"]);
        check("[[]] [[ ]] [[a] ]] [[a\nb]]", &[]);
        check("[[a] [[b]]", &["b@5"]);
        check(
            "# [[head]]\n> [[quote]]\n\\[[slash]]\n    [[indented]]\n<!-- [[comment]] -->",
            &["head@5", "quote@6", "slash@7", "indented@8", "comment@9"],
        );
    }

    #[test]
    fn code_has_no_links() {
        check("`[[a]]` [[b]]", &["b@5"]);
        check("`` ` [[a]] `` [[b]]", &["b@5"]);
        check("`[[a]]\n[[b]]`", &["a@5", "b@6"]);
        check("```\n[[a]]\n```\n[[b]]", &["b@8"]);
        check("~~~\n[[a]]\n", &[]);
        check("[[a `x` b]] [[c]]", &["c@5"]);
    }

    #[test]
    fn prose_has_no_code() {
        assert_eq!(prose("a `b` c\n```\nd\n```\ne"), "a \0 c\n\0\n\0\n\0\ne\n");
    }
}
