//! The names that the program has: what a message calls it must be what its reader can type.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

/// How the verbs are started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Program {
    /// By the program of that name.
    #[default]
    Cantus,
    /// By cargo, through the workspace's own `xtask`.
    Xtask,
}

impl Program {
    /// What runs, by the first of its arguments: an `xtask` is started by cargo, anything else is the program itself.
    #[must_use]
    pub fn called(first: &OsStr) -> Self {
        match Path::new(first).file_stem() {
            Some(stem) if stem == "xtask" => Self::Xtask,
            _ => Self::Cantus,
        }
    }

    /// What to type in front of a verb.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cantus => "cantus",
            Self::Xtask => "cargo xtask",
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &str, expected: &str) {
        assert_eq!(Program::called(OsStr::new(first)).to_string(), expected);
    }

    #[test]
    fn the_file_s_name_tells() {
        check("cantus", "cantus");
        check("/opt/xtask/cantus", "cantus");
        check("", "cantus");
        check("xtask", "cargo xtask");
        check("target/debug/xtask", "cargo xtask");
        check("target/debug/xtask.exe", "cargo xtask");
    }
}
