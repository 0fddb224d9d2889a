//! A roster: roles with their personalities and boundaries, and the doctrine of each. A person package is one; another is built in.

mod body;
mod built_in;
mod catalogue;
mod merge;
mod read;
mod role;

use std::collections::BTreeMap;

use crate::colour::Colour;
use crate::folder::Folder;
use crate::manifest::Tier;
use crate::names::SourceId;
use crate::request::Named;

pub(crate) use body::description;
pub(crate) use built_in::built_in;
pub(crate) use merge::{Lent, merge};
pub(crate) use read::{is_wanted, library, package};

/// A package in its memory form: checked, its libraries not yet merged or merged already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roster {
    /// `person:<name>` or `roster:<name>`.
    pub(crate) id: SourceId,
    /// Its name alone.
    pub(crate) name: String,
    /// In the order of their files.
    pub(crate) roles: Vec<Role>,
    /// What roles draw on.
    pub(crate) catalogue: Catalogue,
    /// What holds for every role.
    pub(crate) invariant: Option<Vec<u8>>,
    /// The KDL texts of the package and of what was merged into it, for the key of a bundle.
    pub(crate) text: Vec<u8>,
}

/// Personalities, boundaries and the bodies of both: what a library may lend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Catalogue {
    pub(crate) personalities: Vec<Personality>,
    pub(crate) boundaries: Vec<Boundary>,
    /// The skill folders that they bind, by id.
    pub(crate) definitions: BTreeMap<String, Folder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) slug: String,
    pub(crate) display: Option<String>,
    pub(crate) purpose: String,
    pub(crate) doctrine: Doctrine,
    /// Ids of skills with their folders, in order.
    pub(crate) methods: Vec<(String, Folder)>,
    pub(crate) defers: Vec<String>,
    /// With the scope of each.
    pub(crate) scoped: Vec<(String, String)>,
    pub(crate) personalities: Vec<String>,
    pub(crate) tiers: Vec<Tier>,
    pub(crate) identity: Option<Named>,
    pub(crate) seats: Vec<RoleSeat>,
    /// Cues that tools' responses must not copy, with what to write instead.
    pub(crate) contract: Vec<(String, String)>,
}

/// Where a role says what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doctrine {
    /// In a skill of its own.
    Skill(Folder),
    /// In its own node.
    Briefing(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RoleSeat {
    pub(crate) key: String,
    pub(crate) channel: String,
    pub(crate) tier: Option<Tier>,
    pub(crate) named: Option<Named>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Personality {
    pub(crate) slug: String,
    pub(crate) skill: String,
    pub(crate) colour: Colour,
    pub(crate) motif: String,
    pub(crate) emblem: Emblems,
    /// Everything else that it says, in order, so that two that differ are not taken for one.
    pub(crate) more: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Emblems {
    pub(crate) name: String,
    pub(crate) emoji: String,
    pub(crate) glyph: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Boundary {
    pub(crate) slug: String,
    pub(crate) skill: String,
    pub(crate) owner: String,
    pub(crate) summary: String,
}

/// On which side of a boundary a role is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Owns,
    Scoped(String),
    Defers,
}

impl Roster {
    pub(crate) fn role(&self, slug: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.slug == slug)
    }
}

impl Catalogue {
    pub(crate) fn personality(&self, slug: &str) -> Option<&Personality> {
        self.personalities.iter().find(|personality| personality.slug == slug)
    }

    pub(crate) fn boundary(&self, slug: &str) -> Option<&Boundary> {
        self.boundaries.iter().find(|boundary| boundary.slug == slug)
    }
}

impl Role {
    /// The heading of its card.
    pub(crate) fn title(&self) -> String {
        let display =
            self.display.as_ref().map(|display| display.split_whitespace().collect::<Vec<_>>().join(" "));
        display.unwrap_or_else(|| titled(&self.slug))
    }

    /// The id of its skill.
    pub(crate) fn skill(&self) -> String {
        format!("role-{}", self.slug)
    }

    /// Whether it works on this tier.
    pub(crate) fn supports(&self, tier: Tier) -> bool {
        self.tiers.contains(&tier)
    }
}

/// A slug as words, each with a capital: `night-watch` is `Night Watch`.
pub(crate) fn titled(slug: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    };
    slug.split('-').map(word).collect::<Vec<_>>().join(" ")
}

/// A word of `a-z`, `0-9` and `-`, no `-` first or last.
pub(crate) fn is_token(text: &str) -> bool {
    let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.bytes().all(legal) && !text.starts_with('-') && !text.ends_with('-')
}
