//! Paths as requests and declarations write them: relative, and never up.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind};

/// A path below the folder of the text that names it, with `/` between its parts. It may be the folder itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relative {
    written: String,
    parts: Vec<String>,
}

impl Relative {
    /// Takes `path` unless it is empty or absolute, has a `..` among its parts, a backslash or a control character.
    pub(crate) fn new(path: &str) -> Result<Self, String> {
        let shown = path.escape_debug();
        if path.trim().is_empty() {
            return Err("the path is empty".to_owned());
        }
        let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
        if path.starts_with('/') || has_drive {
            return Err(format!("`{shown}` is absolute; expected a path below this file's folder"));
        }
        if path.contains('\\') || path.contains(char::is_control) {
            return Err(format!("`{shown}` has a backslash or a control character"));
        }
        if path.split('/').any(|part| part == "..") {
            return Err(format!("`{shown}` leads up with `..`; expected a path below this file's folder"));
        }
        let parts = path.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect();
        Ok(Self { written: path.to_owned(), parts })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Where it is below `base`, and what stands there; `None` if nothing does. Links on the way count as what they are: the last
    /// thing found is one then.
    pub(crate) fn find(&self, disk: &dyn Disk, base: &Path) -> io::Result<Option<(PathBuf, Kind)>> {
        let mut place = base.to_path_buf();
        let mut kind = Kind::Folder;
        for part in &self.parts {
            if kind != Kind::Folder {
                return Ok((kind == Kind::Symlink).then_some((place, kind)));
            }
            place.push(part);
            match disk.kind(&place)? {
                Some(found) => kind = found,
                None => return Ok(None),
            }
        }
        Ok(Some((place, kind)))
    }
}

impl fmt::Display for Relative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written.escape_debug().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_stay_below() {
        for path in [".", "a", "./a/b", "a..b", "a//b/", "...", "é"] {
            assert_eq!(Relative::new(path).map(|it| it.written), Ok(path.to_owned()));
        }
    }

    #[test]
    fn paths_that_might_leave() {
        for path in ["", " ", "/", "/a", "..", "a/../b", "../a", "a\\b", "C:/x", "c:x", "a\nb", "\0"] {
            assert!(Relative::new(path).is_err(), "{path:?}");
        }
    }
}
