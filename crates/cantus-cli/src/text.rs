//! Texts of others on their way to a screen.

use std::borrow::Cow;

/// `text` with everything escaped that would move the cursor, colour the screen or turn the direction of writing; line feeds
/// stay.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unprintable(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown.into()
}

/// Whether a terminal would obey a character instead of showing it.
pub(crate) fn is_unprintable(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(printable(text), expected);
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        check("a\u{1b}[31mb", "a\\u{1b}[31mb");
        check("a\rb\tc\u{7f}\u{9b}", "a\\u{d}b\\u{9}c\\u{7f}\\u{9b}");
        check("\u{202e}x\u{2066}", "\\u{202e}x\\u{2066}");
    }

    #[test]
    fn the_rest_stays() {
        check("é\n…\u{200d}", "é\n…\u{200d}");
    }
}
