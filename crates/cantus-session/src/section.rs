//! One section of a pack as it is sent, recorded and compared.

use serde::{Deserialize, Serialize};

/// A part of a pack, already fitted to its budget.
///
/// In JSON this is the *exact shape* that a delivered snapshot must have; keys beside these are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Unique in its pack.
    pub id: String,
    /// The heading under which it is sent.
    pub title: String,
    /// The text after fitting; never blank.
    pub body: String,
    /// What the body was made from.
    pub sources: Vec<Source>,
    /// The most chars that the body may have.
    pub budget: u64,
    /// The chars of the body.
    pub size: u64,
    /// Whether the body is shorter than its text was.
    pub cut: bool,
}

/// Something that a section's body was made from: a note, a skill, a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// What its kind calls it, like the path of a note.
    pub id: String,
    /// Like `note`, `skill` or `variant`.
    pub kind: String,
    /// Which state of it was read: a digest or a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// How many chars of the body are its own, where only a part is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chars: Option<u64>,
}

/// The dynamic sections of a pack, in its order: what a context update is computed from.
pub type Snapshot = Vec<Section>;
