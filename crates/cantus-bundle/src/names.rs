//! Names in a tree: what may stand on every file system, and how a source's id is written there.

use std::borrow::Borrow;
use std::fmt;

use thiserror::Error;

/// Characters that a name may not have on some file system.
const FORBIDDEN: &[char] = &['<', '>', ':', '"', '|', '?', '*'];

/// Names that mean a device on Windows, whatever ending follows them.
const DEVICES: &[&str] = &["CON", "PRN", "AUX", "NUL"];

/// A name or path that may not stand in a tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{}` {fault}", .name.escape_debug())]
pub struct NameError {
    name: String,
    fault: &'static str,
}

impl NameError {
    fn new(name: &str, fault: &'static str) -> Self {
        Self { name: name.to_owned(), fault }
    }
}

/// One part of a path that every file system can hold: not empty, `.` or `..`; without `/`, `\`, control characters below 0x20
/// and `< > : " | ? *`; without a dot or blank at its end; not the name of a device such as `con.txt`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(String);

impl Segment {
    /// Takes `name` as it is if it keeps the rules of the type.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let name = name.into();
        check_segment(&name)?;
        Ok(Self(name))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A relative path of [`Segment`]s with `/` between them, ordered by its bytes as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

impl TreePath {
    /// Takes `path` as it is if it keeps the rules of the type.
    pub fn new(path: impl Into<String>) -> Result<Self, NameError> {
        let path = path.into();
        if path.starts_with('/') || path.ends_with('/') {
            return Err(NameError::new(&path, "starts or ends with `/`; expected a relative path"));
        }
        path.split('/').try_for_each(check_segment)?;
        Ok(Self(path))
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This path with one more part.
    #[must_use]
    pub fn join(&self, name: &Segment) -> Self {
        Self(format!("{}/{name}", self.0))
    }

    /// This path with all parts of `below`.
    #[must_use]
    pub fn below(&self, below: &Self) -> Self {
        Self(format!("{}/{below}", self.0))
    }

    /// The folders that lead to it, the outermost first.
    pub fn folders(&self) -> impl DoubleEndedIterator<Item = Self> {
        self.0
            .match_indices('/')
            .map(|(end, _)| Self(self.0[..end].to_owned()))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// What is left below `folder`, if the path lies there.
    #[must_use]
    pub fn strip(&self, folder: &str) -> Option<&str> {
        self.0.strip_prefix(folder)?.strip_prefix('/')
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Segment> for TreePath {
    fn from(segment: Segment) -> Self {
        Self(segment.0)
    }
}

/// Compared like its text.
impl Borrow<str> for TreePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The id of a source: not empty, `.` or `..`; without `/`, `\` and control characters below 0x20. Colons are usual.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(String);

impl SourceId {
    /// Takes `id` as it is if it keeps the rules of the type.
    pub fn new(id: impl Into<String>) -> Result<Self, NameError> {
        let id = id.into();
        check_plain(&id)?;
        Ok(Self(id))
    }

    /// The id as text, as JSON has it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as the name of its folder: each byte but `A-Z a-z 0-9 - _ .` becomes `%` and two upper-case hex digits.
    #[must_use]
    pub fn encoded(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for &byte in self.0.as_bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => text.push(byte.into()),
                _ => text.push_str(&format!("%{byte:02X}")),
            }
        }
        text
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks the identity of a repository: two portable parts with one `/` between them.
pub fn check_repository(identity: &str) -> Result<(), NameError> {
    let expected = "is no repository; expected `owner/name`";
    let (owner, name) = identity.split_once('/').ok_or_else(|| NameError::new(identity, expected))?;
    check_segment(owner).and_then(|()| check_segment(name)).map_err(|_| NameError::new(identity, expected))
}

fn check_segment(name: &str) -> Result<(), NameError> {
    check_plain(name)?;
    if name.ends_with(['.', ' ']) {
        return Err(NameError::new(name, "ends with a dot or a blank"));
    }
    if name.contains(FORBIDDEN) {
        return Err(NameError::new(name, "has one of `< > : \" | ? *`, which some file systems refuse"));
    }
    if is_device(name.split('.').next().unwrap_or_default()) {
        return Err(NameError::new(name, "is the name of a device on Windows"));
    }
    Ok(())
}

fn check_plain(name: &str) -> Result<(), NameError> {
    if matches!(name, "" | "." | "..") {
        return Err(NameError::new(name, "is no name: no part may be empty, `.` or `..`"));
    }
    if name.contains(['/', '\\']) {
        return Err(NameError::new(name, "has a slash or a backslash"));
    }
    if name.contains(|c: char| c < ' ') {
        return Err(NameError::new(name, "has a control character"));
    }
    Ok(())
}

fn is_device(stem: &str) -> bool {
    let stem = stem.to_ascii_uppercase();
    let numbered = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    DEVICES.contains(&stem.as_str())
        || numbered.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(names: &[&str]) {
        names.iter().for_each(|name| assert!(Segment::new(*name).is_err(), "{name:?}"));
    }

    #[track_caller]
    fn accepted(names: &[&str]) {
        names.iter().for_each(|name| assert_eq!(Segment::new(*name).map(|it| it.0), Ok((*name).to_owned())));
    }

    #[test]
    fn names_that_some_file_system_refuses() {
        refused(&[
            "", ".", "..", "a/b", "a\\b", "a.", "a ", "...", "a:b", "a\tb", "a\0", "<", "a|b", "a?", "*",
            "\"",
        ]);
        refused(&["con", "CON.txt", "Con.a.b", "nul", "aux.md", "prn", "com1", "COM9.x", "lpt1"]);
    }

    #[test]
    fn names_that_every_file_system_takes() {
        accepted(&[
            "é", "a%zz", "\u{7f}", ".hidden", "a b", "conx", "com0", "com10", "lpt", "icon", "~", "…",
        ]);
    }

    #[test]
    fn paths_are_relative_and_clean() {
        for path in ["", ".", "./x", "x/", "/x", "../x", "x//y", "x/./y", "x/../y", "x\\y", "x/con", "x./y"] {
            assert!(TreePath::new(path).is_err(), "{path:?}");
        }
        assert_eq!(TreePath::new("a/é b/.c").unwrap().as_str(), "a/é b/.c");
    }

    #[test]
    fn the_folders_of_a_path_come_outermost_first() {
        let folders: Vec<_> = TreePath::new("a/b/c").unwrap().folders().map(|it| it.0).collect();
        assert_eq!(folders, ["a", "a/b"]);
        assert_eq!(TreePath::new("a").unwrap().folders().count(), 0);
    }

    #[test]
    fn ids_of_sources() {
        for id in ["", ".", "..", "a/b", "a\\b", "a\nb"] {
            assert!(SourceId::new(id).is_err(), "{id:?}");
        }
        for (id, encoded) in [
            ("roster:core", "roster%3Acore"),
            ("a b", "a%20b"),
            ("ü", "%C3%BC"),
            ("a%3Ab", "a%253Ab"),
            ("~x", "%7Ex"),
            ("q\"z", "q%22z"),
            ("con", "con"),
            ("A-z_0.9", "A-z_0.9"),
        ] {
            assert_eq!(SourceId::new(id).unwrap().encoded(), encoded);
        }
    }

    #[test]
    fn repositories_have_two_parts() {
        assert_eq!(check_repository("owner/repo"), Ok(()));
        for identity in ["", "owner", "a/b/c", "/b", "a/", "a/..", "a/con", "a:b/c"] {
            assert!(check_repository(identity).is_err(), "{identity:?}");
        }
    }

    #[test]
    fn a_message_holds_no_control_character() {
        let said = Segment::new("a\nb").unwrap_err().to_string();
        assert_eq!(said, "`a\\nb` has a control character");
    }
}
