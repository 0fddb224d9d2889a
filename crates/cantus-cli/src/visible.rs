//! Text of notes, paths and programs, made safe for a terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

/// `text` with every control character and every character that turns the direction of writing spelled out (`\u{1b}`), so
/// that it can neither move the cursor nor colour, hide or forge a line of a report. Tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_unsafe(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A text of many lines for standard output: as it is for a program or a file, and [`visible`] line by line on a terminal.
pub(crate) fn for_stdout(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() { visible_text(text) } else { Cow::Borrowed(text) }
}

/// [`visible`], but that line feeds stay.
fn visible_text(text: &str) -> Cow<'_, str> {
    let shown: Vec<_> = text.split('\n').map(visible).collect();
    match shown.iter().all(|line| matches!(line, Cow::Borrowed(_))) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(shown.join("\n")),
    }
}

/// [`visible`] for a message that may quote a program's lines or a text's: each but the first is set behind a bar, so that none
/// can pass for a line of the report, or for a command to a CI that looks for such behind blanks.
pub(crate) fn visible_lines(text: &str) -> String {
    let mut lines = text.lines();
    let mut shown = visible(lines.next().unwrap_or_default()).into_owned();
    for line in lines {
        shown.push_str("\n    | ");
        shown.push_str(&visible(line.trim_start()));
    }
    shown
}

/// Whether a terminal obeys a character, or shows it out of its place.
pub(crate) fn is_unsafe(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\t') || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_lines_stand_behind_a_bar() {
        assert_eq!(visible_lines("a\n::error::b\r\n  c\u{1b}"), "a\n    | ::error::b\n    | c\\u{1b}");
        assert_eq!(visible_lines(""), "");
    }

    #[test]
    fn a_text_keeps_its_lines() {
        assert_eq!(visible_text("a\n\tb\n\u{1b}c\r\n"), "a\n\tb\n\\u{1b}c\\u{d}\n");
        assert!(matches!(visible_text("a\n\tb\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_moves_the_cursor_is_spelled_out() {
        assert_eq!(visible("a\tb – 日本"), "a\tb – 日本");
        assert_eq!(visible("\u{1b}[31mred\r\n"), "\\u{1b}[31mred\\u{d}\\u{a}");
        assert_eq!(visible("\u{9b}1m\u{7f}\u{202e}"), "\\u{9b}1m\\u{7f}\\u{202e}");
    }
}
