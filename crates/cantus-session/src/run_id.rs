//! The name of a run, safe as the name of a folder on every system.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use crate::told;

/// The most characters of a run id.
const MOST_CHARS: usize = 128;

/// Names that Windows keeps for devices, whatever ending follows.
const DEVICES: &[&str] = &["aux", "con", "nul", "prn"];

/// The name of a run: ASCII letters, digits, `.`, `_` and `-`, at most 128 of them, with a dot at neither end and no device name
/// of Windows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunId(String);

/// Why a text is no run id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{id}` can't be a run id: {rule}")]
pub struct ParseRunIdError {
    id: String,
    rule: &'static str,
}

impl RunId {
    /// Takes a name that is safe as one folder.
    pub fn new(id: &str) -> Result<Self, ParseRunIdError> {
        match broken_rule(id) {
            Some(rule) => Err(ParseRunIdError { id: told(id), rule }),
            None => Ok(Self(id.to_owned())),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn broken_rule(id: &str) -> Option<&'static str> {
    if id.is_empty() {
        return Some("it is empty");
    }
    if id.len() > MOST_CHARS {
        return Some("it has more than 128 characters");
    }
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')) {
        return Some("expected ASCII letters, digits, `.`, `_` and `-`");
    }
    if id.starts_with('.') || id.ends_with('.') {
        return Some("it must neither start nor end with a dot");
    }
    let stem = id.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_port = stem.len() == 4
        && (stem.starts_with("com") || stem.starts_with("lpt"))
        && stem.ends_with(|last: char| last.is_ascii_digit());
    (is_port || DEVICES.contains(&stem.as_str())).then_some("Windows keeps this name for a device")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders() {
        for id in ["r", "2026-11-30_14.05", "a..b", "console", "com10", "-", "A".repeat(128).as_str()] {
            assert_eq!(RunId::new(id).unwrap().as_str(), id);
        }
    }

    #[test]
    fn what_could_leave_the_folder_or_fail_elsewhere() {
        for id in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "/",
            "a\0b",
            "a b",
            "é",
            "a:b",
            "a\n",
            ".hidden",
            "end.",
            "NUL",
            "con.json",
            "COM1",
            "lpt9.x",
            "A".repeat(129).as_str(),
            "A".repeat(300).as_str(),
            "~",
            "%2e%2e",
            "a*",
        ] {
            let said = RunId::new(id).unwrap_err().to_string();
            assert!(!said.contains(['\0', '\n']) && said.chars().count() < 200, "{said}");
        }
        let said = RunId::new("a\0b").unwrap_err().to_string();
        assert_eq!(said, "`a\\u{0}b` can't be a run id: expected ASCII letters, digits, `.`, `_` and `-`");
    }
}
