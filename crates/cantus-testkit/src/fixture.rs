//! Many files in one string.

use std::fs;
use std::path::Path;

/// What starts a file's line: `//- path/name.md`, with flags after the path.
const MARKER: &str = "//- ";

/// Files written down in one string.
///
/// A line `//- path/name.md` starts a file, the lines up to the next such line are its content, each ended by a
/// line feed. Flags may follow the path: `crlf` (every line ends in CRLF), `bom` (a UTF-8 byte order mark comes
/// first), `no-final-newline` (the last line has no end).
///
/// The whole may be indented to fit the test around it: what stands before the first `//-` is taken away from
/// every line. Before that line only blank lines are allowed; a last line of blanks alone (the one that ends an
/// indented literal) isn't content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// The files, in the order of the string.
    pub files: Vec<FixtureFile>,
}

/// One file of a [`Fixture`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixtureFile {
    /// Its path below the fixture's folder, with `/`.
    pub path: String,
    /// Its content, flags applied.
    pub bytes: Vec<u8>,
}

impl Fixture {
    /// Reads a fixture string; panics if it breaks the rules of the type.
    #[must_use]
    #[track_caller]
    pub fn parse(text: &str) -> Self {
        let Some(indent) = text.lines().find_map(|line| line.find(MARKER).map(|at| &line[..at])) else {
            assert!(text.trim().is_empty(), "a fixture starts with a line `{MARKER}path`");
            return Self { files: Vec::new() };
        };
        assert!(indent.trim().is_empty(), "only blanks may stand before the first `{MARKER}`: `{indent}`");
        let mut files: Vec<Draft<'_>> = Vec::new();
        for line in content_lines(text) {
            let line = dedent(line, indent);
            if let Some(header) = line.strip_prefix(MARKER) {
                let draft = Draft::new(header);
                assert!(files.iter().all(|file| file.path != draft.path), "`{}` occurs twice", draft.path);
                files.push(draft);
            } else if let Some(file) = files.last_mut() {
                file.lines.push(line);
            } else {
                assert!(line.trim().is_empty(), "`{line}` stands before the first `{MARKER}path`");
            }
        }
        Self { files: files.into_iter().map(Draft::finish).collect() }
    }

    /// Writes the files below `folder`, their folders as needed; files that exist are replaced.
    #[track_caller]
    pub fn write_to(&self, folder: &Path) {
        for file in &self.files {
            write(&folder.join(&file.path), &file.bytes);
        }
    }
}

/// Writes `bytes` to `path`, its folders as needed.
#[track_caller]
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    if let Some(folder) = path.parent()
        && let Err(error) = fs::create_dir_all(folder)
    {
        panic!("can't make `{}`: {error}", folder.display());
    }
    if let Err(error) = fs::write(path, bytes) {
        panic!("can't write `{}`: {error}", path.display());
    }
}

/// Panics unless `path` is relative, uses `/`, and stays below its folder.
#[track_caller]
pub(crate) fn assert_inside(path: &str) {
    let leaves = path.split('/').any(|part| matches!(part, "" | "." | ".."));
    assert!(!leaves && !path.contains('\\'), "`{path}` must be a path below the folder, with `/`");
}

/// The lines of `text` without their line feeds; without the last one if it is blanks and has no line feed.
fn content_lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim_end_matches([' ', '\t']);
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

/// `line` without `indent`; a blank line may have less.
#[track_caller]
fn dedent<'a>(line: &'a str, indent: &str) -> &'a str {
    match line.strip_prefix(indent) {
        Some(rest) => rest,
        None if line.trim().is_empty() => "",
        None => panic!("`{line}` is indented less than the first `{MARKER}`"),
    }
}

/// A file whose lines are being collected.
struct Draft<'a> {
    path: &'a str,
    flags: Vec<&'a str>,
    lines: Vec<&'a str>,
}

