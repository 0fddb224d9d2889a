//! The file of a note.

use cantus_manifest::RelPath;

use super::pieces::Piece;
use crate::inline::heading;
use crate::note::NoteKind;
use crate::unicode::is_blank;

/// What stands around the folder's name in the line that names it.
const SCOPE: [&str; 2] = ["For work in `", "/` alone."];

/// What the front matter of a note says.
pub(super) struct Head<'a> {
    pub(super) kind: NoteKind,
    /// Of a core note.
    pub(super) priority: u32,
    /// Whether what looks like links is text.
    pub(super) plain_links: bool,
    /// The front matter that the file had.
    pub(super) block: Option<&'a str>,
}

/// The whole file of a note.
pub(super) fn note_text(head: &Head<'_>, description: Option<String>, body: &str) -> String {
    let mut text = String::from("---\n");
    match head.kind {
        NoteKind::Core => text.push_str(&format!("type: core\npriority: {}\n", head.priority)),
        NoteKind::Reference => text.push_str("type: reference\n"),
    }
    if let Some(description) = description {
        text.push_str(&format!("description: {}\n", quoted(&description)));
    }
    if head.plain_links {
        text.push_str("link_reference: none\n");
    }
    if let Some(block) = head.block {
        text.push_str("metadata:\n  front_matter: ");
        if block.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t') || !is_printable(c)) {
            text.push_str(&format!("{}\n", quoted(block)));
        } else {
            text.push_str("|2\n");
            for line in block.lines() {
                let indented = if is_blank(line) { String::new() } else { format!("    {line}") };
                text.push_str(&indented);
                text.push('\n');
            }
        }
    }
    text.push_str("---\n\n");
    text.push_str(body);
    text
}

/// The body of a core note with a line below its title that says which folder it is for.
pub(super) fn scoped(body: &str, folder: &RelPath) -> String {
    let line = format!("{}{folder}{}\n\n", SCOPE[0], SCOPE[1]);
    let first = body.lines().next().unwrap_or_default();
    if !matches!(heading(first), Some((1, _))) {
        return line + body;
    }
    let rest = body[first.len()..].trim_start_matches('\n');
    format!("{first}\n\n{line}{rest}")
}

/// The folder that a body was [`scoped`] to, and the body without that line.
pub(super) fn unscoped(body: &str) -> Option<(String, String)> {
    let lines: Vec<_> = body.lines().collect();
    let named = |line: &str| line.strip_prefix(SCOPE[0])?.strip_suffix(SCOPE[1]).map(str::to_owned);
    let (at, folder) = lines.iter().take(5).enumerate().find_map(|(at, line)| Some((at, named(line)?)))?;
    Some((folder, [&lines[..at], &lines[at + 1..]].concat().join("\n")))
}

/// The text of the first heading that says something.
pub(super) fn first_heading(piece: &Piece<'_>) -> Option<String> {
    piece.lines.iter().find_map(|(_, line)| match heading(line) {
        Some((_, text)) if !text.is_empty() => Some(text.to_owned()),
        _ => None,
    })
}

/// Whether YAML lets the character stand as it is.
fn is_printable(c: char) -> bool {
    !matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// `text` as a YAML text between double quotes, on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || !is_printable(c) => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
