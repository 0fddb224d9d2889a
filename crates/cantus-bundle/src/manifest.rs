//! `manifest.json`: what was composed, and where a consumer enters the tree.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::{self, list, or_default};

/// The path of the manifest in a tree.
pub const MANIFEST: &str = "manifest.json";
/// What its `format` says.
pub const FORMAT: &str = "agent-compose.bundle";

/// Where objects stand in one; `*` is each item of a list.
const OBJECTS: &[&str] = &[
    "",
    "identity",
    "identity/seats/*",
    "identity/personalities/*",
    "repositories/*",
    "content/*",
    "delivery",
];

/// `manifest.json`, its keys in the order in which they are written. Reading is tolerant: keys that nobody knows are passed over,
/// `null` counts as absent, and what is absent is empty; [`verify`](crate::verify) is what judges the values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// [`FORMAT`].
    #[serde(deserialize_with = "or_default")]
    pub format: String,
    /// The role's slug.
    #[serde(deserialize_with = "or_default")]
    pub role: String,
    /// `role-` and the role.
    #[serde(deserialize_with = "or_default")]
    pub role_skill: String,
    /// The logical id of the role's doctrine, `<provider>:role:<role>`.
    #[serde(deserialize_with = "or_default")]
    pub role_skill_source: String,
    /// `sha256:` and the digest of the role's `SKILL.md` as its source has it.
    #[serde(deserialize_with = "or_default")]
    pub role_skill_digest: String,
    /// `frontier`, `commodity` or `oss`; empty means `frontier`.
    #[serde(deserialize_with = "or_default")]
    pub model_tier: String,
    /// The role's personalities, in its order.
    #[serde(deserialize_with = "list")]
    pub personalities: Vec<String>,
    /// The active boundaries.
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub boundaries: Vec<String>,
    /// The melded favourite colour, `#rrggbb`.
    #[serde(deserialize_with = "or_default")]
    pub color: String,
    /// What renderers show; a producer may leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// The ids of the sources, the person package first.
    #[serde(deserialize_with = "list")]
    pub sources: Vec<String>,
    /// The repositories, ascending.
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<Repository>,
    /// Logical content with its digests.
    #[serde(deserialize_with = "list")]
    pub content: Vec<Content>,
    /// Where a consumer enters.
    #[serde(deserialize_with = "or_default")]
    pub delivery: Delivery,
}

/// What renderers show of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The person package's name.
    #[serde(deserialize_with = "or_default")]
    pub person: String,
    /// What the role is for.
    #[serde(deserialize_with = "or_default")]
    pub purpose: String,
    /// Its named seats.
    #[serde(deserialize_with = "list")]
    pub seats: Vec<Seat>,
    /// How its personalities look.
    #[serde(deserialize_with = "list")]
    pub personalities: Vec<Look>,
}

/// A named seat of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seat {
    /// Its key, usually that of a harness.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// The harness.
    #[serde(deserialize_with = "or_default")]
    pub harness: String,
    /// The name of the agent.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Its pronouns.
    #[serde(deserialize_with = "or_default")]
    pub pronouns: String,
    /// Its channel.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub channel: String,
    /// Its tier.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub tier: String,
}

/// How a personality looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// The personality.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// Its colour.
    #[serde(deserialize_with = "or_default")]
    pub color: String,
    /// Its emblem.
    pub emblem: Emblem,
}

/// The emblem of a personality. Producers know several shapes; all of them are read and written as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Emblem {
    /// The shape that Cantus writes.
    Named {
        /// What it is called.
        name: String,
        /// As an emoji.
        emoji: String,
        /// As one character of text.
        glyph: String,
    },
    /// Any other.
    Other(Value),
}

impl Default for Emblem {
    fn default() -> Self {
        Self::Other(Value::Null)
    }
}

/// A repository that the role works on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repository {
    /// `owner/name`.
    #[serde(deserialize_with = "or_default")]
    pub identity: String,
    /// The source that names it.
    #[serde(deserialize_with = "or_default")]
    pub source: String,
    /// For whom.
    #[serde(deserialize_with = "or_default")]
    pub scope: String,
    /// Why, in one sentence.
    #[serde(deserialize_with = "or_default")]
    pub reason: String,
}