impl<'a> Draft<'a> {
    #[track_caller]
    fn new(header: &'a str) -> Self {
        let mut words = header.split_whitespace();
        let path = words.next().unwrap_or_default();
        assert_inside(path);
        let flags: Vec<_> = words.collect();
        for flag in &flags {
            let known = matches!(*flag, "crlf" | "bom" | "no-final-newline");
            assert!(known, "`{flag}` is no flag of a fixture file: `crlf`, `bom`, `no-final-newline`");
        }
        Self { path, flags, lines: Vec::new() }
    }

    fn finish(self) -> FixtureFile {
        let end = if self.flags.contains(&"crlf") { "\r\n" } else { "\n" };
        let mut content = self.lines.join(end);
        if !self.lines.is_empty() && !self.flags.contains(&"no-final-newline") {
            content.push_str(end);
        }
        if self.flags.contains(&"bom") {
            content.insert(0, '\u{feff}');
        }
        FixtureFile { path: self.path.to_owned(), bytes: content.into_bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fixture: &str, expected: &[(&str, &str)]) {
        let parsed = Fixture::parse(fixture);
        let parsed: Vec<_> = parsed
            .files
            .iter()
            .map(|file| (file.path.as_str(), std::str::from_utf8(&file.bytes).unwrap()))
            .collect();
        assert_eq!(parsed, expected);
    }

    #[test]
    fn files_follow_each_other() {
        check(
            "//- a.md\none\n\ntwo\n//- b/c.md\nthree\n",
            &[("a.md", "one\n\ntwo\n"), ("b/c.md", "three\n")],
        );
    }

    #[test]
    fn an_empty_fixture_has_no_files() {
        check("", &[]);
        check("\n  ", &[]);
    }

    #[test]
    fn a_file_without_lines_is_empty() {
        check("//- a\n//- b", &[("a", ""), ("b", "")]);
        check("//- a no-final-newline bom", &[("a", "\u{feff}")]);
    }

    #[test]
    fn the_last_line_gets_its_end() {
        check("//- a\none", &[("a", "one\n")]);
    }

    #[test]
    fn blank_lines_at_the_end_are_content() {
        check("//- a\none\n\n", &[("a", "one\n\n")]);
    }

    #[test]
    fn flags_change_the_bytes() {
        check("//- a crlf\none\ntwo", &[("a", "one\r\ntwo\r\n")]);
        check("//- a bom\none", &[("a", "\u{feff}one\n")]);
        check("//- a no-final-newline\none\ntwo", &[("a", "one\ntwo")]);
        check("//- a crlf bom no-final-newline\none\ntwo", &[("a", "\u{feff}one\r\ntwo")]);
    }

    #[test]
    fn the_indentation_of_the_first_marker_is_taken_away() {
        let fixture = "
            //- a.md
            one
              two

            //- b.md
            three
            ";
        check(fixture, &[("a.md", "one\n  two\n\n"), ("b.md", "three\n")]);
    }

    #[test]
    fn a_marker_that_is_indented_further_is_content() {
        check("//- a\n  //- b\n", &[("a", "  //- b\n")]);
    }

    #[test]
    #[should_panic(expected = "`x` stands before the first")]
    fn text_before_the_first_file_is_refused() {
        let _ = Fixture::parse("x\n//- a\n");
    }

    #[test]
    #[should_panic(expected = "is indented less")]
    fn less_indentation_than_the_first_marker_is_refused() {
        let _ = Fixture::parse("  //- a\nx\n");
    }

    #[test]
    #[should_panic(expected = "`lf` is no flag")]
    fn unknown_flags_are_refused() {
        let _ = Fixture::parse("//- a lf\n");
    }

    #[test]
    #[should_panic(expected = "`a` occurs twice")]
    fn a_path_occurs_once() {
        let _ = Fixture::parse("//- a\n//- a\n");
    }

    #[test]
    #[should_panic(expected = "`../a` must be a path below the folder")]
    fn paths_that_leave_the_folder_are_refused() {
        let _ = Fixture::parse("//- ../a\n");
    }
}
