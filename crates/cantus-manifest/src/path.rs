//! The path type that may reach output.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A relative path in UTF-8 with `/` between its parts, ordered by its bytes.
///
/// It has no empty, `.` or `..` part, no backslash and no drive prefix, so joined to a root it stays below that root on
/// every platform, symlinks aside (those are the disk layer's to refuse). It has no control character, so it stays on
/// its line wherever it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

/// A text that isn't a [`RelPath`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{}` is not a path inside the root: {expected}", shown(path))]
pub struct ParseRelPathError {
    path: String,
    expected: &'static str,
}

impl RelPath {
    /// Takes `path` as it is if it keeps the rules of the type.
    pub fn new(path: impl Into<String>) -> Result<Self, ParseRelPathError> {
        let path = path.into();
        match fault(&path) {
            None => Ok(Self(path)),
            Some(expected) => Err(ParseRelPathError { path, expected }),
        }
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This path with one more part, or several with `/` between; fails if that breaks a rule of the type.
    pub fn join(&self, name: &str) -> Result<Self, ParseRelPathError> {
        let mut path = String::with_capacity(self.0.len() + 1 + name.len());
        path.extend([&self.0, "/", name]);
        Self::new(path)
    }

    /// The folder that holds it; `None` for a path of one part.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(folder, _)| Self(folder.to_owned()))
    }

    /// The last part.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.0.as_str(), |(_, name)| name)
    }

    /// The last part without what follows its last dot (`db.schema.md` gives `db.schema`).
    #[must_use]
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// What is left below `folder`, if the path lies there.
    #[must_use]
    pub fn strip_prefix(&self, folder: &RelPath) -> Option<&str> {
        self.0.strip_prefix(folder.as_str())?.strip_prefix('/')
    }
}

/// `path` with its control characters escaped, for messages.
fn shown(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    shown
}

/// What is wrong with `path`, said as what was expected.
fn fault(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("it must not be empty");
    }
    if !path.bytes().all(|byte| matches!(byte, b' '..=b'~')) && path.contains(char::is_control) {
        return Some("it must not hold control characters");
    }
    if path.as_bytes().contains(&b'\\') {
        return Some("write `/` between its parts, not a backslash");
    }
    let bytes = path.as_bytes();
    if path.starts_with('/') || (bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':') {
        return Some("it must be relative");
    }
    if bytes.split(|byte| *byte == b'/').any(|part| matches!(part, b"" | b"." | b"..")) {
        return Some("no part may be empty, `.` or `..`");
    }
    None
}

impl FromStr for RelPath {
    type Err = ParseRelPathError;

    fn from_str(path: &str) -> Result<Self, Self::Err> {
        Self::new(path)
    }
}

impl TryFrom<String> for RelPath {
    type Error = ParseRelPathError;

    fn try_from(path: String) -> Result<Self, Self::Error> {
        Self::new(path)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> Self {
        path.0
    }
}

impl Borrow<str> for RelPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_could_leave_a_root_are_refused() {
        for path in ["", "/etc", "a/../b", "./a", "a//b", "a\\b", "a/", "..", "C:/x", "c:x", "a\0b"] {
            assert!(RelPath::new(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn control_characters_are_refused_and_shown_escaped() {
        for path in ["a\nb", "a\rb", "a\tb", "a\u{1b}b", "a\u{7f}b", "a\u{85}b"] {
            assert!(RelPath::new(path).is_err(), "{path:?}");
        }
        let said = RelPath::new("é\\a\nb").unwrap_err().to_string();
        assert_eq!(said, "`é\\a\\nb` is not a path inside the root: it must not hold control characters");
    }

    #[test]
    fn ordinary_paths_are_kept_as_they_are() {
        for path in ["a", "a/b.md", ".hidden.md", "…/é b.md", "ab:c"] {
            assert_eq!(RelPath::new(path).unwrap().as_str(), path);
        }
    }

    #[test]
    fn parts() {
        let path = RelPath::new("sase/memory/db.schema.md").unwrap();
        assert_eq!(path.file_name(), "db.schema.md");
        assert_eq!(path.stem(), "db.schema");
        assert_eq!(path.parent().unwrap().as_str(), "sase/memory");
        assert_eq!(path.strip_prefix(&RelPath::new("sase").unwrap()), Some("memory/db.schema.md"));
        assert_eq!(path.strip_prefix(&RelPath::new("sas").unwrap()), None);
        assert_eq!(RelPath::new("x").unwrap().parent(), None);
    }
}
