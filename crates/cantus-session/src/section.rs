//! One section of a pack as it is sent, recorded and compared.

use cantus_compose::fit;
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
    /// The text after fitting.
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

impl Section {
    /// A section of `text`, fitted; `None` if the text is blank.
    pub(crate) fn fitted(draft: Draft<'_>) -> Option<Self> {
        if draft.text.trim().is_empty() {
            return None;
        }
        let fitted = fit(draft.text, draft.budget, draft.pointer);
        Some(Self::of(draft, fitted.body, fitted.cut))
    }

    /// A section whose body is made already.
    pub(crate) fn of(draft: Draft<'_>, body: String, cut: bool) -> Self {
        let Draft { id, title, budget, sources, .. } = draft;
        let size = chars(&body);
        Self { id: id.to_owned(), title: title.to_owned(), body, sources, budget: budget as u64, size, cut }
    }

    /// Whether another is the same for whoever has been told this one: what a source contributed is not compared.
    pub(crate) fn tells_the_same(&self, other: &Self) -> bool {
        fn named(sources: &[Source]) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
            sources.iter().map(|it| (it.id.as_str(), it.kind.as_str(), it.revision.as_deref()))
        }
        let rest = |it: &Self| (it.budget, it.size, it.cut);
        (&self.id, &self.title, &self.body) == (&other.id, &other.title, &other.body)
            && rest(self) == rest(other)
            && named(&self.sources).eq(named(&other.sources))
    }
}

/// What a section is made of.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) text: &'a str,
    /// In chars.
    pub(crate) budget: usize,
    pub(crate) pointer: &'a str,
    pub(crate) sources: Vec<Source>,
}

/// The chars of a text.
pub(crate) fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

impl Source {
    /// What a body was made from, in the state called `revision`.
    #[must_use]
    pub fn new(kind: &str, id: &str, revision: Option<&str>) -> Self {
        Self { id: id.to_owned(), kind: kind.to_owned(), revision: revision.map(str::to_owned), chars: None }
    }
}
