//! The line that a finding speaks of, with a marker below.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use cantus_fs::Root;
use cantus_manifest::{Diagnostic, RelPath, Severity};

use crate::visible::is_unsafe;

/// The most bytes that a file may have for a line of it to be shown.
const MOST_BYTES: u64 = 4 << 20;
/// From how many bytes on no more files are held.
const MOST_HELD: usize = 4 << 20;
/// How many columns an excerpt has at most; a longer line is cut around the marker.
const WIDTH: usize = 100;

/// The files of a root that findings speak of, each read once more when the first of them does.
pub(crate) struct Excerpts<'a> {
    root: &'a Root,
    read: BTreeMap<RelPath, Option<Vec<u8>>>,
}

impl<'a> Excerpts<'a> {
    pub(crate) fn new(root: &'a Root) -> Self {
        Self { root, read: BTreeMap::new() }
    }

    /// The bytes of a file; `None` if it can't be read. Those of files before it may be forgotten.
    fn bytes(&mut self, path: RelPath) -> Option<&[u8]> {
        let held: usize = self.read.values().flatten().map(Vec::len).sum();
        if held > MOST_HELD && !self.read.contains_key(&path) {
            self.read.clear();
        }
        let root = self.root;
        let read = |path: &RelPath| root.read(path, MOST_BYTES).ok();
        self.read.entry(path).or_insert_with_key(read).as_deref()
    }

    /// The line of a file that `finding` names, styled, without a line end; `None` if there is none: where the file can't be
    /// read, or the line is gone, the finding does without.
    pub(crate) fn of(&mut self, finding: &Diagnostic) -> Option<String> {
        let path = RelPath::new(finding.path.as_deref()?).ok()?;
        excerpt(self.bytes(path)?, finding)
    }
}

fn excerpt(bytes: &[u8], finding: &Diagnostic) -> Option<String> {
    let number = usize::try_from(finding.line?).ok()?;
    let bytes = bytes.split(|byte| *byte == b'\n').nth(number.checked_sub(1)?)?;
    let line = shown(bytes);
    Some(render(&line, number, marked(&line, &finding.message)?, finding.severity))
}

/// The text of a line. The renderer knows what to do with the control characters of ASCII, not with those behind it.
fn shown(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches('\u{feff}').trim_end();
    line.replace(|c: char| !c.is_ascii() && is_unsafe(c), "\u{fffd}")
}

fn render(line: &str, number: usize, marked: Range<usize>, severity: Severity) -> String {
    let level = match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    // It also replaces control characters and those that turn the direction of writing.
    let snippet = Snippet::source(line).line_start(number).annotation(AnnotationKind::Primary.span(marked));
    let text = Renderer::styled().term_width(WIDTH).render(&[Group::with_level(level).element(snippet)]);
    // The first line is an empty one in front of the source.
    text.split_once('\n').map_or(text.clone(), |(_, rest)| rest.to_owned())
}

/// The part of a line that a message speaks of: the last of its words in backticks that stands there as a word, with what of it
/// another one covers; else all of the line, if that says anything.
fn marked(line: &str, message: &str) -> Option<Range<usize>> {
    let quoted = message.split('`').skip(1).step_by(2).filter(|word| !word.is_empty());
    let found = quoted.filter_map(|word| find_word(line, word));
    let covers = |a: &Range<usize>, b: &Range<usize>| a.start <= b.start && b.end <= a.end;
    let found = found.reduce(|before, word| if covers(&before, &word) { before } else { word });
    let all = line.len() - line.trim_start().len()..line.len();
    found.or_else(|| line.contains(char::is_alphanumeric).then_some(all))
}

/// Where `word` stands in `line` with nothing of another word beside it.
fn find_word(line: &str, word: &str) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let touches =
        |inner: Option<char>, outer: Option<char>| inner.is_some_and(is_part) && outer.is_some_and(is_part);
    let mut places = line.match_indices(word).map(|(start, word)| start..start + word.len());
    places.find(|place| {
        let (before, after) = (line[..place.start].chars().next_back(), line[place.end..].chars().next());
        !touches(word.chars().next(), before) && !touches(word.chars().next_back(), after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The excerpt of a line without its styles.
    #[track_caller]
    fn check(line: &str, message: &str, expected: &str) {
        let styled = render(line, 7, marked(line, message).unwrap(), Severity::Error);
        assert_eq!(anstream::adapter::strip_str(&styled).to_string(), expected);
    }

    #[test]
    fn the_word_that_the_message_quotes_is_marked() {
        check("type: cores", "`type` must be `core`, not `cores`", "7 | type: cores\n  |       ^^^^^");
        check("typed: a type: b", "unknown key `type`", "7 | typed: a type: b\n  |          ^^^^");
        check("see [[x y]]", "no note `[[x y]]`", "7 | see [[x y]]\n  |     ^^^^^^^");
    }

    #[test]
    fn of_a_path_and_its_parts_the_path_is_marked() {
        check("x: a/../b", "`a/../b` must not hold `..`", "7 | x: a/../b\n  |    ^^^^^^");
        check("x: a, y: b", "`a`, `b`", "7 | x: a, y: b\n  |          ^");
    }

    #[test]
    fn a_line_that_says_nothing_is_not_shown() {
        assert_eq!(marked("", "empty"), None);
        assert_eq!(marked("---", "`type` is missing"), None);
        assert_eq!(marked("---", "no second `---`"), Some(0..3));
    }

    #[test]
    fn without_such_a_word_all_of_the_line_is() {
        check("  a b", "`c` is missing", "7 |   a b\n  |   ^^^");
        check("a b", "``", "7 | a b\n  | ^^^");
    }

    #[test]
    fn wide_characters_move_the_marker() {
        check("漢字 x", "`x`", "7 | 漢字 x\n  |      ^");
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        let line = shown("\u{feff}a\u{1b}[31m\u{9b}\u{202e}\rb\u{7f}\t \r".as_bytes());
        let styled = render(&line, 1, 0..1, Severity::Note);
        let plain = anstream::adapter::strip_str(&styled).to_string();
        assert!(plain.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')), "{plain:?}");
        assert!(plain.starts_with("1 | a␛"), "{plain:?}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_marker() {
        let line = format!("{}here{}", "before ".repeat(200), " after".repeat(200));
        let styled = render(&line, 1, marked(&line, "`x`").unwrap().start..4, Severity::Error);
        assert!(styled.len() < 400, "{styled}");
        let line = format!("{} here {}", "before ".repeat(200), " after".repeat(200));
        let plain = anstream::adapter::strip_str(&render(
            &line,
            1,
            marked(&line, "`here`").unwrap(),
            Severity::Error,
        ))
        .to_string();
        let lines: Vec<_> = plain.lines().collect();
        assert!(
            lines[0].contains(" here ") && lines.iter().all(|line| line.chars().count() <= WIDTH),
            "{plain}"
        );
        assert_eq!(lines[0].find("here"), lines[1].find("^^^^"), "{plain}");
    }
}
