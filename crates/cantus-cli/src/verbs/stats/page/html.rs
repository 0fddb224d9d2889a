//! HTML in lines, and text that can't become markup.

use std::borrow::Cow;

/// A page under way.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds markup as it is.
    pub(super) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    /// Adds markup and a line feed.
    pub(super) fn line(&mut self, markup: &str) {
        self.raw(markup);
        self.0.push('\n');
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

/// A text for content and for attributes in double quotes. Control characters, and those that turn the direction of what is
/// shown, become a visible sign.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !matches!(c, '&' | '<' | '>' | '"' | '\'') && !is_hidden(c);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if is_hidden(c) => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
