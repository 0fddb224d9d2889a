//! A section: its name, its place, and its bytes or the reason why it has none.

use std::sync::Arc;

use cantus_manifest::{Digest, ExclusionReason, Layer, Lifecycle, SectionId, Source, tokens_est};
use cantus_memory::{Origin, SourcedText};

/// One part of a bundle, or one that was left out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name, unique in a bundle.
    pub id: SectionId,
    /// Where it comes from.
    pub layer: Layer,
    /// Whom it is for.
    pub lifecycle: Lifecycle,
    /// Whether a bundle without it would be wrong.
    pub required: bool,
    /// Whether it belongs to one provider, and stays out of the common digest.
    pub provider_specific: bool,
    /// What it was made of; [`Origin::source`] is an index into this.
    pub sources: Arc<[Source]>,
    /// In or out.
    pub status: Status,
}

/// Whether a section stands in a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// With these bytes.
    Included(Arc<Content>),
    /// Not, and why.
    Excluded {
        /// The reason.
        reason: ExclusionReason,
        /// The section that stands instead, where there is one. It may name a section that no bundle has (§8.3).
        shadowed_by: Option<SectionId>,
    },
}

/// The bytes of a section with what can be computed of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Content {
    text: SourcedText,
    digest: Digest,
    tokens: u64,
}

impl Content {
    /// Takes `text`, brings its ends to a section's form and hashes it.
    pub(crate) fn new(text: SourcedText) -> Arc<Self> {
        let text = text.into_section();
        let (digest, tokens) = (Digest::of(text.text()), tokens_est(text.text()));
        Arc::new(Self { text, digest, tokens })
    }

    /// The text; it ends in one blank line.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.text()
    }

    /// The SHA-256 of the text's bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The estimate of its tokens.
    #[must_use]
    pub fn tokens_est(&self) -> u64 {
        self.tokens
    }

    /// Where each line came from.
    #[must_use]
    pub fn origins(&self) -> &[Origin] {
        self.text.origins()
    }
}

impl Section {
    /// Its bytes, if it is included.
    #[must_use]
    pub fn content(&self) -> Option<&Content> {
        match &self.status {
            Status::Included(content) => Some(content),
            Status::Excluded { .. } => None,
        }
    }

    /// Where its line with this index (from 0) came from: the source and the line in it, counted from 1.
    ///
    /// A line that no source holds, such as a blank one between parts, answers with the nearest line above that has one,
    /// else below.
    #[must_use]
    pub fn source_line(&self, index: usize) -> Option<(&Source, u32)> {
        let origins = self.content()?.origins();
        let above = origins.iter().take(index + 1).rev().find(|origin| origin.is_some());
        let origin = above.or_else(|| origins.iter().skip(index).find(|origin| origin.is_some()))?;
        Some((self.sources.get(origin.source as usize)?, origin.line.max(1)))
    }
}
