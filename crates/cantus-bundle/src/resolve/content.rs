//! What the manifest says of a role, and the digests of its logical content.

use std::collections::BTreeMap;

use cantus_manifest::Digest;
use serde::Serialize;

use super::choose::{Chooser, briefing};
use super::profile::Profile;
use crate::manifest::{Emblem, Identity, Look, Seat};
use crate::roster::{Doctrine, Roster};
use crate::source::INVARIANT;

/// What the digest of an identity is over.
#[derive(Serialize)]
struct Facts<'a> {
    purpose: &'a str,
    skill: String,
    personalities: &'a [Look],
    seats: &'a [Seat],
    agent: Option<[&'a str; 2]>,
    model_tiers: Vec<&'static str>,
    favorite_color: String,
}

/// The logical id of the role's doctrine.
pub(super) fn role_source(profile: &Profile<'_>, roster: &Roster) -> String {
    let kind = match profile.role.doctrine {
        Doctrine::Skill(_) => "role",
        Doctrine::Briefing(_) => "legacy-role",
    };
    format!("{}:{kind}:{}", roster.id, profile.role.slug)
}

/// The digest of the role's `SKILL.md`.
pub(super) fn role_digest(profile: &Profile<'_>) -> Digest {
    let entry = match &profile.role.doctrine {
        Doctrine::Skill(folder) => folder.file("SKILL.md").map(<[u8]>::to_vec),
        Doctrine::Briefing(text) => briefing(&profile.role, text).file("SKILL.md").map(<[u8]>::to_vec),
    };
    Digest::of(entry.unwrap_or_default())
}

/// What renderers show.
pub(super) fn identity(profile: &Profile<'_>, roster: &Roster) -> Identity {
    let role = &profile.role;
    let seats = role.seats.iter().map(|seat| {
        let named = role.identity.as_ref().or(seat.named.as_ref());
        Seat {
            key: seat.key.clone(),
            harness: seat.key.clone(),
            name: named.map(|named| named.name.clone()).unwrap_or_default(),
            pronouns: named.map(|named| named.pronouns.clone()).unwrap_or_default(),
            channel: seat.channel.clone(),
            tier: seat.tier.map(|tier| tier.to_string()).unwrap_or_default(),
        }
    });
    let looks = profile.personalities.iter().map(|personality| Look {
        name: personality.slug.clone(),
        color: personality.colour.to_string(),
        emblem: Emblem::Named {
            name: personality.emblem.name.clone(),
            emoji: personality.emblem.emoji.clone(),
            glyph: personality.emblem.glyph.clone(),
        },
    });
    Identity {
        person: roster.name.clone(),
        purpose: role.purpose.clone(),
        seats: seats.collect(),
        personalities: looks.collect(),
    }
}

/// The manifest's logical content.
pub(super) fn content(profile: &Profile<'_>, roster: &Roster, chooser: &Chooser) -> BTreeMap<String, Digest> {
    let (role, id) = (&profile.role, &roster.id);
    let shown = identity(profile, roster);
    let facts = Facts {
        purpose: &role.purpose,
        skill: role.skill(),
        personalities: &shown.personalities,
        seats: &shown.seats,
        agent: role.identity.as_ref().map(|named| [named.name.as_str(), named.pronouns.as_str()]),
        model_tiers: role.tiers.iter().map(|tier| tier.as_str()).collect(),
        favorite_color: profile.colour.to_string(),
    };
    let mut content = BTreeMap::new();
    content.insert(role_source(profile, roster), role_digest(profile));
    content.insert(format!("{id}:role:{}:identity", role.slug), digest(&facts));
    if !role.contract.is_empty() {
        content.insert(format!("{id}:role:{}:copy-contract", role.slug), digest(&role.contract));
    }
    if let Some(invariant) = chooser.instructions.iter().find(|instruction| instruction.id == INVARIANT) {
        content.insert(format!("{id}:invariant"), Digest::of(&invariant.bytes));
    }
    for personality in &profile.personalities {
        let skill = chooser.skills.iter().find(|skill| skill.id.as_str() == personality.skill);
        if let Some((skill, entry)) = skill.and_then(|skill| Some((skill, skill.entry_bytes()?))) {
            content.insert(format!("{}:skill:{}", skill.source, skill.id), Digest::of(entry));
        }
    }
    content
}

/// The digest of a value as compact JSON.
fn digest(value: &impl Serialize) -> Digest {
    Digest::of(serde_json::to_vec(value).unwrap_or_default())
}
