//! Flat notes: core and reference.

use std::fmt;

use cantus_manifest::{Diagnostic, RelPath, Stamp};

use crate::fence::{fences, lines_at};
use crate::front_matter::{Block, Fields, misplaced, split, unclosed};
use crate::inline::find_title;
use crate::links::{Following, Linking};
use crate::unicode::{capitalize, collapse, is_blank, strip};

/// The sort key of a core note or a web that names none (§2.2).
pub(crate) const DEFAULT_PRIORITY: u32 = 20;

/// The parent of a note that is listed in the bundle.
pub(crate) const TOP: &str = "AGENTS.md";

const FLAT_KEYS: &[&str] = &[
    "type",
    "web",
    "parent",
    "description",
    "priority",
    "link_reference",
    "link_rendering",
    "metadata",
    "closure",
    "keywords",
];

/// How a note reaches the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// Its whole text stands in the bundle.
    Core,
    /// One entry stands in the bundle and names the file.
    Reference,
}

/// A text that was found on a line of its note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The text on one line, white space collapsed.
    pub text: String,
    /// The line on which it starts, counted from 1.
    pub line: u32,
}

/// A note's text after its front matter.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// The text, with LF alone between lines.
    pub text: &'a str,
    /// The number of its first line in the file.
    pub first_line: usize,
}

/// A core or reference note.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Where it lies below the root that its memory folder belongs to.
    pub path: RelPath,
    /// How it reaches the bundle.
    pub kind: NoteKind,
    /// Sort key among core notes, small first.
    pub priority: u32,
    /// Whether the bundle lists it: its parent is `AGENTS.md`, not another note.
    pub top_level: bool,
    /// The description that its front matter gives.
    pub description: Option<Described>,
    /// What its links do where it is read on demand.
    pub linking: Linking,
    /// The parent that it names, where that isn't `AGENTS.md`.
    pub(crate) parent: Option<Described>,
    content: Content,
}

/// A file's text, and where its body starts.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) body: usize,
    pub(crate) body_line: u32,
    pub(crate) form: Form,
    pub(crate) stamp: Option<Stamp>,
}

/// Two are equal whose texts are: form and stamp are the file's.
impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.body, self.body_line) == (&other.text, other.body, other.body_line)
    }
}

/// What decoding took away from a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether a byte order mark led it.
    pub(crate) mark: bool,
    /// The first line, counted from 1, that ends otherwise than the first does, or in a lone carriage return.
    pub(crate) mixed: Option<u32>,
}

impl Content {
    pub(crate) fn body(&self) -> Body<'_> {
        Body { text: &self.text[self.body..], first_line: self.body_line as usize }
    }
}

impl<'a> Body<'a> {
    /// Its first H1 outside fences, if that says something.
    #[must_use]
    pub fn title(self) -> Option<&'a str> {
        find_title(self.text, &fences(self.text)).map(|title| title.text).filter(|text| !text.is_empty())
    }
}

impl Note {
    /// The whole file as it was decoded: strict UTF-8, LF alone between lines, no byte order mark.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.content.text
    }

    /// The text after the front matter.
    #[must_use]
    pub fn body(&self) -> Body<'_> {
        self.content.body()
    }

    /// The file's text down to the body.
    pub(crate) fn head(&self) -> &str {
        &self.content.text[..self.content.body]
    }

    /// Whether it is in no bundle: a reference note below another one.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.kind == NoteKind::Reference && !self.top_level
    }

    /// The stamp of the file, where it was taken.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        self.content.stamp
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// What an entry says of it (§4.2): the given description, else the first paragraph, the title, or the file's name.
    #[must_use]
    pub fn summary(&self) -> Described {
        self.description.clone().unwrap_or_else(|| describe(self.body(), self.path.stem()))
    }

    /// Takes the fields of a flat note; `None` if it has no usable kind. Faults are in the diagnostics of `fields`.
    pub(crate) fn from_fields(path: &RelPath, mut fields: Fields<'_>, content: Content) -> Option<Self> {
        let (line, faults) = (fields.line("type").unwrap_or(1), fields.faults());
        let means_web = fields.is_near("type", "web");
        let kind = fields.choice_or_legacy("type", &["core", "reference"], &["short", "long"]);
        if kind.is_none() && fields.faults() == faults && !fields.misspells("type", FLAT_KEYS) {
            fields
                .fault(line, "the front matter says neither `type: core`, `type: reference` nor `web: true`");
        }
        if kind.is_none() && means_web {
            fields.advise(format!(
                "a web says `web: true` instead of a type, and has its strands in the folder `{}/` beside it",
                path.stem()
            ));
        }
        fields.ignore("web");
        let parent = fields.text("parent");
        let description = fields.text("description").map(|(text, line)| Described { text, line });
        let priority = fields.natural("priority").unwrap_or(DEFAULT_PRIORITY);
        let linking = linking(&mut fields);
        for legacy in ["metadata", "keywords"] {
            fields.ignore(legacy);
        }
        fields.finish(FLAT_KEYS);
        let kind = match kind? {
            "core" | "short" => NoteKind::Core,
            _ => NoteKind::Reference,
        };
        let parent =
            parent.map(|(text, line)| Described { text, line }).filter(|parent| !is_top(&parent.text));
        let top_level = parent.is_none();
        Some(Self { path: path.clone(), kind, priority, top_level, description, linking, parent, content })
    }
}

