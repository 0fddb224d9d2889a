//! Instruction files that others wrote, split into notes without losing a line.

mod at_paths;
mod maker;
mod names;
mod pieces;
mod remarks;
mod rule;
mod text;

use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity};

use crate::corpus::Corpus;
use crate::lints::{characters, conflicts};
use crate::note::{NoteKind, decode, is_utf16};
use maker::Maker;
use pieces::headings;
use rule::Rule;

/// One file that is to become notes.
#[derive(Clone, Debug)]
pub struct ImportFile {
    /// Where it lies below the root.
    pub path: RelPath,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What an import has to fit in with.
#[derive(Clone, Copy, Debug)]
pub struct ImportOptions<'a> {
    /// The note folder.
    pub into: &'a RelPath,
    /// What the folder holds, by name.
    pub taken: &'a [String],
    /// The notes that are there.
    pub existing: &'a Corpus,
    /// The package's name, which no note may have.
    pub package: &'a str,
    /// The kind of every note; `None` for what each file says, core if it says nothing.
    pub kind: Option<NoteKind>,
    /// The bundle's title: a heading that says just that needs no note.
    pub title: Option<&'a str>,
    /// Files whose text is in notes already, besides those that are imported.
    pub covered: &'a [RelPath],
    /// The most bytes that a note may have.
    pub note_bytes: u64,
}

/// The notes that some files become.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// The new notes, in the order of the files and of their lines.
    pub notes: Vec<ImportedNote>,
    /// What needs no note of its own.
    pub skipped: Vec<Skipped>,
}

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The file.
    pub file: RelPath,
    /// The first line, counted from 1.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

/// A note to be written.
#[derive(Clone, Debug)]
pub struct ImportedNote {
    /// Where.
    pub path: RelPath,
    /// How it reaches the bundle.
    pub kind: NoteKind,
    /// The whole file, with LF alone.
    pub text: String,
    /// The lines that it holds; some between them may be skipped.
    pub source: Stretch,
    /// The note of the same heading or name in another file, whose text differs.
    pub differs_from: Option<RelPath>,
    /// Estimated tokens of its text: code points divided by four, rounded up.
    pub tokens_est: u64,
}

/// Lines that need no note of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The lines.
    pub source: Stretch,
    /// Why.
    pub reason: SkipReason,
}

/// Why lines need no note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The same text stands in another file, from this line on.
    SameAs(RelPath, usize),
    /// A note of the project has this text.
    Exists(RelPath),
    /// It is the title of the bundle.
    Title,
    /// A heading without text that only names the file.
    FileName,
    /// A heading without text, and what stood below it is in notes already.
    Heading,
    /// The lines only import a file whose text is in notes.
    Imports(RelPath),
    /// The file has no text.
    Empty,
}

/// Splits `files` into notes: a note for each heading of level 1 or 2 that has text, and for the text before the first; a rule
/// that tools read on demand, or a file for one folder, stays one reference note. Every other line of a file is in exactly one note
/// or is named as skipped. What a note may not hold, such as conflict markers, is an error.
#[must_use]
pub fn import(files: Vec<ImportFile>, options: &ImportOptions<'_>) -> Outcome<Import> {
    let mut diagnostics = Vec::new();
    let mut texts = Vec::new();
    for file in files {
        match readable(&file.path, file.bytes) {
            Ok(text) => texts.push((file.path, text)),
            Err(faults) => diagnostics.extend(faults),
        }
    }
    let covered = texts.iter().map(|(path, _)| path).chain(options.covered).cloned().collect();
    let mut maker = Maker::new(options, covered);
    for (index, (path, text)) in texts.iter().enumerate() {
        maker.file(index, path, text);
    }
    let (import, found) = maker.finish();
    diagnostics.extend(found);
    Outcome { value: import, diagnostics }
}

/// The title of a file, if its first heading is of level 1 and says more than a file's name. Text and front matter may stand above.
#[must_use]
pub fn title_of(path: &RelPath, text: &str) -> Option<String> {
    let first = headings(Rule::read(path, text).body).into_iter().next()?;
    let is_name = first.text.to_ascii_lowercase().ends_with(".md");
    let is_title = first.level == 1 && !first.text.is_empty() && !is_name;
    (is_title && !first.text.contains(char::is_control)).then_some(first.text)
}

/// The text of a file, if every note that it becomes may stand.
fn readable(path: &RelPath, bytes: Vec<u8>) -> Result<String, Vec<Diagnostic>> {
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let (message, help) = match is_utf16(&bytes) {
            true => ("not a text in UTF-8: it is UTF-16".to_owned(), "save the file as UTF-8"),
            false => (format!("not a text: byte {at} is zero"), "name Markdown files alone"),
        };
        return Err(vec![Diagnostic::error("import.text", message).at(path).help(help)]);
    }
    let text = decode(path, bytes).map_err(|fault| vec![fault])?;
    let found = characters(&text).into_iter().chain(conflicts(&text));
    let faults: Vec<_> =
        found.filter(|fault| fault.severity == Severity::Error).map(|fault| fault.at(path)).collect();
    if faults.is_empty() { Ok(text) } else { Err(faults) }
}