/// Logical content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// Its id, such as `<source>:skill:<skill>`.
    #[serde(deserialize_with = "or_default")]
    pub id: String,
    /// `sha256:` and its digest.
    #[serde(deserialize_with = "or_default")]
    pub digest: String,
}

/// Where a consumer enters the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// `native-skills` or `compiled`.
    #[serde(deserialize_with = "or_default")]
    pub mode: String,
    /// The path of the instructions.
    #[serde(deserialize_with = "or_default")]
    pub instructions: String,
    /// The folder of the skills, for `native-skills` alone.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub skills_root: String,
    /// The document of everything, for `compiled` alone.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub compiled_context: String,
    /// How many bytes the mode hands a consumer. Nobody reads it back.
    #[serde(deserialize_with = "or_default")]
    pub body_bytes: i64,
}

/// How a bundle is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Instructions, and skills as folders.
    NativeSkills,
    /// One document.
    Compiled,
}

impl Mode {
    /// As the manifest and requests write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NativeSkills => "native-skills",
            Self::Compiled => "compiled",
        }
    }

    /// The mode called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::NativeSkills, Self::Compiled].into_iter().find(|mode| mode.as_str() == name)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A lane of compatibility; it never changes what is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The default.
    #[default]
    Frontier,
    /// Smaller models.
    Commodity,
    /// Open models.
    Oss,
}

impl Tier {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Frontier, Self::Commodity, Self::Oss];

    /// As the manifest and requests write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frontier => "frontier",
            Self::Commodity => "commodity",
            Self::Oss => "oss",
        }
    }

    /// The tier called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == name)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Manifest {
    /// Reads the text of a manifest: one JSON object and nothing after it.
    pub fn read(text: &[u8]) -> Result<Self, serde_json::Error> {
        json::read(text, OBJECTS)
    }

    /// Its text: keys in their order, two blanks of indentation, a line feed at the end.
    #[must_use]
    pub fn text(&self) -> String {
        json::text(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDMADE: &str = include_str!("../../../tests/vectors/bundle/handmade/manifest.json");

    #[test]
    fn a_manifest_is_written_as_it_was_read() {
        assert_eq!(Manifest::read(HANDMADE.as_bytes()).unwrap().text(), HANDMADE);
    }

    #[test]
    fn null_is_absence_and_unknown_keys_are_passed_over() {
        let text = r#"{"role":"a","boundaries":null,"model_class":7,"delivery":{"mode":null},"identity":{"seats":null}}"#;
        let manifest = Manifest::read(text.as_bytes()).unwrap();
        assert_eq!(manifest.role, "a");
        assert_eq!(manifest.identity, Some(Identity::default()));
    }

    #[test]
    fn a_seat_is_written_in_its_order_and_no_seats_as_an_empty_list() {
        let seat = Seat { harness: "h".into(), name: "n".into(), tier: "oss".into(), ..Seat::default() };
        let identity = Identity { seats: vec![seat], ..Identity::default() };
        let text = serde_json::to_string(&identity).unwrap();
        assert!(
            text.contains(r#""seats":[{"harness":"h","name":"n","pronouns":"","tier":"oss"}]"#),
            "{text}"
        );
        assert!(serde_json::to_string(&Identity::default()).unwrap().contains(r#""seats":[]"#));
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        for text in [
            "",
            "[]",
            "{} {}",
            "{\"delivery\":[\"compiled\"]}",
            "{\"content\":[[\"a\"]]}",
            "{\"role\":1}",
            "\u{feff}{}",
            "{\"role\":\"a\",\"role\":\"b\"}",
            "{\"delivery\":{\"body_bytes\":1.5}}",
        ] {
            assert!(Manifest::read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_modes_and_tiers() {
        assert_eq!(Mode::named("compiled"), Some(Mode::Compiled));
        assert_eq!(Mode::named("Compiled"), None);
        assert!(Tier::ALL.iter().all(|tier| Tier::named(&tier.to_string()) == Some(*tier)));
    }
}