/// The link settings of a flat note; `closure` is an older spelling, behind `link_reference`.
fn linking(fields: &mut Fields<'_>) -> Linking {
    let newer = fields.has("link_reference");
    let linking = Linking::take(fields);
    match fields.loose_text("closure").as_deref() {
        Some("mentions") if !newer => Linking { following: Some(Following::Implicit), ..linking },
        Some("none") if !newer => Linking { following: Some(Following::None), ..linking },
        _ => linking,
    }
}

/// Whether a parent's spelling means the root (§2.2): `./AGENTS.md` does, `memory/b.md` doesn't.
fn is_top(parent: &str) -> bool {
    let parts: Vec<_> = parent.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).collect();
    parts.is_empty() || parts == [TOP]
}

/// The text of a file: strict UTF-8, one leading byte order mark dropped, every CRLF and CR an LF.
///
/// An error names the file as `path` and the byte at which UTF-8 breaks, counted from 0.
pub fn decode(path: &impl fmt::Display, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    decode_form(path, bytes).map(|(text, _)| text)
}

/// [`decode`], with what it took away.
pub(crate) fn decode_form(path: &impl fmt::Display, bytes: Vec<u8>) -> Result<(String, Form), Diagnostic> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..offset];
        let lines = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let form = if is_utf16(error.as_bytes()) { "not UTF-8 but UTF-16" } else { "not UTF-8" };
        Diagnostic::error("note.utf8", format!("{form}: byte {offset} starts no character"))
            .at(path)
            .line(u32::try_from(lines).unwrap_or(u32::MAX))
            .help("save the file as UTF-8")
    })?;
    let mut form = Form { mark: text.starts_with('\u{feff}'), mixed: None };
    if form.mark {
        text.remove(0);
    }
    if memchr::memchr(b'\r', text.as_bytes()).is_some() {
        form.mixed = mixed(text.as_bytes());
        text = line_feeds(&text);
    }
    Ok((text, form))
}

/// Whether a file starts with the mark of UTF-16, in which older shells of Windows write what is redirected.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// `text` with a line feed for every CRLF and every lone carriage return.
fn line_feeds(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut start = 0;
    for at in memchr::memchr_iter(b'\r', text.as_bytes()) {
        normal.push_str(&text[start..at]);
        start = at + 1;
        if text.as_bytes().get(start) != Some(&b'\n') {
            normal.push('\n');
        }
    }
    normal.push_str(&text[start..]);
    normal
}

/// The first line, counted from 1, that ends otherwise than the first does, or in a lone carriage return.
fn mixed(text: &[u8]) -> Option<u32> {
    let ends = memchr::memchr2_iter(b'\r', b'\n', text);
    // The line feed of a CRLF is no end of its own.
    let ends = ends.filter(|at| !(text[*at] == b'\n' && *at > 0 && text[at - 1] == b'\r'));
    let mut first = None;
    for (line, at) in (1..).zip(ends) {
        let crlf = text[at] == b'\r';
        let lone = crlf && text.get(at + 1) != Some(&b'\n');
        if lone || *first.get_or_insert(crlf) != crlf {
            return Some(line);
        }
    }
    None
}

