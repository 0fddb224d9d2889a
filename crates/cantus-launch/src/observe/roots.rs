//! The providers whose sessions are known: where they lie, and how much of them is read.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// The most bytes of a root conversation that are read.
pub(crate) const MOST_ROOT: u64 = 512 << 10;

/// The most bytes of a helper's conversation that are read, and of a root's in which a denial is looked for.
pub(crate) const MOST_HELPER: u64 = 16 << 20;

/// A provider whose sessions are known, in the order of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Muse Code.
    Muse,
    /// Grok.
    Grok,
    /// Antigravity, of which no file shows what it loaded.
    Agy,
}

/// A name that is none of a [`Known`] provider.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no sessions of the provider `{0}` are known: expected `claude`, `codex`, `muse`, `grok` or `agy`")]
pub struct ParseKnownError(String);

/// How a provider's sessions are found and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Whose they are.
    pub provider: Known,
    /// Variables that name a folder of the provider, the first that is set counts.
    pub variables: &'static [&'static str],
    /// The folder of sessions below the one that a variable names.
    pub below_variable: &'static str,
    /// The folder of sessions below the user's home, where no variable is set.
    pub below_home: &'static str,
    /// Which files are sessions, below that folder.
    pub files: &'static [&'static str],
    /// The most bytes of a root conversation that are read.
    pub most_root: u64,
    /// The most bytes of a helper's.
    pub most_helper: u64,
}

/// One entry a provider that writes sessions. Antigravity has none: its transcripts don't show rules.
pub const SOURCES: [Source; 4] = [
    Source {
        provider: Known::Claude,
        variables: &["CLAUDE_CONFIG_DIR"],
        below_variable: "projects",
        below_home: ".claude/projects",
        files: &["<folder>/<session>.jsonl", "<folder>/<session>/subagents/**/agent-*.jsonl"],
        most_root: MOST_ROOT,
        most_helper: MOST_HELPER,
    },
    Source {
        provider: Known::Codex,
        variables: &["CODEX_HOME"],
        below_variable: "sessions",
        below_home: ".codex/sessions",
        files: &[
            "YYYY/MM/DD/rollout-*.jsonl",
            "YYYY/MM/DD/rollout-*.jsonl.zst",
            "../archived_sessions/rollout-*.jsonl",
            "../archived_sessions/rollout-*.jsonl.zst",
        ],
        most_root: MOST_ROOT,
        most_helper: MOST_HELPER,
    },
    Source {
        provider: Known::Muse,
        variables: &["XDG_DATA_HOME"],
        below_variable: "muse/sessions",
        below_home: ".local/share/muse/sessions",
        files: &["*/*/*/<session>/session.jsonl"],
        most_root: MOST_ROOT,
        most_helper: 0,
    },
    Source {
        provider: Known::Grok,
        variables: &["GROK_HOME", "SASE_GROK_HOME"],
        below_variable: "sessions",
        below_home: ".grok/sessions",
        files: &["<folder>/<session>/prompt_context.json", "<folder>/<session>/system_prompt.txt"],
        most_root: MOST_ROOT,
        most_helper: 0,
    },
];

/// Where the providers keep their sessions on this machine. Nothing is read from what is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The folder of Claude Code's project folders.
    pub claude: Option<PathBuf>,
    /// The folder of Codex' years; archived sessions lie beside it.
    pub codex: Option<PathBuf>,
    /// The folder of Muse's years.
    pub muse: Option<PathBuf>,
    /// The folder of Grok's folders.
    pub grok: Option<PathBuf>,
}

impl Roots {
    /// The folders as the environment and the user's home have them. A variable that is empty counts as unset, and `~` at its
    /// beginning is the home.
    #[must_use]
    pub fn of(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let folder = |provider: Known| {
            let source = SOURCES.iter().find(|source| source.provider == provider)?;
            let set =
                source.variables.iter().filter_map(|name| variable(name)).find(|value| !value.is_empty());
            match set {
                Some(value) => Some(expanded(Path::new(&value), home).join(source.below_variable)),
                None => Some(home?.join(source.below_home)),
            }
        };
        Self {
            claude: folder(Known::Claude),
            codex: folder(Known::Codex),
            muse: folder(Known::Muse),
            grok: folder(Known::Grok),
        }
    }
}

fn expanded(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path.to_path_buf(),
    }
}

impl Known {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Muse, Self::Grok, Self::Agy];

    /// Its name, as records have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Muse => "muse",
            Self::Grok => "grok",
            Self::Agy => "agy",
        }
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Known {
    type Err = ParseKnownError;

    fn from_str(name: &str) -> Result<Self, ParseKnownError> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == name);
        known.ok_or_else(|| ParseKnownError(name.to_owned()))
    }
}

impl Serialize for Known {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(home: Option<&str>, set: &[(&str, &str)]) -> Roots {
        let variable =
            |name: &str| set.iter().find(|(it, _)| *it == name).map(|(_, value)| OsString::from(value));
        Roots::of(home.map(Path::new), &variable)
    }

    #[test]
    fn folders_are_below_the_home_unless_a_variable_names_them() {
        let found =
            roots(Some("/h"), &[("CLAUDE_CONFIG_DIR", "~/c"), ("GROK_HOME", ""), ("SASE_GROK_HOME", "/g")]);
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(found.claude, path("/h/c/projects"));
        assert_eq!(found.codex, path("/h/.codex/sessions"));
        assert_eq!(found.grok, path("/g/sessions"));
        assert_eq!(found.muse, path("/h/.local/share/muse/sessions"));
        let found = roots(None, &[("XDG_DATA_HOME", "/d"), ("CODEX_HOME", "/x")]);
        assert_eq!((found.muse, found.codex), (path("/d/muse/sessions"), path("/x/sessions")));
        assert_eq!((found.claude, found.grok), (None, None));
    }

    #[test]
    fn names_of_providers() {
        for known in Known::ALL {
            assert_eq!(known.as_str().parse(), Ok(known));
        }
        let error = "Claude".parse::<Known>().unwrap_err().to_string();
        assert_eq!(
            error,
            "no sessions of the provider `Claude` are known: expected `claude`, `codex`, `muse`, `grok` or `agy`"
        );
    }
}
