//! Ordinary Markdown links to files and headings: `[text](path)`, `[text](#heading)`.
//!
//! Whether a path leads anywhere is for whoever can look at the disk to say.

use std::collections::BTreeSet;

use memchr::memmem;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::fence::shallow;
use crate::note::Body;

/// A link of a text to a file, a folder or a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLink {
    /// The destination as it is written.
    pub written: String,
    /// The path in it, with `/`, percent signs decoded; empty where it has none.
    pub path: String,
    /// The heading that it names behind `#`, if it names one.
    pub heading: Option<String>,
    /// The line in the file, counted from 1.
    pub line: u32,
}

/// The links of a body, outside code, to relative paths and to headings; each destination once. What has a scheme, starts at a
/// root, or holds a placeholder such as `{name}` isn't among them.
#[must_use]
pub fn path_links(body: Body<'_>) -> Vec<PathLink> {
    if memmem::find(body.text.as_bytes(), b"](").is_none() {
        return Vec::new();
    }
    let text = shallow(body.text);
    let mut seen = BTreeSet::new();
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(&text, Options::empty()).into_offset_iter() {
        let Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) =
            event
        else {
            continue;
        };
        let is_automatic = matches!(link_type, LinkType::Autolink | LinkType::Email);
        if is_automatic || !is_relative(&dest_url) || !seen.insert(dest_url.to_string()) {
            continue;
        }
        let before = memchr::memchr_iter(b'\n', &text.as_bytes()[..range.start]).count();
        let line = u32::try_from(body.first_line + before).unwrap_or(u32::MAX);
        links.push(link(&dest_url, line));
    }
    links
}

/// The names by which the headings of a text can be linked to, as GitHub makes them.
#[must_use]
pub fn heading_names(text: &str) -> BTreeSet<String> {
    let text = shallow(text);
    let mut names = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(&text, Options::empty()) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => names.extend(heading.take().map(|text| name_of(&text))),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    names
}

/// Whether `name`, or what is left of it without a number for equal ones, is among `names`.
#[must_use]
pub fn has_heading(names: &BTreeSet<String>, name: &str) -> bool {
    let name = name.to_lowercase();
    let plain = || name.rsplit_once('-').filter(|(_, end)| end.bytes().all(|byte| byte.is_ascii_digit()));
    names.contains(&name) || plain().is_some_and(|(start, _)| names.contains(start))
}

fn is_relative(written: &str) -> bool {
    let scheme = written.split(['/', '#', '?']).next().unwrap_or_default().contains(':');
    let is_placeholder =
        written.contains(['{', '}', '<', '>', '$', '*', '…', '\\']) || written.contains("...");
    !written.is_empty() && !scheme && !is_placeholder && !written.starts_with(['/', '~'])
}

fn link(written: &str, line: u32) -> PathLink {
    let (rest, heading) = match written.split_once('#') {
        Some((rest, heading)) => (rest, Some(decoded(heading))),
        None => (written, None),
    };
    let path = decoded(rest.split('?').next().unwrap_or(rest));
    PathLink {
        written: written.to_owned(),
        path,
        heading: heading.filter(|heading| !heading.is_empty()),
        line,
    }
}

/// A text with `%41` as `A`; what isn't such a sign, or would not be UTF-8, stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn name_of(heading: &str) -> String {
    let lower = heading.trim().to_lowercase();
    let kept = lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let links = path_links(Body { text, first_line: 3 });
        let shown = links.iter().map(|link| {
            let heading = link.heading.as_deref().map_or_else(String::new, |heading| format!("#{heading}"));
            format!("{}{heading}@{}", link.path, link.line)
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn links_with_paths_and_headings() {
        check("[a](x.md) and\n![b](../y/z.png)", &["x.md@3", "../y/z.png@4"]);
        check("[a](x.md \"title\") [b](<x y.md>) [c](x%20y.md#Two)", &["x.md@3", "x y.md@3", "x y.md#Two@3"]);
        check("[a](#one) [b](x.md#) [c](x.md?plain=1#L3)", &["#one@3", "x.md@3", "x.md#L3@3"]);
        check("[a](x.md) [b](x.md)", &["x.md@3"]);
    }

    #[test]
    fn what_leads_elsewhere_or_is_code() {
        check("[a](https://x.y/z) [b](mailto:a@b.c) [c](/z) [d](//x/z) [e](~/z) [f]() <a@b.c>", &[]);
        check("`[a](x.md)`\n\n```\n[b](y.md)\n```\n\n    [c](z.md)\n", &[]);
        check("[a]({name}.md) [b](<name>.md) [c](docs/*.md) [d](...)", &[]);
    }

    #[test]
    fn names_of_headings() {
        let names = heading_names("# One Two!\n\nSet\n===\n\n## `a_b` and [c](d)\n\n```\n# no\n```\n");
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["a_b-and-c", "one-two", "set"]);
        let names = heading_names("# A\n# A\n");
        assert!(has_heading(&names, "a") && has_heading(&names, "A-1") && !has_heading(&names, "b"));
    }

    #[test]
    fn percent_signs() {
        for (text, expected) in
            [("a%20b", "a b"), ("100%", "100%"), ("%ff", "%ff"), ("%c3%a9", "é"), ("%+1", "%+1")]
        {
            assert_eq!(decoded(text), expected);
        }
    }
}