/// Splits a decoded note and parses its front matter's fields, or says what is missing.
pub(crate) fn open<'a>(
    text: &str,
    path: &'a RelPath,
    diagnostics: &'a mut Vec<Diagnostic>,
) -> Option<(Fields<'a>, usize, u32)> {
    let split = split(text);
    let problem = match split.block {
        Block::Yaml(yaml) => return Fields::parse(yaml, path, diagnostics).map(|fields| (fields, split.body, split.body_line)),
        Block::Unclosed => unclosed(text),
        Block::None => misplaced(text).unwrap_or_else(|| {
            Diagnostic::error("note.front_matter", "a note must start with front matter").help(
                "put these lines at its top: `---`, `type: core` (whole text in every context) or `type: reference` \
                 (named there, read on demand), `---`; a file that is no note belongs elsewhere or in `assets/`",
            )
        }),
    };
    let line = problem.line.unwrap_or(1);
    diagnostics.push(problem.at(path).line(line));
    None
}

/// What a body says of itself: its first paragraph, its title, else the name.
pub(crate) fn describe(body: Body<'_>, stem: &str) -> Described {
    let mut title: Option<Described> = None;
    let mut paragraph: Option<(String, usize)> = None;
    for (index, (_, line)) in lines_at(body.text).enumerate() {
        let line = strip(line);
        if let Some(text) = line.strip_prefix("# ").filter(|_| title.is_none()) {
            title = Some(Described { text: collapse(text), line: number(body, index) });
        } else if is_blank(line) {
            if paragraph.is_some() {
                break;
            }
        } else if !line.starts_with('#') {
            let (text, _) = paragraph.get_or_insert_with(|| (String::new(), index));
            text.push_str(line);
            text.push(' ');
        }
    }
    match (paragraph, title) {
        (Some((text, index)), _) => Described { text: collapse(&text), line: number(body, index) },
        (None, Some(title)) if !title.text.is_empty() => title,
        _ => Described { text: capitalize(strip(&stem.replace(['_', '-'], " "))), line: 0 },
    }
}

fn number(body: Body<'_>, index: usize) -> u32 {
    u32::try_from(body.first_line + index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_summary(body: &str, expected: &str, line: u32) {
        let found = describe(Body { text: body, first_line: 1 }, "my_note-two");
        assert_eq!((found.text.as_str(), found.line), (expected, line));
    }

    #[test]
    fn what_an_entry_says() {
        check_summary("# A\n\n## B\nText\n", "Text", 4);
        check_summary("#tag x\nmore\n", "more", 2);
        check_summary("# One\n# Two\n", "One", 1);
        check_summary("", "My note two", 0);
        check_summary("# T\n\nfirst\n  line\n\nsecond\n", "first line", 3);
        check_summary("- a\n- b\n", "- a - b", 1);
        check_summary("#  \n", "My note two", 0);
    }

    #[test]
    fn spellings_of_the_top() {
        for parent in ["AGENTS.md", "./AGENTS.md", "AGENTS.md/", ".\\AGENTS.md"] {
            assert!(is_top(parent), "{parent}");
        }
        for parent in ["agents.md", "b.md", "memory/b.md", "../AGENTS.md"] {
            assert!(!is_top(parent), "{parent}");
        }
    }

    #[track_caller]
    fn check_form(bytes: &[u8], mark: bool, mixed: Option<u32>) {
        let (_, form) = decode_form(&"a", bytes.to_vec()).unwrap();
        assert_eq!(form, Form { mark, mixed });
    }

    #[test]
    fn what_decoding_took_away() {
        check_form(b"a\nb\n", false, None);
        check_form(b"a\r\nb\r\n", false, None);
        check_form(b"\xef\xbb\xbfa\r\nb", true, None);
        check_form(b"a\r\nb\r\nc\n", false, Some(3));
        check_form(b"a\nb\r\n", false, Some(2));
        check_form(b"a\rb\rc", false, Some(1));
        check_form(b"a\r\n\r\r\n", false, Some(2));
    }

    #[test]
    fn decoding_drops_one_mark_and_every_carriage_return() {
        let path = RelPath::new("memory/a.md").unwrap();
        assert_eq!(decode(&path, b"\xef\xbb\xbfa\r\nb\rc\n".to_vec()).unwrap(), "a\nb\nc\n");
        let error = decode(&path, b"ab\ncaf\xe9\n".to_vec()).unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (Some(2), "not UTF-8: byte 6 starts no character"));
        let error = decode(&"a.md", b"\xff\xfe#\0".to_vec()).unwrap_err();
        assert_eq!(error.message, "not UTF-8 but UTF-16: byte 0 starts no character");
    }
}
