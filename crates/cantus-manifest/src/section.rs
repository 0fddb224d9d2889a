//! The closed vocabularies of a section, and its name.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{BlobId, Digest, RelPath, Stamp};

/// Where a section comes from, in bundle order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The composer's own headings and intros.
    Frame,
    /// The package of standing texts.
    Package,
    /// Notes that a dependency ships.
    Plugin,
    /// The user's own notes.
    Home,
    /// The project's notes.
    Project,
    /// Texts that a host adds to one invocation.
    Launch,
}

impl Layer {
    pub(crate) const ALL: [Self; 6] =
        [Self::Frame, Self::Package, Self::Plugin, Self::Home, Self::Project, Self::Launch];

    /// The first part of the ids of this layer.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Package => "pkg",
            Self::Plugin => "plugin",
            Self::Home => "home",
            Self::Project => "proj",
            Self::Launch => "launch",
        }
    }

    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Package => "package",
            Self::Plugin => "plugin",
            Self::Home => "home",
            Self::Project => "project",
            Self::Launch => "launch",
        }
    }

    fn from_prefix(prefix: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.prefix() == prefix)
    }
}

/// Whether a text is a layer's name on the wire.
pub(crate) fn is_layer_name(name: &str) -> bool {
    Layer::ALL.into_iter().any(|layer| layer.name() == name)
}

/// Which actors a section is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// Everyone.
    Neutral,
    /// Root agents in an invocation.
    Root,
    /// Helpers in an invocation.
    Helper,
}

/// Why a section is not in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExclusionReason {
    /// A note that the package replaces.
    SupersededInput,
    /// A home note behind a project note of the same path.
    Shadowed,
    /// A lifecycle section for another actor.
    Overlay,
    /// A section that this mode leaves out.
    Mode,
    /// A provider for which the package has nothing to say.
    NoDirective,
    /// Nothing to include.
    Empty,
}

impl ExclusionReason {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SupersededInput => "superseded_input",
            Self::Shadowed => "shadowed",
            Self::Overlay => "overlay",
            Self::Mode => "mode",
            Self::NoDirective => "no_directive",
            Self::Empty => "empty",
        }
    }
}

impl fmt::Display for ExclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A section's name: at least two parts of `[A-Za-z0-9_-]` with dots between, the first a layer's prefix (§9.2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SectionId(Arc<str>);

/// A text that isn't a [`SectionId`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseSectionIdError {
    /// Only one part.
    #[error("section id \"{0}\" must have at least two dot parts")]
    Parts(String),
    /// The first part is no layer's prefix.
    #[error("section id \"{id}\" has unknown prefix \"{prefix}\"")]
    Prefix {
        /// The whole text.
        id: String,
        /// Its first part.
        prefix: String,
    },
    /// A part is empty or has another character.
    #[error("section id \"{id}\" has invalid part \"{part}\"")]
    Part {
        /// The whole text.
        id: String,
        /// The first bad part.
        part: String,
    },
}

impl SectionId {
    /// Takes `id` if it keeps the rules of the type.
    pub fn new(id: impl Into<String>) -> Result<Self, ParseSectionIdError> {
        let id = id.into();
        let Some((prefix, rest)) = id.split_once('.') else {
            return Err(ParseSectionIdError::Parts(id));
        };
        if Layer::from_prefix(prefix).is_none() {
            let prefix = prefix.to_owned();
            return Err(ParseSectionIdError::Prefix { id, prefix });
        }
        match rest.split('.').find(|part| !is_part(part)).map(str::to_owned) {
            Some(part) => Err(ParseSectionIdError::Part { id, part }),
            None => Ok(Self(id.into())),
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_part(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

impl fmt::Display for SectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SectionId {
    type Err = ParseSectionIdError;

    fn from_str(id: &str) -> Result<Self, Self::Err> {
        Self::new(id)
    }
}

impl TryFrom<String> for SectionId {
    type Error = ParseSectionIdError;

    fn try_from(id: String) -> Result<Self, Self::Error> {
        Self::new(id)
    }
}

impl From<SectionId> for String {
    fn from(id: SectionId) -> Self {
        id.as_str().to_owned()
    }
}

/// What kind of input a section was made of: every kind that the contract knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The contract of a package.
    PackageTemplate,
    /// The helper text of a package.
    HelperTemplate,
    /// A provider's text in a package.
    ProviderDirective,
    /// A core or reference note.
    MemoryNote,
    /// The descriptor of a web.
    MemoryWeb,
    /// A strand of a web.
    MemoryStrands,
    /// The configuration.
    Config,
    /// Made by a program; none of ours.
    Generated,
    /// Read back from an older file; none of ours.
    LegacyFallback,
}

/// One input of a section. Never part of a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The layer it belongs to: package, plugin, home, project or launch.
    pub scope: Layer,
    /// What kind of input it is.
    pub kind: SourceKind,
    /// Where it lies below the root of its scope.
    pub path: RelPath,
    /// What is known of its bytes.
    pub hashes: Hashes,
}

/// The hashes of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hashes {
    /// Nobody took any.
    #[default]
    None,
    /// Of a text, as it was decoded.
    Text(Digest),
    /// Of a file's raw bytes.
    File(Stamp),
}

impl Hashes {
    /// The SHA-256, where there is one.
    #[must_use]
    pub fn sha256(self) -> Option<Digest> {
        match self {
            Self::None => None,
            Self::Text(digest) => Some(digest),
            Self::File(stamp) => Some(stamp.sha256()),
        }
    }

    /// Git's name of the file's bytes, where they are known.
    #[must_use]
    pub fn blob(self) -> Option<BlobId> {
        match self {
            Self::File(stamp) => Some(stamp.blob()),
            Self::None | Self::Text(_) => None,
        }
    }
}

impl From<Option<Stamp>> for Hashes {
    fn from(stamp: Option<Stamp>) -> Self {
        stamp.map_or(Self::None, Self::File)
    }
}

impl fmt::Display for Source {
    /// The path; a package's file as `package:path`, a plugin's as `plugin:path`, one of the home layer as `home:path`, so that
    /// it isn't taken for a file of the project.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scope {
            Layer::Package => write!(f, "package:{}", self.path),
            Layer::Plugin => write!(f, "plugin:{}", self.path),
            Layer::Home => write!(f, "home:{}", self.path),
            _ => write!(f, "{}", self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_outside_the_project_say_where() {
        let shown = |scope| {
            let path = RelPath::new("a/b.md").unwrap();
            Source { scope, kind: SourceKind::MemoryNote, path, hashes: Hashes::default() }.to_string()
        };
        let found = [Layer::Package, Layer::Plugin, Layer::Home, Layer::Project].map(shown);
        assert_eq!(found, ["package:a/b.md", "plugin:a/b.md", "home:a/b.md", "a/b.md"]);
    }

    #[test]
    fn ids_say_their_layer() {
        for id in [
            "plugin.acme-rules.errors",
            "proj.x",
            "proj.core.A-_9",
            "frame.title",
            "pkg.root.final_declaration",
        ] {
            assert!(SectionId::new(id).is_ok(), "{id}");
        }
        let said = |id: &str| SectionId::new(id).unwrap_err().to_string();
        assert_eq!(said("a"), "section id \"a\" must have at least two dot parts");
        assert_eq!(said("A.b"), "section id \"A.b\" has unknown prefix \"A\"");
        assert_eq!(said("proj..x"), "section id \"proj..x\" has invalid part \"\"");
        assert_eq!(said("proj.core.é"), "section id \"proj.core.é\" has invalid part \"é\"");
    }
}
