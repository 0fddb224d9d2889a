//! Where each harness looks.

use std::fmt;

/// The layout of a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Goose.
    Goose,
    /// OpenCode.
    Opencode,
}

/// What a projection reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// One repository.
    #[default]
    Repo,
    /// A whole home folder.
    Home,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Goose, Self::Opencode];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Goose => "goose",
            Self::Opencode => "opencode",
        }
    }

    /// Where its instructions stand, below the target.
    #[must_use]
    pub fn instructions(self, reach: Reach) -> &'static str {
        match (self, reach) {
            (Self::Claude, Reach::Repo) => "CLAUDE.md",
            (Self::Claude, Reach::Home) => ".claude/CLAUDE.md",
            (Self::Codex | Self::Opencode, Reach::Repo) => "AGENTS.md",
            (Self::Codex, Reach::Home) => ".codex/AGENTS.md",
            (Self::Goose, Reach::Repo) => ".goosehints",
            (Self::Goose, Reach::Home) => ".config/goose/.goosehints",
            (Self::Opencode, Reach::Home) => ".config/opencode/AGENTS.md",
        }
    }

    /// The folder of its skills, below the target.
    #[must_use]
    pub fn skills(self) -> &'static str {
        match self {
            Self::Claude => ".claude/skills",
            Self::Codex | Self::Goose | Self::Opencode => ".agents/skills",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Repo => "repo",
            Self::Home => "home",
        })
    }
}
