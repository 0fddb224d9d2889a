//! What a request was resolved to: everything that makes the bytes of a tree.

use std::collections::{BTreeMap, BTreeSet};

use cantus_manifest::Digest;

use crate::Colour;
use crate::manifest::{Identity, Mode, Repository, Tier};
use crate::names::{Segment, SourceId, TreePath};
use crate::trace::{Decision, Provider};

/// A request, resolved. Equal values give equal trees with equal keys; any other selected byte, decision, rendered text, tier or
/// delivery gives another key.
///
/// Where something came from (folders, locators) is not in it, and neither are copies that were shadowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The role's slug.
    pub role: String,
    /// The logical id of the role's doctrine: `<provider>:role:<role>`, or `<provider>:legacy-role:<role>` for a role with an
    /// inline briefing.
    pub role_source: String,
    /// The digest of the role's `SKILL.md` as its source has it.
    pub role_digest: Digest,
    /// The lane of compatibility.
    pub tier: Tier,
    /// How the bundle is delivered.
    pub delivery: Mode,
    /// The role's personalities, in its order; at least one.
    pub personalities: Vec<Segment>,
    /// The active boundaries, in their order.
    pub boundaries: Vec<String>,
    /// The melded favourite colour.
    pub colour: Colour,
    /// What renderers show.
    pub identity: Identity,
    /// The sources that were admitted, the person package first, then in the order of the request.
    pub sources: Vec<SourceId>,
    /// The repositories, by identity, each strictly after the one before.
    pub repositories: Vec<Repository>,
    /// The manifest's `content`: logical ids with digests.
    pub content: BTreeMap<String, Digest>,
    /// The person package as KDL, assembled; it counts for the key alone.
    pub package: Vec<u8>,
    /// The role's inline briefing, if it has one; it counts for the key alone.
    pub briefing: Option<Vec<u8>>,
    /// The operating base with its cards stripped; empty if there is none.
    pub base: Vec<u8>,
    /// The role's identity card, ending with a line feed.
    pub card: String,
    /// The selected instructions, in the order of selection.
    pub instructions: Vec<Instruction>,
    /// The selected skills, in the order of the bundle: role, boundaries, personalities, everything else.
    pub skills: Vec<Skill>,
    /// The decisions, in the order in which they were made, those on deliveries included.
    pub decisions: Vec<Decision>,
    /// What each source brought, selected sources first; [`Skill::bytes`] and [`tokens`](crate::tokens) give the numbers.
    pub providers: Vec<Provider>,
}

/// A selected instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its source.
    pub source: SourceId,
    /// Its id.
    pub id: String,
    /// Its bytes as the source has them.
    pub bytes: Vec<u8>,
}

/// A selected skill with every file of its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its source.
    pub source: SourceId,
    /// Its id.
    pub id: Segment,
    /// Which of its files is the entry.
    pub entry: Entry,
    /// Its files, by their path in its folder.
    pub files: BTreeMap<TreePath, Vec<u8>>,
    /// Its folders; those that hold a file need not be named.
    pub folders: BTreeSet<TreePath>,
}

/// The name that a skill's entry file has in its source; in the tree it is always `SKILL.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// An ordinary skill.
    Skill,
    /// A skill that is composed into a role.
    Composed,
}

impl Entry {
    /// The name of the file.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Skill => "SKILL.md",
            Self::Composed => "COMPOSED.md",
        }
    }
}

impl Skill {
    /// The bytes of its entry file; `None` if it has none, which no tree may have.
    #[must_use]
    pub fn entry_bytes(&self) -> Option<&[u8]> {
        let entry = self.files.iter().find(|(path, _)| path.as_str() == self.entry.file_name());
        entry.map(|(_, bytes)| bytes.as_slice())
    }

    /// The bytes of all its files together, as the trace's `context_bytes` counts them.
    #[must_use]
    pub fn bytes(&self) -> i64 {
        let bytes: usize = self.files.values().map(Vec::len).sum();
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}
