//! What was wrong, where, and what to do about it.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use serde::Serialize;

/// How much a [`Diagnostic`] weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing to do.
    Note,
    /// Worth mending; the answer stands.
    Warning,
    /// The answer is no, or there is none.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One thing that is wrong in the sources or the committed files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// A stable name of its kind, such as `note.key`.
    pub code: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// The file, relative to its root, with `/`; outside a root as the user named it.
    pub path: Option<String>,
    /// The line in that file, counted from 1.
    pub line: Option<u32>,
    /// What is wrong and what was expected: lowercase, no full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error of kind `code`.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// A warning of kind `code`.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    /// A note of kind `code`.
    #[must_use]
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, message)
    }

    /// An error of kind `code` that says what `error` says, and its causes on the same line.
    #[must_use]
    pub fn from_error(code: &'static str, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Self::error(code, message)
    }

    fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self { code, severity, path: None, line: None, message: bounded(message.into()), help: None }
    }

    /// The same, in the file `path`.
    #[must_use]
    pub fn at(mut self, path: impl fmt::Display) -> Self {
        self.path = Some(path.to_string());
        self
    }

    /// The same, at `line` of its file, counted from 1.
    #[must_use]
    pub fn line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The most characters of a quoted value that a message repeats.
const MOST_QUOTED: usize = 300;
/// The most characters of a message.
const MOST_MESSAGE: usize = 4000;

/// `message` with long values in backticks cut, and cut itself if that isn't enough: a value of a megabyte helps nobody.
fn bounded(message: String) -> String {
    if message.len() <= MOST_QUOTED {
        return message;
    }
    let parts: Vec<Cow<'_, str>> = message.split('`').map(|part| cut(part, MOST_QUOTED)).collect();
    cut(&parts.join("`"), MOST_MESSAGE).into_owned()
}

/// The first `most` characters of a text, with `…` where there are more.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// `path:line: severity: message`, with the help on a line of its own.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{path}:")?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            f.write_str(" ")?;
        }
        write!(f, "{}: {}", self.severity, self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// Sorts findings by file and line, those of one place in the order in which they were found; those without a file come first.
pub fn sort_by_place(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
}

/// A value, and everything that was wrong on the way to it.
///
/// Pure code gives both: it doesn't stop at the first fault. Whether the value may be used is the caller's to
/// decide; where a value can't exist at all, it is an `Option`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<T> {
    /// What came out.
    pub value: T,
    /// What was wrong, in the order in which it was found.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Outcome<T> {
    /// A value with nothing wrong.
    #[must_use]
    pub fn clean(value: T) -> Self {
        Self { value, diagnostics: Vec::new() }
    }

    /// Whether anything weighs as much as an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The value alone, what was wrong appended to `diagnostics`.
    #[must_use]
    pub fn collect(self, diagnostics: &mut Vec<Diagnostic>) -> T {
        diagnostics.extend(self.diagnostics);
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: &str) {
        assert_eq!(Diagnostic::error("x", message).message, expected);
    }

    #[test]
    fn long_values_are_cut() {
        let long = "é".repeat(MOST_QUOTED);
        check(&format!("`a` is `{long}`, not `b`"), &format!("`a` is `{long}`, not `b`"));
        check(&format!("`a` is `{long}é`, not `b`"), &format!("`a` is `{long}…`, not `b`"));
        let marks = "`".repeat(MOST_MESSAGE);
        check(&format!("{marks}`"), &format!("{marks}…"));
    }
}
