//! What an importer should know of a file, without any effect on its notes.

use cantus_manifest::{Diagnostic, RelPath};

use super::at_paths::at_paths;
use super::pieces::Piece;

/// The remarks on a piece that becomes a note.
pub(super) fn of_piece(path: &RelPath, piece: &Piece<'_>) -> Vec<Diagnostic> {
    let text = piece.text();
    let mut remarks = Vec::new();
    for (index, target) in at_paths(&text) {
        let line = piece.lines.get(index - 1).map_or(1, |(number, _)| *number);
        let message = format!("`@{target}` stays as text, and some agents read that file in its place");
        let remark = Diagnostic::note("import.at", message).at(path).line(small(line));
        remarks.push(remark.help("name the file without the `@` in the note, or import it as well"));
    }
    if let Some(end) = piece.closing() {
        let what = if end.starts_with(['`', '~']) { "code fence" } else { "HTML block" };
        let message = format!("the {what} that is open at the end is closed in the note");
        let remark = Diagnostic::note("import.fence", message).at(path).line(small(piece.last_line()));
        remarks.push(remark.help("look whether it should end earlier"));
    }
    remarks
}

/// A line number as findings have it.
pub(super) fn small(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}
